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
from evenhand.data import count_rows, files, first_rows, frames, readers
from evenhand.errors import InvalidInput

ROWS = "y,p,g\n1,0,A\n0,0,A\n1,1,B\n0,1,B\n"
EXPECTED = {("A",): (0, 1, 0, 1), ("B",): (1, 0, 1, 0)}


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(columns).write_parquet(path)
    return path


# CSV

AS_THEY_COME: list[tuple[str | bytes, str]] = [
    (ROWS.replace("\n", "\r\n"), "CRLF"),
    (b"\xef\xbb\xbf" + ROWS.encode(), "BOM"),
    *((ROWS.replace(",", sign), f"separated by {sign!r}") for sign in ";\t|"),
    (ROWS.replace("A", '"A"').replace("1", '"1"').replace("y", '"y"'), "quotes"),
    (ROWS.replace("B\n", "B\r\n"), "mixed line ends"),
    (ROWS.removesuffix("\n"), "no end of the last line"),
    (f"\n\n{ROWS}", "blank lines above the header"),
    ('y,p,g\n"1", "0", "A"\n0,0,A\n1,1,"B" \n0,1,B\n', "spaces beside quotes, as the writer meant"),
    ("y,p,g\n1,0,A,\n0,0,A,\n1,1,B\n0,1,B\n", "separators at the end, as the writer meant"),
    ("id,y,p,g\n#1,1,0,A\n2,0,0,A\n#3,1,1,B\n4,0,1,B\n", "rows that begin with #"),
    ("y;p;g;score\n1;0;A;0,7\n0;0;A;0,8\n1;1;B;0,1\n0;1;B;0,2\n", "decimal commas"),
]


def test_csv_files_as_they_come(tmp_path: Path) -> None:
    for content, name in AS_THEY_COME:
        path = written(tmp_path / "d.csv", content)
        assert cells(path) == EXPECTED, name
        assert cells(written(tmp_path / "d.csv.gz", gzip.compress(path.read_bytes()))) == EXPECTED, name
    path = written(tmp_path / "data.tsv", "g;,\ty;,\na;b,\t1;,\nc;d,\t0;,\n")
    assert count_rows(path, "g;,", {"y_true": "y;,"}).rows == {("a;b,", "1;,"): 1, ("c;d,", "0;,"): 1}
    assert count_rows(written(tmp_path / "one.csv", "g\nA\n\nB\n"), "g", {}).rows == {("A",): 1, ("B",): 1}
    path = written(tmp_path / "p=1" / "d.csv", ROWS)
    assert cells(path) == cells(str(tmp_path / "p=1" / "*.csv")) == EXPECTED, "the name of a folder is no column"
    assert first_rows(path, 1) == (["y", "p", "g"], [("1", "0", "A")])


def test_values_stay_what_they_are(tmp_path: Path) -> None:
    """A guess from the first rows would fail on the last; NA is a group, and an empty one is missing."""
    path = tmp_path / "d.csv"
    long = "x" * 200_000
    rows = f"NA,0,1\n,1,1\n',0,1\n{long},0,1\n" + '"1,\n""2""",0,1\n' * 1_000
    written(path, "g,y,p\n" + "1,0,1\n" * 20_000 + rows)
    found = count_rows(path, "g", {}).rows
    assert found == {("1",): 20_000, ("NA",): 1, (None,): 1, ("'",): 1, (long,): 1, ('1,\n"2"',): 1_000}
    # Large enough for DuckDB to read in several parts.
    record = '1,0,"A\nB,1,1\n\n""C"""\n0,1,A\n'
    written(path, "y,p,g\n" + record * 600_000)
    assert cells(path) == {('A\nB,1,1\n\n"C"',): (0, 600_000, 0, 0), ("A",): (0, 0, 600_000, 0)}


