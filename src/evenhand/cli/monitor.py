"""``evenhand monitor``: add a batch to a monitor whose state is a file, and list its alarms."""

from __future__ import annotations

import os
from typing import Any

import click

from ..auditing import AuditRequest, Monitor
from ..data import read_counts, spool
from ..errors import InvalidInput, escaped, printable
from ..records import write_whole
from ..reports import monitor_text
from .command import command
from .inputs import open_files, read_text
from .options import Options, read_arguments, setting_options
from .outputs import is_same_file

_MAX_ROWS = 24
_BATCH = (
    *("y_true", "y_pred", "groups", "y_score", "threshold", "positive"),
    *("positive_label", "positive_prediction", "count", "cluster", "bins"),
)
_FIXED = ("metrics", "reference", "alpha")
_REFUSED = ("classes", "strata", "sample_weight", "intersections", "protect")
_HELP = """However often one looks, at most a share of alpha of all monitors raises a false alarm.

STATE is the file of the monitor, which is begun if it does not exist; it holds counts and, with
--cluster, salted hashes of clusters, never rows. FILE is a batch, as for audit; - is standard input.
Without one, the monitor is shown. Columns and settings are fixed by the first batch and need not be
repeated. An alarm that was acknowledged is listed as known and does not fail --fail-on.

Exit codes: 0 no alarm, or none was asked for; 1 an alarm, with --fail-on alarm; 2 FILE cannot be
read, or STATE cannot be written; 70 a bug.
"""
_KNOWN = "List an alarm of earlier batches as known, with COLUMN if several share the group."
_SETTINGS = (
    *setting_options(AuditRequest, (*_BATCH, *_FIXED)),
    *setting_options(AuditRequest, _REFUSED, hidden=True),
)


@command("monitor", _HELP, _SETTINGS)
@click.argument("state", metavar="STATE")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--at", metavar="NAME", help="Name of the batch, such as its week.")
@click.option("--counts", is_flag=True, help="FILE is a table of tp, fn, fp, tn per group.")
@click.option("--all", "everything", is_flag=True, help="Print every row of the table.")
@click.option("--html", metavar="FILE", help="Write an HTML report; - prints it.")
@click.option("--fail-on", type=click.Choice(["alarm"]), help="Exit 1 on unacknowledged alarms.")
@click.option("--acknowledge", metavar="[COLUMN:]GROUP:METRIC", multiple=True, help=_KNOWN)
def monitor(state: str, file: str | None, html: str | None, **options: Any) -> None:
    """Read the state, add a batch, write the state, and print the monitor."""
    _check_paths(state, file, html)
    arguments = read_arguments(AuditRequest, options, options["groups"])
    fixed = {name: arguments.pop(name) for name in _FIXED if name in arguments}
    current = Monitor(**fixed)
    text = _read_state(state)
    if text is not None:
        requested, current = current, Monitor.from_json(text)
        current.check(requested, *fixed)
    elif file is None:
        raise InvalidInput(f"there is no monitor {escaped(state)}; pass a FILE to begin it")
    before, note = current, ""
    for alarm in options["acknowledge"]:
        group, _, metric = alarm.rpartition(":")
        current = current.acknowledge(group, metric)
    if file is not None:
        known, at = current, options["at"]
        current = _add_batch(known, file, at, options["counts"], arguments)
        if current is known:
            note = f"{printable(at)} was added before with the same counts; it changed nothing.\n"
    if current is not before:
        if _read_state(state) != text:
            changed = "changed in the meantime, so nothing was written; run the command again"
            raise InvalidInput(f"{escaped(state)} {changed}")
        write_whole(state, current.to_json())
    if html == "-":
        click.echo(current.to_html(), nl=False)
    else:
        if html is not None:
            current.to_html(html)
        rows = None if options["everything"] else _MAX_ROWS
        click.echo(note + monitor_text(current, rows, is_command=True))
    if options["fail_on"] and current.unacknowledged:
        click.get_current_context().exit(1)


def _check_paths(state: str, file: str | None, html: str | None) -> None:
    """No output replaces an input."""
    if is_same_file(state, file):
        raise InvalidInput(f"STATE and FILE must be different files; got {escaped(state)}")
    for name, path in (("STATE", state), ("FILE", file)):
        if html != "-" and is_same_file(html, path):
            overwrites = f"--html {escaped(html)} would overwrite {name}"
            raise InvalidInput(f"{overwrites}; choose another file")


def _add_batch(
    current: Monitor, file: str, at: str | None, is_counted: bool, arguments: Options
) -> Monitor:
    """The monitor with one more batch; the same monitor if it has the batch."""
    if at is None:
        raise InvalidInput("say which batch it is with --at, such as --at 2026-W05")
    with open_files([file]) as data, spool(data) as batch:
        if not is_counted:
            return current.add(batch, at=at, **arguments)
        by, matrices, _ = read_counts(batch)
        return current.add_counts(matrices, at=at, by=list(by))


def _read_state(state: str) -> str | None:
    """The text of a state; None if there is no file."""
    return read_text(state) if os.path.exists(state) else None
