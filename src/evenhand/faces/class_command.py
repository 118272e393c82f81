"""``evenhand classes``: audit decisions between more than two classes."""

from __future__ import annotations

from typing import Any, ClassVar

import click

from ..auditing import AVERAGES, audit_classes
from ..errors import InvalidInput
from ..records import write_whole
from .audit_inputs import reference_of_texts
from .cli import Command, choice

__all__ = ["classes"]


class ClassCommand(Command):
    """The command, with error messages that name its options."""

    renamed: ClassVar[dict[str, str]] = {
        "y_true": "--label",
        "y_pred": "--prediction",
        "classes": "--class",
        "averages": "--average",
        "max_groups": "--max-groups",
        "crossings": "--crossings",
    }
    words: ClassVar[set[str]] = {"classes", "averages", "crossings"}


@click.command(cls=ClassCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--label", metavar="COLUMN", required=True, help="The labels.")
@click.option("--prediction", metavar="COLUMN", required=True, help="The predictions.")
@click.option("--group", multiple=True, required=True, metavar="COLUMN", help="A column of groups; may be repeated.")
@click.option("--class", "chosen", multiple=True, metavar="LABEL", help="A class; may be repeated.  [default: all]")
@click.option(
    "--average",
    multiple=True,
    help="A score of all classes, such as acc, mcc or 'macro f1'; may be repeated.  [default: a few]",
)
@click.option("--metric", multiple=True, help="A metric of each class; may be repeated.")
@click.option("--reference", multiple=True, help="rest, all, largest, a group, or COLUMN=one of these, repeatable.")
@choice("--undefined", "propagate", "omit", explained="What a class without a score does to an average.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests.")
@choice("--adjust", "holm", "bh", "none")
@choice("--family", "metric", "audit")
@click.option("--margin", type=float, default=0.1, show_default=True, help="Scores are alike within ±margin.")
@click.option("--crossings", default="2", show_default=True, help="Cross up to so many group columns, or all.")
@click.option("--max-groups", type=int, default=1000, show_default=True, help="The largest number of groups allowed.")
@click.option("--draws", type=int, default=2000, show_default=True, help="Groups per simulated test.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of simulated tests.")
@click.option("--json", "json_file", metavar="FILE", help="Write the audit as JSON; - prints it.")
def classes(
    files: tuple[str, ...],
    label: str,
    prediction: str,
    group: tuple[str, ...],
    chosen: tuple[str, ...],
    average: tuple[str, ...],
    metric: tuple[str, ...],
    reference: tuple[str, ...],
    crossings: str,
    seed: int,
    json_file: str | None,
    **settings: Any,
) -> None:
    """Audit each of several classes against the rest, and averages over all of them, group by group.

    FILE is a CSV, TSV or Parquet file, or any other that evenhand audit reads. P-values are adjusted over classes as
    well as groups.
    """
    if "" in files:
        raise InvalidInput("the name of the input file must not be empty; is a variable unset?")
    result = audit_classes(
        files[0] if len(files) == 1 else list(files),
        y_true=label,
        y_pred=prediction,
        groups=list(group),
        classes=chosen or None,
        metrics=metric or None,
        reference=reference_of_texts(reference, group),
        crossings=int(crossings) if crossings.isdecimal() and len(crossings) < 10 else crossings,
        rng=seed,
        averages=list(average) or AVERAGES,
        **settings,
    )
    if json_file == "-":
        click.echo(result.to_json())
        return
    if json_file is not None:
        write_whole(json_file, result.to_json())
    click.echo(str(result))
