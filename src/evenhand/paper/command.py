"""``evenhand reproduce``: the paper's figures, tables and claims from the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..cli import Command
from ..progress import ProgressLine

__all__ = ["reproduce"]


@click.command(cls=Command)
@click.option(
    "--out", type=click.Path(file_okay=False), default="results", show_default=True, help="Folder to write to."
)
@click.option(
    "--only",
    multiple=True,
    metavar="PART",
    help="Produce only this part, for example figure2, table1, risk or claims. Can be repeated.",
)
@click.option(
    "--monte-carlo", is_flag=True, help="Also simulate errors with random groups, as in the paper, and compare."
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    default=("tpr", "mcc"),
    show_default=True,
    help="Metric to simulate with --monte-carlo. Can be repeated.",
)
@click.option(
    "--draws",
    type=click.IntRange(2),
    default=1_000_000,
    show_default=True,
    help="Number of random groups per point with --monte-carlo.",
)
@click.option(
    "--rng",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed for --monte-carlo and --folktables.",
)
@click.option(
    "--folktables",
    is_flag=True,
    help="Download the survey and train the random forest again, instead of using the bundled counts. "
    "Requires the extra 'folktables'.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="number of CPUs",
    help="Number of processes.",
)
def reproduce(
    out: str,
    only: tuple[str, ...],
    monte_carlo: bool,
    metrics: tuple[str, ...],
    draws: int,
    rng: int,
    folktables: bool,
    processes: int,
) -> None:
    """Reproduce the paper's figures, tables and claims with exact numbers, and write a web page that shows them.

    Takes about a minute on two free processors, and several on a busy machine. Running it twice writes identical files.
    """
    from . import count_forest, fetch_income, reproduce as run

    matrices = None
    if folktables:
        click.echo("Downloading the survey and training the random forest; this takes several minutes.", err=True)
        matrices = count_forest(fetch_income(Path(out) / "folktables"), rng=rng)
    with _Reported() as progress:
        written = run(
            out,
            only=only,
            folktables=matrices,
            monte_carlo=metrics if monte_carlo else (),
            draws=draws,
            rng=rng,
            processes=processes,
            progress=progress,
        )
    click.echo(f"Wrote {len(written)} files. Open {written[-1]}")


class _Reported(ProgressLine):
    """Progress on a terminal; elsewhere one line when a task is complete."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of the task ``what`` are complete."""
        if sys.stderr.isatty():
            super().__call__(what, done, total)
        elif done == total:
            click.echo(what, err=True)
