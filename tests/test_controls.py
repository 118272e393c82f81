"""Groups within the levels of control features: against counting by hand, listing all tables, and other libraries."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import fairlearn.metrics as fm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import hypergeom
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.multitest import multipletests

import evenhand as eh

person = st.tuples(
    st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None]), st.integers(0, 1), st.sampled_from([0, 1, 1, None])
)
RATES: dict[str, Any] = {
    "ppr": lambda y, p: p,
    "tpr": lambda y, p: p if y else None,
    "fpr": lambda y, p: None if y else p,
    "ppv": lambda y, p: y if p else None,
    "acc": lambda y, p: int(y == p),
}


def split(rows: list[tuple[Any, ...]], key: str, group: str) -> list[tuple[int, int, int, int]]:
    """Per level, the group's successes and cases and those of everybody else."""
    found: dict[Any, list[int]] = {}
    for who, level, y, p in rows:
        if p is None:
            continue
        counts = found.setdefault(level, [0, 0, 0, 0])
        if (outcome := RATES[key](y, p)) is not None:
            at = 0 if who == group else 2
            counts[at] += outcome
            counts[at + 1] += 1
    return [tuple(found[level]) for level in found]  # type: ignore[misc]


def listed(levels: list[tuple[int, int, int, int]]) -> float | None:
    """Twice the smaller tail of the group's successes over all tables of all levels; None if there is one only."""
    law: dict[int, Fraction] = {0: Fraction(1)}
    for k, n, other, m in levels:
        total = math.comb(n + m, k + other)
        here = {x: Fraction(math.comb(n, x) * math.comb(m, k + other - x), total)
                for x in range(n + 1) if 0 <= k + other - x <= m}  # fmt: skip
        joint: dict[int, Fraction] = {}
        for (s, p), (x, q) in product(law.items(), here.items()):
            joint[s + x] = joint.get(s + x, Fraction(0)) + p * q
        law = joint
    if len(law) == 1:
        return None
    observed = sum(k for k, *_ in levels)
    tails = [sum(p for s, p in law.items() if sign * s >= sign * observed) for sign in (1, -1)]
    return float(min(Fraction(1), 2 * min(tails)))


@pytest.mark.parametrize("key", RATES)
@given(rows=st.lists(person, min_size=4, max_size=24))
@settings(max_examples=12, deadline=None)
def test_pooled_tests_are_those_of_listing_the_tables_of_all_levels(key: str, rows: list[tuple[Any, ...]]) -> None:
    """Levels without the group, without the others, or with one outcome say nothing and change nothing."""
    kept = [row for row in rows if row[3] is not None]
    if len({row[0] for row in kept}) < 2:
        return
    who, level, y, p = (list(column) for column in zip(*rows, strict=True))
    found = eh.audit_within(y_true=y, y_pred=p, groups={"g": who}, control={"c": level}, metrics=key, positive=1)
    assert found.n == len(kept)
    assert found.left_out == ({"y_pred": len(rows) - len(kept)} if len(kept) < len(rows) else {})
    names = {"(missing)" if value is None else value for _, value, *_ in kept}
    assert {one.level: one.n for one in found.levels} == Counter(
        "(missing)" if value is None else value for _, value, *_ in kept
    )
    assert [one.level for one in found.levels] == sorted(names, key=lambda name: (name == "(missing)", name))
    assert [row.group for row in found.pooled] == sorted({row[0] for row in kept})
    for row in found.pooled:
        levels = split(rows, key, row.group)
        assert sorted((s.part, s.whole, s.reference_part, s.reference_whole) for s in row.strata) == sorted(levels)
        expected = listed(levels)
        assert row.pvalue == (None if expected is None else approx(expected))
        signs = [k * m - other * n for k, n, other, m in levels if n and m]
        assert (row.higher, row.lower) == (sum(s > 0 for s in signs), sum(s < 0 for s in signs))
        assert row.silent == sum(not (n and m and 0 < k + other < n + m) for k, n, other, m in levels)
        crude = listed([tuple(map(sum, zip(*levels, strict=True)))])  # type: ignore[list-item]
        assert row.crude_pvalue == (None if crude is None else approx(crude))


def data(n: int = 260, seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1]),
            "age": rng.integers(18, 80, n),
            "town": rng.choice(["east", "west"], n),
            "y": rng.integers(0, 2, n),
        }
    )
    frame["p"] = np.where(rng.random(n) < np.where(frame.sex == "f", 0.55, 0.9), frame.y, 1 - frame.y)
    return frame


