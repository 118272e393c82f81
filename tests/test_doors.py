"""How data get in: every way of holding a table gives the same counts, or is refused in one sentence."""

from __future__ import annotations

import datetime
import hashlib
import io
import math
import signal
import sqlite3
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from engines import ibis, modin, spark

import evenhand as eh
from evenhand import progress
from evenhand.tabulate import columns, databases, delimited, files, first_rows, frames, streams, tabulate

AGES: dict[str, list[Any]] = {
    "g": ["a", "b", "a", "b", "a", "b", "a", "b", "a"],
    "age": [24.999, 25.0, 44.0, 45.0, -1.0, None, 1e300, math.inf, 25.0],
}
LEVELS = Counter({("a", 0): 2, ("b", 1): 1, ("a", 1): 2, ("b", 2): 2, ("b", None): 1, ("a", 2): 1})
CUTS = {1: (25.0, 45.0)}

HELD: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with arrow": lambda c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda c: duckdb.from_arrow(pa.table(c)),
    "dask": lambda c: dd.from_pandas(pd.DataFrame(c), npartitions=2),  # type: ignore[no-untyped-call]
}


ELSEWHERE: dict[str, Callable[[dict[str, list[Any]]], Any]] = {"pyspark": spark, "ibis": ibis, "modin": modin}


def lists(table: dict[str, list[Any]], names: list[str]) -> list[tuple[str, Any]]:
    return [(name, table[name]) for name in names]


@pytest.mark.parametrize("held", [*HELD, *ELSEWHERE])
@pytest.mark.filterwarnings("ignore")  # of the engines themselves
def test_a_column_with_cuts_is_counted_by_level(held: str) -> None:
    """The level of x is the number of cuts c with c <= x; it is missing if x is."""
    assert frames.count_frame((HELD | ELSEWHERE)[held](AGES), ["g", "age"], CUTS).rows == LEVELS


def test_values_and_files_have_the_same_levels(tmp_path: Path) -> None:
    assert frames.count_columns(lists(AGES, ["g", "age"]), CUTS).rows == LEVELS
    pl.DataFrame(AGES).write_parquet(tmp_path / "d.parquet")
    pl.DataFrame(AGES).write_csv(tmp_path / "d.csv")
    # A separator at the end of a quoted row is one of the things that only the csv module reads.
    fallback = "".join(f'"{g}",{"" if x is None else x}\n' for g, x in zip(AGES["g"], AGES["age"], strict=True))
    (tmp_path / "fallback.csv").write_text(f"g,age\n{fallback}")
    assert not delimited.layout_of(tmp_path / "fallback.csv").simple
    for name in ("d.parquet", "d.csv", "fallback.csv"):
        assert files.count_file(tmp_path / name, ["g", "age"], CUTS).rows == LEVELS, name


@pytest.mark.parametrize("held", HELD)
@pytest.mark.filterwarnings("ignore")
def test_a_column_may_be_counted_both_by_value_and_by_level(held: str, tmp_path: Path) -> None:
    table: dict[str, Any] = {"x": [1, 2, 3, 3]}
    expected = Counter({(1, 0, 0): 1, (2, 0, 1): 1, (3, 1, 1): 2})
    names, cuts = ["x", "x", "x"], {1: (3.0,), 2: (2.0,)}
    assert frames.count_frame(HELD[held](table), names, cuts).rows == expected
    assert frames.count_columns(lists(table, names), cuts).rows == expected
    (tmp_path / "d.csv").write_text("x,evenhand_number1\n1,a\n2,a\n3,a\n3,a\n")
    written = Counter({(str(x), *rest): n for (x, *rest), n in expected.items()})
    assert files.count_file(tmp_path / "d.csv", names, cuts).rows == written


@pytest.mark.parametrize("held", HELD)
@pytest.mark.filterwarnings("ignore")
def test_many_cuts_are_as_many_levels(held: str) -> None:
    """One threshold per per mille, and the check that scores lie within [0, 1]."""
    table: dict[str, Any] = {"s": [i / 1000 for i in range(1001)]}
    cuts = tuple(i / 500 for i in range(1, 501))
    wanted = Counter((sum(cut <= s for cut in cuts),) for s in table["s"])
    assert frames.count_frame(HELD[held](table), ["s"], {0: cuts}).rows == wanted
    within = {0: (0.0, 0.5, math.nextafter(1, math.inf))}
    assert frames.count_frame(HELD[held](table), ["s"], within).rows == Counter({(1,): 500, (2,): 501})
    outside = {"s": [-1e-300, 0.0, 1.0, math.nextafter(1, 2)]}
    assert frames.count_frame(HELD[held](outside), ["s"], within).rows == Counter({(0,): 1, (1,): 1, (2,): 1, (3,): 1})


