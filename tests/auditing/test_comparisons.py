# mypy: disable-error-code="operator, comparison-overlap"
"""Who is compared with whom: groups, their names, crossings, and every kind of reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import row
from pytest import approx

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.errors import EvenhandError, InvalidInput, TooLarge, UnknownName

CM = eh.ConfusionMatrix
THREE: Any = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (20, 20, 5, 60)}


# References


def test_a_group_is_the_reference_of_the_others() -> None:
    a = eh.audit_counts(THREE, metrics=["tpr"], reference="B")
    assert row(a, "B").verdict == "reference"
    assert row(a, "B").test.pvalue is None
    found = row(a, "A").reference
    assert (found.kind, found.name, found.n, found.cells, found.score) == ("group", "B", 100, (30, 10, 12, 48), 0.75)


def test_the_rest_is_everybody_else_and_all_is_everybody() -> None:
    rest, everybody = (row(eh.audit_counts(THREE, metrics="tpr", reference=k), "A").reference for k in ("rest", "all"))
    assert (rest.kind, rest.name, rest.cells, rest.score) == ("rest", "rest", (50, 30, 17, 108), approx(50 / 80))
    assert (everybody.kind, everybody.cells, everybody.score) == ("all", (59, 36, 21, 129), approx(59 / 95))


def test_a_matrix_is_the_reference_of_all() -> None:
    for given in (CM(300, 100, 120, 480), "300,100,120,480"):
        a = eh.audit_counts(THREE, metrics=["tpr"], reference=given)
        assert {(r.reference.kind, r.reference.name) for r in a.rows} == {("matrix", "given matrix")}
        assert a.rows[0].reference.score == 0.75


def test_the_largest_and_the_best_group_are_chosen_by_the_data() -> None:
    """B has most cases of A and B with 100, but C has 105; B has the highest rate of positive predictions."""
    largest, best, spared = (
        eh.audit_counts(THREE, metrics="tpr", reference=kind, favourable=which)  # type: ignore[arg-type]
        for kind, which in (("largest", "positive"), ("best", "positive"), ("best", "negative"))
    )
    assert {r.reference.name for r in largest.rows} == {"C"}
    assert {r.reference.name for r in best.rows} == {"B"}
    assert {r.reference.name for r in spared.rows} == {"C"}
    (said,) = [f.sentence for f in best.findings if f.kind == "chosen-reference"]
    assert said.startswith("B was chosen as the reference of group for its high rate of favourable predictions")
    assert not any(f.kind == "chosen-reference" for f in largest.findings)


def test_each_column_may_have_a_reference_of_its_own_and_a_crossing_that_of_its_columns() -> None:
    counts = {(a, b): (9 + i, 6, 4, 21 + j) for i, a in enumerate("xyz") for j, b in enumerate("uv")}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc", reference={"r": "x", "s": "v"})
    assert {(r.by, r.reference.name) for r in a.rows} == {("r", "x"), ("s", "v"), ("r & s", "x & v")}
    one = eh.audit_counts(counts, by=("r", "s"), metrics="acc", reference={"r": "x"})
    assert {(r.by, r.reference.name) for r in one.rows} == {("r", "x"), ("s", "rest"), ("r & s", "rest")}
    crossed = eh.audit_counts(counts, by=("r", "s"), metrics="acc", reference={"r & s": "y & u"})
    assert {(r.by, r.reference.name) for r in crossed.rows} == {("r", "rest"), ("s", "rest"), ("r & s", "y & u")}
    by_columns = eh.audit_counts(counts, by=("r", "s"), metrics="acc", reference={("r", "s"): ("y", "u")})
    assert by_columns.rows == crossed.rows


@pytest.mark.parametrize("name", ["rest", "all", "reference", "undefined", "(missing)", "alike", "", "None", "nan"])
def test_a_group_may_be_called_anything(name: str) -> None:
    counts = {name: (30, 10, 12, 48), "A": (9, 6, 4, 21), "B": (20, 20, 5, 60)}
    a = eh.audit_counts(counts, metrics=["tpr"], reference=name)
    assert {r.group: r.reference.kind for r in a.rows} == dict.fromkeys(counts, "group")
    assert row(a, name).verdict is Verdict.REFERENCE
    assert row(a, "A").reference.n == 100
    assert Audit.from_json(a.to_json()) == a
    other = eh.audit_counts(counts, metrics=["tpr"], reference="A")
    assert row(other, name).score.value == 0.75
    assert row(other, name).verdict is not Verdict.UNDEFINED
    assert "missing-group" not in {f.kind for f in other.findings}


def test_no_group_is_dropped_for_being_small() -> None:
    a = eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)})
    assert {r.group for r in a.rows} == {"none", "all"}
    assert row(a, "none", "tpr").reason == "no actual positives (TP + FN = 0)"
    assert row(a, "none", "tpr").score.value is None


# Names


@pytest.mark.parametrize(
    "groups",
    [
        [1, "1", "'1'"],
        ["'1'", "1", 1],
        ["(missing)", "'(missing)'", "missing"],
        [1.5, "1.5", "'1.5'", "\"'1.5'\""],
    ],
)
def test_groups_whose_names_look_alike_stay_apart(groups: list[Any]) -> None:
    matrices = {group: (10, 10, 10, 10 + i) for i, group in enumerate(groups)}
    a = eh.audit_counts(matrices, metrics="tpr")
    assert sum(r.n for r in a.rows) == a.n == sum(map(sum, matrices.values()))
    assert len({r.group for r in a.rows}) == len(groups)


def test_intersections_of_like_sounding_names_are_told_apart() -> None:
    counts = {("a & b", "c"): (9, 6, 4, 21), ("a", "b & c"): (5, 5, 5, 5), ("a", "x"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc")
    crossed = [r for r in a.rows if r.by == "r & s"]
    assert sum(r.n for r in crossed) == 40 + 20 + 18
    assert {r.group for r in crossed} == {"('a & b', 'c')", "('a', 'b & c')", "a & x"}
    three = {("a & b", "c"): (1, 1, 1, 1), ("a", "b & c"): (2, 2, 2, 2), ("('a'", "b & c"): (3, 3, 3, 3)}
    both = {r.group: r.n for r in eh.audit_counts(three, by=("g", "h"), metrics="acc").rows if r.by == "g & h"}
    assert sorted(both.values()) == [4, 8, 12]


KINDS: dict[str, Any] = {
    "two classes": {"y_true": "y", "y_pred": "p", "metrics": "acc"},
    "selections": {"y_pred": "p"},
    "thresholds": {"y_true": "y", "y_score": "s", "threshold": [0.3, 0.6], "metrics": "acc"},
    "scores": {"y_true": "y", "y_score": "s", "metrics": "auc", "draws": 9},
    "functions": {"y_true": "y", "y_pred": "p", "metrics": [("right", lambda y, p: (y == p).mean())], "draws": 9},
    "classes": {"y_true": "k", "y_pred": "j", "classes": "all", "metrics": "acc", "averages": ["acc"], "draws": 9},
    "strata": {"y_true": "y", "y_pred": "p", "within": "t", "metrics": "acc"},
    "weights": {"y_true": "y", "y_pred": "p", "weights": "w", "metrics": "acc"},
    "models": {"y_true": "y", "models": {"old": "p", "new": "q"}, "metrics": "acc", "draws": 9},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("missing", "(missing)", {"missing", "(missing)"}),
        (1, "1", {"1", "'1'"}),
        (1.5, "1.5", {"1.5", "'1.5'"}),
    ],
)
def test_groups_are_never_merged_whatever_is_audited(kind: str, first: Any, second: Any, names: set[str]) -> None:
    n = 24
    data: dict[str, list[Any]] = {
        "g": [first, second, second] * 8,
        "y": [1, 0, 1, 0] * 6,
        "p": [1, 1, 0, 0, 1, 0] * 4,
        "q": [1, 0, 0, 1, 1, 1] * 4,
        "s": [round(0.04 * i, 2) for i in range(n)],
        "k": list("xyzz") * 6,
        "j": list("xyzzyx") * 4,
        "t": ["e", "w", "w", "e"] * 6,
        "w": [1.0] * n,
    }
    audit = eh.compare_models if kind == "models" else eh.audit
    a = audit(data, groups="g", **KINDS[kind])
    sizes: dict[Any, dict[str, int]] = {}
    for r in a.rows:
        place = tuple(item for item in r.at.items() if item[0] != "stratum" or item[1] == "pooled")
        if kind != "strata" or place:
            sizes.setdefault((r.metric, place), {})[r.group] = r.n
    assert sizes
    for groups in sizes.values():
        assert set(groups) == names
        assert sorted(groups.values()) == [8, 16]


def test_a_group_that_is_called_missing_is_none_that_is_unknown() -> None:
    data = {"g": [None, None, "(missing)", "a"] * 5, "y": [1, 0, 1, 0] * 5, "p": [1, 1, 0, 0] * 5}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", metrics="acc")
    assert {r.group: r.n for r in a.rows} == {"(missing)": 5, "a": 5}
    assert a.unknown == {"g": 10}
    (missing,) = [f for f in a.findings if f.kind == "missing-group"]
    assert missing.sentence.startswith("10 cases have no known g")


def test_groups_are_called_by_their_given_names() -> None:
    counts = {(1, "x"): (9, 6, 4, 21), (2, "x"): (30, 10, 12, 48), (3, "y"): (20, 20, 5, 60)}
    names: dict[str, dict[Any, str]] = {"r": {1: "one", 3: "nobody"}, "s": {"x": "ex"}}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc", group_names=names)
    assert {r.group for r in a.rows if r.by == "r"} == {"one", "r 2", "nobody"}
    assert {r.group for r in a.rows if r.by == "r & s"} == {"one & ex", "r 2 & ex", "nobody & y"}
    for spelled in ("one", 1, "1"):
        named = eh.audit_counts(counts, by=("r", "s"), metrics="acc", group_names=names, reference={"r": spelled})
        assert {r.reference.name for r in named.rows if r.by == "r"} == {"one"}


def test_a_code_is_called_with_its_column() -> None:
    """Census codes: "2" alone says nothing; a whole number has no decimals, however the file writes it."""
    for sex, school in (((1, 2), (16, 21)), ((1.0, 2.0), (16.0, 21.0)), (("1", "2"), ("16.0", "21.00"))):
        counts = {(a, b): (9, 6, 4, 21) for a in sex for b in school}
        a = eh.audit_counts(counts, by=("SEX", "SCHL"), metrics="acc")
        assert {r.group for r in a.rows if r.by == "SEX"} == {"SEX 1", "SEX 2"}
        assert {r.group for r in a.rows if r.by == "SCHL"} == {"SCHL 16", "SCHL 21"}
        assert {r.group for r in a.rows if r.by == "SEX & SCHL"} == {
            f"SEX {i} & SCHL {j}" for i in (1, 2) for j in (16, 21)
        }


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((True, False), {"old True", "old False"}),
        (("yes", "no"), {"yes", "no"}),
        ((-1, 0.5), {"old -1", "old 0.5"}),
        (("18-25", "1e5"), {"18-25", "1e5"}),
        ((1, "1"), {"1", "'1'"}),
    ],
)
def test_only_numbers_and_truth_values_are_codes(values: tuple[Any, Any], names: set[str]) -> None:
    a = eh.audit_counts(dict.fromkeys(values, (9, 6, 4, 21)), by="old", metrics="acc")
    assert {r.group for r in a.rows} == names


@pytest.mark.parametrize("code", [1, 1.0, "1", "1.0"])
@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0"])
def test_a_name_for_a_code_holds_however_both_are_written(code: Any, value: Any) -> None:
    a = eh.audit_counts({value: (9, 6, 4, 21), "other": (30, 10, 12, 48)}, by="SEX", metrics="acc",
                        group_names={"SEX": {code: "men"}})  # fmt: skip
    assert {r.group for r in a.rows} == {"men", "other"}


def test_a_code_may_be_the_reference_by_its_value_or_by_its_name() -> None:
    counts = {1: (9, 6, 4, 21), 2: (30, 10, 12, 48)}
    for reference in (1, "1", "SEX 1", 1.0):
        a = eh.audit_counts(counts, by="SEX", metrics="acc", reference={"SEX": reference})
        assert {r.reference.name for r in a.rows} == {"SEX 1"}


def test_names_for_values_that_do_not_occur_are_refused_with_those_that_do() -> None:
    counts = dict.fromkeys(range(1, 15), (9, 6, 4, 21))
    with pytest.raises(InvalidInput) as refused:
        eh.audit_counts(counts, by="r", metrics="acc", group_names={"r": {1: "one", 99: "none"}})
    assert str(refused.value) == (
        "group_names of 'r' must name values that occur; '99' does not: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …"
    )
    with pytest.raises(InvalidInput) as refused:
        eh.audit_counts({"a": (9, 6, 4, 21), "b": (3, 4, 5, 6)}, metrics="acc", group_names={"group": {"A": "Ada"}})
    assert str(refused.value) == "group_names of 'group' must name values that occur; 'A' does not: a, b"


def test_a_column_may_be_called_like_a_crossing() -> None:
    counts = {(a, b, c): (3, 2, 4, 5) for a in "xy" for b in "uv" for c in "st"}
    a = eh.audit_counts(counts, by=("r", "s", "r & s"), metrics="acc")
    assert {r.by for r in a.rows} == {"r", "s", "r & s", "r × s", "r & r & s", "s & r & s"}


@pytest.mark.parametrize(("crossings", "columns"), [(1, 3), (2, 6), (3, 7), ("all", 7), (9, 7)])
def test_as_many_columns_are_crossed_as_asked(crossings: Any, columns: int) -> None:
    counts = {(a, b, c): (3, 2, 4, 5) for a in "xy" for b in "uv" for c in "st"}
    a = eh.audit_counts(counts, by=("r", "s", "t"), metrics="acc", crossings=crossings)
    assert len({r.by for r in a.rows}) == columns


def test_the_order_of_categories_orders_groups() -> None:
    frame = pd.DataFrame({"g": pd.Categorical(list("abcabc"), ["c", "a", "b", "z"], ordered=True), "p": [1, 0] * 3})
    assert eh.audit(frame, y_pred="p", groups="g").record["order"] == {"g": ["c", "a", "b"]}


# Strata


def people(seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 260
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1])})
    frame["town"] = rng.choice(["east", "west"], n)
    frame["y"] = rng.integers(0, 2, n)
    frame["p"] = np.where(rng.random(n) < np.where(frame.sex == "f", 0.55, 0.9), frame.y, 1 - frame.y)
    return frame


COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "metrics": "acc", "within": "town"}


def test_a_group_or_its_reference_may_be_missing_in_a_stratum() -> None:
    """Nobody of race A is in the west, and only women are nowhere: there is nothing to compare there."""
    frame = people()
    frame.loc[(frame.town == "west") & (frame.race == "A"), "race"] = "B"
    frame.loc[frame.index[:6], "town"] = "nowhere"
    frame.loc[frame.index[:6], "sex"] = "f"
    frame.loc[frame.index[:6], "race"] = ["A", "B", "A", "B", "C", "A"]
    a = eh.audit(frame, groups=["sex", "race"], crossings=1, reference={"sex": "rest", "race": "A"}, **COLUMNS)
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
    a = eh.audit(y_pred=[1, 0, 1, 0], groups=list("aabb"), within=list("xxyy"), positive=1)
    assert {r.verdict for r in a.rows} == {Verdict.UNDEFINED}
    assert {r.reason for r in a.rows if r.at["stratum"] == "pooled"} == {
        "no stratum has cases of both with different outcomes"
    }


@pytest.mark.parametrize("reference", ["largest", "best"])
def test_the_reference_that_the_data_choose_is_the_same_in_all_strata(reference: str) -> None:
    frame = people()
    swap = {"A": "B", "B": "A", "C": "C"}
    frame.loc[frame.town == "west", "race"] = frame.loc[frame.town == "west", "race"].map(swap)
    frame = frame.drop(frame.index[(frame.town == "west") & (frame.race == "A")][:30])
    if reference == "largest":
        chosen = frame.race.value_counts().idxmax()
        assert {frame[frame.town == town].race.value_counts().idxmax() for town in ("east", "west")} != {chosen}
    else:
        chosen = frame.groupby("race").p.mean().idxmax()
    a = eh.audit(frame, groups="race", reference=reference, favourable="positive", **COLUMNS)
    assert {r.reference.name for r in a.rows} == {chosen}


def test_strata_with_the_same_text_are_told_apart() -> None:
    a = eh.audit(y_pred=[1, 0, 1, 0], groups=list("abab"), within={"c": [1, 1, "1", "1"]}, positive=1)
    assert set(a.axes["stratum"]) == {"'1'", "1", "pooled"}
    none = eh.audit(y_pred=[1, 0, 1, 0], groups=list("abab"), within={"c": [None, None, "(missing)", "(missing)"]},
                    positive=1)  # fmt: skip
    assert set(none.axes["stratum"]) == {"(missing)", "'(missing)'", "pooled"}


def test_a_stratum_may_be_called_pooled() -> None:
    """It is not mistaken for all strata together."""
    a = eh.audit(y_pred=[1, 0, 1, 0, 1, 1], groups=list("ababab"), within={"c": ["pooled"] * 4 + ["x"] * 2},
                 positive=1)  # fmt: skip
    assert a.axes["stratum"] == ("'pooled'", "x", "pooled")
    assert len(a.rows) == 6
    assert {r.n for r in a.at(stratum="pooled").rows} == {3}
    assert {r.n for r in a.at(stratum="'pooled'").rows} == {2}


def test_strata_are_crossed_and_named() -> None:
    frame = people().assign(age=lambda d: np.arange(len(d)) % 60 + 18)
    a = eh.audit(frame, groups="sex", bins={"age": [30, 55]}, **COLUMNS | {"within": ["town", "age"]})
    assert a.axes["stratum"][:2] == ("east & below 30", "east & 30 to below 55")
    assert len(a.axes["stratum"]) == 7
    names = {"town": {"east": "the east"}, "sex": {"f": "women"}}
    named = eh.audit(frame, groups="sex", group_names=names, **COLUMNS)
    assert named.axes["stratum"] == ("the east", "west", "pooled")
    assert {r.group for r in named.rows} == {"women", "m"}


# Refusals


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"reference": "D"}, UnknownName, "no group of 'group' is called 'D'; groups: A, B, C"),
        ({"reference": {"race": "rest"}}, UnknownName, "no group column is called 'race'; known: group"),
        ({"reference": ("A", "B")}, InvalidInput, "the reference of 'group' must be a group that has cases; A & B has "
         "none"),
        ({"reference": (1, 2, 3, 4)}, InvalidInput, "counts as reference must be ConfusionMatrix(tp, fn, fp, tn); got "
         "(1, 2, 3, 4)"),
        ({"group_names": {"colour": {1: "red"}}}, UnknownName, "no group column in group_names is called 'colour'; "
         "known: group"),
        ({"group_names": {"group": {"A": "x", "B": "x"}}}, InvalidInput, "group_names of 'group' must give different "
         "names to different groups; A and B are both called 'x'"),
        ({"max_groups": 2}, TooLarge, "there are 3 groups (3 by group), more than max_groups=2; choose a coarser "
         "column or fewer crossings, cut numbers with bins=, or raise max_groups"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(settings: dict[str, Any], error: Any, sentence: str) -> None:
    with pytest.raises(error) as refused:
        eh.audit_counts(THREE, metrics="tpr", **settings)
    assert str(refused.value) == sentence


def test_one_group_has_nobody_to_be_compared_with() -> None:
    with pytest.raises(InvalidInput) as refused:
        eh.audit_counts({"A": (1, 2, 3, 4)})
    assert str(refused.value) == ("'group' has only one group with cases ('A'), so there is nothing to compare it with")


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"within": ["town", "sex"]}, InvalidInput, "within must not contain a group column; got 'sex'"),
        ({"reference": CM(1, 2, 3, 4)}, InvalidInput, "reference must be 'rest', 'all', 'largest', 'best' or the name "
         "of a group; a matrix has no strata"),
        ({"group_names": {"colour": {1: "red"}}}, UnknownName, "no group column in group_names is called 'colour'; "
         "known: sex, town"),
        ({"group_names": {"town": {"east": "x", "west": "x"}}}, InvalidInput, "group_names of 'town' must give "
         "different names to different groups; east and west are both called 'x'"),
        ({"max_groups": 3}, TooLarge, "there are 2 groups (2 by sex) in each of 2 strata, more than max_groups=3; "
         "choose a coarser column or fewer crossings, cut numbers with bins=, or raise max_groups"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_within_strata_is_refused(settings: dict[str, Any], error: Any, sentence: str) -> None:
    with pytest.raises(EvenhandError) as refused:
        eh.audit(people(), groups="sex", **COLUMNS | settings)
    assert (type(refused.value), str(refused.value)) == (error, sentence)


@pytest.mark.parametrize(("reference", "words"), [
    ("best", "'best' takes predictions of two classes"),
    (CM(1, 2, 3, 4), "a ConfusionMatrix is of two classes and has no rows"),
])  # fmt: skip
def test_averages_over_classes_have_no_reference_of_two_classes(reference: Any, words: str) -> None:
    data = {"g": list("aabb"), "y": list("xyzx"), "p": list("xyzz")}
    with pytest.raises(InvalidInput) as refused:
        eh.audit(data, y_true="y", y_pred="p", groups="g", classes="all", reference=reference, favourable="positive")
    assert str(refused.value) == f"reference must be 'rest', 'all', 'largest' or the name of a group; {words}"
