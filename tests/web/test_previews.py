"""Previews of files: values, histograms and bins are what counting by hand gives."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from engines import pl
from page_client import Page, column

import evenhand as eh


def test_files_that_cannot_be_read_are_said_by_their_names(shared: Page) -> None:
    assert shared.end(shared.put("x.csv", b"a,b\n"))["error"] == "x.csv has no rows; there is nothing to audit"
    error = shared.end(shared.put("bad.parquet", b"not parquet"))["error"]
    assert error.startswith("bad.parquet cannot be read: ")


def test_parquet_files_with_time_zones_can_be_uploaded(shared: Page) -> None:
    from datetime import UTC, datetime

    whole = io.BytesIO()
    pl.DataFrame({"at": [datetime(2020, 1, 1, tzinfo=UTC)], "y": [True]}).write_parquet(whole)
    found = shared.answer(shared.put("zones.parquet", whole.getvalue()))
    assert found["rows"] == [["2020-01-01 00:00:00+00", "True"]]


def test_values_are_counted_and_positive_ones_filled_in(shared: Page, recid: str) -> None:
    asked = {"y_true": "two_year_recid", "y_pred": "score_text", "group": "race"}
    found = shared.answer(shared.post("values", {"file": recid, "columns": asked}))
    for role, name in asked.items():
        assert {v["value"]: v["n"] for v in found[role]["values"]} == Counter(column(name))
        assert found[role]["distinct"] == len(set(column(name)))
    assert (found["y_true"]["positive"], found["y_pred"]["positive"]) == (["1"], None)
    # As the command line does.
    assert (found["y_true"]["guessed"], found["y_pred"]["guessed"]) == ([], ["High", "Medium"])


def test_values_that_stand_for_missing_ones_are_neither(shared: Page) -> None:
    file = shared.upload("missing.csv", "y,p\nyes,1\nno,0\nNA,1\n,0\n")
    found = shared.answer(shared.post("values", {"file": file, "columns": {"y_true": "y", "y_pred": "p"}}))
    assert (found["y_true"]["positive"], found["y_true"]["lacking"], found["y_true"]["missing"]) == (["yes"], ["NA"], 1)
    assert found["y_pred"]["positive"] == ["1"]


def test_booleans_and_numbers_of_parquet_files_are_values_as_well(shared: Page) -> None:

    whole = io.BytesIO()
    pl.DataFrame({"y": [0, 1, 2, 1] * 9, "p": [True, False, True, True] * 9, "g": list("abab") * 9}).write_parquet(
        whole
    )
    file = shared.upload("typed.parquet", whole.getvalue())
    columns = {"y_true": "y", "y_pred": "p"}
    found = shared.answer(shared.post("values", {"file": file, "columns": columns}))
    assert [value["value"] for value in found["y_true"]["values"]] == [0, 1, 2]
    assert (found["y_true"]["positive"], found["y_pred"]["positive"]) == (None, [True])
    body = {"file": file, **columns, "groups": ["g"], "positive_label": [1, 2], "positive_prediction": [True]}
    result = shared.answer(shared.post("audit", body))
    rows = eh.Audit.from_json(shared.client.get(f"/token/report/{result['audit']}.json").text).rows
    assert {row.group: row.cells for row in rows} == {"a": (9, 0, 9, 0), "b": (9, 9, 0, 0)}


def test_at_most_fifty_values_are_listed_and_the_rest_is_said(shared: Page) -> None:
    file = shared.upload("many.csv", "y\n" + "".join(f"v{i}\n" * (1 + (i > 9)) for i in range(60)))
    found = shared.answer(shared.post("values", {"file": file, "columns": {"y_true": "y"}}))["y_true"]
    assert (len(found["values"]), found["distinct"]) == (50, 60)
    assert {value["n"] for value in found["values"]} == {2}


@pytest.mark.parametrize(
    ("numbers", "unit"),
    [
        ([i % 10 + 1 for i in range(300)], False),
        ([i / 300 for i in range(301)], True),
        ([0.25, 0.75, 0.5], True),
        ([-3.5, 0.0, 812.25, 4.0], False),
        ([-5e12, 7.0], False),
        ([1000, 1001, 1003], False),
        ([0.0, 1.0000001], False),
        ([7, 7, 7], False),
    ],
)
def test_the_histogram_counts_every_score_once_and_where_it_is(shared: Page, numbers: list[float], unit: bool) -> None:
    """Each bar counts low ≤ score < high; the last one of numbers that are not whole includes its end."""
    file = shared.upload("s.csv", "s\n" + "".join(f"{x}\n" for x in numbers) + "none\n")
    found = shared.answer(shared.post("scores", {"file": file, "column": "s"}))
    assert (found["n"], found["missing"], found["unit"]) == (len(numbers), 1, unit)
    assert sum(n for _, _, n in found["bars"]) == len(numbers)
    assert 1 <= len(found["bars"]) <= 60
    *others, (low, high, last) = found["bars"]
    assert [n for _, _, n in others] == [sum(a <= x < b for x in numbers) for a, b, _ in others]
    assert last == sum(low <= x <= high for x in numbers)


def test_whole_scores_have_a_bar_each(shared: Page, recid: str) -> None:
    found = shared.answer(shared.post("scores", {"file": recid, "column": "decile_score"}))
    counts = Counter(map(int, column("decile_score")))
    assert found["bars"] == [[decile, decile + 1, counts[decile]] for decile in range(1, 11)]
    error = shared.end(shared.post("scores", {"file": recid, "column": "race"}))["error"]
    assert error == "'race' must contain numbers; got 'African-American'"


def test_bins_are_counted_by_name(shared: Page, recid: str) -> None:
    found = shared.answer(shared.post("bins", {"file": recid, "column": "age", "cuts": [45, 25]}))
    ages = [int(age) for age in column("age")]
    assert [(v["value"], v["n"]) for v in found["values"]] == [
        ("below 25", sum(age < 25 for age in ages)),
        ("25 to below 45", sum(25 <= age < 45 for age in ages)),
        ("45 and above", sum(age >= 45 for age in ages)),
    ]
