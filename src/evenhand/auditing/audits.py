"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

from ..data import (
    NO_GROUPS,
    build_model_tally,
    build_tally,
    group_columns,
    hide_facts,
    read_counts,
    tally_counts,
)
from ..errors import InvalidInput, UnknownName
from ..metrics import Metric
from .evaluate_goals import select_goals
from .metric_selection import Function, needs_of, select_metrics
from .provenance import counts_source
from .requests import with_fields_of
from .result import Audit
from .run import run_audit
from .settings import MODEL_METRICS, WITHOUT_LABELS, AuditRequest, CountsRequest, ModelsRequest


@with_fields_of(AuditRequest)
def audit(request: AuditRequest) -> Audit:
    """Audit a table of decisions: which groups differ, and where there are too few cases to tell.

    The engine that holds the data only counts rows by group, label and prediction; only the
    counts are fetched.

    Parameters
    ----------
    data : dataframe, path, mapping of columns or None
        A dataframe that narwhals supports (pandas, polars, lazy polars, pyarrow, DuckDB, Dask,
        PySpark, Ibis); a CSV, TSV, JSON Lines or Parquet file, or a folder or glob of Parquet
        files (extra ``files``); or None if the columns are passed.
    {settings}

    Returns
    -------
    Audit
        Rows without a label or a prediction are left out and counted. Those without a group
        are in no group and no reference, and are counted in ``unknown``.

    Examples
    --------
    >>> from evenhand.examples import compas, rows
    >>> a = audit(
    ...     rows(compas()), y_true="y_true", y_pred="y_pred", groups="group", metrics=["fpr"]
    ... )
    >>> a.rows[0].group, a.rows[0].verdict.value
    ('African-American', 'higher')
    """
    has_labels, has_classes = request.y_true is not None, request.classes is not None
    metrics = select_metrics(request, has_labels, classes=has_classes)
    goals = select_goals(request, has_labels)
    strata, groups = _name_strata(request), NO_GROUPS
    if request.groups is not None or strata or not goals:
        groups = group_columns(request.groups, request.data)
    needs = needs_of([*metrics, *(goal.metric for goal in goals)])
    if request.cluster is not None and strata:
        reason = "pooling strata takes cases for independent ones"
        raise InvalidInput(f"`cluster` and `strata` cannot be combined: {reason}")
    _check_protect(request, needs)
    for name in strata:
        if name in groups:
            raise InvalidInput(argument="strata", must="not contain a group column", got=name)
    tally = build_tally(
        request.data,
        groups | strata or NO_GROUPS,
        request.answers,
        needs,
        bins=request.bins,
        merge_variants=request.merge_variants,
        selects=any(m.key in WITHOUT_LABELS for m in (*metrics, *(goal.metric for goal in goals))),
        rule=request.rule,
    )
    return run_audit(tally, metrics, request, "audit", request.data, list(strata), goals)


def _name_strata(request: AuditRequest) -> dict[str, object]:
    """The columns of strata by name; values without a name are called ``stratum``."""
    given = request.strata
    columns = {} if given is None else group_columns(given, request.data)
    has_names = any(getattr(given, name, None) is not None for name in ("columns", "name"))
    if has_names or isinstance(given, Mapping):
        return columns
    return {
        name if isinstance(column, str) else name.replace("group", "stratum", 1): column
        for name, column in columns.items()
    }


_NEEDS_CASES = "auc, brier, log_loss and functions need every case"


def _check_protect(request: AuditRequest | CountsRequest, needs: Collection[str]) -> None:
    """Refuse what needs more than rounded cells."""
    if request.rule is None:
        return
    for name in ("cluster", "sample_weight", "classes", "strata"):
        if getattr(request, name, None) is not None:
            reason = "only counts of groups have bounds"
            raise InvalidInput(f"`protect` and `{name}` cannot be combined: {reason}")
    if set(needs) != {"cells"}:
        raise InvalidInput(f"`protect` rounds counts; {_NEEDS_CASES}")


