"""Files and standard input, and what is printed of them if no column is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import NoReturn

import click

from ..data import spool, spool_stream
from ..errors import InvalidInput, escaped
from .column_listing import list_columns

Files = str | list[str]


@contextmanager
def open_files(files: Sequence[str]) -> Iterator[Files]:
    """The files, or a copy of standard input, which is ``-``."""
    if "-" not in files:
        yield one_or_all(files)
    elif len(files) > 1:
        raise InvalidInput("standard input (-) cannot be audited together with other files")
    elif sys.stdin is None:
        raise InvalidInput("standard input (-) is closed; name a file in place of -")
    else:
        with spool_stream(sys.stdin.buffer, "standard input", "input") as path:
            yield path


def one_or_all(files: Sequence[str]) -> Files:
    """The only file, or a list of several."""
    return files[0] if len(files) == 1 else list(files)


def read_text(file: str) -> str:
    """The text of a file, which is not data."""
    try:
        return Path(file).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput(f"{escaped(file)} cannot be read: {escaped(why)}") from None


def print_columns(files: Sequence[str], command: str, *, to_stderr: bool) -> NoReturn:
    """Print what the columns of files seem to be, and exit with 2, since nothing is audited."""
    width = get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
    with open_files(files) as given, spool(given) as data:
        click.echo(f"{list_columns(data, files, command, width)}\n", err=to_stderr)
    hint = f"type that command, or name other columns (see evenhand {command} --help)"
    click.echo(f"No audit was run: {hint}.", err=True)
    click.get_current_context().exit(2)
