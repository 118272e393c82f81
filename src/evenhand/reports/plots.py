"""Plots of audits, tests, distributions and errors on Matplotlib axes; nothing is shown or saved.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish, and no meaning is
carried by colour alone. All plots need the extra ``plots``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..auditing import Audit, Monitor, Row, Verdict, lookup_metric, place_text, told_apart
from ..distributions import Distribution
from ..errors import InvalidInput, MissingExtra, printable
from ..inference import MatchResult, Risks
from ..planning import ExploitableSizes, Jaggedness, Plan
from ..text_layout import columns, folded_text
from ..wording import percent, pvalue, several
from .narrative import lower_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_BLUE, _RED, _PINK, _GREY = "#0072B2", "#D55E00", "#CC79A7", "#666666"
_COLOURS = (_BLACK, _SKY, _GREEN, _BLUE, _RED, _ORANGE, _PINK)
_DASHES = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)))
_MOST_BARS = 150
# Characters on a line of a name and of a tick.
_NAME, _TICK = 34, 14


def _new_axes(ax: Axes | None, height: float = 3.6, width: float = 7.2) -> Axes:
    """The axes to draw on, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingExtra.named("plots", "plotting") from None
    axes: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return axes


def _plain(text: str) -> str:
    """Text from data, escaped so that nothing in it is rendered as a formula."""
    return printable(text).replace("$", r"\$")


def _fold(text: str, width: int = _NAME) -> str:
    """The same on lines of some width."""
    return "\n".join(map(_plain, folded_text(text, width)))


def _line_style(i: int) -> dict[str, Any]:
    """The colour and the dashes of the i-th of several lines."""
    return {"color": _COLOURS[i % len(_COLOURS)], "ls": _DASHES[i % len(_DASHES)]}


