"""The catalogue: every metric once, as a record.

The tuple at the end *is* the registry. Formulas, undefined cases, documentation, command line and tests all read the
records, so they cannot drift apart. The paper lists its metrics in Tables 3 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from math import inf
from numbers import Real
from typing import Any, get_args

import numpy as np

from ..cells import CELLS
from ..errors import InvalidInput, UnknownName, brief
from .class_summaries import Accuracy, Kappa, Mcc, MeanOf
from .curves import DICE, ODDS
from .elsewhere import SAME, not_here
from .holes import Part
from .links import root_share, signed_root
from .names import plain_name
from .products import determinant
from .ranking import ranking_metric
from .shapes import Contrast, Kind, Metric, OneGroup, Pair, Rank, Ratio, Share
from .two_groups import Comparison, Worst, comparison

__all__ = ["CATALOGUE", "Catalogue", "difference", "f_beta", "list_metrics", "metric", "ratio"]

# fmt: off
# Parts -----------------------------------------------------------------------------------------------------------

TP, FN, FP, TN = (Part((c,), f"{how} {what}s") for c, how, what in (
    ("tp", "true", "positive"), ("fn", "false", "negative"), ("fp", "false", "positive"), ("tn", "true", "negative")))
POSITIVES = Part(("tp", "fn"), "actual positives")
NEGATIVES = Part(("fp", "tn"), "actual negatives")
PREDICTED_POSITIVES = Part(("tp", "fp"), "predicted positives")
PREDICTED_NEGATIVES = Part(("fn", "tn"), "predicted negatives")
CORRECT = Part(("tp", "tn"), "correct predictions")
ERRORS = Part(("fn", "fp"), "errors")
EITHER_POSITIVE = Part(("tp", "fn", "fp"), "actual or predicted positives")
EITHER_NEGATIVE = Part(("fn", "fp", "tn"), "actual or predicted negatives")
MARGINS = (POSITIVES, NEGATIVES, PREDICTED_POSITIVES, PREDICTED_NEGATIVES)
ROWS = (POSITIVES, NEGATIVES)

# Shares of all cases (the paper's binomial metrics) --------------------------------------------------------------

ACC = Share(key="acc", name="Accuracy", means="How many predictions are right", part=CORRECT, better="higher",
            in_paper=True, overall=Accuracy)
PREV = Share(key="prev", name="Prevalence", means="How many cases are actually positive", part=POSITIVES,
             better="neither", in_paper=True, synonyms=("P", "base rate"))
PPR = Share(key="ppr", name="Predicted positive rate", means="How many cases are predicted positive",
            part=PREDICTED_POSITIVES, better="neither", in_paper=True,
            synonyms=("P̂", "P hat", "PP", "selection rate", "acceptance rate"))
INACC = Share(key="inacc", name="Inaccuracy", means="How many predictions are wrong", part=ERRORS, better="lower",
              in_paper=True, overall=Accuracy, synonyms=("error rate", "misclassification rate"))
NPREV = Share(key="nprev", name="Negative prevalence", means="How many cases are actually negative", part=NEGATIVES,
              better="neither", in_paper=True, synonyms=("N", "complement of prevalence"))
PNR = Share(key="pnr", name="Predicted negative rate", means="How many cases are predicted negative",
            part=PREDICTED_NEGATIVES, better="neither", in_paper=True, synonyms=("N̂", "N hat", "PN"))

# Ratios (the paper's joint ratio metrics, F1, and relatives) -----------------------------------------------------

TPR = Ratio(key="tpr", name="True positive rate", part=TP, whole=POSITIVES, needs=(POSITIVES,), better="higher",
            means="Of those who are actually positive, how many are predicted positive",
            in_paper=True, synonyms=("recall", "sensitivity", "hit rate"))
FPR = Ratio(key="fpr", name="False positive rate", part=FP, whole=NEGATIVES, needs=(NEGATIVES,), better="lower",
            means="Of those who are actually negative, how many are predicted positive",
            in_paper=True, synonyms=("fall-out", "false alarm rate"))
TNR = Ratio(key="tnr", name="True negative rate", part=TN, whole=NEGATIVES, needs=(NEGATIVES,), better="higher",
            means="Of those who are actually negative, how many are predicted negative",
            in_paper=True, synonyms=("specificity", "selectivity"))
FNR = Ratio(key="fnr", name="False negative rate", part=FN, whole=POSITIVES, needs=(POSITIVES,), better="lower",
            means="Of those who are actually positive, how many are predicted negative",
            in_paper=True, synonyms=("miss rate",))
PPV = Ratio(key="ppv", name="Positive predictive value", part=TP, whole=PREDICTED_POSITIVES,
            means="Of those predicted positive, how many are actually positive",
            needs=(PREDICTED_POSITIVES,), better="higher", in_paper=True, synonyms=("precision",))
NPV = Ratio(key="npv", name="Negative predictive value", part=TN, whole=PREDICTED_NEGATIVES,
            means="Of those predicted negative, how many are actually negative",
            needs=(PREDICTED_NEGATIVES,), better="higher", in_paper=True)
FDR = Ratio(key="fdr", name="False discovery rate", part=FP, whole=PREDICTED_POSITIVES,
            means="Of those predicted positive, how many are actually negative",
            needs=(PREDICTED_POSITIVES,), better="lower", in_paper=True)
FOR = Ratio(key="for", name="False omission rate", part=FN, whole=PREDICTED_NEGATIVES,
            means="Of those predicted negative, how many are actually positive",
            needs=(PREDICTED_NEGATIVES,), better="lower", in_paper=True, synonyms=("false reassurance rate",))
F1_ORIGINAL = Ratio(
    key="f1_original", name="Original F1 score", part=TP, whole=EITHER_POSITIVE, along=DICE, needs=(TP,),
    means="How well predicted and actual positives agree: the harmonic mean of tpr and ppv",
    printed="2 / ((TP + FP) / TP + (TP + FN) / TP)", better="higher", in_paper=True,
    synonyms=("F1 measure", "Dice-Sørensen coefficient", "Dice-Sorensen coefficient",
              "harmonic mean of precision and recall"))
F1 = Ratio(key="f1", name="Simplified F1 score", part=TP, whole=EITHER_POSITIVE, along=DICE,
           means="How well predicted and actual positives agree: the harmonic mean of tpr and ppv, and 0 if none "
                 "agrees",
           needs=(EITHER_POSITIVE,), better="higher", in_paper=True,
           synonyms=("F1 score", "F-score", "F-measure", "Dice"))
JACCARD = Ratio(key="jaccard", name="Jaccard index", part=TP, whole=EITHER_POSITIVE, needs=(EITHER_POSITIVE,),
                means="Of those who are actually or predicted positive, how many are both", counted="both",
                better="higher",
                synonyms=("critical success index", "threat score", "intersection over union", "IoU"))
TE_PART = Ratio(key="te_part", name="False negatives per false positive", part=FN, whole=ERRORS, along=ODDS,
                means="How many actual positives are missed for each actual negative that is predicted positive",
                needs=(FP,), better="neither", high=inf, synonyms=("treatment equality part", "error ratio"))

# Contrast --------------------------------------------------------------------------------------------------------

MB = Contrast(key="mb", name="Marginal benefit", plus="fp", minus="fn", better="closer to 0", low=-1.0,
              means="How many more cases are predicted positive than are actually positive, per case",
              in_paper=True, synonyms=("B", "benefit"))


# Pairs of rates --------------------------------------------------------------------------------------------------


def _mcc_rank(tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
    d = determinant(tp, fn, fp, tn)
    return d * abs(d), (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)


def _mcc(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    # One root per diagonal pair: a product of four counts overflows int64 at n = 110,218 (E25).
    roots = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
    return determinant(tp, fn, fp, tn, exact=False) / roots


def _mcc_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    # With u = n TP / P - n / 2, FP is the root of a quadratic whose middle is TP N / P - share * u.
    negatives = n - positives
    share = score * score * negatives / (positives + score * score * negatives)
    u = tp * (n / positives) - n / 2
    away = np.sqrt(share * (n * n / 4) - share * (1 - share) * (u * u))
    middle = tp * (negatives / positives) - share * u
    return middle - away if score > 0 else middle + away


def _has_empty_margin(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    return (tp + fp == 0) | (tp + fn == 0) | (tn + fp == 0) | (tn + fn == 0)


def _mcc_limit_rank(tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
    above, below = _mcc_rank(tp, fn, fp, tn)
    return above, below + _has_empty_margin(tp, fn, fp, tn)


def _mcc_limit(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    # With an empty margin the numerator is 0 as well, so any nonzero denominator gives the limit, 0.
    return determinant(tp, fn, fp, tn, exact=False) / (
        np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn)) + _has_empty_margin(tp, fn, fp, tn))


def _pt_rank(tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
    return fp * (tp + fn), tp * (fp + tn)


def _pt(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    # Each root is taken of a rate, so that a table of many TP by many FP has few roots.
    high, low = np.sqrt(fp / (fp + tn)), np.sqrt(tp / (tp + fn))
    return high / (high + low)


def _pt_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    ratio = (score / (1 - score)) ** 2 if score < 1 else inf
    return tp * (ratio * ((n - positives) / positives))


def _informedness_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    negatives = n - positives
    return tp * (negatives / positives) - score * negatives


def _fowlkes_mallows_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    return tp * (tp / (positives * score * score) - 1)


def _kappa_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    more = (n - positives) - positives
    below = 2 * positives + score * more
    last = tp * ((2 * (n - positives) - score * more) / below) - score * positives * n / below
    # Very low scores are out of reach if few cases are positive.
    return np.where(below > 0, last, inf)


def _g_mean_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    return (n - positives) * (1 - score * score * positives / tp)


def _lr_plus_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    return tp * ((n - positives) / (positives * score))


def _lr_minus_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    return (n - positives) * (1 - (positives - tp) / (positives * score))


def _dor_crossing(score: float, n: Any, positives: Any, tp: Any) -> Any:
    return (n - positives) * (tp / (tp + score * (positives - tp)))


def _product_rank(*rates: tuple[str, str]) -> Any:
    """The rank of a product of rates, each given as (part, rest)."""

    def rank(tp: Any, fn: Any, fp: Any, tn: Any) -> Rank:
        cells = dict(zip(CELLS, (tp, fn, fp, tn), strict=True))
        above, below = 1, 1
        for part, rest in rates:
            above, below = above * cells[part], below * (cells[part] + cells[rest])
        return above, below

    return rank


# The printed form without its removable hole at TPR = FPR (E2).
_PT_MEANS = "The prevalence below which a positive prediction quickly becomes less reliable"
_PT_LIMIT = "sqrt(FPR) / (sqrt(TPR) + sqrt(FPR))"
_FM_RANK, _G_RANK = _product_rank(("tp", "fn"), ("tp", "fp")), _product_rank(("tp", "fn"), ("tn", "fp"))

MCC = Pair(
    key="mcc", name="Matthews correlation coefficient", needs=MARGINS, better="higher", low=-1.0, in_paper=True,
    means="How well predictions and labels agree: 1 always, 0 as often as by chance, -1 never", overall=Mcc,
    printed="(TP*TN - FP*FN) / sqrt((TP + FP)*(TP + FN)*(TN + FP)*(TN + FN))", ranked=_mcc_rank,
    link=signed_root, scored=_mcc, by_margins=True, solved=_mcc_crossing,
    synonyms=("phi coefficient", "phi", "φ", "r_φ", "r_phi"))
MCC_LIMIT = Pair(
    key="mcc_limit", name="Matthews correlation coefficient with limits", better="higher", low=-1.0,
    means="How well predictions and labels agree: 1 always, 0 as by chance or with nothing to compare, -1 never",
    needs=tuple(Part(tuple(c for c in CELLS if c != corner.cells[0]), f"cases other than {corner.name}")
                for corner in (TP, FN, FP, TN)),
    printed="0 if (TP + FP)*(TP + FN)*(TN + FP)*(TN + FN) == 0 else MCC",
    ranked=_mcc_limit_rank, link=signed_root, scored=_mcc_limit, by_margins=True,
    solved=_mcc_crossing, synonyms=("MCC with limits",))
PT = Pair(
    key="pt", name="Prevalence threshold", means=_PT_MEANS, needs=MARGINS, apart=True, better="lower", rises=True,
    in_paper=True, printed="(sqrt(TPR*FPR) - FPR) / (TPR - FPR)", computed=_PT_LIMIT, ranked=_pt_rank, link=root_share,
    scored=_pt, solved=_pt_crossing, zero_if=(FP,))
PT_LIMIT = Pair(
    key="pt_limit", name="Prevalence threshold with limits", means=f"{_PT_MEANS}; 1/2 if tpr and fpr are equal",
    needs=(*ROWS, PREDICTED_POSITIVES), better="lower", rises=True, printed=_PT_LIMIT, ranked=_pt_rank,
    link=root_share, scored=_pt, zero_if=(FP,), solved=_pt_crossing,
    synonyms=("PT with limits", "simplified prevalence threshold"))
BALANCED_ACCURACY = Pair(
    key="balanced_accuracy", name="Balanced accuracy", needs=ROWS, better="higher", printed="(TPR + TNR) / 2",
    means="The mean of tpr and tnr, so that actual positives and negatives count the same",
    overall=partial(MeanOf, of=TPR),
    ranked=lambda tp, fn, fp, tn: (tp * (fp + tn) + tn * (tp + fn), 2 * (tp + fn) * (fp + tn)), zero_if=(CORRECT,),
    by_margins=True, solved=lambda score, *counts: _informedness_crossing(2 * score - 1, *counts))
INFORMEDNESS = Pair(
    key="informedness", name="Informedness", needs=ROWS, better="higher", low=-1.0, printed="TPR + TNR - 1",
    means="How well actual positives and negatives are told apart (tpr - fpr): 1 perfectly, 0 as by chance",
    ranked=lambda tp, fn, fp, tn: (determinant(tp, fn, fp, tn), (tp + fn) * (fp + tn)),
    synonyms=("Youden's J", "Youden", "Youden index", "bookmaker informedness"), by_margins=True,
    solved=_informedness_crossing)
MARKEDNESS = Pair(
    key="markedness", name="Markedness", needs=(PREDICTED_POSITIVES, PREDICTED_NEGATIVES), better="higher", low=-1.0,
    means="How much can be learnt from a prediction (ppv + npv - 1): 1 everything, 0 nothing",
    printed="PPV + NPV - 1", columns=True, by_margins=True, synonyms=("delta P",), solved=_informedness_crossing,
    ranked=lambda tp, fn, fp, tn: (determinant(tp, fn, fp, tn), (tp + fp) * (fn + tn)))
FOWLKES_MALLOWS = Pair(
    key="fowlkes_mallows", name="Fowlkes-Mallows index", needs=(POSITIVES, PREDICTED_POSITIVES), better="higher",
    means="How well predicted and actual positives agree: the geometric mean of tpr and ppv",
    printed="sqrt(PPV*TPR)", ranked=_FM_RANK, link=signed_root, zero_if=(TP,), by_margins=True,
    wholes=(POSITIVES, PREDICTED_POSITIVES), solved=_fowlkes_mallows_crossing)
KAPPA = Pair(
    key="kappa", name="Cohen's kappa", needs=(EITHER_POSITIVE, EITHER_NEGATIVE), better="higher", low=-1.0,
    means="How much more often than by chance predictions are right: 1 always, 0 as often as by chance", overall=Kappa,
    printed="2*(TP*TN - FP*FN) / ((TP + FP)*(FP + TN) + (TP + FN)*(FN + TN))", synonyms=("kappa", "Heidke skill score"),
    by_margins=True, solved=_kappa_crossing, ranked=lambda tp, fn, fp, tn: (
        2 * determinant(tp, fn, fp, tn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)))
G_MEAN = Pair(
    key="g_mean", name="Geometric mean of TPR and TNR", needs=ROWS, better="higher", printed="sqrt(TPR*TNR)",
    means="The geometric mean of tpr and tnr, which is low if either of them is",
    ranked=_G_RANK, link=signed_root, zero_if=(TP, TN), solved=_g_mean_crossing, synonyms=("geometric mean",))
LR_PLUS = Pair(
    key="lr_plus", name="Positive likelihood ratio", needs=(POSITIVES, FP), better="higher", high=inf,
    means="How many times as often actual positives are predicted positive as actual negatives are",
    printed="TPR / FPR", ranked=lambda tp, fn, fp, tn: (tp * (fp + tn), fp * (tp + fn)), zero_if=(TP,),
    solved=_lr_plus_crossing, synonyms=("LR+",))
LR_MINUS = Pair(
    key="lr_minus", name="Negative likelihood ratio", needs=(POSITIVES, TN), better="lower", high=inf, rises=True,
    means="How many times as often actual positives are predicted negative as actual negatives are",
    printed="FNR / TNR", ranked=lambda tp, fn, fp, tn: (fn * (fp + tn), tn * (tp + fn)), zero_if=(FN,),
    solved=_lr_minus_crossing, synonyms=("LR-",))
DOR = Pair(
    key="dor", name="Diagnostic odds ratio", needs=(FN, FP), better="higher", high=inf, printed="TP*TN / (FP*FN)",
    means="The odds of a positive prediction for actual positives, divided by those for actual negatives",
    ranked=lambda tp, fn, fp, tn: (tp * tn, fp * fn), zero_if=(TP, TN), solved=_dor_crossing, synonyms=("odds ratio",))


def f_beta(beta: float | Fraction) -> OneGroup:
    """The F-beta score, which weighs recall ``beta`` times as much as precision.

    Parameters
    ----------
    beta : float or Fraction
        The weight, from 0.001 to 1000. It is rounded to the nearest fraction with a denominator of at most 1000, so
        that ties are exact.

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
    if isinstance(beta, bool) or not isinstance(beta, Real) or not Fraction(1, 1000) <= beta <= 1000:
        raise InvalidInput(argument="beta", must="be a number from 0.001 to 1000", got=beta)
    return _f_beta(Fraction(float(beta)).limit_denominator(1000))


