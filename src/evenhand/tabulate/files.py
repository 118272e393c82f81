"""CSV, TSV and Parquet files, counted by DuckDB without loading them; Arrow files and SQLite databases as well.

Files are untrusted: every column of a CSV file is read as text, no extension of DuckDB is downloaded, only the files
that were asked for can be opened, and an error of DuckDB becomes one sentence. Columns of several files are matched by
name. A CSV file that DuckDB would read differently from Python's csv module is read by the latter.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..cells import MISSING_WORDS
from ..errors import InvalidInput, MissingExtra, UnknownName
from ..progress import watch
from .databases import count_database, first_database_rows
from .delimited import Layout, connected, layout_of, literal, pattern, records
from .frames import MOST_ROWS, Counted, Cuts, count_frame, gathered, level
from .streams import arrow_stream, count_stream, first_stream_rows, sql_type
from .tables import identifier, unused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["count_file", "first_rows", "input_files", "read_file"]

_TEXT = (".csv", ".tsv", ".txt")
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
_WITHOUT_DUCKDB = (".feather", ".arrow")
_DATABASE = re.compile(r"(?P<file>.*\.(?:db|sqlite3?))(?:\?table=(?P<table>.*))?\Z", re.DOTALL | re.IGNORECASE)
_CALLED = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow", "sqlite": "SQLite"}

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """What a path stands for.

    Attributes
    ----------
    path : Path
        The path as it was given.
    kind : {"csv", "parquet", "arrow", "sqlite"}
        What the files contain.
    files : list of Path
        At least one.
    root : Path
        The folder below which the names of folders may partition a table.
    name : str
        What the files are called together.
    table : str or None
        The table of a database, if it was named.
    """

    path: Path
    kind: str
    files: list[Path]
    root: Path
    name: str
    table: str | None = None


def count_file(path: Paths, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns of a file, a folder or a glob of files.

    Parameters
    ----------
    path : str or Path, or a list of them
        A CSV, TSV, Parquet or Arrow file, a folder of Parquet files, a glob, or a table of a SQLite database
        (``people.db``, or ``people.db?table=decisions`` if it has several).
    columns : sequence of str
        The names of the columns; one may occur several times.
    cuts : mapping of int to tuple of float
        By position in ``columns``, the ascending cuts of columns of numbers, which are counted by level. A text that is
        not a number counts as missing.

    Returns
    -------
    Counted
        How often each combination occurs.
    """
    source = _source(path)
    if source.kind == "parquet":
        connection, relation = _parquet(source, columns)
        with connection:
            rows = _count_relation(connection, relation, source.path, columns, cuts)
        return Counted(rows, None, _described(source))
    if source.kind == "sqlite":
        described = _described(source)
        return Counted(count_database(source.files[0], source.table, columns, cuts), None, described)
    if source.kind == "arrow":
        return Counted(_count_arrow(source, columns, cuts), None, _described(source))
    rows = Counter()
    layouts = _layouts(source, columns)
    with connected(source.files) as connection:
        for layout in layouts:
            rows += _count_text(connection, layout, columns, cuts)
    if not rows:
        raise InvalidInput(f"{source.path} has no rows; there is nothing to audit")
    separators = "".join(dict.fromkeys(layout.separator for layout in layouts))
    described = _described(source) | {"separator": separators}
    return Counted(gathered((*key, n) for key, n in rows.items()), None, described)


def _count_arrow(source: Source, columns: Sequence[str], cuts: Cuts) -> Counter[tuple[Any, ...]]:
    rows: Counter[tuple[Any, ...]] = Counter()
    types: dict[Path, dict[str, str]] = {}
    for file in source.files:
        with arrow_stream(file) as stream:
            types[file] = {field.name: sql_type(field.type) for field in stream.schema}
    _check_columns({file: tuple(there) for file, there in types.items()}, columns)
    for name in columns:
        _check_kind(name, types)
    for file in source.files:
        with arrow_stream(file) as stream:
            rows += count_stream(stream, columns, cuts).rows
    return gathered((*key, n) for key, n in rows.items())


