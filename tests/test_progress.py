"""One line on the terminal for long work, and nothing anywhere else."""

from __future__ import annotations

import io
import logging
import sys
import time
from contextlib import redirect_stderr

import pytest

from evenhand import progress as module
from evenhand.progress import Progress, ProgressLine, progress, watch

CLEARED = f"\r{' ' * 79}\r"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No silence at the start, and frequent polls."""
    monkeypatch.setattr(module, "_SILENT_SECONDS", -1.0)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.002)


def lines(terminal: io.StringIO) -> list[str]:
    return [line.rstrip() for line in terminal.getvalue().split("\r") if line.strip()]


def bar(full: int) -> str:
    return f"[{'#' * full}{'.' * (30 - full)}]"


def work() -> None:
    """Goes on whatever becomes of the line."""
    assert list(progress([1, 2, 3], "work")) == [1, 2, 3]
    with watch("work", lambda: 50.0):
        time.sleep(0.01)


def test_progress_shows_how_far_long_work_is_and_clears_the_line(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a while; a work that is over before leaves no trace, and one that fails is cleared, too."""
    with redirect_stderr(terminal):
        monkeypatch.setattr(module, "_SILENT_SECONDS", 60)
        work()
        assert terminal.getvalue() == ""
        monkeypatch.setattr(module, "_SILENT_SECONDS", 0.05)
        for _ in progress([1, 2, 3, 4], "work"):
            time.sleep(0.06)
        assert lines(terminal) == [f"work {bar(full)} {i} of 4" for i, full in ((1, 7), (2, 15), (3, 22))]
        assert terminal.getvalue().endswith(CLEARED)
        monkeypatch.setattr(module, "_SILENT_SECONDS", -1)
        with pytest.raises(ZeroDivisionError):
            _ = [1 / item for item in progress([1, 0, 2], "failing")]
    assert lines(terminal)[-1].startswith("failing ") and terminal.getvalue().endswith(CLEARED)


@pytest.mark.parametrize(("percent", "line"), [(12.4, f"work {bar(3)} 12 of 100"), (-1.0, "work …")])
def test_a_percentage_is_polled_until_the_work_is_done(percent: float, line: str, terminal: io.StringIO) -> None:
    with redirect_stderr(terminal), watch("work", lambda: percent):
        time.sleep(0.05)
    assert set(lines(terminal)) == {line} and len(lines(terminal)) > 1
    assert terminal.getvalue().endswith(CLEARED)


def test_progress_is_logged_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One message per work and ten seconds, for those who ask for the level INFO; nothing is printed."""
    monkeypatch.setattr(sys, "stderr", printed := io.StringIO())
    with caplog.at_level(logging.INFO, logger="evenhand"):
        assert list(progress([1, 2, 3], "work\x1b")) == [1, 2, 3]
        with watch("counting", lambda: 50.0):
            time.sleep(0.05)
        monkeypatch.setattr(module, "_LOGGED_SECONDS", -1.0)
        assert list(progress([1, 2], "again")) == [1, 2]
    assert [record.getMessage() for record in caplog.records] == [
        f"work\\x1b {bar(0)} 0 of 3", f"counting {bar(15)} 50 of 100", f"again {bar(0)} 0 of 2",
        f"again {bar(15)} 1 of 2",
    ]  # fmt: skip
    assert {(record.name, record.levelname) for record in caplog.records} == {("evenhand", "INFO")}
    assert printed.getvalue() == ""


def test_a_line_fits_the_terminal_and_covers_the_one_before(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wider one would wrap. Text from data does not steer the terminal, and every line is flushed at once."""
    flushed: list[str] = []
    monkeypatch.setattr(terminal, "flush", lambda: flushed.append(terminal.getvalue()))
    report: Progress = ProgressLine()
    with redirect_stderr(terminal):
        for name, done, of in (("x" * 200, 1, 1), ("a\x1b[2Jb\n", 0, 1), ("one", 1, 2), ("none", 0, 0)):
            report(name, done, of)
            assert flushed[-1] == terminal.getvalue()
    assert lines(terminal) == [
        f"{'x' * 38}… {bar(30)} 1 of 1", f"a\\x1b[2Jb\\n {bar(0)} 0 of 1", f"one {bar(15)} 1 of 2", "none …",
    ]  # fmt: skip
    assert {len(line) for line in terminal.getvalue().split("\r")[1:]} <= {79, 80}


def test_without_a_console_the_work_goes_on(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(text: str) -> int:
        raise OSError

    monkeypatch.setattr(terminal, "write", gone)
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed, terminal):
        with redirect_stderr(stream):
            work()
