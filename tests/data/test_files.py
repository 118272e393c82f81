"""What paths stand for, how each is recorded so that others can check theirs, and what formats say of themselves."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import time
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import duckdb
import hostile
import pandas as pd
import pytest
from click.testing import CliRunner
from decisions import CELLS, TABLE, cells, refusal, write_csv, write_parquet
from engines import pl

import evenhand as eh
from evenhand import data, progress
from evenhand.cli import evenhand
from evenhand.data import FORMATS, PACKINGS, files, first_rows, frames, readers

WRITERS = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}


def part(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(TABLE, path)
    return path


def times(n: int) -> dict[Any, Any]:
    return {group: tuple(n * cell for cell in cm) for group, cm in CELLS.items()}


def test_the_source_of_a_file_is_its_name_size_and_digest(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("g;y\na;1\nb;0\n")
    write_parquet({"g": ["a"]}, tmp_path / "d.parquet")
    for name, more in (("d.csv", {"separator": ";"}), ("d.parquet", {})):
        content = (tmp_path / name).read_bytes()
        known = {"kind": "file", "name": name, "files": 1, "size": len(content), "format": name[2:]}
        digest = {"sha256": hashlib.sha256(content).hexdigest()}
        assert files.count_file(tmp_path / name, ["g"], {}).source == known | digest | more


def test_the_digest_of_several_files_is_that_of_their_names_and_digests(tmp_path: Path) -> None:
    """Moving the folder does not change it; renaming a file or changing one does."""
    contents = {"b.csv": b"g,y\na,1\n", "a.csv": b"g\ty\nb,\t1\n", "x\ny.csv": b"g,y\nc,1\n"}

    def digest(folder: Path, names: dict[str, bytes]) -> dict[str, Any]:
        folder.mkdir()
        for name, content in names.items():
            (folder / name).write_bytes(content)
        return files.count_file(str(folder / "*.csv"), ["g"], {}).source

    found = digest(tmp_path / "one", contents)
    digests = {name.replace("\n", "\\n"): hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    lines = sorted(f"{name}  {digest}\n" for name, digest in digests.items())
    assert found["sha256"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert (found["name"], found["files"], found["separator"]) == ("*.csv", 3, "\t,")
    assert digest(tmp_path / "two", contents) == found
    renamed = {name.replace("b", "c"): content for name, content in contents.items()}
    assert digest(tmp_path / "three", renamed)["sha256"] != found["sha256"]
    assert digest(tmp_path / "four", contents | {"b.csv": b"g,y\na,2\n"})["sha256"] != found["sha256"]


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded SHA-256 would be that of other rows than were counted."""
    path, other = tmp_path / "d.csv", tmp_path / "other"

    def rewrite() -> None:
        path.write_text("g,y,p\n" + "a,0,1\nb,0,1\n" * 20)
        os.utime(path, ns=(1, 1))

    def replace() -> None:
        other.write_bytes(path.read_bytes())
        other.replace(path)

    counted = readers.count_frame
    for change in (lambda: path.write_text("g,y,p\n" + "a,1,1\n" * 500), rewrite, replace):
        path.write_text("g,y,p\n" + "a,1,1\nb,0,1\n" * 20)
        monkeypatch.setattr(readers, "count_frame", lambda *given, change=change: (counted(*given), change())[0])
        assert refusal(path) == f"{path} changed while it was read; audit a copy of it"


