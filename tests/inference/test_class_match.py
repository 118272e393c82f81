"""The MATCH test of K classes, against listing every matrix and against the test of two classes."""

from __future__ import annotations

from fractions import Fraction
from math import comb, isnan, prod
from re import escape
from typing import Any

import mpmath
import numpy as np
import oracle
import pytest
from class_oracle import Table, against_rest, all_tables, as_mp, averaged, overall, tables
from hypothesis import given
from pytest import approx

import evenhand as eh
from evenhand.inference import Question, match_each
from evenhand.metrics import summary_of

ONE_GROUP = [m.key for m in eh.list_metrics() if m.groups == 1]


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


@pytest.mark.slow
@given(table=tables(2, 20), other=tables(2, 20))
def test_binary_is_the_case_of_two_classes(table: Table, other: Table) -> None:
    """Smoothed cells and exact p-values of K = 2 are those of the 2x2 matrix, to 1e-12."""
    cm, reference = matrix(table, ["no", "yes"]), matrix(other, ["no", "yes"])
    (tn, fp), (fn, tp) = table
    binary = eh.ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)
    (rtn, rfp), (rfn, rtp) = other
    rest = eh.ConfusionMatrix(tp=rtp, fn=rfn, fp=rfp, tn=rtn)
    if rest.n:
        smoothed, raw = eh.cross_prior_smooth(cm, reference, 7), eh.cross_prior_smooth(binary, rest, 7)
        assert smoothed.binary("yes").cells == approx(raw.cells, rel=1e-12, abs=1e-12)
        assert smoothed.shrinkage == approx(raw.shrinkage, rel=1e-12)
        for key in ("acc", "tpr", "mcc", "kappa", "balanced_accuracy"):
            label = "yes" if key == "tpr" else None
            ours = eh.match_test(cm, reference, key, label=label)
            theirs = eh.match_test(binary, rest, key)
            assert ours.method == "exact"
            assert ours.pvalue == approx(theirs.pvalue, rel=1e-9, abs=1e-12, nan_ok=True)
            assert ours.percentile == approx(theirs.percentile, rel=1e-9, abs=1e-12, nan_ok=True)
            assert ours.p_undefined == approx(theirs.p_undefined, rel=1e-9, abs=1e-12)


GROUP: Table = [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
REST: Table = [[4, 1, 1], [0, 3, 2], [1, 0, 5]]
METHODS: Any = ("exact", "montecarlo")


def null_law(
    null: str, n: int, group: Table, rest: Table, prior: Fraction = Fraction(1, 2)
) -> dict[tuple[tuple[int, ...], ...], Fraction]:
    """The exact probability of every matrix of n cases under a null."""
    k = len(group)
    mine, theirs = ([cell for row in t for cell in row] for t in (group, rest))
    law: dict[tuple[tuple[int, ...], ...], Fraction] = {}
    for table in all_tables(n, k):
        flat = tuple(cell for row in table for cell in row)
        if null == "pooled":
            pooled = [a + b for a, b in zip(mine, theirs, strict=True)]
            p = Fraction(prod(comb(t, c) for t, c in zip(pooled, flat, strict=True)), comb(sum(pooled), n))
        elif null == "known":
            p = oracle.multinomial(flat, theirs)
        else:
            p = oracle.dirichlet_multinomial(flat, [Fraction(t) + prior for t in theirs])
        if p:
            law[tuple(map(tuple, table))] = p
    assert sum(law.values()) == 1
    return law


def exact_test(score: Any, observed: Table, law: Any, alternative: str) -> tuple[float, float, float]:
    """The p-value, the percentile and the probability of an undefined score, by listing every matrix."""
    at = score(observed)
    below = same_ = above = gone = Fraction(0)
    for table, p in law.items():
        value = score([list(row) for row in table])
        if value is None:
            gone += p
        elif abs(value - at) < mpmath.mpf(10) ** -40:
            same_ += p
        elif value < at:
            below += p
        else:
            above += p
    low, high = ((below + same_) / (1 - gone), (above + same_) / (1 - gone))
    p = {"less": low, "greater": high, "two-sided": min(Fraction(1), 2 * min(low, high))}[alternative]
    return float(p), float(low), float(gone)


@pytest.mark.slow
@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_test_of_accuracy_and_of_micro_averages_is_exact(null: Any, alternative: Any) -> None:
    """The p-value is that of listing all matrices of n cases, for every metric of the catalogue."""
    cm, reference = matrix(GROUP), matrix(REST)
    law = null_law(null, 5, GROUP, REST)
    expected = exact_test(lambda t: overall("acc", t), GROUP, law, alternative)
    found = eh.match_test(cm, reference, "acc", null=null, alternative=alternative)
    assert (found.method, found.denominator, found.error, found.draws, found.rng) == ("exact", None, 0.0, None, None)
    assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10)
    for key in ONE_GROUP:
        found = eh.match_test(cm, reference, key, average="micro", null=null, alternative=alternative)
        assert found.method == "exact"
        if averaged(key, GROUP, "micro") is None:
            assert isnan(found.pvalue) and found.reason is not None
        else:
            expected = exact_test(lambda t, key=key: averaged(key, t, "micro"), GROUP, law, alternative)
            assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10, abs=1e-14)


