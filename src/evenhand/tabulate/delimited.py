"""CSV and TSV text as Python's csv module reads it: RFC 4180, where quotes and escapes are ``"``.

Every value is a text. Only the separator is inferred, from the header, and checked on the first rows. A row with more
or fewer values than the header, or with a stray quote, is an error with its line number. DuckDB is faster but reads
some files differently; `Layout` says which, and how many rows it must find in the others.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..cells import MISSING_WORDS
from ..errors import InvalidInput, escaped
from ..progress import watch
from ..wording import several
from .frames import MOST_ROWS, Counted, Cuts, gathered, level
from .relations import connected, count_relation, literal, no_number, pattern, refusals
from .sources import Packing, Source, check_columns, nothing, unreadable
from .tables import identifier

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["GZIP", "ZSTD", "Layout", "count_text", "first_text_rows", "layout_of", "records"]

GZIP = Packing(ending=".gz", name="gzip", magic=b"\x1f\x8b")
ZSTD = Packing(ending=".zst", name="zstd", magic=b"\x28\xb5\x2f\xfd")

_SEPARATORS = ",;\t|"
# How much text and how many records the separator is checked on.
_HEAD = 1 << 20
_CHECKED = 50
_BLOCK = 1 << 22
# The longest line, in characters; a small file can unpack to one that fills the memory.
LONGEST_LINE = 1 << 26


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


def count_text(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    layouts = _layouts(source, columns)
    rows: Counter[tuple[Any, ...]] = Counter()
    with connected(source.files) as connection:
        for layout in layouts:
            rows += _count(connection, layout, columns, cuts)
    if not rows:
        raise nothing(source.path, "has no rows")
    separators = "".join(dict.fromkeys(layout.separator for layout in layouts))
    return Counted(gathered((*key, n) for key, n in rows.items()), None, {"separator": separators})


def first_text_rows(source: Source, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns of the first file, and the first rows."""
    layouts = _layouts(source, None)
    columns = layouts[0].columns
    found = islice((row for layout in layouts for row in _arranged(layout, columns)), max(most, 1))
    rows: list[tuple[Any, ...]] = [tuple(value or None for value in row) for row in found]
    if not rows:
        raise nothing(source.path, "has no rows")
    return list(columns), rows[:most]


def _layouts(source: Source, columns: Sequence[str] | None) -> list[Layout]:
    """The layouts of the files, which must have the columns; by default those of the first."""
    layouts = [layout_of(file) for file in source.files]
    check_columns({layout.path: layout.columns for layout in layouts}, columns)
    return layouts


def _arranged(layout: Layout, columns: Sequence[str]) -> Iterator[list[str]]:
    at = [layout.columns.index(name) for name in columns]
    return ([row[i] for i in at] for row in records(layout))


def _count(
    connection: DuckDBPyConnection, layout: Layout, columns: Sequence[str], cuts: Cuts
) -> Counter[tuple[Any, ...]]:
    """Count what DuckDB reads, if it reads the file as the csv module does, and else what the latter reads."""
    import duckdb

    if layout.simple:
        # The csv module says which line is wrong, or reads what DuckDB cannot, such as mixed line ends.
        with suppress(duckdb.Error):
            rows = count_relation(connection, _relation(connection, layout), layout.path, columns, cuts)
            if layout.rows in (None, rows.total()):
                return rows
    counts: Counter[Any] = Counter()
    with watch(f"counting {layout.path.name}", lambda: -1.0):
        for row in _arranged(layout, columns):
            key: list[Any] = [value or None for value in row]
            for i, found in cuts.items():
                key[i] = _level_of(key[i], found, columns[i])
            counts[tuple(key)] += 1
            if len(counts) > MOST_ROWS:
                break
    return gathered((*key, n) for key, n in counts.items())


def _level_of(text: str | None, cuts: tuple[float, ...], name: str) -> int | None:
    text = (text or "").strip()
    if text.casefold() in ("", *MISSING_WORDS):
        return None
    try:
        # Python would accept the digits of other scripts, which DuckDB does not.
        return level(float(text if text.isascii() else "?"), cuts)
    except ValueError:
        raise no_number(name, text) from None


