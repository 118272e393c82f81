"""From data or counts to an audit: every group and metric with a verdict, and the findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, UnknownName
from ..tabulate import TOLD, as_counts, counts_frame, group_columns, read_counts_file, tabulated
from .asked import asked_metrics, needs_of
from .pipeline import audited
from .record import counts_source
from .requests import AuditRequest, CountsRequest, accepting
from .result import Audit

__all__ = ["audit", "audit_counts"]


@accepting(AuditRequest)
def audit(request: AuditRequest) -> Audit:
    """Audit a table of decisions: which groups differ, which are alike, and where there are too few cases to tell.

    The engine that holds the data only counts rows by group, label and prediction; only the counts are fetched.

    Parameters
    ----------
    data : dataframe, path, mapping of columns or None
        A dataframe that narwhals supports (pandas, polars, lazy polars, pyarrow, DuckDB, Dask, PySpark, Ibis); a CSV,
        TSV, Parquet, Arrow or SQLite file, or a folder or glob of Parquet files (extra ``files``); or None if the
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
    metrics = asked_metrics(request, labelled=request.y_true is not None)
    if request.groups is None:
        raise InvalidInput(argument="groups", must="be the name of a group column or its values", got=None)
    groups = group_columns(request.groups, request.data)
    strata = {} if request.within is None else _strata(request)
    if request.unit is not None:
        _check_units(request)
    if request.rule is not None:
        _check_protect(request, needs_of(metrics))
    for name in strata:
        if name in groups:
            raise InvalidInput(f"`within` must not contain a group column; got {name!r}")
    tally = tabulated(
        request.data,
        groups | strata,
        request.answers,
        needs_of(metrics),
        bins=request.bins,
        selects=request.selection == "all",
        join=request.merge_variants,
        rule=request.rule,
    )
    return audited(tally, metrics, request, ("audit", request.data), list(strata))


def _check_units(request: AuditRequest) -> None:
    """Refuse what takes every case for an independent one."""
    if request.within is not None:
        raise InvalidInput("`unit` and `within` cannot be combined: pooling strata takes cases for independent ones")
    if request.test != "fisher":
        raise InvalidInput("`unit` and `test='unconditional'` cannot be combined: that test takes whole counts")


def _check_protect(request: AuditRequest, needs: Collection[str]) -> None:
    """Refuse what needs more than cells."""
    if request.unit is not None:
        raise InvalidInput("`protect` and `unit` cannot be combined: what units are worth is not a matter of cells")
    if request.weights is not None:
        raise InvalidInput("`protect` and `weights` cannot be combined: sums of weights are not rounded")
    if set(needs) != {"cells"}:
        raise InvalidInput("`protect` rounds counts; auc, brier, log_loss and functions need every case")


def _strata(request: AuditRequest) -> dict[str, Any]:
    """The columns of strata by name; values without a name are called ``stratum``."""
    found = group_columns(request.within, request.data)
    named = isinstance(request.within, Mapping) or getattr(request.within, "columns", None) is not None
    own = getattr(request.within, "name", None) is not None
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
    >>> a.rows[0].group, a.rows[0].verdict.value, round(a.rows[0].test.pvalue, 3)
    ('A', 'too few to tell', 0.128)
    """
    given, by = request.counts, request.by
    source: dict[str, Any] = {}
    if isinstance(given, (str, Path)):
        by, given, source = read_counts_file(given)
    elif not isinstance(given, Mapping) and hasattr(type(given), "columns"):
        by, given = counts_frame(given)
    tally = as_counts(given, by, join=request.merge_variants, rule=request.rule)
    source = source or counts_source(tally.slices[0].parts, tally.columns)
    if request.rule is not None:
        source = {name: value for name, value in source.items() if name in TOLD}
    tally = replace(tally, source=source)
    metrics = asked_metrics(request, labelled=True)
    if needs_of(metrics) != {"cells"}:
        raise InvalidInput("auc, brier, log_loss and functions need every case; pass the data to audit()")
    within = [request.within] if isinstance(request.within, str) else list(request.within or ())
    for name in within:
        if name not in tally.columns:
            raise UnknownName.among("column of `counts`", name, tally.columns)
    if len(set(within)) == len(tally.columns):
        raise InvalidInput("`within` must leave at least one group column")
    return audited(tally, metrics, request, ("audit_counts", request.counts), within)
