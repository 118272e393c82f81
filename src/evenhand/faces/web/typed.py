"""Numbers, counts and strengths as they are typed into the page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ...cells import ConfusionMatrix
from ...errors import InvalidInput

__all__ = ["typed_cells", "typed_number", "typed_strength", "typed_whole"]


def typed_strength(text: str) -> Any:
    """A strength of smoothing: a number of cases, one per split, or ``auto``.

    Parameters
    ----------
    text : str
        What was typed.

    Returns
    -------
    float, dict or str
        The strength as the library takes it.

    Examples
    --------
    >>> typed_strength("10"), typed_strength("prev=7, tpr=20, fpr=20")
    (10.0, {'prev': 7.0, 'tpr': 20.0, 'fpr': 20.0})
    """
    if text.strip() == "auto":
        return "auto"
    try:
        if "=" in text:
            return {name.strip(): float(value) for name, value in (part.split("=") for part in text.split(","))}
        return float(text)
    except ValueError:
        raise InvalidInput(
            f"the strength must be a number of cases, one per split as prev=7,tpr=20,fpr=20, or auto; got {text[:60]!r}"
        ) from None


def typed_whole(given: Any, what: str) -> int:
    """A whole number.

    Parameters
    ----------
    given : object
        What was typed.
    what : str
        What error messages call it.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> typed_whole("12", "a count")
    12
    """
    try:
        if isinstance(given, bool) or (isinstance(given, float) and not given.is_integer()):
            raise ValueError
        return int(given)
    except (ValueError, TypeError):
        raise InvalidInput(f"{what} must be a whole number; got {str(given)[:20]!r}") from None


def typed_number(given: Any, what: str) -> float:
    """A finite number.

    Parameters
    ----------
    given : object
        What was typed.
    what : str
        What error messages call it.

    Returns
    -------
    float
        The number.

    Examples
    --------
    >>> typed_number("0.05", "the level")
    0.05
    """
    try:
        if isinstance(given, bool) or "_" in str(given) or not str(given).isascii() or not isfinite(float(given)):
            raise ValueError
        return float(given)
    except (ValueError, TypeError, OverflowError):
        raise InvalidInput(f"{what} must be a number; got {str(given if given is not None else '')[:20]!r}") from None


def typed_cells(cells: Any, who: str) -> ConfusionMatrix:
    """Four counts.

    Parameters
    ----------
    cells : object
        What was typed: a list of TP, FN, FP and TN.
    who : str
        Whose counts error messages say they are.

    Returns
    -------
    ConfusionMatrix
        The counts.

    Examples
    --------
    >>> typed_cells(["3", "1", "2", "4"], "the group")
    ConfusionMatrix(tp=3, fn=1, fp=2, tn=4)
    """
    if not isinstance(cells, Sequence) or isinstance(cells, str) or len(cells) != 4:
        raise InvalidInput(f"{who} must have four counts: TP, FN, FP and TN")
    return ConfusionMatrix(*(typed_whole(cell, "a count") for cell in cells))
