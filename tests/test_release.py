"""What is released: a wheel and an archive of sources that are whole, and that type checkers understand.

``.ci/outside`` runs all tests against the wheel in a fresh environment, from the unpacked archive, with any Python.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from email.parser import Parser
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import pytest
from engines import needs
from packaging.requirements import Requirement
from packaging.version import Version

import evenhand as eh

ROOT = Path(__file__).parent.parent
ABOUT = f"evenhand-{eh.__version__}.dist-info"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
NOT_SHIPPED = {"__pycache__", "_build", ".ipynb_checkpoints", ".ruff_cache"}


def run(*command: object, cwd: Path = ROOT, code: int = 0) -> str:
    found = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    assert found.returncode == code, found.stdout + found.stderr
    return found.stdout


class Release(NamedTuple):
    """What was built, and an environment that has the wheel and nothing else."""

    wheel: Path
    sdist: Path
    python: Path
    installed: Path


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    needs("build", "hatchling", "twine")
    folder = tmp_path_factory.mktemp("release")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "fresh")
    scheme = {"base": str(folder / "fresh"), "platbase": str(folder / "fresh")}
    installed = Path(sysconfig.get_path("purelib", "venv", scheme))
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", installed, wheel)
    return Release(wheel, sdist, folder / "fresh/bin/python", installed)


def shipped(*folders: str) -> set[str]:
    """The files of the repository below some folders that are to be in the archive."""
    found = (path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not NOT_SHIPPED & set(path.parts) and path.suffix != ".pyc"}


def test_the_archive_and_the_wheel_have_what_they_should_and_nothing_else(release: Release) -> None:
    with tarfile.open(release.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top = {"pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "CITATION.cff",
           "CODE_OF_CONDUCT.md", "Makefile", ".pre-commit-config.yaml"}  # fmt: skip
    wanted = top | shipped("src", "tests", "benchmarks", "docs", "reproduction", ".ci", ".github")
    assert wanted <= names and names - wanted == {"PKG-INFO", ".gitignore"}
    package = {name.removeprefix("src/") for name in shipped("src/evenhand")}
    assert {"evenhand/py.typed", "evenhand/__init__.pyi", "evenhand/web/templates/page.html"} <= package
    with ZipFile(release.wheel) as wheel:
        ours = {f"{ABOUT}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
        assert set(wheel.namelist()) == package | ours
        entries = wheel.read(f"{ABOUT}/entry_points.txt").decode().split()
    assert entries == ["[console_scripts]", "evenhand", "=", "evenhand.__main__:main"]


def test_the_descriptions_are_valid(release: Release) -> None:
    said = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", release.wheel, release.sdist)
    assert len(re.findall("PASSED", said)) == 2
    with ZipFile(release.wheel) as wheel:
        about = Parser().parsestr(wheel.read(f"{ABOUT}/METADATA").decode())
    assert [about[key] for key in ("Name", "Version", "License-Expression")] == ["evenhand", eh.__version__, "MIT"]
    oldest = about["Requires-Python"].removeprefix(">=3.")
    minors = [c.rpartition(".")[2] for c in about.get_all("Classifier", []) if "Python :: 3." in c]
    assert minors[0] == oldest, "what is promised begins with the oldest Python that is allowed"


def test_the_wheel_works_where_it_is_installed(release: Release) -> None:
    """Version, command, report and page are found in the wheel; dependencies come from this environment."""
    others = [path for path in sys.path if path.endswith("site-packages")]
    code = f"""
