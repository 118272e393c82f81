"""What each group is compared with: every kind of reference, in strata too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import row
from matrices import matrix
from pytest import approx

import evenhand as eh
from evenhand.auditing import Verdict
from evenhand.errors import EvenhandError, InvalidInput, UnknownName

THREE: Any = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (20, 20, 5, 60)}
CROSSED: Any = {(a, b): (9 + i, 6, 4, 21 + j) for i, a in enumerate("xyz") for j, b in enumerate("uv")}


def test_a_group_is_compared_with_the_rest_all_a_group_or_a_matrix() -> None:
    cells = (30, 10, 12, 48)
    expected: list[tuple[Any, ...]] = [
        ("rest", "rest", "rest", 205, (50, 30, 17, 108), 50 / 80),
        ("all", "all", "all", 245, (59, 36, 21, 129), 59 / 95),
        ("B", "group", "B", 100, cells, 0.75),
        ("largest", "group", "C", 105, (20, 20, 5, 60), 0.5),
        (matrix(*cells), "matrix", "given matrix", 100, cells, 0.75),
        ("30,10,12,48", "matrix", "given matrix", 100, cells, 0.75),
    ]
    for given, kind, name, n, of_cells, score in expected:
        a = eh.audit_counts(THREE, metrics=["tpr"], reference=given)
        found = row(a, "A").reference
        assert (found.kind, found.name, found.n, found.cells) == (kind, name, n, of_cells)
        assert found.score == approx(score)
        if kind == "group":
            own = row(a, name)
            assert (own.verdict, own.test.pvalue, own.gap.difference) == ("reference", None, None)
            assert own.reference.score is None


def test_the_best_group_is_that_of_the_highest_rate_of_favourable_predictions() -> None:
    for favourable, name in (("positive", "B"), ("negative", "C")):
        a = eh.audit_counts(THREE, metrics="tpr", reference="best", favourable=favourable)  # type: ignore[arg-type]
        assert {r.reference.name for r in a.rows} == {name}
        (said,) = [f.sentence for f in a.findings if f.kind == "chosen-reference"]
        assert said.startswith(
            f"{name} was chosen as the reference of group for its high rate of favourable predictions"
        )
    largest = eh.audit_counts(THREE, metrics="tpr", reference="largest", favourable="positive")
    assert not any(f.kind == "chosen-reference" for f in largest.findings)


def test_all_is_the_rest_where_the_metric_is_no_rate() -> None:
    """Only rates are compared with all cases; other scores are compared with the rest, and say so."""
    counts = {"A": (50, 0, 20, 30), "B": (20, 30, 10, 40), "C": (26, 20, 42, 12)}
    for r in eh.audit_counts(counts, metrics=["ppr", "disparate_impact", "lr_plus", "f1"], reference="all").rows:
        assert r.reference.cells is not None
        own, other = matrix(*counts[r.group]), matrix(*r.reference.cells)
        m = eh.metric(r.metric)
        if m.kind:
            assert r.score.value == approx(m(own, other))
        else:
            assert r.reference.score == approx(m(other))
        assert r.reference.n == other.n and r.reference.name == ("all" if r.metric == "ppr" else "rest")


def test_the_gap_to_all_is_a_share_of_the_gap_to_the_rest() -> None:
    """The share of the rest in all cases; the test is the same."""
    all_, rest = (row(eh.audit_counts(THREE, metrics="tpr", reference=kind), "A") for kind in ("all", "rest"))
    for name in ("difference", "low", "high"):
        assert getattr(all_.gap, name) / getattr(rest.gap, name) == approx(80 / 95)
    assert all_.test.pvalue == rest.test.pvalue


def test_each_column_may_have_a_reference_and_an_intersection_that_of_its_columns() -> None:
    cases: list[tuple[Any, set[tuple[str, str]]]] = [
        ({"r": "x", "s": "v"}, {("r", "x"), ("s", "v"), ("r & s", "x & v")}),
        ({"r": "x"}, {("r", "x"), ("s", "rest"), ("r & s", "rest")}),
        ({"r & s": "y & u"}, {("r", "rest"), ("s", "rest"), ("r & s", "y & u")}),
        ({("r", "s"): ("y", "u")}, {("r", "rest"), ("s", "rest"), ("r & s", "y & u")}),
    ]
    for reference, expected in cases:
        a = eh.audit_counts(CROSSED, by=("r", "s"), metrics="acc", reference=reference)
        assert {(r.by, r.reference.name) for r in a.rows} == expected


def test_no_group_is_dropped_for_being_small() -> None:
    a = eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)})
    assert {r.group for r in a.rows} == {"none", "all"}
    found = row(a, "none", "tpr")
    assert (found.score.value, found.reason) == (None, "no actual positives (TP + FN = 0)")


# Strata


def people(seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 260
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1])})
    frame["town"] = rng.choice(["east", "west"], n)
    frame["y"] = rng.integers(0, 2, n)
    frame["p"] = np.where(rng.random(n) < np.where(frame.sex == "f", 0.55, 0.9), frame.y, 1 - frame.y)
    return frame


COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "metrics": "acc", "strata": "town"}


def test_a_group_or_its_reference_may_be_missing_in_a_stratum() -> None:
    """Nobody of race A is in the west, and only women are nowhere: there is nothing to compare there."""
    frame = people()
    frame.loc[(frame.town == "west") & (frame.race == "A"), "race"] = "B"
    frame.loc[frame.index[:6], ["town", "sex"]] = ["nowhere", "f"]
    frame.loc[frame.index[:6], "race"] = ["A", "B", "A", "B", "C", "A"]
    a = eh.audit(frame, groups=["sex", "race"], intersections=1, reference={"sex": "rest", "race": "A"}, **COLUMNS)
    assert a.axes == {"stratum": ("east", "nowhere", "west", "pooled")}
    alone = row(a, "f", "acc", stratum="nowhere")
    assert (alone.n, alone.reference.n, alone.verdict) == (6, 0, "undefined")
    assert alone.reason == "the reference's score is undefined, no cases (n = 0)"
    for group in "BC":
        found = row(a, group, "acc", stratum="west")
        assert (found.reference.name, found.reference.n, found.verdict) == ("A", 0, "undefined")
    assert {r.group for r in a.rows if r.by == "race" and r.at["stratum"] == "pooled"} == {"B", "C"}
    pooled = row(a, "B", "acc", stratum="pooled")
    assert pooled.reference.n == int((frame.race == "A").sum())
    assert pooled.strata is not None and pooled.strata.silent >= 1


def test_strata_that_share_no_groups_say_nothing() -> None:
    a = eh.audit(y_pred=[1, 0, 1, 0], groups=list("aabb"), strata=list("xxyy"), positive=1)
    assert {r.verdict for r in a.rows} == {Verdict.UNDEFINED}
    reasons = {r.reason for r in a.rows if r.at["stratum"] == "pooled"}
    assert reasons == {"no stratum has cases of both with different outcomes"}


def test_the_reference_that_the_data_choose_is_the_same_in_all_strata() -> None:
    frame = people()
    west = frame.town == "west"
    frame.loc[west, "race"] = frame.loc[west, "race"].map({"A": "B", "B": "A", "C": "C"})
    frame = frame.drop(frame.index[west & (frame.race == "A")][:30])
    largest = frame.race.value_counts().idxmax()
    assert {frame[frame.town == town].race.value_counts().idxmax() for town in ("east", "west")} != {largest}
    for reference, chosen in (("largest", largest), ("best", frame.groupby("race").p.mean().idxmax())):
        a = eh.audit(frame, groups="race", reference=reference, favourable="positive", **COLUMNS)
        assert {r.reference.name for r in a.rows} == {chosen}


# Refusals

MUST = "reference must be 'rest', 'all', 'largest', 'best' or the name of a group"


def test_what_is_no_reference_is_refused() -> None:
    def of_classes(**given: Any) -> Any:
        data = {"g": list("aabb"), "y": list("xyzx"), "p": list("xyzz")}
        return eh.audit(data, y_true="y", y_pred="p", groups="g", classes="all", favourable="positive", **given)

    def in_strata(**given: Any) -> Any:
        return eh.audit(people(), groups="sex", **COLUMNS | given)

    def of_counts(counts: Any = THREE, **given: Any) -> Any:
        return eh.audit_counts(counts, metrics="tpr", **given)

    only_one = "'group' has only one group with cases ('A'), so there is nothing to compare it with"
    cases: list[tuple[Any, dict[str, Any], Any, str]] = [
        (of_counts, {"reference": "D"}, UnknownName, "no group of 'group' is called 'D'; groups: A, B, C"),
        (of_counts, {"reference": {"race": "rest"}}, UnknownName, "no group column is called 'race'; known: group"),
        (of_counts, {"reference": ("A", "B")}, InvalidInput, "the reference of 'group' must be a group that has "
         "cases; A & B has none"),
        (of_counts, {"reference": (1, 2, 3, 4)}, InvalidInput, "counts as reference must be ConfusionMatrix(tp=tp, "
         "fn=fn, fp=fp, tn=tn); got (1, 2, 3, 4)"),
        (of_counts, {"reference": "best"}, InvalidInput, "reference='best' needs favourable=: which prediction is "
         "good for a person"),
        (of_counts, {"counts": {"A": (1, 2, 3, 4)}}, InvalidInput, only_one),
        (in_strata, {"strata": ["town", "sex"]}, InvalidInput, "strata must not contain a group column; got 'sex'"),
        (in_strata, {"reference": matrix(1, 2, 3, 4)}, InvalidInput, f"{MUST}; a matrix has no strata"),
        (of_classes, {"reference": "best"}, InvalidInput, f"{MUST}; 'best' takes predictions of two classes"),
        (of_classes, {"reference": matrix(1, 2, 3, 4)}, InvalidInput, f"{MUST}; a ConfusionMatrix is of two classes "
         "and has no rows"),
    ]  # fmt: skip
    for call, given, error, sentence in cases:
        with pytest.raises(EvenhandError) as refused:
            call(**given)
        assert (type(refused.value), str(refused.value)) == (error, sentence)
