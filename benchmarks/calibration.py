"""How often tests reject and intervals cover, printed as Markdown tables.

Run it with ``.venv/bin/python benchmarks/calibration.py``; it takes about five minutes. What can be listed is exact:
every outcome with its probability. The rest is simulated from a fixed seed, with standard errors. Progress and times go
to stderr. docs/reference/evidence.md has the numbers that matter.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import binom, hypergeom

from evenhand import ConfusionMatrix, audit_counts, distribution, enumerate_matrices
from evenhand.auditing import METRICS
from evenhand.distributions import Binomial, Hypergeometric, Split, law_of
from evenhand.distributions.splits import BetaBinomial
from evenhand.inference import (
    count_successes,
    equality_test,
    match_test,
    score_gaps,
    score_intervals,
)
from evenhand.metrics import GapKind, OneGroupMetric, metric

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Truth = tuple[float, float, float, float]

LEVEL = 0.05
RATES = np.arange(1, 200) / 200
COMPAS = {
    "Black": ConfusionMatrix(tp=273, fn=170, fp=1043, tn=1692),
    "White": ConfusionMatrix(tp=77, fn=129, fp=380, tn=1679),
}


def percent(p: float, digits: int = 1) -> str:
    return f"{100 * p:.{digits}f}%"


def table(*heads: str) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)


def line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def one_group(key: str) -> OneGroupMetric:
    return metric(key).base


# ---------------------------------------------------------------------------------------------- rates, exactly


def every_pair(n: int, m: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Every count of a group of n and of a reference of m, and the matrices whose accuracy they are."""
    a, b = (x.ravel() for x in np.meshgrid(np.arange(n + 1.0), np.arange(m + 1.0), indexing="ij"))
    zero = np.zeros_like(a)
    return a, b, np.stack([a, n - a, zero, zero], axis=1), np.stack([b, m - b, zero, zero], axis=1)


@cache
def pvalues(n: int, m: int) -> Floats:
    """The p-value of every pair of counts of shares; a share has the test of a rate, with n for the denominator."""
    _, _, groups, references = every_pair(n, m)
    return equality_test(one_group("acc"), groups, references).pvalues.reshape(n + 1, m + 1)


def rejected(reject: NDArray[Any], p: Floats, q: Floats) -> Floats:
    """The probability of rejecting, for the rates p of the group and q of the reference."""
    n, m = (size - 1 for size in reject.shape)
    mine, theirs = binom.pmf(np.arange(n + 1), n, p[:, None]), binom.pmf(np.arange(m + 1), m, q[:, None])
    return np.asarray(np.einsum("ga,ab,gb->g", mine, reject.astype(float), theirs, optimize=True))


def size_of_rates() -> Iterator[str]:
    yield from table("n", "reference", "Fisher: at 0.3", "largest")
    for n, m in ((5, 50), (10, 50), (10, 100), (20, 100), (20, 1000), (50, 500)):
        sizes = rejected(pvalues(n, m) <= LEVEL, RATES, RATES)
        yield line(n, m, percent(sizes[59]), percent(sizes.max()))


def size_of_random_denominators() -> Iterator[str]:
    """TPR and F1, whose denominators are binomial themselves; 0/0 is no rejection, and left out."""
    yield from table("score", "n", "reference", "cases that count", "Fisher: at 0.3", "largest")
    for name, share in (("TPR", 0.3), ("TPR", 0.1), ("F1", 0.5)):
        for n, m in ((10, 50), (20, 50)):
            sizes, defined = np.zeros(len(RATES)), 0.0
            for k in range(1, n + 1):
                for j in range(1, m + 1):
                    weight = float(binom.pmf(k, n, share) * binom.pmf(j, m, share))
                    defined += weight
                    if weight > 1e-7:
                        sizes += weight * rejected(pvalues(k, j) <= LEVEL, RATES, RATES)
            sizes /= defined
            yield line(name, n, m, percent(share, 0), percent(sizes[59]), percent(sizes.max()))


def power_of_rates() -> Iterator[str]:
    yield from table("rates", "n", "reference", "Fisher", "MATCH, rates known")
    for p, q in ((0.5, 0.3), (0.05, 0.25), (0.9, 0.6)):
        for n, m in ((10, 50), (20, 100), (50, 500)):
            cells = [
                percent(float(rejected(r, np.array([p]), np.array([q]))[0]), 0)
                for r in (pvalues(n, m) <= LEVEL, match_rejects("known", n, m))
            ]
            yield line(f"{p} v {q}", n, m, *cells)


