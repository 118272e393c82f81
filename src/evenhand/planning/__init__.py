"""Planning: power, sample sizes, and the sizes at which scores jump or can be gamed."""

from .paired_changes import pairs_needed
from .power import Plan, detectable_difference, power
from .required_n import required_n, required_n_of_goal
from .sample_size import sample_size
from .score_jumps import ExploitableSizes, Jaggedness, exploitable_sizes, jaggedness

__all__ = [
    "ExploitableSizes",
    "Jaggedness",
    "Plan",
    "detectable_difference",
    "exploitable_sizes",
    "jaggedness",
    "pairs_needed",
    "power",
    "required_n",
    "required_n_of_goal",
    "sample_size",
]
