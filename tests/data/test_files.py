"""What paths stand for: files, folders, globs and several of them, each recorded so that others can check theirs."""

from __future__ import annotations

import hashlib
import io
import os
import time
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from decisions import CELLS, TABLE, cells, refusal, write_csv, write_parquet
from engines import pl

import evenhand as eh
from evenhand import progress
from evenhand.data import files, first_rows, frames, readers


def csv_file(folder: Path) -> Path:
    write_csv(TABLE, folder / "data.csv")
    return folder / "data.csv"


def test_paths_and_globs_give_the_same_counts(tmp_path: Path) -> None:
    write_parquet(TABLE, tmp_path / "data.parquet")
    for path in (csv_file(tmp_path), tmp_path / "data.parquet"):
        for given in (path, str(path), str(tmp_path / f"*{path.suffix}")):
            assert cells(given) == CELLS


def test_the_source_of_a_file_is_its_name_size_and_digest(tmp_path: Path) -> None:
    content = b"g;y\na;1\nb;0\n"
    (tmp_path / "d.csv").write_bytes(content)
    assert files.count_file(tmp_path / "d.csv", ["g"], {}).source == {
        "kind": "file",
        "name": "d.csv",
        "files": 1,
        "size": 12,
        "sha256": hashlib.sha256(content).hexdigest(),
        "format": "csv",
        "separator": ";",
    }
    write_parquet({"g": ["a"]}, tmp_path / "d.parquet")
    written = (tmp_path / "d.parquet").read_bytes()
    assert files.count_file(str(tmp_path / "d.parquet"), ["g"], {}).source == {
        "kind": "file",
        "name": "d.parquet",
        "files": 1,
        "size": len(written),
        "sha256": hashlib.sha256(written).hexdigest(),
        "format": "parquet",
    }


def test_the_digest_of_several_files_is_that_of_their_names_and_digests(tmp_path: Path) -> None:
    """Moving the folder does not change it; renaming a file or changing one does."""
    contents = {"b.csv": b"g,y\na,1\n", "a.csv": b"g\ty\nb,\t1\n", "x\ny.csv": b"g,y\nc,1\n"}

    def digest(folder: Path, names: dict[str, bytes]) -> dict[str, Any]:
        folder.mkdir()
        for name, content in names.items():
            (folder / name).write_bytes(content)
        return files.count_file(str(folder / "*.csv"), ["g"], {}).source

    found = digest(tmp_path / "one", contents)
    lines = sorted(
        f"{name}  {hashlib.sha256(content).hexdigest()}\n"
        for name, content in ((name.replace("\n", "\\n"), content) for name, content in contents.items())
    )
    assert found == {
        "kind": "file",
        "name": "*.csv",
        "files": 3,
        "size": sum(map(len, contents.values())),
        "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
        "format": "csv",
        "separator": "\t,",
    }
    assert digest(tmp_path / "two", contents) == found
    renamed = {name.replace("b", "c"): content for name, content in contents.items()}
    assert digest(tmp_path / "three", renamed)["sha256"] != found["sha256"]
    assert digest(tmp_path / "four", contents | {"b.csv": b"g,y\na,2\n"})["sha256"] != found["sha256"]