def test_a_cut_is_not_rounded_to_the_type_of_the_column() -> None:
    """0.7 in 32 bits is below 0.7, and 1 is not above 1, in every library."""
    short = np.array([0.7, 1.0], dtype="f4")
    cuts = {0: (0.7, math.nextafter(1, math.inf))}
    table = pa.table({"s": short})
    for frame in (table, pl.from_arrow(table), table.to_pandas(), duckdb.from_arrow(table)):
        assert frames.count_frame(frame, ["s"], cuts).rows == Counter({(0,): 1, (1,): 1})
    assert frames.count_columns([("s", short)], cuts).rows == Counter({(0,): 1, (1,): 1})


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u8", "?", "g", object])
def test_levels_of_an_array_are_those_of_its_values(dtype: Any) -> None:
    numbers = np.array([0, 1, 1, 0, 1], dtype=dtype)
    if np.dtype(dtype).kind == "f":
        numbers = np.append(numbers, np.array([np.nan, np.inf, 0.5, 0.7, -0.0], dtype=dtype))
    cuts = (0.0, 0.5, 0.7, 1.0)
    found = frames.count_columns([("s", numbers)], {0: cuts}).rows
    wanted = (None if x != x else sum(cut <= float(x) for cut in cuts) for x in numbers)
    assert found == Counter((level,) for level in wanted)
    masked = np.ma.array(numbers, mask=[True] + [False] * (len(numbers) - 1))
    assert frames.count_columns([("s", masked)], {0: cuts}).rows == found - Counter([(1,)]) + Counter([(None,)])


def test_numbers_of_any_type_have_levels() -> None:
    values = [10**400, -(10**400), Decimal("25"), True, np.float32(24), np.int8(30), Decimal("sNaN"), None]
    found = frames.count_columns([("age", values)], {0: (25.0, 45.0)}).rows
    assert found == Counter({(2,): 1, (0,): 3, (1,): 2, (None,): 2})
    with pytest.raises(eh.InvalidInput, match=r"^age must contain numbers; got '30'$"):
        frames.count_columns([("age", ["30"])], {0: (25.0,)})
    with pytest.raises(eh.InvalidInput, match=r"^'age' must contain numbers; it contains String$"):
        frames.count_frame(pl.DataFrame({"age": ["30"]}), ["age"], {0: (25.0,)})
    for bools in (pl.DataFrame({"s": [True, False]}), pd.DataFrame({"s": [True, False]})):
        assert frames.count_frame(bools, ["s"], {0: (0.5,)}).rows == Counter({(0,): 1, (1,): 1})


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
            assert delimited.layout_of(path).simple is simple
            if number is None and not missing:
                with pytest.raises(eh.InvalidInput, match=r"^'t' must contain numbers; got "):
                    files.count_file(path, ["t"], {0: (0.0, 0.5, 900.0)})
                continue
            level = None if missing or number is None else sum(cut <= number for cut in (0.0, 0.5, 900.0))
            found = files.count_file(path, ["t"], {0: (0.0, 0.5, 900.0)}).rows
            assert found == Counter([(level,), (2,)]), (text, simple)


def test_the_source_of_a_file_is_its_name_size_and_digest(tmp_path: Path) -> None:
    content = b"g;y\na;1\nb;0\n"
    (tmp_path / "d.csv").write_bytes(content)
    assert files.count_file(tmp_path / "d.csv", ["g"], {}).source == {
        "kind": "file",
        "name": "d.csv",
        "files": 1,
        "size": 12,
        "sha256": hashlib.sha256(content).hexdigest(),
        "format": "csv",
        "separator": ";",
    }
    pl.DataFrame({"g": ["a"]}).write_parquet(tmp_path / "d.parquet")
    written = (tmp_path / "d.parquet").read_bytes()
    assert files.count_file(str(tmp_path / "d.parquet"), ["g"], {}).source == {
        "kind": "file",
        "name": "d.parquet",
        "files": 1,
        "size": len(written),
        "sha256": hashlib.sha256(written).hexdigest(),
        "format": "parquet",
    }


def test_the_digest_of_several_files_is_that_of_their_names_and_digests(tmp_path: Path) -> None:
    """Moving the folder does not change it; renaming a file or changing one does."""
    contents = {"b.csv": b"g,y\na,1\n", "a.csv": b"g\ty\nb,\t1\n", "x\ny.csv": b"g,y\nc,1\n"}

    def digest(folder: Path, names: dict[str, bytes]) -> dict[str, Any]:
        folder.mkdir()
        for name, content in names.items():
            (folder / name).write_bytes(content)
        return files.count_file(str(folder / "*.csv"), ["g"], {}).source

    found = digest(tmp_path / "one", contents)
    lines = sorted(
        f"{name}  {hashlib.sha256(content).hexdigest()}\n"
        for name, content in ((name.replace("\n", "\\n"), content) for name, content in contents.items())
    )
    assert found == {
        "kind": "file",
        "name": "*.csv",
        "files": 3,
        "size": sum(map(len, contents.values())),
        "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
        "format": "csv",
        "separator": "\t,",
    }
    assert digest(tmp_path / "two", contents) == found
    renamed = {name.replace("b", "c"): content for name, content in contents.items()}
    assert digest(tmp_path / "three", renamed)["sha256"] != found["sha256"]
    assert digest(tmp_path / "four", contents | {"b.csv": b"g,y\na,2\n"})["sha256"] != found["sha256"]


