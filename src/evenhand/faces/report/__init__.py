"""An audit as a self-contained HTML page, which shows only what the audit contains."""

from __future__ import annotations

from .page import as_page

__all__ = ["as_page"]
