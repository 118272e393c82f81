"""Every checkable claim of the paper, each with the function that checks it."""

from __future__ import annotations

from .claim import Claim, Outcome
from .counting import COUNTING
from .smoothing import SMOOTHING
from .testing import TESTING

__all__ = ["CLAIMS", "Claim", "Outcome"]

CLAIMS: tuple[Claim, ...] = (*COUNTING, *TESTING, *SMOOTHING)
