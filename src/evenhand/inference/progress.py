"""A progress bar for work that may take more than two seconds, silent when not on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["progress"]

Item = TypeVar("Item")
_SILENT_SECONDS = 2.0
_WIDTH = 30


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield the items, and show how far one is once it takes long."""
    start, shown = time.monotonic(), False
    for done, item in enumerate(items):
        if sys.stderr and sys.stderr.isatty() and time.monotonic() - start > _SILENT_SECONDS:
            filled = _WIDTH * done // len(items)
            sys.stderr.write(f"\r{what} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done} of {len(items)}")
            sys.stderr.flush()
            shown = True
        yield item
    if shown:
        sys.stderr.write("\r" + " " * (len(what) + _WIDTH + 24) + "\r")
        sys.stderr.flush()
