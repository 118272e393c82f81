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

import duckdb
import narwhals
import numpy as np
import pandas as pd
import pytest
from decisions import CELLS, ELSEWHERE, HELD, TABLE, cells, refusal, write_csv, write_parquet
from engines import dd, pa, pl, spark, with_arrow

import evenhand as eh
from evenhand.auditing.settings import code_text
from evenhand.data import count_rows, files, frames, read_first_columns
from evenhand.errors import InvalidInput, TooLarge

pytestmark = pytest.mark.filterwarnings("ignore")  # of the engines themselves

COLUMNS: dict[str, list[Any]] = {
    "race group": ["a", "b", None, "a", "b", "c", "c", "c", "a", "b", None, "c"],
    "label": [1, 0, 1, 0, 1, 1, None, 0, 0, 1, 0, 1],
    "pred": [1, 0, 0, 1, 1, 0, 1, None, 0, 0, 1, 1],
}
AGES: dict[str, list[Any]] = {
    "g": ["a", "b", "a", "b", "a", "b", "a", "b", "a"],
    "age": [24.999, 25.0, 44.0, 45.0, -1.0, None, 1e300, math.inf, 25.0],
}
LEVELS = Counter({("a", 0): 2, ("b", 1): 1, ("a", 1): 2, ("b", 2): 2, ("b", None): 1, ("a", 2): 1})
CUTS = {1: (25.0, 45.0)}


def arrow_chunks(columns: dict[str, list[Any]]) -> pa.Table:
    """In two chunks with dictionaries of their own."""
    encoded = {k: [pa.array(part).dictionary_encode() for part in (v[:6], v[6:])] for k, v in columns.items()}
    return pa.table({name: pa.chunked_array(parts) for name, parts in encoded.items()})


EVERYWHERE: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    **HELD,
    **ELSEWHERE,
    "lists": lambda c: c,
    "pandas categorical": lambda c: pd.DataFrame(c).astype(dict.fromkeys([*c][:1], "category")),
    "pyarrow chunks": arrow_chunks,
    "narwhals": lambda c: narwhals.from_native(pl.DataFrame(c)),
}
LIBRARIES = {"dask": "pandas", "lazy polars": "polars", "duckdb": None, "lists": None}
SOURCES = {"pandas": 9, "lazy polars": None, "duckdb": None}


@pytest.mark.parametrize("held", EVERYWHERE)
def test_every_engine_gives_the_same_counts_and_levels(held: str) -> None:
    """The level of x is the number of cuts c with c <= x; it is missing if x is. A column may be counted twice."""
    make = EVERYWHERE[held]
    found = count_rows(make(COLUMNS), "race group", {"y_true": "label", "y_pred": "pred"})
    assert found.rows == Counter(zip(*COLUMNS.values(), strict=True))
    assert {type(value) for row in found.rows for value in row} == {str, int, type(None)}
    if held in LIBRARIES | HELD:
        assert found.library == LIBRARIES.get(held, held.partition(" ")[0])
    if held in ("lists", "pyarrow chunks", "pandas categorical"):
        return
    counted = frames.count_frame(make(AGES), ["g", "age"], CUTS)
    assert counted.rows == LEVELS
    if held in SOURCES:
        source = {"kind": "frame", "library": held.rpartition(" ")[2], "shape": [SOURCES[held], 2]}
        assert counted.source == source
    repeated = frames.count_frame(make({"x": [1, 2, 3, 3]}), ["x", "x", "x"], {1: (3.0,), 2: (2.0,)})
    assert repeated.rows == Counter({(1, 0, 0): 1, (2, 0, 1): 1, (3, 1, 1): 2})


def test_values_and_files_have_the_same_levels(tmp_path: Path) -> None:
    assert frames.count_columns(list(AGES.items()), CUTS).rows == LEVELS
    for name, write in (("d.parquet", write_parquet), ("d.csv", write_csv)):
        write(AGES, tmp_path / name)
        assert files.count_file(tmp_path / name, ["g", "age"], CUTS).rows == LEVELS, name


