"""Scores of a K x K matrix: of one class, an average over classes, or all at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..arrays import Array, Floats
from ..confusion import ConfusionMatrix, MulticlassConfusion, one_vs_rest
from ..errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from .record import Metric, OneGroupMetric

Average = Literal["micro", "macro", "weighted"]
Undefined = Literal["propagate", "omit"]
MulticlassRule = Literal["accuracy", "mean tpr", "mcc", "kappa"]

_AVERAGE_TEXT = {
    "micro": "Of the cells of all classes together",
    "macro": "Mean over classes",
    "weighted": "Mean over cases of the score of their class",
}


@dataclass(frozen=True, slots=True)
class ClassAverage:
    """A score of a K x K matrix.

    Attributes
    ----------
    metric : OneGroupMetric
        The metric that is averaged, or scored for all classes at once.
    average : {"micro", "macro", "weighted"} or None
        The kind of average.
    undefined : {"propagate", "omit"}
        What a mean does with a class whose score is undefined.
    label, index : label and int, or None
        The class that is scored against the rest, and its position.
    """

    metric: OneGroupMetric
    average: Average | None = None
    undefined: Undefined = "propagate"
    label: Any = None
    index: int | None = None

    @property
    def key(self) -> str:
        """The name in results, such as ``macro tpr``."""
        return f"{self.average} {self.metric.key}" if self.average else self.metric.key

    @property
    def name(self) -> str:
        """The full name."""
        name = self.metric.name
        return f"{name}, {self.average} average" if self.average else name

    @property
    def description(self) -> str:
        """What it says, in one line for lay readers."""
        text = self.metric.description
        return f"{_AVERAGE_TEXT[self.average]}: {text}" if self.average else text

    @property
    def formula(self) -> str:
        """The formula of the averaged metric; empty for a score of all classes at once.

        That of two classes would not hold for more.
        """
        if self.average is None:
            return ""
        return f"{_AVERAGE_TEXT[self.average].lower()}: {self.metric.formula}"

    @property
    def better(self) -> str:
        """Which scores are better."""
        return self.metric.better

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible score."""
        return self.metric.range

    @property
    def rule(self) -> MulticlassRule | None:
        """How all classes are scored at once; None for one class, an average, or without a rule."""
        is_one_or_average = self.average or self.index is not None
        return None if is_one_or_average else self.metric.multiclass

    def scores(self, counts: Array) -> Floats:
        """The scores of matrices of shape (..., K, K); nan where undefined."""
        # One class against the rest.
        if self.index is not None:
            return self.metric.scores(one_vs_rest(counts)[..., self.index, :])
        # A score of the number of correct cases.
        if self.average == "micro" or self.rule == "accuracy":
            return self.metric.scores(self._binary_cells(counts))
        if self.rule in ("mcc", "kappa"):
            beyond_chance, rows, columns, both = _agreement(counts)
            largest = both if self.rule == "kappa" else np.sqrt(rows) * np.sqrt(columns)
            with np.errstate(all="ignore"):
                return np.asarray(np.clip(beyond_chance / largest, -1.0, 1.0))
        # A weighted mean over classes. A class without weight may be undefined.
        scores = self.class_metric.scores(one_vs_rest(counts))
        weights = self._weights(counts)
        if self.undefined == "omit":
            weights = np.where(np.isnan(scores), 0.0, weights)
        sums = np.where(weights > 0, weights * scores, 0.0).sum(axis=-1)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / weights.sum(axis=-1))

    def equivalent_binary(self, cm: MulticlassConfusion) -> ConfusionMatrix | None:
        """The 2x2 matrix with the same score as ``cm``, to which binary methods then apply.

        The scores must be the same for every sample, not only for this one. None if there is no
        such matrix.
        """
        if self.index is not None:
            return cm.binary(self.label)
        if self.rule == "accuracy":
            return ConfusionMatrix.from_array(self._binary_cells(cm.counts))
        # If a class is absent, "omit" leaves the other TPR; the binary score is undefined.
        omits_tpr = self.rule == "mean tpr" and self.undefined == "omit"
        if self.rule is None or cm.k != 2 or omits_tpr:
            return None
        return cm.binary(cm.labels[-1])

    def why_undefined(self, cm: MulticlassConfusion) -> str | None:
        """Why the score of a matrix is undefined; None if it is defined."""
        if self.index is not None:
            return self.metric.why_undefined(cm.binary(self.label))
        if cm.n == 0:
            return "no cases (n = 0)"
        if not np.isnan(self.scores(cm.counts)):
            return None
        if self.average == "micro" or self.rule == "accuracy":
            return self.metric.why_undefined(self._binary_cells(cm.counts))
        if self.rule in ("mcc", "kappa"):
            # Chance agreement is complete if only one class occurs, or only one is predicted.
            rows, columns = cm.counts.sum(axis=1), cm.counts.sum(axis=0)
            totals = {"of class": rows, "predicted": columns}
            return " and ".join(
                f"every case is {text} {cm.labels[total.argmax()]!r}"
                for text, total in totals.items()
                if np.count_nonzero(total) == 1
            )
        metric, weights = self.class_metric, self._weights(cm.counts)
        classes = zip(cm.labels, cm.one_vs_rest, weights, strict=True)
        reasons = [
            f"{label!r}, {metric.why_undefined(cells)}"
            for label, cells, weight in classes
            if weight > 0 and np.isnan(metric.scores(cells))
        ]
        shown = "; ".join(reasons[:3]) + ("; …" if len(reasons) > 3 else "")
        return f"undefined for {len(reasons)} of {cm.k} classes: {shown}"

    @property
    def class_metric(self) -> OneGroupMetric:
        """The metric whose scores of the classes are averaged.

        It is TPR for balanced accuracy, which is the mean of the TPRs for two classes, too.
        """
        if self.rule != "mean tpr":
            return self.metric
        # Imported here, since the catalogue imports this module.
        from .catalogue import TPR

        return TPR

    @property
    def depends_on_correct(self) -> bool:
        """Whether the score depends only on the number of correct cases.

        Then it has an exact test, on the two counts of correct cases and errors.
        """
        if self.index is not None or self.average is None:
            return self.rule == "accuracy"
        if self.average == "macro":
            # The mean of scores that are linear in the cells is the score of their sum.
            return self.metric.linear is not None
        # Weights cancel the denominators of rates of actual positives.
        is_recall = self.metric.denominators[0].cells == ("tp", "fn")
        return self.average == "micro" or (is_recall and self.metric.is_rate)

    def _weights(self, counts: Array) -> Floats:
        """The weight of each class in the mean, shape (..., K): 1, or its number of cases.

        A class without cases has weight 0 in the latter, so that its score may be undefined.
        """
        if self.average == "weighted":
            return np.asarray(counts.sum(axis=-1), dtype=float)
        return np.ones(counts.shape[:-1])

    def _binary_cells(self, counts: Array) -> Floats:
        """The cells of `cells_of_correct` for matrices of shape (..., K, K), to score them."""
        # Errors are summed, not subtracted from n, so that their number is exactly 0 if there
        # are none, also for real cells.
        k = counts.shape[-1]
        errors = ((1 - np.eye(k)) * counts).sum(axis=(-2, -1))
        return self.cells_of_correct(np.trace(counts, axis1=-2, axis2=-1), errors, k)

    def cells_of_correct(self, correct: Any, errors: Any, k: int) -> Floats:
        """2x2 cells with the score of K classes that have so many correct cases and errors.

        They let a score of two classes stand for one that depends on these numbers only. For
        accuracy, half of the correct cases are TP and half are TN, and so for errors; it only uses
        their sums. A micro average uses the sum of the one-vs-rest cells of all ``k`` classes,
        where every error is a false negative of one class and a false positive of another.
        """
        if self.average is None:
            cells = [correct / 2, errors / 2, errors / 2, correct / 2]
        else:
            cells = [correct, errors, errors, (k - 2) * (correct + errors) + correct]
        return np.stack(cells, axis=-1).astype(float)