def test_a_level_is_audited_as_its_rows_are_and_adjusted_over_all_levels() -> None:
    frame = data()
    found = eh.audit_within(frame, y_true="y", y_pred="p", groups="sex", control="town", metrics=["tpr", "acc"],
                            adjust="bh")  # fmt: skip
    raw: dict[str, list[tuple[str, float]]] = {"tpr": [], "acc": []}
    for level, audit in found.audits.items():
        alone = eh.audit(frame[frame.town == level], y_true="y", y_pred="p", groups="sex", metrics=["tpr", "acc"])
        own = {(row.group, row.metric): row for row in alone.rows}
        for row in audit.rows:
            other = own[row.group, row.metric]
            assert (row.n, row.score, row.low, row.high, row.pvalue) == (
                other.n, other.score, other.low, other.high, other.pvalue)  # fmt: skip
            if row.group == "f":
                raw[row.metric].append((level, float(row.pvalue or 0)))
    for key, pairs in raw.items():
        adjusted = multipletests([p for _, p in pairs], method="fdr_bh")[1]
        for (level, _), expected in zip(pairs, adjusted, strict=True):
            rows = [row for row in found.audits[level].rows if row.metric == key]
            assert [row.p_adjusted for row in rows] == approx([expected] * 2)


@pytest.mark.parametrize("family", ["metric", "audit"])
@pytest.mark.parametrize(("adjust", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_pooled_pvalues_are_adjusted_over_groups_and_never_over_levels(family: str, adjust: str, method: str) -> None:
    found = eh.audit_within(data(), y_true="y", y_pred="p", groups=["sex", "race"], control=["town", "age"],
                            bins={"age": [30, 55]}, metrics=["tpr", "fpr"], adjust=adjust, family=family,
                            crossings=1)  # fmt: skip
    assert len(found.levels) == 6 and len(found.pooled) == 10
    # The two sexes are each other's rest and count once.
    once = [row for row in found.pooled if row.group != "m"]
    families = [once] if family == "audit" else [[row for row in once if row.metric == key] for key in ("tpr", "fpr")]
    for rows in families:
        expected = multipletests([row.pvalue for row in rows], method=method)[1]
        assert [row.p_adjusted for row in rows] == approx(expected)
    for row in found.pooled:
        assert row.p_adjusted is not None
        if row.p_adjusted > 0.05:
            assert row.verdict == "no difference shown"
        else:
            assert row.verdict == ("higher" if row.odds_ratio > 1 else "lower")
    assert any(row.verdict == "lower" for row in found.pooled)
    plain = eh.audit_within(data(), y_true="y", y_pred="p", groups="race", control="town", metrics="tpr", adjust="none")
    assert [row.p_adjusted for row in plain.pooled] == [row.pvalue for row in plain.pooled]
    assert "P-values are not adjusted" in str(plain)


def test_a_pooled_difference_is_found_if_its_adjusted_pvalue_is_at_most_alpha() -> None:
    options: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "sex", "control": "town", "metrics": "tpr"}
    p = eh.audit_within(data(), **options).pooled[0].p_adjusted
    assert p is not None and 0 < p < 0.99
    at, below = (eh.audit_within(data(), alpha=alpha, **options).pooled[0] for alpha in (p, 0.99 * p))
    assert (at.verdict in ("higher", "lower"), below.verdict) == (True, "no difference shown")


def test_levels_can_explain_a_difference_away_or_hide_it() -> None:
    """Simpson's paradox, both ways; men are the reference in each level."""
    parts = {("easy", "f"): (8, 6), ("easy", "m"): (80, 60), ("hard", "f"): (72, 18), ("hard", "m"): (20, 5)}
    frame = pd.DataFrame(
        [(level, sex, int(i < yes)) for (level, sex), (n, yes) in parts.items() for i in range(n)],
        columns=["department", "sex", "selected"],
    )
    found = eh.audit_within(frame, y_pred="selected", groups="sex", control="department", reference="m")
    (row,) = found.pooled
    assert (row.group, row.reference, row.verdict) == ("f", "m", "no difference shown")
    assert row.pvalue == 1.0
    assert row.crude_pvalue is not None and row.crude_pvalue < 1e-5
    assert found.to_frame("polars")["verdict"].to_list() == ["no difference shown"]
    table = [np.array([[yes, n - yes] for sex in "fm" for n, yes in [parts[level, sex]]], dtype=float)
             for level in ("easy", "hard")]  # fmt: skip
    assert row.odds_ratio == approx(StratifiedTable(table).oddsratio_pooled)
    assert "sex f, ppr: no difference shown; odds ratio 1," in str(found)


def test_a_group_or_its_reference_may_be_missing_in_a_level() -> None:
    frame = data()
    frame.loc[(frame.town == "west") & (frame.race == "A"), "race"] = "B"
    frame.loc[frame.index[:6], "town"] = "nowhere"
    frame.loc[frame.index[:6], "sex"] = "f"
    frame.loc[frame.index[:6], "race"] = ["A", "B", "A", "B", "C", "A"]
    found = eh.audit_within(frame, y_true="y", y_pred="p", groups=["sex", "race"], control="town", metrics="acc",
                            reference={"sex": "rest", "race": "A"})  # fmt: skip
    levels = {one.level: one for one in found.levels}
    assert levels["east"].not_audited == {}
    assert levels["west"].not_audited == {"race": "its reference A has no cases"}
    assert levels["nowhere"].not_audited == {"sex": "only one group has cases (f)"}
    audit = levels["nowhere"].audit
    assert audit is not None and {row.by for row in audit.rows} == {"race"}
    assert audit.settings["groups"] == ["race"]
    assert str(levels["nowhere"]).endswith("not audited by sex, only one group has cases (f)")
    assert {(row.by, row.group) for row in found.pooled if row.by == "race"} == {("race", "B"), ("race", "C")}
    assert [s.reference_whole for s in found.pooled[2].strata] == [
        int(((frame.town == town) & (frame.race == "A")).sum()) for town in ("east", "nowhere", "west")
    ]
    alone = eh.audit_within(y_pred=[1, 0, 1, 0], groups=list("aabb"), control=list("xxyy"), positive=1)
    assert [one.audit for one in alone.levels] == [None, None]
    assert [row.verdict for row in alone.pooled] == ["undefined", "undefined"]
    assert "group a, ppr: undefined, no level says anything" in str(alone)
    with pytest.raises(eh.InvalidInput, match=r"^no level could be audited, so there are no rows; levels says why$"):
        alone.to_frame(rows="levels")


def test_the_reference_that_the_data_choose_is_the_same_in_all_levels() -> None:
    frame = data()
    frame.loc[frame.town == "west", "race"] = frame.loc[frame.town == "west", "race"].map(
        {"A": "B", "B": "A", "C": "C"}
    )
    frame = frame.drop(frame.index[(frame.town == "west") & (frame.race == "A")][:30])
    largest = frame.race.value_counts().idxmax()
    assert {frame[frame.town == town].race.value_counts().idxmax() for town in ("east", "west")} != {largest}
    found = eh.audit_within(frame, y_true="y", y_pred="p", groups="race", control="town", metrics="acc",
                            reference="largest")  # fmt: skip
    assert {row.reference for row in found.pooled} == {largest}
    assert {row.reference for audit in found.audits.values() for row in audit.rows} == {largest}


def test_left_out_rows_are_counted_in_their_levels_and_selections_without_labels_can_count() -> None:
    frame = data()
    frame["y"] = frame.y.astype(object)
    frame.loc[frame.index[:20], "y"] = None
    frame["p"] = frame.p.astype(object)
    frame.loc[frame.index[15:30], "p"] = None
    found = eh.audit_within(frame, y_true="y", y_pred="p", groups="sex", control="town", metrics=["ppr", "tpr"],
                            selection="all")  # fmt: skip
    assert found.left_out == {"y_true": 15, "y_pred": 10, "y_true and y_pred": 5}
    for one in found.levels:
        rows = frame[frame.town == one.level]
        assert one.left_out.get("y_true", 0) == int((rows.y.isna() & rows.p.notna()).sum())
        assert one.left_out.get("y_pred", 0) == int((rows.y.notna() & rows.p.isna()).sum())
        assert one.audit is not None and one.audit.left_out == one.left_out
        assert eh.Audit.from_json(one.audit.to_json()) == one.audit
    wholes = {row.metric: [s.whole for s in row.strata] for row in found.pooled if row.group == "f"}
    assert wholes["ppr"] == [
        int(((frame.sex == "f") & (frame.town == town) & frame.p.notna()).sum()) for town in ("east", "west")
    ]
    assert sum(wholes["tpr"]) == int(((frame.sex == "f") & (frame.y == 1) & frame.p.notna()).sum())
    assert str(found).splitlines()[1:4] == [
        "15 rows without a label are left out, and counted in selection rates only",
        "10 rows without a prediction are left out",
        "5 rows without a label and a prediction are left out",
    ]


def test_any_table_any_spelling_of_columns_gives_the_same() -> None:
    frame = data()
    options: dict[str, Any] = {"metrics": ["acc", "tpr"]}
    found = eh.audit_within(frame, y_true="y", y_pred="p", groups="sex", control="town", **options)
    same = [
        eh.audit_within(pl.from_pandas(frame), y_true="y", y_pred="p", groups=["sex"], control=["town"], **options),
        eh.audit_within(y_true=frame.y, y_pred=frame.p, groups=frame.sex, control=frame.town, **options),
        eh.audit_within(y_true=frame.y, y_pred=frame.p, groups=frame[["sex"]], control=frame[["town"]], **options),
        eh.audit_within(y_true=frame.y, y_pred=frame.p, groups={"sex": frame.sex}, control={"town": frame.town},
                        **options),
    ]  # fmt: skip
    for other in same:
        assert (other.pooled, other.control, other.audits) == (found.pooled, found.control, found.audits)
    unnamed = eh.audit_within(y_true=[1, 0, 1, 0], y_pred=[1, 0, 0, 0], groups=list("abab"), control=[1, 1, 2, 2])
    assert unnamed.control == ("control",)
    assert [one.level for one in unnamed.levels] == ["1", "2"]
    scored = eh.audit_within(frame.assign(s=frame.p * 0.6 + 0.1), y_true="y", y_score="s", groups="sex",
                             control="town", threshold=0.5, **options)  # fmt: skip
    assert scored.pooled == found.pooled
    named = eh.audit_within(frame, y_true="y", y_pred="p", groups="sex", control="town", metrics="acc",
                            labels={"town": {"east": "the east"}, "sex": {"f": "women"}})  # fmt: skip
    assert [one.level for one in named.levels] == ["the east", "west"]
    assert named.pooled[0].group == "women"


def test_a_frame_with_control_features_becomes_an_audit_within_them() -> None:
    frame = data()
    made = fm.MetricFrame(
        metrics={"counts": eh.frame_counts}, y_true=frame.y, y_pred=frame.p,
        sensitive_features=frame[["sex", "race"]], control_features=frame[["town"]],
    )  # fmt: skip
    found = eh.from_metric_frame(made, metrics=["tpr", "acc"])
    expected = eh.audit_within(frame, y_true="y", y_pred="p", groups=["sex", "race"], control="town",
                               metrics=["tpr", "acc"])  # fmt: skip
    assert isinstance(found, eh.ControlledAudit)
    assert found.pooled == expected.pooled
    assert {level: audit.rows for level, audit in found.audits.items()} == {
        level: audit.rows for level, audit in expected.audits.items()
    }
    assert found.audits["east"].record["python"] == "evenhand.from_metric_frame(data, metrics=['tpr', 'acc'])"
    with pytest.raises(TypeError, match=r"^from_metric_frame\(\) got an unexpected keyword argument 'colour'$"):
        eh.from_metric_frame(made, colour="red")


def test_metrics_that_cannot_be_pooled_are_audited_in_each_level_and_named() -> None:
    found = eh.audit_within(data(), y_true="y", y_pred="p", groups="sex", control="town",
                            metrics=["f1", "kappa", "equal_opportunity"])  # fmt: skip
    assert found.not_pooled == {
        "kappa": "it does not depend on one rate only",
        "equal_opportunity": "it compares two groups; pool tpr",
    }
    assert {row.metric for row in found.pooled} == {"f1"}
    assert {row.metric for row in found.audits["east"].rows} == {"f1", "kappa", "equal_opportunity"}
    assert "kappa is not pooled: it does not depend on one rate only" in str(found)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"control": None}, eh.InvalidInput, "control must be the name of a column or its values; got None"),
        ({"control": ["town", "sex"]}, eh.InvalidInput, "control must not contain a group column; got 'sex'"),
        ({"colour": 1}, TypeError, "audit_within() got an unexpected keyword argument 'colour'"),
        ({"reference": eh.ConfusionMatrix(1, 2, 3, 4)}, eh.InvalidInput,
         "the reference must be 'rest', 'all', 'largest', 'best' or the name of a group; a matrix has no levels"),
        ({"labels": {"colour": {1: "red"}}}, eh.UnknownName,
         "no column in labels is called 'colour'; known: sex, town"),
        ({"max_groups": 3}, eh.TooLarge,
         "there are 2 levels of town with 2 groups each, more than max_groups=3 in all; cut numbers with bins=, choose "
         "coarser columns or fewer crossings, or raise max_groups"),
        ({"labels": {"town": {"east": "x", "west": "x"}}}, eh.InvalidInput,
         "labels must give different names to different levels; two are called 'x'"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: Any, sentence: str) -> None:
    arguments = {"y_true": "y", "y_pred": "p", "groups": "sex", "control": "town", "metrics": "acc"} | options
    with pytest.raises(error) as refusal:
        eh.audit_within(data(), **arguments)
    assert str(refusal.value) == sentence


