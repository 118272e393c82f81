"""Averages over classes: their scores by definition, their tests, and classes without a score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_oracle import plain_bh, plain_holm, row
from class_oracle import averaged, overall
from pytest import approx
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing import Audit, Row, Verdict

NAMES = ["acc", "macro ppv", "weighted f1", "micro jaccard", "mcc", "kappa", "balanced_accuracy"]


def decisions(n: int = 400, seed: int = 3) -> dict[str, list[Any]]:
    """Decisions between three classes; group A is decided worse, and C has no case of class z."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B", "C"], size=n, p=[0.35, 0.55, 0.1])
    y = rng.choice(["x", "y", "z"], size=n, p=[0.5, 0.3, 0.2])
    y[(race == "C") & (y == "z")] = "y"
    right = rng.random(n) < np.where(race == "A", 0.5, 0.85)
    p = np.where(right, y, rng.choice(["x", "y", "z"], size=n))
    return {"race": race.tolist(), "y": y.tolist(), "p": p.tolist()}


def audited(data: Any, **settings: Any) -> Audit:
    columns: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race", "classes": "all", "metrics": "tpr"}
    return eh.audit(data, **columns | {"draws": 199} | settings)


def averages(a: Audit) -> list[Row]:
    return [r for r in a.rows if "class" not in r.at]


def tables(data: dict[str, list[Any]]) -> dict[str, list[list[int]]]:
    rows = list(zip(data["race"], data["y"], data["p"], strict=True))
    return {race: [[sum(one == (race, a, b) for one in rows) for b in "xyz"] for a in "xyz"] for race in "ABC"}


def test_averages_are_those_of_the_groups_matrices() -> None:
    """Scores by definition, and the p-value of accuracy by the hypergeometric law of correct cases."""
    data = decisions()
    a = audited(data, averages=NAMES)
    assert {(r.metric, r.group) for r in averages(a)} == {(name, group) for name in NAMES for group in "ABC"}
    all_ = tables(data)
    for r in averages(a):
        table = all_[r.group]
        rest = np.sum([all_[race] for race in "ABC" if race != r.group], axis=0).tolist()
        average, _, metric = r.metric.rpartition(" ")
        score, other = (averaged(metric, t, average) if average else overall(metric, t) for t in (table, rest))
        assert r.score.value == (None if score is None else approx(float(score), rel=1e-12))
        assert r.reference.score == approx(float(other), rel=1e-12)
        assert (r.n, r.reference.n) == (sum(map(sum, table)), sum(map(sum, rest)))
        assert (r.at, r.cells, r.test.asks, r.gap.low) == ({}, None, "drawn alike", None)
        if score is None:
            assert (r.test.pvalue, r.test.method, r.verdict) == (None, None, "undefined")
            assert r.reason == "undefined for 1 of 3 classes: 'z', no actual positives (TP + FN = 0)"
            continue
        assert r.gap.value == approx(float(score) - float(other))
        if r.metric == "acc":
            right, all_right = (sum(t[i][i] for i in range(3)) for t in (table, rest))
            law = hypergeom(r.n + r.reference.n, right + all_right, r.n)
            assert r.test.pvalue == approx(min(1.0, 2 * min(law.cdf(right), law.sf(right - 1))), rel=1e-9)
            assert (r.test.method, r.test.error) == ("exact", None)
        elif average != "micro":
            assert r.test.error is not None and 0 <= r.test.error < 0.1
            assert (r.test.pvalue or 0.0) * 200 == approx(round((r.test.pvalue or 0.0) * 200), abs=1e-9)
    assert a == audited(data, averages=NAMES)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("family", ["metric", "audit"])
