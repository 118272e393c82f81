"""The exact error of raw and smoothed scores at a given sample size.

A group of ``n`` cases is sampled with the true rates; an estimator adds its pseudo-counts and scores the result. The
expected error is a sum over the metric's tree (`moments`). Errors are conditional on the estimate being defined; the
probability that it is undefined is reported with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cells import ConfusionMatrix, as_size
from ..errors import InvalidInput
from ..laws import as_generator, as_probabilities, check_draws, law_of
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric
from ..records import Record
from .moments import Task, error_moments
from .smoothing import Estimator, Raw

__all__ = ["Risk", "monte_carlo_risk", "risk", "risk_curve"]

Floats = NDArray[np.float64]
Truth = ConfusionMatrix | ArrayLike


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
    method : str
        ``"exact"``, or the number of simulated groups.
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
    method: str = "exact"
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
        simulated = "" if self.method == "exact" else f", {self.method} (standard error {self.standard_error:.2g})"
        spread = f"bias {round(self.bias, 12) + 0.0:+.4g}, sd {sqrt(self.variance):.4g}"
        return (
            f"{self.metric.key} of {self.n} {'case' if self.n == 1 else 'cases'}, {self.estimator.label}: "
            f"rmse {self.rmse:.4g}, {spread}, undefined {100 * self.p_undefined:.3g} %{simulated}"
        )


def risk(metric: str | Metric, truth: Truth, n: int, estimator: Estimator | None = None) -> Risk:
    """Exact bias, variance, MSE and MAE of an estimator for groups of ``n`` cases.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    truth : ConfusionMatrix or four probabilities
        The true rates. Errors are relative to their score.
    n : int
        The number of cases in the group.
    estimator : Raw, Additive or CrossPrior
        How the score is estimated; the raw score by default.

    Returns
    -------
    Risk
        The errors.

    Examples
    --------
    Two cases, four equally likely cells: TPR is defined in 12 ways; it is 0 in 5, 1 in 5, and correct in 2 of them.

    >>> r = risk("tpr", [0.25, 0.25, 0.25, 0.25], n=2)
    >>> round(12 * r.mse / 0.25, 9), round(r.bias, 9), round(r.p_undefined, 9)
    (10.0, 0.0, 0.25)
    """
    only = risk_curve(metric, truth, [n], estimator, absolute=True)[0]
    if only.p_undefined == 1:
        key, how = only.metric.key, only.estimator.label
        raise InvalidInput(f"{key} at n = {n} is never defined with {how}; use a larger n, or smooth")
    return only


def risk_curve(
    metric: str | Metric | Sequence[str | Metric],
    truth: Truth,
    n: Iterable[int],
    estimators: Sequence[Estimator] | Estimator | None = None,
    *,
    absolute: bool = False,
) -> list[Risk]:
    """`risk` for each metric, estimator and sample size, at little more than the cost of the largest size.

    Parameters
    ----------
    metric : str, Metric or sequence of them
        Metrics of one group; several share the sums over their trees.
    truth : ConfusionMatrix or four probabilities
        The true rates.
    n : iterable of int
        Sample sizes.
    estimators : Raw, Additive, CrossPrior or sequence of them
        How scores are estimated; the raw score by default.
    absolute : bool
        Whether to compute the mean absolute error; otherwise it is nan.

    Returns
    -------
    list of Risk
        By metric, then estimator, then size. If an estimate is never defined, its errors are nan.

    Examples
    --------
    >>> [round(r.mse, 4) for r in risk_curve("acc", [0.25, 0.25, 0.25, 0.25], n=[10, 20, 40])]
    [0.025, 0.0125, 0.0063]
    """
    names = [metric] if isinstance(metric, (str, Metric)) else list(metric)
    checked = [_checked(name, truth) for name in names]
    given: Any = Raw() if estimators is None else estimators
    chosen: list[Estimator] = list(given) if isinstance(given, (list, tuple)) else [given]
    for how in chosen:
        if not isinstance(how, Estimator):
            raise InvalidInput(f"an estimator must be Raw(), Additive(…) or CrossPrior(…); got {how!r}")
    if not isinstance(n, Iterable):
        raise InvalidInput(f"n must be a sequence of sample sizes, such as range(5, 50); got {n!r}")
    sizes = np.array([as_size(size) for size in n], dtype=np.int64)
    if not len(sizes):
        raise InvalidInput("n must contain at least one sample size")
    tasks = [Task(m, rates, float(m.scores(rates)), chosen) for m, rates in checked]
    moments = error_moments(tasks, sizes, absolute)
    return [
        result
        for task, curves in zip(tasks, moments, strict=True)
        for how, curve in zip(chosen, curves, strict=True)
        for result in _results(task, how, sizes, curve)
    ]


def monte_carlo_risk(
    metric: str | Metric,
    truth: Truth,
    n: int,
    estimator: Estimator | None = None,
    *,
    draws: int = 100_000,
    rng: np.random.Generator | int | None = None,
    replace: bool = True,
) -> Risk:
    """`risk` by simulation, with its standard error.

    Parameters
    ----------
    metric, truth, n, estimator
        As for `risk`.
    draws : int
        The number of simulated groups.
    rng : numpy.random.Generator or int, optional
        The random generator or seed.
    replace : bool
        Whether to sample with replacement. Without, the cases of ``truth`` are sampled.

    Returns
    -------
    Risk
        The errors.

    Examples
    --------
    >>> r = monte_carlo_risk("tpr", ConfusionMatrix(5, 5, 5, 5), n=4, rng=1)
    >>> abs(r.mse - risk("tpr", ConfusionMatrix(5, 5, 5, 5), n=4).mse) < 4 * r.standard_error
    True
    """
    m, rates = _checked(metric, truth)
    how = Raw() if estimator is None else estimator
    generator = as_generator(rng)
    check_draws(draws, 2)
    if replace:
        cells = generator.multinomial(as_size(n), rates, size=draws)
    else:
        law = law_of(truth, as_size(n), "without_replacement")
        assert isinstance(truth, ConfusionMatrix)
        if truth.n > 10**9:
            raise InvalidInput("replace=False samples from at most 1e9 cases; use risk()")
        cells = generator.multivariate_hypergeometric([int(c) for c in truth.cells], law.n, size=draws)
    true_score = float(m.scores(rates))
    errors = m.scores(how.smooth(cells.astype(np.float64))) - true_score
    defined = errors[~np.isnan(errors)]
    if not len(defined):
        raise InvalidInput(f"{m.key} is undefined in all of {draws:,} simulated groups; use more draws")
    return Risk(
        metric=m,
        n=as_size(n),
        estimator=how,
        true_score=true_score,
        bias=float(defined.mean()),
        mse=float((defined**2).mean()),
        mae=float(np.abs(defined).mean()),
        p_undefined=1 - len(defined) / draws,
        method=f"{draws:,} draws",
        standard_error=float((defined**2).std() / sqrt(len(defined))),
    )


def _checked(name: str | Metric, truth: Truth) -> tuple[OneGroup, Floats]:
    m = find_metric(name).base
    if find_metric(name).comparisons:
        raise InvalidInput(f"{find_metric(name).key} compares two groups; risk() takes a metric of one group")
    rates = truth.proportions if isinstance(truth, ConfusionMatrix) else np.array(as_probabilities(truth))
    if np.isnan(m.scores(rates)):
        raise InvalidInput(f"the true {m.key} is undefined, {m.why_undefined(rates)}, so there is no error to compute")
    return m, rates


def _results(task: Task, how: Estimator, sizes: NDArray[np.int64], moments: Floats) -> list[Risk]:
    """The errors at each size, from P(defined) and the sums of errors, squared and absolute errors."""
    defined = np.maximum(moments[0], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bias, mse, mae = np.where(defined > 0, moments[1:] / defined, np.nan)
    p_undefined = np.where(defined < 1 - 1e-14, 1 - defined, 0.0)
    columns = (column.tolist() for column in (sizes, bias, mse, mae, p_undefined))
    return [
        Risk(
            metric=task.metric,
            n=n,
            estimator=how,
            true_score=task.true_score,
            bias=errors,
            mse=squares,
            mae=size,
            p_undefined=undefined,
        )
        for n, errors, squares, size, undefined in zip(*columns, strict=True)
    ]
