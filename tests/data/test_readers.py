"""Text and Parquet files as they come: read as their writers meant them, or refused with the line that is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from decisions import TABLE, cells, refusal, write_csv
from engines import pa, pl

import evenhand as eh
from evenhand.data import count_rows, files, first_rows, readers

TAB = "\t"
ROWS = "y,p,g\n1,0,A\n0,0,A\n1,1,B\n0,1,B\n"
EXPECTED = {("A",): (0, 1, 0, 1), ("B",): (1, 0, 1, 0)}


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"race,y,p\r\nA,1,1\r\nB,0,1\r\nA,0,0\r\n",
        b"\xef\xbb\xbfrace,y,p\nA,1,1\nB,0,1\nA,0,0\n",
        b"race;y;p\nA;1;1\nB;0;1\nA;0;0\n",
        b'"race","y","p"\n"A","1","1"\n"B","0","1"\n"A","0","0"\n',
        b"race\ty\tp\nA\t1\t1\nB\t0\t1\nA\t0\t0\n",
        b"race|y|p\nA|1|1\nB|0|1\nA|0|0",
    ],
    ids=["CRLF", "BOM", "semicolons", "quotes", "tabs", "bars"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_csv_files_as_they_come(content: bytes, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("data.csv.gz" if packed else "data.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert cells(path, groups="race") == {("A",): (1, 0, 0, 1), ("B",): (0, 0, 1, 0)}


def test_a_tsv_file_is_separated_by_tabs_whatever_else_it_contains(tmp_path: Path) -> None:
    path = written(tmp_path / "data.tsv", "g;,\ty;,\na;b,\t1;,\nc;d,\t0;,\n")
    assert count_rows(path, "g;,", {"y_true": "y;,"}).rows == {("a;b,", "1;,"): 1, ("c;d,", "0;,"): 1}


def test_a_text_column_whose_first_rows_look_like_numbers(tmp_path: Path) -> None:
    """A guess from the first rows would fail on the last."""
    path = written(tmp_path / "data.csv", "g,y,p\n" + "1,0,1\n" * 30_000 + "one,1,1\n")
    assert list(cells(path)) == [("1",), ("one",)]


def test_a_group_called_na_is_a_group_and_an_empty_one_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "data.csv", "g,y\nNA,1\n,0\nEU,0\n")
    assert list(count_rows(path, "g", {}).rows) == [("EU",), ("NA",), (None,)]


def test_rows_that_begin_with_a_hash_are_rows(tmp_path: Path) -> None:
    lines = "".join(f"{'#' * (i % 5 == 0)}{i},{i % 2},1,{'ab'[i % 3 == 0]}\n" for i in range(90))
    path = written(tmp_path / "data.csv", f"id,y,p,g\n{lines}")
    assert count_rows(path, "g", {"y_true": "y"}).source["rows"] == 90


def test_the_name_of_a_folder_is_no_column_of_a_csv_file(tmp_path: Path) -> None:
    path = written(tmp_path / "p=1" / "d.csv", ROWS)
    assert cells(path) == EXPECTED
    assert cells(str(tmp_path / "*" / "*.csv")) == EXPECTED
    assert first_rows(path, 1) == (["y", "p", "g"], [("1", "0", "A")])


def test_the_columns_of_several_csv_files_are_matched_by_name(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "y,p,g\n1,0,A\n0,0,A\n")
    written(tmp_path / "2.csv", "p;y;more;g\n1;1;x;B\n1;0;x;B\n")
    assert cells(str(tmp_path / "*.csv")) == EXPECTED
    written(tmp_path / "2.csv", "y,prediction,g\n1,0,A\n")
    assert refusal(str(tmp_path / "*.csv")) == (
        f"{tmp_path}/2.csv must have the column 'p', as other files have; got y, prediction, g"
    )
    assert refusal(str(tmp_path / "*.csv"), y_true="z") == "no column is called 'z'; known: y, p, g"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_quotes_that_come_late_are_quotes(ending: str, tmp_path: Path) -> None:
    content = ["y,p,g", *["1,1,A", "0,1,B"] * 10_500, *['"1","1","A"', '0,1,"B, ""C"""'] * 1_000, ""]
    assert cells(written(tmp_path / "d.csv", ending.join(content))) == {
        ("A",): (11_500, 0, 0, 0),
        ("B",): (0, 0, 10_500, 0),
        ('B, "C"',): (0, 0, 1_000, 0),
    }


