"""Numbers as text, the same everywhere: scores, p-values, shares, and counts with their nouns."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, isnan

__all__ = ["counts_text", "number", "percent", "pvalue", "rounded_down", "several"]


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


def rounded_down(value: float) -> str:
    """A number as text that is not more than the number: three decimals, or a whole number if it is large."""
    if value >= 100:
        return f"{floor(value):,}"
    return number(floor(1000 * value) / 1000 if value >= 0.001 else value)


def pvalue(value: float | None) -> str:
    """A p-value as text, with its relation: ``= 0.012`` or ``< 0.001``."""
    return "none" if value is None or isnan(value) else "< 0.001" if value < 0.001 else f"= {value:.3f}"


def percent(share: float) -> str:
    """A share in per cent, such as a level: ``95 %``."""
    return f"{100 * share:g} %"
