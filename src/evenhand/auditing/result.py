"""The result of an audit: rows, findings and record, and its ways out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, MissingExtra, UnknownName
from ..lazy import figures, pages
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..records import csv_text, plain_value, spreadsheet_value, write_whole
from .findings import Finding
from .provenance import check_record
from .repeat import arguments_of, changes_between
from .row import Row
from .settings import WITHOUT_LABELS, Settings

__all__ = ["SCHEMA", "Audit", "frame_of"]

SCHEMA = "evenhand.audit/2"
_LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit:
    """The result of an audit, with everything needed to repeat it.

    Attributes
    ----------
    rows : tuple of Row
        One row per group and metric, most important first: by verdict, then by the size of the gap that is certain.
    findings : tuple of Finding
        The main results, as sentences.
    n : int
        The number of cases audited.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    settings : dict
        The settings of the audit.
    record : dict
        What was audited and how it was read: title, system, author and time; the source with its size and SHA-256; the
        columns, the positive labels and the threshold; and the call that repeats it, in Python and as a command.
    versions : dict of str to str
        The versions of evenhand and its dependencies.
    library : str or None
        The dataframe library of the data, the default of `to_frame`.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> a
    <Audit: 1,040 cases, 2 groups, 2 scores, 0 differ>
    >>> a.findings[0].kind
    'too-few'
    """

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    record: dict[str, Any] = field(compare=False)
    versions: dict[str, str]
    library: str | None = field(default=None, compare=False, repr=False)

    @property
    def level(self) -> float:
        """The level of the intervals.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, level=0.9).level
        0.9
        """
        return float(self.settings["level"])

    def to_frame(self, library: str | None = None) -> Any:
        """The rows as a dataframe.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            By default the library of the data, or the first of these that is installed.

        Returns
        -------
        dataframe
            One row per group and metric.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_frame("pandas")[["group", "score"]].values.tolist()
        [['A', 0.0], ['B', 0.75]]
        """
        return frame_of(self.rows, Row.columns, library or self.library)

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, number of cases, settings, versions, findings and rows.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> list(a.to_dict())
        ['schema', 'n', 'left_out', 'record', 'settings', 'versions', 'findings', 'rows']
        """
        return {
            "schema": SCHEMA,
            "n": self.n,
            "left_out": self.left_out,
            "record": plain_value(self.record),
            "settings": plain_value(self.settings),
            "versions": self.versions,
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
        '{"schema": "evenhand.audit/2", "n": 1040, '
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Read an audit that was written by `to_json`.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        Audit
            The audit.

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
                raise InvalidInput(f"the schema of the audit must be {SCHEMA!r}; got {content['schema']!r}")
            _check_content(content)
            return cls(
                rows=tuple(Row.checked(row, f"row {i}") for i, row in enumerate(content["rows"], start=1)),
                findings=tuple(Finding.checked(f, f"finding {i}") for i, f in enumerate(content["findings"], start=1)),
                n=content["n"],
                left_out=content["left_out"],
                settings=content["settings"],
                record=content["record"],
                versions=content["versions"],
            )._added_up()
        except InvalidInput:
            raise
        except RecursionError:
            raise InvalidInput("text must be an audit written by to_json(): it is nested too deeply") from None
        except (KeyError, TypeError, ValueError) as problem:
            raise InvalidInput(f"text must be an audit written by to_json(): {problem}") from None

    def _added_up(self) -> Audit:
        """The audit, if the groups of each column have all of its cases."""
        sizes: dict[tuple[str, bool], dict[str, int]] = {}
        apart = self.settings["selection"] == "all"
        for row in self.rows:
            selects = apart and row.metric in WITHOUT_LABELS
            if sizes.setdefault((row.by, selects), {}).setdefault(row.group, row.n) != row.n:
                raise InvalidInput(f"the rows of the group {row.group!r} of {row.by!r} must have the same n")
        for (by, selects), groups in sizes.items():
            total = self.n + (self.left_out.get("y_true", 0) if selects else 0)
            if sum(groups.values()) != total:
                raise InvalidInput(f"the groups of {by!r} have {sum(groups.values())} cases, but there are {total}")
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
        >>> a = audit_counts(counts, metrics="tpr", alpha=0.01)
        >>> a.changes(a.repeat(counts))
        []
        """
        if self.record.get("function") == "audit_classes":
            raise InvalidInput(
                "this is the audit of one of several classes, over which its p-values are adjusted; repeat all of them "
                "with audit_classes"
            )
        if self.record.get("function") in ("audit_within", "from_metric_frame"):
            raise InvalidInput(
                "this is the audit of one of several levels, over which its p-values are adjusted; repeat all of them "
                f"with {self.record['function']}"
            )
        from .audits import audit, audit_counts

        again: Callable[..., Audit] = audit_counts if self.record.get("function") == "audit_counts" else audit
        given, arguments = arguments_of(self.record, data, inspect.signature(again).parameters)
        return again(given, **arguments)

    def changes(self, other: Audit) -> list[str]:
        """Say what differs in another audit: data, versions, verdicts and numbers.

        Parameters
        ----------
        other : Audit
            A later audit.

        Returns
        -------
        list of str
            One sentence per change.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> b = audit_counts({"A": (0, 9, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.changes(b)[-2]
        'tpr of A (group) was too few to tell and is lower'
        """
        if not isinstance(other, Audit):
            raise InvalidInput(f"other must be an Audit; got {other!r}")
        return list(changes_between(self.to_dict(), other.to_dict()))

    def to_csv(self) -> str:
        """The rows as CSV.

        Text from the data that a spreadsheet would interpret as a formula is preceded by an apostrophe.

        Returns
        -------
        str
            The CSV text, with a header.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_csv().splitlines()[1][:34]
        'group,A,tpr,too few to tell,40,0,2'
        """
        cells = ([spreadsheet_value(plain_value(getattr(row, name))) for name in Row.columns] for row in self.rows)
        return csv_text([Row.columns, *cells])

    def to_markdown(self) -> str:
        """Findings and rows as Markdown.

        Returns
        -------
        str
            The Markdown text.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_markdown().splitlines()[0]
        '# Audit of 1,040 cases in 2 groups by group'
        """
        return str(pages().as_markdown(self))

    def to_html(self, path: str | Path | None = None) -> str:
        """The audit as a self-contained HTML page (extra ``report``).

        Parameters
        ----------
        path : str or Path, optional
            A file to write the page to, whole or not at all.

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
        page = str(pages().as_page(self))
        if path is not None:
            write_whole(path, page)
        return page

    def to_text(self, most: int | None = None) -> str:
        """The audit as a table of text, as it prints.

        Parameters
        ----------
        most : int, optional
            The largest number of rows; all rows by default.

        Returns
        -------
        str
            The text, 80 columns wide.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_text().splitlines()[0]
        'Audit of 1,040 cases in 2 groups by group'
        """
        return str(pages().as_text(self, most))

    def plot(self, metric: str | Metric | None = None, ax: Any = None) -> Any:
        """Plot the scores of all groups for one metric as a forest plot (extra ``plots``).

        It shows raw and smoothed scores, intervals, the score of each reference, and verdicts by shape and colour.

        Parameters
        ----------
        metric : str or Metric, optional
            By default the metric of the first row.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import audit_counts
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> ax = a.plot("tpr")
        """
        key = self.rows[0].metric if metric is None else find_metric(metric).key
        if key not in {row.metric for row in self.rows}:
            raise UnknownName.among("metric of this audit", key, dict.fromkeys(row.metric for row in self.rows))
        return figures().draw_audit(self, key, ax=ax)

    def __str__(self) -> str:
        return str(pages().as_text(self))

    def __repr__(self) -> str:
        groups = len({(row.by, row.group) for row in self.rows})
        differ = sum(row.differs for row in self.rows)
        return f"<Audit: {self.n:,} cases, {groups} groups, {len(self.rows)} scores, {differ} differ>"

    def _repr_html_(self) -> str:
        return str(pages().as_html(self))


def _no_number(text: str) -> Any:
    raise InvalidInput(f"text must be an audit written by to_json(): {text} is not a number in JSON")


def _check_content(content: Mapping[str, Any]) -> None:
    """Check what is not a row or a finding."""
    for name in ("rows", "findings"):
        if not isinstance(content[name], list):
            raise InvalidInput(f"{name} must be a list; got {content[name]!r}")
    for name in ("left_out", "record", "settings", "versions"):
        if not isinstance(content[name], dict):
            raise InvalidInput(f"{name} must be a table; got {content[name]!r}")
    if not isinstance(content["n"], int) or isinstance(content["n"], bool):
        raise InvalidInput(f"n must be int; got {content['n']!r}")
    if not all(type(n) is int and n >= 0 for n in content["left_out"].values()):
        raise InvalidInput(f"left_out must map names to numbers of rows; got {content['left_out']!r}")
    settings = content["settings"]
    known = {f.name for f in fields(Settings)}
    for name in (*sorted(known), "groups", "labelled"):
        if name not in settings:
            raise InvalidInput(f"settings must contain {name}")
    Settings(**{name: settings[name] for name in known - {"reference"}})
    for name, held in (("groups", settings["groups"]), ("metrics", settings["metrics"])):
        if not isinstance(held, list) or not held or not all(isinstance(one, str) for one in held):
            raise InvalidInput(f"{name} in settings must be a list of names; got {held!r}")
    if not all(isinstance(version, str) for version in content["versions"].values()):
        raise InvalidInput(f"versions must map packages to texts; got {content['versions']!r}")
    check_record(content["record"])


def frame_of(rows: Sequence[Any], columns: Sequence[str], library: str | None) -> Any:
    """Rows as a dataframe of a library, or of the first that is installed."""
    import narwhals.stable.v2 as nw

    values = {name: [plain_value(getattr(row, name)) for row in rows] for name in columns}
    backend = library or _installed()
    if backend not in _LIBRARIES:
        raise UnknownName.among("dataframe library", str(backend), _LIBRARIES)
    return nw.from_dict(values, backend=backend).to_native()  # type: ignore[arg-type]


def _installed() -> str:
    from importlib.util import find_spec

    for name in _LIBRARIES:
        if find_spec(name):
            return name
    raise MissingExtra("to_frame() needs pandas, polars or pyarrow; to_json() does not")
