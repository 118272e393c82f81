"""What worker processes can be asked to do.

Every task is called in the folder of its files, which it names by their names alone; so reports and
messages name the files as their owner does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..auditing import (
    REPORT,
    Audit,
    AuditRequest,
    CountsRequest,
    ModelsRequest,
    Monitor,
    audit,
    audit_counts,
    compare,
)
from ..data import read_counts
from ..progress import ProgressLine
from ..records import write_whole
from ..views import Words
from ..wording import several
from .form import read_settings
from .plans import answer_plan
from .previews import Files, count_bins, count_values, preview_counts, preview_file

FIXED = ("metrics", "reference", "alpha")
COLUMNS = ("y_true", "y_pred", "y_score", "groups", "cluster", "bins")
VALUES = ("threshold", "positive", "classes")
PLURALS = {"class": "classes", "stratum": "strata"}


def run_audit(data: Files, counts: bool, asked: Mapping[str, Any], out: str) -> dict[str, Any]:
    """The audit that was asked for, written in all formats to a folder, and its extent.

    A saved audit can be repeated: its settings hold, and the changes are listed.
    """
    report = {name: str(asked[name]) for name in REPORT if asked.get(name)}
    if asked.get("repeat"):
        saved = Audit.from_json(str(asked["repeat"]))
        again = saved.repeat(data)
        return write_audit(again, Path(out), {}) | {"changes": saved.changes(again)}
    if asked.get("decided") == "models":
        result = compare(data, **read_settings(ModelsRequest, asked))
    elif counts:
        result = audit_counts(str(data), **read_settings(CountsRequest, asked))
    else:
        result = audit(data, **read_settings(AuditRequest, asked))
    return write_audit(result, Path(out), report)


def write_audit(result: Audit, folder: Path, report: Mapping[str, str]) -> dict[str, Any]:
    """Write an audit in all formats to a folder, and tell its extent."""
    with ProgressLine() as progress:
        progress("writing the report", 0, 2)
        write_whole(folder / "audit.html", result.to_html(**dict[str, Any](report)))
        progress("writing the report", 1, 2)
        write_whole(folder / "audit.json", result.to_json())
        write_whole(folder / "audit.csv", result.to_csv())
        write_whole(folder / "audit.md", result.to_markdown())
    groups = {(row.by, row.group) for row in result.rows}
    extent = [Words.of(result.settings).several(result.n), several(len(groups), "group")]
    for axis, values in result.axes.items():
        places = [value for value in values if value != "pooled"]
        extent.append(several(len(places), axis, PLURALS.get(axis, "")))
    title = f"{report['title']}: " if "title" in report else "Audit of "
    return {"report": f"{folder.name}/audit", "title": title + ", ".join(extent)}


def add_batch(data: Files, counts: bool, asked: Mapping[str, Any], out: str) -> dict[str, Any]:
    """Add a batch to a monitor, and write its new state and its report to a folder."""
    given, at = {}, asked.get("at")
    if asked.get("state"):
        before = Monitor.from_json(str(asked["state"]))
    else:
        given = read_settings(AuditRequest, asked)
        before = Monitor(**{name: given[name] for name in FIXED if name in given})
    if counts:
        by, matrices, _ = read_counts(str(data))
        monitor = before.add_counts(matrices, at=at, by=list(by))
    else:
        columns = {name: given[name] for name in COLUMNS + VALUES if name in given}
        monitor = before.add(data, at=at, **columns)
    write_whole(Path(out) / "monitor.json", monitor.to_json())
    write_whole(Path(out) / "monitor.html", monitor.to_html())
    batches = several(len(monitor.batches), "batch", "batches")
    alarms = several(len(monitor.alarms), "alarm") if monitor.alarms else "no alarm"
    same = "; this batch was added before, and nothing changed"
    return {
        "report": f"{Path(out).name}/monitor",
        "title": f"Monitor of {batches}, {alarms}{same if monitor is before else ''}",
        "batches": batches,
    }


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "file": preview_file,
    "counts": preview_counts,
    "values": count_values,
    "bins": count_bins,
    "audit": run_audit,
    "monitor": add_batch,
    "plan": answer_plan,
}
