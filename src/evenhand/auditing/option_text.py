"""Settings as the texts of options and form fields, and back.

A name that contains a sign with a meaning, such as ``=``, stands in double quotes, as in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..errors import InvalidInput, UnknownName, brief

Texts = Sequence[str]
_FORMS = {
    "bins": "COLUMN=CUT,CUT,... with numbers, such as age=25,45",
    "goal": "METRIC>=SCORE, METRIC<=SCORE or METRIC=SCORE, such as tpr>=0.8",
    "group_names": 'COLUMN:VALUE=NAME, such as RAC1P:1=White or race:"a=b"=White',
    "models": "NAME=COLUMN, such as old=p1",
    "results": "NAME=COLUMN, such as old=old_correct",
    "reference": "COLUMN=GROUP if it is repeated",
    "strength": "a number of cases, prev=…,tpr=…,fpr=…, or auto",
}


def option_texts(name: str, table: Mapping[str, Any]) -> list[str]:
    """The values of an option for a setting that is a table, as a config file has it.

    >>> option_texts("bins", {"age": [25, 45]}), option_texts("group_names", {"sex": {"1": "men"}})
    (['age=25,45'], ['sex:1=men'])
    """
    if name == "group_names":
        parts = [(_quote(column, ":"), option_texts("", names)) for column, names in table.items()]
        return [f"{column}:{text}" for column, texts in parts for text in texts]
    if name == "require":
        groups = [(by, as_list(value)) for by, value in table.items()]
        return [f"{_quote(by, '=')}={group}" for by, named in groups for group in named]
    texts = []
    for key, value in table.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else value
        texts.append(f"{_quote(key, '=')}={text}")
    return [",".join(texts)] if name == "strength" else texts


def _quote(name: str, sign: str) -> str:
    """A name as it stands before a sign."""
    is_plain = sign not in name and not name.startswith('"')
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _partition(text: str, sign: str) -> tuple[str, str]:
    """What stands before and after a sign; the first may be in double quotes."""
    with suppress(ValueError):
        if text.startswith('"'):
            name, end = json.JSONDecoder().raw_decode(text)
            if text[end : end + 1] == sign:
                return name, text[end + 1 :]
    name, _, rest = text.partition(sign)
    return name, rest


def read_texts(name: str, texts: Texts, columns: Texts = ()) -> Any:
    """The value of a setting from the values of its option, of which some name group columns."""
    return READERS[name](texts, columns)


def _read_table(name: str, texts: Texts, read: Callable[[str], object] = str) -> dict[str, object]:
    """A table from texts such as ``key=value``."""
    table: dict[str, object] = {}
    for text in texts:
        key, rest = _partition(text, "=")
        if key in table:
            raise InvalidInput(f"`{name}` names {brief(key)} twice")
        with suppress(ValueError):
            table[key] = read(rest)
        if not (rest and key and key in table):
            raise InvalidInput(argument=name, must=f"be {_FORMS[name]}", got=text)
    return table


def _read_goals(texts: Texts, _: Texts) -> dict[str, object]:
    """Goals by metric, with their signs; ``tpr>=0.8`` is read as ``tpr=>=0.8``, as `option_texts` writes it."""
    return _read_table(
        "goal", [re.sub(r"(?<!=)\s*([<>])=", r"=\1=", text, count=1) for text in texts]
    )


def as_list(value: Any) -> list[Any]:
    """The members of a list or tuple, or a single value."""
    return list(value) if isinstance(value, list | tuple) else [value]


def read_required(texts: Texts) -> dict[str, list[str]]:
    """The required groups by column, from texts such as ``region=west``.

    >>> read_required(["region=west", "region=a=b"])
    {'region': ['west', 'a=b']}
    """
    required: dict[str, list[str]] = {}
    for text in texts:
        by, group = _partition(text, "=")
        if not (by and group):
            raise InvalidInput(argument="require", must="be COLUMN=GROUP", got=text)
        required.setdefault(by, []).append(group)
    return required


def _read_reference(texts: Texts, columns: Texts) -> object:
    """One reference for all columns, or one for each column or intersection."""
    by, _ = _partition(texts[0], "=")
    if len(texts) > 1 or by in columns or set(by.split(" & ")) <= set(columns):
        return _read_table("reference", texts)
    return _partition(f"{texts[0]}=", "=")[0] if texts[0].startswith('"') else texts[0]


def _read_group_names(texts: Texts, columns: Texts) -> dict[str, dict[str, object]]:
    """By column, the names of its values."""
    parts: dict[str, list[str]] = {}
    for column, rest in (_partition(text, ":") for text in texts):
        if column not in columns:
            raise UnknownName.among("group column in `group_names`", column, columns)
        parts.setdefault(column, []).append(rest)
    return {column: _read_table("group_names", part) for column, part in parts.items()}


def _read_strength(texts: Texts, _: Texts) -> object:
    text = texts[0].strip()
    with suppress(ValueError):
        return text if text == "auto" else float(text)
    return _read_table("strength", [part.strip() for part in text.split(",")], float)


def _read_clauses(texts: Texts, _: Texts) -> object:
    """A text, or two clauses that a slash separates."""
    parts = [part.strip() for part in texts[0].split("/")]
    return parts if len(parts) > 1 else parts[0]


def _read_whole_or_word(texts: Texts, _: Texts) -> object:
    text = texts[0]
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text


def _read_cuts(text: str) -> list[float]:
    return [*map(float, text.split(","))]


# What reads a special setting.
READERS: dict[str, Callable[[Texts, Texts], Any]] = {
    "bins": lambda texts, _: _read_table("bins", texts, _read_cuts),
    "classes": lambda texts, _: "all" if [*texts] == ["all"] else list(dict.fromkeys(texts)),
    "goal": _read_goals,
    "group_names": _read_group_names,
    "models": lambda texts, _: _read_table("models", texts),
    "results": lambda texts, _: _read_table("results", texts),
    "reference": _read_reference,
    "strength": _read_strength,
    **dict.fromkeys(("decision", "outcome"), _read_clauses),
    **dict.fromkeys(("intersections", "protect"), _read_whole_or_word),
}
