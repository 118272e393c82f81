"""What becomes of an audit: files, text on the terminal, and an exit code for pipelines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from ..auditing import INCLUDED, KINDS, Audit
from ..errors import InvalidInput, escaped, printable
from ..records import write_whole
from ..views import as_text

__all__ = ["OUTPUTS", "check_outputs", "output_options", "render"]

_ROWS = 24
_WRITERS: dict[str, tuple[Callable[[Audit], str], str]] = {
    "json": (Audit.to_json, "Write the audit as JSON; - prints it in place of the table."),
    "html": (Audit.to_html, "Write the audit as a self-contained HTML page; - prints it."),
    "markdown": (Audit.to_markdown, "Write the audit as Markdown; - prints it."),
    "csv": (Audit.to_csv, "Write the rows as CSV; - prints them."),
}
_OPTIONS = (
    click.option("--all", "everything", is_flag=True, help="Print every row of the table."),
    click.option("--verbose", is_flag=True, help="Print every row and finding, and the settings."),
    click.option("--quiet", is_flag=True, help="Print only the findings that --fail-on names, or nothing."),
    *(click.option(f"--{kind}", metavar="FILE", help=explained) for kind, (_, explained) in _WRITERS.items()),
    click.option(
        "--fail-on",
        multiple=True,
        type=click.Choice([*KINDS, "any"]),
        help="Exit with 1 on such a finding; may be repeated. Adjusts over everything together, unless --family says "
        "otherwise.",
    ),
)
OUTPUTS = {"everything", "verbose", "quiet", "fail_on", *_WRITERS}
"""The options that do not change an audit, only what is done with it."""


def output_options(command: Any) -> Any:
    """The options that say what becomes of an audit."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_outputs(options: Mapping[str, Any], inputs: Callable[[], list[Path]]) -> None:
    """No output replaces an input or another output."""
    if options["verbose"] and options["quiet"]:
        raise InvalidInput("pass either --verbose or --quiet, not both")
    taken: dict[str, str] = {}
    for kind in _WRITERS:
        file = options[kind]
        if file in (None, "-"):
            continue
        real = os.path.realpath(file)
        if real in {os.path.realpath(path) for path in inputs()}:
            raise InvalidInput(f"--{kind} {escaped(file)} would overwrite the input; choose another file")
        if real in taken and real != os.devnull:
            raise InvalidInput(f"--{taken[real]} and --{kind} must be different files; got {escaped(file)}")
        taken[real] = kind


def render(audit: Audit, changes: list[str] | None, options: Mapping[str, Any]) -> None:
    """Write the files, print what was asked for, and exit with 1 if something was found or changed."""
    for kind, (text, _) in _WRITERS.items():
        _write(options[kind], partial(text, audit))
    asked = options["fail_on"]
    named = {kind for one in asked for kind in (one, *INCLUDED.get(one, ()))}
    found = [str(finding) for finding in audit.findings if finding.kind in named or "any" in asked]
    if "-" not in (options[kind] for kind in _WRITERS):
        click.echo("\n".join(found), nl=bool(found)) if options["quiet"] else _print(audit, options)
    if changes is not None:
        # A file on standard output is left as it is.
        aside = "-" in (options[kind] for kind in _WRITERS)
        click.echo("Changed:" if changes else "Nothing changed.", err=aside)
        for change in changes:
            click.echo(f"- {printable(change)}", err=aside)
    if changes or found:
        click.get_current_context().exit(1)


def _write(file: str | None, text: Callable[[], str]) -> None:
    if file == "-":
        content = text()
        click.echo(content, nl=not content.endswith("\n"))
    elif file is not None:
        write_whole(file, text())


def _print(audit: Audit, options: Mapping[str, Any]) -> None:
    """Print summary and table, as wide as the terminal and in its colours."""
    on_terminal = sys.stdout.isatty()
    colour = _in_colour(on_terminal)
    text = as_text(
        audit,
        None if options["everything"] or options["verbose"] else _ROWS,
        width=get_terminal_size((80, 24)).columns if on_terminal else 80,
        colour=colour,
        verbose=options["verbose"],
        ways=(" (see --all)", " (see --verbose)"),
    )
    click.echo(text, color=colour)


def _in_colour(on_terminal: bool) -> bool:
    """Whether to print colours: as NO_COLOR and FORCE_COLOR say, else if the terminal has them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return on_terminal and os.environ.get("TERM") != "dumb"
