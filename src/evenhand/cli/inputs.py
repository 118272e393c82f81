"""What is audited: files or standard input, a table of counts, an example, or the data of a saved audit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import click

from .. import examples
from ..auditing import Audit, AuditRequest, CountsRequest, audit_counts, command_of, options_of
from ..errors import InvalidInput, UnknownName
from ..tabulate import decoded, ending_by_content, input_files, read_counts, read_counts_file
from .options import arguments

__all__ = ["EXAMPLES", "Counts", "Example", "Files", "Saved", "Source"]

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
        given = arguments(self.request, options, (*options["groups"], *options.get("within", ())))
        if "-" not in self.files:
            return self.audit(_one_or_all(self.files), **given), None
        if len(self.files) > 1:
            raise InvalidInput("standard input (-) cannot be audited together with other files")
        with _copied() as path:
            return _named(self.audit(path, **given), self.request, ["-"]), None


@dataclass(frozen=True, slots=True)
class Counts:
    """A table of counts; ``-`` is standard input."""

    file: str

    def inputs(self) -> list[Path]:
        """The table."""
        return [Path(self.file)]

    def audited(self, options: Options) -> tuple[Audit, None]:
        """The audit of its groups."""
        if self.file == "-":
            by, matrices = read_counts(decoded(sys.stdin.buffer.read(), "standard input"), "standard input")
            return _of_counts(matrices, by, options, ["--counts", "-"]), None
        # A table is read twice only if it must be, since a pipe can be read once.
        by = read_counts_file(self.file)[0] if options["reference"] or options["group_names"] else ()
        return audit_counts(self.file, **arguments(CountsRequest, options, by)), None


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
        return _of_counts(counts, ["race"], options, ["--example", self.name], kind="example"), None


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved audit, which is made again of the same files or of others; its settings hold."""

    file: str
    files: Sequence[str]

    def inputs(self) -> list[Path]:
        """The saved audit, and the files."""
        paths = self.files or self._saved().record.get("source", {}).get("paths", ())
        known = (path for one in paths for path in ([] if Path(one).is_file() else input_files(one)))
        return [Path(self.file), *map(Path, paths), *known]

    def audited(self, options: Options) -> tuple[Audit, list[str]]:
        """The audit, and what changed."""
        saved = self._saved()
        source = saved.record.get("source", {})
        if source.get("kind") == "example" and not self.files:
            name = source.get("name")
            if name not in EXAMPLES:
                raise UnknownName.among("example", str(name), EXAMPLES)
            made = saved.repeat(getattr(examples, name)())
            made = _named(made, CountsRequest, ["--example", name], kind="example")
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


def _of_counts(counts: Any, by: Sequence[str], options: Options, words: list[str], **source: Any) -> Audit:
    made = audit_counts(counts, by=by, **arguments(CountsRequest, options, by))
    return _named(made, CountsRequest, words, **source)


def _named(audit: Audit, request: Any, words: list[str], **source: Any) -> Audit:
    """The audit with the words that name its data on the command line in its record, in place of a path."""
    record = audit.record
    call = {name: value for name, value in record["call"].items() if name != "by"}
    command = command_of(words, call, options_of(request), str(click.get_current_context().command.name))
    kept = {name: value for name, value in record["source"].items() if name not in ("paths", "name")}
    named = {"command": command, "source": kept | {"name": words[-1]} | source, "python": None}
    return replace(audit, record=record | named)


@contextmanager
def _copied() -> Iterator[str]:
    """Standard input, copied to a temporary file."""
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        head = sys.stdin.buffer.read(16)
        path = Path(folder) / f"input{ending_by_content(head)}"
        with path.open("wb") as copy:
            copy.write(head)
            copyfileobj(sys.stdin.buffer, copy)
        yield str(path)
