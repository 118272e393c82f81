"""Intervals of scores: what they leave out, what they hold, and how they print."""

from __future__ import annotations

import re
from math import isnan
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from pytest import approx
from scipy.stats import beta, binom, multinomial

from evenhand import ConfusionMatrix, MulticlassConfusion, cross_prior_smooth, interval, metric
from evenhand.errors import InvalidInput
from evenhand.inference import score_intervals
from evenhand.inference.intervals import posterior
from evenhand.metrics import CATALOGUE

SMALL, EMPTY, LARGE = ConfusionMatrix(3, 2, 1, 9), ConfusionMatrix(0, 2, 0, 30), ConfusionMatrix(400, 300, 250, 5000)
REFERENCE = ConfusionMatrix(116, 177, 554, 2429)
one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)


@one_group
@pytest.mark.parametrize("cm", [SMALL, EMPTY, LARGE], ids=["small", "empty cells", "large"])
def test_an_interval_has_the_quantiles_of_the_posterior_and_the_score_inside(m: Any, cm: ConfusionMatrix) -> None:
    found = interval(cm, m, level=0.9, prior=0.5)
    belief = posterior(m, np.array([cm.cells], dtype=np.float64), 0.5)
    low, high = (float(belief.end(0.05, above)[0]) for above in (False, True))
    expected = (low, high) if isnan(found.estimate) else (min(low, found.estimate), max(high, found.estimate))
    assert (found.low, found.high) == approx(expected, rel=1e-12)
    assert found.method == "Beta(0.5, 0.5) prior on each split"


@pytest.mark.parametrize(
    ("key", "a", "b"), [("tpr", 3.5, 2.5), ("acc", 12.5, 3.5), ("ppv", 3.5, 1.5), ("prev", 5.5, 10.5)]
)
def test_rates_have_beta_quantiles(key: str, a: float, b: float) -> None:
    """Jeffreys: k of n is Beta(k + 1/2, n - k + 1/2), whatever the cells are that k is made of."""
    found = interval(SMALL, key, prior=0.5)
    assert (found.low, found.high) == approx((beta.ppf(0.025, a, b), beta.ppf(0.975, a, b)), rel=1e-9)


def test_three_of_four_is_three_of_four() -> None:
    """As TPR, as PPV and as accuracy: the same counts have the same interval."""
    found = [interval(ConfusionMatrix(3, 1, 0, 0), key) for key in ("tpr", "acc", "jaccard")]
    found.append(interval(ConfusionMatrix(3, 0, 1, 5), "ppv"))
    assert [(i.low, i.high) for i in found] == [approx((found[0].low, found[0].high), rel=1e-12)] * 4


def test_f1_is_a_rate_in_disguise() -> None:
    """F1 = 2x / (1 + x) with x = TP / (TP + FP + FN)."""
    x = beta.ppf([0.025, 0.975], 3.5, 3.5)
    found = interval(SMALL, "f1", prior=0.5)
    assert (found.low, found.high) == approx(tuple(np.asarray(2 * x / (1 + x))), rel=1e-9)


counts = st.sampled_from([0, 0, 1, 2, 3, 7, 30, 999, 10**5, 10**6])


@pytest.mark.slow
@settings(max_examples=12)
@given(cells=st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=2))
@example(cells=[(100_000, 3, 3, 0), (1, 0, 0, 0), (0, 0, 0, 10**6)])
def test_every_score_lies_in_its_own_interval(cells: Any) -> None:
    array = np.array(cells, dtype=np.float64)
    for m in CATALOGUE.one_group:
        scores = m.scores(array)
        for level in (0.05, 0.95):
            low, high = score_intervals(m, array, level)
            assert ((low <= scores) & (scores <= high) | np.isnan(scores)).all(), m.key
            assert ((m.low <= low) & (low <= high) & (high <= m.high)).all(), m.key


