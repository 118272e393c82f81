"""``evenhand audit``: files in, tables and JSON out, and exit codes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from decisions import write_parquet

import evenhand as eh
from evenhand.cli.audit import audit

ROOT = Path(__file__).parents[2]
ROWS = "race,y,yhat,sex\n" + "A,1,1,F\nA,0,1,M\nA,0,0,F\n" * 9 + "B,1,0,M\nB,0,0,F\nB,1,0,M\n" * 9 + ",1,1,F\nB,,0,F\n"
SETTINGS: dict[str, Any] = {"y_true": "y", "y_pred": "yhat", "groups": "race"}
COLUMNS = ["--label", "y", "--prediction", "yhat", "--group", "race"]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "decisions.csv"
    path.write_text(ROWS, encoding="utf-8")
    return str(path)


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner(env={"FORCE_COLOR": None}).invoke(audit, words, input=stdin, catch_exceptions=False)


def refused(*words: str) -> str:
    """The sentence with which a command ends with exit code 2, without any output."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, ""), words
    return result.stderr.removeprefix("Error: ").removesuffix("\n")


def test_the_output_in_the_readme_is_what_the_first_command_prints() -> None:
    result = run("--example", "compas")
    assert result.exit_code == 0
    shown = (ROOT / "README.md").read_text("utf-8").split("```text\n")[1].split("\n…\n```")[0]
    assert len(shown.splitlines()) >= 12 and result.output.startswith(f"{shown}\n")
    assert max(map(len, result.output.splitlines())) <= 80


def test_a_file_is_audited_as_the_library_does_also_from_standard_input(file: str, tmp_path: Path) -> None:
    result = run(file, *COLUMNS)
    piped = run("-", *COLUMNS, stdin=ROWS).output
    assert (result.exit_code, piped.partition("\n")[2]) == (0, result.output.partition("\n")[2])
    assert piped.startswith("evenhand audit: 55 cases, race (2 groups)\n")
    assert result.output.startswith("evenhand audit: decisions.csv, 55 cases, race (2 groups)\n")
    out = tmp_path / "out.json"
    assert run(file, *COLUMNS, "--json", str(out), "--metric", "tpr").exit_code == 0
    a = eh.Audit.from_json(out.read_text("utf-8"))
    assert a == eh.audit(file, y_true="y", y_pred="yhat", groups=["race"], metrics=["tpr"])
    printed = run(file, *COLUMNS, "--json", "-", "--metric", "tpr").output
    assert json.loads(printed) == json.loads(out.read_text("utf-8"))
    assert run(file, *COLUMNS, "--markdown", "-").output == f"{eh.audit(file, **SETTINGS).to_markdown()}"


def test_exit_codes(file: str) -> None:
    for kinds, code in (((), 0), (("differs",), 1), (("four-fifths", "undefined"), 1), (("any",), 1)):
        assert run(file, *COLUMNS, *(word for kind in kinds for word in ("--fail-on", kind))).exit_code == code
    assert run("--example", "compas", "--metric", "acc", "--fail-on", "undefined").exit_code == 0
    gate = ["--example", "compas", "--fail-on", "undefined", "--json", "-"]
    for words, family in ((gate, "audit"), ([*gate, "--family", "metric"], "metric"), (gate[:2] + gate[4:], "metric")):
        assert json.loads(run(*words).stdout)["settings"]["family"] == family


def test_parquet_on_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    write_parquet({"g": list("aabb"), "y": [1, 0, 1, 0], "p": [1, 0, 0, 1]}, path)
    command = [sys.executable, "-m", "evenhand", "audit", "-", "--label", "y", "--prediction", "p", "--group", "g"]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"evenhand audit: 4 cases, g (2 groups)")


