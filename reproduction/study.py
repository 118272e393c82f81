"""The paper's experiment: ten groups, fifteen metrics, seven estimators and sample sizes from 5 to 149.

The paper draws a million random groups per point. Here every point is the exact expectation, so the whole experiment
takes seconds and has no Monte Carlo error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from operator import add
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame, MultiIndex

import evenhand as eh
from evenhand.errors import InvalidInput

Floats = NDArray[np.float64]
Groups = Mapping[str, eh.ConfusionMatrix]
Pair = tuple[eh.ConfusionMatrix, eh.ConfusionMatrix]
Moment = Literal["mse", "bias", "variance", "p_undefined"]
Item = TypeVar("Item")

Progress = Callable[[str, int, int], None]
"""Called with the name of a task, the number of steps done and their total."""

METRICS = ("acc", "prev", "ppr", "tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for", "mb", "f1", "mcc", "pt")
SIZES = tuple(range(5, 150))
ESTIMATORS = ("raw", "eps1e-10", "add1", "cps5", "cps10", "cps20", "cps40")
MOMENTS: tuple[Moment, ...] = get_args(Moment)


def estimators(reference: eh.ConfusionMatrix) -> list[eh.results.Estimator]:
    """The experiment's estimators, in the order of `ESTIMATORS`."""
    cps = [eh.CrossPrior(reference, strength) for strength in (5, 10, 20, 40)]
    return [eh.Raw(), eh.Additive(1e-10), eh.Additive(1), *cps]


def merge(groups: Groups) -> eh.ConfusionMatrix:
    """The confusion matrix of all groups together."""
    return reduce(add, groups.values())


def report_nothing(task: str, done: int, total: int) -> None:
    """Report no progress."""


class Study:
    """The groups, and the exact error of every estimator on them, computed on first use.

    Parameters
    ----------
    folktables : mapping of str to ConfusionMatrix, optional
        Matrices of the Folktables groups, in place of the bundled ones.
    metrics : sequence of str
        Keys of the metrics; all fifteen by default.
    sizes : sequence of int
        Sample sizes in ascending order, two or more; 5 to 149 by default.
    progress : callable
        Called as the work proceeds.
    """

    def __init__(
        self,
        folktables: Groups | None = None,
        *,
        metrics: Sequence[str] = METRICS,
        sizes: Sequence[int] = SIZES,
        progress: Progress = report_nothing,
    ) -> None:
        self.other_counts = folktables is not None
        self.folktables = folktables or eh.examples.folktables_income()
        needed = {"Multiracial", "White", "Pacific Islander", "Other"}
        for missing in sorted(needed - set(self.folktables)):
            raise InvalidInput(f"folktables must include the group {missing!r}, which the paper's figures show")
        self.compas = eh.examples.compas_violent()
        self.metrics = tuple(metrics)
        self.sizes = np.array(sizes)
        self.progress = progress

    def track(self, items: Sequence[Item], task: str) -> Iterator[Item]:
        """Iterate over items and report progress."""
        for done, item in enumerate(items, 1):
            yield item
            self.progress(task, done, len(items))

    @cached_property
    def groups(self) -> dict[str, Pair]:
        """The ten groups of the experiment, each with everyone else as its reference."""
        pairs: dict[str, Pair] = {}
        for data, groups in (("COMPAS", self.compas), ("Folktables", self.folktables)):
            everyone = merge(groups)
            for name, cm in groups.items():
                pairs[f"{data}/{name}"] = (cm, everyone - cm)
        # The other defendants only belong to references.
        del pairs["COMPAS/Other"]
        return pairs

    @cached_property
    def moments(self) -> Floats:
        """Moments of the errors: axes (moment, group, metric, estimator, n)."""
        shape = len(self.metrics), len(ESTIMATORS), len(self.sizes)
        moments = []
        for truth, reference in self.track(list(self.groups.values()), "exact errors by group"):
            risks = eh.risk(self.metrics, truth, self.sizes.tolist(), estimators(reference))
            rows = [[getattr(r, name) for r in risks] for name in MOMENTS]
            moments.append(np.reshape(rows, (len(MOMENTS), *shape)))
        return np.stack(moments, axis=1)

    def errors(self, estimator: str, moment: Moment = "mse") -> Floats:
        """A moment of an estimator's error: axes (group, metric, n)."""
        moments: Floats = self.moments[MOMENTS.index(moment)]
        return moments[:, :, ESTIMATORS.index(estimator)]

    def averages(self, estimator: str) -> Floats:
        """The mean squared error averaged over the groups, which the paper plots: axes (metric, n)."""
        averages: Floats = self.errors(estimator).mean(axis=0)
        return averages

    def curves(self, metric: str, estimator: str, moment: Moment = "mse") -> Floats:
        """A moment of an estimator's error for one metric: axes (group, n)."""
        return self.errors(estimator, moment)[:, self.metrics.index(metric)]

    def average(self, metric: str, estimator: str) -> Floats:
        """The averaged mean squared error for one metric, for every n."""
        average: Floats = self.averages(estimator)[self.metrics.index(metric)]
        return average

    def area(self, curves: Floats) -> Any:
        """The area under curves over n: the sum of their values where the sizes are consecutive."""
        return curves @ np.gradient(self.sizes)


def risk_table(study: Study) -> DataFrame:
    """The whole experiment, with one row per group, metric, estimator and n."""
    index = MultiIndex.from_product(
        [study.groups, study.metrics, ESTIMATORS, study.sizes],
        names=["group", "metric", "estimator", "n"],
    )
    columns = dict(zip(MOMENTS, study.moments.reshape(4, -1), strict=True))
    return DataFrame(columns, index).reset_index()
