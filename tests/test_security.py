"""What SECURITY.md promises, attacked: the page from outside, files from inside, and text that would rather be markup.

Kept elsewhere: guards of every route, sizes and depths of requests, cancelling, overtaking, memory limits, signals and
left-over folders in test_web.py, DuckDB's locked connection in test_files.py, the progress line in test_progress.py,
reports in test_report.py.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import ZipFile

import cmarkgfm
import pytest
from click.testing import CliRunner
from cmarkgfm.cmark import Options
from starlette.testclient import TestClient

import evenhand as eh
from evenhand.faces.cli import evenhand
from evenhand.faces.web import create_app, jobs

PATIENCE = 3.0
SCRIPT = (
    "from evenhand.faces.web import guard, server\n"
    f"guard._PATIENCE_SECONDS = server._SILENT_SECONDS = {PATIENCE}\n"
    "from evenhand.__main__ import main\n"
    "main()"
)
ROWS = "g,y,p\n" + "A,1,1\nA,0,0\nB,1,0\nB,0,1\n" * 5


class Served:
    """``evenhand serve`` with a limit of 1 MB and little patience, and what can be sent to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-c", SCRIPT, "serve", "--no-open", "--limit", "1"]
        environment = {**os.environ, "TMPDIR": str(folder)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        found = re.fullmatch(r"The page is at http://127.0.0.1:(\d+)/(.+)/\n", self.process.stdout.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2]

    def opened(self, sent: str | bytes) -> socket.socket:
        """A connection over which something was sent."""
        latest = time.monotonic() + 20
        while True:
            try:
                line = socket.create_connection(("127.0.0.1", self.port), 30)
                break
            except ConnectionRefusedError:
                assert time.monotonic() < latest
                time.sleep(0.05)
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
            seen = state["seen"]

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
    said = b"larger than 1 MB; start the page with a larger --limit"
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


def test_whoever_sends_too_slowly_keeps_nobody_waiting(served: Served) -> None:
    """Silence, half a head, half an upload and half a request end by themselves; meanwhile others are served."""
    put = served.head("PUT", "file?name=slow.csv", "Content-Length: 400")
    post = served.head("POST", "table", "Content-Length: 400")
    lines = [served.opened(sent) for sent in ("", "GET / HT", *[put + "a"] * 4, post + "{")]
    time.sleep(0.2)
    full = served.put("x.csv", b"a,b\n1,2\n")
    assert full == {"error": "too many files are being sent at once; wait for them"}
    start = time.monotonic()
    assert served.ask("GET", "about")["limit"] == 2**20
    assert time.monotonic() - start < 2
    found = [until_closed(line) for line in lines]
    assert found[:2] == [b"", b""]
    assert all(b'"the request arrives too slowly; try again"' in one for one in found[2:])
    assert "slow.csv" not in served.kept()
    assert "job" in served.put("x.csv", b"a,b\n1,2\n")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /{token}/about HTTP/1.1\r\nHost: evil.example", 421),
        ("GET /{token}/about HTTP/1.1\r\nHost: evil.example:{port}", 421),
        ("GET /{token}/about HTTP/1.1\r\nHost: 127.0.0.1:{port}.evil.example", 421),
        ("GET /{token}/about HTTP/1.1\r\nHost: 127.0.0.1", 421),
        ("GET /{token}/about HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example", 400),
        ("GET /{token}/about HTTP/1.0", 421),
        ("GET http://evil.example/{token}/about HTTP/1.1\r\nHost: 127.0.0.1:{port}", 404),
        ("GET /{token}x/about HTTP/1.1\r\nHost: 127.0.0.1:{port}", 404),
        ("GET /x/../{token}/about HTTP/1.1\r\nHost: 127.0.0.1:{port}", 404),
        ("GET /{token}/../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:{port}", 404),
        ("GET /{token}/static/../page.html HTTP/1.1\r\nHost: 127.0.0.1:{port}", 404),
        ("GET /{token}/about HTTP/1.1\r\nHost: 127.0.0.1:{port}", 200),
        ("GET /{token}/about HTTP/1.1\r\nHost: localhost:{port}", 200),
    ],
)
def test_only_the_address_that_was_printed_is_answered(served: Served, head: str, status: int) -> None:
    sent = head.format(token=served.token, port=served.port) + "\r\n\r\n"
    found, body = answer(served, sent)
    assert (found, b"passwd" in body, b"metrics" in body) == (status, False, status == 200)


