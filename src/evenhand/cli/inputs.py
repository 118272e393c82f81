"""What is audited: files or standard input, a table of counts, an example, or the data of a saved audit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import IO, Any, NoReturn, Protocol

import click

from .. import examples
from ..auditing import Audit, AuditRequest, CountsRequest, audit_counts, protection_cost
from ..data import input_files, read_counts, spool, spool_stream
from ..errors import EvenhandError, InvalidInput, UnknownName
from .first_look import first_look
from .options import arguments

__all__ = ["EXAMPLES", "Counts", "Example", "Files", "Saved", "Source", "look", "opened"]

EXAMPLES = ("compas", "compas_violent", "folktables_income")
Options = Mapping[str, Any]


class Source(Protocol):
    """Where data come from."""

    def inputs(self) -> list[Path]:
        """The files that are read."""

    def audited(self, options: Options) -> tuple[Audit, list[str] | None]:
        """The audit that the options ask for and, if it was made before, what changed."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files with a row per decision; ``-`` is standard input. ``audit`` takes a path and what ``request`` has."""

    files: Sequence[str]
    audit: Callable[..., Audit]
    request: Any = AuditRequest

    def inputs(self) -> list[Path]:
        """The files, those that a glob or a folder contains, too."""
        return [path for file in self.files if file != "-" for path in input_files(file)]

    def audited(self, options: Options) -> tuple[Audit, None]:
        """The audit of all files together."""
        if not options["groups"]:
            raise InvalidInput("name the column of groups with --group COLUMN")
        given = arguments(self.request, options, (*options["groups"], *options.get("strata", ())))
        with opened(self.files) as data:
            made = _told(partial(self.audit, data), given)
            return (_named(made, "-") if "-" in self.files else made), None


@dataclass(frozen=True, slots=True)
class Counts:
    """A table of counts; ``-`` is standard input."""

    file: str

    def inputs(self) -> list[Path]:
        """The table."""
        return [Path(self.file)]

    def audited(self, options: Options) -> tuple[Audit, None]:
        """The audit of its groups."""
        with opened([self.file]) as data, spool(data) as file:
            by = read_counts(file)[0] if options["reference"] or options["group_names"] else ()
            made = _told(partial(audit_counts, file), arguments(CountsRequest, options, by))
        return made if file == self.file else _named(made, self.file), None


@dataclass(frozen=True, slots=True)
class Example:
    """A data set that comes with evenhand."""

    name: str

    def inputs(self) -> list[Path]:
        """No file."""
        return []

    def audited(self, options: Options) -> tuple[Audit, None]:
        """The audit by race."""
        counts = getattr(examples, self.name)()
        given = _joined(examples.WORDS[self.name], arguments(CountsRequest, options, ["race"]))
        made = _told(partial(audit_counts, counts, by=["race"]), given)
        return _named(made, self.name, kind="example"), None


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved audit, which is made again of the same files or of others; its settings hold."""

    file: str
    files: Sequence[str]

    def inputs(self) -> list[Path]:
        """The saved audit, and the files."""
        paths = self.files or self._saved().provenance.get("source", {}).get("paths", ())
        known = (path for one in paths for path in ([] if Path(one).is_file() else input_files(one)))
        return [Path(self.file), *map(Path, paths), *known]

    def audited(self, options: Options) -> tuple[Audit, list[str]]:
        """The audit, and what changed."""
        saved = self._saved()
        source = saved.provenance.get("source", {})
        if source.get("kind") == "example" and not self.files:
            name = source.get("name")
            if name not in EXAMPLES:
                raise UnknownName.among("example", str(name), EXAMPLES)
            made = saved.repeat(getattr(examples, name)())
            made = _named(made, name, kind="example")
        else:
            made = saved.repeat(_one_or_all(self.files) if self.files else None)
        return made, saved.changes(made)

    def _saved(self) -> Audit:
        try:
            return Audit.from_json(Path(self.file).read_text("utf-8"))
        except (OSError, ValueError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else problem
            raise InvalidInput(f"{self.file} cannot be read: {why}") from None


def _one_or_all(files: Sequence[str]) -> str | list[str]:
    return files[0] if len(files) == 1 else list(files)


def _told(make: Callable[..., Audit], given: dict[str, Any]) -> Audit:
    """The audit; who protects it is told, on standard error only, what that costs."""
    made = make(**given)
    if given.get("protect") is not None:
        # Whether the exact audit can be made must not be seen from the exit code.
        try:
            exact = make(**{name: value for name, value in given.items() if name != "protect"})
            said = protection_cost(made, exact)
        except EvenhandError as error:
            said = f"the exact audit is refused ({error})"
        click.echo(f"For you, in no file: {said}.", err=True)
    return made


def _joined(words: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are given, with the words of an example where there are no others."""
    wording = {**words["wording"], **given.get("wording", {})}
    return {**words, **given, "wording": wording}


def _named(audit: Audit, name: str, **source: Any) -> Audit:
    """The audit with the name of its data on the command line in its provenance, in place of a path."""
    kept = {key: value for key, value in audit.provenance["source"].items() if key != "paths"}
    return replace(audit, provenance=audit.provenance | {"source": kept | {"name": name} | source})


_TO_NAME = {
    "audit": "name the columns to audit, the groups with --group, and --label, --prediction or --score",
    "compare": "name the columns to compare, the groups with --group, --label, and --model, --model-column or --score",
}


def look(files: Sequence[str], aside: bool, command: str = "audit") -> NoReturn:
    """Print what the columns of files seem to be, and exit with 2, since nothing is audited.

    With ``aside``, all of it is on standard error.
    """
    width = get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    with opened(files) as given, spool(given) as data:
        click.echo(first_look(data, files, width, compares=command == "compare"), err=aside)
    click.echo(err=aside)
    click.echo(f"No audit was run: {_TO_NAME[command]}.", err=True)
    click.get_current_context().exit(2)


@contextmanager
def opened(files: Sequence[str]) -> Iterator[str | list[str]]:
    """The files, or a copy of standard input, which is ``-``."""
    if "-" not in files:
        yield _one_or_all(files)
    elif len(files) > 1:
        raise InvalidInput("standard input (-) cannot be audited together with other files")
    else:
        with spool_stream(_standard_input(), "standard input", "input") as path:
            yield path


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise InvalidInput("standard input (-) cannot be read: it is closed; name a file in place of -")
    return sys.stdin.buffer
