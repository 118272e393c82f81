"""Models on the same people: the change of a rate in each group, and of the gap between groups.

People for whom two models agree say nothing about which is better. Among those for whom they disagree, models that are
exchangeable for every person are right equally often: this is McNemar's exact test. The same law, for a group and for
all others, gives the exact law of the change of the gap between them.

The size of the gap changes by its change times the sum of both gaps, up to a positive factor. So its direction is known
only if both are told from 0, and the larger of the two p-values is that of the size. The sum of the gaps compares what
both models give together: alike groups divide people with two, one and no success as a random order would.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from math import isfinite, nan
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..auditing import frame_of
from ..cells import is_missing, listed, read_labels
from ..errors import InvalidInput, UnknownName, printable
from ..metrics import Metric, OneGroup
from ..metrics import metric as find_metric
from ..records import Record
from ..tabulate import group_columns, in_order, tabulate_rows
from .aggregates import check_draws, check_level, named

__all__ = ["GroupChange", "ModelComparison", "ModelComparisons", "compare_models", "compare_several_models"]

Floats = NDArray[np.float64]

_MOST_PAIRS = 4_000_000
_MOST_LINES = 60
_TIE = 1e-12
# The kinds of tests; each is a family of its own for the adjustment.
_TESTS = ("p", "gap_p", "size_p")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GroupChange(Record):
    """How a rate of one group changes from model a to model b.

    Attributes
    ----------
    group : str
        The group.
    both, only_a, only_b, neither : int
        How many cases that the rate counts are a success with both models, with one of them, or with neither.
    rate_a, rate_b, change : float
        The rates, and that of b minus that of a; nan if the group has no cases that the rate counts.
    low, high : float
        The posterior interval of the true change.
    pvalue, p_adjusted : float or None
        McNemar's exact test that the rates are equal, and the same by Holm's method over all groups; of several models,
        over all pairs, groups and metrics.
    gap_a, gap_b, gap_change : float
        The group's rate minus that of all other cases, with each model, and the second gap minus the first.
    gap_low, gap_high : float
        The posterior interval of the true change of the gap.
    gap_pvalue, gap_p_adjusted : float or None
        The test that the gap does not change, and the same by Holm's method over the same tests as ``p_adjusted``.
    size_change : float
        How the size of the gap changes, whatever its sign: negative if the gap is smaller with b.
    size_low, size_high : float
        The posterior interval of the true change of the size.
    size_pvalue, size_p_adjusted : float or None
        The test that the size of the gap does not change, and the same by Holm's method. It is the larger of two
        p-values: that of the change of the gap, and that of the sum of both gaps, which must differ from 0 as well, or
        the gap may have changed its sign only.
    gap_test, size_test : str or None
        How ``gap_pvalue`` and ``size_pvalue`` were found.
    reason : str or None
        Why a rate or a gap is undefined.

    Examples
    --------
    >>> found = compare_models([1] * 8, [1, 0, 0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1, 1, 0], list("aaaabbbb"), "tpr",
    ...                        positive=1)
    >>> print(found.groups[0])
    a: 0.25 to 1 (0 only with a, 3 only with b), p-value 0.25 (adjusted 0.5)
      gap -0.5 to 0.25, p-value 0.25; size 0.5 to 0.25, p-value 1
    """

    group: str
    both: int
    only_a: int
    only_b: int
    neither: int
    rate_a: float
    rate_b: float
    change: float
    low: float
    high: float
    pvalue: float | None
    p_adjusted: float | None
    gap_a: float
    gap_b: float
    gap_change: float
    gap_low: float
    gap_high: float
    gap_pvalue: float | None
    gap_p_adjusted: float | None
    size_change: float
    size_low: float
    size_high: float
    size_pvalue: float | None
    size_p_adjusted: float | None
    gap_test: str | None
    size_test: str | None
    reason: str | None

    def __str__(self) -> str:
        return self._text("a", "b")

    def _text(self, a: str, b: str) -> str:
        who = printable(self.group)
        if self.pvalue is None:
            return f"{who}: undefined, {self.reason}"
        pairs = f"{self.only_a:,} only with {printable(a)}, {self.only_b:,} only with {printable(b)}"
        change = f"{who}: {self.rate_a:.3g} to {self.rate_b:.3g} ({pairs}), {_tested(self.pvalue, self.p_adjusted)}"
        if self.gap_pvalue is None or self.size_pvalue is None:
            return f"{change}\n  gap undefined, {self.reason}" if self.reason else change
        gap = f"gap {self.gap_a:.3g} to {self.gap_b:.3g}, {_tested(self.gap_pvalue, self.gap_p_adjusted)}"
        size = f"size {abs(self.gap_a):.3g} to {abs(self.gap_b):.3g}, {_tested(self.size_pvalue, self.size_p_adjusted)}"
        return f"{change}\n  {gap}; {size}"


def _tested(p: float, adjusted: float | None) -> str:
    raw = f"p-value {p:.3g}"
    return raw if adjusted is None or f"{adjusted:.3g}" == f"{p:.3g}" else f"{raw} (adjusted {adjusted:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelComparison(Record):
    """The rates of two models on the same people, by group.

    Attributes
    ----------
    metric : str
        The key of the rate.
    model_a, model_b : str
        The names of the models.
    n : int
        The number of people compared.
    left_out : int
        How many lack a label or a prediction.
    level : float
        The level of the posterior intervals.
    intervals : str
        How the intervals were found.
    overall : GroupChange
        All people together, without a gap.
    groups : tuple of GroupChange
        One per group.

    Examples
    --------
    >>> found = compare_models([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], list("abab"), "acc")
    >>> found.overall.rate_a, found.overall.rate_b, found.overall.pvalue
    (0.5, 1.0, 0.5)
    """

    metric: str
    model_a: str
    model_b: str
    n: int
    left_out: int
    level: float
    intervals: str
    overall: GroupChange
    groups: tuple[GroupChange, ...]

    def __str__(self) -> str:
        left_out = f", {self.left_out:,} without a label or a prediction left out" if self.left_out else ""
        return "\n".join([f"{self._head()}, {_cases(self.n)}{left_out}", *self._lines()])

    def _head(self) -> str:
        return f"{self.metric} from model {printable(self.model_a)} to model {printable(self.model_b)}"

    def _lines(self) -> list[str]:
        shown = [row._text(self.model_a, self.model_b) for row in (self.overall, *self.groups)]
        return [line for text in shown for line in text.splitlines()]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelComparisons(Record):
    """Several models on the same people, compared in pairs.

    Attributes
    ----------
    models : tuple of str
        The names of the models.
    against : str or None
        The model that all others are compared with; None if all pairs are compared.
    metrics : tuple of str
        The keys of the rates.
    n : int
        The number of people compared: those with a label and a prediction of every model.
    left_out : int
        How many lack one of them.
    lacking : dict of str to int
        How many lack the label (``y_true``), and the prediction of each model; one person may lack several.
    comparisons : tuple of ModelComparison
        One per metric and pair of models. P-values of groups are adjusted by Holm's method over all pairs, groups and
        metrics, those of all people over all pairs and metrics. Changes, gaps and sizes of gaps are families of their
        own.

    Examples
    --------
    >>> found = compare_several_models([1, 1, 0, 0], {"x": [1, 0, 1, 0], "y": [1, 1, 0, 0]}, list("abab"), "acc")
    >>> found.comparisons[0].overall.change
    0.5
    """

    models: tuple[str, ...]
    against: str | None
    metrics: tuple[str, ...]
    n: int
    left_out: int
    lacking: dict[str, int]
    comparisons: tuple[ModelComparison, ...]

    _columns: ClassVar[tuple[str, ...]] = ("metric", "model_a", "model_b")

    def to_json(self, indent: int | None = 2) -> str:
        """The comparisons as JSON.

        Parameters
        ----------
        indent : int or None
            Spaces per level; None for a single line.

        Returns
        -------
        str
            The JSON text.

        Examples
        --------
        >>> found = compare_several_models([1, 0], {"x": [1, 0], "y": [1, 1]}, list("ab"), "acc")
        >>> found.to_json(indent=None)[:45]
        '{"models": ["x", "y"], "against": "x", "metri'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, library: str | None = None) -> Any:
        """The comparisons as a dataframe, with one row per metric, pair and group, and one for all people.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            As for `Audit.to_frame`.

        Returns
        -------
        dataframe
            The rows.

        Examples
        --------
        >>> found = compare_several_models([1, 0], {"x": [1, 0], "y": [1, 1]}, list("ab"), "acc")
        >>> found.to_frame("pandas")[["model_b", "group", "change"]].values.tolist()
        [['y', 'overall', -0.5], ['y', 'a', 0.0], ['y', 'b', -1.0]]
        """
        rows = [(one, row) for one in self.comparisons for row in (one.overall, *one.groups)]
        own = [f.name for f in fields(GroupChange)]
        flat = [
            _Flat({name: getattr(one, name) for name in self._columns} | {name: getattr(row, name) for name in own})
            for one, row in rows
        ]
        return frame_of(flat, (*self._columns, *own), library)

    def __str__(self) -> str:
        which = "all pairs" if self.against is None else f"each against {printable(self.against)}"
        lines = [f"{len(self.models)} models on {_cases(self.n)}, {which}"]
        if self.left_out:
            lines.append(f"{_cases(self.left_out)} without a label or a prediction of every model left out")
        lines.append("P-values of groups are adjusted by Holm's method over all pairs, groups and metrics;")
        lines.append("those of all people over all pairs and metrics")
        for one in self.comparisons:
            lines += ["", one._head(), *(f"  {line}" for line in one._lines())]
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], f"{len(lines) - _MOST_LINES:,} more lines; all are in .comparisons"]
        return "\n".join(lines)


