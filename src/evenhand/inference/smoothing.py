"""Smoothing: pseudo-counts that reduce the variance of scores, at the cost of bias.

An estimator turns a matrix into a smoothed one: `Raw` leaves it unchanged, `Additive` adds a constant to every cell,
`CrossPrior` adds cases in the proportions of a reference. With one strength λ, every cell is pulled towards the
reference by a share λ/(n+λ) of the gap. This trades variance for bias (the paper's Theorem 6.1), and an expected gap
shrinks to n/(n+λ) of its size (E20). With one strength per split of the tree (prevalence, TPR, FPR), each rate is
pulled separately, and the smoothed matrix follows from the three rates. Smoothed cells are reported together with the
raw score; they are never tested.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, Literal, Protocol, TypeVar, cast, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, brief
from ..laws import as_probabilities
from ..records import plain_value, reach

__all__ = [
    "SPLITS",
    "Additive",
    "CrossPrior",
    "Estimator",
    "Groups",
    "Rates",
    "Raw",
    "Smoothed",
    "Strength",
    "Strengths",
    "additive_smooth",
    "as_strength",
    "check_groups",
    "cross_prior_smooth",
    "matrix_of",
    "rates_of",
    "rest_of",
]

Floats = NDArray[np.float64]
Groups = Mapping[str, ConfusionMatrix]
Rates = ConfusionMatrix | ArrayLike
Strengths = Mapping[str, float]
Strength = float | Strengths | Literal["auto"]

Result_co = TypeVar("Result_co", covariant=True)

SPLITS = ("prev", "tpr", "fpr")
"""The splits of the tree that can have different strengths: prevalence, TPR and FPR."""

# The strength "auto" if there are too few groups to learn from.
CAUTIOUS = 5.0


class Estimator(ABC):
    """Base class of estimators, which smooth the cells of a group before the metric is applied.

    Examples
    --------
    >>> [isinstance(e, Estimator) for e in (Raw(), Additive(1), CrossPrior([0.25] * 4, 10))]
    [True, True, True]
    """

    __slots__ = ()

    @abstractmethod
    def smooth(self, cells: Floats) -> Floats:
        """Smooth many matrices at once.

        Parameters
        ----------
        cells : array of shape (..., 4)
            Cells in the order tp, fn, fp, tn.

        Returns
        -------
        ndarray
            Smoothed cells, of the same shape.

        Examples
        --------
        >>> Additive(1).smooth(np.array([[3.0, 0.0, 1.0, 4.0]]))
        array([[4., 1., 2., 5.]])
        """

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for tables.

        Examples
        --------
        >>> Raw().label, Additive(0.5).label, CrossPrior([0.25] * 4, 10).label
        ('raw', 'add0.5', 'cps10')
        """

    def to_dict(self) -> dict[str, Any]:
        """The estimator as plain values, fit for JSON.

        Returns
        -------
        dict
            Its name and arguments; a matrix is the list of its cells.

        Examples
        --------
        >>> CrossPrior(ConfusionMatrix(30, 10, 12, 48), 10).to_dict()
        {'name': 'CrossPrior', 'reference': [30, 10, 12, 48], 'strength': 10.0}
        """
        arguments = {one.name: plain_value(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]
        return {"name": type(self).__name__, **arguments}

    @property
    def pseudo_counts(self) -> Floats | None:
        """The pseudo-counts that are added to the cells; None if they depend on the cells.

        Examples
        --------
        >>> CrossPrior([0.25] * 4, 10).pseudo_counts
        array([2.5, 2.5, 2.5, 2.5])
        """
        return None

    def apply(self, cm: ConfusionMatrix) -> ConfusionMatrix:
        """Smooth one matrix.

        Parameters
        ----------
        cm : ConfusionMatrix
            The group.

        Returns
        -------
        ConfusionMatrix
            The smoothed matrix; for `CrossPrior` a `Smoothed` matrix with the same n.

        Examples
        --------
        >>> Additive(1).apply(ConfusionMatrix(3, 0, 1, 4))
        ConfusionMatrix(tp=4, fn=1, fp=2, tn=5)
        """
        return ConfusionMatrix(*self.smooth(np.asarray(matrix_of(cm).cells, dtype=np.float64)).tolist())


@dataclass(frozen=True, slots=True)
class Raw(Estimator):
    """No smoothing.

    Examples
    --------
    >>> Raw().apply(ConfusionMatrix(3, 0, 1, 4))
    ConfusionMatrix(tp=3, fn=0, fp=1, tn=4)
    """

    def smooth(self, cells: Floats) -> Floats:
        """The cells unchanged."""
        return cells

    @property
    def pseudo_counts(self) -> Floats:
        """Zeros."""
        return np.zeros(4)

    @property
    def label(self) -> str:
        """``raw``."""
        return "raw"


@dataclass(frozen=True, slots=True)
class Additive(Estimator):
    """Add ``epsilon`` to every cell.

    Parameters
    ----------
    epsilon : float
        1 is Laplace's rule; the paper's "bashful" smoothing is 1e-10. Even a tiny epsilon has an effect: it turns
        every 0/0 into a fixed value, 1/2 for a rate (E26).

    Examples
    --------
    >>> Additive(0.5).apply(ConfusionMatrix(3, 0, 1, 4))
    ConfusionMatrix(tp=3.5, fn=0.5, fp=1.5, tn=4.5)
    """

    epsilon: float

    def __post_init__(self) -> None:
        given = self.epsilon
        if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= float(given) <= 1e9:
            raise InvalidInput(argument="epsilon", must="be a number from 0 to 1e9", got=given)

    def smooth(self, cells: Floats) -> Floats:
        """The cells plus epsilon."""
        return cells + float(self.epsilon)

    @property
    def pseudo_counts(self) -> Floats:
        """Epsilon per cell."""
        return np.full(4, float(self.epsilon))

    @property
    def label(self) -> str:
        """``add`` and the epsilon."""
        return f"add{self.epsilon:g}"


@dataclass(frozen=True, slots=True)
class CrossPrior(Estimator):
    """Cross-Prior Smoothing with a reference and a strength.

    Parameters
    ----------
    reference : ConfusionMatrix or four probabilities
        The source of the prior's proportions.
    strength : float, mapping or "auto"
        How many cases the reference is worth: one number for all cells, or one per split, as in
        ``{"prev": 7, "tpr": 20, "fpr": 20}``. ``"auto"`` is a cautious 5 for a single group; in an audit, and if
        several groups are smoothed at once, it is learnt from the spread of all groups (`learn_strengths`).

    Examples
    --------
    >>> CrossPrior(ConfusionMatrix(1, 1, 1, 1), 4).apply(ConfusionMatrix(4, 0, 0, 0))
    ConfusionMatrix(tp=2.5, fn=0.5, fp=0.5, tn=0.5, strength=4)
    >>> CrossPrior([0.25] * 4, {"prev": 4, "tpr": 0, "fpr": 2}).apply(ConfusionMatrix(4, 0, 0, 0))
    ConfusionMatrix(tp=3, fn=0, fp=0.5, tn=0.5, strength=prev 4, tpr 0, fpr 2)
    """

    reference: Rates
    strength: Strength = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", as_strength(self.strength))
        rates_of(self.reference)

    def smooth(self, cells: Floats) -> Floats:
        """The cells pulled towards the reference; their sum is unchanged, or 1 if it was 0."""
        strength, prior = self.strength, rates_of(self.reference)
        n = cells.sum(axis=-1, keepdims=True)
        if isinstance(strength, Mapping):
            return np.where(n > 0, n, 1.0) * _down_the_tree(cells, prior, strength)
        assert not isinstance(strength, str)
        with np.errstate(invalid="ignore"):
            return np.where(n > 0, (cells + strength * prior) * (n / (n + strength)), prior)

    @property
    def pseudo_counts(self) -> Floats | None:
        """The strength times the reference's proportions; None with one strength per split."""
        if isinstance(self.strength, Mapping):
            return None
        assert not isinstance(self.strength, str)
        return self.strength * rates_of(self.reference)

    @property
    def label(self) -> str:
        """``cps`` and the strength, or the three strengths."""
        if isinstance(self.strength, Mapping):
            return "cps" + "/".join(f"{self.strength[split]:.3g}" for split in SPLITS)
        return f"cps{self.strength:g}"

    def apply(self, cm: ConfusionMatrix) -> Smoothed:
        """Smooth one matrix; the result keeps the raw matrix and the strength."""
        cells = self.smooth(np.asarray(matrix_of(cm).cells, dtype=np.float64))
        assert not isinstance(self.strength, str)
        return Smoothed(*cells.tolist(), raw=cm, strength=self.strength)


def _down_the_tree(cells: Floats, prior: Floats, strength: Strengths) -> Floats:
    """The proportions whose prevalence, TPR and FPR are each pulled towards the prior's with its own strength."""
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0)
    positives, negatives = float(prior[0] + prior[1]), float(prior[2] + prior[3])
    own = {
        "prev": positives,
        "tpr": prior[0] / positives if positives else 0.5,
        "fpr": prior[2] / negatives if negatives else 0.5,
    }
    with np.errstate(invalid="ignore"):
        prev, tpr, fpr = (
            # Without cases and strength there is no rate; the prior's rate is used, and its cells are empty.
            np.where(m + strength[split] > 0, (a + strength[split] * own[split]) / (m + strength[split]), own[split])
            for split, a, m in (("prev", tp + fn, tp + fn + fp + tn), ("tpr", tp, tp + fn), ("fpr", fp, fp + tn))
        )
    return np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=-1)