def test_many_requests_at_once_are_all_answered(served: Served) -> None:
    body = json.dumps({"group": [0, 2, 8, 30], "reference": [300, 100, 120, 480]}).encode()

    def one(i: int) -> dict[str, Any]:
        return dict(served.ask("POST", f"what-if?slot={i % 3}", body) if i % 2 else served.ask("GET", "about"))

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(one, range(60)))
    full = {"error": "too much is waiting to be computed; try again when it is done"}
    assert all("job" in one or "metrics" in one or one == full for one in found)
    assert served.largest() < 2**30


def test_a_small_file_of_many_rows_takes_time_and_no_memory(served: Served) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, whole = 4_000_000, io.BytesIO()
    zeros = pa.array(np.zeros(rows, "i1"))
    names = pa.DictionaryArray.from_arrays(zeros, pa.array(["A"]))
    pq.write_table(pa.table({"g": names, "y": zeros, "p": zeros}), whole, compression="zstd")
    assert len(whole.getvalue()) < 100_000
    sent = served.put("rows.parquet", whole.getvalue())
    assert served.end(sent)["state"] == "done"
    counted = served.end(
        served.ask("POST", "values", json.dumps({"file": sent["file"], "columns": {"x": "g"}}).encode())
    )
    assert counted["answer"]["x"]["values"] == [{"value": "A", "n": rows}]
    assert served.largest() < 2**30


def test_what_cannot_be_read_is_said_without_the_path_of_the_folder(served: Served) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    deep: Any = pa.int8()
    for _ in range(300):
        deep = pa.list_(deep)
    whole = io.BytesIO()
    pq.write_table(pa.table({"g": pa.nulls(3, deep)}), whole)
    for name, content in (("deep.parquet", whole.getvalue()), ("bad.parquet", b"PAR1" + b"x" * 40)):
        error = served.end(served.put(name, content))["error"]
        assert error.startswith(f"{name} cannot be read: ")
        assert "/" not in error


@pytest.mark.parametrize(
    ("columns", "view", "said"),
    [
        ("g, y, p", None, "x.db has no rows; there is nothing to audit"),
        ("g", "SELECT load_extension('/tmp/x.so') AS g", "x.db cannot be read: unsafe use of load_extension()"),
        ("g", "SELECT readfile('/etc/passwd') AS g", "x.db cannot be read: no such function: readfile"),
        ("g", "SELECT file AS g FROM pragma_database_list",
         'x.db cannot be read: unsafe use of virtual table "pragma_database_list"'),
        ("g", "SELECT zeroblob(70000000) AS g", "x.db cannot be read: string or blob too big"),
    ],
)  # fmt: skip
def test_a_database_reads_nothing_but_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str, view: str | None, said: str
) -> None:
    from evenhand.faces.web import looks

    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute(f"CREATE VIEW t AS {view}" if view else f"CREATE TABLE t ({columns})")
    connection.close()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(eh.InvalidInput) as refusal:
        looks.look("x.db")
    assert str(refusal.value) == said


def test_a_database_cannot_attach_another(tmp_path: Path) -> None:
    from evenhand.tabulate import databases

    for name in ("x.db", "secret.db"):
        sqlite3.connect(tmp_path / name).execute("CREATE TABLE t (g)").connection.close()
    said = pytest.raises(eh.InvalidInput, match=r"too many attached databases - max 0$")
    with said, databases._opened(tmp_path / "x.db") as connection:
        connection.execute("ATTACH ? AS other", [str(tmp_path / "secret.db")])


HOSTILE_COLUMNS = [
    "read_text('secret.csv')", "(SELECT g FROM 'secret.csv')", 'g" FROM \'secret.csv\'; --', "*", "COLUMNS('.*')",
    "getenv('HOME')", "count(*)", "c0", "'secret.csv'",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet", "db"])
@pytest.mark.parametrize("column", HOSTILE_COLUMNS)
def test_the_name_of_a_column_is_only_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str, kind: str
) -> None:
    import polars as pl

    (tmp_path / "secret.csv").write_text("g\nSECRET\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    rows = pl.DataFrame({column: ["A", "B"] * 10, "y": [1, 0] * 10, "p": [1, 1, 0, 0] * 5})
    if kind == "csv":
        rows.write_csv("x.csv")
    elif kind == "parquet":
        rows.write_parquet("x.parquet")
    else:
        with sqlite3.connect("x.db") as connection:
            connection.execute(
                f"CREATE TABLE t ({', '.join(json.dumps(n) if n == 'y' else _quoted(n) for n in rows.columns)})"
            )
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows.rows())
        connection.close()
    a = eh.audit(f"x.{kind}", y_true="y", y_pred="p", groups=column, metrics="ppr")
    assert {(row.by, row.group, row.n) for row in a.rows} == {(column, "A", 10), (column, "B", 10)}


