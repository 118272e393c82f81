"""The gap between two groups as a result: its sentence, the four-fifths rule, strata, and what is refused."""

from __future__ import annotations

from math import inf, isnan
from typing import Any, cast

from matrices import matrix
from oracle import refusal
from pytest import approx
from scipy.integrate import quad
from scipy.stats import beta, hypergeom

from evenhand import ConfusionMatrix, disparity

SMALL, REFERENCE = matrix(3, 2, 1, 9), matrix(116, 177, 554, 2429)


def test_a_gap_is_one_sentence() -> None:
    d = disparity(matrix(0, 2, 8, 30), matrix(300, 100, 120, 480), "tpr")
    # Fisher's central test: twice the probability of 0 of the 2, given that 300 of all 402 are found.
    assert d.pvalue == approx(2 * hypergeom.cdf(0, 402, 300, 2), rel=1e-9)
    assert str(d) == f"TPR is 0.750 lower (95% interval {d.low:.3f} to {d.high:.3f}, p = {d.pvalue:.3f})"
    assert d.four_fifths is None


def test_disparate_impact_comes_with_the_four_fifths_rule() -> None:
    d = disparity(matrix(10, 5, 2, 33), matrix(100, 50, 60, 90), "ppr", "ratio")
    assert d.estimate == approx((12 / 50) / (160 / 300))
    assert d.four_fifths is False

    def below(ratio: float, group: Any, reference: Any) -> float:
        """P(group / reference <= ratio) of independent beta variables."""
        return float(quad(lambda t: group.cdf(ratio * t) * reference.pdf(t), 0, 1, points=[0.5, 0.55])[0])

    # 12 of 50 and 160 of 300, melded: the lower end takes the group low and the reference high.
    assert below(d.low, beta(12, 39), beta(161, 140)) == approx(0.025, abs=1e-6)
    assert below(d.high, beta(13, 38), beta(160, 141)) == approx(0.975, abs=1e-6)
    assert str(d) == (
        "PPR is 0.450 times the reference's (95% interval 0.242 to 0.730, p < 0.001, four-fifths rule not kept)"
    )


def test_exactly_four_fifths_keep_the_rule() -> None:
    """3/5 over 6/8 and over 18/24 are 4/5 exactly, but 0.7999999999999999 in floats."""
    kept = [(4, 10, 5, 10), (3, 5, 6, 8), (3, 5, 18, 24), (4001, 10_000, 5, 10)]
    for k, n, j, m in (*kept, (3999, 10_000, 5, 10)):
        d = disparity(matrix(k, n - k, 0, 0), matrix(j, m - j, 0, 0), "ppr", "ratio")
        assert d.four_fifths is d.to_dict()["four_fifths"] is ((k, n, j, m) in kept)


def test_an_undefined_gap_says_so() -> None:
    d = disparity(matrix(0, 0, 2, 6), REFERENCE, "tpr")
    assert isnan(d.estimate)
    assert isnan(d.pvalue)
    assert d.reason == "in the group: no actual positives (TP + FN = 0)"
    assert str(d).startswith("TPR: the difference is undefined, in the group: no actual positives (TP + FN = 0)")


def test_a_one_sided_interval_agrees_with_its_pvalue() -> None:
    """Half of a two-sided interval with twice the tail; the other end is the limit of possible gaps."""
    g, h = matrix(12, 18, 0, 0), matrix(300, 200, 0, 0)
    both, less, greater = (disparity(g, h, "tpr", alternative=cast("Any", side), confidence_level=level)
                           for side, level in (("two-sided", 0.9), ("less", 0.95), ("greater", 0.95)))  # fmt: skip
    assert (less.low, greater.high) == (-1.0, 1.0)
    assert (less.high, greater.low) == approx((both.high, both.low), rel=1e-12)
    law = hypergeom(530, 312, 30)
    assert (less.pvalue, greater.pvalue) == approx((law.cdf(12), law.sf(11)), rel=1e-9)
    assert str(less).endswith(", one-sided (less))")


# Strata


def strata(**tables: tuple[int, int, int, int]) -> tuple[dict[str, ConfusionMatrix], dict[str, ConfusionMatrix]]:
    """The group's and the reference's counts, from (successes, cases, reference's successes, reference's cases)."""
    group = {name: matrix(k, n - k, 0, 0) for name, (k, n, _, _) in tables.items()}
    return group, {name: matrix(j, m - j, 0, 0) for name, (_, _, j, m) in tables.items()}


