"""Jobs: any work can be given up, is overtaken by later work, and ends in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from page_client import MINE, WHAT_IF, Page, eventually, gone, started


def test_cancelling_ends_the_work_at_once_and_the_page_goes_on(shared: Page) -> None:
    pid = started(shared, "audits")
    job = shared.post("table", {"text": "g,tp,fn,fp,tn\nA,1,2,3,4\n"}).json()["job"]
    waiting = shared.post("table", {"text": "g,tp,fn,fp,tn\nB,1,2,3,4\n"}).json()["job"]
    eventually(lambda: shared.state(job)["state"] == "working")
    assert shared.state(waiting)["state"] == "waiting"
    start = time.monotonic()
    assert shared.client.get("/token/about").status_code == 200
    assert shared.client.delete(f"/token/job/{waiting}", headers=MINE).json()["state"] == "cancelled"
    assert shared.client.delete(f"/token/job/{job}", headers=MINE).json()["state"] == "cancelled"
    eventually(lambda: gone(pid), 10)
    assert time.monotonic() - start < 1
    assert shared.answer(shared.post("table", {"text": "g,tp,fn,fp,tn\nA,1,2,3,4\n"}))["cases"] == 10


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_what_another_tab_asked_is_answered_when_work_is_cancelled_or_killed(shared: Page, how: str) -> None:
    pid = started(shared, "audits")
    mine = shared.post("table", {"text": "g,tp,fn,fp,tn\nA,1,2,3,4\n"}, slot="mine").json()["job"]
    theirs = shared.post("table", {"text": "g,tp,fn,fp,tn\nB,5,6,7,8\n"}, slot="theirs")
    eventually(lambda: shared.state(mine)["state"] == "working")
    if how == "cancelled":
        shared.client.delete(f"/token/job/{mine}", headers=MINE)
    else:
        os.kill(pid, signal.SIGKILL)
    assert shared.answer(theirs)["cases"] == 26
    assert shared.state(mine)["state"] == how
    assert gone(pid)


@pytest.mark.slow
def test_what_is_asked_later_overtakes_what_was_asked_before(shared: Page) -> None:
    pid = started(shared)
    first = shared.post("what-if", WHAT_IF, slot="mine").json()["job"]
    other = shared.post("what-if", WHAT_IF, slot="yours").json()["job"]
    eventually(lambda: shared.state(first)["state"] == "working")
    last = shared.post("what-if", WHAT_IF | {"metric": "acc"}, slot="mine")
    assert shared.state(first)["state"] == "cancelled"
    assert shared.answer(last)["metric"] == "acc"
    assert gone(pid)
    assert shared.state(other)["state"] == "done"


def test_a_quick_answer_is_not_worth_a_new_process(shared: Page) -> None:
    shared.answer(shared.post("what-if", WHAT_IF))
    pid = shared.worker("what_ifs")
    jobs = [shared.post("what-if", WHAT_IF, slot="typing") for _ in range(8)]
    assert shared.end(jobs[-1])["state"] == "done"
    assert shared.worker("what_ifs") == pid


def test_what_takes_too_long_or_dies_is_said(shared: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    started(shared)
    monkeypatch.setitem(shared.store.seconds, "what_if", 0.3)
    end = shared.end(shared.post("what-if", WHAT_IF))
    assert (end["state"], end["error"]) == ("failed", "this takes longer than 0.3 seconds; choose smaller counts")
    monkeypatch.setitem(shared.store.seconds, "what_if", 30)
    pid = started(shared)
    job = shared.post("what-if", WHAT_IF)
    eventually(lambda: shared.state(job.json()["job"])["state"] == "working")
    os.kill(pid, signal.SIGKILL)
    end = shared.end(job)
    assert (end["state"], end["error"]) == (
        "failed",
        "the computation ended unexpectedly; it may have needed more memory than there is",
    )
    assert shared.answer(shared.post("what-if", WHAT_IF))["score"] == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the memory of a process")
def test_the_memory_of_a_process_is_limited(shared: Page) -> None:
    shared.answer(shared.post("what-if", WHAT_IF))
    limits = Path(f"/proc/{shared.worker('what_ifs')}/limits").read_text("utf-8")
    (line,) = [line for line in limits.splitlines() if line.startswith("Max data size")]
    assert 2 * 2**30 < int(line.split()[3]) < 4 * 2**30


def test_a_table_of_thousands_of_columns_blocks_nobody(shared: Page) -> None:
    names = [f"c{i}" for i in range(12_000)]
    text = ",".join([*names, "tp", "fn", "fp", "tn"]) + "\n" + ",".join(["x"] * 12_000 + ["1"] * 4) + "\n"
    start = time.monotonic()
    job = shared.post("table", {"text": text}).json()["job"]
    assert shared.client.get("/token/about").status_code == 200
    assert time.monotonic() - start < 1
    shared.client.delete(f"/token/job/{job}", headers=MINE)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes as Linux lists them")


@linux
def test_a_process_ends_with_the_page_even_while_it_works() -> None:
    inside = "from evenhand.web import worker; print(1, flush=True); worker._end_with_the_page(); print(2)"
    script = (
        "import multiprocessing; "
        f"child = multiprocessing.get_context('spawn').Process(target=exec, args=({inside!r},)); "
        "child.start(); print(child.pid, flush=True); input()"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        pid = int(page.stdout.readline())
        assert page.stdout.readline() == "1\n"
        page.kill()
        eventually(lambda: gone(pid))
        assert page.stdout.read() == ""
