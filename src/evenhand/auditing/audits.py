"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

import csv
import inspect
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from io import StringIO
from pathlib import Path
from typing import Any, overload

import numpy as np

from ..errors import InvalidInput, MissingExtra, TooLarge, UnknownName
from ..inference import NullName, Strength, Test
from ..lazy import figures, pages
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..progress import progress
from ..records import plain_value, write_whole
from ..tabulate import Tally, as_counts, read_counts_file, tabulate_each
from .findings import Finding, find
from .groups import EMPTY, Grouping, compared, groupings_of
from .judge import judge
from .measure import Comparisons, Measured, measure
from .provenance import counts_source, record_of
from .repeat import arguments_of, changes_between
from .row import Row
from .settings import (
    WITHOUT_LABELS,
    Adjust,
    Family,
    Favourable,
    Labels,
    Reference,
    ReferenceKind,
    Selection,
    Settings,
)
from .sweep import Sweep

__all__ = ["SCHEMA", "Audit", "audit", "audit_counts", "audit_of", "measured_of"]

SCHEMA = "evenhand.audit/2"
_LIBRARIES = ("pandas", "polars", "pyarrow")

Called = tuple[str, Any, Mapping[str, Any]]


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
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_frame("pandas")[["group", "score"]].values.tolist()
        [['A', 0.0], ['B', 0.75]]
        """
        import narwhals.stable.v2 as nw

        columns = {name: [plain_value(getattr(row, name)) for row in self.rows] for name in Row.columns}
        backend = library or self.library or _installed()
        if backend not in _LIBRARIES:
            raise UnknownName.among("dataframe library", str(backend), _LIBRARIES)
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, number of cases, settings, versions, findings and rows.

        Examples
        --------
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
        >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
        >>> a.to_csv().splitlines()[1][:34]
        'group,A,tpr,too few to tell,40,0,2'
        """
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Row.columns)
        writer.writerows([_as_cell(plain_value(getattr(row, name))) for name in Row.columns] for row in self.rows)
        return out.getvalue()

    def to_markdown(self) -> str:
        """Findings and rows as Markdown.

        Returns
        -------
        str
            The Markdown text.

        Examples
        --------
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


def _as_cell(value: Any) -> Any:
    return (
        f"'{value}"
        if isinstance(value, str) and value.lstrip()[:1] in ("=", "+", "-", "@") and value.strip()
        else value
    )


def _installed() -> str:
    from importlib.util import find_spec

    for name in _LIBRARIES:
        if find_spec(name):
            return name
    raise MissingExtra("to_frame() needs pandas, polars or pyarrow; to_json() does not")


# All other arguments are those below.
@overload
def audit(data: Any = ..., *, threshold: Sequence[float], **arguments: Any) -> Sweep: ...


@overload
def audit(
    data: Any = ...,
    *,
    y_true: Any = ...,
    y_pred: Any = ...,
    groups: Any = ...,
    y_score: Any = ...,
    threshold: float | None = ...,
    positive: Any = ...,
    positive_label: Any = ...,
    positive_prediction: Any = ...,
    bins: Mapping[str, Sequence[float]] | None = ...,
    sensitive_features: Any = ...,
    pos_label: Any = ...,
    sample_weight: None = ...,
    metrics: Sequence[str | Metric] | str | Metric | None = ...,
    reference: Reference = ...,
    level: float = ...,
    alpha: float = ...,
    adjust: Adjust = ...,
    family: Family = ...,
    margin: float = ...,
    test: Test = ...,
    mid_p: bool = ...,
    null: NullName = ...,
    strength: Strength = ...,
    favourable: Favourable = ...,
    impact_share: float = ...,
    replace_undefined_by: float | None = ...,
    crossings: int | str = ...,
    labels: Labels | None = ...,
    selection: Selection = ...,
    max_groups: int = ...,
    title: str | None = ...,
    system: str | None = ...,
    author: str | None = ...,
) -> Audit: ...


def audit(  # type: ignore[misc]
    data: Any = None,
    *,
    y_true: Any = None,
    y_pred: Any = None,
    groups: Any = None,
    y_score: Any = None,
    threshold: float | Sequence[float] | None = None,
    positive: Any = None,
    positive_label: Any = None,
    positive_prediction: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    sensitive_features: Any = None,
    pos_label: Any = None,
    sample_weight: None = None,
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    reference: Reference = ReferenceKind.REST,
    level: float = 0.95,
    alpha: float = 0.05,
    adjust: Adjust = "holm",
    family: Family = "metric",
    margin: float = 0.1,
    test: Test = "fisher",
    mid_p: bool = False,
    null: NullName = "pooled",
    strength: Strength = 10.0,
    favourable: Favourable = "positive",
    impact_share: float = 0.02,
    replace_undefined_by: float | None = None,
    crossings: int | str = 2,
    labels: Labels | None = None,
    selection: Selection = "labelled",
    max_groups: int = 1_000,
    title: str | None = None,
    system: str | None = None,
    author: str | None = None,
) -> Audit | Sweep:
    """Audit a table of decisions: which groups differ, which are alike, and where there are too few cases to tell.

    The engine that holds the data only counts rows by group, label and prediction; only the counts are fetched.

    Parameters
    ----------
    data : dataframe, path, mapping of columns or None
        A dataframe that narwhals supports (pandas, polars, lazy polars, pyarrow, DuckDB, Dask, PySpark, Ibis); a CSV,
        TSV or Parquet file, or a folder or glob of Parquet files (extra ``files``); or None if the columns are passed.
    y_true : str or column
        The labels. Without labels, only selection rates are audited.
    y_pred : str or column
        The predictions.
    groups : str, list of str or columns
        One or more columns that say which group a row belongs to. The groups of each column are audited, and those of
        crossings. ``sensitive_features`` is an alias.
    y_score, threshold : str or column, float or sequence of float
        Scores in place of predictions; those at or above the threshold are positive. By default it is 0.5, if all
        scores are between 0 and 1. Several thresholds give a `Sweep`, an audit per threshold.
    positive : label or list of labels
        The positive labels; all others are negative. By default they are inferred where they are unambiguous.
        ``pos_label`` is an alias.
    positive_label, positive_prediction : label or list of labels
        The positive labels of ``y_true`` and of ``y_pred``, if they differ.
    bins : mapping of group column to sequence of float
        Where to cut group columns that contain numbers, such as ages: ``{"age": [25, 45]}`` gives three groups.
    sample_weight : None
        Refused: weights change the law of the counts, so exact tests do not apply; see `effective_counts`.
    metrics : str, Metric or sequence of them
        Metrics of the catalogue; by default ppr, tpr, fpr, ppv, npv, acc, f1 and prev.
    reference : "rest", "all", "largest", "best", name of a group, ConfusionMatrix, or mapping of column to one of these
        What each group is compared with; by default all cases outside it. ``"largest"`` is the group with most cases,
        ``"best"`` the one with the highest rate of favourable predictions among those that impact ratios compare with.
        The reference of a crossing is the crossing of its columns' references, unless the mapping names it, as in
        ``{"race & sex": "White & Male"}``.
    level : float
        The level of the intervals.
    alpha : float
        A group differs if its adjusted p-value is at most this.
    adjust : {"holm", "bh", "none"}
        The adjustment for multiple comparisons: Holm's method, which controls the probability of any false positive,
        refined by the attainable p-values of exact tests; Benjamini and Hochberg's, which controls the false discovery
        rate; or none.
    family : {"metric", "audit"}
        Adjust over the groups of each metric, or over all groups and metrics together.
    margin : float
        Scores are alike if the whole interval of their gap lies within ±margin. Unbounded scores, such as likelihood
        ratios, are alike if the whole interval of their ratio lies between 0.8 and 1.25.
    test : {"fisher", "unconditional"}
        The test of equal rates; see `disparity`. With Holm's method both have similar power; ``"unconditional"`` is
        slower.
    mid_p : bool
        Count half of the probability of the observed outcome: less conservative, but the level is no longer guaranteed.
    null : {"pooled", "known", "predictive"}
        The null of the MATCH percentile; see `match_test`.
    strength : float, mapping or "auto"
        The strength of Cross-Prior Smoothing; ``"auto"`` learns it from the spread of the other groups.
    favourable : {"positive", "negative"}
        The prediction that is favourable for a person; impact ratios compare its rates.
    impact_share : float
        Impact ratios compare with the highest rate among groups that have at least this share of the cases.
    replace_undefined_by : float
        A number to report in place of undefined scores; reason and verdict are unchanged.
    crossings : int or "all"
        The largest number of group columns that are crossed: 1 for none, 2 for pairs.
    labels : mapping of group column to mapping of value to name
        Names for the groups of a column, such as ``{"RAC1P": {1: "White"}}``.
    selection : {"labelled", "all"}
        The rows that selection rates count: those with a label, as for all other scores, or all with a prediction.
    max_groups : int
        The largest number of groups allowed.
    title, system, author : str
        What the report is called, what was audited, and who made it.

    Returns
    -------
    Audit
        Rows without a label or a prediction are left out and counted. Rows without a group form a group.

    Examples
    --------
    >>> from evenhand.examples import compas, rows
    >>> a = audit(rows(compas()), y_true="y_true", y_pred="y_pred", groups="group", metrics=["fpr"])
    >>> a.rows[0].group, a.rows[0].verdict.value
    ('African-American', 'higher')
    """
    how = Settings(
        metrics=metrics,
        reference=reference,
        level=level,
        alpha=alpha,
        adjust=adjust,
        family=family,
        margin=margin,
        test=test,
        mid_p=mid_p,
        null=null,
        strength=strength,
        favourable=favourable,
        impact_share=impact_share,
        replace_undefined_by=replace_undefined_by,
        crossings=crossings,
        labels=labels,
        selection=selection,
        max_groups=max_groups,
        title=title,
        system=system,
        author=author,
    )
    if sample_weight is not None:
        raise InvalidInput(
            "sample_weight changes the law of the counts, so exact tests do not apply; pass effective_counts(y_true, "
            "y_pred, groups, weights).counts to audit_counts, which is then approximate"
        )
    chosen = _either(groups, sensitive_features, "groups", "sensitive_features")
    if chosen is None:
        raise InvalidInput("groups must be the name of a group column or its values; got None")
    reading = {
        "y_true": y_true,
        "y_pred": y_pred,
        "y_score": y_score,
        "groups": chosen,
        "positive": _either(positive, pos_label, "positive", "pos_label"),
        "positive_label": positive_label,
        "positive_prediction": positive_prediction,
        "bins": bins,
    }
    several = isinstance(threshold, (Sequence, np.ndarray)) and np.ndim(threshold) == 1
    thresholds: Any = threshold if several or threshold is None else [threshold]
    audits = [
        _audited(tally, how, ("audit", data, reading | {"threshold": None if threshold is None else tally.threshold}))
        for tally in tabulate_each(data, thresholds=thresholds, **reading)
    ]
    return Sweep(tuple(audits)) if several else audits[0]


def audit_counts(
    counts: Mapping[Any, Any] | str | Path,
    *,
    by: str | Sequence[str] = "group",
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    reference: Reference = ReferenceKind.REST,
    level: float = 0.95,
    alpha: float = 0.05,
    adjust: Adjust = "holm",
    family: Family = "metric",
    margin: float = 0.1,
    test: Test = "fisher",
    mid_p: bool = False,
    null: NullName = "pooled",
    strength: Strength = 10.0,
    favourable: Favourable = "positive",
    impact_share: float = 0.02,
    replace_undefined_by: float | None = None,
    crossings: int | str = 2,
    labels: Labels | None = None,
    selection: Selection = "labelled",
    max_groups: int = 1_000,
    title: str | None = None,
    system: str | None = None,
    author: str | None = None,
) -> Audit:
    """Audit groups with known confusion matrices.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn; or path
        The matrices. If ``by`` names several columns, a group is the tuple of its values. A CSV file has the columns
        tp, fn, fp and tn, and one or more group columns.
    by : str or sequence of str
        The names of the group columns; a file names its own.
    metrics, reference, level, alpha, adjust, family, margin, test, mid_p, null, strength, favourable, impact_share
        As for `audit`.
    replace_undefined_by, crossings, labels, selection, max_groups, title, system, author
        As for `audit`.

    Returns
    -------
    Audit
        The audit.

    Examples
    --------
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> a.rows[0].group, a.rows[0].verdict.value, round(a.rows[0].pvalue, 3)
    ('A', 'too few to tell', 0.128)
    """
    how = Settings(
        metrics=metrics,
        reference=reference,
        level=level,
        alpha=alpha,
        adjust=adjust,
        family=family,
        margin=margin,
        test=test,
        mid_p=mid_p,
        null=null,
        strength=strength,
        favourable=favourable,
        impact_share=impact_share,
        replace_undefined_by=replace_undefined_by,
        crossings=crossings,
        labels=labels,
        selection=selection,
        max_groups=max_groups,
        title=title,
        system=system,
        author=author,
    )
    if isinstance(counts, (str, Path)):
        columns, matrices, source = read_counts_file(counts)
        tally = as_counts(matrices, columns)
        source["rows"] = int(tally.total.n)
        return _audited(replace(tally, source=source), how, ("audit_counts", counts, {}))
    tally = as_counts(counts, by)
    tally = replace(tally, source=counts_source(tally.cells, tally.columns))
    several = len(tally.columns) > 1 or not isinstance(by, str)
    return _audited(tally, how, ("audit_counts", counts, {"by": list(tally.columns) if several else by}))


def _either(one: Any, other: Any, name: str, alias: str) -> Any:
    if one is not None and other is not None:
        raise InvalidInput(f"{alias} is an alias of {name}; pass only one of them")
    return other if one is None else one


def _audited(tally: Tally, how: Settings, called: Called) -> Audit:
    """The audit of a table."""
    groupings, measured = measured_of(tally, how)
    return audit_of(tally, how, called, groupings, judge(measured, how))


def measured_of(tally: Tally, how: Settings, mark: str = "") -> tuple[list[Grouping], list[Measured]]:
    """The groups of a table, and the measures of all of them; ``mark`` is put before the names of their columns."""
    chosen = how.chosen(tally.labelled)
    for by in how.names:
        if by not in tally.columns:
            raise UnknownName.among("group column in labels", by, tally.columns)
    crossings = len(tally.columns) if how.crossings == "all" else int(how.crossings)
    selects = how.selection == "all" and tally.labelled and bool(tally.unlabelled)
    labelled_cells = {key: tally.cells.get(key, EMPTY) for key in tally.keys} if selects else tally.cells
    groupings = groupings_of(tally, crossings, how.names, labelled_cells)
    _check_number(groupings, how)
    batches = [([m for m in chosen if not (selects and m.key in WITHOUT_LABELS)], groupings, tally.labelled)]
    if selects:
        everybody = {key: tally.cells.get(key, EMPTY) + tally.unlabelled.get(key, EMPTY) for key in tally.keys}
        batches.append(
            (
                [m for m in chosen if m.key in WITHOUT_LABELS],
                groupings_of(tally, crossings, how.names, everybody),
                False,
            )
        )
    work = [
        (m, table)
        for metrics, members, labelled in batches
        for pairs in [compared(members, how, labelled)]
        for table in [Comparisons.of([replace(who, by=f"{mark}{who.by}") for who in pairs], how.strength)]
        for m in metrics
    ]
    total = sum(len(grouping.members) for grouping in groupings)
    measured = [one for m, table in progress(work, f"auditing {total:,} groups") for one in measure(m, table, how)]
    return groupings, measured


def audit_of(
    tally: Tally, how: Settings, called: Called, groupings: Sequence[Grouping], rows: tuple[Row, ...]
) -> Audit:
    """The audit with these rows; ``called`` are the function, the data and what says how they are read."""
    return Audit(
        rows=rows,
        findings=find(rows, tally, groupings, how),
        n=int(tally.total.n),
        left_out=tally.left_out,
        settings=how.recorded(tally.labelled) | {"groups": list(tally.columns), "labelled": tally.labelled},
        record=record_of(*called, tally, how, {grouping.name: grouping.members for grouping in groupings}),
        versions=_versions(),
        library=tally.library,
    )


def _check_number(groupings: Sequence[Grouping], how: Settings) -> None:
    total = sum(len(grouping.members) for grouping in groupings)
    if total > how.max_groups:
        each = ", ".join(f"{len(grouping.members):,} by {grouping.name}" for grouping in groupings)
        raise TooLarge(
            f"there are {total:,} groups ({each}), more than max_groups={how.max_groups:,}; choose a coarser column or "
            "fewer crossings, or raise max_groups"
        )


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    packages = {name: version(name) for name in ("evenhand", "numpy", "scipy")}
    return packages | {"python": platform.python_version()}
