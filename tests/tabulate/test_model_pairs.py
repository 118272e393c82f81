"""Decisions of several models on the same cases: counts by label and by the decisions of each pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from evenhand.errors import EvenhandError
from evenhand.tabulate import Tally, paired

person = st.tuples(
    st.sampled_from("xy"),
    st.sampled_from([0, 1, None]),
    st.sampled_from([0, 1, 1, None]),
    st.sampled_from([0, 0, 1, None]),
)


def counts(tally: Tally, model: str, against: str) -> dict[Any, Any]:
    (found,) = [one for one in tally.slices if dict(one.at) == {"model": model, "against": against}]
    assert found.of == "models"
    return {key: part.counts.tolist() for key, part in found.parts.items()}


@given(people=st.lists(person, min_size=1, max_size=30), copies=st.integers(1, 4))
@settings(max_examples=60)
def test_cases_are_counted_by_label_and_both_decisions(people: list[Any], copies: int) -> None:
    """Equal rows are counted together, and each of them counts, whether it is kept or left out."""
    people = people * copies
    who, y, p, q = (list(column) for column in zip(*people, strict=True))
    kept = [one for one in people if None not in one]
    if not kept:
        return
    tally = paired(None, {"g": who}, y_true=y, models={"p": p, "q": q}, positive=1)
    expected: dict[Any, Any] = {}
    for group, label, first, second in kept:
        expected.setdefault((group,), np.zeros((2, 2, 2)))[label, first, second] += 1
    assert counts(tally, "q", "p") == {key: table.tolist() for key, table in sorted(expected.items())}
    left_out: dict[str, int] = {}
    for _, label, first, second in people:
        named = (("y_true", label), ("prediction of p", first), ("prediction of q", second))
        lacks = " and ".join(name for name, value in named if value is None)
        if lacks:
            left_out[lacks] = left_out.get(lacks, 0) + 1
    assert tally.left_out == left_out
    assert tally.n == len(kept)


def test_the_three_ways_to_pass_models_count_the_same() -> None:
    score, y, g = [0.1, 0.4, 0.6, 0.9, 0.6], [0, 1, 1, 0, 0], list("aabba")
    columns = {f"at {cut}": [int(s >= cut) for s in score] for cut in (0.5, 0.2)}
    wide = paired(None, g, y_true=y, models=columns)
    scores = paired(None, g, y_true=y, y_score=score, threshold=[0.5, 0.2])
    lines = [(name, i, y[i], column[i], g[i]) for name, column in columns.items() for i in range(5)]
    model, unit, label, decision, group = (list(column) for column in zip(*lines, strict=True))
    long = paired(None, {"group": group}, y_true=label, model_column=model, unit=unit, y_pred=decision)
    expected = counts(wide, "at 0.2", "at 0.5")
    assert counts(scores, "at 0.2", "at 0.5") == expected
    for one in (wide, scores):
        assert one.slices[0].at == (("model", "at 0.2"), ("against", "at 0.5"))
    turned = {key: np.array(table).transpose(0, 2, 1).tolist() for key, table in expected.items()}
    assert counts(long, "at 0.5", "at 0.2") == turned, "0.2 is the first by name"


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_model_of_a_column_is_the_first_by_name_or_category(turned: bool) -> None:
    """Whatever it decides, and wherever its rows are."""
    lines = [("b", 1, 1, 0, "x"), ("a", 1, 1, 1, "x"), ("c", 1, 1, 0, "x"), ("b", 2, 0, 0, "y"), ("a", 2, 0, 1, "y"),
             ("c", 2, 0, 1, "y")]  # fmt: skip
    frame = pd.DataFrame(lines[::-1] if turned else lines, columns=["model", "case", "y", "p", "g"])
    given: Any = {"y_true": "y", "model_column": "model", "unit": "case", "y_pred": "p", "pairs": "all"}
    pairs = [tuple(value for _, value in one.at) for one in paired(frame, "g", **given).slices]
    assert pairs == [("b", "a"), ("c", "a"), ("c", "b")]
    declared = frame.assign(model=pd.Categorical(frame.model, ["c", "b", "a"], ordered=True))
    pairs = [tuple(value for _, value in one.at) for one in paired(declared, "g", **given).slices]
    assert pairs == [("b", "c"), ("a", "c"), ("a", "b")]


def test_thresholds_are_named_as_they_are_written_and_reached_by_equal_scores() -> None:
    tally = paired(None, list("ab"), y_true=[1, 0], y_score=[0.3, 0.1], threshold=[0.1 + 0.2, 0.5])
    assert tally.slices[0].at == (("model", "at 0.5"), ("against", "at 0.3"))
    reached = paired(None, list("ab"), y_true=[1, 0], y_score=[0.25, 0.5], threshold=[0.5, 0.25])
    assert counts(reached, "at 0.25", "at 0.5") == {
        ("a",): [[[0, 0], [0, 0]], [[0, 1], [0, 0]]],
        ("b",): [[[0, 0], [0, 1]], [[0, 0], [0, 0]]],
    }


def test_models_may_decide_in_other_words_than_labels_as_long_as_they_mean_the_same() -> None:
    tally = paired(None, list("ab"), y_true=[True, False], models={"p": [1, 0], "q": [0, 0]})
    assert counts(tally, "q", "p")["a",] == [[[0, 0], [0, 0]], [[0, 0], [1, 0]]]
    words = paired(None, list("ab"), y_true=["yes", "no"], models={"p": ["yes", "no"], "q": ["no", "no"]})
    assert counts(words, "q", "p") == counts(tally, "q", "p")
    assert words.positive == {"label": ("yes",), "prediction": ("yes",)}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"y_true": [1, 1], "models": {"p": [1, 0], "q": [0, 0]}}, "y_true contains one class only (1); if that is "
         "right, pass the positive label as positive="),
        ({"y_true": [1, 0], "models": {"p": [None, 0], "q": [0, None]}}, "every case lacks a label or a prediction; "
         "there is nothing to compare"),
        ({"y_true": [1, 0], "models": {"1": [1, 0], 1: [0, 0]}}, "models must contain at least two models with "
         "different names; got '1', '1'"),
        ({"y_true": [1, 0], "model_column": ["a", "b"], "unit": [1, None], "y_pred": [1, 0]}, "unit must say in every "
         "row which case it is about; it is missing in 1 of them"),
        ({"y_true": [1, 0], "models": {"p": [1, 0], "q": [0, 0]}, "y_pred": [1, 0]}, "y_pred is for rows that are "
         "decisions of one model each; pass model_column with it"),
        ({"y_true": [1, 0], "model_column": [1, "1"], "unit": [1, 2], "y_pred": [1, 0]}, "model_column must give "
         "different names to different models; got '1', 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_paired_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(EvenhandError) as refused:
        paired(None, list("ab"), **given)
    assert str(refused.value) == sentence
