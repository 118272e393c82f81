"""The results of an audit as one table: a struct of arrays, with one record per column.

Frames, JSON, the schema and the documentation read `COLUMNS`. Rows are views of the table. Numbers
that do not exist are nan, texts that do not exist None; in JSON both are null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..arrays import Array, Bools, choose
from ..confusion import CELLS
from ..errors import printable
from ..inference import FOUR_FIFTHS, TwoRates
from ..records import plain_value, reach
from ..wording import legible, number, numbered
from .comparisons import Comparisons
from .metric_selection import lookup_metric
from .settings import ReferenceKind
from .verdict import Verdict

if TYPE_CHECKING:
    from .evaluate_counts import ComparedCounts
    from .multiplicity import Families

AXES = ("threshold", "class", "stratum", "model", "against")


class Column(NamedTuple):
    """A column of the table.

    ``kind`` is "text", "count" (a whole number) or "number"; ``is_shown`` says whether `to_frame`
    has it without being asked for all columns.
    """

    name: str
    kind: Literal["text", "count", "number"]
    meaning: str
    is_shown: bool = False


_MEANINGS = {
    "by": "the group column, or the intersection of several",
    "group": "the group",
    "metric": "the key of the metric, or the name of the function",
    "question": "what is tested: equal scores, one distribution, a change (of a gap), or a goal",
    "n": "cases of the group",
    "support": "cases in the smallest denominator of the score",
    "n_effective": "independent cases that the support is worth, with weights or clusters",
    "correlation": "intra-class correlation, with clusters",
    **{
        cell: f"the group's {cell.upper()}; sums of weights if cases are weighted" for cell in CELLS
    },
    "score": "the group's score; of changes of gaps, its change",
    "low": "lower end of the confidence interval of the score",
    "high": "upper end of the confidence interval of the score",
    "before": "the score that a change is from",
    "gained": "cases that are counted in the score, and were not before the change",
    "lost": "cases that were counted in the score before the change only",
    "reference": "what the group is compared with: of a change, the other model",
    "reference_kind": "rest, all, group, matrix, model or goal",
    "reference_n": "cases of the reference",
    **{f"reference_{cell}": f"the reference's {cell.upper()}" for cell in CELLS},
    "reference_score": "the score of the reference, or its change; of a change, the score before; the goal",
    "reference_before": "the reference's score that a change is from",
    "gap_kind": "difference, ratio or odds ratio",
    "gap": "the group's score against the reference's",
    "gap_low": "lower end of the confidence interval of the gap",
    "gap_high": "upper end of the confidence interval of the gap",
    "at_least": "bound of the size of a gap that was found, if its size is claimed",
    "at_most": "bound of the size of a gap that was found, if its size is claimed",
    "pvalue": "p-value of the test",
    "p_adjusted": "p-value adjusted for multiple tests",
    "p_error": "standard error of a p-value from random draws",
    "method": "how the p-value was computed",
    "direction": "where the test points: higher or lower",
    "verdict": "the verdict",
    "reason": "why the score or its comparison is undefined",
    "margin": "the largest gap that does not matter; of ratios, the largest factor",
    "simultaneous_bound": "at_least of every gap found, by bounds that hold for the whole audit",
    "percentile": "P(S <= observed) of the MATCH test",
    "p_undefined": "probability that the score of such a group is undefined",
    "smoothed": "the score after Cross-Prior Smoothing",
    "shrinkage": "the share of the gap that smoothing leaves, for a rate",
    "strength": "pseudo-cases of the prior, if one number holds for all splits",
    "strength_prev": "pseudo-cases of the prior for the prevalence",
    "strength_tpr": "pseudo-cases of the prior for the true positive rate",
    "strength_fpr": "pseudo-cases of the prior for the false positive rate",
    "impact_ratio": "favourable rate divided by the highest",
    "impact_low": "lower end of its interval, for whichever group is highest",
    "impact_high": "upper end of its interval",
    "impact_at_most": "bound of the impact ratio that holds for the whole audit",
    "impact_group": "the group with the highest favourable rate",
    "impact_n": "cases of that group",
    "driver": "the group of the rest without which the verdict would be another",
    "driver_verdict": "the verdict without it",
    "driver_gap": "the gap without it",
    "driver_gap_low": "lower end of the interval of the gap without it",
    "driver_gap_high": "upper end of the interval of the gap without it",
    "unknown_n": "cases of unknown group that the score could count",
    "tipping_point": "how many of them would leave no difference",
    **{
        f"unknown_{name}_{end}": f"{bound} {name} over all ways to assign them"
        for name in ("score", "difference", "ratio")
        for end, bound in (("low", "smallest"), ("high", "largest"))
    },
    "required_n": "support needed to find a gap of the margin with 80% power",
    "strata_higher": "strata in which the group's rate is higher",
    "strata_lower": "strata in which it is lower",
    "strata_silent": "strata that are not informative",
    "crude_odds_ratio": "odds ratio without strata",
    "crude_pvalue": "p-value without strata",
    "varies_groups": "groups of the column with cases in the denominator",
    "varies_pvalue": "p-value of equal scores in all of them",
    "varies_adjusted": "the same, adjusted over the metrics and columns of a place",
    "spread_low": "lower end of the interval of the case-weighted s.d. of their true rates",
    "spread_high": "upper end of that interval",
    "baseline": "accuracy of always predicting the commoner class, of all cases together",
    "p_gate": "p-value adjusted over the whole audit by Holm's method, which gates use",
}
_KINDS: dict[Literal["text", "count"], str] = {
    "text": "by group metric question reference reference_kind gap_kind method direction verdict "
    "reason impact_group driver driver_verdict",
    "count": "n support reference_n",
}
_SHOWN = (
    "by group metric n support score low high reference reference_score gap gap_low gap_high "
    "at_least pvalue p_adjusted verdict reason"
)
KIND_OF = dict.fromkeys(_MEANINGS, "number") | {
    name: kind for kind, names in _KINDS.items() for name in names.split()
}
COLUMNS = tuple(
    Column(name, KIND_OF[name], meaning, name in _SHOWN.split())  # type: ignore[arg-type]
    for name, meaning in _MEANINGS.items()
)
"""The columns of the table, after those of the axes."""


def empty_column(kind: str, length: int) -> Array:
    """A column in which nothing exists."""
    if kind == "text":
        return np.full(length, None, dtype=object)
    return np.zeros(length, np.int64) if kind == "count" else np.full(length, np.nan)


class Evaluation(NamedTuple):
    """What is computed at once, of one or more metrics and their comparisons, one below the other.

    ``columns`` has those of `COLUMNS` that there are. Beside these, ``bound_gaps(rows, level)`` has
    the intervals of gaps at another confidence level, and ``pairs`` the counts of exact tests.
    ``counts`` are those behind tests of counts, and ``rows`` the places in the table.
    """

    scored: Sequence[tuple[Any, Comparisons]]
    columns: dict[str, Any]
    counts: ComparedCounts | None = None
    rows: slice = slice(0)


def count_rows(evaluation: Evaluation) -> int:
    """How many rows an evaluation has."""
    return sum(len(comparisons) for _, comparisons in evaluation.scored)


class Block(NamedTuple):
    """The rows of one metric and one set of comparisons, which stand together."""

    metric: Any
    comparisons: Comparisons
    rows: slice


@dataclass(frozen=True, eq=False)
class ResultsTable:
    """The rows of an audit, by column.

    Attributes
    ----------
    axes : tuple of str
        The axes of the audit.
    columns : mapping of str to array
        The axes and `COLUMNS`, each with one value per row.
    evaluations : tuple of Evaluation
        While an audit is made: what the rows were computed from.
    families : Families or None
        While an audit is made: which p-values are adjusted together.
    """

    axes: tuple[str, ...]
    columns: Mapping[str, Array]
    evaluations: tuple[Evaluation, ...] = field(default=(), repr=False)
    families: Families | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.columns["metric"])

    def __getitem__(self, column: str) -> Array:
        return self.columns[column]

    def fill(self, rows: Any, **values: Any) -> None:
        """Write values into some rows; only while an audit is made."""
        for name, value in values.items():
            self.columns[name][rows] = finite_or_nan(value) if KIND_OF[name] == "number" else value

    def at(self, **place: Any) -> ResultsTable:
        """The rows at some values of axes, without these axes."""
        is_here = np.ones(len(self), dtype=bool)
        for axis, value in place.items():
            is_here &= np.fromiter((other == value for other in self[axis]), bool, len(self))
        others = tuple(axis for axis in self.axes if axis not in place)
        columns = {name: column for name, column in self.columns.items() if name not in place}
        return ResultsTable(others, columns).take(is_here)

    def take(self, rows: Any) -> ResultsTable:
        """Some rows, or all in another order, without what they were computed from."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return ResultsTable(self.axes, columns)

    def values(self, column: str) -> list[Any]:
        """A column as Python values, which rows read."""
        if column not in self._lists:
            values = self.columns[column].tolist()
            if column in ("verdict", "driver_verdict"):
                values = [None if value is None else Verdict(value) for value in values]
            self._lists[column] = values
        return self._lists[column]

    @cached_property
    def _lists(self) -> dict[str, list[Any]]:
        return {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """Views of the rows."""
        return tuple(Row(self, index) for index in range(len(self)))

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResultsTable) and self.to_dict() == other.to_dict()

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists of plain values; None for what does not exist."""
        return {name: plain_value(column.tolist()) for name, column in self.columns.items()}

    @property
    def differs(self) -> Bools:
        """Whether the verdict is higher, lower or unlike."""
        return np.isin(self["verdict"], [verdict.value for verdict in Verdict if verdict.differs])

    @property
    def is_goal(self) -> Bools:
        """Whether scores are compared with a goal."""
        return np.asarray(self["question"] == "goal")

    @property
    def is_ratio(self) -> Bools:
        """Whether a gap of 1 rather than 0 means no gap."""
        return np.asarray(self["gap_kind"] != "difference")

    @classmethod
    def concatenate(cls, parts: Sequence[Evaluation]) -> ResultsTable:
        """The table of evaluations."""
        present = {axis for part in parts for _, some in part.scored for axis in some.axes}
        axes = tuple(axis for axis in AXES if axis in present)
        n, kinds = sum(map(count_rows, parts)), dict.fromkeys(axes, "text") | KIND_OF
        columns = {name: empty_column(kind, n) for name, kind in kinds.items()}
        stops = np.cumsum(list(map(count_rows, parts)), dtype=np.int64).tolist()
        evaluations = (
            part._replace(rows=slice(stop - count_rows(part), stop))
            for part, stop in zip(parts, stops, strict=True)
        )
        table = cls(axes, columns, tuple(evaluations))
        for metric, comparisons, rows in table.blocks:
            table.fill(rows, **describe_comparisons(metric, comparisons))
            for axis, values in comparisons.axes.items():
                table[axis][rows] = values
        for part in table.evaluations:
            of_rows = {name: part.columns[name] for name in KIND_OF if name in part.columns}
            table.fill(part.rows, **of_rows)
        return table

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows by metric and comparisons, while an audit is made."""
        blocks = []
        for part in self.evaluations:
            stop = part.rows.start
            for metric, comparisons in part.scored:
                start, stop = stop, stop + len(comparisons)
                blocks.append(Block(metric, comparisons, slice(start, stop)))
        return tuple(blocks)

    @property
    def pairs(self) -> TwoRates:
        """The counts of exact tests, nan for other tests; while an audit is made."""
        pairs = np.full((4, len(self)), np.nan)
        for part in self.evaluations:
            if "pairs" in part.columns:
                pairs[:, part.rows] = part.columns["pairs"]
        return TwoRates(*pairs)


