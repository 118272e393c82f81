"""What an audit of scores says: one row per metric and group, adjusted p-values and verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import NamedTuple

from ..auditing import Verdict, holm, number, pvalue
from ..errors import printable
from ..records import Record
from .comparisons import NAMES, ScoreTest

__all__ = ["MISSING", "Compared", "ScoreAudit", "ScoreRow", "judged"]

MISSING = "(missing)"
_RATHER = {"auc": "better: higher", "brier": "better: lower", "log_loss": "better: lower"}


class Compared(NamedTuple):
    """A comparison before p-values are adjusted.

    ``repeats`` says that it is the previous comparison seen from the other side; it is then counted once.
    """

    by: str
    group: str
    reference: str
    test: ScoreTest
    positives: int | None = None
    low: float = nan
    high: float = nan
    interval_method: str = "none"
    undefined_draws: int = 0
    is_reference: bool = False
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreRow(Record):
    """The results of an audit of scores for one group and one metric.

    Attributes
    ----------
    metric : str
        The metric.
    by, group : str
        The column that the group comes from, and its value there.
    verdict : Verdict
        Higher, lower, alike, too few to tell, undefined or reference.
    n : int
        The group's number of cases.
    positives : int or None
        How many of them are positive; None in an audit of a callable.
    score, low, high : float
        The score and its interval; nan if there is none.
    interval_method : str
        How the interval was computed.
    reference : str
        What the group is compared with.
    reference_n : int
        Its number of cases.
    reference_score : float
        Its score.
    difference, difference_low, difference_high : float
        The group's score minus the reference's, and its interval; nan if there is none.
    pvalue, p_adjusted : float
        The p-value of the test that the true scores are equal, and that adjusted over groups (Holm).
    method : str
        How the p-value was computed.
    error : float
        Its standard error by simulation; nan if it is not known.
    undefined_draws : int
        In how many draws a callable had no value; they count as at least as extreme as the data.
    reason : str or None
        Why the verdict is "undefined".

    Examples
    --------
    >>> from evenhand import audit_scores
    >>> table = {"y": [0, 1] * 6, "s": [0.1, 0.9, 0.2, 0.8, 0.3, 0.7] * 2, "g": ["a", "a", "b", "b", "b", "b"] * 2}
    >>> row = audit_scores(table, y_true="y", y_score="s", groups="g", metrics="auc", draws=99).rows[0]
    >>> row.group, row.score, row.verdict.value
    ('a', 1.0, 'too few to tell')
    """

    metric: str
    by: str
    group: str
    verdict: Verdict
    n: int
    positives: int | None
    score: float
    low: float
    high: float
    interval_method: str
    reference: str
    reference_n: int
    reference_score: float
    difference: float
    difference_low: float
    difference_high: float
    pvalue: float
    p_adjusted: float
    method: str
    error: float
    undefined_draws: int
    reason: str | None

    def __str__(self) -> str:
        name = f"{NAMES.get(self.metric, printable(self.metric))} of {printable(self.by)} {printable(self.group)}"
        if self.verdict is Verdict.REFERENCE:
            return f"{name}: {_score(self.score)}, the reference"
        if self.reason:
            return f"{name}: undefined, {printable(self.reason)}"
        return (
            f"{name}: {_score(self.score)} against {_score(self.reference_score)}, {self.verdict.value}, adjusted p "
            f"{pvalue(self.p_adjusted)} ({self.method})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScoreAudit(Record):
    """An audit of scores: one row per metric and group.

    Attributes
    ----------
    rows : tuple of ScoreRow
        The results, by metric, column and group.
    n : int
        The number of cases.
    reference : str
        What groups are compared with.
    level, alpha : float
        The level of the intervals, and that of the adjusted p-values.
    margins : dict of str to float
        By metric, the difference within which scores are alike.
    draws, seed : int
        The number of permutations of each test, and their seed.
    left_out : dict of str to int
        How many rows were left out, by what they lack.

    Examples
    --------
    >>> from evenhand import audit_scores
    >>> table = {"y": [0, 1] * 6, "s": [0.1, 0.9, 0.2, 0.8, 0.3, 0.7] * 2, "g": ["a", "a", "b", "b", "b", "b"] * 2}
    >>> audit_scores(table, y_true="y", y_score="s", groups="g", draws=99)
    <ScoreAudit: Audit of scores of 12 cases in 2 groups by g>
    """

    rows: tuple[ScoreRow, ...]
    n: int
    reference: str
    level: float
    alpha: float
    margins: dict[str, float]
    draws: int
    seed: int
    left_out: dict[str, int]

    def to_json(self, indent: int | None = 2) -> str:
        """The audit as JSON.

        Parameters
        ----------
        indent : int or None
            Spaces per level; None for a single line.

        Returns
        -------
        str
            The JSON text, with null for what is not a number.

        Examples
        --------
        >>> from evenhand import audit_scores
        >>> table = {"y": [0, 1, 0, 1], "s": [0.1, 0.9, 0.2, 0.8], "g": ["a", "a", "b", "b"]}
        >>> audit_scores(table, y_true="y", y_score="s", groups="g", draws=9).to_json(indent=None)[:26]
        '{"rows": [{"metric": "auc"'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        columns = list(dict.fromkeys(row.by for row in self.rows))
        groups = len({(row.by, row.group) for row in self.rows})
        named = " and ".join(map(printable, columns))
        lines = [f"Audit of scores of {_many(self.n, 'case')} in {_many(groups, 'group')} by {named}"]
        against = "all cases outside it" if self.reference == "rest" else printable(self.reference)
        lines += [f"Each group is compared with {against}.", "", *self._table(len(columns) > 1), ""]
        reasons = [f"{_label(row)}: {printable(row.reason)}" for row in self.rows if row.reason]
        lines += [f"undefined  {reason}" for reason in reasons] + [""] * bool(reasons)
        for row in self.rows:
            if row.undefined_draws:
                without = f"{row.undefined_draws:,} of {self.draws:,} draws"
                lines.append(f"{_label(row)}: no value in {without}, which count as extreme")
        for what, cases in self.left_out.items():
            lines.append(f"{_many(cases, 'row')} without {what} left out.")
        return "\n".join([*lines, *self._legend()])

    def _table(self, with_column: bool) -> list[str]:
        level = f"{100 * self.level:g} % interval"
        heads = ("group", "metric", "n", "score", level, "versus", "gap", level, "p", "verdict")
        body = [_shown(row, with_column) for row in self.rows]
        wide = [max(map(len, column)) for column in zip(heads, *body, strict=True)]
        filled = [i for i in range(len(heads)) if any(cells[i] for cells in body)]
        return [
            "  ".join(
                cells[i].rjust(wide[i]) if i in (2, 3, 5, 6, 8) else cells[i].ljust(wide[i]) for i in filled
            ).rstrip()
            for cells in (heads, *body)
        ]

    def _legend(self) -> list[str]:
        lines = []
        for metric in dict.fromkeys(row.metric for row in self.rows):
            rather = _RATHER.get(metric)
            margin = self.margins.get(metric)
            alike = (
                f"alike: the whole interval of the gap lies within ±{margin:g}"
                if margin
                else "never alike: no interval"
            )
            name = f"{metric}  {NAMES[metric]}" if metric in NAMES else printable(metric)
            lines.append("; ".join(part for part in (name, rather, alike) if part))
        methods = list(dict.fromkeys(row.method for row in self.rows if row.method != "none"))
        errors = [row.error for row in self.rows if not isnan(row.error)]
        simulated = (
            f" ({self.draws:,} draws, standard error before adjustment at most {max(errors):.2g})" if errors else ""
        )
        said = ", ".join(method + simulated * method.startswith("permutation") for method in methods)
        if said:
            lines.append(f"p: {said}.")
            lines.append(f"Adjusted over groups (Holm); at or below {self.alpha:g} a score is higher or lower.")
        intervals = list(dict.fromkeys(row.interval_method for row in self.rows if not isnan(row.low)))
        if intervals:
            lines.append(f"Intervals: {'; '.join(intervals)}.")
        return lines


