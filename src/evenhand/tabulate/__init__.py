"""From any table to counts per group.

The engine that holds the data counts its rows; labels are interpreted on the few rows that it returns.
"""

from .columns import check_second_class, count, group_columns
from .counting import CountedRows, counted
from .counts_file import counts_frame, decoded, read_counts, read_counts_file
from .files import first_rows, input_files
from .formats import FORMATS, accepted_endings, any_of, ending_by_content, ending_of, names_of
from .frames import plain
from .model_pairs import ModelPair, paired
from .ordering import Key, in_order, ordered
from .slices import Answers, Needs, as_counts, tabulated
from .tally import PartKind, Place, Rows, RowTable, Slice, Tally, total

__all__ = [
    "FORMATS",
    "Answers",
    "CountedRows",
    "Key",
    "ModelPair",
    "Needs",
    "PartKind",
    "Place",
    "RowTable",
    "Rows",
    "Slice",
    "Tally",
    "accepted_endings",
    "any_of",
    "as_counts",
    "check_second_class",
    "count",
    "counted",
    "counts_frame",
    "decoded",
    "ending_by_content",
    "ending_of",
    "first_rows",
    "group_columns",
    "in_order",
    "input_files",
    "names_of",
    "ordered",
    "paired",
    "plain",
    "read_counts",
    "read_counts_file",
    "tabulated",
    "total",
]
