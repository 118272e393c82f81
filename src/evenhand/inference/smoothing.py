"""Smoothing: pseudo-counts that reduce the variance of scores of small groups, at the cost of bias.

Cross-Prior Smoothing (CPS) borrows from a reference. The probabilities of the cells have a
Dirichlet prior whose parameters are a strength λ times the proportions q of the reference, as if λ
more cases had been seen in these proportions. Given cells x of n cases, their posterior mean is

    (x + λ q) / (n + λ),

and the smoothed cells are n times that. A cell moves by a share λ / (n + λ) of its distance to the
reference, so that n / (n + λ) of an expected difference of shares, such as accuracies, remains: the
`shrinkage`. The four cells of two classes and the K² cells of K classes are smoothed alike.

Two classes can also have one strength per split of the tree: prevalence splits all cases, TPR the
actual positives, FPR the actual negatives. The rates have independent beta priors around those of
the reference, so that each has the posterior mean above, with the part x and the total n of its
split. The smoothed cells follow from the three rates: tp = n · prevalence · TPR, and so on. One λ
for all cells is the special case of λ for prevalence, λ · q_prev for TPR and λ · (1 - q_prev) for
FPR.

Additive smoothing adds a constant to each cell; n grows. Smoothed cells are shown beside the raw
ones and never tested. For a group of four true positives and a reference with equal cells:

>>> group = ConfusionMatrix(tp=4, fn=0, fp=0, tn=0)
>>> cross_prior_smooth(group, [1/4, 1/4, 1/4, 1/4], strength=4)  # (4 + 1) / 8 and 1 / 8 of 4
ConfusionMatrix(tp=2.5, fn=0.5, fp=0.5, tn=0.5, strength=4)
>>> additive_smooth(group, 1)
ConfusionMatrix(tp=5, fn=1, fp=1, tn=1)

**Strengths** are given, in closed form if the truth is known, or learnt from all groups of a kind.
How far a group is from its reference is unknown, but all groups together show how much groups of
this kind usually differ. If their rates spread widely, the prior should be weak; if they agree,
strong. Base rates usually spread more than conditional rates, so that each split of the tree
(prevalence, TPR, FPR) has a strength of its own.

The model of a split: a group's count x of m cases is beta-binomial with the parameters h r and
h (1 - r), where r = (X + 1/2) / (M + 1) is the rate of the other groups, X of M, and h is the
strength, lognormal with median 12 and σ = 1. The smoothed rate depends on h through the share
m / (m + h) that it keeps of a gap. The strength is the harmonic posterior mean 1 / E[1/h], a sum over
a grid: it keeps the expected share of small groups, and smooths larger ones less than that.

Limited translation (Efron and Morris): one group may differ from all others, and a strong prior
would hide it. Smoothing with strength h moves a count x of m cases by h |m q - x| / (m + h), where q
is the rate X / M of the others. It may be moved by at most a = 3/4 + s/4 cases, where s is its standard
deviation at the rate (x + 1) / (m + 2), so that 0 of 3 cases are not taken as certain. Therefore, if
|m q - x| > a, h is at most m a / (|m q - x| - a).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from numbers import Real
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..confusion import CELLS, ConfusionMatrix, MulticlassConfusion, as_size, require_same_labels
from ..distributions import as_probabilities
from ..errors import InvalidInput, brief
from ..metrics import ROW_TREE, Metric, metric as find_metric
from ..records import Record, plain_value
from ..wording import format_count

Groups = Mapping[str, ConfusionMatrix]
Rates = ConfusionMatrix | ArrayLike
Strengths = Mapping[str, float]
Strength = float | Strengths | Literal["auto"]
Matrix = TypeVar("Matrix", ConfusionMatrix, MulticlassConfusion)

SPLITS = ("prev", "tpr", "fpr")
"""The splits of the tree that can have different strengths: prevalence, TPR and FPR."""

# The strength "auto" if there are too few groups to learn from.
CAUTIOUS_STRENGTH = 5.0
# A weaker prior than one of 1e-9 cases changes nothing that floats could show.
_STRENGTH = "be 0 or a number of cases from 1e-9 to 1e9, one per split, or 'auto'"
# The lognormal prior of a strength, and the fewest groups to learn from.
_CENTRE, _SIGMA, _MIN_GROUPS = 12.0, 1.0, 5
# A count is moved by at most this many cases plus this many of its standard errors.
_CASES, _ERRORS = 0.75, 0.25
# Below this overall strength, smoothing may do more harm than good.
_MIN_OVERALL = 3.0


def posterior_mean(count: Any, total: Any, strength: Any, prior: Any) -> Floats:
    """(count + strength · prior) / (total + strength); the prior where both totals are 0.

    >>> posterior_mean(3.0, 4.0, strength=2.0, prior=0.5)
    array(0.66666667)
    """
    with np.errstate(invalid="ignore"):
        mean = (count + strength * prior) / (total + strength)
    return np.asarray(np.where(total + strength > 0, mean, prior))


def split_counts(cells: Floats) -> tuple[Floats, Floats]:
    """The part and the total of each split, in the order of `SPLITS` along the last axis.

    >>> split_counts(np.array([4, 1, 2, 3]))
    (array([5, 4, 2]), array([10,  5,  5]))
    """
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0)
    positives, negatives = tp + fn, fp + tn
    parts = np.stack([positives, tp, fp], axis=-1)
    return parts, np.stack([positives + negatives, positives, negatives], axis=-1)


def smooth_cells(cells: Floats, prior: Floats, strength: float | Floats | Strengths) -> Floats:
    """Cross-Prior Smoothing of cells along the last axis; empty groups become the prior."""
    n = cells.sum(axis=-1, keepdims=True)
    scale = np.where(n > 0, n, 1.0)
    if not isinstance(strength, Mapping):
        return scale * posterior_mean(cells, n, strength, prior)
    # A rate that the reference does not have is 1/2.
    prior_rates = posterior_mean(*split_counts(prior), 0.0, 0.5)
    strengths = np.stack([strength[split] for split in SPLITS], axis=-1)
    rates = posterior_mean(*split_counts(cells), strengths, prior_rates)
    prev, tpr, fpr = np.moveaxis(rates, -1, 0)
    return scale * ROW_TREE.cells(1.0, prev, prev * tpr, (1 - prev) * fpr)


def cross_prior_smooth(cm: Any, reference: Any = None, strength: Strength = 10.0) -> Any:
    """Smooth a group's cells with the proportions of a reference (the paper's Algorithm 1).

    Parameters
    ----------
    cm : ConfusionMatrix, MulticlassConfusion or mapping of name to ConfusionMatrix
        The group; or all groups, each of which is smoothed with the rest of them.
    reference : ConfusionMatrix, four probabilities or MulticlassConfusion
        The source of the prior's proportions. K classes need a matrix with the same labels;
        several groups have none.
    strength : float, mapping or "auto"
        How many cases the reference is worth: one number or, for two classes, one per split, as in
        ``{"prev": 7, "tpr": 20, "fpr": 20}``. ``"auto"`` learns strengths from the spread of
        several groups (`learn_strengths`); for a single group it is a cautious 5.

    Returns
    -------
    Smoothed, SmoothedClasses or dict of name to Smoothed
        The smoothed matrix, with the n of the group; of an empty group, the prior's proportions.

    Examples
    --------
    Four cases in one cell and a reference worth four more, one per cell: 5/8, 1/8, 1/8 and 1/8 of 4.

    >>> from evenhand import ConfusionMatrix
    >>> group = ConfusionMatrix(tp=4, fn=0, fp=0, tn=0)
    >>> cross_prior_smooth(group, ConfusionMatrix(tp=1, fn=1, fp=1, tn=1), strength=4)
    ConfusionMatrix(tp=2.5, fn=0.5, fp=0.5, tn=0.5, strength=4)
    """
    if isinstance(cm, Mapping):
        if reference is not None:
            raise InvalidInput(argument="reference", must="be left out with several groups")
        rests = rests_of(cm)
        learnt = learn_strengths(cm) if strength == "auto" else dict.fromkeys(cm, strength)
        return {name: cross_prior_smooth(cm[name], rests[name], learnt[name]) for name in cm}
    if reference is None:
        raise InvalidInput("pass a `reference`, or a mapping of several groups")
    value = as_strength(strength)
    if not isinstance(cm, MulticlassConfusion):
        cells = smooth_cells(require_matrix(cm).to_array(), as_rates(reference), value)
        named = dict(zip(CELLS, cells.tolist(), strict=True))
        return Smoothed(raw=cm, strength=value, **named)
    if not isinstance(reference, MulticlassConfusion):
        raise InvalidInput(argument="reference", must="be a MulticlassConfusion", got=reference)
    if isinstance(value, Mapping):
        raise InvalidInput(argument="strength", must="be one number for K classes", got=strength)
    require_same_labels(cm, reference, "the reference")
    cells = smooth_cells(cm.counts.ravel(), as_rates(reference), value)
    return SmoothedClasses(cells.reshape(cm.counts.shape), cm.labels, cm, value)


def additive_smooth(cm: Matrix, epsilon: float = 1.0) -> Matrix:
    """Add a constant to every cell.

    Parameters
    ----------
    cm : ConfusionMatrix or MulticlassConfusion
        The group.
    epsilon : float
        1 is Laplace's rule; the paper's "bashful" smoothing is 1e-10, which turns every 0/0 into a
        fixed value, 1/2 for a rate (E26).

    Returns
    -------
    ConfusionMatrix or MulticlassConfusion
        A matrix with ``epsilon`` more cases in each cell.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> additive_smooth(ConfusionMatrix(tp=3, fn=0, fp=1, tn=4), epsilon=1)
    ConfusionMatrix(tp=4, fn=1, fp=2, tn=5)
    """
    added = float(Additive(epsilon).epsilon)
    if isinstance(cm, MulticlassConfusion):
        return MulticlassConfusion(cm.counts + added, cm.labels)
    return ConfusionMatrix.from_array(require_matrix(cm).to_array() + added)


class Estimator:
    """Base class of the ways to estimate a score: smooth the four cells, then apply the metric.

    By itself, it adds nothing to the cells.

    Examples
    --------
    >>> [isinstance(e, Estimator) for e in (Raw(), Additive(1), CrossPrior([0.25] * 4, 10))]
    [True, True, True]
    """

    __slots__ = ()

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
        return np.asarray(cells + np.asarray(self.pseudo_counts))

    @property
    def pseudo_counts(self) -> Floats | None:
        """The pseudo-counts of the four cells; None if they depend on the cells.

        Examples
        --------
        >>> CrossPrior([0.25] * 4, 10).pseudo_counts
        array([2.5, 2.5, 2.5, 2.5])
        """
        return np.zeros(4)

    @property
    def label(self) -> str:
        """A short name for tables.

        Examples
        --------
        >>> Raw().label, Additive(0.5).label, CrossPrior([0.25] * 4, 10).label
        ('raw', 'add0.5', 'cps10')
        """
        return "raw"

    def to_dict(self) -> dict[str, Any]:
        """The estimator as plain values, fit for JSON.

        Returns
        -------
        dict
            Its name and arguments; a matrix is the list of its cells.

        Examples
        --------
        >>> CrossPrior(ConfusionMatrix(tp=30, fn=10, fp=12, tn=48), 10).to_dict()
        {'name': 'CrossPrior', 'reference': [30, 10, 12, 48], 'strength': 10.0}
        """
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return {"name": type(self).__name__} | {n: plain_value(getattr(self, n)) for n in names}


@dataclass(frozen=True, slots=True)
class Raw(Estimator):
    """No smoothing.

    Examples
    --------
    >>> Raw().smooth(np.array([3, 0, 1, 4]))
    array([3., 0., 1., 4.])
    """


@dataclass(frozen=True, slots=True)
class Additive(Estimator):
    """Add ``epsilon`` to every cell, as `additive_smooth` does.

    Parameters
    ----------
    epsilon : float
        A number from 0 to 1e9. Even a tiny one has an effect: every 0/0 becomes a fixed value.

    Examples
    --------
    >>> Additive(0.5).smooth(np.array([3, 0, 1, 4]))
    array([3.5, 0.5, 1.5, 4.5])
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_amount(self.epsilon, "epsilon", "be a number from 0 to 1e9", smallest=0.0)

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
    """Cross-Prior Smoothing, as of `cross_prior_smooth`.

    Parameters
    ----------
    reference : ConfusionMatrix or four probabilities
        The source of the prior's proportions.
    strength : float, mapping or "auto"
        How many cases the reference is worth: one number for all cells, or one per split, as in
        ``{"prev": 7, "tpr": 20, "fpr": 20}``. ``"auto"`` is a cautious 5.

    Examples
    --------
    >>> CrossPrior(ConfusionMatrix(tp=1, fn=1, fp=1, tn=1), 4).smooth(np.array([4, 0, 0, 0]))
    array([2.5, 0.5, 0.5, 0.5])
    >>> CrossPrior([0.25] * 4, {"prev": 4, "tpr": 0, "fpr": 2}).smooth(np.array([4, 0, 0, 0]))
    array([3. , 0. , 0.5, 0.5])
    """

    reference: Rates
    strength: Strength = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", as_strength(self.strength))
        as_rates(self.reference)

    def smooth(self, cells: Floats) -> Floats:
        """The cells pulled towards the reference, with the same sum; 1 if that was 0."""
        return smooth_cells(cells, as_rates(self.reference), as_strength(self.strength))

    @property
    def pseudo_counts(self) -> Floats | None:
        """The strength times the reference's proportions; None with one strength per split."""
        strength = as_strength(self.strength)
        return None if isinstance(strength, Mapping) else strength * as_rates(self.reference)

    @property
    def label(self) -> str:
        """``cps`` and the strength, or the three strengths."""
        if isinstance(self.strength, Mapping):
            return "cps" + "/".join(f"{self.strength[split]:.3g}" for split in SPLITS)
        return f"cps{self.strength:g}"


