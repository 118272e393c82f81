"""Progress of long work, shown as one line on the terminal, or logged where there is none.

Nothing is shown before the work has taken two seconds. The line is rewritten in place and cleared at the end, so that
it never mixes with results. Where standard error is no terminal, the logger ``evenhand`` gets a message now and then,
of the level INFO, which nobody sees who does not ask for it. `reported` sends progress elsewhere.
"""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, Self, TextIO, TypeVar

from .errors import printable

__all__ = ["LOGGER", "Progress", "ProgressLine", "progress", "reported", "watch"]

LOGGER = logging.getLogger("evenhand")
"""Where warnings go, and progress if there is no terminal."""

Item = TypeVar("Item")
_SILENT_SECONDS = 2.0
_LOGGED_SECONDS = 10.0
_POLL_SECONDS = 0.5
_BAR_WIDTH = 30
_elsewhere: list[Progress] = []


class Progress(Protocol):
    """A callable that is told how much of some work is done.

    `ProgressLine` is one. Functions that take a ``progress`` argument accept any other, such as a notebook widget.
    """

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` items of the work called ``what`` are done."""


class ProgressLine:
    """A `Progress` that draws a bar on the terminal, and clears it when its ``with`` block ends.

    The two seconds of silence start when the object is created.

    Examples
    --------
    >>> with ProgressLine() as report:
    ...     for done in range(3):
    ...         report("resampling", done, 3)
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False
        self._logged: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` items are done."""
        if _elsewhere:
            _elsewhere[-1](what, done, total)
            return
        filled = _BAR_WIDTH * done // max(total, 1)
        self._show(what, f" [{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {done:,} of {total:,}")

    def percentage(self, what: str, percent: float) -> None:
        """Show the share that is done, in per cent; a negative one means that it is not known."""
        if _elsewhere:
            _elsewhere[-1](what, *((int(percent), 100) if percent >= 0 else (0, 0)))
            return
        self._show(what, f": {percent:.0f}%" if percent >= 0 else " …")

    def clear(self) -> None:
        """Remove the line from the terminal."""
        if self._shown and (terminal := _terminal()):
            _write(terminal, f"\r{' ' * _columns()}\r")
        self._shown = False

    def _show(self, what: str, state: str) -> None:
        terminal, now = _terminal(), time.monotonic()
        if now - self._start <= _SILENT_SECONDS:
            return
        if terminal is None:
            if self._logged is None or now - self._logged > _LOGGED_SECONDS:
                LOGGER.info("%s%s", printable(what), state)
                self._logged = now
            return
        # A line that wraps cannot be rewritten, so the name gives way to the state; blanks cover what was there before.
        room = max(_columns() - len(state), 1)
        name = printable(what)
        line = (name if len(name) <= room else f"{name[: room - 1]}…") + state
        _write(terminal, f"\r{line.ljust(_columns())}")
        self._shown = True


def progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield the items, and show how many are done.

    Parameters
    ----------
    items : sequence
        What is worked on.
    what : str
        A name for the work.

    Yields
    ------
    object
        The items, unchanged.

    Examples
    --------
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

    Parameters
    ----------
    what : str
        A name for the work.
    percent : callable
        Returns the share that is done, in per cent; a negative one means that it is not known.

    Examples
    --------
    >>> with watch("sorting", lambda: 50.0):
    ...     ordered = sorted([3, 1, 2])
    """
    if _terminal() is None and not _elsewhere and not LOGGER.isEnabledFor(logging.INFO):
        yield
        return
    done = threading.Event()

    def poll() -> None:
        with ProgressLine() as report:
            while not done.wait(_POLL_SECONDS):
                report.percentage(what, percent())

    watcher = threading.Thread(target=poll, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def reported(to: Progress) -> Iterator[None]:
    """Report the progress of all work in the ``with`` block to a callable, at once, in place of the terminal.

    Parameters
    ----------
    to : Progress
        Called with the name of the work, how much of it is done, and the total, which is 0 if it is not known. It can
        be called from another thread.

    Examples
    --------
    >>> heard = []
    >>> with reported(lambda what, done, total: heard.append((done, total))):
    ...     numbers = list(progress([1, 2], "counting"))
    >>> heard
    [(0, 2), (1, 2)]
    """
    _elsewhere.append(to)
    try:
        yield
    finally:
        _elsewhere.remove(to)


def _terminal() -> TextIO | None:
    """Standard error if it is a terminal; it is None in a process without a console."""
    try:
        return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
    except ValueError:  # closed
        return None


def _columns() -> int:
    """The width of the terminal without its last column, which some terminals wrap at."""
    return shutil.get_terminal_size().columns - 1


def _write(terminal: TextIO, text: str) -> None:
    try:
        terminal.write(text)
        terminal.flush()
    except (OSError, ValueError):  # a terminal that went away must not end the work
        pass
