"""The distribution of the score of a random group, given that the score is defined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import as_size
from ..errors import InvalidInput, TooLarge
from ..metrics import Metric, OneGroup, metric as find_metric
from ..progress import progress
from ..records import reach
from .emptiness import hole_probability, pooled_hole_probability
from .engine import extremes, score_blocks, scores_and_weights, scores_between, tails
from .families import Law, MultivariateHypergeometric
from .ordering import Order, Threshold, order_of
from .quantiles import Bracket, brackets
from .reference import LawName, Reference, law_of, references_of
from .sampling import sample_cells

__all__ = ["Distribution", "distribution"]

Floats = NDArray[np.float64]

# Scores are listed once so little probability lies between two of them, again once it is so much less, and every few
# turns, since a single score can have more.
_FEW_BETWEEN, _TURNS = 1e-3, 6
# So many random groups say about where a quantile lies. Quantiles of smaller levels need accurate tails.
_DRAWS, _FAR_OUT = 2**12, 1e-9

_MOST_PAIRS = 2**23


@dataclass(frozen=True, slots=True)
class Distribution(ABC):
    """The exact distribution of a score, given that it is defined.

    All probabilities except `p_undefined` are conditional on the score being defined. A number ``x`` stands for every
    score that rounds to it, so no tie is lost: ``cdf(0.29)`` includes 29 of 100.

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
    def _tails(self, x: float, point: bool) -> tuple[float, float, float]:
        """The probability below, at and above ``x``."""

    @abstractmethod
    def _listed(self) -> tuple[Floats, Floats]:
        """All scores in ascending order, with their probabilities."""

    @abstractmethod
    def _ends(self) -> tuple[float, float]:
        """The lowest and the highest score, without listing them all."""

    def cdf(self, x: ArrayLike) -> Any:
        """Cumulative distribution function, P(S <= x).

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
        return self._each(x, lambda below, at, above: below + at)

    def sf(self, x: ArrayLike) -> Any:
        """Survival function, P(S > x); accurate where ``1 - cdf(x)`` would round to 0.

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
        return self._each(x, lambda below, at, above: above)

    def pmf(self, x: ArrayLike) -> Any:
        """Probability mass function, P(S = x).

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
        >>> distribution("acc", n=2, reference=[1/4, 1/4, 1/4, 1/4]).pmf([0.5, 0.6]).round(12)
        array([0.5, 0. ])
        """
        return self._each(x, lambda below, at, above: at, point=True)

    def quantile(self, q: ArrayLike) -> Any:
        """Quantile function: the smallest score ``s`` with P(S <= s) >= q.

        Parameters
        ----------
        q : float or array of floats
            Probabilities.

        Returns
        -------
        float or ndarray
            One score per probability; accurate to 1e-12 if there are too many scores to list, even between two close
            ones.

        Examples
        --------
        >>> distribution("acc", n=10, reference=[1/4, 1/4, 1/4, 1/4]).quantile([0.05, 0.5, 0.95])
        array([0.2, 0.5, 0.8])
        """
        levels = _numbers(q, "q")
        if not ((levels >= 0) & (levels <= 1)).all():
            raise InvalidInput(argument="q", must="lie between 0 and 1", got=q)
        try:
            scores, weights = self._listed()
        except TooLarge:
            quantiles = self._search(levels)
            return float(quantiles) if levels.ndim == 0 else quantiles
        if not len(scores):
            raise InvalidInput(f"{self.metric.key} is never defined under this law; p_undefined is 1")
        # Rounding can leave the sum just short of a level that it reaches exactly.
        reached = np.cumsum(weights) * (1 + 1e-13)
        quantiles = scores[np.minimum(np.searchsorted(reached, levels), len(scores) - 1)]
        return float(quantiles) if levels.ndim == 0 else quantiles

    def _search(self, levels: Floats) -> Floats:
        """The quantiles of several levels; each search starts between the scores at which others looked."""
        known: dict[float, float] = {}
        relative = bool((np.minimum(levels, 1 - levels) < _FAR_OUT).any())

        def cdf(score: float) -> float:
            known[score] = self._cumulative(score, relative)
            return known[score]

        found = {}
        for level in progress(np.unique(levels).tolist(), f"searching quantiles of {self.metric.key}"):
            found[level] = self._quantile(level, cdf, _known(level, known, self._bounds(level)))
        return np.array([found[level] for level in levels.ravel().tolist()]).reshape(levels.shape)

    def _cumulative(self, score: float, relative: bool) -> float:
        """P(S <= score); with ``relative=False``, only accurate in absolute terms."""
        return float(self.cdf(score))

    def _quantile(self, level: float, cdf: Callable[[float], float], start: Bracket) -> float:
        """The quantile of one level: between two close scores, those that can occur are listed."""
        bracket, attempted = start, 1.0
        for turn, bracket in enumerate(brackets(cdf, level, start, *self._guess(level)), 1):
            within = bracket.up_to - bracket.below
            if within <= _FEW_BETWEEN * attempted or (turn % _TURNS == 0 and within <= 1):
                attempted = min(attempted, within)
                if (listed := self._between(bracket.low, bracket.high)) is not None and len(listed[0]):
                    scores, weights = listed
                    # Rounding can leave the sum just short of a level that it reaches exactly.
                    reached = bracket.below + np.cumsum(weights) * (within / weights.sum()) * (1 + 1e-13)
                    return float(scores[np.minimum(np.searchsorted(reached, level), len(scores) - 1)])
        return bracket.high

    def _between(self, low: float, high: float) -> tuple[Floats, Floats] | None:
        """The scores above one and up to another in ascending order, with probabilities; None if they are too many."""
        return None

    def _bounds(self, level: float) -> tuple[float, float]:
        """Scores between which the quantile of a level lies."""
        return self._ends()

    def _guess(self, level: float) -> tuple[float, float]:
        """About where the quantile of a level lies, and how widely scores are spread."""
        low, high = self._ends()
        centre = (low + high) / 2
        return centre, float(max(abs(centre), 0.1) / np.sqrt(np.min(self.n)))

    @property
    def support(self) -> Floats:
        """Every score that can occur, in ascending order.

        Examples
        --------
        >>> distribution("acc", n=4).support
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        """
        return self._listed()[0]

    @property
    def probabilities(self) -> Floats:
        """P(S = s) for every score in `support`, to about 1e-16; `pmf` is also accurate for smaller ones.

        Examples
        --------
        >>> distribution("acc", n=2, reference=[1/4, 1/4, 1/4, 1/4]).probabilities.round(12)
        array([0.25, 0.5 , 0.25])
        """
        return self._listed()[1]

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
            raise InvalidInput(f"{self.metric.key} is never defined under this law; p_undefined is 1")
        return reach("Distribution.plot")(self, ax=ax)

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))

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

    def _moments(self) -> tuple[float, float]:
        scores, weights = self._listed()
        if not len(scores):
            return np.nan, np.nan
        mean, variance = _mean_and_variance(scores, weights)
        return mean, float(np.sqrt(variance))

    def _each(self, x: ArrayLike, of: Callable[[float, float, float], float], point: bool = False) -> Any:
        points = _numbers(x, "x")
        if np.isnan(points).any():
            raise InvalidInput(argument="x", must="be a number", got=x)
        values = np.array([of(*self._tails(float(v), point)) for v in points.ravel()])
        if np.isnan(values).any():
            raise InvalidInput(f"{self.metric.key} is never defined under this law; p_undefined is 1")
        values = np.minimum(values, 1.0)
        return float(values[0]) if points.ndim == 0 else values.reshape(points.shape)


