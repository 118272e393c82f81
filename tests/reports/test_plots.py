"""Plots: axes in, axes out, drawn from the numbers, with nothing opened or saved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import InvalidInput, MissingExtra, UnknownName

mpl.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from shown_audits import BOTH, CLASSES, HOLES, MANY, MODELS, OWN, RANKED, SCORED, STRANGE, STRATA, THRESHOLDS, counted

AUDIT = eh.audit_counts(eh.examples.compas(), by="race", metrics=["tpr", "fpr"])
GROUP, REST = eh.ConfusionMatrix(tp=6, fn=3, fp=2, tn=21), eh.ConfusionMatrix(tp=2029, fn=1213, fp=1280, tn=2660)


@pytest.fixture(autouse=True)
def _figures_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: pytest.fail("a window was opened"))
    yield
    pyplot.close("all")
    assert list(tmp_path.iterdir()) == [], "something was saved"


def drawn(ax: Any) -> Axes:
    assert isinstance(ax, Axes)
    ax.figure.canvas.draw()
    return ax


def legend_of(ax: Axes) -> set[str]:
    """What the legend explains, each once."""
    legend = ax.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert len(set(texts)) == len(texts)
    return set(texts)


PLOTS: dict[str, Any] = {
    "audit": AUDIT,
    "match": eh.match_test(GROUP, REST, "fpr"),
    "distribution": eh.distribution("mcc", 20, REST),
    "many scores": eh.distribution("mcc", 60, REST),
    "power": eh.power("tpr", 60, REST, difference=-0.2),
    "detectable difference": eh.detectable_difference("tpr", 60, REST),
    "sample size": eh.sample_size("ppr", REST, 0.2),
    "jaggedness": eh.jaggedness("ppr", GROUP, range(5, 12)),
    "all configurations": eh.jaggedness("ppr", None, range(5, 12)),
    "exploitable sizes": eh.exploitable_sizes("acc", REST, 0.8, range(5, 20)),
    "risks": eh.risk("tpr", GROUP, range(5, 12), [eh.Raw(), eh.CrossPrior(REST, 5)]),
    **{"thresholds": THRESHOLDS, "classes": CLASSES, "strata": STRATA, "models": MODELS, "ranked": RANKED, "own": OWN},
}


@pytest.mark.many(5)
@pytest.mark.parametrize("plot", PLOTS)
def test_axes_in_axes_out(plot: str) -> None:
    _, given = pyplot.subplots()
    assert drawn(PLOTS[plot].plot(ax=given)) is given
    new = drawn(PLOTS[plot].plot())
    assert new is not given and new.get_title(loc="left") and new.get_xlabel()


def test_the_forest_shows_every_group_with_its_score_and_verdicts_by_shape() -> None:
    ax = drawn(AUDIT.plot("fpr"))
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    rows = [r for r in AUDIT.rows if r.metric == "fpr"]
    assert labels == [f"{r.group} ({r.support:,})" for r in rows]
    places = [np.atleast_1d(np.asarray(line.get_xdata())) for line in ax.get_lines()]
    scores = {float(x[0]) for x in places if len(x) == 1}
    assert {r.score for r in rows} <= scores
    assert {r.smoothed for r in rows if r.smoothed} <= scores
    shapes = {line.get_marker(): line.get_label() for line in ax.get_lines() if line.get_marker() != "None"}
    assert {"^", "v", "s"} <= set(shapes)
    assert {"higher", "lower", "inconclusive", "smoothed score"} <= legend_of(ax)


def test_undefined_scores_are_said_not_drawn() -> None:
    a = eh.audit_counts({"none $x$ <b>": (0, 0, 2, 6), "some": (30, 10, 12, 48)}, metrics=["tpr"])
    ax = drawn(a.plot())
    (said,) = (text for text in ax.texts if text.get_text() == "undefined: no actual positives (TP + FN = 0)")
    x, inside = said.get_window_extent().x0, ax.get_window_extent()
    assert inside.x0 <= x < inside.x0 + 0.1 * inside.width, "a reason begins at the left end of its axes"
    assert r"none \$x\$ <b> (0)" in {tick.get_text() for tick in ax.get_yticklabels()}


def test_the_shaded_tail_is_the_p_value() -> None:
    """Two-sided is twice the tail that is shaded."""
    r = eh.match_test(GROUP, REST, "fpr")
    ax = drawn(r.plot())
    shaded = sum(bar.get_height() for bar in ax.patches if bar.get_hatch())  # type: ignore[attr-defined]
    assert 2 * shaded == pytest.approx(r.pvalue)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)  # type: ignore[attr-defined]
    undefined = eh.match_test(eh.ConfusionMatrix(tp=0, fn=0, fp=2, tn=6), REST, "tpr")
    with pytest.raises(InvalidInput, match=r"^tpr has no p-value to plot: no actual positives"):
        undefined.plot()


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"^plotting needs the extra 'plots': pip install 'evenhand\[plots\]'$"):
        AUDIT.plot()


def many_groups(metric: str) -> eh.Audit:
    """60 groups with long names, some without actual positives or without false positives."""
    islander = "Native Hawaiian and other Pacific Islander, among them Samoan, Chamorro, Tongan and Fijian people"
    races = ("White", "Black or African American alone", islander, "Asian", "Other")
    names = product(races, ("male", "female", "no answer"), ("no diploma", "bachelor", "doctorate"))
    rng = np.random.default_rng(2)
    counts: dict[Any, Any] = {name: rng.integers(0, [6, 9, 20, 60]).tolist() for name in names}
    counts |= {("Asian", "male", "doctorate"): (0, 0, 2, 6), ("White", "male", "bachelor"): (0, 0, 0, 60)}
    return eh.audit_counts(counts, by=["race", "sex", "schooling"], metrics=metric, intersections=3)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["tpr", "lr_plus"])
def test_many_groups_leave_the_axes_readable(metric: str) -> None:
    """Names stand beside the axes, do not touch and are whole; notes stand inside; the axes keep their width."""
    a = many_groups(metric)
    ax = drawn(a.plot())
    figure: Any = ax.figure
    renderer = figure.canvas.get_renderer()
    inside = ax.get_window_extent(renderer)
    assert inside.width > 0.35 * figure.bbox.width
    boxes = [tick.get_window_extent(renderer) for tick in ax.get_yticklabels()]
    assert len(boxes) == len(a.rows) > 45
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= inside.x0 for box in boxes)
    ordered = sorted(boxes, key=lambda box: -box.y0)
    assert all(above.y0 >= below.y1 for above, below in pairwise(ordered))
    names = {" ".join(tick.get_text().split()) for tick in ax.get_yticklabels()}
    assert names == {f"{r.group} ({r.support:,})" for r in a.rows}
    notes = [text for text in ax.texts if text.get_text().startswith("undefined")]
    assert len(notes) == sum(r.reason is not None for r in a.rows) > 1
    for note in notes:
        box = note.get_window_extent(renderer)
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1
        assert inside.y0 <= box.y0 and box.y1 <= inside.y1 + 1


def test_intervals_without_end_do_not_decide_the_scale() -> None:
    """A few likelihood ratios with intervals up to hundreds leave the others visible."""
    a = many_groups("lr_plus")
    ax = drawn(a.plot())
    scores = [s for r in a.rows for s in (r.score, r.reference_score, r.smoothed) if s == s]
    assert np.nanmax([r.high for r in a.rows]) > max(100, 10 * max(scores))
    assert max(scores) < ax.get_xlim()[1] < 2 * max(scores)


def test_along_thresholds_each_group_has_a_line_through_its_scores() -> None:
    ax = drawn(THRESHOLDS.plot("tpr"))
    found: dict[str, Any] = {str(line.get_label()): line for line in ax.get_lines()}
    ends = [(np.atleast_1d(line.get_xdata()), np.atleast_1d(line.get_ydata())) for line in ax.get_lines()]
    spans = {(float(x[0]), tuple(y)) for x, y in ends if len(y) == 2}
    for group in {name for name, _, _ in SCORED}:
        n = sum(name == group for name, _, _ in SCORED)
        line = found[f"{group} ({n})"]
        cells = [counted(SCORED, group, t) for t in (0.3, 0.5, 0.7)]
        # Groups stand beside each other, each mark on its own interval.
        places = list(map(float, line.get_xdata()))
        assert places == pytest.approx([0.3, 0.5, 0.7], abs=0.05)
        assert {round(place, 9) for place in places} <= {round(x, 9) for x, _ in spans}
        assert list(line.get_ydata()) == pytest.approx([tp / (tp + fn) for tp, fn, _, _ in cells])
    rows = [row for row in THRESHOLDS.rows if row.metric == "tpr"]
    assert {(r.low, r.high) for r in rows} <= {ends for _, ends in spans}
    assert {r.verdict.value for r in rows} <= legend_of(ax)


@pytest.mark.slow
def test_every_metric_of_every_audit_can_be_plotted() -> None:
    for audit in (STRANGE, MANY, RANKED, CLASSES, STRATA, MODELS, OWN, HOLES):
        for key in dict.fromkeys(row.metric for row in audit.rows):
            drawn(audit.plot(key))
            pyplot.close("all")


def test_what_cannot_be_plotted_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"^no group column of this audit is called 'sex'; known: race$"):
        THRESHOLDS.plot(by="sex")
    with pytest.raises(InvalidInput, match=r"^the audit has several places \(stratum\); choose one with at\(\)$"):
        BOTH.plot("tpr")
    drawn(BOTH.at(stratum="x").plot("tpr"))


def test_a_monitor_has_a_line_per_group_and_a_mark_where_an_alarm_was_raised() -> None:
    monitor = eh.Monitor(metrics="tpr")
    for week in range(6):
        monitor = monitor.add_counts(
            {"A $x$": (2, 18, 3, 4), "B": (18, 2, 3, 4), "C": (17, 3, 3, 4)}, at=f"week {week}"
        )
    ax = drawn(monitor.plot("tpr"))
    lines: dict[str, Any] = {str(line.get_label()): line for line in ax.get_lines()}
    assert ax.get_yscale() == "log" and "alarm, at 20" in lines
    row = next(row for row in monitor.rows if row.group == "B")
    assert list(lines["B"].get_ydata()) == pytest.approx(monitor.path(row))
    marks = [line for line in ax.get_lines() if len(np.atleast_1d(line.get_xdata())) == 1]
    assert len(marks) == sum(row.alarm is not None for row in monitor.rows) > 0
    assert r"A \$x\$" in lines
    with pytest.raises(UnknownName, match="metric of this monitor"):
        monitor.plot("ppv")
    with pytest.raises(InvalidInput, match=r"^there is nothing to plot; add a batch$"):
        eh.Monitor().plot()
