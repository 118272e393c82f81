# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc"
"""What an audit can be asked to measure, and what is known of it by its key."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from oracle import refusal

import evenhand as eh
from evenhand.auditing import METRICS, Settings, lookup_metric
from evenhand.auditing.metric_selection import Function, needs_of, select_averages, select_metrics
from evenhand.auditing.settings import AVERAGES
from evenhand.metrics import ClassAverage, Metric, RankingMetric


def cost(y_true: Any, y_pred: Any) -> float:
    return 0.0


class Costs:
    """A callable without a name."""

    __call__ = staticmethod(cost)


def keys(given: Any, labelled: bool = True) -> list[str]:
    return [m.key for m in select_metrics(Settings(metrics=given), labelled)]


def test_metrics_are_asked_for_by_name_record_or_function() -> None:
    assert keys(None) == list(METRICS)
    assert keys(None, labelled=False) == ["ppr"]
    assert keys("recall") == keys(["tpr"]) == keys(eh.metric("tpr")) == keys(("tpr",)) == ["tpr"]
    assert keys(["tpr", "recall", eh.metric("tpr")]) == ["tpr"], "each once"
    assert keys(["f2", "npv_difference", "tpr_ratio", eh.f_beta(3)]) == ["f2", "npv_difference", "tpr_ratio", "f3"]
    assert keys(["roc_auc", "Brier score", "logloss"]) == ["auc", "brier", "log_loss"]
    assert keys(cost) == keys([cost]) == ["cost"]
    assert keys(("my cost", cost)) == keys([("my cost", cost)]) == ["my cost"]
    assert keys(["tpr", cost, ("another", cost), "auc"]) == ["tpr", "cost", "another", "auc"]


def test_what_is_needed_of_each_case_follows_from_the_metrics() -> None:
    for key, needs in (("tpr", "cells"), ("auc", "ranking"), (cost, "values")):
        assert needs_of(select_metrics(Settings(metrics=key), True)) == {needs}


def test_what_is_no_metric_is_refused_in_a_sentence() -> None:
    a_list = "metrics must be a list of metrics, such as ['tpr', 'ppv']; got"
    nameless = "a function in metrics must have a name; pass it as ('name', function); got"
    another = "like a metric; pass it as ('another name', function)"
    taken = ("tpr", "recall", "auc", "macro tpr")
    refusals: list[tuple[Any, str]] = [
        ({"tpr": 1}, f"{a_list} {{'tpr': 1}}"),
        (5, f"{a_list} 5"),
        ([], f"{a_list} []"),
        ([5], "metrics must be names, Metrics or functions; got 5"),
        (["recal"], "no metric is called 'recal'; did you mean 'recall'?"),
        (lambda y, p: 0.0, f"{nameless} <function "),
        ([Costs()], f"{nameless} <"),
        ([partial(cost, 1)], f"{nameless} functools"),
        *(([(name, cost)], f"a function in metrics must not be called '{name}', {another}") for name in taken),
        ([(" ", cost)], f"{nameless} (' ', <function "),
        ([cost, ("cost", max)], "two functions in metrics are called 'cost'; rename one"),
        (["macro"], "no metric is called 'macro'; list_metrics() or 'evenhand metrics' lists them all"),
        (["macro equal_opportunity"], "equal_opportunity compares two groups; a metric of one group is needed"),
        (["macro f1"], "macro f1 is an average over classes; pass classes='all', or ask for other metrics"),
        ([replace(eh.metric("tpr"), key="own_rate")], "'own_rate' is not a metric of the catalogue; CONTRIBUTING"),
    ]
    for given, sentence in refusals:
        assert refusal(keys, given).partition(": ")[2].startswith(sentence)


def test_without_labels_only_selection_rates_can_be_asked_for() -> None:
    selections = ["ppr", "pnr", "demographic_parity", "disparate_impact"]
    assert keys(selections, labelled=False) == selections
    tpr = f"tpr needs labels (y_true); without them only {', '.join(selections)} can be audited"
    asked: list[tuple[Any, str]] = [
        (["ppr", "tpr"], tpr),
        ([cost], "auc, brier, log_loss and functions need labels; pass them as y_true="),
    ]
    for metrics, sentence in asked:
        assert refusal(eh.audit, y_pred=[1, 0], groups=["a", "b"], metrics=metrics) == f"InvalidInput: {sentence}"


def test_averages_are_asked_for_among_the_metrics() -> None:
    def averages(given: Any) -> list[str]:
        return [m.key for m in select_averages(select_metrics(Settings(metrics=given), True, classes=True))]

    assert set(averages(None)) == set(AVERAGES)
    assert averages(["tpr", "Macro recall", "weighted f1", "acc", "macro tpr"]) == ["macro tpr", "weighted f1", "acc"]
    assert averages(["tpr", "auc", cost]) == []


def test_functions_of_scikit_learn_are_built_in() -> None:
    from sklearn import metrics

    for name, use in (("recall_score", "recall"), ("accuracy_score", "accuracy"), ("matthews_corrcoef", None)):
        built_in = f"InvalidInput: '{name}' in metrics is built in: use '{use or name}'"
        assert refusal(keys, [getattr(metrics, name)]) == built_in


def test_every_key_of_a_row_is_described_with_words() -> None:
    kinds = {"tpr": Metric, "equal_opportunity": Metric, "macro tpr": ClassAverage, "auc": RankingMetric}
    for key, kind in (kinds | {"my own cost": Function} | dict.fromkeys(AVERAGES, object)).items():
        found = lookup_metric(key)
        assert isinstance(found, kind) and found.key == key
        assert found.name and found.better in ("higher", "lower", "neither", "closer to 0")
