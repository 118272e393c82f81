"""Options, config files and saved audits: all read the records of settings, and mean what the library does."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import evenhand as eh
from evenhand.auditing import AuditRequest, ModelsRequest, flat_settings
from evenhand.cli import evenhand
from evenhand.cli.audit import audit, compare

ROWS = "race,y,p,q,s,site,w,age\n" + "".join(
    f"{'ABC'[i % 3]},{i % 2},{i // 3 % 2},{i // 5 % 2},{i % 11 / 10},{'xy'[i % 7 > 2]},{1 + i % 2},{20 + i % 40}\n"
    for i in range(240)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(ROWS, "utf-8")
    return tmp_path


def run(command: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(evenhand, shlex.split(command), input=stdin, catch_exceptions=False)


def made(command: str, stdin: str | None = None) -> eh.Audit:
    done = run(f"{command} --json -", stdin)
    assert done.exit_code == 0, done.output
    return eh.Audit.from_json(done.output)


def test_every_setting_with_an_option_has_it_with_its_help_and_default() -> None:
    """Nothing about a setting is written in the command."""
    for command, request in ((audit, AuditRequest), (compare, ModelsRequest)):
        options: dict[Any, Any] = {parameter.name: parameter for parameter in command.params}
        for name, (default, known) in flat_settings(request).items():
            if known.option is None:
                continue
            option = options[name]
            assert option.opts == [known.option]
            assert option.help.startswith(known.brief)
            if not known.many and default not in (None, False):
                assert option.help.endswith(f"  [default: {default}]")
            assert option.multiple == known.many
            assert getattr(option.type, "choices", None) == (known.choices or None)


BASE = {"y_true": "y", "groups": ["race"]}
COLUMNS = "d.csv --label y --group race"


@pytest.mark.slow
def test_options_are_the_arguments_of_the_library() -> None:
    settings: dict[str, Any]
    for words, settings in (
        ("--prediction p --strata site", {"y_pred": "p", "strata": ["site"]}),
        ("--prediction p --positive-label 1 --positive-prediction 1 --cases people --outcome ill --decision 'ran/sat'",
         {"y_pred": "p", "positive": {"label": "1", "prediction": "1"},
          "wording": {"cases": "people", "outcome": "ill", "decision": ["ran", "sat"]}}),
        ("--prediction p --sample-weight w", {"y_pred": "p", "sample_weight": "w"}),
        ("--score s --threshold 0.3 --threshold 0.6 --metric tpr --metric auc --rng 3",
         {"y_score": "s", "threshold": [0.3, 0.6], "metrics": ["tpr", "auc"], "rng": 3}),
        ("--prediction p --group age --bins age=30,40.5 --intersections 1 --reference age='30 to below 40.5'",
         {"y_pred": "p", "groups": ["race", "age"], "bins": {"age": [30, 40.5]}, "intersections": 1,
          "reference": {"age": "30 to below 40.5"}}),
        ("--prediction p --group-name race:A=Ann --positive 1 --reference 30,10,12,48 --strength prev=7,tpr=20,fpr=20",
         {"y_pred": "p", "group_names": {"race": {"A": "Ann"}}, "positive": "1", "reference": "30,10,12,48",
          "strength": {"prev": 7, "tpr": 20, "fpr": 20}}),
    ):  # fmt: skip
        assert made(f"audit {COLUMNS} {words}") == eh.audit("d.csv", **(BASE | settings)), words


def test_classes_and_averages_are_options_like_others(folder: Path) -> None:
    rows = [f"{'AB'[i % 2]},{'cdf'[i % 3]},{'cdf'[(i + i % 4 // 3) % 3]}\n" for i in range(120)]
    (folder / "pets.csv").write_text("g,y,p\n" + "".join(rows), "utf-8")
    given: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": ["g"]}
    words = "audit pets.csv --label y --prediction p --group g"
    every = eh.audit("pets.csv", classes="all", metrics=["tpr", "macro f1"], **given)
    assert made(f"{words} --class all --metric tpr --metric 'macro f1'") == every
    some = eh.audit("pets.csv", classes=["c", "f"], **given)
    assert made(f"{words} --class c --class f") == some
    assert run(f"{words} --metric 'macro f1'").stderr == (
        "Error: macro f1 is an average over classes; pass --class 'all', or ask for other metrics\n"
    )
    assert run(f"{words} --class all --positive c").stderr == (
        "Error: --positive is for two classes and cannot be combined with --class\n"
    )


@pytest.mark.slow
def test_models_are_compared(folder: Path) -> None:
    expected = eh.compare("d.csv", y_true="y", models={"old": "p", "new": "q"}, groups="race")
    words = "compare d.csv --label y --model old=p --model new=q --group race"
    found = made(words)
    assert found == expected
    assert made(words.replace("d.csv", "-"), ROWS).rows == expected.rows
    assert run(f"{words} --quiet --fail-on inconclusive").exit_code == 1
    assert run(words).output.startswith("evenhand compare: ")
    at = eh.compare("d.csv", y_true="y", y_score="s", threshold=[0.3, 0.6], groups="race")
    assert made("compare d.csv --label y --score s --threshold 0.3 --threshold 0.6 --group race") == at


def test_models_below_each_other_are_paired_by_cluster_and_compared_with_a_baseline(folder: Path) -> None:
    """The same decisions with a row per case and model."""
    lines = ["case,race,y,model,prediction"]
    for i, row in enumerate(ROWS.splitlines()[1:]):
        race, y, p, q, *_ = row.split(",")
        lines += [f"{i},{race},{y},new,{q}", f"{i},{race},{y},old,{p}"]
    (folder / "long.csv").write_text("\n".join([*lines, ""]), "utf-8")
    words = "compare long.csv --label y --group race"
    for more, models in (("", {"new": "q", "old": "p"}), ("--baseline old", {"old": "p", "new": "q"})):
        expected = eh.compare("d.csv", y_true="y", models=models, groups="race")
        found = made(f"{words} --prediction prediction --model-column model --cluster case {more}")
        assert found.rows == expected.rows
    each = "are for rows that are decisions of one model each; pass both"
    for options, sentence in (
        ("--prediction prediction --model-column model", f"--cluster and --model-column {each}"),
        ("--cluster case --model-column model", f"--prediction and --model-column {each}"),
        ("--cluster race --prediction prediction --model-column model",
         "--cluster must be decided on once by each model; 'A' is decided on twice by new"),
        ("--model a=prediction --model b=y --cluster case", f"--cluster and --model-column {each}"),
    ):  # fmt: skip
        done = run(f"{words} {options}")
        assert (done.exit_code, done.stderr) == (2, f"Error: {sentence}\n")


def test_messages_speak_of_options() -> None:
    compared = "pass one of --model, --result, --model-column and --score, which say what is compared; got none"
    for words, sentence in (
        ("compare", "pass a FILE, or one file for each model, with --key COLUMN --model NAME=FILE; see evenhand "
                        "compare --help"),
        (f"compare {COLUMNS}", compared),
        (f"compare {COLUMNS} --model old", "--model must be NAME=COLUMN, such as old=p1; got 'old'"),
        (f"compare {COLUMNS} --model old=p",
         "--model must contain at least two models with different names; got 'old'"),
        ("audit --example compas --label y", "--label says how a FILE is read; pass a FILE"),
        (f"audit {COLUMNS} --prediction p --strata race", "--strata must not contain a group column; got 'race'"),
        (f"audit {COLUMNS} --prediction p --alpha 2", "--alpha must be a number between 0 and 1; got 2.0"),
        (f"audit {COLUMNS} --prediction p --bins age",
         "--bins must be COLUMN=CUT,CUT,... with numbers, such as age=25,45; got 'age'"),
        (f"audit {COLUMNS} --prediction p --threshold 0.5",
         "--threshold is for scores; pass them as --score, or leave --threshold out"),
    ):  # fmt: skip
        done = run(words)
        assert (done.exit_code, done.stderr) == (2, f"Error: {sentence}\n")


def test_wrong_choices_and_bad_numbers() -> None:
    for words, sentence in (
        ("--adjust homl", "'--adjust': 'homl' is not one of 'holm', 'bh', 'none'."),
        ("--alpha x", "'--alpha': 'x' is not a valid float."),
        ("--rng 1.5", "'--rng': '1.5' is not a valid integer."),
    ):
        done = run(f"audit {COLUMNS} --prediction p {words}")
        assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, f"Error: Invalid value for {sentence}")


CONFIG = """
[audit]
y_true = "y"
prediction = "p"
groups = ["race", "age"]
metrics = ["tpr", "fpr"]
alpha = 0.01
bins = {age = [30]}
strength = {prev = 7, tpr = 20, fpr = 20}
reference = {race = "A"}
[audit.group-name.race]
A = "a=b:c"

