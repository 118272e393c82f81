"""Verdicts that hang on one group of the rest."""

from __future__ import annotations

import pytest
from audit_oracle import row
from random_audits import every_row

import evenhand as eh
from evenhand.auditing import Driver, Verdict
from evenhand.examples import compas

CM = eh.ConfusionMatrix


@pytest.mark.parametrize("largest", [1, 3])
def test_the_group_that_moves_the_rest_is_named_with_the_verdict_without_it(largest: int) -> None:
    """A is at 0.8, B and C at 0.6: B and C are lower than their rests, but only because of A."""
    b = (600 * largest, 400 * largest, 0, 1000)
    a = eh.audit_counts({"A": (800, 200, 0, 1000), "B": b, "C": b}, metrics="tpr")
    assert (row(a, "A").verdict, row(a, "A").driver) == (Verdict.HIGHER, None)
    for name in ("B", "C"):
        found = row(a, name)
        assert found.verdict is Verdict.LOWER
        assert found.driver is not None
        assert (found.driver.group, found.driver.verdict, found.driver.gap.difference) == ("A", Verdict.ALIKE, 0.0)
        assert found.driver.gap.low is not None and found.driver.gap.high is not None
        assert -0.1 <= found.driver.gap.low < 0 < found.driver.gap.high <= 0.1
    (sentence,) = [f.sentence for f in a.findings if f.group == "B"]
    assert sentence.endswith(". If A were left out of the comparison, the verdict would be: alike (gap +0.000)")


def test_compas_caucasians_are_lower_only_beside_african_americans() -> None:
    found = row(eh.audit_counts(compas(), by="race", metrics="ppr"), "Caucasian")
    assert found.driver is not None
    assert (found.verdict, found.driver.group, found.driver.verdict) == ("lower", "African-American", "higher")
    groups = compas()
    others = sum((groups[name] for name in ("Hispanic", "Asian", "Native American", "Other")), CM(0, 0, 0, 0))
    gap = eh.disparity(groups["Caucasian"], others, "ppr")
    without = found.driver.gap
    assert (without.difference, without.low, without.high) == pytest.approx((gap.estimate, gap.low, gap.high))


@pytest.mark.slow
def test_a_driver_is_said_only_where_the_verdict_changes_side() -> None:
    named = 0
    for r, _ in every_row():
        if r.driver is not None:
            named += 1
            assert r.reference.kind == "rest" and r.driver.group != r.group
            assert r.driver.verdict is not r.verdict
            assert r.differs or r.driver.verdict.differs
            assert Verdict.UNDEFINED not in (r.verdict, r.driver.verdict)
    assert named > 0


def test_the_verdict_without_a_group_is_adjusted_as_the_verdict_with_it() -> None:
    """With A, ppr of D has p 0.0034, adjusted over six metrics 0.0500; without A, 0.0069, which is not more."""
    counts = {"A": (42, 27, 33, 48), "B": (18, 18, 20, 24), "C": (15, 22, 24, 19), "D": (39, 22, 57, 32)}
    metrics = ["tpr", "fpr", "ppv", "ppr", "acc", "npv"]
    found = row(eh.audit_counts(counts, metrics=metrics, family="audit"), "D", "ppr")
    assert (found.verdict, found.driver) == (Verdict.TOO_FEW, None)
    # Over the four groups of one metric.
    others = CM(*counts["B"]) + CM(*counts["C"])
    raw = eh.disparity(CM(*counts["D"]), others, "ppr", test="fisher").pvalue
    assert 0.0065 < raw < 0.008
    within = row(eh.audit_counts(counts, metrics="ppr", alpha=0.02), "D")
    between = row(eh.audit_counts(counts, metrics="ppr", alpha=0.008), "D")
    assert (within.verdict, between.verdict) == (Verdict.HIGHER, Verdict.TOO_FEW)
    # Without B the raw p is 0.0076, below 0.02; adjusted it is above.
    assert within.driver is not None
    assert (within.driver.group, within.driver.verdict) == ("B", Verdict.TOO_FEW)
    assert between.driver is None, "raw p is below 0.008 without A, but adjusted it is not"


def test_no_group_of_two_and_no_other_reference_than_the_rest_has_a_driver() -> None:
    counts = {"A": (800, 200, 0, 1000), "B": (600, 400, 0, 1000), "C": (600, 400, 0, 1000)}
    two = eh.audit_counts({name: counts[name] for name in "AB"}, metrics="tpr")
    named, all_ = (eh.audit_counts(counts, metrics="tpr", reference=kind) for kind in ("A", "all"))
    assert all(r.driver is None for a in (two, named, all_) for r in a.rows)


def test_each_threshold_and_each_stratum_has_drivers_of_its_own() -> None:
    """Selected are 80 of 100 in A and 60 of 100 in B and C in the east; in the west all are at 60."""
    parts = {("A", "east"): 80, ("B", "east"): 60, ("C", "east"): 60}
    parts |= {(name, "west"): 60 for name in "ABC"}
    times = 6
    data = [(g, t, int(i < k * times)) for (g, t), k in parts.items() for i in range(100 * times)]
    g, t, p = (list(column) for column in zip(*data, strict=True))
    a = eh.audit(y_pred=p, groups={"g": g}, within={"town": t}, positive=1)
    drivers: dict[str, list[Driver | None]] = {}
    for r in a.rows:
        drivers.setdefault(r.at["stratum"], []).append(r.driver)
    assert sorted("" if d is None else d.group for d in drivers["east"]) == ["", "A", "A"]
    assert drivers["west"] == drivers["pooled"] == [None] * 3