@pytest.mark.many
@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
@pytest.mark.parametrize(
    ("key", "average"),
    [
        ("acc", "macro"),
        ("inacc", "macro"),
        ("prev", "macro"),
        ("mb", "macro"),
        ("tpr", "weighted"),
        ("fnr", "weighted"),
    ],
)
def test_means_that_depend_only_on_correct_cases_are_tested_exactly(null: Any, key: str, average: Any) -> None:
    """Macro accuracy is 1 - 2 (1 - accuracy) / K, macro prevalence 1 / K, and weighted recall accuracy."""
    law = null_law(null, 5, GROUP, REST)
    for alternative in ("two-sided", "less", "greater"):
        expected = exact_test(lambda t: averaged(key, t, average), GROUP, law, alternative)
        for undefined in ("propagate", "omit"):
            found = eh.match_test(
                matrix(GROUP),
                matrix(REST),
                key,
                average=average,
                null=null,
                alternative=alternative,
                undefined=undefined,
            )
            assert (found.method, found.denominator, found.average) == ("exact", None, average)
            assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10)
            assert found.statistic == approx(float(averaged(key, GROUP, average)), rel=1e-12)


def test_a_mean_of_two_classes_that_omits_one_is_not_tested_as_one_of_both() -> None:
    """Balanced accuracy over the classes with cases is defined where that of the 2x2 matrix is not."""
    cm, reference = matrix([[3, 2], [0, 0]]), matrix([[20, 5], [3, 6]])
    found = eh.match_test(cm, reference, "balanced_accuracy", undefined="omit", draws=500)
    assert (found.method, found.statistic, found.reason) == ("montecarlo", 0.6, None)
    assert 0 < found.pvalue <= 1
    assert isnan(eh.match_test(cm, reference, "balanced_accuracy").pvalue)


def test_a_score_that_no_simulated_group_has_is_not_tested() -> None:
    """One case of each of 8 classes beside thousands of one: random groups of 8 lack a class."""
    group, rest = np.eye(8, dtype=int), np.zeros((8, 8), dtype=int)
    rest[0, 0] = 5_000
    found = eh.match_test(matrix(group), matrix(rest), "tpr", average="macro", draws=50)
    assert (found.statistic, found.p_undefined, isnan(found.pvalue)) == (1.0, 1.0, True)
    why = "not tested: no simulated group of 50 has a defined macro tpr; use more draws, or undefined='omit'"
    assert found.reason == why
    assert str(found).splitlines()[1:] == ["  score         1", f"  p-value       none: {why}"]
    kappa = eh.match_test(matrix(group[:3, :3]), matrix(rest[:3, :3] * 10**5), "kappa", draws=9)
    assert kappa.reason == "not tested: no simulated group of 9 has a defined kappa; use more draws"


