"""CSV, TSV and Parquet files, counted by DuckDB without loading them.

Files are untrusted: every column of a CSV file is read as text, no extension of DuckDB is downloaded, only local files
are opened, and an error of DuckDB becomes one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, MissingExtra, UnknownName
from ..progress import watch
from .frames import Counted, count_frame

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation, Expression

__all__ = ["count_file", "first_rows", "read_file"]

_TEXT = (".csv", ".tsv", ".txt")
_COMPRESSED = (".gz", ".zst")


def count_file(path: str | Path, columns: Sequence[str], score: str | None, threshold: float) -> Counted:
    """Count the combinations of values in some columns of a file, a folder or a glob of files.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV or Parquet file, a folder of Parquet files, or a glob.
    columns : sequence of str
        The names of the columns.
    score : str or None
        The one of them that holds scores, if any.
    threshold : float
        Scores at or above it count as 1, those below as 0, missing ones as None.

    Returns
    -------
    Counted
        How often each combination occurs.
    """
    connection, relation = read_file(path)
    import duckdb

    for name in columns:
        if name not in relation.columns:
            raise UnknownName.among("column", name, relation.columns)
    if score is not None and str(dict(zip(relation.columns, relation.types, strict=True))[score]) == "VARCHAR":
        others = [duckdb.ColumnExpression(name) for name in relation.columns if name != score]
        relation = relation.select(*others, _number(score).alias(score))
    try:
        with watch(f"counting {Path(path).name or path}", connection.query_progress):
            return Counted(count_frame(relation, columns, score, threshold).rows, None)
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    finally:
        connection.close()


def first_rows(path: str | Path, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    r"""Read the first rows of a file.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV or Parquet file, a folder of Parquet files, or a glob.
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
    connection, relation = read_file(path)
    import duckdb

    try:
        return list(relation.columns), relation.limit(most).fetchall()
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    finally:
        connection.close()


def read_file(path: str | Path) -> tuple[DuckDBPyConnection, DuckDBPyRelation]:
    """Open a file as a relation.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV or Parquet file, a folder of Parquet files, or a glob.

    Returns
    -------
    connection : duckdb.DuckDBPyConnection
        To be closed by the caller.
    relation : duckdb.DuckDBPyRelation
        The rows of the file.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingExtra.named("files", "reading CSV and Parquet files") from None
    text = str(path)
    if "://" in text:
        raise InvalidInput(f"data must be a local file; got {text!r}, which must be downloaded first")
    pattern, kind = _pattern_and_kind(Path(text).expanduser())
    connection = duckdb.connect()
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_progress_bar_print"):
        connection.execute(f"SET {setting} = false")
    # DuckDB tracks its progress but does not print it; `count_file` polls it.
    connection.execute("SET enable_progress_bar = true")
    try:
        if kind == "parquet":
            return connection, connection.read_parquet(pattern)
        tabs = "\t" if ".tsv" in Path(text).suffixes else None
        relation = connection.read_csv(pattern, header=True, all_varchar=True, delimiter=tabs, comment="", skiprows=0)
        if len(relation.columns) == 1 and any(sign in relation.columns[0] for sign in ",;\t|"):
            raise InvalidInput(
                f"{path} cannot be split into columns; some rows have more or fewer values than the header"
            )
        if not relation.limit(1).fetchall():
            raise InvalidInput(f"{path} has no rows; there is nothing to audit")
        return connection, relation
    except duckdb.Error as error:
        raise _unreadable(path, error) from None


def _pattern_and_kind(path: Path) -> tuple[str, str]:
    """The pattern for DuckDB to open, and ``"csv"`` or ``"parquet"``; a folder means all Parquet files in it."""
    suffixes = [s.lower() for s in path.suffixes]
    if path.is_dir():
        if not any(path.rglob("*.parquet")):
            raise InvalidInput(f"the folder {path} contains no Parquet files")
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
    if suffixes and (
        suffixes[-1] in _TEXT or (suffixes[-1] in _COMPRESSED and suffixes[-2:-1] and suffixes[-2] in _TEXT)
    ):
        return pattern, "csv"
    raise InvalidInput(
        f"{path} must be a CSV, TSV or Parquet file by its extension (.csv, .tsv, .txt, .parquet or .pq; also .csv.gz)"
    )


def _escaped(path: Path) -> str:
    """The path as a pattern that matches nothing else, even if it contains brackets or asterisks."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    try:
        beside = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, beside, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _number(name: str) -> Expression:
    """The column as numbers; other text counts as missing."""
    from duckdb import SQLExpression

    quoted = '"' + name.replace('"', '""') + '"'
    # DuckDB would push a plain cast down to its CSV reader, which fails on text that is not a number.
    return SQLExpression(f"TRY_CAST(trim({quoted}) AS DOUBLE)")


def _unreadable(path: str | Path, error: Exception) -> InvalidInput:
    first = str(error).strip().splitlines()[0]
    return InvalidInput(f"{path} cannot be read: {first}")
