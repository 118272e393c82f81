"""Counting, wherever the data live: every engine gives the same counts and levels, and values come out plain."""

from __future__ import annotations

import datetime
import math
from collections import Counter, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from decisions import CELLS, ELSEWHERE, HELD, TABLE, cells, refusal
from engines import ibis, modin, spark

import evenhand as eh
from evenhand.tabulate import counted, delimited, files, frames

COLUMNS: dict[str, list[Any]] = {
    "race group": ["a", "b", None, "a", "b", "c", "c", "c", "a", "b", None, "c"],
    "label": [1, 0, 1, 0, 1, 1, None, 0, 0, 1, 0, 1],
    "pred": [1, 0, 0, 1, 1, 0, 1, None, 0, 0, 1, 1],
}
ROWS = Counter(zip(*COLUMNS.values(), strict=True))


def arrow(columns: dict[str, list[Any]]) -> pa.Table:
    """In two chunks with dictionaries of their own."""
    half = len(next(iter(columns.values()))) // 2
    encoded = [
        pa.table({k: pa.array(v[part], from_pandas=True).dictionary_encode() if k == "race group" else v[part]
                  for k, v in columns.items()})
        for part in (slice(None, half), slice(half, None))
    ]  # fmt: skip
    return pa.concat_tables(encoded)


EVERYWHERE: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
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
    "narwhals": lambda c: narwhals.from_native(pl.DataFrame(c)),
}


@pytest.mark.parametrize("held", EVERYWHERE)
@pytest.mark.filterwarnings("ignore")  # of the engines themselves
def test_every_engine_gives_the_same_counts(held: str) -> None:
    found = counted(EVERYWHERE[held](COLUMNS), "race group", {"y_true": "label", "y_pred": "pred"})
    assert found.rows == ROWS
    assert {type(value) for row in found.rows for value in row} == {str, int, type(None)}


@pytest.mark.parametrize(
    ("held", "library"),
    [("pandas", "pandas"), ("dask", "pandas"), ("polars", "polars"), ("lazy polars", "polars"), ("pyarrow", "pyarrow"),
     ("duckdb", None), ("lists", None)],
)  # fmt: skip
def test_the_library_of_the_data_is_kept(held: str, library: str | None) -> None:
    assert counted(EVERYWHERE[held](COLUMNS), "race group", {"y_pred": "pred"}).library == library


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
    counted(lazy, "g", {"y_true": "y", "y_pred": "p"})
    assert seen == [4]


def test_an_engine_is_not_asked_for_more_rows_than_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    collect = pl.LazyFrame.collect

    def watched(self: pl.LazyFrame, *args: Any, **kwargs: Any) -> Any:
        found = collect(self, *args, **kwargs)
        seen.append(found.height)
        return found

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    monkeypatch.setattr(frames, "MOST_ROWS", 3)
    with pytest.raises(eh.errors.TooLarge):
        counted(pl.DataFrame({"g": range(9)}), "g", {})
    assert seen == [4]


@pytest.mark.slow
def test_identifiers_as_groups_are_refused_without_hanging(tmp_path: Path) -> None:
    many = pl.DataFrame({"id": np.arange(1_000_000), "y": np.tile([0, 1], 500_000), "p": np.tile([0, 1], 500_000)})
    path = tmp_path / "many.parquet"
    many.write_parquet(path)
    for data in (many, path):
        with pytest.raises(
            eh.errors.TooLarge, match=r"^the columns have more than 200,000 distinct combinations of values"
        ):
            counted(data, "id", {"y_true": "y", "y_pred": "p"})


def test_identifiers_passed_as_values_are_refused_early() -> None:
    class Watched(list[int]):
        def __getitem__(self, rows: Any) -> Any:
            seen.append(rows.start)
            return super().__getitem__(rows)

    seen: list[int] = []
    with pytest.raises(eh.errors.TooLarge):
        frames.count_columns([("id", Watched(range(1_000_000)))], {})
    assert len(seen) == 4, "as many blocks of 65,536 rows as have more than 200,000 values"


AGES: dict[str, list[Any]] = {
    "g": ["a", "b", "a", "b", "a", "b", "a", "b", "a"],
    "age": [24.999, 25.0, 44.0, 45.0, -1.0, None, 1e300, math.inf, 25.0],
}
LEVELS = Counter({("a", 0): 2, ("b", 1): 1, ("a", 1): 2, ("b", 2): 2, ("b", None): 1, ("a", 2): 1})
CUTS = {1: (25.0, 45.0)}


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
    # A blank behind a quotation mark inside a value is one of the things that only the csv module reads.
    fallback = "".join(f'{g},{"" if x is None else x},a" b\n' for g, x in zip(AGES["g"], AGES["age"], strict=True))
    (tmp_path / "fallback.csv").write_text(f"g,age,x\n{fallback}")
    assert delimited.scanned(delimited.layout_of(tmp_path / "fallback.csv")) == (False, None)
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


@pytest.mark.slow
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
    with pytest.raises(eh.errors.InvalidInput, match=r"^age must contain numbers; got '30'$"):
        frames.count_columns([("age", ["30"])], {0: (25.0,)})
    with pytest.raises(eh.errors.InvalidInput, match=r"^'age' must contain numbers; it contains String$"):
        frames.count_frame(pl.DataFrame({"age": ["30"]}), ["age"], {0: (25.0,)})
    for bools in (pl.DataFrame({"s": [True, False]}), pd.DataFrame({"s": [True, False]})):
        assert frames.count_frame(bools, ["s"], {0: (0.5,)}).rows == Counter({(0,): 1, (1,): 1})


