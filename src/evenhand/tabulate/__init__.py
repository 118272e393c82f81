"""From any table to counts per group.

The engine that holds the data counts its rows; labels are interpreted on the few rows that it returns.
"""

from .counts import Tally, as_counts, tabulate
from .counts_file import read_counts
from .files import first_rows, input_files
from .frames import plain

__all__ = ["Tally", "as_counts", "first_rows", "input_files", "plain", "read_counts", "tabulate"]
