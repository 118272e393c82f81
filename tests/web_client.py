"""The web app as a client sees it, and the files that its tests send."""

from __future__ import annotations

import csv
import io
import os
import signal
import time
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

import evenhand as eh
from evenhand.web import create_app

ROWS = "race,y,yhat,s\n" + "A,1,1,.9\nA,0,1,.8\nA,0,0,.1\n" * 9 + "=cmd(),1,0,.2\n<b>B</b>,0,0,.1\nB,1,0,.3\n" * 9


MINE = {"X-Evenhand": "1"}


def two_years() -> str:
    """A small file of the form of ProPublica's, with ages and scores from 1 to 10."""
    rows = ["id,sex,age,race,decile_score,score_text,two_year_recid"]
    for i in range(600):
        decile = (i * 7 + i // 11) % 10 + 1
        text = "Low" if decile < 5 else "Medium" if decile < 8 else "High"
        race = ("African-American", "Caucasian", "Hispanic")[i % 3 if i % 5 else 0]
        recid = int((i * 13 + decile * (1 + (race == "Caucasian"))) % 17 < 6)
        rows.append(f"{i},{'Male' if i % 4 else 'Female'},{18 + i % 53},{race},{decile},{text},{recid}")
    return "\n".join(rows) + "\n"


class App:
    """The web app as a client sees it."""

    def __init__(self, folder: Path, limit: int = 2**24) -> None:
        app = create_app("token", {"testserver"}, folder, limit=limit)
        self.client = TestClient(app, base_url="http://testserver", raise_server_exceptions=False)
        self.store = app.state.store

    def put(self, name: str, content: Any, **query: str) -> Any:
        return self.client.put("/token/file", params={"name": name, **query}, content=content, headers=MINE)

    def post(self, path: str, body: Any, slot: str = "") -> Any:
        return self.client.post(f"/token/{path}?slot={slot}", json=body, headers=MINE)

    def state(self, job: str, seen: int = 0) -> dict[str, Any]:
        return dict(self.client.get(f"/token/job/{job}?seen={seen}").json())

    def states(self, answer: Any) -> list[dict[str, Any]]:
        """All states of a job until it is over."""
        assert answer.status_code == 200, answer.text
        found = [self.state(answer.json()["job"])]
        while found[-1]["state"] in ("waiting", "working"):
            found.append(self.state(answer.json()["job"], found[-1]["version"]))
        return found

    def end(self, answer: Any) -> dict[str, Any]:
        return self.states(answer)[-1]

    def answer(self, answer: Any) -> Any:
        end = self.end(answer)
        assert end["state"] == "done", end
        return end["answer"]

    def upload(self, name: str, content: str | bytes) -> str:
        sent = self.put(name, content.encode() if isinstance(content, str) else content)
        self.answer(sent)
        return str(sent.json()["file"])

    def report(self, found: dict[str, Any], kind: str) -> Any:
        """A file that an audit or a monitor wrote."""
        return self.client.get(f"/token/report/{found['report']}.{kind}")

    def audit(self, body: dict[str, Any]) -> eh.Audit:
        """The audit that was asked for."""
        return eh.Audit.from_json(self.report(self.answer(self.post("audit", body)), "json").text)

    def worker(self, queue: str = "audits") -> int:
        """The process that does the work, which must have been started."""
        pid = getattr(self.store, queue).worker[0].pid
        assert isinstance(pid, int)
        return pid


def column(name: str) -> list[str]:
    return [row[name] for row in csv.DictReader(io.StringIO(two_years()))]


ASKED: dict[str, Any] = {
    "y_true": "two_year_recid",
    "y_pred": "score_text",
    "positive_label": ["1"],
    "positive_prediction": ["Medium", "High"],
    "groups": ["race", "sex"],
    "reference": {"race": "rest", "sex": "rest"},
}


def eventually(true: Any, seconds: float = 30) -> None:
    latest = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < latest
        time.sleep(0.02)


PLAN = {"question": "size", "metric": "tpr", "cells": ["300", "100", "120", "480"], "n": "40", "from": "5",
        "to": "12", "difference": "-0.2", "power": "0.8", "alpha": "0.05", "threshold": "0.8"}  # fmt: skip
TABLE = {"text": "g,tp,fn,fp,tn\nA,1,2,3,4\n"}


def started(app: App, queue: str = "plans") -> int:
    """A worker that is ready and stopped, so that any job on it runs for ever."""
    app.answer(app.post("plan", PLAN) if queue == "plans" else app.post("table", TABLE))
    pid = app.worker(queue)
    os.kill(pid, signal.SIGSTOP)
    return pid


def gone(pid: int) -> bool:
    """Whether a process has ended, be it known to its parent or not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True