class SmoothedMatrix:
    """What smoothed matrices of two and of K classes have in common: the raw matrix and a note."""

    __slots__ = ()
    raw: Any
    strength: Any

    # Smoothed cells are not counts, even if they happen to be whole.
    is_whole = False

    @property
    def prior_only(self) -> bool:
        """Whether the group is empty, so that the cells are the prior's proportions."""
        return bool(self.raw.n == 0)

    @property
    def shrinkage(self) -> float:
        """The part n/(n+λ) of an expected difference of shares, such as accuracies, that remains.

        With one strength per split, λ is that of prevalence.
        """
        n, total = self.raw.n, self.raw.n + one_strength(self.strength)
        return float(n / total) if total else 0.0

    def __str__(self) -> str:
        origin = f"smoothed from {self.raw!r}"
        if self.prior_only:
            origin = "the prior only: the group is empty"
        note = f"strength {format_strength(self.strength)}; {self.shrinkage:.0%} of a share's gap"
        return f"{super().__str__()}\n{origin}, {note} remains"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Smoothed(SmoothedMatrix, ConfusionMatrix):
    """A smoothed confusion matrix, with the same n as the raw one.

    Attributes
    ----------
    tp, fn, fp, tn : float
        The smoothed cells.
    raw : ConfusionMatrix
        The matrix before smoothing.
    strength : float or dict of str to float
        The strength, or one per split.
    prior_only : bool
        Whether the group is empty, so that the cells are the prior's proportions.
    shrinkage : float
        The part n/(n+λ) of an expected difference of shares that remains.

    Examples
    --------
    >>> group = ConfusionMatrix(tp=4, fn=0, fp=0, tn=0)
    >>> s = cross_prior_smooth(group, ConfusionMatrix(tp=1, fn=1, fp=1, tn=1), strength=4)
    >>> s.tp, s.raw, s.shrinkage, s.is_whole, s.prior_only
    (2.5, ConfusionMatrix(tp=4, fn=0, fp=0, tn=0), 0.5, False, False)
    """

    raw: ConfusionMatrix
    strength: float | Strengths

    def __repr__(self) -> str:
        mark = "prior only, " * self.prior_only
        strength = format_strength(self.strength)
        return f"{ConfusionMatrix.__repr__(self)[:-1]}, {mark}strength={strength})"

    _repr_html_ = Record._repr_html_


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SmoothedClasses(SmoothedMatrix, MulticlassConfusion):
    """A smoothed K x K matrix, with the same n as the raw one.

    Attributes
    ----------
    counts, labels
        The smoothed cells and the classes.
    raw : MulticlassConfusion
        The matrix before smoothing.
    strength : float
        The strength.
    prior_only, shrinkage
        As for `Smoothed`.

    Examples
    --------
    >>> from evenhand import MulticlassConfusion, cross_prior_smooth
    >>> group = MulticlassConfusion.from_array([[4, 0], [0, 0]])
    >>> s = cross_prior_smooth(group, MulticlassConfusion.from_array([[1, 1], [1, 1]]), strength=4)
    >>> s.to_array().tolist(), s.shrinkage, s.raw.n, s.is_whole, s.prior_only
    ([[2.5, 0.5], [0.5, 0.5]], 0.5, 4, False, False)
    """

    raw: MulticlassConfusion
    strength: float

    def __post_init__(self) -> None:
        MulticlassConfusion.__init__(self, self.counts, self.labels)

    def __reduce__(self) -> tuple[Any, ...]:
        return SmoothedClasses, (self.counts, self.labels, self.raw, self.strength)

    def __repr__(self) -> str:
        size = f"{self.k} classes, n = {format_count(self.n)}"
        mark = "prior only, " * self.prior_only
        return f"<SmoothedClasses: {size}, {mark}strength {self.strength:g}>"