@pytest.mark.parametrize(
    ("held", "library", "rows"),
    [("pandas", "pandas", 9), ("polars", "polars", 9), ("lazy polars", "polars", None), ("pyarrow", "pyarrow", 9),
     ("duckdb", "duckdb", None), ("dask", "dask", None)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_the_source_of_a_frame_is_its_library_and_shape(held: str, library: str, rows: int | None) -> None:
    found = frames.count_frame(HELD[held](AGES), ["g"], {}).source
    assert found == {"kind": "frame", "library": library, "shape": [rows, 2]}


def test_the_source_of_columns_is_their_shape() -> None:
    given = [("group", ["a", "b", "c"]), ("y_pred", [0, 1, 1])]
    assert columns.count(None, given, {}).source == {"kind": "columns", "shape": [3, 2]}


TABLE: dict[str, list[Any]] = {"y": [1, 0, 1, 0, 1], "p": [1, 1, 0, 0, 1], "g": ["a", "a", "b", "b", "b"]}
CELLS = {("a",): (1, 0, 1, 0), ("b",): (1, 1, 0, 1)}
NAMED: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g"}


def cells(data: Any, **given: Any) -> dict[Any, tuple[float, ...]]:
    return {key: cm.cells for key, cm in tabulate(data, **NAMED | given).cells.items()}


def refusal(data: Any, **given: Any) -> str:
    with pytest.raises(eh.EvenhandError) as found:
        tabulate(data, **NAMED | given)
    return str(found.value)


@pytest.mark.parametrize("held", ["pandas", "pandas with arrow", "polars", "pyarrow"])
@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series, pa.array], ids=lambda f: f.__name__)
def test_a_frame_may_come_with_separate_values(held: str, wrap: Any) -> None:
    frame = HELD[held](TABLE)
    assert cells(frame, y_pred=wrap(TABLE["p"])) == CELLS
    assert cells(frame, y_true=wrap(TABLE["y"]), y_pred=wrap(TABLE["p"])) == CELLS
    assert cells(frame, groups={"g": wrap(TABLE["g"])}) == CELLS
    scores = wrap([0.9, 0.5, 0.1, 0.2, 0.8])
    tally = tabulate(frame, y_true="y", y_score=scores, groups="g")
    assert {key: cm.cells for key, cm in tally.cells.items()} == CELLS
    assert tally.library == held.partition(" ")[0]


def test_separate_values_belong_to_the_rows_of_a_frame() -> None:
    """Values without an index by position, a Series by its index, which must be the frame's."""
    frame = pd.DataFrame(TABLE, index=[10, 11, 12, 13, 14])
    assert cells(frame, y_pred=pd.Series(TABLE["p"], index=frame.index)) == CELLS
    other = pd.Series(TABLE["p"])
    assert refusal(frame, y_pred=other) == (
        "g and y_pred must have the same index; align them, or pass their values without it"
    )
    assert cells(frame, y_pred=other.to_numpy()) == CELLS
    assert refusal(frame, y_pred=[1, 0]) == "columns must have the same length; got g 5, y_true 5, y_pred 2"
    assert refusal(frame, groups=["a", "b"]) == "no column is called 'a'; known: y, p, g"
    assert refusal(frame, groups=TABLE["g"]) == (
        "no column is called 'a'; a list of texts contains names of columns: pass values as an array"
    )


@pytest.mark.parametrize("held", ["lazy polars", "duckdb", "dask"])
@pytest.mark.filterwarnings("ignore")
def test_a_lazy_frame_does_not_come_with_separate_values(held: str) -> None:
    assert refusal(HELD[held](TABLE), y_pred=np.array(TABLE["p"])) == (
        "y_pred must be the name of a column, since data is a lazy frame, whose rows are not in memory; got "
        "array([1, 1, 0, 0, 1])"
    )


def test_values_that_are_not_in_memory_are_refused() -> None:
    relation = duckdb.from_arrow(pa.table({"p": TABLE["p"]}))
    lazy = dd.from_pandas(pd.DataFrame(TABLE), npartitions=2)  # type: ignore[no-untyped-call]
    for library, given in (("dask", lazy["p"]), ("polars", pl.LazyFrame({"p": TABLE["p"]})), ("duckdb", relation)):
        assert refusal(pd.DataFrame(TABLE), y_pred=given) == (
            f"y_pred must be values in memory; got a {type(given).__name__} of {library}: pass its frame as data, and "
            "names of columns"
        )


