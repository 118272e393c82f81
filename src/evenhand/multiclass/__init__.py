"""More than two classes: the K x K confusion matrix, its scores, tests and undefined cases."""

from .matching import MulticlassMatch, match_each, multiclass_match
from .matrix import MulticlassConfusion, SmoothedClasses, one_against_rest
from .scores import ClassScores, MulticlassScore, class_scores, multiclass_score
from .summaries import Average, Summary, Undefined, parsed
from .tables import ClassTables, multiclass_tables
from .undefined_counts import count_undefined_classes

__all__ = [
    "Average",
    "ClassScores",
    "ClassTables",
    "MulticlassConfusion",
    "MulticlassMatch",
    "MulticlassScore",
    "SmoothedClasses",
    "Summary",
    "Undefined",
    "class_scores",
    "count_undefined_classes",
    "match_each",
    "multiclass_match",
    "multiclass_score",
    "multiclass_tables",
    "one_against_rest",
    "parsed",
]
