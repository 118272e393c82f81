"""From counted rows to a tally: what labels, scores, weights and classes mean at every place on the axes."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from audit_oracle import effective
from decisions import CELLS, TABLE
from hypothesis import given, strategies as st

import evenhand as eh
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.tabulate import Answers, Slice, Tally, as_counts, tabulated


def tallied(data: Any = None, *, groups: Any, needs: Any = ("cells",), selects: bool = False, **given: Any) -> Tally:
    """The tally of data, with the positive labels among the other answers."""
    positive = {name: given.pop(name, None) for name in ("positive", "positive_label", "positive_prediction")}
    return tabulated(data, groups, Answers(positive=positive, **given), needs, selects=selects)


def cells(tally: Tally, **at: Any) -> dict[Any, Any]:
    """The cells by group at a place."""
    (found,) = [one for one in tally.slices if one.of == "cells" and dict(one.at) == at]
    return dict(found.parts)


@pytest.mark.parametrize(
    ("negative", "positive", "asked"),
    [
        (0, 1, None),
        (-1, 1, None),
        (False, True, None),
        ("no", "yes", None),
        ("False", "True", None),
        ("0", "1", None),
        (0.0, 1.0, None),
        (Decimal(0), Decimal(1), None),
        ("bad", "good", "good"),
        (1, 2, 2),
        (1, 2, "2"),
        (False, True, "true"),
    ],
)
@pytest.mark.parametrize("frame", [lambda c: c, pd.DataFrame, pl.DataFrame])
def test_labels_in_the_wild(negative: Any, positive: Any, asked: Any, frame: Any) -> None:
    spelled = [negative, positive, positive, negative]
    data = frame({"y": spelled, "p": spelled[::-1], "g": ["a", "a", "b", "b"]})
    tally = tallied(data, y_true="y", y_pred="p", groups="g", positive=asked)
    assert cells(tally) == {("a",): eh.ConfusionMatrix(1, 0, 0, 1), ("b",): eh.ConfusionMatrix(1, 0, 0, 1)}


def test_labels_in_the_wild_are_counted_not_just_accepted() -> None:
    data = {"y": ["yes", "yes", "no", "no"], "p": ["yes", "no", "no", "yes"], "g": ["a", "a", "a", "b"]}
    assert cells(tallied(data, y_true="y", y_pred="p", groups="g")) == {
        ("a",): eh.ConfusionMatrix(1, 1, 0, 1),
        ("b",): eh.ConfusionMatrix(0, 0, 1, 0),
    }


ONE_MEANING: list[tuple[Any, Any]] = [
    ([0, 1], [False, True]),
    (["0", "1"], [0, 1]),
    (["0", "1"], [False, True]),
    (["false", "true"], [0, 1]),
    (["False", "True"], ["0", "1"]),
    ([0.0, 1.0], [False, True]),
    (["no", "yes"], [0, 1]),
    ([False, True], ["negative", "positive"]),
]


@pytest.mark.parametrize(("labels", "predictions"), ONE_MEANING)
def test_labels_that_can_mean_one_thing_only_are_the_same(labels: Any, predictions: Any) -> None:
    at = [0, 1, 1, 0, 0, 1, 0]
    to = [1, 1, 0, 0, 0, 1, 0]
    y, p = [labels[i] for i in at], [predictions[i] for i in to]
    expected = Counter(zip(at, to, strict=True))
    matrix = eh.ConfusionMatrix(expected[1, 1], expected[1, 0], expected[0, 1], expected[0, 0])
    assert eh.ConfusionMatrix.from_labels(y, p) == matrix
    assert cells(tallied(None, y_true=y, y_pred=p, groups=["a"] * 7)) == {("a",): matrix}
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        data = frame({"y": y, "p": p, "g": ["a"] * 7})
        assert cells(tallied(data, y_true="y", y_pred="p", groups="g")) == {("a",): matrix}


@pytest.mark.parametrize(
    "column",
    [
        lambda v: pd.Series(v, dtype="boolean"),
        lambda v: pd.Series(v, dtype="Int8"),
        lambda v: pd.Series(v).astype("category"),
        lambda v: pd.Series(pd.Categorical([str(x) for x in v])),
        lambda v: pd.Series(v, dtype="int64[pyarrow]"),
        lambda v: pd.Series([bool(x) for x in v], dtype="bool[pyarrow]"),
        lambda v: pd.Series([str(x) for x in v], dtype="string[pyarrow]"),
        lambda v: pl.Series([str(x) for x in v], dtype=pl.Enum(["1", "0"])),
        lambda v: pl.Series([str(x) for x in v], dtype=pl.Categorical),
        lambda v: pl.Series([bool(x) for x in v]),
        lambda v: np.array(v, dtype=np.uint8),
        lambda v: np.array(v, dtype=bool),
        lambda v: pa.array([bool(x) for x in v]),
    ],
)
def test_every_kind_of_column_of_zeros_and_ones_is_the_same(column: Any) -> None:
    y, p = [1, 1, 0, 0, 1], [1, 0, 1, 0, 1]
    held = column(y)
    library: Any = pl if isinstance(held, pl.Series) else pd
    frame = library.DataFrame({"y": held, "p": p, "g": list("aaabb")})
    expected = {("a",): eh.ConfusionMatrix(1, 1, 1, 0), ("b",): eh.ConfusionMatrix(1, 0, 0, 1)}
    assert cells(tallied(frame, y_true="y", y_pred="p", groups="g")) == expected
    assert cells(tallied(None, y_true=held, y_pred=p, groups=list("aaabb"))) == expected


def test_a_word_for_missing_is_a_label_if_it_is_one_of_two() -> None:
    data = {"y": ["none", "some", "some", "none"], "p": [0, 1, 0, 1], "g": list("aabb")}
    tally = tallied(data, y_true="y", y_pred="p", groups="g", positive_label="some")
    assert cells(tally) == {("a",): eh.ConfusionMatrix(1, 0, 0, 1), ("b",): eh.ConfusionMatrix(0, 1, 1, 0)}
    data = {"y": ["yes", "no", "NA", "no"], "p": ["yes", "NA", "yes", "no"], "g": list("aabb")}
    tally = tallied(data, y_true="y", y_pred="p", groups="g")
    assert tally.left_out == {"y_true": 1, "y_pred": 1}


@pytest.mark.parametrize("frame", [lambda c: c, pd.DataFrame, pl.DataFrame, pl.LazyFrame, lambda c: pa.table(c)])
def test_scores_are_compared_with_the_threshold_and_missing_ones_left_out(frame: Any) -> None:
    data = frame({"y": [1, 0, 1, 0, 1], "s": [0.7, 0.5, 0.2, float("nan"), None], "g": list("abaab")})
    tally = tallied(data, y_true="y", y_score="s", threshold=0.5, groups="g")
    assert cells(tally) == {("a",): eh.ConfusionMatrix(1, 1, 0, 0), ("b",): eh.ConfusionMatrix(0, 0, 1, 0)}
    assert tally.left_out == {"y_pred": 2}


def test_scores_in_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("g,y,the score\na,1,0.7\nb,0,0.5\na,1,0.2\nb,1,n/a\n", encoding="utf-8")
    tally = tallied(path, y_true="y", y_score="the score", groups="g")
    assert cells(tally) == {("a",): eh.ConfusionMatrix(1, 1, 0, 0), ("b",): eh.ConfusionMatrix(0, 0, 1, 0)}
    assert tally.left_out == {"y_pred": 1}


def test_a_group_called_na_is_a_group_and_a_label_called_na_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("g,y,p\nNA,1,1\n,0,1\nNA,NA,0\nEU,0,0\n", encoding="utf-8")
    tally = tallied(path, y_true="y", y_pred="p", groups="g")
    assert list(cells(tally)) == [("EU",), ("NA",), (None,)]
    assert tally.left_out == {"y_true": 1}


def test_a_class_called_none_is_a_class() -> None:
    data = {"y": ["fraud", "none", "none", "fraud"], "p": ["none", "none", "fraud", "fraud"], "g": list("aabb")}
    tally = tallied(data, y_true="y", y_pred="p", groups="g", positive="fraud")
    assert tally.left_out == {}
    assert cells(tally)[("a",)] == eh.ConfusionMatrix(0, 1, 0, 1)


@pytest.mark.parametrize("word", ["NA", "n/a", "NaN", "nan", "null", "NULL", "None", " na ", "", "  "])
@pytest.mark.parametrize("labels", [("0", "1"), ("no", "yes")])
def test_words_for_a_missing_label_leave_the_row_out(word: str, labels: tuple[str, str]) -> None:
    no, yes = labels
    data = {"y": [yes, no, word, no, word], "p": [yes, yes, no, word, word], "g": list("aaaab")}
    tally = tallied(data, y_true="y", y_pred="p", groups="g")
    assert cells(tally) == {("a",): eh.ConfusionMatrix(1, 0, 1, 0)}
    assert tally.left_out == {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1}


def test_a_table_of_missing_predictions_is_refused() -> None:
    for answer in ({"y_pred": ["", " "]}, {"y_pred": [None, None]}):
        with pytest.raises(InvalidInput, match=r"^every value of y_pred is missing; there is nothing to audit$"):
            tallied(None, y_true=[1, 0], groups=["a", "b"], **answer)
    with pytest.raises(InvalidInput, match=r"^every row lacks a label or a prediction; there is nothing to audit$"):
        tallied(None, y_true=[1, 0], y_score=[None, None], groups=["a", "b"])
    with pytest.raises(InvalidInput, match=r"^data must have at least one row; got none$"):
        tallied(None, y_true=[], y_pred=[], groups=[])


def test_without_labels_predictions_are_counted_as_of_negatives() -> None:
    """Positive predictions are FP, negative ones TN."""
    tally = tallied(None, y_true=None, y_pred=[1, 0, 0, None], groups=list("aaba"))
    assert cells(tally) == {("a",): eh.ConfusionMatrix(0, 0, 1, 1), ("b",): eh.ConfusionMatrix(0, 0, 0, 1)}
    assert (tally.labelled, tally.left_out) == (False, {"y_pred": 1})


def test_the_threshold_is_one_half_unless_given() -> None:
    scores: dict[str, Any] = {"y_true": [1, 0, 1, 0], "y_score": [0.5, 0.499, 0.7, 0.6], "groups": list("aaaa")}
    assert cells(tallied(None, **scores)) == {("a",): eh.ConfusionMatrix(2, 0, 1, 1)}
    assert cells(tallied(None, **scores, threshold=0.65)) == {("a",): eh.ConfusionMatrix(1, 1, 0, 2)}


def test_texts_that_spell_booleans_are_read_as_booleans() -> None:
    data = {"y": ["True", "false", " TRUE"], "p": [True, False, False], "g": list("aaa")}
    assert cells(tallied(data, y_true="y", y_pred="p", groups="g")) == {("a",): eh.ConfusionMatrix(1, 1, 0, 1)}


def test_infinity_is_a_text_among_labels_and_a_number_among_values() -> None:
    data = {"y": ["inf", "1", "1"], "p": ["inf", "inf", "1"], "g": [Decimal("Infinity"), Decimal("2.5"), Decimal(3)]}
    tally = tallied(data, y_true="y", y_pred="p", groups="g", positive="inf")
    assert tally.positive == {"label": ("inf",), "prediction": ("inf",)}
    assert list(cells(tally)) == [(2.5,), (3,), (float("inf"),)]


def test_the_positive_label_is_kept_as_a_plain_value() -> None:
    tally = tallied(None, y_true=[1, 2], y_pred=[1, 2], groups=["a", "a"], positive=np.int64(2))
    assert [type(label) for labels in tally.positive.values() for label in labels] == [int, int]


@pytest.mark.parametrize("threshold", [["x"], np.array([0.5, np.nan]), 10**400, Decimal("sNaN"), 1j, [0.5, True]])
def test_a_threshold_is_a_finite_number(threshold: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^threshold must be a finite number; got "):
        tallied(None, y_true=[1, 0], y_score=[1, 0], threshold=threshold, groups=["a", "b"])
    assert cells(tallied(None, y_true=[1, 0], y_score=[0.5, 0.4], threshold=Decimal("0.5"), groups=["a", "a"])) == {
        ("a",): eh.ConfusionMatrix(1, 0, 0, 1)
    }


@pytest.mark.parametrize("score", [[0.5], 1j, np.array([1, 2])])
def test_scores_are_numbers(score: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^y_score must contain numbers; got "):
        tallied(None, y_true=[1, 0], y_score=[1, score], groups=["a", "b"])
    tally = tallied(None, y_true=[1, 0], y_score=[1, Decimal("sNaN")], groups=["a", "a"])
    assert tally.left_out == {"y_pred": 1}


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=20), st.data())
def test_every_threshold_is_counted_in_one_pass(scores: list[float], data: st.DataObject) -> None:
    labels = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=len(scores) - 2, max_size=len(scores) - 2))]
    groups = data.draw(st.lists(st.sampled_from("ab"), min_size=len(scores), max_size=len(scores)))
    thresholds = data.draw(st.lists(st.sampled_from([-1.0, 0.0, 0.3, 0.5, 1.0, 2.0]), min_size=1, max_size=4))
    tally = tallied(None, y_true=labels, y_score=scores, groups=groups, threshold=thresholds)
    assert [one.at for one in tally.slices] == [(("threshold", t),) for t in sorted(set(thresholds))]
    assert tally.threshold == (thresholds[0] if len(set(thresholds)) == 1 else None)
    for ((_, threshold),) in (one.at for one in tally.slices):
        reached = [int(s >= threshold) for s in scores]
        alone = tallied(None, y_true=labels, y_pred=reached, groups=groups, positive=1)
        assert cells(tally, threshold=threshold) == cells(alone)


PROBABILITIES = np.array([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.2, 0.8]])


@pytest.mark.parametrize("data", [TABLE, pd.DataFrame(TABLE)])
def test_of_two_columns_of_scores_the_second_must_be_of_the_positive_class(data: Any) -> None:
    columns: dict[str, Any] = {"y_true": "y", "y_score": PROBABILITIES, "groups": "g"}
    tally = tallied(data, **columns)
    assert {key: cm.cells for key, cm in cells(tally).items()} == CELLS
    assert tally.source["score_column"] == 2
    with pytest.raises(InvalidInput, match=r"the second is that of 1, but the positive label is 0; pass the column"):
        tallied(data, **columns, positive=0)
    with pytest.raises(InvalidInput, match=r"the second is that of 'no', but the positive label is 'Yes'; pass"):
        tallied(data, **columns | {"y_true": ["Yes" if y else "no" for y in TABLE["y"]]})


def refused(folder: Path, name: str, content: str | None, **columns: Any) -> str:
    path = folder / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(EvenhandError) as found:
        tallied(path, **({"y_true": "y", "y_pred": "p", "groups": "g"} | columns))
    return str(found.value).replace(str(folder), "")


@pytest.mark.parametrize(
    ("content", "columns", "sentence"),
    [
        ("g,y,p\n", {}, "/d.csv has no rows; there is nothing to audit"),
        ("g,y,p\na,1,1\n", {"y_pred": "pp"}, "no column is called 'pp'; did you mean 'p'?"),
        ("g,y,p\na,1,1\nb,1,0\n", {}, "y_true contains one class only (1); if that is right, "
         "pass the positive label as positive_label="),
        ("g,y,p\na,x,x\nb,y,z\n", {}, "y_true and y_pred contain 3 distinct labels ('x', 'y', 'z'); "
         "pass the positive ones as positive=, or audit each class with classes='all'"),
        ("g,y,p\na,x,x\nb,y,x\n", {}, "the positive label cannot be inferred from the labels 'x', 'y'; pass "
         "it as positive="),
        ("g,y,p\na,,1\nb,,0\n", {}, "every value of y_true is missing; there is nothing to audit"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_audited_is_refused_in_a_sentence(
    content: str, columns: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    assert refused(tmp_path, "d.csv", content, **columns) == sentence


# What does not fit together


@pytest.mark.parametrize(
    ("given", "needs", "sentence"),
    [
        ({"y_true": [1, 0]}, ["cells"], "pass either y_pred (predictions) or y_score (scores); got neither"),
        ({"y_true": [1, 0], "y_pred": [1, 0], "y_score": [1, 0]}, ["cells"],
         "pass either y_pred (predictions) or y_score (scores); got both"),
        ({"y_true": [1, 0], "y_pred": [1, 0], "threshold": 0.5}, ["cells"],
         "threshold is for scores; pass them as y_score, or leave threshold out"),
        ({"y_true": [1, 0], "y_score": [1, 0], "threshold": []}, ["cells"],
         "threshold must contain at least one number"),
        ({"y_true": [1, 0], "y_score": [3, 0]}, ["cells"], "y_score must be between 0 and 1 for the default threshold "
         "of 0.5; for other scores pass threshold=, at or above which they are positive"),
        ({"y_true": [1, 0], "y_score": [3, 0]}, ["cells", "ranking"], "y_score must be between 0 and 1 for the default "
         "threshold of 0.5; for other scores pass threshold=, at or above which they are positive"),
        ({"y_true": [1, 0], "y_pred": [1, 0]}, ["ranking"], "auc, brier and log_loss need the score of every case; "
         "pass it as y_score="),
        ({"y_score": [1, 0]}, ["ranking"], "auc, brier and log_loss need labels; pass them as y_true="),
        ({"y_pred": [1, 0]}, ["values"], "functions need labels; pass them as y_true="),
        ({"y_true": [1, 0], "y_pred": [1, 0], "weights": [1, 1]}, ["cells", "values"],
         "auc, brier, log_loss and functions take no weights; leave them out, or ask for other metrics"),
        *(({"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": "all", name: [1, 1]}, ["cells"],
           f"{name} is for two classes and cannot be combined with classes")
          for name in ("y_score", "threshold", "weights", "positive", "positive_label", "positive_prediction")),
        ({"y_pred": ["x", "y"], "classes": "all"}, ["cells"], "y_true must be the name of a column or its values; got "
         "None"),
        ({"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": "all"}, ["ranking"],
         "scores such as auc are of two classes and cannot be combined with classes"),
        ({"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": "x"}, ["cells"],
         "classes must be a list of classes or 'all'; got 'x'"),
        ({"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": []}, ["cells"],
         "classes must name at least one class"),
        ({"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": ["w"]}, ["cells"],
         "no class is called 'w'; known: x, y"),
        ({"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": [["x"]]}, ["cells"],
         "no class is called \"['x']\"; known: x, y"),
        ({"y_true": ["x", "y"], "y_pred": ["u", "v"], "classes": "all"}, ["cells"],
         "y_true and y_pred have no class in common; predictions must be of the same classes as labels"),
        ({"y_true": [None, "y"], "y_pred": ["x", None], "classes": "all"}, ["cells"],
         "every row lacks a label or a prediction; there is nothing to audit"),
    ],
)  # fmt: skip
def test_answers_that_do_not_fit_together_are_refused(given: dict[str, Any], needs: list[Any], sentence: str) -> None:
    with pytest.raises(EvenhandError) as refused_:
        tallied(None, groups=list("ab"), needs=needs, **given)
    assert str(refused_.value) == sentence


# Selections


def test_selections_count_cases_with_a_prediction_and_no_label() -> None:
    y, p, g = [1, 0, None, None, 1, None], [1, 0, 1, 0, None, 1], list("aabbac")
    tally = tallied(None, y_true=y, y_pred=p, groups=g, selects=True)
    assert tally.left_out == {"y_true": 3, "y_pred": 1}
    kinds = {one.of: one.parts for one in tally.slices}
    empty = eh.ConfusionMatrix(0, 0, 0, 0)
    assert kinds["cells"] == {("a",): eh.ConfusionMatrix(1, 0, 0, 1), ("b",): empty, ("c",): empty}
    assert {key: cm.n for key, cm in kinds["selections"].items()} == {("a",): 2, ("b",): 2, ("c",): 1}
    assert {key: cm.tp + cm.fp for key, cm in kinds["selections"].items()} == {("a",): 1, ("b",): 1, ("c",): 1}
    assert tally.n == 2
    plain = tallied(None, y_true=[1, 0], y_pred=[1, 0], groups=list("ab"), selects=True)
    assert [one.of for one in plain.slices] == ["cells"], "nobody lacks a label"


# Weights

weighted_cases = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 1), st.sampled_from([0.25, 0.5, 1.0, 2.0, 7.5])),
    min_size=2,
    max_size=30,
)


@given(cases=weighted_cases)
def test_weighted_counts_are_kishs(cases: list[tuple[str, int, int, float]]) -> None:
    """n = round((Σw)² / Σw²), cells in weighted shares of it, rounded to whole counts that add up."""
    g, y, p, w = (list(column) for column in zip(*cases, strict=True))
    tally = tallied(None, y_true=y, y_pred=p, weights=w, groups=g, positive=1)
    total = 0.0
    for (group,), cm in cells(tally).items():
        own = [(2 * (1 - a) + (1 - b), weight) for who, a, b, weight in cases if who == group]
        size, shares = effective([weight for _, weight in own], [cell for cell, _ in own])
        assert cm.n == round(size)
        assert max(abs(cell - share * round(size)) for cell, share in zip(cm.cells, shares, strict=True)) < 1
        total += cm.n
    assert tally.weight == {"n": len(cases), "weight": pytest.approx(sum(w)), "effective": total}


@given(cases=weighted_cases, factor=st.sampled_from([1e-200, 3.0, 1e150]))
def test_weights_matter_only_relative_to_each_other(cases: list[tuple[str, int, int, float]], factor: float) -> None:
    g, y, p, w = (list(column) for column in zip(*cases, strict=True))
    columns: Any = {"y_true": y, "y_pred": p, "groups": g, "positive": 1}
    scaled = tallied(None, weights=[factor * weight for weight in w], **columns)
    assert cells(tallied(None, weights=w, **columns)) == cells(scaled)


def test_equal_weights_change_nothing_and_weight_zero_leaves_a_case_out() -> None:
    y, p, g = [1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 1], list("aaabbb")
    plain = cells(tallied(None, y_true=y, y_pred=p, groups=g))
    assert cells(tallied(None, y_true=y, y_pred=p, groups=g, weights=[2.5] * 6)) == plain
    more: Any = {"y_true": [*y, 1], "y_pred": [*p, 0], "groups": [*g, "c"], "weights": [1] * 6 + [0]}
    assert cells(tallied(None, **more)) == plain
    several = tallied(None, y_true=y, y_pred=p, groups={"g": g, "h": list("xyxyxy")}, weights=[1] * 6)
    assert list(cells(several)) == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert several.n == 6


def test_weights_of_scores_and_thresholds_are_taken_too() -> None:
    y, s, g, w = [1, 1, 0, 0], [0.9, 0.2, 0.6, 0.1], list("abab"), [3, 1, 1, 1]
    tally = tallied(None, y_true=y, y_score=s, threshold=[0.5, 0.95], groups=g, weights=w)
    assert cells(tally, threshold=0.5)["a",] == eh.ConfusionMatrix(2, 0, 0, 0)
    assert cells(tally, threshold=0.95)["a",].fn == 2
    assert tally.weight["n"] == 4


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1, -2], "weights must be finite and at least 0; got -2.0"),
        ([0, 0], "weights must not all be 0"),
        ([1, float("inf")], "weights must be finite and at least 0; got inf"),
        ([1, "x"], "weights must contain numbers; got 'x'"),
        ([1, 1j], "weights must contain numbers; got 1j"),
        ([1, 1, 1], "columns must have the same length; got group 2, y_true 2, y_pred 2, weights 3"),
    ],
)
def test_weights_that_weigh_nothing_are_refused(weights: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused_:
        tallied(None, y_true=[1, 0], y_pred=[1, 0], groups=list("ab"), weights=weights)
    assert str(refused_.value) == sentence


def test_cases_without_a_weight_are_left_out() -> None:
    tally = tallied(
        None, y_true=[1, 0, 1, 0], y_pred=[1, 0, 0, 1], groups=list("aabb"), weights=[1, None, 1, float("nan")]
    )
    assert tally.left_out == {"weights": 2}
    assert tally.n == 2


# Rows


def rows_of(tally: Tally) -> Slice:
    (found,) = [one for one in tally.slices if one.of == "rows"]
    return found


def test_rows_hold_what_a_metric_reads_and_who_they_are_of() -> None:
    y, s, g = ["no", "yes", "yes", None], [0.2, 0.7, None, 0.5], list("abab")
    tally = tallied(None, y_true=y, y_score=s, groups=g, needs=["ranking"], positive="yes")
    assert tally.left_out == {"y_score": 1, "y_true": 1}
    found = rows_of(tally)
    assert (found.at, list(found.parts)) == ((), [("a",), ("b",)])
    columns = found.parts["a",].table.columns
    assert (columns["y_score"].tolist(), columns["positive"].tolist()) == ([0.2, 0.7], [False, True])
    assert [part.mask.tolist() for part in found.parts.values()] == [[True, False], [False, True]]
    assert tally.n == 2


def test_rows_are_the_same_whatever_the_order_of_the_data() -> None:
    rows = [("a", 1, 0.3), ("b", 0, 0.3), ("a", 0, 0.9), ("a", 1, 0.3), ("b", 1, 0.1)]
    found = []
    for order in (rows, rows[::-1]):
        g, y, s = (list(column) for column in zip(*order, strict=True))
        table = rows_of(tallied(None, y_true=y, y_score=s, groups=g, needs=["ranking"])).parts["a",].table
        found.append((table.of.tolist(), {name: column.tolist() for name, column in table.columns.items()}))
    assert found[0] == found[1]
    assert len(found[0][0]) == 5, "equal rows are as many rows as they were"


def test_labels_of_functions_stay_what_they_are() -> None:
    y, p = ["good", "bad", "ugly", "good"], [1, 2.5, "x", None]
    tally = tallied(None, y_true=y, y_pred=p, groups=list("abab"), needs=["values"])
    columns = rows_of(tally).parts["a",].table.columns
    assert sorted(zip(columns["y_true"].tolist(), columns["y_pred"].tolist(), strict=True), key=str) == [
        *(("bad", 2.5), ("good", 1), ("ugly", "x")),
    ]
    assert (tally.left_out, tally.positive) == ({"y_pred": 1}, {})


def test_cells_and_rows_of_one_table_are_counted_together() -> None:
    tally = tallied(None, y_true=[1, 0, 1, 0], y_score=[0.3, 0.6, 0.8, 0.1], threshold=[0.2, 0.5], groups=list("abab"),
                    needs=["cells", "ranking"])  # fmt: skip
    assert [(one.of, one.at) for one in tally.slices] == [
        ("cells", (("threshold", 0.2),)),
        ("cells", (("threshold", 0.5),)),
        ("rows", ()),
    ]
    assert cells(tally, threshold=0.5)["a",] == eh.ConfusionMatrix(1, 1, 0, 0)


# Classes


def test_each_class_is_counted_against_the_rest_and_all_of_them_together() -> None:
    y, p = list("xyzzx"), list("xyyzz")
    tally = tallied(None, y_true=y, y_pred=p, groups=list("aaabb"), classes="all")
    assert tally.classes == ("x", "y", "z")
    assert [(one.of, one.at) for one in tally.slices] == [
        *(("cells", (("class", label),)) for label in "xyz"),
        ("classes", ()),
    ]
    for label in "xyz":
        for group, members in (("a", slice(3)), ("b", slice(3, 5))):
            pairs = list(zip(y[members], p[members], strict=True))
            expected = [sum((a == label, b == label) == pair for a, b in pairs)
                        for pair in ((True, True), (True, False), (False, True), (False, False))]  # fmt: skip
            assert cells(tally, **{"class": label})[group,] == eh.ConfusionMatrix(*expected)
    whole = tally.slices[-1].parts["a",]
    assert whole.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("classes", [[2, 3], ["2", "3"], [2.0, 3.0], (2, "3", 2)])
def test_classes_are_chosen_by_value_or_text(classes: Any) -> None:
    tally = tallied(None, y_true=[1, 2, 3], y_pred=[1, 3, 3], groups=list("aba"), classes=classes)
    assert [one.at for one in tally.slices if one.of == "cells"] == [(("class", 2),), (("class", 3),)]


def test_rows_without_a_class_are_left_out_and_count_for_selections() -> None:
    y, p = ["x", None, "z", "y", "", "x"], ["x", "y", "z", "NA", None, "y"]
    tally = tallied(None, y_true=y, y_pred=p, groups=list("AABBAB"), classes="all", selects=True)
    assert (tally.n, tally.left_out) == (3, {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1})
    (selected,) = [one for one in tally.slices if one.of == "selections" and one.at == (("class", "y"),)]
    assert {key: (cm.n, cm.tp + cm.fp) for key, cm in selected.parts.items()} == {("A",): (2, 1), ("B",): (2, 1)}


# Counts


def test_a_cell_of_a_table_of_counts_is_found_by_name_in_any_case() -> None:
    counts = {"A": {"TN": 4, "fp": 3, "FN": 2, "tp": 1}}
    tally = as_counts(counts, by="race")
    assert (tally.columns, cells(tally)) == (("race",), {("A",): eh.ConfusionMatrix(1, 2, 3, 4)})
    with pytest.raises(InvalidInput, match=r"^group 'A' must have tp, fn, fp and tn; got \{'tp': 1\}$"):
        as_counts({"A": {"tp": 1}}, by="race")


def test_a_group_may_be_a_tuple_in_a_single_column() -> None:
    assert list(cells(as_counts({("A", "F"): (1, 2, 3, 4)}, by="group"))) == [(("A", "F"),)]


@pytest.mark.parametrize("by", [5, None, [1], np.array([1, 2]), []])
def test_group_columns_of_counts_have_names(by: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^by must be the name of a group column, or several; got "):
        as_counts({"A": (1, 2, 3, 4)}, by=by)


@pytest.mark.parametrize(
    ("counts", "by", "sentence"),
    [
        ({}, "group", "counts must map groups to confusion matrices; got {}"),
        ([(1, 2, 3, 4)], "group", "counts must map groups to confusion matrices; got [(1, 2, 3, 4)]"),
        ({"A": (1, 2, 3)}, "group", "group 'A' must have tp, fn, fp and tn; got (1, 2, 3)"),
        ({"A": 5}, "group", "group 'A' must have tp, fn, fp and tn; got 5"),
        ({"A": (1, 2, 3, 0.5)}, "group", "group 'A' must have whole counts; got ConfusionMatrix(tp=1, fn=2, fp=3, "
         "tn=0.5)"),
        ({("A",): (1, 2, 3, 4)}, ["race", "sex"],
         "group ('A',) must have one value per column (race, sex); got 1 value"),
        ({("A", "F", 1): (1, 2, 3, 4)}, ["race", "sex"], "group ('A', 'F', 1) must have one value per column (race, "
         "sex); got 3 values"),
        ({"A": (1, 2, 3, -4)}, "group", "tn must not be negative; got -4"),
    ],
)  # fmt: skip
def test_counts_that_are_none_are_refused(counts: Any, by: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused_:
        as_counts(counts, by)
    assert str(refused_.value) == sentence
