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
from engines import dd, lacking, pa, pl

import evenhand as eh
from evenhand.data import columns, count_rows, group_columns
from evenhand.errors import InvalidInput

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask


def test_a_frame_may_come_with_separate_values() -> None:
    for held in ("pandas", "pandas with arrow", "polars", "pyarrow"):
        frame = HELD[held](TABLE)
        for wrap in (list, np.array, pd.Series, pl.Series, pa.array):
            y, p, g = (wrap(TABLE[name]) for name in "ypg")
            scores = wrap([0.9, 0.5, 0.1, 0.2, 0.8])
            assert cells(frame, y_pred=p) == cells(frame, y_true=y, y_pred=p) == CELLS, (held, wrap)
            assert cells(frame, groups={"g": g}) == cells(frame, y_pred=None, y_score=scores) == CELLS
            assert count_rows(frame, "g", {"y_score": scores}).library == held.partition(" ")[0]


def test_separate_values_belong_to_the_rows_of_a_frame(tmp_path: Path) -> None:
    """Values without an index by position, a Series by its index, which must be the frame's."""
    frame = pd.DataFrame(TABLE, index=[10, 11, 12, 13, 14])
    assert cells(frame, y_pred=pd.Series(TABLE["p"], index=frame.index)) == CELLS
    other = pd.Series(TABLE["p"])
    same_index = "g and y_pred must have the same index; align them, or pass their values without it"
    assert refusal(frame, y_pred=other) == same_index
    assert cells(frame, y_pred=other.to_numpy()) == CELLS
    assert refusal(frame, y_pred=[1, 0]) == "columns must have the same length; got g 5, y_true 5, y_pred 2"
    write_csv(TABLE, tmp_path / "d.csv")
    must = "y_pred must be the name of a column, since data is"
    assert refusal(tmp_path / "d.csv", y_pred=[1, 0]) == f"{must} in a file; got [1, 0]"
    for held in ("lazy polars", "duckdb", "dask"):
        refused = refusal(HELD[held](TABLE), y_pred=np.array(TABLE["p"]))
        assert refused == f"{must} a lazy frame, whose rows are not in memory; got array([1, 1, 0, 0, 1])"


def test_names_that_could_be_misread_are_refused() -> None:
    frame = pd.DataFrame([[1, 1, "a"], [0, 1, "b"]], columns=[0, 1, 2])
    array = "groups must be an array if it has the values of {} rows, since a list contains names of columns; got {}"
    assert refusal(frame, y_true=0, y_pred=1, groups=[1, 2]) == array.format(2, [1, 2])
    assert refusal(TABLE, groups=TABLE["g"]) == array.format(5, TABLE["g"])
    assert refusal(TABLE, groups=["a", "b"]) == "no column is called 'a'; known: y, p, g"
    assert refusal(frame, y_true=0, y_pred="1", groups=2) == "no column is called '1'; known: 0, 1, 2"
    assert refusal(frame, y_true=0, y_pred=True, groups=2) == "no column is called True; known: 0, 1, 2"
    twice = {1: ["x"], "1": ["y"], "y": [1], "p": [1]}
    assert refusal(twice, groups=[1, "1"]) == "group columns must have distinct names; got '1' twice"
    assert refusal(TABLE, groups=None) == "groups must be the name of a column or its values; got None"


def test_groups_go_by_the_names_that_they_have() -> None:
    held: list[tuple[Any, list[str]]] = [(["a", "b"], ["group"]), (pd.Series(["a", "b"], name="race"), ["race"])]
    held += [({"r": ["a"], "s": ["F"]}, ["r", "s"]), (pd.DataFrame({"name": list("aabb")}), ["name"])]
    for groups, names in held:
        assert list(group_columns(groups, None)) == names
    assert group_columns(("y", "g"), TABLE) == {"y": "y", "g": "g"}
    assert count_rows(TABLE, {"r": "g", "s": "p"}, {}).columns == ("r", "s")
    # A group column may be called like an answer.
    assert count_rows({"y_true": ["a", "b"], "y": [1, 0]}, "y_true", {"y_true": "y"}).rows == {("a", 1): 1, ("b", 0): 1}


