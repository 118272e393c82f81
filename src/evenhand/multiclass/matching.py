"""The MATCH test for K classes: whether a group is drawn like the reference, with a score of classes as the statistic.

It is exact for whatever collapses to the 2x2 shapes: a class against the rest; accuracy, micro averages, macro accuracy
and weighted recall, which depend only on the number of correct cases; and mcc, kappa and balanced accuracy of two
classes. Other means over classes, and mcc and kappa of more than two, are simulated with a seed, and their results say
so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan, sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix, as_size
from ..errors import InvalidInput, UnknownName, printable
from ..inference import MatchResult, NullName, match_test
from ..laws import (
    DirichletMultinomial,
    Law,
    Multinomial,
    MultivariateHypergeometric,
    as_generator,
    as_prior,
    check_cost,
)
from ..metrics import Metric
from ..records import Record
from .matrix import MulticlassConfusion
from .summaries import Average, OneClass, Summary, Undefined, summary_of

__all__ = ["MulticlassMatch", "match_each", "multiclass_match"]

Floats = NDArray[np.float64]
Alternative = Literal["two-sided", "less", "greater"]
Given = Literal["margin", "n"]

_BLOCK = 2**21
_MOST_CASES = 2**24
_MOST_POOLED = 10**9
_NULLS = {
    "pooled": "group and reference share their rates",
    "known": "the reference's rates are the truth",
    "predictive": "a new group with the reference's uncertain rates",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MulticlassMatch(Record):
    """The result of `multiclass_match`.

    Attributes
    ----------
    metric : str
        The key of the metric.
    average, label
        The average over classes, or the class against the rest; None if there is none.
    statistic, reference_score : float
        The scores of the group and of the reference; nan if undefined.
    percentile : float
        P(S <= statistic) under the null.
    pvalue : float
        The p-value; nan if the group's score is undefined or could not be tested.
    alternative, null, mid_p
        The test, as passed to `multiclass_match`.
    given : {"margin", "n"}
        What the test conditions on: the denominator of a class against the rest, or the number of cases.
    n, n_reference : int
        The number of cases of the group and of the reference.
    p_undefined : float
        The probability of an undefined score under the null; simulated if the p-value is.
    reason : str or None
        Why the group's score is undefined, or why it could not be tested; None if there is a p-value.
    method : {"exact", "simulated"}
        How the p-value was computed.
    draws : int or None
        The number of simulated groups; None if it is exact.
    seed : int or None
        The seed of the simulation; None if it is exact or a generator was passed.
    standard_error : float
        The standard error of the p-value due to simulation; 0 if it is exact.

    Examples
    --------
    >>> group, rest = ([[1, 3, 0], [2, 2, 1], [0, 1, 1]], [[40, 5, 5], [4, 40, 6], [5, 5, 40]])
    >>> r = multiclass_match(*map(MulticlassConfusion.from_array, (group, rest)), "acc")
    >>> r.method, round(r.pvalue, 4)
    ('exact', 0.0066)
    """

    metric: str
    average: Average | None
    label: Any
    statistic: float
    reference_score: float
    percentile: float
    pvalue: float
    alternative: Alternative
    null: NullName
    given: Given
    mid_p: bool
    n: int
    n_reference: int
    p_undefined: float
    reason: str | None
    method: Literal["exact", "simulated"]
    draws: int | None
    seed: int | None
    standard_error: float

    @property
    def name(self) -> str:
        """What was tested, in words.

        Examples
        --------
        >>> cm = MulticlassConfusion.from_array([[3, 1], [2, 4]])
        >>> multiclass_match(cm, cm, "f1", average="micro").name
        'micro f1'
        """
        if self.label is not None:
            return f"{self.metric} of {self.label!r} against the rest"
        return f"{self.average} {self.metric}" if self.average else self.metric

    def __str__(self) -> str:
        head = f"MATCH test of {printable(self.name)}, group of {self.n:,} against {self.n_reference:,}"
        if self.reason is not None:
            if isnan(self.statistic):
                return f"{head}\n  score         undefined: {printable(self.reason)}"
            return f"{head}\n  score         {self.statistic:.4g}\n  p-value       none: {printable(self.reason)}"
        theirs = "undefined" if isnan(self.reference_score) else f"{self.reference_score:.4g}"
        how = "exact"
        if self.method == "simulated":
            seed = "a generator" if self.seed is None else f"seed {self.seed}"
            how = f"simulated with {self.draws:,} draws ({seed}), standard error {self.standard_error:.2g}"
        lines = [
            ("score", f"{self.statistic:.4g}"),
            ("reference", theirs),
            ("p-value", f"{_p(self.pvalue)} ({self.alternative}{', mid-p' if self.mid_p else ''})"),
            ("percentile", f"{100 * self.percentile:.3g} % of groups score this or lower"),
            ("null", f"{_NULLS[self.null]}, given {'n' if self.given == 'n' else 'the denominator'}"),
            ("method", how),
        ]
        return "\n".join([head, *(f"  {label:<13} {text}" for label, text in lines)])


def _p(p: float) -> str:
    return f"{p:.4g}" if p > 0 else "below 1e-300"


@dataclass(frozen=True, slots=True)
class _Question:
    """What is tested, whatever the score."""

    cm: MulticlassConfusion
    reference: MulticlassConfusion
    alternative: Alternative
    null: NullName
    given: Given
    mid_p: bool
    prior: float

    @property
    def n(self) -> int:
        return int(self.cm.n)


def multiclass_match(
    cm: MulticlassConfusion,
    reference: MulticlassConfusion,
    metric: str | Metric,
    average: Average | None = None,
    *,
    label: Hashable = None,
    undefined: Undefined = "propagate",
    alternative: Alternative = "two-sided",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    prior: float = 0.5,
    rng: np.random.Generator | int | None = 0,
    draws: int = 10_000,
) -> MulticlassMatch:
    """Test whether a group is drawn like the reference, with a score of K classes as the test statistic.

    Parameters
    ----------
    cm, reference : MulticlassConfusion
        Whole counts of the group and of the reference, which have the same labels.
    metric, average, label, undefined
        The score, as for `multiclass_score`.
    alternative : {"two-sided", "less", "greater"}
        The two-sided p-value is twice the smaller tail, at most 1.
    null : {"pooled", "known", "predictive"}
        As for `match_test`.
    given : {"margin", "n"}
        Condition on the denominator of a class against the rest, or only on the number of cases. Accuracy, micro
        averages and whatever is simulated condition on the number of cases; two classes are tested as `match_test`
        does.
    mid_p : bool
        Count half of the probability of the observed score: less conservative, but the level is no longer guaranteed.
    prior : float
        Pseudo-counts per cell added to the reference under ``null="predictive"``.
    rng : numpy.random.Generator or int, optional
        The seed or generator of what is simulated; None for a new seed, which the result names.
    draws : int
        The number of simulated groups.

    Returns
    -------
    MulticlassMatch
        Its ``method`` says whether the p-value is exact or simulated. A simulated p-value is (r + 1) / (B + 1), for r
        of B simulated groups with a defined score that is at least as extreme, so it is never 0. If none of them has a
        defined score, there is no p-value, and the reason says so.

    Examples
    --------
    >>> group, rest = ([[1, 3, 0], [2, 2, 1], [0, 1, 1]], [[40, 5, 5], [4, 40, 6], [5, 5, 40]])
    >>> r = multiclass_match(*map(MulticlassConfusion.from_array, (group, rest)), "tpr", "macro", draws=1_000)
    >>> r.method, r.draws, r.pvalue < 0.05
    ('simulated', 1000, True)
    """
    (result,) = match_each(
        *(cm, reference, [(metric, average, label)]),
        undefined=undefined,
        alternative=alternative,
        null=null,
        given=given,
        mid_p=mid_p,
        prior=prior,
        rng=rng,
        draws=draws,
    )
    return result


def match_each(
    cm: MulticlassConfusion,
    reference: MulticlassConfusion,
    scores: Sequence[tuple[str | Metric, Average | None, Hashable]],
    *,
    undefined: Undefined = "propagate",
    alternative: Alternative = "two-sided",
    null: NullName = "pooled",
    given: Given = "margin",
    mid_p: bool = False,
    prior: float = 0.5,
    rng: np.random.Generator | int | None = 0,
    draws: int = 10_000,
) -> list[MulticlassMatch]:
    """Test several scores of one group; those that are simulated share their draws.

    Parameters
    ----------
    cm, reference : MulticlassConfusion
        Group and reference.
    scores : sequence of (metric, average, label)
        What is tested.
    undefined, alternative, null, given, mid_p, prior, rng, draws
        As for `multiclass_match`.

    Returns
    -------
    list of MulticlassMatch
        One per score.

    Examples
    --------
    >>> cm = MulticlassConfusion.from_array([[3, 1], [2, 4]])
    >>> [r.method for r in match_each(cm, cm, [("acc", None, None), ("f1", "macro", None)], draws=100)]
    ['exact', 'simulated']
    """
    for what, value, known in (
        ("alternative", alternative, Alternative),
        ("null", null, NullName),
        ("given", given, Given),
    ):
        if value not in get_args(known):
            raise UnknownName.among(what, value, get_args(known))
    _check(cm, reference)
    if as_size(draws, "draws") == 0:
        raise InvalidInput("draws must be at least 1")
    asked = _Question(cm, reference, alternative, null, given, mid_p, as_prior(prior))
    summaries = [summary_of(metric, cm.labels, average, label, undefined) for metric, average, label in scores]
    results = [_exact(asked, summary) for summary in summaries]
    left = [i for i, result in enumerate(results) if result is None]
    if left:
        for i, result in zip(left, _simulated(asked, [summaries[i] for i in left], rng, draws), strict=True):
            results[i] = result
    return [result for result in results if result is not None]


def _check(cm: Any, reference: Any) -> None:
    for who, matrix in (("the group", cm), ("the reference", reference)):
        if not isinstance(matrix, MulticlassConfusion) or not matrix.is_whole:
            raise InvalidInput(f"{who} must be a MulticlassConfusion of whole counts; got {matrix!r}")
    cm.require_same_labels(reference, "the reference")
    if reference.n == 0:
        raise InvalidInput("the reference is empty (n = 0); the group cannot be compared with it")


def _result(asked: _Question, summary: Summary, **found: Any) -> MulticlassMatch:
    reason = summary.reason(asked.cm)
    plain = {"percentile": nan, "pvalue": nan, "draws": None, "seed": None, "standard_error": 0.0, "given": "n"}
    return MulticlassMatch(
        metric=summary.metric.key,
        average=summary.average,
        label=summary.label if isinstance(summary, OneClass) else None,
        statistic=float(summary.values(asked.cm.counts)),
        reference_score=float(summary.values(asked.reference.counts)),
        alternative=asked.alternative,
        null=asked.null,
        mid_p=asked.mid_p,
        n=asked.n,
        n_reference=int(asked.reference.n),
        reason=reason,
        **plain | found,
    )


# Exact ------------------------------------------------------------------------------------------------------------


def _exact(asked: _Question, summary: Summary) -> MulticlassMatch | None:
    """The exact test, if the score collapses to a 2x2 shape."""
    two = asked.cm.k == 2 and summary.average is None and not summary.omits
    if not isinstance(summary, OneClass):
        check_cost(
            asked.n,
            _MOST_CASES,
            "a test of all classes together looks at {} cases",
            "test one class at a time (label=)",
        )
    one = isinstance(summary, OneClass)
    every = np.arange(0 if one else asked.n + 1, dtype=np.float64)
    correct = summary.of_correct(every, asked.n, asked.cm.k) if asked.n and not one else None
    if isinstance(summary, OneClass) or (two and correct is None):
        positive = summary.label if isinstance(summary, OneClass) else asked.cm.labels[-1]
        return _of_two(asked, summary, *(m.against_rest(positive) for m in (asked.cm, asked.reference)))
    if asked.n == 0:
        return _result(asked, summary, p_undefined=1.0, method="exact")
    return None if correct is None else _of_correct(asked, summary, correct)


def _of_two(asked: _Question, summary: Summary, cm: ConfusionMatrix, reference: ConfusionMatrix) -> MulticlassMatch:
    r: MatchResult = match_test(
        *(cm, reference, summary.metric),
        alternative=asked.alternative,
        null=asked.null,
        given=asked.given,
        mid_p=asked.mid_p,
        prior=asked.prior,
    )
    found = {"percentile": r.percentile, "pvalue": r.pvalue, "p_undefined": r.p_undefined, "method": "exact"}
    given = "n" if r.denominator is None else "margin"
    return _result(asked, summary, **found, given=given)


def _of_correct(asked: _Question, summary: Summary, scores: Floats) -> MulticlassMatch:
    """The test of a score that rises or falls with the number of correct cases, or does not depend on it."""
    n, observed = asked.n, int(np.trace(asked.cm.counts))
    p = _law_of_correct(asked).split(("tp",)).pmf(np.arange(n + 1), n)
    if asked.null == "known" and p[observed] == 0 and _is_impossible(asked, observed):
        has = "only" if np.trace(asked.reference.counts) else "no"
        raise InvalidInput(
            f"the group's {summary.key} is impossible under the reference's rates, since the reference has {has} "
            "correct cases; use null='pooled' or null='predictive'"
        )
    defined = ~np.isnan(scores)
    weight = float(p[defined].sum())
    result = _result(asked, summary, p_undefined=max(0.0, 1.0 - weight) if not defined.all() else 0.0, method="exact")
    if result.reason is not None:
        return result
    values = scores[defined]
    rises = float(np.sign(values[-1] - values[0])) if np.ptp(values) > 1e-12 else 0.0
    side = rises * np.sign(np.arange(n + 1) - observed)
    below, at, above = (float(p[defined & (side == way)].sum()) / weight for way in (-1, 0, 1))
    return replace(result, percentile=min(1.0, below + at), pvalue=_pvalue(asked, below, at, above))


def _law_of_correct(asked: _Question) -> Law:
    """The law of the number of correct cases, as the cell tp, and of errors, as the cell fn."""
    mine, theirs = (
        np.array([np.trace(m.counts), m.n - np.trace(m.counts)], float) for m in (asked.cm, asked.reference)
    )
    if asked.null == "pooled":
        right, wrong = (mine + theirs).tolist()
        return MultivariateHypergeometric(asked.n, (right, wrong, 0.0, 0.0))
    if asked.null == "known":
        right, wrong = (theirs / theirs.sum()).tolist()
        return Multinomial(asked.n, (right, wrong, 0.0, 0.0))
    k = asked.cm.k
    right, wrong = (theirs + asked.prior * np.array([k, k * k - k])).tolist()
    return DirichletMultinomial(asked.n, (right, wrong, 0.0, 0.0))


def _is_impossible(asked: _Question, observed: int) -> bool:
    """Whether the reference lacks correct cases or errors that the group has."""
    right = int(np.trace(asked.reference.counts))
    return (right == 0 and observed > 0) or (right == asked.reference.n and observed < asked.n)


def _pvalue(asked: _Question, below: float, at: float, above: float) -> float:
    weight = 0.5 if asked.mid_p else 1.0
    low, high = below + weight * at, above + weight * at
    return min(1.0, {"less": low, "greater": high, "two-sided": 2 * min(low, high)}[asked.alternative])


# Simulated --------------------------------------------------------------------------------------------------------


def _simulated(asked: _Question, summaries: list[Summary], rng: Any, draws: int) -> list[MulticlassMatch]:
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if rng is None else rng
    generator = as_generator(seed)
    named = None if isinstance(rng, np.random.Generator) else int(seed)
    blocks = [[s.values(counts) for s in summaries] for counts in _groups(asked, generator, draws)]
    return [
        _tested(asked, summary, np.concatenate([block[i] for block in blocks]), named)
        for i, summary in enumerate(summaries)
    ]


def _tested(asked: _Question, summary: Summary, scores: Floats, seed: int | None) -> MulticlassMatch:
    draws, scores = len(scores), scores[~np.isnan(scores)]
    kept = len(scores)
    found = {"p_undefined": 1 - kept / draws, "method": "simulated", "draws": draws, "seed": seed}
    result = _result(asked, summary, **found, standard_error=nan)
    if result.reason is not None:
        return result
    if not kept:
        omit = "" if summary.omits or summary.average in (None, "micro") else ", or undefined='omit'"
        none = f"no simulated group of {draws:,} has a defined {summary.key}"
        return replace(result, reason=f"not tested: {none}; use more draws{omit}")
    near = 1e-12 * max(1.0, abs(result.statistic))
    at = int(np.count_nonzero(np.abs(scores - result.statistic) <= near))
    below = int(np.count_nonzero(scores < result.statistic - near))
    weight = 0.5 if asked.mid_p else 1.0
    low, high = below + weight * at, kept - below - at + weight * at
    two = asked.alternative == "two-sided"
    extreme = min(low, high) if two else low if asked.alternative == "less" else high
    tail, factor = (extreme + 1) / (kept + 1), 2 if two else 1
    return replace(
        result,
        percentile=(below + at) / kept,
        pvalue=min(1.0, factor * tail),
        # A group that counts half varies less than one that counts or does not.
        standard_error=factor * sqrt(max(tail * (1 - tail) - asked.mid_p * at / kept / 4, 0.0) / kept),
    )


def _groups(asked: _Question, rng: np.random.Generator, draws: int) -> Iterator[NDArray[np.int64]]:
    """Random groups under the null, in blocks of shape (draws, K, K)."""
    n, k, theirs = asked.n, asked.cm.k, asked.reference.counts.ravel()
    block = max(1, _BLOCK // (k * k))
    pooled = asked.cm.counts.ravel() + theirs
    if asked.null == "pooled" and pooled.sum() >= _MOST_POOLED:
        raise InvalidInput("means over classes are simulated from fewer than 1e9 pooled cases")
    for start in range(0, draws, block):
        size = min(block, draws - start)
        counts = np.zeros((size, k * k), dtype=np.int64)
        if asked.null == "pooled":
            held = np.flatnonzero(pooled)
            counts[:, held] = rng.multivariate_hypergeometric(pooled[held], n, size=size, method="marginals")
        elif asked.null == "known":
            held = np.flatnonzero(theirs)
            counts[:, held] = rng.multinomial(n, theirs[held] / theirs.sum(), size=size)
        else:
            counts[:] = rng.multinomial(n, rng.dirichlet(theirs + asked.prior, size=size))
        yield counts.reshape(size, k, k)
