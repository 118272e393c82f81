"""Findings: their codes and order, and that every sentence says what its rows say."""

from __future__ import annotations

import re
from math import floor, isnan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import row
from random_audits import random_audits

import evenhand as eh
from evenhand.auditing import KINDS, Audit, Finding, Row, Verdict
from evenhand.examples import compas
from evenhand.wording import number


def test_codes_and_severities_do_not_change() -> None:
    assert KINDS == {
        "repeated-rows": ("EH002", "warning"),
        "constant": ("EH001", "warning"),
        "differs": ("EH101", "alert"),
        "beyond-margin": ("EH104", "alert"),
        "base-rate": ("EH105", "note"),
        "selection-rate": ("EH106", "warning"),
        "four-fifths": ("EH102", "warning"),
        "undefined": ("EH201", "warning"),
        "too-few": ("EH202", "note"),
        "spread": ("EH203", "warning"),
        "left-out": ("EH301", "warning"),
        "missing-group": ("EH302", "note"),
        "absent-label": ("EH303", "note"),
        "chosen-reference": ("EH304", "note"),
        "weighted": ("EH305", "note"),
        "not-pooled": ("EH306", "note"),
        "skipped-files": ("EH307", "note"),
        "protected": ("EH308", "note"),
        "similar-groups": ("EH003", "warning"),
    }


def test_findings_come_worst_first() -> None:
    a = eh.audit_counts(compas(), by="race", favourable="positive")
    about_gaps = ("differs", "beyond-margin", "base-rate", "selection-rate")
    order = ["constant", "differs", "four-fifths", "undefined", "too-few"]
    places = [order.index("differs" if f.kind in about_gaps else f.kind) for f in a.findings]
    assert places == sorted(places)
    assert {(f.kind, f.code, f.severity) for f in a.findings} == {
        ("differs", "EH101", "alert"),
        ("beyond-margin", "EH104", "alert"),
        ("base-rate", "EH105", "note"),
        ("selection-rate", "EH106", "warning"),
        ("four-fifths", "EH102", "warning"),
        ("too-few", "EH202", "note"),
    }
    assert a.findings[0].sentence == (
        "Predicted positive rate of African-American is 0.588 (95% interval 0.572 to 0.604), 0.263 higher than the "
        "reference's 0.325, by at least 0.225; adjusted p < 0.001"
    )
    for word in ("biased", "fair ", "unfair", "proves"):
        assert not any(word in f.sentence for f in a.findings)


# Every sentence says what its rows say.


def _said(f: Finding, a: Audit) -> list[Row]:
    return [next(r for r in a.rows if (r.by, r.group, r.metric) == (f.by, f.group, m)) for m in f.metrics]


DIFFERS = re.compile(
    r"(?P<name>.+) of (?P<who>.+) is (?P<score>\S+?)"
    r"(?: \((?P<level>\S+)% interval (?P<low>\S+) to (?P<high>\S+)\))?, "
    r"(?:(?P<gap>\S+) (?P<way>higher|lower) than the reference's (?P<theirs>\S+?)"
    r"|(?P<times>\S+) times the reference's (?P<of>\S+?)"
    r"|(?P<chance>more than chance explains)|(?P<verdict>higher|lower) than no gap)"
    r"(?:, (?:(?P<ratio>higher|lower) )?by (?:at least (?P<least>\S+?)|less than (?P<most>\S+?)"
    r"|a factor of at least (?P<factor>\S+?))"
    r"| \(\S+% interval of the (?:gap|ratio) (?P<span>.+?)\))?"
    r"; (?P<adjusted>adjusted )?p (?P<p>< 0\.001|= \S+?)"
    r"(?:\. If (?P<driver>.+) were left out of the comparison, the verdict would be: (?P<without>[a-z ]+?)"
    r"(?: \(gap (?P<other>\S+)\))?)?"
)


