"""The MATCH test: against listing every group, Fisher's test, golden values; its level; its refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, isnan, prod
from typing import Any

import mpmath
import numpy as np
import oracle
import pytest
from class_oracle import Table, against_rest, all_tables, as_mp, averaged, overall
from hypothesis import assume, given, settings, strategies as st
from matrices import matrix
from oracle import ONE_GROUP, TWO_GROUPS, golden, laws, matrices, minus, over, refusal
from pytest import approx
from scipy.stats import binomtest, fisher_exact

import evenhand as eh
from evenhand import ConfusionMatrix, difference, metric, ratio
from evenhand.errors import InvalidInput
from evenhand.inference import MatchSettings, match_many
from evenhand.inference.match import compare_with_draws
from evenhand.metrics import CATALOGUE, class_average

match_test: Any = eh.match_test
GOLDEN = golden("distributions")
GROUP, REFERENCE = matrix(3, 2, 1, 2), matrix(6, 5, 4, 9)
NULLS = {"pooled": "without_replacement", "known": "multinomial", "predictive": "predictive"}
GIVEN = ("margin", "n")
SIDES = ("two-sided", "less", "greater")
cells = st.tuples(*[st.integers(0, 12)] * 4)


def score(key: str, group: Any, reference: Any) -> float | None:
    base, _, kind = key.rpartition("_")
    if key in ONE_GROUP:
        value = ONE_GROUP[key](*group)
    elif key in TWO_GROUPS:
        value = TWO_GROUPS[key](group, reference)
    else:
        compare = {"difference": minus, "ratio": over}[kind]
        value = compare(ONE_GROUP[base](*group), ONE_GROUP[base](*reference))
    return None if value is None else float(value)


def margin_of(key: str, c: Any) -> Any:
    """The denominator that a test takes as observed, by the words of its documentation."""
    tp, fn, fp, tn = c
    base = metric(key).base
    if base.key in ("tpr", "fnr") or base.shape == "pair" or key == "equalized_odds":
        return tp + fp if base.key == "markedness" else tp + fn
    sizes = {"fpr": fp + tn, "tnr": fp + tn, "ppv": tp + fp, "fdr": tp + fp, "npv": fn + tn, "for": fn + tn}
    sizes |= dict.fromkeys(("f1", "f1_original", "jaccard"), tp + fn + fp) | {"te_part": fn + fp}
    assert base.key in sizes or base.shape != "ratio", f"margin_of lacks the denominator of {base.key}"
    return sizes.get(base.key)


def list_groups(key: str, group: Any, reference: Any, null: str, given_: str) -> tuple[Fraction, ...]:
    """The exact probability below, at and above the observed score, and that it is undefined, by listing."""
    pooled = [a + b for a, b in zip(group, reference, strict=True)]
    weight = laws(pooled if null == "pooled" else list(reference))[NULLS[null]]
    observed, total = score(key, group, reference), [Fraction(0)] * 4
    for c in matrices(sum(group)):
        left = tuple(p - k for p, k in zip(pooled, c, strict=True)) if null == "pooled" else reference
        if given_ == "margin" and margin_of(key, c) != margin_of(key, group):
            continue
        if min(left) >= 0:
            s = score(key, c, left)
            near = s is not None and observed is not None and abs(s - observed) < 1e-12
            place = 3 if s is None else 1 if near else 0 if observed is None or s < observed else 2
            total[place] += weight(c)
    defined = sum(total[:3]) or Fraction(1)
    return *(part / defined for part in total[:3]), total[3]


# Two classes


@pytest.mark.parametrize("given_", GIVEN)
@pytest.mark.parametrize("null", NULLS)
def test_the_test_is_what_listing_every_group_gives(null: Any, given_: Any) -> None:
    for m in CATALOGUE:
        below, at, above, _ = list_groups(m.key, GROUP.cells, REFERENCE.cells, null, given_)
        both: Any = above + at if m.key == "equalized_odds" else min(1, 2 * min(below, above) + 2 * at)
        options = {"null": null, "given": given_}
        r = match_test(GROUP, REFERENCE, m, **options)
        assert r.statistic == approx(score(m.key, GROUP.cells, REFERENCE.cells))
        assert r.percentile == approx(float(below + at), rel=1e-11, abs=0)
        mid = match_test(GROUP, REFERENCE, m, mid_p=True, alternative="less", **options)
        assert mid.pvalue == approx(float(below + at / 2), rel=1e-11, abs=0)
        for side, p in zip(SIDES, (both, below + at, above + at), strict=True):
            r = match_test(GROUP, REFERENCE, m, alternative=side, **options)
            assert r.pvalue == approx(float(p), rel=1e-11, abs=0), m.key


def test_comparisons_without_a_name_are_tested_too() -> None:
    """PT of the group, and of the reference it leaves, is also undefined inside the range of FP, at TPR = FPR."""
    group, reference = matrix(3, 3, 1, 2), matrix(6, 6, 4, 2)
    compared = (difference("pt"), ratio("pt"), difference("markedness"), ratio("f2"), ratio("tpr"), ratio("acc"))
    for m, null, given_ in product(compared, NULLS, GIVEN):
        below, at, above, _ = list_groups(m.key, group.cells, reference.cells, null, given_)
        r = match_test(group, reference, m, null=null, given=given_)
        assert r.percentile == approx(float(below + at), rel=1e-11, abs=0)
        assert r.pvalue == approx(min(1.0, float(2 * min(below + at, above + at))), rel=1e-11, abs=0)


@settings(max_examples=60)
@given(group=cells, reference=cells, key=st.sampled_from(["acc", "ppr", "tpr", "fpr", "ppv", "npv"]))
def test_fishers_exact_test_is_the_pooled_test_of_a_rate_and_of_its_difference(
    group: Any, reference: Any, key: Any
) -> None:
    g, r = ConfusionMatrix.from_array(group), ConfusionMatrix.from_array(reference)
    pairs = [metric(key).base.rank(*cm.cells) for cm in (g, r)]
    assume(pairs[0][1] and pairs[1][1])
    table = [[int(k), int(n - k)] for k, n in pairs]
    for side, m in product(("less", "greater"), (key, f"{key}_difference")):
        expected = fisher_exact(table, alternative=side).pvalue
        assert match_test(g, r, m, alternative=side).pvalue == approx(expected, rel=1e-9, abs=0)


def test_golden_ratio_tests() -> None:
    """E11: given only n (the paper), and given the denominator (ours)."""
    for case in GOLDEN["jrm"]:
        p_i, p_j, n, k_i, k_j = Fraction(case["p_i"]), Fraction(case["p_j"]), case["n"], case["k_i"], case["k_j"]
        group, rates = matrix(k_i, k_j, n - k_i - k_j, 0), [float(p_i), float(p_j), float(1 - p_i - p_j), 0]
        for given_, name in (("n", "unconditional_given_defined"), ("margin", "conditional_on_k")):
            r, mid = (match_test(group, rates, "tpr", given=given_, mid_p=half) for half in (False, True))
            results = r.percentile, r.pvalue, mid.pvalue
            keys = "le", "two_sided_central", "two_sided_midp_central"
            assert results == approx([float(case[name][key]) for key in keys], rel=1e-11, abs=0) and r.null == "known"
        if 0 < k_i / (k_i + k_j) < 1:
            beta = match_test(group, rates, "tpr", given="n", method="beta")
            assert beta.percentile == approx(float(case["beta_expected_ref_counts_lambda0"]), rel=1e-9, abs=0)


def test_golden_tests_of_shares_and_marginal_benefit() -> None:
    """E7: the normal approximation with the right mean, variance and continuity correction."""
    shares = [(case, "acc", Fraction(case["p"]), Fraction(0), "normal_cc_cdf") for case in GOLDEN["binomial"]]
    benefits = [(case, "mb", Fraction(case["p_fp"]), Fraction(case["p_fn"]), "normal_fixed_cc")
                for case in GOLDEN["marginal_benefit"]]  # fmt: skip
    for case, key, p, q, corrected in shares + benefits:
        n, k = case["n"], case["k"]
        if key == "acc":
            group, rates = matrix(k, n - k, 0, 0), [float(p), float(1 - p), 0, 0]
        else:
            group, rates = matrix(n - abs(k), max(-k, 0), max(k, 0), 0), [float(1 - p - q), float(q), float(p), 0]
        assert match_test(group, rates, key).pvalue == approx(float(case["two_sided_central"]), rel=1e-10, abs=0)
        if 0 < p + q < 1:
            normal = match_test(group, rates, key, method="normal")
            assert normal.percentile == approx(float(case[corrected]), rel=1e-9, abs=0)
            assert normal.method == "normal" and isnan(normal.error)
    # With no correct predictions FP - FN moves in steps of 2; corrected by 1/2, the error would be .0360.
    group, rates = matrix(0, 16, 24, 0), [0, 0.5, 0.5, 0]
    exact, normal = (match_test(group, rates, "mb", method=m) for m in ("exact", "normal"))
    assert abs(exact.percentile - normal.percentile) < 0.005


def test_random_groups_agree_with_the_exact_test_and_repeat_with_their_seed() -> None:
    for m in CATALOGUE:
        exact = match_test(GROUP, REFERENCE, m)
        drawn, again = (match_test(GROUP, REFERENCE, m, method="montecarlo", rng=7, draws=5_000) for _ in range(2))
        assert (drawn.method, drawn.draws, drawn.rng) == ("montecarlo", 5_000, 7)
        assert drawn.percentile == approx(exact.percentile, abs=5 * np.sqrt(0.25 / 5_000))
        assert drawn.pvalue == approx(exact.pvalue, abs=5 * drawn.error + 1e-3)
        assert again.pvalue == drawn.pvalue


def test_improbable_scores_are_possible_and_keep_their_digits() -> None:
    """P(TP = 0) = 0.1^1000 is no float, but it is not 0; hypergeometric tails down to 1e-250, in integers."""
    r = match_test(matrix(0, 1000, 10, 10), matrix(900, 100, 10, 10), "tpr", null="known")
    assert (r.pvalue, r.reason, r.statistic) == (0, None, 0)
    for k, n, j, m in ((300, 300, 30, 900), (0, 250, 800, 900), (190, 200, 40, 2000), (500, 520, 9, 700)):
        ways = [comb(k + j, i) * comb(n + m - k - j, n - i) for i in range(n + 1)]
        for side, chosen in (("greater", ways[k:]), ("less", ways[: k + 1])):
            r = match_test(matrix(k, n - k, 0, 0), matrix(j, m - j, 0, 0), "tpr", alternative=side)
            assert r.pvalue == approx(float(Fraction(sum(chosen), comb(n + m, n))), rel=1e-8, abs=0)


def test_cells_that_the_reference_lacks_do_not_matter_to_a_score_that_it_has() -> None:
    """TPR does not depend on negatives, whatever rates they have; MB = 0.1 may be 11 - 9 or 2 - 0 of 20."""
    for given_, cases, least in (("margin", 100, 80), ("n", 110, 88)):
        options: Any = {"alternative": "greater", "given": given_}
        r = match_test(matrix(80, 20, 5, 5), [0.75, 0.25, 0, 0], "tpr", **options)
        assert r.pvalue == approx(binomtest(least, cases, 0.75, alternative="greater").pvalue, rel=1e-10)
        r = match_test(matrix(18, 0, 2, 0), [0, 0.5, 0.5, 0], "mb", **options)
        assert r.pvalue == approx(binomtest(11, 20, 0.5, alternative="greater").pvalue, rel=1e-10)


def test_the_pooled_test_never_exceeds_its_level() -> None:
    """P(p-value <= 0.05) <= 0.05 if group and reference share their rate."""
    for n, m in ((6, 10), (12, 8)):
        tables = list(product(range(n + 1), range(m + 1)))
        pvalues = [match_test(matrix(k, n - k, 0, 0), matrix(j, m - j, 0, 0), "acc").pvalue for k, j in tables]
        for p in (0.1, 0.3, 0.5):
            chances = [comb(n, k) * comb(m, j) * p ** (k + j) * (1 - p) ** (n + m - k - j) for k, j in tables]
            assert sum(c for c, pvalue in zip(chances, pvalues, strict=True) if pvalue <= 0.05) <= 0.05


def test_no_p_value_is_below_the_smallest_attainable_one() -> None:
    group = matrix(2, 2, 1, 3)
    pooled = [a + b for a, b in zip(group.cells, REFERENCE.cells, strict=True)]
    for key in ("tpr", "f1", "mcc", "mb", "equal_opportunity"):
        attained = []
        for c in matrices(8):
            left = [p - k for p, k in zip(pooled, c, strict=True)]
            if min(left) >= 0 and margin_of(key, c) == margin_of(key, group.cells):
                other = match_test(ConfusionMatrix.from_array(c), ConfusionMatrix.from_array(left), key)
                attained += [] if isnan(other.pvalue) else [other.pvalue]
        assert match_test(group, REFERENCE, key).smallest_pvalue == approx(min(attained), rel=1e-10, abs=0)
    many = match_test(matrix(5_001, 0, 0, 0), matrix(1, 1, 1, 1), "acc")
    sentence = "TooLarge: the smallest attainable p-value is a search over 5,001 cases, more than the limit of 5,000"
    assert refusal(lambda: many.smallest_pvalue) == f"{sentence}; larger groups attain any level"


def test_a_reference_without_a_score_is_a_result_or_a_refusal() -> None:
    references = ((116, 0, 0, 2429), (0, 0, 1, 0), (0, 4, 5, 6), (3, 6, 2, 4))
    for m, null, reference in product(CATALOGUE, NULLS, references):
        try:
            r = match_test(matrix(3, 1, 0, 6), matrix(*reference), m, null=null)
        except InvalidInput:
            assert null == "known"
            continue
        assert isnan(r.pvalue) == (r.reason is not None)
        assert (isnan(r.pvalue) or 0 < r.pvalue <= 1) and 0 <= r.p_undefined <= 1


def test_the_probability_of_an_undefined_score_counts_both_groups() -> None:
    groups = (((1, 1, 2, 0), (1, 1, 0, 1)), ((0, 0, 0, 3), (0, 1, 2, 0)), ((2, 1, 1, 1), (3, 2, 1, 2)))
    for m, (group, reference) in product(CATALOGUE, groups):
        expected = list_groups(m.key, group, reference, "pooled", "n")[3]
        assert match_test(matrix(*group), matrix(*reference), m).p_undefined == approx(float(expected), abs=1e-12)
        empty = match_test(matrix(0, 0, 0, 0), REFERENCE, m)
        assert isnan(empty.pvalue) and empty.reason is not None and empty.p_undefined == 1


def test_a_result_is_one_sentence() -> None:
    rest = matrix(116, 177, 554, 2429)
    for r, sentence in (
        (match_test(matrix(3, 1, 0, 6), rest, "tpr"),
         "0.75 against 0.3959, p = 0.357 (two-sided, pooled null given a denominator of 4, exact)"),
        (match_test(GROUP, REFERENCE, "acc", null="known", mid_p=True),
         "0.625 against 0.625, p = 0.979 (two-sided, mid-p, known null given n, exact); rejects too often, as the "
         "reference has < 10 n cases"),
        (match_test(GROUP, rest, "equalized_odds", alternative="greater", method="montecarlo", draws=99, rng=1),
         "0.2041, p = 0.460 (greater, pooled null given a denominator of 5, montecarlo, standard error 0.05)"),
        (match_test(matrix(0, 0, 2, 3), rest, "tpr", null="known"), "undefined, no actual positives (TP + FN = 0)"),
    ):  # fmt: skip
        assert str(r) == f"MATCH test of {r.name}: {sentence}"
    assert r.p_undefined == approx(0.626, abs=5e-4)
    assert refusal(r.plot) == "InvalidInput: tpr has no p-value to plot: no actual positives (TP + FN = 0)"


IMPOSSIBLE = "the group has cases where the reference has none; use counts and null='pooled' or null='predictive'"
EMPTY = "the reference is empty (n = 0); the group cannot be compared with it"
REFUSED: list[tuple[Any, Any, str, dict[str, Any], str]] = [
    (matrix(1.5, 1, 1, 1), REFERENCE, "tpr", {},
     "the group must hold whole counts, not smoothed cells; got ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
    (GROUP, matrix(1.5, 1, 1, 1), "tpr", {},
     "the reference must hold whole counts, not smoothed cells; got ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1)"),
    ((1, 2, 3, 4), REFERENCE, "tpr", {}, "the group must be a ConfusionMatrix of counts; got (1, 2, 3, 4)"),
    (GROUP, [0.1, 0.2, 0.3, 0.3], "tpr", {}, "the four probabilities tp, fn, fp, tn must sum to 1; got 0.9"),
    (GROUP, [0.25] * 4, "tpr", {"null": "predictive"},
     "null='predictive' needs the reference as a ConfusionMatrix"),
    (GROUP, [0.25] * 4, "ofi", {}, "ofi needs the reference as a ConfusionMatrix"),
    *((cm, reference, key, options, IMPOSSIBLE) for cm, reference, key, options in (
        (GROUP, matrix(5, 0, 3, 3), "tpr", {"null": "known"}),
        (GROUP, matrix(0, 0, 3, 3), "tpr", {"null": "known", "given": "n"}),
        (matrix(1, 1, 0, 0), [1, 0, 0, 0], "tpr", {}),
        (matrix(1, 1, 0, 0), matrix(0, 4, 5, 6), "mcc_limit", {"null": "known"}),
        (matrix(10, 0, 2, 8), matrix(0, 0, 50, 450), "kappa", {"null": "known"}),
    )),
    (GROUP, matrix(0, 0, 0, 0), "tpr", {}, EMPTY),
    (GROUP, REFERENCE, "tpr", {"method": "montecarlo", "rng": -1},
     "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
    (GROUP, REFERENCE, "tpr", {"method": "montecarlo", "draws": 0}, "draws must be a whole number above 0; got 0"),
    (GROUP, REFERENCE, "tpr", {"method": "beta"},
     "method='beta' takes the reference's rates as known; use null='known', or method='exact'"),
    (GROUP, matrix(0, 5, 5, 5), "tpr", {"method": "beta", "null": "known"},
     "the reference's tpr is 0 or 1, so it has no beta approximation; use method='exact'"),
    (GROUP, REFERENCE, "mcc", {"method": "beta", "null": "known"},
     "method='beta' is for ratios of two parts, not for mcc; use method='exact'"),
    (GROUP, REFERENCE, "mcc", {"method": "normal"},
     "method='normal' is for shares and marginal benefit, not for mcc; use method='exact'"),
    (GROUP, [1, 0, 0, 0], "acc", {"method": "normal"},
     "acc cannot vary under this null, so it has no normal approximation; use method='exact'"),
    (GROUP, REFERENCE, "tpr", {"alternative": "lower"},
     "no alternative is called 'lower'; known: two-sided, less, greater"),
    (GROUP, REFERENCE, "tpr", {"null": "pool"}, "no null is called 'pool'; did you mean 'pooled'?"),
    (GROUP, REFERENCE, "tpr", {"average": "macro"},
     "average and label are for a MulticlassConfusion, which counts several classes"),
]  # fmt: skip


def test_what_cannot_be_tested_is_explained() -> None:
    for cm, reference, key, options, sentence in REFUSED:
        assert refusal(match_test, cm, reference, key, **options).partition(": ")[2] == sentence


# P-values


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40), st.integers(-3, 3), st.booleans())
def test_random_scores_are_counted_with_the_observed_one_among_them(drawn: list[int], at: int, mid_p: bool) -> None:
    """p = (1 + r) / (1 + B), ties counting half with mid-p; rounding breaks no tie."""
    scores = np.array(drawn) * (1 + 1e-13 * np.random.default_rng(0).standard_normal(len(drawn))) / 7
    ties, n = drawn.count(at), len(drawn)
    low, high = sum(x <= at for x in drawn), sum(x >= at for x in drawn)
    for side, extreme in (("less", low), ("greater", high), ("two-sided", min(low, high))):
        asked: Any = MatchSettings(alternative=side, mid_p=mid_p)  # type: ignore[arg-type]
        test = compare_with_draws(np.r_[scores, np.nan], at / 7, metric("mcc"), asked)
        factor = 2 if side == "two-sided" else 1
        tail = (1 + extreme - (ties / 2 if mid_p else 0)) / (1 + n)
        # The variance of a mean of 0, 1/2 and 1 is a quarter of the ties less than that of one of 0 and 1.
        variance = max(tail * (1 - tail) - (ties / n / 4 if mid_p else 0), 0) / n
        assert (test["percentile"], test["pvalue"]) == approx((low / n, min(1, factor * tail)))
        assert test["error"] == approx(factor * variance**0.5, abs=1e-12)


# Several classes

K_GROUP: Table = [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
K_REST: Table = [[4, 1, 1], [0, 3, 2], [1, 0, 5]]


def classes(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


def law_of_tables(null: str, prior: Fraction = Fraction(1, 2)) -> list[tuple[Table, Fraction]]:
    """The exact probability of every matrix of as many cases as the group's, under a null."""
    group, rest = ([cell for row in t for cell in row] for t in (K_GROUP, K_REST))
    pooled, law = [a + b for a, b in zip(group, rest, strict=True)], []
    for table in all_tables(5, 3):
        flat = tuple(cell for row in table for cell in row)
        if null == "pooled":
            ways = prod(comb(t, c) for t, c in zip(pooled, flat, strict=True))
            law.append((table, Fraction(ways, comb(sum(pooled), 5))))
        elif null == "known":
            law.append((table, oracle.multinomial(flat, rest)))
        else:
            law.append((table, oracle.dirichlet_multinomial(flat, [t + prior for t in rest])))
    assert sum(p for _, p in law) == 1
    return [(table, p) for table, p in law if p]


