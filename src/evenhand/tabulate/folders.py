"""Folders of files of one format, read as pyarrow and Spark read them.

Names that begin with ``_`` or ``.`` are not data: they are what a writer has not finished, has removed, or keeps for
itself. A folder such as ``_year=2020`` is data, since it names a partition. Links are followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidInput, escaped
from .sources import Format, unreadable

__all__ = ["check_distinct", "check_is_no_table", "files_below"]


class _TableFormat(NamedTuple):
    """A format of tables whose own list says which files belong to it, and how it is passed as a frame."""

    name: str
    passed: str


class Below(NamedTuple):
    """The files of a format below a folder, and how many others are there."""

    files: list[Path]
    skipped: int


def files_below(folder: Path, kind: Format) -> Below:
    """The files of a format in a folder and below it; a folder that cannot be opened is an error, not empty."""
    check_is_no_table([folder.absolute(), *folder.absolute().parents])
    found: list[Path] = []
    skipped = 0
    seen: dict[tuple[int, int], str] = {}
    for here, folders, names in os.walk(folder, onerror=_refuse, followlinks=True):
        check_is_no_table([Path(here)])
        identity = _identity(Path(here))
        if identity in seen:
            raise InvalidInput(
                f"the folder {escaped(folder)} must contain every file once; {escaped(here)} and "
                f"{escaped(seen[identity])} are the same folder, so remove the link"
            )
        seen[identity] = here
        hidden = [name for name in folders if _is_hidden(name)]
        skipped += sum(len(inside) for name in hidden for *_, inside in os.walk(Path(here, name)))
        folders[:] = sorted(set(folders) - set(hidden))
        own = [Path(here, name) for name in names if not _is_hidden(name) and _is_of(Path(here, name), kind)]
        found += own
        skipped += len(names) - len(own)
    return Below(sorted(found), skipped)


def check_distinct(files: Iterable[Path]) -> None:
    """Refuse a file that is there twice, also by a link; its rows would be counted twice."""
    seen: dict[tuple[int, int], Path] = {}
    for file in files:
        first = seen.setdefault(_identity(file), file)
        if first is not file:
            both = f"{escaped(first)} twice" if first == file else f"{escaped(first)} and {escaped(file)}, a link to it"
            raise InvalidInput(f"`data` must be distinct files; got {both}")


def check_is_no_table(folders: Iterable[Path]) -> None:
    """Refuse tables in which files that were removed or replaced still lie among the others."""
    for folder in folders:
        found = _table_format(folder)
        if found is not None:
            raise InvalidInput(
                f"{escaped(folder)} is {found.name}, whose folder may contain files that are no longer part of the "
                f"table; pass it as a frame, such as {found.passed.format(repr(str(folder)))}"
            )


def _table_format(folder: Path) -> _TableFormat | None:
    if (folder / "_delta_log").is_dir():
        return _TableFormat("a Delta table", "polars.scan_delta({})")
    if next((folder / "metadata").glob("*.metadata.json"), None) is not None:
        return _TableFormat("an Iceberg table", "polars.scan_iceberg({})")
    if (folder / ".hoodie").is_dir():
        return _TableFormat("a Hudi table", "spark.read.format('hudi').load({})")
    return None


def _refuse(error: OSError) -> None:
    raise unreadable(error.filename, error.strerror)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_of(file: Path, kind: Format) -> bool:
    """Whether a file has the format by its ending in any case or, if it has none, by its first bytes."""
    if file.suffix:
        return file.name.lower().endswith(kind.endings)
    if not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(len(kind.magic)) == kind.magic
    except OSError as error:
        raise unreadable(file, error.strerror or error) from None


def _identity(path: Path) -> tuple[int, int]:
    """What a file or folder is, whatever it is called."""
    try:
        found = path.stat()
    except OSError as error:
        raise unreadable(path, error.strerror or error) from None
    return found.st_dev, found.st_ino
