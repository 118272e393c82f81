"""Rising curves through given points, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curves"]

Floats = NDArray[np.float64]

# A curve bends sharply where the slopes on either side of a point differ by more than this factor.
_SHARP = 2.0


class Curves:
    """Monotone cubic interpolation, one curve per row; linear extrapolation beyond the ends.

    The slope at a point is that of the parabola through it and its neighbours or, where the curve bends sharply, the
    harmonic mean of the slopes on either side (Fritsch and Butland, 1984). Both keep cubics monotone.
    """

    def __init__(self, x: Sequence[Floats], y: Sequence[Floats]) -> None:
        """Curves through points of which there are at least two, both coordinates strictly ascending."""
        most = max((len(one) for one in x), default=2)
        self._x, self._y = (_extended(each, most) for each in (x, y))
        self._slopes = _slopes(self._x, self._y)
        # Rows lie in ranges of their own, so that one search finds all.
        self._apart = (2 * np.abs(self._x).max(initial=0.0) + 1) * np.arange(len(self._x))[:, None]
        self._ladder = (self._x + self._apart).ravel()

    def __call__(self, at: Floats, rows: Any = slice(None)) -> Floats:
        """The values of the curves ``rows`` at places of shape (rows, k)."""
        chosen = np.arange(len(self._x))[rows, None]
        inside = np.minimum(np.maximum(at, self._x[rows, :1]), self._x[rows, -1:])
        points = self._x.shape[1]
        found = np.searchsorted(self._ladder, inside + self._apart[rows], side="right") - 1
        start = np.minimum(np.maximum(found, points * chosen), points * chosen + points - 2)
        x0, x1, y0, y1, d0, d1 = (each.ravel()[start + k] for each in (self._x, self._y, self._slopes) for k in (0, 1))
        width = x1 - x0
        t = (inside - x0) / width
        rise, bend0, bend1 = y1 - y0, width * d0 - (y1 - y0), (y1 - y0) - width * d1
        values = y0 + t * (rise + (1 - t) * (bend0 * (1 - t) + bend1 * t))
        beyond = np.where(at < inside, self._slopes[rows, :1], self._slopes[rows, -1:])
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(at == inside, values, values + beyond * (at - inside)))


def _extended(rows: Sequence[Floats], most: int) -> Floats:
    """Rows of one length: shorter ones are continued in steps of their last."""
    extended = np.empty((len(rows), most))
    for i, row in enumerate(rows):
        extended[i, : len(row)] = row
        extended[i, len(row) :] = row[-1] + (row[-1] - row[-2]) * np.arange(1, most - len(row) + 1)
    return extended


def _slopes(x: Floats, y: Floats) -> Floats:
    """The slopes of rising curves at their points."""
    widths = np.diff(x, axis=1)
    rises = np.diff(y, axis=1) / widths
    slopes = np.concatenate([rises[:, :1], rises], axis=1)
    before, after, left, right = rises[:, :-1], rises[:, 1:], widths[:, :-1], widths[:, 1:]
    smooth = np.maximum(before, after) < _SHARP * np.minimum(before, after)
    parabola = (right * before + left * after) / (left + right)
    harmonic = 3 * (left + right) / ((2 * right + left) / before + (right + 2 * left) / after)
    slopes[:, 1:-1] = np.where(smooth, parabola, harmonic)
    return slopes
