"""The provenance of an audit: where the data came from, how they were read, and the call that repeats it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matrices import matrix
from oracle import refusal

import evenhand as eh
from evenhand.errors import InvalidInput

ROWS = "race,town,y,s,p,kind,guess\n" + "".join(
    f"{'AB'[i % 2]},{'ew'[i // 2 % 2]},{i % 3 % 2},{(i * 7 % 10) / 10},{i % 5 % 2},{'xyz'[i % 3]},{'xyz'[i // 3 % 3]}\n"
    for i in range(60)
)
COUNTS = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CSV file in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(ROWS, "utf-8")


COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race"}
SCORES: dict[str, Any] = {"y_true": "y", "y_score": "s", "groups": "race"}
CLASSES: dict[str, Any] = {"y_true": "kind", "y_pred": "guess", "groups": "race"}
CALLS: list[dict[str, Any]] = [
    COLUMNS | {"groups": ["race", "town"], "intersections": 1, "metrics": ["tpr", "mcc"]},
    COLUMNS | {"metrics": ["tpr"], "alpha": 0.1, "positive": {"label": [1], "prediction": 0},
               "wording": {"cases": "it's", "outcome": ("ill", "well")}},
    SCORES | {"threshold": [0.3, 0.7], "metrics": ["tpr", "auc"], "rng": 5},
    SCORES | {"metrics": ["auc", "brier"], "rng": 9},
    CLASSES | {"classes": ["x"], "metrics": ["tpr", "acc"]},
    CLASSES | {"classes": "all", "metrics": ["tpr", "macro f1"], "rng": 4},
    COLUMNS | {"strata": "town", "metrics": ["tpr"]},
    COLUMNS | {"sample_weight": "s", "metrics": ["acc"]},
    COLUMNS | {"group_names": {"race": {"A": "Ada"}}, "reference": {"race": "Ada"}, "metrics": "ppr"},
    COLUMNS | {"reference": matrix(3, 2, 4, 10), "metrics": "tpr"},
    COLUMNS | {"groups": "s", "bins": {"s": [0.3, 0.6]}, "metrics": ["acc"]},
]  # fmt: skip


def assert_repeats(a: eh.Audit) -> None:
    """The audit that was saved is made again, with the same provenance; drawn p-values, too."""
    again = eh.Audit.from_json(a.to_json()).repeat()
    assert (again, again.provenance) == (a, a.provenance)
    assert a.changes(again) == []


def test_the_recorded_arguments_make_the_same_audit() -> None:
    for call in CALLS:
        assert_repeats(eh.audit("d.csv", **call))
    compared = eh.compare(
        "d.csv", y_true="y", models={"one": "p", "two": "y"}, groups="race", alpha=0.1, family="metric"
    )
    models = {"one": "p", "two": "y"}
    assert compared.provenance["call"] == {"y_true": "y", "models": models, "groups": "race", "alpha": 0.1}
    assert_repeats(compared)
    Path("counts.csv").write_text("race,tp,fn,fp,tn\nA,9,6,4,21\nB,30,10,12,48\n", "utf-8")
    counts = eh.audit_counts("counts.csv", metrics=["tpr"])
    assert (counts.provenance["function"], counts.provenance["call"]) == ("audit_counts", {"metrics": ["tpr"]})
    assert_repeats(counts)
    passed = eh.audit_counts(COUNTS, by="race", metrics=["tpr"])
    assert passed.provenance["call"] == {"by": "race", "metrics": ["tpr"]} and passed.rows == counts.rows


def test_a_group_that_is_called_rest_stays_the_reference() -> None:
    counts = {"rest": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (3, 4, 5, 6)}
    calls: list[dict[str, Any]] = [{}, {"reference": "rest"}]
    for given in calls:
        a = eh.audit_counts(counts, metrics="tpr", **given)
        assert a.repeat(counts) == a
        assert {r.reference_kind for r in a.rows} == {"group" if given else "rest"}


def test_a_file_is_recorded_with_its_digest_and_may_move() -> None:
    a = eh.audit("d.csv", **SCORES | {"groups": ["race"]}, threshold=0.5, metrics="tpr")
    record, content = a.provenance, Path("d.csv").read_bytes()
    assert record["made"] == "2023-11-14T22:13:20+00:00"
    source = record["source"]
    assert source["sha256"] == hashlib.sha256(content).hexdigest()
    assert (source["size"], source["rows"], source["paths"]) == (len(content), 60, ["d.csv"])
    assert record["columns"] == {"label": "y", "score": "s", "groups": ["race"]}
    assert (record["positive"], record["threshold"]) == ({"label": [1]}, 0.5)
    second = Path("d.csv").rename("e.csv")
    with pytest.raises(InvalidInput, match="there is no file"):
        a.repeat()
    assert a.changes(a.repeat(second)) == []
    second.write_text("\n".join(ROWS.splitlines()[:-1]) + "\n", "utf-8")
    last = a.changes(a.repeat(second))[-1]
    assert last.startswith("the SHA-256 of the data was ") and "; the number of rows was 60 and is 59; other" in last


def test_thresholds_classes_and_weights_are_recorded() -> None:
    assert eh.audit("d.csv", **SCORES, metrics="tpr").provenance["threshold"] == 0.5
    several = eh.audit("d.csv", **SCORES, metrics="tpr", threshold=[0.5, 0.3]).provenance
    assert (several["threshold"], several["axes"]) == (None, {"threshold": [0.3, 0.5]})
    assert several["call"]["threshold"] == [0.5, 0.3]
    classes = eh.audit("d.csv", **CLASSES, classes=["z", "x"], metrics="tpr").provenance
    assert (classes["classes"], classes["axes"]) == (["x", "y", "z"], {"class": ["z", "x"]})
    weights, weighted = [(i * 7 % 10) / 10 for i in range(60)], eh.audit("d.csv", **COLUMNS, sample_weight="s")
    assert weighted.provenance["weight"]["n"] == weighted.n == sum(w > 0 for w in weights)
    assert weighted.provenance["weight"]["weight"] == pytest.approx(sum(weights))


def test_values_that_were_passed_are_not_recorded() -> None:
    frame = pd.DataFrame({"race": list("ABAB"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]})
    named = eh.audit(frame, **COLUMNS, metrics=["acc"])
    assert named.provenance["call"] == {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": ["acc"]}
    passed = eh.audit(y_true=frame.y, y_pred=frame.p, groups=frame.race, metrics=["acc"])
    assert passed.provenance["call"] == {"y_true": None, "y_pred": None, "groups": None, "metrics": ["acc"]}
    listed = eh.audit(frame, y_true=["x", "y", "x", "y"], y_pred=list("xyxx"), groups="race", positive="x")
    assert (listed.provenance["call"]["y_true"], listed.provenance["call"]["groups"]) == (None, "race")
    assert passed.provenance["columns"] == {"label": "y", "prediction": "p", "groups": ["race"]}
    infinite = float("inf")
    a = eh.audit(y_true=[infinite, 0, 0], y_pred=[infinite, 0, infinite], groups=list("abb"), positive=infinite)
    assert eh.Audit.from_json(a.to_json()).provenance["positive"] == {"label": ["inf"], "prediction": ["inf"]}


def test_what_the_provenance_lacks_cannot_be_repeated() -> None:
    """P-values of a part of an audit are adjusted over the whole."""
    frame = pd.read_csv("d.csv")
    values = {name: frame[column] for name, column in COLUMNS.items()}
    lacks, again = "the provenance does not contain the values of", "audit the data again"
    whole = "the provenance must be that of a whole audit, not of a part of one"
    unknown_data = "the provenance does not contain the data; pass them"
    functions = eh.audit(frame, metrics=["acc", ("cost", lambda y, p: 1.0)], **COLUMNS)
    assert functions.settings["metrics"] == functions.provenance["call"]["metrics"] == ["acc", "cost"]
    complete = eh.audit(frame, **COLUMNS, metrics="tpr")
    audits: list[tuple[eh.Audit, str]] = [
        (eh.audit(**values, metrics="tpr"), f"{lacks} y_true, y_pred, groups; {again}"),
        (functions, f"{lacks} cost; {again}"),
        (eh.audit(frame, **COLUMNS, strata="town", metrics="tpr").at(stratum="e"), whole),
        (eh.audit_counts(COUNTS, metrics="tpr"), unknown_data),
        (eh.audit("d.csv", **COLUMNS, metrics="tpr", protect="cms"), unknown_data),
    ]
    for rng in (np.random.default_rng(0), None):
        drawn = eh.audit(frame, **SCORES, metrics="auc", rng=rng)
        audits.append((eh.Audit.from_json(drawn.to_json()), f"{lacks} rng; {again}"))
    unknown = "the provenance has an argument that is unknown: "
    for change, sentence in (
        ({"function": "rm"}, whole),
        ({"call": {"colour": "red"}}, f"{unknown}'colour'"),
        ({"call": {"data": "d.csv"}}, f"{unknown}'data'"),
        ({"call": {}}, "groups must be the name of a column or its values; got None"),
    ):
        audits.append((replace(complete, provenance=complete.provenance | change), sentence))
    for a, sentence in audits:
        assert refusal(a.repeat, None if "pass them" in sentence else frame) == f"InvalidInput: {sentence}"


def test_counts_have_a_digest_that_changes_with_them() -> None:
    def digest(given: Any, by: str = "group") -> str:
        return str(eh.audit_counts(given, by=by, metrics="acc").provenance["source"]["sha256"])

    assert digest(COUNTS) == digest(dict(reversed(COUNTS.items())))
    others = [COUNTS | {"A": (9, 6, 5, 20)}, {"a": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, COUNTS | {"C": (0, 0, 0, 1)}]
    assert len({digest(COUNTS), digest(COUNTS, "race"), *map(digest, others)}) == 5
