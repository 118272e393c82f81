"""The page: guarded, and in a browser the same numbers as the library gives."""

from __future__ import annotations

import csv
import io
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

import evenhand as eh
from evenhand.faces.web import create_app

ROWS = "race,y,yhat,s\n" + "A,1,1,.9\nA,0,1,.8\nA,0,0,.1\n" * 9 + "=cmd(),1,0,.2\n<b>B</b>,0,0,.1\nB,1,0,.3\n" * 9
MINE = {"X-Evenhand": "1"}


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return TestClient(create_app("token", {"testserver"}, tmp_path, limit=10_000), base_url="http://testserver")


def test_the_door_is_guarded(client: TestClient) -> None:
    assert client.get("/token/").status_code == 200
    assert client.get("/other/").status_code == 404
    assert client.get("/").status_code == 404
    assert client.get("/token", headers={"Host": "evil.example"}, follow_redirects=False).status_code == 404
    assert client.get("/token/", headers={"Host": "evil.example"}).status_code == 421
    assert client.post("/token/counts", json={"text": ""}).status_code == 403
    assert client.put("/token/file?name=x.csv", content=b"a").status_code == 403
    assert client.get("/token/static/../web.py").status_code == 404
    assert client.get("/token/static/page.html").status_code == 404
    assert client.get("/token/report/nothing.html").status_code == 404
    answer = client.options("/token/counts", headers={"Origin": "http://evil.example"})
    assert "access-control-allow-origin" not in answer.headers


def test_every_answer_carries_its_policy(client: TestClient) -> None:
    for path in ("/token/", "/token/static/page.js"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


def test_files_are_kept_in_the_folder_only_and_not_beyond_the_limit(client: TestClient, tmp_path: Path) -> None:
    answer = client.put("/token/file?name=../../../etc/x.csv", content=ROWS.encode(), headers=MINE)
    assert answer.status_code == 200
    assert answer.json()["columns"] == ["race", "y", "yhat", "s"]
    assert answer.json()["guesses"] == {"label": "y", "prediction": "yhat", "group": "race"}
    assert len(list(tmp_path.iterdir())) == 1
    answer = client.put("/token/file?name=large.csv", content=b"x" * 20_000, headers=MINE)
    assert (answer.status_code, len(list(tmp_path.iterdir()))) == (400, 1)
    assert answer.json()["error"].startswith(
        "large.csv is larger than 0.00953674 MB; start the page with a larger --limit"
    )


def test_a_file_of_the_limit_is_kept_and_one_byte_more_is_not(client: TestClient, tmp_path: Path) -> None:
    """Both are whole tables, so that nothing but the limit tells them apart."""
    full = ("a,b\n" + "1,2\n" * 2499).encode()
    assert len(full) == 10_000
    assert client.put("/token/file?name=full.csv", content=full, headers=MINE).status_code == 200
    answer = client.put("/token/file?name=over.csv", content=full + b"\n", headers=MINE)
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "over.csv is larger than 0.00953674 MB; start the page with a larger --limit"},
    )
    in_parts = client.put("/token/file?name=parts.csv", content=iter([full, b"1,2\n" * 10]), headers=MINE)
    assert in_parts.status_code == 400, "also if its size is not said beforehand"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_request_that_is_no_file_has_a_limit_of_its_own(client: TestClient) -> None:
    text = "race,tp,fn,fp,tn\nA,9,6,4,21\nB,30,10,12,48\n"
    small, large = ({"text": text + " " * size} for size in (0, 16 * 2**20))
    assert client.post("/token/counts", json=small, headers=MINE).status_code == 200
    answer = client.post("/token/counts", json=large, headers=MINE)
    assert (answer.status_code, answer.text) == (413, "the request is too large\n")


