"""Decisions of several models on the same cases: counts by label and by the decisions of two models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any

import numpy as np

from ..arrays import is_sequence
from ..errors import InvalidInput, UnknownName, format_values
from .columns import as_finite, is_mapping
from .counted_rows import Bins, CountedRows, code_values, count_rows, sort_values
from .disclosure import list_keys
from .files import spool
from .tally import Tally, read_two_classes

#: Counts answers by the groups of the data.
CountRows = Callable[..., CountedRows]
#: The names of models, and rows with the decision of each.
Decisions = tuple[list[str], CountedRows]


def build_model_tally(
    data: object,
    groups: object,
    *,
    y_true: object,
    models: object = None,
    model_column: object = None,
    cluster: object = None,
    y_pred: object = None,
    y_score: object = None,
    threshold: object = None,
    baseline: object = None,
    positive: object = None,
    bins: Bins = None,
    merge_variants: bool = False,
) -> Tally:
    """The tally of pairs of models: each is compared with ``baseline``, or with the first."""
    ways = {"models": models, "model_column": model_column, "y_score": y_score}
    given = [f"`{name}`" for name, value in ways.items() if value is not None]
    if len(given) != 1:
        must = "pass one of `models`, `model_column` and `y_score`, which say what is compared"
        raise InvalidInput(f"{must}; got {' and '.join(given) or 'none'}")
    if y_true is None:
        must = "be the name of a column or its values"
        raise InvalidInput(argument="y_true", must=must, got=None)
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
            columns = {"y_true": y_true, "y_pred": y_pred, "model_column": model_column}
            names, rows = _read_lines(count(columns | {"cluster": cluster}))
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise UnknownName.among("model in `baseline`", first, names)
    return _tally_pairs(names, rows, names.index(first), positive)


def _name_models(argument: str, models: Collection[object]) -> list[str]:
    """The names of at least two models."""
    names = list(map(str, models))
    if None in models or len(set(names)) < max(2, len(names)):
        must = "contain at least two models with different names"
        raise InvalidInput(f"`{argument}` must {must}; got {format_values(models)}")
    return names


def _read_columns(count: CountRows, y_true: object, models: Any) -> Decisions:
    """Each model in a column of its own."""
    if not is_mapping(models) and not hasattr(models, "columns"):
        must = "map the names of models to their predictions"
        raise InvalidInput(argument="models", must=must, got=models)
    keys = list(models if is_mapping(models) else models.columns)
    names = _name_models("models", keys)
    answers = {f"prediction of {key}": models[key] for key in keys}
    return names, count({"y_true": y_true} | answers)


def _read_thresholds(count: CountRows, y_true: object, y_score: object, given: Any) -> Decisions:
    """Each threshold of one score as a model."""
    cuts = [as_finite(cut) for cut in given] if is_sequence(given) else []
    if len(set(cuts)) < max(2, len(cuts)):
        must = "contain at least two different numbers"
        raise InvalidInput(argument="threshold", must=must, got=given)
    ascending = sorted(cuts)
    rows = count({"y_true": y_true, "y_score": y_score}, cuts={"y_score": ascending})
    decisions = {}
    for (*key, level), n in rows.rows.items():
        reached = [None if level is None else level > ascending.index(cut) for cut in cuts]
        decisions[*key, *reached] = n
    answers = ("y_true", *["y_score"] * len(cuts))
    return [f"at {cut:.15g}" for cut in cuts], replace(rows, answers=answers, rows=decisions)


def _read_lines(rows: CountedRows) -> Decisions:
    """Each row a decision of one model on one case."""
    order = rows.answer_orders.get("model_column", ())
    models = sort_values(set(rows.answer("model_column")), order)
    names = _name_models("model_column", models)
    cases: dict[Any, tuple[list[Any], dict[Any, Any]]] = {}
    for (*key, decision, model, case), n in rows.rows.items():
        known, decisions = cases.setdefault(case, (key, {}))
        if case is None:
            raise InvalidInput("`cluster` must say in every row which case it is about")
        if n > 1 or model in decisions:
            got = f"{case!r} is decided on twice by {model}"
            raise InvalidInput(f"`cluster` must be decided on once by each model; {got}")
        if known != key:
            must = "have the same label and groups in all of its rows"
            raise InvalidInput(f"`cluster` must {must}; {case!r} has not")
        decisions[model] = decision
    counts = Counter((*key, *map(of.get, models)) for key, of in cases.values())
    answers = ("y_true", *(f"prediction of {name}" for name in names))
    return names, replace(rows, answers=answers, rows=dict(counts))


def _tally_pairs(names: list[str], rows: CountedRows, first: int, positive: object) -> Tally:
    """The tally of each model against the first."""
    labels, *decided = zip(*(row[len(rows.columns) :] for row in rows.rows), strict=True)
    columns = {"y_true": set(labels)}
    if "y_score" not in rows.answers:
        columns["y_pred"] = set().union(*decided)
    coding = read_two_classes(columns, positive)
    decision_of = coding.codes.get("y_pred", {True: 1, False: 0})
    codes = [code_values(labels, coding.codes["y_true"])]
    codes += [code_values(column, decision_of) for column in decided]
    lacks = {name: code < 0 for name, code in zip(rows.answers, codes, strict=True)}
    complete, left_out = rows.find_complete(lacks)
    keys = list_keys(compress(rows.keys, complete))
    key, label, *decisions = np.array([rows.index_keys(keys), *codes])[:, complete]
    others = [i for i in range(len(names)) if i != first]
    counts = np.zeros((len(others), len(keys), 2, 2, 2))
    for count, other in zip(counts, others, strict=True):
        np.add.at(count, (key, label, decisions[first], decisions[other]), rows.n[complete])
    return replace(
        Tally.of(rows, coding),
        keys=keys,
        places=tuple((("model", names[i]), ("against", names[first])) for i in others),
        model_counts=counts,
        left_out=left_out,
    )