def test_counts_per_stratum_have_mantel_and_haenszels_odds_ratio() -> None:
    d = disparity(*strata(easy=(6, 8, 60, 80), hard=(18, 72, 5, 20)), "tpr")
    assert (d.kind, d.metric.key, d.reason) == ("odds ratio", "tpr", None)
    assert (d.estimate, d.pvalue) == approx((1.0, 1.0))
    assert (round(d.low, 3), round(d.high, 3)) == (0.366, 3.049)
    assert (d.group_score, d.reference_score) == (24 / 80, 65 / 100)
    assert d.crude_estimate == approx(24 * 35 / (56 * 65))
    assert d.crude_pvalue == approx(disparity(
        matrix(24, 56, 0, 0), matrix(65, 35, 0, 0), "tpr").pvalue)  # fmt: skip
    assert d.method == "exact, conditional on the margins of each stratum"
    assert [(s.name, s.part, s.whole, s.reference_part, s.reference_whole, s.informative) for s in d.strata] == [
        ("easy", 6, 8, 60, 80, True),
        ("hard", 18, 72, 5, 20, True),
    ]
    assert str(d) == (
        "TPR: the odds ratio within 2 strata is 1.000 (95% interval 0.366 to 3.049, p = 1.000; without strata 0.231, "
        "p < 0.001)"
    )
    assert d.four_fifths is None
    assert d.to_dict()["strata"][1]["reference_part"] == 5


def test_a_stratum_that_one_side_lacks_is_empty_there() -> None:
    """Strata are those of the group, then those of the reference alone; none is merged with another."""
    group = {1: matrix(3, 6, 0, 0), "1": matrix(2, 2, 0, 0), None: matrix(1, 1, 0, 0)}
    reference = {"1": matrix(5, 1, 0, 0), 1: matrix(20, 10, 0, 0), "x": matrix(1, 2, 0, 0)}
    d = disparity(group, reference, "tpr")
    assert [(s.name, s.whole, s.reference_whole, s.informative) for s in d.strata] == [
        (1, 9, 30, True), ("1", 4, 6, True), (None, 2, 0, False), ("x", 0, 3, False)]  # fmt: skip
    assert str(d.strata[3]) == "x: 0/0 against 1/3, not informative"
    told = disparity(*strata(a=(3, 9, 20, 30), b=(2, 4, 5, 6)), "tpr")
    assert (d.estimate, d.low, d.high, d.pvalue) == approx((told.estimate, told.low, told.high, told.pvalue))


def test_strata_that_say_nothing_have_no_pvalue() -> None:
    d = disparity(*strata(a=(3, 3, 9, 9), b=(0, 0, 2, 5)), "tpr")
    assert isnan(d.pvalue)
    assert (d.low, d.high, d.method) == (0.0, inf, "none")
    assert str(d) == (
        "TPR: the odds ratio is undefined, no stratum has cases of both, with both outcomes (95% interval 0.000 to inf)"
    )


def test_any_score_that_depends_on_one_rate_has_strata() -> None:
    for key, cells, other, counts in (
        ("f1", (7, 5, 9, 100), (20, 10, 3, 7), (7, 21, 20, 33)),
        ("acc", (7, 6, 3, 5), (11, 9, 13, 6), (12, 21, 17, 39)),
        ("ppv", (7, 50, 14, 90), (20, 5, 10, 3), (7, 21, 20, 30)),
    ):
        (s,) = disparity({"s": matrix(*cells)}, {"s": matrix(*other)}, key).strata
        assert (s.part, s.whole, s.reference_part, s.reference_whole) == counts


def test_what_cannot_be_compared_is_explained() -> None:
    table, none = strata(a=(1, 2, 3, 4)), matrix(0, 0, 0, 0)
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        (table, "mcc", {}, "strata of mcc cannot be pooled exactly; use a rate"),
        (table, "tpr", {"kind": "ratio"}, "kind must be 'odds ratio' with strata; got 'ratio'"),
        ((SMALL, REFERENCE), "tpr", {"kind": "odds ratio"},
         "kind must be 'difference' or 'ratio' without strata; got 'odds ratio'"),
        (({"a": SMALL}, REFERENCE), "tpr", {}, "cm and reference must both map strata to matrices, or neither"),
        (({}, {}), "tpr", {}, "cm and reference must contain at least one stratum"),
        (({"a": SMALL}, {"a": (1, 2, 3, 4)}), "tpr", {},
         "the reference in stratum 'a' must be a ConfusionMatrix of counts; got (1, 2, 3, 4)"),
        (table, "tpr", {"alternative": "less"},
         "alternative and prior must be left out with strata"),
        ((SMALL, REFERENCE), "mcc", {"kind": "ratio"},
         "mcc can be negative, so a ratio of two groups is meaningless; use mcc_difference"),
        ((SMALL, none), "tpr", {}, "the reference is empty (n = 0); the group cannot be compared with it"),
        ((SMALL, REFERENCE), "tpr", {"confidence_level": 1}, "confidence_level must lie between 0 and 1; got 1"),
    ]  # fmt: skip
    for pair, key, options, sentence in refused:
        assert refusal(disparity, *pair, key, **options) == f"InvalidInput: {sentence}"
    for name, value, known in (
        ("kind", "gap", "difference, ratio, odds ratio"), ("alternative", "lower", "two-sided, less, greater"),
    ):  # fmt: skip
        sentence = f"UnknownName: no {name} is called '{value}'; known: {known}"
        assert refusal(cast("Any", disparity), SMALL, REFERENCE, "tpr", **{name: value}) == sentence