def class_average_of(
    metric: Metric,
    groups: Sequence[Any],
    average: Average | None,
    label: Hashable,
    undefined: Undefined = "propagate",
) -> ClassAverage | None:
    """The score of K classes that is meant if the first of ``groups`` is a MulticlassConfusion.

    Otherwise None, and ``average`` and ``label`` are refused: labels have to be counted with
    `MulticlassConfusion.from_labels` first.
    """
    if groups and isinstance(groups[0], MulticlassConfusion):
        return class_average(metric, groups[0].labels, average, label, undefined)
    if average is not None or label is not None:
        raise InvalidInput(
            "`average` and `label` are for a MulticlassConfusion, which counts several classes"
        )
    return None


def class_average(
    metric: Metric,
    labels: Sequence[Any],
    average: Average | None = None,
    label: Hashable = None,
    undefined: Undefined = "propagate",
) -> ClassAverage:
    """Define the score of a matrix with these ``labels``; the other arguments are checked.

    It is an average over the classes, or with ``label`` the score of one class against the
    rest. With neither, the metric must have a rule that scores all classes at once.
    """
    base = require_one_group(metric)
    if average is not None and average not in get_args(Average):
        raise UnknownName.among("average", average, get_args(Average))
    if undefined not in get_args(Undefined):
        raise UnknownName.among("choice for undefined", undefined, get_args(Undefined))
    if label is None and average is None and base.multiclass is None:
        hint = "pass a class as `label=`, or an `average=`"
        raise InvalidInput(f"{base.key} scores one class against the rest; {hint}")
    if label is None:
        return ClassAverage(base, average, undefined)
    if average is not None:
        raise InvalidInput("pass either a class as `label=` or an `average=`, not both")
    if label not in labels:
        raise UnknownName.among("class", label, map(str, labels))
    index = list(labels).index(label)
    return ClassAverage(base, None, undefined, labels[index], index)


