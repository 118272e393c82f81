"""What an audit can measure: metrics of counts, averages over classes, ranking scores, and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any, TypeGuard

from ..data import Needs
from ..errors import InvalidInput, brief
from ..metrics import ClassAverage, Metric, RankingMetric, class_average, metric, ranking_metric
from .settings import AVERAGES, METRICS, WITHOUT_LABELS, Settings


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
    if given is None and classes:
        given = (*METRICS, *AVERAGES)
    elif given is None:
        given = default if labelled else ("ppr",)
    elif isinstance(given, str | Metric) or callable(given) or _is_named_function(given):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Sequence) or not given:
        must = "be a list of metrics, such as ['tpr', 'ppv']"
        raise InvalidInput(argument="metrics", must=must, got=given)
    selected: dict[str, Measurable] = {}
    for m in map(_select, given):
        if selected.setdefault(m.key, m) != m:
            raise InvalidInput(f"two functions in `metrics` are called {m.key!r}; rename one")
        if isinstance(m, ClassAverage) and not classes:
            hint = "pass `classes='all'`, or ask for other metrics"
            raise InvalidInput(f"{m.key} is an average over classes; {hint}")
        if not labelled and isinstance(m, Metric) and m.key not in WITHOUT_LABELS:
            hint = f"without them only {', '.join(WITHOUT_LABELS)} can be audited"
            raise InvalidInput(f"{m.key} needs labels (`y_true`); {hint}")
    return list(selected.values())


def _is_named_function(given: object) -> TypeGuard[tuple[str, Callable[..., Any]]]:
    name, function = given if isinstance(given, tuple) and len(given) == 2 else (None, None)
    return isinstance(name, str) and callable(function)


def _select(given: object) -> Measurable:
    """A metric from its name, its record or a function."""
    if isinstance(given, str):
        return _lookup(given)
    if isinstance(given, Metric):
        if lookup_metric(given.key) != given:
            problem = f"{given.key!r} is not a metric of the catalogue"
            raise InvalidInput(f"{problem}; CONTRIBUTING.md says how to add it")
        return given
    if not callable(given) and not _is_named_function(given):
        raise InvalidInput(f"`metrics` must be names, Metrics or functions; got {brief(given)}")
    name, function = (str(getattr(given, "__name__", "")), given) if callable(given) else given
    if not name.strip() or name == "<lambda>":
        hint = f"pass it as ('name', function); got {brief(given)}"
        raise InvalidInput(f"a function in `metrics` must have a name; {hint}")
    known = lookup_metric(name)
    if isinstance(known, Function):
        return Function(name, function)
    if given is function and str(given.__module__).startswith("sklearn."):
        short = name.removesuffix("_score")
        use = short if lookup_metric(short) == known else name
        raise InvalidInput(f"{name!r} in `metrics` is built in: use {use!r}")
    problem = f"a function in `metrics` must not be called {name!r}, like a metric"
    raise InvalidInput(f"{problem}; pass it as ('another name', function)")


@lru_cache(maxsize=1_000)
def lookup_metric(key: str) -> Any:
    """A metric by its key in a row: of the catalogue, an average over classes, or a function."""
    try:
        return _lookup(key)
    except InvalidInput:
        return Function(key)


def _lookup(name: str) -> Measurable:
    """The metric with this key, name or synonym, or the average over classes."""
    first, _, rest = name.strip().partition(" ")
    average: Any = first.casefold()
    if rest and average in ("micro", "macro", "weighted"):
        return class_average(metric(rest), (), average)
    return ranking_metric(name) or metric(name)


def select_averages(metrics: Sequence[Measurable]) -> list[ClassAverage]:
    """The scores of all classes among the metrics: averages, and metrics such as accuracy that have one."""
    averages = []
    for m in metrics:
        if isinstance(m, ClassAverage):
            averages.append(m)
        elif isinstance(m, Metric) and not m.comparisons and m.base.multiclass:
            averages.append(class_average(m, ()))
    return averages


def needs_of(metrics: Sequence[Measurable]) -> set[Needs]:
    """What the metrics need to know of each case."""
    kinds: dict[type, Needs] = {RankingMetric: "ranking", Function: "values"}
    return {kinds.get(type(m), "cells") for m in metrics}