def _check_differs(f: Finding, a: Audit) -> None:
    (r,), s = _said(f, a), a.settings
    found = DIFFERS.fullmatch(f.sentence)
    assert found, f.sentence
    said = found.groupdict()
    m = eh.metric(r.metric)
    assert r.differs
    assert (said["name"], said["who"], said["score"]) == (m.name, r.group, number(r.score))
    if isnan(r.low):
        assert said["low"] is None
    else:
        ends = number(r.low), number(r.high)
        assert (said["level"], said["low"], said["high"]) == (f"{100 * s['confidence_level']:g}", *ends)
    if r.is_ratio and not isnan(r.difference):
        assert (said["times"], said["of"]) == (number(r.gap), number(r.reference_score))
        assert said["ratio"] in (r.verdict.value, None)
    elif not isnan(r.difference):
        way = "higher" if r.difference > 0 else "lower"
        assert (said["gap"], said["way"]) == (number(abs(r.difference)), way)
        assert said["theirs"] == number(r.reference_score)
    elif m.is_distance:
        assert said["chance"] and r.verdict is Verdict.HIGHER
    else:
        assert said["verdict"] == r.verdict.value
    _check_size(said, r, s["margin"])
    assert bool(said["adjusted"]) == (s["adjust"] != "none")
    p = r.p_adjusted
    assert said["p"] == ("< 0.001" if p < 0.001 else f"= {p:.3f}")
    if r.driver is None:
        assert (said["driver"], said["without"]) == (None, None)
    else:
        assert (said["driver"], said["without"]) == (r.driver, r.driver_verdict.value)
        if not r.is_ratio:
            assert said["other"] == f"{r.driver_gap:+.3f}"


def rounded_down(value: float) -> str:
    """Three decimals, or whole numbers from 100, that are never more than the value."""
    return f"{floor(value):,}" if value >= 100 else number(floor(1000 * value) / 1000 if value >= 0.001 else value)


def _check_size(said: dict[str, str | None], r: Row, margin: float) -> None:
    """What is said of the size of a gap is what its bounds allow; without a bound, its interval is given."""
    least, most, factor = (said[name] for name in ("least", "most", "factor"))
    if most is not None:
        assert r.at_most <= margin
        assert (most, least, factor) == (f"{margin:g}", None, None)
    elif isnan(r.at_least):
        assert (least, factor) == (None, None)
        assert (said["span"] is None) == (isnan(r.gap_low) and isnan(r.gap_high))
    else:
        expected = rounded_down(r.at_least)
        assert (least, factor) == ((None, expected) if r.gap_kind == "ratio" else (expected, None))


def _check_four_fifths(f: Finding, a: Audit) -> None:
    (r,) = _said(f, a)
    assert r.impact_ratio <= r.impact_at_most < 0.8
    said = re.fullmatch(r"(.*); the true ratio is at most (\S+), below four fifths", f.sentence)
    assert said is not None
    whose = f"The share of cases in {r.group} that were predicted {a.settings['favourable']}"
    best = (
        f"the highest of groups with at least 2% of the cases, that of the {r.impact_n:,.0f} cases in {r.impact_group}"
    )
    assert said[1] == f"{whose} is {number(r.impact_ratio)} times {best}"
    assert 0 <= float(said[2]) - r.impact_at_most < 0.001
    assert float(said[2]) < 0.8


def _check_undefined(f: Finding, a: Audit) -> None:
    (r,) = _said(f, a)
    head, _, likely = f.sentence.partition("; the probability of that was ")
    assert head == f"{eh.metric(r.metric).name} of {r.group} cannot be compared: {r.reason}"
    own = not r.reason.startswith(("the reference's", "in the reference")) if r.reason else False
    assert bool(likely) == bool(r.p_undefined > 0 and own)
    if likely:
        assert likely.endswith("%") and "e+" not in likely
        assert float(likely[:-1]) == pytest.approx(100 * r.p_undefined, rel=6e-3)


def _check_too_few(f: Finding, a: Audit) -> None:
    rows = _said(f, a)
    assert {r.verdict for r in rows} == {Verdict.INCONCLUSIVE}
    every = {r.metric for r in a.rows if (r.by, r.group) == (f.by, f.group) and r.verdict is Verdict.INCONCLUSIVE}
    assert set(f.metrics) == every
    cases = f"{rows[0].n:,} case" + ("s" if rows[0].n != 1 else "")
    of = ", ".join(f"{r.metric} ({' and '.join(f'{k:,}' for k in r.denominators)})" for r in rows)
    assert f.sentence.startswith(f"Too few cases to tell for {f.group} ({cases}): {of}; ")
    ratios = any(r.metric in ("dor", "lr_plus", "disparate_impact") for r in rows)
    assert (f"±{a.settings['margin']:g} (ratios: 0.8 to 1.25) remain possible." in f.sentence) == ratios
    assert f"gaps beyond ±{a.settings['margin']:g}" in f.sentence
    for r in rows:
        if r.required_n > r.support:
            assert f"{r.required_n - r.support:,.0f} more for {r.metric}" in f.sentence