def finite_or_nan(values: Any) -> Any:
    """Numbers in which infinite ones, which no interval can end at, do not exist."""
    return np.where(np.isfinite(values), values, np.nan)


def describe_comparisons(metric: Any, comparisons: Comparisons) -> dict[str, Any]:
    """The columns that say who is compared with whom; "all" means the rest for some metrics."""
    n, reference_n = comparisons.sizes
    includes_group = comparisons.includes_group(metric)
    is_all = comparisons.has_kind(ReferenceKind.ALL) & ~includes_group
    names = np.array([grouping.name for grouping in comparisons.groupings], dtype=object)
    columns = {
        "by": names[comparisons.grouping],
        "group": comparisons.name_groups(comparisons.group),
        **{"metric": metric.key, "question": "equal scores", "gap_kind": "difference"},
        **{"n": n, "support": n, "reference_n": reference_n + n * includes_group},
        "reference": choose(is_all, "rest", comparisons.reference_name),
        "reference_kind": choose(is_all, "rest", comparisons.reference_kind),
        "verdict": Verdict.UNDEFINED.value,
    }
    if comparisons.source in ("counts", "selections"):
        columns["support"] = metric.support(comparisons.cases[0]).min(axis=-1)
    if comparisons.source == "counts" and comparisons.tally.labelled:
        group, reference = comparisons.cells
        sides = (("", group), ("reference_", reference + group * includes_group[:, None]))
        for prefix, cells in sides:
            columns |= {prefix + cell: cells[:, i] for i, cell in enumerate(CELLS)}
    return columns


