"""How a score follows from a rate ``a / (a + b)``: as the rate itself, as Dice's coefficient, or as odds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["DICE", "ODDS", "RATE", "Curve"]


@dataclass(frozen=True, slots=True)
class Curve:
    """A strictly increasing function of a rate.

    Attributes
    ----------
    rank : callable
        The score as a fraction ``(above, below)`` of the counts ``a`` and ``b``.
    score, rate : callable
        The score of a rate, and its inverse.
    text : str
        The formula, with ``{a}`` and ``{b}`` for the two counts.
    """

    name: str
    rank: Callable[[Any, Any], tuple[Any, Any]]
    score: Callable[[Any], Any]
    rate: Callable[[Any], Any]
    text: str


RATE = Curve("rate", lambda a, b: (a, a + b), lambda p: p, lambda s: s, "{a} / ({a} + {b})")
DICE = Curve(
    "dice", lambda a, b: (2 * a, 2 * a + b), lambda p: 2 * p / (1 + p), lambda s: s / (2 - s), "2*{a} / (2*{a} + {b})"
)
ODDS = Curve(
    "odds", lambda a, b: (a, b), lambda p: p / np.maximum(1 - p, 1e-300), lambda s: 1 - 1 / (1 + s), "{a} / {b}"
)
