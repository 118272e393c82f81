"""Planning: power, sample sizes, and the sizes at which scores jump or can be gamed."""

from .planned_tests import TestName
from .power import Plan, detectable_difference, power
from .required_n import required_n
from .sample_size import sample_size
from .score_jumps import ExploitableSizes, Jaggedness, Passing, exploitable_sizes, jaggedness

__all__ = [
    "ExploitableSizes",
    "Jaggedness",
    "Passing",
    "Plan",
    "TestName",
    "detectable_difference",
    "exploitable_sizes",
    "jaggedness",
    "power",
    "required_n",
    "sample_size",
]
