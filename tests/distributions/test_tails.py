"""Probabilities below, at and above a score: against exact sums over all matrices."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import comb
from typing import Any

import numpy as np
import pytest
from oracle import ONE_GROUP, TWO_GROUPS, golden, matrices, minus, probabilities, rank_scores, ranked_matrices, refusal
from pytest import approx

from evenhand import ConfusionMatrix, metric
from evenhand.distributions import Threshold, extreme_cells, law_of, listed_tails, observed_threshold, score_tails, walk
from evenhand.metrics import ONE_GROUP_METRICS, ROW_TREE

# Sizes and reference counts: empty cells, cells that are all there is, and plenty.
CASES: list[Any] = [(2, (0, 2, 1, 5)), (5, (4, 0, 0, 3)), (7, (3, 1, 2, 6))]
NAMES: list[Any] = ["multinomial", "predictive", "without_replacement"]


def law_named(name: Any, n: int, counts: Any) -> Any:
    return law_of(ConfusionMatrix.from_array(counts), n, name)


def check(found: Any, ranks: Any, p: Any, rank: int, note: Any) -> None:
    """The tails are those of listed matrices with these ranks (-1: undefined) and probabilities."""
    defined = p[ranks >= 0].sum()
    expected = [p[(ranks >= 0) & (ranks < rank)].sum(), p[ranks == rank].sum(), p[ranks > rank].sum()]
    assert (found.below, found.at, found.above) == approx(np.divide(expected, defined), rel=1e-12, abs=1e-13), note
    assert found.below + found.at + found.above == approx(1, abs=1e-14), note
    assert found.defined == approx(defined / p.sum(), abs=1e-13), note


@pytest.mark.parametrize("scores", [1, pytest.param(9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_tails_of_every_metric_are_exact_sums_given_n_or_the_margin(name: str, scores: int) -> None:
    for n, counts in CASES:
        listed, law, p = np.array(list(matrices(n)), float), law_named(name, n, counts), probabilities(name, n, counts)
        for m in ONE_GROUP_METRICS:
            (_, ranks), margins = ranked_matrices(m.key, n), m.tree.counts(listed)[0]
            defined = np.flatnonzero((ranks >= 0) & (p > 0))
            for i in defined[len(defined) // 3 :: max(1, len(defined) // scores)]:
                threshold, note = observed_threshold(m, listed[i]), (m.key, name, n, listed[i])
                check(score_tails(m, law, threshold, point=True), ranks, p, ranks[i], note)
                if m.tree.margin:
                    same = margins == margins[i]
                    found = score_tails(m, law, threshold, margins[i], point=True)
                    check(found, ranks[same], p[same], ranks[i], note)


@pytest.mark.parametrize("is_pooled", [True, False])
def test_tails_of_two_groups_are_sums_over_the_ways_to_sample_one(is_pooled: bool) -> None:
    """A group sampled from pooled cases, compared with the rest of them or with a fixed reference, by listing all."""
    gaps = TWO_GROUPS | {
        f"{key}_difference": lambda g, r, s=ONE_GROUP[key]: minus(s(*g), s(*r)) for key in ("mcc", "pt")
    }
    for n, counts in [(2, (1, 2, 1, 1)), (5, (5, 2, 3, 4))]:
        law, p = law_named(NAMES[2], n, counts), probabilities(NAMES[2], n, counts)
        possible: list[Any] = [cells for cells, q in zip(matrices(n), p, strict=True) if q]
        for key, score in gaps.items():
            m, whole = metric(key), metric(key).tree.collapse(np.array(counts, float))
            rest: list[Any] = [np.subtract(counts, np.multiply(is_pooled, cells)).tolist() for cells in possible]
            values, ranks = rank_scores([score(*pair) for pair in zip(possible, rest, strict=True)])
            for rank in range(0, len(values), 3):
                scores_of = lambda cells, m=m, w=whole: m.scores(cells, w - is_pooled * cells)  # noqa: E731
                found = listed_tails(scores_of, m.tree, law, values[rank], point=True)
                check(found, np.array(ranks), p[p > 0], rank, (key, counts, values[rank]))


def test_extreme_cells_have_the_lowest_and_the_highest_score_that_can_occur() -> None:
    for (n, counts), name in product(CASES[1:], NAMES[::2]):
        listed, law, p = np.array(list(matrices(n)), float), law_named(name, n, counts), probabilities(name, n, counts)
        for m in ONE_GROUP_METRICS:
            values, ranks = ranked_matrices(m.key, n)
            for margin in (None, 4.0) if m.tree.margin else (None,):
                possible = (p > 0) & (ranks >= 0) & ((margin is None) | (m.tree.counts(listed)[0] == margin))
                if possible.any():
                    found = m.scores(extreme_cells(m, law, margin))
                    assert found == approx([values[f(ranks[possible])] for f in (min, max)], abs=1e-14), m.key


def test_walk_lists_every_matrix_once() -> None:
    """With its probability; cells that the tree does not distinguish are merged, and negligible ones left out."""
    listed = np.array(list(matrices(7)), float)
    for name, tree in product(NAMES, {m.tree for m in ONE_GROUP_METRICS}):
        law, p = law_named(name, *CASES[2]), probabilities(name, *CASES[2])
        for margin in (None, 3.0) if tree.margin else (None,):
            given = np.where(tree.counts(listed)[0] == margin, p, 0) if margin else p
            expected: dict[Any, float] = {}
            for cells, weight in zip(map(tuple, tree.collapse(listed)), given / given.sum(), strict=True):
                expected[cells] = expected.get(cells, 0.0) + weight
            found: list[Any] = []
            for several, weights in walk(tree, law, margin=margin, negligible=0.01 if margin else 0.0):
                found += zip(map(tuple, several), weights, strict=True)
            kept = {cells: weight for cells, weight in expected.items() if weight > (0.01 if margin else 0)}
            assert len(found) == len(dict(found)) and dict(found) == approx(kept, rel=1e-12), (name, tree)


def test_a_margin_may_be_a_whole_number() -> None:
    """Given 90 positives, TP = 0 to 90 are equally likely under the uniform law."""
    found = score_tails(metric("tpr").base, law_of(None, 90), Threshold(0.7), 90)
    assert (found.below, found.at, found.above) == approx((63 / 91, 1 / 91, 27 / 91))


def test_no_tie_of_a_ratio_is_lost_to_rounding() -> None:
    """E9: a/b of k is a whole number, but floor(a/b * k) falls short of it."""
    tpr = metric("tpr").base
    for a, b, k, wrong, right in golden("distributions")["floor_traps_jrm_[a,b,k,float64_floor,true]"][::8]:
        assert np.floor(a / b * k) == wrong
        # Given k positives, all counts of TP equally likely, TPR <= a/b holds for right + 1 of k + 1.
        for threshold in (observed_threshold(tpr, np.array([a, b - a, 0.0, 0.0])), Threshold(a / b)):
            found = score_tails(tpr, law_of(None, k), threshold, float(k))
            assert found.below + found.at == approx((right + 1) / (k + 1), rel=1e-12)


def test_far_tails_of_a_ratio_keep_their_digits() -> None:
    """P(TPR >= a/k) and P(TPR <= a/k), down to 1e-100 and less, with prevalence 1/4 and TPR 1/2, in integers."""
    for n, a, k in [(40, 9, 10), (200, 40, 41), (600, 149, 150), (700, 3, 400)]:
        high, low, row = 0, 0, [1]
        for m in range(1, n + 1):
            row = [1, *map(sum, pairwise(row)), 1]
            weight = comb(n, m) * 6 ** (n - m)
            high += weight * sum(row[-(-a * m // k) :])
            low += weight * sum(row[: a * m // k + 1])
        threshold = observed_threshold(metric("tpr").base, np.array([a, k - a, n - k, 0.0]))
        found = score_tails(metric("tpr").base, law_of([0.125, 0.125, 0.375, 0.375], n), threshold)
        expected = [float(Fraction(tail, 8**n - 6**n)) for tail in (high, low)]
        assert [found.above + found.at, found.below + found.at] == approx(expected, rel=1e-10, abs=0)


def test_far_tails_of_every_shape_and_law_keep_their_digits() -> None:
    """Nearly all of 16 cases right, where all but 1 in 14 should be wrong, and the reverse: down to 2e-17."""
    counts, listed = (2, 38, 36, 4), list(matrices(16))
    for name, key in product(NAMES, ("acc", "mb", "f1", "mcc", "kappa", "lr_plus")):
        law, p = law_named(name, 16, counts), probabilities(name, 16, counts)
        (_, ranks), m = ranked_matrices(key, 16), metric(key).base
        for cells in ((8, 0, 1, 7), (1, 8, 7, 0)):
            rank, threshold = ranks[listed.index(cells)], observed_threshold(m, np.array(cells, float))
            found = score_tails(m, law, threshold)
            expected = np.array([p[ranks >= rank].sum(), p[(ranks >= 0) & (ranks <= rank)].sum()])
            tails = np.array([found.above + found.at, found.below + found.at])
            assert tails == approx(expected / p[ranks >= 0].sum(), rel=1e-10, abs=0), (name, key, cells)
            assert score_tails(m, law, threshold, relative=False).above == approx(found.above, abs=1e-12)


def test_sums_over_too_many_paths_are_refused_with_the_margin_named() -> None:
    hint = "simulate (method='montecarlo'), or condition on the margin (given='margin')"
    mcc = metric("mcc").base
    for n in (10**6, 10**9):
        message = refusal(score_tails, mcc, law_of([0.25] * 4, n), Threshold(0.1))
        assert message.startswith(f"TooLarge: an exact sum over n = {n:,} cases has ")
        assert message.endswith(f"paths, more than the limit of 2,097,152; {hint}")
    listing = refusal(lambda: list(walk(ROW_TREE, law_of([0.25] * 4, 10**4))))
    assert listing.endswith("limit of 16,777,216; use cdf, sf, pmf or quantile, which need no list")
    tails = score_tails(mcc, law_of([0.25] * 4, 10**5), Threshold(0.0), 5 * 10**4)
    assert tails.below == approx(tails.above, rel=1e-9) and tails.below == approx(0.5, abs=0.01)
