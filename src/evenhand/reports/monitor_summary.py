"""What every output says of a monitor: alarms, all groups and metrics, what is assumed, and the batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..auditing import Monitor, MonitorRow, lookup_metric, told_apart
from ..errors import printable
from ..text_layout import text_table, wrapped
from ..wording import join_and, number, percent, several
from .narrative import first_names, join_references
from .svg_charts import Picture, draw_evidence, draw_scores

MOST_ROWS, MOST_DRAWN, MOST_NAMED, MOST_LINES = 12, 24, 6, 3
_WIDTH = 80
# Smaller batches have the same counts by chance.
_FEWEST_TWINS = 30


@dataclass(frozen=True)
class MonitorSummary:
    """A monitor, as outputs show it."""

    monitor: Monitor

    @cached_property
    def rows(self) -> tuple[MonitorRow, ...]:
        """Every group and metric, alarms and the most evidence first."""
        return self.monitor.rows

    @cached_property
    def names(self) -> dict[tuple[str, str], str]:
        """The name of each column and group."""
        return told_apart(self.rows)

    def name_row(self, row: MonitorRow) -> str:
        """The group of a row."""
        return self.names[row.by, row.group]

    @property
    def title(self) -> str:
        """How many batches and alarms there are."""
        alarms = several(len(self.monitor.alarms), "alarm") if self.monitor.alarms else "no alarm"
        if known := len(self.monitor.alarms) - len(self.monitor.unacknowledged):
            alarms += f", {known:,} known"
        return f"Monitor of {several(len(self.monitor.batches), 'batch', 'batches')}: {alarms}"

    @property
    def opening(self) -> str:
        """What groups are compared with, and what is taken to be independent."""
        rest = {"rest": "the rest"}
        references = {row.by: rest.get(row.reference, row.reference) for row in self.rows}
        compared = f"Each group against {join_references(references)}; " if references else ""
        cluster = self.monitor.cluster
        if cluster is None:
            return f"{compared}assumes that each case is new and independent of others."
        once = f"Each {cluster} counts once, with a case drawn at random."
        return f"{compared}assumes that each {cluster} is independent of others. {once}"

    @property
    def alarms(self) -> list[str]:
        """The alarms, in the order in which they were raised."""
        return [
            f"{row.alarm}{_known(row)}: {self.name_row(row)}, {lookup_metric(row.metric).name} "
            f"{number(row.score)} against {number(row.versus)} over all batches; "
            f"evidence since {row.since}, now {format_evidence(row.joint)}."
            for row in self.monitor.alarms
        ]

    @property
    def head(self) -> list[str]:
        """The titles of the table."""
        return ["group", "metric", "cases", "score", "ref", "odds ratio", "evidence", "alarm"]

    def cells(self, row: MonitorRow) -> list[str]:
        """A row of the table."""
        low = "0" if row.odds_low is None else number(row.odds_low)
        high = "∞" if row.odds_high is None else number(row.odds_high)
        scores = [f"{row.cases:,}", number(row.score), number(row.versus), f"[{low}, {high}]"]
        evidence = [format_evidence(row.joint), f"{row.alarm or '-'}{_known(row)}"]
        return [self.name_row(row), row.metric, *scores, *evidence]

    def evidence(self) -> Iterator[tuple[str, str]]:
        """The names and pictures of the rows with the most evidence."""
        batches, alpha = self.monitor.batches, self.monitor.settings["alpha"]
        after = several(len(batches), "batch", "batches")
        for row in self.rows[:MOST_DRAWN]:
            name = f"{self.name_row(row)}, {row.metric}"
            alarm = None if row.alarm is None else batches.index(row.alarm)
            label = f"{name}: evidence {format_evidence(row.joint)} after {after}"
            yield name, draw_evidence(self.monitor.path(row), 1 / alpha, alarm, label)

    def scores(self) -> Iterator[tuple[str, list[str], Picture]]:
        """Scores over batches: title, names of the lines and picture of each metric and column."""
        panels: dict[tuple[str, str], list[MonitorRow]] = {}
        for row in self.rows:
            panels.setdefault((row.metric, row.by), []).append(row)
        for (metric, by), rows in list(panels.items())[:MOST_DRAWN]:
            names = [self.name_row(row) for row in rows[:MOST_LINES]]
            pairs = [self.monitor.scores(row) for row in rows[:MOST_LINES]]
            lines = [[versus for _, versus in pairs[0]], *([own for own, _ in p] for p in pairs)]
            reference = rows[0].reference
            names.insert(0, f"rest of {names[0]}" if reference == "rest" else reference)
            title = f"{lookup_metric(metric).name} by {by}"
            label = f"{title}, in each batch: {join_and(names)}"
            yield title, names, draw_scores(lines, label)

    @property
    def notes(self) -> list[str]:
        """What an alarm means, and what was left out."""
        alpha, cluster = self.monitor.settings["alpha"], self.monitor.cluster
        notes = [
            f"An alarm is raised once the evidence of all groups and metrics together reaches {1 / alpha:g} and stays. "
            f"If no rates differ, at most {percent(alpha)} of monitors ever raise one, however often one looks.",
            f"If an odds ratio is the same in all batches, its {percent(1 - alpha)} interval holds at every look.",
        ]
        undefined = [
            f"{self.name_row(row)} {row.metric} ({row.undefined:,})"
            for row in self.rows
            if row.undefined
        ]
        if undefined:
            listed = join_and(first_names(undefined, MOST_NAMED))
            notes.append(f"Batches without a score: {listed}.")
        left_out = {
            "lacking": "without a label, prediction or cluster",
            "unknown": "without a known group in some column",
            "repeated": f"beside another of the same {cluster} in a batch",
            "before": f"of a {cluster} in an earlier batch",
        }
        for reason, what in left_out.items():
            if n := sum(getattr(batch, reason) for batch in self.monitor.history.values()):
                notes.append(f"Left out: {several(n, 'case')} {what}.")
        return [*notes, *self._name_twins()]

    def _name_twins(self) -> Iterator[str]:
        """Batches with the same counts under two names, which may be the same cases twice."""
        names: dict[str, list[str]] = {}
        for name, batch in self.monitor.history.items():
            if batch.cases >= _FEWEST_TWINS:
                names.setdefault(repr(batch.counts), []).append(name)
        for same in names.values():
            if len(same) > 1:
                listed = join_and(first_names(same, MOST_NAMED))
                yield f"{listed} have the same counts; if they are the same cases, add them once."

    @property
    def batches(self) -> list[tuple[str, int, str]]:
        """The batches with their cases and alarms."""
        raised: dict[str | None, list[str]] = {}
        for row in self.monitor.alarms:
            raised.setdefault(row.alarm, []).append(f"{self.name_row(row)} {row.metric}")
        return [
            (name, batch.cases, ", ".join(raised.get(name, ["-"])))
            for name, batch in self.monitor.history.items()
        ]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the first batch fixed."""
        pairs = {**self.monitor.settings, **self.monitor.columns}
        return [(name, _describe(value)) for name, value in pairs.items()]