def test_a_parquet_file_that_points_at_another_one_does_not_open_it(tmp_path: Path) -> None:
    """The parts of a data set may be in other files, as its description says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    secret = pa.table({"g": ["SECRET"] * 8, "y": [1, 0] * 4, "p": [1, 0] * 4})
    parts: list[Any] = []
    pq.write_table(secret, tmp_path / "secret.parquet", metadata_collector=parts)
    parts[0].set_file_path("secret.parquet")
    parts[0].write_metadata_file(tmp_path / "x.parquet")
    assert pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(0).file_path == "secret.parquet"
    with pytest.raises(eh.InvalidInput, match=r"x\.parquet cannot be read: ") as refusal:
        eh.audit(tmp_path / "x.parquet", y_true="y", y_pred="p", groups="g")
    assert "SECRET" not in str(refusal.value)


def test_a_saved_audit_is_repeated_on_the_data_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.faces.web.audits import audited

    monkeypatch.chdir(tmp_path)
    for name, group in (("x.csv", "A"), ("secret.csv", "SECRET")):
        Path(name).write_text(ROWS.replace("A", group), "utf-8")
    saved = (
        eh.audit("x.csv", y_true="y", y_pred="p", groups="g", metrics="ppr").to_json().replace("x.csv", "secret.csv")
    )
    (tmp_path / "out").mkdir()
    audited("x.csv", counts=False, asked={"repeat": saved}, out="out")
    assert "SECRET" not in Path("out/audit.json").read_text("utf-8")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize(
    "path",
    ["s3://bucket/x.csv", "https://evil.example/x.csv", "file:///etc/passwd", "hf://datasets/x.parquet"],
)
def test_addresses_are_not_files(path: str) -> None:
    with pytest.raises(eh.InvalidInput, match=r"^data must be a local file; got '.*', which must be downloaded first$"):
        eh.audit(path, y_true="y", y_pred="p", groups="g")


@pytest.mark.parametrize("path", ["read_csv('secret.csv')", "x\0.csv", "'secret.csv'", "secret.csv'; --"])
def test_a_path_is_never_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    (tmp_path / "secret.csv").write_text(ROWS, "utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(eh.InvalidInput):
        eh.audit(path, y_true="y", y_pred="p", groups="g")


def test_a_name_that_is_a_pattern_stands_for_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(ROWS.replace("A", "SECRET"), "utf-8")
    (tmp_path / "*[s].csv").write_text(ROWS, "utf-8")
    a = eh.audit(str(tmp_path / "*[s].csv"), y_true="y", y_pred="p", groups="g", metrics="ppr")
    assert {row.group for row in a.rows} == {"A", "B"}


@pytest.mark.parametrize(
    "name",
    [
        "../../../x.csv", "/etc/x.csv", "a\0b.csv", "*.csv", "s3://b/x.csv", "read_csv('x').csv", "~root.csv",
        "..\\x.csv", "\u202evsc.csv", "x.csv\n", "$HOME.csv", "{a,b}.csv", "x.db?table=t.csv", "a\r\nX: 1.csv",
    ],
)  # fmt: skip
def test_an_upload_is_one_plain_file_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(jobs.Lane, "submit", lambda self, job: None)
    client = TestClient(create_app("t", {"testserver"}, tmp_path), base_url="http://testserver")
    sent = client.put("/t/file", params={"name": name}, content=ROWS.encode(), headers={"X-Evenhand": "1"})
    assert sent.status_code == 200, sent.text
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.parent.parent == tmp_path
    assert not file.is_symlink()
    assert not set(file.name) & set('/\\*?[]<>:"|')
    assert not file.name.startswith(("~", ".", "-"))
    assert file.name.isprintable()


def test_what_is_refused_for_want_of_room_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app("t", {"testserver"}, tmp_path)
    client, desk = TestClient(app, base_url="http://testserver"), app.state.desk
    old = desk.result()
    monkeypatch.setattr(jobs, "_MOST_WAITING", 0)
    client.headers["X-Evenhand"] = "1"
    for _ in range(10):
        assert client.post("/t/table", json={"text": "g,tp,fn,fp,tn\nA,1,2,3,4\n"}).status_code == 400
        assert client.post("/t/table", json={}).status_code == 400
    assert list(tmp_path.iterdir()) == [old]


def test_files_that_arrive_side_by_side_share_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files, each of which would fit alone, sent at the same time."""
    monkeypatch.setattr(jobs.Lane, "submit", lambda self, job: None)
    app = create_app("t", {"testserver"}, tmp_path, limit=100)
    client, mine = TestClient(app, base_url="http://testserver"), {"X-Evenhand": "1"}
    first = client.put("/t/file?name=a.csv", content=b"a,b\n1,2\n", headers=mine).json()["file"]

    def parts() -> Iterator[bytes]:
        yield b"a,b\n"
        (tmp_path / first / "c.csv").write_bytes(b"x" * 60)
        yield b"x" * 60

    late = client.put(f"/t/file?name=b.csv&beside={first}", content=parts(), headers=mine)
    assert late.status_code == 400
    assert sorted(path.name for path in (tmp_path / first).iterdir()) == ["a.csv", "c.csv"]


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenhand.tabulate import delimited

    monkeypatch.setattr(delimited, "_LONGEST_LINE", 2**20)
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"g,y,p\n" + b"A,1,1\n" * 60 + b"A" * 2**22))
    with pytest.raises(eh.InvalidInput, match=r"x\.csv\.gz cannot be read: it has a line of more than 1,048,576 char"):
        eh.audit(path, y_true="y", y_pred="p", groups="g")
    path.write_bytes(gzip.compress(b"A" * 2**22))
    with pytest.raises(
        eh.InvalidInput, match=r"cannot be read: its header has a value of more than 131,072 characters$"
    ):
        eh.audit(path, y_true="y", y_pred="p", groups="g")


