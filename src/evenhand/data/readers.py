"""Readers of CSV, JSON Lines and Parquet files. A format is one record of `FORMATS`.

DuckDB counts the rows of a file without loading them. Files are untrusted: only those that were
asked for can be opened, nothing is downloaded, and an error of another library becomes one
sentence. Columns of several files are matched by name. What DuckDB refuses in a text, such as line
ends of several kinds, values of more than 2 MB, or a row of a wrong length, is read again in
Python, which counts it or says which line is wrong.

CSV and TSV are read as Python's csv module reads them, in strict mode: RFC 4180, UTF-8, quotes and
escapes are ``"``, and every value is text. Only the separator is inferred, from the header, and
checked on the first rows. DuckDB reads two kinds of careless text that the csv module refuses or
takes literally, as their writer meant them:

- a space between a quote and a separator is ignored, so that ``"a", "b"`` are the values ``a`` and
  ``b``;
- a separator at the end of a row is ignored, where the header has none.

JSON Lines are read with their types. The columns are the keys of the first records, up to 1 MB; a
key that a record does not have is missing there.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ..confusion import MISSING_WORDS
from ..errors import InvalidInput, MissingExtra, UnknownName, brief, escaped
from ..progress import watch
from ..wording import several
from .frames import (
    MOST_ROWS,
    Counted,
    Cuts,
    collect_rows,
    count_frame,
    first_line,
    identifier,
    level,
    unused,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = list[tuple[Any, ...]]
Table = tuple[list[str], Rows]

NOT_UTF_8 = (
    "it is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8; elsewhere: iconv -f latin1 -t utf-8), or read it "
    "with pandas and its encoding= and pass the frame"
)
"""Why a text of another encoding cannot be read, and what to do."""

# The longest value that DuckDB takes, and the longest line, in characters: a small file can unpack to a huge one.
LONGEST_VALUE, LONGEST_LINE = 1 << 21, 1 << 26
# How much DuckDB may use; each of its threads needs some memory.
_MEMORY, _MOST_THREADS = "1500MB", 8
_SEPARATORS = ",;\t|"
# How much of a text tells its columns, in characters, and how many records its separator is checked on.
_HEAD, _CHECKED = 1 << 20, 50
_BLOCK = 1 << 20
# The sizes of parts of a header of zstd, by two of its bits.
_DICTIONARY_BYTES, _CONTENT_BYTES = (0, 1, 2, 4), (0, 2, 4, 8)


class Packing(NamedTuple):
    """A compression of text files: what DuckDB calls it, and the first bytes of such a file."""

    name: str
    magic: bytes


PACKINGS = {".gz": Packing("gzip", b"\x1f\x8b"), ".zst": Packing("zstd", b"\x28\xb5\x2f\xfd")}
"""The compressions by their endings."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one format that are one table.

    Attributes
    ----------
    path : Path
        The path as it was given.
    format : Format
        What the files contain.
    files : list of Path
        At least one.
    root : Path
        The folder below which the names of folders may be columns.
    name : str
        What the files are called together.
    skipped : int or None
        How many other files are in the folders that were given; None if none was.
    """

    path: Path
    format: Format
    files: list[Path]
    root: Path
    name: str
    skipped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: all that the command, the web app and the docs know about it.

    Attributes
    ----------
    key : str
        Its name in the provenance.
    names : tuple of str
        What people call it.
    endings : tuple of str
        What names of files end in, in lower case; the first is the usual one.
    count : callable
        Takes a Source, names of columns, and cuts by position, and returns the counted rows; ``source`` has what is to
        be recorded besides the file itself.
    first_rows : callable
        Takes a Source and a number of rows, and returns the names of the columns and the rows.
    magic : bytes
        What such a file begins with; nothing for CSV.
    is_packed : bool
        Whether it may be compressed, see `PACKINGS`.
    in_folders : bool
        Whether a folder stands for all such files below it.
    needs : str
        The library without which it cannot be read.
    """

    key: str
    names: tuple[str, ...]
    endings: tuple[str, ...]
    count: Callable[[Source, Sequence[str], Cuts], Counted]
    first_rows: Callable[[Source, int], Table]
    magic: bytes = b""
    is_packed: bool = False
    in_folders: bool = False
    needs: str = ""


