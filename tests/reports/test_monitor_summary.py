"""Monitors as text, pages and notebook cells: what they say is what the monitor has, and names are only text."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.reports.svg_charts import draw_evidence, draw_scores
from evenhand.text_layout import columns

HOSTILE = "</style><img src=x onerror=alert(1)> {{7*7}} $x^2$ \u202e & 'q'"


def monitored(weeks: int = 12, groups: int = 4) -> eh.Monitor:
    """One group with fewer true positives, and one that comes late and has no score."""
    monitor, rng = eh.Monitor(metrics=["tpr", "fpr"]), np.random.default_rng(5)
    for week in range(weeks):
        sizes = rng.integers(10, 30, groups)
        shares = [[0.1, 0.3, 0.1, 0.5], *[[0.3, 0.1, 0.1, 0.5]] * (groups - 1)]
        draws = [rng.multinomial(n, p).tolist() for n, p in zip(sizes, shares, strict=True)]
        cells: dict[str, Any] = {f"g{i}": tuple(draw) for i, draw in enumerate(draws)}
        cells[HOSTILE] = cells.pop("g0")
        cells |= {"late": (0, 0, 3, 4)} if week > 5 else {}
        monitor = monitor.add_counts(cells, at=f"week {week} <i>", by=HOSTILE)
    return monitor


@pytest.fixture(scope="module")
def monitor() -> eh.Monitor:
    return monitored()


def test_every_output_says_what_the_monitor_says(monitor: eh.Monitor) -> None:
    title = f"Monitor of 12 batches: {len(monitor.alarms)} alarm"
    assert monitor.alarms
    for text in (monitor.to_text(), html.unescape(monitor.to_html()), html.unescape(monitor._repr_html_())):
        assert title in text and "assumes that each case is new and independent of others." in " ".join(text.split())
        for row in monitor.alarms:
            assert f"{row.alarm}: " in text and f"evidence since {row.since}, now " in " ".join(text.split())
            assert f"{row.score:.3f} against {row.versus:.3f}" in " ".join(text.split())
    page = html.unescape(monitor.to_html())
    assert "at most 5% of monitors ever raise one, however often one looks" in page
    assert "Batches without a score: late tpr (6)" in page
    assert all(name in page for name in monitor.batches)
    assert page.count('class="evidence"') == len(monitor.rows) and page.count('class="scores"') == 2
    for text in (monitor.to_html(), monitor._repr_html_()):
        assert not any(part in text for part in ("<img", "<i>", "\u202e")) and "{{7*7}}" in text
    assert eh.Monitor.from_json(monitor.to_json()).to_html() == monitor.to_html()


def test_text_fits_and_counts_what_it_leaves_out(monitor: eh.Monitor) -> None:
    many = monitored(weeks=3, groups=40)
    text = many.to_text(5)
    assert max(map(columns, text.splitlines())) <= 80
    assert f"and {len(many.rows) - 5} more rows without more evidence" in text
    assert many.to_html().count('class="evidence"') == 24
    assert many.to_html().count('<th scope="row">') >= len(many.rows)
    assert all(c.isprintable() or c == "\n" for c in monitor.to_text())


def test_an_empty_monitor_has_a_page(tmp_path: Path) -> None:
    page = eh.Monitor().to_html(tmp_path / "monitor.html")
    assert (tmp_path / "monitor.html").read_text("utf-8") == page
    assert "Monitor of 0 batches: no alarm" in page and "No alarm was raised." in page
    assert "Monitor of 0 batches: no alarm" in eh.Monitor().to_text()
    one = monitored(weeks=1)
    assert "Monitor of 1 batch: no alarm" in one.to_text() and "over 1 batch" not in one.to_text()


def test_evidence_is_on_a_logarithmic_scale_from_the_first_batch_of_its_group() -> None:
    """Eight decades from 0.01 to a million take the whole height; what lies beyond is at the end."""
    late, far = draw_evidence([None, 1.0, 100.0], 20, 2, "x"), draw_evidence([1e-9, 10.0, 1e9], 20, None, "y")
    point = r'class="curve" x1="([\d.]+)%" x2="([\d.]+)%" y1="([\d.]+)" y2="([\d.]+)"'
    dot, (x1, x2, y1, y2) = re.findall(point, late)
    assert (
        dot[0] == dot[1] == x1
        and (float(x1), float(x2)) == pytest.approx((50, 83.3))
        and float(y1) - float(y2) == pytest.approx(80 * 2 / 8)
    )
    assert 'class="pt hi" cx="83.3%"' in late and "circle" not in far
    _, first, second = re.findall(point, far)
    assert [float(first[2]), float(first[3]), float(second[3])] == pytest.approx([80, 80 * 5 / 8, 0])


def test_scores_are_lines_from_0_to_1_of_the_reference_and_a_few_groups(monitor: eh.Monitor) -> None:
    """A batch without a score is passed over; one batch alone is a dot."""
    picture = draw_scores([[0.5, None, 1.0], [0.0, 0.25, None], [None, None, None], [None, None, 0.1]], "x")
    lines = re.findall(r'class="curve (line-\d)" x1="([\d.]+)%" x2="([\d.]+)%" y1="([\d.]+)" y2="([\d.]+)"', picture)
    reference, first, dot = (("16.7", "83.3", "50", "0"), ("16.7", "50.0", "100", "75"), ("83.3", "83.3", "90", "90"))
    assert {line[1:] for line in lines} >= {reference, first, dot}
    assert [line[0] for line in lines] == ["line-0"] * 2 + ["line-1"] * 2 + ["line-3"]
    page = html.unescape(monitor.to_html())
    assert page.count("Scores over batches") == 1 and f"rest of {monitor.rows[0].group[:8]}" in page
    assert page.count('class="swatch"') == 2 * (3 + 1)
