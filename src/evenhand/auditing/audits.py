"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data import build_tally, group_columns, hide_facts, read_counts, tally_counts
from ..errors import InvalidInput, UnknownName
from .metric_selection import needs_of, select_metrics
from .provenance import counts_source
from .requests import accepting
from .result import Audit
from .run import run_audit
from .settings import WITHOUT_LABELS, AuditRequest, CountsRequest

__all__ = ["audit", "audit_counts"]


@accepting(AuditRequest)
def audit(request: AuditRequest) -> Audit:
    """Audit a table of decisions: which groups differ, which are equivalent, and where there are too few cases to tell.

    The engine that holds the data only counts rows by group, label and prediction; only the counts are fetched.

    Parameters
    ----------
    data : dataframe, path, mapping of columns or None
        A dataframe that narwhals supports (pandas, polars, lazy polars, pyarrow, DuckDB, Dask, PySpark, Ibis); a CSV,
        TSV, JSON Lines or Parquet file, or a folder or glob of Parquet files (extra ``files``); or None if the
        columns are passed.
    {settings}

    Returns
    -------
    Audit
        Rows without a label or a prediction are left out and counted. Those without a
        group are in no group and no reference, and are counted in ``unknown``.

    Examples
    --------
    >>> from evenhand.examples import compas, rows
    >>> a = audit(rows(compas()), y_true="y_true", y_pred="y_pred", groups="group", metrics=["fpr"])
    >>> a.rows[0].group, a.rows[0].verdict.value
    ('African-American', 'higher')
    """
    metrics = select_metrics(request, labelled=request.y_true is not None, classes=request.classes is not None)
    if request.groups is None:
        raise InvalidInput(argument="groups", must="be the name of a group column or its values", got=None)
    groups = group_columns(request.groups, request.data)
    strata = {} if request.strata is None else _strata(request)
    if request.cluster is not None:
        _check_units(request)
    if request.rule is not None:
        _check_protect(request, needs_of(metrics))
    for name in strata:
        if name in groups:
            raise InvalidInput(f"`strata` must not contain a group column; got {name!r}")
    tally = build_tally(
        request.data,
        groups | strata,
        request.answers,
        needs_of(metrics),
        bins=request.bins,
        merge_variants=request.merge_variants,
        selects=any(metric.key in WITHOUT_LABELS for metric in metrics),
        rule=request.rule,
    )
    return run_audit(tally, metrics, request, "audit", request.data, list(strata))


def _check_units(request: AuditRequest) -> None:
    """Refuse what takes every case for an independent one."""
    if request.strata is not None:
        raise InvalidInput("`cluster` and `strata` cannot be combined: pooling strata takes cases for independent ones")


def _check_protect(request: AuditRequest, needs: Collection[str]) -> None:
    """Refuse what needs more than cells."""
    if request.cluster is not None:
        raise InvalidInput("`protect` and `cluster` cannot be combined: effective sizes are not a matter of cells")
    if request.sample_weight is not None:
        raise InvalidInput("`protect` and `sample_weight` cannot be combined: sums of weights are not rounded")
    if request.classes is not None:
        raise InvalidInput("`protect` and `classes` cannot be combined: counts of several classes are not rounded")
    _check_no_strata(request)
    if set(needs) != {"cells"}:
        raise InvalidInput("`protect` rounds counts; auc, brier, log_loss and functions need every case")


def _check_no_strata(request: AuditRequest | CountsRequest) -> None:
    """Refuse strata of rounded counts."""
    if request.strata is not None:
        raise InvalidInput("`protect` and `strata` cannot be combined: pooled rounded counts have no bounds")


def _strata(request: AuditRequest) -> dict[str, Any]:
    """The columns of strata by name; values without a name are called ``stratum``."""
    found = group_columns(request.strata, request.data)
    named = isinstance(request.strata, Mapping) or getattr(request.strata, "columns", None) is not None
    own = getattr(request.strata, "name", None) is not None
    return {
        name if named or own or isinstance(column, str) else name.replace("group", "stratum", 1): column
        for name, column in found.items()
    }


@accepting(CountsRequest)
def audit_counts(request: CountsRequest) -> Audit:
    """Audit groups with known confusion matrices.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn; dataframe; or path
        The matrices. If ``by`` names several columns, a group is the tuple of its values. A dataframe or a file has
        the columns tp, fn, fp and tn, and one or more group columns; each row is a group.
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
    if isinstance(given, (str, Path)) or is_frame:
        by, given, source = read_counts(given)
    tally = tally_counts(given, by, merge_variants=request.merge_variants, rule=request.rule)
    tally = replace(tally, source=source or counts_source(tally))
    if request.rule is not None:
        _check_no_strata(request)
        tally = hide_facts(tally)
    metrics = select_metrics(request, labelled=True)
    if needs_of(metrics) != {"cells"}:
        raise InvalidInput("auc, brier, log_loss and functions need every case; pass the data to audit()")
    within = [request.strata] if isinstance(request.strata, str) else list(request.strata or ())
    for name in within:
        if name not in tally.columns:
            raise UnknownName.among("column of `counts`", name, tally.columns)
    if len(set(within)) == len(tally.columns):
        raise InvalidInput("`strata` must leave at least one group column")
    return run_audit(tally, metrics, request, "audit_counts", request.counts, within)
