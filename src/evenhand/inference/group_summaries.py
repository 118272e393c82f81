"""All groups in a few numbers: the difference, the ratio, the smallest and the largest of their scores.

Intervals follow from simultaneous intervals of all groups, p-values from permutations: given how many cases each group
has and how many of all cases are successes, alike groups divide the successes as a random permutation of the cases
would, so that the counts are multivariate hypergeometric. All tables are listed if they are few, and drawn otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, TooLarge, printable
from ..metrics import Kind, Metric, OneGroup, metric as find_metric
from ..randomness import Rng, check_draws, generator, seed_of
from ..records import Record
from ..wording import number, percent, pvalue, several
from .equality import counts_of
from .intervals import check_level
from .permutation import PValue, drawn_test, exact_test
from .simultaneous import Method, box_of

__all__ = ["Aggregate", "Aggregation", "GroupSummaries", "aggregate", "between_groups"]

Floats = NDArray[np.float64]
Aggregation = Literal["worst_case", "mean"]
Counts = Mapping[str, ConfusionMatrix]

_MOST_TABLES = 200_000
_MOST_PAIRS = 4_000_000
_LACKING = {"y_true": "a label", "y_pred": "a prediction", "y_true and y_pred": "a label and a prediction"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Aggregate(Record):
    """One number over the scores of several groups, with an interval and a p-value.

    Attributes
    ----------
    name : str
        What it is.
    estimate : float
        The observed value; nan if undefined.
    low, high : float
        The interval of the true value.
    level : float
        The level of the interval. For rates, it covers at least at this level; in general it is wider than needed.
    pvalue : float or None
        The probability of an estimate at least this far from what alike groups would have, if all groups are alike.
    method : str or None
        How the p-value was found: exactly, or from random permutations.
    error : float or None
        The standard error of a p-value from random permutations.
    rng : int or None
        The source of the random permutations, if it is an int.
    decided_by : dict of str to tuple of str
        By metric, the groups that the estimate compares, the one with the lower score first; or one group, if it is
        compared with all cases; none if all scores are equal.
    undefined : dict of str to dict of str to str
        By metric, the groups that are left out because their score is undefined, and why.
    reason : str or None
        Why the estimate is undefined, or why it leaves out one of two metrics.
    left_out : dict of str to int
        How many rows were left out, by what they lack.

    Examples
    --------
    >>> from evenhand.fairlearn import equal_opportunity_difference
    >>> found = equal_opportunity_difference(
    ...     [1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1], sensitive_features=["a", "a", "b", "b", "c", "c"]
    ... )
    >>> print(found)
    equal_opportunity_difference 0.500, 95 % interval 0.000 to 0.994, p = 1.000 (exact permutation)
    tpr: a to b
    tpr of c is undefined and left out: no actual positives (TP + FN = 0)
    """

    name: str
    estimate: float
    low: float
    high: float
    level: float
    pvalue: float | None = None
    method: str | None = None
    error: float | None = None
    rng: int | None = None
    decided_by: dict[str, tuple[str, ...]] = field(default_factory=dict)
    undefined: dict[str, dict[str, str]] = field(default_factory=dict)
    reason: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self._first()]
        lines += [f"{key}: {' to '.join(map(printable, groups))}" for key, groups in self.decided_by.items()]
        if self.reason and not isnan(self.estimate):
            lines.append(f"left out: {self.reason}")
        lines += [
            f"{key} of {printable(group)} is undefined and left out: {why}"
            for key, groups in self.undefined.items()
            for group, why in groups.items()
        ]
        for what, n in self.left_out.items():
            lines.append(f"{several(n, 'row')} without {_LACKING[what]} {'is' if n == 1 else 'are'} left out")
        return "\n".join(lines)

    def _first(self) -> str:
        if isnan(self.estimate):
            return f"{self.name} is undefined: {self.reason}"
        ends = f"{percent(self.level)} interval {number(self.low)} to {number(self.high)}"
        found = f"{self.name} {number(self.estimate)}, {ends}"
        return found if self.pvalue is None else f"{found}, p {pvalue(self.pvalue)} ({self.method})"

    def __float__(self) -> float:
        return self.estimate


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupSummaries(Record):
    """The scores of all groups in five numbers, each with an interval.

    Attributes
    ----------
    metric : str
        The key of the metric.
    groups : int
        The number of groups for which it is defined. The summaries are about these.
    difference, ratio : Aggregate
        The largest minus the smallest score, and the smallest over the largest; or the largest difference and the
        smallest ratio to the score of all cases. With a p-value that all groups are alike.
    group_min, group_max, overall : Aggregate
        The smallest and the largest score, and the score of all cases, without a p-value.
    intervals : str
        What the intervals of the groups are, from which those of the summaries follow.
    undefined : dict of str to str
        The groups that are left out because their score is undefined, and why.

    Examples
    --------
    >>> groups = {"a": (3, 1, 0, 6), "b": (30, 30, 9, 40), "c": (0, 0, 4, 9)}
    >>> found = between_groups({name: ConfusionMatrix(*cells) for name, cells in groups.items()}, "tpr")
    >>> print(found)
    tpr of 2 groups
    difference 0.250, 95 % interval 0.000 to 0.645, p = 0.614 (exact permutation)
    ratio 0.667, 95 % interval 0.236 to 1.000, p = 0.614 (exact permutation)
    group_min 0.500, 95 % interval 0.153 to 0.649
    group_max 0.750, 95 % interval 0.351 to 0.997
    overall 0.516, 95 % interval 0.387 to 0.642
    c is left out: no actual positives (TP + FN = 0)
    """

    metric: str
    groups: int
    difference: Aggregate
    ratio: Aggregate
    group_min: Aggregate
    group_max: Aggregate
    overall: Aggregate
    intervals: str
    undefined: dict[str, str]

    def __str__(self) -> str:
        found = (self.difference, self.ratio, self.group_min, self.group_max, self.overall)
        left_out = [f"{printable(group)} is left out: {why}" for group, why in self.undefined.items()]
        head = f"{self.metric} of {several(self.groups, 'group')}"
        return "\n".join([head, *(one._first() for one in found), *left_out])


def between_groups(
    counts: Counts,
    metric: str | Metric,
    *,
    method: Method = "between_groups",
    level: float = 0.95,
    draws: int = 9_999,
    rng: Rng = 0,
) -> GroupSummaries:
    """Summarise the scores of named groups: difference, ratio, smallest, largest and overall, with intervals.

    Every group gets an interval at the level ``level ** (1 / k)``, where k is the number of groups, so that all of
    them contain the true scores together with probability ``level``. The intervals of difference, ratio, smallest and
    largest score are what these allow. For scores that depend on one rate, the groups' intervals are Clopper and
    Pearson's, so these four cover at least at the level, all at once. The interval of the overall score has the level
    on its own. Intervals of other scores are mid-p ones, whose coverage is about the level.
    """
    m = find_metric(metric)
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; use the one-group metric ({m.base.key})")
    _check_choice("method", method, get_args(Method))
    check_level(level)
    if method == "to_overall" and not m.base.is_rate:
        raise InvalidInput(
            f"`method='to_overall'` needs a metric that is a proportion of cases, and {m.key} is not one"
        )
    scored = _Scored.of(m.base, counts)
    difference, ratio = (
        aggregate(kind, kind, counts, [m.base], method=method, level=level, draws=draws, rng=rng)
        for kind in get_args(Kind)
    )
    return GroupSummaries(
        metric=m.key,
        groups=len(scored.groups),
        difference=difference,
        ratio=ratio,
        group_min=_summary(scored, "group_min", level),
        group_max=_summary(scored, "group_max", level),
        overall=_summary(scored, "overall", level),
        intervals="Clopper-Pearson" if m.base.curve is not None else "mid-p",
        undefined=scored.undefined,
    )


def aggregate(
    name: str,
    kind: Kind,
    counts: Counts,
    metrics: Sequence[OneGroup],
    *,
    method: Method = "between_groups",
    agg: Aggregation = "worst_case",
    level: float = 0.95,
    draws: int = 9_999,
    rng: Rng = 0,
    left_out: Mapping[str, int] | None = None,
) -> Aggregate:
    """The difference or the ratio of one metric over named groups, or the worst or the mean of those of two.

    The worst case is that of the metrics for which the difference or the ratio is defined. A mean needs all of them.
    """
    _check_choice("method", method, get_args(Method))
    _check_choice("agg", agg, get_args(Aggregation))
    check_level(level)
    draws, drawing = check_draws(draws), generator(rng)
    scored = [_Scored.of(m, counts) for m in metrics]
    reasons = {one.metric.key: why for one in scored if (why := one.reason(kind))}
    told = [one for one in scored if one.metric.key not in reasons]
    fields: dict[str, Any] = {
        "name": name,
        "level": level,
        "undefined": {one.metric.key: one.undefined for one in scored if one.undefined},
        "reason": "; ".join(reasons.values()) or None,
        "left_out": dict(left_out or {}),
    }
    if not told or (agg == "mean" and reasons):
        return Aggregate(estimate=nan, low=nan, high=nan, **fields)
    values = [float(one.compared(kind, method, one.scores)) for one in told]
    combined: Any = np.mean if agg == "mean" else np.max if kind == "difference" else np.min
    estimate, low, high = (
        float(combined(v)) for v in (values, *zip(*_intervals(kind, told, method, level), strict=True))
    )
    deciding = told if agg == "mean" else [told[values.index(estimate)]]
    if all(one.metric.curve is not None and not one.metric.unbounded for one in told):
        tables = [one.table(kind, method) for one in told]
        found = _permuted(tables, agg, draws, drawing)
        fields |= found._asdict() | {"rng": None if found.error is None else seed_of(rng)}
    return Aggregate(
        estimate=estimate,
        low=low,
        high=high,
        decided_by={one.metric.key: one.deciding(kind, method) for one in deciding if np.ptp(one.scores) > 0},
        **fields,
    )


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInput(argument=name, must=f"be {' or '.join(map(repr, choices))}", got=value)


@dataclass(frozen=True, slots=True)
class _Scored:
    """The groups for which a metric is defined, and why it is not for the others."""

    metric: OneGroup
    groups: tuple[str, ...]
    cells: Floats
    everybody: Floats
    undefined: dict[str, str]

    @classmethod
    def of(cls, m: OneGroup, counts: Counts) -> _Scored:
        reasons = {group: m.why_undefined(cm) for group, cm in counts.items()}
        defined = [group for group, why in reasons.items() if why is None]
        cells = np.array([counts[group].cells for group in defined], dtype=np.float64).reshape(-1, 4)
        everybody = np.array([cm.cells for cm in counts.values()], dtype=np.float64).reshape(-1, 4).sum(axis=0)
        return cls(m, tuple(defined), cells, everybody, {group: why for group, why in reasons.items() if why})

    @property
    def scores(self) -> Floats:
        """The scores of the groups that have one."""
        return self.metric.scores(self.cells)

    @property
    def overall(self) -> float:
        """The score of all cases together."""
        return float(self.metric.scores(self.everybody))

    def reason(self, kind: Kind) -> str | None:
        """Why there is no difference or no ratio; None if there is one."""
        key = self.metric.key
        if len(self.groups) < 2:
            return f"{key} is defined for {several(len(self.groups), 'group')}, and two are needed"
        if kind == "ratio" and self.metric.low < 0:
            return f"{key} can be negative, so its ratios have no meaning"
        return f"{key} is 0 in every group" if kind == "ratio" and not self.scores.any() else None

    def compared(self, kind: Kind, method: Method, scores: Floats) -> Floats:
        """The difference or the ratio of scores along the last axis."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if method == "between_groups":
                low, high = scores.min(axis=-1), scores.max(axis=-1)
                return np.asarray(high - low if kind == "difference" else low / high)
            if kind == "difference":
                return np.asarray(np.abs(scores - self.overall).max(axis=-1))
            to_overall = scores / self.overall
            return np.asarray(np.minimum(to_overall, 1 / to_overall).min(axis=-1))

    def deciding(self, kind: Kind, method: Method) -> tuple[str, ...]:
        """The groups that the estimate compares."""
        scores = self.scores
        if method == "between_groups":
            return self.groups[int(scores.argmin())], self.groups[int(scores.argmax())]
        each = [float(self.compared(kind, method, scores[[i]])) for i in range(len(scores))]
        return (self.groups[int(np.argmax(each) if kind == "difference" else np.argmin(each))],)

    def table(self, kind: Kind, method: Method) -> _Table:
        """The counts that a permutation would divide anew; large statistics are extreme."""
        part, whole = counts_of(self.metric, self.cells)
        curve, sign = self.metric.curve, 1.0 if kind == "difference" else -1.0
        assert curve is not None
        # A ratio is as precise as its scores, a difference only as the larger one.
        scale = float(self.scores.max()) if kind == "difference" else None
        return _Table(part, whole, lambda parts: sign * self.compared(kind, method, curve.score(parts / whole)), scale)