def test_the_command_passes_its_limit_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from evenhand.faces import serve_command, web

    given: dict[str, Any] = {}
    monkeypatch.setattr(web, "serve", lambda port, **settings: given.update(port=port, **settings))
    assert CliRunner().invoke(serve_command.serve, ["--port", "8123", "--limit", "7", "--no-open"]).exit_code == 0
    assert (given["port"], given["limit"]) == (8123, 7 * 2**20)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.xlsx", b"x", "x.xlsx must be a CSV, TSV or Parquet file by its extension"),
        ("x.csv", b"", "x.csv is empty; there is nothing to audit"),
        ("x.csv", b"a,b\n", "x.csv has no rows; there is nothing to audit"),
    ],
)
def test_wrong_files_get_the_sentences_of_the_command_line(
    client: TestClient, name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    answer = client.put(f"/token/file?name={name}", content=content, headers=MINE)
    assert (answer.status_code, answer.json()["error"]) == (400, sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_said_and_only_the_last_files_are_kept(client: TestClient, tmp_path: Path) -> None:
    import polars as pl

    whole = io.BytesIO()
    pl.DataFrame({"a": [f"text {i % 97} {i}" for i in range(300)]}).write_parquet(whole, compression="uncompressed")
    damaged = bytearray(whole.getvalue())
    damaged[8:3000] = b"\xff" * 2992
    answer = client.put("/token/file?name=d.parquet", content=bytes(damaged), headers=MINE)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("d.parquet cannot be read: ")
    for _ in range(12):
        assert client.put("/token/file?name=x.csv", content=ROWS.encode(), headers=MINE).status_code == 200
    assert len(list(tmp_path.iterdir())) == 8


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "invalid request"),
        (b"[]", "invalid request"),
        (b"{}", "invalid request"),
        (b'{"group": [1, 2, 3], "reference": [1, 2, 3, 4]}', "invalid request"),
        (b'{"group": [1, 2, 3, "1.5"], "reference": [1, 2, 3, 4]}', "a count must be a whole number; got '1.5'"),
        (b'{"group": [1, 2, 3, -1], "reference": [1, 2, 3, 4]}', "tn must not be negative; got -1"),
        (b'{"group": [1, 2, 3, 4], "reference": [0, 0, 0, 0]}', "the reference is empty (n = 0); the group "
         "cannot be compared with it"),
        (b'{"group": [1, 2, 3, 4], "reference": [1, 2, 3, 4], "metric": "te"}',
         "te compares two groups; choose a metric of one group"),
    ],
)  # fmt: skip
def test_requests_that_make_no_sense_are_refused(client: TestClient, content: bytes, sentence: str) -> None:
    answer = client.post("/token/what-if", content=content, headers=MINE)
    assert (answer.status_code, answer.json()["error"]) == (400, sentence)