STEERING = "a\x1b[31m\x07\u202e\u2066\x9b1m\nb"


def steers(text: str) -> list[str]:
    """The characters that control a terminal or turn the direction of text, but for line breaks."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]


def test_names_of_files_columns_and_groups_do_not_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / f"{STEERING}.csv"
    file.write_text(f'"{STEERING}",y,p\n' + f'"{STEERING}",1,1\n"{STEERING}",0,0\nB,1,0\nB,0,1\n' * 5, "utf-8")
    base = ["audit", str(file), "--label", "y", "--prediction", "p", "--group"]
    for more, code in (
        ([STEERING], 0),
        ([STEERING, "--verbose", "--all"], 0),
        ([STEERING, "--markdown", "-"], 0),
        ([STEERING, "--csv", str(tmp_path / STEERING / "x")], 2),
        ([f"{STEERING}?"], 2),
        ([STEERING, "--reference", STEERING + "?"], 2),
        ([STEERING, "--positive-label", STEERING], 2),
    ):
        found = CliRunner().invoke(evenhand, [*base, *more])
        assert (found.exit_code, steers(found.output)) == (code, []), more
        assert not [line for line in found.output.splitlines() if line.startswith("b")], "no name begins a line"
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.audit(tmp_path / f"{STEERING}.cvs", y_true="y", y_pred="p", groups="g")
    assert not steers(str(refusal.value))
    assert "\n" not in str(refusal.value)


# Names, and what is wrong if one of them is more than text: tags, or what GitHub finds in text afterwards.
MARKUP = [
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "[x](https://evil.example)", "![x](https://evil.example)",
    "https://evil.example/a", "http://localhost", "www.evil.example", "WWW.evil.example", "ftp://evil.example",
    "ada@evil.example", "mailto:ada@evil.example", "xmpp:ada@evil.example/x", "<https://evil.example>",
    "@ada", "@org/team", "(@ada)", "#12", "ada/repo#12", "GH-12", "gh-12", ":tada:", ":+1:", "$x$", "$$x$$",
    "$`x`$", "**b**", "__b__", "*b*", "_b_", "~~b~~", "~b~", "`b`", "``b``", "a|b", "a\\|b", "a\\", "\\", "&copy;",
    "&#64;ada", "&lt;b&gt;", "[^1]", "[x]", "[ ]", "- [x] b", "# b", "> b", "1. b", "---", "| - |", "<!-- b -->",
    "<b>b</b>", "a\nb", "a  \nb", "[b]: https://evil.example",
]  # fmt: skip
NOTICED = re.compile(
    r"@[A-Za-z0-9]|(?:^|[^\w&])(?:[\w-]+/[\w-]+)?#\d|\bGH-\d|:[\w+-]+:|(?:^|\s|\()\$\S", re.IGNORECASE | re.MULTILINE
)


class Rendered(HTMLParser):
    """The tags, the text and the cells of a page."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts = [""]
        self.cells: list[str] = []
        options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts.append("")
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self.texts.append("")

    def handle_comment(self, data: str) -> None:
        self.tags.append("!--")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data
        if self.cells:
            self.cells[-1] += data

    @property
    def noticed(self) -> list[str]:
        """What GitHub would make a link, a picture or a formula of."""
        return [found[0] for text in self.texts for found in NOTICED.finditer(text)]


