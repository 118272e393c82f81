"""CSV and TSV text as Python's csv module reads it: RFC 4180, where quotes and escapes are ``"``.

Every value is a text. Only the separator is inferred, from the header, and checked on the first rows. A row with more
or fewer values than the header, or with a stray quote, is an error with its line number. DuckDB is faster but reads
some files differently; `scanned` says which, and how many rows it must find in the others.

A name that is in the header again becomes ``name.1``, as pandas has it. Where such a column is equal to the first of
its name in every row, the two are one.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..cells import MISSING_WORDS
from ..errors import InvalidInput, brief, escaped, printable
from ..progress import LOGGER, watch
from ..wording import several
from .byte_scan import ByteScan
from .frames import MOST_ROWS, Counted, Cuts, gathered, level
from .relations import connected, count_relation, literal, no_number, pattern, refusals
from .sources import NOT_UTF_8, Packing, Source, check_columns, nothing, unreadable
from .tables import identifier, unused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = [
    "GZIP",
    "ZSTD",
    "Layout",
    "count_text",
    "csv_problem",
    "csv_reader",
    "first_text_rows",
    "layout_of",
    "records",
    "scanned",
    "text_columns_again",
]

GZIP = Packing(ending=".gz", name="gzip", magic=b"\x1f\x8b")
ZSTD = Packing(ending=".zst", name="zstd", magic=b"\x28\xb5\x2f\xfd")

_SEPARATORS = ",;\t|"
# How much text and how many records the separator is checked on.
_HEAD = 1 << 20
_CHECKED = 50
# How much is scanned at once, in bytes or in lines.
_BLOCK, _LINES = 1 << 20, 10_000
# The longest line, in characters; a small file can unpack to one that fills the memory.
LONGEST_LINE = 1 << 26
# The longest value, which is what DuckDB takes, and the longest name of a column.
LONGEST_VALUE, _LONGEST_NAME = 1 << 21, 1 << 17


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
        The names of its columns, all distinct.
    again : dict of str to str
        Columns whose name was in the header before, and the first column of that name.
    plain : bool
        Whether DuckDB can read its header as the csv module does.
    """

    path: Path
    separator: str
    columns: tuple[str, ...]
    again: dict[str, str]
    plain: bool


