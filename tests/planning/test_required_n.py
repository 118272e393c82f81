"""The number of cases that an audit says it would take, against scans with SciPy's tails."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, hypergeom

import evenhand as eh
from evenhand.planning import required_n

TPR = eh.metric("tpr").base


def power(k: int, x2: int, n2: int, rate: float, alpha: float) -> float:
    """P(Fisher's test finds the difference, in its direction) against the counts at hand."""
    a = np.arange(k + 1)
    is_lower = rate < x2 / n2
    tails = hypergeom.cdf(a, k + n2, a + x2, k) if is_lower else hypergeom.sf(a - 1, k + n2, a + x2, k)
    return float(binom.pmf(a, k, rate) @ (2 * tails <= alpha * (1 + 1e-9)))


def first_size(x2: int, n2: int, gap: float, alpha: float) -> int | None:
    rates = [r for r in (x2 / n2 - gap, x2 / n2 + gap) if -1e-12 <= r <= 1 + 1e-12]
    sizes = range(1, 1_500)
    return next((k for k in sizes if all(power(k, x2, n2, r, alpha) >= 0.8 - 1e-12 for r in rates)), None)


def test_the_number_is_close_to_the_smallest_one_with_the_power() -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):
        n2 = int(rng.integers(200, 2_000))
        x2, gap, alpha = int(rng.integers(n2 // 10, n2)), float(rng.choice([0.15, 0.2, 0.3])), 0.05
        (found,) = required_n(TPR, np.array([[x2, n2 - x2, 0.0, 0.0]]), np.array([alpha]), gap)
        expected = first_size(x2, n2, gap, alpha)
        assert expected is not None
        assert 0.9 * expected <= found <= 1.1 * expected


def test_arrays_have_the_numbers_of_single_comparisons() -> None:
    references = np.array([[300.0, 100, 120, 480], [30, 10, 12, 48], [300, 100, 120, 480], [9, 91, 1, 1]])
    levels = np.array([0.05, 0.05, 0.01, 0.05])
    for settings in ({"gap": 0.2}, {"gap": 1.25, "is_ratio": True}):
        together = required_n(TPR, references, levels, **settings)  # type: ignore[arg-type]
        single = [required_n(TPR, r[None], a[None], **settings)[0] for r, a in zip(references, levels, strict=True)]  # type: ignore[arg-type]
        np.testing.assert_array_equal(together, single)


def test_no_number_is_enough_against_a_small_reference() -> None:
    small, none = np.array([[3.0, 2, 1, 4]]), np.array([[0.0, 0, 3, 4]])
    level = np.array([0.05])
    for key, reference in (("tpr", small), ("mcc", small), ("f1_original", small), ("tpr", none)):
        assert np.isnan(required_n(eh.metric(key).base, reference, level, 0.1)).all()
    assert required_n(TPR, np.empty((0, 4)), np.empty(0), 0.1).shape == (0,)


def test_a_row_says_how_many_cases_it_needs_at_a_level_that_is_always_enough() -> None:
    counts = {"A": (6, 3, 6, 17), "B": (60, 30, 40, 170), "C": (500, 300, 300, 900), "D": (300, 100, 100, 700)}
    for adjust, comparisons in (("holm", 4), ("bh", 4), ("none", 1)):
        audit = eh.audit_counts(counts, metrics=["tpr", "disparate_impact", "mcc"], adjust=adjust)  # type: ignore[arg-type]
        for row in audit.rows:
            if row.verdict is not eh.results.Verdict.INCONCLUSIVE or row.metric == "mcc":
                assert np.isnan(row.required_n)
                continue
            tp, fn, fp, tn = (int(c) for c in row.reference_cells or ())
            x2, n2 = (tp, tp + fn) if row.metric == "tpr" else (tp + fp, tp + fn + fp + tn)
            rates = [x2 / n2 - 0.1, x2 / n2 + 0.1]
            if row.metric != "tpr":
                rates = [x2 / n2 * 0.8, x2 / n2 * 1.25]
            assert row.required_n is not None
            assert min(power(row.required_n, x2, n2, rate, 0.05 / comparisons) for rate in rates) >= 0.8
        few = next(row for row in audit.rows if (row.group, row.metric) == ("A", "tpr"))
        assert few.required_n is not None
        sentence = next(f.sentence for f in audit.findings if f.kind == "inconclusive" and f.group == "A")
        assert f"A tpr, {few.required_n - min(few.denominators):,.0f} more actual positives" in sentence
        assert eh.Audit.from_json(audit.to_json()).rows == audit.rows
