"""What can be said of a group: undefined cases, tests, intervals, smoothing, risk and planning."""

from .undefined import UndefinedRow, count_undefined, undefined_cases, undefined_probability, undefined_table

__all__ = [
    "UndefinedRow",
    "count_undefined",
    "undefined_cases",
    "undefined_probability",
    "undefined_table",
]
