"""A monitor as a document: alarms, the evidence over batches, all rows, what is assumed, and the batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..auditing import Monitor, MonitorRow, lookup_metric, told_apart
from ..wording import join_and, number, percent, several
from .document import (
    Block,
    Cell,
    Column,
    Curve,
    Curves,
    Document,
    Item,
    Listing,
    Pairs,
    Paragraph,
    Section,
    Table,
)
from .record_facts import setting_text

__all__ = ["monitor_document"]

# How many rows are drawn, and how many are named in a sentence.
_DRAWN, _NAMED = 24, 6
# Smaller batches have the same counts by chance.
_FEWEST_TWINS = 30
_LEFT_OUT = {
    "lacking": "without a label, prediction or cluster",
    "unknown": "without a known group",
    "repeated": "beside another one of the same {cluster}",
    "before": "of those seen before",
}


def monitor_document(monitor: Monitor) -> Document:
    """The document; text has room for the opening, the rows and the notes."""
    rows, names = monitor.rows, told_apart(monitor.rows)
    sections = [
        Section("opening", "", tuple(map(Paragraph, _opening(monitor)))),
        Section("alarms", "Alarms", tuple(_alarms(monitor, names))),
        Section("evidence", "Evidence over batches", tuple(_curves(monitor, rows, names))),
        Section("rows", "All groups and metrics", (_table(rows, names),) if rows else ()),
        Section("notes", "How to read it", tuple(map(Paragraph, _notes(monitor, rows, names)))),
        Section("metrics", "What the metrics mean", (Pairs(tuple(_meant(rows))),) if rows else ()),
        Section("batches", "Batches", (_batches(monitor, names),) if monitor.batches else ()),
        Section("settings", "Fixed by the first batch", (Pairs(tuple(_settings(monitor))),)),
    ]
    alarms = several(len(monitor.alarms), "alarm") if monitor.alarms else "no alarm"
    title = f"Monitor of {several(len(monitor.batches), 'batch', 'batches')}: {alarms}"
    return Document(title, tuple(section for section in sections if section.blocks))


def _opening(monitor: Monitor) -> Iterator[str]:
    """What groups are compared with, and what is taken to be new and independent."""
    references = dict.fromkeys((row.by, row.reference) for row in monitor.rows)
    kinds = {reference for _, reference in references}
    known = " whose group is known" if any(batch.unknown for batch in monitor.history.values()) else ""
    if kinds == {"rest"}:
        yield f"Each group is compared with all cases outside it{known}. {_independence(monitor)}"
    elif kinds:
        named = "; ".join(
            f"{by}, with {'all cases outside it' if reference == 'rest' else reference}" for by, reference in references
        )
        yield f"Each group is compared by {named}. {_independence(monitor)}"
    else:
        yield _independence(monitor)


def _independence(monitor: Monitor) -> str:
    """What counts as one, which no evidence can see in the data."""
    if monitor.cluster is None:
        return "Each case is taken as new and independent."
    batches = monitor.history.values()
    repeated, before = (sum(getattr(batch, name) for batch in batches) for name in ("repeated", "before"))
    return (
        f"Each {monitor.cluster} counts once, with a case drawn at random: {several(before, 'case')} of those seen in "
        f"an earlier batch and {several(repeated, 'further case')} of the same {monitor.cluster} in a batch were "
        "left out."
    )


def _alarms(monitor: Monitor, names: dict[tuple[str, str], str]) -> Iterator[Block]:
    """The alarms, in the order in which they were raised."""
    if not monitor.alarms:
        yield Paragraph("No alarm was raised.")
        return
    yield Listing(
        tuple(
            Item(
                f"{row.alarm}: {names[row.by, row.group]}, {lookup_metric(row.metric).name} {number(row.score)} "
                f"against {number(row.versus)} over all batches; evidence {_short(row.joint)}."
            )
            for row in monitor.alarms
        )
    )


def _curves(monitor: Monitor, rows: Sequence[MonitorRow], names: dict[tuple[str, str], str]) -> Iterator[Block]:
    if not rows:
        return
    order = {name: i for i, name in enumerate(monitor.batches)}
    threshold = 1 / monitor.settings["alpha"]
    yield Paragraph(
        "How strong the evidence of a difference is after each batch, on a logarithmic scale from 0.01 to 1,000,000. "
        "It is adjusted for the number of groups and metrics, and begins at 1. Where it reaches the dashed line, "
        f"{threshold:g}, an alarm is raised, and stays."
    )
    drawn = [
        Curve(
            name=f"{names[row.by, row.group]}, {row.metric}",
            values=monitor.path(row),
            alarm=None if row.alarm is None else order[row.alarm],
        )
        for row in rows[:_DRAWN]
    ]
    yield Curves(monitor.batches, tuple(drawn), threshold)
    if len(rows) > _DRAWN:
        yield Paragraph(f"The {_DRAWN} with alarms or the most evidence are drawn; the table has all {len(rows):,}.")


def _table(rows: Sequence[MonitorRow], names: dict[tuple[str, str], str]) -> Table:
    def column(title: str, read: Any, **how: Any) -> Column:
        return Column(title, lambda row: Cell(read(row)), **how)

    return Table(
        caption="Alarms first, then by evidence",
        columns=(
            column("group", lambda row: names[row.by, row.group], kind="name"),
            column("metric", lambda row: row.metric, kind="key"),
            column("cases", lambda row: f"{row.cases:,}", means="those that the score rests on"),
            column("score", lambda row: number(row.score), means="over all batches"),
            column("versus", lambda row: number(row.versus), means="the score of what the group is compared with"),
            column("odds ratio", _span, kind="text", gives_way=1),
            column("evidence", lambda row: _short(row.joint), means="for all groups and metrics together"),
            column(
                "alone",
                lambda row: _short(row.evidence),
                extra=True,
                means="before allowing for the number of comparisons; alarms use the other",
            ),
            column("alarm", lambda row: row.alarm or "-", kind="text", means="the batch that raised it first"),
            column("no score", lambda row: f"{row.undefined:,} of {row.batches:,}", extra=True, means="batches"),
        ),
        lines=rows,
        left=lambda more: f"and {several(len(more), 'more row')} without more evidence than these",
    )


def _notes(monitor: Monitor, rows: Sequence[MonitorRow], names: dict[tuple[str, str], str]) -> Iterator[str]:
    """What an alarm means, what odds ratios assume, and what was left out."""
    alpha = monitor.settings["alpha"]
    yield (
        f"An alarm is raised once the evidence reaches {1 / alpha:g}, over all groups and metrics together, and stays "
        "if it falls again; what is shown is the evidence after the last batch. If no "
        f"rates differ, at most {percent(alpha)} of monitors ever raise one, however often one looks. Odds ratio: if "
        f"it is the same in all batches, its {percent(1 - alpha)} interval holds at every look, each by itself."
    )
    silent = [row for row in rows if row.undefined]
    if silent:
        each = "; ".join(
            f"{names[row.by, row.group]} {row.metric} in {row.undefined:,} of {row.batches:,}"
            for row in silent[:_NAMED]
        )
        more = f"; and {len(silent) - _NAMED:,} more" if len(silent) > _NAMED else ""
        yield f"Batches without a score: {each}{more}."
    yield from _twins(monitor)
    lacking = sum(batch.lacking for batch in monitor.history.values())
    if lacking:
        yield (
            f"Left out: {several(lacking, 'case')} {_LEFT_OUT['lacking']}. Labels that arrive later cannot be added to "
            "a batch."
        )
    unknown = sum(batch.unknown for batch in monitor.history.values())
    if unknown:
        have, they = ("has", "it is") if unknown == 1 else ("have", "they are")
        yield f"{several(unknown, 'case')} {have} no known group in some column; there {they} in no group or reference."


def _twins(monitor: Monitor) -> Iterator[str]:
    """Batches with the same counts under two names, which may be the same cases twice."""
    names: dict[str, list[str]] = {}
    for name, batch in monitor.history.items():
        if batch.cases >= _FEWEST_TWINS:
            names.setdefault(repr(batch.counts), []).append(name)
    for same in names.values():
        if len(same) > 1:
            listed = [*same[:_NAMED], *([f"{len(same) - _NAMED:,} more"] if len(same) > _NAMED else [])]
            yield f"{join_and(listed)} have the same counts; if they are the same cases, they should be added once."


def _meant(rows: Sequence[MonitorRow]) -> Iterator[tuple[str, str]]:
    for key in dict.fromkeys(row.metric for row in rows):
        m = lookup_metric(key)
        yield key, f"{m.name}. {m.description}."


def _batches(monitor: Monitor, names: dict[tuple[str, str], str]) -> Table:
    raised: dict[str | None, list[str]] = {}
    for row in monitor.alarms:
        raised.setdefault(row.alarm, []).append(f"{names[row.by, row.group]} {row.metric}")
    shown = [name for name in _LEFT_OUT if any(getattr(batch, name) for batch in monitor.history.values())]

    def left_out(name: str) -> Column:
        title = _LEFT_OUT[name].format(cluster=monitor.cluster)
        return Column(title, lambda line: Cell(f"{getattr(line[1], name):,}"))

    return Table(
        caption="In the order in which they were added",
        columns=(
            Column("batch", lambda line: Cell(line[0]), kind="name"),
            Column("cases", lambda line: Cell(f"{line[1].cases:,}")),
            *map(left_out, shown),
            Column("alarms raised", lambda line: Cell(", ".join(raised.get(line[0], ())) or "-"), kind="text"),
        ),
        lines=list(monitor.history.items()),
        left=lambda more: f"and {several(len(more), 'more batch', 'more batches')}",
    )


def _settings(monitor: Monitor) -> Iterator[tuple[str, str]]:
    yield from ((name, setting_text(value)) for name, value in {**monitor.settings, **monitor.columns}.items())


def _short(evidence: float) -> str:
    """Three digits, and zeros up to a billion."""
    return f"{float(f'{evidence:.3g}'):,.0f}" if 1_000 <= evidence < 1e9 else f"{evidence:.3g}"


def _span(row: MonitorRow) -> str:
    low = "0" if row.odds_low is None else number(row.odds_low)
    return f"{low} to {'∞' if row.odds_high is None else number(row.odds_high)}"
