"""Bias, variance and mean squared error of raw and smoothed scores of ``n`` cases.

The model: ``n`` cases fall into the four cells independently, with the true rates. An estimator
adds pseudo-counts and scores the result; its error is the estimate minus the true score. Moments
are conditional on the estimate being defined, whose probability is reported, too. The exact sums:

- A score that is linear in the cells with mean s and variance v per case, smoothed by A
  pseudo-counts that score a in total, has the mean (n s + a) / (n + A) and the variance
  n v / (n + A)**2.
- A rate is linear given its denominator, so that these moments are averaged over denominators.
  Other functions of one rate, such as F1, also need a sum over the numerator.
- A score of two rates is a sum over the margin of its tree and the counts of both rows. Given the
  margin, the rows are independent, so that a sum over both is a row of probabilities times a table
  of errors times a column of probabilities. The cost is one score per matrix.

Improbable counts are left out of the sums: those with a probability below 1e-18 or, since unbounded
scores can be huge where they are improbable, below 1e-60 for them.

**Stress tests** show which strength of smoothing works best at which sample size. As in the paper's
down-sampling study, the rates of each group are the truth, the other groups are its reference, and
samples of ``n`` of its cases are smoothed. Squared errors are divided by those of raw scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from math import nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Floats, Integers
from ..confusion import CELLS, ConfusionMatrix, as_size
from ..distributions import Law, LawName, law_of, sample_cells
from ..errors import InvalidInput, TooLarge, check_cost, printable
from ..metrics import ROW_TREE, Metric, OneGroupMetric, metric as find_metric
from ..progress import progress
from ..randomness import Rng, check_draws, seed_of, streams
from ..records import Record, reach
from ..text_layout import aligned
from ..wording import several
from .score_tests import check_choice, one_group_metric
from .smoothing import CrossPrior, Estimator, Rates, Raw, rests_of

MetricLike = str | Metric
RiskMethod = Literal["exact", "montecarlo"]

_MAX_LINES, _MAX_SIZES = 20, 10_000
_STRESS_METRICS = ("acc", "ppr", "tpr", "fpr", "ppv", "f1")
# The most matrices of a sum, and if an estimator has several strengths.
_MAX_MATRICES, _MAX_SMOOTHED = 2**30, 2**23
# How many errors are computed at once.
_BLOCK = 2**15


def sample_sizes(n: int | Iterable[int]) -> list[int]:
    """Check sample sizes, of which there must be between 1 and 10,000."""
    given = n if isinstance(n, Iterable) else [n]
    sizes = [as_size(size) for size in islice(given, _MAX_SIZES + 1)]
    if not sizes:
        raise InvalidInput("`n` must contain at least one sample size")
    if len(sizes) > _MAX_SIZES:
        raise TooLarge(f"`n` must contain at most {_MAX_SIZES:,} sample sizes; choose some of them")
    return sizes


@dataclass(frozen=True, slots=True, repr=False)
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
    bias, mse : float
        The mean error and the mean squared error; also `variance` and `rmse`.
    p_undefined : float
        The probability that the estimate is undefined.
    method : {"exact", "montecarlo"}
        Whether all groups were counted, or some simulated.
    draws, rng : int or None
        The number of simulated groups, and the seed that repeats them; None if exact, or with a
        generator.
    standard_error : float
        The standard error of the mse, 0 if exact.

    Examples
    --------
    >>> r = risk("acc", [0.25, 0.25, 0.25, 0.25], n=25)
    >>> print(r)
    acc of 25 cases, raw: rmse 0.1, bias +0, sd 0.1, undefined 0%
    """

    metric: OneGroupMetric
    n: int
    estimator: Estimator
    true_score: float
    bias: float
    mse: float
    p_undefined: float
    method: RiskMethod = "exact"
    draws: int | None = None
    rng: int | None = None
    standard_error: float = 0.0
    _derived = ("variance", "rmse")

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
        # Adding 0 turns -0 into 0.
        bias, sd = round(self.bias, 12) + 0.0, sqrt(self.variance)
        text = f"{self.metric.key} of {several(self.n, 'case')}, {self.estimator.label}: "
        text += f"rmse {self.rmse:.4g}, bias {bias:+.4g}, sd {sd:.4g}, "
        text += f"undefined {100 * self.p_undefined:.3g}%"
        simulated = f", {self.draws or 0:,} draws (standard error {self.standard_error:.2g})"
        return text + simulated if self.draws else text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Risks(Record, Sequence[Risk]):
    """The errors of several estimates: a sequence by metric, then estimator, then sample size.

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

    def __getitem__(self, index: Any) -> Any:
        selected = self.risks[index]
        return selected if isinstance(selected, Risk) else Risks(risks=selected)

    def __len__(self) -> int:
        return len(self.risks)

    def plot(self, ax: Any = None) -> Any:
        """Plot mean squared errors against sample sizes (extra ``plots``).

        One line per metric and estimator.

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
        keys = ", ".join(dict.fromkeys(r.metric.key for r in self))
        lines = [f"{several(len(self), 'error')} of {keys}", *map(str, self.risks[:_MAX_LINES])]
        if len(self) > _MAX_LINES:
            lines.append(f"and {len(self) - _MAX_LINES:,} more")
        return "\n  ".join(lines)