@dataclass(frozen=True, slots=True, repr=False)
class Smoothed(ConfusionMatrix):
    """A smoothed confusion matrix, with the same n as the raw one.

    If the group is empty, ``prior_only`` is True and the cells are the reference's proportions: nothing in them comes
    from the group.

    Attributes
    ----------
    tp, fn, fp, tn : float
        The smoothed cells.
    raw : ConfusionMatrix
        The matrix before smoothing.
    strength : float or dict of str to float
        The strength, or one per split.

    Examples
    --------
    >>> s = cross_prior_smooth(ConfusionMatrix(4, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), strength=4)
    >>> s.tp, s.raw, s.shrinkage
    (2.5, ConfusionMatrix(tp=4, fn=0, fp=0, tn=0), 0.5)
    """

    raw: ConfusionMatrix = field(kw_only=True)
    strength: float | Strengths = field(kw_only=True)

    @property
    def is_whole(self) -> bool:
        """False: smoothed cells are not counts, even if they happen to be whole.

        Examples
        --------
        >>> cross_prior_smooth(ConfusionMatrix(4, 4, 4, 4), ConfusionMatrix(1, 1, 1, 1), strength=4).is_whole
        False
        """
        return False

    @property
    def prior_only(self) -> bool:
        """Whether the group is empty, so that the cells come from the prior only.

        Examples
        --------
        >>> cross_prior_smooth(ConfusionMatrix(0, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), strength=4).prior_only
        True
        """
        return self.raw.n == 0

    @property
    def shrinkage(self) -> float:
        """The part of the expected gap of a share, such as accuracy or prevalence, that remains: n/(n+λ).

        With one strength per split, λ is that of prevalence.

        Examples
        --------
        >>> cross_prior_smooth(ConfusionMatrix(3, 0, 0, 3), ConfusionMatrix(1, 1, 1, 1), strength=4).shrinkage
        0.6
        """
        strength = self.strength["prev"] if isinstance(self.strength, Mapping) else self.strength
        total = self.raw.n + strength
        return self.raw.n / total if total else 0.0

    def __repr__(self) -> str:
        mark = "prior only, " if self.prior_only else ""
        return f"{ConfusionMatrix.__repr__(self)[:-1]}, {mark}strength={strength_text(self.strength)})"

    def __str__(self) -> str:
        what = "the prior only: the group is empty" if self.prior_only else f"smoothed from {self.raw!r}"
        note = f"{what}, strength {strength_text(self.strength)}; {self.shrinkage:.0%} of a share's gap remains"
        return f"{ConfusionMatrix.__str__(self)}\n{note}"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))


