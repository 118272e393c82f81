"""Making the audit that was asked for, and writing it in all formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..auditing import REPORT, Audit, AuditRequest, CountsRequest, ModelsRequest, audit, audit_counts, compare
from ..progress import ProgressLine
from ..records import write_whole
from ..reports import Words
from ..wording import several
from .form import given_settings

__all__ = ["audited"]

_WRITERS: dict[str, Callable[..., str]] = {
    "json": Audit.to_json,
    "csv": Audit.to_csv,
    "md": Audit.to_markdown,
}
_PLURALS = {"class": "classes", "stratum": "strata"}


def audited(data: str | list[str], counts: bool, asked: Mapping[str, Any], out: str) -> dict[str, Any]:
    """The audit that was asked for, written in all formats to the folder ``out``, and what the page shows of it.

    A saved audit can be repeated: its settings hold, and what changed is said.
    """
    if asked.get("repeat"):
        saved = Audit.from_json(str(asked["repeat"]))
        again = saved.repeat(data)
        return _written(again, Path(out), {}) | {"changes": saved.changes(again)}
    if asked.get("models") or asked.get("model_column"):
        result = compare(data, **given_settings(ModelsRequest, asked))
    elif counts:
        result = audit_counts(str(data), **given_settings(CountsRequest, asked))
    else:
        result = audit(data, **given_settings(AuditRequest, asked))
    return _written(result, Path(out), {name: asked[name] for name in REPORT if asked.get(name)})


def _written(result: Audit, out: Path, report: Mapping[str, str]) -> dict[str, Any]:
    writers: dict[str, Callable[..., str]] = {"html": partial(Audit.to_html, **dict[str, Any](report)), **_WRITERS}
    with ProgressLine() as tell:
        for done, (kind, text) in enumerate(writers.items()):
            tell("writing the report", done, len(writers))
            write_whole(out / f"audit.{kind}", text(result))
    groups = {(row.by, row.group) for row in result.rows}
    axes = {axis: [value for value in values if value != "pooled"] for axis, values in result.axes.items()}
    parts = [Words.of(result.settings).count(result.n), several(len(groups), "group")]
    parts += [several(len(values), axis, _PLURALS.get(axis, "")) for axis, values in axes.items()]
    return {
        "audit": out.name,
        "title": report.get("title"),
        "extent": ", ".join(parts),
    }
