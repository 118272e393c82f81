"""Adding a batch to a watch, and writing its new state and its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..auditing import AuditRequest, Watch
from ..records import write_whole
from ..tabulate import read_counts_file
from ..wording import several
from .form import given_settings

__all__ = ["watched"]

_FIXED = ("metrics", "reference", "alpha")
_READ = (
    *("y_true", "y_pred", "y_score", "threshold", "groups", "positive_label", "positive_prediction"),
    *("classes", "unit", "bins"),
)


def watched(data: str | list[str], counts: bool, asked: Mapping[str, Any], out: str) -> dict[str, Any]:
    """The watch with one batch more, its state and report in the folder ``out``, and what the page shows of it."""
    given = given_settings(AuditRequest, asked)
    fixed = {name: given[name] for name in _FIXED if name in given}
    before = Watch.from_json(str(asked["state"])) if asked.get("state") else Watch(**fixed)
    if counts:
        by, matrices, _ = read_counts_file(str(data))
        watch = before.add_counts(matrices, at=asked.get("at"), by=list(by))
    else:
        watch = before.add(data, at=asked.get("at"), **{name: given[name] for name in _READ if name in given})
    write_whole(Path(out) / "watch.json", watch.to_json())
    write_whole(Path(out) / "watch.html", watch.to_html())
    alarms = several(len(watch.alarms), "alarm") if watch.alarms else "no alarm"
    return {
        "audit": Path(out).name,
        "watch": f"{several(len(watch.batches), 'batch', 'batches')}, {alarms}",
        "new": watch is not before,
    }
