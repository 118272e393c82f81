"""Serve the page until it is interrupted, and leave nothing behind."""

from __future__ import annotations

import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..errors import InvalidInput, MissingExtra
from ..temporary import folder_of_its_own
from .app import create_app

__all__ = ["serve"]

_BACKLOG = 2048
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


def serve(
    port: int, *, limit: int, opened: Callable[[str], None], patience: float = 30.0, silence: float = 15.0
) -> None:
    """Serve the page on loopback until a signal ends it; ``opened`` is called with its address.

    Parameters
    ----------
    port : int
        The port; 0 for a free one.
    limit : int
        The size of the largest file, in bytes.
    opened : callable
        Called with the address of the page.
    patience, silence : float
        How many seconds the body of a request may take to begin, and how many a connection may be open without one.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise MissingExtra.named("web", "the page") from None
    caught: list[int] = []
    with _signals(caught), socket.socket() as listener, folder_of_its_own("evenhand-page-") as folder:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as refusal:
            raise InvalidInput(
                f"port {port} cannot be used: {refusal.strerror}; leave out --port to use a free one"
            ) from None
        # Who opens the address that is printed must not be refused.
        listener.listen(_BACKLOG)
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = create_app(token, {f"127.0.0.1:{port}", f"localhost:{port}"}, folder, limit=limit, patience=patience)
        opened(f"http://127.0.0.1:{port}/{token}/")
        # Nothing that is still open when the page is stopped is worth waiting for.
        config = uvicorn.Config(app, ws="none", log_level="critical", server_header=False, timeout_graceful_shutdown=0)
        try:
            _server(uvicorn, config, caught, app.state.store.close, silence).run(sockets=[listener])
        finally:
            app.state.store.close()
    for sign in caught[:1]:
        signal.raise_signal(sign)


def _server(uvicorn: Any, config: Any, caught: list[int], close: Callable[[], None], silence: float) -> Any:
    silent: dict[Any, float] = {}

    class Server(uvicorn.Server):  # type: ignore[misc]
        """A server that leaves signals to `serve`, and ends all work as soon as there is one."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def on_tick(self, counter: int) -> bool:
            if counter % 10 == 0:
                _hang_up(self.server_state.connections, silent, silence)
            if caught:
                close()
                self.should_exit = True
                self.force_exit = len(caught) > 1
            return bool(await super().on_tick(counter))

    return Server(config)


def _hang_up(connections: Iterable[Any], silent: dict[Any, float], silence: float) -> None:
    """Close connections that are silent for too long; uvicorn waits for the rest of a request for ever."""
    now = time.monotonic()
    idle = [one for one in connections if one.cycle is None or one.cycle.response_complete]
    for one in silent.keys() - set(idle):
        del silent[one]
    for one in idle:
        if now - silent.setdefault(one, now) > silence:
            one.transport.abort()


@contextmanager
def _signals(caught: list[int]) -> Iterator[None]:
    """Collect signals in place of what they would do."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def catch(sign: int, _: FrameType | None) -> None:
        caught.append(sign)

    # A signal that is ignored, as HUP is under nohup, stays ignored.
    heeded = [sign for sign in _SIGNALS if signal.getsignal(sign) is not signal.SIG_IGN]
    before = {sign: signal.signal(sign, catch) for sign in heeded}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
