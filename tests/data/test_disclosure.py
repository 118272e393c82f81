"""Rules by which counts are rounded before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.data import RULES, Rule, rule_of
from evenhand.data.disclosure import round_counts
from evenhand.errors import EvenhandError

NAMES: list[Any] = [*RULES, 3, 11, 40]


def named(name: Any) -> Rule:
    rule = rule_of(name)
    assert rule is not None
    return rule


def test_a_published_count_stands_for_all_counts_between_its_bounds() -> None:
    counts = np.arange(0.0, 300.0)
    for name in NAMES:
        published, low, high = round_counts(counts, named(name))
        assert (low <= counts).all() and (counts <= high).all()
        for value in set(published.tolist()):
            behind = counts[published == value]
            assert set(low[published == value]) == {behind[0]}
            assert set(high[published == value]) == {behind[-1] if behind[-1] < 250 else high[published == value][0]}
        assert (np.diff(published) >= 0).all() and (np.abs(published - counts) <= named(name).least).all()


def test_published_counts_are_those_of_the_rules() -> None:
    """CMS: 1 to 10 are small; OpenSAFELY: 7 and fewer; ONS: below 10; the latter two round to the nearest 5."""
    counts = np.arange(0.0, 31.0)
    cms = [0, *[5] * 10, *[16] * 11, *[27] * 9]
    nearest = [5 * round(n / 5) for n in range(31)]
    opensafely = [n if count > 7 else 0 for count, n in enumerate(nearest)]
    ons = [n if count > 9 else 0 for count, n in enumerate(nearest)]
    for name, expected in ("cms", cms), (11, cms), ("opensafely", opensafely), ("ons", ons):
        assert round_counts(counts, named(name))[0].tolist() == expected, name


def test_the_sentence_says_what_was_rounded() -> None:
    assert "(rule ons): 0 to 9 as 0, larger ones in steps of 5." in named("ons").sentence
    assert "(rule 3): 1 to 2 as 1, larger ones in steps of 3." in named(3).sentence


def test_other_rules_are_refused() -> None:
    assert rule_of(None) is None
    given: Any
    for given in (2, 1_000_001, True, "11", 3.0, ["cms"]):
        with pytest.raises(EvenhandError, match=r"^protect must be 'cms', 'opensafely', 'ons' or a whole number from"):
            rule_of(given)
    with pytest.raises(EvenhandError, match=r"^no rule of protection is called 'cm'; did you mean 'cms'\?$"):
        rule_of("cm")
