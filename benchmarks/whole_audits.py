"""What an audit claims of many numbers together, measured through the public interface only.

Run it with ``.venv/bin/python benchmarks/whole_audits.py [section ...] [--runs N]``; without a section it runs all of
them, which takes about an hour. It reads rows and intervals as users get them, so the same script measures any
version of the library: ``PYTHONPATH=other/src`` is enough. What can be listed is exact: every outcome with its
probability. The rest is simulated from fixed seeds, with standard errors (±), on the same draws for every version. The
worst setting of each table is in bold. Progress and times go to stderr. docs/reference/evidence.md has the numbers that
matter.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

from evenhand import (
    ConfusionMatrix,
    audit_counts,
    compare,
    disparity,
    enumerate_matrices,
    examples,
    interval,
    list_metrics,
    metric,
)
from evenhand.inference import change_intervals, mcnemar_pvalues

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Truth = tuple[float, float, float, float]
Line = Sequence[object]

LEVEL = 0.05
REFERENCE = "reference"
# Verdicts and claims of a difference do not use these settings, so that they may cost little: with so large a margin no
# sample size is planned, and a fixed strength is not learnt.
QUICK: Any = {"margin": 1.0, "strength": 10}
# No group is large enough for impact ratios to compare with.


@dataclass(frozen=True)
class Share:
    """A probability; exact if there were no runs."""

    value: float
    runs: int = 0

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        # A share of 0 or 1 among few runs has a standard error too.
        near = (self.value * self.runs + 1) / (self.runs + 2)
        error = f" ± {100 * np.sqrt(near * (1 - near) / self.runs):.1f}" if self.runs else ""
        return f"{100 * self.value:.1f}{error}%"


def share(hits: Iterable[bool]) -> Share:
    """The share of hits among runs; nan of none."""
    seen = list(hits)
    return Share(float(np.mean(seen)) if seen else np.nan, len(seen))


def table(heads: Sequence[str], lines: Sequence[Line], by: int = -1, worst: Callable[..., Any] = max) -> Iterator[str]:
    """A table in Markdown, with the worst share of one column in bold."""
    values = [cell.value for each in lines if isinstance(cell := each[by], Share) and not np.isnan(cell.value)]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for each in lines:
        cells = [str(cell) for cell in each]
        if isinstance(cell := each[by], Share) and cell.value == worst(values) and len(set(values)) > 1:
            cells[by] = f"**{cell}**"
        yield "| " + " | ".join(cells) + " |"


def rate(p: float) -> Truth:
    """Cells whose accuracy, selection rate and TPR are all ``p``."""
    return p, 1 - p, 0.0, 0.0


def matrix(prev: float, tpr: float, fpr: float) -> Truth:
    return prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)


# ------------------------------------------------------------------------------------------- audits, simulated


@dataclass(frozen=True)
class Groups:
    """The sizes of the groups of an audit, and of the named reference group, if there is one."""

    name: str
    sizes: Sequence[int]
    reference: int | None = None

    @property
    def against(self) -> str:
        """What each group is compared with."""
        return "the rest" if self.reference is None else f"a group of {self.reference}"


def equal(k: int, n: int, reference: int | None = None) -> Groups:
    return Groups(f"{k} of {n}", [n] * k, reference)


def ranging(k: int, low: int, high: int, reference: int | None = None) -> Groups:
    return Groups(f"{k} of {low} to {high}", np.linspace(low, high, k).round().astype(int).tolist(), reference)


def drawn_audits(who: Groups, truths: Any, base: Truth, runs: int, seed: int, **how: Any) -> Iterator[Any]:
    """Audits of groups with these true cells (by group, or by run and group); the reference's are ``base``."""
    rng = np.random.default_rng([24, seed])
    cells = rng.multinomial(who.sizes, np.broadcast_to(truths, (runs, len(who.sizes), 4))).tolist()
    named = None if who.reference is None else rng.multinomial(who.reference, base, runs).tolist()
    for i, each in enumerate(cells):
        counts = {f"g{j}": tuple(own) for j, own in enumerate(each)}
        if named is not None:
            counts[REFERENCE] = tuple(named[i])
            how["reference"] = REFERENCE
        yield audit_counts(counts, **how)


def differing(audit: Any) -> list[Any]:
    """The rows that are said to be higher or lower."""
    return [row for row in audit.rows if row.verdict in ("higher", "lower")]


def alarms(audits: Iterable[Any]) -> Share:
    return share(bool(differing(audit)) for audit in audits)


ALARMS = "audits with a false alarm"
SIX = ranging(6, 5, 40)
NAMED = (equal(60, 20, 60), equal(20, 20, 60), equal(60, 20, 600))