@cache
def _f_beta(beta: Fraction) -> OneGroup:
    square = beta**2
    if square == 1:
        return F1
    p, q = square.numerator, square.denominator
    return Pair(
        key=f"f{float(beta):g}", name=f"F-beta score, beta = {float(beta):g}",
        means="How well predicted and actual positives agree, with tpr weighing "
              f"{float(beta):g} times as much as ppv", needs=(EITHER_POSITIVE,),
        better="higher", printed=f"{p + q}*TP / ({p + q}*TP + {p}*FN + {q}*FP)", zero_if=(TP,), by_margins=True,
        wholes=(EITHER_POSITIVE,), ranked=lambda tp, fn, fp, tn: ((p + q) * tp, (p + q) * tp + p * fn + q * fp),
        solved=lambda score, n, positives, tp: ((p + q) * (1 / score - 1) + p) / q * tp - p / q * positives)


# Two groups ------------------------------------------------------------------------------------------------------

OFI = comparison(MB, "difference", key="ofi", name="Objective fairness index", in_paper=True)
TE = comparison(TE_PART, "difference", key="te", name="Treatment equality", in_paper=True)
EQUAL_OPPORTUNITY = comparison(TPR, "difference", key="equal_opportunity", name="Equal opportunity",
                            synonyms=("equal opportunity difference",))
