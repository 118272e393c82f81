"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .audits import Audit, audit, audit_counts
from .findings import KINDS, Finding, number, pvalue, several
from .groups import ReferenceKind
from .meanings import Meaning, meaning, of_people, worse_way
from .row import Row, Sketch, labels
from .settings import METRICS, Settings
from .summary import Headline, Tier, headlines, needed_text, tier, untold
from .verdict import Verdict

__all__ = [
    "KINDS",
    "METRICS",
    "Audit",
    "Finding",
    "Headline",
    "Meaning",
    "ReferenceKind",
    "Row",
    "Settings",
    "Sketch",
    "Tier",
    "Verdict",
    "audit",
    "audit_counts",
    "headlines",
    "labels",
    "meaning",
    "needed_text",
    "number",
    "of_people",
    "pvalue",
    "several",
    "tier",
    "untold",
    "worse_way",
]
