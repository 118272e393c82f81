"""What an audit can measure: metrics of counts, averages over classes, ranking scores, and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any, get_args

from ..data import Needs
from ..errors import InvalidInput, UnknownName, brief
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

__all__ = [
    "Function",
    "Measurable",
    "lookup_metric",
    "needs_of",
    "parse_average",
    "select_averages",
    "select_metrics",
]


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
    """The metrics that the settings ask for, or the default; averages over classes only with ``classes``."""
    given: Any = settings.metrics
    if given is None:
        given = (*default, *AVERAGES) if classes else default if labelled else ("ppr",)
    elif isinstance(given, (str, Metric)) or callable(given) or _is_named_function(given):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Sequence):
        raise InvalidInput(
            argument="metrics", must="be a list of metrics, such as ['tpr', 'ppv']", got=given
        )
    selected: dict[str, Measurable] = {}
    for m in map(_select, given):
        if selected.setdefault(m.key, m) != m:
            raise InvalidInput(
                f"functions in `metrics` must have different names; two are called {m.key!r}"
            )
        if isinstance(m, ClassAverage) and not classes:
            raise InvalidInput(
                f"{m.key} is an average over classes; pass `classes='all'`, or ask for other metrics"
            )
        if not labelled and isinstance(m, Metric) and m.key not in WITHOUT_LABELS:
            known = ", ".join(WITHOUT_LABELS)
            raise InvalidInput(
                f"{m.key} needs labels (`y_true`); without them only {known} can be audited"
            )
    if not selected:
        raise InvalidInput(argument="metrics", must="contain at least one metric")
    return list(selected.values())


def _is_named_function(given: Any) -> bool:
    return (
        isinstance(given, tuple)
        and len(given) == 2
        and isinstance(given[0], str)
        and callable(given[1])
    )


def _select(given: RequestedMetric) -> Measurable:
    if isinstance(given, Metric):
        return _require_catalogued(given)
    if isinstance(given, str):
        return _lookup(given)
    if not callable(given) and not _is_named_function(given):
        raise InvalidInput(
            f"each of `metrics` must be a name, a Metric or a function; got {brief(given)}"
        )
    name, function = (
        given if isinstance(given, tuple) else (str(getattr(given, "__name__", "")), given)
    )
    if isinstance(given, tuple) and not name.strip():
        raise InvalidInput("the name of a function in `metrics` must be text; got ''")
    if given is function and not name.isidentifier():
        hint = f"pass it as ('name', function); got {brief(given)}"
        raise InvalidInput(f"a function in `metrics` must have a name; {hint}")
    if isinstance(lookup_metric(name), Function):
        return Function(name, function)
    if given is function and str(getattr(given, "__module__", "")).startswith("sklearn."):
        short = name.removesuffix("_score")
        is_known = lookup_metric(short) == lookup_metric(name)
        raise InvalidInput(
            f"{name!r} in `metrics` is built in: use {short if is_known else name!r}"
        )
    hint = "pass it as ('another name', function)"
    raise InvalidInput(
        f"a function in `metrics` must not be called {name!r}, like a metric; {hint}"
    )


def _require_catalogued(m: Metric) -> Metric:
    try:
        if find_metric(m.key) == m:
            return m
    except UnknownName:
        pass
    raise InvalidInput(
        f"{m.key!r} is not a metric of the catalogue, by which rows, reports and saved audits know metrics; "
        "CONTRIBUTING.md says how to add it"
    )


def _lookup(name: str) -> Measurable:
    """The metric with this key, name or synonym, or the average over classes."""
    first = name.strip().casefold().partition(" ")
    if first[0] in get_args(Average) and first[2]:
        return parse_average(name)
    return ranking_metric(name) or find_metric(name)


@lru_cache(maxsize=1_000)
def lookup_metric(key: str) -> Any:
    """What is known of a metric by its key in a row: a metric, an average over classes, or a function's name."""
    try:
        return _lookup(key)
    except InvalidInput:
        return Function(key)


def parse_average(name: str) -> ClassAverage:
    """The score of all classes with this name: a metric, or an average and a metric.

    >>> parse_average("weighted precision").key
    'weighted ppv'
    """
    first, _, rest = name.strip().partition(" ")
    averages: dict[str, Average] = {average: average for average in get_args(Average)}
    average = averages.get(first.casefold()) if rest else None
    return class_average(find_metric(rest if average else name), (), average)


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
    needs: set[Needs] = set()
    for m in metrics:
        needs.add(
            "ranking"
            if isinstance(m, RankingMetric)
            else "values"
            if isinstance(m, Function)
            else "cells"
        )
    return needs
