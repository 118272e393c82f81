"""The files that a path, a folder, a glob, a list of paths or standard input stands for.

Files are read once they are known to be distinct; they must not change meanwhile, and their SHA-256
is recorded. Folders are read as pyarrow and Spark read them: names that begin with ``_`` or ``.``
are not data, but what a writer has not finished, has removed, or keeps for itself. A folder such as
``_year=2020`` is data, since it names a column. Links are followed.

What can be read only once, such as standard input, pipes and files of /proc, is copied to a folder
that only its owner can read, and that is removed at the end. Messages name what was given.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, TypeGuard, TypeVar

from ..errors import EvenhandError, InvalidInput, brief, escaped
from ..progress import watch
from ..temporary import folder_of_its_own
from . import readers
from .frames import Counted, Cuts
from .readers import FORMATS, PACKINGS, FirstRows, Format, Source, nothing, refusals, unreadable

PathName = str | os.PathLike[str]
Paths = PathName | Sequence[PathName]
Result = TypeVar("Result")
Seen = dict[tuple[int, ...], Path]

# Delta, Iceberg and Hudi tables have a list of their own that says which files belong to them.
_LISTED_TABLES = ("_delta_log", "metadata/*.metadata.json", ".hoodie")
# The first bytes, which tell the format.
_HEAD = 16
_GZIP = b"\x1f\x8b"
(_PARQUET,) = (one for one in FORMATS if one.in_folders)


def count_file(path: Paths, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns of one or more files.

    A column with cuts, by its position, is counted by level.
    """
    counted, described = _read(path, lambda source: readers.count_rows(source, columns, cuts))
    return counted._replace(source=described | counted.source)


def first_rows(path: Paths, most: int) -> FirstRows:
    r"""The names of the columns of one or more files, and their first rows.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text("race,label\nA,1\nB,0\n")
    ...     first_rows(path, most=1)
    (['race', 'label'], [('A', '1')])
    """
    return readers.first_rows(_find_source(path), most)


def described_rows(path: Paths, most: int) -> tuple[FirstRows, dict[str, Any]]:
    """The first rows as `first_rows` gives them, and which files they are from, with their size and SHA-256."""
    return _read(path, lambda source: readers.first_rows(source, most))


def input_files(path: Paths) -> list[Path]:
    """The files that a path stands for, or several paths together; what can be read only once is not opened."""
    return [Path(path)] if _is_stream(path) else _find_source(path).files


def _read(path: Paths, reader: Callable[[Source], Result]) -> tuple[Result, dict[str, Any]]:
    """What is read, and the files and their contents, so that someone else can tell whether theirs are the same."""
    source = _find_source(path)
    states = [_state(file) for file in source.files]
    result = reader(source)
    digests = [_sha256(file) for file in source.files]
    for file, state in zip(source.files, states, strict=True):
        # The SHA-256 would be that of other rows.
        if _state(file) != state:
            raise InvalidInput(f"{escaped(file)} changed while it was read; audit a copy of it")
    total = digests[0]
    if len(digests) > 1:
        names = [_relative(file, source.root) for file in source.files]
        lines = sorted(f"{name}  {digest}\n" for name, digest in zip(names, digests, strict=True))
        total = hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
    described = {"kind": "file", "name": _name_of(source), "files": len(digests)}
    if source.skipped is not None:
        described["skipped"] = source.skipped
    size = sum(size for *_, size, _ in states)
    return result, described | {"size": size, "sha256": total, "format": source.format.key}


def _state(path: Path) -> tuple[int, int, int, int]:
    """What tells which file or folder this is (device and inode), and whether it was written to."""
    with refusals(path):
        status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _sha256(file: Path) -> str:
    with refusals(file), file.open("rb", buffering=0) as stream:
        size = max(os.fstat(stream.fileno()).st_size, 1)
        with watch(f"hashing {file.name}", lambda: 100 * stream.tell() / size):
            return hashlib.file_digest(stream, "sha256").hexdigest()


def _relative(file: Path, root: Path) -> str:
    """The name of a file below a folder on one line, as the command ``sha256sum`` escapes it."""
    name = file.absolute().relative_to(root.absolute()).as_posix()
    return name.replace("\\", "\\\\").replace("\n", "\\n")


# Which files


