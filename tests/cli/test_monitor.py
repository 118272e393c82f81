"""``evenhand monitor``: a state is kept in a file, batches are added once, and alarms stop a pipeline."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from monitored import make_batch, make_visits

import evenhand as eh
from evenhand.cli.main import evenhand as command

TABLE = "race,tp,fn,fp,tn\nA,4,8,1,9\nB,80,20,10,90\n"
OPTIONS = ["--label", "y", "--prediction", "p", "--group", "region"]


def _run(*words: Any, **more: Any) -> Any:
    result = CliRunner().invoke(command, ["monitor", *map(str, words)], **more)
    return result.exit_code, " ".join(result.output.split())


def _files(folder: Path, *batches: pd.DataFrame) -> list[Path]:
    for week, batch in enumerate(batches):
        batch.to_csv(folder / f"{week}.csv", index=False)
    return [folder / "state.json", *(folder / f"{week}.csv" for week in range(len(batches)))]


def test_the_command_keeps_a_state(tmp_path: Path) -> None:
    state, *files = _files(tmp_path, *(make_batch(week, gap=0.6) for week in range(4)))
    assert _run(state) == (2, f"Error: there is no monitor {state}; pass a FILE to begin it")
    code, said = _run(state, files[0], "--at", "W0", *OPTIONS, "--metric", "acc")
    kept = state.read_text("utf-8")
    assert code == 0 and said.startswith("Monitor of 1 batch: ") and "0.csv" not in kept and "W0" in kept
    code, said = _run(state, files[0], "--at", "W0", "--metric", "accuracy", "--alpha", "0.05")
    assert said.startswith("W0 was added before with the same counts; it changed nothing. Monitor of 1 batch: ")
    for words, says in (
        (["--at", "W0"], "was added with other counts"),
        ([], "say which batch it is with --at"),
        (["--at", "W1", "--alpha", "0.2"], "--alpha must stay 0.05, as when the monitor began; got 0.2"),
        (["--at", "W1", "--metric", "tpr"], "--metric must stay ['acc'], as when the monitor began; got ['tpr']"),
        (["--at", "W1", "--reference", "b"], "--reference must stay rest, as when the monitor began; got 'b'"),
        (["--at", "W1", "--strata", "y"], "--strata cannot be monitored; make the strata the groups"),
        (["--at", "W1", "--class", "all"], "--class cannot be monitored; say which are --positive"),
        (["--at", "W1", "--intersections", "2"], "--intersections cannot be monitored; pass an intersection"),
        (["--at", "W1", "--positive", "0"], "the label '1' was positive so far"),
    ):
        code, said = _run(state, files[1], *words)
        assert code == 2 and says in said
    assert state.read_text("utf-8") == kept
    for week in range(1, 4):
        last = _run(state, files[week], "--at", f"W{week}", "--fail-on", "alarm")
    assert last[0] == 1 and "alarm" in last[1] and _run(state) == (0, last[1])


def test_an_acknowledged_alarm_is_listed_as_known_and_stops_no_pipeline(tmp_path: Path) -> None:
    """The command exited with 1 forever after the first alarm. A batch's own alarms are never acknowledged with it."""
    state, first, second = tmp_path / "state.json", tmp_path / "1.csv", tmp_path / "2.csv"
    first.write_text("race,tp,fn,fp,tn\nA,5,45,1,9\nB,80,20,10,90\nC,80,20,10,90\n", "utf-8")
    second.write_text("race,tp,fn,fp,tn\nA,5,45,1,9\nB,80,20,10,90\nC,10,90,10,90\n", "utf-8")
    words = ["--counts", "--metric", "tpr", "--reference", "B", "--fail-on", "alarm"]
    assert _run(state, first, "--at", "W1", *words, "--acknowledge", "A:tpr")[0] == 2 and not state.exists()
    assert _run(state, first, "--at", "W1", *words)[0] == _run(state, "--fail-on", "alarm")[0] == 1
    code, said = _run(state, "--acknowledge", "race:A:recall", "--fail-on", "alarm")
    assert code == 0 and "1 alarm, 1 known" in said and "- W1 (known): A, True positive rate" in said
    kept = state.read_text("utf-8")
    refused: list[tuple[list[Any], str]] = [
        (["--acknowledge", "C:tpr"], "Error: 'C' has no alarm of 'tpr' to acknowledge"),
        (["--acknowledge", "A:fpr"], "Error: 'A' has no alarm of 'fpr' to acknowledge"),
        (["--acknowledge", "tpr"], "Error: '' has no alarm of 'tpr' to acknowledge"),
        ([second, "--counts", "--at", "W2", "--acknowledge", "C:tpr"], "'C' has no alarm of 'tpr' to acknowledge"),
    ]
    for more, says in refused:
        code, said = _run(state, *more)
        assert code == 2 and says in said and state.read_text("utf-8") == kept
    assert _run(state, second, "--counts", "--at", "W2", "--acknowledge", "A:tpr", "--fail-on", "alarm")[0] == 1
    assert [row.group for row in eh.Monitor.from_json(state.read_text("utf-8")).unacknowledged] == ["C"]