def unreadable(path: object, why: object) -> InvalidInput:
    """The error for a file that cannot be read, with the first line of another library's error."""
    return InvalidInput(f"{escaped(path)} cannot be read: {first_line(why)}")


def nothing(path: object, has: str) -> InvalidInput:
    """The error for a file without rows."""
    return InvalidInput(f"{escaped(path)} {has}; there is nothing to audit")


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Errors of reading as one sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise unreadable(path, NOT_UTF_8) from None
    except (EOFError, OSError, zlib.error, *_duckdb_errors()) as error:  # type: ignore[misc]
        raise unreadable(path, getattr(error, "strerror", None) or error) from None


def _duckdb_errors() -> tuple[type[Exception], ...]:
    duckdb: Any = sys.modules.get("duckdb")
    return (duckdb.Error,) if duckdb else ()


def connected(files: Sequence[Path]) -> DuckDBPyConnection:
    """A connection of DuckDB that opens these files, and nothing else."""
    if find_spec("duckdb") is None:
        raise MissingExtra.named("files", f"reading {files[0].suffix} files")
    import duckdb

    connection = duckdb.connect()
    allowed = ", ".join(
        literal(text) for file in files for text in {str(file.absolute()), pattern(file)}
    )
    settings = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        # Progress is tracked, so that it can be polled, but not printed.
        "enable_progress_bar": "true",
        "enable_progress_bar_print": "false",
        # By default DuckDB takes most of the memory, and writes what does not fit to a file.
        "memory_limit": f"'{_MEMORY}'",
        "temp_directory": "''",
        "threads": min(os.cpu_count() or 1, _MOST_THREADS),
        "allowed_paths": f"[{allowed}]",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")
    return connection