def risk(
    metric: MetricLike | Sequence[MetricLike],
    truth: Rates,
    n: int | Iterable[int],
    estimator: Estimator | Sequence[Estimator] | None = None,
    *,
    method: RiskMethod = "exact",
    draws: int = 100_000,
    rng: Rng = 0,
    replace: bool = True,
) -> Any:
    """Bias, variance and mean squared error of an estimator for groups of ``n`` cases.

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
        Count all groups, or simulate some. A simulation has a standard error.
    draws : int
        The number of simulated groups per metric, estimator and size.
    rng : int, numpy.random.Generator or None
        The seed or generator of a simulation.
    replace : bool
        Whether a simulation samples with replacement. Without, it samples the cases of ``truth``.

    Returns
    -------
    Risk or Risks
        One error, or a sequence of them if there are several metrics, estimators or sizes. A
        single estimate that is never defined is refused; among several, its errors are nan.

    Examples
    --------
    Two cases, four equally likely cells: TPR is defined in 12 of 16 ways; it is 0 in 5, 1 in 5,
    and correct in 2 of them.

    >>> r = risk("tpr", [0.25, 0.25, 0.25, 0.25], n=2)
    >>> round(12 * r.mse / 0.25, 9), round(r.bias, 9), round(r.p_undefined, 9)
    (10.0, 0.0, 0.25)

    Several sizes:

    >>> [round(r.mse, 4) for r in risk("acc", [0.25, 0.25, 0.25, 0.25], n=[10, 20, 40])]
    [0.025, 0.0125, 0.0063]
    """
    check_choice("method", method, RiskMethod)
    metrics = [metric] if isinstance(metric, (str, Metric)) else list(metric)
    is_list = isinstance(estimator, (list, tuple))
    estimators: Any = estimator if is_list else [estimator or Raw()]
    for value in estimators:
        if not isinstance(value, Estimator):
            must = "be Raw(), Additive(…) or CrossPrior(…)"
            raise InvalidInput(argument="estimator", must=must, got=value)
    sizes = sample_sizes(n)
    targets = [_find_target(name, truth) for name in metrics]
    if method == "exact":
        risks = tuple(chain(*(_exact_risks(t, estimators, sizes) for t in targets)))
    else:
        law: LawName = "multinomial" if replace else "without_replacement"
        laws = [law_of(truth, size, law) for size in sizes]
        cases = list(product(targets, estimators, laws))
        risks = tuple(_simulate_risks(cases, check_draws(draws, 2), rng))
    if isinstance(n, Iterable) or is_list or metrics != [metric]:
        return Risks(risks=risks)
    (single,) = risks
    if single.p_undefined == 1:
        score = f"{single.estimator.label} {single.metric.key}"
        raise InvalidInput(f"{score} is never defined at n = {single.n}; use a larger `n`")
    return single


