"""The paper's experiment: ten groups, fifteen metrics, n = 5..149, and what every estimator makes of them.

The paper drew a million groups for each point. Here each point is the exact expectation, so the whole experiment takes
seconds and has no Monte Carlo error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from .parallel import Workers
from .table import Table

__all__ = ["ESTIMATORS", "METRICS", "SIZES", "Study", "estimators"]

Floats = NDArray[np.float64]
Pair = tuple[eh.ConfusionMatrix, eh.ConfusionMatrix]

METRICS = ("acc", "prev", "ppr", "tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for", "mb", "f1", "mcc", "pt")
SIZES = np.arange(5, 150)
ESTIMATORS = ("raw", "eps1e-10", "add1", "cps5", "cps10", "cps20", "cps40")


def estimators(reference: eh.ConfusionMatrix) -> list[eh.Estimator]:
    """The experiment's estimators, in the order of `ESTIMATORS`."""
    smoothed = [eh.CrossPrior(reference, strength) for strength in (5, 10, 20, 40)]
    return [eh.Raw(), eh.Additive(1e-10), eh.Additive(1), *smoothed]


class Study:
    """The groups, and the exact error of every estimator on them, computed when first asked for.

    Parameters
    ----------
    folktables : mapping of group to ConfusionMatrix
        Matrices of the Folktables groups in place of the shipped ones.
    workers : Workers
        Who does the work, and says how far it is.
    """

    def __init__(
        self,
        folktables: Mapping[str, eh.ConfusionMatrix] | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.compas = eh.examples.compas_violent()
        self.folktables = dict(folktables or eh.examples.folktables_income())
        missing = {"Multiracial", "White", "Pacific Islander", "Other"} - set(self.folktables)
        if missing:
            raise eh.InvalidInput(f"the paper's figures need the Folktables group {min(missing)!r}; it is not there")
        self.workers = workers or Workers()

    @cached_property
    def groups(self) -> dict[str, Pair]:
        """The groups of the experiment, each with everybody else as its reference."""
        found: dict[str, Pair] = {}
        for name, data in (("COMPAS", self.compas), ("Folktables", self.folktables)):
            everybody = sum(data.values(), eh.ConfusionMatrix(0, 0, 0, 0))
            found |= {f"{name}/{group}": (cm, everybody - cm) for group, cm in data.items()}
        # The paper's COMPAS groups are two; the others only belong to their references.
        del found["COMPAS/Other"]
        return found

    @cached_property
    def moments(self) -> Floats:
        """Mean squared error, bias, variance and P(undefined): axes (moment, group, metric, estimator, n)."""
        errors = self.workers.each(_errors, list(self.groups.values()), "exact errors, group by group")
        found: Floats = np.stack(errors, axis=1)
        return found

    def curves(self, metric: str, estimator: str, moment: int = 0) -> Floats:
        """The mean squared error (or another moment) of an estimator: a row for each group, a column for each n."""
        curves: Floats = self.moments[moment, :, METRICS.index(metric), ESTIMATORS.index(estimator)]
        return curves

    def average(self, metric: str, estimator: str) -> Floats:
        """The mean squared error over the groups, for each n: what the paper plots."""
        average: Floats = self.curves(metric, estimator).mean(axis=0)
        return average

    def table(self) -> Table:
        """The whole experiment, one row for each group, metric, estimator and n."""
        rows = [
            (group, metric, estimator, int(n), *(float(x) for x in self.moments[:, g, m, e, i]))
            for g, group in enumerate(self.groups)
            for m, metric in enumerate(METRICS)
            for e, estimator in enumerate(ESTIMATORS)
            for i, n in enumerate(SIZES)
        ]
        return Table(("group", "metric", "estimator", "n", "mse", "bias", "variance", "p_undefined"), rows)


def _errors(pair: Pair) -> Floats:
    truth, reference = pair
    found = eh.risk_curves(METRICS, truth, SIZES.tolist(), estimators(reference))
    moments = np.array([(r.mse, r.bias, r.variance, r.p_undefined) for r in found])
    return moments.T.reshape(4, len(METRICS), len(ESTIMATORS), len(SIZES))
