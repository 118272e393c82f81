"""Processes that heed signals."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["heeded"]


@contextmanager
def heeded(*signs: signal.Signals) -> Iterator[None]:
    """Processes that are started inside heed these signals, also if this one ignores them.

    What a shell starts in the background ignores Ctrl-C, and what nohup starts ignores HUP; both is inherited, and the
    command keeps to it. So tests of what a signal does say which ones are heeded.
    """
    before = {sign: signal.signal(sign, signal.default_int_handler) for sign in signs}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
