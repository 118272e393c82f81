"""The guard: who may ask, and what every answer carries."""

from __future__ import annotations

import pytest
from web_client import MINE, App

HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/token/", {}, 200),
        ("GET", "/token/static/page.js", {}, 200),
        ("GET", "/token/static/page.css", {}, 200),
        ("GET", "/other/", {}, 404),
        ("GET", "/", {}, 404),
        ("GET", "/token", {}, 404),
        ("GET", "/token/nothing", {}, 404),
        ("GET", "/token/static/page.html", {}, 404),
        ("GET", "/token/static/..%2fapp.py", {}, 404),
        ("GET", "/token/report/nothing/audit.html", {}, 404),
        ("GET", "/token/job/nothing", {}, 404),
        ("POST", "/token/", MINE, 405),
        ("GET", "/token/audit", {}, 405),
        ("DELETE", "/token/file", MINE, 405),
        ("POST", "/token/audit", {}, 403),
        ("POST", "/token/audit", {"X-Evenhand": "0"}, 403),
        ("POST", "/token/audit", {"X-Evenhand": "11"}, 403),
        ("POST", "/token/audit", {"X-Evenhand": ""}, 403),
        ("POST", "/token/audit", {"X-Evenhand": "1, 1"}, 403),
        ("PUT", "/token/file?name=x.csv", {}, 403),
        ("DELETE", "/token/job/nothing", {}, 403),
        ("OPTIONS", "/token/audit", {"Origin": "http://evil.example"}, 403),
        ("GET", "/token/", {"Host": "evil.example"}, 421),
        ("GET", "/token", {"Host": "evil.example"}, 421),
        ("GET", "/", {"Host": "evil.example"}, 421),
        ("POST", "/token/nothing", {"Host": "evil.example", **MINE}, 421),
        ("POST", "/token/audit", MINE, 400),
    ],
)
def test_every_route_is_guarded_and_every_answer_carries_its_policy(
    fresh: App, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = fresh.client.request(method, path, headers=headers, follow_redirects=False)
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/toke/", "/tokens/", "/token", "//token/", "/Token/", "/%74oken2/"])
def test_without_the_token_nobody_learns_what_there_is(fresh: App, path: str) -> None:
    answers = [fresh.client.request(method, f"http://testserver{path}") for method in ("GET", "POST", "DELETE")]
    said = "the address is incomplete; use the one printed at the start\n"
    assert [(answer.status_code, answer.text) for answer in answers] == [(404, said)] * 3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "invalid request"),
        (b"[]", "invalid request"),
        (b'{"text": NaN}', "invalid request"),
        (b'{"text": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "the request is nested more than 16 levels deep"),
        (b'{"text": "' + b" " * 16 * 2**20 + b'"}', "the request is larger than 16 MB"),
        (b'{"text": ' + b"9" * 5_000 + b"}", "invalid request"),
        (b"{}", "invalid request"),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_requests_are_neither_large_nor_deep(fresh: App, content: bytes, sentence: str, chunked: bool) -> None:
    parts = iter([content[:100], content[100:]]) if chunked else content
    answer = fresh.client.post("/token/table", content=parts, headers=MINE)
    assert (answer.status_code, answer.json()) == (400, {"error": sentence})


def test_brackets_in_texts_are_not_depth(shared: App) -> None:
    for text in ("[" * 40, '"' + "[" * 40, "\\" + '"' + "{" * 40, '\\"' + "[" * 40 + "\\"):
        answer = shared.end(shared.post("table", {"text": "g,tp,fn,fp,tn\n" + text}))
        assert "nested" not in answer["answer"]
    hidden = b'{"a": "\\\\", "text": ' + b"[" * 40 + b'"\\""' + b"]" * 40 + b"}"
    refused = shared.client.post("/token/table", content=hidden, headers=MINE)
    assert refused.json() == {"error": "the request is nested more than 16 levels deep"}
