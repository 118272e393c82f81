"""Settings as text of options and fields: a name with a sign that separates stands in double quotes, as in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..errors import InvalidInput, UnknownName, brief
from ..inference import SPLITS

__all__ = ["option_texts", "read_texts"]

Columns = Sequence[str]


def option_texts(name: str, table: Mapping[str, Any]) -> list[str]:
    """The values of an option for a setting that is a table, as a config file has it.

    >>> option_texts("bins", {"age": [25, 45]}), option_texts("group_names", {"sex": {"1": "men"}})
    (['age=25,45'], ['sex:1=men'])
    """
    if name == "group_names":
        names = ((by, code, called) for by, codes in table.items() for code, called in codes.items())
        return [f"{_quoted(by, ':')}:{_quoted(code, ':=')}={called}" for by, code, called in names]
    texts = []
    for key, value in table.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        text = _quoted(text, "=") if name == "reference" and not isinstance(value, list) else text
        texts.append(f"{_quoted(key, '=') if name == 'models' else key}={text}")
    return [",".join(texts)] if name == "strength" else texts


def _quoted(text: str, signs: str) -> str:
    """A text before some signs; in quotes if it contains one of them."""
    return json.dumps(text, ensure_ascii=False) if set(text) & set(signs) or text.startswith('"') else text


def read_texts(name: str, texts: Sequence[str], columns: Columns = ()) -> Any:
    """The value of a setting from the values of its option.

    ``columns`` are the group columns, which say where the name of a column ends in a text.
    """
    return _READERS[name](texts, columns)


def _read_reference(texts: Sequence[str], columns: Columns) -> Any:
    """One reference for all columns, or one per column or intersection that is named before a ``=``."""
    parts = [_split_reference(text, columns) for text in texts]
    if len(parts) == 1 and parts[0][0] is None:
        return parts[0][1]
    for text, (by, _) in zip(texts, parts, strict=True):
        if by is None:
            raise InvalidInput(f"if `reference` is repeated, it must be COLUMN=GROUP; got {brief(text)}")
    return _unique("reference", parts)


def _split_reference(text: str, columns: Columns) -> tuple[str | None, str]:
    """A text before and after the ``=`` that follows a column or an intersection; the last one that does."""
    for i in (i for i in reversed(range(len(text))) if text[i] == "="):
        parts = text[:i].split(" & ")
        if text[:i] in columns or (len(parts) > 1 and all(part in columns for part in parts)):
            return text[:i], _unquoted(text[i + 1 :])
    return None, _unquoted(text)


def _read_group_names(texts: Sequence[str], columns: Columns) -> dict[str, dict[str, str]]:
    names: dict[str, dict[str, str]] = {}
    for text in texts:
        # A column may contain a colon.
        known = max((name for name in columns if text.startswith(f"{name}:")), key=len, default=None)
        column, rest = _partition(text, ":") if known is None else (known, text[len(known) + 1 :])
        value, name = _partition(rest, "=")
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


def _partition(text: str, sign: str) -> tuple[str, str]:
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
    return _unique("bins", parts)


def _read_models(texts: Sequence[str], _: Columns) -> dict[str, str]:
    parts = [_partition(text, "=") for text in texts]
    for text, (name, column) in zip(texts, parts, strict=True):
        if not name or not column:
            raise InvalidInput(f"`models` must be NAME=COLUMN, such as old=p1; got {brief(text)}")
    return _unique("models", parts)


def _unique(name: str, parts: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """What is given by name, each once."""
    values: dict[Any, Any] = {}
    for by, value in parts:
        if by in values:
            raise InvalidInput(f"`{name}` names {brief(by)} twice")
        values[by] = value
    return values


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


_READERS: dict[str, Callable[[Sequence[str], Columns], Any]] = {
    "bins": _read_bins,
    "classes": _read_classes,
    "decision": _read_clauses,
    "group_names": _read_group_names,
    "intersections": _read_whole_or_word,
    "models": _read_models,
    "outcome": _read_clauses,
    "protect": _read_whole_or_word,
    "reference": _read_reference,
    "strength": _read_strength,
}
"""What reads a setting that is special."""
