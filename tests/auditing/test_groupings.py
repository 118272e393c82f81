"""Groups, strata and their names: never merged, told apart, crossed and ordered."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from audit_oracle import row

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.errors import EvenhandError, InvalidInput, TooLarge

A, B, C = (9, 6, 4, 21), (30, 10, 12, 48), (20, 20, 5, 60)
ANSWERS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "metrics": "acc"}


def names(a: Audit, by: str | None = None) -> set[str]:
    return {r.group for r in a.rows if by in (None, r.by)}


def test_a_group_may_be_called_anything() -> None:
    for name in ("rest", "all", "reference", "undefined", "(missing)", "", "None", "nan"):
        counts = {name: B, "A": A, "C": C}
        a, other = (eh.audit_counts(counts, metrics=["tpr"], reference=reference) for reference in (name, "A"))
        assert {r.group: r.reference_kind for r in a.rows} == dict.fromkeys(counts, "group")
        assert row(a, name).verdict is Verdict.REFERENCE and row(a, "A").reference_n == 100
        assert Audit.from_json(a.to_json()) == a
        assert row(other, name).score == 0.75 and row(other, name).verdict is not Verdict.UNDEFINED
        assert "missing-group" not in {f.kind for f in other.findings}


class Same:
    """Different values that are written alike."""

    def __repr__(self) -> str:
        return "same"


def test_groups_whose_names_look_alike_stay_apart() -> None:
    cases: tuple[list[Any], ...] = ([1, "1", "'1'"], ["'1'", "1", 1], ["(missing)", "'(missing)'", "missing"])
    for groups in (*cases, [1.5, "1.5", "'1.5'", "\"'1.5'\""], [Same(), Same(), "same"]):
        matrices = {group: (10, 10, 10, 10 + i) for i, group in enumerate(groups)}
        a = eh.audit_counts(matrices, metrics="tpr")
        assert sorted(r.n for r in a.rows) == sorted(map(sum, matrices.values()))
        assert len(names(a)) == len(groups)


def test_intersections_of_names_that_look_alike_stay_apart() -> None:
    counts = {("a & b", "c"): A, ("a", "b & c"): (5, 5, 5, 5), ("a", "x"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc")
    crossed = {r.group: r.n for r in a.rows if r.by == "r & s"}
    assert crossed == {"('a & b', 'c')": 40, "('a', 'b & c')": 20, "a & x": 18}
    three = {("a & b", "c"): (1, 1, 1, 1), ("a", "b & c"): (2, 2, 2, 2), ("('a'", "b & c"): (3, 3, 3, 3)}
    both = {r.group: r.n for r in eh.audit_counts(three, by=("g", "h"), metrics="acc").rows if r.by == "g & h"}
    assert sorted(both.values()) == [4, 8, 12]


KINDS: dict[str, dict[str, Any]] = {
    "two classes": ANSWERS,
    "selections": {"y_pred": "p"},
    "thresholds": {"y_true": "y", "y_score": "s", "threshold": [0.3, 0.6], "metrics": "acc"},
    "scores": {"y_true": "y", "y_score": "s", "metrics": "auc"},
    "functions": {**ANSWERS, "metrics": [("right", lambda y, p: (y == p).mean())]},
    "classes": {"y_true": "k", "y_pred": "j", "classes": "all", "metrics": "acc"},
    "strata": {**ANSWERS, "strata": "t"},
    "weights": {**ANSWERS, "sample_weight": "w"},
    "models": {"y_true": "y", "models": {"old": "p", "new": "q"}, "metrics": "acc"},
}


def test_groups_are_never_merged_whatever_is_audited() -> None:
    data: dict[str, list[Any]] = {
        "y": [1, 0, 1, 0] * 6, "p": [1, 1, 0, 0, 1, 0] * 4, "q": [1, 0, 0, 1, 1, 1] * 4,
        "s": [round(0.04 * i, 2) for i in range(24)], "k": list("xyzz") * 6, "j": list("xyzzyx") * 4,
        "t": ["e", "w", "w", "e"] * 6, "w": [1.0] * 24,
    }  # fmt: skip
    pairs: list[tuple[Any, str, str, str]] = [
        ("missing", "(missing)", "missing", "(missing)"), (1, "1", "1", "'1'"), (1.5, "1.5", "1.5", "'1.5'"),
    ]  # fmt: skip
    for kind, (first, second, *expected) in product(KINDS, pairs):
        audit = eh.compare if kind == "models" else eh.audit
        sizes: dict[Any, dict[str, int]] = {}
        for r in audit(data | {"g": [first, second, second] * 8}, groups="g", **KINDS[kind]).rows:
            if r.by == "g" and r.at.get("stratum", "pooled") == "pooled":
                sizes.setdefault((r.metric, tuple(r.at.items())), {})[r.group] = r.n
        for of_place in sizes.values():
            assert of_place == dict(zip(expected, (8, 16), strict=True)), kind


def test_a_group_that_is_called_missing_is_none_that_is_unknown() -> None:
    data = {"g": [None, None, "(missing)", "a"] * 5, "y": [1, 0, 1, 0] * 5, "p": [1, 1, 0, 0] * 5}
    a = eh.audit(data, groups="g", **ANSWERS)
    assert {r.group: r.n for r in a.rows} == {"(missing)": 5, "a": 5}
    assert a.unknown == {"g": 10}
    (missing,) = [f for f in a.findings if f.kind == "missing-group"]
    assert missing.sentence.startswith("10 cases have no known g")


def test_groups_are_called_by_their_given_names() -> None:
    counts = {(1, "x"): A, (2, "x"): B, (3, "y"): C}
    given: Any = {"r": {1: "one", 3: "nobody"}, "s": {"x": "ex"}}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc", group_names=given)
    assert names(a, "r") == {"one", "r 2", "nobody"}
    assert names(a, "r & s") == {"one & ex", "r 2 & ex", "nobody & y"}
    crossed: list[Any] = [{"r & s": spelled} for spelled in ("one & ex", (1, "x"), ("one", "ex"), "1 & x")]
    for reference in ({"r": "one"}, {"r": 1}, {"r": "1"}, *crossed):
        named = eh.audit_counts(counts, by=("r", "s"), metrics="acc", group_names=given, reference=reference)
        (by,) = reference
        assert {r.reference for r in named.rows if r.by == by} == {"one" if by == "r" else "one & ex"}
    for code, value in product((1, 1.0, "1", "1.0"), repeat=2):
        a = eh.audit_counts({value: A, "other": B}, by="SEX", metrics="acc", group_names={"SEX": {code: "men"}})
        assert names(a) == {"men", "other"}


def test_a_code_is_called_with_its_column() -> None:
    """Census codes: "2" alone says nothing; a whole number has no decimals, however the file writes it."""
    for sex, school in (((1, 2), (16, 21)), ((1.0, 2.0), (16.0, 21.0)), (("1", "2"), ("16.0", "21.00"))):
        counts = {(a, b): A for a in sex for b in school}
        a = eh.audit_counts(counts, by=("SEX", "SCHL"), metrics="acc")
        assert names(a, "SEX") == {"SEX 1", "SEX 2"} and names(a, "SCHL") == {"SCHL 16", "SCHL 21"}
        assert names(a, "SEX & SCHL") == {f"SEX {i} & SCHL {j}" for i in (1, 2) for j in (16, 21)}
    for values in ((True, False), ("yes", "no"), (-1, 0.5), ("18-25", "1e5")):
        expected = {value if isinstance(value, str) else f"old {value}" for value in values}
        assert names(eh.audit_counts(dict.fromkeys(values, A), by="old", metrics="acc")) == expected
    for reference in (1, "1", "SEX 1", 1.0):
        a = eh.audit_counts({1: A, 2: B}, by="SEX", metrics="acc", reference={"SEX": reference})
        assert {r.reference for r in a.rows} == {"SEX 1"}


def test_columns_are_crossed_as_asked_and_may_be_called_like_a_crossing() -> None:
    counts = {(a, b, c): (3, 2, 4, 5) for a in "xy" for b in "uv" for c in "st"}
    crossings: Any = {1: 3, 2: 6, 3: 7, "all": 7, 9: 7}
    for widest, columns in crossings.items():
        a = eh.audit_counts(counts, by=("r", "s", "t"), metrics="acc", intersections=widest)
        assert len({r.by for r in a.rows}) == columns
    a = eh.audit_counts(counts, by=("r", "s", "r & s"), metrics="acc")
    assert {r.by for r in a.rows} == {"r", "s", "r & s", "r × s", "r & r & s", "s & r & s"}


def test_strata_that_look_alike_or_are_called_pooled_stay_apart() -> None:
    parts: list[tuple[list[Any], set[str]]] = [
        ([1, 1, "1", "1"], {"'1'", "1", "pooled"}),
        ([None, None, "(missing)", "(missing)"], {"(missing)", "'(missing)'", "pooled"}),
        (["pooled", "pooled", "x", "x"], {"'pooled'", "x", "pooled"}),
    ]
    for values, expected in parts:
        a = eh.audit(y_pred=[1, 0, 1, 0], groups=list("abab"), strata={"c": values}, positive=1)
        assert set(a.axes["stratum"]) == expected
        for stratum in expected:
            assert {r.n for r in a.at(stratum=stratum).rows} == {2 if stratum == "pooled" else 1}


def test_names_that_do_not_fit_are_refused() -> None:
    many = dict.fromkeys(range(1, 15), A)
    must = "group_names of 'r' must"
    occurring = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …"
    cases: list[tuple[Any, Any, str]] = [
        (many, {"r": {1: "one", 99: "none"}}, f"{must} name values that occur; '99' does not: {occurring}"),
        ({"a": A, "b": B}, {"r": {"A": "Ada"}}, f"{must} name values that occur; 'A' does not: a, b"),
        ({"a": A, "b": B}, {"colour": {1: "red"}}, "no group column in group_names is called 'colour'; known: r"),
        ({"a": A, "b": B}, {"r": {"a": "x", "b": "x"}}, f"{must} give different names to different "
         "groups; a and b are both called 'x'"),
    ]  # fmt: skip
    for counts, given, sentence in cases:
        with pytest.raises(EvenhandError) as refused:
            eh.audit_counts(counts, by="r", metrics="acc", group_names=given)
        assert str(refused.value) == sentence
    data = {"g": list("abab"), "t": list("xxyy"), "y": [1, 0, 1, 0], "p": [1, 0, 0, 1]}
    with pytest.raises(InvalidInput, match=r"^group_names of 't' must give different names"):
        eh.audit(data, groups="g", strata="t", group_names={"t": {"x": "z", "y": "z"}}, **ANSWERS)


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.auditing.groupings.MAX_GROUPS", 2)
    with pytest.raises(TooLarge, match=r"^there are more than 2 groups, with 3 by 'group'; choose a coarser column"):
        eh.audit_counts({"A": A, "B": B, "C": C}, metrics="tpr")