def test_the_columns_of_several_csv_files_are_matched_by_name(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "y,p,g\n1,0,A\n0,0,A\n")
    written(tmp_path / "2.csv", "p;y;more;g\n1;1;x;B\n1;0;x;B\n")
    assert cells(str(tmp_path / "*.csv")) == EXPECTED
    written(tmp_path / "2.csv", "y,prediction,g\n1,0,A\n")
    must = f"{tmp_path}/2.csv must have the column 'p' once"
    assert refusal(str(tmp_path / "*.csv")) == f"{must}; got y, prediction, g"
    assert refusal(str(tmp_path / "*.csv"), y_true="z") == "no column is called 'z'; known: y, p, g"


NOT_UTF_8 = (
    "d.csv cannot be read: it is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8; elsewhere: iconv -f latin1 -t "
    "utf-8), or read it with pandas and its encoding= and pass the frame"
)
VALUES = "must have 3 values, as its header has; got"
LONG = "x" * (readers.LONGEST_VALUE + 1)
BROKEN: list[tuple[str | bytes, str]] = [
    ("y,p,g\n1,1,A\n1,1\n", f"line 3 of d.csv {VALUES} 2 values"),
    ("y,p,g\n1,1,A,x\n", f"line 2 of d.csv {VALUES} 4 values"),
    ('y,p,g\n1,1,"A\nB"\n1\n', f"line 4 of d.csv {VALUES} 1 value"),
    ("y,p,g\n" + "1,1,A\n" * 40_000 + "0,1\n", f"line 40002 of d.csv {VALUES} 2 values"),
    ("y,p,g\n1,1,A\n\n1,1\n", f"line 4 of d.csv {VALUES} 2 values"),
    ('y,p,g\n1,1,"A\n', "line 2 of d.csv cannot be read: unexpected end of data"),
    ('y,p,g\n1,1,"A"B\n', "line 2 of d.csv cannot be read: ',' expected after '\"'"),
    ("\n\n", "d.csv has no header; there is nothing to audit"),
    ("y,p,g\n\n", "d.csv has no rows; there is nothing to audit"),
    (b"y,p,g\n1,1,\xe9\n0,1,A\n", NOT_UTF_8),
    ("y,p,g\n1,1,A\n".encode("utf-16"), NOT_UTF_8),
    (f"g,y,p\na,1,1\n{LONG},1,1\n",
     "line 3 of d.csv cannot be read: field larger than field limit (2097152)"),
]  # fmt: skip


def test_a_broken_file_is_refused_with_the_line_that_is_wrong(tmp_path: Path) -> None:
    for content, sentence in BROKEN:
        assert refusal(written(tmp_path / "d.csv", content)).replace(f"{tmp_path}/", "") == sentence
    (tmp_path / "d.parquet").write_text("not parquet at all")
    assert refusal(tmp_path / "d.parquet").startswith(f"{tmp_path}/d.parquet cannot be read: ")


def test_texts_are_the_same_numbers_to_duckdb_and_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["1e400", "-1e400", "1_000", "nan", "NaN", "inf", "-Infinity", " 1 ", "0x10", "1e", "１２", "1.", "+.5",
             ".", "True", "1__0", "++1", "1e+5", "5e-324", "1e-400", "1d", "n/a", "-", "\xa01", "0.1", "Ⅷ"]  # fmt: skip
    cuts = (0.0, 0.5, 900.0)
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
                with pytest.raises(InvalidInput, match=r"^'t' must contain numbers; got "):
                    files.count_file(path, ["t"], {0: cuts})
            else:
                level = None if missing or number is None else sum(cut <= number for cut in cuts)
                assert files.count_file(path, ["t"], {0: cuts}).rows == Counter([(level,), (2,)]), (text, library)


