"""The results table: its columns, its rows, and the scores of all cases together."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from audit_oracle import row, same
from pytest import approx
from shown_audits import AUDITS, at_thresholds, classified, decided, of_classes, scored

import evenhand as eh
from evenhand.auditing import COLUMNS, place_text, shown_names, told_apart

NAMES = tuple(column.name for column in COLUMNS)
SHOWN = (
    *("by", "group", "metric", "n", "support", "score", "low", "high", "reference", "reference_score"),
    *("gap", "gap_low", "gap_high", "at_least", "pvalue", "p_adjusted", "verdict", "reason"),
)


def test_frames_have_the_columns_that_people_read_and_on_request_all() -> None:
    for a in AUDITS.values():
        assert tuple(a.table.columns) == (*a.axes, *NAMES)
        extra = ("protect",) if a.settings["protect"] else ()
        shown = (*SHOWN, *["question"] * any(r.question == "change of gap" for r in a.rows))
        assert tuple(a.to_frame("pandas").columns) == (*a.axes, *shown, *extra)
        assert tuple(a.to_frame("pandas", full=True).columns) == (*a.axes, *NAMES, *extra)
        assert a.to_csv().splitlines()[0] == ",".join((*a.axes, *NAMES, *extra))
    assert all(column.meaning and column.kind in ("text", "count", "number") for column in COLUMNS)


def test_rows_are_views_of_the_columns() -> None:
    for a in AUDITS.values():
        for i, r in enumerate(a.rows):
            plain = r.to_dict()
            assert json.loads(json.dumps(plain, allow_nan=False)) == plain
            assert all(same(getattr(r, name), a.table[name][i]) for name in NAMES)
            assert set(NAMES) <= set(dir(r)) and set(r.at) <= set(a.axes)
    with pytest.raises(AttributeError, match=r"^rows of an audit have no column 'scores'$"):
        _ = AUDITS["plain"].rows[0].scores
    first = AUDITS["plain"].rows[0]
    assert pickle.loads(pickle.dumps(first)) == first and hash(first) == hash(AUDITS["plain"].rows[0])


def test_numbers_are_finite_or_nan() -> None:
    a = eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)}, metrics=[m.key for m in eh.list_metrics()])
    for name, column in a.table.columns.items():
        if column.dtype == np.float64:
            assert not np.isinf(column).any(), name


def test_only_the_group_lacks_its_own_score() -> None:
    a = eh.audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "equal_opportunity"])
    lacking = {(r.group, r.metric): r.lacks_score for r in a.rows}
    assert {place for place, lacks in lacking.items() if lacks} == {("A", "tpr"), ("A", "equal_opportunity")}


def test_a_place_is_told_in_words() -> None:
    places: list[tuple[dict[str, object], str]] = [({}, ""), ({"threshold": 0.1 + 0.2}, "threshold 0.3")]
    places += [({"threshold": 0.5, "stratum": "east"}, "threshold 0.5, stratum east")]
    places += [({"threshold": 0.300000000001, "model": "new"}, "threshold 0.300000000001, model new")]
    assert all(place_text(at) == text for at, text in places)


def test_groups_of_the_same_name_are_told_apart_by_their_column() -> None:
    counts = {("x", "x"): (9, 6, 4, 21), ("y", "x"): (5, 5, 5, 5), ("y", "z"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc", intersections=1)
    assert told_apart(a.rows) == {("r", "x"): "r: x", ("s", "x"): "s: x", ("r", "y"): "y", ("s", "z"): "z"}
    assert set(shown_names(a.rows).values()) == {"x", "y", "z"}


def test_a_group_has_one_name_for_people_whatever_the_order_of_rows() -> None:
    counts = {"White": (9, 6, 4, 21), "White ": (3, 4, 5, 6), "Caf\u00e9": (30, 10, 12, 48), "Cafe\u0301": (3, 4, 5, 9)}
    audit = eh.audit_counts(counts, metrics=["tpr", "ppr"])
    names = {"White": "White", "White ": "White␣", "Cafe\u0301": "Cafe\u0301", "Caf\u00e9": "Caf\u00e9 (2)"}
    for rows in (audit.rows, audit.rows[::-1]):
        assert told_apart(rows) == {("group", group): name for group, name in names.items()}
    assert {line.split(",")[1] for line in audit.to_csv().splitlines()[1:]} == set(names)
    said = " ".join(finding.sentence for finding in audit.findings)
    assert "White␣: inconclusive on tpr (7)" in said and "Caf\u00e9 (2): inconclusive on tpr (40)" in said


def test_rows_speak_in_one_line() -> None:
    a = at_thresholds(scored(), [0.3, 0.6], metrics="tpr")
    found = row(a, "group 1", "tpr", threshold=0.3)
    assert str(found) == f"threshold 0.3, race group 1, tpr {found.score:.3f}: {found.verdict}"
    hostile = eh.audit_counts({"\x1b[2J": (1, 2, 3, 4), "B": (5, 6, 7, 8)}, metrics="tpr")
    for r in (*hostile.rows, *(r for audit in AUDITS.values() for r in audit.rows)):
        assert "\x1b" not in str(r) and "\n" not in str(r) and "nan" not in str(r)


def test_axes_of_rows_are_plain_values() -> None:
    data = {"race": list("AABB") * 3, "kind": np.array([1, 2, 3] * 4, dtype=np.int8), "guess": np.array([1, 2, 2] * 4)}
    a = eh.audit(data, y_true="kind", y_pred="guess", groups="race", classes=[np.int64(2)], metrics="tpr")
    assert {type(r.at["class"]) for r in a.rows} == {int}


def test_scores_of_all_cases_are_counted_with_and_without_a_group() -> None:
    rng = np.random.default_rng(1)
    y, p = (rng.random((2, 300)) < 0.4).astype(int)
    group = [None if i % 5 == 0 else "ab"[i % 2] for i in range(300)]
    a = eh.audit(y_true=y, y_pred=p, groups={"g": group}, metrics=["ppr", "tpr", "acc", "inacc"])
    assert a.unknown == {"g": 60}
    assert [one.score for one in a.overall] == approx([p.mean(), p[y == 1].mean(), (y == p).mean(), (y != p).mean()])
    assert {one.n for one in a.overall} == {300}
    assert all(one.low < one.score < one.high for one in a.overall)
    most = max(y.mean(), 1 - y.mean())
    constants = {"acc": most, "inacc": 1 - most}
    assert {one.metric: one.baseline for one in a.overall if one.metric in constants} == approx(constants)
    assert all(math.isnan(one.baseline) for one in a.overall if one.metric not in constants)


def test_a_part_of_an_audit_has_no_scores_of_cases_outside_it() -> None:
    """Those of all cases are not those of one stratum, and averages over classes not those of one class."""
    strata = eh.audit(decided(), y_true="y", y_pred="old", groups="race", strata="department", metrics="tpr")
    assert strata.at(stratum="law").overall == ()
    assert strata.at(stratum="pooled").overall == strata.overall
    classes = of_classes(classified(), metrics=["tpr", "acc"]).at(**{"class": "x"})
    assert [(one.metric, one.n) for one in classes.overall] == [("tpr", classes.n), ("acc", classes.n)]