import sys
sys.path += {others!r}
from importlib.metadata import version
from importlib.resources import files
import evenhand as eh
cm = eh.ConfusionMatrix(tp=9, fn=6, fp=4, tn=21)
page = eh.audit_counts({{"A": cm, "B": cm}}, metrics=["tpr"]).to_html()
print(eh.__file__)
print(version("evenhand"), eh.__version__)
print(page.count("</html>"), (files("evenhand.web") / "templates" / "page.html").is_file())
"""
    file, versions, found = run(release.python, "-I", "-c", code, cwd=release.installed).splitlines()
    assert Path(file).is_relative_to(release.installed)
    assert (versions, found) == (f"{eh.__version__} {eh.__version__}", "1 True")


USER = '''"""What somebody who has installed evenhand writes."""

import evenhand as eh

cm: eh.ConfusionMatrix = eh.ConfusionMatrix(tp=9, fn=6, fp=4, tn=21)
ref = eh.ConfusionMatrix.from_array([[30, 10], [12, 48]])
p: float = eh.match_test(cm, ref, metric="tpr").pvalue
gap: eh.results.Disparity = eh.disparity(cm, ref, "tpr", kind="ratio")
smoothed: eh.ConfusionMatrix = eh.cross_prior_smooth(cm, ref, strength=10)
audited: eh.Audit = eh.audit_counts({"A": cm, "B": ref})
page: str = audited.to_html()
worst: str = audited.findings[0].sentence
first: eh.results.Verdict = audited.rows[0].verdict
needed = eh.sample_size("tpr", ref, 0.2).n
made: int = eh.count_matrices(10)
'''
WRONG = """eh.nothing
cm.tpr_
n: int = audited.to_html()
eh.match_test(cm, ref, metric=1)
eh.disparity(cm, ref, 'tpr', kind='quotient')
"""


def test_type_checkers_know_the_public_interface(release: Release) -> None:
    """mypy, and pyright with the types of NumPy and SciPy, find every mistake and nothing else."""
    folder = release.wheel.parent / "user"
    folder.mkdir()
    names = ",\n".join(f"eh.{name}" for name in dir(eh))
    (folder / "right.py").write_text(f"{USER}everything = [\n{names},\n]\n", "utf-8")
    (folder / "wrong.py").write_text(USER + WRONG, "utf-8")
    mistakes = [USER.count("\n") + 1 + i for i in range(WRONG.count("\n"))]
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", "--cache-dir", "cache",
            "--python-executable", release.python]  # fmt: skip
    assert run(*mypy, "right.py", cwd=folder) == ""
    said = run(*mypy, "wrong.py", cwd=folder, code=1).splitlines()
    assert [int(line.split(":")[1]) for line in said if ": error: " in line] == mistakes
    settings: dict[str, Any] = {"typeCheckingMode": "standard", "extraPaths": [sysconfig.get_path("purelib")]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    pyright = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", release.python]
    found = json.loads(run(*pyright, cwd=folder, code=1))["generalDiagnostics"]
    errors = [(Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in found if d["severity"] == "error"]
    assert errors == [("wrong.py", line) for line in mistakes]


def test_the_lowest_versions_are_those_that_the_requirements_allow() -> None:
    """What ``.ci/constraints`` prints, which ``.ci/floors`` installs, is the highest floor of every requirement."""
    wanted: dict[str, Version] = {}
    for requirement in map(
        Requirement, [*PROJECT["dependencies"], *(one for several in EXTRAS.values() for one in several)]
    ):
        if requirement.name == PROJECT["name"]:
            assert requirement.extras <= set(EXTRAS)
            continue
        floor = max(Version(one.version) for one in requirement.specifier if one.operator == ">=")
        wanted[requirement.name] = max(floor, wanted.get(requirement.name, floor))
    printed = run(sys.executable, ".ci/constraints").split()
    assert {name: Version(version) for name, _, version in (line.partition("==") for line in printed)} == wanted
    some = {line.partition("==")[0] for line in run(sys.executable, ".ci/constraints", "app").split()}
    assert some == {"click", "duckdb", "jinja2", "narwhals", "numpy", "scipy", "starlette", "uvicorn"}


def test_every_promised_python_and_the_lowest_versions_are_tested() -> None:
    promised = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
    assert f"PYTHONS=({' '.join(promised)})" in (ROOT / ".ci/outside").read_text("utf-8")
    chosen = re.search(r"^extras=\$\{EXTRAS:-(.*)\}$", (ROOT / ".ci/floors").read_text("utf-8"), re.MULTILINE)
    assert chosen is not None
    installed: set[str] = set()
    asked = chosen[1].split(",")
    while asked:
        installed.add(extra := asked.pop())
        asked += [name for one in map(Requirement, EXTRAS[extra]) if one.name == PROJECT["name"] for name in one.extras]
    assert set(EXTRAS) - installed == {"app", "check", "dev", "peers"}
