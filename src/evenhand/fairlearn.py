"""For fairlearn: metrics inside a `MetricFrame`, audits of such frames, and gaps under fairlearn's names."""

from .adapters import (
    confusion_counts,
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    from_metric_frame,
    metric_function,
)

__all__ = [
    "confusion_counts",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "from_metric_frame",
    "metric_function",
]
