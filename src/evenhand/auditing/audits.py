"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, MissingExtra, TooLarge, UnknownName
from ..inference import NullName, Strength, Test, spread_of
from ..lazy import figures, pages
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..progress import progress
from ..records import plain_value, write_whole
from ..tabulate import Tally, as_counts, tabulate
from .findings import Finding, find
from .groups import MISSING, compared, groups_of
from .judge import judge
from .measure import Comparisons, measure
from .row import Row
from .settings import Adjust, Family, Favourable, Settings

__all__ = ["SCHEMA", "Audit", "audit", "audit_counts"]

SCHEMA = "evenhand.audit/2"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit:
    """What was found, and everything needed to repeat it.

    Attributes
    ----------
    rows : tuple of Row
        One for each group and metric, most important first: by verdict, then by the gap that is sure.
    findings : tuple of Finding
        What a person should know first.
    n : int
        The number of cases audited.
    left_out : dict
        How many rows were left out, by what they lack.
    settings, versions : dict
        How it was made.
    """

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    versions: dict[str, str]
    library: str | None = field(default=None, compare=False, repr=False)

    @property
    def level(self) -> float:
        """The level of the intervals."""
        return float(self.settings["level"])

    def to_frame(self, library: str | None = None) -> Any:
        """The rows as a dataframe.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            By default the library that the data came in, or the first of these that is installed.

        Returns
        -------
        dataframe
        """
        import narwhals.stable.v2 as nw

        columns = {name: [plain_value(getattr(row, name)) for row in self.rows] for name in Row.columns}
        backend = library or self.library or _installed()
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values, fit for JSON."""
        return {
            "schema": SCHEMA,
            "n": self.n,
            "left_out": self.left_out,
            "settings": plain_value(self.settings),
            "versions": self.versions,
            "findings": [finding.to_dict() for finding in self.findings],
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The audit as JSON, from which `from_json` makes it again."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """The audit that was written by `to_json`."""
        try:
            content = json.loads(text, parse_constant=_no_number)
            if content["schema"] != SCHEMA:
                raise InvalidInput(f"this reads audits of schema {SCHEMA!r}; got {content['schema']!r}")
            _check_content(content)
            return cls(
                rows=tuple(Row.checked(row, f"row {i}") for i, row in enumerate(content["rows"], start=1)),
                findings=tuple(Finding.checked(f, f"finding {i}") for i, f in enumerate(content["findings"], start=1)),
                n=content["n"],
                left_out=content["left_out"],
                settings=content["settings"],
                versions=content["versions"],
            )._added_up()
        except InvalidInput:
            raise
        except RecursionError:
            raise InvalidInput("this is not an audit as written by to_json(): it is nested too deeply") from None
        except (KeyError, TypeError, ValueError) as problem:
            raise InvalidInput(f"this is not an audit as written by to_json(): {problem}") from None

    def _added_up(self) -> Audit:
        """The audit, if the groups of each column have all of its cases."""
        sizes: dict[str, dict[str, int]] = {}
        for row in self.rows:
            if sizes.setdefault(row.by, {}).setdefault(row.group, row.n) != row.n:
                raise InvalidInput(f"the rows of the group {row.group!r} of {row.by!r} must have the same n")
        for by, groups in sizes.items():
            if sum(groups.values()) != self.n:
                raise InvalidInput(f"the groups of {by!r} have {sum(groups.values())} cases, but n = {self.n}")
        return self

    def to_csv(self) -> str:
        """The rows as CSV; text from data that a spreadsheet would take for a formula is marked as text."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Row.columns)
        writer.writerows([_as_cell(plain_value(getattr(row, name))) for name in Row.columns] for row in self.rows)
        return out.getvalue()

    def to_markdown(self) -> str:
        """Findings and rows as Markdown."""
        return str(pages().as_markdown(self))

    def to_html(self, path: str | Path | None = None) -> str:
        """The audit as one page that opens offline (extra ``report``).

        Parameters
        ----------
        path : path, optional
            Where to write the page as well, whole or not at all.

        Returns
        -------
        str
            The page.
        """
        page = str(pages().as_page(self))
        if path is not None:
            write_whole(path, page)
        return page

    def to_text(self, most: int | None = None) -> str:
        """The table that prints, with every row or with at most ``most``."""
        return str(pages().as_text(self, most))

    def plot(self, metric: str | Metric | None = None, ax: Any = None) -> Any:
        """Draw the groups' scores of a metric as a forest plot (extra ``plots``).

        Raw and smoothed scores, intervals, each group's reference, and verdicts by shape as well as by colour.

        Parameters
        ----------
        metric : str or Metric, optional
            By default the one that comes first in `rows`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        matplotlib.axes.Axes
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
    raise InvalidInput(f"this is not an audit as written by to_json(): {text} is not a number in JSON")


def _check_content(content: Mapping[str, Any]) -> None:
    """Check what is not a row or a finding."""
    for name in ("rows", "findings"):
        if not isinstance(content[name], list):
            raise InvalidInput(f"{name} must be a list; got {content[name]!r}")
    for name in ("left_out", "settings", "versions"):
        if not isinstance(content[name], dict):
            raise InvalidInput(f"{name} must be a table; got {content[name]!r}")
    if not isinstance(content["n"], int) or isinstance(content["n"], bool):
        raise InvalidInput(f"n must be int; got {content['n']!r}")
    if not all(type(n) is int and n >= 0 for n in content["left_out"].values()):
        raise InvalidInput(f"left_out must map names to numbers of rows; got {content['left_out']!r}")
    settings = content["settings"]
    known = {f.name for f in fields(Settings)}
    for name in (*sorted(known), "groups", "positive", "labels"):
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

    for name in ("pandas", "polars", "pyarrow"):
        if find_spec(name):
            return name
    raise MissingExtra("to_frame() needs pandas, polars or pyarrow; to_json() needs none")


def audit(
    data: Any = None,
    *,
    y_true: Any = None,
    y_pred: Any = None,
    groups: Any = None,
    y_score: Any = None,
    threshold: float = 0.5,
    positive: Any = None,
    sensitive_features: Any = None,
    pos_label: Any = None,
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    reference: str | ConfusionMatrix | Mapping[str, Any] = "rest",
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
    intersections: bool = True,
    max_groups: int = 1_000,
) -> Audit:
    """Audit a table of decisions: which groups differ, which are alike, and where there are too few cases to tell.

    The engine that holds the data does one thing, a group-by count; only the counts come back.

    Parameters
    ----------
    data : dataframe, path, mapping of columns, or None
        Whatever narwhals knows (pandas, polars, lazy polars, pyarrow, DuckDB, Dask, PySpark, Ibis); a CSV, TSV or
        Parquet file, a folder or a glob of Parquet (extra ``files``); or None, if the columns are given themselves.
    y_true : str or column
        The labels. None: there are none, and only rates of selection are audited.
    y_pred : str or column
        The predictions.
    groups : str, list of str, or columns
        Who belongs to which group. Several columns give the groups of each, and of their intersection.
        ``sensitive_features`` is the same.
    y_score, threshold : str or column, float
        Scores in place of predictions; those at or above the threshold are positive.
    positive : label
        Which label is the positive one, unless it cannot be mistaken. ``pos_label`` is the same.
    metrics : names of metrics
        Any of the catalogue; by default ppr, tpr, fpr, ppv, npv, acc, f1 and prev.
    reference : "rest", "all", the name of a group, a ConfusionMatrix, or a mapping of group column to one of these
        Whom each group is compared with; by default all cases outside it.
    level : float
        Of the intervals.
    alpha : float
        The adjusted p-value at or below which a group is said to differ.
    adjust : {"holm", "bh", "none"}
        How p-values are adjusted for several comparisons: so that a single false alarm is unlikely (Holm, sharpened by
        what each exact test can reach), so that few alarms are false (Benjamini and Hochberg), or not at all.
    family : {"metric", "audit"}
        What is adjusted over: the groups of each metric, or all groups and metrics together.
    margin : float
        Scores whose gap surely lies within ±margin are alike. Scores without an upper end, such as likelihood ratios,
        are alike if their ratio surely lies between 0.8 and 1.25.
    test : {"fisher", "unconditional"}
        Of equal rates; see `disparity`. With Holm's method both find about as much; "unconditional" takes longer.
    mid_p : bool
        Count the observed outcome half: less conservative, but no longer guaranteed.
    null : {"pooled", "known", "predictive"}
        Of the MATCH percentile; see `match_test`.
    strength : float, mapping or "auto"
        Of Cross-Prior Smoothing; "auto" learns it from how much the other groups spread.
    favourable : {"positive", "negative"}
        Which prediction is good for a person; impact ratios compare its rates.
    impact_share : float
        Impact ratios compare with the highest rate among groups that have at least this share of the cases.
    replace_undefined_by : float
        A number in place of scores that do not exist, for those who must have one; reason and verdict stay.
    intersections : bool
        Whether several group columns are crossed too.
    max_groups : int
        More groups than this are refused.

    Returns
    -------
    Audit
        Rows with a missing label or prediction are left out and counted; a missing group is a group.

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
        intersections=intersections,
        max_groups=max_groups,
    )
    chosen = _either(groups, sensitive_features, "groups", "sensitive_features")
    if chosen is None:
        raise InvalidInput("groups must name the column that says who belongs to which group")
    tally = tabulate(
        data,
        y_true=y_true,
        y_pred=y_pred,
        groups=chosen,
        y_score=y_score,
        threshold=threshold,
        positive=_either(positive, pos_label, "positive", "pos_label"),
    )
    return _audited(tally, how)


