"""The ``evenhand`` command: read, compute, render.

Options are named after the arguments of the library functions. Exit codes: 0 nothing found, 1 findings at the level
asked, 2 the input cannot be used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

import click

from ..errors import EvenhandError, InvalidInput, TooLarge, printable

__all__ = ["evenhand"]

_SMOOTHED = ("acc", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "mcc")


class Refusal(click.ClickException):
    """One sentence on standard error, and exit code 2."""

    exit_code = 2


class Command(click.Command):
    """A command that shows what the library refuses as a sentence, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        try:
            return super().invoke(ctx)
        except EvenhandError as refusal:
            raise Refusal(printable(str(refusal))) from None


class Group(click.Group):
    """The group of all commands."""

    command_class = Command


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenhand")
def evenhand() -> None:
    """Classification metrics you can trust when groups are small."""


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def counts(name: str, **settings: Any) -> Callable[[Any], Any]:
    """An option that takes the four cells of a matrix."""
    return click.option(name, nargs=4, type=float, metavar="TP FN FP TN", **settings)


def choice(name: str, *values: str) -> Callable[[Any], Any]:
    """An option with a fixed set of values, the first of them the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True)


@evenhand.command()
@click.argument("names", nargs=-1, metavar="[METRIC]...")
@as_json
def metrics(names: tuple[str, ...], as_json: bool) -> None:
    """List the catalogue of metrics, or everything about the METRICs named."""
    from ..metrics import list_metrics, metric

    chosen = [metric(name) for name in names] or list_metrics()
    records = [
        {
            "key": m.key,
            "name": m.name,
            "formula": m.formula,
            "shape": m.shape,
            "range": list(m.range),
            "better": m.better,
            "synonyms": list(m.synonyms),
            "undefined_if": m.undefined_if,
            "in_paper": m.in_paper,
        }
        for m in chosen
    ]
    if as_json:
        _print_json(records)
    elif names:
        for record in records:
            _print_record(record)
    else:
        rows = [(m.key, f"{m.name}\n  {m.formula}", m.shape, m.better) for m in chosen]
        _print_table(("key", "name and formula", "shape", "better"), rows)
        click.echo(f"{len(rows)} metrics, and any F-beta (f3) and any difference or ratio over two")
        click.echo("groups (npv_difference, fpr_ratio). More of one: evenhand metrics tpr")


@evenhand.command()
@click.option("--n", type=int, required=True, help="How many cases a group has.")
@click.option("--metric", "names", multiple=True, help="Only this metric; may be repeated.  [default: Table 1]")
@counts("--reference", help="Add the probability for a group drawn like this one.")
@as_json
def undefined(n: int, names: tuple[str, ...], reference: tuple[float, ...] | None, as_json: bool) -> None:
    """Count the matrices of N cases on which a metric is undefined (the paper's Table 1)."""
    from ..cells import ConfusionMatrix
    from ..inference import undefined_table
    from ..metrics import metric

    given = ConfusionMatrix(*reference) if reference else None
    table = undefined_table(n, names or None, given)
    if as_json:
        _print_json(
            [
                {
                    "metrics": row.metrics,
                    "count": row.count,
                    "total": row.total,
                    "share": row.share,
                    "growth": row.growth,
                    "paper": row.paper,
                    "erratum": row.erratum,
                    "probability": row.probability,
                }
                for row in table
            ]
        )
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
    elif any(row.paper for row in table):
        columns["the paper prints"] = [f"{row.paper} ({row.erratum})" if row.paper else "" for row in table]
    click.echo(f"Undefined cases among all confusion matrices of n = {n:,}")
    _print_table(list(columns), zip(*columns.values(), strict=True), right=(1, 2, 3))
    if any(metric(key).groups == 2 for row in table for key in row.metrics):
        click.echo("Metrics of two groups count pairs of groups of n cases each.")
    if "the paper prints" in columns:
        click.echo("E1 and E3 are errata: PT's bound fails from n = 4 on, TE's holes are pairs.")


@evenhand.command()
@counts("--group", required=True, help="The group's counts.")
@counts("--reference", required=True, help="The reference's counts, or four probabilities.")
@click.option("--metric", "names", multiple=True, required=True, help="A metric, or all; may be repeated.")
@choice("--alternative", "two-sided", "less", "greater")
@choice("--null", "pooled", "known", "predictive")
@choice("--given", "margin", "n")
@click.option("--mid-p", is_flag=True, help="Count the observed score half.")
@choice("--method", "exact", "normal", "beta", "montecarlo")
@click.option("--seed", "rng", type=int, help="Seed for --method montecarlo.")
@as_json
def match(
    group: tuple[float, ...], reference: tuple[float, ...], names: tuple[str, ...], as_json: bool, **settings: Any
) -> None:
    """Test whether a group's score is consistent with a reference (MATCH).

    The paper's own test: --null known --given n
    """
    from ..cells import ConfusionMatrix
    from ..inference import interval, match_test
    from ..metrics import CATALOGUE, OneGroup, metric

    cm = ConfusionMatrix(*group)
    counted = all(value == int(value) for value in reference)
    against: Any = ConfusionMatrix(*reference) if counted else list(reference)
    chosen = list(CATALOGUE) if "all" in names else [metric(name) for name in names]
    results, refused = [], {}
    for m in chosen:
        try:
            results.append(match_test(cm, against, m, **settings))
        except EvenhandError as refusal:
            if "all" not in names:
                raise
            refused[m.key] = str(refusal)
    if as_json:
        _print_json([*map(_match_record, results), *({"metric": k, "refused": why} for k, why in refused.items())])
        return
    if len(chosen) == 1:
        click.echo(str(results[0]))
        if isinstance(chosen[0], OneGroup):
            between = interval(cm, chosen[0])
            click.echo(f"  interval      {between.low:.4g} to {between.high:.4g} (95 %)")
        return
    rows = [
        (
            r.metric.key,
            _number(r.statistic),
            _number(r.reference_score) if r.metric.groups == 1 else "",
            _number(r.pvalue),
            _number(r.percentile),
        )
        for r in results
    ]
    _print_table(("metric", "score", "reference", "p-value", "percentile"), rows, right=(1, 2, 3, 4))
    for r in results:
        if r.reason:
            click.echo(f"{r.metric.key} is undefined: {r.reason}")
    for key, why in refused.items():
        click.echo(f"{key} is not tested: {why}")


@evenhand.command()
@counts("--group", required=True, help="The group's counts.")
@counts("--reference", required=True, help="The reference's counts.")
@click.option("--strength", default="10", show_default=True, help="How many cases the reference is worth, or auto.")
@click.option("--metric", "names", multiple=True, default=_SMOOTHED, help="A metric to show; may be repeated.")
@as_json
def smooth(
    group: tuple[float, ...], reference: tuple[float, ...], strength: str, names: tuple[str, ...], as_json: bool
) -> None:
    """Steady a group's scores with a reference (Cross-Prior Smoothing), and say what that costs."""
    from ..cells import ConfusionMatrix
    from ..inference import check_prior, cross_prior_smooth
    from ..metrics import metric

    cm, prior = ConfusionMatrix(*group), ConfusionMatrix(*reference)
    smoothed = cross_prior_smooth(cm, prior, strength if strength == "auto" else _as_number(strength))  # type: ignore[arg-type]
    scores = [(metric(name), *(metric(name)(m) for m in (cm, smoothed, prior))) for name in names]
    checkable = cm.n and cm.is_whole and prior.is_whole and (smoothed.strength or strength == "auto")
    check = check_prior(cm, prior, "auto" if strength == "auto" else smoothed.strength) if checkable else None
    if as_json:
        _print_json(
            {
                "cells": dict(zip(("tp", "fn", "fp", "tn"), smoothed.cells, strict=True)),
                "prior_only": smoothed.prior_only,
                "strength": smoothed.strength,
                "choice": str(smoothed.choice) if smoothed.choice else None,
                "shrinkage": smoothed.shrinkage,
                "scores": [{"metric": m.key, "raw": a, "smoothed": b, "reference": c} for m, a, b, c in scores],
                "verdict": check and check.verdict,
                "reasons": check and list(check.reasons),
            }
        )
        return
    click.echo(str(smoothed))
    rows = [(m.key, _number(raw), _number(steady), _number(theirs)) for m, raw, steady, theirs in scores]
    _print_table(("metric", "raw", "smoothed", "reference"), rows, right=(1, 2, 3))
    if check:
        click.echo(str(check))


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"strength must be a number of cases from 0 to 1e9, or 'auto'; got {text!r}") from None


