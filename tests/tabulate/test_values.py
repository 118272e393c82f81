"""Columns that are passed as values, in any container, and what is no column."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from decisions import CELLS, TABLE, cells, refusal

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.tabulate import check_second_class, counted


def test_a_column_of_a_table_is_a_column() -> None:
    """Shape (n, 1), of any container."""
    y, p, g = (np.array(TABLE[name])[:, None] for name in "ypg")
    assert cells(None, y_true=y, y_pred=p, groups=g) == CELLS
    assert cells(None, y_true=pd.DataFrame({"y": TABLE["y"]}), y_pred=p.astype(object), groups=g) == CELLS
    assert cells(None, y_true=pl.DataFrame({"y": TABLE["y"]}), y_pred=pa.table({"p": TABLE["p"]}), groups=g) == CELLS
    masked = np.ma.array(p, mask=[[False]] * 4 + [[True]])
    assert counted(None, g, {"y_pred": masked}).rows == {("a", 1): 2, ("b", 0): 2, ("b", None): 1}
    assert refusal(None, y_true=np.array([[1, 0, 1, 0, 1]]), y_pred=p, groups=g) == "y_true must be one column; got 5"
    assert refusal(None, y_true=np.zeros((5, 1, 1)), y_pred=p, groups=g) == (
        "y_true must have one or two dimensions; got shape (5, 1, 1)"
    )
    for nothing in (np.array(True), {"a": 1}, {1, 0}):
        assert refusal(None, y_true=nothing, y_pred=p, groups=g) == (
            f"y_true must be a sequence of values; got {nothing!r}"
        )


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
    rows = counted(None, ["a", "a", "a"], {"y_true": column}).rows
    assert rows == {("a", 0): 1, ("a", 1): 1, ("a", None): 1}
    assert {type(value) for _, value in rows} == {int, type(None)}


class Array:
    """An array with names of dimensions, as xarray has them."""

    dims = ("row",)
    values = np.array(TABLE["p"])

    shape = (5,)

    def __len__(self) -> int:
        return len(self.values)


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


def test_values_that_are_no_columns_are_refused() -> None:
    frame = pd.DataFrame(TABLE)
    levels = frame.set_index(["g", "y"]).index
    structured = frame[["g", "y"]].to_records(index=False)
    for title, given in (("y_pred", Array()), ("groups", Array()), ("groups", levels), ("groups", structured)):
        assert refusal(frame, **{title: given}) == (
            f"{title} must be a list, an array or a Series; got {type(given).__name__}; pass a dataframe as data, and "
            "names of columns"
        )
    assert refusal(frame, y_pred=None, y_score=structured).startswith("y_score must be a list, an array or a Series; ")


PROBABILITIES = np.array([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.2, 0.8]])


def test_of_two_columns_of_scores_the_second_is_taken() -> None:
    """As predict_proba orders classes, the second is the larger label."""
    scored: dict[str, Any] = {"y_pred": None, "y_score": PROBABILITIES}
    assert cells(TABLE, **scored) == CELLS
    assert cells(pd.DataFrame(TABLE), **scored) == CELLS
    assert cells(TABLE | {"s": PROBABILITIES}, y_pred=None, y_score="s") == CELLS
    assert cells(TABLE, y_pred=None, y_score=PROBABILITIES.astype("f4")) == CELLS
    assert cells(TABLE, y_pred=None, y_score=PROBABILITIES[:, 1:]) == CELLS
    missing = PROBABILITIES.copy()
    missing[4] = np.nan
    assert counted(TABLE, "g", {"y_score": missing}, cuts={"y_score": [0.5]}).rows[("b", None)] == 1


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], 1), ([0, 1, None], [1]), (["0", "1"], 1), (["bad", "good"], "good"), ([1], 1), ([0], 1), ([], 1)],
)
def test_the_second_column_is_that_of_the_larger_label(labels: list[Any], positive: Any) -> None:
    """Also if only one of two classes occurs."""
    if len(labels) >= 2 or labels == [0]:
        check_second_class(labels, positive)
    else:
        with pytest.raises(
            eh.errors.InvalidInput, match=r"^y_score has two columns; pass the column of the positive class$"
        ):
            check_second_class(labels, positive)


@pytest.mark.parametrize(
    ("labels", "positive", "sentence"),
    [
        ([1, 0], 0, "y_score has two columns, and as scikit-learn orders classes the second is that of 1, but the "
         "positive label is 0; pass the column of the positive class"),
        (["Yes", "no"], "Yes", "y_score has two columns, and as scikit-learn orders classes the second is that of "
         "'no', but the positive label is 'Yes'; pass the column of the positive class"),
        (["a", "b", "c"], "c", "y_score has two columns; pass the column of the positive class"),
    ],
)  # fmt: skip
def test_a_second_column_of_another_class_is_refused(labels: list[Any], positive: Any, sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput) as found:
        check_second_class(labels, positive)
    assert str(found.value) == sentence


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (np.ones((5, 3)) / 3, "y_score has 3 columns; pass the column of the positive class"),
        (pd.DataFrame(PROBABILITIES), "y_score has 2 columns; pass the column of the positive class"),
        (PROBABILITIES * [[1]] + [[0, 0.25]] * 5,
         "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row 1 "
         "contains 0.1 and 1.15"),
        (np.array([[0.5, 0.5]] * 4 + [[2.0, -1.0]]),
         "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row 5 "
         "contains 2 and -1"),
        (np.array([[0.5, 0.5]] * 4 + [[np.nan, 1.0]]),
         "y_score has two columns, so each row must contain the probabilities of two classes, which add up to 1; row 5 "
         "contains nan and 1"),
        (np.array([["a", "b"]] * 5), "y_score must contain numbers; got a ndarray"),
    ],
)  # fmt: skip
def test_columns_of_scores_that_may_be_others_are_refused(scores: Any, sentence: str) -> None:
    assert refusal(TABLE, y_pred=None, y_score=scores) == sentence


class Offered:
    """Values that can become an array, and nothing else."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)


