"""Audits of several classes: what is written, read back, repeated and shown."""

from __future__ import annotations

import json
import shlex
from html import unescape
from pathlib import Path
from re import sub
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.faces.cli import evenhand


def decisions(n: int = 400, seed: int = 3) -> dict[str, list[Any]]:
    """Decisions between three classes; group A is decided worse, and C has no case of class z."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B", "C"], size=n, p=[0.35, 0.55, 0.1])
    y = rng.choice(["x", "y", "z"], size=n, p=[0.5, 0.3, 0.2])
    y[(race == "C") & (y == "z")] = "y"
    right = rng.random(n) < np.where(race == "A", 0.5, 0.85)
    p = np.where(right, y, rng.choice(["x", "y", "z"], size=n))
    return {"race": race.tolist(), "y": y.tolist(), "p": p.tolist()}


def audited(data: Any, **settings: Any) -> eh.ClassAudit:
    columns: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race", "draws": 200}
    return eh.audit_classes(data, **columns | settings)


def test_the_recorded_command_and_call_make_the_same_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = decisions()
    rows = zip(*data.values(), strict=True)
    Path("d.csv").write_text("race,y,p\n" + "".join(",".join(row) + "\n" for row in rows), "utf-8")
    for given in (
        {},
        {"classes": ["z", "x"], "averages": ["weighted f1"], "undefined": "omit", "rng": 7, "alpha": 0.1},
    ):
        found = audited("d.csv", **given)
        words = shlex.split(found.record["command"])
        assert words[:2] == ["evenhand", "audit"]
        typed = CliRunner().invoke(evenhand, [*words[1:], "--json", "-"])
        assert typed.exit_code == 0, typed.output
        assert eh.ClassAudit.from_json(typed.stdout) == found
        assert eval(found.record["python"], {"evenhand": eh}) == found
        piped = CliRunner().invoke(evenhand, ["audit", "-", *words[3:], "--json", "-"], input=Path("d.csv").read_text())
        again = eh.ClassAudit.from_json(piped.stdout)
        assert again == found and again.record["command"] == found.record["command"].replace("d.csv", "-", 1)


def test_audit_takes_classes_and_refuses_what_is_for_two() -> None:
    data = decisions()
    columns: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race", "alpha": 0.1, "metrics": ["tpr"]}
    assert eh.audit(data, classes="all", **columns) == eh.audit_classes(data, **columns)
    assert eh.audit(data, classes=["x"], **columns) == eh.audit_classes(data, classes=["x"], **columns)
    for name in ("y_score", "threshold", "positive", "positive_label", "positive_prediction"):
        with pytest.raises(eh.InvalidInput, match=f"^{name} is for two classes and cannot be combined with classes$"):
            eh.audit(data, classes="all", **columns | {name: 1})


def test_saved_audits_of_classes_are_read_back_and_compared() -> None:
    data = decisions()
    found = audited(data)
    assert eh.ClassAudit.from_json(found.to_json()) == found
    assert found.changes(found.repeat(data)) == []
    moved = [("z" if i == 5 else p) for i, p in enumerate(data["p"])]
    later = audited(data | {"p": moved}, classes=["x", "y"], averages=["acc", "micro f1"])
    said = found.changes(later)
    assert "the class 'z' is no longer audited" in said
    assert any(change.startswith("acc of ") for change in said)
    assert any(change.startswith("macro f1 of ") and change.endswith(" is no longer audited") for change in said)
    assert any(change.startswith("micro f1 of ") and change.endswith(" was not audited before") for change in said)
    with pytest.raises(eh.InvalidInput, match=r"^other must be a ClassAudit; got "):
        found.changes(found.audits["x"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("schema",), "other", "text must be an audit of classes written by to_json()"),
        (("audits",), [], "text must be an audit of classes written by to_json()"),
        (("n",), 7, "the audit of the class 'x' must have the cases of the matrices"),
        (("settings",), [], "settings must be a table; got []"),
        (("averages", 0, "average"), "mean", "no average of average 1 is called 'mean'; known: micro, macro, weighted"),
        (("averages", 0, "classes"), ["q"], "the classes of average 1 must be those of the audit"),
        (("averages", 0, "n"), -1, "n of average 1 must not be negative; got -1"),
        (("matrices", 0, "counts"), [[1]], "labels must name each of the 1 classes; got 3"),
    ],
)  # fmt: skip
def test_what_is_not_a_saved_audit_of_classes_is_refused(path: tuple[Any, ...], value: Any, sentence: str) -> None:
    content = audited(decisions(), metrics=["tpr"]).to_dict()
    place: Any = content
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(eh.EvenhandError) as refused:
        eh.ClassAudit.from_json(json.dumps(content))
    assert str(refused.value) == sentence


def test_the_page_of_classes_has_every_score_and_every_average() -> None:
    data = decisions()
    found = audited(data, metrics=["tpr", "ppv"], title="<script>alert(1)</script>")
    page = found.to_html()
    assert "<script>alert" not in page
    body = unescape(sub(r"<[^>]+>", " ", page))
    for one in found.audits.values():
        for row in one.rows:
            shown = "undefined" if row.score is None else f"{row.score:.3f}"
            assert shown in body
    for average in found.averages:
        assert ("undefined" if average.score is None else f"{average.score:.3f}") in body
        if average.p_adjusted is not None and average.p_adjusted >= 0.001:
            assert f"p = {average.p_adjusted:.3f}" in body
    assert "adjusted over groups and classes" in body and "simulated" in body


def test_a_group_without_a_class_is_undefined_in_text_page_and_markdown() -> None:
    data = {"race": list("AAAABBBB"), "y": list("xyzxxyxy"), "p": list("xyzxxyxx")}
    found = audited(data, metrics=["tpr"])
    for shown in (str(found), found.to_markdown(), unescape(sub(r"<[^>]+>", " ", found.to_html()))):
        assert "undefined" in shown and "no actual positives (TP + FN = 0)" in shown
    assert "macro tpr of B: undefined for 1 of 3 classes: 'z'" in " ".join(str(found).split())


def test_the_text_of_many_classes_has_the_most_important_ones() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 40, 2_000)
    data = {"race": rng.choice(["A", "B"], 2_000), "y": y, "p": np.where(rng.random(2_000) < 0.8, y, 0)}
    found = audited(data, metrics=["tpr"], averages=["acc"])
    text = " ".join(str(found).split())
    assert "The tables have the 12 of 40 classes with most scores that differ; to_csv() has all." in text
    assert len(found.to_csv().splitlines()) == 1 + 2 * 40
