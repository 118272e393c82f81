"""Names of groups as the page shows them: no control characters, no invisible ones, and no two that look alike."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from ...errors import printable

__all__ = ["shown", "told_apart"]

# A browser collapses spaces, and cannot show them at the ends of a line.
_HIDDEN_SPACE = re.compile(r"^ +| +$|(?<= ) +")


def shown(text: str) -> str:
    """A text from data, with characters that a reader could not see made visible."""
    return _HIDDEN_SPACE.sub(lambda spaces: "␣" * len(spaces[0]), printable(text)) or "(empty)"


def told_apart(names: Iterable[str]) -> list[str]:
    """The names as `shown`; those that a reader would take for one another are followed by their code points."""
    given = list(names)
    clear = [shown(name) for name in given]
    alike = Counter(map(_look, clear))
    return [
        f"{name} ({_points(raw)})" if alike[_look(name)] > 1 else name for raw, name in zip(given, clear, strict=True)
    ]


def _look(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


def _points(name: str) -> str:
    """The characters beyond ASCII as code points, or all of them if there are none."""
    beyond = [c for c in name if not c.isascii()] or list(name)
    return " ".join(f"U+{ord(c):04X}" for c in beyond) or "empty text"
