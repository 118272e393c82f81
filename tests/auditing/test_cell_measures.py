# mypy: disable-error-code="operator, comparison-overlap"
"""Scores of counts: each number of a row against the functions of one group, definitions, and SciPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_oracle import row
from oracle import ONE_GROUP
from pytest import approx
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.examples import compas

CM = eh.ConfusionMatrix
ROOT = Path(__file__).parents[2]


def test_every_row_is_what_the_library_says() -> None:
    groups = compas()
    everybody = sum(groups.values(), CM(0, 0, 0, 0))
    a = eh.audit_counts(groups, by="race", strength=10)
    assert len(a.rows) == 6 * 8
    for r in a.rows:
        cm = groups[r.group]
        rest = everybody - cm
        score = ONE_GROUP[r.metric](*map(int, cm.cells))
        assert r.score.value == approx(float(score))
        assert r.reference.score == approx(float(ONE_GROUP[r.metric](*map(int, rest.cells))))
        assert r.gap.difference == approx(float(eh.difference(r.metric)(cm, rest)))
        gap = eh.disparity(cm, rest, r.metric, test="fisher")
        assert r.test.pvalue == approx(gap.pvalue, rel=1e-12, abs=1e-300)
        assert (r.test.method, gap.method) == ("fisher", "fisher")
        assert (r.gap.kind, r.gap.low, r.gap.high) == ("difference", approx(gap.low), approx(gap.high))
        assert r.percentile == approx(eh.match_test(cm, rest, r.metric).percentile, abs=1e-12)
        assert r.smoothed is not None
        assert r.smoothed.score == approx(float(eh.metric(r.metric)(eh.cross_prior_smooth(cm, rest, 10))))
        base = eh.metric(r.metric).base
        if base.is_rate:
            # A rate is steadied by as many of the 10 cases as the rest has in its denominator.
            added = 10 * float(base.basis(rest.cells)[0]) / rest.n
            assert r.smoothed.kept == approx(r.rests_on[0] / (r.rests_on[0] + added))
        else:
            assert r.smoothed.kept is None
        assert (r.cells, r.n) == (cm.cells, cm.n)


@pytest.mark.parametrize("metric", [m.key for m in eh.list_metrics()])
def test_any_metric_of_the_catalogue_can_be_audited(metric: str) -> None:
    a = eh.audit_counts({"A": (9, 6, 4, 21)}, metrics=[metric], reference=CM(30, 10, 12, 48))
    assert len(a.rows) == 1
    assert all(r.score.value is not None and r.test.pvalue is not None for r in a.rows)
    assert Audit.from_json(a.to_json()) == a


def test_with_a_strength_per_split_each_rate_keeps_the_share_of_its_own() -> None:
    """TPR keeps P/(P + λ), FPR and TNR keep N/(N + λ), prevalence n/(n + λ); no rule holds for the rest."""
    counts = {"A": (1, 2, 3, 4), "B": (50, 60, 70, 80)}
    keys = ["tpr", "fpr", "tnr", "prev", "ppv", "acc", "mcc"]
    a = eh.audit_counts(counts, metrics=keys, strength={"prev": 10, "tpr": 20, "fpr": 30})
    expected = [3 / 23, 7 / 37, 7 / 37, 10 / 20, None, None, None]
    kept = [found.kept for key in keys if (found := row(a, "A", key).smoothed) is not None]
    assert kept == [share and approx(share) for share in expected]


def test_smoothing_keeps_of_a_rates_gap_what_its_own_cases_weigh() -> None:
    """5 actual positives smoothed with 10 cases, half of them positive: 5 / (5 + 5) of the gap is left."""
    counts = {"A": (5, 0, 20, 75), "B": (200, 300, 100, 400)}
    found = row(eh.audit_counts(counts, metrics="tpr", strength=10), "A")
    assert found.smoothed is not None and found.reference.score is not None and found.gap.difference is not None
    assert found.smoothed.kept == approx(0.5)
    assert found.smoothed.score - found.reference.score == approx(0.5 * found.gap.difference)


def test_by_default_strengths_are_learnt_from_the_groups() -> None:
    learnt = eh.learn_strengths(compas())
    a = eh.audit_counts(compas(), metrics=["tpr", "mcc"])
    assert a == eh.audit_counts(compas(), metrics=["tpr", "mcc"], strength="auto")
    for r in a.rows:
        assert r.smoothed is not None
        assert r.smoothed.strength == approx(learnt[r.group])


def test_the_strength_of_a_row_is_the_one_that_smoothed_it() -> None:
    """A learnt strength that was lowered for a group is reported as lowered, whatever the reference."""
    groups = {**{f"g{i}": (24, 6, 10, 40) for i in range(8)}, "far": (9, 21, 10, 40)}
    for reference in ("rest", "all", "g0", CM(240, 60, 100, 400)):
        a = eh.audit_counts(groups, metrics="tpr", reference=reference)
        found = row(a, "far")
        assert found.smoothed is not None and isinstance(found.smoothed.strength, dict) and found.cells
        assert found.smoothed.strength["tpr"] < found.smoothed.strength["prev"]
        rest = 0.8
        moved = (9 + found.smoothed.strength["tpr"] * rest) / (30 + found.smoothed.strength["tpr"])
        assert found.smoothed.score == approx(moved)
        assert found.smoothed.score - rest == approx(found.smoothed.kept * (0.3 - rest))


def test_a_reference_is_not_smoothed_and_neither_are_selections_without_labels() -> None:
    a = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr", reference="B")
    assert row(a, "B").smoothed is None and row(a, "A").smoothed is not None
    unlabelled = eh.audit(y_pred=[1, 0, 1, 0], groups=list("aabb"), positive=1)
    assert all(r.smoothed is None and r.cells is None for r in unlabelled.rows)


def test_the_sketch_of_a_gap_is_twice_as_wide_as_its_interval() -> None:
    """Both have the same middle, and about 95 of 100 parts of the bars stand within the interval."""
    found = row(eh.audit_counts({"A": (10, 20, 30, 40), "B": (50, 60, 70, 80)}, metrics=["mcc"]), "A", "mcc")
    low, high, sketch = found.gap.low, found.gap.high, found.sketch
    assert low is not None and high is not None and sketch is not None
    assert (sketch.low, sketch.high) == approx(((3 * low - high) / 2, (3 * high - low) / 2))
    assert (sketch.of, sketch.at, max(sketch.heights)) == ("gap", 0, 99)
    step = (sketch.high - sketch.low) / len(sketch.heights)
    inside = [h for i, h in enumerate(sketch.heights) if low < sketch.low + (i + 0.5) * step < high]
    assert sum(inside) / sum(sketch.heights) == approx(0.95, abs=0.04)


def test_the_sketch_of_a_rate_is_the_law_of_its_count() -> None:
    """Heights are hypergeometric probabilities, the largest of them 99, at the scores k / m."""
    found = row(eh.audit_counts({"A": (3, 7, 0, 0), "B": (12, 18, 0, 0)}, metrics="tpr"), "A")
    sketch = found.sketch
    assert sketch is not None
    assert (sketch.of, sketch.at, sketch.low, sketch.high) == ("null", 0.3, 0.0, 1.0)
    law = hypergeom(40, 15, 10)
    scores = np.linspace(sketch.low, sketch.high, len(sketch.heights))
    probabilities = law.pmf(np.floor(scores * 10 + 1e-9))
    assert list(sketch.heights) == approx(np.round(99 * probabilities / probabilities.max()), abs=1)


def test_the_null_of_match_changes_no_p_value() -> None:
    counts = {"A": (30, 20, 20, 30), "B": (20, 30, 20, 30)}
    for metric in ("equalized_odds", "tpr", "mcc"):
        rows = [row(eh.audit_counts(counts, metrics=metric, null=n), "A") for n in ("pooled", "known", "predictive")]
        assert len({r.test.pvalue for r in rows}) == 1
        assert len({r.percentile for r in rows}) == 3


def test_every_number_of_a_row_follows_from_its_own_reference() -> None:
    """Only rates are compared with everybody; other scores are compared with the rest, and say so."""
    counts = {"A": (50, 0, 20, 30), "B": (20, 30, 10, 40), "C": (26, 20, 42, 12)}
    for r in eh.audit_counts(counts, metrics=["ppr", "disparate_impact", "lr_plus", "f1"], reference="all").rows:
        assert r.reference.cells is not None
        own, theirs = CM(*counts[r.group]), CM(*r.reference.cells)
        m = eh.metric(r.metric)
        if m.kind:
            assert r.score.value == approx(m(own, theirs))
        else:
            assert r.reference.score == approx(m(theirs))
        assert r.reference.n == theirs.n and r.reference.name == ("all" if r.metric == "ppr" else "rest")


def test_the_gap_to_everybody_is_a_share_of_the_gap_to_the_rest() -> None:
    """The share that the rest makes up of everybody; the test is the same."""
    groups = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (20, 20, 5, 60)}
    everybody, rest = (
        row(eh.audit_counts(groups, metrics=["tpr"], reference=kind), "A", "tpr") for kind in ("all", "rest")
    )
    assert everybody.reference.score == approx(59 / 95)
    assert everybody.gap.difference and rest.gap.difference and everybody.gap.low and rest.gap.low
    assert everybody.gap.difference / rest.gap.difference == approx(80 / 95)
    assert everybody.gap.low / rest.gap.low == approx(80 / 95)
    assert everybody.test.pvalue == rest.test.pvalue


def test_the_probability_of_no_score_is_that_of_drawing_no_denominator() -> None:
    """Of 1,008 cases with 3 positives, 8 are drawn: C(1005, 8) / C(1008, 8) have no positive."""
    a = eh.audit_counts({"A": (3, 0, 0, 997), "B": (0, 0, 0, 8)}, metrics="tpr")
    assert row(a, "B").p_undefined == approx(hypergeom(1008, 3, 8).pmf(0))
    assert row(a, "B").p_undefined == approx(0.976, abs=5e-4)


# Large counts


def exact(a: int, of_a: int, b: int, of_b: int) -> float:
    law = hypergeom(of_a + of_b, a + b, of_a)
    return float(min(1.0, 2 * min(law.cdf(a), law.sf(a - 1))))


@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1_000, 1_100, 1_000, 1_000), (250_000, 250_000, 250_000, 250_000)),  # TPR differs more than FPR
        ((1_000, 1_010, 1_100, 1_000), (250_000, 250_000, 250_000, 250_000)),  # FPR differs more
        ((5, 5, 5, 5), (300_000, 300_000, 250_000, 250_000)),  # neither: twice the smaller p is above 1
    ],
)
def test_the_largest_of_several_gaps_of_many_cases_is_tested_by_bonferroni(
    first: Any, second: Any, mid_p: bool
) -> None:
    """p = min(1, 2 min(p of TPR, p of FPR)) for equalized odds, if there are more than a million cases."""
    assert sum(first) + sum(second) > 10**6
    found = row(eh.audit_counts({"A": first, "B": second}, metrics="equalized_odds", mid_p=mid_p), "A")
    (tp, fn, fp, tn), (tp2, fn2, fp2, tn2) = first, second
    rates = [(tp, tp + fn, tp2, tp2 + fn2), (fp, fp + tn, fp2, fp2 + tn2)]
    each = []
    for a, of_a, b, of_b in rates:
        law = hypergeom(of_a + of_b, a + b, of_a)
        half = 0.5 * law.pmf(a) if mid_p else 0.0
        each.append(min(1.0, 2 * min(law.cdf(a) - half, law.sf(a - 1) - half)))
    assert found.test.pvalue == approx(min(1.0, 2 * min(each)), rel=1e-6)
    assert found.test.method == "fisher"
    assert (found.percentile, found.p_undefined) == (None, None)


def test_a_distance_of_fewer_cases_is_tested_by_match() -> None:
    first, second = (30, 20, 20, 30), (20, 30, 20, 30)
    found = row(eh.audit_counts({"A": first, "B": second}, metrics="equalized_odds"), "A")
    assert found.test.method == "match"
    assert found.test.pvalue == eh.match_test(CM(*first), CM(*second), "equalized_odds").pvalue


@pytest.mark.parametrize("metric", ["tpr", "acc"])
def test_rates_of_millions_of_cases_are_exact(metric: str) -> None:
    counts = {"A": (1_000, 1_100, 1_000, 1_000), "B": (250_000, 250_000, 250_000, 250_000)}
    found = row(eh.audit_counts(counts, metrics=metric), "A")
    expected = exact(1_000, 2_100, 250_000, 500_000) if metric == "tpr" else exact(2_000, 4_100, 500_000, 1_000_000)
    assert found.test.pvalue == approx(expected, rel=1e-6)
    assert found.percentile is not None


# Matrices that tools disagree on

SIX = {
    "A_ok": (30, 10, 12, 48),
    "B_nopos": (0, 0, 2, 6),
    "C_noneg": (3, 2, 0, 0),
    "D_nopredpos": (0, 3, 0, 5),
    "E_allTN": (0, 0, 0, 4),
    "F_single": (0, 0, 0, 1),
}


def degenerate_table() -> str:
    """Six matrices that tools disagree on, as the audit shows them."""
    a = eh.audit_counts(SIX, metrics=["tpr", "fpr", "ppv", "f1", "mcc"])
    lines = ["| group | tp fn fp tn | tpr | fpr | ppv | f1 | mcc |", "|---|---|---|---|---|---|---|"]
    for group, cells in SIX.items():
        shown = []
        for metric in ("tpr", "fpr", "ppv", "f1", "mcc"):
            r = row(a, group, metric)
            reason = (r.reason or "").split(" (")[0]
            score = f"{r.score.value:.3f}" if r.score.value is not None else f"undefined: {reason}"
            shown.append(f"{score}; {r.verdict}" if r.score.value is not None else score)
        lines.append(f"| {group} | {' '.join(map(str, cells))} | {' | '.join(shown)} |")
    return "\n".join(lines)


def test_the_degenerate_matrices_in_the_docs_are_what_the_audit_gives() -> None:
    assert degenerate_table() in (ROOT / "docs/reference/audit.md").read_text("utf-8")


def test_a_score_lies_in_its_interval_at_the_edges() -> None:
    a = eh.audit_counts({"none": (0, 9, 9, 0), "every": (9, 0, 0, 9), "some": (5, 6, 7, 8)})
    for r in a.rows:
        assert r.score.value is not None and r.score.low is not None and r.score.high is not None
        assert r.score.low <= r.score.value <= r.score.high
