"""What functions return: for annotations and ``isinstance``. Nobody needs to construct them."""

from .adapters import ReportedClass, SmallSampleReport
from .auditing import (
    Audit,
    Finding,
    MonitorRow,
    Row,
    Verdict,
)
from .distributions import Distribution
from .inference import (
    BiasVariance,
    Disparity,
    Estimator,
    Interval,
    MatchResult,
    PriorCheck,
    Risk,
    Risks,
    Smoothed,
    SmoothedClasses,
    Spread,
    Stratum,
    StressTest,
    UndefinedRow,
)
from .metrics import Metric
from .planning import ExploitableSizes, Jaggedness, Plan

__all__ = [
    "Audit",
    "BiasVariance",
    "Disparity",
    "Distribution",
    "Estimator",
    "ExploitableSizes",
    "Finding",
    "Interval",
    "Jaggedness",
    "MatchResult",
    "Metric",
    "MonitorRow",
    "Plan",
    "PriorCheck",
    "ReportedClass",
    "Risk",
    "Risks",
    "Row",
    "SmallSampleReport",
    "Smoothed",
    "SmoothedClasses",
    "Spread",
    "Stratum",
    "StressTest",
    "UndefinedRow",
    "Verdict",
]
