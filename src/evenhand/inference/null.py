"""The distribution of a score if the group is drawn like the reference: what MATCH compares an observed score with.

What "drawn like" means is the null:

- ``pooled``: group and reference share their rates. Given the pooled counts, the group is a random part of them, so
  a test at level α rejects a true null with probability at most α, at any size.
- ``known``: the reference's rates are the truth. The paper's test; it rejects too often unless the reference is much
  larger than the group (E13).
- ``predictive``: a new group drawn like the reference, whose rates are uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import CELLS, ConfusionMatrix, whole_counts
from ..errors import InvalidInput, TooLarge
from ..laws import (
    Law,
    MultivariateHypergeometric,
    OneGroupDistribution,
    Tails,
    Threshold,
    as_generator,
    beta_tails,
    extremes,
    interval_sums,
    law_of,
    normal_tails,
    order_of,
    sample_cells,
    tails,
)
from ..metrics import Metric

__all__ = ["Alternative", "Given", "Method", "Null", "NullDistribution", "NullName"]

Alternative = Literal["two-sided", "less", "greater"]
NullName = Literal["pooled", "known", "predictive"]
Null = NullName
Given = Literal["margin", "n"]
Method = Literal["exact", "normal", "beta", "montecarlo"]

# Beyond this many cases any level in use can be reached, and the farthest outcomes are costly to find.
SMALLEST_UP_TO = 5_000
# Sums over one split leave out at most this on either side.
_FINEST = 1e-300


@dataclass(frozen=True, slots=True)
class NullDistribution(OneGroupDistribution):
    """The distribution of a score under a null, given that it is defined.

    Attributes
    ----------
    name : {"pooled", "known", "predictive"}
        Which null.
    margin : float or None
        The denominator, if the test takes it as observed.
    """

    name: NullName = "pooled"

    @classmethod
    def of(
        cls,
        name: NullName,
        m: Metric,
        cm: ConfusionMatrix,
        reference: ConfusionMatrix | ArrayLike,
        given: Given = "margin",
        prior: float = 0.5,
    ) -> NullDistribution:
        """The null for a group of counts ``cm`` and a reference."""
        n = int(cm.n)
        counted = reference if isinstance(reference, ConfusionMatrix) else None
        if name == "pooled":
            if whole_counts(reference, "the reference").sum() == 0:
                raise InvalidInput("the reference is empty (n = 0), so there is nobody to compare the group with")
            assert counted is not None
            pooled = cm + counted
            tp, fn, fp, tn = (float(c) for c in pooled.cells)
            law: Law = MultivariateHypergeometric(n, (tp, fn, fp, tn))
            order = order_of(m, pooled.cells, remains=True)
        elif name == "known":
            if m.comparisons and counted is None:
                raise InvalidInput(f"{m.key} compares two groups: give the reference as a ConfusionMatrix of counts")
            law, order = law_of(reference, n), order_of(m, counted.cells if counted else None)
        else:
            if counted is None:
                raise InvalidInput(
                    "null='predictive' needs the reference's counts, as a ConfusionMatrix; got four probabilities"
                )
            law, order = law_of(counted, n, "predictive", prior=prior), order_of(m, counted.cells)
        has_margin = given == "margin" and (m.is_distance or m.base.denominator is not None)
        margin = float(m.tree.counts(np.asarray(cm.cells, dtype=np.float64))[0]) if has_margin else None
        null = cls(m, order, law, margin, name)
        if name == "known":
            null._check_rates()
        return null

    def observed(self, cm: ConfusionMatrix) -> Threshold:
        """The group's own score, exactly."""
        return self.order.threshold(np.asarray(cm.cells, dtype=np.float64))

    def observed_tails(self, cm: ConfusionMatrix) -> Tails:
        """How much probability lies below, at and above the group's own score."""
        m, tree = self.metric, self.order.tree
        counted = not m.comparisons and m.base.curve is not None and m.base.defined_by_denominator
        if not counted or (tree.margin and self.margin is None):
            return self.tails(self.observed(cm))
        # The score rises with the count of one split, and all of the others are given.
        margin, _, last = tree.counts(np.asarray(cm.cells, dtype=np.float64))
        size, count = np.array([float(tree.last_size(self.law.n, margin))]), np.array([float(last)])
        split = self.law.split(tree.last, tree.last_of)
        low, high = split.support(size)
        spans = [(low, count - 1), (count, count), (count + 1, high)]
        below, at, above = (float(total[0]) for total in interval_sums(split, size, spans, _FINEST))
        return Tails(below, at, above, 1.0, 8 * _FINEST)

    def tails(self, observed: Threshold, *, point: bool = False, relative: bool = True) -> Tails:
        """How much probability lies below, at and above a score."""
        return tails(self.order, self.law, observed, margin=self.margin, point=point, relative=relative)

    def approximate_tails(self, cm: ConfusionMatrix, method: Method) -> Tails:
        """The same by the paper's approximations, corrected (E7, E10)."""
        counts = np.asarray(cm.cells, dtype=np.float64)
        if method == "normal":
            return normal_tails(self.metric, self.law, counts)
        if self.name != "known":
            raise InvalidInput(
                "method='beta' takes the reference's rates as known; use null='known', or method='exact'"
            )
        return beta_tails(self.metric, self.law, counts, self.margin)

    def sampled_tails(self, observed: Threshold, rng: Any, draws: int) -> Tails:
        """The same from random groups."""
        scores = self.order.scores(sample_cells(self.order.tree, self.law, as_generator(rng), draws, self.margin))
        scores = scores[~np.isnan(scores)]
        if not len(scores):
            raise InvalidInput(f"none of {draws:,} random groups has a defined score; draw more, or use method='exact'")
        near = 1e-12 * max(1.0, abs(observed.value))
        at = float(np.mean(np.abs(scores - observed.value) <= near))
        below = float(np.mean(scores < observed.value - near))
        return Tails(below, at, 1 - below - at, len(scores) / draws, nan)

    def pvalue(self, found: Tails, alternative: Alternative, mid_p: bool = False) -> float:
        """The p-value of tails; two-sided is twice the smaller, but a distance has one direction."""
        if self.metric.is_distance and alternative == "two-sided":
            alternative = "greater"
        weight = 0.5 if mid_p else 1.0
        low, high = found.below + weight * found.at, found.above + weight * found.at
        return min(1.0, {"less": low, "greater": high, "two-sided": 2 * min(low, high)}[alternative])

    def sampled_pvalue(self, found: Tails, alternative: Alternative, mid_p: bool, draws: int) -> tuple[float, float]:
        """The p-value of sampled tails and its standard error; a tail that was never drawn is not taken as empty."""
        p = self.pvalue(found, alternative, mid_p)
        kept = round(draws * found.defined)
        factor = 2 if alternative == "two-sided" and not self.metric.is_distance else 1
        tail = (kept * min(p / factor, 1.0) + 1) / (kept + 1)
        return min(1.0, factor * tail), factor * sqrt(tail * (1 - tail) / kept)

    @property
    def size(self) -> int:
        """How many cases the score rests on."""
        return self.law.n if self.margin is None else int(self.margin)

    def smallest_pvalue(self, alternative: Alternative = "two-sided", mid_p: bool = False) -> float:
        """The smallest p-value that any outcome could have reached; above the level, a test could never reject."""
        if self.size > SMALLEST_UP_TO:
            raise TooLarge(f"the smallest p-value is not sought for more than {SMALLEST_UP_TO:,} cases")
        ends = extremes(self.order, self.law, margin=self.margin)
        return min(self.pvalue(self.tails(end, point=True), alternative, mid_p) for end in ends)

    def detects(self, difference: float, reference_score: float, level: float = 0.05) -> bool:
        """Whether a score this far from the reference's, on either side, would have been significant.

        A group whose true score is that far away scores beyond it about half of the time, so what is not detected
        would be seen with a power of less than one half.
        """
        centre = self.metric.centre(reference_score)
        if np.isnan(centre):
            return False
        low, high = self.metric.range
        small = self.size <= SMALLEST_UP_TO
        factor = 1 if self.metric.is_distance else 2
        for score, beyond in ((centre - difference, "below"), (centre + difference, "above")):
            if low <= score <= high:
                found = self.tails(Threshold(score), relative=small)
                p = getattr(found, beyond) + found.at
                # A large group can score anywhere in the range, even where the probability is too small to be summed.
                if (p > 0 or not small) and factor * p <= level:
                    return True
        return False

    def _check_rates(self) -> None:
        """Refuse a margin that the reference never has: it says nothing of how such cases fall."""
        tree, margin = self.order.tree, self.margin
        if margin is None:
            return
        sizes = ((margin if tree.side else 0.0, tree.margin), (tree.last_size(self.law.n, margin), tree.last_of))
        for size, cells in sizes:
            if size > 0 and sum(rate for c, rate in zip(CELLS, self.law.rates, strict=True) if c in cells) == 0:
                what = " + ".join(c.upper() for c in cells)
                raise InvalidInput(
                    f"the reference has no cases in {what}, so there is no rate to compare the group's "
                    f"{self.metric.base.key} with; choose another reference, or null='pooled'"
                )

    def impossible(self, cm: ConfusionMatrix) -> bool:
        """Whether the group has cases in cells that the reference's known rates rule out."""
        cells = np.asarray(cm.cells, dtype=np.float64)
        mine, rates = (self.order.tree.collapse(x) for x in (cells, self.law.rates))
        ruled_out: NDArray[np.bool_] = (rates == 0) & (mine > 0)
        return bool(ruled_out.any())
