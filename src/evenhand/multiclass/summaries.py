"""What a K x K matrix is summarised by: one class against the rest, an average over classes, or a score of its own.

A summary scores any number of matrices at once, and says of a single one why it is undefined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, UnknownName
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric
from .matrix import MulticlassConfusion, one_against_rest

__all__ = ["OVERALL", "Average", "Summary", "Undefined", "one_group", "parsed", "summary_of"]

Average = Literal["micro", "macro", "weighted"]
Undefined = Literal["propagate", "omit"]
Floats = NDArray[np.float64]

OVERALL = ("acc", "inacc", "balanced_accuracy", "mcc", "kappa")
"""The metrics that have a definition of their own for any number of classes."""

# Products of two totals of at most this fit into 64 bits.
_SAFE = 2**31


@dataclass(frozen=True, slots=True)
class Summary(ABC):
    """A score of a K x K matrix."""

    metric: OneGroup
    average: ClassVar[Average | None] = None

    @property
    def omits(self) -> bool:
        """Whether classes without a score are left out."""
        return False

    @property
    def key(self) -> str:
        """The name in results, such as ``macro tpr``."""
        return f"{self.average} {self.metric.key}" if self.average else self.metric.key

    @abstractmethod
    def values(self, counts: NDArray[Any]) -> Floats:
        """The scores of matrices of shape (..., K, K); nan where undefined."""

    @abstractmethod
    def reason(self, cm: MulticlassConfusion) -> str | None:
        """Why it is undefined on a matrix; None if it is defined."""

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats | None:
        """The scores by the number of correct cases, if they depend on nothing else; else None."""
        return None

    def left_out(self, cm: MulticlassConfusion) -> dict[Any, str]:
        """The classes that the score leaves out, and why."""
        return {}


@dataclass(frozen=True, slots=True)
class OneClass(Summary):
    """A metric of one class against the rest."""

    place: int
    label: Any

    def values(self, counts: NDArray[Any]) -> Floats:
        """The scores of the class."""
        return self.metric.scores(one_against_rest(counts)[..., self.place, :])

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """The reason of the 2x2 matrix."""
        return self.metric.why_undefined(cm.against_rest(self.label))


@dataclass(frozen=True, slots=True)
class Micro(Summary):
    """A metric of the one-against-rest cells, added up over the classes."""

    average: ClassVar[Average | None] = "micro"

    def values(self, counts: NDArray[Any]) -> Floats:
        """The scores of the sums."""
        return self.metric.scores(one_against_rest(counts).sum(axis=-2))

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """The reason of the sums."""
        return self.metric.why_undefined(cm.one_against_rest.sum(axis=0))

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats:
        """Every error is a false negative of one class and a false positive of another."""
        errors = n - correct
        return self.metric.scores(np.stack([correct, errors, errors, (k - 2) * n + correct], axis=-1))


@dataclass(frozen=True, slots=True)
class OverClasses(Summary):
    """A mean of one-against-rest scores over classes."""

    undefined: Undefined

    @property
    def omits(self) -> bool:
        """Whether classes without a score are left out."""
        return self.undefined == "omit"

    @abstractmethod
    def weights(self, counts: NDArray[Any]) -> Floats:
        """The weight of each class, shape (..., K)."""

    def values(self, counts: NDArray[Any]) -> Floats:
        """The means; a class without weight does not count."""
        scores = self.metric.scores(one_against_rest(counts))
        weights = self.weights(counts)
        missing = np.isnan(scores) & (weights > 0)
        weights = np.where(missing, 0.0, weights)
        total = weights.sum(axis=-1)
        with np.errstate(invalid="ignore"):
            means = np.where(weights > 0, weights * scores, 0.0).sum(axis=-1) / total
        hole = total == 0 if self.undefined == "omit" else missing.any(axis=-1) | (total == 0)
        return np.where(hole, np.nan, means)

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """The classes without a score, each with its reason."""
        if cm.n == 0:
            return "no cases (n = 0)"
        lacking = self._lacking(cm)
        counted = int((self.weights(cm.counts) > 0).sum())
        if not lacking or (self.undefined == "omit" and len(lacking) < counted):
            return None
        said = [f"{label!r}, {why}" for label, why in list(lacking.items())[:3]]
        more = [f"and {len(lacking) - 3} more"] if len(lacking) > 3 else []
        return f"undefined for {len(lacking)} of {cm.k} classes: {'; '.join([*said, *more])}"

    def left_out(self, cm: MulticlassConfusion) -> dict[Any, str]:
        """The classes without a score, if they are omitted, and those without weight."""
        return (self._lacking(cm) if self.undefined == "omit" else {}) | self._weightless(cm)

    def _lacking(self, cm: MulticlassConfusion) -> dict[Any, str]:
        cells, weights = cm.one_against_rest, self.weights(cm.counts)
        rows = [i for i in range(cm.k) if weights[i] > 0 and np.isnan(self.metric.scores(cells[i]))]
        return {cm.labels[i]: str(self.metric.why_undefined(cells[i])) for i in rows}

    def _weightless(self, cm: MulticlassConfusion) -> dict[Any, str]:
        weights = self.weights(cm.counts)
        return {cm.labels[i]: "no cases, so no weight" for i in range(cm.k) if weights[i] == 0}


@dataclass(frozen=True, slots=True)
class Macro(OverClasses):
    """The plain mean over classes."""

    average: ClassVar[Average | None] = "macro"

    def weights(self, counts: NDArray[Any]) -> Floats:
        """1 per class."""
        return np.ones(counts.shape[:-1])

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats | None:
        """Accuracy of a class against the rest: every error is one of two classes."""
        if self.metric.key not in ("acc", "inacc"):
            return None
        errors = 2 * (n - correct) / (k * n)
        return 1 - errors if self.metric.key == "acc" else errors


@dataclass(frozen=True, slots=True)
class Weighted(OverClasses):
    """The mean over cases of the score of their actual class."""

    average: ClassVar[Average | None] = "weighted"

    def weights(self, counts: NDArray[Any]) -> Floats:
        """The number of cases of each class."""
        return np.asarray(counts.sum(axis=-1), dtype=np.float64)

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats | None:
        """The weights cancel the denominators of the true positive rates, which leaves accuracy."""
        if self.metric.key not in ("tpr", "fnr"):
            return None
        return correct / n if self.metric.key == "tpr" else (n - correct) / n


@dataclass(frozen=True, slots=True)
class BalancedAccuracy(Macro):
    """The mean of the true positive rates of the classes, under its own name."""

    average: ClassVar[Average | None] = None

    def values(self, counts: NDArray[Any]) -> Floats:
        """The means."""
        return Macro(_tpr(), self.undefined).values(counts)

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """The classes without cases."""
        return Macro(_tpr(), self.undefined).reason(cm)

    def left_out(self, cm: MulticlassConfusion) -> dict[Any, str]:
        """The classes without cases, if they are omitted."""
        return Macro(_tpr(), self.undefined).left_out(cm)


@dataclass(frozen=True, slots=True)
class Accuracy(Summary):
    """The share of correct cases, or of errors."""

    def values(self, counts: NDArray[Any]) -> Floats:
        """The shares."""
        correct = np.trace(counts, axis1=-2, axis2=-1).astype(np.float64)
        return self._share(correct, counts.sum(axis=(-2, -1)).astype(np.float64))

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """There are no cases."""
        return None if cm.n else "no cases (n = 0)"

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats:
        """The share."""
        return self._share(correct, np.float64(n))

    def _share(self, correct: Floats, n: Any) -> Floats:
        cells = np.stack(np.broadcast_arrays(correct, n - correct, 0.0, 0.0), axis=-1)
        return self.metric.scores(cells)


class _OfTotals(Summary):
    """Agreement beyond chance, made of the number of correct cases and the totals of rows and columns."""

    __slots__ = ()

    def values(self, counts: NDArray[Any]) -> Floats:
        """Agreement beyond chance over what it could be at most."""
        beyond, *parts = _agreement(counts)
        below = self.most(*parts)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = beyond / below
        return np.where(below > 0, np.clip(score, -1.0, 1.0), np.nan)

    @abstractmethod
    def most(self, rows: Floats, columns: Floats, both: Floats) -> Floats:
        """The denominator, from n² less the sum of squared rows, of squared columns, and of their products."""


class Mcc(_OfTotals):
    """Gorodkin's R_K: the correlation of labels and predictions, with each class a coordinate."""

    __slots__ = ()

    def most(self, rows: Floats, columns: Floats, both: Floats) -> Floats:
        """The geometric mean of the variances."""
        return np.asarray(np.sqrt(rows) * np.sqrt(columns))

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """All cases are of one class, or are predicted to be."""
        if cm.n == 0:
            return "no cases (n = 0)"
        said = [
            f"every case is {what} {cm.labels[int(totals.argmax())]!r}"
            for what, totals in (("of class", cm.counts.sum(axis=1)), ("predicted", cm.counts.sum(axis=0)))
            if np.count_nonzero(totals) == 1
        ]
        return " and ".join(said) or None


