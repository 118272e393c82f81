"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from io import StringIO
from pathlib import Path
from typing import Any

from ..drawing import Mark, forest
from ..errors import InvalidInput, MissingExtra, TooLarge, UnknownName
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..progress import progress
from ..tabulate import Tally, as_counts, tabulate
from .adjust import ADJUSTMENTS
from .compare import Measured, measure
from .findings import Finding, find
from .groups import MISSING, compared, groups_of
from .render import as_html, as_markdown, as_text
from .report import as_page
from .row import Row, Verdict, labels
from .settings import Settings

__all__ = ["SCHEMA", "Audit", "audit", "audit_counts"]

SCHEMA = "evenhand.audit/1"

_RANKS = {
    "differs": 0,
    "undefined": 1,
    "too small to tell": 2,
    "no evidence of a difference": 3,
    "reference": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found, and everything needed to repeat it.

    Attributes
    ----------
    rows : tuple of Row
        One for each group and metric, worst first.
    findings : tuple of Finding
        What a person should know first, worst first.
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
        """The rows as a dataframe, in the caller's own library, or in "pandas", "polars" or "pyarrow"."""
        import narwhals.stable.v2 as nw

        columns = {f.name: [getattr(row, f.name) for row in self.rows] for f in fields(Row)}
        backend = library or self.library or _installed()
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]

    def to_json(self, indent: int | None = 2) -> str:
        """The audit as JSON, from which `from_json` makes it again."""
        content = {
            "schema": SCHEMA,
            "n": self.n,
            "left_out": self.left_out,
            "settings": self.settings,
            "versions": self.versions,
            "findings": [asdict(finding) for finding in self.findings],
            "rows": [asdict(row) for row in self.rows],
        }
        return json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """The audit that was written by `to_json`."""
        try:
            content = json.loads(text)
            if content["schema"] != SCHEMA:
                raise InvalidInput(f"this reads audits of schema {SCHEMA!r}; got {content['schema']!r}")
            return cls(
                rows=tuple(Row(**row) for row in content["rows"]),
                findings=tuple(Finding(**f | {"metrics": tuple(f["metrics"])}) for f in content["findings"]),
                n=content["n"],
                left_out=content["left_out"],
                settings=content["settings"],
                versions=content["versions"],
            )
        except (KeyError, TypeError, json.JSONDecodeError) as refusal:
            raise InvalidInput(f"this is no audit as to_json() writes it: {refusal}") from None

    def to_csv(self) -> str:
        """The rows as CSV; text from data that a spreadsheet would take for a formula is marked as text."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(f.name for f in fields(Row))
        writer.writerows([_as_cell(getattr(row, f.name)) for f in fields(Row)] for row in self.rows)
        return out.getvalue()

    def to_markdown(self) -> str:
        """Findings and rows as Markdown."""
        return as_markdown(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """The audit as one page that opens offline, also written to ``path`` if there is one (extra ``report``)."""
        page = as_page(self)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8", newline="\n")
        return page

    def to_text(self, most: int | None = None) -> str:
        """The table that prints, with every row or with at most ``most``."""
        return as_text(self, most)

    def plot(self, metric: str | Metric | None = None, ax: Any = None) -> Any:
        """Draw the groups' scores of a metric as a forest plot (extra ``plots``); of the worst one by default.

        Raw and smoothed scores, intervals, each group's reference, and verdicts by shape as well as by colour.
        """
        key = self.rows[0].metric if metric is None else find_metric(metric).key
        rows = [row for row in self.rows if row.metric == key]
        if not rows:
            raise UnknownName.among("metric of this audit", key, dict.fromkeys(row.metric for row in self.rows))
        called = labels(self.rows)
        marks = [
            Mark(
                label=f"{called[row.by, row.group]} ({row.n if row.denominator is None else row.denominator:,})",
                score=row.score if row.status == "ok" else None,
                low=row.low,
                high=row.high,
                reference=row.reference_score,
                smoothed=row.smoothed,
                verdict=row.verdict,
                note="" if row.status == "ok" else row.status,
            )
            for row in rows
        ]
        name = find_metric(key).name
        return forest(marks, title=f"{name}, {100 * self.level:g} % intervals", xlabel=name, ax=ax)

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


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
    **settings: Any,
) -> Audit:
    """Audit a table of decisions: which groups differ, which do not, and which are too small to tell.

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
    **settings
        How it is made: `Settings`.

    Returns
    -------
    Audit
        Rows with a missing label or prediction are left out and counted; a missing group is a group.

    Examples
    --------
    >>> from evenhand.examples import compas, rows
    >>> a = audit(rows(compas()), y_true="y_true", y_pred="y_pred", groups="group", metrics=["fpr"])
    >>> a.rows[0].group, a.rows[0].verdict
    ('African-American', 'differs (higher)')
    """
    how = Settings.named(settings)
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


def audit_counts(counts: Mapping[Any, Any], *, by: str | Sequence[str] = "group", **settings: Any) -> Audit:
    """Audit groups of which only the confusion matrices are known.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn
        The groups; tuples of values if ``by`` names several columns.
    by : str or several
        What the groups are groups of.
    **settings
        How it is made: `Settings`.

    Examples
    --------
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> a.rows[0].group, a.rows[0].verdict, round(a.rows[0].pvalue, 3)
    ('A', 'too small to tell', 0.128)
    """
    return _audited(as_counts(counts, by), Settings.named(settings))


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
            "max_groups (each group and metric takes some milliseconds)"
        )
    pairs = compared(groups, how.reference)
    tasks = [(who, m) for m in chosen for who in pairs]
    rows = _judged([measure(who, m, how, tally.labelled) for who, m in progress(tasks, "auditing")], how)
    missing = {
        by: int(members[MISSING].n) for by, members in groups.items() if MISSING in members and by in tally.columns
    }
    return Audit(
        rows=rows,
        findings=find(rows, tally.left_out, missing, how),
        n=int(sum(cm.n for cm in tally.cells.values())),
        left_out=tally.left_out,
        settings=how.recorded(tally.labelled)
        | {
            "groups": list(tally.columns),
            "positive": tally.positive,
            "labels": tally.labelled,
        },
        versions=_versions(),
        library=tally.library,
    )


def _judged(measured: list[Measured], how: Settings) -> tuple[Row, ...]:
    """Rows with adjusted p-values and verdicts, worst first."""
    adjusted = _adjusted(measured, how.adjust)
    highest: dict[str, float] = {}
    for found in measured:
        if found.metric.key == "ppr" and found.fields["score"] is not None:
            highest[found.who.by] = max(highest.get(found.who.by, 0.0), found.fields["score"])
    rows = []
    for found, p in zip(measured, adjusted, strict=True):
        values: dict[str, Any] = dict.fromkeys((f.name for f in fields(Row)), None)
        values |= found.fields
        values |= {"by": found.who.by, "group": found.who.group, "metric": found.metric.key, "p_adjusted": p}
        values |= {"reference": found.who.reference, "verdict": _verdict(found, p, how.alpha, how.detect)}
        if found.metric.key == "ppr" and values["score"] is not None and highest[found.who.by] > 0:
            values["impact_ratio"] = values["score"] / highest[found.who.by]
        if values["score"] is None and how.replace_undefined_by is not None:
            values["score"] = float(how.replace_undefined_by)
        rows.append(Row(**values))
    return tuple(sorted(rows, key=_worst_first))


def _worst_first(row: Row) -> tuple[int, float]:
    rank = _RANKS[row.verdict.split(" (")[0]]
    return rank, row.p_adjusted if row.p_adjusted is not None else 2.0


def _adjusted(measured: list[Measured], adjust: str) -> list[float | None]:
    """Adjusted over the groups of each metric; two groups that are each other's rest are one comparison."""
    found: list[float | None] = [one.fields.get("pvalue") for one in measured]
    if adjust == "none":
        return found
    families: dict[str, dict[tuple[str, str], list[int]]] = {}
    for i, one in enumerate(measured):
        if found[i] is not None:
            whose = (one.who.by, "" if one.who.only_two else one.who.group)
            families.setdefault(one.metric.key, {}).setdefault(whose, []).append(i)
    for comparisons in families.values():
        # Either group of the two may be looked at; the more careful of the two p-values holds for both.
        values = ADJUSTMENTS[adjust]([max(found[i] or 0.0 for i in at) for at in comparisons.values()])
        for at, value in zip(comparisons.values(), values, strict=True):
            for i in at:
                found[i] = value
    return found


def _verdict(found: Measured, p: float | None, alpha: float, detect: float) -> Verdict:
    if found.who.is_reference:
        return "reference"
    if found.reason or found.test is None or p is None:
        return "undefined"
    if p <= alpha:
        gap = found.fields.get("difference") or found.test.percentile - 0.5
        return "differs (higher)" if gap > 0 else "differs (lower)"
    far = detect if found.metric.range[1] < float("inf") else detect * max(1.0, abs(found.test.reference_score))
    return "no evidence of a difference" if found.test.detects(far, alpha) else "too small to tell"


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    packages = {name: version(name) for name in ("evenhand", "numpy", "scipy")}
    return packages | {"python": platform.python_version()}