def pattern(path: Path) -> str:
    """The path as a pattern for DuckDB that matches nothing else, even if it contains brackets or asterisks."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def check_columns(found: Mapping[Path, Sequence[str]], columns: Sequence[str] | None) -> None:
    """Every file must have the columns once; by default those of the first, which may be repeated."""
    first = next(iter(found.values()))
    for name in first if columns is None else columns:
        if not any(name in names for names in found.values()):
            raise UnknownName.among("column", name, first)
        for file, names in found.items():
            times = names.count(name)
            if not times:
                listed = escaped(", ".join(names))
                raise InvalidInput(
                    f"{escaped(file)} must have the column {brief(name)}, as other files have; got {listed}"
                )
            if times > 1 and columns is not None:
                raise InvalidInput(
                    f"{escaped(file)} must have the column {brief(name)} once; it is there {times} times"
                )


def _select(expressions: Iterable[str], columns: Sequence[str], table: str) -> str:
    """A query for expressions under the names of columns, which must be distinct to DuckDB: g and G are not."""
    names: dict[str, str] = {}
    for name in columns:
        distinct = unused(name.casefold(), names)
        names[distinct] = name + distinct[len(name.casefold()) :]
    selected = (
        f"{e} AS {identifier(name)}" for e, name in zip(expressions, names.values(), strict=True)
    )
    return f"SELECT {', '.join(selected)} FROM {table}"


def _count_query(
    connection: DuckDBPyConnection, sql: str, path: Path, cuts: Cuts
) -> Counter[tuple[Any, ...]]:
    relation = connection.sql(sql)
    with watch(f"counting {path.name or path}", connection.query_progress):
        return count_frame(relation, relation.columns, cuts).rows


def _as_number(text: str, name: str) -> str:
    """A text as a number, in SQL; one that is neither a number nor missing is an error."""
    words = ", ".join(literal(word) for word in ("", *MISSING_WORDS))
    refusal = literal(f"{brief(name)} must contain numbers; got ")
    return (
        f"coalesce(TRY_CAST(trim({text}) AS DOUBLE), CASE WHEN coalesce(lower(trim({text})), '') IN ({words}) "
        f"THEN NULL ELSE error(concat({refusal}, {text})) END)"
    )


def _level_of(text: str | None, cuts: tuple[float, ...], name: str) -> int | None:
    """The level of a text that is a number, in Python."""
    text = (text or "").strip()
    if text.casefold() in ("", *MISSING_WORDS):
        return None
    try:
        # Python would accept the digits of other scripts, which DuckDB does not.
        return level(float(text if text.isascii() else "?"), cuts)
    except ValueError:
        raise InvalidInput(f"{brief(name)} must contain numbers; got {brief(text, 60)}") from None


def _count_texts(
    files: Sequence[CsvFile | JsonFile], source: Source, columns: Sequence[str], cuts: Cuts
) -> Counter[tuple[Any, ...]]:
    check_columns({file.path: file.columns for file in files}, columns)
    rows: Counter[tuple[Any, ...]] = Counter()
    with connected(source.files) if find_spec("duckdb") else nullcontext() as connection:
        for file in files:
            with refusals(file.path):
                _check_packing(file.path)
                rows += _count_text(connection, file, columns, cuts)
    if not rows:
        raise nothing(source.path, "has no rows")
    return rows


def _count_text(
    connection: DuckDBPyConnection | None,
    file: CsvFile | JsonFile,
    columns: Sequence[str],
    cuts: Cuts,
) -> Counter[tuple[Any, ...]]:
    """Count the texts by DuckDB or, if it refuses them, in Python."""
    query = file.query(columns, cuts)
    if connection and query:
        with suppress(*_duckdb_errors()):
            return _count_query(connection, query, file.path, cuts)
    counts: Counter[tuple[Any, ...]] = Counter()
    with watch(f"counting {file.path.name}", lambda: -1.0):
        for row in file.texts(columns, cuts):
            values = (
                _level_of(text, cuts[i], columns[i]) if i in cuts else text
                for i, text in enumerate(row)
            )
            counts[tuple(values)] += 1
            if len(counts) > MOST_ROWS:
                break
    return collect_rows((*key, n) for key, n in counts.items())


def _first_texts(files: Sequence[CsvFile | JsonFile], source: Source, most: int) -> Rows:
    """The first rows, with the columns of the first file."""
    columns = files[0].columns
    check_columns({file.path: file.columns for file in files}, None)
    found = (tuple(row) for file in files for row in file.texts(columns, {}))
    rows = list(islice(found, max(most, 1)))
    if not rows:
        raise nothing(source.path, "has no rows")
    return rows[:most]


def _read_table(path: Path, options: str) -> str:
    """A text file as a table of DuckDB without any guesses."""
    packing = PACKINGS.get(path.suffix.lower())
    return f"({literal(pattern(path))}, compression = '{packing.name if packing else 'none'}', {options})"


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file; ``blank`` is the number of blank lines above its header."""

    path: Path
    separator: str
    columns: list[str]
    blank: int

    def query(self, columns: Sequence[str], cuts: Cuts) -> str | None:
        """The query for some columns, those with cuts as numbers; None if DuckDB reads the file otherwise.

        To DuckDB a blank line is a row if there is one column.
        """
        if len(self.columns) == 1:
            return None
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.columns)))
        places = [f"c{self.columns.index(name)}" for name in columns]
        return _select(
            (_as_number(c, columns[i]) if i in cuts else c for i, c in enumerate(places)),
            columns,
            "read_csv"
            + _read_table(
                self.path,
                f"auto_detect = false, header = true, skip = {self.blank}, delim = {literal(self.separator)}, "
                "quote = '\"', escape = '\"', comment = '', null_padding = false, strict_mode = true, "
                f"hive_partitioning = false, columns = {{{types}}}",
            ),
        )

    def texts(self, columns: Sequence[str], cuts: Cuts) -> Iterator[list[str | None]]:
        """The rows of some columns, in which an empty value is missing."""
        places = [self.columns.index(name) for name in columns]
        return ([row[i] or None for i in places] for row in self.rows())

    def rows(self) -> Iterator[list[str]]:
        """The rows, each with as many values as the header; blank lines are skipped."""
        line, is_header = 1, True
        with _lines(self.path) as lines:
            reader = csv_reader(lines, self.separator, strict=True)
            try:
                for row in reader:
                    if row and len(row) != len(self.columns):
                        raise InvalidInput(
                            f"line {line} of {escaped(self.path)} must have {len(self.columns)} values, as its header "
                            f"has; got {several(len(row), 'value')}"
                        )
                    if row and not is_header:
                        yield row
                    is_header = is_header and not row
                    line = reader.line_num + 1
            except csv.Error as error:
                raise unreadable(f"line {line} of {self.path}", csv_problem(error)) from None