def _known(level: float, known: dict[float, float], ends: tuple[float, float]) -> Bracket:
    """What is known of the quantile of a level from the cumulative probabilities of some scores."""
    low, below = max([(ends[0], nan), *(each for each in known.items() if each[1] < level)])
    high, up_to = min([(ends[1], nan), *(each for each in known.items() if each[1] >= level)])
    return Bracket(low, high, below, up_to)


def _numbers(given: ArrayLike, what: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(argument=what, must="be a number or an array of numbers", got=given) from None


@dataclass(frozen=True, slots=True)
class OneGroupDistribution(Distribution):
    """The distribution of the score of one group."""

    order: Order
    law: Law
    margin: float | None = None

    @property
    def n(self) -> int:
        """The number of cases."""
        return self.law.n

    @property
    def p_undefined(self) -> float:
        """The probability that the score is undefined, given only ``n``."""
        against = self.order.against
        if against is None:
            return hole_probability(self.metric.holes[0], self.law)
        group, reference = self.metric.holes
        if not against.remains:
            return 1.0 if reference.at(np.asarray(against.cells)) else hole_probability(group, self.law)
        if group.apart:
            return max(0.0, 1 - tails(self.order, self.law, Threshold(0.0)).defined)
        assert isinstance(self.law, MultivariateHypergeometric)
        return pooled_hole_probability(group, reference, self.law)

    def _tails(self, x: float, point: bool) -> tuple[float, float, float]:
        at_x = tails(self.order, self.law, Threshold(x), margin=self.margin, point=point)
        return at_x.below, at_x.at, at_x.above

    def _listed(self) -> tuple[Floats, Floats]:
        return _list_one(self)

    @property
    def mean(self) -> float:
        """The expected score; in closed form for a score that is unbiased given that it is defined (E19)."""
        if not self.metric.comparisons and self.metric.base.unbiased:
            return float(self.metric.scores(self.law.rates)) if self.p_undefined < 1 else np.nan
        return self._moments()[0]

    def _moments(self) -> tuple[float, float]:
        return _summed_moments(self)

    def _between(self, low: float, high: float) -> tuple[Floats, Floats] | None:
        try:
            scores, weights = scores_between(self.order, self.law, low, high, margin=self.margin)
        except TooLarge:
            return None
        return _merged(scores, weights, normalise=False)

    def _bounds(self, level: float) -> tuple[float, float]:
        # The ends of the range are known at no cost, those of the support are not.
        if self.metric.unbounded or self.metric.comparisons or level in (0, 1):
            return self._ends()
        return self.metric.range

    def _guess(self, level: float) -> tuple[float, float]:
        scores = _some_scores(self)
        if not len(scores):
            return Distribution._guess(self, level)
        # The middle half of a normal law is 1.35 standard deviations wide.
        low, middle, high = np.quantile(scores, [0.25, level, 0.75])
        return float(middle), float(max((high - low) / 1.35, 1e-6 * max(1.0, abs(middle))))

    def _cumulative(self, score: float, relative: bool) -> float:
        at = tails(self.order, self.law, Threshold(score), margin=self.margin, relative=relative)
        if np.isnan(at.below):
            raise InvalidInput(f"{self.metric.key} is never defined under this law; p_undefined is 1")
        return min(at.below + at.at, 1.0)

    def _ends(self) -> tuple[float, float]:
        low, high = extremes(self.order, self.law, margin=self.margin)
        return low.value, high.value


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
        p, q = (hole_probability(h, law) for h, law in zip(self.metric.holes, self.laws, strict=True))
        return p + (1 - p) * q

    def _tails(self, x: float, point: bool) -> tuple[float, float, float]:
        m = self.metric
        if m.kind:
            return _compared_tails(m, self.laws, x)
        scores, weights = self._listed()
        if not len(scores):
            return np.nan, np.nan, np.nan
        near = 1e-12 * max(1.0, abs(x)) if np.isfinite(x) else 0.0
        low, high = np.searchsorted(scores, [x - near, x + near])
        return float(weights[:low].sum()), float(weights[low:high].sum()), float(weights[high:].sum())

    def _moments(self) -> tuple[float, float]:
        m = self.metric
        if m.kind is None:
            return Distribution._moments(self)
        (s1, w1), (s2, w2) = (_scores_of(m.base, law) for law in self.laws)
        if m.kind == "ratio":
            s2, w2 = 1 / s2[s2 > 0], w2[s2 > 0]
        if not (len(s1) and len(s2)):
            return np.nan, np.nan
        (m1, v1), (m2, v2) = _mean_and_variance(s1, w1), _mean_and_variance(s2, w2)
        if m.kind == "difference":
            return m1 - m2, float(np.sqrt(v1 + v2))
        return m1 * m2, float(np.sqrt(max((v1 + m1**2) * (v2 + m2**2) - (m1 * m2) ** 2, 0.0)))

    def _ends(self) -> tuple[float, float]:
        m = self.metric
        if m.kind is None:
            raise TooLarge(f"{m.key} has too many pairs of scores at n = {self.n} to list; take smaller groups")
        (s1, _), (s2, _) = (_scores_of(m.base, law) for law in self.laws)
        if m.kind == "difference":
            return float(s1[0] - s2[-1]), float(s1[-1] - s2[0])
        return 0.0, float(s1[-1] / s2[s2 > 0][0])

    def _listed(self) -> tuple[Floats, Floats]:
        return _list_two(self)


@lru_cache(maxsize=256)
def _some_scores(d: OneGroupDistribution) -> Floats:
    """The scores of some random groups, finite and in ascending order; none of a population too large to sample."""
    try:
        cells = sample_cells(d.order.tree, d.law, np.random.default_rng(0), _DRAWS, d.margin)
    except (InvalidInput, ValueError):
        return np.zeros(0)
    scores = d.order.scores(cells)
    return np.sort(scores[np.isfinite(scores)])


@lru_cache(maxsize=256)
def _summed_moments(d: OneGroupDistribution) -> tuple[float, float]:
    """Mean and standard deviation, summed block by block around an initial guess of the mean."""
    total = first = second = 0.0
    guess: float | None = None
    for scores, weights in score_blocks(d.order, d.law, margin=d.margin):
        if guess is None and len(scores):
            guess = float(np.median(scores))
        away = scores - (guess or 0.0)
        total += float(weights.sum())
        first += float(weights @ away)
        second += float(weights @ away**2)
    if total == 0:
        return np.nan, np.nan
    mean = first / total
    return (guess or 0.0) + mean, float(np.sqrt(max(second / total - mean**2, 0.0)))


@lru_cache(maxsize=16)
def _list_one(d: OneGroupDistribution) -> tuple[Floats, Floats]:
    return _merged(*scores_and_weights(d.order, d.law, margin=d.margin))


@lru_cache(maxsize=16)
def _scores_of(m: OneGroup, law: Law) -> tuple[Floats, Floats]:
    """The distinct scores of one group, in ascending order, and their probabilities; not normalised."""
    return _merged(*scores_and_weights(order_of(m), law), normalise=False)


def _mean_and_variance(scores: Floats, weights: Floats) -> tuple[float, float]:
    share = weights / weights.sum()
    mean = float(share @ scores)
    return mean, float(share @ (scores - mean) ** 2)


def _compared_tails(m: Metric, laws: tuple[Law, Law], x: float) -> tuple[float, float, float]:
    """P(S < x), P(S = x) and P(S > x), summed over the scores of the second group."""
    (s1, w1), (s2, w2) = (_scores_of(m.base, law) for law in laws)
    if m.kind == "ratio":
        s2, w2 = s2[s2 > 0], w2[s2 > 0]
    if not (len(s1) and len(s2)):
        return np.nan, np.nan, np.nan
    if not np.isfinite(x):
        return (1.0, 0.0, 0.0) if x > 0 else (0.0, 0.0, 1.0)
    near = 1e-12 * max(1.0, abs(x))
    bounds = (x + s2 - near, x + s2 + near) if m.kind == "difference" else ((x - near) * s2, (x + near) * s2)
    low, high = np.searchsorted(s1, bounds[0]), np.searchsorted(s1, bounds[1], side="right")
    up_to, from_on = np.r_[0.0, np.cumsum(w1)], np.r_[np.cumsum(w1[::-1])[::-1], 0.0]
    total = float(w1.sum() * w2.sum())
    # Usually at most one score qualifies. It is looked up, as a difference of sums would lose its digits.
    at = np.where(high - low == 1, w1[np.minimum(low, len(w1) - 1)], up_to[high] - up_to[low])
    return float(w2 @ up_to[low]) / total, float(w2 @ at) / total, float(w2 @ from_on[high]) / total


@lru_cache(maxsize=16)
def _list_two(d: TwoGroupDistribution) -> tuple[Floats, Floats]:
    """Every pair of scores; for the worst of several differences, every pair of tuples of scores."""
    m = d.metric
    bases = tuple(c.base for c in m.comparisons)
    sides = [_score_tuples(bases, law) for law in d.laws]
    if len(sides[0][1]) * len(sides[1][1]) > _MOST_PAIRS:
        raise TooLarge(f"{m.key} has too many pairs of scores at n = {d.n} to list; take smaller groups")
    first, second = sides[0][0][:, :, None], sides[1][0][:, None, :]
    weights = sides[0][1][:, None] * sides[1][1][None, :]
    if m.is_distance:
        scores = np.abs(first - second).max(axis=0)
    elif m.kind == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.where(second == 0, np.nan, first / second)[0]
    else:
        scores = (first - second)[0]
    defined = ~np.isnan(scores)
    return _merged(scores[defined], weights[defined])


def _score_tuples(bases: tuple[OneGroup, ...], law: Law) -> tuple[Floats, Floats]:
    """The distinct scores of a group under each of ``bases``, shape (bases, scores), and their probabilities."""
    if len(bases) == 1:
        scores, weights = _scores_of(bases[0], law)
        return scores[None], weights
    from ..cells import enumerate_matrices

    cells = enumerate_matrices(law.n).astype(np.float64)
    scores, weights = np.array([b.scores(cells) for b in bases]), law.pmf(cells)
    kept = ~np.isnan(scores).any(axis=0) & (weights > 0)
    return scores[:, kept], weights[kept]


def _merged(scores: Floats, weights: Floats, normalise: bool = True) -> tuple[Floats, Floats]:
    """Distinct scores in ascending order, and their total weights; scores within rounding of each other are equal."""
    if not len(scores):
        return scores, weights
    rank = np.argsort(scores, kind="stable")
    scores, weights = scores[rank], weights[rank]
    new = np.r_[True, np.diff(scores) > 1e-13 * np.maximum(1.0, np.abs(scores[1:]))]
    merged = np.add.reduceat(weights, np.flatnonzero(new))
    return scores[new], merged / merged.sum() if normalise else merged


def distribution(
    metric: str | Metric,
    n: int | tuple[int, int],
    reference: Reference | Sequence[Reference] = None,
    *,
    law: LawName = "multinomial",
    prior: float = 0.5,
) -> Distribution:
    """Exact distribution of a score over groups of ``n`` cases.

    Equivalent to listing all ``4**n`` ways in which the cases can fall into the cells and adding up their
    probabilities. With known rates, a cumulative probability costs O(1) binomial terms for a share, O(√n) for a ratio
    or a contrast and O(n) for a pair of rates; it costs more under a law with a larger variance. The omitted terms sum
    to less than 1e-10 of the result.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    n : int or (int, int)
        The number of cases; a pair for a two-group metric.
    reference : ConfusionMatrix, four probabilities or None
        The rates or counts that the group is sampled from. If None, all configurations of ``n`` cases are equally
        likely. A two-group metric takes one reference for both groups, or a list of two.
    law : {"multinomial", "predictive", "without_replacement"}
        ``"multinomial"``: the reference's rates are known. ``"predictive"``: its counts are evidence of them, with
        ``prior`` pseudo-counts per cell. ``"without_replacement"``: the group is sampled from its cases.
    prior : float
        Pseudo-counts per cell under ``law="predictive"``.

    Returns
    -------
    Distribution
        With `cdf`, `sf`, `pmf`, `quantile`, `mean`, `std` and `support`, all given that the score is defined, and
        `p_undefined`.

    Examples
    --------
    Two cases, four equally likely cells. Of the 16 ways, 4 leave no actual positive, so TPR is undefined; 5 give 0,
    2 give 1/2 and 5 give 1:

    >>> d = distribution("tpr", n=2, reference=[1/4, 1/4, 1/4, 1/4])
    >>> d.p_undefined
    0.25
    >>> [round(float(12 * p), 12) for p in d.pmf(d.support)]
    [5.0, 2.0, 5.0]
    """
    m = find_metric(metric)
    laws = [
        law_of(ref, as_size(size), law, prior=prior)
        for size, ref in zip(m.sizes(n), references_of(m, reference), strict=True)
    ]
    if m.comparisons:
        return TwoGroupDistribution(m, (laws[0], laws[1]))
    return OneGroupDistribution(m, order_of(m), laws[0])
