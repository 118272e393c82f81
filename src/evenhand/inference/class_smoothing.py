"""Cross-Prior Smoothing of a matrix of K classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..cells import MulticlassConfusion, SmoothedClasses, require_same_labels
from ..errors import InvalidInput, brief
from .smoothing import Strength, as_strength

__all__ = ["smoothed_classes"]


def smoothed_classes(cm: MulticlassConfusion, reference: Any, strength: Strength) -> SmoothedClasses:
    """The K x K cells, smoothed with the reference's proportions."""
    if not isinstance(reference, MulticlassConfusion):
        raise InvalidInput(f"the reference must be a MulticlassConfusion as the group is; got {brief(reference)}")
    require_same_labels(cm, reference, "the reference")
    weight = as_strength(strength)
    if isinstance(weight, Mapping):
        raise InvalidInput("one `strength` per split is for 2x2 matrices; pass one number for K x K cells")
    if reference.n == 0:
        raise InvalidInput("the reference is empty (n = 0), so it has no proportions to smooth with")
    prior, n = reference.proportions, cm.n
    cells = (cm.counts + weight * prior) * (n / (n + weight)) if n else prior
    return SmoothedClasses(cells, cm.labels, raw=cm, strength=weight)
