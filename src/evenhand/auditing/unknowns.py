"""Cases without a group: what a comparison would be, however they belonged.

They are in no group and in no reference. For each comparison of counts: the range of score and gap over all ways to
assign them, the range if each belongs to the group as often as known cases with the same label and prediction do, and
how few of them would turn a verdict that the group is higher or lower.

A rate of x of n cases, with s unknown successes and f unknown failures, lies between x / (n + f) and (x + s) / (n + s).
A gap is largest if the group has all unknown successes and the reference all failures. Scores made of several rates are
searched over the counts of each cell. Where the same cases would have to be in group and reference at once, the range
of the gap is wider than any assignment allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS
from ..inference import counts_of, fisher
from ..metrics import Metric, OneGroup
from ..randomness import seed_of
from ..tabulate import UnitMatrix, ends_of, total
from .cell_measures import cells_of
from .comparisons import Comparison
from .measures import Measures
from .rounded_measures import corners
from .rows import Unknown
from .settings import ReferenceKind, Settings
from .verdicts import Verdict

__all__ = ["unknowns_of"]

Floats = NDArray[np.float64]
_DRAWS, _FEWEST_DRAWS, _MOST_DRAWN, _LIKELY = 2_000, 200, 400_000, 0.95
_STEPS = 9
# Up to so many cases that are moved, every way to move them is looked at; of more, some.
_MOST_LISTED = 4_096
_RANGES = (
    *("score_low", "score_high", "difference_low", "difference_high", "ratio_low", "ratio_high"),
    *("likely_low", "likely_high"),
)


def unknowns_of(measured: Measures, verdicts: Sequence[Verdict], adjusted: Floats, how: Settings) -> dict[int, Unknown]:
    """What is unknown of each comparison that leaves cases without a group out, by its place in the measure."""
    m = measured.metric
    if not isinstance(m, Metric) or m.comparisons:
        return {}
    rows = [
        i
        for i, who in enumerate(measured.comparisons)
        if who.is_of_counts and who.unknown is not None and who.unknown.n and not who.strata and not who.is_reference
    ]
    places: dict[Any, list[int]] = {}
    for i in rows:
        places.setdefault(measured.comparisons[i].at, []).append(i)
    found: dict[int, Unknown] = {}
    for some in places.values():
        found |= _at_one_place(m, measured, some, verdicts, adjusted, how)
    return found


def _at_one_place(
    m: Metric, measured: Measures, rows: Sequence[int], verdicts: Sequence[Verdict], adjusted: Floats, how: Settings
) -> dict[int, Unknown]:
    """What is unknown of comparisons at one place on the axes; each place has its own random draws."""
    whos = [measured.comparisons[i] for i in rows]
    mine, theirs, unknown = (cells_of([getattr(who, name) for who in whos]) for name in ("own", "against", "unknown"))
    # A given matrix has no unknown cases.
    beside = unknown * np.array([[who.kind is not ReferenceKind.MATRIX] for who in whos])
    if how.rule is None:
        (least, most), (their_least, their_most) = _ends(m.base, mine, unknown), _ends(m.base, theirs, beside)
    else:
        least, most = _rounded_ends(m.base, whos, "own")
        their_least, their_most = _rounded_ends(m.base, whos, "against")
    with np.errstate(divide="ignore", invalid="ignore"):
        # The gap to all cases is not that to the others.
        apart = np.array([who.kind is not ReferenceKind.ALL for who in whos]) | (not m.base.is_rate)
        differences = [np.where(apart, gap, nan) for gap in (least - their_most, most - their_least)]
        positive = apart & (m.base.low >= 0)
        ratios = [np.where(positive, ratio, nan) for ratio in (least / their_most, most / their_least)]
    drawn = _likely(m.base, whos, mine, theirs, unknown, measured.kind, how)
    # What is likely, and what turns a verdict, takes cases for independent ones, and counts for exact.
    inexact = isinstance(whos[0].own, UnitMatrix) or how.rule is not None
    likely = [np.where(apart & (not inexact), end, nan) for end in drawn]
    found: dict[int, Unknown] = {}
    for k, i in enumerate(rows):
        turns = None
        if verdicts[i] in (Verdict.HIGHER, Verdict.LOWER) and m.base.curve is not None and not inexact:
            at = _threshold(float(measured.pvalue[i]), float(adjusted[i]), how.alpha)
            moved = mine[k], theirs[k], unknown[k], beside[k]
            turns = _turning(m.base, moved, bool(measured.higher[i]), at, how.mid_p)
        found[i] = Unknown(
            n=_could_count(m.base, unknown[k]),
            turns=turns,
            **{
                name: float(values[k]) if np.isfinite(values[k]) else None
                for name, values in zip(_RANGES, (least, most, *differences, *ratios, *likely), strict=True)
            },
        )
    return found


def _could_count(m: OneGroup, unknown: Floats) -> int:
    """How many unknown cases the score could rest on."""
    if m.curve is None:
        return int(unknown.sum())
    return int(counts_of(m, unknown[None])[1][0])


def _ends(m: OneGroup, cells: Floats, unknown: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest score over all ways to add unknown cases, or none; nan where none is defined."""
    if m.curve is None:
        return _searched(m, cells, unknown, np.nanmin), _searched(m, cells, unknown, np.nanmax)
    # The score rises with the share of the last split.
    counted, succeeds = (np.array([c in names for c in CELLS]) for names in (m.tree.last_of, m.tree.last))
    fails = counted & ~succeeds
    low, high = (m.scores(cells + unknown * side) for side in (fails, succeeds))
    # A rate that no known case counts is defined by those that are added.
    return np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)


