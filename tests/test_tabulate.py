"""Counting, wherever the data live: every engine gives the same counts, and nothing is dropped without a word."""

from __future__ import annotations

import gzip
import io
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from engines import ibis, modin, spark

import evenhand as eh
from evenhand import progress
from evenhand.tabulate import Tally, as_counts, files, first_rows, frames, read_counts, tabulate

COLUMNS: dict[str, list[Any]] = {
    "race group": ["a", "b", None, "a", "b", "c", "c", "c", "a", "b", None, "c"],
    "label": [1, 0, 1, 0, 1, 1, None, 0, 0, 1, 0, 1],
    "pred": [1, 0, 0, 1, 1, 0, 1, None, 0, 0, 1, 1],
}
CELLS = {
    ("a",): eh.ConfusionMatrix(1, 0, 1, 1),
    ("b",): eh.ConfusionMatrix(1, 1, 0, 1),
    ("c",): eh.ConfusionMatrix(1, 1, 0, 0),
    (None,): eh.ConfusionMatrix(0, 1, 1, 0),
}


def arrow(columns: dict[str, list[Any]]) -> pa.Table:
    """In two chunks with dictionaries of their own."""
    half = len(next(iter(columns.values()))) // 2
    encoded = [
        pa.table({k: pa.array(v[part], from_pandas=True).dictionary_encode() if k == "race group" else v[part]
                  for k, v in columns.items()})
        for part in (slice(None, half), slice(half, None))
    ]  # fmt: skip
    return pa.concat_tables(encoded)


def xarray(columns: dict[str, list[Any]]) -> Any:
    library = pytest.importorskip("xarray", reason="xarray is not installed; it is in the extra dev")
    return library.Dataset({name: ("row", np.array(values, dtype=object)) for name, values in columns.items()})


