"""``evenhand reproduce``: what it prints, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.__main__ import main
from evenhand.paper.command import reproduce as command


def test_the_command_says_what_it_wrote(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--only", "table2", "--out", str(tmp_path / "r"), "--processes", "1"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"Wrote 2 files. Open {tmp_path / 'r' / 'index.html'}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "figure9"], "no part of the paper is called 'figure9'; did you mean"),
        (["--monte-carlo", "--metric", "te"], "te compares two groups; Monte Carlo errors need a metric of one group"),
        (["--only", "table2", "--out", "{file}"], "cannot create the folder {file}: "),
    ],
)
def test_the_command_refuses_in_one_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    result = CliRunner().invoke(command, [word.format(file=file / "x") for word in words])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {sentence.format(file=file / 'x')}")


def test_the_command_is_among_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["evenhand", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "reproduce" in capsys.readouterr().out
