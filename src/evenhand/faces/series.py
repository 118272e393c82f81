"""Several audits of the same cases as text, Markdown, notebook tables and a self-contained HTML page.

What is specific to thresholds or classes is a `View`; the rest is the same for both. Names come from data and are not
trusted: control characters are escaped, and markup is shown as text. The page fetches nothing, which a strict content
security policy enforces, and shows everything without JavaScript.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import Any, Literal

from ..auditing import Audit, Finding, Row, Verdict, compared_with, number, several
from ..errors import printable
from ..metrics import metric as find_metric
from .series_lines import Line, columns_of, has_score, lines_of
from .tables import marked
from .templating import policy, shipped, template

__all__ = ["Section", "View", "about", "head_of", "html", "markdown", "page", "text"]

_WIDTH, _NAME = 80, 30
_MAIN, _IN_NOTEBOOK = 3, 24
# Beyond so many scores, tables of a page have the most important groups only.
_MOST_CELLS = 20_000
_SEVERITIES: tuple[Literal["alert", "warning", "note"], ...] = ("alert", "warning", "note")


@dataclass(frozen=True, slots=True)
class Section:
    """A table that belongs to all audits: its title, what it means, titles of columns, rows of cells, and notes.

    ``details`` has more to each cell, for which only the page has room.
    """

    title: str
    meaning: str
    titles: list[str]
    rows: list[list[str]]
    details: list[list[str]]
    notes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is shown of several audits.

    Attributes
    ----------
    audits : tuple of Audit
        The audits.
    noun, preposition : str
        What the audits differ in, and the word before it, such as ``"at"`` a ``"threshold"``.
    keys : tuple of str
        What each is called as the title of a column.
    places : tuple of str
        Where something holds that one of them says, such as ``"at 0.5"``.
    everywhere : str
        Where something holds that all of them say.
    head, reading : str
        The heading, and how keys and p-values are to be read.
    about : list of (str, str)
        What the page says of the audit, by name.
    record : mapping
        The record of all audits.
    template, style, script : str
        The files of the page.
    loader : str
        The name of the result, which reads what it saved.
    charted : callable
        What the page shows of a metric: from its key and the lines of each column.
    sections : list of Section
        Tables of all audits together.
    most_keys : int or None
        The largest number of keys in text.
    """

    audits: tuple[Audit, ...]
    noun: str
    preposition: str
    keys: tuple[str, ...]
    places: tuple[str, ...]
    everywhere: str
    head: str
    reading: str
    about: list[tuple[str, str]]
    record: Mapping[str, Any]
    loader: str
    template: str
    style: str
    charted: Callable[[str, dict[str, list[Line]]], Any]
    script: str | None = None
    sections: list[Section] = field(default_factory=list)
    most_keys: int | None = None

    @property
    def metrics(self) -> list[str]:
        """The keys of the metrics."""
        return list(self.audits[0].settings["metrics"])

    def lines(self, key: str) -> list[Line]:
        """The groups of all columns for a metric, most important first."""
        return lines_of(self.audits, key)

    def findings(self) -> Iterator[tuple[str, list[Finding], list[Finding]]]:
        """The findings in every audit and in each: where, the most severe, and all others."""
        shared = set(self.audits[0].findings).intersection(*(audit.findings for audit in self.audits))
        if len(self.audits) == 1:
            shared = set()
        places = [(self.everywhere, [f for f in self.audits[0].findings if f in shared])]
        places += [
            (place, [f for f in audit.findings if f not in shared])
            for place, audit in zip(self.places, self.audits, strict=True)
        ]
        for where, found in places:
            ordered = sorted(found, key=lambda f: _SEVERITIES.index(f.severity))
            if ordered:
                yield where, ordered[:_MAIN], ordered[_MAIN:]

    def notes(self) -> list[str]:
        """What groups are compared with, and what the signs of verdicts mean."""
        settings = self.audits[0].settings
        seen = {row.verdict for audit in self.audits for row in audit.rows}
        meanings = [
            f"{v.sign} {v}: {v.meaning.format(alpha=settings['alpha'], margin=settings['margin'])}"
            for v in Verdict
            if v in seen
        ]
        against = compared_with(row for audit in self.audits for row in audit.rows)
        return [f"Each group is compared with {printable(against)}. {'; '.join(meanings)}."]

    def important_keys(self) -> list[int]:
        """The places of the keys that text shows: those with the most scores that differ, in their order."""
        most = len(self.keys) if self.most_keys is None else self.most_keys
        differing = [sum(row.differs for row in audit.rows) for audit in self.audits]
        ranked = sorted(range(len(self.keys)), key=lambda i: -differing[i])
        return sorted(ranked[:most])


