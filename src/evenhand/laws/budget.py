"""What an exact computation may cost, and the one place where it is refused before it is begun.

A cost is a number of terms: paths down a tree, entries of a table, matrices in a list. Whoever is about to compute
them counts them first. The limits are such that no request takes more than about 2 GB or half a minute.
"""

from __future__ import annotations

from ..errors import TooLarge

__all__ = ["MOST_ENTRIES", "MOST_PATHS", "check_cost"]

# Paths down a tree, each for a score with one part, which are worked off in blocks; and entries of a table.
MOST_PATHS = 2**25
MOST_ENTRIES = 2**24


def check_cost(cost: float, most: int, what: str, instead: str) -> None:
    """Raise an error if a cost exceeds its limit.

    ``what`` is the beginning of the sentence, in which ``{}`` stands for the cost, and ``instead`` the way out.

    >>> check_cost(9, 4, "a list of n = 3 cases has {} rows", "take fewer")
    Traceback (most recent call last):
    evenhand.errors.TooLarge: a list of n = 3 cases has 9 rows, more than the limit of 4; take fewer
    """
    if cost > most:
        raise TooLarge(f"{what.format(f'{cost:,.0f}')}, more than the limit of {most:,}; {instead}")
