"""Whether a reference is a suitable prior for a group, at a given strength.

The evidence, for counts x of a group of n cases, a reference with proportions q and a strength λ:

- The likelihood ratio of the Dirichlet-multinomial distributions with parameters λ q and λ/4, that
  is of this prior and a uniform one. With Γ(a+x) / Γ(a) = Γ(x) / B(a, x), it is the product of
  B(λ/4, x) / B(λ q, x) over the cells with x > 0.
- The exact test of Freeman and Halton that group and reference have the same rates: given the pooled
  counts, the total probability of all groups that are no more likely than the observed one.
- For which metrics smoothing would reduce the mean squared error if the observed rates were true.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Literal

import numpy as np

from ..confusion import CELLS, ConfusionMatrix, count_matrices, enumerate_matrices
from ..distributions import law_of
from ..errors import InvalidInput, brief
from ..records import Record
from ..wording import LEVELS, decided, several
from .risk import risk
from .smoothing import CrossPrior, Raw, Strength, as_strength, format_strength, one_strength

Verdict = Literal["fit", "doubtful", "unfit"]

_METRICS = ("acc", "ppr", "prev", "mb", "tpr", "fpr", "ppv", "npv", "f1")
# The most matrices of an exact test, and the largest group whose errors are computed.
_MAX_MATRICES, _MAX_CASES = 2_000_000, 5_000


@dataclass(frozen=True, slots=True, repr=False)
class PriorCheck(Record):
    """The result of `check_prior`: whether a reference is a suitable prior for a group, and why.

    Attributes
    ----------
    verdict : {"fit", "doubtful", "unfit"}
        Unfit if the group's counts are at least ten times as likely under a uniform prior, or clearly
        contradict the reference's rates (p < 0.001). Doubtful if they are more likely under the
        uniform prior, if the rates differ (p < 0.05), if the reference is small, or if smoothing
        would worsen more metrics than it improves.
    reasons : tuple of str
        The reasons, one sentence each.
    strength : float or dict of str to float
        The strength of the prior.
    n, reference_n : int
        The number of cases of the group and of the reference.
    likelihood_ratio : float
        The likelihood of the group's counts under the reference's prior, relative to that under the
        uniform one.
    divergence : float
        Kullback-Leibler divergence of the group's proportions from the reference's, in nats.
    gaps : tuple of float
        Reference minus group, cell by cell.
    homogeneity : float
        p-value of the test that group and reference share their rates.
    homogeneity_method : str
        ``"exact"`` (Freeman and Halton), or ``"chi-squared approximation"`` for groups that are too
        large for it.
    improved, worsened : tuple of str
        Metrics whose mean squared error would fall or rise if the observed rates were true.
    hidden : float
        The part of an expected difference of shares, such as accuracies, that smoothing hides:
        λ/(n+λ).

    Examples
    --------
    >>> group = ConfusionMatrix(tp=3, fn=1, fp=0, tn=6)
    >>> check = check_prior(group, ConfusionMatrix(tp=116, fn=177, fp=554, tn=2429))
    >>> check.verdict, round(check.homogeneity, 3), check.hidden
    ('doubtful', 0.005, 0.5)
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    strength: Strength
    n: int
    reference_n: int
    likelihood_ratio: float
    divergence: float
    gaps: tuple[float, ...]
    homogeneity: float
    homogeneity_method: str
    improved: tuple[str, ...]
    worsened: tuple[str, ...]
    hidden: float

    def __str__(self) -> str:
        prior = f"As a prior of strength {format_strength(self.strength)}"
        head = f"{prior} for this group of {self.n:,}, the reference is {self.verdict}:"
        return "\n".join([head, *(f"  - {reason}" for reason in self.reasons)])


