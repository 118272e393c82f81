"""Two models on the same people: the change of a rate in each group, and of the gap between groups.

People for whom the models agree say nothing about which is better. Among those for whom they disagree, models that are
exchangeable for every person are right equally often: this is McNemar's exact test. The same law, for a group and for
all others, gives the exact law of the change of the gap between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import listed
from ..errors import InvalidInput, printable
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric
from ..records import Record
from ..tabulate import Tally, in_order, tabulate
from .aggregates import check_draws, check_level, named

__all__ = ["GroupChange", "ModelComparison", "compare_models"]

Floats = NDArray[np.float64]

_MOST_PAIRS = 4_000_000
_TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupChange(Record):
    """How a rate of one group changes from model a to model b.

    Attributes
    ----------
    group : str
        The group.
    both, only_a, only_b, neither : int
        How many cases that the rate counts are a success with both models, with one of them, or with neither.
    rate_a, rate_b, change : float
        The rates, and that of b minus that of a; nan if the group has no cases that the rate counts.
    low, high : float
        The posterior interval of the true change.
    pvalue, p_adjusted : float or None
        McNemar's exact test that the rates are equal, and the same by Holm's method over all groups.
    gap_a, gap_b, gap_change : float
        The group's rate minus that of all other cases, with each model, and the second gap minus the first.
    gap_low, gap_high : float
        The posterior interval of the true change of the gap.
    gap_pvalue, gap_p_adjusted : float or None
        The test that the gap does not change, and the same by Holm's method over all groups.
    gap_test : str or None
        How ``gap_pvalue`` was found.
    reason : str or None
        Why a rate or a gap is undefined.

    Examples
    --------
    >>> found = compare_models([1] * 8, [1, 0, 0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1, 0], list("aaaabbbb"), "tpr",
    ...                        positive=1)
    >>> print(found.groups[0])
    a: 0.25 to 1 (0 only with a, 3 only with b), p-value 0.25; gap -0.5 to 0.25, p-value 0.25
    """

    group: str
    both: int
    only_a: int
    only_b: int
    neither: int
    rate_a: float
    rate_b: float
    change: float
    low: float
    high: float
    pvalue: float | None
    p_adjusted: float | None
    gap_a: float
    gap_b: float
    gap_change: float
    gap_low: float
    gap_high: float
    gap_pvalue: float | None
    gap_p_adjusted: float | None
    gap_test: str | None
    reason: str | None

    def __str__(self) -> str:
        who = printable(self.group)
        if self.pvalue is None:
            return f"{who}: undefined, {self.reason}"
        pairs = f"{self.only_a:,} only with a, {self.only_b:,} only with b"
        change = f"{who}: {self.rate_a:.3g} to {self.rate_b:.3g} ({pairs}), p-value {self.pvalue:.3g}"
        if self.gap_pvalue is None:
            return f"{change}; gap undefined, {self.reason}" if self.reason else change
        return f"{change}; gap {self.gap_a:.3g} to {self.gap_b:.3g}, p-value {self.gap_pvalue:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelComparison(Record):
    """The rates of two models on the same people, by group.

    Attributes
    ----------
    metric : str
        The key of the rate.
    n : int
        The number of people compared.
    left_out : int
        How many lack a label or a prediction.
    level : float
        The level of the posterior intervals.
    intervals : str
        How the intervals were found.
    overall : GroupChange
        All people together, without a gap.
    groups : tuple of GroupChange
        One per group.

    Examples
    --------
    >>> found = compare_models([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], list("abab"), "acc")
    >>> found.overall.rate_a, found.overall.rate_b, found.overall.pvalue
    (0.5, 1.0, 0.5)
    """

    metric: str
    n: int
    left_out: int
    level: float
    intervals: str
    overall: GroupChange
    groups: tuple[GroupChange, ...]

    def __str__(self) -> str:
        cases = f"{self.n:,} {'case' if self.n == 1 else 'cases'}"
        return "\n".join([f"{self.metric} from model a to model b, {cases}", *map(str, (self.overall, *self.groups))])


def compare_models(
    y_true: Any,
    y_pred_a: Any,
    y_pred_b: Any,
    groups: Any,
    metric: str | Metric = "acc",
    *,
    positive: Any = None,
    level: float = 0.95,
    draws: int = 20_000,
    seed: int = 0,
) -> ModelComparison:
    """Compare two models on the same people: the change of a rate in each group, and of its gap to all others.

    The test of a change is McNemar's, exact: among the people for whom the models disagree, either is right with
    probability 1/2. The test of the gap's change exchanges the two predictions of each person at random, and is exact
    if the models are exchangeable for every person. If one model is better by as much in all groups, this spreads the
    change of the gap more widely than chance does, so the test is conservative in large samples. Intervals are
    posterior ones, with a Dirichlet(1/2, 1/2, 1/2, 1/2) prior on both, only a, only b and neither.

    Parameters
    ----------
    y_true, y_pred_a, y_pred_b : sequence
        The labels, and the predictions of both models for the same people in the same order.
    groups : sequence, mapping of columns or dataframe
        The group of each person; with several columns, groups are combinations of their values.
    metric : str or Metric
        A rate whose cases do not depend on the predictions: acc, ppr, tpr or fpr, or what these leave to 1.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the intervals.
    draws, seed : int
        The number of draws from the posterior, and their seed. If more than 4,000,000 outcomes would have to be listed
        for the test of a gap, it uses as many random exchanges.

    Returns
    -------
    ModelComparison
        One row per group. People without a label or a prediction are left out and counted.

    Examples
    --------
    >>> y_true = [1] * 20 + [1] * 10
    >>> a = [1] * 14 + [0] * 6 + [1] * 3 + [0] * 7
    >>> b = [1] * 15 + [0] * 5 + [1] * 9 + [0] * 1
    >>> print(compare_models(y_true, a, b, ["m"] * 20 + ["f"] * 10, "tpr", positive=1))
    tpr from model a to model b, 30 cases
    overall: 0.567 to 0.8 (0 only with a, 7 only with b), p-value 0.0156
    f: 0.3 to 0.9 (0 only with a, 6 only with b), p-value 0.0312; gap -0.4 to 0.15, p-value 0.0313
    m: 0.7 to 0.75 (0 only with a, 1 only with b), p-value 1; gap 0.4 to -0.15, p-value 0.0313
    """
    m = find_metric(metric)
    check_level(level)
    check_draws(draws, seed)
    over, under = _weights(m)
    people, left_out = _counted(y_true, y_pred_a, y_pred_b, groups, positive)
    pairs = {group: _Pairs.of(m.base, rows, over, under) for group, rows in people.items()}
    total = _Pairs.of(m.base, [row for rows in people.values() for row in rows], over, under)
    rng = np.random.default_rng(seed)
    drawn: dict[str, Any] = {"draws": draws, "seed": seed, "level": level, "rng": rng}
    found = []
    for group, mine in pairs.items():
        others = _Pairs.of(m.base, [row for who, rows in people.items() if who != group for row in rows], over, under)
        found.append(_of_change(mine, **drawn) | _of_gap(mine, others, **drawn) | {"group": group})
    for name in ("p", "gap_p"):
        for row, adjusted in zip(found, _holm([row[f"{name}value"] for row in found]), strict=True):
            row[f"{name}_adjusted"] = adjusted
    overall = _of_change(total, **drawn) | _NO_GAP | {"group": "overall", "p_adjusted": None, "gap_p_adjusted": None}
    return ModelComparison(
        metric=m.key,
        n=sum(count for rows in people.values() for *_, count in rows),
        left_out=left_out,
        level=level,
        intervals=f"posterior, {draws:,} draws, seed {seed}",
        overall=GroupChange(**overall),
        groups=tuple(GroupChange(**row) for row in found),
    )


# The gap of everybody.
_NO_GAP: dict[str, Any] = {
    **dict.fromkeys(("gap_a", "gap_b", "gap_change", "gap_low", "gap_high"), nan),
    "gap_pvalue": None,
    "gap_test": None,
}

# A label, the two predictions, and how many people have them.
Row = tuple[bool, bool, bool, int]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """How many of the cases that a rate counts are a success with both models, only a, only b or neither."""

    counts: Floats
    reason: str | None

    @classmethod
    def of(cls, m: OneGroup, rows: Sequence[Row], over: Floats, under: Floats) -> _Pairs:
        counts, cells = np.zeros(4), np.zeros(4)
        for label, a, b, n in rows:
            at_a, at_b = (_cell(label, prediction) for prediction in (a, b))
            cells[at_a] += n
            if under[at_a]:
                counts[(0 if over[at_b] else 1) if over[at_a] else (2 if over[at_b] else 3)] += n
        return cls(counts, m.why_undefined(cells))

    @property
    def n(self) -> float:
        return float(self.counts.sum())

    @property
    def rates(self) -> tuple[float, float]:
        both, only_a, only_b, _ = self.counts.tolist()
        return ((both + only_a) / self.n, (both + only_b) / self.n) if self.n else (nan, nan)

    def drawn(self, rng: np.random.Generator, draws: int) -> Floats:
        """True changes, drawn from the posterior."""
        shares = rng.dirichlet(self.counts + 0.5, size=draws)
        return np.asarray(shares[:, 2] - shares[:, 1])


def _cell(label: bool, prediction: bool) -> int:
    return (0 if prediction else 1) if label else (2 if prediction else 3)


def _weights(m: Metric) -> tuple[Floats, Floats]:
    """Which cells a rate counts as a success, and which as a case."""
    quotient = None if m.comparisons or not m.base.is_rate else m.base.quotient
    if quotient is not None:
        over, under = (np.array(weights, dtype=np.float64) for weights in (quotient.over, quotient.under))
        fixed = under[0] == under[1] and under[2] == under[3]
        if fixed and (over[0] != over[1] or over[2] != over[3]):
            return over, under
    raise InvalidInput(
        f"{m.key} is not a rate of people whose number is the same with both models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )


def _counted(y_true: Any, y_pred_a: Any, y_pred_b: Any, groups: Any, positive: Any) -> tuple[dict[str, list[Row]], int]:
    """The people of each group by label and both predictions, and how many were left out."""
    if hasattr(groups, "columns"):
        columns = {str(name): groups[name] for name in groups.columns}
    else:
        columns = dict(groups) if isinstance(groups, Mapping) else {"group": groups}
    second = "prediction of model b"
    tally = tabulate(None, y_true=y_true, y_pred=y_pred_a, groups=columns | {second: y_pred_b}, positive=positive)
    left_out = sum(tally.left_out.values())
    people: dict[str, list[Row]] = {}
    for key, cm in tally.cells.items():
        b = None if key[-1] is None else _is_positive(key[-1], tally, positive)
        if b is None:
            left_out += int(cm.n)
            continue
        cells: list[tuple[bool, bool, float]] = [
            (True, True, cm.tp), (True, False, cm.fn), (False, True, cm.fp), (False, False, cm.tn)
        ]  # fmt: skip
        people.setdefault(named(key[:-1]), []).extend((label, a, b, int(n)) for label, a, n in cells if n)
    if not people:
        raise InvalidInput("every person lacks a label or a prediction; there is nothing to compare")
    return {group: people[group] for group in in_order(people)}, left_out


def _is_positive(value: Any, tally: Tally, positive: Any) -> bool:
    """Whether a prediction of model b is positive: as in the other columns, or as ``positive`` says."""
    yes, no = (
        {label for labels in by_column.values() for label in labels} for by_column in (tally.positive, tally.negative)
    )
    if value in yes or value in no:
        return value in yes
    if positive is None:
        raise InvalidInput(
            f"y_pred_b must contain the labels of y_true and y_pred_a ({listed(yes | no)}); got {value!r}"
        )
    return value in (positive if isinstance(positive, (list, tuple, set, frozenset)) else [positive])


def _of_change(mine: _Pairs, *, rng: np.random.Generator, draws: int, seed: int, level: float) -> dict[str, Any]:
    """The fields of a group's own change."""
    both, only_a, only_b, neither = mine.counts.astype(int).tolist()
    rate_a, rate_b = mine.rates
    low, high = _ends(mine.drawn(rng, draws), level, rate_b - rate_a) if mine.n else (nan, nan)
    return {
        "both": both,
        "only_a": only_a,
        "only_b": only_b,
        "neither": neither,
        "rate_a": rate_a,
        "rate_b": rate_b,
        "change": rate_b - rate_a,
        "low": low,
        "high": high,
        "pvalue": _mcnemar(only_a, only_b) if mine.n else None,
        "reason": mine.reason,
    }