@pytest.mark.parametrize("wrap", [list, tuple, np.array, pd.Series, pl.Series, pa.array, deque, iter])
def test_values_are_counted_in_blocks(wrap: Any) -> None:
    """Of 65,536 rows."""
    times = 30_000
    y, p, g = (values * times for values in TABLE.values())
    wanted = {group: tuple(times * n for n in cm) for group, cm in CELLS.items()}
    assert cells(None, y_true=wrap(y), y_pred=wrap(p), groups=np.array(g)) == wanted
    masked = np.ma.array(p, mask=[False] * (len(p) - 1) + [True])
    rows = counted(None, np.array(g), {"y_true": wrap(y), "y_pred": masked}).rows
    assert {row: n for row, n in rows.items() if row[-1] is None} == {("b", 1, None): 1}


@pytest.mark.parametrize(
    ("held", "library", "rows"),
    [("pandas", "pandas", 9), ("polars", "polars", 9), ("lazy polars", "polars", None), ("pyarrow", "pyarrow", 9),
     ("duckdb", "duckdb", None), ("dask", "dask", None)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_the_source_of_a_frame_is_its_library_and_shape(held: str, library: str, rows: int | None) -> None:
    found = frames.count_frame(HELD[held](AGES), ["g"], {}).source
    assert found == {"kind": "frame", "library": library, "shape": [rows, 2]}


def test_dates_as_groups_are_named_as_dates() -> None:
    days = np.array(["2020-01-01", "2020-01-02", "NaT"], dtype="M8[ns]")
    found = counted(None, days, {})
    assert list(found.rows) == [("2020-01-01T00:00:00",), ("2020-01-02T00:00:00",), (None,)]


def test_masked_values_are_missing_whatever_they_are() -> None:
    days = np.ma.array(np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), mask=[False, True])
    assert list(counted(None, days, {}).rows) == [("2020-01-01T00:00:00",), (None,)]
    assert list(counted(None, [1, 0, np.ma.masked], {}).rows) == [(0,), (1,), (None,)]


def test_decimals_of_arrow_are_numbers() -> None:
    table = pa.table({
        "g": ["a", "b", "a"],
        "y": pa.array([Decimal(1), Decimal(0), None], pa.decimal128(5, 2)),
        "s": pa.array([Decimal("0.5"), Decimal("0.1"), Decimal("0.4")], pa.decimal128(5, 2)),
    })  # fmt: skip
    wanted = {("a", 1, 1): 1, ("a", None, 0): 1, ("b", 0, 0): 1}
    answers = {"y_true": "y", "y_score": "s"}
    for data in (table, pl.from_arrow(table), table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert counted(data, "g", answers, cuts={"y_score": [0.5]}).rows == wanted
    given = {name: table[column] for name, column in answers.items()}
    assert counted(None, table["g"], given, cuts={"y_score": [0.5]}).rows == wanted


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
    assert [frames.plain(x) for x in (pd.NaT, pd.NA, np.datetime64("NaT", "s"), None, float("nan"))] == [None] * 5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__name__)
def test_lists_in_a_frame_are_refused_in_a_sentence(make: Any) -> None:
    table = make({"y": [1, 0], "p": [1, 1], "g": [["a"], ["b"]]})
    assert refusal(table).startswith("columns must contain numbers, text, booleans or dates; ")


@pytest.mark.filterwarnings("ignore")  # of the engines themselves
@pytest.mark.parametrize("library", ["pyspark", "polars"])
def test_nulls_decimals_and_times_of_spark_are_those_of_polars(library: str) -> None:
    """Rows without a label are left out, those without a group are unknown; decimals are numbers, times are names."""
    moments = [datetime.datetime(2026, 1, 31, 23, 59), datetime.datetime(2026, 2, 1), None]
    table: dict[str, list[Any]] = {
        "y": [Decimal("1.00"), Decimal("0.00"), None, Decimal("1.00"), Decimal("0.00"), Decimal("1.00")] * 2,
        "s": [*map(Decimal, ("0.500", "0.499", "0.900", "1.000")), None, Decimal("0.000")] * 2,
        "when": [moments[0], moments[1], moments[0], moments[2], moments[1], moments[1]] * 2,
        "g": ["a", "b", None, "a", "b", "a"] * 2,
    }
    frame = spark(table) if library == "pyspark" else pl.DataFrame(table)
    a = eh.audit(frame, y_true="y", y_score="s", groups=["g", "when"], threshold=0.5, metrics="acc", crossings=1)
    assert {(row.by, row.group): row.cells for row in a.rows} == {
        ("g", "a"): (4, 2, 0, 0),
        ("g", "b"): (0, 0, 0, 2),
        ("when", "2026-01-31 23:59:00"): (2, 0, 0, 0),
        ("when", "2026-02-01 00:00:00"): (0, 2, 0, 2),
    }
    assert (a.n, a.left_out, a.record["unknown"]) == (8, {"y_true": 2, "y_pred": 2}, {"when": 2})


def test_fractions_are_numbers() -> None:
    """A label that is one can be saved and read."""
    assert [frames.plain(Fraction(4, 2)), frames.plain(Fraction(1, 3))] == [2, 1 / 3]
    data = {"y": [Fraction(1, 3), 0, 0, 0], "p": [0, 0, 0, Fraction(1, 3)], "g": ["a", "b", "a", "b"]}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", classes="all", metrics="tpr")
    assert eh.Audit.from_json(a.to_json()) == a