def _relation(connection: DuckDBPyConnection, layout: Layout) -> DuckDBPyRelation:
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.columns)))
    titles = ", ".join(f"c{i} AS {identifier(name)}" for i, name in enumerate(layout.columns))
    packing = _packing(layout.path)
    return connection.sql(
        f"SELECT {titles} FROM read_csv({literal(pattern(layout.path))}, auto_detect = false, header = true, "
        f"delim = {literal(layout.separator)}, quote = '\"', escape = '\"', comment = '', skip = 0, "
        "null_padding = false, strict_mode = true, hive_partitioning = false, "
        f"compression = '{packing.name if packing else 'none'}', columns = {{{names}}})"
    )


def _packing(path: Path) -> Packing | None:
    return next((packing for packing in (GZIP, ZSTD) if packing.ending == path.suffix.lower()), None)


def layout_of(path: Path) -> Layout:
    r"""The separator and the columns of a text file; one that ends in ``.tsv`` is separated by tabs.

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
            raise unreadable(path, f"its header has a value of more than {csv.field_size_limit():,} characters")
        raise nothing(path, "has no header")
    separator = max(first, key=lambda sign: _fit(first[sign]))
    columns = tuple(first[separator][0])
    # DuckDB takes a blank line for a row if there is one column, and g and G for the same name.
    plain = len(columns) > 1 and len({name.casefold() for name in columns}) == len(columns)
    plain = plain and not any(sign in name for name in columns for sign in "\r\n") and head[0] not in "\r\n"
    with _refusals(path):
        simple, rows = _scanned(path, separator, len(columns)) if plain else (False, None)
    return Layout(path, separator, columns, simple, rows)


def records(layout: Layout) -> Iterator[list[str]]:
    """The rows of a text file, each with as many values as the header; blank lines are skipped."""
    path, many = layout.path, len(layout.columns)
    with _refusals(path), _lines(path) as lines:
        reader = csv.reader(lines, delimiter=layout.separator, strict=True)
        header = False
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise unreadable(f"line {line} of {path}", error) from None
            if row is None:
                return
            if not row:
                continue
            if len(row) != many:
                raise InvalidInput(
                    f"line {line} of {escaped(path)} must have {many} values, as its header has; got "
                    f"{several(len(row), 'value')}"
                )
            if header:
                yield row
            header = True


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Errors of reading as one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise unreadable(path, "it is not UTF-8 text; save it as UTF-8") from None
    except (EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    except OSError as error:
        raise unreadable(path, error.strerror or error) from None


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
    if _packing(path) is ZSTD:
        with _lines(path) as lines:
            return "".join(islice(lines, _CHECKED * 20))
    with _open(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        return text.read(_HEAD)


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if _packing(path) is GZIP else path.open("rb")  # type: ignore[return-value]


@contextmanager
def _lines(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a file with their ends."""
    if _packing(path) is ZSTD:
        with closing(_unpacked(path)) as lines:
            yield lines
        return
    with _open(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        yield _bounded(text, path)


def _bounded(text: IO[str], path: Path) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise unreadable(path, f"it has a line of more than {LONGEST_LINE:,} characters")
        yield line


def _unpacked(path: Path) -> Generator[str, None, None]:
    """The lines of a file that DuckDB unpacks, since Python cannot before 3.14."""
    sql = (
        f"SELECT line FROM read_csv({literal(pattern(path))}, auto_detect = false, header = false, delim = '\x01', "
        "quote = '', escape = '', columns = {'line': 'VARCHAR'}, hive_partitioning = false, compression = 'zstd')"
    )
    with connected([path]) as connection, refusals(path):
        found: Any = connection.execute(sql)
        while batch := found.fetchmany(10_000):
            yield from (f"{line or ''}\n" for (line,) in batch)


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
    if _packing(path) is ZSTD:
        with _lines(path) as lines:
            yield from (line.encode() for line in lines)
        return
    with _open(path) as stream:
        while block := stream.read(_BLOCK):
            yield block
