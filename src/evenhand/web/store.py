"""What the web app keeps while it runs: uploads, results and jobs, in a folder that is removed at the end."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from ..errors import InvalidInput
from .jobs import Job, WorkerQueue

MEGABYTE = 2**20
# So many uploads, results and jobs are kept at a time.
MOST_KEPT, MOST_JOBS = 8, 64
AUDIT_MEMORY, PLAN_MEMORY = 8192 * MEGABYTE, 2048 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Upload:
    """One or more files in a folder of their own, which is named like the upload."""

    folder: Path
    names: list[str]
    counts: bool = False

    @property
    def data(self) -> str | list[str]:
        """The files as the library takes them, in their folder."""
        return self.names[0] if len(self.names) == 1 else self.names


@dataclass(slots=True)
class Store:
    """The state of the web app.

    Attributes
    ----------
    folder : Path
        Where everything is kept.
    limit : int
        The size of the largest upload, in bytes.
    patience : float
        How many seconds the body of a request may take to begin.
    plan_seconds : float
        How long a plan may take; audits may take as long as they need.
    """

    folder: Path
    limit: int
    patience: float
    plan_seconds: float = 180.0
    uploads: dict[str, Upload] = field(default_factory=dict)
    results: dict[str, Path] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    audits: WorkerQueue = field(default_factory=lambda: WorkerQueue(AUDIT_MEMORY))
    plans: WorkerQueue = field(default_factory=lambda: WorkerQueue(PLAN_MEMORY))
    uploading: int = 0

    def new_folder(self) -> Path:
        """A folder of its own for an upload or a result."""
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def drop_oldest(self, kept: dict[str, Upload] | dict[str, Path]) -> None:
        """Remove the oldest uploads, or results, if there are too many."""
        for oldest in list(kept)[:-MOST_KEPT]:
            del kept[oldest]
            shutil.rmtree(self.folder / oldest, ignore_errors=True)

    def keep(self, upload: Upload) -> None:
        """Keep an upload."""
        self.uploads[upload.folder.name] = upload
        self.drop_oldest(self.uploads)

    def upload(self, key: object) -> Upload:
        """The upload of this name, which is thereby the last to be removed."""
        if not isinstance(key, str) or key not in self.uploads:
            raise InvalidInput("the file is no longer available; choose it again")
        self.uploads[key] = self.uploads.pop(key)
        return self.uploads[key]

    def new_result(self) -> Path:
        """A folder for a new result."""
        self.audits.check_room()
        folder = self.new_folder()
        self.results[folder.name] = folder
        self.drop_oldest(self.results)
        return folder

    def start(self, task: str, folder: Path, slot: str, arguments: Mapping[str, object]) -> Job:
        """Start a job, which overtakes an earlier one in the same slot."""
        for earlier in self.jobs.values():
            if slot and earlier.slot == slot and not earlier.is_over:
                self.queue(earlier).cancel(earlier, overtaken=True)
        seconds = self.plan_seconds if task == "plan" else inf
        job = Job(task, folder, arguments, seconds, slot)
        self.queue(job).submit(job)
        for key in [key for key, old in self.jobs.items() if old.is_over][:-MOST_JOBS]:
            del self.jobs[key]
        self.jobs[job.key] = job
        return job

    def queue(self, job: Job) -> WorkerQueue:
        """The queue that a job belongs to."""
        return self.plans if job.task == "plan" else self.audits

    def close(self) -> None:
        """End all work."""
        self.audits.close()
        self.plans.close()
