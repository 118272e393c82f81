"""What a person should know first: one careful sentence for each thing found, with a stable code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..metrics import metric as find_metric
from .row import Row, labels
from .settings import Settings

__all__ = ["FOUR_FIFTHS", "KINDS", "Finding", "find", "number", "pvalue"]

Severity = Literal["alert", "warning", "note"]

FOUR_FIFTHS = 0.8

KINDS = {
    "differs": ("EH101", "alert"),
    "four-fifths": ("EH102", "warning"),
    "undefined": ("EH201", "warning"),
    "too-small": ("EH202", "note"),
    "left-out": ("EH301", "warning"),
    "missing-group": ("EH302", "note"),
}
"""The kinds of findings, each with its code and severity; neither changes once released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found: its kind, code and severity, whom it is about, and a sentence."""

    kind: str
    code: str
    severity: Severity
    by: str | None
    group: str | None
    metrics: tuple[str, ...]
    sentence: str

    def __str__(self) -> str:
        return f"{self.severity} {self.code}: {self.sentence}"


def _finding(kind: str, sentence: str, rows: Iterable[Row] = ()) -> Finding:
    code, severity = KINDS[kind]
    found = list(rows)
    return Finding(
        kind=kind,
        code=code,
        severity=severity,  # type: ignore[arg-type]
        by=found[0].by if found else None,
        group=found[0].group if found else None,
        metrics=tuple(row.metric for row in found),
        sentence=sentence,
    )


def find(
    rows: tuple[Row, ...], left_out: Mapping[str, int], missing: Mapping[str, int], how: Settings
) -> tuple[Finding, ...]:
    """Everything worth saying, worst first."""
    called = labels(rows)
    found = [_differs(row, called[row.by, row.group], how) for row in rows if row.differs]
    found += [
        _finding(
            "four-fifths",
            f"{called[row.by, row.group]} is selected at {number(row.score)}, {number(row.impact_ratio)} of the "
            f"highest rate of a group of {row.by}, less than four fifths{_perhaps(row)}",
            [row],
        )
        for row in rows
        if row.impact_ratio is not None and row.impact_ratio < FOUR_FIFTHS
    ]
    found += [_undefined(row, called[row.by, row.group]) for row in rows if row.verdict == "undefined"]
    small: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.verdict == "too small to tell":
            small.setdefault((row.by, row.group), []).append(row)
    found += [_too_small(same, called[key], how.detect) for key, same in small.items()]
    found += [_finding("left-out", f"{n:,} rows without {what} were left out") for what, n in left_out.items()]
    found += [
        _finding("missing-group", f"{n:,} cases have no value for {by}; they are a group of their own, (missing)")
        for by, n in missing.items()
    ]
    return tuple(found)


def _perhaps(row: Row) -> str:
    could_be = row.verdict in ("no evidence of a difference", "too small to tell")
    return "; chance alone could explain its distance from the reference" if could_be else ""


def _differs(row: Row, who: str, how: Settings) -> Finding:
    way = "higher" if row.verdict == "differs (higher)" else "lower"
    span = f" ({100 * how.level:g} % interval {number(row.low)} to {number(row.high)})" if row.low is not None else ""
    name = find_metric(row.metric).name
    if row.difference is None:
        gap = f"{way} than expected were the two alike"
    else:
        gap = f"{number(abs(row.difference))} {way} than the reference's {number(row.reference_score)}"
    p = f"{'p' if how.adjust == 'none' else 'adjusted p'} {pvalue(row.p_adjusted)}"
    return _finding("differs", f"{name} of {who} is {number(row.score)}{span}, {gap}; {p}", [row])


def _undefined(row: Row, who: str) -> Finding:
    name = find_metric(row.metric).name
    if row.status == "ok":
        return _finding(
            "undefined", f"{name} of {who} has nothing to be compared with: the reference has no score", [row]
        )
    why = row.status.removeprefix("undefined: ")
    likely = f"; that was {100 * row.p_undefined:.2g} % likely" if row.p_undefined else ""
    return _finding("undefined", f"{name} of {who} is undefined, {why}{likely}", [row])


def _too_small(rows: list[Row], who: str, detect: float) -> Finding:
    of = [f"{row.metric} ({row.n if row.denominator is None else row.denominator:,})" for row in rows]
    return _finding(
        "too-small",
        f"{who} ({rows[0].n:,} cases) is too small to tell for {', '.join(of)}: a difference of {detect:g} "
        "would be seen less than half of the time; in brackets the cases each metric rests on",
        rows,
    )


def number(value: float | None) -> str:
    """A score for people: three decimals, fewer digits of what is large."""
    return "none" if value is None else f"{value:.3f}" if abs(value) < 100 else f"{value:.3g}"


def pvalue(value: float | None) -> str:
    """A p-value for people, with its sign."""
    return "none" if value is None else "< 0.001" if value < 0.001 else f"= {value:.3f}"