def read_by_python(content: str, separator: str) -> tuple[list[str], list[list[str]]] | None:
    """What the csv module makes of a file; None if it has bad quotes, or rows of another length than the header."""
    lines = io.StringIO(content.removeprefix("\ufeff"), newline="")
    try:
        header, *rows = filter(None, csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return None
    return (header, rows) if rows and all(len(row) == len(header) for row in rows) else None


TEXTS = ["", "a", "b", "'", '"', '""', " ", " a", "a ", "\n", "\r\n", "\r", "a\nb", "a\r\nb", ",", ";", "\t", "|",
         "\\", '\\"', "#", "#a", "é", "\u2028", "0,5", "NULL", "a,b", 'a "b" c', '" ', ' "', "\x1c",
         "\x0b", '5"', 'a"b"', "a long text, " * 6]  # fmt: skip


def any_file(rng: random.Random) -> tuple[str, str, bool]:
    """A small file of values that are easy to read wrongly, its separator, and whether it may be read as it was meant.

    Most files are well-formed. In others a space may stand beside a quote, or a row may end in a separator.
    """
    separator, ending = rng.choice(",,,;\t|"), rng.choice(["\n", "\n", "\r\n", "\r"])
    width, careless = rng.choice([1, 2, 3, 3, 4]), rng.random() < 0.2

    def value() -> str:
        text = rng.choice(TEXTS)
        needed = any(c in text for c in f'{separator}"\r\n')
        if careless and rng.random() < 0.1:
            return text
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if needed or rng.random() < 0.2 else text

    lines = [separator.join(f"c{i}" if rng.random() < 0.8 else f'"c{i}"' for i in range(width))]
    for _ in range(rng.choice([1, 2, 3, 5, 40])):
        short = careless and rng.random() < 0.05
        lines.append(separator.join(value() for _ in range(width - short)))
        lines += [""] * (rng.random() < 0.05)
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
    counted = 0
    for i in range(1_000):
        content, separator, meant = any_file(rng)
        expected = read_by_python(content, separator)
        if meant or (expected and len(expected[0]) == 1 and re.search("[,;\t|]", "".join(r[0] for r in expected[1]))):
            continue  # nothing says how the file is to be read, or which separator it has
        name = f"{i}.{'tsv' if separator == chr(9) else 'csv'}{'.gz' if i % 10 == 0 else ''}"
        path = written(tmp_path / name, gzip.compress(content.encode(), 1) if i % 10 == 0 else content)
        if expected is None:
            with pytest.raises(InvalidInput):
                print(repr(content), files.count_file(path, ["c0"], {}))
            continue
        header, rows = expected
        wanted = [tuple(value or None for value in row) for row in rows]
        assert first_rows(path, 3) == (header, wanted[:3]), content
        assert files.count_file(path, header, {}).rows == Counter(wanted), content
        counted += 1
    assert counted > 700


def test_a_compressed_file_that_was_cut_short_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it was cut, and even if DuckDB takes what it can unpack for the whole file."""
    rows = [(i % 2, 1, i * 7919 % 99) for i in range(200_000)]  # more than is read to find the columns
    csv_lines = ["y,p,g", *(f"{y},{p},{g}" for y, p, g in rows)]
    json_lines = [json.dumps({"y": y, "p": p, "g": str(g)}) for y, p, g in rows[:40_000]]
    for name, lines in (("d.csv.gz", csv_lines), ("d.jsonl.gz", json_lines)):
        monkeypatch.undo()
        packed = gzip.compress("\n".join(lines).encode())
        path = written(tmp_path / name, packed)
        assert count_rows(path, "y", {}).source["rows"] in (200_000, 40_000)
        counted = frames.Counted(Counter({("1",): 9}), None, {})
        monkeypatch.setattr(readers, "count_frame", lambda *_, counted=counted: counted)
        for size in (len(packed) - 1, len(packed) - 4, len(packed) - 9, len(packed) // 2, 20):
            with pytest.raises(InvalidInput):
                count_rows(written(path, packed[:size]), "y", {})
        with pytest.raises(InvalidInput, match="CRC check failed"):
            count_rows(written(path, packed[:-5] + bytes([packed[-5] ^ 1]) + packed[-4:]), "y", {})


# JSON Lines

JSON_LINES = """{"g": "A", "y": 1, "s": 0.7, "more": [1, {"a": 2}]}

{"s": "0.2", "y": true, "g": "\\u0041"}
{"g": "1", "y": 1.0}
{"g": 1, "y": null, "s": null}
{"y": 0, "g": null, "s": NaN}
"""


def test_json_lines_keep_their_types(tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", JSON_LINES)
    rows = files.count_file(path, ["g", "y", "s"], {2: (0.5,)}).rows
    assert rows == {("A", 1, 1): 1, ("A", 1, 0): 1, ("1", 1, None): 1, (1, None, None): 1, (None, 0, None): 1}
    assert files.count_file(path, ["more"], {}).rows == {('[1, {"a": 2}]',): 1, (None,): 4}
    with pytest.raises(InvalidInput, match=r"^'g' must contain numbers; got 'A'$"):
        files.count_file(path, ["g"], {0: (0.5,)})
    names, first = first_rows(path, 2)
    assert (names, first[0]) == (["g", "y", "s", "more"], ("A", 1, 0.7, '[1, {"a": 2}]'))
    assert first[1] == ("A", True, "0.2", None)
    for name in ("a/b", "~", "", '"', "g'", "*", "$", "0", "größe", "a.b", "\\", "[0]"):
        written(path, json.dumps({name: "A", "other": 1}, ensure_ascii=False) + "\n")
        assert files.count_file(path, [name], {}).rows == {("A",): 1}


def test_lines_that_are_no_json_objects_are_refused(tmp_path: Path) -> None:
    for content, sentence in (
        ('{"g": 1}\n[2]\n', "line 2 of d.jsonl must be a JSON object; got [2]"),
        ('{"g": 1}\n{"g": \n', "line 2 of d.jsonl cannot be read: Expecting value: line 2 column 1 (char 7)"),
        ('{"g": "\xe9"}\n'.encode("latin-1"), "d.jsonl cannot be read: it is not UTF-8 text; "),
        ("\n", "d.jsonl has no rows; there is nothing to audit"),
        ('{"y": 1}\n', "no column of d.jsonl is called 'g'; known: y"),
        ('{"g": 1}\n{"g": 1, "g": 2}\n', "line 2 of d.jsonl cannot be read: it has 'g' twice"),
        ('{"g": 1, "m": {"a": 1, "a": 1}}\n', "line 1 of d.jsonl cannot be read: it has 'a' twice"),
        ('{"g": 1, "m": {"a": 1}, "m.a": 1}\n', "line 1 of d.jsonl cannot be read: it has 'm.a' twice"),
        ('{"g": {"a": 1}}\n', "no column of d.jsonl is called 'g'; known: g.a"),
        ('{"g": ' + "[" * 100_000 + "\n", "line 1 of d.jsonl cannot be read: maximum recursion depth exceeded"),
    ):
        refused = refusal(written(tmp_path / "d.jsonl", content), y_true="g", y_pred="g")
        assert refused.replace(f"{tmp_path}/", "").startswith(sentence)


def test_values_in_objects_have_dotted_names(tmp_path: Path) -> None:
    records = [{"id": 1, "meta": {"category": "law", "size": {"n": 3}}, "tags": ["a", {"b": 1}]},
               {"id": 2, "meta": None}, {"id": 3, "meta": {}, "meta.category": "art"},
               {"id": 4, "meta": {"size": 1}}]  # fmt: skip
    path = written(tmp_path / "d.jsonl", "\n".join(map(json.dumps, records)))
    names, rows = first_rows(path, 4)
    assert names == ["id", "meta.category", "meta.size.n", "tags", "meta", "meta.size"]
    assert rows[0] == (1, "law", 3, '["a", {"b": 1}]', None, None)
    found = files.count_file(path, ["id", "meta.category"], {}).rows
    assert found == dict.fromkeys([(1, "law"), (2, None), (3, "art"), (4, None)], 1)
    deep: Any = 1
    for _ in range(40):
        deep = {"a": deep, "b": 2}
    names, (row,) = first_rows(written(path, json.dumps(deep)), 1)
    assert max(map(len, names)) == 2 * readers._DEEPEST - 1
    assert json.loads(str(row[0]))["b"] == 2


def test_deep_lists_are_texts_or_refused(tmp_path: Path) -> None:
    seen = set[Any]()
    for depth in range(300, 1_000, 7):
        path = written(tmp_path / "d.jsonl", f'{{"m": {"[" * depth}{"]" * depth}}}\n')
        try:
            ((text,),) = files.count_file(path, ["m"], {}).rows
            seen.add(len(text) // depth)
        except InvalidInput as error:
            seen.add(str(error).partition("cannot be read: ")[2][:23])
    assert seen == {2, "maximum recursion depth"}


def test_a_column_of_json_lines_may_first_occur_late(tmp_path: Path) -> None:
    """It is missing before; a column that occurs nowhere is unknown, also in one of several files."""
    filler = "x" * 1_000
    lines = [json.dumps({"y": i % 2, "filler": filler}) for i in range(2_000)]
    path = written(tmp_path / "1.jsonl", "\n".join([*lines, '{"y": 1, "late": {"g": "A"}}']))
    assert first_rows(path, 1)[0] == ["y", "filler"]
    assert files.count_file(path, ["y", "late.g"], {}).rows == {(0, None): 1_000, (1, None): 1_000, (1, "A"): 1}
    with pytest.raises(InvalidInput, match=r"^no column of 1\.jsonl is called 'later'; known: y, filler$"):
        files.count_file(path, ["y", "later"], {})
    other = written(tmp_path / "2.jsonl", lines[0])
    with pytest.raises(InvalidInput, match=r"^no column of 2\.jsonl is called 'late\.g'; known: y, filler$"):
        files.count_file([path, other], ["y", "late.g"], {})


# Parquet


def test_folders_that_partition_a_table_are_a_column_of_text(tmp_path: Path) -> None:
    for g, y in (("007", [1, 0]), ("7", [0, 1])):
        parquet(tmp_path / f"g={g}" / "d.parquet", y=y, p=[1, 1])
    expected = {("007",): (1, 0, 1, 0), ("7",): (1, 0, 1, 0)}
    assert cells(tmp_path) == cells(str(tmp_path / "*" / "d.parquet")) == expected
    names, rows = first_rows(tmp_path, 9)
    assert (names, [row[2] for row in rows]) == (["y", "p", "g"], ["007", "007", "7", "7"])
    single = parquet(tmp_path / "x" / "p=1" / "d.parquet", y=[1, 0, 1, 0], p=[0, 0, 1, 1], g=list("AABB"))
    assert cells(single) == EXPECTED
    assert refusal(tmp_path) == f"{single} must have the column 'p' once; got y, p, g, p"
    parquet(single, y=[1], p=[1])
    assert refusal(tmp_path) == f"{single} must have the column 'g' once; got y, p, p"


def test_folders_mean_to_evenhand_what_they_mean_to_duckdb(tmp_path: Path) -> None:
    for i, value in enumerate(["a%20b", "__HIVE_DEFAULT_PARTITION__", "x", "10", "ü"]):
        parquet(tmp_path / f"Year={value}" / f"sex={'mf'[i % 2]}" / "d.parquet", g=[1] * (i + 1))
    listed = f"read_parquet('{tmp_path}/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = false)"
    by_duckdb: Any = duckdb.sql(f"SELECT Year, sex, count(*) FROM {listed} GROUP BY ALL")
    assert count_rows(tmp_path, ["Year", "sex"], {}).rows == {
        # DuckDB before 2.0 takes the name of the partition without a value for one.
        (None if year == "__HIVE_DEFAULT_PARTITION__" else year, sex): n
        for year, sex, n in by_duckdb.fetchall()
    }


def test_parquet_files_have_the_same_columns_of_the_same_types(tmp_path: Path) -> None:
    parquet(tmp_path / "1.parquet", s=[1, 0], g=["A", "A"])
    parquet(tmp_path / "2.parquet", g=["B", "B"], s=[0.9, 0.2])
    found = count_rows(tmp_path, "g", {"y_score": "s"}, cuts={"y_score": [0.95]})
    assert found.rows == {("A", 0): 1, ("A", 1): 1, ("B", 0): 2}, "not rounded to the type of the first"
    parquet(tmp_path / "2.parquet", g=[1, 2], s=[1, 0])
    one, two = (f"{tmp_path}/{i}.parquet" for i in (1, 2))
    must = "'g' must have one type in all files; it contains numbers in"
    assert refusal(tmp_path, y_true="s", y_pred="s") == f"{must} {two} and text in {one}"
    parquet(tmp_path / "2.parquet", group=["B"], s=[1])
    must = f"{two} must have the column 'g' once; got group, s"
    assert refusal(tmp_path, y_true="s", y_pred="s") == must
    times = pl.DataFrame({"when": [f"2024-01-0{1 + i % 2}T10:00:00" for i in range(8)]})
    times.with_columns(pl.col("when").str.to_datetime(time_zone="UTC")).write_parquet(tmp_path / "z.parquet")
    assert list(count_rows(tmp_path / "z.parquet", "when", {}).rows.values()) == [4, 4]


def test_each_name_is_a_column_of_its_own(tmp_path: Path) -> None:
    """DuckDB calls the first columns G, y, p, g_1 and g_1_1, so that g_1 was g."""
    frame = pl.DataFrame({"G": ["X", "X"], "y": [1, 0], "p": [1, 1], "g": ["a", "a"], "g_1": ["b", "c"]})
    twice = pa.table([[1, 0], [1, 1], ["A", "B"], ["C", "D"]], names=["y", "p", "g", "g"])
    for name, write in (("d.csv", "write_csv"), ("d.parquet", "write_parquet"), ("d.jsonl", "write_ndjson")):
        path = tmp_path / name
        getattr(frame, write)(path)
        assert list(cells(path, groups="g_1")) == [("b",), ("c",)]
        assert list(count_rows(path, ["G", "g", "g_1"], {}).rows) == [("X", "a", "b"), ("X", "a", "c")]
        if name == "d.jsonl":
            written(path, '{"y": 1, "p": 1, "g": "A", "g": "C"}\n')
            assert refusal(path) == f"line 1 of {path} cannot be read: it has 'g' twice"
            continue
        if name == "d.csv":
            written(path, "y,p,g,g\n1,1,A,C\n0,1,B,D\n")
        else:
            pytest.importorskip("pyarrow.parquet").write_table(twice, path)
        assert refusal(path) == f"{path} must have the column 'g' once; got y, p, g, g"
        assert list(count_rows(path, "y", {"y_pred": "p"}).rows.values()) == [1, 1]
        assert first_rows(path, 1)[0] == ["y", "p", "g", "g"]


def test_a_query_on_the_connection_opens_no_other_file_and_downloads_nothing(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    write_csv(TABLE, other)
    pl.DataFrame(TABLE).write_csv(tmp_path / "d[1].csv")
    pl.DataFrame(TABLE).write_parquet(tmp_path / "d.parquet")
    for path in (tmp_path / "d[1].csv", tmp_path / "d.parquet"):
        with readers.connected([path]) as connection:
            reader = f"read_{path.suffix[1:]}({readers.listed([path])})"
            assert len(connection.execute(f"FROM {reader}").fetchall()) == 5
            for query in (f"FROM read_csv('{other}')", f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
                          "SET enable_external_access = true"):  # fmt: skip
                with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException)):
                    connection.execute(query).fetchall()
            for name in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_progress_bar_print"):
                assert connection.execute(f"SELECT current_setting('{name}')").fetchall() == [(False,)]


def test_a_long_label_is_shown_in_part(tmp_path: Path) -> None:
    written(tmp_path / "d.csv", f"g,y,p\na,{'x' * 200_000},1\na,1,1\nb,0,0\n")
    with pytest.raises(InvalidInput, match=r"^y_true contains text \('0', '1', 'x{59}…\) but y_pred contains "):
        eh.audit(tmp_path / "d.csv", y_true="y", y_pred="p", groups="g")