def list_tables(key: str, average: Any, law: Any) -> dict[str, Any]:
    """The p-values by side, the percentile and the probability of an undefined score, by listing every matrix."""

    def score_of(table: Table) -> Any:
        return averaged(key, table, average) if average else overall(key, table)

    observed, total = as_mp(score_of(K_GROUP)), [Fraction(0)] * 4
    for table, p in law:
        value = score_of(table)
        gap = None if value is None else as_mp(value) - observed
        is_tie = gap is not None and abs(gap) < mpmath.mpf(10) ** -40
        total[3 if gap is None else 1 if is_tie else 0 if gap < 0 else 2] += p
    low, high = ((total[side] + total[1]) / (1 - total[3]) for side in (0, 2))
    sides = {"less": low, "greater": high, "two-sided": min(Fraction(1), 2 * min(low, high))}
    return {side: float(p) for side, p in sides.items()} | {"percentile": float(low), "undefined": float(total[3])}


@pytest.mark.parametrize("null", NULLS)
def test_scores_of_the_number_of_correct_cases_are_tested_exactly(null: Any) -> None:
    """Macro accuracy is 1 - 2 (1 - accuracy) / K, macro prevalence 1 / K, and weighted recall accuracy."""
    law = law_of_tables(null)
    micro = [m.key for m in CATALOGUE if m.groups == 1 and averaged(m.key, K_GROUP, "micro") is not None]
    means = [("acc", "macro"), ("prev", "macro"), ("mb", "macro"), ("tpr", "weighted"), ("fnr", "weighted")]
    for key, average in [("acc", None), *((key, "micro") for key in micro[::3]), *means]:
        expected = list_tables(key, average, law)
        for side in SIDES:
            r = match_test(classes(K_GROUP), classes(K_REST), key, average=average, null=null, alternative=side)
            assert (r.method, r.denominator, r.draws, r.rng) == ("exact", None, None, None) and r.error < 1e-15
            numbers = (expected[side], expected["percentile"], expected["undefined"])
            assert (r.pvalue, r.percentile, r.p_undefined) == approx(numbers, rel=1e-10, abs=1e-14), (key, average)


