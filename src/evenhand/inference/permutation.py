"""Permutation tests: whether a group is a random part of all cases.

If group and others come from one distribution, every division of the cases into the two is equally
likely. Divisions are listed if they are few, and otherwise drawn; the data then count as one more
draw, p = (1 + r) / (1 + B) for r of B draws that are at least as extreme, so that the level holds with
any number of draws. Statistics that differ only by rounding are ties (`evenhand.randomness`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Bools
from ..randomness import drawn_error, drawn_pvalue, reaches

_BLOCK = 1_000_000

#: A function of labels and predictions, or of labels and scores.
ScoreFunction = Callable[[Any, Any], Any]


class PValue(NamedTuple):
    """A p-value, its method, and its standard error; None if it is exact or not known."""

    pvalue: float
    method: str
    error: float | None


def drawn_test(statistics: ArrayLike, observed: float, scale: float | None = None) -> PValue:
    """Test an observed statistic against those of random draws; large ones are extreme.

    ``scale`` is the size of the numbers whose difference the statistic is. Undefined draws (nan)
    count as extreme.
    """
    drawn = np.asarray(statistics, dtype=np.float64)
    is_extreme = np.isnan(drawn) | reaches(drawn, observed, scale)
    pvalue = drawn_pvalue(int(np.count_nonzero(is_extreme)), len(drawn))
    return PValue(pvalue, "permutation", drawn_error(pvalue, len(drawn)))


@dataclass(frozen=True, slots=True)
class Effort:
    """How much work draws may take: a few seconds by default.

    Attributes
    ----------
    most : int
        How many values may be permuted in all. Above it, approximations replace draws.
    large : int
        A group of fewer cases is drawn, however many draws are requested.
    few, times : int
        Up to ``few`` cases, all are permuted. Above, a group that is outnumbered ``times`` times is
        drawn from them.
    """

    most: int = 20_000_000
    large: int = 100
    few: int = 500
    times: int = 5

    def draws_group(self, member: Bools, draws: int) -> bool:
        """Whether drawing the cases of a small group is faster than permuting all cases."""
        cases, n = len(member), int(np.count_nonzero(member))
        is_small = cases > self.few and self.times * n <= cases
        return is_small or (n < self.large and cases * draws > self.most)

    def approximates(self, member: Bools, draws: int) -> bool:
        """Whether draws would take too long, for a group that is large enough without them."""
        n = int(np.count_nonzero(member))
        values = n if self.draws_group(member, draws) else len(member)
        return n >= self.large and values * draws > self.most


EFFORT = Effort()


def permuted(
    member: Bools, within: list[Bools], draws: int, rng: np.random.Generator
) -> Iterator[Bools]:
    """Permute memberships within each of several sets of cases, in blocks of draws."""
    block = max(1, _BLOCK // len(member))
    for start in range(0, draws, block):
        members = np.tile(member, (min(block, draws - start), 1))
        for cases in within:
            members[:, cases] = rng.permuted(members[:, cases], axis=1)
        yield members


class FunctionScore(NamedTuple):
    """What a user's function returns for some cases: a number, or nan and the reason."""

    score: float
    reason: str | None


class FunctionGap(NamedTuple):
    """A group compared with all other cases by a user's function.

    ``undefined_draws`` counts the draws in which the function had no value; they count as extreme.
    Without a score or a reference score there is a ``reason`` and no p-value.
    """

    score: float
    reference_score: float
    pvalue: float
    method: str
    error: float | None
    undefined_draws: int
    reason: str | None


def function_score(
    function: ScoreFunction, first: NDArray[Any], second: NDArray[Any]
) -> FunctionScore:
    """Score all cases by a function of two columns; what it raises becomes the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned = function(first, second)
    except Exception as error:
        text = f"the function raised {type(error).__name__}{_first_line(error)}"
        return FunctionScore(nan, text)
    try:
        # Text that spells a number does not have this method.
        score = returned.__float__()
    except OverflowError:
        return FunctionScore(nan, "the function returned a number that is too large")
    except Exception:
        kind = f"a value of type {type(returned).__name__}, not a number"
        return FunctionScore(nan, f"the function returned {kind}")
    reason = None if isfinite(score) else f"the function returned {score}"
    return FunctionScore(score if reason is None else nan, reason)


def function_gap(
    function: ScoreFunction,
    member: Bools,
    first: NDArray[Any],
    second: NDArray[Any],
    *,
    draws: int,
    rng: np.random.Generator,
) -> FunctionGap:
    """Compare a group with all other cases by a function, which is called twice in every draw.

    The null is that the group is a random part of all cases, with both columns.
    """

    def scores(inside: Bools) -> list[FunctionScore]:
        sides = (inside, ~inside)
        return [function_score(function, first[side], second[side]) for side in sides]

    group, reference = scores(member)
    for name, (_, reason) in (("group", group), ("reference", reference)):
        if reason:
            text = f"the {name} has no value: {reason}"
            return FunctionGap(group.score, reference.score, nan, "none", None, 0, text)
    gaps = np.empty(draws)
    for draw in range(draws):
        drawn, others = scores(rng.permuted(member))
        gaps[draw] = abs(drawn.score - others.score)
    scale = max(abs(group.score), abs(reference.score))
    test = drawn_test(gaps, abs(group.score - reference.score), scale)
    undefined_draws = int(np.isnan(gaps).sum())
    return FunctionGap(group.score, reference.score, *test, undefined_draws, None)


def _first_line(error: Exception) -> str:
    """The first line of a message, after a colon; nothing if it has none."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return ""
    return f": {lines[0]}" if lines else ""