def test_a_table_of_counts_also_from_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("race,tp,fn,fp,tn\nA,9,6,4,21\nB,30,10,12,48\n", encoding="utf-8")
    words = ["--metric", "tpr", "--reference", "B"]
    result = run("--counts", str(path), *words)
    assert result.exit_code == 0 and "140 cases, race (2 groups)" in result.output
    piped = run("--counts", "-", *words, stdin=path.read_text("utf-8")).output
    assert piped.partition("\n")[2] == result.output.partition("\n")[2]
    path.write_bytes('g,tp,fn,fp,tn\r\n"a\nb",1,2,3,4\r\nc\u2028d,5,6,7,8\r\n'.encode())
    rows = json.loads(run("--counts", str(path), "--json", "-").output)["rows"]
    assert set(rows["group"]) == {"a\nb", "c\u2028d"}, "names are kept"


def test_options_from_a_file_and_the_command_line_above_it(file: str, tmp_path: Path) -> None:
    config = tmp_path / "audit.toml"
    columns = 'label = "y"\nprediction = "yhat"\ngroup = ["race"]\n'
    config.write_text(f'[audit]\n{columns}metric = ["tpr"]\nfail-on = ["any"]\n', "utf-8")
    assert run(file, "--config", str(config)).exit_code == 1
    content = json.loads(run(file, "--config", str(config), "--metric", "fpr", "--json", "-").stdout)
    assert content["settings"]["metrics"] == ["fpr"]
    for setting, wrong in (
        ('lable = "y"', f"no setting in {config} is called 'lable'; did you mean 'label'?"),
        ("audit = 3", f"audit in {config} must be a table of options; got 3"),
        ("confidence-level = {a = 1}", "'a=1' is not a valid float"),
        ("label = ['a', 'b']", "--label must be one value; got ['a', 'b']"),
        ("label = {a = {b = 1}}", "--label must not be a table of that form"),
        ("group-name = {race = 'x'}", "--group-name must not be a table of that form"),
        ("all = 5", "'5' is not a valid boolean"),
        ("label = true", "no column is called 'True'"),
        ("x = " + "[" * 5000 + "]" * 5000, f"{config} cannot be read: maximum recursion depth exceeded"),
    ):
        config.write_text(setting, "utf-8")
        assert wrong in " ".join(refused(file, *COLUMNS[2:], "--config", str(config)).split())


def test_what_cannot_be_audited_is_one_sentence_and_exit_code_2(file: str) -> None:
    one = "pass one of FILE, --counts FILE, --example NAME and --repeat FILE; see evenhand audit --help"
    strength = "--strength must be a number of cases, prev=…,tpr=…,fpr=…, or auto; got 'much'"
    for words, sentence in (
        ([], one),
        ([file, "--counts", file], one),
        (["--example", "compas", "--counts", file], one),
        ([file, "--label", "y"], "name the column of groups with --group COLUMN"),
        (["nowhere.csv", *COLUMNS], "there is no file nowhere.csv"),
        (["--counts", "nowhere.csv"], "there is no file nowhere.csv"),
        (["--repeat", "nowhere.json"], "nowhere.json cannot be read: No such file or directory"),
        (["--repeat", file],
         "--repeat must be an audit written by to_json(): Expecting value: line 1 column 1 (char 0)"),
        ([file, *COLUMNS, "--positive", "2"], "--positive must be one of the labels (0, 1); got 2"),
        ([file, *COLUMNS, "--json", "/nowhere/x.json"],
         "/nowhere/x.json cannot be written: No such file or directory"),
        ([file, *COLUMNS, "--strength", "much"], strength),
        ([file, "--label", "y", "--group", "race"],
         "pass either --prediction (predictions) or --score (scores); got neither"),
    ):  # fmt: skip
        assert refused(*words) == sentence


def test_an_empty_name_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parquet({"race": ["a", "b"], "y": [1, 0], "yhat": [1, 0]}, tmp_path / "d.parquet")
    monkeypatch.chdir(tmp_path)
    for words in (["", *COLUMNS], ["--counts", ""], ["--repeat", ""]):
        assert refused(*words) == "the name of the input file must not be empty; is a variable unset?"
    with pytest.raises(eh.errors.InvalidInput, match=r"^data must be a path to a file; got an empty path$"):
        eh.audit("", y_true="y", y_pred="yhat", groups="race")


