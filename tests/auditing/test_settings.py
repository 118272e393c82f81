"""Settings: each is written once, checked before any work is done, changes the audit, and is recorded."""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from audit_oracle import Cells
from pytest import approx

import evenhand as eh
from evenhand.auditing import AVERAGES, METRICS, Audit, Settings, settings_of
from evenhand.errors import EvenhandError, InvalidInput, TooLarge

TWO_COLUMNS: dict[tuple[str, str], Cells] = {
    ("a", "x"): (40, 10, 12, 48),
    ("b", "x"): (20, 20, 5, 60),
    ("c", "x"): (0, 0, 3, 4),
    ("a", "y"): (35, 20, 30, 28),
    ("b", "y"): (9, 8, 2, 31),
    ("tiny", "y"): (1, 0, 1, 0),
}
CHANGES: dict[str, Any] = {
    "metrics": ["tpr"],
    "reference": "all",
    "level": 0.8,
    "alpha": 0.5,
    "adjust": "bh",
    "family": "audit",
    "margin": 0.4,
    "test": "unconditional",
    "mid_p": True,
    "null": "known",
    "strength": {"prev": 7, "tpr": 20, "fpr": 20},
    "favourable": "negative",
    "impact_share": 0.0,
    "replace_undefined_by": 0.0,
    "crossings": 1,
    "group_names": {"first": {"a": "Ada"}},
    "selection": "all",
    "averages": ["acc"],
    "undefined": "omit",
    "draws": 99,
    "rng": 7,
    "protect": 4,
    "title": "T",
    "system": "S",
    "author": "A",
    "max_groups": 3,
    "cases": "patients",
    "outcome": "ill",
    "decision": ["got a test", "got no test"],
}
# What changes nothing in an audit of counts of two classes, but is recorded.
RECORDED = ("title", "system", "author", "selection", "averages", "undefined", "draws", "rng",
            "cases", "outcome", "decision")  # fmt: skip


@cache
def unchanged() -> Audit:
    return eh.audit_counts(TWO_COLUMNS, by=("first", "second"), metrics=["ppr", "tpr"], favourable="positive")


def test_every_setting_is_tested_here() -> None:
    assert set(CHANGES) == {f.name for f in fields(Settings)} == set(settings_of(Settings))


@pytest.mark.parametrize("setting", [f.name for f in fields(Settings)])
def test_every_setting_changes_the_audit(setting: str) -> None:
    settings: dict[str, Any] = {"metrics": ["ppr", "tpr"], "favourable": "positive"} | {setting: CHANGES[setting]}
    if setting in RECORDED:
        changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
        assert changed.settings[setting] == CHANGES[setting]
        assert changed.rows == unchanged().rows
        return
    if setting == "max_groups":
        with pytest.raises(TooLarge, match=r"^there are 12 groups \(.*\), more than max_groups=3; choose a coarser"):
            eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
        return
    changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
    assert (changed.rows, changed.findings) != (unchanged().rows, unchanged().findings)
    assert changed.settings[setting] != unchanged().settings[setting]


@pytest.mark.parametrize(
    ("setting", "column"),
    [
        *(("level", "score_low"), ("alpha", "verdict"), ("adjust", "p_adjusted"), ("family", "p_adjusted")),
        *(("margin", "verdict"), ("test", "pvalue"), ("mid_p", "pvalue"), ("null", "percentile")),
        *(("strength", "smoothed"), ("favourable", "impact_ratio"), ("impact_share", "impact_group")),
        *(("replace_undefined_by", "score"), ("reference", "reference_score")),
    ],
)
def test_a_setting_changes_what_it_is_about_and_scores_stay(setting: str, column: str) -> None:
    settings: dict[str, Any] = {"metrics": ["ppr", "tpr"], "favourable": "positive"} | {setting: CHANGES[setting]}
    changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)

    def by_row(a: Audit, name: str) -> dict[tuple[str, str, str], Any]:
        return {(r.by, r.group, r.metric): r.flat()[name] for r in a.rows}

    assert by_row(changed, column) != by_row(unchanged(), column)
    for same in ("n", "tp", "rests_on", "reason") + (("score",) if column != "score" else ()):
        assert by_row(changed, same) == by_row(unchanged(), same)


