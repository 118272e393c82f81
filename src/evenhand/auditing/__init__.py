"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .audits import Audit, audit, audit_counts
from .findings import KINDS, Finding, number, pvalue, several
from .groups import ReferenceKind
from .row import Row, Sketch, labels
from .settings import METRICS, Settings
from .verdict import Verdict

__all__ = [
    "KINDS",
    "METRICS",
    "Audit",
    "Finding",
    "ReferenceKind",
    "Row",
    "Settings",
    "Sketch",
    "Verdict",
    "audit",
    "audit_counts",
    "labels",
    "number",
    "pvalue",
    "several",
]
