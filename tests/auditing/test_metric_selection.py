# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc"
"""What an audit can be asked to measure, and what is known of it by its key."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import evenhand as eh
from evenhand.auditing import METRICS, Settings, lookup_metric
from evenhand.auditing.metric_selection import Function, needs_of, select_averages, select_metrics
from evenhand.auditing.settings import AVERAGES
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.metrics import ClassAverage, Metric, RankingMetric


def cost(y_true: Any, y_pred: Any) -> float:
    return 0.0


class Costs:
    """A callable without a name."""

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        return 0.0


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
    found = {key: needs_of(select_metrics(Settings(metrics=key), True)) for key in ("tpr", "auc", cost)}
    assert list(found.values()) == [{"cells"}, {"ranking"}, {"values"}]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tpr": 1}, "metrics must be a list of metrics, such as ['tpr', 'ppv']; got {'tpr': 1}"),
        (5, "metrics must be a list of metrics, such as ['tpr', 'ppv']; got 5"),
        ([], "metrics must contain at least one metric"),
        ([5], "each of metrics must be a name, a Metric or a function; got 5"),
        (["recal"], "no metric is called 'recal'; did you mean 'recall'?"),
        (lambda y, p: 0.0, "a function in metrics must have a name; pass it as ('name', function); got <function "),
        ([Costs()], "a function in metrics must have a name; pass it as ('name', function); got <"),
        ([partial(cost, 1)], "a function in metrics must have a name; pass it as ('name', function); got functools"),
        ([("tpr", cost)], "a function in metrics must not be called 'tpr', like a metric; pass it as ('another name', "
         "function)"),
        ([("recall", cost)], "a function in metrics must not be called 'recall', like a metric; "),
        ([("auc", cost)], "a function in metrics must not be called 'auc', like a metric; "),
        ([(" ", cost)], "the name of a function in metrics must be text; got ''"),
        ([("macro tpr", cost)], "a function in metrics must not be called 'macro tpr', like a metric; "),
        ([cost, ("cost", max)], "functions in metrics must have different names; two are called 'cost'"),
    ],
)  # fmt: skip
def test_what_is_no_metric_is_refused_in_a_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(EvenhandError) as refused:
        keys(given)
    assert str(refused.value).startswith(sentence)


def test_a_metric_that_is_not_in_the_catalogue_is_refused() -> None:
    from dataclasses import replace

    own = replace(eh.metric("tpr"), key="own_rate")
    with pytest.raises(InvalidInput, match=r"^'own_rate' is not a metric of the catalogue, by which rows, reports and"):
        keys([own])


def test_without_labels_only_selection_rates_can_be_asked_for() -> None:
    assert keys(["ppr", "pnr", "demographic_parity", "disparate_impact"], labelled=False)
    with pytest.raises(InvalidInput) as refused:
        keys(["ppr", "tpr"], labelled=False)
    assert str(refused.value) == (
        "tpr needs labels (y_true); without them only ppr, pnr, demographic_parity, disparate_impact can be audited"
    )


def test_functions_need_labels() -> None:
    with pytest.raises(InvalidInput) as refused:
        eh.audit(y_pred=[1, 0], groups=["a", "b"], metrics=[cost])
    assert str(refused.value) == "auc, brier, log_loss and functions need labels; pass them as y_true="


def test_averages_are_asked_for_among_the_metrics() -> None:
    def averages(given: Any) -> list[str]:
        return [m.key for m in select_averages(select_metrics(Settings(metrics=given), True, classes=True))]

    assert set(averages(None)) == set(AVERAGES)
    assert averages(["tpr", "Macro recall", "weighted f1", "acc", "macro tpr"]) == ["macro tpr", "weighted f1", "acc"]
    assert averages(["tpr", "auc", cost]) == []
    with pytest.raises(InvalidInput, match=r"^macro f1 is an average over classes; pass classes='all', or ask for "):
        keys(["macro f1"])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["macro"], "no metric is called 'macro'; list_metrics() or 'evenhand metrics' lists them all"),
        (["macro equal_opportunity"], "equal_opportunity compares two groups; a metric of one group is needed"),
    ],
)  # fmt: skip
def test_what_is_no_average_is_refused_in_a_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(EvenhandError) as refused:
        keys(given)
    assert str(refused.value).startswith(sentence)


def test_functions_of_scikit_learn_are_built_in() -> None:
    from sklearn import metrics

    for name, use in (("recall_score", "recall"), ("accuracy_score", "accuracy"), ("matthews_corrcoef", None)):
        with pytest.raises(InvalidInput, match=rf"^'{name}' in metrics is built in: use '{use or name}'$"):
            keys([getattr(metrics, name)])


def test_every_key_of_a_row_is_described_with_words() -> None:
    kinds: dict[str, Any] = {"tpr": Metric, "equal_opportunity": Metric, "macro tpr": ClassAverage,
                             "weighted f1": ClassAverage, "auc": RankingMetric, "my own cost": Function}  # fmt: skip
    for key, kind in kinds.items():
        found = lookup_metric(key)
        assert isinstance(found, kind), key
        assert found.key == key
        assert found.name and found.better in ("higher", "lower", "neither", "closer to 0")
    for average in AVERAGES:
        assert lookup_metric(average).key == average
