"""``evenhand audit`` and ``evenhand compare``: read, audit, render, and exit with a code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .. import auditing, examples
from ..auditing import Audit, AuditRequest, CountsRequest, ModelsRequest, flat_settings
from ..data import accepted_endings, ending_of, read_counts, spool
from ..errors import EvenhandError, InvalidInput, UnknownName, escaped
from .command import command, option_names
from .config import config_option
from .inputs import one_or_all, open_files, print_columns, read_text
from .joined_inputs import JOIN_LABELS, JOIN_MODELS, files_to_join, join_inputs
from .options import Options, Request, read_arguments, setting_options
from .outputs import OUTPUTS, check_outputs, has_gates, prepare_gates, prints_file, render

_HELP = """FILE is a CSV, TSV, JSON Lines or Parquet file, a folder of Parquet files, a glob, or - for
standard input. Several files are audited together. FILE alone lists its columns, and what to type.

Exit codes: 0 no gate failed; 1 a gate failed (--fail-on, --require, --since); 2 invalid input, a
gate that could not be evaluated, or output that cannot be written; 70 a bug; 130 Ctrl-C; 141 the
pipe that reads the output was closed.
"""
_JOINS = (
    "With --key there is no FILE: --model is NAME=FILE, and --prediction its column in each file."
)
_HELP_OF_MODELS = f"All models have decided on the same cases. {_JOINS}\n\n{_HELP}"
# Without any of these options, columns are listed.
_COLUMNS = ("y_true", "y_pred", "y_score", "groups", "models", "results", "model_column")
_EXAMPLES = click.Choice(list(examples.WORDS))
_COUNTS = "In place of FILE: a table of tp, fn, fp, tn."
_REPEAT = "Repeat a JSON audit; exit with 1 if it changed."
_FILES = (click.Argument(["files"], nargs=-1, metavar="[FILE]..."), config_option)
_SOURCES = (
    click.Option(["--counts"], metavar="FILE", help=_COUNTS),
    click.Option(["--example"], type=_EXAMPLES, help="In place of FILE: data of evenhand."),
)
_REST = (click.Option(["--repeat"], metavar="FILE", help=_REPEAT), *OUTPUTS)

Make = Callable[..., Audit]


@command("audit", _HELP, [*_FILES, *_SOURCES, *setting_options(AuditRequest), *JOIN_LABELS, *_REST])
def audit(files: Sequence[str], counts: str | None, example: str | None, **options: Any) -> None:
    """Audit files, a table of counts or an example, or repeat a saved audit."""
    is_given = [source is not None for source in (counts, example)]
    if sum(is_given) + bool(files or options["repeat"] is not None) != 1:
        needed = "pass one of FILE, --counts FILE, --example NAME and --repeat FILE"
        raise InvalidInput(f"{needed}; see evenhand audit --help")
    if not any(is_given):
        _audit_files(files, auditing.audit, AuditRequest, options)
        return
    of_rows = flat_settings(AuditRequest).keys() - flat_settings(CountsRequest).keys()
    if typed := _first_typed(of_rows | {"key"}):
        raise InvalidInput(f"{typed} says how a FILE is read; pass a FILE")
    if example is not None:
        _finish(options, [], partial(_audit_example, example, options))
    elif counts is not None:
        _check_names([counts])
        _finish(options, [counts], partial(_audit_counts, counts, options))


@command(
    "compare", _HELP_OF_MODELS, [*_FILES, *setting_options(ModelsRequest), *JOIN_MODELS, *_REST]
)
def compare(files: Sequence[str], **options: Any) -> None:
    """Compare models on the cases of files, or repeat a saved comparison."""
    if not (files or options["repeat"] or options["key"]):
        joins = "or one file for each model, with --key COLUMN --model NAME=FILE"
        raise InvalidInput(f"pass a FILE, {joins}; see evenhand compare --help")
    if files and options["key"]:
        raise InvalidInput("--key joins the files that other options name; pass no FILE")
    _audit_files(files, auditing.compare, ModelsRequest, options)


def _audit_files(files: Sequence[str], make: Make, request: Request, options: Options) -> None:
    """Audit files, repeat a saved audit or, if no column is named, list columns."""
    repeat, (_, joined) = options["repeat"], files_to_join(options)
    _check_names([*files, ""] if repeat == "" else files)
    if repeat:
        if typed := _first_typed([*flat_settings(request), "key"]):
            kept = "cannot be combined with --repeat, which keeps all settings"
            raise InvalidInput(f"{typed} {kept}")
        before = Audit.from_json(read_text(repeat))
        read = files or before.provenance.get("source", {}).get("paths", [])
        _finish(options, [repeat, *read], partial(_repeat_audit, before, files), before)
    elif not any(options.get(name) for name in _COLUMNS):
        print_columns(files, make.__name__, to_stderr=prints_file(options))
    elif not options["groups"] and request is AuditRequest and not options.get("goal"):
        raise InvalidInput("name the column of groups with --group COLUMN")
    else:
        inputs = [*files, *joined.values()]
        _finish(options, inputs, partial(_audit_rows, files, make, request, options))


def _audit_rows(files: Sequence[str], make: Make, request: Request, options: Options) -> Audit:
    """Audit the rows of files or of standard input."""
    columns = (*options["groups"], *options.get("strata", ()))
    arguments = read_arguments(request, options, columns)
    if options["key"]:
        with open_files(files) as data:
            table, arguments, source = join_inputs(data, arguments, options)
        return _rename_source(_run(partial(make, table), arguments), **source)
    with open_files(files) as data:
        audit = _run(partial(make, data), arguments)
    return _rename_source(audit, "-") if "-" in files else audit


def _audit_counts(file: str, options: Options) -> Audit:
    """Audit a table of counts; ``-`` is standard input."""
    with open_files([file]) as data, spool(data) as path:
        arguments = read_arguments(CountsRequest, options, read_counts(path)[0])
        audit = _run(partial(auditing.audit_counts, path), arguments)
    return audit if path == file else _rename_source(audit, file)


def _audit_example(name: str, options: Options) -> Audit:
    """Audit a data set that comes with evenhand, by race."""
    arguments = read_arguments(CountsRequest, options, ["race"])
    defaults = examples.WORDS[name]
    arguments["wording"] = defaults["wording"] | arguments.get("wording", {})
    make = partial(auditing.audit_counts, getattr(examples, name)(), by=["race"])
    return _rename_source(_run(make, defaults | arguments), name, kind="example")


def _repeat_audit(before: Audit, files: Sequence[str]) -> Audit:
    """Repeat an audit with the same data, or with other files."""
    source = before.provenance.get("source", {})
    if files or source.get("kind") != "example":
        return before.repeat(one_or_all(files) if files else None)
    name = str(source.get("name"))
    if name not in examples.WORDS:
        raise UnknownName.among("example", name, examples.WORDS)
    return _rename_source(before.repeat(getattr(examples, name)()), name, kind="example")


def _run(make: Make, arguments: Options) -> Audit:
    """Make the audit; with `protect`, report its cost on stderr."""
    audit = make(**arguments)
    if "protect" in arguments and not has_gates(click.get_current_context().params):
        # The exit code must not show whether the exact audit is possible.
        try:
            cost = auditing.protection_cost(audit, make(**arguments | {"protect": None}))
        except EvenhandError as error:
            cost = f"the exact audit is refused ({error})"
        click.echo(f"For you, in no file: {cost}.", err=True)
    return audit


def _rename_source(audit: Audit, name: str, **facts: object) -> Audit:
    """The audit with what its data are called on the command line in place of a path."""
    source = audit.provenance["source"] | {"name": name, **facts}
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


def _finish(
    options: Options, inputs: Sequence[str], make: Make, before: Audit | None = None
) -> None:
    """Check the names of outputs, make the audit, and render it."""
    # What stops a pipeline is the audit as a whole.
    is_adjusted = options["fail_on"] and options["family"] is None and before is None
    if is_adjusted:
        options["family"] = "audit"
    check = prepare_gates(options)
    check_outputs(options, [*inputs, options["since"]] if options["since"] else inputs)
    audit = make()
    if is_adjusted:
        gates = {"gates": list(options["fail_on"])}
        audit = replace(audit, provenance=audit.provenance | gates)
    render(audit, before.changes(audit) if before else None, check(audit), options)


def _first_typed(names: Collection[str]) -> str | None:
    """The first of some options that was given on the command line, not by a config file."""
    ctx = click.get_current_context()
    for name, option in option_names(ctx.command).items():
        if name in names and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            return option
    return None