[compare]
label = "y"
group = "race"
[compare.model]
old = "p"
"new=er" = "q"
"""


def test_config_files_take_the_names_of_options_and_of_settings(folder: Path) -> None:
    (folder / "audit.toml").write_text(CONFIG, "utf-8")
    settings: dict[str, Any] = {
        "metrics": ["tpr", "fpr"],
        "alpha": 0.01,
        "bins": {"age": [30]},
        "strength": {"prev": 7, "tpr": 20, "fpr": 20},
        "reference": {"race": "A"},
        "group_names": {"race": {"A": "a=b:c"}},
    }
    expected = eh.audit("d.csv", y_true="y", y_pred="p", groups=["race", "age"], **settings)
    assert made("audit d.csv --config audit.toml") == expected
    models = {"old": "p", "new=er": "q"}
    assert made("compare d.csv --config audit.toml") == eh.compare("d.csv", y_true="y", models=models, groups="race")


def test_saved_audits_are_repeated_whatever_they_are(folder: Path) -> None:
    for words in (
        f"audit {COLUMNS} --prediction p --strata site --metric tpr",
        "compare d.csv --label y --model old=p --model new=q --group race",
        "audit --example compas --metric tpr --reference race=Caucasian",
    ):
        assert run(f"{words} --json saved.json --quiet").exit_code == 0
        again = run("audit --repeat saved.json --quiet --json again.json")
        assert (again.exit_code, again.stdout) == (0, "Nothing changed.\n"), words
        calls = [json.loads(Path(name).read_text("utf-8"))["provenance"] for name in ("saved.json", "again.json")]
        assert calls[0]["call"] == calls[1]["call"]
    refused = run("audit --repeat saved.json --label y")
    assert refused.stderr == "Error: --label cannot be combined with --repeat, which keeps all settings\n"
    (folder / "d.csv").write_text(ROWS.replace("A,0,0", "A,0,1", 5), "utf-8")
    run(f"audit {COLUMNS} --prediction p --json saved.json --quiet")
    (folder / "d.csv").write_text(ROWS, "utf-8")
    changed = run("audit --repeat saved.json --quiet")
    assert changed.exit_code == 1
    assert changed.stdout.startswith("Changed:\n- ")
    assert "\n- the SHA-256 of the data was " in changed.stdout
    for name in ("saved.json", "d.csv"):
        assert run(f"audit --repeat saved.json --quiet --json {name}").stderr == (
            f"Error: --json {name} would overwrite the input; choose another file\n"
        )


def test_help_imports_no_reader_of_files_no_plots_and_no_page() -> None:
    heavy = "{'duckdb', 'matplotlib', 'jinja2', 'starlette'}"
    code = f"import sys; from evenhand.cli import run\ntry: run()\nfinally: print({heavy} & {{*sys.modules}} or 'none')"
    done = subprocess.run([sys.executable, "-c", code, "audit", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("none\n")
