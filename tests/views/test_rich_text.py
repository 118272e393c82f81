"""An audit as rich prints it."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hostile import STEERING, steers
from rich.console import Console

import evenhand as eh
from evenhand.errors import MissingExtra
from evenhand.views import as_text

COUNTS = {"A": (0, 2, 8, 30), f"[red]{STEERING}": (300, 100, 120, 480)}


def test_rich_prints_the_text_of_an_audit() -> None:
    """It is as wide as the console, and names are no markup."""
    a = eh.audit_counts(COUNTS, metrics="tpr")
    for width in (100, 64):
        out = io.StringIO()
        Console(file=out, width=width).print(a)
        assert [line.rstrip() for line in out.getvalue().splitlines()] == as_text(a, width=width).splitlines()
        assert steers(out.getvalue()) == []
    coloured = io.StringIO()
    Console(file=coloured, width=100, force_terminal=True, color_system="standard").print(a)
    assert "\x1b[1m" in coloured.getvalue()


def test_rich_is_imported_only_if_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = "str(eh.audit_counts({'A': (0, 2, 8, 30), 'B': (3, 1, 1, 4)}))"
    code = f"import sys, evenhand as eh; {made}; print('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"^printing an audit with rich needs rich: pip install rich$"):
        eh.audit_counts(COUNTS, metrics="tpr").__rich__()
