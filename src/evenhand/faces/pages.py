"""Audits as text, Markdown, notebook views and pages; `Audit`, `Sweep` and `ClassAudit` import these lazily."""

from __future__ import annotations

from collections.abc import Callable

from ..auditing import ClassAudit, Series, Sweep
from . import series
from .class_pages import view_of_classes
from .notebook import as_html
from .report import as_page
from .sweeps import view_of_sweep
from .tables import as_markdown
from .terminal import as_text

__all__ = [
    "as_html",
    "as_markdown",
    "as_page",
    "as_text",
    "series_html",
    "series_markdown",
    "series_page",
    "series_text",
]


_VIEWS: dict[type[Series], Callable[..., series.View]] = {Sweep: view_of_sweep, ClassAudit: view_of_classes}


def _view(audits: Series) -> series.View:
    return _VIEWS[type(audits)](audits)


def series_text(audits: Series, most: int | None = None) -> str:
    """Several audits as text, with at most ``most`` groups per table."""
    return series.text(_view(audits), most)


def series_markdown(audits: Series) -> str:
    """Several audits as Markdown."""
    return series.markdown(_view(audits))


def series_html(audits: Series) -> str:
    """Several audits as notebooks show them."""
    return series.html(_view(audits))


def series_page(audits: Series) -> str:
    """Several audits as a self-contained page."""
    return series.page(_view(audits))