PREDICTIVE_EQUALITY = comparison(FPR, "difference", key="predictive_equality", name="Predictive equality")
PREDICTIVE_PARITY = comparison(PPV, "difference", key="predictive_parity", name="Predictive parity",
                            synonyms=("predictive parity difference",))
DEMOGRAPHIC_PARITY = comparison(PPR, "difference", key="demographic_parity", name="Demographic parity",
                             synonyms=("statistical parity", "demographic parity difference",
                                       "statistical parity difference"))
DISPARATE_IMPACT = comparison(PPR, "ratio", key="disparate_impact", name="Disparate impact",
                           synonyms=("impact ratio", "adverse impact ratio", "demographic parity ratio"))
EQUALIZED_ODDS = Worst(key="equalized_odds", name="Equalized odds", of=(EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY),
                       means="The larger of the gaps in tpr and in fpr between the group and its reference",
                       better="closer to 0", synonyms=("equalised odds", "equalized odds difference"))

# fmt: on


class Catalogue:
    """The metrics, by key, name or synonym; case is ignored."""

    def __init__(self, *metrics: Metric) -> None:
        self._metrics = metrics
        self._found: dict[str, Metric] = {}
        for m in metrics:
            for name in {plain_name(name) for name in (m.key, m.name, *m.synonyms)}:
                if name in self._found:
                    raise InvalidInput(f"{name!r} names both {self._found[name].key} and {m.key}")
                self._found[name] = m

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    @property
    def one_group(self) -> tuple[OneGroup, ...]:
        """The metrics of one matrix."""
        return tuple(m for m in self if isinstance(m, OneGroup))

    @property
    def paper(self) -> tuple[Metric, ...]:
        """The paper's 21."""
        return tuple(m for m in self if m.in_paper)

    def find(self, name: str) -> Metric:
        """The metric with this key, name or synonym; also ``f3``, ``npv_difference``, ``tpr_ratio`` and the like."""
        plain = plain_name(name)
        if plain in self._found:
            return self._found[plain]
        if plain in _ELSEWHERE:
            return self.find(_ELSEWHERE[plain])
        ranking = ranking_metric(name)
        if instead := ranking.instead if ranking else not_here(plain):
            raise UnknownName(f"no metric is called {brief(name)}: it {instead}")
        if beta := re.fullmatch(r"f ?(?:beta ?)?(\d+(?:\.\d+)?)", plain):
            return f_beta(float(beta[1]))
        base, _, last = plain.rpartition(" ")
        for kind in get_args(Kind):
            if last == kind and base and isinstance(compared := self.find(base), OneGroup):
                return self.compare(compared, kind)
        raise UnknownName.among("metric", name, self._found, see="list_metrics() or 'evenhand metrics' lists them all")

    def compare(self, base: OneGroup, kind: Kind) -> Comparison:
        """The difference or ratio of ``base``; the catalogue's own record, if it has one."""
        for m in self:
            if isinstance(m, Comparison) and (m.base, m.kind) == (base, kind):
                return m
        return comparison(base, kind)


