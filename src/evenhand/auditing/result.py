"""The result of an audit: rows, findings and record, and its ways out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, MissingExtra, UnknownName, brief
from ..metrics import Metric
from ..records import csv_text, plain_value, reach, spreadsheet_value, write_whole
from ..wording import number, several
from .findings import Finding, read_finding
from .metric_selection import lookup_metric
from .overall import Overall, read_overall
from .provenance import check_provenance
from .repeat import changes_between
from .rows import COLUMNS, Row, in_few_digits, read_row, shown_names
from .settings import WITHOUT_LABELS, Settings

__all__ = ["SCHEMA", "Audit"]

SCHEMA = "evenhand.audit/4"
_LIBRARIES = ("pandas", "polars", "pyarrow")
# Those that make an Arrow stream without another library.
_STREAMING = ("pyarrow", "polars")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit:
    """The result of an audit, with everything needed to repeat it.

    Attributes
    ----------
    rows : tuple of Row
        One row per group and metric and, if there are axes, threshold, class, stratum or pair of models; most important
        first.
    findings : tuple of Finding
        The main results in sentences with stable codes, most important first.
    overall : tuple of Overall
        The score of all cases together, for each metric and place on the axes.
    n : int
        The number of cases audited.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    settings : dict
        The settings.
    provenance : dict
        What was audited: source with SHA-256, columns, positive and negative labels, threshold and time, and the
        arguments that make it again.
    versions : dict of str to str
        The versions of what computed it.
    library : str or None
        The dataframe library of the data, in which `to_frame` gives its result.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> a
    <Audit: 1,040 cases, 2 groups, 2 scores, 0 differ>
    """

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    overall: tuple[Overall, ...]
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    provenance: dict[str, Any] = field(compare=False)
    versions: dict[str, str]
    library: str | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.settings.get("protect") is not None:
            object.__setattr__(self, "rows", tuple(map(in_few_digits, self.rows)))
            object.__setattr__(self, "overall", tuple(one.in_few_digits() for one in self.overall))

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
        found: dict[str, list[Any]] = {
            axis: list(values) for axis, values in (self.provenance.get("axes") or {}).items()
        }
        return {axis: tuple(values) for axis, values in found.items()}

    @property
    def unknown(self) -> dict[str, int]:
        """How many cases have no known group, by column or crossing; they are in no group and in no reference.

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
        <Audit: 4 cases, 2 groups, 16 scores, 0 differ>
        """
        for axis, value in place.items():
            if axis not in self.axes:
                raise UnknownName.among(
                    "axis of this audit", axis, self.axes, see=f"axes: {', '.join(self.axes) or 'none'}"
                )
            if value not in self.axes[axis]:
                raise UnknownName.among(f"{axis} of this audit", str(value), map(str, self.axes[axis]))

        def here(one: Row | Finding | Overall, everywhere: bool = False) -> bool:
            return all(one.at.get(axis, value if everywhere else None) == value for axis, value in place.items())

        axes = {axis: values for axis, values in self.provenance["axes"].items() if axis not in place}
        rows = tuple(replace(row, at=_without(row.at, place)) for row in self.rows if here(row))
        return replace(
            self,
            rows=rows,
            # What is said of no group holds everywhere.
            findings=tuple(
                replace(one, at=_without(one.at, place)) for one in self.findings if here(one, one.group is None)
            ),
            # The scores of all cases are those pooled over strata, and of no single stratum.
            overall=tuple(
                replace(one, at=_without(one.at, place))
                for one in self.overall
                if here(replace(one, at={"stratum": "pooled", **one.at}))
            ),
            n=self.n if place.get("stratum", "pooled") == "pooled" else _cases(rows),
            provenance=self.provenance | {"axes": axes, "at": plain_value(place)},
        )

    def to_frame(self, library: str | None = None) -> Any:
        """The rows as a dataframe.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            The dataframe library; by default that of the data, or the first that is installed.

        Returns
        -------
        dataframe
            One line per row, with a column per axis, and the columns of `Row.flat`.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_frame("pandas")["verdict"].to_list()
        ['inconclusive', 'inconclusive']
        """
        lines = list(self._flat())
        return self._as_frame({name: [line.get(name) for line in lines] for name in self._columns}, library)

    def _as_frame(self, values: dict[str, list[Any]], library: str | None) -> Any:
        import narwhals.stable.v2 as nw

        backend = library or self.library or _installed()
        if backend not in _LIBRARIES:
            raise UnknownName.among("dataframe library", str(backend), _LIBRARIES)
        return nw.from_dict(values, backend=backend).to_native()  # type: ignore[arg-type]

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*self.axes, *COLUMNS, *self._protection)

    @property
    def _protection(self) -> dict[str, Any]:
        """The column that says of every line that its counts were rounded."""
        rule = self.settings.get("protect")
        return {} if rule is None else {"protect": str(rule)}

    def _flat(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            places = {axis: plain_value(value) for axis, value in row.at.items()}
            yield {**row.flat(), **places, **self._protection}

    def table(self, library: str | None = None) -> Any:
        """The scores as a table of groups and metrics, with the marks of verdicts.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            The dataframe library, as for `to_frame`.

        Returns
        -------
        dataframe
            One line per group (and place on the axes), with its name as reports show it, its number of cases, and a
            column of texts per metric: the score (of models, its change), and ▲ if it is higher than the reference's, ▼
            lower, ≠ unlike, ● equivalent, □ inconclusive. A score that does not exist is ``✕``.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"])
        >>> print(a.table("pandas")["tpr"].to_list())
        ['0.000 □', '0.750 □']
        """
        return self._as_frame(self._wide(), library)

    def _wide(self) -> dict[str, list[Any]]:
        """The columns of `table`."""
        metrics = list(dict.fromkeys(row.metric for row in self.rows))
        asked = [key for key in self.settings["metrics"] if key in metrics]
        lines: dict[Any, dict[str, Any]] = {}
        for row in self.rows:
            whose = *(plain_value(row.at.get(axis)) for axis in self.axes), row.by, row.group
            line = lines.setdefault(whose, {"n": row.n})
            line[row.metric] = _marked(row)
        names = (*self.axes, "by", "group")
        order = self.provenance.get("order") or {}
        ranks = {who: i for i, who in enumerate((by, group) for by, groups in order.items() for group in groups)}
        places = [{value: i for i, value in enumerate(values)} for values in self.axes.values()]

        def place(whose: tuple[Any, ...]) -> tuple[int, ...]:
            """Places in the order of the axes, what is at none last; columns and groups as they are declared."""
            at = (known.get(value, len(known)) for known, value in zip(places, whose, strict=False))
            return *at, ranks.get(whose[-2:], len(ranks))

        ordered = sorted(lines, key=place)
        found: dict[str, list[Any]] = {name: [whose[i] for whose in ordered] for i, name in enumerate(names)}
        shown = shown_names(self.rows)
        found["group"] = [shown[whose[-2:]] for whose in ordered]
        found["n"] = [lines[whose]["n"] for whose in ordered]
        found |= {name: [rule] * len(ordered) for name, rule in self._protection.items()}
        return found | {key: [lines[whose].get(key) for whose in ordered] for key in dict.fromkeys([*asked, *metrics])}

    def to_csv(self, wide: bool = False) -> str:
        """The rows as CSV, with the columns of `to_frame`.

        Parameters
        ----------
        wide : bool
            Whether to write one line per group instead, with a column per metric, as `table` has it.

        Returns
        -------
        str
            The CSV text. Texts that a spreadsheet would take for formulas have an apostrophe before them.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_csv().splitlines()[1][:24]
        'group,A,tpr,inconclusive'
        """
        if wide:
            columns = self._wide()
            names = (*self.axes, "by", "group")
            # A score with its mark is no formula, whatever sign it begins with.
            safe = (map(spreadsheet_value, cells) if name in names else cells for name, cells in columns.items())
            return csv_text([tuple(columns), *zip(*safe, strict=True)])
        lines = ([spreadsheet_value(line.get(name)) for name in self._columns] for line in self._flat())
        return csv_text([self._columns, *lines])

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, number of cases, rows left out, record, settings, versions, overall scores, findings and rows.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> list(audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}).to_dict())
        ['schema', 'n', 'left_out', 'provenance', 'settings', 'versions', 'overall', 'findings', 'rows']
        """
        return {
            "schema": SCHEMA,
            "n": self.n,
            "left_out": self.left_out,
            "provenance": plain_value(self.provenance),
            "settings": plain_value(self.settings),
            "versions": self.versions,
            "overall": [one.to_dict() for one in self.overall],
            "findings": [finding.to_dict() for finding in self.findings],
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_json(self, indent: int | None = 2) -> str:
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
        >>> a.to_json(indent=None)[:42]
        '{"schema": "evenhand.audit/4", "n": 1040, '
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
        try:
            content = json.loads(text, parse_constant=_no_number)
            if content["schema"] != SCHEMA:
                raise InvalidInput(f"the schema of the audit must be {SCHEMA!r}; got {brief(content['schema'])}")
            _check_content(content)
            is_weighted = bool(content["provenance"].get("weight"))
            rows = enumerate(content["rows"], start=1)
            return cls(
                rows=tuple(read_row(row, f"row {i}", is_weighted=is_weighted) for i, row in rows),
                findings=tuple(read_finding(f, f"finding {i}") for i, f in enumerate(content["findings"], start=1)),
                overall=tuple(read_overall(one, f"overall {i}") for i, one in enumerate(content["overall"], start=1)),
                n=content["n"],
                left_out=content["left_out"],
                settings=content["settings"],
                provenance=content["provenance"],
                versions=content["versions"],
            )._checked()
        except InvalidInput:
            raise
        except RecursionError:
            raise InvalidInput("`text` must be an audit written by to_json(): it is nested too deeply") from None
        except (KeyError, TypeError, ValueError) as problem:
            raise InvalidInput(f"`text` must be an audit written by to_json(): {problem}") from None

    def _checked(self) -> Audit:
        """The audit, if its rows agree with each other, and all that has a place with its axes."""
        placed: tuple[Row | Finding | Overall, ...] = (*self.rows, *self.findings, *self.overall)
        for one in placed:
            for axis, value in one.at.items():
                if value not in self.axes.get(axis, ()):
                    raise InvalidInput(f"the axes of the audit must contain {axis} {brief(value)}")
        sizes: dict[Any, dict[str, int]] = {}
        apart = bool(self.left_out.get("y_true"))
        in_stratum = "stratum" in (self.provenance.get("at") or {})
        for row in self.rows:
            # Ranking scores and functions may leave out other cases than cells.
            whose = apart and row.metric in WITHOUT_LABELS, isinstance(lookup_metric(row.metric), Metric)
            place = tuple(
                (axis, value) for axis, value in row.at.items() if axis not in ("stratum", "model", "against")
            )
            strata = row.at.get("stratum")
            groups = sizes.setdefault((whose, place, strata, row.by), {})
            if groups.setdefault(row.group, row.n) != row.n:
                raise InvalidInput(f"the rows of the group {row.group!r} of {row.by!r} must have the same n")
        for ((selects, counted), _, strata, by), groups in sizes.items():
            total = self.n + (self.left_out.get("y_true", 0) if selects else 0)
            known = sum(groups.values())
            # Cases without a group may be without a label, too.
            left = total - known - self.unknown.get(by, 0)
            # Groups of which rounding leaves nothing have no rows.
            fits = known <= total if selects else left == 0 or (left > 0 and self.settings["protect"] is not None)
            if counted and strata is None and not in_stratum and not fits:
                raise InvalidInput(f"the groups of {by!r} have {known} cases, but there are {total}")
        return self

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
        from .repeat import repeated

        return repeated(self.provenance, data)

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
        if not isinstance(other, Audit):
            raise InvalidInput(argument="other", must="be an Audit", got=other)
        return list(changes_between(self.to_dict(), other.to_dict()))

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
        '# Audit of 1,040 cases in 2 groups by group'
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
        for name, text in (("title", title), ("system", system), ("author", author)):
            if not isinstance(text, str | None):
                raise InvalidInput(argument=name, must="be text", got=text)
        page = str(reach("Audit.to_html")(self, title=title, system=system, author=author))
        if path is not None:
            write_whole(path, page)
        return page

    def to_text(self, most: int | None = None) -> str:
        """The audit as text for a terminal.

        Parameters
        ----------
        most : int, optional
            The largest number of rows in the table; by default all.

        Returns
        -------
        str
            The text, at most 80 columns wide.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_text().splitlines()[0]
        'Audit of 1,040 cases in 2 groups by group'
        """
        return str(reach("Audit.to_text")(self, most))

    def plot(self, metric: str | Metric | None = None, by: str | None = None, ax: Any = None) -> Any:
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
        known = dict.fromkeys(row.metric for row in self.rows)
        key = (
            self.rows[0].metric
            if metric is None
            else metric.key
            if isinstance(metric, Metric)
            else lookup_metric(metric).key
        )
        if key not in known:
            raise UnknownName.among("metric of this audit", key, known)
        columns = list(dict.fromkeys(row.by for row in self.rows))
        if by is not None and by not in columns:
            raise UnknownName.among("group column of this audit", by, columns)
        return reach("Audit.plot")(self, key, by=by, ax=ax)

    def __str__(self) -> str:
        return str(reach("Audit.to_text")(self))

    def __repr__(self) -> str:
        groups = len({(row.by, row.group) for row in self.rows})
        differ = sum(row.differs for row in self.rows)
        axes = "".join(f", {len(values)} on the axis {axis}" for axis, values in self.axes.items())
        counts = f"{several(self.n, 'case')}, {several(groups, 'group')}{axes}, {several(len(self.rows), 'score')}"
        return f"<Audit: {counts}, {differ:,} {'differs' if differ == 1 else 'differ'}>"

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __rich__(self) -> Any:
        return reach("Audit.__rich__")(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream, with the columns of `to_frame`, for any library that reads such streams."""
        from importlib.util import find_spec

        for library in _STREAMING:
            if find_spec(library):
                return self.to_frame(library).__arrow_c_stream__(requested_schema)
        raise MissingExtra("an Arrow stream of an audit needs pyarrow or polars: pip install pyarrow")


def _cases(rows: Sequence[Row]) -> int:
    """How many labelled cases rows of one stratum are about: those of all groups of one column, by one metric."""
    sizes: dict[Any, int] = {}
    for row in rows:
        whose = row.metric, tuple(row.at.items()), row.by
        sizes[whose] = sizes.get(whose, 0) + row.n
    counted = [n for (metric, *_), n in sizes.items() if isinstance(lookup_metric(metric), Metric)]
    return min(counted or sizes.values(), default=0)


def _without(at: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, Any]:
    return {axis: value for axis, value in at.items() if axis not in place}


def _marked(row: Row) -> str:
    """A score or a change with the mark of its verdict."""
    value, sign = row.score.value, row.verdict.sign
    if value is None:
        return sign
    return f"{value:+.3f} {sign}" if row.is_change else f"{number(value)} {sign}"


def _no_number(text: str) -> Any:
    raise InvalidInput(f"`text` must be an audit written by to_json(): {text} is not a number in JSON")


def _check_content(content: Mapping[str, Any]) -> None:
    """Check what is not a row or a finding."""
    for name in ("rows", "findings", "overall"):
        if not isinstance(content[name], list):
            raise InvalidInput(f"{name} must be a list; got {brief(content[name])}")
    for name in ("left_out", "provenance", "settings", "versions"):
        if not isinstance(content[name], dict):
            raise InvalidInput(f"{name} must be a table; got {brief(content[name])}")
    if not isinstance(content["n"], int) or isinstance(content["n"], bool):
        raise InvalidInput(f"n must be a whole number; got {brief(content['n'])}")
    if not all(type(n) is int and n >= 0 for n in content["left_out"].values()):
        raise InvalidInput(f"left_out must map names to numbers of rows; got {brief(content['left_out'])}")
    settings = content["settings"]
    known = {f.name for f in fields(Settings)}
    for name in (*sorted(known), "groups", "strata", "labelled"):
        if name not in settings:
            raise InvalidInput(f"settings must contain {name}")
    Settings(**{name: settings[name] for name in known - {"reference", "metrics"}})
    lists: Sequence[tuple[str, bool]] = (("groups", True), ("metrics", True), ("strata", False))
    for name, needed in lists:
        held = settings[name]
        if not isinstance(held, list) or (needed and not held) or not all(isinstance(one, str) for one in held):
            raise InvalidInput(f"{name} in settings must be a list of names; got {brief(held)}")
    if not isinstance(settings["labelled"], bool):
        raise InvalidInput(f"labelled in settings must be true or false; got {brief(settings['labelled'])}")
    if not all(isinstance(version, str) for version in content["versions"].values()):
        raise InvalidInput(f"versions must map packages to texts; got {brief(content['versions'])}")
    check_provenance(content["provenance"])


def _installed() -> str:
    from importlib.util import find_spec

    for name in _LIBRARIES:
        if find_spec(name):
            return name
    raise MissingExtra("to_frame() needs pandas, polars or pyarrow; to_json() does not")
