"""Which columns are meant: names, values, or both, and what could be misread is refused."""

from __future__ import annotations

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
from decisions import CELLS, HELD, TABLE, cells, refusal

import evenhand as eh
from evenhand.tabulate import columns, counted, group_columns


def test_the_source_of_columns_is_their_shape() -> None:
    given = [("group", ["a", "b", "c"]), ("y_pred", [0, 1, 1])]
    assert columns.count(None, given, {}).source == {"kind": "columns", "shape": [3, 2]}


@pytest.mark.parametrize("held", ["pandas", "pandas with arrow", "polars", "pyarrow"])
@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series, pa.array], ids=lambda f: f.__name__)
def test_a_frame_may_come_with_separate_values(held: str, wrap: Any) -> None:
    frame = HELD[held](TABLE)
    assert cells(frame, y_pred=wrap(TABLE["p"])) == CELLS
    assert cells(frame, y_true=wrap(TABLE["y"]), y_pred=wrap(TABLE["p"])) == CELLS
    assert cells(frame, groups={"g": wrap(TABLE["g"])}) == CELLS
    scores = wrap([0.9, 0.5, 0.1, 0.2, 0.8])
    assert cells(frame, y_pred=None, y_score=scores) == CELLS
    assert counted(frame, "g", {"y_score": scores}).library == held.partition(" ")[0]


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


def test_a_file_does_not_come_with_separate_values(tmp_path: Path) -> None:
    pl.DataFrame(TABLE).write_csv(tmp_path / "d.csv")
    assert refusal(tmp_path / "d.csv", y_pred=[1, 0]) == (
        "y_pred must be the name of a column, since data is in a file; got [1, 0]"
    )


def test_names_that_could_be_misread_are_refused() -> None:
    frame = pd.DataFrame([[1, 1, "a"], [0, 1, "b"]], columns=[0, 1, 2])
    assert refusal(frame, y_true=0, y_pred=1, groups=[1, 2]) == (
        "groups may be the names of 2 columns or the values of 2 rows; got [1, 2]: pass values as an array"
    )
    assert refusal(frame, y_true=0, y_pred="1", groups=2) == "no column is called '1'; did you mean 1?"
    assert refusal(frame, y_true=0, y_pred=True, groups=2) == "no column is called True; known: 0, 1, 2"
    assert refusal({1: ["x"], "1": ["y"], "y": [1], "p": [1]}, groups=[1, "1"]) == (
        "group columns must have distinct names; got '1' twice"
    )
    assert refusal(TABLE, groups=None) == "groups must be the name of a column or its values; got None"


def test_groups_go_by_the_names_that_they_have() -> None:
    frame = pd.DataFrame({"name": list("aabb")})
    assert list(group_columns(["a", "b"], None)) == ["group"]
    assert list(group_columns(pd.Series(["a", "b"], name="race"), None)) == ["race"]
    assert list(group_columns({"race": ["a", "b"], "sex": ["F", "M"]}, None)) == ["race", "sex"]
    assert list(group_columns(frame, None)) == ["name"]
    assert group_columns(("y", "g"), TABLE) == {"y": "y", "g": "g"}
    # A group column may be called like an answer.
    assert counted({"y_true": ["a", "b"], "y": [1, 0]}, "y_true", {"y_true": "y"}).rows == {("a", 1): 1, ("b", 0): 1}


def test_the_columns_of_an_array_or_a_frame_are_group_columns() -> None:
    y, p = TABLE["y"], TABLE["p"]
    crossed = np.array([["a", "F"], ["a", "M"], ["b", "F"], ["b", "F"], ["b", "M"]])
    found = cells(None, y_true=y, y_pred=p, groups=crossed)
    assert found[("b", "F")] == (0, 1, 0, 1)
    assert list(group_columns(crossed, None)) == ["group_1", "group_2"]
    assert cells(pd.DataFrame(TABLE), groups=crossed) == found
    named = pl.DataFrame(crossed, schema=["race", "sex"], orient="row")
    for groups in (named, named.to_arrow(), named.to_pandas()):
        assert list(group_columns(groups, None)) == ["race", "sex"]
        assert cells(None, y_true=y, y_pred=p, groups=groups) == found


def test_several_arrays_are_group_columns() -> None:
    frame = pd.DataFrame(TABLE | {"h": [1, 1, 1, 2, 2]})
    wanted = {("a", 1): (1, 0, 1, 0), ("b", 1): (0, 1, 0, 0), ("b", 2): (1, 0, 0, 1)}
    assert list(group_columns([frame["g"], frame["h"]], frame)) == ["g", "h"]
    assert cells(frame, groups=[frame["g"], frame["h"]]) == wanted
    arrays = [np.array(frame["g"]), np.array(frame["h"])]
    assert list(group_columns(arrays, None)) == ["group_1", "group_2"]
    assert cells(None, y_true=frame["y"], y_pred=frame["p"], groups=arrays) == wanted


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cells(3), "data must be a dataframe, a mapping of columns or a path to a file; got int; pass a "
         "dataframe made of it"),
        (lambda: cells([]), "data must be a dataframe, a mapping of columns or a path to a file; got list; pass a "
         "dataframe made of it"),
        (lambda: cells(None, y_pred=[1], groups=["a"]),
         "'y' is the name of a column, but data is None; pass the table, or the values"),
        (lambda: cells(None, y_true=[1, 0], y_pred=[1], groups=["a", "b"]),
         "columns must have the same length; got group 2, y_true 2, y_pred 1"),
        (lambda: cells({"y": [1, 0]}, y_pred="q", groups="y"), "no column is called 'q'; known: y"),
        (lambda: cells(pd.DataFrame({"y": [1]}), y_true=[1, 0], y_pred="y", groups="y"),
         "columns must have the same length; got y 1, y_true 2, y_pred 1"),
        (lambda: cells(pd.DataFrame({"y": [1], "s": ["a"]}), y_pred=None, y_score="s", groups="y"),
         "'s' must contain numbers; it contains String"),
        (lambda: cells(None, y_true=pd.Series([1, 0]), y_pred=pd.Series([1, 0], index=[1, 0]), groups=["a", "b"]),
         "y_true and y_pred must have the same index; align them, or pass their values without it"),
        (lambda: cells(None, y_true=[1, 0], y_pred=[1, 0], groups=[["a"], ["b"]]),
         "columns must contain numbers, text, booleans or dates; "),
        (lambda: cells(pl.DataFrame({"g": [["a"], ["b"]], "y": [0, 1], "p": [0, 1]})),
         "columns must contain numbers, text, booleans or dates; got lists or structs"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.EvenhandError) as found:
        call()
    assert str(found.value).startswith(sentence)


@pytest.mark.parametrize("cut", [[0.5], np.array([0.5, 0.6]), 10**400, Decimal("sNaN"), 1j, True, "0.5", float("nan")])
def test_a_cut_is_one_finite_number(cut: Any) -> None:
    with pytest.raises(eh.errors.InvalidInput, match=r"^threshold must be a finite number; got "):
        columns.finite(cut)
    assert columns.finite(np.array(0.5)) == columns.finite(Decimal("0.5")) == 0.5
