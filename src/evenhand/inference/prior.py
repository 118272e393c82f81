"""Whether a reference is a suitable prior for a group, at a given strength."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix, count_matrices, enumerate_matrices
from ..errors import InvalidInput, brief
from ..laws import DirichletMultinomial, law_of
from ..metrics import metric
from ..records import Record
from ..wording import LEVELS, decided, several
from .risk import risk
from .smoothing import CrossPrior, Raw, Strength, Strengths, as_strength, strength_text

__all__ = ["PriorCheck", "check_prior", "homogeneity_pvalue"]

Verdict = Literal["fit", "doubtful", "unfit"]

_CHECKED = ("acc", "ppr", "prev", "mb", "tpr", "fpr", "ppv", "npv", "f1")
_MOST_LISTED = 2_000_000
_GAIN_UP_TO = 5_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PriorCheck(Record):
    """The result of `check_prior`: whether a reference is a suitable prior for a group, and why.

    Attributes
    ----------
    verdict : {"fit", "doubtful", "unfit"}
        Unfit if the group's counts are at least ten times as likely under a uniform prior, or clearly contradict the
        reference's rates (p < 0.001). Doubtful if they are more likely under the uniform prior, if the rates differ
        (p < 0.05), if the reference is small, or if smoothing would hurt more metrics than it helps.
    reasons : tuple of str
        The reasons, one sentence each.
    strength : float or dict of str to float
        The strength of the prior.
    n, reference_n : int
        The number of cases of the group and of the reference.
    likelihood_ratio : float
        The likelihood of the group's counts under the reference's prior, relative to that under the uniform one.
    divergence : float
        Kullback-Leibler divergence of the group's proportions from the reference's, in nats.
    gaps : tuple of float
        Reference minus group, cell by cell.
    homogeneity : float
        p-value of the test that group and reference share their rates.
    homogeneity_method : str
        ``"exact"`` (Freeman and Halton), or ``"chi-squared approximation"`` for groups that are too large for it.
    gain, lose : tuple of str
        Metrics whose mean squared error would fall or rise if the observed rates were true.
    hidden : float
        The share of the expected gap of a share, such as accuracy, that smoothing hides: λ/(n+λ).

    Examples
    --------
    >>> check = check_prior(ConfusionMatrix(3, 1, 0, 6), ConfusionMatrix(116, 177, 554, 2429))
    >>> check.verdict, round(check.homogeneity, 3), check.hidden
    ('doubtful', 0.005, 0.5)
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    strength: float | Strengths
    n: int
    reference_n: int
    likelihood_ratio: float
    divergence: float
    gaps: tuple[float, ...]
    homogeneity: float
    homogeneity_method: str
    gain: tuple[str, ...]
    lose: tuple[str, ...]
    hidden: float

    def __str__(self) -> str:
        head = (
            f"As a prior of strength {strength_text(self.strength)} for this group of {self.n:,}, the reference is "
            f"{self.verdict}:"
        )
        return "\n".join([head, *(f"  - {reason}" for reason in self.reasons)])


def check_prior(cm: ConfusionMatrix, reference: ConfusionMatrix, strength: Strength = 10.0) -> PriorCheck:
    """Check whether a reference is a suitable prior for a group, following the paper's practical guide.

    Parameters
    ----------
    cm, reference : ConfusionMatrix
        Whole counts of the group and of the reference.
    strength : float, mapping or "auto"
        The strength of the prior. If there is one per split, that of prevalence is used where one number is needed.

    Returns
    -------
    PriorCheck
        Prints as a verdict with its reasons.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> check_prior(ConfusionMatrix(3, 1, 0, 6), ConfusionMatrix(116, 177, 554, 2429)).verdict
    'doubtful'
    """
    for who, matrix in (("the group", cm), ("the reference", reference)):
        if not isinstance(matrix, ConfusionMatrix) or not matrix.is_whole or matrix.n == 0:
            raise InvalidInput(f"{who} must be a ConfusionMatrix of whole counts with cases; got {brief(matrix)}")
    chosen = as_strength(strength)
    weight = chosen["prev"] if isinstance(chosen, Mapping) else chosen
    if weight == 0:
        raise InvalidInput("`strength` must be positive; a prior of strength 0 has no effect")
    n, reference_n = int(cm.n), int(reference.n)
    group, prior = cm.proportions, reference.proportions
    ratio = _likelihood_ratio(cm, prior, weight)
    p, method = homogeneity_pvalue(cm, reference)
    shown = decided(p, LEVELS, lambda more: f"{p:.{2 + more}g}")
    gain, lose = _gain_and_lose(cm, reference, chosen)
    hidden = weight / (n + weight)
    large = reference_n >= 100 and reference_n >= n
    reasons = (
        f"the reference has {several(reference_n, 'case')}, "
        f"{'enough' if large else 'fewer than 100, or than the group'}",
        f"the group's counts are {_times(ratio)} likely with this prior as with a uniform one",
        f"equal rates: p = {shown} ({method}); widest gap {_widest(prior - group)}",
        f"if the observed rates were true, smoothing would help {_some(gain)} and hurt {_some(lose)}"
        if n <= _GAIN_UP_TO
        else f"a group of more than {_GAIN_UP_TO:,} hardly needs a prior; its gains were not computed",
        f"it hides {hidden:.0%} of an expected gap in accuracy and other shares: report raw scores beside it",
    )
    verdict: Verdict = "fit"
    if not large or len(lose) > len(gain) or p < 0.05 or ratio < 1:
        verdict = "doubtful"
    if ratio < 0.1 or p < 0.001:
        verdict = "unfit"
    return PriorCheck(
        verdict=verdict,
        reasons=reasons,
        strength=chosen,
        n=n,
        reference_n=reference_n,
        likelihood_ratio=ratio,
        divergence=_divergence(group, prior),
        gaps=tuple(float(d) for d in prior - group),
        homogeneity=p,
        homogeneity_method=method,
        gain=gain,
        lose=lose,
        hidden=hidden,
    )


