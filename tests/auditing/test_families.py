"""Adjusted p-values: what a family is, and that adjusting over it is what the definitions say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_oracle import Cells, plain_bh, plain_holm, row, slow_holm
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.stats import false_discovery_control

import evenhand as eh
from evenhand.auditing import Audit, Row, compare_models
from evenhand.auditing.families import benjamini_hochberg, holm
from evenhand.examples import compas

RATES = ("tpr", "fpr", "ppv", "ppr", "acc")
FOUR = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (3, 9, 20, 40), "D": (9, 6, 4, 21)}
cells = st.tuples(*[st.integers(0, 12)] * 4)


def adjusts(rows: list[Row], method: Any) -> None:
    """The adjusted p-values of rows are those of one family; two groups that are each other's rest count once."""
    comparisons: dict[Any, list[Row]] = {}
    for r in rows:
        if r.test.pvalue is not None:
            mirror = {s.group for s in rows if (s.metric, s.at, s.by) == (r.metric, r.at, r.by)}
            whose = "" if len(mirror) == 2 and r.reference.kind == "rest" else r.group
            comparisons.setdefault((r.metric, tuple(r.at.items()), r.by, whose), []).append(r)
    values = [max(float(r.test.pvalue or 0.0) for r in same) for same in comparisons.values()]
    for same, expected in zip(comparisons.values(), method(values), strict=True):
        assert [r.test.p_adjusted for r in same] == approx([expected] * len(same), rel=1e-12)


def test_holms_method_is_its_definition() -> None:
    """max over j <= i of (m - j) p_(j), at most 1."""
    p = np.array([0.001, 0.04, 0.03, 0.2, 0.011, 0.04])
    ranks = np.sort(p)
    assert sorted(holm(p.tolist())) == approx(
        [min(1.0, max((len(p) - j) * ranks[j] for j in range(i + 1))) for i in range(len(p))]
    )
    assert holm([0.04, 0.01, 0.03]) == approx([0.06, 0.03, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_false_discovery_rate_is_controlled_as_scipy_does_it(values: list[float]) -> None:
    assert benjamini_hochberg(values) == false_discovery_control(values).tolist()


@pytest.mark.parametrize(("name", "method"), [("bh", plain_bh), ("none", list)])
def test_p_values_are_adjusted_over_the_groups_of_each_metric(name: Any, method: Any) -> None:
    a = eh.audit_counts(compas(), adjust=name)
    for metric in ("tpr", "ppv"):
        rows = [r for r in a.rows if r.metric == metric]
        assert len(rows) == len(compas())
        adjusts(rows, method)


def test_two_groups_that_are_each_others_rest_are_one_comparison() -> None:
    a = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics=["tpr"])
    assert [r.test.p_adjusted for r in a.rows] == approx([r.test.pvalue for r in a.rows])


def test_an_adjusted_p_value_is_never_below_the_raw_one_and_directions_agree_with_differences() -> None:
    """Two groups are one comparison, with one p-value for both."""
    rng = np.random.default_rng(5)
    for _ in range(8):
        a, b = (tuple(map(int, rng.integers(0, 40, 4) + 1)) for _ in range(2))
        found = eh.audit_counts({"A": a, "B": b}, metrics=["f1", "tpr", "informedness"])
        for r in found.rows:
            assert r.test.p_adjusted is not None and r.test.pvalue is not None and r.gap.difference is not None
            assert r.test.p_adjusted >= r.test.pvalue
            if r.differs:
                assert (r.gap.difference > 0) == (r.verdict == "higher")
        for metric in ("f1", "tpr", "informedness"):
            assert row(found, "A", metric).test.p_adjusted == row(found, "B", metric).test.p_adjusted


def test_groups_of_equal_counts_are_groups_of_their_own() -> None:
    same = dict.fromkeys("ABCD", (34, 6, 10, 50))
    a = eh.audit_counts({**same, "R": (180, 100, 100, 500)}, metrics="tpr", reference="R")
    raw, adjusted = row(a, "A", "tpr").test.pvalue, row(a, "A", "tpr").test.p_adjusted
    # Four comparisons, each of which reaches p-values below its share of the level, whatever the common rate is.
    assert raw is not None and adjusted is not None
    assert 2 * raw < adjusted <= 4 * raw


def test_a_group_without_cases_makes_no_third_comparison() -> None:
    found = row(eh.audit_counts({"a": (0, 0, 0, 0), "b": (5, 1, 3, 4), "c": (1, 6, 1, 9)}, metrics="ppr"), "b")
    assert found.test.p_adjusted == found.test.pvalue


@given(groups=st.lists(cells, min_size=3, max_size=6), metric=st.sampled_from(["tpr", "ppv", "f1"]))
@settings(max_examples=40)
def test_discrete_holm_is_what_a_slow_sum_over_all_outcomes_gives(groups: list[Cells], metric: str) -> None:
    counts = {f"g{i}": c for i, c in enumerate(groups)}
    a = eh.audit_counts(counts, metrics=metric)
    rows = [r for name in counts for r in a.rows if r.group == name and r.test.pvalue is not None]
    whole = {"tpr": [0, 1], "ppv": [0, 2], "f1": [0, 1, 2]}[metric]
    total = np.sum(groups, axis=0)
    parts = []
    for r in rows:
        mine = np.array(counts[r.group])
        theirs = total - mine
        parts.append((int(mine[0]), int(mine[whole].sum()), int(theirs[0]), int(theirs[whole].sum())))
    adjusted = [r.test.p_adjusted for r in rows]
    assert adjusted == approx(slow_holm(parts), rel=1e-6)
    raw = [float(r.test.pvalue) for r in rows if r.test.pvalue is not None]
    for mine_, once, plain in zip(adjusted, raw, plain_holm(raw), strict=True):
        assert mine_ is not None
        assert once * (1 - 1e-9) <= mine_ <= plain * (1 + 1e-9)


@pytest.mark.parametrize("counts", [compas(), FOUR], ids=["compas", "four"])
def test_adjusting_over_the_audit_is_never_less_strict_than_over_a_metric(counts: Any) -> None:
    one, all_ = (eh.audit_counts(counts, family=f, metrics=[*RATES, "mcc"]) for f in ("metric", "audit"))
    pairs = [(r, row(all_, r.group, r.metric)) for r in one.rows]
    assert all((s.test.p_adjusted or 0) >= (r.test.p_adjusted or 0) for r, s in pairs)
    assert any((s.test.p_adjusted or 0) > (r.test.p_adjusted or 0) for r, s in pairs)
    # No bound is known over several metrics, so each has its share of the level.
    metrics = len({r.metric for r in one.rows})
    for r, s in pairs:
        if r.test.p_adjusted is not None:
            assert s.test.p_adjusted == approx(min(1.0, metrics * r.test.p_adjusted))


def test_two_groups_count_as_one_comparison_in_either_family() -> None:
    counts = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}
    a = eh.audit_counts(counts, metrics=["tpr", "mcc"], family="audit")
    p = {m: row(a, "A", m).test.pvalue for m in ("tpr", "mcc")}
    assert p == {m: approx(row(a, "B", m).test.pvalue) for m in p}
    assert None not in p.values()
    for m, raw in p.items():
        for group in counts:
            found = row(a, group, m).test.p_adjusted
            assert found == approx(min(1.0, 2 * (raw or 0.0))), "two comparisons, not four"


