"""The MATCH test: against enumeration, Fisher's test, golden values; its guarantee; its refusals."""

from __future__ import annotations

import re
from fractions import Fraction
from math import comb, isnan
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from oracle import ONE_GROUP, TWO_GROUPS, golden, laws, matrices, minus, over
from pytest import approx
from scipy.stats import binom, binomtest, fisher_exact

from evenhand import ConfusionMatrix, difference, match_test, metric, ratio
from evenhand.errors import InvalidInput, UnknownName
from evenhand.inference import NullName
from evenhand.metrics import CATALOGUE

GOLDEN = golden("distributions")
GROUP, REFERENCE = ConfusionMatrix(3, 2, 1, 2), ConfusionMatrix(6, 5, 4, 9)
every_metric = pytest.mark.parametrize("m", list(CATALOGUE), ids=lambda m: m.key)
NULLS = {"pooled": "without_replacement", "known": "multinomial", "predictive": "predictive"}
cells = st.tuples(*[st.integers(0, 12)] * 4)


def score(key: str, group: tuple[int, ...], reference: tuple[int, ...]) -> float | None:
    base, _, kind = key.rpartition("_")
    if key in ONE_GROUP:
        value = ONE_GROUP[key](*group)
    elif key in TWO_GROUPS:
        value = TWO_GROUPS[key](group, reference)  # type: ignore[arg-type]
    else:
        compare = {"difference": minus, "ratio": over}[kind]
        value = compare(ONE_GROUP[base](*group), ONE_GROUP[base](*reference))
    return None if value is None else float(value)


def margin_of(key: str, c: tuple[int, ...]) -> int | None:
    """The denominator that a test takes as observed, by the words of its documentation."""
    tp, fn, fp, tn = c
    m = metric(key)
    base = m.base
    if base.key in ("tpr", "fnr") or base.shape == "pair" or key == "equalized_odds":
        return tp + fp if base.key == "markedness" else tp + fn
    found = {"fpr": fp + tn, "tnr": fp + tn, "ppv": tp + fp, "fdr": tp + fp, "npv": fn + tn, "for": fn + tn}
    found |= dict.fromkeys(("f1", "f1_original", "jaccard"), tp + fn + fp)
    found |= {"te_part": fn + fp}
    assert base.key in found or base.shape != "ratio", f"margin_of lacks the denominator of {base.key}"
    return found.get(base.key)


def listed(m: Any, g: ConfusionMatrix, r: ConfusionMatrix, null: str, given_: str) -> tuple[Fraction, ...]:
    """The exact probability below, at and above the observed score, by listing every group."""
    group, reference = cast("tuple[int, ...]", g.cells), cast("tuple[int, ...]", r.cells)
    pooled = [a + b for a, b in zip(group, reference, strict=True)]
    weight = laws(pooled if null == "pooled" else list(reference))[NULLS[null]]
    observed = score(m.key, group, reference)
    assert observed is not None
    below = at = above = Fraction(0)
    for c in matrices(sum(group)):
        left = tuple(p - k for p, k in zip(pooled, c, strict=True)) if null == "pooled" else reference
        if given_ == "margin" and margin_of(m.key, c) != margin_of(m.key, group):
            continue
        if min(left) < 0 or (s := score(m.key, c, left)) is None:
            continue
        if abs(s - observed) < 1e-12:
            at += weight(c)
        elif s < observed:
            below += weight(c)
        else:
            above += weight(c)
    total = below + at + above
    return below / total, at / total, above / total


@pytest.mark.many
@every_metric
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("given_", ["margin", "n"])
def test_the_test_is_what_listing_every_group_gives(m: Any, null: NullName, given_: Any) -> None:
    below, at, above = listed(m, GROUP, REFERENCE, null, given_)
    lower, upper = float(below + at), float(above + at)

    r = match_test(GROUP, REFERENCE, m, null=null, given=given_)
    assert r.statistic == approx(score(m.key, cast("Any", GROUP.cells), cast("Any", REFERENCE.cells)))
    assert r.percentile == approx(lower, rel=1e-11, abs=0)
    central = upper if m.key == "equalized_odds" else min(1, 2 * min(lower, upper))
    assert r.pvalue == approx(central, rel=1e-11, abs=0)
    for alternative, p in (("less", lower), ("greater", upper)):
        one_sided = match_test(GROUP, REFERENCE, m, null=null, given=given_, alternative=cast("Any", alternative))
        assert one_sided.pvalue == approx(p, rel=1e-11, abs=0)
    mid = match_test(GROUP, REFERENCE, m, null=null, given=given_, mid_p=True, alternative="less")
    assert mid.pvalue == approx(float(below + at / 2), rel=1e-11, abs=0)


