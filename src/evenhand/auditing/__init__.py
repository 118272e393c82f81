"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .audits import Audit, audit, audit_counts
from .findings import KINDS, Finding, number, pvalue, several
from .provenance import command_of, spelled
from .row import Row, Sketch, labels
from .settings import METRICS, ReferenceKind, Settings
from .sweep import Sweep
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
    "Sweep",
    "Verdict",
    "audit",
    "audit_counts",
    "command_of",
    "labels",
    "number",
    "pvalue",
    "several",
    "spelled",
]
