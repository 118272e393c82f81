"""What is drawn of groups and distributions: Matplotlib axes in, axes out; nothing is shown or saved.

Drawing knows marks, bars and curves, not audits or tests: these say what is to be drawn of them. Colours are those of
Okabe and Ito, which stay apart for colour-blind readers, and no meaning is carried by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import MissingExtra, printable

__all__ = ["Mark", "bands", "bars", "curves", "forest"]

Floats = NDArray[np.float64]

_BLACK, _ORANGE, _SKY, _GREEN, _BLUE, _RED, _PINK = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#0072B2", "#D55E00", "#CC79A7"),
)
_GREY = "#666666"
_MOST_BARS = 150


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of a forest plot: a score with its interval, what it is compared with, and how it is judged."""

    label: str
    score: float | None
    low: float | None
    high: float | None
    reference: float | None
    smoothed: float | None
    verdict: str
    note: str = ""


# Shape and colour of each verdict; a hollow mark claims nothing.
_VERDICTS = {
    "differs (higher)": ("^", _RED, True),
    "differs (lower)": ("v", _BLUE, True),
    "no evidence of a difference": ("o", _GREEN, True),
    "too small to tell": ("s", _GREY, False),
    "undefined": ("X", _GREY, False),
    "reference": ("D", _BLACK, True),
}


def _axes(ax: Any, height: float = 3.6) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise MissingExtra.named("plots", "plotting") from None
    return pyplot.subplots(figsize=(7.2, height), layout="constrained")[1]


def _text(text: str) -> str:
    """Text from data as text: nothing in it is taken for a formula."""
    return printable(text).replace("$", r"\$")


def forest(marks: Sequence[Mark], *, title: str, xlabel: str, ax: Any = None) -> Any:
    """Scores with their intervals, one below the other, raw and smoothed, beside what they are compared with."""
    ax = _axes(ax, 1.4 + 0.34 * len(marks))
    shown = set()
    for y, mark in enumerate(marks):
        shape, colour, filled = _VERDICTS[mark.verdict]
        if mark.low is not None and mark.high is not None:
            ax.plot([mark.low, mark.high], [y, y], color=colour, lw=1.6, ls="-" if filled else (0, (3, 1.5)), zorder=2)
        if mark.reference is not None:
            label = None if "reference" in shown else "reference's score"
            ax.plot([mark.reference] * 2, [y - 0.36, y + 0.36], color=_BLACK, lw=1.2, ls=":", zorder=1, label=label)
            shown.add("reference")
        if mark.smoothed is not None:
            label = None if "smoothed" in shown else "smoothed score"
            ax.plot(mark.smoothed, y + 0.22, "d", ms=4.5, mfc="white", mec=_PINK, mew=1.2, zorder=3, label=label)
            shown.add("smoothed")
        if mark.score is not None:
            label = None if mark.verdict in shown else mark.verdict
            face = colour if filled else "white"
            ax.plot(mark.score, y, shape, ms=7, mfc=face, mec=colour, mew=1.4, zorder=4, label=label)
            shown.add(mark.verdict)
        if mark.note:
            ax.annotate(_text(mark.note), (0.02, y - 0.2), xycoords=("axes fraction", "data"), fontsize=7, color=_GREY)
    ax.set_yticks(range(len(marks)), [_text(mark.label) for mark in marks])
    ax.set_ylim(len(marks) - 0.4, -0.6)
    ax.set_xlabel(xlabel)
    ax.set_title(_text(title), fontsize=10, loc="left")
    ax.grid(axis="x", color="#dddddd", lw=0.5)
    ax.set_axisbelow(True)
    if shown:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
    return ax


def bars(
    scores: Floats,
    probabilities: Floats,
    *,
    title: str,
    xlabel: str,
    observed: float | None = None,
    tail: str | None = None,
    ax: Any = None,
) -> Any:
    """A distribution as bars, one for each score or, if they are many, for each bin; the tail up to a score shaded."""
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


def bands(x: Sequence[int], quantiles: Floats, *, middle: float, title: str, ylabel: str, ax: Any = None) -> Any:
    """Quantiles over a size: 10-90 % and 25-75 % as bands, the median as a line. Rows of ``quantiles`` are sizes."""
    ax = _axes(ax)
    ax.fill_between(x, quantiles[:, 0], quantiles[:, 4], color=_SKY, alpha=0.4, lw=0, label="10-90 %")
    ax.fill_between(x, quantiles[:, 1], quantiles[:, 3], color=_BLUE, alpha=0.45, lw=0, label="25-75 %")
    ax.plot(x, quantiles[:, 2], color=_BLACK, lw=1.2, label="median")
    ax.axhline(middle, color=_RED, ls="--", lw=1, label="the population's score")
    ax.set(xlabel="sample size n", ylabel=ylabel)
    ax.set_title(_text(title), fontsize=10, loc="left")
    ax.legend(frameon=False, fontsize=8)
    return ax


def curves(
    lines: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, title: str, ylabel: str, ax: Any = None
) -> Any:
    """Lines over a size, on a logarithmic scale, each with a dash of its own."""
    ax = _axes(ax)
    colours = (_BLACK, _SKY, _GREEN, _BLUE, _RED, _ORANGE, _PINK)
    dashes: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (2, 1)), (0, (1, 1)))
    for i, (label, (x, y)) in enumerate(lines.items()):
        ax.plot(x, y, color=colours[i % 7], ls=dashes[i % 5], lw=1.5, label=label)
    ax.set(xlabel="sample size n", ylabel=ylabel, yscale="log")
    ax.set_title(_text(title), fontsize=10, loc="left")
    ax.grid(color="#dddddd", lw=0.5)
    ax.legend(frameon=False, fontsize=8)
    return ax