def test_a_file_or_stream_does_not_come_with_separate_values(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_csv(tmp_path / "d.csv")
    assert refusal(tmp_path / "d.csv", y_pred=[1, 0]) == (
        "y_pred must be the name of a column, since data is in a file; got [1, 0]"
    )
    assert refusal(pa.table(TABLE).to_reader(), y_pred=[1, 0]) == (
        "y_pred must be the name of a column, since data is a stream; got [1, 0]"
    )


HOSTILE = ["*", "^a.*$", "a.b", "a`b", 'a"b', "a'b", "x\ny", " ", "evenhand_0", "evenhand_c1", "evenhand_n", "index",
           "count", "名", "`x`", "select", "a b.c d", "$1", "\\", "{x}", "%s", ":p", "?"]  # fmt: skip


@pytest.mark.parametrize("held", [*HELD, *ELSEWHERE])
@pytest.mark.filterwarnings("ignore")
def test_a_name_means_its_own_column_in_every_engine(held: str) -> None:
    wide: dict[str, list[Any]] = {name: [i, i + 1, i] for i, name in enumerate(HOSTILE)}
    frame = (HELD | ELSEWHERE)[held](wide)
    for i in range(0, len(HOSTILE), 3 if held in ELSEWHERE else 1):
        asked = [HOSTILE[i], HOSTILE[i - 1]]
        wanted = Counter(zip(*(wide[name] for name in asked), strict=True))
        assert frames.count_frame(frame, asked, {}).rows == wanted, asked
        assert frames.count_frame(frame, asked[:1], {0: (i + 1.0,)}).rows == Counter({(0,): 2, (1,): 1})


@pytest.mark.parametrize("names", [[0, 1, 2], [("y", 1), ("y", 2), ("g", 1)], [1.5, pd.Timestamp("2020"), True]])
def test_names_of_columns_need_not_be_texts(names: list[Any]) -> None:
    frame = pd.DataFrame(TABLE)
    frame.columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else pd.Index(names, dtype=object)
    label, prediction, group = names
    by = tabulate(frame, y_true=label, y_pred=prediction, groups=group)
    assert {key: cm.cells for key, cm in by.cells.items()} == CELLS
    assert by.columns == ("g, 1" if group == ("g", 1) else str(group),)
    assert cells(frame, y_true=label, y_pred=prediction, groups=[group]) == CELLS
    assert cells(frame, y_true=label, y_pred=TABLE["p"], groups=group) == CELLS
    both = tabulate(frame, y_true=label, y_pred=prediction, groups=[group, label])
    assert len(both.columns) == 2
    mapped = dict(zip(names, TABLE.values(), strict=True))
    assert cells(mapped, y_true=label, y_pred=prediction, groups=group) == CELLS


@pytest.mark.filterwarnings("ignore")
def test_integers_are_names_in_dask_too() -> None:
    frame = pd.DataFrame(dict(zip([0, 1, 2], TABLE.values(), strict=True)))
    lazy = dd.from_pandas(frame, npartitions=2)  # type: ignore[no-untyped-call]
    assert cells(lazy, y_true=0, y_pred=1, groups=2) == CELLS


def test_names_that_could_be_misread_are_refused() -> None:
    frame = pd.DataFrame([[1, 1, "a"], [0, 1, "b"]], columns=[0, 1, 2])
    assert refusal(frame, y_true=0, y_pred=1, groups=[1, 2]) == (
        "groups may be the names of 2 columns or the values of 2 rows; got [1, 2]: pass values as an array"
    )
    assert refusal(frame, y_true=0, y_pred="1", groups=2) == "no column is called '1'; did you mean 1?"
    assert refusal(frame, y_true=0, y_pred=True, groups=2) == "no column is called True; known: 0, 1, 2"
    table = {"a": ["x", "y"], "b": ["x", "y"], ("a", "b"): ["x", "y"], "y": [1, 0], "p": [1, 1]}
    assert refusal(table, groups=("a", "b")) == (
        "groups is ('a', 'b'), which is the name of a column, and each of its parts is one too; pass [('a', 'b')] for "
        "the column, or ['a', 'b'] for the columns"
    )
    assert list(cells(table, groups=[("a", "b")])) == [("x",), ("y",)]
    assert list(cells(table, groups=["a", "b"])) == [("x", "x"), ("y", "y")]
    assert refusal({1: ["x"], "1": ["y"], "y": [1], "p": [1]}, groups=[1, "1"]) == (
        "group columns must have distinct names; got '1' twice"
    )
    nested = pd.DataFrame(TABLE)
    nested.columns = pd.MultiIndex.from_tuples([("y", ""), ("p", ""), ("g", "x")])
    assert refusal(nested) == "no column is called 'g'; did you mean ('g', 'x')?"
    assert cells(nested, groups=[("g", "x")]) == CELLS


def test_the_group_may_be_a_level_of_the_index() -> None:
    frame = pd.DataFrame(TABLE)
    assert cells(frame.set_index("g")) == CELLS
    several = frame.assign(h=[1, 1, 1, 2, 2]).set_index(["g", "h"])
    assert cells(several) == CELLS
    assert cells(several, y_pred=np.array(TABLE["p"])) == CELLS
    assert cells(several, groups=["h", "g"]) == {(1, "a"): (1, 0, 1, 0), (1, "b"): (0, 1, 0, 0), (2, "b"): (1, 0, 0, 1)}
    assert tabulate(None, y_true=TABLE["y"], y_pred=TABLE["p"], groups=several.index).columns == ("g", "h")
    assert cells(frame.astype({"g": "category"}).set_index("g")) == CELLS
    assert cells(frame.set_index("g", drop=False)) == CELLS
    confused = frame.set_index(pd.Index(list("babab"), name="g"))
    assert refusal(confused) == "'g' is the name of more than one column or level of the index; rename all but one"
    assert refusal(frame.set_index("g"), groups="h") == "no column is called 'h'; known: y, p, g"


@pytest.mark.filterwarnings("ignore")
def test_the_group_may_be_the_index_in_dask() -> None:
    frame = pd.DataFrame(TABLE).set_index("g")
    assert cells(dd.from_pandas(frame, npartitions=2)) == CELLS  # type: ignore[no-untyped-call]


def test_a_column_of_a_table_is_a_column() -> None:
    """Shape (n, 1), of any container."""
    y, p, g = (np.array(TABLE[name])[:, None] for name in "ypg")
    assert cells(None, y_true=y, y_pred=p, groups=g) == CELLS
    assert cells(None, y_true=pd.DataFrame({"y": TABLE["y"]}), y_pred=p.astype(object), groups=g) == CELLS
    assert cells(None, y_true=pl.DataFrame({"y": TABLE["y"]}), y_pred=pa.table({"p": TABLE["p"]}), groups=g) == CELLS
    masked = np.ma.array(p, mask=[[False]] * 4 + [[True]])
    tally = tabulate(None, y_true=y, y_pred=masked, groups=g)
    assert tally.left_out == {"y_pred": 1}
    assert refusal(None, y_true=np.array([[1, 0, 1, 0, 1]]), y_pred=p, groups=g) == "y_true must be one column; got 5"
    assert refusal(None, y_true=np.zeros((5, 1, 1)), y_pred=p, groups=g) == (
        "y_true must have one or two dimensions; got shape (5, 1, 1)"
    )
    for nothing in (np.array(True), {"a": 1}, {1, 0}):
        assert refusal(None, y_true=nothing, y_pred=p, groups=g) == (
            f"y_true must be a sequence of values; got {nothing!r}"
        )


def test_the_columns_of_an_array_are_group_columns() -> None:
    y, p = TABLE["y"], TABLE["p"]
    crossed = np.array([["a", "F"], ["a", "M"], ["b", "F"], ["b", "F"], ["b", "M"]])
    found = tabulate(None, y_true=y, y_pred=p, groups=crossed)
    assert found.columns == ("group_1", "group_2")
    assert found.cells[("b", "F")] == eh.ConfusionMatrix(0, 1, 0, 1)
    assert tabulate(pd.DataFrame(TABLE), y_true="y", y_pred="p", groups=crossed).cells == found.cells
    named = np.array([tuple(row) for row in crossed], dtype=[("race", "U1"), ("sex", "U1")])
    for groups in (named, named[:, None], pa.table({"race": crossed[:, 0], "sex": crossed[:, 1]}),
                   pl.DataFrame(crossed, schema=["race", "sex"], orient="row")):  # fmt: skip
        tally = tabulate(None, y_true=y, y_pred=p, groups=groups)
        assert (tally.columns, tally.cells) == (("race", "sex"), found.cells)


def test_several_arrays_are_group_columns() -> None:
    frame = pd.DataFrame(TABLE | {"h": [1, 1, 1, 2, 2]})
    wanted = {("a", 1): (1, 0, 1, 0), ("b", 1): (0, 1, 0, 0), ("b", 2): (1, 0, 0, 1)}
    tally = tabulate(frame, y_true="y", y_pred="p", groups=[frame["g"], frame["h"]])
    assert (tally.columns, {key: cm.cells for key, cm in tally.cells.items()}) == (("g", "h"), wanted)
    tally = tabulate(None, y_true=frame["y"], y_pred=frame["p"], groups=[np.array(frame["g"]), np.array(frame["h"])])
    assert (tally.columns, {key: cm.cells for key, cm in tally.cells.items()}) == (("group_1", "group_2"), wanted)


@pytest.mark.parametrize("wrap", [list, tuple, np.array, pd.Series, pl.Series, pa.array, deque, iter])
def test_values_are_counted_in_blocks(wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_BLOCK", 2)
    assert cells(None, y_true=wrap(TABLE["y"]), y_pred=wrap(TABLE["p"]), groups=np.array(TABLE["g"])) == CELLS
    masked = np.ma.array(TABLE["p"], mask=[False, False, False, True, False])
    tally = tabulate(None, y_true=wrap(TABLE["y"]), y_pred=masked, groups=np.array(TABLE["g"]))
    assert tally.left_out == {"y_pred": 1}


def test_identifiers_passed_as_values_are_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_BLOCK", 10)
    monkeypatch.setattr(frames, "MOST_ROWS", 15)
    seen: list[int] = []
    part = frames._part

    def watched(column: Any, start: int) -> Any:
        seen.append(start)
        return part(column, start)

    monkeypatch.setattr(frames, "_part", watched)
    with pytest.raises(eh.TooLarge):
        frames.count_columns([("id", np.arange(1000))], {})
    assert seen == [0, 10]


def test_a_structured_array_is_a_table() -> None:
    array = np.array(list(zip(*TABLE.values(), strict=True)), dtype=[("y", "i8"), ("p", "i1"), ("g", "U1")])
    assert cells(array) == CELLS
    assert cells(array.view(np.recarray)) == CELLS
    assert cells(array, y_pred=TABLE["p"]) == CELLS
    assert refusal(array, groups="h") == "no column is called 'h'; known: y, p, g"
    assert columns.count(array, [("g", "g")], {}).source == {"kind": "frame", "library": "numpy", "shape": [5, 3]}
    assert (
        refusal(np.zeros((2, 2))) == "data must be a dataframe, a mapping of columns or a path to a file; got ndarray"
    )


def test_arrays_of_xarray_are_columns() -> None:
    xr = pytest.importorskip("xarray", reason="xarray is not installed; it is in the extra dev")
    dataset = xr.Dataset({name: ("row", values) for name, values in TABLE.items()})
    assert cells(dataset) == CELLS
    assert cells(dataset.set_coords("g")) == CELLS
    assert cells(None, y_true=dataset["y"], y_pred=dataset["p"], groups=dataset["g"]) == CELLS
    assert columns.count(dataset, [("g", "g")], {}).source == {"kind": "frame", "library": "xarray", "shape": [5, 3]}
    moved = dataset["p"].assign_coords(row=[1, 2, 3, 4, 5])
    still = dataset["y"].assign_coords(row=[0, 1, 2, 3, 4])
    assert refusal(None, y_true=still, y_pred=moved, groups=TABLE["g"]) == (
        "y_true and y_pred must have the same index; align them, or pass their values without it"
    )
    square = dataset.assign(p=(("row", "col"), np.ones((5, 2))), q=("other", TABLE["p"]))
    assert refusal(square, y_pred="q") == (
        "columns must have the same dimension; g has row, y_true has row, y_pred has other"
    )
    assert refusal(square, y_pred=square["p"]) == "y_pred must be one column; got 2"
    assert refusal(dataset, groups="h") == "no column is called 'h'; known: y, p, g"
    chunked = dataset["p"].chunk()
    assert refusal(None, y_true=TABLE["y"], y_pred=chunked, groups=TABLE["g"]) == (
        "y_pred must be values in memory; it is a dask array: compute it first"
    )
    table = xr.DataArray(np.array(list(TABLE.values()), dtype=object).T, dims=("row", "column"))
    assert cells(table.assign_coords(column=list(TABLE))) == CELLS
    assert refusal(table) == (
        "a DataArray must have two dimensions, and names of columns as the coordinate of the second; got row, column"
    )


PROBABILITIES = np.array([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.2, 0.8]])


def test_of_two_columns_of_scores_the_second_is_taken() -> None:
    """As predict_proba orders classes, the second is the larger label."""
    scored: dict[str, Any] = {"y_pred": None, "y_score": PROBABILITIES}
    assert cells(TABLE, **scored) == CELLS
    assert cells(pd.DataFrame(TABLE), **scored) == CELLS
    assert cells(TABLE | {"s": PROBABILITIES}, y_pred=None, y_score="s") == CELLS
    assert cells(TABLE, y_pred=None, y_score=PROBABILITIES.astype("f4")) == CELLS
    missing = PROBABILITIES.copy()
    missing[4] = np.nan
    assert tabulate(TABLE, y_true="y", y_score=missing, groups="g").left_out == {"y_pred": 1}
    assert cells(TABLE | {"y": list(map(str, TABLE["y"]))}, **scored) == CELLS
    words = TABLE | {"y": ["good" if y else "bad" for y in TABLE["y"]]}
    assert cells(words, **scored, positive="good") == CELLS
    assert cells(words, y_pred=None, y_score=PROBABILITIES[:, :1], positive="bad") == {
        ("a",): (1, 0, 0, 1),
        ("b",): (1, 0, 1, 1),
    }


@pytest.mark.parametrize(
    ("scores", "labels", "positive", "sentence"),
    [
        (PROBABILITIES, [1, 0, 1, 0, 1], 0,
         "y_score has two columns, and as scikit-learn orders classes the second is that of 1, but the positive label "
         "is 0; pass the column of the positive class"),
        (PROBABILITIES, ["Yes", "no", "Yes", "no", "Yes"], None,
         "y_score has two columns, and as scikit-learn orders classes the second is that of 'no', but the positive "
         "label is 'Yes'; pass the column of the positive class"),
        (np.ones((5, 3)) / 3, TABLE["y"], None, "y_score has 3 columns; pass the column of the positive class"),
        (pd.DataFrame(PROBABILITIES), TABLE["y"], None,
         "y_score has 2 columns; pass the column of the positive class"),
        (PROBABILITIES * [[1]] + [[0, 0.25]] * 5, TABLE["y"], None,
         "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row 1 "
         "contains 0.1 and 1.15"),
        (np.array([[0.5, 0.5]] * 4 + [[2.0, -1.0]]), TABLE["y"], None,
         "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row 5 "
         "contains 2 and -1"),
        (np.array([[0.5, 0.5]] * 4 + [[np.nan, 1.0]]), TABLE["y"], None,
         "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row 5 "
         "contains nan and 1"),
        (np.array([["a", "b"]] * 5), TABLE["y"], None, "y_score must contain numbers; got a ndarray"),
    ],
)  # fmt: skip
def test_columns_of_scores_that_may_be_others_are_refused(
    scores: Any, labels: list[Any], positive: Any, sentence: str
) -> None:
    table = TABLE | {"y": labels}
    assert refusal(table, y_pred=None, y_score=scores, positive=positive) == sentence


def test_a_stream_is_counted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch is read once, with the columns that are asked for; blocks of a few rows add up."""
    monkeypatch.setattr(streams, "_BLOCK", 3)
    table = pa.table(TABLE | {"s": [0.9, 0.5, 0.1, 0.2, 0.8], "x": [1] * 5})
    assert cells(table.to_reader(max_chunksize=2)) == CELLS
    assert cells(table.to_reader(max_chunksize=2), y_pred=None, y_score="s") == CELLS
    found = columns.count(table.to_reader(max_chunksize=2), [("g", "g"), ("g", "g")], {})
    assert found.rows == Counter({("a", "a"): 2, ("b", "b"): 3})
    assert (found.source, found.library) == ({"kind": "frame", "library": "pyarrow", "shape": [None, 5]}, "pyarrow")
    assert refusal(table.to_reader(), groups="h") == "no column is called 'h'; known: y, p, g, s, x"
    assert refusal(table.to_reader(), y_pred=None, y_score="g") == "'g' must contain numbers; it contains String"
    twice = pa.table([[1], [2], ["a"], ["b"]], names=["y", "p", "g", "g"])
    assert refusal(twice.to_reader()) == "data has 2 columns called 'g'; rename all but one"


@pytest.mark.parametrize("held", [*HELD, *ELSEWHERE])
@pytest.mark.filterwarnings("ignore")
def test_a_frame_is_counted_by_its_engine_even_if_it_can_be_streamed(held: str) -> None:
    assert not streams.is_stream((HELD | ELSEWHERE)[held](TABLE))


def test_a_stream_is_opened_once() -> None:
    """Some can be read only once."""

    class Once:
        opened = 0

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            self.opened += 1
            return pa.table(TABLE | {"h": ["x"] * 5}).__arrow_c_stream__(requested_schema)

    data = Once()
    tabulate(data, y_true="y", y_pred="p", groups=["g", "h"])
    assert data.opened == 1


@pytest.mark.filterwarnings("ignore")
def test_a_lazy_frame_is_not_asked_for_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = dd.from_pandas(pd.DataFrame(TABLE), npartitions=2)  # type: ignore[no-untyped-call]

    def refuse(self: Any) -> int:
        raise AssertionError

    monkeypatch.setattr(type(lazy), "__len__", refuse)
    assert cells(lazy, groups=["g"]) == CELLS


def test_a_data_set_of_arrow_is_scanned_by_name(tmp_path: Path) -> None:
    nested = pa.table(TABLE | {"a.b": TABLE["g"], "a": [{"b": "x"}] * 5})
    assert cells(pyarrow.dataset.dataset(nested), groups="a.b") == CELLS
    for i in range(2):
        pyarrow.parquet.write_table(pa.table(TABLE), tmp_path / f"{i}.parquet")
    assert cells(pyarrow.dataset.dataset(tmp_path)) == {("a",): (2, 0, 2, 0), ("b",): (2, 2, 0, 2)}


def test_an_arrow_stream_that_fails_is_refused() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return pa.array([1, 2]).__arrow_c_array__()[0]

    assert refusal(Broken()).startswith("data cannot be read: ")


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
    assert tabulate(tmp_path / name, y_true="y", y_score="s", groups="g").left_out == {"y_pred": 1}
    assert first_rows(tmp_path / name, 3) == (
        ["y", "p", "g", "s"],
        [(1, 1, "a", 0.9), (0, 1, "a", 0.5), (1, 0, "b", 0.1)],
    )
    source = files.count_file(tmp_path / name, ["g"], {}).source
    assert source["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert (source["format"], source["name"]) == ("arrow", name)
    assert refusal(tmp_path / name, groups="h") == "no column is called 'h'; known: y, p, g, s"


def test_arrow_files_without_pyarrow_or_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.feather").write_text("not Arrow at all")
    assert refusal(tmp_path / "d.feather").startswith(f"{tmp_path}/d.feather cannot be read: ")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert (
        refusal(tmp_path / "d.feather") == "reading d.feather needs pyarrow; install it, or save the table as Parquet"
    )

    class Unknown:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            raise AssertionError

    assert refusal(Unknown()) == "reading an Arrow stream needs pyarrow; install it, or pass a dataframe"


def test_several_files_are_one_table(tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    for folder, part in (("one", frame.head(2)), ("two", frame.tail(3))):
        (tmp_path / folder).mkdir()
        part.write_csv(tmp_path / folder / "d.csv")
        part.write_parquet(tmp_path / folder / "d.parquet")
        part.write_ipc(tmp_path / folder / "d.arrow")
    for kind in ("csv", "parquet", "arrow"):
        both: list[str | Path] = [tmp_path / "one" / f"d.{kind}", str(tmp_path / "two" / f"d.{kind}")]
        assert cells(both) == CELLS
        assert cells(tuple(both[::-1])) == CELLS
        assert cells([f"{tmp_path}/*/d.{kind}"]) == CELLS
        source = files.count_file(both, ["g"], {}).source
        assert source == files.count_file(f"{tmp_path}/*/d.{kind}", ["g"], {}).source | {"name": f"d.{kind}, d.{kind}"}
        assert files.input_files(both) == [Path(path) for path in both]
        assert first_rows(both, 1) == (
            ["y", "p", "g"],
            [tuple(map(str if kind == "csv" else lambda v: v, (1, 1, "a")))],
        )
        assert refusal([both[0], both[0]]) == f"data must be distinct files; got {both[0]} twice"
    mixed = [tmp_path / "one" / "d.csv", tmp_path / "two" / "d.parquet"]
    assert refusal(mixed) == "data must be files of one kind; got CSV and Parquet files"
    assert refusal([tmp_path / "one" / "d.csv", tmp_path / "none.csv"]) == f"there is no file {tmp_path}/none.csv"
    assert refusal([]) == "data must be a dataframe, a mapping of columns or a path to a file; got list"
    assert refusal([""]) == "data must be a path to a file; got an empty path"


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
        pytest.raises(eh.InvalidInput, match="attempt to write a readonly database"),
        databases._opened(path) as opened,
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


def test_a_postgresql_table_is_passed_as_a_relation() -> None:
    sentence = (
        "a PostgreSQL table must be passed as a relation of DuckDB: attach the database with DuckDB's extension "
        "postgres, and pass duckdb.sql('FROM db.schema.name')"
    )
    assert refusal("postgresql://me:secret@host/db") == sentence
    assert refusal("postgres://me:secret@host/db") == sentence
    assert refusal("mysql://me:secret@host/db") == (
        "data must be a local file; got 'mysql://…@host/db', which must be downloaded first"
    )
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS db")
        connection.execute("CREATE SCHEMA db.s")
        connection.register("held", pa.table(TABLE))
        connection.execute("CREATE TABLE db.s.people AS FROM held")
        assert cells(connection.sql("FROM db.s.people")) == CELLS


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 0, 1]),
        np.array([1.0, 0.0, 1.0], dtype="f4"),
        pd.Series([1, 0, 1], dtype="Int8"),
        pd.Series([1, 0, 1], dtype="category"),
        pd.Series([1, 0, 1], dtype="int64[pyarrow]"),
        pl.Series([1, 0, 1], dtype=pl.UInt8),
        pa.array([1, 0, 1]).dictionary_encode(),
        [Decimal(1), np.int8(0), pa.scalar(1)],
    ],
    ids=str,
)
def test_integers_come_out_as_plain_integers(values: Any) -> None:
    assert plainly(values) == [(int, 0, 1), (int, 1, 2)]


@pytest.mark.parametrize(
    "values",
    [
        np.array([True, False, True]),
        pd.Series([True, False, True], dtype="boolean"),
        pd.Series([True, False, True], dtype="category"),
        pd.Series([True, False, True], dtype="bool[pyarrow]"),
        pl.Series([True, False, True]),
        [np.True_, False, pa.scalar(True)],
    ],
    ids=str,
)
def test_booleans_come_out_as_plain_booleans(values: Any) -> None:
    assert plainly(values) == [(bool, False, 1), (bool, True, 2)]


@pytest.mark.parametrize(
    "values",
    [
        np.array(["1", "0", "1"]),
        np.array(["1", "0", "1"], dtype=object),
        pd.Series(["1", "0", "1"], dtype="string"),
        pd.Series(["1", "0", "1"], dtype="category"),
        pd.Series(["1", "0", "1"], dtype="string[pyarrow]"),
        pl.Series(["1", "0", "1"], dtype=pl.Enum(["0", "1"])),
        pl.Series(["1", "0", "1"], dtype=pl.Categorical),
        pa.array(["1", "0", "1"], pa.string_view()),
        [np.str_("1"), "0", pa.scalar("1")],
    ],
    ids=str,
)
def test_texts_come_out_as_plain_texts(values: Any) -> None:
    assert plainly(values) == [(str, "0", 1), (str, "1", 2)]


def plainly(values: Any) -> list[tuple[type, Any, int]]:
    """The distinct values of a column with their types and counts, by itself and in a frame of its library."""
    counted = [frames.count_columns([("x", values)], {}).rows]
    if not isinstance(values, (list, np.ndarray)):
        make: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
        frame = make[type(values).__module__.partition(".")[0]]({"x": values})
        counted.append(frames.count_frame(frame, ["x"], {}).rows)
    found = [[(type(value), value, n) for (value,), n in sorted(rows.items())] for rows in counted]
    assert found[0] == found[-1]
    return found[0]


def test_dates_are_the_same_days_in_every_library() -> None:
    day = datetime.datetime(2020, 1, 1)
    for value in (np.datetime64("2020-01-01", "ns"), np.datetime64("2020-01-01"), pd.Timestamp("2020-01-01"),
                  pa.scalar(day), day):  # fmt: skip
        found = frames.plain(value)
        assert (type(found), found) == (datetime.datetime, day)
    assert [frames.plain(x) for x in (pd.NaT, pd.NA, np.datetime64("NaT"), None, float("nan"))] == [None] * 5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__name__)
def test_lists_in_a_frame_are_refused_in_a_sentence(make: Any) -> None:
    table = make({"y": [1, 0], "p": [1, 1], "g": [["a"], ["b"]]})
    assert refusal(table).startswith("columns must contain numbers, text, booleans or dates; ")


def test_hashing_a_large_file_shows_its_progress(
    tmp_path: Path, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(stream: Any, name: str) -> Any:
        stream.read(1)
        time.sleep(0.05)
        return digest(stream, name)

    digest = hashlib.file_digest
    monkeypatch.setattr(progress, "_SILENT_SECONDS", -1.0)
    monkeypatch.setattr(progress, "_POLL_SECONDS", 0.002)
    monkeypatch.setattr(hashlib, "file_digest", slow)
    (tmp_path / "d.csv").write_text("g,y\na,1\n")
    with redirect_stderr(terminal):
        files.count_file(tmp_path / "d.csv", ["g"], {})
    assert "\rhashing d.csv: 12%" in terminal.getvalue()
