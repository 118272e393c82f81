"""Gaps under fairlearn's names, against fairlearn and counting by hand."""

from __future__ import annotations

import pickle
import warnings
from math import nan

import pytest
from engines import fm
from fairlearn_people import Counts, counts, people, share
from hypothesis import assume, given, settings
from pytest import approx

import evenhand as eh
from evenhand import fairlearn

METRICS = {"demographic_parity": ["ppr"], "equal_opportunity": ["tpr"], "equalized_odds": ["tpr", "fpr"]}
NAMES = [f"{what}_{kind}" for what in METRICS for kind in ("difference", "ratio")]


def gap(name: str, groups: Counts) -> float:
    y_true, y_pred, group = people(groups)
    result: float = getattr(fairlearn, name)(y_true, y_pred, sensitive_features=group, positive=1)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(groups=counts)
@settings(max_examples=20, deadline=None)
def test_gaps_are_fairlearns_where_every_group_is_defined(name: str, groups: Counts) -> None:
    what, _, kind = name.rpartition("_")
    parts = {key: [share(key, m) for m in groups.values()] for key in METRICS[what]}
    assume(all(n for rows in parts.values() for _, n in rows))
    assume(kind == "difference" or all(any(k for k, _ in rows) for rows in parts.values()))
    y_true, y_pred, group = people(groups)
    expected = getattr(fm, name)(y_true, y_pred, sensitive_features=group)
    assert gap(name, groups) == approx(expected, abs=1e-12)


def test_gaps_are_the_largest_difference_and_the_smallest_ratio() -> None:
    groups: Counts = {"a": (9, 3, 2, 6), "b": (4, 4, 5, 3), "c": (2, 7, 1, 8)}
    rates = {
        "demographic_parity": [[11 / 20, 9 / 16, 3 / 18]],
        "equal_opportunity": [[9 / 12, 4 / 8, 2 / 9]],
        "equalized_odds": [[9 / 12, 4 / 8, 2 / 9], [2 / 8, 5 / 8, 1 / 9]],
    }
    for what, scores in rates.items():
        difference = max(max(s) - min(s) for s in scores)
        ratio = min(min(s) / max(s) for s in scores)
        assert gap(f"{what}_difference", groups) == approx(difference)
        assert gap(f"{what}_ratio", groups) == approx(ratio)


def test_functions_have_names_docstrings_and_can_be_pickled() -> None:
    for name in NAMES:
        function = getattr(fairlearn, name)
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__name__ == name and "Returns" in function.__doc__
        with pytest.raises(TypeError, match="sample_weight"):
            function([1], [1], sensitive_features=["a"], sample_weight=[1])


def test_groups_that_look_alike_are_kept_apart() -> None:
    y_pred = [1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0]
    for group in (["(missing)"] * 4 + ["missing"] * 4 + ["x"] * 4, [1] * 4 + ["1"] * 4 + ["x"] * 4):
        assert fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=group) == 0.25


def test_an_undefined_group_is_left_out_with_a_warning() -> None:
    """fairlearn reports 1.0 for this perfect classifier, without a warning."""
    groups: Counts = {"a": (5, 0, 0, 5), "b": (8, 0, 0, 4), "c": (0, 0, 0, 6)}
    with pytest.warns(UserWarning, match=r"^tpr of c is undefined: no actual positives \(TP \+ FN = 0\)$"):
        assert gap("equalized_odds_difference", groups) == 0


def test_a_gap_without_two_defined_groups_is_nan_with_a_warning() -> None:
    lone: Counts = {"a": (3, 1, 2, 2), "b": (0, 0, 0, 4)}
    nobody: Counts = {"a": (0, 2, 1, 1), "b": (0, 2, 2, 1)}
    alone, zero = "tpr is defined in 1 group; a gap needs two", "tpr is 0 in every group, and has no ratio"
    for name, groups, expected, message in (
        ("equal_opportunity_ratio", lone, nan, alone),
        ("equalized_odds_difference", lone, 0.5, alone),
        ("equal_opportunity_ratio", nobody, nan, zero),
        ("equalized_odds_ratio", nobody, 3 / 4, zero),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert gap(name, groups) == approx(expected, nan_ok=True)
        assert message in [str(warning.message) for warning in caught]
        assert all(warning.filename == __file__ for warning in caught)


def test_rows_without_a_prediction_are_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="^1 row without y_pred left out$"):
        result = fairlearn.demographic_parity_difference(None, [1, 0, None, 1], sensitive_features=list("aabb"))
    assert result == 0.5


def test_groups_of_several_features_are_their_combinations() -> None:
    features = {"sex": list("ffmmffmm"), "age": [1, 1, 1, 1, 2, 2, 2, 2]}
    y_pred = [1, 1, 0, 1, 0, 0, 1, 0]
    assert fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=features) == 1.0
    with pytest.raises(eh.errors.InvalidInput):
        fairlearn.demographic_parity_difference(None, y_pred, sensitive_features=["a"])
