"""Tables in SQLite databases, counted by SQLite, which comes with Python.

Databases are untrusted: they are opened for reading only, and columns are looked up before a query names them, because
SQLite reads the name of a column that does not exist as a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..errors import InvalidInput, UnknownName, escaped
from ..progress import watch
from .frames import MOST_ROWS, Counted, Cuts, gathered, level
from .sources import Source, unreadable
from .tables import identifier, unknown_column

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["count_database", "first_database_rows", "opened"]

# How many steps SQLite takes between two looks at whether Ctrl-C was pressed.
_STEPS = 100_000
# Generated columns are columns, too; hidden ones are the arguments of virtual tables.
_COLUMNS = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1"
# The largest value or row, in bytes; SQLite itself would allow a billion.
_LARGEST = 64 * 2**20


def count_database(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns of a table; a text with cuts that is no number is missing."""
    path = source.files[0]
    with opened(path) as connection:
        table, names = _described(connection, path, source.table)
        for name in columns:
            if name not in names:
                raise unknown_column(name, names)
        chosen = []
        for i, name in enumerate(columns):
            if i in cuts:
                connection.create_function(f"evenhand_level{i}", 1, _leveller(cuts[i]), deterministic=True)
            # The column may have been declared to ignore case.
            chosen.append(
                f"evenhand_level{i}({identifier(name)})" if i in cuts else f"{identifier(name)} COLLATE BINARY"
            )
        at = ", ".join(str(i) for i in range(1, len(columns) + 1))
        sql = f"SELECT {', '.join(chosen)}, count(*) FROM {identifier(table)} GROUP BY {at} LIMIT {MOST_ROWS + 1}"
        with watch(f"counting {path.name}", lambda: -1.0):
            return Counted(gathered(connection.execute(sql)), None, {})


def first_database_rows(source: Source, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns of a table, and its first rows."""
    with opened(source.files[0]) as connection:
        table, names = _described(connection, source.files[0], source.table)
        chosen = ", ".join(identifier(name) for name in names)
        return names, connection.execute(f"SELECT {chosen} FROM {identifier(table)} LIMIT ?", [most]).fetchall()


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """A connection that only reads, whose errors are one sentence."""
    import sqlite3

    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.set_progress_handler(lambda: 0, _STEPS)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
            yield connection
    except sqlite3.Error as error:
        # What Ctrl-C raises in a function that SQLite calls does not come through.
        if str(error) in ("interrupted", "user-defined function raised exception"):
            raise KeyboardInterrupt from None
        raise unreadable(path, error) from None


def _described(connection: Connection, path: Path, table: str | None) -> tuple[str, list[str]]:
    """The name of the table and those of its columns."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    tables = [name for (name,) in found if not name.startswith("sqlite_")]
    if table is None:
        if len(tables) != 1:
            known = f": {', '.join(tables)}" if tables else ""
            raise InvalidInput(
                f"{escaped(path)} must have one table, or {escaped(path.name)}?table=NAME must say which; it has "
                f"{len(tables)}{escaped(known)}"
            )
        table = tables[0]
    elif table not in tables:
        raise UnknownName.among("table", table, tables)
    return table, [name for (name,) in connection.execute(_COLUMNS, [table])]


def _leveller(cuts: tuple[float, ...]) -> Callable[[Any], int | None]:
    def found(value: Any) -> int | None:
        if isinstance(value, str):
            value = value.strip() if value.isascii() else ""
        try:
            return None if value is None or isinstance(value, bytes) else level(float(value), cuts)
        except ValueError:
            return None

    return found
