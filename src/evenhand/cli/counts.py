"""The commands that need no file: metrics, undefined, match and smooth."""

from __future__ import annotations

from decimal import Decimal
from math import isnan
from typing import Any

import click

from ..confusion import CELLS, ConfusionMatrix
from ..errors import EvenhandError
from ..inference import (
    check_prior,
    cross_prior_smooth,
    interval,
    match_test,
    undefined_table,
)
from ..metrics import CATALOGUE, FALSE_FRIENDS, Metric, list_metrics, metric
from ..text_layout import aligned, text_table, wrapped
from .command import (
    cells_option,
    command,
    counts_or_rates,
    function_options,
    json_option,
    print_json,
)

Cells = tuple[float, ...]

_FACTS = (
    *("key", "name", "formula", "shape", "range", "better"),
    *("synonyms", "undefined_if", "notes", "in_paper"),
)
_MATCH = ("alternative", "null", "given", "mid_p", "method", "rng")
_SMOOTHED = ("acc", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "mcc")
_MORE_METRICS = """{} metrics, and also any F-beta (f3) and any difference or ratio of two
groups (npv_difference, fpr_ratio). For details: evenhand metrics tpr
Functions of scikit-learn and fairlearn are found by their names. Beware:"""


def _metric_option(text: str, **settings: Any) -> Any:
    help_text = f"{text}; may be repeated."
    return click.option("--metric", "names", multiple=True, help=help_text, **settings)


@command("metrics")
@click.argument("names", nargs=-1, metavar="[METRIC]...")
@json_option
def metrics(names: tuple[str, ...], as_json: bool) -> None:
    """List all metrics, or show the details of some."""
    chosen = [metric(name) for name in names] or list_metrics()
    if as_json:
        print_json([{name: getattr(m, name) for name in _FACTS} for m in chosen])
    elif names:
        click.echo("\n".join(map(_describe, chosen)))
    else:
        rows = [(m.key, f"{m.name}\n  {m.formula}", m.shape, m.better) for m in chosen]
        click.echo(text_table(("key", "name and formula", "shape", "better"), rows))
        click.echo(_MORE_METRICS.format(len(rows)))
        for foreign in FALSE_FRIENDS:
            click.echo("\n    ".join(wrapped(f"  {foreign.key}: {foreign}", 76)))


def _describe(metric: Metric) -> str:
    """All facts about a metric, in lines."""
    facts = {
        "formula": metric.formula,
        "shape": metric.shape,
        "range": f"{metric.low:g} to {metric.high:g}",
        "better": metric.better,
        "synonyms": ", ".join(metric.synonyms) or "none",
        "undefined": metric.undefined_if,
        "notes": "\n".join(metric.notes),
    }
    rows = [(f"  {name}", text) for name, text in facts.items() if text]
    return "\n".join([f"{metric.name} ({metric.key})", *aligned(rows, widths={1: 67})])


@command("undefined", params=function_options(undefined_table, "n", "reference"))
@_metric_option("A metric  [default: those of the paper]")
@json_option
def undefined(n: int, names: tuple[str, ...], reference: Cells | None, as_json: bool) -> None:
    """Count the matrices on which metrics are undefined."""
    rates = ConfusionMatrix.from_array(reference) if reference else None
    table = undefined_table(n, names or None, rates)
    if as_json:
        print_json(table)
        return
    columns = {
        "metric": [" ".join(row.metrics) for row in table],
        "undefined": [_count_text(row.count) for row in table],
        "of all": [_count_text(row.total) for row in table],
        "share": [f"{row.share:.2%}" for row in table],
        "growth": [row.growth for row in table],
    }
    if rates:
        columns["probability"] = [f"{row.probability:.3g}" for row in table]
    rows = zip(*columns.values(), strict=True)
    click.echo(f"Undefined cases among all confusion matrices of n = {n:,}")
    click.echo(text_table(list(columns), rows, right=(1, 2, 3)))
    if any(metric(key).groups == 2 for row in table for key in row.metrics):
        click.echo("Metrics of two groups: pairs of groups of n cases each are counted.")


@command(
    "match",
    "For the paper's version: --null known --given n",
    params=function_options(match_test, *_MATCH),
)
@cells_option("--group", "The group's counts.")
@cells_option("--reference", "The reference's counts, or four probabilities.")
@_metric_option("A metric, or all", required=True)
@json_option
def match(group: Cells, reference: Cells, names: tuple[str, ...], as_json: bool, **settings: Any) -> None:
    """Test a group against a reference."""
    cm, against = ConfusionMatrix.from_array(group), counts_or_rates(reference)
    chosen = list(CATALOGUE) if "all" in names else [metric(name) for name in names]
    results, refused = [], {}
    for m in chosen:
        try:
            results.append(match_test(cm, against, m, **settings))
        except EvenhandError as error:
            if "all" not in names:
                raise
            refused[m.key] = str(error)
    if as_json:
        others = [{"metric": key, "refused": why} for key, why in refused.items()]
        print_json([*results, *others])
        return
    if len(chosen) == 1:
        click.echo(str(results[0]))
        if not chosen[0].comparisons:
            ends = interval(cm, chosen[0])
            click.echo(f"95% interval: {ends.low:.4g} to {ends.high:.4g}")
        return
    rows = []
    for result in results:
        reference_score = result.reference_score if result.metric.groups == 1 else None
        numbers = (result.statistic, reference_score, result.pvalue, result.percentile)
        rows.append([result.metric.key, *map(_number, numbers)])
    header = ("metric", "score", "reference", "p-value", "percentile")
    click.echo(text_table(header, rows, right=(1, 2, 3, 4)))
    for result in results:
        if result.reason:
            click.echo(f"{result.metric.key} is undefined: {result.reason}")
    for key, why in refused.items():
        click.echo(f"{key} is not tested: {why}")


@command("smooth", "It also checks whether the reference is a suitable prior.")
@cells_option("--group", "The group's counts.")
@cells_option("--reference", "The reference's counts.")
@click.option(
    "--strength",
    default="10",
    show_default=True,
    help="Pseudo-cases; one number per split as prev=7,tpr=20,fpr=20; or auto.",
)
@_metric_option("A metric to show", default=_SMOOTHED)
@json_option
def smooth(group: Cells, reference: Cells, strength: str, names: tuple[str, ...], as_json: bool) -> None:
    """Smooth a group's scores."""
    from ..auditing import read_texts

    raw, prior = map(ConfusionMatrix.from_array, (group, reference))
    weight = read_texts("strength", [strength])
    smoothed = cross_prior_smooth(raw, prior, weight)
    is_checkable = raw.n and raw.is_whole and prior.is_whole and weight != 0
    check = check_prior(raw, prior, weight) if is_checkable else None
    header = ("metric", "raw", "smoothed", "reference")
    scores = [(m.key, m(raw), m(smoothed), m(prior)) for m in map(metric, names)]
    if as_json:
        print_json(
            {
                "cells": dict(zip(CELLS, smoothed.cells, strict=True)),
                "prior_only": smoothed.prior_only,
                "strength": smoothed.strength,
                "shrinkage": smoothed.shrinkage,
                "scores": [dict(zip(header, line, strict=True)) for line in scores],
                "verdict": check and check.verdict,
                "reasons": check and list(check.reasons),
            }
        )
        return
    rows = [[key, *map(_number, line)] for key, *line in scores]
    click.echo(f"{smoothed}\n{text_table(header, rows, right=(1, 2, 3))}")
    if check:
        click.echo(str(check))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "undefined" if isnan(value) else f"{value:.4g}"


def _count_text(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{Decimal(value):.3e}"
