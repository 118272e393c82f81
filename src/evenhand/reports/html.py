"""Reports as one HTML file that opens offline.

Everything is inline and nothing is fetched: the content security policy allows the style and the script
that are shipped, by their hashes. The template engine escapes all text from data. Without JavaScript
only the filter of the map is missing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from math import inf, isnan
from typing import TYPE_CHECKING, NamedTuple

from ..auditing import Audit, Monitor, Row, Verdict, lookup_metric, place_text
from ..errors import MissingExtra, printable
from ..wording import number, percent, several
from . import narrative, svg_charts
from .monitor_summary import MonitorSummary
from .summary import Line, Summary

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_LINES_WITH_PANELS, MOST_PANELS, MOST_MAPPED, MOST_INCONCLUSIVE = 12, 3, 60, 12
_MOST_DETAILS, _MOST_PLACES = 20, 8
# Lines in tables of a report; files, frames and JSON have all rows.
_MOST_LINES = 2_000


class ScoreTable(NamedTuple):
    """Scores by group: of all metrics or, along an axis, of one metric at some places."""

    title: str
    heads: list[object]
    overall: list[Row | None]
    rows: list[tuple[str, int, list[Row | None]]]


def as_page(
    audit: Audit, title: str | None = None, system: str | None = None, author: str | None = None
) -> str:
    """The report of an audit."""
    summary = Summary(audit)
    about = [("System", system), ("Author", author)]
    return _render(
        "report.html",
        title=title or summary.title,
        summary=summary,
        lines=summary.lines[:_MOST_LINES],
        panels=_draw_panels(summary),
        tables=list(_score_tables(summary)),
        inconclusive=_sort_inconclusive(summary),
        impacts=summary.impacts[:_MOST_LINES],
        facts=[*((word, text) for word, text in about if text), *summary.facts],
        level=percent(audit.settings["confidence_level"]),
        has_details=len(summary.lines) <= _MOST_DETAILS,
        most_mapped=MOST_MAPPED,
    )


def monitor_page(monitor: Monitor) -> str:
    """The report of a monitor."""
    summary = MonitorSummary(monitor)
    return _render("monitor.html", title=summary.title, summary=summary)


def _draw_panels(summary: Summary) -> list[tuple[object, str]]:
    """Metrics with pictures of their gaps, first those of the key sentences, on one scale; none with many lines."""
    rows, lines = summary.audit.rows, summary.lines
    if len(lines) > MOST_LINES_WITH_PANELS:
        return []
    drawn = {row.metric for row in rows if not (row.is_ratio or isnan(row.gap))}
    keys = [row.metric for row in summary.key_rows] + [metric.key for metric in summary.metrics]
    chosen = [key for key in dict.fromkeys(keys) if key in drawn][:MOST_PANELS]
    some = [row for row in rows if row.metric in chosen]
    domain = svg_charts.choose_domain(some, summary.key_rows)
    panels = []
    for metric in summary.metrics:
        if metric.key in chosen:
            about = f"{summary.words.title(metric)}: {summary.gap_title} in percentage points. "
            shown = [(line.name, line.rows.get(metric.key)) for line in lines]
            gaps = [
                f"{name} {narrative.gap_points(row)} {row.verdict}" for name, row in shown if row
            ]
            label = f"{about}{'; '.join(gaps)}."
            margin, strong = summary.settings["margin"], summary.key_rows
            picture = svg_charts.draw_gaps([row for _, row in shown], domain, margin, label, strong)
            panels.append((metric, picture))
    return panels


def _score_tables(summary: Summary) -> Iterator[ScoreTable]:
    """A table of groups and metrics or, along axes, one of groups and some places per metric."""
    metrics, title, lines = summary.metrics, summary.words.title, summary.lines
    if not summary.has_places:
        overall = {row.metric: row for row in summary.audit.overall}
        rows = [
            (line.name, line.first.n, [line.rows.get(metric.key) for metric in metrics])
            for line in lines[:MOST_MAPPED]
        ]
        yield ScoreTable("", metrics, [overall.get(metric.key) for metric in metrics], rows)
        return
    axes = {axis: list(values) for axis, values in summary.audit.axes.items()}
    at = {place_text(row.at): row.at for row in summary.audit.rows}
    order = sorted(
        at,
        key=lambda place: [
            axes[axis].index(at[place][axis]) if axis in at[place] else -1 for axis in axes
        ],
    )
    cells = {(row.metric, place_text(row.at), row.by, row.group): row for row in summary.audit.rows}
    sizes: dict[tuple[str, str], int] = {}
    for line in lines:
        group = line.first.by, line.first.group
        sizes[group] = max(line.first.n, sizes.get(group, 0))
    for metric in metrics:
        places = [
            place for place in order if any((metric.key, place, *group) in cells for group in sizes)
        ]
        for some in (places[i : i + _MOST_PLACES] for i in range(0, len(places), _MOST_PLACES)):
            found = {
                group: [cells.get((metric.key, place, *group)) for place in some]
                for group in list(sizes)[:MOST_MAPPED]
            }
            rows = [
                (summary.names[group], sizes[group], row)
                for group, row in found.items()
                if any(row)
            ]
            yield ScoreTable(title(metric), [place or "all places" for place in some], [], rows)


def _sort_inconclusive(summary: Summary) -> list[tuple[Line, list[Row]]]:
    """The groups that are inconclusive, those that lack fewest cases first."""
    lines = [(line, line.with_verdict(Verdict.INCONCLUSIVE)) for line in summary.lines]
    some = [(line, rows) for line, rows in lines if rows]
    some.sort(key=lambda one: min(narrative.lacking(row) or inf for row in one[1]))
    return some[:MOST_INCONCLUSIVE]


# Templates


def _render(template: str, **values: object) -> str:
    """A page from a template, with its policy."""
    style, script = _read_shipped("style.css"), _read_shipped("report.js")
    allowed = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    page = _environment().get_template(template)
    return page.render(style=style, script=script, policy=policy, **values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtra.named("report", "writing an HTML report") from None

    def show(value: object) -> object:
        """Text from data, before it is escaped, without characters that nobody could see."""
        is_text = isinstance(value, str) and not hasattr(value, "__html__")
        return printable(value) if is_text else value

    environment = Environment(
        loader=PackageLoader("evenhand.reports"),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=show,
    )
    environment.globals |= {
        "Verdict": Verdict,
        "isnan": isnan,
        "lookup_metric": lookup_metric,
        "narrative": narrative,
        "number": lambda value: "–" if isnan(value) else number(value),
        "several": several,
        "svg": svg_charts,
    }
    return environment


@lru_cache
def _read_shipped(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("evenhand.reports") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
