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

_LOCK = "in-use.lock"


@contextmanager
def folder_of_its_own(prefix: str) -> Iterator[Path]:
    """A temporary folder that only this process uses; those of killed processes are removed first."""
    above = Path(tempfile.gettempdir())
    _sweep(above, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
    try:
        # The file gets its name when it is locked, so that no other process removes the folder.
        with (folder / "starting").open("wb") as file:
            _lock(file)
            os.replace(folder / "starting", folder / _LOCK)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(above: Path, prefix: str) -> None:
    """Remove the folders of processes that were killed."""
    for folder in above.glob(f"{prefix}*"):
        with suppress(OSError):
            facts = folder.lstat()
            is_own = sys.platform == "win32" or facts.st_uid == os.getuid()
            if is_own and stat.S_ISDIR(facts.st_mode):
                with (folder / _LOCK).open("r+b") as file:
                    is_left = _lock(file)
                if is_left:
                    shutil.rmtree(folder, ignore_errors=True)


def _lock(file: IO[bytes]) -> bool:
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
