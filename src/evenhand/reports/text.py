"""An audit for the terminal: what was compared, a table of what differs, and what to beware of.

No line is longer than the terminal. If the table is too wide, names are shortened first, then columns
are left out; the p-value always stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from math import isnan

from ..auditing import Audit, Row, Verdict
from ..errors import printable
from ..text_layout import aligned, columns, wrapped
from ..wording import number, numbered, several
from . import narrative
from .summary import Line, Summary

MOST_ROWS, MOST_PER_GROUP, MOST_IMPACTS, MOST_DRIVEN, MOST_VARIED = 9, 2, 3, 1, 3
NARROWEST = 40
_NAME_WIDTH, _SHORTEST_NAME, _SHORTEST_METRIC = 16, 8, 10
# Columns by title, in the order in which they are left out of narrow tables.
_DISPENSABLE = ("n", "ref", "CI", "diff")
_RIGHT = ("n", "score", "ref", "diff", "p")
_BOLD, _FAINT = 1, 2
_CODES = {
    **{Verdict.HIGHER: 33, Verdict.LOWER: 34, Verdict.UNLIKE: 35, Verdict.EQUIVALENT: 32},
    **{Verdict.WORSE: 33, Verdict.BETTER: 32},
}
_PYTHON = "More: to_text(explain=True), to_html(path), to_frame()"
_COMMAND = "More: --all  --explain  --html report.html"

_Table = dict[str, list[str]]
_Paint = Callable[[str, int], str]


def as_text(
    audit: Audit,
    most: int | None = MOST_ROWS,
    *,
    width: int = 80,
    colour: bool = False,
    explain: bool = False,
    is_command: bool = False,
) -> str:
    """The audit as about 25 lines; with ``most`` None all rows, with ``explain`` all sentences."""

    def paint(text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colour else text

    summary, width = Summary(audit), max(width, NARROWEST)
    parts = [
        list(_head(summary, paint)),
        [f"{note.severity.capitalize()}: {summary.note_text(note)}" for note in summary.notes],
        list(_explain(summary, paint)) if explain else [],
        _table(summary, most, width, paint) if summary.rows else [],
        list(_goals(summary, most, width, paint)),
        list(_below(summary, most, is_command)),
    ]
    lines = [line for part in parts if part for line in (*part, "")]
    return "\n".join(part for line in lines for part in _wrap(line, width)).rstrip("\n")


def _wrap(line: str, width: int) -> list[str]:
    """A line on lines of at most the width; what goes on is indented."""
    if columns(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    first, *rest = wrapped(line.strip(), width - len(indent) - 2)
    return [indent + first, *(f"{indent}  {part}" for part in rest)]


def _head(summary: Summary, paint: _Paint) -> Iterator[str]:
    """What was compared with what, how, and how often each verdict was given."""
    counts = [f"{by} ({several(n, 'group')})" for by, n in summary.columns.items()]
    command = "compare" if summary.is_of_models else "audit"
    about = filter(None, [summary.source, summary.extent, *counts, summary.places])
    yield paint(printable(f"evenhand {command}: {', '.join(about)}"), _BOLD)
    yield printable(summary.opening)
    if summary.rows:
        yield from (summary.tests, summary.verdict_line)
    yield from filter(None, [summary.goal_line, summary.protection])


def _explain(summary: Summary, paint: _Paint) -> Iterator[str]:
    """The key sentences, then all findings."""

    def say(row: Row, text: str) -> str:
        return f"  {_paint_verdict(row, row.verdict.sign, paint)} {printable(text)}"

    for name, rows in summary.key_groups.items():
        yield paint(printable(name), _BOLD)
        yield from (say(row, summary.sentence_with_harm(row)) for row in rows)
    key_rows = frozenset(summary.key_rows)
    for line in summary.lines:
        for row in line.rows.values():
            if row.verdict is not Verdict.REFERENCE and row not in key_rows:
                yield say(row, f"{line.name}: {narrative.describe_row(row, summary.settings)}.")

    yield from (say(row, summary.describe(row)) for row in summary.goals)


def _paint_verdict(row: Row, text: str, paint: _Paint) -> str:
    return paint(text, _CODES.get(row.verdict, _FAINT))


# The table


def _table(summary: Summary, most: int | None, width: int, paint: _Paint) -> list[str]:
    """The rows that differ, by group; all rows without a limit."""
    rows = list(islice(_choose_rows(summary.lines, most), most))
    if not rows:
        return [summary.no_difference]
    table = _align(rows, summary, width, paint)
    said, shown = set(map(narrative.claim_key, rows)), set(rows)
    others = [row for line in summary.lines for row in line.differing if row not in shown]
    hidden = sum(narrative.mirror_key(row) not in said for row in others)
    more = [f"… and {hidden:,} more that differ"] if hidden else []
    return [*table, *more]


def _align(rows: Sequence[Row], summary: Summary, width: int, paint: _Paint) -> list[str]:
    """Rows as lines, with the names of their groups."""
    cells = [_cells(row, summary) for row in rows]
    table = {title: [title, *(row[title] for row in cells)] for title in cells[0]}
    table["CI"][0], table["verdict"][0] = f"{summary.level} CI", ""
    groups = [summary.name_row(row) for row in rows]
    labels = [printable(summary.label_row(row)) for row in rows]
    names, table = _fit(table, dict(zip(groups, labels, strict=True)), width)
    painted = zip(rows, table["verdict"][1:], strict=True)
    table["verdict"][1:] = [_paint_verdict(row, text, paint) for row, text in painted]
    first_column = [
        "" if group == before else names[group] for before, group in pairwise(["", *groups])
    ]
    contents = zip(["group", *first_column], *table.values(), strict=True)
    right = [i for i, title in enumerate(table, 1) if title in _RIGHT]
    head, *lines = aligned(contents, right=right, between=" ")
    return [paint(head, _BOLD), *lines]


def _choose_rows(lines: list[Line], most: int | None) -> Iterator[Row]:
    """The rows of a table: a few of each group that differs, or all; two groups that mirror each other once."""
    if most is None:
        yield from (row for line in lines for row in line.rows.values())
        return
    is_short = sum(len(line.differing) for line in lines) <= most
    said: set[object] = set()
    for line in lines:
        for row in line.differing[: most if is_short else MOST_PER_GROUP]:
            if narrative.mirror_key(row) not in said:
                said.add(narrative.claim_key(row))
                yield row


def _cells(row: Row, summary: Summary) -> dict[str, str]:
    """The numbers of a row by the title of their column."""
    reference, form = row.reference_score, "{:+.3f}".format if row.is_gap_change else number
    p = narrative.pvalue_text(row, summary.settings).replace(" ", "")
    is_sign = row.differs and not (row.is_change and row.verdict is Verdict.WORSE)
    verdict = "" if is_sign else f" {row.verdict}"
    worse = " worse" if narrative.harms(row, summary.settings) else ""
    cells = {
        "metric": printable(row.metric),
        "n": f"{row.support:,}",
        "score": narrative.score_text(row),
        "ref": narrative.goal_text(row) or (not isnan(reference) and form(reference)) or "",
        "diff": narrative.gap_text(row),
        "CI": narrative.gap_interval(row),
        "p": "1" if p == "1.000" else p.replace("0.", ".", 1),
        "verdict": f"{row.verdict.sign}{narrative.driver_mark(row)}{verdict}{worse}",
    }
    return {title: cell or "-" for title, cell in cells.items()}


def _fit(table: _Table, labels: dict[str, str], width: int) -> tuple[dict[str, str], _Table]:
    """The names and the columns that fit: names are shortened, then columns left out, last the words of verdicts."""
    longest = max(_NAME_WIDTH, width - 64)
    for left_out in range(len(_DISPENSABLE) + 1):
        dropped = _DISPENSABLE[:left_out]
        kept = {title: cells for title, cells in table.items() if title not in dropped}
        room = width - _measure(kept)
        names = _shorten(labels, min(room, longest))
        fits = max(map(columns, ["group", *names.values()])) <= room
        if fits and (room >= _SHORTEST_NAME or names == labels):
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
    half = (len(name) + 1) // 2
    head, tail = name[:half], name[half:]
    while columns(head + tail) > width - (head + tail != name) and head:
        if len(head) > 2 * len(tail):
            head = head[:-1]
        else:
            tail = tail[1:]
    return name if head + tail == name else f"{head}…{tail}"


# Goals


def _goals(summary: Summary, most: int | None, width: int, paint: _Paint) -> Iterator[str]:
    """The scores that have a goal, most important first; all without a limit."""
    if rows := summary.goals[:most]:
        yield paint(f"Goals ({summary.goal_tests})", _BOLD)
        yield from _align(rows, summary, width, paint)
    if more := Counter(row.verdict for row in summary.goals[len(rows) :]):
        said = ", ".join(f"{n:,} {verdict}" for verdict, n in more.items())
        yield f"… and {more.total():,} more: {said}"


# Below the table


def _below(summary: Summary, most: int | None, is_command: bool) -> Iterator[str]:
    """Impact ratios, what is inconclusive, what one group decides, and what to beware of."""
    if most is None or summary.is_of_models:
        for place, scores in summary.overall.items():
            yield printable(f"Overall{f', {place}' if place else ''}: {scores}")
    if impacts := summary.low_impacts:
        favourable = summary.words.favourable(summary.settings["favourable"])
        about = f"favourable: {favourable}; highest rate: {impacts[0].impact_group}"
        yield printable(f"Impact ratio ({about})")
        for row in impacts[:MOST_IMPACTS]:
            yield f"  {printable(summary.name_row(row))} {narrative.impact_text(row)}"
        if len(impacts) > MOST_IMPACTS:
            yield f"  and {len(impacts) - MOST_IMPACTS:,} more below 0.80"
    shown = len(summary.variation) if most is None else MOST_VARIED
    for across, texts in list(summary.variation.items())[:shown]:
        yield printable(f"{across}: {'; '.join(texts)}")
    if (hidden := len(summary.variation) - shown) > 0:
        yield f"… and variation of scores in {several(hidden, 'more place')}"
    if summary.inconclusive:
        yield printable(f"Inconclusive: {summary.inconclusive}")
        if steps := summary.collecting:
            kind = "change" if summary.is_of_models else "gap"
            yield printable(f"  80% power at a {kind} of {summary.planned_gap:g}: {steps}")
    if driven := summary.driven:
        more = f"; {len(driven) - MOST_DRIVEN:,} more" if len(driven) > MOST_DRIVEN else ""
        hint = f"try a named {'--reference' if is_command else 'reference'}"
        yield printable(f"* Driven by one group: {'; '.join(driven[:MOST_DRIVEN])}{more} ({hint})")
    yield from filter(None, [summary.caution])
    yield _COMMAND if is_command else _PYTHON
