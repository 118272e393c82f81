"""Do the tests notice small mistakes? One change at a time is made to a copy of the source, and its tests are run.

Run it with ``.venv/bin/python benchmarks/mutations.py [each] [seed] [module ...]``: it samples ``each`` changes (5 by
default) of every module in ``TESTS``, or of the modules named (``inference/null``). A change swaps a comparison, a
sign, ``and`` with ``or``, ``min`` with ``max``, ``True`` with ``False``, removes a ``not``, or adds 1 to a number or
doubles it. Docstrings, f-strings, ``__all__``, annotations, decorators and the ``strict`` of ``zip`` are left alone. A
change is killed if its tests fail or take too long; one that survives is equivalent to the original, or lacks a test.
The table goes to stdout, progress to stderr. Expect about half an hour.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src", "evenhand")
SECONDS = 120
# Hypothesis stops at the first example that fails, instead of looking for a simpler one.
FIRST_FAILURE = """
from hypothesis import Phase

settings.register_profile("first", parent=settings.get_profile("evenhand"), phases=tuple(Phase)[:3])
settings.load_profile("first")
"""

# Without the two slowest tests, which take a third of its time.
DISPARITY = ("tests/test_disparity.py", "-k", "not keep_their_level and not excludes_none")
MATCH, SMOOTHING = ("tests/test_match.py",), ("smoothing", "strengths", "risk", "prior", "stress")
AUDIT = ("tests/test_verdicts.py", "tests/test_audit.py")
TESTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("inference/rates", "inference/equality", "inference/gaps", "inference/disparities"), DISPARITY),
    **dict.fromkeys(("inference/match", "inference/match_result"), MATCH),
    "inference/null": (*MATCH, "tests/test_audit.py"),
    **{f"inference/{name}": (f"tests/inference/test_{name}.py",) for name in SMOOTHING},
    "inference/moments": ("tests/inference/test_risk.py",),
    "inference/intervals": ("tests/test_intervals.py",),
    "inference/undefined": ("tests/test_undefined.py",),
    **{
        f"planning/{name}": (f"tests/planning/test_{name}.py",)
        for name in ("truths", "powers", "sizes", "needs", "search", "jagged", "gaming")
    },
    **{
        f"auditing/{path.stem}": AUDIT
        for path in sorted((ROOT / PACKAGE / "auditing").glob("*.py"))
        if path.stem != "__init__"
    },
}

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


def sample(source: bytes, each: int, chosen: random.Random) -> list[Mutation]:
    """At most ``each`` mutations, at different places."""
    found = mutations(source)
    chosen.shuffle(found)
    places = {mutation.start: mutation for mutation in found}
    return sorted(list(places.values())[:each], key=lambda mutation: mutation.start)


def passes(copy: Path, module: str) -> bool:
    """Whether the module's doctests and tests pass on the copy, within the time limit."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, str(PACKAGE / f"{module}.py"), *TESTS[module]],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def outcomes(copy: Path, modules: list[str], each: int, seed: int) -> Iterator[tuple[str, bytes, Mutation, bool]]:
    """Module, its source, mutation, and whether it was killed."""
    for module in {TESTS[module]: module for module in modules}.values():
        if not passes(copy, module):
            raise SystemExit(f"the tests of {module} fail, or take over {SECONDS} s, without any mutation")
    for module in modules:
        path = copy / PACKAGE / f"{module}.py"
        source = path.read_bytes()
        for mutation in sample(source, each, random.Random(f"{seed} {module}")):
            start = time.perf_counter()
            path.write_bytes(mutation.applied(source))
            killed = not passes(copy, module)
            path.write_bytes(source)
            seconds = time.perf_counter() - start
            print(f"{module}:{mutation.line(source)} killed={killed} {seconds:.0f} s", file=sys.stderr, flush=True)
            yield module, source, mutation, killed


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    each, seed = [*numbers, *(5, 0)[len(numbers) :]]
    modules = [word for word in sys.argv[1:] if not word.isdigit()] or list(TESTS)
    killed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "tests", "docs"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        with (copy / "tests" / "conftest.py").open("a") as conftest:
            conftest.write(FIRST_FAILURE)
        print("| Module | Line | Change | Outcome |\n|---|---|---|---|")
        for module, source, mutation, dead in outcomes(copy, modules, each, seed):
            total += 1
            killed += dead
            outcome = "killed" if dead else "**survived**"
            print(
                f"| {module} | {mutation.line(source)} | {mutation.described(source)} | {outcome} |",
                flush=True,
            )
    print(f"\n{killed} of {total} killed.")


if __name__ == "__main__":
    main()
