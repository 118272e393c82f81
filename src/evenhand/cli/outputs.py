"""What becomes of an audit: files, text on the terminal, and an exit code for pipelines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from shutil import get_terminal_size
from typing import Any

import click

from ..auditing import INCLUDED, KINDS, REPORT, Audit, Finding
from ..data import input_files
from ..errors import InvalidInput, escaped, printable
from ..records import write_whole
from ..reports import as_annotations, as_junit, as_text

_MAX_ROWS = 12
FILES = {
    "json": "Write the audit as JSON",
    "html": "Write the audit as a self-contained HTML report",
    "markdown": "Write the audit as Markdown",
    "csv": "Write the rows as CSV",
    "junit": "Write JUnit XML, with a test case per comparison",
}
"""The formats of files with the help of their options."""
_FAIL_ON = """Exit with 1 on such a finding; may be repeated. P-values are then adjusted over the
whole audit, unless --family says otherwise."""
_GITHUB = "Print findings as GitHub annotations.  [default: if GITHUB_ACTIONS is true]"
_OPTIONS = (
    click.option("--all", "everything", is_flag=True, help="Print every row of the table."),
    click.option("--explain", is_flag=True, help="Print a sentence for every comparison."),
    click.option("--quiet", is_flag=True, help="Print only findings that --fail-on names."),
    *(
        click.option(f"--{kind}", metavar="FILE", help=f"{text}; - prints it.")
        for kind, text in FILES.items()
    ),
    *(click.option(str(one.option), name, help=one.brief) for name, one in REPORT.items()),
    click.option("--fail-on", multiple=True, type=click.Choice([*KINDS, "any"]), help=_FAIL_ON),
    click.option("--github/--no-github", default=None, help=_GITHUB),
)


def output_options(command: Any) -> Any:
    """Add the options that say what becomes of an audit."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def prints_file(options: Mapping[str, Any]) -> bool:
    """Whether a file is printed on standard output, which nothing else may be mixed with."""
    return "-" in (options[kind] for kind in FILES)


def check_outputs(options: Mapping[str, Any], inputs: Sequence[str]) -> None:
    """No output replaces an input or another output, and one at most is printed."""
    inputs = [*inputs, *filter(None, [click.get_current_context().meta.get("config")])]
    if len(printed := [f"--{kind}" for kind in FILES if options[kind] == "-"]) > 1:
        raise InvalidInput(f"only one file can be printed with -; got {' and '.join(printed)}")
    if options["explain"] and options["quiet"]:
        raise InvalidInput("pass either --explain or --quiet, not both")
    files = {kind: options[kind] for kind in FILES if options[kind] not in (None, "-")}
    kinds: dict[str, str] = {}
    for kind, file in files.items():
        if any(is_same_file(file, path) for path in _expand(inputs)):
            overwrites = f"--{kind} {escaped(file)} would overwrite the input"
            raise InvalidInput(f"{overwrites}; choose another file")
        path = os.path.realpath(file)
        other = kinds.setdefault(path, kind)
        if other != kind and path != os.devnull:
            both = f"--{other} and --{kind} must be different files"
            raise InvalidInput(f"{both}; got {escaped(file)}")


def _expand(inputs: Sequence[str]) -> Iterator[str | Path]:
    """The files that inputs are, or that their globs and folders contain."""
    for name in inputs:
        if name != "-":
            yield from [name] if os.path.isfile(name) else input_files(name)


def is_same_file(first: str | Path, second: str | Path) -> bool:
    """Whether two paths are those of one file, also by links of any kind."""
    with suppress(OSError):
        return os.path.samefile(first, second)
    return False


def render(audit: Audit, changes: list[str] | None, options: Mapping[str, Any]) -> None:
    """Write files, print the audit, and exit with 1 on a finding asked for or a change."""
    failing = _select_findings(audit, options["fail_on"])
    for kind in FILES:
        if file := options[kind]:
            _write(file, _format(kind, audit, failing, changes, options))
    to_stderr = prints_file(options)
    on_github = options["github"]
    if on_github is None:
        on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    if not to_stderr and options["quiet"]:
        click.echo("".join(f"{finding}\n" for finding in failing), nl=False)
    elif not to_stderr:
        with _without_workflow_commands(on_github):
            _print(audit, options)
    if on_github:
        click.echo(as_annotations(audit, failing), nl=False, err=to_stderr)
    if changes is not None:
        lines = ["Changed:" if changes else "Nothing changed."]
        lines += [f"- {printable(change)}" for change in changes]
        click.echo("\n".join(lines), err=to_stderr)
    if changes or failing:
        click.get_current_context().exit(1)


def _select_findings(audit: Audit, names: Sequence[str]) -> list[Finding]:
    """The findings that ``--fail-on`` names; that counts were rounded was asked for."""
    kinds = {kind for name in names for kind in (name, *INCLUDED.get(name, ()))}
    if "any" in names:
        kinds |= KINDS.keys() - {"protected"}
    return [finding for finding in audit.findings if finding.kind in kinds]


def _format(kind: str, audit: Audit, failing: Any, changes: Any, options: Any) -> str:
    """The audit in the format of a file."""
    if kind == "junit":
        return as_junit(audit, failing, changes)
    report = {name: options[name] for name in REPORT} if kind == "html" else {}
    return str(getattr(audit, f"to_{kind}")(**report))


def _write(file: str, text: str) -> None:
    if file == "-":
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_whole(file, text)


@contextmanager
def _without_workflow_commands(on_github: bool) -> Iterator[None]:
    """Stop GitHub from reading the names of groups as commands; these may begin a line."""
    token = token_hex(16)
    if on_github:
        click.echo(f"::stop-commands::{token}")
    yield
    if on_github:
        click.echo(f"::{token}::")


def _print(audit: Audit, options: Mapping[str, Any]) -> None:
    """Print summary and table, as wide as the terminal and in its colours."""
    is_terminal = sys.stdout.isatty()
    color = _has_colors(is_terminal)
    text = as_text(
        audit,
        None if options["everything"] else _MAX_ROWS,
        width=get_terminal_size((80, 24)).columns,
        colour=color,
        explain=options["explain"],
        is_command=True,
    )
    click.echo(text, color=color)


def _has_colors(is_terminal: bool) -> bool:
    """Whether to print colours: as NO_COLOR and FORCE_COLOR say, else if the terminal has them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"