class Kappa(_OfTotals):
    """Cohen's kappa: agreement beyond that of independent labels and predictions with the same totals."""

    __slots__ = ()

    def most(self, rows: Floats, columns: Floats, both: Floats) -> Floats:
        """What is beyond chance; 0 only if one cell of the diagonal has all cases."""
        return both

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """All cases are of one class and predicted so."""
        if cm.n == 0:
            return "no cases (n = 0)"
        if np.count_nonzero(cm.counts) == 1 and np.count_nonzero(np.diagonal(cm.counts)) == 1:
            return f"every case is of class {cm.labels[int(np.diagonal(cm.counts).argmax())]!r} and predicted so"
        return None


def _agreement(counts: NDArray[Any]) -> tuple[Floats, ...]:
    """n · correct - Σ r c, n² - Σ r², n² - Σ c² and n² - Σ r c, of the totals r of rows and c of columns.

    They are exact for counts. Real cells are multiplied class by class, since differences of rounded squares may be 0
    or have the wrong sign where one cell is much larger than the others.
    """
    if counts.dtype.kind == "i":
        if counts.size and counts.sum(axis=(-2, -1)).max() >= _SAFE:
            counts = counts.astype(object)
        rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
        n, correct = rows.sum(axis=-1), np.trace(counts, axis1=-2, axis2=-1)
        squares = [(a * b).sum(axis=-1) for a, b in ((rows, rows), (columns, columns), (rows, columns))]
        exact = (n * correct - squares[2], *(n * n - square for square in squares))
        return tuple(np.asarray(part, dtype=np.float64) for part in exact)
    tp, fn, fp, tn = np.moveaxis(one_against_rest(counts), -1, 0)
    parts = (tp * tn - fn * fp, (tp + fn) * (fp + tn), (tp + fp) * (fn + tn), (tp + fn) * (fn + tn))
    return tuple(part.sum(axis=-1) for part in parts)


