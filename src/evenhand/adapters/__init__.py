"""Where this library meets others: scorers and a report for scikit-learn, frames and aggregates for fairlearn."""

from .fairlearn_frames import confusion_counts, from_metric_frame, metric_function
from .fairlearn_parity import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
)
from .sklearn_scorers import scorer
from .small_samples import ReportedClass, SmallSampleReport, small_sample_report

__all__ = [
    "ReportedClass",
    "SmallSampleReport",
    "confusion_counts",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "from_metric_frame",
    "metric_function",
    "scorer",
    "small_sample_report",
]
