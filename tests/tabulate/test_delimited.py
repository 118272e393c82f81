"""CSV and TSV as they come: read as Python's csv module reads them, and refused with the line that is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from decisions import cells, refusal

import evenhand as eh
from evenhand.tabulate import counted, delimited, files, first_rows

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
    assert counted(path, "g;,", {"y_true": "y;,"}).rows == {("a;b,", "1;,"): 1, ("c;d,", "0;,"): 1}


def test_a_text_column_whose_first_rows_look_like_numbers(tmp_path: Path) -> None:
    """A guess from the first rows would fail on the last."""
    path = written(tmp_path / "data.csv", "g,y,p\n" + "1,0,1\n" * 30_000 + "one,1,1\n")
    assert list(cells(path)) == [("1",), ("one",)]


def test_a_group_called_na_is_a_group_and_an_empty_one_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "data.csv", "g,y\nNA,1\n,0\nEU,0\n")
    assert list(counted(path, "g", {}).rows) == [("EU",), ("NA",), (None,)]


def test_rows_that_begin_with_a_hash_are_rows(tmp_path: Path) -> None:
    lines = "".join(f"{'#' * (i % 5 == 0)}{i},{i % 2},1,{'ab'[i % 3 == 0]}\n" for i in range(90))
    path = written(tmp_path / "data.csv", f"id,y,p,g\n{lines}")
    assert counted(path, "g", {"y_true": "y"}).source["rows"] == 90


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
        ("y,p,g\n1,1,A,\n", "line 2 of d.csv must have 3 values, as its header has; got 4 values"),
        ('y,p,g\n1,1,"A\nB"\n1\n', "line 4 of d.csv must have 3 values, as its header has; got 1 value"),
        ("y,p,g\n" + "1,1,A\n" * 40_000 + "0,1\n",
         "line 40002 of d.csv must have 3 values, as its header has; got 2 values"),
        ('y,p,g\n1,1,"A\n', "line 2 of d.csv cannot be read: unexpected end of data"),
        ('y,p,g\n1,1,"A"B\n', "line 2 of d.csv cannot be read: ',' expected after '\"'"),
        ('y,p,g\n1,"1" ,A\n', "line 2 of d.csv cannot be read: ',' expected after '\"'"),
        ("y,p,g\n1,1,A\n\n1,1\n", "line 4 of d.csv must have 3 values, as its header has; got 2 values"),
        ("\n\n", "d.csv has no header; there is nothing to audit"),
        ("y,p,g\n\n", "d.csv has no rows; there is nothing to audit"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_is_refused_with_its_line(content: str, sentence: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path / "d.csv", content)).replace(f"{tmp_path}/", "") == sentence


def both_ways(folder: Path, content: str) -> list[Path]:
    """A file that DuckDB reads, and one with other line ends that only the csv module does."""
    found = [written(folder / f"{i}.csv", content.replace("\n", end)) for i, end in enumerate(("\n", "\r"))]
    assert [delimited.scanned(delimited.layout_of(path))[0] for path in found] == [True, False]
    return found


def test_columns_of_the_same_name_that_are_equal_are_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """ProPublica's violent file has two_year_recid twice; an empty value may be quoted in one of them."""
    for path in both_ways(tmp_path, 'y,p,g,y\n1,0,A,1\n0,0,A,0\n1,1,B,1\n0,1,B,0\n,1,B,""\n'):
        assert cells(path) == EXPECTED
        assert first_rows(path, 2) == (["y", "p", "g"], [("1", "0", "A"), ("0", "0", "A")])
    assert caplog.records == []


