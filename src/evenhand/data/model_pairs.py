"""Decisions of several models on the same cases: counts by label and by the decisions of two models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import compress
from math import inf, nan
from typing import Any

import numpy as np

from ..arrays import Bools, Floats, Integers, is_sequence
from ..confusion import LabelCoding
from ..errors import InvalidInput, UnknownName, brief, format_values
from .columns import as_finite, is_mapping
from .counted_rows import Bins, CountedRows, code_values, count_rows, sort_values
from .disclosure import list_keys
from .files import spool
from .tally import ItemTable, Place, Tally, read_two_classes

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
    results: object = None,
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
    ways = {"models": models, "results": results, "model_column": model_column, "y_score": y_score}
    given = [f"`{name}`" for name, value in ways.items() if value is not None]
    if len(given) != 1:
        *others, last = (f"`{name}`" for name in ways)
        must = f"pass one of {', '.join(others)} and {last}, which say what is compared"
        raise InvalidInput(f"{must}; got {' and '.join(given) or 'none'}")
    if results is not None:
        of_decisions = {"y_true": y_true, "y_pred": y_pred, "positive": positive}
        for name, value in of_decisions.items():
            if value is not None:
                raise InvalidInput(f"`results` take the place of `{name}`; leave one of them out")
        with spool(data) as data:
            columns = _read_mapping("results", results, "columns of numbers")
            answers = {f"result of {name}": column for name, column in columns.items()}
            answers["cluster"] = cluster
            rows = count_rows(data, groups, answers, bins=bins, merge=merge_variants)
        return _tally_results(list(columns), rows, baseline)
    if y_true is None:
        hint = "without labels, pass columns of 0 and 1, or of grades, as `results`"
        raise InvalidInput(f"predictions need labels to compare with (`y_true`); {hint}")
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
    return _tally_pairs(names, rows, _find_first(names, baseline), positive)


def _find_first(names: list[str], baseline: object) -> int:
    """The model that the others are compared with."""
    first = names[0] if baseline is None else baseline
    if first not in names:
        raise UnknownName.among("model in `baseline`", str(first), names)
    return names.index(str(first))


def _name_models(argument: str, models: Collection[object]) -> list[str]:
    """The names of at least two models."""
    names = list(map(str, models))
    if None in models or len(set(names)) < max(2, len(names)):
        must = "contain at least two models with different names"
        raise InvalidInput(f"`{argument}` must {must}; got {format_values(models)}")
    return names


def _read_columns(count: CountRows, y_true: object, models: Any) -> Decisions:
    """Each model in a column of its own."""
    columns = _read_mapping("models", models, "predictions")
    answers = {f"prediction of {name}": column for name, column in columns.items()}
    return list(columns), count({"y_true": y_true} | answers)


def _read_mapping(argument: str, given: Any, what: str) -> dict[str, object]:
    """Columns by the names of models."""
    if not is_mapping(given) and not hasattr(given, "columns"):
        must = f"map the names of models to their {what}"
        raise InvalidInput(argument=argument, must=must, got=given)
    keys = list(given if is_mapping(given) else given.columns)
    names = _name_models(argument, keys)
    return {name: given[key] for name, key in zip(names, keys, strict=True)}


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
        places=_name_places(names, first),
        model_counts=counts,
        left_out=left_out,
    )


def _name_places(names: list[str], first: int) -> tuple[Place, ...]:
    others = [name for name in names if name != names[first]]
    return tuple((("model", name), ("against", names[first])) for name in others)


def _tally_results(names: list[str], rows: CountedRows, baseline: object) -> Tally:
    """The tally of results: of 0 and 1 as counts of right decisions, else of items."""
    first = _find_first(names, baseline)
    answers = [f"result of {name}" for name in names]
    results = np.array([list(map(_read_result, rows.answer(name))) for name in answers])
    lacks = dict(zip(answers, np.isnan(results), strict=True))
    complete, left_out = rows.find_complete(lacks)
    keys = list_keys(compress(rows.keys, complete))
    key, n, results = rows.index_keys(keys)[complete], rows.n[complete], results[:, complete]
    others = np.delete(results, first, axis=0)
    is_binary = bool(np.isin(results, (0.0, 1.0)).all())
    items = None
    if is_binary and "cluster" not in rows.answers:
        counts = np.zeros((len(others), len(keys), 2, 2, 2))
        for count, other in zip(counts, others.astype(np.int64), strict=True):
            np.add.at(count, (key, key * 0 + 1, results[first].astype(np.int64), other), n)
    else:
        counts = np.tile(np.bincount(key, n, len(keys)), (len(others), 1))
        items = _add_items(rows, complete, key, np.array([results[first], *others]), is_binary)
    return replace(
        Tally.of(rows, LabelCoding((), {})),
        keys=keys,
        places=_name_places(names, first),
        model_counts=counts,
        items=items,
        left_out=left_out,
        labelled=False,
    )


def _add_items(
    rows: CountedRows, complete: Bools, key: Integers, results: Floats, is_binary: bool
) -> ItemTable:
    """The items of complete rows; without clusters, each case is one."""
    case = np.repeat(np.arange(len(key)), rows.n[complete].astype(np.int64))
    key, results, item = key[case], results[:, case], np.arange(len(case))
    if "cluster" in rows.answers:
        clusters = list(compress(rows.answer("cluster"), complete))
        index = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
        item = np.array([index[cluster] for cluster in clusters])[case]
        if None in index or len(np.unique([item, key], axis=1).T) > len(index):
            must = "say which item each row is about, and be in the same groups in all of its rows"
            raise InvalidInput(f"`cluster` must {must}")
    runs, where = np.bincount(item).astype(np.float64), np.unique(item, return_index=True)[1]
    first, *second = (np.bincount(item, of) for of in results)
    return ItemTable(key[where], runs, np.array([first] * len(second)), np.array(second), is_binary)


def _read_result(value: Any) -> float:
    """A result as a number; nan if it is missing."""
    words = {"true": 1.0, "false": 0.0, "": nan, "none": nan}
    text = str(value).strip().casefold()
    with suppress(ValueError):
        number = words[text] if text in words else float(text)
        if abs(number) != inf:
            return number
    must = "contain numbers, such as 1 for a correct answer and 0 for a wrong one"
    raise InvalidInput(f"`results` must {must}; got {brief(value)}")