def alarms_against_a_group(runs: int) -> Iterator[str]:
    """Nothing differs, one metric (accuracy): the share of audits with any verdict "higher" or "lower". Simulated.

    Of one metric and one column both families are the same; one setting is measured with both.
    """
    settings = [(who, p, "metric") for who in NAMED for p in (0.05, 0.3, 0.5)]
    yield from alarm_table([*settings, (NAMED[0], 0.05, "audit")], runs, 0)


def alarms_against_the_rest(runs: int) -> Iterator[str]:
    """The same against the rest. Simulated."""
    whos = (equal(60, 20), equal(20, 20), SIX)
    yield from alarm_table([(who, p, "metric") for who in whos for p in (0.05, 0.3, 0.5)], runs, 20)


def alarm_table(settings: Iterable[tuple[Groups, float, str]], runs: int, seed: int) -> Iterator[str]:
    lines: list[Line] = []
    for i, (who, p, family) in enumerate(settings):
        # The same draws whatever the family.
        draws = seed + i % 9
        made = drawn_audits(who, rate(p), rate(p), runs, draws, metrics="acc", family=family, **QUICK)
        lines.append((who.name, p, who.against, family, alarms(made)))
        note(*lines[-1])
    yield from table(("groups", "rate", "against", "family", ALARMS), lines)


def alarms_of_crossings(runs: int) -> Iterator[str]:
    """The same for two columns of 5 and 4 groups and their intersections of 20 people each. Simulated."""
    lines: list[Line] = []
    for seed, (p, named) in enumerate((p, named) for p in (0.05, 0.3) for named in (False, True)):
        for family in ("metric", "audit"):
            made = crossed_audits(p, named, runs, 100 + seed, metrics="acc", family=family, **QUICK)
            lines.append((p, "named groups" if named else "the rest", family, alarms(made)))
            note(*lines[-1])
    yield from table(("rate", "against", "family", ALARMS), lines)


def crossed_audits(p: float, named: bool, runs: int, seed: int, **how: Any) -> Iterator[Any]:
    """Audits of the groups of two columns and their intersections."""
    rng = np.random.default_rng([24, seed])
    if named:
        how["reference"] = {"race": "r0", "sex": "s0"}
    for each in rng.binomial(20, p, (runs, 5, 4)).tolist():
        counts = {(f"r{i}", f"s{j}"): (x, 20 - x, 0, 0) for i, row in enumerate(each) for j, x in enumerate(row)}
        yield audit_counts(counts, by=["race", "sex"], intersections=2, **how)


def alarms_of_default_audits(runs: int) -> Iterator[str]:
    """Nothing differs, the eight default metrics: what a gate on "differs" would stop. Simulated.

    True cells are (.18, .12, .14, .56).
    """
    truth, lines = (0.18, 0.12, 0.14, 0.56), []
    for seed, who in enumerate((SIX, equal(20, 20), equal(20, 20, 60))):
        for family in ("metric", "audit"):
            made = drawn_audits(who, truth, truth, runs, 200 + seed, family=family, **QUICK)
            lines.append((who.name, who.against, family, alarms(made)))
            note(*lines[-1])
    yield from table(("groups", "against", "family", ALARMS), lines)


def power(runs: int) -> Iterator[str]:
    """One group differs: the share of audits that find it, and of those that find any other group. Simulated.

    In turn each group is the one that differs. Against the rest all others differ a little, too, so that what is found
    of them is no false alarm. Last, the audits of `benchmarks/peers`: a group of 500 and small ones.
    """
    lines: list[Line] = []
    settings: list[tuple[Groups, str, Truth, Truth]] = [
        (who, "acc", rate(p), rate(p + 0.3)) for who in (*NAMED, equal(60, 20), equal(20, 20), SIX) for p in (0.05, 0.3)
    ]
    usual = matrix(0.4, 0.7, 0.2)
    for k in (6, 20):
        small = ranging(k, 10, 60)
        peers = Groups(f"{small.name}, one of 500", [*small.sizes, 500])
        settings += [(peers, "ppr", usual, matrix(0.4, 0.95, 0.55)), (peers, "tpr", usual, matrix(0.4, 0.25, 0.2))]
    for seed, (who, key, base, other) in enumerate(settings):
        k = sum(n < 500 for n in who.sizes)
        truths = np.broadcast_to(base, (runs, len(who.sizes), 4)).copy()
        truths[np.arange(runs), np.arange(runs) % k] = other
        true, usually = (float(metric(key)(ConfusionMatrix.from_array(cells))) for cells in (other, base))
        way = "higher" if true > usually else "lower"
        hit, beside = [], []
        for i, audit in enumerate(drawn_audits(who, truths, base, runs, 300 + seed, metrics=key, **QUICK)):
            said = {row.group: row.verdict for row in differing(audit)}
            hit.append(said.pop(f"g{i % k}", None) == way)
            beside.append(bool(said))
        others = share(beside) if who.reference else ""
        lines.append((who.name, key, f"{true:.2f} v {usually:.2f}", who.against, share(hit), others))
        note(*lines[-1])
    heads = ("groups", "metric", "scores", "against", "found", "any other found")
    yield from table(heads, lines, by=4, worst=min)


