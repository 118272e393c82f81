"""Gaming: what stopping and passing are by listing every sequence, and the sizes that can be exploited."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binom

import evenhand as eh
from evenhand.errors import InvalidInput

LARGE = eh.ConfusionMatrix(300, 100, 120, 480)
TRUTH = (0.2, 0.25, 0.15, 0.4)


@pytest.mark.parametrize(
    ("key", "cut", "side"),
    [("acc", 0.75, "at least"), ("fpr", 0.5, "at most"), ("mcc", 0.3, "at least"), ("mb", 0, "at least")],
)
def test_stopping_and_passing_are_what_listing_every_sequence_gives(key: str, cut: float, side: Any) -> None:
    """Every sequence of cases, and whether its score passes at one of the sizes."""
    sizes, m = range(3, 7), eh.metric(key)
    passed, ever = dict.fromkeys(sizes, 0.0), 0.0
    known: dict[tuple[int, ...], bool] = {}
    for cases in product(range(4), repeat=6):
        weight = float(np.prod([TRUTH[c] for c in cases]))
        good = []
        for n in sizes:
            cells = tuple(cases[:n].count(c) for c in range(4))
            if cells not in known:
                score = m(eh.ConfusionMatrix(*cells))
                known[cells] = score >= cut - 1e-12 if side == "at least" else score <= cut + 1e-12
            good.append(known[cells])
            passed[n] += weight * known[cells]
        ever += weight * any(good)
    found = eh.exploitable_sizes(key, TRUTH, cut, sizes)
    assert found.passing == side
    assert found.chances == approx(list(passed.values()))
    assert found.p_stopping == approx(ever)
    assert found.best == max(passed, key=lambda n: passed[n])
    assert found.gain == approx(max(passed.values()) - np.mean(list(passed.values())))
    for cm in found.configurations:
        assert known.get(tuple(int(c) for c in cm.cells), True)


def test_sizes_at_which_the_threshold_is_a_whole_number_can_be_exploited() -> None:
    found = eh.exploitable_sizes("acc", [0.35, 0.15, 0.15, 0.35], 0.8, range(5, 41))
    assert found.exploitable == tuple(range(5, 41, 5))
    for n, more in zip(found.exploitable, found.advantages, strict=True):
        at = [binom.sf(-(-4 * k // 5) - 1, k, 0.7) for k in (n - 1, n, n + 1)]
        assert more == approx(at[1] - (at[0] + at[2]) / 2)
    at_threshold = {k: abs(binom.sf(-(-4 * k // 5) - 1, k, 0.8) - 0.5) for k in range(4, 42)}
    assert found.preferred == tuple(
        k for k in range(5, 41) if at_threshold[k] < min(at_threshold[k - 1], at_threshold[k + 1]) - 1e-9
    )


def test_the_four_fifths_rule_is_a_threshold_on_the_groups_rate() -> None:
    """P(k / n >= 0.8 * 0.42) for a group that is selected at 0.3."""
    found = eh.exploitable_sizes("disparate_impact", LARGE, 0.8, range(5, 30), truth=[0.2, 0.1, 0.1, 0.6])
    cut = Fraction(8, 10) * Fraction(42, 100)
    wanted = [sum(binom.pmf(k, n, 0.3) for k in range(n + 1) if Fraction(k, n) >= cut) for n in range(5, 30)]
    assert found.chances == approx(wanted)
    assert found.true_score == approx(0.3 / 0.42)
    assert eh.exploitable_sizes("acc", LARGE, 0.8, [150]).p_stopping is not None
    assert eh.exploitable_sizes("mcc", LARGE, 0.5, [300]).p_stopping is None


def refusals() -> Iterator[tuple[Any, str]]:
    yield (
        lambda: eh.exploitable_sizes("acc", LARGE, 1.2),
        "threshold must lie in the range of acc, 0 to 1; got 1.2",
    )
    yield (
        lambda: eh.exploitable_sizes("acc", LARGE, 0.8, truth=LARGE),
        "acc is a metric of one group, whose true rates are the reference's; leave truth out",
    )
    yield (
        lambda: eh.exploitable_sizes("equalized_odds", LARGE, 0.1),
        "equalized_odds is the largest of several differences; take one of them at a time",
    )
    yield (
        lambda: eh.exploitable_sizes("tpr", [0, 0, 0.5, 0.5], 0.8),
        "tpr is always undefined: no actual positives (TP + FN = 0)",
    )


@pytest.mark.parametrize(("refused", "sentence"), list(refusals()))
def test_an_impossible_request_gets_one_sentence(refused: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        refused()
    assert str(problem.value) == sentence