def test_the_columns_of_arrays_and_frames_are_group_columns() -> None:
    y, p = TABLE["y"], TABLE["p"]
    crossed = np.array([["a", "F"], ["a", "M"], ["b", "F"], ["b", "F"], ["b", "M"]])
    found = cells(None, y_true=y, y_pred=p, groups=crossed)
    assert found[("b", "F")] == (0, 1, 0, 1)
    arrays = list(crossed.T)
    assert list(group_columns(crossed, None)) == list(group_columns(arrays, None)) == ["group_1", "group_2"]
    assert cells(pd.DataFrame(TABLE), groups=crossed) == cells(None, y_true=y, y_pred=p, groups=arrays) == found
    named = pl.DataFrame(crossed, schema=["race", "sex"], orient="row")
    for groups in (named, named.to_arrow(), named.to_pandas()):
        assert list(group_columns(groups, None)) == ["race", "sex"]
        assert cells(None, y_true=y, y_pred=p, groups=groups) == found
    series = [named.to_pandas()[name] for name in ("race", "sex")]
    assert list(group_columns(series, None)) == ["race", "sex"]
    assert cells(pd.DataFrame(TABLE), groups=series) == found


ONE = {"y_true": [1, 0], "y_pred": [1, 0], "groups": ["a", "b"]}
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (3, {}, "data must be a dataframe, a mapping of columns or a path to a file; got int; pass a dataframe made of it"),
    (None, {"y_pred": [1], "groups": ["a"]},
     "'y' is the name of a column, but data is None; pass the table, or the values"),
    ({"y": [1, 0]}, {"y_pred": "q", "groups": "y"}, "no column is called 'q'; known: y"),
    (pd.DataFrame({"y": [1], "s": ["a"]}), {"y_pred": None, "y_score": "s", "groups": "y"},
     "'s' must contain numbers; it contains String"),
    (None, ONE | {"groups": [["a"], ["b"]]}, "columns must contain numbers, text, booleans or dates; "),
    (None, ONE | {"y_true": np.array([[1, 0, 1]])}, "y_true must be one column; got 3"),
    (None, ONE | {"y_true": np.zeros((5, 1, 1))}, "y_true must have one or two dimensions; got shape (5, 1, 1)"),
    *((table, ONE | {"y_true": Decimal("sNaN"), "groups": np.array(["a", "b"])},
       "y_true must be a sequence of values; got Decimal('sNaN')")
      for table in (None, {"y": [1, 0]}, pd.DataFrame({1: [1, 0]}))),
    (None, ONE | {"y_true": np.array(True)}, "y_true must be a sequence of values; got array(True)"),
    (None, ONE | {"y_true": {"a": 1}}, "y_true must be a sequence of values; got {'a': 1}"),
    (None, ONE | {"y_true": {1}}, "y_true must be a sequence of values; got {1}"),
]  # fmt: skip


def test_what_cannot_be_counted_is_refused_in_a_sentence() -> None:
    for data, given, sentence in REFUSED:
        if lacking(data) is None:
            assert refusal(data, **given).startswith(sentence)


def test_a_cut_is_one_finite_number() -> None:
    for cut in ([0.5], np.array([0.5, 0.6]), 10**400, Decimal("sNaN"), 1j, True, "0.5", float("nan")):
        with pytest.raises(InvalidInput, match=r"^threshold must be a finite number; got "):
            columns.as_finite(cut)
    assert columns.as_finite(np.array(0.5)) == columns.as_finite(Decimal("0.5")) == 0.5


