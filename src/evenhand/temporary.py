"""Temporary folders that only their process uses, and that are removed with it.

A folder is locked as long as its process runs. Folders of processes that were killed are removed at the next start.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["folder_of_its_own"]

_LOCK = "in-use.lock"


@contextmanager
def folder_of_its_own(prefix: str) -> Iterator[Path]:
    """A temporary folder that only this process uses; left-over ones with the same prefix are removed first."""
    above = Path(tempfile.gettempdir())
    _sweep(above, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
    try:
        # It gets its name when it is locked, so that nobody else takes it for a left-over one.
        with (folder / "starting").open("wb") as lock:
            _locked(lock)
            os.replace(folder / "starting", folder / _LOCK)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(above: Path, prefix: str) -> None:
    """Remove the folders of processes that were killed."""
    for folder in above.glob(f"{prefix}*"):
        with suppress(OSError):
            found = folder.lstat()
            mine = sys.platform == "win32" or found.st_uid == os.getuid()
            if not (mine and stat.S_ISDIR(found.st_mode)):
                continue
            with (folder / _LOCK).open("r+b") as lock:
                left = _locked(lock)
            if left:
                shutil.rmtree(folder, ignore_errors=True)


def _locked(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; False if another process has."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
