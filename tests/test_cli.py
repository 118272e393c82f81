from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evenhand import list_metrics
from evenhand.faces.cli import evenhand

REFERENCE = "116 177 554 2429"


def run(*words: str) -> Result:
    return CliRunner().invoke(evenhand, words, catch_exceptions=False)


def test_metrics_lists_the_catalogue() -> None:
    result = run("metrics")

    assert result.exit_code == 0
    for m in list_metrics():
        assert m.key in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_metrics_tells_everything_about_one() -> None:
    assert run("metrics", "recall").output == (
        "True positive rate (tpr)\n"
        "  formula    TP / (TP + FN)\n"
        "  shape      ratio\n"
        "  range      0 to 1\n"
        "  better     higher\n"
        "  synonyms   recall, sensitivity, hit rate\n"
        "  undefined  no actual positives (TP + FN = 0)\n"
        "  elsewhere  recall_score in scikit-learn\n"
        "             true_positive_rate in fairlearn\n"
    )


def test_metrics_as_json_is_the_catalogue() -> None:
    records = json.loads(run("metrics", "--json").output)
    assert [r["key"] for r in records] == [m.key for m in list_metrics()]
    assert records[6]["undefined_if"] == "no actual positives (TP + FN = 0)"


def test_undefined_prints_table_1() -> None:
    output = run("undefined", "--n", "20").output

    assert "764,841" in output
    assert "Θ(n log n) on average" in output
    assert "acc prev ppr" in output
    assert max(map(len, output.splitlines())) <= 80


def test_undefined_with_a_reference_gives_probabilities() -> None:
    found = json.loads(
        run("undefined", "--n", "5", "--metric", "tpr", "--reference", "116", "177", "554", "2429", "--json").output
    )
    assert found[0]["probability"] == pytest.approx(0.626, abs=5e-4)
    assert found[0]["count"] == 6


def test_match_prints_a_block_and_an_interval() -> None:
    output = run(*f"match --group 3 1 0 6 --reference {REFERENCE} --metric tpr".split()).output

    assert output.startswith("MATCH test of True positive rate (tpr), group of 10 against a reference of 3,276\n")
    assert "  p-value       0.3568 (two-sided)\n" in output
    assert "  interval      0.2838 to 0.9715 (95 %)\n" in output


def test_match_of_all_metrics_is_a_table_with_reasons() -> None:
    output = run(*f"match --group 0 0 2 6 --reference {REFERENCE} --metric all".split()).output

    assert all(m.key in output for m in list_metrics())
    assert "tpr is undefined: no actual positives (TP + FN = 0)" in output
    assert max(map(len, output.splitlines()[:50])) <= 80


def test_match_as_json_is_the_papers_test() -> None:
    words = "match --group 80 20 0 0 --reference 0.75 0.25 0 0 --metric acc --null known --given n --json"
    (found,) = json.loads(run(*words.split()).output)
    assert found["percentile"] == pytest.approx(0.9004695898946859)
    assert found["null"] == "known"


def test_smooth_shows_raw_beside_smoothed_and_the_verdict() -> None:
    output = run(*f"smooth --group 3 1 0 6 --reference {REFERENCE}".split()).output
    assert "50% of a share's gap remains" in output
    assert "the reference is doubtful" in output
    found = json.loads(run(*f"smooth --group 3 1 0 6 --reference {REFERENCE} --strength auto --json".split()).output)
    assert found["scores"][2]["raw"] == 0.75
    assert 2 < found["strength"] < 32
    empty = json.loads(run(*f"smooth --group 0 0 0 0 --reference {REFERENCE} --json".split()).output)
    assert empty["prior_only"]


def test_json_has_no_infinities() -> None:
    assert "Infinity" not in run("metrics", "--json").output


def test_large_counts_stay_on_one_line() -> None:
    output = run("undefined", "--n", "1000000000000").output
    assert "1.667e+35" in output
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["metrics", "recal"], "Error: no metric is called 'recal'; did you mean 'recall'?"),
        (
            [*f"smooth --group 1 1 1 1 --reference {REFERENCE} --strength strong".split()],
            "Error: strength must be a number of cases, prev=…,tpr=…,fpr=…, or auto; got 'strong'",
        ),
        (["undefined", "--n", "-3"], "Error: n must not be negative; got -3"),
        (["undefined", "--n", "3", "--reference", "1", "-1", "0", "0"], "Error: fn must not be negative; got -1"),
    ],
)
def test_what_is_refused_is_one_sentence_and_exit_code_2(words: list[str], sentence: str) -> None:
    result = run(*words)
    assert (result.exit_code, result.output.strip()) == (2, sentence)