def text(view: View, most: int | None = None) -> str:
    """A heading, tables of at most ``most`` groups per metric, and the main findings, 80 columns wide."""
    lines = [*_wrapped(view.head), *_wrapped(view.reading)]
    shown = view.important_keys()
    if len(shown) < len(view.keys):
        lines += _wrapped(
            f"The tables have the {len(shown):,} of {len(view.keys):,} {view.noun}es with most scores that differ; "
            "to_csv() has all."
        )
    for section in view.sections:
        lines += ["", section.title, *_wrapped(section.meaning)]
        kept = section.rows if most is None else section.rows[: max(most, 0)]
        lines += _blocks([[title, *(row[i] for row in kept)] for i, title in enumerate(section.titles)])
        left = len(section.rows) - len(kept)
        lines += _wrapped(f"… and {several(left, 'more group')}") if left else []
        lines += [line for note in section.notes for line in _wrapped(note)]
    for key in view.metrics:
        groups = view.lines(key)
        kept_lines = groups if most is None else groups[: max(most, 0)]
        lines += ["", _title(key), *_columns(view, kept_lines, shown)]
        lines += _wrapped(_left_groups(view, groups[len(kept_lines) :])) if len(kept_lines) < len(groups) else []
        lines += [line for said in _reasons(kept_lines) for line in _wrapped(said)]
    lines.append("")
    for where, main, left_findings in view.findings():
        lines += [line for f in main for line in _wrapped(f"{printable(where)}: {printable(f.sentence)}.", "  ")]
        lines += _wrapped(f"{printable(where)}: {_left(left_findings)}", "  ") if left_findings else []
    return "\n".join([*lines, "", *(line for note in view.notes() for line in _wrapped(note))])


def _title(key: str) -> str:
    return f"{find_metric(key).name} ({key})"


def _left(findings: Sequence[Finding]) -> str:
    """How many findings are left out, by severity."""
    counts = Counter(f.severity for f in findings)
    each = ", ".join(several(counts[severity], severity) for severity in _SEVERITIES if counts[severity])
    return f"and {several(len(findings), 'more finding')} ({each})"


def _left_groups(view: View, lines: Sequence[Line]) -> str:
    """How many groups are left out, and how many of them differ."""
    differ, n = sum(line.differs for line in lines), len(lines)
    if differ == n:
        which = "which is" if n == 1 else "all of which are"
    elif differ:
        which = f"{differ:,} of which {'is' if differ == 1 else 'are'}"
    else:
        which = "which is not" if n == 1 else "none of which is"
    where = f"{view.preposition} {'some' if differ else 'any'} {view.noun}"
    return f"… and {several(n, 'more group')}, {which} higher or lower {where}"


def _reasons(lines: Sequence[Line]) -> list[str]:
    """Why scores of a table are undefined or cannot be compared, in one sentence, or none."""
    rows = [row for line in lines for row in line.rows if row is not None and row.reason is not None]
    said = "; ".join(dict.fromkeys(printable(str(row.reason)) for row in rows))
    return [f"{Verdict.UNDEFINED.sign} {said}."] if said else []


def _score(row: Row | None) -> str:
    """A score with the sign of its verdict; one that is undefined is called so."""
    if row is None:
        return ""
    return f"{number(row.score) if has_score(row) else 'undefined'} {row.verdict.sign}"


