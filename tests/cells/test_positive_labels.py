"""Which labels are positive."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import evenhand as eh


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz")), min_size=1, max_size=30),
    st.sets(st.sampled_from("abcd"), min_size=1, max_size=3),
    st.sets(st.sampled_from("wxyz"), min_size=1, max_size=3),
)
def test_positives_are_sets(pairs: list[tuple[str, str]], label: set[str], prediction: set[str]) -> None:
    y, p = zip(*pairs, strict=True)
    occurs = (set(y) & label or len(set(y)) == 1) and (set(p) & prediction or len(set(p)) == 1)
    if not occurs:
        with pytest.raises(eh.errors.InvalidInput, match=r"^positive_(label|prediction) must be one of the labels"):
            eh.ConfusionMatrix.from_labels(y, p, positive_label=label, positive_prediction=sorted(prediction))
        return
    found = eh.ConfusionMatrix.from_labels(y, p, positive_label=label, positive_prediction=sorted(prediction))
    counts = Counter((a in label, b in prediction) for a, b in pairs)
    assert found.cells == (counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def test_one_label_of_several_is_compared_with_the_rest() -> None:
    y, p = ["low", "high", "medium", "high"], ["low", "high", "high", "medium"]
    assert eh.ConfusionMatrix.from_labels(y, p, positive="high").cells == (1, 1, 1, 1)
    assert eh.ConfusionMatrix.from_labels(y, p, positive=["high", "medium"]).cells == (3, 0, 0, 1)
    assert eh.ConfusionMatrix.from_labels(y, p, positive=np.array(["high", "medium"])).cells == (3, 0, 0, 1)


def test_labels_are_scored_or_refused_but_never_taken_for_counts() -> None:
    y, p = np.array([1, 0, 1, 1]), np.array([1, 1, 0, 0])
    assert eh.metric("tpr")(y, p) == pytest.approx(1 / 3)
    assert eh.metric("acc")(["no", "yes"], ["no", "no"]) == 0.5
    assert eh.metric("mcc")(pd.Series(y), pd.Series(p)) == eh.metric("mcc")(eh.ConfusionMatrix(1, 2, 1, 0))
    for labels in ((y, p), (y.tolist(), p.tolist()), (y.astype(bool), p.astype(bool))):
        with pytest.raises(eh.errors.InvalidInput, match="got what looks like labels"):
            eh.metric("equal_opportunity")(*labels)
    assert eh.metric("equal_opportunity")((1, 0, 1, 1), (1, 1, 0, 0)) == 0.5
    assert eh.metric("equal_opportunity")([[1, 0, 1, 1]], [[1, 1, 0, 0]]) == [0.5]