def judged(found: Sequence[Compared], alpha: float, margins: Mapping[str, float]) -> tuple[ScoreRow, ...]:
    """Adjust p-values over the groups of each metric, and decide on verdicts.

    Parameters
    ----------
    found : sequence of Compared
        The comparisons; one that repeats another follows it.
    alpha : float
        The level of the adjusted p-values.
    margins : mapping of str to float
        By metric, the difference within which scores are alike.

    Returns
    -------
    tuple of ScoreRow
        The rows in the same order.
    """
    adjusted: dict[int, float] = {}
    for metric in dict.fromkeys(one.test.metric for one in found):
        family = [
            i
            for i, one in enumerate(found)
            if one.test.metric == metric and not one.repeats and not isnan(one.test.pvalue)
        ]
        adjusted |= dict(zip(family, holm([found[i].test.pvalue for i in family]), strict=True))
    rows = []
    for i, one in enumerate(found):
        p = adjusted.get(i - 1 if one.repeats else i, nan)
        test = one.test
        rows.append(
            ScoreRow(
                metric=test.metric,
                by=one.by,
                group=one.group,
                verdict=_verdict(one, p, alpha, margins.get(test.metric)),
                n=test.n,
                positives=one.positives,
                score=test.score,
                low=one.low,
                high=one.high,
                interval_method=one.interval_method,
                reference=one.reference,
                reference_n=test.reference_n,
                reference_score=test.reference_score,
                difference=test.difference,
                difference_low=test.difference_low,
                difference_high=test.difference_high,
                pvalue=test.pvalue,
                p_adjusted=p,
                method=test.method,
                error=test.error,
                undefined_draws=one.undefined_draws,
                reason=None if one.is_reference else test.reason,
            )
        )
    return tuple(rows)


