"""What functions return. This list is the only one: ``results.py`` reads it."""

from .auditing import (
    Audit as Audit,
    Finding as Finding,
    MonitorRow as MonitorRow,
    Row as Row,
    Verdict as Verdict,
)
from .distributions import Distribution as Distribution
from .inference import (
    BiasVariance as BiasVariance,
    Disparity as Disparity,
    Estimator as Estimator,
    Interval as Interval,
    MatchResult as MatchResult,
    PriorCheck as PriorCheck,
    Risk as Risk,
    Risks as Risks,
    Smoothed as Smoothed,
    SmoothedClasses as SmoothedClasses,
    Stratum as Stratum,
    StressTest as StressTest,
    UndefinedRow as UndefinedRow,
)
from .metrics import Metric as Metric
from .planning import ExploitableSizes as ExploitableSizes, Jaggedness as Jaggedness, Plan as Plan
from .small_samples import ReportedClass as ReportedClass, SmallSampleReport as SmallSampleReport

__all__: tuple[str, ...]