def _tpr() -> OneGroup:
    return find_metric("tpr").base


def one_group(name: str | Metric) -> OneGroup:
    """A metric of one group, found by its name.

    Parameters
    ----------
    name : str or Metric
        The metric.

    Returns
    -------
    OneGroup
        The metric.

    Examples
    --------
    >>> one_group("recall").key
    'tpr'
    """
    found = find_metric(name)
    if not isinstance(found, OneGroup):
        raise InvalidInput(f"{found.key} compares two groups; a score of classes takes a metric of one group")
    return found


def summary_of(
    name: str | Metric,
    labels: Sequence[Any],
    average: Average | None = None,
    label: Hashable = None,
    undefined: Undefined = "propagate",
) -> Summary:
    """The summary that is meant by a metric, and an average or a class.

    Parameters
    ----------
    name : str or Metric
        A metric of one group.
    labels : sequence
        The classes of the matrices.
    average : {"micro", "macro", "weighted"}, optional
        An average over classes.
    label : label, optional
        A class, which is scored against the rest.
    undefined : {"propagate", "omit"}
        What a mean over classes does with a class without a score.

    Returns
    -------
    Summary
        The summary.

    Examples
    --------
    >>> summary_of("recall", ["a", "b", "c"], "macro").key
    'macro tpr'
    """
    m = one_group(name)
    if average is not None and average not in get_args(Average):
        raise UnknownName.among("average", average, get_args(Average))
    if undefined not in get_args(Undefined):
        raise UnknownName.among("choice for undefined", undefined, get_args(Undefined))
    if label is not None:
        if average is not None:
            raise InvalidInput("pass either a class as label= or an average=, not both")
        if label not in labels:
            raise UnknownName.among("class", label, map(str, labels))
        return OneClass(m, list(labels).index(label), label)
    if average == "micro":
        return Micro(m)
    if average is not None:
        return Macro(m, undefined) if average == "macro" else Weighted(m, undefined)
    return _overall(m, undefined)


def _overall(m: OneGroup, undefined: Undefined) -> Summary:
    if m.key in ("acc", "inacc"):
        return Accuracy(m)
    if m.key == "balanced_accuracy":
        return BalancedAccuracy(m, undefined)
    if m.key in ("mcc", "kappa"):
        return Mcc(m) if m.key == "mcc" else Kappa(m)
    raise InvalidInput(
        f"{m.key} scores one class against the rest; pass a class as label= or an average=; "
        f"only {', '.join(OVERALL)} have a definition for all classes at once"
    )


def parsed(name: str, labels: Sequence[Any], undefined: Undefined = "propagate") -> Summary:
    """The summary of this name: a metric, or an average and a metric.

    Parameters
    ----------
    name : str
        Such as ``"mcc"`` or ``"macro f1"``.
    labels : sequence
        The classes of the matrices.
    undefined : {"propagate", "omit"}
        As for `summary_of`.

    Returns
    -------
    Summary
        The summary.

    Examples
    --------
    >>> parsed("weighted precision", ["a", "b"]).key
    'weighted ppv'
    """
    if not isinstance(name, str):
        raise InvalidInput(f"an average must be text such as 'macro f1' or 'mcc'; got {name!r}")
    first, _, rest = name.strip().partition(" ")
    chosen = next((average for average in get_args(Average) if first.casefold() == average), None)
    return summary_of(rest if chosen and rest else name, labels, chosen if rest else None, undefined=undefined)
