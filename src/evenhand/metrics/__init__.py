"""The metrics: one catalogue of frozen records, and what follows from them for K classes."""

from .catalogue import CATALOGUE, Catalogue, difference, f_beta, list_metrics, metric, ratio
from .class_scores import ClassScores, class_scores, parsed
from .class_summaries import (
    Accuracy,
    Average,
    Kappa,
    Macro,
    Mcc,
    Micro,
    OneClass,
    Summary,
    Undefined,
    Weighted,
    summary_asked,
    summary_of,
)
from .curves import DICE, ODDS, RATE, Curve
from .elsewhere import NOT_HERE, OTHER, SAME, Foreign
from .expressions import Expression
from .holes import Holes, Part
from .ranking import RANKING, RankingMetric, ranking_metric
from .shapes import Contrast, Kind, Metric, OneGroup, Pair, Quotient, Rank, Ratio, Share
from .tree import Tree
from .two_groups import Comparison, TwoGroups, Worst
from .words import Prediction, Way

__all__ = [
    "CATALOGUE",
    "DICE",
    "NOT_HERE",
    "ODDS",
    "OTHER",
    "RANKING",
    "RATE",
    "SAME",
    "Accuracy",
    "Average",
    "Catalogue",
    "ClassScores",
    "Comparison",
    "Contrast",
    "Curve",
    "Expression",
    "Foreign",
    "Holes",
    "Kappa",
    "Kind",
    "Macro",
    "Mcc",
    "Metric",
    "Micro",
    "OneClass",
    "OneGroup",
    "Pair",
    "Part",
    "Prediction",
    "Quotient",
    "Rank",
    "RankingMetric",
    "Ratio",
    "Share",
    "Summary",
    "Tree",
    "TwoGroups",
    "Undefined",
    "Way",
    "Weighted",
    "Worst",
    "class_scores",
    "difference",
    "f_beta",
    "list_metrics",
    "metric",
    "parsed",
    "ranking_metric",
    "ratio",
    "summary_asked",
    "summary_of",
]