class Capsule:
    """An object that nobody knows, but that gives an Arrow stream."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.table = arrow(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def parquet(columns: dict[str, list[Any]], folder: Path) -> Path:
    path = folder / "data.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


def text(columns: dict[str, list[Any]], folder: Path) -> Path:
    path = folder / "data.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


HELD: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "lists": lambda c: c,
    "pandas": pd.DataFrame,
    "pandas with arrow": lambda c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": lambda c: pd.DataFrame(c).astype({"race group": "category"}),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": arrow,
    "duckdb": lambda c: duckdb.from_arrow(pa.table(c)),
    "dask": lambda c: dd.from_pandas(pd.DataFrame(c), npartitions=2),  # type: ignore[no-untyped-call]
    "pyspark": spark,
    "ibis": ibis,
    "modin": modin,
    "xarray": xarray,
    "structured array": lambda c: np.array(list(zip(*c.values(), strict=True)), dtype=[(k, object) for k in c]),
    "record batch": pa.RecordBatch.from_pydict,
    "record batch reader": lambda c: arrow(c).to_reader(max_chunksize=1),
    "arrow dataset": lambda c: pyarrow.dataset.dataset(arrow(c)),
    "arrow stream": Capsule,
    "narwhals": lambda c: narwhals.from_native(pl.DataFrame(c)),
}


@pytest.mark.parametrize("held", HELD)
@pytest.mark.filterwarnings("ignore")  # of the engines themselves
def test_every_engine_gives_the_same_counts(held: str) -> None:
    tally = tabulate(HELD[held](COLUMNS), y_true="label", y_pred="pred", groups="race group")

    assert tally.cells == CELLS
    assert tally.left_out == {"y_true": 1, "y_pred": 1}
    assert tally.positive == {"label": (1,), "prediction": (1,)}


@pytest.mark.parametrize("written", [parquet, text])
def test_files_give_the_same_counts(written: Any, tmp_path: Path) -> None:
    path = written(COLUMNS, tmp_path)
    for given in (path, str(path), str(tmp_path / f"*{path.suffix}")):
        tally = tabulate(given, y_true="label", y_pred="pred", groups="race group")
        assert (tally.cells, tally.left_out) == (CELLS, {"y_true": 1, "y_pred": 1})


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / "year" / str(i)).mkdir(parents=True)
        pl.DataFrame(COLUMNS).write_parquet(tmp_path / "year" / str(i) / "part.parquet")
    tally = tabulate(tmp_path, y_true="label", y_pred="pred", groups="race group")
    assert tally.cells[("a",)] == eh.ConfusionMatrix(3, 0, 3, 3)


@pytest.mark.parametrize(
    ("negative", "positive", "asked"),
    [
        (0, 1, None),
        (-1, 1, None),
        (False, True, None),
        ("no", "yes", None),
        ("False", "True", None),
        ("0", "1", None),
        (0.0, 1.0, None),
        (Decimal(0), Decimal(1), None),
        ("bad", "good", "good"),
        (1, 2, 2),
        (1, 2, "2"),
        (False, True, "true"),
    ],
)
@pytest.mark.parametrize("frame", [lambda c: c, pd.DataFrame, pl.DataFrame])
def test_labels_in_the_wild(negative: Any, positive: Any, asked: Any, frame: Any) -> None:
    spelled = [negative, positive, positive, negative]
    data = frame({"y": spelled, "p": spelled[::-1], "g": ["a", "a", "b", "b"]})
    tally = tabulate(data, y_true="y", y_pred="p", groups="g", positive=asked)
    assert tally.cells == {("a",): eh.ConfusionMatrix(1, 0, 0, 1), ("b",): eh.ConfusionMatrix(1, 0, 0, 1)}


def test_labels_in_the_wild_are_counted_not_just_accepted() -> None:
    data = {"y": ["yes", "yes", "no", "no"], "p": ["yes", "no", "no", "yes"], "g": ["a", "a", "a", "b"]}
    assert tabulate(data, y_true="y", y_pred="p", groups="g").cells == {
        ("a",): eh.ConfusionMatrix(1, 1, 0, 1),
        ("b",): eh.ConfusionMatrix(0, 0, 1, 0),
    }


@pytest.mark.parametrize("frame", [lambda c: c, pd.DataFrame, pl.DataFrame, pl.LazyFrame, lambda c: pa.table(c)])
def test_scores_are_compared_with_the_threshold_and_missing_ones_left_out(frame: Any) -> None:
    data = frame({"y": [1, 0, 1, 0, 1], "s": [0.7, 0.5, 0.2, float("nan"), None], "g": list("abaab")})
    tally = tabulate(data, y_true="y", y_score="s", threshold=0.5, groups="g")
    assert tally.cells == {("a",): eh.ConfusionMatrix(1, 1, 0, 0), ("b",): eh.ConfusionMatrix(0, 0, 1, 0)}
    assert tally.left_out == {"y_pred": 2}


def test_scores_in_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("g,y,the score\na,1,0.7\nb,0,0.5\na,1,0.2\nb,1,n/a\n", encoding="utf-8")
    tally = tabulate(path, y_true="y", y_score="the score", groups="g")
    assert tally.cells == {("a",): eh.ConfusionMatrix(1, 1, 0, 0), ("b",): eh.ConfusionMatrix(0, 0, 1, 0)}
    assert tally.left_out == {"y_pred": 1}


@pytest.mark.parametrize(
    "content",
    [
        b"race,y,p\r\nA,1,1\r\nB,0,1\r\nA,0,0\r\n",
        b"\xef\xbb\xbfrace,y,p\nA,1,1\nB,0,1\nA,0,0\n",
        b"race;y;p\nA;1;1\nB;0;1\nA;0;0\n",
        b'"race","y","p"\n"A","1","1"\n"B","0","1"\n"A","0","0"\n',
        b"race\ty\tp\nA\t1\t1\nB\t0\t1\nA\t0\t0\n",
    ],
    ids=["CRLF", "BOM", "semicolons", "quotes", "tabs"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_csv_files_as_they_come(content: bytes, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("data.csv.gz" if packed else "data.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    tally = tabulate(path, y_true="y", y_pred="p", groups="race")
    assert tally.cells == {("A",): eh.ConfusionMatrix(1, 0, 0, 1), ("B",): eh.ConfusionMatrix(0, 0, 1, 0)}


def test_columns_may_have_any_name_and_be_many(tmp_path: Path) -> None:
    names = ['the "race"', "größe; 名", "select", *(f"c{i}" for i in range(500))]
    rows = [["a", "1", "1"], ["b", "0", "1"], ["a", "0", "0"]]
    frame = pl.DataFrame([[*row, *("x" for _ in range(500))] for row in rows], schema=names, orient="row")
    frame.write_csv(tmp_path / "wide.csv")
    frame.write_parquet(tmp_path / "wide.parquet")
    for name in ("wide.csv", "wide.parquet"):
        tally = tabulate(tmp_path / name, y_true="größe; 名", y_pred="select", groups='the "race"')
        assert tally.cells[("a",)] == eh.ConfusionMatrix(1, 0, 0, 1)


def test_a_text_column_whose_first_rows_look_like_numbers(tmp_path: Path) -> None:
    """A guess from the first rows would fail on the last."""
    path = tmp_path / "data.csv"
    path.write_text("g,y,p\n" + "1,0,1\n" * 30_000 + "one,1,1\n", encoding="utf-8")
    assert list(tabulate(path, y_true="y", y_pred="p", groups="g").cells) == [("1",), ("one",)]


def test_a_group_called_na_is_a_group_and_a_label_called_na_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("g,y,p\nNA,1,1\n,0,1\nNA,NA,0\nEU,0,0\n", encoding="utf-8")
    tally = tabulate(path, y_true="y", y_pred="p", groups="g")
    assert list(tally.cells) == [("EU",), ("NA",), (None,)]
    assert tally.left_out == {"y_true": 1}


def test_several_columns_and_their_intersection() -> None:
    data = pl.DataFrame({"g": list("aabb"), "s": ["F", "M", "F", None], "y": [1, 0, 0, 1], "p": [1, 1, 0, 0]})
    both = eh.audit(data, y_true="y", y_pred="p", groups=["g", "s"], metrics=["acc"])
    assert {(r.by, r.group) for r in both.rows} == {
        ("g", "a"), ("g", "b"), ("s", "F"), ("s", "M"), ("s", "(missing)"),
        ("g & s", "a & F"), ("g & s", "a & M"), ("g & s", "b & F"), ("g & s", "b & (missing)"),
    }  # fmt: skip
    assert [f.sentence for f in both.findings if f.kind == "missing-group"] == [
        "1 case has no value for s and forms a group of its own, (missing)"
    ]
    plain = eh.audit(data, y_true="y", y_pred="p", groups=["g", "s"], metrics=["acc"], crossings=1)
    assert {r.by for r in plain.rows} == {"g", "s"}
    named = eh.audit(data, y_true="y", y_pred="p", groups=["g", "s"], metrics=["acc"], reference={"g": "a"})
    assert {r.reference for r in named.rows if r.by == "g"} == {"a"}
    assert {r.reference for r in named.rows if r.by == "s"} == {"rest"}


def test_an_audit_answers_in_the_callers_own_library() -> None:
    for frame, library in ((pd.DataFrame, pd), (pl.DataFrame, pl), (pl.LazyFrame, pl)):
        a = eh.audit(frame(COLUMNS), y_true="label", y_pred="pred", groups="race group", metrics=["acc"])
        assert type(a.to_frame()) is library.DataFrame
        assert len(a.to_frame()) == 4
    assert isinstance(a.to_frame("pyarrow"), pa.Table)


def test_a_lazy_frame_is_never_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is collected are the counts: as many rows as combinations of values."""
    seen = []
    collect = pl.LazyFrame.collect

    def watched(self: pl.LazyFrame, *args: Any, **kwargs: Any) -> Any:
        found = collect(self, *args, **kwargs)
        seen.append(found.height)
        return found

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    lazy = pl.LazyFrame({"g": np.repeat(["a", "b"], 5000), "y": np.tile([0, 1], 5000), "p": np.tile([0, 1], 5000)})
    tabulate(lazy, y_true="y", y_pred="p", groups="g")
    assert seen == [4]


