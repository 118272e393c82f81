"""Scores of a K x K matrix: each class against the rest, averages over classes, and scores of all classes at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, ClassVar

import numpy as np

from ..errors import InvalidInput, UnknownName, printable
from ..metrics import CATALOGUE, Metric
from ..records import Record
from .matrix import MulticlassConfusion
from .summaries import Average, Undefined, one_group, summary_of

__all__ = ["ClassScores", "MulticlassScore", "class_scores", "multiclass_score"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MulticlassScore(Record):
    """The result of `multiclass_score`; ``float`` gives its value.

    Attributes
    ----------
    metric : str
        The key of the metric.
    average : str or None
        The average over classes.
    label : label or None
        The class that is scored against the rest.
    value : float
        The score; nan if undefined.
    reason : str or None
        Why it is undefined; None if it is defined.
    classes : tuple
        The classes that the score is made of.
    left_out : dict of label to str
        The classes that it leaves out, and why.
    n : float
        The number of cases.

    Examples
    --------
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], labels=["cat", "dog", "fox"])
    >>> score = multiclass_score(cm, "tpr", average="macro", undefined="omit")
    >>> float(score), score.classes
    (0.875, ('cat', 'dog'))
    >>> print(multiclass_score(cm, "tpr", average="macro"))
    macro tpr undefined: undefined for 1 of 3 classes: 'fox', no actual positives (TP + FN = 0)
    """

    metric: str
    average: Average | None
    label: Any
    value: float
    reason: str | None
    classes: tuple[Any, ...]
    left_out: dict[Any, str]
    n: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        name = f"{self.average} {self.metric}" if self.average else self.metric
        if self.label is not None:
            name += f" of {printable(repr(self.label))} against the rest"
        if self.reason is not None:
            return f"{name} undefined: {printable(self.reason)}"
        if not self.left_out:
            return f"{name} {self.value:.4g}"
        said = [f"{printable(repr(label))} ({why})" for label, why in list(self.left_out.items())[:3]]
        more = f" and {len(self.left_out) - 3} more" if len(self.left_out) > 3 else ""
        of = len(self.classes) + len(self.left_out)
        return f"{name} {self.value:.4g}, over {len(self.classes)} of {of} classes; left out: {', '.join(said)}{more}"


def multiclass_score(
    cm: MulticlassConfusion,
    metric: str | Metric,
    average: Average | None = None,
    *,
    label: Hashable = None,
    undefined: Undefined = "propagate",
) -> MulticlassScore:
    """Score a matrix of K classes.

    Parameters
    ----------
    cm : MulticlassConfusion
        The matrix.
    metric : str or Metric
        A metric of one group. Without ``average`` and ``label``, one that is defined for all classes at once: acc,
        inacc, balanced_accuracy (the mean of the classes' true positive rates), mcc (Gorodkin's R_K) or kappa.
    average : {"micro", "macro", "weighted"}, optional
        ``"micro"`` adds up the one-against-rest cells of all classes and scores the sum. ``"macro"`` is the plain mean
        of the classes' scores. ``"weighted"`` weighs them by the number of cases of each class, so a class without
        cases has no weight.
    label : label, optional
        A class to score against the rest.
    undefined : {"propagate", "omit"}
        If some classes have no score, a mean over classes is undefined; or it is over the others, and the result says
        which these are.

    Returns
    -------
    MulticlassScore
        Its value is nan where it is undefined, with the reason.

    Examples
    --------
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
    >>> float(multiclass_score(cm, "tpr", average="macro"))
    0.85
    >>> print(multiclass_score(cm, "ppv", label="dog"))
    ppv of 'dog' against the rest 0.6667
    """
    _check(cm)
    summary = summary_of(metric, cm.labels, average, label, undefined)
    left_out = summary.left_out(cm)
    chosen = cm.labels if label is None else (cm.labels[cm.place(label)],)
    return MulticlassScore(
        metric=summary.metric.key,
        average=average,
        label=None if label is None else chosen[0],
        value=float(summary.values(cm.counts)),
        reason=summary.reason(cm),
        classes=tuple(one for one in chosen if one not in left_out),
        left_out=left_out,
        n=cm.n,
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClassScores(Record):
    """The result of `class_scores`: metrics of every class against the rest.

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
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], labels=["cat", "dog", "fox"])
    >>> scores = class_scores(cm, ["tpr", "ppv"])
    >>> print(scores)
    class    tpr     ppv  n
    cat     0.75       1  4
    dog        1  0.6667  2
    fox        -       -  0
    >>> scores["fox", "tpr"], scores.why_undefined("fox", "tpr")
    (nan, 'no actual positives (TP + FN = 0)')
    """

    labels: tuple[Any, ...]
    metrics: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    _cm: MulticlassConfusion = field(repr=False)
    _derived: ClassVar[tuple[str, ...]] = ("undefined",)

    def __getitem__(self, which: tuple[Hashable, str]) -> float:
        label, name = which
        return self.values[self._cm.place(label)][self._column(name)]

    def why_undefined(self, label: Hashable, metric: str) -> str | None:
        """Why a class has no score.

        Parameters
        ----------
        label : label
            The class.
        metric : str
            The metric.

        Returns
        -------
        str or None
            The reason; None if there is a score.

        Examples
        --------
        >>> cm = MulticlassConfusion.from_array([[3, 0], [0, 0]])
        >>> class_scores(cm, "tpr").why_undefined(1, "tpr")
        'no actual positives (TP + FN = 0)'
        """
        m = one_group(self.metrics[self._column(metric)])
        return m.why_undefined(self._cm.against_rest(label))

    @property
    def undefined(self) -> list[dict[str, Any]]:
        """The classes and metrics without a score, each with the reason.

        Examples
        --------
        >>> cm = MulticlassConfusion.from_array([[3, 0], [0, 0]])
        >>> class_scores(cm, "tpr").undefined
        [{'label': 1, 'metric': 'tpr', 'reason': 'no actual positives (TP + FN = 0)'}]
        """
        return [
            {"label": label, "metric": key, "reason": self.why_undefined(label, key)}
            for label, row in zip(self.labels, self.values, strict=True)
            for key, value in zip(self.metrics, row, strict=True)
            if isnan(value)
        ]

    def _column(self, name: str) -> int:
        key = one_group(name).key
        if key not in self.metrics:
            raise UnknownName.among("metric of these scores", key, self.metrics)
        return self.metrics.index(key)

    def __str__(self) -> str:
        sizes = self._cm.actual
        rows = [["class", *self.metrics, "n"]]
        for label, values in zip(self.labels, self.values, strict=True):
            scores = ("-" if isnan(value) else f"{value:.4g}" for value in values)
            rows.append([printable(str(label)), *scores, _size(sizes[label])])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)


def class_scores(cm: MulticlassConfusion, metrics: str | Metric | Sequence[str | Metric] | None = None) -> ClassScores:
    """Score every class against the rest.

    Parameters
    ----------
    cm : MulticlassConfusion
        The matrix.
    metrics : str, Metric or sequence of them, optional
        Metrics of one group; by default all of the catalogue.

    Returns
    -------
    ClassScores
        Prints as a table.

    Examples
    --------
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
    >>> class_scores(cm, "tpr").values
    ((0.75,), (1.0,), (0.8,))
    """
    _check(cm)
    if metrics is None:
        chosen = list(CATALOGUE.one_group)
    else:
        chosen = [one_group(m) for m in ([metrics] if isinstance(metrics, (str, Metric)) else metrics)]
    if not chosen:
        raise InvalidInput("metrics must contain at least one metric")
    cells = cm.one_against_rest
    table = np.stack([m.scores(cells) for m in chosen], axis=-1)
    return ClassScores(
        labels=cm.labels,
        metrics=tuple(m.key for m in chosen),
        values=tuple(tuple(row) for row in table.tolist()),
        _cm=cm,
    )


def _size(n: float) -> str:
    return str(n) if isinstance(n, int) else f"{n:.6g}"


def _check(cm: Any) -> None:
    if not isinstance(cm, MulticlassConfusion):
        raise InvalidInput(f"cm must be a MulticlassConfusion; got {cm!r}")
