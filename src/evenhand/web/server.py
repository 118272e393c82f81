"""Serve the web app until it is interrupted, and leave nothing behind."""

from __future__ import annotations

import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from ..errors import InvalidInput
from ..temporary import folder_of_its_own
from .app import create_app

BACKLOG = 2048
SIGNALS = {"SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"}


def serve(port: int, *, limit: int, opened: Callable[[str], None], patience: float = 30.0) -> None:
    """Serve the web app on loopback until a signal ends it.

    Parameters
    ----------
    port : int
        The port; 0 for a free one.
    limit : int
        The size of the largest upload, in bytes.
    opened : callable
        Called with the address of the web app.
    patience : float
        How many seconds a connection may be open without a request, or a body may take to begin.
    """
    signals: list[int] = []
    own_folder = folder_of_its_own("evenhand-web-")
    with catch_signals(signals), socket.socket() as listener, own_folder as folder:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            why = f"{error.strerror}; choose another one, or 0"
            raise InvalidInput(f"port {port} cannot be used: {why}") from None
        # Listen before the address is printed, so that who opens it is not refused.
        listener.listen(BACKLOG)
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        app = create_app(token, hosts, folder, limit=limit, patience=patience)
        opened(f"http://127.0.0.1:{port}/{token}/")
        try:
            run_server(app, listener, signals, patience)
        finally:
            app.state.store.close()
    for number in signals[:1]:
        signal.raise_signal(number)


def run_server(app: Any, listener: socket.socket, signals: list[int], patience: float) -> None:
    """Run uvicorn, and look several times a second for signals and for silent connections."""
    silent_since: dict[Any, float] = {}

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def on_tick(self, counter: int) -> bool:
            connections: Any = self.server_state.connections
            close_silent(connections, silent_since, patience)
            if signals:
                app.state.store.close()
                self.should_exit = True
            return await super().on_tick(counter)

    config = uvicorn.Config(app, ws="none", lifespan="off", log_level="critical")
    config.server_header, config.timeout_graceful_shutdown = False, 0
    Server(config).run([listener])


def close_silent(connections: set[Any], silent_since: dict[Any, float], patience: float) -> None:
    """Close connections without a request, for which uvicorn would wait for ever."""
    now = time.monotonic()
    idle = {c for c in connections if c.cycle is None or c.cycle.response_complete}
    for connection in silent_since.keys() - idle:
        del silent_since[connection]
    for connection in idle:
        if now - silent_since.setdefault(connection, now) > patience:
            connection.transport.abort()


@contextmanager
def catch_signals(signals: list[int]) -> Iterator[None]:
    """Collect signals in place of what they would do."""
    # A signal that is ignored, as HUP is under nohup, stays ignored.
    known = [one for one in signal.Signals if one.name in SIGNALS]
    heeded = [one for one in known if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, lambda number, _: signals.append(number)) for one in heeded}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
