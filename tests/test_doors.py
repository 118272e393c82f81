"""How data get in: every way of holding a table gives the same counts, or is refused in one sentence."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.tabulate import columns, delimited, files, frames

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


def lists(table: dict[str, list[Any]], names: list[str]) -> list[tuple[str, Any]]:
    return [(name, table[name]) for name in names]


@pytest.mark.parametrize("held", HELD)
@pytest.mark.filterwarnings("ignore")  # of the engines themselves
def test_a_column_with_cuts_is_counted_by_level(held: str) -> None:
    """The level of x is the number of cuts c with c <= x; it is missing if x is."""
    assert frames.count_frame(HELD[held](AGES), ["g", "age"], CUTS).rows == LEVELS


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
    wanted = {}
    for text in texts:
        try:
            number = float(text) if text.strip().isascii() else math.nan
        except ValueError:
            number = math.nan
        wanted[text] = None if math.isnan(number) else sum(cut <= number for cut in (0.0, 0.5, 900.0))
    (tmp_path / "d.csv").write_text("t,g\n" + "".join(f"{text},a\n" for text in texts), encoding="utf-8")
    # A line that ends in CR is one that only the csv module reads.
    (tmp_path / "fallback.csv").write_text("t,g\r" + "".join(f"{text},a\r" for text in texts), encoding="utf-8")
    assert [delimited.layout_of(tmp_path / name).simple for name in ("d.csv", "fallback.csv")] == [True, False]
    for name in ("d.csv", "fallback.csv"):
        found = files.count_file(tmp_path / name, ["t", "t"], {1: (0.0, 0.5, 900.0)}).rows
        assert dict(found.keys()) == wanted, name


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