@pytest.mark.parametrize(
    "m", [difference("pt"), ratio("pt"), difference("markedness"), ratio("f2")], ids=lambda m: m.key
)
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("given_", ["margin", "n"])
def test_comparisons_without_a_name_are_tested_too(m: Any, null: NullName, given_: Any) -> None:
    """PT of the group, and of the reference it leaves, also has holes inside the range of FP: where TPR = FPR."""
    group, reference = ConfusionMatrix(3, 3, 1, 2), ConfusionMatrix(6, 6, 4, 2)
    below, at, above = listed(m, group, reference, null, given_)
    r = match_test(group, reference, m, null=null, given=given_)
    assert r.percentile == approx(float(below + at), rel=1e-11, abs=0)
    assert r.pvalue == approx(min(1.0, float(2 * min(below + at, above + at))), rel=1e-11, abs=0)


@settings(max_examples=60)
@given(group=cells, reference=cells, key=st.sampled_from(["acc", "ppr", "tpr", "fpr", "ppv", "npv"]))
def test_fishers_exact_test_is_the_pooled_test_of_a_share_or_ratio(group: Any, reference: Any, key: str) -> None:
    g, r = ConfusionMatrix(*group), ConfusionMatrix(*reference)
    m = cast("Any", metric(key))
    table = [[int(v) for v in m.rank(*cm.cells)] for cm in (g, r)]
    assume(table[0][1] and table[1][1])
    table = [[k, n - k] for k, n in table]
    for alternative in ("less", "greater"):
        expected = fisher_exact(np.array(table), alternative=alternative).pvalue
        found = match_test(g, r, key, alternative=cast("Any", alternative)).pvalue
        assert found == approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("case", GOLDEN["jrm"], ids=lambda c: f"{c['k_i']}:{c['k_j']} of {c['n']}")
def test_golden_ratio_tests(case: dict[str, Any]) -> None:
    """E11: given only n (the paper), and given the denominator (ours)."""
    p_i, p_j = Fraction(case["p_i"]), Fraction(case["p_j"])
    reference = [float(p_i), float(p_j), float(1 - p_i - p_j), 0]
    group = ConfusionMatrix(case["k_i"], case["k_j"], case["n"] - case["k_i"] - case["k_j"], 0)
    for given_, name in (("n", "unconditional_given_defined"), ("margin", "conditional_on_k")):
        r = match_test(group, reference, "tpr", given=cast("Any", given_))
        mid = match_test(group, reference, "tpr", given=cast("Any", given_), mid_p=True)
        assert r.null == "known"
        assert r.percentile == approx(float(case[name]["le"]), rel=1e-11, abs=0)
        assert r.pvalue == approx(float(case[name]["two_sided_central"]), rel=1e-10, abs=0)
        assert mid.pvalue == approx(float(case[name]["two_sided_midp_central"]), rel=1e-10, abs=0)
    if 0 < case["k_i"] / (case["k_i"] + case["k_j"]) < 1:
        beta = match_test(group, reference, "tpr", given="n", method="beta")
        assert beta.percentile == approx(float(case["beta_expected_ref_counts_lambda0"]), rel=1e-9, abs=0)


@pytest.mark.parametrize("case", GOLDEN["binomial"], ids=lambda c: f"{c['k']} of {c['n']}, p={c['p']}")
def test_golden_share_tests(case: dict[str, Any]) -> None:
    p, n, k = Fraction(case["p"]), case["n"], case["k"]
    group, reference = ConfusionMatrix(k, n - k, 0, 0), [float(p), float(1 - p), 0, 0]
    r = match_test(group, reference, "acc")
    assert r.pvalue == approx(float(case["two_sided_central"]), rel=1e-10, abs=0)
    if p in (0, 1):
        with pytest.raises(
            InvalidInput, match=r"^acc cannot vary under this null, so it has no normal approximation; "
        ):
            match_test(group, reference, "acc", method="normal")
        return
    normal = match_test(group, reference, "acc", method="normal")
    assert normal.percentile == approx(float(case["normal_cc_cdf"]), rel=1e-9, abs=0)
    assert normal.method == "normal"
    assert isnan(normal.error)


