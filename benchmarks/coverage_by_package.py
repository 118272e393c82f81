"""How many lines and branches of each package the tests run, from the JSON that coverage writes.

Run it with ``make coverage``, or ``make coverage ARGS="tests/confusion tests/metrics"`` for some of the tests.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path, PurePath
from typing import Any

COUNTED = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def package_of(file: str) -> str:
    """The package of a module; modules beside the packages are taken together."""
    inside = PurePath(file).parts[PurePath(file).parts.index("evenhand") + 1 :]
    return inside[0] if len(inside) > 1 else "beside the packages"


def by_package(files: dict[str, Any]) -> dict[str, Counter[str]]:
    """The sums of each package, and those of all."""
    found: dict[str, Counter[str]] = {}
    for file, measured in sorted(files.items(), key=lambda item: package_of(item[0])):
        for name in (package_of(file), "all"):
            found.setdefault(name, Counter()).update({key: measured["summary"][key] for key in COUNTED})
    return found | {"all": found.pop("all")}


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} % of {whole:,}" if whole else "none"


def main() -> None:
    measured = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    print("| package | lines | branches |\n|---|---|---|")
    for package, sums in by_package(measured["files"]).items():
        covered, lines, taken, branches = (sums[key] for key in COUNTED)
        print(f"| {package} | {share(covered, lines)} | {share(taken, branches)} |")


if __name__ == "__main__":
    main()
