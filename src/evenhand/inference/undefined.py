"""How many confusion matrices leave a metric undefined, and how probable they are.

A metric names the parts that must not be empty (`UndefinedSet`). The number of matrices on which
one is empty, and under any law their probability, follow by inclusion and exclusion. A metric of
two groups is undefined if it is undefined in either of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..confusion import as_size, count_matrices
from ..distributions import (
    LawName,
    Reference,
    law_of,
    references_of,
    undefined_probability_of as probability_of,
)
from ..errors import TooLarge
from ..metrics import PAPER_METRICS, Metric, metric as find_metric
from ..records import Record

Sizes = int | tuple[int, ...]
MetricLike = str | Metric

# Floats count up to here without gaps.
_MAX_CASES = 10**15


def count_undefined(metric: MetricLike, n: Sizes) -> int:
    """The exact number of confusion matrices of ``n`` cases on which a metric is undefined.

    There is a closed form for every metric, so ``n`` can be huge.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    n : int or (int, int)
        The number of cases; for a two-group metric a pair of sizes, and pairs of matrices are counted.

    Returns
    -------
    int
        The number of matrices, or of pairs; there are C(n + 3, 3) matrices.

    Examples
    --------
    Of the 10 matrices of two cases, 3 have no actual positive, so TPR is undefined:

    >>> count_undefined("tpr", 2)
    3
    >>> count_undefined("te", (5, 5))
    1911
    """
    m = find_metric(metric)
    total = defined = 1
    for size, undefined in zip(m.sizes(n), m.undefined_sets, strict=True):
        total *= count_matrices(size)
        defined *= count_matrices(size) - undefined.count(size)
    return total - defined


def undefined_probability(
    metric: MetricLike,
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
        The rates or counts that the group is sampled from. If None, all configurations are equally likely. A
        two-group metric takes one reference for both groups, or a list of two.
    law : {"multinomial", "predictive", "without_replacement"}
        ``"multinomial"``: the reference's rates are known. ``"predictive"``: its counts are evidence of them.
        ``"without_replacement"``: the group is sampled from its cases.
    prior : float
        Pseudo-counts per cell added to the reference under ``law="predictive"``.

    Returns
    -------
    float
        The probability.

    Examples
    --------
    With four equally likely cells, two cases are both actual negatives in 4 of 16 ways:

    >>> undefined_probability("tpr", 2, [1/4, 1/4, 1/4, 1/4])
    0.25
    """
    m = find_metric(metric)
    groups = zip(m.undefined_sets, m.sizes(n), references_of(m, reference), strict=True)
    p_undefined = 0.0
    for undefined, size, rates in groups:
        cells = law_of(rates, _check_cases(size), law, prior=prior)
        p_undefined += (1 - p_undefined) * probability_of(undefined, cells)
    return p_undefined


def _check_cases(n: int) -> int:
    """Refuse numbers of cases that floats cannot tell apart."""
    if as_size(n) > _MAX_CASES:
        raise TooLarge(f"`n` must be at most 1e15; got {n:,}")
    return n


@dataclass(frozen=True, slots=True, repr=False)
class UndefinedRow(Record):
    """A row of `undefined_table`: metrics with the same number of undefined matrices at every n.

    Attributes
    ----------
    metrics : tuple of str
        Their keys.
    count, total : int
        The number of matrices (or pairs of them) for which the metrics are undefined, and of all matrices.
    growth : str
        How the count grows with n.
    probability : float or None
        The probability of an undefined score; None without a reference.

    Examples
    --------
    >>> print(undefined_table(3, "tpr")[0])
    tpr: 4 of 20 configurations undefined, Θ(n)
    """

    metrics: tuple[str, ...]
    count: int
    total: int
    growth: str
    probability: float | None = None
    _derived = ("share",)

    @property
    def share(self) -> float:
        """The count as a share of all configurations.

        Examples
        --------
        >>> undefined_table(3, "tpr")[0].share
        0.2
        """
        return self.count / self.total

    def __str__(self) -> str:
        counts = f"{self.count} of {self.total} configurations undefined"
        return f"{' '.join(self.metrics)}: {counts}, {self.growth}"


def undefined_table(
    n: int, metrics: MetricLike | Sequence[MetricLike] | None = None, reference: Reference = None
) -> tuple[UndefinedRow, ...]:
    """Count the matrices of ``n`` cases for which each metric is undefined, as in the paper's Table 1.

    Parameters
    ----------
    n : int
        The number of cases; two-group metrics compare groups of ``n`` cases each.
    metrics : str, Metric or sequence of them, optional
        One row each. By default the paper's metrics, and MCC and PT with limits; metrics with the same count at every n
        then share a row.
    reference : ConfusionMatrix or four probabilities, optional
        Adds the probability of an undefined score in a group sampled with these rates; every metric then has its own
        row.

    Returns
    -------
    tuple of UndefinedRow
        The rows.

    Examples
    --------
    >>> [(row.metrics[0], row.count) for row in undefined_table(3, ["tpr", "mcc", "pt"])]
    [('tpr', 4), ('mcc', 12), ('pt', 12)]
    """
    size, is_grouped = _check_cases(n), metrics is None and reference is None
    if metrics is None:
        metrics = (*PAPER_METRICS, "mcc_limit", "pt_limit")
    rows: dict[object, list[Metric]] = {}
    for m in map(find_metric, [metrics] if isinstance(metrics, (str, Metric)) else metrics):
        counts = [count_undefined(m, (cases,) * m.groups) for cases in (12, 13)]
        rows.setdefault((m.shape, *counts) if is_grouped else len(rows), []).append(m)
    return tuple(_describe_row(alike, size, reference) for alike in rows.values())


def _describe_row(metrics: list[Metric], n: int, reference: Reference) -> UndefinedRow:
    """The row of metrics with the same counts."""
    m, keys = metrics[0], tuple(alike.key for alike in metrics)
    sizes, total = (n,) * m.groups, count_matrices(n) ** m.groups
    probability = None if reference is None else undefined_probability(m, sizes, reference)
    # Each undefined matrix is in a pair with all Θ(n³) matrices of the other group.
    others = 3 * (m.groups - 1)
    power = max(0 if s.degree is None else others + s.degree for s in m.undefined_sets)
    growth = ("1", "n", "n²", "n³", "n⁴", "n⁵")[power]
    has_ties = any(s.undefined_at_equal_rates for s in m.undefined_sets)
    more = " log n) on average" if has_ties and power == others + 1 else ")"
    return UndefinedRow(keys, count_undefined(m, sizes), total, f"Θ({growth}{more}", probability)
