"""The list of undefined cases, against listing every matrix."""

from __future__ import annotations

import re
from typing import Any

import pytest
from oracle import ONE_GROUP, TWO_GROUPS, matrices

from evenhand import metric
from evenhand.errors import InvalidInput


@pytest.mark.parametrize("key", ONE_GROUP)
def test_cases_are_those_that_listing_every_matrix_finds(key: str) -> None:
    for n in (0, 1, 2, 4, 6, 12):
        listed = [c for c in matrices(n) if ONE_GROUP[key](*c) is None]
        assert [tuple(c) for c in metric(key).undefined_cases(n).tolist()] == listed


@pytest.mark.parametrize("key", TWO_GROUPS)
def test_pairs_are_those_that_listing_every_pair_finds(key: str) -> None:
    for n1, n2 in ((0, 1), (1, 1), (1, 3), (3, 2)):
        listed = [(g, r) for g in matrices(n1) for r in matrices(n2) if TWO_GROUPS[key](g, r) is None]
        assert [tuple(map(tuple, pair)) for pair in metric(key).undefined_cases((n1, n2)).tolist()] == listed


@pytest.mark.parametrize(
    ("key", "n", "sentence"),
    [
        ("te", 5, "te compares two groups, so n must be a pair (n1, n2); got 5"),
        ("te", (5, -1), "n must not be negative; got -1"),
        ("tpr", (5, 5), "tpr is a metric of one group, so n must be one number; got (5, 5)"),
    ],
)
def test_one_size_is_asked_for_each_group(key: str, n: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        metric(key).undefined_cases(n)
