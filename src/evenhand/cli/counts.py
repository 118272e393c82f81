"""The commands that need no file: metrics, undefined, match and smooth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import isnan
from typing import Any

import click

from ..auditing import read_texts
from ..confusion import CELLS, ConfusionMatrix
from ..errors import EvenhandError
from ..inference import check_prior, cross_prior_smooth, interval, match_test, undefined_table
from ..metrics import CATALOGUE, FALSE_FRIENDS, Metric, list_metrics, metric
from ..text_layout import aligned, text_table, wrapped
from .command import command
from .function_options import (
    Cells,
    Decorator,
    cells_option,
    counts_or_rates,
    function_options,
    json_option,
    print_json,
)

_FACTS = (
    *("key", "name", "formula", "shape", "range", "better"),
    *("synonyms", "undefined_if", "notes", "in_paper"),
)
_MATCH = ("alternative", "null", "given", "mid_p", "method", "rng")
_STRENGTH = "Pseudo-cases; one number per split as prev=7,tpr=20,fpr=20; or auto."
_SMOOTHED = ("acc", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "mcc")
_MORE_METRICS = """{} metrics, and also any F-beta (f3) and any difference or ratio of two
groups (npv_difference, fpr_ratio). For details: evenhand metrics tpr
Functions of scikit-learn and fairlearn are found by their names. Beware:"""


def _metric_option(text: str, **settings: Any) -> Decorator:
    text = f"{text}; may be repeated."
    return click.option("--metric", "names", multiple=True, help=text, **settings)


@command("metrics")
@click.argument("names", nargs=-1, metavar="[METRIC]...")
@json_option
def metrics(names: Sequence[str], as_json: bool) -> None:
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
    rows = []
    for name in _FACTS[2:]:
        value = getattr(metric, name)
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        rows.append((f"  {name.replace('_', ' ')}", text or "none"))
    return "\n".join([f"{metric.name} ({metric.key})", *aligned(rows, widths={1: 64})])


@command("undefined", params=function_options(undefined_table, "n", "reference"))
@_metric_option("A metric  [default: those of the paper]")
@json_option
def undefined(n: int, names: Sequence[str], reference: Cells | None, as_json: bool) -> None:
    """Count the matrices on which metrics are undefined."""
    rates = ConfusionMatrix.from_array(reference) if reference else None
    table = undefined_table(n, names or None, rates)
    if as_json:
        print_json(table)
        return
    header = ["metric", "undefined", "of all", "share", "growth"]
    header += ["probability"] if rates else []
    rows = []
    for row in table:
        facts = (" ".join(row.metrics), row.count, row.total, f"{row.share:.2%}", row.growth)
        rows.append([*facts, row.probability][: len(header)])
    click.echo(f"Undefined cases among all confusion matrices of n = {n:,}")
    _print_table(header, rows)
    if any(metric(key).groups == 2 for row in table for key in row.metrics):
        click.echo("Metrics of two groups: pairs of groups of n cases each are counted.")


@command(
    "match",
    "For the paper's version: --null known --given n",
    function_options(match_test, *_MATCH),
)
@cells_option("--group", "The group's counts.")
@cells_option("--reference", "The reference's counts, or four probabilities.")
@_metric_option("A metric, or all", required=True)
@json_option
def match(
    group: Cells, reference: Cells, names: Sequence[str], as_json: bool, **settings: Any
) -> None:
    """Test a group against a reference."""
    cm, against = ConfusionMatrix.from_array(group), counts_or_rates(reference)
    is_all = "all" in names
    results: list[object] = []
    lines = []
    for m in CATALOGUE if is_all else map(metric, names):
        try:
            results.append(match_test(cm, against, m, **settings))
            lines.append(str(results[-1]))
        except EvenhandError as error:
            if not is_all:
                raise
            results.append({"metric": m.key, "refused": str(error)})
            lines.append(f"{m.key} is not tested: {error}")
    if as_json:
        print_json(results)
        return
    if len(results) == 1 and not metric(names[0]).comparisons:
        ends = interval(cm, names[0])
        lines.append(f"95% interval: {ends.low:.4g} to {ends.high:.4g}")
    click.echo("\n".join(lines))


@command("smooth", "It also checks whether the reference is a suitable prior.")
@cells_option("--group", "The group's counts.")
@cells_option("--reference", "The reference's counts.")
@click.option("--strength", default="10", show_default=True, help=_STRENGTH)
@_metric_option("A metric to show", default=_SMOOTHED)
@json_option
def smooth(
    group: Cells, reference: Cells, strength: str, names: Sequence[str], as_json: bool
) -> None:
    """Smooth a group's scores."""
    raw, prior = map(ConfusionMatrix.from_array, (group, reference))
    weight = read_texts("strength", [strength])
    smoothed = cross_prior_smooth(raw, prior, weight)
    is_checkable = raw.n and raw.is_whole and prior.is_whole and weight != 0
    check = check_prior(raw, prior, weight) if is_checkable else None
    header = ("metric", "raw", "smoothed", "reference")
    scores = [(m.key, m(raw), m(smoothed), m(prior)) for m in map(metric, names)]
    if not as_json:
        click.echo(str(smoothed))
        _print_table(header, scores)
        if check:
            click.echo(str(check))
        return
    facts = {name: getattr(smoothed, name) for name in ("prior_only", "strength", "shrinkage")}
    print_json(
        {
            "cells": dict(zip(CELLS, smoothed.cells, strict=True)),
            **facts,
            "scores": [dict(zip(header, row, strict=True)) for row in scores],
            "verdict": check and check.verdict,
            "reasons": check and check.reasons,
        }
    )


def _print_table(header: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table, with numbers to the right."""
    right = [i for i, name in enumerate(header) if name not in ("metric", "growth")]
    click.echo(text_table(header, [list(map(_text, row)) for row in rows], right=right))


def _text(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}" if value < 10**9 else f"{Decimal(value):.3e}"
    if isinstance(value, float):
        return "undefined" if isnan(value) else f"{value:.4g}"
    return str(value)
