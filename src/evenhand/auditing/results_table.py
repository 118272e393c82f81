"""The results of an audit as one table: a struct of arrays, with one record per column.

Frames, JSON, the schema and the documentation read `COLUMNS`. Rows are views of the table. Numbers
that do not exist are nan, texts that do not exist None; in JSON both are null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log, nan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers
from ..confusion import CELLS
from ..errors import printable
from ..inference import FOUR_FIFTHS, TwoRates
from ..metrics import Metric
from ..records import plain_value, reach
from ..wording import legible, number, numbered
from .comparisons import Comparisons
from .metric_selection import lookup_metric
from .verdict import Verdict

Question = Literal["equal scores", "same distribution", "change"]
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


COLUMNS = (
    Column("by", "text", "the group column, or the intersection of several", True),
    Column("group", "text", "the group", True),
    Column("metric", "text", "the key of the metric, or the name of the function", True),
    Column("question", "text", "what is tested: equal scores, the same distribution, or a change"),
    Column("n", "count", "cases of the group", True),
    Column("support", "count", "cases in the smallest denominator of the score", True),
    Column("n_effective", "number", "independent cases that the support is worth, with weights or clusters"),
    Column("correlation", "number", "intra-class correlation, with clusters"),
    *(Column(cell, "number", f"the group's {cell.upper()}; sums of weights if cases are weighted") for cell in CELLS),
    Column("score", "number", "the group's score; of models, its change", True),
    Column("low", "number", "lower end of the confidence interval of the score", True),
    Column("high", "number", "upper end of the confidence interval of the score", True),
    Column("before", "number", "the score that a change is from"),
    Column("change_pvalue", "number", "p-value of the group's own change (McNemar)"),
    Column("reference", "text", "what the group is compared with", True),
    Column("reference_kind", "text", "rest, all, group or matrix"),
    Column("reference_n", "count", "cases of the reference"),
    *(Column(f"reference_{cell}", "number", f"the reference's {cell.upper()}") for cell in CELLS),
    Column("reference_score", "number", "the metric of the reference's cells; of models, its change", True),
    Column("reference_before", "number", "the reference's score that a change is from"),
    Column("gap_kind", "text", "difference, ratio or odds ratio"),
    Column("gap", "number", "the group's score against the reference's", True),
    Column("gap_low", "number", "lower end of the confidence interval of the gap", True),
    Column("gap_high", "number", "upper end of the confidence interval of the gap", True),
    Column("at_least", "number", "bound of the size of a gap that was found", True),
    Column("at_most", "number", "bound of the size of a gap that was found"),
    Column("pvalue", "number", "p-value of the test", True),
    Column("p_adjusted", "number", "p-value adjusted for multiple tests", True),
    Column("p_error", "number", "standard error of a p-value from random draws"),
    Column("method", "text", "how the p-value was computed"),
    Column("direction", "text", "where the test points: higher or lower"),
    Column("verdict", "text", "the verdict", True),
    Column("reason", "text", "why the score or its comparison is undefined", True),
    Column("percentile", "number", "P(S <= observed) of the MATCH test"),
    Column("p_undefined", "number", "probability that the score of such a group is undefined"),
    Column("smoothed", "number", "the score after Cross-Prior Smoothing"),
    Column("shrinkage", "number", "the share of the gap that smoothing leaves, for a rate"),
    Column("strength", "number", "pseudo-cases of the prior, if one number holds for all splits"),
    Column("strength_prev", "number", "pseudo-cases of the prior for the prevalence"),
    Column("strength_tpr", "number", "pseudo-cases of the prior for the true positive rate"),
    Column("strength_fpr", "number", "pseudo-cases of the prior for the false positive rate"),
    Column("impact_ratio", "number", "favourable rate divided by the highest"),
    Column("impact_low", "number", "lower end of its interval, for whichever group is highest"),
    Column("impact_high", "number", "upper end of its interval"),
    Column("impact_at_most", "number", "bound of the impact ratio that holds for the whole audit"),
    Column("impact_group", "text", "the group with the highest favourable rate"),
    Column("impact_n", "number", "cases of that group"),
    Column("driver", "text", "the group of the rest without which the verdict would be another"),
    Column("driver_verdict", "text", "the verdict without it"),
    Column("driver_gap", "number", "the gap without it"),
    Column("driver_gap_low", "number", "lower end of the interval of the gap without it"),
    Column("driver_gap_high", "number", "upper end of the interval of the gap without it"),
    Column("unknown_n", "number", "cases of unknown group that the score could count"),
    Column("tipping_point", "number", "how many of them would leave no difference"),
    *(
        Column(f"unknown_{name}_{end}", "number", f"{bound} {name} over all ways to assign them")
        for name in ("score", "difference", "ratio")
        for end, bound in (("low", "smallest"), ("high", "largest"))
    ),
    Column("required_n", "number", "support needed to find a gap of the margin with 80% power"),
    Column("strata_higher", "number", "strata in which the group's rate is higher"),
    Column("strata_lower", "number", "strata in which it is lower"),
    Column("strata_silent", "number", "strata that are not informative"),
    Column("crude_odds_ratio", "number", "odds ratio without strata"),
    Column("crude_pvalue", "number", "p-value without strata"),
    Column("baseline", "number", "accuracy of always predicting the commoner class, of all cases together"),
)
"""The columns of the table, after those of the axes."""
_VERDICTS = ("verdict", "driver_verdict")
KIND_OF = {column.name: column.kind for column in COLUMNS}


def empty_column(kind: str, length: int) -> NDArray[Any]:
    """A column in which nothing exists."""
    if kind == "text":
        return np.full(length, None, dtype=object)
    return np.zeros(length, np.int64) if kind == "count" else np.full(length, np.nan)


def finite_or_nan(values: Any) -> Any:
    """Numbers in which infinite ones, which no interval can end at, do not exist."""
    return np.where(np.isfinite(values), values, np.nan)


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one metric and one set of comparisons, which stand together.

    ``bound_gaps(rows, level)`` has the intervals of gaps at another confidence level, and ``pairs``
    the counts of exact tests, nan for other tests.
    """

    metric: Any
    comparisons: Comparisons
    rows: slice
    bound_gaps: Callable[[Integers, float], tuple[Floats, Floats]]
    pairs: TwoRates | None