def strength_text(strength: Strength) -> str:
    """A strength as text: ``10``, or ``prev 7, tpr 20, fpr 20``."""
    if isinstance(strength, Mapping):
        return ", ".join(f"{split} {strength[split]:.3g}" for split in SPLITS)
    return strength if isinstance(strength, str) else f"{strength:g}"


@runtime_checkable
class Smoothable(Protocol[Result_co]):
    """A matrix of another shape, such as one of K classes, that smooths itself."""

    def smoothed_towards(self, reference: object, strength: Strength) -> Result_co:
        """The smoothed matrix."""


@overload
def cross_prior_smooth(cm: Smoothable[Result_co], reference: object, strength: Strength = 10.0) -> Result_co: ...
@overload
def cross_prior_smooth(cm: ConfusionMatrix, reference: Rates, strength: Strength = 10.0) -> Smoothed: ...
@overload
def cross_prior_smooth(cm: Groups, reference: None = None, strength: Strength = 10.0) -> dict[str, Smoothed]: ...
def cross_prior_smooth(cm: Any, reference: Any = None, strength: Strength = 10.0) -> Any:
    """Smooth a group's cells with the reference's proportions (the paper's Algorithm 1).

    Parameters
    ----------
    cm : ConfusionMatrix, MulticlassConfusion or mapping of name to ConfusionMatrix
        The group; or all groups at once, each smoothed with the rest of them as its reference.
    reference : ConfusionMatrix or four probabilities; MulticlassConfusion of the same labels for one
        The source of the prior's proportions. It must be left out for a mapping.
    strength : float, mapping or "auto"
        How many cases the reference is worth: one number, or one per split, as in
        ``{"prev": 7, "tpr": 20, "fpr": 20}``. ``"auto"`` learns the strengths from the spread of the groups of the
        mapping (`learn_strengths`); for a single group it is a cautious 5.

    Returns
    -------
    Smoothed, SmoothedClasses or dict of name to Smoothed
        Smoothed matrices with the n of the groups.

    Examples
    --------
    Four cases in one cell and a reference worth four more, one per cell: 5/8, 1/8, 1/8 and 1/8 of 4.

    >>> from evenhand import ConfusionMatrix
    >>> cross_prior_smooth(ConfusionMatrix(4, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), strength=4)
    ConfusionMatrix(tp=2.5, fn=0.5, fp=0.5, tn=0.5, strength=4)
    """
    if isinstance(cm, Mapping):
        if reference is not None:
            raise InvalidInput("several groups are each smoothed with the rest of them; leave out `reference`")
        from .strengths import learn_strengths

        chosen = learn_strengths(cm) if strength == "auto" else dict.fromkeys(cm, strength)
        return {name: CrossPrior(rest_of(cm, name), chosen[name]).apply(group) for name, group in cm.items()}
    if reference is None:
        raise InvalidInput("pass a `reference`, or a mapping of groups to smooth each with the rest")
    if isinstance(cm, Smoothable):
        return cm.smoothed_towards(reference, strength)
    return CrossPrior(reference, strength).apply(cm)


