"""An audit for the terminal: what was compared, a table of what differs, and what to beware of.

No line is longer than the terminal. If the table is too wide, names are shortened first, then columns
are left out; the p-value always stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isnan

from ..auditing import Audit, Row, Verdict
from ..errors import printable
from ..text_layout import aligned, columns, wrapped
from ..wording import number, numbered, percent, pvalue
from .narrative import claim_key, describe_row, gap_interval, harms, mirror_key, score_text
from .summary import Line, Summary

MOST_ROWS, MOST_PER_GROUP, MOST_IMPACTS, MOST_DRIVEN = 12, 3, 3, 1
NARROWEST = 40
_NAME_WIDTH, _SHORTEST_NAME, _SHORTEST_METRIC = 16, 8, 10
_WIDTH = 80
_Table = dict[str, list[str]]
_GROUP = "group"
# Columns by title, in the order in which they are left out of narrow tables.
_DISPENSABLE = ("n", "ref", "CI", "diff")
_RIGHT = ("n", "score", "ref", "diff", "p")
_PYTHON, _COMMAND = (
    "More: to_text(explain=True), to_html(path), to_frame()",
    "More: --all  --explain  --html report.html",
)


def as_text(
    audit: Audit,
    most: int | None = MOST_ROWS,
    *,
    width: int = _WIDTH,
    colour: bool = False,
    explain: bool = False,
    is_command: bool = False,
) -> str:
    """The audit as about 25 lines; with ``most`` None all rows, with ``explain`` all sentences."""
    summary, width = Summary(audit), max(width, NARROWEST)
    paint = _Painter(colour)
    parts = [_head(summary, paint), _notes(summary)]
    if explain:
        parts.append(list(_explain(summary, paint)))
    parts.append(_table(summary, most, width, paint))
    parts.append(list(_below(summary, most, is_command)))
    lines = [_wrap(line, width) for part in parts if part for line in (*part, "")]
    return "\n".join(line for some in lines for line in some).rstrip("\n")


class _Painter:
    """Colours of the terminal, or none."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def verdict(self, verdict: Verdict, text: str) -> str:
        codes = {Verdict.HIGHER: 33, Verdict.LOWER: 34, Verdict.UNLIKE: 35, Verdict.EQUIVALENT: 32}
        return f"\x1b[{codes.get(verdict, 2)}m{text}\x1b[0m" if self.colour else text


