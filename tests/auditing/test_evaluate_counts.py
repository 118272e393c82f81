# mypy: disable-error-code="operator"
"""Scores of counts: each number of a row against the functions of one group, definitions, and SciPy."""

from __future__ import annotations

from math import isnan, nan
from pathlib import Path

from audit_oracle import row
from matrices import matrix
from oracle import ONE_GROUP
from pytest import approx
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.examples import compas

ROOT = Path(__file__).parents[2]


def test_every_row_is_what_the_library_says() -> None:
    groups = compas()
    everybody = sum(groups.values(), matrix(0, 0, 0, 0))
    a = eh.audit_counts(groups, by="race", strength=10)
    assert len(a.rows) == 6 * 5
    for r in a.rows:
        cm = groups[r.group]
        rest = everybody - cm
        assert (r.cells, r.n, r.reference_cells, r.reference_n) == (cm.cells, cm.n, rest.cells, rest.n)
        assert r.score == approx(float(ONE_GROUP[r.metric](*map(int, cm.cells))))
        assert r.reference_score == approx(float(ONE_GROUP[r.metric](*map(int, rest.cells))))
        gap = eh.disparity(cm, rest, r.metric)
        assert r.gap_kind == "difference" and r.difference == approx(gap.estimate)
        assert (r.gap_low, r.gap_high) == approx((gap.low, gap.high))
        assert r.pvalue == approx(gap.pvalue, rel=1e-12, abs=1e-300) and r.method == "fisher"
        assert r.percentile == approx(eh.match_test(cm, rest, r.metric).percentile, abs=1e-12)
        assert r.smoothed == approx(float(eh.metric(r.metric)(eh.cross_prior_smooth(cm, rest, 10))))
        base = eh.metric(r.metric).base
        if base.is_rate:
            # A rate is steadied by as many of the 10 cases as the rest has in its denominator.
            added = 10 * float(base.support(rest.cells)[0]) / rest.n
            assert r.shrinkage == approx(r.denominators[0] / (r.denominators[0] + added))
        else:
            assert isnan(r.shrinkage)


def test_any_metric_of_the_catalogue_can_be_audited() -> None:
    keys = [m.key for m in eh.list_metrics()]
    a = eh.audit_counts({"A": (9, 6, 4, 21)}, metrics=keys, reference=matrix(30, 10, 12, 48))
    assert {r.metric for r in a.rows} == {*keys}
    assert not any(isnan(r.score) or isnan(r.pvalue) for r in a.rows)
    assert Audit.from_json(a.to_json()) == a


def test_with_a_strength_per_split_each_rate_keeps_a_share_of_its_gap() -> None:
    """TPR keeps P/(P + λ), FPR and TNR keep N/(N + λ), prevalence n/(n + λ); no rule holds for the rest."""
    counts = {"A": (1, 2, 3, 4), "B": (50, 60, 70, 80)}
    shares = {"tpr": 3 / 23, "fpr": 7 / 37, "tnr": 7 / 37, "prev": 10 / 20, "ppv": None, "acc": None, "mcc": None}
    a = eh.audit_counts(counts, metrics=list(shares), strength={"prev": 10, "tpr": 20, "fpr": 30})
    for key, share in shares.items():
        found = row(a, "A", key)
        assert found.shrinkage == approx(share or nan, nan_ok=True)
        if share:
            assert found.smoothed - found.reference_score == approx(share * found.difference)


def test_strengths_are_learnt_from_the_groups_and_lowered_for_a_group_far_off() -> None:
    """The strength of a row is the one that smoothed it, whatever the reference."""
    learnt = eh.learn_strengths(compas())
    a = eh.audit_counts(compas(), metrics=["tpr", "mcc"])
    assert a == eh.audit_counts(compas(), metrics=["tpr", "mcc"], strength="auto")
    for r in a.rows:
        assert [r.strength_prev, r.strength_tpr, r.strength_fpr] == approx(list(learnt[r.group].values()))
    groups = {**{f"g{i}": (24, 6, 10, 40) for i in range(8)}, "far": (9, 21, 10, 40)}
    for reference in ("rest", "all", "g0", matrix(240, 60, 100, 400)):
        found = row(eh.audit_counts(groups, metrics="tpr", reference=reference), "far")
        strength = found.strength_tpr
        assert strength < found.strength_prev
        assert found.smoothed == approx((9 + strength * 0.8) / (30 + strength))
        assert found.smoothed - 0.8 == approx(found.shrinkage * (0.3 - 0.8))