def additive_smooth(cm: ConfusionMatrix, epsilon: float = 1.0) -> ConfusionMatrix:
    """Add a constant to every cell.

    Parameters
    ----------
    cm : ConfusionMatrix
        The group.
    epsilon : float
        1 is Laplace's rule; the paper's "bashful" smoothing is 1e-10, which turns every 0/0 into a fixed value (E26).

    Returns
    -------
    ConfusionMatrix
        A matrix with n + 4 epsilon cases.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> additive_smooth(ConfusionMatrix(3, 0, 1, 4), epsilon=1)
    ConfusionMatrix(tp=4, fn=1, fp=2, tn=5)
    """
    return Additive(epsilon).apply(cm)


def check_groups(groups: Any) -> None:
    """Refuse groups without names."""
    if not isinstance(groups, Mapping):
        raise InvalidInput(argument="groups", must="map names to confusion matrices", got=groups)


def rest_of(groups: Groups, name: str) -> ConfusionMatrix:
    """The sum of all groups but one."""
    others = [matrix_of(cm) for other, cm in groups.items() if other != name]
    if not others:
        raise InvalidInput(f"{brief(name)} is the only group, so there is no rest to be its reference")
    return sum(others[1:], others[0])


# A weaker prior has no effect that floats could show, and its law no digits that could be computed.
_LEAST = 1e-9


def as_strength(strength: Any) -> float | Strengths:
    """A strength, checked: a number, or a dict with one per split; "auto" becomes a cautious number."""
    if isinstance(strength, str) and strength == "auto":
        return CAUTIOUS
    if isinstance(strength, Mapping):
        if set(strength) != set(SPLITS):
            raise InvalidInput(
                f"`strength` per split must name {', '.join(SPLITS)}; got {', '.join(map(str, strength))}"
            )
        return _Frozen({split: _checked(strength[split]) for split in SPLITS})
    return _checked(strength)


class _Frozen(dict[str, float]):
    """Strengths that can be hashed, as estimators must be."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def _checked(strength: Any) -> float:
    if isinstance(strength, bool) or not isinstance(strength, Real) or not 0 <= cast("float", strength) <= 1e9:
        raise InvalidInput(
            argument="strength", must="be a number of cases from 0 to 1e9, one per split, or 'auto'", got=strength
        )
    if 0 < cast("float", strength) < _LEAST:
        raise InvalidInput(argument="strength", must=f"be 0 or at least {_LEAST:g} cases", got=strength)
    return float(strength)


def rates_of(given: Rates) -> Floats:
    """The four proportions of a matrix, or four probabilities, checked."""
    if not isinstance(given, ConfusionMatrix):
        return np.array(as_probabilities(given))
    if given.n == 0:
        raise InvalidInput("the `reference` is empty (n = 0), so it has no proportions to smooth with")
    return given.proportions


def matrix_of(cm: Any) -> ConfusionMatrix:
    """A group, checked to be a matrix."""
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"a group must be a ConfusionMatrix; got {brief(cm)}")
    return cm
