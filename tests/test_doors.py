"""The same audit through every door: frames, values, files, counts, the command and the web app; and its record."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import hostile
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from decisions import ELSEWHERE, HELD, TABLE
from engines import pa, pl
from matrices import matrix

import evenhand as eh
from evenhand.cli import evenhand
from evenhand.errors import InvalidInput
from evenhand.web.tasks import TASKS

COUNTS: dict[tuple[str, str], tuple[int, int, int, int]] = {
    ("1", "M"): (40, 10, 20, 130), ("1", "F"): (30, 20, 10, 100), ("2", "M"): (20, 20, 30, 60),
    ("2", "F"): (9, 11, 12, 50), ("10", "M"): (5, 5, 5, 15), ("10", "F"): (3, 4, 6, 20),
}  # fmt: skip
DECISIONS = ((1, "High"), (1, "Low"), (0, "Medium"), (0, "Low"))
COUNTED = [
    (f"race {race}", sex, label, prediction, n)
    for (race, sex), cells in COUNTS.items()
    for (label, prediction), n in zip(DECISIONS, cells, strict=True)
]
NAMES = ("race", "sex", "label", "text", "n")
ONCE = dict(zip(NAMES, map(list, zip(*COUNTED, strict=True)), strict=True))
ROWS = {name: [row[i] for row in COUNTED for _ in range(row[4])] for i, name in enumerate(NAMES[:4])}
SETTINGS: dict[str, Any] = {"metrics": ["tpr", "ppr", "mcc"], "reference": {"race": "race 2"}, "alpha": 0.1}
ASKED: dict[str, Any] = {
    "y_true": "label", "y_pred": "text", "groups": ["race", "sex"],
    "positive": {"label": 1, "prediction": ["Medium", "High"]}, **SETTINGS,
}  # fmt: skip
WORDS = [
    *("--label", "label", "--prediction", "text", "--group", "race", "--group", "sex", "--positive-label", "1"),
    *("--positive-prediction", "Medium", "--positive-prediction", "High"),
]
CHOICES = ["--metric", "tpr", "--metric", "ppr", "--metric", "mcc", "--reference", "race=race 2", "--alpha", "0.1"]
TOML = """alpha = 0.1
metric = ["tpr", "ppr", "mcc"]
reference = {race = "race 2"}
"""
BASE = eh.audit(ROWS, **ASKED)


def run(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(evenhand, ["audit", *words], input=stdin)


def typed(*words: str, stdin: bytes | None = None) -> eh.Audit:
    result = run(*words, "--json", "-", stdin=stdin)
    assert result.exit_code == 0, result.output
    return eh.Audit.from_json(result.stdout)


def written(suffix: str, table: dict[str, list[Any]] = ROWS) -> str:
    Path(f"d{suffix}").write_bytes(hostile.FORMATS[suffix](table))
    return f"d{suffix}"


def counts_file() -> str:
    lines = [f"race {race},{sex},{','.join(map(str, cells))}" for (race, sex), cells in COUNTS.items()]
    Path("counts.csv").write_text("\n".join(["race,sex,tp,fn,fp,tn", *lines]))
    return "counts.csv"


def configured() -> eh.Audit:
    Path("audit.toml").write_text(TOML)
    return typed(written(".csv"), *WORDS, "--config", "audit.toml")


def submitted() -> eh.Audit:
    """What the web app makes of its form."""
    form = {
        "y_true": "label", "y_pred": "text", "groups": ["race", "sex"], "metrics": SETTINGS["metrics"],
        "alpha": "0.1", "reference": {"race": "race 2", "sex": "rest"}, "positive_label": ["1"],
        "positive_prediction": ["Medium", "High"],
    }  # fmt: skip
    Path("out").mkdir()
    TASKS["audit"](data=written(".csv"), counts=False, asked=form, out="out")
    (saved,) = Path("out").glob("*.json")
    return eh.Audit.from_json(saved.read_text("utf-8"))


VALUES = {"y_true": ROWS["label"], "y_pred": np.array(ROWS["text"])}
DOORS: dict[str, Callable[[], eh.Audit]] = {
    **{name: lambda make=make: eh.audit(make(ROWS), **ASKED) for name, make in (HELD | ELSEWHERE).items()},  # type: ignore[misc]
    **{f"file{end}": lambda end=end: eh.audit(written(end), **ASKED) for end in hostile.WRITTEN},  # type: ignore[misc]
    "values": lambda: eh.audit(None, **ASKED | VALUES | {"groups": {"race": ROWS["race"], "sex": ROWS["sex"]}}),
    "values beside a frame": lambda: eh.audit(pd.DataFrame(ROWS), **ASKED | VALUES),
    "rows that count": lambda: eh.audit(ONCE, count="n", **ASKED),
    "counts": lambda: eh.audit_counts(
        {(f"race {race}", sex): cells for (race, sex), cells in COUNTS.items()}, by=["race", "sex"], **SETTINGS
    ),
    "frame of counts": lambda: eh.audit_counts(pd.read_csv(counts_file()), **SETTINGS),
    "file of counts": lambda: eh.audit_counts(counts_file(), **SETTINGS),
    "codes with names": lambda: eh.audit_counts(
        COUNTS, by=["race", "sex"], group_names={"race": {1: "race 1", "2": "race 2", "10": "race 10"}}, **SETTINGS
    ),
    "command": lambda: typed(written(".csv"), *WORDS, *CHOICES),
    "command, standard input": lambda: typed(
        "-", *WORDS, *CHOICES, stdin=Path(written(".csv")).read_bytes()
    ),
    "command, rows that count": lambda: typed(written(".csv", ONCE), "--count", "n", *WORDS, *CHOICES),
    "command, counts": lambda: typed("--counts", counts_file(), *CHOICES),
    "command, options from a file": configured,
    "web app": submitted,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The 'future.infer_string':DeprecationWarning")
@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_audit(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    audit = DOORS[door]()
    assert {row.group: row.cells for row in BASE.rows if row.by == "race & sex"} == {
        f"race {race} & {sex}": cells for (race, sex), cells in COUNTS.items()
    }
    rows, expected = ({(row.group, row.metric): row.to_dict() for row in a.rows} for a in (audit, BASE))
    assert rows == expected
    assert [finding.sentence for finding in audit.findings] == [finding.sentence for finding in BASE.findings]


def test_an_audit_answers_in_the_callers_own_library() -> None:
    for frame, library in ((pd.DataFrame, pd), (pl.DataFrame, pl), (pl.LazyFrame, pl)):
        a = eh.audit(frame(TABLE), y_true="y", y_pred="p", groups="g", metrics=["acc"])
        assert type(a.to_frame()) is library.DataFrame and len(a.to_frame()) == 2
    assert isinstance(a.to_frame("pyarrow"), pa.Table)


# The record

ARGUMENTS: list[dict[str, Any]] = [
    {"metrics": ["tpr", "mcc"], "reference": matrix(40, 10, 20, 130), "strength": "auto"},
    {"reference": {"race": "largest", "sex": matrix(4, 3, 2, 1)}, "intersections": 1},
    {"strength": {"prev": 7, "tpr": 20.5, "fpr": 20}, "group_names": {"race": {"race 1": 'it\'s, "1"'}}},
    {"favourable": "negative", "family": "audit", "adjust": "bh", "confidence_level": 0.9, "margin": 0.2},
    {"goal": {"tpr": 0.75, "fpr": "<=0.3", "f1": ">=.5"}, "metrics": ["ppr"], "reference": "largest"},
    {"reference": "all", "wording": {"cases": "-- $(echo) `x` 'y'"}, "metrics": ["equalized_odds"]},
]  # fmt: skip


@pytest.mark.slow
def test_every_setting_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.read_csv(counts_file())
    for settings in ARGUMENTS:
        for data in ("counts.csv", frame):
            a = eh.audit_counts(data, **settings)
            again = eh.Audit.from_json(a.to_json()).repeat(None if data is not frame else frame)
            assert again == a and a.changes(again) == []


def test_the_record_says_what_was_read_and_repeats_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    titles = ["--title", "Risk scores", "--system", "COMPAS", "--author", "A. Auditor"]
    assert run(written(".csv"), *WORDS, *CHOICES, *titles, "--json", "a.json").exit_code == 0
    saved = json.loads(Path("a.json").read_text())
    record, content = saved["provenance"], Path("d.csv").read_bytes()
    assert record["source"] | {"paths": []} == {
        "kind": "file", "name": "d.csv", "files": 1, "size": len(content), "sha256": sha256(content).hexdigest(),
        "format": "csv", "separator": ",", "rows": len(ROWS["race"]), "paths": [],
    }  # fmt: skip
    assert record["columns"] == {"label": "label", "prediction": "text", "groups": ["race", "sex"]}
    assert record["positive"] == {"label": [1], "prediction": ["Medium", "High"]}
    assert record["negative"] == {"label": [0], "prediction": ["Low"]}
    assert record["call"] == ASKED | {"positive": {"label": "1", "prediction": ["Medium", "High"]}}
    assert record["made"] == "2023-11-14T22:13:20+00:00"
    again = run("--repeat", "a.json")
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "Nothing changed.")
    Path("d2.csv").write_bytes(content.replace(b"race 1,M", b"race 2,M", 40))
    moved = run("--repeat", "a.json", "d2.csv")
    assert moved.exit_code == 1 and "- the SHA-256 of the data was " in moved.stdout
    # A changed record is noticed, and one that cannot be repeated is refused.
    sources: list[Any] = [None, [], {"kind": "file", "paths": 5}]
    calls: list[Any] = [None, {"nonsense": 1}, {"reference": [1, 2]}]
    for changed, code in (
        ({"findings": []}, 1),
        ({"settings": saved["settings"] | {"alpha": 0.5}}, 1),
        ({"left_out": {"y_true": 5}}, 1),
        ({"provenance": record | {"source": record["source"] | {"sha256": None}}}, 1),
        *(({"provenance": record | {"source": source}}, 2) for source in sources),
        *(({"provenance": record | {"call": call}}, 2) for call in calls),
    ):
        Path("b.json").write_text(json.dumps(saved | changed))
        result = run("--repeat", "b.json")
        assert result.exit_code == code and isinstance(result.exception, SystemExit), changed
    for name in ("none.json", "d.csv", ""):
        assert run("--repeat", name).exit_code == 2


def test_examples_are_repeated(tmp_path: Path) -> None:
    saved = str(tmp_path / "a.json")
    for name, more in (("compas", ["--reference", "100,20,30,400"]), ("folktables_income", [])):
        a = typed("--example", name, "--metric", "tpr", *more)
        assert (a.provenance["source"]["kind"], a.provenance["source"]["name"]) == ("example", name)
        Path(saved).write_text(a.to_json())
        assert run("--repeat", saved).stdout.splitlines()[-1] == "Nothing changed."


def test_nothing_of_values_or_copies_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    piped = DOORS["command, standard input"]().provenance
    assert piped["source"]["name"] == "-" and "tmp" not in json.dumps(piped)
    a = DOORS["values"]()
    assert (a.provenance["call"]["y_true"], a.provenance["call"]["y_pred"]) == (None, None)
    with pytest.raises(InvalidInput, match=r"^the provenance does not contain the values of y_true, y_pred, groups"):
        a.repeat()
    with pytest.raises(InvalidInput, match=r"^the provenance does not contain the data; pass them$"):
        BASE.repeat()


# What an adversary found

Y, P, G = [1, 1, 0, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 1, 0, 0], ["a", "b"] * 4
FRAME: dict[str, Any] = {"y_true": Y, "y_pred": P, "groups": G}


def test_names_of_groups_may_contain_any_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text('ra:ce,tp,fn,fp,tn\n>=30,9,6,4,21\n"1,2,3,4",30,10,12,48\nA=1,3,4,5,6\n')
    names = {"ra:ce": {">=30": "older", "A=1": "a=b:c"}}
    a = eh.audit_counts("counts.csv", group_names=names, metrics="tpr", reference="1,2,3,4")
    assert {r.group for r in a.rows} == {"older", "1,2,3,4", "a=b:c"}
    assert {(r.reference, r.reference_kind) for r in a.rows} == {("1,2,3,4", "group")}, "a group of that name is meant"
    Path("audit.toml").write_text('[audit.group_names."ra:ce"]\n">=30" = "older"\n"A=1" = "a=b:c"\n')
    words = ["--config", "audit.toml", "--counts", "counts.csv", "--metric", "tpr", "--reference", "1,2,3,4"]
    assert typed(*words).rows == a.rows
    refused = run("--counts", "counts.csv", "--group-name", "rae:1=x")
    assert refused.stderr.startswith("Error: no group column in --group-name is called 'rae'")


def test_what_makes_no_sense_is_refused_in_a_sentence() -> None:
    wrong: list[dict[str, Any]] = [
        *({"positive": p} for p in ([[1]], {1: 1}, {"label": 1, "y_pred": 1}, {"label": "zzz"}, {"prediction": "zzz"})),
        *({"reference": r} for r in (np.array([1, 2, 3, 4]), {"group": pd.Series([1, 2, 3, 4])}, (1, 2, 3, 4))),
        {"intersections": "9" * 5000}, {"groups": [None] * 8}, {"groups": [None, "None"] * 4},
    ]  # fmt: skip
    for settings in wrong:
        with pytest.raises(eh.EvenhandError):
            eh.audit(**FRAME | settings)
    a = eh.audit(**FRAME)
    for call in (lambda: a.changes(None), lambda: a.to_frame("nolib"), lambda: a.to_html("/")):  # type: ignore[arg-type]
        with pytest.raises(eh.EvenhandError):
            call()


def test_positive_labels_and_codes_are_what_they_mean() -> None:
    """In any container, and as any number."""
    for positive in (pd.Series([1]), pd.Index([1]), pl.Series([1]), {1: 1}.keys(), np.array(1), np.array([1])):
        assert eh.audit(**FRAME, positive=positive).n == 8
    assert eh.audit(y_true=Y, y_score=P, groups=G, threshold=np.array(0.5)).n == 8  # type: ignore[arg-type]
    codes: dict[str, Any] = {"groups": [1.0, 2.0] * 4, "group_names": {"group": {1.0: "One", 2: "Two"}}}
    a = eh.audit(**FRAME | codes, reference=2.0)  # type: ignore[arg-type]
    assert ({r.group for r in a.rows}, {r.reference for r in a.rows}) == ({"One", "Two"}, {"Two"})
    levels = eh.audit(
        y_true=["none", "low", "mid", "high"] * 2, y_pred=[0, 0, 1, 1] * 2, groups=["a"] * 4 + ["b"] * 4,
        positive={"label": ["mid", "high"]}, metrics="fpr",
    )  # fmt: skip
    assert (levels.n, levels.left_out, levels.provenance["negative"]["label"]) == (8, {}, ["low", "none"])
    unlike = eh.audit(**FRAME | {"groups": ["(missing)", "b"] * 4})
    assert not [f for f in unlike.findings if f.kind == "missing-group"]


def test_columns_that_nobody_asked_for_need_no_names(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("g,y,p,,\na,1,1,,\nb,0,1,,\na,0,0,,\nb,1,1,,\n")
    assert eh.audit(path, y_true="y", y_pred="p", groups="g").n == 4
