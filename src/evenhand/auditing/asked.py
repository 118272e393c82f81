"""What an audit can be asked to measure: metrics of counts, averages over classes, ranking scores, and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

from ..errors import InvalidInput, UnknownName, brief
from ..metrics import Metric, RankingMetric, Summary, metric as find_metric, parsed, ranking_metric
from ..tabulate import Needs
from .settings import METRICS, WITHOUT_LABELS, Asked, Settings

__all__ = ["Function", "Measurable", "asked_averages", "asked_metrics", "described", "needs_of", "recorded_metrics"]


@dataclass(frozen=True, slots=True)
class Function:
    """A score that is a function of the user's own, of labels and predictions or of labels and scores.

    It has what views ask of a metric: a name, and words.
    """

    key: str
    function: Callable[..., Any] | None = None
    better: str = "neither"
    formula: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.key

    @property
    def means(self) -> str:
        """What it means for a person."""
        return "A function of the person who made the audit"

    @property
    def range(self) -> tuple[float, float]:
        """Nothing is known of its lowest and highest scores."""
        return -inf, inf

    def good(self, favourable: str | None = None) -> str:
        """Nothing is known of which way is better."""
        return "Which way is better is for that person to say"


Measurable = Metric | Summary | RankingMetric | Function


def asked_metrics(how: Settings, labelled: bool, otherwise: Sequence[str] = METRICS) -> list[Measurable]:
    """The metrics that the settings ask for, or ``otherwise``."""
    given: Any = how.metrics
    if given is None:
        given = otherwise if labelled else ("ppr",)
    elif isinstance(given, (str, Metric)) or callable(given) or _is_named(given):
        given = [given]
    if isinstance(given, Mapping) or not isinstance(given, Sequence):
        raise InvalidInput(argument="metrics", must="be a list of metrics, such as ['tpr', 'ppv']", got=given)
    found: dict[str, Measurable] = {}
    for m in map(_asked, given):
        if found.setdefault(m.key, m) != m:
            raise InvalidInput(f"functions in `metrics` must have different names; two are called {m.key!r}")
    metrics = list(found.values())
    if not metrics:
        raise InvalidInput(argument="metrics", must="contain at least one metric")
    refused = [m.key for m in metrics if isinstance(m, Metric) and m.key not in WITHOUT_LABELS]
    if refused and not labelled:
        raise InvalidInput(
            f"{refused[0]} needs labels (`y_true`); without them only {', '.join(WITHOUT_LABELS)} can be audited"
        )
    return metrics


def _is_named(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and callable(given[1])


def _asked(given: Asked) -> Measurable:
    if isinstance(given, Metric):
        return _catalogued(given)
    if isinstance(given, str):
        return _found(given)
    if _is_named(given):
        name, function = given  # type: ignore[misc]
        if not name.strip():
            raise InvalidInput("the name of a function in `metrics` must be text; got ''")
        return Function(_new(name), function)
    if callable(given):
        name = str(getattr(given, "__name__", ""))
        if not name.isidentifier():
            raise InvalidInput(
                f"a function in `metrics` must have a name; pass it as ('name', function); got {brief(given)}"
            )
        return Function(_new(name), given)
    raise InvalidInput(f"each of `metrics` must be a name, a Metric or a function; got {brief(given)}")


def _new(name: str) -> str:
    """The name of a function, if no metric and no average over classes has it."""
    if not isinstance(described(name), Function):
        raise InvalidInput(
            f"a function in `metrics` must not be called {name!r}, like a metric; pass it as ('another name', function)"
        )
    return name


def _known(name: str) -> Measurable | None:
    try:
        return _found(name)
    except InvalidInput:
        return None


def _found(name: str) -> Measurable:
    """The metric with this key, name or synonym."""
    return ranking_metric(name) or find_metric(name)


def _catalogued(m: Metric) -> Metric:
    try:
        if find_metric(m.key) == m:
            return m
    except UnknownName:
        pass
    raise InvalidInput(
        f"{m.key!r} is not a metric of the catalogue, by which rows, reports and saved audits know metrics; "
        "CONTRIBUTING.md says how to add it"
    )


def asked_averages(how: Settings, labels: Sequence[Any]) -> list[Summary]:
    """The scores of all classes that the settings ask for."""
    given = [how.averages] if isinstance(how.averages, str) else how.averages
    if not isinstance(given, Sequence):
        raise InvalidInput(argument="averages", must="be a list of scores such as 'macro f1'", got=given)
    return list({one.key: one for one in (parsed(name, labels, how.undefined) for name in given)}.values())


def needs_of(metrics: Sequence[Measurable]) -> set[Needs]:
    """What the metrics need to know of each case."""
    found: set[Needs] = set()
    for m in metrics:
        found.add("ranking" if isinstance(m, RankingMetric) else "values" if isinstance(m, Function) else "cells")
    return found


def recorded_metrics(metrics: Sequence[Measurable]) -> list[str]:
    """The metrics as the record keeps them."""
    return [m.key for m in metrics]


@lru_cache(maxsize=1_000)
def described(key: str) -> Any:
    """What is known of a metric by its key in a row: a metric, an average over classes, or a function's name."""
    found = _known(key)
    if found is not None:
        return found
    try:
        return parsed(key, (), "propagate")
    except InvalidInput:
        return Function(key)