def test_every_sentence_says_what_its_rows_say() -> None:
    checks = {
        "differs": _check_differs,
        "four-fifths": _check_four_fifths,
        **dict.fromkeys(("beyond-margin", "base-rate", "selection-rate"), _check_differs),
        "undefined": _check_undefined,
        "too-few": _check_too_few,
    }
    seen = set()
    for a in random_audits():
        for f in a.findings:
            if f.kind in checks:
                checks[f.kind](f, a)
            seen.add(f.kind)
            assert f.sentence[-1] != "." and "  " not in f.sentence
            for word in ("biased", "unfair", "proves", "None", "nan", "inf"):
                assert word not in f.sentence
        said = {
            (f.by, f.group, m) for f in a.findings if f.kind in checks and f.kind != "four-fifths" for m in f.metrics
        }
        spoken = (Verdict.HIGHER, Verdict.LOWER, Verdict.UNDEFINED, Verdict.INCONCLUSIVE)
        assert said == {(r.by, r.group, r.metric) for r in a.rows if r.verdict in spoken}
    assert seen >= set(checks) - {"base-rate"}


def test_one_is_told_from_many() -> None:
    data: dict[str, list[Any]] = {"g": ["a", "b", "a", "b", None], "p": [1, 1, 0, 0, 1]}
    one = eh.audit(data | {"y": [1, 0, 1, None, 1]}, y_true="y", y_pred="p", groups="g", metrics="ppr")
    sentences = [f.sentence for f in one.findings]
    assert "1 row without a label counts for selection rates only" in sentences
    assert any(s.startswith("1 case has no known g: it is in no group") for s in sentences)
    assert any("for b (2 cases): ppr (2);" in s for s in sentences)
    more = {"y": [1, 1, 0, None, 1, None], "g": ["a", "b", None, "b", None, "a"], "p": [1, 1, 0, 0, 1, 1]}
    two = eh.audit(more, y_true="y", y_pred="p", groups="g", metrics="ppr")  # fmt: skip
    sentences = [f.sentence for f in two.findings]
    assert "2 rows without a label count for selection rates only" in sentences
    assert any(s.startswith("2 cases have no known g: they are in no group") for s in sentences)
    assert not any(re.search(r"\b1 (rows|cases)\b", f.sentence) for a in (one, two) for f in a.findings)


# Findings about the data


def sentences(a: Audit, kind: str) -> list[str]:
    return [f.sentence for f in a.findings if f.kind == kind]


def test_labels_or_predictions_that_are_all_the_same_are_noticed() -> None:
    data = {"g": list("aabb"), "y": [1, 0, 1, 0], "p": [1, 1, 1, 1], "s": [0.2, 0.4, 0.6, 0.9]}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", positive=1)
    assert sentences(a, "constant") == [
        "Every prediction of all 4 cases is positive; if that is not so, check the column or the positive labels"
    ]
    swept = eh.audit(data, y_true="y", y_score="s", groups="g", threshold=[0.1, 0.5, 0.95])
    assert [(f.at, f.sentence) for f in swept.findings if f.kind == "constant"] == [
        ({"threshold": 0.1}, "Every prediction of all 4 cases is positive; if that is not so, check the column or the "
         "threshold"),
        ({"threshold": 0.95}, "Every prediction of all 4 cases is negative; if that is not so, check the column or the "
         "threshold"),
    ]  # fmt: skip
    unlabelled = eh.audit(data, y_pred="p", groups="g", positive=1)
    assert len(sentences(unlabelled, "constant")) == 1


