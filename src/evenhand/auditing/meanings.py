"""What a metric means for a person, in one line, and which way is good.

The words are for readers who know no formulas. Whether a positive prediction is good for the person (a loan) or bad
(an arrest) decides which errors harm: if it is good, wrong negative predictions; if it is bad, wrong positive ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cells import CELLS
from ..metrics import Metric
from ..metrics import metric as find_metric
from .settings import Favourable

__all__ = ["Meaning", "meaning", "of_people", "worse_way"]

_MEANS = {
    "acc": "How many predictions are right",
    "inacc": "How many predictions are wrong",
    "prev": "How many cases are actually positive",
    "nprev": "How many cases are actually negative",
    "ppr": "How many cases are predicted positive",
    "pnr": "How many cases are predicted negative",
    "tpr": "Of those who are actually positive, how many are predicted positive",
    "fnr": "Of those who are actually positive, how many are predicted negative",
    "fpr": "Of those who are actually negative, how many are predicted positive",
    "tnr": "Of those who are actually negative, how many are predicted negative",
    "ppv": "Of those predicted positive, how many are actually positive",
    "fdr": "Of those predicted positive, how many are actually negative",
    "npv": "Of those predicted negative, how many are actually negative",
    "for": "Of those predicted negative, how many are actually positive",
    "f1_original": "How well predicted and actual positives agree: the harmonic mean of tpr and ppv",
    "f1": "How well predicted and actual positives agree: the harmonic mean of tpr and ppv, and 0 if none agrees",
    "jaccard": "Of those who are actually or predicted positive, how many are both",
    "te_part": "How many actual positives are missed for each actual negative that is predicted positive",
    "mb": "How many more cases are predicted positive than are actually positive, per case",
    "mcc": "How strongly predictions and labels agree, from -1 over 0 (as by chance) to 1",
    "mcc_limit": "How strongly predictions and labels agree, from -1 over 0 (as by chance, or nothing to compare) to 1",
    "pt": "The share of actual positives below which a positive prediction quickly becomes less reliable",
    "pt_limit": "The share of actual positives below which a positive prediction quickly becomes less reliable",
    "balanced_accuracy": "The mean of tpr and tnr, so that both kinds of people count the same",
    "informedness": "How much better than chance both kinds of people are recognised, from -1 over 0 to 1",
    "markedness": "How much more than chance both kinds of predictions tell, from -1 over 0 to 1",
    "fowlkes_mallows": "How well predicted and actual positives agree: the geometric mean of tpr and ppv",
    "kappa": "How much more often than by chance predictions are right, from -1 over 0 to 1",
    "g_mean": "The geometric mean of tpr and tnr, which is low if either kind of people is badly recognised",
    "lr_plus": "How many times as often actual positives are predicted positive as actual negatives are",
    "lr_minus": "How many times as often actual positives are predicted negative as actual negatives are",
    "dor": "The odds of a positive prediction for actual positives, divided by those for actual negatives",
    "equalized_odds": "The larger of the gaps in tpr and in fpr between the group and its reference",
}

# Metrics that say how often people get a prediction, and the prediction.
_GIVEN = {"ppr": "positive", "pnr": "negative"}
# Metrics of one kind of error: the prediction that is wrong, and the direction in which there is more of it.
_ERRORS = {
    **dict.fromkeys(("tpr", "npv"), ("negative", "lower")),
    **dict.fromkeys(("fnr", "for"), ("negative", "higher")),
    **dict.fromkeys(("tnr", "ppv"), ("positive", "lower")),
    **dict.fromkeys(("fpr", "fdr"), ("positive", "higher")),
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a metric means for a person.

    Attributes
    ----------
    means : str
        What it says.
    good : str
        Which way is good, and for whom.
    """

    means: str
    good: str


def meaning(name: str | Metric, favourable: Favourable = "positive") -> Meaning:
    """What a metric means for a person, and which way is good.

    Parameters
    ----------
    name : str or Metric
        The metric.
    favourable : {"positive", "negative"}
        The prediction that is good for the person.

    Returns
    -------
    Meaning
        The words.

    Examples
    --------
    >>> tpr = meaning("tpr", favourable="positive")
    >>> print(f"{tpr.means}. {tpr.good}.")
    Of those who are actually positive, how many are predicted positive. Higher is better; errors harm the person.
    >>> meaning("prev").good
    'A fact about the people, neither good nor bad'
    """
    m = find_metric(name)
    return Meaning(_means(m), _good(m, favourable))


def _means(m: Metric) -> str:
    if m.key in _MEANS:
        return _MEANS[m.key]
    if m.kind == "difference":
        return f"The group's {m.base.key} minus its reference's"
    if m.kind == "ratio":
        return f"The group's {m.base.key} divided by its reference's"
    beta = m.key.removeprefix("f")
    return f"How well predicted and actual positives agree, with tpr weighing {beta} times as much as ppv"


def _good(m: Metric, favourable: Favourable) -> str:
    if m.comparisons:
        return f"{'1' if m.kind == 'ratio' else '0'} means no gap"
    if of_people(m):
        return "A fact about the people, neither good nor bad"
    if m.key in _GIVEN:
        good = _GIVEN[m.key] == favourable
        return f"Higher means that more people get the {'favourable' if good else 'unfavourable'} prediction"
    if m.better == "neither":
        return "Neither way is better by itself"
    if m.better.startswith("closer"):
        return f"{m.better.capitalize()} is better"
    better = f"{m.better.capitalize()} is better"
    if m.key in _ERRORS:
        return f"{better}; errors {'harm' if _ERRORS[m.key][0] != favourable else 'favour'} the person"
    return better


def of_people(name: str | Metric) -> bool:
    """Whether a metric says something about people alone, whatever is predicted.

    Parameters
    ----------
    name : str or Metric
        The metric.

    Returns
    -------
    bool
        True for prevalence and its complement, and for their differences and ratios.

    Examples
    --------
    >>> of_people("prev"), of_people("ppr")
    (True, False)
    """
    tree = find_metric(name).base.tree
    return tree.last_of == CELLS and tree.last in (("tp", "fn"), ("fp", "tn"))


def worse_way(name: str | Metric, favourable: Favourable = "positive") -> str | None:
    """The direction in which a group's score is worse for its people than another's.

    Parameters
    ----------
    name : str or Metric
        The metric.
    favourable : {"positive", "negative"}
        The prediction that is good for the person.

    Returns
    -------
    {"higher", "lower"} or None
        None if neither direction harms them: facts about people, errors in their favour, and scores that are best in
        the middle.

    Examples
    --------
    >>> worse_way("fpr", favourable="negative"), worse_way("fpr", favourable="positive")
    ('higher', None)
    """
    m = find_metric(name)
    key = m.base.key if m.comparisons and not m.is_distance else m.key
    if key in _GIVEN:
        return "lower" if _GIVEN[key] == favourable else "higher"
    if key in _ERRORS:
        wrong, more = _ERRORS[key]
        return more if wrong != favourable else None
    if m.is_distance:
        return "higher"
    return {"higher": "lower", "lower": "higher"}.get(m.base.better)