def audit_counts(
    counts: Mapping[Any, Any],
    *,
    by: str | Sequence[str] = "group",
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    reference: str | ConfusionMatrix | Mapping[str, Any] = "rest",
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
    intersections: bool = True,
    max_groups: int = 1_000,
) -> Audit:
    """Audit groups of which only the confusion matrices are known.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn
        The groups; tuples of values if ``by`` names several columns.
    by : str or several
        What the groups are groups of.
    metrics, reference, level, alpha, adjust, family, margin, test, mid_p, null, strength, favourable, impact_share
        As for `audit`.
    replace_undefined_by, intersections, max_groups
        As for `audit`.

    Returns
    -------
    Audit

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
        intersections=intersections,
        max_groups=max_groups,
    )
    return _audited(as_counts(counts, by), how)


def _either(one: Any, other: Any, name: str, alias: str) -> Any:
    if one is not None and other is not None:
        raise InvalidInput(f"{name} and {alias} are the same; give one of them")
    return other if one is None else one


def _audited(tally: Tally, how: Settings) -> Audit:
    chosen = how.chosen(tally.labelled)
    groups = groups_of(tally, how.intersections)
    many = sum(map(len, groups.values()))
    if many > how.max_groups:
        raise TooLarge(
            f"there are {many:,} groups, more than max_groups={how.max_groups:,}; choose a coarser column, or raise "
            "max_groups"
        )
    pairs = compared(groups, how.reference)
    table = Comparisons.of(pairs, groups, how.strength)
    measured = [one for m in progress(chosen, "auditing") for one in measure(m, table, how, tally.labelled)]
    rows = judge(measured, groups, how, tally.labelled)
    missing = {
        by: int(members[MISSING].n) for by, members in groups.items() if MISSING in members and by in tally.columns
    }
    spreads = {by: spread_of(members) for by, members in groups.items()} if tally.labelled else {}
    return Audit(
        rows=rows,
        findings=find(rows, tally.left_out, missing, spreads, how),
        n=int(sum(cm.n for cm in tally.cells.values())),
        left_out=tally.left_out,
        settings=how.recorded(tally.labelled)
        | {
            "groups": list(tally.columns),
            # JSON has no infinity.
            "positive": str(tally.positive) if tally.positive in (inf, -inf) else tally.positive,
            "labels": tally.labelled,
        },
        versions=_versions(),
        library=tally.library,
    )


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    packages = {name: version(name) for name in ("evenhand", "numpy", "scipy")}
    return packages | {"python": platform.python_version()}
