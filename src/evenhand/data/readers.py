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

JSON Lines are read with their types. A value in an object has a dotted name, such as ``meta.category``; a list is the
text of its JSON. The columns that are listed are those of the first records, up to 1 MB. A column that a record lacks
is missing there, and one that all lack is unknown. A name that occurs twice in a record is refused. Python reads them,
since DuckDB confuses keys that differ in case, rounds large integers, and accepts names that occur twice.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from glob import escape
from importlib.util import find_spec
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from ..confusion import MISSING_WORDS
from ..errors import InvalidInput, MissingExtra, UnknownName, brief, escaped
from ..progress import watch
from ..wording import several
from .frames import Counted, Cuts, Key, count_frame, count_keys, first_line, level

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

    Reader = Callable[["Source", Connection, Sequence[str]], list["Part"]]

FirstRows = tuple[list[str], list[Key]]

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
# Objects of JSON that are nested deeper are texts, so that names stay short.
_DEEPEST = 10
# What a folder is called whose rows have no value, and the column that says which file a row is from.
_NO_VALUE, _FILE = "__HIVE_DEFAULT_PARTITION__", "evenhand_file"

PACKINGS = (".gz",)
"""The endings of compressed text files."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one format that are one table.

    Attributes
    ----------
    path : Path
        The path as it was given, or the names of several.
    format : Format
        What the files contain.
    files : list of Path
        At least one.
    root : Path
        The folder below which the names of folders may be columns.
    skipped : int or None
        How many other files are in the folders that were given; None if none was.
    """

    path: Path
    format: Format
    files: list[Path]
    root: Path
    skipped: int | None = None


@dataclass(frozen=True, slots=True)
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
    read : callable
        Takes a Source, a connection of DuckDB and the columns that are needed, if not all, and
        returns its parts. The connection is None if DuckDB is not installed and not needed.
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
    read: Reader
    magic: bytes = b""
    is_packed: bool = False
    in_folders: bool = False
    needs: str = ""


class Part(NamedTuple):
    """One or more files with the same columns, which ``rows`` reads.

    ``table`` is what DuckDB counts, in SQL, with columns c0, c1 and so on of these types. If it refuses, Python reads
    the rows, or says what is wrong with them.
    """

    path: Path
    names: list[str]
    rows: Callable[[], Iterable[Sequence[object]]]
    table: str = ""
    types: Sequence[str] = ()
    separator: str = ""


