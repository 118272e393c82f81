"""The MATCH test: whether a group could be a random sample like the reference.

The null hypothesis is that the group's cases have the reference's cell probabilities. The test
statistic is the score S of a metric, and the p-value the probability of a score at least as extreme,
given that it is defined. What is known of the probabilities distinguishes three nulls:

- ``pooled``: group and reference share them, and they are unknown. Given the pooled counts, the
  group is a random subset of the pooled cases, so that its cells are multivariate hypergeometric,
  whatever the probabilities are. The test has its level at any size: P(p <= α) <= α. For a rate
  given its denominator it is Fisher's exact test.
- ``known``: they are the reference's proportions, and the cells are multinomial. This is the paper's
  test, which rejects too often unless the reference is much larger than the group (E13).
- ``predictive``: the reference's counts are evidence of them; the cells are Dirichlet-multinomial.

Tails are exact: one hypergeometric, binomial or beta-binomial sum for a rate given its denominator,
O(√n) of them for a rate given only n, and O(n) for a score of two rates such as MCC given the actual
positives. A comparison of two groups is a function of the group's cells too, since under the pooled
null the reference has all other cases; its scores are listed. Scores of K classes are exact where
they depend only on the number of correct cases or on a 2x2 matrix; others are simulated.

For a share, and for a rate given its denominator, the null is that the two scores are equal. For
MCC, kappa and other scores of several rates it is more than that (E30); `disparity` tests for equal
scores.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from ..arrays import Floats, Integers
from ..confusion import (
    ConfusionMatrix,
    MulticlassConfusion,
    require_cases,
    require_counts,
    require_same_labels,
)
from ..distributions import (
    OneGroupDistribution,
    Tails,
    Threshold,
    approximate_tails,
    as_prior,
    extreme_cells,
    law_of,
    listed_tails,
    observed_threshold,
    pooled_undefined_probability,
    sample_cells,
    score_tails,
    undefined_probability_of,
)
from ..errors import InvalidInput, UnknownName, brief, check_cost, printable
from ..metrics import (
    Average,
    ClassAverage,
    Metric,
    Undefined,
    class_average_of,
    metric as find_metric,
    sum_cells,
)
from ..randomness import Rng, check_draws, generator, reaches, seed_of
from ..records import Record, reach
from ..wording import pvalue as format_pvalue
from .score_tests import Alternative

NullName = Literal["pooled", "known", "predictive"]
Given = Literal["margin", "n"]
Method = Literal["exact", "normal", "beta", "montecarlo"]
_CHOICES = {"alternative": Alternative, "null": NullName, "given": Given, "method": Method}
# The law of the group's cells under each null.
_LAWS: Any = {"pooled": "without_replacement", "known": "multinomial", "predictive": "predictive"}

# Larger groups can attain any usual level, and their most extreme outcomes are costly to compute.
_MAX_SMALLEST = 5_000
# Pooled cases; counts of all simulated matrices, and of those that are simulated at once.
_MAX_POOLED, _MAX_COUNTS, _BLOCK = 10**9, 2**28, 2**21
# With at least so many counts, sampling one count takes as long as sampling so many cases.
_MANY_COUNTS, _CASES_PER_COUNT = 64, 6


def match_test(
    cm: ConfusionMatrix | MulticlassConfusion,
    reference: Any,
    metric: str | Metric,
    *,
    average: Average | None = None,
    label: Hashable = None,
    undefined: Undefined = "propagate",
    alternative: Alternative = "two-sided",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    method: Method = "exact",
    prior: float = 0.5,
    rng: Rng = 0,
    draws: int = 10_000,
) -> MatchResult:
    """Test whether a group could be a random sample like the reference, by a score.

    Parameters
    ----------
    cm : ConfusionMatrix or MulticlassConfusion
        The group's counts.
    reference : ConfusionMatrix, MulticlassConfusion or four probabilities
        The counts or cell probabilities to compare with; probabilities are taken as known.
        Matrices of K classes must have the same labels.
    metric : str or Metric
        Any metric of the catalogue. A metric of two groups compares the group with the reference.
    average, label, undefined
        What is scored of K classes, as in a call of a `Metric`.
    alternative : {"two-sided", "less", "greater"}
        Which scores are extreme. The two-sided p-value is twice the smaller tail, at most 1; for
        a distance such as equalized odds, it is the upper tail.
    null : {"pooled", "known", "predictive"}
        ``"pooled"``: group and reference share unknown probabilities. ``"known"``: the
        reference's proportions are the probabilities; with ``given="n"`` this is the paper's test.
        ``"predictive"``: the reference's counts are evidence of the probabilities.
    given : {"margin", "n"}
        Condition on the observed denominator of the rate (of a gap, on that of the group's rate;
        of markedness on the predicted, of other scores of two rates on the actual positives; of
        shares of all cases, such as accuracy, of marginal benefit and of scores of all classes at
        once on ``n`` alone), or only on ``n``.
    mid_p : bool
        Count half of the probability of the observed score: less conservative, but the level is no
        longer guaranteed.
    method : {"exact", "normal", "beta", "montecarlo"}
        Exact sums; the paper's normal (shares, marginal benefit) or beta (ratios) approximation,
        corrected (E7, E10); or simulation. Averages over classes, and mcc and kappa of more than
        two, are simulated if they have no exact test; the result says so.
    prior : float
        Pseudo-counts per cell added to the reference under ``null="predictive"``.
    rng : int, numpy.random.Generator or None
        The source of random numbers, for simulations.
    draws : int
        The number of simulated groups. A simulated p-value is (r + 1) / (B + 1), doubled if
        two-sided, for r of B groups with a defined score that is at least as extreme.

    Returns
    -------
    MatchResult
        If the score is undefined, the p-value is nan and ``reason`` says why.

    Examples
    --------
    The paper's example: 80 of 100 correct, against a known accuracy of 0.75.

    >>> from evenhand import ConfusionMatrix, MulticlassConfusion
    >>> r = match_test(ConfusionMatrix(tp=80, fn=20, fp=0, tn=0), [0.75, 0.25, 0, 0], "acc")
    >>> r.percentile
    0.900469589894...

    None of 2 positives detected, against 300 of 400. This is Fisher's exact test:

    >>> group = ConfusionMatrix(tp=0, fn=2, fp=8, tn=30)
    >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    >>> r = match_test(group, rest, "tpr", alternative="less")
    >>> round(r.pvalue, 4)
    0.0639

    Three classes:

    >>> group = MulticlassConfusion.from_array([[1, 3, 0], [2, 2, 1], [0, 1, 1]])
    >>> rest = MulticlassConfusion.from_array([[40, 5, 5], [4, 40, 6], [5, 5, 40]])
    >>> match_test(group, rest, "acc").method
    'exact'
    >>> match_test(group, rest, "f1", average="macro").method
    'montecarlo'
    """
    m = find_metric(metric)
    settings = MatchSettings(alternative, null, given, mid_p, method, prior, rng, draws)
    if not isinstance(cm, MulticlassConfusion) and average is None and label is None:
        return _match_binary(cm, reference, m, settings)
    class_average: Any = class_average_of(m, [cm], average, label, undefined)
    return match_many(cm, reference, [class_average], settings)[0]


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """What the test assumes and computes: arguments of `match_test`, checked."""

    alternative: Alternative = "two-sided"
    null: NullName = "pooled"
    given: Given = "margin"
    mid_p: bool = False
    method: Method = "exact"
    prior: float = 0.5
    rng: Rng = 0
    draws: int = 10_000

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in get_args(choices):
                raise UnknownName.among(name, getattr(self, name), get_args(choices))
        if self.null == "predictive":
            as_prior(self.prior)

    def result(self, facts: dict[str, Any]) -> MatchResult:
        """A result with these settings, unless the facts say otherwise."""
        names = (*_CHOICES, "mid_p")
        return MatchResult(**{name: getattr(self, name) for name in names} | facts)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MatchResult(Record):
    """The result of `match_test`.

    Attributes
    ----------
    metric : Metric
        The metric.
    average, label
        The average over classes, or the class against the rest; None if there is none.
    statistic : float
        The group's score; nan if undefined.
    reference_score : float
        The reference's score.
    percentile : float
        P(S <= statistic) under the null given that the score is defined, from 0 to 1: the output
        of the paper (Sample-Size-Induced Bias Within Classification Metrics, AISTATS 2025).
    pvalue : float
        The p-value; nan if the score is undefined or could not be tested.
    alternative, null, given, mid_p
        As passed to `match_test`; ``null`` is ``"known"`` if the reference is four probabilities.
    n, reference_n : int
        The number of cases of the group and of the reference; None for a reference without counts.
    denominator : int or None
        The observed denominator, if the test conditions on it.
    p_undefined : float
        The probability of an undefined score, given only ``n``; simulated if the test is, for
        several classes.
    reason : str or None
        Why the score is undefined or was not tested; None if there is a p-value.
    method : {"exact", "normal", "beta", "montecarlo"}
        How the p-value was computed.
    error : float
        A bound on the error of the p-value (exact) or its standard error (Monte Carlo); nan for
        the approximations.
    draws, rng : int or None
        The number of simulated groups and their seed; None if nothing was simulated. ``rng`` is
        also None if it was a generator or None.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix, match_test
    >>> group = ConfusionMatrix(tp=0, fn=2, fp=8, tn=30)
    >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    >>> r = match_test(group, rest, "tpr")
    >>> r.statistic, r.reference_score, round(r.pvalue, 4)
    (0.0, 0.75, 0.1278)
    """

    metric: Metric
    statistic: float
    reference_score: float
    alternative: Alternative
    null: NullName
    given: Given
    mid_p: bool
    n: int
    reference_n: int | None
    p_undefined: float
    reason: str | None
    method: Method
    percentile: float = nan
    pvalue: float = nan
    error: float = 0.0
    denominator: int | None = None
    average: Average | None = None
    label: Any = None
    draws: int | None = None
    rng: int | None = None
    _null: NullDistribution | None = None
    _derived: ClassVar[tuple[str, ...]] = ("expected", "smallest_pvalue")

    @property
    def name(self) -> str:
        """What was tested: the key of the metric, with the average or the class.

        Examples
        --------
        >>> from evenhand import MulticlassConfusion, match_test
        >>> cm = MulticlassConfusion.from_array([[3, 1], [2, 4]])
        >>> match_test(cm, cm, "f1", average="micro").name
        'micro f1'
        >>> match_test(cm, cm, "tpr", label=1).name
        'tpr of 1 against the rest'
        """
        if self.label is not None:
            return f"{self.metric.key} of {self.label!r} against the rest"
        return f"{self.average} {self.metric.key}" if self.average else self.metric.key

    @property
    def distribution(self) -> NullDistribution:
        """The distribution of the score under the null, given the denominator if the test is.

        Scores of several classes at once have none.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> group = ConfusionMatrix(tp=0, fn=2, fp=8, tn=30)
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> match_test(group, rest, "tpr").distribution.support
        array([0. , 0.5, 1. ])
        """
        if self._null is None:
            raise InvalidInput(f"{self.name} has no distribution; pass a class as `label=`")
        return self._null

    @property
    def expected(self) -> float:
        """The expected score under the null, given that it is defined.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> group = ConfusionMatrix(tp=0, fn=2, fp=8, tn=30)
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> round(match_test(group, rest, "tpr").expected, 4)
        0.7463
        """
        return nan if self._null is None or self.p_undefined == 1 else self._null.mean

    @property
    def smallest_pvalue(self) -> float:
        """The smallest attainable p-value; if it exceeds the level, the test can never reject.

        Examples
        --------
        >>> from evenhand import ConfusionMatrix, match_test
        >>> group = ConfusionMatrix(tp=0, fn=2, fp=8, tn=30)
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> round(match_test(group, rest, "tpr").smallest_pvalue, 4)
        0.1278
        """
        if self._null is None or isnan(self.pvalue):
            return nan
        return self._null.smallest_pvalue(self)

    def plot(self, ax: Any = None) -> Any:
        """Plot the null distribution, with the observed score and its tail shaded (extra ``plots``).

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
        >>> from evenhand import ConfusionMatrix, match_test
        >>> group = ConfusionMatrix(tp=0, fn=2, fp=8, tn=30)
        >>> rest = ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
        >>> ax = match_test(group, rest, "tpr").plot()
        """
        if isnan(self.pvalue):
            raise InvalidInput(f"{self.name} has no p-value to plot: {self.reason}")
        return reach("MatchResult.plot")(self, ax=ax)

    def __str__(self) -> str:
        score = "undefined" if isnan(self.statistic) else f"{self.statistic:.4g}"
        text = f"MATCH test of {printable(self.name)}: {score}"
        if self.reason:
            return f"{text}, {printable(self.reason)}"
        if not self.metric.comparisons:
            text += f" against {self.reference_score:.4g}"
        size = self.denominator
        margin = "n" if size is None else f"a denominator of {size:,}"
        test = f"{self.alternative}{', mid-p' * self.mid_p}, {self.null} null given {margin}"
        error = f", standard error {self.error:.2g}" if self.draws else ""
        text += f", p {format_pvalue(self.pvalue)} ({test}, {self.method}{error})"
        is_small = self.null == "known" and (self.reference_n or inf) < 10 * self.n
        return text + "; rejects too often, as the reference has < 10 n cases" * is_small


# The null distribution


@dataclass(frozen=True, slots=True)
class NullDistribution(OneGroupDistribution):
    """The distribution of a group's score under a null, given that it is defined.

    With a ``margin``, also given that denominator.
    """

    name: NullName = "pooled"
    reference_cells: tuple[float, ...] = ()

    @classmethod
    def of(cls, cm: Any, reference: Any, metric: Metric, settings: MatchSettings) -> Self:
        """The null for a group with counts ``cm`` and a reference."""
        cells, name = require_counts(cm, "the group"), settings.null
        has_counts = isinstance(reference, ConfusionMatrix)
        if name == "pooled" and has_counts:
            require_counts(reference, "the reference")
        elif name == "pooled":
            name = "known"
        require_cases(reference)
        if not has_counts and (name == "predictive" or metric.comparisons):
            subject = "`null='predictive'`" if name == "predictive" else metric.key
            raise InvalidInput(f"{subject} needs the reference as a ConfusionMatrix")
        population = cm + reference if name == "pooled" else reference
        law = law_of(population, int(cm.n), _LAWS[name], prior=settings.prior)
        has_margin = metric.is_distance or metric.base.denominator is not None
        is_given = has_margin and settings.given == "margin"
        margin = float(metric.tree.counts(cells)[0]) if is_given else None
        others = reference.cells if has_counts else tuple(law.rates.tolist())
        return cls(metric, law, margin, name, others)

    def scores(self, cells: Floats) -> Floats:
        """The scores of groups; under the pooled null, the reference has all other cases."""
        if not self.metric.comparisons:
            return self.metric.scores(cells)
        is_pooled = self.name == "pooled"
        others = np.array(self.law.weights if is_pooled else self.reference_cells)
        others = self.metric.tree.collapse(others)
        return self.metric.scores(cells, others - cells if is_pooled else others)

    @property
    def p_undefined(self) -> float:
        """The probability that the score is undefined, given only ``n``."""
        group, *reference = self.metric.undefined_sets
        if self.name != "pooled" or not reference:
            others = np.array(self.reference_cells)
            lacks_score = any(undefined.contains(*others) for undefined in reference)
            return 1.0 if lacks_score else undefined_probability_of(group, self.law)
        if not group.undefined_at_equal_rates:
            return pooled_undefined_probability(group, reference[0], self.law)
        tails = listed_tails(self.scores, self.metric.tree, self.law, 0.0, relative=False)
        return max(0.0, 1 - tails.defined)

    def observed_tails(self, cm: ConfusionMatrix, **accuracy: bool) -> Tails:
        """The probability below, at and above the group's score; nan if that is undefined.

        A rate given its denominator, or its difference between group and reference, rises with the
        count of the last split, and all other counts that it depends on are given. Scores of one
        group are compared as exact fractions.
        """
        m, tree, cells = self.metric, self.metric.tree, cm.to_array()
        score = Threshold(float(self.scores(tree.collapse(cells))))
        if isnan(score.value):
            return Tails(nan, nan, nan, nan, 0.0)
        is_rate = m.base.curve is not None and m.base.defined_by_denominator
        is_given = self.margin is not None or not tree.margin
        if not (is_rate and is_given) or m.is_distance or m.kind == "ratio":
            exact = score if m.comparisons else observed_threshold(m.base, cells)
            return self.tails(exact, **accuracy)
        margin, _, last = tree.counts(cells * 1.0)
        sizes = np.full(3, tree.last_size(self.law.n, margin))
        low, high = np.array([[-inf, last, last + 1], [last - 1, last, inf]])
        split = self.law.split(tree.last, tree.last_of)
        below, at, above = split.interval_sum(low, high, sizes).tolist()
        return Tails(below, at, above, 1.0, 0.0)

    def tails(self, score: Threshold, **accuracy: bool) -> Tails:
        """The probability below, at and above a score."""
        m, law, margin = self.metric, self.law, self.margin
        if not m.comparisons:
            return score_tails(m.base, law, score, margin, **accuracy)
        return listed_tails(self.scores, m.tree, law, score.value, margin, **accuracy)

    def _tails(self, x: float, point: bool = False, relative: bool = True) -> tuple[float, ...]:
        tails = self.tails(Threshold(x), point=point, relative=relative)
        return tails.below, tails.at, tails.above

    def smallest_pvalue(self, test: MatchSettings | MatchResult) -> float:
        """The smallest attainable p-value: that of the lowest or of the highest score."""
        subject = "the smallest attainable p-value is a search over {} cases"
        size = self.law.n if self.margin is None else int(self.margin)
        check_cost(size, _MAX_SMALLEST, subject, "larger groups attain any level")
        if self.metric.comparisons:
            ends = self.support[[0, -1]]
        else:
            ends = self.scores(extreme_cells(self.metric.base, self.law, self.margin))
        tails = [self.tails(Threshold(end), point=True) for end in ends.tolist()]
        return min(find_pvalue(each, self.metric, test)[0] for each in tails)

    def check_possible(self, cm: ConfusionMatrix, tails: Tails) -> None:
        """Raise an error if known rates rule out the group's score.

        A probability that is too small for a float does not mean that a score is impossible.
        """
        tree, cells, rates = self.metric.tree, cm.to_array(), self.law.rates
        parts = tree.merged_cells
        if tails.at > 0:
            parts = (tree.margin if tree.side else (), tree.last_of)
        is_ruled_out = any(sum_cells(cells, p) > 0 == sum_cells(rates, p) for p in parts)
        if self.name == "known" and is_ruled_out:
            text = "the group has cases where the reference has none"
            raise InvalidInput(f"{text}; use counts and `null='pooled'` or `null='predictive'`")


# Two classes


def _match_binary(cm: Any, reference: Any, metric: Metric, settings: MatchSettings) -> MatchResult:
    """The test of a 2x2 matrix."""
    null = NullDistribution.of(cm, reference, metric, settings)
    law, margin, reference_n = null.law, null.margin, getattr(reference, "n", None)
    cells, others = np.array([cm.cells, null.reference_cells], dtype=np.float64)
    groups = (cells, others)[: metric.groups]
    statistic = float(metric.scores(*groups))
    facts = {
        "metric": metric,
        "null": null.name,
        "statistic": statistic,
        "reference_score": 0.0 if metric.is_distance else float(metric.base.scores(others)),
        "n": law.n,
        "reference_n": None if reference_n is None else int(reference_n),
        "denominator": None if margin is None else int(margin),
        "p_undefined": null.p_undefined,
        "reason": metric.why_undefined(*groups) if isnan(statistic) else None,
        "_null": null,
    }
    if isnan(statistic):
        return settings.result(facts)
    if settings.method == "montecarlo":
        draws, rng = check_draws(settings.draws), generator(settings.rng)
        scores = null.scores(sample_cells(metric.tree, law, rng, draws, margin))
        return settings.result(facts | compare_with_draws(scores, statistic, metric, settings))
    if settings.method == "exact":
        tails = null.observed_tails(cm)
        null.check_possible(cm, tails)
    else:
        tails = approximate_tails(settings.method, metric, law, cells, margin)
    return settings.result(facts | compare_with_tails(tails, metric, settings))


# Several classes


def match_many(
    cm: Any, reference: Any, averages: Sequence[ClassAverage], settings: MatchSettings
) -> list[MatchResult]:
    """Test several scores of a K x K matrix; those that are simulated share their draws.

    >>> from evenhand.metrics import class_average, metric
    >>> cm = MulticlassConfusion.from_array([[3, 1], [2, 4]])
    >>> acc = class_average(metric("acc"), cm.labels)
    >>> macro_f1 = class_average(metric("f1"), cm.labels, "macro")
    >>> results = match_many(cm, cm, [acc, macro_f1], MatchSettings(draws=100))
    >>> [result.method for result in results]
    ['exact', 'montecarlo']
    """
    must = "must be a MulticlassConfusion of whole counts"
    for name, matrix in (("the group", cm), ("the reference", reference)):
        if not isinstance(matrix, MulticlassConfusion) or not matrix.is_whole:
            raise InvalidInput(f"{name} {must}; got {brief(matrix)}")
    require_same_labels(cm, reference, "the reference")
    require_cases(reference)
    results = [_match_exactly(cm, reference, average, settings) for average in averages]
    rest = [m for m, result in zip(averages, results, strict=True) if result is None]
    simulated = _simulate(cm, reference, rest, settings)
    return [result or next(simulated) for result in results]


def _match_exactly(
    cm: Any, reference: Any, average: ClassAverage, settings: MatchSettings
) -> MatchResult | None:
    """The test of a score that is that of a 2x2 matrix; None if it is not."""
    if settings.method != "exact" and average.index is None:
        if settings.method == "montecarlo":
            return None
        raise InvalidInput(f"`method={settings.method!r}` is for one class; pass it as `label=`")
    if average.depends_on_correct:
        return _match_correct(cm, reference, average, settings)
    group, rest = map(average.equivalent_binary, (cm, reference))
    if group is None:
        return None
    result = _match_binary(group, rest, average.metric, settings)
    reason = average.why_undefined(cm) or result.reason
    return replace(result, label=average.label, reason=reason)


def _match_correct(
    cm: Any, reference: Any, average: ClassAverage, settings: MatchSettings
) -> MatchResult:
    """The test of a score that depends on the number of correct cases only.

    Correct cases are TP of a 2x2 matrix, and errors are FN.
    """
    k, accuracy = cm.k, find_metric("acc")
    correct = np.array([matrix.counts.trace() for matrix in (cm, reference)])
    table = np.stack([correct, [cm.n, reference.n] - correct, 0 * correct, 0 * correct], axis=1)
    if settings.null == "predictive":
        # Of the k*k cells k are correct. Two cells of each kind get a prior anyway.
        table = table + np.outer([0, settings.prior], [k - 2, k * k - k - 2, 0, 0])
    group, rest = map(ConfusionMatrix.from_array, table)
    null = NullDistribution.of(group, rest, accuracy, settings)

    def scores(cells: Floats) -> Floats:
        cells = average.cells_of_correct(cells[..., 0], cells[..., 1], k)
        return average.class_metric.scores(cells)

    facts = _describe(cm, reference, average)
    tails = listed_tails(scores, accuracy.tree, null.law, facts["statistic"])
    facts["p_undefined"] = max(0.0, 1 - tails.defined)
    null.check_possible(group, tails)
    test = {} if facts["reason"] else compare_with_tails(tails, accuracy, settings)
    return settings.result(facts | test)


def _simulate(
    cm: Any, reference: Any, averages: Sequence[ClassAverage], settings: MatchSettings
) -> Iterator[MatchResult]:
    """The tests of scores beside those of random groups."""
    k, draws = cm.k, check_draws(settings.draws)
    subject = f"simulating matrices of {k:,} classes with `draws={draws:,}` takes {{}} counts"
    hint = f"pass at most `draws={_MAX_COUNTS // k**2:,}`, or merge classes"
    check_cost(draws * k**2, _MAX_COUNTS, subject, hint)
    samples = _sample_classes(cm, reference, settings)
    blocks = [[average.scores(sample) for average in averages] for sample in samples]
    for average, scores in zip(averages, np.concatenate(blocks, axis=1), strict=True):
        facts = _describe(cm, reference, average)
        facts["p_undefined"] = float(np.isnan(scores).mean())
        test = compare_with_draws(scores, facts["statistic"], average.metric, settings)
        yield settings.result(facts | test)


def _describe(cm: Any, reference: Any, average: ClassAverage) -> dict[str, Any]:
    """The scores of group and reference."""
    return {
        "metric": average.metric,
        "average": average.average,
        "statistic": float(average.scores(cm.counts)),
        "reference_score": float(average.scores(reference.counts)),
        "n": int(cm.n),
        "reference_n": int(reference.n),
        "reason": average.why_undefined(cm),
    }


def _sample_classes(cm: Any, reference: Any, settings: MatchSettings) -> Iterator[Integers]:
    """Random groups under the null, in blocks of shape (draws, K, K)."""
    n, k, rng, null = int(cm.n), cm.k, generator(settings.rng), settings.null
    if null == "pooled" and n + reference.n >= _MAX_POOLED:
        raise InvalidInput("averages are simulated from fewer than 1e9 pooled cases")
    added = {"pooled": cm.counts, "known": 0, "predictive": settings.prior}[null]
    weights: Any = (reference.counts + added).ravel()
    filled = np.flatnonzero(weights)
    weights = weights[filled]
    is_sparse = min(n, reference.n) < _CASES_PER_COUNT * len(filled)
    method: Any = "count" if is_sparse and len(filled) >= _MANY_COUNTS else "marginals"
    block = max(1, _BLOCK // k**2)
    for start in range(0, settings.draws, block):
        counts = np.zeros((min(block, settings.draws - start), k * k), dtype=np.int64)
        size = len(counts)
        if null == "pooled":
            counts[:, filled] = rng.multivariate_hypergeometric(weights, n, size, method=method)
        else:
            is_known = null == "known"
            rates = weights / weights.sum() if is_known else rng.dirichlet(weights, size)
            counts[:, filled] = rng.multinomial(n, rates, size)
        yield counts.reshape(size, k, k)


# P-values


def find_pvalue(
    tails: Tails, metric: Metric, test: MatchSettings | MatchResult
) -> tuple[float, float, int]:
    """The p-value, the probability of a score at least as extreme, and how many times it is that.

    The two-sided p-value is twice the smaller tail. Of a distance, only larger scores are more
    extreme. With mid-p, the observed score counts half.
    """
    at = tails.at / 2 if test.mid_p else tails.at
    tail, factor, high = tails.below + at, 1, tails.above + at
    if test.alternative == "two-sided" and not metric.is_distance:
        tail, factor = min(tail, high), 2
    elif test.alternative != "less":
        tail = high
    return min(1.0, factor * tail), tail, factor


def compare_with_tails(tails: Tails, metric: Metric, settings: MatchSettings) -> dict[str, Any]:
    """The percentile, the p-value and its error, from the tails of the observed score."""
    pvalue = find_pvalue(tails, metric, settings)[0]
    return {"percentile": min(1.0, tails.below + tails.at), "pvalue": pvalue, "error": tails.error}


def compare_with_draws(
    scores: Floats, observed: float, metric: Metric, settings: MatchSettings
) -> dict[str, Any]:
    """The same from the scores of random groups; the data count as one more extreme group."""
    scores = scores[~np.isnan(scores)]
    seed, n, scale = seed_of(settings.rng), len(scores), max(1.0, abs(observed))
    facts = {"method": "montecarlo", "draws": settings.draws, "rng": seed, "error": nan}
    if isnan(observed):
        return facts
    if n == 0:
        text = f"no simulated group of {settings.draws:,} has a defined score"
        return facts | {"reason": f"not tested: {text}; use more draws"}
    low = np.count_nonzero(reaches(-scores, -observed, scale))
    high = np.count_nonzero(reaches(scores, observed, scale))
    ties = low + high - n
    tails = Tails((n - high + 1) / (n + 1), ties / (n + 1), (n - low + 1) / (n + 1), 1.0, nan)
    pvalue, tail, factor = find_pvalue(tails, metric, settings)
    # With mid-p, a tie counts half, and so varies less than a draw that counts or does not.
    variance = tail * (1 - tail) / n - settings.mid_p * ties / n**2 / 4
    error = factor * sqrt(max(variance, 0.0))
    return facts | {"percentile": low / n, "pvalue": pvalue, "error": error}