def csv_file(path: Path) -> CsvFile:
    r"""The separator and the columns of a CSV file; one that ends in ``.tsv`` is separated by tabs.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race;score\nA;0,5\n")
    ...     file = csv_file(path)
    >>> file.separator, file.columns
    (';', ['race', 'score'])
    """
    head = _head(path)
    is_tsv = ".tsv" in (suffix.lower() for suffix in path.suffixes)
    first = {sign: _first_records(head, sign) for sign in ("\t" if is_tsv else _SEPARATORS)}
    if not any(first.values()):
        raise nothing(path, "has no header")
    separator = max(first, key=lambda sign: _fit(first[sign]))
    columns = first[separator][0]
    blank = takewhile(lambda line: not line.strip("\r\n"), head)
    return CsvFile(path, separator, columns, len(list(blank)))


def _fit(rows: list[list[str]]) -> tuple[bool, int]:
    """How well a separator fits: the first rows have as many values as the header, and the header has many."""
    many = len(rows[0]) if rows else 0
    return many > 1 and all(len(row) == many for row in rows), many


def _first_records(head: Iterable[str], separator: str) -> list[list[str]]:
    records: list[list[str]] = []
    with suppress(csv.Error):  # `CsvFile.rows` says where
        records.extend(
            islice(filter(None, csv_reader(head, separator, strict=False)), _CHECKED + 1)
        )
    # The last record may be cut off.
    return records[:-1] if len(records) > 1 and sum(map(len, head)) >= _HEAD else records[:_CHECKED]