# ---------------------------------------------------------------------------------- several rates, stratified


def matrix(prev: float, tpr: float, fpr: float) -> Truth:
    return prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)


def with_score(key: str, prev: float, score: float) -> Truth:
    """The symmetric classifier (TPR = 1 - FPR) with this score at this prevalence."""

    def gap(tpr: float) -> float:
        return float(metric(key).scores(np.array(matrix(prev, tpr, 1 - tpr))) - score)

    tpr = float(brentq(gap, 0.5, 0.9999))
    return matrix(prev, tpr, 1 - tpr)


@dataclass(frozen=True)
class Case:
    """A score, and the true rates of a group and its reference."""

    name: str
    key: str
    group: Truth
    reference: Truth


def both_ways(name: str, key: str, group: Truth, reference: Truth) -> list[Case]:
    return [Case(f"{name}, {way}", key, *pair) for way, pair in
            (("first is small", (group, reference)), ("second is small", (reference, group)))]  # fmt: skip


FLAT, SKEWED = (0.25, 0.25, 0.25, 0.25), (0.1, 0.05, 0.15, 0.7)
EQUAL_SCORES = [
    *both_ways("marginal benefit 0: FP = FN .25 v .05", "mb", FLAT, (0.45, 0.05, 0.05, 0.45)),
    *both_ways("kappa .4: prevalence .15 v .5", "kappa", with_score("kappa", 0.15, 0.4), with_score("kappa", 0.5, 0.4)),
    *both_ways("MCC .4: prevalence .15 v .5", "mcc", with_score("mcc", 0.15, 0.4), with_score("mcc", 0.5, 0.4)),
    *both_ways("informedness .4: (.9, .5) v (.5, .1)", "informedness", matrix(0.2, 0.9, 0.5), matrix(0.5, 0.5, 0.1)),
    *both_ways("balanced accuracy .75: (.95, .45) v (.55, .05)", "balanced_accuracy",
               matrix(0.2, 0.95, 0.45), matrix(0.5, 0.55, 0.05)),
    *both_ways("LR+ 3: (.9, .3) v (.3, .1)", "lr_plus", matrix(0.3, 0.9, 0.3), matrix(0.5, 0.3, 0.1)),
    *both_ways("DOR 9: (.75, .25) v (.9, .5)", "dor", matrix(0.3, 0.75, 0.25), matrix(0.5, 0.9, 0.5)),
]  # fmt: skip
EQUAL_RATES = [
    Case(f"{key}: equal rates", key, SKEWED, SKEWED) for key in ("mb", "kappa", "mcc", "informedness", "lr_plus", "dor")
]
DIFFERENT = [
    Case("MCC .31 v .60, prevalence .3", "mcc", with_score("mcc", 0.3, 0.31), with_score("mcc", 0.3, 0.6)),
    Case("MCC .7 v .2, prevalence .2 v .5", "mcc", with_score("mcc", 0.2, 0.7), with_score("mcc", 0.5, 0.2)),
    Case("kappa 0 v .5, prevalence .3", "kappa", with_score("kappa", 0.3, 1e-9), with_score("kappa", 0.3, 0.5)),
    Case("marginal benefit .2 v -.1", "mb", (0.3, 0.1, 0.3, 0.3), (0.35, 0.2, 0.1, 0.35)),
    Case("informedness .8 v .4", "informedness", matrix(0.4, 0.9, 0.1), matrix(0.4, 0.7, 0.3)),
    Case("LR+ 1.25 v 6", "lr_plus", matrix(0.4, 0.5, 0.4), matrix(0.4, 0.6, 0.1)),
    Case("DOR 1.5 v 16", "dor", matrix(0.4, 0.5, 0.4), matrix(0.4, 0.8, 0.2)),
]
SIZES = ((10, 50), (20, 50), (40, 100), (60, 1000), (100, 100), (300, 300))
DRAWS, MATCHED = 20_000, 120
# How many pairs of each stratum are tested by the library; MCC and kappa take ten times as long as the others.
TESTED = {"mcc": (36, 16), "kappa": (36, 16)}
# A gap whose normal test has a larger p-value is taken not to be rejected by the others either.
SURELY_NOT = 0.25


