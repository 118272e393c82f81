from __future__ import annotations

import io
import sys
import time

import pytest

from evenhand.inference import progress as module
from evenhand.inference.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_silent_when_not_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.0)
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    assert list(progress([1, 2, 3], "work")) == [1, 2, 3]
    assert shown.getvalue() == ""


def test_progress_shows_how_far_long_work_is_and_clears_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.001)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for _ in progress([1, 2, 3, 4], "work"):
        time.sleep(0.003)
    shown = terminal.getvalue()
    assert "work [" in shown
    assert "2 of 4" in shown
    assert shown.endswith("\r")


def test_progress_is_silent_for_short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(progress([1, 2], "work")) == [1, 2]
    assert terminal.getvalue() == ""