def test_identifiers_as_groups_are_refused_without_hanging(tmp_path: Path) -> None:
    many = pl.DataFrame({"id": np.arange(1_000_000), "y": np.tile([0, 1], 500_000), "p": np.tile([0, 1], 500_000)})
    path = tmp_path / "many.parquet"
    many.write_parquet(path)
    for data in (many, path):
        with pytest.raises(eh.TooLarge, match=r"^the columns have more than 200,000 distinct combinations of values"):
            tabulate(data, y_true="y", y_pred="p", groups="id")
    with pytest.raises(eh.TooLarge, match=r"^there are 3,000 groups \(3,000 by id\), more than max_groups=1,000"):
        eh.audit(many.head(3000), y_true="y", y_pred="p", groups="id")


def refused(folder: Path, name: str, content: str | None, **columns: Any) -> str:
    path = folder / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(eh.EvenhandError) as found:
        tabulate(path, **({"y_true": "y", "y_pred": "p", "groups": "g"} | columns))
    return str(found.value).replace(str(folder), "")


@pytest.mark.parametrize(
    ("name", "content", "columns", "sentence"),
    [
        ("none.csv", None, {}, "there is no file /none.csv"),
        ("empty.csv", "", {}, "/empty.csv is empty; there is nothing to audit"),
        ("head.csv", "g,y,p\n", {}, "/head.csv has no rows; there is nothing to audit"),
        ("data.xlsx", "x", {}, "/data.xlsx must be a CSV, TSV, Parquet, Arrow or SQLite file by its extension (.csv, "
         ".tsv, .txt, .parquet, .pq, .feather, .arrow, .db, .sqlite or .sqlite3; also .csv.gz)"),
        ("data.csv", "g,y,p\na,1,1\n", {"y_pred": "pp"}, "no column is called 'pp'; did you mean 'p'?"),
        ("data.csv", "race,y,p\na,1,1\n", {"groups": "rcae"}, "no column is called 'rcae'; did you mean 'race'?"),
        ("one.csv", "g,y,p\na,1,1\nb,1,0\n", {}, "y_true contains one class only (1); if that is right, "
         "pass the positive label as positive_label="),
        ("three.csv", "g,y,p\na,x,x\nb,y,z\n", {}, "y_true and y_pred contain 3 distinct labels ('x', 'y', 'z'); "
         "pass the positive ones as positive=, or audit each class with audit_classes"),
        ("ask.csv", "g,y,p\na,x,x\nb,y,x\n", {}, "the positive label cannot be inferred from the labels 'x', 'y'; pass "
         "it as positive="),
        ("gaps.csv", "g,y,p\na,,1\nb,,0\n", {}, "every value of y_true is missing; there is nothing to audit"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_audited_is_refused_in_a_sentence(
    name: str, content: str | None, columns: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    assert refused(tmp_path, name, content, **columns) == sentence


def test_a_file_that_is_not_what_its_name_says(tmp_path: Path) -> None:
    assert refused(tmp_path, "data.parquet", "not parquet at all").startswith("/data.parquet cannot be read: ")


def test_nothing_outside_this_machine_is_read() -> None:
    with pytest.raises(
        eh.InvalidInput,
        match=r"^data must be a local file; got 'https://example\.org/x\.csv', which must be downloaded first$",
    ):
        tabulate("https://example.org/x.csv", y_true="y", y_pred="p", groups="g")


def test_without_duckdb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(eh.MissingExtra, match=r"^reading CSV and Parquet files needs the extra 'files': pip install"):
        tabulate("data.csv", y_true="y", y_pred="p", groups="g")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: tabulate(3, y_true="y", y_pred="p", groups="g"),
         "data must be a dataframe, a mapping of columns or a path to a file; got int"),
        (lambda: tabulate(None, y_true="y", y_pred=[1], groups=["a"]),
         "'y' is the name of a column, but data is None; pass the table, or the values"),
        (lambda: tabulate(None, y_true=[1, 0], y_pred=[1], groups=["a", "b"]),
         "columns must have the same length; got group 2, y_true 2, y_pred 1"),
        (lambda: tabulate({"y": [1, 0]}, y_true="y", y_pred="q", groups="y"),
         "no column is called 'q'; known: y"),
        (lambda: tabulate(pd.DataFrame({"y": [1]}), y_true=[1, 0], y_pred="y", groups="y"),
         "columns must have the same length; got y 1, y_true 2, y_pred 1"),
        (lambda: tabulate(pd.DataFrame({"y": [1], "s": ["a"]}), y_true="y", y_score="s", groups="y"),
         "'s' must contain numbers; it contains String"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.EvenhandError) as found:
        call()
    assert str(found.value) == sentence


def test_a_table_of_counts() -> None:
    by, found = read_counts(["\ufeffsex;TP;FN;FP;TN;race\n", "F;1;2;3;4;a\n", "M;5;6;7;8;\n"], "counts.csv")
    assert by == ("sex", "race")
    assert found == {("F", "a"): eh.ConfusionMatrix(1, 2, 3, 4), ("M", None): eh.ConfusionMatrix(5, 6, 7, 8)}


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "c.csv must have one row per group below its header; got no rows"),
        (["g,tp,fn,fp", "a,1,2,3"], "c.csv must have the columns tp, fn, fp and tn; got g, tp, fn, fp"),
        (["tp,fn,fp,tn", "1,2,3,4"], "c.csv must have a column of groups besides tp, fn, fp and tn; got none"),
        (["g,G,tp,fn,fp,tn", "a,b,1,2,3,4"], "c.csv must have distinct column names; got g and G"),
        (["g,tp,fn,fp,tn", "a,1,2,3"], "row 2 of c.csv must have 5 values, as its header has; got 4 values"),
        (["g,tp,fn,fp,tn", "a"], "row 2 of c.csv must have 5 values, as its header has; got 1 value"),
        (["g,tp,fn,fp,tn", "a,1,2,3,4", "a,1,2,3,4"], "row 3 of c.csv repeats the group a"),
        (["g,tp,fn,fp,tn", "a,1,2,3,-4"], "row 2 of c.csv has an invalid count: tn must not be negative; got -4"),
    ],
)
def test_a_table_of_counts_that_is_none(lines: list[str], sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as found:
        read_counts(lines, "c.csv")
    assert str(found.value) == sentence


def test_rows_that_begin_with_a_hash_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(
        "id,y,p,g\n" + "".join(f"{'#' * (i % 5 == 0)}{i},{i % 2},1,{'ab'[i % 3 == 0]}\n" for i in range(90))
    )
    assert sum(cm.n for cm in tabulate(path, y_true="y", y_pred="p", groups="g").cells.values()) == 90


def test_names_with_brackets_are_names(tmp_path: Path) -> None:
    for name, times in (("d[1]", 3), ("d1", 1)):
        (tmp_path / name).mkdir()
        pl.concat([pl.DataFrame(COLUMNS)] * times).write_parquet(tmp_path / name / "a.parquet")
        pl.concat([pl.DataFrame(COLUMNS)] * times).write_csv(tmp_path / f"{name}.csv")
    for given in (tmp_path / "d[1]", tmp_path / "d[1].csv", str(tmp_path / "d[1]" / "a.parquet")):
        assert tabulate(given, y_true="label", y_pred="pred", groups="race group").cells[("a",)].n == 9
    assert (
        tabulate(str(tmp_path / "d?/*.parquet"), y_true="label", y_pred="pred", groups="race group").cells[("a",)].n
        == 3
    )


def test_a_class_called_none_is_a_class() -> None:
    data = {"y": ["fraud", "none", "none", "fraud"], "p": ["none", "none", "fraud", "fraud"], "g": list("aabb")}
    tally = tabulate(data, y_true="y", y_pred="p", groups="g", positive="fraud")
    assert tally.left_out == {}
    assert tally.cells[("a",)] == eh.ConfusionMatrix(0, 1, 0, 1)


def test_group_columns_may_be_called_anything() -> None:
    values: dict[str, list[Any]] = {"y_true": list("aabb"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]}
    assert list(tabulate(values, y_true="y", y_pred="p", groups="y_true").cells) == [("a",), ("b",)]
    frame = pd.DataFrame({"name": list("aabb")})
    assert tabulate(None, y_true=values["y"], y_pred=values["p"], groups=frame).columns == ("name",)


def test_dates_as_groups_are_named_as_dates() -> None:
    days = np.array(["2020-01-01", "2020-01-02", "NaT"], dtype="M8[ns]")
    cells = tabulate(None, y_true=[1, 0, 1], y_pred=[1, 0, 0], groups=days).cells
    assert list(cells) == [("2020-01-01T00:00:00",), ("2020-01-02T00:00:00",), (None,)]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: tabulate(None, y_true=pd.Series([1, 0]), y_pred=pd.Series([1, 0], index=[1, 0]), groups=["a", "b"]),
         "y_true and y_pred must have the same index; align them, or pass their values without it"),
        (lambda: tabulate(None, y_true=[1, 0], y_score=[1, 0], threshold=float("nan"), groups=["a", "b"]),
         "threshold must be a finite number; got nan"),
        (lambda: tabulate(None, y_true=[1, 0], y_score=[1, 0], threshold="0.5", groups=["a", "b"]),  # type: ignore[arg-type]
         "threshold must be a finite number; got '0.5'"),
        (lambda: tabulate(None, y_true=[1, 0], y_score=[1, 0], threshold=True, groups=["a", "b"]),
         "threshold must be a finite number; got True"),
        (lambda: tabulate(None, y_true=[1, 0], y_pred=[1, 0], groups=[["a"], ["b"]]),
         "columns must contain numbers, text, booleans or dates; "),
        (lambda: tabulate(pl.DataFrame({"g": [["a"], ["b"]], "y": [0, 1], "p": [0, 1]}), y_true="y", y_pred="p",
                          groups="g"), "columns must contain numbers, text, booleans or dates; got lists or structs"),
        (lambda: tabulate(pd.DataFrame([[1, 0, "a"]], columns=["y", "y", "g"]), y_true="y", y_pred="y", groups="g"),
         "data has 2 columns called 'y'; rename all but one"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as found:
        call()
    assert str(found.value).startswith(sentence)


def test_a_file_with_ragged_rows_says_so(tmp_path: Path) -> None:
    assert refused(tmp_path, "r.csv", "g,y,p\na,1,1\nb,0\nc,1,1,1,1\n") == (
        "line 3 of /r.csv must have 3 values, as its header has; got 2 values"
    )


def test_a_long_count_shows_its_progress_on_a_terminal(
    tmp_path: Path, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*given: Any) -> Any:
        time.sleep(0.05)
        return count_frame(*given)

    count_frame = frames.count_frame
    monkeypatch.setattr(progress, "_SILENT_SECONDS", -1.0)
    monkeypatch.setattr(progress, "_POLL_SECONDS", 0.002)
    monkeypatch.setattr(files, "count_frame", slow)
    with redirect_stderr(terminal):
        tabulate(text(COLUMNS, tmp_path), y_true="label", y_pred="pred", groups="race group")
    assert terminal.getvalue().startswith("\rcounting data.csv")
    assert terminal.getvalue().endswith(" \r")


@pytest.mark.parametrize("word", ["NA", "n/a", "NaN", "nan", "null", "NULL", "None", " na ", "", "  "])
@pytest.mark.parametrize("labels", [("0", "1"), ("no", "yes")])
def test_words_for_a_missing_label_leave_the_row_out(word: str, labels: tuple[str, str]) -> None:
    no, yes = labels
    data = {"y": [yes, no, word, no, word], "p": [yes, yes, no, word, word], "g": list("aaaab")}
    tally = tabulate(data, y_true="y", y_pred="p", groups="g")
    assert tally.cells == {("a",): eh.ConfusionMatrix(1, 0, 1, 0)}
    assert tally.left_out == {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1}


def test_a_table_of_missing_predictions_is_refused() -> None:
    for answer in ({"y_pred": ["", " "]}, {"y_pred": [None, None]}):
        with pytest.raises(eh.InvalidInput, match=r"^every value of y_pred is missing; there is nothing to audit$"):
            tabulate(None, y_true=[1, 0], groups=["a", "b"], **answer)
    with pytest.raises(eh.InvalidInput, match=r"^every row lacks a label or a prediction; there is nothing to audit$"):
        tabulate(None, y_true=[1, 0], y_score=[None, None], groups=["a", "b"])
    with pytest.raises(eh.InvalidInput, match=r"^data must have at least one row; got none$"):
        tabulate(None, y_true=[], y_pred=[], groups=[])


def test_without_labels_predictions_are_counted_as_of_negatives() -> None:
    """Positive predictions are FP, negative ones TN."""
    tally = tabulate(None, y_true=None, y_pred=[1, 0, 0, None], groups=list("aaba"))
    assert tally.cells == {("a",): eh.ConfusionMatrix(0, 0, 1, 1), ("b",): eh.ConfusionMatrix(0, 0, 0, 1)}
    assert (tally.labelled, tally.left_out) == (False, {"y_pred": 1})


def test_the_threshold_is_one_half_unless_given() -> None:
    scores: dict[str, Any] = {"y_true": [1, 0, 1, 0], "y_score": [0.5, 0.499, 0.7, 0.6], "groups": list("aaaa")}
    assert tabulate(None, **scores).cells == {("a",): eh.ConfusionMatrix(2, 0, 1, 1)}
    assert tabulate(None, **scores, threshold=0.65).cells == {("a",): eh.ConfusionMatrix(1, 1, 0, 2)}


def test_groups_go_by_the_names_that_they_have() -> None:
    values: dict[str, Any] = {"y_true": [1, 0], "y_pred": [1, 0]}
    assert tabulate(None, **values, groups=["a", "b"]).columns == ("group",)
    assert tabulate(None, **values, groups=pd.Series(["a", "b"], name="race")).columns == ("race",)
    assert tabulate(None, **values, groups={"race": ["a", "b"], "sex": ["F", "M"]}).columns == ("race", "sex")


@pytest.mark.parametrize(
    "column",
    [
        np.ma.array([1, 0, 9], mask=[False, False, True]),
        pa.array([1, 0, None]),
        pd.Series([1, 0, None], dtype="Int64"),
        pl.Series([1, 0, None]),
        [1.0, 0.0, float("nan")],
        [Decimal(1), Decimal(0), Decimal("nan")],
    ],
    ids=["masked", "pyarrow", "pandas", "polars", "nan", "decimals"],
)
def test_columns_come_in_any_container_with_their_missing_values(column: Any) -> None:
    tally = tabulate(None, y_true=column, y_pred=[1, 0, 1], groups=["a", "a", "a"])
    assert (tally.cells, tally.left_out) == ({("a",): eh.ConfusionMatrix(1, 0, 0, 1)}, {"y_true": 1})
    assert [type(label) for labels in tally.positive.values() for label in labels] == [int, int]


@pytest.mark.parametrize(
    ("held", "library"),
    [("pandas", "pandas"), ("dask", "pandas"), ("polars", "polars"), ("lazy polars", "polars"), ("pyarrow", "pyarrow"),
     ("duckdb", None), ("lists", None)],
)  # fmt: skip
def test_the_library_of_the_data_is_kept(held: str, library: str | None) -> None:
    assert tabulate(HELD[held](COLUMNS), y_true="label", y_pred="pred", groups="race group").library == library


def test_groups_are_in_order_and_the_missing_one_last() -> None:
    values: dict[str, Any] = {"y_true": [1, 0, 1, 0], "y_pred": [1, 0, 1, 0]}
    assert list(tabulate(None, **values, groups=[None, "b", 10, "a"]).cells) == [(10,), ("a",), ("b",), (None,)]


@pytest.mark.parametrize("name", ["data.tsv", "data.txt", "data.csv.zst", "data.tsv.gz", "DATA.CSV"])
def test_text_files_by_their_extension(name: str, tmp_path: Path) -> None:
    content = b"race\ty, z\tp\nA\t1\t1\nB\t0\t1\n"
    codec = {".gz": "gzip", ".zst": "zstd"}.get(Path(name).suffix)
    with pa.output_stream(str(tmp_path / name), compression=codec) as stream:
        stream.write(content)
    tally = tabulate(tmp_path / name, y_true="y, z", y_pred="p", groups="race")
    assert tally.cells == {("A",): eh.ConfusionMatrix(1, 0, 0, 0), ("B",): eh.ConfusionMatrix(0, 0, 1, 0)}


def test_a_path_may_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    text(COLUMNS, tmp_path)
    assert tabulate("~/data.csv", y_true="label", y_pred="pred", groups="race group").cells == CELLS


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("dta.csv", "there is no file {}/dta.csv; did you mean data.csv?"),
        ("*.parquet", "no file matches {}/*.parquet"),
        ("", "the folder {} contains no Parquet files; name files of other kinds one by one"),
    ],
)
def test_a_path_without_files_is_explained(given: str, sentence: str, tmp_path: Path) -> None:
    text(COLUMNS, tmp_path)
    with pytest.raises(eh.InvalidInput) as refusal:
        tabulate(tmp_path / given, y_true="label", y_pred="pred", groups="race group")
    assert str(refusal.value) == sentence.format(tmp_path)


