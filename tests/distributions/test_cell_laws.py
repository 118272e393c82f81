"""Laws of the four cells: against exact fractions, and what cannot be one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from oracle import laws, matrices, refusal
from pytest import approx
from scipy import stats

from evenhand import ConfusionMatrix, metric
from evenhand.distributions import as_probabilities, law_of, references_of, sample_cells
from evenhand.metrics import ONE_GROUP_METRICS, ROW_TREE

COUNTS = (3, 0, 5, 2)
REFERENCE = ConfusionMatrix.from_array(COUNTS)
CELLS = ("tp", "fn", "fp", "tn")


def all_laws(n: int) -> dict[str, Any]:
    names: list[Any] = ["multinomial", "predictive", "without_replacement"]
    return {name: law_of(REFERENCE, n, name) for name in names} | {"uniform": law_of(None, n)}


def test_the_probability_of_a_matrix_is_a_product_of_splits() -> None:
    listed = list(matrices(6))
    for name, law in all_laws(6).items():
        expected = [float(laws(list(COUNTS))[name](cells)) for cells in listed]
        assert law.pmf(listed) == approx(expected, rel=1e-12, abs=1e-300), name
        assert law.pmf([[1, 1, 1, 1], [3, 0, 5, 2]]).tolist() == [0, 0], "matrices of other sizes"


def test_splits_and_empty_cells_have_the_probabilities_of_their_matrices() -> None:
    """P(TP + TN = k of all), P(FN = k of FN + FP + TN = m), and P(TP = FP = 0)."""
    for name, law in all_laws(5).items():
        p = {cells: float(laws(list(COUNTS))[name](cells)) for cells in matrices(5)}
        for part, whole in ((("tp", "tn"), CELLS), (("fn",), ("fn", "fp", "tn")), (("tp",), ("tp", "fn"))):
            count = {c: [sum(c[CELLS.index(cell)] for cell in cells) for cells in (part, whole)] for c in p}
            for m in range(6):
                total = sum(p[c] for c in p if count[c][1] == m)
                for k in range(m + 1) if total else ():
                    share = sum(p[c] for c in p if count[c] == [k, m]) / total
                    assert float(law.split(part, whole).pmf(k, m)) == approx(share, rel=1e-12, abs=1e-300)
        assert law.p_empty(("tp", "fp")) == approx(sum(p[c] for c in p if c[0] == c[2] == 0), rel=1e-12)
    # P(all cases are errors) is a sum, and not a rounded 1 - P(no error).
    assert law_of([0.5, 1e-20, 1e-20, 0.5], 1).p_empty(("tp", "tn")) == approx(2e-20, rel=1e-12)


def test_law_of_takes_rates_counts_or_nothing() -> None:
    assert repr(law_of(None, 7)) == "DirichletMultinomial(n=7, weights=(1.0, 1.0, 1.0, 1.0))"
    assert repr(law_of(REFERENCE, 7)) == "Multinomial(n=7, weights=(0.3, 0.0, 0.5, 0.2))"
    assert repr(law_of(REFERENCE, 7, "predictive")) == "DirichletMultinomial(n=7, weights=(3.5, 0.5, 5.5, 2.5))"
    assert law_of(REFERENCE, 7, "predictive", prior=2).weights == (5, 2, 7, 4)
    assert repr(law_of(REFERENCE, 9, "without_replacement")).startswith(
        "MultivariateHypergeometric(n=9, weights=(3.0, 0"
    )
    assert sum(as_probabilities([0.2, 0.3, 0.4, 0.1 + 1e-8])) == approx(1, abs=1e-15)


def test_a_metric_of_two_groups_takes_one_reference_or_two() -> None:
    assert references_of(metric("tpr"), REFERENCE) == (REFERENCE,)
    assert references_of(metric("te"), REFERENCE) == (REFERENCE, REFERENCE)
    assert references_of(metric("te"), [REFERENCE, None]) == (REFERENCE, None)
    assert references_of(metric("te"), [0.25] * 4) == ([0.25] * 4, [0.25] * 4)


def test_what_is_no_law_is_explained() -> None:
    empty, half = ConfusionMatrix(tp=0, fn=0, fp=0, tn=0), ConfusionMatrix(tp=0.5, fn=1, fp=1, tn=1)
    needs = "needs the counts of a reference, as a ConfusionMatrix"
    four = "the four probabilities tp, fn, fp, tn must sum to 1; got"
    must = "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got"
    drawn: Any = "without_replacement"
    for arguments, message in (
        ((None, 5, "predictive"), f"law='predictive' {needs}"),
        (([0.25] * 4, 5, drawn), f"law='without_replacement' {needs}"),
        ((empty, 5), "the reference is empty (n = 0); pass one with cases, or None for the uniform law"),
        ((half, 2, drawn), f"sampling without replacement needs whole counts; got {half!r}"),
        ((REFERENCE, 11, drawn), "cannot sample n = 11 cases without replacement from a reference of 10"),
        (([3, 0, 5, 2], 5), f"{four} 10; pass counts as a ConfusionMatrix"),
        (([0.2] * 4, 5), f"{four} 0.8"),
        (([[0.25] * 4] * 2, 5), "the reference must be one matrix or four probabilities; got shape (2, 4)"),
    ):
        assert refusal(law_of, *arguments) == f"InvalidInput: {message}"
    for prior in (0, -1, 1e10, True, "1", float("nan")):
        assert refusal(law_of, REFERENCE, 5, "predictive", prior=prior) == f"InvalidInput: {must} {prior!r}"
    assert refusal(law_of, REFERENCE, 5, "beta").startswith(
        "UnknownName: no law is called 'beta'; known: multinomial, "
    )
    many = law_of(ConfusionMatrix(tp=10**9, fn=1, fp=1, tn=1), 5, drawn)
    message = refusal(sample_cells, ROW_TREE, many, np.random.default_rng(0), 1)
    assert message == "InvalidInput: method='montecarlo' samples from at most 1e9 pooled cases; use method='exact'"


def test_samples_have_the_probabilities_of_their_law() -> None:
    """By Pearson's test over all matrices of 4 cases, as the tree of each metric merges their cells."""
    listed, rng = np.array(list(matrices(4)), dtype=float), np.random.default_rng(0)
    for tree, (name, law) in product(dict.fromkeys(m.tree for m in ONE_GROUP_METRICS), all_laws(4).items()):
        for margin in (None, 2) if tree.margin else (None,):
            p = law.pmf(listed) * ((margin is None) | (tree.counts(listed)[0] == margin))
            kinds, kind = np.unique(tree.collapse(listed), axis=0, return_inverse=True)
            expected = 2000 * np.bincount(kind.ravel(), p / p.sum())
            counts = (sample_cells(tree, law, rng, 2000, margin)[:, None] == kinds).all(axis=2).sum(axis=0)
            likely = expected > 5
            assert counts.sum() == 2000 and counts[expected < 1e-12].sum() == 0
            statistic = ((counts - expected)[likely] ** 2 / expected[likely]).sum()
            assert stats.chi2.sf(statistic, likely.sum()) > 1e-4, (tree, name, margin)