def test_a_reference_is_not_smoothed_and_neither_are_selections_without_labels() -> None:
    a = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr", reference="B")
    assert isnan(row(a, "B").smoothed) and not isnan(row(a, "A").smoothed)
    unlabelled = eh.audit(y_pred=[1, 0, 1, 0], groups=list("aabb"), positive=1)
    assert all(isnan(r.smoothed) and r.cells is None for r in unlabelled.rows)


def test_the_probability_of_no_score_is_that_of_drawing_no_denominator() -> None:
    """Of 1,008 cases with 3 positives, 8 are drawn: C(1005, 8) / C(1008, 8) have no positive."""
    found = row(eh.audit_counts({"A": (3, 0, 0, 997), "B": (0, 0, 0, 8)}, metrics="tpr"), "B")
    assert found.p_undefined == approx(hypergeom(1008, 3, 8).pmf(0)) == approx(0.976, abs=5e-4)


def exact(a: int, of_a: int, b: int, of_b: int) -> float:
    law = hypergeom(of_a + of_b, a + b, of_a)
    return float(min(1.0, 2 * min(law.cdf(a), law.sf(a - 1))))


def test_rates_of_millions_are_exact_and_their_largest_gap_is_tested_by_bonferroni() -> None:
    """p = min(1, 2 min(p of TPR, p of FPR)) for equalized odds of more than a million cases; of fewer, MATCH."""
    different, alike = (1_000, 1_100, 1_000, 1_000), (5, 5, 5, 5)
    for first, second in ((different, (250_000,) * 4), (alike, (300_000, 300_000, 250_000, 250_000))):
        a, pvalues = eh.audit_counts({"A": first, "B": second}, metrics=["equalized_odds", "tpr", "fpr"]), []
        for metric, place in (("tpr", 0), ("fpr", 2)):
            counts = [n for cells in (first, second) for n in (cells[place], cells[place] + cells[place + 1])]
            pvalues.append(exact(*counts))
            assert row(a, "A", metric).pvalue == approx(pvalues[-1], rel=1e-6)
            assert row(a, "A", metric).percentile < 1
        found = row(a, "A", "equalized_odds")
        assert found.pvalue == approx(min(1.0, 2 * min(pvalues)), rel=1e-6) and found.method == "fisher"
        assert isnan(found.percentile) and isnan(found.p_undefined)
    first, second = (30, 20, 20, 30), (20, 30, 20, 30)
    found = row(eh.audit_counts({"A": first, "B": second}, metrics="equalized_odds"), "A")
    assert found.method == "match"
    assert found.pvalue == eh.match_test(matrix(*first), matrix(*second), "equalized_odds").pvalue


SIX = {"A_ok": (30, 10, 12, 48), "B_nopos": (0, 0, 2, 6), "C_noneg": (3, 2, 0, 0), "D_nopredpos": (0, 3, 0, 5),
       "E_allTN": (0, 0, 0, 4), "F_single": (0, 0, 0, 1)}  # fmt: skip


def test_the_degenerate_matrices_in_the_docs_are_what_the_audit_gives() -> None:
    """Six matrices that tools disagree on, as the audit shows them."""
    metrics = ["tpr", "fpr", "ppv", "f1", "mcc"]
    a = eh.audit_counts(SIX, metrics=metrics)
    lines = [f"| group | tp fn fp tn | {' | '.join(metrics)} |", "|---|---|---|---|---|---|---|"]
    for group, cells in SIX.items():
        shown = []
        for r in (row(a, group, metric) for metric in metrics):
            reason = (r.reason or "").split(" (")[0]
            shown.append(f"undefined: {reason}" if isnan(r.score) else f"{r.score:.3f}; {r.verdict}")
        lines.append(f"| {group} | {' '.join(map(str, cells))} | {' | '.join(shown)} |")
    assert "\n".join(lines) in (ROOT / "docs/reference/audit.md").read_text("utf-8")