class _Flat:
    """A row of a table, by name."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)


def _cases(n: int) -> str:
    return f"{n:,} {'case' if n == 1 else 'cases'}"


def compare_models(
    y_true: Any,
    y_pred_a: Any,
    y_pred_b: Any,
    groups: Any,
    metric: str | Metric = "acc",
    *,
    positive: Any = None,
    level: float = 0.95,
    draws: int = 20_000,
    seed: int = 0,
) -> ModelComparison:
    """Compare two models on the same people: the change of a rate in each group, and of its gap to all others.

    The test of a change is McNemar's, exact: among the people for whom the models disagree, either is right with
    probability 1/2. The test of the gap's change exchanges the two predictions of each person at random, and is exact
    if the models are exchangeable for every person. If one model is better by as much in all groups, this spreads the
    change of the gap more widely than chance does, so the test is conservative in large samples. Whether the gap is
    smaller with model b is a question of its size, whose test also needs the sum of both gaps to differ from 0.
    Intervals are posterior ones, with a Dirichlet(1/2, 1/2, 1/2, 1/2) prior on both, only a, only b and neither.

    Parameters
    ----------
    y_true, y_pred_a, y_pred_b : sequence
        The labels, and the predictions of both models for the same people in the same order.
    groups : sequence, mapping of columns or dataframe
        The group of each person; with several columns, groups are combinations of their values.
    metric : str or Metric
        A rate whose cases do not depend on the predictions: acc, ppr, tpr or fpr, or what these leave to 1.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the intervals.
    draws, seed : int
        The number of draws from the posterior, and their seed. If more than 4,000,000 outcomes would have to be listed
        for the test of a gap, it uses as many random exchanges.

    Returns
    -------
    ModelComparison
        One row per group. People without a label or a prediction are left out and counted.

    Examples
    --------
    >>> y_true = [1] * 20 + [1] * 10
    >>> a = [1] * 14 + [0] * 6 + [1] * 3 + [0] * 7
    >>> b = [1] * 15 + [0] * 5 + [1] * 9 + [0] * 1
    >>> print(compare_models(y_true, a, b, ["m"] * 20 + ["f"] * 10, "tpr", positive=1))
    tpr from model a to model b, 30 cases
    overall: 0.567 to 0.8 (0 only with a, 7 only with b), p-value 0.0156
    f: 0.3 to 0.9 (0 only with a, 6 only with b), p-value 0.0312 (adjusted 0.0625)
      gap -0.4 to 0.15, p-value 0.0313; size 0.4 to 0.15, p-value 0.479
    m: 0.7 to 0.75 (0 only with a, 1 only with b), p-value 1
      gap 0.4 to -0.15, p-value 0.0313; size 0.4 to 0.15, p-value 0.479
    """
    check_level(level)
    check_draws(draws, seed)
    m = find_metric(metric)
    _weights(m)
    people = _counted(y_true, {"y_pred_a": y_pred_a, "y_pred_b": y_pred_b}, groups, positive)
    rows = _changes(m, people, 0, 1, level, draws, seed)
    (comparison,) = _comparisons([(m, "a", "b", rows)], people, level, draws, seed, overall=False)
    return comparison


def compare_several_models(
    y_true: Any,
    models: Any,
    groups: Any,
    metrics: str | Metric | Sequence[str | Metric] = "acc",
    *,
    thresholds: Sequence[float] | None = None,
    against: str | None = "first",
    positive: Any = None,
    level: float = 0.95,
    draws: int = 20_000,
    seed: int = 0,
) -> ModelComparisons:
    """Compare several models, or several thresholds of one score, on the same people.

    Every pair is compared as `compare_models` compares two: McNemar's exact test of a change, and tests of the change
    of the gap and of its size.

    Parameters
    ----------
    y_true : sequence
        The labels.
    models : mapping of str to sequence, dataframe, or sequence of float
        The predictions of each model for the same people in the same order, by the name of the model. With
        ``thresholds``, the scores of one model.
    groups : sequence, mapping of columns or dataframe
        The group of each person; with several columns, groups are combinations of their values.
    metrics : str, Metric or sequence of them
        Rates whose cases do not depend on the predictions: acc, ppr, tpr or fpr, or what these leave to 1.
    thresholds : sequence of float, optional
        Each threshold is a model, which predicts the positive class for scores at or above it.
    against : str or None
        ``"first"`` to compare each model with the first, the name of a model to compare the others with it, or None to
        compare all pairs.
    positive : label or list of labels, optional
        The positive labels; by default they are inferred where they are unambiguous.
    level : float
        The level of the intervals.
    draws, seed : int
        As for `compare_models`.

    Returns
    -------
    ModelComparisons
        One comparison per metric and pair. People without a label or a prediction of every model are left out and
        counted, so that all pairs are about the same people.

    Examples
    --------
    Of 10 women and 20 men with a positive label, the newer models find more.

    >>> old = [1] * 3 + [0] * 7 + [1] * 14 + [0] * 6
    >>> new = [1] * 9 + [0] * 1 + [1] * 15 + [0] * 5
    >>> newest = [1] * 9 + [0] * 1 + [1] * 19 + [0] * 1
    >>> models = {"old": old, "new": new, "newest": newest}
    >>> print(compare_several_models([1] * 30, models, ["f"] * 10 + ["m"] * 20, "tpr", positive=1))
    3 models on 30 cases, each against old
    P-values of groups are adjusted by Holm's method over all pairs, groups and metrics;
    those of all people over all pairs and metrics
    <BLANKLINE>
    tpr from model old to model new
      overall: 0.567 to 0.8 (0 only with old, 7 only with new), p-value 0.0156
      f: 0.3 to 0.9 (0 only with old, 6 only with new), p-value 0.0312 (adjusted 0.125)
        gap -0.4 to 0.15, p-value 0.0313 (adjusted 0.0625); size 0.4 to 0.15, p-value 0.479 (adjusted 0.543)
      m: 0.7 to 0.75 (0 only with old, 1 only with new), p-value 1
        gap 0.4 to -0.15, p-value 0.0313 (adjusted 0.0625); size 0.4 to 0.15, p-value 0.479 (adjusted 0.543)
    <BLANKLINE>
    tpr from model old to model newest
      overall: 0.567 to 0.933 (0 only with old, 11 only with newest), p-value 0.000977 (adjusted 0.00195)
      f: 0.3 to 0.9 (0 only with old, 6 only with newest), p-value 0.0312 (adjusted 0.125)
        gap -0.4 to -0.05, p-value 0.271; size 0.4 to 0.05, p-value 0.271 (adjusted 0.543)
      m: 0.7 to 0.95 (0 only with old, 5 only with newest), p-value 0.0625 (adjusted 0.125)
        gap 0.4 to 0.05, p-value 0.271; size 0.4 to 0.05, p-value 0.271 (adjusted 0.543)

    Thresholds of a score are models too:

    >>> found = compare_several_models([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], list("abab"), thresholds=[0.5, 0.3])
    >>> [(one.model_a, one.model_b, one.overall.change) for one in found.comparisons]
    [('at 0.5', 'at 0.3', 0.25)]
    """
    check_level(level)
    check_draws(draws, seed)
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    chosen = list(dict.fromkeys(find_metric(one) for one in asked))
    if not chosen:
        raise InvalidInput("metrics must contain at least one metric")
    for m in chosen:
        _weights(m)
    columns = _models(models) if thresholds is None else _at_thresholds(models, thresholds)
    names = list(columns)
    pairs, base = _pairs_of(names, against)
    people = _counted(y_true, columns, groups, positive, decided=thresholds is not None)
    found = [(m, names[i], names[j], _changes(m, people, i, j, level, draws, seed)) for m in chosen for i, j in pairs]
    return ModelComparisons(
        models=tuple(names),
        against=base,
        metrics=tuple(m.key for m in chosen),
        n=people.n,
        left_out=people.left_out,
        lacking=people.lacking,
        comparisons=tuple(_comparisons(found, people, level, draws, seed, overall=True)),
    )


def _models(models: Any) -> dict[str, Any]:
    """The predictions of each model by its name."""
    if isinstance(models, Mapping):
        given = [(str(name), column) for name, column in models.items()]
    elif getattr(models, "columns", None) is not None:
        given = [(str(name), models[name]) for name in models.columns]
    else:
        raise InvalidInput(
            "models must map the names of models to their predictions; for several thresholds of one score, pass "
            f"thresholds=; got {type(models).__name__}"
        )
    columns = dict(given)
    if len(columns) < max(2, len(given)):
        raise InvalidInput(f"models must contain at least two models with different names; got {listed(columns)}")
    return columns


def _at_thresholds(scores: Any, thresholds: Any) -> dict[str, list[bool | None]]:
    """The predictions at each threshold, which are missing where the score is."""
    if isinstance(scores, (str, Mapping)) or not hasattr(scores, "__iter__") or hasattr(scores, "columns"):
        raise InvalidInput("with thresholds, models must be the scores of one model")
    values = scores.tolist() if hasattr(scores, "tolist") else list(scores)
    for value in values:
        if not is_missing(value) and (isinstance(value, bool) or not isinstance(value, Real)):
            raise InvalidInput(f"scores must be numbers; got {value!r}")
    cuts = list(thresholds) if hasattr(thresholds, "__iter__") and not isinstance(thresholds, str) else [thresholds]
    for cut in cuts:
        if isinstance(cut, bool) or not isinstance(cut, Real) or not isfinite(cut):
            raise InvalidInput(f"thresholds must be finite numbers; got {cut!r}")
    columns = {
        f"at {float(cut):.15g}": [None if is_missing(value) else bool(value >= cut) for value in values] for cut in cuts
    }
    if len(columns) < max(2, len(cuts)):
        raise InvalidInput(f"thresholds must contain at least two different numbers; got {cuts!r}")
    return columns


def _pairs_of(names: list[str], against: Any) -> tuple[list[tuple[int, int]], str | None]:
    """The pairs to compare, and the model that is in all of them."""
    if against is None:
        return list(combinations(range(len(names)), 2)), None
    base = against if against in names else names[0] if against == "first" else None
    if base is None:
        raise UnknownName.among("model", str(against), names)
    at = names.index(base)
    return [(at, i) for i in range(len(names)) if i != at], base


def _changes(
    m: Metric, people: _People, i: int, j: int, level: float, draws: int, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The fields of the change of everybody and of each group from one model to another, before adjustment."""
    over, under = _weights(m)
    rows = {
        group: [(label, predicted[i], predicted[j], n) for label, predicted, n in counted]
        for group, counted in people.groups.items()
    }
    drawn: dict[str, Any] = {"draws": draws, "seed": seed, "level": level, "rng": np.random.default_rng(seed)}
    found = []
    for group, own in rows.items():
        mine = _Pairs.of(m.base, own, over, under)
        others = _Pairs.of(m.base, [row for who, some in rows.items() if who != group for row in some], over, under)
        found.append(_of_change(mine, **drawn) | _of_gap(mine, others, **drawn) | {"group": group})
    total = _Pairs.of(m.base, [row for some in rows.values() for row in some], over, under)
    return _of_change(total, **drawn) | _NO_GAP | {"group": "overall"}, found