def test_several_files_are_one_table(tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    for kind, write in WRITERS.items():
        for folder, rows in (("one", frame.head(2)), ("two", frame.tail(3))):
            (tmp_path / folder).mkdir(exist_ok=True)
            getattr(rows, write)(tmp_path / folder / f"d.{kind}")
        both: list[str | Path] = [tmp_path / "one" / f"d.{kind}", str(tmp_path / "two" / f"d.{kind}")]
        assert cells(both) == cells(tuple(both[::-1])) == cells([f"{tmp_path}/*/d.{kind}"]) == CELLS
        source = files.count_file(both, ["g"], {}).source
        assert source == files.count_file(f"{tmp_path}/*/d.{kind}", ["g"], {}).source | {"name": f"d.{kind}, d.{kind}"}
        assert files.input_files(both) == [Path(path) for path in both]
        first = ("1", "1", "a") if kind == "csv" else (1, 1, "a")
        assert first_rows(both, 1) == (["y", "p", "g"], [first])
        assert refusal([both[0], both[0]]) == f"data must be distinct files; got {both[0]} twice"
    mixed = [tmp_path / "one" / "d.csv", tmp_path / "two" / "d.parquet"]
    assert refusal(mixed) == "data must be files of one kind; got CSV and Parquet files"
    assert refusal(f"{tmp_path}/one/*") == "data must be files of one kind; got CSV and JSON Lines files"
    assert refusal([tmp_path / "one" / "d.csv", tmp_path / "none.csv"]) == f"there is no file {tmp_path}/none.csv"


def test_a_path_is_a_file_a_glob_or_starts_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    write_csv(TABLE, tmp_path / "data.csv")
    for given in (tmp_path / "data.csv", str(tmp_path / "data.csv"), str(tmp_path / "*.csv"), "~/data.csv"):
        assert cells(given) == CELLS
    for name in ("1.pq", "2.pq", "x.pq"):
        part(tmp_path / "year" / "month" / name)
    assert cells(f"{tmp_path}/year/month/[12].pq") == times(2)
    assert cells(f"{tmp_path}/**/x.pq") == CELLS
    for name, n in (("d[1]", 3), ("d1", 1)):
        (tmp_path / name).mkdir()
        repeated = {column: values * n for column, values in TABLE.items()}
        write_parquet(repeated, tmp_path / name / "a.parquet")
        write_csv(repeated, tmp_path / f"{name}.csv")
    for given in (tmp_path / "d[1]", tmp_path / "d[1].csv", str(tmp_path / "d[1]" / "a.parquet")):
        assert cells(given) == times(3), "names with brackets are names"
    assert cells(str(tmp_path / "d?/*.parquet")) == CELLS


LOCAL = "data must be a local file; got '{}', which must be downloaded first"
REFUSED = [
    ("dta.csv", "there is no file {}/dta.csv; did you mean data.csv?"),
    ("none.parquet", "there is no file {}/none.parquet"),
    ("x/none.parquet", "there is no file {}/x/none.parquet"),
    ("*.parquet", "no file matches {}/*.parquet"),
    ("", "the folder {} must contain Parquet files; name files of other kinds one by one"),
    ("nothing.txt", "{}/nothing.txt is empty; there is nothing to audit"),
    ("`data`.csv", "there is no file {}/`data`.csv; did you mean data.csv?"),
]


def test_a_path_without_files_is_explained(tmp_path: Path) -> None:
    write_csv(TABLE, tmp_path / "data.csv")
    (tmp_path / "nothing.txt").touch()
    for given, sentence in REFUSED:
        assert refusal(tmp_path / given) == sentence.format(tmp_path)
    assert refusal("https://example.org/x.csv") == LOCAL.format("https://example.org/x.csv")
    assert refusal("postgresql://me:secret@host/db") == LOCAL.format("postgresql://…@host/db")
    assert refusal([""]) == "data must be a path to a file; got an empty path"
    assert refusal("/") == "data must be a file or a folder of files; got /"
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS db")
        connection.execute("CREATE SCHEMA db.s")
        connection.register("held", pd.DataFrame(TABLE))
        connection.execute("CREATE TABLE db.s.people AS FROM held")
        assert cells(connection.sql("FROM db.s.people")) == CELLS


def test_a_column_may_have_any_name(tmp_path: Path) -> None:
    for name in ("*", "COLUMNS(*)", '"', "y.p", "evenhand_0", "c0", "'", "g g", "größe; 名", "select"):
        table = {"y": [1, 0], "p": [1, 1], name: ["A", "B"], **{f"x{i}": ["x", "x"] for i in range(500)}}
        for kind, write in (("csv", write_csv), ("parquet", write_parquet)):
            path = tmp_path / f"d.{kind}"
            write(table, path)
            expected = {("A",): (1, 0, 0, 0), ("B",): (0, 0, 1, 0)}
            assert cells(path, groups=name) == expected
            write({"y": [1, 0], name: [0.9, 0.1], "g": ["A", "B"]}, path)
            assert cells(path, y_pred=None, y_score=name) == {("A",): (1, 0, 0, 0), ("B",): (0, 0, 0, 1)}
        assert cells(duckdb.from_df(pd.DataFrame(table)), groups=name) == expected


def test_a_long_count_and_a_long_hash_show_their_progress(tmp_path: Path, terminal: io.StringIO) -> None:
    def slow_count(*given: Any) -> Any:
        time.sleep(0.05)
        return count_frame(*given)

    def slow_digest(stream: Any, name: str) -> Any:
        stream.read(1)
        time.sleep(0.05)
        return digest(stream, name)

    count_frame, digest = frames.count_frame, hashlib.file_digest
    (tmp_path / "d.csv").write_text("g,y\na,1\n")
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(terminal):
        patch.setattr(progress, "_SILENT_SECONDS", -1.0)
        patch.setattr(progress, "_POLL_SECONDS", 0.002)
        patch.setattr(readers, "count_frame", slow_count)
        patch.setattr(hashlib, "file_digest", slow_digest)
        files.count_file(tmp_path / "d.csv", ["g"], {})
    shown = terminal.getvalue()
    assert shown.startswith("\rcounting d.csv") and "12 of 100" in shown and shown.endswith(" \r")


NOT_DATA = ["_temporary/0/task/b.parquet", ".ipynb_checkpoints/a-checkpoint.parquet", ".b.parquet", "_b.parquet",
            "part=x/_b.parquet", "_metadata", "notes.csv"]  # fmt: skip
DATA = ["b.pq", "b.PARQUET", "b.Pq", "part-00000", "_part=x/b.parquet", "x/y/b.parquet"]


def test_what_is_data_in_a_folder(tmp_path: Path) -> None:
    """Every accepted ending, and parts without one, unless a name begins with an underscore or a dot."""
    for i, name in enumerate([*NOT_DATA, *DATA]):
        folder = tmp_path / str(i)
        part(folder / (f"{name.partition('/')[0]}/a.parquet" if "=" in name else "a.parquet"))
        part(folder / name)
        (folder / "README").write_text("not a part")
        source = files.count_file(folder, ["g"], {}).source
        n = 1 + (name in DATA)
        assert (cells(folder), source["files"], source["skipped"]) == (times(n), n, 3 - n), name
    a = eh.audit(tmp_path / "0", y_true="y", y_pred="p", groups="g", metrics="acc")
    assert [str(f) for f in a.findings if f.kind == "skipped-files"] == [
        "note EH307: 1 file in the folder was read, and 2 skipped, whose names begin with _ or . or are not those of "
        "Parquet files"
    ]
    assert "1 file, 5 rows, 2 other files skipped" in a.to_html()


def test_links_are_followed_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    table = tmp_path / "table"
    part(table / "a.parquet")
    part(tmp_path / "elsewhere" / "b.parquet")
    (table / "linked").symlink_to(tmp_path / "elsewhere")
    (table / "c.parquet").symlink_to(part(tmp_path / "c.parquet"))
    assert cells(table) == times(3)
    (table / "c.parquet").unlink()
    one, two = table / "a.parquet", table / "d.parquet"
    for make in (os.symlink, os.link):
        make(one, two)
        sentence = f"data must be distinct files; got {one} and {two}, a link to it"
        for given in (table, f"{table}/*.parquet", [one, two]):
            assert refusal(given) == sentence
        two.unlink()
    two.symlink_to(tmp_path / "none.parquet")
    assert refusal(table) == f"{two} cannot be read: No such file or directory"
    two.unlink()
    (table / "again").symlink_to(table)
    assert refusal(table) == f"data must be distinct files; got {table} and {table}/again, a link to it"


def test_tables_that_keep_removed_files_are_refused(tmp_path: Path) -> None:
    """Whichever of their folders is named; a single file of one is what was asked for."""
    logs = ("_delta_log/0.json", "metadata/v1.metadata.json", ".hoodie/hoodie.properties")
    for i, log in enumerate(logs):
        table = tmp_path / str(i) / "people"
        single = part(table / "data" / "part=x" / "a.parquet")
        part(table / "data" / "part=x" / "b.parquet")
        (table / log).parent.mkdir()
        (table / log).write_text("{}")
        for given in (table, table.parent, single.parent, f"{table}/**/*.parquet"):
            assert refusal(given).startswith(f"{table} is a Delta, Iceberg or Hudi table, which may contain")
        assert cells(single) == CELLS


ENDINGS = [(one, f"{ending}{packed}") for one in FORMATS for ending in one.endings
           for packed in ("", *PACKINGS * one.is_packed)]  # fmt: skip


def written(one: readers.Format, path: Path, frame: pl.DataFrame) -> Path:
    """A file of a format that this test writes with another library."""
    options = {"separator": "\t"} if ".tsv" in path.suffixes else {}
    content = io.BytesIO()
    getattr(frame, WRITERS[one.key])(content, **options)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(content.getvalue()) if path.suffix == ".gz" else content.getvalue())
    return path


