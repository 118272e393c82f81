"""The distribution of a score if the group is drawn like the reference: the null of the MATCH test.

There are three nulls:

- ``pooled``: group and reference share their rates. Given the pooled counts, the group is a random subset of the cases,
  so a test at level α rejects a true null with probability at most α, at any size.
- ``known``: the reference's rates are the truth. This is the paper's test. It rejects too often unless the reference is
  much larger than the group (E13).
- ``predictive``: the group is new, and the reference's counts are evidence of its rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
from ..randomness import Rng, generator
from .tail_pvalues import Alternative, tail_pvalue

__all__ = ["Alternative", "Given", "Method", "NullDistribution", "NullName"]

NullName = Literal["pooled", "known", "predictive"]
Given = Literal["margin", "n"]
Method = Literal["exact", "normal", "beta", "montecarlo"]

# For more cases than this any usual level is attainable, and the most extreme outcomes are costly to compute.
SMALLEST_UP_TO = 5_000
# Sums over one split leave out at most this on either side.
_FINEST = 1e-300


@dataclass(frozen=True, slots=True)
class NullDistribution(OneGroupDistribution):
    """The distribution of a score under a null, given that it is defined, and the denominator if it has a margin."""

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
        """The null for a group with counts ``cm`` and a reference."""
        n = int(cm.n)
        counted = reference if isinstance(reference, ConfusionMatrix) else None
        if name == "pooled":
            if whole_counts(reference, "the reference").sum() == 0:
                raise InvalidInput("the `reference` is empty (n = 0); the group cannot be compared with it")
            assert counted is not None
            pooled = cm + counted
            tp, fn, fp, tn = (float(c) for c in pooled.cells)
            law: Law = MultivariateHypergeometric(n, (tp, fn, fp, tn))
            order = order_of(m, pooled.cells, remains=True)
        elif name == "known":
            if m.comparisons and counted is None:
                raise InvalidInput(f"{m.key} compares two groups; pass the `reference` as a ConfusionMatrix of counts")
            law, order = law_of(reference, n), order_of(m, counted.cells if counted else None)
        else:
            if counted is None:
                raise InvalidInput(
                    "`null='predictive'` needs the reference's counts, as a ConfusionMatrix; got four probabilities"
                )
            law, order = law_of(counted, n, "predictive", prior=prior), order_of(m, counted.cells)
        has_margin = given == "margin" and (m.is_distance or m.base.denominator is not None)
        margin = float(m.tree.counts(np.asarray(cm.cells, dtype=np.float64))[0]) if has_margin else None
        null = cls(m, order, law, margin, name)
        if name == "known":
            null._check_rates()
        return null

    def observed(self, cm: ConfusionMatrix) -> Threshold:
        """The group's score, exactly."""
        return self.order.threshold(np.asarray(cm.cells, dtype=np.float64))

    def observed_tails(self, cm: ConfusionMatrix) -> Tails:
        """The probability below, at and above the group's score."""
        m, tree = self.metric, self.order.tree
        counted = not m.comparisons and m.base.curve is not None and m.base.defined_by_denominator
        if not counted or (tree.margin and self.margin is None):
            return self.tails(self.observed(cm))
        # The score rises with the count of one split, and the other counts are given.
        margin, _, last = tree.counts(np.asarray(cm.cells, dtype=np.float64))
        size, count = np.array([float(tree.last_size(self.law.n, margin))]), np.array([float(last)])
        split = self.law.split(tree.last, tree.last_of)
        low, high = split.support(size)
        spans = [(low, count - 1), (count, count), (count + 1, high)]
        below, at, above = (float(total[0]) for total in interval_sums(split, size, spans, _FINEST))
        return Tails(below, at, above, 1.0, 8 * _FINEST)

    def tails(self, observed: Threshold, *, point: bool = False, relative: bool = True) -> Tails:
        """The probability below, at and above a score."""
        return tails(self.order, self.law, observed, margin=self.margin, point=point, relative=relative)

    def approximate_tails(self, cm: ConfusionMatrix, method: Method) -> Tails:
        """The same, by the paper's approximations as corrected (E7, E10)."""
        counts = np.asarray(cm.cells, dtype=np.float64)
        if method == "normal":
            return normal_tails(self.metric, self.law, counts)
        if self.name != "known":
            raise InvalidInput(
                "`method='beta'` takes the reference's rates as known; use `null='known'`, or `method='exact'`"
            )
        return beta_tails(self.metric, self.law, counts, self.margin)

    def sampled(self, rng: Rng, draws: int) -> NDArray[np.float64]:
        """The scores of random groups that have one."""
        scores = self.order.scores(sample_cells(self.order.tree, self.law, generator(rng), draws, self.margin))
        scores = scores[~np.isnan(scores)]
        if not len(scores):
            raise InvalidInput(
                f"none of {draws:,} simulated groups has a defined score; raise `draws`, or use `method='exact'`"
            )
        return scores

    def one_sided(self, alternative: Alternative) -> Alternative:
        """The alternative that is tested: only a larger distance is more extreme."""
        return "greater" if self.metric.is_distance and alternative == "two-sided" else alternative

    def pvalue(self, tails: Tails, alternative: Alternative, mid_p: bool = False) -> float:
        """The p-value from the tails; two-sided it is twice the smaller one, or the upper one of a distance."""
        return tail_pvalue(tails.below, tails.at, tails.above, self.one_sided(alternative), mid_p)

    @property
    def size(self) -> int:
        """The number of cases that the score is based on."""
        return self.law.n if self.margin is None else int(self.margin)

    def smallest_pvalue(self, alternative: Alternative = "two-sided", mid_p: bool = False) -> float:
        """The smallest attainable p-value; if it exceeds the level, the test can never reject."""
        if self.size > SMALLEST_UP_TO:
            raise TooLarge(f"the smallest attainable p-value is not computed for more than {SMALLEST_UP_TO:,} cases")
        ends = extremes(self.order, self.law, margin=self.margin)
        return min(self.pvalue(self.tails(end, point=True), alternative, mid_p) for end in ends)

    def detects(self, difference: float, reference_score: float, level: float = 0.05) -> bool:
        """Whether a score at this distance from the reference's, on either side, would be significant.

        A group whose true score lies at this distance scores beyond it about half of the time. If that is not
        significant, the power of the test is less than about one half.
        """
        centre = self.metric.centre(reference_score)
        if np.isnan(centre):
            return False
        low, high = self.metric.range
        small = self.size <= SMALLEST_UP_TO
        factor = 1 if self.metric.is_distance else 2
        for score, beyond in ((centre - difference, "below"), (centre + difference, "above")):
            if low <= score <= high:
                at_score = self.tails(Threshold(score), relative=small)
                p = getattr(at_score, beyond) + at_score.at
                # A large group can score anywhere in the range, even if the probability is too small to be computed.
                if (p > 0 or not small) and factor * p <= level:
                    return True
        return False

    def _check_rates(self) -> None:
        """Raise an error if the group has a margin that the reference lacks, so that its rates are unknown."""
        tree, margin = self.order.tree, self.margin
        if margin is None:
            return
        sizes = ((margin if tree.side else 0.0, tree.margin), (tree.last_size(self.law.n, margin), tree.last_of))
        for size, cells in sizes:
            if size > 0 and sum(rate for c, rate in zip(CELLS, self.law.rates, strict=True) if c in cells) == 0:
                what = " + ".join(c.upper() for c in cells)
                raise InvalidInput(
                    f"the reference has no cases in {what}, so there is no rate to compare the group's "
                    f"{self.metric.base.key} with; choose another `reference`, or `null='pooled'`"
                )

    def impossible(self, cm: ConfusionMatrix) -> bool:
        """Whether the group has cases in cells whose rate is 0 in the reference."""
        cells = np.asarray(cm.cells, dtype=np.float64)
        mine, rates = (self.order.tree.collapse(x) for x in (cells, self.law.rates))
        ruled_out: NDArray[np.bool_] = (rates == 0) & (mine > 0)
        return bool(ruled_out.any())
