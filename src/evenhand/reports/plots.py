"""Plots of audits, tests, distributions and errors on Matplotlib axes; nothing is shown or saved.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish, and no meaning is
carried by colour alone. All plots need the extra ``plots``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np

from ..arrays import Floats
from ..auditing import Audit, Monitor, Row, Verdict, lookup_metric, place_text, told_apart
from ..distributions import Distribution
from ..errors import InvalidInput, MissingExtra, printable
from ..inference import MatchResult, Risks
from ..planning import ExploitableSizes, Jaggedness, Plan
from ..text_layout import columns, folded_text
from ..wording import percent, pvalue, several

_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_BLUE, _RED, _PINK, _GREY = "#0072B2", "#D55E00", "#CC79A7", "#666666"
_COLOURS = (_BLACK, _SKY, _GREEN, _BLUE, _RED, _ORANGE, _PINK)
_DASHES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)))
_MOST_BARS = 150
# Characters on a line of a name and of a tick.
_NAME, _TICK = 34, 14


def _axes(ax: Any, height: float = 3.6, width: float = 7.2) -> Any:
    """The axes to draw on, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingExtra.named("plots", "plotting") from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _text(text: str) -> str:
    """Text from data on lines of a name's width, escaped so that nothing in it is rendered as a formula."""
    return "\n".join(printable(line).replace("$", r"\$") for line in folded_text(text, _NAME))


