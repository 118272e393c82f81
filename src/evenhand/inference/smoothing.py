"""Smoothing: scores steadied by pseudo-cases, and what that costs.

A smoother turns a matrix into another one of the same size: `Raw` leaves it alone, `Additive` adds a constant to every
cell, `CrossPrior` adds cases in the proportions of a reference. With one strength λ every cell is pulled towards the
reference by the share λ/(n+λ), which trades variance for bias (the paper's Theorem 6.1), and an expected gap shrinks
to n/(n+λ) of itself (E20). With a strength per split of the tree (prevalence, TPR, FPR) each rate is pulled by itself,
and the smoothed matrix is put together from the three. Smoothed cells are for reporting beside the raw score; they are
never tested.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from ..laws import as_probabilities

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

SPLITS = ("prev", "tpr", "fpr")
"""The splits of the tree that have a strength of their own: prevalence, then TPR and FPR."""

# How strong "auto" is where there are no other groups to learn from.
CAUTIOUS = 5.0


class Estimator(ABC):
    """A way to score a group: smooth its cells, then apply the metric."""

    __slots__ = ()

    @abstractmethod
    def smooth(self, cells: Floats) -> Floats:
        """Smoothed cells, in any scale, for an array of shape (..., 4)."""

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for tables."""

    @property
    def pseudo_counts(self) -> Floats | None:
        """What is added to the cells, whatever they are; None if that depends on them."""
        return None

    def apply(self, cm: ConfusionMatrix) -> ConfusionMatrix:
        """The smoothed matrix.

        Parameters
        ----------
        cm : ConfusionMatrix
            The group.

        Returns
        -------
        ConfusionMatrix
            Real cells; for `CrossPrior` a `Smoothed` matrix of the same n that knows what it was made from.

        Examples
        --------
        >>> Additive(1).apply(ConfusionMatrix(3, 0, 1, 4))
        ConfusionMatrix(tp=4, fn=1, fp=2, tn=5)
        """
        return ConfusionMatrix(*self.smooth(np.asarray(matrix_of(cm).cells, dtype=np.float64)).tolist())


@dataclass(frozen=True, slots=True)
class Raw(Estimator):
    """The score as it is.

    Examples
    --------
    >>> Raw().apply(ConfusionMatrix(3, 0, 1, 4))
    ConfusionMatrix(tp=3, fn=0, fp=1, tn=4)
    """

    def smooth(self, cells: Floats) -> Floats:
        """The cells."""
        return cells

    @property
    def pseudo_counts(self) -> Floats:
        """Nothing."""
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
        1 is Laplace's rule; the paper's "bashful" smoothing is 1e-10. A tiny epsilon is not unnoticeable: it turns
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
            raise InvalidInput(f"epsilon must be a number from 0 to 1e9; got {given!r}")

    def smooth(self, cells: Floats) -> Floats:
        """The cells and epsilon."""
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
        Where the prior comes from.
    strength : float, mapping or "auto"
        How many cases the reference is worth: one number for all cells, or one per split, as
        ``{"prev": 7, "tpr": 20, "fpr": 20}``. "auto" is a cautious 5; in an audit, and where several groups are
        smoothed at once, it is learnt from how much the other groups spread (`learn_strengths`).

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
        """The cells pulled towards the reference; their sum stays what it was, or is 1 if it was 0."""
        strength, prior = self.strength, rates_of(self.reference)
        n = cells.sum(axis=-1, keepdims=True)
        if isinstance(strength, Mapping):
            return np.where(n > 0, n, 1.0) * _down_the_tree(cells, prior, strength)
        assert not isinstance(strength, str)
        with np.errstate(invalid="ignore"):
            return np.where(n > 0, (cells + strength * prior) * (n / (n + strength)), prior)

    @property
    def pseudo_counts(self) -> Floats | None:
        """The strength in the reference's proportions; None with a strength per split."""
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
        """The smoothed matrix, with what it was made from."""
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
            # Without cases and without strength there is no rate; the prior's stands in, and its cells are empty.
            np.where(m + strength[split] > 0, (a + strength[split] * own[split]) / (m + strength[split]), own[split])
            for split, a, m in (("prev", tp + fn, tp + fn + fp + tn), ("tpr", tp, tp + fn), ("fpr", fp, fp + tn))
        )
    return np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=-1)


@dataclass(frozen=True, slots=True, repr=False)
class Smoothed(ConfusionMatrix):
    """A smoothed matrix: real cells of the same n, with what they were made from.

    ``shrinkage`` is the share of an expected gap that remains. If the group is empty, ``prior_only`` is true and the
    cells are the reference's proportions: nothing in them comes from the group.
    """

    raw: ConfusionMatrix = field(kw_only=True)
    strength: float | Strengths = field(kw_only=True)

    @property
    def is_whole(self) -> bool:
        """False: smoothed cells are no counts, even where they happen to be whole."""
        return False

    @property
    def prior_only(self) -> bool:
        """Whether there was no case to smooth, so that only the prior speaks."""
        return self.raw.n == 0

    @property
    def shrinkage(self) -> float:
        """The share of an expected gap to the reference that smoothing leaves, n/(n+λ); λ is that of prevalence."""
        strength = self.strength["prev"] if isinstance(self.strength, Mapping) else self.strength
        total = self.raw.n + strength
        return self.raw.n / total if total else 0.0

    def __repr__(self) -> str:
        mark = "prior only, " if self.prior_only else ""
        return f"{ConfusionMatrix.__repr__(self)[:-1]}, {mark}strength={strength_text(self.strength)})"

    def __str__(self) -> str:
        what = "the prior only: the group is empty" if self.prior_only else f"smoothed from {self.raw!r}"
        note = f"{what}, strength {strength_text(self.strength)}; {self.shrinkage:.0%} of a gap remains"
        return f"{ConfusionMatrix.__str__(self)}\n{note}"