@pytest.mark.parametrize("case", GOLDEN["marginal_benefit"], ids=lambda c: f"{c['k']} of {c['n']}")
def test_golden_marginal_benefit_tests(case: dict[str, Any]) -> None:
    """E7: the normal approximation with the right mean, variance and continuity correction."""
    fp, fn, n, k = Fraction(case["p_fp"]), Fraction(case["p_fn"]), case["n"], case["k"]
    group = ConfusionMatrix(n - abs(k), max(-k, 0), max(k, 0), 0)
    reference = [float(1 - fp - fn), float(fn), float(fp), 0]
    assert match_test(group, reference, "mb").pvalue == approx(float(case["two_sided_central"]), rel=1e-10, abs=0)
    if fp + fn < 1:
        normal = match_test(group, reference, "mb", method="normal")
        assert normal.percentile == approx(float(case["normal_fixed_cc"]), rel=1e-9, abs=0)


def test_a_lattice_of_span_two_is_corrected_by_a_whole_step() -> None:
    """E7: with no correct predictions at all, FP - FN moves in steps of 2; the error is .0043 instead of .0360."""
    group, reference = ConfusionMatrix(0, 16, 24, 0), [0, 0.5, 0.5, 0]
    exact, normal = (match_test(group, reference, "mb", method=cast("Any", m)).percentile for m in ("exact", "normal"))
    assert abs(exact - normal) < 0.005


@every_metric
def test_random_groups_agree_with_the_exact_test(m: Any) -> None:
    exact = match_test(GROUP, REFERENCE, m)
    drawn = match_test(GROUP, REFERENCE, m, method="montecarlo", rng=7, draws=20_000)
    assert drawn.percentile == approx(exact.percentile, abs=5 * np.sqrt(0.25 / 20_000))
    assert drawn.pvalue == approx(exact.pvalue, abs=5 * drawn.error + 1e-3)
    again = match_test(GROUP, REFERENCE, m, method="montecarlo", rng=7, draws=20_000)
    assert again.pvalue == drawn.pvalue


def test_a_tail_that_was_never_drawn_is_not_empty() -> None:
    """With 0 of 99 draws as low, p = 1/100, and two-sided 2/100."""
    group, reference = ConfusionMatrix(0, 40, 5, 5), ConfusionMatrix(900, 100, 10, 10)
    for alternative, p in (("less", 0.01), ("two-sided", 0.02), ("greater", 1.0)):
        r = match_test(
            group, reference, "tpr", null="known", method="montecarlo", draws=99, rng=1,
            alternative=cast("Any", alternative),
        )  # fmt: skip
        assert r.pvalue == approx(p, rel=1e-12)
        assert r.percentile == 0


def test_a_score_too_improbable_for_a_float_is_still_possible() -> None:
    """P(TP = 0) = 0.1^1000 is no float, but it is not 0."""
    r = match_test(ConfusionMatrix(0, 1000, 10, 10), ConfusionMatrix(900, 100, 10, 10), "tpr", null="known")
    assert r.pvalue == 0
    assert r.reason is None
    assert r.statistic == 0


