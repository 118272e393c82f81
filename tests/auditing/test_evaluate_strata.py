# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc"
"""Rates pooled over strata: against counting by hand, listing all tables, SciPy and statsmodels."""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import RatesOf, pooled_pvalue, row
from engines import optional
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing import Verdict

StratifiedTable = optional("statsmodels.stats.contingency_tables").StratifiedTable
multipletests = optional("statsmodels.stats.multitest").multipletests

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


def split(rows: list[tuple[Any, ...]], key: str, group: str) -> list[RatesOf]:
    """Per stratum, the group's successes and cases and those of everybody else."""
    found: dict[Any, list[int]] = {}
    for who, stratum, y, p in rows:
        if p is None:
            continue
        counts = found.setdefault(stratum, [0, 0, 0, 0])
        if (outcome := RATES[key](y, p)) is not None:
            at = 0 if who == group else 2
            counts[at] += outcome
            counts[at + 1] += 1
    return [tuple(found[stratum]) for stratum in found]


@given(rows=st.lists(person, min_size=4, max_size=20), key=st.sampled_from([*RATES]))
@settings(max_examples=30)
def test_pooled_tests_are_those_of_listing_the_tables_of_all_strata(key: str, rows: list[tuple[Any, ...]]) -> None:
    """Strata without the group, without the others, or with one outcome say nothing and change nothing."""
    kept = [one for one in rows if one[3] is not None]
    if len({one[0] for one in kept}) < 2:
        return
    who, stratum, y, p = (list(column) for column in zip(*rows, strict=True))
    a = eh.audit(y_true=y, y_pred=p, groups={"g": who}, strata={"c": stratum}, metrics=key, positive=1)
    assert a.n == len(kept)
    assert a.left_out == ({"y_pred": len(rows) - len(kept)} if len(kept) < len(rows) else {})
    sizes = Counter("(missing)" if value is None else value for _, value, *_ in kept)
    assert a.axes["stratum"] == (*sorted(sizes, key=lambda name: (name == "(missing)", name)), "pooled")
    for name, n in sizes.items():
        assert sum(r.n for r in a.rows if r.at["stratum"] == name) == n
    pooled = [r for r in a.rows if r.at["stratum"] == "pooled"]
    assert {r.group for r in pooled} == {one[0] for one in kept}
    for r in pooled:
        strata = split(rows, key, r.group)
        expected = pooled_pvalue(strata)
        assert r.pvalue == approx(nan if expected is None else expected, nan_ok=True)
        assert (r.verdict is Verdict.UNDEFINED) == (expected is None)
        signs = [k * m - other * n for k, n, other, m in strata if n and m]
        assert (r.strata_higher, r.strata_lower) == (sum(s > 0 for s in signs), sum(s < 0 for s in signs))
        assert r.strata_silent == sum(not (n and m and 0 < k + other < n + m) for k, n, other, m in strata)
        crude = pooled_pvalue([tuple(map(sum, zip(*strata, strict=True)))])  # type: ignore[list-item]
        assert r.crude_pvalue == approx(nan if crude is None else crude, nan_ok=True)
        whole = sum(n for _, n, _, _ in strata)
        assert (r.denominators, r.n) == ((whole,), sum(one[0] == r.group for one in kept))
        assert r.score == approx(sum(k for k, *_ in strata) / whole if whole else nan, nan_ok=True)


def data(n: int = 260, seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1])})
    frame["age"], frame["town"] = rng.integers(18, 80, n), rng.choice(["east", "west"], n)
    frame["y"] = rng.integers(0, 2, n)
    frame["p"] = np.where(rng.random(n) < np.where(frame.sex == "f", 0.55, 0.9), frame.y, 1 - frame.y)
    return frame


COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "sex", "strata": "town"}


def test_pooled_odds_ratios_are_those_of_statsmodels() -> None:
    """Mantel and Haenszel's estimate; the interval is exact and so a little wider than their approximate one."""
    frame = data()
    a = eh.audit(frame, metrics=["tpr", "acc", "ppr"], **COLUMNS)
    for metric, part, whole in (("tpr", frame.p, frame.y == 1), ("acc", frame.y == frame.p, frame.y >= 0),
                                ("ppr", frame.p, frame.y >= 0)):  # fmt: skip
        found = row(a, "f", metric, stratum="pooled")
        masks = [[whole & (frame.town == town) & (frame.sex == sex) for sex in "fm"] for town in ("east", "west")]
        tables = [np.array([[part[m].sum(), (1 - part[m]).sum()] for m in pair], dtype=float) for pair in masks]
        theirs = StratifiedTable(tables)
        assert found.gap_kind == "odds ratio" and found.gap == approx(theirs.oddsratio_pooled)
        low, high = theirs.oddsratio_pooled_confint()
        assert 0.7 * low < found.gap_low < 1.02 * low and 0.98 * high < found.gap_high < 1.4 * high
        summed = np.sum(tables, axis=0)
        assert found.crude_odds_ratio == approx(summed[0, 0] * summed[1, 1] / summed[0, 1] / summed[1, 0])