def as_strength(strength: Any) -> float | Strengths:
    """Check a strength: a number, or one per split; "auto" becomes a cautious number."""
    if isinstance(strength, str) and strength == "auto":
        return CAUTIOUS_STRENGTH
    if not isinstance(strength, Mapping):
        return check_amount(strength)
    if set(strength) != set(SPLITS):
        must = "name prev, tpr and fpr if it is one per split"
        raise InvalidInput(argument="strength", must=must, got=list(strength))
    return {split: check_amount(strength[split]) for split in SPLITS}


def check_amount(
    value: Any, argument: str = "strength", must: str = _STRENGTH, smallest: float = 1e-9
) -> float:
    """Check that a value is 0, or a number from the smallest one to 1e9."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)
    if not is_number or not (value == 0 or smallest <= value <= 1e9):
        raise InvalidInput(argument=argument, must=must, got=value)
    return float(value)


def one_strength(strength: float | Strengths) -> float:
    """The strength of shares of all cases: that of prevalence if there is one per split."""
    return strength["prev"] if isinstance(strength, Mapping) else strength


def format_strength(strength: Strength) -> str:
    """Format a strength: ``10``, or ``prev 7, tpr 20, fpr 20``."""
    if isinstance(strength, Mapping):
        return ", ".join(f"{split} {strength[split]:.3g}" for split in SPLITS)
    return strength if isinstance(strength, str) else f"{strength:g}"


def as_rates(cells: Rates | MulticlassConfusion) -> Floats:
    """Check a reference; return the proportions of a matrix, or four probabilities."""
    if not isinstance(cells, (ConfusionMatrix, MulticlassConfusion)):
        return np.array(as_probabilities(cells))
    if cells.n == 0:
        raise InvalidInput("the `reference` is empty (n = 0), so it has no proportions")
    return np.asarray(cells.proportions.ravel())


def require_matrix(cm: Any) -> ConfusionMatrix:
    """Raise an error unless a group is a ConfusionMatrix."""
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"a group must be a ConfusionMatrix; got {brief(cm)}")
    return cm


def rests_of(groups: Groups) -> dict[str, ConfusionMatrix]:
    """For each group, the sum of all others; empty for an only group."""
    if not isinstance(groups, Mapping):
        raise InvalidInput(argument="groups", must="map names to confusion matrices", got=groups)
    total: Any = sum(map(require_matrix, groups.values()))
    return {name: total - cm for name, cm in groups.items()}


# Strengths


def learn_split_strengths(cells: Floats) -> Floats:
    """One strength per split from the cells of groups; a cautious 5 if there are fewer than five."""
    if len(cells) < _MIN_GROUPS:
        return np.full(3, CAUTIOUS_STRENGTH)
    return estimate_strengths(cells)


def harmful_split(strengths: Floats) -> str | None:
    """The split whose rates spread most, if smoothing may do more harm than good.

    It may if the harmonic mean of the strengths is small.
    """
    is_harmful = 3 / (1 / strengths).sum() < _MIN_OVERALL
    return SPLITS[int(strengths.argmin())] if is_harmful else None


def estimate_strengths(cells: Floats) -> Floats:
    """The harmonic posterior mean of the strength of each split, however few groups there are."""
    from scipy.special import betaln

    h, strengths = np.geomspace(0.25, 2000.0, 49), []
    log_prior = -0.5 * (np.log(h / _CENTRE) / _SIGMA) ** 2
    for parts, totals in np.stack(split_counts(cells)).T.swapaxes(1, 2)[..., None]:
        x, m = parts[totals > 0, None], totals[totals > 0, None]
        rate = (x.sum() - x + 0.5) / (m.sum() - m + 1)
        a, b = rate * h, (1 - rate) * h
        log_posterior = log_prior + (betaln(x + a, m - x + b) - betaln(a, b)).sum(axis=0)
        weight = np.exp(log_posterior - log_posterior.max())
        strengths.append(weight.sum() / (weight / h).sum())
    return np.array(strengths)


def learn_strengths(groups: Groups) -> dict[str, dict[str, float]]:
    """Learn the strength of smoothing for each group from the spread of all groups.

    For each split, each group is predicted from the rest by a beta-binomial law with strength h,
    which has a lognormal prior around 12; the strength is the harmonic posterior mean of h. It is
    lowered for a group whose smoothed count would be more than 3/4 of a case plus 1/4 of a standard
    error away from its raw count.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        All groups of one kind.

    Returns
    -------
    dict of name to strengths
        One strength per split. With fewer than five groups it is 5 instead of a learnt one, lowered
        likewise.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> learnt = learn_strengths(compas())
    >>> {split: round(value, 1) for split, value in learnt["Other"].items()}
    {'prev': 14.4, 'tpr': 5.5, 'fpr': 6.5}

    The 32 Asian defendants have fewer actual positives than the rest, and a prior of 14 cases would
    move them too far:

    >>> {split: round(value, 1) for split, value in learnt["Asian"].items()}
    {'prev': 11.0, 'tpr': 5.5, 'fpr': 6.0}
    """
    sides = [[cm.cells for cm in side.values()] for side in (rests_of(groups), groups)]
    references, cells = np.array(sides, dtype=np.float64).reshape(2, -1, 4)
    strengths = limit_strengths(learn_split_strengths(cells), cells, references).tolist()
    rows = (dict(zip(SPLITS, row, strict=True)) for row in strengths)
    return dict(zip(groups, rows, strict=True))


def limit_strengths(strengths: Floats, cells: Floats, reference_cells: Floats) -> Floats:
    """Lower the strengths (..., 3) that would move a count of a group (..., 4) too far."""
    (x, m), (reference_x, reference_m) = map(split_counts, (cells, reference_cells))
    rate = (x + 1) / (m + 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        allowed = _CASES + _ERRORS * np.sqrt(m * rate * (1 - rate))
        # Without cases of the reference, the gap is nan, and nothing is limited.
        gap = np.abs(m * (reference_x / reference_m) - x)
        limit = np.where(gap > allowed, m * allowed / (gap - allowed), inf)
    return np.minimum(strengths, limit)


@dataclass(frozen=True, slots=True, repr=False)
class BiasVariance(Record):
    """The result of `bias_variance`.

    Attributes
    ----------
    bias, variance : float
        Exact bias and variance of the smoothed score.
    raw_mse : float
        The mean squared error without smoothing.

    Examples
    --------
    >>> print(bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10))
    bias +0.05, variance 0.006, mse 0.0085 (raw 0.024)
    """

    bias: float
    variance: float
    raw_mse: float

    @property
    def mse(self) -> float:
        """The mean squared error of the smoothed score.

        Examples
        --------
        >>> BiasVariance(bias=0.5, variance=0.25, raw_mse=1.0).mse
        0.5
        """
        return self.bias**2 + self.variance

    def __str__(self) -> str:
        moments = f"bias {self.bias:+.4g}, variance {self.variance:.4g}"
        return f"{moments}, mse {self.mse:.4g} (raw {self.raw_mse:.4g})"


def bias_variance(
    metric: str | Metric, truth: Rates, reference: Rates, n: int, strength: float
) -> BiasVariance:
    """Bias λ/(n+λ)·d and variance n·v/(n+λ)² of a smoothed linear score (the paper's Theorem 6.1).

    Parameters
    ----------
    metric : str or Metric
        A share, marginal benefit, or one of the cells "tp", "fn", "fp", "tn".
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and those of the prior; d is the difference of their scores, v the variance of
        one case.
    n : int
        The number of cases in the group.
    strength : float
        The strength λ.

    Returns
    -------
    BiasVariance
        Bias and variance.

    Examples
    --------
    >>> b = bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10)
    >>> round(b.bias, 12), round(b.variance, 12), round(b.raw_mse, 12)
    (0.05, 0.006, 0.024)
    """
    d, v = _difference_and_variance(metric, truth, reference)
    size, weight = as_size(n), check_amount(strength)
    if size == 0:
        raise InvalidInput(argument="n", must="be at least 1")
    total = size + weight
    return BiasVariance(weight / total * d, size * v / total**2, v / size)


def optimal_strength(metric: str | Metric | None, truth: Rates, reference: Rates) -> float:
    """The strength λ* = v/d² with the smallest mean squared error, for every n (E15).

    Parameters
    ----------
    metric : str, Metric or None
        A metric that is linear in the cells, or a cell; None for all four cells together, with
        (1 - Σp²)/Σ(p'-p)².
    truth, reference : ConfusionMatrix or four probabilities
        The true rates and those of the prior.

    Returns
    -------
    float
        The optimal strength; infinite if the scores do not differ.

    Examples
    --------
    >>> round(optimal_strength("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3]), 12)
    24.0
    """
    # The squared error of all cells is the sum over the cells.
    metrics = CELLS if metric is None else (metric,)
    d, v = np.transpose([_difference_and_variance(m, truth, reference) for m in metrics])
    square, variance = float(d @ d), float(v.sum())
    # Rounding errors can cause a difference of this size.
    return variance / square if square > 1e-28 else inf


def _difference_and_variance(
    metric: str | Metric, truth: Rates, reference: Rates
) -> tuple[float, float]:
    """Reference minus truth, and the variance of one case, of a score that is linear in the cells."""
    linear: Any = dict(zip(CELLS, np.eye(4), strict=True)).get(str(metric))
    if linear is None:
        m = find_metric(metric)
        linear = None if m.comparisons else m.base.linear
        if linear is None:
            raise InvalidInput(f"{m.key} is not linear in the cells; use risk()")
    weights, rates, prior = np.array(linear), as_rates(truth), as_rates(reference)
    variance = rates @ (weights - weights @ rates) ** 2
    return float(weights @ (prior - rates)), float(variance)