def test_the_input_is_not_overwritten(file: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, hard = tmp_path / "elsewhere" / "link.csv", tmp_path / "elsewhere" / "hard"
    link.symlink_to(file)
    hard.hardlink_to(file)
    for words in ([file, *COLUMNS, "--html", file], [file, *COLUMNS, "--html", str(link)],
                  [file, *COLUMNS, "--html", str(hard)], [str(tmp_path / "*.csv"), *COLUMNS, "--html", file],
                  ["--counts", file, "--html", file]):  # fmt: skip
        assert refused(*words) == f"--html {words[-1]} would overwrite the input; choose another file"
        assert Path(file).read_text("utf-8") == ROWS
    out = str(tmp_path / "out")
    both = refused(file, *COLUMNS, "--json", out, "--markdown", out)
    assert both == f"--json and --markdown must be different files; got {out}"


def test_outputs_are_written_whole_or_not_at_all(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.json"
    out.write_text("what was there", "utf-8")
    out.chmod(0o640)
    before = sorted(tmp_path.iterdir())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        assert refused(file, *COLUMNS, "--json", str(out)) == f"{out} cannot be written: No space left on device"
        a = eh.audit_counts({"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)})
        with pytest.raises(eh.errors.InvalidInput, match=r"out\.json cannot be written: No space left on device$"):
            a.to_html(out)
    assert out.read_text("utf-8") == "what was there"
    assert sorted(tmp_path.iterdir()) == before
    link = tmp_path / "link.json"
    link.symlink_to(out)
    assert run(file, *COLUMNS, "--json", str(link)).exit_code == 0
    assert json.loads(out.read_text("utf-8"))["n"] == 55
    assert link.is_symlink() and stat.S_IMODE(out.stat().st_mode) == 0o640
    umask = os.umask(0o027)
    try:
        a.to_html(tmp_path / "new.html")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.html").stat().st_mode) == 0o640
    assert run(file, *COLUMNS, "--json", os.devnull, "--csv", os.devnull).exit_code == 0


def test_a_folder_that_cannot_be_opened_is_not_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed, scandir = tmp_path / "closed", os.scandir
    closed.mkdir()

    def guarded(path: Any) -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(closed))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert refused(str(tmp_path), *COLUMNS) == f"{closed} cannot be read: Permission denied"


def test_labels_and_predictions_without_a_value_in_common_need_positives_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("sex,repaid,decision\nF,yes,approved\nF,no,rejected\nM,yes,referred\nM,no,approved\n")
    columns = [str(path), "--label", "repaid", "--prediction", "decision", "--group", "sex"]
    sentence = (
        "labels and predictions have no value in common: --label 'no', 'yes' and --prediction 'approved', "
        "'referred', 'rejected'; pass the positive labels of each as --positive-label and --positive-prediction"
    )
    for words in ([], ["--positive", "approved"], ["--positive", "yes"]):
        assert refused(*columns, *words) == sentence
    assert refused(*columns, "--class", "all") == (
        "--label and --prediction have no class in common; predictions must be of the same classes as labels"
    )
    for words in (["--positive", "yes", "--positive", "approved"],
                  ["--positive-label", "yes", "--positive-prediction", "approved"]):  # fmt: skip
        assert run(*columns, *words).exit_code == 0


def test_names_from_the_data_are_not_taken_for_arguments(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("g,y_true,y_pred\nA,1,1\nA,0,0\nB,1,0\nB,0,1\n")
    for label, said in (("y", "known: g, y_true, y_pred"), ("Y_True", "did you mean 'y_true' or 'y_pred'?")):
        words = [str(path), "--label", label, "--prediction", "y_pred", "--group", "g"]
        assert refused(*words) == f"no column is called {label!r}; {said}"
    assert refused("--counts", str(path)) == f"{path} must have the columns tp, fn, fp and tn; got g, y_true, y_pred"
