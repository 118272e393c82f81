"""``evenhand audit``: read, audit, render, and exit with a code for pipelines."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, ClassVar

import click

from ..auditing import KINDS, Audit, Finding, ReferenceKind
from ..errors import InvalidInput, UnknownName
from ..records import write_whole
from .cli import Command, choice
from .count_commands import as_strength_option
from .terminal import as_text

__all__ = ["audit"]

_EXAMPLES = ("compas", "compas_violent", "folktables_income")


def _configured(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Use the values in a TOML file as the defaults of the other options."""
    if path is None:
        return
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except RecursionError:
        raise click.BadParameter(f"{path} cannot be read: it is nested too deeply") from None
    except (OSError, ValueError) as refusal:
        why = refusal.strerror if isinstance(refusal, OSError) else refusal
        raise click.BadParameter(f"{_short(path)} cannot be read: {why}") from None
    known = {name: p for p in ctx.command.params for name in _names(p) if name != "config"}
    table = content.get("audit", content)
    if not isinstance(table, dict):
        raise click.BadParameter(f"audit in {path} must be a table of options; got {table!r}")
    ctx.default_map = dict(_default(known, path, key.replace("_", "-"), value) for key, value in table.items())


def _default(known: dict[str, click.Parameter], path: str, key: str, value: Any) -> tuple[str, Any]:
    if key not in known:
        raise click.BadParameter(str(UnknownName.among(f"setting in {path}", key, sorted(known))))
    parameter = known[key]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            raise click.BadParameter(f"{key} in {path} must be true or false; got {value!r}")
        return str(parameter.name), not value if f"--{key}" in parameter.secondary_opts else value
    several = parameter.multiple
    values = value if isinstance(value, list) else [value]
    valid = all(isinstance(v, (str, int, float)) and not isinstance(v, bool) for v in values)
    if not valid or (isinstance(value, list) and not several):
        raise click.BadParameter(
            f"{key} in {path} must be {'a list of values' if several else 'one value'}; got {value!r}"
        )
    return str(parameter.name), values if several else value


def _names(parameter: click.Parameter) -> list[str]:
    return [option.lstrip("-").lower() for option in (*parameter.opts, *parameter.secondary_opts)]


class AuditCommand(Command):
    """The command, with error messages that name its options."""

    renamed: ClassVar[dict[str, str]] = {
        "sensitive_features": "--group",
        "max_groups=": "--max-groups ",
        "max_groups": "--max-groups",
        "positive=": "--positive ",
        "y_score=": "--score ",
        "y_pred=": "--prediction ",
        "y_score": "--score",
        "y_pred": "--prediction",
        "y_true": "--label",
    }


@click.command(cls=AuditCommand)
@click.argument("file", required=False)
@click.option(
    "--config", callback=_configured, is_eager=True, expose_value=False, help="Read options from a TOML file."
)
@click.option("--label", metavar="COLUMN", help="The labels. Without them only selection rates are audited.")
@click.option("--prediction", metavar="COLUMN", help="The predictions.")
@click.option("--score", metavar="COLUMN", help="Scores in place of predictions, with --threshold.")
@click.option("--threshold", type=float, default=0.5, show_default=True, help="Scores at or above it are positive.")
@click.option("--group", multiple=True, metavar="COLUMN", help="A column of groups; may be repeated.")
@click.option("--positive", metavar="LABEL", help="The positive label, if it is ambiguous.")
@click.option("--counts", metavar="FILE", help="A CSV table of tp, fn, fp, tn per group, in place of FILE.")
@click.option("--example", type=click.Choice(_EXAMPLES), help="Audit a data set that comes with evenhand.")
@click.option("--metric", multiple=True, help="A metric; may be repeated.  [default: ppr tpr fpr ppv npv acc f1 prev]")
@click.option("--reference", multiple=True, help="rest, all, a group, or COLUMN=GROUP.  [default: rest]")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests.")
@choice("--adjust", "holm", "bh", "none")
@choice("--family", "metric", "audit")
@click.option(
    "--margin",
    type=float,
    default=0.1,
    show_default=True,
    help="Scores are alike if the interval of their gap lies within ±margin.",
)
@choice("--test", "fisher", "unconditional")
@click.option(
    "--strength",
    default="10",
    show_default=True,
    help="Strength of smoothing; one per split as prev=7,tpr=20,fpr=20; or auto.",
)
@choice("--favourable", "positive", "negative")
@click.option(
    "--impact-share",
    type=float,
    default=0.02,
    show_default=True,
    help="Impact ratios compare with the highest rate among groups with at least this share of the cases.",
)
@click.option(
    "--intersections/--no-intersections", default=True, help="Audit the intersections of several group columns."
)
@click.option("--max-groups", type=int, default=1000, show_default=True, help="The largest number of groups allowed.")
@click.option("--all", "everything", is_flag=True, help="Print every row of the table.")
@click.option("--verbose", is_flag=True, help="Print every row and finding, and the settings.")
@click.option("--quiet", is_flag=True, help="Print only the findings that --fail-on names, or nothing.")
@click.option("--json", "json_file", metavar="FILE", help="Write the audit as JSON; - prints it in place of the table.")
@click.option("--html", "html_file", metavar="FILE", help="Write the audit as a self-contained HTML page; - prints it.")
@click.option("--markdown", "markdown_file", metavar="FILE", help="Write the audit as Markdown; - prints it.")
@click.option("--csv", "csv_file", metavar="FILE", help="Write the rows as CSV; - prints them.")
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice([*KINDS, "any"]),
    help="Exit with 1 on such a finding; may be repeated.",
)
def audit(
    file: str | None,
    label: str | None,
    prediction: str | None,
    score: str | None,
    threshold: float,
    group: tuple[str, ...],
    positive: str | None,
    counts: str | None,
    example: str | None,
    metric: tuple[str, ...],
    reference: tuple[str, ...],
    strength: str,
    intersections: bool,
    max_groups: int,
    everything: bool,
    verbose: bool,
    quiet: bool,
    json_file: str | None,
    html_file: str | None,
    markdown_file: str | None,
    csv_file: str | None,
    fail_on: tuple[str, ...],
    **settings: Any,
) -> None:
    """Report which groups score higher or lower than the rest, which are alike, and which have too few cases to tell.

    FILE is a CSV, TSV or Parquet file, a folder or glob of Parquet files, or - for standard input.

    Exit codes: 0 no finding that --fail-on names; 1 such a finding; 2 the input cannot be audited, or the output cannot
    be written; 70 a bug; 130 Ctrl-C; 141 the pipe that reads the output was closed.
    """
    from .. import auditing as library
    from ..tabulate import input_files, read_counts

    settings |= {"metrics": metric or None, "strength": as_strength_option(strength)}
    settings |= {"intersections": intersections, "max_groups": max_groups}
    if sum(source is not None for source in (file, counts, example)) != 1:
        raise InvalidInput("pass one of FILE, --counts FILE and --example NAME; see evenhand audit --help")
    if "" in (file, counts):
        raise InvalidInput("the name of the input file must not be empty; is a variable unset?")
    if verbose and quiet:
        raise InvalidInput("pass either --verbose or --quiet, not both")
    outputs = {"--json": json_file, "--html": html_file, "--markdown": markdown_file, "--csv": csv_file}
    if file is not None:
        if not group:
            raise InvalidInput("name the column of groups with --group COLUMN")
        _check_outputs(outputs, lambda: [] if file == "-" else input_files(file))
        with _as_file(file) as path:
            result = library.audit(
                path,
                y_true=label,
                y_pred=prediction,
                y_score=score,
                threshold=threshold,
                groups=list(group),
                positive=positive,
                reference=_reference(reference, group),
                **settings,
            )
    elif counts is not None:
        _check_outputs(outputs, lambda: [Path(counts)])
        by, matrices = read_counts(_lines(counts), counts)
        result = library.audit_counts(matrices, by=by, reference=_reference(reference, by), **settings)
    else:
        from .. import examples

        _check_outputs(outputs, list)
        by = ("race",)
        matrices = {(group,): cm for group, cm in getattr(examples, str(example))().items()}
        result = library.audit_counts(matrices, by=by, reference=_reference(reference, by), **settings)
    _write(json_file, result.to_json)
    _write(html_file, result.to_html)
    _write(markdown_file, result.to_markdown)
    _write(csv_file, result.to_csv)
    named = [finding for finding in result.findings if finding.kind in fail_on or "any" in fail_on]
    if "-" not in outputs.values():
        _print(result, named, verbose=verbose, quiet=quiet, everything=everything)
    if named:
        click.get_current_context().exit(1)


