"""Distributions against exact enumeration in fractions, golden values, and ties that rounding could lose."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any

import mpmath
import numpy as np
import pytest
from oracle import ONE_GROUP, TWO_GROUPS, Value, golden, laws, matrices
from pytest import approx

from evenhand import ConfusionMatrix, distribution, metric
from evenhand.errors import InvalidInput, TooLarge
from evenhand.laws import Threshold, law_of, order_of, tails

one_group = pytest.mark.parametrize("key", ONE_GROUP)
two_groups = pytest.mark.parametrize("key", TWO_GROUPS)
GOLDEN = golden("distributions")


def masses(pairs: list[tuple[Value, Fraction]]) -> tuple[list[tuple[float, Fraction]], Fraction]:
    """Scores in rising order with their exact probabilities given defined, and P(undefined)."""
    undefined = sum((p for v, p in pairs if v is None), Fraction(0))
    merged: dict[Any, tuple[Value, Fraction]] = {}
    for value, p in pairs:
        if value is not None and p:
            # Fractions are equal or not; roots are equal if 40 digits are.
            name = value if isinstance(value, Fraction) else mpmath.nstr(value, 40)
            merged[name] = (value, merged.get(name, (value, Fraction(0)))[1] + p)
    ordered = sorted(merged.values(), key=lambda item: item[0])
    return [(float(v), p / (1 - undefined)) for v, p in ordered], undefined


def check(d: Any, expected: list[tuple[float, Fraction]], undefined: Fraction) -> None:
    assert d.p_undefined == approx(float(undefined), abs=1e-12)
    if not expected:
        assert np.isnan(d.mean)
        with pytest.raises(InvalidInput, match=r"^\S+ is never defined under this law; p_undefined is 1$"):
            d.quantile(0.5)
        return
    scores = [s for s, _ in expected]
    assert d.support == approx(scores, abs=1e-13)
    up_to = list(accumulate((p for _, p in expected), initial=Fraction(0)))
    # All of a small support; of a large one, both ends and what is in between.
    for i in {round(j * (len(expected) - 1) / 3) for j in range(4)}:
        s, p = expected[i]
        assert d.pmf(s) == approx(float(p), rel=1e-12, abs=1e-14)
        assert d.cdf(s) == approx(float(up_to[i + 1]), rel=1e-12, abs=1e-14)
        assert d.sf(s) == approx(float(1 - up_to[i + 1]), rel=1e-12, abs=1e-14)
        assert d.quantile(float(up_to[i] + p / 2)) == approx(s, abs=1e-13)
    mean = sum(s * float(p) for s, p in expected)
    assert d.mean == approx(mean, abs=1e-11)
    assert d.std == approx(float(np.sqrt(sum((s - mean) ** 2 * float(p) for s, p in expected))), abs=1e-10)


# Sizes and reference counts: nobody, empty cells, cells that are all there is, and plenty.
CASES = [(0, (1, 1, 1, 1)), (2, (0, 2, 1, 5)), (5, (4, 0, 0, 3)), (8, (3, 1, 2, 6))]


@cache
def probabilities(law: str, n: int, w: tuple[int, ...]) -> list[Fraction]:
    return [laws(list(w))[law](c) for c in matrices(n)]


@pytest.mark.many
@one_group
@pytest.mark.parametrize("law", ["multinomial", "predictive", "without_replacement", "uniform"])
def test_the_distribution_is_what_listing_every_matrix_gives(key: str, law: str) -> None:
    for n, w in CASES:
        pairs = [(ONE_GROUP[key](*c), p) for c, p in zip(matrices(n), probabilities(law, n, w), strict=True)]
        reference = None if law == "uniform" else ConfusionMatrix(*w)
        d = distribution(key, n, reference, law="multinomial" if law == "uniform" else law)  # type: ignore[arg-type]
        check(d, *masses(pairs))


@pytest.mark.many
@two_groups
@pytest.mark.parametrize("n", [(1, 1), (3, 2), (5, 6)])
def test_the_distribution_of_two_groups_is_what_listing_every_pair_gives(key: str, n: tuple[int, int]) -> None:
    w1, w2 = [3, 1, 2, 4], [1, 2, 5, 2]
    first, second = laws(w1)["multinomial"], laws(w2)["multinomial"]
    pairs = [(TWO_GROUPS[key](g, r), first(g) * second(r)) for g in matrices(n[0]) for r in matrices(n[1])]
    check(distribution(key, n, [ConfusionMatrix(*w1), ConfusionMatrix(*w2)]), *masses(pairs))


def test_two_large_groups_are_compared_without_listing_their_pairs() -> None:
    d = distribution("equal_opportunity", (400, 300), [[0.2, 0.1, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]])
    assert d.mean == approx(1 / 3, abs=1e-9)
    assert d.cdf(d.mean) == approx(0.5, abs=0.02)
    assert d.quantile(0.9) == approx(d.mean + 1.2816 * d.std, abs=2e-3)
    assert d.cdf(0.3) + d.sf(0.3) == approx(1, rel=1e-12)
    assert (d.cdf(-np.inf), d.sf(-np.inf), d.cdf(np.inf)) == (0, 1, 1)
    ratio = distribution("disparate_impact", (300, 300), [0.2, 0.1, 0.3, 0.4])
    assert ratio.mean == approx(1, abs=0.02)
    assert distribution("te", (200, 200), [0.2, 0.1, 0.3, 0.4]).cdf(0.0) == approx(0.5, abs=0.02)


@pytest.mark.parametrize("case", GOLDEN["binomial"], ids=lambda c: f"{c['k']} of {c['n']}, p={c['p']}")
def test_golden_shares(case: dict[str, Any]) -> None:
    p, n = Fraction(case["p"]), case["n"]
    d = distribution("acc", n, [float(p), float(1 - p), 0, 0])
    x = case["k"] / n

    assert d.cdf(x) == approx(float(case["le"]), rel=1e-11, abs=0)
    assert d.sf(x) == approx(float(case["gt"]), rel=1e-11, abs=1e-300)
    assert d.pmf(x) == approx(float(case["pmf"]), rel=1e-11, abs=0)


def test_the_papers_worked_example() -> None:
    """E6: n = 100, p = .75, S = .80."""
    d = distribution("acc", 100, [0.75, 0.25, 0, 0])
    assert d.cdf(0.80) == approx(0.9004695898946859, abs=1e-15)


@pytest.mark.parametrize("case", GOLDEN["marginal_benefit"], ids=lambda c: f"{c['k']} of {c['n']}")
def test_golden_marginal_benefit(case: dict[str, Any]) -> None:
    fp, fn = Fraction(case["p_fp"]), Fraction(case["p_fn"])
    d = distribution("mb", case["n"], [float(1 - fp - fn), float(fn), float(fp), 0])
    x = case["k"] / case["n"]

    assert d.cdf(x) == approx(float(case["le"]), rel=1e-11, abs=0)
    assert d.sf(x) == approx(float(case["gt"]), rel=1e-11, abs=1e-300)
    assert d.pmf(x) == approx(float(case["pmf"]), rel=1e-11, abs=0)


@pytest.mark.parametrize("case", GOLDEN["marginal_benefit_pmf"], ids=lambda c: f"n={c['n']}")
def test_golden_marginal_benefit_probabilities(case: dict[str, Any]) -> None:
    fp, fn = Fraction(case["p_fp"]), Fraction(case["p_fn"])
    d = distribution("mb", case["n"], [float(1 - fp - fn), float(fn), float(fp), 0])
    for k, p in case["pmf"]:
        assert d.pmf(k / case["n"]) == approx(float(p), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("case", GOLDEN["jrm"], ids=lambda c: f"{c['k_i']}:{c['k_j']} of {c['n']}")
def test_golden_ratios(case: dict[str, Any]) -> None:
    p_i, p_j = Fraction(case["p_i"]), Fraction(case["p_j"])
    d = distribution("tpr", case["n"], [float(p_i), float(p_j), float(1 - p_i - p_j), 0])
    x = float(Fraction(case["score"]))
    expected = case["unconditional_given_defined"]

    assert d.p_undefined == approx(float(case["p_undefined"]), rel=1e-11, abs=1e-300)
    assert d.cdf(x) == approx(float(expected["le"]), rel=1e-11, abs=0)
    assert d.sf(x) == approx(float(expected["gt"]), rel=1e-11, abs=1e-300)
    assert d.pmf(x) == approx(float(expected["pmf"]), rel=1e-10, abs=0)


def test_no_tie_of_a_ratio_is_lost_to_rounding() -> None:
    """E9: a/b of k is a whole number, but floor(a/b * k) falls short of it."""
    for a, b, k, wrong, right in GOLDEN["floor_traps_jrm_[a,b,k,float64_floor,true]"]:
        assert np.floor(a / b * k) == wrong
        # Given k positives, TPR <= a/b holds for just right + 1 of the k + 1 counts, all alike likely here.
        order, law = order_of(metric("tpr")), law_of(None, k)
        exact = tails(order, law, order.threshold(np.array([a, b - a, 0.0, 0.0])), margin=k)
        rounded = tails(order, law, Threshold(a / b), margin=k)
        assert exact.below + exact.at == approx((right + 1) / (k + 1), rel=1e-12)
        assert rounded.below + rounded.at == approx((right + 1) / (k + 1), rel=1e-12)


def test_no_tie_of_a_share_or_contrast_is_lost_to_rounding() -> None:
    for k, n in GOLDEN["floor_traps_binomial_mb_[k,n]"][::7]:
        assert distribution("mb", n, [0, 0.5, 0.5, 0]).pmf(k / n) > 0 or (k - n) % 2
        if k >= 0:
            assert distribution("acc", n, [0.5, 0.5, 0, 0]).pmf(k / n) > 0


@pytest.mark.parametrize("case", GOLDEN["floor_traps_decimal"], ids=lambda c: f"{c['S']} of {c['n']}")
def test_no_decimal_score_is_lost_to_rounding(case: dict[str, Any]) -> None:
    n, p = case["n"], [0.5, 0.5, 0, 0]
    d = distribution("acc", n, p)
    assert d.cdf(float(case["S"])) == approx(d.cdf(case["true"] / n), rel=1e-14)
    assert d.pmf(float(case["S"])) > 0


def test_large_distributions_are_searched_and_summed_without_a_list() -> None:
    d = distribution("f1", 200_000, [0.1, 0.1, 0.1, 0.7])
    with pytest.raises(TooLarge):
        _ = d.support
    assert d.mean == approx(0.5, abs=1e-4)
    assert d.quantile(0.975) == approx(d.mean + 1.96 * d.std, abs=2e-5)
    assert d.cdf(d.quantile(0.9)) >= 0.9
    assert distribution("tpr", 10**6, [0.1, 0.1, 0.4, 0.4]).mean == approx(0.5, rel=1e-12)


def test_under_the_uniform_law_accuracy_does_not_converge() -> None:
    """E22: Var(ACC) = (n + 4) / (20 n)."""
    for n in (5, 25, 100, 1000):
        assert distribution("acc", n).std ** 2 == approx((n + 4) / (20 * n), rel=1e-10)


def test_ratios_are_unbiased_given_defined() -> None:
    """E19: E[S | defined] is the true rate for shares, contrasts and ratios."""
    p = np.array([0.1, 0.2, 0.3, 0.4])
    for key in ("acc", "ppr", "prev", "mb", "tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for"):
        assert distribution(key, 9, p).mean == approx(float(metric(key)(p)), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: distribution("tpr", 5, [0.25] * 4).quantile(1.5), InvalidInput,
         "q must lie between 0 and 1; got 1.5"),
        (lambda: distribution("tpr", 5, [0.25] * 4).cdf(float("nan")), InvalidInput, "x must be a number; got nan"),
        (lambda: distribution("tpr", 5, [0, 0, 0.5, 0.5]).cdf(0.5), InvalidInput,
         "tpr is never defined under this law; p_undefined is 1"),
        (lambda: distribution("te", 5, [0.25] * 4), InvalidInput,
         "te compares two groups, so n must be a pair (n1, n2); got 5"),
        (lambda: distribution("mcc", 10**7, [0.25] * 4).cdf(0.1), TooLarge,
         re.compile(r"an exact sum over n = 10,000,000 cases has [\d,]+ paths, more than the limit of 33,554,432; "
                    r"a test can condition on the margin \(given='margin'\) or simulate \(method='montecarlo'\)")),
        (lambda: distribution("mcc", 10**4, [0.25] * 4).support, TooLarge,
         re.compile(r"listing every score of n = 10,000 cases takes [\d,]+ steps, more than the limit of 4,194,304; "
                    r"use cdf, sf, pmf or quantile, which need no list")),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_explained(call: Any, error: type[Exception], sentence: Any) -> None:
    pattern = sentence.pattern if isinstance(sentence, re.Pattern) else re.escape(sentence)
    with pytest.raises(error, match=f"^{pattern}$"):
        call()


@pytest.mark.parametrize("key", ["acc", "tpr", "mcc", "kappa", "lr_plus", "mb"])
def test_no_score_is_infinite(key: str) -> None:
    d = distribution(key, 8, [0.1, 0.2, 0.3, 0.4])
    inf = float("inf")
    assert d.pmf([-inf, inf]).tolist() == [0.0, 0.0]
    assert d.cdf([-inf, inf]) == approx([0.0, 1.0])
    assert d.sf([-inf, inf]) == approx([1.0, 0.0])