def csv_reader(lines: Iterable[str], separator: str, strict: bool) -> Any:
    """A reader of the csv module for long values. Their limit is that of the whole process, and is never lowered."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))
    return csv.reader(lines, delimiter=separator, strict=strict)


def csv_problem(error: csv.Error) -> str:
    """What is wrong with a text that the csv module cannot read."""
    if "field limit" in str(error):
        return f"it has a value of more than {LONGEST_VALUE:,} characters; leave the column out of the file"
    return str(error)


def count_csv(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    files = [csv_file(path) for path in source.files]
    separators = "".join(dict.fromkeys(file.separator for file in files))
    return Counted(_count_texts(files, source, columns, cuts), None, {"separator": separators})


def first_csv_rows(source: Source, most: int) -> Table:
    """The names of the columns of the first file, and the first rows."""
    files = [csv_file(path) for path in source.files]
    return files[0].columns, _first_texts(files, source, most)


@dataclass(frozen=True, slots=True)
class JsonFile:
    """A file of JSON Lines, each of them an object."""

    path: Path
    columns: list[str]

    def query(self, columns: Sequence[str], cuts: Cuts) -> str:
        """The query for some columns."""
        pointers = ", ".join(
            literal("/" + name.replace("~", "~0").replace("/", "~1")) for name in columns
        )
        values = [f"evenhand_values[{i}]" for i in range(1, len(columns) + 1)]
        return _select(
            (
                _as_number(f"json_extract_string({value}, '$')", columns[i])
                if i in cuts
                else f"{value}::VARCHAR"
                for i, value in enumerate(values)
            ),
            columns,
            "(SELECT CASE WHEN starts_with(ltrim(json, E' \\t\\r\\n'), '{') "
            f"THEN json_extract(json, [{pointers}]) ELSE error('a line is not an object') END AS evenhand_values "
            f"FROM read_ndjson_objects{_read_table(self.path, 'ignore_errors = false')})",
        )

    def texts(self, columns: Sequence[str], cuts: Cuts) -> Iterator[list[str | None]]:
        """The rows of some columns, as JSON unless they have cuts."""
        with _lines(self.path) as lines:
            for record in _json_records(self.path, lines):
                values = [record.get(name) for name in columns]
                yield [
                    json.dumps(value) if i not in cuts else None if value is None else str(value)
                    for i, value in enumerate(values)
                ]


def json_file(path: Path) -> JsonFile:
    """The columns of a file of JSON Lines: the keys of its first records, repeated if one of them repeats them."""
    names: list[str] = []
    for record in _json_records(path, _head(path), object_pairs_hook=list):
        keys = [key for key, _ in record]
        for key in dict.fromkeys(keys):
            names += [key] * (keys.count(key) - names.count(key))
    if not names:
        raise nothing(path, "has no rows")
    return JsonFile(path, names)


def _json_records(path: Path, lines: Iterable[str], **options: Any) -> Iterator[Any]:
    """The object on each line; blank lines are skipped."""
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line, **options) if line.strip() else None
        except (ValueError, RecursionError) as error:
            raise unreadable(f"line {number} of {path}", error) from None
        if line.lstrip()[:1] not in ("", "{"):
            raise InvalidInput(
                f"line {number} of {escaped(path)} must be a JSON object; got {brief(record, 60)}"
            )
        if record is not None:
            yield record


def count_json(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    texts = _count_texts([json_file(path) for path in source.files], source, columns, cuts)
    rows = (
        (*(text if i in cuts else json.loads(text or "null") for i, text in enumerate(key)), n)
        for key, n in texts.items()
    )
    return Counted(collect_rows(rows), None, {})


def first_json_rows(source: Source, most: int) -> Table:
    """The keys of the first records, and the first rows; lists and objects are texts."""
    files = [json_file(path) for path in source.files]
    rows = _first_texts(files, source, most)
    return files[0].columns, [tuple(map(_simple_value, row)) for row in rows]


def _simple_value(text: str) -> Any:
    return text if text[0] in "[{" else json.loads(text)


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a text file with their ends."""
    with refusals(path):
        if path.suffix.lower() == ".zst":
            with closing(_zstd_lines(path)) as lines:
                yield lines
        else:
            with (
                _open(path) as stream,
                TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text,
            ):
                yield _bounded_lines(text, path)


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _bounded_lines(text: IO[str], path: Path) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise unreadable(path, f"it has a line of more than {LONGEST_LINE:,} characters")
        yield line


def _zstd_lines(path: Path) -> Generator[str, None, None]:
    """The lines of a file that DuckDB unpacks, since Python cannot before 3.14."""
    options = "auto_detect = false, header = false, delim = '\x01', quote = '', escape = '', columns = {'c': 'VARCHAR'}"
    with connected([path]) as connection:
        try:
            result: Any = connection.execute(f"FROM read_csv{_read_table(path, options)}")
            while batch := result.fetchmany(10_000):
                yield from (f"{line or ''}\n" for (line,) in batch)
        except _duckdb_errors() as error:
            if "state machine" in str(error):
                raise unreadable(
                    path, "its lines do not all end in the same way; unpack it first"
                ) from None
            raise


def _head(path: Path) -> list[str]:
    """The first lines of a text file."""
    head: list[str] = []
    size = 0
    with _lines(path) as lines:
        for line in lines:
            head.append(line)
            size += len(line)
            if size >= _HEAD:
                break
    return head