def count_rows(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns.

    A column with cuts, by its position, is counted by level.
    """
    rows: Counter[Key] = Counter()
    with _opened(source, columns) as (connection, parts):
        _check_columns(parts, columns)
        for part in parts:
            with refusals(part.path):
                rows += _count_part(connection, part, columns, cuts)
    if not rows:
        raise nothing(source.path, "has no rows")
    separators = "".join(dict.fromkeys(part.separator for part in parts))
    return Counted(rows, None, {"separator": separators} if separators else {})


def first_rows(source: Source, most: int) -> FirstRows:
    """The columns of the first file, and the first rows; lists and objects are texts."""
    rows: list[Key] = []
    with _opened(source) as (_, parts):
        names = parts[0].names
        _check_columns(parts, names, once=False)
        for part in parts:
            some = islice(_read_rows(part, names, {}), most - len(rows))
            rows += (tuple(map(_as_shown, row)) for row in some)
    if not rows:
        raise nothing(source.path, "has no rows")
    return names, rows


def _as_shown(value: object) -> object:
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=str)
    return None if value == "" else value


@contextmanager
def _opened(source: Source, columns: Sequence[str] = ()) -> Iterator[tuple[Connection, list[Part]]]:
    has_duckdb = source.format.needs or find_spec("duckdb")
    connection: Any = connected(source.files) if has_duckdb else None
    with refusals(source.path), connection or nullcontext():
        yield connection, source.format.read(source, connection, columns)


def _check_columns(parts: Sequence[Part], columns: Sequence[str], once: bool = True) -> None:
    """Every file must have the columns; if they are to be counted, once and of one type."""
    for name in columns:
        if not any(name in part.names for part in parts):
            raise UnknownName.among("column", name, parts[0].names)
        of_kind: dict[str, Path] = {}
        for part in parts:
            times = part.names.count(name)
            if not times or (times > 1 and once):
                got = escaped(", ".join(part.names))
                must = f"must have the column {brief(name)} once"
                raise InvalidInput(f"{escaped(part.path)} {must}; got {got}")
            kind = part.types[part.names.index(name)] if part.types else ""
            of_kind.setdefault("text" if kind == "VARCHAR" else "numbers", part.path)
        if len(of_kind) > 1 and once:
            got = " and ".join(f"{kind} in {escaped(of_kind[kind])}" for kind in sorted(of_kind))
            raise InvalidInput(f"{brief(name)} must have one type in all files; it contains {got}")


def _count_part(
    connection: Connection, part: Part, columns: Sequence[str], cuts: Cuts
) -> Counter[Key]:
    """Count the rows by DuckDB or, if it refuses them, in Python."""
    name = part.path.name
    if _is_gzip(part.path):
        # DuckDB can take a file that is damaged or cut short for a complete one.
        with gzip.open(part.path) as stream:
            while stream.read(_BLOCK):
                pass
    if part.table and connection:
        with suppress(*_duckdb_errors()):
            relation = connection.sql(_select(part, columns, cuts))
            with watch(f"counting {name}", connection.query_progress):
                return count_frame(relation, relation.columns, cuts, columns).rows
    with watch(f"counting {name}", lambda: -1.0):
        return count_keys(_read_rows(part, columns, cuts))


def _read_rows(part: Part, columns: Sequence[str], cuts: Cuts) -> Iterator[Key]:
    places = [part.names.index(name) for name in columns]
    for row in part.rows():
        key: list[object] = [row[i] for i in places]
        for i in cuts:
            key[i] = _level_of(key[i], cuts[i], columns[i])
        yield tuple(key)


def _level_of(value: object, cuts: tuple[float, ...], name: str) -> int | None:
    """The level of a number or of a text that spells one, in Python."""
    text = "" if value is None else str(value).strip()
    if text.casefold() in ("", *MISSING_WORDS):
        return None
    try:
        # Python would accept the digits of other scripts, which DuckDB does not.
        return level(float(text if text.isascii() else "?"), cuts)
    except ValueError:
        raise InvalidInput(f"{brief(name)} must contain numbers; got {brief(text, 60)}") from None


# DuckDB


def connected(files: Sequence[Path]) -> Connection:
    """A connection of DuckDB that opens these files, and nothing else."""
    if find_spec("duckdb") is None:
        raise MissingExtra.named("files", f"reading {files[0].suffix} files")
    import duckdb

    paths = [str(file.absolute()) for file in files]
    allowed = ", ".join(map(literal, {*paths, *map(escape, paths)}))
    if any("\ud800" <= c <= "\udfff" for c in allowed):
        name = escaped(files[0].name)
        raise InvalidInput(f"the path of {name} is not UTF-8; rename its folder or the file")
    connection = duckdb.connect()
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
        SET allowed_paths = [{allowed}];
        SET enable_external_access = false;
        SET lock_configuration = true;
    """)
    return connection


def _select(part: Part, columns: Sequence[str], cuts: Cuts) -> str:
    """A query for some columns; texts with cuts are read as numbers."""
    words = ", ".join(map(literal, ("", *MISSING_WORDS)))
    selected = []
    for i, name in enumerate(columns):
        place = part.names.index(name)
        column = f"c{place}"
        if part.types[place] == "VARCHAR" and i in cuts:
            text = f"trim({column})"
            column = f"CASE WHEN lower({text}) NOT IN ({words}) THEN {text}::DOUBLE END"
        selected.append(f"{column} AS v{i}")
    return f"SELECT {', '.join(selected)} FROM {part.table}"


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def listed(files: Iterable[Path]) -> str:
    """A list of files in SQL, as patterns that match nothing else."""
    return f"[{', '.join(literal(escape(str(file.absolute()))) for file in files)}]"


# Errors


def unreadable(path: object, why: object) -> InvalidInput:
    """The error for a file that cannot be read, with the first line of another library's error."""
    return InvalidInput(f"{escaped(path)} cannot be read: {first_line(why)}")


def nothing(path: object, has: str) -> InvalidInput:
    """The error for a file without rows."""
    return InvalidInput(f"{escaped(path)} {has}; there is nothing to audit")


@contextmanager
def refusals(path: object) -> Iterator[None]:
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


# CSV


def csv_files(source: Source, *_: object) -> list[Part]:
    """A part for each file."""
    return list(map(csv_file, source.files))