def test_rows_that_are_left_out_say_what_they_lack() -> None:
    data = {
        "g": list("aabbabb"),
        "y": [1, 0, None, 1, None, 0, 1],
        "p": [1, 0, 1, None, None, 1, 1],
        "w": [1, 2, 1, 1, 1, None, 1],
    }
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", sample_weight="w", positive=1)
    assert set(sentences(a, "left-out")) == {
        "1 row without a label counts for selection rates only",
        "1 row without a prediction was left out",
        "1 row without a label and a prediction was left out",
        "1 row without a weight was left out",
    }
    words = eh.audit({"g": list("aabb"), "y": ["yes", "no", "n/a", "no"], "p": ["yes", "no", "yes", "yes"]},
                     y_true="y", y_pred="p", groups="g")  # fmt: skip
    assert sentences(words, "left-out") == [
        "1 row without a label (read as missing: 'n/a') counts for selection rates only"
    ]


def test_a_model_that_lacks_a_prediction_is_named() -> None:
    data = {"g": list("aabb"), "y": [1, 0, 1, 0], "one": [1, None, 1, 0], "two": [1, 0, 0, None]}
    a = eh.compare(data, y_true="y", models={"one and only": "one", "two": "two"}, groups="g")
    assert sentences(a, "left-out") == [
        "1 row without a prediction of one and only was left out",
        "1 row without a prediction of two was left out",
    ]
    scores = {"g": list("abab"), "y": [1, 0, 1, None], "s": [0.3, 0.6, None, None]}
    a = eh.compare(scores, y_true="y", y_score="s", threshold=[0.2, 0.5], groups="g")
    assert sentences(a, "left-out") == [
        "1 row without a score was left out",
        "1 row without a label and a score was left out",
    ]


def test_labels_that_do_not_occur_and_metrics_that_are_not_pooled_are_noted() -> None:
    data = {"g": list("abab"), "t": list("xxyy"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", positive=[1, 2])
    assert sentences(a, "absent-label") == ["2 was given as a positive label and does not occur"]
    within = eh.audit(
        data, y_true="y", y_pred="p", groups="g", strata="t", metrics=["f1", "kappa", "equal_opportunity"]
    )
    assert sentences(within, "not-pooled") == [
        "kappa is not pooled over strata: it does not depend on one rate only",
        "equal_opportunity is not pooled over strata: it compares two groups; pool tpr",
    ]


def test_groups_that_spread_too_much_are_noticed() -> None:
    rng = np.random.default_rng(0)
    counts = {f"g{i}": (int(k), 50 - int(k), 10, 40) for i, k in enumerate(rng.choice([2, 48], 8))}
    a = eh.audit_counts(counts, metrics="tpr")
    assert sentences(a, "spread") == [
        "Groups of group differ so much in true positive rate that smoothed scores may be worse than raw ones"
    ]


def test_findings_say_where_on_the_axes_they_are() -> None:
    rng = np.random.default_rng(3)
    n = 200
    data = pd.DataFrame({"g": rng.choice(["a", "b"], n), "t": rng.choice(["Easy", "hard"], n),
                         "y": rng.integers(0, 2, n)})  # fmt: skip
    data["p"] = np.where(rng.random(n) < np.where(data.g == "a", 0.9, 0.1), data.y, 1 - data.y)
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", strata="t", metrics="acc")
    said = [f for f in a.findings if f.kind == "beyond-margin"]
    assert {f.at["stratum"] for f in said} == {"Easy", "hard", "pooled"}
    assert str(said[0]).startswith(("alert EH104: stratum ", "alert EH104: over all strata: "))
    pooled = next(f for f in said if f.at["stratum"] == "pooled" and f.group == "a")
    found = row(a, "a", "acc", stratum="pooled")
    odds = f"its odds {number(found.gap)} times the reference's within strata, by a factor of at least "
    assert odds in pooled.sentence
    data["p"] = np.where(data.g == "a", data.y, 1 - data.y)
    infinite = eh.audit(data, y_true="y", y_pred="p", groups="g", strata="t", metrics="acc")
    (said_,) = [f.sentence for f in infinite.findings if (f.at["stratum"], f.group) == ("pooled", "a")]
    assert re.fullmatch(
        r"Accuracy of a is 1\.000, its odds higher than the reference's within strata, by a factor of at least \d+; "
        r"adjusted p < 0\.001",
        said_,
    )
