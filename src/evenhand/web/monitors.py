"""Adding a batch to a monitor, and writing its new state and its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..auditing import AuditRequest, Monitor
from ..data import read_counts
from ..records import write_whole
from ..wording import several
from .form import given_settings

__all__ = ["monitored"]

_FIXED = ("metrics", "reference", "alpha")
_READ = ("y_true", "y_pred", "y_score", "threshold", "groups", "positive", "classes", "cluster", "bins")


def monitored(data: str | list[str], counts: bool, asked: Mapping[str, Any], out: str) -> dict[str, Any]:
    """The monitor with one batch more, its state and report in the folder ``out``, and what the page shows of it."""
    given = given_settings(AuditRequest, asked)
    fixed = {name: given[name] for name in _FIXED if name in given}
    before = Monitor.from_json(str(asked["state"])) if asked.get("state") else Monitor(**fixed)
    if counts:
        by, matrices, _ = read_counts(str(data))
        monitor = before.add_counts(matrices, at=asked.get("at"), by=list(by))
    else:
        monitor = before.add(data, at=asked.get("at"), **{name: given[name] for name in _READ if name in given})
    write_whole(Path(out) / "monitor.json", monitor.to_json())
    write_whole(Path(out) / "monitor.html", monitor.to_html())
    alarms = several(len(monitor.alarms), "alarm") if monitor.alarms else "no alarm"
    return {
        "audit": Path(out).name,
        "monitor": f"{several(len(monitor.batches), 'batch', 'batches')}, {alarms}",
        "new": monitor is not before,
    }
