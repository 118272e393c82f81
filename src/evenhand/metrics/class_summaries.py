"""What a K x K matrix is summarised by: one class against the rest, an average over classes, or a score of its own.

A summary scores any number of matrices at once, and says of a single one why it is undefined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix, MulticlassConfusion, one_against_rest
from ..errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from .shapes import Metric, OneGroup
    from .words import Prediction

__all__ = [
    "Accuracy",
    "Average",
    "Kappa",
    "Macro",
    "Mcc",
    "MeanOf",
    "Micro",
    "OneClass",
    "Summary",
    "Undefined",
    "Weighted",
    "one_group",
    "summary_asked",
    "summary_of",
]

Average = Literal["micro", "macro", "weighted"]
Undefined = Literal["propagate", "omit"]
Floats = NDArray[np.float64]

_AVERAGED = {
    "micro": "Of the cells of all classes together",
    "macro": "Mean over classes",
    "weighted": "Mean over cases of the score of their class",
}
# Products of two totals of at most this fit into 64 bits.
_SAFE = 2**31


@dataclass(frozen=True, slots=True)
class Summary(ABC):
    """A score of a K x K matrix; ``undefined`` says what a mean over classes does with a class without a score."""

    metric: OneGroup
    undefined: Undefined = "propagate"
    average: ClassVar[Average | None] = None

    @property
    def key(self) -> str:
        """The name in results, such as ``macro tpr``."""
        return f"{self.average} {self.metric.key}" if self.average else self.metric.key

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.metric.name}, {self.average} average" if self.average else self.metric.name

    @property
    def means(self) -> str:
        """What it means for a person."""
        return f"{_AVERAGED[self.average]}: {self.metric.means}" if self.average else self.metric.means

    @property
    def formula(self) -> str:
        """The formula of the metric that is averaged over classes; none for scores of all classes at once."""
        return f"{_AVERAGED[self.average].lower()}: {self.metric.formula}" if self.average else ""

    @property
    def better(self) -> str:
        """Which scores are better."""
        return self.metric.better

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible score."""
        return self.metric.range

    def good(self, favourable: Prediction | None = None) -> str:
        """Which way is good, in words; nothing is said of harm, which differs from class to class."""
        return self.metric.good()

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

    def of_two(self, cm: MulticlassConfusion) -> ConfusionMatrix | None:
        """The 2x2 matrix that the metric scores in the same way, whatever is drawn; None if there is none."""
        return None


@dataclass(frozen=True, slots=True)
class OneClass(Summary):
    """A metric of one class against the rest."""

    place: int = 0
    label: Any = None

    def values(self, counts: NDArray[Any]) -> Floats:
        """The scores of the class."""
        return self.metric.scores(one_against_rest(counts)[..., self.place, :])

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """The reason of the 2x2 matrix."""
        return self.metric.why_undefined(cm.against_rest(self.label))

    def of_two(self, cm: MulticlassConfusion) -> ConfusionMatrix:
        """The class against the rest."""
        return cm.against_rest(self.label)


