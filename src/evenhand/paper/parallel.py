"""Apply a function to many items, optionally over several processes, and report progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Self, TypeVar

from ..progress import Progress

__all__ = ["Progress", "Workers", "silent"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


class Workers:
    """A pool of processes; with ``processes=1``, the calling process does all the work."""

    def __init__(self, processes: int = 1, progress: Progress = silent) -> None:
        self.progress = progress
        # Fresh interpreters, because forking a process that has threads can hang.
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _quiet) if processes > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def each(self, work: Callable[[Item], Result], items: Sequence[Item], what: str) -> list[Result]:
        """Apply ``work`` to each item, in order; the results do not depend on the number of processes."""
        results: list[Result] = []
        for result in self._pool.map(work, items) if self._pool else map(work, items):
            results.append(result)
            self.progress(what, len(results), len(items))
        return results


def _quiet() -> None:
    """Keep the workers' own progress bars off the terminal."""
    sys.stderr = None
