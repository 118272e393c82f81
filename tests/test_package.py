"""The package as a whole: what importing it costs, what it exports, and what the README promises."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.errors import printable

# What the stub does not list, a type checker does not know.
PACKAGE: Any = evenhand

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_pulls_in_nothing_heavy() -> None:
    loaded = run("import evenhand, sys; print(*sys.modules)").split()
    assert not {"numpy", "scipy", "pandas", "matplotlib", "duckdb", "narwhals", "click"} & set(loaded)


def test_the_room_that_reads_tables_loads_engines_only_when_they_are_used() -> None:
    loaded = run("import evenhand.data, sys; print(*sys.modules)").split()
    assert not {"duckdb", "narwhals", "pandas", "polars", "pyarrow", "scipy"} & set(loaded)


def test_scoring_needs_numpy_only() -> None:
    code = "import evenhand as eh, sys; eh.metric('mcc')((1, 2, 3, 4)); print(*sys.modules)"
    loaded = set(run(code).split())
    assert "numpy" in loaded
    assert not {"scipy", "pandas", "matplotlib", "duckdb"} & loaded


@pytest.mark.many(1)
@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_an_audit_loads_only_special_functions_and_roots_of_scipy(adjust: str) -> None:
    audit = f"eh.audit_counts({{'A': (9, 6, 4, 21), 'B': (30, 10, 12, 48)}}, adjust={adjust!r})"
    loaded = set(run(f"import evenhand as eh, sys; {audit}; print(*sys.modules)").split())
    assert "scipy.special" in loaded
    assert not {"scipy.stats", "scipy.interpolate", "pandas", "duckdb", "click"} & loaded


def test_every_public_name_is_there_and_known_to_type_checkers() -> None:
    for name in PACKAGE.__all__:
        assert getattr(evenhand, name) is not None
    tree = ast.parse(Path(evenhand.__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    # A stub exports what it imports under the same name.
    assert all(a.asname == a.name for node in imports for a in node.names)
    assert sorted(a.name for node in imports for a in node.names) == sorted(PACKAGE.__all__)
    assert dir(evenhand) == sorted(PACKAGE.__all__)


def test_every_public_name_comes_from_the_door_of_its_room() -> None:
    rooms = {PACKAGE._MODULE_OF[name].lstrip(".").partition(".")[0] for name in PACKAGE.__all__}
    assert rooms == {"", "auditing", "confusion", "distributions", "errors", "inference", "metrics", "planning"}


def test_every_public_name_is_documented() -> None:
    assert [name for name in PACKAGE.__all__ if not getattr(evenhand, name).__doc__] == []


_GROUP, _REFERENCE = (3, 1, 0, 6), (116, 177, 554, 2429)


def _audit() -> Any:
    return evenhand.audit_counts({"<b>A</b>": _GROUP, "B": _REFERENCE}, metrics=["tpr", "mcc"])


RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "disparity": lambda g, r: evenhand.disparity(g, r, "tpr", "ratio"),
    "undefined disparity": lambda g, r: evenhand.disparity(g, r, "fnr", "ratio"),
    "interval": lambda g, r: evenhand.interval(g, "lr_plus"),
    "match": lambda g, r: evenhand.match_test(g, r, "mcc"),
    "prior": lambda g, r: evenhand.check_prior(g, r, {"prev": 3, "tpr": 4, "fpr": 5}),
    "risk": lambda g, r: evenhand.risk("tpr", r, 5, evenhand.CrossPrior(r, 3)),
    "bias": lambda g, r: evenhand.bias_variance("acc", g, r, 5, 3),
    "stress": lambda g, r: evenhand.stress_test({"a": g, "b": r}, ["tpr"], n=[4], strengths=[5]),
    "undefined": lambda g, r: evenhand.undefined_table(5)[0],
    "power": lambda g, r: evenhand.power("tpr", 40, r, difference=0.2),
    "power of nothing": lambda g, r: evenhand.power("tpr", 4, r, difference=0, test="match", null="known"),
    "sample size": lambda g, r: evenhand.sample_size("tpr", r, 0.2),
    "cases for an interval": lambda g, r: evenhand.sample_size("tpr", r, half_width=0.1),
    "cases for a score": lambda g, r: evenhand.sample_size("mcc", r, undefined_below=0.1),
    "detectable difference": lambda g, r: evenhand.detectable_difference("tpr", 20, r),
    "jaggedness": lambda g, r: evenhand.jaggedness("ppr", r, range(3, 9)),
    "exploitable sizes": lambda g, r: evenhand.exploitable_sizes("ppr", r, 0.2, range(3, 9)),
    "row": lambda g, r: _audit().rows[0],
    "finding": lambda g, r: _audit().findings[0],
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_every_result_prints_shows_itself_and_has_a_way_out(result: Callable[[Any, Any], Any]) -> None:
    """str for people, a repr of one short line, escaped HTML for notebooks, and to_dict for JSON without nan."""
    found = result(evenhand.ConfusionMatrix.from_array(_GROUP), evenhand.ConfusionMatrix.from_array(_REFERENCE))
    assert str(found)
    assert len(repr(found)) <= 140
    assert "\n" not in repr(found)
    assert repr(found).startswith(f"<{type(found).__name__}: ")
    assert found._repr_html_().startswith(("<pre", "<div"))
    assert "<b>" not in found._repr_html_()
    written = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(written) == found.to_dict()


def test_an_unknown_name_is_an_attribute_error() -> None:
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
    found = subprocess.run(
        [sys.executable, "-c", COPIED], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    ).stdout
    expected = f"{where / 'evenhand' / '__init__.py'} evenhand numpy scipy python"
    assert found.splitlines() == [f"evenhand, version {evenhand.__version__}", expected]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    commands = [block.split("```")[0].strip() for block in README.split("```sh\n")[1:]]
    assert len(commands) == 2, "the README gives exactly two commands"
    assert commands[1] in (ROOT / ".ci/run").read_text("utf-8").splitlines()


def test_an_unknown_name_gets_suggestions_or_a_list() -> None:
    among = evenhand.errors.UnknownName.among
    assert str(among("law", "binom", ["binomial", "uniform"])) == "no law is called 'binom'; did you mean 'binomial'?"
    assert str(among("law", "xyz", ["binomial", "uniform"])) == "no law is called 'xyz'; known: binomial, uniform"
    assert str(among("law", "xyz", ["binomial"], "see the docs")) == "no law is called 'xyz'; see the docs"
    assert str(among("law", "BINOMAL", ["binomial"])) == "no law is called 'BINOMAL'; did you mean 'binomial'?"
    assert str(among("law", "x" * 61, ["binomial"])) == f"no law is called '{'x' * 60}…'; known: binomial"


def test_text_from_data_is_printable() -> None:
    assert printable("größe 名\x1b[2J\u202e\n") == "größe 名\\x1b[2J\\u202e\\n"