def test_several_files_are_one_table(tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    for folder, part in (("one", frame.head(2)), ("two", frame.tail(3))):
        (tmp_path / folder).mkdir()
        part.write_csv(tmp_path / folder / "d.csv")
        part.write_parquet(tmp_path / folder / "d.parquet")
        part.write_ndjson(tmp_path / folder / "d.jsonl")
    for kind in ("csv", "parquet", "jsonl"):
        both: list[str | Path] = [tmp_path / "one" / f"d.{kind}", str(tmp_path / "two" / f"d.{kind}")]
        assert cells(both) == CELLS
        assert cells(tuple(both[::-1])) == CELLS
        assert cells([f"{tmp_path}/*/d.{kind}"]) == CELLS
        source = files.count_file(both, ["g"], {}).source
        assert source == files.count_file(f"{tmp_path}/*/d.{kind}", ["g"], {}).source | {"name": f"d.{kind}, d.{kind}"}
        assert files.input_files(both) == [Path(path) for path in both]
        assert first_rows(both, 1) == (
            ["y", "p", "g"],
            [tuple(map(str if kind == "csv" else lambda v: v, (1, 1, "a")))],
        )
        assert refusal([both[0], both[0]]) == f"data must be distinct files; got {both[0]} twice"
    mixed = [tmp_path / "one" / "d.csv", tmp_path / "two" / "d.parquet"]
    assert refusal(mixed) == "data must be files of one kind; got CSV and Parquet files"
    assert refusal([tmp_path / "one" / "d.csv", tmp_path / "none.csv"]) == f"there is no file {tmp_path}/none.csv"
    assert refusal([""]) == "data must be a path to a file; got an empty path"


def test_a_folder_is_all_parquet_files_below_it(tmp_path: Path) -> None:
    for i, name in enumerate(("part.parquet", "part.PARQUET", "part.pq", "notes.csv")):
        (tmp_path / "year" / str(i)).mkdir(parents=True)
        write_parquet(TABLE, tmp_path / "year" / str(i) / name)
    assert cells(tmp_path) == {group: tuple(3 * n for n in cm) for group, cm in CELLS.items()}
    assert refusal("/") == "data must be a file or a folder of Parquet files; got /"


def test_names_with_brackets_are_names(tmp_path: Path) -> None:
    for name, times in (("d[1]", 3), ("d1", 1)):
        (tmp_path / name).mkdir()
        repeated = {column: values * times for column, values in TABLE.items()}
        write_parquet(repeated, tmp_path / name / "a.parquet")
        write_csv(repeated, tmp_path / f"{name}.csv")
    for given in (tmp_path / "d[1]", tmp_path / "d[1].csv", str(tmp_path / "d[1]" / "a.parquet")):
        assert cells(given) == {group: tuple(3 * n for n in cm) for group, cm in CELLS.items()}
    assert cells(str(tmp_path / "d?/*.parquet")) == CELLS


def test_a_glob_may_have_brackets_and_go_down_folders(tmp_path: Path) -> None:
    (tmp_path / "year" / "month").mkdir(parents=True)
    for name in ("1.pq", "2.pq", "x.pq"):
        write_parquet(TABLE, tmp_path / "year" / "month" / name)
    assert cells(f"{tmp_path}/year/month/[12].pq") == {group: tuple(2 * n for n in cm) for group, cm in CELLS.items()}
    assert cells(f"{tmp_path}/**/x.pq") == CELLS
    csv_file(tmp_path / "year" / "month")
    assert refusal(f"{tmp_path}/year/month/*") == (
        f"{tmp_path}/year/month/* must match files of one kind; got Parquet and CSV files"
    )


def test_a_path_may_start_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    csv_file(tmp_path)
    assert cells("~/data.csv") == CELLS


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("dta.csv", "there is no file {}/dta.csv; did you mean data.csv?"),
        ("none.parquet", "there is no file {}/none.parquet"),
        ("*.parquet", "no file matches {}/*.parquet"),
        ("", "the folder {} contains no Parquet files; name files of other kinds one by one"),
        ("nothing.txt", "{}/nothing.txt is empty; there is nothing to audit"),
        ("`data`.csv", "there is no file {}/`data`.csv; did you mean data.csv?"),
    ],
)
def test_a_path_without_files_is_explained(given: str, sentence: str, tmp_path: Path) -> None:
    csv_file(tmp_path)
    (tmp_path / "nothing.txt").touch()
    assert refusal(tmp_path / given) == sentence.format(tmp_path)


def test_nothing_outside_this_machine_is_read() -> None:
    assert refusal("https://example.org/x.csv") == (
        "data must be a local file; got 'https://example.org/x.csv', which must be downloaded first"
    )


def test_without_duckdb_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.parquet"
    write_parquet(TABLE, path)
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    assert cells(csv_file(tmp_path)) == CELLS
    with pytest.raises(eh.errors.MissingExtra, match=r"^reading .parquet files needs the extra 'files': pip install"):
        cells(path)


def test_a_postgresql_table_is_passed_as_a_relation() -> None:
    sentence = (
        "a PostgreSQL table must be passed as a relation of DuckDB: attach the database with DuckDB's extension "
        "postgres, and pass duckdb.sql('FROM db.schema.name')"
    )
    assert refusal("postgresql://me:secret@host/db") == sentence
    assert refusal("postgres://me:secret@host/db") == sentence
    assert refusal("mysql://me:secret@host/db") == (
        "data must be a local file; got 'mysql://…@host/db', which must be downloaded first"
    )
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS db")
        connection.execute("CREATE SCHEMA db.s")
        connection.register("held", pd.DataFrame(TABLE))
        connection.execute("CREATE TABLE db.s.people AS FROM held")
        assert cells(connection.sql("FROM db.s.people")) == CELLS