_ELSEWHERE = {plain_name(f.name): f.key for f in SAME}

# fmt: off
CATALOGUE = Catalogue(
    ACC, PREV, PPR, INACC, NPREV, PNR,
    TPR, FPR, TNR, FNR, PPV, NPV, FDR, FOR,
    F1_ORIGINAL, F1, MCC, PT, MB,
    OFI, TE,
    MCC_LIMIT, PT_LIMIT, BALANCED_ACCURACY, INFORMEDNESS, MARKEDNESS, JACCARD, FOWLKES_MALLOWS, KAPPA, G_MEAN,
    LR_PLUS, LR_MINUS, DOR, f_beta(0.5), f_beta(2), TE_PART,
    EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY, PREDICTIVE_PARITY, DEMOGRAPHIC_PARITY, DISPARATE_IMPACT, EQUALIZED_ODDS,
)
# fmt: on


def metric(name: str | Metric) -> Metric:
    """Find a metric by key, name or synonym.

    Parameters
    ----------
    name : str or Metric
        Case, spaces, hyphens and underscores do not matter. Any one-group metric can be followed by ``_difference`` or
        ``_ratio``, and ``f`` by a beta. Functions of scikit-learn and fairlearn are found by their names. A `Metric` is
        returned unchanged.

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
        got = f"got {brief(name)} of type {type(name).__name__}"
        raise InvalidInput(argument="metric", must="be a name or a Metric", hint=got)
    return CATALOGUE.find(name)


def list_metrics() -> tuple[Metric, ...]:
    """All metrics of the catalogue, the paper's 21 first.

    Returns
    -------
    tuple of Metric
        The metrics.

    Examples
    --------
    >>> [m.key for m in list_metrics()][:6]
    ['acc', 'prev', 'ppr', 'inacc', 'nprev', 'pnr']
    """
    return tuple(CATALOGUE)


def difference(name: str | OneGroup) -> Comparison:
    """The metric that is the difference of a one-group metric: group minus reference.

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
    >>> from evenhand import ConfusionMatrix
    >>> difference("tpr").key
    'equal_opportunity'
    >>> difference("tpr")(ConfusionMatrix(1, 3, 0, 0), ConfusionMatrix(1, 1, 0, 0))
    -0.25
    """
    return _compared(name, "difference")


def ratio(name: str | OneGroup) -> Comparison:
    """The metric that is the ratio of a one-group metric: group over reference.

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
    >>> from evenhand import ConfusionMatrix
    >>> ratio("ppr").key
    'disparate_impact'
    >>> ratio("ppr")(ConfusionMatrix(1, 3, 0, 0), ConfusionMatrix(1, 1, 0, 0))
    0.5
    """
    return _compared(name, "ratio")


def _compared(name: str | OneGroup, kind: Kind) -> Comparison:
    base = metric(name)
    if not isinstance(base, OneGroup):
        raise InvalidInput(f"{base.key} already compares two groups; {kind}() takes a metric of one group")
    return CATALOGUE.compare(base, kind)
