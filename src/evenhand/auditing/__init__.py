"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .asked import described
from .audits import audit, audit_counts
from .comparisons import groupings_of
from .findings import INCLUDED, KINDS, SEVERITIES, Finding
from .judging import margins_text
from .models import compare_models
from .overall import Overall
from .record import command_of, options_of
from .repeat import protection_cost
from .requests import AuditRequest, CountsRequest, ModelsRequest
from .result import Audit
from .rows import (
    COLUMNS,
    Driver,
    Estimate,
    Gap,
    Impact,
    Reference,
    Row,
    Sketch,
    SmoothedScore,
    Strata,
    Test,
    Unknown,
    place_text,
    shown_names,
    told_apart,
)
from .schema import audit_schema
from .sentences import Headline, Tier, compared_with, headlines, needed_text, next_steps, tier, turning_text, untold
from .settings import AVERAGES, METRICS, WITHOUT_LABELS, ReferenceKind, Setting, Settings, settings_of
from .spelling import read_texts, spelled
from .verdicts import Verdict
from .watching import Watch, WatchRow
from .words import Words

__all__ = [
    "AVERAGES",
    "COLUMNS",
    "INCLUDED",
    "KINDS",
    "METRICS",
    "SEVERITIES",
    "WITHOUT_LABELS",
    "Audit",
    "AuditRequest",
    "CountsRequest",
    "Driver",
    "Estimate",
    "Finding",
    "Gap",
    "Headline",
    "Impact",
    "ModelsRequest",
    "Overall",
    "Reference",
    "ReferenceKind",
    "Row",
    "Setting",
    "Settings",
    "Sketch",
    "SmoothedScore",
    "Strata",
    "Test",
    "Tier",
    "Unknown",
    "Verdict",
    "Watch",
    "WatchRow",
    "Words",
    "audit",
    "audit_counts",
    "audit_schema",
    "command_of",
    "compare_models",
    "compared_with",
    "described",
    "groupings_of",
    "headlines",
    "margins_text",
    "needed_text",
    "next_steps",
    "options_of",
    "place_text",
    "protection_cost",
    "read_texts",
    "settings_of",
    "shown_names",
    "spelled",
    "tier",
    "told_apart",
    "turning_text",
    "untold",
]
