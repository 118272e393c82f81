# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc"
"""Comparing models: the three ways to pass them, what is refused, and what their record says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from audit_oracle import row
from oracle import refusal
from pytest import approx

import evenhand as eh
from evenhand.auditing import Audit, Verdict

METRICS = ["acc", "ppr", "tpr", "fnr", "fpr", "tnr"]


def people(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, n)
    table = pd.DataFrame({"case": [f"c{i}" for i in range(n)], "who": rng.choice(list("uvw"), n), "y": y})
    for name, share in {"one": 0.6, "two": 0.8, "three": 0.9}.items():
        table[name] = np.where(rng.random(n) < share, y, 1 - y)
    return table


PEOPLE = people()


def compared(data: Any = PEOPLE, **settings: Any) -> Audit:
    given: dict[str, Any] = {"y_true": "y", "models": {"one": "one", "two": "two", "three": "three"}, "groups": "who"}
    return eh.compare(data, **given | settings)


def test_all_other_models_are_compared_with_the_first_or_the_baseline() -> None:
    first, other = compared(), compared(baseline="two", metrics="acc")
    for a, pairs in ((first, [("two", "one"), ("three", "one")]), (other, [("one", "two"), ("three", "two")])):
        assert list(dict.fromkeys((one.at["model"], one.at["against"]) for one in a.overall)) == pairs
        assert {(r.at["model"], r.at["against"]) for r in a.rows} == set(pairs)
    assert {r.metric for r in first.rows} == {"acc", "ppr", "tpr", "fpr"} and len(first.rows) == 2 * 4 * (3 + 1)
    assert other.provenance["call"]["baseline"] == "two"
    assert other.changes(other.repeat(PEOPLE)) == []


def test_several_models_are_compared_as_two_are() -> None:
    several = compared(adjust="none")
    for second in ("two", "three"):
        for r in compared(models={"one": "one", second: second}, adjust="none").rows:
            here = row(several, r.group, r.metric, model=second)
            same = ("score", "gap_low", "gap_high", "pvalue", "p_adjusted", "method")
            assert [getattr(here, name) for name in same] == [getattr(r, name) for name in same]


def test_exchanging_two_models_mirrors_the_changes() -> None:
    there, back = (compared(models={a: a, b: b}, metrics=METRICS) for a, b in (("one", "two"), ("two", "one")))
    for r in there.rows:
        other = row(back, r.group, r.metric)
        assert (r.score, r.gap, r.pvalue) == approx((other.before, -other.gap, other.pvalue))
        assert (r.gap_low, r.gap_high, r.gained) == approx((-other.gap_high, -other.gap_low, other.lost))
    there, back = (
        compared(models={a: a, b: b}, metrics=METRICS, gaps=True) for a, b in (("one", "two"), ("two", "one"))
    )
    for r in filter(lambda r: r.is_gap_change, there.rows):
        (other,) = (o for o in back.rows if o.is_gap_change and (o.group, o.metric) == (r.group, r.metric))
        assert (r.score, r.gap) == approx((-other.score, -other.gap))
        # What is known of a change is approximate, and not in the same way in each direction.
        assert r.pvalue == approx(other.pvalue, rel=0.01)


def test_rows_have_the_scores_that_change() -> None:
    """Before and after are those of audits of each model alone."""
    a = compared(models={"one": "one", "two": "two"}, metrics=METRICS, gaps=True)
    first, second = (eh.audit(PEOPLE, y_true="y", y_pred=m, groups="who", metrics=METRICS) for m in ("one", "two"))
    for r in a.rows:
        if not r.is_gap_change:
            if r.by != "all cases":
                scores = row(first, r.group, r.metric).score, row(second, r.group, r.metric).score
                assert (r.before, r.score) == approx(scores)
            continue
        before, after = row(first, r.group, r.metric), row(second, r.group, r.metric)
        assert (r.before, r.before + r.score) == approx((before.score, after.score))
        reference = r.reference_before, r.reference_before + r.reference_score
        assert reference == approx((before.reference_score, after.reference_score))
        assert r.before - r.reference_before == approx(before.difference)


def test_cases_without_a_prediction_are_left_out_and_counted_with_repeated_rows() -> None:
    """Equal rows are counted together, and each of them counts."""
    data = {
        "g": list("aabbab") * 2,
        "y": ["no", "yes", "yes", "no", None, "yes"] * 2,
        "p": ["no", "yes", "no", None, "yes", None] * 2,
        "q": ["no", None, "yes", "no", "yes", None] * 2,
    }
    a = eh.compare(data, y_true="y", models={"p": "p", "q": "q"}, groups="g", metrics="acc")
    assert a.n == 4
    both = "prediction of p and prediction of q"
    assert a.left_out == {"prediction of q": 2, "y_true": 2, "prediction of p": 2, both: 2}
    assert a.n + sum(a.left_out.values()) == 12
    words = {"y": ["yes", "no", "yes"] * 4, "p": ["yes", "no", "no"] * 4, "q": ["yes", "NA", ""] * 4}
    words |= {"g": list("abb") * 2 + list("bab") * 2}
    blank = eh.compare(words, y_true="y", models={"p": "p", "q": "q"}, groups="g", positive="yes", metrics="acc")
    assert (blank.n, blank.left_out) == (4, {"prediction of q": 8})


def test_settings_are_those_of_audits() -> None:
    """But changes are compared with the rest also if all cases are asked for: they need not lie between two rates."""
    assert compared(metrics="acc", reference="all").rows == compared(metrics="acc", gaps=True).rows
    a = compared(models={"one": "one", "two": "two"}, reference="v", alpha=0.2, group_names={"who": {"u": "Ursula"}})
    assert {r.group for r in a.rows} == {"Ursula", "v", "w", "all cases"}
    of_gaps = [r for r in a.rows if r.is_gap_change]
    assert {r.verdict for r in of_gaps if r.group == "v"} == {Verdict.REFERENCE}
    own = next(r for r in of_gaps if (r.group, r.metric) == ("v", "acc"))
    assert not math.isnan(own.score) and math.isnan(own.gap)
    crossed = compared(PEOPLE.assign(t=list("ab") * 60), groups=["who", "t"], metrics="acc")
    assert {r.by for r in crossed.rows} == {"who", "t", "who & t", "all cases"}


def test_what_is_no_rate_of_the_same_people_cannot_be_compared() -> None:
    rates = "metrics must be rates such as acc, ppr, tpr, fpr; got"
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"baseline": "on"}, "no model in baseline is called 'on'; did you mean 'one'?"),
        ({"metrics": []}, "metrics must be a list of metrics, such as"),
        ({"metrics": ["acc", "ppv"]}, "ppv is not a rate of people whose number is the same with all models; use acc"),
        ({"metrics": ["auc"]}, f"{rates} auc"),
        ({"metrics": [("f", max)]}, f"{rates} f"),
        ({"models": {"a": "one"}}, "models must contain at least two models with different names; got 'a'"),
        (
            {"models": None},
            "pass one of models, results, model_column and y_score, which say what is compared; got none",
        ),
    ]
    for settings, sentence in refusals:
        assert sentence in refusal(compared, **settings)
