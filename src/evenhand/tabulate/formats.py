"""The file formats that can be audited. A new one is a reader and one record here; all rooms and the docs read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import InvalidInput, escaped
from .arrow_files import ARROW_MAGIC, count_arrow, first_arrow_rows
from .databases import count_database, first_database_rows
from .delimited import GZIP, ZSTD, count_text, first_text_rows, text_columns_again
from .parquet import count_parquet, first_parquet_rows
from .sources import Format

__all__ = ["FORMATS", "accepted_endings", "any_of", "ending_by_content", "ending_of", "format_of", "names_of"]

TEXT = Format(
    key="csv",
    names=("CSV", "TSV"),
    endings=(".csv", ".tsv", ".txt"),
    packings=(GZIP, ZSTD),
    is_text=True,
    needs="duckdb",
    count=count_text,
    first_rows=first_text_rows,
    again=text_columns_again,
)
PARQUET = Format(
    key="parquet",
    names=("Parquet",),
    endings=(".parquet", ".pq"),
    magic=b"PAR1",
    in_folders=True,
    needs="duckdb",
    count=count_parquet,
    first_rows=first_parquet_rows,
)
ARROW = Format(
    key="arrow",
    names=("Arrow",),
    endings=(".feather", ".arrow"),
    magic=ARROW_MAGIC,
    needs="pyarrow",
    count=count_arrow,
    first_rows=first_arrow_rows,
)
SQLITE = Format(
    key="sqlite",
    names=("SQLite",),
    endings=(".db", ".sqlite", ".sqlite3"),
    magic=b"SQLite format 3\0",
    one="database",
    together=False,
    choice="table",
    beside="-wal",
    count=count_database,
    first_rows=first_database_rows,
)

FORMATS = (TEXT, PARQUET, ARROW, SQLITE)


def ending_of(name: str) -> str:
    """What the name of a file ends in, together with that of its compression.

    >>> ending_of("decisions.2026.csv.gz"), ending_of("a.b.PARQUET"), ending_of("README")
    ('.csv.gz', '.PARQUET', '')
    """
    packings = {packing.ending for found in FORMATS for packing in found.packings}
    suffixes = Path(name).suffixes
    return "".join(suffixes[-2:] if suffixes and suffixes[-1].lower() in packings else suffixes[-1:])


def format_of(path: Path) -> Format:
    """The format of a file by its ending."""
    ending = ending_of(path.name).lower()
    for found in FORMATS:
        if ending in _endings(found):
            return found
    usual = any_of([ending for found in FORMATS for ending in found.endings])
    packed = any_of([f"{f.endings[0]}{packing.ending}" for f in FORMATS for packing in f.packings])
    raise InvalidInput(
        f"{escaped(path)} must be a {any_of(names_of(FORMATS))} file by its extension ({usual}; also {packed})"
    )


def ending_by_content(head: bytes) -> str:
    """The usual ending of a file by its first bytes; text, if they are those of no other format."""
    text = next(found for found in FORMATS if found.is_text)
    for found in FORMATS:
        if found.magic and head.startswith(found.magic):
            return found.endings[0]
    packed = next((packing.ending for packing in text.packings if head.startswith(packing.magic)), "")
    return f"{text.endings[0]}{packed}"


def accepted_endings() -> list[str]:
    """The last parts of all endings, as a form in a browser takes them."""
    packings = [packing.ending for found in FORMATS for packing in found.packings]
    return list(dict.fromkeys([*(ending for found in FORMATS for ending in found.endings), *packings]))


def names_of(formats: Iterable[Format]) -> list[str]:
    """What people call these formats."""
    return [name for found in formats for name in found.names]


def any_of(words: Sequence[str]) -> str:
    """The words as a choice.

    >>> any_of(["CSV", "TSV", "Parquet"]), any_of(["CSV"])
    ('CSV, TSV or Parquet', 'CSV')
    """
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _endings(found: Format) -> set[str]:
    return {f"{ending}{packed}" for ending in found.endings for packed in ("", *(p.ending for p in found.packings))}
