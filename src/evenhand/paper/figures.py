"""The paper's figures, drawn with matplotlib from the tables in the CSV files and from nothing else.

The colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines also differ in dash pattern.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import evenhand as eh

from .figure_data import DENSITIES, SHIFTED
from .table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["agreement", "curves_by_group", "curves_on_average", "densities", "save_figure", "shifts", "variability"]

_BLACK, _ORANGE, _SKY, _GREEN, _BLUE, _RED, _PINK = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
_LINES = {
    "raw": ("no smoothing", _BLACK, "-"),
    "eps1e-10": ("ε = $10^{-10}$", _ORANGE, (0, (5, 1.5))),
    "add1": ("add-one", _PINK, (0, (1, 1))),
    "cps5": ("CPS, λ = 5", _SKY, "-"),
    "cps10": ("CPS, λ = 10", _GREEN, (0, (4, 1, 1, 1))),
    "cps20": ("CPS, λ = 20", _BLUE, (0, (6, 2))),
    "cps40": ("CPS, λ = 40", _RED, (0, (2, 1))),
}
_SIZES = {5: (_ORANGE, "-"), 25: (_SKY, (0, (6, 1.5))), 100: (_GREEN, (0, (3, 1.5))), 1000: (_BLUE, "-")}
_TITLE = 8.5
_FEW, _LOWEST_DENSITY = 10, 0.02
_LAWS = {"multinomial": "four cells of probability 1/4", "uniform": "equally likely configurations"}
_SETTINGS: Any = {
    "svg.hashsalt": "evenhand",
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


def save_figure(plot: Callable[[Table], Figure], table: Table, path: Path) -> list[Path]:
    """Plot a table and write ``path``.svg and ``path``.png; the same table always gives the same bytes."""
    from matplotlib import rc_context

    files = [path.with_suffix(".svg"), path.with_suffix(".png")]
    with rc_context(_SETTINGS):
        figure = plot(table)
        figure.savefig(files[0], metadata={"Date": None, "Creator": None})
        # Both files share one layout.
        figure.set_layout_engine("none")
        figure.savefig(files[1], dpi=160, metadata={"Software": None})
    return files


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # Tick labels at the end of an axis reach beyond it.
    figure = Figure(size, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    return figure, figure.subplots(rows, columns, squeeze=False)


def _name(key: str) -> str:
    named = {"mcc_limit": "MCC, with limits", "te_part": "FN / FP, one term of TE", "ppr": "Predicted positive rate"}
    return named.get(key, eh.metric(key).name)


def _title(ax: Axes, place: int, title: str) -> None:
    """A panel's letter and title, on as many lines as it takes to stay above the panel.

    ``place`` counts the panels from 0; after z come aa, ab and so on.
    """
    before, last = divmod(place, 26)
    letters = (ascii_lowercase[before - 1] if before else "") + ascii_lowercase[last]
    room = 0.97 * 72 * ax.get_position().width * ax.figure.get_size_inches()[0]  # type: ignore[union-attr]
    lines: list[str] = []
    for part in title.split("\n"):
        for i, word in enumerate(part.split()):
            longer = f"{lines[-1]} {word}" if i else word
            beside = f"{letters}   " if len(lines) == 1 else ""
            if i and _points(beside + longer) <= room:
                lines[-1] = longer
            else:
                lines.append(word)
    ax.set_title(rf"$\mathbf{{{letters}}}$  " + "\n".join(lines), fontsize=_TITLE, loc="left")


def _points(text: str) -> float:
    """The width of a title in points."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=_TITLE).get_extents().width)