def test_only_counts_are_collected_of_a_lazy_frame_and_no_more_than_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    heights = []
    collect = pl.LazyFrame.collect

    def watched(self: pl.LazyFrame, *args: Any, **kwargs: Any) -> Any:
        frame = collect(self, *args, **kwargs)
        heights.append(frame.height)
        return frame

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    lazy = pl.LazyFrame({"g": np.repeat(["a", "b"], 5000), "y": np.tile([0, 1], 5000), "p": np.tile([0, 1], 5000)})
    count_rows(lazy, "g", {"y_true": "y", "y_pred": "p"})
    monkeypatch.setattr(frames, "MOST_ROWS", 6)
    with pytest.raises(TooLarge):
        count_rows(pl.DataFrame({"g": range(9)}), "g", {})
    assert heights == [4, 7]
    dask = dd.from_pandas(pd.DataFrame(TABLE), npartitions=2)  # type: ignore[no-untyped-call, unused-ignore]

    monkeypatch.setattr(type(dask), "__len__", lambda self: 1 / 0)
    assert cells(dask, groups=["g"]) == CELLS


def test_identifiers_are_refused_early(tmp_path: Path) -> None:
    starts: list[int] = []

    class Watched(list[int]):
        def __getitem__(self, rows: Any) -> Any:
            starts.append(rows.start)
            return super().__getitem__(rows)

    with pytest.raises(TooLarge, match=r"^the columns have more than 200,000 distinct combinations of values"):
        frames.count_columns([("id", Watched(range(1_000_000)))], {})
    assert len(starts) == 4, "as many blocks of 65,536 rows as have more than 200,000 values"
    pl.DataFrame({"id": np.arange(300_000)}).write_parquet(tmp_path / "many.parquet")
    with pytest.raises(TooLarge, match="round scores to fewer decimals"):
        count_rows(tmp_path / "many.parquet", "id", {})
    # Each NaN of an array is another object.
    assert frames.count_columns([("y", np.full(300_000, math.nan))], {}).rows == {(None,): 300_000}


def test_many_cuts_are_as_many_levels() -> None:
    """One threshold per per mille, and the check that scores lie within [0, 1]."""
    table: dict[str, Any] = {"s": [i / 1000 for i in range(1001)]}
    cuts = tuple(i / 500 for i in range(1, 501))
    wanted = Counter((sum(cut <= s for cut in cuts),) for s in table["s"])
    within = {0: (0.0, 0.5, math.nextafter(1, math.inf))}
    for held in ("pandas", "polars", "duckdb"):
        assert frames.count_frame(HELD[held](table), ["s"], {0: cuts}).rows == wanted, held
        outside = HELD[held]({"s": [-1e-300, 0.0, 1.0, math.nextafter(1, 2)]})
        assert frames.count_frame(outside, ["s"], within).rows == {(0,): 1, (1,): 1, (2,): 1, (3,): 1}, held


def test_a_cut_is_a_number_of_the_type_of_the_column(tmp_path: Path) -> None:
    """0.7 in 32 bits is at the threshold 0.7, and 1 is not above 1, in every library and in files."""
    values = np.array([0.7, 1.0, 0.2], dtype="f4")
    table = pa.table({"s": values})
    nullable = table.to_pandas().convert_dtypes()
    write_parquet(table.to_pandas(), tmp_path / "d.parquet")
    write_csv(table.to_pandas(), tmp_path / "d.csv")
    held = [table, pl.from_arrow(table), table.to_pandas(), nullable, duckdb.from_arrow(table)]
    held += [{"s": array} for array in (values, table["s"], pl.Series(values), nullable["s"])]
    cuts = {"y_score": (0.7, math.nextafter(1, math.inf), 1e300)}
    for data in (*held, tmp_path / "d.parquet", tmp_path / "d.csv"):
        rows = count_rows(data, "s", {"y_score": "s"}, cuts=cuts).rows
        assert {(float(value), level): n for (value, level), n in rows.items()} == {(0.7, 1): 1, (1, 1): 1, (0.2, 0): 1}
    scored = pd.DataFrame({"s": np.array([0.7, 0.2] * 20, dtype="f4"), "g": ["a", "b"] * 20, "y": [1, 0, 1, 1] * 10})
    for metrics in ("ppr", ["ppr", "auc"]):
        a = eh.audit(scored, y_true="y", y_score="s", groups="g", threshold=0.7, metrics=metrics)
        assert {row.group: row.score for row in a.rows if row.metric == "ppr"} == {"a": 1, "b": 0}


