"""The record of an audit: where the data came from, how they were read, and the calls that make it again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matrices import matrix

import evenhand as eh

ROWS = "race,town,y,s,p,kind,guess\n" + "".join(
    f"{'AB'[i % 2]},{'ew'[i // 2 % 2]},{i % 3 % 2},{(i * 7 % 10) / 10},{i % 5 % 2},{'xyz'[i % 3]},{'xyz'[i // 3 % 3]}\n"
    for i in range(60)
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A CSV file in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(ROWS, "utf-8")
    return "d.csv"


CALLS: dict[str, dict[str, Any]] = {
    "plain": {"y_true": "y", "y_pred": "p", "groups": "race"},
    "several groups": {"y_true": "y", "y_pred": "p", "groups": ["race", "town"], "intersections": 1},
    "settings": {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": ["tpr"], "alpha": 0.1,
                 "positive": {"label": [1], "prediction": 0}, "wording": {"cases": "it's", "outcome": ("ill", "well")}},
    "thresholds": {"y_true": "y", "y_score": "s", "groups": "race", "threshold": [0.3, 0.7], "metrics": ["tpr", "auc"],
                   "rng": 5},
    "classes": {"y_true": "kind", "y_pred": "guess", "groups": "race", "classes": ["x"], "metrics": ["tpr", "acc"]},
    "all classes": {"y_true": "kind", "y_pred": "guess", "groups": "race", "classes": "all"},
    "strata": {"y_true": "y", "y_pred": "p", "groups": "race", "strata": "town", "metrics": ["tpr"]},
    "sample_weight": {"y_true": "y", "y_pred": "p", "groups": "race", "sample_weight": "s", "metrics": ["acc"]},
    "names": {"y_true": "y", "y_pred": "p", "groups": "race", "group_names": {"race": {"A": "Ada"}},
              "reference": {"race": "Ada"}, "bins": None},
    "matrix": {"y_true": "y", "y_pred": "p", "groups": "race", "reference": matrix(3, 2, 4, 10)},
    "bins": {"y_true": "y", "y_pred": "p", "groups": "s", "bins": {"s": [0.3, 0.6]}, "metrics": ["acc"]},
}  # fmt: skip


def assert_repeats(a: eh.Audit) -> None:
    """The audit that was saved is made again, with the same provenance."""
    again = eh.Audit.from_json(a.to_json()).repeat()
    assert (again, again.provenance) == (a, a.provenance)
    assert a.changes(again) == []


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_the_recorded_arguments_make_the_same_audit(call: str, file: str) -> None:
    a = eh.audit(file, **CALLS[call])
    assert a.provenance["function"] == "audit"
    assert_repeats(a)


def test_arguments_that_differ_from_the_defaults_are_recorded(file: str) -> None:
    a = eh.compare(file, y_true="y", models={"one": "p", "two": "y"}, groups="race", alpha=0.1, margin=0.1)
    models = {"one": "p", "two": "y"}
    assert a.provenance["call"] == {"y_true": "y", "models": models, "groups": "race", "alpha": 0.1}
    assert_repeats(a)
    Path("counts.csv").write_text("race,tp,fn,fp,tn\nA,9,6,4,21\nB,30,10,12,48\n", "utf-8")
    counts = eh.audit_counts("counts.csv", metrics=["tpr"])
    assert (counts.provenance["function"], counts.provenance["call"]) == ("audit_counts", {"metrics": ["tpr"]})
    assert_repeats(counts)
    passed = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, by="race", metrics=["tpr"])
    assert passed.provenance["call"] == {"by": "race", "metrics": ["tpr"]}
    assert passed.rows == counts.rows


def test_a_file_is_recorded_with_its_digest(file: str) -> None:
    a = eh.audit(file, y_true="y", y_score="s", groups=["race"], threshold=0.5, metrics="tpr")
    record, content = a.provenance, Path(file).read_bytes()
    assert record["made"] == "2023-11-14T22:13:20+00:00"
    source = record["source"]
    assert source["sha256"] == hashlib.sha256(content).hexdigest()
    assert (source["size"], source["rows"], source["paths"]) == (len(content), 60, ["d.csv"])
    assert record["columns"] == {"label": "y", "score": "s", "groups": ["race"]}
    assert record["positive"] == {"label": [1]}
    assert record["threshold"] == 0.5


def test_several_thresholds_are_an_axis_and_one_is_recorded(file: str) -> None:
    columns: Any = {"y_true": "y", "y_score": "s", "groups": "race", "metrics": "tpr"}
    assert eh.audit(file, **columns).provenance["threshold"] == 0.5
    assert eh.audit(file, **columns, threshold=0.3).provenance["threshold"] == 0.3
    several = eh.audit(file, **columns, threshold=[0.5, 0.3])
    assert (several.provenance["threshold"], several.provenance["axes"]) == (None, {"threshold": [0.3, 0.5]})
    assert several.provenance["call"]["threshold"] == [0.5, 0.3]


def test_classes_are_recorded(file: str) -> None:
    a = eh.audit(file, y_true="kind", y_pred="guess", groups="race", classes=["z", "x"], metrics="tpr")
    assert (a.provenance["classes"], a.provenance["axes"]) == (["x", "y", "z"], {"class": ["z", "x"]})


def test_weights_are_recorded_with_their_total(file: str) -> None:
    a = eh.audit(file, y_true="y", y_pred="p", groups="race", sample_weight="s", metrics="acc")
    weights = [(i * 7 % 10) / 10 for i in range(60)]
    assert a.provenance["weight"]["n"] == a.n == sum(w > 0 for w in weights)
    assert a.provenance["weight"]["weight"] == pytest.approx(sum(weights))


def test_values_that_were_passed_are_not_recorded() -> None:
    frame = pd.DataFrame({"race": list("ABAB"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]})
    named = eh.audit(frame, y_true="y", y_pred="p", groups="race", metrics=["acc"])
    assert named.provenance["call"] == {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": ["acc"]}
    passed = eh.audit(y_true=frame.y, y_pred=frame.p, groups=frame.race, metrics=["acc"])
    assert passed.provenance["call"] == {"y_true": None, "y_pred": None, "groups": None, "metrics": ["acc"]}
    assert passed.provenance["columns"] == {"label": "y", "prediction": "p", "groups": ["race"]}
    generator = eh.audit(frame, y_true="y", y_pred="p", groups="race", rng=np.random.default_rng(0))
    assert generator.provenance["call"]["rng"] is None


def test_a_function_is_recorded_by_its_name() -> None:
    def agreement(y_true: Any, y_pred: Any) -> float:
        return float((y_true == y_pred).mean())

    frame = {"race": list("ABAB"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]}
    a = eh.audit(frame, y_true="y", y_pred="p", groups="race", metrics=["acc", agreement, ("cost", agreement)])
    assert a.settings["metrics"] == a.provenance["call"]["metrics"] == ["acc", "agreement", "cost"]


def test_an_infinite_label_is_written_as_text() -> None:
    label = float("inf")
    a = eh.audit(None, y_true=[label, 0, 0, label], y_pred=[label, label, 0, 0], groups=list("aabb"), positive=label)
    again = eh.Audit.from_json(a.to_json())
    assert again == a
    assert again.provenance["positive"] == {"label": ["inf"], "prediction": ["inf"]}


def test_counts_have_a_digest_that_changes_with_them() -> None:
    counts = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}

    def digest(given: Any, by: str = "group") -> str:
        return str(eh.audit_counts(given, by=by, metrics="acc").provenance["source"]["sha256"])

    assert digest(counts) == digest(dict(reversed(counts.items())))
    others = [counts | {"A": (9, 6, 5, 20)}, {"a": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, counts | {"C": (0, 0, 0, 1)}]
    assert len({digest(counts), digest(counts, "race"), *map(digest, others)}) == 5
