"""The picture of README: how often 95% intervals of small groups hold the truth, from docs/reference/evidence.md.

Run it with ``.venv/bin/python benchmarks/coverage_picture.py``; it writes docs/images/coverage.svg.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
SHOWN = {
    "evenhand": "evenhand",
    "fairlearn": "bootstrap (fairlearn)",
    "prob_conf_mat": "posterior, default prior (prob_conf_mat)",
    "normal (PyCM, statsmodels: default)": "normal approximation (statsmodels, PyCM)",
}
SIZES = (10, 20, 50, 100, 150)
COLOURS = ("#0072B2", "#D55E00", "#999999", "#CC79A7")


def coverages() -> dict[str, list[float]]:
    """The mean coverage of intervals of TPR by size, from the table on the page."""
    part = (DOCS / "reference" / "evidence.md").read_text("utf-8").split("| TPR | n = 10 |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in part.splitlines()]
    cells = {name: row for name, *row in rows}
    return {name: [float(cell.split()[0]) for cell in cells[name]] for name in SHOWN}


def main() -> None:
    """Draw the picture."""
    mpl.rcParams.update({"svg.hashsalt": "evenhand", "svg.fonttype": "path", "font.size": 9})
    figure, ax = plt.subplots(figsize=(6.4, 2.9), layout="constrained")
    ax.axhline(95, color="#444444", lw=0.8, ls=":")
    ax.annotate("what 95 % promises", (len(SIZES) - 1, 95), (0, 3), textcoords="offset points", ha="right", fontsize=8)
    for (name, values), colour in zip(coverages().items(), COLOURS, strict=True):
        ax.plot(range(len(SIZES)), values, "o-", color=colour, lw=2, ms=5, label=SHOWN[name])
    ax.set_xticks(range(len(SIZES)), [str(n) for n in SIZES])
    ax.set(xlabel="cases in the group", ylabel="intervals that hold\nthe true rate, in %", ylim=(30, 103))
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "images" / "coverage.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
