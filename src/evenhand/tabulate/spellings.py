"""Names of groups that look alike: spellings of one name, which may be joined, and lookalikes, which are only named."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .ordering import Key

__all__ = ["joined", "looking_alike"]

# Letters of other scripts that look like Latin ones, in the case in which they do.
_LOOKALIKES = str.maketrans(
    "АВЕКМНОРСТУХІЈЅаеорсухіјѕԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορι", "ABEKMHOPCTYXIJSaeopcyxijsdhABEZHIKMNOPTYXavopi"
)


def joined(rows: Mapping[Key, Any], columns: int, *, first: bool = False) -> dict[Key, Any]:
    r"""The rows with all spellings of a name in the first columns as the one that occurs in most rows.

    With ``first``, it is the first one in order, which says nothing of how often it occurs. Spellings are the same in
    what NFKC, case and white space leave of them. Rows that become the same are added.

    >>> joined({("White", 1): 5, ("white ", 1): 2, ("Black", 0): 1, ("Black\u00a0", 0): 1}, 1)
    {('White', 1): 7, ('Black', 0): 2}
    """
    names = [_spelling(rows, i, first) for i in range(columns)]
    found: dict[Key, Any] = {}
    for row, n in rows.items():
        key = (*(name.get(value, value) for name, value in zip(names, row, strict=False)), *row[columns:])
        found[key] = found[key] + n if key in found else n
    return found


def looking_alike(values: Iterable[Any]) -> list[list[str]]:
    """The texts that differ in case, white space, the way they are encoded, or letters of other scripts only.

    >>> looking_alike(["White", "Black", "white ", 1])
    [['White', 'white ']]
    """
    found: dict[str, list[str]] = {}
    for value in sorted(value for value in values if isinstance(value, str)):
        found.setdefault(_skeleton(value), []).append(value)
    return [alike for alike in found.values() if len(alike) > 1]


def _spelling(rows: Mapping[Key, Any], at: int, first: bool) -> dict[Any, str]:
    """The most frequent spelling of each text in a column, or just the first; the first of several."""
    times: Counter[str] = Counter()
    for row, n in rows.items():
        if isinstance(row[at], str):
            times[row[at]] += n if isinstance(n, int) else n.n
    best: dict[str, str] = {}
    for text in sorted(times):
        known = best.setdefault(_folded(text), text)
        if times[text] > times[known] and not first:
            best[_folded(text)] = text
    return {text: best[_folded(text)] for text in times}


def _folded(text: str) -> str:
    """A text without the differences that encodings, case and white space make."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _skeleton(text: str) -> str:
    """What is seen of a text: also without characters that take no space, and with lookalikes as Latin letters."""
    visible = "".join(c for c in text.translate(_LOOKALIKES) if unicodedata.category(c) != "Cf")
    return _folded(visible)
