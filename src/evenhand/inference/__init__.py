"""What can be said of a group: undefined cases, tests, intervals, smoothing, risk and planning."""

from .intervals import Disparity, Interval, disparity, interval
from .match import MatchResult, match_test
from .undefined import UndefinedRow, count_undefined, undefined_cases, undefined_probability, undefined_table

__all__ = [
    "Disparity",
    "Interval",
    "MatchResult",
    "UndefinedRow",
    "count_undefined",
    "disparity",
    "interval",
    "match_test",
    "undefined_cases",
    "undefined_probability",
    "undefined_table",
]
