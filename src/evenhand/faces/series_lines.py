"""The scores of groups in several audits of the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from ..auditing import Audit, Row, Verdict, labels

__all__ = ["Line", "columns_of", "has_score", "lines_of"]


@dataclass(frozen=True, slots=True)
class Line:
    """A group in all audits: one row per audit, or None where it was not audited."""

    by: str
    group: str
    label: str
    rows: tuple[Row | None, ...]

    @property
    def n(self) -> int:
        """The number of cases of the group."""
        return next((row.n for row in self.rows if row is not None), 0)

    @property
    def importance(self) -> tuple[float, float]:
        """What rows of an audit are ordered by, where it is most important."""
        each = [(row.verdict.rank, -row.sure_gap) for row in self.rows if row is not None]
        return min(each, default=(len(Verdict), 0.0))

    @property
    def differs(self) -> bool:
        """Whether the score is higher or lower in some audit."""
        return any(row is not None and row.differs for row in self.rows)


def lines_of(audits: Sequence[Audit], key: str) -> list[Line]:
    """The groups of all columns in all audits for a metric, most important first."""
    called: dict[tuple[str, str], str] = {}
    tables: list[dict[tuple[str, str], Row]] = []
    for audit in audits:
        called |= labels(audit.rows)
        tables.append({(row.by, row.group): row for row in audit.rows if row.metric == key})
    groups = dict.fromkeys(group for table in tables for group in table)
    lines = [Line(*g, called[g], tuple(table.get(g) for table in tables)) for g in groups]
    return sorted(lines, key=lambda line: line.importance)


def columns_of(audit: Audit) -> list[str]:
    """The group columns in the order in which they were given, then their crossings."""
    found = dict.fromkeys(row.by for row in audit.rows)
    given = [by for by in audit.settings["groups"] if by in found]
    return list(dict.fromkeys([*given, *sorted(found, key=lambda by: by.count(" & "))]))


def has_score(row: Row | None) -> bool:
    """Whether a row has a score of its own, rather than none or a number in place of an undefined one."""
    return row is not None and row.score is not None and isfinite(row.score) and not row.lacks_own_score