def _find_source(path: Paths) -> Source:
    """The files that a path stands for, or several paths together; all of them are distinct."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    sources = [_find_one(os.fspath(one)) for one in paths]
    source = sources[0]
    if len(sources) > 1:
        names = list(map(_name_of, sources))
        name = ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"
        skipped = [one.skipped for one in sources if one.skipped is not None]
        source = Source(
            Path(name),
            source.format,
            [file for one in sources for file in one.files],
            Path(os.path.commonpath([one.root.absolute() for one in sources])),
            sum(skipped) if skipped else None,
        )
    kinds = list(dict.fromkeys(_format_of(file).names[0] for file in source.files))
    if len(kinds) > 1:
        got = f"{kinds[0]} and {kinds[1]} files"
        raise InvalidInput(f"`data` must be files of one kind; got {got}")
    seen: Seen = {}
    for file in source.files:
        _check_distinct(file, seen)
    return source


def _check_distinct(path: Path, seen: Seen) -> None:
    first = seen.setdefault(_state(path)[:2], path)
    if first is not path:
        link = f"and {escaped(path)}, a link to it" if first != path else "twice"
        raise InvalidInput(f"`data` must be distinct files; got {escaped(first)} {link}")


def _name_of(source: Source) -> str:
    return source.path.name or str(source.path)


def _find_one(text: str) -> Source:
    if "://" in text:
        shown = brief(re.sub(r"(?<=://)[^/@]*@", "…@", text))
        must = f"be a local file; got {shown}, which must be downloaded first"
        raise InvalidInput(f"`data` must {must}")
    if not text.strip() or "\0" in text:
        shown = brief(text) if text.strip() else "an empty path"
        raise InvalidInput(f"`data` must be a path to a file; got {shown}")
    with refusals(text if len(text) <= 200 else f"{text[:200]}…"):
        return _find_local(Path(os.path.expanduser(text)))


def _find_local(path: Path) -> Source:
    if path.is_dir():
        return _find_in_folder(path)
    if path.exists():
        if path.stat().st_size == 0:
            raise nothing(path, "is empty")
        return Source(path, _format_of(path), [path], path.parent)
    if not has_magic(str(path)):
        beside = os.listdir(path.parent) if path.parent.is_dir() else []
        similar = escaped(" or ".join(get_close_matches(path.name, beside, n=2)))
        hint = f"; did you mean {similar}?" if similar else ""
        raise InvalidInput(f"there is no file {escaped(path)}{hint}")
    files = sorted(Path(file) for file in glob(str(path), recursive=True) if Path(file).is_file())
    if not files:
        raise InvalidInput(f"no file matches {escaped(path)}")
    file_format = _format_of(files[0])
    if file_format is _PARQUET:
        _check_no_table(files)
    root = next(above for above in path.parents if not has_magic(str(above)))
    return Source(path, file_format, files, root)


def _find_in_folder(path: Path) -> Source:
    """The Parquet files in a folder and below it; a folder that cannot be opened is an error, not empty."""
    if path.absolute() == Path(path.absolute().anchor):
        raise InvalidInput(f"`data` must be a file or a folder of files; got {escaped(path)}")
    files: list[Path] = []
    skipped = 0
    seen: Seen = {}
    for below, folders, names in os.walk(path, onerror=_refuse, followlinks=True):
        _check_distinct(Path(below), seen)
        hidden = set(filter(_is_hidden, folders))
        skipped += sum(len(inside) for one in hidden for *_, inside in os.walk(Path(below, one)))
        folders[:] = sorted(set(folders) - hidden)
        visible = [Path(below, name) for name in names if not _is_hidden(name)]
        data = [file for file in visible if _is_parquet(file)]
        files += data
        skipped += len(names) - len(data)
    if not files:
        must = "must contain Parquet files; name files of other kinds one by one"
        raise InvalidInput(f"the folder {escaped(path)} {must}")
    _check_no_table(files)
    return Source(path, _PARQUET, sorted(files), path, skipped)


def _refuse(error: OSError) -> None:
    raise unreadable(error.filename, error.strerror)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _check_no_table(files: Iterable[Path]) -> None:
    """Refuse tables in which files that were removed or replaced still lie among the others."""
    for folder in sorted({above for file in files for above in file.absolute().parents}):
        if any(any(folder.glob(listed)) for listed in _LISTED_TABLES):
            raise InvalidInput(
                f"{escaped(folder)} is a Delta, Iceberg or Hudi table, which may contain removed files; "
                f"pass it as a frame, such as polars.scan_delta({str(folder)!r})"
            )


# Formats


def ending_of(name: str) -> str:
    """What the name of a file ends in, together with that of its compression.

    >>> ending_of("decisions.2026.csv.gz"), ending_of("a.b.PARQUET"), ending_of("README")
    ('.csv.gz', '.PARQUET', '')
    """
    suffixes = Path(name).suffixes
    is_packed = bool(suffixes) and suffixes[-1].lower() in PACKINGS
    return "".join(suffixes[-2 if is_packed else -1 :])


def _format_of_name(name: str) -> Format | None:
    ending = ending_of(name).lower()
    for one in FORMATS:
        if (ending.removesuffix(".gz") if one.is_packed else ending) in one.endings:
            return one
    return None


def _is_parquet(file: Path) -> bool:
    """Whether a file is Parquet by its ending or, if it has none, by its first bytes."""
    if file.suffix or not file.is_file():
        return file.name.lower().endswith(_PARQUET.endings)
    with file.open("rb") as stream:
        return stream.read(_HEAD).startswith(_PARQUET.magic)


def _format_of(path: Path) -> Format:
    file_format = _PARQUET if _is_parquet(path) else _format_of_name(path.name)
    if file_format is None:
        endings = any_of([ending for one in FORMATS for ending in one.endings])
        raise InvalidInput(
            f"{escaped(path)} must be a {any_of(names_of(FORMATS))} file by its extension "
            f"({endings}; also .csv.gz)"
        )
    return file_format


def ending_by_content(head: bytes) -> str:
    """The usual ending of a file by its first bytes; CSV, if they are those of no other format."""
    known = {one.magic: one.endings[0] for one in FORMATS if one.magic} | {_GZIP: ".csv.gz"}
    return next((known[magic] for magic in known if head.startswith(magic)), ".csv")


def accepted_endings() -> list[str]:
    """The last parts of all endings, as a form in a browser takes them."""
    return [*(ending for file_format in FORMATS for ending in file_format.endings), *PACKINGS]


def names_of(formats: Iterable[Format]) -> list[str]:
    """What people call these formats."""
    return [name for file_format in formats for name in file_format.names]


def any_of(words: Sequence[str]) -> str:
    """The words as a choice.

    >>> any_of(["CSV", "TSV", "Parquet"]), any_of(["CSV"])
    ('CSV, TSV or Parquet', 'CSV')
    """
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


# Streams


@contextmanager
def spool(data: Any) -> Iterator[Any]:
    """The data, with paths of what can be read only once replaced by those of copies."""
    with ExitStack() as stack:

        def replace(path: Any) -> Any:
            if not _is_stream(path):
                return path
            with refusals(path):
                stream = stack.enter_context(Path(path).expanduser().open("rb"))
            return stack.enter_context(spool_stream(stream, str(path), Path(path).name))

        is_list = isinstance(data, (list, tuple)) and any(map(_is_stream, data))
        yield list(map(replace, data)) if is_list else replace(data)


@contextmanager
def spool_stream(stream: IO[bytes], called: str, name: str) -> Iterator[str]:
    """The path of a copy of a stream; messages call it ``called``, and the copy has the ending of ``name``, if any."""
    with folder_of_its_own("evenhand-input-") as folder:
        head = stream.read(_HEAD)
        if not head:
            raise nothing(called, "is empty")
        copy = folder / (name if _format_of_name(name) else f"{name}{ending_by_content(head)}")
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(head)
            copyfileobj(stream, file)
        try:
            yield str(copy)
        except EvenhandError as error:
            # Readers, and the libraries whose messages they pass on, know the copy only.
            message = str(error.args[0]).replace(escaped(copy), escaped(called))
            error.args = (message, *error.args[1:])
            raise


def _is_stream(given: object) -> TypeGuard[PathName]:
    """Whether a path is that of a pipe or device, or of a file that does not know its size, as those in /proc."""
    if not isinstance(given, (str, os.PathLike)):
        return False
    try:
        status = Path(given).expanduser().stat()
    except (OSError, ValueError, RuntimeError):
        return False
    if stat.S_ISREG(status.st_mode):
        return status.st_size == 0
    return not stat.S_ISDIR(status.st_mode)
