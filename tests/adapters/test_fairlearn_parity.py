"""fairlearn's names with intervals and p-values, against the real library and counting by hand."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import fairlearn.metrics as fm
import numpy as np
import pytest
from fairlearn_people import Counts, counts, people, share
from hypothesis import assume, given, settings, strategies as st
from pytest import approx

import evenhand as eh
from evenhand import fairlearn
from evenhand.inference import aggregate

NAMES = [
    f"{what}_{kind}"
    for what in ("demographic_parity", "equal_opportunity", "equalized_odds")
    for kind in ("difference", "ratio")
]
METRICS = {"demographic_parity": ["ppr"], "equal_opportunity": ["tpr"], "equalized_odds": ["tpr", "fpr"]}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("name", NAMES)
@given(groups=counts, mean=st.booleans())
@settings(max_examples=20, deadline=None)
def test_estimates_are_those_of_fairlearn_where_every_group_is_defined(
    name: str, method: str, groups: Counts, mean: bool
) -> None:
    what, _, kind = name.rpartition("_")
    parts = {key: [share(key, m) for m in groups.values()] for key in METRICS[what]}
    assume(all(n for rows in parts.values() for _, n in rows))
    assume(kind == "difference" or all(any(k for k, _ in rows) for rows in parts.values()))
    y_true, y_pred, who = people(groups)
    options: dict[str, Any] = {"agg": "mean" if mean else "worst_case"} if what == "equalized_odds" else {}
    expected = getattr(fm, name)(y_true, y_pred, sensitive_features=who, method=method, **options)
    ours = getattr(fairlearn, name)(
        y_true, y_pred, sensitive_features=who, method=method, positive=1, draws=9, **options
    )
    assert ours.estimate == approx(expected, abs=1e-12)
    assert float(ours) == ours.estimate
    assert 0 <= ours.low <= ours.estimate + 1e-12
    assert ours.estimate - 1e-12 <= ours.high <= 1
    assert 0 < ours.pvalue <= 1
    assert ours.undefined == {}


@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_the_aggregate_of_its_rates(name: str, method: Any) -> None:
    what, _, kind = name.rpartition("_")
    groups: Counts = {"a": (9, 3, 2, 6), "b": (4, 4, 5, 3), "c": (2, 7, 1, 8)}
    y_true, y_pred, who = people(groups)
    matrices = {group: eh.ConfusionMatrix(*cells) for group, cells in groups.items()}
    rates = [eh.metric(key).base for key in METRICS[what]]
    for options in ({}, {"agg": "mean"}) if what == "equalized_odds" else ({},):
        how: Any = {"method": method, "level": 0.9, **options}
        found = getattr(fairlearn, name)(y_true, y_pred, sensitive_features=who, **how)
        if what == "demographic_parity":
            # Without labels, the selected are counted as false positives.
            selected = {group: eh.ConfusionMatrix(0, 0, tp + fp, fn + tn) for group, (tp, fn, fp, tn) in groups.items()}
            assert found == aggregate(name, kind, selected, rates, **how)  # type: ignore[arg-type]
        else:
            assert found == aggregate(name, kind, matrices, rates, **how)  # type: ignore[arg-type]
        assert found.level == 0.9


@pytest.mark.parametrize("name", NAMES)
def test_a_function_has_the_arguments_of_fairlearns_and_explains_its_own(name: str) -> None:
    """All are made from one table; each is documented, survives pickling, and refuses arguments it does not have."""
    ours = getattr(fairlearn, name)
    arguments = inspect.signature(ours).parameters
    assert set(inspect.signature(getattr(fm, name)).parameters) <= set(arguments)
    for argument in arguments:
        assert re.search(rf"^    [^:]*\b{argument}\b[^:]* : ", ours.__doc__, re.MULTILINE), argument
    assert {"Parameters", "Returns", "Examples"} <= {line.strip() for line in ours.__doc__.splitlines()}
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert ours.__name__ == name
    with pytest.raises(TypeError, match="threshold"):
        ours([1], [1], sensitive_features=["a"], threshold=3)
    with pytest.raises(TypeError, match="sensitive_features"):
        ours([1], [1])


def test_groups_that_look_alike_are_kept_apart() -> None:
    """Texts that look alike, 1 and "1"; what has no value is no group."""
    y_pred = [1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0]
    for groups in (["(missing)"] * 4 + ["missing"] * 4 + ["x"] * 4, [1] * 4 + ["1"] * 4 + ["x"] * 4):
        found = fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=groups)
        apart = fairlearn.demographic_parity_difference(
            None, y_pred, sensitive_features=["p"] * 4 + ["q"] * 4 + ["r"] * 4
        )
        assert (found.estimate, found.low, found.high, found.pvalue) == (
            apart.estimate, apart.low, apart.high, apart.pvalue)  # fmt: skip
    alone = fairlearn.demographic_parity_difference(None, [1, 0, 1], sensitive_features=["a", "b", None])
    assert alone.decided_by == {"ppr": ("b", "a")}


def test_draws_repeat_and_are_recorded() -> None:
    rng = np.random.default_rng(5)
    y_pred, who = rng.random(300) < 0.4, np.repeat(list("abcd"), 75)
    options: Any = {"sensitive_features": who, "draws": 99}
    one, same, other = (fairlearn.demographic_parity_difference(None, y_pred, **options, rng=rng) for rng in (1, 1, 2))
    assert one == same
    assert (one.method, one.rng, other.rng) == ("permutation, 99 draws", 1, 2)
    assert one.pvalue != other.pvalue


def test_a_perfect_classifier_and_a_group_without_positives_are_no_disparity() -> None:
    """fairlearn reports 1.0, without a warning."""
    y_true, y_pred, who = people({"a": (5, 0, 0, 5), "b": (8, 0, 0, 4), "c": (0, 0, 0, 6)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = fm.equalized_odds_difference(y_true, y_pred, sensitive_features=who)
    ours = fairlearn.equalized_odds_difference(y_true, y_pred, sensitive_features=who)
    assert theirs == 1.0
    assert ours.estimate == 0.0
    assert ours.pvalue == 1.0
    assert ours.undefined == {"tpr": {"c": "no actual positives (TP + FN = 0)"}}
    assert str(ours).splitlines()[-1] == ("tpr of c is undefined and left out: no actual positives (TP + FN = 0)")


def test_what_cannot_be_compared_is_undefined_with_a_reason() -> None:
    y_true, y_pred, who = people({"a": (3, 1, 2, 2), "b": (0, 0, 0, 4), "c": (0, 0, 1, 4)})
    one = fairlearn.equal_opportunity_difference(y_true, y_pred, sensitive_features=who)
    assert math.isnan(one.estimate) and one.pvalue is None and math.isnan(one.high)
    assert one.reason == "tpr is defined for 1 group, and two are needed"
    assert str(one).startswith("equal_opportunity_difference is undefined: tpr is defined for 1 group, and two are")
    worst = fairlearn.equalized_odds_difference(y_true, y_pred, sensitive_features=who)
    assert worst.estimate == 0.5
    assert worst.decided_by == {"fpr": ("b", "a")}
    assert worst.reason == one.reason
    assert math.isnan(fairlearn.equalized_odds_difference(y_true, y_pred, sensitive_features=who, agg="mean").estimate)
    nobody = fairlearn.demographic_parity_ratio(None, [0, 0, 0, 0], sensitive_features=list("aabb"), positive=1)
    assert nobody.reason == "ppr is 0 in every group"
    assert nobody.to_dict()["estimate"] is None


def test_rows_without_a_label_or_a_prediction_are_left_out_and_counted() -> None:
    found = fairlearn.equalized_odds_difference(
        [1, 0, None, 1, 0, 1], [1, 0, 1, None, 1, 0], sensitive_features=list("aaabbb"), positive=1
    )
    assert found.left_out == {"y_true": 1, "y_pred": 1}
    assert str(found).splitlines()[-2:] == [
        "1 row without a label is left out",
        "1 row without a prediction is left out",
    ]
    selected = fairlearn.demographic_parity_difference(None, [1, 0, None, 1], sensitive_features=list("aabb"))
    assert (selected.left_out, selected.estimate) == ({"y_pred": 1}, 0.5)


def test_groups_of_several_features_are_their_combinations() -> None:
    features = {"sex": list("ffmmffmm"), "age": [1, 1, 1, 1, 2, 2, 2, 2]}
    found = fairlearn.demographic_parity_difference(None, [1, 1, 0, 1, 0, 0, 1, 0], sensitive_features=features)
    assert found.estimate == 1.0
    assert found.decided_by == {"ppr": ("f & age 2", "f & age 1")}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sample_weight": [1, 1]}, "equalized_odds_ratio is about counts, so sample_weight must be None; leave out "
         "the weights"),
        ({"method": "both"}, "method must be 'between_groups' or 'to_overall'; got 'both'"),
        ({"agg": "median"}, "agg must be 'worst_case' or 'mean'; got 'median'"),
        ({"level": 1}, "level must lie between 0 and 1; got 1"),
        ({"draws": 0}, "draws must be a whole number above 0; got 0"),
        ({"rng": -1}, "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
    ],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput) as refusal:
        fairlearn.equalized_odds_ratio([1, 0], [1, 0], sensitive_features=["a", "b"], **options)
    assert str(refusal.value) == sentence


def test_differences_from_fairlearn_are_those_of_the_table_in_the_docs() -> None:
    def both(name: str, groups: Counts, **options: Any) -> tuple[float, float]:
        y_true, y_pred, who = people(groups)
        there = getattr(fm, name)(y_true, y_pred, sensitive_features=who, **options)
        return there, getattr(fairlearn, name)(y_true, y_pred, sensitive_features=who, **options).estimate

    alone: Counts = {"a": (3, 1, 1, 2)}
    zero: Counts = {"a": (3, 1, 0, 2), "b": (2, 2, 0, 5)}
    assert both("equal_opportunity_difference", alone) == approx((0.0, math.nan), nan_ok=True)
    assert both("equal_opportunity_ratio", alone) == approx((1.0, math.nan), nan_ok=True)
    with np.errstate(invalid="ignore"):
        assert both("equalized_odds_ratio", zero, agg="mean") == approx((2 / 3, math.nan), nan_ok=True)
        nobody: Counts = {"a": (0, 1, 0, 2), "b": (0, 2, 1, 5)}
        assert both("equal_opportunity_ratio", nobody) == approx((math.nan, math.nan), nan_ok=True)


RESULTS: dict[str, Callable[[], Any]] = {
    "defined": lambda: fairlearn.equalized_odds_ratio(
        [1, 0, 1, 0, 0], [1, 0, 0, 1, 0], sensitive_features=["<b>", "<b>", "y", "y", "\x1b[2J"]
    ),
    "undefined": lambda: fairlearn.equal_opportunity_ratio(
        [1, 0, 0], [1, 0, 0], sensitive_features=["<b>", "<b>", "y"]
    ),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_results_print_show_themselves_and_have_a_way_out(result: Callable[[], Any]) -> None:
    found = result()
    assert "\x1b" not in str(found)
    assert len(repr(found)) <= 140 and "\n" not in repr(found)
    assert "<b>" not in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()


def test_a_rate_that_is_0_everywhere_is_said_to_be_left_out() -> None:
    """Its ratio is 0 / 0, so that ours is that of the other rate."""
    y_true, y_pred, who = people({"a": (0, 2, 1, 1), "b": (0, 2, 2, 1)})
    found = fairlearn.equalized_odds_ratio(y_true, y_pred, sensitive_features=who)
    assert found.estimate == approx(3 / 4)
    assert "left out: tpr is 0 in every group" in str(found).splitlines()
    assert "left out: tpr is 0 in every group" in found._repr_html_()
    mean = fairlearn.equalized_odds_ratio(y_true, y_pred, sensitive_features=who, agg="mean")
    assert str(mean) == "equalized_odds_ratio is undefined: tpr is 0 in every group"
