"""Planning: power, sample sizes, and the sizes at which scores jump or can be gamed."""

from .gaming import ExploitableSizes, Passing, exploitable_sizes
from .jagged import Jaggedness, jaggedness
from .needs import Wanted, cases_needed
from .plan import Plan
from .planned_tests import TestName
from .powers import detectable_difference, power
from .sizes import sample_size

__all__ = [
    "ExploitableSizes",
    "Jaggedness",
    "Passing",
    "Plan",
    "TestName",
    "Wanted",
    "cases_needed",
    "detectable_difference",
    "exploitable_sizes",
    "jaggedness",
    "power",
    "sample_size",
]
