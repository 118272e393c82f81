"""What the processes of the page can be asked to do.

Every task is called in the folder of its files, which it names by their names alone; so records, commands and messages
name the files as their owner does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .audits import audited
from .monitors import monitored
from .plans import planned
from .previews import bin_sizes, column_values, counts_preview, file_preview, score_histogram
from .what_ifs import what_if

__all__ = ["TASKS"]

TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "file": file_preview,
    "counts": counts_preview,
    "values": column_values,
    "scores": score_histogram,
    "bins": bin_sizes,
    "audit": audited,
    "monitor": monitored,
    "what_if": what_if,
    "plan": planned,
}
"""Every task by the name that a job calls it."""
