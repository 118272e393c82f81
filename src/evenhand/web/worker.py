"""The process that does jobs: it receives tasks, reports progress, and returns answers, until it is killed.

It has nothing to clean up: what it writes lies in the folder of the page, which the page removes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

__all__ = ["work"]

_REPORT_SECONDS = 0.1


def work(line: Connection, memory: int) -> None:
    """Do what is asked over the line until it is closed, with ``memory`` bytes besides what imports use.

    The line receives the name of a task, the folder to work in, and arguments. It sends ``("progress", what, done,
    total)``, ``("done", answer)`` and ``("failed", sentence)``.
    """
    # Ctrl-C reaches all processes of a terminal; the page decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_page, daemon=True).start()
    from ..progress import reported
    from .tasks import TASKS

    _limit(memory)
    home = Path.cwd()
    said = threading.Lock()
    report = _Report(line, said)
    while True:
        try:
            task, folder, arguments = line.recv()
        except (EOFError, OSError):
            return
        with reported(report):
            answer = _done(TASKS[task], folder, arguments)
        os.chdir(home)
        with said, suppress(OSError):
            line.send(answer)


def _done(task: Any, folder: str, arguments: dict[str, Any]) -> tuple[str, Any]:
    from ..errors import EvenhandError
    from .form import FIELD_NAMES

    try:
        # Files are found by their names alone, so that no answer contains the path of the folder.
        os.chdir(folder)
        return "done", task(**arguments)
    except EvenhandError as refusal:
        # DuckDB names whole paths.
        return "failed", refusal.spelled(FIELD_NAMES).replace(f"{folder}{os.sep}", "")
    except MemoryError:
        return "failed", "this needs more memory than the page may use; choose smaller counts or a smaller file"
    except RecursionError:
        return "failed", "what was sent is nested too deeply"
    except FileNotFoundError:
        return "failed", "the file is no longer available; choose it again"
    except Exception as bug:
        first = next(iter(str(bug).splitlines()), "")[:200]
        return (
            "failed",
            f"evenhand failed unexpectedly ({type(bug).__name__}: {first}); this is a bug, please report it",
        )


class _Report:
    """Sends progress, but not too often."""

    def __init__(self, line: Connection, said: threading.Lock) -> None:
        self._line, self._said = line, said
        self._last, self._what = 0.0, ""

    def __call__(self, what: str, done: int, total: int) -> None:
        with self._said:
            now = time.monotonic()
            if what == self._what and now - self._last < _REPORT_SECONDS:
                return
            self._last, self._what = now, what
            with suppress(OSError):
                self._line.send(("progress", what, done, total))


def _end_with_the_page() -> None:
    """End this process when the one that started it is gone, even if that was killed."""
    page = multiprocessing.parent_process()
    if page is not None:
        page.join()
        os._exit(1)


def _limit(memory: int) -> None:
    """Limit the memory of this process, so that too large a request ends in an error; only Linux can do that."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    with suppress(OSError, ValueError, StopIteration):
        used = next(line for line in Path("/proc/self/status").read_text("utf-8").splitlines() if "VmData" in line)
        most = int(used.split()[1]) * 1024 + memory
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
