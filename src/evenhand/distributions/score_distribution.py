"""The distribution of the score of a random group, given that the score is defined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..confusion import enumerate_matrices
from ..errors import InvalidInput, TooLarge, check_cost
from ..metrics import Metric, metric as find_metric
from ..progress import progress
from ..records import reach
from .cell_laws import Law, LawName, Reference, law_of, references_of
from .exact_ties import Threshold
from .tails import extreme_cells, list_scores, score_tails
from .undefined_probability import undefined_probability_of

# Rounding can leave a sum just short of a level that it reaches exactly.
_ROUNDING = 1 + 1e-13

#: Scores in ascending order, and their probabilities.
Scores = tuple[Floats, Floats]
#: The probabilities below, at and above a score.
Masses = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Distribution(ABC):
    """The exact distribution of a score, given that it is defined.

    All probabilities except `p_undefined` are conditional on the score being defined. A number
    ``x`` stands for every score that rounds to it, so that no tie is lost: ``cdf(0.29)`` includes
    29 of 100.

    Attributes
    ----------
    metric : Metric
        The metric.

    Examples
    --------
    >>> from evenhand import distribution
    >>> d = distribution("acc", n=4, reference=[1/2, 0, 0, 1/2])
    >>> d.metric.key, d.n, d.p_undefined, d.mean
    ('acc', 4, 0.0, 1.0)
    """

    metric: Metric

    @property
    @abstractmethod
    def n(self) -> int | tuple[int, int]:
        """The number of cases; for two groups a pair, group and reference.

        Examples
        --------
        >>> distribution("ofi", n=(10, 20)).n
        (10, 20)
        """

    @property
    @abstractmethod
    def p_undefined(self) -> float:
        """The probability that the score is undefined.

        Examples
        --------
        >>> distribution("tpr", n=2, reference=[1/4, 1/4, 1/4, 1/4]).p_undefined
        0.25
        """

    @abstractmethod
    def _tails(self, x: float, point: bool = False, relative: bool = True) -> Masses:
        """The probability below, at and above ``x``; nan if the score is never defined.

        With ``point``, that at ``x`` is as accurate as the tails, for `pmf`. With
        ``relative=False``, digits of small ones may be missing, which is faster.
        """

    @abstractmethod
    def _list(self) -> Scores:
        """All scores, in any order and possibly repeated, and their relative probabilities.

        The support, moments and quantiles follow from them; `_list_scores` sorts and merges them.
        """

    @abstractmethod
    def _bounds(self) -> tuple[float, float] | None:
        """Scores between which all others lie; None if they are not known.

        Quantiles are searched between them if there are too many scores to list.
        """

    def cdf(self, x: ArrayLike) -> Any:
        """Cumulative distribution function, P(S <= x), given that the score S is defined.

        Parameters
        ----------
        x : float or array of floats
            Scores.

        Returns
        -------
        float or ndarray
            One probability per score.

        Examples
        --------
        >>> distribution("acc", n=2, reference=[1/4, 1/4, 1/4, 1/4]).cdf(0.5)
        0.75
        """
        return self._evaluate(x, below=1, at=1, above=0)

    def sf(self, x: ArrayLike) -> Any:
        """Survival function, P(S > x), with more digits than ``1 - cdf(x)`` in the tail.

        Parameters
        ----------
        x : float or array of floats
            Scores.

        Returns
        -------
        float or ndarray
            One probability per score.

        Examples
        --------
        >>> distribution("acc", n=2, reference=[1/4, 1/4, 1/4, 1/4]).sf(0.5)
        0.25
        """
        return self._evaluate(x, below=0, at=0, above=1)

    def pmf(self, x: ArrayLike) -> Any:
        """Probability mass function, P(S = x), given that the score S is defined.

        Parameters
        ----------
        x : float or array of floats
            Scores.

        Returns
        -------
        float or ndarray
            One probability per score; 0 for a score that cannot occur.

        Examples
        --------
        >>> d = distribution("acc", n=2, reference=[1/4, 1/4, 1/4, 1/4])
        >>> d.pmf([0.5, 0.6]).round(12)
        array([0.5, 0. ])
        """
        return self._evaluate(x, below=0, at=1, above=0)

    def quantile(self, q: ArrayLike) -> Any:
        """Quantile function: the smallest score ``s`` with P(S <= s) >= q.

        Parameters
        ----------
        q : float or array of floats
            Probabilities.

        Returns
        -------
        float or ndarray
            One score per probability; accurate to 1e-12 if there are too many scores to list.

        Examples
        --------
        >>> d = distribution("acc", n=10, reference=[1/4, 1/4, 1/4, 1/4])
        >>> d.quantile([0.05, 0.5, 0.95])
        array([0.2, 0.5, 0.8])
        """
        levels = _as_numbers(q, "q")
        if not ((levels >= 0) & (levels <= 1)).all():
            raise InvalidInput(argument="q", must="lie between 0 and 1", got=q)
        try:
            scores, weights = _list_scores(self)
        except TooLarge:
            if (bounds := self._bounds()) is None:
                raise
            steps = progress(levels.ravel().tolist(), f"quantiles of {self.metric.key}")
            found = [self._search_quantile(level, *bounds) for level in steps]
            quantiles = np.array(found).reshape(levels.shape)
        else:
            if not len(scores):
                raise self._never_defined()
            index = np.searchsorted(np.cumsum(weights) * _ROUNDING, levels)
            quantiles = scores[np.minimum(index, len(scores) - 1)]
        return float(quantiles) if levels.ndim == 0 else quantiles

    def _search_quantile(self, level: float, low: float, high: float) -> float:
        """The smallest score between two others at which the cdf reaches a level.

        By bisection, for `quantile` where there are too many scores to list.
        """
        is_far_out = min(level, 1 - level) < 1e-9
        score = low
        while True:
            below, at, _ = self._tails(score, relative=is_far_out)
            if np.isnan(below):
                raise self._never_defined()
            if below + at >= level:
                high = score
            else:
                low = score
            if high - low <= 1e-12 * max(1.0, abs(high)):
                return high
            score = (low + high) / 2

    @property
    def support(self) -> Floats:
        """Every score that can occur, in ascending order.

        Examples
        --------
        >>> distribution("acc", n=4).support
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        """
        return _list_scores(self)[0]

    @property
    def probabilities(self) -> Floats:
        """P(S = s) for every score in `support`, to about 1e-16; `pmf` has more digits.

        Examples
        --------
        >>> d = distribution("acc", n=2, reference=[1/4, 1/4, 1/4, 1/4])
        >>> d.probabilities.round(12)
        array([0.25, 0.5 , 0.25])
        """
        return _list_scores(self)[1]

    @property
    def mean(self) -> float:
        """The expected score.

        Examples
        --------
        >>> distribution("tpr", n=5, reference=[1/4, 1/4, 1/4, 1/4]).mean
        0.5
        """
        return self._moments()[0]

    @property
    def std(self) -> float:
        """The standard deviation of the score.

        Examples
        --------
        >>> round(distribution("acc", n=100, reference=[1/4, 1/4, 1/4, 1/4]).std, 12)
        0.05
        """
        return self._moments()[1]

    def plot(self, ax: Any = None) -> Any:
        """Plot the probability of every score (extra ``plots``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> ax = distribution("tpr", n=20).plot()
        """
        if not len(self.support):
            raise self._never_defined()
        return reach("Distribution.plot")(self, ax=ax)

    def _repr_html_(self) -> str:
        """The distribution as HTML, which notebooks show."""
        return str(reach("Record._repr_html_")(self))

    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation, for `mean` and `std`; nan if the score is never defined."""
        mean, variance = _moments_of(*_list_scores(self))
        return mean, float(np.sqrt(variance))

    def _evaluate(self, x: ArrayLike, below: int, at: int, above: int) -> Any:
        """The probabilities below, at and above scores ``x``, added up with these weights.

        It is the body of `cdf`, `sf` and `pmf`, which differ in the weights only.
        """
        points = _as_numbers(x, "x")
        if np.isnan(points).any():
            raise InvalidInput(argument="x", must="be a number", got=x)
        weights = (below, at, above)
        is_point = weights == (0, 1, 0)
        tails = np.array([self._tails(float(p), is_point) for p in points.ravel()])
        if np.isnan(tails).any():
            raise self._never_defined()
        values = np.minimum(tails @ weights, 1.0)
        return float(values[0]) if points.ndim == 0 else values.reshape(points.shape)

    def _never_defined(self) -> InvalidInput:
        """The error for asking what holds given that the score is defined, if it never is."""
        key = self.metric.key
        return InvalidInput(f"{key} is never defined under this law; p_undefined is 1")


@dataclass(frozen=True, slots=True)
class OneGroupDistribution(Distribution):
    """The distribution of the score of one group.

    With ``margin``, that number of cases in the margin of the metric's tree is given, such as
    actual positives for TPR.
    """

    law: Law
    margin: float | None = None

    @property
    def n(self) -> int:
        """The number of cases."""
        return self.law.n

    @property
    def p_undefined(self) -> float:
        """The probability that the score is undefined, given only ``n``."""
        return undefined_probability_of(self.metric.undefined_sets[0], self.law)

    @property
    def mean(self) -> float:
        """The expected score; in closed form for rates and shares.

        These are unbiased (correction E19 of the paper); other scores are listed.
        """
        base = self.metric.base
        is_unbiased = base.is_rate or base.linear is not None
        if self.metric.comparisons or not is_unbiased:
            return self._moments()[0]
        return float(base.scores(self.law.rates)) if self.p_undefined < 1 else np.nan

    def scores(self, cells: Floats) -> Floats:
        """The scores of groups, for cells along the last axis; nan where undefined.

        They are those that `_list` lists; a subclass can compare the group with a reference.
        """
        return self.metric.scores(cells)

    def _tails(self, x: float, point: bool = False, relative: bool = True) -> Masses:
        """The same by sums over the splits of the metric's tree, without a list of scores."""
        asked = (self.metric.base, self.law, Threshold(x), self.margin)
        tails = score_tails(*asked, point=point, relative=relative)
        return tails.below, tails.at, tails.above

    def _list(self) -> Scores:
        """The scores of all groups that are not negligibly rare."""
        return list_scores(self.scores, self.metric.tree, self.law, self.margin)

    def _bounds(self) -> tuple[float, float]:
        """The range of the metric; if it has no end, the extreme scores that can occur."""
        if not self.metric.is_unbounded:
            return self.metric.range
        cells = extreme_cells(self.metric.base, self.law, self.margin)
        return tuple(self.metric.scores(cells).tolist())


@dataclass(frozen=True, slots=True)
class TwoGroupDistribution(Distribution):
    """The distribution of a score that compares two independent groups."""

    laws: tuple[Law, Law]

    @property
    def n(self) -> tuple[int, int]:
        """The numbers of cases of the group and of the reference."""
        return self.laws[0].n, self.laws[1].n

    @property
    def p_undefined(self) -> float:
        """The probability that the score is undefined because of either group."""
        sets = zip(self.metric.undefined_sets, self.laws, strict=True)
        first, second = (undefined_probability_of(each, law) for each, law in sets)
        return first + (1 - first) * second

    def _tails(self, x: float, point: bool = False, relative: bool = True) -> Masses:
        """The probability that the gap, a difference or a ratio, is below, at and above ``x``.

        For each score of the reference, it adds the group's scores below, at and above the one that
        gives a gap of ``x``. Only positive terms are added, so that no digits are lost, whatever
        ``point`` and ``relative`` ask for.
        """
        (s1, w1), (s2, w2) = self._group_scores()
        if not (len(s1) and len(s2)):
            return np.nan, np.nan, np.nan
        if not np.isfinite(x):
            return (1.0, 0.0, 0.0) if x > 0 else (0.0, 0.0, 1.0)
        near = 1e-12 * max(1.0, abs(x))
        # The scores of the group that, with each of the reference, have a gap near x.
        combine = np.multiply if self.metric.kind == "ratio" else np.add
        low = np.searchsorted(s1, combine(x - near, s2))
        high = np.searchsorted(s1, combine(x + near, s2), side="right")
        up_to, from_on = (np.r_[0.0, np.cumsum(w1)], np.r_[np.cumsum(w1[::-1])[::-1], 0.0])
        # Usually at most one score qualifies; a difference of sums would lose its digits.
        single = w1[np.minimum(low, len(w1) - 1)]
        at = np.where(high - low == 1, single, up_to[high] - up_to[low])
        return tuple(float(w2 @ part) for part in (up_to[low], at, from_on[high]))

    def _group_scores(self) -> tuple[Scores, Scores]:
        """Scores and probabilities of group and reference, whose gaps are the metric's scores.

        Those of the reference are given that a gap is defined: a ratio needs a positive one. The
        largest of several gaps is listed itself, and minus a reference of 0.
        """
        if self.metric.kind is None:
            return _list_scores(self), (np.zeros(1), np.ones(1))
        first, (s2, w2) = (self._base_scores(law) for law in self.laws)
        kept = s2 > 0 if self.metric.kind == "ratio" else slice(None)
        return first, (s2[kept], w2[kept] / w2[kept].sum())

    def _base_scores(self, law: Law) -> Scores:
        """The scores of one group by the metric that is compared, and their probabilities."""
        return _list_scores(OneGroupDistribution(self.metric.base, law))

    def _bounds(self) -> tuple[float, float] | None:
        """The gaps of the lowest and highest scores; None for the largest of several gaps."""
        if self.metric.kind is None:
            return None
        (s1, _), (s2, _) = self._group_scores()
        (gap,) = self.metric.comparisons
        return tuple(gap.compare(s1[[0, -1]], s2[[-1, 0]]).tolist())

    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation, which follow from those of either group."""
        first, (s2, w2) = self._group_scores()
        is_ratio = self.metric.kind == "ratio"
        m1, v1 = _moments_of(*first)
        m2, v2 = _moments_of(1 / s2 if is_ratio else s2, w2)
        if is_ratio:
            return m1 * m2, float(np.sqrt(v1 * v2 + v1 * m2**2 + m1**2 * v2))
        return m1 - m2, float(np.sqrt(v1 + v2))

    def _list(self) -> Scores:
        """The gaps of every pair of scores, or of tuples of scores if there are several."""
        (s1, w1), (s2, w2) = map(self._score_tuples, self.laws)
        key = self.metric.key
        subject = f"a list of {key} at n = {self.n} has {{}} pairs of scores"
        check_cost(len(w1) * len(w2), 2**23, subject, "take smaller groups")
        pairs = zip(self.metric.comparisons, s1[:, :, None], s2[:, None], strict=True)
        gaps = [gap.compare(first, second) for gap, first, second in pairs]
        scores = np.abs(gaps).max(axis=0) if self.metric.is_distance else gaps[0]
        is_defined = ~np.isnan(scores)
        return scores[is_defined], (w1[:, None] * w2)[is_defined]

    def _score_tuples(self, law: Law) -> Scores:
        """The scores of a group by each compared metric, shape (metrics, scores), and weights.

        They belong to the same matrix, as the largest of several gaps needs. Matrices on which one
        is undefined are left out.
        """
        if self.metric.kind is not None:
            scores, weights = self._base_scores(law)
            return scores[None], weights
        cells = enumerate_matrices(law.n).astype(float)
        table = np.array([gap.base.scores(cells) for gap in self.metric.comparisons])
        weights = law.pmf(cells)
        kept = ~np.isnan(table).any(axis=0) & (weights > 0)
        return table[:, kept], weights[kept]


@lru_cache(maxsize=32)
def _list_scores(d: Distribution) -> Scores:
    """All distinct scores in ascending order and their probabilities.

    They are kept, since `support`, `mean`, `quantile` and others need the same list.
    """
    return _merge_equal(*d._list())


def _moments_of(scores: Floats, weights: Floats) -> tuple[float, float]:
    """The mean and the variance of weighted scores; nan if there are none.

    The weights need not add up to 1.
    """
    if not len(scores):
        return np.nan, np.nan
    share = weights / weights.sum()
    mean = float(share @ scores)
    return mean, float(share @ (scores - mean) ** 2)


def _merge_equal(scores: Floats, weights: Floats) -> Scores:
    """Distinct scores in ascending order; those within rounding of each other are equal.

    Many matrices have the same score: their probabilities are added up, and then scaled to a total
    of 1.
    """
    if not len(scores):
        return scores, weights
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    is_new = np.r_[True, np.diff(scores) > 1e-13 * np.maximum(1.0, np.abs(scores[1:]))]
    merged = np.add.reduceat(weights, np.flatnonzero(is_new))
    return scores[is_new], merged / merged.sum()


def _as_numbers(given: ArrayLike, name: str) -> Floats:
    """An argument, called ``name`` in the error, as an array of floats."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        must = "be a number or an array of numbers"
        raise InvalidInput(argument=name, must=must, got=given) from None


def distribution(
    metric: str | Metric,
    n: int | tuple[int, int],
    reference: Reference | Sequence[Reference] = None,
    *,
    law: LawName = "multinomial",
    prior: float = 0.5,
) -> Distribution:
    """Exact distribution of a score over groups of ``n`` cases.

    Equivalent to listing all ``4**n`` ways in which the cases can fall into the cells and adding up
    their probabilities. With known rates, a cumulative probability costs O(1) binomial terms for a
    share of all cases (accuracy), O(√n) for a ratio (TPR) and O(n log n) for a score of two rates
    (MCC); it costs more under a law with a larger variance. The omitted terms sum to less than
    1e-10 of the result.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    n : int or (int, int)
        The number of cases; a pair for a metric of two groups.
    reference : ConfusionMatrix, four probabilities or None
        The rates or counts that the group is sampled from. If None, all matrices of ``n`` cases
        are equally likely (not all ``4**n`` ways). A metric of two groups takes one reference for
        both groups, or a list of two.
    law : {"multinomial", "predictive", "without_replacement"}
        ``"multinomial"``: the reference's rates are known. ``"predictive"``: its counts are
        evidence of them, with ``prior`` pseudo-counts per cell. ``"without_replacement"``: the
        group is sampled from its cases.
    prior : float
        Pseudo-counts per cell under ``law="predictive"``.

    Returns
    -------
    Distribution
        With `cdf`, `sf`, `pmf`, `quantile`, `mean`, `std` and `support`, all given that the score
        is defined, and `p_undefined`.

    Examples
    --------
    Two cases, four equally likely cells. Of the 16 ways, 4 leave no actual positive, so that TPR is
    undefined; 5 give 0, 2 give 1/2 and 5 give 1:

    >>> d = distribution("tpr", n=2, reference=[1/4, 1/4, 1/4, 1/4])
    >>> d.p_undefined
    0.25
    >>> [round(float(12 * p), 12) for p in d.pmf(d.support)]
    [5.0, 2.0, 5.0]
    """
    m = find_metric(metric)
    pairs = zip(m.sizes(n), references_of(m, reference), strict=True)
    laws = [law_of(given, size, law, prior=prior) for size, given in pairs]
    if m.comparisons:
        return TwoGroupDistribution(m, (laws[0], laws[1]))
    return OneGroupDistribution(m, laws[0])
