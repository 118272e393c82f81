"""Numbers and names as text, the same everywhere: scores, p-values, shares, counts with their nouns, and groups.

Names come from data and are not trusted: control characters, also those that reverse text, are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import ceil, floor, isfinite, isnan
from typing import TypeVar
from unicodedata import normalize

from .errors import printable

__all__ = [
    "LEVELS",
    "counts_text",
    "decided",
    "format_count",
    "join_and",
    "legible",
    "number",
    "numbered",
    "percent",
    "pvalue",
    "rounded_down",
    "rounded_up",
    "several",
    "span_text",
]

LEVELS = (0.01, 0.05, 0.1)
"""The levels that a p-value is likely to be compared with, if nothing else is known."""

# Numbers that are closer than this are equal, and this many more digits tell all others apart.
_EQUAL, _MORE_DIGITS = 1e-12, 13
_LONGEST = 400

Key = TypeVar("Key")


def several(n: int, what: str, many: str = "") -> str:
    """A count with its noun: ``1 row``, ``2 rows``; ``many`` if the plural is not made by an s."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {many or f'{what}s'}"


def join_and(parts: Sequence[str]) -> str:
    """Several things in a sentence: ``a, b and c``."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def counts_text(counts: Iterable[int]) -> str:
    """Counts as text: ``998 and 2``."""
    return " and ".join(f"{n:,}" for n in counts)


def format_count(value: float) -> str:
    """Format a cell: whole numbers in full unless huge, others with six digits."""
    if not isinstance(value, int):
        return f"{float(value):.6g}"
    is_huge = value > 2**55
    return f"{Decimal(value).normalize():.6g}" if is_huge else str(value)


def number(value: float | None) -> str:
    """A score as text: three decimals, or three significant digits of large values."""
    if value is None or isnan(value):
        return "none"
    if value == 0 or 0.001 <= abs(value) < 100:
        # There is no negative zero.
        return f"{value if value else abs(value):.3f}"
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.3g}"


def span_text(low: float, high: float) -> str:
    """The ends of an interval as text, one that does not exist as none; nothing if neither exists."""
    if not isfinite(low) and not isfinite(high):
        return ""
    first = number(low) if isfinite(low) else "no lower end"
    return f"{first} to {number(high) if isfinite(high) else 'no upper end'}"


def rounded_down(value: float) -> str:
    """A number as text that is not more than the number: three decimals, or a whole number if it is large."""
    if value >= 100:
        return f"{floor(value):,}"
    return number(floor(1000 * value) / 1000 if value >= 0.001 else value)


def rounded_up(value: float, limit: float) -> str:
    """A number as text that is not less than the number, with the digits that decide whether it is below the limit."""
    return decided(value, [limit], lambda more: f"{ceil(value * 10 ** (3 + more)) / 10 ** (3 + more):.{3 + more}f}")


def decided(value: float, limits: Iterable[float], spelled: Callable[[int], str]) -> str:
    """A number as text with the digits that decide on which side of each limit it is.

    ``spelled`` gives the text with so many more digits than usual.
    """
    beyond = [limit for limit in limits if abs(value - limit) > _EQUAL]
    texts = (spelled(more) for more in range(_MORE_DIGITS))
    told = (text for text in texts if all((value - limit) * (float(text) - limit) > 0 for limit in beyond))
    return next(told, spelled(_MORE_DIGITS))


def pvalue(value: float | None, alpha: float | None = None) -> str:
    """A p-value as text, with its relation: ``= 0.012`` or ``< 0.001``.

    It has the digits that decide whether it is at most ``alpha`` or, if that is not known, one of the usual levels.

    >>> pvalue(0.0495), pvalue(0.0504), pvalue(0.3, alpha=0.2999), pvalue(0.00002, alpha=0.00001)
    ('= 0.0495', '= 0.0504', '= 0.300', '= 2e-05')
    """
    if value is None or isnan(value):
        return "none"
    if value < 0.001:
        below = alpha is None or alpha >= 0.001
        return "< 0.001" if below else f"= {decided(value, [alpha or 0.0], lambda more: f'{value:.{1 + more}g}')}"
    limits = LEVELS if alpha is None else (alpha,)
    return f"= {decided(value, limits, lambda more: f'{value:.{3 + more}f}')}"


def percent(share: float) -> str:
    """A share in per cent, such as a level: ``95%``."""
    return f"{100 * share:g}%"


def legible(name: str) -> str:
    """A name in which nothing is hidden: blanks at an end or beside each other are shown as ␣; long ones are cut.

    >>> legible("White "), legible("")
    ('White␣', "''")
    """
    text = printable(name)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return re.sub(r"^ +| +$| {2,}", lambda blanks: "␣" * len(blanks[0]), text) or "''"


def _look(name: str) -> object:
    return normalize("NFKC", name)


def numbered(names: Mapping[Key, str], look: Callable[[str], object] = _look) -> dict[Key, str]:
    """The names, with a number behind those that look the same as one before.

    >>> numbered({1: "A", 2: "B", 3: "A"})
    {1: 'A', 2: 'B', 3: 'A (2)'}
    """
    taken = {look(name) for name in names.values()}
    shown: dict[Key, str] = {}
    used: set[object] = set()
    for key, name in names.items():
        unique, i = name, 1
        while look(unique) in used or (i > 1 and look(unique) in taken):
            i += 1
            unique = f"{name} ({i})"
        used.add(look(unique))
        shown[key] = unique
    return shown
