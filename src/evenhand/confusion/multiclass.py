"""The K x K confusion matrix: rows are the actual classes, columns the predicted ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, Floats
from ..errors import InvalidInput, UnknownName, brief, check_cost, printable
from ..records import plain_value, reach
from ..text_layout import aligned
from ..wording import format_count
from .labels import MAX_CLASSES, as_classes, count_pairs, read_classes
from .matrix import (
    LARGEST_CELL,
    ConfusionMatrix,
    as_cell,
    as_numbers,
    first_invalid_cell,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class MulticlassConfusion:
    """Counts of cases by actual and predicted class.

    Matrices are immutable and hashable. Those with the same labels can be added,
    subtracted and passed to ``sum``.

    Parameters
    ----------
    counts : array_like of shape (K, K)
        Actual classes in rows, predicted classes in columns. Non-negative and finite.
    labels : sequence
        The classes in the order of rows and columns.

    Examples
    --------
    >>> animals = ["cat", "dog", "fox"]
    >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=animals)
    >>> print(cm)
    actual   predicted cat  predicted dog  predicted fox  total
    cat                  3              1              0      4
    dog                  0              2              0      2
    fox                  1              0              4      5
    total                4              3              4     11
    >>> cm.binary("fox")
    ConfusionMatrix(tp=4, fn=1, fp=0, tn=6)
    """

    counts: Array
    labels: tuple[Any, ...]

    def __init__(self, counts: ArrayLike, labels: Iterable[Hashable]) -> None:
        """Check counts and labels, and keep them read-only; there must be one label per class."""
        square, classes = _as_counts(counts), as_classes(labels)
        if len(classes) != len(square):
            must = f"name each of the {len(square)} classes"
            raise InvalidInput(argument="labels", must=must, got=len(classes))
        object.__setattr__(self, "counts", square)
        object.__setattr__(self, "labels", classes)

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
            Labels and predictions of the same length, without missing values: numbers,
            text or booleans. Lists, arrays and columns of any dataframe library are
            accepted.
        labels : iterable, optional
            The classes in the order of rows and columns. They must contain every class
            that occurs, and may contain others. By default those that occur, in
            ascending order.

        Returns
        -------
        MulticlassConfusion
            The counts.

        Examples
        --------
        >>> MulticlassConfusion.from_labels(["a", "b", "b"], ["a", "a", "b"])
        MulticlassConfusion([[1, 0], [1, 1]], labels=('a', 'b'))
        """
        counts, coding = count_pairs(y_true, y_pred, lambda v: read_classes(v, labels))
        return cls(counts, coding.classes)

    @classmethod
    def from_array(
        cls, array: ArrayLike, labels: Sequence[Hashable] | None = None
    ) -> MulticlassConfusion:
        """Create a matrix from an array with actual classes in rows, as scikit-learn's.

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
        counts = _as_counts(array)
        return cls(counts, range(len(counts)) if labels is None else labels)

    @property
    def k(self) -> int:
        """The number of classes, including those without cases.

        Examples
        --------
        >>> cm = MulticlassConfusion.from_labels(["a"], ["a"], labels=["a", "b", "c"])
        >>> cm.k
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
        return self.counts.sum().item()  # type: ignore[no-any-return]

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
    def proportions(self) -> Floats:
        """The cells divided by `n`.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]]).proportions
        array([[0.1, 0.2],
               [0.3, 0.4]])
        """
        if self.n == 0:
            raise InvalidInput("an empty matrix (n = 0) has no proportions")
        return np.asarray(self.counts / self.n)

    @property
    def one_vs_rest(self) -> Floats:
        """The cells tp, fn, fp and tn of every class against the rest, shape (K, 4).

        Examples
        --------
        >>> from evenhand import metric
        >>> cm = MulticlassConfusion.from_array([[3, 1, 0], [0, 2, 0], [1, 0, 4]])
        >>> cm.one_vs_rest
        array([[3., 1., 1., 6.],
               [2., 0., 1., 8.],
               [4., 1., 0., 6.]])
        >>> metric("tpr")(cm.one_vs_rest)
        array([0.75, 1.  , 0.8 ])
        """
        return one_vs_rest(self.counts)

    def binary(self, positive: Any) -> ConfusionMatrix:
        """The 2x2 matrix of one or several classes against the rest.

        Parameters
        ----------
        positive : label or list of labels
            The classes that are positive.

        Returns
        -------
        ConfusionMatrix
            The four cells.

        Examples
        --------
        >>> animals = ["cat", "dog", "fox"]
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=animals)
        >>> cm.binary("cat")
        ConfusionMatrix(tp=3, fn=1, fp=1, tn=6)
        >>> cm.binary(["cat", "dog"])
        ConfusionMatrix(tp=6, fn=0, fp=1, tn=4)
        """
        # NumPy arrays and scalars become lists and plain labels.
        given = positive.tolist() if hasattr(positive, "tolist") else positive
        chosen = given if isinstance(given, (list, tuple, set)) else [given]
        for label in chosen:
            if label not in self.labels:
                raise UnknownName.among("class", label, map(str, self.labels))
        if not chosen or len(set(chosen)) < len(chosen):
            must = "name at least one class, and each once"
            raise InvalidInput(argument="positive", must=must, got=positive)
        is_positive = np.array([label in chosen for label in self.labels])
        # Actual positives are the rows of positive classes, predicted ones the columns.
        sides = np.stack([is_positive, ~is_positive])
        return ConfusionMatrix.from_array((sides @ self.counts @ sides.T).ravel())

    def scores(self, metrics: Any = None) -> Any:
        """Score every class, one against the rest.

        Parameters
        ----------
        metrics : str, Metric or sequence of them, optional
            Metrics of one group; by default all of the catalogue.

        Returns
        -------
        dict of label to dict of str to float
            By class and metric, the score; nan where undefined.

        Examples
        --------
        >>> cm = MulticlassConfusion([[3, 1], [0, 0]], labels=["cat", "fox"])
        >>> cm.scores(["tpr", "ppv"])
        {'cat': {'tpr': 0.75, 'ppv': 1.0}, 'fox': {'tpr': nan, 'ppv': 0.0}}
        """
        # `evenhand.metrics` imports this module, so its function is looked up when called.
        return reach("MulticlassConfusion.scores")(self, metrics)

    def to_array(self) -> Array:
        """Return a copy of the counts.

        Returns
        -------
        ndarray of shape (K, K)
            Integers if every cell is whole, floats otherwise.

        Examples
        --------
        >>> MulticlassConfusion.from_array([[1, 2], [3, 4]]).to_array()
        array([[1, 2],
               [3, 4]])
        """
        return self.counts.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return labels and counts as a dictionary that can be written as JSON.

        Returns
        -------
        dict
            The labels and the counts.

        Examples
        --------
        >>> MulticlassConfusion([[1, 2], [3, 4]], labels=["a", "b"]).to_dict()
        {'labels': ['a', 'b'], 'counts': [[1, 2], [3, 4]]}
        """
        return {"labels": plain_value(self.labels), "counts": plain_value(self.counts)}

    def __add__(self, other: MulticlassConfusion) -> MulticlassConfusion:
        """The counts of both together; they must have the same labels."""
        if not isinstance(other, MulticlassConfusion):
            return NotImplemented
        require_same_labels(self, other)
        return MulticlassConfusion(self.counts + other.counts, self.labels)

    def __radd__(self, other: object) -> MulticlassConfusion:
        """The matrix itself, if it is added to nothing."""
        # `sum(matrices)` starts from 0, the total of an audit from an empty 2x2 matrix.
        is_nothing = other.n == 0 if isinstance(other, ConfusionMatrix) else other == 0
        return self if is_nothing else NotImplemented

    def __sub__(self, other: MulticlassConfusion) -> MulticlassConfusion:
        """The counts of the cases that are not in ``other``; none may become negative."""
        if not isinstance(other, MulticlassConfusion):
            return NotImplemented
        require_same_labels(self, other)
        if (self.counts < other.counts).any():
            raise InvalidInput("cannot subtract a matrix with larger cells")
        return MulticlassConfusion(self.counts - other.counts, self.labels)

    def __eq__(self, other: object) -> bool:
        """Whether labels, their order and all counts are the same."""
        if not isinstance(other, MulticlassConfusion):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        """A hash of labels and counts, since an array has none."""
        return hash((self.labels, tuple(self.counts.ravel().tolist())))

    def __reduce__(self) -> tuple[Any, ...]:
        """How to copy and unpickle it: by its constructor."""
        # Copies are made by the constructor, so that they are read-only, too.
        return MulticlassConfusion, (self.counts, self.labels)

    def __repr__(self) -> str:
        """The call that creates the matrix; a summary if there are more than four classes."""
        if self.k > 4:
            cases = format_count(self.n)
            return f"<MulticlassConfusion: {self.k} classes, n = {cases}>"
        return f"MulticlassConfusion({self.counts.tolist()}, labels={self.labels!r})"

    def __str__(self) -> str:
        """A table with totals, actual classes in rows; a summary if there are too many."""
        if self.k > 20:
            return repr(self)
        names = [printable(str(label))[:24] for label in self.labels]
        rows = [["actual", *(f"predicted {name}" for name in names), "total"]]
        table = [*self.counts, self.counts.sum(axis=0)]
        for name, counts in zip([*names, "total"], table, strict=True):
            total = counts.sum().item()
            rows.append([name, *map(format_count, [*counts.tolist(), total])])
        return "\n".join(aligned(rows, right=range(1, len(rows[0]))))


def require_same_labels(
    first: MulticlassConfusion,
    second: MulticlassConfusion,
    name: str = "the other matrix",
) -> None:
    """Raise an error unless the second matrix, called ``name``, has the same labels.

    Otherwise counts of different classes would be added up or compared.
    """
    if first.labels != second.labels:
        wanted, got = (brief(list(cm.labels), 60) for cm in (first, second))
        must = "must have the same labels in the same order"
        raise InvalidInput(f"{name} {must} ({wanted}); got {got}")


def one_vs_rest(counts: Array) -> Floats:
    """The cells tp, fn, fp, tn of every class against the rest.

    Counts have the shape (..., K, K), the cells (..., K, 4). Metrics of two classes then score each
    class.

    >>> one_vs_rest(np.array([[4, 3], [2, 1]]))
    array([[4., 3., 2., 1.],
           [1., 2., 3., 4.]])
    """
    tp = np.diagonal(counts, axis1=-2, axis2=-1)
    if counts.dtype.kind == "i":
        fn, fp = counts.sum(axis=-1) - tp, counts.sum(axis=-2) - tp
        tn = counts.sum(axis=(-2, -1))[..., None] - tp - fn - fp
    else:
        # A difference of rounded sums may be tiny where the true sum is 0, which would
        # decide whether a score is defined: add up the cells of each part instead.
        others = 1 - np.eye(counts.shape[-1])
        errors = others * counts
        fn, fp = errors.sum(axis=-1), errors.sum(axis=-2)
        # Row k of the product is the sum of all rows but k; without its column k, it holds
        # the tn of class k.
        tn = (others * (others @ counts)).sum(axis=-1)
    return np.stack([tp, fn, fp, tn], axis=-1).astype(float)


def _as_counts(array: ArrayLike) -> Array:
    """Check counts; return a read-only square array, of integers if all are whole.

    Both constructors read their argument by it. An empty array is an error.
    """
    given = as_numbers(array, "`counts`")
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        must = f"have shape (K, K), actual classes in rows; got shape {given.shape}"
        raise InvalidInput(argument="counts", must=must)
    check_cost(len(given), MAX_CLASSES, "there are {} classes", "merge rare ones")
    if invalid := first_invalid_cell(given):
        # This raises the error for that value.
        as_cell("counts", float(given[invalid]))
    if given.astype(float).sum() > LARGEST_CELL:
        must = "add up to at most 2**53, beyond which float64 is not exact"
        raise InvalidInput(argument="counts", must=must)
    is_whole = (given == np.floor(given)).all()
    counts = np.array(given, dtype=np.int64 if is_whole else np.float64)
    counts.setflags(write=False)
    return counts