@pytest.mark.parametrize("null", NULLS)
def test_simulated_tests_come_close_to_listing_every_matrix(null: Any) -> None:
    """|p - exact p| <= 4 standard errors; a prior of 3 counts in every cell."""
    law, scores = law_of_tables(null, Fraction(3)), (("kappa", None), ("f1", "weighted"), ("jaccard", "macro"))
    for (key, average), side in product(scores, SIDES):
        expected = list_tables(key, average, law)
        options = {"average": average, "null": null, "prior": 3, "alternative": side}
        r = match_test(classes(K_GROUP), classes(K_REST), key, rng=3, draws=5_000, **options)
        assert (r.method, r.draws, r.rng) == ("montecarlo", 5_000, 3)
        assert abs(r.pvalue - expected[side]) <= 4 * r.error + 4e-4 and 0 < r.error < 0.02
        assert (r.percentile, r.p_undefined) == approx((expected["percentile"], expected["undefined"]), abs=0.03)


def test_a_class_against_the_rest_and_two_classes_are_tested_as_2x2_matrices() -> None:
    group, rest = classes(K_GROUP, list("abc")), classes(K_REST, list("abc"))
    for key, (c, label), given_ in product(("tpr", "f1", "mcc", "acc"), enumerate("abc"), GIVEN):
        pair = [ConfusionMatrix.from_array(against_rest(t, c)) for t in (K_GROUP, K_REST)]
        for extra in ({}, {"null": "known"}, {"null": "predictive", "prior": 3}, {"mid_p": True}):
            options: Any = {"given": given_} | extra
            ours = match_test(group, rest, key, label=label, **options)
            binary = match_test(*pair, key, **options)
            assert str(ours).endswith(str(binary).removeprefix(f"MATCH test of {key}"))
            assert (ours.label, ours.reason, ours.distribution) == (label, binary.reason, binary.distribution)
            assert ours.pvalue == approx(binary.pvalue, nan_ok=True, rel=1e-12)
    pair = [matrix(4, 1, 2, 3), matrix(6, 3, 5, 20)]
    for key in ("acc", "mcc", "kappa", "balanced_accuracy"):
        ours = match_test(classes([[3, 2], [1, 4]]), classes([[20, 5], [3, 6]]), key)
        assert ours.method == "exact"
        assert ours.pvalue == approx(match_test(pair[0], pair[1], key).pvalue, rel=1e-9)


