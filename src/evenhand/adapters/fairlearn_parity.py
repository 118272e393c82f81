"""One number over all groups, under fairlearn's names, with an interval and a p-value.

The catalogue finds most of these names too, as metrics of a group and its reference. These functions are about all
groups at once, as fairlearn's are. They are made from the table `PARITY`, and so are their docstrings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from ..auditing import Settings, groupings_of
from ..errors import InvalidInput
from ..inference import Aggregate, Aggregation, Method, aggregate
from ..metrics import Kind, metric as find_metric
from ..randomness import Rng
from ..tabulate import Answers, tabulated

__all__ = [
    "PARITY",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
]

F = TypeVar("F", bound=Callable[..., Aggregate])


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """A function of fairlearn.

    Attributes
    ----------
    name, kind, keys
        Its name, whether it is a difference or a ratio, and the rates that it compares.
    gives : str
        What it gives, in a sentence.
    equal : str
        What is equal in all groups under the null.
    example : str
        What the example of its docstring shows.
    """

    name: str
    kind: Kind
    keys: tuple[str, ...]
    gives: str
    equal: str
    example: str


PARITY = (
    Parity(
        name="demographic_parity_difference", kind="difference", keys=("ppr",),
        gives="The largest minus the smallest selection rate of all groups.",
        equal="selection rates", example="(0.6, 0.206, {'ppr': ('m', 'f')})",
    ),
    Parity(
        name="demographic_parity_ratio", kind="ratio", keys=("ppr",),
        gives="The smallest selection rate of all groups over the largest.",
        equal="selection rates", example="(0.25, 0.206, {'ppr': ('m', 'f')})",
    ),
    Parity(
        name="equal_opportunity_difference", kind="difference", keys=("tpr",),
        gives="The largest minus the smallest true positive rate of all groups.",
        equal="true positive rates", example="(0.5, 0.4, {'tpr': ('m', 'f')})",
    ),
    Parity(
        name="equal_opportunity_ratio", kind="ratio", keys=("tpr",),
        gives="The smallest true positive rate of all groups over the largest.",
        equal="true positive rates", example="(0.5, 0.4, {'tpr': ('m', 'f')})",
    ),
    Parity(
        name="equalized_odds_difference", kind="difference", keys=("tpr", "fpr"),
        gives="The larger of the differences of true and of false positive rates over all groups.",
        equal="true and of equal false positive rates", example="(0.5, 0.64, {'tpr': ('m', 'f')})",
    ),
    Parity(
        name="equalized_odds_ratio", kind="ratio", keys=("tpr", "fpr"),
        gives="The smaller of the ratios of true and of false positive rates over all groups.",
        equal="true and of equal false positive rates", example="(0.0, 1.0, {'fpr': ('m', 'f')})",
    ),
)  # fmt: skip

_DOCSTRING = """{gives}

    The estimate is that of fairlearn's function of this name if the score of every group is defined. The interval
    follows from simultaneous exact intervals of {all} and covers at least at the level. The p-value is that of a
    permutation test of equal {equal} in all groups. Groups without a score are left out and named, and never count
    as 0.

    Parameters
    ----------
    {columns}
    sensitive_features : sequence, mapping of columns or dataframe
        The group of each case; with several columns, groups are combinations of their values.
    method : {{"between_groups", "to_overall"}}
        Compare groups with each other, or each with all cases.
    {agg}positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the interval.
    draws : int
        The number of random permutations, if there are too many tables to list.
    rng : int, numpy.random.Generator or None
        Where random permutations come from; the same int gives the same result.
    sample_weight : None
        Here to say that weights are refused: intervals and tests are those of counts.

    Returns
    -------
    Aggregate
        Estimate, interval and p-value, and the groups that decide them.

    Examples
    --------
    >>> from evenhand.fairlearn import {name}
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    >>> sex = ["f"] * 5 + ["m"] * 5
    >>> found = {name}(y_true, y_pred, sensitive_features=sex)
    >>> round(found.estimate, 3), round(found.pvalue, 3), found.decided_by
    {example}
    """
_BOTH = """y_true, y_pred : sequence
        Labels and predictions of two classes."""
_PREDICTIONS = """y_true : sequence
        Not used; it is here because fairlearn's function has it.
    y_pred : sequence
        Predictions of two classes."""
_AGG = """agg : {{"worst_case", "mean"}}
        The {worse} of the two {kind}s, or their mean.
    """


def _of_one_rate(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    rng: Rng = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The arguments of a function that compares one rate."""
    raise NotImplementedError


def _of_two_rates(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    method: Method = "between_groups",
    agg: Aggregation = "worst_case",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 9_999,
    rng: Rng = 0,
    sample_weight: None = None,
) -> Aggregate:
    """The arguments of a function that compares two rates."""
    raise NotImplementedError


def _made(name: str, arguments: F) -> F:
    """The function of that name, with these arguments."""
    parity = next(one for one in PARITY if one.name == name)
    taken = signature(arguments)

    @wraps(arguments)
    def function(*args: Any, **kwargs: Any) -> Aggregate:
        given = taken.bind(*args, **kwargs)
        given.apply_defaults()
        return _over_groups(parity, **given.arguments)

    two = len(parity.keys) > 1
    worse = "larger" if parity.kind == "difference" else "smaller"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCSTRING.format(
        name=name,
        gives=parity.gives,
        equal=parity.equal,
        example=parity.example,
        all="both rates in all groups" if two else "all groups",
        columns=_PREDICTIONS if parity.keys == ("ppr",) else _BOTH,
        agg=_AGG.format(worse=worse, kind=parity.kind) if two else "",
    )
    return cast("F", function)


demographic_parity_difference = _made("demographic_parity_difference", _of_one_rate)
demographic_parity_ratio = _made("demographic_parity_ratio", _of_one_rate)
equal_opportunity_difference = _made("equal_opportunity_difference", _of_one_rate)
equal_opportunity_ratio = _made("equal_opportunity_ratio", _of_one_rate)
equalized_odds_difference = _made("equalized_odds_difference", _of_two_rates)
equalized_odds_ratio = _made("equalized_odds_ratio", _of_two_rates)


def _over_groups(
    parity: Parity, y_true: Any, y_pred: Any, sensitive_features: Any, positive: Any, sample_weight: Any, **how: Any
) -> Aggregate:
    if sample_weight is not None:
        raise InvalidInput(f"{parity.name} is about counts, so `sample_weight` must be None; leave out the weights")
    labels = None if parity.keys == ("ppr",) else y_true
    answers = Answers(y_true=labels, y_pred=y_pred, positive={"positive": positive})
    tally = tabulated(None, sensitive_features, answers, {"cells"})
    # The crossing of all columns comes last.
    groups = groupings_of(tally, Settings(crossings="all", max_groups=10**9))[-1].members
    metrics = [find_metric(key).base for key in parity.keys]
    return aggregate(parity.name, parity.kind, groups, metrics, left_out=tally.left_out, **how)
