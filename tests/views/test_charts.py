"""Where things lie on the axes of charts."""

from __future__ import annotations

import pytest

from evenhand.views.charts import places_of, scale_of


@pytest.mark.parametrize(
    ("thresholds", "places", "scaled"),
    [
        ([0.4], [0.5], True),
        ([0.1, 0.2, 0.5], [0.0, 0.25, 1.0], True),
        ([-2.0, -1.0, 2.0], [0.0, 0.25, 1.0], True),
        # Their distance is infinite.
        ([-1.7e308, 0.0, 1.7e308], [0.0, 0.5, 1.0], True),
        ([0.1, 0.11, 0.9], [0.0, 0.5, 1.0], False),
        ([0.0, 0.125, 1.0], [0.0, 0.125, 1.0], True),
        ([0.0, 0.12, 1.0], [0.0, 0.5, 1.0], False),
    ],
)
def test_thresholds_lie_to_scale_unless_two_could_not_be_told_apart(
    thresholds: list[float], places: list[float], scaled: bool
) -> None:
    """Apart by at least a quarter of what they would be if they were evenly spaced."""
    found, to_scale = places_of(thresholds)
    assert found == pytest.approx(places) and to_scale is scaled


@pytest.mark.parametrize(
    ("key", "reference", "ticks"),
    [
        ("tpr", [], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ("mcc", [], ["-1", "-0.5", "0", "0.5", "1"]),
        ("lr_plus", [None, 7.0], ["0", "2", "4", "6", "8"]),
        ("lr_plus", [0.5], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ("dor", [23.0, 110.0], ["0", "25", "50", "75", "100", "125"]),
    ],
)
def test_an_axis_has_at_most_six_round_ticks_around_all_scores(
    key: str, reference: list[float | None], ticks: list[str]
) -> None:
    low, high, found = scale_of(key, [], reference)
    assert [text for _, text in found] == ticks
    assert [place for place, _ in found] == pytest.approx([float(text) for text in ticks])
    assert (low, high) == pytest.approx((float(ticks[0]), float(ticks[-1])))