@pytest.mark.parametrize("given_", ["margin", "n"])
def test_cells_that_the_reference_lacks_do_not_matter_to_a_score_that_it_has(given_: Any) -> None:
    """TPR does not depend on negatives, whatever rates they have; MB = 0.1 may be 11 - 9 or 2 - 0 of 20."""
    r = match_test(ConfusionMatrix(80, 20, 5, 5), [0.75, 0.25, 0, 0], "tpr", alternative="greater", given=given_)
    cases = 100 if given_ == "margin" else 110
    least = 80 if given_ == "margin" else 88
    assert r.pvalue == approx(binomtest(least, cases, 0.75, alternative="greater").pvalue, rel=1e-10)
    assert match_test(ConfusionMatrix(18, 0, 2, 0), [0, 0.5, 0.5, 0], "mb", given=given_).pvalue == approx(
        min(1, 2 * binomtest(11, 20, 0.5, alternative="greater").pvalue), rel=1e-10
    )


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(("n", "n_ref"), [(6, 10), (12, 8), (20, 20)])
def test_the_pooled_test_never_exceeds_its_level(p: float, n: int, n_ref: int) -> None:
    """P(p-value <= 0.05) <= 0.05 when group and reference share their rate."""
    size = 0.0
    for k in range(n + 1):
        for j in range(n_ref + 1):
            r = match_test(ConfusionMatrix(k, n - k, 0, 0), ConfusionMatrix(j, n_ref - j, 0, 0), "acc")
            if r.pvalue <= 0.05:
                size += comb(n, k) * comb(n_ref, j) * p ** (k + j) * (1 - p) ** (n + n_ref - k - j)
    assert size <= 0.05


@pytest.mark.parametrize("key", ["tpr", "f1", "mcc", "mb", "equal_opportunity"])
def test_no_p_value_is_below_the_smallest_that_can_be_reached(key: str) -> None:
    group = ConfusionMatrix(2, 2, 1, 3)
    r = match_test(group, REFERENCE, key)
    pooled = [a + b for a, b in zip(group.cells, REFERENCE.cells, strict=True)]
    reached = []
    for c in matrices(8):
        left = [p - k for p, k in zip(pooled, c, strict=True)]
        if min(left) >= 0 and margin_of(key, c) == margin_of(key, cast("Any", group.cells)):
            other = match_test(ConfusionMatrix(*c), ConfusionMatrix(*left), key)
            if not isnan(other.pvalue):
                reached.append(other.pvalue)
    assert r.smallest_pvalue == approx(min(reached), rel=1e-10, abs=0)


def test_three_of_three_is_not_ten_of_ten() -> None:
    """E11: with only n given, 3/3 and 10/10 have the same p-value; given the denominator they do not."""
    reference = [0.12, 0.18, 0.35, 0.35]
    three, ten = ConfusionMatrix(3, 0, 24, 23), ConfusionMatrix(10, 0, 20, 20)
    p3, p10 = (match_test(g, reference, "tpr", given="n").pvalue for g in (three, ten))
    assert p3 == approx(p10, rel=1e-12, abs=0)
    assert match_test(three, reference, "tpr").pvalue == approx(0.128, abs=5e-4)
    assert match_test(ten, reference, "tpr").pvalue == approx(0.0002, abs=5e-5)


