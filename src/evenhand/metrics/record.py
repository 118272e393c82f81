"""What a metric is: a frozen record that scores matrices and knows where it is undefined.

A metric of one group is made by `ratio_metric`, `contrast_metric` or `two_rates_metric`. Each
orders matrices by an exact fraction, its rank, and is monotone in the last split of a tree of
cells. A metric answers all questions about itself, so that no other package asks for its class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, dataclass
from math import isinf
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ..arrays import Array, Floats
from ..confusion import CELLS, Cells, ConfusionMatrix, MulticlassConfusion, as_cells, as_size
from ..errors import InvalidInput, brief
from .aliases import notes_on
from .class_averages import Average, MulticlassRule, Undefined, class_average_of
from .tree import COLUMN_TREE, ROW_TREE, Tree, without
from .undefined_sets import Part, UndefinedSet

if TYPE_CHECKING:
    from .group_comparison import GroupComparison

Better = Literal["higher", "lower", "closer to 0", "closer to 1", "neither"]
GapKind = Literal["difference", "ratio"]
Prediction = Literal["positive", "negative"]
Direction = Literal["higher", "lower"]
#: A fraction that orders matrices as a metric does, without rounding: numerator and
#: denominator, where a denominator of 0 means infinity.
Rank = tuple[Any, Any]
CellWeights = tuple[float, ...]

ALL_CASES = Part(CELLS, "cases")
# The prediction that the cases in these cells have in common.
_PREDICTION_OF: dict[Any, Prediction] = {("tp", "fp"): "positive", ("fn", "tn"): "negative"}
# What the cases in these cells have in common, for sentences about rates.
_COMMON_PROPERTIES = {
    "predicted positive": {"tp", "fp"},
    "predicted negative": {"fn", "tn"},
    "actually positive": {"tp", "fn"},
    "actually negative": {"fp", "tn"},
    "predicted correctly": {"tp", "tn"},
    "predicted wrongly": {"fn", "fp"},
}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A strictly increasing function of a rate a / (a + b), by which a score follows from it.

    Intervals of the rate then give those of the score. ``rank(a, b)`` is the score as an exact
    fraction, given the counts; ``score(rate)`` is the score and ``rate(score)`` its inverse.
    ``formula`` has ``{a}`` and ``{b}`` for the counts.
    """

    rank: Callable[[Any, Any], Rank]
    score: Callable[[Any], Any]
    rate: Callable[[Any], Any]
    formula: str


