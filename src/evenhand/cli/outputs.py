"""What becomes of an audit: files, text on the terminal, and an exit code for pipelines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from shutil import get_terminal_size

import click

from ..auditing import GATES, REPORT, Audit, GateResult, check_gates, lookup_metric, read_required
from ..data import input_files
from ..errors import EvenhandError, InvalidInput, escaped, printable
from ..records import write_whole
from ..reports import as_annotations, as_junit, as_text
from .command import argument_words
from .inputs import read_text
from .options import Options

_FILES = {
    "json": "Write the audit as JSON",
    "html": "Write the audit as a self-contained HTML report",
    "markdown": "Write the audit as Markdown",
    "csv": "Write the rows as CSV",
    "junit": "Write JUnit XML, with a test case per comparison",
}
_FAIL_ON = """Exit with 1 on such a finding, with 2 if it could not be looked for; may be repeated.
P-values are then adjusted over the whole audit."""
_REQUIRE = "Exit with 1 if this group has no cases; may be repeated."
_CONCLUSIVE = "Exit with 1 if a required group has an undefined or inconclusive verdict."
_SINCE = "Exit with 1 if a score is worse than in this saved audit of earlier cases."
_GITHUB = "Print findings as GitHub annotations.  [default: if GITHUB_ACTIONS is true]"
OUTPUTS = (
    click.Option(["--all", "everything"], is_flag=True, help="Print every row of the table."),
    click.Option(["--explain"], is_flag=True, help="Print a sentence for every comparison."),
    click.Option(["--quiet"], is_flag=True, help="Print only gates, and findings that fail them."),
    *(
        click.Option([f"--{kind}"], metavar="FILE", help=f"{text}; - prints it.")
        for kind, text in _FILES.items()
    ),
    *(click.Option([f"--{name}"], help=setting.brief) for name, setting in REPORT.items()),
    click.Option(["--fail-on"], multiple=True, type=click.Choice(GATES), help=_FAIL_ON),
    click.Option(["--require"], multiple=True, metavar="COLUMN=GROUP", help=_REQUIRE),
    click.Option(["--require-conclusive"], is_flag=True, help=_CONCLUSIVE),
    click.Option(["--since"], metavar="FILE", help=_SINCE),
    click.Option(["--github/--no-github"], default=None, help=_GITHUB),
)
"""The options that say what becomes of an audit."""


def _list_files(options: Options) -> dict[str, str]:
    """The files to write, by format; ``-`` is standard output."""
    return {kind: options[kind] for kind in _FILES if options[kind] is not None}


def prints_file(options: Options) -> bool:
    """Whether a file is printed on standard output, which nothing else may be mixed with."""
    return "-" in _list_files(options).values()


def check_outputs(options: Options, inputs: Sequence[str]) -> None:
    """No output replaces an input or another output, and one at most is printed."""
    files = _list_files(options)
    printed = [f"--{kind}" for kind, file in files.items() if file == "-"]
    if len(printed) > 1:
        raise InvalidInput(f"only one file can be printed with -; got {' and '.join(printed)}")
    if options["explain"] and options["quiet"]:
        raise InvalidInput("pass either --explain or --quiet, not both")
    config = click.get_current_context().meta.get("config")
    read: list[str | Path] = [config] if config else []
    for name in inputs if files else ():
        if name != "-":
            read += [name] if os.path.isfile(name) else input_files(name)
    kinds: dict[str, str] = {}
    for kind, file in files.items():
        if any(is_same_file(file, path) for path in read):
            overwrites = f"--{kind} {escaped(file)} would overwrite the input"
            raise InvalidInput(f"{overwrites}; choose another file")
        other = kinds.setdefault(os.path.realpath(file), kind)
        if other != kind and file != os.devnull:
            both = f"--{other} and --{kind} must be different files"
            raise InvalidInput(f"{both}; got {escaped(file)}")


def is_same_file(first: str | Path | None, second: str | Path | None) -> bool:
    """Whether two paths are those of one file, also by links of any kind; None is no file."""
    with suppress(OSError):
        return first is not None and second is not None and os.path.samefile(first, second)
    return False


def prepare_gates(options: Options) -> Callable[[Audit], tuple[GateResult, ...]]:
    """Read what gates need, add the metric of four fifths, and return what checks them."""
    given, gates = options.get("metrics") or (), options["fail_on"]
    keys = [lookup_metric(key).key for key in given]
    adds = bool({"any", "four-fifths"} & {*gates} and options["favourable"] and given)
    if adds and "ppr" not in keys:
        options["metrics"] = (*given, "ppr")
    asked: Options = {"require_conclusive": options["require_conclusive"]}
    asked |= {"require": read_required(options["require"]), "since": None}
    if since := options["since"]:
        try:
            asked["since"] = Audit.from_json(read_text(since))
        except InvalidInput as error:
            raise InvalidInput(escaped(error.spelled({"text": "--since"}))) from None
    if not has_gates(options):
        return lambda _: ()
    return lambda audit: check_gates(audit, gates, **asked, metrics=keys if adds else None)


def has_gates(options: Options) -> bool:
    """Whether the exit code depends on what an audit found."""
    names = ("fail_on", "require", "require_conclusive", "since")
    return any(options[name] for name in names)


def render(
    audit: Audit, changes: list[str] | None, gates: Sequence[GateResult], options: Options
) -> None:
    """Write files, print the audit, and exit with 1 if a gate failed or the audit changed.

    The exit code is 2 if no gate failed and one could not be evaluated.
    """
    failing = [*{id(found): found for gate in gates for found in gate.findings}.values()]
    for kind, file in _list_files(options).items():
        if kind == "junit":
            text = as_junit(audit, failing, changes, gates)
        else:
            report = {name: options[name] for name in REPORT if kind == "html"}
            text = getattr(audit, f"to_{kind}")(**report)
        if file == "-":
            click.echo(text, nl=not text.endswith("\n"))
        else:
            write_whole(file, text)
    to_stderr, on_github = prints_file(options), options["github"]
    if on_github is None:
        on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    if not to_stderr and options["quiet"]:
        click.echo("".join(f"{finding}\n" for finding in failing), nl=False)
    elif not to_stderr:
        _print(audit, options, on_github)
    if on_github:
        click.echo(as_annotations(audit, failing, gates), nl=False, err=to_stderr)
    if changes is not None:
        lines = ["Changed:" if changes else "Nothing changed."]
        lines += [f"- {printable(change)}" for change in changes]
        click.echo("\n".join(lines), err=to_stderr)
    words = argument_words(click.get_current_context().command)
    for gate in gates:
        click.echo(EvenhandError(gate.text).spelled(words), err=to_stderr)
    outcomes = {gate.outcome for gate in gates}
    if changes or "failed" in outcomes:
        click.get_current_context().exit(1)
    if "not evaluated" in outcomes:
        click.get_current_context().exit(2)


def _print(audit: Audit, options: Options, on_github: bool) -> None:
    """Print summary and table, as wide as the terminal and in its colours."""
    colour = _has_colours()
    rows = {"most": None} if options["everything"] else {}
    width = get_terminal_size((80, 24)).columns
    text = as_text(
        audit, **rows, width=width, colour=colour, explain=options["explain"], is_command=True
    )
    if on_github:
        # Names of groups may begin a line, and must not be read as commands.
        token = token_hex(16)
        text = f"::stop-commands::{token}\n{text}\n::{token}::"
    click.echo(text, color=colour)


def _has_colours() -> bool:
    """Whether to print colours: as NO_COLOR and FORCE_COLOR say, else if the terminal has them."""
    if os.environ.get("NO_COLOR"):
        return False
    is_forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
    return is_forced or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