def test_an_apostrophe_is_a_value(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", "y,p,g\n1,1,'\n0,1,A\n1,0,'\n0,0,A\n")
    assert cells(path) == {("'",): (1, 1, 0, 0), ("A",): (0, 0, 1, 1)}


def test_decimal_commas_do_not_make_a_comma_the_separator(tmp_path: Path) -> None:
    path = written(tmp_path / "d.csv", "y;p;g;score\n1;1;0,5;0,7\n0;1;1,5;0,8\n")
    assert cells(path) == {("0,5",): (1, 0, 0, 0), ("1,5",): (0, 0, 1, 0)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("y,p,g\n1,1,A\n1,1\n", "line 3 of d.csv must have 3 values, as its header has; got 2 values"),
        ("y,p,g\n1,1,A,x\n", "line 2 of d.csv must have 3 values, as its header has; got 4 values"),
        ('y,p,g\n1,1,"A\nB"\n1\n', "line 4 of d.csv must have 3 values, as its header has; got 1 value"),
        ("y,p,g\n" + "1,1,A\n" * 40_000 + "0,1\n",
         "line 40002 of d.csv must have 3 values, as its header has; got 2 values"),
        ('y,p,g\n1,1,"A\n', "line 2 of d.csv cannot be read: unexpected end of data"),
        ('y,p,g\n1,1,"A"B\n', "line 2 of d.csv cannot be read: ',' expected after '\"'"),
        ("y,p,g\n1,1,A\n\n1,1\n", "line 4 of d.csv must have 3 values, as its header has; got 2 values"),
        ("\n\n", "d.csv has no header; there is nothing to audit"),
        ("y,p,g\n\n", "d.csv has no rows; there is nothing to audit"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_is_refused_with_its_line(content: str, sentence: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path / "d.csv", content)).replace(f"{tmp_path}/", "") == sentence


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    for content in (b"y,p,g\n1,1,\xe9\n0,1,A\n", "y,p,g\n1,1,A\n".encode("utf-16")):
        assert refusal(written(tmp_path / "d.csv", content)) == (
            f"{tmp_path}/d.csv cannot be read: it is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8; elsewhere: "
            "iconv -f latin1 -t utf-8), or read it with pandas and its encoding= and pass the frame"
        )


def test_texts_are_the_same_numbers_to_duckdb_and_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["1e400", "-1e400", "1_000", "nan", "NaN", "inf", "-Infinity", " 1 ", "0x10", "1e", "１２", "1.", "+.5",
             ".", "True", "1__0", "++1", "1e+5", "5e-324", "1e-400", "1d", "n/a", "-", "\xa01", "0.1", "Ⅷ"]  # fmt: skip
    for text in texts:
        try:
            number = float(text if text.strip().isascii() else "?")
        except ValueError:
            number = None
        missing = text.casefold() in ("nan", "n/a")
        path = written(tmp_path / "d.csv", f"t,g\n{text},a\n0.7,a\n")
        for library in (duckdb, None):
            monkeypatch.setitem(sys.modules, "duckdb", library)
            if number is None and not missing:
                with pytest.raises(eh.errors.InvalidInput, match=r"^'t' must contain numbers; got "):
                    files.count_file(path, ["t"], {0: (0.0, 0.5, 900.0)})
                continue
            level = None if missing or number is None else sum(cut <= number for cut in (0.0, 0.5, 900.0))
            found = files.count_file(path, ["t"], {0: (0.0, 0.5, 900.0)}).rows
            assert found == Counter([(level,), (2,)]), (text, library)


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


def any_file(rng: random.Random) -> tuple[str, str, bool]:
    """A small file of values that are easy to read wrongly, its separator, and whether it may be read as it was meant.

    Most files are well-formed. In others a space may stand beside a quote, or a row may end in a separator.
    """
    separator = rng.choice(",,,;\t|")
    ending = rng.choice(["\n", "\n", "\r\n", "\r"])
    width = rng.choice([1, 2, 3, 3, 4])
    texts = ["", "a", "b", "'", '"', '""', " ", " a", "a ", "\n", "\r\n", "\r", "a\nb", "a\r\nb", ",", ";", "\t", "|",
             "\\", '\\"', "#", "#a", "é", "\u2028", "0,5", "NULL", "a,b", 'a "b" c', '" ', ' "', "\x1c",
             "\x0b", '5"', 'a"b"', "a long text, " * 6]  # fmt: skip
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
    meant = careless and re.search(rf'[ \t\v\f]"|"[ \t\v\f]|[{separator}](?=[\r\n]|$)', content)
    return rng.choice(["", "", "", "\ufeff"]) + content, separator, bool(meant)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_files_are_read_as_the_csv_module_reads_them(seed: int, tmp_path: Path) -> None:
    """On 1,000 small files per seed: the same rows and counts, or both refuse."""
    rng = random.Random(seed)
    wanted: dict[Path, Counter[Any]] = {}
    for i in range(1_000):
        content, separator, meant = any_file(rng)
        if meant:
            continue
        expected = read_by_python(content, separator)
        folder = tmp_path / ("refused" if expected is None else f"width{len(expected[0])}")
        name = f"{i}.{'tsv' if separator == TAB else 'csv'}{'.gz' if i % 10 == 0 else ''}"
        path = written(folder / name, gzip.compress(content.encode(), 1) if i % 10 == 0 else content.encode())
        if expected is None:
            with pytest.raises(eh.errors.InvalidInput):
                print(repr(content), files.count_file(path, ["c0"], {}))
            continue
        header, rows = expected
        if len(header) == 1 and any(sign in row[0] for row in rows for sign in ",;\t|"):
            path.unlink()  # nothing says which separator this file has
            continue
        wanted[path] = Counter(tuple(value or None for value in row) for row in rows)
        found = [tuple(value or None for value in row) for row in rows[:3]]
        assert first_rows(path, 3) == (header, found), content
    assert len(wanted) > 700
    for folder in {path.parent for path in wanted}:
        inside = [path for path in wanted if path.parent == folder]
        header = [f"c{i}" for i in range(int(folder.name[-1]))]
        if files.count_file(str(folder / "*"), header, {}).rows != sum((wanted[p] for p in inside), Counter()):
            for path in inside:
                assert files.count_file(path, header, {}).rows == wanted[path], path.read_bytes()


def test_line_breaks_in_quotes_are_counted_in_large_files_too(tmp_path: Path) -> None:
    """Large enough for DuckDB to read in several parts."""
    record = '1,0,"A\nB,1,1\n\n""C"""\n0,1,A\n'
    path = written(tmp_path / "d.csv", "y,p,g\n" + record * 600_000)
    assert cells(path) == {('A\nB,1,1\n\n"C"',): (0, 600_000, 0, 0), ("A",): (0, 0, 600_000, 0)}


def test_a_long_value_is_a_value(tmp_path: Path) -> None:
    """In whichever row it is; only names of columns and what no reader takes are refused."""
    path = tmp_path / "d.csv"
    rows = ["a,1,1", "b,0,1", f"{'x' * 200_000},0,0", "b,1,1", "a,0,0"] * 2
    path.write_text("g,y,p\n" + "\n".join(rows) + "\n")
    assert cells(path) == {("a",): (2, 0, 0, 2), ("b",): (2, 0, 2, 0), ("x" * 200_000,): (0, 0, 0, 2)}
    path.write_text("g,y,p\n" + f"a,{'x' * 200_000},1\n" + "\n".join(rows) + "\n")
    with pytest.raises(
        eh.errors.InvalidInput, match=r"^y_true contains text \('0', '1', 'x{59}…\) but y_pred contains "
    ):
        eh.audit(path, y_true="y", y_pred="p", groups="g")
    long = readers.LONGEST_VALUE + 1
    path.write_text(f"g,y,p\na,1,1\n{'x' * long},1,1\n")
    assert refusal(path) == (
        f"line 3 of {path} cannot be read: it has a value of more than 2,097,152 characters; leave the column out of "
        "the file"
    )


def test_lines_of_a_packed_file_that_end_in_different_ways_are_refused(tmp_path: Path) -> None:

    path = tmp_path / "d.csv.zst"
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(b"g,y,p\na,1,1\r\nb,0,1\na,0,0\r\nb,1,1\n")
    assert refusal(path) == f"{path} cannot be read: its lines do not all end in the same way; unpack it first"


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
    found = count_rows(tmp_path, "g", {"y_score": "s"}, cuts={"y_score": [0.95]})
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
    assert list(count_rows(tmp_path / "z.parquet", "when", {}).rows.values()) == [4, 4]


def test_a_file_that_is_not_what_its_name_says(tmp_path: Path) -> None:
    (tmp_path / "d.parquet").write_text("not parquet at all")
    assert refusal(tmp_path / "d.parquet").startswith(f"{tmp_path}/d.parquet cannot be read: ")


def test_a_query_on_the_connection_opens_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    write_csv(TABLE, other)
    for path in (tmp_path / "d[1].csv", tmp_path / "d.parquet"):
        frame = pl.DataFrame(TABLE)
        frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
        with readers.connected([path]) as connection:
            reader = f"read_{path.suffix[1:]}({readers.literal(readers.pattern(path))})"
            assert len(connection.execute(f"FROM {reader}").fetchall()) == 5
            with pytest.raises(duckdb.PermissionException):
                connection.execute(f"SELECT * FROM read_csv('{other}')").fetchall()
            with pytest.raises(duckdb.Error):
                connection.execute(f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'")
            with pytest.raises(duckdb.InvalidInputException):
                connection.execute("SET enable_external_access = true")


def test_nothing_is_downloaded_to_read_a_file(tmp_path: Path) -> None:
    switches = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_progress_bar_print": False,
        "enable_progress_bar": True,
    }
    with readers.connected([tmp_path / "d.csv"]) as connection:
        for name, value in switches.items():
            assert connection.execute(f"SELECT current_setting('{name}')").fetchall() == [(value,)]


def zst(path: Path, content: bytes) -> Path:
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(content)
    return path


def test_careless_text_is_read_as_it_was_meant(tmp_path: Path) -> None:
    for content in (
        'y,p,g\n"1", "0", "A"\n0,0,A\n1,1,"B" \n0,1,B\n',
        "y,p,g\n1,0,A,\n0,0,A,\n1,1,B\n0,1,B\n",
        f"\n\r\n{ROWS}".replace("\r", ""),
    ):
        assert cells(written(tmp_path / "d.csv", content)) == EXPECTED, content


def test_mixed_line_ends_and_files_of_one_column_are_counted(tmp_path: Path) -> None:
    assert cells(written(tmp_path / "d.csv", ROWS.replace("B\n", "B\r\n"))) == EXPECTED
    assert count_rows(written(tmp_path / "one.csv", "g\nA\n\nB\n"), "g", {}).rows == {("A",): 1, ("B",): 1}


def test_a_column_that_occurs_twice_is_refused_if_it_is_wanted(tmp_path: Path) -> None:
    arrow = pa.table([[1, 0], [1, 1], ["A", "B"], ["C", "D"]], names=["y", "p", "g", "g"])
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(arrow, tmp_path / "d.parquet")
    written(tmp_path / "d.csv", "y,p,g,g\n1,1,A,C\n0,1,B,D\n")
    written(tmp_path / "d.jsonl", '{"y": 1, "p": 1, "g": "A", "g": "C"}\n{"y": 0, "p": 1, "g": "B"}\n')
    for path in (tmp_path / "d.parquet", tmp_path / "d.csv", tmp_path / "d.jsonl"):
        assert refusal(path) == f"{path} must have the column 'g' once; it is there 2 times"
        assert list(count_rows(path, "y", {"y_pred": "p"}).rows.values()) == [1, 1]
        assert first_rows(path, 1)[0] == ["y", "p", "g", "g"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_names_that_differ_in_case_only_are_names_of_their_own(kind: str, tmp_path: Path) -> None:
    """DuckDB calls them G, y, p, g_1 and g_1_1, so that g_1 was g."""
    frame = pl.DataFrame({"G": ["X", "X"], "y": [1, 0], "p": [1, 1], "g": ["a", "a"], "g_1": ["b", "c"]})
    path = tmp_path / f"d.{kind}"
    getattr(frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind])(path)
    assert list(cells(path, groups="g_1")) == [("b",), ("c",)]
    assert list(count_rows(path, ["G", "g", "g_1"], {}).rows) == [("X", "a", "b"), ("X", "a", "c")]


@pytest.mark.parametrize("folder", ["p=0", "P=0"])
def test_a_folder_does_not_replace_a_column_of_another_case(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    pl.DataFrame({"y": [1, 0], "p": [1, 0], "g": ["A", "B"]}).write_parquet(tmp_path / folder / "d.parquet")
    assert "twice, in the files and in the names of folders" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["d.csv.gz", "d.csv.zst", "d.jsonl.gz", "d.jsonl.zst"])
def test_a_compressed_file_that_was_cut_short_is_refused(name: str, tmp_path: Path) -> None:
    """Wherever it was cut: DuckDB takes what it can unpack for the whole file."""
    lines = [json.dumps({"y": i % 2, "p": 1, "g": str(i * 7919 % 99)}) for i in range(40_000)]
    content = (
        "\n".join(lines)
        if "jsonl" in name
        else "y,p,g\n" + "".join(f"{i % 2},1,{i * 7919 % 99}\n" for i in range(40_000))
    )
    packed = (
        gzip.compress(content.encode()) if name.endswith("gz") else zst(tmp_path / name, content.encode()).read_bytes()
    )
    path = written(tmp_path / name, packed)
    assert count_rows(path, "y", {}).source["rows"] == 40_000
    for size in (len(packed) - 1, len(packed) - 4, len(packed) - 9, len(packed) // 2, 20):
        with pytest.raises(eh.errors.InvalidInput):
            count_rows(written(path, packed[:size]), "y", {})
    if name.endswith("gz"):
        with pytest.raises(eh.errors.InvalidInput, match="CRC check failed"):
            count_rows(written(path, packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:]), "y", {})


JSON_LINES = """{"g": "A", "y": 1, "s": 0.7, "more": [1, {"a": 2}]}

{"s": "0.2", "y": true, "g": "\\u0041"}
{"g": "1", "y": 1.0}
{"g": 1, "y": null, "s": null}
{"y": 0, "g": null, "s": NaN}
"""


def test_json_lines_keep_their_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "d.jsonl", JSON_LINES)
    for library in (duckdb, None):
        monkeypatch.setitem(sys.modules, "duckdb", library)
        rows = files.count_file(path, ["g", "y", "s"], {2: (0.5,)}).rows
        assert rows == {("A", 1, 1): 1, ("A", 1, 0): 1, ("1", 1, None): 1, (1, None, None): 1, (None, 0, None): 1}
        with pytest.raises(eh.errors.InvalidInput, match="must contain numbers, text, booleans or dates; got a list"):
            files.count_file(path, ["more"], {})
        with pytest.raises(eh.errors.InvalidInput, match=r"^'g' must contain numbers; got 'A'$"):
            files.count_file(path, ["g"], {0: (0.5,)})
    names, first = first_rows(path, 2)
    assert (names, first[0]) == (["g", "y", "s", "more"], ("A", 1, 0.7, '[1, {"a": 2}]'))
    assert first[1] == ("A", True, "0.2", None)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"g": 1}\n[2]\n', "line 2 of d.jsonl must be a JSON object; got [2]"),
        ('{"g": 1}\n{"g": \n', "line 2 of d.jsonl cannot be read: Expecting value: line 2 column 1 (char 7)"),
        ('{"g": "\xe9"}\n'.encode("latin-1"), "d.jsonl cannot be read: it is not UTF-8 text; "),
        ("\n", "d.jsonl has no rows; there is nothing to audit"),
        ('{"y": 1}\n', "no column is called 'g'; known: y"),
    ],
)  # fmt: skip
def test_lines_that_are_no_json_objects_are_refused(content: str | bytes, sentence: str, tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", content)
    with pytest.raises(eh.errors.InvalidInput) as refused:
        files.count_file(path, ["g"], {})
    assert str(refused.value).replace(f"{tmp_path}/", "").startswith(sentence)


@pytest.mark.parametrize("name", ["a/b", "~", "", '"', "g'", "*", "$", "0", "größe", "a.b", "\\", "[0]"])
def test_a_key_may_have_any_name(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", json.dumps({name: "A", "other": 1}, ensure_ascii=False) + "\n")
    assert files.count_file(path, [name], {}).rows == {("A",): 1}
