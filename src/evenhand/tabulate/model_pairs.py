"""Decisions of several models on the same cases: counts by label and by the decisions of each pair of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import is_sequence, listed, read_labels
from ..errors import InvalidInput, UnknownName
from .columns import finite
from .counting import CountedRows, counted
from .ordering import Key, in_order, ordered
from .streams import held
from .tally import Slice, Tally

__all__ = ["ModelPair", "paired"]


@dataclass(frozen=True, eq=False)
class ModelPair:
    """Counts of cases by label and by the decisions of two models, of shape (2, 2, 2)."""

    counts: NDArray[np.float64]

    @property
    def n(self) -> int:
        """The number of cases."""
        return int(self.counts.sum())

    def __add__(self, other: ModelPair) -> ModelPair:
        return ModelPair(self.counts + other.counts)

    def __sub__(self, other: ModelPair) -> ModelPair:
        return ModelPair(self.counts - other.counts)


def paired(
    data: Any,
    groups: Any,
    *,
    y_true: Any,
    models: Any = None,
    model_column: Any = None,
    unit: Any = None,
    y_pred: Any = None,
    y_score: Any = None,
    threshold: Any = None,
    baseline: Any = None,
    pairs: str = "first",
    positive: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    join: bool = False,
) -> Tally:
    """The tally of pairs of models: one slice per pair, at its ``model`` and the one it is compared ``against``.

    All are compared against ``baseline`` or the first. With ``join``, all spellings of a group are one.
    """
    ways = {"models": models, "model_column": model_column, "y_score": y_score}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none"
        raise InvalidInput(f"pass one of `models`, `model_column` and `y_score`, which say what is compared; got {got}")
    if y_true is None:
        raise InvalidInput(argument="y_true", must="be the name of a column or its values", got=None)
    for name, value in (("unit", unit), ("y_pred", y_pred)):
        if value is not None and model_column is None:
            raise InvalidInput(
                f"`{name}` is for rows that are decisions of one model each; pass `model_column` with it"
            )
    with held(data) as kept:
        count = partial(counted, kept, groups, bins=bins, join=join)
        if models is not None:
            names, rows = _of_columns(count, y_true, models)
        elif y_score is not None:
            names, rows = _of_thresholds(count, y_true, y_score, threshold)
        else:
            names, rows = _of_lines(count, y_true, y_pred, model_column, unit)
    return _tally(names, rows, _pairs(names, baseline, pairs), positive, decided=y_score is not None)


Counting = Callable[..., CountedRows]
"""Counts answers by the groups of the data."""


def _of_columns(count: Counting, y_true: Any, models: Any) -> tuple[list[str], CountedRows]:
    """Each model in a column of its own."""
    if getattr(models, "columns", None) is not None:
        columns = [(str(name), models[name]) for name in models.columns]
    elif isinstance(models, Mapping):
        columns = [(str(name), column) for name, column in models.items()]
    else:
        raise InvalidInput(argument="models", must="map the names of models to their predictions", got=models)
    names = [name for name, _ in columns]
    if len(set(names)) < max(2, len(names)):
        raise InvalidInput(f"`models` must contain at least two models with different names; got {listed(names)}")
    answers = {"y_true": y_true} | {f"predictions of {name}": column for name, column in columns}
    return names, count(answers)


def _of_thresholds(count: Counting, y_true: Any, y_score: Any, threshold: Any) -> tuple[list[str], CountedRows]:
    """Each threshold of one score as a model."""
    cuts = [finite(one) for one in threshold] if is_sequence(threshold) else []
    if len(set(cuts)) < 2 or len(set(cuts)) < len(cuts):
        raise InvalidInput(argument="threshold", must="contain at least two different numbers", got=threshold)
    ordered_cuts = sorted(cuts)
    found = count({"y_true": y_true, "y_score": y_score}, cuts={"y_score": ordered_cuts})
    width = len(found.columns)
    places = [ordered_cuts.index(cut) + 1 for cut in cuts]
    rows: Counter[Key] = Counter()
    for row, n in found.rows.items():
        level = row[width + 1]
        rows[(*row[: width + 1], *(None if level is None else level >= place for place in places))] += n
    names = [f"at {cut:.15g}" for cut in cuts]
    answers = ("y_true", *names)
    kept = CountedRows(
        columns=found.columns,
        answers=answers,
        rows=dict(rows),
        orders=found.orders,
        source=found.source,
        library=found.library,
    )
    return names, kept


def _of_lines(count: Counting, y_true: Any, y_pred: Any, model_column: Any, unit: Any) -> tuple[list[str], CountedRows]:
    """Each row a decision of one model on one case."""
    for name, value in (("unit", unit), ("y_pred", y_pred)):
        if value is None:
            raise InvalidInput(f"`model_column` needs `{name}`; pass it")
    answers = {"y_true": y_true, "y_pred": y_pred, "model_column": model_column, "unit": unit}
    found = count(answers)
    width = len(found.columns)
    models = in_order({row[width + 2] for row in found.rows}, found.answer_orders.get("model_column", ()))
    if None in models or len(models) < 2:
        raise InvalidInput(f"`model_column` must name at least two models in every row; got {listed(models)}")
    names = {model: str(model) for model in models}
    if len(set(names.values())) < len(models):
        raise InvalidInput(f"`model_column` must give different names to different models; got {listed(models)}")
    cases: dict[Any, dict[Any, Any]] = {}
    whose: dict[Any, Key] = {}
    if missing := sum(n for row, n in found.rows.items() if row[width + 3] is None):
        raise InvalidInput(f"`unit` must say in every row which case it is about; it is missing in {missing:,} of them")
    for row, n in found.rows.items():
        case, model, decision = row[width + 3], row[width + 2], row[width + 1]
        inside = cases.setdefault(case, {})
        if n > 1 or model in inside:
            raise InvalidInput(f"`unit` must be decided on once by each model; {case!r} is decided on twice by {model}")
        if whose.setdefault(case, row[: width + 1]) != row[: width + 1]:
            raise InvalidInput(f"`unit` must have the same label and groups in all of its rows; {case!r} has not")
        inside[model] = decision
    rows: Counter[Key] = Counter()
    for case, inside in cases.items():
        rows[(*whose[case], *(inside.get(model) for model in models))] += 1
    kept = CountedRows(
        columns=found.columns,
        answers=("y_true", *names.values()),
        rows=dict(rows),
        orders=found.orders,
        source=found.source,
        library=found.library,
    )
    return list(names.values()), kept


def _tally(
    names: list[str], rows: CountedRows, pairs: Sequence[tuple[int, int]], positive: Any, decided: bool
) -> Tally:
    """The tally of these pairs of models, each a place in ``names``."""
    width = len(rows.columns)
    labels = {row[width] for row in rows.rows}
    seen = {value for row in rows.rows for value in row[width + 1 :]}
    columns = {"y_true": labels} if decided else {"y_true": labels, "y_pred": seen}
    reading = read_labels(columns, positive=positive)
    actual = reading.meanings["y_true"]
    predicted = {True: True, False: False, None: None} if decided else reading.meanings["y_pred"]
    if positive is None and len(set(actual.values()) - {None}) == 1:
        raise InvalidInput(
            f"`y_true` contains one class only ({listed(v for v in labels if actual[v] is not None)}); if that is "
            "right, "
            "pass the positive label as `positive=`"
        )
    answers = ["y_true", *("y_score" if decided else f"prediction of {name}" for name in names)]
    left_out: Counter[str] = Counter()
    kept: dict[Key, list[tuple[int, list[int], int]]] = {}
    for row, n in rows.rows.items():
        label, decisions = actual[row[width]], [predicted[value] for value in row[width + 1 :]]
        lacking = [what for what, value in zip(answers, [label, *decisions], strict=True) if value is None]
        missing = list(dict.fromkeys(lacking))
        if missing or label is None:
            left_out[" and ".join(missing)] += n
        else:
            kept.setdefault(row[:width], []).append((int(label), [int(bool(d)) for d in decisions], n))
    if not kept:
        raise InvalidInput("every case lacks a label or a prediction; there is nothing to compare")
    slices = []
    for first, second in pairs:
        parts = {}
        for key in ordered(kept):
            counts = np.zeros((2, 2, 2))
            for actually, decisions_, n in kept[key]:
                counts[actually, decisions_[first], decisions_[second]] += n
            parts[key] = ModelPair(counts)
        slices.append(Slice("models", (("model", names[second]), ("against", names[first])), parts))
    spelled: dict[str, Any] = {
        what: {called: getattr(reading, what)[name] for name, called in _CALLED.items() if name in columns}
        for what in ("positive", "negative")
    }
    return Tally(
        columns=rows.columns,
        slices=tuple(slices),
        left_out=dict(left_out),
        orders=rows.orders,
        source=rows.source,
        library=rows.library,
        absent=reading.absent,
        words=reading.words,
        **spelled,
    )


_CALLED = {"y_true": "label", "y_pred": "prediction"}


def _pairs(names: list[str], baseline: Any, pairs: str) -> list[tuple[int, int]]:
    """Which models are compared, the one that is compared against first."""
    if pairs not in ("first", "all"):
        raise UnknownName.among("`pairs`", pairs, ["first", "all"])
    if baseline is not None and baseline not in names:
        raise UnknownName.among("model in `baseline`", baseline, names)
    places = sorted(range(len(names)), key=lambda i: names[i] != baseline)
    found = list(combinations(places, 2))
    return found if pairs == "all" else found[: len(names) - 1]
