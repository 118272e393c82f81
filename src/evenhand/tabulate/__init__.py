"""From any table to counts per group.

The engine that holds the data counts its rows; labels are interpreted on the few rows that it returns.
"""

from .columns import check_second_class, count, group_columns
from .counting import CountedRows, counted
from .counts_file import counts_frame, decoded, read_counts, read_counts_file
from .files import columns_again, first_rows, input_files
from .formats import FORMATS, accepted_endings, any_of, ending_by_content, ending_of, names_of
from .frames import plain
from .looks import first_columns, repeated_identifier
from .model_pairs import ModelPair, paired
from .ordering import Key, in_order, ordered
from .protection import RULES, TOLD, RoundedMatrix, Rule, ends_of, rule_of
from .roles import guessed_positive, guessed_roles, kind_of, two_valued
from .slices import Answers, Needs, as_counts, tabulated
from .spellings import looking_alike
from .streams import held, spooled
from .tally import PartKind, Place, Rows, RowTable, Slice, Tally, UnitMatrix, total
from .values import named_columns

__all__ = [
    "FORMATS",
    "RULES",
    "TOLD",
    "Answers",
    "CountedRows",
    "Key",
    "ModelPair",
    "Needs",
    "PartKind",
    "Place",
    "RoundedMatrix",
    "RowTable",
    "Rows",
    "Rule",
    "Slice",
    "Tally",
    "UnitMatrix",
    "accepted_endings",
    "any_of",
    "as_counts",
    "check_second_class",
    "columns_again",
    "count",
    "counted",
    "counts_frame",
    "decoded",
    "ending_by_content",
    "ending_of",
    "ends_of",
    "first_columns",
    "first_rows",
    "group_columns",
    "guessed_positive",
    "guessed_roles",
    "held",
    "in_order",
    "input_files",
    "kind_of",
    "looking_alike",
    "named_columns",
    "names_of",
    "ordered",
    "paired",
    "plain",
    "read_counts",
    "read_counts_file",
    "repeated_identifier",
    "rule_of",
    "spooled",
    "tabulated",
    "total",
    "two_valued",
]