def test_levels_with_the_same_text_are_told_apart() -> None:
    found = eh.audit_within(y_pred=[1, 0, 1, 0], groups=list("abab"), control={"c": [1, 1, "1", "1"]}, positive=1)
    assert [one.level for one in found.levels] == ["'1'", "1"]


def test_the_audit_of_a_level_says_that_it_cannot_be_repeated_alone() -> None:
    found = eh.audit_within(data(), y_true="y", y_pred="p", groups="sex", control="town", metrics="acc")
    with pytest.raises(eh.InvalidInput) as refusal:
        found.audits["east"].repeat(data())
    assert str(refusal.value) == (
        "this is the audit of one of several levels, over which its p-values are adjusted; repeat all of them with "
        "audit_within"
    )
    record = found.audits["east"].record
    assert (record["level"], record["command"]) == ("east", None)
    assert record["python"] == (
        "evenhand.audit_within(data, y_true='y', y_pred='p', groups='sex', control='town', metrics=['acc'])"
    )
    assert json.loads(found.to_json(indent=None))["schema"] == "evenhand.within/1"
    assert found.to_frame("pandas", rows="levels").shape[0] == 4
    assert "<!doctype html>" in found.audits["east"].to_html()
    with pytest.raises(eh.InvalidInput, match=r"^rows must be 'pooled' or 'levels'; got 'all'$"):
        found.to_frame(rows="all")  # type: ignore[arg-type]


