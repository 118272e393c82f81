"""Previews of files: values, histograms and bins are what counting by hand gives."""

from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, datetime

from engines import pl
from web_client import App, column


def test_files_that_cannot_be_read_are_said_by_their_names(shared: App) -> None:
    assert shared.end(shared.put("x.csv", b"a,b\n"))["answer"] == "x.csv has no rows; there is nothing to audit"
    error = shared.end(shared.put("bad.parquet", b"not parquet"))["answer"]
    assert error.startswith("bad.parquet cannot be read: ")


def test_parquet_files_with_time_zones_can_be_uploaded(shared: App) -> None:
    whole = io.BytesIO()
    pl.DataFrame({"at": [datetime(2020, 1, 1, tzinfo=UTC)], "y": [True]}).write_parquet(whole)
    found = shared.answer(shared.put("zones.parquet", whole.getvalue()))
    assert found["rows"] == [["2020-01-01 00:00:00+00", "True"]]


def test_values_are_counted_and_positive_ones_filled_in(shared: App, recid: str) -> None:
    asked = {"y_true": "two_year_recid", "y_pred": "score_text", "group": "race"}
    found = shared.answer(shared.post("values", {"file": recid, "columns": asked}))
    for role, name in asked.items():
        assert {v["value"]: v["n"] for v in found[role]["values"]} == Counter(column(name))
        assert found[role]["distinct"] == len(set(column(name)))
    assert (found["y_true"]["positive"], found["y_true"]["is_guess"]) == (["1"], False)
    # As the command line does.
    assert (found["y_pred"]["positive"], found["y_pred"]["is_guess"]) == (["High", "Medium"], True)


def test_values_that_stand_for_missing_ones_are_neither(shared: App) -> None:
    file = shared.upload("missing.csv", "y,p\nyes,1\nno,0\nNA,1\n,0\n")
    found = shared.answer(shared.post("values", {"file": file, "columns": {"y_true": "y", "y_pred": "p"}}))
    assert (found["y_true"]["positive"], found["y_true"]["lacking"], found["y_true"]["missing"]) == (["yes"], ["NA"], 1)
    assert found["y_pred"]["positive"] == ["1"]


def test_booleans_and_numbers_of_parquet_files_are_values_as_well(shared: App) -> None:
    whole = io.BytesIO()
    typed = {"y": [0, 1, 2, 1] * 9, "p": [True, False, True, True] * 9, "g": list("abab") * 9}
    pl.DataFrame(typed).write_parquet(whole)
    file = shared.upload("typed.parquet", whole.getvalue())
    columns = {"y_true": "y", "y_pred": "p"}
    found = shared.answer(shared.post("values", {"file": file, "columns": columns}))
    assert [value["value"] for value in found["y_true"]["values"]] == [0, 1, 2]
    assert (found["y_true"]["positive"], found["y_pred"]["positive"]) == ([], [True])
    body = {"file": file, **columns, "groups": ["g"], "positive_label": [1, 2], "positive_prediction": [True]}
    rows = shared.audit(body).rows
    assert {row.group: row.cells for row in rows} == {"a": (9, 0, 9, 0), "b": (9, 9, 0, 0)}


def test_at_most_fifty_values_are_listed_and_the_rest_is_said(shared: App) -> None:
    file = shared.upload("many.csv", "y\n" + "".join(f"v{i}\n" * (1 + (i > 9)) for i in range(60)))
    found = shared.answer(shared.post("values", {"file": file, "columns": {"y_true": "y"}}))["y_true"]
    assert (len(found["values"]), found["distinct"]) == (50, 60)
    assert {value["n"] for value in found["values"]} == {2}


def test_probabilities_are_told_from_other_numbers(shared: App) -> None:
    rows = "".join(f"{i / 10},{i},{'ab'[i % 2]},{i % 2}\n" for i in range(11))
    found = shared.answer(shared.put("kinds.csv", f"p,n,t,b\n{rows}".encode()))
    assert found["columns"] == {"p": "probabilities", "n": "numbers", "t": "text", "b": "numbers"}


def test_scores_and_bins_are_counted_by_name(shared: App, recid: str) -> None:
    scores, ages = ([int(value) for value in column(name)] for name in ("decile_score", "age"))
    for name, cuts, sizes in (
        ("decile_score", "5; 8", [sum(low <= s < high for s in scores) for low, high in ((0, 5), (5, 8), (8, 11))]),
        ("age", "45, 25", [sum(low <= age < high for age in ages) for low, high in ((0, 25), (25, 45), (45, 99))]),
    ):
        found = shared.answer(shared.post("bins", {"file": recid, "column": name, "cuts": cuts}))
        assert [v["n"] for v in found["values"]] == sizes
    assert [v["value"] for v in found["values"]] == ["below 25", "25 to below 45", "45 and above"]
    for name, cuts, sentence in (
        ("race", "5", "'race' must contain numbers; got 'African-American'"),
        ("age", "5, x", "a cut of bins must be a number; got 'x'"),
    ):
        assert shared.end(shared.post("bins", {"file": recid, "column": name, "cuts": cuts}))["answer"] == sentence