def _by_name(name: str) -> list[eh.Audit | eh.Sweep]:
    cells = {name: (9, 6, 4, 21), "B": (30, 10, 12, 48)}
    rows = [(g, y, s) for g in cells for y, s in [(1, 0.9), (1, 0.2), (0, 0.8), (0, 0.1)] * 5]
    groups, labels, scores = ([row[i] for row in rows] for i in range(3))
    frame = {"y": labels, "s": scores, name: groups}
    sweep = eh.audit(frame, y_true="y", y_score="s", groups=name, threshold=[0.5, 0.6], metrics="tpr")
    assert isinstance(sweep, eh.Sweep)
    return [eh.audit_counts(cells, by=name, metrics=["tpr", "ppr"]), sweep]


@pytest.fixture(scope="module")
def plain() -> list[Counter[str]]:
    return [Counter(Rendered(result.to_markdown()).tags) for result in _by_name("plain")]


@pytest.mark.parametrize("name", MARKUP)
def test_markdown_shows_names_as_text_on_github_too(name: str, plain: list[Counter[str]]) -> None:
    """The document has the tags that it has for a plain name, and the name is in it as it is."""
    for result, tags in zip(_by_name(name), plain, strict=True):
        page = Rendered(result.to_markdown())
        assert Counter(page.tags) == tags
        assert page.noticed == []
        shown = [cell.replace("\u200b", "").strip() for cell in page.cells]
        assert any(name.replace("\n", "\\n") in cell for cell in shown)


def test_what_renders_these_names_would_notice_markup() -> None:
    harmless = {
        *("a|b", "a\\|b", "a\\", "\\", "&copy;", "&lt;b&gt;", "[^1]", "[x]", "[ ]", "| - |", "a\nb"),
        "WWW.evil.example",
    }
    pages = {name: Rendered(name) for name in MARKUP}
    assert {name for name, page in pages.items() if page.tags != ["p"] or page.noticed} == set(MARKUP) - harmless


@pytest.mark.parametrize("part", [b"{},", b"0,", b'"",', b"[],"])
def test_a_request_of_millions_of_parts_is_refused_before_it_is_read(tmp_path: Path, part: bytes) -> None:
    client = TestClient(create_app("t", {"testserver"}, tmp_path), base_url="http://testserver")
    body = b'{"file": [' + part * (12 * 2**20 // len(part)) + b"0]}"
    start = time.process_time()
    refused = client.post("/t/audit", content=body, headers={"X-Evenhand": "1"})
    assert (refused.status_code, refused.json()) == (400, {"error": "the request has too many parts"})
    assert time.process_time() - start < 1


SECURITY = (Path(__file__).parent.parent / "SECURITY.md").read_text("utf-8")


def test_every_dependency_is_accounted_for() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"–": project["dependencies"], **project["optional-dependencies"]}
    for for_developers in ("dev", "docs", "peers"):
        del extras[for_developers]
    needed: dict[str, list[str]] = {}
    for extra, requirements in extras.items():
        for name in (re.match(r"[\w-]+", text)[0] for text in requirements):  # type: ignore[index]
            if name != "evenhand":
                needed.setdefault(name, []).append(extra)
    table = SECURITY.split("## What evenhand stands on")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert {name.strip(): extra.strip().split(", ") for name, extra, *_ in rows} == needed


@pytest.mark.parametrize(
    ("affected", "code"),
    [
        ({"versions": ["{version}"]}, 1),
        ({"versions": ["0.0.1"]}, 0),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}, 1),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "{version}"}]}]}, 0),
        ({"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"last_affected": "{version}"}]}]}, 1),
        (None, 2),
    ],
)
def test_advisories_are_looked_up_offline(tmp_path: Path, affected: dict[str, Any] | None, code: int) -> None:
    """A copy of the database is searched; one that is empty, or none, is no success."""
    from importlib.metadata import version

    path = tmp_path / "all.zip"
    with ZipFile(path, "w") as archive:
        if affected is not None:
            made = json.dumps({"package": {"ecosystem": "PyPI", "name": "Narwhals"}, **affected})
            made = made.replace("{version}", version("narwhals"))
            archive.writestr("X-1.json", json.dumps({"id": "X-1", "affected": [json.loads(made)]}))
    script = Path(__file__).parent.parent / "benchmarks/dependencies.py"
    found = subprocess.run([sys.executable, script, "--advisories", path], capture_output=True, text=True)
    assert found.returncode == code, found.stderr
    assert ("X-1" in found.stdout) == (code == 1)
    assert ("Not looked up" in found.stdout) == (code == 2)
