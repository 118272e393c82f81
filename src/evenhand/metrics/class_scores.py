"""Scores of every class against the rest, and scores of classes by their names."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, ClassVar, get_args

import numpy as np

from ..cells import MulticlassConfusion, count_text
from ..errors import InvalidInput, UnknownName, brief, printable
from ..records import Record
from ..text_layout import aligned
from .catalogue import CATALOGUE, metric
from .class_summaries import Average, Summary, Undefined, one_group, summary_of
from .shapes import Metric

__all__ = ["ClassScores", "class_scores", "parsed"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClassScores(Record):
    """The result of `MulticlassConfusion.scores`: metrics of every class against the rest.

    Attributes
    ----------
    labels : tuple
        The classes.
    metrics : tuple of str
        The keys of the metrics.
    values : tuple of tuple of float
        The scores, one row per class and one column per metric; nan where undefined.

    Examples
    --------
    >>> from evenhand import MulticlassConfusion
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], labels=["cat", "dog", "fox"])
    >>> scores = cm.scores(["tpr", "ppv"])
    >>> print(scores)
    class    tpr     ppv  n
    cat     0.75       1  4
    dog        1  0.6667  2
    fox        -       -  0
    >>> scores["dog", "ppv"], scores.undefined[0]["reason"]
    (0.6666666666666666, 'no actual positives (TP + FN = 0)')
    """

    labels: tuple[Any, ...]
    metrics: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    _cm: MulticlassConfusion = field(repr=False)
    _derived: ClassVar[tuple[str, ...]] = ("undefined",)

    def __getitem__(self, which: tuple[Hashable, str]) -> float:
        label, name = which
        return self.values[self._cm.place(label)][self._column(name)]

    @property
    def undefined(self) -> list[dict[str, Any]]:
        """The classes and metrics without a score, each with the reason.

        Examples
        --------
        >>> from evenhand import MulticlassConfusion
        >>> MulticlassConfusion.from_array([[3, 0], [0, 0]]).scores("tpr").undefined
        [{'label': 1, 'metric': 'tpr', 'reason': 'no actual positives (TP + FN = 0)'}]
        """
        return [
            {"label": label, "metric": key, "reason": metric(key).why_undefined(self._cm, label=label)}
            for label, row in zip(self.labels, self.values, strict=True)
            for key, value in zip(self.metrics, row, strict=True)
            if isnan(value)
        ]

    def _column(self, name: str) -> int:
        key = CATALOGUE.find(name).key
        if key not in self.metrics:
            raise UnknownName.among("metric of these scores", key, self.metrics)
        return self.metrics.index(key)

    def __str__(self) -> str:
        sizes = self._cm.actual
        rows = [["class", *self.metrics, "n"]]
        for label, values in zip(self.labels, self.values, strict=True):
            scores = ("-" if isnan(value) else f"{value:.4g}" for value in values)
            rows.append([printable(str(label)), *scores, count_text(sizes[label])])
        return "\n".join(aligned(rows, right=range(1, len(rows[0]))))


def class_scores(cm: MulticlassConfusion, metrics: str | Metric | Sequence[str | Metric] | None = None) -> ClassScores:
    """What `MulticlassConfusion.scores` returns."""
    if metrics is None:
        chosen = list(CATALOGUE.one_group)
    else:
        chosen = [one_group(metric(m)) for m in ([metrics] if isinstance(metrics, (str, Metric)) else metrics)]
    if not chosen:
        raise InvalidInput(argument="metrics", must="contain at least one metric")
    cells = cm.one_against_rest
    table = np.stack([m.scores(cells) for m in chosen], axis=-1)
    return ClassScores(
        labels=cm.labels,
        metrics=tuple(m.key for m in chosen),
        values=tuple(tuple(row) for row in table.tolist()),
        _cm=cm,
    )


def parsed(name: str, labels: Sequence[Any], undefined: Undefined = "propagate") -> Summary:
    """The summary of this name: a metric, or an average and a metric.

    >>> parsed("weighted precision", ["a", "b"]).key
    'weighted ppv'
    """
    if not isinstance(name, str):
        raise InvalidInput(f"an average must be text such as 'macro f1' or 'mcc'; got {brief(name)}")
    first, _, rest = name.strip().partition(" ")
    chosen = next((average for average in get_args(Average) if first.casefold() == average), None)
    found = metric(rest if chosen and rest else name)
    return summary_of(found, labels, chosen if rest else None, undefined=undefined)
