"""The confusion matrix of two or more classes, and the space of all confusion matrices.

Cells are always named, and where an order is needed it is ``tp, fn, fp, tn``.
No other order occurs in this library.
"""

from .class_matrix import MulticlassConfusion, SmoothedClasses, one_against_rest, require_same_labels
from .class_tables import ClassTables, multiclass_tables
from .classes import MOST_CLASSES, ClassReading, count_classes, read_classes
from .labels import MISSING_WORDS, Reading, count_labels, is_missing, is_sequence, listed, read_labels
from .matrix import CELLS, Cells, ConfusionMatrix, as_cells, count_text, whole_counts
from .space import as_size, compositions, count_cell_value, count_matrices, enumerate_matrices

__all__ = [
    "CELLS",
    "MISSING_WORDS",
    "MOST_CLASSES",
    "Cells",
    "ClassReading",
    "ClassTables",
    "ConfusionMatrix",
    "MulticlassConfusion",
    "Reading",
    "SmoothedClasses",
    "as_cells",
    "as_size",
    "compositions",
    "count_cell_value",
    "count_classes",
    "count_labels",
    "count_matrices",
    "count_text",
    "enumerate_matrices",
    "is_missing",
    "is_sequence",
    "listed",
    "multiclass_tables",
    "one_against_rest",
    "read_classes",
    "read_labels",
    "require_same_labels",
    "whole_counts",
]