def _print(result: Audit, named: list[Finding], *, verbose: bool, quiet: bool, everything: bool) -> None:
    """Print the findings that were asked for, or summary and table, as wide as the terminal and in its colours."""
    if quiet:
        for finding in named:
            click.echo(str(finding))
        return
    on_terminal = sys.stdout.isatty()
    colour = _in_colour(on_terminal)
    text = as_text(
        result,
        None if everything or verbose else 24,
        width=get_terminal_size((80, 24)).columns if on_terminal else 80,
        colour=colour,
        verbose=verbose,
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


def _reference(given: tuple[str, ...], columns: tuple[str, ...]) -> Any:
    """One reference for all columns, or one per column that is named before a ``=``."""
    named = {}
    for text in given:
        column, sign, name = text.partition("=")
        if sign and column in columns:
            named[column] = name
        elif len(given) > 1:
            raise InvalidInput(f"if --reference is repeated, it must be COLUMN=GROUP; got {text!r}")
        else:
            return text
    return named or ReferenceKind.REST


@contextmanager
def _as_file(file: str) -> Iterator[str]:
    """The file itself; standard input is copied to a temporary file."""
    if file != "-":
        yield file
        return
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        head = sys.stdin.buffer.read(4)
        path = Path(folder) / ("input.parquet" if head == b"PAR1" else "input.csv")
        with path.open("wb") as copy:
            copy.write(head)
            copyfileobj(sys.stdin.buffer, copy)
        yield str(path)


def _lines(file: str) -> list[str]:
    """The lines of a text file, or of standard input, with their ends."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return list(StringIO(content.decode("utf-8-sig"), newline=""))
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {file}") from None
    except OSError as refusal:
        raise InvalidInput(f"{_short(file)} cannot be read: {refusal.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} cannot be read: it is not UTF-8 text; save it as UTF-8") from None
    except ValueError as refusal:
        raise InvalidInput(f"{file!r} cannot be read: {refusal}") from None


def _short(file: str) -> str:
    return file if len(file) <= 200 else f"{file[:200]}…"


def _check_outputs(outputs: dict[str, str | None], inputs: Callable[[], list[Path]]) -> None:
    """No output replaces an input or another output."""
    taken: dict[str, str] = {}
    for option, file in outputs.items():
        if file in (None, "-"):
            continue
        real = os.path.realpath(str(file))
        if real in {os.path.realpath(path) for path in inputs()}:
            raise InvalidInput(f"{option} {file} would overwrite the input; choose another file")
        if real in taken and real != os.devnull:
            raise InvalidInput(f"{taken[real]} and {option} must be different files; got {file}")
        taken[real] = option


def _write(file: str | None, text: Callable[[], str]) -> None:
    if file == "-":
        content = text()
        click.echo(content, nl=not content.endswith("\n"))
    elif file is not None:
        write_whole(file, text())
