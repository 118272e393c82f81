"""Every record of a file format: it is read, refused, offered on the page and listed in the docs by what it says."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hostile
import pytest
from click.testing import CliRunner
from decisions import CELLS, TABLE, cells, refusal
from engines import pl

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


def every_ending() -> Iterator[tuple[Any, str]]:
    for found in FORMATS:
        for ending in found.endings:
            for packed in ("", *PACKINGS) if found.is_packed else ("",):
                yield found, f"{ending}{packed}"


def written(found: Any, ending: str, folder: Path, frame: pl.DataFrame | None = None) -> Path:
    """A file of a format that this test writes with another library."""
    folder.mkdir(exist_ok=True)
    path = folder / f"d{ending}"
    WRITERS[found.key](pl.DataFrame(TABLE) if frame is None else frame, path)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def test_every_ending_is_read_and_every_file_begins_as_its_format_says(tmp_path: Path) -> None:
    """So standard input needs no name; an ending stands for all those of the format."""
    endings = [ending for _, ending in every_ending()]
    assert len(set(endings)) == len(endings), "an ending has one meaning"
    assert [*WRITERS] and {*WRITERS} == {found.key for found in FORMATS}
    assert [found.key for found in FORMATS if not found.magic] == ["csv"]
    for i, (found, ending) in enumerate(every_ending()):
        path = written(found, ending, tmp_path / str(i))
        assert ending_of(path.name) == ending
        packed = Path(ending).suffix if ending.count(".") > 1 else ""
        assert ending_by_content(path.read_bytes()[:16]) == (f".csv{packed}" if packed else found.endings[0])
        assert cells(path) == cells(str(path.rename(path.with_name(f"D{ending.upper()}")))) == CELLS


def test_a_format_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its values, its files together and in folders, standard input, and the library that it needs."""
    frame = pl.DataFrame(TABLE)
    for found in FORMATS:
        assert set(found.endings) & set(hostile.FORMATS), "the fuzzers write every format"
        ending, folder = found.endings[0], tmp_path / found.key
        path = written(found, ending, folder)
        assert first_rows(path, 1)[1] == ([("1", "1", "a")] if found.key == "csv" else [(1, 1, "a")])
        words = ["audit", "-", "--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc", "--json", "-"]
        result = CliRunner().invoke(evenhand, words, input=path.read_bytes())
        assert {row.group: row.n for row in eh.Audit.from_json(result.stdout).rows} == {"a": 2, "b": 3}
        for library in {other.needs for other in FORMATS} - {""}:
            with monkeypatch.context() as context:
                context.setitem(__import__("sys").modules, library, None)
                if library != found.needs:
                    assert cells(path) == CELLS
                else:
                    with pytest.raises(eh.errors.MissingExtra, match=r"^reading .* files needs the extra 'files': pip"):
                        cells(path)
        path.unlink()
        parts = [written(found, ending, folder / name, part) for name, part in
                 (("one", frame.head(2)), ("two", frame.tail(3)))]  # fmt: skip
        assert cells(parts) == CELLS
        if found.in_folders:
            assert cells(folder) == CELLS
        else:
            assert refusal(folder).startswith(f"the folder {folder} contains no ")


def test_another_ending_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    for name in ("d.xlsx", "d.db", "d.feather", "d.parquet.gz", "d.csv.zst"):
        (tmp_path / name).write_bytes(b"x")
        assert refusal(tmp_path / name) == (
            f"{tmp_path}/{name} must be a CSV, TSV, JSON Lines or Parquet file by its extension (.csv, .tsv, .txt, "
            ".jsonl, .ndjson, .parquet or .pq; also .csv.gz)"
        )


def test_the_command_and_the_page_name_every_format() -> None:
    listed = any_of(names_of(FORMATS))
    assert listed == "CSV, TSV, JSON Lines or Parquet"
    help_text = " ".join(CliRunner().invoke(evenhand, ["audit", "--help"]).output.split())
    assert f"FILE is a {listed} file, a folder of Parquet files, a glob, or - for standard input." in help_text
    assert {Path(f"d{ending}").suffix for _, ending in every_ending()} == set(accepted_endings())
