# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc"
"""Audits through every door: files, frames and the command; bins, names, references, crossings and records."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from decisions import TABLE
from engines import pa, pl
from matrices import matrix

import evenhand as eh
from evenhand.cli import evenhand
from evenhand.data import Answers, build_tally
from evenhand.errors import InvalidInput
from evenhand.examples import compas

RISKY = ["Medium", "High"]


def run(*words: str) -> Result:
    return CliRunner().invoke(evenhand, ["audit", *words])


def cells(a: eh.Audit, by: str) -> dict[str, tuple[int | None, ...]]:
    return {r.group: r.cells for r in a.rows if r.by == by}


def made_up_people() -> list[dict[str, Any]]:
    """One person per case of the shipped example, as the raw file has them."""
    rng = random.Random(1)
    people = []
    for race, cm in compas().items():
        counts = {(1, True): cm.tp, (1, False): cm.fn, (0, True): cm.fp, (0, False): cm.tn}
        for (label, risky), n in counts.items():
            people += [
                {
                    "race": race,
                    "sex": rng.choice(["Male", "Male", "Female"]),
                    "age": rng.randint(18, 70),
                    "two_year_recid": label,
                    "score_text": rng.choice(RISKY) if risky else "Low",
                    "decile_score": rng.randint(5, 10) if risky else rng.randint(1, 4),
                }
                for _ in range(int(n))
            ]
    rng.shuffle(people)
    return people


@pytest.fixture(scope="module")
def people() -> list[dict[str, Any]]:
    return made_up_people()


@pytest.fixture(scope="module")
def file(people: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("raw") / "compas-scores-two-years.csv"
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(people[0]))
        writer.writeheader()
        writer.writerows(people)
    return str(path)


# Positive labels


def test_the_raw_file_gives_the_counts_of_the_example_by_race(file: str) -> None:
    words = ["--label", "two_year_recid", "--prediction", "score_text", "--positive-label", "1"]
    words += ["--positive-prediction", "Medium", "--positive-prediction", "High", "--group", "race", "--group", "sex"]
    result = run(file, *words, "--json", "-")
    assert result.exit_code == 0, result.output
    a = eh.Audit.from_json(result.stdout)
    assert cells(a, "race") == {race: tuple(cm.cells) for race, cm in compas().items()}
    assert {r.by for r in a.rows} == {"race", "sex", "race & sex"}
    assert a.provenance["positive"] == {"label": [1], "prediction": RISKY}
    assert a.provenance["negative"] == {"label": [0], "prediction": ["Low"]}


def test_what_could_be_mistaken_is_refused_with_the_values_and_the_option(file: str) -> None:
    columns = ["--label", "two_year_recid", "--prediction", "score_text", "--group", "race"]
    for more in ([], ["--positive", "High"], ["--positive", "1"]):
        assert run(file, *columns, *more).stderr == (
            "Error: --label contains numbers (0, 1) but --prediction contains text ('High', 'Low', 'Medium'); pass the "
            "positive labels of each as --positive-label and --positive-prediction\n"
        )
    assert (
        "one of the labels ('High', 'Low', 'Medium'); got 'high'"
        in run(file, *columns, "--positive-prediction", "high").stderr
    )
    # Alone, the prediction's labels settle it: 0 and 1 are unambiguous.
    assert run(file, *columns, "--positive-prediction", "High").exit_code == 0


def test_a_positive_label_that_does_not_occur_is_said(tmp_path: Path) -> None:
    data = {"y": [1, 0, 1, 0], "p": [8, 9, 1, 2], "g": list("aabb")}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", positive={"prediction": [8, 9, 10]})
    assert [f.sentence for f in a.findings if f.kind == "absent-label"] == [
        "10 was given as a positive label and does not occur"
    ]


def test_people_who_are_all_positive_can_be_audited_if_that_is_said() -> None:
    data = {"y": [1] * 6, "p": [1, 0, 1, 1, 0, 0], "g": list("aaabbb")}
    with pytest.raises(InvalidInput, match=r"^y_true contains one class only \(1\); if that is right, pass the"):
        eh.audit(data, y_true="y", y_pred="p", groups="g", metrics="tpr")
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", metrics="tpr", positive=1)
    assert cells(a, "g") == {"a": (2, 1, 0, 0), "b": (1, 2, 0, 0)}
    assert a.findings[0].sentence == (
        "Every label of all 6 cases is positive; if that is not so, check the column or the positive labels"
    )
    assert (a.findings[0].kind, a.findings[0].code) == ("constant", "EH001")


# Scores and thresholds


def test_scores_beyond_one_need_a_threshold(file: str, people: list[dict[str, Any]]) -> None:
    words = [file, "--label", "two_year_recid", "--score", "decile_score", "--group", "race"]
    refused = run(*words)
    assert refused.exit_code == 2
    assert refused.stderr == (
        "Error: --score must be between 0 and 1 for the default threshold of 0.5; for other scores pass --threshold, "
        "at or above which they are positive\n"
    )
    a = eh.Audit.from_json(run(*words, "--threshold", "5", "--json", "-").stdout)
    assert cells(a, "race") == {race: tuple(cm.cells) for race, cm in compas().items()}
    everybody = eh.Audit.from_json(run(*words, "--threshold", "1", "--json", "-").stdout)
    assert everybody.findings[0].sentence == (
        f"Every prediction of all {len(people):,} cases is positive; if that is not so, check the column or the "
        "threshold"
    )
    with pytest.raises(InvalidInput, match=r"^threshold is for scores"):
        eh.audit(pd.DataFrame(people), y_true="two_year_recid", y_pred="decile_score", groups="race", threshold=5)


# Groups: bins, names, order, crossings, references


def test_numbers_are_cut_into_bins(file: str, people: list[dict[str, Any]]) -> None:
    words = [file, "--label", "two_year_recid", "--score", "decile_score", "--threshold", "5"]
    a = eh.Audit.from_json(run(*words, "--group", "age", "--bins", "age=45,25", "--json", "-").stdout)
    sizes = {r.group: r.n for r in a.rows}
    expected = Counter(
        "below 25" if p["age"] < 25 else "25 to below 45" if p["age"] < 45 else "45 and above" for p in people
    )
    assert sizes == expected
    frame = pl.DataFrame(people)
    again = eh.audit(frame, y_true="two_year_recid", y_score="decile_score", threshold=5, groups="age",
                     bins={"age": [25, 45]})  # fmt: skip
    assert {r.group: r.n for r in again.rows} == expected
    for bins, sentence in (
        ({"agee": [1]}, "no group column to cut into bins is called 'agee'; did you mean 'age'?"),
        ({"age": []}, "bins of 'age' must contain at least one number"),
        ({"age": "25"}, "bins of 'age' must be numbers; got '25'"),
        ({"age": [float("nan")]}, "bins of 'age' must be a finite number; got nan"),
    ):
        with pytest.raises(eh.EvenhandError) as refusal:
            eh.audit(frame, y_true="two_year_recid", y_score="decile_score", threshold=5, groups="age", bins=bins)  # type: ignore[arg-type]
        assert str(refusal.value) == sentence


COUNTS: dict[tuple[int, str], tuple[int, int, int, int]] = {
    (1, "M"): (40, 10, 20, 130), (1, "F"): (30, 20, 10, 100), (2, "M"): (20, 20, 30, 60), (2, "F"): (9, 11, 12, 50),
    (10, "M"): (5, 5, 5, 15), (10, "F"): (3, 4, 6, 20),
}  # fmt: skip
NAMES = {"race": {1: "White", "2": "Black"}}


def test_codes_get_names_in_every_door(tmp_path: Path) -> None:
    a = eh.audit_counts(COUNTS, by=["race", "sex"], metrics="tpr", group_names=NAMES, reference={"race": "White"})
    assert {r.group for r in a.rows if r.by == "race"} == {"White", "Black", "race 10"}
    assert {r.reference for r in a.rows if r.by == "race"} == {"White"}
    by_code = eh.audit_counts(COUNTS, by=["race", "sex"], metrics="tpr", group_names=NAMES, reference={"race": "1"})
    assert by_code.rows == a.rows
    path = tmp_path / "counts.csv"
    lines = [f"{race},{sex},{','.join(map(str, cm))}" for (race, sex), cm in COUNTS.items()]
    path.write_text("\n".join(["race,sex,tp,fn,fp,tn", *lines]))
    words = ["--counts", str(path), "--metric", "tpr", "--reference", "race=White", "--json", "-"]
    typed = run(*words, "--group-name", "race:1=White", "--group-name", "race:2=Black")
    assert eh.Audit.from_json(typed.stdout).rows == a.rows
    config = tmp_path / "audit.toml"
    config.write_text('[audit.group_names.race]\n1 = "White"\n2 = "Black"\n[audit.reference]\nrace = "White"\n')
    assert eh.Audit.from_json(run("--config", str(config), *words[:4], "--json", "-").stdout).rows == a.rows
    for labels, sentence in (
        ({"race": {1: "X", 2: "X"}}, "group_names of 'race' must give different names to different groups; 1 and 2 are both "  # noqa: E501
         "called 'X'"),
        ({"rcae": {1: "X"}}, "no group column in group_names is called 'rcae'; did you mean 'race'?"),
        ({"race": {1: 5}}, "the name of 1 in group_names of 'race' must be text; got 5"),
        ({"race": {1: "X", "1": "Y"}}, "group_names of 'race' must name each value once; got {1: 'X', '1': 'Y'}"),
        ({"race": "X"}, "group_names must map group columns to the names of their values, as {'race': {1: 'White'}}; got "  # noqa: E501
         "{'race': 'X'}"),
    ):  # fmt: skip
        with pytest.raises(eh.EvenhandError) as refusal:
            eh.audit_counts(COUNTS, by=["race", "sex"], group_names=labels)  # type: ignore[arg-type]
        assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    "frame",
    [
        lambda g, y: pd.DataFrame({"g": pd.Categorical(g, ["low", "mid", "high"], ordered=True), "y": y}),
        lambda g, y: pl.DataFrame({"g": pl.Series(g, dtype=pl.Enum(["low", "mid", "high"])), "y": y}),
    ],
)
def test_ordered_categories_keep_their_order(frame: Any) -> None:
    data = frame(["high", "low", "high", "low"], [1, 0, 0, 1])
    for tally in (
        build_tally(data, {"g": "g"}, Answers(y_true="y", y_pred="y"), {"cells"}),
        build_tally(None, {"g": data["g"]}, Answers(y_true=[1, 0, 0, 1], y_pred=[1, 0, 0, 1]), {"cells"}),
    ):
        assert tally.orders == {"g": ("low", "mid", "high")}
    a = eh.audit(data, y_true="y", y_pred="y", groups="g", metrics="acc")
    assert a.provenance["order"] == {"g": ["low", "high"]}


@pytest.mark.parametrize(
    ("intersections", "expected"),
    [
        (1, {"a", "b", "c"}),
        (2, {"a", "b", "c", "a & b", "a & c", "b & c"}),
        (3, {"a", "b", "c", "a & b", "a & c", "b & c", "a & b & c"}),
        ("all", {"a", "b", "c", "a & b", "a & c", "b & c", "a & b & c"}),
        (9, {"a", "b", "c", "a & b", "a & c", "b & c", "a & b & c"}),
    ],
)
def test_columns_are_crossed_as_deep_as_asked(intersections: Any, expected: set[str]) -> None:
    counts = {(a, b, c): (3, 2, 4, 9 + len(a)) for a in ("1", "22") for b in "xy" for c in "uv"}
    found = eh.audit_counts(counts, by=["a", "b", "c"], metrics="acc", intersections=intersections)
    assert {r.by for r in found.rows} == expected
    for by in expected:
        assert sum(r.n for r in found.rows if r.by == by) == found.n
    whole = {r.group: r.cells for r in found.rows if r.by == "a & b & c"}
    if whole:
        assert whole == {f"a {' & '.join(key)}": cm for key, cm in counts.items()}
    if intersections == 1:
        return
    default = eh.audit_counts(counts, by=["a", "b", "c"], metrics="acc")
    assert {r.by for r in default.rows} == {"a", "b", "c", "a & b", "a & c", "b & c"}


@pytest.mark.parametrize("intersections", [0, -1, 1.5, "two", True, None])
def test_crossings_that_make_no_sense_are_refused(intersections: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^intersections must be 1, 2, 3, … or 'all'; got "):
        eh.audit_counts(COUNTS, by=["race", "sex"], intersections=intersections)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ({"race": "1", "sex": "M"}, ["race=1", "sex=M"]),
        ({"race & sex": "1 & M", "race": "1", "sex": "M"}, ["race & sex=1 & M", "race=1", "sex=M"]),
        ({"race & sex": "race 1 & M", "race": "race 1", "sex": "M"}, ["race & sex=race 1 & M", "race=race 1", "sex=M"]),
        ({("race", "sex"): ("1", "M"), "race": "1", "sex": "M"}, None),
        ({("race", "sex"): (1, "M"), "race": 1, "sex": "M"}, None),
    ],
)
def test_the_reference_of_a_crossing_is_the_crossing_of_references(
    reference: Any, words: list[str] | None, tmp_path: Path
) -> None:
    a = eh.audit_counts(COUNTS, by=["race", "sex"], metrics="tpr", reference=reference)
    assert {(r.by, r.reference, r.reference_kind) for r in a.rows} == {
        ("race", "race 1", "group"), ("sex", "M", "group"), ("race & sex", "race 1 & M", "group"),
    }  # fmt: skip
    row = next(r for r in a.rows if r.group == "race 2 & F")
    assert row.reference_cells == COUNTS[1, "M"]
    if words is not None:
        path = tmp_path / "counts.csv"
        lines = [f"{race},{sex},{','.join(map(str, cm))}" for (race, sex), cm in COUNTS.items()]
        path.write_text("\n".join(["race,sex,tp,fn,fp,tn", *lines]))
        options = [word for name in words for word in ("--reference", name)]
        typed = run("--counts", str(path), "--metric", "tpr", *options, "--json", "-")
        assert eh.Audit.from_json(typed.stdout).rows == a.rows


def test_a_crossing_without_references_of_all_its_columns_is_compared_with_the_rest() -> None:
    a = eh.audit_counts(COUNTS, by=["race", "sex"], metrics="tpr", reference={"race": "1"})
    assert {(r.by, r.reference) for r in a.rows} == {("race", "race 1"), ("sex", "rest"), ("race & sex", "rest")}


def test_a_crossing_of_references_without_cases_is_refused() -> None:
    counts = {key: cm for key, cm in COUNTS.items() if key != (1, "M")}
    with pytest.raises(InvalidInput) as refusal:
        eh.audit_counts(counts, by=["race", "sex"], reference={"race": "1", "sex": "M"})
    assert str(refusal.value) == "the reference of 'race & sex' must be a group that has cases; 1 & M has none"


def test_the_largest_and_the_best_group_can_be_the_reference() -> None:
    counts = {"a": (10, 40, 10, 140), "b": (30, 20, 20, 30), "c": (1, 0, 1, 0), "d": (20, 10, 10, 60)}
    largest = eh.audit_counts(counts, metrics="tpr", reference="largest")
    assert {r.reference for r in largest.rows} == {"a"}
    # Of c's two cases both are selected, but two of 382 are too few to be compared with.
    best = eh.audit_counts(counts, metrics="tpr", reference="best", favourable="positive")
    assert {r.reference for r in best.rows} == {"b"}
    assert [f.sentence for f in best.findings if f.kind == "chosen-reference"] == [
        "b was chosen as the reference of group for its high rate of favourable predictions, which makes differences "
        "look larger than they are, so that none of them is tested"
    ]
    assert not [f for f in largest.findings if f.kind == "chosen-reference"]
    spared = eh.audit_counts(counts, metrics="tpr", reference="best", favourable="negative")
    assert {r.reference for r in spared.rows} == {"a"}
    called = eh.audit_counts({"largest": (5, 5, 5, 5), "x": (50, 50, 50, 60)}, metrics="tpr", reference="largest")
    assert {r.reference for r in called.rows} == {"largest"}, "a group of that name is meant"


# Rows without labels


def test_rows_without_a_label_can_count_for_selection(tmp_path: Path) -> None:
    y: list[Any] = [1, 0, 1, 0, None, None, None, 1, 0, None]
    p = [1, 0, 1, 1, 1, 1, 0, 0, 0, None]
    g = list("aaaaaabbbb")
    path = tmp_path / "d.csv"
    path.write_text("y,p,g\n" + "".join(f"{'' if a is None else a},{'' if b is None else b},{c}\n" for a, b, c in
                                        zip(y, p, g, strict=True)))  # fmt: skip
    words = [str(path), "--label", "y", "--prediction", "p", "--group", "g", "--metric", "ppr", "--metric", "tpr"]
    a = eh.Audit.from_json(run(*words, "--json", "-").stdout)
    assert {(r.group, r.metric): (r.n, r.score) for r in a.rows} == {
        ("a", "ppr"): (6, 5 / 6), ("b", "ppr"): (3, 0.0), ("a", "tpr"): (4, 1.0), ("b", "tpr"): (2, 0.0),
    }  # fmt: skip
    assert a.n == 6
    assert [f.sentence for f in a.findings if f.kind == "left-out"] == [
        "3 rows without a label count for selection rates only",
        "1 row without a label and a prediction was left out",
    ]


def test_several_columns_and_their_intersection() -> None:
    data = pl.DataFrame({"g": list("aabb"), "s": ["F", "M", "F", None], "y": [1, 0, 0, 1], "p": [1, 1, 0, 0]})
    both = eh.audit(data, y_true="y", y_pred="p", groups=["g", "s"], metrics=["acc"])
    assert {(r.by, r.group) for r in both.rows} == {
        ("g", "a"), ("g", "b"), ("s", "F"), ("s", "M"),
        ("g & s", "a & F"), ("g & s", "a & M"), ("g & s", "b & F"),
    }  # fmt: skip
    assert [f.sentence for f in both.findings if f.kind == "missing-group"] == [
        "1 case has no known s: it is in no group and in no reference"
    ]
    plain = eh.audit(data, y_true="y", y_pred="p", groups=["g", "s"], metrics=["acc"], intersections=1)
    assert {r.by for r in plain.rows} == {"g", "s"}
    named = eh.audit(data, y_true="y", y_pred="p", groups=["g", "s"], metrics=["acc"], reference={"g": "a"})
    assert {r.reference for r in named.rows if r.by == "g"} == {"a"}
    assert {r.reference for r in named.rows if r.by == "s"} == {"rest"}


def test_an_audit_answers_in_the_callers_own_library() -> None:
    for frame, library in ((pd.DataFrame, pd), (pl.DataFrame, pl), (pl.LazyFrame, pl)):
        a = eh.audit(frame(TABLE), y_true="y", y_pred="p", groups="g", metrics=["acc"])
        assert type(a.to_frame()) is library.DataFrame
        assert len(a.to_frame()) == 2
    assert isinstance(a.to_frame("pyarrow"), pa.Table)


def test_too_many_groups_are_refused() -> None:
    many = pl.DataFrame({"id": range(12_000), "y": [0, 1] * 6000, "p": [0, 1] * 6000})
    with pytest.raises(eh.errors.TooLarge, match=r"^there are more than 10,000 groups, with 12,000 by 'id'; choose"):
        eh.audit(many, y_true="y", y_pred="p", groups="id")


# The record


def test_the_record_says_what_was_read_and_repeats_it(file: str, tmp_path: Path) -> None:
    from hashlib import sha256

    saved = tmp_path / "audit.json"
    words = [file, "--label", "two_year_recid", "--prediction", "score_text", "--positive-label", "1"]
    words += ["--positive-prediction", "Medium", "--positive-prediction", "High", "--group", "race", "--group", "sex"]
    words += ["--reference", "race=Caucasian", "--reference", "sex=Male", "--metric", "fpr", "--alpha", "0.01"]
    words += ["--title", "Risk scores", "--system", "COMPAS", "--author", "A. Auditor"]
    assert run(*words, "--json", str(saved)).exit_code == 0
    record = json.loads(saved.read_text())["provenance"]
    content = Path(file).read_bytes()
    assert record["source"] | {"paths": []} == {
        "kind": "file", "name": "compas-scores-two-years.csv", "files": 1, "size": len(content),
        "sha256": sha256(content).hexdigest(), "format": "csv", "separator": ",", "rows": 7214, "paths": [],
    }  # fmt: skip
    assert record["columns"] == {"label": "two_year_recid", "prediction": "score_text", "groups": ["race", "sex"]}
    assert record["call"] == {
        "y_true": "two_year_recid", "y_pred": "score_text", "groups": ["race", "sex"], "metrics": ["fpr"],
        "positive": {"label": "1", "prediction": ["Medium", "High"]}, "alpha": 0.01,
        "reference": {"race": "Caucasian", "sex": "Male"},
    }  # fmt: skip
    assert record["made"] == "2023-11-14T22:13:20+00:00"
    again = run("--repeat", str(saved))
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "Nothing changed.")
    other = tmp_path / "other.csv"
    other.write_bytes(content.replace(b"African-American,Male", b"Caucasian,Male", 400))
    moved = run("--repeat", str(saved), str(other))
    assert moved.exit_code == 1
    assert "- the SHA-256 of the data was " in moved.stdout
    assert "; other numbers of " in moved.stdout
    mixed = run("--repeat", str(saved), "--alpha", "0.2")
    assert mixed.stderr == "Error: --alpha cannot be combined with --repeat, which keeps all settings\n"


ARGUMENTS: list[dict[str, Any]] = [
    {"metrics": ["tpr", "mcc"], "reference": matrix(40, 10, 20, 130), "strength": "auto"},
    {"reference": {"race": "largest", "sex": matrix(4, 3, 2, 1)}, "intersections": 1},
    {"strength": {"prev": 7, "tpr": 20.5, "fpr": 20}, "group_names": {"race": {"1": 'it\'s, "one"', "2": "-a:b=c"}}},
    {"favourable": "negative", "family": "audit", "adjust": "bh", "confidence_level": 0.9, "margin": 0.2},
    {"reference": "all", "wording": {"cases": "-- $(echo) `x` 'y'"}, "metrics": ["equalized_odds"]},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", ARGUMENTS)
@pytest.mark.parametrize("from_file", [True, False])
def test_every_setting_is_repeated(settings: dict[str, Any], from_file: bool, tmp_path: Path) -> None:
    counts: Any = {(str(race), sex): cm for (race, sex), cm in COUNTS.items()}
    if from_file:
        path = tmp_path / "counts of 1.csv"
        lines = [f"{race},{sex},{','.join(map(str, cm))}" for (race, sex), cm in COUNTS.items()]
        path.write_text("\n".join(["race,sex,tp,fn,fp,tn", *lines]))
        a = eh.audit_counts(path, **settings)
    else:
        a = eh.audit_counts(counts, by=["race", "sex"], **settings)
    saved = eh.Audit.from_json(a.to_json())
    again = saved.repeat(None if from_file else counts)
    assert again == a
    assert saved.changes(again) == []


def test_an_audit_of_values_needs_them_to_be_repeated() -> None:
    a = eh.audit(y_true=[1, 0, 1, 0], y_pred=[1, 0, 0, 0], groups=list("aabb"), metrics="acc")
    with pytest.raises(InvalidInput, match=r"^the audit was made from values of y_true, y_pred, groups, which"):
        a.repeat()
    frame = pd.DataFrame({"y": [1, 0, 1, 0], "p": [1, 0, 0, 0], "g": list("aabb")})
    b = eh.audit(frame, y_true="y", y_pred="p", groups="g", metrics="acc")
    assert b.provenance["source"] == {"kind": "frame", "library": "pandas", "shape": [4, 3], "rows": 4}
    assert b.repeat(frame) == b
    changed = b.repeat(frame.assign(p=[1, 0, 1, 1]))
    assert b.changes(changed)[-1] == "the counts changed; other numbers of 2 rows changed"
    with pytest.raises(InvalidInput, match=r"^the provenance does not contain the data; pass them$"):
        b.repeat()


@pytest.mark.parametrize("name", ["compas", "folktables_income"])
def test_examples_are_repeated(name: str, tmp_path: Path) -> None:
    saved = tmp_path / "a.json"
    assert run("--example", name, "--metric", "tpr", "--json", str(saved)).exit_code == 0
    record = json.loads(saved.read_text())["provenance"]
    assert (record["source"]["kind"], record["source"]["name"]) == ("example", name)
    result = run("--repeat", str(saved))
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "Nothing changed.")


def test_a_saved_audit_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert run("--repeat", str(tmp_path / "none.json")).stderr.endswith("cannot be read: No such file or directory\n")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert run("--repeat", str(broken)).exit_code == 2
    assert run("--repeat", "").stderr == ("Error: the name of the input file must not be empty; is a variable unset?\n")


def test_standard_input_is_recorded_as_such(file: str) -> None:
    words = ["--label", "two_year_recid", "--score", "decile_score", "--threshold", "5", "--group", "race"]
    result = CliRunner().invoke(
        evenhand, ["audit", "-", *words, "--metric", "tpr", "--json", "-"], input=Path(file).read_bytes()
    )
    record = json.loads(result.stdout)["provenance"]
    assert record["source"]["name"] == "-"
    assert "tmp" not in json.dumps(record)


# What an adversary found

Y, P, G = [1, 1, 0, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 1, 0, 0], ["a", "b"] * 4


def test_no_value_of_the_data_is_in_the_record() -> None:
    labels = ["reoffended" if y else "clean" for y in Y]
    a = eh.audit(
        pd.DataFrame({"race": G}), y_true=labels, y_pred=np.array(labels), groups="race", positive="reoffended"
    )
    assert a.provenance["call"]["y_true"] is None


def test_selection_counts_every_prediction_and_every_group() -> None:
    a = eh.audit(y_true=[1, 1, None, None] * 2, y_pred=[1, 1, 0, 0] * 2, groups=G, positive=1,
                 metrics="ppr")  # fmt: skip
    assert [f.sentence for f in a.findings if f.kind == "constant"] == [
        "Every label of all 4 cases is positive; if that is not so, check the column or the positive labels"
    ]
    b = eh.audit(y_true=[1, None, 0, None] * 2, y_pred=P, groups=G, metrics=["ppr", "acc"])
    assert {(r.group, r.metric, r.n) for r in b.rows} == {
        ("a", "ppr", 4), ("b", "ppr", 4), ("a", "acc", 4), ("b", "acc", 0),
    }  # fmt: skip
    assert eh.Audit.from_json(b.to_json()) == b
    c = eh.audit(y_true=[1, None, 0, None] * 2, y_pred=P, groups=G, metrics="ppr", reference="b")
    assert {r.reference for r in c.rows} == {"b"}


def test_none_is_a_level_if_the_positive_labels_are_given() -> None:
    a = eh.audit(y_true=["none", "low", "mid", "high"] * 2, y_pred=[0, 0, 1, 1] * 2, groups=["a"] * 4 + ["b"] * 4,
                 positive={"label": ["mid", "high"]}, metrics="fpr")  # fmt: skip
    assert (a.n, a.left_out, a.provenance["negative"]["label"]) == (8, {}, ["low", "none"])
    b = eh.audit(y_true=["yes", "no", "N/A", "no"] * 2, y_pred=[1, 0, 1, 1] * 2, groups=G, metrics="acc")
    assert [f.sentence for f in b.findings if f.kind == "left-out"] == [
        "2 rows without a label (read as missing: 'N/A') were left out"
    ]


def test_a_changed_record_is_noticed(tmp_path: Path) -> None:
    saved = tmp_path / "a.json"
    run("--example", "compas", "--metric", "tpr", "--json", str(saved))
    content = json.loads(saved.read_text())
    change: dict[str, Any]
    record: dict[str, Any]
    for change in (
        {"findings": []},
        {"settings": content["settings"] | {"alpha": 0.5}},
        {"left_out": {"y_true": 5}},
        {"provenance": content["provenance"] | {"threshold": 0.9}},
        {"provenance": content["provenance"] | {"source": content["provenance"]["source"] | {"sha256": None}}},
    ):
        other = tmp_path / "b.json"
        other.write_text(json.dumps(content | change))
        assert run("--repeat", str(other)).exit_code == 1, change
    for record in (
        {"source": None}, {"source": []}, {"call": None}, {"call": {"nonsense": 1}}, {"call": {"reference": [1, 2]}},
        {"call": {"metrics": ["tpr"], "positive": [[1]]}}, {"source": {"kind": "example", "name": "x"}},
        {"source": {"kind": "file", "paths": 5}},
    ):  # fmt: skip
        other.write_text(json.dumps(content | {"provenance": content["provenance"] | record}))
        refused = run("--repeat", str(other))
        assert (refused.exit_code, refused.exception.__class__) == (2, SystemExit), (record, refused.output)


def test_a_group_called_rest_is_the_reference_again(tmp_path: Path) -> None:
    data = {"g": ["rest", "x", "z", "x"] * 2, "y": Y, "p": P}
    a = eh.audit(data, y_true="y", y_pred="p", groups="g", reference="rest", metrics="ppr")
    assert {r.reference_kind for r in a.rows} == {"group"}
    assert a.repeat(data) == a
    assert a.provenance["call"]["reference"] == "rest"


def test_names_of_groups_may_contain_any_sign(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("ra:ce,tp,fn,fp,tn\n>=30,9,6,4,21\n<30,30,10,12,48\nA=1,3,4,5,6\n")
    names = {"ra:ce": {">=30": "older", "<30": "younger", "A=1": "a=b:c"}}
    a = eh.audit_counts(path, group_names=names, metrics="tpr")
    assert {r.group for r in a.rows} == {"older", "younger", "a=b:c"}
    config = tmp_path / "audit.toml"
    config.write_text('[audit.group_names."ra:ce"]\n">=30" = "older"\n"<30" = "younger"\n"A=1" = "a=b:c"\n')
    typed = run("--config", str(config), "--counts", str(path), "--metric", "tpr", "--json", "-")
    assert eh.Audit.from_json(typed.stdout).rows == a.rows
    refused = run("--counts", str(path), "--group-name", "rae:1=x")
    assert refused.stderr.startswith("Error: no group column in --group-name is called 'rae'")


def test_a_matrix_is_a_reference_in_the_command_unless_a_group_is_called_so(tmp_path: Path) -> None:
    saved = tmp_path / "e.json"
    run("--example", "compas", "--reference", "100,20,30,400", "--metric", "tpr", "--json", str(saved))
    assert run("--repeat", str(saved)).exit_code == 0
    path = tmp_path / "counts.csv"
    path.write_text('g,tp,fn,fp,tn\n"1,2,3,4",9,6,4,21\nb,30,10,12,48\n')
    a = eh.Audit.from_json(run("--counts", str(path), "--reference", "1,2,3,4", "--json", "-").stdout)
    assert {r.reference for r in a.rows} == {"1,2,3,4"}
    assert {r.reference_kind for r in a.rows} == {"group"}


def test_labels_that_look_like_one_are_not_told_apart_in_silence() -> None:
    columns: dict[str, Any] = {"y_true": ["Yes", "yes", "no", "no"] * 2, "y_pred": ["yes", "no"] * 4, "groups": G}
    with pytest.raises(InvalidInput) as refusal:
        eh.audit(**columns, positive="yes")
    assert (
        str(refusal.value) == "'Yes', 'yes' look like one label; pass all of them as positive=, or unify their spelling"
    )
    assert eh.audit(**columns, positive=["yes", "Yes"]).n == 8


def test_text_among_scores_is_refused_and_missing_words_are_not(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    words = [str(path), "--label", "y", "--score", "s", "--group", "g", "--metric", "ppr"]
    for texts in (["0,5", "0,7", "0,1", "0,9"], ["0.5", "0,7", "1", "0"]):
        path.write_text(
            "y;s;g\n" + "".join(f"{y};{s};{g}\n" for y, s, g in zip([1, 0, 1, 0], texts, "abab", strict=True))
        )
        refused = run(*words)
        assert refused.exit_code == 2
        assert refused.stderr == f"Error: 's' must contain numbers; got {next(t for t in texts if ',' in t)!r}\n"
    path.write_text("y;s;g\n1;0.5;a\n0;NA;b\n1;;a\n0;0.7;b\n1;0.1;b\n")
    result = run(*words, "--json", "-")
    assert eh.Audit.from_json(result.stdout).left_out == {"y_pred": 2}


@pytest.mark.parametrize(
    "call",
    [
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, positive=[[1]]),
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, positive={1: 1}),
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, reference=np.array([1, 2, 3, 4])),  # type: ignore[arg-type]
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, reference={"group": pd.Series([1, 2, 3, 4])}),
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, reference=(1, 2, 3, 4)),  # type: ignore[arg-type]
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G).changes(None),  # type: ignore[arg-type]
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G).to_frame("nolib"),
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G).to_html("/"),
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, positive={"label": 1, "y_pred": 1}),
        lambda: eh.audit(y_true=Y, y_score=P, groups=G, positive={"prediction": "zzz"}),
        lambda: eh.audit(y_pred=P, groups=G, positive={"label": "zzz"}),
        lambda: eh.audit(y_true=Y, y_pred=P, groups=G, intersections="9" * 5000),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call: Any) -> None:
    with pytest.raises(eh.EvenhandError):
        call()


def test_positive_labels_come_in_any_container() -> None:
    positive: Any
    for positive in (pd.Series([1]), pd.Index([1]), pl.Series([1]), {1: 1}.keys(), np.array(1), np.array([1])):
        assert eh.audit(y_true=Y, y_pred=P, groups=G, positive=positive).n == 8
    threshold: Any = np.array(0.5)
    assert eh.audit(y_true=Y, y_score=P, groups=G, threshold=threshold).n == 8


def test_codes_match_whatever_number_they_are() -> None:
    two: Any = 2.0
    a = eh.audit(
        y_true=Y, y_pred=P, groups=[1.0, 2.0] * 4, group_names={"group": {1.0: "One", 2: "Two"}}, reference=two
    )
    assert ({r.group for r in a.rows}, {r.reference for r in a.rows}) == ({"One", "Two"}, {"Two"})
    b = eh.audit(y_true=Y, y_pred=P, groups=["b", "None"] * 4, group_names={"group": {"None": "Nobody"}})
    assert {r.group for r in b.rows} == {"b", "Nobody"}
    with pytest.raises(
        InvalidInput, match=r"only one group with cases .'None'.*; 4 cases without a value are in no group"
    ):
        eh.audit(y_true=Y, y_pred=P, groups=[None, "None"] * 4)
    with pytest.raises(InvalidInput, match="no case has a value in 'group'"):
        eh.audit(y_true=Y, y_pred=P, groups=[None] * 8)
    c = eh.audit(y_true=Y, y_pred=P, groups=["(missing)", "b"] * 4)
    assert not [f for f in c.findings if f.kind == "missing-group"]


def test_what_was_chosen_or_is_absent_is_said_only_if_so() -> None:
    counts = {("a", "x"): (10, 40, 10, 140), ("b", "y"): (30, 20, 20, 30)}
    a = eh.audit_counts(counts, by=["r", "s"], reference={("r", "s"): "best"}, favourable="positive")
    assert [f.by for f in a.findings if f.kind == "chosen-reference"] == ["r & s"]
    tied = eh.audit_counts({"a": (0, 5, 0, 5), "b": (0, 5, 0, 15)}, reference="best", favourable="positive")
    assert not [f for f in tied.findings if f.kind == "chosen-reference"]
    b = eh.audit(y_true=["lo", "hi"] * 4, y_pred=["lo", "mid"] * 4, groups=["a"] * 4 + ["b"] * 4,
                 positive={"label": ["hi", "mid"], "prediction": "mid"})  # fmt: skip
    assert [f.sentence for f in b.findings if f.kind == "absent-label"] == [
        "'mid' was given as a positive label and does not occur"
    ]


def test_one_class_is_settled_by_the_option_that_the_refusal_names() -> None:
    with pytest.raises(InvalidInput, match=r"pass the positive label as positive\['label'\]$"):
        eh.audit(y_true=["no"] * 8, y_pred=P, groups=G)
    assert eh.audit(y_true=["no"] * 8, y_pred=P, groups=G, positive={"label": "yes"}).n == 8


def test_files_with_columns_that_nobody_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("g,y,p,,\na,1,1,,\nb,0,1,,\na,0,0,,\nb,1,1,,\n")
    columns: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g"}
    assert eh.audit(path, **columns).n == 4
    zoned = pl.DataFrame({"y": Y, "p": P, "when": [f"2024-01-0{1 + i % 2}T10:00:00" for i in range(8)]})
    zoned = zoned.with_columns(pl.col("when").str.to_datetime(time_zone="UTC"))
    zoned.write_parquet(tmp_path / "z.parquet")
    assert len({r.group for r in eh.audit(tmp_path / "z.parquet", y_true="y", y_pred="p", groups="when").rows}) == 2


def test_a_column_is_cut_once(tmp_path: Path) -> None:
    refused = run("d.csv", "--group", "s", "--bins", "s=.2", "--bins", "s=.5")
    assert refused.stderr == "Error: --bins names 's' twice\n"
