"""The metrics: a catalogue of frozen records, and averages over K classes."""

from .aliases import FALSE_FRIENDS
from .catalogue import (
    CATALOGUE,
    ONE_GROUP_METRICS,
    PAPER_METRICS,
    difference,
    f_beta,
    list_metrics,
    metric,
    ratio,
)
from .class_averages import (
    Average,
    ClassAverage,
    Undefined,
    class_average,
    class_average_of,
    score_classes,
)
from .group_comparison import GroupComparison, LargestGap
from .ranking_metrics import RANKING_METRICS, RankingMetric, ranking_metric
from .record import Curve, Direction, GapKind, Metric, OneGroupMetric, Prediction
from .tree import ROW_TREE, Tree, sum_cells
from .undefined_sets import Part, UndefinedSet, proportional_matrices