def _described(source: Source) -> dict[str, Any]:
    """The files and their contents, so that someone else can tell whether theirs are the same."""
    size = sum(file.stat().st_size for file in source.files)
    sums = {file: _sha256(file) for file in source.files}
    if len(sums) > 1:
        lines = sorted(f"{_relative(file, source.root)}  {digest}\n" for file, digest in sums.items())
        total = hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
    else:
        (total,) = sums.values()
    return {
        "kind": "file",
        "name": source.name,
        "files": len(sums),
        "size": size,
        "sha256": total,
        "format": source.kind,
    }


def _sha256(file: Path) -> str:
    try:
        with file.open("rb", buffering=0) as stream:
            size = max(os.fstat(stream.fileno()).st_size, 1)
            with watch(f"hashing {file.name}", lambda: 100 * stream.tell() / size):
                return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror or error}") from None


def _relative(file: Path, root: Path) -> str:
    """The name of a file below a folder on one line, as the command ``sha256sum`` escapes it."""
    return file.absolute().relative_to(root.absolute()).as_posix().replace("\\", "\\\\").replace("\n", "\\n")


def _count_text(
    connection: DuckDBPyConnection, layout: Layout, columns: Sequence[str], cuts: Cuts
) -> Counter[tuple[Any, ...]]:
    if layout.simple:
        try:
            rows = _count_relation(connection, _text(connection, layout), layout.path, columns, cuts)
        except _Unreadable:
            pass
        else:
            if layout.rows in (None, rows.total()):
                return rows
    # The csv module says which line is wrong, or reads what DuckDB cannot, such as mixed line ends.
    return _count_records(layout, columns, cuts)


class _Unreadable(InvalidInput):
    """What DuckDB cannot read."""


def _count_relation(
    connection: DuckDBPyConnection, relation: DuckDBPyRelation, path: Path, columns: Sequence[str], cuts: Cuts
) -> Counter[tuple[Any, ...]]:
    import duckdb

    try:
        numbers, names = _with_numbers(_without_zones(relation), columns, cuts)
        with watch(f"counting {path.name or path}", connection.query_progress):
            rows = count_frame(numbers, names, cuts).rows
        for i in cuts:
            if names[i] != columns[i] and any(row[i] is None for row in rows):
                _refuse_other_text(relation, columns[i])
        return rows
    except duckdb.Error as error:
        raise _unreadable(path, error) from None


def _refuse_other_text(relation: DuckDBPyRelation, name: str) -> None:
    """A text that is neither a number nor missing is not left out in silence."""
    words = ", ".join(literal(word) for word in ("", *MISSING_WORDS))
    column = identifier(name)
    other = relation.filter(
        f"{column} IS NOT NULL AND {_number(name)} IS NULL AND lower(trim({column})) NOT IN ({words})"
    )
    for (text,) in other.project(column).limit(1).fetchall():
        raise _no_number(name, text)


def _no_number(name: str, text: str) -> InvalidInput:
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    return InvalidInput(f"{name!r} must contain numbers; got {shown!r}")


