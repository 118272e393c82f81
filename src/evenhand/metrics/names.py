"""The form in which names are compared."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["plain_name"]


def plain_name(name: str) -> str:
    """``name`` in lower case, without typography, hyphens and underscores."""
    text = unicodedata.normalize("NFKC", name).casefold().replace("’", "'").replace("−", "-")
    # A trailing sign is part of a name (LR+, LR-); a hyphen between letters is not.
    return re.sub(r"(?:[\s_]|[-–—](?=\w))+", " ", text).strip()
