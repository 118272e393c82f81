"""What an audit can measure: metrics of counts, averages over classes, ranking scores, and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any, cast, get_args

from ..data import Needs
from ..errors import InvalidInput, brief
from ..metrics import (
    Average,
    ClassAverage,
    Metric,
    RankingMetric,
    class_average,
    metric as find_metric,
    ranking_metric,
)
from .settings import AVERAGES, METRICS, WITHOUT_LABELS, RequestedMetric, Settings


@dataclass(frozen=True, slots=True)
class Function:
    """A user's function of labels and predictions, or of labels and scores, with what reports ask of a metric."""

    key: str
    function: Callable[..., Any] | None = None
    better: str = "neither"
    formula: str = ""
    description: str = "A function of the person who made the audit"
    range: tuple[float, float] = (-inf, inf)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.key


Measurable = Metric | ClassAverage | RankingMetric | Function


def select_metrics(
    settings: Settings, labelled: bool, default: Sequence[str] = METRICS, *, classes: bool = False
) -> list[Measurable]:
    """The metrics asked for, or the default; averages over classes only with ``classes``."""
    given: Any = settings.metrics
    if given is None:
        default = default if labelled else ("ppr",)
        given = (*METRICS, *AVERAGES) if classes else default
    elif isinstance(given, str | Metric) or callable(given) or _is_named_function(given):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Sequence):
        must = "be a list of metrics, such as ['tpr', 'ppv']"
        raise InvalidInput(argument="metrics", must=must, got=given)
    selected: dict[str, Measurable] = {}
    for m in map(_select, given):
        if selected.setdefault(m.key, m) != m:
            must = "functions in `metrics` must have different names"
            raise InvalidInput(f"{must}; two are called {m.key!r}")
        if isinstance(m, ClassAverage) and not classes:
            hint = "pass `classes='all'`, or ask for other metrics"
            raise InvalidInput(f"{m.key} is an average over classes; {hint}")
        if not labelled and isinstance(m, Metric) and m.key not in WITHOUT_LABELS:
            hint = f"without them only {', '.join(WITHOUT_LABELS)} can be audited"
            raise InvalidInput(f"{m.key} needs labels (`y_true`); {hint}")
    if not selected:
        raise InvalidInput(argument="metrics", must="contain at least one metric")
    return list(selected.values())


def _is_named_function(given: Any) -> bool:
    is_pair = isinstance(given, tuple) and len(given) == 2
    return is_pair and isinstance(given[0], str) and callable(given[1])


def _select(given: RequestedMetric) -> Measurable:
    """A metric from its name, its record or a function."""
    if isinstance(given, str):
        return _lookup(given)
    if isinstance(given, Metric):
        if lookup_metric(given.key) == given:
            return given
        reason = "by which rows, reports and saved audits know metrics"
        hint = "CONTRIBUTING.md says how to add it"
        raise InvalidInput(f"{given.key!r} is not a metric of the catalogue, {reason}; {hint}")
    if _is_named_function(given):
        name, function = cast("tuple[str, Callable[..., Any]]", given)
        if not name.strip():
            raise InvalidInput("the name of a function in `metrics` must be text; got ''")
    elif callable(given):
        name, function = str(getattr(given, "__name__", "")), given
        if not name.isidentifier():
            hint = f"pass it as ('name', function); got {brief(given)}"
            raise InvalidInput(f"a function in `metrics` must have a name; {hint}")
    else:
        must = "be a name, a Metric or a function"
        raise InvalidInput(f"each of `metrics` must {must}; got {brief(given)}")
    known = lookup_metric(name)
    if isinstance(known, Function):
        return Function(name, function)
    if function is given and str(getattr(given, "__module__", "")).startswith("sklearn."):
        short = name.removesuffix("_score")
        use = short if lookup_metric(short) == known else name
        raise InvalidInput(f"{name!r} in `metrics` is built in: use {use!r}")
    must = f"not be called {name!r}, like a metric; pass it as ('another name', function)"
    raise InvalidInput(f"a function in `metrics` must {must}")


@lru_cache(maxsize=1_000)
def lookup_metric(key: str) -> Any:
    """A metric by its key in a row: of the catalogue, an average over classes, or a function."""
    try:
        return _lookup(key)
    except InvalidInput:
        return Function(key)


def _lookup(name: str) -> Measurable:
    """The metric with this key, name or synonym, or the average over classes."""
    first, _, rest = name.strip().casefold().partition(" ")
    if first in get_args(Average) and rest:
        return parse_average(name)
    return ranking_metric(name) or find_metric(name)


def parse_average(name: str) -> ClassAverage:
    """The score of all classes with this name: a metric, or an average and a metric.

    >>> parse_average("weighted precision").key
    'weighted ppv'
    """
    first, _, rest = name.strip().partition(" ")
    average: Any = first.casefold()
    if average in get_args(Average) and rest:
        return class_average(find_metric(rest), (), average)
    return class_average(find_metric(name), (), None)


def select_averages(metrics: Sequence[Measurable]) -> list[ClassAverage]:
    """The scores of all classes among the metrics: averages, and metrics such as accuracy that have one."""
    keys = [
        m.key
        for m in metrics
        if isinstance(m, ClassAverage)
        or (isinstance(m, Metric) and not m.comparisons and m.base.multiclass)
    ]
    return [parse_average(key) for key in keys]


def needs_of(metrics: Sequence[Measurable]) -> set[Needs]:
    """What the metrics need to know of each case."""
    kinds: dict[Any, Needs] = {RankingMetric: "ranking", Function: "values"}
    return {kinds.get(type(m), "cells") for m in metrics}
