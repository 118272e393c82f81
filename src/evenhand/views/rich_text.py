"""An audit as rich prints it; the library is imported only if it asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..auditing import Audit
from ..errors import MissingExtra
from .text import as_text

__all__ = ["as_rich"]


@dataclass(frozen=True, slots=True)
class RichAudit:
    """The text of an audit, as wide as the console of rich and in its colours."""

    audit: Audit

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """The lines, which are wrapped already."""
        from rich.text import Text

        text = Text.from_ansi(as_text(self.audit, width=options.max_width, colour=True))
        text.no_wrap, text.overflow = True, "ignore"
        yield text


def as_rich(audit: Audit) -> RichAudit:
    """The audit as a renderable of rich."""
    from importlib.util import find_spec

    if find_spec("rich") is None:
        raise MissingExtra("printing an audit with rich needs rich: pip install rich")
    return RichAudit(audit)
