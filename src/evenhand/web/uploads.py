"""Files that arrive, under their own names; they are refused as soon as they are too large or of a wrong kind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ..data import ending_of, input_files
from ..errors import EvenhandError, InvalidInput
from .guard import arriving
from .store import MEGABYTE, Store, Upload

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["received"]

_MOST_AT_ONCE, _MOST_FILES = 4, 100


async def received(request: Request, store: Store, given: str, beside: str | None) -> Upload:
    """The upload of a file, alone or beside others that were sent before."""
    name = _file_name(given)
    if store.uploading >= _MOST_AT_ONCE:
        raise InvalidInput("too many files are being sent at once; wait for them")
    first = store.upload(beside) if beside else None
    if first is not None and first.counts:
        raise InvalidInput(f"{name} cannot be audited together with a table of counts")
    folder = first.folder if first else store.new_folder()
    store.uploading += 1
    try:
        await _written(request, folder, [*(first.names if first else []), name], store)
    except BaseException:
        if first is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        store.uploading -= 1
    # Another file may have arrived meanwhile.
    return Upload(folder, [*store.upload(folder.name).names, name] if first else name)


def _file_name(given: str) -> str:
    """The name of an uploaded file, without anything that could lead out of its folder."""
    name = given.replace("\\", "/").rpartition("/")[2].strip()
    name = "".join(c if c.isprintable() and c not in '*?[]<>:"|' else "_" for c in name).lstrip("~.-")
    suffix = ending_of(name)
    stem = name.removesuffix(suffix)
    if not stem:
        raise InvalidInput(f"{given[:60] or 'the file'} cannot be used: its name must have a stem and an extension")
    while len(f"{stem}{suffix}".encode("utf-8", "replace")) > 200:
        stem = stem[:-1]
    return f"{stem}{suffix}".encode("utf-8", "replace").decode()


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


async def _written(request: Request, folder: Path, names: list[str], store: Store) -> None:
    """Write the last of some files while it arrives."""
    path, before = folder / names[-1], _size(folder)
    limit = store.limit - before
    too_large = InvalidInput(
        f"{path.name} is larger than {max(limit, 0) / MEGABYTE:g} MB; start the page with a larger --limit"
    )
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > limit:
        raise too_large
    if path.exists():
        raise InvalidInput(f"there are two files called {path.name}; rename one of them")
    if len(names) > _MOST_FILES:
        raise InvalidInput(f"more than {_MOST_FILES} files cannot be audited together on the page")
    size = 0
    try:
        with path.open("xb") as copy:
            async for part in arriving(request):
                if size == 0 and part:
                    copy.write(part[:1])
                    copy.flush()
                    _check_kind(folder, names)
                    copy.seek(0)
                size += len(part)
                if size > limit:
                    raise too_large
                copy.write(part)
        _check_kind(folder, names)
        # Others may have arrived beside it.
        if _size(folder) - before > limit:
            raise too_large
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _check_kind(folder: Path, names: list[str]) -> None:
    try:
        input_files([folder / name for name in names])
    except EvenhandError as refusal:
        raise InvalidInput(str(refusal).replace(f"{folder}{os.sep}", "")) from None
