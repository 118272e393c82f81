"""Making the audit that was asked for, and writing it in all formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...auditing import Audit, ClassAudit, ReferenceKind, Sweep, audit, audit_counts, saved_audit
from ...cells import ConfusionMatrix
from ...progress import ProgressLine
from ...records import write_whole
from .typed import typed_strength, typed_whole

__all__ = ["audited"]

_TEXTS = ("title", "system", "author", "adjust", "family", "favourable", "selection", "test", "null")
_NUMBERS = ("alpha", "level", "margin", "impact_share", "replace_undefined_by")


def audited(data: str | list[str], counts: bool, asked: Mapping[str, Any], out: str) -> dict[str, Any]:
    """The audit that was asked for, written in all formats to the folder ``out``, and what the page shows of it.

    A saved audit can be repeated: its settings hold, and what changed is said.
    """
    if asked.get("repeat"):
        saved: Any = saved_audit(str(asked["repeat"]))
        again = saved.repeat(data)
        return _written(again, Path(out)) | {"changes": saved.changes(again)}
    settings = _settings(asked)
    result = audit_counts(str(data), **settings) if counts else audit(data, **_reading(asked), **settings)
    return _written(result, Path(out))


def _reading(asked: Mapping[str, Any]) -> dict[str, Any]:
    """How the columns of a file are read."""
    thresholds = asked.get("threshold") or []
    if asked.get("classes"):
        return {
            "y_true": asked.get("label") or None,
            "y_pred": asked.get("prediction") or None,
            "groups": list(asked.get("groups") or []) or None,
            "classes": asked["classes"],
            "bins": asked.get("bins") or None,
        }
    return {
        "y_true": asked.get("label") or None,
        "y_pred": asked.get("prediction") or None,
        "y_score": asked.get("score") or None,
        "groups": list(asked.get("groups") or []) or None,
        "positive_label": asked.get("positive_label") or None,
        "positive_prediction": asked.get("positive_prediction") or None,
        "threshold": thresholds[0] if len(thresholds) == 1 else thresholds or None,
        "bins": asked.get("bins") or None,
    }


def _settings(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from the defaults, as the library takes them."""
    settings: dict[str, Any] = {name: asked[name] for name in _TEXTS if asked.get(name)}
    for name in _NUMBERS:
        if asked.get(name) is not None:
            settings[name] = asked[name]
    if asked.get("metrics"):
        settings["metrics"] = list(asked["metrics"])
    if asked.get("mid_p"):
        settings["mid_p"] = True
    if asked.get("max_groups") is not None:
        settings["max_groups"] = typed_whole(asked["max_groups"], "the largest number of groups")
    crossings = asked.get("crossings")
    if crossings:
        settings["crossings"] = int(crossings) if str(crossings).isdecimal() else crossings
    if asked.get("strength") not in (None, ""):
        settings["strength"] = typed_strength(str(asked["strength"]))
    if asked.get("labels"):
        settings["labels"] = asked["labels"]
    return settings | {"reference": _reference(asked.get("reference"))}


def _reference(asked: Any) -> Any:
    """What groups are compared with: ``{"cells": [...]}``, or by column ``{"kind": ...}`` or ``{"group": ...}``.

    The crossing of two columns may have a reference of its own.
    """
    if not asked:
        return ReferenceKind.REST
    if "cells" in asked:
        return ConfusionMatrix(*(typed_whole(cell, "a count") for cell in asked["cells"]))
    crossing, asked = asked.get("crossing"), asked["columns"]
    kinds = {one.get("kind") for one in asked.values()}
    if crossing is None and len(kinds) == 1 and None not in kinds:
        # One kind for all columns holds for crossings, too.
        return _one_reference(next(iter(asked.values())))
    named = {column: _one_reference(one) for column, one in asked.items() if one.get("kind") != ReferenceKind.REST}
    return named if crossing is None else named | {str(crossing["name"]): _one_reference(crossing)}


def _one_reference(one: Mapping[str, Any]) -> Any:
    kind = one.get("kind")
    if kind in (ReferenceKind.REST, ReferenceKind.ALL):
        return ReferenceKind(str(kind))
    return str(one["group"] if kind is None else kind)


def _written(result: Audit | Sweep | ClassAudit, out: Path) -> dict[str, Any]:
    writers: dict[str, Callable[[], str]] = {
        "html": result.to_html,
        "json": result.to_json,
        "csv": result.to_csv,
        "md": result.to_markdown,
    }
    with ProgressLine() as report:
        for done, (kind, write) in enumerate(writers.items()):
            report("writing the report", done, len(writers))
            write_whole(out / f"audit.{kind}", write())
    first = result if isinstance(result, Audit) else next(iter(result))
    record = result.record
    return {
        "audit": out.name,
        "title": record["title"],
        "source": record["source"].get("name"),
        "n": first.n,
        "groups": len({(row.by, row.group) for row in first.rows}),
        "findings": len(result.findings),
        "thresholds": list(result.thresholds) if isinstance(result, Sweep) else [],
        "classes": len(result) if isinstance(result, ClassAudit) else 0,
        "command": record["command"],
        "python": record["python"],
    }