def _comparisons(
    found: Sequence[tuple[Metric, str, str, tuple[dict[str, Any], list[dict[str, Any]]]]],
    people: _People,
    level: float,
    draws: int,
    seed: int,
    overall: bool,
) -> list[ModelComparison]:
    """The comparisons with p-values adjusted over all of them, those of everybody only if asked."""
    each = [row for *_, (_, rows) in found for row in rows]
    # The gap of one of two groups is that of the other with the opposite sign, so that it counts once.
    once = [i for i, row in enumerate(each) if len(people.groups) != 2 or row["group"] == next(iter(people.groups))]
    for name in _TESTS:
        at = list(range(len(each))) if name == "p" else once
        adjusted = dict(zip(at, _holm([each[i][f"{name}value"] for i in at]), strict=True))
        for i, row in enumerate(each):
            row[f"{name}_adjusted"] = adjusted[i] if i in adjusted else adjusted[i - 1]
    everybody = [whole for *_, (whole, _) in found]
    of_all = _holm([row["pvalue"] for row in everybody]) if overall else [None] * len(everybody)
    return [
        ModelComparison(
            metric=m.key,
            model_a=a,
            model_b=b,
            n=people.n,
            left_out=people.left_out,
            level=level,
            intervals=f"posterior, {draws:,} draws, seed {seed}",
            overall=GroupChange(**whole, p_adjusted=p, gap_p_adjusted=None, size_p_adjusted=None),
            groups=tuple(GroupChange(**row) for row in rows),
        )
        for (m, a, b, (whole, rows)), p in zip(found, of_all, strict=True)
    ]