def _match_record(r: Any) -> dict[str, Any]:
    return {
        "metric": r.metric.key,
        "statistic": r.statistic,
        "reference_score": r.reference_score,
        "expected": _or_none(lambda: r.expected),
        "percentile": r.percentile,
        "pvalue": r.pvalue,
        "smallest_pvalue": _or_none(lambda: r.smallest_pvalue),
        "n": r.n,
        "n_reference": r.n_reference,
        "denominator": r.denominator,
        "p_undefined": r.p_undefined,
        "reason": r.reason,
        "alternative": r.alternative,
        "null": r.null,
        "given": r.given,
        "mid_p": r.mid_p,
        "method": r.method,
        "error": r.error,
    }


def _or_none(value: Callable[[], float]) -> float | None:
    """What a property says, None where it would cost too much."""
    try:
        return value()
    except TooLarge:
        return None


def _number(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:.4g}"


def _count(value: int) -> str:
    return f"{value:,}" if value < 10**9 else f"{Decimal(value):.3e}"


def _print_json(value: Any) -> None:
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """``value`` as JSON can hold it: what is not a finite number becomes null."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _print_record(record: dict[str, Any]) -> None:
    low, high = record["range"]
    click.echo(f"{record['name']} ({record['key']})")
    for label, text in (
        ("formula", record["formula"]),
        ("shape", record["shape"]),
        ("range", f"{low:g} to {high:g}"),
        ("better", record["better"]),
        ("synonyms", ", ".join(record["synonyms"]) or "none"),
        ("undefined", record["undefined_if"]),
    ):
        click.echo(f"  {label:<10} {text}")


def _print_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    # Text is shown as it is: no markup, no emoji, no colouring of what looks like a number.
    console = Console(markup=False, emoji=False, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, title in enumerate(header):
        table.add_column(title, justify="right" if i in right else "left", overflow="fold", no_wrap=i in right)
    for row in rows:
        table.add_row(*row)
    console.print(table)
