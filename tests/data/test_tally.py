"""From any table to arrays of counts: what labels, scores, weights, clusters and classes mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from decisions import CELLS, TABLE
from engines import pa, pl
from hypothesis import given, strategies as st
from matrices import matrix

import evenhand as eh
from evenhand.data import RULES, Answers, Counts, Tally, build_tally, tally_counts
from evenhand.errors import EvenhandError, InvalidInput, TooLarge

Cells = dict[Any, tuple[float, ...]]


def tallied(
    data: Any = None, *, groups: Any, needs: Any = ("cells",), selects: bool = False, rule: Any = None, **answers: Any
) -> Tally:
    return build_tally(data, groups, Answers(**answers), needs, selects=selects, rule=rule)


def by_key(tally: Tally, counts: Counts | None, name: str = "cells", **at: Any) -> Cells:
    """The cells of each key at a place."""
    array = getattr(counts, name)[tally.places.index(tuple(at.items()))]
    return {key: tuple(row) for key, row in zip(tally.keys, array.tolist(), strict=True)}


def cells(tally: Tally, **at: Any) -> Cells:
    return by_key(tally, tally.counts, **at)


def cell_of(label: Any, decision: Any) -> int:
    """The index of tp, fn, fp or tn."""
    return 2 * (not label) + (not decision)


def refusal(**given: Any) -> str:
    with pytest.raises(EvenhandError) as refused:
        tallied(**{"groups": list("ab")} | given)
    return str(refused.value)


YES_AND_NO: list[tuple[Any, Any, Any]] = [
    (0, 1, None), (-1, 1, None), (False, True, None), ("no", "yes", None), ("False", " TRUE", None), ("0", "1", None),
    (0.0, 1.0, None), (Decimal(0), Decimal(1), None), ("bad", "good", "good"), ("none", "fraud", "fraud"), (1, 2, 2),
    (1, 2, "2"), (False, True, "true"),
]  # fmt: skip


def test_labels_in_the_wild() -> None:
    for frame, (negative, positive, asked) in product((dict, pd.DataFrame, pl.DataFrame), YES_AND_NO):
        y, p = ([(negative, positive)[bit] for bit in bits] for bits in ([1, 1, 0, 0], [1, 0, 0, 1]))
        data = frame({"y": y, "p": p, "g": list("aaab")})
        expected = {("a",): (1, 1, 0, 1), ("b",): (0, 0, 1, 0)}
        assert cells(tallied(data, y_true="y", y_pred="p", groups="g", positive=asked)) == expected, positive


def test_labels_that_can_mean_one_thing_only_are_the_same() -> None:
    at, to = [0, 1, 1, 0, 0, 1, 0], [1, 1, 0, 0, 0, 1, 0]
    spellings: list[list[Any]] = [[0, 1], [False, True], ["0", "1"], ["false", "true"], ["False", "True"], [0.0, 1.0]]
    words = [["no", "yes"], ["negative", "positive"]]
    for labels, predictions in [*product(spellings, spellings), *product(words, spellings), *product(spellings, words)]:
        y, p = [labels[i] for i in at], [predictions[i] for i in to]
        assert cells(tallied(y_true=y, y_pred=p, groups=["a"] * 7)) == {("a",): (2, 1, 1, 3)}
        assert eh.ConfusionMatrix.from_labels(y, p).cells == (2, 1, 1, 3)


def test_words_for_missing_values_leave_a_row_out() -> None:
    words = ["NA", "n/a", "NaN", "nan", "null", "NULL", "None", " na ", "", "  "]
    for word, (no, yes) in product(words, [("0", "1"), ("no", "yes")]):
        y, p = [yes, no, word, no, word], [yes, yes, no, word, word]
        tally = tallied(y_true=y, y_pred=p, groups=list("aaaab"))
        assert cells(tally) == {("a",): (1, 0, 1, 0)}
        assert tally.left_out == {"y_true": 1, "y_pred": 1, "y_true and y_pred": 1}
    tally = tallied(y_true=["none", "some", "some"], y_pred=[0, 1, 0], groups=list("aab"), positive={"label": "some"})
    assert cells(tally) == {("a",): (1, 0, 0, 1), ("b",): (0, 1, 0, 0)}, "a word that is one of two labels is a label"


def test_what_values_of_groups_and_labels_mean(tmp_path: Path) -> None:
    """A group may be called NA; infinity is a text among labels, and a number among groups."""
    path = tmp_path / "data.csv"
    path.write_text("g,y,p\nNA,1,1\n,0,1\nNA,NA,0\nEU,0,0\n", encoding="utf-8")
    tally = tallied(path, y_true="y", y_pred="p", groups="g")
    assert (tally.keys, tally.left_out) == ((("EU",), ("NA",), (None,)), {"y_true": 1})
    path.write_text("g,y,p\na,0,1\nb,0,0\n", encoding="utf-8")
    one_class = "y_true contains one class only ({}); if that is right, pass the positive label as {}"
    assert refusal(data=path, y_true="y", y_pred="p", groups="g") == one_class.format(0, "positive=")
    predicted = {"y_true": ["no", "no"], "y_pred": ["x", "w"], "positive": {"prediction": "x"}}
    assert refusal(**predicted) == one_class.format("'no'", "positive['label']")
    without = tallied(y_pred=[1, 0, 0, None], groups=list("aaba"))
    assert tallied(y_pred=[1, 0, 0], groups=list("aab"), count=[2, 1, 0]).keys == (("a",),), "no case of b"
    assert cells(without) == {("a",): (0, 0, 1, 1), ("b",): (0, 0, 0, 1)}, "predictions as of negatives"
    assert (without.labelled, without.left_out) == (False, {"y_pred": 1})
    data = {"y": ["inf", "1", "1"], "p": ["inf", "inf", "1"], "g": [Decimal("Infinity"), Decimal("2.5"), Decimal(3)]}
    tally = tallied(data, y_true="y", y_pred="p", groups="g", positive="inf")
    assert tally.positive == {"label": ("inf",), "prediction": ("inf",)}
    assert tally.keys == ((2.5,), (3,), (float("inf"),))
    numbers = tallied(y_true=[1, 2], y_pred=[1, 2], groups=["a", "a"], positive=np.int64(2))
    assert [type(label) for labels in numbers.positive.values() for label in labels] == [int, int]


def test_scores_are_compared_with_the_threshold_and_missing_ones_left_out(tmp_path: Path) -> None:
    columns = {"y": [1, 0, 1, 0, 1], "s": [0.7, 0.5, 0.2, float("nan"), None], "g": list("abaab")}
    path = tmp_path / "scores.csv"
    path.write_text("g,y,s\na,1,0.7\nb,0,0.5\na,1,0.2\na,0,n/a\nb,1,\n", encoding="utf-8")
    frames = [columns, pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns), path]
    asked: list[tuple[dict[str, Any], float]] = [({}, 0.5), ({"threshold": 0.65}, 0.65)]
    for data, (more, threshold) in product(frames, asked):
        tally = tallied(data, y_true="y", y_score="s", groups="g", **more)
        assert cells(tally) == {("a",): (1, 1, 0, 0), ("b",): (0, 0, threshold == 0.5, threshold != 0.5)}
        assert (tally.left_out, tally.threshold) == ({"y_pred": 2}, threshold)


def test_thresholds_and_scores_are_numbers() -> None:
    threshold: Any
    for threshold in (["x"], np.array([0.5, np.nan]), 10**400, Decimal("sNaN"), 1j, [0.5, True]):
        refused = refusal(y_true=[1, 0], y_score=[1, 0], threshold=threshold)
        assert refused.startswith("threshold must be a finite number; got ")
    for score in ([0.5], 1j, np.array([1, 2])):
        assert refusal(y_true=[1, 0], y_score=[1, score]).startswith("y_score must contain numbers; got ")
    tally = tallied(y_true=[1, 0], y_score=[0.5, Decimal("sNaN")], threshold=Decimal("0.5"), groups=["a", "a"])
    assert (cells(tally), tally.left_out) == ({("a",): (1, 0, 0, 0)}, {"y_pred": 1})
    with pytest.raises(TooLarge, match=r"^threshold must contain at most 500 different numbers; got 501$"):
        tallied(y_true=[1, 0], y_score=[1, 0], threshold=range(501), groups=["a", "b"])


def test_of_two_columns_of_scores_the_second_must_be_of_the_positive_class() -> None:
    """As scikit-learn orders labels, also if only one of two classes occurs."""
    scores = np.array([[0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.2, 0.8]])
    columns: dict[str, Any] = {"data": pd.DataFrame(TABLE), "y_true": "y", "y_score": scores, "groups": "g"}
    tally = tallied(**columns)
    assert (cells(tally), tally.source["score_column"]) == (CELLS, 2)
    assert cells(tallied(**columns | {"data": TABLE})) == CELLS
    assert tallied(**columns | {"y_true": ["0"] * 5}, positive=1).n == 5
    words = columns | {"y_true": ["Yes" if y else "no" for y in TABLE["y"]]}
    several = columns | {"y_true": list("abcab"), "positive": "c"}
    for refused, labels, positive in (
        (columns | {"positive": 0}, "0, 1", "0"), (words, "'Yes', 'no'", "'Yes'"), (several, "'a', 'b', 'c'", "'c'"),
        (columns | {"y_true": [1] * 5, "positive": 1}, "1", "1"),
    ):  # fmt: skip
        assert refusal(**refused) == (
            f"y_score has two columns, in the order of the labels ({labels}), of which the second must be the positive "
            f"one ({positive}); pass the column of the positive class"
        )


Case = tuple[str, str, Any, Any, Any, int]
"""Two groups, label, score, weight, and how many cases a row stands for."""

cases = st.lists(
    st.tuples(
        *(st.sampled_from("ab"), st.sampled_from("xy")),
        st.sampled_from([0, 1, 0, 1, None]),
        st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0, None]),
        st.sampled_from([0.25, 1.0, 2.0, 7.5, 0.0, None]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=25,
).map(lambda some: [*some, ("a", "x", 0, 0.25, 1.0, 1), ("b", "x", 1, 0.5, 2.0, 1)])
thresholds = st.lists(st.sampled_from([-1.0, 0.0, 0.3, 0.5, 1.0, 2.0]), min_size=1, max_size=4)


def answers_of(rows: Sequence[Case], *, weighted: bool) -> dict[str, Any]:
    g, h, y, s, w, n = (list(column) for column in zip(*rows, strict=True))
    weights = {"sample_weight": w} if weighted else {}
    return {"groups": {"g": g, "h": h}, "y_true": y, "y_score": s, "count": n, "positive": 1, **weights}


def count_by_hand(rows: Sequence[Case], threshold: float, value: Any, *, selects: bool) -> Cells:
    """Sums of a value of every case; those without a label are negatives."""
    sums: dict[Any, list[float]] = {}
    for g, h, y, s, w, n in rows:
        if s is not None and w and (selects or y is not None):
            sums.setdefault((g, h), [0.0] * 4)[cell_of(y, s >= threshold)] += n * value(w)
    expected: dict[Any, Any] = {key: pytest.approx(tuple(sums[key])) for key in sorted(sums)}
    return expected


@given(rows=cases, axis=thresholds, weighted=st.booleans(), selects=st.booleans())
def test_cells_are_sums_over_cases_at_every_threshold(
    rows: list[Case], axis: list[float], weighted: bool, selects: bool
) -> None:
    """Of weights, of cases and of squared weights; selections count cases without a label, too."""
    rows = rows if weighted else [(*row[:4], 1.0, row[5]) for row in rows]
    tally = tallied(**answers_of(rows, weighted=weighted), threshold=axis, selects=selects)
    assert tally.places == tuple((("threshold", t),) for t in sorted(set(axis)))
    assert tally.keys == tuple(sorted(tally.keys)), "in an order that does not depend on that of the rows"
    assert tally.threshold == (axis[0] if len(set(axis)) == 1 else None)
    sums = {"cells": lambda w: w, "cases": lambda w: 1, "squares": lambda w: w * w}
    for threshold, (name, value) in product(set(axis), sums.items()):
        expected = count_by_hand(rows, threshold, value, selects=False)
        found = by_key(tally, tally.counts, name, threshold=threshold)
        assert {key: row for key, row in found.items() if any(row)} == expected
        if tally.selections is not None:
            expected = count_by_hand(rows, threshold, value, selects=True)
            assert by_key(tally, tally.selections, name, threshold=threshold) == expected
    unlabelled = any(y is None and s is not None and w for _, _, y, s, w, _ in rows)
    assert (tally.selections is not None) == (unlabelled and selects)
    left_out: Counter[str] = Counter()
    names = ("y_true", "y_pred", "sample_weight")
    for row in rows:
        left_out[" and ".join(name for name, value in zip(names, row[2:5], strict=True) if value is None)] += row[5]
    assert tally.left_out == {lacks: n for lacks, n in left_out.items() if lacks}
    complete = [(w, n) for *_, y, s, w, n in rows if y is not None and s is not None and w]
    assert tally.n == sum(n for _, n in complete) == tally.sizes.sum()
    total = {"n": tally.n, "weight": pytest.approx(sum(w * n for w, n in complete))}
    assert tally.weighted == (total if weighted else {})


def test_weights_that_weigh_nothing_are_refused() -> None:
    known: Any = {"y_true": [1, 0], "y_pred": [1, 0]}
    bounds, numbers = "must be 0 or between 1e-50 and 1e+12; got", "must contain numbers; got"
    refused: dict[str, Any] = {f"{bounds} -2.0": -2, f"{bounds} inf": float("inf"), f"{bounds} 1e+100": 1e100}
    for says, weight in (refused | {f"{numbers} 'x'": "x", f"{numbers} 1j": 1j}).items():
        assert refusal(**known, sample_weight=[1, weight]) == f"sample_weight {says}"
    says = "columns must have the same length; got group 2, y_true 2, y_pred 2, sample_weight 3"
    assert refusal(**known, sample_weight=[1, 1, 1]) == says
    lacking = {"y_true": [1, 0, None], "y_pred": [None, 1, 0], "groups": list("aab"), "sample_weight": [1, 0, 1]}
    assert refusal(**known, sample_weight=[0, 0]) == refusal(**lacking) == "sample_weight must not all be 0"


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0, 1, None]), st.sampled_from([0.1, 0.5, 0.9, None]),
                            st.integers(1, 3)), max_size=25),
    axis=thresholds,
)  # fmt: skip
def test_clusters_have_the_cells_of_their_cases(rows: list[Any], axis: list[float]) -> None:
    rows = [*rows, (0, 1, 0.5, 1), (1, 0, 0.1, 1)]
    c, y, s, n = (list(column) for column in zip(*rows, strict=True))
    g = ["ab"[cluster % 2] for cluster in c]
    tally = tallied(y_true=y, y_score=s, count=n, cluster=c, groups=g, threshold=axis, positive=1)
    table, counts = tally.clusters, tally.counts
    assert table is not None and counts is not None
    for place, ((_, threshold),) in enumerate(tally.places):
        expected: dict[int, list[float]] = {}
        for cluster, label, score, times in rows:
            if label is not None and score is not None:
                expected.setdefault(cluster, [0.0] * 4)[cell_of(label, score >= threshold)] += times
        found = zip(table.key.tolist(), table.counts[place].tolist(), strict=True)
        by_hand = ((("ab"[cluster % 2],), counted) for cluster, counted in expected.items())
        assert sorted((tally.keys[key], cell) for key, cell in found) == sorted(by_hand)
        for key in range(len(tally.keys)):
            assert (table.counts[place, table.key == key].sum(axis=0) == counts.cells[place, key]).all()
    assert tally.n_clusters == len(expected)


def test_a_cluster_lies_in_one_group() -> None:
    """One whose group is unknown in some cases may have those cases apart."""
    known: Any = {"y_true": [1, 0, 1], "y_pred": [1, 0, 0], "cluster": [1, 1, 2]}
    assert refusal(**known, groups=list("abb")) == (
        "each cluster must lie in one group; 1 of 2 have cases in several, such as 1; audit them without cluster=, or "
        "choose groups that clusters do not leave"
    )
    assert tallied(**known, groups=["a", None, "b"]).n_clusters == 3
    missing = tallied(**known | {"cluster": [1, None, 2]}, groups=list("aab"))
    assert (missing.left_out, missing.n, missing.cluster) == ({"cluster": 1}, 2, "cluster")
    assert tallied(known | {"g": list("aab")}, y_true="y_true", y_pred="y_pred", cluster="cluster", groups="g").n == 3


def test_of_every_cluster_one_case_is_drawn() -> None:
    """Over all of its positions, a draw gives each case of the cluster once."""
    known: Any = {"y_true": [1, 1, 1, 0, 0, 1], "y_pred": [1, 1, 0, 1, 0, 0], "cluster": list("ssssst")}
    total, sizes = Counter[Any](), set()

    def draw(position: int, cluster: Any, size: int) -> int | None:
        sizes.add((cluster, size))
        return position if cluster == "s" else None

    for position in range(5):
        tally = tallied(**known, groups=list("aabbba"), draw_case=partial(draw, position))
        assert (sizes, tally.n, tally.clusters) == ({("s", 5), ("t", 1)}, 1, None)
        total.update({(key, i): n for key, row in cells(tally).items() for i, n in enumerate(row) if n})
    assert total == {(("a",), 0): 2, (("b",), 1): 1, (("b",), 2): 1, (("b",), 3): 1}


@given(rows=cases)
def test_rows_are_the_cases_that_lack_nothing_in_a_stable_order(rows: list[Case]) -> None:
    tally, other = (tallied(**answers_of(part, weighted=False), needs=["ranking"]) for part in (rows, rows[::-1]))
    assert tally.rows is not None and other.rows is not None
    names = ("y_true", "y_score", "positive")
    columns = [tally.rows.columns[name].tolist() for name in names]
    found = [(*tally.keys[key], *row) for key, *row in zip(tally.rows.key, *columns, strict=True)]
    expected = [(g, h, y, s, y == 1) for g, h, y, s, _, n in rows if None not in (y, s) for _ in range(n)]
    assert sorted(found) == sorted(expected)
    assert tally.rows.key.tolist() == other.rows.key.tolist()
    assert all((tally.rows.columns[name] == other.rows.columns[name]).all() for name in names)


def test_labels_of_functions_stay_what_they_are() -> None:
    y, p = ["good", "bad", "ugly", "good"], [1, 2.5, "x", None]
    tally = tallied(y_true=y, y_pred=p, groups=list("abab"), needs=["values"])
    assert tally.rows is not None
    found = zip(*(tally.rows.columns[name].tolist() for name in ("y_true", "y_pred")), strict=True)
    assert sorted(found, key=str) == [("bad", 2.5), ("good", 1), ("ugly", "x")]
    assert (tally.left_out, tally.positive, tally.n) == ({"y_pred": 1}, {}, 3)


def test_cells_and_rows_of_one_table_are_counted_together() -> None:
    """A group of which some case has a label and no decision is known to both."""
    known: Any = {"y_true": [1, 0, 1, 0], "y_score": [0.3, 0.6, 0.8, 0.1], "threshold": [0.2, 0.5]}
    tally = tallied(**known, groups=list("abab"), needs=["cells", "ranking"])
    assert cells(tally, threshold=0.5) == {("a",): (1, 1, 0, 0), ("b",): (0, 0, 1, 1)}
    assert tally.rows is not None and tally.rows.key.tolist() == [0, 0, 1, 1]


LACKS = {(True, False): "y_true", (False, True): "y_pred", (True, True): "y_true and y_pred"}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", "z", None]),
                          st.sampled_from(["x", "y", "z", None])), max_size=20))  # fmt: skip
def test_each_class_is_counted_against_the_rest_and_all_of_them_together(some: list[Any]) -> None:
    rows = [*some, ("a", "x", "x"), ("a", "y", "z"), ("b", "z", "y")]
    g, y, p = (list(column) for column in zip(*rows, strict=True))
    tally = tallied(y_true=y, y_pred=p, groups=g, classes="all", needs=["cells", "values"], selects=True)
    assert (tally.classes, tally.class_counts is None, tally.rows is None) == (("x", "y", "z"), False, False)
    assert tally.places == tuple((("class", label),) for label in "xyz")
    assert (tally.selections is not None) == any(label is None and decision for _, label, decision in rows)
    assert tally.class_counts is not None
    for (index, (group,)), label in product(enumerate(tally.keys), "xyz"):
        of_group = [(actual, decision) for who, actual, decision in rows if who == group and decision]
        known = Counter(cell_of(actual == label, decision == label) for actual, decision in of_group if actual)
        everybody = Counter(cell_of(actual == label, decision == label) for actual, decision in of_group)
        pairs = Counter(of_group)
        assert cells(tally, **{"class": label})[group,] == tuple(known[i] for i in range(4))
        if tally.selections is not None:
            selected = by_key(tally, tally.selections, **{"class": label})[group,]
            assert selected == tuple(everybody[i] for i in range(4))
        assert tally.class_counts[index].tolist() == [[pairs[a, b] for b in "xyz"] for a in "xyz"]
    left_out = Counter(LACKS.get((actual is None, decision is None)) for _, actual, decision in rows)
    assert tally.left_out == {lacking: n for lacking, n in left_out.items() if lacking}


def test_classes_are_chosen_by_value_or_text() -> None:
    classes: Any
    for classes in ([2, 3], ["2", "3"], [2.0, 3.0], (2, "3", 2), np.array([2, 3]), [True], ["true"], ["True"]):
        labels, chosen = ([True, False, False], [True]) if classes[0] in (True, "true", "True") else ([1, 2, 3], [2, 3])
        tally = tallied(y_true=labels, y_pred=labels, groups=list("aba"), classes=classes)
        assert tally.places == tuple((("class", label),) for label in chosen)


def rounded(n: int) -> int:
    """By the rule cms: 1 to 10 as 5, and from 11 on the middles of blocks of 11."""
    return 0 if n == 0 else 5 if n < 11 else n - n % 11 + 5


@given(rows=cases, axis=thresholds, factor=st.integers(1, 12), selects=st.booleans())
def test_what_is_rounded_is_the_finest_table_that_is_counted(
    rows: list[Case], axis: list[float], factor: int, selects: bool
) -> None:
    """By groups, labels and levels between thresholds; cells and what was left out are sums of rounded counts."""
    rows = [(*row[:5], row[5] * factor) for row in rows]
    tally = tallied(**answers_of(rows, weighted=False), threshold=axis, rule=RULES["cms"], selects=selects)
    finest: Counter[Any] = Counter()
    for g, h, y, s, _, n in rows:
        finest[g, h, y, None if s is None else sum(s >= t for t in axis)] += n
    levels = {s: sum(s >= t for t in axis) for s in (0.0, 0.25, 0.5, 1.0)}
    for threshold in set(axis):
        expected: dict[Any, list[float]] = {key: [0.0] * 4 for key in tally.keys}
        for (g, h, y, level), n in finest.items():
            if y is not None and level is not None:
                reached = any(s >= threshold for s, reached_level in levels.items() if reached_level == level)
                expected[g, h][cell_of(y, reached)] += rounded(n)
        assert cells(tally, threshold=threshold) == {key: tuple(row) for key, row in expected.items()}
    lacking, left_out = Counter[Any](), Counter[str]()
    for (g, h, y, level), n in finest.items():
        if y is None or level is None:
            # Cases without a label are counted for selections, and rounded once.
            lacking[LACKS[y is None, level is None], g, h, level if selects else None] += n
    for (name, *_), n in lacking.items():
        left_out[name] += rounded(n)
    assert tally.left_out == dict(left_out)
    counts, exact = tally.counts, tallied(**answers_of(rows, weighted=False), threshold=axis).counts
    assert counts is not None and exact is not None
    assert (counts.low.sum(axis=(1, 2)) <= exact.cells.sum(axis=(1, 2))).all()
    assert (counts.high.sum(axis=(1, 2)) >= exact.cells.sum(axis=(1, 2))).all()
    assert (tally.negative, tally.missing_words, tally.repeated) == ({}, {}, None)
    assert tally.source.keys() <= {"kind", "name", "format", "separator", "library"}


def test_if_zero_is_not_shown_every_combination_of_groups_is_a_key() -> None:
    known: Any = {"y_true": [1, 0] * 20, "y_pred": [1, 0] * 20, "groups": {"g": list("ab") * 20, "h": list("xy") * 20}}
    assert tallied(**known, rule=RULES["cms"]).keys == (("a", "x"), ("b", "y"))
    tally = tallied(**known, rule=RULES["ons"])
    assert tally.keys == (("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"))
    assert tally.counts is not None
    # A cell in which no group has a case is 0; in others, 0 stands for 0 to 9.
    assert tally.counts.high[0].tolist() == [[22, 0, 0, 9], [9, 0, 0, 9], [9, 0, 0, 9], [9, 0, 0, 22]]


LABELS = [1, 0]
CLASSES: dict[str, Any] = {"y_true": ["x", "y"], "y_pred": ["x", "y"], "classes": "all"}
BETWEEN = (
    "y_score must be between 0 and 1 for the default threshold of 0.5; for other scores pass threshold=, at or above "
    "which they are positive"
)
WITHOUT_LABELS = "auc, brier, log_loss and functions need labels; pass them as y_true="
NOTHING = "every row lacks a label or a prediction; there is nothing to audit"


def test_answers_that_do_not_fit_together_are_refused() -> None:
    either = "pass either y_pred (predictions) or y_score (scores); got"
    refused: list[tuple[str, dict[str, Any]]] = [
        (f"{either} neither", {"y_true": LABELS}),
        (f"{either} both", {"y_true": LABELS, "y_pred": LABELS, "y_score": LABELS}),
        ("threshold is for scores; pass them as y_score, or leave threshold out",
         {"y_true": LABELS, "y_pred": LABELS, "threshold": 0.5}),
        ("threshold must contain at least one number", {"y_true": LABELS, "y_score": LABELS, "threshold": []}),
        (BETWEEN, {"y_true": LABELS, "y_score": [3, 0]}),
        (BETWEEN, {"y_true": LABELS, "y_score": [-0.1, 0], "needs": ["cells", "ranking"]}),
        ("auc, brier and log_loss need the score of every case; pass it as y_score=",
         {"y_true": LABELS, "y_pred": LABELS, "needs": ["ranking"]}),
        (WITHOUT_LABELS, {"y_score": LABELS, "needs": ["ranking"]}),
        (WITHOUT_LABELS, {"y_pred": LABELS, "needs": ["values"]}),
        ("sample_weight and cluster cannot be combined",
         {"y_true": LABELS, "y_pred": LABELS, "sample_weight": [1, 1], "cluster": [1, 2]}),
        *((f"auc, brier, log_loss and functions take no {name}; leave it out, or ask for other metrics",
           {"y_true": LABELS, "y_pred": LABELS, name: [1, 1], "needs": ["cells", "values"]})
          for name in ("sample_weight", "cluster")),
        *((f"{name} is for two classes and cannot be combined with classes", CLASSES | {name: [1, 1]})
          for name in ("y_score", "threshold", "sample_weight", "cluster", "positive")),
        ("y_true must be the name of a column or its values; got None", CLASSES | {"y_true": None}),
        ("scores such as auc are of two classes and cannot be combined with classes", CLASSES | {"needs": ["ranking"]}),
        ("classes must be a list of classes or 'all'; got 'x'", CLASSES | {"classes": "x"}),
        ("classes must name at least one class", CLASSES | {"classes": []}),
        ("no class is called 'w'; known: x, y", CLASSES | {"classes": ["w"]}),
        ("no class is called \"['x']\"; known: x, y", CLASSES | {"classes": [["x"]]}),
        ("y_true and y_pred have no class in common; predictions must be of the same classes as labels",
         CLASSES | {"y_pred": ["u", "v"]}),
        (NOTHING, CLASSES | {"y_true": [None, "y"], "y_pred": ["x", None]}),
        (NOTHING, {"y_true": [1, 0, None], "y_pred": [None, None, 1], "groups": list("aab")}),
        (NOTHING, {"y_true": LABELS, "y_score": [None, None]}),
        ("every value of y_pred is missing; there is nothing to audit", {"y_true": LABELS, "y_pred": ["", " "]}),
        ("every value of y_pred is missing; there is nothing to audit", {"y_true": LABELS, "y_pred": [None, None]}),
        (NOTHING, {"y_true": LABELS, "y_score": [None, None], "needs": ["ranking"]}),
        ("data must have at least one row; got none", {"y_true": [], "y_pred": [], "groups": []}),
    ]  # fmt: skip
    for sentence, answers in refused:
        assert refusal(**answers) == sentence


@given(st.dictionaries(st.tuples(st.sampled_from("abA"), st.sampled_from("xy")),
                       st.tuples(*[st.integers(0, 40)] * 4), min_size=1))  # fmt: skip
def test_counts_are_taken_as_they_are_merged_or_rounded(counts: dict[Any, Any]) -> None:
    tally = tally_counts(counts, ["g", "h"])
    assert (tally.columns, cells(tally)) == (("g", "h"), counts)
    merged: dict[Any, Any] = {}
    for (g, h), row in counts.items():
        merged[g.lower(), h] = np.add(merged.get((g.lower(), h), 0), row)
    found = cells(tally_counts(counts, ["g", "h"], merge_variants=True))
    assert {(g.lower(), h): row for (g, h), row in found.items()} == {key: tuple(row) for key, row in merged.items()}
    protected = tally_counts(counts, ["g", "h"], rule=RULES["cms"])
    assert cells(protected) == {key: tuple(map(rounded, row)) for key, row in counts.items()}


def test_groups_and_cells_of_counts_are_named() -> None:
    counts: Mapping[Any, Any] = {"A": {"TN": 4, "fp": 3, "FN": 2, "tp": 1}, "B": matrix(1, 0, 0, 1)}
    assert cells(tally_counts(counts, "race")) == {("A",): (1, 2, 3, 4), ("B",): (1, 0, 0, 1)}
    assert tally_counts({("A", "F"): (1, 2, 3, 4)}, "group").keys == ((("A", "F"),),), "a tuple in a single column"
    for by in (5, None, [1], np.array([1, 2]), []):
        with pytest.raises(InvalidInput, match=r"^by must be the name of a group column, or several; got "):
            tally_counts({"A": (1, 2, 3, 4)}, by)  # type: ignore[arg-type]


def test_counts_that_are_none_are_refused() -> None:
    counts: Any
    must, column = "group 'A' must have tp, fn, fp and tn; got", "must have one value per column (race, sex); got"
    for counts, sentence in [
        ({}, "counts must map groups to confusion matrices; got {}"),
        ([(1, 2, 3, 4)], "counts must map groups to confusion matrices; got [(1, 2, 3, 4)]"),
        *(({"A": one}, f"{must} {one}") for one in ((1, 2, 3), {"tp": 1}, 5)),
        ({"A": (1, 2, 3, 0.5)}, "group 'A' must have whole counts; got ConfusionMatrix(tp=1, fn=2, fp=3, tn=0.5)"),
        *(({group: (1, 2, 3, 4)}, f"group {group} {column} {len(group)}") for group in (("A",), ("A", "F", 1))),
        ({"A": (1, 2, 3, -4)}, "tn must not be negative; got -4"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInput) as refused:
            tally_counts(counts, ["race", "sex"] if "per column" in sentence else "group")
        assert str(refused.value) == sentence
