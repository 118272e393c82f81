"""Apply a function to many items, optionally over several processes, and report progress."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from types import TracebackType
from typing import Self, TypeVar

__all__ = ["Progress", "Workers", "silent"]

Progress = Callable[[str, int, int], None]
"""Told what is done, how much of it, and of how much."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


class Workers:
    """A pool of processes; with ``processes=1``, the calling process does all the work."""

    def __init__(self, processes: int = 1, progress: Progress = silent) -> None:
        self.progress = progress
        self._others = set(active_children())
        # Fresh interpreters, because forking a process that has threads can hang.
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _quiet) if processes > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            if kind is not None:
                # What they compute is of no use any more.
                for process in set(active_children()) - self._others:
                    process.terminate()
            self._pool.shutdown(cancel_futures=True)

    def each(self, work: Callable[[Item], Result], items: Sequence[Item], what: str) -> list[Result]:
        """Apply ``work`` to each item, in order; the results do not depend on the number of processes."""
        results: list[Result] = []
        for result in self._mapped(work, items) if self._pool else map(work, items):
            results.append(result)
            self.progress(what, len(results), len(items))
        return results

    def _mapped(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """The results of the processes, which Ctrl-C does not reach: this process ends them."""
        assert self._pool is not None
        # They start when the first item is submitted.
        with _uninterrupted():
            return self._pool.map(work, items)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that never see Ctrl-C; one that is pressed meanwhile is heeded at the end."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    pressed: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    # Processes inherit what is blocked, but not handlers.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, handler)
    if pressed:
        signal.raise_signal(signal.SIGINT)


def _quiet() -> None:
    """Keep the workers' own progress bars off the terminal."""
    sys.stderr = None
