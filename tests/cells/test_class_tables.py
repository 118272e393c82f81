"""Counted rows added up to one K x K matrix per group."""

from __future__ import annotations

from evenhand.cells import multiclass_tables


def test_rows_are_added_up_by_group_with_one_set_of_classes() -> None:
    rows = {("A", 1, "x", "y"): 2, ("A", 1, "x", "x"): 1, ("B", None, "z", "z"): 4, ("B", None, None, "z"): 3,
            ("B", None, "x", ""): 5, ("A", 1, None, None): 6}  # fmt: skip
    found = multiclass_tables(rows)
    assert found.labels == ("x", "y", "z")
    assert {key: cm.counts.tolist() for key, cm in found.matrices.items()} == {
        ("A", 1): [[1, 2, 0], [0, 0, 0], [0, 0, 0]],
        ("B", None): [[0, 0, 0], [0, 0, 0], [0, 0, 4]],
    }
    assert found.unlabelled == {("B", None): (0, 0, 3)}
    assert found.left_out == {"y_true": 3, "y_pred": 5, "y_true and y_pred": 6}
