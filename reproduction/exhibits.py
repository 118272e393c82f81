"""The figures and tables of the reproduction: their data and plots. What the page says of them is in exhibits.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from matplotlib.figure import Figure
from pandas import DataFrame

from . import figures
from .figure_data import compute_errors, compute_shifts, compute_variability
from .monte_carlo import compare_with_draws
from .study import ESTIMATORS, METRICS, Study, risk_table
from .tables import compute_table_1, compute_table_2

Compute = Callable[[Study], DataFrame]
Plots = dict[str, Callable[[DataFrame], Figure]]

_TEXTS = tomllib.loads(files("reproduction").joinpath("exhibits.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure or table of the paper: how to compute its data, and the plots of these data by file name."""

    name: str
    title: str
    caption: str
    compute: Compute
    plots: Plots


def _exhibit(name: str, compute: Compute, plots: Plots | None = None, **values: int) -> Exhibit:
    title, caption = _TEXTS[name]["title"], _TEXTS[name]["caption"].format(**values)
    return Exhibit(name, title, caption, compute, plots or {})


def _error_exhibit(name: str, metrics: str, estimators: str) -> Exhibit:
    keys = metrics.split()
    averages = partial(figures.plot_averages, metrics=keys, columns=min(2, len(keys)))
    groups = partial(figures.plot_groups, metrics=keys)
    compute = partial(compute_errors, metrics=keys, estimators=estimators.split())
    return _exhibit(name, compute, {name: averages, f"{name}_groups": groups})


EXHIBITS = (
    _exhibit(
        "figure1",
        compute_variability,
        {
            "figure1": partial(figures.plot_variability, groups=("Multiracial",)),
            "figure1_supplement": partial(figures.plot_variability, groups=("White", "Pacific Islander")),
        },
    ),
    _exhibit(
        "figure2",
        compute_shifts,
        {"figure2": figures.plot_cumulative, "figure2_density": figures.plot_densities},
    ),
    _error_exhibit("figure3", "mcc fpr tpr pt", "eps1e-10 cps5"),
    _error_exhibit("figure4", "prev", "raw add1 cps5 cps10 cps20"),
    _error_exhibit("figure5", "tpr mcc acc mb", "raw eps1e-10 cps5 cps20"),
    _error_exhibit("figure6", "prev fnr", "raw add1 cps5 cps10 cps20"),
    _exhibit(
        "appendix",
        partial(compute_errors, metrics=METRICS, estimators=ESTIMATORS, by_group=False),
        {"appendix": partial(figures.plot_averages, metrics=METRICS, columns=3)},
    ),
    _exhibit("table1", compute_table_1),
    _exhibit("table2", compute_table_2),
    _exhibit("risk", risk_table),
)


def monte_carlo_exhibit(metrics: Sequence[str], draws: int, rng: int) -> Exhibit:
    """The paper's own method for some of the metrics, compared with the exact errors."""
    compute = partial(compare_with_draws, metrics=metrics, draws=draws, rng=rng)
    return _exhibit("monte_carlo", compute, {"monte_carlo": figures.plot_agreement}, draws=draws, rng=rng)
