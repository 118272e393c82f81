"""The audit: a verdict for every group and metric of a table of decisions."""

from __future__ import annotations

from .audits import audit, audit_counts
from .findings import INCLUDED, KINDS, SEVERITIES, Finding
from .groupings import cells_by_group
from .margins import margins_text
from .metric_selection import lookup_metric, select_averages
from .models import compare
from .monitor import Monitor, MonitorRow
from .option_text import option_texts, read_texts
from .overall import Overall
from .repeat import protection_cost
from .result import Audit
from .rows import (
    COLUMNS,
    Driver,
    Estimate,
    Gap,
    Impact,
    Reference,
    Row,
    SmoothedScore,
    Strata,
    Unknown,
    place_text,
    shown_names,
    told_apart,
)
from .schema import audit_schema
from .sentences import Headline, Tier, compared_with, headlines, needed_text, next_steps, tier, turning_text, untold
from .settings import (
    METRICS,
    REPORT,
    WITHOUT_LABELS,
    AuditRequest,
    CountsRequest,
    ModelsRequest,
    ReferenceKind,
    Setting,
    Settings,
    flat_settings,
    join_parts,
    part_names,
)
from .verdict import Verdict
from .wording import Words, direction_text

__all__ = [
    "COLUMNS",
    "INCLUDED",
    "KINDS",
    "METRICS",
    "REPORT",
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
    "Monitor",
    "MonitorRow",
    "Overall",
    "Reference",
    "ReferenceKind",
    "Row",
    "Setting",
    "Settings",
    "SmoothedScore",
    "Strata",
    "Tier",
    "Unknown",
    "Verdict",
    "Words",
    "audit",
    "audit_counts",
    "audit_schema",
    "cells_by_group",
    "compare",
    "compared_with",
    "direction_text",
    "flat_settings",
    "headlines",
    "join_parts",
    "lookup_metric",
    "margins_text",
    "needed_text",
    "next_steps",
    "option_texts",
    "part_names",
    "place_text",
    "protection_cost",
    "read_texts",
    "select_averages",
    "shown_names",
    "tier",
    "told_apart",
    "turning_text",
    "untold",
]
