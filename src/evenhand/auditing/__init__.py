"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .adjust import benjamini_hochberg, holm
from .audits import audit, audit_counts
from .class_result import AverageRow, ClassAudit, classes_text
from .classes import AVERAGES, audit_classes
from .findings import KINDS, Finding, number, pvalue, several
from .levels import AuditedLevels, Level, audit_levels
from .meanings import Meaning, meaning, of_people, worse_way
from .provenance import command_of, spelled
from .result import Audit, frame_of
from .row import Row, Sketch, labels
from .saved import saved_audit
from .series import Series
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
    "Series",
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
    "classes_text",
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
    "saved_audit",
    "several",
    "spelled",
    "tier",
    "untold",
    "worse_way",
]
