"""Files as they come: columns are matched by name, quotes are those of RFC 4180, and nothing else is opened."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import evenhand as eh
from evenhand.tabulate import Tally, files, first_rows, tabulate

COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "yhat", "groups": "g"}
TAB = "\t"
ROWS = "y,yhat,g\n1,0,A\n0,0,A\n1,1,B\n0,1,B\n"


def cells(data: Any, **columns: Any) -> dict[Any, tuple[float, ...]]:
    """The cells of each group; of several columns, by the tuple of their values."""
    tally: Tally = tabulate(data, **COLUMNS | columns)
    return {key[0] if len(key) == 1 else key: cm.cells for key, cm in tally.cells.items()}


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(data: Any, folder: Path, **columns: Any) -> str:
    with pytest.raises(eh.EvenhandError) as found:
        tabulate(data, **COLUMNS | columns)
    return str(found.value).replace(f"{folder}/", "")


EXPECTED = {"A": (0, 1, 0, 1), "B": (1, 0, 1, 0)}


def test_the_name_of_a_folder_is_no_column_of_a_csv_file(tmp_path: Path) -> None:
    path = written(tmp_path / "yhat=1" / "d.csv", ROWS)
    assert cells(path) == EXPECTED
    assert cells(str(tmp_path / "*" / "*.csv")) == EXPECTED
    assert first_rows(path, 1) == (["y", "yhat", "g"], [("1", "0", "A")])


def test_the_name_of_a_folder_is_no_column_of_a_single_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "yhat=1" / "d.parquet"
    path.parent.mkdir()
    pl.DataFrame({"y": [1, 0, 1, 0], "yhat": [0, 0, 1, 1], "g": list("AABB")}).write_parquet(path)
    assert cells(path) == EXPECTED


def test_folders_that_partition_a_table_are_a_column_of_text(tmp_path: Path) -> None:
    for g, y in (("007", [1, 0]), ("7", [0, 1])):
        (tmp_path / f"g={g}").mkdir()
        pl.DataFrame({"y": y, "yhat": [1, 1]}).write_parquet(tmp_path / f"g={g}" / "d.parquet")
    expected = {"007": (1, 0, 1, 0), "7": (1, 0, 1, 0)}
    assert cells(tmp_path) == expected
    assert cells(str(tmp_path / "*" / "d.parquet")) == expected


def test_a_column_of_both_the_files_and_the_folders_is_refused(tmp_path: Path) -> None:
    for yhat in (0, 1):
        (tmp_path / f"yhat={yhat}").mkdir()
        pl.DataFrame({"y": [1, 0], "yhat": [1, 0], "g": ["A", "B"]}).write_parquet(
            tmp_path / f"yhat={yhat}" / "d.parquet"
        )
    assert refusal(tmp_path, tmp_path.parent) == (
        f"{tmp_path.name} has the column 'yhat' twice, in the files and in the names of folders (yhat=0); rename one "
        "of them"
    )
    above = tmp_path / "yhat=0"
    assert cells(above) == {"A": (1, 0, 0, 0), "B": (0, 0, 0, 1)}


def test_the_columns_of_several_csv_files_are_matched_by_name(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "y,yhat,g\n1,0,A\n0,0,A\n")
    written(tmp_path / "2.csv", "yhat;y;more;g\n1;1;x;B\n1;0;x;B\n")
    assert cells(str(tmp_path / "*.csv")) == EXPECTED


def test_a_file_without_a_column_that_the_others_have_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "y,yhat,g\n1,0,A\n")
    written(tmp_path / "2.csv", "y,prediction,g\n1,0,A\n")
    assert refusal(str(tmp_path / "*.csv"), tmp_path) == (
        "2.csv must have the column 'yhat', as other files have; got y, prediction, g"
    )
    for i in (1, 2):
        pl.read_csv(tmp_path / f"{i}.csv").write_parquet(tmp_path / f"{i}.parquet")
    assert refusal(tmp_path, tmp_path) == (
        "2.parquet must have the column 'yhat', as other files have; got y, prediction, g"
    )
    assert refusal(tmp_path, tmp_path, y_true="z").startswith("no column is called 'z'; known: y, yhat, g")


def test_a_later_parquet_file_is_not_rounded_to_the_type_of_the_first(tmp_path: Path) -> None:
    pl.DataFrame({"y": [1, 0], "s": [1, 0], "g": ["A", "A"]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"g": ["B", "B"], "y": [1, 0], "s": [0.9, 0.2]}).write_parquet(tmp_path / "2.parquet")
    expected = {"A": (1, 0, 0, 1), "B": (0, 1, 0, 1)}
    assert cells(tmp_path, y_pred=None, y_score="s", threshold=0.95) == expected


def test_numbers_in_one_file_and_text_in_another_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"y": [1, 0], "yhat": [1, 0], "g": [1.0, 2.0]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"y": [1, 0], "yhat": [1, 0], "g": ["1", "2"]}).write_parquet(tmp_path / "2.parquet")
    assert refusal(tmp_path, tmp_path) == (
        "'g' must have one type in all files; it contains numbers in 1.parquet and text in 2.parquet"
    )


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_quotes_that_come_late_are_quotes(ending: str, tmp_path: Path) -> None:
    content = ["y,yhat,g", *["1,1,A", "0,1,B"] * 10_500, *['"1","1","A"', '0,1,"B, ""C"""'] * 1_000, ""]
    assert cells(written(tmp_path / "d.csv", ending.join(content))) == {
        "A": (11_500, 0, 0, 0),
        "B": (0, 0, 10_500, 0),
        'B, "C"': (0, 0, 1_000, 0),
    }


