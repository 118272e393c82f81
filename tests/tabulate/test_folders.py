"""Folders of Parquet files: what is data in them, what is not, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decisions import CELLS, TABLE, cells, refusal

import evenhand as eh
from evenhand.tabulate import delimited, files, relations


def part(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(TABLE).write_parquet(path)
    return path


def times(n: int) -> dict[Any, Any]:
    return {group: tuple(n * cell for cell in cm) for group, cm in CELLS.items()}


@pytest.mark.parametrize(
    "name",
    [
        "_temporary/0/task/b.parquet",
        ".ipynb_checkpoints/a-checkpoint.parquet",
        ".b.parquet",
        "_b.parquet",
        "part=x/_b.parquet",
        "_metadata",
        "notes.csv",
    ],
)
def test_what_begins_with_an_underscore_or_a_dot_or_has_another_ending_is_not_data(name: str, tmp_path: Path) -> None:
    part(tmp_path / ("part=x/a.parquet" if "=" in name else "a.parquet"))
    part(tmp_path / name)
    a = eh.audit(tmp_path, y_true="y", y_pred="p", groups="g", metrics="acc")
    assert (a.n, a.record["source"]["files"], a.record["source"]["skipped"]) == (5, 1, 1)
    assert [str(f) for f in a.findings if f.kind == "skipped-files"] == [
        "note EH307: 1 file in the folder was read, and 1 skipped, whose names begin with _ or . or are not those of "
        "Parquet files"
    ]
    assert "1 file (1 other file in the folder skipped), 5 rows" in a.to_html()


@pytest.mark.parametrize("name", ["b.pq", "b.PARQUET", "b.Pq", "part-00000", "_part=x/b.parquet", "x/y/b.parquet"])
def test_every_accepted_ending_and_part_files_without_one_are_data(name: str, tmp_path: Path) -> None:
    part(tmp_path / ("_part=x/a.parquet" if "=" in name else "a.parquet"))
    part(tmp_path / name)
    (tmp_path / "README").write_text("not a part")
    assert cells(tmp_path) == times(2)
    source = files.count_file(tmp_path, ["g"], {}).source
    assert (source["files"], source["skipped"]) == (2, 1)


def test_linked_folders_and_files_are_read(tmp_path: Path) -> None:
    part(tmp_path / "table" / "a.parquet")
    part(tmp_path / "elsewhere" / "b.parquet")
    part(tmp_path / "c.parquet")
    (tmp_path / "table" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "table" / "c.parquet").symlink_to(tmp_path / "c.parquet")
    assert cells(tmp_path / "table") == times(3)


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_the_same_file_is_not_counted_twice(make: Any, tmp_path: Path) -> None:
    part(tmp_path / "a.parquet")
    make(tmp_path / "a.parquet", tmp_path / "b.parquet")
    sentence = f"data must be distinct files; got {tmp_path}/a.parquet and {tmp_path}/b.parquet, a link to it"
    for given in (tmp_path, f"{tmp_path}/*.parquet", [tmp_path / "a.parquet", tmp_path / "b.parquet"]):
        assert refusal(given) == sentence


def test_a_link_to_a_folder_that_is_read_already_is_refused(tmp_path: Path) -> None:
    part(tmp_path / "x" / "a.parquet")
    (tmp_path / "x" / "again").symlink_to(tmp_path)
    assert refusal(tmp_path) == (
        f"the folder {tmp_path} must contain every file once; {tmp_path}/x/again and {tmp_path} are the same folder, "
        "so remove the link"
    )


def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    part(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to(tmp_path / "none.parquet")
    assert refusal(tmp_path) == f"{tmp_path}/b.parquet cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("log", "name", "passed"),
    [
        ("_delta_log/00000000000000000000.json", "a Delta table", "polars.scan_delta({})"),
        ("metadata/v1.metadata.json", "an Iceberg table", "polars.scan_iceberg({})"),
        (".hoodie/hoodie.properties", "a Hudi table", "spark.read.format('hudi').load({})"),
    ],
)
def test_tables_that_keep_removed_files_are_refused(log: str, name: str, passed: str, tmp_path: Path) -> None:
    """Whichever of their folders is named; a single file of one is what was asked for."""
    table = tmp_path / "tables" / "people"
    single = part(table / "data" / "part=x" / "a.parquet")
    part(table / "data" / "part=x" / "b.parquet")
    (table / log).parent.mkdir()
    (table / log).write_text("{}")
    sentence = (
        f"{table} is {name}, whose folder may contain files that are no longer part of the table; pass it as a frame, "
        f"such as {passed.format(repr(str(table)))}"
    )
    for given in (table, table.parent, single.parent, f"{table}/**/*.parquet"):
        assert refusal(given) == sentence
    assert cells(single) == CELLS


@pytest.mark.parametrize("how", ["append", "replace", "rewrite"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded SHA-256 would be that of other rows than were counted."""
    path = tmp_path / "d.csv"
    path.write_text("g,y,p\n" + "a,1,1\nb,0,1\n" * 20)
    counted = relations.count_relation

    def changing(*given: Any) -> Any:
        rows = counted(*given)
        if how == "append":
            with path.open("a") as file:
                file.write("a,1,1\n" * 500)
        elif how == "rewrite":
            path.write_text("g,y,p\n" + "a,0,1\nb,0,1\n" * 20)
            os.utime(path, ns=(1, 1))
        else:
            other = tmp_path / "other"
            other.write_bytes(path.read_bytes())
            other.replace(path)
        return rows

    monkeypatch.setattr(delimited, "count_relation", changing)
    assert refusal(path) == f"{path} changed while it was read; audit it when nobody writes to it, or a copy"