def pooled(tables: Any) -> Any:
    """The pooled row of group x beside y, whose successes and failures are given by stratum."""
    counts = {(g, str(i)): (*t[k : k + 2], 0, 0) for i, t in enumerate(tables) for g, k in (("x", 0), ("y", 2))}
    return row(eh.audit_counts(counts, by=("g", "c"), strata="c", metrics="tpr"), "x", stratum="pooled")


def test_strata_can_explain_a_difference_away_or_hide_it() -> None:
    """Simpson's paradox, both ways; men are the reference in each stratum."""
    parts = {("easy", "f"): (8, 6), ("easy", "m"): (80, 60), ("hard", "f"): (72, 18), ("hard", "m"): (20, 5)}
    frame = pd.DataFrame(
        [(stratum, sex, int(i < yes)) for (stratum, sex), (n, yes) in parts.items() for i in range(n)],
        columns=["department", "sex", "selected"],
    )
    a = eh.audit(frame, y_pred="selected", groups="sex", strata="department", reference="m")
    (found,) = [r for r in a.rows if r.at["stratum"] == "pooled"]
    assert (found.group, found.reference, found.differs) == ("f", "m", False)
    assert found.pvalue == 1.0
    assert found.crude_pvalue < 1e-5
    table = [np.array([[yes, n - yes] for sex in "fm" for n, yes in [parts[stratum, sex]]], dtype=float)
             for stratum in ("easy", "hard")]  # fmt: skip
    assert found.gap == approx(StratifiedTable(table).oddsratio_pooled)


def test_large_strata_have_the_exact_law_too() -> None:
    """Thousands of cases in two strata: the hypergeometric laws convolved."""
    strata = [(400, 1_000, 500, 1_100), (30, 2_000, 2, 900)]
    found = pooled([(k, n - k, other, m - other) for k, n, other, m in strata])
    whole = np.ones(1)
    for k, n, other, m in strata:
        whole = np.convolve(whole, hypergeom(n + m, k + other, n).pmf(np.arange(n + 1)))
    observed = sum(k for k, *_ in strata)
    assert found.pvalue == approx(2 * min(whole[: observed + 1].sum(), whole[observed:].sum()), rel=1e-7)
    assert found.method == "exact, conditional on the margins of each stratum"


@pytest.mark.slow
def test_millions_of_cases_have_mantel_and_haenszels_approximation_and_say_so() -> None:
    tables = [(2_500_000, 2_500_000, 2_503_000, 2_497_000)] * 8
    found = pooled(tables)
    theirs = StratifiedTable([np.array([[a, b], [c, d]], dtype=float) for a, b, c, d in tables])
    assert found.method == "Mantel-Haenszel, normal approximation"
    assert (found.gap_low, found.gap_high) == approx(theirs.oddsratio_pooled_confint())
    assert found.pvalue == approx(theirs.test_null_odds().pvalue, rel=1e-6)


NUMBERS = ("pvalue", "gap", "gap_low", "gap_high", "strata_higher", "strata_lower", "strata_silent")


def test_classes_and_thresholds_have_strata_too() -> None:
    frame = data().assign(s=lambda d: (d.age - 18) / 62, kind=lambda d: d.race, guess=lambda d: np.roll(d.race, 1))
    audit: Any = partial(eh.audit, frame, groups="sex", strata="town")
    scores, kinds = {"y_true": "y", "y_score": "s"}, {"y_true": "kind", "y_pred": "guess"}
    swept = audit(**scores, threshold=[0.3, 0.6], metrics="tpr")
    classes = audit(**kinds, classes=["A", "B"], metrics=["tpr", "acc"])
    alone: Any = [(swept, {"threshold": t}, audit(**scores, threshold=t, metrics="tpr")) for t in (0.3, 0.6)]
    for whole, at, part in (*alone, (classes, {"class": "A"}, audit(**kinds, positive="A", metrics="tpr"))):
        for r in part.rows:
            here = row(whole, r.group, "tpr", **r.at, **at)
            for name in NUMBERS:
                assert getattr(here, name) == approx(getattr(r, name), rel=1e-12, nan_ok=True), name
    towns = ("east", "west")
    of_classes = {(("class", c), ("stratum", s)) for c in "AB" for s in (*towns, "pooled")}
    assert {tuple(r.at.items()) for r in classes.rows} == of_classes | {(("stratum", s),) for s in towns}
