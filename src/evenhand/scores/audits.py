"""The audit of scores: areas under the ROC curve, Brier scores and log losses by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, UnknownName
from ..progress import ProgressLine
from ..tabulate import ScoredRows, in_order, scored_rows
from .checks import check_draws, check_level, check_margin, check_seed
from .comparisons import METRICS, ScoreMetric, ScoreTest, compared, summary
from .rows import MISSING, Compared, ScoreAudit, judged

__all__ = ["audit_scores", "mirrored", "named_groups"]

_MARGINS = {"auc": 0.1, "brier": 0.05, "log_loss": 0.1}
_SYNONYMS: dict[str, ScoreMetric] = {
    "roc_auc": "auc",
    "roc_auc_score": "auc",
    "brier_score": "brier",
    "brier_score_loss": "brier",
    "logloss": "log_loss",
}


def audit_scores(
    data: Any,
    *,
    y_true: Any,
    y_score: Any,
    groups: Any,
    metrics: Sequence[str] | str = METRICS,
    reference: str | Mapping[str, str] = "rest",
    positive: object = None,
    level: float = 0.95,
    alpha: float = 0.05,
    margin: float | Mapping[str, float] | None = None,
    draws: int = 9_999,
    seed: int = 0,
) -> ScoreAudit:
    """Compare groups by the area under the ROC curve, the Brier score and the log loss.

    Each group is tested against the reference by permutations; p-values are adjusted over groups (Holm), per metric.
    Areas are compared by exchanging cases within classes, so that base rates do not matter; a mean loss depends on the
    base rate, and its test exchanges all cases.

    Parameters
    ----------
    data : dataframe, mapping of columns, path or None
        The table; None if the columns themselves are passed.
    y_true, y_score : name of a column, or sequence
        Labels of two classes, and scores: probabilities for the Brier score and the log loss.
    groups : name of a column, several of them, or values
        The group columns. Each is audited on its own.
    metrics : sequence of {"auc", "brier", "log_loss"}
        The metrics.
    reference : str or mapping of str to str
        ``"rest"`` for all cases outside the group, or the name of a group, per column if there are several.
    positive : label or list of labels, optional
        The positive label; inferred if that is unambiguous.
    level : float
        The level of the intervals, which are approximate.
    alpha : float
        The level of the adjusted p-values.
    margin : float or mapping of str to float, optional
        The difference within which scores are alike; 0.1 for the area and the log loss and 0.05 for the Brier score.
    draws : int
        The number of permutations of each test.
    seed : int
        Their seed; the same seed gives the same audit.

    Returns
    -------
    ScoreAudit
        One row per metric and group. It prints as a table.

    Examples
    --------
    >>> table = {
    ...     "y": [0, 1] * 20,
    ...     "s": [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6] * 5,
    ...     "g": ["a", "a", "a", "a", "b"] * 8,
    ... }
    >>> a = audit_scores(table, y_true="y", y_score="s", groups="g", metrics=["auc", "brier"], draws=999)
    >>> [(row.metric, row.group, row.score, row.verdict.value) for row in a.rows[:2]]
    [('auc', 'a', 1.0, 'too few to tell'), ('auc', 'b', 1.0, 'too few to tell')]
    """
    for value, name in ((level, "level"), (alpha, "alpha")):
        check_level(value, name)
    check_draws(draws)
    check_seed(seed)
    chosen = _chosen(metrics)
    margins = _margins(margin, chosen)
    rows = scored_rows(data, y_true=y_true, y_score=y_score, groups=groups, positive=positive)
    _check_probabilities(rows, chosen)
    columns = [
        (by, *named_groups(by, [key[i] for key in rows.keys], rows.of, rows.orders.get(by, ())))
        for i, by in enumerate(rows.columns)
    ]
    if isinstance(reference, Mapping):
        for by in reference:
            if by not in rows.columns:
                raise UnknownName.among("group column", by, rows.columns)
    faced = {by: _reference(by, names, reference, len(columns)) for by, names, _ in columns}
    found: list[Compared] = []
    total = len(chosen) * sum(len(names) for _, names, _ in columns)
    with ProgressLine() as report:
        for metric in chosen:
            for by, names, of in columns:
                for one in _column(metric, by, names, of, faced[by], rows, level, draws, seed):
                    found.append(one)
                    report("testing groups", len(found), total)
    return ScoreAudit(
        rows=judged(found, alpha, margins),
        n=len(rows.scores),
        reference=_named(faced),
        level=level,
        alpha=alpha,
        margins=margins,
        draws=draws,
        seed=seed,
        left_out=rows.left_out,
    )


def named_groups(
    by: str, values: Sequence[Any], of: NDArray[np.int64], order: Sequence[Any] = ()
) -> tuple[list[str], NDArray[np.int64]]:
    """The names of the groups of a column in order, and by row the position of its group.

    Parameters
    ----------
    by : str
        The name of the column.
    values : sequence
        Values of the column, possibly repeated.
    of : numpy.ndarray of int
        By row, the position of its value.
    order : sequence
        The order of values that have one of their own.

    Returns
    -------
    names : list of str
        The groups.
    places : numpy.ndarray of int
        By row, the position of its group among them.

    Examples
    --------
    >>> named_groups("g", ["b", "a"], np.array([0, 0, 1]))
    (['a', 'b'], array([1, 1, 0]))
    """
    names: dict[str, int] = {}
    place: dict[Any, int] = {}
    for value in in_order(dict.fromkeys(values), order):
        place[value] = names.setdefault(MISSING if value is None else str(value), len(names))
    if len(names) < 2:
        raise InvalidInput(f"{by!r} has only one group ({next(iter(names))!r}), so there is nothing to compare it with")
    return list(names), np.array([place[value] for value in values], dtype=np.int64)[of]


def _column(
    metric: ScoreMetric,
    by: str,
    names: list[str],
    of: NDArray[np.int64],
    reference: str | None,
    rows: ScoredRows,
    level: float,
    draws: int,
    seed: int,
) -> Iterator[Compared]:
    before: ScoreTest | None = None
    for i, name in enumerate(names):
        member = of == i
        own = summary(metric, rows.positive[member], rows.scores[member], level)
        repeats = reference is None and len(names) == 2 and before is not None
        if name == reference:
            test = _alone(metric, own.score, int(np.count_nonzero(member)), level, draws)
        elif repeats and before is not None:
            test = mirrored(before)
        else:
            among = member | (of == names.index(reference)) if reference is not None else np.ones(len(of), dtype=bool)
            parts = member[among], rows.positive[among], rows.scores[among]
            # A stream of random numbers of its own for each comparison.
            test = before = compared(
                metric, *parts, level=level, draws=draws, seed=[seed, METRICS.index(metric), rows.columns.index(by), i]
            )
        yield Compared(
            by=by,
            group=name,
            reference=reference or "rest",
            test=test,
            positives=int(np.count_nonzero(rows.positive[member])),
            low=own.low,
            high=own.high,
            interval_method=own.method,
            is_reference=name == reference,
            repeats=repeats,
        )


def mirrored(test: ScoreTest) -> ScoreTest:
    """The comparison of two groups, seen from the other one.

    Parameters
    ----------
    test : ScoreTest
        The comparison of the first with the second.

    Returns
    -------
    ScoreTest
        The comparison of the second with the first.
    """
    said = test.reason
    if said is not None:
        who, other = ("the reference", "the group")
        if not said.startswith(who):
            who, other = other, who
        said = other + said.removeprefix(who)
    return replace(
        test,
        score=test.reference_score,
        reference_score=test.score,
        n=test.reference_n,
        reference_n=test.n,
        # Not minus 0.
        difference=0.0 - test.difference,
        difference_low=-test.difference_high,
        difference_high=-test.difference_low,
        reason=said,
    )


def _alone(metric: str, score: float, n: int, level: float, draws: int) -> ScoreTest:
    """The reference itself, which is compared with nothing."""
    nothing = dict.fromkeys(
        ("reference_score", "difference", "difference_low", "difference_high", "pvalue", "error"), float("nan")
    )
    return ScoreTest(
        metric=metric, score=score, n=n, reference_n=n, level=level, draws=draws, method="none", reason=None, **nothing
    )


def _chosen(metrics: Any) -> list[ScoreMetric]:
    names = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise InvalidInput(f"metrics must be a list such as ['auc', 'brier']; got {metrics!r}")
    found: dict[ScoreMetric, None] = {}
    for name in names:
        if callable(name):
            raise InvalidInput("metrics must be names; pass a function of your own to audit_callable")
        known: dict[str, ScoreMetric] = {m: m for m in METRICS} | _SYNONYMS
        if not isinstance(name, str) or name not in known:
            raise UnknownName.among("metric of scores", name, METRICS)
        found[known[name]] = None
    if not found:
        raise InvalidInput("metrics must contain at least one metric")
    return list(found)


def _margins(margin: Any, metrics: list[ScoreMetric]) -> dict[str, float]:
    if isinstance(margin, Mapping):
        for name in margin:
            if name not in METRICS:
                raise UnknownName.among("metric of scores", name, METRICS)
    given = margin if isinstance(margin, Mapping) else {} if margin is None else dict.fromkeys(metrics, margin)
    found = {metric: given.get(metric, _MARGINS[metric]) for metric in metrics}
    for value in found.values():
        check_margin(value)
    return {name: float(value) for name, value in found.items()}


def _reference(by: str, names: list[str], reference: Any, columns: int) -> str | None:
    """The name of the reference group of a column, None for the rest."""
    asked = reference
    if isinstance(reference, Mapping):
        asked = reference.get(by, "rest")
    elif columns > 1 and reference != "rest":
        raise InvalidInput(f"reference must name a group per column, as {{{by!r}: {names[0]!r}}}; got {reference!r}")
    if isinstance(asked, str) and asked == "rest":
        return None
    if str(asked) not in names:
        raise UnknownName.among(f"group of {by!r}", asked, names)
    return str(asked)


def _named(faced: Mapping[str, str | None]) -> str:
    """What groups are compared with, per column if that differs."""
    if len(set(faced.values())) == 1:
        return next(iter(faced.values())) or "rest"
    return " and ".join(f"{name or 'the rest'} ({by})" for by, name in faced.items())


def _check_probabilities(rows: ScoredRows, metrics: list[ScoreMetric]) -> None:
    outside = rows.scores[(rows.scores < 0) | (rows.scores > 1)]
    needing = [metric for metric in metrics if metric != "auc"]
    if len(outside) and needing:
        raise InvalidInput(
            f"y_score must contain probabilities from 0 to 1 for {' and '.join(needing)}; got {outside[0]:g}: pass "
            "metrics='auc' for other scores"
        )
