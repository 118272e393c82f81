"""Where this library meets others: scorers and a report for scikit-learn, frames and aggregates for fairlearn."""

from .aggregates import Aggregate
from .controls import ControlledAudit, LevelAudit, PooledRow, audit_within
from .fairlearn_names import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
)
from .group_summaries import GroupSummaries, summaries
from .metric_frames import frame_counts, frame_metric, from_metric_frame
from .paired_models import GroupChange, ModelComparison, ModelComparisons, compare_models, compare_several_models
from .scorers import scorer
from .small_samples import ReportedClass, SmallSampleReport, small_sample_report
from .strata import StratifiedTest, Stratum, stratified_test

__all__ = [
    "Aggregate",
    "ControlledAudit",
    "GroupChange",
    "GroupSummaries",
    "LevelAudit",
    "ModelComparison",
    "ModelComparisons",
    "PooledRow",
    "ReportedClass",
    "SmallSampleReport",
    "StratifiedTest",
    "Stratum",
    "audit_within",
    "compare_models",
    "compare_several_models",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "frame_counts",
    "frame_metric",
    "from_metric_frame",
    "scorer",
    "small_sample_report",
    "stratified_test",
    "summaries",
]
