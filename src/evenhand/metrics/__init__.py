"""The metrics: one catalogue of frozen records, with their shapes and undefined cases."""

from .catalogue import CATALOGUE, Catalogue, difference, f_beta, list_metrics, metric, ratio
from .curves import DICE, ODDS, RATE, Curve
from .elsewhere import NOT_HERE, OTHER, SAME, Foreign
from .expressions import Expression
from .holes import Holes, Part
from .shapes import Contrast, Kind, Metric, OneGroup, Pair, Quotient, Rank, Ratio, Share
from .tree import Tree
from .two_groups import Comparison, TwoGroups, Worst

__all__ = [
    "CATALOGUE",
    "DICE",
    "NOT_HERE",
    "ODDS",
    "OTHER",
    "RATE",
    "SAME",
    "Catalogue",
    "Comparison",
    "Contrast",
    "Curve",
    "Expression",
    "Foreign",
    "Holes",
    "Kind",
    "Metric",
    "OneGroup",
    "Pair",
    "Part",
    "Quotient",
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
