"""Adjusted p-values: what a family is, and that adjusting over it is what the definitions say."""

from __future__ import annotations

from functools import cache
from math import isnan
from typing import Any

import numpy as np
import pytest
from audit_oracle import Cells, plain_bh, plain_holm, row, slow_holm
from hypothesis import given, settings, strategies as st
from pytest import approx
from scipy.stats import false_discovery_control

import evenhand as eh
from evenhand.auditing import Audit, Row
from evenhand.auditing.multiplicity import adjust_benjamini_hochberg, adjust_holm
from evenhand.examples import compas

TWO = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}
FOUR = TWO | {"C": (3, 9, 20, 40), "D": (9, 6, 4, 21)}
cells = st.tuples(*[st.integers(0, 12)] * 4)


def check_adjusted(rows: list[Row], method: Any) -> None:
    """The adjusted p-values of rows are those of one family; two groups that are each other's rest count once."""
    comparisons: dict[Any, list[Row]] = {}
    for r in rows:
        if not isnan(r.pvalue):
            column = {s.group for s in rows if (s.metric, s.at, s.by) == (r.metric, r.at, r.by)}
            group = "" if len(column) == 2 and r.reference_kind == "rest" else r.group
            comparisons.setdefault((r.metric, tuple(r.at.items()), r.by, group), []).append(r)
    values = [max(r.pvalue for r in same) for same in comparisons.values()]
    for same, expected in zip(comparisons.values(), method(values), strict=True):
        assert [r.p_adjusted for r in same] == approx([expected] * len(same), rel=1e-12)


def test_holms_method_is_its_definition() -> None:
    """max over j <= i of (m - j) p_(j), at most 1."""
    for p in ([0.001, 0.04, 0.03, 0.2, 0.011, 0.04], [0.04, 0.01, 0.03], [0.5, 0.9], []):
        assert adjust_holm(np.array(p)).tolist() == approx(plain_holm(p))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_false_discovery_rate_is_controlled_as_scipy_does_it(values: list[float]) -> None:
    assert adjust_benjamini_hochberg(np.array(values)).tolist() == false_discovery_control(values).tolist()


@given(groups=st.lists(cells, min_size=3, max_size=6), metric=st.sampled_from(["tpr", "ppv", "f1"]))
@settings(max_examples=25)
def test_discrete_holm_is_what_a_slow_sum_over_all_outcomes_gives(groups: list[Cells], metric: str) -> None:
    counts = {f"g{i}": c for i, c in enumerate(groups)}
    a = eh.audit_counts(counts, metrics=metric)
    rows = [r for name in counts for r in a.rows if r.group == name and not isnan(r.pvalue)]
    whole = {"tpr": [0, 1], "ppv": [0, 2], "f1": [0, 1, 2]}[metric]
    total = np.sum(groups, axis=0)
    sides = [(np.array(counts[r.group]), total - counts[r.group]) for r in rows]
    parts = [(int(g[0]), int(g[whole].sum()), int(rest[0]), int(rest[whole].sum())) for g, rest in sides]
    adjusted = [r.p_adjusted for r in rows]
    assert adjusted == approx(slow_holm(parts), rel=1e-6)
    raw = [r.pvalue for r in rows]
    for value, p, plain in zip(adjusted, raw, plain_holm(raw), strict=True):
        assert p * (1 - 1e-9) <= value <= plain * (1 + 1e-9)


def test_groups_of_equal_counts_are_compared_separately_with_a_shared_reference() -> None:
    """Each of four comparisons attains p-values below its share of the level, whatever the common rate is."""
    same = dict.fromkeys("ABCD", (34, 6, 10, 50))
    a = eh.audit_counts({**same, "R": (180, 100, 100, 500)}, metrics="tpr", reference="R")
    raw, adjusted = row(a, "A", "tpr").pvalue, row(a, "A", "tpr").p_adjusted
    assert 2 * raw < adjusted <= 4 * raw


def test_two_groups_that_are_the_rest_of_each_other_are_one_comparison() -> None:
    """A group without cases makes no third one; p-values are adjusted for two metrics, not for four rows."""
    for counts in (TWO, {**TWO, "none": (0, 0, 0, 0)}):
        metrics = ["tpr", "mcc", "f1"]
        for family, factor in (("metric", 1), ("audit", 3)):
            a = eh.audit_counts(counts, metrics=metrics, family=family, adjust="holm")  # type: ignore[arg-type]
            for metric in metrics:
                first, second = (row(a, group, metric) for group in "AB")
                assert first.pvalue == approx(second.pvalue) and first.p_adjusted == second.p_adjusted
                assert first.pvalue <= first.p_adjusted + 1e-9
                assert first.p_adjusted <= min(1, factor * first.pvalue) + 1e-9


