"""In which order groups stand."""

from __future__ import annotations

from evenhand.tabulate import in_order, ordered


def test_numbers_are_in_their_order_and_missing_groups_last() -> None:
    assert in_order([10, 9, None, 1]) == [1, 9, 10, None]
    assert in_order(["10", "9", "b", "a"]) == ["9", "10", "a", "b"]
    assert in_order(["b", None, "a"], declared=["b", "a"]) == ["b", "a", None]


def test_rows_are_ordered_as_texts_and_missing_values_are_last() -> None:
    assert ordered([(None,), ("b",), (10,), ("a",), (9,)]) == [(10,), (9,), ("a",), ("b",), (None,)]
    assert ordered([("1",), (1,)]) == ordered([(1,), ("1",)]) == [("1",), (1,)]
