"""Do the tests notice small mistakes? One change at a time is made to a copy of the source, and its tests are run.

Run it with ``.venv/bin/python benchmarks/mutations.py [--each 12] [--seed 0] [NAME ...]``, for packages such as
``inference`` or modules such as ``inference/fisher``; without any, for all above ``distributions``. First all tests but
the slow ones run once, and each line is noted with the tests that run it, which takes twice as long as the tests;
``--measured FOLDER`` keeps that for another time. Then ``--each`` changes of every package are tried, at random places,
each with the tests that run the changed line, the fastest first, up to a minute of them. If these notice nothing, all
tests of the package are run, slow ones, too.

A change swaps a comparison, a sign, ``and`` with ``or``, ``min`` with ``max``, ``True`` with ``False``, removes a
``not``, or adds 1 to a number or doubles it. Docstrings, f-strings, ``__all__``, annotations, decorators and the
``strict`` of ``zip`` are left alone. A change is killed if a test fails or takes too long; one that survives is
equivalent to the original, or lacks a test. The table goes to stdout, progress to stderr. Expect ten seconds a change,
and minutes for one that survives.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src", "evenhand")
PACKAGES = ("inference", "planning", "data", "auditing", "reports", "cli", "web")
# Tests of a line that take longer than this in all are not all run first.
MOST = 60.0
# A change that makes the tests of a line, or those of its package, take longer than this is killed.
SECONDS, SECONDS_OF_ROOM = 240, 1200
# Hypothesis stops at the first example that fails, instead of looking for a simpler one; and no process finds what was
# compiled from a source of the same size and second.
FIRST_FAILURE = """
from hypothesis import Phase

os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

settings.register_profile("first", parent=settings.get_profile("evenhand"), phases=tuple(Phase)[:3])
settings.load_profile("first")
"""

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
}
SIGNS: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutation:
    """Replace ``source[start:end]``, in bytes of the file, by ``new``."""

    start: int
    end: int
    new: str

    def applied(self, source: bytes) -> bytes:
        """The source with the change made."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def line(self, source: bytes) -> int:
        """The line of the change, from 1."""
        return source.count(b"\n", 0, self.start) + 1

    def described(self, source: bytes) -> str:
        """The whole line before and after the change."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        before = source[first:last].decode().strip()
        after = (source[first : self.start] + self.new.encode() + source[self.end : last]).decode().strip()
        return f"`{before}` → `{after}`".replace("|", "\\|").replace("\n", " ")


class _Collector(ast.NodeVisitor):
    """All mutations of one module."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[Mutation] = []
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Where the node begins and ends, in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.lines[node.lineno - 1] + node.col_offset, self.lines[node.end_lineno - 1] + node.end_col_offset

    def between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Replace the operator ``old`` that stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        at = self.source.find(old.encode(), start, end)
        if at >= 0:
            self.found.append(Mutation(at, at + len(old), new))

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """An argument holds nothing but its annotation."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words are left alone."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_Compare(self, node: ast.Compare) -> None:
        spelled = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            if type(operator) in COMPARISONS:
                self.between(left, right, spelled[type(operator)], COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        spelled = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
        if type(node.op) in SIGNS and not _is_text(node):
            self.between(node.left, node.right, spelled[type(node.op)], SIGNS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.found.append(Mutation(self.span(node)[0], self.span(node.operand)[0], ""))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self.span(node)
        if isinstance(node.value, bool):
            self.found.append(Mutation(start, end, str(not node.value)))
        elif isinstance(node.value, int | float):
            self.found.append(Mutation(start, end, repr(node.value + 1)))
            if node.value not in (0, 1):
                self.found.append(Mutation(start, end, repr(2 * node.value)))

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in NAMES:
            start, end = self.span(node)
            self.found.append(Mutation(start, end, NAMES[node.id]))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in NAMES:
            end = self.span(node)[1]
            self.found.append(Mutation(end - len(node.attr), end, NAMES[node.attr]))
        self.generic_visit(node)


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and isinstance(child.value, str))
        for child in ast.walk(node)
    )


def mutations(source: bytes) -> list[Mutation]:
    """All mutations of a module that still compile, in the order of the source."""

    def compiles(mutation: Mutation) -> bool:
        try:
            ast.parse(mutation.applied(source))
        except SyntaxError:
            return False
        return True

    collector = _Collector(source)
    collector.visit(ast.parse(source))
    return sorted(filter(compiles, set(collector.found)), key=lambda mutation: (mutation.start, mutation.new))


class Tests(NamedTuple):
    """Which tests run a line of a module, and how long each takes."""

    lines: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path) -> Tests:
        """From what `measure` has left."""
        from coverage import CoverageData

        seconds: dict[str, float] = defaultdict(float)
        for case in ElementTree.parse(folder / "tests.xml").iter("testcase"):
            seconds[f"{case.get('classname')}.{str(case.get('name')).partition('[')[0]}"] += float(case.get("time", 0))
        data = CoverageData(str(folder / "coverage"))
        data.read()
        lines = {
            str(Path(file).with_suffix("")).partition(f"{PACKAGE.name}{os.sep}")[2]: {
                line: {name for name in names if name in seconds}
                for line, names in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        return cls(lines, seconds)

    def of(self, module: str, line: int) -> list[str]:
        """The tests of a line, the fastest first; of a line that runs when it is imported, those of its module."""
        lines = self.lines.get(module, {})
        names = lines.get(line) or set().union(*lines.values())
        some: list[str] = []
        taken = 0.0
        for name in sorted(names, key=lambda name: (self.seconds[name], name)):
            taken += self.seconds[name]
            if some and taken > MOST:
                break
            path, _, function = name.rpartition(".")
            some.append(f"{path.replace('.', '/')}.py::{function}")
        return some


def measure(folder: Path) -> None:
    """Run the tests once, and note which of them run which line."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["coverage"]["run"]
    written = [f"{key} = {', '.join(value) if isinstance(value, list) else value}" for key, value in settings.items()]
    written += ["dynamic_context = test_function", f"data_file = {folder / 'coverage'}"]
    (folder / "settings.ini").write_text("[run]\n" + "\n".join(written) + "\n", "utf-8")
    coverage = [sys.executable, "-m", "coverage"]
    rules = f"--rcfile={folder / 'settings.ini'}"
    tests = ["-m", "pytest", "tests", f"--junitxml={folder / 'tests.xml'}"]
    subprocess.run([*coverage, "run", rules, *tests], cwd=ROOT, check=False, stdout=sys.stderr)
    subprocess.run([*coverage, "combine", "-q", rules], cwd=ROOT, check=True)


