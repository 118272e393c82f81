"""The result of an audit: a table, findings and provenance, and its ways out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import product
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import GateFailed, InvalidInput, MissingExtra, UnknownName
from ..metrics import Metric
from ..records import csv_text, plain_value, reach, spreadsheet_value, write_whole
from ..wording import several
from .findings import Finding
from .metric_selection import lookup_metric
from .results_table import COLUMNS, ResultsTable, Row

#: A dataframe of one of these libraries, and axes of Matplotlib.
Frame = Any
Axes = Any
_LIBRARIES = ("pandas", "polars", "pyarrow")
# Those that make an Arrow stream without another library.
_STREAMING = ("pyarrow", "polars")
_SHOWN = tuple(column.name for column in COLUMNS if column.is_shown)


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit:
    """The result of an audit, with everything needed to repeat it.

    Attributes
    ----------
    rows : tuple of Row
        One row per group and metric and, with axes, per threshold, class, stratum or pair of models; most important
        first.
    findings : tuple of Finding
        The main results in sentences with stable codes, most important first.
    overall : tuple of Row
        The score of all cases together, for each metric and place on the axes. For accuracy, ``baseline`` is that of
        always predicting the commoner class.
    by_group : dataframe
        The scores as numbers: a line per group, a column per metric.
    n : int
        The number of cases audited.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    settings : dict
        The settings.
    provenance : dict
        What was audited: source with SHA-256, columns, positive and negative labels, threshold and time, and the
        arguments that repeat it.
    versions : dict of str to str
        The versions of what computed it.
    table, overall_table : ResultsTable
        The rows and the scores of all cases as arrays, by column.
    library : str or None
        The dataframe library of the data, in which frames are returned.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> a
    <Audit: 1,040 cases, 2 groups, 2 scores, 0 differ>
    """

    table: ResultsTable
    findings: tuple[Finding, ...]
    overall_table: ResultsTable
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    provenance: dict[str, Any] = field(compare=False)
    versions: dict[str, str]
    library: str | None = field(default=None, compare=False)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One row per group and metric, most important first."""
        return self.table.rows

    @cached_property
    def overall(self) -> tuple[Row, ...]:
        """The scores of all cases together."""
        return tuple(row for row in self.overall_table.rows if isnan(row.varies_pvalue))

    @cached_property
    def variation(self) -> tuple[Row, ...]:
        """Whether scores vary between the groups of a column: a row per metric, place and column.

        Columns are those of `overall`, with ``by``, ``varies_pvalue``, ``varies_adjusted``, ``spread_low`` and
        ``spread_high``. Rows need at least three groups with independent, unrounded cases, and no strata.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> groups = {"A": (5, 15, 0, 0), "B": (12, 8, 0, 0), "C": (18, 2, 0, 0)}
        >>> row = audit_counts(groups, metrics="tpr").variation[0]
        >>> row.by, row.varies_pvalue < 0.001, round(row.spread_low, 2), round(row.spread_high, 2)
        ('group', True, 0.14, 0.33)
        """
        return tuple(row for row in self.overall_table.rows if not isnan(row.varies_pvalue))

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The axes and their values, such as thresholds, in order; none if only groups and metrics were asked for.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> audit(data, y_true="label", y_score="score", groups="race", threshold=[0.5, 0.3]).axes
        {'threshold': (0.3, 0.5)}
        """
        axes = (self.provenance.get("axes") or {}).items()
        return {axis: tuple(values) for axis, values in axes}

    @property
    def unknown(self) -> dict[str, int]:
        """How many cases have no known group, by column or intersection; they are in no group and no reference.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (10, 10, 0, 0), "B": (80, 20, 0, 0), None: (5, 5, 0, 0)}, metrics="tpr").unknown
        {'group': 10}
        """
        return {str(by): int(n) for by, n in (self.provenance.get("unknown") or {}).items()}

    def at(self, **place: object) -> Audit:
        """The part of the audit at some place on the axes.

        Parameters
        ----------
        **place
            The values on one or more axes, such as ``threshold=0.5`` or ``stratum="pooled"``; for the axis ``class``,
            pass ``**{"class": "x"}``.

        Returns
        -------
        Audit
            The audit with the rows and findings there. P-values remain adjusted over the whole audit.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> a = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> a.at(threshold=0.3)
        <Audit: 4 cases, 2 groups, 10 scores, 0 differ>
        """
        axes = self.axes
        for axis, value in place.items():
            if axis not in axes:
                see = f"axes: {', '.join(axes) or 'none'}"
                raise UnknownName.among("axis of this audit", axis, axes, see=see)
            if value not in axes[axis]:
                raise UnknownName.among(f"{axis} of this audit", value, map(str, axes[axis]))

        def elsewhere(values: Mapping[str, object]) -> dict[str, object]:
            return {axis: value for axis, value in values.items() if axis not in place}

        provenance = self.provenance | plain_value({"axes": elsewhere(axes), "at": place})

        # Findings about no group hold everywhere.
        findings = [
            replace(finding, at=elsewhere(finding.at))
            for finding in self.findings
            if place.items() <= ((place if finding.group is None else {}) | finding.at).items()
        ]
        table, overall, n = self.table.at(**place), self.overall_table, self.n
        # The scores of all cases are those pooled over strata, and of no single stratum.
        if place.pop("stratum", "pooled") != "pooled":
            overall, n = overall.take(slice(0)), _count_cases(table)
        return replace(
            self,
            table=table,
            findings=tuple(findings),
            overall_table=overall.at(**place),
            n=n,
            provenance=provenance,
        )

    # Frames

    @property
    def by_group(self) -> Frame:
        """The scores as a numeric dataframe: a line per group, a column per metric; nan where undefined.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"])
        >>> print(a.by_group[["group", "n", "tpr"]])
          group     n   tpr
        0     A    40  0.00
        1     B  1000  0.75
        """
        return self._as_frame(self._scores_by_group())

    def difference(self) -> Frame:
        """The largest difference between the scores of two groups of a column, as numbers without a test.

        Returns
        -------
        dataframe
            A line per group column (and place on the axes), and a column per metric; nan with fewer than two defined
            scores.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.difference()["tpr"].to_list()
        [0.75]
        """
        return self._compare_extremes(lambda low, high: high - low)

    def ratio(self) -> Frame:
        """The smallest ratio of the scores of two groups of a column, as numbers without a test.

        Returns
        -------
        dataframe
            A line per group column (and place on the axes), and a column per metric; nan where the highest score is 0,
            a score is negative, or fewer than two are defined.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (10, 10, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> [round(ratio, 3) for ratio in a.ratio()["tpr"].to_list()]
        [0.667]
        """

        def divide(low: Floats, high: Floats) -> Floats:
            is_ratio = (low >= 0) & (high > 0)
            return np.divide(low, high, out=np.full_like(low, np.nan), where=is_ratio)

        return self._compare_extremes(divide)

    def _compare_extremes(self, compare: Callable[[Floats, Floats], Floats]) -> Frame:
        """A frame of the lowest against the highest score of each column, place and metric."""
        columns, names = self._scores_by_group(), (*self.table.axes, "by")
        parts = list(zip(*(columns.pop(name) for name in names), strict=True))
        lines = {part: i for i, part in enumerate(dict.fromkeys(parts))}
        index = [lines[part] for part in parts]
        frame = {name: [part[i] for part in lines] for i, name in enumerate(names)}
        del columns["group"], columns["n"]
        for metric, values in columns.items():
            scores = np.array(values)
            low, high = np.full((2, len(lines)), np.nan)
            np.fmin.at(low, index, scores)
            np.fmax.at(high, index, scores)
            is_compared = np.bincount(index, ~np.isnan(scores)) > 1
            frame[metric] = np.where(is_compared, compare(low, high), np.nan).tolist()
        return self._as_frame(frame)

    def _scores_by_group(self) -> dict[str, list[object]]:
        """The columns of `by_group`, with places and groups in their declared order."""
        is_shown = ~self.table.is_goal & (self.table["question"] != "change of gap")
        table = self.table.take(is_shown)
        names = (*table.axes, "by", "group")
        keys = list(zip(*map(table.values, names), strict=True))
        order = (self.provenance.get("order") or {}).items()
        groups = [(by, group) for by, named in order for group in named]
        places = product(*((*values, None) for values in self.axes.values()))
        declared = ((*place, *group) for place in places for group in groups)
        lines = dict.fromkeys([*filter(set(keys).__contains__, declared), *keys])
        columns = {name: plain_value([key[i] for key in lines]) for i, name in enumerate(names)}
        # Rows of a group may differ in n; the most important one comes first.
        n = dict(zip(reversed(keys), reversed(table.values("n")), strict=True))
        columns["n"] = [n[key] for key in lines]
        pairs = zip(table.values("metric"), keys, strict=True)
        scores = dict(zip(pairs, table.values("score"), strict=True))
        for metric in self.settings["metrics"]:
            if metric in table.values("metric"):
                columns[metric] = [scores.get((metric, key), np.nan) for key in lines]
        return columns

    def to_frame(self, library: str | None = None, *, full: bool = False) -> Frame:
        """The rows as a dataframe.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            The dataframe library; by default that of the data, or the first that is installed.
        full : bool
            Whether to have all columns of the table, not only those that people read.

        Returns
        -------
        dataframe
            One line per row, with a column per axis.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_frame("pandas")["verdict"].to_list()
        ['inconclusive', 'inconclusive']
        """
        has_gaps = "change of gap" in self.table["question"]
        shown = [*self.table.axes, *_SHOWN, *["question"] * has_gaps]
        names = self.table.columns if full else shown
        columns = {name: self.table[name].tolist() for name in names}
        return self._as_frame(columns | self._protection, library)

    def _as_frame(self, values: Mapping[str, object], library: str | None = None) -> Frame:
        import narwhals.stable.v2 as nw

        backend = library or self.library or next(filter(find_spec, _LIBRARIES), None)
        if backend is None:
            raise MissingExtra("a frame needs pandas, polars or pyarrow; to_json() does not")
        if backend not in _LIBRARIES:
            raise UnknownName.among("dataframe library", str(backend), _LIBRARIES)
        return nw.from_dict(values, backend=backend).to_native()  # type: ignore[arg-type]

    @property
    def _protection(self) -> dict[str, list[str]]:
        """The column that says of every line that its counts were rounded."""
        rule = self.settings.get("protect")
        return {} if rule is None else {"protect": [str(rule)] * len(self.table)}

    def to_csv(self) -> str:
        """The rows as CSV, with all columns of the table.

        Returns
        -------
        str
            The CSV text. Texts that a spreadsheet would take for formulas have an apostrophe before them.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_csv().splitlines()[1][:24]
        'group,A,tpr,equal scores'
        """
        columns = self.table.to_dict() | self._protection
        lines = (map(spreadsheet_value, line) for line in zip(*columns.values(), strict=True))
        return csv_text([columns, *lines])

    # Saved audits

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, number of cases, rows left out, provenance, settings, versions, findings, and the columns of the
            rows and of the scores of all cases.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> list(audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}).to_dict())
        ['schema', 'n', 'left_out', 'provenance', 'settings', 'versions', 'overall', 'findings', 'rows']
        """
        from .saved import audit_content

        return audit_content(self)

    def to_json(self, indent: int | None = None) -> str:
        """The audit as JSON, which `from_json` reads.

        Parameters
        ----------
        indent : int or None
            Spaces per level; None for a single line.

        Returns
        -------
        str
            The JSON text.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_json()[:42]
        '{"schema": "evenhand.audit/1", "n": 1040, '
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Read an audit that was written by `to_json`.

        Parameters
        ----------
        text : str
            The JSON text, which may come from a file that somebody changed: it is checked.

        Returns
        -------
        Audit
            The audit, equal to the one that was written.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> Audit.from_json(a.to_json()) == a
        True
        """
        from .saved import read_audit

        return read_audit(text)

    def repeat(self, data: object = None) -> Audit:
        """Make the audit again with the same settings.

        Parameters
        ----------
        data : object, optional
            The data, if they were not a file, or if the file has moved.

        Returns
        -------
        Audit
            The new audit; `changes` says what differs.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> counts = {"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}
        >>> a = audit_counts(counts, metrics="tpr")
        >>> a.changes(a.repeat(counts))
        []
        """
        from .provenance import repeat_audit

        return repeat_audit(self.provenance, data)

    def changes(self, other: Audit) -> list[str]:
        """Say what differs in another audit: verdicts, scores that changed by more than chance, settings, data.

        Parameters
        ----------
        other : Audit
            A later audit.

        Returns
        -------
        list of str
            One sentence per change. Whether a score changed is tested by the group then against the group now, adjusted
            over all scores; both must be of different cases.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> b = audit_counts({"A": (0, 2, 8, 31), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.changes(b)[-1].partition('; ')[2]
        'the number of rows was 1040 and is 1041; other numbers of 2 rows changed'
        """
        from .changes import list_changes

        if not isinstance(other, Audit):
            raise InvalidInput(argument="other", must="be an Audit", got=other)
        return list(list_changes(self, other))

    def check(
        self,
        *gates: str,
        require: Mapping[str, str | Sequence[str]] | None = None,
        require_conclusive: bool = False,
        since: Audit | None = None,
    ) -> None:
        """Raise `GateFailed` if a gate fails or could not be evaluated.

        Parameters
        ----------
        *gates : str
            Kinds of findings that must not occur, such as ``"differs"``; ``"any"`` is all that are alerts or warnings.
            P-values are adjusted over the whole audit by Holm's method, whatever ``family`` and ``adjust`` are.
        require : mapping of group column to group or groups, optional
            Groups that must have cases.
        require_conclusive : bool
            Whether a required group must not have a verdict that is undefined, inconclusive or not tested.
        since : Audit, optional
            An audit of earlier cases: no score may be worse than there, by Fisher's test.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (30, 10, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.check("differs", require={"group": ["A", "B"]})
        >>> a.check(require={"group": "C"})
        Traceback (most recent call last):
        evenhand.errors.GateFailed: gate absent-group: 1 required group: failed (1 finding)
        - alert EH309: 'C' of 'group' has no cases
        """
        from .gates import check_gates

        results = check_gates(
            self, gates, require, require_conclusive=require_conclusive, since=since
        )
        bad = [result for result in results if result.outcome != "passed"]
        if bad:
            raise GateFailed((line for result in bad for line in result.lines), results)

    # Reports

    def to_markdown(self) -> str:
        """The audit as Markdown: what was audited, the findings, and tables.

        Returns
        -------
        str
            The Markdown text. Names from the data are escaped.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_markdown().splitlines()[0]
        '# 1,040 cases by group'
        """
        return str(reach("Audit.to_markdown")(self))

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        system: str | None = None,
        author: str | None = None,
    ) -> str:
        """The audit as a self-contained HTML page that opens offline (extra ``report``).

        Parameters
        ----------
        path : str or Path, optional
            Where to write the page.
        title, system, author : str, optional
            The title of the report, what was audited, and who made the audit.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_html()[:15]
        '<!doctype html>'
        """
        texts = {"title": title, "system": system, "author": author}
        for name, text in texts.items():
            if not isinstance(text, str | None):
                raise InvalidInput(argument=name, must="be text", got=text)
        page = str(reach("Audit.to_html")(self, **texts))
        if path is not None:
            write_whole(path, page)
        return page

    def to_text(self, most: int | None = 12, *, explain: bool = False) -> str:
        """The audit as text for a terminal.

        Parameters
        ----------
        most : int or None
            The largest number of rows in the table, of those that differ; None for all rows.
        explain : bool
            Whether to say every comparison in a sentence, too.

        Returns
        -------
        str
            The text, at most 80 columns wide.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_text().splitlines()[0]
        'evenhand audit: 1,040 cases, group (2 groups)'
        """
        return str(reach("Audit.to_text")(self, most, explain=explain))

    def plot(
        self, metric: str | Metric | None = None, by: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the scores and intervals of one metric by group, or along the thresholds (extra ``plots``).

        Parameters
        ----------
        metric : str or Metric, optional
            The metric; by default that of the most important row.
        by : str, optional
            The group column, if there are thresholds; by default the first.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> ax = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").plot("tpr")
        """
        table = self.table.take(~self.table.is_goal)
        metrics, columns = table.values("metric"), table.values("by")
        key = find_plotted("audit", metrics, columns, metric, by)
        return reach("Audit.plot")(self, key, by=by, ax=ax)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        pairs = zip(self.table.values("by"), self.table.values("group"), strict=True)
        groups = {(by, group) for by, group in pairs if by}
        differ = int(self.table.differs.sum())
        scores = several(len(self.table), "score")
        axes = "".join(f", {len(values)} on the axis {axis}" for axis, values in self.axes.items())
        counts = f"{several(self.n, 'case')}, {several(len(groups), 'group')}{axes}, {scores}"
        return f"<Audit: {counts}, {differ:,} {'differs' if differ == 1 else 'differ'}>"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream, with the columns of `to_frame`, for any library that reads such streams."""
        for library in filter(find_spec, _STREAMING):
            return self.to_frame(library).__arrow_c_stream__(requested_schema)
        raise MissingExtra("an Arrow stream of an audit needs pyarrow or polars")


def find_plotted(
    what: str, metrics: Sequence[str], columns: Sequence[str], metric: object, by: str | None
) -> str:
    """The key of the metric to plot, by default that of the first row; refuse what no row has."""
    if not metrics:
        raise InvalidInput(f"this {what} has nothing to plot")
    key = str(lookup_metric(str(getattr(metric, "key", metric) or metrics[0])).key)
    if key not in metrics:
        raise UnknownName.among(f"metric of this {what}", key, dict.fromkeys(metrics))
    if by is not None and by not in columns:
        raise UnknownName.among(f"group column of this {what}", by, dict.fromkeys(columns))
    return key


def _count_cases(table: ResultsTable) -> int:
    """How many labelled cases rows of one stratum are about: those of all groups of a column."""
    sizes: Counter[tuple[object, ...]] = Counter()
    for row in table.take(~table.is_goal).rows:
        has_cells = isinstance(lookup_metric(row.metric), Metric)
        sizes[has_cells, row.metric, row.by, *row.at.values()] += row.n
    of_cells = [n for (has_cells, *_), n in sizes.items() if has_cells]
    return min(of_cells or sizes.values(), default=0)
