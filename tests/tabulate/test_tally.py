"""A tally: parts that add up and subtract, strata as an axis, and how many cases there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import evenhand as eh
from evenhand.tabulate import ModelPair, Rows, RowTable, Slice, Tally, total

CM = eh.ConfusionMatrix
TABLE = RowTable(np.array([0, 0, 1, 2, 1, 2, 2]), {"y_true": np.arange(7)})


def rows(*keys: int) -> Rows:
    return Rows(TABLE, frozenset(keys))


def test_rows_are_those_of_their_combinations() -> None:
    assert rows(1).mask.tolist() == [False, False, True, False, True, False, False]
    assert [rows(0).n, rows(1).n, rows(2).n, rows().n] == [2, 2, 3, 0]


@given(first=st.sets(st.integers(0, 2)), second=st.sets(st.integers(0, 2)))
def test_rows_add_up_and_subtract_as_sets_of_cases(first: set[int], second: set[int]) -> None:
    """n(A + B) = n(A) + n(B) of disjoint parts, and (A + B) - B = A."""
    one, other = rows(*first), rows(*(second - first))
    both = one + other
    assert both.n == one.n + other.n
    assert both - other == one
    assert (both - both).n == 0


def test_pairs_of_models_add_up_and_subtract() -> None:
    one, other = (ModelPair(np.full((2, 2, 2), float(k))) for k in (1, 2))
    assert ((one + other).n, (other - one).n) == (24, 8)
    assert (one + other - other).counts.tolist() == one.counts.tolist()


def test_the_total_of_no_parts_is_no_cells() -> None:
    assert total([]) == CM(0, 0, 0, 0)
    assert total([CM(1, 2, 3, 4), CM(1, 0, 0, 0)]) == CM(2, 2, 3, 4)
    assert total([rows(0), rows(2)]).n == 5


def tally(**more: Any) -> Tally:
    """Two groups in two towns, at two thresholds."""
    parts = {("a", "e"): CM(1, 2, 3, 4), ("b", "e"): CM(5, 6, 7, 8), ("a", "w"): CM(1, 0, 0, 1)}
    return Tally(
        columns=("g", "t"),
        slices=tuple(
            Slice("cells", (("threshold", t),), {key: cm if t < 0.5 else CM(0, cm.tp + cm.fn, 0, cm.fp + cm.tn)
                                                 for key, cm in parts.items()})
            for t in (0.3, 0.7)
        ),
        orders={"t": ("w", "e")},
        **more,
    )  # fmt: skip


def test_cases_are_counted_once_whatever_the_axes() -> None:
    found = tally()
    assert found.n == 38
    assert found.keys == [("a", "e"), ("a", "w"), ("b", "e")]
    split = found.within(["t"], {("w",): "west", ("e",): "east"})
    assert (split.n, split.over_strata().n) == (38, 38)
    selections = Tally(columns=("g",), slices=(
        Slice("cells", (), {("a",): CM(1, 1, 1, 1)}),
        Slice("selections", (), {("a",): CM(1, 1, 5, 5)}),
    ))  # fmt: skip
    assert selections.n == 4
    alone = Tally(columns=("g",), slices=selections.slices[1:])
    assert alone.n == 12


def test_columns_become_the_axis_of_strata_in_the_order_of_their_names() -> None:
    split = tally().within(["t"], {("w",): "west", ("e",): "east"})
    assert (split.columns, split.orders) == (("g",), {})
    assert [one.at for one in split.slices] == [
        (("threshold", t), ("stratum", name)) for t in (0.3, 0.7) for name in ("west", "east")
    ]
    assert split.slices[0].parts == {("a",): CM(1, 0, 0, 1)}
    assert split.slices[1].parts == {("a",): CM(1, 2, 3, 4), ("b",): CM(5, 6, 7, 8)}


def test_adding_up_strata_gives_the_tally_without_them() -> None:
    over = tally().within(["t"], {("w",): "west", ("e",): "east"}).over_strata()
    assert [one.at for one in over.slices] == [(("threshold", 0.3),), (("threshold", 0.7),)]
    assert over.slices[0].parts == {("a",): CM(2, 2, 3, 5), ("b",): CM(5, 6, 7, 8)}


@pytest.mark.parametrize("within", [["t"], ["g"]])
def test_no_case_is_lost_within_strata(within: list[str]) -> None:
    at = tally().columns.index(within[0])
    names = {(key[at],): str(key[at]) for key in tally().keys}
    split = tally().within(within, names)
    for threshold in (0.3, 0.7):
        sums = [total(one.parts.values()) for one in split.slices if one.at[0] == ("threshold", threshold)]
        whole = next(one for one in tally().slices if one.at == (("threshold", threshold),))
        assert total(sums) == total(whole.parts.values())