def test_a_nearly_perfect_mcc_is_in_its_interval() -> None:
    """MCC of (100000, 3, 3, 0) is -3e-5, while nearly all of its posterior lies above 0."""
    found = interval(ConfusionMatrix(100_000, 3, 3, 0), "mcc")
    assert found.estimate == approx(-3e-5, rel=1e-3)
    assert found.estimate in found


def test_a_reference_steadies_the_interval() -> None:
    """With a reference and a strength, the posterior is Dirichlet(cells + strength * proportions)."""
    steady = interval(SMALL, "tpr", reference=REFERENCE, strength=20)
    share = 20 * REFERENCE.proportions
    expected = beta.ppf([0.025, 0.975], 3 + share[0], 2 + share[1])
    assert (steady.low, steady.high) == approx(tuple(np.asarray(expected)), rel=1e-9)
    assert steady.method == "CPS prior, strength 20"
    split = interval(SMALL, "tpr", reference=REFERENCE, strength={"prev": 1, "tpr": 20, "fpr": 3})
    assert split.method == "CPS prior, strength prev 1, tpr 20, fpr 3"
    assert interval(SMALL, "tpr", reference=REFERENCE, strength="auto").high == approx(
        beta.ppf(0.975, 3 + share[0] / 4, 2 + share[1] / 4), rel=1e-9
    )


@pytest.mark.parametrize("reference", [REFERENCE, ConfusionMatrix(30, 30, 40, 40)], ids=["rare", "even"])
def test_a_strength_per_split_steadies_each_rate_by_its_own(reference: ConfusionMatrix) -> None:
    """Each rate is Beta(k + λr, n - k + λ(1 - r)), r that of the reference; accuracy follows, in 200,000 draws."""
    strength = {"prev": 1, "tpr": 20, "fpr": 3}
    ours = {"prev": (5, 10), "tpr": (3, 2), "fpr": (1, 9)}
    tp, fn, fp, tn = reference.cells
    theirs = {"prev": (tp + fn) / reference.n, "tpr": tp / (tp + fn), "fpr": fp / (fp + tn)}
    laws = {
        key: beta(k + strength[key] * theirs[key], misses + strength[key] * (1 - theirs[key]))
        for key, (k, misses) in ours.items()
    }
    for key, law in laws.items():
        found = interval(SMALL, key, reference=reference, strength=strength)
        assert (found.low, found.high) == approx((law.ppf(0.025), law.ppf(0.975)), abs=1e-4)
    rng = np.random.default_rng(0)
    prev, tpr, fpr = (laws[key].rvs(200_000, random_state=rng) for key in ("prev", "tpr", "fpr"))
    drawn = np.quantile(prev * tpr + (1 - prev) * (1 - fpr), [0.025, 0.975])
    found = interval(SMALL, "acc", reference=reference, strength=strength)
    assert (found.low, found.high) == approx(tuple(drawn), abs=0.005)


def test_an_undefined_score_still_has_an_interval() -> None:
    found = interval(ConfusionMatrix(0, 0, 2, 6), "tpr")
    assert isnan(found.estimate)
    assert (found.low, found.high) == (0.0, 1.0)
    assert str(found) == "tpr undefined, 95 % interval 0 to 1"


@pytest.mark.parametrize(("n", "least"), [(5, 0.90), (10, 0.925), (20, 0.925), (50, 0.925)])
def test_intervals_of_rates_cover_almost_at_their_level(n: int, least: float) -> None:
    """Listed over all counts, for rates from 0 to 1: the smallest coverage is about 93 %."""
    array = np.array([(k, n - k, 0, 0) for k in range(n + 1)], dtype=np.float64)
    low, high = score_intervals(cast("Any", metric("tpr")), array, 0.95)
    rates = np.linspace(0, 1, 2001)
    inside = (low <= rates[:, None]) & (rates[:, None] <= high)
    assert (binom.pmf(np.arange(n + 1), n, rates[:, None]) * inside).sum(axis=1).min() >= least


