"""CSV and TSV text as Python's csv module reads it: RFC 4180, where quotes and escapes are ``"``.

Only the separator is inferred, from the header, and checked on the first rows. A row with more or fewer values than the
header, or with a stray quote, is an error with its line number. DuckDB is faster but reads some files differently;
`Layout` says which, and how many rows it must find in the others.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import InvalidInput

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Layout", "connected", "layout_of", "literal", "pattern", "records"]

_SEPARATORS = ",;\t|"
# How much text and how many records the separator is checked on.
_HEAD = 1 << 20
_CHECKED = 50
_BLOCK = 1 << 22
# The longest line, in characters; a small file can unpack to one that fills the memory.
_LONGEST_LINE = 1 << 26
# What DuckDB may use; each of its threads needs some.
_MEMORY, _MOST_THREADS = "1500MB", 8


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text file is laid out.

    Attributes
    ----------
    path : Path
        The file.
    separator : str
        What separates its values.
    columns : tuple of str
        The names in its header, all distinct.
    simple : bool
        Whether DuckDB reads it as the csv module does.
    rows : int or None
        How many rows DuckDB must find for that, None if any number will do.
    """

    path: Path
    separator: str
    columns: tuple[str, ...]
    simple: bool
    rows: int | None


def layout_of(path: Path) -> Layout:
    r"""Infer the separator of a text file and read its header.

    Parameters
    ----------
    path : Path
        A file of comma-separated values, with another extension than ``.tsv`` also of values separated by semicolons,
        tabs or bars; it may be compressed.

    Returns
    -------
    Layout
        Its separator and columns.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race;score\nA;0,5\n")
    ...     found = layout_of(path)
    >>> found.separator, found.columns
    (';', ('race', 'score'))
    """
    with _refusals(path):
        head = _head(path)
        tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes]
        first = {separator: _first_records(head, separator) for separator in ("\t" if tabs else _SEPARATORS)}
    if not any(first.values()):
        if head.strip():
            raise InvalidInput(
                f"{path} cannot be read: its header has a value of more than {csv.field_size_limit():,} characters"
            )
        raise InvalidInput(f"{path} has no header; there is nothing to audit")
    separator = max(first, key=lambda sign: _fit(first[sign]))
    columns = tuple(first[separator][0])
    # DuckDB takes a blank line for a row if there is one column, and g and G for the same name.
    plain = len(columns) > 1 and len({name.casefold() for name in columns}) == len(columns)
    plain = plain and not any(sign in name for name in columns for sign in "\r\n") and head[0] not in "\r\n"
    with _refusals(path):
        simple, rows = _scanned(path, separator, len(columns)) if plain else (False, None)
    return Layout(path, separator, columns, simple, rows)


def records(layout: Layout) -> Iterator[list[str]]:
    """The rows of a text file, each with as many values as the header.

    Parameters
    ----------
    layout : Layout
        The file.

    Yields
    ------
    list of str
        The values of a row; blank lines are skipped.
    """
    path, many = layout.path, len(layout.columns)
    with _refusals(path), _lines(path) as lines:
        reader = csv.reader(lines, delimiter=layout.separator, strict=True)
        header = False
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise InvalidInput(f"line {line} of {path} cannot be read: {error}") from None
            if row is None:
                return
            if not row:
                continue
            if len(row) != many:
                values = f"{len(row)} value{'s' * (len(row) != 1)}"
                raise InvalidInput(f"line {line} of {path} must have {many} values, as its header has; got {values}")
            if header:
                yield row
            header = True


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Errors of reading as one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} cannot be read: it is not UTF-8 text; save it as UTF-8") from None
    except (EOFError, zlib.error) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from None


def _fit(rows: list[list[str]]) -> tuple[bool, int]:
    """How well a separator fits: the first rows have as many values as the header, and the header has many."""
    many = len(rows[0]) if rows else 0
    return many > 1 and all(len(row) == many for row in rows), many


