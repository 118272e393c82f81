"""The names of groups: legible, and no two that look alike."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given, strategies as st

import evenhand as eh
from evenhand.views.names import legible, names_of, told_apart


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a", "a"),
        ("a ", "a␣"),
        (" a", "␣a"),
        ("a  b", "a␣␣b"),
        ("a b", "a b"),
        ("", "''"),
        ("a\u200b\x1b", "a\\u200b\\x1b"),
        ("x" * 500, "x" * 200 + "…" + "x" * 200),
    ],
)
def test_nothing_is_hidden(name: str, shown: str) -> None:
    assert legible(name) == shown


@given(names=st.lists(st.text(max_size=12), min_size=1, max_size=8, unique=True))
def test_no_two_names_look_alike(names: list[str]) -> None:
    shown = told_apart({name: legible(name) for name in names})
    assert len({normalize("NFKC", name) for name in shown.values()}) == len(names)
    assert all(name.isprintable() for name in shown.values())


def test_names_that_differ_are_left_alone() -> None:
    assert told_apart({1: "Asian", 2: "White"}) == {1: "Asian", 2: "White"}
    assert list(told_apart({1: "\u00e9", 2: "e\u0301"}).values()) == ["\u00e9", "e\u0301 (2)"]


def test_the_column_is_added_where_several_have_a_group_of_that_name() -> None:
    counts = {("x", "x"): (9, 6, 4, 21), ("x", "y"): (30, 10, 12, 48), ("z", "y"): (3, 4, 5, 6)}
    audit = eh.audit_counts(counts, by=["one", "two"], metrics="tpr", crossings=1)
    assert set(names_of(audit).values()) == {"one: x", "two: x", "z", "y"}
