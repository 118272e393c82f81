"""Monitors as pages, notebook cells and plots: self-contained, legible without scripts, and names shown as text."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import InvalidInput, UnknownName
from evenhand.views.charts import traces_of
from evenhand.views.document import Curve, Curves

HOSTILE = "</style><img src=x onerror=alert(1)> {{7*7}} $x^2$ \u202e & 'q'"


def monitored(weeks: int = 12, groups: int = 4, **more: Any) -> eh.Monitor:
    monitor = eh.Monitor(metrics=["tpr", "fpr"], **more)
    rng = np.random.default_rng(5)
    for week in range(weeks):
        shares = [[0.1, 0.3, 0.1, 0.5], *[[0.3, 0.1, 0.1, 0.5]] * (groups - 1)]
        sizes = rng.integers(10, 30, groups)
        cells = {
            f"g{i}": tuple(rng.multinomial(n, p).tolist()) for i, (n, p) in enumerate(zip(sizes, shares, strict=True))
        }
        cells[HOSTILE] = cells.pop("g0")
        cells |= {"late": (0, 0, 3, 4)} if week > 5 else {}
        monitor = monitor.add_counts(cells, at=f"week {week} <i>", by=HOSTILE)
    return monitor


def test_the_page_says_what_the_monitor_says() -> None:
    monitor = monitored()
    said = html.unescape(monitor.to_html())
    assert monitor.alarms and f"<h1>Monitor of 12 batches: {len(monitor.alarms)} alarm" in said
    for row in monitor.alarms:
        assert f"{row.alarm}: " in said and f"alarm at {row.alarm}" in said
    for words in (
        "Each case is taken as new and independent.",
        "at most 5% of monitors ever raise one, however often one looks",
        "late tpr in 6 of 6",
        *monitor.batches,
    ):
        assert words in said
    assert said.count('<figure class="curve">') == len(monitor.rows)
    assert eh.Monitor.from_json(monitor.to_json()).to_html() == monitor.to_html()


def test_text_from_data_is_text_and_nothing_is_fetched_or_run() -> None:
    text = monitored().to_html()
    assert "<img" not in text and "<i>" not in text and "<script" not in text and "\u202e" not in text
    assert "{{7*7}}" in text
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    allowed = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert html.unescape(policy) == allowed
    assert not re.findall(r'(?:src|href)="(?!#)', text) and "://" not in text


def test_an_empty_monitor_has_a_page_and_nothing_to_plot(tmp_path: Path) -> None:
    page = eh.Monitor().to_html(tmp_path / "monitor.html")
    assert (tmp_path / "monitor.html").read_text("utf-8") == page
    assert "Monitor of 0 batches: no alarm" in page and "No alarm was raised." in page
    with pytest.raises(InvalidInput, match=r"^there is nothing to plot; add a batch$"):
        eh.Monitor().plot()


def test_many_rows_are_in_the_table_and_the_most_evident_are_drawn() -> None:
    monitor = monitored(weeks=3, groups=40)
    said = monitor.to_html()
    assert said.count('<figure class="curve">') == 24
    assert f"are drawn; the table has all {len(monitor.rows)}." in said
    assert monitor.to_text(5).count(
        "\n"
    ) < 20 and "and 75 more rows without more evidence than these" in monitor.to_text(5)


def test_a_trace_is_on_a_logarithmic_scale_and_begins_with_the_first_batch_of_its_group() -> None:
    curves = Curves(("a", "b", "c"), (Curve("x", (None, 1.0, 100.0), 2), Curve("y", (1e-9, 10.0, 1e9), None)), 20.0)
    late, far = traces_of(curves)
    (x, one, _), (end, top, alarm) = late.marks[0], late.marks[-1]
    assert late.path == f"M{x},{one}L{end},{top}" and alarm == "alarm at c" and late.said.endswith(", alarm at c")
    low, middle, high = (mark[1] for mark in far.marks)
    # From 0.01 to 1,000,000 there are eight decades, two of them between 1 and 100.
    assert (one - top) == pytest.approx((low - high) / 4, abs=0.2)
    assert (low - middle) == pytest.approx((low - high) * 3 / 8, abs=0.2)
    assert (late.geometry.bottom, late.geometry.top) == (low, high)
    # The tick of 100 would be too close to that of 20, at which an alarm is raised.
    assert [text for _, text in far.ticks] == ["0.01", "1", "10000", "1e+06", "20"]


def test_a_plot_has_a_line_per_group_and_a_mark_where_an_alarm_was_raised() -> None:
    monitor = monitored()
    ax = monitor.plot("tpr")
    lines = {line.get_label(): line for line in ax.get_lines()}
    rows = [row for row in monitor.rows if row.metric == "tpr"]
    assert ax.get_yscale() == "log" and "alarm, at 20" in lines
    drawn = lines["g1"].get_ydata()
    assert list(drawn) == pytest.approx(monitor.path(next(row for row in rows if row.group == "g1")))
    marks = [line for line in ax.get_lines() if len(line.get_xdata()) == 1]
    assert len(marks) == sum(row.alarm is not None for row in rows)
    assert not any("$x" in str(text).replace(r"\$", "") for text in lines)
    with pytest.raises(UnknownName, match="metric of this monitor"):
        monitor.plot("ppv")
    with pytest.raises(UnknownName, match="group column of this monitor"):
        monitor.plot("tpr", by="race")


def test_a_notebook_shows_the_monitor() -> None:
    shown = monitored()._repr_html_()
    assert "Monitor of 12 batches" in shown and "<table" in shown and "<img" not in shown


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 375)])
def test_the_page_in_a_browser(browser: Any, violations: Any, tmp_path: Path, scheme: str, width: int) -> None:
    path = tmp_path / "monitor.html"
    monitored().to_html(path)
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    requests: list[str] = []
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(path.as_uri())
    assert requests == [path.as_uri()]
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.locator("img").count() == 0 and opened.locator("figure.curve svg").first.is_visible()
    assert violations(opened) == []
    context.close()