def _summary(scored: _Scored, name: str, level: float) -> Aggregate:
    """The smallest or the largest score of the groups, or the score of all cases."""
    m = scored.metric
    overall = name == "overall"
    cells = scored.everybody[None] if overall else scored.cells
    scores = m.scores(cells)
    undefined = {m.key: scored.undefined} if scored.undefined and not overall else {}
    if not len(scores) or isnan(scores[0]):
        reason = m.why_undefined(scored.everybody) if overall else f"{m.key} is undefined in every group"
        return Aggregate(name=name, estimate=nan, low=nan, high=nan, level=level, undefined=undefined, reason=reason)
    at = int(scores.argmax() if name == "group_max" else scores.argmin())
    box = box_of(m, cells, level)
    low, high = box.largest if name == "group_max" else box.smallest
    decided_by: dict[str, tuple[str, ...]] = {} if overall else {m.key: (scored.groups[at],)}
    return Aggregate(
        name=name,
        estimate=float(scores[at]),
        low=low,
        high=high,
        level=level,
        decided_by=decided_by,
        undefined=undefined,
    )


def _intervals(kind: Kind, found: Sequence[_Scored], method: Method, level: float) -> list[tuple[float, float]]:
    """The interval of each metric's difference or ratio, all of which hold together."""
    total = sum(len(scored.groups) for scored in found)
    boxes = [box_of(scored.metric, scored.cells, level ** (len(scored.groups) / total)) for scored in found]
    return [box.difference(method) if kind == "difference" else box.ratio(method) for box in boxes]