@pytest.mark.slow
@pytest.mark.parametrize("key", ["mcc", "kappa", "informedness", "mb", "balanced_accuracy"])
def test_intervals_of_several_rates_cover_a_nearly_perfect_classifier(key: str) -> None:
    """All tables of 20 cases: accuracy .99 with prevalence .3 or .05, where MCC was covered in 82 %."""
    m = cast("Any", metric(key))
    tables = np.array([(a, b, c, 20 - a - b - c) for a in range(21) for b in range(21 - a) for c in range(21 - a - b)])
    for prevalence in (0.3, 0.05):
        truth = np.array([0.99 * prevalence, 0.01 * prevalence, 0.01 * (1 - prevalence), 0.99 * (1 - prevalence)])
        chance = multinomial(20, truth).pmf(tables)
        likely = chance > 1e-6
        low, high = score_intervals(m, tables[likely].astype(np.float64), 0.95)
        score = float(m.scores(truth))
        assert chance[likely][(low <= score) & (score <= high)].sum() / chance[likely].sum() >= 0.92


def test_intervals_know_what_they_hold() -> None:
    assert 0.6 in interval(SMALL, "tpr")
    assert 0.01 not in interval(SMALL, "tpr")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: interval(SMALL, "tpr", level=95), "level must lie between 0 and 1; got 95"),
        (lambda: interval(SMALL, "tpr", prior=0),
         "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 0"),
        (lambda: interval(SMALL, "ofi"), "ofi compares two groups; use disparity() with the one-group metric"),
        (lambda: interval(EMPTY, "tpr", reference=ConfusionMatrix(0, 1, 1, 1)),
         "a cell is empty in the group and in the reference, so its posterior rate would be exactly 0; choose a "
         "reference without empty cells and a strength above 0, or leave out the reference"),
        (lambda: interval(SMALL, "tpr", reference=REFERENCE, strength=-1),
         "strength must be a number of cases from 0 to 1e9, one per split, or 'auto'; got -1"),
        (lambda: interval(SMALL, "tpr", cast("Any", "a")), "level must lie between 0 and 1; got 'a'"),
        (lambda: interval(cast("Any", (1, 2, 3, 4)), "tpr"), "the group must be a ConfusionMatrix; got (1, 2, 3, 4)"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


CLASSES = MulticlassConfusion([[6, 2, 0], [1, 4, 0], [0, 1, 1]], labels=["cat", "dog", "fox"])
OTHERS = MulticlassConfusion([[80, 6, 4], [5, 60, 5], [4, 3, 43]], labels=["cat", "dog", "fox"])


@one_group
def test_a_class_has_the_interval_of_its_matrix_against_the_rest(m: Any) -> None:
    for label, cells in (("cat", (6, 2, 1, 6)), ("fox", (1, 1, 0, 13))):
        ours, binary = interval(CLASSES, m, 0.9, label=label), interval(ConfusionMatrix(*cells), m, 0.9)
        assert (ours.low, ours.high, ours.estimate) == approx((binary.low, binary.high, binary.estimate), nan_ok=True)
        assert (ours.metric, ours.level, ours.method, ours.label) == (m, 0.9, binary.method, label)


def test_accuracy_of_all_classes_has_the_interval_of_a_share() -> None:
    """11 of 15 are correct, by mid-p; with a reference of 183 of 210 that is worth 20, Beta(11 + 17.4, ...)."""
    for key, a, b in (("acc", 11, 4), ("inacc", 4, 11)):
        found = interval(CLASSES, key)
        assert found.estimate == approx(a / 15)
        assert a + b == 15
        # P(more) + P(a)/2 at the lower end, and P(fewer) + P(a)/2 at the upper.
        assert binom.sf(a, 15, found.low) + binom.pmf(a, 15, found.low) / 2 == approx(0.025, rel=1e-6)
        assert binom.cdf(a - 1, 15, found.high) + binom.pmf(a, 15, found.high) / 2 == approx(0.025, rel=1e-6)
    share = 20 * 183 / 210
    steady = interval(CLASSES, "acc", reference=OTHERS, strength=20)
    law = beta(11 + share, 24 - share)
    assert (steady.low, steady.high) == approx((law.ppf(0.025), law.ppf(0.975)), rel=1e-9)
    assert str(interval(CLASSES, "tpr", label="cat")) == (
        "tpr of 'cat' against the rest 0.75, 95 % interval 0.3883 to 0.9557"
    )


@pytest.mark.parametrize("key", ["acc", "inacc", "mcc", "kappa", "balanced_accuracy"])
def test_two_classes_have_the_interval_of_the_2x2_matrix(key: str) -> None:
    ours = interval(MulticlassConfusion.from_array([[30, 6], [4, 9]]), key)
    binary = interval(ConfusionMatrix(tp=9, fn=4, fp=6, tn=30), key)
    assert (ours.low, ours.high, ours.estimate) == approx((binary.low, binary.high, binary.estimate), abs=1e-12)
    assert ours.label is None


NONE = (
    "there is no interval of {} over 3 classes, since the law of a score that is made of several classes is not known; "
    "pass one as label=, or score acc"
)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: interval(CLASSES, "f1", average="macro"), NONE.format("macro f1")),
        (lambda: interval(CLASSES, "acc", average="micro"), NONE.format("micro acc")),
        (lambda: interval(CLASSES, "mcc"), NONE.format("mcc")),
        (lambda: interval(CLASSES, "tpr"), "tpr scores one class against the rest; pass a class as label= or an "
         "average=; only acc, inacc, mcc, balanced_accuracy, kappa have a definition for all classes at once"),
        (lambda: interval(SMALL, "tpr", label=1),
         "average and label are for a MulticlassConfusion, which counts several classes"),
        (lambda: interval(cross_prior_smooth(CLASSES, OTHERS, 3), "acc"),
         "interval() takes unsmoothed counts; pass reference= and strength= for a smoothed interval"),
        (lambda: interval(CLASSES, "acc", reference=MulticlassConfusion.from_array([[1, 1], [1, 1]])),
         "the reference must have the same labels in the same order ('cat', 'dog', 'fox'); got 0, 1"),
        (lambda: interval(CLASSES, "acc", reference=OTHERS, strength={"prev": 1, "tpr": 1, "fpr": 1}),
         "one strength per split is for 2x2 matrices; pass one number for K x K cells"),
    ],
)  # fmt: skip
def test_what_has_no_interval_says_why(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


@pytest.mark.parametrize(
    ("key", "cells"),
    [("lr_plus", (34, 0, 0, 30)), ("dor", (30, 0, 0, 30)), ("dor", (36, 0, 39, 35)), ("lr_minus", (1, 3, 2, 0))],
)
def test_a_score_that_may_be_infinite_has_a_finite_lower_end(key: str, cells: tuple[int, ...]) -> None:
    """Half of the mass of an empty cell is at infinity; the lower end is where 2.5 % of random rates lie below."""
    found = interval(ConfusionMatrix(*cells), key)
    tp, fn, fp, tn = cells
    rng = np.random.default_rng(5)

    def rates(a: int, b: int) -> Any:
        upper = rng.random(400_000) < 0.5
        first, second = a + upper, b + ~upper
        with np.errstate(invalid="ignore"):
            return np.where(
                first == 0, 0.0, np.where(second == 0, 1.0, rng.beta(np.maximum(first, 1), np.maximum(second, 1)))
            )

    tpr, fpr = rates(tp, fn), rates(fp, tn)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = {
            "lr_plus": tpr / fpr,
            "lr_minus": (1 - tpr) / (1 - fpr),
            "dor": tpr / (1 - tpr) * ((1 - fpr) / fpr),
        }[key]
    assert np.isinf(found.high)
    assert np.mean(drawn <= found.low) == approx(0.025, abs=0.002)