CLASSES = {"race": list("AAAABBBB"), "y": list("xyzxxyxy"), "p": list("xyzxxyxx")}


def test_the_settings_of_classes_change_averages() -> None:
    def averages(**settings: Any) -> dict[tuple[str, str], float | None]:
        given: dict[str, Any] = {"averages": ["macro tpr"], "draws": 99} | settings
        a = eh.audit(CLASSES, y_true="y", y_pred="p", groups="race", classes="all", metrics="tpr", **given)
        return {(r.metric, r.group): r.score.value for r in a.rows if not r.at}

    assert averages() == {("macro tpr", "A"): 1.0, ("macro tpr", "B"): None}
    assert averages(undefined="omit") == {("macro tpr", "A"): 1.0, ("macro tpr", "B"): approx(0.75)}
    assert set(averages(averages="acc")) == {("acc", "A"), ("acc", "B")}
    assert averages(averages=()) == {}


def test_draws_and_rng_change_drawn_p_values_only() -> None:
    rng = np.random.default_rng(5)
    data = {"g": np.repeat(["a", "b"], 20), "y": rng.integers(0, 2, 40), "p": rng.integers(0, 2, 40)}
    data["p"][:4] = data["y"][:4]

    def distance(y_true: Any, y_pred: Any) -> float:
        return float(np.abs(y_true - y_pred).mean())

    def p(**settings: Any) -> float:
        a = eh.audit(data, y_true="y", y_pred="p", groups="g", metrics=distance, **{"draws": 49} | settings)
        found = a.rows[0].test.pvalue
        assert found is not None
        return found

    assert p() * 50 == approx(round(p() * 50), abs=1e-9)
    assert p(draws=99) * 100 == approx(round(p(draws=99) * 100), abs=1e-9)
    assert len({p(rng=seed) for seed in range(8)}) > 1
    assert p(rng=3) == p(rng=3)


def test_defaults_are_recorded() -> None:
    defaults = {f.name: f.default for f in fields(Settings)}
    recorded = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}).settings
    special: dict[str, Any] = {"metrics": list(METRICS), "group_names": {},
                               "averages": list(AVERAGES)}  # fmt: skip
    assert {k: v for k, v in recorded.items() if k in defaults} == defaults | special
    assert set(recorded) - set(defaults) == {"groups", "within", "labelled"}