def test_scores_that_are_simulated_together_are_the_same_as_alone() -> None:
    cm, reference = classes(K_GROUP), classes(K_REST)
    scores: Any = [("mcc", None, None), ("acc", None, None), ("f1", "weighted", None), ("tpr", None, 0)]
    averages = [class_average(metric(key), cm.labels, average, label) for key, average, label in scores]
    together = match_many(cm, reference, averages, MatchSettings(draws=300, rng=1))
    assert together == [match_test(cm, reference, m, average=a, label=c, draws=300, rng=1) for m, a, c in scores]
    assert [r.method for r in together] == ["montecarlo", "exact", "montecarlo", "exact"]
    generator = match_test(cm, reference, "mcc", draws=300, rng=np.random.default_rng(1))
    assert (generator.pvalue, generator.rng) == (together[0].pvalue, None)
    simulated = match_test(cm, reference, "acc", method="montecarlo", draws=5_000)
    assert abs(simulated.pvalue - together[1].pvalue) <= 4 * simulated.error


def test_classes_without_cases_leave_a_mean_undefined_untested_or_omitted() -> None:
    cm, reference = classes([[2, 1, 0], [0, 3, 0], [0, 0, 0]]), classes(K_REST)
    r = match_test(cm, reference, "tpr", average="macro", draws=200)
    assert isnan(r.pvalue) and isnan(r.statistic)
    assert r.reason == "undefined for 1 of 3 classes: 2, no actual positives (TP + FN = 0)"
    omitted = match_test(cm, reference, "tpr", average="macro", undefined="omit", draws=200)
    assert 0 < omitted.pvalue <= 1
    for key in ("acc", "mcc"):
        assert isnan(match_test(classes(np.zeros((3, 3))), reference, key, draws=10).pvalue)
    # Balanced accuracy over the classes with cases is defined where that of the 2x2 matrix is not.
    cm, reference = classes([[3, 2], [0, 0]]), classes([[20, 5], [3, 6]])
    r = match_test(cm, reference, "balanced_accuracy", undefined="omit", draws=500)
    assert (r.method, r.statistic, r.reason) == ("montecarlo", 0.6, None)
    assert isnan(match_test(cm, reference, "balanced_accuracy").pvalue)
    # One case of each of 8 classes beside thousands of one: random groups of 8 lack a class.
    rest = np.zeros((8, 8), dtype=int)
    rest[0, 0] = 5_000
    r = match_test(classes(np.eye(8)), classes(rest), "tpr", average="macro", draws=50)
    assert (r.statistic, r.p_undefined, isnan(r.pvalue)) == (1.0, 1.0, True)
    assert r.reason == "not tested: no simulated group of 50 has a defined score; use more draws"
    assert str(r) == f"MATCH test of macro tpr: 1, {r.reason}"