# The gap of everybody.
_NO_GAP: dict[str, Any] = {
    **dict.fromkeys(
        ("gap_a", "gap_b", "gap_change", "gap_low", "gap_high", "size_change", "size_low", "size_high"), nan
    ),
    "gap_pvalue": None,
    "size_pvalue": None,
    "gap_test": None,
    "size_test": None,
}

# A label, the two predictions, and how many people have them.
Row = tuple[bool, bool, bool, int]


@dataclass(frozen=True, slots=True)
class _People:
    """The people of each group by label and predictions of all models, and how many were left out."""

    groups: dict[str, list[tuple[bool, tuple[bool, ...], int]]]
    left_out: int
    lacking: dict[str, int]

    @property
    def n(self) -> int:
        return sum(n for rows in self.groups.values() for *_, n in rows)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """How many of the cases that a rate counts are a success with both models, only a, only b or neither."""

    counts: Floats
    reason: str | None

    @classmethod
    def of(cls, m: OneGroup, rows: Sequence[Row], over: Floats, under: Floats) -> _Pairs:
        counts, cells = np.zeros(4), np.zeros(4)
        for label, a, b, n in rows:
            at_a, at_b = (_cell(label, prediction) for prediction in (a, b))
            cells[at_a] += n
            if under[at_a]:
                counts[(0 if over[at_b] else 1) if over[at_a] else (2 if over[at_b] else 3)] += n
        return cls(counts, m.why_undefined(cells))

    @property
    def n(self) -> float:
        return float(self.counts.sum())

    @property
    def rates(self) -> tuple[float, float]:
        both, only_a, only_b, _ = self.counts.tolist()
        return ((both + only_a) / self.n, (both + only_b) / self.n) if self.n else (nan, nan)

    def drawn(self, rng: np.random.Generator, draws: int) -> tuple[Floats, Floats]:
        """True rates of both models, drawn from the posterior."""
        both, only_a, only_b, _ = rng.dirichlet(self.counts + 0.5, size=draws).T
        return both + only_a, both + only_b