def test_an_apostrophe_is_a_value(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", "y,yhat,g\n1,1,'\n0,1,A\n1,0,'\n0,0,A\n")
    assert cells(path) == {"'": (1, 1, 0, 0), "A": (0, 0, 1, 1)}


def test_decimal_commas_do_not_make_a_comma_the_separator(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", "y;yhat;g;score\n1;1;0,5;0,7\n0;1;1,5;0,8\n")
    assert cells(path) == {"0,5": (1, 0, 0, 0), "1,5": (0, 0, 1, 0)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("y,yhat,g\n1,1,A\n1,1\n", "line 3 of d.csv must have 3 values, as its header has; got 2 values"),
        ("y,yhat,g\n1,1,A,\n", "line 2 of d.csv must have 3 values, as its header has; got 4 values"),
        ('y,yhat,g\n1,1,"A\nB"\n1\n', "line 4 of d.csv must have 3 values, as its header has; got 1 value"),
        ("y,yhat,g\n" + "1,1,A\n" * 40_000 + "0,1\n",
         "line 40002 of d.csv must have 3 values, as its header has; got 2 values"),
        ("y,yhat,g,y\n1,1,A,0\n", "d.csv must have the column 'y' once; it is there 2 times"),
        ('y,yhat,g\n1,1,"A\n', "line 2 of d.csv cannot be read: unexpected end of data"),
        ('y,yhat,g\n1,1,"A"B\n', "line 2 of d.csv cannot be read: ',' expected after '\"'"),
        ('y,yhat,g\n1,"1" ,A\n', "line 2 of d.csv cannot be read: ',' expected after '\"'"),
        ("y,yhat,g\n1,1,A\n\n1,1\n", "line 4 of d.csv must have 3 values, as its header has; got 2 values"),
        ("\n\n", "d.csv has no header; there is nothing to audit"),
        ("y,yhat,g\n\n", "d.csv has no rows; there is nothing to audit"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_is_refused_with_its_line(content: str, sentence: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path / "d.csv", content), tmp_path) == sentence


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    for content in (b"y,yhat,g\n1,1,\xe9\n0,1,A\n", "y,yhat,g\n1,1,A\n".encode("utf-16")):
        assert refusal(written(tmp_path / "d.csv", content), tmp_path) == (
            "d.csv cannot be read: it is not UTF-8 text; save it as UTF-8"
        )


@pytest.mark.parametrize("name", ["*", "COLUMNS(*)", '"', "y.yhat", "evenhand_0", "'", "g g"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_may_have_any_name(name: str, kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": [1, 0], "yhat": [1, 1], name: ["A", "B"]})
    path = tmp_path / f"d.{kind}"
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    expected = {"A": (1, 0, 0, 0), "B": (0, 0, 1, 0)}
    assert cells(path, groups=name) == expected
    table = duckdb.from_arrow(frame.to_arrow())
    assert cells(table, groups=name) == expected
    scored = pl.DataFrame({"y": [1, 0], name: [0.9, 0.1], "g": ["A", "B"]})
    scored.write_csv(path) if kind == "csv" else scored.write_parquet(path)
    assert cells(path, y_pred=None, y_score=name) == {"A": (1, 0, 0, 0), "B": (0, 0, 0, 1)}


def test_a_query_on_the_connection_opens_no_other_file(tmp_path: Path) -> None:
    other = written(tmp_path / "other.csv", ROWS)
    for path in (written(tmp_path / "d[1].csv", ROWS), tmp_path / "d.parquet"):
        if path.suffix == ".parquet":
            pl.read_csv(other).write_parquet(path)
        connection, relation = files.read_file(path)
        assert len(relation.fetchall()) == 4
        with pytest.raises(duckdb.PermissionException):
            connection.execute(f"SELECT * FROM read_csv('{other}')").fetchall()
        with pytest.raises(duckdb.Error):
            connection.execute(f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'")
        with pytest.raises(duckdb.InvalidInputException):
            connection.execute("SET enable_external_access = true")
        connection.close()


def read_by_python(content: str, separator: str) -> tuple[list[str], list[list[str]]] | None:
    """What the csv module makes of a file; None if it has bad quotes, or rows of another length than the header."""
    try:
        found = list(
            csv.reader(io.StringIO(content.removeprefix("\ufeff"), newline=""), delimiter=separator, strict=True)
        )
    except csv.Error:
        return None
    header, *rows = [row for row in found if row]
    return (header, rows) if rows and all(len(row) == len(header) for row in rows) else None


def any_file(rng: random.Random) -> tuple[str, str]:
    """A small file of values that are easy to read wrongly, most of them well-formed, and its separator."""
    separator = rng.choice(",,,;\t|")
    ending = rng.choice(["\n", "\n", "\r\n", "\r"])
    width = rng.choice([1, 2, 3, 3, 4])
    texts = ["", "a", "b", "'", '"', '""', " ", " a", "a ", "\n", "\r\n", "\r", "a\nb", "a\r\nb", ",", ";", "\t", "|",
             "\\", '\\"', "#", "#a", "é", "\u2028", "0,5", "NULL", "a,b", 'a "b" c', '" ', ' "', "\x1c",
             "\x0b"]  # fmt: skip
    careless = rng.random() < 0.2

    def value() -> str:
        text = rng.choice(texts)
        needed = any(c in text for c in f'{separator}"\r\n')
        if careless and rng.random() < 0.1:
            return text
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if needed or rng.random() < 0.2 else text

    lines = [separator.join(f"c{i}" if rng.random() < 0.8 else f'"c{i}"' for i in range(width))]
    for _ in range(rng.choice([1, 2, 3, 5, 40])):
        short = careless and rng.random() < 0.05
        lines.append(separator.join(value() for _ in range(width - short)))
        if rng.random() < 0.05:
            lines.append("")
        if careless and rng.random() < 0.05:
            lines[-1] += rng.choice(["\n", "\r", "\r\n"]) + lines[-1]
    content = ending.join(lines) + rng.choice([ending, ""])
    return rng.choice(["", "", "", "\ufeff"]) + content, separator


@pytest.mark.parametrize("seed", range(3))
def test_files_are_read_as_the_csv_module_reads_them(seed: int, tmp_path: Path) -> None:
    """On 1,000 small files per seed: the same rows and counts, or both refuse."""
    rng = random.Random(seed)
    wanted: dict[Path, Counter[Any]] = {}
    for i in range(1_000):
        content, separator = any_file(rng)
        expected = read_by_python(content, separator)
        folder = tmp_path / ("refused" if expected is None else f"width{len(expected[0])}")
        name = f"{i}.{'tsv' if separator == TAB else 'csv'}{'.gz' if i % 10 == 0 else ''}"
        path = written(folder / name, gzip.compress(content.encode(), 1) if i % 10 == 0 else content.encode())
        if expected is None:
            with pytest.raises(eh.InvalidInput):
                print(repr(content), files.count_file(path, ["c0"], {}))
            continue
        header, rows = expected
        if len(header) == 1 and any(sign in row[0] for row in rows for sign in ",;\t|"):
            path.unlink()  # nothing says which separator this file has
            continue
        wanted[path] = Counter(tuple(value or None for value in row) for row in rows)
        found = [tuple(value or None for value in row) for row in rows[:3]]
        assert first_rows(path, 3) == (header, found), content
    assert len(wanted) > 800
    for folder in {path.parent for path in wanted}:
        inside = [path for path in wanted if path.parent == folder]
        header = [f"c{i}" for i in range(int(folder.name[-1]))]
        if files.count_file(str(folder / "*"), header, {}).rows != sum((wanted[p] for p in inside), Counter()):
            for path in inside:
                assert files.count_file(path, header, {}).rows == wanted[path], path.read_bytes()


def test_line_breaks_in_quotes_are_counted_in_large_files_too(tmp_path: Path) -> None:
    """Large enough for DuckDB to read in several parts."""
    record = '1,0,"A\nB,1,1\n\n""C"""\n0,1,A\n'
    path = written(tmp_path / "d.csv", "y,yhat,g\n" + record * 600_000)
    assert cells(path) == {'A\nB,1,1\n\n"C"': (0, 600_000, 0, 0), "A": (0, 0, 600_000, 0)}
