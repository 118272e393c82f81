"""Files that are joined by a key: one for each model, or decisions and their labels."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import evenhand as eh
from evenhand.auditing import ModelsRequest, flat_settings
from evenhand.cli import evenhand

Records = list[dict[str, Any]]
GROUPS = ("law", "maths", "art")
COMPARE = "compare --model old=old.jsonl --model new=new.jsonl --prediction p --key id --label y --group doc.topic"
AUDIT = "audit new.jsonl --labels-from truth.csv --key id --label truth --prediction p --group doc.topic"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("old.jsonl", records("old"))
    write("new.jsonl", records("new")[::-1])
    write("truth.csv", [{"id": r["id"], "truth": r["y"]} for r in records("old")])
    return tmp_path


def records(model: str, n: int = 90) -> Records:
    rng = random.Random(model)
    return [
        {"id": i, "doc": {"topic": GROUPS[i % 3], "n": i}, "y": i // 3 % 2, "p": rng.randrange(2)} for i in range(n)
    ]


def write(name: str, rows: Records) -> None:
    with open(name, "w", encoding="utf-8", newline="") as file:
        if name.endswith(".jsonl"):
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def flat(rows: Records) -> Records:
    return [{"id": r["id"], "doc.topic": r["doc"]["topic"], "y": r["y"], "p": r["p"]} for r in rows]


def run(command: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(evenhand, shlex.split(command), input=stdin, catch_exceptions=False)


def made(command: str) -> eh.Audit:
    done = run(f"{command} --json -")
    assert done.exit_code == 0, done.output
    return eh.Audit.from_json(done.stdout)


def refused(command: str) -> str:
    done = run(command)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    return done.stderr.removeprefix("Error: ").removesuffix("\n")


def joined_by_hand(**predictions: Records) -> dict[str, list[Any]]:
    """The oracle: a table made without the code under test, with all values as texts."""
    first = next(iter(predictions.values()))
    table: dict[str, list[Any]] = {"topic": [r["doc"]["topic"] for r in first], "y": [str(r["y"]) for r in first]}
    for model, rows in predictions.items():
        by_id = {r["id"]: str(r["p"]) for r in rows}
        table[model] = [by_id.get(r["id"]) for r in first]
    return table


def test_models_in_files_are_compared_as_in_columns_of_one_table() -> None:
    table = joined_by_hand(old=records("old"), new=records("new"))
    expected = eh.compare(table, y_true="y", models={"old": "old", "new": "new"}, groups={"doc.topic": table["topic"]})
    assert made(COMPARE).rows == expected.rows
    write("new.csv", flat(records("new")))
    assert made(COMPARE.replace("new.jsonl", "new.csv")).rows == expected.rows, (
        "1 and '1' are one key, label and decision"
    )
    bare = [{"id": r["id"], "p": r["p"]} for r in records("new")]
    write("new.jsonl", bare)
    assert made(COMPARE).rows == expected.rows, "labels and groups come from the first file that has them"
    same = made(f"{COMPARE} --baseline new")
    assert {row.at["against"] for row in same.rows} == {"new"}
    write("new.jsonl", [r | {"id": r["id"] // 2, "epoch": r["id"] % 2} for r in bare])
    write("old.jsonl", [r | {"id": r["id"] // 2, "epoch": r["id"] % 2} for r in records("old")])
    assert made(f"{COMPARE} --key epoch").rows == expected.rows, "two columns"


def test_labels_of_another_file() -> None:
    table = joined_by_hand(p=records("new"))
    topic = {"doc.topic": table["topic"]}
    assert made(AUDIT).rows == eh.audit(table, y_true="y", y_pred="p", groups=topic).rows
    clash = [r | {"truth": 1 - r["y"]} for r in records("new")]
    write("new.jsonl", clash)
    assert made(AUDIT).rows == eh.audit(table, y_true="y", y_pred="p", groups=topic).rows, "those that were asked for"
    table = joined_by_hand(truth=[r | {"p": r["truth"]} for r in clash])
    found = made(AUDIT.replace("--prediction p", "--prediction truth"))
    assert found.rows == eh.audit(table, y_true="y", y_pred="truth", groups=topic).rows, "one name in both files"
    lines = Path("new.jsonl").read_text("utf-8")
    assert run(AUDIT.replace("new.jsonl", "-"), lines).exit_code == 0


def test_scores_and_bins_are_numbers_from_any_file() -> None:
    rows = [{"id": i, "s": i % 10 / 10, "age": 20 + i % 50} for i in range(200)]
    write("s.csv", rows)
    write("s.jsonl", rows)
    write("t.csv", [{"id": i, "y": i // 7 % 2} for i in range(200)])
    expected = eh.audit(
        {"s": [r["s"] for r in rows], "age": [r["age"] for r in rows], "y": [i // 7 % 2 for i in range(200)]},
        y_true="y", y_score="s", threshold=0.5, groups="age", bins={"age": [40]},
    )  # fmt: skip
    words = "--labels-from t.csv --key id --label y --score s --threshold 0.5 --group age --bins age=40"
    for name in ("s.csv", "s.jsonl"):
        assert made(f"audit {name} {words}").rows == expected.rows
    write("s.csv", [r | {"age": "old"} for r in rows])
    assert refused(f"audit s.csv {words}") == "age must contain numbers; got 'old'"


def test_keys_are_compared_as_texts() -> None:
    """JSON has one number where CSV has texts: 1 and 1.0 of JSON are the text 1, but 01 and the text 1.0 are others."""
    write("truth.csv", [{"id": i, "truth": i % 2} for i in range(90)])
    for value in (float, int, str):
        write("new.jsonl", [r | {"id": value(r["id"])} for r in records("new")])
        code = run(AUDIT).exit_code
        assert code == 0
    write("new.jsonl", [r | {"id": f"{r['id']:03}"} for r in records("new")])
    sentence = "--key must have the same values in all files; 90 rows of data (such as '000') and 90 rows of labels"
    assert refused(AUDIT) == f"{sentence} (such as '0') have no match"
    write("new.jsonl", [*records("new"), records("new")[1] | {"id": "1"}])
    sentence = "--key must occur once, or be repeated to name more columns; this fails for 1 key of data (such as '1')"
    assert refused(AUDIT) == refused(f"{AUDIT} --allow-unmatched") == sentence
    write("new.jsonl", records("new"))
    write("truth.csv", [{"id": i % 45, "truth": 1} for i in range(90)])
    assert refused(f"{AUDIT} --allow-unmatched").endswith("; this fails for 45 keys of labels (such as '0')")
    write("new.jsonl", [*records("new"), {"id": None, "p": 1}, {"id": "", "p": 0}])
    must = "--key must have a value in each row; this fails for 2 keys of data (such as 'None')"
    assert refused(f"{AUDIT} --allow-unmatched") == must


def test_rows_without_a_match_are_refused_or_left_out_and_counted() -> None:
    old, new = records("old")[:88], records("new")[3:]
    write("old.jsonl", old)
    write("new.jsonl", new)
    rows = "3 rows of old (such as '0') and 2 rows of new (such as '88') have no match"
    sentence = f"--key must have the same values in all files; {rows}"
    assert refused(COMPARE) == f"{sentence}; pass --allow-unmatched to leave them out"
    found = made(f"{COMPARE} --allow-unmatched")
    table = joined_by_hand(old=old[3:], new=new)
    topic = {"doc.topic": table["topic"]}
    assert found.rows == eh.compare(table, y_true="y", models={"old": "old", "new": "new"}, groups=topic).rows
    assert found.left_out == {"prediction of new": 3, "prediction of old": 2}
    assert "2 rows without a prediction of old were left out" in str(found.findings)
    printed = run(f"{COMPARE} --allow-unmatched --all").output
    assert "3 rows without a prediction of new were left out" in printed, printed
    found = made(f"{AUDIT.replace('new.jsonl', 'old.jsonl')} --allow-unmatched")
    assert (found.left_out, found.n) == ({"y_pred": 2}, 88)


def test_files_that_disagree_are_refused() -> None:
    changed = records("new")
    changed[7]["doc"]["topic"] = "art"
    write("new.jsonl", changed)
    must = "must be the same in all files for the key '7'; got"
    assert refused(COMPARE) == f"'doc.topic' {must} 'maths' in old and 'art' in new"
    changed = records("new")
    changed[0]["y"] = 1
    write("new.jsonl", changed)
    assert refused(COMPARE) == "'y' must be the same in all files for the key '0'; got '0' in old and '1' in new"
    del changed[0]["y"]
    write("new.jsonl", changed)
    assert run(COMPARE).exit_code == 0, "missing is no other label"


REFUSED = {
    COMPARE.replace(" --key id", ""): "pass a FILE, or one file for each model, with --key COLUMN --model NAME=FILE; "
    "see evenhand compare --help",
    COMPARE.replace("compare", "compare old.jsonl"): "--key joins the files that other options name; pass no FILE",
    COMPARE.replace(" --prediction p", ""): "--key joins one file for each model: pass --model and --prediction, or "
    "--result and --result-column",
    COMPARE.replace("new.jsonl", "nwe.jsonl"): "there is no file nwe.jsonl; did you mean new.jsonl or old.jsonl?",
    COMPARE.replace("--model new=new.jsonl", ""): "--model must contain at least two models with different names; got "
    "'old'",
    COMPARE.replace("new=new.jsonl", "new"): "--model must be NAME=COLUMN, such as old=p1; got 'new'",
    COMPARE.replace("new=new.jsonl", "old=new.jsonl"): "--model names 'old' twice",
    COMPARE.replace("--key id", "--key ID"): "no column of old.jsonl is called 'ID'; did you mean 'id'?",
    COMPARE.replace("--group doc.topic", "--group topic"): "no column of old.jsonl is called 'topic'; did you mean "
    "'doc.topic'?",
    COMPARE.replace("--prediction p", "--prediction q"): "no column of old.jsonl is called 'q'; known: id, doc.topic, "
    "doc.n, y, p",
    "audit old.jsonl --key id --labels-from truth.csv --label truth --repeat x.json":
    "--label cannot be combined with --repeat, which keeps all settings",
    f"{COMPARE} --json new.jsonl": "--json new.jsonl would overwrite the input; choose another file",
    "compare old.jsonl --allow-unmatched": "--allow-unmatched needs --key, the column by which files are joined",
    AUDIT.replace("--key id", ""): "--labels-from needs --key, the column by which files are joined",
    AUDIT.replace("--label truth", ""): "--key joins a FILE with labels: pass their file as --labels-from, and their "
    "column as --label",
    AUDIT.replace("--labels-from truth.csv", ""): "--key joins a FILE with labels: pass their file as --labels-from, "
    "and their column as --label",
    AUDIT.replace("--label truth", "--label y"): "no column is called 'y'; known: id, truth",
    f"{AUDIT} --html truth.csv": "--html truth.csv would overwrite the input; choose another file",
    "audit --example compas --key id": "--key says how a FILE is read; pass a FILE",
}  # fmt: skip


def test_what_cannot_be_joined_is_refused_with_options() -> None:
    for command, sentence in REFUSED.items():
        found = refused(command)
        if "results" not in flat_settings(ModelsRequest):
            found = found.replace("or results and", "or --result and")
        assert found == sentence, command


def test_the_provenance_names_all_files_with_their_digests(folder: Path) -> None:
    digests = {name: hashlib.sha256(Path(f"{name}.jsonl").read_bytes()).hexdigest() for name in ("old", "new")}
    source = made(COMPARE).provenance["source"]
    assert {part: one["sha256"] for part, one in source["joined"].items()} == digests
    assert (source["name"], source["rows"]) == ("old.jsonl, new.jsonl", 90)
    made(f"{COMPARE} --html a.html")
    assert source["sha256"] == hashlib.sha256("".join(digests.values()).encode()).hexdigest()
    Path("a.json").write_text(made(COMPARE).to_json(), "utf-8")
    assert (
        refused("compare --repeat a.json old.jsonl")
        == "the provenance does not contain the values of models; audit the data again"
    )
    protected = made(f"{AUDIT} --protect cms").provenance["source"]
    assert protected == {
        "kind": "joined files", "name": "new.jsonl, truth.csv",
        "joined": {"data": {"kind": "file", "name": "new.jsonl", "format": "jsonl"},
                   "labels": {"kind": "file", "name": "truth.csv", "format": "csv", "separator": ","}},
    }  # fmt: skip


@pytest.fixture
def opened() -> Iterator[set[str]]:
    """The names of the files in the working folder that Python opens."""
    names: set[str] = set()
    is_on = [True]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if is_on and event == "open" and isinstance(args[0], str | bytes | Path):
            path = Path(str(args[0]))
            if path.absolute().parent == Path.cwd() or not path.is_absolute():
                names.add(path.name)

    sys.addaudithook(hook)
    yield names
    is_on.clear()


def test_only_the_files_that_are_named_are_opened(opened: set[str]) -> None:
    """Neither keys nor values nor names of columns are files, patterns or queries."""
    names = ["secret.csv", "*.csv", "../x", "read_text('secret.csv')", "old[1].jsonl", "old1.jsonl"]
    write("secret.csv", [{"id": 1, "truth": 1}])
    write("old1.jsonl", records("old"))
    rows = [r | {"id": f"{names[i % 6]}{i}", names[0]: names[i % 6], "doc": {names[1]: names[i % 6]}}
            for i, r in enumerate(records("old"))]  # fmt: skip
    write("old[1].jsonl", rows)
    write("new.jsonl", rows)
    opened.clear()
    words = ["compare", "--model", "a=old[1].jsonl", "--model", "b=new.jsonl", "--prediction", "p", "--key", "id",
             "--key", names[0], "--label", "y", "--group", f"doc.{names[1]}", "--json", "-"]  # fmt: skip
    done = CliRunner().invoke(evenhand, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert {row.group for row in eh.Audit.from_json(done.stdout).rows} == {*names, "all cases"}
    assert opened == {"old[1].jsonl", "new.jsonl"}


def test_a_glob_is_the_files_of_one_model() -> None:
    rows = records("old")
    write("part-1.jsonl", rows[:40])
    write("part-2.jsonl", rows[40:])
    words = COMPARE.replace("old=old.jsonl", "old='part-*.jsonl'")
    assert made(words).rows == made(COMPARE).rows
    write("part-3.jsonl", rows[:1])
    assert "this fails for 1 key of old (such as '0')" in refused(words)


def test_hostile_names_and_keys_stay_text() -> None:
    ugly = "\x1b[2J`margin`\n"
    write("old.jsonl", [{"id": f"{ugly}{i}", "p": 1, "y": i % 2, "doc": {"topic": "a"}} for i in range(9)])
    write("new.jsonl", [{"id": f"{ugly}{i}", "p": 1} for i in range(1, 9)])
    found = run(COMPARE).stderr
    assert "\x1b" not in found and "`margin`" in found and found.count("\n") == 1
    Path("old.jsonl").write_text(json.dumps({"id": "x" * 100_000, "p": 1, "y": 1, "doc": {"topic": "a"}}), "utf-8")
    assert len(run(COMPARE).stderr) < 600


@pytest.mark.skipif("results" not in flat_settings(ModelsRequest), reason="results= is not there yet")
def test_results_of_models_are_joined() -> None:
    for name in ("old", "new"):
        write(f"{name}.jsonl", [r | {"acc": float(r["p"])} for r in records(name)])
    table: dict[str, Any] = {name: [float(r["p"]) for r in records(name)] for name in ("old", "new")}
    table["doc.topic"] = [r["doc"]["topic"] for r in records("old")]
    words = "compare --result old=old.jsonl --result new=new.jsonl --result-column acc --key id --group doc.topic"
    arguments: dict[str, Any] = {"results": {"old": "old", "new": "new"}, "groups": "doc.topic"}
    assert made(words).rows == eh.compare(table, **arguments).rows
