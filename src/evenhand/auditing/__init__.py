"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .adjust import benjamini_hochberg, holm
from .audits import audit, audit_counts
from .classes import AVERAGES, AverageRow, ClassAudit, audit_classes
from .findings import KINDS, Finding, number, pvalue, several
from .levels import AuditedLevels, Level, audit_levels
from .meanings import Meaning, meaning, of_people, worse_way
from .provenance import command_of, spelled
from .result import Audit, frame_of
from .row import Row, Sketch, labels
from .settings import METRICS, WITHOUT_LABELS, ReferenceKind, Settings
from .summary import Headline, Tier, compared_with, headlines, needed_text, tier, untold
from .sweep import Sweep
from .verdict import Verdict

__all__ = [
    "AVERAGES",
    "KINDS",
    "METRICS",
    "WITHOUT_LABELS",
    "Audit",
    "AuditedLevels",
    "AverageRow",
    "ClassAudit",
    "Finding",
    "Headline",
    "Level",
    "Meaning",
    "ReferenceKind",
    "Row",
    "Settings",
    "Sketch",
    "Sweep",
    "Tier",
    "Verdict",
    "audit",
    "audit_classes",
    "audit_counts",
    "audit_levels",
    "benjamini_hochberg",
    "command_of",
    "compared_with",
    "frame_of",
    "headlines",
    "holm",
    "labels",
    "meaning",
    "needed_text",
    "number",
    "of_people",
    "pvalue",
    "several",
    "spelled",
    "tier",
    "untold",
    "worse_way",
]
