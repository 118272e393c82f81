"""What was audited: data, columns, what counts as positive, and when, as far as the audit recorded it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..auditing import Audit
from ..wording import several
from .axes import axes_of, model_pairs, models_text, value_texts
from .narrative import compared_with
from .words import Words

__all__ = ["facts", "meaning_of_positive", "reference_words", "setting_text"]

_POSITIVE = {"label": "Actually positive", "prediction": "Predicted positive"}
_KINDS = {
    "frame": "a dataframe",
    "columns": "columns in memory",
    "counts": "a table of counts",
    "example": "an example",
}


def facts(audit: Audit, system: str | None = None, author: str | None = None) -> list[tuple[str, str]]:
    """What was audited, as pairs of a word and its text; what was not recorded is left out."""
    record, columns, source = audit.provenance, _part(audit, "columns"), _part(audit, "source")
    positive = _part(audit, "positive")
    favourable = audit.settings["favourable"]
    pairs: list[tuple[str, Any]] = [
        ("System", system),
        ("Data", _data(source)),
        ("Label", _column(columns.get("label"), positive.get("label"))),
        ("Prediction", _column(columns.get("prediction"), positive.get("prediction"))),
        ("Score", _threshold(columns.get("score"), record.get("threshold"))),
        ("Groups", ", ".join(map(str, audit.settings["groups"]))),
        ("Within", ", ".join(map(str, audit.settings["strata"]))),
        *_axes(audit),
        ("Compared with", reference_words(audit).replace(" outside it", " outside the group")),
        ("Good for a person", _good(audit, favourable)),
        ("Made", _made(record.get("made"))),
        ("By", author),
    ]
    return [(word, str(text)) for word, text in pairs if text]


def _good(audit: Audit, favourable: Any) -> str:
    """The favourable prediction, in the words of who made the audit if there are any."""
    if favourable is None:
        return "not said"
    said = Words.of(audit.settings).decided(favourable) if "decision" in audit.settings["wording"] else ""
    return f"a {favourable} prediction" + (f" ({said})" if said else "")


def reference_words(audit: Audit) -> str:
    """What the groups are compared with, in the words of who made the audit, to follow "is compared with"."""
    said = compared_with(audit.rows)
    known = " whose group is known" if audit.unknown and said == "all cases outside it" else ""
    if said.startswith("all cases"):
        said = f"all {Words.of(audit.settings).cases}{said.removeprefix('all cases')}"
    return f"{said}{known}"


def _axes(audit: Audit) -> list[tuple[str, str]]:
    """The values of each axis; of models, what they are compared against, too."""
    return [(axis.many.capitalize(), _values_of(audit, name)) for name, axis in axes_of(audit).items()]


def _values_of(audit: Audit, name: str) -> str:
    if name == "model":
        return models_text(model_pairs(audit))
    return ", ".join(value_texts(value for value in audit.axes[name] if value != "pooled").values())


def meaning_of_positive(audit: Audit) -> str:
    """What "actually positive" and "predicted positive" mean in these data, as far as it was recorded."""
    columns, positive = _part(audit, "columns"), _part(audit, "positive")
    words = Words.of(audit.settings)
    own = {"label": words.outcome[0], "prediction": words.decision[0]} if words.own else {}
    called = {role: f"“{own[role]}”" if role in own else generic for role, generic in _POSITIVE.items()}
    said = [
        f"{called[role]} means: {columns[role]} is {_values(positive.get(role))}."
        for role in _POSITIVE
        if columns.get(role) and _values(positive.get(role))
    ]
    if columns.get("score") and isinstance(audit.provenance.get("threshold"), (int, float)):
        said.append(f"{called['prediction']} means: {columns['score']} is {audit.provenance['threshold']} or more.")
    return " ".join(said)


def _values(positive: Any) -> str:
    """The values that count as positive."""
    values = positive if isinstance(positive, (list, tuple)) else [] if positive is None else [positive]
    return " or ".join(map(str, values))


def _part(audit: Audit, name: str) -> Mapping[str, Any]:
    part = audit.provenance.get(name)
    return part if isinstance(part, Mapping) else {}


def _data(source: Mapping[str, Any]) -> str:
    kind = str(source.get("kind", ""))
    said = [str(source["name"]) if source.get("name") else _KINDS.get(kind, kind)]
    if kind == "frame" and source.get("library"):
        said.append(str(source["library"]))
    if isinstance(source.get("files"), int) and (source["files"] > 1 or source.get("skipped")):
        said.append(f"{several(source['files'], 'file')}{_skipped(source.get('skipped'))}")
    if isinstance(source.get("rows"), int):
        said.append(several(source["rows"], "row"))
    if isinstance(source.get("size"), int):
        said.append(_bytes(source["size"]))
    return ", ".join(part for part in said if part)


def _skipped(files: Any) -> str:
    return f" ({several(files, 'other file')} in the folder skipped)" if isinstance(files, int) and files else ""


def _bytes(size: int) -> str:
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            return f"{size / of:.3g} {unit}"
    return several(size, "byte")


def _column(name: Any, positive: Any) -> str | None:
    """A column, and which of its values count as positive."""
    return f"{name}; positive: {_values(positive)}" if name and _values(positive) else name


def _threshold(score: Any, threshold: Any) -> str | None:
    return f"{score}; positive: {threshold} or more" if score and isinstance(threshold, (int, float)) else score


def _made(made: Any) -> str | None:
    """A time in ISO format, without seconds."""
    if not made:
        return None
    day, _, clock = str(made).partition("T")
    zone = " UTC" if clock.endswith(("Z", "+00:00")) else ""
    return f"{day} {clock[:5]}{zone}".strip()


def setting_text(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(setting_text, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {setting_text(part)}" for name, part in value.items()) or "none"
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)
