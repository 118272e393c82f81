"""``evenhand reproduce``: the paper's figures, tables and claims from the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ..faces.cli import Command

__all__ = ["reproduce"]


@click.command(cls=Command)
@click.option("--out", type=click.Path(file_okay=False), default="results", show_default=True, help="Where to write.")
@click.option("--only", multiple=True, metavar="PART", help="Such as figure2, table1, risk or claims; may be repeated.")
@click.option("--monte-carlo", is_flag=True, help="Also draw a million groups for each point, as the paper did.")
@click.option(
    "--metric", "metrics", multiple=True, default=("tpr", "mcc"), show_default=True, help="What --monte-carlo draws."
)
@click.option(
    "--draws", type=click.IntRange(2), default=1_000_000, show_default=True, help="How many groups --monte-carlo draws."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of what is random.")
@click.option("--folktables", is_flag=True, help="Fetch the survey and train the forest anew (extra folktables).")
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, help="How many share the work.")
def reproduce(
    out: str,
    only: tuple[str, ...],
    monte_carlo: bool,
    metrics: tuple[str, ...],
    draws: int,
    seed: int,
    folktables: bool,
    processes: int,
) -> None:
    """Make every figure, table and claim of the paper anew, exactly, and a page that shows them.

    Takes about a minute. Two runs write the same files. The page shows the parts made by this run.
    """
    from . import count_forest, fetch_income
    from . import reproduce as make

    matrices = None
    if folktables:
        click.echo("fetching the survey and training the forest: some minutes", err=True)
        matrices = count_forest(fetch_income(Path(out) / "folktables"), seed=seed)
    written = make(
        out,
        only=only,
        folktables=matrices,
        monte_carlo=metrics if monte_carlo else (),
        draws=draws,
        seed=seed,
        processes=processes,
        progress=_show,
    )
    click.echo(f"{len(written)} files written; open {written[-1]}")


def _show(what: str, done: int, total: int) -> None:
    """A line that counts up on a terminal, and one line at the end elsewhere."""
    if sys.stderr.isatty():
        click.echo(f"\r{what}: {done} of {total}" + ("\n" if done == total else ""), nl=False, err=True)
    elif done == total:
        click.echo(what, err=True)