def _wrap(line: str, width: int) -> list[str]:
    """A line on lines of at most the width; what goes on is indented."""
    if columns(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    first, *rest = wrapped(line.strip(), width - len(indent))
    return [line[: len(indent) - 2] + first, *(indent + part for part in rest)]


def _head(summary: Summary, paint: _Painter) -> list[str]:
    """What was compared with what, how, and how often each verdict was given."""
    counts = [f"{by} ({n:,} group{'s' if n != 1 else ''})" for by, n in summary.columns.items()]
    command = "compare" if summary.is_of_models else "audit"
    parts = [summary.source, summary.extent, *counts, summary.places]
    title = f"evenhand {command}: {', '.join(filter(None, parts))}"
    lines = [
        paint.bold(printable(title)),
        printable(f"Each group against {summary.compared_with}; {summary.independence}"),
        summary.tests,
        summary.verdict_line,
    ]
    return [*lines, summary.protection] if summary.protection else lines


def _notes(summary: Summary) -> list[str]:
    """What is wrong with the data, most severe first."""
    return [
        printable(f"{note.severity.capitalize()}: {summary.note_text(note)}")
        for note in summary.notes
    ]


def _explain(summary: Summary, paint: _Painter) -> Iterator[str]:
    """The key sentences, then all findings."""
    key_rows = frozenset(summary.key_rows)
    for name, rows in summary.key_groups.items():
        yield paint.bold(printable(name))
        for row in rows:
            sentence = " ".join(filter(None, [summary.sentence(row), summary.harm(row)]))
            yield f"  {paint.verdict(row.verdict, row.verdict.sign)} {printable(sentence)}"
    for line in summary.lines:
        for row in line.rows.values():
            if row.verdict is not Verdict.REFERENCE and row not in key_rows:
                text = f"{line.name}: {describe_row(row, summary.settings)}."
                yield f"  {paint.verdict(row.verdict, row.verdict.sign)} {printable(text)}"


# The table


def _table(summary: Summary, most: int | None, width: int, paint: _Painter) -> list[str]:
    """The rows that differ, by group; all rows without a limit."""
    chosen = list(_choose_rows(summary.lines, most))
    if not chosen:
        return [summary.no_difference]
    cells = [_cells(row, summary) for _, row in chosen]
    headers = {"CI": f"{percent(summary.settings['confidence_level'])} CI", "verdict": ""}
    table = {
        title: [headers.get(title, title), *(row[title] for row in cells)] for title in cells[0]
    }
    labels = {line.name: printable(summary.label_row(line.first)) for line, _ in chosen}
    names, table = _fit(table, labels, width)
    verdicts = [
        paint.verdict(row.verdict, text)
        for (_, row), text in zip(chosen, table["verdict"][1:], strict=True)
    ]
    table["verdict"][1:] = verdicts
    shown = [names[line.name] for line, _ in chosen]
    repeated = [name == before for before, name in pairwise(["", *shown])]
    first_column = [
        _GROUP,
        *("" if is_again else name for name, is_again in zip(shown, repeated, strict=True)),
    ]
    right = [i for i, title in enumerate(table, 1) if title in _RIGHT]
    first, *lines = aligned(
        zip(first_column, *table.values(), strict=True), right=right, between=" "
    )
    said, shown_rows = {claim_key(row) for _, row in chosen}, {row for _, row in chosen}
    differ = [
        row for line in summary.lines for row in line.differing if mirror_key(row) not in said
    ]
    hidden = sum(row not in shown_rows for row in differ)
    more = [f"… and {hidden:,} more that differ"] if hidden > 0 else []
    return [paint.bold(first), *lines, *more]


def _choose_rows(lines: Sequence[Line], most: int | None) -> Iterator[tuple[Line, Row]]:
    """The rows of a table: a few of each group that differs, or all; two groups that mirror each other once."""
    left = len(lines) * 100 if most is None else most
    differ = sum(len(line.differing) for line in lines)
    said: set[object] = set()
    for line in lines:
        rows = list(line.rows.values()) if most is None else line.differing
        if most is not None and differ > most:
            rows = rows[:MOST_PER_GROUP]
        for row in rows:
            if left <= 0 or (most is not None and mirror_key(row) in said):
                continue
            said.add(claim_key(row))
            left -= 1
            yield line, row


def _cells(row: Row, summary: Summary) -> dict[str, str]:
    """The numbers of a row by the title of their column."""
    form = "{:+.3f}".format if row.is_change else number
    reference = "-" if isnan(row.reference_score) else form(row.reference_score)
    gap = "-" if isnan(row.gap) else f"×{number(row.gap)}" if row.is_ratio else f"{row.gap:+.3f}"
    star = "*" if row.driver is not None and row.differs else ""
    worse = " worse" if harms(row, summary.settings) else ""
    verdict = "" if row.differs else f" {row.verdict}"
    return {
        "metric": printable(row.metric),
        "n": f"{row.support:,}",
        "score": score_text(row),
        "ref": reference,
        "diff": gap,
        "CI": gap_interval(row) or "-",
        "p": _short_pvalue(row.p_adjusted, summary.settings["alpha"]),
        "verdict": f"{row.verdict.sign}{star}{verdict}{worse}",
    }


def _short_pvalue(p: float, alpha: float) -> str:
    """A p-value on its side of alpha, without its leading zero."""
    if isnan(p):
        return "-"
    text = pvalue(p, alpha).removeprefix("= ").replace("< ", "<")
    return text.replace("0.", ".", 1) if p < 1 else "1"


def _fit(table: _Table, labels: dict[str, str], width: int) -> tuple[dict[str, str], _Table]:
    """The names and the columns that fit: names are shortened, then columns left out, last the words of verdicts."""
    longest = max(_NAME_WIDTH, width - 64)
    for left_out in range(len(_DISPENSABLE) + 1):
        kept = {
            title: cells for title, cells in table.items() if title not in _DISPENSABLE[:left_out]
        }
        room = width - _measure(kept)
        names = _shorten(labels, min(room, longest))
        if max(map(columns, [_GROUP, *names.values()])) <= room and (
            room >= _SHORTEST_NAME or names == labels
        ):
            return names, kept
    metrics = _shorten({name: name for name in table["metric"]}, _SHORTEST_METRIC)
    kept["metric"] = [metrics[name] for name in table["metric"]]
    kept["verdict"] = [text.split(" ")[0] for text in table["verdict"]]
    return _shorten(labels, width - _measure(kept)), kept


def _measure(table: _Table) -> int:
    """The width of columns, each with a blank before it."""
    return sum(1 + max(map(columns, cells)) for cells in table.values())


def _shorten(names: dict[str, str], width: int) -> dict[str, str]:
    """Names of at most a width that are told apart; their beginnings and ends stay."""
    for shortened in range(max(width, 1), 0, -1):
        shown = numbered({key: _shorten_name(name, shortened) for key, name in names.items()})
        if max(map(columns, shown.values())) <= width:
            break
    return shown


def _shorten_name(name: str, width: int) -> str:
    head, tail = name[: (len(name) + 1) // 2], name[(len(name) + 1) // 2 :]
    while columns(head + tail) > width - (head + tail != name) and head:
        if len(head) > 2 * len(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return name if head + tail == name else f"{head}…{tail}"


# Below the table


def _below(summary: Summary, most: int | None, is_command: bool) -> Iterator[str]:
    """Impact ratios, what is inconclusive, what one group decides, and what to beware of."""
    if most is None or summary.is_of_models:
        for place, scores in summary.overall:
            yield printable(f"Overall{f', {place}' if place else ''}: {scores}")
    impacts = summary.impacts
    if impacts:
        favourable = summary.words.favourable(summary.settings["favourable"])
        yield printable(
            f"Impact ratio (favourable: {favourable}; highest rate: {impacts[0][0].impact_group})"
        )
        yield from (f"  {printable(text)}" for _, text in impacts[:MOST_IMPACTS])
        if len(impacts) > MOST_IMPACTS:
            yield f"  and {len(impacts) - MOST_IMPACTS:,} more below 0.80"
    if summary.inconclusive:
        yield printable(f"Inconclusive: {summary.inconclusive}")
        if summary.collecting:
            yield printable(
                f"  80% power at a gap of {summary.settings['margin']:g}: {summary.collecting}"
            )
    if driven := summary.driven:
        more = f"; {len(driven) - MOST_DRIVEN:,} more" if len(driven) > MOST_DRIVEN else ""
        named = "--reference" if is_command else "reference"
        yield printable(
            f"* Driven by one group: {'; '.join(driven[:MOST_DRIVEN])}{more} (try a named {named})"
        )
    if summary.cautions:
        yield f"{'. '.join(summary.cautions)}."
    yield _COMMAND if is_command else _PYTHON
