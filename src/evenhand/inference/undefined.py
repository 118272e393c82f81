"""Undefined cases: how many matrices leave a metric undefined, which ones, and their probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from ..cells import as_size, count_matrices
from ..errors import InvalidInput
from ..laws import LawName, Reference, hole_probability, law_of, references_of
from ..metrics import CATALOGUE, Average, Metric, metric as find_metric, summary_of
from ..records import Record
from .class_undefined import count_of_classes

__all__ = ["UndefinedRow", "count_undefined", "undefined_probability", "undefined_table"]

Sizes = int | tuple[int, int]


def count_undefined(
    metric: str | Metric,
    n: Sizes,
    *,
    classes: int | None = None,
    average: Average | None = None,
    label: int | None = None,
) -> int:
    """The exact number of confusion matrices of ``n`` cases on which a metric is undefined.

    There is a closed form for every metric of two classes, so ``n`` can be huge.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    n : int or (int, int)
        The number of cases; for a two-group metric a pair of sizes, and pairs of matrices are counted.
    classes : int, optional
        The number K of classes, if K x K matrices are counted.
    average : {"micro", "macro", "weighted"}, optional
        An average over K classes, which is undefined if a class that counts has no score.
    label : int, optional
        One of the classes 0, ..., K - 1, against the rest; the count is the same for each. Without ``average`` and
        ``label``, the metric must be defined for all classes at once: acc, inacc, balanced_accuracy, mcc or kappa.

    Returns
    -------
    int
        The number of matrices, or of pairs; there are C(n + 3, 3) matrices, or C(n + K² - 1, n) of K classes.

    Examples
    --------
    Of the 10 matrices of two cases, 3 have no actual positive, so TPR is undefined:

    >>> count_undefined("tpr", 2)
    3
    >>> count_undefined("te", (5, 5))
    1911

    One case and three classes: of the 9 matrices, 6 have no case of a given class. Each of them lacks cases of some
    class, and none has no cases at all:

    >>> count_undefined("tpr", 1, classes=3, label=0)
    6
    >>> count_undefined("tpr", 1, classes=3, average="macro"), count_undefined("acc", 1, classes=3)
    (9, 0)
    """
    m = find_metric(metric)
    if classes is not None:
        k = as_size(classes, "classes")
        if k == 0:
            raise InvalidInput(argument="classes", must="be at least 1", got=k)
        return count_of_classes(summary_of(m, range(k), average, label), as_size(n), k)  # type: ignore[arg-type]
    if average is not None or label is not None:
        raise InvalidInput("`average` and `label` are for several classes; pass their number as `classes=`")
    sizes = m.sizes(n)
    defined = prod(count_matrices(size) - holes.count(size) for size, holes in zip(sizes, m.holes, strict=True))
    return prod(map(count_matrices, sizes)) - defined


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
    undefined = 0.0
    for size, ref, holes in zip(m.sizes(n), references_of(m, reference), m.holes, strict=True):
        undefined += (1 - undefined) * hole_probability(holes, law_of(ref, size, law, prior=prior))
    return undefined


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
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
    _derived: ClassVar[tuple[str, ...]] = ("share",)

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
        return f"{' '.join(self.metrics)}: {self.count} of {self.total} configurations undefined, {self.growth}"


def undefined_table(
    n: int,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    reference: Reference = None,
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
    size = as_size(n)
    if metrics is None:
        chosen = [*CATALOGUE.paper, find_metric("mcc_limit"), find_metric("pt_limit")]
        groups = _counted_alike(chosen) if reference is None else [[m] for m in chosen]
    else:
        groups = [[find_metric(m)] for m in ([metrics] if isinstance(metrics, (str, Metric)) else metrics)]
    return tuple(_row(group, size, reference) for group in groups)


def _counted_alike(metrics: Sequence[Metric]) -> list[list[Metric]]:
    """Lists of metrics with the same shape and the same sizes of holes, and so the same counts."""
    alike: dict[object, list[Metric]] = {}
    for m in metrics:
        holes = tuple((h.apart, tuple(sorted(len(part.cells) for part in h.needs))) for h in m.holes)
        alike.setdefault((m.shape, m.kind, holes), []).append(m)
    return list(alike.values())


def _row(same: list[Metric], n: int, reference: Reference) -> UndefinedRow:
    m = same[0]
    sizes: Sizes = (n, n) if m.groups == 2 else n
    return UndefinedRow(
        metrics=tuple(s.key for s in same),
        count=count_undefined(m, sizes),
        total=count_matrices(n) ** m.groups,
        growth=_growth(m),
        probability=undefined_probability(m, sizes, reference) if reference is not None else None,
    )


def _growth(m: Metric) -> str:
    # A hole of one group counts once per matrix of the other group, of which there are Θ(n³).
    others = 3 * (m.groups - 1)
    power = max((h.degree + others for h in m.holes if h.degree is not None), default=0)
    term = f"n{'⁰¹²³⁴⁵'[power]}" if power > 1 else ("n" if power else "1")
    return f"Θ({term} log n) on average" if any(h.apart for h in m.holes) and power == 1 + others else f"Θ({term})"
