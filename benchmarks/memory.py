"""How much memory an audit of a large CSV file takes, whichever way it comes in.

The file is made in a temporary folder and removed at the end. Each way runs in a process of its own, whose peak is
reported by the system; the process that imports everything and audits ten rows is the baseline.

    python benchmarks/memory.py               # 1 GB
    python benchmarks/memory.py --megabytes 100
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AUDIT = ["--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc"]


def make(path: Path, size: int) -> int:
    """Write a file of about this many bytes; the number of its rows."""
    chance = random.Random(0)
    block = "".join(
        f"{i},{chance.choice('ABCDE')},{chance.randint(0, 1)},{chance.randint(0, 1)},{chance.random():.6f}\n"
        for i in range(100_000)
    ).encode()
    rows = 0
    with path.open("wb") as file:
        file.write(b"id,g,y,p,s\n")
        while file.tell() < size:
            file.write(block)
            rows += 100_000
    return rows


def peak(command: list[str], stdin: Path | None = None) -> tuple[float, float, str]:
    """Peak memory in MB and seconds of a process, and the first line that it says."""
    start = time.monotonic()
    with stdin.open("rb") if stdin else open(os.devnull, "rb") as given, tempfile.TemporaryFile() as said:
        feeder = subprocess.Popen(["cat"], stdin=given, stdout=subprocess.PIPE) if stdin else None
        child = subprocess.Popen(
            [sys.executable, "-m", "evenhand", *command],
            stdin=feeder.stdout if feeder else given,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        if feeder and feeder.stdout:
            feeder.stdout.close()
        _, _, used = os.wait4(child.pid, 0)
        if feeder:
            feeder.wait()
        said.seek(0)
        first = said.readline().decode().strip()
    return used.ru_maxrss / 1024, time.monotonic() - start, first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    size = parser.parse_args().megabytes * 2**20
    with tempfile.TemporaryDirectory(prefix="evenhand-memory-") as folder:
        small, large, packed, odd = (Path(folder, name) for name in ("s.csv", "l.csv", "l.csv.gz", "odd.csv"))
        make(small, 1)
        rows = make(large, size)
        with large.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, 1 << 22)
        # A quote beside a space is what only the csv module reads; a tenth of the rows is enough to see its memory.
        make(odd, size // 10)
        with odd.open("ab") as file:
            file.write(b'1, "A",1,1,0.5\n')
        ways = {
            "baseline": ([str(small), *AUDIT], None),
            "CSV": ([str(large), *AUDIT], None),
            "CSV on a pipe": (["-", *AUDIT], large),
            "CSV, gzip": ([str(packed), *AUDIT], None),
            "CSV, at 20 thresholds": (
                [str(large), "--label", "y", "--score", "s", "--group", "g", "--metric", "acc"]
                + [word for i in range(1, 21) for word in ("--threshold", str(i / 21))],
                None,
            ),
            "CSV, a column of identifiers as the group": (
                [str(large), *AUDIT[:4], "--group", "id", "--metric", "acc"],
                None,
            ),
            "CSV, scores as predictions": ([str(large), "--label", "y", "--prediction", "s", "--group", "id"], None),
            "CSV, read by Python (a tenth)": ([str(odd), *AUDIT], None),
        }
        print(f"{large.stat().st_size / 2**20:,.0f} MB, {rows:,} rows\n")
        print("| | peak MB | seconds | says |\n|---|---:|---:|---|")
        for name, (words, stdin) in ways.items():
            memory, seconds, said = peak(["audit", *words], stdin)
            print(f"| {name} | {memory:,.0f} | {seconds:.1f} | {said[:90].replace(folder, '…')} |", flush=True)


if __name__ == "__main__":
    main()
