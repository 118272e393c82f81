"""Difference, ratio, smallest and largest score over groups, as fairlearn's `MetricFrame` summarises them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, get_args

from ..auditing import Audit
from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName, printable
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..records import Record
from ..tabulate import as_counts
from .aggregates import Aggregate, Scored, aggregate, check_choice, check_draws, check_level, named
from .simultaneous import Method, box_of

__all__ = ["GroupSummaries", "summaries"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupSummaries(Record):
    """The scores of all groups in five numbers, each with an interval.

    Attributes
    ----------
    metric : str
        The key of the metric.
    groups : int
        The number of groups for which it is defined. The summaries are about these.
    difference, ratio : Aggregate
        The largest minus the smallest score, and the smallest over the largest; or the largest difference and the
        smallest ratio to the score of all cases. With a p-value that all groups are alike.
    group_min, group_max, overall : Aggregate
        The smallest and the largest score, and the score of all cases, without a p-value.
    intervals : str
        What the intervals of the groups are, from which those of the summaries follow.
    undefined : dict of str to str
        The groups that are left out because their score is undefined, and why.

    Examples
    --------
    >>> found = summaries({"a": (3, 1, 0, 6), "b": (30, 30, 9, 40), "c": (0, 0, 4, 9)}, "tpr")
    >>> round(found.difference.estimate, 3), round(found.difference.high, 3)
    (0.25, 0.645)
    >>> found.undefined
    {'c': 'no actual positives (TP + FN = 0)'}
    """

    metric: str
    groups: int
    difference: Aggregate
    ratio: Aggregate
    group_min: Aggregate
    group_max: Aggregate
    overall: Aggregate
    intervals: str
    undefined: dict[str, str]

    def __str__(self) -> str:
        found = (self.difference, self.ratio, self.group_min, self.group_max, self.overall)
        shown = [str(one).splitlines()[0] for one in found]
        left_out = [f"{printable(group)} is left out: {why}" for group, why in self.undefined.items()]
        return "\n".join(
            [
                f"{self.metric} of {self.groups} group{'s' * (self.groups != 1)}",
                *shown,
                *left_out,
            ]
        )


def summaries(
    data: Audit | Mapping[Any, Any],
    metric: str | Metric,
    *,
    by: str | None = None,
    method: Method = "between_groups",
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
) -> GroupSummaries:
    """Summarise the scores of all groups: difference, ratio, smallest, largest and overall, with intervals.

    Every group gets an interval at the level ``level ** (1 / k)``, where k is the number of groups, so that all of
    them contain the true scores together with probability ``level``. The intervals of difference, ratio, smallest and
    largest score are what these allow. For scores that depend on one rate, the groups' intervals are Clopper and
    Pearson's, so these four cover at least at the level, all at once; they are wider than an interval for one
    difference of two groups, which `disparity` gives. The interval of the overall score has the level on its own.
    Intervals of other scores are posterior ones, whose coverage is about the level.

    Parameters
    ----------
    data : Audit, or mapping of group to ConfusionMatrix or to tp, fn, fp, tn
        The groups.
    metric : str or Metric
        A metric of one group. An audit need not contain it.
    by : str, optional
        The group column of an audit, or the name of a crossing; by default the first column.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases. The latter is for proportions only.
    level : float
        The level of all intervals.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.

    Returns
    -------
    GroupSummaries
        Groups whose score is undefined are left out and named.

    Examples
    --------
    >>> print(summaries({"a": (3, 1, 0, 6), "b": (30, 30, 9, 40), "c": (0, 0, 4, 9)}, "tpr"))
    tpr of 2 groups
    difference 0.25, 95 % interval 0 to 0.6455, p-value 0.614 (exact permutation)
    ratio 0.6667, 95 % interval 0.2357 to 1, p-value 0.614 (exact permutation)
    group_min 0.5, 95 % interval 0.1529 to 0.6487
    group_max 0.75, 95 % interval 0.3513 to 0.9968
    overall 0.5156, 95 % interval 0.3873 to 0.6425
    c is left out: no actual positives (TP + FN = 0)
    """
    m = find_metric(metric)
    if m.comparisons:
        raise InvalidInput(f"{m.key} compares two groups; use the one-group metric ({m.base.key})")
    check_choice("method", method, get_args(Method))
    check_level(level)
    check_draws(draws, seed)
    if method == "to_overall" and not m.base.is_rate:
        raise InvalidInput(f"method='to_overall' needs a metric that is a proportion of cases, and {m.key} is not one")
    if isinstance(data, Audit):
        counts = _of_audit(data, by, selects=m.key in ("ppr", "pnr"))
    elif by is not None:
        raise InvalidInput("by is for audits, and the groups were given as counts")
    else:
        counts = _sorted(data)
    scored = Scored.of(m.base, counts)
    both = {
        kind: aggregate(kind, kind, [scored], method=method, level=level, draws=draws, seed=seed)
        for kind in ("difference", "ratio")
    }
    return GroupSummaries(
        metric=m.key,
        groups=len(scored.groups),
        difference=both["difference"],
        ratio=both["ratio"],
        group_min=_summary(scored, "group_min", level),
        group_max=_summary(scored, "group_max", level),
        overall=_summary(scored, "overall", level),
        intervals="Clopper-Pearson" if m.base.curve is not None else "posterior, Beta(0.5, 0.5) on each split",
        undefined=scored.undefined,
    )


def _summary(scored: Scored, name: str, level: float) -> Aggregate:
    """The smallest or the largest score of the groups, or the score of all cases."""
    m = scored.metric
    overall = name == "overall"
    cells = scored.everybody[None] if overall else scored.cells
    scores = m.scores(cells)
    undefined = {m.key: scored.undefined} if scored.undefined and not overall else {}
    estimate, low, high = nan, nan, nan
    groups: dict[str, tuple[str, ...]] = {}
    reason = m.why_undefined(scored.everybody) if overall else f"{m.key} is undefined in every group"
    if len(scores) and not isnan(scores[0]):
        at = int(scores.argmax() if name == "group_max" else scores.argmin())
        box = box_of(m, cells, level)
        low, high = box.largest if name == "group_max" else box.smallest
        estimate, reason = float(scores[at]), None
        groups = {} if overall else {m.key: (scored.groups[at],)}
    return Aggregate(
        name=name,
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        pvalue=None,
        test=None,
        decided_by=groups,
        undefined=undefined,
        reason=reason,
    )


def _of_audit(audit: Audit, by: str | None, selects: bool) -> list[tuple[str, ConfusionMatrix]]:
    """The counts of the groups of one column, from the rows of an audit."""
    columns = list(dict.fromkeys(row.by for row in audit.rows))
    chosen = audit.settings["groups"][0] if by is None else by
    if chosen not in columns:
        raise UnknownName.among("group column of this audit", chosen, columns)
    if selects and audit.settings["selection"] == "all":
        raise InvalidInput("the audit counts selections without labels, which its cells lack; pass counts instead")
    found: dict[str, ConfusionMatrix] = {}
    for row in audit.rows:
        if row.by == chosen and row.tp is not None:
            found.setdefault(row.group, ConfusionMatrix(row.tp, *(count or 0 for count in (row.fn, row.fp, row.tn))))
    if not found:
        raise InvalidInput("the audit must have labels; pass counts instead")
    return _sorted(found)


def _sorted(counts: Mapping[Any, Any]) -> list[tuple[str, ConfusionMatrix]]:
    """The groups in an order that does not depend on how they were given."""
    return [(named(key), cm) for key, cm in as_counts(counts, "group").cells.items()]
