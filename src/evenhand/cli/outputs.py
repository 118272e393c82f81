"""What becomes of an audit: files, text on the terminal, and an exit code for pipelines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from shutil import get_terminal_size
from typing import Any, NamedTuple

import click

from ..auditing import INCLUDED, KINDS, REPORT, Audit, Finding
from ..errors import InvalidInput, escaped, printable
from ..records import write_whole
from ..reports import as_annotations, as_junit, as_text

__all__ = ["OUTPUTS", "check_outputs", "is_same", "output_options", "prints", "render"]

_ROWS = 12


class Outcome(NamedTuple):
    """An audit, the findings that ``--fail-on`` names, and what changed since it was made before, if it was."""

    audit: Audit
    failing: list[Finding]
    changes: list[str] | None
    report: Mapping[str, str | None] = {}


_WRITERS: dict[str, tuple[Callable[[Outcome], str], str]] = {
    "json": (lambda made: made.audit.to_json(), "Write the audit as JSON; - prints it in place of the table."),
    "html": (
        lambda made: made.audit.to_html(**made.report),
        "Write the audit as a self-contained HTML page; - prints it.",
    ),
    "markdown": (lambda made: made.audit.to_markdown(), "Write the audit as Markdown; - prints it."),
    "csv": (lambda made: made.audit.to_csv(), "Write the rows as CSV; - prints them."),
    "junit": (
        lambda made: as_junit(*made[:3]),
        "Write a test case per comparison as JUnit XML, which fails as --fail-on says; - prints it.",
    ),
}
_OPTIONS = (
    click.option("--all", "everything", is_flag=True, help="Print every row of the table."),
    click.option("--explain", is_flag=True, help="Print a sentence for every comparison."),
    click.option("--quiet", is_flag=True, help="Print only the findings that --fail-on names, or nothing."),
    *(click.option(f"--{kind}", metavar="FILE", help=explained) for kind, (_, explained) in _WRITERS.items()),
    *(click.option(str(known.option), name, help=known.brief) for name, known in REPORT.items()),
    click.option(
        "--fail-on",
        multiple=True,
        type=click.Choice([*KINDS, "any"]),
        help="Exit with 1 on such a finding; may be repeated. Adjusts over everything together, unless --family says "
        "otherwise.",
    ),
    click.option(
        "--github/--no-github",
        default=None,
        help="Print findings as annotations of GitHub.  [default: if GITHUB_ACTIONS is true]",
    ),
)
OUTPUTS = {"everything", "explain", "quiet", "fail_on", "github", *REPORT, *_WRITERS}
"""The options that do not change an audit, only what is done with it."""


def output_options(command: Any) -> Any:
    """The options that say what becomes of an audit."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def prints(options: Mapping[str, Any]) -> bool:
    """Whether a file is printed on standard output, which nothing else may be mixed with."""
    return "-" in (options[kind] for kind in _WRITERS)


def check_outputs(options: Mapping[str, Any], inputs: Callable[[], list[Path]]) -> None:
    """No output replaces an input or another output."""
    if options["explain"] and options["quiet"]:
        raise InvalidInput("pass either --explain or --quiet, not both")
    taken: dict[str, str] = {}
    for kind in _WRITERS:
        file = options[kind]
        if file in (None, "-"):
            continue
        real = os.path.realpath(file)
        if any(is_same(file, path) for path in inputs()):
            raise InvalidInput(f"--{kind} {escaped(file)} would overwrite the input; choose another file")
        if real in taken and real != os.devnull:
            raise InvalidInput(f"--{taken[real]} and --{kind} must be different files; got {escaped(file)}")
        taken[real] = kind


def is_same(first: str | Path, second: str | Path) -> bool:
    """Whether two paths are those of one file, also by links of any kind."""
    with suppress(OSError):
        return os.path.samefile(first, second)
    return os.path.realpath(first) == os.path.realpath(second)


def render(audit: Audit, changes: list[str] | None, options: Mapping[str, Any]) -> None:
    """Write the files, print what was asked for, and exit with 1 if something was found or changed."""
    asked = options["fail_on"]
    named = {kind for one in asked for kind in (one, *INCLUDED.get(one, ()))}
    # That counts were rounded was asked for.
    every = {finding.kind for finding in audit.findings if "any" in asked} - {"protected"}
    failing = [finding for finding in audit.findings if finding.kind in named | every]
    report = {name: options[name] for name in REPORT}
    for kind, (text, _) in _WRITERS.items():
        _write(options[kind], partial(text, Outcome(audit, failing, changes, report)))
    aside, on_github = prints(options), _on_github(options["github"])
    if not aside:
        with _without_commands(on_github and not options["quiet"]):
            click.echo("\n".join(map(str, failing)), nl=bool(failing)) if options["quiet"] else _print(audit, options)
    if on_github:
        click.echo(as_annotations(audit, failing), nl=False, err=aside)
    if changes is not None:
        click.echo("Changed:" if changes else "Nothing changed.", err=aside)
        for change in changes:
            click.echo(f"- {printable(change)}", err=aside)
    if changes or failing:
        click.get_current_context().exit(1)


def _on_github(asked: bool | None) -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true" if asked is None else asked


@contextmanager
def _without_commands(on_github: bool) -> Iterator[None]:
    """Let GitHub take nothing that is printed for a command: the name of a group may begin a line and look like one."""
    token = token_hex(16)
    click.echo(f"::stop-commands::{token}") if on_github else None
    yield
    click.echo(f"::{token}::") if on_github else None


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
        None if options["everything"] else _ROWS,
        width=get_terminal_size((80, 24)).columns,
        colour=colour,
        explain=options["explain"],
        is_command=True,
    )
    click.echo(text, color=colour)


def _in_colour(on_terminal: bool) -> bool:
    """Whether to print colours: as NO_COLOR and FORCE_COLOR say, else if the terminal has them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return on_terminal and os.environ.get("TERM") != "dumb"
