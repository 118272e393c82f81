"""Reports as one HTML file that opens offline.

Everything is inline and nothing is fetched: the content security policy allows the style and the script
that are shipped, by their hashes. The template engine escapes all text from data. Without JavaScript
only the filter of the map is missing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from math import isnan
from typing import Any

from ..auditing import Audit, Monitor, Row, Verdict, lookup_metric, place_text
from ..errors import MissingExtra, printable
from ..wording import number, percent, pvalue, several
from . import narrative, svg_charts
from .monitor_summary import MonitorSummary
from .summary import Line, Summary

MOST_LINES_WITH_PANELS, MOST_PANELS, MOST_MAPPED, MOST_INCONCLUSIVE = 12, 3, 60, 12
_MOST_DETAILS = 20
# Lines in tables of a report; files, frames and JSON have all rows.
_MOST_LINES = 2_000
_PICTURES = ("draw_gaps", "draw_score", "draw_impact", "draw_share", "draw_evidence", "mark")


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
        panels=_choose_panels(summary),
        tables=_score_tables(summary),
        inconclusive=_sort_inconclusive(summary),
        impacts=_sort_impacts(summary),
        facts=[*((word, text) for word, text in about if text), *summary.facts],
        level=percent(audit.settings["confidence_level"]),
        has_details=len(summary.lines) <= _MOST_DETAILS,
        most_mapped=MOST_MAPPED,
        Verdict=Verdict,
    )


def monitor_page(monitor: Monitor) -> str:
    """The report of a monitor."""
    summary = MonitorSummary(monitor)
    return _render("monitor.html", title=summary.title, summary=summary)


def _choose_panels(summary: Summary) -> list[dict[str, Any]]:
    """The panels of the picture: gaps of the metrics in the key sentences, on one scale; none with many lines."""
    lines = summary.lines
    if len(lines) > MOST_LINES_WITH_PANELS:
        return []
    keys = dict.fromkeys(
        [row.metric for row in summary.key_rows] + [metric.key for metric in summary.metrics]
    )
    metrics = {metric.key: metric for metric in summary.metrics}
    differences = {
        row.metric
        for row in summary.audit.rows
        if row.gap_kind == "difference" and not isnan(row.gap)
    }
    chosen = [metrics[key] for key in keys if key in differences][:MOST_PANELS]
    chosen.sort(key=summary.metrics.index)
    rows = [
        row
        for line in lines
        for row in line.rows.values()
        if row.metric in {metric.key for metric in chosen}
    ]
    domain = svg_charts.choose_domain(rows, summary.key_rows)
    panels = []
    for metric in chosen:
        some = [line.rows.get(metric.key) for line in lines]
        gaps = [
            f"{line.name} {'' if isnan(row.gap) else narrative.gap_text(row)} {row.verdict}"
            for line, row in zip(lines, some, strict=True)
            if row
        ]
        title = summary.words.title(metric)
        label = f"{title}: {summary.gap_title} in percentage points. {'; '.join(gaps)}."
        picture = svg_charts.draw_gaps(
            some, domain, summary.settings["margin"], label, summary.key_rows
        )
        panels.append({"metric": metric, "title": title, "picture": picture})
    return panels


def _score_tables(summary: Summary) -> list[dict[str, Any]]:
    """Scores by group: a table of groups and metrics or, along an axis, one of groups and its values per metric."""
    axes = [axis for axis in summary.audit.axes if axis != "against"]
    if len({str(row.at) for row in summary.audit.rows}) == 1:
        overall = {row.metric: row for row in summary.audit.overall}
        heads = [
            {"metric": metric, "title": summary.words.title(metric)} for metric in summary.metrics
        ]
        return [
            {
                "title": "",
                "heads": heads,
                "overall": [overall.get(m.key) for m in summary.metrics],
                "rows": [
                    (
                        line.name,
                        line.first.n,
                        [line.rows.get(metric.key) for metric in summary.metrics],
                    )
                    for line in summary.lines[:MOST_MAPPED]
                ],
            }
        ]
    tables = []
    sizes: dict[Any, int] = {}
    for row in summary.audit.rows:
        sizes[row.by, row.group] = max(row.n, sizes.get((row.by, row.group), 0))
    for metric in summary.metrics:
        rows = [row for row in summary.audit.rows if row.metric == metric.key]
        order = {value: i for i, value in enumerate(summary.audit.axes[axes[0]])}
        places = sorted(
            {place_text(row.at): row.at for row in rows}.items(),
            key=lambda p: order.get(p[1].get(axes[0]), -1),
        )
        cells = {(row.by, row.group, place_text(row.at)): row for row in rows}
        groups = list(dict.fromkeys((line.first.by, line.first.group) for line in summary.lines))[
            :MOST_MAPPED
        ]
        for some in (places[i : i + 8] for i in range(0, len(places), 8)):
            lines = {group: [cells.get((*group, place)) for place, _ in some] for group in groups}
            table = [
                (summary.names[group], sizes[group], line)
                for group, line in lines.items()
                if any(line)
            ]
            heads = [{"metric": None, "title": place or "all places"} for place, _ in some]
            tables.append(
                {"title": summary.words.title(metric), "heads": heads, "overall": [], "rows": table}
            )
    return tables


def _sort_inconclusive(summary: Summary) -> list[tuple[Line, list[Row]]]:
    """The groups that are inconclusive, those that lack fewest cases first."""
    lines = [
        (line, [row for row in line.rows.values() if row.verdict is Verdict.INCONCLUSIVE])
        for line in summary.lines
    ]
    some = [(line, rows) for line, rows in lines if rows]
    return sorted(some, key=lambda one: min(narrative.lacking(row) or 10**15 for row in one[1]))[
        :MOST_INCONCLUSIVE
    ]


def _sort_impacts(summary: Summary) -> list[Row]:
    """The impact ratios, those that are certainly below four fifths first."""
    rows = [row for row in summary.audit.rows if not isnan(row.impact_ratio)]
    return sorted(rows, key=lambda row: (not row.is_below_four_fifths, row.impact_ratio))[
        :_MOST_LINES
    ]


# Templates


def _render(template: str, **values: Any) -> str:
    """A page from a template, with its policy."""
    style, script = _read_shipped("style.css"), _read_shipped("report.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return str(
        _environment()
        .get_template(template)
        .render(style=style, script=script, policy=policy, **values)
    )


@lru_cache(maxsize=1)
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError:
        raise MissingExtra.named("report", "writing an HTML report") from None

    def show(value: Any) -> Any:
        """Text from data, before it is escaped, without characters that nobody could see."""
        return (
            printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        )

    def as_markup(draw: Callable[..., str]) -> Callable[..., Any]:
        return lambda *given: Markup(draw(*given))

    environment = Environment(
        loader=PackageLoader("evenhand.reports"),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=show,
    )
    environment.globals |= {name: as_markup(getattr(svg_charts, name)) for name in _PICTURES}
    environment.globals |= {
        "shapes": Markup(svg_charts.SHAPES),
        "code": svg_charts.code,
        "describe": narrative.describe_row,
        "driver": narrative.driver_text,
        "harms": narrative.harms,
        "impact": narrative.impact_text,
        "gap_interval": narrative.gap_interval,
        "interval": narrative.interval_text,
        "is_nan": isnan,
        "is_rate": narrative.is_rate,
        "lacking": narrative.lacking,
        "lookup_metric": lookup_metric,
        "number": lambda value: "–" if isnan(value) else number(value),
        "points": narrative.points,
        "pvalue": lambda p, alpha: "" if isnan(p) else pvalue(p, alpha).removeprefix("= "),
        "score": narrative.score_text,
        "several": several,
        "lower_first": narrative.lower_first,
    }
    return environment


@lru_cache
def _read_shipped(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("evenhand.reports") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
