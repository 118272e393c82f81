"""One number over the scores of all groups, with an interval and a p-value.

The interval follows from simultaneous intervals of all groups, the p-value from permutations of the cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, printable
from ..inference import counts_of
from ..metrics import OneGroup
from ..metrics import metric as find_metric
from ..records import Record
from .permutations import Aggregation, Table, permutation_pvalue
from .simultaneous import Ends, Method, box_of

__all__ = [
    "Aggregate",
    "Kind",
    "Scored",
    "aggregate",
    "check_choice",
    "check_draws",
    "check_level",
    "intervals",
    "lacking",
    "named",
    "rate",
]

Floats = NDArray[np.float64]
Kind = Literal["difference", "ratio"]

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
    test : str or None
        How the p-value was found: exactly, or from random permutations.
    decided_by : dict of str to tuple of str
        By metric, the groups that the estimate compares, the one with the lower score first; or one group, if it is
        compared with all cases; none if all scores are equal.
    undefined : dict of str to dict of str to str
        By metric, the groups that are left out because their score is undefined, and why.
    reason : str or None
        Why the estimate is undefined.
    left_out : dict of str to int
        How many rows were left out, by what they lack.

    Examples
    --------
    >>> from evenhand.interop import equal_opportunity_difference
    >>> found = equal_opportunity_difference(
    ...     [1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1], sensitive_features=["a", "a", "b", "b", "c", "c"]
    ... )
    >>> print(found)
    equal_opportunity_difference 0.5, 95 % interval 0 to 0.9936, p-value 1 (exact permutation)
    tpr: a to b
    tpr of c is undefined and left out: no actual positives (TP + FN = 0)
    """

    name: str
    estimate: float
    low: float
    high: float
    level: float
    pvalue: float | None
    test: str | None
    decided_by: dict[str, tuple[str, ...]]
    undefined: dict[str, dict[str, str]]
    reason: str | None
    left_out: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self._first()]
        for key, groups in self.decided_by.items():
            lines.append(f"{key}: {' to '.join(map(printable, groups))}")
        lines += [
            f"{key} of {printable(group)} is undefined and left out: {why}"
            for key, groups in self.undefined.items()
            for group, why in groups.items()
        ]
        return "\n".join([*lines, *lacking(self.left_out)])

    def _first(self) -> str:
        if isnan(self.estimate):
            return f"{self.name} is undefined: {self.reason}"
        found = f"{self.name} {self.estimate:.4g}, {100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"
        return found if self.pvalue is None else f"{found}, p-value {self.pvalue:.3g} ({self.test})"

    def __float__(self) -> float:
        return self.estimate


@dataclass(frozen=True, slots=True)
class Scored:
    """The groups for which a metric is defined, and why it is not for the others."""

    metric: OneGroup
    groups: tuple[str, ...]
    cells: Floats
    everybody: Floats
    undefined: dict[str, str]

    @classmethod
    def of(cls, m: OneGroup, counts: Sequence[tuple[str, ConfusionMatrix]]) -> Scored:
        """Sort groups by whether the score is defined."""
        reasons = [m.why_undefined(cm) for _, cm in counts]
        defined = [(group, cm) for (group, cm), why in zip(counts, reasons, strict=True) if why is None]
        cells = np.array([cm.cells for _, cm in defined], dtype=np.float64).reshape(-1, 4)
        left_out = {group: why for (group, _), why in zip(counts, reasons, strict=True) if why is not None}
        everybody = np.array([cm.cells for _, cm in counts], dtype=np.float64).sum(axis=0)
        return cls(m, tuple(group for group, _ in defined), cells, everybody, left_out)

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
            return f"{key} is defined for {len(self.groups)} group{'s' * (len(self.groups) != 1)}, and two are needed"
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

    def table(self, kind: Kind, method: Method) -> Table:
        """The counts that a permutation would divide anew."""
        part, whole = counts_of(self.metric, self.cells)
        curve = self.metric.curve
        assert curve is not None
        return Table(part, whole, lambda parts: self.compared(kind, method, curve.score(parts / whole)))