@dataclass(frozen=True, slots=True)
class _Table:
    """The successes and the cases of each group, of which none is without cases.

    ``statistic`` is that of tables of successes along the first axis; large ones are extreme. ``scale`` is the size of
    the numbers whose difference it is.
    """

    part: Floats
    whole: Floats
    statistic: Callable[[Floats], Floats]
    scale: float | None

    @property
    def observed(self) -> float:
        return float(self.statistic(self.part[None])[0])

    def law(self) -> tuple[Floats, Floats] | None:
        """The statistics of all tables and their probabilities; None if there are too many tables."""
        from scipy.special import gammaln

        successes, cases = self.part.sum(), self.whole.sum()
        last = int(self.whole.argmax())
        ends = [
            (max(0.0, n - (cases - successes)), min(n, successes) + 1) for i, n in enumerate(self.whole) if i != last
        ]
        if np.prod([max(end - start, 0.0) for start, end in ends]) > _MOST_TABLES:
            return None
        ranges = [np.arange(start, end) for start, end in ends]
        free = np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=-1)
        tables = np.insert(free, last, successes - free.sum(axis=1), axis=1)
        tables = tables[(tables[:, last] >= 0) & (tables[:, last] <= self.whole[last])]
        ways = gammaln(self.whole + 1) - gammaln(tables + 1) - gammaln(self.whole - tables + 1)
        weights = ways.sum(axis=1)
        weights = np.exp(weights - weights.max())
        return self.statistic(tables), weights / weights.sum()

    def sample(self, draws: int, rng: np.random.Generator) -> Floats:
        """The statistics of random tables."""
        if self.whole.sum() >= 10**9:
            raise TooLarge(
                "random tables are drawn from fewer than 1e9 cases; with so many, compare groups with audit_counts()"
            )
        whole = self.whole.astype(np.int64)
        tables = rng.multivariate_hypergeometric(whole, int(self.part.sum()), size=draws, method="marginals")
        return self.statistic(tables.astype(np.float64))


