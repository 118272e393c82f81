"""Settings as text, as options of the command and fields of the page give them, and back.

`spelled` writes the values of an option, and `read_texts` reads them. What is written is read as the same value, also
if names contain the signs that separate them: such names stand in double quotes, as in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..errors import InvalidInput, UnknownName, brief
from ..inference import SPLITS

__all__ = ["READERS", "is_matrix", "read_texts", "spelled"]

Columns = Sequence[str]


def spelled(name: str, value: Any) -> list[str]:
    """The values of a setting's option, each as the command reads it."""
    if name == "group_names":
        return [
            f"{_quoted(by, ':')}:{_quoted(code, ':=')}={called}"
            for by, names in value.items()
            for code, called in names.items()
        ]
    if name == "models":
        return [f"{_quoted(called, '=')}={_text(column)}" for called, column in value.items()]
    if name == "bins":
        return [f"{by}={','.join(map(_text, _listed(cuts)))}" for by, cuts in value.items()]
    if name == "strength" and isinstance(value, Mapping):
        return [",".join(f"{split}={_text(strength)}" for split, strength in value.items())]
    if name in ("outcome", "decision"):
        return ["/".join(_listed(value))]
    if name == "averages" and not value:
        return ["none"]
    if name == "classes" and value == ["all"]:
        # Once, the word means every class.
        return ["all", "all"]
    if name == "reference":
        named = value.items() if isinstance(value, Mapping) else [("", value)]
        return [f"{by}{'=' if by else ''}{_reference(one)}" for by, one in named]
    return [_text(one) for one in _listed(value)]


def is_matrix(value: Any) -> bool:
    """Whether a recorded reference is a matrix."""
    return isinstance(value, list) and len(value) == 4 and not any(isinstance(cell, str) for cell in value)


def _quoted(text: str, signs: str) -> str:
    """A text before some signs; in quotes if it contains one of them."""
    return json.dumps(text, ensure_ascii=False) if set(text) & set(signs) or text.startswith('"') else text


def _reference(value: Any) -> str:
    return ",".join(map(_text, value)) if is_matrix(value) else _quoted(str(value), "=")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_texts(name: str, texts: Sequence[str], columns: Columns = ()) -> Any:
    """The value of a setting from the values of its option.

    ``columns`` are the group columns, which say where the name of a column ends in a text.
    """
    return READERS[name](texts, columns)


def _read_reference(texts: Sequence[str], columns: Columns) -> Any:
    """One reference for all columns, or one per column or crossing that is named before a ``=``."""
    parts = [_split(text, columns) for text in texts]
    if len(parts) == 1 and parts[0][0] is None:
        return parts[0][1]
    for text, (by, _) in zip(texts, parts, strict=True):
        if by is None:
            raise InvalidInput(f"if `reference` is repeated, it must be COLUMN=GROUP; got {brief(text)}")
    return _once("reference", parts)


def _split(text: str, columns: Columns) -> tuple[str | None, str]:
    """A text before and after the ``=`` that follows a column or a crossing; the last one that does."""
    for i in (i for i in reversed(range(len(text))) if text[i] == "="):
        parts = text[:i].split(" & ")
        if text[:i] in columns or (len(parts) > 1 and all(part in columns for part in parts)):
            return text[:i], _unquoted(text[i + 1 :])
    return None, _unquoted(text)


def _read_group_names(texts: Sequence[str], columns: Columns) -> dict[str, dict[str, str]]:
    names: dict[str, dict[str, str]] = {}
    for text in texts:
        column, rest = _column_of(text, columns)
        value, name = _before(rest, "=")
        if not name:
            raise InvalidInput(
                "`group_names` must be COLUMN:VALUE=NAME, such as RAC1P:1=White, with a value that contains = in "
                f"double quotes; got {brief(text)}"
            )
        if column not in columns:
            raise UnknownName.among("group column in `group_names`", column, columns)
        if value in names.setdefault(column, {}):
            raise InvalidInput(f"`group_names` names {brief(value)} of {brief(column)} twice")
        names[column][value] = name
    return names


def _column_of(text: str, columns: Columns) -> tuple[str, str]:
    """A column, which may contain a colon, and what follows."""
    found = max((name for name in columns if text.startswith(f"{name}:")), key=len, default=None)
    return _before(text, ":") if found is None else (found, text[len(found) + 1 :])


def _before(text: str, sign: str) -> tuple[str, str]:
    """The parts before and after a sign; the first may be in double quotes."""
    if text.startswith('"'):
        with suppress(ValueError):
            value, end = json.JSONDecoder().raw_decode(text)
            if text[end : end + 1] == sign:
                return str(value), text[end + 1 :]
    value, _, rest = text.partition(sign)
    return value, rest


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        with suppress(ValueError):
            return str(json.loads(text))
    return text


def _read_bins(texts: Sequence[str], _: Columns) -> dict[str, list[float]]:
    parts = []
    for text in texts:
        column, sign, cuts = text.rpartition("=")
        try:
            parts.append((column, [float(cut) for cut in cuts.split(",")] if sign else []))
        except ValueError:
            sign = ""
        if not sign:
            raise InvalidInput(f"`bins` must be COLUMN=CUT,CUT,... with numbers, such as age=25,45; got {brief(text)}")
    return _once("bins", parts)


def _read_models(texts: Sequence[str], _: Columns) -> dict[str, str]:
    parts = [_before(text, "=") for text in texts]
    for text, (name, column) in zip(texts, parts, strict=True):
        if not name or not column:
            raise InvalidInput(f"`models` must be NAME=COLUMN, such as old=p1; got {brief(text)}")
    return _once("models", parts)


def _once(name: str, parts: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """What is given by name, each once."""
    found: dict[Any, Any] = {}
    for by, value in parts:
        if by in found:
            raise InvalidInput(f"`{name}` names {brief(by)} twice")
        found[by] = value
    return found


def _read_strength(texts: Sequence[str], _: Columns) -> Any:
    (text,) = texts
    if text.strip() == "auto":
        return "auto"
    try:
        if "=" in text:
            return {name.strip(): float(value) for name, value in (part.split("=") for part in text.split(","))}
        return float(text)
    except ValueError:
        splits = ",".join(f"{split}=…" for split in SPLITS)
        must = f"be a number of cases, {splits}, or auto"
        raise InvalidInput(argument="strength", must=must, got=text[:60]) from None


def _read_whole_or_word(texts: Sequence[str], _: Columns) -> Any:
    (text,) = texts
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def _read_classes(texts: Sequence[str], _: Columns) -> Any:
    return "all" if list(texts) == ["all"] else list(dict.fromkeys(texts))


def _read_clauses(texts: Sequence[str], _: Columns) -> Any:
    """A text, or two clauses that a slash separates."""
    (text,) = texts
    parts = [part.strip() for part in text.split("/")]
    return parts[0] if len(parts) == 1 else parts


def _read_averages(texts: Sequence[str], _: Columns) -> list[str]:
    return [] if list(texts) == ["none"] else list(texts)


READERS: dict[str, Callable[[Sequence[str], Columns], Any]] = {
    "averages": _read_averages,
    "bins": _read_bins,
    "classes": _read_classes,
    "crossings": _read_whole_or_word,
    "decision": _read_clauses,
    "group_names": _read_group_names,
    "models": _read_models,
    "outcome": _read_clauses,
    "protect": _read_whole_or_word,
    "reference": _read_reference,
    "strength": _read_strength,
}
"""What reads a setting that is special."""
