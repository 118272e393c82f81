"""The largest gap between groups, under fairlearn's names: plain numbers, without tests.

Groups whose score is undefined are left out with a warning, and never count as 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import isnan, nan
from typing import Any

import numpy as np

from ..auditing import Settings, cells_by_group
from ..data import Answers, build_tally
from ..metrics import GapKind, metric as find_metric
from ..wording import several

_DOCSTRING = """{summary}

    Equal to fairlearn's function of this name if every group has a score. A group whose score is
    undefined is left out with a warning; fairlearn counts it as 0.

    Parameters
    ----------
    y_true : sequence
        Labels of two classes{unused}.
    y_pred : sequence
        Predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.

    Returns
    -------
    float
        The {kind}; nan if fewer than two groups have a score.

    Examples
    --------
    >>> from evenhand.fairlearn import {name}
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> round({name}(y_true, y_pred, sensitive_features=sex), 3)
    {example}
    """


def _parity(name: str, kind: GapKind, keys: tuple[str, ...], summary: str, example: float) -> Callable[..., float]:
    """Make a function of fairlearn's name that compares one or two rates."""

    def function(y_true: Any, y_pred: Any, *, sensitive_features: Any, positive: Any = None) -> float:
        labels = None if keys == ("ppr",) else y_true
        answers = Answers(y_true=labels, y_pred=y_pred, positive=positive)
        tally = build_tally(None, sensitive_features, answers, {"cells"})
        messages = [f"{several(count, 'row')} without {column} left out" for column, count in tally.left_out.items()]
        # The intersection of all columns comes last.
        settings = Settings(intersections="all")
        groups = cells_by_group(tally, settings)
        gaps = [_largest_gap(key, groups, kind, messages) for key in keys]
        for message in messages:
            warnings.warn(message, UserWarning, stacklevel=2)
        if np.isnan(gaps).all():
            return nan
        return float(np.nanmax(gaps) if kind == "difference" else np.nanmin(gaps))

    unused = ", not used; fairlearn's function has it" if keys == ("ppr",) else ""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCSTRING.format(name=name, kind=kind, summary=summary, unused=unused, example=example)
    return function


def _largest_gap(key: str, groups: dict[str, Any], kind: GapKind, messages: list[str]) -> float:
    """The largest difference, or the smallest ratio, of a rate between groups.

    What is undefined is added to ``messages``.
    """
    metric = find_metric(key)
    scores = {name: float(metric(cells)) for name, cells in groups.items()}
    for name, score in scores.items():
        if isnan(score):
            messages.append(f"{key} of {name} is undefined: {metric.why_undefined(groups[name])}")
    defined = [score for score in scores.values() if not isnan(score)]
    if len(defined) < 2:
        messages.append(f"{key} is defined in {several(len(defined), 'group')}; a gap needs two")
        return nan
    if kind == "difference":
        return max(defined) - min(defined)
    if max(defined) == 0:
        messages.append(f"{key} is 0 in every group, and has no ratio")
        return nan
    return min(defined) / max(defined)


demographic_parity_difference = _parity(
    "demographic_parity_difference",
    "difference",
    ("ppr",),
    "The largest minus the smallest selection rate of all groups.",
    0.6,
)
demographic_parity_ratio = _parity(
    "demographic_parity_ratio",
    "ratio",
    ("ppr",),
    "The smallest selection rate of all groups over the largest.",
    0.25,
)
equal_opportunity_difference = _parity(
    "equal_opportunity_difference",
    "difference",
    ("tpr",),
    "The largest minus the smallest true positive rate of all groups.",
    0.5,
)
equal_opportunity_ratio = _parity(
    "equal_opportunity_ratio",
    "ratio",
    ("tpr",),
    "The smallest true positive rate of all groups over the largest.",
    0.5,
)
equalized_odds_difference = _parity(
    "equalized_odds_difference",
    "difference",
    ("tpr", "fpr"),
    "The larger of the differences of true and of false positive rates over all groups.",
    0.5,
)
equalized_odds_ratio = _parity(
    "equalized_odds_ratio",
    "ratio",
    ("tpr", "fpr"),
    "The smaller of the ratios of true and of false positive rates over all groups.",
    0.0,
)
