"""``evenhand audit`` and ``evenhand compare``: read, audit, render, and exit with a code for pipelines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from .. import auditing as library
from ..auditing import AuditRequest, CountsRequest, ModelsRequest, flat_settings
from ..data import FORMATS, accepted_endings, any_of, ending_of, names_of
from ..errors import InvalidInput, escaped
from .command import Command, strays
from .config import config_option
from .first_look import NAMED, NAMED_MODELS
from .inputs import EXAMPLES, Counts, Example, Files, Saved, Source, look
from .options import SHARED, own_settings, setting_options, shared_settings
from .outputs import OUTPUTS, check_outputs, output_options, prints, render

__all__ = ["audit", "compare"]

_HELP = f"""
FILE is a {any_of(names_of(FORMATS))} file, a folder of {any_of(names_of(f for f in FORMATS if f.in_folders))} files, a
glob, or - for standard input. Several files are audited together. FILE alone lists its columns, and what to type.

Exit codes: 0 no finding that --fail-on names; 1 such a finding; 2 the input cannot be audited, or the output cannot be
written; 70 a bug; 130 Ctrl-C; 141 the pipe that reads the output was closed.
"""
_files = click.argument("files", nargs=-1, metavar="[FILE]...")
_DEFAULT = click.core.ParameterSource.DEFAULT
_repeat = click.option(
    "--repeat", metavar="FILE", help="Make the audit in a JSON file again, and exit with 1 if anything changed."
)


@click.command(
    cls=Command,
    help="Report which groups score higher or lower than the rest, which are equivalent, and which have too few cases "
    f"to tell.\n{_HELP}",
)
@_files
@config_option
@setting_options(own_settings(AuditRequest))
@click.option("--counts", metavar="FILE", help="A CSV table of tp, fn, fp, tn per group, in place of FILE.")
@click.option("--example", type=click.Choice(EXAMPLES), help="Audit a data set that comes with evenhand.")
@setting_options(SHARED)
@_repeat
@output_options
def audit(files: tuple[str, ...], counts: str | None, example: str | None, repeat: str | None, **options: Any) -> None:
    """Audit files, a table of counts or an example, or make a saved audit again."""
    _check_names(files, counts, repeat)
    if repeat is not None:
        _done(Saved(repeat, files), options)
        return
    if files and counts is None and example is None and not any(options[name] for name in NAMED):
        look(files, aside=prints(options))
    found: list[Source] = [Files(files, library.audit)] if files else []
    found += [Counts(counts)] if counts is not None else []
    found += [Example(example)] if example is not None else []
    if len(found) != 1:
        raise InvalidInput("pass one of FILE, --counts FILE and --example NAME; see evenhand audit --help")
    columns = [name for name in flat_settings(AuditRequest) if name not in flat_settings(CountsRequest)]
    if typed := _typed(columns) if not files else None:
        raise InvalidInput(f"{typed} says how a FILE is read; tables of counts and examples have no such columns")
    _done(found[0], options)


@click.command(
    cls=Command,
    help="Report how the scores of groups differ between models that decided on the same cases, and how the gaps "
    f"between groups do.\n{_HELP}",
)
@_files
@config_option
@setting_options(own_settings(ModelsRequest))
@setting_options(shared_settings(ModelsRequest))
@_repeat
@output_options
def compare(files: tuple[str, ...], repeat: str | None, **options: Any) -> None:
    """Compare models on the cases of files, or make a saved comparison again."""
    _check_names(files, repeat)
    if repeat is None and not files:
        raise InvalidInput("pass a FILE; see evenhand compare --help")
    if repeat is None and not any(options[name] for name in NAMED_MODELS):
        look(files, aside=prints(options), command="compare")
    _done(Saved(repeat, files) if repeat is not None else Files(files, library.compare, ModelsRequest), options)


def _check_names(files: Sequence[str], *others: str | None) -> None:
    if "" in (*files, *others):
        raise InvalidInput("the name of the input file must not be empty; is a variable unset?")
    for file, (option, values) in strays(click.get_current_context()).items():
        if len(files) > 1 and not Path(file).exists() and ending_of(file).lower() not in accepted_endings():
            typed = shlex.join(word for value in (*values, file) for word in (option, value))
            raise InvalidInput(f"there is no file {escaped(file)}; for several values, type {escaped(typed)}")


def _done(source: Source, options: dict[str, Any]) -> None:
    """Read the data, audit them, and render the audit."""
    if isinstance(source, Saved):
        kept = {"files", "repeat", *OUTPUTS}
        every = [str(p.name) for p in click.get_current_context().command.params if p.name not in kept]
        if typed := _typed(every):
            raise InvalidInput(f"{typed} cannot be combined with --repeat, which keeps all settings")
    elif options["fail_on"] and click.get_current_context().get_parameter_source("family") is _DEFAULT:
        # What stops a pipeline is the audit as a whole.
        options["family"] = "audit"
    check_outputs(options, source.inputs)
    made, changes = source.audited(options)
    render(made, changes, options)


def _typed(names: Iterable[str]) -> str | None:
    """The first of some options that was given on the command line, and not by a config file."""
    ctx = click.get_current_context()
    options = {str(p.name): p.opts[0] for p in ctx.command.params}
    for name in names:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            return options[name]
    return None