def count_text(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    layouts = _layouts(source, columns)
    rows: Counter[tuple[Any, ...]] = Counter()
    differing: dict[str, list[str]] = {}
    differ = 0
    with connected(source.files) as connection:
        for layout in layouts:
            pairs = [(first, name) for name, first in layout.again.items() if first in columns]
            found, unequal = _without_comparison(_count(connection, layout, columns, cuts, pairs), layout.path, pairs)
            rows += found
            differ += unequal
            for first, other in pairs if unequal else ():
                differing[first] = list(dict.fromkeys([*differing.get(first, []), other]))
    if not rows:
        raise nothing(source.path, "has no rows")
    separators = "".join(dict.fromkeys(layout.separator for layout in layouts))
    same_name = {"same_name": {"columns": differing, "rows": differ}} if differ else {}
    return Counted(gathered((*key, n) for key, n in rows.items()), None, {"separator": separators} | same_name)


def first_text_rows(source: Source, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns of the first file, and the first rows; equal columns of the same name are one."""
    layouts = _layouts(source, None)
    columns = layouts[0].columns
    found = islice((row for layout in layouts for row in _arranged(layout, columns)), max(most, 1))
    rows: list[tuple[Any, ...]] = [tuple(value or None for value in row) for row in found]
    if not rows:
        raise nothing(source.path, "has no rows")
    at = {name: i for i, name in enumerate(columns)}
    same = {name for name, first in layouts[0].again.items() if all(row[at[name]] == row[at[first]] for row in rows)}
    kept = [name for name in columns if name not in same]
    return kept, [tuple(row[at[name]] for name in kept) for row in rows[:most]]


def text_columns_again(source: Source) -> dict[str, str]:
    """The columns of the first file whose name was in its header before, and the first column of that name."""
    return layout_of(source.files[0]).again


def _layouts(source: Source, columns: Sequence[str] | None) -> list[Layout]:
    """The layouts of the files, which must have the columns; by default those of the first.

    Only what is counted is scanned, so that the first rows of a huge file are there at once.
    """
    layouts = [layout_of(file) for file in source.files]
    check_columns({layout.path: layout.columns for layout in layouts}, columns)
    return layouts


def _arranged(layout: Layout, columns: Sequence[str]) -> Iterator[list[str]]:
    at = [layout.columns.index(name) for name in columns]
    return ([row[i] for i in at] for row in records(layout))


def _count(
    connection: DuckDBPyConnection,
    layout: Layout,
    columns: Sequence[str],
    cuts: Cuts,
    pairs: Sequence[tuple[str, str]],
) -> Counter[tuple[Any, ...]]:
    """Count what DuckDB reads, if it reads the file as the csv module does, and else what the latter reads.

    If there are pairs of columns, the last value of a row is whether the columns of each are equal.
    """
    import duckdb

    with _refusals(layout.path):
        simple, many = scanned(layout)
    if simple:
        # The csv module says which line is wrong, or reads what DuckDB cannot, such as mixed line ends.
        with suppress(duckdb.Error):
            relation, names = _compared(_relation(connection, layout), columns, pairs)
            rows = count_relation(connection, relation, layout.path, names, cuts)
            if many in (None, rows.total()):
                return rows
    counts: Counter[Any] = Counter()
    with watch(f"counting {layout.path.name}", lambda: -1.0):
        wanted = [*columns, *(name for pair in pairs for name in pair)]
        for row in _arranged(layout, wanted):
            key: list[Any] = [value or None for value in row[: len(columns)]]
            for i, found in cuts.items():
                key[i] = _level_of(key[i], found, columns[i])
            compared = row[len(columns) :]
            counts[(*key, *([compared[::2] == compared[1::2]] if pairs else []))] += 1
            if len(counts) > MOST_ROWS:
                break
    return gathered((*key, n) for key, n in counts.items())


def _compared(
    relation: DuckDBPyRelation, columns: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> tuple[DuckDBPyRelation, list[str]]:
    """The relation and the columns to count, one more if there are pairs: whether the columns of each are equal."""
    if not pairs:
        return relation, list(columns)
    name = unused("evenhand_equal", relation.columns)
    # An empty value is NULL, unless it is quoted.
    equal = (f"coalesce({identifier(a)}, '') = coalesce({identifier(b)}, '')" for a, b in pairs)
    return relation.project(f"*, {' AND '.join(equal)} AS {identifier(name)}"), [*columns, name]


def _without_comparison(
    rows: Counter[tuple[Any, ...]], path: Path, pairs: Sequence[tuple[str, str]]
) -> tuple[Counter[tuple[Any, ...]], int]:
    """The counts without whether columns of the same name are equal, and how many rows differ."""
    if not pairs:
        return rows, 0
    counts: Counter[tuple[Any, ...]] = Counter()
    for (*key, _), n in rows.items():
        counts[tuple(key)] += n
    if differ := sum(n for (*_, equal), n in rows.items() if not equal):
        first = dict.fromkeys(name for name, _ in pairs)
        LOGGER.warning(
            "%s has several columns called %s, which differ in %s; the first is used, and others are %s",
            printable(str(path)),
            " and ".join(map(brief, first)),
            several(differ, "row"),
            ", ".join(brief(other) for _, other in pairs),
        )
    return counts, differ


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
        raise nothing(path, "has no header")
    separator = max(first, key=lambda sign: _fit(first[sign]))
    if any(len(name) > _LONGEST_NAME for name in first[separator][0]):
        raise unreadable(path, f"its header has a value of more than {_LONGEST_NAME:,} characters")
    columns, again = _distinct(first[separator][0])
    # DuckDB takes a blank line for a row if there is one column, and g and G for the same name.
    plain = len(columns) > 1 and len({name.casefold() for name in columns}) == len(columns)
    plain = plain and not any(sign in name for name in columns for sign in "\r\n") and head[0] not in "\r\n"
    return Layout(path, separator, columns, again, plain)


def _distinct(header: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Distinct names for the columns of a header, and of those that were renamed the first of the same name.

    >>> _distinct(["y", "y.1", "y", "y"])
    (('y', 'y.1', 'y.2', 'y.3'), {'y.2': 'y', 'y.3': 'y'})
    """
    taken = set(header)
    names: dict[str, None] = {}
    again: dict[str, str] = {}
    for name in header:
        new = name
        if name in names:
            new = next(found for i in count(1) if (found := f"{name}.{i}") not in taken)
            again[new] = name
        taken.add(new)
        names[new] = None
    return tuple(names), again


def records(layout: Layout) -> Iterator[list[str]]:
    """The rows of a text file, each with as many values as the header; blank lines are skipped."""
    path, many = layout.path, len(layout.columns)
    with _refusals(path), _lines(path) as lines:
        reader = csv_reader(lines, layout.separator, strict=True)
        header = False
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise unreadable(f"line {line} of {path}", csv_problem(error)) from None
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


def csv_reader(lines: Iterable[str], separator: str, strict: bool) -> Any:
    """A reader of the csv module for long values. Their limit is that of the whole process, and is never lowered."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))
    return csv.reader(lines, delimiter=separator, strict=strict)


def csv_problem(error: csv.Error) -> str:
    """What is wrong with a text that the csv module cannot read."""
    if "field limit" in str(error):
        return f"it has a value of more than {LONGEST_VALUE:,} characters; leave the column out of the file"
    return str(error)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Errors of reading as one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise unreadable(path, NOT_UTF_8) from None
    except (EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    except OSError as error:
        raise unreadable(path, error.strerror or error) from None


def _fit(rows: list[list[str]]) -> tuple[bool, int]:
    """How well a separator fits: the first rows have as many values as the header, and the header has many."""
    many = len(rows[0]) if rows else 0
    return many > 1 and all(len(row) == many for row in rows), many


def _first_records(head: str, separator: str) -> list[list[str]]:
    rows = csv_reader(io.StringIO(head, newline=""), separator, strict=False)
    found: list[list[str]] = []
    with suppress(csv.Error):  # `records` says where
        found.extend(islice((row for row in rows if row), _CHECKED))
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
    import duckdb

    with connected([path]) as connection, refusals(path):
        try:
            found: Any = connection.execute(sql)
            while batch := found.fetchmany(10_000):
                yield from (f"{line or ''}\n" for (line,) in batch)
        except duckdb.InvalidInputException as error:
            if "state machine" in str(error):
                raise unreadable(path, "its lines do not all end in the same way; unpack it first") from None
            raise


def scanned(layout: Layout) -> tuple[bool, int | None]:
    """Whether DuckDB reads a file as the csv module does, and how many rows it must find for that.

    DuckDB takes CR for part of a value, and ignores a separator at the end of a row, which the number of separators
    finds out. Where quotes are part of values, that number is unknown, and any number of rows will do.
    """
    if not layout.plain:
        return False, None
    sign = layout.separator.encode()
    scan = ByteScan(sign)
    for block in _blocks(layout.path):
        scan.add(block)
        if scan.lone_return:
            return False, None
        if not scan.regular:
            return _is_simply_quoted(layout.path, sign), None
    rows, more = divmod(scan.separators, len(layout.columns) - 1)
    return not (more or scan.inside or scan.last == b"\r"), rows - 1


def _is_simply_quoted(path: Path, sign: bytes) -> bool:
    """Whether no quote has a space beside it, which DuckDB ignores, and no row ends in a separator."""
    spaces = [space for space in (b" ", b"\t", b"\v", b"\f") if space != sign]
    scan, last = ByteScan(sign), b""
    for block in _blocks(path):
        scan.add(block)
        joined = last + block
        if scan.lone_return or sign + b"\n" in joined or (b"\r" in joined and sign + b"\r" in joined):
            return False
        if any(space in joined and (space + b'"' in joined or b'"' + space in joined) for space in spaces):
            return False
        last = block[-1:]
    return last not in (b"\r", sign)


def _blocks(path: Path) -> Iterator[bytes]:
    if _packing(path) is ZSTD:
        with _lines(path) as lines:
            while some := "".join(islice(lines, _LINES)):
                yield some.encode()
        return
    with _open(path) as stream:
        while block := stream.read(_BLOCK):
            yield block