def csv_file(path: Path) -> Part:
    r"""The separator and the columns of a CSV file; one that ends in ``.tsv`` is separated by tabs.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race;score\nA;0,5\n")
    ...     file = csv_file(path)
    >>> file.separator, file.names
    (';', ['race', 'score'])
    """
    # The limit of the csv module is that of the whole process, and is never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))
    head = _read_head(path)
    signs = "\t" if ".tsv" in path.name.lower() else _SEPARATORS
    first = {sign: _first_records(head, sign) for sign in signs}
    if not any(first.values()):
        raise nothing(path, "has no header")
    separator = max(first, key=lambda sign: _rank_fit(first[sign]))
    names = first[separator][0]
    blank = sum(1 for _ in takewhile(lambda line: not line.strip("\r\n"), head))
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    table = (
        f"read_csv({listed([path])}, auto_detect = false, header = true, skip = {blank}, "
        f"""delim = {literal(separator)}, quote = '"', escape = '"', comment = '', """
        f"compression = '{'gzip' if _is_gzip(path) else 'none'}', null_padding = false, "
        f"strict_mode = true, hive_partitioning = false, columns = {{{columns}}})"
    )
    # To DuckDB a blank line is a row if there is one column.
    table = table if len(names) > 1 else ""
    records = partial(_read_records, path, separator, len(names))
    types = ["VARCHAR"] * len(names)
    return Part(path, names, lambda: islice(records(), 1, None), table, types, separator)


def _rank_fit(rows: list[list[str]]) -> tuple[bool, int]:
    """How well a separator fits: the first rows have as many values as the header, and the header has many."""
    many = len(rows[0]) if rows else 0
    return many > 1 and all(len(row) == many for row in rows), many


def _first_records(head: Iterable[str], separator: str) -> list[list[str]]:
    records: list[list[str]] = []
    with suppress(csv.Error):  # `_read_records` says where
        reader = csv.reader(head, delimiter=separator, strict=True)
        records.extend(islice(filter(None, reader), _CHECKED))
    return records


def _read_records(path: Path, separator: str, width: int) -> Iterator[list[str]]:
    """The header and the rows below it, each with as many values; blank lines are skipped."""
    line = 1
    reader = csv.reader(_read_lines(path), delimiter=separator, strict=True)
    try:
        for row in reader:
            if len(row) not in (0, width):
                raise InvalidInput(
                    f"line {line} of {escaped(path)} must have {width} values, as its header "
                    f"has; got {several(len(row), 'value')}"
                )
            if row:
                yield row
            line = reader.line_num + 1
    except csv.Error as error:
        raise unreadable(f"line {line} of {path}", error) from None


# JSON Lines


def json_files(source: Source, _: object, columns: Sequence[str]) -> list[Part]:
    """A part for each file."""
    return [json_file(path, columns) for path in source.files]


def json_file(path: Path, columns: Sequence[str] = ()) -> Part:
    """Some columns of a file of JSON Lines; without any, those of its first records."""
    known: dict[str, None] = {}
    for record in _read_objects(path, _read_head(path)):
        known |= dict.fromkeys(record)
    if not known:
        raise nothing(path, "has no rows")
    names = list(dict.fromkeys(columns)) or list(known)

    def rows() -> Iterator[Key]:
        unseen = set(names) - known.keys()
        for record in _read_objects(path, _read_lines(path), names):
            unseen -= record.keys()
            yield tuple(map(record.get, names))
        for name in sorted(unseen):
            raise UnknownName.among(f"column of {escaped(path.name)}", name, known)

    return Part(path, names, rows)