def _permuted(tables: Sequence[_Table], agg: Aggregation, draws: int, rng: np.random.Generator) -> PValue:
    """The test of the worst or the mean statistic of one or two independent tables."""
    combined: Any = np.mean if agg == "mean" else np.max
    observed = float(combined([table.observed for table in tables]))
    scales = [table.scale for table in tables if table.scale is not None]
    scale = max(scales) if scales else None
    laws = [found for table in tables if (found := table.law()) is not None]
    if len(laws) == len(tables):
        if len(laws) == 1 or agg == "worst_case":
            # The chance that any of the independent tables is as extreme, without cancellation.
            total = 0.0
            for values, chances in laws:
                total += exact_test(values, chances, observed, scale=scale).pvalue * (1 - total)
            return PValue(total, "exact permutation", None)
        (first, p), (second, q) = (_merged(*law) for law in laws)
        if len(first) * len(second) <= _MOST_PAIRS:
            return exact_test((first[:, None] + second) / 2, p[:, None] * q, observed, scale=scale)
    drawn = combined([table.sample(draws, rng) for table in tables], axis=0)
    return drawn_test(drawn, observed, scale=scale, method=f"permutation, {several(draws, 'draw')}")


def _merged(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    distinct, where = np.unique(np.round(values, 13), return_inverse=True)
    return distinct, np.bincount(where.ravel(), weights).astype(np.float64)
