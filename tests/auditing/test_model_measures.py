"""How rates change from one model to another: against counting by hand and statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_oracle import plain_holm, row
from hypothesis import given, settings, strategies as st
from pytest import approx
from statsmodels.stats.contingency_tables import mcnemar

import evenhand as eh
from evenhand.auditing import Audit, Verdict

SUCCESS: dict[str, Any] = {
    "acc": lambda y, p: y == p,
    "ppr": lambda y, p: p == 1,
    "tpr": lambda y, p: p == 1 if y else None,
    "fnr": lambda y, p: p == 0 if y else None,
    "fpr": lambda y, p: None if y else p == 1,
    "tnr": lambda y, p: None if y else p == 0,
}
person = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.sampled_from("xy"))


def changed(people: list[tuple[int, int, int, str]], metric: Any, **more: Any) -> Audit:
    y, a, b, who = (list(column) for column in zip(*people, strict=True))
    return eh.compare_models(y_true=y, models={"a": a, "b": b}, groups=who, metrics=metric, positive=1,
                             **{"draws": 49} | more)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("key", SUCCESS)
@given(people=st.lists(person, min_size=2, max_size=25))
@settings(max_examples=15)
def test_changes_are_those_of_counting_by_hand(key: str, people: list[tuple[int, int, int, str]]) -> None:
    """The change of a rate, and that of its gap to everybody else."""
    if len({who for *_, who in people}) < 2:
        return
    a = changed(people, key)
    change: dict[str, float | None] = {}
    for group in "xy":
        outcomes = [(SUCCESS[key](y, p), SUCCESS[key](y, q)) for y, p, q, who in people if who == group]
        counted = [(first, second) for first, second in outcomes if first is not None]
        n = len(counted)
        change[group] = (sum(b for _, b in counted) - sum(a for a, _ in counted)) / n if n else None
        found = row(a, group)
        assert (found.rests_on, found.n) == ((n,), sum(who == group for *_, who in people))
        assert found.score.value == (None if change[group] is None else approx(change[group], abs=1e-12))
        if n:
            table = [[sum(pair == (i, j) for pair in counted) for j in (True, False)] for i in (True, False)]
            assert found.score.pvalue == approx(mcnemar(table, exact=True).pvalue)
            assert found.score.low is not None and found.score.high is not None
            assert found.score.low - 1e-9 <= (change[group] or 0.0) <= found.score.high + 1e-9
    for group, other in (("x", "y"), ("y", "x")):
        mine, theirs, found = change[group], change[other], row(a, group)
        if mine is None or theirs is None:
            assert found.verdict is Verdict.UNDEFINED
            own = "no case that the score rests on"
            assert found.reason == (own if mine is None else f"the reference has {own}")
        else:
            assert found.gap.value == found.gap.difference == approx(mine - theirs, abs=1e-12)
            assert found.reference.score == approx(theirs, abs=1e-12)
            assert found.gap.kind == "difference" and found.test.asks == "equal scores"


def test_mcnemars_test_is_that_of_statsmodels_and_gaps_are_adjusted_by_holm() -> None:
    rng = np.random.default_rng(3)
    n = 300
    y, a, b = (rng.integers(0, 2, n) for _ in range(3))
    who = rng.choice(list("uvw"), n)
    b = np.where(rng.random(n) < 0.5, y, b)
    found = eh.compare_models(y_true=y, models={"a": a, "b": b}, groups=who, metrics="acc", draws=199)
    for r in found.rows:
        right = [(p == y)[who == r.group] for p in (a, b)]
        table = [[int(((right[0] == i) & (right[1] == j)).sum()) for j in (True, False)] for i in (True, False)]
        assert r.score.pvalue == approx(mcnemar(table, exact=True).pvalue)
        assert r.score.value == approx(right[1].mean() - right[0].mean())
    rows = list(found.rows)
    assert [r.test.p_adjusted for r in rows] == approx(plain_holm([r.test.pvalue or 0.0 for r in rows]))
    again = eh.compare_models(y_true=y, models={"a": a, "b": b}, groups=who, metrics="acc", draws=199)
    assert again == found
    exchanged = eh.compare_models(y_true=y, models={"b": b, "a": a}, groups=who, metrics="acc", draws=199)
    for r in rows:
        assert row(exchanged, r.group).score.pvalue == approx(r.score.pvalue)


def test_the_gaps_of_two_groups_count_once() -> None:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 120)
    models = {
        name: np.where(rng.random(120) < share, y, 1 - y) for name, share in (("one", 0.6), ("two", 0.8), ("3", 0.9))
    }
    who = np.where(rng.random(120) < 0.3, "u", "rest")
    a = eh.compare_models(y_true=y, models=models, groups=who, metrics="acc", draws=99)
    values = []
    for model in ("two", "3"):
        pair = [row(a, group, model=model).test for group in ("u", "rest")]
        values.append(max(test.pvalue or 0.0 for test in pair))
        assert pair[0].p_adjusted == pair[1].p_adjusted
    for model, expected in zip(("two", "3"), plain_holm(values), strict=True):
        assert row(a, "u", model=model).test.p_adjusted == approx(expected)


def test_a_single_pair_that_differs_says_nothing() -> None:
    """One case that the second model decides otherwise: the sign could be either."""
    people = [(1, 0, 1, "x"), (1, 1, 1, "x"), (0, 0, 0, "y"), (1, 1, 1, "y")]
    found = row(changed(people, "acc"), "x")
    assert (found.score.value, found.score.pvalue) == (0.5, 1.0)
    assert found.test.pvalue is not None and found.test.pvalue > 0.5
    assert (found.test.method, found.verdict) == ("mid-p", "too few to tell")