class Row:
    """A view of one row, whose attributes are the columns: ``row.score``, ``row.p_adjusted``.

    `COLUMNS` lists them with their meanings. Numbers that do not exist are nan, texts None.

    Attributes
    ----------
    at : dict of str to object
        Where on the axes it is: ``threshold``, ``class``, ``stratum`` (``"pooled"`` for all strata together) or
        ``model`` and ``against``. Empty without axes.
    by, group, metric : str
        The group column, the group, and the key of the metric.
    verdict : Verdict
        The verdict; ``reason`` says why it is undefined.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> row = audit_counts({"A": (1, 3, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0]
    >>> print(row)
    group A, tpr 0.250: inconclusive
    >>> row.score, row.reference_score, row.verdict.differs
    (0.25, 0.75, False)
    """

    __slots__ = ("_index", "_table")

    def __init__(self, table: ResultsTable, index: int) -> None:
        self._table, self._index = table, index

    def __getattr__(self, column: str) -> Any:
        if column.startswith("_") or column not in self._table.columns:
            raise AttributeError(f"rows of an audit have no column {column!r}")
        return self._table.values(column)[self._index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.by, self.group, self.metric, str(self.at)))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._table.columns]

    @property
    def at(self) -> dict[str, Any]:
        """Where on the axes it is; empty without axes."""
        values = {axis: getattr(self, axis) for axis in self._table.axes}
        return {axis: value for axis, value in values.items() if value is not None}

    @property
    def differs(self) -> bool:
        """Whether a difference or a change was found."""
        return bool(self.verdict.differs)

    @property
    def is_goal(self) -> bool:
        """Whether the score is compared with a goal, not with another group."""
        return bool(self.question == "goal")

    @property
    def is_change(self) -> bool:
        """Whether the score of one model is compared with that of another."""
        return bool(self.question == "change")

    @property
    def is_gap_change(self) -> bool:
        """Whether the score is the change from one model to another, and the gap that of the gap."""
        return bool(self.question == "change of gap")

    @property
    def is_pooled(self) -> bool:
        """Whether it is pooled over strata."""
        return bool(self.gap_kind == "odds ratio")

    @property
    def is_ratio(self) -> bool:
        """Whether a gap of 1 rather than 0 means no gap."""
        return bool(self.gap_kind != "difference")

    @property
    def is_below_four_fifths(self) -> bool:
        """Whether the true impact ratio is below 0.8, by a bound that holds for the whole audit."""
        return bool(self.impact_at_most < FOUR_FIFTHS * (1 - 1e-12))

    @property
    def lacks_score(self) -> bool:
        """Whether it is the group, not the reference, that has no score."""
        of_reference = ("the reference", "in the reference")
        return self.reason is not None and not self.reason.startswith(of_reference)

    @property
    def cells(self) -> tuple[float, ...] | None:
        """The group's cells tp, fn, fp, tn; None if there are none."""
        return self._cells("")

    @property
    def reference_cells(self) -> tuple[float, ...] | None:
        """The reference's cells."""
        return self._cells("reference_")

    def _cells(self, prefix: str) -> tuple[float, ...] | None:
        cells = tuple(getattr(self, prefix + cell) for cell in CELLS)
        if np.isnan(cells).any():
            return None
        return tuple(int(cell) if cell.is_integer() else cell for cell in cells)

    @property
    def denominators(self) -> tuple[int, ...]:
        """The number of cases in each denominator of the score; the smallest is the support."""
        metric = lookup_metric(self.metric)
        is_one = len(getattr(metric, "denominators", ())) < 2 or self.cells is None
        if is_one or not np.isnan(self.n_effective):
            return (self.support,)
        return tuple(map(int, metric.support(self.cells)))

    @property
    def difference(self) -> float:
        """The score minus the reference's, whatever the kind of gap; nan without both."""
        is_apart = np.isnan(self.gap) or self.is_pooled
        return nan if is_apart else float(self.score - self.reference_score)

    @property
    def smallest_gap(self) -> float:
        """The least distance of the gap from none, of ratios in logarithms; 0 without a bound."""
        return self._distance(self.at_least)

    @property
    def certain_gap(self) -> float:
        """The same by bounds that hold for the whole audit."""
        return self._distance(self.simultaneous_bound)

    def _distance(self, bound: float) -> float:
        size = log(bound) if self.is_ratio else bound
        return 0.0 if np.isnan(size) else size

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values: its place, then the columns; None for what does not exist."""
        return {name: plain_value(getattr(self, name)) for name in self._table.columns}

    def __str__(self) -> str:
        score = "undefined" if np.isnan(self.score) else number(self.score)
        place = f"{place_text(self.at)}, " if self.at else ""
        group = f"{self.by} {self.group}".lstrip()
        return printable(f"{place}{group}, {self.metric} {score}: {self.verdict}")

    def __repr__(self) -> str:
        return f"<Row: {self}>"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))


def place_text(at: Mapping[str, Any]) -> str:
    """Where on the axes something is, in words: ``threshold 0.5, stratum A``."""
    texts = [
        f"{axis} {value:.15g}" if isinstance(value, float) else f"{axis} {value}"
        for axis, value in at.items()
    ]
    return ", ".join("over all strata" if text == "stratum pooled" else text for text in texts)


def told_apart(rows: Iterable[Any]) -> dict[tuple[str, str], str]:
    """The name of each column and group for people, with the column if others have that name."""
    names = shown_names(rows)
    times = Counter(names.values())
    return numbered(
        {
            (by, group): f"{legible(by)}: {name}" if times[name] > 1 else name
            for (by, group), name in names.items()
        }
    )


def shown_names(rows: Iterable[Any]) -> dict[tuple[str, str], str]:
    """The name of each column and group for people: no two of a column look alike."""
    # In an order that does not depend on that of the rows, so that a name is the same everywhere.
    keys = sorted({(row.by, row.group) for row in rows})
    names: dict[tuple[str, str], str] = {}
    for by in dict.fromkeys(by for by, _ in keys):
        names |= numbered({key: legible(key[1]) for key in keys if key[0] == by})
    return names
