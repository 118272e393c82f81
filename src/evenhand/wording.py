"""Numbers as text, the same everywhere: scores, p-values, shares, and counts with their nouns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, floor, isfinite, isnan

__all__ = [
    "LEVELS",
    "counts_text",
    "decided",
    "number",
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


def several(n: int, what: str, many: str = "") -> str:
    """A count with its noun: ``1 row``, ``2 rows``; ``many`` if the plural is not made by an s."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {many or f'{what}s'}"


def counts_text(counts: Iterable[int]) -> str:
    """Counts as text: ``998 and 2``."""
    return " and ".join(f"{n:,}" for n in counts)


def number(value: float | None) -> str:
    """A score as text: three decimals, or three significant digits of large values."""
    if value is None or isnan(value):
        return "none"
    if value == 0 or 0.001 <= abs(value) < 100:
        return f"{value + 0.0:.3f}"
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.3g}"


def span_text(low: float | None, high: float | None) -> str:
    """The ends of an interval as text, one that is not finite as none; nothing if there are no ends."""
    if low is None and high is None:
        return ""
    ends = [None if end is None or not isfinite(end) else end for end in (low, high)]
    first = "no lower end" if ends[0] is None else number(ends[0])
    return f"{first} to {'no upper end' if ends[1] is None else number(ends[1])}"


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
    """A share in per cent, such as a level: ``95 %``."""
    return f"{100 * share:g} %"
