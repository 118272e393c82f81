"""Tables of SQLite databases, which are only read, and can be interrupted."""

from __future__ import annotations

import hashlib
import signal
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from decisions import CELLS, TABLE, cells, refusal

import evenhand as eh
from evenhand.tabulate import databases, files, first_rows


def database(path: Path, *tables: str, declared: str = '"y", "p", "g"', rows: Any = None) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in tables:
            quoted = '"' + table.replace('"', '""') + '"'
            connection.execute(f"CREATE TABLE {quoted} ({declared})")
            found = rows or list(zip(*TABLE.values(), strict=True))
            connection.executemany(f"INSERT INTO {quoted} VALUES ({', '.join('?' * len(found[0]))})", found)
    return path


@pytest.mark.parametrize("name", ["people.db", "people.sqlite", "people.sqlite3", "a ?#%.db"])
def test_a_table_of_a_sqlite_database(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = database(tmp_path / name, "decisions")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert cells(path) == CELLS
    assert cells(f"{path}?table=decisions") == CELLS
    assert files.count_file(path, ["g"], {}).source == {
        "kind": "file",
        "name": name,
        "files": 1,
        "size": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "format": "sqlite",
    }
    assert first_rows(path, 2) == (["y", "p", "g"], [(1, 1, "a"), (0, 1, "a")])
    assert files.input_files(f"{path}?table=decisions") == [path]


@pytest.mark.parametrize("table", ["b", 'the "b"', "*", "x\ny", "b?table=c", "b; DROP TABLE a", "sqlite", ""])
def test_of_several_tables_one_is_named(table: str, tmp_path: Path) -> None:
    path = database(tmp_path / "d.db", "a", table)
    assert cells(f"{path}?table={table}") == CELLS
    assert files.count_file(f"{path}?table={table}", ["g"], {}).source["name"] == f"d.db?table={table}"


@pytest.mark.slow
def test_a_database_that_cannot_be_audited_is_refused(tmp_path: Path) -> None:
    path = database(tmp_path / "d.db", "a", "b")
    short = str(path)
    assert refusal(path) == f"{short} must have one table, or d.db?table=NAME must say which; it has 2: a, b"
    assert refusal(f"{path}?table=c") == "no table is called 'c'; known: a, b"
    assert refusal(f"{path}?table=a", groups="G") == "no column is called 'G'; did you mean 'g'?"
    assert refusal(f"{path}?table=a", groups="rowid") == "no column is called 'rowid'; known: y, p, g"
    (tmp_path / "none.db").write_text("not a database, though it is long enough to have been one" * 10)
    assert refusal(tmp_path / "none.db") == f"{tmp_path}/none.db cannot be read: file is not a database"
    assert refusal(tmp_path / "missing.db?table=a") == f"there is no file {tmp_path}/missing.db"
    assert refusal([path, path]) == "data must be one SQLite database; got 2"
    many = database(tmp_path / "many.db", "a", rows=[(i % 2, 1, i) for i in range(200_001)])
    assert refusal(many).startswith("the columns have more than 200,000 distinct combinations of values")


def test_sqlite_neither_folds_case_nor_reads_texts_as_zero(tmp_path: Path) -> None:
    """A column may be declared to ignore case, and any value may be of any type."""
    rows = [
        (1, "0.9", "a"),
        (0, 0.5, "A"),
        (1, "n/a", "a"),
        (0, None, "A"),
        (1, b"1", "a"),
        (1, 1, "a"),
        (1, "１", "A"),
    ]
    path = database(tmp_path / "d.db", "t", declared="y, s, g TEXT COLLATE NOCASE", rows=rows)
    found = files.count_file(path, ["g", "s"], {1: (0.5, 0.9)})
    assert found.rows == Counter({("a", 2): 2, ("A", 1): 1, ("a", None): 2, ("A", None): 2})


@pytest.mark.parametrize("cuts", [{}, {0: (0.5,)}])
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timers")
def test_counting_a_database_can_be_interrupted(cuts: Any, tmp_path: Path) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    with closing(sqlite3.connect(tmp_path / "d.db")) as connection:
        connection.execute(
            "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM n) SELECT x FROM n"
        )
    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            files.count_file(tmp_path / "d.db", ["x"], cuts)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_database_is_only_read(tmp_path: Path) -> None:
    path = database(tmp_path / "d.db", "t")
    before = path.read_bytes()
    path.chmod(0o400)
    assert cells(path) == CELLS
    with (
        pytest.raises(eh.errors.InvalidInput, match="attempt to write a readonly database"),
        databases.opened(path) as opened,
    ):
        opened.execute("DELETE FROM t")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["d.db"]


def test_what_is_not_yet_in_the_database_is_part_of_its_digest(tmp_path: Path) -> None:
    path = database(tmp_path / "d.db", "t")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        first = files.count_file(path, ["g"], {})
        with writer:
            writer.execute("INSERT INTO t VALUES (1, 1, 'new')")
        second = files.count_file(path, ["g"], {})
        assert second.rows - first.rows == Counter({("new",): 1})
        assert (second.source["files"], second.source["sha256"] != first.source["sha256"]) == (2, True)


def test_generated_columns_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        made = "y, s, g, stored AS (s) STORED, virtual AS (s) VIRTUAL"
        connection.execute(f"CREATE TABLE t ({made})")
        connection.executemany("INSERT INTO t (y, s, g) VALUES (?, ?, ?)", list(zip(*TABLE.values(), strict=True)))
    for column in ("stored", "virtual"):
        a = eh.audit(path, y_true="y", y_pred=column, groups="g", metrics="acc")
        assert {(row.group,): row.cells for row in a.rows} == CELLS
    assert first_rows(path, 1)[0] == ["y", "s", "g", "stored", "virtual"]
