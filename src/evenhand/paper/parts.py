"""The parts of the reproduction: what each is called, says, computes and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import draw, figures, montecarlo, tables
from .study import ESTIMATORS, METRICS, Study
from .table import Table

__all__ = ["PARTS", "Part", "drawn_part"]

Pictures = dict[str, Callable[[Table], Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """A figure or table: the table behind it, and the pictures drawn from that table, by file name."""

    name: str
    title: str
    says: str
    table: Callable[[Study], Table]
    pictures: Pictures


def _errors(name: str, title: str, says: str, metrics: str, estimators: str, columns: int = 2) -> Part:
    keys = tuple(metrics.split())
    return Part(
        name,
        title,
        says,
        partial(figures.error_curves, metrics=keys, estimators=tuple(estimators.split())),
        {
            name: partial(draw.curves_on_average, metrics=keys, columns=min(columns, len(keys))),
            f"{name}_groups": partial(draw.curves_by_group, metrics=keys),
        },
    )


PARTS = (
    Part(
        "figure1",
        "Figure 1: the predicted positive rate of small groups",
        "Exact quantiles of the rate in groups of n people drawn from the whole group, with replacement and, as "
        "published, without. The bands jump from one n to the next because only n + 1 rates are possible; the first "
        "picture shows the paper's group, the second two more.",
        figures.variability,
        {
            "figure1": partial(draw.variability, groups=("Multiracial",)),
            "figure1_supplement": partial(draw.variability, groups=("White", "Pacific Islander")),
        },
    ),
    Part(
        "figure2",
        "Figure 2: how distributions of scores change with n",
        "Upper half: four cells of probability 1/4, which is what the paper drew. Lower half: all configurations "
        "alike, which is what its text says; there nothing converges to a point. The second "
        "picture shows densities. Scores are given that they are defined. FN / FP, which has no upper end, is shown up "
        "to 4.",
        figures.shift,
        {"figure2": draw.shifts, "figure2_density": draw.densities},
    ),
    _errors(
        "figure3",
        "Figure 3: the error of scores with a tiny ε and with CPS",
        "Averaged over the ten groups CPS with λ = 5 is below the baseline at every n. The first rise of the true "
        "positive rate comes from ε, which turns undefined rates into 1/2.",
        "mcc fpr tpr pt",
        "eps1e-10 cps5",
    ),
    _errors(
        "figure4",
        "Figure 4: prevalence, raw, add-one and CPS",
        "Averaged over the groups CPS has the smallest error, and adding one to each cell a larger one than the raw "
        "score. In single groups whose prevalence is unlike the rest, such as Folktables/Other, CPS is worse than the "
        "raw score.",
        "prev",
        "raw add1 cps5 cps10 cps20",
    ),
    _errors(
        "figure5",
        "Figure 5: metrics with and without undefined cases (the paper's Figures 5 and 6)",
        "Where scores can be undefined the tiny ε matters, for better or worse; where they cannot, its curve lies on "
        "that of the raw score.",
        "tpr mcc acc mb",
        "raw eps1e-10 cps5 cps20",
    ),
    _errors(
        "figure6",
        "Figure 6: add-one is not reliable (the paper's Figure 7)",
        "Averaged over the groups, adding one to each cell is worse than the raw score for prevalence, and better than "
        "CPS with λ = 10 for the false negative rate.",
        "prev fnr",
        "raw add1 cps5 cps10 cps20",
    ),
    Part(
        "appendix",
        "Appendix: all fifteen metrics",
        "Averaged over the ten groups, every estimator. TPR and FNR, FPR and TNR, PPV and FDR, NPV and FOR have the "
        "same errors, so eleven of the fifteen curves differ.",
        partial(figures.error_curves, metrics=METRICS, estimators=ESTIMATORS, by_group=False),
        {"appendix": partial(draw.curves_on_average, metrics=METRICS, columns=3)},
    ),
    Part(
        "table1",
        "Table 1: undefined cases",
        "The paper's formula, the count of this library and brute force. PT's upper bound fails for every n from 4 to "
        "2766, and the undefined cases of treatment equality are pairs.",
        tables.undefined_cases,
        {},
    ),
    Part(
        "table2",
        "Table 2: priors for the Black group of COMPAS",
        "As printed, FN and FP are swapped and “all other races” are all defendants. Put right, CPS is closest in "
        "total, but for the false positives a uniform prior is twice as close.",
        tables.priors,
        {},
    ),
    Part(
        "risk",
        "The whole experiment",
        "Mean squared error, bias, variance and probability of being undefined, for every group, metric, estimator "
        "and n.",
        Study.table,
        {},
    ),
)


def drawn_part(metrics: Sequence[str], draws: int, seed: int) -> Part:
    """The paper's own way, for some metrics."""
    return Part(
        "monte_carlo",
        "The paper's way: random groups",
        f"Mean squared errors from {draws:,} random groups for each point (seed {seed}) beside the exact ones, for "
        "every group. About 95 % of the differences should lie within 1.96 standard errors.",
        partial(montecarlo.compare, metrics=metrics, draws=draws, seed=seed),
        {"monte_carlo": draw.agreement},
    )
