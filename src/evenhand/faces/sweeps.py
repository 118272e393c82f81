"""An audit at several thresholds as text, Markdown, a notebook table and a self-contained HTML page.

Names come from data and are not trusted: control characters are escaped, and markup is shown as text. The page fetches
nothing, which a strict content security policy enforces, and shows everything without JavaScript; with it, readers can
highlight a group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import Any, Literal

from ..auditing import Finding, Row, Sweep, Verdict, command_of, compared_with, number, several
from ..errors import printable
from ..metrics import metric as find_metric
from .sweep_pictures import GEOMETRY, Chart, SweepLine, columns_of, has_score, lines_of, threshold_text
from .tables import adjustment, marked
from .templating import policy, shipped, template

__all__ = ["sweep_html", "sweep_markdown", "sweep_page", "sweep_text"]

_WIDTH, _NAME = 80, 30
_MAIN, _IN_NOTEBOOK = 3, 24
_SEVERITIES: tuple[Literal["alert", "warning", "note"], ...] = ("alert", "warning", "note")


def sweep_text(sweep: Sweep, most: int | None = None) -> str:
    """A heading, the main findings and one table of at most ``most`` groups per metric, 80 columns wide."""
    lines = [*_wrapped(_head(sweep)), *_wrapped(_reading(sweep))]
    for key in sweep.audits[0].settings["metrics"]:
        groups = lines_of(sweep, key)
        kept = groups if most is None else groups[: max(most, 0)]
        lines += ["", _title(key), *_columns(kept, sweep.thresholds)]
        lines += _wrapped(_left_groups(groups[len(kept) :])) if len(kept) < len(groups) else []
        lines += [line for text in _reasons(kept) for line in _wrapped(text)]
    lines.append("")
    for where, shown, left in _main_findings(sweep):
        lines += [line for f in shown for line in _wrapped(f"{where}: {printable(f.sentence)}.", "  ")]
        lines += _wrapped(f"{where}: {_left(left)}", "  ") if left else []
    return "\n".join([*lines, "", *(line for note in _notes(sweep) for line in _wrapped(note))])


def _head(sweep: Sweep) -> str:
    rows = sweep.audits[0].rows
    groups = {(row.by, row.group) for row in rows}
    by = ", ".join(map(printable, columns_of(sweep)))
    return (
        f"Audit of {several(sweep.audits[0].n, 'case')} in {several(len(groups), 'group')} by {by} "
        f"at {several(len(sweep), 'threshold')}"
    )


def _reading(sweep: Sweep) -> str:
    """What a threshold means, and over what p-values are adjusted."""
    first = sweep.audits[0]
    name = first.record.get("columns", {}).get("score")
    column = f" (column {printable(str(name))})" if name else ""
    how = adjustment(first)
    within = how if how == "not adjusted" else f"{how} within each threshold, not over thresholds"
    return f"A score{column} at or above a threshold is a positive prediction. P-values are {within}."


def _notes(sweep: Sweep) -> list[str]:
    settings = sweep.audits[0].settings
    seen = {row.verdict for audit in sweep for row in audit.rows}
    meanings = [
        f"{v.sign} {v}: {v.meaning.format(alpha=settings['alpha'], margin=settings['margin'])}"
        for v in Verdict
        if v in seen
    ]
    against = compared_with(row for audit in sweep for row in audit.rows)
    return [f"Each group is compared with {printable(against)}. {'; '.join(meanings)}."]


def _title(key: str) -> str:
    return f"{find_metric(key).name} ({key})"


def _main_findings(sweep: Sweep) -> Iterator[tuple[str, list[Finding], list[Finding]]]:
    """The findings at every threshold and at each: where, the most severe, and all others."""
    everywhere = set(sweep.audits[0].findings).intersection(*(audit.findings for audit in sweep))
    if len(sweep) == 1:
        everywhere = set()
    places = [("at every threshold", [f for f in sweep.audits[0].findings if f in everywhere])]
    places += [
        (f"at {threshold_text(threshold)}", [f for f in audit.findings if f not in everywhere])
        for threshold, audit in zip(sweep.thresholds, sweep, strict=True)
    ]
    for where, found in places:
        ordered = sorted(found, key=lambda f: _SEVERITIES.index(f.severity))
        if ordered:
            yield where, ordered[:_MAIN], ordered[_MAIN:]


def _left(findings: Sequence[Finding]) -> str:
    """How many findings are left out, by severity."""
    counts = Counter(f.severity for f in findings)
    each = ", ".join(several(counts[severity], severity) for severity in _SEVERITIES if counts[severity])
    return f"and {several(len(findings), 'more finding')} ({each})"


def _left_groups(lines: Sequence[SweepLine]) -> str:
    """How many groups are left out, and how many of them differ."""
    differ, n = sum(line.differs for line in lines), len(lines)
    if differ == n:
        which = "which is" if n == 1 else "all of which are"
    elif differ:
        which = f"{differ:,} of which {'is' if differ == 1 else 'are'}"
    else:
        which = "which is not" if n == 1 else "none of which is"
    where = "any threshold" if not differ else "some threshold"
    return f"… and {several(n, 'more group')}, {which} higher or lower at {where}"


def _reasons(lines: Sequence[SweepLine]) -> list[str]:
    """Why scores of a table are undefined or cannot be compared, in one sentence, or none."""
    rows = [row for line in lines for row in line.rows if row is not None and row.reason is not None]
    said = "; ".join(dict.fromkeys(printable(str(row.reason)) for row in rows))
    return [f"{Verdict.UNDEFINED.sign} {said}."] if said else []


def _score(row: Row | None) -> str:
    """A score with the sign of its verdict; one that is undefined is called so."""
    if row is None:
        return ""
    return f"{number(row.score) if has_score(row) else 'undefined'} {row.verdict.sign}"


def _columns(lines: Sequence[SweepLine], thresholds: Sequence[float]) -> list[str]:
    """A table of groups by thresholds; thresholds that do not fit beside each other continue below."""
    names = ["group", *(_shortened(printable(line.label), _NAME) for line in lines)]
    sizes = ["n", *(f"{line.n:,}" for line in lines)]
    cells = [
        [threshold_text(threshold), *(_score(line.rows[i]) for line in lines)] for i, threshold in enumerate(thresholds)
    ]
    used = sum(max(map(len, column)) for column in (names, sizes)) + 1
    blocks: list[list[list[str]]] = [[]]
    width = used
    for column in cells:
        wider = 1 + max(map(len, column))
        if blocks[-1] and width + wider > _WIDTH:
            blocks.append([])
            width = used
        blocks[-1].append(column)
        width += wider
    return [line for block in blocks for line in _aligned([names, sizes, *block])]


def _aligned(columns: Sequence[Sequence[str]]) -> list[str]:
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
    return wrap(text, _WIDTH, break_on_hyphens=False, subsequent_indent=indent) or [""]


def sweep_markdown(sweep: Sweep) -> str:
    """The main findings as a list, and one table of all groups per metric."""
    lines = ["# " + marked(_head(sweep)), "", marked(_reading(sweep)), "", "## Findings", ""]
    items = []
    for where, shown, left in _main_findings(sweep):
        items += [f"- {where}: **{f.severity}** ({f.code}) {marked(f.sentence)}." for f in shown]
        items += [f"- {where}: {_left(left)}"] if left else []
    lines += items or ["- none"]
    titles = ["group", "n", *map(threshold_text, sweep.thresholds)]
    for key in sweep.audits[0].settings["metrics"]:
        groups = lines_of(sweep, key)
        lines += ["", f"## {marked(_title(key))}", "", "| " + " | ".join(titles) + " |"]
        lines.append("|---|" + "---:|" * (len(titles) - 1))
        lines += [
            "| " + " | ".join([marked(line.label), f"{line.n:,}", *map(_score, line.rows)]) + " |" for line in groups
        ]
        lines += [text for reason in _reasons(groups) for text in ("", marked(reason))]
    return "\n".join([*lines, "", *map(marked, _notes(sweep)), ""])


def sweep_html(sweep: Sweep) -> str:
    """The verdicts per threshold and the most important scores, as tables for a notebook."""
    counts = [Counter(row.verdict for row in audit.rows) for audit in sweep]
    seen = [verdict for verdict in Verdict if any(count[verdict] for count in counts)]
    thresholds = [threshold_text(threshold) for threshold in sweep.thresholds]
    summary = _table(
        _head(sweep),
        ["threshold", *(f"{verdict.sign} {verdict}" for verdict in seen)],
        [[text, *(str(count[v]) for v in seen)] for text, count in zip(thresholds, counts, strict=True)],
    )
    lines = [(key, line) for key in sweep.audits[0].settings["metrics"] for line in lines_of(sweep, key)]
    lines.sort(key=lambda pair: pair[1].importance)
    shown = lines[:_IN_NOTEBOOK]
    left = len(lines) - len(shown)
    caption = "Most important scores" if left else "Scores"
    scores = _table(
        f"{caption} and their verdicts" + (f"; {several(left, 'more line')} in to_html()" if left else ""),
        ["metric", "group", "n", *thresholds],
        [[key, f"{line.by}: {line.group}", f"{line.n:,}", *map(_score, line.rows)] for key, line in shown],
    )
    return f"{summary}{scores}<p>{escape(_reading(sweep))}</p>"


def _table(caption: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def sweep_page(sweep: Sweep) -> str:
    """The whole page."""
    first = sweep.audits[0]
    style, script = shipped("base.css") + shipped("sweep.css") + _verdict_style(), shipped("sweep.js")
    return str(
        _template().render(
            sweep=sweep,
            head=_head(sweep),
            title=first.record.get("title") or _head(sweep),
            reading=_reading(sweep),
            about=list(_about(sweep)),
            findings=list(_main_findings(sweep)),
            charts=[Chart.of(sweep, key) for key in first.settings["metrics"]],
            geometry=GEOMETRY,
            level=f"{100 * first.level:g} %",
            verdicts=[v for v in Verdict if any(row.verdict is v for audit in sweep for row in audit.rows)],
            settings=first.settings,
            against=compared_with(row for audit in sweep for row in audit.rows),
            versions=first.versions,
            command=_command(sweep),
            style=style,
            script=script,
            policy=policy(style, script),
        )
    )


@lru_cache(maxsize=1)
def _template() -> Any:
    filters: dict[str, Any] = {"number": number, "shown": printable, "threshold": threshold_text, "score": _score}
    return template("sweep.html", filters, {"has_score": has_score, "left_findings": _left})


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


def _about(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """What was audited: each thing that the record says, with its name."""
    record = sweep.audits[0].record
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
    for what, n in sweep.audits[0].left_out.items():
        yield "left out", f"{several(n, 'row')} without {what}"
    columns = dict(record.get("columns", {}))
    groups = columns.pop("groups", sweep.audits[0].settings["groups"])
    for what, name in columns.items():
        yield f"column of {what}s", str(name)
    yield "group columns" if len(groups) > 1 else "group column", ", ".join(map(str, groups))
    for column, values in record.get("positive", {}).items():
        yield f"positive {column}", ", ".join(map(str, values)) if isinstance(values, list) else str(values)
    yield "thresholds" if len(sweep) > 1 else "threshold", ", ".join(map(threshold_text, sweep.thresholds))


def _command(sweep: Sweep) -> str | None:
    """The command that makes the audits again, if the record has the files."""
    record = sweep.audits[0].record
    paths, call = record.get("source", {}).get("paths"), record.get("call")
    if not record.get("command") or not paths or not call:
        return None
    return command_of(paths, call | {"threshold": list(sweep.thresholds)})
