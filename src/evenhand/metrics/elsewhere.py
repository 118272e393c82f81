"""What other libraries call the metrics, and where one of their names means something else.

`SAME` lists functions of other libraries that are found by their names; a test calls each of them. `OTHER` lists names
that find a metric here and mean something else there. `NOT_HERE` lists names of functions that are no metric here, each
with what to use instead.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NOT_HERE", "OTHER", "SAME", "Foreign", "not_here", "notes_on"]

_LARGEST = "the largest minus the smallest score of all groups; for two, the absolute value of this"
_SMALLEST = "the smallest over the largest score of all groups; for two, this or its inverse, whichever is smaller"
_SCORES = "needs scores, and a confusion matrix keeps predictions only"


@dataclass(frozen=True, slots=True)
class Foreign:
    """A name in another library, the key of the metric that it finds here, and what it means there if that differs."""

    library: str
    name: str
    key: str
    means: str = ""

    def __str__(self) -> str:
        return f"{self.name} in {self.library}" + (f" is {self.means}" if self.means else "")


SAME = tuple(
    Foreign(library, name, key, means)
    for library, names in {
        "scikit-learn": (
            ("accuracy_score", "acc", ""),
            ("balanced_accuracy_score", "balanced_accuracy", ""),
            ("recall_score", "tpr", ""),
            ("precision_score", "ppv", ""),
            ("f1_score", "f1", ""),
            ("jaccard_score", "jaccard", ""),
            ("matthews_corrcoef", "mcc", ""),
            ("cohen_kappa_score", "kappa", ""),
            ("zero_one_loss", "inacc", ""),
            ("hamming_loss", "inacc", ""),
            ("positive_likelihood_ratio", "lr_plus", ""),
        ),
        "fairlearn": (
            ("true_positive_rate", "tpr", ""),
            ("true_negative_rate", "tnr", ""),
            ("false_positive_rate", "fpr", ""),
            ("false_negative_rate", "fnr", ""),
            ("selection_rate", "ppr", ""),
            ("equalized_odds_difference", "equalized_odds", "the largest over all pairs of groups; for two, the same"),
            ("equal_opportunity_difference", "equal_opportunity", _LARGEST),
            ("demographic_parity_difference", "demographic_parity", _LARGEST),
            ("equal_opportunity_ratio", "tpr_ratio", _SMALLEST),
            ("demographic_parity_ratio", "disparate_impact", _SMALLEST),
        ),
        "aequitas": (("pprev", "ppr", ""),),
    }.items()
    for name, key, means in names
)

OTHER = (
    Foreign("aequitas", "ppr", "ppr", "the group's share of the predicted positives of all groups"),
    Foreign("aequitas", "pp", "ppr", "the number of predicted positives"),
    Foreign("aequitas", "pn", "pnr", "the number of predicted negatives"),
    Foreign("PyCM", "P", "prev", "the number of actual positives; the prevalence is PRE there"),
    Foreign("PyCM", "N", "nprev", "the number of actual negatives"),
    Foreign(
        "scikit-learn",
        "fowlkes_mallows_score",
        "fowlkes_mallows",
        "the index of two clusterings, by pairs of cases",
    ),
)

# By name, as a sentence goes on after it.
NOT_HERE = {
    "fowlkes_mallows_score": "compares two clusterings in scikit-learn; the index of a confusion matrix is "
    "'fowlkes_mallows'",
    "fbeta_score": "needs a beta; use f_beta(beta), or a name such as 'f2'",
    "class_likelihood_ratios": "is two metrics; use 'lr_plus' and 'lr_minus'",
    "neg_negative_likelihood_ratio": "is negated; use 'lr_minus', or evenhand.sklearn.scorer('lr_minus') for a search",
    "precision_recall_fscore_support": "is several metrics; use 'ppv', 'tpr' and 'f1', or "
    "evenhand.sklearn.small_sample_report()",
    "classification_report": "is a table; use evenhand.sklearn.small_sample_report()",
    "average_precision_score": _SCORES,
    "average_precision": _SCORES,
    "neg_brier_score": f"is negated and {_SCORES}; use 'brier' in an audit; of predictions it is minus 'inacc'",
    "neg_log_loss": f"is negated and {_SCORES}; use 'log_loss' in an audit",
    "hinge_loss": _SCORES,
    "d2_log_loss_score": _SCORES,
    "d2_brier_score": _SCORES,
    "confusion_matrix": "is the counts themselves; use ConfusionMatrix.from_labels()",
    "multilabel_confusion_matrix": "is the counts of each class; use MulticlassConfusion.from_labels()",
    "equalized_odds_ratio": "is the smaller of two ratios in fairlearn; use 'tpr_ratio' and 'fpr_ratio', or the "
    "function of that name in evenhand.fairlearn, which is about all groups",
    "average_odds_difference": "is the mean of two differences in AIF360; use 'equal_opportunity' and "
    "'predictive_equality'",
    "mean_prediction": "averages predictions of any kind in fairlearn; of predictions 0 and 1 it is 'ppr'",
    "count": "is the number of cases, n of a ConfusionMatrix",
}
_OVER_CLASSES = "is an average over classes in scikit-learn; use {!r} of a MulticlassConfusion with average={!r}"
_OVER_GROUPS = "is the {} score of all groups in fairlearn; use audit(), and between_groups() of what it returns"


def not_here(name: str) -> str | None:
    """What to use instead of a plain name of another library that is no metric here; None if it is not listed.

    It is the rest of a sentence that begins with the name.

    >>> not_here("fbeta score")
    "needs a beta; use f_beta(beta), or a name such as 'f2'"
    >>> not_here("f1 macro")
    "is an average over classes in scikit-learn; use 'f1' of a MulticlassConfusion with average='macro'"
    >>> not_here("recall score group min")
    'is the smallest score of all groups in fairlearn; use audit(), and between_groups() of what it returns'
    """
    for ending, which in ((" group min", "smallest"), (" group max", "largest")):
        if name.endswith(ending):
            return _OVER_GROUPS.format(which)
    for average in ("macro", "micro", "weighted"):
        score = name.removesuffix(f" {average}")
        if score in ("precision", "recall", "f1", "jaccard") and score != name:
            return _OVER_CLASSES.format(score, average)
    return NOT_HERE.get(name.replace(" ", "_"))


def notes_on(key: str) -> tuple[str, ...]:
    """What other libraries call a metric, and what they mean by its names if that differs, one line per name.

    >>> for line in notes_on("nprev"):
    ...     print(line)
    N in PyCM is the number of actual negatives
    """
    return tuple(str(f) for f in (*SAME, *OTHER) if f.key == key)
