"""A long campaign of the fuzz tests, with other seeds in every round; warnings are errors, as in the tests.

Each test of ``tests/test_fuzz.py`` runs in a process of its own, so that a crash of a library below is seen as one. A
failure is printed with the smallest example that Hypothesis found, and the exit code is 1. The numbers at the end are
how many examples were tried at each way in.

    python benchmarks/fuzz.py --minutes 20
    python benchmarks/fuzz.py --minutes 5 --only damaged
    python benchmarks/fuzz.py --atheris 300    # coverage-guided: CSV bytes only; needs atheris
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent / "tests"
LONGEST = 600


def tests() -> list[str]:
    """The names of the tests, with their parameters."""
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "-o", "addopts=", "--collect-only", "-q", "tests/test_fuzz.py"],
        capture_output=True,
        text=True,
        check=True,
        cwd=TESTS.parent,
    )
    return [line for line in listed.stdout.splitlines() if "::" in line]


def run(name: str, examples: int) -> tuple[bool, str, int]:
    """Whether a test passed with so many new examples, what it said, and how many it tried."""
    with tempfile.NamedTemporaryFile() as tried:
        environment = {**os.environ, "EVENHAND_FUZZ": str(examples), "EVENHAND_FUZZ_TRIED": tried.name}
        try:
            done = subprocess.run(
                [sys.executable, "-X", "faulthandler", "-m", "pytest", "-n", "0", "-q", name],
                capture_output=True,
                text=True,
                check=False,
                cwd=TESTS.parent,
                env=environment,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            return False, f"{name} takes longer than {LONGEST} s", Path(tried.name).stat().st_size
        return done.returncode == 0, done.stdout + done.stderr, Path(tried.name).stat().st_size


def campaign(minutes: float, only: str, examples: int) -> int:
    """Run all tests round and round until the time is up; the exit code."""
    chosen = [name for name in tests() if only in name]
    if not chosen:
        sys.exit(f"no test is called {only!r}")
    tried: Counter[str] = Counter()
    failed: dict[str, int] = {}
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        for name in chosen:
            if time.monotonic() >= end:
                break
            passed, said, many = run(name, examples)
            tried[name.partition("::")[2]] += many
            if not passed:
                failed[name] = failed.get(name, 0) + 1
                print(f"== {name}\n{said[-6000:]}", flush=True)
    print("\n| way in | examples |\n|---|---:|")
    for name, many in tried.items():
        print(f"| {name} | {many:,} |")
    print(f"\n{tried.total():,} examples, {len(failed)} tests failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def guided(seconds: int) -> None:
    """Let atheris look for CSV bytes that reach new code."""
    atheris: Any = import_module("atheris")

    with atheris.instrument_imports(include=["evenhand.data", "evenhand.confusion"]):
        import evenhand as eh

    folder = tempfile.mkdtemp()
    path = Path(folder, "d.csv")

    def one(content: bytes) -> None:
        path.write_bytes(content)
        with suppress(eh.EvenhandError):
            eh.audit(path, y_true="y", y_pred="p", groups="g", metrics="ppr")

    seeds = Path(folder, "seeds")
    seeds.mkdir()
    (seeds / "sound").write_bytes(b"g,y,p\na,1,1\nb,0,0\na,0,1\n")
    arguments: list[Any] = [sys.argv[0], str(seeds), f"-max_total_time={seconds}", "-max_len=400"]
    atheris.Setup(arguments, one)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--only", default="", help="Only tests whose names contain this.")
    parser.add_argument("--examples", type=int, default=200, help="Examples per test and round.")
    parser.add_argument("--atheris", type=int, metavar="SECONDS", help="Fuzz CSV bytes guided by coverage instead.")
    asked = parser.parse_args()
    if asked.atheris:
        guided(asked.atheris)
    else:
        sys.exit(campaign(asked.minutes, asked.only, asked.examples))


if __name__ == "__main__":
    main()
