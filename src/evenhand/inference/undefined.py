"""Undefined cases: how many matrices leave a metric without a score, which, and how likely they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, log, prod

import numpy as np
from numpy.typing import NDArray

from ..cells import as_size, count_matrices, enumerate_matrices
from ..errors import TooLarge
from ..laws import LawName, Reference, hole_probability, law_of, references_of, sizes_of
from ..metrics import Metric
from ..metrics import metric as find_metric

__all__ = [
    "UndefinedRow",
    "count_undefined",
    "undefined_cases",
    "undefined_probability",
    "undefined_table",
]

Sizes = int | tuple[int, int]

_MOST_PAIRS = 2**24

# The paper's Table 1, metrics with the same count in one row, and the two with their holes filled.
_TABLE_1 = (
    ("acc", "prev", "ppr", "inacc", "nprev", "pnr"),
    ("mb",),
    ("ofi",),
    ("f1",),
    ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for"),
    ("mcc",),
    ("pt",),
    ("te",),
    ("f1_original",),
    ("mcc_limit",),
    ("pt_limit",),
)


def count_undefined(metric: str | Metric, n: Sizes) -> int:
    """The exact number of confusion matrices of ``n`` cases on which a metric is undefined.

    A closed form for every metric, so ``n`` may be huge. Two-group metrics take ``n=(n1, n2)`` and count pairs.

    Of the 10 matrices of two cases, 3 have no actual positive, so TPR has no value:

    >>> count_undefined("tpr", 2)
    3
    >>> count_undefined("te", (5, 5))
    1911
    """
    m = find_metric(metric)
    sizes = sizes_of(m, n)
    defined = prod(count_matrices(size) - holes.count(size) for size, holes in zip(sizes, m.holes, strict=True))
    return prod(map(count_matrices, sizes)) - defined


def undefined_cases(metric: str | Metric, n: Sizes) -> NDArray[np.int64]:
    """The matrices on which a metric is undefined: shape (count, 4), or (count, 2, 4) for two groups.

    >>> undefined_cases("f1", 3)
    array([[0, 0, 0, 3]])
    """
    m = find_metric(metric)
    sizes = sizes_of(m, n)
    if len(sizes) == 1:
        return m.holes[0].list(sizes[0])
    if prod(map(count_matrices, sizes)) > _MOST_PAIRS:
        raise TooLarge(f"a list of pairs for n = {sizes} is past the budget; count_undefined needs no list")
    groups = [enumerate_matrices(size) for size in sizes]
    hole1, hole2 = (h.at(g.astype(np.float64)) for h, g in zip(m.holes, groups, strict=True))
    i, j = np.nonzero(hole1[:, None] | hole2[None, :])
    return np.stack([groups[0][i], groups[1][j]], axis=1)


def undefined_probability(
    metric: str | Metric,
    n: Sizes,
    reference: Reference | Sequence[Reference] = None,
    *,
    law: LawName = "multinomial",
    prior: float = 0.5,
) -> float:
    """The exact probability that a metric is undefined on a group of ``n`` cases.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    n : int or (int, int)
        The number of cases; a pair for a two-group metric.
    reference : ConfusionMatrix, four probabilities or None
        What the group is drawn like; None makes every configuration equally likely. For a two-group metric,
        one reference for both groups or a list of two.
    law : {"multinomial", "predictive", "without_replacement"}
        Whether the reference's rates are known, uncertain, or its cases are drawn themselves.
    prior : float
        Pseudo-counts a cell added to the reference under ``law="predictive"``.

    Examples
    --------
    With four equally likely cells, two cases are both actual negatives in 4 of 16 ways:

    >>> undefined_probability("tpr", 2, [1/4, 1/4, 1/4, 1/4])
    0.25
    """
    m = find_metric(metric)
    undefined = 0.0
    for size, ref, holes in zip(sizes_of(m, n), references_of(m, reference), m.holes, strict=True):
        undefined += (1 - undefined) * hole_probability(holes, law_of(ref, size, law, prior=prior))
    return undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class UndefinedRow:
    """One row of Table 1: metrics that are undefined equally often among all matrices of ``n`` cases.

    ``paper`` and ``erratum`` are set where the paper's figure is another; ``probability`` if a reference was given.
    """

    metrics: tuple[str, ...]
    count: int
    total: int
    growth: str
    paper: str | None = None
    erratum: str | None = None
    probability: float | None = None

    @property
    def share(self) -> float:
        """The count as a share of all configurations."""
        return self.count / self.total


def undefined_table(
    n: int,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    reference: Reference = None,
) -> tuple[UndefinedRow, ...]:
    """The paper's Table 1 for this ``n``, or the same for chosen metrics; two groups are of ``n`` cases each.

    >>> [(row.metrics[0], row.count) for row in undefined_table(3, ["tpr", "mcc", "pt"])]
    [('tpr', 4), ('mcc', 12), ('pt', 12)]
    """
    size = as_size(n)
    if metrics is None:
        # Metrics of one row share a count, but not a probability.
        rows = _TABLE_1 if reference is None else tuple((key,) for keys in _TABLE_1 for key in keys)
        groups = [[find_metric(key) for key in keys] for keys in rows]
    else:
        groups = [[find_metric(m)] for m in ([metrics] if isinstance(metrics, (str, Metric)) else metrics)]
    return tuple(_row(group, size, reference) for group in groups)


def _row(same: list[Metric], n: int, reference: Reference) -> UndefinedRow:
    m = same[0]
    sizes: Sizes = (n, n) if m.groups == 2 else n
    paper, erratum = _paper_count(m.key, n)
    return UndefinedRow(
        metrics=tuple(s.key for s in same),
        count=count_undefined(m, sizes),
        total=count_matrices(n) ** m.groups,
        growth=_growth(m),
        paper=paper,
        erratum=erratum,
        probability=undefined_probability(m, sizes, reference) if reference is not None else None,
    )


def _growth(m: Metric) -> str:
    # A hole of one group counts once for each of the Θ(n³) matrices of the other.
    others = 3 * (m.groups - 1)
    power = max((h.degree + others for h in m.holes if h.degree is not None), default=0)
    term = f"n{'⁰¹²³⁴⁵'[power]}" if power > 1 else ("n" if power else "1")
    return f"Θ({term} log n) on average" if any(h.apart for h in m.holes) and power == 1 + others else f"Θ({term})"


def _paper_count(key: str, n: int) -> tuple[str | None, str | None]:
    """What the paper prints where it is wrong, with the erratum's number."""
    if key == "te":
        return str(2 * comb(n + 2, 2) - 1), "E3"
    if key == "pt" and 3 <= n <= 10**15:
        # The paper's bound uses Robin's constant e^gamma for the sum of divisors.
        bound = exp(np.euler_gamma) * n * log(log(n)) + 0.6483 * n / log(log(n))
        return f"≥ {2 * n + 2} and < {bound:.1f}", "E1"
    return None, None
