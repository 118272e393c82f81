"""Files that arrive, under their own names; refused as soon as they are too large or of a wrong kind."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from starlette.requests import Request

from ..data import ending_of, input_files
from ..errors import EvenhandError, InvalidInput
from .guard import read_body
from .store import MEGABYTE, Store, Upload

MOST_AT_ONCE, MOST_FILES, LONGEST_NAME = 4, 100, 200


async def receive_file(request: Request, store: Store) -> Upload:
    """Keep a file, alone or beside others that were sent before."""
    name = choose_name(request.query_params.get("name", ""))
    beside = request.query_params.get("beside")
    if store.uploading >= MOST_AT_ONCE:
        raise InvalidInput("too many files are being sent at once; wait for them")
    upload = store.upload(beside) if beside else Upload(store.new_folder(), [])
    if upload.counts:
        raise InvalidInput(f"{name} cannot be audited together with a table of counts")
    store.uploading += 1
    try:
        await write_file(request, upload, name, store.limit)
    except BaseException:
        if not beside:
            shutil.rmtree(upload.folder, ignore_errors=True)
        raise
    finally:
        store.uploading -= 1
    upload.names.append(name)
    store.keep(upload)
    return upload


def choose_name(given: str) -> str:
    """The name of an uploaded file, without anything that could lead out of its folder."""
    name = given.replace("\\", "/").rpartition("/")[2].strip()
    safe = (c if c.isprintable() and c not in '*?[]<>:"|' else "_" for c in name)
    name = "".join(safe).lstrip("~.-").encode("utf-8", "replace").decode()
    ending = ending_of(name)
    stem = name.removesuffix(ending).encode()[: LONGEST_NAME - len(ending)].decode(errors="ignore")
    if not stem:
        must = "its name must have a stem and an extension"
        raise InvalidInput(f"{given[:60] or 'the file'} cannot be used: {must}")
    return stem + ending


async def write_file(request: Request, upload: Upload, name: str, limit: int) -> None:
    """Write a file while it arrives."""
    path, room = upload.folder / name, limit - folder_size(upload.folder)
    hint = "choose a smaller file, or start the web app with a higher limit"
    too_large = InvalidInput(f"{name} is larger than {max(room, 0) / MEGABYTE:g} MB; {hint}")
    if (declared := request.headers.get("content-length", "")).isdecimal() and int(declared) > room:
        raise too_large
    if path.exists():
        raise InvalidInput(f"there are two files called {name}; rename one of them")
    if len(upload.names) >= MOST_FILES:
        raise InvalidInput(f"at most {MOST_FILES} files can be audited together")
    try:
        # Its name says of which kind a file is.
        path.write_bytes(b"0")
        check_kind(upload, name)
        with path.open("wb") as file:
            async for part in read_body(request):
                room -= len(part)
                if room < 0:
                    raise too_large
                file.write(part)
        check_kind(upload, name)
        # Others may have arrived meanwhile.
        if folder_size(upload.folder) > limit:
            raise too_large
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def folder_size(folder: Path) -> int:
    """The size of the files in a folder."""
    return sum(file.stat().st_size for file in folder.iterdir())


def check_kind(upload: Upload, name: str) -> None:
    """Refuse a file of a kind that cannot be audited, alone or together with the others."""
    try:
        input_files([upload.folder / one for one in (*upload.names, name)])
    except EvenhandError as error:
        raise InvalidInput(str(error).replace(f"{upload.folder}{os.sep}", "")) from None
