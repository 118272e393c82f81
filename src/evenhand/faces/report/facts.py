"""What was audited: data, columns, what counts as positive, and when, as far as the audit recorded it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...auditing import Audit, compared_with, several
from .names import shown

__all__ = ["facts", "reading", "setting", "title"]

_KINDS = {
    "frame": "a dataframe",
    "columns": "columns in memory",
    "counts": "a table of counts",
    "example": "an example",
}


def title(audit: Audit) -> str:
    """The title that was given, or the number of cases."""
    given = _record(audit).get("title")
    return shown(str(given)) if given else f"Audit of {several(audit.n, 'case')}"


def facts(audit: Audit) -> list[tuple[str, str]]:
    """What was audited, as pairs of a word and its text; what was not recorded is left out."""
    record, columns = _record(audit), _part(audit, "columns")
    pairs: list[tuple[str, Any]] = [
        ("System", record.get("system")),
        ("Data", _data(_part(audit, "source"))),
        ("Fingerprint", _fingerprint(_part(audit, "source"))),
        ("Label", _column(columns.get("label"), _part(audit, "positive").get("label"))),
        ("Prediction", _column(columns.get("prediction"), _part(audit, "positive").get("prediction"))),
        ("Score", _threshold(columns.get("score"), record.get("threshold"))),
        ("Groups", ", ".join(map(str, columns.get("groups") or audit.settings["groups"]))),
        ("Compared with", compared_with(audit.rows)),
        ("Good for a person", f"a {audit.settings['favourable']} prediction"),
        ("Made", _made(record.get("made"))),
        ("By", record.get("author")),
    ]
    return [(word, shown(str(text))) for word, text in pairs if text]


def reading(audit: Audit) -> str:
    """What "actually positive" and "predicted positive" mean in these data, as far as it was recorded."""
    columns, positive = _part(audit, "columns"), _part(audit, "positive")
    said = []
    for words, role in (("Actually positive", "label"), ("Predicted positive", "prediction")):
        if columns.get(role) and _values(positive.get(role)):
            said.append(f"{words} means: {columns[role]} is {_values(positive.get(role))}.")
    if columns.get("score") and _record(audit).get("threshold") is not None:
        said.append(f"Predicted positive means: {columns['score']} is {_record(audit)['threshold']} or more.")
    return shown(" ".join(said)) if said else ""


def _values(positive: Any) -> str:
    """The values that count as positive."""
    values = positive if isinstance(positive, (list, tuple)) else [] if positive is None else [positive]
    return " or ".join(map(str, values))


def _record(audit: Audit) -> Mapping[str, Any]:
    record = audit.record
    return record if isinstance(record, Mapping) else {}


def _part(audit: Audit, name: str) -> Mapping[str, Any]:
    part = _record(audit).get(name)
    return part if isinstance(part, Mapping) else {}


def _data(source: Mapping[str, Any]) -> str:
    kind = str(source.get("kind", ""))
    said = [str(source["name"]) if source.get("name") else _KINDS.get(kind, kind)]
    if kind == "frame" and source.get("library"):
        said.append(str(source["library"]))
    if isinstance(source.get("files"), int) and source["files"] > 1:
        said.append(several(source["files"], "file"))
    if isinstance(source.get("rows"), int):
        said.append(several(source["rows"], "row"))
    if isinstance(source.get("size"), int):
        said.append(_bytes(source["size"]))
    return ", ".join(part for part in said if part)


def _bytes(size: int) -> str:
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            return f"{size / of:.3g} {unit}"
    return several(size, "byte")


def _fingerprint(source: Mapping[str, Any]) -> str | None:
    return f"SHA-256 {source['sha256']}" if source.get("sha256") else None


def _column(name: Any, positive: Any) -> str | None:
    """A column, and which of its values count as positive."""
    if not name:
        return None
    return f"{name}; positive: {_values(positive)}" if _values(positive) else str(name)


def _threshold(score: Any, threshold: Any) -> str | None:
    if not score:
        return None
    return f"{score}; positive: {threshold} or more" if threshold is not None else str(score)


def _made(made: Any) -> str | None:
    """A time in ISO format, without seconds."""
    if not made:
        return None
    day, _, clock = str(made).partition("T")
    zone = " UTC" if clock.endswith(("Z", "+00:00")) else ""
    return f"{day} {clock[:5]}{zone}".strip()


def setting(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(setting, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {setting(part)}" for name, part in value.items())
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)