@with_fields_of(CountsRequest)
def audit_counts(request: CountsRequest) -> Audit:
    """Audit groups with known confusion matrices.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn; dataframe; or path
        The matrices. If ``by`` names several columns, a group is the tuple of its values. A
        dataframe or a file has the columns tp, fn, fp and tn, and one or more group columns;
        each row is a group.
    {settings}

    Returns
    -------
    Audit
        The audit.

    Examples
    --------
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> a.rows[0].group, a.rows[0].verdict.value, round(a.rows[0].pvalue, 3)
    ('A', 'inconclusive', 0.128)
    """
    given, by = request.counts, request.by
    source: dict[str, Any] = {}
    is_frame = not isinstance(given, Mapping) and hasattr(type(given), "columns")
    if isinstance(given, str | Path) or is_frame:
        by, given, source = read_counts(given)
    tally = tally_counts(given, by, merge_variants=request.merge_variants, rule=request.rule)
    tally = replace(tally, source=source or counts_source(tally))
    if request.rule is not None:
        tally = hide_facts(tally)
    metrics, goals = select_metrics(request, labelled=True), select_goals(request, labelled=True)
    if needs_of(metrics) != {"cells"}:
        raise InvalidInput(f"{_NEEDS_CASES}; pass the data to audit()")
    _check_protect(request, {"cells"})
    strata = [request.strata] if isinstance(request.strata, str) else list(request.strata or ())
    for name in strata:
        if name not in tally.columns:
            raise UnknownName.among("column of `counts`", name, tally.columns)
    if len(set(strata)) == len(tally.columns):
        raise InvalidInput("`strata` must leave at least one group column")
    return run_audit(tally, metrics, request, "audit_counts", request.counts, strata, goals)


@with_fields_of(ModelsRequest)
def compare(request: ModelsRequest) -> Audit:
    """Compare models, or thresholds of one score, on the same cases.

    Each model is compared with the first: how much each group's score changes, and how much
    its gap to the reference changes.

    Parameters
    ----------
    data : dataframe, path, mapping of columns or None
        The table, as for `audit`; None if the columns are passed.
    {settings}

    Returns
    -------
    Audit
        In its rows, ``at`` says which ``model`` is compared ``against`` which. The ``score``
        is that with the model, ``before`` that with the other, and the ``gap`` the change, with
        McNemar's exact p-value. The last group is all cases. With ``gaps``, further rows (their
        ``question`` is "change of gap") have the change of a group as ``score``, and as ``gap``
        the change of its gap to the reference. Metrics are rates of people whose number is the
        same with all models: by default acc, ppr, tpr and fpr; of ``results``, accuracy or the
        mean. Cases without a label or an answer of every model are left out and counted.

    Examples
    --------
    >>> data = {"sex": list("ffffmmmm"), "y": [1, 1, 0, 0] * 2}
    >>> data |= {"old": [1, 0] * 4, "new": [1, 1, 0, 0, 1, 0, 1, 0]}
    >>> models = {"old": "old", "new": "new"}
    >>> c = compare(data, y_true="y", models=models, groups="sex", metrics="acc")
    >>> row = next(row for row in c.rows if row.group == "f")
    >>> row.at, row.score, row.gap
    ({'model': 'new', 'against': 'old'}, 1.0, 0.5)
    """
    is_grouped = request.groups is not None
    groups = group_columns(request.groups, request.data) if is_grouped else {}
    if request.results is not None and request.metrics is not None:
        raise InvalidInput("`results` have no `metrics`: their mean is compared")
    if request.with_gaps and not is_grouped:
        raise InvalidInput("`gaps`, `favourable` and `reference` are about `groups`; pass them")
    default = MODEL_METRICS if request.results is None else ("acc",)
    metrics = select_metrics(request, labelled=True, default=default)
    for metric in metrics:
        if not isinstance(metric, Metric):
            rates = ", ".join(MODEL_METRICS)
            raise InvalidInput(f"`metrics` must be rates such as {rates}; got {metric.key}")
    taken = signature(build_model_tally).parameters.keys() - {"data", "groups"}
    arguments = {name: getattr(request, name) for name in taken}
    tally = build_model_tally(request.data, groups, **arguments)
    if tally.items is not None:
        if request.with_gaps:
            reason = "changes of gaps are tested for one answer of 0 or 1 per case"
            raise InvalidInput(f"`gaps`, `favourable` and `reference` do not apply: {reason}")
        metrics = metrics if tally.items.is_binary else [Function("mean", better="higher")]
    return run_audit(tally, metrics, request, "compare", request.data)
