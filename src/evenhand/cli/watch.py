"""``evenhand watch``: add a batch to a watch whose state is a file, and say which alarms there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..auditing import AuditRequest, Watch
from ..errors import InvalidInput, escaped
from ..records import write_whole
from ..tabulate import read_counts_file
from .command import Command
from .options import SHARED, arguments, own_settings, setting_options

__all__ = ["watch"]

_READ = ("y_true", "y_pred", "groups", "y_score", "threshold", *("positive", "positive_label", "positive_prediction"))
_OWN = {name: known for name, known in own_settings(AuditRequest).items() if name in (*_READ, "count", "bins")}
_FIXED = {name: known for name, known in SHARED.items() if name in ("metrics", "reference", "alpha")}


@click.command(
    cls=Command,
    help="Add batches of decisions to a watch, and say which groups raise an alarm. However often one looks, at most "
    "a share of alpha of all watches raises a false alarm.\n\nSTATE is the file of the watch, which is begun if it "
    "does not exist; it holds counts, never rows. FILE is a batch, as for audit; without one, the watch is shown. "
    "Columns and settings are fixed by the first batch and need not be repeated.\n\nExit codes: 0 no alarm, or none "
    "was asked for; 1 an alarm, with --fail-on alarm; 2 FILE cannot be read, or STATE cannot be written; 70 a bug.",
)
@click.argument("state", metavar="STATE")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--at", metavar="NAME", help="What the batch is called, such as its week; required with FILE.")
@click.option("--counts", is_flag=True, help="FILE is a CSV table of tp, fn, fp, tn per group.")
@setting_options(_OWN)
@setting_options(_FIXED)
@click.option("--fail-on", type=click.Choice(["alarm"]), help="Exit with 1 if there is an alarm, also an earlier one.")
def watch(state: str, file: str | None, at: str | None, counts: bool, fail_on: str | None, **options: Any) -> None:
    """Read the state, add a batch, write the state, and print the watch."""
    given = arguments(AuditRequest, options, options.get("groups") or ())
    fixed = {name: given.pop(name) for name in _FIXED if name in given}
    path = Path(state)
    kept = _opened(path, fixed)
    if file is None and not path.exists():
        raise InvalidInput(f"there is no watch {escaped(state)}; pass a FILE to begin it")
    if file is not None:
        if at is None:
            raise InvalidInput("say which batch it is with --at, such as --at 2026-W05")
        if counts:
            by, matrices, _ = read_counts_file(file)
            new = kept.add_counts(matrices, at=at, by=list(by))
        else:
            new = kept.add(file, at=at, **given)
        if new:
            write_whole(state, kept.to_json())
        else:
            click.echo(f"{at} was added before, with the same counts; nothing changed.")
    click.echo(str(kept))
    if fail_on and kept.alarms:
        click.get_current_context().exit(1)


def _opened(path: Path, fixed: dict[str, Any]) -> Watch:
    """The watch of a state, or a new one; what is fixed cannot be changed."""
    if not path.exists():
        return Watch(**fixed)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{escaped(path)} cannot be read: {escaped(error)}") from None
    kept = Watch.from_json(text)
    for name, value in fixed.items():
        was = kept.settings[name]
        if value != was and [value] != was:
            raise InvalidInput(f"`{name}` was {was} when the watch began and must stay; got {value}")
    return kept