@pytest.mark.parametrize(("adjust", "method"), [("holm", plain_holm), ("bh", plain_bh)])
def test_averages_are_adjusted_over_groups_or_over_everything(
    groups: int, family: Any, adjust: Any, method: Any
) -> None:
    """Two groups that are each other's rest are one comparison, with the larger p-value."""
    data = decisions(300)
    if groups == 2:
        data["race"] = ["AB"[i % 2] for i in range(300)]
    a = audited(data, averages=["acc", "macro ppv", "mcc"], family=family, adjust=adjust, classes=["x"], metrics="mcc")
    families: dict[str, dict[Any, list[Row]]] = {}
    for r in a.rows:
        whose = (r.metric, len(r.at), r.group if groups > 2 else "")
        key = f"{r.metric} {len(r.at)}" if family == "metric" else ""
        families.setdefault(key, {}).setdefault(whose, []).append(r)
    assert len(families) == (4 if family == "metric" else 1)
    for some in families.values():
        values = [max(float(r.test.pvalue or 0) for r in rows) for rows in some.values()]
        for rows, p in zip(some.values(), method(values), strict=True):
            for r in rows:
                assert r.test.p_adjusted == approx(p, abs=1e-12)


def test_a_class_without_a_score_is_left_out_only_if_asked() -> None:
    strict, lenient = (
        row(audited(decisions(), averages=["macro tpr"], undefined=how), "C", "macro tpr")
        for how in ("propagate", "omit")
    )
    assert (strict.score.value, strict.verdict) == (None, Verdict.UNDEFINED)
    table = tables(decisions())["C"]
    assert lenient.score.value == approx(float(averaged("tpr", table, "macro", omit=True)))
    assert lenient.test.pvalue is not None and lenient.reason is None


def test_all_averages_of_a_group_are_tested_on_the_same_draws() -> None:
    """So that a test does not depend on what else was asked."""
    data = decisions(200)
    together = audited(data, averages=["macro ppv", "mcc", "kappa"])
    for name in ("macro ppv", "mcc", "kappa"):
        alone = audited(data, averages=[name])
        for group in "ABC":
            assert row(alone, group, name).test.pvalue == row(together, group, name).test.pvalue


@pytest.mark.parametrize("reference", ["B", "largest", "all"])
def test_groups_may_have_another_reference(reference: str) -> None:
    data = decisions()
    a = audited(data, reference=reference, averages=["mcc"])
    of_class = {(r.group, r.reference.name) for r in a.rows if r.at == {"class": "x"}}
    assert {(r.group, r.reference.name) for r in averages(a)} == of_class
    if reference != "all":
        own = row(a, "B", "mcc")
        assert (own.test.pvalue, own.reason, own.verdict) == (None, None, Verdict.REFERENCE)
        assert own.score.value is not None
    else:
        everybody = np.sum(list(tables(data).values()), axis=0).tolist()
        expected = float(overall("mcc", everybody))
        assert [r.reference.score for r in averages(a)] == approx([expected] * 3)


def test_crossings_and_bins_have_averages_too() -> None:
    rng = np.random.default_rng(8)
    n = 300
    rows = {"age": rng.integers(18, 80, n), "sex": rng.choice(["F", "M"], n), "y": rng.integers(1, 4, n)}
    rows["p"] = np.where(rng.random(n) < 0.7, rows["y"], rng.integers(1, 4, n))
    a = audited(rows, groups=["age", "sex"], bins={"age": [30, 50]}, averages=["acc"])
    assert a.axes == {"class": (1, 2, 3)}
    assert {r.by for r in averages(a)} == {"age", "sex", "age & sex"}
    found = row(a, "below 30 & F", "acc", by="age & sex", **{"class": None})
    inside = (rows["age"] < 30) & (rows["sex"] == "F")
    assert found.n == inside.sum()
    assert found.score.value == approx((rows["y"] == rows["p"])[inside].mean())


def test_the_order_of_classes_and_groups_is_nothing() -> None:
    data = decisions(150)
    turned = {name: list(reversed(column)) for name, column in data.items()}
    assert audited(data, averages=NAMES).rows == audited(turned, averages=NAMES).rows


def test_an_average_is_asked_for_once_and_by_name() -> None:
    a = audited(decisions(60), averages=["acc", "acc", "Macro F1"])
    assert {r.metric for r in averages(a)} == {"acc", "macro f1"}
    assert {r.metric for r in averages(audited(decisions(60), averages="acc"))} == {"acc"}
