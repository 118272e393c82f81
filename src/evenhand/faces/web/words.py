"""What messages of the library say on the page, where arguments are columns, tick-boxes and fields."""

from __future__ import annotations

import re

__all__ = ["in_page_words"]

# Whole phrases before the words that occur in them.
_WORDS = {
    "text must be an audit written by to_json()": "the file must be an audit that was saved as JSON",
    "pass either y_pred (predictions) or y_score (scores); got neither": "choose a column of predictions or of scores",
    "y_score must be between 0 and 1": "scores must be between 0 and 1",
    "for other scores pass threshold=, at": "for other scores enter a threshold, at",
    "pass the positive labels of each as positive_label= and positive_prediction=": "tick the positive values of each",
    "pass them as y_score= with a threshold=": "choose the column as scores, with a threshold",
    "or pass scores as y_score with a threshold": "or choose it as scores, with a threshold",
    "pass the positive ones as positive=, or audit each class with audit_classes": "tick the positive ones",
    "pass the positive ones as positive=": "tick the positive ones",
    "pass the positive label as positive_label=": "tick the positive value, or enter it",
    "pass it as positive=": "tick it, or enter it",
    "more than max_groups=": "more than the limit of ",
    "max_groups": "the largest number of groups",
    "positive_prediction must": "the positive predictions must",
    "positive_label must": "the positive labels must",
    "labels (y_true)": "labels",
    "y_true and y_pred contain": "labels and predictions contain",
    "y_true": "the column of labels",
    "y_pred": "the column of predictions",
    "y_score": "the column of scores",
    "replace_undefined_by": "the replacement of undefined scores",
    "impact_share": "the smallest share for impact ratios",
    "n must contain at least two sample sizes": "the sizes must contain at least two",
    "choose a smaller difference, or pass the group's truth": "choose a smaller difference",
}
_TABLE = re.compile(r", or [^?]+\?table=NAME must say which")
_ONE_GROUP = re.compile(r"\w+\(\) takes the one-group metric \w+")


def in_page_words(message: str) -> str:
    """A message of the library in the words of the page.

    Parameters
    ----------
    message : str
        What an error of the library says.

    Returns
    -------
    str
        The same, with what the page shows in place of arguments.

    Examples
    --------
    >>> in_page_words("every value of y_true is missing; there is nothing to audit")
    'every value of the column of labels is missing; there is nothing to audit'
    """
    for argument, words in _WORDS.items():
        message = message.replace(argument, words)
    return _ONE_GROUP.sub("choose a metric of one group", _TABLE.sub("", message))
