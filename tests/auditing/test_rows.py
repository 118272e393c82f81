"""A row: its parts, its columns, and what is read back."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from audit_oracle import row
from random_audits import every_row

import evenhand as eh
from evenhand.auditing import (
    COLUMNS,
    Audit,
    Gap,
    Row,
    Verdict,
    compare,
    place_text,
    shown_names,
    told_apart,
)
from evenhand.auditing.rows import Test, read_row
from evenhand.errors import EvenhandError
from evenhand.examples import compas


def test_a_row_has_at_most_22_fields() -> None:
    assert len(fields(Row)) <= 22


DATA: dict[str, Any] = {
    "race": list("AABBAABBAABB"),
    "town": list("eeeeeewwwwww"),
    "y": [1, 0] * 6,
    "s": [0.9, 0.2, 0.6, 0.7, 0.4, 0.5, 0.8, 0.1, 0.3, 0.6, 0.9, 0.2],
    "kind": list("xyzxyzxyzxyz"),
    "guess": list("xyzyyzxxzxyz"),
}
COLUMNS_OF: dict[str, Any] = {"y_true": "y", "groups": "race"}


@cache
def kinds_of_audits() -> dict[str, Audit]:
    """One audit of each kind."""
    decisions = DATA | {"p": [int(s > 0.5) for s in DATA["s"]], "q": [int(s > 0.3) for s in DATA["s"]]}
    both: dict[str, Any] = COLUMNS_OF | {"y_pred": "p"}
    return {
        "counts": eh.audit_counts(
            compas(), metrics=["tpr", "ppr", "lr_plus", "disparate_impact"], favourable="positive"
        ),
        "strengths": eh.audit_counts(compas(), metrics="tpr", strength={"prev": 7, "tpr": 20, "fpr": 20}),
        "matrix": eh.audit_counts(compas(), metrics="tpr", reference=eh.ConfusionMatrix(tp=30, fn=10, fp=12, tn=48)),
        "thresholds": eh.audit(DATA, **COLUMNS_OF, y_score="s", threshold=[0.3, 0.6], metrics=["tpr", "auc"]),
        "strata": eh.audit(decisions, **both, strata="town", metrics=["acc", "mcc"]),
        "classes": eh.audit(DATA, y_true="kind", y_pred="guess", groups="race", classes="all"),
        "function": eh.audit(decisions, **both, metrics=[("agreement", lambda y, p: float((y == p).mean()))]),
        "sample_weight": eh.audit(decisions | {"w": [1.0, 2.5] * 6}, **both, sample_weight="w", metrics="acc"),
        "models": compare(decisions, y_true="y", models={"old": "p", "new": "q"}, groups="race"),
    }


KINDS = (
    "counts", "strengths", "matrix", "thresholds", "strata", "classes", "function", "sample_weight", "models",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_flat_columns_are_the_axes_and_the_documented_ones(kind: str) -> None:
    """Frames and CSV files have the same columns in the same order, whatever was asked; rows are read back."""
    a = kinds_of_audits()[kind]
    for r in a.rows:
        assert tuple(r.flat()) == (*r.at, *COLUMNS)
        assert json.loads(json.dumps(r.flat(), allow_nan=False)) == r.flat()
        plain = json.loads(json.dumps(r.to_dict()))
        assert read_row(plain, "row 1", is_weighted=kind == "sample_weight") == r
    assert tuple(a.to_frame("pandas").columns) == (*a.axes, *COLUMNS)
    assert a.to_csv().splitlines()[0] == ",".join((*a.axes, *COLUMNS))
    assert len(a.to_frame("pandas")) == len(a.rows)


def test_flat_columns_are_documented_names() -> None:
    """Whoever reads a frame of an earlier version finds the same columns."""
    assert (
        *("by", "group", "metric", "verdict", "reason", "n", "tp", "fn", "fp", "tn", "rests_on"),
        *("score", "score_low", "score_high", "score_pvalue", "score_before"),
        *("reference_kind", "reference", "reference_n"),
        *("reference_tp", "reference_fn", "reference_fp", "reference_tn", "reference_score", "reference_before"),
        *("gap_kind", "gap", "gap_low", "gap_high", "difference", "ratio", "gap_at_least", "gap_at_most"),
        *("pvalue", "p_adjusted", "test", "test_asks", "pvalue_error", "percentile", "p_undefined", "needed"),
        *("smoothed", "strength", "shrinkage"),
        *("impact_ratio", "impact_low", "impact_high", "impact_at_most", "impact_group", "impact_n"),
        *("driver", "without_verdict", "without_gap", "without_low", "without_high"),
        *("unknown_n", "unknown_turns", "unknown_score_low", "unknown_score_high"),
        *("unknown_difference_low", "unknown_difference_high", "unknown_ratio_low", "unknown_ratio_high"),
        *("unknown_likely_low", "unknown_likely_high"),
        *("strata_higher", "strata_lower", "strata_silent", "crude_odds_ratio", "crude_pvalue"),
        *("effective", "correlation"),
    ) == COLUMNS


def test_flat_columns_hold_what_the_parts_hold() -> None:
    found = next(r for r in kinds_of_audits()["counts"].rows if r.driver is not None and r.impact is not None)
    flat = found.flat()
    assert found.driver is not None and found.impact is not None and found.smoothed is not None and found.cells
    assert [flat[name] for name in ("tp", "fn", "fp", "tn")] == list(found.cells)
    assert (flat["score"], flat["score_low"], flat["score_high"]) == (
        *(found.score.value, found.score.low, found.score.high),
    )
    assert (flat["gap"], flat["gap_low"], flat["gap_high"]) == (found.gap.value, found.gap.low, found.gap.high)
    assert (flat["pvalue"], flat["p_adjusted"], flat["test"]) == (
        *(found.test.pvalue, found.test.p_adjusted, found.test.method),
    )
    assert (flat["driver"], flat["without_verdict"]) == (found.driver.group, found.driver.verdict.value)
    assert (flat["impact_ratio"], flat["impact_group"]) == (found.impact.ratio, found.impact.group)
    assert (flat["smoothed"], flat["shrinkage"]) == (found.smoothed.score, found.smoothed.kept)
    assert kinds_of_audits()["strengths"].rows[0].flat()["strength"] == "prev=7, tpr=20, fpr=20"
    pooled = next(r for r in kinds_of_audits()["strata"].rows if r.strata is not None)
    assert pooled.strata is not None
    assert pooled.flat()["strata_silent"] == pooled.strata.silent


@pytest.mark.slow
def test_no_number_is_nan() -> None:
    a = eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)}, metrics=[m.key for m in eh.list_metrics()])

    def numbers(value: Any) -> list[float]:
        if isinstance(value, dict):
            return [n for part in value.values() for n in numbers(part)]
        return [value] if isinstance(value, float) else []

    found = [n for r in a.rows for n in numbers(asdict(r))]
    assert len(found) > 100
    assert all(map(math.isfinite, found))


@pytest.mark.slow
def test_bounds_of_a_gap_are_those_of_verdicts_with_a_direction() -> None:
    """They hold for the whole audit, so they are never more than the interval of the gap allows."""
    bounded = 0
    for r, s in every_row():
        if r.verdict not in (Verdict.HIGHER, Verdict.LOWER):
            assert (r.gap.at_least, r.gap.at_most, r.gap.beyond) == (None, None, 0.0)
            continue
        bounded += r.gap.at_least is not None
        assert 0 <= r.gap.beyond <= r.gap.within
        if r.gap.ends is not None and s["confidence_level"] <= 1 - s["alpha"]:
            low, high = r.gap.ends
            nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
            # Intervals of scores made of several rates are mid-p, their bounds are melded, and so wider.
            assert r.gap.beyond <= nearest + 1e-6
    assert bounded > 0


@pytest.mark.parametrize("kind", ["ratio", "odds ratio"])
def test_ratios_are_measured_on_the_scale_of_logarithms(kind: Any) -> None:
    """A ratio of 1/2 is as far from none as a ratio of 2."""
    up, down = Gap(kind=kind, low=2.0, high=4.0), Gap(kind=kind, low=0.25, high=0.5)
    assert up.ends is not None and down.ends is not None
    assert up.ends == pytest.approx((math.log(2), math.log(4))) == (-down.ends[1], -down.ends[0])
    bounded = Gap(kind=kind, at_least=2.0, at_most=4.0)
    assert (bounded.beyond, bounded.within) == pytest.approx((math.log(2), math.log(4)))
    assert (up.beyond, up.within) == (0.0, math.inf)


def test_only_the_group_lacks_its_own_score() -> None:
    a = eh.audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "equal_opportunity"])
    lacking = {(r.group, r.metric): r.lacks_own_score for r in a.rows}
    assert {place for place, lacks in lacking.items() if lacks} == {("A", "tpr"), ("A", "equal_opportunity")}


def test_a_place_is_told_in_words() -> None:
    assert place_text({}) == ""
    assert place_text({"threshold": 0.5, "stratum": "east"}) == "threshold 0.5, stratum east"
    assert place_text({"threshold": 0.1 + 0.2}) == "threshold 0.3"
    assert place_text({"threshold": 0.300000000001}) == "threshold 0.300000000001"
    assert place_text({"model": "new", "against": "old"}) == "model new, against old"


def test_groups_of_the_same_name_are_told_apart_by_their_column() -> None:
    counts = {("x", "x"): (9, 6, 4, 21), ("y", "x"): (5, 5, 5, 5), ("y", "z"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc", intersections=1)
    assert told_apart(a.rows) == {("r", "x"): "r: x", ("s", "x"): "s: x", ("r", "y"): "y", ("s", "z"): "z"}
    assert set(shown_names(a.rows).values()) == {"x", "y", "z"}


def test_rows_and_their_parts_speak_in_one_line() -> None:
    a = kinds_of_audits()["thresholds"]
    found = row(a, "A", "tpr", threshold=0.3)
    assert str(found) == f"threshold 0.3, race A, tpr {found.score.value:.3f}: {found.verdict}"
    assert str(Test()) == "no test"
    hostile = replace(found, group="\x1b[2J")
    assert "\x1b" not in str(hostile)
    assert tuple(kinds_of_audits()) == KINDS
    for kind in kinds_of_audits().values():
        for r in kind.rows:
            parts = [r, r.score, r.reference, r.gap, r.test, r.smoothed, r.impact, r.driver, r.strata]
            for part in parts:
                assert "\n" not in str(part) and "nan" not in str(part)


def changed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A row of which one value is another."""
    content = eh.audit_counts({"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)}, metrics="tpr").rows[0].to_dict()
    place: Any = content
    for name in path[:-1]:
        place = place[name]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return content


def test_what_is_no_row_is_refused_in_a_sentence() -> None:
    cases: list[tuple[Any, str]] = [
        (changed(("n",), 11), "row 1 has n = 11, but its cells add up to 10"),
        (changed(("reference", "n"), 3), "row 1 has reference.n = 3, but its cells add up to 26"),
        (changed(("cells",), ["1", 2, 3, 4]), "cells of row 1 must be a whole number; got '1'"),
        (changed(("cells",), [-1, 2, 3, 4]), "cells of row 1 must not be negative; got -1"),
        (changed(("cells",), [1, 2, 3]), "cells of row 1 must have 4 values; got 3"),
        (changed(("score", "value"), True), "value of the score of row 1 must be a number; got True"),
        (changed(("score", "value"), 10**400), "value of the score of row 1 must be a number from -1e300 to 1e300; "
         "got 10000000000000000000"),
        (changed(("score",), 0.5), "score of row 1 must be a table; got 0.5"),
        (changed(("score", "mean"), 0.5), "the score of row 1 has an unknown field: 'mean'"),
        (changed(("group",), None), "group of row 1 must be text; got None"),
        (changed(("at",), None), "at of row 1 must be a table; got None"),
        (changed(("cells",), 7), "cells of row 1 must be a list; got 7"),
        (changed(("verdict",), 5), "verdict of row 1 must be text; got 5"),
        (changed(("rests_on",), 3), "rests_on of row 1 must be a list; got 3"),
        (changed(("rests_on",), []), "rests_on of row 1 must be a list of numbers up to n = 10; got []"),
        (changed(("rests_on",), [3, 11]), "rests_on of row 1 must be a list of numbers up to n = 10; got [3, 11]"),
        (changed(("verdict",), "fair"), "no verdict of row 1 is called 'fair'; known: higher, lower, unlike, "
         "undefined, inconclusive, not tested, equivalent, reference"),
        (changed(("gap", "kind"), "sum"), "kind of the gap of row 1 must be 'difference' or 'ratio' or 'odds ratio'; "
         "got 'sum'"),
        (changed(("test", "asks"), "why"), "asks of the test of row 1 must be 'equal scores' or 'drawn alike'; "
         "got 'why'"),
        (changed(("n",), ...), "row 1 must have the field n"),
        ([], "row 1 must be a table; got []"),
    ]  # fmt: skip
    for content, sentence in cases:
        with pytest.raises(EvenhandError) as found:
            read_row(content, "row 1")
        assert str(found.value) == sentence


def test_axes_of_rows_are_plain_values() -> None:
    data = DATA | {"kind": np.array([1, 2, 3] * 4, dtype=np.int8), "guess": np.array([1, 2, 2] * 4)}
    a = eh.audit(data, y_true="kind", y_pred="guess", groups="race", classes=[np.int64(2)], metrics="tpr")
    assert {type(r.at["class"]) for r in a.rows} == {int}


def test_a_group_has_one_name_for_people_whatever_the_order_of_rows() -> None:
    counts = {"White": (9, 6, 4, 21), "White ": (3, 4, 5, 6), "Caf\u00e9": (30, 10, 12, 48), "Cafe\u0301": (3, 4, 5, 9)}
    audit = eh.audit_counts(counts, metrics=["tpr", "ppr"])
    names = {"White": "White", "White ": "White␣", "Cafe\u0301": "Cafe\u0301", "Caf\u00e9": "Caf\u00e9 (2)"}
    for rows in (audit.rows, audit.rows[::-1]):
        assert told_apart(rows) == {("group", group): name for group, name in names.items()}
    wide = [line.split(",")[1] for line in audit.to_csv(wide=True).splitlines()[1:]]
    assert sorted(wide) == sorted(names.values())
    assert {line.split(",")[1] for line in audit.to_csv().splitlines()[1:]} == set(names)
    said = " ".join(finding.sentence for finding in audit.findings)
    assert "Too few cases to tell for White␣ (18 cases)" in said and "for Caf\u00e9 (2) (100 cases)" in said
