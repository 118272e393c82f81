"""Plots over sample sizes: how much a score jumps about, and how large its error is. Extra ``plots``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..cells import ConfusionMatrix, as_size
from ..drawing import bands, curves
from ..errors import InvalidInput
from ..inference import Risk
from ..laws import distribution
from ..laws.reference import LawName
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric

__all__ = ["plot_jaggedness", "plot_risk"]

_LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


def plot_jaggedness(
    metric: str | Metric,
    reference: ConfusionMatrix | ArrayLike,
    n: Iterable[int] = range(5, 50),
    *,
    law: LawName = "multinomial",
    ax: Any = None,
) -> Any:
    """Exact quantiles of a score over groups of n cases drawn like the reference, for each n (the paper's Figure 1).

    Quantiles jump from one n to the next, since only few scores are possible in a small group.
    """
    m = find_metric(metric)
    if not isinstance(m, OneGroup):
        raise InvalidInput(f"{m.key} compares two groups; plot_jaggedness() takes a metric of one group")
    sizes = [as_size(size) for size in n]
    if not sizes:
        raise InvalidInput("n must name at least one sample size")
    quantiles = np.array([distribution(m, size, reference, law=law).quantile(_LEVELS) for size in sizes])
    whole = float(m(reference) if isinstance(reference, ConfusionMatrix) else m(np.asarray(reference)))
    return bands(sizes, quantiles, middle=whole, title=f"{m.name} of small groups", ylabel=m.key, ax=ax)


def plot_risk(found: Sequence[Risk], *, ax: Any = None) -> Any:
    """Mean squared errors over n, as `risk_curve` gives them, a line for each estimator."""
    if not found:
        raise InvalidInput("there is nothing to plot; risk_curve() gives the errors")
    if len({r.metric.key for r in found}) > 1:
        raise InvalidInput("the errors are of several metrics; plot one of them at a time")
    lines: dict[str, tuple[list[int], list[float]]] = {}
    for r in sorted(found, key=lambda r: r.n):
        x, y = lines.setdefault(r.estimator.label, ([], []))
        x.append(r.n)
        y.append(r.mse)
    return curves(lines, title=f"Error of {found[0].metric.name}", ylabel="mean squared error", ax=ax)