def _finish(ax: Any, title: str, axis: str = "both", beside: bool = False) -> Any:
    """Axes with a title, a grid and a legend."""
    ax.set_title(printable(title).replace("$", r"\$"), fontsize=10, loc="left")
    ax.grid(axis=axis, color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[0]:
        place: dict[str, Any] = (
            {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if beside else {}
        )
        ax.legend(frameon=False, fontsize=8, **place)
    return ax


def draw_audit(audit: Audit, key: str, by: str | None = None, ax: Any = None) -> Any:
    """Draw the scores of a metric with their intervals: along the thresholds if there are several, else by group."""
    rows = [row for row in audit.rows if row.metric == key and by in (None, row.by)]
    if not any("threshold" in row.at for row in rows):
        return _draw_forest(audit, key, rows, ax)
    if others := {axis for row in rows for axis in row.at} - {"threshold"}:
        raise InvalidInput(
            f"the audit has several places ({', '.join(sorted(others))}); choose one with at()"
        )
    first = by or rows[0].by
    return _draw_thresholds(audit, key, [row for row in rows if row.by == first], ax)


def _draw_forest(audit: Audit, key: str, rows: Sequence[Row], ax: Any) -> Any:
    """The scores of a metric with their intervals and references, one group and place per line.

    Rows of models are changes; undefined rows say why.
    """
    names, is_change = told_apart(audit.rows), any(row.is_change for row in rows)
    rows = [row for row in rows if not (is_change and isnan(row.score))]
    labels = [
        _text(
            f"{names[row.by, row.group]}{f', {place_text(row.at)}' if row.at else ''} ({row.support:,})"
        )
        for row in rows
    ]
    longest = max((columns(line) for label in labels for line in label.split("\n")), default=0)
    most_lines = max((1 + label.count("\n") for label in labels), default=1)
    ax = _axes(ax, 1.4 + len(labels) * (0.15 + 0.19 * most_lines), 5.6 + 0.09 * longest)
    seen: set[str] = set()
    for y, row in enumerate(rows):
        _draw_row(ax, y, row, seen)
    name = lookup_metric(key).name
    ax.set_yticks(range(len(rows)), labels)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"change of the {name[0].lower()}{name[1:]}" if is_change else name)
    scores = [
        score
        for row in rows
        for score in (row.score, row.reference_score, row.smoothed)
        if isfinite(score)
    ]
    if scores and not isfinite(lookup_metric(key).range[1]):
        ax.set_xlim(right=1.3 * max(*scores, 1e-9))
    if is_change:
        ax.axvline(0, color=_GREY, lw=0.8)
    return _finish(
        ax, f"{name}, {percent(audit.settings['confidence_level'])} intervals", "x", beside=True
    )


def _draw_row(ax: Any, y: float, row: Row, seen: set[str]) -> None:
    """A score with its interval, its smoothed score and the reference's score."""

    def once(label: str) -> str | None:
        is_new = label not in seen
        seen.add(label)
        return label if is_new else None

    if not isnan(row.low + row.high):
        dashes = "-" if row.verdict.filled else (0, (3, 1.5))
        ax.plot([row.low, row.high], [y, y], color=row.verdict.colour, lw=1.6, ls=dashes, zorder=2)
    if not isnan(row.reference_score):
        x = [row.reference_score] * 2
        ax.plot(
            x,
            [y - 0.36, y + 0.36],
            color=_BLACK,
            lw=1.2,
            ls=":",
            zorder=1,
            label=once("reference's score"),
        )
    if not isnan(row.smoothed):
        label = once("smoothed score")
        ax.plot(
            row.smoothed,
            y + 0.22,
            "d",
            ms=4.5,
            mfc="white",
            mec=_PINK,
            mew=1.2,
            zorder=3,
            label=label,
        )
    if not isnan(row.score):
        _draw_mark(ax, row.verdict, row.score, y, label=once(str(row.verdict)))
    elif row.reason is not None:
        place = {
            "xycoords": ("axes fraction", "data"),
            "va": "center",
            "fontsize": 6.5,
            "color": _GREY,
        }
        ax.annotate(printable(f"undefined: {row.reason}").replace("$", r"\$"), (0.02, y), **place)


def _draw_thresholds(audit: Audit, key: str, rows: Sequence[Row], ax: Any) -> Any:
    """The scores of groups along the thresholds, with intervals and verdicts."""
    xs = np.array(audit.axes["threshold"], dtype=float)
    groups = dict.fromkeys(row.group for row in sorted(rows, key=lambda row: (-row.n, row.group)))
    ax = _axes(ax, max(3.6, 1.2 + 0.17 * len(groups)))
    # Beside each other, scores and intervals at the same threshold can be told apart.
    step = 0.3 * (float(np.diff(xs).min()) if len(xs) > 1 else 1.0) / len(groups)
    names, seen = told_apart(audit.rows), dict.fromkeys(row.verdict for row in rows)
    for i, group in enumerate(groups):
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        some = {row.at["threshold"]: row for row in rows if row.group == group}
        scores = [some[x].score if x in some else np.nan for x in xs.tolist()]
        aside = xs + step * (i - (len(groups) - 1) / 2)
        label = _text(f"{names[rows[0].by, group]} ({max(row.n for row in some.values()):,})")
        ax.plot(aside, scores, color=colour, ls=dashes, lw=1.3, zorder=2, label=label)
        for x, row in zip(aside, some.values(), strict=False):
            ax.plot([x, x], [row.low, row.high], color=colour, lw=1.1, alpha=0.6, zorder=2)
            _draw_mark(ax, row.verdict, x, row.score)
    for verdict in seen:
        _draw_mark(ax, verdict, np.nan, np.nan, label=str(verdict))
    name = lookup_metric(key).name
    ax.set_xticks(xs, [f"{x:g}" for x in xs], rotation=90 if len(xs) > 10 else 0)
    ax.set(xlabel="threshold", ylabel=name)
    title = f"{name} by {rows[0].by}, {percent(audit.settings['confidence_level'])} intervals"
    return _finish(ax, title, "y", beside=True)


def _draw_mark(ax: Any, verdict: Verdict, x: float, y: float, **more: Any) -> None:
    """The mark of a verdict."""
    face = verdict.colour if verdict.filled else "white"
    ax.plot(x, y, verdict.marker, ms=6.5, mfc=face, mec=verdict.colour, mew=1.3, zorder=4, **more)


def draw_distribution(d: Distribution, ax: Any = None) -> Any:
    """Draw the probability of every score."""
    cases = several(d.n, "case") if isinstance(d.n, int) else f"{d.n[0]:,} and {d.n[1]:,} cases"
    beside = f", undefined with probability {d.p_undefined:.3g}" if d.p_undefined else ""
    return _draw_bars(
        d.support, d.probabilities, f"{d.metric.name} of {cases}{beside}", d.metric.key, ax=ax
    )


def draw_match(result: MatchResult, ax: Any = None) -> Any:
    """Draw the null distribution of a test, with the observed score and its tail shaded."""
    tail, what = str(result.alternative), "the shaded tail"
    if result.metric.is_distance and tail == "two-sided":
        tail = "greater"
    elif tail == "two-sided":
        tail, what = ("greater" if result.percentile > 0.5 else "less"), "twice the shaded tail"
    title = f"{result.metric.name} if drawn like the reference: p {pvalue(result.pvalue)}, {what}"
    d = result.distribution
    return _draw_bars(
        d.support, d.probabilities, title, result.metric.key, result.statistic, tail, ax
    )


def draw_plan(plan: Plan, ax: Any = None) -> Any:
    """Draw the power against the true score or, of a sample size, what is reached against the number of cases."""
    ax = _axes(ax)
    ax.set(ylabel="probability", ylim=(-0.03, 1.03))
    if plan.question == "sample_size":
        ax.plot(plan.sizes, plan.values, color=_BLUE, lw=1.2, label=plan.goal)
        ax.axhline(plan.target, color=_GREY, ls=":", lw=1, label=f"goal, {plan.target:g}")
        ax.plot(plan.n, plan.value, "o", color=_BLACK, ms=6, label=f"smallest n, {plan.n:,}")
        if plan.n_stays is not None and plan.n_stays > plan.n:
            ax.axvline(
                plan.n_stays, color=_RED, ls="--", lw=1, label=f"from here on, {plan.n_stays:,}"
            )
        ax.set(xlabel="number of cases n")
        return _finish(ax, f"Cases needed for {plan.metric.name}")
    scores, powers = plan.profile()
    ax.plot(scores, powers, color=_BLUE, lw=1.5, label="power")
    ax.axvline(plan.reference_score, color=_RED, ls="--", lw=1, label="the reference's score")
    ax.axhline(plan.alpha, color=_GREY, ls=":", lw=1, label="level of the test")
    answers = [s for s in (plan.true_score, plan.lower_score, plan.higher_score) if s is not None]
    ax.plot(
        answers,
        [plan.value] * len(answers),
        "o",
        color=_BLACK,
        ms=6,
        label=f"power {plan.value:.3g}",
    )
    ax.set(xlabel=f"true {plan.metric.key}")
    return _finish(ax, f"Power to find a difference in {plan.metric.name}, n = {plan.n:,}")


def draw_jaggedness(result: Jaggedness, ax: Any = None) -> Any:
    """Draw the quantiles of a score against the sample size: bands of 10-90% and 25-75%, the median as a line."""
    ax = _axes(ax)
    x, quantiles = result.sizes, np.array(result.quantiles)
    ax.fill_between(
        x, quantiles[:, 0], quantiles[:, 4], color=_SKY, alpha=0.4, lw=0, label="10-90%"
    )
    ax.fill_between(
        x, quantiles[:, 1], quantiles[:, 3], color=_BLUE, alpha=0.45, lw=0, label="25-75%"
    )
    ax.plot(x, quantiles[:, 2], color=_BLACK, lw=1.2, label="median")
    if result.reference_score is not None:
        ax.axhline(
            result.reference_score, color=_RED, ls="--", lw=1, label="the population's score"
        )
    ax.set(xlabel="sample size n", ylabel=result.metric.key)
    return _finish(ax, f"{result.metric.name} of small groups")


def draw_risks(risks: Risks, ax: Any = None) -> Any:
    """Draw mean squared errors against the sample size on a logarithmic scale, each line with its own dashes."""
    if not risks:
        raise InvalidInput("there are no errors to plot")
    ax = _axes(ax)
    metrics = {r.metric.key: r.metric.name for r in risks}
    lines: dict[str, list[tuple[int, float]]] = {}
    for r in sorted(risks, key=lambda r: r.n):
        label = r.estimator.label if len(metrics) == 1 else f"{r.metric.key}, {r.estimator.label}"
        lines.setdefault(label, []).append((r.n, r.mse))
    for i, (label, points) in enumerate(lines.items()):
        ax.plot(
            *zip(*points, strict=True),
            color=_COLOURS[i % 7],
            ls=_DASHES[i % 5],
            lw=1.5,
            label=label,
        )
    ax.set(xlabel="sample size n", ylabel="mean squared error", yscale="log")
    what = next(iter(metrics.values())) if len(metrics) == 1 else several(len(metrics), "metric")
    return _finish(ax, f"Error of {what}")


def draw_exploitable(result: ExploitableSizes, ax: Any = None) -> Any:
    """Draw the probability to pass against the sample size."""
    ax = _axes(ax)
    chances = dict(zip(result.sizes, result.chances, strict=True))
    ax.plot(result.sizes, result.chances, color=_BLUE, lw=1.2, label="passes")
    for sizes, mark, colour, label in (
        (result.exploitable, "^", _RED, "better than both neighbours"),
        (result.preferred, "s", _GREEN, "for auditors to prefer"),
    ):
        ax.plot(sizes, [chances[n] for n in sizes], mark, color=colour, ms=5, ls="", label=label)
    if result.p_stopping is not None:
        ax.axhline(result.p_stopping, color=_BLACK, ls="--", lw=1, label="stopping when it suits")
    ax.set(xlabel="sample size n", ylabel="probability", ylim=(-0.03, 1.03))
    title = f"{result.metric.name} of {result.passing} {result.threshold:.4g}, truth {result.true_score:.4g}"
    return _finish(ax, title)


def draw_monitor(monitor: Monitor, key: str, by: str, ax: Any = None) -> Any:
    """Draw the evidence of a metric over batches on a logarithmic scale, a line per group, and where it alarms."""
    rows = [row for row in monitor.rows if (row.metric, row.by) == (key, by)]
    ax = _axes(ax, max(3.6, 1.2 + 0.17 * len(rows)))
    names, order = told_apart(monitor.rows), {name: i for i, name in enumerate(monitor.batches)}
    for i, row in enumerate(rows):
        values = [np.nan if value is None else value for value in monitor.path(row)]
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        marker = "." if len(order) < 60 else None
        ax.plot(
            values,
            color=colour,
            ls=dashes,
            lw=1.4,
            marker=marker,
            label=_text(names[row.by, row.group]),
        )
        if row.alarm is not None:
            at = order[row.alarm]
            ax.plot(at, values[at], "o", ms=7, mfc="white", mec=colour, mew=1.6, zorder=4)
    threshold = 1 / monitor.settings["alpha"]
    ax.axhline(threshold, color=_RED, ls="--", lw=1, label=f"alarm, at {threshold:g}")
    shown = np.unique(np.linspace(0, len(order) - 1, min(len(order), 8)).round().astype(int))
    ticks = [
        "\n".join(folded_text(printable(monitor.batches[i]), _TICK)).replace("$", r"\$")
        for i in shown
    ]
    ax.set_xticks(shown, ticks, rotation=0 if len(shown) < 6 else 30)
    ax.set(yscale="log", xlabel="batch", ylabel="evidence")
    return _finish(
        ax, f"{lookup_metric(key).name} by {by}: evidence of a difference", "y", beside=True
    )


def _draw_bars(
    scores: Floats,
    probabilities: Floats,
    title: str,
    xlabel: str,
    observed: float | None = None,
    tail: str | None = None,
    ax: Any = None,
) -> Any:
    """A distribution as bars, one per score or, if there are many, one per bin; the tail from a score on is shaded."""
    ax = _axes(ax)
    is_beyond = np.zeros(len(scores), dtype=bool)
    if observed is not None and tail is not None:
        near = 1e-9 * max(1.0, abs(observed))
        is_beyond = scores <= observed + near if tail == "less" else scores >= observed - near
    low, high = float(scores[0]), float(scores[-1])
    is_binned = len(scores) > _MOST_BARS
    edges = np.linspace(low, high + 1e-12 * max(1.0, abs(high)), _MOST_BARS // 2)
    width = max(0.8 * float(np.diff(scores).min()), (high - low) / 400) if len(scores) > 1 else 0.02
    for which, style in (
        (~is_beyond, {"color": _SKY}),
        (is_beyond, {"color": _RED, "label": "this extreme, or more", "hatch": "///"}),
    ):
        if is_binned:
            heights, _ = np.histogram(scores[which], edges, weights=probabilities[which])
            ax.bar(edges[:-1], heights, np.diff(edges), align="edge", lw=0, **style)
        else:
            ax.bar(scores[which], probabilities[which], width, lw=0, **style)
    if observed is not None:
        ax.axvline(observed, color=_BLACK, lw=1.2, ls="--", label=f"observed, {observed:.3g}")
    ax.set(xlabel=xlabel, ylabel="probability of a bin" if is_binned else "probability")
    _finish(ax, title, "y")
    if observed is None and ax.get_legend() is not None:
        ax.get_legend().remove()
    return ax
