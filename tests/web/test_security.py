"""What SECURITY.md promises of the web app, attacked from outside."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from engines import optional, pa
from starlette.testclient import TestClient
from web_client import MINE, PLAN

import evenhand as eh
from evenhand.web import create_app, jobs
from evenhand.web.tasks import run_audit

PATIENCE = 3.0
SCRIPT = (
    "from evenhand.web import serve\n"
    "opened = lambda address: print('The web app is at', address, flush=True)\n"
    f"serve(0, limit=2**20, opened=opened, patience={PATIENCE})"
)
ROWS = "g,y,p\n" + "A,1,1\nA,0,0\nB,1,0\nB,0,1\n" * 5


class Served:
    """The web app with a limit of 1 MB and little patience, and what can be sent to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-c", SCRIPT]
        environment = {**os.environ, "TMPDIR": str(folder)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        found = re.fullmatch(r"The web app is at http://127.0.0.1:(\d+)/(.+)/\n", self.process.stdout.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2]

    def opened(self, sent: str | bytes) -> socket.socket:
        """A connection over which something was sent."""
        line = socket.create_connection(("127.0.0.1", self.port), 30)
        line.sendall(sent.encode() if isinstance(sent, str) else sent)
        return line

    def head(self, method: str, path: str, *more: str) -> str:
        lines = [f"{method} /{self.token}/{path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "X-Evenhand: 1", *more]
        return "\r\n".join(lines) + "\r\n\r\n"

    def ask(self, method: str, path: str, body: bytes = b"") -> Any:
        sent = self.head(method, path, f"Content-Length: {len(body)}", "Connection: close").encode() + body
        answer = until_closed(self.opened(sent))
        return json.loads(answer.partition(b"\r\n\r\n")[2])

    def end(self, started: dict[str, Any]) -> dict[str, Any]:
        """The end of a job."""
        assert "job" in started, started
        seen = 0
        while True:
            state = self.ask("GET", f"job/{started['job']}?seen={seen}")
            if state["state"] not in ("waiting", "working"):
                return dict(state)
            seen = state["version"]

    def put(self, name: str, content: bytes) -> dict[str, Any]:
        return dict(self.ask("PUT", f"file?name={quote(name)}", content))

    def kept(self) -> list[str]:
        return sorted(path.name for path in self.folder.rglob("*.*") if path.is_file() and path.name != "in-use.lock")

    def largest(self) -> int:
        """The largest memory that the page and its processes have taken so far, in bytes."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        pids = " ".join((task / "children").read_text("utf-8") for task in tasks).split()
        status = [Path(f"/proc/{pid}/status").read_text("utf-8") for pid in (self.process.pid, *pids)]
        return max(int(text.split("VmHWM:")[1].split()[0]) for text in status) * 1024


def until_closed(line: socket.socket) -> bytes:
    with line:
        found = b""
        while part := line.recv(1 << 16):
            found += part
        return found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    page = Served(tmp_path_factory.mktemp("served"))
    yield page
    page.process.send_signal(signal.SIGTERM)
    assert page.process.wait(30) == -signal.SIGTERM
    assert page.process.stdout is not None
    page.process.stdout.close()
    assert list(page.folder.iterdir()) == []


def answer(page: Served, sent: str | bytes) -> tuple[int, bytes]:
    """Status and body of the first answer; the connection is then left."""
    with page.opened(sent) as line:
        found = b""
        while b"\r\n\r\n" not in found and (part := line.recv(1 << 16)):
            found += part
        head, _, body = found.partition(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", head)
        while size and len(body) < int(size[1]):
            body += line.recv(1 << 16)
        return int(head.split()[1]), body


def test_no_size_that_a_body_claims_or_hides_passes_the_limit(served: Served) -> None:
    put = "PUT", "file?name=large.csv"
    said = b"larger than 1 MB; choose a smaller file, or start the web app with a higher limit"
    assert said in answer(served, served.head(*put, "Content-Length: 99999999999") + "a,b\n")[1]
    chunks = b"".join(b"10000\r\n" + b"1,2\n" * 2**14 + b"\r\n" for _ in range(17))
    assert said in answer(served, served.head(*put, "Transfer-Encoding: chunked").encode() + chunks)[1]
    both = served.head(*put, "Content-Length: 4", "Transfer-Encoding: chunked").encode() + chunks
    assert said in answer(served, both)[1]
    for wrong in ("-4", "4, 5", "x"):
        assert answer(served, served.head(*put, f"Content-Length: {wrong}") + "a,b\n")[0] == 400
    small = served.head("PUT", "file?name=small.csv", "Content-Length: 8") + "a,b\n1,2\n" + "3,4\n" * 1000
    assert answer(served, small)[0] == 200
    assert served.kept() == ["small.csv"]
    assert [path.stat().st_size for path in served.folder.rglob("small.csv")] == [8]


@pytest.mark.slow
def test_whoever_sends_too_slowly_keeps_nobody_waiting(served: Served) -> None:
    """Silence, half a head, half an upload and half a request end by themselves; meanwhile others are served."""
    put = served.head("PUT", "file?name=slow.csv", "Content-Length: 400")
    post = served.head("POST", "table", "Content-Length: 400")
    lines = [served.opened(sent) for sent in ("", "GET / HT", *[put + "a"] * 4, post + "{")]
    time.sleep(0.2)
    full = served.put("x.csv", b"a,b\n1,2\n")
    assert full == {"error": "too many files are being sent at once; wait for them"}
    start = time.monotonic()
    assert answer(served, served.head("GET", ""))[0] == 200
    assert time.monotonic() - start < 2
    found = [until_closed(line) for line in lines]
    assert found[:2] == [b"", b""]
    assert all(b'"the request arrives too slowly; try again"' in one for one in found[2:])
    assert "slow.csv" not in served.kept()
    assert "job" in served.put("x.csv", b"a,b\n1,2\n")


def test_only_the_address_that_was_printed_is_answered(served: Served) -> None:
    address, http = f"127.0.0.1:{served.port}", "HTTP/1.1\r\nHost:"
    for head, status in (
        (f"GET /{served.token}/ {http} evil.example", 421),
        (f"GET /{served.token}/ {http} evil.example:{served.port}", 421),
        (f"GET /{served.token}/ {http} {address}.evil.example", 421),
        (f"GET /{served.token}/ {http} 127.0.0.1", 421),
        (f"GET /{served.token}/ {http} {address}\r\nHost: evil.example", 400),
        (f"GET /{served.token}/ HTTP/1.0", 421),
        (f"GET http://evil.example/{served.token}/ {http} {address}", 404),
        (f"GET /{served.token}x/ {http} {address}", 404),
        (f"GET /x/../{served.token}/ {http} {address}", 404),
        (f"GET /{served.token}/../../etc/passwd {http} {address}", 404),
        (f"GET /{served.token}/static/../page.html {http} {address}", 404),
        (f"GET /{served.token}/ {http} {address}", 200),
        (f"GET /{served.token}/ {http} localhost:{served.port}", 200),
    ):
        found, body = answer(served, f"{head}\r\n\r\n")
        assert (found, b"passwd" in body, b"<h1>evenhand" in body) == (status, False, status == 200), head


def test_many_requests_at_once_are_all_answered(served: Served) -> None:
    body = json.dumps(PLAN).encode()

    def one(i: int) -> dict[str, Any]:
        return dict(served.ask("POST", f"plan?slot={i % 3}", body)) if i % 2 else served.put("x.csv", b"a,b\n1,2\n")

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(one, range(60)))
    full = ("too much is waiting to be computed; try again when it is done",
            "too many files are being sent at once; wait for them")  # fmt: skip
    assert all("job" in one or one["error"] in full for one in found)
    assert served.largest() < 2**30


def test_a_small_file_of_many_rows_takes_time_and_no_memory(served: Served) -> None:
    import numpy as np

    pq = optional("pyarrow.parquet")
    rows, whole = 4_000_000, io.BytesIO()
    zeros = pa.array(np.zeros(rows, "i1"))
    names = pa.DictionaryArray.from_arrays(zeros, pa.array(["A"]))
    pq.write_table(pa.table({"g": names, "y": zeros, "p": zeros}), whole, compression="zstd")
    assert len(whole.getvalue()) < 100_000
    sent = served.put("rows.parquet", whole.getvalue())
    assert served.end(sent)["state"] == "done"
    asked = json.dumps({"file": sent["file"], "columns": {"x": "g"}}).encode()
    counted = served.end(served.ask("POST", "values", asked))
    assert counted["answer"]["x"]["values"] == [{"value": "A", "n": rows}]
    assert served.largest() < 2**30


def test_what_cannot_be_read_is_said_without_the_path_of_the_folder(served: Served) -> None:
    pq = optional("pyarrow.parquet")
    deep: Any = pa.int8()
    for _ in range(300):
        deep = pa.list_(deep)
    whole = io.BytesIO()
    pq.write_table(pa.table({"g": pa.nulls(3, deep)}), whole)
    for name, content in (("deep.parquet", whole.getvalue()), ("bad.parquet", b"PAR1" + b"x" * 40)):
        error = served.end(served.put(name, content))["answer"]
        assert error.startswith(f"{name} cannot be read: ")
        assert "/" not in error


def test_a_saved_audit_is_repeated_on_the_data_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, group in (("x.csv", "A"), ("secret.csv", "SECRET")):
        Path(name).write_text(ROWS.replace("A", group), "utf-8")
    saved = eh.audit("x.csv", y_true="y", y_pred="p", groups="g", metrics="ppr").to_json()
    (tmp_path / "out").mkdir()
    run_audit("x.csv", counts=False, asked={"repeat": saved.replace("x.csv", "secret.csv")}, out="out")
    assert "SECRET" not in Path("out/audit.json").read_text("utf-8")


def test_an_upload_is_one_plain_file_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.WorkerQueue, "submit", lambda self, job: None)
    client = TestClient(create_app("t", {"testserver"}, tmp_path), base_url="http://testserver", headers=MINE)
    names = {
        "..\\..\\x.csv": "x.csv", "~root.csv": "root.csv", "-y.csv": "y.csv", "a*b?[c].csv": "a_b__c_.csv",
        "a\nb\x1b[2J.csv": "a_b__2J.csv", "n" * 400 + ".csv.gz": "n" * 193 + ".csv.gz", "../../../x.csv": "x.csv",
        "/etc/x.csv": "x.csv", "a\0b.csv": "a_b.csv", "*.csv": "_.csv", "s3://b/x.csv": "x.csv",
        "read_csv('x').csv": "read_csv('x').csv", "\u202evsc.csv": "_vsc.csv", "x.csv\n": "x.csv",
        "$HOME.csv": "$HOME.csv", "{a,b}.csv": "{a,b}.csv", "x.db?table=t.csv": "x.db_table=t.csv",
        "a\r\nX: 1.csv": "a__X_ 1.csv",
    }  # fmt: skip
    for given, kept in names.items():
        sent = client.put("/t/file", params={"name": given}, content=ROWS.encode())
        assert sent.status_code == 200, sent.text
        folder = tmp_path / sent.json()["file"]
        (file,) = folder.iterdir()
        assert file.name == kept and file.is_file() and not file.is_symlink()
        assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_what_is_refused_for_want_of_room_leaves_nothing(tmp_path: Path) -> None:
    app = create_app("t", {"testserver"}, tmp_path)
    client, store = TestClient(app, base_url="http://testserver", headers=MINE), app.state.store
    old = store.new_result()
    store.audits.most_waiting = 0
    for _ in range(10):
        assert client.post("/t/table", json={"text": "g,tp,fn,fp,tn\nA,1,2,3,4\n"}).status_code == 400
        assert client.post("/t/table", json={}).status_code == 400
    assert list(tmp_path.iterdir()) == [old]


def test_files_that_arrive_side_by_side_share_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files, each of which would fit alone, sent at the same time."""
    monkeypatch.setattr(jobs.WorkerQueue, "submit", lambda self, job: None)
    app = create_app("t", {"testserver"}, tmp_path, limit=100)
    client = TestClient(app, base_url="http://testserver", headers=MINE)
    first = client.put("/t/file?name=a.csv", content=b"a,b\n1,2\n").json()["file"]

    def parts() -> Iterator[bytes]:
        yield b"a,b\n"
        (tmp_path / first / "c.csv").write_bytes(b"x" * 60)
        yield b"x" * 60

    late = client.put(f"/t/file?name=b.csv&beside={first}", content=parts())
    assert late.status_code == 400
    assert sorted(path.name for path in (tmp_path / first).iterdir()) == ["a.csv", "c.csv"]


def test_a_request_of_millions_of_parts_is_refused_before_it_is_read(tmp_path: Path) -> None:
    client = TestClient(create_app("t", {"testserver"}, tmp_path), base_url="http://testserver")
    for part in (b"{},", b"0,", b'"",', b"[],"):
        body = b'{"file": [' + part * (12 * 2**20 // len(part)) + b"0]}"
        start = time.process_time()
        refused = client.post("/t/audit", content=body, headers=MINE)
        assert (refused.status_code, refused.json()) == (400, {"error": "the request has too many parts"})
        assert time.process_time() - start < 1
