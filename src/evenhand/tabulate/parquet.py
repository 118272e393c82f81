"""Parquet files, counted by DuckDB; several are one table, whose columns are matched by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, brief, escaped
from .frames import Counted, Cuts
from .relations import connected, count_relation, first_of, literal, pattern, refusals
from .sources import Source, check_columns, check_types

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["count_parquet", "first_parquet_rows"]


def count_parquet(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    with _opened(source, columns) as (connection, relation):
        return Counted(count_relation(connection, relation, source.path, columns, cuts), None, {})


def first_parquet_rows(source: Source, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns, and the first rows."""
    with _opened(source, None) as (_, relation):
        return list(relation.columns), first_of(relation, most)


@contextmanager
def _opened(source: Source, columns: Sequence[str] | None) -> Iterator[tuple[DuckDBPyConnection, DuckDBPyRelation]]:
    """The files as one relation, with columns of a type that holds all values."""
    listed = f"[{', '.join(literal(pattern(file)) for file in source.files)}]"
    folders = _partitions(source)
    # DuckDB takes the names of all folders above a file into account, or none.
    above = _assigned(source.root.absolute()) if folders else {}
    with refusals(source.path), connected(source.files) as connection:
        types = _types(connection, source.files, listed)
        inside = {name for there in types.values() for name in there}
        both = sorted((set(folders) & (inside | set(above))) | (set(above) & inside))
        if both:
            raise InvalidInput(
                f"{escaped(source.path)} has the column {brief(both[0])} twice, in the files and in the names of "
                f"folders ({escaped((above | folders)[both[0]])}); rename one of them"
            )
        check_columns({file: (*there, *folders) for file, there in types.items()}, columns)
        check_types(types, columns or ())
        hive = "hive_partitioning = true, hive_types_autocast = false" if folders else "hive_partitioning = false"
        yield connection, connection.sql(f"SELECT * FROM read_parquet({listed}, union_by_name = true, {hive})")


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
            raise InvalidInput(f"{escaped(file)} must be in folders called {escaped(wanted)}, as other files are")
    return named[0]


def _assigned(folder: Path) -> dict[str, str]:
    """The columns that the names of nested folders give: ``year`` for ``year=2020``."""
    return {part.partition("=")[0]: part for part in folder.parts if "=" in part}


def _types(connection: DuckDBPyConnection, files: list[Path], listed: str) -> dict[Path, dict[str, str]]:
    """The columns of each file with their types; files with the same schema are described once."""
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