@dataclass(frozen=True, eq=False)
class ResultsTable:
    """The rows of an audit, by column.

    Attributes
    ----------
    axes : tuple of str
        The axes of the audit.
    columns : mapping of str to array
        The axes and `COLUMNS`, each with one value per row.
    blocks : tuple of Block
        While an audit is made: what the rows were computed from.
    """

    axes: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    blocks: tuple[Block, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.columns["metric"])

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]

    def with_columns(self, **columns: NDArray[Any]) -> ResultsTable:
        """The table with some columns replaced."""
        return replace(self, columns={**self.columns, **columns})

    def fill(self, rows: Any, **values: Any) -> None:
        """Write values into some rows; only while an audit is made."""
        for name, value in values.items():
            self.columns[name][rows] = value

    def at(self, **place: Any) -> ResultsTable:
        """The rows at some values of axes, without these axes."""
        is_here = np.ones(len(self), dtype=bool)
        for axis, value in place.items():
            is_here &= np.fromiter((other == value for other in self[axis]), bool, len(self))
        others = tuple(axis for axis in self.axes if axis not in place)
        columns = {name: column[is_here] for name, column in self.columns.items() if name not in place}
        return ResultsTable(others, columns)

    def take(self, rows: Any) -> ResultsTable:
        """Some rows, or all in another order, without what they were computed from."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return ResultsTable(self.axes, columns)

    def values(self, column: str) -> list[Any]:
        """A column as Python values, which rows read."""
        if column not in self._lists:
            values = self.columns[column].tolist()
            if column in _VERDICTS:
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
    def differs(self) -> NDArray[np.bool_]:
        """Whether the verdict is higher, lower or unlike."""
        return np.isin(self["verdict"], [verdict.value for verdict in Verdict if verdict.differs])

    @property
    def is_ratio(self) -> NDArray[np.bool_]:
        """Whether a gap of 1 rather than 0 means no gap."""
        return np.asarray(self["gap_kind"] != "difference")

    @classmethod
    def concatenate(cls, parts: Sequence[tuple[Any, Comparisons, dict[str, Any]]]) -> ResultsTable:
        """The table of evaluations: metric, comparisons, and columns of each."""
        axes = tuple(axis for axis in AXES if any(axis in part.axis_values(0) for _, part, _ in parts if len(part)))
        blocks: list[Block] = []
        lengths = [len(comparisons) for _, comparisons, _ in parts]
        starts = np.cumsum([0, *lengths])
        columns = {axis: empty_column("text", starts[-1]) for axis in axes}
        columns |= {name: empty_column(kind, starts[-1]) for name, kind in KIND_OF.items()}
        for start, (metric, comparisons, found) in zip(starts[:-1].tolist(), parts, strict=True):
            rows = slice(start, start + len(comparisons))
            pairs, bound_gaps = found.pop("pairs", None), found.pop("bound_gaps")
            blocks.append(Block(metric, comparisons, rows, bound_gaps, pairs))
            for name, values in (describe_comparisons(metric, comparisons) | found).items():
                columns[name][rows] = values if KIND_OF[name] == "text" else finite_or_nan(values)
            for axis in axes:
                values = [comparisons.axis_values(row).get(axis) for row in range(len(comparisons))]
                columns[axis][rows] = np.fromiter(values, dtype=object, count=len(values))
        return cls(axes, columns, tuple(blocks))


def describe_comparisons(metric: Any, comparisons: Comparisons) -> dict[str, Any]:
    """The columns that say who is compared with whom."""
    groupings, references = comparisons.groupings, comparisons.references
    names = [grouping.name for grouping in groupings]
    group, reference = comparisons.sizes
    return {
        "by": np.array(names, dtype=object)[comparisons.grouping],
        "group": [groupings[g].groups[i] for g, i in zip(comparisons.grouping, comparisons.group, strict=True)],
        "metric": metric.key,
        "question": "equal scores",
        "gap_kind": "difference",
        "n": group,
        "support": group,
        "reference": np.array([one.name for one in references], dtype=object)[comparisons.reference_index],
        "reference_kind": np.array([one.kind.value for one in references], dtype=object)[comparisons.reference_index],
        "reference_n": reference,
        "verdict": Verdict.UNDEFINED.value,
    }


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
        """Whether the verdict is higher, lower or unlike."""
        return bool(self.verdict.differs)

    @property
    def is_change(self) -> bool:
        """Whether the score is the change from one model to another, which has a test of its own."""
        return bool(self.question == "change")

    @property
    def is_pooled(self) -> bool:
        """Whether it is pooled over strata."""
        return bool(self.gap_kind == "odds ratio")

    @property
    def is_below_four_fifths(self) -> bool:
        """Whether the true impact ratio is below 0.8, by a bound that holds for the whole audit."""
        return bool(self.impact_at_most < FOUR_FIFTHS * (1 - 1e-12))

    @property
    def lacks_score(self) -> bool:
        """Whether it is the group, not the reference, that has no score."""
        reason = self.reason
        return reason is not None and not reason.startswith(("the reference", "in the reference"))

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
        metric, cells = lookup_metric(self.metric), self.cells
        several = isinstance(metric, Metric) and len(metric.denominators) > 1
        if cells is None or not several or not np.isnan(self.n_effective):
            return (self.support,)
        return tuple(int(n) for n in metric.support(np.array(cells)))

    @property
    def is_ratio(self) -> bool:
        """Whether a gap of 1 rather than 0 means no gap."""
        return bool(self.gap_kind != "difference")

    @property
    def difference(self) -> float:
        """The score minus the reference's, whatever the kind of gap; nan without both."""
        is_apart = np.isnan(self.gap) or self.is_pooled
        return nan if is_apart else float(self.score - self.reference_score)

    @property
    def gap_before(self) -> float:
        """Of models: the gap to the reference that ``gap`` is the change from."""
        return float(self.before - self.reference_before)

    @property
    def smallest_gap(self) -> float:
        """How far the gap is from none at least, differences or logarithms of ratios; 0 without a bound."""
        return 0.0 if np.isnan(self.at_least) else log(self.at_least) if self.is_ratio else self.at_least

    @property
    def largest_gap(self) -> float:
        """How far the gap is from none at most, on the same scale; infinite without a bound."""
        return np.inf if np.isnan(self.at_most) else log(self.at_most) if self.is_ratio else self.at_most

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values: its place, then the columns; None for what does not exist."""
        return {name: plain_value(getattr(self, name)) for name in self._table.columns}

    def __str__(self) -> str:
        score = "undefined" if np.isnan(self.score) else number(self.score)
        place = f"{place_text(self.at)}, " if self.at else ""
        return printable(f"{place}{self.by} {self.group}, {self.metric} {score}: {self.verdict}")

    def __repr__(self) -> str:
        return f"<Row: {self}>"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))


def place_text(at: Mapping[str, Any]) -> str:
    """Where on the axes something is, in words: ``threshold 0.5, stratum A``."""
    texts = [f"{axis} {value:.15g}" if isinstance(value, float) else f"{axis} {value}" for axis, value in at.items()]
    return ", ".join("over all strata" if text == "stratum pooled" else text for text in texts)


def told_apart(rows: Iterable[Any]) -> dict[tuple[str, str], str]:
    """The name of each column and group for people; the column is added if several have a group of that name."""
    names = shown_names(rows)
    times = Counter(names.values())
    return numbered({key: f"{legible(key[0])}: {name}" if times[name] > 1 else name for key, name in names.items()})


def shown_names(rows: Iterable[Any]) -> dict[tuple[str, str], str]:
    """The name of each column and group for people: nothing is hidden, and no two of a column look alike."""
    groups: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault(row.by, set()).add(row.group)
    # In an order that does not depend on that of the rows, so that a name is the same everywhere.
    names: dict[tuple[str, str], str] = {}
    for by in sorted(groups):
        of_column = numbered({group: legible(group) for group in sorted(groups[by])})
        names |= {(by, group): name for group, name in of_column.items()}
    return names