def studentised(m: OneGroupMetric, groups: Floats, references: Floats) -> Floats:
    """Two-sided p-value of the gap over its standard error by the delta method, 1/2 added to every cell."""

    def estimate(cells: Floats) -> tuple[Floats, Floats]:
        n = cells.sum(axis=1)
        p = (cells + 0.5) / (n + 2)[:, None]

        def score(at: Floats) -> Floats:
            scores = m.scores(at)
            return np.log(scores) if m.is_unbounded else scores

        slopes = np.stack(
            [
                (score(p * (1 + step)) - score(p * (1 - step))) / (2e-5 * p[:, i])
                for i, step in enumerate(1e-5 * np.eye(4))
            ],
            axis=1,
        )
        mean = (p * slopes).sum(axis=1)
        return score(p), ((p * slopes**2).sum(axis=1) - mean**2) / n

    (s, v), (t, w) = estimate(groups), estimate(references)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(2 * ndtr(-np.abs(s - t) / np.sqrt(v + w)), nan=1.0)


@dataclass(frozen=True)
class Rejections:
    """How often each test rejects, given that both scores are defined; nan where it was not tried."""

    undefined: float
    ours: float
    error: float
    posterior: float
    normal: float
    match: float


def rejections(case: Case, n: int, m: int, rng: np.random.Generator, matched: bool) -> Rejections:
    """Simulated, by strata of the normal test's p-value.

    A random part of the pairs that the normal test rejects, and of those that it nearly rejects, is tested by the
    library; the others are taken not to be rejected.
    """
    base = one_group(case.key)
    groups, references = (
        rng.multinomial(size, p, DRAWS).astype(float) for size, p in ((n, case.group), (m, case.reference))
    )
    defined = ~(np.isnan(base.scores(groups)) | np.isnan(base.scores(references)))
    groups, references = groups[defined], references[defined]
    normal = studentised(base, groups, references)
    most = TESTED.get(case.key, (60, 40))
    strata = (normal <= LEVEL, (normal > LEVEL) & (normal <= SURELY_NOT))
    shares, found = [], []
    for inside, k in zip(strata, most, strict=True):
        at = np.flatnonzero(inside)[:k]
        shares.append(float(inside.mean()))
        found.append((0.0, 0.0, 1))
        if len(at):
            p = equality_test(base, groups[at], references[at]).pvalues
            kind: GapKind = "ratio" if base.is_unbounded else "difference"
            below, above = score_gaps(base, groups[at], references[at], kind, prior=0.5).tails(float(base.is_unbounded))
            tail = 2 * np.minimum(below, above)
            found[-1] = (float(np.mean(p <= LEVEL)), float(np.mean(tail <= LEVEL)), len(at))
    ours, sure = (sum(share * each[i] for share, each in zip(shares, found, strict=True)) for i in (0, 1))
    kept = [(each[0] * each[2] + 1) / (each[2] + 2) for each in found]
    tested = [share**2 * p * (1 - p) / each[2] for share, p, each in zip(shares, kept, found, strict=True)]
    drawn = [p**2 * share * (1 - share) / len(normal) for share, p in zip(shares, kept, strict=True)]
    error = np.sqrt(sum(tested) + sum(drawn))
    return Rejections(
        undefined=1 - float(defined.mean()),
        ours=ours,
        error=float(error),
        posterior=sure,
        normal=shares[0],
        match=pooled_match(case.key, groups[:MATCHED], references[:MATCHED]) if matched else np.nan,
    )


def pooled_match(key: str, groups: Floats, references: Floats) -> float:
    """How often the pooled MATCH test of the score rejects."""
    found = []
    for group, reference in zip(groups.astype(int).tolist(), references.astype(int).tolist(), strict=True):
        p = match_test(ConfusionMatrix.from_array(group), ConfusionMatrix.from_array(reference), key).pvalue
        found.append(p <= LEVEL)
    return float(np.mean(found))


def several_rates(
    cases: list[Case], sizes: tuple[tuple[int, int], ...], matched: tuple[tuple[int, int], ...]
) -> tuple[list[str], dict[tuple[str, int], float]]:
    """The lines of a table, and our rejection rate by case and n."""
    rng = np.random.default_rng(7)
    lines, ours = [], {}
    for case in cases:
        for n, m in sizes:
            r = rejections(case, n, m, rng, (n, m) in matched)
            ours[case.name, n] = r.ours
            match = "" if np.isnan(r.match) else f"{100 * r.match:.0f}%"
            lines.append(
                line(case.name, f"{n} / {m}", percent(r.undefined, 0), f"{100 * r.ours:.1f} ± {100 * r.error:.1f}%",
                     percent(r.posterior), percent(r.normal), match)
            )  # fmt: skip
        note(case.name)
    return lines, ours


