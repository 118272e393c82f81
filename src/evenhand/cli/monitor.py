"""``evenhand monitor``: add a batch to a monitor whose state is a file, and say which alarms there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..auditing import AuditRequest, Monitor, flat_settings
from ..data import read_counts, spool
from ..errors import InvalidInput, escaped, printable
from ..records import write_whole
from ..reports import monitor_text
from .command import Command
from .inputs import opened
from .options import SHARED, arguments, own_settings, setting_options
from .outputs import is_same

__all__ = ["monitor"]

_READ = ("y_true", "y_pred", "groups", "y_score", "threshold", *("positive", "positive_label", "positive_prediction"))
_OWN = {
    name: known for name, known in own_settings(AuditRequest).items() if name in (*_READ, "count", "cluster", "bins")
}
_FIXED = {name: known for name, known in SHARED.items() if name in ("metrics", "reference", "alpha")}
_NOT_MONITORED = ("classes", "strata", "sample_weight", "intersections", "protect")
_REFUSED = {name: known for name, known in flat_settings(AuditRequest).items() if name in _NOT_MONITORED}
_ROWS = 24


@click.command(
    cls=Command,
    help="Add batches of decisions to a monitor, and say which groups raise an alarm. However often one looks, at most "
    "a share of alpha of all monitors raises a false alarm.\n\nSTATE is the file of the monitor, which is begun if it "
    "does not exist; it holds counts and, with --cluster, salted hashes of clusters, never rows. "
    "FILE is a batch, as for audit, - standard input; without one, the monitor is shown. "
    "Columns and settings are fixed by the first batch and need not be repeated.\n\nExit codes: 0 no alarm, or none "
    "was asked for; 1 an alarm, with --fail-on alarm; 2 FILE cannot be read, or STATE cannot be written; 70 a bug.",
)
@click.argument("state", metavar="STATE")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--at", metavar="NAME", help="What the batch is called, such as its week; required with FILE.")
@click.option("--counts", is_flag=True, help="FILE is a CSV table of tp, fn, fp, tn per group.")
@setting_options(_OWN)
@setting_options(_FIXED)
@setting_options(_REFUSED, hidden=True)
@click.option("--all", "everything", is_flag=True, help="Print every row of the table.")
@click.option("--html", metavar="FILE", help="Write the monitor as a self-contained HTML page; - prints it.")
@click.option("--fail-on", type=click.Choice(["alarm"]), help="Exit with 1 if there is an alarm, also an earlier one.")
def monitor(
    state: str,
    file: str | None,
    at: str | None,
    counts: bool,
    everything: bool,
    html: str | None,
    fail_on: str | None,
    **options: Any,
) -> None:
    """Read the state, add a batch, write the state, and print the monitor."""
    given = arguments(AuditRequest, options, options.get("groups") or ())
    fixed = {name: given.pop(name) for name in _FIXED if name in given}
    _check_paths(state, file, html)
    before = _content(state)
    kept = _opened(before, fixed)
    if file is None and not Path(state).exists():
        raise InvalidInput(f"there is no monitor {escaped(state)}; pass a FILE to begin it")
    said = ""
    if file is not None:
        had, kept = kept, _added(kept, file, at, counts, given)
        if kept is had:
            said = f"{printable(str(at))} was added before, with the same counts; nothing changed.\n"
        elif _content(state) == before:
            write_whole(state, kept.to_json())
        else:
            raise InvalidInput(f"{escaped(state)} changed in the meantime, so the batch was not added; add it again")
    if html == "-":
        click.echo(kept.to_html(), nl=False)
    else:
        if html is not None:
            kept.to_html(html)
        click.echo(said + monitor_text(kept, None if everything else _ROWS, is_command=True))
    if fail_on and kept.alarms:
        click.get_current_context().exit(1)


def _check_paths(state: str, file: str | None, html: str | None) -> None:
    """No output replaces an input."""
    if file is not None and is_same(state, file):
        raise InvalidInput(f"STATE and FILE must be different files; got {escaped(state)}")
    for name, path in (("STATE", state), ("FILE", file)):
        if path is not None and html not in (None, "-") and is_same(str(html), path):
            raise InvalidInput(f"--html {escaped(html)} would overwrite {name}; choose another file")


def _added(kept: Monitor, file: str, at: str | None, counts: bool, given: dict[str, Any]) -> Monitor:
    """The monitor with one more batch; the same monitor if it has the batch."""
    if at is None:
        raise InvalidInput("say which batch it is with --at, such as --at 2026-W05")
    with opened([file]) as data, spool(data) as batch:
        if not counts:
            return kept.add(batch, at=at, **given)
        by, matrices, _ = read_counts(batch)
        return kept.add_counts(matrices, at=at, by=list(by))


def _content(state: str) -> str | None:
    """What is in the file of a state; None if there is no file."""
    if not Path(state).exists():
        return None
    try:
        return Path(state).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{escaped(state)} cannot be read: {escaped(error)}") from None


def _opened(content: str | None, fixed: dict[str, Any]) -> Monitor:
    """The monitor of a state, or a new one; what is fixed cannot be changed."""
    asked = Monitor(**fixed)
    if content is None:
        return asked
    kept = Monitor.from_json(content)
    kept.check(asked, *fixed)
    return kept
