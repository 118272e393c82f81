"""The names under which groups appear: legible, and no two that look alike.

Names come from data and are not trusted: control characters, also those that reverse text, are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar
from unicodedata import normalize

from ..auditing import Audit, told_apart as by_column
from ..errors import printable

__all__ = ["legible", "names_of", "told_apart"]

Key = TypeVar("Key")
_LONGEST = 400


def names_of(audit: Audit) -> dict[tuple[str, str], str]:
    """The text that stands for each column and group; the column is added if several have a group of that name."""
    return told_apart({key: legible(name) for key, name in by_column(audit.rows).items()})


def _look(name: str) -> object:
    return normalize("NFKC", name)


def told_apart(names: Mapping[Key, str], look: Callable[[str], object] = _look) -> dict[Key, str]:
    """The names, with a number behind those that look the same as one before."""
    taken = {look(name) for name in names.values()}
    shown: dict[Key, str] = {}
    used: set[object] = set()
    for key, name in names.items():
        unique, i = name, 1
        while look(unique) in used or (i > 1 and look(unique) in taken):
            i += 1
            unique = f"{name} ({i})"
        used.add(look(unique))
        shown[key] = unique
    return shown


def legible(name: str) -> str:
    """A name in which nothing is hidden: blanks at an end or beside each other are shown as ␣; long ones are cut."""
    text = printable(name)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return re.sub(r"^ +| +$| {2,}", lambda blanks: "␣" * len(blanks[0]), text) or "''"
