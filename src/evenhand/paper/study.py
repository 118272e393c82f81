"""The paper's experiment: ten groups, fifteen metrics, seven estimators and sample sizes from 5 to 149.

The paper draws a million random groups per point. Here every point is the exact expectation, so the whole experiment
takes seconds and has no Monte Carlo error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

import evenhand as eh
from evenhand.errors import InvalidInput

from .parallel import Workers
from .table import Table, Value

__all__ = ["ESTIMATORS", "METRICS", "SIZES", "Moment", "Study", "estimators"]

Floats = NDArray[np.float64]
Pair = tuple[eh.ConfusionMatrix, eh.ConfusionMatrix]
Moment = Literal["mse", "bias", "variance", "p_undefined"]

METRICS = ("acc", "prev", "ppr", "tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for", "mb", "f1", "mcc", "pt")
SIZES = np.arange(5, 150)
ESTIMATORS = ("raw", "eps1e-10", "add1", "cps5", "cps10", "cps20", "cps40")
_MOMENTS: tuple[Moment, ...] = get_args(Moment)


def estimators(reference: eh.ConfusionMatrix) -> list[eh.results.Estimator]:
    """The experiment's estimators, in the order of `ESTIMATORS`."""
    smoothed = [eh.CrossPrior(reference, strength) for strength in (5, 10, 20, 40)]
    return [eh.Raw(), eh.Additive(1e-10), eh.Additive(1), *smoothed]


class Study:
    """The groups and the exact error of every estimator on them, computed on first use.

    Parameters
    ----------
    folktables : mapping of str to ConfusionMatrix, optional
        Confusion matrices of the Folktables groups, in place of the bundled ones.
    workers : Workers, optional
        The processes that do the work. By default everything runs in this process.
    metrics : sequence of str
        Keys of the metrics; all fifteen by default.
    sizes : sequence of int
        Sample sizes in ascending order, two or more; 5 to 149 by default.
    """

    def __init__(
        self,
        folktables: Mapping[str, eh.ConfusionMatrix] | None = None,
        workers: Workers | None = None,
        *,
        metrics: Sequence[str] = METRICS,
        sizes: Sequence[int] | NDArray[np.int64] = SIZES,
    ) -> None:
        self.compas = eh.examples.compas_violent()
        self.folktables = dict(folktables or eh.examples.folktables_income())
        missing = {"Multiracial", "White", "Pacific Islander", "Other"} - set(self.folktables)
        if missing:
            raise InvalidInput(f"folktables must include the group {min(missing)!r}, which the paper's figures show")
        self.workers = workers or Workers()
        self.metrics = tuple(metrics)
        self.sizes = np.asarray(sizes)

    @cached_property
    def groups(self) -> dict[str, Pair]:
        """The ten groups of the experiment, each with everyone else as its reference."""
        pairs: dict[str, Pair] = {}
        for name, data in (("COMPAS", self.compas), ("Folktables", self.folktables)):
            everyone = sum(data.values(), eh.ConfusionMatrix(0, 0, 0, 0))
            pairs |= {f"{name}/{group}": (cm, everyone - cm) for group, cm in data.items()}
        # The paper studies two COMPAS groups; the other defendants only belong to their references.
        del pairs["COMPAS/Other"]
        return pairs

    @cached_property
    def moments(self) -> Floats:
        """Mean squared error, bias, variance and P(undefined): axes (moment, group, metric, estimator, n)."""
        work = partial(_moments, metrics=self.metrics, sizes=self.sizes.tolist())
        return np.stack(self.workers.each(work, list(self.groups.values()), "exact errors by group"), axis=1)

    def curves(self, metric: str, estimator: str, moment: Moment = "mse") -> Floats:
        """A moment of an estimator's error, with one row per group and one column per n."""
        at = _MOMENTS.index(moment), slice(None), self.metrics.index(metric), ESTIMATORS.index(estimator)
        curves: Floats = self.moments[at]
        return curves

    def average(self, metric: str, estimator: str) -> Floats:
        """The mean squared error averaged over the groups, for every n: the curves that the paper plots."""
        average: Floats = self.curves(metric, estimator).mean(axis=0)
        return average

    def area(self, curve: Floats) -> float:
        """The area under a curve over n: the sum of its values where the sizes are consecutive."""
        return float((curve * np.gradient(self.sizes)).sum())

    def table(self) -> Table:
        """The whole experiment, with one row per group, metric, estimator and n."""
        rows: list[tuple[Value, ...]] = [
            (group, metric, estimator, int(n), *(float(x) for x in self.moments[:, g, m, e, i]))
            for g, group in enumerate(self.groups)
            for m, metric in enumerate(self.metrics)
            for e, estimator in enumerate(ESTIMATORS)
            for i, n in enumerate(self.sizes)
        ]
        return Table(("group", "metric", "estimator", "n", *_MOMENTS), rows)


def _moments(pair: Pair, metrics: tuple[str, ...], sizes: list[int]) -> Floats:
    truth, reference = pair
    risks = eh.risk(metrics, truth, sizes, estimators(reference))
    moments = np.array([(r.mse, r.bias, r.variance, r.p_undefined) for r in risks])
    return moments.T.reshape(len(_MOMENTS), len(metrics), len(ESTIMATORS), len(sizes))