def failing(copy: Path, tests: list[str], seconds: float = SECONDS, slow: bool = False) -> str | None:
    """The first of some tests that fails on the copy; all of them if they take too long, and None if they pass."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    command += ["-m", ""] if slow else []
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "they take too long"
    if done.returncode == 0:
        return None
    named = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:\[|$| )", done.stdout, re.MULTILINE)
    return named[1] if named else tests[0]


def chosen(where: str, each: int, seed: int) -> list[tuple[str, bytes, Mutation]]:
    """Changes of a package, or of a module: module, its source, and the change."""
    files = sorted((ROOT / PACKAGE / where).rglob("*.py")) or [(ROOT / PACKAGE / where).with_suffix(".py")]
    found = []
    for file in files:
        source, module = file.read_bytes(), str(file.relative_to(ROOT / PACKAGE).with_suffix(""))
        found += [(module, source, mutation) for mutation in {m.start: m for m in mutations(source)}.values()]
    return random.Random(f"{seed} {where}").sample(found, min(each, len(found)))


def outcomes(copy: Path, changes: list[tuple[str, bytes, Mutation]], tests: Tests) -> Iterator[str]:
    """What became of each change: killed, killed by a slow test or by one that was not seen to run it, or survived."""
    for module, source, mutation in changes:
        path, start = copy / PACKAGE / f"{module}.py", time.perf_counter()
        names = tests.of(module, mutation.line(source))
        path.write_bytes(mutation.applied(source))
        killer, outcome = failing(copy, names) if names else None, "killed"
        if not killer:
            killer = failing(copy, [f"tests/{module.partition('/')[0]}"], SECONDS_OF_ROOM, slow=True)
            outcome = "killed later" if killer else "survived"
        path.write_bytes(source)
        if killer and killer.startswith("tests") and failing(copy, [killer], slow=True):
            outcome = f"{killer} fails anyway"
        print(f"{module}:{mutation.line(source)} {outcome} {time.perf_counter() - start:.0f} s", file=sys.stderr)
        yield outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("where", nargs="*", default=list(PACKAGES), help="packages or modules")
    parser.add_argument("--each", type=int, default=12, help="how many changes of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measured", type=Path, help="a folder that keeps which tests run which line")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = asked.measured or Path(folder) / "measured"
        kept.mkdir(exist_ok=True, parents=True)
        if not (kept / "coverage").exists():
            measure(kept.resolve())
        tests, copy = Tests.read(kept), Path(folder) / "copy"
        for part in ("src", "tests", "docs", "benchmarks"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"):
            shutil.copy(ROOT / name, copy)
        with (copy / "tests" / "conftest.py").open("a") as conftest:
            conftest.write(FIRST_FAILURE)
        scores = []
        print("| module | line | change |\n|---|---|---|")
        for where in asked.where:
            changes = chosen(where, asked.each, asked.seed)
            found = list(outcomes(copy, changes, tests))
            for (module, source, mutation), outcome in zip(changes, found, strict=True):
                if not outcome.startswith("killed"):
                    print(
                        f"| {module} | {mutation.line(source)} | {mutation.described(source)}: {outcome} |", flush=True
                    )
            sums = (len(found), *(found.count(outcome) for outcome in ("killed", "killed later", "survived")))
            scores.append(f"| {where} | {' | '.join(map(str, sums))} |")
    print("\n| package | changes | killed | killed later | survived |\n|---|---|---|---|---|", *scores, sep="\n")


if __name__ == "__main__":
    main()
