"""The audit: every group and metric of a table of decisions, with a verdict for each."""

from __future__ import annotations

from .audit import Audit, audit, audit_counts
from .findings import KINDS, Finding
from .row import Row
from .settings import Settings

__all__ = ["KINDS", "Audit", "Finding", "Row", "Settings", "audit", "audit_counts"]