def _first_records(head: str, separator: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
    found = []
    with suppress(csv.Error):  # `records` says where
        found += list(islice((row for row in rows if row), _CHECKED))
    # The last record may be cut off.
    return found[:-1] if len(head) >= _HEAD and 1 < len(found) < _CHECKED else found


def _head(path: Path) -> str:
    if path.suffix.lower() == ".zst":
        with _lines(path) as lines:
            return "".join(islice(lines, _CHECKED * 20))
    with _open(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        return text.read(_HEAD)


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


@contextmanager
def _lines(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a file with their ends."""
    if path.suffix.lower() == ".zst":
        with closing(_unpacked(path)) as lines:
            yield lines
        return
    with _open(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        yield _bounded(text, path)


def _bounded(text: IO[str], path: Path) -> Iterator[str]:
    while line := text.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE and line[-1] not in "\r\n":
            raise InvalidInput(f"{path} cannot be read: it has a line of more than {_LONGEST_LINE:,} characters")
        yield line


def _unpacked(path: Path) -> Generator[str, None, None]:
    """The lines of a file that DuckDB unpacks, since Python cannot before 3.14."""
    import duckdb

    sql = (
        f"SELECT line FROM read_csv({literal(pattern(path))}, auto_detect = false, header = false, delim = '\x01', "
        "quote = '', escape = '', columns = {'line': 'VARCHAR'}, hive_partitioning = false, compression = 'zstd')"
    )
    with connected([path]) as connection:
        try:
            found: Any = connection.execute(sql)
            while batch := found.fetchmany(10_000):
                yield from (f"{line or ''}\n" for (line,) in batch)
        except duckdb.Error as error:
            raise InvalidInput(f"{path} cannot be read: {str(error).strip().splitlines()[0]}") from None


def _scanned(path: Path, separator: str, width: int) -> tuple[bool, int | None]:
    """Whether DuckDB reads a file as the csv module does, and how many rows it must find for that.

    DuckDB ignores spaces beside a quote, takes CR for part of a value, and ignores a separator at the end of a row. The
    last is found out from the number of separators, unless some of them are in quotes.
    """
    sign = separator.encode()
    spaces = b"".join(re.escape(space) for space in (b" ", b"\t", b"\v", b"\f") if space != sign)
    odd = re.compile(rb'[%b]"|"[%b]|\r[^\n]' % (spaces, spaces))
    ends = re.compile(re.escape(sign) + rb"[\r\n]")
    last, separators, quoted, ending = b"", 0, False, False
    for block in _blocks(path):
        joined = last + block
        quoted = quoted or b'"' in block
        ending = ending or ends.search(joined) is not None
        if odd.search(joined) or (quoted and ending):
            return False, None
        separators += block.count(sign)
        last = block[-1:]
    ending = ending or last == sign
    if last == b"\r" or (ending and (quoted or separators % (width - 1))):
        return False, None
    return True, separators // (width - 1) - 1 if ending else None


def _blocks(path: Path) -> Iterator[bytes]:
    if path.suffix.lower() == ".zst":
        with _lines(path) as lines:
            yield from (line.encode() for line in lines)
        return
    with _open(path) as stream:
        while block := stream.read(_BLOCK):
            yield block


def connected(files: Iterable[Path]) -> DuckDBPyConnection:
    """A connection that opens these files, and nothing else."""
    import duckdb

    connection = duckdb.connect()
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_progress_bar_print"):
        connection.execute(f"SET {setting} = false")
    # What does not fit is refused: by default DuckDB takes most of the machine's memory, and writes the rest to a file.
    connection.execute(f"SET memory_limit = '{_MEMORY}'")
    connection.execute("SET temp_directory = ''")
    connection.execute(f"SET threads = {min(os.cpu_count() or 1, _MOST_THREADS)}")
    # DuckDB tracks its progress but does not print it; `files.count_file` polls it.
    connection.execute("SET enable_progress_bar = true")
    allowed = ", ".join(literal(text) for file in files for text in {str(file.absolute()), pattern(file)})
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def pattern(path: Path) -> str:
    """The path as a pattern for DuckDB that matches nothing else, even if it contains brackets or asterisks."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