def test_a_batch_may_come_from_standard_input(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    code, said = _run(state, "-", "--counts", "--at", "W1", "--metric", "tpr", input=TABLE)
    assert code == 0 and "A tpr" in said and eh.Monitor.from_json(state.read_text("utf-8")).batches == ("W1",)
    words = [tmp_path / "rows.json", "-", "--at", "W1", "--metric", "acc", *OPTIONS]
    rows = "region,y,p\n" + "a,1,1\nb,0,1\nb,1,0\na,0,0\n" * 5
    assert _run(*words, input=rows)[0] == 0
    refusal = "Error: line 2 of standard input must have 3 values, as its header has; got 2 values"
    assert _run(*words, input="region,y,p\na,1\n") == (2, refusal)


def test_the_command_writes_a_page_and_counts_clusters_once(tmp_path: Path) -> None:
    state, first, file = _files(tmp_path, make_visits([1, 2, 3, 3]), make_visits([3, 4, 5]))
    page, link = tmp_path / "monitor.html", tmp_path / "link"
    words = [*OPTIONS, "--metric", "tpr", "--cluster", "person", "--positive", "1"]
    assert _run(state, first, "--at", "W0", *words)[0] == 0
    code, said = _run(state, file, "--at", "W1", "--html", page)
    assert code == 0 and "Each person counts once" in said
    before = state.read_text("utf-8")
    assert page.read_text("utf-8") == eh.Monitor.from_json(before).to_html()
    assert _run(state, "--html", "-")[1] == " ".join(page.read_text("utf-8").split())
    link.hardlink_to(state)
    for more, says in (
        (["--html", state], f"Error: --html {state} would overwrite STATE; choose another file"),
        (["--html", link], f"Error: --html {link} would overwrite STATE; choose another file"),
        ([file, "--at", "W2", "--html", file], f"Error: --html {file} would overwrite FILE; choose another file"),
        ([state, "--at", "W2"], f"Error: STATE and FILE must be different files; got {state}"),
    ):
        assert _run(state, *more) == (2, says)
    assert state.read_text("utf-8") == before


def test_a_batch_that_another_process_would_lose_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes add batches to the same state; the one that comes last says so, and writes nothing."""
    module: Any = import_module("evenhand.cli.monitor")
    state, table = tmp_path / "state.json", tmp_path / "counts.csv"
    table.write_text(TABLE, "utf-8")
    words = [state, table, "--counts", "--metric", "tpr", "--at"]
    read: Any = module.read_counts

    def meanwhile(path: Any) -> Any:
        monkeypatch.setattr(module, "read_counts", read)
        assert _run(*words, "W1")[0] == 0
        return read(path)

    monkeypatch.setattr(module, "read_counts", meanwhile)
    refusal = f"Error: {state} changed in the meantime, so nothing was written; run the command again"
    assert _run(*words, "W2") == (2, refusal)
    assert eh.Monitor.from_json(state.read_text("utf-8")).batches == ("W1",)
    assert _run(*words, "W2")[0] == 0
    assert eh.Monitor.from_json(state.read_text("utf-8")).batches == ("W1", "W2")


def test_a_state_that_cannot_be_written_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, first, second = _files(tmp_path, make_batch(0), make_batch(1))
    assert _run(state, first, "--at", "W0", *OPTIONS)[0] == 0
    before = state.read_text("utf-8")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    code, said = _run(state, second, "--at", "W1")
    assert code == 2 and "cannot be written: No space left on device" in said
    assert state.read_text("utf-8") == before and not list(tmp_path.glob(".evenhand*"))
