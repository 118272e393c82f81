"""Readers of CSV, JSON Lines and Parquet files. A format is one record of `FORMATS`.

DuckDB counts the rows of CSV and Parquet files without loading them. Files are untrusted: only those that were asked
for can be opened, nothing is downloaded, and an error of another library becomes one sentence. Columns of several
files are matched by name. Python reads JSON Lines, files of one column, and CSV that DuckDB refuses, such as line ends
of several kinds, values of more than 2 MB, or a row of a wrong length; it counts them or says which line is wrong.

CSV and TSV are read as Python's csv module reads them, in strict mode: RFC 4180, UTF-8, quotes and escapes are ``"``,
and every value is text. Only the separator is inferred, from the header, and checked on the first rows. DuckDB reads
two kinds of careless text as their writer meant them:

- a space between a quote and a separator is ignored, so that ``"a", "b"`` are the values ``a`` and ``b``;
- a separator at the end of a row is ignored, where the header has none.

JSON Lines are read with their types. The columns are the keys of the first records, up to 1 MB; a key that a record
does not have is missing there.
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
from functools import partial
from importlib.util import find_spec
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from ..confusion import MISSING_WORDS
from ..errors import InvalidInput, MissingExtra, UnknownName, brief, escaped
from ..progress import watch
from ..wording import several
from .frames import Counted, Cuts, Key, count_frame, count_keys, first_line, identifier, level

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FirstRows = tuple[list[str], list[Key]]
#: A column of a Parquet file: its name, and its expression and type in SQL.
Column = tuple[str, str, str]

_NOT_UTF_8 = (
    "it is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8; elsewhere: iconv -f latin1 "
    "-t utf-8), or read it with pandas and its encoding= and pass the frame"
)
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


PACKINGS = {".gz": ("gzip", b"\x1f\x8b"), ".zst": ("zstd", b"\x28\xb5\x2f\xfd")}
"""The compressions of text files by their endings: what DuckDB calls them, and their first bytes."""


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
        Takes a Source, names of columns, and cuts by position, and returns the counted rows;
        ``source`` has what is to be recorded besides the file itself.
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
    first_rows: Callable[[Source, int], FirstRows]
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
        raise unreadable(path, _NOT_UTF_8) from None
    except (EOFError, OSError, zlib.error, *_duckdb_errors()) as error:  # type: ignore[misc]
        raise unreadable(path, getattr(error, "strerror", None) or error) from None


def _duckdb_errors() -> tuple[type[Exception], ...]:
    duckdb: Any = sys.modules.get("duckdb")
    return (duckdb.Error,) if duckdb else ()


def is_utf8(path: Path) -> bool:
    """Whether a path can be encoded, which names of files need not be."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def connected(files: Sequence[Path]) -> DuckDBPyConnection:
    """A connection of DuckDB that opens these files, and nothing else."""
    if find_spec("duckdb") is None:
        raise MissingExtra.named("files", f"reading {files[0].suffix} files")
    import duckdb

    if any(not is_utf8(file.absolute()) for file in files):
        raise InvalidInput(
            f"the path of {escaped(files[0].name)} is not UTF-8; rename its folder or the file"
        )
    connection = duckdb.connect()
    paths = {path for file in files for path in (str(file.absolute()), pattern(file))}
    # Progress is tracked, so that it can be polled, but not printed. By default DuckDB takes most of the memory, and
    # writes what does not fit to a file.
    connection.execute(f"""
        SET autoinstall_known_extensions = false;
        SET autoload_known_extensions = false;
        SET enable_progress_bar = true;
        SET enable_progress_bar_print = false;
        SET memory_limit = '{_MEMORY}';
        SET temp_directory = '';
        SET threads = {min(os.cpu_count() or 1, _MOST_THREADS)};
        SET allowed_paths = [{", ".join(map(literal, sorted(paths)))}];
        SET enable_external_access = false;
        SET lock_configuration = true;
    """)
    return connection


