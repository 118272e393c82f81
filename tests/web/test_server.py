"""The server: nothing is left when it ends, however it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from signals import heeded
from web_client import MINE, ROWS, eventually, gone

from evenhand import web
from evenhand.cli.serve import serve
from evenhand.temporary import folder_of_its_own


def test_the_command_passes_its_limit_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(web, "serve", lambda port, **settings: given.update(port=port, **settings))
    assert CliRunner().invoke(serve, ["--port", "8123", "--limit", "7", "--no-open"]).exit_code == 0
    assert (given["port"], given["limit"]) == (8123, 7 * 2**20)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes as Linux lists them")


class Served:
    """``evenhand serve`` in a process of its own, with its temporary files in a folder of the test's."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "evenhand", "serve", "--no-open"]
        environment = {**os.environ, "TMPDIR": str(folder)}
        with heeded(signal.SIGINT, signal.SIGHUP):
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert " http://127.0.0.1:" in line
        self.address = line.split()[-1]

    def upload(self) -> None:
        sent = httpx2.put(f"{self.address}file?name=x.csv", content=ROWS.encode(), headers=MINE, timeout=30)
        assert sent.status_code == 200

    def workers(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        children = " ".join((task / "children").read_text("utf-8") for task in tasks).split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def end(self, sign: signal.Signals) -> int:
        self.process.send_signal(sign)
        code = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.mark.slow
@linux
@pytest.mark.parametrize(("sign", "code"), [("SIGINT", 130), ("SIGTERM", -15), ("SIGHUP", -1)])
def test_nothing_is_left_when_the_web_app_is_stopped(tmp_path: Path, sign: str, code: int) -> None:
    """Also if a job is running that would never end by itself."""
    served = Served(tmp_path)
    served.upload()
    eventually(lambda: bool(served.workers()))
    workers = served.workers()
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    assert len(list(tmp_path.rglob("x.csv"))) == 1
    start = time.monotonic()
    assert served.end(signal.Signals[sign]) == code
    assert time.monotonic() - start < 2
    assert list(tmp_path.iterdir()) == []
    assert all(gone(pid) for pid in workers)


@linux
def test_what_a_killed_web_app_leaves_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = Served(tmp_path)
    killed.upload()
    eventually(lambda: bool(killed.workers()))
    workers = killed.workers()
    (tmp_path / "evenhand-web-of-somebody").mkdir()
    killed.end(signal.SIGKILL)
    assert len(list(tmp_path.rglob("x.csv"))) == 1
    eventually(lambda: all(gone(pid) for pid in workers))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with folder_of_its_own("evenhand-web-") as running:
        assert list(tmp_path.rglob("x.csv")) == []
        last = Served(tmp_path)
        assert running.is_dir(), "it is in use"
        last.end(signal.SIGTERM)
    assert [path.name for path in tmp_path.iterdir()] == ["evenhand-web-of-somebody"]


def test_a_port_in_use_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(serve, ["--port", str(port), "--no-open"])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: port {port} cannot be used: ")


@linux
def test_the_address_that_is_printed_accepts_connections(tmp_path: Path) -> None:
    """At once, before the web app itself is ready to answer."""
    served = Served(tmp_path)
    port = int(served.address.split(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass
    served.end(signal.SIGTERM)
