"""The process that does jobs: it receives tasks, reports progress, and sends answers, until it is killed.

It has nothing to clean up: what it writes lies in the folder of the web app, which removes it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

REPORT_SECONDS = 0.1


def work(pipe: Connection, memory: int) -> None:
    """Do what is asked over a pipe until it is closed, with ``memory`` bytes besides what imports use.

    The pipe receives the name of a task, the folder to work in, and arguments. It sends
    ``("progress", what, done, total)``, ``("done", answer)`` and ``("failed", sentence)``.
    """
    # Ctrl-C reaches all processes of a terminal; the web app decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    from ..progress import reported
    from .tasks import TASKS

    limit_memory(memory)
    home, sending = Path.cwd(), threading.Lock()
    latest = ("", 0.0)

    def send(*content: object) -> None:
        """Send something, unless nobody listens any more."""
        with sending, suppress(OSError):
            pipe.send(content)

    def report(what: str, done: int, total: int) -> None:
        """Send progress, but not too often."""
        nonlocal latest
        now = time.monotonic()
        if what != latest[0] or now - latest[1] >= REPORT_SECONDS:
            latest = what, now
            send("progress", what, done, total)

    with suppress(EOFError, OSError):
        while True:
            task, folder, arguments = pipe.recv()
            with reported(report):
                answer = do_task(TASKS[task], folder, arguments)
            os.chdir(home)
            send(*answer)


def do_task(
    task: Callable[..., object], folder: str, arguments: Mapping[str, object]
) -> tuple[str, object]:
    """Call a task in its folder; what it raises becomes a sentence."""
    from ..errors import EvenhandError
    from .form import FIELD_NAMES

    try:
        # Files are named without their folder, so that no answer contains its path.
        os.chdir(folder)
        return "done", task(**arguments)
    except EvenhandError as error:
        # DuckDB names whole paths.
        sentence = error.spelled(FIELD_NAMES).replace(f"{folder}{os.sep}", "")
    except MemoryError:
        sentence = "this needs too much memory; choose smaller counts or a smaller file"
    except RecursionError:
        sentence = "the request is nested too deeply"
    except FileNotFoundError:
        sentence = "the file is no longer available; choose it again"
    except Exception as error:
        text = f"{type(error).__name__}: {error}".partition("\n")[0]
        sentence = f"evenhand failed unexpectedly ({text[:200]}); please report this bug"
    return "failed", sentence


def end_with_parent() -> None:
    """End this process when the one that started it is gone, even if that was killed."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def limit_memory(memory: int) -> None:
    """Limit the memory of this process, so that too large a request ends in an error; Linux only."""
    if not sys.platform.startswith("linux"):
        return
    import resource

    with suppress(OSError, ValueError):
        status = Path("/proc/self/status").read_text("utf-8")
        used = 1024 * int(status.partition("VmData:")[2].split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or used + memory < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (used + memory, hard))
