"""The record of an audit: where the data came from, how they were read, and the calls that make it again."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from evenhand.auditing import AuditRequest, options_of
from evenhand.auditing.record import check_record
from evenhand.errors import InvalidInput

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
    "several groups": {"y_true": "y", "y_pred": "p", "groups": ["race", "town"], "crossings": 1, "title": "It's"},
    "settings": {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": ["tpr"], "alpha": 0.1, "mid_p": True},
    "thresholds": {"y_true": "y", "y_score": "s", "groups": "race", "threshold": [0.3, 0.7], "metrics": ["tpr", "auc"],
                   "draws": 9, "rng": 5},
    "classes": {"y_true": "kind", "y_pred": "guess", "groups": "race", "classes": ["x"], "averages": [], "draws": 9},
    "all classes": {"y_true": "kind", "y_pred": "guess", "groups": "race", "classes": "all", "draws": 9,
                    "averages": ["weighted f1"], "undefined": "omit"},
    "strata": {"y_true": "y", "y_pred": "p", "groups": "race", "within": "town", "metrics": ["tpr"]},
    "weights": {"y_true": "y", "y_pred": "p", "groups": "race", "weights": "s", "metrics": ["acc"]},
    "names": {"y_true": "y", "y_pred": "p", "groups": "race", "group_names": {"race": {"A": "Ada"}},
              "reference": {"race": "Ada"}, "bins": None},
    "matrix": {"y_true": "y", "y_pred": "p", "groups": "race", "reference": eh.ConfusionMatrix(3, 2, 4, 10)},
    "bins": {"y_true": "y", "y_pred": "p", "groups": "s", "bins": {"s": [0.3, 0.6]}, "metrics": ["acc"]},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_the_recorded_call_makes_the_same_audit(call: str, file: str) -> None:
    a = eh.audit(file, **CALLS[call])
    again = eval(a.record["python"], {"evenhand": eh})
    assert again == a
    assert again.record == a.record
    assert a.record["function"] == "audit"
    assert a.changes(a.repeat()) == []


def test_the_recorded_call_of_models_makes_the_same_audit(file: str) -> None:
    a = eh.compare_models(file, y_true="y", models={"one": "p", "two": "y"}, groups="race", pairs="all", draws=9)
    assert a.record["python"] == (
        "evenhand.compare_models('d.csv', y_true='y', models={'one': 'p', 'two': 'y'}, groups='race', pairs='all', "
        "draws=9)"
    )
    assert eval(a.record["python"], {"evenhand": eh}) == a
    assert a.record["command"] == (
        "evenhand compare d.csv --label y --model one=p --model two=y --group race --pairs all --draws 9"
    )


def test_the_recorded_call_of_counts_makes_the_same_audit(file: str) -> None:
    Path("counts.csv").write_text("race,tp,fn,fp,tn\nA,9,6,4,21\nB,30,10,12,48\n", "utf-8")
    a = eh.audit_counts("counts.csv", metrics=["tpr"])
    assert a.record["python"] == "evenhand.audit_counts('counts.csv', metrics=['tpr'])"
    assert a.record["command"] == "evenhand audit --counts counts.csv --metric tpr"
    assert eval(a.record["python"], {"evenhand": eh}) == a
    passed = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, by="race", metrics=["tpr"])
    assert passed.record["python"] == "evenhand.audit_counts(data, by='race', metrics=['tpr'])"
    assert passed.record["command"] is None
    assert passed.rows == a.rows


def test_a_file_is_recorded_with_its_digest(file: str) -> None:
    a = eh.audit(file, y_true="y", y_score="s", groups=["race"], threshold=0.5, title="A <title>", system="Model & 3",
                 author="me", metrics="tpr")  # fmt: skip
    record, content = a.record, Path(file).read_bytes()
    assert (record["title"], record["system"], record["author"]) == ("A <title>", "Model & 3", "me")
    assert record["made"] == "2023-11-14T22:13:20+00:00"
    source = record["source"]
    assert source["sha256"] == hashlib.sha256(content).hexdigest()
    assert (source["size"], source["rows"], source["paths"]) == (len(content), 60, ["d.csv"])
    assert record["columns"] == {"label": "y", "score": "s", "groups": ["race"]}
    assert record["positive"] == {"label": [1]}
    assert record["threshold"] == 0.5
    words = shlex.split(record["command"])
    assert words[:3] == ["evenhand", "audit", "d.csv"]
    assert words[words.index("--title") + 1] == "A <title>"


def test_several_thresholds_are_an_axis_and_one_is_recorded(file: str) -> None:
    columns: Any = {"y_true": "y", "y_score": "s", "groups": "race", "metrics": "tpr"}
    assert eh.audit(file, **columns).record["threshold"] == 0.5
    assert eh.audit(file, **columns, threshold=0.3).record["threshold"] == 0.3
    several = eh.audit(file, **columns, threshold=[0.5, 0.3])
    assert (several.record["threshold"], several.record["axes"]) == (None, {"threshold": [0.3, 0.5]})
    assert several.record["call"]["threshold"] == [0.5, 0.3]
    assert "--threshold 0.5 --threshold 0.3" in several.record["command"]


def test_classes_are_recorded(file: str) -> None:
    a = eh.audit(file, y_true="kind", y_pred="guess", groups="race", classes=["z", "x"], averages=[], metrics="tpr")
    assert (a.record["classes"], a.record["axes"]) == (["x", "y", "z"], {"class": ["z", "x"]})
    assert a.record["python"] == (
        "evenhand.audit('d.csv', y_true='kind', y_pred='guess', groups='race', classes=['z', 'x'], metrics=['tpr'], "
        "averages=[])"
    )


def test_weights_are_recorded_with_what_cases_are_worth(file: str) -> None:
    a = eh.audit(file, y_true="y", y_pred="p", groups="race", weights="s", metrics="acc")
    weights = [(i * 7 % 10) / 10 for i in range(60)]
    assert a.record["weight"]["n"] == sum(w > 0 for w in weights)
    assert a.record["weight"]["weight"] == pytest.approx(sum(weights))
    assert a.record["weight"]["effective"] == a.n


def test_values_that_were_passed_are_not_recorded() -> None:
    frame = pd.DataFrame({"race": list("ABAB"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]})
    named = eh.audit(frame, y_true="y", y_pred="p", groups="race", metrics=["acc"])
    assert named.record["python"] == ("evenhand.audit(data, y_true='y', y_pred='p', groups='race', metrics=['acc'])")
    assert named.record["command"] is None
    passed = eh.audit(y_true=frame.y, y_pred=frame.p, groups=frame.race, metrics=["acc"])
    assert passed.record["python"] == ("evenhand.audit(y_true=y_true, y_pred=y_pred, groups=groups, metrics=['acc'])")
    assert passed.record["columns"] == {"label": "y", "prediction": "p", "groups": ["race"]}
    generator = eh.audit(frame, y_true="y", y_pred="p", groups="race", rng=np.random.default_rng(0))
    assert generator.record["call"]["rng"] is None
    assert "rng=rng" in generator.record["python"]


def test_a_function_is_recorded_by_its_name() -> None:
    def agreement(y_true: Any, y_pred: Any) -> float:
        return float((y_true == y_pred).mean())

    frame = {"race": list("ABAB"), "y": [1, 0, 1, 0], "p": [1, 1, 0, 0]}
    a = eh.audit(frame, y_true="y", y_pred="p", groups="race", metrics=["acc", agreement, ("cost", agreement)], draws=9)
    assert a.settings["metrics"] == a.record["call"]["metrics"] == ["acc", "agreement", "cost"]


def test_an_infinite_label_is_written_as_text() -> None:
    label = float("inf")
    a = eh.audit(None, y_true=[label, 0, 0, label], y_pred=[label, label, 0, 0], groups=list("aabb"), positive=label)
    again = eh.Audit.from_json(a.to_json())
    assert again == a
    assert again.record["positive"] == {"label": ["inf"], "prediction": ["inf"]}


def test_counts_have_a_digest_that_changes_with_them() -> None:
    counts = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}

    def digest(given: Any, by: str = "group") -> str:
        return str(eh.audit_counts(given, by=by, metrics="acc").record["source"]["sha256"])

    assert digest(counts) == digest(dict(reversed(counts.items())))
    others = [counts | {"A": (9, 6, 5, 20)}, {"a": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, counts | {"C": (0, 0, 0, 1)}]
    assert len({digest(counts), digest(counts, "race"), *map(digest, others)}) == 5


def test_the_options_of_a_request_are_those_of_its_settings() -> None:
    options = options_of(AuditRequest)
    assert options["y_true"] == "--label" and options["group_names"] == "--group-name" and options["rng"] == "--rng"
    assert all(option.startswith("--") for option in options.values())


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"source": []}, "source in the record must be a table; got []"),
        ({"title": 5}, "title in the record must be text; got 5"),
        ({"source": {"sha256": 5}}, "sha256 in the source of the record must be text; got 5"),
        ({"source": {"rows": -1}}, "rows in the source of the record must be a number of them; got -1"),
        ({"source": {"size": True}}, "size in the source of the record must be a number of them; got True"),
        ({"source": {"paths": "d.csv"}}, "paths in the source of the record must be a list of texts; got 'd.csv'"),
        ({"source": {"same_name": 5}}, "same_name in the source of the record must be a table; got 5"),
        ({"columns": {"groups": [1]}}, "groups in the columns of the record must be a list of texts; got [1]"),
        ({"order": {"race": "ab"}}, "the order of 'race' in the record must be a list of texts; got 'ab'"),
    ],
)
def test_a_record_that_somebody_changed_is_refused(record: dict[str, Any], sentence: str) -> None:
    check_record({})
    with pytest.raises(InvalidInput) as refused:
        check_record(record)
    assert str(refused.value) == sentence
