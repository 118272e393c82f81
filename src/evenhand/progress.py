"""Progress of long work: one line on the terminal, or log messages where there is none.

Nothing is shown in the first two seconds. The line is rewritten in place and cleared at the end, so
that it never mixes with results. Where standard error is not a terminal, the logger ``evenhand`` gets
a message of the level INFO now and then. `reported` sends progress elsewhere.
"""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, Self, TextIO, TypeVar

from .errors import printable

LOGGER = logging.getLogger("evenhand")
"""Where warnings go, and progress if there is no terminal."""

Item = TypeVar("Item")
_SILENT_SECONDS = 2.0
_LOGGED_SECONDS = 10.0
_POLL_SECONDS = 0.5
_BAR_WIDTH = 30
_listeners: list[Progress] = []


class Progress(Protocol):
    """A callable that is told how much of some work is done."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` items of the work called ``what`` are done."""


class ProgressLine:
    """A `Progress` that draws a bar on the terminal, and clears it when its ``with`` block ends.

    Examples
    --------
    >>> with ProgressLine() as report:
    ...     for done in range(3):
    ...         report("resampling", done, 3)
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._last_log = -_LOGGED_SECONDS
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and (terminal := _terminal()):
            _write(terminal, f"\r{' ' * _line_width()}\r")
        self._is_shown = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` items are done; a total of 0 is not known."""
        if _listeners:
            _listeners[-1](what, done, total)
            return
        now = time.monotonic()
        if now - self._start <= _SILENT_SECONDS:
            return
        filled = _BAR_WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_BAR_WIDTH - filled)
        state = f" [{bar}] {done:,} of {total:,}" if total else " …"
        name = printable(what)
        if terminal := _terminal():
            # A line that wraps could not be rewritten, so a long name is cut.
            room = max(_line_width() - len(state), 1)
            short = name if len(name) <= room else f"{name[: room - 1]}…"
            _write(terminal, f"\r{(short + state).ljust(_line_width())}")
            self._is_shown = True
        elif now - self._last_log > _LOGGED_SECONDS:
            LOGGER.info("%s%s", name, state)
            self._last_log = now


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield the items, and show how many are done.

    >>> list(progress([1, 2, 3], "squaring"))
    [1, 2, 3]
    """
    with ProgressLine() as report:
        for done, item in enumerate(items):
            report(what, done, len(items))
            yield item


@contextmanager
def watch(what: str, percent: Callable[[], float]) -> Iterator[None]:
    """Show how far the work in the ``with`` block is, by polling it from another thread.

    ``percent`` returns the share that is done; a negative one means that it is not known.

    >>> with watch("sorting", lambda: 50.0):
    ...     ordered = sorted([3, 1, 2])
    """
    if not (_terminal() or _listeners or LOGGER.isEnabledFor(logging.INFO)):
        yield
        return
    done = threading.Event()

    def poll() -> None:
        with ProgressLine() as report:
            while not done.wait(_POLL_SECONDS):
                done_percent = percent()
                report(what, max(int(done_percent), 0), 100 if done_percent >= 0 else 0)

    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    try:
        yield
    finally:
        done.set()
        poller.join()


@contextmanager
def reported(listener: Progress) -> Iterator[None]:
    """Report the progress of all work in the ``with`` block to a callable, in place of the terminal.

    The total is 0 if it is not known. The callable may be called from another thread.

    >>> reports = []
    >>> with reported(lambda what, done, total: reports.append((done, total))):
    ...     numbers = list(progress([1, 2], "counting"))
    >>> reports
    [(0, 2), (1, 2)]
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _terminal() -> TextIO | None:
    """Standard error if it is a terminal; it is None in a process without a console."""
    with suppress(ValueError):  # closed
        if sys.stderr is not None and sys.stderr.isatty():
            return sys.stderr
    return None


def _line_width() -> int:
    """The width of the terminal without its last column, at which some terminals wrap."""
    return shutil.get_terminal_size().columns - 1


def _write(terminal: TextIO, text: str) -> None:
    # A terminal that went away does not end the work.
    with suppress(OSError, ValueError):
        terminal.write(text)
        terminal.flush()
