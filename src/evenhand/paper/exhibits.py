"""The figures and tables of the reproduction: their titles, captions, data and plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from . import figure_data, figures, montecarlo, tables
from .study import ESTIMATORS, METRICS, Study
from .table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXHIBITS", "Exhibit", "monte_carlo_exhibit"]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure or table of the paper: how to compute its data, and the plots of these data by file name."""

    name: str
    title: str
    caption: str
    compute: Callable[[Study], Table]
    plots: dict[str, Callable[[Table], Figure]]


def _error_curves(name: str, title: str, caption: str, metrics: str, estimators: str, columns: int = 2) -> Exhibit:
    keys = tuple(metrics.split())
    return Exhibit(
        name,
        title,
        caption,
        partial(figure_data.error_curves, metrics=keys, estimators=tuple(estimators.split())),
        {
            name: partial(figures.curves_on_average, metrics=keys, columns=min(columns, len(keys))),
            f"{name}_groups": partial(figures.curves_by_group, metrics=keys),
        },
    )


EXHIBITS = (
    Exhibit(
        "figure1",
        "Figure 1: the predicted positive rate of small groups",
        "Exact quantiles of the rate in samples of n people from the whole group, with replacement and, as in the "
        "paper, without. The bands jump from one n to the next because only n + 1 rates are possible. The first plot "
        "shows the paper's group, the second two more groups.",
        figure_data.variability,
        {
            "figure1": partial(figures.variability, groups=("Multiracial",)),
            "figure1_supplement": partial(figures.variability, groups=("White", "Pacific Islander")),
        },
    ),
    Exhibit(
        "figure2",
        "Figure 2: how the distributions of scores change with n",
        "Top: four cells with probability 1/4 each, which is what the paper simulated. Bottom: all configurations "
        "equally likely, which is what its text describes; there the scores do not converge to a point. The second "
        "plot shows densities, those of five cases as points. All distributions are conditional on the score being "
        "defined. FN / FP is unbounded and is shown up to 4.",
        figure_data.shift,
        {"figure2": figures.shifts, "figure2_density": figures.densities},
    ),
    _error_curves(
        "figure3",
        "Figure 3: the error of scores with a tiny ε and with CPS",
        "Averaged over the ten groups, CPS with λ = 5 is below the baseline at every n. The initial rise of the true "
        "positive rate comes from ε, which turns undefined rates into 1/2.",
        "mcc fpr tpr pt",
        "eps1e-10 cps5",
    ),
    _error_curves(
        "figure4",
        "Figure 4: prevalence with no smoothing, add-one and CPS",
        "Averaged over the groups, CPS has the smallest error, and add-one has a larger error than no smoothing. In "
        "groups whose prevalence differs from the rest, such as Folktables/Other, CPS is worse than no smoothing.",
        "prev",
        "raw add1 cps5 cps10 cps20",
    ),
    _error_curves(
        "figure5",
        "Figure 5: metrics with and without undefined cases (the paper's Figures 5 and 6)",
        "Where scores can be undefined, the tiny ε changes the error, for better or worse. Where they cannot, its "
        "curve coincides with that of the raw score.",
        "tpr mcc acc mb",
        "raw eps1e-10 cps5 cps20",
    ),
    _error_curves(
        "figure6",
        "Figure 6: add-one smoothing is inconsistent (the paper's Figure 7)",
        "Averaged over the groups, add-one is worse than no smoothing for prevalence, and better than CPS with λ = 10 "
        "for the false negative rate.",
        "prev fnr",
        "raw add1 cps5 cps10 cps20",
    ),
    Exhibit(
        "appendix",
        "Appendix: all fifteen metrics",
        "Every estimator, averaged over the ten groups. TPR and FNR have the same errors, as do FPR and TNR, PPV and "
        "FDR, NPV and FOR, so eleven of the fifteen sets of curves are distinct.",
        partial(figure_data.error_curves, metrics=METRICS, estimators=ESTIMATORS, by_group=False),
        {"appendix": partial(figures.curves_on_average, metrics=METRICS, columns=3)},
    ),
    Exhibit(
        "table1",
        "Table 1: undefined cases",
        "The paper's formula, the library's count and a brute-force count. PT's upper bound fails for every n from 4 "
        "to 2766, and the undefined cases of treatment equality must be counted as pairs of matrices.",
        tables.undefined_cases,
        {},
    ),
    Exhibit(
        "table2",
        "Table 2: priors for the Black group of COMPAS",
        "In the printed table FN and FP are swapped, and “all other races” are all defendants. In the corrected "
        "table CPS is the closest prior in total, but for false positives the uniform prior is twice as close.",
        tables.priors,
        {},
    ),
    Exhibit(
        "risk",
        "The whole experiment",
        "Mean squared error, bias, variance and probability of an undefined score for every group, metric, estimator "
        "and n.",
        Study.table,
        {},
    ),
)


def monte_carlo_exhibit(metrics: Sequence[str], draws: int, rng: montecarlo.Rng) -> Exhibit:
    """The paper's own method for some of the metrics, compared with the exact errors."""
    named = f" (seed {rng})" if isinstance(rng, int) else ""
    return Exhibit(
        "monte_carlo",
        "The paper's method: random groups",
        f"Mean squared errors from {draws:,} random groups per point{named} and the exact errors, for every "
        "group. About 95 % of the differences should lie within 1.96 standard errors.",
        partial(montecarlo.compare, metrics=metrics, draws=draws, rng=rng),
        {"monte_carlo": figures.agreement},
    )