def _verdict(one: Compared, p: float, alpha: float, margin: float | None) -> Verdict:
    if one.is_reference:
        return Verdict.REFERENCE
    if one.test.reason is not None:
        return Verdict.UNDEFINED
    if p <= alpha and one.test.difference != 0:
        return Verdict.HIGHER if one.test.difference > 0 else Verdict.LOWER
    # Without an interval, both comparisons are False.
    if margin is not None and -margin <= one.test.difference_low and one.test.difference_high <= margin:
        return Verdict.ALIKE
    return Verdict.TOO_FEW


def _shown(row: ScoreRow, with_column: bool) -> tuple[str, ...]:
    group = f"{printable(row.by)}: {printable(row.group)}" if with_column else printable(row.group)
    return (
        group,
        printable(row.metric),
        f"{row.n:,}",
        _score(row.score),
        _ends(row.low, row.high),
        "" if row.verdict is Verdict.REFERENCE else _score(row.reference_score),
        "" if isnan(row.difference) else f"{row.difference:+.3f}",
        _ends(row.difference_low, row.difference_high),
        "" if isnan(row.p_adjusted) else pvalue(row.p_adjusted).removeprefix("= "),
        f"{row.verdict.sign} {row.verdict.value}",
    )


def _score(value: float) -> str:
    return "none" if isnan(value) else number(value)


def _ends(low: float, high: float) -> str:
    return "" if isnan(low) else f"{number(low)} to {number(high)}"


def _label(row: ScoreRow) -> str:
    return f"{printable(row.metric)} of {printable(row.by)} {printable(row.group)}"


def _many(number_of: int, what: str) -> str:
    return f"{number_of:,} {what}{'s' * (number_of != 1)}"
