"""How far a request walks through the code: files entered, changes of package, and how often each test is computed.

Run it with ``.venv/bin/python benchmarks/walk.py``. Imports are not counted: everything is called once beforehand.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import evenhand as eh

ROOT = Path(eh.__file__).parent


def package_of(file: str) -> str | None:
    try:
        return Path(file).relative_to(ROOT).parts[0]
    except ValueError:
        return None


def walk(request: Callable[[], object]) -> tuple[int, int, Counter[str]]:
    """The number of files entered, of changes from package to package, and of calls to each function."""
    request()
    files: set[str] = set()
    calls: Counter[str] = Counter()
    changes = 0
    last = ""

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal last, changes
        package = package_of(frame.f_code.co_filename) if event == "call" else None
        if package is None:
            return
        files.add(frame.f_code.co_filename)
        calls[frame.f_code.co_name] += 1
        changes += package != last
        last = package

    sys.setprofile(note)
    try:
        request()
    finally:
        sys.setprofile(None)
    return len(files), changes, calls


def main() -> None:
    group, rest = eh.ConfusionMatrix(tp=0, fn=2, fp=8, tn=30), eh.ConfusionMatrix(tp=300, fn=100, fp=120, tn=480)
    decisions = eh.examples.rows({"A": group, "B": rest})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decisions.csv"
        lines = zip(*(decisions[name] for name in ("group", "y_true", "y_pred")), strict=True)
        path.write_text("group,y,yhat\n" + "".join(f"{g},{y},{p}\n" for g, y, p in lines))

        def audited() -> str:
            return eh.audit(path, y_true="y", y_pred="yhat", groups="group", metrics="tpr").to_html()

        tpr = eh.metric("tpr")
        requests: dict[str, Callable[[], object]] = {
            'metric("tpr")(group)': lambda: tpr(group),
            'distribution("tpr", 30, rest)': lambda: eh.distribution("tpr", 30, rest),
            'distribution("tpr", 30, rest).cdf(0.5)': lambda: eh.distribution("tpr", 30, rest).cdf(0.5),
            'match_test(group, rest, "tpr")': lambda: eh.match_test(group, rest, "tpr"),
            'match_test(group, rest, "f1")': lambda: eh.match_test(group, rest, "f1"),
            'disparity(group, rest, "tpr")': lambda: eh.disparity(group, rest, "tpr"),
            "audit of a file to HTML, two rows": audited,
        }
        print("| request | files | changes of package | calls of match_test |")
        print("|---|---|---|---|")
        for name, request in requests.items():
            files, changes, calls = walk(request)
            print(f"| `{name}` | {files} | {changes} | {calls['match_test']} |")


if __name__ == "__main__":
    main()
