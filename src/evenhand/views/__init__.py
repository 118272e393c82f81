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
    draw_watch,
)
from .markdown import as_markdown
from .notebook import as_html
from .page import as_page, watch_page
from .pipelines import as_annotations, as_junit
from .rich_text import as_rich
from .text import as_text, watch_text

__all__ = [
    "as_annotations",
    "as_html",
    "as_junit",
    "as_markdown",
    "as_page",
    "as_rich",
    "as_text",
    "draw_audit",
    "draw_distribution",
    "draw_exploitable",
    "draw_jaggedness",
    "draw_match",
    "draw_plan",
    "draw_risks",
    "draw_watch",
    "watch_page",
    "watch_text",
]
