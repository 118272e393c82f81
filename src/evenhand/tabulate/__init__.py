"""From any table to counts per group.

The engine that holds the data counts its rows; labels are interpreted on the few rows that it returns.
"""

from .columns import count, group_columns
from .counts import CountedRows, as_counts, tabulate, tabulate_each, tabulate_rows
from .counts_file import decoded, read_counts, read_counts_file
from .files import first_rows, input_files
from .frames import plain
from .scored import ScoredRows, grouped_values, scored_rows
from .tally import Key, Tally, in_order

__all__ = [
    "CountedRows",
    "Key",
    "ScoredRows",
    "Tally",
    "as_counts",
    "count",
    "decoded",
    "first_rows",
    "group_columns",
    "grouped_values",
    "in_order",
    "input_files",
    "plain",
    "read_counts",
    "read_counts_file",
    "scored_rows",
    "tabulate",
    "tabulate_each",
    "tabulate_rows",
]
