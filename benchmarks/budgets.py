"""Every public function at sizes from 0 to 10^15, each call in a process with limits of time and memory.

    python benchmarks/budgets.py [function ...] [--sizes 10 1000] [--all]

Prints the calls that took a second or more, or failed; with ``--all``, every call.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from ladder import FUNCTIONS, SIZES, calls, outcomes

SECONDS, MEGABYTES = 30, 2_048


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("functions", nargs="*", metavar="function")
    parser.add_argument("--sizes", nargs="*", type=lambda text: int(float(text)), default=list(SIZES))
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    counted: dict[str, int] = {}
    print(f"{'seconds':>8} {'MB':>6}  {'came of it':<10} call")
    for call, outcome in outcomes(calls(asked.functions or FUNCTIONS, asked.sizes), asked.seconds, MEGABYTES):
        counted[outcome.kind] = counted.get(outcome.kind, 0) + 1
        if asked.all or outcome.seconds >= 1 or outcome.kind == "failure":
            text = f": {outcome.text}" if outcome.kind != "answer" else ""
            print(f"{outcome.seconds:8.2f} {outcome.megabytes:6.0f}  {outcome.kind:<10} {call}{text[:300]}", flush=True)
    print(", ".join(f"{number:,} × {kind}" for kind, number in counted.items()))
    sys.exit(1 if counted.get("failure") else 0)


if __name__ == "__main__":
    main()
