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
VERSION = eh.__version__
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NOT_SHIPPED = {"__pycache__", "_build", ".ipynb_checkpoints"}


def run(*command: object, cwd: Path, code: int = 0) -> str:
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
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "fresh", cwd=folder)
    scheme = {"base": str(folder / "fresh"), "platbase": str(folder / "fresh")}
    installed = Path(sysconfig.get_path("purelib", "venv", scheme))
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", installed, wheel]
    run(*pip, cwd=folder)
    return Release(wheel, sdist, folder / "fresh/bin/python", installed)


def shipped(*folders: str) -> set[str]:
    """The files of the repository below some folders that are to be in the archive."""
    found = (path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not NOT_SHIPPED & set(path.parts) and path.suffix != ".pyc"}


@pytest.mark.slow
def test_the_archive_has_everything_that_the_tests_need(release: Release) -> None:
    with tarfile.open(release.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    top = {"pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "CITATION.cff",
           "CODE_OF_CONDUCT.md", "Makefile", ".pre-commit-config.yaml"}  # fmt: skip
    wanted = top | shipped("src", "tests", "benchmarks", "docs", ".ci", ".github")
    assert wanted <= names
    assert names - wanted == {"PKG-INFO", ".gitignore"}


def test_the_wheel_has_the_package_and_nothing_else(release: Release) -> None:
    about = f"evenhand-{VERSION}.dist-info"
    with ZipFile(release.wheel) as wheel:
        names = set(wheel.namelist())
        assert wheel.read(f"{about}/entry_points.txt").decode().split() == [
            *("[console_scripts]", "evenhand", "=", "evenhand.__main__:main"),
        ]
    package = {name.removeprefix("src/") for name in shipped("src")}
    assert {"evenhand/py.typed", "evenhand/__init__.pyi", "evenhand/web/templates/page.html"} <= package
    ours = {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert names == package | ours


def test_the_descriptions_are_valid(release: Release) -> None:
    said = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", release.wheel, release.sdist,
               cwd=release.wheel.parent)  # fmt: skip
    assert len(re.findall("PASSED", said)) == 2
    with ZipFile(release.wheel) as wheel:
        about = Parser().parsestr(wheel.read(f"evenhand-{VERSION}.dist-info/METADATA").decode())
    assert (about["Name"], about["Version"], about["License-Expression"]) == ("evenhand", VERSION, "MIT")
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
    assert versions == f"{VERSION} {VERSION}"
    assert found == "1 True"


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
WRONG = [
    ("eh.nothing", "nothing"),
    ("cm.tpr_", "tpr_"),
    ("n: int = audited.to_html()", "int"),
    ("eh.match_test(cm, ref, metric=1)", "metric"),
    ("eh.disparity(cm, ref, 'tpr', kind='quotient')", "kind"),
]


@pytest.fixture(scope="module")
def user(release: Release) -> Path:
    """A folder with a file that uses every public name as it should be used, and one with mistakes."""
    folder = release.wheel.parent / "user"
    folder.mkdir()
    names = "\n".join(f"eh.{name}" for name in dir(eh))
    (folder / "right.py").write_text(f"{USER}everything = [\n" + names.replace("\n", ",\n") + ",\n]\n", "utf-8")
    (folder / "wrong.py").write_text(USER + "\n".join(line for line, _ in WRONG) + "\n", "utf-8")
    return folder


def lines_of_mistakes() -> list[int]:
    return [USER.count("\n") + 1 + i for i in range(len(WRONG))]


@pytest.mark.slow
def test_mypy_knows_the_public_interface(release: Release, user: Path) -> None:
    mypy = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--config-file=",
        "--cache-dir",
        user / "cache",
    ]
    mypy += ["--python-executable", release.python]
    assert run(*mypy, "right.py", cwd=user) == ""
    said = run(*mypy, "wrong.py", cwd=user, code=1).splitlines()
    assert [int(line.split(":")[1]) for line in said if ": error: " in line] == lines_of_mistakes()


@pytest.mark.slow
def test_pyright_knows_the_public_interface(release: Release, user: Path) -> None:
    """Here with the types of NumPy and SciPy."""
    settings: dict[str, Any] = {"typeCheckingMode": "standard", "extraPaths": [sysconfig.get_path("purelib")]}
    (user / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    pyright = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", release.python]
    said = json.loads(run(*pyright, cwd=user, code=1))["generalDiagnostics"]
    errors = [(Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in said if d["severity"] == "error"]
    assert errors == [("wrong.py", line) for line in lines_of_mistakes()]


def test_the_newest_python_that_is_promised_is_named_once() -> None:
    """What the classifiers promise is what ``.ci/outside`` is run with."""
    promised = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
    assert f"PYTHONS=({' '.join(promised)})" in (ROOT / ".ci/outside").read_text("utf-8")


def test_the_lowest_versions_are_those_that_the_requirements_allow() -> None:
    """What ``.ci/constraints`` prints, which ``.ci/floors`` installs, is the highest floor of every requirement."""
    extras = PROJECT["optional-dependencies"]
    wanted: dict[str, Version] = {}
    for text in [*PROJECT["dependencies"], *(one for requirements in extras.values() for one in requirements)]:
        requirement = Requirement(text)
        if requirement.name == PROJECT["name"]:
            assert requirement.extras <= set(extras)
            continue
        floor = max(Version(one.version) for one in requirement.specifier if one.operator == ">=")
        wanted[requirement.name] = max(floor, wanted.get(requirement.name, floor))
    printed = run(sys.executable, ROOT / ".ci/constraints", cwd=ROOT).split()
    assert {name: Version(version) for name, _, version in (line.partition("==") for line in printed)} == wanted
    some = run(sys.executable, ROOT / ".ci/constraints", "app", cwd=ROOT)
    assert {line.partition("==")[0] for line in some.split()} == {
        *("click", "duckdb", "jinja2", "narwhals", "numpy", "scipy", "starlette", "uvicorn")
    }


def test_the_lowest_versions_are_tested_with_the_oldest_python() -> None:
    floors = (ROOT / ".ci/floors").read_text("utf-8")
    chosen = re.search(r"^extras=\$\{EXTRAS:-(.*)\}$", floors, re.MULTILINE)
    assert chosen is not None
    extras = PROJECT["optional-dependencies"]
    installed: set[str] = set()
    asked = chosen[1].split(",")
    while asked:
        installed.add(extra := asked.pop())
        asked += [name for one in map(Requirement, extras[extra]) if one.name == PROJECT["name"] for name in one.extras]
    assert set(extras) - installed == {"app", "check", "dev", "peers"}