def test_nothing_is_downloaded_to_read_a_file(tmp_path: Path) -> None:
    connection, _ = files.read_file(text(COLUMNS, tmp_path))
    switches = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_progress_bar_print": False,
        "enable_progress_bar": True,
    }
    for name, value in switches.items():
        assert connection.execute(f"SELECT current_setting('{name}')").fetchall() == [(value,)]


def test_the_first_rows_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("g,y\n007,1\n,0\nb,1\n", encoding="utf-8")
    assert first_rows(path, 2) == (["g", "y"], [("007", "1"), (None, "0")])
    path.with_suffix(".parquet").write_text("not parquet")
    with pytest.raises(eh.InvalidInput, match=r"data\.parquet cannot be read: "):
        first_rows(path.with_suffix(".parquet"), 2)


def test_a_cell_of_a_table_of_counts_is_found_by_name_in_any_case() -> None:
    counts = {"A": {"TN": 4, "fp": 3, "FN": 2, "tp": 1}}
    assert as_counts(counts, by="race") == Tally(("race",), {("A",): eh.ConfusionMatrix(1, 2, 3, 4)})
    with pytest.raises(eh.InvalidInput, match=r"^group 'A' must have tp, fn, fp and tn; got \{'tp': 1\}$"):
        as_counts({"A": {"tp": 1}}, by="race")