def test_numbers_of_any_type_have_levels() -> None:
    cuts = (0.0, 0.5, 0.7, 1.0)
    for dtype in ("f8", "f4", "f2", "i1", "u8", "?", "g", object):
        numbers = np.array([0, 1, 1, 0, 1], dtype=dtype)
        if np.dtype(dtype).kind == "f":
            numbers = np.append(numbers, np.array([np.nan, np.inf, 0.5, 0.7, -0.0], dtype=dtype))
        in_type = [float(np.dtype(dtype).type(cut)) for cut in cuts] if dtype in ("f4", "f2") else cuts
        wanted = (None if x != x else sum(cut <= float(x) for cut in in_type) for x in numbers)
        assert frames.count_columns([("s", numbers)], {0: cuts}).rows == Counter((level,) for level in wanted), dtype
    values = [10**400, -(10**400), Decimal("25"), True, np.float32(24), np.int8(30), Decimal("sNaN"), None]
    found = frames.count_columns([("age", values)], {0: (25.0, 45.0)}).rows
    assert found == {(2,): 1, (0,): 3, (1,): 2, (None,): 2}
    with pytest.raises(InvalidInput, match=r"^age must contain numbers; got '30'$"):
        frames.count_columns([("age", ["30"])], {0: (25.0,)})
    with pytest.raises(InvalidInput, match=r"^'age' must contain numbers; it contains String$"):
        frames.count_frame(pl.DataFrame({"age": ["30"]}), ["age"], {0: (25.0,)})
    for make in (pl.DataFrame, pd.DataFrame):
        assert frames.count_frame(make({"s": [True, False]}), ["s"], {0: (0.5,)}).rows == {(0,): 1, (1,): 1}


def test_values_are_counted_in_blocks() -> None:
    """Of 65,536 rows."""
    times = 30_000
    y, p, g = (values * times for values in TABLE.values())
    wanted = {group: tuple(times * n for n in cm) for group, cm in CELLS.items()}
    for wrap in (list, tuple, np.array, pd.Series, pl.Series, pa.array, deque, iter):
        assert cells(None, y_true=wrap(y), y_pred=wrap(p), groups=np.array(g)) == wanted, wrap


ONE_GROUP: list[tuple[Any, dict[str, int]]] = [
    ([-0.0, 0.0, 1.5, 1.5], {"0": 2, "1.5": 2}),
    (np.array([0.1, 0.1, 0.25, 3], dtype="f4"), {"0.1": 2, "0.25": 1, "3": 1}),
    (["", "a", None, " a"], {"(missing)": 2, "a": 1, " a": 1}),
    ([Decimal("0.1000000000000000000001"), Decimal("0.1000000000000000000002"), Decimal("0.5"), Decimal("0.5")],
     {"0.1000000000000000000001": 1, "0.1000000000000000000002": 1, "0.5": 2}),
]  # fmt: skip


def test_one_value_is_one_group_in_frames_and_files(tmp_path: Path) -> None:
    for values, groups in ONE_GROUP:
        frame, table = pd.DataFrame({"g": values}), pa.table({"g": values})
        frame.to_csv(tmp_path / "d.csv", index=False)
        held = [frame, {"g": values}, tmp_path / "d.csv", pl.DataFrame({"g": values}), table, duckdb.from_arrow(table)]
        for data in held:
            found: Counter[str] = Counter()
            for (value,), n in count_rows(data, "g", {}).rows.items():
                found[code_text(value)] += n
            assert found == groups, type(data)


