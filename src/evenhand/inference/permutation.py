"""Permutation tests: who belongs to the group is exchanged at random.

If group and others are drawn alike, every division of the cases into the two is equally likely. Divisions are listed if
they are few, and otherwise drawn; the data then count as one more draw. Statistics that differ by rounding only are
ties (`evenhand.randomness`), here and wherever else a test draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..randomness import drawn_error, drawn_pvalue, reaches

__all__ = [
    "EFFORT",
    "Effort",
    "FunctionGap",
    "FunctionScore",
    "PValue",
    "drawn_test",
    "exact_test",
    "function_gap",
    "function_score",
    "permuted",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_BLOCK = 1_000_000


class PValue(NamedTuple):
    """A p-value, how it was found, and its standard error; None if it is exact, or if its error is not known."""

    pvalue: float
    method: str
    error: float | None


def drawn_test(
    statistics: ArrayLike, observed: float, *, scale: float | None = None, method: str = "permutation"
) -> PValue:
    """The test of an observed statistic beside those of random draws, of which large ones are extreme.

    ``scale`` is the size of the numbers whose difference the statistic is. A draw without a statistic is extreme.
    """
    found = np.asarray(statistics, dtype=np.float64)
    extreme = int(np.count_nonzero(np.isnan(found) | reaches(found, observed, scale)))
    p = drawn_pvalue(extreme, len(found))
    return PValue(p, method, drawn_error(p, len(found)))


def exact_test(
    statistics: ArrayLike,
    chances: Floats,
    observed: float,
    *,
    scale: float | None = None,
    method: str = "exact permutation",
) -> PValue:
    """The test of an observed statistic beside all that are possible and their probabilities."""
    return PValue(min(1.0, float(chances[reaches(statistics, observed, scale)].sum())), method, None)


@dataclass(frozen=True, slots=True)
class Effort:
    """How long draws may take: a few seconds by default.

    Attributes
    ----------
    most : int
        How many values may be permuted in all. Above it, approximations take the place of draws.
    large : int
        A group of fewer cases is drawn, however many draws are asked for.
    few, times : int
        Up to ``few`` cases, all are permuted. Above, a group that is outnumbered ``times`` times is drawn from them.
    """

    most: int = 20_000_000
    large: int = 100
    few: int = 500
    times: int = 5

    def draws_group(self, member: Bools, draws: int) -> bool:
        """Whether the group is small beside many others, so that drawing its cases is faster than permuting all."""
        cases, inside = len(member), int(np.count_nonzero(member))
        small = cases > self.few and self.times * inside <= cases
        return small or (inside < self.large and cases * draws > self.most)

    def approximates(self, member: Bools, draws: int) -> bool:
        """Whether the draws would take too long, for a group that can do without them."""
        inside = int(np.count_nonzero(member))
        values = inside if self.draws_group(member, draws) else len(member)
        return inside >= self.large and values * draws > self.most


EFFORT = Effort()


def permuted(member: Bools, within: list[Bools], draws: int, rng: np.random.Generator) -> Iterator[Bools]:
    """Memberships permuted within each of some sets of cases, in blocks of draws."""
    block = max(1, _BLOCK // len(member))
    for start in range(0, draws, block):
        members = np.tile(member, (min(block, draws - start), 1))
        for cases in within:
            members[:, cases] = rng.permuted(members[:, cases], axis=1)
        yield members


class FunctionScore(NamedTuple):
    """What a function of the user's own returns for some cases: a number, or nan and the reason."""

    score: float
    reason: str | None


class FunctionGap(NamedTuple):
    """A group beside all other cases by a function of the user's own.

    ``undefined_draws`` counts the draws in which the function had no value; they count as extreme. Without a score or a
    reference score there is a ``reason`` and no p-value.
    """

    score: float
    reference_score: float
    pvalue: float
    method: str
    error: float | None
    undefined_draws: int
    reason: str | None


def function_score(function: Callable[[Any, Any], Any], first: NDArray[Any], second: NDArray[Any]) -> FunctionScore:
    """A function of two columns on all their cases; what it raises becomes the reason, and warnings are silenced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _called(function, first, second)


def function_gap(
    function: Callable[[Any, Any], Any],
    member: Bools,
    first: NDArray[Any],
    second: NDArray[Any],
    *,
    draws: int,
    rng: np.random.Generator,
    told: Callable[[int], None] | None = None,
) -> FunctionGap:
    """Compare a group with all other cases by a function of two columns, which is called twice in every draw.

    The null is that the group is a random part of all cases, with both columns. ``told`` is called with the number of
    draws that are done.
    """

    def scores(inside: Bools) -> tuple[FunctionScore, FunctionScore]:
        group, others = (_called(function, first[some], second[some]) for some in (inside, ~inside))
        return group, others

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (score, own), (reference, other) = scores(member)
        if own or other:
            reason = f"the group has no value: {own}" if own else f"the reference has no value: {other}"
            return FunctionGap(score, reference, nan, "none", None, 0, reason)
        gaps = np.empty(draws)
        for draw in range(draws):
            if told is not None and draw % 100 == 0:
                told(draw)
            inside, outside = scores(rng.permuted(member))
            gaps[draw] = abs(inside.score - outside.score)
    found = drawn_test(gaps, abs(score - reference), scale=max(abs(score), abs(reference)))
    return FunctionGap(score, reference, *found, int(np.count_nonzero(np.isnan(gaps))), None)


def _called(function: Callable[[Any, Any], Any], first: NDArray[Any], second: NDArray[Any]) -> FunctionScore:
    try:
        returned = function(first, second)
    except Exception as error:
        said = _first_line(error)
        return FunctionScore(nan, f"the function raised {type(error).__name__}{': ' * bool(said)}{said}")
    try:
        if isinstance(returned, (str, bytes)):
            raise TypeError("a text that spells a number is no number")
        found = float(returned)
    except OverflowError:
        return FunctionScore(nan, "the function returned a number that is too large")
    except Exception:
        return FunctionScore(nan, f"the function returned a value of type {type(returned).__name__}, not a number")
    return FunctionScore(found, None) if isfinite(found) else FunctionScore(nan, f"the function returned {found}")


def _first_line(error: Exception) -> str:
    try:
        return next(iter(str(error).strip().splitlines()), "")
    except Exception:
        return ""
