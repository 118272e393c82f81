"""What the command prints: names from the data do not steer the terminal."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import evenhand

STEERING = "a\x1b[31m\x07\u202e\u2066\x9b1m\nb"


def steers(text: str) -> list[str]:
    """The characters that control a terminal or turn the direction of text, but for line breaks."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]


def test_names_of_files_columns_and_groups_do_not_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / f"{STEERING}.csv"
    file.write_text(f'"{STEERING}",y,p\n' + f'"{STEERING}",1,1\n"{STEERING}",0,0\nB,1,0\nB,0,1\n' * 5, "utf-8")
    base = ["audit", str(file), "--label", "y", "--prediction", "p", "--group"]
    for more, code in (
        ([STEERING], 0),
        ([STEERING, "--verbose", "--all"], 0),
        ([STEERING, "--markdown", "-"], 0),
        ([STEERING, "--csv", str(tmp_path / STEERING / "x")], 2),
        ([f"{STEERING}?"], 2),
        ([STEERING, "--reference", STEERING + "?"], 2),
        ([STEERING, "--positive-label", STEERING], 2),
    ):
        found = CliRunner().invoke(evenhand, [*base, *more])
        assert (found.exit_code, steers(found.output)) == (code, []), more
        assert not [line for line in found.output.splitlines() if line.startswith("b")], "no name begins a line"
    with pytest.raises(eh.errors.InvalidInput) as refusal:
        eh.audit(tmp_path / f"{STEERING}.cvs", y_true="y", y_pred="p", groups="g")
    assert not steers(str(refusal.value))
    assert "\n" not in str(refusal.value)
