"""Rates of clusters in audits: tests and intervals by draws (see `inference/cluster_bounds.py`).

Draws of weighted clusters are sums over keys, as cells are, so that `Comparisons.split` gives those
of groups and references. Weights are drawn once for all comparisons of a metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Floats, Integers
from ..inference import (
    FEWEST_CLUSTERS,
    bound_rates,
    count_alike,
    count_successes,
    count_tail,
    draw_weights,
    tail_pvalue,
)
from ..metrics import GapKind, Metric
from ..randomness import streams
from .comparisons import Comparisons
from .settings import Settings

# Draws for an interval at 95%, and at least so many in the tail of others and of the smallest level.
_DRAWS, _IN_TAIL = 10_000, 100
# About a second is spent on a metric, and so many numbers are drawn at once.
_MAX_DRAWN, _BATCH = 2 * 10**7, 5 * 10**5
# What a comparison costs in weights of clusters.
_COST = 20


class Melded(NamedTuple):
    """P-values with errors, whether groups are higher, and ends of gaps and of both scores."""

    pvalues: Floats
    errors: Floats
    is_higher: Bools
    gaps: Floats
    scores: Floats
    references: Floats


@dataclass(frozen=True, eq=False)
class ClusteredRates:
    """The clusters behind comparisons of scores of one rate, of metrics with the same curve.

    Attributes
    ----------
    scored : sequence of (Metric, Comparisons)
        The metrics and their comparisons.
    kind, level : GapKind, float
        How groups are compared, and the level of most intervals.
    number, largest : array of shape (2, comparisons)
        The clusters with cases that count in group and reference, and the size of the largest.
    pseudo : array of shape (2, comparisons)
        Which of two pseudo-clusters they have; two groups that are each other's rest swap them.
    alike : dict
        By source: the place, key and cells of different clusters, and how many are alike.
    seed : SeedSequence
        From which every level draws the same numbers.
    draws : int
        How many are drawn for tests and 95% intervals.
    most : int
        How many are drawn at most.
    """

    scored: Sequence[tuple[Metric, Comparisons]]
    kind: GapKind
    level: float
    number: Floats
    largest: Floats
    pseudo: Integers
    alike: dict[str, list[tuple[int, int, Floats, Floats]]]
    seed: Any
    draws: int
    most: int
    _melded: dict[float, Melded] = field(default_factory=dict)

    @classmethod
    def of(
        cls, scored: Sequence[tuple[Metric, Comparisons]], kind: GapKind, settings: Settings
    ) -> ClusteredRates:
        """The clusters of metrics and comparisons."""
        sides, pseudo = [], []
        alike: dict[str, list[Any]] = {}
        for metric, comparisons in scored:
            clusters: Any = comparisons.tally.clusters
            cells = comparisons.cluster_cells
            cases = count_successes(metric.base, cells)[1]
            for row, place in enumerate(comparisons.place):
                masks = comparisons.masks(row, clusters.key)
                sizes = [cases[place][mask] for mask in masks]
                sides.append([((n > 0).sum(), n.max(initial=0.0)) for n in sizes])
            is_swapped = comparisons.mirror < np.arange(len(comparisons))
            pseudo.append([1 * is_swapped, 1 * ~is_swapped])
            if comparisons.source not in alike:
                alike[comparisons.source] = [
                    (place, key, *count_alike(cells[place, clusters.key == key]))
                    for key in np.unique(clusters.key)
                    for place in range(len(cells))
                ]
        number, largest = np.array(sides, dtype=np.float64).T
        tests = sum(int(comparisons.is_testable.sum()) for _, comparisons in scored)
        kinds = sum(len(times) for parts in alike.values() for *_, times in parts)
        most = max(1, _MAX_DRAWN // (kinds + _COST * len(sides)))
        draws = max(_DRAWS, ceil(2 * _IN_TAIL * tests / settings.alpha))
        (stream,) = streams(settings.rng, 1)
        seed = stream.bit_generator.seed_seq
        fields = settings.confidence_level, number, largest, np.hstack(pseudo), alike
        return cls(scored, kind, *fields, seed, min(draws, most), most)

    @property
    def why_untested(self) -> Array:
        """Why comparisons have too few clusters; None for those that have not."""
        reasons = np.full(self.number.shape[1], None, dtype=object)
        for side, number in zip(("the reference", "the group"), self.number[::-1], strict=True):
            for row in np.flatnonzero(number < FEWEST_CLUSTERS):
                few = f"{int(number[row])} of at least {FEWEST_CLUSTERS} clusters that a test needs"
                reasons[row] = f"{side} has {few}"
        return reasons

    def score_intervals(self, level: float, scores: Floats) -> Floats:
        """The intervals of scores, which contain the observed ones; nan with too few clusters."""
        low, high = self.meld(level).scores
        ends = np.stack([np.fmin(low, scores), np.fmax(high, scores)])
        base = self.scored[0][0].base
        return np.where(
            self.number[0] < FEWEST_CLUSTERS, np.nan, np.clip(ends, base.low, base.high)
        )

    def reference_intervals(self, level: float) -> Floats:
        """The intervals of the scores of references; nan with too few clusters."""
        is_few = self.number[1] < FEWEST_CLUSTERS
        return np.where(is_few, np.nan, self.meld(level).references)

    def gap_intervals(self, rows: Integers, level: float) -> Floats:
        """The intervals of some gaps; nan with too few clusters."""
        is_few = (self.number[:, rows] < FEWEST_CLUSTERS).any(axis=0)
        return np.where(is_few, np.nan, self.meld(level).gaps[:, rows])

    def meld(self, level: float) -> Melded:
        """The tests, and the ends at a level, by as many draws as its tail needs."""
        if level not in self._melded:
            self._melded[level] = self._meld((1 - level) / 2)
        return self._melded[level]

    def _meld(self, tail: float) -> Melded:
        draws = min(self.most, max(self.draws, ceil(_IN_TAIL / tail)))
        count, n = count_tail(tail, draws), self.number.shape[1]
        rng = np.random.default_rng(self.seed)
        beyond, ends = np.zeros((2, n)), np.full((6, n, 0), inf)
        widest = max(len(times) for parts in self.alike.values() for *_, times in parts)
        batch = max(1, _BATCH // (_COST * n + widest))
        curve: Any = self.scored[0][0].base.curve
        for start in range(0, draws, batch):
            size = min(batch, draws - start)
            sums = self._draw_sums(rng, size)
            pseudo = rng.standard_exponential((2, size))[self.pseudo] * self.largest[..., None]
            group, reference = map(bound_rates, sums, pseudo)
            beyond[0] += (group.high >= reference.low).sum(axis=1)
            beyond[1] += (group.low <= reference.high).sum(axis=1)
            low, high, least, most = map(curve.score, (*group, *reference))
            with np.errstate(divide="ignore", invalid="ignore"):
                law = np.divide if self.kind == "ratio" else np.subtract
                gaps = law(low, most), -law(high, least)
            smallest = np.stack([*gaps, low, -high, least, -most])
            ends = np.concatenate([ends, smallest], axis=-1)
            if count < ends.shape[-1]:
                ends = np.partition(ends, count, axis=-1)[..., :count]
        # With no draw beyond it, an end is not known.
        ends = ends.max(axis=-1, initial=-inf)
        pvalues, errors = tail_pvalue(beyond.min(axis=0), draws)
        ends[1::2] *= -1
        return Melded(pvalues, errors, beyond[1] < beyond[0], *ends.reshape(3, 2, n))

    def _draw_sums(self, rng: np.random.Generator, size: int) -> Floats:
        """Weighted successes and failures of groups and references: (2, comparisons, 2, draws)."""
        cells = {}
        for source, alike in self.alike.items():
            comparisons = next(one for _, one in self.scored if one.source == source)
            values = cells[source] = np.zeros((*comparisons.values.shape[:2], 4, size))
            for place, key, kinds, times in alike:
                # Not a matrix product, whose threads take longer than the sums.
                weights = draw_weights(times, rng, size)
                values[place, key] = np.einsum("kd,kc->cd", weights, kinds)
        parts = []
        for metric, comparisons in self.scored:
            of_metric = count_successes(metric.base, np.moveaxis(cells[comparisons.source], 2, -1))
            successes, cases = (comparisons.split(counts) for counts in of_metric)
            parts.append(np.stack([successes, np.subtract(cases, successes)], axis=2))
        return np.concatenate(parts, axis=1)
