"""Where functions change their sign, many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bracket", "narrowed", "normal_score"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Bracket(NamedTuple):
    """Places between which functions change their sign: they are not negative ``inside``, and negative ``outside``."""

    inside: Floats
    outside: Floats
    at_inside: Floats
    at_outside: Floats


def narrowed(
    function: Callable[[Floats, Rows], Floats],
    bracket: Bracket,
    tolerance: float,
    least: float = 0.0,
    enough: float = 0.0,
    steps: int = 60,
) -> Bracket:
    """Narrow each bracket to ``tolerance`` times the size of its places, which count as at least ``least``.

    ``function`` is asked for its values at places of some rows, until one of at most ``enough`` is found or no
    ``steps`` are left. Rows that are no brackets stay as they are. By the method of Chandrupatla (1997): inverse
    quadratic interpolation where the last three values promise that it is safe, and halving elsewhere, as at a jump.
    """
    narrow = Bracket(*(np.array(each, dtype=np.float64) for each in bracket))
    rows = np.flatnonzero((narrow.at_inside >= 0) & (narrow.at_outside < 0))
    # The newest place and the one beyond the root, their values, and how far to go from the one towards the other.
    a, b, at_a, at_b = (each[rows] for each in narrow)
    share = at_a / (at_a - at_b)
    for _ in range(steps):
        shortest = tolerance * np.maximum(np.maximum(np.abs(a), np.abs(b)), least) / 2
        width = np.abs(b - a)
        left = (width > 2 * shortest) & (np.minimum(np.abs(at_a), np.abs(at_b)) > enough)
        if not left.all():
            rows = rows[left]
            a, b, at_a, at_b, share, shortest, width = (
                each[left] for each in (a, b, at_a, at_b, share, shortest, width)
            )
        if not len(rows):
            break
        nearest = shortest / width
        place = a + np.minimum(np.maximum(share, nearest), 1 - nearest) * (b - a)
        value = function(place, rows)
        stays = (value >= 0) == (at_a >= 0)
        c, at_c = np.where(stays, a, b), np.where(stays, at_a, at_b)
        b, at_b = np.where(stays, b, a), np.where(stays, at_b, at_a)
        a, at_a = place, value
        inside = at_a >= 0
        narrow.inside[rows], narrow.at_inside[rows] = np.where(inside, a, b), np.where(inside, at_a, at_b)
        narrow.outside[rows], narrow.at_outside[rows] = np.where(inside, b, a), np.where(inside, at_b, at_a)
        share = _share(a, b, c, at_a, at_b, at_c)
    return narrow


def _share(a: Floats, b: Floats, c: Floats, at_a: Floats, at_b: Floats, at_c: Floats) -> Floats:
    """How far from ``a`` towards ``b`` the next place is."""
    with np.errstate(all="ignore"):
        along, up = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        safe = (up**2 < along) & ((1 - up) ** 2 < 1 - along)
        one = at_a / (at_b - at_a) * at_c / (at_b - at_c)
        other = (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        return np.where(safe, one + other, 0.5)


def normal_score(probabilities: Floats) -> Floats:
    """The normal quantiles of tails, which are nearly linear in the score, so that few steps find a root."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.minimum(np.maximum(probabilities, 1e-290), 1 - 1e-16)))
