"""Intervals of scores: what they leave out, what they hold, and how they print."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
from matrices import matrix
from oracle import drawn_scores, refusal
from pytest import approx
from scipy.stats import beta, binom, multinomial

from evenhand import ConfusionMatrix, MulticlassConfusion, cross_prior_smooth, interval, metric
from evenhand.inference import score_intervals
from evenhand.metrics import ONE_GROUP_METRICS

SMALL, EMPTY, LARGE = matrix(3, 2, 1, 9), matrix(0, 2, 0, 30), matrix(400, 300, 250, 5000)
REFERENCE = matrix(116, 177, 554, 2429)


def ends(found: Any) -> Any:
    return approx((found.low, found.high), rel=1e-9)


def test_scores_of_one_rate_have_beta_quantiles() -> None:
    """Jeffreys: k of n is Beta(k + 1/2, n - k + 1/2), whatever cells k is made of; F1 = 2x / (1 + x) of Jaccard x."""
    for key, a, b in (("tpr", 3.5, 2.5), ("acc", 12.5, 3.5), ("ppv", 3.5, 1.5), ("prev", 5.5, 10.5), ("f1", 3.5, 3.5)):
        x: Any = beta.ppf([0.025, 0.975], a, b)
        assert tuple(2 * x / (1 + x) if key == "f1" else x) == ends(interval(SMALL, key, prior=0.5)), key
    for key, cells in (("acc", (3, 1, 0, 0)), ("jaccard", (3, 1, 0, 0)), ("ppv", (3, 0, 1, 5))):
        three_of_four = interval(matrix(3, 1, 0, 0), "tpr")
        assert (three_of_four.low, three_of_four.high) == ends(interval(matrix(*cells), key))


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


@pytest.mark.parametrize("reference", [REFERENCE, matrix(30, 30, 40, 40)], ids=["rare", "even"])
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
    found = interval(matrix(0, 0, 2, 6), "tpr")
    assert isnan(found.estimate)
    assert (found.low, found.high) == (0.0, 1.0)
    assert str(found) == "tpr undefined, 95% interval 0 to 1"


CLASSES = MulticlassConfusion([[6, 2, 0], [1, 4, 0], [0, 1, 1]], labels=["cat", "dog", "fox"])
OTHERS = MulticlassConfusion([[80, 6, 4], [5, 60, 5], [4, 3, 43]], labels=["cat", "dog", "fox"])


def test_a_class_and_two_classes_have_the_interval_of_the_2x2_matrix() -> None:
    two, pair = MulticlassConfusion.from_array([[30, 6], [4, 9]]), matrix(9, 4, 6, 30)
    pairs: list[Any] = [(CLASSES, m, "cat", matrix(6, 2, 1, 6)) for m in ONE_GROUP_METRICS]
    pairs += [(CLASSES, m, "fox", matrix(1, 1, 0, 13)) for m in ONE_GROUP_METRICS]
    pairs += [(two, metric(key), None, pair) for key in ("acc", "inacc", "mcc", "kappa", "balanced_accuracy")]
    for classes, m, label, cells in pairs:
        ours, binary = interval(classes, m, 0.9, label=label), interval(cells, m, 0.9)
        assert (ours.low, ours.high, ours.estimate) == approx((binary.low, binary.high, binary.estimate), nan_ok=True)
        assert (ours.metric, ours.confidence_level, ours.method, ours.label) == (m, 0.9, binary.method, label)


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
        "tpr of 'cat' against the rest 0.75, 95% interval 0.3883 to 0.9557"
    )


NONE = "there is no interval of {} over 3 classes; pass one as label=, or score acc"


def test_what_has_no_interval_says_why() -> None:
    split, pair = {"prev": 1, "tpr": 1, "fpr": 1}, MulticlassConfusion.from_array([[1, 1], [1, 1]])
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        (SMALL, "tpr", {"confidence_level": 95}, "confidence_level must lie between 0 and 1; got 95"),
        (SMALL, "tpr", {"confidence_level": "a"}, "confidence_level must lie between 0 and 1; got 'a'"),
        (SMALL, "tpr", {"prior": 0}, "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 0"),
        (SMALL, "ofi", {}, "ofi compares two groups; use a metric of one group, such as mb"),
        (EMPTY, "tpr", {"reference": matrix(0, 1, 1, 1)},
         "the reference must have cases in each cell that is empty in the group, and strength be above 0"),
        (SMALL, "tpr", {"reference": REFERENCE, "strength": -1},
         "strength must be 0 or a number of cases from 1e-9 to 1e9, one per split, or 'auto'; got -1"),
        ((1, 2, 3, 4), "tpr", {}, "a group must be a ConfusionMatrix; got (1, 2, 3, 4)"),
        (SMALL, "tpr", {"reference": 3},
         "the reference must have shape (..., 4), in the order tp, fn, fp, tn; got shape ()"),
        (CLASSES, "f1", {"average": "macro"}, NONE.format("macro f1")),
        (CLASSES, "acc", {"average": "micro"}, NONE.format("micro acc")),
        (CLASSES, "mcc", {}, NONE.format("mcc")),
        (CLASSES, "tpr", {}, "tpr scores one class against the rest; pass a class as label=, or an average="),
        (SMALL, "tpr", {"label": 1}, "average and label are for a MulticlassConfusion, which counts several classes"),
        (cross_prior_smooth(CLASSES, OTHERS, 3), "acc", {},
         "pass unsmoothed counts, with reference= and strength="),
        (CLASSES, "acc", {"reference": pair},
         "the reference must have the same labels in the same order (['cat', 'dog', 'fox']); got [0, 1]"),
        (CLASSES, "acc", {"reference": OTHERS, "strength": split},
         "strength must be one number for K x K cells; got {'prev': 1, 'tpr': 1, 'fpr': 1}"),
    ]  # fmt: skip
    for cm, key, options, sentence in refused:
        assert refusal(interval, cm, key, **options) == f"InvalidInput: {sentence}"


def test_a_score_lies_in_its_interval_and_that_in_the_range_of_the_metric() -> None:
    """MCC of (100000, 3, 3, 0) is -3e-5, while nearly all of its distribution lies above 0."""
    cells = np.array([(100_000, 3, 3, 0), (1, 0, 0, 0), (0, 0, 0, 10**6), (3, 2, 1, 9), (0, 7, 30, 0)], float)
    for m in ONE_GROUP_METRICS:
        scores = m.scores(cells)
        for level in (0.05, 0.95):
            low, high = score_intervals(m, cells, level)
            assert ((low <= scores) & (scores <= high) | np.isnan(scores)).all(), m.key
            assert ((m.low <= low) & (low <= high) & (high <= m.high)).all(), m.key
    assert 0.6 in interval(SMALL, "tpr")
    assert 0.01 not in interval(SMALL, "tpr")


def test_ends_of_several_rates_are_quantiles_of_mid_p_draws() -> None:
    """What is undefined or infinite counts to the tail that it may belong to."""
    for key, cells in (("mcc", (30, 20, 10, 60)), ("kappa", (5, 3, 2, 9)), ("dor", (30, 0, 0, 30)),
                       ("lr_plus", (34, 0, 0, 30))):  # fmt: skip
        i, drawn = interval(matrix(*cells), key), drawn_scores(key, cells, 1, 400_000, prior=None)
        assert np.mean(~(drawn > i.low)) == approx(0.025, abs=0.003), key
        assert np.isinf(i.high) or np.mean(~(drawn < i.high)) == approx(0.025, abs=0.003), key


def test_rates_are_covered_by_at_least_91_percent_at_every_size() -> None:
    """The smallest of 999 rates and of 5 to 40 cases is 91.2% (6 cases); docs say 91%."""
    smallest = 1.0
    for n in range(5, 41):
        x = np.arange(n + 1.0)
        low, high = score_intervals(metric("acc").base, np.stack([x, n - x, 0 * x, 0 * x], axis=1), 0.95)
        for rate in np.arange(1, 1000) / 1000:
            is_inside = (low <= rate + 1e-12) & (rate - 1e-12 <= high)
            smallest = min(smallest, float(binom.pmf(x, n, rate)[is_inside].sum()))
    assert 0.912 < smallest < 0.913


@pytest.mark.parametrize("n", [8, 12])
def test_kappa_of_wrong_predictions_is_covered(n: int) -> None:
    """All cells, multinomial: kappa of a classifier that is always wrong was covered by 25% of intervals."""
    cells = np.array(
        [(a, b, c, n - a - b - c) for a in range(n + 1) for b in range(n + 1 - a) for c in range(n + 1 - a - b)]
    )
    low, high = score_intervals(metric("kappa").base, cells.astype(float), 0.95)
    for prev, tpr, fpr in (
        (0.5, 0, 1),
        (0.5, 0.01, 0.99),
        (0.5, 0.05, 1),
        (0.3, 0, 0.9),
        (0.5, 0.3, 0.7),
        (0.1, 0, 0.5),
    ):
        p = [prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)]
        observed, chance = p[0] + p[3], prev * (p[0] + p[2]) + (1 - prev) * (p[1] + p[3])
        kappa = (observed - chance) / (1 - chance)
        weights = multinomial(n, p).pmf(cells)
        assert weights[(low <= kappa + 1e-9) & (kappa - 1e-9 <= high)].sum() > 0.9, (prev, tpr, fpr)


def test_intervals_without_errors_or_cases_are_whole_ranges() -> None:
    assert ends(interval(matrix(0, 0, 0, 0), "mcc_limit")) == (-1, 1)
    for cells in ((0, 3, 0, 5), (0, 0, 0, 0)):
        assert interval(matrix(*cells), "te_part").high == np.inf
    assert interval(matrix(0, 3, 2, 5), "te_part").high < 100
