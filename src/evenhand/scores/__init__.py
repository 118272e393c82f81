"""Metrics that need every score, such as the area under the ROC curve; functions of the user's own; and weights."""

from .areas import AreaUnderCurve, auc
from .audits import audit_scores
from .callables import audit_callable
from .comparisons import ScoreTest, auc_test
from .rows import ScoreAudit, ScoreRow
from .weights import EffectiveCounts, EffectiveGroup, effective_counts

__all__ = [
    "AreaUnderCurve",
    "EffectiveCounts",
    "EffectiveGroup",
    "ScoreAudit",
    "ScoreRow",
    "ScoreTest",
    "auc",
    "auc_test",
    "audit_callable",
    "audit_scores",
    "effective_counts",
]
