"""An audit as text, Markdown, a notebook table and a page; `Audit` imports these lazily."""

from .report import as_page
from .tables import as_html, as_markdown, as_text

__all__ = ["as_html", "as_markdown", "as_page", "as_text"]
