"""The K x K confusion matrix: rows are the actual classes, columns the predicted ones.

Every class can be looked at against all the others, which gives a 2x2 matrix. Its cells are always sums of cells of the
K x K matrix, never differences of rounded sums, so that an empty part is exactly empty.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidInput, TooLarge, UnknownName, brief, printable
from ..records import plain_value, reach
from ..text_layout import aligned
from .classes import MOST_CLASSES, as_classes, count_classes
from .matrix import LARGEST_CELL, SMALLEST_CELL, ConfusionMatrix, count_text, html_table

__all__ = ["MulticlassConfusion", "SmoothedClasses", "one_against_rest", "require_same_labels"]

_MOST_SHOWN = 20
_LONGEST_LABEL = 24


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class MulticlassConfusion:
    """Counts of cases by actual and predicted class.

    Matrices are immutable and hashable. They can be added, subtracted and passed to ``sum`` if they have the same
    labels.

    Parameters
    ----------
    counts : array_like of shape (K, K)
        Actual classes in rows, predicted classes in columns. Non-negative and finite.
    labels : sequence
        The classes in the order of rows and columns.

    Examples
    --------
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
    >>> print(cm)
    actual   predicted cat  predicted dog  predicted fox  total
    cat                  3              1              0      4
    dog                  0              2              0      2
    fox                  1              0              4      5
    total                4              3              4     11
    >>> cm.against_rest("fox")
    ConfusionMatrix(tp=4, fn=1, fp=0, tn=6)
    """

    counts: NDArray[Any]
    labels: tuple[Any, ...]

    def __init__(self, counts: ArrayLike, labels: Iterable[Hashable]) -> None:
        checked, order = _checked_counts(counts), as_classes(labels)
        if len(order) != len(checked):
            raise InvalidInput(argument="labels", must=f"name each of the {len(checked)} classes", got=len(order))
        object.__setattr__(self, "counts", checked)
        object.__setattr__(self, "labels", order)

    @classmethod
    def from_labels(
        cls,
        y_true: Iterable[object],
        y_pred: Iterable[object],
        labels: Iterable[Hashable] | None = None,
    ) -> MulticlassConfusion:
        """Count labels against predictions.

        Parameters
        ----------
        y_true, y_pred : sequence
            Labels and predictions of the same length, without missing values: numbers, texts or booleans. Lists,
            arrays and columns of any dataframe library are accepted.
        labels : iterable, optional
            The classes in the order of rows and columns. They must contain every class that occurs, and may contain
            others. By default those that occur, in ascending order.

        Returns
        -------
        MulticlassConfusion
            The counts.

        Examples
        --------
        >>> MulticlassConfusion.from_labels(["a", "b", "b"], ["a", "a", "b"])
        MulticlassConfusion([[1, 0], [1, 1]], labels=('a', 'b'))
        """
        found, counts = count_classes(y_true, y_pred, labels)
        return cls(counts, found)

    @classmethod
    def from_array(cls, array: ArrayLike, labels: Sequence[Hashable] | None = None) -> MulticlassConfusion:
        """Create a matrix from an array with actual classes in rows and predicted ones in columns.

        Parameters
        ----------
        array : array_like of shape (K, K)
            The counts.
        labels : sequence, optional
            The classes; by default 0, 1, ..., K - 1.

        Returns
        -------
        MulticlassConfusion
            The same cells.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]]).labels
        (0, 1)
        """
        counts = _checked_counts(array)
        return cls(counts, tuple(range(len(counts))) if labels is None else tuple(labels))

    @classmethod
    def from_sklearn(cls, array: ArrayLike, labels: Sequence[Hashable] | None = None) -> MulticlassConfusion:
        """Create a matrix from what ``sklearn.metrics.confusion_matrix`` returns, which has the same layout.

        Parameters
        ----------
        array : array_like of shape (K, K)
            The counts, not normalised.
        labels : sequence, optional
            The classes in scikit-learn's order, which is ascending unless ``labels=`` was passed to it; by default
            0, 1, ..., K - 1.

        Returns
        -------
        MulticlassConfusion
            The same cells.

        Examples
        --------
        >>> MulticlassConfusion.from_sklearn([[4, 3], [2, 1]], labels=["no", "yes"]).binary("yes")
        ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)
        """
        return cls.from_array(array, labels)

    @property
    def k(self) -> int:
        """The number of classes, those without cases among them.

        Examples
        --------
        >>> MulticlassConfusion.from_labels(["a", "b"], ["a", "a"], labels=["a", "b", "c"]).k
        3
        """
        return len(self.labels)

    @property
    def n(self) -> float:
        """The number of cases.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]]).n
        10
        """
        total: float = self.counts.sum().item()
        return total

    @property
    def is_whole(self) -> bool:
        """Whether every cell is a whole number.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4.5]]).is_whole
        False
        """
        return self.counts.dtype.kind == "i"

    @property
    def actual(self) -> dict[Any, float]:
        """The number of cases of each class.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]], labels=["a", "b"]).actual
        {'a': 3, 'b': 7}
        """
        return dict(zip(self.labels, self.counts.sum(axis=1).tolist(), strict=True))

    @property
    def predicted(self) -> dict[Any, float]:
        """The number of predictions of each class.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]], labels=["a", "b"]).predicted
        {'a': 4, 'b': 6}
        """
        return dict(zip(self.labels, self.counts.sum(axis=0).tolist(), strict=True))

    @property
    def proportions(self) -> NDArray[np.float64]:
        """The cells divided by `n`.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]]).proportions
        array([[0.1, 0.2],
               [0.3, 0.4]])
        """
        if self.n == 0:
            raise InvalidInput("an empty matrix (n = 0) has no proportions")
        return np.asarray(self.counts / self.n, dtype=np.float64)

    @property
    def one_against_rest(self) -> NDArray[np.float64]:
        """The cells tp, fn, fp and tn of every class against all others, in the order of the labels.

        Every metric of the catalogue scores them at once.

        Examples
        --------
        >>> from evenhand import metric
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
        >>> cm.one_against_rest
        array([[3., 1., 1., 6.],
               [2., 0., 1., 8.],
               [4., 1., 0., 6.]])
        >>> metric("tpr")(cm.one_against_rest)
        array([0.75, 1.  , 0.8 ])
        """
        return one_against_rest(self.counts)

    def against_rest(self, label: Hashable) -> ConfusionMatrix:
        """The 2x2 matrix of one class against all others.

        Parameters
        ----------
        label : label
            The class that is positive.

        Returns
        -------
        ConfusionMatrix
            The four cells.

        Examples
        --------
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
        >>> cm.against_rest("cat")
        ConfusionMatrix(tp=3, fn=1, fp=1, tn=6)
        """
        return self.collapsed([label])

    def collapsed(self, positive: Iterable[Hashable]) -> ConfusionMatrix:
        """The 2x2 matrix of several classes, taken as one, against all others.

        Parameters
        ----------
        positive : iterable of labels
            The classes that are positive; none twice.

        Returns
        -------
        ConfusionMatrix
            The four cells.

        Examples
        --------
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
        >>> cm.collapsed(["cat", "dog"])
        ConfusionMatrix(tp=6, fn=0, fp=1, tn=4)
        """
        if isinstance(positive, str) or not isinstance(positive, Iterable):
            raise InvalidInput(argument="positive", must="be a list of classes", got=positive)
        places = [self.place(label) for label in positive]
        if not places or len(set(places)) < len(places):
            raise InvalidInput(argument="positive", must="name at least one class, and each once")
        inside = np.zeros(self.k, dtype=bool)
        inside[places] = True
        cells = [
            self.counts[np.ix_(rows, columns)].sum().item()
            for rows in (inside, ~inside)
            for columns in (inside, ~inside)
        ]
        return ConfusionMatrix(*cells)

    def binary(self, positive: Hashable) -> ConfusionMatrix:
        """The same matrix as a `ConfusionMatrix`, for two classes.

        Parameters
        ----------
        positive : label
            The class that is positive.

        Returns
        -------
        ConfusionMatrix
            The four cells.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[4, 3], [2, 1]], labels=["no", "yes"]).binary(positive="yes")
        ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)
        """
        if self.k != 2:
            raise InvalidInput(
                f"binary takes a matrix of 2 classes; this one has {self.k}: use against_rest or collapsed"
            )
        return self.against_rest(positive)

    def place(self, label: Hashable) -> int:
        """The position of a class in rows and columns.

        Parameters
        ----------
        label : label
            A class.

        Returns
        -------
        int
            Its position.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]], labels=["a", "b"]).place("b")
        1
        """
        if label in self.labels:
            return self.labels.index(label)
        raise UnknownName.among("class", label, map(str, self.labels))

    def scores(self, metrics: Any = None) -> Any:
        """Score every class against the rest.

        Parameters
        ----------
        metrics : str, Metric or sequence of them, optional
            Metrics of one group; by default all of the catalogue.

        Returns
        -------
        ClassScores
            Prints as a table.

        Examples
        --------
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], labels=["cat", "dog", "fox"])
        >>> print(cm.scores(["tpr", "ppv"]))
        class    tpr     ppv  n
        cat     0.75       1  4
        dog        1  0.6667  2
        fox        -       -  0
        """
        return reach("MulticlassConfusion.scores")(self, metrics)

    def to_array(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the counts, in the layout that `from_array` reads.

        Returns
        -------
        ndarray of shape (K, K)
            A copy; integers if every cell is whole, floats otherwise.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]]).to_array()
        array([[1, 2],
               [3, 4]])
        """
        return self.counts.copy()

    def to_dict(self) -> dict[str, Any]:
        """The matrix as plain values that can be written as JSON.

        Returns
        -------
        dict
            The labels and the counts.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]], labels=["a", "b"]).to_dict()
        {'labels': ['a', 'b'], 'counts': [[1, 2], [3, 4]]}
        """
        return {"labels": plain_value(self.labels), "counts": plain_value(self.counts)}

    def smoothed_towards(self, reference: object, strength: Any) -> SmoothedClasses:
        """Smooth the K x K cells with the reference's proportions; `cross_prior_smooth` calls this.

        Parameters
        ----------
        reference : MulticlassConfusion
            A matrix of the same labels, with cases.
        strength : float or "auto"
            How many cases the reference is worth; ``"auto"`` is a cautious 5.

        Returns
        -------
        SmoothedClasses
            A smoothed matrix with the same n.

        Examples
        --------
        >>> group = MulticlassConfusion.from_array([[4, 0], [0, 0]])
        >>> group.smoothed_towards(MulticlassConfusion.from_array([[1, 1], [1, 1]]), 4).to_array()
        array([[2.5, 0.5],
               [0.5, 0.5]])
        """
        smoothed: SmoothedClasses = reach("MulticlassConfusion.smoothed_towards")(self, reference, strength)
        return smoothed

    def __add__(self, other: MulticlassConfusion) -> MulticlassConfusion:
        if not isinstance(other, MulticlassConfusion):
            return NotImplemented
        require_same_labels(self, other)
        return MulticlassConfusion(self.counts + other.counts, self.labels)

    def __radd__(self, other: object) -> MulticlassConfusion:
        # `sum(matrices)` starts from 0, and the sum of the groups of an audit from an empty 2x2 matrix.
        nothing = other.n == 0 if isinstance(other, ConfusionMatrix) else isinstance(other, int) and other == 0
        return self if nothing else NotImplemented

    def __sub__(self, other: MulticlassConfusion) -> MulticlassConfusion:
        if not isinstance(other, MulticlassConfusion):
            return NotImplemented
        require_same_labels(self, other)
        if (self.counts < other.counts).any():
            raise InvalidInput("cannot subtract a matrix with larger cells")
        return MulticlassConfusion(self.counts - other.counts, self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MulticlassConfusion):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.labels, tuple(self.counts.ravel().tolist())))

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are made by the constructor, so that they are read-only too.
        return MulticlassConfusion, (self.counts, self.labels)

    def __repr__(self) -> str:
        if self.k > 4:
            return f"<{type(self).__name__}: {self.k} classes, n = {count_text(self.n)}>"
        return f"MulticlassConfusion({self.counts.tolist()}, labels={self.labels!r})"

    def __str__(self) -> str:
        rows = self._rows()
        return "\n".join([*aligned(rows, right=range(1, len(rows[0]))), *self._not_shown()])

    def _repr_html_(self) -> str:
        note = "".join(f"<div>{line}</div>" for line in self._not_shown())
        return f"<div>{html_table(self._rows())}{note}</div>"

    def _rows(self) -> list[list[str]]:
        names = [_name(label) for label in self.labels[:_MOST_SHOWN]]
        rows, columns = self.counts.sum(axis=1).tolist(), self.counts.sum(axis=0).tolist()
        body = [
            [name, *map(count_text, self.counts[i, :_MOST_SHOWN].tolist()), count_text(rows[i])]
            for i, name in enumerate(names)
        ]
        return [
            ["actual", *(f"predicted {name}" for name in names), "total"],
            *body,
            ["total", *map(count_text, columns[:_MOST_SHOWN]), count_text(self.n)],
        ]

    def _not_shown(self) -> list[str]:
        left = self.k - _MOST_SHOWN
        if left <= 0:
            return []
        return [f"{left} more {'class is' if left == 1 else 'classes are'} not shown but in the totals; see to_array()"]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class SmoothedClasses(MulticlassConfusion):
    """A smoothed K x K matrix, with the same n as the raw one.

    If the group is empty, ``prior_only`` is True and the cells are the reference's proportions.

    Attributes
    ----------
    counts, labels
        The smoothed cells and the classes.
    raw : MulticlassConfusion
        The matrix before smoothing.
    strength : float
        How many cases the reference was worth.

    Examples
    --------
    >>> from evenhand import cross_prior_smooth
    >>> group, rest = (MulticlassConfusion.from_array(a) for a in ([[4, 0], [0, 0]], [[1, 1], [1, 1]]))
    >>> s = cross_prior_smooth(group, rest, strength=4)
    >>> s.to_array().tolist(), s.shrinkage, s.raw.n
    ([[2.5, 0.5], [0.5, 0.5]], 0.5, 4)
    """

    raw: MulticlassConfusion
    strength: float

    def __init__(
        self, counts: ArrayLike, labels: Iterable[Hashable], *, raw: MulticlassConfusion, strength: float
    ) -> None:
        MulticlassConfusion.__init__(self, counts, labels)
        object.__setattr__(self, "raw", raw)
        object.__setattr__(self, "strength", strength)

    @property
    def is_whole(self) -> bool:
        """False: smoothed cells are not counts, even if they happen to be whole.

        Examples
        --------
        >>> group = MulticlassConfusion.from_array([[4, 4], [4, 4]])
        >>> group.smoothed_towards(group, 4).is_whole
        False
        """
        return False

    @property
    def prior_only(self) -> bool:
        """Whether the group is empty, so that the cells come from the prior only.

        Examples
        --------
        >>> empty, rest = (MulticlassConfusion.from_array(a) for a in ([[0, 0], [0, 0]], [[1, 1], [1, 1]]))
        >>> empty.smoothed_towards(rest, 4).prior_only
        True
        """
        return self.raw.n == 0

    @property
    def shrinkage(self) -> float:
        """The part of the expected gap of a share, such as accuracy, that remains: n/(n+λ).

        Examples
        --------
        >>> group = MulticlassConfusion.from_array([[4, 0], [0, 2]])
        >>> group.smoothed_towards(group, 4).shrinkage
        0.6
        """
        total = self.raw.n + self.strength
        return self.raw.n / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The matrix as plain values, with the raw one and the strength.

        Returns
        -------
        dict
            Labels, counts, raw counts and strength.

        Examples
        --------
        >>> group = MulticlassConfusion.from_array([[4, 0], [0, 2]])
        >>> list(group.smoothed_towards(group, 4).to_dict())
        ['labels', 'counts', 'raw', 'strength']
        """
        return MulticlassConfusion.to_dict(self) | {"raw": self.raw.to_dict(), "strength": self.strength}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(SmoothedClasses, raw=self.raw, strength=self.strength), (self.counts, self.labels)

    def __repr__(self) -> str:
        mark = "the prior only, " if self.prior_only else ""
        return f"<SmoothedClasses: {self.k} classes, n = {count_text(self.n)}, {mark}strength {self.strength:g}>"

    def __str__(self) -> str:
        what = "the prior only: the group is empty" if self.prior_only else "smoothed"
        note = f"{what}, strength {self.strength:g}; {self.shrinkage:.0%} of a share's gap remains"
        return f"{MulticlassConfusion.__str__(self)}\n{note}"


def require_same_labels(one: MulticlassConfusion, other: MulticlassConfusion, who: str = "the other matrix") -> None:
    """Raise an error unless another matrix, called ``who``, has the same labels in the same order."""
    if one.labels != other.labels:
        raise InvalidInput(
            f"{who} must have the same labels in the same order ({_some(one.labels)}); got {_some(other.labels)}"
        )


def one_against_rest(counts: NDArray[Any]) -> NDArray[np.float64]:
    """The cells tp, fn, fp, tn of every class against the rest, shape (..., K, 4), of matrices of shape (..., K, K).

    >>> one_against_rest(np.array([[4, 3], [2, 1]]))
    array([[4., 3., 2., 1.],
           [1., 2., 3., 4.]])
    """
    tp = np.diagonal(counts, axis1=-2, axis2=-1)
    if counts.dtype.kind == "i":
        fn, fp = counts.sum(axis=-1) - tp, counts.sum(axis=-2) - tp
        tn = counts.sum(axis=(-2, -1))[..., None] - tp - fn - fp
        return np.stack([tp, fn, fp, tn], axis=-1).astype(np.float64)
    # A difference of rounded sums may be tiny where the true sum is 0, and whether a score is defined depends on it.
    off = np.where(np.eye(counts.shape[-1], dtype=bool), 0.0, counts)
    return np.stack([tp, off.sum(axis=-1), off.sum(axis=-2), _elsewhere(counts)], axis=-1)


def _elsewhere(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the cells outside the row and the column of each class, from sums towards the four corners."""
    k = counts.shape[-1]
    before = np.arange(k)
    total = np.zeros(counts.shape[:-1])
    for rows, above in ((1, before), (-1, before[::-1])):
        for columns, left in ((1, before), (-1, before[::-1])):
            corner = np.zeros((*counts.shape[:-2], k + 1, k + 1))
            corner[..., 1:, 1:] = counts[..., ::rows, ::columns].cumsum(axis=-1).cumsum(axis=-2)
            total += corner[..., above, left]
    return total


