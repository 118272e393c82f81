"""The MATCH test for K classes: whether a group is drawn like the reference, with a score of classes as the statistic.

It is exact for whatever collapses to the 2x2 shapes: a class against the rest; accuracy, micro averages, macro accuracy
and weighted recall, which depend only on the number of correct cases; and mcc, kappa and balanced accuracy of two
classes. Other means over classes, and mcc and kappa of more than two, are simulated, and their results say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import MulticlassConfusion, require_same_labels
from ..errors import InvalidInput, brief
from ..laws import DirichletMultinomial, Law, Multinomial, MultivariateHypergeometric, check_cost
from ..metrics import OneClass, Summary
from ..randomness import generator
from .match_result import MatchResult
from .match_two import Question, match_two
from .tail_pvalues import drawn_tail, tail_pvalue

__all__ = ["match_each"]

Floats = NDArray[np.float64]

_BLOCK = 2**21
_MOST_CASES = 2**24
_MOST_POOLED = 10**9
# Counts of all simulated matrices together, about half a minute.
_MOST_COUNTS = 2**28
# With so many counts, cases are drawn one by one if they are few: a count is as much work as so many cases.
_MANY_COUNTS, _CASES_PER_COUNT = 64, 6


def match_each(cm: Any, reference: Any, summaries: Sequence[Summary], asked: Question) -> list[MatchResult]:
    """Test several scores of one group; those that are simulated share their draws.

    >>> from evenhand.metrics import parsed
    >>> cm = MulticlassConfusion.from_array([[3, 1], [2, 4]])
    >>> scores = [parsed("acc", cm.labels), parsed("macro f1", cm.labels)]
    >>> [r.method for r in match_each(cm, cm, scores, Question(draws=100))]
    ['exact', 'montecarlo']
    """
    for who, matrix in (("the group", cm), ("the reference", reference)):
        if not isinstance(matrix, MulticlassConfusion) or not matrix.is_whole:
            raise InvalidInput(f"{who} must be a MulticlassConfusion of whole counts; got {brief(matrix)}")
    require_same_labels(cm, reference, "the reference")
    if reference.n == 0:
        raise InvalidInput("the reference is empty (n = 0); the group cannot be compared with it")
    pair = _Pair(cm, reference, asked)
    exact = [_exact(pair, summary) for summary in summaries]
    drawn = iter(_simulated(pair, [s for s, result in zip(summaries, exact, strict=True) if result is None]))
    return [result or next(drawn) for result in exact]


@dataclass(frozen=True, slots=True)
class _Pair:
    """The group, the reference, and what is asked of them."""

    cm: MulticlassConfusion
    reference: MulticlassConfusion
    asked: Question

    @property
    def n(self) -> int:
        return int(self.cm.n)

    def answer(self, summary: Summary, **found: Any) -> MatchResult:
        untested = {"percentile": nan, "pvalue": nan, "denominator": None, "error": 0.0}
        return self.asked.answer(
            metric=summary.metric,
            average=summary.average,
            statistic=float(summary.values(self.cm.counts)),
            reference_score=float(summary.values(self.reference.counts)),
            n=self.n,
            reference_n=int(self.reference.n),
            reason=summary.reason(self.cm),
            **untested | found,
        )


# Exact ------------------------------------------------------------------------------------------------------------


def _exact(pair: _Pair, summary: Summary) -> MatchResult | None:
    """The exact test, if the score collapses to a 2x2 shape, or the chosen one of a class against the rest."""
    cm, reference, asked = pair.cm, pair.reference, pair.asked
    if isinstance(summary, OneClass):
        found = match_two(summary.of_two(cm), summary.of_two(reference), summary.metric, asked)
        return replace(found, label=summary.label)
    if asked.method in ("normal", "beta"):
        raise InvalidInput(
            f"`method={asked.method!r}` is for two classes, or for one against the rest; pass a class as `label=`"
        )
    check_cost(
        pair.n, _MOST_CASES, "a test of all classes together looks at {} cases", "test one class at a time (`label=`)"
    )
    if pair.n == 0:
        return pair.answer(summary, p_undefined=1.0)
    if asked.method == "montecarlo":
        return None
    correct = summary.of_correct(np.arange(pair.n + 1, dtype=np.float64), pair.n, cm.k)
    if correct is not None:
        return _of_correct(pair, summary, correct)
    mine, theirs = summary.of_two(cm), summary.of_two(reference)
    if mine is not None and theirs is not None:
        return replace(match_two(mine, theirs, summary.metric, asked), reason=summary.reason(cm))
    return None


def _of_correct(pair: _Pair, summary: Summary, scores: Floats) -> MatchResult:
    """The test of a score that rises or falls with the number of correct cases, or does not depend on it."""
    n, observed = pair.n, int(np.trace(pair.cm.counts))
    p = _law_of_correct(pair).split(("tp",)).pmf(np.arange(n + 1), n)
    if pair.asked.null == "known" and p[observed] == 0 and _is_impossible(pair, observed):
        has = "only" if np.trace(pair.reference.counts) else "no"
        raise InvalidInput(
            f"the group's {summary.key} is impossible under the reference's rates, since the reference has {has} "
            "correct cases; use `null='pooled'` or `null='predictive'`"
        )
    defined = ~np.isnan(scores)
    weight = float(p[defined].sum())
    result = pair.answer(summary, p_undefined=max(0.0, 1.0 - weight) if not defined.all() else 0.0)
    if result.reason is not None:
        return result
    values = scores[defined]
    rises = float(np.sign(values[-1] - values[0])) if np.ptp(values) > 1e-12 else 0.0
    side = rises * np.sign(np.arange(n + 1) - observed)
    below, at, above = (float(p[defined & (side == way)].sum()) / weight for way in (-1, 0, 1))
    pvalue = tail_pvalue(below, at, above, pair.asked.alternative, pair.asked.mid_p)
    return replace(result, percentile=min(1.0, below + at), pvalue=pvalue)


def _law_of_correct(pair: _Pair) -> Law:
    """The law of the number of correct cases, as the cell tp, and of errors, as the cell fn."""
    mine, theirs = (np.array([np.trace(m.counts), m.n - np.trace(m.counts)], float) for m in (pair.cm, pair.reference))
    if pair.asked.null == "pooled":
        right, wrong = (mine + theirs).tolist()
        return MultivariateHypergeometric(pair.n, (right, wrong, 0.0, 0.0))
    if pair.asked.null == "known":
        right, wrong = (theirs / theirs.sum()).tolist()
        return Multinomial(pair.n, (right, wrong, 0.0, 0.0))
    k = pair.cm.k
    right, wrong = (theirs + pair.asked.prior * np.array([k, k * k - k])).tolist()
    return DirichletMultinomial(pair.n, (right, wrong, 0.0, 0.0))


def _is_impossible(pair: _Pair, observed: int) -> bool:
    """Whether the reference lacks correct cases or errors that the group has."""
    right = int(np.trace(pair.reference.counts))
    return (right == 0 and observed > 0) or (right == pair.reference.n and observed < pair.n)


# Simulated --------------------------------------------------------------------------------------------------------


def _simulated(pair: _Pair, summaries: list[Summary]) -> list[MatchResult]:
    if not summaries:
        return []
    _check_simulated(pair.cm.k, pair.asked.draws)
    blocks = [[s.values(counts) for s in summaries] for counts in _groups(pair)]
    scores = [np.concatenate(block) for block in zip(*blocks, strict=True)]
    return [_tested(pair, summary, drawn) for summary, drawn in zip(summaries, scores, strict=True)]


def _check_simulated(k: int, draws: int) -> None:
    """Refuse to simulate more matrices of ``k`` classes than half a minute allows."""
    check_cost(
        draws * k * k,
        _MOST_COUNTS,
        f"simulating matrices of {k:,} classes with `draws={draws:,}` takes {{}} counts",
        f"pass at most `draws={_MOST_COUNTS // (k * k):,}`, or merge classes",
    )


def _tested(pair: _Pair, summary: Summary, scores: Floats) -> MatchResult:
    scores = scores[~np.isnan(scores)]
    draws = pair.asked.draws
    result = pair.answer(summary, p_undefined=1 - len(scores) / draws, method="montecarlo", error=nan)
    if result.reason is not None:
        return result
    if not len(scores):
        means = summary.average in ("macro", "weighted") and summary.undefined == "propagate"
        none = f"no simulated group of {draws:,} has a defined {summary.key}"
        return replace(
            result, reason=f"not tested: {none}; use more draws" + (", or undefined='omit'" if means else "")
        )
    percentile, pvalue, error = drawn_tail(scores, result.statistic, pair.asked.alternative, pair.asked.mid_p)
    return replace(result, percentile=percentile, pvalue=pvalue, error=error)


def _drawing(pair: _Pair, held: NDArray[np.int64]) -> Literal["count", "marginals"]:
    """How a group of the pooled cases is drawn, whichever is less work: case by case or count by count."""
    drawn = min(pair.n, int(pair.reference.n))
    return "count" if len(held) >= _MANY_COUNTS and drawn < _CASES_PER_COUNT * len(held) else "marginals"


def _groups(pair: _Pair) -> Iterator[NDArray[np.int64]]:
    """Random groups under the null, in blocks of shape (draws, K, K)."""
    rng, n, k, theirs = generator(pair.asked.rng), pair.n, pair.cm.k, pair.reference.counts.ravel()
    block = max(1, _BLOCK // (k * k))
    pooled = pair.cm.counts.ravel() + theirs
    if pair.asked.null == "pooled" and pooled.sum() >= _MOST_POOLED:
        raise InvalidInput("means over classes are simulated from fewer than 1e9 pooled cases")
    for start in range(0, pair.asked.draws, block):
        size = min(block, pair.asked.draws - start)
        counts = np.zeros((size, k * k), dtype=np.int64)
        if pair.asked.null == "pooled":
            held = np.flatnonzero(pooled)
            counts[:, held] = rng.multivariate_hypergeometric(pooled[held], n, size=size, method=_drawing(pair, held))
        elif pair.asked.null == "known":
            held = np.flatnonzero(theirs)
            counts[:, held] = rng.multinomial(n, theirs[held] / theirs.sum(), size=size)
        else:
            counts[:] = rng.multinomial(n, rng.dirichlet(theirs + pair.asked.prior, size=size))
        yield counts.reshape(size, k, k)
