"""The scores of all cases together are what plain counting gives, whatever was asked, unknown groups included."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pytest import approx
from shown_audits import AUDITS, at_thresholds, classified, decided, of_classes, scored

import evenhand as eh
from evenhand.auditing import Audit, Overall
from evenhand.errors import EvenhandError

SCORED = scored()


def overall(a: Audit, metric: str, **at: Any) -> Overall:
    (found,) = [one for one in a.overall if one.metric == metric and one.at == at]
    return found


def share(rows: list[Any], of: Any, what: Any) -> float:
    """How many of the rows in a whole are in a part, one row at a time."""
    whole = [row for row in rows if of(row)]
    return sum(1 for row in whole if what(row)) / len(whole)


def with_unknown(n: int = 300) -> list[tuple[Any, int, int]]:
    """Group, label and prediction; every fifth group is unknown, and its cases are decided wrongly."""
    draw = random.Random(1)
    rows: list[tuple[Any, int, int]] = []
    for i in range(n):
        group, y = (None if i % 5 == 0 else "ab"[i % 2]), int(draw.random() < 0.3)
        rows.append((group, y, 1 - y if group is None else int(draw.random() < 0.4)))
    return rows


def audit_of(rows: list[tuple[Any, int, int]], **settings: Any) -> Audit:
    g, y, p = (list(column) for column in zip(*rows, strict=True))
    return eh.audit({"g": g, "y": y, "p": p}, y_true="y", y_pred="p", groups="g", **settings)


def test_scores_of_cells_are_counted_over_all_cases_with_and_without_a_group() -> None:
    rows = with_unknown()
    a = audit_of(rows, metrics=["ppr", "tpr", "fpr", "ppv", "acc"])
    assert a.unknown == {"g": 60}
    expected = {
        "ppr": share(rows, lambda r: True, lambda r: r[2]),
        "tpr": share(rows, lambda r: r[1], lambda r: r[2]),
        "fpr": share(rows, lambda r: not r[1], lambda r: r[2]),
        "ppv": share(rows, lambda r: r[2], lambda r: r[1]),
        "acc": share(rows, lambda r: True, lambda r: r[1] == r[2]),
    }
    assert {one.metric: one.score.value for one in a.overall} == approx(expected)
    assert {one.n for one in a.overall} == {300}
    for one in a.overall:
        low, value, high = one.score.low, one.score.value, one.score.high
        assert low is not None and value is not None and high is not None and low < value < high


def test_an_undefined_score_of_all_cases_is_called_so() -> None:
    """PPV at a threshold above all scores is 0 / 0."""
    a = at_thresholds(SCORED, [0.5, 2.0], metrics="ppv")
    assert overall(a, "ppv", threshold=2.0).score.value is None
    assert "Threshold 2, overall: ppv undefined." in str(a) or "Threshold 2.0, overall: ppv undefined." in str(a)


def test_a_part_of_an_audit_has_no_scores_of_cases_outside_it() -> None:
    """Those of all cases are not those of one stratum, and averages over classes not those of one class."""
    data = decided()
    strata = eh.audit(data, y_true="y", y_pred="old", groups="race", strata="department", metrics="tpr")
    assert strata.at(stratum="law").overall == ()
    assert strata.at(stratum="pooled").overall == strata.overall
    classes = of_classes(classified(), metrics=["tpr", "acc"]).at(**{"class": "x"})
    assert [(one.metric, one.n) for one in classes.overall] == [("tpr", classes.n), ("acc", classes.n)]


def test_models_have_the_change_of_all_cases() -> None:
    data = decided()
    a = eh.compare(data, y_true="y", models={"old": "old", "new": "new"}, groups="race", metrics=["acc", "tpr"])
    rows = list(zip(data["y"], data["old"], data["new"], strict=True))

    def change(of: Any, what: Any) -> float:
        return share(rows, of, lambda r: what(r[0], r[2])) - share(rows, of, lambda r: what(r[0], r[1]))

    at = {"model": "new", "against": "old"}
    assert overall(a, "acc", **at).score.value == approx(change(lambda r: True, lambda y, p: y == p))
    assert overall(a, "tpr", **at).score.value == approx(change(lambda r: r[0], lambda y, p: p))
    before, after = (share(rows, lambda r: r[0], lambda r, i=i: r[i]) for i in (1, 2))
    assert overall(a, "tpr", **at).score.before == approx(before)
    assert overall(a, "tpr", **at).score.after == approx(after)
    assert overall(a, "tpr", **at).scored == f"tpr {after - before:+.3f} (from {before:.3f} to {after:.3f})"
    text = " ".join(str(a).split())
    assert f"Model new, against old, changes overall: acc {overall(a, 'acc', **at).score.value:+.3f} (from " in text


def test_selections_count_rows_without_a_label() -> None:
    data = {"g": list("aabb") * 5, "y": [1, 0, None, 1] * 5, "p": [1, 1, 1, 0] * 5}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", metrics=["ppr", "tpr"])
    assert {one.metric: (one.n, one.score.value) for one in a.overall} == {"ppr": (20, 0.75), "tpr": (15, 0.5)}
    without = eh.audit(y_pred=[1, 0, 1, 1], groups=list("aabb"))
    assert [(one.metric, one.n, one.score.value, one.constant) for one in without.overall] == [("ppr", 4, 0.75, None)]


def test_metrics_of_two_groups_have_no_score_of_all_cases() -> None:
    a = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics=["tpr", "equalized_odds"])
    assert [one.metric for one in a.overall] == ["tpr"]


# What a constant prediction scores


@pytest.mark.parametrize(("labels", "constant"), [([1, 1, 1, 0], 0.75), ([0, 0, 0, 1], 0.75), ([1, 0, 1, 0], 0.5)])
def test_accuracy_is_beside_that_of_always_predicting_the_commoner_outcome(labels: list[int], constant: float) -> None:
    """max(P, N) / n for acc, min(P, N) / n for inacc."""
    rows = [("ab"[i % 2], y, 1) for i, y in enumerate(labels * 10)]
    a = audit_of(rows, metrics=["acc", "inacc", "tpr"])
    assert {one.metric: one.constant for one in a.overall} == {"acc": constant, "inacc": 1 - constant, "tpr": None}


@pytest.mark.parametrize(("right", "is_worse"), [(3, True), (5, False), (8, False)], ids=["worse", "as good", "better"])
def test_predictions_worse_than_a_constant_are_told(right: int, is_worse: bool) -> None:
    """Half of the cases are positive, and a constant is right in half of them."""
    cells = (right, 10 - right, 10 - right, right)
    text = " ".join(str(eh.audit_counts({"A": cells, "B": cells}, metrics="acc")).split())
    assert f"Overall: acc {right / 10:.3f} (always predicting the commoner outcome: 0.500)." in text
    assert (
        "In these cases, always predicting the commoner outcome would have been right more often than the model."
        in text
    ) is (is_worse)


def test_the_constant_is_of_cases_with_an_unknown_group_too() -> None:
    rows: list[tuple[Any, int, int]] = [("a", 1, 1), ("b", 0, 0)] * 10 + [(None, 1, 0)] * 20
    a = audit_of(rows, metrics="acc")
    assert overall(a, "acc").score.value == 0.5
    assert overall(a, "acc").constant == 0.75


# Ways out


@pytest.mark.parametrize("name", AUDITS)
def test_overall_scores_survive_json_and_are_in_every_view(name: str) -> None:
    a = AUDITS[name]
    again = Audit.from_json(a.to_json())
    assert again.overall == a.overall
    for one in a.overall:
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False)) == one.to_dict()
        assert set(one.at) <= set(a.axes)
    assert len({(str(one.at), one.metric) for one in a.overall}) == len(a.overall)
    metrics = {row.metric for row in a.rows if not getattr(eh.metric(row.metric), "comparisons", ())} if (
        name not in ("classes", "own function", "ranked", "thresholds and strata")) else set()  # fmt: skip
    assert metrics <= {one.metric for one in a.overall}
    first = a.overall[0].scored
    for text in (str(a), a.to_text(), a.to_html()):
        assert first in " ".join(text.split())


def test_what_is_no_overall_score_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"n": -1}, "n of overall 1 must not be negative; got -1"),
        ({"metric": 5}, "metric of overall 1 must be text; got 5"),
        ({"colour": "red"}, "overall 1 has an unknown field: 'colour'"),
    ]
    for change, sentence in cases:
        content = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr").to_dict()
        content["overall"][0] |= change
        with pytest.raises(EvenhandError) as refused:
            Audit.from_json(json.dumps(content))
        assert str(refused.value) == sentence
