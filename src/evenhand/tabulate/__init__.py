"""From anybody's table to counts: the engine that holds the data counts, and labels are read from the small result."""

from __future__ import annotations

from .counts import Tally, as_counts, tabulate
from .frames import plain

__all__ = ["Tally", "as_counts", "plain", "tabulate"]
