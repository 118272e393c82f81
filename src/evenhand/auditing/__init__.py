"""The audit: a verdict for every group and metric of a table of decisions."""

from .audits import audit, audit_counts, compare
from .changes import protection_cost
from .comparisons import MIN_SHARE
from .findings import GOAL_KINDS, KINDS, SEVERITIES, Finding
from .gates import GATES, GateResult, check_gates
from .metric_selection import lookup_metric, select_averages
from .monitor import Monitor, MonitorRow
from .option_text import option_texts, read_required, read_texts
from .result import Audit
from .results_table import COLUMNS, Row, place_text, shown_names, told_apart
from .saved import audit_schema
from .settings import (
    DEFAULT_MARGIN,
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
from .verdicts import margin_of, margins_text
