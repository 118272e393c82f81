"""What the page keeps while it runs: uploaded files, results and jobs, in one folder that is removed at the end."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from .jobs import Job, Lane

__all__ = ["MEGABYTE", "Store", "Upload"]

MEGABYTE = 2**20
# How many uploads, results and jobs are kept at a time.
_KEPT, _KEPT_JOBS = 8, 64
_WHAT_IF_MEMORY, _AUDIT_MEMORY = 2048 * MEGABYTE, 8192 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Upload:
    """One or more files under their own names in a folder of their own; ``data`` names them there."""

    folder: Path
    data: str | list[str]
    counts: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the files."""
        return [self.data] if isinstance(self.data, str) else self.data


@dataclass(slots=True)
class Store:
    """The state of the page.

    Attributes
    ----------
    folder : Path
        Where everything is kept.
    limit : int
        The size of the largest file, in bytes.
    patience : float
        How many seconds the body of a request may take to begin.
    seconds : dict of str to float
        How long the tasks may take that are answered while somebody types; audits may take as long as they need.
    """

    folder: Path
    limit: int
    patience: float = 30.0
    seconds: dict[str, float] = field(default_factory=lambda: {"what_if": 30.0, "plan": 180.0})
    uploads: dict[str, Upload] = field(default_factory=dict)
    results: dict[str, Path] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    slots: dict[str, Job] = field(default_factory=dict)
    audits: Lane = field(default_factory=lambda: Lane(_AUDIT_MEMORY))
    what_ifs: Lane = field(default_factory=lambda: Lane(_WHAT_IF_MEMORY))
    uploading: int = 0

    def new_folder(self) -> Path:
        """A folder of its own for an upload or a result."""
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def keep(self, upload: Upload) -> str:
        """Keep an upload, and remove the oldest if there are too many; its identifier."""
        while len(self.uploads) >= _KEPT and upload.folder.name not in self.uploads:
            shutil.rmtree(self.uploads.pop(next(iter(self.uploads))).folder, ignore_errors=True)
        self.uploads[upload.folder.name] = upload
        return upload.folder.name

    def upload(self, key: Any) -> Upload:
        """The upload with this identifier, which is thereby the last to be removed."""
        if not isinstance(key, str) or key not in self.uploads:
            raise InvalidInput("the file is no longer available; choose it again")
        self.uploads[key] = self.uploads.pop(key)
        return self.uploads[key]

    def result(self) -> Path:
        """A folder for a new result; the oldest is removed if there are too many."""
        while len(self.results) >= _KEPT:
            shutil.rmtree(self.results.pop(next(iter(self.results))), ignore_errors=True)
        folder = self.new_folder()
        self.results[folder.name] = folder
        return folder

    def start(self, task: str, folder: Path, arguments: dict[str, Any], slot: str) -> Job:
        """Start a job; the one before it in the same slot is given up."""
        before = self.slots.pop(slot, None) if slot else None
        if before is not None:
            self._lane(before.task).cancel(before, overtaken=True)
        job = Job(secrets.token_hex(8), task, folder, arguments, seconds=self.seconds.get(task))
        self._lane(task).submit(job)
        self.jobs[job.key] = job
        if slot:
            self.slots[slot] = job
        for old in [key for key, one in self.jobs.items() if one.over][:-_KEPT_JOBS]:
            del self.jobs[old]
        for name in [name for name, one in self.slots.items() if one.over]:
            del self.slots[name]
        return job

    def cancel(self, job: Job) -> None:
        """Give up a job."""
        self._lane(job.task).cancel(job)

    def _lane(self, task: str) -> Lane:
        return self.what_ifs if task in self.seconds else self.audits

    def close(self) -> None:
        """End all work."""
        self.audits.close()
        self.what_ifs.close()
