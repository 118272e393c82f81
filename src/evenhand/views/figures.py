"""Plots of audits, tests, distributions and errors on Matplotlib axes; nothing is shown or saved.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish, and no meaning is carried by colour
alone. All plots need the extra ``plots``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..auditing import Audit, Monitor, Row, Verdict, lookup_metric, place_text, told_apart
from ..distributions import Distribution
from ..errors import InvalidInput, MissingExtra, printable
from ..inference import MatchResult, Risks
from ..planning import ExploitableSizes, Jaggedness, Plan
from ..text_layout import columns, folded_text
from ..wording import counts_text, percent, pvalue, several
from .axes import columns_of, lines_of, value_texts
from .charts import places_of, scale_of, shared_reference
from .row_words import has_score

__all__ = [
    "draw_audit",
    "draw_distribution",
    "draw_exploitable",
    "draw_jaggedness",
    "draw_match",
    "draw_monitor",
    "draw_plan",
    "draw_risks",
]

Floats = NDArray[np.float64]

_BLACK, _ORANGE, _SKY, _GREEN, _BLUE, _RED, _PINK = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#0072B2", "#D55E00", "#CC79A7"),
)
_GREY = "#666666"
_MOST_BARS = 150
# Characters on a line of a name, of a note and of a tick, and how many groups need numbers at both ends.
_NAME, _NOTE, _TICK, _TALL = 34, 66, 14, 20
_COLOURS = (_BLACK, _SKY, _GREEN, _BLUE, _RED, _ORANGE, _PINK)
_DASHES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)))


def _axes(ax: Any, height: float = 3.6, width: float = 7.2) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingExtra.named("plots", "plotting") from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _text(text: str, keep: str = "") -> str:
    """Text from data, escaped so that nothing in it is rendered as a formula."""
    return printable(text, keep).replace("$", r"\$")


def draw_audit(audit: Audit, key: str, by: str | None = None, ax: Any = None) -> Any:
    """Draw the scores of a metric with their intervals: along the thresholds if there are several, else by group."""
    rows = [row for row in audit.rows if row.metric == key and by in (None, row.by)]
    if any("threshold" in row.at for row in rows):
        others = {axis for row in rows for axis in row.at} - {"threshold"}
        if others:
            raise InvalidInput(f"the audit has several places ({', '.join(sorted(others))}); choose one with at()")
        return _draw_thresholds(audit, key, by or columns_of(audit)[0], ax)
    return _draw_forest(audit, key, rows, ax)


def _draw_forest(audit: Audit, key: str, rows: Sequence[Row], ax: Any) -> Any:
    """The scores of a metric with their intervals and references, one group and place per line.

    New axes grow with the groups and with their names, which are wrapped beside them.
    """
    names = told_apart(audit.rows)
    called = []
    for row in rows:
        place = f", {place_text(row.at)}" if row.at else ""
        lines = folded_text(names[row.by, row.group] + place, _NAME)
        lines[-1] += f" ({counts_text(row.denominators)})"
        called.append(lines)
    heights = [max(1.0, 0.3 + 0.5 * len(lines)) for lines in called]
    places = [sum(heights[:i]) + heights[i] / 2 for i in range(len(rows))]
    longest = max(columns(line) for lines in called for line in lines)
    ax = _axes(ax, 1.4 + 0.34 * sum(heights), 5.6 + 0.09 * longest)
    shown: set[str] = set()

    def once(label: str) -> str | None:
        """The label, if the legend does not have it yet."""
        new = label not in shown
        shown.add(label)
        return label if new else None

    end = _end(lookup_metric(key), rows)
    for y, row in zip(places, rows, strict=True):
        _draw_row(ax, y, row, end, once)
    name = lookup_metric(key).name
    ax.set_yticks(places, [_text("\n".join(lines), keep="\n") for lines in called])
    ax.set_ylim(sum(heights), 0)
    ax.set_xlabel(_text(name))
    ax.set_title(_text(f"{name}, {percent(audit.settings['confidence_level'])} intervals"), fontsize=10, loc="left")
    ax.grid(axis="x", color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    if isfinite(end):
        ax.set_xlim(right=end)
    if sum(heights) > _TALL:
        ax.tick_params(axis="x", top=True, labeltop=True)
    if shown:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
    return ax


def _end(m: Any, rows: Sequence[Row]) -> float:
    """Where the axis ends if scores have no upper end: the intervals of a few would leave no room for the others."""
    columns_read = ("score", "reference_score", "smoothed")
    scores = [s for row in rows for name in columns_read if not isnan(s := getattr(row, name))]
    return inf if isfinite(m.range[1]) or not scores or max(scores) <= 0 else 1.3 * max(scores)


def _draw_row(ax: Any, y: float, row: Row, end: float, once: Any) -> None:
    verdict, low, high = row.verdict, row.low, row.high
    if not isnan(low + high):
        dashes = "-" if verdict.filled else (0, (3, 1.5))
        if low < end:
            ax.plot([low, min(high, end)], [y, y], color=verdict.colour, lw=1.6, ls=dashes, zorder=2)
        if high > end:
            label = once("interval continues")
            ax.plot(end, y, ">", ms=4, mfc=_GREY, mec=_GREY, zorder=2, label=label, clip_on=False)
    if not isnan(row.reference_score):
        label = once("reference's score")
        ax.plot([row.reference_score] * 2, [y - 0.36, y + 0.36], color=_BLACK, lw=1.2, ls=":", zorder=1, label=label)
    if not isnan(row.smoothed):
        label = once("smoothed score")
        ax.plot(row.smoothed, y + 0.22, "d", ms=4.5, mfc="white", mec=_PINK, mew=1.2, zorder=3, label=label)
    if not isnan(row.score) and (row.reason is None or verdict is not Verdict.UNDEFINED):
        _mark(ax, verdict, row.score, y, label=once(str(verdict)))
    if row.reason is not None:
        ax.annotate(
            _text("\n".join(folded_text(f"undefined: {row.reason}", _NOTE)), keep="\n"),
            (0.02, y - 0.06),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize=6.5,
            linespacing=0.95,
            color=_GREY,
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.3},
        )


def _draw_thresholds(audit: Audit, key: str, by: str, ax: Any) -> Any:
    """The scores of the groups of a column along the thresholds, with intervals and verdicts."""
    thresholds = audit.axes["threshold"]
    rows = [row for row in audit.rows if row.metric == key and row.by == by]
    found = lines_of(rows, thresholds, lambda row: row.at["threshold"], told_apart(audit.rows))
    lines = sorted(found, key=lambda line: (-line.n, line.group))
    ax = _axes(ax, max(3.6, 1.2 + 0.17 * len(lines)))
    places, to_scale = places_of(thresholds)
    xs = np.array(thresholds if to_scale else places)
    shared = shared_reference(lines)
    if shared:
        name, theirs = shared
        label = _text(f"reference: {name}")
        ax.plot(xs, _known(theirs), color="#bbbbbb", lw=6, solid_capstyle="round", zorder=1, label=label)
    # Beside each other, scores and intervals at the same threshold can be told apart.
    beside = 0.3 * float(np.diff(xs).min()) / len(lines) if len(xs) > 1 else 0.3 / len(lines)
    seen: set[Verdict] = set()
    for i, line in enumerate(lines):
        aside = beside * (i - (len(lines) - 1) / 2)
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        scores = [row.score if row is not None and has_score(row) else None for row in line.rows]
        label = _text("\n".join(folded_text(f"{line.name} ({line.n:,})", _NAME)), keep="\n")
        ax.plot(xs + aside, _known(scores), color=colour, ls=dashes, lw=1.3, zorder=2, label=label)
        for x, row, score in zip(xs + aside, line.rows, scores, strict=True):
            if row is None:
                continue
            drawn = row.verdict if score is not None else Verdict.UNDEFINED
            seen.add(drawn)
            if score is None:
                _mark(ax, drawn, x, 0.02, transform=ax.get_xaxis_transform())
                continue
            if not isnan(row.low + row.high):
                ends = [row.low, row.high]
                ax.plot([x] * 2, ends, color=colour, lw=1.1, alpha=0.6, zorder=2)
            _mark(ax, drawn, x, score)
    for verdict in Verdict:
        if verdict in seen:
            _mark(ax, verdict, np.nan, np.nan, label=str(verdict))
    name = lookup_metric(key).name
    low, high, _ = scale_of(key, lines, shared[1] if shared else [])
    ax.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    ax.set_xticks(xs, list(value_texts(thresholds).values()))
    if len(xs) > 10:
        ax.tick_params(axis="x", labelrotation=90)
    ax.set(xlabel="threshold" if to_scale else "threshold (not to scale)", ylabel=name)
    ax.set_title(
        _text(f"{name} by {by}, {percent(audit.settings['confidence_level'])} intervals"), fontsize=10, loc="left"
    )
    ax.grid(axis="y", color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        fontsize=8,
        ncols=1 + (len(lines) + len(seen)) // 30,
    )
    return ax


def _known(scores: Sequence[float | None]) -> Floats:
    return np.array([np.nan if score is None else score for score in scores])


def _mark(ax: Any, verdict: Verdict, x: float, y: float, **more: Any) -> None:
    face = verdict.colour if verdict.filled else "white"
    ax.plot(x, y, verdict.marker, ms=6.5, mfc=face, mec=verdict.colour, mew=1.3, zorder=4, **more)


def draw_distribution(d: Distribution, ax: Any = None) -> Any:
    """Draw the probability of every score."""
    cases = several(d.n, "case") if isinstance(d.n, int) else f"{d.n[0]:,} and {d.n[1]:,} cases"
    beside = f", undefined with probability {d.p_undefined:.3g}" if d.p_undefined else ""
    return _bars(d.support, d.probabilities, title=f"{d.metric.name} of {cases}{beside}", xlabel=d.metric.key, ax=ax)


def draw_match(result: MatchResult, ax: Any = None) -> Any:
    """Draw the null distribution of a test, with the observed score and its tail shaded."""
    tail, what = str(result.alternative), "the shaded tail"
    if result.metric.is_distance and tail == "two-sided":
        tail = "greater"
    elif tail == "two-sided":
        tail, what = ("greater" if result.percentile > 0.5 else "less"), "twice the shaded tail"
    return _bars(
        result.distribution.support,
        result.distribution.probabilities,
        title=f"{result.metric.name} if drawn like the reference: p {pvalue(result.pvalue)}, {what}",
        xlabel=result.metric.key,
        observed=result.statistic,
        tail=tail,
        ax=ax,
    )


def draw_plan(plan: Plan, ax: Any = None) -> Any:
    """Draw the power against the true score or, of a sample size, what is reached against the number of cases."""
    ax = _axes(ax)
    if plan.question == "sample_size":
        _reached(plan, ax)
    else:
        scores, powers = plan.profile()
        ax.plot(scores, powers, color=_BLUE, lw=1.5, label="power")
        ax.axvline(plan.reference_score, color=_RED, ls="--", lw=1, label="the reference's score")
        ax.axhline(plan.alpha, color=_GREY, ls=":", lw=1, label="level of the test")
        found = [s for s in (plan.true_score, plan.lower_score, plan.higher_score) if s is not None]
        ax.plot(found, [plan.value] * len(found), "o", color=_BLACK, ms=6, label=f"power {plan.value:.3g}")
        ax.set(xlabel=f"true {plan.metric.key}")
        title = f"Power to find a difference in {plan.metric.name}, n = {plan.n:,}"
        ax.set_title(_text(title), fontsize=10, loc="left")
    ax.set(ylabel="probability", ylim=(-0.03, 1.03))
    return _finished(ax)


def _reached(plan: Plan, ax: Any) -> None:
    ax.plot(plan.sizes, plan.values, color=_BLUE, lw=1.2, label=plan.goal)
    ax.axhline(plan.target, color=_GREY, ls=":", lw=1, label=f"goal, {plan.target:g}")
    ax.plot(plan.n, plan.value, "o", color=_BLACK, ms=6, label=f"smallest n, {plan.n:,}")
    if plan.n_stays is not None and plan.n_stays > plan.n:
        ax.axvline(plan.n_stays, color=_RED, ls="--", lw=1, label=f"from here on, {plan.n_stays:,}")
    ax.set(xlabel="number of cases n")
    ax.set_title(_text(f"Cases needed for {plan.metric.name}"), fontsize=10, loc="left")


def _finished(ax: Any) -> Any:
    ax.grid(color="#dddddd", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    return ax


def draw_jaggedness(result: Jaggedness, ax: Any = None) -> Any:
    """Draw the quantiles of a score against the sample size: bands of 10-90% and 25-75%, the median as a line."""
    ax = _axes(ax)
    x, quantiles = result.sizes, np.array(result.quantiles)
    ax.fill_between(x, quantiles[:, 0], quantiles[:, 4], color=_SKY, alpha=0.4, lw=0, label="10-90%")
    ax.fill_between(x, quantiles[:, 1], quantiles[:, 3], color=_BLUE, alpha=0.45, lw=0, label="25-75%")
    ax.plot(x, quantiles[:, 2], color=_BLACK, lw=1.2, label="median")
    if result.reference_score is not None:
        ax.axhline(result.reference_score, color=_RED, ls="--", lw=1, label="the population's score")
    ax.set(xlabel="sample size n", ylabel=result.metric.key)
    ax.set_title(_text(f"{result.metric.name} of small groups"), fontsize=10, loc="left")
    ax.legend(frameon=False, fontsize=8)
    return ax


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
        ax.plot(*zip(*points, strict=True), color=_COLOURS[i % 7], ls=_DASHES[i % 5], lw=1.5, label=label)
    ax.set(xlabel="sample size n", ylabel="mean squared error", yscale="log")
    what = next(iter(metrics.values())) if len(metrics) == 1 else several(len(metrics), "metric")
    ax.set_title(_text(f"Error of {what}"), fontsize=10, loc="left")
    return _finished(ax)


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
    ax.set_title(_text(title), fontsize=10, loc="left")
    return _finished(ax)


def draw_monitor(monitor: Monitor, key: str, by: str, ax: Any = None) -> Any:
    """Draw the evidence of a metric over batches on a logarithmic scale, a line per group, and where it alarms."""
    rows = [row for row in monitor.rows if (row.metric, row.by) == (key, by)]
    ax = _axes(ax, max(3.6, 1.2 + 0.17 * len(rows)))
    names, order = told_apart(monitor.rows), {name: i for i, name in enumerate(monitor.batches)}
    xs = np.arange(len(order))
    for i, row in enumerate(rows):
        values = _known(monitor.path(row))
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        label = _text("\n".join(folded_text(names[row.by, row.group], _NAME)), keep="\n")
        ax.plot(xs, values, color=colour, ls=dashes, lw=1.4, marker="." if len(xs) < 60 else None, label=label)
        if row.alarm is not None:
            at = order[row.alarm]
            ax.plot(at, values[at], "o", ms=7, mfc="white", mec=colour, mew=1.6, zorder=4)
    threshold = 1 / monitor.settings["alpha"]
    ax.axhline(threshold, color=_RED, ls="--", lw=1, label=f"alarm, at {threshold:g}")
    shown = np.unique(np.linspace(0, len(xs) - 1, min(len(xs), 8)).round().astype(int))
    ticks = [_text("\n".join(folded_text(monitor.batches[i], _TICK)), keep="\n") for i in shown]
    ax.set_xticks(shown, ticks, rotation=0 if len(shown) < 6 else 30)
    ax.set(yscale="log", xlabel="batch", ylabel="evidence")
    name = lookup_metric(key).name
    ax.set_title(_text(f"{name} by {by}: evidence of a difference"), fontsize=10, loc="left")
    ax.grid(axis="y", color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8, ncols=1 + (len(rows) + 1) // 30)
    return ax


def _bars(
    scores: Floats,
    probabilities: Floats,
    *,
    title: str,
    xlabel: str,
    observed: float | None = None,
    tail: str | None = None,
    ax: Any = None,
) -> Any:
    """A distribution as bars, one per score or, if there are many, one per bin; the tail from a score on is shaded."""
    ax = _axes(ax)
    beyond = np.zeros(len(scores), dtype=bool)
    if observed is not None and tail is not None:
        near = 1e-9 * max(1.0, abs(observed))
        beyond = scores <= observed + near if tail == "less" else scores >= observed - near
    parts = [(~beyond, _SKY, None, ""), (beyond, _RED, "this extreme, or more", "///")]
    low, high = float(scores[0]), float(scores[-1])
    if len(scores) > _MOST_BARS:
        edges = np.linspace(low, high + 1e-12 * max(1.0, abs(high)), _MOST_BARS // 2)
        for which, colour, label, hatch in parts:
            height, _ = np.histogram(scores[which], edges, weights=probabilities[which])
            ax.bar(edges[:-1], height, np.diff(edges), align="edge", color=colour, label=label, hatch=hatch, lw=0)
        ax.set_ylabel("probability of a bin")
    else:
        width = 0.8 * float(np.diff(scores).min()) if len(scores) > 1 else 0.02
        width = max(width, (high - low) / 400)
        for which, colour, label, hatch in parts:
            ax.bar(scores[which], probabilities[which], width, color=colour, label=label, hatch=hatch, lw=0)
        ax.set_ylabel("probability")
    if observed is not None:
        ax.axvline(observed, color=_BLACK, lw=1.2, ls="--", label=f"observed, {observed:.3g}")
        ax.legend(frameon=False, fontsize=8)
    ax.set_xlabel(xlabel)
    ax.set_title(_text(title), fontsize=10, loc="left")
    return ax
