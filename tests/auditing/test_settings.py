"""Settings: each is written once, checked before any work is done, changes the audit, and is recorded."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from audit_oracle import Cells
from oracle import refusal
from pytest import approx

import evenhand as eh
from evenhand.auditing import METRICS, Audit, AuditRequest, CountsRequest, ModelsRequest, Settings, flat_settings
from evenhand.auditing.settings import settings_of

TWO_COLUMNS: dict[tuple[str, str], Cells] = {
    ("a", "x"): (40, 10, 12, 48),
    ("b", "x"): (20, 20, 5, 60),
    ("c", "x"): (0, 0, 3, 4),
    ("a", "y"): (35, 20, 30, 28),
    ("b", "y"): (9, 8, 2, 31),
    ("tiny", "y"): (1, 0, 1, 0),
}
# Another value of each setting, and the column of the results that it changes.
CHANGES: dict[str, tuple[Any, str]] = {
    "metrics": (["tpr", "acc"], ""),
    "reference": ("all", "reference_score"),
    "confidence_level": (0.8, "low"),
    "alpha": (0.5, "verdict"),
    "adjust": ("bh", "p_adjusted"),
    "family": ("audit", "p_adjusted"),
    "margin": (0.4, "verdict"),
    "strength": ({"prev": 7, "tpr": 20, "fpr": 20}, "smoothed"),
    "favourable": ("negative", "impact_ratio"),
    "intersections": (1, ""),
    "group_names": ({"first": {"a": "Ada"}}, ""),
    "protect": (4, ""),
    "wording": ({"cases": "patients", "outcome": "ill", "decision": ["got a test", "got no test"]}, ""),
}


def test_every_setting_changes_what_it_is_about_and_scores_stay() -> None:
    assert {*CHANGES, "rng"} == {f.name for f in fields(Settings)} == set(settings_of(Settings))

    def make(**settings: Any) -> Audit:
        given: dict[str, Any] = {"metrics": ["ppr", "tpr"], "favourable": "positive"}
        return eh.audit_counts(TWO_COLUMNS, by=("first", "second"), **given | settings)

    def by_row(a: Audit, name: str) -> dict[tuple[str, str, str], Any]:
        return {(r.by, r.group, r.metric): r.to_dict()[name] for r in a.rows}

    plain = make()
    for setting, (value, column) in CHANGES.items():
        changed = make(**{setting: value})
        assert changed.settings[setting] == value != plain.settings[setting]
        assert (changed.rows, changed.findings, str(changed)) != (plain.rows, plain.findings, str(plain))
        if column:
            assert by_row(changed, column) != by_row(plain, column), setting
            for same in ("n", "tp", "support", "reason", "score"):
                assert by_row(changed, same) == by_row(plain, same)


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


CLAUSES = "what follows “were”, or a pair of clauses for positive and negative"
VERBS = [f"{verb} held" for verb in ("was", "were", "is", "are", "Was")]
SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({"adjust": "sidak"}, "adjust must be 'holm', 'bh' or 'none'; got 'sidak'"),
    ({"family": "all"}, "family must be 'metric' or 'audit'; got 'all'"),
    ({"favourable": "no"}, "favourable must be 'positive' or 'negative'; got 'no'"),
    *(({what: np.array([1, 2])}, f"{what} must be '") for what in ("adjust", "family")),
    ({"confidence_level": 2}, "confidence_level must be a number between 0 and 1; got 2"),
    *(({"margin": wrong}, f"margin must be a number above 0; got {wrong}") for wrong in (0, math.inf)),
    *(
        ({name: wrong}, f"{name} must be a number ")
        for name in ("confidence_level", "alpha", "margin")
        for wrong in (None, "x", [0.9], True, 10**400, math.nan)
    ),
    *(({"intersections": x}, f"intersections must be 1, 2, 3, … or 'all'; got {x}") for x in (0, True, pd.NA)),
    ({"intersections": np.array([1, 2])}, "intersections must be 1, 2, 3, … or 'all'; got array([1, 2])"),
    *(({name: Fraction(1, 10**400)}, f"{name} must be a number ") for name in ("alpha", "margin")),
    ({"wording": "defendants"}, "wording must map 'cases', 'outcome' and 'decision' to words; got 'defendants'"),
    ({"wording": {"case": "x"}}, "no part of wording is called 'case'; did you mean 'cases'?"),
    *(({"wording": {"cases": x}}, f"wording['cases'] must be a noun; got {x!r}") for x in (5, " ")),
    *(
        ({"wording": {what: wrong}}, f"wording['{what}'] must be {CLAUSES}; got {wrong!r}")
        for what in ("outcome", "decision")
        for wrong in ("", " ", 5, ["one"], [], ["a", ""], ["a", 5], ("a", "b", "c"), {"a": "b"}, *VERBS)
    ),
    *(({"strength": x}, "strength must be 0 or a number of cases from 1e-9 to 1e9")
      for x in (10**400, np.ones(2), np.timedelta64("NaT"), {"prev": np.timedelta64("NaT"), "tpr": 1, "fpr": 1})),
    *(({"protect": np.timedelta64(x)}, "protect must be 'cms', 'opensafely', 'ons' or a whole ") for x in (5, "NaT")),
    *(
        ({"group_names": x}, f"group_names must map group columns to the names of their values, as {{'race': {{1: "
         f"'White'}}}}; got {x}")
        for x in ({"race": "White"}, {"race": {1: ""}}, 5, pd.NA)
    ),
    ({"group_names": {"race": {1: "a", "1": "b"}}}, "group_names must name each value once; got {1: 'a', '1': 'b'}"),
    ({"reference": None}, "reference must be 'rest', 'all', 'largest', 'best', a group, a matrix, or map columns to "
     "these; got None"),
    ({"rng": -1}, "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
]  # fmt: skip


def test_settings_are_checked_before_any_work_is_done() -> None:
    """Whatever the data are."""
    calls: list[Any] = [Settings, lambda **s: eh.audit(None, **s)]
    for settings, sentence in SENTENCES:
        without_seed: list[Any] = [] if "rng" in settings else [lambda **s: eh.audit_counts("no such file.csv", **s)]
        for call in calls + without_seed:
            assert refusal(call, **settings).partition(": ")[2].startswith(sentence), settings


def test_flags_are_true_or_false() -> None:
    for wrong in (pd.NA, np.array([1, 0]), "no", None, 1):
        for call in (eh.audit, eh.audit_counts):
            assert refusal(call, None, merge_variants=wrong) == (
                f"InvalidInput: merge_variants must be True or False; got {wrong!r}"
            )
    assert AuditRequest(merge_variants=np.bool_(True)).merge_variants  # type: ignore[arg-type]


def test_numbers_of_any_type_are_settings() -> None:
    """A Fraction is no float to NumPy, and 1e300 is beyond float32, which warned."""
    table = {"g": list("ab") * 40, "y": [1, 1, 0, 0] * 20, "p": [1, 0, 0, 1, 1] * 16}
    given: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g"}
    for name, fraction in (
        ("alpha", Fraction(1, 20)),
        ("confidence_level", Fraction(9, 10)),
        ("margin", Fraction(1, 8)),
    ):
        expected = eh.audit(table, **given | {name: float(fraction)})
        numbers: list[Any] = [fraction, np.float32(fraction), np.longdouble(float(fraction))]
        for number in numbers:
            found = eh.audit(table, **given | {name: number})
            assert (found.rows, found.settings) == (expected.rows, expected.settings), (name, number)


def test_the_description_of_a_setting_is_complete() -> None:
    """What documentation, command and page read: a type, a meaning, a label, and an option with a few words."""
    for request in (AuditRequest, CountsRequest, ModelsRequest):
        for name, (_, known) in settings_of(request).items():
            assert re.match(rf"{name} : \S.*\n    [A-Z]", known.text), name
            assert known.brief.endswith(".") and "`" not in known.brief and len(known.brief) < 200, name
            assert known.parts or name == "by" or (known.option or "").startswith("--")
            assert known.page is None or known.brief.startswith(known.page)
            assert not known.named or set(known.named) >= set(known.choices)
        options = [known.option for _, known in flat_settings(request).values() if known.option]
        assert len(set(options)) == len(options)
    models = flat_settings(ModelsRequest)
    assert models["y_pred"][1].brief == "Column of predictions; with --model-column."
    assert models["positive"][1].brief == "Counts as positive: these labels, if they are ambiguous; may be repeated."
    assert (models["positive"][1].page, models["adjust"][1].choices) == ("Counts as positive", ("holm", "bh", "none"))
    reads = {name: flat_settings(AuditRequest)[name][1].reads for name in ("alpha", "rng", "merge_variants", "y_true")}
    assert list(reads.values()) == ["number", "whole", "flag", "text"]


def test_a_generator_is_not_recorded() -> None:
    each: list[tuple[Any, int | None]] = [(3, 3), (np.int64(3), 3), (None, None), (np.random.default_rng(1), None)]
    for given, recorded in each:
        assert Settings(rng=given).recorded()["rng"] == recorded


def test_draws_grow_with_the_tests_that_share_the_level() -> None:
    draws = [Settings(alpha=alpha).draws_for(m) for alpha, m in ((0.05, 25), (0.05, 26), (0.001, 1))]
    assert draws == [10_000, 10_400, 20_000]