def test_the_module_runs_as_a_command() -> None:
    found = subprocess.run([sys.executable, "-m", "evenhand", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("evenhand, version ")


def test_without_the_extra_the_command_says_which_to_install() -> None:
    code = "import sys; sys.modules['click'] = None\nfrom evenhand.__main__ import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.strip() == "evenhand: the command line needs the extra 'cli': pip install 'evenhand[cli]'"


def command(*words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, with its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *words], capture_output="stdout" not in settings, text=True, check=False,
        **settings,
    )  # fmt: skip


AUDITED = ["--label", "y", "--prediction", "p", "--group", "g"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["match", "--group", "1", "1", "1", "1", "--reference", "nan", "1", "1", "1", "--metric", "tpr"],
         "Error: tp must be finite; got nan"),
        (["match", "--group", "1", "1", "1", "1", "--reference", "inf", "1", "1", "1", "--metric", "tpr"],
         "Error: tp must be finite; got inf"),
        (["audit", "~nosuchuser/x.csv", *AUDITED],
         "Error: ~nosuchuser/x.csv cannot be read: Could not determine home directory."),
        (["audit", "/", *AUDITED], "Error: data must be a file or a folder of Parquet files; got /"),
        (["audit", "x" * 5000 + ".csv", *AUDITED], f"Error: {'x' * 200}… cannot be read: File name too long"),
        (["audit", "--counts", "x" * 5000], f"Error: {'x' * 200}… cannot be read: File name too long"),
        (["audit", "--counts", "/"], "Error: / cannot be read: Is a directory"),
    ],
)  # fmt: skip
def test_no_failure_is_mistaken_for_a_finding(words: list[str], sentence: str) -> None:
    done = command(*words)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", sentence)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["metrics"], ["metrics", "--json"], ["audit", "--example", "compas"], ["--help"]])
def test_a_full_disk_is_a_sentence(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = command(*words, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, "Error: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize("words", [["metrics"], ["metrics", "--json"], ["--help"], ["audit", "--help"]])
def test_a_closed_pipe_is_quiet(words: list[str]) -> None:
    """141, as of other programs that a pipe stops, so that it is neither success nor a finding."""
    reading, writing = os.pipe()
    os.close(reading)
    done = command(*words, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_bug_is_reported_as_one() -> None:
    code = (
        "from evenhand.faces import cli, count_commands\n"
        "def broken(*names): raise ZeroDivisionError('two\\nlines')\n"
        "count_commands.list_metrics = broken\n"
        "import sys; sys.argv = ['evenhand', 'metrics']; cli.run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr == (
        "Error: evenhand failed unexpectedly (ZeroDivisionError: two); this is a bug. Please report it with the "
        "command and its traceback, which EVENHAND_TRACEBACK=1 prints.\n"
    )
    settings = os.environ | {"EVENHAND_TRACEBACK": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 70
    assert "Traceback (most recent call last):" in done.stderr


def test_ctrl_c_says_what_is_left(tmp_path: Path) -> None:
    fifo = tmp_path / "counts.csv"
    os.mkfifo(fifo)
    words = [sys.executable, "-m", "evenhand", "audit", "--counts", str(fifo)]
    # A pipe can be opened for writing once the command waits for the table.
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running, fifo.open("w"):
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "Interrupted; nothing is left half written.")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["audit", "d.csv", "--label", "a", "--label", "b"], "--label"),
        (["audit", "d.csv", "--label=a", "--score", "--label", "--label", "b"], "--label"),
        (["undefined", "--n", "3", "--n", "4"], "--n"),
        (["smooth", "--group", "1", "1", "1", "1", "--group", "1", "1", "1", "1", "--reference", "1", "1", "1", "1"],
         "--group"),
    ],
)  # fmt: skip
def test_an_option_of_one_value_is_given_once(words: list[str], option: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert f"Error: {option} is given more than once, but takes one value." in " ".join(result.output.split())


def test_options_of_several_values_are_repeated_and_values_may_look_like_options() -> None:
    assert run("undefined", "--n", "3", "--metric", "tpr", "--metric", "fpr").exit_code == 0
    assert run("metrics", "--json", "--json").exit_code == 0
    result = run("audit", "nowhere.csv", "--label", "--score", "--score", "--label", "--group", "g")
    assert "there is no file nowhere.csv" in result.output


def test_a_command_that_is_mistyped_is_guessed() -> None:
    done = CliRunner().invoke(evenhand, ["adit"])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "Error: no command is called 'adit'; did you mean 'audit'?"