# ------------------------------------------------------------------------------------------------- "at least"


def rates_of(k: int, how_many: str, gap: float) -> Floats:
    """True rates of k groups: some are ``gap`` above .3, or all are that much above or below .5 in turn."""
    if how_many == "all":
        return 0.5 + gap * np.where(np.arange(k) % 2, 1.0, -1.0)
    differ = {"none": 0, "one": 1, "a sixth": max(1, k // 6)}[how_many]
    return np.where(np.arange(k) < differ, 0.3 + gap, 0.3)


def at_least_few(runs: int) -> Iterator[str]:
    """Selection rates against the rest: the share of audits with any untrue "at least". Simulated.

    A row claims ``gap.at_least`` if it is said to be higher or lower. The claim is untrue if the true gap to the rest
    (the rate less the mean of all others' cases) is smaller, or of the other sign. Some groups have a rate of .3 + gap
    and the others .3; if all differ, they have .5 + gap and .5 - gap in turn. "First" is the row shown first. "Of the
    true gap" is the median of claim over true gap, over all claims where there is one.
    """
    yield from claims_table((equal(6, 40), equal(20, 40), ranging(20, 10, 200)), runs, 400)


def at_least_many(runs: int) -> Iterator[str]:
    """The same with more groups. Simulated."""
    yield from claims_table((equal(60, 40), equal(150, 40)), runs, 450)


def claims_table(whos: Iterable[Groups], runs: int, first_seed: int) -> Iterator[str]:
    lines: list[Line] = []
    settings = [
        (who, how_many, gap)
        for who in whos
        for how_many in ("none", "one", "a sixth", "all")
        for gap in ((0.0,) if how_many == "none" else (0.1, 0.3))
        if (how_many, len(who.sizes)) != ("a sixth", 6)
    ]
    for seed, (who, how_many, gap) in enumerate(settings):
        p, sizes = rates_of(len(who.sizes), how_many, gap), np.array(who.sizes)
        # Large and small groups differ alike.
        p = np.random.default_rng(seed).permutation(p)
        rest = ((p * sizes).sum() - p * sizes) / (sizes.sum() - sizes)
        true = dict(zip([f"g{j}" for j in range(len(p))], (p - rest).tolist(), strict=True))
        truths = np.stack([p, 1 - p, 0 * p, 0 * p], axis=1)
        untrue, first, parts = [], [], []
        for audit in drawn_audits(
            who, truths, rate(0.3), runs, first_seed + seed, metrics="ppr", bounds="simultaneous", **QUICK
        ):
            claims = [row for row in differing(audit) if row.at_least]
            wrong = [not claim_holds(row, true[row.group]) for row in claims]
            untrue.append(any(wrong))
            first += wrong[:1]
            parts += [abs(row.at_least / true[row.group]) for row in claims if abs(true[row.group]) > 1e-9]
        part = f"{np.median(parts):.2f}" if parts else "–"
        lines.append((who.name, how_many, gap or "", Share(len(first) / runs, runs), part, share(first), share(untrue)))
        note(*lines[-1])
    heads = ("groups", "differ", "by", "audits that claim", "of the true gap", "first is untrue", "any is untrue")
    yield from table(heads, lines)


def false_coverage(runs: int) -> Iterator[str]:
    """Five metrics: the mean share of an audit's "at least" bounds that are too large, as printed. Simulated.

    Prevalence, TPR and FPR of groups are .4, .7 and .3, or vary around these. Of two groups one counts. An audit
    without bounds counts as 0. "Sized" is the share of rows that differ whose size is claimed.
    """
    metrics = ["ppr", "tpr", "fpr", "ppv", "acc"]
    lines: list[Line] = []
    settings = [(2, 2000, 0.0), (3, 1000, 0.0), (6, 500, 0.0), (20, 200, 0.0)]
    settings += [(2, 2000, 0.01), (3, 1000, 0.02), (6, 500, 0.03), (20, 100, 0.05)]
    for seed, (groups, n, spread) in enumerate(settings):
        rng = np.random.default_rng([25, seed])
        shares: dict[str, list[float]] = {"fcr": [], "simultaneous": []}
        sized: dict[str, list[float]] = {"fcr": [], "simultaneous": []}
        for _ in range(runs):
            centre = np.array([[0.4], [0.7], [0.3]])
            prev, tpr, fpr = np.clip(centre + spread * rng.normal(size=(3, groups)), 0.03, 0.97)
            chances = np.stack([matrix(*of) for of in zip(prev, tpr, fpr, strict=True)])
            counts = {f"g{j}": tuple(rng.multinomial(n, chance).tolist()) for j, chance in enumerate(chances)}
            rates = {"ppr": chances[:, [0, 2]].sum(1), "acc": chances[:, [0, 3]].sum(1), "tpr": tpr, "fpr": fpr}
            rates["ppv"] = chances[:, 0] / rates["ppr"]
            audit = audit_counts(counts, metrics=metrics, **QUICK)
            support = {(row.metric, row.group): row.support for row in audit.rows}
            found = [row for row in differing(audit) if groups > 2 or row.group == "g0"]
            for kind, column in (("fcr", "at_least"), ("simultaneous", "simultaneous_bound")):
                claims = [row for row in found if getattr(row, column) > 0]
                untrue = 0
                for row in claims:
                    at = list(counts).index(row.group)
                    size = np.array([support[row.metric, group] for group in counts], dtype=float)
                    size[at], rate_of = 0.0, rates[row.metric]
                    gap = rate_of[at] - size @ rate_of / size.sum()
                    gap = gap if row.verdict == "higher" else -gap
                    untrue += getattr(row, column) > gap + 1e-12
                shares[kind].append(untrue / max(1, len(claims)))
                sized[kind] += [getattr(row, column) > 0 for row in found]
        cells: list[object] = [f"{groups} of {n}", spread or "none"]
        for kind, of_audits in shares.items():
            error = np.std(of_audits) / runs**0.5
            cells += [f"{100 * np.mean(of_audits):.1f} ± {100 * error:.1f}%", share(map(bool, sized[kind]))]
        lines.append(cells)
        note(*cells)
    heads = ("groups", "s.d. of rates", "too large", "sized", "too large, simultaneous", "sized, simultaneous")
    yield from table(heads, lines)


def claim_holds(row: Any, true: float) -> bool:
    """Whether the true gap is on the side that the row says, and at least as large."""
    return bool((true if row.verdict == "higher" else -true) >= abs(row.at_least) - 1e-12)


# ---------------------------------------------------------------------------------------------------- "equivalent"


def false_alike(runs: int) -> Iterator[str]:
    """A true gap of exactly the margin: the largest probability of the verdict "equivalent" for one comparison. Exact.

    Over rates of the reference from 0 to 1 in steps of .0025, the group's being higher or lower by the margin. At its
    level of 95% it should be at most 2.5%.
    """
    lines: list[Line] = []
    for n in (7, 10, 24, 49, 100, 200):
        for m in (500, 1000):
            for margin in (0.05, 0.1, 0.3):
                verdicts = alike_verdicts(n, m, margin)
                worst, at = 0.0, ""
                for gap in (margin, -margin):
                    q = np.arange(401) / 400
                    q = q[np.abs(q + gap - 0.5) <= 0.5 + 1e-9]
                    p = probabilities(verdicts, np.clip(q + gap, 0, 1), q)
                    if p.max() > worst:
                        worst, at = float(p.max()), f"{q[p.argmax()] + gap:.3g} v {q[p.argmax()]:.3g}"
                lines.append((n, m, margin, at, Share(worst)))
                note(*lines[-1])
    yield from table(("n", "reference", "margin", "at the rates", "false alike, largest"), lines)


def alike_verdicts(n: int, m: int, margin: float) -> Bools:
    """Whether the verdict is "equivalent" for each count of the group (rows) and of the reference (columns).

    An interval contains its estimate, so only estimates within the margin can be alike. Counts of successes and of
    failures are alike in the same cases. Several counts of the reference share an audit, each in a column of its own.
    """
    found = np.zeros((n + 1, m + 1), dtype=bool)
    several = 12
    for start in range(0, m // 2 + 1, several):
        references = range(start, min(start + several, m // 2 + 1))
        columns = [f"{b}" for b in references]
        counts: dict[tuple[str, ...], tuple[int, int, int, int]] = {}
        for j, b in enumerate(references):
            key = ["elsewhere"] * len(columns)
            for a in np.flatnonzero(np.abs(np.arange(n + 1) / n - b / m) <= margin).tolist():
                key[j] = f"{a}"
                counts[tuple(key)] = (a, n - a, 0, 0)
            key[j] = REFERENCE
            counts[tuple(key)] = (b, m - b, 0, 0)
        how: Any = {"adjust": "none", "margin": margin, "intersections": 1}
        reference = dict.fromkeys(columns, REFERENCE)
        for row in audit_counts(counts, by=columns, metrics="acc", reference=reference, **how).rows:
            if row.group.isdigit() and row.verdict == "equivalent":
                found[int(row.group), int(row.by)] = True
                found[n - int(row.group), m - int(row.by)] = True
    return found


def probabilities(outcomes: Bools, p: Floats, q: Floats) -> Floats:
    """The probability of some outcomes, for the rates p of the group and q of the reference."""
    n, m = (size - 1 for size in outcomes.shape)
    mine, theirs = binom.pmf(np.arange(n + 1), n, p[:, None]), binom.pmf(np.arange(m + 1), m, q[:, None])
    return np.asarray(np.einsum("ga,ab,gb->g", mine, outcomes.astype(float), theirs, optimize=True))


# ------------------------------------------------------------------------------------------------- intervals

RATES = [(0.99, 0.01), (0.95, 0.2), (0.9, 0.1), (0.9, 0.5), (0.8, 0.2), (0.7, 0.3), (0.6, 0.05), (0.5, 0.1), (0.5, 0.5),
         (0.3, 0.1), (0.2, 0.02)]  # fmt: skip


def truths() -> dict[str, Truth]:
    """Named true cells: a grid, which has accuracy .99 and prevalence .05, and the groups of the paper."""
    grid = {f"prevalence {prev:g}, TPR {tpr:g}, FPR {fpr:g}": matrix(prev, tpr, fpr)
            for prev in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95) for tpr, fpr in RATES}  # fmt: skip
    sources = {
        "COMPAS": examples.compas(),
        "violent": examples.compas_violent(),
        "Folktables": examples.folktables_income(),
    }
    for source, members in sources.items():
        for name, cm in members.items():
            tp, fn, fp, tn = (float(cell) / float(cm.n) for cell in cm.cells)
            grid[f"{source}, {name}"] = (tp, fn, fp, tn)
    return grid


def coverage_of_ten(runs: int) -> Iterator[str]:
    """The 95% interval of every score, of groups of 10: how often it holds the true score. Exact.

    Over 105 true matrices: prevalences .05 to .95 with eleven pairs of TPR and FPR, among them accuracy .99, and the
    groups of the paper. "Defined": given that the group has a score. "All": samples without one count as covered.
    """
    yield from coverage(10)


def coverage_of_twenty(runs: int) -> Iterator[str]:
    """The same for groups of 20. Exact."""
    yield from coverage(20)


def coverage(n: int) -> Iterator[str]:
    true = truths()
    lines: list[Line] = []
    tables = np.array(list(enumerate_matrices(n)))
    weights = [multinomial.pmf(tables, n, p) for p in true.values()]
    for m in list_metrics():
        if m.comparisons:
            continue
        made = [interval(ConfusionMatrix.from_array(cells), m) for cells in tables.tolist()]
        low, high = (np.array(ends) for ends in zip(*map(ends_of, made), strict=True))
        defined = ~np.isnan([one.estimate for one in made])
        given, every = {}, {}
        for (name, p), weight in zip(true.items(), weights, strict=True):
            score = float(m(ConfusionMatrix.from_array(p)))
            if not np.isnan(score):
                some = float(weight @ defined)
                held = float(weight @ (defined & (low <= score + 1e-9) & (score - 1e-9 <= high)))
                given[name], every[name] = held / some, held + 1 - some
        lines.append((m.key, *mean_and_smallest(every), *mean_and_smallest(given)))
        note(n, *lines[-1])
    heads = ("metric", "all: mean", "smallest", "at", "defined: mean", "smallest", "at")
    yield from table(heads, lines, by=2, worst=min)


def ends_of(one: Any) -> tuple[float, float]:
    """The ends of an interval or a gap; an end that is missing is infinite."""
    return tuple(  # type: ignore[return-value]
        far if end is None or np.isnan(end) else float(end) for end, far in ((one.low, -np.inf), (one.high, np.inf))
    )


def mean_and_smallest(covered: dict[str, float]) -> tuple[Share, Share, str]:
    """The mean and the smallest coverage, and where that is."""
    where = min(covered, key=lambda name: covered[name])
    return Share(float(np.mean(list(covered.values())))), Share(covered[where]), where


def coverage_of_gaps(runs: int) -> Iterator[str]:
    """The 95% interval of the difference of two rates, and how often it holds the true one. Exact.

    Over all pairs of the rates 0, .005, .01, .02, .05, .1, .15, ..., .95, .98, .99, .995 and 1. "One-sided": how often
    the true gap lies beyond one end, at most; half of 5% is nominal. "Excludes 0" is the largest probability, over
    equal rates, that the interval sees a gap, and "beside p" that it and Fisher's p-value disagree, over all rates.
    """
    grid = np.array([0, 0.005, 0.01, 0.02, *np.arange(1, 20) / 20, 0.98, 0.99, 0.995, 1])
    p, q = (x.ravel() for x in np.meshgrid(grid, grid))
    lines: list[Line] = []
    for n, m in ((10, 50), (20, 100)):
        made = [
            disparity(
                ConfusionMatrix(tp=a, fn=n - a, fp=0, tn=0),
                ConfusionMatrix(tp=b, fn=m - b, fp=0, tn=0),
                "acc",
            )
            for a in range(n + 1)
            for b in range(m + 1)
        ]
        low, high = (np.array(ends).reshape(n + 1, m + 1) for ends in zip(*map(ends_of, made), strict=True))
        rejects = np.array([one.pvalue <= LEVEL for one in made]).reshape(n + 1, m + 1)
        above, below = np.empty(len(p)), np.empty(len(p))
        for i, d in enumerate(p - q):
            above[i], below[i] = (probabilities(miss, p[[i]], q[[i]])[0] for miss in (low > d + 1e-9, high < d - 1e-9))
        covered, apart = 1 - above - below, (low > 0) | (high < 0)
        at = f"{p[covered.argmin()]:g} v {q[covered.argmin()]:g}"
        lines.append((
            *(n, m, Share(float(covered.mean())), Share(float(covered.min())), at),
            Share(float(np.maximum(above, below).max())),
            Share(float(probabilities(apart, grid, grid).max())),
            Share(float(probabilities(apart != rejects, p, q).max())),
        ))  # fmt: skip
        note(*lines[-1])
    heads = ("n", "reference", "mean", "smallest", "at the rates", "one-sided", "excludes 0", "beside p")
    yield from table(heads, lines, by=3, worst=min)


PAIRS = {
    "equivalent": ((0.1, 0.05, 0.15, 0.7), (0.1, 0.05, 0.15, 0.7)),
    "accuracy .99, prevalence .3": (matrix(0.3, 0.99, 0.01), matrix(0.3, 0.99, 0.01)),
    "prevalence .05 v .5, (.8, .2)": (matrix(0.05, 0.8, 0.2), matrix(0.5, 0.8, 0.2)),
    "(.5, .4) v (.9, .1), prevalence .3": (matrix(0.3, 0.5, 0.4), matrix(0.3, 0.9, 0.1)),
    "(.9, .5) v (.5, .1), prevalence .2 v .5": (matrix(0.2, 0.9, 0.5), matrix(0.5, 0.5, 0.1)),
}


def coverage_of_score_gaps(runs: int) -> Iterator[str]:
    """The same for scores made of several rates, given that both are defined. Simulated.

    The pairs are (TPR, FPR) of group and reference. "Finds" is the share of p-values of at most 5%: false alarms
    where the true gap is 0.
    """
    lines: list[Line] = []
    for seed, (name, (mine, theirs)) in enumerate(PAIRS.items()):
        for n, m in ((10, 50), (20, 100)):
            for key in ("mcc", "kappa", "informedness", "mb"):
                rng = np.random.default_rng([24, 500 + seed])
                drawn = zip(*(rng.multinomial(*each, runs).tolist() for each in ((n, mine), (m, theirs))), strict=True)
                score = metric(key)
                gap = float(score(ConfusionMatrix.from_array(mine)) - score(ConfusionMatrix.from_array(theirs)))
                held, finds = [], []
                for (a, b), times in Counter((tuple(a), tuple(b)) for a, b in drawn).items():
                    one = disparity(ConfusionMatrix.from_array(a), ConfusionMatrix.from_array(b), key)
                    if not np.isnan(one.estimate):
                        low, high = ends_of(one)
                        held += [low - 1e-9 <= gap <= high + 1e-9] * times
                        finds += [bool(one.pvalue <= LEVEL)] * times
                undefined = Share(1 - len(held) / runs, runs)
                lines.append((key, name, n, m, f"{gap:+.2f}", undefined, share(held), share(finds)))
                note(*lines[-1])
    heads = ("metric", "rates", "n", "reference", "true gap", "undefined", "covered", "finds")
    yield from table(heads, lines, by=6, worst=min)


# ------------------------------------------------------------------------------------------------ two models

Change = tuple[float, float]
CHANGES: dict[str, tuple[Change, Change]] = {
    "better for everybody alike": ((0.3, 0.05), (0.3, 0.05)),
    "better for everybody alike, few change": ((0.05, 0.0), (0.05, 0.0)),
    "better for everybody alike, very few change": ((0.03, 0.0), (0.03, 0.0)),
    "nobody in the group changes, others on balance 0": ((0.0, 0.0), (0.2, 0.2)),
    "nobody else changes, the group on balance 0": ((0.2, 0.2), (0.0, 0.0)),
    "+.05: few of the group change, many others": ((0.05, 0.0), (0.3, 0.25)),
    "+.05: many of the group change, few others": ((0.3, 0.25), (0.05, 0.0)),
    "+.3: all of the group up, others both ways": ((0.3, 0.0), (0.5, 0.2)),
    "+.3: the group both ways, others only up": ((0.5, 0.2), (0.3, 0.0)),
    "few change, on balance 0": ((0.02, 0.02), (0.02, 0.02)),
    "the gap does change, by .25 (power)": ((0.3, 0.05), (0.05, 0.05)),
}


def two_models(runs: int) -> Iterator[str]:
    """Old and new model on the same people; the gap does not change: how often its test rejects at 5%. Simulated.

    Of each group a share goes up (only the new model says yes) and another goes down.
    """
    lines: list[Line] = []
    for seed, (name, both) in enumerate(CHANGES.items()):
        for n, m in ((24, 400), (10, 100)):
            rng = np.random.default_rng([24, 600 + seed])
            drawn = [rng.multinomial(size, (up, down, 1 - up - down), runs).tolist()
                     for size, (up, down) in zip((n, m), both, strict=True)]  # fmt: skip
            seen = Counter((tuple(a), tuple(b)) for a, b in zip(*drawn, strict=True))
            rejects = share(hit for (a, b), times in seen.items() for hit in [rejects_models(a, b)] * times)
            power = seed == len(CHANGES) - 1
            (up, down), (their_up, their_down) = both
            shares = f"{up:g} up, {down:g} down v {their_up:g} up, {their_down:g} down"
            lines.append((name, shares, n, m, f"{rejects}" if power else rejects))
            note(*lines[-1])
    yield from table(("change", "group v others", "n", "others", "rejects"), lines)


def rejects_models(*sides: tuple[int, ...]) -> bool:
    """Whether the test of the change of the gap rejects, given how many go up, down and neither on either side."""
    columns: dict[str, list[object]] = {"who": [], "label": [], "old": [], "new": []}
    for who, (up, down, same) in zip(("group", REFERENCE), sides, strict=True):
        half = same // 2
        columns["who"] += [who] * (up + down + same)
        columns["label"] += [i % 2 for i in range(up + down + same)]
        columns["old"] += [0] * up + [1] * down + [1] * half + [0] * (same - half)
        columns["new"] += [1] * up + [0] * down + [1] * half + [0] * (same - half)
    audit = compare(
        *(columns,), y_true="label", models={"old": "old", "new": "new"}, groups="who", metrics="ppr",
        reference=REFERENCE, adjust="none",
    )  # fmt: skip
    (p,) = (row.pvalue for row in audit.rows if row.group == "group" and row.is_gap_change)
    return p is not None and p <= LEVEL


# Sizes of categories, and the share of tasks with another result: as many wins as losses in truth.
CATEGORIES = {"12 of 1 to 231": (1, 3, 8, 12, 20, 25, 30, 35, 40, 45, 50, 231), "20 of 20": (20,) * 20,
              "4 of 200": (200,) * 4}  # fmt: skip
RUNS_PER_ITEM = {"10 items": (10, 5), "40 items": (40, 4), "200 items": (200, 3)}


def false_worse(runs: int) -> Iterator[str]:
    """No model is better: comparisons with any verdict "worse" (alpha 5%, so half of it is expected). Simulated.

    With runs, every item has a rate of its own of 0.02, 0.5 or 0.98, the same for both models; 4 categories.
    """
    lines: list[Line] = []
    rng = np.random.default_rng([24, 700])
    for name, sizes in CATEGORIES.items():
        who = np.repeat(np.arange(len(sizes)), sizes)
        for discordant in (0.05, 0.2, 0.5, 1.0):
            drawn = rng.choice([-1, 0, 1], (runs, len(who)), p=(discordant / 2, 1 - discordant, discordant / 2))
            made = (_compare_results(who, drawn_of == -1, drawn_of == 1) for drawn_of in drawn)
            lines.append((name, f"{discordant:g} discordant", share(_any_worse(one) for one in made)))
            note(*lines[-1])
    for name, (items, each) in RUNS_PER_ITEM.items():
        item = np.repeat(np.arange(items), each)
        for p in (0.02, 0.5):
            rates = rng.choice([p, 0.5, 1 - p], (runs, items))[:, item]
            pairs = rng.random((2, *rates.shape)) < rates
            made = (_compare_results(item % 4, old, new, cluster=item) for old, new in zip(*pairs, strict=True))
            lines.append((f"{name} of {each} runs", f"rates {p:g} to {1 - p:g}", share(map(_any_worse, made))))
            note(*lines[-1])
    yield from table(("categories", "truth", "any worse"), lines)


def _compare_results(who: Any, old: Any, new: Any, **settings: Any) -> Any:
    columns = {"who": who, "old": old.astype(int), "new": new.astype(int), **settings}
    names: dict[str, Any] = {name: name for name in settings}
    return compare(columns, results={"old": "old", "new": "new"}, groups="who", **names)


def _any_worse(made: Any) -> bool:
    return any(row.verdict == "worse" for row in made.rows)


def false_not_worse(runs: int) -> Iterator[str]:
    """The change is -.1, the margin: "not worse", "equivalent" or "better"; and "equivalent" alone. Exact."""
    lines: list[Line] = []
    for n in (20, 50, 100, 200):
        w, lost = np.array([(w, k) for w in range(n + 1) for k in range(n + 1 - w)], dtype=float).T
        low, high = change_intervals(w, lost, np.full(len(w), float(n)), 0.95)
        is_open = mcnemar_pvalues(w, lost) > LEVEL
        is_not_worse = (low >= -0.1) & (is_open | (w > lost))
        is_equivalent = (low >= -0.1) & (high <= 0.1) & is_open
        for share_of in (0.1, 0.12, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0):
            win, lose = (share_of - 0.1) / 2, (share_of + 0.1) / 2
            down = multinomial.pmf(np.stack([w, lost, n - w - lost], axis=1), n, (win, lose, 1 - share_of))
            lines.append((n, share_of, Share(float(down[is_not_worse].sum())), Share(float(down[is_equivalent].sum()))))
            note(*lines[-1])
    yield from table(("tasks", "discordant", "false not worse", "false equivalent"), lines, by=2)


# ---------------------------------------------------------------------------------------------------- output

SECTIONS: dict[str, tuple[str, Callable[[int], Iterator[str]]]] = {
    "alarms-named": ("False alarms of whole audits against a named group", alarms_against_a_group),
    "alarms-rest": ("False alarms of whole audits against the rest", alarms_against_the_rest),
    "alarms-crossed": ("False alarms of audits of intersections", alarms_of_crossings),
    "alarms-default": ("False alarms of the default audit", alarms_of_default_audits),
    "power": ("Power of whole audits", power),
    "at-least-few": ('Untrue "at least", up to 20 groups', at_least_few),
    "false-coverage": ('"At least" of five metrics, on average', false_coverage),
    "at-least-many": ('Untrue "at least", 60 and 150 groups', at_least_many),
    "equivalent": ("False alike at the margin", false_alike),
    "scores-10": ("Coverage of the interval of a score of 10 cases", coverage_of_ten),
    "scores-20": ("Coverage of the interval of a score of 20 cases", coverage_of_twenty),
    "gaps": ("Coverage of the interval of a gap between two rates", coverage_of_gaps),
    "score-gaps": ("Coverage of the interval of a gap between scores of several rates", coverage_of_score_gaps),
    "models": ("Size of the test of two models", two_models),
    "worse": ("False worse in whole comparisons", false_worse),
    "not-worse": ("False not worse and equivalent", false_not_worse),
}

_STARTED = time.perf_counter()


def note(*what: object) -> None:
    print(f"{time.perf_counter() - _STARTED:6.0f} s  {', '.join(map(str, what))}", file=sys.stderr, flush=True)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("section", nargs="*", help=f"one or more of {', '.join(SECTIONS)}; by default all")
    reader.add_argument("--runs", type=int, default=400, help="how many audits are simulated for each line")
    given = reader.parse_args()
    for name in given.section or SECTIONS:
        title, section = SECTIONS[name]
        text = " ".join((section.__doc__ or "").split())
        print(f"\n## {title}\n\n{text}\n", flush=True)
        for line in section(given.runs):
            print(line, flush=True)
        note(title)


if __name__ == "__main__":
    main()
