"""Parquet files: columns are matched by name, types widened, and folders may be a column."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from decisions import cells, refusal

from evenhand.tabulate import counted

EXPECTED = {("A",): (0, 1, 0, 1), ("B",): (1, 0, 1, 0)}


def test_the_name_of_a_folder_is_no_column_of_a_single_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "p=1" / "d.parquet"
    path.parent.mkdir()
    pl.DataFrame({"y": [1, 0, 1, 0], "p": [0, 0, 1, 1], "g": list("AABB")}).write_parquet(path)
    assert cells(path) == EXPECTED


def test_folders_that_partition_a_table_are_a_column_of_text(tmp_path: Path) -> None:
    for g, y in (("007", [1, 0]), ("7", [0, 1])):
        (tmp_path / f"g={g}").mkdir()
        pl.DataFrame({"y": y, "p": [1, 1]}).write_parquet(tmp_path / f"g={g}" / "d.parquet")
    expected = {("007",): (1, 0, 1, 0), ("7",): (1, 0, 1, 0)}
    assert cells(tmp_path) == expected
    assert cells(str(tmp_path / "*" / "d.parquet")) == expected
    pl.DataFrame({"y": [1], "p": [1]}).write_parquet(tmp_path / "d.parquet")
    assert refusal(tmp_path) == f"{tmp_path}/d.parquet must be in folders called g=…, as other files are"


def test_a_column_of_both_the_files_and_the_folders_is_refused(tmp_path: Path) -> None:
    for p in (0, 1):
        (tmp_path / f"p={p}").mkdir()
        pl.DataFrame({"y": [1, 0], "p": [1, 0], "g": ["A", "B"]}).write_parquet(tmp_path / f"p={p}" / "d.parquet")
    assert refusal(tmp_path) == (
        f"{tmp_path} has the column 'p' twice, in the files and in the names of folders (p=0); rename one of them"
    )
    assert cells(tmp_path / "p=0") == {("A",): (1, 0, 0, 0), ("B",): (0, 0, 0, 1)}


def test_a_file_without_a_column_that_the_others_have_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"y": [1], "p": [0], "g": ["A"]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"y": [1], "prediction": [0], "g": ["A"]}).write_parquet(tmp_path / "2.parquet")
    assert refusal(tmp_path) == (
        f"{tmp_path}/2.parquet must have the column 'p', as other files have; got y, prediction, g"
    )
    assert refusal(tmp_path, y_true="z") == "no column is called 'z'; known: y, p, g"


def test_a_later_file_is_not_rounded_to_the_type_of_the_first(tmp_path: Path) -> None:
    pl.DataFrame({"s": [1, 0], "g": ["A", "A"]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"g": ["B", "B"], "s": [0.9, 0.2]}).write_parquet(tmp_path / "2.parquet")
    found = counted(tmp_path, "g", {"y_score": "s"}, cuts={"y_score": [0.95]})
    assert found.rows == {("A", 0): 1, ("A", 1): 1, ("B", 0): 2}


def test_numbers_in_one_file_and_text_in_another_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"y": [1, 0], "p": [1, 0], "g": [1.0, 2.0]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"y": [1, 0], "p": [1, 0], "g": ["1", "2"]}).write_parquet(tmp_path / "2.parquet")
    assert refusal(tmp_path) == (
        f"'g' must have one type in all files; it contains numbers in {tmp_path}/1.parquet and text in "
        f"{tmp_path}/2.parquet"
    )


def test_times_with_a_zone_are_groups(tmp_path: Path) -> None:
    times = pl.DataFrame({"when": [f"2024-01-0{1 + i % 2}T10:00:00" for i in range(8)]})
    times.with_columns(pl.col("when").str.to_datetime(time_zone="UTC")).write_parquet(tmp_path / "z.parquet")
    assert list(counted(tmp_path / "z.parquet", "when", {}).rows.values()) == [4, 4]


def test_a_file_that_is_not_what_its_name_says(tmp_path: Path) -> None:
    (tmp_path / "d.parquet").write_text("not parquet at all")
    assert refusal(tmp_path / "d.parquet").startswith(f"{tmp_path}/d.parquet cannot be read: ")