def test_moments_are_never_merged() -> None:
    """Milliseconds are kept, and nanoseconds, which most libraries cut off when rows are fetched, are refused."""
    short = np.array(["2020-01-01T00:00:00.001", "2020-01-01T00:00:00.002", "NaT"], dtype="M8[ms]")
    exact = np.array([1, 2], dtype="M8[ns]")
    makes = [pd.DataFrame, pl.DataFrame, pa.table, lambda c: duckdb.from_arrow(pa.table(c)), HELD["dask"]]
    moments = [datetime.datetime(2020, 1, 1, microsecond=n) for n in (1000, 2000)]
    for make in (*makes, lambda c: c):
        for values in (short, short.astype("M8[ns]")):
            assert list(count_rows(make({"g": values}), "g", {}).rows) == [(moments[0],), (moments[1],), (None,)]
    for make in makes:
        with pytest.raises(InvalidInput, match=r"^times must not have nanoseconds; round them to microseconds$"):
            count_rows(make({"g": exact}), "g", {})
    assert read_first_columns({"g": exact})["g"] == [str(moment) for moment in exact]
    for column in (exact, pd.Series(exact), pl.Series(exact), pa.array(exact)):
        assert len(count_rows(None, column, {}).rows) == 2
    with pytest.raises(InvalidInput, match=r"^columns must contain numbers, text, booleans or dates; 'g' contains Dur"):
        count_rows(pl.DataFrame({"g": exact - exact}), "g", {})
    day = datetime.datetime(2020, 1, 1)
    for value in (np.datetime64("2020-01-01", "ns"), np.datetime64("2020-01-01"), pd.Timestamp(day), pa.scalar(day)):
        assert (type(frames.plain(value)), frames.plain(value)) == (datetime.datetime, day)
    assert [frames.plain(x) for x in (pd.NaT, pd.NA, np.datetime64("NaT", "s"), None, float("nan"))] == [None] * 5


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


def test_values_come_out_plain() -> None:
    numbers, booleans, texts = [1, 0, 1], [True, False, True], ["1", "0", "1"]
    columns: list[tuple[list[Any], tuple[Any, Any]]] = [
        ([np.array(numbers), np.array(numbers, dtype="f4"), pd.Series(numbers, dtype="Int8"),
          pd.Series(numbers, dtype="category"), with_arrow(lambda: pd.Series(numbers, dtype="int64[pyarrow]")),
          pl.Series(numbers, dtype=pl.UInt8), pa.array(numbers).dictionary_encode(),
          [Decimal(1), np.int8(0), pa.scalar(1)]], (0, 1)),
        ([np.array(booleans), pd.Series(booleans, dtype="boolean"), pd.Series(booleans, dtype="category"),
          pl.Series(booleans), with_arrow(lambda: pd.Series(booleans, dtype="bool[pyarrow]")),
          [np.True_, False, pa.scalar(True)]], (False, True)),
        ([np.array(texts), np.array(texts, dtype=object), pd.Series(texts, dtype="string"),
          pd.Series(texts, dtype="category"), pl.Series(texts, dtype=pl.Enum(["0", "1"])),
          with_arrow(lambda: pd.Series(texts, dtype="string[pyarrow]")), pl.Series(texts, dtype=pl.Categorical),
          pa.array(texts, pa.string_view()), [np.str_("1"), "0", pa.scalar("1")]], ("0", "1")),
    ]  # fmt: skip
    for held, (low, high) in columns:
        for values in held:
            assert plainly(values) == [(type(low), low, 1), (type(high), high, 2)], values


def test_lists_and_fractions_are_refused_in_a_sentence() -> None:
    for make in (pd.DataFrame, pl.DataFrame, pa.table, dict):
        table = make({"y": [1, 0], "p": [1, 1], "g": [["a"], ["b"]]})
        assert refusal(table).startswith("columns must contain numbers, text, booleans or dates; "), make
    assert refusal(TABLE, y_true=[Fraction(1, 3)] * 5).endswith("; got a Fraction")


