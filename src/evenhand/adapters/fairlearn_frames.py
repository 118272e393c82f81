"""Metrics inside fairlearn's `MetricFrame`, and the way from such a frame to an audit.

A `MetricFrame` keeps the results of its metrics per group and not the data that it was made from. An audit needs the
counts of each group, which are either among the results, if `confusion_counts` is one of the metrics, or follow from
the number of cases and enough rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..auditing import Audit, audit_counts
from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..metrics import Metric, OneGroupMetric, metric as find_metric

__all__ = ["confusion_counts", "from_metric_frame", "metric_function"]

Floats = NDArray[np.float64]

# Names of the column that has the number of cases; "count" is fairlearn's.
_SIZES = ("count", "n", "size", "support")
# Rates are quotients of counts in floating point, so the counts that solve them are whole up to rounding.
_WHOLE = 1e-6


def confusion_counts(y_true: Any, y_pred: Any, *, positive: object = 1) -> ConfusionMatrix:
    """Count labels against predictions, as a metric of fairlearn's `MetricFrame`.

    Among the metrics of a frame, it keeps the counts that `from_metric_frame` needs.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions, as for `ConfusionMatrix.from_labels`.
    positive : label or list of labels
        The positive labels; 1 by default, as in fairlearn. A group may contain only one label, so it is not inferred.
        In a frame, pass another one with `functools.partial`.

    Returns
    -------
    ConfusionMatrix
        The counts.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame
    >>> frame = MetricFrame(
    ...     metrics={"counts": confusion_counts}, y_true=[1, 1, 0, 1], y_pred=[1, 0, 0, 1],
    ...     sensitive_features=["a", "a", "b", "b"],
    ... )
    >>> frame.by_group["counts"]["a"]
    ConfusionMatrix(tp=1, fn=1, fp=0, tn=0)
    """
    return ConfusionMatrix.from_labels(y_true, y_pred, positive)


def metric_function(metric: str | Metric, *, positive: object = 1) -> Any:
    """Turn a metric of one group into a metric of fairlearn's `MetricFrame`.

    A metric itself is such a function too, as long as every group contains both labels. In a group with only one label
    the positive one cannot be inferred; here it is given.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group; or ``"count"``, the number of cases.
    positive : label or list of labels
        The positive labels; 1 by default, as in fairlearn.

    Returns
    -------
    callable
        A function of ``(y_true, y_pred)`` named after the metric. It returns nan where the metric is undefined, which
        `MetricFrame` leaves out of its summaries.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame
    >>> frame = MetricFrame(
    ...     metrics=metric_function("tpr"), y_true=[1, 1, 0, 0], y_pred=[1, 0, 0, 0], sensitive_features=list("aabb")
    ... )
    >>> frame.by_group.to_dict()
    {'a': 0.5, 'b': nan}
    """
    if isinstance(metric, str) and metric.casefold() == "count":
        return _count
    m = find_metric(metric)
    if not isinstance(m, OneGroupMetric):
        raise InvalidInput(f"{m.key} compares two groups, and a metric of a MetricFrame sees one; use audit()")
    return _FrameMetric(m, positive)


def _count(y_true: Any, y_pred: Any) -> int:
    """The number of cases."""
    return len(y_true)


_count.__name__ = "count"


@dataclass(frozen=True, slots=True)
class _FrameMetric:
    """A metric with its positive label, as a function that survives a trip to another process."""

    metric: OneGroupMetric
    positive: object

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        return float(self.metric(confusion_counts(y_true, y_pred, positive=self.positive)))

    @property
    def __name__(self) -> str:
        return self.metric.key


def from_metric_frame(frame: Any, *, columns: Mapping[str, str] | None = None, **settings: Any) -> Audit:
    """Audit the groups of a fairlearn `MetricFrame`, within the strata of its control features if it has any.

    A frame does not keep its data, only what its metrics returned. If one of the metrics is `confusion_counts`, or
    scikit-learn's ``confusion_matrix`` with ``labels=``, the counts are read from there. Otherwise they are solved for:
    the number of cases and three rates of a group are linear equations in its four counts, if the rates tell them
    apart. A frame from which the counts do not follow uniquely is refused.

    Parameters
    ----------
    frame : fairlearn.metrics.MetricFrame
        A frame of two-class labels and predictions, without sample weights. Groups that it combines from several
        sensitive features are audited by each feature and by their crossings.
    columns : mapping of str to str, optional
        What the metrics of the frame are, by their names there: the name of a metric of this library, or ``"count"``.
        By default they are recognised by their names, and those with other names are ignored.
    **settings
        Settings of the audit, as for `audit_counts`.

    Returns
    -------
    Audit
        The audit. If the frame has control features, their values are its strata (``strata``).

    Raises
    ------
    InvalidInput
        If the counts do not follow from the frame; the message says what is missing.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame, count, false_positive_rate, selection_rate, true_positive_rate
    >>> y_true = [1] * 8 + [0] * 8 + [1] * 6 + [0] * 6
    >>> y_pred = [1] * 6 + [0] * 10 + [1] * 2 + [0] * 9 + [1]
    >>> frame = MetricFrame(
    ...     metrics={f.__name__: f for f in (count, selection_rate, true_positive_rate, false_positive_rate)},
    ...     y_true=y_true, y_pred=y_pred, sensitive_features={"sex": ["f"] * 16 + ["m"] * 12},
    ... )
    >>> for row in from_metric_frame(frame, metrics="tpr").rows:
    ...     print(row.by, row.group, row.cells, row.verdict.value)
    sex f (6, 2, 0, 8) inconclusive
    sex m (2, 4, 1, 5) inconclusive
    """
    by_group = getattr(frame, "by_group", None)
    if by_group is None or not hasattr(by_group, "index"):
        raise InvalidInput(f"`frame` must be a MetricFrame of fairlearn; got {type(frame).__name__}")
    if "by" in settings or "strata" in settings:
        name, what = ("by", "group columns") if "by" in settings else ("strata", "control features")
        raise InvalidInput(f"`{name}` must be left out: the frame has the names of its {what}")
    table = by_group.to_frame() if by_group.ndim == 1 else by_group
    by = [str(name) for name in table.index.names]
    counts: dict[Any, ConfusionMatrix] = {}
    results = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    read = _reader(results, columns or {})
    for group, found in zip(table.index.tolist(), results, strict=True):
        if all(_is_missing(value) for name, value in found.items() if name in read.names):
            # fairlearn lists combinations of features that nobody has, with nan for every metric.
            continue
        key = group if isinstance(group, tuple) else (group,)
        counts[key] = read(", ".join(map(str, key)), found)
    if not counts:
        raise InvalidInput("`frame` must have at least one group with cases; got none")
    if control := [str(name) for name in getattr(frame, "control_levels", None) or []]:
        settings["strata"] = control
    return audit_counts(counts, by=by, **settings)


@dataclass(frozen=True, slots=True)
class _Reader:
    """How the counts of a group follow from its results."""

    whole: str | None
    sizes: tuple[str, ...]
    rates: Mapping[str, OneGroupMetric]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.whole,) if self.whole else (*self.sizes, *self.rates)

    def __call__(self, group: str, found: Mapping[str, Any]) -> ConfusionMatrix:
        return _as_matrix(self.whole, group, found[self.whole]) if self.whole else self._solved(group, found)

    def _solved(self, group: str, found: Mapping[str, Any]) -> ConfusionMatrix:
        n = float(found[self.sizes[0]])
        if isnan(n) or n < 1 or n != round(n):
            raise InvalidInput(f"{self.sizes[0]} of the group {group} must be a number of cases; got {n:g}")
        equations, totals = [[1.0, 1.0, 1.0, 1.0]], [n]
        for name, m in self.rates.items():
            for equation in _equations(m, float(found[name])):
                equations.append(equation)
                totals.append(0.0)
        cells, _, rank, _ = np.linalg.lstsq(np.array(equations), np.array(totals), rcond=1e-9)
        used = ", ".join(self.rates) or "no rate"
        if rank < 4:
            raise InvalidInput(
                f"the counts of the group {group} do not follow from {self.sizes[0]} and {used}; add "
                "confusion_counts to the metrics of the frame"
            )
        counts = np.asarray(np.round(cells), dtype=np.float64)
        missed = np.abs(np.array(equations) @ counts - totals).max()
        if (counts < 0).any() or missed > _WHOLE:
            raise InvalidInput(
                f"no whole counts of the group {group} have these results ({used}); the frame must be made without "
                "sample weights, and `columns=` must say what its metrics are if their names do not"
            )
        return ConfusionMatrix.from_array(list(map(int, counts.tolist())))


def _equations(m: OneGroupMetric, value: float) -> list[list[float]]:
    """Linear equations in the cells that a rate fulfils, whose right sides are 0.

    A rate of 0 says that the part is empty, which also holds where 0 was returned because the whole is; nan says that
    the whole is empty.
    """
    assert m.quotient is not None
    part, whole = map(np.array, m.quotient)
    if isnan(value):
        return [(whole * one).tolist() for one in np.eye(4)]
    return [(part - value * whole).tolist()]


def _reader(results: list[dict[str, Any]], columns: Mapping[str, str]) -> _Reader:
    names = list(results[0]) if results else []
    for name in columns:
        if name not in names:
            raise UnknownName.among("metric of the frame", name, names)
    for name in names:
        if any(isinstance(found[name], ConfusionMatrix) or np.ndim(found[name]) == 2 for found in results):
            return _Reader(name, (), {})
    sizes, rates = [], {}
    for name in names:
        meant = columns.get(name, name)
        if meant.strip().casefold() in _SIZES:
            sizes.append(name)
        elif (m := _known(meant, name in columns)) is not None:
            rates[name] = m
    if not sizes:
        raise InvalidInput(
            f"the number of cases per group is not among the metrics of the frame ({', '.join(names)}), and a "
            "MetricFrame does not keep its data; add confusion_counts to its metrics, or fairlearn's count and rates"
        )
    return _Reader(None, tuple(sizes), rates)


def _known(name: str, told: bool) -> OneGroupMetric | None:
    """The rate of that name; None if there is none, unless the name was given in ``columns``."""
    try:
        m = find_metric(name)
    except InvalidInput:
        if told:
            raise
        return None
    if isinstance(m, OneGroupMetric) and m.quotient is not None and not m.is_unbounded:
        return m
    if told:
        raise InvalidInput(
            f"{m.key} is not a proportion of counts, so no counts follow from it; leave it out of `columns`"
        )
    return None


def _as_matrix(name: str, group: str, value: Any) -> ConfusionMatrix:
    if isinstance(value, ConfusionMatrix):
        return value
    if np.shape(value) != (2, 2):
        raise InvalidInput(
            f"{name} of the group {group} must be a matrix of two classes; got the shape {np.shape(value)}, so pass "
            "labels= to confusion_matrix, or use confusion_counts"
        )
    return ConfusionMatrix.from_sklearn(value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))
