"""Two models on the same cases: what changes for a group.

The outcome of a case changes by +1, 0 or -1, so the change of a rate is a contrast of counts: of all cases those for
which the models disagree, and of these those that the second model wins. As counts of a matrix, wins are FP and losses
FN, and the change of the rate is the marginal benefit, which the engine knows.

Pairs are counts of the cases of a rate: successes with both models, only the first, only the second, and neither.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from ..errors import InvalidInput
from ..metrics import Metric

__all__ = ["contrast", "mcnemar", "pairs_of"]

Floats = NDArray[np.float64]


def pairs_of(m: Metric, joint: Floats) -> Floats:
    """The pairs of a rate, from counts of cases of shape (..., 2, 2, 2) by label, first and second prediction."""
    quotient = None if m.comparisons or not m.base.is_rate else m.base.quotient
    if quotient is not None:
        # By label and prediction: whether a case is a success, and whether it counts.
        over, under = (
            np.array(cells[::-1], dtype=np.float64).reshape(2, 2) for cells in (quotient.over, quotient.under)
        )
        if (under[:, 0] == under[:, 1]).all() and (over[:, 0] != over[:, 1]).any():
            outcomes = np.stack([over, 1 - over])
            pairs = np.einsum("...lab,l,ula,vlb->...uv", joint, under[:, 0], outcomes, outcomes)
            return np.asarray(pairs.reshape(*pairs.shape[:-2], 4))
    raise InvalidInput(
        f"{m.key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )


def contrast(pairs: Floats) -> ConfusionMatrix:
    """Pairs as a matrix whose marginal benefit is the change of the rate."""
    both, first, second, neither = (int(count) for count in pairs)
    return ConfusionMatrix(tp=both + neither, fn=first, fp=second, tn=0)


def mcnemar(pairs: Floats) -> float:
    """McNemar's exact p-value: twice the smaller tail of the number of disagreements that one model wins."""
    from scipy.special import bdtr

    _, first, second, _ = pairs.tolist()
    return min(1.0, 2 * float(bdtr(min(first, second), int(first + second), 0.5)))
