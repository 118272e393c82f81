"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, overload

import numpy as np

from ..errors import InvalidInput, TooLarge, UnknownName
from ..inference import NullName, Strength, Test
from ..metrics import Metric
from ..progress import progress
from ..tabulate import Tally, as_counts, read_counts_file, tabulate_each
from .findings import find
from .groups import EMPTY, Grouping, compared, groupings_of
from .judge import judge
from .measure import Comparisons, Measured, measure
from .provenance import counts_source, record_of
from .result import Audit
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

__all__ = ["audit", "audit_counts", "audits_together"]

Called = tuple[str, Any, Mapping[str, Any]]
# Marks the columns of a table while several are judged together; no name of a column begins with it.
_MARK = "\0{}\0"


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
    (found,) = audits_together([tally], [how], called)
    return found


def audits_together(
    tallies: Sequence[Tally],
    hows: Sequence[Settings],
    called: Called,
    comparable: Callable[[int, Grouping], bool] = lambda _, grouping: True,
) -> list[Audit]:
    """Audit several tables, with p-values that are adjusted over all of them.

    Parameters
    ----------
    tallies : sequence of Tally
        The tables.
    hows : sequence of Settings
        The settings of each, which may differ in reference and labels.
    called : tuple
        The function that was called, the data, and what says how they are read.
    comparable : callable, optional
        Whether to audit the groups of a column or crossing, given the place of the table.

    Returns
    -------
    list of Audit
        One per table.
    """
    marks = [_MARK.format(i) if len(tallies) > 1 else "" for i in range(len(tallies))]
    found = [
        _measured(tally, how, mark, partial(comparable, i))
        for i, (tally, how, mark) in enumerate(zip(tallies, hows, marks, strict=True))
    ]
    rows = judge([one for _, some in found for one in some], hows[0])
    audits = []
    for tally, how, mark, (groupings, _) in zip(tallies, hows, marks, found, strict=True):
        own = tuple(replace(row, by=row.by.removeprefix(mark)) for row in rows if row.by.startswith(mark))
        audits.append(_audit_of(tally, how, called, groupings, own))
    return audits


def _measured(
    tally: Tally, how: Settings, mark: str, comparable: Callable[[Grouping], bool]
) -> tuple[list[Grouping], list[Measured]]:
    """The groups of a table, and the measures of all of them; ``mark`` is put before the names of their columns."""
    chosen = how.chosen(tally.labelled)
    for by in how.names:
        if by not in tally.columns:
            raise UnknownName.among("group column in labels", by, tally.columns)
    crossings = len(tally.columns) if how.crossings == "all" else int(how.crossings)
    selects = how.selection == "all" and tally.labelled and bool(tally.unlabelled)
    labelled_cells = {key: tally.cells.get(key, EMPTY) for key in tally.keys} if selects else tally.cells
    groupings = [one for one in groupings_of(tally, crossings, how.names, labelled_cells) if comparable(one)]
    _check_number(groupings, how)
    batches = [([m for m in chosen if not (selects and m.key in WITHOUT_LABELS)], groupings, tally.labelled)]
    if selects:
        everybody = {key: tally.cells.get(key, EMPTY) + tally.unlabelled.get(key, EMPTY) for key in tally.keys}
        batches.append(
            (
                [m for m in chosen if m.key in WITHOUT_LABELS],
                [one for one in groupings_of(tally, crossings, how.names, everybody) if comparable(one)],
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


def _audit_of(
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
