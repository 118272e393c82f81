"""evenhand beside its peers: truth, conformance and speed, in one run on the same data.

``.venv/bin/python benchmarks/peers --environments DIR`` prints Markdown tables. The folder gets one environment for
each peer that is not installed here (a few GB, a few minutes, once). Without it, only the peers of this environment are
run, and the others are listed with the reason. The run takes perhaps 15 minutes on two idle cores; ``--quick`` tries
everything out in fewer, with too few draws to publish. ``--keep DIR`` keeps the answers of peers, times excepted, so
that a run that was interrupted goes on where it was; empty the folder when a peer changes. ``--only looks --only
beyond`` runs these sections alone. Progress goes to stderr. docs/reference/evidence.md has the numbers that matter.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from alarms import raise_alarms
from beyond import find_beyond
from conformance import compare_gaps, conform
from covering import cover
from groups import SIZES
from looks import look
from registry import PEERS, Desk
from sections import SECTIONS, Results, about
from speeds import race
from wrong import find_wrong

COUNT = 20_000


def run(desk: Desk, quick: bool, only: Iterable[str] = ()) -> Results:
    """Everything, one part after the other; times first, while nothing else runs. ``only``: these parts."""
    sizes, groups = (SIZES[:2], (6,)) if quick else (SIZES, (6, 20))

    def few(number: int) -> int:
        return min(number, 2) if quick else number

    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: race(desk, 2_000 if quick else COUNT, quick),
        "conformance": lambda: conform(desk),
        "gaps": lambda: compare_gaps(desk),
        "wrong": lambda: find_wrong(desk),
        "alarms": lambda: raise_alarms(desk, groups, few),
        "coverage": lambda: cover(desk, sizes, few),
        "looks": lambda: look(desk, few),
        "beyond": lambda: find_beyond(desk, few),
    }
    found: dict[str, dict[str, Any]] = {name: {} for name in parts}
    for name, part in parts.items():
        if only and name not in only:
            continue
        start = time.perf_counter()
        found[name] = part()
        print(f"{time.perf_counter() - start:6.0f} s  {name}", file=sys.stderr, flush=True)
    return Results(**found, sizes=sizes, groups=groups, desk=desk, quick=quick)


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environments", type=Path, help="a folder for one environment per peer that is not here")
    parser.add_argument("--keep", type=Path, help="a folder where answers of peers are kept")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="run this section alone; may be repeated")
    parser.add_argument("--quick", action="store_true", help="try everything out, with too few draws to publish")
    options = parser.parse_args(None if arguments is None else list(arguments))
    desk = Desk(options.environments, options.keep)
    for name in PEERS:
        desk.find(name)
    results = run(desk, options.quick, options.only or ())
    for line in about(results):
        print(line)
    for name in options.only or SECTIONS:
        print(f"\n## {name.capitalize()}\n")
        for line in SECTIONS[name](results):
            print(line)


if __name__ == "__main__":
    main()
