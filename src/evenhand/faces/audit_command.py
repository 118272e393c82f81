"""``evenhand audit``: read, audit, render, and exit with a code for pipelines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, ClassVar

import click

from ..auditing import KINDS, Audit, ClassAudit, Sweep
from ..errors import InvalidInput
from ..records import write_whole
from ..tabulate import input_files
from .audit_inputs import (
    EXAMPLES,
    arguments,
    configured,
    from_counts,
    from_example,
    from_files,
    repeated,
    say_changes,
)
from .cli import Command, choice
from .terminal import as_text

__all__ = ["audit"]


# The options that do not change an audit, only what is done with it.
_WITH_REPEAT = {
    *("files", "repeat", "everything", "verbose", "quiet", "fail_on"),
    *("json_file", "html_file", "markdown_file", "csv_file"),
}

# The options that only an audit of several classes has, by their names in the library.
_OF_CLASSES = ("classes", "averages", "undefined", "rng", "draws")


class AuditCommand(Command):
    """The command, with error messages that name its options."""

    renamed: ClassVar[dict[str, str]] = {
        "y_true": "--label",
        "y_pred": "--prediction",
        "y_score": "--score",
        "sensitive_features": "--group",
        "positive": "--positive",
        "positive_label": "--positive-label",
        "positive_prediction": "--positive-prediction",
        "threshold": "--threshold",
        "max_groups": "--max-groups",
        "crossings": "--crossings",
        "labels": "--group-name",
        "bins": "--bins",
        "audit_classes": "--class all",
        "classes": "--class",
        "averages": "--average",
        "rng": "--seed",
        "undefined": "--undefined",
        "draws": "--draws",
    }
    words: ClassVar[set[str]] = {"positive", "threshold", "labels", "bins", "crossings", *_OF_CLASSES}


@click.command(cls=AuditCommand)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--config", callback=configured, is_eager=True, expose_value=False, help="Read options from a TOML file.")
@click.option("--label", metavar="COLUMN", help="The labels. Without them only selection rates are audited.")
@click.option("--prediction", metavar="COLUMN", help="The predictions.")
@click.option("--score", metavar="COLUMN", help="Scores in place of predictions, with --threshold.")
@click.option(
    "--threshold",
    type=float,
    multiple=True,
    help="Scores at or above it are positive; may be repeated.  [default: 0.5, for scores from 0 to 1]",
)
@click.option("--group", multiple=True, metavar="COLUMN", help="A column of groups; may be repeated.")
@click.option("--bins", multiple=True, metavar="COLUMN=CUT,...", help="Cut a group column of numbers; may be repeated.")
@click.option(
    "--group-name", multiple=True, metavar="COLUMN:VALUE=NAME", help="What a group is called; may be repeated."
)
@click.option("--positive", multiple=True, metavar="LABEL", help="A positive label, if ambiguous; may be repeated.")
@click.option("--positive-label", multiple=True, metavar="LABEL", help="The same for the labels only.")
@click.option("--positive-prediction", multiple=True, metavar="LABEL", help="The same for the predictions only.")
@click.option(
    "--class",
    "classes",
    multiple=True,
    metavar="LABEL",
    help="Audit a class of several against the rest, and scores of all classes; may be repeated. all: every class.",
)
@click.option(
    "--average",
    "averages",
    multiple=True,
    help="With --class, a score of all classes, such as acc or 'macro f1', or none; may be repeated.  [default: a few]",
)
@choice("--undefined", "propagate", "omit", explained="With --class, what a class without a score does to an average.")
@click.option("--draws", type=int, default=2000, show_default=True, help="With --class, groups per simulated test.")
@click.option(
    "--seed", "rng", type=int, default=0, show_default=True, help="With --class, the seed of simulated tests."
)
@click.option("--counts", metavar="FILE", help="A CSV table of tp, fn, fp, tn per group, in place of FILE.")
@click.option("--example", type=click.Choice(EXAMPLES), help="Audit a data set that comes with evenhand.")
@click.option("--metric", multiple=True, help="A metric; may be repeated.  [default: ppr tpr fpr ppv npv acc f1 prev]")
@click.option(
    "--reference",
    multiple=True,
    help="rest, all, largest, best, a group or TP,FN,FP,TN; or COLUMN=one of these, repeatable.  [default: rest]",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the tests.")
@choice("--adjust", "holm", "bh", "none", explained="How p-values are adjusted for many comparisons.")
@choice("--family", "metric", "audit", explained="Adjust over the groups of each metric, or over all metrics too.")
@click.option(
    "--margin",
    type=float,
    default=0.1,
    show_default=True,
    help="Scores are alike if the interval of their gap lies within ±margin.",
)
@choice("--test", "fisher", "unconditional", explained="The exact test of equal rates: Fisher's, or Boschloo's.")
@click.option("--mid-p", is_flag=True, help="Count half of the probability of the observed outcome.")
@choice("--null", "pooled", "known", "predictive", explained="The null of the MATCH percentile; see match --help.")
@click.option(
    "--strength",
    default="10",
    show_default=True,
    help="Strength of smoothing; one per split as prev=7,tpr=20,fpr=20; or auto.",
)
@choice("--favourable", "positive", "negative", explained="The prediction that is good for a person.")
@click.option(
    "--impact-share",
    type=float,
    default=0.02,
    show_default=True,
    help="Impact ratios compare with the highest rate among groups with at least this share of the cases.",
)
@click.option("--replace-undefined-by", type=float, help="A number to report in place of undefined scores.")
@click.option(
    "--crossings", default="2", show_default=True, help="Cross up to so many group columns: 1, 2, 3, ... or all."
)
@choice("--selection", "labelled", "all", explained="The rows that selection rates count: labelled ones, or all.")
@click.option("--max-groups", type=int, default=1000, show_default=True, help="The largest number of groups allowed.")
@click.option("--title", help="The title of the report.")
@click.option("--system", help="What was audited, for the report.")
@click.option("--author", help="Who made the audit, for the report.")
@click.option(
    "--repeat", metavar="FILE", help="Make the audit in a JSON file again, and exit with 1 if anything changed."
)
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
    files: tuple[str, ...],
    group: tuple[str, ...],
    counts: str | None,
    example: str | None,
    repeat: str | None,
    everything: bool,
    verbose: bool,
    quiet: bool,
    json_file: str | None,
    html_file: str | None,
    markdown_file: str | None,
    csv_file: str | None,
    fail_on: tuple[str, ...],
    **options: Any,
) -> None:
    """Report which groups score higher or lower than the rest, which are alike, and which have too few cases to tell.

    FILE is a CSV, TSV or Parquet file, a folder or glob of Parquet files, or - for standard input. Several files are
    audited together.

    Exit codes: 0 no finding that --fail-on names; 1 such a finding; 2 the input cannot be audited, or the output cannot
    be written; 70 a bug; 130 Ctrl-C; 141 the pipe that reads the output was closed.
    """
    outputs = {"--json": json_file, "--html": html_file, "--markdown": markdown_file, "--csv": csv_file}
    if verbose and quiet:
        raise InvalidInput("pass either --verbose or --quiet, not both")
    if "" in (*files, counts, repeat):
        raise InvalidInput("the name of the input file must not be empty; is a variable unset?")
    result: Audit | Sweep | ClassAudit
    changes: list[str] | None = None
    if repeat is not None:
        _check_alone()
        result, changes = repeated(repeat, files, lambda inputs: _check_outputs(outputs, inputs))
    else:
        given = [bool(files), counts is not None, example is not None]
        if sum(given) != 1:
            raise InvalidInput("pass one of FILE, --counts FILE and --example NAME; see evenhand audit --help")
        settings, reading = arguments(options)
        _check_classes(reading, files)
        if files:
            if not group:
                raise InvalidInput("name the column of groups with --group COLUMN")
            _check_outputs(outputs, lambda: [path for file in files if file != "-" for path in input_files(file)])
            result = from_files(files, reading | {"groups": list(group)}, settings)
        elif counts is not None:
            _check_outputs(outputs, lambda: [Path(counts)])
            result = from_counts(counts, settings)
        else:
            _check_outputs(outputs, list)
            result = from_example(str(example), settings)
    _write(json_file, result.to_json)
    _write(html_file, result.to_html)
    _write(markdown_file, result.to_markdown)
    _write(csv_file, result.to_csv)
    placed = [("", finding) for finding in result.findings] if isinstance(result, Audit) else result.placed_findings()
    named = [
        f"{where}: {finding}" if where else str(finding)
        for where, finding in placed
        if finding.kind in fail_on or "any" in fail_on
    ]
    if "-" not in outputs.values():
        _print(result, named, verbose=verbose, quiet=quiet, everything=everything)
    if changes is not None:
        say_changes(changes)
    if changes or named:
        click.get_current_context().exit(1)


def _check_alone() -> None:
    """With --repeat, every setting comes from the saved audit."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        typed = ctx.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if typed and parameter.name not in _WITH_REPEAT:
            raise InvalidInput(f"{parameter.opts[0]} cannot be combined with --repeat, which keeps all settings")


def _check_classes(reading: dict[str, Any], files: tuple[str, ...]) -> None:
    """Options of several classes need --class, and --class needs a file and no option of two classes."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        typed = ctx.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if typed and parameter.name in _OF_CLASSES and "classes" not in reading:
            raise InvalidInput(f"{parameter.opts[0]} needs --class, such as --class all")
    if "classes" in reading and not files:
        raise InvalidInput("--class audits a FILE; a table of counts and the examples are of two classes")


def _print(
    result: Audit | Sweep | ClassAudit, named: list[str], *, verbose: bool, quiet: bool, everything: bool
) -> None:
    """Print the findings that were asked for, or summary and table, as wide as the terminal and in its colours."""
    if quiet:
        for finding in named:
            click.echo(finding)
        return
    if not isinstance(result, Audit):
        click.echo(result.to_text(None if everything or verbose else 24))
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