def _of_gap(
    mine: _Pairs, others: _Pairs, *, rng: np.random.Generator, draws: int, seed: int, level: float
) -> dict[str, Any]:
    """The fields of the gap between a group and all others."""
    if not mine.n or not others.n:
        return _NO_GAP | {"reason": mine.reason if not mine.n else f"among all others: {others.reason}"}
    gap_a, gap_b = (a - b for a, b in zip(mine.rates, others.rates, strict=True))
    low, high = _ends(mine.drawn(rng, draws) - others.drawn(rng, draws), level, gap_b - gap_a)
    pvalue, test = _exchanged(mine, others, gap_b - gap_a, draws, seed)
    return {
        "gap_a": gap_a,
        "gap_b": gap_b,
        "gap_change": gap_b - gap_a,
        "gap_low": low,
        "gap_high": high,
        "gap_pvalue": pvalue,
        "gap_test": test,
    }


def _mcnemar(only_a: int, only_b: int) -> float:
    """Twice the smaller tail of the number of disagreements that one model wins, at most 1."""
    from scipy.stats import binom

    return min(1.0, 2 * float(binom.cdf(min(only_a, only_b), only_a + only_b, 0.5)))


def _exchanged(mine: _Pairs, others: _Pairs, observed: float, draws: int, seed: int) -> tuple[float, str]:
    """The probability of a change of the gap at least as large, if predictions are exchanged at random."""
    from scipy.stats import binom

    sides = [(int(side.counts[1] + side.counts[2]), side.n) for side in (mine, others)]
    if (sides[0][0] + 1) * (sides[1][0] + 1) <= _MOST_PAIRS:
        (first, p), (second, q) = (
            ((2 * x - d) / n, binom.pmf(x, d, 0.5)) for d, n in sides for x in [np.arange(d + 1)]
        )
        extreme = np.abs(first[:, None] - second) >= abs(observed) - _TIE
        return min(1.0, float(p @ (extreme @ q))), "exact paired permutation"
    rng = np.random.default_rng(seed)
    first, second = ((2 * rng.binomial(d, 0.5, draws) - d) / n for d, n in sides)
    as_extreme = int((np.abs(first - second) >= abs(observed) - _TIE).sum())
    return (1 + as_extreme) / (1 + draws), f"paired permutation, {draws:,} draws, seed {seed}"


def _ends(drawn: Floats, level: float, estimate: float) -> tuple[float, float]:
    """The equal-tailed interval of draws, which contains the estimate."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return min(low, estimate), max(high, estimate)


def _holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted by Holm's method; None stays None and does not count."""
    order = sorted((p, i) for i, p in enumerate(pvalues) if p is not None)
    adjusted: list[float | None] = [None] * len(pvalues)
    reached = 0.0
    for rank, (p, i) in enumerate(order):
        reached = max(reached, min(1.0, p * (len(order) - rank)))
        adjusted[i] = reached
    return adjusted
