"""Two models on the same cases: the change of a rate, and McNemar's exact test.

The outcome of a case changes by +1, 0 or -1 from the first model to the second, so that the change
of a rate is (wins - losses) / cases: wins are successes with the second model only, losses with the
first only. As a matrix with wins as FP and losses as FN, that is its marginal benefit.

Pairs are counts of the cases of a rate: successes with both models, with the first only, with the
second only, and with neither.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..confusion import ConfusionMatrix
from ..errors import InvalidInput
from ..metrics import Metric


def count_pairs(metric: Metric, joint: Floats) -> Floats:
    """The pairs of a rate, from counts of shape (..., 2, 2, 2).

    Axes are the label, the first and the second prediction.
    """
    is_rate = not metric.comparisons and metric.base.is_rate
    if is_rate and metric.base.quotient:
        # By label and prediction: whether a case is a success, and whether it counts.
        cells = np.array(metric.base.quotient, dtype=np.float64)[:, ::-1]
        is_success, counts = cells.reshape(2, 2, 2)
        depends = np.any(is_success[:, 0] != is_success[:, 1])
        if depends and np.array_equal(counts[:, 0], counts[:, 1]):
            outcomes = np.stack([is_success, 1 - is_success])
            operands = joint, counts[:, 0], outcomes, outcomes
            pairs = np.einsum("...lab,l,ula,vlb->...uv", *operands)
            return np.asarray(pairs.reshape(*pairs.shape[:-2], 4))
    text = f"{metric.key} is not a rate of people whose number is the same with all models"
    raise InvalidInput(f"{text}; use acc, ppr, tpr or fpr, or what these leave to 1")


def change_matrix(pairs: Floats) -> ConfusionMatrix:
    """Pairs as a matrix whose marginal benefit is the change of the rate."""
    both, first, second, neither = (int(count) for count in pairs)
    return ConfusionMatrix(tp=both + neither, fn=first, fp=second, tn=0)


def mcnemar_pvalue(pairs: Floats) -> float:
    """McNemar's exact p-value: twice the smaller binomial tail of wins among wins and losses."""
    from scipy.special import bdtr

    _, losses, wins, _ = pairs.tolist()
    return min(1.0, 2 * float(bdtr(min(losses, wins), int(losses + wins), 0.5)))