def check_prior(
    cm: ConfusionMatrix, reference: ConfusionMatrix, strength: Strength = 10.0
) -> PriorCheck:
    """Check whether a reference is a suitable prior for a group (the paper's practical guide).

    Parameters
    ----------
    cm, reference : ConfusionMatrix
        Whole counts of the group and of the reference.
    strength : float, mapping or "auto"
        The strength of the prior. If there is one per split, that of prevalence is used where one
        number is needed.

    Returns
    -------
    PriorCheck
        Prints as a verdict with its reasons.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> group = ConfusionMatrix(tp=3, fn=1, fp=0, tn=6)
    >>> check_prior(group, ConfusionMatrix(tp=116, fn=177, fp=554, tn=2429)).verdict
    'doubtful'
    """
    for name, matrix in (("the group", cm), ("the reference", reference)):
        if not isinstance(matrix, ConfusionMatrix) or not matrix.is_whole or matrix.n == 0:
            must = "must be a ConfusionMatrix of whole counts with cases"
            raise InvalidInput(f"{name} {must}; got {brief(matrix)}")
    strength = as_strength(strength)
    weight = one_strength(strength)
    if weight == 0:
        raise InvalidInput("`strength` must be above 0, or the prior has no effect")
    from scipy.special import betaln, rel_entr

    n, reference_n, q = int(cm.n), int(reference.n), reference.proportions
    is_filled = cm.to_array() > 0
    x, prior = cm.to_array()[is_filled], weight * q[is_filled]
    log_ratio = float((betaln(weight / 4, x) - betaln(prior, x)).sum())
    ratio, gaps = exp(min(log_ratio, 700.0)), q - cm.proportions
    divergence = float(rel_entr(cm.proportions, q).sum())
    pvalue, method = homogeneity_pvalue(cm, reference)
    improved, worsened = _compare_errors(cm, CrossPrior(reference, strength))
    is_large, hidden = reference_n >= max(100, n), weight / (n + weight)
    is_likely, helps = ratio >= 1 and pvalue >= 0.05, len(improved) >= len(worsened)
    verdict: Verdict = "fit" if is_likely and is_large and helps else "doubtful"
    if ratio < 0.1 or pvalue < 0.001:
        verdict = "unfit"
    size = "enough" if is_large else "fewer than 100, or than the group"
    times = f"{ratio:.3g}" if 0.001 <= ratio < 1000 or not ratio else f"e^{log(ratio):.0f}"
    p = decided(pvalue, LEVELS, lambda more: f"{pvalue:.{2 + more}g}")
    widest = int(np.argmax(np.abs(gaps)))
    gap = f"{CELLS[widest].upper()} {gaps[widest]:+.2f}"
    helped, hurt = (", ".join(keys) or "none" for keys in (improved, worsened))
    errors = f"if the observed rates were true, smoothing would help {helped} and hurt {hurt}"
    if n > _MAX_CASES:
        errors = f"a group of more than {_MAX_CASES:,} hardly needs a prior"
    reasons = (
        f"the reference has {several(reference_n, 'case')}, {size}",
        f"the group's counts are {times} times as likely with this prior as with a uniform one",
        f"equal rates: p = {p} ({method}); widest gap {gap}",
        errors,
        f"it hides {hidden:.0%} of an expected gap in shares: report raw scores beside it",
    )
    evidence = ratio, divergence, tuple(gaps.tolist()), pvalue, method, improved, worsened
    return PriorCheck(verdict, reasons, strength, n, reference_n, *evidence, hidden)


def homogeneity_pvalue(cm: ConfusionMatrix, reference: ConfusionMatrix) -> tuple[float, str]:
    """P-value of the test that group and reference share all four rates, and its method.

    If the smaller of the two has too many matrices to list, it is Pearson's test of the 2 x 4 table.
    """
    smaller = min(cm, reference, key=lambda matrix: matrix.n)
    if count_matrices(int(smaller.n)) > _MAX_MATRICES:
        from scipy.special import chdtrc

        table = np.array([cm.cells, reference.cells], dtype=np.float64)
        table = table[:, table.any(axis=0)]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        statistic = ((table - expected) ** 2 / expected).sum()
        return float(chdtrc(table.shape[1] - 1, statistic)), "chi-squared approximation"
    law = law_of(cm + reference, int(smaller.n), "without_replacement")
    probabilities, observed = law.pmf(enumerate_matrices(law.n)), law.pmf(smaller.cells)
    # Equal probabilities may differ by rounding.
    is_extreme = probabilities <= observed * (1 + 1e-7)
    return min(1.0, float(probabilities[is_extreme].sum())), "exact"


def _compare_errors(cm: ConfusionMatrix, prior: CrossPrior) -> list[tuple[str, ...]]:
    """The metrics whose mean squared error smoothing would improve, and worsen."""
    if cm.n > _MAX_CASES:
        return [(), ()]
    # Half a case is added to each cell, so that no rate is exactly 0.
    truth = (cm.to_array() + 0.5) / (cm.n + 2)
    risks = risk(_METRICS, truth, [int(cm.n)], [Raw(), prior])
    # Metrics that smoothing does not change are neither.
    changes = np.sign(np.diff([r.mse for r in risks])[::2])
    return [tuple(np.array(_METRICS)[changes == sign].tolist()) for sign in (-1, 1)]
