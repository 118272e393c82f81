"""What other libraries call the metrics, and where a name means something else there."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_LARGEST_OF_PAIRS = "the largest over all pairs of groups"
_LARGEST = "the largest minus the smallest score of all groups"
_SMALLEST = "the smallest over the largest score of all groups"
_SHARE = "the group's share of the predicted positives of all groups"
_CLUSTERINGS = "an index of clusterings"
_NUMBER = "the number of actual"
NEEDS_SCORES = "needs scores, and a confusion matrix only holds predicted labels"


@dataclass(frozen=True, slots=True)
class Alias:
    """A name in another library, the key here, and the meaning there if it differs."""

    library: str
    name: str
    key: str
    meaning: str = ""

    def __str__(self) -> str:
        """A note on the metric: the name, its library and, if it differs, what it means there."""
        meaning = f" is {self.meaning}" if self.meaning else ""
        return f"{self.name} in {self.library}{meaning}"


# By library and function, the key of the same metric here.
_SAME = {
    "scikit-learn": {
        "accuracy_score": "acc",
        "balanced_accuracy_score": "balanced_accuracy",
        "recall_score": "tpr",
        "precision_score": "ppv",
        "f1_score": "f1",
        "jaccard_score": "jaccard",
        "matthews_corrcoef": "mcc",
        "cohen_kappa_score": "kappa",
        "zero_one_loss": "inacc",
        "hamming_loss": "inacc",
        "positive_likelihood_ratio": "lr_plus",
    },
    "fairlearn": {
        "true_positive_rate": "tpr",
        "true_negative_rate": "tnr",
        "false_positive_rate": "fpr",
        "false_negative_rate": "fnr",
        "selection_rate": "ppr",
    },
    "aequitas": {"pprev": "ppr"},
}
# Functions of fairlearn over all groups: the key of the metric of two groups, and what differs.
_OVER_GROUPS = {
    "equalized_odds_difference": ("equalized_odds", _LARGEST_OF_PAIRS),
    "equal_opportunity_difference": ("equal_opportunity", _LARGEST),
    "demographic_parity_difference": ("demographic_parity", _LARGEST),
    "equal_opportunity_ratio": ("tpr_ratio", _SMALLEST),
    "demographic_parity_ratio": ("disparate_impact", _SMALLEST),
}
#: Functions of other libraries that are found by their names.
ALIASES = (
    *(
        Alias(library, *pair)
        for library, keys in _SAME.items()
        for pair in keys.items()
    ),
    *(
        Alias("fairlearn", name, key, what)
        for name, (key, what) in _OVER_GROUPS.items()
    ),
)

#: Names that find a metric here and mean something else there.
FALSE_FRIENDS = (
    Alias("aequitas", "ppr", "ppr", _SHARE),
    Alias("PyCM", "P", "prev", f"{_NUMBER} positives; the prevalence is PRE there"),
    Alias("PyCM", "N", "nprev", f"{_NUMBER} negatives"),
    Alias("scikit-learn", "fowlkes_mallows_score", "fowlkes_mallows", _CLUSTERINGS),
)

#: Functions of other libraries that are not metrics here, and what to use instead.
NOT_METRICS = {
    "fowlkes_mallows_score": "compares two clusterings in scikit-learn; use 'fowlkes_mallows'",
    "fbeta_score": "needs a beta; use f_beta(beta), or a name such as 'f2'",
    "class_likelihood_ratios": "is two metrics; use 'lr_plus' and 'lr_minus'",
    "neg_negative_likelihood_ratio": "is negated; use 'lr_minus'",
    "classification_report": "is a table; use evenhand.sklearn.small_sample_report()",
    "average_precision_score": NEEDS_SCORES,
    "equalized_odds_ratio": "is the smaller of two ratios in fairlearn; use 'tpr_ratio' and "
    "'fpr_ratio', or the function of that name in evenhand.fairlearn",
    "average_odds_difference": "is the mean of two differences in AIF360; use "
    "'equal_opportunity' and 'predictive_equality'",
    "mean_prediction": "averages predictions; for 0 and 1 it is 'ppr'",
}


def normalize_name(name: str) -> str:
    """A name in lower case, with spaces for hyphens and underscores, to compare spellings.

    >>> normalize_name("Fowlkes–Mallows_index"), normalize_name("LR-")
    ('fowlkes mallows index', 'lr-')
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    text = text.replace("’", "'").replace("−", "-")
    # A trailing sign is part of a name (LR+, LR-); a hyphen between letters is not.
    return re.sub(r"(?:[\s_]|[-–—](?=\w))+", " ", text).strip()


def alternative_hint(name: str) -> str | None:
    """The end of an error message, after a normalized name: what to use instead.

    None if the name is no function of another library that is known to be missing here.

    >>> alternative_hint("fbeta score")
    "needs a beta; use f_beta(beta), or a name such as 'f2'"
    """
    # fairlearn's names, such as `accuracy_score_group_min`.
    for ending, adjective in (("min", "smallest"), ("max", "largest")):
        if name.endswith(f" group {ending}"):
            return f"is the {adjective} score of all groups in fairlearn; use audit()"
    # scikit-learn's names of scorers, such as `f1_macro`.
    score, _, average = name.rpartition(" ")
    is_averaged = score in ("precision", "recall", "f1", "jaccard")
    if is_averaged and average in ("macro", "micro", "weighted"):
        return (
            f"is an average over classes in scikit-learn; use {score!r} of a "
            f"MulticlassConfusion with average={average!r}"
        )
    return NOT_METRICS.get(name.replace(" ", "_"))


def notes_on(key: str) -> tuple[str, ...]:
    """What other libraries call a metric, and what they mean by its names if that differs.

    It is the text of `Metric.notes`.
    """
    return tuple(str(alias) for alias in (*ALIASES, *FALSE_FRIENDS) if alias.key == key)
