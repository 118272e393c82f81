"""Files that paths, folders and globs stand for, counted by the readers of their formats.

Files are untrusted: only those that were asked for are opened, nothing is fetched from a network, and an error of a
reader becomes one sentence. Columns of several files are matched by name.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, MissingExtra, brief, escaped
from ..progress import watch
from .folders import check_distinct, check_is_no_table, files_below
from .formats import FORMATS, format_of, names_of
from .frames import Counted, Cuts
from .sources import Format, Source, nothing, unreadable
from .streams import is_stream

__all__ = ["columns_again", "count_file", "described_rows", "first_rows", "input_files"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def count_file(path: Paths, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns of one or more files.

    A column with cuts, by its position, is counted by level.
    """
    source = _source(path)
    before = _states(source)
    found = source.format.count(source, columns, cuts)
    described = _described(source)
    _check_unchanged(before, _states(source))
    return found._replace(source=described | found.source)


def first_rows(path: Paths, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    r"""The names of the columns of one or more files, and their first rows.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race,label\nA,1\nB,0\n")
    ...     first_rows(path, most=1)
    (['race', 'label'], [('A', '1')])
    """
    source = _source(path)
    return source.format.first_rows(source, most)


def columns_again(path: Paths) -> dict[str, str]:
    r"""The columns whose name was in the header before, and the first column of that name.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race,label,label\nA,1,1\n")
    ...     columns_again(path)
    {'label.1': 'label'}
    """
    source = _source(path)
    return source.format.again(source)


def described_rows(path: Paths, most: int) -> tuple[list[str], list[tuple[Any, ...]], dict[str, Any]]:
    """The first rows as `first_rows` gives them, and which files they are from, with their size and SHA-256."""
    source = _source(path)
    before = _states(source)
    names, rows = source.format.first_rows(source, most)
    described = _described(source)
    _check_unchanged(before, _states(source))
    return names, rows, described


def input_files(path: Paths) -> list[Path]:
    """The files that a path stands for, or several paths together; what can be read only once is not opened."""
    if isinstance(path, (str, os.PathLike)) and is_stream(path):
        return [Path(path)]
    return _source(path).files


def _described(source: Source) -> dict[str, Any]:
    """The files and their contents, so that someone else can tell whether theirs are the same."""
    size = sum(file.stat().st_size for file in source.files)
    sums = {file: _sha256(file) for file in source.files}
    if len(sums) > 1:
        lines = sorted(f"{_relative(file, source.root)}  {digest}\n" for file, digest in sums.items())
        total = hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
    else:
        (total,) = sums.values()
    name, key = source.name, source.format.key
    skipped = {} if source.skipped is None else {"skipped": source.skipped}
    return {"kind": "file", "name": name, "files": len(sums), **skipped, "size": size, "sha256": total, "format": key}


State = tuple[int, int, int, int]


def _states(source: Source) -> dict[Path, State]:
    """What tells whether a file was replaced or written to."""
    found = {}
    for file in source.files:
        try:
            state = file.stat()
        except OSError as error:
            raise unreadable(file, error.strerror or error) from None
        found[file] = state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
    return found


def _check_unchanged(before: dict[Path, State], after: dict[Path, State]) -> None:
    """Refuse files that changed in between, since the recorded SHA-256 would be that of other rows."""
    for file, state in after.items():
        if before[file] != state:
            raise InvalidInput(
                f"{escaped(file)} changed while it was read; audit it when nobody writes to it, or a copy"
            )


def _sha256(file: Path) -> str:
    try:
        with file.open("rb", buffering=0) as stream:
            size = max(os.fstat(stream.fileno()).st_size, 1)
            with watch(f"hashing {file.name}", lambda: 100 * stream.tell() / size):
                return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(file, error.strerror or error) from None


def _relative(file: Path, root: Path) -> str:
    """The name of a file below a folder on one line, as the command ``sha256sum`` escapes it."""
    return file.absolute().relative_to(root.absolute()).as_posix().replace("\\", "\\\\").replace("\n", "\\n")


def _source(path: Paths) -> Source:
    """The files that a path stands for, or several paths together; all of them are distinct."""
    source = _all_sources(path)
    check_distinct(source.files)
    return source


def _all_sources(path: Paths) -> Source:
    if isinstance(path, (str, os.PathLike)):
        return _one_source(os.fspath(path))
    sources = [_one_source(os.fspath(one)) for one in path]
    if len(sources) == 1:
        return sources[0]
    kind = _common([source.format for source in sources], "`data` must be")
    if not kind.together:
        raise InvalidInput(f"`data` must be one {kind.names[0]} {kind.one}; got {len(sources)}")
    found = [file for source in sources for file in source.files]
    counted = [source.skipped for source in sources if source.skipped is not None]
    root = Path(os.path.commonpath([source.root.absolute() for source in sources]))
    names = [source.name for source in sources]
    name = ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"
    return Source(Path(name), kind, found, root, name, skipped=sum(counted) if counted else None)


def _common(formats: Sequence[Format], must: str) -> Format:
    """The format that all files have."""
    kinds = list({found.key: found for found in formats}.values())
    if len(kinds) > 1:
        listed = " and ".join(kind.names[0] for kind in kinds)
        raise InvalidInput(f"{must} files of one kind; got {listed} files")
    return kinds[0]


def _one_source(text: str) -> Source:
    if not text.strip():
        raise InvalidInput("`data` must be a path to a file; got an empty path")
    if text.startswith(("postgres://", "postgresql://")):
        raise InvalidInput(
            "a PostgreSQL table must be passed as a relation of DuckDB: attach the database with DuckDB's extension "
            "postgres, and pass duckdb.sql('FROM db.schema.name')"
        )
    if "://" in text:
        hidden = re.sub(r"(?<=://)[^/@]*@", "…@", text)
        raise InvalidInput(f"`data` must be a local file; got {brief(hidden)}, which must be downloaded first")
    if "\0" in text:
        raise InvalidInput(f"`data` must be a path to a file; got {brief(text)}")
    try:
        source = _chosen(text) or _found(Path(text).expanduser())
    except RuntimeError as error:
        raise unreadable(text, error) from None
    except OSError as error:
        raise unreadable(text if len(text) <= 200 else f"{text[:200]}…", error.strerror or error) from None
    # Readers that need another library than that of the extra say so themselves.
    if source.format.needs == "duckdb" and find_spec("duckdb") is None:
        readers = " and ".join(found.names[0] for found in FORMATS if found.needs == "duckdb")
        raise MissingExtra.named("files", f"reading {readers} files")
    return source


def _chosen(text: str) -> Source | None:
    """A file of a format that can have several tables, with the one that was chosen."""
    for kind in FORMATS:
        endings = "|".join(map(re.escape, kind.endings))
        choice = rf"(?P<file>.*(?:{endings}))(?:\?{kind.choice}=(?P<table>.*))?\Z"
        if kind.choice and (found := re.match(choice, text, re.DOTALL | re.IGNORECASE)):
            path = Path(found["file"]).expanduser()
            _check_there(path)
            beside = path.with_name(f"{path.name}{kind.beside}")
            files = [path, beside] if kind.beside and beside.is_file() and beside.stat().st_size else [path]
            name = path.name if found["table"] is None else f"{path.name}?{kind.choice}={found['table']}"
            return Source(path, kind, files, path.parent, name, found["table"])
    return None


def _check_there(path: Path) -> None:
    if not path.exists():
        raise InvalidInput(f"there is no file {escaped(path)}{_nearest(path)}")
    if path.stat().st_size == 0:
        raise nothing(path, "is empty")


def _found(path: Path) -> Source:
    name = path.name or str(path)
    if path.is_dir():
        return _folder(path, name)
    if path.exists() or not _is_glob(path):
        _check_there(path)
        return Source(path, format_of(path), [path], path.parent, name)
    files = sorted(Path(found) for found in glob(str(path), recursive=True) if Path(found).is_file())
    if not files:
        raise InvalidInput(f"no file matches {escaped(path)}")
    fixed = next(above for above in path.parents if not _is_glob(above))
    kind = _common([format_of(file) for file in files], f"{escaped(path)} must match")
    if kind.in_folders:
        check_is_no_table(dict.fromkeys(above for file in files for above in file.absolute().parents))
    return Source(path, kind, files, fixed, name)


def _is_glob(path: Path) -> bool:
    return any(sign in str(path) for sign in "*?[")


def _folder(path: Path, name: str) -> Source:
    """All files below a folder, of the format that comes in folders."""
    kind = next(found for found in FORMATS if found.in_folders)
    called = names_of([kind])[0]
    if path.absolute() == Path(path.absolute().anchor):
        raise InvalidInput(f"`data` must be a file or a folder of {called} files; got {escaped(path)}")
    files, skipped = files_below(path, kind)
    if not files:
        raise InvalidInput(
            f"the folder {escaped(path)} contains no {called} files; name files of other kinds one by one"
        )
    return Source(path, kind, files, path, name, skipped=skipped)


def _nearest(path: Path) -> str:
    from difflib import get_close_matches

    try:
        beside = [p.name for p in path.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, beside, n=2)
    return f"; did you mean {escaped(' or '.join(near))}?" if near else ""
