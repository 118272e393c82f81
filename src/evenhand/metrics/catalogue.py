"""The catalogue: every metric once, as a record.

The tuple `CATALOGUE` is the registry. Formulas, undefined cases, documentation, command line
and tests read the records, so that they cannot drift apart.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from math import inf
from numbers import Real
from typing import Any, get_args

import numpy as np

from ..confusion import CELLS
from ..errors import InvalidInput, UnknownName, brief
from .aliases import ALIASES, alternative_hint, normalize_name
from .class_averages import require_one_group
from .group_comparison import GroupComparison, comparison_metric, largest_gap_metric
from .ranking_metrics import ranking_metric
from .record import (
    DICE,
    ODDS,
    GapKind,
    Metric,
    OneGroupMetric,
    Rank,
    contrast_metric,
    ratio_metric,
    two_rates_metric,
)
from .undefined_sets import Part

TP, FN = Part(("tp",), "true positives"), Part(("fn",), "false negatives")
FP, TN = Part(("fp",), "false positives"), Part(("tn",), "true negatives")
POSITIVES = Part(("tp", "fn"), "actual positives")
NEGATIVES = Part(("fp", "tn"), "actual negatives")
PP = Part(("tp", "fp"), "predicted positives")
PN = Part(("fn", "tn"), "predicted negatives")
CORRECT, ERRORS = (
    Part(("tp", "tn"), "correct predictions"),
    Part(("fn", "fp"), "errors"),
)
EITHER_POSITIVE = Part(("tp", "fn", "fp"), "actual or predicted positives")
EITHER_NEGATIVE = Part(("fn", "fp", "tn"), "actual or predicted negatives")
ROWS = (POSITIVES, NEGATIVES)
MARGINS = (*ROWS, PP, PN)

# Descriptions that several metrics share.
_AGREEMENT = "How well predicted and actual positives agree"
_HARMONIC_MEAN = f"{_AGREEMENT}: the harmonic mean of tpr and ppv"
_PT_TEXT = (
    "The prevalence below which a positive prediction quickly becomes less reliable"
)

# fmt: off
# Shares of all cases

ACC = ratio_metric(
    "acc", "Accuracy", "How many predictions are right", part=CORRECT, multiclass="accuracy")
PREV = ratio_metric(
    "prev", "Prevalence", part=POSITIVES, synonyms=("P", "base rate"))
PPR = ratio_metric(
    "ppr", "Predicted positive rate", part=PP,
    synonyms=("P̂", "P hat", "PP", "selection rate", "acceptance rate"))
INACC = ratio_metric(
    "inacc", "Inaccuracy", "How many predictions are wrong",
    part=ERRORS, multiclass="accuracy", synonyms=("error rate", "misclassification rate"))
NPREV = ratio_metric(
    "nprev", "Negative prevalence",
    part=NEGATIVES, synonyms=("N", "complement of prevalence"))
PNR = ratio_metric(
    "pnr", "Predicted negative rate",
    part=PN, synonyms=("N̂", "N hat", "PN"))

# Rates of a part of the cases, and other functions of one rate

TPR = ratio_metric(
    "tpr", "True positive rate", part=TP, whole=POSITIVES,
    synonyms=("recall", "sensitivity", "hit rate"))
FPR = ratio_metric(
    "fpr", "False positive rate",
    part=FP, whole=NEGATIVES, synonyms=("fall-out", "false alarm rate"))
TNR = ratio_metric(
    "tnr", "True negative rate",
    part=TN, whole=NEGATIVES, synonyms=("specificity", "selectivity"))
FNR = ratio_metric(
    "fnr", "False negative rate", part=FN, whole=POSITIVES, synonyms=("miss rate",))
PPV = ratio_metric(
    "ppv", "Positive predictive value",
    part=TP, whole=PP, synonyms=("precision",))
NPV = ratio_metric(
    "npv", "Negative predictive value", part=TN, whole=PN)
FDR = ratio_metric(
    "fdr", "False discovery rate", part=FP, whole=PP)
FOR = ratio_metric(
    "for", "False omission rate", part=FN, whole=PN,
    synonyms=("false reassurance rate",))
F1_ORIGINAL = ratio_metric(
    "f1_original", "Original F1 score",
    _HARMONIC_MEAN,
    part=TP, whole=EITHER_POSITIVE, curve=DICE, needs=(TP,),
    formula="2 / ((TP + FP) / TP + (TP + FN) / TP)",
    synonyms=("F1 measure", "Dice-Sørensen coefficient", "Dice-Sorensen coefficient",
              "harmonic mean of precision and recall"))
F1 = ratio_metric(
    "f1", "F1 score",
    f"{_HARMONIC_MEAN}, and 0 if none agrees", part=TP, whole=EITHER_POSITIVE, curve=DICE,
    synonyms=("simplified F1 score", "F-score", "F-measure", "Dice"))
JACCARD = ratio_metric(
    "jaccard", "Jaccard index",
    "Of those who are actually or predicted positive, how many are both",
    part=TP, whole=EITHER_POSITIVE, counted="both",
    synonyms=("critical success index", "threat score", "intersection over union", "IoU"))
TE_PART = ratio_metric(
    "te_part", "False negatives per false positive",
    "How many actual positives are missed for each actual negative that is predicted "
    "positive", part=FN, whole=ERRORS, curve=ODDS, needs=(FP,), better="neither", high=inf,
    synonyms=("treatment equality part", "error ratio"))
MB = contrast_metric(
    "mb", "Marginal benefit",
    "How many more cases are predicted positive than are actually positive, per case",
    plus="fp", minus="fn", better="closer to 0", low=-1.0, synonyms=("B", "benefit"))

# Functions of two rates. A rank is a fraction (numerator, denominator) that orders matrices as
# the score does; it has no roots, so that it is exact for integer cells.


def _determinant(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    """The determinant of the matrix, the numerator of MCC and others; 0 if TPR = FPR."""
    return tp * tn - fp * fn


def _mcc_rank(tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
    """The square of MCC with the sign of MCC, as a fraction that orders matrices as MCC does.

    Without a root, it is exact. If a margin is empty, it is 0 / 0, and MCC undefined.
    """
    d = _determinant(tp, fn, fp, tn)
    return d * abs(d), (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)


def _mcc(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    """MCC where no margin is empty; elsewhere it is undefined, and 0 / 0 here."""
    # One root per pair: a product of all four margins overflows int64 at n = 110,218.
    roots = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
    return _determinant(tp, fn, fp, tn) / roots


def _mcc_limit(*cells: Any) -> Any:
    """MCC; 0 if a margin is empty, and nan if all cases are in one cell.

    It is the score of ``mcc_limit``, which is defined on more matrices than ``mcc``.
    """
    is_single_cell = np.maximum.reduce(np.broadcast_arrays(*cells)) == sum(cells)
    return np.where(is_single_cell, np.nan, np.nan_to_num(_mcc(*cells)))


def _mcc_limit_rank(*cells: Any) -> Rank:
    """The rank of MCC, the fraction that orders matrices; 0 / 1 if a margin is empty."""
    numerator, denominator = _mcc_rank(*cells)
    # An empty margin makes both 0, so only the denominator has to change.
    return numerator, denominator + (denominator == 0)


def _all_but(part: Part) -> Part:
    """The cells outside a part; they are empty if all cases are in it.

    ``mcc_limit`` needs a case in them, for each of the four cells.
    """
    others = tuple(cell for cell in CELLS if cell not in part.cells)
    return Part(others, f"cases other than {part.name}")


def _pt_rank(tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
    """FPR / TPR, with which the prevalence threshold 1 / (1 + sqrt(TPR / FPR)) rises.

    It is a fraction that orders matrices as the threshold does; without a root, it is exact.
    """
    return fp * (tp + fn), tp * (fp + tn)


def _pt(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    """The prevalence threshold, sqrt(FPR) / (sqrt(FPR) + sqrt(TPR)); 1/2 if both are equal.

    ``pt`` as printed is undefined there; its other scores are the same.
    """
    root_fpr, root_tpr = np.sqrt(fp / (fp + tn)), np.sqrt(tp / (tp + fn))
    return root_fpr / (root_fpr + root_tpr)


MCC = two_rates_metric(
    "mcc", "Matthews correlation coefficient",
    "How well predictions and labels agree: 1 always, 0 as often as by chance, -1 "
    "never", needs=MARGINS, low=-1.0, multiclass="mcc",
    formula="(TP*TN - FP*FN) / sqrt((TP + FP)*(TP + FN)*(TN + FP)*(TN + FN))",
    rank=_mcc_rank, score=_mcc, synonyms=("phi coefficient", "phi", "φ", "r_φ", "r_phi"))
MCC_LIMIT = two_rates_metric(
    "mcc_limit", "Matthews correlation coefficient with limits",
    "How well predictions and labels agree: 1 always, 0 as by chance or with nothing "
    "to compare, -1 never", needs=tuple(map(_all_but, (TP, FN, FP, TN))), low=-1.0,
    formula="0 if (TP + FP)*(TP + FN)*(TN + FP)*(TN + FN) == 0 else MCC",
    rank=_mcc_limit_rank, score=_mcc_limit, synonyms=("MCC with limits",))
# The formula of PT is 0/0 at TPR = FPR. This is its continuous extension, which is 1/2 there
# (E2 in docs/explanation/errata.md).
PT_LIMIT = two_rates_metric(
    "pt_limit", "Prevalence threshold with limits",
    f"{_PT_TEXT}; 1/2 if tpr and fpr are equal",
    needs=(*ROWS, PP), rises=True,
    formula="sqrt(FPR) / (sqrt(TPR) + sqrt(FPR))", rank=_pt_rank, score=_pt,
    zero_if_empty=(FP,), synonyms=("PT with limits", "simplified prevalence threshold"))
PT = two_rates_metric(
    "pt", "Prevalence threshold",
    _PT_TEXT, needs=MARGINS, undefined_at_equal_rates=True, rises=True,
    formula="(sqrt(TPR*FPR) - FPR) / (TPR - FPR)", rank=_pt_rank, score=_pt,
    zero_if_empty=(FP,))
BALANCED_ACCURACY = two_rates_metric(
    "balanced_accuracy", "Balanced accuracy",
    "The mean of tpr and tnr, so that actual positives and negatives count the same",
    needs=ROWS, multiclass="mean tpr", formula="(TPR + TNR) / 2",
    rank=lambda tp, fn, fp, tn: (tp * (fp + tn) + tn * (tp + fn), 2 * (tp + fn) * (fp + tn)),
    zero_if_empty=(CORRECT,))
INFORMEDNESS = two_rates_metric(
    "informedness", "Informedness",
    "How well actual positives and negatives are told apart (tpr - fpr): 1 perfectly, "
    "0 as by chance", needs=ROWS, low=-1.0, formula="TPR + TNR - 1",
    rank=lambda tp, fn, fp, tn: (_determinant(tp, fn, fp, tn), (tp + fn) * (fp + tn)),
    synonyms=("Youden's J", "Youden", "Youden index", "bookmaker informedness"))
MARKEDNESS = two_rates_metric(
    "markedness", "Markedness",
    "How much can be learnt from a prediction (ppv + npv - 1): 1 everything, 0 nothing",
    needs=(PP, PN), low=-1.0, formula="PPV + NPV - 1",
    rank=lambda tp, fn, fp, tn: (_determinant(tp, fn, fp, tn), (tp + fp) * (fn + tn)),
    by_columns=True, synonyms=("delta P",))
FOWLKES_MALLOWS = two_rates_metric(
    "fowlkes_mallows", "Fowlkes-Mallows index",
    f"{_AGREEMENT}: the geometric mean of tpr and ppv",
    needs=(POSITIVES, PP), formula="sqrt(PPV*TPR)",
    rank=lambda tp, fn, fp, tn: (tp * tp, (tp + fn) * (tp + fp)),
    score=lambda tp, fn, fp, tn: tp / np.sqrt((tp + fn) * (tp + fp)),
    zero_if_empty=(TP,), denominators=(POSITIVES, PP))
KAPPA = two_rates_metric(
    "kappa", "Cohen's kappa",
    "How much more often than by chance predictions are right: 1 always, 0 as often "
    "as by chance", needs=(EITHER_POSITIVE, EITHER_NEGATIVE), low=-1.0, multiclass="kappa",
    formula="2*(TP*TN - FP*FN) / ((TP + FP)*(FP + TN) + (TP + FN)*(FN + TN))",
    rank=lambda tp, fn, fp, tn: (
        2 * _determinant(tp, fn, fp, tn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)),
    synonyms=("kappa", "Heidke skill score"))
G_MEAN = two_rates_metric(
    "g_mean", "Geometric mean of TPR and TNR",
    "The geometric mean of tpr and tnr, which is low if either of them is",
    needs=ROWS, formula="sqrt(TPR*TNR)",
    score=lambda tp, fn, fp, tn: np.sqrt(tp / (tp + fn) * (tn / (fp + tn))),
    rank=lambda tp, fn, fp, tn: (tp * tn, (tp + fn) * (fp + tn)),
    zero_if_empty=(TP, TN), synonyms=("geometric mean",))
LR_PLUS = two_rates_metric(
    "lr_plus", "Positive likelihood ratio",
    "How many times as often actual positives are predicted positive as actual "
    "negatives are", needs=(POSITIVES, FP), high=inf, formula="TPR / FPR",
    rank=lambda tp, fn, fp, tn: (tp * (fp + tn), fp * (tp + fn)), zero_if_empty=(TP,),
    synonyms=("LR+",))
LR_MINUS = two_rates_metric(
    "lr_minus", "Negative likelihood ratio",
    "How many times as often actual positives are predicted negative as actual "
    "negatives are", needs=(POSITIVES, TN), high=inf, rises=True, formula="FNR / TNR",
    rank=lambda tp, fn, fp, tn: (fn * (fp + tn), tn * (tp + fn)), zero_if_empty=(FN,),
    synonyms=("LR-",))
DOR = two_rates_metric(
    "dor", "Diagnostic odds ratio",
    "The odds of a positive prediction for actual positives, divided by those for "
    "actual negatives", needs=(FN, FP), high=inf, formula="TP*TN / (FP*FN)",
    rank=lambda tp, fn, fp, tn: (tp * tn, fp * fn), zero_if_empty=(TP, TN),
    synonyms=("odds ratio",))


def f_beta(beta: float | Fraction) -> OneGroupMetric:
    """The F-beta score, which weighs recall ``beta`` times as much as precision.

    Parameters
    ----------
    beta : float or Fraction
        The weight, from 0.001 to 1000. It is rounded to the nearest fraction with a denominator
        of at most 1000, so that ties are exact.

    Returns
    -------
    Metric
        The metric.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> f_beta(2)(ConfusionMatrix(tp=3, fn=1, fp=2, tn=4))
    0.7142857142857143
    """
    is_number = isinstance(beta, Real) and not isinstance(beta, bool)
    if not is_number or not Fraction(1, 1000) <= beta <= 1000:
        raise InvalidInput(argument="beta", must="be a number from 0.001 to 1000", got=beta)
    return _f_beta(Fraction(float(beta)).limit_denominator(1000))


# Metrics are compared by identity, so each beta must always give the same record.
@cache
def _f_beta(beta: Fraction) -> OneGroupMetric:
    """The F-beta score with beta**2 = p/q, so that its rank has integer weights.

    The rank is the exact fraction by which matrices are ordered. With beta = 1 it is F1 itself.
    """
    if beta == 1:
        return F1
    p, q = (beta**2).numerator, (beta**2).denominator
    text = f"{float(beta):g}"
    return two_rates_metric(
        f"f{text}", f"F-beta score, beta = {text}",
        f"{_AGREEMENT}, with tpr weighing {text} times as much as ppv",
        needs=(EITHER_POSITIVE,), denominators=(EITHER_POSITIVE,),
        formula=f"{p + q}*TP / ({p + q}*TP + {p}*FN + {q}*FP)",
        rank=lambda tp, fn, fp, tn: ((p + q) * tp, (p + q) * tp + p * fn + q * fp),
        zero_if_empty=(TP,))


# Metrics of two groups

OFI = comparison_metric(MB, "difference", "ofi", "Objective fairness index")
TE = comparison_metric(TE_PART, "difference", "te", "Treatment equality")
EQUAL_OPPORTUNITY = comparison_metric(
    TPR, "difference", "equal_opportunity", "Equal opportunity",
    synonyms=("equal opportunity difference",))
PREDICTIVE_EQUALITY = comparison_metric(
    FPR, "difference", "predictive_equality", "Predictive equality")
PREDICTIVE_PARITY = comparison_metric(
    PPV, "difference", "predictive_parity", "Predictive parity",
    synonyms=("predictive parity difference",))
DEMOGRAPHIC_PARITY = comparison_metric(
    PPR, "difference", "demographic_parity", "Demographic parity",
    synonyms=("statistical parity", "demographic parity difference",
              "statistical parity difference"))
DISPARATE_IMPACT = comparison_metric(
    PPR, "ratio", "disparate_impact", "Disparate impact",
    synonyms=("impact ratio", "adverse impact ratio", "demographic parity ratio"))
EQUALIZED_ODDS = largest_gap_metric(
    EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY, key="equalized_odds", name="Equalized odds",
    description="The larger of the gaps in tpr and in fpr between the group and its reference",
    synonyms=("equalised odds", "equalized odds difference"))
# fmt: on


CATALOGUE: tuple[Metric, ...] = (
    ACC, PREV, PPR, INACC, NPREV, PNR,
    TPR, FPR, TNR, FNR, PPV, NPV, FDR, FOR,
    F1_ORIGINAL, F1, MCC, PT, MB,
    OFI, TE,
    MCC_LIMIT, PT_LIMIT, BALANCED_ACCURACY, INFORMEDNESS, MARKEDNESS,
    JACCARD, FOWLKES_MALLOWS, KAPPA, G_MEAN, LR_PLUS, LR_MINUS, DOR,
    f_beta(0.5), f_beta(2), TE_PART,
    EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY, PREDICTIVE_PARITY,
    DEMOGRAPHIC_PARITY, DISPARATE_IMPACT, EQUALIZED_ODDS,
)  # fmt: skip
ONE_GROUP_METRICS = tuple(m for m in CATALOGUE if isinstance(m, OneGroupMetric))
#: The metrics in Tables 3 to 5 of "Algorithmic Accountability in Small Data" (AISTATS 2025).
PAPER_METRICS = CATALOGUE[:21]


# Metrics by the normalized names that they have here, and keys by those in other libraries.
_BY_NAME = {
    normalize_name(name): record
    for record in CATALOGUE
    for name in (record.key, record.name, *record.synonyms)
}
_BY_ALIAS = {normalize_name(alias.name): alias.key for alias in ALIASES}


def metric(name: str | Metric) -> Metric:
    """Find a metric by key, name or synonym.

    Parameters
    ----------
    name : str or Metric
        Case, spaces, hyphens and underscores do not matter. Any metric of one group can be
        followed by ``_difference`` or ``_ratio``, and ``f`` by a beta. Functions of
        scikit-learn and fairlearn are found by their names. A `Metric` is returned unchanged.

    Returns
    -------
    Metric
        The metric.

    Examples
    --------
    >>> metric("Recall").key
    'tpr'
    >>> metric("npv_difference").name
    'Negative predictive value difference'
    >>> metric("matthews_corrcoef").key
    'mcc'
    >>> metric("recal")
    Traceback (most recent call last):
        ...
    evenhand.errors.UnknownName: no metric is called 'recal'; did you mean 'recall'?
    """
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        hint = f"got {brief(name)} of type {type(name).__name__}"
        raise InvalidInput(argument="metric", must="be a name or a Metric", hint=hint)
    plain = name if name in _BY_NAME else normalize_name(name)
    if plain in _BY_NAME:
        return _BY_NAME[plain]
    if plain in _BY_ALIAS:
        return metric(_BY_ALIAS[plain])
    # Known names of what is not a metric of counts.
    ranking = ranking_metric(name)
    reason = ranking.needs_scores_hint if ranking else alternative_hint(plain)
    if reason:
        raise UnknownName(f"no metric is called {brief(name)}: it {reason}")
    # Names that contain a number or another metric: f2, f_beta_0.5, npv_difference.
    if beta := re.fullmatch(r"f ?(?:beta ?)?(\d+(?:\.\d+)?)", plain):
        return f_beta(float(beta[1]))
    base_name, _, ending = plain.rpartition(" ")
    for kind in get_args(GapKind):
        if ending == kind and base_name:
            return _compare(base_name, kind)
    hint = "list_metrics() or 'evenhand metrics' lists them all"
    raise UnknownName.among("metric", name, _BY_NAME, see=hint)


def list_metrics() -> tuple[Metric, ...]:
    """All metrics of the catalogue.

    The first 21 are those of "Algorithmic Accountability in Small Data" (AISTATS 2025).

    Returns
    -------
    tuple of Metric
        The metrics.

    Examples
    --------
    >>> [m.key for m in list_metrics()][:6]
    ['acc', 'prev', 'ppr', 'inacc', 'nprev', 'pnr']
    """
    return CATALOGUE


def difference(name: str | OneGroupMetric) -> GroupComparison:
    """The difference of a metric between two groups: group minus reference.

    Parameters
    ----------
    name : str or Metric
        A metric of one group.

    Returns
    -------
    Metric
        A metric of two groups.

    Examples
    --------
    >>> difference("tpr").key
    'equal_opportunity'
    >>> difference("tpr")([1, 3, 0, 0], [1, 1, 0, 0])
    -0.25
    """
    return _compare(name, "difference")


def ratio(name: str | OneGroupMetric) -> GroupComparison:
    """The ratio of a metric between two groups: group over reference.

    Parameters
    ----------
    name : str or Metric
        A metric of one group that cannot be negative.

    Returns
    -------
    Metric
        A metric of two groups.

    Examples
    --------
    >>> ratio("ppr").key
    'disparate_impact'
    >>> ratio("ppr")((1, 3, 0, 0), (1, 1, 0, 0))
    0.5
    """
    return _compare(name, "ratio")


def _compare(name: str | OneGroupMetric, kind: GapKind) -> GroupComparison:
    """The difference or ratio of a metric between two groups.

    The catalogue has some under names of their own, such as equal_opportunity for the
    difference of TPR; others are created.
    """
    base = require_one_group(metric(name))
    for record in CATALOGUE:
        for gap in record.comparisons:
            if (gap.base, gap.kind) == (base, kind):
                return gap
    return comparison_metric(base, kind)