def require_one_group(metric: Metric) -> OneGroupMetric:
    """Return a metric of one group unchanged; an error if it compares two groups.

    Only such a metric can be compared between groups, or scored for classes.
    """
    if metric.groups == 2:
        text = f"{metric.key} compares two groups"
        raise InvalidInput(f"{text}; a metric of one group is needed")
    return metric.base


def _agreement(counts: Array) -> tuple[Floats, ...]:
    """n·correct - Σrc, n² - Σr², n² - Σc² and n² - Σrc, of row totals r and column totals c.

    MCC and kappa of K classes are made of them: kappa is the first over the last; MCC is the first
    over the root of the product of the second and third. Each is computed as a sum over classes of
    products of one-vs-rest cells. The last three are then exactly 0 where the score is undefined,
    since they have no negative terms.
    """
    tp, fn, fp, tn = np.moveaxis(one_vs_rest(counts), -1, 0)
    rows, columns = (tp + fn) * (fp + tn), (tp + fp) * (fn + tn)
    both, beyond_chance = (tp + fn) * (fn + tn), tp * tn - fn * fp
    return tuple(part.sum(axis=-1) for part in (beyond_chance, rows, columns, both))


def score_classes(
    cm: MulticlassConfusion, metrics: Any = None
) -> dict[Any, dict[str, float]]:
    """Score every class against the rest; the body of `MulticlassConfusion.scores`."""
    from .catalogue import ONE_GROUP_METRICS, metric

    names = ONE_GROUP_METRICS if metrics is None else metrics
    # A single metric is a name or a function; `metric` refuses functions that are not metrics.
    if isinstance(names, str) or callable(names):
        names = [names]
    chosen = [require_one_group(metric(name)) for name in names]
    table = {m.key: m.scores(cm.one_vs_rest).tolist() for m in chosen}
    rows = [{key: scores[i] for key, scores in table.items()} for i in range(cm.k)]
    return dict(zip(cm.labels, rows, strict=True))
