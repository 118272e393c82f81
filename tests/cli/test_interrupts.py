"""Ctrl-C at any moment: exit code 130, one sentence, and nothing left behind; and the same bytes from many at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest
from signals import heeded

import evenhand

ROWS = "g,y,p,s\n" + "".join(f"{'abcdefgh'[i % 8]},{i % 2},{i // 2 % 2},{i % 97 / 97:.3f}\n" for i in range(4_000))
PLACES = {
    "reading": "evenhand.auditing.audits:build_tally",
    "evaluating": "evenhand.auditing.run:evaluate_counts",
    "deciding": "evenhand.auditing.verdicts:choose_verdicts",
    "rendering": "evenhand.reports:as_page",
    "planning": "evenhand.planning.sample_size:_size_for_power",
    "replacing": "os:replace",
}
# Runs the command with one function replaced by one that says where it is, and waits.
PAUSED = """
import importlib, sys, time
from evenhand.__main__ import main
def pause(*_, **__):
    print("paused", file=sys.stderr, flush=True)
    time.sleep(60)
module, _, name = sys.argv.pop(1).partition(":")
setattr(importlib.import_module(module), name, pause)
main()
"""


def environment(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    # A relative path to the code would not be found from another folder.
    code = str(Path(evenhand.__file__).parent.parent)
    return {**os.environ, "TMPDIR": str(folder / "tmp"), "SOURCE_DATE_EPOCH": "0", "PYTHONPATH": code}


def interrupted(folder: Path, where: str, stdin: IO[bytes], sign: signal.Signals) -> tuple[int, str]:
    """Exit code and standard error of a command that is interrupted at a place; its process group must be gone."""
    line = [sys.executable, "-c", PAUSED, PLACES[where], *WORDS[where]]
    with heeded(sign):
        child = subprocess.Popen(line, cwd=folder, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 text=True, env=environment(folder), start_new_session=True)  # fmt: skip
    said = ""
    with child:
        assert child.stderr is not None
        for line_said in child.stderr:
            if line_said == "paused\n":
                os.killpg(child.pid, sign)
                break
            said += line_said
        said += child.stderr.read()
        code = child.wait(30)
    gone(child.pid)
    return code, said


OUTPUTS = ["--html", "out.html", "--json", "out.json", "--csv", "out.csv", "--markdown", "out.md"]
AUDIT = ["audit", "d.csv", "--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc", *OUTPUTS]
SCORED = ["audit", "d.csv", "--label", "y", "--score", "s", "--group", "g", "--metric", "acc", *OUTPUTS]
PLAN = ["plan", "size", "--metric", "tpr", "--reference", "30", "10", "10", "50", "--difference", "0.1"]


WORDS = dict.fromkeys(PLACES, AUDIT) | {
    "reading": ["audit", "-", *AUDIT[2:]],
    "evaluating": [*SCORED, "--threshold", "0.2", "--threshold", "0.7"],
    "planning": PLAN,
}


@pytest.mark.slow
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_command_leaves_nothing_and_ends_with_130_or_as_signals_do(
    where: str, sign: signal.Signals, tmp_path: Path
) -> None:
    """Outputs are those of an earlier audit or whole ones; no temporary file and no process remains."""
    (tmp_path / "d.csv").write_text(ROWS)
    for name in OUTPUTS[1::2]:
        (tmp_path / name).write_text("earlier")
    with (tmp_path / "d.csv").open("rb") as stdin:
        code, said = interrupted(tmp_path, where, stdin, sign)
    expected = 130 if sign == signal.SIGINT else -sign
    assert (code, said.strip()) == (expected, "Interrupted; nothing is left half written.")
    assert {path.name for path in tmp_path.rglob("*")} == {"d.csv", "tmp", *OUTPUTS[1::2]}
    contents = {name: (tmp_path / name).read_text("utf-8") for name in OUTPUTS[1::2]}
    if where == "rendering":
        assert json.loads(contents.pop("out.json"))["n"] == 4_000
    assert set(contents.values()) == {"earlier"}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads what Linux says of a process")
def test_what_runs_in_the_background_does_not_heed_ctrl_c(tmp_path: Path) -> None:
    """A shell lets it ignore the signal, which is meant for what runs in front; so does the command."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        words = [sys.executable, "-c", PAUSED, PLACES["planning"], *PLAN]
        child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment(tmp_path))
    finally:
        signal.signal(signal.SIGINT, before)
    assert child.stderr is not None
    with child:
        assert child.stderr.readline() == "paused\n"
        child.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert child.poll() is None
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == -signal.SIGTERM


def gone(group: int) -> None:
    """All processes of a group have ended; the system may take a moment to see that."""
    latest = time.monotonic() + 10
    while time.monotonic() < latest:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a process was left behind")


COUNTED = """
import sys, evenhand as eh
sys.stdout.write(eh.audit("d.csv", y_true="y", y_pred="p", groups="g", metrics="acc").to_json())
"""


@pytest.mark.slow
def test_audits_in_processes_at_once_are_the_same_bytes(tmp_path: Path) -> None:
    """Of the command, and of the library; and of those that write the same file, one whole file remains."""
    (tmp_path / "d.csv").write_text(ROWS)
    words = ["d.csv", "--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc", "--json", "a.json"]
    calls = [["-m", "evenhand", "audit", *words, "--csv", "-"], ["-c", COUNTED]] * 2

    def output(call: list[str]) -> bytes:
        done = subprocess.run(
            [sys.executable, *call], cwd=tmp_path, env=environment(tmp_path), capture_output=True, check=True
        )
        return done.stdout

    with ThreadPoolExecutor(len(calls)) as pool:
        one, first, two, second = pool.map(output, calls)
    assert one == two
    assert first == second
    written, other = json.loads((tmp_path / "a.json").read_text()), json.loads(first)
    assert (written["rows"], written["findings"]) == (other["rows"], other["findings"])
    assert {path.name for path in tmp_path.rglob("*")} == {"d.csv", "tmp", "a.json"}