def test_the_same_adjustment_whatever_the_order() -> None:
    forward, backward = (eh.audit_counts(dict(some), metrics="tpr") for some in (FOUR.items(), reversed(FOUR.items())))
    for name in FOUR:
        assert row(forward, name).test.p_adjusted == approx(row(backward, name).test.p_adjusted)


# Thresholds, classes, strata and models


def data(n: int = 240) -> dict[str, Any]:
    """Decisions of two and of three classes with a score; the rates of group A differ."""
    rng = np.random.default_rng(11)
    race = rng.choice(["A", "B", "C"], n)
    y = rng.integers(0, 2, n)
    score = np.round(np.clip(0.3 * y + 0.5 * rng.random(n) + 0.15 * (race == "A"), 0, 1), 2)
    kind = rng.choice(["x", "y", "z"], n)
    guess = np.where(rng.random(n) < np.where(race == "A", 0.5, 0.8), kind, rng.choice(["x", "y", "z"], n))
    return {
        "race": race,
        "town": rng.choice(["east", "west"], n),
        "y": y,
        "s": score,
        "old": (score > 0.5).astype(int),
        "new": (score > 0.6 - 0.1 * (race == "A")).astype(int),
        "kind": kind,
        "guess": guess,
    }


def swept(family: Any, adjust: Any = "bh") -> Audit:
    return eh.audit(data(), y_true="y", y_score="s", groups="race", threshold=[0.4, 0.5, 0.6],
                    metrics=["tpr", "acc", "auc"], draws=99, family=family, adjust=adjust)  # fmt: skip


