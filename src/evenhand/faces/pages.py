"""Audits as text, Markdown, notebook tables and pages; `Audit` and `Sweep` import these lazily."""

from .report import as_page
from .sweeps import sweep_html, sweep_markdown, sweep_page, sweep_text
from .tables import as_html, as_markdown, as_text

__all__ = [
    "as_html",
    "as_markdown",
    "as_page",
    "as_text",
    "sweep_html",
    "sweep_markdown",
    "sweep_page",
    "sweep_text",
]