def variability(table: Table, groups: tuple[str, ...]) -> Figure:
    """Figure 1: one row per group; with replacement on the left, without on the right."""
    figure, axes = _figure(len(groups), 2, (7.2, 2.7 * len(groups)))
    panels = table.by("group", "replacement")
    shown = [(group, replacement) for group in groups for replacement in ("with", "without")]
    for i, (ax, (group, replacement)) in enumerate(zip(axes.ravel(), shown, strict=True)):
        panel = panels[group, replacement]
        ax.fill_between(panel["n"], panel["p10"], panel["p90"], color=_SKY, alpha=0.35, lw=0, label="10–90 %")
        ax.fill_between(panel["n"], panel["p25"], panel["p75"], color=_BLUE, alpha=0.45, lw=0, label="25–75 %")
        ax.plot(panel["n"], panel["median"], color=_BLACK, lw=1.2, label="median")
        ax.axhline(panel["population"][0], color=_RED, ls="--", lw=1, label="whole group")
        ax.set(ylim=(0, 0.85), xlabel="sample size n", ylabel="predicted positive rate")
        _title(ax, i, f"{group}, {replacement} replacement")
    axes[0, 1].legend(loc="upper right", ncols=2)
    return figure


def shifts(table: Table) -> Figure:
    """Figure 2: cumulative distributions of five scores, one row per distribution of the matrices."""
    figure, axes = _figure(2, len(SHIFTED), (10.5, 4.6))
    panels = table.by("law", "metric", "n")
    for i, (row, law) in enumerate(zip(axes, _LAWS, strict=True)):
        for j, (ax, metric) in enumerate(zip(row, SHIFTED, strict=True)):
            for n in sorted(table.distinct("n")):
                colour, dash = _SIZES[n]
                panel = panels[law, metric, n]
                low, high = eh.metric(metric).range
                scores = [low, *panel["score"], high]
                heights = [panel["probability"][0], *panel["probability"], 1.0]
                style = "steps-post" if n < 100 else "default"
                ax.plot(scores, heights, color=colour, ls=dash, label=f"n = {n:,}", drawstyle=style)
            ax.set(xlabel="score s", ylim=(-0.03, 1.03), xticks=(low, (low + high) / 2, high))
            _title(ax, len(SHIFTED) * i + j, _name(metric))
        row[0].set_ylabel(f"P(S ≤ s)\n{_LAWS[law]}")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def densities(table: Table) -> Figure:
    """Figure 2 as densities of ten scores, two rows per distribution of the matrices.

    Five cases have few possible scores, each drawn as a point on a stem; the probability of a point is spread over its
    bin, as that of the lines is.
    """
    metrics = (*SHIFTED, *DENSITIES)
    figure, axes = _figure(4, 5, (10.5, 9.2))
    panels = table.by("law", "metric", "n")
    for i, (ax, (law, metric)) in enumerate(
        zip(axes.ravel(), [(law, metric) for law in _LAWS for metric in metrics], strict=True)
    ):
        for n in sorted(table.distinct("n"), reverse=True):
            colour, dash = _SIZES[n]
            x, y = _density(panels[law, metric, n]["score"], panels[law, metric, n]["probability"])
            if n < _FEW:
                points = [(a, b) for a, b in zip(x, y, strict=True) if b > _LOWEST_DENSITY]
                ax.vlines([a for a, _ in points], _LOWEST_DENSITY, [b for _, b in points], color=colour, lw=1)
                ax.plot(*zip(*points, strict=True), "o", color=colour, ms=3.5, label=f"n = {n:,}", clip_on=False)
            else:
                ax.plot(x, y, color=colour, ls=dash, label=f"n = {n:,}", drawstyle="steps-mid")
        low, high = eh.metric(metric).range
        high = min(high, 4)
        ax.set(xlabel="score", xlim=(low, high), yscale="log", ylim=(_LOWEST_DENSITY, 60))
        ax.set_xticks([low, (low + high) / 2, high])
        _title(ax, i, _name(metric))
    for row, law in zip(axes, (law for law in _LAWS for _ in range(2)), strict=True):
        row[0].set_ylabel(f"density\n{_LAWS[law]}")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=4)
    return figure