class Offered:
    """Values that can become an array, and nothing else."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)


def test_what_is_or_becomes_one_column_is_a_column() -> None:
    """Shape (n, 1), of any container, with missing values."""
    y, p, g = [np.array(TABLE[name])[:, None] for name in "ypg"]
    frames: dict[str, Any] = {"y_true": pd.DataFrame({"y": TABLE["y"]}), "y_pred": pa.table({"p": TABLE["p"]})}
    assert cells(None, y_true=y, y_pred=p.astype(object), groups=g) == cells(None, **frames, groups=g) == CELLS
    offered: list[Any] = [Offered(TABLE[name]) for name in "ypg"]
    y, p, g = offered
    assert cells(None, y_true=y, y_pred=p, groups=g) == cells(TABLE, y_pred=p) == CELLS
    assert eh.ConfusionMatrix.from_labels(y, p).cells == (2, 1, 1, 1)
    decimals = [Decimal(1), Decimal(0), Decimal("nan")]
    values = [1, 0, None]
    for column in (pa.array(values), pd.Series(values, dtype="Int64"), pl.Series(values), decimals):
        rows = count_rows(None, ["a", "a", "a"], {"y_true": column}).rows
        assert rows == {("a", 0): 1, ("a", 1): 1, ("a", None): 1}
        assert {type(value) for _, value in rows} == {int, type(None)}


#: An array and a mapping with names of dimensions, as xarray has them.
Array = type("Array", (), {"dims": ("row",), "shape": (5,), "__len__": lambda self: 5})
Dataset: Any = type("Dataset", (dict,), {"dims": ("row",)})


def test_other_tables_and_columns_are_refused() -> None:
    """Arrays with names or masks, expressions, and what is not in memory."""
    frame = pd.DataFrame(TABLE)
    structured = np.array(list(zip(*TABLE.values(), strict=True)), dtype=[("y", "i8"), ("p", "i1"), ("g", "U1")])
    batches = pa.table(TABLE)
    for data in (structured, np.zeros((2, 2)), Dataset(TABLE), batches.to_reader(), batches.to_batches()[0]):
        must = "data must be a dataframe, a mapping of columns or a path to a file"
        assert refusal(data) == f"{must}; got {type(data).__name__}; pass a dataframe made of it"
    assert cells(pd.DataFrame(structured)) == cells(pa.table(batches.to_reader())) == CELLS
    levels = frame.set_index(["g", "y"]).index
    masked = np.ma.array(TABLE["p"], mask=[False] * 4 + [True])
    lazy = dd.from_pandas(frame, npartitions=2)["p"]  # type: ignore[no-untyped-call, unused-ignore]
    relation = duckdb.from_arrow(pa.table({"p": TABLE["p"]}))
    for given in (Array(), levels, structured, masked, pl.col("p"), lazy, pl.LazyFrame({"p": TABLE["p"]}), relation):
        for title in ("y_pred", "groups"):
            must = f"{title} must be a list, an array or a Series; got {type(given).__name__}"
            assert refusal(frame, **{title: given}) == f"{must}; pass a dataframe as data, and names of columns"
    with pytest.raises(InvalidInput, match=r"^groups must be a list, an array or a Series; got Expr"):
        eh.audit(pl.DataFrame(TABLE), y_true="y", y_pred="p", groups=[pl.col("g")])


PROBABILITIES = np.array([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.2, 0.8]])


def test_of_two_columns_of_scores_the_second_is_taken() -> None:
    """As predict_proba orders classes, the second is the larger label."""
    for data in (TABLE, pd.DataFrame(TABLE)):
        for scores in (PROBABILITIES, PROBABILITIES.astype("f4"), PROBABILITIES[:, 1:], Offered(PROBABILITIES)):
            assert cells(data, y_pred=None, y_score=scores) == CELLS
    assert cells(TABLE | {"s": PROBABILITIES}, y_pred=None, y_score="s") == CELLS
    missing = PROBABILITIES.copy()
    missing[4] = np.nan
    assert count_rows(TABLE, "g", {"y_score": missing}, cuts={"y_score": [0.5]}).rows[("b", None)] == 1
    rows = "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row "
    for scores, sentence in (
        (np.ones((5, 3)) / 3, "y_score has 3 columns; pass the column of the positive class"),
        (pd.DataFrame(PROBABILITIES), "y_score has 2 columns; pass the column of the positive class"),
        (PROBABILITIES + np.array([0, 0.25]), f"{rows}1 contains 0.1 and 1.15"),
        (np.array([[0.5, 0.5]] * 4 + [[2.0, -1.0]]), f"{rows}5 contains 2 and -1"),
        (np.array([[0.5, 0.5]] * 4 + [[np.nan, 1.0]]), f"{rows}5 contains nan and 1"),
        (np.array([["a", "b"]] * 5), "y_score must contain numbers; got array("),
    ):
        assert refusal(TABLE, y_pred=None, y_score=scores).startswith(sentence)