@pytest.mark.parametrize("mid_p", [False, True])
def test_the_standard_error_is_that_of_the_p_value_over_seeds(mid_p: bool) -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    for alternative in ("less", "greater"):
        found = [
            eh.match_test(
                cm, reference, "f1", average="weighted", alternative=alternative, mid_p=mid_p, rng=seed, draws=100
            )
            for seed in range(300)
        ]
        spread = float(np.std([r.pvalue for r in found]))
        assert np.mean([r.error for r in found]) == approx(spread, rel=0.15)


@pytest.mark.parametrize("key", ["tpr", "ppv", "f1", "mcc", "acc"])
def test_the_test_of_a_class_is_that_of_its_matrix_against_the_rest(key: str) -> None:
    cm, reference = matrix(GROUP, list("abc")), matrix(REST, list("abc"))
    for c, label in enumerate("abc"):
        mine, theirs = (eh.ConfusionMatrix(*against_rest(t, c)) for t in (GROUP, REST))
        for given_ in ("margin", "n"):
            ours = eh.match_test(cm, reference, key, label=label, given=given_)
            binary = eh.match_test(mine, theirs, key, given=given_)
            for name in ("pvalue", "percentile", "statistic", "reference_score", "p_undefined"):
                assert getattr(ours, name) == approx(getattr(binary, name), nan_ok=True, rel=1e-12), name
            assert (ours.method, ours.reason, ours.label) == ("exact", binary.reason, label)
            assert (ours.denominator, ours.distribution) == (binary.denominator, binary.distribution)
            assert ours.smallest_pvalue == approx(binary.smallest_pvalue, nan_ok=True, rel=1e-12)
        for settings in (
            {"null": "known"}, {"null": "predictive", "prior": 3}, {"mid_p": True}, {"alternative": "less"},
            {"alternative": "greater", "given": "n"},
        ):  # fmt: skip
            chosen: Any = settings
            ours = eh.match_test(cm, reference, key, label=label, **chosen)
            binary = eh.match_test(mine, theirs, key, **chosen)
            assert ours.pvalue == approx(binary.pvalue, nan_ok=True, rel=1e-12), settings


def test_the_prior_of_the_predictive_null_counts_in_every_cell() -> None:
    """Three cases in each of the 9 cells: 9 in correct cells and 18 in the others."""
    law = null_law("predictive", 5, GROUP, REST, Fraction(3))
    options: Any = {"null": "predictive", "prior": 3, "draws": 20_000}
    expected = exact_test(lambda t: overall("acc", t), GROUP, law, "less")
    found = eh.match_test(matrix(GROUP), matrix(REST), "acc", alternative="less", **options)
    assert (found.pvalue, found.percentile, found.p_undefined) == approx(expected, rel=1e-10)
    kappa, _, gone = exact_test(lambda t: overall("kappa", t), GROUP, law, "less")
    found = eh.match_test(matrix(GROUP), matrix(REST), "kappa", alternative="less", **options)
    assert abs(found.pvalue - kappa) <= 4 * found.error
    assert abs(found.p_undefined - gone) < 0.01


