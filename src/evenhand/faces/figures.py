"""Plots of audits, tests, distributions and errors on Matplotlib axes; nothing is shown or saved.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish, and no meaning is carried by colour
alone. All plots need the extra ``plots``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..auditing import Audit, Row, Sweep, Verdict
from ..cells import ConfusionMatrix, as_size
from ..errors import InvalidInput, MissingExtra, printable
from ..inference import MatchResult, Risk
from ..laws import Distribution, LawName, distribution
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..planning import DetectableDifference, ExploitableSizes, Jaggedness, Power, SampleSize
from .overview import names_of
from .series_lines import has_score, lines_of
from .sweep_pictures import places_of, scale_of, shared_reference, threshold_text
from .terminal import columns, folded_text

__all__ = [
    "draw_audit",
    "draw_distribution",
    "draw_exploitable",
    "draw_jaggedness",
    "draw_match",
    "draw_power",
    "draw_sample_size",
    "draw_sweep",
    "plot_jaggedness",
    "plot_risk",
]

Floats = NDArray[np.float64]

_BLACK, _ORANGE, _SKY, _GREEN, _BLUE, _RED, _PINK = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#0072B2", "#D55E00", "#CC79A7"),
)
_GREY = "#666666"
_MOST_BARS = 150
# Characters on a line of a name and of a note, and how many groups need numbers at both ends.
_NAME, _NOTE, _TALL = 34, 66, 20
_COLOURS = (_BLACK, _SKY, _GREEN, _BLUE, _RED, _ORANGE, _PINK)
_DASHES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)))
_LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


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


def draw_audit(audit: Audit, key: str, ax: Any = None) -> Any:
    """Draw the scores of a metric with their intervals and references, one group per line.

    New axes grow with the groups and with their names, which are wrapped beside them.
    """
    rows = [row for row in audit.rows if row.metric == key]
    names = names_of(audit)
    called = [folded_text(names[row.by, row.group], _NAME) for row in rows]
    for lines, row in zip(called, rows, strict=True):
        lines[-1] += f" ({row.basis:,})"
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

    end = _end(find_metric(key), rows)
    for y, row in zip(places, rows, strict=True):
        _draw_row(ax, y, row, end, once)
    name = find_metric(key).name
    ax.set_yticks(places, [_text("\n".join(lines), keep="\n") for lines in called])
    ax.set_ylim(sum(heights), 0)
    ax.set_xlabel(name)
    ax.set_title(_text(f"{name}, {100 * audit.level:g} % intervals"), fontsize=10, loc="left")
    ax.grid(axis="x", color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    if isfinite(end):
        ax.set_xlim(right=end)
    if sum(heights) > _TALL:
        ax.tick_params(axis="x", top=True, labeltop=True)
    if shown:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
    return ax


def _end(m: Metric, rows: Sequence[Row]) -> float:
    """Where the axis ends if scores have no upper end: the intervals of a few would leave no room for the others."""
    scores = [score for row in rows for score in (row.score, row.smoothed, row.reference_score) if score is not None]
    return inf if isfinite(m.range[1]) or not scores or max(scores) <= 0 else 1.3 * max(scores)


def _draw_row(ax: Any, y: float, row: Row, end: float, once: Any) -> None:
    verdict = row.verdict
    if row.low is not None and row.high is not None:
        dashes = "-" if verdict.filled else (0, (3, 1.5))
        if row.low < end:
            ax.plot([row.low, min(row.high, end)], [y, y], color=verdict.colour, lw=1.6, ls=dashes, zorder=2)
        if row.high > end:
            label = once("interval goes on")
            ax.plot(end, y, ">", ms=4, mfc=_GREY, mec=_GREY, zorder=2, label=label, clip_on=False)
    if row.reference_score is not None:
        label = once("reference's score")
        ax.plot([row.reference_score] * 2, [y - 0.36, y + 0.36], color=_BLACK, lw=1.2, ls=":", zorder=1, label=label)
    if row.smoothed is not None:
        label = once("smoothed score")
        ax.plot(row.smoothed, y + 0.22, "d", ms=4.5, mfc="white", mec=_PINK, mew=1.2, zorder=3, label=label)
    if row.score is not None and (row.reason is None or verdict is not Verdict.UNDEFINED):
        face = verdict.colour if verdict.filled else "white"
        label = once(str(verdict))
        ax.plot(row.score, y, verdict.marker, ms=7, mfc=face, mec=verdict.colour, mew=1.4, zorder=4, label=label)
    if row.reason is not None:
        ax.annotate(
            _text("\n".join(folded_text(row.status, _NOTE)), keep="\n"),
            (0.02, y - 0.06),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize=6.5,
            linespacing=0.95,
            color=_GREY,
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.3},
        )


def draw_sweep(sweep: Sweep, key: str, by: str, ax: Any = None) -> Any:
    """Draw the scores of the groups of a column along the thresholds, with intervals and verdicts."""
    lines = sorted(
        (line for line in lines_of(sweep.audits, key) if line.by == by), key=lambda line: (-line.n, line.group)
    )
    ax = _axes(ax, max(3.6, 1.2 + 0.17 * len(lines)))
    places, to_scale = places_of(sweep.thresholds)
    xs = np.array(sweep.thresholds if to_scale else places)
    shared = shared_reference(lines)
    if shared:
        name, scores = shared
        known = np.array([np.nan if score is None else score for score in scores])
        label = _text(f"reference: {name}")
        ax.plot(xs, known, color="#bbbbbb", lw=6, solid_capstyle="round", zorder=1, label=label)
    # Beside each other, intervals at the same threshold can be told apart.
    beside = 0.3 * float(np.diff(xs).min()) / len(lines) if len(xs) > 1 else 0.3 / len(lines)
    seen: set[Verdict] = set()
    for i, line in enumerate(lines):
        aside = beside * (i - (len(lines) - 1) / 2)
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        scores = [row.score if row is not None and has_score(row) else None for row in line.rows]
        known = np.array([np.nan if score is None else score for score in scores])
        ax.plot(xs, known, color=colour, ls=dashes, lw=1.3, zorder=2, label=_text(f"{line.group} ({line.n:,})"))
        for x, row, score in zip(xs, line.rows, scores, strict=True):
            if row is None:
                continue
            drawn = row.verdict if score is not None else Verdict.UNDEFINED
            seen.add(drawn)
            if score is None:
                _mark(ax, drawn, x, 0.02, transform=ax.get_xaxis_transform())
                continue
            if row.low is not None and row.high is not None:
                ax.plot([x + aside] * 2, [row.low, row.high], color=colour, lw=1.1, alpha=0.6, zorder=2)
            _mark(ax, drawn, x, score)
    for verdict in Verdict:
        if verdict in seen:
            _mark(ax, verdict, np.nan, np.nan, label=str(verdict))
    name = find_metric(key).name
    low, high, _ = scale_of(key, lines, shared[1] if shared else [])
    ax.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    ax.set_xticks(xs, [threshold_text(threshold) for threshold in sweep.thresholds])
    if len(xs) > 10:
        ax.tick_params(axis="x", labelrotation=90)
    ax.set(xlabel="threshold" if to_scale else "threshold (not to scale)", ylabel=name)
    ax.set_title(_text(f"{name} by {by}, {100 * sweep.audits[0].level:g} % intervals"), fontsize=10, loc="left")
    ax.grid(axis="y", color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    columns = 1 + (len(lines) + len(seen)) // 30
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8, ncols=columns)
    return ax


def _mark(ax: Any, verdict: Verdict, x: float, y: float, **more: Any) -> None:
    face = verdict.colour if verdict.filled else "white"
    ax.plot(x, y, verdict.marker, ms=6, mfc=face, mec=verdict.colour, mew=1.2, zorder=4, **more)


def draw_distribution(d: Distribution, ax: Any = None) -> Any:
    """Draw the probability of every score."""
    cases = f"{d.n:,} cases" if isinstance(d.n, int) else f"{d.n[0]:,} and {d.n[1]:,} cases"
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
        title=f"{result.metric.name} if drawn like the reference: p = {result.pvalue:.3g}, {what}",
        xlabel=result.metric.key,
        observed=result.statistic,
        tail=tail,
        ax=ax,
    )


def draw_power(
    result: Power | DetectableDifference, scores: Sequence[float], powers: Sequence[float], ax: Any = None
) -> Any:
    """Draw the power of a test against the group's true score."""
    ax = _axes(ax)
    ax.plot(scores, powers, color=_BLUE, lw=1.5, label="power")
    ax.axvline(result.reference_score, color=_RED, ls="--", lw=1, label="the reference's score")
    ax.axhline(result.level, color=_GREY, ls=":", lw=1, label="level of the test")
    if isinstance(result, Power):
        ax.plot(result.true_score, result.power, "o", color=_BLACK, ms=6, label=f"power {result.power:.3g}")
    else:
        found = [score for score in (result.lower_score, result.higher_score) if score is not None]
        ax.plot(found, [result.power] * len(found), "o", color=_BLACK, ms=6, label=f"power {result.power:g}")
    ax.set(xlabel=f"true {result.metric.key}", ylabel="probability", ylim=(-0.03, 1.03))
    ax.set_title(
        _text(f"Power to find a difference in {result.metric.name}, n = {result.n:,}"), fontsize=10, loc="left"
    )
    ax.grid(color="#dddddd", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    return ax


def draw_sample_size(result: SampleSize, ax: Any = None) -> Any:
    """Draw what is reached against the number of cases."""
    ax = _axes(ax)
    ax.plot(result.sizes, result.values, color=_BLUE, lw=1.2, label=result.goal)
    ax.axhline(result.target, color=_GREY, ls=":", lw=1, label=f"goal, {result.target:g}")
    ax.plot(result.n, result.value, "o", color=_BLACK, ms=6, label=f"smallest n, {result.n:,}")
    if result.n_stays > result.n:
        ax.axvline(result.n_stays, color=_RED, ls="--", lw=1, label=f"from here on, {result.n_stays:,}")
    ax.set(xlabel="number of cases n", ylabel="probability", ylim=(-0.03, 1.03))
    ax.set_title(_text(f"Cases needed for {result.metric.name}"), fontsize=10, loc="left")
    ax.grid(color="#dddddd", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    return ax


def draw_jaggedness(result: Jaggedness, ax: Any = None) -> Any:
    """Draw the quantiles of a score against the sample size."""
    return _bands(
        result.sizes,
        np.array(result.quantiles),
        middle=result.reference_score,
        title=f"{result.metric.name} of small groups",
        ylabel=result.metric.key,
        ax=ax,
    )


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
    ax.grid(color="#dddddd", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    return ax


def plot_jaggedness(
    metric: str | Metric,
    reference: ConfusionMatrix | ArrayLike,
    n: Iterable[int] = range(5, 50),
    *,
    law: LawName = "multinomial",
    ax: Any = None,
) -> Any:
    """Plot exact quantiles of a score against the sample size (the paper's Figure 1).

    Quantiles jump from one n to the next, because a small group has only few possible scores.

    Parameters
    ----------
    metric : str or Metric
        A metric of one group.
    reference : ConfusionMatrix or four probabilities
        The rates or counts that groups are sampled from.
    n : iterable of int
        Sample sizes.
    law : {"multinomial", "predictive", "without_replacement"}
        How groups are sampled; see `distribution`.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; new ones by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from evenhand.examples import compas
    >>> ax = plot_jaggedness("tpr", compas()["Hispanic"], n=range(5, 15))    # doctest: +SKIP
    """
    m = find_metric(metric)
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; plot_jaggedness() takes a metric of one group")
    sizes = [as_size(size) for size in n]
    if not sizes:
        raise InvalidInput("n must contain at least one sample size")
    quantiles = np.array([distribution(m, size, reference, law=law).quantile(_LEVELS) for size in sizes])
    whole = float(m(reference) if isinstance(reference, ConfusionMatrix) else m(np.asarray(reference)))
    return _bands(sizes, quantiles, middle=whole, title=f"{m.name} of small groups", ylabel=m.key, ax=ax)


def plot_risk(risks: Sequence[Risk], *, ax: Any = None) -> Any:
    """Plot mean squared errors against the sample size, one line per estimator.

    Parameters
    ----------
    risks : sequence of Risk
        The result of `risk_curve` for one metric.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; new ones by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from evenhand import CrossPrior, Raw, risk_curve
    >>> from evenhand.examples import compas
    >>> groups = compas()
    >>> estimators = [Raw(), CrossPrior(groups["Caucasian"], 10)]
    >>> ax = plot_risk(risk_curve("tpr", groups["Hispanic"], range(5, 50), estimators))    # doctest: +SKIP
    """
    if not risks:
        raise InvalidInput("risks must not be empty; pass the result of risk_curve()")
    if len({r.metric.key for r in risks}) > 1:
        raise InvalidInput("risks must be of one metric; plot several metrics one at a time")
    lines: dict[str, tuple[list[int], list[float]]] = {}
    for r in sorted(risks, key=lambda r: r.n):
        x, y = lines.setdefault(r.estimator.label, ([], []))
        x.append(r.n)
        y.append(r.mse)
    return _curves(lines, title=f"Error of {risks[0].metric.name}", ylabel="mean squared error", ax=ax)


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


def _bands(
    x: Sequence[int], quantiles: Floats, *, middle: float | None, title: str, ylabel: str, ax: Any = None
) -> Any:
    """Quantiles by sample size, one row each: 10-90 % and 25-75 % as bands, the median as a line."""
    ax = _axes(ax)
    ax.fill_between(x, quantiles[:, 0], quantiles[:, 4], color=_SKY, alpha=0.4, lw=0, label="10-90 %")
    ax.fill_between(x, quantiles[:, 1], quantiles[:, 3], color=_BLUE, alpha=0.45, lw=0, label="25-75 %")
    ax.plot(x, quantiles[:, 2], color=_BLACK, lw=1.2, label="median")
    if middle is not None:
        ax.axhline(middle, color=_RED, ls="--", lw=1, label="the population's score")
    ax.set(xlabel="sample size n", ylabel=ylabel)
    ax.set_title(_text(title), fontsize=10, loc="left")
    ax.legend(frameon=False, fontsize=8)
    return ax


def _curves(
    lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, title: str, ylabel: str, ax: Any = None
) -> Any:
    """Lines by sample size on a logarithmic scale, each with its own dash pattern."""
    ax = _axes(ax)
    for i, (label, (x, y)) in enumerate(lines.items()):
        ax.plot(x, y, color=_COLOURS[i % 7], ls=_DASHES[i % 5], lw=1.5, label=label)
    ax.set(xlabel="sample size n", ylabel=ylabel, yscale="log")
    ax.set_title(_text(title), fontsize=10, loc="left")
    ax.grid(color="#dddddd", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    return ax
