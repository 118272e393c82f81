"""The web app for its tests: as a client sees it, and in Chromium."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from web_client import App, two_years

from evenhand.web import create_app


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[App]:
    page = App(tmp_path, limit=10_000)
    yield page
    page.store.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One web app for tests that need its processes, which take a while to start."""
    page = App(tmp_path_factory.mktemp("shared"))
    yield page
    page.store.close()


@pytest.fixture
def recid(shared: App) -> str:
    return shared.upload("two-years.csv", two_years())


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    app = create_app("secret", {f"127.0.0.1:{port}"}, tmp_path_factory.mktemp("desk"))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/secret/", app.state.store
    app.state.store.close()
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(browser: Any, running: tuple[str, Any]) -> Iterator[Any]:
    """The page; no error in the console but for requests that are refused, and no request to another place."""
    address, _ = running
    opened = browser.new_page()
    errors: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" and "400" not in m.text else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.set_default_timeout(8_000)
    opened.on("dialog", lambda dialog: errors.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(address)
    yield opened
    assert errors == []
    assert [url for url in requests if not url.startswith((address, "blob:"))] == []
    opened.close()