def test_columns_of_the_same_name_that_differ_are_numbered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The first keeps its name; whoever chooses it is told of the other."""
    for path in both_ways(tmp_path, "y,p,g,y,y.1\n1,0,A,0,0\n0,0,A,0,0\n1,1,B,1,0\n0,1,B,0,0\n"):
        caplog.clear()
        assert cells(path, y_true="y.2") == {("A",): (0, 0, 0, 2), ("B",): (1, 0, 1, 0)}
        assert caplog.records == []
        assert cells(path) == EXPECTED
        assert [record.getMessage() for record in caplog.records] == [
            f"{path} has several columns called 'y', which differ in 1 row; the first is used, and others are 'y.2'"
        ]
        assert first_rows(path, 1) == (["y", "p", "g", "y.2", "y.1"], [("1", "0", "A", "0", "0")])
        source = files.count_file(path, ["y", "g"], {}).source
        assert source["same_name"] == {"columns": {"y": ["y.2"]}, "rows": 1}
        assert "same_name" not in files.count_file(path, ["y.2", "g"], {}).source


def test_scores_of_the_same_name_are_compared_as_they_are(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for path in both_ways(tmp_path, "s,g,s\n0.7,A,0.7\n0.2,A,0.20\n"):
        caplog.clear()
        found = counted(path, "g", {"y_score": "s"}, cuts={"y_score": [0.5]})
        assert found.rows == {("A", 0): 1, ("A", 1): 1}
        assert "differ in 1 row" in caplog.text


def test_the_first_rows_of_a_file_are_read_without_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "d.csv", ROWS)
    monkeypatch.setattr(delimited, "_blocks", lambda path: pytest.fail("scanned"))
    assert first_rows(path, 1) == (["y", "p", "g"], [("1", "0", "A")])


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    for content in (b"y,p,g\n1,1,\xe9\n0,1,A\n", "y,p,g\n1,1,A\n".encode("utf-16")):
        assert refusal(written(tmp_path / "d.csv", content)) == (
            f"{tmp_path}/d.csv cannot be read: it is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8; elsewhere: "
            "iconv -f latin1 -t utf-8), or read it with pandas and its encoding= and pass the frame"
        )


def test_texts_are_the_same_numbers_to_duckdb_and_to_the_csv_module(tmp_path: Path) -> None:
    texts = ["1e400", "-1e400", "1_000", "nan", "NaN", "inf", "-Infinity", " 1 ", "0x10", "1e", "１２", "1.", "+.5",
             ".", "True", "1__0", "++1", "1e+5", "5e-324", "1e-400", "1d", "n/a", "-", "\xa01", "0.1", "Ⅷ"]  # fmt: skip
    for text in texts:
        try:
            number = float(text if text.strip().isascii() else "?")
        except ValueError:
            number = None
        missing = text.casefold() in ("nan", "n/a")
        # A line that ends in CR is one that only the csv module reads.
        for end, simple in (("\n", True), ("\r", False)):
            path = tmp_path / f"{simple}.csv"
            path.write_bytes(f"t,g{end}{text},a{end}0.7,a{end}".encode())
            assert delimited.scanned(delimited.layout_of(path))[0] is simple
            if number is None and not missing:
                with pytest.raises(eh.errors.InvalidInput, match=r"^'t' must contain numbers; got "):
                    files.count_file(path, ["t"], {0: (0.0, 0.5, 900.0)})
                continue
            level = None if missing or number is None else sum(cut <= number for cut in (0.0, 0.5, 900.0))
            found = files.count_file(path, ["t"], {0: (0.0, 0.5, 900.0)}).rows
            assert found == Counter([(level,), (2,)]), (text, simple)


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
    return rng.choice(["", "", "", "\ufeff"]) + content, separator


@pytest.mark.slow
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
    path = written(tmp_path / "d.csv", "y,p,g\n" + record * 600_000)
    assert cells(path) == {('A\nB,1,1\n\n"C"',): (0, 600_000, 0, 0), ("A",): (0, 0, 600_000, 0)}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a,b\n1,2\n", (True, 1)),
        ("a,b\r\n1,2\r\n3,4", (True, 2)),
        ("a,b\n1,\n", (True, 1)),
        ("a,b\n1,2,\n", (True, 2)),  # DuckDB finds one row, so that the csv module reads it
        ("a,b,c\n1,2,3,\n", (False, 0)),
        ("a,b\r1,2\n", (False, None)),
        ("a,b\n1,2\r", (False, 1)),
        ('a,b\n"1",2\n', (True, 1)),
        ('a,b\n"1, ""2"" ",2\n', (True, 1)),
        ('a,b\n"1\n2,\n",2\n', (True, 1)),
        ('a,b\n"1",2\n"3,4\n', (False, None)),
        ('a,b\n5",2\n', (True, None)),
        ('a,b\n5" 6,2\n', (False, None)),
        ('a,b\n"1", "2"\n', (False, None)),
        ('a,b\n"1",\n', (True, 1)),
        ('a,b\n"1",2,', (True, 2)),
        ('a,b\r\n"1",\r\n', (True, 1)),
        ('a,b\n"1",2\r3,4\n', (False, None)),
    ],
)
@pytest.mark.parametrize("block", [1 << 22, 3, 1])
def test_what_duckdb_reads_as_the_csv_module_does_is_seen_in_blocks_of_any_size(
    content: str, found: tuple[bool, int | None], block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", block)
    simple, rows = delimited.scanned(delimited.layout_of(written(tmp_path / "d.csv", content)))
    assert (simple, rows if simple else None) == (found[0], found[1] if found[0] else None)


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
    long = delimited.LONGEST_VALUE + 1
    path.write_text(f"g,y,p\na,1,1\n{'x' * long},1,1\n")
    assert refusal(path) == (
        f"line 3 of {path} cannot be read: it has a value of more than 2,097,152 characters; leave the column out of "
        "the file"
    )


def test_lines_of_a_packed_file_that_end_in_different_ways_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "d.csv.zst"
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(b"g,y,p\na,1,1\r\nb,0,1\na,0,0\r\nb,1,1\n")
    assert refusal(path) == f"{path} cannot be read: its lines do not all end in the same way; unpack it first"
