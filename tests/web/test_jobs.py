"""Jobs: any work can be given up, is overtaken by later work, and ends in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from web_client import MINE, PLAN, TABLE, App, eventually, gone, started

OTHER_TABLE = {"text": "g,tp,fn,fp,tn\nB,5,6,7,8\n"}
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes as Linux lists them")


def test_cancelling_ends_the_work_at_once_and_the_web_app_goes_on(shared: App) -> None:
    pid = started(shared, "audits")
    job, waiting = (shared.post("table", TABLE).json()["job"] for _ in range(2))
    eventually(lambda: shared.state(job)["state"] == "working")
    assert shared.state(waiting)["state"] == "waiting"
    start = time.monotonic()
    assert shared.client.get("/token/").status_code == 200
    assert shared.client.delete(f"/token/job/{waiting}", headers=MINE).json()["state"] == "cancelled"
    assert shared.client.delete(f"/token/job/{job}", headers=MINE).json()["state"] == "cancelled"
    eventually(lambda: gone(pid), 10)
    assert time.monotonic() - start < 1
    assert shared.answer(shared.post("table", TABLE))["cases"] == 10


def test_what_another_tab_asked_is_answered_when_work_is_cancelled_or_killed(shared: App) -> None:
    for how in ("cancelled", "failed"):
        pid = started(shared, "audits")
        mine = shared.post("table", TABLE, slot="mine").json()["job"]
        theirs = shared.post("table", OTHER_TABLE, slot="theirs")
        eventually(lambda mine=mine: shared.state(mine)["state"] == "working")
        if how == "cancelled":
            shared.client.delete(f"/token/job/{mine}", headers=MINE)
        else:
            os.kill(pid, signal.SIGKILL)
        assert shared.answer(theirs)["cases"] == 26
        assert shared.state(mine)["state"] == how
        assert gone(pid)


@pytest.mark.slow
def test_a_later_job_overtakes_an_earlier_one_in_its_slot(shared: App) -> None:
    pid = started(shared)
    first = shared.post("plan", PLAN, slot="mine").json()["job"]
    other = shared.post("plan", PLAN, slot="yours").json()["job"]
    eventually(lambda: shared.state(first)["state"] == "working")
    last = shared.post("plan", PLAN | {"metric": "acc"}, slot="mine")
    assert shared.state(first)["state"] == "cancelled"
    assert "in acc of" in shared.answer(last)["text"]
    assert gone(pid)
    assert shared.state(other)["state"] == "done"


def test_a_quick_answer_is_not_worth_a_new_process(shared: App) -> None:
    shared.answer(shared.post("plan", PLAN))
    pid = shared.worker("plans")
    jobs = [shared.post("plan", PLAN, slot="typing") for _ in range(8)]
    assert shared.end(jobs[-1])["state"] == "done"
    assert shared.worker("plans") == pid


def test_a_job_that_takes_too_long_or_dies_fails_with_a_sentence(shared: App, monkeypatch: pytest.MonkeyPatch) -> None:
    started(shared)
    monkeypatch.setattr(shared.store, "plan_seconds", 0.3)
    end = shared.end(shared.post("plan", PLAN))
    assert (end["state"], end["answer"]) == ("failed", "this takes longer than 0.3 seconds; choose smaller counts")
    monkeypatch.undo()
    pid = started(shared)
    job = shared.post("plan", PLAN)
    eventually(lambda: shared.state(job.json()["job"])["state"] == "working")
    os.kill(pid, signal.SIGKILL)
    end = shared.end(job)
    died = "the computation ended unexpectedly; it may have needed more memory than there is"
    assert (end["state"], end["answer"]) == ("failed", died)
    assert "137 cases find" in shared.answer(shared.post("plan", PLAN))["text"]


@linux
def test_the_memory_of_a_process_is_limited(shared: App) -> None:
    shared.answer(shared.post("plan", PLAN))
    limits = Path(f"/proc/{shared.worker('plans')}/limits").read_text("utf-8")
    (line,) = [line for line in limits.splitlines() if line.startswith("Max data size")]
    assert 2 * 2**30 < int(line.split()[3]) < 4 * 2**30


def test_a_table_of_thousands_of_columns_blocks_nobody(shared: App) -> None:
    names = [f"c{i}" for i in range(12_000)]
    text = ",".join([*names, "tp", "fn", "fp", "tn"]) + "\n" + ",".join(["x"] * 12_000 + ["1"] * 4) + "\n"
    start = time.monotonic()
    job = shared.post("table", {"text": text}).json()["job"]
    assert shared.client.get("/token/").status_code == 200
    assert time.monotonic() - start < 1
    shared.client.delete(f"/token/job/{job}", headers=MINE)


@linux
def test_a_process_ends_with_the_web_app_even_while_it_works() -> None:
    inside = "from evenhand.web import worker; print(1, flush=True); worker.end_with_parent(); print(2)"
    script = (
        "import multiprocessing; "
        f"child = multiprocessing.get_context('spawn').Process(target=exec, args=({inside!r},)); "
        "child.start(); print(child.pid, flush=True); input()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        pid = int(app.stdout.readline())
        assert app.stdout.readline() == "1\n"
        app.kill()
        eventually(lambda: gone(pid))
        assert app.stdout.read() == ""
