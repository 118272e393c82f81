"""Impact ratios: whom a group is held against, and when the ratio is below four fifths."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from audit_oracle import Cells, row
from pytest import approx

import evenhand as eh
from evenhand.auditing import Audit, Impact
from evenhand.errors import InvalidInput

CM = eh.ConfusionMatrix
audit, audit_counts = partial(eh.audit, favourable="positive"), partial(eh.audit_counts, favourable="positive")


def impact(a: Audit, group: str) -> Impact:
    found = row(a, group, "ppr").impact
    assert found is not None
    return found


def fifths(a: Audit) -> list[tuple[str, str | None]]:
    return [(f.kind, f.group) for f in a.findings if "fifths" in f.kind]


def test_the_four_fifths_rule_is_against_the_highest_rate_of_the_column() -> None:
    hired = {"men": (0, 0, 96, 64), "women": (0, 0, 24, 56)}
    a = audit(y_pred=[1] * 96 + [0] * 64 + [1] * 24 + [0] * 56, groups=["men"] * 160 + ["women"] * 80, metrics=["ppr"])
    assert impact(a, "women").ratio == approx(0.3 / 0.6)
    assert impact(a, "men").ratio == 1.0
    assert [f.kind for f in a.findings] == ["beyond-margin", "beyond-margin", "four-fifths"]
    counted = row(audit_counts(hired, metrics=["ppr"]), "women", "ppr")
    assert row(a, "women", "ppr").test.pvalue == approx(counted.test.pvalue)


def test_four_fifths_are_of_the_highest_rate_that_enough_cases_bear() -> None:
    """Two people who are both selected are 0.2 % of the cases, not the rate that others are held against."""
    counts = {"tiny": (0, 0, 2, 0), "men": (0, 0, 400, 400), "women": (0, 0, 120, 280)}
    a = audit_counts(counts, metrics="ppr")
    assert {impact(a, name).group for name in counts} == {"men"}
    men = impact(a, "men")
    assert (men.ratio, men.low, men.high) == (1.0, None, None)
    assert impact(a, "tiny").ratio == approx(2.0)
    assert impact(a, "women").ratio == approx(0.6)
    assert impact(a, "women").n == 800
    against_all = audit_counts(counts, metrics="ppr", impact_share=0)
    assert {impact(against_all, name).group for name in counts} == {"tiny"}
    assert fifths(a) == [("four-fifths", "women")]


@pytest.mark.parametrize(
    ("women", "kind"),
    [
        ((0, 0, 300, 700), ["four-fifths"]),
        ((0, 0, 9, 11), []),
        ((0, 0, 500, 500), []),
    ],
)
def test_only_a_whole_interval_below_four_fifths_is_below_four_fifths(women: Cells, kind: list[str]) -> None:
    a = audit_counts({"men": (0, 0, 600, 400), "women": women}, metrics="ppr")
    found = impact(a, "women")
    assert found.high is not None and found.at_most is not None and found.high < found.at_most
    expected = ["four-fifths"] if found.at_most < 0.8 else []
    assert [what for what, _ in fifths(a)] == expected == kind


def test_the_interval_of_an_impact_ratio_is_that_of_disparity() -> None:
    counts = {"men": (0, 0, 60, 40), "women": (0, 0, 9, 11)}
    found = impact(audit_counts(counts, metrics="ppr"), "women")
    gap = eh.disparity(CM(*counts["women"]), CM(*counts["men"]), "ppr", "ratio")
    assert (found.ratio, found.low, found.high) == approx((gap.estimate, gap.low, gap.high))


def test_the_interval_of_an_impact_ratio_holds_for_every_group_that_could_be_the_highest() -> None:
    """Bonferroni over the candidates other than the group itself; a small group is no candidate."""
    counts = {"men": (0, 0, 60, 40), "women": (0, 0, 45, 55), "others": (0, 0, 30, 70), "tiny": (0, 0, 1, 2)}
    a = audit_counts(counts, metrics="ppr", level=0.9)
    for name, choices in (("women", 2), ("others", 2), ("tiny", 3)):
        gap = eh.disparity(CM(*counts[name]), CM(*counts["men"]), "ppr", "ratio", level=1 - 0.1 / choices)
        assert (impact(a, name).low, impact(a, name).high) == approx((gap.low, gap.high))


def test_equal_groups_are_rarely_said_to_be_below_four_fifths() -> None:
    """Ten groups of 60 with the same rate; with the plain 95 % interval, one in seven such audits said so."""
    draws = np.random.default_rng(1).binomial(60, 0.3, (25, 10))
    said = 0
    for one in draws:
        a = audit_counts({f"g{i}": (0, 0, int(x), 60 - int(x)) for i, x in enumerate(one)}, metrics="ppr")
        said += any(kind == "four-fifths" for kind, _ in fifths(a))
    assert said <= 1


def test_nobody_is_compared_with_a_missing_group() -> None:
    data = {
        "g": ["a"] * 100 + ["b"] * 100 + [None] * 20,
        "p": [1] * 30 + [0] * 70 + [1] * 35 + [0] * 65 + [1] * 18 + [0] * 2,
    }
    a = audit(data, y_pred="p", groups="g")
    assert {r.impact.group for r in a.rows if r.impact is not None} == {"b"}
    assert not any(kind == "four-fifths" for kind, _ in fifths(a))


def test_a_favourable_negative_turns_four_fifths_round() -> None:
    """Whom a positive prediction harms is favoured by a negative one: the group with fewer positives is best off."""
    counts = {"A": (0, 0, 300, 700), "B": (0, 0, 600, 400)}
    good, bad = (audit_counts(counts, metrics="ppr", favourable=which) for which in ("positive", "negative"))
    assert (impact(good, "A").group, impact(bad, "A").group) == ("B", "A")
    assert impact(good, "A").ratio == approx(0.3 / 0.6)
    assert impact(bad, "B").ratio == approx(0.4 / 0.7)
    assert fifths(good) == [("four-fifths", "A")]
    assert fifths(bad) == [("four-fifths", "B")]
    (said,) = [f.sentence for f in bad.findings if f.kind == "four-fifths"]
    assert said.startswith(
        "The share of cases in B that were predicted negative is 0.571 times the highest of groups with at least "
        "2 % of the cases, that of the 1,000 cases in A; the true ratio is at most 0.6"
    )


def test_exactly_four_fifths_is_not_below_four_fifths() -> None:
    """4k / 10k over 5k / 10k, whatever rounding makes of it."""
    for k in (1, 2, 3, 7, 11, 13, 19, 23, 29, 37, 49, 59):
        assert fifths(audit_counts({"A": (4 * k, 0, 0, 6 * k), "B": (5 * k, 0, 0, 5 * k)}, metrics="ppr")) == []


def test_only_rates_of_predictions_have_an_impact_and_each_threshold_has_its_own() -> None:
    a = audit_counts({"A": (4, 3, 2, 6), "B": (5, 2, 3, 5)}, metrics=["ppr", "pnr", "tpr", "disparate_impact"])
    assert {r.metric for r in a.rows if r.impact is not None} == {"ppr"}
    data = {"g": list("aaabbb"), "s": [0.9, 0.6, 0.1, 0.7, 0.2, 0.3]}
    swept = audit(data, y_score="s", groups="g", threshold=[0.5, 0.8])
    groups = {r.at["threshold"]: r.impact and (r.impact.group, r.impact.ratio) for r in swept.rows if r.group == "b"}
    assert groups == {0.5: ("a", approx(0.5)), 0.8: ("a", 0.0)}


def test_nobody_is_selected_nobody_has_an_impact() -> None:
    a = audit_counts({"A": (0, 4, 0, 6), "B": (0, 2, 0, 5)}, metrics="ppr")
    assert all(r.impact is None for r in a.rows)


def test_without_a_favourable_prediction_there_is_no_impact_and_no_best_group() -> None:
    """Which prediction is good for a person is in no data: 0.3 / 0.6 of the rate may be a harm or a favour."""
    counts = {"A": (0, 0, 300, 700), "B": (0, 0, 600, 400)}
    a = eh.audit_counts(counts, metrics=["ppr", "disparate_impact"])
    assert all(r.impact is None for r in a.rows)
    assert fifths(a) == []
    for column in ("impact_group", "impact_ratio", "impact_low", "impact_high"):
        assert {r.flat()[column] for r in a.rows} == {None}
    with pytest.raises(InvalidInput) as refused:
        eh.audit_counts(counts, metrics="ppr", reference="best")
    assert str(refused.value) == "reference='best' needs favourable=: which prediction is good for a person"


def test_what_is_favourable_changes_no_score_and_no_test() -> None:
    """It is read for impact ratios and words only; bounds hold for fewer claims without them."""
    counts = {"A": (30, 20, 80, 300), "B": (300, 100, 120, 480)}
    silent, good = eh.audit_counts(counts), audit_counts(counts)
    for r, other in zip(silent.rows, good.rows, strict=True):
        assert (r.score, r.test, r.verdict, r.gap.low, r.gap.high) == (
            other.score, other.test, other.verdict, other.gap.low, other.gap.high,
        )  # fmt: skip
        if other.gap.at_least is not None:
            assert r.gap.at_least is not None and r.gap.at_least >= other.gap.at_least
