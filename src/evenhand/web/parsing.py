"""Numbers and counts as people type them into the fields of the page; ``what`` is what error messages call them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ..confusion import ConfusionMatrix
from ..errors import InvalidInput, brief

__all__ = ["typed_cells", "typed_number", "typed_whole"]


def typed_whole(given: Any, what: str) -> int:
    """A whole number.

    >>> typed_whole("12", "a count")
    12
    """
    try:
        if isinstance(given, bool) or (isinstance(given, float) and not given.is_integer()):
            raise ValueError
        return int(given)
    except (ValueError, TypeError):
        raise InvalidInput(f"{what} must be a whole number; got {brief(str(given)[:20])}") from None


def typed_number(given: Any, what: str) -> float:
    """A finite number.

    >>> typed_number("0.05", "the level")
    0.05
    """
    text = "" if given is None else str(given)
    try:
        if isinstance(given, bool) or "_" in text or not text.isascii() or not isfinite(float(text)):
            raise ValueError
        return float(text)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{what} must be a number; got {brief(text[:20])}") from None


def typed_cells(cells: Any, who: str) -> ConfusionMatrix:
    """Four counts.

    >>> typed_cells(["3", "1", "2", "4"], "the group")
    ConfusionMatrix(tp=3, fn=1, fp=2, tn=4)
    """
    if not isinstance(cells, Sequence) or isinstance(cells, str) or len(cells) != 4:
        raise InvalidInput(f"{who} must have four counts: TP, FN, FP and TN")
    return ConfusionMatrix.from_array([typed_whole(cell, "a count") for cell in cells])
