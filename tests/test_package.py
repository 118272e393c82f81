"""The package as a whole: what importing it costs, what it exports, and one version."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.errors import printable

# What the stub does not list, a type checker does not know.
PACKAGE: Any = evenhand
ROOT = Path(__file__).parent.parent


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    counts = "{'A': (9, 6, 4, 21), 'B': (30, 10, 12, 48)}"
    heavy = {"pandas", "matplotlib", "duckdb", "narwhals", "click", "polars", "pyarrow", "scipy", "numpy"}
    for code, loads in (
        ("import evenhand", set()),
        ("import evenhand.data", {"numpy"}),
        ("import evenhand as eh; eh.metric('mcc')((1, 2, 3, 4))", {"numpy"}),
        (f"import evenhand as eh; eh.audit_counts({counts})", {"numpy", "scipy", "scipy.special"}),
    ):
        words = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
        loaded = set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
        unused = heavy | {"scipy.stats", "scipy.interpolate", "scipy.special"}
        assert unused & loaded == loads, code


def test_every_public_name_is_there_documented_and_known_to_type_checkers() -> None:
    assert [name for name in PACKAGE.__all__ if not getattr(evenhand, name).__doc__] == []
    tree = ast.parse(Path(evenhand.__file__).with_suffix(".pyi").read_text("utf-8"))
    names = [a for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names]
    # A stub exports what it imports under the same name.
    assert all(a.asname == a.name for a in names)
    assert sorted(a.name for a in names) == sorted(PACKAGE.__all__) == dir(evenhand)
    packages = {PACKAGE._MODULE_OF[name].lstrip(".").partition(".")[0] for name in PACKAGE.__all__}
    assert packages == {"", "auditing", "confusion", "distributions", "errors", "inference", "metrics", "planning"}
    with pytest.raises(AttributeError, match=r"^module 'evenhand' has no attribute 'fairness'$"):
        _ = PACKAGE.fairness


def test_one_version() -> None:
    """It is written in ``__init__.py``; a citation and a list of changes must repeat it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"] == {"path": "src/evenhand/__init__.py"}
    assert version("evenhand") == evenhand.__version__
    assert f"version: {evenhand.__version__}" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"## {evenhand.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


COPIED = """
import importlib.metadata as metadata

find = metadata.Distribution.from_name

def without_ours(name):
    if name == "evenhand":
        raise metadata.PackageNotFoundError(name)
    return find(name)

metadata.Distribution.from_name = without_ours
import evenhand as eh

audit = eh.audit({"y": [1, 0] * 9, "p": [1, 1, 0] * 6, "g": ["A", "B"] * 9}, y_true="y", y_pred="p", groups="g")
page = eh.Audit.from_json(audit.to_json()).to_html()
from evenhand.cli import evenhand
evenhand(["--version"], "evenhand", standalone_mode=False)
print(eh.__file__, *audit.versions)
"""


@pytest.mark.slow
@pytest.mark.parametrize("zipped", [False, True])
def test_a_copy_needs_no_metadata_of_an_installed_package(zipped: bool, tmp_path: Path) -> None:
    """A folder or a zip file on PYTHONPATH, as ``spark-submit --py-files`` has it."""
    source, copy = Path(evenhand.__file__).parent, tmp_path / "copy"
    shutil.copytree(source, copy / "evenhand", ignore=shutil.ignore_patterns("__pycache__"))
    where = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", copy)) if zipped else copy
    environment = {**os.environ, "PYTHONPATH": str(where)}
    words = [sys.executable, "-c", COPIED]
    found = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    expected = f"{where / 'evenhand' / '__init__.py'} evenhand numpy scipy python"
    assert found.splitlines() == [f"evenhand, version {evenhand.__version__}", expected]


def test_an_unknown_name_gets_suggestions_or_a_list_and_text_from_data_is_printable() -> None:
    among = evenhand.errors.UnknownName.among
    for name, known, told in (
        ("binom", ["binomial", "uniform"], "; did you mean 'binomial'?"),
        ("xyz", ["binomial", "uniform"], "; known: binomial, uniform"),
        ("BINOMAL", ["binomial"], "; did you mean 'binomial'?"),
    ):
        assert str(among("law", name, known)) == f"no law is called '{name}'{told}"
    assert str(among("law", "xyz", ["binomial"], "see the docs")) == "no law is called 'xyz'; see the docs"
    assert str(among("law", "x" * 61, ["binomial"])) == f"no law is called '{'x' * 60}…'; known: binomial"
    assert printable("größe 名\x1b[2J\u202e\n") == "größe 名\\x1b[2J\\u202e\\n"