def aggregate(
    name: str,
    kind: Kind,
    found: Sequence[Scored],
    *,
    method: Method,
    level: float,
    agg: Aggregation = "worst_case",
    draws: int = 9_999,
    seed: int = 0,
    left_out: Mapping[str, int] | None = None,
) -> Aggregate:
    """The difference or the ratio of one metric, or the worst or the mean of those of two.

    The worst case is that of the metrics for which the difference or the ratio is defined. A mean needs all of them.
    """
    reasons = {scored.metric.key: why for scored in found if (why := scored.reason(kind))}
    told = [scored for scored in found if scored.metric.key not in reasons]
    undefined = {scored.metric.key: scored.undefined for scored in found if scored.undefined}
    if not told or (agg == "mean" and reasons):
        reason = "; ".join(reasons.values())
        return Aggregate(
            name=name, estimate=nan, low=nan, high=nan, level=level, pvalue=None, test=None, decided_by={},
            undefined=undefined, reason=reason, left_out=dict(left_out or {}),
        )  # fmt: skip
    values = [float(scored.compared(kind, method, scored.scores)) for scored in told]
    larger = kind == "difference"
    worst = max if larger else min
    ends = intervals(kind, told, method, level)
    if agg == "mean":
        estimate, low, high = (float(np.mean(v)) for v in (values, *zip(*ends, strict=True)))
        deciding = told
    else:
        estimate, low, high = (worst(v) for v in (values, *zip(*ends, strict=True)))
        deciding = [told[values.index(estimate)]]
    pvalue, test = None, None
    if all(scored.metric.curve is not None and not scored.metric.unbounded for scored in told):
        pvalue, test = permutation_pvalue([s.table(kind, method) for s in told], larger, agg, draws, seed)
    return Aggregate(
        name=name,
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        pvalue=pvalue,
        test=test,
        decided_by={s.metric.key: s.deciding(kind, method) for s in deciding if np.ptp(s.scores) > 0},
        undefined=undefined,
        reason="; ".join(reasons.values()) or None,
        left_out=dict(left_out or {}),
    )


def intervals(kind: Kind, found: Sequence[Scored], method: Method, level: float) -> list[Ends]:
    """The interval of each metric's difference or ratio, all of which hold together."""
    total = sum(len(scored.groups) for scored in found)
    ends = []
    for scored in found:
        box = box_of(scored.metric, scored.cells, level ** (len(scored.groups) / total))
        ends.append(box.difference(method) if kind == "difference" else box.ratio(method))
    return ends


def lacking(left_out: Mapping[str, int], selects: bool = False) -> Iterator[str]:
    """A line per reason for which rows were left out; with ``selects``, those without a label count as selected."""
    for what, text in _LACKING.items():
        if n := left_out.get(what, 0):
            but = ", and counted in selection rates only" if selects and what == "y_true" else ""
            yield f"{n:,} row{'s' * (n != 1)} without {text} {'is' if n == 1 else 'are'} left out{but}"


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise an error if an option is none of its choices."""
    if value not in choices:
        raise InvalidInput(f"{name} must be {' or '.join(map(repr, choices))}; got {value!r}")


def check_draws(draws: Any, seed: Any) -> None:
    """Raise an error if a number of draws or a seed is not one."""
    for name, value, least in (("draws", draws, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise InvalidInput(f"{name} must be a whole number of at least {least}; got {value!r}")


def named(key: tuple[Any, ...]) -> str:
    """A group as it is called in results."""
    return " & ".join("missing" if value is None else str(value) for value in key)


def check_level(level: Any) -> None:
    """Raise an error if a level does not lie between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise InvalidInput(f"level must lie between 0 and 1; got {level!r}")


def rate(key: str) -> OneGroup:
    """A metric of the catalogue that reads one group."""
    return find_metric(key).base
