"""The error of raw and smoothed scores at a given sample size, exact or simulated.

A group of ``n`` cases is sampled with the true rates; an estimator adds its pseudo-counts and scores the result. The
expected error is a sum over the metric's tree (`moments`). Errors are conditional on the estimate being defined; the
probability that it is undefined is reported with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan, sqrt
from typing import Any, ClassVar, Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import ConfusionMatrix, as_size
from ..errors import InvalidInput, TooLarge, UnknownName
from ..laws import as_probabilities, law_of
from ..metrics import Metric, OneGroup, metric as find_metric
from ..randomness import Rng, check_draws, seed_of, streams
from ..records import Record, reach
from ..wording import several
from .moments import Task, error_moments
from .smoothing import Estimator, Raw

__all__ = ["Risk", "Risks", "one_group_metric", "risk", "sample_sizes"]

Floats = NDArray[np.float64]
Truth = ConfusionMatrix | ArrayLike
RiskMethod = Literal["exact", "montecarlo"]

_MOST_LINES, _MOST_SIZES = 20, 10_000
# Without replacement, at most this many cases can be sampled from.
_MOST_CASES = 10**9


def sample_sizes(n: Iterable[int]) -> list[int]:
    """Sample sizes, checked; not more than can be answered in half a minute."""
    sizes = [as_size(size) for size in islice(n, _MOST_SIZES + 1)]
    if len(sizes) > _MOST_SIZES:
        raise TooLarge(f"`n` must contain at most {_MOST_SIZES:,} sample sizes; choose some of them")
    return sizes


def one_group_metric(metric: str | Metric) -> OneGroup:
    """A metric of one group, checked."""
    m = find_metric(metric)
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; use a metric of one group, such as {m.base.key}")
    return m.base


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Risk(Record):
    """The error of an estimator at sample size ``n``, given that the estimate is defined.

    Attributes
    ----------
    metric : Metric
        The metric.
    n : int
        The sample size.
    estimator : Estimator
        How the score is estimated.
    true_score : float
        The score of the true rates.
    bias, mse, mae : float
        Expected error, squared error and absolute error; also `variance` and `rmse`.
    p_undefined : float
        The probability that the estimate is undefined.
    method : {"exact", "montecarlo"}
        Whether all groups were counted, or some simulated.
    draws, rng : int or None
        The number of simulated groups, and the seed that repeats them; None if exact, or with a generator.
    standard_error : float
        The standard error of the mse, 0 if exact.

    Examples
    --------
    >>> r = risk("acc", [0.25, 0.25, 0.25, 0.25], n=25)
    >>> print(r)
    acc of 25 cases, raw: rmse 0.1, bias +0, sd 0.1, undefined 0 %
    """

    metric: OneGroup
    n: int
    estimator: Estimator
    true_score: float
    bias: float
    mse: float
    mae: float
    p_undefined: float
    method: RiskMethod = "exact"
    draws: int | None = None
    rng: int | None = None
    standard_error: float = 0.0
    _derived: ClassVar[tuple[str, ...]] = ("variance", "rmse")

    @property
    def variance(self) -> float:
        """The variance of the estimate.

        Examples
        --------
        >>> round(risk("acc", [0.25, 0.25, 0.25, 0.25], n=25).variance, 12)
        0.01
        """
        return max(self.mse - self.bias**2, 0.0)

    @property
    def rmse(self) -> float:
        """The root mean squared error, in units of the score.

        Examples
        --------
        >>> round(risk("acc", [0.25, 0.25, 0.25, 0.25], n=25).rmse, 12)
        0.1
        """
        return sqrt(self.mse)

    def __str__(self) -> str:
        drawn = "" if self.draws is None else f", {self.draws:,} draws (standard error {self.standard_error:.2g})"
        spread = f"bias {round(self.bias, 12) + 0.0:+.4g}, sd {sqrt(self.variance):.4g}"
        return (
            f"{self.metric.key} of {several(self.n, 'case')}, {self.estimator.label}: "
            f"rmse {self.rmse:.4g}, {spread}, undefined {100 * self.p_undefined:.3g} %{drawn}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Risks(Record, Sequence[Risk]):
    """The errors of several estimates: a sequence of `Risk`, by metric, then estimator, then sample size.

    Attributes
    ----------
    risks : tuple of Risk
        The errors. If an estimate is never defined, they are nan.

    Examples
    --------
    >>> errors = risk("acc", [0.25, 0.25, 0.25, 0.25], n=[10, 20, 40])
    >>> len(errors), errors[0].n, [round(r.mse, 4) for r in errors]
    (3, 10, [0.025, 0.0125, 0.0063])
    """

    risks: tuple[Risk, ...]

    @overload
    def __getitem__(self, at: int) -> Risk: ...
    @overload
    def __getitem__(self, at: slice) -> Risks: ...
    def __getitem__(self, at: int | slice) -> Risk | Risks:
        return Risks(risks=self.risks[at]) if isinstance(at, slice) else self.risks[at]

    def __len__(self) -> int:
        return len(self.risks)

    def plot(self, ax: Any = None) -> Any:
        """Plot mean squared errors against the sample size, one line per metric and estimator (extra ``plots``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import CrossPrior, Raw
        >>> from evenhand.examples import compas
        >>> groups = compas()
        >>> estimators = [Raw(), CrossPrior(groups["Caucasian"], 10)]
        >>> ax = risk("tpr", groups["Hispanic"], range(5, 50), estimators).plot()
        """
        return reach("Risks.plot")(self, ax=ax)

    def __str__(self) -> str:
        lines = [f"{several(len(self), 'error')} of {', '.join(dict.fromkeys(r.metric.key for r in self))}"]
        lines += [f"  {r}" for r in self.risks[:_MOST_LINES]]
        return "\n".join([*lines, f"  and {len(self) - _MOST_LINES:,} more"] if len(self) > _MOST_LINES else lines)


@overload
def risk(  # type: ignore[overload-overlap]
    metric: str | Metric,
    truth: Truth,
    n: int,
    estimator: Estimator | None = None,
    *,
    method: RiskMethod = "exact",
    absolute: bool | None = None,
    draws: int = 100_000,
    rng: Rng = 0,
    replace: bool = True,
) -> Risk: ...
@overload
def risk(
    metric: str | Metric | Sequence[str | Metric],
    truth: Truth,
    n: int | Iterable[int],
    estimator: Estimator | Sequence[Estimator] | None = None,
    *,
    method: RiskMethod = "exact",
    absolute: bool | None = None,
    draws: int = 100_000,
    rng: Rng = 0,
    replace: bool = True,
) -> Risks: ...
def risk(
    metric: str | Metric | Sequence[str | Metric],
    truth: Truth,
    n: int | Iterable[int],
    estimator: Estimator | Sequence[Estimator] | None = None,
    *,
    method: RiskMethod = "exact",
    absolute: bool | None = None,
    draws: int = 100_000,
    rng: Rng = 0,
    replace: bool = True,
) -> Risk | Risks:
    """Bias, variance, MSE and MAE of an estimator for groups of ``n`` cases.

    Many sizes cost little more than the largest one, and metrics share the sums over their trees.

    Parameters
    ----------
    metric : str, Metric or sequence of them
        Metrics of one group.
    truth : ConfusionMatrix or four probabilities
        The true rates. Errors are relative to their score.
    n : int or iterable of int
        The number of cases in the group, or several.
    estimator : Raw, Additive, CrossPrior or sequence of them
        How the score is estimated; the raw score by default.
    method : {"exact", "montecarlo"}
        Count all groups, or simulate some. A simulation says its standard error.
    absolute : bool, optional
        Whether to compute the mean absolute error, which costs more; otherwise it is nan. By default it is computed for
        a single size, and by a simulation.
    draws : int
        The number of simulated groups per metric, estimator and size.
    rng : int, numpy.random.Generator or None
        The seed or generator of a simulation.
    replace : bool
        Whether a simulation samples with replacement. Without, it samples the cases of ``truth``.

    Returns
    -------
    Risk or Risks
        One error, or a sequence of them if there are several metrics, estimators or sizes. A single estimate that is
        never defined is refused; among several, its errors are nan.

    Examples
    --------
    Two cases, four equally likely cells: TPR is defined in 12 ways; it is 0 in 5, 1 in 5, and correct in 2 of them.

    >>> r = risk("tpr", [0.25, 0.25, 0.25, 0.25], n=2)
    >>> round(12 * r.mse / 0.25, 9), round(r.bias, 9), round(r.p_undefined, 9)
    (10.0, 0.0, 0.25)

    Several sizes:

    >>> [round(r.mse, 4) for r in risk("acc", [0.25, 0.25, 0.25, 0.25], n=[10, 20, 40])]
    [0.025, 0.0125, 0.0063]
    """
    if method not in get_args(RiskMethod):
        raise UnknownName.among("method", method, get_args(RiskMethod))
    rates = truth.proportions if isinstance(truth, ConfusionMatrix) else np.array(as_probabilities(truth))
    names = [metric] if isinstance(metric, (str, Metric)) else list(metric)
    given: Any = Raw() if estimator is None else estimator
    hows: list[Estimator] = list(given) if isinstance(given, (list, tuple)) else [given]
    for how in hows:
        if not isinstance(how, Estimator):
            raise InvalidInput(argument="estimator", must="be Raw(), Additive(…) or CrossPrior(…)", got=how)
    one_size = not isinstance(n, Iterable)
    sizes = np.array(sample_sizes(n if isinstance(n, Iterable) else [n]), dtype=np.int64)
    if not len(sizes):
        raise InvalidInput("`n` must contain at least one sample size")
    tasks = [_task(name, rates, hows) for name in names]
    if method == "exact":
        found = list(_exact(tasks, sizes, one_size if absolute is None else absolute))
    else:
        found = list(_simulated(tasks, sizes, truth, check_draws(draws, 2), rng, replace))
    if not (one_size and isinstance(metric, (str, Metric)) and given is hows[0]):
        return Risks(risks=tuple(found))
    only = found[0]
    if only.p_undefined == 1:
        raise InvalidInput(
            f"{only.metric.key} at n = {only.n} is never defined with {only.estimator.label}; use a larger `n`, or "
            "smooth"
            if method == "exact"
            else f"{only.metric.key} is undefined in all of {draws:,} simulated groups; use more `draws`"
        )
    return only


def _task(name: str | Metric, rates: Floats, hows: list[Estimator]) -> Task:
    m = one_group_metric(name)
    if np.isnan(m.scores(rates)):
        raise InvalidInput(f"the true {m.key} is undefined, {m.why_undefined(rates)}, so there is no error to compute")
    return Task(m, rates, float(m.scores(rates)), hows)


def _exact(tasks: list[Task], sizes: NDArray[np.int64], absolute: bool) -> Iterator[Risk]:
    """The errors from P(defined) and the sums of errors, squared and absolute errors."""
    for task, curves in zip(tasks, error_moments(tasks, sizes, absolute), strict=True):
        for how, moments in zip(task.estimators, curves, strict=True):
            defined = np.maximum(moments[0], 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                means = np.where(defined > 0, moments[1:] / defined, np.nan)
            p_undefined = np.where(defined < 1 - 1e-14, 1 - defined, 0.0)
            for n, bias, mse, mae, p in zip(*(x.tolist() for x in (sizes, *means, p_undefined)), strict=True):
                yield Risk(
                    metric=task.metric,
                    n=n,
                    estimator=how,
                    true_score=task.true_score,
                    bias=bias,
                    mse=mse,
                    mae=mae,
                    p_undefined=p,
                )


def _simulated(
    tasks: list[Task], sizes: NDArray[np.int64], truth: Truth, draws: int, rng: Rng, replace: bool
) -> Iterator[Risk]:
    """The errors of random groups, each estimate with a stream of its own."""
    asked = [(task, how, n) for task in tasks for how in task.estimators for n in sizes.tolist()]
    for (task, how, n), stream in zip(asked, streams(rng, len(asked)), strict=True):
        cells = stream.multinomial(n, task.rates, size=draws) if replace else _part_of(truth, n, draws, stream)
        errors = task.metric.scores(how.smooth(cells.astype(np.float64))) - task.true_score
        defined = errors[~np.isnan(errors)]
        squares = defined**2
        yield Risk(
            metric=task.metric,
            n=n,
            estimator=how,
            true_score=task.true_score,
            bias=float(defined.mean()) if len(defined) else nan,
            mse=float(squares.mean()) if len(defined) else nan,
            mae=float(np.abs(defined).mean()) if len(defined) else nan,
            p_undefined=1 - len(defined) / draws,
            method="montecarlo",
            draws=draws,
            rng=seed_of(rng),
            standard_error=float(squares.std() / sqrt(len(defined))) if len(defined) else nan,
        )


def _part_of(truth: Truth, n: int, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random groups of the cases of ``truth``."""
    law = law_of(truth, n, "without_replacement")
    assert isinstance(truth, ConfusionMatrix)
    if truth.n > _MOST_CASES:
        raise InvalidInput("`replace=False` samples from at most 1e9 cases; use `method='exact'`")
    return rng.multivariate_hypergeometric([int(c) for c in truth.cells], law.n, size=draws)
