"""The commands that need no file: metrics, undefined, match and smooth."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite, isnan
from textwrap import wrap
from typing import Any

import click

from ..auditing import read_texts
from ..confusion import ConfusionMatrix
from ..errors import EvenhandError
from ..inference import (
    check_prior,
    cross_prior_smooth,
    interval,
    match_test,
    undefined_table,
)
from ..metrics import CATALOGUE, FALSE_FRIENDS, Metric, list_metrics, metric
from ..text_layout import aligned, text_table
from ..wording import LEVELS, decided
from .command import Command, as_json, choice, counts, print_json

__all__ = ["match", "metrics", "smooth", "undefined"]

_FACTS = ("key", "name", "formula", "shape", "range", "better", "synonyms", "undefined_if", "notes", "in_paper")
_SMOOTHED = ("acc", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "mcc")


@click.command(cls=Command)
@click.argument("names", nargs=-1, metavar="[METRIC]...")
@as_json
def metrics(names: tuple[str, ...], as_json: bool) -> None:
    """List all metrics, or show the details of some."""
    chosen = [metric(name) for name in names] or list_metrics()
    if as_json:
        print_json([{name: getattr(m, name) for name in _FACTS} for m in chosen])
    elif names:
        for m in chosen:
            click.echo(_described(m))
    else:
        rows = [(m.key, f"{m.name}\n  {m.formula}", m.shape, m.better) for m in chosen]
        click.echo(text_table(("key", "name and formula", "shape", "better"), rows))
        click.echo(f"{len(rows)} metrics, and also any F-beta (f3) and any difference or ratio of two")
        click.echo("groups (npv_difference, fpr_ratio). For details: evenhand metrics tpr")
        click.echo("Functions of scikit-learn and fairlearn are found by their names. Beware:")
        for foreign in FALSE_FRIENDS:
            line = f"{foreign.key}: {foreign}"
            click.echo("\n".join(wrap(line, 80, initial_indent="  ", subsequent_indent="    ")))


def _described(m: Metric) -> str:
    """All that is known of a metric, in lines."""
    facts = {
        "formula": m.formula,
        "shape": m.shape,
        "range": f"{m.low:g} to {m.high:g}",
        "better": m.better,
        "synonyms": ", ".join(m.synonyms) or "none",
        "undefined": m.undefined_if,
    }
    lines = [*facts.items(), *(("" if i else "notes", text) for i, text in enumerate(m.notes))]
    widths = {1: 80 - 13}
    return "\n".join([f"{m.name} ({m.key})", *aligned([(f"  {name}", text) for name, text in lines], widths=widths)])


@click.command(cls=Command)
@click.option("--n", type=int, required=True, help="The number of cases in a group.")
@click.option(
    "--metric", "names", multiple=True, help="Only this metric; may be repeated.  [default: those of the paper]"
)
@counts("--reference", help="Add the probability for a group with these rates.")
@as_json
def undefined(n: int, names: tuple[str, ...], reference: tuple[float, ...] | None, as_json: bool) -> None:
    """Count the confusion matrices of N cases on which each metric is undefined."""
    given = ConfusionMatrix.from_array(reference) if reference else None
    table = undefined_table(n, names or None, given)
    if as_json:
        print_json(table)
        return
    columns: dict[str, list[str]] = {
        "metric": [" ".join(row.metrics) for row in table],
        "undefined": [_count(row.count) for row in table],
        "of all": [_count(row.total) for row in table],
        "share": [f"{row.share:.2%}" for row in table],
        "growth": [row.growth for row in table],
    }
    if given:
        columns["probability"] = [f"{row.probability:.3g}" for row in table]
    click.echo(f"Undefined cases among all confusion matrices of n = {n:,}")
    click.echo(text_table(list(columns), zip(*columns.values(), strict=True), right=(1, 2, 3)))
    if any(metric(key).groups == 2 for row in table for key in row.metrics):
        click.echo("For metrics of two groups, pairs of groups of n cases each are counted.")


@click.command(cls=Command)
@counts("--group", required=True, help="The group's counts.")
@counts("--reference", required=True, help="The reference's counts, or four probabilities.")
@click.option("--metric", "names", multiple=True, required=True, help="A metric, or all; may be repeated.")
@choice("--alternative", "two-sided", "less", "greater", explained="Which scores count as extreme.")
@choice(
    "--null",
    "pooled",
    "known",
    "predictive",
    explained="The reference's rates: unknown and shared, taken as known, or only estimated by its counts.",
)
@choice("--given", "margin", "n", explained="Condition on the denominator of the score, or only on the group's size.")
@click.option("--mid-p", is_flag=True, help="Count half of the probability of the observed score.")
@choice("--method", "exact", "normal", "beta", "montecarlo", explained="Exact, an approximation, or simulated.")
@click.option("--rng", type=int, default=0, show_default=True, help="Seed for --method montecarlo.")
@as_json
def match(
    group: tuple[float, ...], reference: tuple[float, ...], names: tuple[str, ...], as_json: bool, **settings: Any
) -> None:
    """Test whether a group is drawn like a reference, with a score as the test statistic (MATCH).

    For the paper's version: --null known --given n
    """
    cm = ConfusionMatrix.from_array(group)
    counted = all(value.is_integer() or not isfinite(value) for value in reference)
    against: Any = ConfusionMatrix.from_array(reference) if counted else list(reference)
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
        print_json([*results, *({"metric": k, "refused": why} for k, why in refused.items())])
        return
    if len(chosen) == 1:
        click.echo(str(results[0]))
        if not chosen[0].comparisons:
            between = interval(cm, chosen[0])
            click.echo(f"95% interval: {between.low:.4g} to {between.high:.4g}")
        return
    rows = [
        (
            r.metric.key,
            _number(r.statistic),
            _number(r.reference_score) if r.metric.groups == 1 else "",
            _pvalue(r.pvalue),
            _number(r.percentile),
        )
        for r in results
    ]
    click.echo(text_table(("metric", "score", "reference", "p-value", "percentile"), rows, right=(1, 2, 3, 4)))
    for r in results:
        if r.reason:
            click.echo(f"{r.metric.key} is undefined: {r.reason}")
    for key, why in refused.items():
        click.echo(f"{key} is not tested: {why}")


@click.command(cls=Command)
@counts("--group", required=True, help="The group's counts.")
@counts("--reference", required=True, help="The reference's counts.")
@click.option(
    "--strength",
    default="10",
    show_default=True,
    help="How many cases the reference is worth; one per split as prev=7,tpr=20,fpr=20; or auto.",
)
@click.option("--metric", "names", multiple=True, default=_SMOOTHED, help="A metric to show; may be repeated.")
@as_json
def smooth(
    group: tuple[float, ...], reference: tuple[float, ...], strength: str, names: tuple[str, ...], as_json: bool
) -> None:
    """Smooth a group's scores with a reference (Cross-Prior Smoothing), and check whether it is a suitable prior."""
    cm, prior = ConfusionMatrix.from_array(group), ConfusionMatrix.from_array(reference)
    weight = read_texts("strength", [strength])
    smoothed = cross_prior_smooth(cm, prior, weight)
    scores = [(metric(name), *(metric(name)(m) for m in (cm, smoothed, prior))) for name in names]
    checkable = cm.n and cm.is_whole and prior.is_whole and weight != 0
    check = check_prior(cm, prior, weight) if checkable else None
    if as_json:
        print_json(
            {
                "cells": dict(zip(("tp", "fn", "fp", "tn"), smoothed.cells, strict=True)),
                "prior_only": smoothed.prior_only,
                "strength": smoothed.strength,
                "shrinkage": smoothed.shrinkage,
                "scores": [{"metric": m.key, "raw": a, "smoothed": b, "reference": c} for m, a, b, c in scores],
                "verdict": check and check.verdict,
                "reasons": check and list(check.reasons),
            }
        )
        return
    click.echo(str(smoothed))
    rows = [(m.key, _number(raw), _number(after), _number(theirs)) for m, raw, after, theirs in scores]
    click.echo(text_table(("metric", "raw", "smoothed", "reference"), rows, right=(1, 2, 3)))
    if check:
        click.echo(str(check))


def _pvalue(p: float) -> str:
    return "undefined" if isnan(p) else decided(p, LEVELS, lambda more: f"{p:.{4 + more}g}")


def _number(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:.4g}"


def _count(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{Decimal(value):.3e}"
