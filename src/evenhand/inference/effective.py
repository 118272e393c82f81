"""How many independent cases are worth as much as dependent ones: cases of the same unit, such as a patient's images.

Cases of a unit share an intra-class correlation ρ, so that counts of units with m cases vary 1 + (m - 1)ρ times as much
as independent ones. Counts divided by this design effect, with m the mean size of the unit of a case, say as much of a
rate as the dependent ones do. Whole units are never split between a group and its reference.

The correlation of a rate is that of a beta-binomial law, by maximum likelihood under equal rates, which is what is
tested. Few units that all agree can come from equal rates and a high correlation, or from different rates and a low
one; taking the second for granted rejected up to 12 % of true hypotheses. It is at most what different rates leave
plausible (the upper limit of a one-sided 97.5 % likelihood interval), so that a gap that many units show is not taken
for correlation. If nothing is known of it, each unit counts as one case. A side whose own units are more alike than
that has its own correlation: 8 units with a correlation of .5 beside 200 with none were taken for independent ones.

Scores made of several rates have the largest of the correlations of their rates, and of their linear approximation,
from products of pairs of cases of a unit, plus one standard error. The latter alone rejected up to 14 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..metrics import OneGroup
from .equality import counts_of

__all__ = ["Effects", "effects_of"]

Floats = NDArray[np.float64]

# Correlations that are tried, closer together near 0.
_CORRELATIONS: Floats = np.linspace(0, 1, 57) ** 2
_RATES = 15
# Half of the square of a normal score of 1.96.
_PLAUSIBLE = 1.92
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Effects:
    """The design effects of a group and of its reference, and the correlation within the units of the group.

    ``independent`` says that no unit has more than one case, so that the effects are known to be 1.
    """

    group: float
    reference: float
    correlation: float
    independent: bool


def effects_of(m: OneGroup, group: Floats, reference: Floats) -> Effects:
    """The design effects of the cells of units, of shape (units, 4), of a group and of its reference.

    >>> from evenhand.metrics import metric
    >>> images = np.array([[5, 0, 0, 0], [0, 5, 0, 0], [5, 0, 0, 0], [4, 1, 0, 0]])
    >>> found = effects_of(metric("tpr").base, images, images)
    >>> round(found.correlation, 2), round(found.group, 2)
    (0.7, 3.82)
    """
    sides = (np.asarray(group, dtype=np.float64), np.asarray(reference, dtype=np.float64))
    if m.curve is None:
        sizes = [side.sum(axis=1) for side in sides]
        splits = [_splits(m, side) for side in sides]
        shared = max(_of_scores(m, sides), *(_of_rates(list(pair)) for pair in zip(*splits, strict=True)))
    else:
        splits = [[counts_of(m, side)] for side in sides]
        sizes = [of for ((_, of),) in splits]
        shared = _of_rates([counts for (counts,) in splits])
    first, second = (max(shared, *(_of_side(*split) for split in some)) for some in splits)
    effects = _effect(sizes[0], first), _effect(sizes[1], second)
    return Effects(*effects, first, all((size <= 1).all() for size in sizes))


def _splits(m: OneGroup, units: Floats) -> list[tuple[Floats, Floats]]:
    """Successes and sizes of the rates that a score is made of, by unit."""
    margin, side, last = m.tree.counts(units)
    found = [(np.asarray(last), np.asarray(m.tree.last_size(units.sum(axis=1), margin)))]
    return [*found, (np.asarray(side), np.asarray(margin))] if m.tree.side else found


def _effect(sizes: Floats, correlation: float) -> float:
    """The design effect of units of these sizes."""
    total = float(sizes.sum())
    return 1 + (float((sizes**2).sum()) / total - 1) * correlation if total else 1.0


def _of_rates(counts: Sequence[tuple[Floats, Floats]]) -> float:
    """The correlation of the rates of two sides, given successes and sizes of their units."""
    kept = [(x[of > 0], of[of > 0]) for x, of in counts if (of > 0).any()]
    if not any((of > 1).any() for _, of in kept):
        return 0.0
    spans = [_span(x, of) for x, of in kept]
    tails = [_tails(x, of) for x, of in kept]
    together = (min(low for low, _ in spans), max(high for _, high in spans))
    equal = np.sum([_likelihoods(tail, together) for tail in tails], axis=0).max(axis=0)
    apart = np.sum([_likelihoods(tail, span).max(axis=0) for tail, span in zip(tails, spans, strict=True)], axis=0)
    under_equal, best = _last_best(equal), _last_best(apart)
    plausible = int(np.flatnonzero(apart >= apart.max() - _PLAUSIBLE)[-1])
    return float(_CORRELATIONS[max(best, min(under_equal, plausible))])


def _of_side(x: Floats, of: Floats) -> float:
    """The most likely correlation of one side by itself; of several, the lowest, since the other side may know it."""
    kept = of > 0
    if not (of > 1).any():
        return 0.0
    likelihoods = _likelihoods(_tails(x[kept], of[kept]), _span(x[kept], of[kept])).max(axis=0)
    return float(_CORRELATIONS[int(np.flatnonzero(likelihoods >= likelihoods.max() - _SAME)[0])])


def _last_best(likelihoods: Floats) -> int:
    """The place of the largest likelihood; of several, the last, so that what is not known is taken to be high."""
    return int(np.flatnonzero(likelihoods >= likelihoods.max() - _SAME)[-1])


def _span(x: Floats, of: Floats) -> tuple[float, float]:
    """Rates between which the most likely one lies: that of cases, and the mean of units."""
    means = float(x.sum() / of.sum()), float((x / of).mean())
    return min(means), max(means)


def _tails(x: Floats, of: Floats) -> tuple[Floats, Floats, Floats]:
    """How many units have more than 0, 1, 2, … successes, failures and cases."""
    longest = int(of.max())

    def more_than(values: Floats) -> Floats:
        found = np.bincount(values.astype(np.int64), minlength=longest + 1)[::-1].cumsum()[::-1]
        return np.append(found[1:], 0.0)[:longest]

    return more_than(x), more_than(of - x), more_than(of)


def _likelihoods(tails: tuple[Floats, Floats, Floats], span: tuple[float, float]) -> Floats:
    """The log likelihoods of rates within a span and of all correlations.

    The product of the beta-binomial probabilities of units with x of m successes is that of p(1 - ρ) + jρ over j < x,
    of q(1 - ρ) + jρ over j < m - x, divided by that of 1 - ρ + jρ over j < m. So it needs only the numbers of units
    with more than j of each.
    """
    from scipy.special import xlogy

    successes, failures, cases = tails
    p = np.linspace(*span, _RATES)[:, None]
    first = xlogy(successes[0], p) + xlogy(failures[0], 1 - p)
    mixed = successes[0] + failures[0] - cases[0]
    total = first + xlogy(mixed, 1 - _CORRELATIONS)
    j = np.arange(1, len(cases))
    if not len(j):
        return np.asarray(total)
    # Where there are many, neighbours have nearly the same logarithm.
    starts, widths = _blocks(len(j))
    middle = starts + (widths - 1) / 2 + 1
    with np.errstate(divide="ignore"):
        for counts, rate in ((successes, p), (failures, 1 - p), (cases, np.ones((1, 1)))):
            inside = np.add.reduceat(counts[1:].astype(np.float64), starts)
            used = np.flatnonzero(inside)
            base = rate[..., None] * (1 - _CORRELATIONS)[:, None] + middle[used] * _CORRELATIONS[:, None]
            sign = -1.0 if counts is cases else 1.0
            # With no correlation, a rate of 0 has a likelihood only if it has no successes.
            total = total + sign * (np.log(base) @ inside[used])
    return np.asarray(np.where(np.isnan(total), -np.inf, total))


@lru_cache(maxsize=64)
def _blocks(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The starts and widths of blocks of neighbours: single ones at first, then of a fiftieth of their place."""
    starts, at = [], 0
    while at < n:
        starts.append(at)
        at += max(1, at // 50)
    ends = [*starts[1:], n]
    return np.array(starts), np.array(ends) - np.array(starts)


def _of_scores(m: OneGroup, sides: Sequence[Floats]) -> float:
    """The correlation of the linear approximation of a score, from products of pairs of cases of the same unit."""
    products = expected = pairs = weighted = 0.0
    for units in sides:
        sizes = units.sum(axis=1)
        n = float(sizes.sum())
        of_pairs = float((sizes * (sizes - 1)).sum())
        slopes = _slopes(m, units.sum(axis=0))
        if slopes is None or not of_pairs:
            continue
        alone = float((units * slopes**2).sum())
        among = float(((units @ slopes) ** 2).sum()) - alone
        # Slopes are 0 on average over the cases of a side, which takes away the part of one mean unit.
        lost = alone / n * (float((sizes**2).sum()) / n - 1)
        products += among + lost
        expected += alone / n * of_pairs
        pairs += of_pairs
        weighted += float((sizes**2 * (sizes - 1)).sum())
    if not pairs:
        return 1.0 if any((units.sum(axis=1) > 1).any() for units in sides) else 0.0
    found = min(max(products / expected, 0.0), 1.0) if expected > 0 else 1.0
    error = (1 - found) * (1 + (weighted / pairs - 1) * found) * np.sqrt(2 / pairs)
    return float(min(1.0, found + error))


def _slopes(m: OneGroup, cells: Floats) -> Floats | None:
    """How the score changes with each cell, relative to the number of cases; None if it is undefined."""
    at = cells + 0.5
    score = m.scores(at[None])
    steps = np.array([m.scores((at + step)[None])[0] - m.scores((at - step)[None])[0] for step in np.diag(at * 1e-4)])
    slopes = steps / (2e-4 * at)
    # Scores do not depend on the scale, so that the mean over all cases is nearly 0.
    slopes = slopes - float((slopes * cells).sum()) / max(float(cells.sum()), 1.0)
    return slopes if np.isfinite(score[0]) and np.isfinite(slopes).all() and slopes.any() else None