def _with_numbers(relation: DuckDBPyRelation, columns: Sequence[str], cuts: Cuts) -> tuple[DuckDBPyRelation, list[str]]:
    """The relation with the texts of columns that have cuts as numbers, and the names of the columns in it."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    names, added = list(columns), []
    for i in cuts:
        if types[columns[i]] == "VARCHAR":
            names[i] = unused(f"evenhand_number{i}", types)
            added.append(f"{_number(columns[i])} AS {identifier(names[i])}")
    return (relation.project(", ".join(["*", *added])) if added else relation), names


def _count_records(layout: Layout, columns: Sequence[str], cuts: Cuts) -> Counter[tuple[Any, ...]]:
    """Count the rows that the csv module reads."""
    at = [layout.columns.index(name) for name in columns]
    counts: Counter[Any] = Counter()
    with watch(f"counting {layout.path.name}", lambda: -1.0):
        for row in records(layout):
            key: list[Any] = [row[i] or None for i in at]
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
        raise _no_number(name, text) from None


def first_rows(path: Paths, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    r"""Read the first rows of a file.

    Parameters
    ----------
    path : str or Path, or a list of them
        A CSV, TSV, Parquet or Arrow file, a folder of Parquet files, a glob, or a table of a SQLite database
        (``people.db``, or ``people.db?table=decisions`` if it has several).
    most : int
        How many rows to read at most.

    Returns
    -------
    columns : list of str
        The names of the columns.
    rows : list of tuple
        The rows; values of a CSV or TSV file are text.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race,label\nA,1\nB,0\n")
    ...     first_rows(path, most=1)
    (['race', 'label'], [('A', '1')])
    """
    source = _source(path)
    if source.kind == "csv":
        layouts = _layouts(source, None)
        columns = list(layouts[0].columns)
        found = islice((row for layout in layouts for row in _arranged(layout, columns)), max(most, 1))
        rows: list[tuple[Any, ...]] = [tuple(value or None for value in row) for row in found]
        if not rows:
            raise InvalidInput(f"{source.path} has no rows; there is nothing to audit")
        return columns, rows[:most]
    if source.kind == "sqlite":
        return first_database_rows(source.files[0], source.table, most)
    if source.kind == "arrow":
        with arrow_stream(source.files[0]) as stream:
            return list(stream.schema.names), first_stream_rows(stream, most)
    connection, relation = _parquet(source, None)
    import duckdb

    try:
        return list(relation.columns), _without_zones(relation.limit(most)).fetchall()
    except duckdb.Error as error:
        raise _unreadable(source.path, error) from None
    finally:
        connection.close()


def _without_zones(relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """The relation with times that have a zone as text; DuckDB needs pytz to fetch them."""
    types = zip(relation.columns, map(str, relation.types), strict=True)
    return relation.project(
        ", ".join(
            f"CAST({c} AS VARCHAR) AS {c}" if "TIME ZONE" in t else c for c, t in ((identifier(n), t) for n, t in types)
        )
    )


def input_files(path: Paths) -> list[Path]:
    r"""List the files that a path stands for.

    Parameters
    ----------
    path : str or Path, or a list of them
        A CSV, TSV, Parquet or Arrow file, a folder of Parquet files, a glob, or a table of a SQLite database
        (``people.db``, or ``people.db?table=decisions`` if it has several).

    Returns
    -------
    list of Path
        At least one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "decisions.csv").write_text("race,label\nA,1\n")
    ...     [file.name for file in input_files(f"{folder}/*.csv")]
    ['decisions.csv']
    """
    return _source(path).files


def _arranged(layout: Layout, columns: list[str]) -> Iterator[list[str]]:
    at = [layout.columns.index(name) for name in columns]
    return ([row[i] for i in at] for row in records(layout))


def read_file(path: Paths) -> tuple[DuckDBPyConnection, DuckDBPyRelation]:
    """Open a file as a relation.

    Parameters
    ----------
    path : str or Path, or a list of them
        A CSV or TSV file; a Parquet file, a folder or a glob of Parquet files.

    Returns
    -------
    connection : duckdb.DuckDBPyConnection
        To be closed by the caller. It can open these files and no others.
    relation : duckdb.DuckDBPyRelation
        The rows of the file.
    """
    source = _source(path)
    if source.kind == "parquet":
        return _parquet(source, None)
    connection = connected(source.files)
    return connection, _text(connection, _layouts(source, None)[0])


def _layouts(source: Source, columns: Sequence[str] | None) -> list[Layout]:
    """The layouts of text files, which must have the columns; by default those of the first."""
    layouts = [layout_of(file) for file in source.files]
    _check_columns({layout.path: layout.columns for layout in layouts}, columns)
    return layouts


def _check_columns(found: dict[Path, tuple[str, ...]], columns: Sequence[str] | None) -> None:
    """Every file must have the columns; by default those of the first."""
    first = next(iter(found.values()))
    for name in first if columns is None else columns:
        if not any(name in there for there in found.values()):
            raise UnknownName.among("column", name, first)
        for file, there in found.items():
            if columns is not None and there.count(name) > 1:
                raise InvalidInput(f"{file} must have the column {name!r} once; it is there {there.count(name)} times")
            if name not in there:
                listed = ", ".join(there)
                raise InvalidInput(f"{file} must have the column {name!r}, as other files have; got {listed}")


def _text(connection: DuckDBPyConnection, layout: Layout) -> DuckDBPyRelation:
    """A text file as a relation."""
    import duckdb

    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(layout.columns)))
    titles = ", ".join(f"c{i} AS {identifier(name)}" for i, name in enumerate(layout.columns))
    packed = _COMPRESSED.get(layout.path.suffix.lower(), "none")
    sql = (
        f"SELECT {titles} FROM read_csv({literal(pattern(layout.path))}, auto_detect = false, header = true, "
        f"delim = {literal(layout.separator)}, quote = '\"', escape = '\"', comment = '', skip = 0, "
        "null_padding = false, strict_mode = true, hive_partitioning = false, "
        f"compression = '{packed}', columns = {{{names}}})"
    )
    try:
        return connection.sql(sql)
    except duckdb.Error as error:
        raise _unreadable(layout.path, error) from None


def _parquet(source: Source, columns: Sequence[str] | None) -> tuple[DuckDBPyConnection, DuckDBPyRelation]:
    """Parquet files as one relation, their columns matched by name and widened to a type that holds all values."""
    import duckdb

    connection = connected(source.files)
    listed = f"[{', '.join(literal(pattern(file)) for file in source.files)}]"
    folders = _partitions(source)
    # DuckDB takes the names of all folders above a file into account, or none.
    above = _assigned(source.root.absolute()) if folders else {}
    try:
        types = _types(connection, source.files, listed)
        inside = {name for there in types.values() for name in there}
        both = sorted((set(folders) & (inside | set(above))) | (set(above) & inside))
        if both:
            raise InvalidInput(
                f"{source.path} has the column {both[0]!r} twice, in the files and in the names of folders "
                f"({(above | folders)[both[0]]}); rename one of them"
            )
        _check_columns({file: (*there, *folders) for file, there in types.items()}, columns)
        for name in columns or ():
            _check_kind(name, types)
        hive = "hive_partitioning = true, hive_types_autocast = false" if folders else "hive_partitioning = false"
        return connection, connection.sql(f"SELECT * FROM read_parquet({listed}, union_by_name = true, {hive})")
    except duckdb.Error as error:
        raise _unreadable(source.path, error) from None


def _partitions(source: Source) -> dict[str, str]:
    """The columns that the names of folders give, each with an example; every file must be in such a folder."""
    if len(source.files) == 1 and source.files[0] == source.path:
        return {}
    root = source.root.absolute()
    named = [_assigned(file.absolute().parent.relative_to(root)) for file in source.files]
    widest = max(named, key=len)
    for file, found in zip(source.files, named, strict=True):
        if set(found) != set(widest):
            wanted = ", ".join(f"{name}=…" for name in widest)
            raise InvalidInput(f"{file} must be in folders called {wanted}, as other files are")
    return named[0]


def _assigned(folder: Path) -> dict[str, str]:
    """The columns that the names of nested folders give: ``year`` for ``year=2020``."""
    return {part.partition("=")[0]: part for part in folder.parts if "=" in part}


def _types(connection: DuckDBPyConnection, files: list[Path], listed: str) -> dict[Path, dict[str, str]]:
    """The columns of each Parquet file with their types."""
    by_name = {str(file.absolute()): file for file in files}
    schemas: dict[str, list[tuple[Any, ...]]] = {}
    for name, *element in connection.execute(
        f"SELECT file_name, name, type, converted_type, logical_type, num_children FROM parquet_schema({listed})"
    ).fetchall():
        schemas.setdefault(name, []).append(tuple(element))
    described: dict[tuple[Any, ...], dict[str, str]] = {}
    for name, schema in schemas.items():
        key = tuple(schema)
        if key not in described:
            one = f"DESCRIBE SELECT * FROM read_parquet({literal(pattern(Path(name)))}, hive_partitioning = false)"
            described[key] = {row[0]: row[1] for row in connection.execute(one).fetchall()}
    return {by_name[name]: described[tuple(schema)] for name, schema in schemas.items()}


def _check_kind(name: str, types: dict[Path, dict[str, str]]) -> None:
    """Numbers of different types are widened; numbers and text are not mixed."""
    kinds: dict[str, Path] = {}
    for file, there in types.items():
        if name in there:
            kinds.setdefault(_kind(there[name]), file)
    if len(kinds) > 1:
        (one, here), (other, there_) = list(kinds.items())[:2]
        raise InvalidInput(
            f"{name!r} must have one type in all files; it contains {one} in {here} and {other} in {there_}"
        )


def _kind(sql_type: str) -> str:
    base = sql_type.partition("(")[0].upper()
    if base in ("VARCHAR", "ENUM"):
        return "text"
    numeric = base in ("FLOAT", "DOUBLE", "DECIMAL") or base.endswith("INT") or base == "INTEGER"
    return "numbers" if numeric or base == "UINTEGER" else f"{sql_type.lower()}s"


def _source(path: Paths) -> Source:
    """The files that a path stands for, or several paths together; a folder means all Parquet files in it."""
    if isinstance(path, (str, os.PathLike)):
        return _one_source(os.fspath(path))
    sources = [_one_source(os.fspath(one)) for one in path]
    if len(sources) == 1:
        return sources[0]
    kinds = dict.fromkeys(source.kind for source in sources)
    if len(kinds) > 1:
        raise InvalidInput(f"data must be files of one kind; got {_listed(kinds)} files")
    if "sqlite" in kinds:
        raise InvalidInput(f"data must be one SQLite database; got {len(sources)}")
    found = [file for source in sources for file in source.files]
    real = [file.resolve() for file in found]
    twice = next((file for i, file in enumerate(found) if real[i] in real[:i]), None)
    if twice is not None:
        raise InvalidInput(f"data must be distinct files; got {twice} twice")
    root = Path(os.path.commonpath([source.root.absolute() for source in sources]))
    names = [source.name for source in sources]
    name = ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"
    return Source(Path(name), sources[0].kind, found, root, name)


def _one_source(text: str) -> Source:
    if not text.strip():
        raise InvalidInput("data must be a path to a file; got an empty path")
    database = _DATABASE.match(text)
    if not (database or text.lower().endswith(_WITHOUT_DUCKDB)):
        _need_duckdb()
    if text.startswith(("postgres://", "postgresql://")):
        raise InvalidInput(
            "a PostgreSQL table must be passed as a relation of DuckDB: attach the database with DuckDB's extension "
            "postgres, and pass duckdb.sql('FROM db.schema.name')"
        )
    if "://" in text:
        hidden = re.sub(r"(?<=://)[^/@]*@", "…@", text)
        raise InvalidInput(f"data must be a local file; got {hidden!r}, which must be downloaded first")
    if "\0" in text:
        raise InvalidInput(f"data must be a path to a file; got {text!r}")
    try:
        if database:
            return _database(Path(database["file"]).expanduser(), database["table"])
        return _found(Path(text).expanduser())
    except RuntimeError as error:
        raise InvalidInput(f"{text} cannot be read: {error}") from None
    except OSError as error:
        shown = text if len(text) <= 200 else f"{text[:200]}…"
        raise InvalidInput(f"{shown} cannot be read: {error.strerror or error}") from None


def _listed(kinds: Iterable[str]) -> str:
    return " and ".join(_CALLED[kind] for kind in kinds)


def _need_duckdb() -> None:
    try:
        import duckdb  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra.named("files", "reading CSV and Parquet files") from None


def _database(path: Path, table: str | None) -> Source:
    _check_there(path)
    # What was written last may still be in the file beside it.
    beside = path.with_name(f"{path.name}-wal")
    files = [path, beside] if beside.is_file() and beside.stat().st_size else [path]
    name = path.name if table is None else f"{path.name}?table={table}"
    return Source(path, "sqlite", files, path.parent, name, table)


def _check_there(path: Path) -> None:
    if not path.exists():
        raise InvalidInput(f"there is no file {path}{_nearest(path)}")
    if path.stat().st_size == 0:
        raise InvalidInput(f"{path} is empty; there is nothing to audit")


def _found(path: Path) -> Source:
    name = path.name or str(path)
    if path.is_dir():
        if path.absolute() == Path(path.absolute().anchor):
            raise InvalidInput(f"data must be a file or a folder of Parquet files; got {path}")
        files = sorted(_below(path))
        if not files:
            raise InvalidInput(f"the folder {path} contains no Parquet files; name files of other kinds one by one")
        return Source(path, "parquet", files, path, name)
    globbed = any(sign in str(path) for sign in "*?[")
    if path.exists() or not globbed:
        _check_there(path)
        return Source(path, _kind_by_name(path), [path], path.parent, name)
    files = sorted(Path(found) for found in glob(str(path), recursive=True) if Path(found).is_file())
    if not files:
        raise InvalidInput(f"no file matches {path}")
    kinds = dict.fromkeys(_kind_by_name(file) for file in files)
    if len(kinds) > 1:
        raise InvalidInput(f"{path} must match files of one kind; got {_listed(kinds)} files")
    fixed = path
    while any(sign in str(fixed) for sign in "*?["):
        fixed = fixed.parent
    return Source(path, next(iter(kinds)), files, fixed, name)


def _below(folder: Path) -> Iterator[Path]:
    """The Parquet files in a folder and below; a folder that cannot be opened is an error, not empty."""

    def refuse(error: OSError) -> None:
        raise InvalidInput(f"{error.filename} cannot be read: {error.strerror}")

    for here, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(here, name) for name in names if name.endswith(".parquet"))


def _kind_by_name(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in (".parquet", ".pq"):
        return "parquet"
    if suffixes and suffixes[-1] in (".feather", ".arrow"):
        return "arrow"
    if suffixes and (
        suffixes[-1] in _TEXT or (suffixes[-1] in _COMPRESSED and suffixes[-2:-1] and suffixes[-2] in _TEXT)
    ):
        return "csv"
    raise InvalidInput(
        f"{path} must be a CSV, TSV, Parquet, Arrow or SQLite file by its extension (.csv, .tsv, .txt, .parquet, .pq, "
        ".feather, .arrow, .db, .sqlite or .sqlite3; also .csv.gz)"
    )


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    try:
        beside = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, beside, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _number(name: str) -> str:
    """The column as numbers, in SQL; other text counts as missing."""
    # DuckDB would push a plain cast down to its CSV reader, which fails on text that is not a number.
    return f"TRY_CAST(trim({identifier(name)}) AS DOUBLE)"


def _unreadable(path: str | Path, error: Exception) -> _Unreadable:
    first = str(error).strip().splitlines()[0]
    return _Unreadable(f"{path} cannot be read: {first}")
