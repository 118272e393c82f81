"""Data that can be read only once, such as standard input, pipes and files of /proc, copied so that all can read them.

A copy is in a folder that only its owner can read, which is removed at the end. Messages name what was given.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any

from ..errors import EvenhandError, escaped
from ..temporary import folder_of_its_own
from .formats import FORMATS, ending_by_content, ending_of
from .sources import nothing, unreadable

__all__ = ["held", "is_stream", "spooled"]

_PREFIX = "evenhand-input-"
# The first bytes, which tell the format.
_HEAD = 16


@contextmanager
def held(data: Any) -> Iterator[Any]:
    """The data, with paths of what can be read only once replaced by those of copies."""
    several = isinstance(data, (list, tuple))
    given = list(data) if several else [data]
    if not any(map(is_stream, given)):
        yield data
        return
    with ExitStack() as stack:
        copies = [stack.enter_context(_opened(one)) if is_stream(one) else one for one in given]
        yield copies if several else copies[0]


@contextmanager
def spooled(stream: IO[bytes], name: str, path: Path) -> Iterator[str]:
    """The path of a copy of a stream; ``name`` is what messages call it, and ``path`` has its ending, if any."""
    with folder_of_its_own(_PREFIX) as folder:
        head = stream.read(_HEAD)
        if not head:
            raise nothing(name, "is empty")
        known = any(ending_of(path.name).lower().startswith(one) for kind in FORMATS for one in kind.endings)
        copy = folder / (path.name if known else f"{path.name}{ending_by_content(head)}")
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(head)
            copyfileobj(stream, file)
        try:
            yield str(copy)
        except EvenhandError as error:
            # Readers, and the libraries whose messages they pass on, know the copy only.
            error.args = (str(error.args[0]).replace(escaped(copy), escaped(name)), *error.args[1:])
            raise


@contextmanager
def _opened(given: Any) -> Iterator[str]:
    path = Path(given).expanduser()
    try:
        stream = path.open("rb")
    except OSError as error:
        raise unreadable(path, error.strerror or error) from None
    with stream, spooled(stream, str(given), path) as copy:
        yield copy


def is_stream(given: Any) -> bool:
    """Whether a path is that of a pipe or device, or of a file that does not know its size, as those in /proc."""
    if not isinstance(given, (str, os.PathLike)):
        return False
    try:
        found = Path(given).expanduser().stat()
    except (OSError, ValueError, RuntimeError):
        return False
    if stat.S_ISREG(found.st_mode):
        return found.st_size == 0
    return not stat.S_ISDIR(found.st_mode)
