"""The ``evenhand`` command: read, compute, render.

Each option is an argument of a library function, under the same name. Exit codes: 0 nothing found, 1 findings at
the level asked, 2 the input cannot be used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from ..errors import EvenhandError

__all__ = ["evenhand"]


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
            raise Refusal(str(refusal)) from None


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
            "range": [m.low, m.high],
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

    given = ConfusionMatrix(*reference) if reference else None
    keys = names or (_single_metrics() if given else None)
    table = undefined_table(n, keys, given)
    if as_json:
        _print_json(
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
        )
        return
    header = ["metric", "undefined", "of all", "share", "growth"]
    header.append("probability" if given else "the paper prints")
    rows = []
    for row in table:
        last = f"{row.paper} ({row.erratum})" if row.paper else ""
        if row.probability is not None:
            last = f"{row.probability:.3g}"
        rows.append((" ".join(row.metrics), f"{row.count:,}", f"{row.total:,}", f"{row.share:.2%}", row.growth, last))
    click.echo(f"Undefined cases among all confusion matrices of n = {n:,}")
    _print_table(header, rows, right=(1, 2, 3))
    if not given:
        click.echo("Two-group metrics (ofi, te) count pairs of groups of n cases each. E1 and E3")
        click.echo("are errata of the paper: see docs/decisions/0003-which-holes-count.md")


def _single_metrics() -> list[str]:
    from ..metrics import CATALOGUE

    return [m.key for m in CATALOGUE.paper]


def _print_json(value: Any) -> None:
    click.echo(json.dumps(list(value) if not isinstance(value, dict) else value, indent=2, ensure_ascii=False))


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
        table.add_column(title, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