class _Target(NamedTuple):
    """A metric to estimate, the law of a single case, and the true score."""

    metric: OneGroupMetric
    law: Law
    true_score: float

    def risk(self, estimator: Estimator, n: int, moments: Floats, *facts: Any) -> Risk:
        """The risk from P(defined), E[error; defined] and E[error**2; defined]."""
        defined = float(moments[0])
        bias, mse = (moments[1:] / defined).tolist() if defined > 0 else (nan, nan)
        p_undefined = 1 - defined if defined < 1 - 1e-14 else 0.0
        errors = self.true_score, bias, mse, p_undefined
        return Risk(self.metric, n, estimator, *errors, *facts)

    def list_counts(
        self, sizes: Integers, part: Sequence[str], whole: Sequence[str] = CELLS
    ) -> tuple[Integers, Integers, Floats]:
        """The likely counts of a split: the index of the size, the count and its probability."""
        split, least = self.law.split(part, whole), self.negligible
        table = split.table(sizes.astype(np.float64), least)
        row, column = np.nonzero(table.pmf > least)
        counts = table.start[row].astype(np.int64) + column
        return row, counts, table.pmf[row, column]

    @property
    def negligible(self) -> float:
        """The largest probability that is left out of sums."""
        return 1e-60 if self.metric.is_unbounded else 1e-18

    def error_powers(self, estimator: Estimator, columns: Any) -> Floats:
        """For cells, 1, the error and its square along the first axis; 0 where undefined."""
        cells = np.stack(np.broadcast_arrays(*columns), axis=-1)
        columns = np.moveaxis(estimator.smooth(cells), -1, 0)
        is_defined = ~self.metric.undefined_sets[0].contains(*columns)
        # Tiny pseudo-counts can make a score so large that its square is infinite.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            errors = self.metric.score(*columns) - self.true_score
            errors = np.where(is_defined, errors, 0.0)
            return np.stack([is_defined, errors, errors**2])


#: What is simulated: an estimator of a score, from groups with a law.
Case = tuple[_Target, Estimator, Law]


def _find_target(name: MetricLike, truth: Rates) -> _Target:
    """Look up a metric, which must be defined at the true rates."""
    metric, law = one_group_metric(name), law_of(truth, 1)
    true_score = float(metric.scores(np.array(law.weights)))
    if np.isnan(true_score):
        reason = metric.why_undefined(law.weights)
        raise InvalidInput(f"the true {metric.key} is undefined, {reason}")
    return _Target(metric, law, true_score)


def _simulate_risks(cases: list[Case], draws: int, rng: Rng) -> Iterator[Risk]:
    """The errors of random groups, of which each case has its own."""
    streams_of_cases = streams(rng, len(cases))
    for (target, estimator, law), stream in zip(cases, streams_of_cases, strict=True):
        cells = sample_cells(ROW_TREE, law, stream, draws)
        powers = target.error_powers(estimator, cells.T)
        squares = powers[2, powers[0] > 0]
        error = float(squares.std()) / sqrt(len(squares)) if len(squares) else nan
        facts = "montecarlo", draws, seed_of(rng), error
        yield target.risk(estimator, law.n, powers.mean(axis=1), *facts)


def _exact_risks(target: _Target, estimators: list[Any], sizes: list[int]) -> Iterator[Risk]:
    """The exact errors of several estimators and sizes."""
    distinct, place = np.unique(np.array(sizes, dtype=np.int64), return_inverse=True)
    has_one_rate = target.metric.linear is not None or target.metric.curve is not None
    is_fixed = all(estimator.pseudo_counts is not None for estimator in estimators)
    sum_moments = _sum_rate if has_one_rate and is_fixed else _sum_rows
    totals = zip(estimators, sum_moments(target, distinct, estimators), strict=True)
    for (estimator, moments), i in product(totals, place):
        yield target.risk(estimator, int(distinct[i]), moments[:, i])


def _sum_rate(target: _Target, sizes: Integers, estimators: list[Any]) -> Floats:
    """The moments of a linear score, or of a score of one rate: means over its denominators."""
    metric, tree = target.metric, target.metric.tree
    whole = tree.margin if metric.linear is None else CELLS
    row, count, pmf = target.list_counts(sizes, whole)
    n, column = np.unique(count, return_inverse=True)
    totals = []
    for estimator in estimators:
        if metric.linear or metric.is_rate:
            given = _rate_moments(target, n, estimator.pseudo_counts)
        else:
            size_of, last, p_last = target.list_counts(n, tree.last, tree.last_of)
            cells = tree.columns(n[size_of], n[size_of], 0, last)
            powers = p_last * target.error_powers(estimator, cells)
            given = np.stack([np.bincount(size_of, power) for power in powers])
        totals.append([np.bincount(row, moment) for moment in pmf * given[:, column]])
    return np.array(totals)


def _rate_moments(target: _Target, n: Integers, added: Floats) -> Floats:
    """The moments of a quotient of sums of cells, given its denominator ``n``."""
    quotient = target.metric.quotient or (target.metric.linear, [1.0] * 4)
    numerator, denominator = np.array(quotient)
    # The variance of a case in the denominator, and what pseudo-counts add.
    weights = denominator * target.law.weights
    deviations = numerator - target.true_score * denominator
    variance, total = weights @ deviations**2 / weights.sum(), n + denominator @ added
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = deviations @ added / total
        squares = n * variance / total / total + errors**2
    return np.where(total > 0, [total > 0, errors, squares], 0.0)


