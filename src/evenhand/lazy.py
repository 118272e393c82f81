"""What lower rooms find in higher ones only when it is asked for, by name rather than by import."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["figures", "notebook", "pages"]


def figures() -> ModuleType:
    """The room that draws, which needs Matplotlib (extra ``plots``)."""
    return import_module("evenhand.faces.figures")


def notebook() -> ModuleType:
    """The room that renders results as notebooks show them."""
    return import_module("evenhand.faces.notebook")


def pages() -> ModuleType:
    """The room that renders audits as text, Markdown and HTML."""
    return import_module("evenhand.faces.pages")
