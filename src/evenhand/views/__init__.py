"""The views: an audit as a document, rendered as text, Markdown, for notebooks and as a page; and all plots."""

from __future__ import annotations

from .figures import (
    draw_audit,
    draw_distribution,
    draw_exploitable,
    draw_jaggedness,
    draw_match,
    draw_monitor,
    draw_plan,
    draw_risks,
)
from .markdown import as_markdown
from .narrative import finding_sentence
from .notebook import as_html
from .page import as_page, monitor_page
from .pipelines import as_annotations, as_junit
from .rich_text import as_rich
from .text import as_text, monitor_text
from .words import Words

__all__ = [
    "Words",
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
    "draw_monitor",
    "draw_plan",
    "draw_risks",
    "finding_sentence",
    "monitor_page",
    "monitor_text",
]