def test_every_ending_is_read_and_every_file_begins_as_its_format_says(tmp_path: Path) -> None:
    """So standard input needs no name; an ending stands for all those of the format."""
    assert len(dict(ENDINGS[::-1])) == len(FORMATS) == len(WRITERS)
    assert len({ending for _, ending in ENDINGS}) == len(ENDINGS), "an ending has one meaning"
    assert [one.key for one in FORMATS if not one.magic] == ["csv"]
    assert {Path(f"d{ending}").suffix for _, ending in ENDINGS} == set(data.accepted_endings())
    for i, (one, ending) in enumerate(ENDINGS):
        path = written(one, tmp_path / str(i) / f"d{ending}", pl.DataFrame(TABLE))
        assert data.ending_of(path.name) == ending
        is_packed = path.suffix in PACKINGS
        assert data.ending_by_content(path.read_bytes()[:16]) == (".csv.gz" if is_packed else one.endings[0])
        assert cells(path) == cells(str(path.rename(path.with_name(f"D{ending.upper()}")))) == CELLS


def test_a_format_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its values, its files together and in folders, standard input, and the library that it needs."""
    frame = pl.DataFrame(TABLE)
    for one in FORMATS:
        assert set(one.endings) & set(hostile.FORMATS), "the fuzzers write every format"
        ending, folder = one.endings[0], tmp_path / one.key
        path = written(one, folder / f"d{ending}", frame)
        assert first_rows(path, 1)[1] == ([("1", "1", "a")] if one.key == "csv" else [(1, 1, "a")])
        words = ["audit", "-", "--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc", "--json", "-"]
        result = CliRunner().invoke(evenhand, words, input=path.read_bytes())
        assert {row.group: row.n for row in eh.Audit.from_json(result.stdout).rows} == {"a": 2, "b": 3}
        with monkeypatch.context() as context:
            context.setitem(sys.modules, "duckdb", None)
            if one.needs:
                with pytest.raises(eh.errors.MissingExtra, match=r"^reading .* files needs the extra 'files': pip"):
                    cells(path)
            else:
                assert cells(path) == CELLS
        path.unlink()
        parts = [written(one, folder / f"{i}{ending}", rows) for i, rows in enumerate((frame.head(2), frame.tail(3)))]
        assert cells(parts) == CELLS
        if one.in_folders:
            assert cells(folder) == CELLS
        else:
            assert refusal(folder).startswith(f"the folder {folder} must contain ")


def test_messages_and_the_command_name_every_format(tmp_path: Path) -> None:
    for name in ("d.xlsx", "d.db", "d.feather", "d.parquet.gz", "d.csv.zst"):
        (tmp_path / name).write_bytes(b"x")
        assert refusal(tmp_path / name) == (
            f"{tmp_path}/{name} must be a CSV, TSV, JSON Lines or Parquet file by its extension (.csv, .tsv, .txt, "
            ".jsonl, .ndjson, .parquet or .pq; also .csv.gz)"
        )
    help_text = " ".join(CliRunner().invoke(evenhand, ["audit", "--help"]).output.split())
    listed = data.any_of(data.names_of(FORMATS))
    assert f"FILE is a {listed} file, a folder of Parquet files, a glob, or - for standard input." in help_text