def _check_packing(path: Path) -> None:
    """Refuse a compressed file that is damaged or cut short, which DuckDB can take for a complete one."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as stream:
            while stream.read(_BLOCK):
                pass
    if path.suffix.lower() == ".zst":
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            while file.tell() < size:
                _skip_zstd_frame(file)
            if file.tell() > size:
                raise EOFError("it is cut short")


def _skip_zstd_frame(file: IO[bytes]) -> None:
    """Go to the end of a frame by the sizes of its blocks (RFC 8878)."""
    magic = file.read(4)
    if magic[1:] == b"\x2a\x4d\x18":  # a frame to be skipped
        file.seek(_little_endian(file.read(4)), os.SEEK_CUR)
        return
    if magic != PACKINGS[".zst"].magic:
        raise EOFError("it is cut short, or not compressed by zstd")
    flags = _little_endian(file.read(1))
    has_window = not flags & 32
    header = (
        has_window + _DICTIONARY_BYTES[flags & 3] + max(_CONTENT_BYTES[flags >> 6], not has_window)
    )
    file.seek(header, os.SEEK_CUR)
    is_last = 0
    while not is_last:
        block = file.read(3)
        if len(block) < 3:
            raise EOFError("it is cut short")
        is_last, kind, length = block[0] & 1, block[0] >> 1 & 3, _little_endian(block) >> 3
        file.seek(1 if kind == 1 else length, os.SEEK_CUR)
    file.seek(4 if flags & 4 else 0, os.SEEK_CUR)


def _little_endian(content: bytes) -> int:
    return int.from_bytes(content, "little")


class Schema(NamedTuple):
    """Parquet files with the same columns.

    The names of the columns, those that folders give at the end, what DuckDB calls them, their types in SQL, and the
    files as a table of DuckDB.
    """

    files: list[Path]
    names: list[str]
    identifiers: list[str]
    types: list[str]
    table: str

    def query(self, columns: Sequence[str], places: Iterable[int], cuts: Cuts) -> str:
        """The query for the columns at some places: DuckDB renames those whose names differ in case only."""
        expressions = []
        for i, place in enumerate(places):
            expression, kind = identifier(self.identifiers[place]), self.types[place]
            if kind == "VARCHAR" and i in cuts:
                expression = _as_number(expression, columns[i])
            # DuckDB needs pytz to fetch times with a zone.
            expressions.append(f"{expression}::VARCHAR" if "TIME ZONE" in kind else expression)
        return _select(expressions, columns, self.table)


def count_parquet(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    with refusals(source.path), connected(source.files) as connection:
        schemas = _parquet_schemas(connection, source)
        check_columns({file: schema.names for schema in schemas for file in schema.files}, columns)
        _check_types(schemas, columns)
        queries = (
            schema.query(columns, map(schema.names.index, columns), cuts) for schema in schemas
        )
        return Counted(
            _count_query(connection, " UNION ALL ".join(queries), source.path, cuts), None, {}
        )


def first_parquet_rows(source: Source, most: int) -> Table:
    """The names of the columns of the first file, and the first rows of the files that have the same columns."""
    with refusals(source.path), connected(source.files) as connection:
        schemas = _parquet_schemas(connection, source)
        check_columns({schema.files[0]: schema.names for schema in schemas}, None)
        names = schemas[0].names
        query = schemas[0].query(names, range(len(names)), {})
        return names, connection.execute(f"{query} LIMIT {most}").fetchall()


def _parquet_table(files: Iterable[Path], hive: bool) -> str:
    listed = ", ".join(literal(pattern(file)) for file in files)
    return f"read_parquet([{listed}], hive_partitioning = {hive}, hive_types_autocast = false)"


def _parquet_schemas(connection: DuckDBPyConnection, source: Source) -> list[Schema]:
    folders = _folder_columns(source)
    elements: dict[str, list[tuple[Any, ...]]] = {}
    listed = ", ".join(literal(pattern(file)) for file in source.files)
    for name, *element in connection.execute(
        f"SELECT file_name, name, num_children, type, converted_type, logical_type FROM parquet_schema([{listed}])"
    ).fetchall():
        elements.setdefault(name, []).append(tuple(element))
    files: dict[tuple[tuple[Any, ...], ...], list[Path]] = {}
    for file in source.files:
        files.setdefault(tuple(elements[str(file.absolute())]), []).append(file)
    schemas = []
    for schema, same in files.items():
        names = _top_level_names(schema)
        _check_folder_columns(source, names, folders)
        described = connection.execute(
            f"DESCRIBE FROM {_parquet_table(same[:1], hive=False)}"
        ).fetchall()
        schemas.append(
            Schema(
                same,
                [*names, *folders],
                [*(row[0] for row in described), *folders],
                [*(row[1] for row in described), *("VARCHAR" for _ in folders)],
                _parquet_table(same, hive=bool(folders)),
            )
        )
    return schemas


def _top_level_names(schema: Iterable[tuple[Any, ...]]) -> list[str]:
    """The names of the columns, without what is nested in them: each element is followed by its children."""
    names: list[str] = []
    nested = 0
    for name, children, *_ in islice(schema, 1, None):
        if not nested:
            names.append(name)
        nested += (children or 0) - bool(nested)
    return names


def _folder_columns(source: Source) -> dict[str, str]:
    """The columns that the names of folders give, each with an example; every file must be in such a folder."""
    if source.files == [source.path]:
        return {}
    root = source.root.absolute()
    columns = [_assigned(file.absolute().parent.relative_to(root)) for file in source.files]
    widest = max(columns, key=len)
    for file, found in zip(source.files, columns, strict=True):
        if set(found) != set(widest):
            wanted = ", ".join(f"{name}=…" for name in widest)
            raise InvalidInput(
                f"{escaped(file)} must be in folders called {escaped(wanted)}, as other files are"
            )
    return columns[0]


def _assigned(folder: Path) -> dict[str, str]:
    """The columns that the names of nested folders give: ``year`` for ``year=2020``."""
    return {part.partition("=")[0]: part for part in folder.parts if "=" in part}


def _check_folder_columns(source: Source, names: Iterable[str], folders: Mapping[str, str]) -> None:
    """Refuse a column of the files that the name of a folder would replace: DuckDB reads those above the root, too."""
    above = _assigned(source.root.absolute()) if folders else {}
    taken = {name.casefold() for name in names}
    for column, folder in (*above.items(), *folders.items()):
        if column.casefold() in taken:
            raise InvalidInput(
                f"{escaped(source.path)} has the column {brief(column)} twice, in the files and in the names of "
                f"folders ({escaped(folder)}); rename one of them"
            )
        taken.add(column.casefold())


def _check_types(schemas: Iterable[Schema], columns: Iterable[str]) -> None:
    """Numbers of different types are widened; numbers and text are not mixed."""
    for name in columns:
        kinds: dict[str, Path] = {}
        for schema in schemas:
            kinds.setdefault(_kind(schema.types[schema.names.index(name)]), schema.files[0])
        if len(kinds) > 1:
            listed = " and ".join(
                f"{kind} in {escaped(file)}" for kind, file in list(kinds.items())[:2]
            )
            raise InvalidInput(
                f"{brief(name)} must have one type in all files; it contains {listed}"
            )


def _kind(sql_type: str) -> str:
    base = sql_type.partition("(")[0]
    if base in ("VARCHAR", "ENUM"):
        return "text"
    is_number = base in ("FLOAT", "DOUBLE", "DECIMAL", "INTEGER", "UINTEGER") or base.endswith(
        "INT"
    )
    return "numbers" if is_number else f"{sql_type.lower()}s"


FORMATS = (
    Format(
        key="csv",
        names=("CSV", "TSV"),
        endings=(".csv", ".tsv", ".txt"),
        is_packed=True,
        count=count_csv,
        first_rows=first_csv_rows,
    ),
    Format(
        key="jsonl",
        names=("JSON Lines",),
        endings=(".jsonl", ".ndjson"),
        magic=b"{",
        is_packed=True,
        count=count_json,
        first_rows=first_json_rows,
    ),
    Format(
        key="parquet",
        names=("Parquet",),
        endings=(".parquet", ".pq"),
        magic=b"PAR1",
        in_folders=True,
        needs="duckdb",
        count=count_parquet,
        first_rows=first_parquet_rows,
    ),
)
"""The formats. A new one is a reader and a record here: the command, the web app and the docs read it."""