def _finish(
    ax: Axes, title: str, x: str, y: str = "", grid: Literal["both", "x", "y"] = "both"
) -> Axes:
    """Axes with a title, labels, a grid and a legend that has every label once; beside axes of many names."""
    ax.set_title(_plain(title), fontsize=10, loc="left")
    ax.set(xlabel=x, ylabel=y)
    ax.grid(axis=grid, color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    handles, names = ax.get_legend_handles_labels()
    if unique := dict(zip(names, handles, strict=True)):
        legend = ax.legend(list(unique.values()), list(unique), frameon=False, fontsize=8)
        if grid != "both":
            legend.set_loc("upper left")
            legend.set_bbox_to_anchor((1.01, 1.0))
    return ax


def draw_audit(audit: Audit, key: str, by: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the scores of a metric with their intervals: along the thresholds if there are several, else by group."""
    compared = (row for row in audit.rows if not row.is_goal)
    rows = [row for row in compared if row.metric == key and by in (None, row.by)]
    rows = [row for row in rows if not row.is_gap_change] or rows
    name = lookup_metric(key).name
    level = f"{percent(audit.settings['confidence_level'])} intervals"
    axes = {axis for row in rows for axis in row.at}
    if "threshold" not in axes:
        is_change = any(row.is_gap_change for row in rows)
        label = f"change of the {lower_first(name)}" if is_change else name
        return _finish(_draw_forest(audit, rows, ax), f"{name}, {level}", label, grid="x")
    if others := axes - {"threshold"}:
        places = ", ".join(sorted(others))
        raise InvalidInput(f"the audit has several places ({places}); choose one with at()")
    rows = [row for row in rows if row.by == rows[0].by]
    ax = _draw_thresholds(audit, rows, ax)
    return _finish(ax, f"{name} by {rows[0].by}, {level}", "threshold", name, grid="y")


def _draw_forest(audit: Audit, rows: Sequence[Row], ax: Axes | None) -> Axes:
    """The scores of a metric with their intervals and references, one group and place per line.

    Rows of models are changes; undefined rows say why.
    """
    metric, names = lookup_metric(rows[0].metric), told_apart(audit.rows)
    is_change = any(row.is_gap_change for row in rows)
    rows = [row for row in rows if not (is_change and isnan(row.score))]
    places = [f", {place_text(row.at)}" if row.at else "" for row in rows]
    labels = [
        _fold(f"{names[row.by, row.group]}{place} ({row.support:,})")
        for row, place in zip(rows, places, strict=True)
    ]
    longest = max((columns(line) for label in labels for line in label.split("\n")), default=0)
    most_lines = max((1 + label.count("\n") for label in labels), default=1)
    height = 1.4 + len(labels) * (0.15 + 0.19 * most_lines)
    ax = _new_axes(ax, height, 5.6 + 0.09 * longest)
    for y, row in enumerate(rows):
        _draw_row(ax, y, row)
    ax.set_yticks(range(len(rows)), labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    scores = [score for row in rows for score in (row.score, row.reference_score, row.smoothed)]
    known = list(filter(isfinite, scores))
    if known and not isfinite(metric.range[1]):
        ax.set_xlim(right=1.3 * max(*known, 1e-9))
    if is_change:
        ax.axvline(0, color=_GREY, lw=0.8)
    return ax


def _draw_row(ax: Axes, y: float, row: Row) -> None:
    """A score with its interval, its smoothed score and the reference's score."""
    verdict, reference = row.verdict, [row.reference_score] * 2
    if not isnan(row.low + row.high):
        dashes = "-" if verdict.filled else "--"
        ax.plot([row.low, row.high], [y, y], color=verdict.colour, ls=dashes, zorder=2)
    if not isnan(row.reference_score):
        ax.plot(reference, [y - 0.36, y + 0.36], ":", color=_BLACK, label="reference's score")
    if not isnan(row.smoothed):
        ax.plot(row.smoothed, y + 0.22, "d", ms=4.5, mfc="white", mec=_PINK, label="smoothed score")
    if not isnan(row.score):
        _draw_mark(ax, verdict, row.score, y, label=str(verdict))
    elif row.reason is not None:
        ax.text(
            0.02,
            y,
            _plain(f"undefined: {row.reason}"),
            fontsize=6.5,
            color=_GREY,
            va="center",
            transform=ax.get_yaxis_transform(),
        )


def _draw_thresholds(audit: Audit, rows: Sequence[Row], ax: Axes | None) -> Axes:
    """The scores of groups along the thresholds, with intervals and verdicts."""
    xs = np.array(audit.axes["threshold"], dtype=float)
    groups = dict.fromkeys(row.group for row in sorted(rows, key=lambda row: (-row.n, row.group)))
    ax = _new_axes(ax, max(3.6, 1.2 + 0.17 * len(groups)))
    # Beside each other, scores and intervals at the same threshold can be told apart.
    step = 0.3 * (float(np.diff(xs).min()) if len(xs) > 1 else 1.0) / len(groups)
    names = told_apart(audit.rows)
    for i, group in enumerate(groups):
        some = {row.at["threshold"]: row for row in rows if row.group == group}
        scores = [some[x].score if x in some else nan for x in xs.tolist()]
        aside = xs + step * (i - (len(groups) - 1) / 2)
        size = max(row.n for row in some.values())
        label = _fold(f"{names[rows[0].by, group]} ({size:,})")
        (line,) = ax.plot(aside, scores, zorder=2, label=label, **_line_style(i))
        for x, row in zip(aside, some.values(), strict=False):
            ends = [row.low, row.high]
            ax.plot([x, x], ends, color=line.get_color(), lw=1.1, alpha=0.6, zorder=2)
            _draw_mark(ax, row.verdict, x, row.score)
    for verdict in dict.fromkeys(row.verdict for row in rows):
        _draw_mark(ax, verdict, nan, nan, label=str(verdict))
    ax.set_xticks(xs, [f"{x:g}" for x in xs], rotation=90 if len(xs) > 10 else 0)
    return ax


def _draw_mark(ax: Axes, verdict: Verdict, x: float, y: float, label: str | None = None) -> None:
    """The mark of a verdict."""
    colour = verdict.colour
    face = colour if verdict.filled else "white"
    ax.plot(x, y, verdict.marker, ms=6.5, mec=colour, mfc=face, mew=1.3, zorder=4, label=label)


def draw_distribution(d: Distribution, ax: Axes | None = None) -> Axes:
    """Draw the probability of every score."""
    cases = several(d.n, "case") if isinstance(d.n, int) else f"{d.n[0]:,} and {d.n[1]:,} cases"
    beside = f", undefined with probability {d.p_undefined:.3g}" if d.p_undefined else ""
    return _draw_bars(d, f"{d.metric.name} of {cases}{beside}", ax)


def draw_match(result: MatchResult, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of a test, with the observed score and its tail shaded."""
    tail, what, is_distance = str(result.alternative), "the shaded tail", result.metric.is_distance
    if tail == "two-sided":
        tail = "greater" if is_distance or result.percentile > 0.5 else "less"
        what = what if is_distance else f"twice {what}"
    title = f"{result.metric.name} if drawn like the reference: p {pvalue(result.pvalue)}, {what}"
    return _draw_bars(result.distribution, title, ax, result.statistic, tail)


def draw_plan(plan: Plan, ax: Axes | None = None) -> Axes:
    """Draw the power against the true score or, of a sample size, what is reached against the number of cases."""
    ax, name = _new_axes(ax), plan.metric.name
    ax.set_ylim(-0.03, 1.03)
    if plan.question == "sample_size":
        ax.plot(plan.sizes, plan.values, color=_BLUE, label=plan.goal)
        _draw_rule(ax, f"goal, {plan.target:g}", y=plan.target)
        ax.plot(plan.n, plan.value, "o", color=_BLACK, label=f"smallest n, {plan.n:,}")
        if plan.n_stays is not None and plan.n_stays > plan.n:
            _draw_rule(ax, f"from here on, {plan.n_stays:,}", x=plan.n_stays)
        return _finish(ax, f"Cases needed for {name}", "number of cases n", "probability")
    scores, powers = plan.profile()
    ax.plot(scores, powers, color=_BLUE, label="power")
    _draw_rule(ax, "the reference's score", x=plan.reference_score)
    _draw_rule(ax, "level of the test", y=plan.alpha)
    answers = [s for s in (plan.true_score, plan.lower_score, plan.higher_score) if s is not None]
    powers = [plan.value] * len(answers)
    ax.plot(answers, powers, "o", color=_BLACK, label=f"power {plan.value:.3g}")
    title = f"Power to find a difference in {name}, n = {plan.n:,}"
    return _finish(ax, title, f"true {plan.metric.key}", "probability")


def _draw_rule(ax: Axes, label: str, x: float | None = None, y: float | None = None) -> None:
    """A red dashed line at x, or a grey dotted one at y."""
    if x is not None:
        ax.axvline(x, color=_RED, ls="--", label=label)
    if y is not None:
        ax.axhline(y, color=_GREY, ls=":", label=label)


def draw_jaggedness(result: Jaggedness, ax: Axes | None = None) -> Axes:
    """Draw the quantiles of a score against the sample size: bands of 10-90% and 25-75%, the median as a line."""
    ax = _new_axes(ax)
    x, (low, lower, median, upper, high) = result.sizes, np.transpose(result.quantiles)
    ax.fill_between(x, low, high, color=_SKY, alpha=0.4, lw=0, label="10-90%")
    ax.fill_between(x, lower, upper, color=_BLUE, alpha=0.45, lw=0, label="25-75%")
    ax.plot(x, median, color=_BLACK, label="median")
    if (score := result.reference_score) is not None:
        ax.axhline(score, color=_RED, ls="--", label="the population's score")
    return _finish(ax, f"{result.metric.name} of small groups", "sample size n", result.metric.key)


def draw_risks(risks: Risks, ax: Axes | None = None) -> Axes:
    """Draw mean squared errors against the sample size on a logarithmic scale, each line with its own dashes."""
    if not risks:
        raise InvalidInput("there are no errors to plot")
    ax = _new_axes(ax)
    metrics = {r.metric.key: r.metric.name for r in risks}
    lines: dict[str, dict[int, float]] = {}
    for r in sorted(risks, key=lambda r: r.n):
        label = r.estimator.label if len(metrics) == 1 else f"{r.metric.key}, {r.estimator.label}"
        lines.setdefault(label, {})[r.n] = r.mse
    for i, (label, errors) in enumerate(lines.items()):
        ax.plot(list(errors), list(errors.values()), label=label, **_line_style(i))
    what = next(iter(metrics.values())) if len(metrics) == 1 else several(len(metrics), "metric")
    ax.set_yscale("log")
    return _finish(ax, f"Error of {what}", "sample size n", "mean squared error")


def draw_exploitable(result: ExploitableSizes, ax: Axes | None = None) -> Axes:
    """Draw the probability to pass against the sample size."""
    ax = _new_axes(ax)
    chances = dict(zip(result.sizes, result.chances, strict=True))
    ax.plot(result.sizes, result.chances, color=_BLUE, label="passes")
    for sizes, mark, colour, label in (
        (result.exploitable, "^", _RED, "better than both neighbours"),
        (result.preferred, "s", _GREEN, "for auditors to prefer"),
    ):
        ax.plot(sizes, [chances[n] for n in sizes], mark, color=colour, ms=5, ls="", label=label)
    if (stopping := result.p_stopping) is not None:
        ax.axhline(stopping, color=_BLACK, ls="--", label="stopping when it suits")
    rule = f"{result.metric.name} of {result.passing} {result.threshold:.4g}"
    ax.set_ylim(-0.03, 1.03)
    return _finish(ax, f"{rule}, truth {result.true_score:.4g}", "sample size n", "probability")


def draw_monitor(monitor: Monitor, key: str, by: str, ax: Axes | None = None) -> Axes:
    """Draw the evidence of a metric over batches on a logarithmic scale, a line per group, and where it alarms."""
    rows = [row for row in monitor.rows if (row.metric, row.by) == (key, by)]
    ax = _new_axes(ax, max(3.6, 1.2 + 0.17 * len(rows)))
    names, batches = told_apart(monitor.rows), monitor.batches
    marker = "." if len(batches) < 60 else None
    for i, row in enumerate(rows):
        values = np.array(monitor.path(row), dtype=float)
        style, label = _line_style(i), _fold(names[row.by, row.group])
        ax.plot(values, marker=marker, label=label, **style)
        if row.alarm is not None:
            at = batches.index(row.alarm)
            ax.plot(at, values[at], "o", ms=7, mfc="white", mec=style["color"], mew=1.6, zorder=4)
    threshold = 1 / monitor.settings["alpha"]
    ax.axhline(threshold, color=_RED, ls="--", label=f"alarm, at {threshold:g}")
    shown = np.linspace(0, len(batches) - 1, min(len(batches), 8)).round().astype(int).tolist()
    ticks = [_fold(printable(batches[i]), _TICK) for i in shown]
    ax.set_xticks(shown, ticks, rotation=0 if len(shown) < 6 else 30)
    title = f"{lookup_metric(key).name} by {by}: evidence of a difference"
    ax.set_yscale("log")
    return _finish(ax, title, "batch", "evidence", grid="y")


def _draw_bars(
    d: Distribution, title: str, ax: Axes | None, observed: float | None = None, tail: str = ""
) -> Axes:
    """A distribution as bars, one per score or, if there are many, one per bin; the tail from a score on is shaded."""
    ax, scores = _new_axes(ax), d.support
    is_beyond = np.zeros(len(scores), dtype=bool)
    if observed is not None:
        near = 1e-9 * max(1.0, abs(observed))
        is_beyond = scores <= observed + near if tail == "less" else scores >= observed - near
    is_binned = len(scores) > _MOST_BARS
    low, high = float(scores[0]), float(scores[-1])
    edges = np.linspace(low, high + 1e-12 * max(1.0, abs(high)), _MOST_BARS // 2)
    width = max(0.8 * float(np.diff(scores).min()), (high - low) / 400) if len(scores) > 1 else 0.02
    align: Literal["edge", "center"] = "edge" if is_binned else "center"
    plain: dict[str, Any] = {"color": _SKY}
    shaded: dict[str, Any] = {"color": _RED, "label": "this extreme, or more", "hatch": "///"}
    for which, style in ((~is_beyond, plain), (is_beyond, shaded)):
        places, heights, widths = scores[which], d.probabilities[which], np.full(which.sum(), width)
        if is_binned:
            heights, _ = np.histogram(places, edges, weights=heights)
            places, widths = edges[:-1], np.diff(edges)
        ax.bar(places, heights, widths, align=align, lw=0, **style)
    if observed is not None:
        ax.axvline(observed, color=_BLACK, ls="--", label=f"observed, {observed:.3g}")
    _finish(ax, title, d.metric.key, "probability of a bin" if is_binned else "probability")
    ax.grid(visible=False, axis="x")
    if observed is None and (legend := ax.get_legend()) is not None:
        legend.remove()
    return ax
