"""In which order groups and the values of their columns stand, whatever the order of the data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import nan
from typing import Any

__all__ = ["Key", "in_order", "ordered"]

Key = tuple[Any, ...]


def ordered(keys: Iterable[Key]) -> list[Key]:
    """Groups in an order that does not depend on how they were given, so that sums over them do not either.

    >>> ordered([("b",), (None,), ("a",)])
    [('a',), ('b',), (None,)]
    """
    return sorted(keys, key=lambda key: [(value is None, str(value), repr(value)) for value in key])


def in_order(values: Iterable[Any], declared: Sequence[Any] = ()) -> list[Any]:
    """The values of a group column as declared, or else with numbers in them as numbers; missing values last.

    >>> in_order(["10 years", "9 years", None, "1 year"])
    ['1 year', '9 years', '10 years', None]
    >>> in_order(["high", "low"], declared=["low", "medium", "high"])
    ['low', 'high']
    """
    rank = {value: i for i, value in enumerate(declared)}

    def key(value: Any) -> tuple[Any, ...]:
        return value is None, rank.get(value, len(rank)), _natural(value), str(value), repr(value)

    return sorted(values, key=key)


def _natural(value: Any) -> list[tuple[bool, float, str]]:
    """The numbers and the other parts of a value, in a form that sorts as people would."""
    try:
        whole = float(value)
    except (TypeError, ValueError, OverflowError):
        whole = nan
    if whole == whole:
        return [(False, whole, "")]
    parts = re.split(r"([0-9]{1,300}(?:\.[0-9]{1,300})?)", str(value))
    # Every other part is a number.
    return [(False, float(part), "") if i % 2 else (True, 0.0, part.casefold()) for i, part in enumerate(parts) if part]
