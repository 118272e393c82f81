"""Feather and Arrow files, of the format for files or for streams."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from decisions import CELLS, TABLE, cells, refusal

from evenhand.tabulate import counted, first_rows


@pytest.mark.parametrize("name", ["d.feather", "d.arrow", "D.ARROW"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_arrow_files(name: str, stream: bool, compression: str | None, tmp_path: Path) -> None:
    table = pa.table(TABLE | {"s": [0.9, 0.5, 0.1, 0.2, None]})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(tmp_path / name), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=2)
    assert cells(tmp_path / name) == CELLS
    found = counted(tmp_path / name, ["g", "g"][:1], {"y_score": "s", "again": "g"}, cuts={"y_score": [0.5]})
    assert found.rows == {("a", 1, "a"): 2, ("b", 0, "b"): 2, ("b", None, "b"): 1}
    assert found.source["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert (found.source["format"], found.source["name"]) == ("arrow", name)
    assert first_rows(tmp_path / name, 3) == (
        ["y", "p", "g", "s"],
        [(1, 1, "a", 0.9), (0, 1, "a", 0.5), (1, 0, "b", 0.1)],
    )
    assert refusal(tmp_path / name, groups="h") == "no column is called 'h'; known: y, p, g, s"
    assert refusal(tmp_path / name, y_pred=None, y_score="g") == "'g' must contain numbers; it contains String"


def test_batches_are_counted_in_blocks(tmp_path: Path) -> None:
    """Of 262,144 rows, of which a file has one and a half in batches of another size."""
    times = 80_000
    table = pa.table({name: values * times for name, values in TABLE.items()})
    with pa.ipc.new_stream(str(tmp_path / "d.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=70_001)
    assert cells(tmp_path / "d.arrow") == {group: tuple(times * n for n in cm) for group, cm in CELLS.items()}


def test_columns_that_are_there_twice_are_refused(tmp_path: Path) -> None:
    twice = pa.table([[1], [2], ["a"], ["b"]], names=["y", "p", "g", "g"])
    with pa.ipc.new_file(str(tmp_path / "d.arrow"), twice.schema) as writer:
        writer.write_table(twice)
    assert refusal(tmp_path / "d.arrow") == f"{tmp_path}/d.arrow must have the column 'g' once; it is there 2 times"


def test_arrow_files_without_pyarrow_or_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.feather").write_text("not Arrow at all")
    assert refusal(tmp_path / "d.feather").startswith(f"{tmp_path}/d.feather cannot be read: ")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert refusal(tmp_path / "d.feather") == (
        "reading d.feather needs pyarrow; install it, or save the table as Parquet"
    )


def test_arrow_files_with_different_columns_are_refused(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_ipc(tmp_path / "1.arrow")
    pl.DataFrame(TABLE | {"p": list("01010")}).write_ipc(tmp_path / "2.arrow")
    assert refusal(f"{tmp_path}/*.arrow").replace(f"{tmp_path}/", "") == (
        "'p' must have one type in all files; it contains numbers in 1.arrow and text in 2.arrow"
    )
    pl.DataFrame({"y": [1], "g": ["a"]}).write_ipc(tmp_path / "2.arrow")
    assert refusal(f"{tmp_path}/*.arrow").replace(f"{tmp_path}/", "") == (
        "2.arrow must have the column 'p', as other files have; got y, g"
    )