@pytest.mark.parametrize("settings", [
    *({what: value} for what in ("level", "alpha", "margin") for value in (None, "x", [0.9], True, 10**400, math.nan)),
])  # fmt: skip
def test_numbers_of_a_wrong_type_are_refused_in_a_sentence(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as found:
        Settings(**settings)
    (name,) = settings
    assert str(found.value).startswith(f"{name} must be a number ")


SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({"adjust": "sidak"}, "no adjust is called 'sidak'; known: holm, bh, none"),
    ({"family": "all"}, "no family is called 'all'; known: metric, audit"),
    ({"test": "barnard"}, "no test is called 'barnard'; known: unconditional, fisher"),
    ({"null": "poled"}, "no null is called 'poled'; did you mean 'pooled'?"),
    ({"favourable": "no"}, "no favourable is called 'no'; known: positive, negative"),
    ({"selection": "some"}, "no selection is called 'some'; known: labelled, all"),
    ({"undefined": "drop"}, "no undefined is called 'drop'; known: propagate, omit"),
    ({"level": 2}, "level must be a number between 0 and 1; got 2"),
    ({"alpha": True}, "alpha must be a number between 0 and 1; got True"),
    ({"margin": 0}, "margin must be a number above 0; got 0"),
    ({"margin": math.inf}, "margin must be a number above 0; got inf"),
    ({"impact_share": 1}, "impact_share must be a number from 0 to below 1; got 1"),
    ({"impact_share": None}, "impact_share must be a number from 0 to below 1; got None"),
    ({"replace_undefined_by": math.nan}, "replace_undefined_by must be a finite number; got nan"),
    ({"replace_undefined_by": 10**400}, "replace_undefined_by must be a finite number; got "),
    ({"max_groups": 0}, "max_groups must be a whole number above 0; got 0"),
    ({"max_groups": None}, "max_groups must be a whole number above 0; got None"),
    ({"max_groups": math.nan}, "max_groups must be a whole number above 0; got nan"),
    ({"max_groups": math.inf}, "max_groups must be a whole number above 0; got inf"),
    ({"crossings": 0}, "crossings must be 1, 2, 3, … or 'all'; got 0"),
    ({"crossings": True}, "crossings must be 1, 2, 3, … or 'all'; got True"),
    ({"draws": 0}, "draws must be a whole number above 0; got 0"),
    ({"rng": -1}, "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
    ({"title": 5}, "title must be text; got 5"),
    ({"cases": 5}, "cases must be text; got 5"),
    ({"cases": " "}, "cases must be a noun; got ' '"),
    *(
        (
            {what: wrong},
            f"{what} must be what follows “were”, or a pair of clauses for positive and negative; got {got}",
        )
        for what in ("outcome", "decision")
        for wrong, got in [("", "''"), (" ", "' '"), (5, "5"), (["one"], "['one']"), ([], "[]"),
                           (["a", ""], "['a', '']"), (["a", 5], "['a', 5]"),
                           (("a", "b", "c"), "('a', 'b', 'c')"), ({"a": "b"}, "{'a': 'b'}")]
    ),
    *(
        ({what: f"{verb} held"}, f"{what} must be what follows “were”, as 'held'; got '{verb} held'")
        for what in ("outcome", "decision")
        for verb in ("was", "were", "is", "are", "Was")
    ),
    ({"strength": 10**400}, "strength must be a number of cases from 0 to 1e9"),
    ({"strength": np.ones(2)}, "strength must be a number of cases from 0 to 1e9"),
    ({"group_names": {"race": "White"}}, "group_names must map group columns to the names of their values, as "
     "{'race': {1: 'White'}}; got {'race': 'White'}"),
    ({"group_names": {"race": {1: ""}}}, "the name of 1 in group_names of 'race' must be text; got ''"),
    ({"group_names": {"race": {1: "a", "1": "b"}}}, "group_names of 'race' must name each value once; got "
     "{1: 'a', '1': 'b'}"),
    ({"reference": None}, "reference must be 'rest', 'all', 'largest', 'best', a group, a ConfusionMatrix, or a "
     "mapping of column to one of these; got None"),
    *(({what: np.array([1, 2])}, f"no {what} is called ") for what in ("adjust", "family", "test", "null")),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "sentence"), SENTENCES)
def test_settings_are_checked_before_any_work_is_done(settings: dict[str, Any], sentence: str) -> None:
    """Whatever the data are."""
    calls: list[Any] = [lambda **s: eh.audit_counts("no such file.csv", **s), lambda **s: eh.audit(None, **s)]
    for call in calls:
        with pytest.raises(EvenhandError) as found:
            call(**settings)
        assert str(found.value).startswith(sentence)


def test_the_text_of_a_setting_is_complete() -> None:
    """What documentation, command and page read: a type, a meaning, and an option with a few words."""
    documented = inspect.getdoc(Settings) or ""
    for name, (field, known) in settings_of(Settings).items():
        assert field.name == name
        assert re.search(rf"^(?:\w+, )*{name}(?:, \w+)* : \S.*\n    [A-Z]", documented, re.M), name
        assert known.option is not None and known.option.startswith("--") and known.brief
        assert not known.named or set(known.named) >= set(known.choices)
    options = [known.option for _, known in settings_of(Settings).values()]
    assert len(set(options)) == len(options)


def test_a_generator_is_not_recorded() -> None:
    counts = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}
    each: list[tuple[Any, int | None]] = [(3, 3), (np.int64(3), 3), (None, None), (np.random.default_rng(1), None)]
    for given, recorded in each:
        assert eh.audit_counts(counts, metrics="tpr", rng=given).settings["rng"] == recorded
