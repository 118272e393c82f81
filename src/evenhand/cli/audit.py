"""``evenhand audit`` and ``evenhand compare``: read, audit, render, and exit with a code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from .. import auditing, examples
from ..auditing import Audit, AuditRequest, CountsRequest, ModelsRequest, flat_settings
from ..data import accepted_endings, ending_of, read_counts, spool
from ..errors import EvenhandError, InvalidInput, UnknownName, escaped
from .command import command, option_names
from .config import config_option
from .inputs import one_or_all, open_files, print_columns
from .options import read_arguments, setting_options
from .outputs import check_outputs, output_options, prints_file, render

_HELP = """FILE is a CSV, TSV, JSON Lines or Parquet file, a folder of Parquet files, a glob, or - for
standard input. Several files are audited together. FILE alone lists its columns, and what to type.

Exit codes: 0 no finding that --fail-on names; 1 such a finding; 2 invalid input, or output that
cannot be written; 70 a bug; 130 Ctrl-C; 141 the pipe that reads the output was closed.
"""
_EXAMPLES = ("compas", "compas_violent", "folktables_income")
# Without any of these options, columns are listed.
_COLUMNS = {"y_true", "y_pred", "y_score", "groups", "models", "model_column"}
_SOURCE = click.core.ParameterSource

_files = click.argument("files", nargs=-1, metavar="[FILE]...")
_repeat = click.option(
    "--repeat", metavar="FILE", help="Repeat a JSON audit; exit with 1 if it changed."
)

Make = Callable[[dict[str, Any]], Audit]


@command("audit", _HELP)
@_files
@config_option
@click.option("--counts", metavar="FILE", help="In place of FILE: a table of tp, fn, fp, tn.")
@click.option("--example", type=click.Choice(_EXAMPLES), help="In place of FILE: data of evenhand.")
@setting_options(AuditRequest)
@_repeat
@output_options
def audit(files: Sequence[str], counts: str | None, example: str | None, **options: Any) -> None:
    """Audit files, a table of counts or an example, or repeat a saved audit."""
    if files or options["repeat"] is not None:
        if counts is not None or example is not None:
            raise InvalidInput("pass only one of FILE, --repeat, --counts and --example")
        _audit_files(files, auditing.audit, AuditRequest, options)
        return
    of_rows = flat_settings(AuditRequest).keys() - flat_settings(CountsRequest).keys()
    if typed := _first_typed(of_rows):
        raise InvalidInput(f"{typed} says how a FILE is read; pass a FILE")
    if (counts is None) == (example is None):
        needed = "pass one of FILE, --counts FILE and --example NAME"
        raise InvalidInput(f"{needed}; see evenhand audit --help")
    if counts is None:
        _render(options, [], partial(_audit_example, str(example)))
    else:
        _check_names([counts])
        _render(options, [counts], partial(_audit_counts, counts))


@command("compare", f"All models have decided on the same cases.\n\n{_HELP}")
@_files
@config_option
@setting_options(ModelsRequest)
@_repeat
@output_options
def compare(files: Sequence[str], **options: Any) -> None:
    """Compare models on the cases of files, or repeat a saved comparison."""
    if not files and not options["repeat"]:
        raise InvalidInput("pass a FILE; see evenhand compare --help")
    _audit_files(files, auditing.compare, ModelsRequest, options)


def _audit_files(
    files: Sequence[str], function: Any, request: Any, options: dict[str, Any]
) -> None:
    """Audit files, repeat a saved audit or, if no column is named, list columns."""
    _check_names([*files, ""] if options["repeat"] == "" else files)
    if repeat := options["repeat"]:
        if typed := _first_typed(flat_settings(request)):
            raise InvalidInput(
                f"{typed} cannot be combined with --repeat, which keeps all settings"
            )
        before = _read_saved(repeat)
        recorded = before.provenance.get("source", {}).get("paths", [])
        inputs = [repeat, *(files or recorded)]
        _render(options, inputs, lambda _: _repeat_audit(before, files), before)
    elif not any(options.get(name) for name in _COLUMNS):
        print_columns(files, function.__name__, to_stderr=prints_file(options))
    elif not options["groups"]:
        raise InvalidInput("name the column of groups with --group COLUMN")
    else:

        def make(options: dict[str, Any]) -> Audit:
            columns = (*options["groups"], *options.get("strata", ()))
            arguments = read_arguments(request, options, columns)
            with open_files(files) as data:
                audit = _run(partial(function, data), arguments)
            return _rename_source(audit, "-") if "-" in files else audit

        _render(options, files, make)


def _audit_counts(file: str, options: dict[str, Any]) -> Audit:
    """Audit a table of counts; ``-`` is standard input."""
    with open_files([file]) as data, spool(data) as path:
        names_columns = options["reference"] or options["group_names"]
        columns = read_counts(path)[0] if names_columns else ()
        arguments = read_arguments(CountsRequest, options, columns)
        audit = _run(partial(auditing.audit_counts, path), arguments)
    return audit if path == file else _rename_source(audit, file)


def _audit_example(name: str, options: dict[str, Any]) -> Audit:
    """Audit a data set that comes with evenhand, by race."""
    arguments = read_arguments(CountsRequest, options, ["race"])
    defaults = examples.WORDS[name]
    wording = defaults["wording"] | arguments.get("wording", {})
    run = partial(auditing.audit_counts, getattr(examples, name)(), by=["race"])
    audit = _run(run, defaults | arguments | {"wording": wording})
    return _rename_source(audit, name, kind="example")


def _repeat_audit(before: Audit, files: Sequence[str]) -> Audit:
    """Repeat an audit with the same data, or with other files."""
    source = before.provenance.get("source", {})
    if files or source.get("kind") != "example":
        return before.repeat(one_or_all(files) if files else None)
    name = str(source.get("name"))
    if name not in _EXAMPLES:
        raise UnknownName.among("example", name, _EXAMPLES)
    return _rename_source(before.repeat(getattr(examples, name)()), name, kind="example")


def _read_saved(file: str) -> Audit:
    try:
        return Audit.from_json(Path(file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"{file} cannot be read: {why}") from None


def _run(function: Callable[..., Audit], arguments: dict[str, Any]) -> Audit:
    """Run the audit; with `protect`, report its cost on stderr."""
    audit = function(**arguments)
    if "protect" in arguments:
        # The exit code must not show whether the exact audit is possible.
        try:
            exact = function(**{**arguments, "protect": None})
            cost = auditing.protection_cost(audit, exact)
        except EvenhandError as error:
            cost = f"the exact audit is refused ({error})"
        click.echo(f"For you, in no file: {cost}.", err=True)
    return audit


def _rename_source(audit: Audit, name: str, **facts: Any) -> Audit:
    """The audit with what its data are called on the command line in place of a path."""
    source = {**audit.provenance["source"], "name": name, **facts}
    source.pop("paths", None)
    return replace(audit, provenance=audit.provenance | {"source": source})


def _check_names(files: Sequence[str]) -> None:
    """Refuse empty names, and values after an option that takes one value each time."""
    if "" in files:
        raise InvalidInput("the name of the input file must not be empty; is a variable unset?")
    for name in files[1:] and files:
        is_path = "/" in name or Path(name).exists() or name == "-"
        if not is_path and ending_of(name).lower() not in accepted_endings():
            hint = "to pass several values, repeat the option"
            raise InvalidInput(f"there is no file {escaped(name)}; {hint}")


def _render(
    options: dict[str, Any], inputs: Sequence[str], make: Make, before: Audit | None = None
) -> None:
    """Check the names of outputs, make the audit, and render it."""
    source = click.get_current_context().get_parameter_source("family")
    if options["fail_on"] and source is _SOURCE.DEFAULT:
        # What stops a pipeline is the audit as a whole.
        options["family"] = "audit"
    check_outputs(options, inputs)
    audit = make(options)
    render(audit, None if before is None else before.changes(audit), options)


def _first_typed(names: Iterable[str]) -> str | None:
    """The first of some options that was given on the command line, not by a config file."""
    ctx = click.get_current_context()
    for name, option in option_names(ctx.command).items():
        if name in names and ctx.get_parameter_source(name) is _SOURCE.COMMANDLINE:
            return option
    return None
