"""The guard before every route: who may ask, and what every answer carries, also 404, 405 and 500."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PAGE_POLICY", "SMALL", "Guard", "arriving", "read_json"]

_LARGEST_JSON = 16 * 2**20
SMALL = 2**20
_DEEPEST_JSON = 16
# How many texts a request may have, and how many bytes besides them; what is long in a request is one text.
_MOST_TEXTS, _MOST_BESIDES = 2**17, 2**20
# How many bytes of a body must come each second once it has begun.
_SLOWEST = 10_000
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Guard:
    """Middleware that checks Host, token and origin of a request, and adds headers to every answer.

    ``token`` is the first part of every path, and ``hosts`` are the allowed values of the Host header.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self._app, self._token, self._hosts = app, token.encode(), frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        from starlette.datastructures import MutableHeaders
        from starlette.responses import PlainTextResponse

        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Content-Security-Policy", PAGE_POLICY)
            await send(message)

        refused = self._refused(scope)
        try:
            await (PlainTextResponse(*refused) if refused else self._app)(scope, receive, answer)
        except Exception:
            if not begun:
                await PlainTextResponse("evenhand failed unexpectedly\n", 500)(scope, receive, answer)
            raise

    def _refused(self, scope: Scope) -> tuple[str, int] | None:
        """Why a request is refused, and the status of the answer."""
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value)
        hosts = [value.decode("latin-1") for value in found.get(b"host", [])]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "this page is only available on this machine\n", 421
        first = scope["path"].split("/")[1] if scope["path"].count("/") > 1 else ""
        if not secrets.compare_digest(first.encode("utf-8", "replace"), self._token):
            return "the address is incomplete; use the one printed when the page was started\n", 404
        if scope["method"] not in ("GET", "HEAD") and found.get(b"x-evenhand") != [b"1"]:
            return "only the page itself may send this request\n", 403
        return None


async def arriving(request: Request) -> AsyncIterator[bytes]:
    """The parts of a body as they arrive; one that arrives too slowly is given up, so that it keeps nobody waiting."""
    patience: float = request.app.state.store.patience
    stream, latest = request.stream(), asyncio.get_running_loop().time() + patience
    while True:
        try:
            async with asyncio.timeout_at(latest):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise InvalidInput("the request arrives too slowly; try again") from None
        latest += len(part) / _SLOWEST
        yield part


async def read_json(request: Request, largest: int = _LARGEST_JSON) -> dict[str, Any]:
    """The object in the body of a request, which may be neither large nor deep, however it is sent."""
    body = bytearray()
    async for part in arriving(request):
        body += part
        if len(body) > largest:
            raise InvalidInput(f"the request is larger than {largest // 2**20} MB")
    if body.count(b'"') > 2 * _MOST_TEXTS:
        raise InvalidInput("the request has too many parts")
    outside = _outside(bytes(body))
    if len(outside) > _MOST_BESIDES:
        raise InvalidInput("the request has too many parts")
    if _depth(outside) > _DEEPEST_JSON:
        raise InvalidInput(f"the request is nested more than {_DEEPEST_JSON} levels deep")
    try:
        asked = json.loads(body, parse_constant=_refuse)
    except ValueError:
        raise InvalidInput("invalid request") from None
    if not isinstance(asked, dict):
        raise InvalidInput("invalid request")
    return asked


def _outside(body: bytes) -> bytes:
    """What a JSON text has outside of its texts."""
    return b"".join(body.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2])


def _depth(outside: bytes) -> int:
    """How deep a JSON text is nested, from what it has outside of its texts."""
    deepest = depth = 0
    for sign in outside.translate(None, _NO_BRACKETS):
        depth += 1 if sign in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > _DEEPEST_JSON:
            break
    return deepest


def _refuse(text: str) -> Any:
    raise ValueError(text)
