"""For fairlearn: metrics inside a `MetricFrame`, audits of such frames, and its parity functions.

A `MetricFrame` keeps the results of its metrics per group, not the data. It can be audited if one of
its metrics is `confusion_counts`. The parity functions return plain numbers, without tests. Groups
whose score is undefined are left out with a warning, and never count as 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from math import isnan, nan
from typing import Any

import numpy as np

from .auditing import Audit, audit, audit_counts
from .confusion import ConfusionMatrix
from .errors import InvalidInput
from .metrics import Metric, OneGroupMetric, metric as find_metric
from .wording import several

_RATES = {
    "demographic_parity": ["ppr"],
    "equal_opportunity": ["tpr"],
    "equalized_odds": ["tpr", "fpr"],
}
__all__ = ["confusion_counts", "from_metric_frame", "metric_function"]
__all__ += [f"{parity}_{kind}" for parity in _RATES for kind in ("difference", "ratio")]


def confusion_counts(y_true: Any, y_pred: Any, *, positive: object = 1) -> ConfusionMatrix:
    """Count labels against predictions, as a metric of fairlearn's `MetricFrame`.

    Among the metrics of a frame, it keeps the counts that `from_metric_frame` needs.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions, as for `ConfusionMatrix.from_labels`.
    positive : label or list of labels
        The positive labels; 1 by default, as in fairlearn. It is not inferred, since a group may
        contain only one label. In a frame, pass another one with `functools.partial`.

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


def metric_function(metric: str | Metric, *, positive: object = 1) -> Callable[[Any, Any], float]:
    """Turn a metric of one group into a metric of fairlearn's `MetricFrame`.

    A metric itself is such a function too, as long as every group contains both labels. In a group
    with only one label the positive one cannot be inferred; here it is given.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    positive : label or list of labels
        The positive labels; 1 by default, as in fairlearn.

    Returns
    -------
    callable
        A function of ``(y_true, y_pred)`` named after the metric. It returns nan where the metric is
        undefined, which `MetricFrame` leaves out of its summaries.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame
    >>> frame = MetricFrame(
    ...     metrics=metric_function("tpr"), y_true=[1, 1, 0, 0], y_pred=[1, 0, 0, 0],
    ...     sensitive_features=list("aabb"),
    ... )
    >>> frame.by_group.to_dict()
    {'a': 0.5, 'b': nan}
    """
    m = find_metric(metric)
    if not isinstance(m, OneGroupMetric):
        sees = "compares two groups, and a metric of a MetricFrame sees one"
        raise InvalidInput(f"{m.key} {sees}; use audit()")
    function = partial(_score, metric=m, positive=positive)
    function.__name__ = m.key  # type: ignore[attr-defined]
    return function


def _score(y_true: Any, y_pred: Any, metric: OneGroupMetric, positive: object) -> float:
    return float(metric(confusion_counts(y_true, y_pred, positive=positive)))


def from_metric_frame(frame: Any, **settings: Any) -> Audit:
    """Audit the groups of a fairlearn `MetricFrame`.

    Parameters
    ----------
    frame : fairlearn.metrics.MetricFrame
        A frame with `confusion_counts`, or scikit-learn's ``confusion_matrix`` with ``labels=``,
        among its metrics. Groups that it combines from several sensitive features are audited by
        each feature and by their intersections. Its control features, if it has any, are strata.
    **settings
        Settings of the audit, as for `audit_counts`.

    Returns
    -------
    Audit
        The audit.

    Examples
    --------
    >>> from fairlearn.metrics import MetricFrame
    >>> y_true = [1] * 8 + [0] * 8 + [1] * 6 + [0] * 6
    >>> y_pred = [1] * 6 + [0] * 10 + [1] * 2 + [0] * 9 + [1]
    >>> frame = MetricFrame(
    ...     metrics={"counts": confusion_counts}, y_true=y_true, y_pred=y_pred,
    ...     sensitive_features={"sex": ["f"] * 16 + ["m"] * 12},
    ... )
    >>> for row in from_metric_frame(frame, metrics="tpr").rows:
    ...     print(row.by, row.group, row.cells, row.verdict.value)
    sex f (6, 2, 0, 8) inconclusive
    sex m (2, 4, 1, 5) inconclusive
    """
    by_group: Any = getattr(frame, "by_group", None)
    if not hasattr(by_group, "index"):
        raise InvalidInput(argument="frame", must="be a MetricFrame of fairlearn", got=frame)
    results = by_group.to_frame() if by_group.ndim == 1 else by_group
    counts = {}
    for name in results:
        for group, value in results[name].items():
            key = group if isinstance(group, tuple) else (group,)
            if isinstance(value, np.ndarray):
                counts[key] = ConfusionMatrix.from_sklearn(value)
            elif isinstance(value, ConfusionMatrix):
                counts[key] = value
    if not counts:
        must = "have confusion_counts among its metrics, since it does not keep its data"
        raise InvalidInput(argument="frame", must=must)
    if control := getattr(frame, "control_levels", None):
        settings["strata"] = list(map(str, control))
    return audit_counts(counts, by=list(map(str, by_group.index.names)), **settings)