def test_a_table_of_counts_may_have_tabs_and_blank_lines() -> None:
    lines = ["g, x\ttp\tfn\tfp\ttn\n", "\n", "a, b\t1\t2\t3\t4\n"]
    assert read_counts(lines, "c.tsv") == (("g, x",), {("a, b",): eh.ConfusionMatrix(1, 2, 3, 4)})


def test_texts_that_spell_booleans_are_read_as_booleans() -> None:
    data = {"y": ["True", "false", " TRUE"], "p": [True, False, False], "g": list("aaa")}
    assert tabulate(data, y_true="y", y_pred="p", groups="g").cells == {("a",): eh.ConfusionMatrix(1, 1, 0, 1)}


def test_infinity_is_a_text_among_labels_and_a_number_among_values() -> None:
    data = {"y": ["inf", "1", "1"], "p": ["inf", "inf", "1"], "g": [Decimal("Infinity"), Decimal("2.5"), Decimal(3)]}
    tally = tabulate(data, y_true="y", y_pred="p", groups="g", positive="inf")
    assert tally.positive == {"label": ("inf",), "prediction": ("inf",)}
    assert list(tally.cells) == [(2.5,), (3,), (float("inf"),)]


def test_the_positive_label_is_kept_as_a_plain_value() -> None:
    tally = tabulate(None, y_true=[1, 2], y_pred=[1, 2], groups=["a", "a"], positive=np.int64(2))
    assert [type(label) for labels in tally.positive.values() for label in labels] == [int, int]