def _sum_rows(target: _Target, sizes: Integers, estimators: list[Any]) -> Floats:
    """The moments of a score of two rates: sums over the margin and the counts of both rows.

    Given the margin, there is a table with the counts of one row down the side, and those of the
    other row, for all sizes, along the top.
    """
    tree = target.metric.tree if target.metric.tree.side else ROW_TREE
    size_of, margin_of, p_margin = target.list_counts(sizes, tree.margin)
    margins, row = np.unique(margin_of, return_inverse=True)
    rests, column = np.unique(sizes[size_of] - margin_of, return_inverse=True)
    side_of, side, p_side = target.list_counts(margins, tree.side, tree.margin)
    rest_of, last, p_last = target.list_counts(rests, tree.last, tree.last_of)
    matrices = float(np.bincount(side_of)[row] @ np.bincount(rest_of)[column])
    subject = f"the exact error of {target.metric.key} at n = {sizes[-1]:,} is a sum over"
    is_fixed = all(estimator.pseudo_counts is not None for estimator in estimators)
    limit = _MAX_MATRICES if is_fixed else _MAX_SMOOTHED
    check_cost(matrices, limit, f"{subject} {{}} matrices", "use `method='montecarlo'`")
    # The probability of a margin, given the rest and so the size.
    chance = np.zeros((len(margins), len(rests)))
    chance[row, column] = p_margin
    total = np.zeros((len(estimators), 3, len(sizes)))
    for i, margin in enumerate(progress(margins.tolist(), "computing risks")):
        weight = p_last * chance[i, rest_of]
        is_likely = p_side * weight.max() > target.negligible
        sides = np.flatnonzero((side_of == i) & is_likely)
        columns = np.flatnonzero(weight > target.negligible)
        for block in np.array_split(columns, 1 + len(columns) * len(sides) // _BLOCK):
            n = margin + rests[rest_of[block]]
            cells = tree.columns(n, margin, side[sides, None], last[block])
            size = np.searchsorted(sizes, n)
            for estimator, sums in zip(estimators, total, strict=True):
                powers = p_side[sides] @ target.error_powers(estimator, cells)
                moments = weight[block] * powers
                sums += [np.bincount(size, moment, len(sizes)) for moment in moments]
    return total


# Stress tests


@dataclass(frozen=True, slots=True, repr=False)
class StressRow(Record):
    """One strength at one size: squared errors relative to those of the raw scores, over all groups and metrics.

    Attributes
    ----------
    n : int
        The sample size.
    strength : float
        The strength.
    mean_ratio, worst_ratio : float
        The mean and the largest ratio of the smoothed to the raw mean squared error.
    worst_group, worst_metric : str
        Where the largest ratio occurs.
    spoiled : int
        How many scores have an error only after smoothing; they have no ratio.
    """

    n: int
    strength: float
    mean_ratio: float
    worst_ratio: float
    worst_group: str
    worst_metric: str
    spoiled: int

    def __str__(self) -> str:
        ratios = f"{self.mean_ratio:.2f} on average, {self.worst_ratio:.2f} at worst"
        return f"λ = {self.strength:g} at n = {self.n}: {ratios}"


@dataclass(frozen=True, slots=True, repr=False)
class StressTest(Record):
    """The result of `stress_test`: the error of each strength at each sample size.

    Attributes
    ----------
    rows : tuple of StressRow
        One row per size and strength.
    risks : dict of str to tuple of Risk
        All exact errors, by group.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> test = stress_test(compas(), metrics=["acc", "ppr"], n=[10], strengths=[5, 20])
    >>> print(test.rows[0])
    λ = 5 at n = 10: 0.61 on average, 0.91 at worst
    """

    rows: tuple[StressRow, ...]
    risks: Mapping[str, tuple[Risk, ...]]

    def best(self, n: int) -> StressRow:
        """The row with the smallest mean error at a sample size.

        Parameters
        ----------
        n : int
            One of the sample sizes.

        Returns
        -------
        StressRow
            The row.

        Examples
        --------
        >>> from evenhand.examples import compas
        >>> stress_test(compas(), metrics=["acc", "ppr"], n=[10], strengths=[5, 20]).best(10).strength
        5
        """
        rows = [row for row in self.rows if row.n == n]
        if not rows:
            sizes = sorted({row.n for row in self.rows})
            raise InvalidInput(argument="n", must=f"be one of {sizes}", got=n)
        return min(rows, key=lambda row: row.mean_ratio)

    def curve(self, strength: float) -> list[tuple[int, float]]:
        """Mean error relative to raw scores, by sample size.

        Parameters
        ----------
        strength : float
            One of the strengths.

        Returns
        -------
        list of (int, float)
            Sample sizes and mean ratios.

        Examples
        --------
        >>> from evenhand.examples import compas
        >>> test = stress_test(compas(), metrics=["acc", "ppr"], n=[10, 100], strengths=[20])
        >>> [(n, round(ratio, 2)) for n, ratio in test.curve(20)]
        [(10, 0.77), (100, 1.11)]
        """
        return [(row.n, row.mean_ratio) for row in self.rows if row.strength == strength]

    def __str__(self) -> str:
        strengths = sorted({row.strength for row in self.rows})
        rows = {(row.n, row.strength): row for row in self.rows}
        table = [["n", *(f"λ = {strength:g}" for strength in strengths)]]
        for n in sorted({n for n, _ in rows}):
            line = [rows[n, strength] for strength in strengths]
            table.append([str(n), *(f"{r.mean_ratio:.2f} ({r.worst_ratio:.2f})" for r in line)])
        worst = max(self.rows, key=lambda row: row.worst_ratio)
        score = f"{worst.worst_metric} of {printable(worst.worst_group)}"
        where = f"λ = {worst.strength:g} at n = {worst.n}, {score}"
        lines = ["Squared error relative to the raw score: mean (worst) over groups and metrics"]
        lines += aligned(table, right=range(len(table[0])), between="   ")
        lines += [f"Worst: {where}, {worst.worst_ratio:.2f} times the raw error"]
        if spoiled := sum(row.spoiled for row in self.rows):
            lines += [f"Scores with an error only after smoothing, left out: {spoiled}"]
        return "\n".join(lines)


def stress_test(
    groups: Mapping[str, ConfusionMatrix],
    metrics: Sequence[MetricLike] = _STRESS_METRICS,
    n: Iterable[int] = (10, 20, 50, 100),
    strengths: Sequence[float] = (5.0, 10.0, 20.0, 40.0),
) -> StressTest:
    """Compute the exact error of smoothing samples of ``n`` cases of each group.

    The rates of the whole group are the truth, and the rest of the groups is its reference. A metric is left out for
    groups for which it is undefined, and for sizes at which the raw score is never defined.

    Parameters
    ----------
    groups : mapping of name to ConfusionMatrix
        The groups.
    metrics : sequence of str or Metric
        Metrics of one group.
    n : iterable of int
        Sample sizes.
    strengths : sequence of float
        Strengths to compare.

    Returns
    -------
    StressTest
        Prints as a table.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> test = stress_test(compas(), metrics=["acc", "ppr"], n=[10], strengths=[5, 20])
    >>> [(row.strength, round(row.mean_ratio, 2)) for row in test.rows]
    [(5, 0.61), (20, 0.77)]
    """
    references, sizes = rests_of(groups), sample_sizes(n)
    if not groups or not strengths:
        raise InvalidInput("`groups` and `strengths` must not be empty")
    risks, scores = {}, []
    for name in progress(list(groups), "stress test"):
        cm, prior = groups[name], references[name]
        defined = [m for m in map(find_metric, metrics) if cm.n and not np.isnan(m(cm))]
        estimators = [Raw(), *(CrossPrior(prior, strength) for strength in strengths)]
        risks[name] = risk(defined, cm, sizes, estimators).risks
        scores += [(name, m.key) for m in defined]
    mse = np.array([r.mse for r in chain(*risks.values())])
    mse = mse.reshape(len(scores), 1 + len(strengths), len(sizes))
    rows = []
    for size, (raw, *smoothed) in zip(sizes, mse.transpose(2, 1, 0), strict=True):
        has_error = np.flatnonzero(raw > 0)
        if not len(has_error):
            raise InvalidInput(f"no raw score has an error at n = {size}; use other `metrics`")
        for strength, errors in zip(strengths, smoothed, strict=True):
            ratios = errors[has_error] / raw[has_error]
            worst = ratios.argmax()
            spoiled = int(((raw == 0) & (errors > 0)).sum())
            mean, highest, where = (
                float(ratios.mean()),
                float(ratios[worst]),
                scores[has_error[worst]],
            )
            rows.append(StressRow(size, strength, mean, highest, where[0], where[1], spoiled))
    return StressTest(tuple(rows), risks)