def homogeneity_pvalue(cm: ConfusionMatrix, reference: ConfusionMatrix) -> tuple[float, str]:
    """P-value of the test that group and reference share all four rates, and by which method.

    Given the pooled counts, it is the total probability of all groups that are no more likely than the observed one
    (Freeman and Halton); if the smaller of the two has too many matrices to list, it is the chi-squared approximation.
    """
    small = min(cm, reference, key=lambda m: m.n)
    pooled = cm + reference
    if count_matrices(int(small.n)) > _MOST_LISTED:
        return _chi_squared(cm, reference), "chi-squared approximation"
    law = law_of(pooled, int(small.n), "without_replacement")
    p = law.pmf(enumerate_matrices(law.n))
    observed = float(law.pmf(np.asarray(small.cells)))
    return min(1.0, float(p[p <= observed * (1 + 1e-7)].sum())), "exact"


def _chi_squared(cm: ConfusionMatrix, reference: ConfusionMatrix) -> float:
    from scipy.special import chdtrc

    table = np.array([cm.cells, reference.cells], dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chdtrc(table.shape[1] - 1, ((table - expected) ** 2 / expected).sum()))


def _likelihood_ratio(cm: ConfusionMatrix, prior: NDArray[np.float64], strength: float) -> float:
    if (np.asarray(cm.cells)[prior == 0] > 0).any():
        return 0.0
    kept = prior > 0
    # A pseudo-count that underflows to 0 would rule its cell out.
    tp, fn, fp, tn = (max(float(a), 1e-300) for a in np.where(kept, strength * prior, 1e-12))
    ours = DirichletMultinomial(int(cm.n), (tp, fn, fp, tn))
    uniform = DirichletMultinomial(int(cm.n), (max(strength / 4, 1e-300),) * 4)
    counts = np.asarray(cm.cells, dtype=np.float64)
    return exp(min(float(ours.log_pmf(counts) - uniform.log_pmf(counts)), 700.0))


def _divergence(group: NDArray[np.float64], prior: NDArray[np.float64]) -> float:
    seen = group > 0
    if (prior[seen] == 0).any():
        return inf
    return float((group[seen] * np.log(group[seen] / prior[seen])).sum())


def _gain_and_lose(
    cm: ConfusionMatrix, reference: ConfusionMatrix, strength: float | Strengths
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if cm.n > _GAIN_UP_TO:
        return (), ()
    # Half a case is added to each cell, so that no rate is exactly 0.
    rates = np.asarray(cm.cells) + 0.5
    truth = rates / rates.sum()
    keys = [key for key in _CHECKED if not np.isnan(metric(key)(truth))]
    risks = risk(keys, truth, [int(cm.n)], [Raw(), CrossPrior(reference, strength)])
    better = {r.metric.key: r for r in risks if isinstance(r.estimator, CrossPrior)}
    raw = {r.metric.key: r for r in risks if isinstance(r.estimator, Raw)}
    gain = tuple(key for key in keys if better[key].mse < raw[key].mse)
    # Metrics that smoothing does not change are in neither list.
    return gain, tuple(key for key in keys if better[key].mse > raw[key].mse)


def _widest(gaps: NDArray[np.float64]) -> str:
    i = int(np.argmax(np.abs(gaps)))
    return f"{CELLS[i].upper()} {gaps[i]:+.2f}"


def _times(ratio: float) -> str:
    if ratio >= 1000 or 0 < ratio < 0.001:
        return f"e^{log(ratio):.0f} times as"
    return f"{ratio:.3g} times as"


def _some(keys: tuple[str, ...]) -> str:
    return ", ".join(keys) or "none"
