"""What is shown of an audit of several classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..auditing import AverageRow, ClassAudit, classes_text, labels, number, pvalue
from ..errors import printable
from ..metrics import metric as find_metric
from .series import Section, View, about, head_of
from .series_lines import Line
from .tables import adjustment

__all__ = ["view_of_classes"]

_MOST_IN_TEXT = 12
_MARK = "*"


@dataclass(frozen=True, slots=True)
class _Table:
    """The scores of a metric for the groups of one column, by class."""

    column: int
    by: str
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of a metric, one per group column or crossing."""

    key: str
    name: str
    formula: str
    pictures: list[_Table]

    @classmethod
    def of(cls, key: str, columns: Mapping[str, list[Line]]) -> _Tables:
        m = find_metric(key)
        return cls(key, m.name, m.formula, [_Table(i, by, lines) for i, (by, lines) in enumerate(columns.items())])


def view_of_classes(audit: ClassAudit) -> View:
    """What is shown of an audit of several classes."""
    first = next(iter(audit))
    names = tuple(printable(str(label)) for label in audit.audits)
    how = adjustment(first)
    families = len({row.name for row in audit.averages}) if audit.settings["family"] == "metric" else 1
    own = "a family" if families == 1 else "families"
    averages = "" if how == "not adjusted" or not audit.averages else f"; those of averages have {own} of their own"
    return View(
        audits=tuple(audit),
        noun="class",
        preposition="in",
        keys=names,
        places=tuple(f"class {name}" for name in names),
        everywhere="in every class" if len(audit) == len(audit.labels) else "in each of these classes",
        head=f"{head_of(first)}, {len(audit):,} of {classes_text(len(audit.labels))} against the rest",
        reading=(
            f"Each class in turn is positive, and all others are negative. Cases of each: {_cases(audit)}. "
            f"P-values are {how}{averages}."
        ),
        about=list(about(audit.record, first)),
        record=audit.record,
        loader="ClassAudit",
        template="classes.html",
        style="sweep.css",
        charted=_Tables.of,
        sections=[_averages(audit)] if audit.averages else [],
        most_keys=_MOST_IN_TEXT,
    )


def _cases(audit: ClassAudit) -> str:
    """The classes with most cases, each with their number."""
    cases = {label: audit.cases(label) for label in audit.labels}
    most = sorted(cases, key=lambda label: -cases[label])[:_MOST_IN_TEXT]
    left = len(cases) - len(most)
    shown = ", ".join(f"{printable(str(label))} {n:,}" for label, n in cases.items() if label in most)
    return f"{shown}, and {classes_text(left)} more" if left else shown


def _averages(audit: ClassAudit) -> Section:
    """Scores of all classes by group, with the groups that are not drawn like their reference marked."""
    alpha = float(audit.settings["alpha"])
    called = labels(next(iter(audit)).rows)
    table: dict[tuple[str, str], dict[str, AverageRow]] = {}
    for row in audit.averages:
        table.setdefault((row.by, row.group), {})[row.name] = row
    names = list(dict.fromkeys(row.name for row in audit.averages))
    rows = [
        [called.get(key, key[1]), f"{next(iter(scores.values())).n:,}", *(_cell(scores[name], alpha) for name in names)]
        for key, scores in table.items()
    ]
    p = "p" if audit.settings["adjust"] == "none" else "adjusted p"
    return Section(
        "Scores of all classes",
        f"{_MARK} The group is not drawn like its reference: {p} of the MATCH test at or below {alpha:g}.",
        ["group", "n", *names],
        rows,
        [["", "", *(_detail(scores[name]) for name in names)] for scores in table.values()],
        [*_how_tested(audit), *_why_undefined(audit, called)],
    )


def _cell(row: AverageRow, alpha: float) -> str:
    score = "undefined" if row.score is None else number(row.score)
    return f"{score} {_MARK}" if row.differs(alpha) else score


def _detail(row: AverageRow) -> str:
    """The score of the reference, and the adjusted p-value."""
    reference = "" if row.reference_score is None else f"reference {number(row.reference_score)}"
    p = "" if row.p_adjusted is None else f"p {pvalue(row.p_adjusted)}"
    return "\n".join(part for part in (reference, p) if part)


def _how_tested(audit: ClassAudit) -> list[str]:
    """Which averages have exact and which simulated p-values."""
    exact = list(dict.fromkeys(row.name for row in audit.averages if row.method == "exact"))
    simulated = [row for row in audit.averages if row.method == "simulated"]
    said = [f"exact: {', '.join(exact)}"] if exact else []
    if simulated:
        names = ", ".join(dict.fromkeys(row.name for row in simulated))
        most = max(row.standard_error for row in simulated)
        said.append(f"simulated: {names} ({simulated[0].draws:,} draws, standard error of p at most {most:.2g})")
    return [f"P-values of averages: {'; '.join(said)}."] if said else []


def _why_undefined(audit: ClassAudit, called: Mapping[tuple[str, str], str]) -> list[str]:
    """Why averages are undefined or cannot be tested, and which classes others leave out."""
    named = [(f"{row.name} of {called.get((row.by, row.group), row.group)}", row) for row in audit.averages]
    reasons = [f"{name}: {row.reason}" for name, row in named if row.reason]
    partial = [
        f"{name} is over {len(row.classes)} of {classes_text(len(audit.labels))}"
        for name, row in named
        if row.score is not None and row.left_out
    ]
    return [f"{printable(said)}." for said in (*_few(reasons), *_few(partial))]


def _few(sentences: list[str]) -> list[str]:
    most = 6
    left = len(sentences) - most
    return [*sentences[:most], *([f"and {left:,} more such scores"] if left > 0 else [])]