def test_a_score_of_all_classes_has_no_distribution() -> None:
    r = match_test(classes(K_GROUP), classes(K_REST), "f1", average="macro", draws=50)
    assert isnan(r.expected) and isnan(r.smallest_pvalue)
    assert r.to_dict()["smallest_pvalue"] is None
    sentence = "macro f1 has no distribution; pass a class as label="
    assert refusal(lambda: r.distribution) == refusal(r.plot) == f"InvalidInput: {sentence}"


def test_classes_that_cannot_be_tested_are_refused() -> None:
    cm, reference = classes(K_GROUP), classes(K_REST)
    whole = "must be a MulticlassConfusion of whole counts; got"
    for change, sentence in (
        ({"cm": classes([[1, 2], [3, 4]])},
         "the reference must have the same labels in the same order ([0, 1]); got [0, 1, 2]"),
        ({"reference": classes(np.zeros((3, 3)))}, EMPTY),
        ({"cm": eh.cross_prior_smooth(cm, reference, 5)},
         f"the group {whole} <SmoothedClasses: 3 classes, n = 5, strength 5>"),
        ({"reference": 3}, f"the reference {whole} 3"),
        ({"draws": 0}, "draws must be a whole number above 0; got 0"),
        ({"method": "beta"}, "method='beta' is for one class; pass it as label="),
        ({"null": "predictive", "prior": 0},
         "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 0"),
        ({"metric": "acc", "null": "known", "reference": classes(np.eye(3))}, IMPOSSIBLE),
        ({"reference": classes(np.full((3, 3), 2 * 10**8))},
         "averages are simulated from fewer than 1e9 pooled cases"),
    ):  # fmt: skip
        arguments: Any = {"cm": cm, "reference": reference, "metric": "mcc"} | change
        assert refusal(match_test, **arguments) == f"InvalidInput: {sentence}"
