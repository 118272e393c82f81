"""Files as relations of DuckDB, which counts them without loading them.

Files are untrusted: no extension of DuckDB is downloaded, only the files that were asked for can be opened, and an
error of DuckDB becomes one sentence.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..cells import MISSING_WORDS
from ..errors import InvalidInput, brief
from ..progress import watch
from .frames import Cuts, count_frame
from .sources import unreadable
from .tables import identifier, unused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["connected", "count_relation", "first_of", "literal", "no_number", "pattern", "refusals"]

# What DuckDB may use; each of its threads needs some.
_MEMORY, _MOST_THREADS = "1500MB", 8


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
    # DuckDB tracks its progress but does not print it; `count_relation` polls it.
    connection.execute("SET enable_progress_bar = true")
    allowed = ", ".join(literal(text) for file in files for text in {str(file.absolute()), pattern(file)})
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Errors of DuckDB as one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise unreadable(path, error) from None


def pattern(path: Path) -> str:
    """The path as a pattern for DuckDB that matches nothing else, even if it contains brackets or asterisks."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def count_relation(
    connection: DuckDBPyConnection, relation: DuckDBPyRelation, path: Path, columns: Sequence[str], cuts: Cuts
) -> Counter[tuple[Any, ...]]:
    """Count the combinations of values in some columns; texts with cuts are read as numbers."""
    numbers, names = _with_numbers(_without_zones(relation), columns, cuts)
    with watch(f"counting {path.name or path}", connection.query_progress):
        rows = count_frame(numbers, names, cuts).rows
    for i in cuts:
        if names[i] != columns[i] and any(row[i] is None for row in rows):
            _refuse_other_text(relation, columns[i])
    return rows


def first_of(relation: DuckDBPyRelation, most: int) -> list[tuple[Any, ...]]:
    """The first rows of a relation."""
    return _without_zones(relation.limit(most)).fetchall()


def _without_zones(relation: DuckDBPyRelation) -> DuckDBPyRelation:
    """The relation with times that have a zone as text; DuckDB needs pytz to fetch them."""
    types = {identifier(name): str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    return relation.project(
        ", ".join(f"CAST({c} AS VARCHAR) AS {c}" if "TIME ZONE" in kind else c for c, kind in types.items())
    )


def _with_numbers(relation: DuckDBPyRelation, columns: Sequence[str], cuts: Cuts) -> tuple[DuckDBPyRelation, list[str]]:
    """The relation with the texts of columns that have cuts as numbers, and the names of the columns in it."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    names, added = list(columns), []
    for i in cuts:
        if types[columns[i]] == "VARCHAR":
            names[i] = unused(f"evenhand_number{i}", types)
            added.append(f"{_number(columns[i])} AS {identifier(names[i])}")
    return (relation.project(", ".join(["*", *added])) if added else relation), names


def _refuse_other_text(relation: DuckDBPyRelation, name: str) -> None:
    """A text that is neither a number nor missing is not left out in silence."""
    words = ", ".join(literal(word) for word in ("", *MISSING_WORDS))
    column = identifier(name)
    other = relation.filter(
        f"{column} IS NOT NULL AND {_number(name)} IS NULL AND lower(trim({column})) NOT IN ({words})"
    )
    for (text,) in other.project(column).limit(1).fetchall():
        raise no_number(name, text)


def _number(name: str) -> str:
    """The column as numbers, in SQL; other text counts as missing."""
    # DuckDB would push a plain cast down to its CSV reader, which fails on text that is not a number.
    return f"TRY_CAST(trim({identifier(name)}) AS DOUBLE)"


def no_number(name: str, text: str) -> InvalidInput:
    """The error for a text among the numbers of a column."""
    return InvalidInput(f"{brief(name)} must contain numbers; got {brief(text, 60)}")
