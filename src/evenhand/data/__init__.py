"""From any table to counts per group.

The engine that holds the data counts its rows; labels are interpreted on the few rows that it returns.
"""

from .column_guess import guess_positive, guess_roles, kind_of
from .columns import NO_GROUPS, count, group_columns
from .counted_rows import CountedRows, count_rows, similar_names, sort_keys, sort_values
from .counts_table import read_counts
from .disclosure import PUBLIC_FACTS, RULES, Rule, rule_of
from .files import (
    accepted_endings,
    any_of,
    ending_by_content,
    ending_of,
    first_rows,
    input_files,
    names_of,
    spool,
    spool_stream,
)
from .frames import Key, plain
from .input_checks import read_first_columns
from .model_pairs import build_model_tally
from .readers import FORMATS, PACKINGS
from .tally import (
    Answers,
    Counts,
    Needs,
    Place,
    RowTable,
    Tally,
    build_tally,
    hide_facts,
    tally_counts,
)
