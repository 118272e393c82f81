"""What a metric is: a frozen record that scores matrices and knows where it is undefined.

A one-group metric has one of four *shapes*. Each orders matrices by an exact fraction, its `rank`, and is monotone in
the last split of a tree of cells. A metric answers all questions about itself, so other packages never ask for its
class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, Cells, ConfusionMatrix, MulticlassConfusion, as_cells, as_size
from ..errors import InvalidInput, brief
from .class_summaries import Average, Summary, Undefined, summary_asked
from .curves import RATE, Curve
from .elsewhere import notes_on
from .expressions import Expression, expression
from .holes import Holes, Part, list_pairs
from .links import quotient
from .tree import Tree
from .words import Prediction, Way, in_common, kind_of_error, prediction_given

if TYPE_CHECKING:
    from .two_groups import Comparison

__all__ = ["Better", "Contrast", "Kind", "Metric", "OneGroup", "Pair", "Quotient", "Rank", "Ratio", "Share"]

Better = Literal["higher", "lower", "closer to 0", "closer to 1", "neither"]
Kind = Literal["difference", "ratio"]
Rank = tuple[Any, Any]
"""A fraction as numerator and denominator, for exact comparison; a denominator of 0 means infinity."""
Weights = tuple[float, float, float, float]

EVERYONE = Part(CELLS, "cases")

# Wholes that predictions make, not outcomes.
_PREDICTED = ({"tp", "fp"}, {"fn", "tn"})


@dataclass(frozen=True, slots=True)
class Quotient:
    """A score as a quotient of two weighted sums of cells, and the cases that its denominator counts."""

    over: Weights
    under: Weights
    of: Part

    def counts(self, cells: Any) -> tuple[Any, Any]:
        """Numerator and denominator, for cells along the last axis."""
        array = np.asarray(cells)
        return array @ np.array(self.over), array @ np.array(self.under)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Metric(ABC):
    """A metric; call it to score confusion matrices.

    Attributes
    ----------
    key : str
        The short name in results and on the command line.
    name : str
        The full name.
    means : str
        What it says, in one line for a person.
    better : {"higher", "lower", "closer to 0", "closer to 1", "neither"}
        Which scores are better.
    synonyms : tuple of str
        Other names under which `metric` finds it.
    low, high : float
        The range of the score.
    in_paper : bool
        Whether it is one of the paper's 21.
    counted : str or None
        What the cases that a rate counts have in common, such as "predicted positive"; None if it is no rate.
    groups : int
        How many confusion matrices it takes: 1, or 2 for a comparison of a group with a reference.
    shape : str
        ``"share"``, ``"ratio"``, ``"contrast"``, ``"pair"`` or ``"two groups"``.

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
    means: str
    better: Better
    synonyms: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    in_paper: bool = False
    counted: str | None = None

    shape: ClassVar[str]
    groups: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not isinstance(self.means, str) or not self.means.strip():
            raise InvalidInput(argument="means", must=f"say in one line what {self.key} means", got=self.means)

    @property
    @abstractmethod
    def formula(self) -> str:
        """The formula, in terms of the cells and of rates.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("informedness").formula
        'TPR + TNR - 1'
        """

    @property
    @abstractmethod
    def holes(self) -> tuple[Holes, ...]:
        """Where it is undefined: one set of holes per group."""

    @property
    @abstractmethod
    def undefined_if(self) -> str:
        """When it is undefined, in words.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("tpr").undefined_if
        'no actual positives (TP + FN = 0)'
        """

    @property
    @abstractmethod
    def base(self) -> OneGroup:
        """The one-group metric that is scored or compared; the first if there are several."""

    @property
    @abstractmethod
    def tree(self) -> Tree:
        """The order in which cells are split, such that the score is monotone in the last split."""

    @property
    def rests_on(self) -> tuple[Part, ...]:
        """The cases that the score of a group rests on: one part for each rate that it is made of.

        Examples
        --------
        >>> from evenhand import metric
        >>> [part.name for part in metric("balanced_accuracy").rests_on]
        ['actual positives', 'actual negatives']
        """
        return self.base.rests_on

    def basis(self, cells: Any) -> NDArray[Any]:
        """How many cases of a group there are in each part that the score rests on, along a new last axis."""
        counts = np.asarray(cells)
        return np.stack([part.of(counts) for part in self.rests_on], axis=-1)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of two groups that it consists of; none for a metric of one group."""
        return ()

    @property
    def kind(self) -> Kind | None:
        """How two groups are compared; None for a metric of one group and for the worst of several."""
        return None

    @property
    def is_distance(self) -> bool:
        """Whether a larger score always means a larger difference, so that tests are one-sided."""
        return False

    @property
    def unbounded(self) -> bool:
        """Whether the score has no upper bound."""
        return isinf(self.high)

    def centre(self, reference_score: float) -> float:
        """The score that means "no difference", given the reference's score."""
        return reference_score

    @property
    def of_people(self) -> bool:
        """Whether it says something about people alone, whatever is predicted, as prevalence does.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("prev").of_people, metric("ppr").of_people
        (True, False)
        """
        tree = self.base.tree
        return tree.last_of == CELLS and tree.last in (("tp", "fn"), ("fp", "tn"))

    def worse(self, favourable: Prediction | None = None) -> Way | None:
        """The direction in which a group's score is worse for its people than another's.

        Parameters
        ----------
        favourable : {"positive", "negative"}, optional
            The prediction that is good for the person; None if that is not known.

        Returns
        -------
        {"higher", "lower"} or None
            None if neither direction harms them, as with facts about people, errors in their favour, and scores that
            are best in the middle; or if it depends on what is favourable and that is not known.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("fpr").worse(favourable="negative"), metric("fpr").worse(favourable="positive")
        ('higher', None)
        """
        return "higher" if self.is_distance else self.base.worse(favourable)

    @abstractmethod
    def good(self, favourable: Prediction | None = None) -> str:
        """Which way is good, and for whom, in words.

        Parameters
        ----------
        favourable : {"positive", "negative"}, optional
            The prediction that is good for the person; if None, nothing is said of harm.

        Returns
        -------
        str
            A sentence without its full stop.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("tpr").good(favourable="positive")
        'Higher is more often right; errors harm the person'
        >>> metric("prev").good()
        'A fact about the people, neither good nor bad'
        """

    @abstractmethod
    def scores(self, *groups: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of cells that were checked already; nan where undefined."""

    def __call__(
        self,
        *groups: Cells | MulticlassConfusion,
        positive: object = None,
        pos_label: object = None,
        sample_weight: object = None,
        average: Average | None = None,
        label: Hashable = None,
        undefined: Undefined = "propagate",
    ) -> Any:
        """Score one or many confusion matrices.

        Parameters
        ----------
        *groups : ConfusionMatrix, MulticlassConfusion or array of shape (..., 4)
            One group; for a two-group metric, the group and then the reference, whose shapes broadcast. A one-group
            metric also takes labels and predictions, as functions of other libraries do, or a matrix of K classes.
        positive, pos_label : label or list of labels, optional
            The positive labels, as for `ConfusionMatrix.from_labels`, under the name of this library or of
            scikit-learn. Only for labels and predictions.
        sample_weight : None
            Here to say that weights are refused: scores are those of counts.
        average : {"micro", "macro", "weighted"}, optional
            An average over K classes. ``"micro"`` adds up the one-against-rest cells of all classes and scores the sum.
            ``"macro"`` is the plain mean of the classes' scores. ``"weighted"`` weighs them by the number of cases of
            each class, so a class without cases has no weight.
        label : label, optional
            One of K classes, to score against the rest. Without ``average`` and ``label``, the metric must be defined
            for all classes at once: acc, inacc, balanced_accuracy (the mean of the classes' true positive rates), mcc
            (Gorodkin's R_K) or kappa.
        undefined : {"propagate", "omit"}
            If some classes have no score, a mean over classes is undefined; or it is over the others.

        Returns
        -------
        float or ndarray
            A float for a single matrix, else an array; nan where the metric is undefined.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("tpr")([[3, 1, 0, 6], [0, 0, 4, 6]])
        array([0.75,  nan])
        >>> metric("tpr")([1, 1, 0, 0, 0], [1, 0, 0, 0, 1])
        0.5
        >>> metric("tpr")(["a", "a", "b"], ["a", "b", "b"], pos_label="b")
        1.0
        >>> from evenhand import MulticlassConfusion
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [1, 0, 4]], labels=["cat", "dog", "fox"])
        >>> metric("tpr")(cm, average="macro"), metric("tpr")(cm, label="fox"), round(metric("mcc")(cm), 3)
        (0.85, 0.8, 0.731)
        """
        if sample_weight is not None:
            raise InvalidInput(
                f"{self.key} is a score of counts, so `sample_weight` must be None; leave out the weights"
            )
        if positive is not None and pos_label is not None:
            raise InvalidInput("`positive` and `pos_label` mean the same; pass one of them")
        chosen = pos_label if positive is None else positive
        if summary := self._of_classes(groups, average, label, undefined):
            if chosen is not None:
                raise InvalidInput(f"{self.key} of several classes takes a class as `label=`, not as `positive=`")
            return float(summary.values(groups[0].counts))  # type: ignore[union-attr]
        if self.groups == 1 and len(groups) == 2 and all(map(_is_column, groups)):
            groups = (self._counted(*groups, chosen),)
        elif chosen is not None:
            raise InvalidInput(f"{self.key} takes a positive label only together with labels and predictions")
        cells = [as_cells(group) for group in self._read(groups)]
        try:
            np.broadcast_shapes(*(c.shape for c in cells))
        except ValueError:
            shapes = " and ".join(str(c.shape) for c in cells)
            raise InvalidInput(f"the cells of group and reference must broadcast; got shapes {shapes}") from None
        values = self.scores(*cells)
        return float(values) if values.ndim == 0 else values

    def _counted(self, y_true: Any, y_pred: Any, positive: object) -> ConfusionMatrix:
        try:
            return ConfusionMatrix.from_labels(y_true, y_pred, positive)
        except InvalidInput as refusal:
            labels = {repr(label) for column in (y_true, y_pred) for label in np.asarray(column).ravel().tolist()}
            if positive is None and len(labels) == 1:
                raise InvalidInput(
                    f"{refusal.args[0]}, or use evenhand.fairlearn.metric_function({self.key!r}) in a MetricFrame"
                ) from None
            raise

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
            The group; for a two-group metric, the group and then the reference.
        average, label, undefined
            What is scored of K classes, as in a call.

        Returns
        -------
        str or None
            The reason; None if the score is defined.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, metric
        >>> metric("tpr").why_undefined(ConfusionMatrix(tp=0, fn=0, fp=4, tn=6))
        'no actual positives (TP + FN = 0)'
        >>> from evenhand import MulticlassConfusion
        >>> cm = MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], labels=["cat", "dog", "fox"])
        >>> metric("tpr").why_undefined(cm, average="macro")
        "undefined for 1 of 3 classes: 'fox', no actual positives (TP + FN = 0)"
        """
        if summary := self._of_classes(groups, average, label, undefined):
            return summary.reason(groups[0])  # type: ignore[arg-type]
        reasons = [
            holes.reason(_one_matrix(cells)) for holes, cells in zip(self.holes, self._read(groups), strict=True)
        ]
        if self.groups == 1:
            return reasons[0]
        named = zip(("group", "reference"), reasons, strict=True)
        return "; ".join(f"in the {who}: {reason}" for who, reason in named if reason) or None

    def undefined_cases(self, n: int | tuple[int, int]) -> NDArray[np.int64]:
        """List the matrices of ``n`` cases on which it is undefined.

        Parameters
        ----------
        n : int or (int, int)
            The number of cases; a pair for a two-group metric.

        Returns
        -------
        array of int
            Shape (count, 4), or (count, 2, 4) for two groups.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("f1").undefined_cases(3)
        array([[0, 0, 0, 3]])
        """
        sizes = self.sizes(n)
        return self.holes[0].list(sizes[0]) if len(sizes) == 1 else list_pairs(self.holes, sizes)

    def sizes(self, n: Any) -> tuple[int, ...]:
        """A number of cases, or a pair of numbers, checked: one per group."""
        if self.groups == 1:
            if isinstance(n, (tuple, list)):
                raise InvalidInput(f"{self.key} is a metric of one group, so `n` must be one number; got {brief(n)}")
            return (as_size(n),)
        if not isinstance(n, (tuple, list)) or len(n) != 2:
            raise InvalidInput(f"{self.key} compares two groups, so `n` must be a pair (n1, n2); got {brief(n)}")
        return as_size(n[0]), as_size(n[1])

    def _of_classes(self, groups: tuple[Any, ...], *how: Any) -> Summary | None:
        """What is scored of a matrix of K classes, if that is what was passed."""
        summary = summary_asked(self, groups[0] if groups else None, *how)
        if summary is not None:
            self._read(groups)
        return summary

    def _read(self, groups: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(groups) != self.groups:
            wanted = "one group" if self.groups == 1 else "two groups, the group and the reference"
            raise InvalidInput(f"{self.key} takes {wanted}; got {len(groups)}")
        if len(groups) > 1 and all(map(_looks_like_labels, groups)):
            raise InvalidInput(
                f"{self.key} takes the counts of two groups; got what looks like labels. Count each group with "
                "ConfusionMatrix.from_labels, or pass counts of 0 and 1 as ConfusionMatrix(tp, fn, fp, tn)"
            )
        return groups

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
    def elsewhere(self) -> tuple[str, ...]:
        """What other libraries call it, and what they mean by one of its names if that differs.

        Examples
        --------
        >>> from evenhand import metric
        >>> metric("prev").elsewhere
        ('P in PyCM is the number of actual positives; the prevalence is PRE there',)
        """
        return notes_on(self.key)

    @property
    def __name__(self) -> str:
        """The key, which libraries that take functions show as their name."""
        return self.key

    def __str__(self) -> str:
        return f"{self.key}: {self.name} = {self.formula}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Its functions cannot be pickled, so a record is looked up by its key.
        from .catalogue import metric

        return metric, (self.key,)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OneGroup(Metric):
    """A metric of one confusion matrix.

    It is undefined where one of the parts it ``needs`` is empty or, with ``apart``, where TPR equals FPR. Its score
    ``rises`` with the last count of its tree, or falls. ``overall`` is how it scores K classes at once; None if it only
    scores one class against the rest.
    """

    needs: tuple[Part, ...] = (EVERYONE,)
    apart: bool = False
    rises: bool = True
    overall: Callable[[OneGroup, Undefined], Summary] | None = None

    @property
    def base(self) -> OneGroup:
        """The metric itself."""
        return self

    @property
    def gives(self) -> Prediction | None:
        """The prediction of which it says how many people get it; None if it says something else."""
        return None

    @property
    def error(self) -> tuple[Prediction, Way] | None:
        """The wrong prediction whose rate it is, and the way in which there is more of it; None if it is not one."""
        return None

    def worse(self, favourable: Prediction | None = None) -> Way | None:
        """The opposite of what is better, or what gives more people a prediction that is bad for them."""
        if self.gives is not None:
            return None if favourable is None else "lower" if self.gives == favourable else "higher"
        if self.error is not None:
            wrong, more = self.error
            # Among those who got a prediction, more wrong ones may mean that more people had the other outcome.
            given_prediction = self.denominator is not None and set(self.denominator.cells) in _PREDICTED
            return more if favourable not in (None, wrong) and not given_prediction else None
        ways: dict[str, Way] = {"higher": "lower", "lower": "higher"}
        return ways.get(self.better)

    def good(self, favourable: Prediction | None = None) -> str:
        """Which way is better, and what errors do to the person."""
        if self.of_people:
            return "A fact about the people, neither good nor bad"
        if self.gives is not None and favourable is not None:
            good = "favourable" if self.gives == favourable else "unfavourable"
            return f"Higher means that more people get the {good} prediction"
        if self.better == "neither":
            return "Neither way is better by itself"
        harm = ""
        if self.error is not None and favourable is not None:
            harm = f"; errors {'harm' if self.error[0] != favourable else 'favour'} the person"
        return f"{self.better.capitalize()} is {'more often right' if harm else 'better'}{harm}"

    @property
    def denominator(self) -> Part | None:
        """The part whose size a test can condition on; None if that is ``n``."""
        return None

    @property
    def curve(self) -> Curve | None:
        """How the score follows from the rate of the last split; None if it also depends on other splits."""
        return None

    @property
    def is_rate(self) -> bool:
        """Whether the score is a proportion of cases."""
        return self.curve is RATE

    @property
    def linear(self) -> Weights | None:
        """The weight of each cell, if the score is linear in the proportions of the cells; else None."""
        return None

    @property
    def linear_in_tp(self) -> bool:
        """Whether the score is linear in TP, and its being defined does not depend on TP, given all margins."""
        return False

    @property
    def quotient(self) -> Quotient | None:
        """The score as a quotient of two weighted sums of cells; None if it is not one."""
        return None

    @property
    def unbiased(self) -> bool:
        """Whether the expected score, given that it is defined, is the score of the true rates (E19)."""
        return self.is_rate or self.linear is not None

    @property
    def defined_by_denominator(self) -> bool:
        """Whether the score is defined exactly where its denominator is not empty."""
        return self.needs == (self.denominator or EVERYONE,)

    @property
    def rests_on(self) -> tuple[Part, ...]:
        """The denominator, or all cases."""
        return (self.denominator or EVERYONE,)

    @abstractmethod
    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """A fraction that orders matrices in the same way as the score; exact for integers."""

    def exact(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The score in the arithmetic of its arguments: floats, or object arrays of `decimal.Decimal`."""
        return quotient(*self.rank(tp, fn, fp, tn))

    def score(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The score of float cells for which it is defined."""
        return self.exact(tp, fn, fp, tn)

    def crossing(self, score: float, n: Any, margin: Any, side: Any) -> Any:
        """The last count at which the score is reached, not rounded, given the others; None if not in closed form.

        It is asked of scores inside the range, with cases on either side of the margin.
        """
        return None

    @property
    def expression(self) -> Expression:
        """The formula as a tree of operators, numbers and cells, for programs that cannot call Python."""
        return expression(self.formula)

    @property
    def vanishes(self) -> tuple[Part, ...] | None:
        """The score is 0 if one of these parts is empty; None if it can be negative."""
        return None

    @property
    def holes(self) -> tuple[Holes, ...]:
        """Where it is undefined."""
        return (Holes(self.needs, self.apart),)

    @property
    def undefined_if(self) -> str:
        """When it is undefined, in words."""
        return str(self.holes[0])

    def scores(self, *groups: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of cells that were checked already; nan at the holes."""
        (cells,) = groups
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.score(*np.moveaxis(cells, -1, 0))
        return np.where(self.holes[0].at(cells), np.nan, np.clip(values, self.low, self.high))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _OfOneSplit(OneGroup):
    """A score that depends only on the rate ``a / (a + b)`` of its last split, and rises with it."""

    part: Part

    def __post_init__(self) -> None:
        Metric.__post_init__(self)
        if self.counted is None and self.is_rate:
            object.__setattr__(self, "counted", in_common(self.part.cells, self.of.cells))

    @property
    @abstractmethod
    def of(self) -> Part:
        """The whole that the part is split off from."""

    @property
    def gives(self) -> Prediction | None:
        """The prediction that a share of all people gets."""
        return prediction_given(self.part.cells, self.of.cells)

    @property
    def error(self) -> tuple[Prediction, Way] | None:
        """The wrong prediction, if the part or the rest are the wrong cases of one kind."""
        return kind_of_error(self.part.cells, self.of.cells)

    @property
    def rest(self) -> tuple[str, ...]:
        """The cells of the whole that are not in the part."""
        return tuple(c for c in self.of.cells if c not in self.part.cells)

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """The fraction that is the score."""
        assert self.curve is not None
        cells = dict(zip(CELLS, (tp, fn, fp, tn), strict=True))
        return self.curve.rank(sum(cells[c] for c in self.part.cells), sum(cells[c] for c in self.rest))

    def exact(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The fraction."""
        above, below = self.rank(tp, fn, fp, tn)
        return above / below

    @property
    def quotient(self) -> Quotient:
        """The score's own fraction."""
        above, below = zip(*(self.rank(*unit) for unit in np.eye(4).tolist()), strict=True)
        return Quotient(above, below, self.of)

    @property
    def vanishes(self) -> tuple[Part, ...]:
        """The score is 0 if the part is empty."""
        return (self.part,)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Share(_OfOneSplit):
    """A part of all cases: k of n."""

    shape: ClassVar[str] = "share"

    @property
    def of(self) -> Part:
        """All cases."""
        return EVERYONE

    @property
    def curve(self) -> Curve:
        """The rate itself."""
        return RATE

    @property
    def linear(self) -> Weights:
        """1 for each cell of the part, 0 for the others."""
        return _weights(self.part.cells)

    @property
    def tree(self) -> Tree:
        """The part, split off from all cases."""
        return Tree(margin=(), side=(), last=self.part.cells, last_of=CELLS)

    @property
    def formula(self) -> str:
        """``(part) / n``."""
        return f"({self.part.formula}) / n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ratio(_OfOneSplit):
    """A score that rises with a / (a + b), where a counts a part of a whole and b the rest of it.

    ``along`` says how: `RATE` is a / (a + b), `DICE` 2a / (2a + b), `ODDS` a / b.
    """

    whole: Part
    along: Curve = RATE
    printed: str | None = None
    shape: ClassVar[str] = "ratio"

    @property
    def of(self) -> Part:
        """The whole."""
        return self.whole

    @property
    def curve(self) -> Curve:
        """The curve ``along``."""
        return self.along

    @property
    def tree(self) -> Tree:
        """The whole, split off from all cases; then the part, split off from the whole."""
        return Tree(margin=self.of.cells, side=(), last=self.part.cells, last_of=self.of.cells)

    @property
    def denominator(self) -> Part:
        """The whole."""
        return self.whole

    @property
    def formula(self) -> str:
        """The formula in terms of the cells."""
        return self.printed or self.along.text.format(a=self.part.formula, b=" + ".join(c.upper() for c in self.rest))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Contrast(OneGroup):
    """The difference of two cells, per case."""

    plus: str
    minus: str
    shape: ClassVar[str] = "contrast"

    @property
    def tree(self) -> Tree:
        """Both cells together, split off from all cases; then the cell ``plus``."""
        both = (self.plus, self.minus)
        return Tree(margin=both, side=(), last=(self.plus,), last_of=both)

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """(plus - minus) / n."""
        cells = dict(zip(CELLS, (tp, fn, fp, tn), strict=True))
        return cells[self.plus] - cells[self.minus], tp + fn + fp + tn

    @property
    def linear(self) -> Weights:
        """1 for the cell ``plus``, -1 for the cell ``minus``."""
        plus, minus = _weights((self.plus,)), _weights((self.minus,))
        tp, fn, fp, tn = (a - b for a, b in zip(plus, minus, strict=True))
        return tp, fn, fp, tn

    @property
    def formula(self) -> str:
        """``(plus - minus) / n``."""
        return f"({self.plus.upper()} - {self.minus.upper()}) / n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pair(OneGroup):
    """A score made of two rates, one of each row (or column) of the matrix.

    Given the row totals and TP, it never rises as FP grows or, with ``rises=True``, never falls. With ``columns=True``
    rows and columns are exchanged: given the column totals and TP, the last cell is FN.

    ``ranked`` gives the exact fraction that orders matrices, and ``link`` the score from it (`links`). ``scored`` is an
    equivalent function for floats, arranged to lose fewer digits, and ``computed`` an equivalent formula. With
    ``by_margins``, its denominator and its holes depend only on the margins, and its numerator is linear in TP.
    ``solved`` gives the last count, as a real number, from the score, ``n``, the row (or column) total and TP.
    ``wholes`` are the cases that its rates are rates of, if these are not both rows (or columns).
    """

    printed: str
    ranked: Callable[..., Rank]
    link: Callable[[Any, Any], Any] = quotient
    scored: Callable[..., Any] | None = None
    computed: str | None = None
    zero_if: tuple[Part, ...] | None = None
    rises: bool = False
    columns: bool = False
    by_margins: bool = False
    solved: Callable[..., Any] | None = None
    wholes: tuple[Part, ...] = ()
    shape: ClassVar[str] = "pair"

    @property
    def linear_in_tp(self) -> bool:
        """Whether the numerator is linear in TP, and nothing else depends on it, given all margins."""
        return self.by_margins

    @property
    def tree(self) -> Tree:
        """A row (or column) total, then TP within it, then the other row's (or column's) false cell."""
        if self.columns:
            return Tree(margin=("tp", "fp"), side=("tp",), last=("fn",), last_of=("fn", "tn"))
        return Tree(margin=("tp", "fn"), side=("tp",), last=("fp",), last_of=("fp", "tn"))

    @property
    def denominator(self) -> Part:
        """The actual (or predicted) positives."""
        return Part(self.tree.margin, "predicted positives" if self.columns else "actual positives")

    @property
    def rests_on(self) -> tuple[Part, ...]:
        """Both rows (or columns), or ``wholes``."""
        others = Part(self.tree.last_of, "predicted negatives" if self.columns else "actual negatives")
        return self.wholes or (self.denominator, others)

    def rank(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        """The fraction that orders matrices."""
        return self.ranked(tp, fn, fp, tn)

    def exact(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The link of the rank."""
        return self.link(*self.ranked(tp, fn, fp, tn))

    def score(self, tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        """The score of float cells, without overflow or cancellation."""
        return (self.scored or self.exact)(tp, fn, fp, tn)

    def crossing(self, score: float, n: Any, margin: Any, side: Any) -> Any:
        """The last count, from ``solved``."""
        return None if self.solved is None else self.solved(score, n, margin, side)

    @property
    def expression(self) -> Expression:
        """The formula as a tree, arranged to lose few digits."""
        return expression(self.computed or self.printed)

    @property
    def vanishes(self) -> tuple[Part, ...] | None:
        """The score is 0 if one of these parts is empty; None if it can be negative."""
        return self.zero_if

    @property
    def formula(self) -> str:
        """The formula in terms of the cells and rates."""
        return self.printed


def _is_column(values: Any) -> bool:
    """Whether these can be the values of a column: one-dimensional, and neither a matrix nor several."""
    if hasattr(values, "columns") or isinstance(values, (ConfusionMatrix, MulticlassConfusion, str)):
        return False
    if hasattr(values, "ndim"):
        return bool(values.ndim == 1)
    return hasattr(values, "__iter__") and not any(
        (hasattr(value, "__len__") and not isinstance(value, str)) or isinstance(value, ConfusionMatrix)
        for value in values
    )


def _looks_like_labels(values: Any) -> bool:
    """Whether it is a list or an array of 0 and 1; a tuple of these can only be counts."""
    return _is_column(values) and not isinstance(values, tuple) and set(values) <= {0, 1}


def _one_matrix(cells: Cells) -> NDArray[np.float64]:
    """The cells of one matrix, checked."""
    array = as_cells(cells)
    if array.ndim != 1:
        raise InvalidInput(f"why_undefined takes one matrix at a time; got cells of shape {array.shape}")
    return array


def _weights(cells: tuple[str, ...]) -> Weights:
    tp, fn, fp, tn = (float(c in cells) for c in CELLS)
    return tp, fn, fp, tn