@pytest.mark.parametrize("library", ["pyspark", "polars", "pyarrow", "pandas with arrow"])
def test_nulls_decimals_and_times_are_the_same_everywhere(library: str) -> None:
    """Rows without a label are left out, those without a group are unknown; decimals are numbers, times are names."""
    moments = [datetime.datetime(2026, 1, 31, 23, 59), datetime.datetime(2026, 2, 1), None]
    table: dict[str, list[Any]] = {
        "y": [Decimal("1.00"), Decimal("0.00"), None, Decimal("1.00"), Decimal("0.00"), Decimal("1.00")] * 2,
        "s": [*map(Decimal, ("0.500", "0.499", "0.900", "1.000")), None, Decimal("0.000")] * 2,
        "when": [moments[0], moments[1], moments[0], moments[2], moments[1], moments[1]] * 2,
        "g": ["a", "b", None, "a", "b", "a"] * 2,
    }
    make = {"pyspark": spark, "polars": pl.DataFrame, "pyarrow": pa.table,
            "pandas with arrow": lambda c: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype)}  # fmt: skip
    frame = make[library](table)
    a = eh.audit(frame, y_true="y", y_score="s", groups=["g", "when"], threshold=0.5, metrics="acc", intersections=1)
    assert {row.group: row.cells for row in a.rows if row.by == "g"} == {"a": (4, 2, 0, 0), "b": (0, 0, 0, 2)}
    days = {row.group: row.cells for row in a.rows if row.by == "when"}
    assert days == {"2026-01-31 23:59:00": (2, 0, 0, 0), "2026-02-01 00:00:00": (0, 2, 0, 2)}
    assert (a.n, a.left_out, a.provenance["unknown"]) == (8, {"y_true": 2, "y_pred": 2}, {"when": 2})


HOSTILE = ["*", "^a.*$", "a.b", "a`b", 'a"b', "a'b", "x\ny", " ", "evenhand_0", "evenhand_x1", "evenhand_n", "index",
           "count", "名", "`x`", "select", "a b.c d", "$1", "\\", "{x}", "%s", ":p", "?", "COLUMNS(*)"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("held", [*HELD, *ELSEWHERE])
def test_a_name_means_its_own_column_in_every_engine(held: str) -> None:
    wide: dict[str, list[Any]] = {name: [i, i + 1, i] for i, name in enumerate(HOSTILE)}
    frame = (HELD | ELSEWHERE)[held](wide)
    for i in range(0, len(HOSTILE), 3 if held in ELSEWHERE else 1):
        asked = [HOSTILE[i], HOSTILE[i - 1]]
        wanted = Counter(zip(*(wide[name] for name in asked), strict=True))
        assert frames.count_frame(frame, asked, {}).rows == wanted, asked
        assert frames.count_frame(frame, asked[:1], {0: (i + 1.0,)}).rows == Counter({(0,): 2, (1,): 1})


def test_names_of_columns_need_not_be_texts() -> None:
    for names in ([0, 1, 2], [1.5, pd.Timestamp("2020"), True]):
        frame = pd.DataFrame(TABLE)
        frame.columns = pd.Index(names, dtype=object)
        label, prediction, group = names
        asked = {"y_true": label, "y_pred": prediction}
        mapped = dict(zip(names, TABLE.values(), strict=True))
        assert cells(frame, groups=[group], **asked) == cells(mapped, groups=group, **asked) == CELLS
        assert cells(frame, y_true=label, y_pred=TABLE["p"], groups=group) == CELLS
        assert count_rows(frame, [group, label], {}).columns == (str(group), str(label))
        if group == 2:
            lazy = dd.from_pandas(frame, npartitions=2)  # type: ignore[no-untyped-call, unused-ignore]
            assert cells(lazy, groups=group, **asked) == CELLS


def test_names_that_are_not_those_of_one_column_are_refused() -> None:
    frame = pd.DataFrame(TABLE)
    assert refusal(frame.set_index("g")) == "no column is called 'g'; known: y, p"
    assert refusal(frame[["g", "y", "p", "y"]]).startswith("data cannot be read: Expected unique column names, got")
    assert read_first_columns(pd.DataFrame([["a", "b"]], columns=[1, "1"])) == {}


def test_a_column_may_be_called_like_a_method() -> None:
    """A column of a pandas frame is also its attribute."""
    names = ["dims", "columns", "compute", "collect", "nlevels", "unify_dictionaries"]
    frame = pd.DataFrame({name: ["a", "b"] for name in names})
    for name in names:
        assert count_rows(frame, name, {}).rows == {("a",): 1, ("b",): 1}
    assert count_rows(None, frame, {}).columns == tuple(names)
    labelled = pd.Series(["a", "b"], index=["nlevels", "collect"])
    assert count_rows(None, labelled, {}).rows == {("a",): 1, ("b",): 1}
