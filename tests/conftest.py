"""Shared by all tests: repeatable Hypothesis runs, oracles of 60 digits, and the global random state left alone."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from engines import EXTRAS, has, lacking, missing
from hypothesis import settings

import evenhand

settings.register_profile("evenhand", deadline=None, derandomize=True, database=None)
settings.load_profile("evenhand")

mpmath.mp.dps = 60

# Fixtures that take long: Chromium, the built documentation and wheel, and what peers give.
SLOW = {"browser", "built", "generated", "release"}

# Collecting doctests replaces functions of a package by modules of the same name; what was looked up before stays.
for name in ("jaggedness", "exploitable_sizes"):
    getattr(evenhand, name)

# What a doctest imports.
LIBRARY = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)

# Two processes of pytest-xdist on two cores: threads of BLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Commands that tests start keep what they compile, which would take most of their time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


class Module(pytest.Module):
    """A file of tests, skipped if it imports a library that is not installed and that the extra test does not have."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except self.CollectError as error:
            name = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
            if name is None or name.partition(".")[0] not in EXTRAS:
                raise
            pytest.skip(missing(name), allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return Module.from_parent(parent, path=module_path)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Tests have no doctests; to look for them takes seconds."""
    return [found for found in (yield) if file_path.suffix != ".py" or isinstance(found, Module)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts a browser or builds much is slow; what needs a library that is not installed is skipped.

    Of a test marked ``many``, cases are slow but for a few in which every value of every parameter occurs; of one
    marked ``many(8)``, at most eight are not slow.
    """
    tests = defaultdict(list)
    most = {}
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            imported = {name for example in item.dtest.examples for name in LIBRARY.findall(example.source)}
            for name in sorted(imported & EXTRAS.keys()):
                if not has(name):
                    item.add_marker(pytest.mark.skip(reason=missing(name)))
        if isinstance(item, pytest.Function):
            if SLOW & set(item.fixturenames):
                item.add_marker("slow")
            for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
                if reason := lacking(value):
                    item.add_marker(pytest.mark.skip(reason=reason))
            if many := item.get_closest_marker("many"):
                name = item.nodeid.partition("[")[0]
                tests[name].append(item)
                most[name] = many.args[0] if many.args else None
    for name, cases in tests.items():
        seen: set[tuple[str, int]] = set()
        quick = 0
        for case in sorted(cases, key=lambda case: sha256(case.nodeid.encode()).digest()):
            # Values may be anything; those of one parameter are the same objects in all cases.
            values = {(parameter, id(value)) for parameter, value in case.callspec.params.items()}
            if values <= seen or quick == most[name]:
                case.add_marker("slow")
            else:
                quick += 1
            seen |= values


@pytest.fixture(autouse=True)
def _usual_surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Records carry the time; on GitHub the command prints annotations, too; the global random state is left alone."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    before = _global_random_state()
    yield
    assert before == _global_random_state(), "the code under test drew from numpy's global random state"


def _global_random_state() -> tuple[object, ...]:
    kind, key, *rest = np.random.get_state()  # noqa: NPY002
    return kind, np.asarray(key).tobytes(), *rest


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and keeps what was written to it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal of 80 columns, to be used with ``redirect_stderr``: pytest would undo a redirection made here."""
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium from the system's packages, driven by Playwright; where there is none, what needs it is skipped."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; CONTRIBUTING says how")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed; CONTRIBUTING says how to run this")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="session")
def violations() -> Any:
    """What axe finds wrong with a page, of what is serious or worse."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

    def serious(page: Any) -> list[tuple[str, str]]:
        found = axe.Axe().run(page).response["violations"]
        return [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in ("serious", "critical")]

    return serious
