"""Settings: each is written once, checked before any work is done, changes the audit, and is recorded."""

from __future__ import annotations

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
from evenhand.auditing import METRICS, Audit, AuditRequest, CountsRequest, ModelsRequest, Settings, flat_settings
from evenhand.auditing.settings import documentation_of, settings_of
from evenhand.errors import EvenhandError, InvalidInput

TWO_COLUMNS: dict[tuple[str, str], Cells] = {
    ("a", "x"): (40, 10, 12, 48),
    ("b", "x"): (20, 20, 5, 60),
    ("c", "x"): (0, 0, 3, 4),
    ("a", "y"): (35, 20, 30, 28),
    ("b", "y"): (9, 8, 2, 31),
    ("tiny", "y"): (1, 0, 1, 0),
}
CHANGES: dict[str, Any] = {
    "metrics": ["tpr", "acc"],
    "reference": "all",
    "confidence_level": 0.8,
    "alpha": 0.5,
    "adjust": "bh",
    "family": "audit",
    "margin": 0.4,
    "strength": {"prev": 7, "tpr": 20, "fpr": 20},
    "favourable": "negative",
    "intersections": 1,
    "group_names": {"first": {"a": "Ada"}},
    "protect": 4,
    "wording": {"cases": "patients", "outcome": "ill", "decision": ["got a test", "got no test"]},
}


@cache
def unchanged() -> Audit:
    return eh.audit_counts(TWO_COLUMNS, by=("first", "second"), metrics=["ppr", "tpr"], favourable="positive")


def test_every_setting_changes_what_it_is_about_and_scores_stay() -> None:
    assert {*CHANGES, "rng"} == {f.name for f in fields(Settings)} == set(settings_of(Settings))
    columns = {"confidence_level": "low", "alpha": "verdict", "adjust": "p_adjusted", "family": "p_adjusted"}
    columns |= {"margin": "verdict", "strength": "smoothed", "favourable": "impact_ratio"}
    columns |= {"reference": "reference_score"}

    def by_row(a: Audit, name: str) -> dict[tuple[str, str, str], Any]:
        return {(r.by, r.group, r.metric): r.to_dict()[name] for r in a.rows}

    for setting, value in CHANGES.items():
        settings: dict[str, Any] = {"metrics": ["ppr", "tpr"], "favourable": "positive"} | {setting: value}
        changed = eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **settings)
        assert changed.settings[setting] == value != unchanged().settings[setting]
        assert (changed.rows, changed.findings, str(changed)) != (
            unchanged().rows,
            unchanged().findings,
            str(unchanged()),
        )
        if column := columns.get(setting):
            assert by_row(changed, column) != by_row(unchanged(), column), setting
            for same in ("n", "tp", "support", "reason", "score"):
                assert by_row(changed, same) == by_row(unchanged(), same)


def test_the_seed_changes_drawn_p_values_only() -> None:
    rng = np.random.default_rng(5)
    data = {"g": np.repeat(["a", "b"], 20), "y": rng.integers(0, 2, 40), "p": rng.integers(0, 2, 40)}
    data["p"][:4] = data["y"][:4]

    def p(**settings: Any) -> float:
        metric = ("distance", lambda y_true, y_pred: float(np.abs(y_true - y_pred).mean()))
        return float(eh.audit(data, y_true="y", y_pred="p", groups="g", metrics=[metric], **settings).rows[0].pvalue)

    assert p() * 10_000 == approx(round(p() * 10_000), abs=1e-6)
    assert len({p(rng=seed) for seed in range(8)}) > 1
    assert p(rng=3) == p(rng=3)


def test_defaults_are_recorded() -> None:
    defaults = {f.name: f.default for f in fields(Settings)}
    recorded = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}).settings
    special: dict[str, Any] = {"metrics": list(METRICS), "group_names": {}, "wording": {}}
    assert {k: v for k, v in recorded.items() if k in defaults} == defaults | special
    assert set(recorded) - set(defaults) == {"groups", "strata", "labelled"}


def test_numbers_of_a_wrong_type_are_refused_in_a_sentence() -> None:
    for name in ("confidence_level", "alpha", "margin"):
        for value in (None, "x", [0.9], True, 10**400, math.nan):
            settings: dict[str, Any] = {name: value}
            with pytest.raises(InvalidInput, match=f"^{name} must be a number "):
                Settings(**settings)


SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({"adjust": "sidak"}, "adjust must be 'holm', 'bh' or 'none'; got 'sidak'"),
    ({"family": "all"}, "family must be 'metric' or 'audit'; got 'all'"),
    ({"favourable": "no"}, "favourable must be 'positive' or 'negative'; got 'no'"),
    ({"confidence_level": 2}, "confidence_level must be a number between 0 and 1; got 2"),
    ({"alpha": True}, "alpha must be a number between 0 and 1; got True"),
    ({"margin": 0}, "margin must be a number above 0; got 0"),
    ({"margin": math.inf}, "margin must be a number above 0; got inf"),
    ({"intersections": 0}, "intersections must be 1, 2, 3, … or 'all'; got 0"),
    ({"intersections": True}, "intersections must be 1, 2, 3, … or 'all'; got True"),
    ({"wording": "defendants"}, "wording must map 'cases', 'outcome' and 'decision' to words; got 'defendants'"),
    ({"wording": {"case": "x"}}, "no part of wording is called 'case'; did you mean 'cases'?"),
    ({"wording": {"cases": 5}}, "wording['cases'] must be a noun; got 5"),
    ({"wording": {"cases": " "}}, "wording['cases'] must be a noun; got ' '"),
    *(
        (
            {"wording": {what: wrong}},
            f"wording['{what}'] must be what follows “were”, or a pair of clauses for positive and negative; got {got}",
        )
        for what in ("outcome", "decision")
        for wrong, got in [("", "''"), (" ", "' '"), (5, "5"), (["one"], "['one']"), ([], "[]"),
                           (["a", ""], "['a', '']"), (["a", 5], "['a', 5]"),
                           (("a", "b", "c"), "('a', 'b', 'c')"), ({"a": "b"}, "{'a': 'b'}")]
    ),
    *(
        ({"wording": {what: f"{verb} held"}},
         f"wording['{what}'] must be what follows “were”, as 'held'; got '{verb} held'")
        for what in ("outcome", "decision")
        for verb in ("was", "were", "is", "are", "Was")
    ),
    ({"strength": 10**400}, "strength must be 0 or a number of cases from 1e-9 to 1e9"),
    ({"strength": np.ones(2)}, "strength must be 0 or a number of cases from 1e-9 to 1e9"),
    ({"group_names": {"race": "White"}}, "group_names must map group columns to the names of their values, as "
     "{'race': {1: 'White'}}; got {'race': 'White'}"),
    ({"group_names": {"race": {1: ""}}}, "the name of 1 in group_names of 'race' must be text; got ''"),
    ({"group_names": {"race": {1: "a", "1": "b"}}}, "group_names of 'race' must name each value once; got "
     "{1: 'a', '1': 'b'}"),
    ({"reference": None}, "reference must be 'rest', 'all', 'largest', 'best', a group, a ConfusionMatrix, or a "
     "mapping of column to one of these; got None"),
    *(({what: np.array([1, 2])}, f"{what} must be '") for what in ("adjust", "family")),
]  # fmt: skip


def test_settings_are_checked_before_any_work_is_done() -> None:
    """Whatever the data are."""
    for settings, sentence in SENTENCES:
        calls: list[Any] = [lambda **s: eh.audit_counts("no such file.csv", **s), lambda **s: eh.audit(None, **s)]
        for call in calls:
            with pytest.raises(EvenhandError) as found:
                call(**settings)
            assert str(found.value).startswith(sentence)


def test_the_description_of_a_setting_is_complete() -> None:
    """What documentation, command and page read: a type, a meaning, and an option with a few words."""
    for request in (AuditRequest, CountsRequest, ModelsRequest):
        for name, (field, known) in settings_of(request).items():
            assert field.name == name
            assert re.match(rf"{name} : \S.*\n    [A-Z]", documentation_of(request)[name]), name
            assert known.brief.endswith((".", "]")) and "`" not in known.brief and len(known.brief) < 200, name
            assert known.parts or name == "by" or (known.option or "").startswith("--")
            assert not known.named or set(known.named) >= set(known.choices)
        options = [known.option for _, known in flat_settings(request).values() if known.option]
        assert len(set(options)) == len(options)
    brief = {name: known.brief for name, (_, known) in flat_settings(ModelsRequest).items()}
    assert brief["y_pred"] == "With --model-column, the predictions."
    assert brief["positive"] == "The positive labels, if they are ambiguous; may be repeated."


def test_a_generator_is_not_recorded() -> None:
    each: list[tuple[Any, int | None]] = [(3, 3), (np.int64(3), 3), (None, None), (np.random.default_rng(1), None)]
    for given, recorded in each:
        assert Settings(rng=given).recorded()["rng"] == recorded
    with pytest.raises(InvalidInput, match=r"^rng must be a whole number of at least 0, a numpy.random.Generator or N"):
        Settings(rng=-1)


def test_draws_grow_with_the_tests_that_share_the_level() -> None:
    assert [Settings(alpha=alpha).draws_for(m) for alpha, m in ((0.05, 25), (0.05, 26), (0.001, 1))] == [
        10_000, 10_400, 20_000,
    ]  # fmt: skip