def classified(family: Any, adjust: Any = "bh", **more: Any) -> Audit:
    return eh.audit(data(), y_true="kind", y_pred="guess", groups="race", classes="all",
                    **{"metrics": ["tpr", "acc"], "averages": ["acc", "mcc"], "draws": 99, **more},
                    family=family, adjust=adjust)  # fmt: skip


def in_strata(family: Any, adjust: Any = "bh") -> Audit:
    return eh.audit(data(), y_true="y", y_pred="old", groups="race", within="town", metrics=["tpr", "acc"],
                    family=family, adjust=adjust)  # fmt: skip


def compared(family: Any, adjust: Any = "bh") -> Audit:
    models = {"old": "old", "new": "new", "label": "y"}
    return compare_models(data(), y_true="y", models=models, groups="race", metrics=["acc", "tpr"], family=family,
                          adjust=adjust, draws=99)  # fmt: skip


ALL = {"thresholds": swept, "classes": classified, "strata": in_strata, "models": compared}


@pytest.mark.parametrize("made", ALL.values(), ids=ALL)
def test_the_family_audit_is_everything(made: Any) -> None:
    """Thresholds, classes, averages, strata, pooled rows, scores and pairs of models are adjusted together."""
    adjusts(list(made("audit").rows), plain_bh)


@pytest.mark.parametrize("metric", ["tpr", "acc", "auc"])
def test_each_threshold_is_adjusted_for_itself(metric: str) -> None:
    """Ranking scores have no threshold, and are a family of their own."""
    a = swept("metric")
    places = {tuple(r.at.items()) for r in a.rows if r.metric == metric}
    assert len(places) == (1 if metric == "auc" else 3)
    for place in places:
        rows = [r for r in a.rows if (r.metric, tuple(r.at.items())) == (metric, place)]
        assert len(rows) == 3
        adjusts(rows, plain_bh)


def test_classes_of_a_metric_are_adjusted_together_and_averages_for_themselves() -> None:
    """The accuracy of all classes is another score than that of a class against the rest."""
    a = classified("metric")
    families = {(r.metric, "class" in r.at) for r in a.rows}
    assert families == {("tpr", True), ("acc", True), ("acc", False), ("mcc", False)}
    for metric, of_classes in families:
        rows = [r for r in a.rows if r.metric == metric and ("class" in r.at) == of_classes]
        assert len(rows) == (9 if of_classes else 3)
        adjusts(rows, plain_bh)


def test_strata_of_a_metric_are_adjusted_together_and_pooled_rows_for_themselves() -> None:
    a = in_strata("metric")
    for metric in ("tpr", "acc"):
        for pooled in (True, False):
            rows = [r for r in a.rows if r.metric == metric and (r.at["stratum"] == "pooled") == pooled]
            assert len(rows) == (3 if pooled else 6)
            adjusts(rows, plain_bh)


def test_pairs_of_models_are_adjusted_together() -> None:
    a = compared("metric")
    for metric in ("acc", "tpr"):
        rows = [r for r in a.rows if r.metric == metric]
        assert len(rows) == 6
        adjusts(rows, plain_bh)


@pytest.mark.parametrize("family", ["metric", "audit"])
def test_holm_over_classes_gives_each_class_its_share(family: Any) -> None:
    found = classified(family, "holm", averages=[])
    members: dict[str, list[Row]] = {}
    for r in found.rows:
        if r.test.pvalue is not None:
            members.setdefault(r.metric if family == "metric" else "", []).append(r)
    assert len(members) == (2 if family == "metric" else 1)
    columns: Any = {"y_true": "kind", "y_pred": "guess", "groups": "race", "metrics": ["tpr", "acc"], "family": family}
    alone = {label: eh.audit(data(), positive=label, **columns) for label in "xyz"}
    stricter = 0
    for rows in members.values():
        for r in rows:
            one = row(alone[r.at["class"]], r.group, r.metric).test.p_adjusted
            p, adjusted = r.test.pvalue, r.test.p_adjusted
            assert one is not None and p is not None and adjusted is not None
            # A class has a third of the level of a metric, and at most that of its own audit otherwise.
            assert max(p, one * (1 - 1e-9)) <= adjusted <= min(1.0, 3 * one * (1 + 1e-9))
            stricter += adjusted > one
            assert r.differs == (adjusted <= 0.05)
    assert stricter > len(found.rows) / 2


@pytest.mark.parametrize("made", ALL.values(), ids=ALL)
def test_without_adjustment_p_values_stay(made: Any) -> None:
    assert all(r.test.p_adjusted == r.test.pvalue for r in made("metric", "none").rows)
