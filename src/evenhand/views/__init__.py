"""The views: an audit as a document, rendered as text, Markdown, for notebooks and as a page; and all plots."""

from __future__ import annotations

from .figures import (
    draw_audit,
    draw_distribution,
    draw_exploitable,
    draw_jaggedness,
    draw_match,
    draw_plan,
    draw_risks,
)
from .markdown import as_markdown
from .notebook import as_html
from .page import as_page
from .text import as_text

__all__ = [
    "as_html",
    "as_markdown",
    "as_page",
    "as_text",
    "draw_audit",
    "draw_distribution",
    "draw_exploitable",
    "draw_jaggedness",
    "draw_match",
    "draw_plan",
    "draw_risks",
]
