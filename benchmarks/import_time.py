"""How long ``import evenhand`` takes, as a multiple of ``import numpy`` in the same run.

Run it with ``.venv/bin/python benchmarks/import_time.py``. Expect at most 1.3.
"""

from __future__ import annotations

import subprocess
import sys
import time

ROUNDS = 15
STATEMENTS = {
    "python": "pass",
    "numpy": "import numpy",
    "evenhand": "import evenhand",
    "evenhand, first score": "import evenhand as eh; eh.metric('tpr')(eh.ConfusionMatrix(tp=1, fn=2, fp=3, tn=4))",
}


def best(statement: str, rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    measured = {name: best(statement) for name, statement in STATEMENTS.items()}
    numpy = measured["numpy"]
    for name, seconds in measured.items():
        print(f"{name:<24} {seconds * 1000:7.0f} ms  {seconds / numpy:5.2f} x numpy")


if __name__ == "__main__":
    main()
