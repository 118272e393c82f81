"""Work that can be ended: a queue has one process, which does one job at a time.

A thread starts the process when the first job arrives, and watches over it. To cancel a job that is
running, its process is killed, and another one started for the next job. A job never blocks the web
app: its state is read whenever somebody asks.
"""

from __future__ import annotations

import multiprocessing
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from ..errors import TooLarge
from .worker import work

# A job that was overtaken may go on so long before its process is killed.
GRACE_SECONDS = 1.0
POLL_SECONDS, CLOSE_SECONDS = 0.02, 2.0
FULL = "too much is waiting to be computed; try again when it is done"
SLOW = "this takes longer than {:g} seconds; choose smaller counts"
ENDED = "the computation ended unexpectedly; it may have needed more memory than there is"


@dataclass(slots=True, eq=False)
class Job:
    """Something that a worker has to do, and how far it is.

    Attributes
    ----------
    task : str
        A name in `tasks.TASKS`.
    folder : Path
        The folder that it works in.
    arguments : dict
        What the task is called with.
    seconds : float
        How long it may run.
    slot : str
        A place for one job: a later one for the same slot overtakes this one.
    key : str
        Its identifier.
    state : {"waiting", "working", "done", "failed", "cancelled"}
        How it stands.
    progress : sequence
        What is being done now, how much of it is done, and of how much; 0 if that is not known.
    answer : object
        The result, or the sentence that says why there is none.
    version : int
        How often anything of this has changed.
    end_by : float
        When its process is killed, if it is running then.
    """

    task: str
    folder: Path
    arguments: Mapping[str, object]
    seconds: float = inf
    slot: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "waiting"
    progress: Sequence[str | int] = ("", 0, 0)
    answer: object = None
    version: int = 1
    end_by: float = inf

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in ("done", "failed", "cancelled")

    def change(self, state: str, answer: object = None) -> None:
        """Change the state, unless it is final."""
        if not self.is_over:
            self.answer, self.state = answer, state
            self.version += 1


class WorkerQueue:
    """A queue of at most ``most_waiting`` jobs, and the process that does them one after the other.

    The process may use ``memory`` bytes besides what it has after its imports, where the system can
    limit that.
    """

    def __init__(self, memory: int, most_waiting: int = 32) -> None:
        self.memory, self.most_waiting = memory, most_waiting
        self.changed = threading.Condition()
        self.waiting: deque[Job] = deque()
        self.closed = False
        self.thread: threading.Thread | None = None
        self.worker: tuple[BaseProcess, Connection] | None = None

    def check_room(self) -> None:
        """Refuse if too many jobs are waiting."""
        if len(self.waiting) >= self.most_waiting:
            raise TooLarge(FULL)

    def submit(self, job: Job) -> None:
        """Add a job to the end of the queue."""
        with self.changed:
            self.check_room()
            self.waiting.append(job)
            if self.thread is None and not self.closed:
                self.thread = threading.Thread(target=self.run, daemon=True)
                self.thread.start()
            self.changed.notify_all()

    def cancel(self, job: Job, *, overtaken: bool = False) -> None:
        """Give up a job; one that is overtaken may finish within a moment, which spares a new process."""
        with self.changed:
            if job in self.waiting:
                self.waiting.remove(job)
            job.end_by = time.monotonic() + (GRACE_SECONDS if overtaken else 0)
            job.change("cancelled")

    def close(self) -> None:
        """End the process, and give up all jobs."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        if self.thread is not None:
            self.thread.join(CLOSE_SECONDS)

    def run(self) -> None:
        """Do the jobs one after the other; only this thread starts, reads from and ends processes."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.waiting or self.closed)
                if self.closed:
                    break
                job = self.waiting.popleft()
                job.change("working")
            try:
                self.do(job)
            except (OSError, EOFError):
                self.end_process()
                job.change("failed", ENDED)
        self.end_process()

    def do(self, job: Job) -> None:
        """Let the process do a job; kill it if the job takes too long or is given up."""
        pipe = self.ready_pipe()
        pipe.send((job.task, str(job.folder), job.arguments))
        latest = time.monotonic() + job.seconds
        while not self.closed and time.monotonic() < min(latest, job.end_by):
            if pipe.poll(POLL_SECONDS):
                kind, *content = pipe.recv()
                if kind != "progress":
                    job.change(kind, *content)
                    return
                job.progress = content
                job.version += 1
        self.end_process()
        job.change("failed", SLOW.format(job.seconds))
        if not self.closed:
            self.ready_pipe()

    def ready_pipe(self) -> Connection:
        """The pipe to the process, which is started if need be."""
        if self.worker is None or not self.worker[0].is_alive():
            self.end_process()
            spawn = multiprocessing.get_context("spawn")
            pipe, end = spawn.Pipe()
            process = spawn.Process(target=work, args=(end, self.memory), daemon=True)
            process.start()
            end.close()
            self.worker = process, pipe
        return self.worker[1]

    def end_process(self) -> None:
        """Kill the process, and close the pipe to it."""
        if self.worker is not None:
            process, pipe = self.worker
            process.kill()
            process.join(1)
            pipe.close()
            self.worker = None