def _rounded_ends(m: OneGroup, whos: Sequence[Comparison], name: str) -> tuple[Floats, Floats]:
    """The same over all tables that are rounded to the same counts; nan for scores made of several rates."""
    if m.curve is None:
        return np.full(len(whos), nan), np.full(len(whos), nan)
    beside = [[who.kind is not ReferenceKind.MATRIX or name == "own"] for who in whos]
    unknown = np.array([ends_of(who.unknown)[1] for who in whos], dtype=np.float64) * np.array(beside)
    low, high = (cells_of([corners(getattr(who, name), m, side) for who in whos]) for side in (False, True))
    return _ends(m, low, unknown)[0], _ends(m, high, unknown)[1]


def _searched(m: OneGroup, cells: Floats, unknown: Floats, best: Callable[..., Floats]) -> Floats:
    """The best score with some of the unknown cases of each cell, among a grid that is refined around the best."""
    found = np.full(len(cells), nan)
    for k, (own, more) in enumerate(zip(cells, unknown, strict=True)):
        low, high = np.zeros(4), more.copy()
        while True:
            steps = [np.unique(np.linspace(a, b, _STEPS).round()) for a, b in zip(low, high, strict=True)]
            grid = np.stack([axis.ravel() for axis in np.meshgrid(*steps, indexing="ij")], axis=1)
            scores = m.scores(own + grid)
            if np.isnan(scores).all():
                break
            found[k] = best([found[k], best(scores)])
            widest = max(float(np.diff(axis).max(initial=0.0)) for axis in steps)
            if widest <= 1:
                break
            at = grid[int(np.nanargmin(np.abs(scores - best(scores))))]
            low, high = np.maximum(at - widest, 0.0), np.minimum(at + widest, more)
    return found


def _likely(
    m: OneGroup,
    whos: Sequence[Comparison],
    mine: Floats,
    theirs: Floats,
    unknown: Floats,
    kind: str,
    how: Settings,
) -> tuple[Floats, Floats]:
    """The central range of the gap if unknown cases belong to groups as known ones with the same cell do."""
    rng = np.random.default_rng([seed_of(how.rng) or 0, len(mine)])
    everybody = cells_of([total(who.peers.values()) for who in whos])
    draws = max(_FEWEST_DRAWS, min(_DRAWS, _MOST_DRAWN // len(mine)))
    share = np.divide(mine, everybody, out=np.zeros_like(mine), where=everybody > 0)
    other = np.divide(theirs, everybody - mine, out=np.zeros_like(mine), where=everybody > mine)
    other *= np.array([[who.kind is not ReferenceKind.MATRIX] for who in whos])
    in_group = rng.binomial(unknown.astype(np.int64), share, size=(draws, *mine.shape))
    beside = rng.binomial(unknown.astype(np.int64) - in_group, np.clip(other, 0.0, 1.0))
    scores, others = (m.scores((cells + added).reshape(-1, 4)) for cells, added in ((mine, in_group), (theirs, beside)))
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = (scores - others if kind == "difference" else scores / others).reshape(draws, -1)
    tail = (1 - _LIKELY) / 2
    known = np.where(np.isnan(gaps).all(axis=0), 0.0, gaps)
    low, high = np.nanquantile(known, [tail, 1 - tail], axis=0)
    nothing = np.isnan(gaps).all(axis=0)
    return np.where(nothing, nan, low), np.where(nothing, nan, high)


def _threshold(p: float, adjusted: float, alpha: float) -> float:
    """The largest p-value that the adjustment, as it is, would leave at or below alpha."""
    return alpha * p / adjusted if adjusted > 0 else alpha


def _turning(
    m: OneGroup, cells: tuple[Floats, Floats, Floats, Floats], higher: bool, threshold: float, mid_p: bool
) -> int | None:
    """The fewest unknown cases that, put into group and reference, leave p above the threshold; None if none do.

    Those that turn "higher" are failures of the group and successes of the reference.
    """
    (x, n), (y, of_y), (s, both), (t, both_t) = (
        (float(found[0][0]), float(found[1][0])) for found in (counts_of(m, some[None]) for some in cells)
    )
    to_group, to_other = (both - s, t) if higher else (s, both_t - t)

    def turns(k: int) -> bool:
        a = np.arange(max(0, k - int(to_other)), min(k, int(to_group)) + 1, dtype=np.float64)
        if len(a) > _MOST_LISTED:
            a = np.unique(np.linspace(a[0], a[-1], _MOST_LISTED // 8).round())
        c = k - a
        mine, others = (x, y + c) if higher else (x + a, y)
        tails = fisher(np.broadcast_to(mine, a.shape) + 0.0, n + a, np.broadcast_to(others, a.shape) + 0.0, of_y + c)
        beyond = tails.upper if higher else tails.lower
        return bool((2 * (beyond - (tails.at / 2 if mid_p else 0.0)) > threshold * (1 + 1e-9)).any())

    most = int(to_group + to_other)
    if not most or not turns(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turns(middle) else (middle, high)
    return high