def pattern(path: Path) -> str:
    """The path as a pattern for DuckDB that matches nothing else, even if it contains brackets or asterisks."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _check_columns(
    names_of: Mapping[Path, Sequence[str]], columns: Sequence[str], once: bool = True
) -> None:
    """Every file must have the columns, once if they are to be counted."""
    for name in columns:
        if not any(name in names for names in names_of.values()):
            raise UnknownName.among("column", name, next(iter(names_of.values())))
        for file, names in names_of.items():
            times = names.count(name)
            must = f"{escaped(file)} must have the column {brief(name)}"
            if not times:
                got = escaped(", ".join(names))
                raise InvalidInput(f"{must}, as other files have; got {got}")
            if times > 1 and once:
                raise InvalidInput(f"{must} once; it is there {times} times")


def _count_query(
    connection: DuckDBPyConnection, sql: str, path: Path, columns: Sequence[str], cuts: Cuts
) -> Counter[Key]:
    relation = connection.sql(sql)
    with watch(f"counting {path.name or path}", connection.query_progress):
        return count_frame(relation, relation.columns, cuts, columns).rows


def _select(
    expressions: Iterable[tuple[str, str]], names: Sequence[str], cuts: Cuts, table: str
) -> str:
    """A query for expressions of some type in SQL; texts with cuts are read as numbers."""
    selected = []
    for i, (expression, kind) in enumerate(expressions):
        if kind == "VARCHAR" and i in cuts:
            selected.append(_as_number(expression, names[i]))
        else:
            # DuckDB needs pytz to fetch times with a zone.
            selected.append(f"{expression}::VARCHAR" if "TIME ZONE" in kind else expression)
    return f"SELECT {', '.join(f'{e} AS c{i}' for i, e in enumerate(selected))} FROM {table}"


def _as_number(text: str, name: str) -> str:
    """A text as a number, in SQL; one that is neither a number nor missing is an error."""
    words = ", ".join(literal(word) for word in ("", *MISSING_WORDS))
    refusal = literal(f"{brief(name)} must contain numbers; got ")
    return (
        f"coalesce(TRY_CAST(trim({text}) AS DOUBLE), CASE WHEN coalesce(lower(trim({text})), '') "
        f"IN ({words}) THEN NULL ELSE error(concat({refusal}, {text})) END)"
    )


def _level_of(value: Any, cuts: tuple[float, ...], name: str) -> int | None:
    """The level of a number or of a text that spells one, in Python."""
    text = "" if value is None else str(value).strip()
    if text.casefold() in ("", *MISSING_WORDS):
        return None
    try:
        # Python would accept the digits of other scripts, which DuckDB does not.
        return level(float(text if text.isascii() else "?"), cuts)
    except ValueError:
        raise InvalidInput(f"{brief(name)} must contain numbers; got {brief(text, 60)}") from None


class TextFile(NamedTuple):
    """A CSV or JSON Lines file.

    ``rows`` reads it in Python. ``table`` is the file as a table of DuckDB, with columns c0, c1 and so on; it is empty
    if only Python reads the file.
    """

    path: Path
    columns: list[str]
    rows: Callable[[], Iterator[list[Any]]]
    table: str = ""
    separator: str = ""


def _count_texts(
    read: Callable[[Path], TextFile], source: Source, columns: Sequence[str], cuts: Cuts
) -> Counted:
    """Count the combinations of values in some columns of text files."""
    files = [read(path) for path in source.files]
    _check_columns({file.path: file.columns for file in files}, columns)
    rows: Counter[Key] = Counter()
    with connected(source.files) if find_spec("duckdb") else nullcontext() as connection:
        for file in files:
            with refusals(file.path):
                _check_packing(file.path)
                rows += _count_text(connection, file, columns, cuts)
    if not rows:
        raise nothing(source.path, "has no rows")
    separators = "".join(dict.fromkeys(file.separator for file in files))
    return Counted(rows, None, {"separator": separators} if separators else {})


def _count_text(
    connection: DuckDBPyConnection | None, file: TextFile, columns: Sequence[str], cuts: Cuts
) -> Counter[Key]:
    """Count the rows by DuckDB or, if it refuses them, in Python."""
    places = [file.columns.index(name) for name in columns]
    if connection and file.table:
        query = _select([(f"c{i}", "VARCHAR") for i in places], columns, cuts, file.table)
        with suppress(*_duckdb_errors()):
            return _count_query(connection, query, file.path, columns, cuts)

    def read_keys() -> Iterator[Key]:
        for row in file.rows():
            key = [row[i] for i in places]
            for i in cuts:
                key[i] = _level_of(key[i], cuts[i], columns[i])
            yield tuple(key)

    with watch(f"counting {file.path.name}", lambda: -1.0):
        return count_keys(read_keys())


def _read_first_texts(read: Callable[[Path], TextFile], source: Source, most: int) -> FirstRows:
    """The columns of the first file, and the first rows; lists and objects are texts."""
    files = [read(path) for path in source.files]
    columns = files[0].columns
    _check_columns({file.path: file.columns for file in files}, columns, once=False)
    rows: list[Key] = []
    for file in files:
        places = [file.columns.index(name) for name in columns]
        some = islice(file.rows(), max(most, 1) - len(rows))
        rows += (tuple(_simple_value(row[i]) for i in places) for row in some)
    if not rows:
        raise nothing(source.path, "has no rows")
    return columns, rows[:most]


def _simple_value(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else None if value == "" else value


# CSV


def csv_file(path: Path) -> TextFile:
    r"""The separator and the columns of a CSV file; one that ends in ``.tsv`` is separated by tabs.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race;score\nA;0,5\n")
    ...     file = csv_file(path)
    >>> file.separator, file.columns
    (';', ['race', 'score'])
    """
    head = _read_head(path)
    is_tsv = ".tsv" in (suffix.lower() for suffix in path.suffixes)
    first = {sign: _first_records(head, sign) for sign in ("\t" if is_tsv else _SEPARATORS)}
    if not any(first.values()):
        raise nothing(path, "has no header")
    separator = max(first, key=lambda sign: _rank_fit(first[sign]))
    columns = first[separator][0]
    blank = list(takewhile(lambda line: not line.strip("\r\n"), head))
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(columns)))
    options = (
        f"header = true, skip = {len(blank)}, delim = {literal(separator)}, quote = '\"', "
        "escape = '\"', comment = '', null_padding = false, strict_mode = true, "
        f"hive_partitioning = false, columns = {{{types}}}"
    )
    # To DuckDB a blank line is a row if there is one column.
    table = _read_csv(path, options) if len(columns) > 1 else ""
    rows = partial(_read_csv_rows, path, separator, len(columns))
    return TextFile(path, columns, rows, table, separator)


def _read_csv(path: Path, options: str) -> str:
    """A text file as a table of DuckDB without any guesses."""
    compression, _ = PACKINGS.get(path.suffix.lower(), ("none", b""))
    return f"read_csv({literal(pattern(path))}, compression = '{compression}', auto_detect = false, {options})"


def _rank_fit(rows: list[list[str]]) -> tuple[bool, int]:
    """How well a separator fits: the first rows have as many values as the header, and the header has many."""
    many = len(rows[0]) if rows else 0
    return many > 1 and all(len(row) == many for row in rows), many


def _first_records(head: Sequence[str], separator: str) -> list[list[str]]:
    records: list[list[str]] = []
    with suppress(csv.Error):  # `_read_csv_rows` says where
        reader = _csv_reader(head, separator, strict=False)
        records.extend(islice(filter(None, reader), _CHECKED + 1))
    # The last record may be cut off.
    is_cut = len(records) > 1 and sum(map(len, head)) >= _HEAD
    return records[:-1] if is_cut else records[:_CHECKED]


def _csv_reader(lines: Iterable[str], separator: str, strict: bool) -> Any:
    """A reader of the csv module for long values. Their limit is that of the whole process, and is never lowered."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))
    return csv.reader(lines, delimiter=separator, strict=strict)


