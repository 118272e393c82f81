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


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No silence at the start, and frequent polls."""
    monkeypatch.setattr(module, "_SILENT_SECONDS", -1.0)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.002)


def lines(terminal: io.StringIO) -> list[str]:
    return [line.rstrip() for line in terminal.getvalue().split("\r") if line.strip()]


@pytest.mark.usefixtures("at_once")
def test_progress_is_silent_when_not_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    assert list(progress([1, 2, 3], "work")) == [1, 2, 3]
    with watch("work", lambda: 50.0):
        time.sleep(0.01)
    assert shown.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_progress_is_logged_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One message per work and ten seconds, for those who ask for the level INFO."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with caplog.at_level(logging.INFO, logger="evenhand"):
        assert list(progress([1, 2, 3], "work\x1b")) == [1, 2, 3]
        with watch("counting", lambda: 50.0):
            time.sleep(0.05)
        monkeypatch.setattr(module, "_LOGGED_SECONDS", -1.0)
        assert list(progress([1, 2], "again")) == [1, 2]
    assert [record.getMessage() for record in caplog.records] == [
        f"work\\x1b [{'.' * 30}] 0 of 3",
        f"counting [{'#' * 15}{'.' * 15}] 50 of 100",
        f"again [{'.' * 30}] 0 of 2",
        f"again [{'#' * 15}{'.' * 15}] 1 of 2",
    ]
    assert {(record.name, record.levelname) for record in caplog.records} == {("evenhand", "INFO")}


def test_progress_shows_how_far_long_work_is_and_clears_the_line(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.05)
    with redirect_stderr(terminal):
        for _ in progress([1, 2, 3, 4], "work"):
            time.sleep(0.06)
    assert lines(terminal) == [
        f"work [{'#' * 7}{'.' * 23}] 1 of 4",
        f"work [{'#' * 15}{'.' * 15}] 2 of 4",
        f"work [{'#' * 22}{'.' * 8}] 3 of 4",
    ]
    assert terminal.getvalue().endswith(f"\r{' ' * 79}\r")


def test_progress_is_silent_for_short_work(terminal: io.StringIO) -> None:
    with redirect_stderr(terminal):
        assert list(progress([1, 2], "work")) == [1, 2]
        with watch("work", lambda: 50.0):
            pass
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_the_line_is_cleared_when_the_work_fails(terminal: io.StringIO) -> None:
    with redirect_stderr(terminal), pytest.raises(ZeroDivisionError):
        _ = [1 / item for item in progress([1, 0, 2], "work")]
    assert terminal.getvalue().endswith(f"\r{' ' * 79}\r")


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("percent", "line"), [(12.4, f"work [{'#' * 3}{'.' * 27}] 12 of 100"), (-1.0, "work …")])
def test_a_percentage_is_polled_until_the_work_is_done(percent: float, line: str, terminal: io.StringIO) -> None:
    with redirect_stderr(terminal), watch("work", lambda: percent):
        time.sleep(0.05)
    assert set(lines(terminal)) == {line}
    assert len(lines(terminal)) > 1
    assert terminal.getvalue().endswith(f"\r{' ' * 79}\r")


@pytest.mark.usefixtures("at_once")
def test_text_from_data_does_not_steer_the_terminal(terminal: io.StringIO) -> None:
    with redirect_stderr(terminal):
        ProgressLine()("a\x1b[2Jb\n", 0, 1)
    assert lines(terminal) == [f"a\\x1b[2Jb\\n [{'.' * 30}] 0 of 1"]


@pytest.mark.usefixtures("at_once")
def test_every_line_is_shown_at_once(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream may keep text without a newline to itself until it is flushed."""
    flushed: list[str] = []
    monkeypatch.setattr(terminal, "flush", lambda: flushed.append(terminal.getvalue()))
    with redirect_stderr(terminal), ProgressLine() as report:
        report("work", 0, 1)
        assert flushed == [terminal.getvalue()]


@pytest.mark.usefixtures("at_once")
def test_a_long_name_gives_way_to_the_numbers(terminal: io.StringIO) -> None:
    """A line as wide as the terminal would wrap, and could not be cleared."""
    with redirect_stderr(terminal):
        ProgressLine()("x" * 200, 1, 1)
    assert terminal.getvalue() == f"\r{'x' * 38}… [{'#' * 30}] 1 of 1"


@pytest.mark.usefixtures("at_once")
def test_a_shorter_line_covers_a_longer_one(terminal: io.StringIO) -> None:
    report = ProgressLine()
    with redirect_stderr(terminal):
        report("a long name", 0, 1)
        report("name", 0, 1)
    assert [len(line) for line in terminal.getvalue().split("\r")] == [0, 79, 79]


@pytest.mark.usefixtures("at_once")
def test_without_a_console_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(progress([1, 2], "work")) == [1, 2]
        with watch("work", lambda: 50.0):
            pass


@pytest.mark.usefixtures("at_once")
def test_a_terminal_that_goes_away_does_not_end_the_work(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(text: str) -> int:
        raise OSError

    monkeypatch.setattr(terminal, "write", gone)
    with redirect_stderr(terminal):
        assert list(progress([1, 2], "work")) == [1, 2]


@pytest.mark.usefixtures("at_once")
def test_a_line_serves_where_a_callable_is_asked_for(terminal: io.StringIO) -> None:
    def work(report: Progress) -> None:
        report("one", 1, 2)
        report("none", 0, 0)

    with redirect_stderr(terminal):
        work(ProgressLine())
    assert lines(terminal) == [f"one [{'#' * 15}{'.' * 15}] 1 of 2", "none …"]