def test_what_can_become_an_array_is_a_column() -> None:
    y, p, g, s = [1, 0] * 20, [1, 1, 0, 0] * 10, list("aab") * 13 + ["b"], [0.2, 0.9] * 20
    two = [[1 - one, one] for one in s]
    expected = eh.audit(None, y_true=y, y_pred=p, groups=g)
    assert eh.audit(None, y_true=Offered(y), y_pred=Offered(p), groups=Offered(g)).rows == expected.rows
    table = {"y": y, "group": g}
    assert eh.audit(table, y_true="y", y_pred=Offered(p), groups="group").rows == expected.rows
    scored = eh.audit(None, y_true=y, y_score=s, groups=g, metrics=["tpr", "auc"], threshold=0.5)
    for given in (Offered(s), Offered(two)):
        found = eh.audit(None, y_true=y, y_score=given, groups=g, metrics=["tpr", "auc"], threshold=0.5)
        assert found.rows == scored.rows
    offered: list[Any] = [Offered(one) for one in (y, p, s)]
    labels, predictions, scores = offered
    assert eh.ConfusionMatrix.from_labels(labels, predictions) == eh.ConfusionMatrix.from_labels(y, p)
    assert eh.ranking.auc(labels, scores) == eh.ranking.auc(y, s)


PEOPLE = pl.DataFrame({"race": ["A", "B"] * 20, "sex": list("ffmm") * 10, "y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10})


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
def test_plain_expressions_of_polars_are_names(lazy: bool) -> None:
    data = PEOPLE.lazy() if lazy else PEOPLE
    expected = eh.audit(data, y_true="y", y_pred="p", groups=["sex", "race"], within=None)
    found = eh.audit(data, y_true=pl.col("y"), y_pred=pl.col("p"), groups=[pl.col("sex"), "race"])
    assert found == expected and found.record == expected.record
    assert eh.audit(data, y_true="y", y_pred="p", groups=pl.col("sex")).record["columns"]["groups"] == ["sex"]
    models = {"old": pl.col("p"), "new": pl.col("y")}
    assert eh.compare_models(data, y_true=pl.col("y"), models=models, groups="sex").n == 40


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (pl.col("y") == 1, '[(col("y")) == (dyn int: 1)]'),
        (pl.col("y").alias("z"), 'col("y").alias("z")'),
        (pl.lit(1), "dyn int: 1"),
    ],
)
def test_other_expressions_of_polars_are_refused(given: Any, shown: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        eh.audit(PEOPLE, y_true=given, y_pred="p", groups="race")
    assert str(refused.value) == (
        f"y_true must be the name of a column or its values; got the expression {shown!r}: add it to the data with "
        "data.with_columns(name=...), and pass its name"
    )
