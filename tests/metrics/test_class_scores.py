"""Scores of every class against the rest."""

from __future__ import annotations

from typing import Any

import pytest
from class_oracle import Table, class_score, same, tables
from hypothesis import given, settings

import evenhand as eh
from evenhand.metrics import parsed

ONE_GROUP = [m.key for m in eh.list_metrics() if m.groups == 1]


def matrix(table: Any, labels: Any = None) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(table, labels)


@pytest.mark.parametrize("key", ONE_GROUP)
@settings(max_examples=30)
@given(table=tables(3))
def test_a_class_scores_as_its_matrix_against_the_rest_does(key: str, table: Table) -> None:
    """S_c = S(tp_c, fn_c, fp_c, tn_c) for every metric of the catalogue, undefined in the same cases."""
    cm = matrix(table)
    scores = cm.scores(key)
    for c in range(3):
        expected = class_score(key, table, c)
        assert same(scores[c, key], expected)
        assert same(eh.metric(key)(cm, label=c), expected)
        why = eh.metric(key).why_undefined(cm, label=c)
        assert (why is None) == (expected is not None)
        assert [found["reason"] for found in scores.undefined if found["label"] == c] == [why] * (why is not None)


def test_scores_of_classes_print_as_a_table() -> None:
    cm = matrix([[3, 1], [0, 0]], ["a", "b"])
    scores = cm.scores()
    assert scores.metrics == tuple(ONE_GROUP)
    assert str(cm.scores(["recall"])).splitlines() == ["class   tpr  n", "a      0.75  4", "b         -  0"]
    assert {"label": "b", "metric": "tpr", "reason": "no actual positives (TP + FN = 0)"} in scores.undefined
    large = matrix([[1234567, 0], [0, 2]], ["a", "b"]).scores("tpr")
    assert str(large).splitlines()[1:] == ["a        1  1234567", "b        1        2"]
    halves = matrix([[1.5, 0], [0, 2]], ["a", "b"]).scores("tpr")
    assert str(halves).splitlines()[1:] == ["a        1  1.5", "b        1    2"]
    with pytest.raises(eh.errors.UnknownName, match=r"^no metric of these scores is called 'ppv'; known: tpr$"):
        cm.scores("tpr")["a", "ppv"]
    with pytest.raises(eh.errors.InvalidInput, match=r"^metrics must contain at least one metric$"):
        cm.scores([])


def test_summaries_are_found_by_name() -> None:
    assert [parsed(name, "ab").key for name in ("mcc", "Macro recall", "weighted F1 score", "micro ppv")] == [
        "mcc", "macro tpr", "weighted f1", "micro ppv"]  # fmt: skip
    with pytest.raises(eh.errors.InvalidInput, match=r"^an average must be text such as 'macro f1' or 'mcc'; got 3$"):
        parsed(3, "ab")  # type: ignore[arg-type]
