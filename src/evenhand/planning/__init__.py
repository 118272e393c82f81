"""Planning: power, sample sizes, and the sizes at which scores jump or can be gamed."""

from .gaming import ExploitableSizes, Passing, exploitable_sizes
from .jagged import Jaggedness, jaggedness
from .needs import Wanted, cases_needed
from .powers import DetectableDifference, Power, TestName, detectable_difference, power
from .sizes import SampleSize, sample_size

__all__ = [
    "DetectableDifference",
    "ExploitableSizes",
    "Jaggedness",
    "Passing",
    "Power",
    "SampleSize",
    "TestName",
    "Wanted",
    "cases_needed",
    "detectable_difference",
    "exploitable_sizes",
    "jaggedness",
    "power",
    "sample_size",
]
