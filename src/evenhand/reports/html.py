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
from typing import TYPE_CHECKING, Any, NamedTuple

from ..auditing import Audit, Monitor, Row, Verdict, lookup_metric, place_text
from ..errors import MissingExtra, printable
from ..wording import number, several
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
    """Scores by group: of all metrics or, along axes, of one metric at some places."""

    title: str
    columns: list[tuple[Any, str]]
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
        goals=summary.goals[:_MOST_LINES],
        panels=_draw_panels(summary),
        tables=list(_score_tables(summary)),
        inconclusive=_sort_inconclusive(summary),
        overall={row.metric: row for row in audit.overall},
        impacts=summary.impacts[:_MOST_LINES],
        facts=[*((word, text) for word, text in about if text), *summary.facts],
        has_details=len(summary.lines) <= _MOST_DETAILS,
        most_mapped=MOST_MAPPED,
    )


def monitor_page(monitor: Monitor) -> str:
    """The report of a monitor."""
    summary = MonitorSummary(monitor)
    return _render("monitor.html", title=summary.title, summary=summary)


def _draw_panels(summary: Summary) -> list[tuple[object, str]]:
    """Metrics with pictures of their gaps, first those of the key sentences, on one scale; none with many lines."""
    rows, lines = summary.rows, summary.lines
    if len(lines) > MOST_LINES_WITH_PANELS:
        return []
    drawn = {row.metric for row in rows if not (row.is_ratio or isnan(row.gap))}
    keys = [row.metric for row in summary.key_rows] + [metric.key for metric in summary.metrics]
    chosen = [key for key in dict.fromkeys(keys) if key in drawn][:MOST_PANELS]
    shown = [row for row in rows if row.metric in chosen]
    domain = svg_charts.choose_domain(shown, summary.key_rows)

    def draw(metric: Any) -> str:
        found = {line.name: line.rows.get(metric.key) for line in lines}
        gaps = [
            f"{name} {narrative.gap_points(row)} {row.verdict}"
            for name, row in found.items()
            if row
        ]
        about = f"{summary.words.title(metric)}: {summary.gap_title} in percentage points"
        label, margin = f"{about}. {'; '.join(gaps)}.", summary.planned_gap
        return svg_charts.draw_gaps(list(found.values()), domain, margin, label, summary.key_rows)

    return [(metric, draw(metric)) for metric in summary.metrics if metric.key in chosen]


def _score_tables(summary: Summary) -> Iterator[ScoreTable]:
    """Tables of groups, and of metrics or places."""
    groups: dict[str, dict[str, Line]] = {}
    for line in (line for line in summary.lines if not line.first.is_gap_change):
        name = summary.names[line.first.by, line.first.group]
        groups.setdefault(name, {})[place_text(line.first.at)] = line
    for title, columns in _choose_columns(summary):
        rows = []
        for name, lines in list(groups.items())[:MOST_MAPPED]:
            keys = [(lines.get(place), metric.key) for metric, place in columns]
            found = [line.rows.get(key) if line else None for line, key in keys]
            if any(found):
                rows.append((name, max(line.first.n for line in lines.values()), found))
        yield ScoreTable(title, columns, rows)


def _choose_columns(summary: Summary) -> Iterator[tuple[str, list[tuple[Any, str]]]]:
    """The metrics and places of each table: all metrics or, along axes, some places of a metric, with its title."""
    audit = summary.audit
    if not summary.has_places:
        yield "", [(metric, place_text(summary.rows[0].at)) for metric in summary.metrics]
        return
    rank = {value: i for values in audit.axes.values() for i, value in enumerate(values)}
    for metric in summary.metrics:
        at = {place_text(row.at): row.at for row in summary.rows if row.metric == metric.key}
        order = sorted(at.items(), key=lambda place: [rank.get(v, -1) for v in place[1].values()])
        columns = [(metric, place) for place, _ in order]
        for start in range(0, len(columns), _MOST_PLACES):
            yield summary.words.title(metric), columns[start : start + _MOST_PLACES]


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
        if isinstance(value, str) and not hasattr(value, "__html__"):
            return printable(value)
        return value

    environment = Environment(
        loader=PackageLoader("evenhand.reports"),
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
