"""Work that can be ended: one process per lane, which does one job at a time.

A lane is a queue, a thread that watches over it, and a process that is started when the first job arrives. To cancel a
job that is running, its process is killed, and another one started for the next job. A job never blocks the page: its
state is read whenever somebody asks.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import TooLarge

__all__ = ["Job", "Lane"]

# How long a job that was overtaken may go on before its process is killed for it.
_GRACE_SECONDS = 1.0
_POLL_SECONDS = 0.02
_CLOSE_SECONDS = 2.0


@dataclass(slots=True, eq=False)
class Job:
    """Something to be done by a lane, and how far it is.

    Attributes
    ----------
    key : str
        Its identifier.
    task : str
        The name of one of `tasks.TASKS`.
    folder : Path
        The folder that it works in.
    arguments : dict
        What it is called with.
    seconds : float, optional
        How long it may run.
    state : {"waiting", "working", "done", "failed", "cancelled"}
        How it stands.
    what, done, total
        What is being done now, and how much of it is done; a total of 0 if that is not known.
    answer : object
        The result, or the sentence that says why there is none.
    version : int
        How often anything of this has changed.
    """

    key: str
    task: str
    folder: Path
    arguments: dict[str, Any]
    seconds: float | None = None
    state: str = "waiting"
    what: str = ""
    done: int = 0
    total: int = 0
    answer: Any = None
    version: int = 1
    end_by: float | None = field(default=None, repr=False)

    @property
    def over(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in ("done", "failed", "cancelled")

    def tell(self, what: str, done: int, total: int) -> None:
        """Take note of progress."""
        self.what, self.done, self.total = what, done, total
        self.version += 1

    def become(self, state: str, answer: Any = None) -> None:
        """Change the state, unless it is final."""
        if not self.over:
            self.answer, self.state = answer, state
            self.version += 1


class Lane:
    """A queue of at most ``most_waiting`` jobs, and the process that does them one after the other.

    The process may use ``memory`` bytes besides what it has after its imports, where the system can limit that.
    """

    def __init__(self, memory: int, most_waiting: int = 32) -> None:
        self.most_waiting = most_waiting
        self._memory = memory
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._closed = False
        self._watcher: threading.Thread | None = None
        self._process: multiprocessing.process.BaseProcess | None = None
        self._line: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The identifier of the process; None if there is none."""
        return None if self._process is None else self._process.pid

    def check_room(self) -> None:
        """Refuse if too many jobs are waiting."""
        if len(self._waiting) >= self.most_waiting:
            raise TooLarge("too much is waiting to be computed; try again when it is done")

    def submit(self, job: Job) -> None:
        """Add a job to the end of the queue."""
        with self._changed:
            self.check_room()
            self._waiting.append(job)
            if self._watcher is None and not self._closed:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
            self._changed.notify_all()

    def cancel(self, job: Job, *, overtaken: bool = False) -> None:
        """Give up a job; one that is overtaken may take a moment to finish, since a new process takes longer."""
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
            job.end_by = time.monotonic() + (_GRACE_SECONDS if overtaken else 0.0)
            job.become("cancelled")

    def close(self) -> None:
        """Kill the process, and give up all jobs."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.become("cancelled")
            self._waiting.clear()
            self._changed.notify_all()
        process, watcher = self._process, self._watcher
        if process is not None:
            with suppress(AttributeError, ValueError):
                process.kill()
        if watcher is not None:
            watcher.join(_CLOSE_SECONDS)

    def _watch(self) -> None:
        """Do the jobs one after the other; nobody else starts, reads from or cleans up after a process."""
        while job := self._next():
            try:
                self._do(job)
            except (OSError, EOFError):
                self._end()
                if self._closed:
                    job.become("cancelled")
                job.become("failed", "the computation ended unexpectedly; it may have needed more memory than there is")
        self._end()

    def _next(self) -> Job | None:
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            job = self._waiting.popleft()
            job.become("working")
            return job

    def _do(self, job: Job) -> None:
        line = self._ready()
        line.send((job.task, str(job.folder), job.arguments))
        latest = time.monotonic() + job.seconds if job.seconds else None
        while True:
            if line.poll(_POLL_SECONDS):
                kind, *content = line.recv()
                if kind == "progress":
                    job.tell(*content)
                else:
                    job.become(kind, content[0])
                    return
            now = time.monotonic()
            if job.end_by is not None and now >= job.end_by:
                break
            if latest is not None and now >= latest:
                job.become("failed", f"this takes longer than {job.seconds:g} seconds; choose smaller counts")
                break
            if self._closed:
                job.become("cancelled")
                break
        self._end()
        if not self._closed:
            self._ready()

    def _ready(self) -> Connection:
        """The line to the process, which is started if need be."""
        from . import worker

        if self._process is None or not self._process.is_alive() or self._line is None:
            self._end()
            spawn = multiprocessing.get_context("spawn")
            self._line, other = spawn.Pipe()
            self._process = spawn.Process(target=worker.work, args=(other, self._memory), daemon=True)
            self._process.start()
            other.close()
        if self._closed:
            self._end()
            raise EOFError
        return self._line

    def _end(self) -> None:
        process, line = self._process, self._line
        self._process = self._line = None
        if process is not None:
            with suppress(AttributeError, ValueError):
                process.kill()
                process.join(1)
        if line is not None:
            with suppress(OSError):
                line.close()
