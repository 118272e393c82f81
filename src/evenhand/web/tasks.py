"""What worker processes can be asked to do.

Every task is called in the folder of its files, which it names by their names alone; so reports and
messages name the files as their owner does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import auditing, planning
from ..auditing import Audit, Monitor
from ..confusion import ConfusionMatrix
from ..data import read_counts
from ..errors import InvalidInput, UnknownName
from ..records import plain_value, write_whole
from ..reports import Words
from ..wording import several
from .form import Asked, read_cells, read_number, read_settings, read_whole
from .previews import Files, count_bins, count_values, preview_counts, preview_file

Answer = dict[str, Any]
FIXED = ("metrics", "reference", "alpha")
READ = (
    *("y_true", "y_pred", "y_score", "groups", "cluster"),
    *("bins", "threshold", "positive", "classes"),
)
FORMATS = {"html": "html", "json": "json", "csv": "csv", "md": "markdown"}
PLURALS = {"class": "classes", "stratum": "strata"}
MOST_SIZES = 1_000
QUESTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "size": (planning.sample_size, ("difference", "power", "alpha")),
    "detect": (planning.detectable_difference, ("n", "power", "alpha")),
    "power": (planning.power, ("n", "difference", "alpha")),
    "jagged": (planning.jaggedness, ("sizes",)),
    "exploit": (planning.exploitable_sizes, ("threshold", "sizes")),
}


def run_audit(data: Files, counts: bool, asked: Asked, out: str) -> Answer:
    """The audit that was asked for, written in all formats to a folder, and its extent.

    A saved audit can be repeated: its settings hold, and the changes are listed.
    """
    report = {name: str(asked[name]) for name in auditing.REPORT if asked.get(name)}
    if asked.get("repeat"):
        saved = Audit.from_json(str(asked["repeat"]))
        again = saved.repeat(data)
        return write_audit(again, Path(out), {}) | {"changes": saved.changes(again)}
    if asked.get("decided") == "models":
        result = auditing.compare(data, **read_settings(auditing.ModelsRequest, asked))
    elif counts:
        result = auditing.audit_counts(str(data), **read_settings(auditing.CountsRequest, asked))
    else:
        result = auditing.audit(data, **read_settings(auditing.AuditRequest, asked))
    return write_audit(result, Path(out), report)


def write_audit(result: Audit, folder: Path, report: Mapping[str, str]) -> Answer:
    """Write an audit in all formats to a folder, and tell its extent."""
    for ending, name in FORMATS.items():
        facts = report if name == "html" else {}
        write_whole(folder / f"audit.{ending}", getattr(result, f"to_{name}")(**facts))
    groups = {(row.by, row.group) for row in result.rows if row.by in result.provenance["order"]}
    extent = [Words.of(result.settings).count(result.n), several(len(groups), "group")]
    for axis, values in result.axes.items():
        places = [value for value in values if value != "pooled"]
        extent.append(several(len(places), axis, PLURALS.get(axis, "")))
    title = f"{report['title']}: " if "title" in report else "Audit of "
    return {"report": f"{folder.name}/audit", "title": title + ", ".join(extent)}


def add_batch(data: Files, counts: bool, asked: Asked, out: str) -> Answer:
    """Add a batch to a monitor, and write its new state and its report to a folder."""
    given, at = {}, asked.get("at")
    if asked.get("state"):
        before = Monitor.from_json(str(asked["state"]))
    else:
        given = read_settings(auditing.AuditRequest, asked)
        before = Monitor(**{name: given[name] for name in FIXED if name in given})
    if counts:
        by, matrices, _ = read_counts(str(data))
        monitor = before.add_counts(matrices, at=at, by=list(by))
    else:
        monitor = before.add(data, at=at, **{name: given[name] for name in READ if name in given})
    folder = Path(out)
    write_whole(folder / "monitor.json", monitor.to_json())
    write_whole(folder / "monitor.html", monitor.to_html())
    batches = several(len(monitor.batches), "batch", "batches")
    alarms = several(len(monitor.alarms), "alarm") if monitor.alarms else "no alarm"
    title = f"Monitor of {batches}, {alarms}"
    if monitor is before:
        title += "; this batch was added before, and nothing changed"
    return {"report": f"{folder.name}/monitor", "title": title, "batches": batches}


def answer_plan(asked: Asked) -> Answer:
    """The answer to a question of planning: text, and a picture if there is one."""
    question = str(asked.get("question"))
    if question not in QUESTIONS:
        raise UnknownName.among("question", question, QUESTIONS)
    function, names = QUESTIONS[question]
    arguments: dict[str, Any] = {}
    for name in names:
        if name == "sizes":
            arguments["n"] = read_sizes(asked)
        elif name == "n":
            arguments[name] = read_whole(asked.get(name), "the number of cases")
        else:
            arguments[name] = read_number(asked.get(name), f"the {name}")
    cells = read_cells(asked.get("cells"))
    is_counted = all(cell.is_integer() for cell in cells)
    reference = ConfusionMatrix.from_array(cells) if is_counted else cells
    result = function(str(asked.get("metric")), reference=reference, **arguments)
    return {"text": str(result), "picture": plain_value(draw(result))}


def read_sizes(asked: Asked) -> range:
    """The sizes between two numbers."""
    first = read_whole(asked.get("from"), "the first size")
    last = read_whole(asked.get("to"), "the last size")
    if not 1 <= first <= last < first + MOST_SIZES:
        must = f"must rise from 1 or more, at most {MOST_SIZES:,}"
        raise InvalidInput(f"the sizes {must}; got {first} to {last}")
    return range(first, last + 1)


def draw(result: Any) -> Answer | None:
    """Lines over sizes, or over true scores; None where each point would take long."""
    x, axis, caption = getattr(result, "sizes", ()), "number of cases", "Power"
    if isinstance(result, planning.Jaggedness):
        lines = list(zip(*result.quantiles, strict=True))
        caption = "10, 25, 50, 75 and 90% of groups score at most this"
    elif isinstance(result, planning.ExploitableSizes):
        lines, caption = [result.chances], "Probability to pass"
    elif result.question == "sample_size":
        lines = [result.values]
    elif result.method == "exact":
        x, values = result.profile()
        lines, axis = [values], f"true {result.metric.key}"
    else:
        return None
    goal = getattr(result, "target", None)
    return {"x": x, "lines": lines, "goal": goal, "axis": axis, "caption": caption}


TASKS: dict[str, Callable[..., Answer]] = {
    "file": preview_file,
    "counts": preview_counts,
    "values": count_values,
    "bins": count_bins,
    "audit": run_audit,
    "monitor": add_batch,
    "plan": answer_plan,
}
