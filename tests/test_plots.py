"""Plots: axes in, axes out, drawn from the numbers, with nothing opened or saved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import evenhand as eh

mpl.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

AUDIT = eh.audit_counts(eh.examples.compas(), by="race", metrics=["tpr", "fpr"])
SMOOTHERS = [eh.Raw(), eh.CrossPrior(eh.ConfusionMatrix(2029, 1213, 1280, 2660), 5)]
GROUP, REST = eh.ConfusionMatrix(6, 3, 2, 21), eh.ConfusionMatrix(2029, 1213, 1280, 2660)


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


PLOTS = {
    "audit": lambda ax: AUDIT.plot("tpr", ax=ax),
    "match": lambda ax: eh.match_test(GROUP, REST, "fpr").plot(ax=ax),
    "distribution": lambda ax: eh.distribution("mcc", 20, REST).plot(ax=ax),
    "many scores": lambda ax: eh.distribution("mcc", 60, REST).plot(ax=ax),
    "power": lambda ax: eh.power("tpr", 60, REST, difference=-0.2).plot(ax=ax),
    "detectable difference": lambda ax: eh.detectable_difference("tpr", 60, REST).plot(ax=ax),
    "sample size": lambda ax: eh.sample_size("ppr", REST, 0.2).plot(ax=ax),
    "jaggedness record": lambda ax: eh.jaggedness("ppr", GROUP, range(5, 12)).plot(ax=ax),
    "all configurations": lambda ax: eh.jaggedness("ppr", None, range(5, 12)).plot(ax=ax),
    "exploitable sizes": lambda ax: eh.exploitable_sizes("acc", REST, 0.8, range(5, 20)).plot(ax=ax),
    "jaggedness": lambda ax: eh.plot_jaggedness("ppr", GROUP, range(5, 12), ax=ax),
    "risk": lambda ax: eh.plot_risk(
        eh.risk_curve("tpr", GROUP, range(5, 12), [eh.Raw(), eh.CrossPrior(REST, 5)]), ax=ax
    ),
}


@pytest.mark.parametrize("plot", PLOTS)
def test_axes_in_axes_out(plot: str) -> None:
    _, given = pyplot.subplots()
    assert drawn(PLOTS[plot](given)) is given
    new = drawn(PLOTS[plot](None))
    assert new is not given
    assert new.get_title(loc="left")
    assert new.get_xlabel()


def test_the_forest_shows_every_group_with_its_score_and_verdicts_by_shape() -> None:
    ax = drawn(AUDIT.plot("fpr"))
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    rows = [r for r in AUDIT.rows if r.metric == "fpr"]
    assert labels == [f"{r.group} ({r.denominator:,})" for r in rows]
    places = [np.atleast_1d(np.asarray(line.get_xdata())) for line in ax.get_lines()]
    scores = {float(x[0]) for x in places if len(x) == 1}
    assert {r.score for r in rows} <= scores
    assert {r.smoothed for r in rows} <= scores
    shapes = {line.get_marker(): line.get_label() for line in ax.get_lines() if line.get_marker() != "None"}
    assert {"^", "v", "s"} <= set(shapes)
    legend = ax.get_legend()
    assert legend is not None
    assert {"higher", "lower", "too few to tell", "smoothed score"} <= {text.get_text() for text in legend.get_texts()}


def test_the_worst_metric_is_the_default_and_others_are_refused() -> None:
    assert drawn(AUDIT.plot()).get_xlabel() == eh.metric(AUDIT.rows[0].metric).name
    with pytest.raises(
        eh.UnknownName, match=r"^no metric of this audit is called 'mcc'; known: tpr, fpr$|known: fpr, tpr$"
    ):
        AUDIT.plot("mcc")


def test_undefined_scores_are_said_not_drawn() -> None:
    a = eh.audit_counts({"none $x$ <b>": (0, 0, 2, 6), "some": (30, 10, 12, 48)}, metrics=["tpr"])
    ax = drawn(a.plot())
    assert "undefined: no actual positives (TP + FN = 0)" in {text.get_text() for text in ax.texts}
    assert r"none \$x\$ <b> (0)" in {tick.get_text() for tick in ax.get_yticklabels()}


def test_the_shaded_tail_is_the_p_value() -> None:
    """Two-sided is twice the tail that is shaded."""
    r = eh.match_test(GROUP, REST, "fpr")
    ax = drawn(r.plot())
    shaded = sum(bar.get_height() for bar in ax.patches if bar.get_hatch())  # type: ignore[attr-defined]
    assert 2 * shaded == pytest.approx(r.pvalue)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)  # type: ignore[attr-defined]
    undefined = eh.match_test(eh.ConfusionMatrix(0, 0, 2, 6), REST, "tpr")
    with pytest.raises(eh.InvalidInput, match=r"^there is no score to plot: tpr is undefined, no actual positives"):
        undefined.plot()


def test_many_scores_are_put_into_bins_that_sum_to_one() -> None:
    ax = drawn(eh.distribution("mcc", 60, REST).plot())
    assert len(ax.patches) < 200
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.plot_jaggedness("te", GROUP),
         "te compares two groups; plot_jaggedness() takes a metric of one group"),
        (lambda: eh.plot_jaggedness("ppr", GROUP, []), "n must contain at least one sample size"),
        (lambda: eh.plot_risk([]), "risks must not be empty; pass the result of risk_curve()"),
        (lambda: eh.plot_risk(eh.risk_curve(["acc", "tpr"], GROUP, [5])),
         "risks must be of one metric; plot several metrics one at a time"),
    ],
)  # fmt: skip
def test_what_cannot_be_plotted_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as found:
        call()
    assert str(found.value) == sentence


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(eh.MissingExtra, match=r"^plotting needs the extra 'plots': pip install 'evenhand\[plots\]'$"):
        AUDIT.plot()


def many_groups(metrics: list[str]) -> eh.Audit:
    """60 groups with long names, some without actual positives or without false positives."""
    islander = "Native Hawaiian and other Pacific Islander, among them Samoan, Chamorro, Tongan and Fijian people"
    races = ("White", "Black or African American alone", islander, "Asian", "Other")
    rng = np.random.default_rng(2)
    counts = {
        (race, sex, schooling): tuple(int(x) for x in rng.integers(0, [6, 9, 20, 60]))
        for race in races
        for sex in ("male", "female", "no answer")
        for schooling in ("no diploma", "bachelor", "doctorate")
    }
    counts["Asian", "male", "doctorate"] = (0, 0, 2, 6)
    counts["White", "male", "bachelor"] = (0, 0, 0, 60)
    return eh.audit_counts(counts, by=["race", "sex", "schooling"], metrics=metrics, crossings=3)


@pytest.mark.parametrize("metric", ["tpr", "lr_plus"])
def test_many_groups_leave_the_axes_readable(metric: str) -> None:
    """Names stand beside the axes, do not touch and are whole; notes stand inside; the axes keep their width."""
    a = many_groups([metric])
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
    assert names == {f"{r.group} ({r.basis:,})" for r in a.rows}
    notes = [text for text in ax.texts if text.get_text().startswith("undefined")]
    assert len(notes) == sum(r.reason is not None for r in a.rows) > 1
    for note in notes:
        box = note.get_window_extent(renderer)
        assert inside.x0 <= box.x0 and box.x1 <= inside.x1
        assert inside.y0 <= box.y0 and box.y1 <= inside.y1 + 1


def test_intervals_without_end_do_not_decide_the_scale() -> None:
    """A few likelihood ratios with intervals up to thousands leave the others visible, and say that they go on."""
    a = many_groups(["lr_plus"])
    ax = drawn(a.plot())
    scores = [s for r in a.rows for s in (r.score, r.smoothed, r.reference_score) if s is not None]
    assert max(r.high or 0 for r in a.rows) > 1000
    assert max(scores) < ax.get_xlim()[1] < 2 * max(scores)
    legend = ax.get_legend()
    assert legend is not None
    assert "interval goes on" in {text.get_text() for text in legend.get_texts()}
    arrows = [line for line in ax.get_lines() if line.get_marker() == ">"]
    assert len(arrows) == sum((r.high or 0) > ax.get_xlim()[1] for r in a.rows)
