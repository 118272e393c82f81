"""What changed between two audits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact
from shown_audits import at_thresholds, scored

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.errors import InvalidInput
from evenhand.examples import compas

COUNTS = {"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}


def test_of_other_data_numbers_are_one_sentence() -> None:
    a, b = (eh.audit_counts(COUNTS | {"A": cells}, metrics="tpr") for cells in ((0, 2, 8, 30), (0, 2, 8, 31)))
    chance, rest = a.changes(b)
    assert chance == (
        "no score changed by more than chance, each group's then against now (smallest adjusted p = 1.000, over 2 "
        "scores)"
    )
    assert rest.startswith("the SHA-256 of the data was ")
    assert rest.endswith("; the number of rows was 1040 and is 1041; other numbers of 2 rows changed")


def test_scores_that_changed_by_more_than_chance_are_said_after_verdicts() -> None:
    """Each group's score now is tested against the same group's then, with Fisher's test and Holm's method."""
    then = {"A": (40, 10, 10, 40), "B": (300, 100, 120, 480), "C": (30, 10, 20, 60)}
    now = {"A": (20, 30, 10, 40), "B": (302, 98, 118, 482), "C": (29, 11, 21, 59)}
    a, b = (eh.audit_counts(counts, metrics="tpr") for counts in (then, now))
    said = a.changes(b)
    verdicts = [change for change in said if " was " in change and " and is " in change][:-1]
    assert said[: len(verdicts)] == verdicts and verdicts
    tails = [fisher_exact(np.array([then[g][:2], now[g][:2]]), alternative=side).pvalue
             for g in "ABC" for side in ("less", "greater")]  # fmt: skip
    assert 3 * 2 * min(tails) < 0.001
    chance = "tpr of A (group) changed from 0.800 to 0.400, by more than chance (adjusted p < 0.001)"
    assert said[len(verdicts)] == chance and len(said) == len(verdicts) + 2


def test_changes_of_verdicts_settings_and_groups_are_said() -> None:
    a = eh.audit_counts(COUNTS, metrics="tpr")
    assert a.changes(eh.audit_counts(COUNTS, metrics="tpr", alpha=0.2)) == [
        "tpr of A (group) was inconclusive and is lower",
        "tpr of B (group) was inconclusive and is higher",
        "the setting alpha was 0.05 and is 0.2",
    ]
    more = eh.audit_counts(COUNTS | {"C": (1, 1, 1, 1)}, metrics=["tpr", "fpr"])
    assert {"fpr of C (group) was not audited before", "tpr of C (group) was not audited before"} <= {*a.changes(more)}
    assert "tpr of C (group) is no longer audited" in more.changes(a)
    one, other = (at_thresholds(scored(), cuts, metrics="tpr") for cuts in ([0.3, 0.5], [0.5, 0.7]))
    said = one.changes(other)
    assert "axes in the provenance was {'threshold': [0.3, 0.5]} and is {'threshold': [0.5, 0.7]}" in said
    assert {s for s in said if "of group 1 " in s} == {
        "threshold 0.3: tpr of group 1 (race) is no longer audited",
        "threshold 0.7: tpr of group 1 (race) was not audited before",
    }


def test_errors_that_only_trade_places_are_a_change_of_the_data() -> None:
    """Every class keeps its four counts, and every average its score; the digest of the data is another."""
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "classes": "all", "metrics": ["tpr", "acc"]}
    first = {"race": list("AAABBB"), "y": list("xyzxyz"), "p": list("yzxyzx")}
    a, b = eh.audit(first, **columns), eh.audit(first | {"p": list("zxyyzx")}, **columns)
    assert a.changes(a.repeat(first)) == []
    assert a.rows == b.rows


def test_rounding_and_the_time_are_no_change_and_only_audits_are_compared() -> None:
    a = eh.audit_counts(compas(), metrics="tpr")
    content = json.loads(a.to_json())
    content["rows"]["gap_low"] = [low * (1 + 1e-12) for low in content["rows"]["gap_low"]]
    content["provenance"]["made"] = "never"
    assert a.changes(Audit.from_json(json.dumps(content))) == []
    content["rows"]["gap_low"][0] *= 1 + 1e-6
    (said,) = a.changes(Audit.from_json(json.dumps(content)))
    assert " has another gap_low: it was " in said
    assert a.changes(replace(a, findings=())) == [f"the findings changed: there were {len(a.findings)} and are 0"]
    with pytest.raises(InvalidInput, match=r"^other must be an Audit; got 5$"):
        a.changes(5)  # type: ignore[arg-type]
