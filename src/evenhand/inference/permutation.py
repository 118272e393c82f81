"""Permutation tests: whether a group is a random part of all cases.

If group and others come from one distribution, every division of the cases into the two is equally
likely. Divisions are drawn; the data then count as one more draw, p = (1 + r) / (1 + B) for r of B
draws that are at least as extreme, so that the level holds with any number of draws. Statistics that
differ only by rounding are ties (`evenhand.randomness`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from ..arrays import Array, Bools, Floats, Integers
from ..randomness import drawn_error, drawn_pvalue, reaches

#: A function of labels and predictions, or of labels and scores.
ScoreFunction = Callable[[Any, Any], Any]

#: The statistics of groups, from the indices of their cases and of those of the others.
Statistics = Callable[[Integers, Integers], Floats]

#: How many values may be permuted in all, which takes a few seconds.
MAX_VALUES = 20_000_000
# A group of fewer cases is never approximated, however many draws are requested.
_LARGE = 100
# Up to so many cases, all are permuted. Above, a group that is outnumbered so many times is drawn.
_FEW, _TIMES = 500, 5
# About how many values are permuted, and how many are used for statistics, at once.
_BLOCK, _CACHED = 1_000_000, 50_000


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
    pvalue = drawn_pvalue(int(is_extreme.sum()), len(drawn))
    return PValue(pvalue, "permutation", drawn_error(pvalue, len(drawn)))


def draws_group(member: Bools) -> bool:
    """Whether drawing the cases of a small group is faster than permuting all cases."""
    return len(member) > max(_FEW, _TIMES * int(member.sum()) - 1)


def takes_too_long(member: Bools, draws: int) -> bool:
    """Whether a group large enough for an approximation would take more than a few seconds."""
    n = int(member.sum())
    values = n if draws_group(member) else len(member)
    return n >= _LARGE and values * draws > MAX_VALUES


def permutation_test(
    statistics: Statistics, member: Bools, classes: list[Bools], draws: int, rng: Generator
) -> PValue:
    """Test a group by random groups with as many cases of each class.

    ``statistics`` gets arrays with the indices of cases: a row per group, and those of the others.
    To draw a small group from many cases is faster than to permute all. Then all cases stand for
    the others.
    """
    cases, n = np.arange(len(member)), int(member.sum())
    is_small = draws_group(member)
    others = cases if is_small else cases[~member]
    values = [statistics(cases[None, member], others[None])]
    parts = [(cases[chosen], int(member[chosen].sum())) for chosen in classes]
    draw = partial(rng.choice, replace=False, shuffle=False)
    block = max(1, _BLOCK // (n if is_small else len(cases)))
    step = max(1, _CACHED // len(cases))
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        if is_small:
            groups = [np.concatenate([draw(*part) for part in parts]) for _ in range(rows)]
            values.append(statistics(np.sort(groups, axis=1), others[None]))
            continue
        members = np.tile(member, (rows, 1))
        for chosen in classes:
            members[:, chosen] = rng.permuted(members[:, chosen], axis=1)
        for first in range(0, rows, step):
            part = members[first : first + step]
            values.append(statistics(_list_cases(part), _list_cases(~part)))
    observed, *drawn = np.concatenate(values)
    return drawn_test(drawn, float(observed))


def _list_cases(members: Bools) -> Integers:
    """The indices of the cases in each of some groups of one size, in order."""
    first = members.shape[1] * np.arange(len(members))[:, None]
    return np.asarray(np.flatnonzero(members).reshape(len(members), -1) - first)


class FunctionGap(NamedTuple):
    """A group compared with all other cases by a user's function.

    Without a score or a reference score there is a ``reason`` and no p-value.
    """

    score: float
    reference_score: float
    pvalue: float
    method: str
    error: float | None
    reason: str | None


def function_score(function: ScoreFunction, *columns: Array) -> tuple[float, str | None]:
    """Score all cases by a function of two columns: a number, or nan and the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned = function(*columns)
    except Exception as error:
        message = ""
        # The exception may have no text, or raise another when it is asked for it.
        with suppress(Exception):
            message = f": {str(error).strip().splitlines()[0]}"
        return nan, f"the function raised {type(error).__name__}{message}"
    try:
        # Text that spells a number does not have this method.
        score = returned.__float__()
    except OverflowError:
        return nan, "the function returned a number that is too large"
    except Exception:
        kind = type(returned).__name__
        return nan, f"the function returned a value of type {kind}, not a number"
    return (score, None) if isfinite(score) else (nan, f"the function returned {score}")


def function_gap(
    function: ScoreFunction,
    member: Bools,
    first: Array,
    second: Array,
    *,
    draws: int,
    rng: Generator,
) -> FunctionGap:
    """Compare a group with all other cases by a function, which is called twice in every draw.

    The null is that the group is a random part of all cases, with both columns.
    """

    def score_sides(members: Bools) -> list[tuple[float, str | None]]:
        sides = members, ~members
        return [function_score(function, first[side], second[side]) for side in sides]

    (score, reason), (other, other_reason) = score_sides(member)
    if reason or other_reason:
        side = "group" if reason else "reference"
        text = f"the {side} has no value: {reason or other_reason}"
        return FunctionGap(score, other, nan, "none", None, text)
    drawn = (score_sides(rng.permuted(member)) for _ in range(draws))
    gaps = [abs(group - rest) for (group, _), (rest, _) in drawn]
    test = drawn_test(gaps, abs(score - other), max(abs(score), abs(other)))
    return FunctionGap(score, other, *test, None)
