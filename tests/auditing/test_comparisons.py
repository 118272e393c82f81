"""What each group is compared with: every kind of reference, in strata too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import row
from matrices import matrix
from numpy import isnan
from pytest import approx

import evenhand as eh
from evenhand.auditing import Verdict
from evenhand.errors import EvenhandError, InvalidInput, UnknownName

THREE: Any = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (20, 20, 5, 60)}
CROSSED: Any = {(a, b): (9 + i, 6, 4, 21 + j) for i, a in enumerate("xyz") for j, b in enumerate("uv")}


def test_a_group_is_compared_with_the_rest_all_a_group_or_a_matrix() -> None:
    cells, given = (30, 10, 12, 48), ("matrix", "given matrix")
    expected: list[tuple[Any, ...]] = [
        ("rest", "rest", "rest", (50, 30, 17, 108)), ("all", "all", "all", (59, 36, 21, 129)),
        ("B", "group", "B", cells), ("largest", "group", "C", (20, 20, 5, 60)),
        (matrix(*cells), *given, cells), ("30,10,12,48", *given, cells),
    ]  # fmt: skip
    for reference, kind, name, others in expected:
        a = eh.audit_counts(THREE, metrics=["tpr"], reference=reference)
        found = row(a, "A")
        assert (found.reference_kind, found.reference, found.reference_cells) == (kind, name, others)
        assert (found.reference_n, found.reference_score) == (sum(others), approx(others[0] / sum(others[:2])))
        if kind == "group":
            own = row(a, name)
            assert own.verdict == "reference" and isnan([own.pvalue, own.difference, own.reference_score]).all()


def test_the_best_group_is_that_of_the_highest_rate_of_favourable_predictions() -> None:
    cases = (("best", "positive", "B"), ("best", "negative", "C"), ("largest", "negative", "C"))
    for reference, favourable, name in cases:
        a = eh.audit_counts(THREE, metrics="tpr", reference=reference, favourable=favourable)  # type: ignore[arg-type]
        said = [f.sentence.split(" of favourable")[0] for f in a.findings if f.kind == "chosen-reference"]
        assert {r.reference for r in a.rows} == {name}
        assert said == [f"{name} was chosen as the reference of group for its high rate"] * (reference == "best")


def test_the_gap_of_a_rate_to_all_cases_is_a_share_of_that_to_the_rest() -> None:
    all_, rest = (row(eh.audit_counts(THREE, metrics="tpr", reference=kind), "A") for kind in ("all", "rest"))
    for name in ("gap", "gap_low", "gap_high"):
        assert getattr(all_, name) / getattr(rest, name) == approx(80 / 95)
    assert all_.pvalue == rest.pvalue


def test_each_column_may_have_a_reference_and_an_intersection_that_of_its_columns() -> None:
    cases: list[tuple[Any, tuple[str, str, str]]] = [
        ({"r": "x", "s": "v"}, ("x", "v", "x & v")), ({"r": "x"}, ("x", "rest", "rest")),
        ({"r & s": "y & u"}, ("rest", "rest", "y & u")), ({("r", "s"): ("y", "u")}, ("rest", "rest", "y & u")),
        ({"r": matrix(1, 2, 3, 4), "s": "v"}, ("given matrix", "v", "rest")),
    ]  # fmt: skip
    for reference, expected in cases:
        a = eh.audit_counts(CROSSED, by=("r", "s"), metrics="acc", reference=reference)
        assert {(r.by, r.reference) for r in a.rows} == set(zip(("r", "s", "r & s"), expected, strict=True))


def test_no_group_is_dropped_for_being_small() -> None:
    found = row(eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)}), "none", "tpr")
    assert isnan(found.score) and found.reason == "no actual positives (TP + FN = 0)"


def people() -> pd.DataFrame:
    rng, n = np.random.default_rng(4), 260
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1])})
    frame["town"], frame["y"] = rng.choice(["east", "west"], n), rng.integers(0, 2, n)
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
    alone = row(a, "f", "acc", stratum="nowhere")
    assert (alone.n, alone.reference_n, alone.verdict) == (6, 0, "undefined")
    assert alone.reason == "the reference's score is undefined, no cases (n = 0)"
    for group in "BC":
        found = row(a, group, "acc", stratum="west")
        assert (found.reference, found.reference_n, found.verdict) == ("A", 0, "undefined")
    assert {r.group for r in a.rows if r.by == "race" and r.at["stratum"] == "pooled"} == {"B", "C"}
    pooled = row(a, "B", "acc", stratum="pooled")
    assert pooled.strata_silent >= 1
    assert pooled.reference_n == int((frame.race == "A").sum())
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
        assert {r.reference for r in a.rows} == {chosen}


def test_what_is_no_reference_is_refused() -> None:
    must = "reference must be 'rest', 'all', 'largest', 'best' or the name of a group"
    no_group = "the reference of 'group' must be a group that has cases"
    of_counts: dict[str, Any] = {"counts": THREE, "metrics": "tpr"}
    in_strata: dict[str, Any] = {"data": people(), "groups": "sex", **COLUMNS}
    of_classes: dict[str, Any] = {"data": {"g": list("aabb"), "y": list("xyzx"), "p": list("xyzz")}, "groups": "g",
                                  "y_true": "y", "y_pred": "p", "classes": "all", "favourable": "positive"}  # fmt: skip
    cases: list[tuple[dict[str, Any], dict[str, Any], Any, str]] = [
        (of_counts, {"reference": "D"}, UnknownName, "no group of 'group' is called 'D'; groups: A, B, C"),
        (of_counts, {"reference": {"race": "rest"}}, UnknownName, "no group column is called 'race'; known: group"),
        (of_counts, {"reference": ("A", "B")}, InvalidInput, f"{no_group}; A & B has none"),
        (of_counts, {"reference": (1, 2, 3, 4)}, InvalidInput, f"{no_group}; 1 & 2 & 3 & 4 has none"),
        (of_counts, {"reference": "best"}, InvalidInput, "reference='best' needs favourable=: which prediction is "
         "good for a person"),
        (of_counts, {"counts": {"A": (1, 2, 3, 4)}}, InvalidInput, "'group' has only one group with cases ('A'), so "
         "there is nothing to compare it with"),
        (in_strata, {"strata": ["town", "sex"]}, InvalidInput, "strata must not contain a group column; got 'sex'"),
        (in_strata, {"reference": matrix(1, 2, 3, 4)}, InvalidInput, f"{must}; a matrix has no strata"),
        (of_classes, {"reference": "best"}, InvalidInput, f"{must}; 'best' takes predictions of two classes"),
        (of_classes, {"reference": matrix(1, 2, 3, 4)}, InvalidInput, f"{must}; a ConfusionMatrix is of two classes "
         "and has no rows"),
    ]  # fmt: skip
    for fixed, given, error, sentence in cases:
        with pytest.raises(EvenhandError) as refused:
            (eh.audit_counts if fixed is of_counts else eh.audit)(**fixed | given)
        assert (type(refused.value), str(refused.value)) == (error, sentence)