def test_downloads_are_safe_in_a_spreadsheet() -> None:
    a = eh.audit_counts({"=cmd()": (9, 6, 4, 21), "-1+2": (3, 4, 5, 6), "B": (30, 10, 12, 48)}, metrics=["acc", "mb"])
    rows = list(csv.DictReader(io.StringIO(a.to_csv())))
    assert {row["group"] for row in rows} == {"'=cmd()", "'-1+2", "B"}
    assert all(float(row["score"]) == r.score for row, r in zip(rows, a.rows, strict=True))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = create_app("secret", {f"127.0.0.1:{port}"}, tmp_path_factory.mktemp("desk"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/secret/"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page; no error in the console but for requests that are refused, and no request to another place."""
    opened = browser.new_page()
    errors: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" and "400" not in m.text else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("dialog", lambda dialog: errors.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(address)
    yield opened
    assert errors == []
    assert [url for url in requests if not url.startswith((address, "blob:"))] == []
    opened.close()


def test_a_file_is_dropped_and_the_numbers_are_those_of_the_library(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text(ROWS, "utf-8")
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#columns:visible")
    assert "decisions.csv: 4 columns" in page.inner_text("#chosen")
    assert page.locator("#preview tbody tr").count() == 8
    assert page.input_value("#label") == "y"
    page.click("text=Audit >> nth=-1")
    page.wait_for_selector("#result:visible")
    expected = eh.audit(path, y_true="y", y_pred="yhat", groups=["race"])
    assert page.inner_text("#found") == f"Audit of {expected.n} cases"
    assert page.locator("#findings li").first.inner_text() == expected.findings[0].sentence + "."
    report = page.frame_locator("#report")
    report.locator("h1").wait_for()
    assert report.locator(".card").count() == len({row.group for row in expected.rows})
    with page.expect_download() as download:
        page.click("#get-json")
    saved = Path(download.value.path()).read_text("utf-8")
    assert eh.Audit.from_json(saved) == expected
    with page.expect_download() as download:
        page.click("#get-csv")
    assert Path(download.value.path()).read_text("utf-8") == expected.to_csv()
    with page.expect_download() as download:
        page.click("#get-html")
    assert Path(download.value.path()).read_text("utf-8") == expected.to_html()


def test_a_bad_file_and_bad_columns_are_said(page: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_text("not parquet", "utf-8")
    page.set_input_files("#file", str(bad))
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message").startswith("bad.parquet cannot be read: ")
    path = tmp_path / "decisions.csv"
    path.write_text(ROWS, "utf-8")
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#columns:visible")
    page.select_option("#prediction", "")
    page.click("#columns button")
    page.wait_for_selector("#message.bad")
    assert page.inner_text("#message").startswith("pass either y_pred (predictions) or y_score (scores)")


def test_counts_can_be_pasted(page: Any) -> None:
    page.click("summary")
    page.fill("#counts", "race,tp,fn,fp,tn\n<img src=x onerror=alert(1)>,9,6,4,21\nB,30,10,12,48\n")
    page.click("#audit-counts")
    page.wait_for_selector("#result:visible")
    assert page.inner_text("#found") == "Audit of 140 cases"


def test_what_if_follows_what_is_typed(page: Any) -> None:
    page.click("#tab-what-if")
    page.wait_for_selector("#answer td")
    group, rest = eh.ConfusionMatrix(0, 2, 8, 30), eh.ConfusionMatrix(300, 100, 120, 480)
    first = eh.disparity(group, rest, "tpr")
    assert f"{first.pvalue:.4f}" in page.inner_text("#answer")
    page.fill("#g0", "5")
    second = eh.disparity(eh.ConfusionMatrix(5, 2, 8, 30), rest, "tpr")
    page.get_by_role("cell", name=f"{second.pvalue:.4f}".rstrip("0").rstrip("."), exact=True).first.wait_for()
    page.fill("#g0", "0")
    page.fill("#g1", "0")
    page.get_by_text("undefined: no actual positives (TP + FN = 0)").wait_for()
    page.fill("#imagined-metric", "recal")
    page.wait_for_selector("#imagined-message.bad")
    assert page.inner_text("#imagined-message") == "no metric is called 'recal'; did you mean 'recall'?"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 375])
def test_no_serious_accessibility_violation(
    browser: Any, violations: Any, address: str, tmp_path: Path, scheme: str, width: int
) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text(ROWS, "utf-8")
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    opened = context.new_page()
    opened.goto(address)
    opened.set_input_files("#file", str(path))
    opened.wait_for_selector("#columns:visible")
    assert violations(opened) == []
    opened.click("#tab-what-if")
    opened.wait_for_selector("#answer td")
    assert violations(opened) == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_the_command_says_where_the_page_is_and_stops(tmp_path: Path) -> None:
    import signal
    import subprocess
    import sys

    command = [sys.executable, "-m", "evenhand", "serve", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        assert line.startswith("The page is at http://127.0.0.1:")
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        running.wait(20)


def test_a_port_in_use_is_said() -> None:
    from click.testing import CliRunner

    from evenhand.faces.serve_command import serve

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(serve, ["--port", str(port), "--no-open"])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: port {port} cannot be used: ")
