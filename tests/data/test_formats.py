"""Every record of a file format: it is read, refused, offered on the page and listed in the docs by what it says."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import pytest
from click.testing import CliRunner
from decisions import CELLS, TABLE, cells, refusal
from engines import pa, pl

import evenhand as eh
from evenhand.cli import evenhand
from evenhand.data import (
    FORMATS,
    PACKINGS,
    accepted_endings,
    any_of,
    ending_by_content,
    ending_of,
    first_rows,
    names_of,
)

WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: path.write_text(frame.write_csv(separator="\t" if ".tsv" in path.suffixes else ",")),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "jsonl": lambda frame, path: path.write_text(frame.write_ndjson()),
}
FILES = [
    (found.key, f"{ending}{packed}")
    for found in FORMATS
    for ending in found.endings
    for packed in (("", *PACKINGS) if found.is_packed else ("",))
]


def written(key: str, ending: str, folder: Path, frame: pl.DataFrame | None = None) -> Path:
    """A file of a format that this test writes with another library."""
    path = folder / f"d{ending}"
    WRITERS[key](pl.DataFrame(TABLE) if frame is None else frame, path)
    codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if codec:
        content = path.read_bytes()
        with pa.output_stream(str(path), compression=codec) as stream:
            stream.write(content)
    return path


def test_every_format_is_tested() -> None:
    assert set(WRITERS) == {found.key for found in FORMATS}
    assert len({found.key for found in FORMATS}) == len(FORMATS)
    assert all(set(found.endings) & set(hostile.FORMATS) for found in FORMATS), "the fuzzers write every format"
    endings = [ending for _, ending in FILES]
    assert len(set(endings)) == len(endings), "an ending has one meaning"
    assert all(ending == ending.lower() and ending.startswith(".") for ending in endings)
    assert [found.key for found in FORMATS if not found.magic] == ["csv"]


@pytest.mark.parametrize(("key", "ending"), FILES)
def test_every_ending_is_read(key: str, ending: str, tmp_path: Path) -> None:
    path = written(key, ending, tmp_path)
    assert cells(path) == cells(str(path.rename(tmp_path / f"D{ending.upper()}"))) == CELLS
    assert ending_of(path.name) == ending


@pytest.mark.parametrize(("key", "ending"), FILES)
def test_every_file_begins_as_its_format_says(key: str, ending: str, tmp_path: Path) -> None:
    """So standard input needs no name; an ending stands for all those of the format."""
    (found,) = (found for found in FORMATS if found.key == key)
    head = written(key, ending, tmp_path).read_bytes()[:16]
    packed = Path(ending).suffix if ending.count(".") > 1 else ""
    assert ending_by_content(head) == (f".csv{packed}" if packed else found.endings[0])


@pytest.mark.parametrize("key", WRITERS)
def test_standard_input_may_be_of_any_format(key: str, tmp_path: Path) -> None:
    (found,) = (found for found in FORMATS if found.key == key)
    content = written(key, found.endings[0], tmp_path).read_bytes()
    words = ["audit", "-", "--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc", "--json", "-"]
    result = CliRunner().invoke(evenhand, words, input=content)
    assert {row.group: row.n for row in eh.Audit.from_json(result.stdout).rows} == {"a": 2, "b": 3}


@pytest.mark.parametrize("found", FORMATS, ids=lambda found: found.key)
def test_values_are_texts_if_the_format_says_so(found: Any, tmp_path: Path) -> None:
    path = written(found.key, found.endings[0], tmp_path)
    _, rows = first_rows(path, 1)
    assert rows == ([("1", "1", "a")] if found.key == "csv" else [(1, 1, "a")])


@pytest.mark.parametrize("found", FORMATS, ids=lambda found: found.key)
def test_several_files_and_folders_are_one_table_if_the_format_says_so(found: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    parts = []
    for name, part in (("one", frame.head(2)), ("two", frame.tail(3))):
        (tmp_path / name).mkdir()
        parts.append(written(found.key, found.endings[0], tmp_path / name, part))
    assert cells(parts) == CELLS
    if found.in_folders:
        assert cells(tmp_path) == CELLS
    else:
        assert refusal(tmp_path).startswith(f"the folder {tmp_path} contains no ")


@pytest.mark.parametrize("found", FORMATS, ids=lambda found: found.key)
def test_a_format_needs_what_it_says(found: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(found.key, found.endings[0], tmp_path)
    for library in {other.needs for other in FORMATS} - {""}:
        with monkeypatch.context() as context:
            context.setitem(__import__("sys").modules, library, None)
            if library != found.needs:
                assert cells(path) == CELLS
            else:
                with pytest.raises((eh.errors.MissingExtra, eh.errors.InvalidInput), match=r"^reading .* needs "):
                    cells(path)


@pytest.mark.parametrize(
    ("ending", "reader"),
    [
        (".db", "pandas.read_sql"),
        (".SQLITE", "pandas.read_sql"),
        (".feather", "polars.read_ipc"),
        (".arrow", "polars.read_ipc"),
    ],
)
def test_files_of_other_libraries_are_read_into_a_dataframe_first(ending: str, reader: str, tmp_path: Path) -> None:
    path = tmp_path / f"d{ending}"
    path.write_bytes(b"x")
    assert refusal(path) == (
        f"{path} must be read into a dataframe, such as by {reader}, and the dataframe passed as data, or saved as "
        "Parquet"
    )


def test_another_ending_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "d.xlsx").write_text("x")
    assert refusal(tmp_path / "d.xlsx") == (
        f"{tmp_path}/d.xlsx must be a CSV, TSV, JSON Lines or Parquet file by its extension (.csv, .tsv, .txt, "
        ".jsonl, .ndjson, .parquet or .pq; also .csv.gz or .csv.zst)"
    )
    (tmp_path / "d.parquet.gz").write_bytes(gzip.compress(b"x"))
    assert refusal(tmp_path / "d.parquet.gz").startswith(f"{tmp_path}/d.parquet.gz must be a CSV, TSV, ")


def test_the_command_and_the_page_name_every_format() -> None:
    listed = any_of(names_of(FORMATS))
    assert listed == "CSV, TSV, JSON Lines or Parquet"
    help_text = " ".join(CliRunner().invoke(evenhand, ["audit", "--help"]).output.split())
    assert f"FILE is a {listed} file, a folder of Parquet files, a glob, or - for standard input." in help_text
    assert {Path(f"d{ending}").suffix for _, ending in FILES} == set(accepted_endings())