def _read_csv_rows(path: Path, separator: str, width: int) -> Iterator[list[str]]:
    """The rows below the header, each with as many values; blank lines are skipped."""
    line, is_header = 1, True
    with _open_lines(path) as lines:
        reader = _csv_reader(lines, separator, strict=True)
        try:
            for row in reader:
                if row and len(row) != width:
                    raise InvalidInput(
                        f"line {line} of {escaped(path)} must have {width} values, as its header "
                        f"has; got {several(len(row), 'value')}"
                    )
                if row and not is_header:
                    yield row
                is_header = is_header and not row
                line = reader.line_num + 1
        except csv.Error as error:
            why = str(error)
            if "field limit" in why:
                why = (
                    f"it has a value of more than {LONGEST_VALUE:,} characters; leave the column "
                    "out of the file"
                )
            raise unreadable(f"line {line} of {path}", why) from None


# JSON Lines


def json_file(path: Path) -> TextFile:
    """The columns of a file of JSON Lines: the keys of its first records, repeated if one of them repeats them."""
    names: Counter[str] = Counter()
    for record in _read_records(path, _read_head(path), object_pairs_hook=list):
        names |= Counter(key for key, _ in record)
    if not names:
        raise nothing(path, "has no rows")
    columns = list(names.elements())
    return TextFile(path, columns, partial(_read_json_rows, path, columns))


