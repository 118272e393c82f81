"""The same work on many items, over several processes, with word of how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Protocol, Self, TypeVar

__all__ = ["Progress", "Workers", "silent"]

Item = TypeVar("Item")
Found = TypeVar("Found")


class Progress(Protocol):
    """Is told what is being done, and how much of it is."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note."""


def silent(what: str, done: int, total: int) -> None:
    """Take no note."""


class Workers:
    """Processes that share work; with a single one, this process does it all."""

    def __init__(self, processes: int = 1, progress: Progress = silent) -> None:
        self.progress = progress
        # A fresh interpreter for each: forking a process that has threads can hang.
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _quiet) if processes > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def each(self, work: Callable[[Item], Found], items: Sequence[Item], what: str) -> list[Found]:
        """``work`` on each item, in order; the results do not depend on the number of processes."""
        found: list[Found] = []
        for result in self._pool.map(work, items) if self._pool else map(work, items):
            found.append(result)
            self.progress(what, len(found), len(items))
        return found


def _quiet() -> None:
    """Workers draw no progress bars of their own over ours."""
    sys.stderr = None