def _checked_counts(array: Any) -> NDArray[Any]:
    """Counts as a read-only square array: integers if all are whole, else floats."""
    try:
        given = np.asarray(array)
        if given.dtype.kind == "O":
            given = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(argument="counts", must="be a square array of numbers", got=array) from None
    if given.dtype.kind not in "iuf":
        raise InvalidInput(argument="counts", must="be numbers", hint=f"got an array of {given.dtype.name}")
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        shape = f"got shape {given.shape}"
        raise InvalidInput(argument="counts", must="have shape (K, K), actual classes in rows", hint=shape)
    if len(given) > MOST_CLASSES:
        raise TooLarge(f"there are {len(given):,} classes, more than the limit of {MOST_CLASSES:,}")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InvalidInput(argument="counts", must="be finite")
    if (given < 0).any():
        raise InvalidInput(argument="counts", must="not be negative", hint=f"got {given.min():g}")
    if given.astype(np.float64).sum() > LARGEST_CELL:
        raise InvalidInput(argument="counts", must="add up to at most 2**53, beyond which float64 is not exact")
    if ((given > 0) & (given < SMALLEST_CELL)).any():
        raise InvalidInput(argument="counts", must=f"be 0 or at least {SMALLEST_CELL:g}")
    whole = given.dtype.kind != "f" or bool((given == np.floor(given)).all())
    counts = np.array(given, dtype=np.int64 if whole else np.float64)
    counts.setflags(write=False)
    return counts


def _some(labels: Sequence[Any]) -> str:
    shown = ", ".join(map(brief, labels[:6]))
    return f"{shown}, …" if len(labels) > 6 else shown


def _name(label: Any) -> str:
    text = printable(str(label))
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"