def _columns(view: View, lines: Sequence[Line], shown: Sequence[int]) -> list[str]:
    """A table of groups by keys."""
    names = ["group", *(line.label for line in lines)]
    sizes = ["n", *(f"{line.n:,}" for line in lines)]
    cells = [[view.keys[i], *(_score(line.rows[i]) for line in lines)] for i in shown]
    return _blocks([names, sizes, *cells])


def _blocks(columns: Sequence[Sequence[str]]) -> list[str]:
    """A table whose first two columns name the rows; columns that do not fit beside each other continue below."""
    names, sizes, *others = [[_shortened(printable(cell), _NAME) for cell in column] for column in columns]
    used = sum(max(map(len, column)) for column in (names, sizes)) + 1
    blocks: list[list[list[str]]] = [[]]
    width = used
    for column in others:
        wider = 1 + max(map(len, column))
        if blocks[-1] and width + wider > _WIDTH:
            blocks.append([])
            width = used
        blocks[-1].append(column)
        width += wider
    return [line for block in blocks for line in _aligned([names, sizes, *block])]


def _aligned(columns: Sequence[Sequence[str]]) -> list[str]:
    """Columns as lines: the first to the left, all others to the right."""
    widths = [max(map(len, column)) for column in columns]
    return [
        " ".join(text.rjust(w) if i else text.ljust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True)))
        for row in zip(*columns, strict=True)
    ]


def _shortened(text: str, width: int) -> str:
    """A long name without its middle, since names of intersections differ at both ends."""
    tail = width // 3
    return text if len(text) <= width else f"{text[: width - tail - 1]}…{text[-tail:]}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Text in lines of 80 columns."""
    return wrap(text, _WIDTH, break_on_hyphens=False, subsequent_indent=indent) or [""]


def markdown(view: View) -> str:
    """The main findings as a list, and one table of all groups per metric."""
    lines = ["# " + marked(view.head), "", marked(view.reading), "", "## Findings", ""]
    items = []
    for where, shown, left in view.findings():
        items += [f"- {marked(where)}: **{f.severity}** ({f.code}) {marked(f.sentence)}." for f in shown]
        items += [f"- {marked(where)}: {_left(left)}"] if left else []
    lines += items or ["- none"]
    for section in view.sections:
        lines += ["", f"## {marked(section.title)}", "", marked(section.meaning), "", *_table_of(section)]
        lines += [part for note in section.notes for part in ("", marked(note))]
    for key in view.metrics:
        groups = view.lines(key)
        lines += ["", f"## {marked(_title(key))}", "", *_markdown_table(["group", "n", *view.keys])]
        lines += [_markdown_row([line.label, f"{line.n:,}", *map(_score, line.rows)]) for line in groups]
        lines += [part for reason in _reasons(groups) for part in ("", marked(reason))]
    return "\n".join([*lines, "", *map(marked, view.notes()), ""])


def _table_of(section: Section) -> list[str]:
    return [*_markdown_table(section.titles), *map(_markdown_row, section.rows)]


def _markdown_table(titles: Sequence[str]) -> list[str]:
    return [_markdown_row(titles), "|---|" + "---:|" * (len(titles) - 1)]


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(marked, cells)) + " |"


