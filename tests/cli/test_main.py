"""The command as a process: exit codes, closed pipes, full disks, and options that are given twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from signals import heeded

from evenhand.cli import COMMANDS, evenhand


def run(*words: str) -> Result:
    return CliRunner().invoke(evenhand, words, catch_exceptions=False)


def test_commands_begin_their_help_with_the_sentence_by_which_they_are_listed() -> None:
    listed = run("--help").output
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name}  " in listed and summary in listed
        assert summary in " ".join(run(name, "--help").output.split())


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = "import sys; from evenhand.cli import run\ntry: run()\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert "Report which groups score higher" in done.stdout
    assert not {"numpy", "evenhand.cli.audit", "evenhand.auditing"} & set(done.stdout.split())


def command(*words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, with its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *words], capture_output="stdout" not in settings, text=True, check=False,
        **settings,
    )  # fmt: skip


AUDITED = ["--label", "y", "--prediction", "p", "--group", "g"]


@pytest.mark.slow
def test_no_failure_is_mistaken_for_a_finding() -> None:
    match = ["match", "--metric", "tpr", "--group", "1", "1", "1", "1", "--reference"]
    for words, sentence in (
        ([*match, "nan", "1", "1", "1"], "tp must be finite; got nan"),
        ([*match, "inf", "1", "1", "1"], "tp must be finite; got inf"),
        (["audit", "~nosuchuser/x.csv", *AUDITED],
         "~nosuchuser/x.csv cannot be read: Could not determine home directory."),
        (["audit", "/", *AUDITED], "data must be a file or a folder of Parquet files; got /"),
        (["audit", "x" * 5000 + ".csv", *AUDITED], f"{'x' * 200}… cannot be read: File name too long"),
        (["audit", "--counts", "/"], "data must be a file or a folder of Parquet files; got /"),
    ):  # fmt: skip
        done = command(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: {sentence}\n")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_sentence() -> None:
    for words in (["metrics"], ["metrics", "--json"], ["audit", "--example", "compas"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = command(*words, stdout=full, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (2, "Error: the output cannot be written: No space left on device\n")


def test_a_closed_pipe_is_quiet() -> None:
    """141, as of other programs that a pipe stops, so that it is neither success nor a finding."""
    for words in (["metrics"], ["metrics", "--json"], ["--help"], ["audit", "--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = command(*words, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, "")


def test_a_bug_is_reported_as_one() -> None:
    code = (
        "from evenhand import cli\nfrom evenhand.cli import counts\n"
        "def broken(*names): raise ZeroDivisionError('two\\nlines')\n"
        "counts.list_metrics = broken\n"
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
    with heeded(signal.SIGINT):
        running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with running, fifo.open("w"):
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "Interrupted; nothing is left half written.")


def test_an_option_of_one_value_is_given_once_and_others_are_repeated() -> None:
    cells = ["1", "1", "1", "1"]
    for words, option in (
        (["audit", "d.csv", "--label", "a", "--label", "b"], "--label"),
        (["audit", "d.csv", "--label=a", "--score", "--label", "--label", "b"], "--label"),
        (["undefined", "--n", "3", "--n", "4"], "--n"),
        (["smooth", "--group", *cells, "--group", *cells, "--reference", *cells], "--group"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert f"Error: {option} must be given only once." in " ".join(result.output.split())
    assert run("undefined", "--n", "3", "--metric", "tpr", "--metric", "fpr").exit_code == 0
    assert run("metrics", "--json", "--json").exit_code == 0
    # Values may look like options.
    result = run("audit", "nowhere.csv", "--label", "--score", "--score", "--label", "--group", "g")
    assert "there is no file nowhere.csv" in result.output
    done = run("adit")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "Error: no command is called 'adit'; did you mean 'audit'?"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="closes streams as shells of Unix do")
def test_closed_streams_are_no_bugs() -> None:
    shell = 'closed=$1; shift; eval "exec $closed"; exec "$0" -m evenhand "$@"'
    no_output = "Error: the output cannot be written: standard output is closed"
    no_input = "Error: standard input (-) is closed; name a file in place of -"
    for words, closed, code, sentence in (
        (["audit", "--example", "compas"], ">&-", 2, no_output),
        (["--help"], ">&-", 2, no_output),
        (["audit", "-", *AUDITED], "<&-", 2, no_input),
        (["audit", "--counts", "-"], "<&-", 2, no_input),
        (["audit", "--example", "compas"], "2>&-", 0, ""),
    ):
        line = ["bash", "-c", shell, sys.executable, closed, *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.strip()) == (code, sentence)
