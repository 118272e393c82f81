"""The metrics: one catalogue of frozen records, their shapes and their undefined cases."""

from .catalogue import CATALOGUE, Catalogue, difference, f_beta, list_metrics, metric, ratio
from .holes import Holes, Part
from .metric import Contrast, Metric, OneGroup, Pair, Rank, Ratio, Share
from .tree import Tree
from .two_groups import Comparison, TwoGroups, Worst

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "Comparison",
    "Contrast",
    "Holes",
    "Metric",
    "OneGroup",
    "Pair",
    "Part",
    "Rank",
    "Ratio",
    "Share",
    "Tree",
    "TwoGroups",
    "Worst",
    "difference",
    "f_beta",
    "list_metrics",
    "metric",
    "ratio",
]
