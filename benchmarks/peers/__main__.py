"""evenhand beside its peers: truth, conformance and speed, in one run on the same data.

``.venv/bin/python benchmarks/peers --environments DIR > docs/reference/peers.md`` writes the page. The folder gets one
environment for each peer that is not installed here (a few GB, a few minutes, once). Without it, only the peers of this
environment are run, and the others are listed with the reason. The run takes perhaps 15 minutes on two idle cores;
``--quick`` tries everything out in fewer, with too few draws to publish. ``--keep DIR`` keeps the answers of peers,
times excepted, so that a run that was interrupted goes on where it was; empty the folder when a peer changes. Progress
goes to stderr.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from alarms import raise_alarms
from conformance import compare_gaps, conform
from covering import cover
from groups import SIZES
from page import COUNT, Results, page
from registry import PEERS, Desk
from speeds import race
from wrong import find_wrong


def run(desk: Desk, quick: bool) -> Results:
    """Everything, one part after the other; times first, while nothing else runs."""
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
    }
    found = {}
    for name, part in parts.items():
        start = time.perf_counter()
        found[name] = part()
        print(f"{time.perf_counter() - start:6.0f} s  {name}", file=sys.stderr, flush=True)
    return Results(**found, sizes=sizes, groups=groups, desk=desk, quick=quick)


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environments", type=Path, help="a folder for one environment per peer that is not here")
    parser.add_argument("--keep", type=Path, help="a folder where answers of peers are kept")
    parser.add_argument("--quick", action="store_true", help="try everything out, with too few draws to publish")
    options = parser.parse_args(None if arguments is None else list(arguments))
    desk = Desk(options.environments, options.keep)
    for name in PEERS:
        desk.find(name)
    for line in page(run(desk, options.quick)):
        print(line)


if __name__ == "__main__":
    main()
