"""The guard before every route: who may ask, and what every answer carries, also 404, 405 and 500."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator
from itertools import accumulate
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from ..errors import InvalidInput

LARGEST_JSON, DEEPEST_JSON = 16 * 2**20, 16
# A request has at most so many texts, and so many bytes besides them: what is long is one text.
MOST_TEXTS, MOST_BESIDES = 2**17, 2**20
# A body must arrive with so many bytes per second once it has begun.
SLOWEST = 10_000
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Guard:
    """Checks Host, token and origin of requests to an app, and adds headers to every answer.

    ``token`` is the first part of every path, and ``hosts`` are the allowed values of the Host header.
    """

    def __init__(self, app: Starlette, token: str, hosts: set[str]) -> None:
        self.app, self.token, self.hosts = app, token.encode(), hosts
        self.state = app.state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        refusal = self.refuse(scope) if scope["type"] == "http" else None
        answer = PlainTextResponse(*refusal) if refusal else self.app
        await answer(scope, receive, send_guarded)

    def refuse(self, scope: Scope) -> tuple[str, int] | None:
        """Why a request is refused, and the status of the answer."""
        headers, path = Headers(scope=scope), scope["path"].split("/")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return "the web app is only available on this machine\n", 421
        given = path[1].encode("utf-8", "replace") if len(path) > 2 else b""
        if not secrets.compare_digest(given, self.token):
            return "the address is incomplete; use the one printed at the start\n", 404
        changes = scope["method"] not in ("GET", "HEAD")
        if changes and headers.getlist("x-evenhand") != ["1"]:
            return "only the web app itself may send this request\n", 403
        return None


async def read_body(request: Request) -> AsyncIterator[bytes]:
    """The parts of a body as they arrive; one that arrives too slowly is given up."""
    stream = request.stream()
    latest = asyncio.get_running_loop().time() + request.app.state.store.patience
    while True:
        try:
            async with asyncio.timeout_at(latest):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise InvalidInput("the request arrives too slowly; try again") from None
        latest += len(part) / SLOWEST
        yield part


async def read_json(request: Request) -> dict[str, Any]:
    """The object in the body of a request, which may be neither large nor deep."""
    body = bytearray()
    async for part in read_body(request):
        body += part
        if len(body) > LARGEST_JSON:
            raise InvalidInput(f"the request is larger than {LARGEST_JSON // 2**20} MB")
    check_structure(bytes(body))
    content = json.loads(body, parse_constant=refuse_constant)
    if not isinstance(content, dict):
        raise InvalidInput("invalid request")
    return content


def check_structure(body: bytes) -> None:
    """Refuse a JSON text of too many parts, or of too many levels, before it is read."""
    too_many = InvalidInput("the request has too many parts")
    if body.count(b'"') > 2 * MOST_TEXTS:
        raise too_many
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    outside = b"".join(unescaped.split(b'"')[::2])
    if len(outside) > MOST_BESIDES:
        raise too_many
    brackets = re.findall(rb"[][{}]", outside)
    depths = accumulate(1 if bracket in b"[{" else -1 for bracket in brackets)
    if max(depths, default=0) > DEEPEST_JSON:
        raise InvalidInput(f"the request is nested more than {DEEPEST_JSON} levels deep")


def refuse_constant(name: str) -> None:
    """Refuse NaN and infinities, which are no JSON."""
    raise ValueError(name)
