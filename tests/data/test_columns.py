"""Which columns are meant: names, values, or both, and what could be misread is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from decisions import CELLS, HELD, TABLE, cells, refusal, write_csv
from engines import dd, pa, pl

import evenhand as eh
from evenhand.data import check_second_class, columns, count_rows, group_columns
from evenhand.errors import InvalidInput


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
    assert count_rows(frame, "g", {"y_score": scores}).library == held.partition(" ")[0]


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


def test_a_file_does_not_come_with_separate_values(tmp_path: Path) -> None:
    write_csv(TABLE, tmp_path / "d.csv")
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
    assert count_rows({"y_true": ["a", "b"], "y": [1, 0]}, "y_true", {"y_true": "y"}).rows == {("a", 1): 1, ("b", 0): 1}


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
         "columns must contain numbers, text, booleans or dates; got a list"),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.EvenhandError) as found:
        call()
    assert str(found.value).startswith(sentence)


@pytest.mark.parametrize("cut", [[0.5], np.array([0.5, 0.6]), 10**400, Decimal("sNaN"), 1j, True, "0.5", float("nan")])
def test_a_cut_is_one_finite_number(cut: Any) -> None:
    with pytest.raises(eh.errors.InvalidInput, match=r"^threshold must be a finite number; got "):
        columns.as_finite(cut)
    assert columns.as_finite(np.array(0.5)) == columns.as_finite(Decimal("0.5")) == 0.5


# Columns that were passed as values


def test_a_column_of_a_table_is_a_column() -> None:
    """Shape (n, 1), of any container."""
    y, p, g = (np.array(TABLE[name])[:, None] for name in "ypg")
    assert cells(None, y_true=y, y_pred=p, groups=g) == CELLS
    assert cells(None, y_true=pd.DataFrame({"y": TABLE["y"]}), y_pred=p.astype(object), groups=g) == CELLS
    assert cells(None, y_true=pl.DataFrame({"y": TABLE["y"]}), y_pred=pa.table({"p": TABLE["p"]}), groups=g) == CELLS
    assert refusal(None, y_true=np.array([[1, 0, 1, 0, 1]]), y_pred=p, groups=g) == "y_true must be one column; got 5"
    assert refusal(None, y_true=np.zeros((5, 1, 1)), y_pred=p, groups=g) == (
        "y_true must have one or two dimensions; got shape (5, 1, 1)"
    )
    for nothing in (np.array(True), {"a": 1}, {1, 0}):
        assert refusal(None, y_true=nothing, y_pred=p, groups=g) == (
            f"y_true must be a sequence of values; got {nothing!r}"
        )


def test_columns_come_in_any_container_with_their_missing_values() -> None:
    for column in (
        pa.array([1, 0, None]),
        pd.Series([1, 0, None], dtype="Int64"),
        pl.Series([1, 0, None]),
        [1.0, 0.0, float("nan")],
        [Decimal(1), Decimal(0), Decimal("nan")],
    ):
        rows = count_rows(None, ["a", "a", "a"], {"y_true": column}).rows
        assert rows == {("a", 0): 1, ("a", 1): 1, ("a", None): 1}
        assert {type(value) for _, value in rows} == {int, type(None)}


class Array:
    """An array with names of dimensions, as xarray has them."""

    dims = ("row",)
    shape = (5,)

    def __len__(self) -> int:
        return 5


class Dataset(dict[str, Any]):
    """A mapping with names of dimensions."""

    dims = ("row",)


def test_tables_that_are_no_dataframes_are_refused() -> None:
    structured = np.array(list(zip(*TABLE.values(), strict=True)), dtype=[("y", "i8"), ("p", "i1"), ("g", "U1")])
    batches = pa.table(TABLE)
    for data in (structured, np.zeros((2, 2)), Dataset(TABLE), batches.to_reader(), batches.to_batches()[0]):
        assert refusal(data) == (
            "data must be a dataframe, a mapping of columns or a path to a file; got "
            f"{type(data).__name__}; pass a dataframe made of it"
        )
    assert cells(pd.DataFrame(structured)) == cells(pa.table(batches.to_reader())) == CELLS


@pytest.mark.filterwarnings("ignore")  # of Dask
def test_values_that_are_no_columns_are_refused() -> None:
    """Arrays with names or masks, expressions, and what is not in memory."""
    frame = pd.DataFrame(TABLE)
    levels = frame.set_index(["g", "y"]).index
    structured = frame[["g", "y"]].to_records(index=False)
    masked = np.ma.array(TABLE["p"], mask=[False] * 4 + [True])
    lazy = dd.from_pandas(frame, npartitions=2)["p"]  # type: ignore[no-untyped-call, unused-ignore]
    relation = duckdb.from_arrow(pa.table({"p": TABLE["p"]}))
    for given in (Array(), levels, structured, masked, pl.col("p"), lazy, pl.LazyFrame({"p": TABLE["p"]}), relation):
        for title in ("y_pred", "groups"):
            assert refusal(frame, **{title: given}) == (
                f"{title} must be a list, an array or a Series; got {type(given).__name__}; pass a dataframe as data, "
                "and names of columns"
            )
    assert refusal(frame, y_pred=None, y_score=structured).startswith("y_score must be a list, an array or a Series; ")
    with pytest.raises(InvalidInput, match=r"^groups must be a list, an array or a Series; got Expr"):
        eh.audit(pl.DataFrame(TABLE), y_true="y", y_pred="p", groups=[pl.col("g")])


PROBABILITIES = np.array([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.2, 0.8]])


def test_of_two_columns_of_scores_the_second_is_taken() -> None:
    """As predict_proba orders classes, the second is the larger label."""
    scored: dict[str, Any] = {"y_pred": None, "y_score": PROBABILITIES}
    assert cells(TABLE, **scored) == cells(pd.DataFrame(TABLE), **scored) == CELLS
    assert cells(TABLE | {"s": PROBABILITIES}, y_pred=None, y_score="s") == CELLS
    assert cells(TABLE, y_pred=None, y_score=PROBABILITIES.astype("f4")) == CELLS
    assert cells(TABLE, y_pred=None, y_score=PROBABILITIES[:, 1:]) == CELLS
    missing = PROBABILITIES.copy()
    missing[4] = np.nan
    assert count_rows(TABLE, "g", {"y_score": missing}, cuts={"y_score": [0.5]}).rows[("b", None)] == 1


def test_the_second_column_is_that_of_the_larger_label() -> None:
    """Also if only one of two classes occurs."""
    fits: Any = [([0, 1], 1), ([0, 1, None], [1]), (["0", "1"], 1), (["bad", "good"], "good"), ([0], 1)]
    for labels, positive in fits:
        check_second_class(labels, positive)
    other = "y_score has two columns; pass the column of the positive class"
    refused: Any = {
        "y_score has two columns, and as scikit-learn orders classes the second is that of 1, but the positive label "
        "is 0; pass the column of the positive class": [([1, 0], 0)],
        "y_score has two columns, and as scikit-learn orders classes the second is that of 'no', but the positive "
        "label is 'Yes'; pass the column of the positive class": [(["Yes", "no"], "Yes")],
        other: [(["a", "b", "c"], "c"), ([1], 1), ([], 1)],
    }
    for sentence, calls in refused.items():
        for labels, positive in calls:
            with pytest.raises(InvalidInput) as error:
                check_second_class(labels, positive)
            assert str(error.value) == sentence


def test_columns_of_scores_that_may_be_others_are_refused() -> None:
    rows = "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row "
    for scores, sentence in (
        (np.ones((5, 3)) / 3, "y_score has 3 columns; pass the column of the positive class"),
        (pd.DataFrame(PROBABILITIES), "y_score has 2 columns; pass the column of the positive class"),
        (PROBABILITIES + np.array([0, 0.25]), f"{rows}1 contains 0.1 and 1.15"),
        (np.array([[0.5, 0.5]] * 4 + [[2.0, -1.0]]), f"{rows}5 contains 2 and -1"),
        (np.array([[0.5, 0.5]] * 4 + [[np.nan, 1.0]]), f"{rows}5 contains nan and 1"),
        (np.array([["a", "b"]] * 5), "y_score must contain numbers; got a ndarray"),
    ):
        assert refusal(TABLE, y_pred=None, y_score=scores) == sentence


class Offered:
    """Values that can become an array, and nothing else."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)


def test_what_can_become_an_array_is_a_column() -> None:
    y, p, g = (Offered(TABLE[name]) for name in "ypg")
    assert cells(None, y_true=y, y_pred=p, groups=g) == cells(TABLE, y_pred=p) == CELLS
    assert cells(TABLE, y_pred=None, y_score=Offered(PROBABILITIES)) == CELLS
    assert eh.ConfusionMatrix.from_labels(y, p).cells == (2, 1, 1, 1)  # type: ignore[arg-type]