def strength_text(strength: Strength) -> str:
    """A strength in words: ``10``, or ``prev 7, tpr 20, fpr 20``."""
    if isinstance(strength, Mapping):
        return ", ".join(f"{split} {strength[split]:.3g}" for split in SPLITS)
    return strength if isinstance(strength, str) else f"{strength:g}"


@overload
def cross_prior_smooth(cm: ConfusionMatrix, reference: Rates, strength: Strength = 10.0) -> Smoothed: ...
@overload
def cross_prior_smooth(cm: Groups, reference: None = None, strength: Strength = 10.0) -> dict[str, Smoothed]: ...
def cross_prior_smooth(cm: Any, reference: Any = None, strength: Strength = 10.0) -> Any:
    """Smooth a group's cells with the reference's proportions (the paper's Algorithm 1).

    Parameters
    ----------
    cm : ConfusionMatrix, or a mapping of names to them
        The group; or all groups at once, each smoothed with the rest as its reference.
    reference : ConfusionMatrix or four probabilities
        Where the prior comes from. Left out for a mapping.
    strength : float, mapping or "auto"
        How many cases the reference is worth: one number, or one per split, as ``{"prev": 7, "tpr": 20, "fpr": 20}``.
        "auto" learns the strengths from how much the other groups of the mapping spread (`learn_strengths`); for a
        single group it is a cautious 5.

    Returns
    -------
    Smoothed, or a dict of them
        Matrices of real cells with the group's n.

    Examples
    --------
    Four cases in one cell, and a reference worth four more, one in each cell: 5/8, 1/8, 1/8, 1/8 of 4.

    >>> from evenhand import ConfusionMatrix
    >>> cross_prior_smooth(ConfusionMatrix(4, 0, 0, 0), ConfusionMatrix(1, 1, 1, 1), strength=4)
    ConfusionMatrix(tp=2.5, fn=0.5, fp=0.5, tn=0.5, strength=4)
    """
    if isinstance(cm, Mapping):
        if reference is not None:
            raise InvalidInput("several groups are each smoothed with the rest of them; leave out reference")
        from .strengths import learn_strengths

        chosen = learn_strengths(cm) if strength == "auto" else dict.fromkeys(cm, strength)
        return {name: CrossPrior(rest_of(cm, name), chosen[name]).apply(group) for name, group in cm.items()}
    if reference is None:
        raise InvalidInput("give a reference, or a mapping of groups to smooth each with the rest")
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
        Of n + 4 epsilon cases.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> additive_smooth(ConfusionMatrix(3, 0, 1, 4), epsilon=1)
    ConfusionMatrix(tp=4, fn=1, fp=2, tn=5)
    """
    return Additive(epsilon).apply(cm)


def rest_of(groups: Groups, name: str) -> ConfusionMatrix:
    """All groups but one, added up."""
    others = [matrix_of(cm) for other, cm in groups.items() if other != name]
    if not others:
        raise InvalidInput(f"{name!r} is the only group, so there is no rest to be its reference")
    return sum(others[1:], others[0])


def as_strength(strength: Any) -> float | Strengths:
    """A strength, checked: a number, or a dict with one for each split; "auto" by itself is a cautious number."""
    if isinstance(strength, str) and strength == "auto":
        return CAUTIOUS
    if isinstance(strength, Mapping):
        if set(strength) != set(SPLITS):
            raise InvalidInput(f"strength by split must name {', '.join(SPLITS)}; got {', '.join(map(str, strength))}")
        return _Frozen({split: _checked(strength[split]) for split in SPLITS})
    return _checked(strength)


class _Frozen(dict[str, float]):
    """Strengths that can be hashed, since smoothers are."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def _checked(strength: Any) -> float:
    if isinstance(strength, bool) or not isinstance(strength, Real) or not 0 <= cast("float", strength) <= 1e9:
        raise InvalidInput(
            f"strength must be a number of cases from 0 to 1e9, one per split, or 'auto'; got {strength!r}"
        )
    return float(strength)


def rates_of(given: Rates) -> Floats:
    """The four proportions of counts, or four probabilities checked."""
    if not isinstance(given, ConfusionMatrix):
        return np.array(as_probabilities(given))
    if given.n == 0:
        raise InvalidInput("the reference is empty (n = 0), so it has no proportions to smooth with")
    return given.proportions


def matrix_of(cm: Any) -> ConfusionMatrix:
    """A group, checked to be a matrix."""
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"a group must be a ConfusionMatrix; got {cm!r}")
    return cm