def _make_parity(name: str, example: float) -> Callable[..., float]:
    """The function of fairlearn's name that compares the rates of all groups."""
    parity, _, kind = name.rpartition("_")
    rates = _RATES[parity]

    def compare(
        y_true: Any, y_pred: Any, *, sensitive_features: Any, positive: Any = None
    ) -> float:
        """The {extreme} {kind} of two groups in {rates}.

        Equal to fairlearn's function of this name if every group has a score. A group whose score
        is undefined is left out with a warning; fairlearn counts it as 0.

        Parameters
        ----------
        y_true, y_pred : sequence
            Labels and predictions of two classes. Demographic parity does not use the labels.
        sensitive_features : sequence, mapping of columns or dataframe
            The group of each case; with several columns, groups are combinations of their values.
        positive : label or list of labels, optional
            The positive labels; by default they are inferred where they are unambiguous.

        Returns
        -------
        float
            The {kind}; nan if fewer than two groups have a score.

        Examples
        --------
        >>> from evenhand.fairlearn import {name}
        >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
        >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
        >>> sex = ["f"] * 5 + ["m"] * 5
        >>> round({name}(y_true, y_pred, sensitive_features=sex), 3)
        {example}
        """
        result = audit(
            y_true=y_true if "tpr" in rates else None,
            y_pred=y_pred,
            groups=sensitive_features,
            positive=positive,
            metrics=rates,
            intersections="all",
        )
        lacking = result.left_out.items()
        messages = [f"{several(n, 'row')} without {column} left out" for column, n in lacking]
        gaps = [_largest_gap(result, key, kind, messages) for key in rates]
        for message in messages:
            warnings.warn(message, UserWarning, stacklevel=2)
        if np.isnan(gaps).all():
            return nan
        return float(np.nanmax(gaps) if kind == "difference" else np.nanmin(gaps))

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = (compare.__doc__ or "").format(
        name=name,
        kind=kind,
        extreme="largest" if kind == "difference" else "smallest",
        rates=" or ".join(find_metric(key).name.lower() for key in rates),
        example=example,
    )
    return compare


def _largest_gap(result: Audit, key: str, kind: str, messages: list[str]) -> float:
    """The largest gap in a rate between the groups of all columns; ``messages`` get warnings."""
    *_, by = result.provenance["order"]
    rows = [row for row in result.rows if (row.by, row.metric) == (by, key)]
    without = [row for row in rows if isnan(row.score)]
    messages += [f"{key} of {row.group} is undefined: {row.reason}" for row in without]
    scores: list[float] = [row.score for row in rows if not isnan(row.score)]
    if len(scores) < 2:
        groups = several(len(scores), "group")
        messages.append(f"{key} is defined in {groups}; a gap needs two")
        return nan
    low, high = min(scores), max(scores)
    if kind == "difference":
        return high - low
    if high == 0:
        messages.append(f"{key} is 0 in every group, and has no ratio")
        return nan
    return low / high


demographic_parity_difference = _make_parity("demographic_parity_difference", 0.6)
demographic_parity_ratio = _make_parity("demographic_parity_ratio", 0.25)
equal_opportunity_difference = _make_parity("equal_opportunity_difference", 0.5)
equal_opportunity_ratio = _make_parity("equal_opportunity_ratio", 0.5)
equalized_odds_difference = _make_parity("equalized_odds_difference", 0.5)
equalized_odds_ratio = _make_parity("equalized_odds_ratio", 0.0)
