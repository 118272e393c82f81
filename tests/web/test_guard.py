"""The guard: who may ask, and what every answer carries."""

from __future__ import annotations

from web_client import MINE, App

HEADERS = {
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}


EVIL = {"Host": "evil.example"}
SENT = [
    *((200, "GET", path, {}) for path in ("/token/", "/token/static/page.js", "/token/static/page.css")),
    *((404, "GET", path, {}) for path in ("/other/", "/", "/token", "/token/nothing", "/token/static/page.html",
        "/token/static/..%2fapp.py", "/token/report/nothing/audit.html", "/token/job/nothing")),
    *((405, method, path, headers) for method, path, headers in (
        ("POST", "/token/", MINE), ("GET", "/token/audit", {}), ("DELETE", "/token/file", MINE))),
    *((403, "POST", "/token/audit", {"X-Evenhand": mark}) for mark in ("0", "11", "", "1, 1")),
    *((403, method, path, {}) for method, path in (
        ("POST", "/token/audit"), ("PUT", "/token/file?name=x.csv"), ("DELETE", "/token/job/nothing"))),
    (403, "OPTIONS", "/token/audit", {"Origin": "http://evil.example"}),
    *((421, "GET", path, EVIL) for path in ("/token/", "/token", "/")),
    (421, "POST", "/token/nothing", EVIL | MINE),
    (400, "POST", "/token/audit", MINE),
]  # fmt: skip


def test_every_route_is_guarded_and_every_answer_carries_its_policy(fresh: App) -> None:
    for status, method, path, headers in SENT:
        answer = fresh.client.request(method, path, headers=headers, follow_redirects=False)
        assert answer.status_code == status, (method, path, headers)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_without_the_token_nobody_learns_what_there_is(fresh: App) -> None:
    said = "the address is incomplete; use the one printed at the start\n"
    for path in ("/", "/toke/", "/tokens/", "/token", "//token/", "/Token/", "/%74oken2/"):
        answers = [fresh.client.request(method, f"http://testserver{path}") for method in ("GET", "POST", "DELETE")]
        assert [(answer.status_code, answer.text) for answer in answers] == [(404, said)] * 3


def test_requests_are_neither_large_nor_deep(fresh: App) -> None:
    deep, large = "the request is nested more than 16 levels deep", "the request is larger than 16 MB"
    for content, sentence in (
        (b"{", "invalid request"),
        (b"[]", "invalid request"),
        (b'{"text": NaN}', "invalid request"),
        (b'{"text": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", deep),
        (b'{"text": "' + b" " * 16 * 2**20 + b'"}', large),
        (b'{"text": ' + b"9" * 5_000 + b"}", "invalid request"),
        (b"{}", "invalid request"),
    ):
        for parts in (content, iter([content[:100], content[100:]])):
            answer = fresh.client.post("/token/table", content=parts, headers=MINE)
            assert (answer.status_code, answer.json()) == (400, {"error": sentence})


def test_brackets_in_texts_are_not_depth(shared: App) -> None:
    for text in ("[" * 40, '"' + "[" * 40, "\\" + '"' + "{" * 40, '\\"' + "[" * 40 + "\\"):
        answer = shared.end(shared.post("table", {"text": "g,tp,fn,fp,tn\n" + text}))
        assert "nested" not in answer["answer"]
    hidden = b'{"a": "\\\\", "text": ' + b"[" * 40 + b'"\\""' + b"]" * 40 + b"}"
    refused = shared.client.post("/token/table", content=hidden, headers=MINE)
    assert refused.json() == {"error": "the request is nested more than 16 levels deep"}
