"""Decisions of several models on the same cases: counts by label and by the decisions of each pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from evenhand.data import Tally, build_model_tally
from evenhand.errors import EvenhandError

person = st.tuples(*map(st.sampled_from, ("xy", [0, 1, None], [0, 1, 1, None], [0, 0, 1, None])))


def counts(tally: Tally, model: str, against: str) -> dict[Any, Any]:
    """The counts of each key by label, by the decision of ``against`` and by that of ``model``."""
    assert tally.model_counts is not None
    place = tally.places.index((("model", model), ("against", against)))
    return dict(zip(tally.keys, tally.model_counts[place].tolist(), strict=True))


def names(tally: Tally) -> list[tuple[str, ...]]:
    return [tuple(value for _, value in place) for place in tally.places]


@given(people=st.lists(person, min_size=1, max_size=30), copies=st.integers(1, 4))
@settings(max_examples=60)
def test_cases_are_counted_by_label_and_both_decisions(people: list[Any], copies: int) -> None:
    """Equal rows are counted together, and each of them counts, whether it is kept or left out."""
    people = people * copies
    who, y, p, q = (list(column) for column in zip(*people, strict=True))
    kept = [one for one in people if None not in one]
    if not kept:
        return
    tally = build_model_tally(None, {"g": who}, y_true=y, models={"p": p, "q": q}, positive=1)
    expected: dict[Any, Any] = {}
    for group, label, first, second in kept:
        expected.setdefault((group,), np.zeros((2, 2, 2)))[label, first, second] += 1
    assert counts(tally, "q", "p") == {key: table.tolist() for key, table in sorted(expected.items())}
    names = ("y_true", "prediction of p", "prediction of q")
    lacks = [" and ".join(name for name, value in zip(names, one[1:], strict=True) if value is None) for one in people]
    assert tally.left_out == {lacking: lacks.count(lacking) for lacking in lacks if lacking}
    assert tally.n == len(kept)


def test_the_three_ways_to_pass_models_count_the_same() -> None:
    score, y, g = [0.1, 0.4, 0.6, 0.9, 0.6], [0, 1, 1, 0, 0], list("aabba")
    columns = {f"at {cut}": [int(s >= cut) for s in score] for cut in (0.5, 0.2)}
    wide = build_model_tally(None, g, y_true=y, models=columns)
    scores = build_model_tally(None, g, y_true=y, y_score=score, threshold=[0.5, 0.2])
    lines = [(name, i, y[i], column[i], g[i]) for name, column in columns.items() for i in range(5)]
    model, cluster, label, decision, group = (list(column) for column in zip(*lines, strict=True))
    long = build_model_tally(None, {"group": group}, y_true=label, model_column=model, cluster=cluster, y_pred=decision)
    expected = counts(wide, "at 0.2", "at 0.5")
    assert counts(scores, "at 0.2", "at 0.5") == expected
    for one in (wide, scores):
        assert one.places[0] == (("model", "at 0.2"), ("against", "at 0.5"))
    turned = {key: np.array(table).transpose(0, 2, 1).tolist() for key, table in expected.items()}
    assert counts(long, "at 0.5", "at 0.2") == turned, "0.2 is the first by name"


def test_the_first_model_of_a_column_is_the_first_by_name_or_category_or_the_baseline() -> None:
    """Whatever it decides, and wherever its rows are."""
    lines = [("b", 1, 1, 0, "x"), ("a", 1, 1, 1, "x"), ("c", 1, 1, 0, "x"), ("b", 2, 0, 0, "y"), ("a", 2, 0, 1, "y"),
             ("c", 2, 0, 1, "y")]  # fmt: skip
    given: Any = {"y_true": "y", "model_column": "model", "cluster": "case", "y_pred": "p"}
    for rows in (lines, lines[::-1]):
        frame = pd.DataFrame(rows, columns=["model", "case", "y", "p", "g"])
        assert names(build_model_tally(frame, "g", **given)) == [("b", "a"), ("c", "a")]
        assert names(build_model_tally(frame, "g", **given, baseline="b")) == [("a", "b"), ("c", "b")]
        declared = frame.assign(model=pd.Categorical(frame.model, ["c", "b", "a"], ordered=True))
        assert names(build_model_tally(declared, "g", **given)) == [("b", "c"), ("a", "c")]


def test_thresholds_are_named_as_they_are_written_and_reached_by_equal_scores() -> None:
    tally = build_model_tally(None, list("ab"), y_true=[1, 0], y_score=[0.3, 0.1], threshold=[0.1 + 0.2, 0.5])
    assert tally.places[0] == (("model", "at 0.5"), ("against", "at 0.3"))
    reached = build_model_tally(None, list("ab"), y_true=[1, 0], y_score=[0.25, 0.5], threshold=[0.5, 0.25])
    zeros, found = [[0, 0], [0, 0]], counts(reached, "at 0.25", "at 0.5")
    assert found == {("a",): [zeros, [[0, 1], [0, 0]]], ("b",): [[[0, 0], [0, 1]], zeros]}


def test_models_may_decide_in_other_words_than_labels_as_long_as_they_mean_the_same() -> None:
    tally = build_model_tally(None, list("ab"), y_true=[True, False], models={"p": [1, 0], "q": [0, 0]})
    assert counts(tally, "q", "p")["a",] == [[[0, 0], [0, 0]], [[0, 0], [1, 0]]]
    words = build_model_tally(None, list("ab"), y_true=["yes", "no"], models={"p": ["yes", "no"], "q": ["no", "no"]})
    assert counts(words, "q", "p") == counts(tally, "q", "p")
    assert words.positive == {"label": ("yes",), "prediction": ("yes",)}


def test_what_cannot_be_paired_is_refused() -> None:
    pair = {"p": [1, 0], "q": [0, 0]}
    lines: dict[str, Any] = {"model_column": ["a", "b"], "cluster": [1, 1], "y_pred": [1, 0], "y_true": [1, 1],
                             "positive": 1}  # fmt: skip
    ways = "pass one of models, results, model_column and y_score, which say what is compared; got"
    alone = "and model_column are for rows that are decisions of one model each; pass both"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"models": None}, f"{ways} none"),
        ({"y_score": [1, 0]}, f"{ways} models and y_score"),
        ({"y_true": None}, "predictions need labels to compare with (y_true); without labels, pass columns of 0 "
         "and 1, or of grades, as results"),
        ({"y_true": [1, 1]}, "y_true contains one class only (1); if that is right, pass the positive label as "
         "positive="),
        ({"models": {"p": [None, 0], "q": [0, None]}}, "every row lacks a label or a prediction; there is nothing to "
         "audit"),
        ({"models": {"1": [1, 0], 1: [0, 0]}}, "models must contain at least two models with different names; got '1', "
         "1"),
        ({"models": [1, 0]}, "models must map the names of models to their predictions; got [1, 0]"),
        ({"baseline": "r"}, "no model in baseline is called 'r'; known: p, q"),
        ({"y_pred": [1, 0]}, f"y_pred {alone}"),
        (lines | {"cluster": None}, f"cluster {alone}"),
        (lines | {"cluster": [1, None]}, "cluster must say in every row which case it is about"),
        (lines | {"model_column": [1, "1"]}, "model_column must contain at least two models with different "
         "names; got '1', 1"),
        (lines | {"model_column": ["a", "a"]}, "model_column must contain at least two models with different "
         "names; got 'a'"),
        (lines | {"y_true": [1, 0]}, "cluster must have the same label and groups in all of its rows; 1 has not"),
        (lines | {name: values + values[:1] for name, values in lines.items() if name != "positive"},
         "cluster must be decided on once by each model; 1 is decided on twice by a"),
        ({"models": None, "y_score": [1, 0], "threshold": [0.5, 0.5]}, "threshold must contain at least two different "
         "numbers; got [0.5, 0.5]"),
    ]  # fmt: skip
    for given_more, sentence in refused:
        asked: dict[str, Any] = {"y_true": [1, 0], "models": None if "model_column" in given_more else pair}
        groups = ["a"] * len(given_more.get("cluster") or [1, 2])
        with pytest.raises(EvenhandError) as error:
            build_model_tally(None, groups, **asked | given_more)
        assert str(error.value) == sentence
