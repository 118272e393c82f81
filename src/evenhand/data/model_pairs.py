"""Decisions of several models on the same cases: counts by label and by the decisions of two models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import is_sequence
from ..errors import InvalidInput, UnknownName, format_values
from .columns import as_finite
from .counted_rows import CountedRows, count_rows, sort_keys, sort_values
from .files import spool
from .frames import Key
from .positive_labels import read_positive
from .tally import Tally

#: Counts answers by the groups of the data.
CountRows = Callable[..., CountedRows]
#: The names of models, and rows with the decision of each.
Decisions = tuple[list[str], CountedRows]


def build_model_tally(
    data: Any,
    groups: Any,
    *,
    y_true: Any,
    models: Any = None,
    model_column: Any = None,
    cluster: Any = None,
    y_pred: Any = None,
    y_score: Any = None,
    threshold: Any = None,
    baseline: Any = None,
    positive: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    merge_variants: bool = False,
) -> Tally:
    """The tally of pairs of models: each is compared with ``baseline``, or with the first."""
    ways = {"models": models, "model_column": model_column, "y_score": y_score}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(f"`{name}`" for name in given) or "none"
        must = "pass one of `models`, `model_column` and `y_score`, which say what is compared"
        raise InvalidInput(f"{must}; got {got}")
    if y_true is None:
        raise InvalidInput(
            argument="y_true", must="be the name of a column or its values", got=None
        )
    for name, value in (("cluster", cluster), ("y_pred", y_pred)):
        if (value is None) != (model_column is None):
            text = f"`{name}` and `model_column` are for rows that are decisions of one model each"
            raise InvalidInput(f"{text}; pass both")
    with spool(data) as data:
        count = partial(count_rows, data, groups, bins=bins, merge=merge_variants)
        if models is not None:
            names, rows = _read_columns(count, y_true, models)
        elif y_score is not None:
            names, rows = _read_thresholds(count, y_true, y_score, threshold)
        else:
            names, rows = _read_lines(count, y_true, y_pred, model_column, cluster)
    if baseline is not None and baseline not in names:
        raise UnknownName.among("model in `baseline`", baseline, names)
    first = names.index(baseline) if baseline is not None else 0
    return _tally_pairs(names, rows, first, positive, are_decisions=y_score is not None)


def _read_columns(count: CountRows, y_true: Any, models: Any) -> Decisions:
    """Each model in a column of its own."""
    if getattr(models, "columns", None) is not None:
        columns = [(str(name), models[name]) for name in models.columns]
    elif isinstance(models, Mapping):
        columns = [(str(name), column) for name, column in models.items()]
    else:
        must = "map the names of models to their predictions"
        raise InvalidInput(argument="models", must=must, got=models)
    names = [name for name, _ in columns]
    if len(set(names)) < max(2, len(names)):
        must = "contain at least two models with different names"
        raise InvalidInput(f"`models` must {must}; got {format_values(names)}")
    answers = {f"predictions of {name}": column for name, column in columns}
    return names, count({"y_true": y_true} | answers)


def _read_thresholds(count: CountRows, y_true: Any, y_score: Any, threshold: Any) -> Decisions:
    """Each threshold of one score as a model."""
    cuts = [as_finite(cut) for cut in threshold] if is_sequence(threshold) else []
    if len(set(cuts)) < max(2, len(cuts)):
        must = "contain at least two different numbers"
        raise InvalidInput(argument="threshold", must=must, got=threshold)
    ascending = sorted(cuts)
    rows = count({"y_true": y_true, "y_score": y_score}, cuts={"y_score": ascending})
    reached = [ascending.index(cut) + 1 for cut in cuts]
    decisions: Counter[Key] = Counter()
    for (*key, level), n in rows.rows.items():
        decisions[*key, *(None if level is None else level >= least for least in reached)] += n
    names = [f"at {cut:.15g}" for cut in cuts]
    return names, replace(rows, answers=("y_true", *names), rows=dict(decisions))


def _read_lines(
    count: CountRows, y_true: Any, y_pred: Any, model_column: Any, cluster: Any
) -> Decisions:
    """Each row a decision of one model on one case."""
    answers = {"y_true": y_true, "y_pred": y_pred, "model_column": model_column, "cluster": cluster}
    rows = count(answers)
    models = sort_values({row[-2] for row in rows.rows}, rows.answer_orders.get("model_column", ()))
    names = list(map(str, models))
    if None in models or len(models) < 2 or len(set(names)) < len(names):
        must = "name at least two models, with different names, in every row"
        raise InvalidInput(f"`model_column` must {must}; got {format_values(models)}")
    decisions: dict[Any, dict[Any, Any]] = {}
    key_of: dict[Any, Key] = {}
    for (*key, decision, model, case), n in rows.rows.items():
        if case is None:
            raise InvalidInput(
                "`cluster` must say in every row which case it is about; it is missing in some"
            )
        by_model = decisions.setdefault(case, {})
        if n > 1 or model in by_model:
            text = f"{case!r} is decided on twice by {model}"
            raise InvalidInput(f"`cluster` must be decided on once by each model; {text}")
        if key_of.setdefault(case, tuple(key)) != tuple(key):
            must = "have the same label and groups in all of its rows"
            raise InvalidInput(f"`cluster` must {must}; {case!r} has not")
        by_model[model] = decision
    counts = Counter(
        (*key_of[case], *map(by_model.get, models)) for case, by_model in decisions.items()
    )
    return names, replace(rows, answers=("y_true", *names), rows=dict(counts))


def _tally_pairs(
    names: list[str], rows: CountedRows, first: int, positive: Any, *, are_decisions: bool
) -> Tally:
    """The tally of each model against the first."""
    width = len(rows.columns)
    labels = {row[width] for row in rows.rows}
    columns = {"y_true": labels}
    if not are_decisions:
        columns["y_pred"] = {value for row in rows.rows for value in row[width + 1 :]}
    coding = read_positive(columns, positive)
    label_of = coding.codes["y_true"]
    decision_of = coding.codes.get("y_pred", {True: 1, False: 0, None: None})
    if positive is None and len(set(label_of.values()) - {None}) == 1:
        occurring = format_values(label for label in labels if label_of[label] is not None)
        raise InvalidInput(
            f"`y_true` contains one class only ({occurring}); if that is right, pass the positive label as `positive=`"
        )
    answers = [
        "y_true",
        *("y_score" if are_decisions else f"prediction of {name}" for name in names),
    ]
    left_out: Counter[str] = Counter()
    kept: list[tuple[Key, list[int], int]] = []
    for row, times in rows.rows.items():
        codes = [label_of[row[width]], *(decision_of[value] for value in row[width + 1 :])]
        missing = dict.fromkeys(
            what for what, code in zip(answers, codes, strict=True) if code is None
        )
        if missing:
            left_out[" and ".join(missing)] += times
        else:
            kept.append((row[:width], [int(code or 0) for code in codes], times))
    if not kept:
        raise InvalidInput("every case lacks a label or a prediction; there is nothing to compare")
    keys = sort_keys({key for key, *_ in kept})
    index_of = {key: i for i, key in enumerate(keys)}
    key = np.array([index_of[key] for key, *_ in kept], dtype=np.int64)
    binary, n = (
        np.array([binary for _, binary, _ in kept]),
        np.array([n for *_, n in kept], dtype=np.float64),
    )
    others = [i for i in range(len(names)) if i != first]
    counts = np.zeros((len(others), len(keys), 2, 2, 2))
    for place, other in enumerate(others):
        np.add.at(counts[place], (key, binary[:, 0], binary[:, 1 + first], binary[:, 1 + other]), n)
    called = {"y_true": "label", "y_pred": "prediction"}
    facts: dict[str, Any] = {
        fact: {called[name]: values for name, values in getattr(coding, fact).items()}
        for fact in ("positive", "negative")
    }
    return Tally(
        columns=rows.columns,
        keys=tuple(keys),
        places=tuple((("model", names[other]), ("against", names[first])) for other in others),
        model_counts=counts,
        left_out=dict(left_out),
        orders=rows.orders,
        source=rows.source,
        library=rows.library,
        absent=coding.absent,
        missing_words=coding.missing_words,
        **facts,
    )
