"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from ..errors import InvalidInput
from ..inference import NullName, Strength, Test
from ..metrics import Metric
from ..tabulate import as_counts, read_counts_file, tabulate_each
from .class_result import ClassAudit
from .classes import audited_classes
from .making import audited
from .provenance import counts_source
from .result import Audit
from .settings import (
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

__all__ = ["audit", "audit_counts"]


# All other arguments are those below.
@overload
def audit(data: Any = ..., *, threshold: Sequence[float], **arguments: Any) -> Sweep: ...


@overload
def audit(data: Any = ..., *, classes: str | Iterable[Hashable], **arguments: Any) -> ClassAudit: ...


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
    classes: None = ...,
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
    classes: str | Iterable[Hashable] | None = None,
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
) -> Audit | Sweep | ClassAudit:
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
    classes : "all" or iterable of labels
        For labels of more than two classes: audit all of them or these, each against the rest, and scores of all
        classes. The result is a `ClassAudit`; `audit_classes` has more settings.
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
        Or a `Sweep` of several thresholds, or a `ClassAudit` of several classes. Rows without a label or a prediction
        are left out and counted. Rows without a group form a group.

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
    if classes is not None:
        for name in ("y_score", "threshold", "positive", "positive_label", "positive_prediction"):
            if (threshold if name == "threshold" else reading.pop(name)) is not None:
                raise InvalidInput(f"{name} is for two classes and cannot be combined with classes")
        return audited_classes(data, reading, how, classes)
    several = isinstance(threshold, (Sequence, np.ndarray)) and np.ndim(threshold) == 1
    thresholds: Any = threshold if several or threshold is None else [threshold]
    audits = [
        audited(tally, how, ("audit", data, reading | {"threshold": None if threshold is None else tally.threshold}))
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
        return audited(replace(tally, source=source), how, ("audit_counts", counts, {}))
    tally = as_counts(counts, by)
    tally = replace(tally, source=counts_source(tally.cells, tally.columns))
    several = len(tally.columns) > 1 or not isinstance(by, str)
    return audited(tally, how, ("audit_counts", counts, {"by": list(tally.columns) if several else by}))


def _either(one: Any, other: Any, name: str, alias: str) -> Any:
    if one is not None and other is not None:
        raise InvalidInput(f"{alias} is an alias of {name}; pass only one of them")
    return other if one is None else one