# Large counts


@pytest.mark.parametrize("table", [(7, 20_000, 400, 99_980_000), (5_000, 10_000, 5_200, 10_000), (40, 90_000, 0, 300)])
def test_large_levels_have_the_exact_law_too(table: tuple[int, int, int, int]) -> None:
    """One level is a hypergeometric law, whatever its size."""
    k, n, other, m = table
    found = eh.stratified_test({"all": {"x": (k, n - k, 0, 0), "y": (other, m - other, 0, 0)}}, "tpr", "x")
    law = hypergeom(n + m, k + other, n)
    assert found.pvalue == approx(min(1.0, 2 * min(law.cdf(k), law.sf(k - 1))), rel=1e-5)
    assert found.test == "exact, conditional on the margins of each level"


def test_windows_of_large_laws_change_nothing() -> None:
    """Two levels whose laws are cut far from the observed total, against the convolution of the whole laws."""
    levels = [(400, 1_000, 500, 1_100), (30, 2_000, 2, 900)]
    found = eh.stratified_test(
        {str(i): {"x": (k, n - k, 0, 0), "y": (o, m - o, 0, 0)} for i, (k, n, o, m) in enumerate(levels)}, "tpr", "x"
    )
    whole = np.ones(1)
    for k, n, other, m in levels:
        whole = np.convolve(whole, hypergeom(n + m, k + other, n).pmf(np.arange(n + 1)))
    observed = sum(k for k, *_ in levels)
    assert found.pvalue == approx(2 * min(whole[: observed + 1].sum(), whole[observed:].sum()), rel=1e-7)
    s = np.arange(len(whole))
    with np.errstate(divide="ignore"):
        logs = np.log(whole)
    for end, part in ((found.low, slice(observed, None)), (found.high, slice(0, observed + 1))):
        tilted = np.exp(logs + s * math.log(end) - (logs + s * math.log(end)).max())
        assert tilted[part].sum() / tilted.sum() == approx(0.025, rel=1e-5)


def test_millions_of_cases_have_mantel_and_haenszels_approximation_and_say_so() -> None:
    tables = [(2_500_000, 2_500_000, 2_503_000, 2_497_000)] * 8
    found = eh.stratified_test(
        {str(i): {"x": (a, b, 0, 0), "y": (c, d, 0, 0)} for i, (a, b, c, d) in enumerate(tables)}, "tpr", "x"
    )
    theirs = StratifiedTable([np.array([[a, b], [c, d]], dtype=float) for a, b, c, d in tables])
    assert found.test == "Mantel-Haenszel, normal approximation"
    assert "(approximate)" in str(found)
    assert (found.low, found.high) == approx(theirs.oddsratio_pooled_confint())
    assert found.pvalue == approx(theirs.test_null_odds().pvalue, rel=1e-6)
