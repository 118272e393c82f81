"""What the processes of the page can be asked to do.

Every task is called in the folder of its files, which it names by their names alone; so records, commands and messages
name the files as their owner does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .audits import audited
from .looks import bins, look, look_at_counts, scores, values
from .plans import planned
from .what_ifs import what_if

__all__ = ["TASKS"]

TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "look": look,
    "look_at_counts": look_at_counts,
    "values": values,
    "scores": scores,
    "bins": bins,
    "audit": audited,
    "what_if": what_if,
    "plan": planned,
}
"""Every task by the name that a job calls it."""