@dataclass(frozen=True, slots=True)
class OfCorrect(Summary):
    """A score of 2x2 cells that depend only on the number of correct cases."""

    @abstractmethod
    def cells(self, correct: Any, errors: Any, k: int) -> Floats:
        """The cells, shape (..., 4)."""

    def values(self, counts: NDArray[Any]) -> Floats:
        """The scores of the cells."""
        return self.metric.scores(self._cells(counts))

    def reason(self, cm: MulticlassConfusion) -> str | None:
        """The reason of the cells."""
        return self.metric.why_undefined(self._cells(cm.counts))

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats:
        """The scores of the cells."""
        return self.metric.scores(self.cells(correct, n - correct, k))

    def _cells(self, counts: NDArray[Any]) -> Floats:
        # Errors are added up, not left over, so that none is exactly none.
        wrong = np.where(np.eye(counts.shape[-1], dtype=bool), 0, counts).sum(axis=(-2, -1))
        return self.cells(np.trace(counts, axis1=-2, axis2=-1), wrong, counts.shape[-1]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Accuracy(OfCorrect):
    """The share of correct cases, or of errors."""

    def cells(self, correct: Any, errors: Any, k: int) -> Floats:
        """Half of the cases in each of the two cells of their kind."""
        return np.stack([correct / 2, errors / 2, errors / 2, correct / 2], axis=-1)

    def of_two(self, cm: MulticlassConfusion) -> ConfusionMatrix:
        """The same cells."""
        return ConfusionMatrix(*self._cells(cm.counts).tolist())


@dataclass(frozen=True, slots=True)
class Micro(OfCorrect):
    """A metric of the one-against-rest cells, added up over the classes."""

    average: ClassVar[Average | None] = "micro"

    def cells(self, correct: Any, errors: Any, k: int) -> Floats:
        """Every error is a false negative of one class and a false positive of another."""
        return np.stack([correct, errors, errors, (k - 2) * (correct + errors) + correct], axis=-1)


@dataclass(frozen=True, slots=True)
class OverClasses(Summary):
    """A mean of one-against-rest scores over classes."""

    @property
    def scored(self) -> OneGroup:
        """The metric whose scores are averaged."""
        return self.metric

    @abstractmethod
    def weights(self, counts: NDArray[Any]) -> Floats:
        """The weight of each class, shape (..., K)."""

    def values(self, counts: NDArray[Any]) -> Floats:
        """The means; a class without weight does not count."""
        scores = self.scored.scores(one_against_rest(counts))
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
        rows = [i for i in range(cm.k) if weights[i] > 0 and np.isnan(self.scored.scores(cells[i]))]
        return {cm.labels[i]: str(self.scored.why_undefined(cells[i])) for i in rows}

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
        """The mean of scores that are linear in the cells is the score of their sum."""
        return None if self.scored.linear is None else Micro(self.scored).of_correct(correct, n, k)


@dataclass(frozen=True, slots=True)
class Weighted(OverClasses):
    """The mean over cases of the score of their actual class."""

    average: ClassVar[Average | None] = "weighted"

    def weights(self, counts: NDArray[Any]) -> Floats:
        """The number of cases of each class."""
        return np.asarray(counts.sum(axis=-1), dtype=np.float64)

    def of_correct(self, correct: Floats, n: int, k: int) -> Floats | None:
        """The weights cancel the denominators of rates of actual positives, which leaves the rate of their sum."""
        rows = self.metric.denominator
        cancels = self.metric.is_rate and rows is not None and rows.cells == ("tp", "fn")
        return Micro(self.metric).of_correct(correct, n, k) if cancels else None


@dataclass(frozen=True, slots=True)
class MeanOf(Macro):
    """The plain mean over classes of another metric, under a name of its own."""

    average: ClassVar[Average | None] = None
    of: OneGroup | None = None

    @property
    def scored(self) -> OneGroup:
        """The other metric."""
        return self.of or self.metric

    def of_two(self, cm: MulticlassConfusion) -> ConfusionMatrix | None:
        """Both classes, if neither is left out."""
        return _both(cm) if self.undefined == "propagate" else None


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

    def of_two(self, cm: MulticlassConfusion) -> ConfusionMatrix | None:
        """Both classes."""
        return _both(cm)

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


def _both(cm: MulticlassConfusion) -> ConfusionMatrix | None:
    return cm.against_rest(cm.labels[-1]) if cm.k == 2 else None


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


def one_group(m: Metric) -> OneGroup:
    """A metric of one group, checked."""
    if m.groups == 2:
        raise InvalidInput(f"{m.key} compares two groups; a score of classes takes a metric of one group")
    return m.base


def summary_asked(
    m: Metric, cm: Any, average: Average | None = None, label: Hashable = None, undefined: Undefined = "propagate"
) -> Summary | None:
    """What is scored of a matrix of K classes; None for any other matrix, which has neither averages nor classes."""
    if isinstance(cm, MulticlassConfusion):
        return summary_of(m, cm.labels, average, label, undefined)
    if average is not None or label is not None:
        raise InvalidInput("`average` and `label` are for a MulticlassConfusion, which counts several classes")
    return None


def summary_of(
    m: Metric,
    labels: Sequence[Any],
    average: Average | None = None,
    label: Hashable = None,
    undefined: Undefined = "propagate",
) -> Summary:
    """The summary that is meant by a metric, and an average over these classes or one of them."""
    base = one_group(m)
    if average is not None and average not in get_args(Average):
        raise UnknownName.among("average", average, get_args(Average))
    if undefined not in get_args(Undefined):
        raise UnknownName.among("choice for undefined", undefined, get_args(Undefined))
    if label is not None:
        if average is not None:
            raise InvalidInput("pass either a class as `label=` or an `average=`, not both")
        if label not in labels:
            raise UnknownName.among("class", label, map(str, labels))
        place = list(labels).index(label)
        return OneClass(base, undefined, place, labels[place])
    if average is not None:
        kinds: dict[str, type[Summary]] = {"micro": Micro, "macro": Macro, "weighted": Weighted}
        return kinds[average](base, undefined)
    if base.overall is None:
        from .catalogue import CATALOGUE

        known = ", ".join(one.key for one in CATALOGUE.one_group if one.overall)
        raise InvalidInput(
            f"{base.key} scores one class against the rest; pass a class as `label=` or an `average=`; "
            f"only {known} have a definition for all classes at once"
        )
    return base.overall(base, undefined)