def _read_json_rows(path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
    with _open_lines(path) as lines:
        for record in _read_records(path, lines):
            yield [record.get(name) for name in columns]


def _read_records(path: Path, lines: Iterable[str], **options: Any) -> Iterator[Any]:
    """The object on each line; blank lines are skipped."""
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line, **options) if line.strip() else None
        except (ValueError, RecursionError) as error:
            raise unreadable(f"line {number} of {path}", error) from None
        if line.lstrip()[:1] not in ("", "{"):
            got = brief(record, 60)
            raise InvalidInput(f"line {number} of {escaped(path)} must be a JSON object; got {got}")
        if record is not None:
            yield record


# Lines of text


@contextmanager
def _open_lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a text file with their ends."""
    suffix = path.suffix.lower()
    with refusals(path):
        if suffix == ".zst":
            with closing(_unpack_zstd(path)) as lines:
                yield lines
        else:
            open_text: Any = gzip.open if suffix == ".gz" else open
            with open_text(path, "rt", encoding="utf-8-sig", newline="") as text:
                yield _read_lines(text, path)


def _read_lines(text: IO[str], path: Path) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise unreadable(path, f"it has a line of more than {LONGEST_LINE:,} characters")
        yield line


def _unpack_zstd(path: Path) -> Generator[str, None, None]:
    """The lines of a file that DuckDB unpacks, since Python cannot before 3.14."""
    options = "header = false, delim = '\x01', quote = '', escape = '', columns = {'c': 'VARCHAR'}"
    with connected([path]) as connection:
        # Folders such as year=2020 would be columns, too.
        result: Any = connection.execute(f"SELECT c FROM {_read_csv(path, options)}")
        while batch := result.fetchmany(10_000):
            yield from (f"{line or ''}\n" for (line,) in batch)


def _read_head(path: Path) -> list[str]:
    """The first lines of a text file."""
    head: list[str] = []
    size = 0
    with _open_lines(path) as lines:
        while size < _HEAD and (line := next(lines, "")):
            head.append(line)
            size += len(line)
    return head


def _check_packing(path: Path) -> None:
    """Refuse a compressed file that is damaged or cut short, which DuckDB can take for a complete one."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as stream:
            while stream.read(_BLOCK):
                pass
    if path.suffix.lower() == ".zst":
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            while file.tell() < size:
                _skip_zstd_frame(file)
            if file.tell() > size:
                raise EOFError("it is cut short")


def _skip_zstd_frame(file: IO[bytes]) -> None:
    """Go to the end of a frame by the sizes of its blocks (RFC 8878)."""

    def read(size: int) -> int:
        content = file.read(size)
        if len(content) < size:
            raise EOFError("it is cut short")
        return int.from_bytes(content, "little")

    magic = read(4)
    if magic >> 8 == 0x184D2A:  # a frame to be skipped
        file.seek(read(4), os.SEEK_CUR)
        return
    if magic != 0xFD2FB528:
        raise EOFError("it is cut short, or not compressed by zstd")
    flags = read(1)
    has_window = not flags & 32
    content_bytes = max(_CONTENT_BYTES[flags >> 6], not has_window)
    file.seek(has_window + _DICTIONARY_BYTES[flags & 3] + content_bytes, os.SEEK_CUR)
    is_last = 0
    while not is_last:
        block = read(3)
        is_last, kind, length = block & 1, block >> 1 & 3, block >> 3
        file.seek(1 if kind == 1 else length, os.SEEK_CUR)
    file.seek(4 if flags & 4 else 0, os.SEEK_CUR)


# Parquet


