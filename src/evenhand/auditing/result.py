"""The result of an audit: a table, findings and provenance, and its ways out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidInput, MissingExtra, UnknownName
from ..metrics import Metric
from ..records import csv_text, plain_value, reach, spreadsheet_value, write_whole
from ..wording import several
from .findings import Finding
from .metric_selection import lookup_metric
from .results_table import COLUMNS, ResultsTable, Row

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
        return self.overall_table.rows

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
        axes = self.provenance.get("axes") or {}
        return {axis: tuple(values) for axis, values in axes.items()}

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

    def at(self, **place: Any) -> Audit:
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
        for axis, value in place.items():
            if axis not in self.axes:
                see = f"axes: {', '.join(self.axes) or 'none'}"
                raise UnknownName.among("axis of this audit", axis, self.axes, see=see)
            values = self.axes[axis]
            if value not in values:
                raise UnknownName.among(f"{axis} of this audit", str(value), map(str, values))
        table = self.table.at(**place)
        # The scores of all cases are those pooled over strata, and of no single stratum.
        is_whole = place.get("stratum", "pooled") == "pooled"
        others = {axis: value for axis, value in place.items() if axis != "stratum"}
        overall = self.overall_table.at(**others)
        axes = {axis: values for axis, values in self.axes.items() if axis not in place}
        return replace(
            self,
            table=table,
            findings=tuple(self._findings_at(place)),
            overall_table=overall if is_whole else overall.take(np.arange(0)),
            n=self.n if is_whole else _count_cases(table.rows),
            provenance=self.provenance | {"axes": plain_value(axes), "at": plain_value(place)},
        )

    def _findings_at(self, place: dict[str, Any]) -> Iterator[Finding]:
        """The findings at a place, and those about no group, which hold everywhere."""
        for finding in self.findings:
            at = finding.at if finding.group is not None else place | finding.at
            if place.items() <= at.items():
                others = {axis: value for axis, value in finding.at.items() if axis not in place}
                yield replace(finding, at=others)

    # Frames

    @property
    def by_group(self) -> Any:
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
        return self._as_frame(self._columns_by_group())

    def difference(self) -> Any:
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

    def ratio(self) -> Any:
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
        return self._compare_extremes(lambda low, high: low / high if low >= 0 < high else np.nan)

    def _compare_extremes(self, compare: Callable[[float, float], float]) -> Any:
        """A frame of the lowest against the highest score of each column, place and metric."""
        columns = self._columns_by_group()
        names = (*self.axes, "by")
        parts = list(zip(*(columns[name] for name in names), strict=True))
        places = zip(*dict.fromkeys(parts), strict=True)
        frame = {name: list(values) for name, values in zip(names, places, strict=True)}
        for key in columns.keys() - {*names, "group", "n"}:
            scores: dict[Any, list[float]] = {part: [] for part in parts}
            for part, score in zip(parts, columns[key], strict=True):
                scores[part] += [] if np.isnan(score) else [score]
            ends = ((min(each), max(each)) if len(each) > 1 else None for each in scores.values())
            frame[key] = [np.nan if pair is None else compare(*pair) for pair in ends]
        return self._as_frame({name: frame[name] for name in columns if name in frame})

    def _columns_by_group(self) -> dict[str, list[Any]]:
        """The columns of `by_group`, with places and groups in their declared order."""
        lines: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in self.rows:
            key = (*(row.at.get(axis) for axis in self.axes), row.by, row.group)
            lines.setdefault(key, {"n": row.n})[row.metric] = row.score
        order = self.provenance.get("order") or {}
        groups = [(by, group) for by, names in order.items() for group in names]
        ranks = [_rank((*values, None)) for values in self.axes.values()] + [_rank(groups)]
        keys = sorted(
            lines,
            key=lambda key: [
                rank.get(value, len(rank))
                for rank, value in zip(ranks, (*key[:-2], key[-2:]), strict=True)
            ],
        )
        present = {key for line in lines.values() for key in line}
        scores = [key for key in ("n", *self.settings["metrics"]) if key in present]
        places = zip((*self.axes, "by", "group"), zip(*keys, strict=True), strict=True)
        columns = {name: plain_value(list(values)) for name, values in places}
        return columns | {name: [lines[key].get(name, np.nan) for key in keys] for name in scores}

    def to_frame(self, library: str | None = None, *, full: bool = False) -> Any:
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
        names = tuple(self.table.columns) if full else (*self.table.axes, *_SHOWN)
        return self._as_frame(
            {name: self.table.columns[name].tolist() for name in names} | self._protection, library
        )

    def _as_frame(self, values: dict[str, list[Any]], library: str | None = None) -> Any:
        import narwhals.stable.v2 as nw

        installed = (name for name in _LIBRARIES if find_spec(name))
        backend = library or self.library or next(installed, None)
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
        lines = zip(*columns.values(), strict=True)
        return csv_text([columns, *(map(spreadsheet_value, line) for line in lines)])

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

    def repeat(self, data: Any = None) -> Audit:
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
        self, metric: str | Metric | None = None, by: str | None = None, ax: Any = None
    ) -> Any:
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
        key = self.rows[0].metric
        if metric is not None:
            key = metric.key if isinstance(metric, Metric) else lookup_metric(metric).key
        check_plotted(self.rows, key, by, "audit")
        return reach("Audit.plot")(self, key, by=by, ax=ax)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        groups = set(zip(self.table.values("by"), self.table.values("group"), strict=True))
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
        for library in _STREAMING:
            if find_spec(library):
                return self.to_frame(library).__arrow_c_stream__(requested_schema)
        raise MissingExtra(
            "an Arrow stream of an audit needs pyarrow or polars: pip install pyarrow"
        )


def _rank(values: Iterable[Any]) -> dict[Any, int]:
    return {value: i for i, value in enumerate(values)}


def check_plotted(rows: Iterable[Any], metric: str, by: str | None, what: str) -> None:
    """Refuse to plot a metric or a group column that no row has."""
    columns = {row.by: None for row in rows}
    metrics = {row.metric: None for row in rows}
    if metric not in metrics:
        raise UnknownName.among(f"metric of this {what}", metric, metrics)
    if by is not None and by not in columns:
        raise UnknownName.among(f"group column of this {what}", by, columns)


def _count_cases(rows: Iterable[Row]) -> int:
    """How many labelled cases rows of one stratum are about: those of all groups of a column."""
    sizes: Counter[Any] = Counter()
    for row in rows:
        has_cells = isinstance(lookup_metric(row.metric), Metric)
        sizes[has_cells, row.metric, tuple(row.at.items()), row.by] += row.n
    of_cells = [n for (has_cells, *_), n in sizes.items() if has_cells]
    return min(of_cells or sizes.values(), default=0)
