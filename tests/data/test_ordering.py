"""In which order groups stand."""

from __future__ import annotations

from evenhand.data import sort_keys, sort_values


def test_numbers_are_in_their_order_and_missing_groups_last() -> None:
    assert sort_values([10, 9, None, 1]) == [1, 9, 10, None]
    assert sort_values(["10", "9", "b", "a"]) == ["9", "10", "a", "b"]
    assert sort_values(["b", None, "a"], declared=["b", "a"]) == ["b", "a", None]


def test_rows_are_ordered_as_texts_and_missing_values_are_last() -> None:
    assert sort_keys([(None,), ("b",), (10,), ("a",), (9,)]) == [(10,), (9,), ("a",), ("b",), (None,)]
    assert sort_keys([("1",), (1,)]) == sort_keys([(1,), ("1",)]) == [("1",), (1,)]
