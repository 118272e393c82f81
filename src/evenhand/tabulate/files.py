"""CSV, TSV and Parquet files, read by DuckDB where they lie.

Files are untrusted: every column of a CSV is read as text, no extension is fetched, nothing outside this machine is
opened, and what DuckDB has to say of a bad file is passed on in one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, MissingExtra, UnknownName
from ..progress import watch
from .frames import Counted, count_frame

__all__ = ["count_file", "first_rows", "read_file"]

_TEXT = (".csv", ".tsv", ".txt")
_PACKED = (".gz", ".zst")


def count_file(path: str | Path, columns: Sequence[str], score: str | None, threshold: float) -> Counted:
    """Count the combinations of values in some columns of a file, a folder or a glob of files."""
    connection, relation = read_file(path)
    import duckdb

    for name in columns:
        if name not in relation.columns:
            raise UnknownName.among("column", name, relation.columns)
    if score is not None and str(dict(zip(relation.columns, relation.types, strict=True))[score]) == "VARCHAR":
        others = [duckdb.ColumnExpression(name) for name in relation.columns if name != score]
        relation = relation.select(*others, _number(duckdb, score).alias(score))
    try:
        with watch(f"counting {Path(path).name or path}", connection.query_progress):
            return Counted(count_frame(relation, columns, score, threshold).rows, None)
    except duckdb.Error as refusal:
        raise _unreadable(path, refusal) from None
    finally:
        connection.close()


def first_rows(path: str | Path, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns of a file, and its first rows."""
    connection, relation = read_file(path)
    import duckdb

    try:
        return list(relation.columns), relation.limit(most).fetchall()
    except duckdb.Error as refusal:
        raise _unreadable(path, refusal) from None
    finally:
        connection.close()


def read_file(path: str | Path) -> tuple[Any, Any]:
    """A connection, and the file as a relation on it."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingExtra.named("files", "reading CSV and Parquet files") from None
    text = str(path)
    if "://" in text:
        raise InvalidInput(f"only files on this machine are read; got {text!r}")
    pattern, kind = _found(Path(text).expanduser())
    connection = duckdb.connect()
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_progress_bar_print"):
        connection.execute(f"SET {setting} = false")
    # DuckDB tracks its progress but does not print it; `count_file` polls it.
    connection.execute("SET enable_progress_bar = true")
    try:
        if kind == "parquet":
            return connection, connection.read_parquet(pattern)
        tabs = "\t" if ".tsv" in Path(text).suffixes else None
        relation: Any = connection.read_csv(
            pattern, header=True, all_varchar=True, delimiter=tabs, comment="", skiprows=0
        )
        if len(relation.columns) == 1 and any(sign in relation.columns[0] for sign in ",;\t|"):
            raise InvalidInput(
                f"{path} cannot be split into columns; some rows have more or fewer values than its head"
            )
        if not relation.limit(1).fetchall():
            raise InvalidInput(f"{path} has no rows; there is nothing to audit")
        return connection, relation
    except duckdb.Error as refusal:
        raise _unreadable(path, refusal) from None


def _found(path: Path) -> tuple[str, str]:
    """What DuckDB is to open, and as what; a folder stands for all Parquet files in it."""
    suffixes = [s.lower() for s in path.suffixes]
    if path.is_dir():
        if not any(path.rglob("*.parquet")):
            raise InvalidInput(f"the folder {path} has no Parquet files")
        return _escaped(path) + "/**/*.parquet", "parquet"
    globbed = any(sign in str(path) for sign in "*?[")
    if not path.exists() and not globbed:
        raise InvalidInput(f"there is no file {path}{_nearest(path)}")
    if globbed and not path.exists():
        if not glob(str(path), recursive=True):
            raise InvalidInput(f"no file matches {path}")
        pattern = str(path)
    else:
        pattern = _escaped(path)
        if path.stat().st_size == 0:
            raise InvalidInput(f"{path} is empty; there is nothing to audit")
    if suffixes and suffixes[-1] in (".parquet", ".pq"):
        return pattern, "parquet"
    if suffixes and (suffixes[-1] in _TEXT or (suffixes[-1] in _PACKED and suffixes[-2:-1] and suffixes[-2] in _TEXT)):
        return pattern, "csv"
    raise InvalidInput(f"{path} is neither CSV, TSV nor Parquet by its name (.csv, .tsv, .txt, .parquet, also .csv.gz)")


def _escaped(path: Path) -> str:
    """A name is a name, even if it has brackets in it."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    try:
        beside = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, beside, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _number(duckdb: Any, name: str) -> Any:
    """The column as numbers; text that is none counts as missing."""
    quoted = '"' + name.replace('"', '""') + '"'
    # A bare cast would be handed down to the reader, which stops at text that is no number.
    return duckdb.SQLExpression(f"TRY_CAST(trim({quoted}) AS DOUBLE)")


def _unreadable(path: str | Path, refusal: Exception) -> InvalidInput:
    first = str(refusal).strip().splitlines()[0]
    return InvalidInput(f"{path} cannot be read: {first}")
