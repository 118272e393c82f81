"""The project itself: what people are told to run exists, and is said once or the same everywhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import evenhand as eh
from evenhand.cli import evenhand as main_command

ROOT = Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


PROJECT = tomllib.loads(text_of("pyproject.toml"))["project"]
TARGETS: dict[str, str] = dict(re.findall(r"^([a-z-]+): ;(.*)$", text_of("Makefile"), re.MULTILINE))
PYTHONS = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
WORKFLOW: dict[str, Any] = yaml.safe_load(text_of(".github/workflows/ci.yml"))


def command_of(target: str) -> str:
    return TARGETS[target].partition(" ## ")[0].strip()


# What is run


def test_targets_say_what_they_do_and_name_files_that_exist() -> None:
    """Every benchmark has one, and pages name no others."""
    scripts = {path.name for path in BENCHMARKS.glob("*.py") if '__name__ == "__main__"' in path.read_text("utf-8")}
    scripts |= {path.parent.name for path in BENCHMARKS.glob("*/__main__.py")}
    assert {
        word for line in TARGETS.values() for word in re.findall(r"benchmarks/([\w.]+)", line.partition(" ## ")[0])
    } == scripts
    for target, line in TARGETS.items():
        command, _, explained = line.partition(" ## ")
        assert explained, target
        names = re.findall(r"(?:^|[\s;>])((?:benchmarks|tests|docs|\.ci)/[\w./-]+)", command)
        for name in [*names, *re.findall(r"docs/[\w/-]+\.md", explained)]:
            assert name == "docs/_build/html" or (ROOT / name).exists(), (target, name)
    for page in ("CONTRIBUTING.md", ".github/pull_request_template.md", ".pre-commit-config.yaml"):
        named = re.findall(r"[`$] ?make ([a-z-]+)", text_of(page))
        assert named and set(named) <= set(TARGETS)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_help_lists_every_target() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"^([a-z-]+)  +\w", done.stdout, re.MULTILINE) == list(TARGETS)


def test_hooks_and_ci_run_what_is_run_here() -> None:
    (local,) = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local", "hooks of other repositories would be fetched"
    ci = text_of(".ci/run")
    entries = [hook["entry"] for hook in local["hooks"]]
    assert entries == re.findall(r"^\.venv/bin/(?:ruff|mypy|lint).*$", ci, re.MULTILINE)
    assert " && ".join(entries) == command_of("check").replace("$(bin)", ".venv/bin")
    assert command_of("docs").replace("$(bin)", ".venv/bin") in ci.splitlines()
    commands = [block.split("```")[0].strip() for block in text_of("README.md").split("```sh\n")[1:]]
    assert len(commands) == 2 and commands[1] in ci.splitlines(), "the second command of the README is the test command"


def test_the_workflow_runs_what_is_run_here_reads_little_and_pins_its_actions() -> None:
    jobs = WORKFLOW["jobs"]
    steps = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert steps == {"run": [".ci/run"], "nightly": [".ci/nightly ${{ matrix.part }}"]}
    usage = re.search(r"^\[ \$# -gt 0 \] \|\| set -- (.*)$", text_of(".ci/nightly"), re.MULTILINE)
    assert usage is not None and jobs["nightly"]["strategy"]["matrix"]["part"] == usage[1].split()
    assert jobs["nightly"]["if"] == "github.event_name == 'schedule'"
    used = [(name, step) for name, job in jobs.items() for step in job["steps"] if "uses" in step]
    asked = {name: step["with"]["python-version"].split() for name, step in used if "python" in step["uses"]}
    assert asked == {"run": PYTHONS[:1], "nightly": PYTHONS[::-1]}
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for _, step in used)
    assert WORKFLOW["permissions"] == {"contents": "read"} and "secrets" not in text_of(".github/workflows/ci.yml")
    done = subprocess.run([ROOT / ".ci/nightly", "moon"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "no part is called 'moon'; known: slow, spark, floors, wheels\n"


def test_templates_ask_for_what_is_needed() -> None:
    bug, number = (text_of(f".github/ISSUE_TEMPLATE/{name}.md") for name in ("bug", "wrong-number"))
    assert "`evenhand --version`" in bug and "`evenhand --version`" in number and "tp, fn, fp, tn" in number


# What is written down of versions and people


def needed(requirements: list[str]) -> list[Requirement]:
    """What requirements ask for; extras of this project stand for what they need."""
    extras = PROJECT["optional-dependencies"]
    found = [Requirement(text) for text in requirements]
    ours = [one for asked in found if asked.name == PROJECT["name"] for name in asked.extras for one in extras[name]]
    return [asked for asked in found if asked.name != PROJECT["name"]] + (needed(ours) if ours else [])


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_names_one_version_of_all_that_development_needs() -> None:
    """No host, no path, nothing but names and versions, and each of them allowed."""
    lines = text_of(".ci/lock.txt").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", line) for line in lines)
    versions = {normal(name): Version(version) for name, _, version in (line.partition("==") for line in lines)}
    assert len(versions) == len(lines)
    for asked in needed([*PROJECT["dependencies"], "evenhand[dev]"]):
        assert versions[normal(asked.name)] in asked.specifier, asked
    assert f"python{PYTHONS[0]} -m venv" in TARGETS["lock"], "it is made with the oldest Python"


def test_the_authors_are_the_same_everywhere() -> None:
    (author,) = PROJECT["authors"]
    assert author == {"name": "evenhand contributors"}
    assert f"Copyright (c) 2026 {author['name']}" in text_of("LICENSE")
    assert yaml.safe_load(text_of("CITATION.cff"))["authors"] == [author]
    assert f'author = "{author["name"]}"' in text_of("docs/conf.py")


# What those who carry on read

DECISIONS = sorted((ROOT / "docs/decisions").glob("0*.md"))
ARCHITECTURE = text_of("docs/explanation/architecture.md")


def test_every_decision_says_whether_it_holds_and_the_index_repeats_it() -> None:
    lines = []
    for number, path in enumerate(DECISIONS, 1):
        title, _, status = path.read_text("utf-8").split("\n")[:3]
        said = re.match(r"\*(?:Holds|Superseded by \[decision (\d+)\]\((\S+)\))\.\*", status)
        assert said and title.startswith(f"# {number}. "), path
        assert said[1] is None or said[2] == DECISIONS[int(said[1]) - 1].name
        today = "holds" if said[1] is None else f"superseded by {said[1]}"
        lines.append(f"| {number} | [{title.partition('. ')[2]}]({path.name}) | {today} |")
    assert re.findall(r"^\| \d.*$", text_of("docs/decisions/index.md"), re.MULTILINE) == lines


def test_the_picture_of_the_packages_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """``make bench-packages-picture`` draws it."""
    pytest.importorskip("grimp", reason="import-linter is not installed")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from packages_picture import picture

    assert picture() == text_of("docs/images/packages.svg")


def test_a_request_walks_as_the_architecture_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the table are first entered in its order, and all files that are named exist."""
    for name in re.findall(r"`([\w/]+\.py)`", ARCHITECTURE):
        assert (ROOT / name).exists() or (ROOT / "src/evenhand" / name).exists(), name
    said = re.findall(r"^\| `([\w/]+\.py)` \|", ARCHITECTURE.partition("## One request")[2], re.MULTILINE)
    said = said[: said.index("reports/text.py") + 1]
    groups = {"a": eh.ConfusionMatrix(tp=0, fn=2, fp=8, tn=30), "b": eh.ConfusionMatrix(tp=30, fn=10, fp=12, tn=48)}
    rows = zip(*(column.tolist() for column in eh.examples.rows(groups).values()), strict=True)
    (tmp_path / "decisions.csv").write_text("race,y,yhat\n" + "".join(f"{g},{y},{p}\n" for g, y, p in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    words = re.search(r"`evenhand (audit decisions\.csv .*?)`", ARCHITECTURE)
    assert words is not None
    entered: dict[str, None] = {}
    source = f"{Path(eh.__file__).parent}/"

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(source):
            entered.setdefault(frame.f_code.co_filename.removeprefix(source))

    before = sys.getprofile()
    for profile in (before, note):  # modules are imported at first, which enters them, too
        sys.setprofile(profile)
        try:
            main_command(words[1].split(), "evenhand", standalone_mode=False)
        finally:
            sys.setprofile(before)
    assert [name for name in entered if name in said] == said


# Times that are kept


def test_times_are_kept_and_a_change_is_what_quartiles_tell_apart() -> None:
    kept = json.loads(text_of(f"benchmarks/history/{eh.__version__}.json"))
    assert kept["versions"]["evenhand"] == eh.__version__
    assert all(0 < low <= median <= high for low, median, high in kept["quartiles"].values())
    old = {"same": [9, 10, 12], "slower": [9, 10, 11], "faster": [9, 10, 11], "little": [1, 1, 1]}
    new = {"same": [11, 14, 20], "slower": [18, 20, 21], "faster": [4, 5, 6], "little": [1.05] * 3}
    code = (
        f"import json, compare\nold, new = ({{'quartiles': q}} for q in ({old}, {new}))\n"
        "print(json.dumps([compare.changes(old, new), compare.changes(old, {'quartiles': {}})[0]]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        ["slower: 2.00 times as long (10 to 20 loops)", "faster: 2.00 times as fast (10 to 5 loops)"],
        "same: only in the old one",
    ]
