"""Counted rows: every way of giving groups and answers is counted in the same way, and nothing is merged unasked."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from decisions import HELD, write_parquet

import evenhand as eh
from evenhand.cli import evenhand
from evenhand.data import count_rows, similar_names, sort_keys, sort_values
from evenhand.data.counted_rows import merge_variants

TABLE: dict[str, list[Any]] = {
    "race": ["b", "a", None, "a", "b", "a"],
    "sex": ["F", "M", "F", "F", "M", "M"],
    "label": [1, 0, 1, None, 0, 0],
    "old": [1, 1, 0, 0, 0, 1],
    "score": [0.9, 0.5, 0.1, None, 0.45, 0.5],
}
ANSWERS = {"y_true": "label", "y_pred": "old"}


def test_rows_are_the_combinations_that_occur_in_a_stable_order() -> None:
    backwards = {name: values[::-1] for name, values in TABLE.items()}
    expected = Counter(zip(TABLE["race"], TABLE["label"], TABLE["old"], strict=True))
    for held, make in (HELD | {"mapping": dict}).items():
        found = count_rows(make(TABLE), "race", ANSWERS)
        assert (found.rows, found.columns, found.answers) == (expected, ("race",), ("y_true", "y_pred")), held
        assert (found.orders, found.answer_orders, found.source["rows"]) == ({}, {}, 6)
        assert list(found.rows) == list(count_rows(make(backwards), "race", ANSWERS).rows)
        assert [race for (race,) in found.keys] == ["a", "a", "b", "b", None]


def test_any_number_of_answers_are_counted_and_none_is_left_out() -> None:
    """One column may be a group, an answer, and another answer by level."""
    answers = {"y_true": None, "old": "old", "new": np.array(TABLE["label"], dtype=object), "weight": "old"}
    found = count_rows(TABLE, "race", answers | {"y_score": "old"}, cuts={"y_score": (0.5,)})
    assert found.answers == ("old", "new", "weight", "y_score")
    assert found.rows == Counter(zip(*(TABLE[c] for c in ("race", "old", "label", "old", "old")), strict=True))


def test_group_columns_are_cut_into_bins_that_have_names_and_an_order() -> None:
    ages = {"age": [24, 25, 61, None, 44.5], "y": [1, 0, 1, 0, 1]}
    found = count_rows(ages, "age", {"y_pred": "y"}, bins={"age": [45, 25]})
    below, middle, above = found.orders["age"]
    assert (below, middle, above) == ("below 25", "25 to below 45", "45 and above")
    assert found.rows == {(below, 1): 1, (middle, 0): 1, (middle, 1): 1, (above, 1): 1, (None, 0): 1}


def test_numbers_are_floats_whatever_they_are_written_as(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("g,s\na,0.50\na,.5\na,\na,nan\nb,1\nb,1.0\n")
    found = count_rows(tmp_path / "d.csv", "g", {"y_score": "s"})
    assert (found.rows, found.source["rows"]) == ({("a", 0.5): 2, ("a", None): 2, ("b", 1.0): 2}, 6)
    (tmp_path / "d.csv").write_text("g,s\na,high\n")
    with pytest.raises(eh.errors.InvalidInput, match=r"^y_score must contain numbers; got 'high'$"):
        count_rows(tmp_path / "d.csv", "g", {"y_score": "s"})


def test_values_that_differ_are_never_merged_or_made_text() -> None:
    values = [None, "missing", "None", "nan", "", " ", 1, "1", "1.0", True, "True", float("nan"), 1.0]
    found = count_rows(None, np.array(values, dtype=object), {"y_pred": [1] * len(values)})
    texts = ("missing", "None", "nan", " ", "1", "1.0", "True")
    assert found.rows == {(None, 1): 3, (1, 1): 3} | {(text, 1): 1 for text in texts}
    assert Counter(type(value).__name__ for (value,) in found.keys) == {"str": 7, "int": 1, "NoneType": 1}


def test_declared_orders_sources_and_libraries_are_kept(tmp_path: Path) -> None:
    """A group column and an answer may have the same name."""
    sizes = pd.Categorical(["low", "high"], ["low", "high"], ordered=True)
    grades = pd.Categorical(["b", "a"], ["b", "a"], ordered=True)
    found = count_rows(None, {"y_true": sizes}, {"y_true": grades})
    assert (found.orders, found.answer_orders) == ({"y_true": ("low", "high")}, {"y_true": ("b", "a")})
    write_parquet(TABLE, tmp_path / "d.parquet")
    found = count_rows(tmp_path / "d.parquet", "race", ANSWERS)
    assert (found.source["name"], found.source["rows"], found.library) == ("d.parquet", 6, None)
    frame = count_rows(pd.DataFrame(TABLE), "race", ANSWERS | {"y_pred": TABLE["old"]})
    assert (frame.source["library"], frame.library) == ("pandas", "pandas")
    assert count_rows(None, ["a", "b"], {"y_true": [1, 0]}).source == {"kind": "columns", "shape": [2, 2], "rows": 2}


REFUSED: list[tuple[Any, Any, dict[str, Any], dict[str, Any], str]] = [
    ({"g": [], "y": []}, "g", {"y_true": "y"}, {}, "data must have at least one row; got none"),
    (TABLE, "race", {}, {"bins": {"age": [3]}}, "no group column to cut into bins is called 'age'; known: race"),
    (TABLE, "race", {}, {"bins": {"race": []}}, "bins of 'race' must contain at least one number"),
    (TABLE, "race", {}, {"bins": {"race": "3"}}, "bins of 'race' must be numbers; got '3'"),
    (TABLE, "race", {}, {"bins": [3]}, "bins must map group columns to the numbers at which to cut them; got [3]"),
    (TABLE, "race", {}, {"bins": {"race": [math.nan]}}, "bins of 'race' must be a finite number; got nan"),
    (TABLE, "race", {"y_pred": "older"}, {}, "no column is called 'older'; did you mean 'old'?"),
    (TABLE, "race", {"model `A`": 3.5}, {},
     "no column is called 3.5; known: 'race', 'sex', 'label', 'old', 'score'"),
    (None, ["a"], {"model `A`": ["x"]}, {"cuts": {"model `A`": [0.5]}}, "model `A` must contain numbers; got 'x'"),
]  # fmt: skip


def test_what_cannot_be_counted_is_refused_in_a_sentence() -> None:
    for data, groups, answers, more, sentence in REFUSED:
        with pytest.raises(eh.EvenhandError) as found:
            count_rows(data, groups, answers, **more)
        assert str(found.value) == sentence
    # A message names the option of an answer, but not of a group column that is called like one.
    with pytest.raises(eh.errors.InvalidInput) as refused:
        count_rows(None, {"y_pred": ["a"]}, {"y_true": [1, 0]})
    spelled = refused.value.spelled({"y_true": "--label", "y_pred": "--prediction"})
    assert spelled == "columns must have the same length; got y_pred 1, --label 2"


def test_numbers_are_in_their_order_and_missing_groups_last() -> None:
    assert sort_values([10, 9, None, 1]) == [1, 9, 10, None]
    assert sort_values(["10", "9", "b", "a"]) == ["9", "10", "a", "b"]
    assert sort_values(["b", None, "a"], declared=["b", "a"]) == ["b", "a", None]
    assert sort_keys([(None,), ("b",), (10,), ("a",), (9,)]) == [(10,), (9,), ("a",), ("b",), (None,)]
    assert sort_keys([("1",), (1,)]) == sort_keys([(1,), ("1",)]) == [("1",), (1,)]


WHITE = ["White", "white", "White ", "White\xa0", "\uff37hite", "Whit\u0435"]


def people() -> pd.DataFrame:
    names = [*WHITE, "Cafe\u0301", "Caf\xe9", "Black"]
    cases = [(name, y, p) for name in names for y in (0, 1) for p in (0, 1)]
    return pd.DataFrame(cases, columns=["race", "y", "p"])


def test_groups_that_look_alike_are_named_and_merged_if_asked(tmp_path: Path) -> None:
    """Letters of other scripts are named and not merged."""
    data = people()
    given: Any = {"y_true": "y", "groups": "race", "metrics": "acc"}
    assert len({row.group for row in eh.audit(data, y_pred="p", **given).rows}) == 9
    assert similar_names(data["race"].unique()) == [["Cafe\u0301", "Caf\xe9"], sorted(WHITE)]
    a = eh.audit(data, y_pred="p", merge_variants=True, **given)
    sizes = {"White": 20, "Whit\u0435": 4, "Cafe\u0301": 8, "Black": 4}
    assert {row.group: row.n for row in a.rows} == sizes
    (finding,) = (finding for finding in a.findings if finding.kind == "similar-groups")
    assert finding.sentence.startswith(r"'White' and 'Whit\u0435'")
    assert a.provenance["call"]["merge_variants"] is True
    assert a.repeat(people()) == a
    counts = dict.fromkeys(dict.fromkeys(data["race"]), (1, 1, 1, 1))
    b = eh.audit_counts(counts, merge_variants=True, metrics="acc", by="race")
    assert {row.group: row.n for row in b.rows} == sizes
    c = eh.compare(data.assign(q=1), models={"old": "p", "new": "q"}, merge_variants=True, **given)
    data.to_csv(tmp_path / "d.csv", index=False)
    words = ["--label", "y", "--prediction", "p", "--group", "race", "--merge-variants", "--metric", "acc"]
    output = CliRunner().invoke(evenhand, ["audit", str(tmp_path / "d.csv"), *words, "--json", "-"]).stdout
    for audit in (c, eh.Audit.from_json(output)):
        assert {row.group for row in audit.rows if row.by == "race"} == {*sizes}


def test_the_most_frequent_spelling_is_kept() -> None:
    rows = {("a ", 1): 1, ("A", 1): 2, ("A", 0): 1, (None, 1): 1, (3, 1): 1}
    assert merge_variants(rows, 1) == {("A", 1): 3, ("A", 0): 1, (None, 1): 1, (3, 1): 1}
    assert merge_variants({("b", 1): 9, ("B", 1): 1}, 1, first=True) == {("B", 1): 10}
    assert similar_names(["A+", "A-", "18-24", "18–25", "B", "", 1, None, "1"]) == []
    assert similar_names(["zero\u200bwidth", "zerowidth"]) == [["zerowidth", "zero\u200bwidth"]]
