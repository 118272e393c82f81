"""Audits as text, Markdown, notebook views and pages; `Audit` and `Sweep` import these lazily."""

from .notebook import as_html
from .report import as_page
from .sweeps import sweep_html, sweep_markdown, sweep_page, sweep_text
from .tables import as_markdown
from .terminal import as_text

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
