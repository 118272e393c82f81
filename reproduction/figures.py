"""The paper's figures, drawn with matplotlib from the tables in the CSV files and from nothing else.

The colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines also differ in dash pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import TextPath
from matplotlib.ticker import LogLocator
from pandas import DataFrame

import evenhand as eh

from .figure_data import CUMULATIVE, DENSITIES, LARGEST_SHOWN

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PINK = "#0072B2", "#D55E00", "#CC79A7"
ESTIMATOR_LINES: dict[str, tuple[str, str, Any]] = {
    "raw": ("no smoothing", BLACK, "-"),
    "eps1e-10": ("ε = $10^{-10}$", ORANGE, (0, (5, 1.5))),
    "add1": ("add-one", PINK, (0, (1, 1))),
    "cps5": ("CPS, λ = 5", SKY, "-"),
    "cps10": ("CPS, λ = 10", GREEN, (0, (4, 1, 1, 1))),
    "cps20": ("CPS, λ = 20", BLUE, (0, (6, 2))),
    "cps40": ("CPS, λ = 40", RED, (0, (2, 1))),
}
SIZE_LINES: dict[int, tuple[str, Any]] = {
    5: (ORANGE, "-"),
    25: (SKY, (0, (6, 1.5))),
    100: (GREEN, (0, (3, 1.5))),
    1000: (BLUE, "-"),
}
LAWS = {"multinomial": "four cells of probability 1/4", "uniform": "equally likely configurations"}
NAMES = {"mcc_limit": "MCC, with limits", "te_part": "FN / FP, one term of TE"}
TITLE_SIZE = 8.5
LOWEST_DENSITY = 0.02
STYLE = Path(__file__).with_name("figures.mplstyle")


def save_figure(plot: Callable[[DataFrame], Figure], table: DataFrame, path: Path) -> list[Path]:
    """Plot a table and write ``path``.svg and ``path``.png; the same table always gives the same bytes."""
    svg, png = path.with_suffix(".svg"), path.with_suffix(".png")
    with style.context(STYLE):
        figure = plot(table)
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
        # Both files share one layout.
        figure.set_layout_engine("none")
        figure.savefig(png, dpi=160, metadata={"Software": None})
    return [svg, png]


def _make_axes(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    # Tick labels at the end of an axis reach beyond it.
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08)
    figure = Figure((width, height), layout=layout)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _metric_name(key: str) -> str:
    return NAMES.get(key, eh.metric(key).name)


def _set_title(ax: Axes, place: int, title: str) -> None:
    """Set a panel's letter and title, on as many lines as it takes to stay above the panel.

    ``place`` counts the panels from 0; after z come aa, ab and so on.
    """
    before, last = divmod(place, 26)
    letters = (ascii_lowercase[before - 1] if before else "") + ascii_lowercase[last]
    figure: Any = ax.figure
    room = 0.97 * 72 * ax.get_position().width * figure.get_size_inches()[0]
    lines: list[str] = []
    for part in title.split("\n"):
        for i, word in enumerate(part.split()):
            longer = f"{lines[-1]} {word}" if i else word
            shown = f"{letters}   {longer}" if len(lines) == 1 else longer
            if i and _text_width(shown) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
    text = rf"$\mathbf{{{letters}}}$  " + "\n".join(lines)
    ax.set_title(text, fontsize=TITLE_SIZE, loc="left")


def _text_width(text: str) -> float:
    """The width of a title in points."""
    path: Any = TextPath((0, 0), text, size=TITLE_SIZE)
    return float(path.get_extents().width)


def plot_variability(table: DataFrame, groups: tuple[str, ...]) -> Figure:
    """Figure 1: one row per group; with replacement on the left, without on the right."""
    figure, axes = _make_axes(len(groups), 2, 7.2, 2.7 * len(groups))
    panels = dict(list(table.groupby(["group", "replacement"])))
    for i, key in enumerate(product(groups, ("with", "without"))):
        ax, panel = axes.flat[i], panels[key]
        ax.fill_between(panel.n, panel.p10, panel.p90, color=SKY, alpha=0.35, lw=0, label="10–90%")
        ax.fill_between(panel.n, panel.p25, panel.p75, color=BLUE, alpha=0.45, lw=0, label="25–75%")
        ax.plot(panel.n, panel["median"], color=BLACK, lw=1.2, label="median")
        ax.axhline(panel.population.iloc[0], color=RED, ls="--", lw=1, label="whole group")
        ax.set(ylim=(0, 0.85), xlabel="sample size n", ylabel="predicted positive rate")
        _set_title(ax, i, "{}, {} replacement".format(*key))
    axes[0, 1].legend(loc="upper right", ncols=2)
    return figure


def plot_cumulative(table: DataFrame) -> Figure:
    """Figure 2: cumulative distributions of five scores, one row per distribution of the matrices."""
    figure, axes = _make_axes(2, len(CUMULATIVE), 10.5, 4.6)
    panels = dict(list(table.groupby(["law", "metric", "n"])))
    for i, (law, metric) in enumerate(product(LAWS, CUMULATIVE)):
        ax = axes.flat[i]
        low, high = eh.metric(metric).range
        for n in sorted(table.n.unique()):
            colour, dash = SIZE_LINES[n]
            panel = panels[law, metric, n]
            ax.plot(
                [low, *panel.score, high],
                [panel.probability.iloc[0], *panel.probability, 1.0],
                color=colour,
                ls=dash,
                label=f"n = {n:,}",
                drawstyle="steps-post" if n < 100 else "default",
            )
        ax.set(xlabel="score s", ylim=(-0.03, 1.03), xticks=(low, (low + high) / 2, high))
        _set_title(ax, i, _metric_name(metric))
    for row, law in zip(axes, LAWS.values(), strict=True):
        row[0].set_ylabel(f"P(S ≤ s)\n{law}")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def plot_densities(table: DataFrame) -> Figure:
    """Figure 2 as densities of ten scores, two rows per distribution of the matrices.

    Five cases have few possible scores, each drawn as a point on a stem; the probability of a point is spread over its
    bin, as that of the lines is.
    """
    figure, axes = _make_axes(4, 5, 10.5, 9.2)
    panels = dict(list(table.groupby(["law", "metric", "n"])))
    for i, (law, metric) in enumerate(product(LAWS, DENSITIES)):
        ax = axes.flat[i]
        for n in sorted(table.n.unique(), reverse=True):
            colour, dash = SIZE_LINES[n]
            panel = panels[law, metric, n]
            points = _density(panel.score.tolist(), panel.probability.tolist())
            if n < 10:
                points = [point for point in points if point[1] > LOWEST_DENSITY]
            x, y = zip(*points, strict=True)
            if n < 10:
                ax.vlines(x, LOWEST_DENSITY, y, color=colour, lw=1)
                ax.plot(x, y, "o", color=colour, ms=3.5, label=f"n = {n:,}", clip_on=False)
            else:
                ax.plot(x, y, color=colour, ls=dash, label=f"n = {n:,}", drawstyle="steps-mid")
        low, high = eh.metric(metric).range
        high = min(high, LARGEST_SHOWN)
        ax.set(xlabel="score", xlim=(low, high), yscale="log", ylim=(LOWEST_DENSITY, 60))
        ax.set_xticks([low, (low + high) / 2, high])
        _set_title(ax, i, _metric_name(metric))
    for i, law in enumerate(LAWS.values()):
        for row in axes[2 * i : 2 * i + 2]:
            row[0].set_ylabel(f"density\n{law}")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=4)
    return figure


def _density(scores: list[float], probabilities: list[float]) -> list[tuple[float, float]]:
    """Middles of bins and probability per unit of score.

    A fine grid is grouped into 25 bins centred on multiples of 1/25 of the range, so that no bin holds more of the
    possible scores of 5 or 25 cases than its neighbours. A coarse grid is used as it is.
    """
    edges, reached = scores, probabilities[1:]
    if len(scores) > 100:
        edges = [scores[0], *scores[3:-1:6], scores[-1]]
        reached = [*probabilities[3:-1:6], probabilities[-1]]
    width = edges[2] - edges[1]
    middles = ((a + b) / 2 for a, b in pairwise(edges))
    heights = ((q - p) / width for p, q in pairwise([0.0, *reached]))
    return list(zip(middles, heights, strict=True))


def _plot_errors(ax: Axes, curves: DataFrame) -> None:
    for estimator, curve in curves.groupby("estimator", sort=False):
        label, colour, dash = ESTIMATOR_LINES[estimator]
        ax.plot(curve.n, curve.mse, color=colour, ls=dash, label=label)
    ax.set(xlabel="sample size n", ylabel="mean squared error", yscale="log", xlim=(5, 149))
    ax.set_xticks([5, 50, 100, 149])
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


def plot_averages(table: DataFrame, metrics: Sequence[str], columns: int) -> Figure:
    """Mean squared errors over n, averaged over the groups, one panel per metric."""
    rows = -(-len(metrics) // columns)
    figure, axes = _make_axes(rows, columns, 3.3 * columns + 1.2, 2.4 * rows + 0.7)
    averages = table[table.group == "average"]
    for i, metric in enumerate(metrics):
        _plot_errors(axes.flat[i], averages[averages.metric == metric])
        _set_title(axes.flat[i], i, _metric_name(metric))
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4 if columns > 1 else 3)
    return figure


def plot_groups(table: DataFrame, metrics: Sequence[str]) -> Figure:
    """Mean squared errors over n in a grid, one panel per group and metric; panels of a metric share their scale."""
    groups = [group for group in table.group.unique() if group != "average"]
    shown = list(product(groups, metrics))
    columns = {1: 5, 2: 4}.get(len(metrics), len(metrics))
    rows = -(-len(shown) // columns)
    row_height = 2.1 if len(metrics) > 1 else 2.3
    figure, axes = _make_axes(rows, columns, 12.6, row_height * rows + 0.6)
    panels = dict(list(table.groupby(["group", "metric"])))
    first: dict[str, Axes] = {}
    for i, (group, metric) in enumerate(shown):
        ax = axes.flat[i]
        if first.setdefault(metric, ax) is not ax:
            ax.sharey(first[metric])
        _plot_errors(ax, panels[group, metric])
        _set_title(ax, i, group if len(metrics) == 1 else f"{group}\n{_metric_name(metric)}")
        ax.set_xlabel("sample size n" if i + columns >= len(shown) else "")
        ax.set_ylabel("mean squared error" if i % columns == 0 else "")
    for ax in axes.flat[len(shown) :]:
        ax.remove()
    handles = axes[0, 0].get_legend_handles_labels()
    title = _metric_name(metrics[0]) if len(metrics) == 1 else None
    figure.legend(*handles, loc="outside upper center", ncols=len(handles[0]), title=title)
    return figure


def plot_agreement(table: DataFrame) -> Figure:
    """Differences between simulated and exact errors, in standard errors."""
    figure, axes = _make_axes(1, 1, 7.2, 2.8)
    ax, sizes = axes[0, 0], list(table.n.unique())
    ax.axhspan(-1.96, 1.96, color=SKY, alpha=0.25, lw=0, label="expected for 95%")
    colours = (BLACK, RED, GREEN, PINK, BLUE)
    for i, (metric, panel) in enumerate(table.groupby("metric", sort=False)):
        x = [sizes.index(n) + 0.12 * i for n in panel.n]
        marker, colour = "o^svD"[i % 5], colours[i % 5]
        ax.plot(x, panel.z, marker, color=colour, ms=3, label=_metric_name(metric))
    ax.set(xlabel="sample size n", ylabel="(simulated − exact) / standard error")
    ax.set_xticks(range(len(sizes)), sizes)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