def test_the_first_rows_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("g,y\n007,1\n,0\nb,1\n", encoding="utf-8")
    assert first_rows(path, 2) == (["g", "y"], [("007", "1"), (None, "0")])
    path.with_suffix(".parquet").write_text("not parquet")
    with pytest.raises(eh.errors.InvalidInput, match=r"data\.parquet cannot be read: "):
        first_rows(path.with_suffix(".parquet"), 2)


def test_columns_may_have_any_name_and_be_many(tmp_path: Path) -> None:
    names = ['the "race"', "größe; 名", "select", *(f"c{i}" for i in range(500))]
    rows = [["a", "1", "1"], ["b", "0", "1"], ["a", "0", "0"]]
    frame = pl.DataFrame([[*row, *("x" for _ in range(500))] for row in rows], schema=names, orient="row")
    frame.write_csv(tmp_path / "wide.csv")
    frame.write_parquet(tmp_path / "wide.parquet")
    for name in ("wide.csv", "wide.parquet"):
        found = cells(tmp_path / name, y_true="größe; 名", y_pred="select", groups='the "race"')
        assert found[("a",)] == (1, 0, 0, 1)


@pytest.mark.parametrize("name", ["*", "COLUMNS(*)", '"', "y.p", "evenhand_0", "'", "g g"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_may_have_any_name(name: str, kind: str, tmp_path: Path) -> None:
    write = write_csv if kind == "csv" else write_parquet
    table, path = {"y": [1, 0], "p": [1, 1], name: ["A", "B"]}, tmp_path / f"d.{kind}"
    write(table, path)
    expected = {("A",): (1, 0, 0, 0), ("B",): (0, 0, 1, 0)}
    assert cells(path, groups=name) == expected
    assert cells(duckdb.from_df(pd.DataFrame(table)), groups=name) == expected
    write({"y": [1, 0], name: [0.9, 0.1], "g": ["A", "B"]}, path)
    assert cells(path, y_pred=None, y_score=name) == {("A",): (1, 0, 0, 0), ("B",): (0, 0, 0, 1)}


def test_a_long_count_shows_its_progress_on_a_terminal(
    tmp_path: Path, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*given: Any) -> Any:
        time.sleep(0.05)
        return count_frame(*given)

    count_frame = frames.count_frame
    monkeypatch.setattr(progress, "_SILENT_SECONDS", -1.0)
    monkeypatch.setattr(progress, "_POLL_SECONDS", 0.002)
    monkeypatch.setattr(readers, "count_frame", slow)
    with redirect_stderr(terminal):
        cells(csv_file(tmp_path))
    assert terminal.getvalue().startswith("\rcounting data.csv")
    assert terminal.getvalue().endswith(" \r")


def test_hashing_a_large_file_shows_its_progress(
    tmp_path: Path, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(stream: Any, name: str) -> Any:
        stream.read(1)
        time.sleep(0.05)
        return digest(stream, name)

    digest = hashlib.file_digest
    monkeypatch.setattr(progress, "_SILENT_SECONDS", -1.0)
    monkeypatch.setattr(progress, "_POLL_SECONDS", 0.002)
    monkeypatch.setattr(hashlib, "file_digest", slow)
    (tmp_path / "d.csv").write_text("g,y\na,1\n")
    with redirect_stderr(terminal):
        files.count_file(tmp_path / "d.csv", ["g"], {})
    assert "\rhashing d.csv: 12%" in terminal.getvalue()


def part(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(TABLE, path)
    return path


def times(n: int) -> dict[Any, Any]:
    return {group: tuple(n * cell for cell in cm) for group, cm in CELLS.items()}


@pytest.mark.parametrize(
    "name",
    [
        "_temporary/0/task/b.parquet",
        ".ipynb_checkpoints/a-checkpoint.parquet",
        ".b.parquet",
        "_b.parquet",
        "part=x/_b.parquet",
        "_metadata",
        "notes.csv",
    ],
)
def test_what_begins_with_an_underscore_or_a_dot_or_has_another_ending_is_not_data(name: str, tmp_path: Path) -> None:
    part(tmp_path / ("part=x/a.parquet" if "=" in name else "a.parquet"))
    part(tmp_path / name)
    a = eh.audit(tmp_path, y_true="y", y_pred="p", groups="g", metrics="acc")
    assert (a.n, a.provenance["source"]["files"], a.provenance["source"]["skipped"]) == (5, 1, 1)
    assert [str(f) for f in a.findings if f.kind == "skipped-files"] == [
        "note EH307: 1 file in the folder was read, and 1 skipped, whose names begin with _ or . or are not those of "
        "Parquet files"
    ]
    assert "1 file (1 other file in the folder skipped), 5 rows" in a.to_html()


@pytest.mark.parametrize("name", ["b.pq", "b.PARQUET", "b.Pq", "part-00000", "_part=x/b.parquet", "x/y/b.parquet"])
def test_every_accepted_ending_and_part_files_without_one_are_data(name: str, tmp_path: Path) -> None:
    part(tmp_path / ("_part=x/a.parquet" if "=" in name else "a.parquet"))
    part(tmp_path / name)
    (tmp_path / "README").write_text("not a part")
    assert cells(tmp_path) == times(2)
    source = files.count_file(tmp_path, ["g"], {}).source
    assert (source["files"], source["skipped"]) == (2, 1)


def test_linked_folders_and_files_are_read(tmp_path: Path) -> None:
    part(tmp_path / "table" / "a.parquet")
    part(tmp_path / "elsewhere" / "b.parquet")
    part(tmp_path / "c.parquet")
    (tmp_path / "table" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "table" / "c.parquet").symlink_to(tmp_path / "c.parquet")
    assert cells(tmp_path / "table") == times(3)


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_the_same_file_is_not_counted_twice(make: Any, tmp_path: Path) -> None:
    part(tmp_path / "a.parquet")
    make(tmp_path / "a.parquet", tmp_path / "b.parquet")
    sentence = f"data must be distinct files; got {tmp_path}/a.parquet and {tmp_path}/b.parquet, a link to it"
    for given in (tmp_path, f"{tmp_path}/*.parquet", [tmp_path / "a.parquet", tmp_path / "b.parquet"]):
        assert refusal(given) == sentence


def test_a_link_to_a_folder_that_is_read_already_is_refused(tmp_path: Path) -> None:
    part(tmp_path / "x" / "a.parquet")
    (tmp_path / "x" / "again").symlink_to(tmp_path)
    assert refusal(tmp_path) == (
        f"the folder {tmp_path} must contain every file once; {tmp_path}/x/again and {tmp_path} are the same folder, "
        "so remove the link"
    )


def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    part(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").symlink_to(tmp_path / "none.parquet")
    assert refusal(tmp_path) == f"{tmp_path}/b.parquet cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("log", "name", "passed"),
    [
        ("_delta_log/00000000000000000000.json", "a Delta table", "polars.scan_delta({})"),
        ("metadata/v1.metadata.json", "an Iceberg table", "polars.scan_iceberg({})"),
        (".hoodie/hoodie.properties", "a Hudi table", "spark.read.format('hudi').load({})"),
    ],
)
def test_tables_that_keep_removed_files_are_refused(log: str, name: str, passed: str, tmp_path: Path) -> None:
    """Whichever of their folders is named; a single file of one is what was asked for."""
    table = tmp_path / "tables" / "people"
    single = part(table / "data" / "part=x" / "a.parquet")
    part(table / "data" / "part=x" / "b.parquet")
    (table / log).parent.mkdir()
    (table / log).write_text("{}")
    sentence = (
        f"{table} is {name}, whose folder may contain files that are no longer part of the table; pass it as a frame, "
        f"such as {passed.format(repr(str(table)))}"
    )
    for given in (table, table.parent, single.parent, f"{table}/**/*.parquet"):
        assert refusal(given) == sentence
    assert cells(single) == CELLS


@pytest.mark.parametrize("how", ["append", "replace", "rewrite"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded SHA-256 would be that of other rows than were counted."""
    path = tmp_path / "d.csv"
    path.write_text("g,y,p\n" + "a,1,1\nb,0,1\n" * 20)
    counted = readers.count_frame

    def changing(*given: Any) -> Any:
        rows = counted(*given)
        if how == "append":
            with path.open("a") as file:
                file.write("a,1,1\n" * 500)
        elif how == "rewrite":
            path.write_text("g,y,p\n" + "a,0,1\nb,0,1\n" * 20)
            os.utime(path, ns=(1, 1))
        else:
            other = tmp_path / "other"
            other.write_bytes(path.read_bytes())
            other.replace(path)
        return rows

    monkeypatch.setattr(readers, "count_frame", changing)
    assert refusal(path) == f"{path} changed while it was read; audit it when nobody writes to it, or a copy"
