"""Impact ratios: which group each is held against, and when the ratio is below four fifths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from audit_oracle import row
from matrices import matrix
from numpy import isnan
from pytest import approx

import evenhand as eh
from evenhand.auditing import Audit, Row

audit, audit_counts = partial(eh.audit, favourable="positive"), partial(eh.audit_counts, favourable="positive")


def selected(**groups: tuple[int, int]) -> dict[str, Any]:
    """Groups of which so many are predicted positive and negative."""
    return {name: (0, 0, *counts) for name, counts in groups.items()}


def impact(a: Audit, group: str) -> Row:
    return row(a, group, "ppr")


def fifths(a: Audit) -> list[tuple[str, str | None]]:
    return [(f.kind, f.group) for f in a.findings if "fifths" in f.kind]


def test_the_ratio_is_to_the_highest_rate_that_enough_cases_bear() -> None:
    """Two people who are both selected are 0.2% of the cases, not the rate that others are held against."""
    a = audit_counts(selected(tiny=(2, 0), men=(400, 400), women=(120, 280)), metrics="ppr")
    tiny, men, women = (impact(a, name) for name in ("tiny", "men", "women"))
    assert {r.impact_group for r in (tiny, men, women)} == {"men"}
    assert men.impact_ratio == 1.0 and isnan([men.impact_low, men.impact_high]).all()
    assert [tiny.impact_ratio, women.impact_ratio] == approx([2.0, 0.6]) and women.impact_n == 800
    assert fifths(a) == [("four-fifths", "women")]


def test_only_a_whole_interval_below_four_fifths_is_below_four_fifths() -> None:
    for women, kinds in (((300, 700), ["four-fifths"]), ((9, 11), []), ((500, 500), [])):
        a = audit_counts(selected(men=(600, 400), women=women), metrics="ppr")
        found = impact(a, "women")
        assert found.impact_high < found.impact_at_most
        assert [kind for kind, _ in fifths(a)] == kinds == ["four-fifths"] * (found.impact_at_most < 0.8)
    for k in (1, 3, 7, 11, 19, 29, 49):
        # 4k / 10k over 5k / 10k, whatever rounding makes of it.
        assert fifths(audit_counts({"A": (4 * k, 0, 0, 6 * k), "B": (5 * k, 0, 0, 5 * k)}, metrics="ppr")) == []


def test_the_interval_holds_for_every_group_that_could_be_the_highest() -> None:
    """That of `disparity`, by Bonferroni over the candidates other than the group; a small group is no candidate."""
    counts = selected(men=(60, 40), women=(45, 55), others=(30, 70), tiny=(1, 2))
    a = audit_counts(counts, metrics="ppr", confidence_level=0.9)
    for name, choices in (("women", 2), ("others", 2), ("tiny", 3)):
        level, found = 1 - 0.1 / choices, impact(a, name)
        gap = eh.disparity(matrix(*counts[name]), matrix(*counts["men"]), "ppr", "ratio", confidence_level=level)
        assert (found.impact_ratio, found.impact_low, found.impact_high) == approx((gap.estimate, gap.low, gap.high))


@pytest.mark.slow
def test_equal_groups_are_rarely_said_to_be_below_four_fifths() -> None:
    """Ten groups of 60 with the same rate; with the plain 95% interval, one in seven such audits said so."""
    draws = np.random.default_rng(1).binomial(60, 0.3, (25, 10))
    counts = ({f"g{i}": (0, 0, int(x), 60 - int(x)) for i, x in enumerate(one)} for one in draws)
    assert sum(bool(fifths(audit_counts(one, metrics="ppr"))) for one in counts) <= 1


def test_a_favourable_negative_turns_four_fifths_round() -> None:
    """A group that positive predictions harm is better off with fewer of them."""
    half = selected(A=(300, 700), B=(600, 400))
    good, bad = (eh.audit_counts(half, metrics="ppr", favourable=which) for which in ("positive", "negative"))
    assert (impact(good, "A").impact_group, impact(bad, "A").impact_group) == ("B", "A")
    assert impact(good, "A").impact_ratio == approx(0.3 / 0.6) and fifths(good) == [("four-fifths", "A")]
    assert impact(bad, "B").impact_ratio == approx(0.4 / 0.7) and fifths(bad) == [("four-fifths", "B")]
    (said,) = [f.sentence for f in bad.findings if f.kind == "four-fifths"]
    assert said.startswith("B: impact ratio 0.571 (at most 0.6")


def test_only_rates_of_predictions_have_an_impact_and_each_threshold_has_its_own() -> None:
    a = audit_counts({"A": (4, 3, 2, 6), "B": (5, 2, 3, 5)}, metrics=["ppr", "pnr", "tpr", "disparate_impact"])
    assert {r.metric for r in a.rows if r.impact_group is not None} == {"ppr"}
    data = {"g": list("aaabbb"), "s": [0.9, 0.6, 0.1, 0.7, 0.2, 0.3]}
    swept = audit(data, y_score="s", groups="g", threshold=[0.5, 0.8])
    found = {r.at["threshold"]: (r.impact_group, r.impact_ratio) for r in swept.rows if r.group == "b"}
    assert found == {0.5: ("a", approx(0.5)), 0.8: ("a", 0.0)}
    none = audit_counts({"A": (0, 4, 0, 6), "B": (0, 2, 0, 5)}, metrics="ppr")
    assert all(isnan(r.impact_ratio) for r in none.rows), "no case is selected"


def test_without_a_favourable_prediction_there_are_no_impact_ratios_and_nothing_else_changes() -> None:
    """Which prediction is good for a person is in no data; bounds hold for fewer claims without impact ratios."""
    counts = {"A": (30, 20, 80, 300), "B": (300, 100, 120, 480)}
    silent, good = eh.audit_counts(counts), audit_counts(counts)
    assert fifths(silent) == [] and all(isnan(r.impact_ratio) for r in silent.rows)
    for r, other in zip(silent.rows, good.rows, strict=True):
        for name in ("score", "p_adjusted", "verdict", "gap_low", "gap_high"):
            assert getattr(r, name) == getattr(other, name)
        assert not r.at_least < other.at_least