def _cell(label: bool, prediction: bool) -> int:
    return (0 if prediction else 1) if label else (2 if prediction else 3)


def _weights(m: Metric) -> tuple[Floats, Floats]:
    """Which cells a rate counts as a success, and which as a case."""
    quotient = None if m.comparisons or not m.base.is_rate else m.base.quotient
    if quotient is not None:
        over, under = (np.array(weights, dtype=np.float64) for weights in (quotient.over, quotient.under))
        fixed = under[0] == under[1] and under[2] == under[3]
        if fixed and (over[0] != over[1] or over[2] != over[3]):
            return over, under
    raise InvalidInput(
        f"{m.key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )


def _counted(y_true: Any, models: Mapping[str, Any], groups: Any, positive: Any, decided: bool = False) -> _People:
    """Count people by group, label and predictions; ``decided`` predictions are True, False or None."""
    by = group_columns(groups, None)
    names = list(models)
    first, *others = models.values()
    columns = dict(by)
    for name, column in zip(names[1:], others, strict=True):
        # A group column may be called like a model.
        columns[name if name not in columns else f"predictions of {name}"] = column
    counted = tabulate_rows(None, y_true=y_true, y_pred=first, groups=columns).rows
    # A row has the groups, the predictions of all models but the first, the label, and the prediction of the first.
    width = len(by)
    seen = {row[-1] for row in counted} | {value for row in counted for value in row[width:-2]}
    labels = {row[-2] for row in counted}
    reading = read_labels({"y_true": labels} if decided else {"y_true": labels, "y_pred": seen}, positive=positive)
    predicted = {True: True, False: False, None: None} if decided else reading.meanings["y_pred"]
    actual = reading.meanings["y_true"]
    if positive is None and len(set(actual.values()) - {None}) == 1:
        raise InvalidInput(
            f"y_true contains one class only ({listed(v for v in labels if actual[v] is not None)}); if that is right, "
            "pass the positive label as positive="
        )
    people: dict[str, list[tuple[bool, tuple[bool, ...], int]]] = {}
    lacking = dict.fromkeys(["y_true", *names], 0)
    left_out = 0
    for row, n in counted.items():
        label = actual[row[-2]]
        predictions = [predicted[value] for value in (row[-1], *row[width:-2])]
        for name, value in zip(lacking, (label, *predictions), strict=True):
            lacking[name] += n * (value is None)
        whole = tuple(value for value in predictions if value is not None)
        if label is None or len(whole) < len(names):
            left_out += n
        else:
            people.setdefault(named(row[:width]), []).append((label, whole, n))
    if not people:
        raise InvalidInput("every person lacks a label or a prediction; there is nothing to compare")
    return _People(
        {group: people[group] for group in in_order(people)}, left_out, {k: n for k, n in lacking.items() if n}
    )


def _of_change(mine: _Pairs, *, rng: np.random.Generator, draws: int, seed: int, level: float) -> dict[str, Any]:
    """The fields of a group's own change."""
    both, only_a, only_b, neither = mine.counts.astype(int).tolist()
    rate_a, rate_b = mine.rates
    low, high = nan, nan
    if mine.n:
        drawn_a, drawn_b = mine.drawn(rng, draws)
        low, high = _ends(drawn_b - drawn_a, level, rate_b - rate_a)
    return {
        "both": both,
        "only_a": only_a,
        "only_b": only_b,
        "neither": neither,
        "rate_a": rate_a,
        "rate_b": rate_b,
        "change": rate_b - rate_a,
        "low": low,
        "high": high,
        "pvalue": _mcnemar(only_a, only_b) if mine.n else None,
        "reason": mine.reason,
    }


def _of_gap(
    mine: _Pairs, others: _Pairs, *, rng: np.random.Generator, draws: int, seed: int, level: float
) -> dict[str, Any]:
    """The fields of the gap between a group and all others."""
    if not mine.n or not others.n:
        return _NO_GAP | {"reason": mine.reason if not mine.n else f"among all others: {others.reason}"}
    gap_a, gap_b = (a - b for a, b in zip(mine.rates, others.rates, strict=True))
    change, size = gap_b - gap_a, abs(gap_b) - abs(gap_a)
    own, theirs = mine.drawn(rng, draws), others.drawn(rng, draws)
    drawn_a, drawn_b = (a - b for a, b in zip(own, theirs, strict=True))
    low, high = _ends(drawn_b - drawn_a, level, change)
    size_low, size_high = _ends(np.abs(drawn_b) - np.abs(drawn_a), level, size)
    pvalue, test = _exchanged(mine, others, change, draws, seed)
    of_sum, sum_test = _regrouped(mine, others, gap_a + gap_b, draws, seed)
    return {
        "gap_a": gap_a,
        "gap_b": gap_b,
        "gap_change": change,
        "gap_low": low,
        "gap_high": high,
        "gap_pvalue": pvalue,
        "size_change": size,
        "size_low": size_low,
        "size_high": size_high,
        "size_pvalue": max(pvalue, of_sum),
        "gap_test": test,
        "size_test": f"{test} and {sum_test}",
    }


def _mcnemar(only_a: int, only_b: int) -> float:
    """Twice the smaller tail of the number of disagreements that one model wins, at most 1."""
    from scipy.stats import binom

    return min(1.0, 2 * float(binom.cdf(min(only_a, only_b), only_a + only_b, 0.5)))


def _exchanged(mine: _Pairs, others: _Pairs, observed: float, draws: int, seed: int) -> tuple[float, str]:
    """The probability of a change of the gap at least as large, if predictions are exchanged at random."""
    from scipy.stats import binom

    sides = [(int(side.counts[1] + side.counts[2]), side.n) for side in (mine, others)]
    if (sides[0][0] + 1) * (sides[1][0] + 1) <= _MOST_PAIRS:
        (first, p), (second, q) = (
            ((2 * x - d) / n, binom.pmf(x, d, 0.5)) for d, n in sides for x in [np.arange(d + 1)]
        )
        extreme = np.abs(first[:, None] - second) >= abs(observed) - _TIE
        return min(1.0, float(p @ (extreme @ q))), "exact paired permutation"
    rng = np.random.default_rng(seed)
    first, second = ((2 * rng.binomial(d, 0.5, draws) - d) / n for d, n in sides)
    as_extreme = int((np.abs(first - second) >= abs(observed) - _TIE).sum())
    return (1 + as_extreme) / (1 + draws), f"paired permutation, {draws:,} draws, seed {seed}"


def _regrouped(mine: _Pairs, others: _Pairs, observed: float, draws: int, seed: int) -> tuple[float, str]:
    """The probability of a sum of both gaps at least as large, if people are divided into the two sides at random."""
    from scipy.special import betaln

    twice, once, never = (int(people) for people in _successes(mine) + _successes(others))
    n, rest = int(mine.n), int(others.n)
    if (min(twice, n) + 1) * (min(once, n) + 1) <= _MOST_PAIRS:
        x, y = np.meshgrid(np.arange(min(twice, n) + 1), np.arange(min(once, n) + 1), indexing="ij")
        left = n - x - y
        possible = (left >= 0) & (left <= never)
        x, y, left = x[possible], y[possible], left[possible]
        logs = -(betaln(x + 1, twice - x + 1) + betaln(y + 1, once - y + 1) + betaln(left + 1, never - left + 1))
        weights = np.exp(logs - logs.max())
        law = weights / weights.sum()
        sums = (2 * x + y) / n - (2 * (twice - x) + once - y) / rest
        return min(1.0, float(law[np.abs(sums) >= abs(observed) - _TIE].sum())), "exact permutation"
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_hypergeometric([twice, once, never], n, size=draws, method="marginals")
    successes = drawn @ np.array([2, 1, 0])
    sums = successes / n - (2 * twice + once - successes) / rest
    as_extreme = int((np.abs(sums) >= abs(observed) - _TIE).sum())
    return (1 + as_extreme) / (1 + draws), f"permutation, {draws:,} draws, seed {seed}"


def _successes(side: _Pairs) -> Floats:
    """How many people have a success with both models, with one of them, and with none."""
    both, only_a, only_b, neither = side.counts
    return np.array([both, only_a + only_b, neither])


def _ends(drawn: Floats, level: float, estimate: float) -> tuple[float, float]:
    """The equal-tailed interval of draws, which contains the estimate."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return min(low, estimate), max(high, estimate)


def _holm(pvalues: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted by Holm's method; None stays None and does not count."""
    order = sorted((p, i) for i, p in enumerate(pvalues) if p is not None)
    adjusted: list[float | None] = [None] * len(pvalues)
    reached = 0.0
    for rank, (p, i) in enumerate(order):
        reached = max(reached, min(1.0, p * (len(order) - rank)))
        adjusted[i] = reached
    return adjusted
