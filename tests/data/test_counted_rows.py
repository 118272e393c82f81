"""Counted rows: every way of giving groups and answers is counted in the same way, and nothing is merged."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from decisions import write_parquet
from engines import pa, pl
from hypothesis import given, strategies as st

import evenhand as eh
from evenhand.data import check_second_class, count_rows, frames

TABLE: dict[str, list[Any]] = {
    "race": ["b", "a", None, "a", "b", "a"],
    "sex": ["F", "M", "F", "F", "M", "M"],
    "label": [1, 0, 1, None, 0, 0],
    "old": [1, 1, 0, 0, 0, 1],
    "score": [0.9, 0.5, 0.1, None, 0.45, 0.5],
}
ANSWERS = {"y_true": "label", "y_pred": "old"}
ROWS = Counter(zip(TABLE["race"], TABLE["label"], TABLE["old"], strict=True))

HELD: dict[str, Callable[[Any], Any]] = {
    "mapping": lambda c: c,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda c: duckdb.from_arrow(pa.table(c)),
}


@pytest.mark.parametrize("held", HELD)
def test_rows_are_the_combinations_that_occur(held: str) -> None:
    found = count_rows(HELD[held](TABLE), "race", ANSWERS)
    assert found.rows == ROWS
    assert (found.columns, found.answers, found.orders, found.answer_orders) == (
        ("race",),
        ("y_true", "y_pred"),
        {},
        {},
    )
    assert found.source["rows"] == 6
    assert found.values("y_true") == {0, 1, None}


def test_rows_are_in_an_order_that_does_not_depend_on_the_data() -> None:
    backwards = {name: values[::-1] for name, values in TABLE.items()}
    rows = list(count_rows(TABLE, "race", ANSWERS).rows)
    assert rows == list(count_rows(backwards, "race", ANSWERS).rows)
    assert [race for race, *_ in rows] == ["a", "a", "b", "b", None]


@pytest.mark.parametrize(
    ("groups", "columns"),
    [
        (["race", "sex"], ("race", "sex")),
        ({"r": "race", "s": "sex"}, ("r", "s")),
        ({"r": TABLE["race"], "s": np.array(TABLE["sex"])}, ("r", "s")),
        (pl.DataFrame(TABLE).select("race", "sex"), ("race", "sex")),
        (np.array([TABLE["race"], TABLE["sex"]], dtype=object).T, ("group_1", "group_2")),
        ([pd.Series(TABLE["race"], name="race"), np.array(TABLE["sex"])], ("race", "group_2")),
    ],
)
def test_groups_are_names_or_columns(groups: Any, columns: tuple[str, ...]) -> None:
    found = count_rows(TABLE, groups, {"y_true": "label"})
    assert found.columns == columns
    assert found.rows == Counter(zip(TABLE["race"], TABLE["sex"], TABLE["label"], strict=True))


def test_any_number_of_answers_are_counted_and_none_is_left_out() -> None:
    """One column may be a group, an answer, and another answer by level."""
    answers = {"y_true": None, "old": "old", "new": np.array(TABLE["label"], dtype=object), "weight": "old"}
    found = count_rows(TABLE, "race", answers | {"y_score": "old"}, cuts={"y_score": (0.5,)})
    assert found.answers == ("old", "new", "weight", "y_score")
    assert found.rows == Counter(zip(*(TABLE[c] for c in ("race", "old", "label", "old", "old")), strict=True))
    assert count_rows(TABLE, "race", {}).rows == Counter((race,) for race in TABLE["race"])


@pytest.mark.slow
@pytest.mark.parametrize("held", HELD)
@given(cuts=st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.45, 0.5, 0.7, 0.9, 1.0]), min_size=1, unique=True).map(sorted))
def test_an_answer_with_cuts_is_how_many_it_reaches(held: str, cuts: list[float]) -> None:
    found = count_rows(HELD[held](TABLE), "sex", {"y_score": "score"}, cuts={"y_score": cuts})
    levels = [None if score is None else sum(cut <= score for cut in cuts) for score in TABLE["score"]]
    assert found.rows == Counter(zip(TABLE["sex"], levels, strict=True))


def test_group_columns_are_cut_into_bins_that_have_names_and_an_order() -> None:
    ages = {"age": [24, 25, 61, None, 44.5], "y": [1, 0, 1, 0, 1]}
    found = count_rows(ages, "age", {"y_pred": "y"}, bins={"age": [45, 25]})
    below, middle, above = found.orders["age"]
    assert (below, middle, above) == ("below 25", "25 to below 45", "45 and above")
    assert found.rows == {(below, 1): 1, (middle, 0): 1, (middle, 1): 1, (above, 1): 1, (None, 0): 1}


def test_numbers_are_floats_whatever_they_are_written_as(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("g,s\na,0.50\na,.5\na,\na,nan\nb,1\nb,1.0\n")
    found = count_rows(tmp_path / "d.csv", "g", {"y_score": "s"}, numbers=["y_score"])
    assert found.rows == {("a", 0.5): 2, ("a", None): 2, ("b", 1.0): 2}
    assert found.source["rows"] == 6
    (tmp_path / "d.csv").write_text("g,s\na,high\n")
    with pytest.raises(eh.errors.InvalidInput, match=r"^y_score must contain numbers; got 'high'$"):
        count_rows(tmp_path / "d.csv", "g", {"y_score": "s"}, numbers=["y_score"])


def test_values_that_differ_are_never_merged_or_made_text() -> None:
    values = [None, "missing", "None", "nan", "", " ", 1, "1", "1.0", True, "True", float("nan"), 1.0]
    found = count_rows(None, np.array(values, dtype=object), {"y_pred": [1] * len(values)})
    assert found.rows == {
        (None, 1): 3, ("missing", 1): 1, ("None", 1): 1, ("nan", 1): 1, (" ", 1): 1,
        (1, 1): 3, ("1", 1): 1, ("1.0", 1): 1, ("True", 1): 1,
    }  # fmt: skip
    assert Counter(type(value).__name__ for value, _ in found.rows) == {"str": 7, "int": 1, "NoneType": 1}


def test_declared_orders_are_kept_for_groups_and_answers_apart() -> None:
    """A group column and an answer may have the same name."""
    sizes = pd.Categorical(["low", "high"], ["low", "high"], ordered=True)
    grades = pd.Categorical(["b", "a"], ["b", "a"], ordered=True)
    found = count_rows(None, {"y_true": sizes}, {"y_true": grades})
    assert (found.orders, found.answer_orders) == ({"y_true": ("low", "high")}, {"y_true": ("b", "a")})


def test_where_rows_come_from_and_their_library_are_kept(tmp_path: Path) -> None:
    write_parquet(TABLE, tmp_path / "d.parquet")
    found = count_rows(tmp_path / "d.parquet", "race", ANSWERS)
    assert (found.source["name"], found.source["rows"], found.library) == ("d.parquet", 6, None)
    assert count_rows(pl.DataFrame(TABLE), "race", ANSWERS).library == "polars"
    frame = count_rows(pd.DataFrame(TABLE), "race", ANSWERS | {"y_pred": TABLE["old"]})
    assert (frame.source["library"], frame.library) == ("pandas", "pandas")
    assert count_rows(None, ["a", "b"], {"y_true": [1, 0]}).source == {"kind": "columns", "shape": [2, 2], "rows": 2}


def test_of_two_columns_of_probabilities_the_second_is_counted() -> None:
    both = np.array([[0.9, 0.1], [0.2, 0.8], [math.nan, math.nan]])
    groups, labels = ["a", "a", "b"], ["no", "yes", "yes"]
    cut = count_rows(None, groups, {"y_true": labels, "y_score": both}, cuts={"y_score": [0.5]})
    assert cut.rows == {("a", "no", 0): 1, ("a", "yes", 1): 1, ("b", "yes", None): 1}
    read = count_rows(None, groups, {"y_true": labels, "new": both}, numbers=["new"])
    assert read.rows == {("a", "no", 0.1): 1, ("a", "yes", 0.8): 1, ("b", "yes", None): 1}
    assert cut.source["score_column"] == read.source["score_column"] == 2
    check_second_class(cut.values("y_true"), "yes")
    with pytest.raises(eh.errors.InvalidInput, match=r"^new has 3 columns; pass the column of the positive class$"):
        count_rows(None, groups, {"new": np.zeros((3, 3))}, numbers=["new"])
    with pytest.raises(eh.errors.InvalidInput, match=r"^y_pred must be one column; got 2$"):
        count_rows(None, groups, {"y_pred": both})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: count_rows({"g": [], "y": []}, "g", {"y_true": "y"}), "data must have at least one row; got none"),
        (
            lambda: count_rows(None, ["a"], {"y_true": [1, 0]}),
            "columns must have the same length; got group 1, y_true 2",
        ),
        (
            lambda: count_rows(TABLE, "race", ANSWERS, bins={"age": [3]}),
            "no group column to cut into bins is called 'age'; known: race",
        ),
        (lambda: count_rows(TABLE, "race", {}, bins={"race": []}), "bins of 'race' must contain at least one number"),
        (
            lambda: count_rows(TABLE, "race", ANSWERS, bins={"race": "3"}),  # type: ignore[dict-item]
            "bins of 'race' must be numbers; got '3'",
        ),
        (
            lambda: count_rows(TABLE, "race", ANSWERS, bins=[3]),  # type: ignore[arg-type]
            "bins must map group columns to the numbers at which to cut them; got [3]",
        ),
        (
            lambda: count_rows(TABLE, "race", ANSWERS, bins={"race": [math.nan]}),
            "bins of 'race' must be a finite number; got nan",
        ),
        (
            lambda: count_rows(TABLE, "race", ANSWERS | {"y_pred": "older"}),
            "no column is called 'older'; did you mean 'old'?",
        ),
        (
            lambda: count_rows(TABLE, "race", {"model `A`": 3.5}),
            "no column is called 3.5; known: 'race', 'sex', 'label', 'old', 'score'",
        ),
        (
            lambda: count_rows(None, ["a"], {"model `A`": ["x"]}, cuts={"model `A`": [0.5]}),
            "model `A` must contain numbers; got 'x'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_counted_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.EvenhandError) as found:
        call()
    assert str(found.value) == sentence


def test_a_message_names_the_option_of_an_answer_but_not_of_a_group_column_called_like_one() -> None:
    with pytest.raises(eh.errors.InvalidInput) as found:
        count_rows(None, {"y_pred": ["a"]}, {"y_true": [1, 0]})
    assert found.value.spelled({"y_true": "--label", "y_pred": "--prediction"}) == (
        "columns must have the same length; got y_pred 1, --label 2"
    )


def test_too_many_distinct_scores_are_told_apart_from_identifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_ROWS", 3)
    values = list(range(10))
    with pytest.raises(
        eh.errors.TooLarge, match=r"so one of them contains scores or identifiers; choose another column"
    ):
        count_rows(None, values, {"y_true": values})
    with pytest.raises(
        eh.errors.TooLarge, match=r"round the scores to fewer decimals, or audit a random part of the rows$"
    ):
        count_rows(None, ["a"] * 10, {"y_score": values}, numbers=["y_score"])
    assert len(count_rows(None, ["a"] * 10, {"y_score": values}, cuts={"y_score": [5]}).rows) == 2