def _count_parquet(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    rows: Counter[Key] = Counter()
    with refusals(source.path), connected(source.files) as connection:
        for query in _query_parquet(connection, source, columns, cuts):
            rows += _count_query(connection, query, source.path, columns, cuts)
    return Counted(rows, None, {})


def _read_first_parquet(source: Source, most: int) -> FirstRows:
    """The names of the columns of the first file, and the first rows."""
    rows: list[Key] = []
    with refusals(source.path), connected(source.files) as connection:
        schema, folders = _describe(connection, source)[source.files[0]]
        names = [name for name, *_ in (*schema, *folders)]
        for query in _query_parquet(connection, source, names, {}, once=False):
            if len(rows) < most:
                rows += connection.execute(f"{query} LIMIT {most - len(rows)}").fetchall()
    return names, rows


def _query_parquet(
    connection: DuckDBPyConnection,
    source: Source,
    names: Sequence[str],
    cuts: Cuts,
    once: bool = True,
) -> list[str]:
    """Queries for some columns: one for all files of a schema, and of folders that give the same values."""
    tables: dict[Any, list[Path]] = {}
    names_of = {}
    for file, (schema, folders) in _describe(connection, source).items():
        columns = {column[0]: column for column in reversed((*schema, *folders))}
        names_of[file] = [name for name, *_ in (*schema, *folders)]
        selected = tuple(columns.get(name) for name in names)
        tables.setdefault((schema, selected), []).append(file)
    _check_columns(names_of, names, once)
    for i, name in enumerate(names if once else ()):
        files = {
            selected[i][2] in ("VARCHAR", "ENUM"): same for (_, selected), same in tables.items()
        }
        if len(files) > 1:
            raise InvalidInput(
                f"{brief(name)} must have one type in all files; it contains numbers in "
                f"{escaped(files[False][0])} and text in {escaped(files[True][0])}"
            )
    return [
        _select([column[1:] for column in selected], names, cuts, _read_parquet(same))
        for (_, selected), same in tables.items()
    ]


def _read_parquet(files: Iterable[Path]) -> str:
    return f"read_parquet({_list_files(files)}, hive_partitioning = false)"


def _list_files(files: Iterable[Path]) -> str:
    return f"[{', '.join(literal(pattern(file)) for file in files)}]"


def _describe(
    connection: DuckDBPyConnection, source: Source
) -> dict[Path, tuple[tuple[Column, ...], tuple[Column, ...]]]:
    """The columns of each file, and those that its folders give."""
    elements: dict[str, list[Key]] = {}
    for file_name, *element in connection.execute(
        "SELECT file_name, name, num_children, type, converted_type, logical_type "
        f"FROM parquet_schema({_list_files(source.files)})"
    ).fetchall():
        elements.setdefault(file_name, []).append(tuple(element))
    columns: dict[tuple[Key, ...], tuple[Column, ...]] = {}
    described = {}
    for file in source.files:
        schema = tuple(elements[str(file.absolute())])
        if schema not in columns:
            # DuckDB renames columns whose names differ in case only.
            found = connection.execute(f"DESCRIBE FROM {_read_parquet([file])}").fetchall()
            columns[schema] = tuple(
                (name, identifier(renamed), kind.partition("(")[0])
                for name, (renamed, kind, *_) in zip(_top_level_names(schema), found, strict=True)
            )
        described[file] = columns[schema], _folder_columns(source, file)
    return described


def _top_level_names(schema: Iterable[Key]) -> Iterator[str]:
    """The names of the columns, without what is nested in them: each element is followed by its children."""
    nested = 0
    for name, children, *_ in islice(schema, 1, None):
        if not nested:
            yield name
        nested += (children or 0) - bool(nested)


def _folder_columns(source: Source, file: Path) -> tuple[Column, ...]:
    """The columns of text that the names of folders give: ``year`` for ``year=2020``."""
    columns = []
    root = file.parent if source.files == [source.path] else source.root
    for part in file.absolute().parent.relative_to(root.absolute()).parts:
        name, is_assigned, value = part.partition("=")
        if is_assigned:
            is_missing = value == "__HIVE_DEFAULT_PARTITION__"
            columns.append(
                (name, "NULL::VARCHAR" if is_missing else literal(unquote(value)), "VARCHAR")
            )
    return tuple(columns)


FORMATS = (
    Format(
        key="csv",
        names=("CSV", "TSV"),
        endings=(".csv", ".tsv", ".txt"),
        is_packed=True,
        count=partial(_count_texts, csv_file),
        first_rows=partial(_read_first_texts, csv_file),
    ),
    Format(
        key="jsonl",
        names=("JSON Lines",),
        endings=(".jsonl", ".ndjson"),
        magic=b"{",
        is_packed=True,
        count=partial(_count_texts, json_file),
        first_rows=partial(_read_first_texts, json_file),
    ),
    Format(
        key="parquet",
        names=("Parquet",),
        endings=(".parquet", ".pq"),
        magic=b"PAR1",
        in_folders=True,
        needs="duckdb",
        count=_count_parquet,
        first_rows=_read_first_parquet,
    ),
)
"""The formats. A new one is a reader and a record here: the command, the web app and the docs read it."""