def html(view: View) -> str:
    """The verdicts per key and the most important scores, as tables for a notebook."""
    counts = [Counter(row.verdict for row in audit.rows) for audit in view.audits]
    seen = [verdict for verdict in Verdict if any(count[verdict] for count in counts)]
    summary = _table(
        view.head,
        [view.noun, *(f"{verdict.sign} {verdict}" for verdict in seen)],
        [[key, *(str(count[v]) for v in seen)] for key, count in zip(view.keys, counts, strict=True)],
    )
    lines = [(key, line) for key in view.metrics for line in view.lines(key)]
    lines.sort(key=lambda pair: pair[1].importance)
    shown = lines[:_IN_NOTEBOOK]
    left = len(lines) - len(shown)
    caption = "Most important scores" if left else "Scores"
    kept = view.important_keys()
    scores = _table(
        f"{caption} and their verdicts" + (f"; {several(left, 'more line')} in to_html()" if left else ""),
        ["metric", "group", "n", *(view.keys[i] for i in kept)],
        [
            [key, f"{line.by}: {line.group}", f"{line.n:,}", *(_score(line.rows[i]) for i in kept)]
            for key, line in shown
        ],
    )
    sections = [_table(section.title, section.titles, section.rows[:_IN_NOTEBOOK]) for section in view.sections]
    return f"{summary}{''.join(sections)}{scores}<p>{escape(printable(view.reading))}</p>"


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(printable(title))}</th>' for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    name = escape(printable(caption))
    return f"<table><caption>{name}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def page(view: View) -> str:
    """The whole page."""
    first = view.audits[0]
    style, script = (
        shipped("base.css") + shipped(view.style) + _verdict_style(),
        shipped(view.script) if view.script else "",
    )
    most = max(_MOST_CELLS // (len(view.keys) * len(view.metrics)), _MAIN)
    charts, left = [], 0
    for key in view.metrics:
        lines = view.lines(key)
        left = max(len(lines) - most, 0)
        columns: dict[str, list[Line]] = {by: [] for by in columns_of(first)}
        for line in lines[:most]:
            columns.setdefault(line.by, []).append(line)
        charts.append(view.charted(key, {by: some for by, some in columns.items() if some}))
    return str(
        _template(view.template).render(
            view=view,
            title=first.record.get("title") or view.head,
            findings=list(view.findings()),
            charts=charts,
            left=left,
            level=f"{100 * first.level:g} %",
            verdicts=[v for v in Verdict if any(row.verdict is v for audit in view.audits for row in audit.rows)],
            settings=first.settings,
            against=compared_with(row for audit in view.audits for row in audit.rows),
            versions=first.versions,
            style=style,
            script=script,
            policy=policy(style, script),
        )
    )


@lru_cache(maxsize=4)
def _template(name: str) -> Any:
    return template(name, {"number": number, "shown": printable}, {"has_score": has_score, "left_findings": _left})


def _verdict_style() -> str:
    """The colours of the verdicts on light and dark backgrounds."""
    light, dark = (
        "".join(
            f".{v.css}{{stroke:{colour};color:{colour}}}" + (f".mark.{v.css}{{fill:{colour}}}" if v.filled else "")
            for v, colour in colours
        )
        for colours in ([(v, v.colour) for v in Verdict], [(v, v.dark) for v in Verdict])
    )
    return f"{light}@media screen and (prefers-color-scheme: dark){{{dark}}}"


def about(record: Mapping[str, Any], audit: Audit) -> Iterator[tuple[str, str]]:
    """What was audited: each thing that the record says, with its name."""
    for name in ("title", "system", "author", "made"):
        if record.get(name):
            yield {"made": "made at"}.get(name, name), str(record[name])
    source = record.get("source", {})
    if source.get("name"):
        more = f" ({several(source['files'], 'file')})" if source.get("files", 1) > 1 else ""
        yield "source", f"{source['name']}{more}"
    elif source.get("kind") == "frame":
        yield "source", f"a dataframe ({source.get('library')})"
    elif source.get("kind") == "columns":
        yield "source", "columns in memory"
    if source.get("size") is not None:
        yield "size", several(source["size"], "byte")
    if source.get("sha256"):
        yield "SHA-256", str(source["sha256"])
    if source.get("rows") is not None:
        yield "rows", f"{source['rows']:,}"
    for what, n in audit.left_out.items():
        yield "left out", f"{several(n, 'row')} without {what}"
    columns = dict(record.get("columns", {}))
    groups = columns.pop("groups", audit.settings["groups"])
    for what, name in columns.items():
        yield f"column of {what}s", str(name)
    yield "group columns" if len(groups) > 1 else "group column", ", ".join(map(str, groups))
    for column, values in record.get("positive", {}).items():
        yield f"positive {column}", ", ".join(map(str, values)) if isinstance(values, list) else str(values)


def head_of(audit: Audit) -> str:
    """How many cases and groups were audited, and by which columns."""
    groups = {(row.by, row.group) for row in audit.rows}
    by = ", ".join(map(printable, columns_of(audit)))
    return f"Audit of {several(audit.n, 'case')} in {several(len(groups), 'group')} by {by}"