# ---------------------------------------------------------------------------------------------------- audits


@cache
def attainable(of_a: int, pooled: int, total: int) -> tuple[Floats, Floats]:
    """The p-values that Fisher's test can have given the pooled count, ascending, and P(p <= each of them)."""
    k = np.arange(max(0, of_a - (total - pooled)), min(of_a, pooled) + 1)
    pmf = hypergeom.pmf(k, total, pooled, of_a)
    p = np.minimum(1.0, 2 * np.minimum(np.cumsum(pmf), np.cumsum(pmf[::-1])[::-1]))
    order = np.argsort(p)
    return p[order], np.append(0.0, np.cumsum(pmf[order]))


@cache
def largest_sizes(n: int, m: int) -> tuple[Floats, Floats]:
    """The p-values of Fisher's test of two samples, ascending, and the largest P(p <= each) over common rates."""
    p = pvalues(n, m).ravel()
    order = np.argsort(p)
    largest = np.zeros(p.size)
    for rate in RATES:
        weights = np.outer(binom.pmf(np.arange(n + 1), n, rate), binom.pmf(np.arange(m + 1), m, rate)).ravel()
        largest = np.maximum(largest, np.cumsum(weights[order]))
    return p[order], np.append(0.0, largest)


def holm(p: Floats, margins: NDArray[Any] | None = None) -> Floats:
    """Holm's adjusted p-values; with margins, P(p_j <= x) of each test stands for x.

    Margins are the group's size, the pooled count and the size of both samples, or the sizes of group and reference.
    """
    order = np.argsort(p, kind="stable")
    levels = p[order]
    reached = np.broadcast_to(levels, (len(p), len(p)))
    if margins is not None:
        look_up: Any = attainable if margins.shape[1] == 3 else largest_sizes
        rows = [look_up(*(int(x) for x in margins[i])) for i in order]
        reached = np.stack([sums[np.searchsorted(ps, levels * (1 + 1e-9), side="right")] for ps, sums in rows])
        reached = np.minimum(reached, levels)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.triu(reached.T).sum(axis=1)))
    return np.maximum(adjusted, p)


def margins_of(m: OneGroupMetric, groups: Floats, references: Floats) -> NDArray[Any]:
    """The size of each group, the pooled count and the size of both samples."""
    (a, of_a), (b, of_b) = count_successes(m, groups), count_successes(m, references)
    return np.stack([of_a, a + b, of_a + of_b], axis=1).astype(int)


AUDITS = {
    "6 of 5 to 40": np.linspace(5, 40, 6).round().astype(int),
    "10 of 5 to 40": np.linspace(5, 40, 10).round().astype(int),
    "20 of 5 to 40": np.linspace(5, 40, 20).round().astype(int),
    "8 of 12 to 800": np.geomspace(12, 800, 8).round().astype(int),
}
ROUNDS = 600


