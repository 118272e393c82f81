"""Verdicts that depend on one group of the rest."""

from __future__ import annotations

from itertools import product

import pytest
from audit_oracle import row
from matrices import matrix
from random_audits import every_row

import evenhand as eh
from evenhand.auditing import Verdict
from evenhand.examples import compas

ABC = {"A": (800, 200, 0, 1000), "B": (600, 400, 0, 1000), "C": (600, 400, 0, 1000)}


def test_the_group_that_moves_the_rest_is_named_with_the_verdict_without_it() -> None:
    """A is at 0.8, B and C at 0.6: B and C are lower than their rests, but only because of A."""
    for largest in (1, 3):
        b = (600 * largest, 400 * largest, 0, 1000)
        a = eh.audit_counts(ABC | {"B": b, "C": b}, metrics="tpr")
        assert (row(a, "A").verdict, row(a, "A").driver) == (Verdict.HIGHER, None)
        for name in "BC":
            found = row(a, name)
            assert (found.verdict, found.driver) == (Verdict.LOWER, "A")
            assert (found.driver_verdict, found.driver_gap) == (Verdict.EQUIVALENT, 0.0)
            assert -0.1 <= found.driver_gap_low < 0 < found.driver_gap_high <= 0.1
        (sentence,) = [f.sentence for f in a.findings if f.group == "B"]
        assert "A" in sentence and sentence.endswith("Driven by A: without it, equivalent")


def test_compas_caucasians_are_lower_only_beside_african_americans() -> None:
    found, groups = row(eh.audit_counts(compas(), by="race", metrics="ppr"), "Caucasian"), compas()
    assert (found.verdict, found.driver, found.driver_verdict) == ("lower", "African-American", "higher")
    others = sum((groups[name] for name in ("Hispanic", "Asian", "Native American", "Other")), matrix(0, 0, 0, 0))
    gap, without = eh.disparity(groups["Caucasian"], others, "ppr"), [found.driver_gap]
    without += [found.driver_gap_low, found.driver_gap_high]
    assert without == pytest.approx([gap.estimate, gap.low, gap.high])


@pytest.mark.slow
def test_a_driver_is_named_only_where_the_verdict_changes_side() -> None:
    rows = [r for r, _ in every_row() if r.driver is not None]
    assert rows
    for r in rows:
        assert r.reference_kind == "rest" and r.driver != r.group and r.driver_verdict is not r.verdict
        assert r.differs or r.driver_verdict.differs
        assert Verdict.UNDEFINED not in (r.verdict, r.driver_verdict)


def test_the_verdict_without_a_group_is_adjusted_as_the_verdict_with_it() -> None:
    """Without A, p of D is 0.0069: below an alpha of 0.008 raw, above it adjusted. Without B it is 0.0076."""
    counts = {"A": (42, 27, 33, 48), "B": (18, 18, 20, 24), "C": (15, 22, 24, 19), "D": (39, 22, 57, 32)}
    raw = eh.disparity(matrix(*counts["D"]), matrix(*counts["B"]) + matrix(*counts["C"]), "ppr").pvalue
    assert 0.0065 < raw < 0.008
    within, between = (row(eh.audit_counts(counts, metrics="ppr", alpha=alpha), "D") for alpha in (0.02, 0.008))
    assert (within.verdict, between.verdict) == (Verdict.HIGHER, Verdict.INCONCLUSIVE)
    assert between.driver is None
    assert (within.driver, within.driver_verdict) == ("B", Verdict.INCONCLUSIVE)


def test_no_group_of_two_and_no_other_reference_than_the_rest_has_a_driver() -> None:
    two = eh.audit_counts({name: ABC[name] for name in "AB"}, metrics="tpr")
    named, all_ = (eh.audit_counts(ABC, metrics="tpr", reference=kind) for kind in ("A", "all"))
    assert all(r.driver is None for a in (two, named, all_) for r in a.rows)


def test_each_stratum_has_drivers() -> None:
    """Selected are 80 of 100 in A and 60 of 100 in B and C in the east; in the west all are at 60."""
    parts = dict.fromkeys(product("ABC", ("east", "west")), 60) | {("A", "east"): 80}
    g, t, p = zip(*((*part, int(i % 100 < k)) for part, k in parts.items() for i in range(600)), strict=True)
    a = eh.audit(y_pred=list(p), groups={"g": list(g)}, strata={"town": list(t)}, positive=1)
    drivers = {(r.at["stratum"], r.group): r.driver for r in a.rows if r.driver}
    assert drivers == {("east", "B"): "A", ("east", "C"): "A"}
