"""The words of a metric that follow from its cells: what counted cases have in common, and whom a gap harms.

Whether a positive prediction is good for a person (a loan) or bad (an arrest) decides which errors harm: if it is good,
wrong negative predictions; if it is bad, wrong positive ones. Until that is said, nothing is said of harm.
"""

from __future__ import annotations

from typing import Literal

from ..cells import CELLS

__all__ = ["Prediction", "Way", "in_common", "kind_of_error", "prediction_given"]

Prediction = Literal["positive", "negative"]
Way = Literal["higher", "lower"]
Names = tuple[str, ...]

_COMMON = {
    "predicted positive": {"tp", "fp"},
    "predicted negative": {"fn", "tn"},
    "actually positive": {"tp", "fn"},
    "actually negative": {"fp", "tn"},
    "predicted correctly": {"tp", "tn"},
    "predicted wrongly": {"fn", "fp"},
}
_WRONG: dict[str, Prediction] = {"fn": "negative", "fp": "positive"}


def in_common(part: Names, whole: Names) -> str | None:
    """What the cases of a part have in common that the rest of the whole lacks; None if it has no name.

    >>> in_common(("fn",), ("tp", "fn"))
    'predicted negative'
    """
    return next((words for words, cells in _COMMON.items() if cells.intersection(whole) == set(part)), None)


def prediction_given(part: Names, whole: Names) -> Prediction | None:
    """The prediction that a share of all people gets; None if it is the share of something else."""
    given: dict[str | None, Prediction] = {"predicted positive": "positive", "predicted negative": "negative"}
    return given.get(in_common(part, whole)) if whole == CELLS else None


def kind_of_error(part: Names, whole: Names) -> tuple[Prediction, Way] | None:
    """The wrong prediction that separates part and rest, and the way in which there is more of it.

    None if these are not the correct and the wrong cases of one kind.

    >>> kind_of_error(("tp",), ("tp", "fn"))
    ('negative', 'lower')
    """
    wrong = [cell for cell in whole if cell in _WRONG]
    if len(whole) != 2 or len(wrong) != 1:
        return None
    return _WRONG[wrong[0]], "higher" if wrong[0] in part else "lower"