@settings(max_examples=60)
@given(group=cells, reference=cells, null=st.sampled_from(sorted(NULLS)), given_=st.sampled_from(["margin", "n"]))
def test_equalized_odds_is_the_larger_of_two_distances(group: Any, reference: Any, null: Any, given_: Any) -> None:
    """Ties of the larger part are kept, whichever part it is."""
    group, reference = tuple(c // 3 for c in group), tuple(c // 2 for c in reference)
    observed = score("equalized_odds", group, reference)
    assume(observed is not None and min(reference) > 0)
    assert observed is not None
    pooled = [a + b for a, b in zip(group, reference, strict=True)]
    weight = laws(pooled if null == "pooled" else list(reference))[NULLS[null]]
    lower = upper = total = Fraction(0)
    for c in matrices(sum(group)):
        left = tuple(p - k for p, k in zip(pooled, c, strict=True)) if null == "pooled" else reference
        if (given_ == "margin" and c[0] + c[1] != group[0] + group[1]) or min(left) < 0:
            continue
        s = score("equalized_odds", c, left)
        if s is not None:
            total += weight(c)
            lower += weight(c) if s <= observed + 1e-12 else 0
            upper += weight(c) if s >= observed - 1e-12 else 0
    r = match_test(ConfusionMatrix(*group), ConfusionMatrix(*reference), "equalized_odds", null=null, given=given_)
    assert r.percentile == approx(float(lower / total), rel=1e-10, abs=0)
    assert r.pvalue == approx(float(upper / total), rel=1e-10, abs=0)


@pytest.mark.parametrize(
    ("k", "n", "j", "m"), [(300, 300, 30, 900), (0, 250, 800, 900), (190, 200, 40, 2000), (500, 520, 9, 700)]
)
def test_pooled_tails_keep_their_digits(k: int, n: int, j: int, m: int) -> None:
    """P(K >= k) and P(K <= k) for a hypergeometric K, in integers, down to 1e-250."""
    ways = [comb(k + j, i) * comb(n + m - k - j, n - i) for i in range(n + 1)]
    total = comb(n + m, n)
    group, reference = ConfusionMatrix(k, n - k, 0, 0), ConfusionMatrix(j, m - j, 0, 0)
    for alternative, chosen in (("greater", ways[k:]), ("less", ways[: k + 1])):
        expected = float(Fraction(sum(chosen), total))
        found = match_test(group, reference, "tpr", alternative=cast("Any", alternative)).pvalue
        assert found == approx(expected, rel=1e-8, abs=0)


def test_a_group_like_its_reference_does_not_differ_by_being_too_alike() -> None:
    r = match_test(ConfusionMatrix(15, 10, 20, 55), ConfusionMatrix(150, 100, 200, 550), "equalized_odds")
    assert r.pvalue == approx(1)


@pytest.mark.parametrize(
    ("group", "reference", "key", "options"),
    [
        ((1, 4, 4, 1), (990, 10, 10, 990), "dor", {}),
        ((3, 0, 0, 17), (10, 10, 500, 9500), "mcc", {"null": "known", "given": "n"}),
        ((8, 2, 1, 9), (990, 10, 10, 990), "lr_plus", {"given": "n"}),
    ],
)
def test_scores_that_are_rarely_defined_still_have_an_answer(
    group: Any, reference: Any, key: str, options: Any
) -> None:
    r = match_test(ConfusionMatrix(*group), ConfusionMatrix(*reference), key, **options)
    assert 0 < r.pvalue <= 1
    assert 0 < r.smallest_pvalue <= 1


@pytest.mark.many
@every_metric
@pytest.mark.parametrize("null", NULLS)
def test_a_reference_without_a_score_is_a_result_or_a_refusal(m: Any, null: NullName) -> None:
    for reference in ((116, 0, 0, 2429), (0, 0, 1, 0), (0, 4, 5, 6), (3, 6, 2, 4)):
        for group in ((3, 1, 0, 6), (1, 1, 0, 0), (2, 3, 0, 0)):
            try:
                r = match_test(ConfusionMatrix(*group), ConfusionMatrix(*reference), m, null=null)
            except InvalidInput:
                assert null == "known"
                continue
            assert isnan(r.pvalue) == (r.reason is not None)
            assert isnan(r.pvalue) or 0 < r.pvalue <= 1
            assert 0 <= r.p_undefined <= 1


@every_metric
def test_the_probability_of_an_undefined_score_counts_both_groups(m: Any) -> None:
    for group, reference in (((1, 1, 2, 0), (1, 1, 0, 1)), ((0, 0, 0, 3), (0, 1, 2, 0)), ((2, 1, 1, 1), (3, 2, 1, 2))):
        pooled = [a + b for a, b in zip(group, reference, strict=True)]
        weight = laws(pooled)["without_replacement"]
        expected = Fraction(0)
        for c in matrices(sum(group)):
            left = tuple(p - k for p, k in zip(pooled, c, strict=True))
            if min(left) >= 0 and score(m.key, c, left) is None:
                expected += weight(c)
        r = match_test(ConfusionMatrix(*group), ConfusionMatrix(*reference), m)
        assert r.p_undefined == approx(float(expected), abs=1e-12)


def test_an_undefined_score_is_a_result() -> None:
    r = match_test(ConfusionMatrix(0, 0, 2, 3), ConfusionMatrix(116, 177, 554, 2429), "tpr", null="known")
    assert isnan(r.pvalue)
    assert isnan(r.percentile)
    assert r.reason == "no actual positives (TP + FN = 0)"
    assert r.p_undefined == approx(0.626, abs=5e-4)
    assert str(r) == (
        "MATCH test of True positive rate (tpr), group of 5 against a reference of 3,276\n"
        "  undefined     no actual positives (TP + FN = 0)\n"
        "  probability   62.6 %"
    )


@every_metric
def test_an_empty_group_is_undefined(m: Any) -> None:
    r = match_test(ConfusionMatrix(0, 0, 0, 0), REFERENCE, m)
    assert isnan(r.pvalue)
    assert r.reason is not None
    assert r.p_undefined == 1


def test_the_result_prints_as_a_short_block() -> None:
    r = match_test(ConfusionMatrix(3, 1, 0, 6), ConfusionMatrix(116, 177, 554, 2429), "tpr")
    assert str(r) == (
        "MATCH test of True positive rate (tpr), group of 10 against a reference of 3,276\n"
        "  score         0.75, of 4 actual positives\n"
        "  reference     0.3959; expected 0.4007 under the null\n"
        "  p-value       0.3568 (two-sided)\n"
        "  percentile    97.5 % of groups score this or lower\n"
        "  smallest p    0.04999 is the smallest attainable p-value\n"
        "  null          group and reference share their rates, given the 4 actual positives\n"
        "  method        exact"
    )


def test_a_known_reference_that_is_too_small_is_pointed_out() -> None:
    assert "\n  caution       a reference of fewer than 10 n cases is not a known truth: rejects too often" in str(
        match_test(GROUP, REFERENCE, "acc", null="known")
    )
    assert "caution" not in str(match_test(GROUP, REFERENCE, "acc"))


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: match_test(ConfusionMatrix(1.5, 1, 1, 1), REFERENCE, "tpr"), InvalidInput,
         "the group must hold whole counts, since a test counts cases; got ConfusionMatrix(tp=1.5, fn=1, fp=1, tn=1): "
         "smoothed cells are not tested"),
        (lambda: match_test(GROUP, ConfusionMatrix(1.5, 1, 1, 1), "tpr"), InvalidInput,
         "the reference must hold whole counts, since a test counts cases; got ConfusionMatrix(tp=1.5, fn=1, fp=1, "
         "tn=1): smoothed cells are not tested"),
        (lambda: match_test(cast("Any", (1, 2, 3, 4)), REFERENCE, "tpr"), InvalidInput,
         "the group must be a ConfusionMatrix of counts; got (1, 2, 3, 4)"),
        (lambda: match_test(GROUP, [0.1, 0.2, 0.3, 0.3], "tpr"), InvalidInput,
         "the four probabilities tp, fn, fp, tn must sum to 1; got 0.9"),
        (lambda: match_test(GROUP, [0.25] * 4, "tpr", null="predictive"), InvalidInput,
         "null='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities"),
        (lambda: match_test(GROUP, [0.25] * 4, "ofi"), InvalidInput,
         "ofi compares two groups; pass the reference as a ConfusionMatrix of counts"),
        (lambda: match_test(GROUP, ConfusionMatrix(5, 0, 3, 3), "tpr", null="known"), InvalidInput,
         "the group's tpr is impossible under the reference's rates, since the reference has an empty cell; "
         "pass counts and use null='pooled' or null='predictive'"),
        (lambda: match_test(ConfusionMatrix(1, 1, 0, 0), [1, 0, 0, 0], "tpr"), InvalidInput,
         "the group's tpr is impossible under the reference's rates, since the reference has an empty cell; "
         "pass counts and use null='pooled' or null='predictive'"),
        (lambda: match_test(ConfusionMatrix(1, 1, 0, 0), ConfusionMatrix(0, 4, 5, 6), "mcc_limit", null="known"),
         InvalidInput,
         "the group's mcc_limit is impossible under the reference's rates, since the reference has an empty cell; "
         "pass counts and use null='pooled' or null='predictive'"),
        (lambda: match_test(ConfusionMatrix(10, 0, 2, 8), ConfusionMatrix(0, 0, 50, 450), "kappa", null="known"),
         InvalidInput,
         "the reference has no cases in TP + FN, so there is no rate to compare the group's kappa with; choose another "
         "reference, or null='pooled'"),
        (lambda: match_test(GROUP, ConfusionMatrix(0, 0, 0, 0), "tpr"), InvalidInput,
         "the reference is empty (n = 0); the group cannot be compared with it"),
        (lambda: match_test(GROUP, REFERENCE, "tpr", method="montecarlo", rng=-1), InvalidInput,
         "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
        (lambda: match_test(GROUP, REFERENCE, "tpr", method="montecarlo", draws=0), InvalidInput,
         "draws must be a whole number above 0; got 0"),
        (lambda: match_test(GROUP, REFERENCE, "tpr", method="beta"), InvalidInput,
         "method='beta' takes the reference's rates as known; use null='known', or method='exact'"),
        (lambda: match_test(GROUP, ConfusionMatrix(0, 0, 3, 3), "tpr", null="known"), InvalidInput,
         "the reference's tpr is undefined, no actual positives (TP + FN = 0), so there is no rate to compare with; "
         "choose another reference, or null='pooled'"),
        (lambda: match_test(GROUP, REFERENCE, "mcc", method="normal"), InvalidInput,
         "method='normal' is for shares and marginal benefit, not for mcc; use method='exact'"),
        (lambda: match_test(GROUP, REFERENCE, "mcc", null="known", method="beta"), InvalidInput,
         "method='beta' is for ratios of two parts, not for mcc; use method='exact'"),
        (lambda: match_test(GROUP, REFERENCE, "tpr", alternative=cast("Any", "lower")), UnknownName,
         "no alternative is called 'lower'; known: two-sided, less, greater"),
        (lambda: match_test(GROUP, REFERENCE, "tpr", null=cast("Any", "pool")), UnknownName,
         "no null is called 'pool'; did you mean 'pooled'?"),
    ],
)  # fmt: skip
def test_what_cannot_be_tested_is_explained(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()


def test_the_exact_test_of_many_cases_is_the_sum_over_actual_positives_and_tp() -> None:
    """P(MCC >= s) = Σ P(p) P(tp | p) P(FP <= x | n - p), with x found by trying all counts that are not improbable."""
    n, cm, rates = 1500, (245, 130, 275, 850), [0.15, 0.10, 0.20, 0.55]

    def score(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        return (tp * tn - fp * fn) / np.sqrt((tp + fn) * (fp + tn)) / np.sqrt((tp + fp) * (fn + tn))

    def window(size: float, rate: float) -> Any:
        reach = 9 * np.sqrt(size * rate * (1 - rate))
        return np.arange(np.floor(size * rate - reach), np.ceil(size * rate + reach) + 1)

    observed, total = score(*cm), 0.0
    for p in window(n, 0.25):
        tp, fp = window(p, 0.6), window(n - p, 0.2 / 0.75)
        reached = score(tp[:, None], p - tp[:, None], fp, n - p - fp) >= observed * (1 - 1e-13)
        # Scores fall with FP.
        x = fp[0] + reached.sum(axis=1) - 1
        total += binom.pmf(p, n, 0.25) * float(binom.pmf(tp, p, 0.6) @ binom.cdf(x, n - p, 0.2 / 0.75))
    r = match_test(ConfusionMatrix(*cm), rates, "mcc", null="known", given="n", alternative="greater")
    assert r.pvalue == approx(total, rel=1e-10)


def test_detection_agrees_with_the_p_value_of_a_score_that_far_away() -> None:
    """r.detects(d) is true exactly if an outcome at the reference's score ± d, or beyond, has p <= level."""
    rest = ConfusionMatrix(300, 100, 120, 480)
    for k in (2, 5, 10, 20, 40, 80):
        r = match_test(ConfusionMatrix(3 * k // 4, k - 3 * k // 4, 8, 30), rest, "tpr")
        d = r.distribution
        for gap in (0.05, 0.1, 0.2, 0.25):
            low, high = d.cdf(0.75 - gap), d.sf(0.75 + gap) + d.pmf(0.75 + gap)
            expected = 0 < 2 * low <= 0.05 or (0.75 + gap <= 1 and 0 < 2 * high <= 0.05)
            assert r.detects(gap) == expected, (k, gap)


@pytest.mark.parametrize("key", ["acc", "tpr", "f1"])
def test_large_groups_detect_what_exact_tails_say(key: str) -> None:
    """Where a bound decides without the exact tail, the exact tail agrees."""
    cm, rest = ConfusionMatrix(3000, 1200, 900, 7400), ConfusionMatrix(21000, 8000, 6000, 53000)
    r = match_test(cm, rest, key)
    for gap in (0.002, 0.01, 0.02, 0.05):
        exact = 2 * min(r.distribution.cdf(r.reference_score - gap), r.distribution.sf(r.reference_score + gap)) <= 0.05
        assert r.detects(gap) == exact
