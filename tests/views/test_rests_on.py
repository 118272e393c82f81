"""A score that is made of several rates says what each of them rests on, wherever it is shown."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from audit_oracle import row

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.metrics import CATALOGUE
from evenhand.views.page_data import grouped, packed
from evenhand.views.text import as_text

UNEVEN: Audit = eh.audit_counts(
    {"A": (990, 8, 1, 1), "B": (800, 200, 300, 700)}, metrics=["balanced_accuracy", "tpr", "markedness", "acc"]
)
SMALL = eh.ConfusionMatrix(tp=990, fn=8, fp=1, tn=1)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("acc", (1000,)), ("mb", (1000,)), ("tpr", (998,)), ("ppv", (991,)), ("f1", (999,)), ("f2", (999,)),
        ("balanced_accuracy", (998, 2)), ("informedness", (998, 2)), ("g_mean", (998, 2)), ("dor", (998, 2)),
        ("lr_plus", (998, 2)), ("mcc", (998, 2)), ("kappa", (998, 2)), ("pt", (998, 2)), ("markedness", (991, 9)),
        ("fowlkes_mallows", (998, 991)), ("equal_opportunity", (998,)), ("equalized_odds", (998, 2)),
    ],
)  # fmt: skip
def test_a_score_rests_on_the_cases_of_each_of_its_rates(metric: str, expected: tuple[int, ...]) -> None:
    assert tuple(eh.metric(metric).support(SMALL.cells)) == expected
    a = eh.audit_counts({"A": SMALL, "B": (800, 200, 300, 700)}, metrics=metric)
    assert row(a, "A", metric).denominators == expected


@pytest.mark.parametrize("metric", list(CATALOGUE), ids=lambda m: m.key)
def test_cases_that_a_score_does_not_rest_on_do_not_change_it(metric: Any) -> None:
    """The cells outside all the parts that a score rests on leave it alone, and those inside change most scores."""
    inside = {cell for part in metric.denominators for cell in part.cells}
    reference = [(30, 10, 12, 48)] if metric.groups == 2 else []
    before = metric((5, 3, 2, 7), *reference)
    for i, cell in enumerate(("tp", "fn", "fp", "tn")):
        more = [5, 3, 2, 7]
        more[i] += 4
        changes = metric(tuple(more), *reference) != before
        # The largest of several gaps depends on one of them at a time.
        assert changes is (cell in inside) or metric.is_distance, cell


def test_text_shows_every_number() -> None:
    assert " 998 and 2 " in as_text(UNEVEN, None, width=140)
    narrow = as_text(UNEVEN, None, width=80)
    assert all(len(line) <= 80 for line in narrow.splitlines())
    assert "95% interval" in narrow, "numbers fold before the interval gives way"
    assert any("balanced_accuracy (998 and 2)" in finding.sentence for finding in UNEVEN.findings)


def test_markdown_and_notebook_show_every_number() -> None:
    assert "| A | balanced\\_accuracy | 1,000 | 998 and 2 |" in UNEVEN.to_markdown()
    assert "rests on 998 and 2 cases" in UNEVEN._repr_html_()
    found = row(UNEVEN, "A", "balanced_accuracy")
    assert "998 and 2 of 1,000" in found._repr_html_()


def test_the_page_has_every_number_and_its_name() -> None:
    data = packed(UNEVEN, grouped(UNEVEN))
    keys = [m["key"] for m in data["metrics"]]
    names = {m["key"]: m["cases"] for m in data["metrics"]}
    assert names["balanced_accuracy"] == ["actual positives", "actual negatives"]
    at = data["groups"]["name"].index("A") * len(keys)
    assert data["rows"]["basis"][at + keys.index("balanced_accuracy")] == [998, 2]
    assert data["rows"]["basis"][at + keys.index("acc")] == [1000]


def test_json_has_every_number_and_tables_the_smallest() -> None:
    assert row(Audit.from_json(UNEVEN.to_json()), "A", "balanced_accuracy").denominators == (998, 2)
    lines = list(csv.DictReader(io.StringIO(UNEVEN.to_csv())))
    fewest = {(one["group"], one["metric"]): one["support"] for one in lines}
    assert fewest["A", "balanced_accuracy"] == "2"
    assert fewest["A", "tpr"] == "998"
    assert set(UNEVEN.to_frame()["support"].map(type)) == {int}