def _known(row: MonitorRow) -> str:
    """What is said of an alarm that was acknowledged."""
    return " (known)" if row.acknowledged else ""


def _describe(value: object) -> str:
    """A setting as text."""
    if isinstance(value, dict):
        value = [f"{name}: {_describe(part)}" for name, part in value.items()]
    return (", ".join(map(str, value)) or "none") if isinstance(value, list | tuple) else str(value)


def format_evidence(evidence: float) -> str:
    """Three digits, and zeros up to a billion."""
    return f"{float(f'{evidence:.3g}'):,.0f}" if 1_000 <= evidence < 1e9 else f"{evidence:.3g}"


def monitor_text(
    monitor: Monitor, most: int | None = MOST_ROWS, *, is_command: bool = False
) -> str:
    """The monitor for a terminal: alarms, a table of at most ``most`` rows, and notes."""
    summary = MonitorSummary(monitor)
    rows = summary.rows[:most]
    head = [summary.title, summary.opening, *(f"- {alarm}" for alarm in summary.alarms)]
    lines = _wrap(head)
    if rows:
        cells = (list(map(printable, summary.cells(row))) for row in rows)
        lines += ["", text_table(summary.head, cells, right=(2, 3, 4, 6), width=_WIDTH), ""]
    if left := len(summary.rows) - len(rows):
        hint = " (--all)" if is_command else ""
        lines.append(f"… and {several(left, 'more row')} without more evidence{hint}")
    return "\n".join([*lines, *_wrap(summary.notes)])


def _wrap(texts: list[str]) -> list[str]:
    return [line for text in texts for line in wrapped(printable(text), _WIDTH)]