def _density(scores: list[float], probabilities: list[float]) -> tuple[list[float], list[float]]:
    """Probability per unit of score.

    A fine grid is grouped into 25 bins centred on multiples of 1/25 of the range, so that no bin holds more of the
    possible scores of 5 or 25 cases than its neighbours. A coarse grid is used as it is.
    """
    fine = len(scores) > 100
    edges = [scores[0], *scores[3:-1:6], scores[-1]] if fine else scores
    reached = [0.0, *probabilities[3:-1:6], probabilities[-1]] if fine else [0.0, *probabilities[1:]]
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    width = edges[2] - edges[1]
    return middles, [(q - p) / width for p, q in pairwise(reached)]


def _curves(ax: Axes, curves: Table) -> None:
    from matplotlib.ticker import LogLocator

    for estimator, curve in curves.by("estimator").items():
        label, colour, dash = _LINES[estimator]
        ax.plot(curve["n"], curve["mse"], color=colour, ls=dash, label=label)
    ax.set(xlabel="sample size n", ylabel="mean squared error", yscale="log", xlim=(5, 149))
    ax.set_xticks([5, 50, 100, 149])
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


def curves_on_average(table: Table, metrics: tuple[str, ...], columns: int) -> Figure:
    """Mean squared errors over n, averaged over the groups, one panel per metric."""
    rows = -(-len(metrics) // columns)
    figure, axes = _figure(rows, columns, (3.3 * columns + 1.2, 2.4 * rows + 0.7))
    panels = table.by("group", "metric")
    for i, (ax, metric) in enumerate(zip(axes.ravel(), metrics, strict=True)):
        _curves(ax, panels["average", metric])
        _title(ax, i, _name(metric))
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4 if columns > 1 else 3)
    return figure


def curves_by_group(table: Table, metrics: tuple[str, ...]) -> Figure:
    """Mean squared errors over n in a grid, one panel per group and metric; panels of a metric share their scale."""
    groups = [g for g in table.distinct("group") if g != "average"]
    shown = [(group, metric) for group in groups for metric in metrics]
    columns = {1: 5, 2: 4}.get(len(metrics), len(metrics))
    rows = -(-len(shown) // columns)
    figure, axes = _figure(rows, columns, (12.6, (2.1 if len(metrics) > 1 else 2.3) * rows + 0.6))
    panels = table.by("group", "metric")
    first: dict[str, Axes] = {}
    for i, (ax, (group, metric)) in enumerate(zip(axes.ravel(), shown, strict=False)):
        if first.setdefault(metric, ax) is not ax:
            ax.sharey(first[metric])
        _curves(ax, panels[group, metric])
        _title(ax, i, group if len(metrics) == 1 else f"{group}\n{_name(metric)}")
        ax.set_xlabel("sample size n" if i + columns >= len(shown) else "")
        ax.set_ylabel("mean squared error" if i % columns == 0 else "")
    for ax in axes.ravel()[len(shown) :]:
        ax.remove()
    handles = axes[0, 0].get_legend_handles_labels()
    title = _name(metrics[0]) if len(metrics) == 1 else None
    figure.legend(*handles, loc="outside upper center", ncols=len(handles[0]), title=title)
    return figure


def agreement(table: Table) -> Figure:
    """Differences between simulated and exact errors, in standard errors."""
    figure, axes = _figure(1, 1, (7.2, 2.8))
    ax = axes[0, 0]
    sizes = table.distinct("n")
    ax.axhspan(-1.96, 1.96, color=_SKY, alpha=0.25, lw=0, label="expected for 95 %")
    for i, (metric, panel) in enumerate(table.by("metric").items()):
        x = [sizes.index(n) + 0.12 * i for n in panel["n"]]
        ax.plot(
            x, panel["z"], "o^svD"[i % 5], color=(_BLACK, _RED, _GREEN, _PINK, _BLUE)[i % 5], ms=3, label=_name(metric)
        )
    ax.set(
        xlabel="sample size n",
        ylabel="(simulated − exact) / standard error",
        xticks=range(len(sizes)),
        xticklabels=sizes,
    )
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
