"""Tables whose rows are not one case each: what is asked and what is said of them."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from decisions import write_csv
from engines import pl

import evenhand as eh
from evenhand.data.input_checks import are_counts, find_model_column, find_repeated_identifier, read_first_columns
from evenhand.errors import InvalidInput

COUNTED: dict[str, Any] = {"region": ["a"] * 4 + ["b"] * 4, "y": [1, 1, 0, 0] * 2, "p": [1, 0, 1, 0] * 2}
COUNTED["n"] = [30, 10, 12, 48, 300, 80, 90, 400]
CALL: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "region", "metrics": ["tpr", "ppr"]}
MATRICES = {"a": (30, 10, 12, 48), "b": (300, 80, 90, 400)}


def held_everywhere(folder: Path) -> list[Any]:
    path = folder / "counted.csv"
    write_csv(COUNTED, path)
    return [COUNTED, pd.DataFrame(COUNTED), pl.DataFrame(COUNTED), pl.LazyFrame(COUNTED), path]


def test_rows_count_as_often_as_they_say(tmp_path: Path) -> None:
    known = eh.audit_counts(MATRICES, by="region", metrics=["tpr", "ppr"])
    for data in held_everywhere(tmp_path):
        a = eh.audit(data, count="n", **CALL)
        assert a.n == 970
        assert {row.group: row.cells for row in a.rows} == MATRICES
        assert [row.pvalue for row in a.rows] == [row.pvalue for row in known.rows]
    columns: dict[str, Any] = {name: [*values, values[0]] for name, values in COUNTED.items()}
    assert eh.audit(columns, count=np.array([*COUNTED["n"], 0]), **CALL).n == 970, "rows of no cases"


def test_it_is_asked_whether_a_column_counts_cases(tmp_path: Path) -> None:
    """As a warehouse exports them: SELECT region, y, p, count(*) ... GROUP BY 1, 2, 3."""
    question = r"'n' contains whole numbers: if it says how many cases .* pass count='n'"
    for data in held_everywhere(tmp_path):
        for weight in (None, "n"):
            with pytest.raises(InvalidInput, match=question):
                eh.audit(data, **CALL, sample_weight=weight)
        assert eh.audit(data, count=1, **CALL).n == 8
    for counts in ([1] * 8, [0, 1] * 4, [1.5] * 8, [-1, 2] * 4, ["x", "2"] * 4, [None, 2] * 4, [np.inf, 1.0] * 4):
        assert eh.audit({**COUNTED, "n": counts}, **CALL).n == 8
    twice = {name: [*values, values[0]] for name, values in COUNTED.items()}
    assert eh.audit(twice, **CALL).n == 9, "repeated combinations are cases"
    for value, got in ((1.5, "1.5"), (-1, "-1"), (None, "nothing"), (np.inf, "inf"), (-np.inf, "-inf")):
        data = {**COUNTED, "n": [value, *COUNTED["n"][1:]]}
        with pytest.raises(InvalidInput, match=f"must contain whole numbers of cases; got {got}; .* sample_weight="):
            eh.audit(data, count="n", **CALL)


def _stacked(people: int, models: int, **more: Any) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    base = pl.DataFrame({"person": np.arange(people), "region": rng.choice(["a", "b"], people),
                         "y": rng.integers(0, 2, people)})  # fmt: skip
    parts = [base.with_columns(model=pl.lit(f"m{i}"), p=pl.Series(rng.integers(0, 2, people))) for i in range(models)]
    return pl.concat(parts).with_columns(**more)


def test_models_below_each_other_are_refused() -> None:
    stacked = _stacked(60, 4)
    for data in (stacked, stacked.sort("person"), stacked.drop("person").with_columns(x=stacked["person"] * 0.5)):
        with pytest.raises(InvalidInput, match=r"everything but the predictions and 'model', as if 4 models .*compare"):
            eh.audit(data, **CALL)
    assert eh.audit(stacked.filter(pl.col("model") == "m0"), **CALL).n == 60
    # The same people in two towns, by design; nothing is called like a model or an identifier.
    design = _stacked(60, 2).rename({"person": "x", "model": "town"})
    assert eh.audit(design, **CALL).n == 120


def test_an_identifier_that_repeats_is_said_first() -> None:
    rng = np.random.default_rng(5)
    data = pl.DataFrame({"patient_id": np.repeat(np.arange(40), 5), "region": np.repeat(rng.choice(["a", "b"], 40), 5),
                         "y": rng.integers(0, 2, 200), "p": rng.integers(0, 2, 200)})  # fmt: skip
    a = eh.audit(data, **CALL)
    (found,) = [f for f in a.findings if f.kind == "repeated-rows"]
    assert found.sentence.startswith("'patient_id' has 40 values in the first 200 rows, several rows each, and each")
    lines = str(a).splitlines()
    said = next(i for i, line in enumerate(lines) if line.startswith("Warning: 'patient_id' has 40 values"))
    assert said < next(i for i, line in enumerate(lines) if line.startswith("Inconclusive: "))
    once = eh.audit(data.with_columns(patient_id=pl.Series(np.arange(200))), **CALL)
    assert not [f for f in once.findings if f.kind == "repeated-rows"]


def test_what_looks_like_an_identifier() -> None:
    identifiers = ("id", "PatientId", "person", "customer no", "user_id")
    for name in (*identifiers, "grid", "valid", "paid", "personality", "idea"):
        found = find_repeated_identifier({name: [1, 1, 2]}, ())
        assert found == ((name, 3, 2) if name in identifiers else None)


def test_little_is_looked_at() -> None:
    wide = pl.DataFrame({f"x{i}": np.arange(20_000) for i in range(100)})
    assert {len(values) for values in read_first_columns(wide).values()} == {1_001}
    assert {len(values) for values in read_first_columns(wide.select("x0")).values()} == {10_000}


def test_numbers_of_rows_are_no_counts() -> None:
    assert not are_counts(list(range(400))) and not are_counts([str(n) for n in range(9, 0, -1)])
    assert are_counts([1, 2, 3]) and are_counts([1, 2, 3, 4, 5, 5])


def test_models_below_each_other_are_seen_although_the_last_is_cut_off() -> None:
    """Of the first 10,000 rows, the last model has fewer, or the last case."""
    by_model, by_case = product("abcd", range(3000)), product(range(4000), "abc")
    models = {4: [(case, model) for model, case in by_model], 3: list(by_case)}
    for n, rows in models.items():
        person, model = (list(column) for column in zip(*rows[:10_000], strict=True))
        columns = {"person": person, "model": model, "p": [0] * 10_000}
        assert find_model_column(columns, {"p"}, {"p"}, "person") == ("model", n)
