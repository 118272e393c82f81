"""Numbers and names as text, the same everywhere: scores, p-values, counts with their nouns, groups.

Names come from data and are not trusted: control characters, and those that reverse text, are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from math import ceil, floor, isnan
from typing import TypeVar
from unicodedata import normalize

from .errors import printable

LEVELS = (0.01, 0.05, 0.1)
"""The levels that a p-value is likely to be compared with, if nothing else is known."""

# Numbers closer than this are equal; so many more digits than usual tell all others apart.
_EQUAL, _MORE_DIGITS = 1e-12, 13
_MAX_NAME = 400
_same_look = partial(normalize, "NFKC")

Key = TypeVar("Key")


def several(n: int, noun: str, plural: str = "") -> str:
    """A count with its noun: ``1 row``, ``2 rows``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {plural or f'{noun}s'}"


def join_and(parts: Sequence[str]) -> str:
    """Things in a sentence: ``a, b and c``."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def format_count(value: float) -> str:
    """A cell as text: whole numbers in full unless huge, others with six digits."""
    if not isinstance(value, int):
        return f"{value:.6g}"
    return str(value) if value <= 2**55 else f"{Decimal(value).normalize():.6g}"


def number(value: float | None, limit: float | None = None) -> str:
    """A score as text: three decimals, or three significant digits of large values.

    It has more digits if they decide on which side of a limit it is.
    """
    if value is None or isnan(value):
        return "none"
    if value == 0 or 0.001 <= abs(value) < 100:
        # There is no negative zero.
        value = value or 0.0
        thresholds = [] if limit is None or value == 0 else [limit]
        return decided(value, thresholds, lambda more: f"{value:.{3 + more}f}")
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.3g}"


def rounded_down(value: float) -> str:
    """A number as text, rounded down: three decimals, or a whole number if it is large."""
    if value >= 100:
        return f"{floor(value):,}"
    return number(floor(1000 * value) / 1000 if value >= 0.001 else value)


def rounded_up(value: float, limit: float) -> str:
    """A number as text, rounded up, with the digits that show whether it is below the limit."""

    def with_digits(more: int) -> str:
        scale = 10 ** (3 + more)
        return f"{ceil(value * scale) / scale:.{3 + more}f}"

    return decided(value, [limit], with_digits)


def decided(value: float, thresholds: Iterable[float], format_with: Callable[[int], str]) -> str:
    """A number as text with enough digits to show on which side of each threshold it is.

    ``format_with`` formats the number with so many more digits than usual.
    """
    others = [t for t in thresholds if abs(value - t) > _EQUAL]
    for more in range(_MORE_DIGITS):
        text = format_with(more)
        if all((value - t) * (float(text) - t) > 0 for t in others):
            return text
    return format_with(_MORE_DIGITS)


def pvalue(value: float | None, alpha: float | None = None) -> str:
    """A p-value as text, with its relation: ``= 0.012`` or ``< 0.001``.

    It has enough digits to show whether it is at most ``alpha`` or, by default, one of `LEVELS`.

    >>> pvalue(0.0495), pvalue(0.0504)
    ('= 0.0495', '= 0.0504')
    >>> pvalue(0.3, alpha=0.2999), pvalue(0.00002, alpha=0.00001)
    ('= 0.300', '= 2e-05')
    """
    if value is None or isnan(value):
        return "none"
    levels = LEVELS if alpha is None else (alpha,)
    if value >= 0.001:
        return f"= {decided(value, levels, lambda more: f'{value:.{3 + more}f}')}"
    if min(levels) >= 0.001:
        return "< 0.001"
    return f"= {decided(value, levels, lambda more: f'{value:.{1 + more}g}')}"


def percent(share: float) -> str:
    """A share, such as a confidence level, in per cent: ``95%``."""
    return f"{100 * share:g}%"


def legible(name: str) -> str:
    """A name with its outer and repeated blanks shown as ␣, and shortened if it is long.

    >>> legible("White "), legible("")
    ('White␣', "''")
    """
    text = printable(name)
    if len(text) > _MAX_NAME:
        text = f"{text[: _MAX_NAME // 2]}…{text[-_MAX_NAME // 2 :]}"
    return re.sub(r"^ +| +$| {2,}", lambda blanks: "␣" * len(blanks[0]), text) or "''"


def numbered(
    names: Mapping[Key, str], look: Callable[[str], object] = _same_look
) -> dict[Key, str]:
    """The names, with a number behind those that look the same as one before.

    >>> numbered({1: "A", 2: "B", 3: "A"})
    {1: 'A', 2: 'B', 3: 'A (2)'}
    """
    originals = {look(name) for name in names.values()}
    used: set[object] = set()
    unique: dict[Key, str] = {}
    for key, name in names.items():
        text, i = name, 1
        while look(text) in used or (i > 1 and look(text) in originals):
            i += 1
            text = f"{name} ({i})"
        used.add(look(text))
        unique[key] = text
    return unique
