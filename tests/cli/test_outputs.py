"""What the command prints: names from the data do not steer the terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hostile import STEERING, steers

import evenhand as eh
from evenhand.cli import evenhand


def test_names_of_files_columns_and_groups_do_not_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / f"{STEERING}.csv"
    file.write_text(f'"{STEERING}",y,p\n' + f'"{STEERING}",1,1\n"{STEERING}",0,0\nB,1,0\nB,0,1\n' * 5, "utf-8")
    base = ["audit", str(file), "--label", "y", "--prediction", "p", "--group"]
    for more, code in (
        ([STEERING], 0),
        ([STEERING, "--explain", "--all"], 0),
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


GATE = ["audit", "--example", "compas", "--metric", "tpr", "--fail-on", "beyond-margin", "--quiet"]


def test_junit_fails_where_the_command_does(tmp_path: Path) -> None:
    out = tmp_path / "audit.xml"
    for more, code in (([], 1), (["--alpha", "1e-200"], 0)):
        assert CliRunner().invoke(evenhand, [*GATE, *more, "--junit", str(out)]).exit_code == code
        suite = ElementTree.parse(out).getroot()
        assert (int(suite.attrib["failures"]) > 0) == bool(code)
        assert suite.attrib["tests"] == ("8" if code else "7"), "six comparisons, a gate and perhaps that rates vary"
    assert [path.name for path in tmp_path.iterdir()] == ["audit.xml"]
    printed = CliRunner().invoke(evenhand, [*GATE, "--junit", "-", "--github"])
    assert ElementTree.fromstring(printed.stdout.encode()).attrib["name"] == "evenhand: compas"
    assert printed.stderr.startswith("::error title=EH104 beyond-margin ")
    saved = str(tmp_path / "a.json")
    assert CliRunner().invoke(evenhand, [*GATE[:5], "--json", saved]).exit_code == 0
    assert CliRunner().invoke(evenhand, ["audit", "--repeat", saved, "--junit", str(out)]).exit_code == 0
    names = [case.attrib["name"] for case in ElementTree.parse(out).getroot()]
    assert names[-1] == "nothing changed"


def test_findings_are_annotations_on_github() -> None:
    for variable, options, is_annotated in (
        ("true", [], True),
        ("true", ["--no-github"], False),
        (None, [], False),
        (None, ["--github"], True),
    ):
        runner = CliRunner(env={"GITHUB_ACTIONS": variable})
        found = runner.invoke(evenhand, [*GATE, *options])
        assert (found.exit_code, "\n::error " in f"\n{found.output}") == (1, is_annotated)
        plain = runner.invoke(evenhand, [*GATE[:-1], "--no-github"]).output
        whole = runner.invoke(evenhand, [*GATE[:-1], *options]).output
        if is_annotated:
            # What is printed for people is no command, whatever a line of it begins with.
            stopped = re.fullmatch(
                r"::stop-commands::(\w{32})\n(.*)::\1::\n(?:::\w+ title=.*\n)+(gate .*\n)", whole, re.DOTALL
            )
            assert stopped is not None
            assert stopped[2] + stopped[3] == plain
        else:
            assert whole == plain


def test_one_file_at_most_is_printed_and_the_config_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("g,y,p\na,1,1\na,0,0\nb,1,0\nb,0,1\n", "utf-8")
    config = tmp_path / "c.toml"
    config.write_text('label = "y"\nprediction = "p"\ngroup = "g"\n', "utf-8")
    base = ["audit", str(tmp_path / "d.csv"), "--config", str(config)]
    for more in (["--json", "-", "--html", "-"], ["--json", str(config)]):
        refused = CliRunner().invoke(evenhand, [*base, *more])
        assert refused.exit_code == 2, more
    assert "only one file can be printed" in CliRunner().invoke(evenhand, [*base, "--json", "-", "--csv", "-"]).output
    assert config.read_text("utf-8").startswith("label")
    config.write_text('label = "y"\ny_true = "p"\nprediction = "p"\ngroup = "g"\n', "utf-8")
    assert "--label twice" in CliRunner().invoke(evenhand, base).output


def test_names_that_are_not_utf8_are_no_bugs(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"n\xff.csv")
    odd.write_bytes(b"g,y,p\na,1,1\nb,0,1\n")
    refused = CliRunner().invoke(evenhand, ["audit", str(odd), "--label", "y", "--prediction", "p", "--group", "g"])
    assert (refused.exit_code, "is not UTF-8" in refused.output) == (2, True)