def test_a_group_may_be_a_tuple_in_a_single_column() -> None:
    assert list(as_counts({("A", "F"): (1, 2, 3, 4)}, by="group").cells) == [(("A", "F"),)]


def test_an_engine_is_not_asked_for_more_rows_than_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def watched(frame: Any) -> list[Any]:
        fetched.append(rows(frame))
        return fetched[-1]

    fetched: list[list[Any]] = []
    rows = frames._rows
    monkeypatch.setattr(frames, "MOST_ROWS", 3)
    monkeypatch.setattr(frames, "_rows", watched)
    with pytest.raises(eh.TooLarge):
        tabulate(pl.DataFrame({"g": range(9), "y": [0] * 9}), y_true="y", y_pred="y", groups="g")
    assert [len(batch) for batch in fetched] == [4]


def test_a_tsv_file_is_separated_by_tabs_whatever_else_it_contains(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_text("g;,\ty;,\tp;,\na;b,\t1;,\t1;,\nc;d,\t0;,\t1;,\n", encoding="utf-8")
    tally = tabulate(path, y_true="y;,", y_pred="p;,", groups="g;,", positive="1;,")
    assert list(tally.cells) == [("a;b,",), ("c;d,",)]


def test_a_glob_may_have_brackets_and_go_down_folders(tmp_path: Path) -> None:
    (tmp_path / "year" / "month").mkdir(parents=True)
    for name in ("1.pq", "2.pq", "x.pq"):
        pl.DataFrame(COLUMNS).write_parquet(tmp_path / "year" / "month" / name)
    columns: dict[str, Any] = {"y_true": "label", "y_pred": "pred", "groups": "race group"}
    assert tabulate(f"{tmp_path}/year/month/[12].pq", **columns).cells[("a",)].n == 6
    assert tabulate(f"{tmp_path}/**/x.pq", **columns).cells == CELLS


def test_spaces_around_the_values_of_a_table_of_counts_do_not_matter() -> None:
    lines = ["g , tp, fn, fp, tn", " a , 1, 2, 3, 4", "  , 1, 2, 3, 4"]
    matrix = eh.ConfusionMatrix(1, 2, 3, 4)
    assert read_counts(lines, "c.csv") == (("g",), {("a",): matrix, (None,): matrix})


@pytest.mark.parametrize("threshold", [[0.5], np.array([0.5, 0.6]), 10**400, Decimal("sNaN"), 1j])
def test_a_threshold_is_one_finite_number(threshold: Any) -> None:
    with pytest.raises(eh.InvalidInput, match=r"^threshold must be a finite number; got "):
        tabulate(None, y_true=[1, 0], y_score=[1, 0], threshold=threshold, groups=["a", "b"])
    assert tabulate(None, y_true=[1, 0], y_score=[0.5, 0.4], threshold=Decimal("0.5"), groups=["a", "a"]).cells == {  # type: ignore[arg-type]
        ("a",): eh.ConfusionMatrix(1, 0, 0, 1)
    }


@pytest.mark.parametrize("score", [[0.5], 1j, np.array([1, 2])])
def test_scores_are_numbers(score: Any) -> None:
    with pytest.raises(eh.InvalidInput, match=r"^y_score must contain numbers; got "):
        tabulate(None, y_true=[1, 0], y_score=[1, score], groups=["a", "b"])
    tally = tabulate(None, y_true=[1, 0], y_score=[1, Decimal("sNaN")], groups=["a", "a"])
    assert tally.left_out == {"y_pred": 1}


def test_masked_values_are_missing_whatever_they_are() -> None:
    days = np.ma.array(np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), mask=[False, True])
    assert list(tabulate(None, y_true=[1, 0], y_pred=[1, 0], groups=days).cells) == [("2020-01-01T00:00:00",), (None,)]
    listed = [1, 0, np.ma.masked]
    assert tabulate(None, y_true=listed, y_pred=[1, 0, 1], groups=list("aaa")).left_out == {"y_true": 1}