def _read_objects(
    path: Path, lines: Iterable[str], columns: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """The values of some columns, or all, in the object on each line; blank lines are skipped."""
    decode = json.JSONDecoder(object_pairs_hook=_unique).decode
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = decode(line)
            values = _unique(list(_flatten(record))) if isinstance(record, dict) else {}
            some = {name: values[name] for name in columns if name in values} if columns else values
            values = {name: _list_as_text(value) for name, value in some.items()}
        except (ValueError, RecursionError) as error:
            raise unreadable(f"line {number} of {path}", error) from None
        if not isinstance(record, dict):
            got = brief(record, 60)
            raise InvalidInput(f"line {number} of {escaped(path)} must be a JSON object; got {got}")
        yield values


def _flatten(record: dict[str, Any], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """The values in an object and in those that it contains, down to a depth, by dotted names."""
    for name, value in record.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _flatten(value, f"{prefix}{name}.", depth + 1)
        else:
            yield prefix + name, value


def _list_as_text(value: object) -> object:
    is_nested = isinstance(value, (list, dict))
    return json.dumps(value, ensure_ascii=False) if is_nested else value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Pairs of name and value as a mapping, if names are distinct."""
    record = dict(pairs)
    if len(record) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"it has {brief(name, 60)} twice")
    return record


# Lines of text


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _read_lines(path: Path) -> Iterator[str]:
    """The lines of a text file with their ends."""
    open_text: Any = gzip.open if _is_gzip(path) else open
    with refusals(path), open_text(path, "rt", encoding="utf-8-sig", newline="") as text:
        while line := text.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
                raise unreadable(path, f"it has a line of more than {LONGEST_LINE:,} characters")
            yield line


def _read_head(path: Path) -> list[str]:
    """The first lines of a text file."""
    head: list[str] = []
    size = 0
    for line in _read_lines(path):
        head.append(line)
        size += len(line)
        if size >= _HEAD:
            break
    return head


# Parquet


def parquet_files(source: Source, connection: Connection, _: object) -> list[Part]:
    """A part for all files of a schema whose folders are called after the same columns."""
    schemas: dict[str, list[Key]] = {}
    for file_name, *element in connection.execute(
        "SELECT file_name, name, num_children, type, converted_type, logical_type "
        f"FROM parquet_schema({listed(source.files)})"
    ).fetchall():
        schemas.setdefault(file_name, []).append(tuple(element))
    tables: dict[Key, list[Key]] = {}
    for file in source.files:
        path = str(file.absolute())
        folders, texts = _read_folders(file, source.root)
        tables.setdefault((folders, *schemas[path]), []).append((file, literal(path), *texts))
    parts = []
    for (folders, *schema), rows in tables.items():
        files = [file for file, *_ in rows]
        table = f"read_parquet({listed(files)}, hive_partitioning = false, filename = '{_FILE}')"
        if folders:
            values = ", ".join(f"({', '.join(texts)})" for _, *texts in rows)
            table += f" JOIN (VALUES {values}) AS folders ON {_FILE} = folders.col0"
        names = _top_level_names(schema)
        # DuckDB renames columns whose names differ in case only.
        columns = [f"#{i + 1}" for i, _ in enumerate(names)]
        kinds = connection.sql(f"SELECT {', '.join(columns)} FROM {table}").types
        types = [str(kind) for kind in kinds]
        # DuckDB needs pytz to fetch times with a zone.
        columns = [f"{c}::VARCHAR" if "ZONE" in types[i] else c for i, c in enumerate(columns)]
        columns += [f"folders.col{i + 1}::VARCHAR" for i, _ in enumerate(folders)]
        selected = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
        query = f"(SELECT {selected} FROM {table})"
        types += ["VARCHAR" for _ in folders]
        read_rows = partial(_fetch_rows, connection, f"FROM {query}")
        parts.append(Part(files[0], [*names, *folders], read_rows, query, types))
    return parts


def _fetch_rows(connection: Connection, query: str) -> Iterator[Key]:
    cursor = connection.cursor().execute(query)
    yield from iter(cursor.fetchone, None)


def _top_level_names(schema: Sequence[Key]) -> list[str]:
    """The names of the columns, without what is nested in them: each element is followed by its children."""
    names = []
    nested = 0
    for name, children, *_ in schema[1:]:
        if not nested:
            names.append(name)
        nested += (children or 0) - bool(nested)
    return names


def _read_folders(file: Path, root: Path) -> tuple[Key, list[str]]:
    """The columns that the names of folders give, and their text in SQL: ``year`` for ``year=2020``."""
    folders = file.absolute().parent.relative_to(root.absolute()).parts
    columns = [folder.partition("=") for folder in folders if "=" in folder]
    texts = ["NULL" if text == _NO_VALUE else literal(unquote(text)) for *_, text in columns]
    return tuple(name for name, *_ in columns), texts


FORMATS = (
    Format("csv", ("CSV", "TSV"), (".csv", ".tsv", ".txt"), csv_files, is_packed=True),
    Format("jsonl", ("JSON Lines",), (".jsonl", ".ndjson"), json_files, b"{", is_packed=True),
    Format(
        "parquet",
        ("Parquet",),
        (".parquet", ".pq"),
        parquet_files,
        b"PAR1",
        in_folders=True,
        needs="duckdb",
    ),
)
"""The formats. A new one is a reader and a record here: the command, the web app and the docs read it."""