RATE = Curve(lambda a, b: (a, a + b), lambda p: p, lambda s: s, "{a} / ({a} + {b})")
DICE = Curve(
    lambda a, b: (2 * a, 2 * a + b),
    lambda p: 2 * p / (1 + p),
    lambda s: s / (2 - s),
    "2*{a} / (2*{a} + {b})",
)
ODDS = Curve(
    lambda a, b: (a, b),
    lambda p: p / np.maximum(1 - p, 1e-300),
    lambda s: 1 - 1 / (1 + s),
    "{a} / {b}",
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Metric(ABC):
    """A metric; call it to score confusion matrices.

    Attributes
    ----------
    key : str
        The short name in results and on the command line.
    name : str
        The full name.
    description : str
        What it says, in one line for lay readers.
    formula : str
        The formula, in terms of the cells and of rates.
    shape : str
        ``"share"``, ``"ratio"``, ``"contrast"``, ``"pair"`` or ``"two groups"``.
    better : {"higher", "lower", "closer to 0", "closer to 1", "neither"}
        Which scores are better.
    synonyms : tuple of str
        Other names under which `metric` finds it.
    low, high : float
        The range of the score.
    tree : Tree
        The order of splits in which the score is monotone in the last one.
    undefined_sets : tuple of UndefinedSet
        Where it is undefined: one set of matrices per group.
    denominators : tuple of Part
        The cases that the score is computed from, one part per rate.
    groups : int
        How many confusion matrices it takes: 1, or 2 for a group and its reference.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, metric
    >>> tpr = metric("tpr")
    >>> print(tpr)
    tpr: True positive rate = TP / (TP + FN)
    >>> tpr(ConfusionMatrix(tp=3, fn=1, fp=0, tn=6))
    0.75
    """

    key: str
    name: str
    description: str
    _: KW_ONLY
    formula: str
    shape: str
    better: Better
    synonyms: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    tree: Tree
    undefined_sets: tuple[UndefinedSet, ...]
    denominators: tuple[Part, ...]

    groups: ClassVar[int] = 1

    @property
    @abstractmethod
    def base(self) -> OneGroupMetric:
        """The metric of one group that is scored or compared; the first of several."""

    @abstractmethod
    def scores(self, *groups: Floats) -> Floats:
        """The scores of cells of shape (..., 4), one array per group; nan where undefined.

        Unlike a call, it does not check the cells.
        """

    @property
    def undefined_if(self) -> str:
        """When it is undefined, in words.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("tpr").undefined_if
        'no actual positives (TP + FN = 0)'
        """
        return str(self.undefined_sets[0])

    def support(self, cells: Any) -> Array:
        """The number of cases in each denominator, along a new last axis."""
        array = np.asarray(cells)
        return np.stack([part.count(array) for part in self.denominators], axis=-1)

    @property
    def comparisons(self) -> tuple[GroupComparison, ...]:
        """The differences or ratios of two groups that it consists of; none for one group.

        Callers ask for them to tell metrics of one group from those of two.
        """
        return ()

    @property
    def kind(self) -> GapKind | None:
        """How two groups are compared; None for one group, and for a `LargestGap`."""
        return None

    @property
    def is_distance(self) -> bool:
        """Whether a higher score always means a larger gap, so that tests are one-sided."""
        return False

    @property
    def is_unbounded(self) -> bool:
        """Whether the score has no upper bound, such as a ratio whose denominator may be 0."""
        return isinf(self.high)

    @property
    def is_base_rate(self) -> bool:
        """Whether it depends on the actual labels only, not on predictions, as prevalence does.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("prev").is_base_rate, metric("ppr").is_base_rate
        (True, False)
        """
        tree = self.base.tree
        return tree.last_of == CELLS and tree.last in (("tp", "fn"), ("fp", "tn"))

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible score.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("mcc").range
        (-1.0, 1.0)
        """
        return self.low, self.high

    @property
    def in_paper(self) -> bool:
        """Whether it is one of the 21 metrics of the paper that this library extends.

        That is "Algorithmic Accountability in Small Data" (AISTATS 2025).

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("mcc").in_paper, metric("kappa").in_paper
        (True, False)
        """
        # Imported here, since the catalogue imports this module.
        from .catalogue import PAPER_METRICS

        return self in PAPER_METRICS

    @property
    def notes(self) -> tuple[str, ...]:
        """What other libraries call it, and which of its names mean something else there.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("nprev").notes
        ('N in PyCM is the number of actual negatives',)
        """
        return notes_on(self.key)

    def null_value(self, reference_score: float) -> float:
        """The score that means "no difference", given the reference's score.

        For one group, it is that score itself.
        """
        return reference_score

    def __call__(
        self,
        *groups: Cells | MulticlassConfusion,
        positive: object = None,
        average: Average | None = None,
        label: Hashable = None,
        undefined: Undefined = "propagate",
    ) -> Any:
        """Score one or many confusion matrices.

        Parameters
        ----------
        *groups : ConfusionMatrix, MulticlassConfusion or array of shape (..., 4)
            One group; for a metric of two groups, the group and then the reference, whose
            shapes broadcast. A metric of one group also takes labels and predictions, or a
            matrix of K classes.
        positive : label or list of labels, optional
            The positive labels, as for `ConfusionMatrix.from_labels`; only with labels and
            predictions.
        average : {"micro", "macro", "weighted"}, optional
            An average over K classes; only for a MulticlassConfusion, so labels have to be
            counted with `MulticlassConfusion.from_labels` first. ``"micro"`` scores the sum of
            the one-vs-rest cells of all classes, ``"macro"`` is the mean of the classes'
            scores, and ``"weighted"`` weighs them by the number of cases of each class.
        label : label, optional
            One of K classes, to score against the rest; only for a MulticlassConfusion. Without
            ``average`` and ``label``, the metric must be defined for all classes at once: acc,
            inacc, balanced_accuracy (the mean of the classes' true positive rates), mcc
            (Gorodkin's R_K) or kappa.
        undefined : {"propagate", "omit"}
            Whether a mean over classes is undefined if the score of a class is, or leaves it
            out.

        Returns
        -------
        float or ndarray
            A float for a single matrix, else an array; nan where the metric is undefined.

        Examples
        --------
        >>> from evenhand import MulticlassConfusion, metric
        >>> metric("tpr")([[3, 1, 0, 6], [0, 0, 4, 6]])
        array([0.75,  nan])
        >>> metric("tpr")([1, 1, 0, 0, 0], [1, 0, 0, 0, 1])
        0.5
        >>> cm = MulticlassConfusion.from_array([[3, 1, 0], [0, 2, 0], [1, 0, 4]])
        >>> metric("tpr")(cm, average="macro"), metric("tpr")(cm, label=2)
        (0.85, 0.8)
        """
        class_average = class_average_of(self, groups, average, label, undefined)
        # A metric of one group gets a second argument only if they are labels and predictions.
        has_matrix = any(isinstance(group, ConfusionMatrix) for group in groups)
        is_labels = self.groups == 1 and len(groups) == 2 and not has_matrix
        if positive is not None and not is_labels:
            raise InvalidInput(
                f"{self.key} takes a positive label only together with labels and predictions"
            )
        if class_average is not None:
            (cm,) = self._check_groups(groups)
            return float(class_average.scores(cm.counts))
        if is_labels:
            columns: Any = groups
            groups = (ConfusionMatrix.from_labels(columns[0], columns[1], positive),)
        cells = [as_cells(group) for group in self._check_groups(groups)]
        try:
            scores = self.scores(*cells)
        except ValueError:
            shapes = " and ".join(str(array.shape) for array in cells)
            raise InvalidInput(
                f"the cells of group and reference must broadcast; got shapes {shapes}"
            ) from None
        return float(scores) if scores.ndim == 0 else scores

    def why_undefined(
        self,
        *groups: Cells | MulticlassConfusion,
        average: Average | None = None,
        label: Hashable = None,
        undefined: Undefined = "propagate",
    ) -> str | None:
        """Why a score is undefined, in words.

        Parameters
        ----------
        *groups : ConfusionMatrix, MulticlassConfusion or four cells
            The group; for a metric of two groups, the group and then the reference.
        average, label, undefined
            What is scored of K classes, as in a call.

        Returns
        -------
        str or None
            The reason; None if the score is defined.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, MulticlassConfusion, metric
        >>> metric("tpr").why_undefined(ConfusionMatrix(tp=0, fn=0, fp=4, tn=6))
        'no actual positives (TP + FN = 0)'
        >>> cm = MulticlassConfusion([[3, 1], [0, 0]], labels=["cat", "fox"])
        >>> metric("tpr").why_undefined(cm, average="macro")
        "undefined for 1 of 2 classes: 'fox', no actual positives (TP + FN = 0)"
        """
        class_average = class_average_of(self, groups, average, label, undefined)
        if class_average is not None:
            (cm,) = self._check_groups(groups)
            return class_average.why_undefined(cm)
        cells = [as_cells(group) for group in self._check_groups(groups)]
        if shapes := [array.shape for array in cells if array.ndim != 1]:
            must = "why_undefined takes one matrix at a time"
            raise InvalidInput(f"{must}; got cells of shape {shapes[0]}")
        reasons = [s.reason(c) for s, c in zip(self.undefined_sets, cells, strict=True)]
        if self.groups == 1:
            return reasons[0]
        named = zip(("group", "reference"), reasons, strict=True)
        return "; ".join(f"in the {name}: {why}" for name, why in named if why) or None

    def sizes(self, n: Any) -> tuple[int, ...]:
        """Validate a number of cases, or a pair of numbers, and return one per group.

        Metrics of two groups take a pair.
        """
        sizes = tuple(n) if isinstance(n, (tuple, list)) else (n,)
        if len(sizes) != self.groups:
            pair = "a pair (n1, n2), one per group"
            wanted = "one number" if self.groups == 1 else pair
            raise InvalidInput(f"`n` of {self.key} must be {wanted}; got {brief(n)}")
        return tuple(map(as_size, sizes))

    def _check_groups(self, groups: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the groups; an error if there are more or fewer than the metric takes."""
        if len(groups) != self.groups:
            two = "two groups, the group and the reference"
            wanted = "one group" if self.groups == 1 else two
            raise InvalidInput(f"{self.key} takes {wanted}; got {len(groups)}")
        return groups

    @property
    def __name__(self) -> str:
        """The key, which libraries that take functions show as their name."""
        return self.key

    def __str__(self) -> str:
        """Key, name and formula, as ``print`` shows them."""
        return f"{self.key}: {self.name} = {self.formula}"

    def __repr__(self) -> str:
        """The same in angle brackets, since it is no code that creates the metric."""
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """How to unpickle it: by a lookup of its key, since its functions cannot be pickled."""
        from .catalogue import metric

        return metric, (self.key,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OneGroupMetric(Metric):
    """A metric of one confusion matrix.

    Attributes
    ----------
    rank : callable
        A fraction that orders matrices in the same way as the score; exact for integer cells.
    score : callable
        The score of cells on which it is defined.
    rises : bool
        Whether the score rises with the last count of its tree, or falls.
    curve : Curve or None
        How the score follows from the rate of the last split; None if other splits matter, too.
    denominator : Part or None
        The part whose size a test can condition on; None if that is ``n``.
    counted : str or None
        What the cases that a rate counts have in common, such as "predicted positive".
    given_prediction : {"positive", "negative"} or None
        The prediction whose frequency it is.
    error : tuple or None
        For a rate of right or wrong predictions, the wrong prediction, and whether a "higher"
        or a "lower" score means more of them: ("negative", "lower") for TPR.
    linear : tuple of float or None
        The weight of each cell, if the score is linear in their proportions.
    quotient : pair of tuples of float, or None
        The weights of the cells in numerator and denominator, if it is a quotient of such sums.
    zero_if_empty : tuple of Part or None
        The score is 0 if one of these parts is empty; None if it can be negative.
    multiclass : str or None
        How K classes are scored at once; None if a class or an average is needed.
    """

    rank: Callable[..., Rank]
    score: Callable[..., Any]
    rises: bool = True
    curve: Curve | None = None
    denominator: Part | None = None
    counted: str | None = None
    given_prediction: Prediction | None = None
    error: tuple[Prediction, Direction] | None = None
    linear: CellWeights | None = None
    quotient: tuple[CellWeights, CellWeights] | None = None
    zero_if_empty: tuple[Part, ...] | None = None
    multiclass: MulticlassRule | None = None

    @property
    def base(self) -> OneGroupMetric:
        """The metric itself; a metric of two groups has the one that it compares."""
        return self

    @property
    def is_rate(self) -> bool:
        """Whether the score is a proportion of cases, not a function of one such as F1."""
        return self.curve is RATE

    @property
    def undefined_at_equal_rates(self) -> bool:
        """Whether it is undefined where TPR equals FPR."""
        return self.undefined_sets[0].undefined_at_equal_rates

    @property
    def defined_by_denominator(self) -> bool:
        """Whether a denominator of zero (without one, n = 0) is the only reason to be undefined.

        A test that conditions on the denominator then needs no case of an undefined score.
        """
        return self.undefined_sets == (UndefinedSet((self.denominator or ALL_CASES,)),)

    def scores(self, *groups: Floats) -> Floats:
        """The scores of cells of shape (..., 4); nan where undefined."""
        (cells,) = groups
        columns = np.moveaxis(cells, -1, 0)
        # Rounding may put a score slightly outside its range.
        with np.errstate(all="ignore"):
            scores = np.clip(self.score(*columns), self.low, self.high)
        return np.where(self.undefined_sets[0].contains(*columns), np.nan, scores)


def ratio_metric(
    *names: str,
    part: Part,
    whole: Part = ALL_CASES,
    curve: Curve = RATE,
    needs: tuple[Part, ...] | None = None,
    formula: str = "",
    **facts: Any,
) -> OneGroupMetric:
    """Define a score that rises with a / (a + b): a counts a part of a whole, b the rest.

    Parameters
    ----------
    *names : str
        Key, name and description; that of a rate of two of the four margins can be left out.
    part, whole : Part
        The cases that are counted, and among which.
    curve : Curve
        `RATE` for a / (a + b), `DICE` for 2a / (2a + b) and `ODDS` for a / b.
    needs : tuple of Part, optional
        The parts without which it is undefined; by default the whole.
    formula : str, optional
        The formula, if it is not that of the curve. A share of all cases has its own.
    **facts
        Further fields of the record.
    """
    rest = Part(without(whole.cells, part.cells), "others")
    is_share, is_rate = whole == ALL_CASES, curve is RATE

    def rank(*cells: Any) -> Rank:
        """The score as an exact fraction of the cells, by which matrices are ordered."""
        cell_of = dict(zip(CELLS, cells, strict=True))
        a, b = (sum(cell_of[cell] for cell in each.cells) for each in (part, rest))
        return curve.rank(a, b)

    counted = _common_property(part, whole) if is_rate else None
    right = sum(cell in ("tp", "tn") for cell in part.cells)
    better = {0: "lower", len(part.cells): "higher"}.get(right, "neither")
    defaults: dict[str, Any] = {"counted": counted, "better": better}
    if counted and len(names) == 2:
        subject = f"Of those {_common_property(whole)}, how many are"
        subject = "How many cases are" if is_share else subject
        subject = subject.replace("actually", "who are actually")
        defaults["description"] = f"{subject} {counted}"
    # The rank is linear in the cells, so those of unit matrices are its weights.
    ranks = [rank(*unit) for unit in np.eye(4).tolist()]
    numerator, denominator = zip(*ranks, strict=True)
    curve_formula = curve.formula.format(a=part.formula, b=rest.formula)
    return OneGroupMetric(
        *names,
        shape="share" if is_share else "ratio",
        formula=f"({part.formula}) / n" if is_share else formula or curve_formula,
        tree=Tree(() if is_share else whole.cells, (), part.cells, whole.cells),
        undefined_sets=(UndefinedSet(needs or (whole,)),),
        denominators=(whole,),
        denominator=None if is_share else whole,
        rank=rank,
        score=_quotient_of(rank),
        curve=curve,
        linear=numerator if is_share else None,
        quotient=(numerator, denominator),
        zero_if_empty=(part,),
        given_prediction=_PREDICTION_OF.get(part.cells) if is_share else None,
        error=_error_of(part, whole) if is_rate else None,
        **defaults | facts,
    )


def contrast_metric(*names: str, plus: str, minus: str, **facts: Any) -> OneGroupMetric:
    """Define the metric (plus - minus) / n of two cells, such as marginal benefit.

    ``names`` are key, name and description; ``plus`` and ``minus`` name the cells; ``facts`` are
    further fields of the record. Its rank is the exact fraction by which matrices are ordered.
    """

    def rank(*cells: Any) -> Rank:
        """The score as an exact fraction of the cells, by which matrices are ordered."""
        return cells[CELLS.index(plus)] - cells[CELLS.index(minus)], sum(cells)

    return OneGroupMetric(
        *names,
        shape="contrast",
        formula=f"({plus.upper()} - {minus.upper()}) / n",
        tree=Tree(margin=(plus, minus), side=(), last=(plus,), last_of=(plus, minus)),
        undefined_sets=(UndefinedSet((ALL_CASES,)),),
        denominators=(ALL_CASES,),
        rank=rank,
        score=_quotient_of(rank),
        linear=tuple(float(cell == plus) - float(cell == minus) for cell in CELLS),
        **facts,
    )


def two_rates_metric(
    *names: str,
    rank: Callable[..., Rank],
    needs: tuple[Part, ...],
    undefined_at_equal_rates: bool = False,
    by_columns: bool = False,
    **facts: Any,
) -> OneGroupMetric:
    """Define a score made of two rates, one of each row (or column) of the matrix.

    Given the row totals and TP, the score must fall with FP; or rise, with ``rises=True``, so that
    tails are found by bisection. In the latter case, lower scores are better by default, otherwise
    higher ones.

    Parameters
    ----------
    *names : str
        Key, name and description.
    rank : callable
        From the cells, numerator and denominator of the score, or of a number that orders matrices
        in the same way; then ``score`` must be given.
    needs : tuple of Part
        The parts without which it is undefined.
    undefined_at_equal_rates : bool
        Whether it is also undefined where TPR equals FPR.
    by_columns : bool
        Exchange rows and columns: given the column totals and TP, the score depends on FN.
    **facts
        Further fields of the record; ``denominators`` if they are not both rows (or columns).
    """
    tree, adjective = (COLUMN_TREE, "predicted") if by_columns else (ROW_TREE, "actual")
    positives = Part(tree.margin, f"{adjective} positives")
    defaults: dict[str, Any] = {
        "score": _quotient_of(rank),
        "rises": False,
        "better": "lower" if facts.get("rises") else "higher",
        "denominators": (positives, Part(tree.last_of, f"{adjective} negatives")),
    }
    return OneGroupMetric(
        *names,
        shape="pair",
        tree=tree,
        undefined_sets=(UndefinedSet(needs, undefined_at_equal_rates),),
        denominator=positives,
        rank=rank,
        **defaults | facts,
    )


def _common_property(part: Part, whole: Part = ALL_CASES) -> str | None:
    """What sets a part apart within the whole, such as "predicted positive", if it has words.

    Descriptions of rates, and sentences about them, are made of it.
    """
    for text, cells in _COMMON_PROPERTIES.items():
        if cells & {*whole.cells} == {*part.cells}:
            return text
    return None


def _quotient_of(rank: Callable[..., Rank]) -> Callable[..., Any]:
    """The function that scores cells by the value of their rank, numerator / denominator.

    It is for metrics whose rank, the fraction that orders matrices, is the score itself, without a
    root.
    """

    def score(*cells: Any) -> Any:
        """The score of cells; nan or infinity, as NumPy has it, where the denominator is 0."""
        numerator, denominator = rank(*cells)
        return numerator / denominator

    return score


def _error_of(part: Part, whole: Part) -> tuple[Prediction, Direction] | None:
    """The wrong prediction among the cases of a rate, and which scores mean more of them.

    Audits say by it which errors a gap means, and whether it harms a group. It is ("negative",
    "lower") for TPR, since a lower TPR means more wrong negative predictions. None unless the rate
    is of a right and a wrong cell, as TPR, FPR or PPV.
    """
    errors = [cell for cell in whole.cells if cell in ("fn", "fp")]
    if len(whole.cells) != 2 or len(errors) != 1:
        return None
    direction: Direction = "higher" if errors[0] in part.cells else "lower"
    return ("negative" if errors[0] == "fn" else "positive"), direction
