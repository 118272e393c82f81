"""How sure one can be of a score, and of the gap between two groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..laws import as_prior
from ..laws.belief import Belief, rule
from ..metrics import Comparison, Metric, OneGroup, difference, ratio
from ..metrics import metric as find_metric
from .match import MatchResult, match_test
from .smoothing import Smoothed

__all__ = ["Disparity", "Interval", "disparity", "gap_interval", "interval"]

_FEW = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An interval of a true score, equally likely to be missed on either side."""

    metric: Metric
    low: float
    high: float
    level: float
    estimate: float
    method: str

    def __str__(self) -> str:
        score = "undefined" if isnan(self.estimate) else f"{self.estimate:.4g}"
        return f"{self.metric.key} {score}, {100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high


def interval(
    cm: ConfusionMatrix,
    metric: str | Metric,
    level: float = 0.95,
    *,
    reference: ConfusionMatrix | None = None,
    strength: float = 10.0,
    prior: float = 0.5,
) -> Interval:
    """Equal-tailed interval of the true score under the Dirichlet posterior.

    The cell rates have a Dirichlet prior of ``prior`` a cell (1/2: Jeffreys; for a rate such as TPR this is the
    Jeffreys interval) or, with a ``reference``, of ``strength`` times its proportions, the prior of Cross-Prior
    Smoothing. Deterministic: beta quantiles for shares, ratios and F1; quadrature and root finding for the rest, to
    about 1e-5 of a score (1e-3 in groups of a few cases with empty cells). A score that is undefined in the sample
    still has an interval: what the prior leaves open. A score at an end of its range, such as 0 of 2, is kept inside.

    The level is a posterior probability. How often the interval covers a fixed true rate is tabulated in
    docs/calibration.md: about the level on average, less near rates of 0 and 1.

    >>> from evenhand import ConfusionMatrix
    >>> i = interval(ConfusionMatrix(tp=0, fn=2, fp=8, tn=30), "tpr")
    >>> i.low, round(i.high, 4)
    (0.0, 0.6668)
    """
    m = _one_group(metric)
    _check_level(level)
    alpha = _posterior(cm, reference, strength, prior)
    belief = Belief(m, alpha)
    low, high = (float(belief.quantile(q)) for q in ((1 - level) / 2, (1 + level) / 2))
    score = float(m(cm))
    if score in m.range:
        # At an end of its range a score is not left outside of its own interval (Brown, Cai and DasGupta 2001).
        low, high = min(low, score), max(high, score)
    kind = (
        f"Dirichlet posterior, prior {prior:g} a cell" if reference is None else f"CPS posterior, strength {strength:g}"
    )
    return Interval(metric=m, low=low, high=high, level=level, estimate=score, method=kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparity:
    """The gap between a group's score and the reference's: its size, how sure it is, and whether it may be chance.

    ``estimate`` is nan if either score is undefined; ``pvalue`` is that of the pooled MATCH test.
    """

    metric: Comparison
    kind: Literal["difference", "ratio"]
    estimate: float
    low: float
    high: float
    level: float
    pvalue: float
    group_score: float
    reference_score: float
    reason: str | None
    test: MatchResult

    @property
    def four_fifths(self) -> bool | None:
        """Whether a ratio keeps the four-fifths rule (at least 0.8 of the reference); None for a difference."""
        return None if self.kind == "difference" or isnan(self.estimate) else self.estimate >= 0.8

    def __str__(self) -> str:
        name = self.metric.base.key.upper()
        span = f"{100 * self.level:g} % interval {_brief(self.low)} to {_brief(self.high)}"
        if self.reason:
            return f"{name}: the {self.kind} is undefined, {self.reason} ({span})"
        if self.kind == "difference":
            way = "higher" if self.estimate > 0 else "lower"
            gap = f"{name} is {_brief(abs(self.estimate))} {way}" if self.estimate else f"{name} is the same"
        else:
            gap = f"{name} is {_brief(self.estimate)} times the reference's"
        rule_ = "" if self.four_fifths is None else f", four-fifths rule {'kept' if self.four_fifths else 'not kept'}"
        return f"{gap} ({span}, p = {self.pvalue:.2g}{rule_})"


def disparity(
    cm: ConfusionMatrix,
    reference: ConfusionMatrix,
    metric: str | Metric,
    kind: Literal["difference", "ratio"] = "difference",
    *,
    level: float = 0.95,
    prior: float = 0.5,
    **settings: Any,
) -> Disparity:
    """The gap between a group and a reference in one call: estimate, interval and p-value.

    The interval holds the true gap with posterior probability ``level``, both groups having Dirichlet posteriors of
    their own; the p-value is that of `match_test` for the gap, which takes further ``settings``.

    >>> from evenhand import ConfusionMatrix
    >>> print(disparity(ConfusionMatrix(12, 18, 9, 61), ConfusionMatrix(300, 200, 150, 350), "tpr"))
    TPR is 0.20 lower (95 % interval -0.37 to -0.02, p = 0.05)
    """
    if kind not in get_args(Literal["difference", "ratio"]):
        raise UnknownName.among("kind", kind, ("difference", "ratio"))
    _check_level(level)
    m = _one_group(metric)
    compared = difference(m) if kind == "difference" else ratio(m)
    test = match_test(cm, reference, compared, **settings)
    low, high = gap_interval(cm, reference, m, kind, level=level, prior=prior)
    return Disparity(
        metric=compared,
        kind=kind,
        estimate=float(compared(cm, reference)),
        low=low,
        high=high,
        level=level,
        pvalue=test.pvalue,
        group_score=float(m(cm)),
        reference_score=float(m(reference)),
        reason=compared.why_undefined(cm, reference),
        test=test,
    )


def _brief(value: float) -> str:
    """Two decimals, or two digits of what is smaller or larger."""
    return f"{value:.2f}" if 0.005 <= abs(value) < 1000 or value == 0 else f"{value:.2g}"


def gap_interval(
    cm: ConfusionMatrix, reference: ConfusionMatrix, m: OneGroup, kind: str, *, level: float, prior: float = 0.5
) -> tuple[float, float]:
    """Equal-tailed interval of the true gap, both groups having Dirichlet posteriors of their own."""
    from scipy.optimize import brentq

    posteriors = [_posterior(counts, None, 0.0, prior) for counts in (cm, reference)]
    group, other = (Belief(m, alpha) for alpha in posteriors)
    # Few nodes are exact to 1e-11 unless a cell is nearly empty.
    u, w = rule(64 if min(map(min, posteriors)) > _FEW else 256)
    theirs = other.quantile(u)

    def cdf(gap: float) -> float:
        return float(w @ group.cdf(gap + theirs if kind == "difference" else gap * theirs))

    # A gap may span many orders of magnitude, so it is sought by its logarithm, or by that of its size.
    fold, unfold, reach = (np.arcsinh, np.sinh, 60.0) if kind == "difference" else (np.log, np.exp, 80.0)
    levels = np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        down, middle, up = fold(_roughly(group.quantile(levels), other.quantile(levels), kind))
    found = []
    for q, start in ((levels[0], down), (levels[2], up)):

        def excess(z: float, q: float = q) -> float:
            return cdf(float(unfold(z))) - q

        step = abs(start - middle) / 4
        low, high = np.clip((start - step, start + step), -reach, reach)
        if not excess(low) <= 0 <= excess(high):
            low, high = -reach, reach
        found.append(float(unfold(brentq(excess, low, high, xtol=1e-10))))
    return found[0], found[1]


def _roughly(mine: NDArray[np.float64], theirs: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """About the lower end, middle and upper end of a gap: medians, and how far each side's quantiles are from them."""
    if kind == "ratio":
        return np.exp(_roughly(np.log(mine), np.log(theirs), "difference"))
    middle = mine[1] - theirs[1]
    down, up = np.hypot(mine[1] - mine[0], theirs[2] - theirs[1]), np.hypot(mine[2] - mine[1], theirs[1] - theirs[0])
    return np.array([middle - down, middle, middle + up])


def _posterior(
    cm: ConfusionMatrix, reference: ConfusionMatrix | None, strength: float, prior: float
) -> tuple[float, float, float, float]:
    if not isinstance(cm, ConfusionMatrix):
        raise InvalidInput(f"the group must be a ConfusionMatrix; got {cm!r}")
    if isinstance(cm, Smoothed):
        raise InvalidInput("an interval takes the group's own counts; reference= and strength= steady it")
    if reference is None:
        added = np.full(4, as_prior(prior))
    else:
        if not isinstance(reference, ConfusionMatrix):
            raise InvalidInput(f"the reference must be a ConfusionMatrix; got {reference!r}")
        if isinstance(strength, bool) or not isinstance(strength, Real) or not 0 < float(strength) < inf:
            raise InvalidInput(f"strength must be a positive number of cases; got {strength!r}")
        added = float(strength) * reference.proportions
    tp, fn, fp, tn = (float(a) for a in np.asarray(cm.cells, dtype=np.float64) + added)
    if min(tp, fn, fp, tn) <= 0:
        raise InvalidInput(
            "a cell is empty in the group and in the reference, so its rate would be believed to be exactly 0; "
            "choose a reference without empty cells, or leave it out"
        )
    return tp, fn, fp, tn


def _one_group(name: str | Metric) -> OneGroup:
    m = find_metric(name)
    if not isinstance(m, OneGroup):
        raise InvalidInput(f"{m.key} compares two groups; disparity() gives its interval from the one-group metric")
    return m


def _check_level(level: float) -> None:
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise InvalidInput(f"level must lie between 0 and 1; got {level!r}")
