"""Confusion matrices of two or more classes, and the set of all confusion matrices.

Cells are always named; where an order is needed it is ``tp, fn, fp, tn``.
"""

from .enumeration import as_size, count_cell_value, count_matrices, enumerate_matrices
from .labels import MISSING_WORDS, LabelCoding, is_missing, read_classes, read_labels
from .matrix import CELLS, Cells, ConfusionMatrix, as_cells, require_cases, require_counts
from .multiclass import MulticlassConfusion, one_vs_rest, require_same_labels
