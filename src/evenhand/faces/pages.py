"""An audit as text, Markdown, a notebook view and a page; `Audit` imports these lazily."""

from .notebook import as_html
from .report import as_page
from .tables import as_markdown
from .terminal import as_text

__all__ = ["as_html", "as_markdown", "as_page", "as_text"]
