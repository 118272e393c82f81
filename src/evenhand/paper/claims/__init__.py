"""The paper's claims that can be checked with numbers, each with the function that checks it."""

from __future__ import annotations

from .claim import CheckedClaim, Claim, Outcome, Verdict
from .counting import COUNTING
from .smoothing import SMOOTHING
from .testing import TESTING

__all__ = ["CLAIMS", "CheckedClaim", "Claim", "Outcome", "Verdict"]

CLAIMS: tuple[Claim, ...] = (*COUNTING, *TESTING, *SMOOTHING)