@pytest.mark.parametrize(("key", "average"), [("acc", None), ("f1", "micro"), ("tpr", "weighted"), ("f1", "weighted")])
def test_mid_p_counts_half_of_the_observed_score(key: str, average: Any) -> None:
    """Mid-p of one side is half of P(S <= s) - P(S >= s) + 1; the draws are those of the plain p-value."""
    cm, reference = matrix(GROUP), matrix(REST)

    def p(alternative: Any, mid_p: bool) -> float:
        found = eh.match_test(cm, reference, key, average=average, alternative=alternative, mid_p=mid_p, draws=5_000)
        return found.pvalue

    for one, other in (("less", "greater"), ("greater", "less")):
        assert p(one, True) == approx((p(one, False) - p(other, False) + 1) / 2, abs=3e-4)
    assert p("two-sided", True) == approx(2 * min(p("less", True), p("greater", True)), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
def test_what_is_simulated_comes_close_to_listing_every_matrix(null: Any) -> None:
    """|p - exact p| <= 4 standard errors, with the seed, the draws and the standard error in the result."""
    cm, reference = matrix(GROUP), matrix(REST)
    law = null_law(null, 5, GROUP, REST)
    group = GROUP
    scores: Any = [("mcc", None), ("kappa", None), ("f1", "weighted"), ("jaccard", "macro"), ("acc", "weighted")]
    for key, average in scores:

        def score(t: Table, key: str = key, average: Any = average) -> Any:
            found = averaged(key, t, average) if average else overall(key, t)
            return None if found is None else as_mp(found)

        for alternative in ("two-sided", "less", "greater"):
            p, percentile, gone = exact_test(score, group, law, alternative)
            found = eh.match_test(
                cm, reference, key, average=average, null=null, alternative=alternative, rng=3, draws=20_000
            )
            assert (found.method, found.draws, found.rng) == ("montecarlo", 20_000, 3)
            assert abs(found.pvalue - p) <= 4 * found.error + 1e-4
            assert 0 < found.error < 0.01
            assert abs(found.percentile - percentile) < 0.015
            assert abs(found.p_undefined - gone) < 0.015


def test_a_simulated_p_value_is_never_0_and_repeats_with_its_seed() -> None:
    """p = (r + 1) / (B + 1), doubled if two-sided."""
    good, bad = matrix(np.eye(3, dtype=int) * 300), matrix((1 - np.eye(3, dtype=int)) * 20)
    found = eh.match_test(bad, good, "mcc", draws=99, alternative="less")
    assert found.pvalue == approx(1 / 100, rel=1e-12)
    assert eh.match_test(bad, good, "mcc", draws=99).pvalue == approx(2 / 100, rel=1e-12)
    assert eh.match_test(bad, good, "mcc", draws=99, alternative="greater").pvalue == 1.0
    cm, reference = matrix(GROUP), matrix(REST)
    one = eh.match_test(cm, reference, "mcc", draws=500, rng=5)
    assert one == eh.match_test(cm, reference, "mcc", draws=500, rng=5)
    assert one.pvalue == eh.match_test(cm, reference, "mcc", draws=500, rng=np.random.default_rng(5)).pvalue
    assert one.rng == 5
    for unknown in (np.random.default_rng(5), None):
        assert eh.match_test(cm, reference, "mcc", draws=500, rng=unknown).rng is None


def test_scores_that_are_simulated_together_are_the_same_as_alone() -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    scores: Any = [("mcc", None, None), ("acc", None, None), ("f1", "weighted", None), ("tpr", None, 0)]
    summaries = [summary_of(eh.metric(key), cm.labels, average, label) for key, average, label in scores]
    together = match_each(cm, reference, summaries, Question(draws=300, rng=1))
    alone = [eh.match_test(cm, reference, m, average=a, label=c, draws=300, rng=1) for m, a, c in scores]
    assert together == alone
    assert [r.method for r in together] == ["montecarlo", "exact", "montecarlo", "exact"]


def test_what_is_exact_can_be_simulated() -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    for how in ({}, {"label": 1}, {"average": "micro"}):
        chosen: Any = how
        exact, drawn = (
            eh.match_test(cm, reference, "acc", method=method, draws=20_000, **chosen) for method in METHODS
        )
        assert (exact.method, drawn.method, drawn.draws) == ("exact", "montecarlo", 20_000)
        assert abs(drawn.pvalue - exact.pvalue) <= 4 * drawn.error


def test_a_score_of_all_classes_has_no_distribution() -> None:
    found = eh.match_test(matrix(GROUP), matrix(REST), "f1", average="macro", draws=50)
    assert isnan(found.expected) and isnan(found.smallest_pvalue)
    assert found.to_dict()["smallest_pvalue"] is None
    sentence = "the distribution of macro f1 is not known; pass a class as label= for that of one"
    for refused in (lambda: found.distribution, lambda: found.detects(0.1), found.plot):
        with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
            refused()


def test_a_class_without_cases_leaves_a_mean_untested_or_left_out() -> None:
    cm, reference = matrix([[2, 1, 0], [0, 3, 0], [0, 0, 0]]), matrix(REST)
    found = eh.match_test(cm, reference, "tpr", average="macro", draws=200)
    assert isnan(found.pvalue) and isnan(found.statistic)
    assert found.reason == "undefined for 1 of 3 classes: 2, no actual positives (TP + FN = 0)"
    assert "undefined for 1 of 3 classes" in str(found)
    omitted = eh.match_test(cm, reference, "tpr", average="macro", undefined="omit", draws=200)
    assert 0 < omitted.pvalue <= 1
    assert isnan(eh.match_test(matrix(np.zeros((3, 3))), reference, "acc").pvalue)
    assert isnan(eh.match_test(matrix(np.zeros((3, 3))), reference, "mcc", draws=10).pvalue)


def test_the_result_of_a_test_says_how_it_was_found() -> None:
    cm, reference = matrix(GROUP, list("abc")), matrix(REST, list("abc"))
    text = str(eh.match_test(cm, reference, "mcc", draws=500, rng=7))
    head = "MATCH test of Matthews correlation coefficient (mcc), group of 5 against a reference of 17"
    assert text.splitlines()[0] == head
    assert "method        montecarlo, approximate: 500 draws (rng 7), standard error" in text
    assert "smallest p" not in text and "expected" not in text
    assert "(rng" not in str(eh.match_test(cm, reference, "mcc", draws=500, rng=None))
    exact = str(eh.match_test(cm, reference, "acc"))
    assert exact.endswith("null          group and reference share their rates, given n\n  method        exact")
    of_one = str(eh.match_test(cm, reference, "tpr", label="a"))
    assert "given the 2 actual positives" in of_one and "smallest p" in of_one
    assert eh.match_test(cm, reference, "tpr", label="a").name == "tpr of 'a' against the rest"


def test_groups_that_cannot_be_tested_are_refused() -> None:
    cm, reference = matrix(GROUP), matrix(REST)
    whole = "must be a MulticlassConfusion of whole counts; got"
    for change, sentence in (
        ({"cm": matrix([[1, 2], [3, 4]])},
         "the reference must have the same labels in the same order (0, 1); got 0, 1, 2"),
        ({"reference": matrix(np.zeros((3, 3)))},
         "the reference is empty (n = 0); the group cannot be compared with it"),
        ({"cm": eh.cross_prior_smooth(cm, reference, 5)},
         f"the group {whole} <SmoothedClasses: 3 classes, n = 5, strength 5>"),
        ({"reference": 3}, f"the reference {whole} 3"),
        ({"draws": 0}, "draws must be a whole number above 0; got 0"),
        ({"rng": -1}, "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
        ({"method": "beta"}, "method='beta' is for two classes, or for one against the rest; pass a class as label="),
        ({"null": "predictive", "prior": 0},
         "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 0"),
        ({"null": "xyz"}, "no null is called 'xyz'; known: pooled, known, predictive"),
        ({"metric": "acc", "null": "known", "reference": matrix(np.eye(3))},
         "the group's acc is impossible under the reference's rates, since the reference has only correct cases; use "
         "null='pooled' or null='predictive'"),
        ({"metric": "acc", "null": "known", "reference": matrix(1 - np.eye(3))},
         "the group's acc is impossible under the reference's rates, since the reference has no correct cases; use "
         "null='pooled' or null='predictive'"),
    ):  # fmt: skip
        arguments: Any = {"cm": cm, "reference": reference, "metric": "mcc"} | change
        with pytest.raises(eh.errors.InvalidInput, match=f"^{escape(sentence)}$"):
            eh.match_test(**arguments)