def audited(
    sizes: NDArray[Any], rates: Floats, others: int | None, base_rate: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Adjusted p-values of many audits of one share: Fisher with Holm, and the audit's own way.

    Groups are compared with the rest, or with ``others`` more cases.
    """
    counts = rng.binomial(sizes, rates)
    if others is None:
        against, of_against = counts.sum(axis=1, keepdims=True) - counts, sizes.sum() - sizes
    else:
        against = np.broadcast_to(rng.binomial(others, base_rate, (len(counts), 1)), counts.shape)
        of_against = np.full(len(sizes), others)
    zero = np.zeros(counts.size)
    mine: Floats = np.stack([counts.ravel(), (sizes - counts).ravel(), zero, zero], axis=1)
    theirs = np.stack([against.ravel(), (of_against - against).ravel(), zero, zero], axis=1)
    base, shape = one_group("acc"), counts.shape
    p = equality_test(base, mine, theirs).pvalues
    p = p.reshape(shape)
    margins = margins_of(base, mine, theirs)
    if others is not None:
        # Comparisons that share a reference are bounded for every common rate.
        margins = np.stack([margins[:, 0], margins[:, 2] - margins[:, 0]], axis=1)
    margins = margins.reshape(*shape, -1)
    adjusted = [(holm(p[i]), holm(p[i], margins[i])) for i in range(shape[0])]
    plain, discrete = (np.array(way) for way in zip(*adjusted, strict=True))
    return plain, discrete


OTHERS = 1_000


def audit_table() -> Iterator[str]:
    heads = ("Fisher, Holm", "Fisher, discrete Holm (the audit)")
    yield from table(
        "groups", "rates", "compared with", *(f"{h}: {w}" for h in heads for w in ("found", "false alarm"))
    )
    rng = np.random.default_rng(11)
    for name, sizes in AUDITS.items():
        for rate, other, others in (
            *((0.3, 0.7, None), (0.1, 0.4, None), (0.3, 0.7, OTHERS), (0.1, 0.4, OTHERS)),
            *((0.1, None, None), (0.3, None, None)),
        ):
            true = np.zeros((ROUNDS, len(sizes)), dtype=bool)
            if other is not None:
                true[np.arange(ROUNDS), rng.integers(len(sizes), size=ROUNDS)] = True
            cells = []
            for adjusted in audited(sizes, np.where(true, other or 0.0, rate), others, rate, rng):
                reject = adjusted <= LEVEL
                alarm = percent(float((reject & ~true).any(axis=1).mean()))
                cells += [percent(float(reject[true].mean()), 0) if other else "", alarm if others or not other else ""]
            rates = f"one {other}, others {rate}" if other else f"all {rate}"
            yield line(name, rates, f"{others:,} more" if others else "the rest", *cells)
        note(name)


def family_table() -> Iterator[str]:
    """Audits of eight metrics without any difference, adjusted by metric and over everything."""
    yield from table(
        "groups", "by metric: any false alarm", "of one metric, on average", "over the audit: any false alarm"
    )
    rng = np.random.default_rng(13)
    rounds = 300
    for name, sizes in AUDITS.items():
        k = len(sizes)
        cells = np.stack([rng.multinomial(size, (0.18, 0.12, 0.14, 0.56), rounds) for size in sizes], axis=1) * 1.0
        mine = np.asarray(cells.reshape(-1, 4), dtype=np.float64)
        theirs: Floats = (cells.sum(axis=1, keepdims=True) - cells).reshape(-1, 4)
        bases = [one_group(key) for key in METRICS]
        shape = (len(METRICS), rounds, k)
        p = np.array([equality_test(m, mine, theirs).pvalues for m in bases]).reshape(shape)
        margins = np.array([margins_of(m, mine, theirs) for m in bases]).reshape(*shape, 3)
        by_metric = np.zeros((rounds, len(METRICS)), dtype=bool)
        overall = np.zeros(rounds, dtype=bool)
        for i in range(rounds):
            defined = ~np.isnan(p[:, i])
            for which in range(len(METRICS)):
                own = defined[which]
                adjusted = holm(p[which, i, own], margins[which, i, own])
                by_metric[i, which] = (adjusted <= LEVEL).any()
                # Over the audit, each metric has the level times its share of the comparisons.
                overall[i] |= (adjusted <= LEVEL * own.sum() / defined.sum()).any()
            if i < 4:
                check_against_audit(cells[i], bool(by_metric[i].any()), "metric")
                check_against_audit(cells[i], bool(overall[i]), "audit")
        yield line(
            name,
            percent(float(by_metric.any(axis=1).mean())),
            percent(float(by_metric.mean())),
            percent(float(overall.mean())),
        )
        note(f"family, {name}")


def check_against_audit(cells: Floats, alarm: bool, family: Any) -> None:
    """The audit itself reports a difference exactly where the arrays do."""
    groups = {str(i): tuple(int(c) for c in row) for i, row in enumerate(cells)}
    assert any(row.differs for row in audit_counts(groups, family=family).rows) == alarm


# ------------------------------------------------------------------------------------------------ intervals


@cache
def share_intervals(n: int) -> tuple[Floats, Floats]:
    """The ends of the intervals of 0, ..., n of n."""
    k = np.arange(n + 1.0)
    cells = np.stack([k, n - k, 0 * k, 0 * k], axis=1)
    return score_intervals(one_group("acc"), cells, 0.95)


@cache
def bootstrap_intervals(n: int) -> tuple[Floats, Floats]:
    """The percentile bootstrap's, in the limit of infinitely many resamples."""
    share = np.arange(n + 1) / n
    low, high = (np.asarray(binom.ppf(q, n, share) / n) for q in (0.025, 0.975))
    return low, high


def covered(ends: tuple[Floats, Floats], rates: Floats) -> Floats:
    """The probability that the interval holds the true share."""
    n = len(ends[0]) - 1
    holds = (ends[0] <= rates[:, None]) & (rates[:, None] <= ends[1])
    return np.asarray((binom.pmf(np.arange(n + 1), n, rates[:, None]) * holds).sum(axis=1))


FINE = np.arange(1, 1000) / 1000


def coverage_of_shares() -> Iterator[str]:
    yield from table("n", "mean", "smallest", "at", "rates with less than 93%", "bootstrap: mean", "smallest")
    for n in (5, 10, 20, 50, 100):
        ours, theirs = covered(share_intervals(n), FINE), covered(bootstrap_intervals(n), FINE)
        worst = int(ours.argmin())
        yield line(n, percent(ours.mean()), percent(ours[worst]), f"{FINE[worst]:.3f}",
                   percent(float(np.mean(ours < 0.93)), 0), percent(theirs.mean()), percent(theirs.min()))  # fmt: skip
    high = covered(share_intervals(20), np.array([0.99]))[0]
    low = covered(bootstrap_intervals(20), np.array([0.99]))[0]
    yield f"\nAccuracy .99 of 20 cases: the interval covers it with {percent(high)}, the bootstrap with {percent(low)}."


def coverage_of_random_denominators() -> Iterator[str]:
    yield from table("score", "n", "cases that count", "mean", "smallest")
    for name, share in (("TPR", 0.1), ("TPR", 0.3), ("F1", 0.5)):
        for n in (10, 20, 50, 100):
            weight = binom.pmf(np.arange(1, n + 1), n, share)
            total = sum(w * covered(share_intervals(k), FINE) for k, w in enumerate(weight.tolist(), 1) if w > 1e-9)
            found = np.asarray(total) / weight.sum()
            yield line(name, n, percent(share, 0), percent(float(found.mean())), percent(float(found.min())))


def coverage(key: str, truth: ConfusionMatrix, n: int) -> tuple[float, float, float]:
    """How often interval and bootstrap cover a true score, given that the group's score is defined."""
    base = one_group(key)
    true_score = float(base(truth))
    cells = enumerate_matrices(n).astype(float)
    weights = law_of(truth, n).pmf(cells)
    kept = (weights > 1e-12) & ~np.isnan(base.scores(cells))
    cells, weights = cells[kept], weights[kept]
    low, high = score_intervals(base, cells, 0.95)
    held: dict[tuple[float, ...], bool] = {}
    kinds = [tuple(float(c) for c in base.tree.collapse(row)) if base.curve else tuple(row) for row in cells]
    for kind, row in zip(kinds, cells.astype(int).tolist(), strict=True):
        if kind not in held:
            resampled = distribution(base, n, ConfusionMatrix.from_array(row)).quantile([0.025, 0.975])
            held[kind] = bool(resampled[0] <= true_score <= resampled[1])
    defined = float(weights.sum())
    ours = float(weights @ ((low <= true_score) & (true_score <= high))) / defined
    return ours, float(weights @ np.array([held[kind] for kind in kinds])) / defined, 1 - defined


def coverage_table() -> Iterator[str]:
    yield from table("score", "rates of", "n", "undefined", "our 95% interval", "percentile bootstrap")
    for key, n in [*((key, n) for key in ("tpr", "ppv", "fpr", "acc", "f1") for n in (10, 20)), ("mcc", 8)]:
        for who, truth in COMPAS.items():
            ours, bootstrap, undefined = coverage(key, truth, n)
            yield line(key, f"COMPAS {who}", n, percent(undefined, 0), percent(ours), percent(bootstrap))
        note(f"coverage of {key}, {n}")


# ------------------------------------------------------------------------------------------------------ gaps


def miettinen_nurminen(a: Floats, n: int, b: Floats, m: int) -> tuple[Floats, Floats]:
    """The score interval of a difference of rates (Miettinen and Nurminen 1985), by bisection."""
    p, q, total = a / n, b / m, n + m
    critical = float(ndtri(0.975))

    def z(d: Floats) -> Floats:
        # The rates that are most likely given that their difference is d solve a cubic equation.
        l3, l2 = float(total), (n + 2 * m) * d - total - (a + b)
        l1, l0 = (m * d - total - 2 * b) * d + (a + b), b * d * (1 - d)
        v = l2**3 / (3 * l3) ** 3 - l1 * l2 / (6 * l3**2) + l0 / (2 * l3)
        u = np.sign(v) * np.sqrt(np.maximum(l2**2 / (3 * l3) ** 2 - l1 / (3 * l3), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            w = (np.pi + np.arccos(np.clip(np.nan_to_num(v / u**3), -1, 1))) / 3
        theirs = np.clip(2 * u * np.cos(w) - l2 / (3 * l3), 0, 1)
        mine = np.clip(theirs + d, 0, 1)
        variance = (mine * (1 - mine) / n + theirs * (1 - theirs) / m) * total / (total - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (p - q - d) / np.sqrt(variance)
        at_once = np.where(np.abs(p - q - d) < 1e-9, 0.0, np.sign(p - q - d) * 1e9)
        return np.where(variance <= 1e-15, at_once, value)

    ends = []
    for sign in (1, -1):
        inside, outside = p - q, np.full_like(p, -1.0 * sign)
        for _ in range(45):
            middle = (inside + outside) / 2
            within = sign * z(middle) <= critical
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        ends.append(inside)
    return ends[0], ends[1]


def newcombe(a: Floats, n: int, b: Floats, m: int) -> tuple[Floats, Floats]:
    """Wilson's intervals of either rate, put together (Newcombe 1998, method 10)."""
    c = float(ndtri(0.975))

    def wilson(k: Floats, size: int) -> tuple[Floats, Floats]:
        middle, half = k + c * c / 2, c * np.sqrt(k * (size - k) / size + c * c / 4)
        return (middle - half) / (size + c * c), (middle + half) / (size + c * c)

    p, q = a / n, b / m
    (l1, u1), (l2, u2) = wilson(a, n), wilson(b, m)
    return p - q - np.hypot(p - l1, u2 - q), p - q + np.hypot(u1 - p, q - l2)


def gap_tables() -> Iterator[str]:
    grid = np.array([0.01, 0.02, *np.arange(1, 20) / 20, 0.98, 0.99])
    p, q = (x.ravel() for x in np.meshgrid(grid, grid))
    yield from table(
        "n",
        "reference",
        *(f"{how}: {w}" for how in ("ours", "Miettinen-Nurminen", "Newcombe") for w in ("mean", "smallest")),
    )
    disagree = []
    for n, m in ((10, 50), (20, 100), (50, 50), (20, 400)):
        a, b, groups, references = every_pair(n, m)
        ends = score_gaps(one_group("acc"), groups, references, "difference").interval(0.95, a / n - b / m)
        cells = []
        mine, theirs = binom.pmf(np.arange(n + 1), n, p[:, None]), binom.pmf(np.arange(m + 1), m, q[:, None])
        for low, high in (ends, miettinen_nurminen(a, n, b, m), newcombe(a, n, b, m)):
            found = np.empty(len(p))
            for i, d in enumerate(p - q):
                holds = ((low <= d + 1e-9) & (d - 1e-9 <= high)).reshape(n + 1, m + 1)
                found[i] = mine[i] @ holds @ theirs[i]
            cells += [percent(float(found.mean())), percent(float(found.min()))]
        yield line(n, m, *cells)
        apart = ((ends[0] > 0) | (ends[1] < 0)).reshape(n + 1, m + 1)
        reject = pvalues(n, m) <= LEVEL
        numbers = [
            percent(float(rejected(apart & ~reject, p, q).mean())),
            percent(float(rejected(reject & ~apart, p, q).mean())),
            percent(float(rejected(apart, RATES, RATES).max())),
        ]
        disagree.append(line(n, m, *numbers))
        note(f"gaps, {n} and {m}")
    yield "\nHow often only the interval, or only the test, sees a difference, on average over the same rates:\n"
    yield from table("n", "reference", "only the interval", "only Fisher's test", "interval as a test: largest")
    yield from disagree


# ----------------------------------------------------------------------------------------------------- MATCH

NULLS = ("known", "predictive", "pooled", "pooled, mid-p")


def split_of(null: str, k: int, j: int, n: int, m: int) -> Split:
    """The law of a group's count under the null, when the reference shows ``j`` of ``m``."""
    if null == "known":
        return Binomial(j / m, 1 - j / m)
    if null == "predictive":
        return BetaBinomial(j + 1.0, m - j + 1.0)
    return Hypergeometric(k + j, n + m - k - j)


def central(split: Split, n: int, mid: bool) -> Floats:
    """The two-sided p-value of each count."""
    p = split.pmf(np.arange(n + 1), n)
    own = p / 2 if mid else p
    low, high = np.cumsum(p) - p + own, np.cumsum(p[::-1])[::-1] - p + own
    return np.asarray(np.minimum(1.0, 2 * np.minimum(low, high)))


@cache
def match_rejects(null: str, n: int, m: int) -> Bools:
    """Whether MATCH rejects at 5%, for each count of the group (rows) and of the reference (columns)."""
    reject = np.zeros((n + 1, m + 1), dtype=bool)
    if null.startswith("pooled"):
        for total in range(n + m + 1):
            p = central(split_of(null, 0, total, n, m), n, null.endswith("mid-p"))
            k = np.arange(max(0, total - m), min(n, total) + 1)
            reject[k, total - k] = p[k] <= LEVEL + 1e-12
    else:
        for j in range(m + 1):
            reject[:, j] = central(split_of(null, 0, j, n, m), n, False) <= LEVEL + 1e-12
    return reject


def check_match() -> None:
    """The p-values of these tables are those of match_test."""
    n, m = 12, 30
    for k, j in ((0, 3), (5, 9), (12, 20), (7, 2)):
        for null in NULLS:
            name, mid = null.split(",")[0], null.endswith("mid-p")
            group = ConfusionMatrix(tp=k, fn=n - k, fp=0, tn=0)
            reference = ConfusionMatrix(tp=j, fn=m - j, fp=0, tn=0)
            expected = match_test(group, reference, "acc", null=name, mid_p=mid).pvalue  # type: ignore[arg-type]
            found = central(split_of(null, k, j, n, m), n, mid)[k]
            assert abs(found - expected) < 1e-9, (null, k, j, found, expected)


def match_table() -> Iterator[str]:
    yield from table("n", "reference", *(f"{null}: {w}" for null in NULLS for w in ("at 0.3", "largest")))
    for n in (10, 50, 200):
        for m in (50, 200, 1000):
            cells = []
            for null in NULLS:
                sizes = rejected(match_rejects(null, n, m), RATES[3::4], RATES[3::4])
                at = rejected(match_rejects(null, n, m), np.array([0.3]), np.array([0.3]))[0]
                cells += [percent(float(at)), percent(float(sizes.max()))]
            yield line(n, m, *cells)


# ---------------------------------------------------------------------------------------------------- output

SEVERAL_HEADS = ("scores", "n / reference", "undefined", "ours", "posterior", "normal", "pooled MATCH")

_STARTED = time.perf_counter()


def note(what: str) -> None:
    print(f"{time.perf_counter() - _STARTED:6.0f} s  {what}", file=sys.stderr, flush=True)


def section(title: str, lines: Iterator[str] | list[str]) -> None:
    print(f"\n## {title}\n")
    for row in lines:
        print(row, flush=True)
    note(title)


def main() -> None:
    check_match()
    section("Size: shares and rates with given denominators, exact", size_of_rates())
    section("Size: TPR and F1 with random denominators, both defined, exact", size_of_random_denominators())
    lines, ours = several_rates(EQUAL_SCORES, SIZES, SIZES[:3])
    more, also = several_rates(EQUAL_RATES, (SIZES[1], SIZES[3], SIZES[5]), (SIZES[1],))
    section("Size: scores of several rates, both defined, simulated", [*table(*SEVERAL_HEADS), *lines, *more])
    size, name, n = max((size, name, n) for (name, n), size in (ours | also).items() if n >= 20)
    print(f"\nThe largest of ours at n >= 20: {percent(size)} ({name}, n = {n})")
    section("Power: shares and rates, exact", power_of_rates())
    lines, _ = several_rates(DIFFERENT, (SIZES[1], SIZES[2], SIZES[3]), (SIZES[1], SIZES[2]))
    section("Power: scores of several rates, simulated", [*table(*SEVERAL_HEADS), *lines])
    section(f"Audits of several groups, {ROUNDS} simulated", audit_table())
    section("False alarms by metric and over the audit, eight metrics, 300 simulated audits", family_table())
    section("Coverage: a share, and the bootstrap of infinitely many resamples, exact", coverage_of_shares())
    section("Coverage: TPR and F1 with random denominators, defined, exact", coverage_of_random_denominators())
    section("Coverage: groups of COMPAS, defined, and the bootstrap of rows, exact", coverage_table())
    section("Coverage: a gap between two rates, exact", gap_tables())
    section("Size: the nulls of MATCH, exact", match_table())


if __name__ == "__main__":
    main()
