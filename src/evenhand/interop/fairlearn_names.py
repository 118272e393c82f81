"""One number over all groups, under fairlearn's names, with an interval and a p-value.

The catalogue finds most of these names too, as metrics of a group and its reference. These functions are about all
groups at once, as fairlearn's are, so they live in `evenhand.interop` and not among the metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from ..errors import InvalidInput
from ..tabulate import tabulate
from .aggregates import Aggregate, Kind, Scored, aggregate, check_choice, check_draws, check_level, named, rate
from .permutations import Aggregation
from .simultaneous import Method

__all__ = [
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
]


def demographic_parity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The largest minus the smallest selection rate of all groups.

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of all groups and covers at least at the level. The
    p-value is that of a permutation test of equal selection rates in all groups.
    Groups without a score are left out and named, and never count as 0.

    Parameters
    ----------
    y_true : sequence
        Not used; it is here because fairlearn's function has it.
    y_pred : sequence
        Predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = demographic_parity_difference(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    (0.6, 0.206, {'ppr': ('m', 'f')})
    """
    return _over_groups(
        "demographic_parity_difference",
        "difference",
        ("ppr",),
        None,
        y_pred,
        sensitive_features,
        method=method,
        agg="worst_case",
        positive=positive,
        level=level,
        draws=draws,
        seed=seed,
        sample_weight=sample_weight,
    )


def equal_opportunity_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The largest minus the smallest true positive rate of all groups.

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of all groups and covers at least at the level. The
    p-value is that of a permutation test of equal true positive rates in all groups.
    Groups without a score are left out and named, and never count as 0.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = equal_opportunity_difference(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    (0.5, 0.4, {'tpr': ('m', 'f')})
    """
    return _over_groups(
        "equal_opportunity_difference",
        "difference",
        ("tpr",),
        y_true,
        y_pred,
        sensitive_features,
        method=method,
        agg="worst_case",
        positive=positive,
        level=level,
        draws=draws,
        seed=seed,
        sample_weight=sample_weight,
    )


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    agg: Aggregation = "worst_case",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The larger of the differences of true and of false positive rates over all groups.

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of both rates in all groups and covers at least at the level. The
    p-value is that of a permutation test of equal true and of equal false positive rates in all groups.
    Groups without a score are left out and named, and never count as 0.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases.
    agg : {"worst_case", "mean"}
        The larger of the two differences, or their mean.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = equalized_odds_difference(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    (0.5, 0.64, {'tpr': ('m', 'f')})
    """
    return _over_groups(
        "equalized_odds_difference",
        "difference",
        ("tpr", "fpr"),
        y_true,
        y_pred,
        sensitive_features,
        method=method,
        agg=agg,
        positive=positive,
        level=level,
        draws=draws,
        seed=seed,
        sample_weight=sample_weight,
    )


def demographic_parity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The smallest selection rate of all groups over the largest.

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of all groups and covers at least at the level. The
    p-value is that of a permutation test of equal selection rates in all groups.
    Groups without a score are left out and named, and never count as 0.

    Parameters
    ----------
    y_true : sequence
        Not used; it is here because fairlearn's function has it.
    y_pred : sequence
        Predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = demographic_parity_ratio(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    (0.25, 0.206, {'ppr': ('m', 'f')})
    """
    return _over_groups(
        "demographic_parity_ratio",
        "ratio",
        ("ppr",),
        None,
        y_pred,
        sensitive_features,
        method=method,
        agg="worst_case",
        positive=positive,
        level=level,
        draws=draws,
        seed=seed,
        sample_weight=sample_weight,
    )


def equal_opportunity_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The smallest true positive rate of all groups over the largest.

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of all groups and covers at least at the level. The
    p-value is that of a permutation test of equal true positive rates in all groups.
    Groups without a score are left out and named, and never count as 0.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = equal_opportunity_ratio(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    (0.5, 0.4, {'tpr': ('m', 'f')})
    """
    return _over_groups(
        "equal_opportunity_ratio",
        "ratio",
        ("tpr",),
        y_true,
        y_pred,
        sensitive_features,
        method=method,
        agg="worst_case",
        positive=positive,
        level=level,
        draws=draws,
        seed=seed,
        sample_weight=sample_weight,
    )


def equalized_odds_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    agg: Aggregation = "worst_case",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The smaller of the ratios of true and of false positive rates over all groups.

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of both rates in all groups and covers at least at the level. The
    p-value is that of a permutation test of equal true and of equal false positive rates in all groups.
    Groups without a score are left out and named, and never count as 0.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions of two classes.
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {"between_groups", "to_overall"}
        Compare groups with each other, or each with all cases.
    agg : {"worst_case", "mean"}
        The smaller of the two ratios, or their mean.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws, seed : int
        The number of random permutations and their seed, if there are too many tables to list.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = equalized_odds_ratio(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    (0.0, 1.0, {'fpr': ('m', 'f')})
    """
    return _over_groups(
        "equalized_odds_ratio",
        "ratio",
        ("tpr", "fpr"),
        y_true,
        y_pred,
        sensitive_features,
        method=method,
        agg=agg,
        positive=positive,
        level=level,
        draws=draws,
        seed=seed,
        sample_weight=sample_weight,
    )


def _over_groups(
    name: str,
    kind: Kind,
    keys: Sequence[str],
    y_true: Any,
    y_pred: Any,
    groups: Any,
    *,
    method: Method,
    agg: Aggregation,
    positive: Any,
    level: float,
    draws: int,
    seed: int,
    sample_weight: object,
) -> Aggregate:
    if sample_weight is not None:
        raise InvalidInput(f"{name} is about counts, so sample_weight must be None; leave out the weights")
    check_choice("method", method, get_args(Method))
    check_choice("agg", agg, get_args(Aggregation))
    check_level(level)
    check_draws(draws, seed)
    tally = tabulate(None, y_true=y_true, y_pred=y_pred, groups=groups, positive=positive)
    counts = [(named(key), cm) for key, cm in tally.cells.items()]
    found = [Scored.of(rate(key), counts) for key in keys]
    options: Any = {"method": method, "level": level, "agg": agg, "draws": draws, "seed": seed}
    return aggregate(name, kind, found, **options, left_out=tally.left_out)