def test_decimals_of_arrow_are_numbers() -> None:
    table = pa.table({
        "g": ["a", "b", "a"],
        "y": pa.array([Decimal(1), Decimal(0), None], pa.decimal128(5, 2)),
        "s": pa.array([Decimal("0.5"), Decimal("0.1"), Decimal("0.4")], pa.decimal128(5, 2)),
    })  # fmt: skip
    for data in (table, pl.from_arrow(table), table.to_pandas(types_mapper=pd.ArrowDtype)):
        tally = tabulate(data, y_true="y", y_score="s", groups="g")
        assert tally.cells == {("a",): eh.ConfusionMatrix(1, 0, 0, 0), ("b",): eh.ConfusionMatrix(0, 0, 0, 1)}
    assert tabulate(None, y_true=table["y"], y_score=table["s"], groups=table["g"]).cells == tally.cells


def test_a_table_of_counts_keeps_line_breaks_in_names() -> None:
    text = 'g,tp,fn,fp,tn\n"a\nb",1,2,3,4\n"a\r\nb",1,2,3,4\na\u2028b,1,2,3,4\n'
    assert list(read_counts(io.StringIO(text, newline=""), "c.csv")[1]) == [("a\nb",), ("a\r\nb",), ("a\u2028b",)]
    with pytest.raises(eh.InvalidInput, match=r"^c\.csv cannot be read: unexpected end of data$"):
        read_counts(io.StringIO('g,tp,fn,fp,tn\n"a,1,2,3,4\n'), "c.csv")


@pytest.mark.parametrize("by", [5, None, [1], np.array([1, 2]), []])
def test_group_columns_of_counts_have_names(by: Any) -> None:
    with pytest.raises(eh.InvalidInput, match=r"^by must be the name of a group column, or several; got "):
        as_counts({"A": (1, 2, 3, 4)}, by=by)