def test_adjusting_over_the_audit_is_one_family_of_all_metrics() -> None:
    """Holm's method over all rows, or less where exact tests attain few p-values; never less strict than by metric."""
    for counts in (compas(), FOUR):
        one, all_ = (eh.audit_counts(counts, family=f, metrics=["tpr", "ppv", "fpr"]) for f in ("metric", "audit"))
        rows = sorted((r for r in all_.rows if not isnan(r.pvalue)), key=lambda r: r.pvalue)
        raw, adjusted = ([getattr(r, name) for r in rows] for name in ("pvalue", "p_adjusted"))
        assert adjusted == sorted(adjusted)
        for r, p, value, most in zip(rows, raw, adjusted, plain_holm(raw), strict=True):
            assert p <= value <= most * (1 + 1e-9)
            assert value >= row(one, r.group, r.metric).p_adjusted
    assert any(value < 0.9 * most < 0.9 for value, most in zip(adjusted, plain_holm(raw), strict=True))


@cache
def data(n: int = 240) -> Any:
    """Decisions of two and of three classes with a score; the rates of group A differ."""
    rng = np.random.default_rng(11)
    race = rng.choice(["A", "B", "C"], n)
    y = rng.integers(0, 2, n)
    score = np.round(np.clip(0.3 * y + 0.5 * rng.random(n) + 0.15 * (race == "A"), 0, 1), 2)
    kind = rng.choice(["x", "y", "z"], n)
    guess = np.where(rng.random(n) < np.where(race == "A", 0.5, 0.8), kind, rng.choice(["x", "y", "z"], n))
    new = (score > 0.6 - 0.1 * (race == "A")).astype(int)
    columns = {"race": race, "y": y, "s": score, "old": (score > 0.5).astype(int), "new": new}
    return columns | {"town": rng.choice(["east", "west"], n), "kind": kind, "guess": guess}


AUDITS: dict[str, dict[str, Any]] = {
    "thresholds": {"y_score": "s", "threshold": [0.4, 0.5, 0.6], "metrics": ["tpr", "acc", "auc"]},
    "classes": {"y_true": "kind", "y_pred": "guess", "classes": "all", "metrics": ["tpr", "acc", "macro f1"]},
    "strata": {"y_pred": "old", "strata": "town", "metrics": ["tpr", "acc"]},
    "models": {"models": {"old": "old", "new": "new", "label": "y"}, "metrics": ["acc", "tpr"]},
}


def audited(kind: str, **settings: Any) -> Audit:
    function = eh.compare if kind == "models" else eh.audit
    return function(data(), **{"y_true": "y", "groups": "race", "adjust": "bh"} | AUDITS[kind] | settings)


@pytest.mark.parametrize("kind", AUDITS)
def test_families_are_metrics_with_their_classes_strata_and_models_or_everything(kind: str) -> None:
    """Each threshold is one for itself; so are averages over classes, and rows that are pooled over strata."""
    families: dict[Any, list[Row]] = {}
    for r in audited(kind).rows:
        is_pooled = r.at.get("stratum") == "pooled"
        families.setdefault((r.metric, r.at.get("threshold"), "class" in r.at, is_pooled), []).append(r)
    sizes = {"thresholds": [3] * 7, "classes": [3, 3, 9, 9], "strata": [3, 3, 6, 6], "models": [8, 8]}
    assert sorted(map(len, families.values())) == sizes[kind]
    for rows in families.values():
        check_adjusted(rows, plain_bh)
    check_adjusted(list(audited(kind, family="audit").rows), plain_bh)
    assert all(r.p_adjusted == r.pvalue for r in audited(kind, adjust="none").rows)


def test_holm_over_classes_gives_each_class_its_share() -> None:
    """A class has a third of the level of its metric."""
    metrics = ["tpr", "ppr"]
    found = audited("classes", adjust="holm", metrics=metrics)
    columns: Any = {"y_true": "kind", "y_pred": "guess", "groups": "race", "metrics": metrics}
    alone = {label: eh.audit(data(), positive=label, **columns) for label in "xyz"}
    for r in found.rows:
        if "class" in r.at:
            one = row(alone[r.at["class"]], r.group, r.metric).p_adjusted
            assert r.p_adjusted == approx(min(1.0, 3 * one)) and r.differs == (r.p_adjusted <= 0.05)
