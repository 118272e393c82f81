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


def command(words: list[str]) -> Any:
    result = CliRunner().invoke(evenhand, ["audit", *words])
    assert result.exit_code == 0, result.stderr
    return result


def written(path: Path, data: dict[str, list[Any]]) -> Path:
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("settings", [{"averages": []}, {"classes": ["all"], "averages": ["acc"]}])
def test_no_averages_and_a_class_called_all_have_a_command(tmp_path: Path, settings: dict[str, Any]) -> None:
    """``--class all`` alone would be every class, and no ``--average`` the default ones."""
    data = {"race": list("AAAABBBB"), "y": ["all", "b", "c", "all"] * 2, "p": ["all", "b", "c", "c"] * 2}
    found = audited(str(written(tmp_path / "data.csv", data)), metrics=["tpr"], **settings)
    out = tmp_path / "audit.json"
    command([*shlex.split(str(found.record["command"]))[2:], "--json", str(out), "--quiet"])
    again = eh.ClassAudit.from_json(out.read_text("utf-8"))
    assert again == found
    assert found.changes(again) == []


def test_a_config_file_without_averages_has_none(tmp_path: Path) -> None:
    path, out, config = written(tmp_path / "data.csv", decisions(40)), tmp_path / "audit.json", tmp_path / "audit.toml"
    columns = 'label = "y"\nprediction = "p"\ngroup = "race"\n'
    config.write_text(columns + 'classes = "all"\nmetrics = "tpr"\naverages = []\n')
    command([str(path), "--config", str(config), "--json", str(out), "--quiet"])
    assert eh.ClassAudit.from_json(out.read_text("utf-8")).averages == ()


def test_selection_rates_of_rows_without_a_label_are_read_back() -> None:
    """Group C has predictions only: it has selection rates, and no matrix."""
    data = {"race": list("AAABBBC"), "y": ["x", "y", None, "x", "y", None, None], "p": list("xyxxyyx")}
    found = audited(data, metrics=["ppr", "tpr"], selection="all")
    assert {row.n for row in found.audits["x"].rows if row.group == "C"} == {1, 0}
    assert eh.ClassAudit.from_json(found.to_json()) == found
    content = found.to_dict()
    row = next(row for row in content["audits"][0]["audit"]["rows"] if (row["group"], row["metric"]) == ("A", "tpr"))
    row["n"] = row["tn"] = 9
    with pytest.raises(eh.InvalidInput):
        eh.ClassAudit.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("settings", "alpha"), "x", "alpha in settings must be that of the audit of the class 'x'"),
        (("settings", "adjust"), None, "adjust in settings must be that of the audit of the class 'x'"),
        (("left_out",), {"y_true": 3}, "left_out must be that of the audit of the class 'x'; got {'y_true': 3}"),
        (("averages", 0, "group"), "Q", "the average acc must have the groups of the matrices"),
    ],
)
def test_what_does_not_belong_together_is_refused(path: tuple[Any, ...], value: Any, sentence: str) -> None:
    content = audited(decisions(60), metrics=["tpr"], averages=["acc"]).to_dict()
    place: Any = content
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(eh.InvalidInput) as refused:
        eh.ClassAudit.from_json(json.dumps(content))
    assert str(refused.value) == sentence


def test_averages_and_classes_that_are_no_lists_of_names_are_refused() -> None:
    data = decisions(40)
    for given in (-1, None):
        with pytest.raises(
            eh.InvalidInput, match=rf"^averages must be a list of scores such as 'macro f1'; got {given}$"
        ):
            audited(data, averages=given)
    with pytest.raises(eh.UnknownName, match=r"^no class is called \"\['x'\]\"; known: x, y, z$"):
        audited(data, classes=[["x"]])
    assert [row.name for row in audited(data, averages=["acc", "acc"]).averages] == ["acc"] * 3


def test_a_record_without_a_command_still_has_a_page() -> None:
    content = audited(decisions(60), metrics=["tpr"], averages=["acc"]).to_dict()
    del content["record"]["command"]
    assert "make these audits again" not in eh.ClassAudit.from_json(json.dumps(content)).to_html()


def in_one_line(found: eh.ClassAudit) -> str:
    return " ".join(str(found).split())


def test_the_text_says_how_the_p_values_of_averages_are_adjusted() -> None:
    data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}

    def said(**settings: Any) -> str:
        return in_one_line(audited(data, metrics=["tpr"], **settings))

    several, one = ["acc", "mcc"], ["acc"]
    own = "over groups and classes (Holm); those of averages have {} of their own."
    assert own.format("families") in said(averages=several)
    assert own.format("a family") in said(averages=one)
    together = "over groups, classes and metrics (Holm); those of averages have a family of their own."
    assert together in said(averages=several, family="audit")
    assert "like its reference: adjusted p of the MATCH test" in said(averages=one)
    plain = audited(data, metrics=["tpr"], averages=one, adjust="none")
    assert "P-values are not adjusted." in in_one_line(plain)
    assert "like its reference: p of the MATCH test" in in_one_line(plain)
    assert "adjusted p" not in in_one_line(plain)
    assert "and the p-value</caption>" in plain.to_html()


def test_what_holds_in_some_classes_is_not_said_of_every_class() -> None:
    data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
    columns: dict[str, Any] = {"metrics": ["acc"], "averages": []}
    assert "in every class: Too few cases to tell" in str(audited(data, **columns))
    some = str(audited(data, classes=["x", "y"], **columns))
    assert "in each of these classes: Too few cases to tell" in some and "every class" not in some


def test_groups_and_classes_with_the_same_text_are_told_apart() -> None:
    data = {"race": list("0011"), "sex": list("0101"), "y": ["a\x01", "a\\x01", "b", "b"], "p": ["b"] * 4}
    text = in_one_line(audited(data, groups=["race", "sex"], metrics=["tpr"], averages=["macro tpr"], crossings=1))
    assert "Cases of each: a\\x01 1, a\\x01 1, b 2." in text
    for name in ("race: 0", "race: 1", "sex: 0", "sex: 1"):
        assert f"macro tpr of {name}: undefined" in text


STRANGE = {
    "ra<b>ce": ["A", "<i>B</i>", "=1+1", "A & B"] * 15,
    "y": ["x" * 120, "<script>alert(1)</script>", "a,b|c", "\x07", "日本語", ""] * 10,
    "p": ["x" * 120, "a,b|c", "a,b|c", "\x07", "{{ view }}"] * 12,
}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
@pytest.mark.parametrize("classes", ["strange", "many"])
def test_the_page_of_classes_has_no_error_no_sideways_scrolling_and_no_serious_violation(
    browser: Any, violations: Any, tmp_path: Path, classes: str, width: int, scheme: str
) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 60, 400)
    many = {"ra<b>ce": rng.choice(["A", "B"], 400), "y": y, "p": np.where(rng.random(400) < 0.7, y, 0)}
    found = audited(STRANGE if classes == "strange" else many, groups="ra<b>ce", metrics=["tpr", "f1"])
    assert max(map(len, str(found).splitlines())) <= 80
    path = tmp_path / "audit.html"
    found.to_html(path)
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []
    assert violations(page) == []
    context.close()


def test_the_audit_of_a_level_says_over_what_its_p_values_are_adjusted() -> None:
    data = {"g": list("AABBAABB"), "c": list("xxxxyyyy"), "p": [1, 0, 1, 1, 0, 1, 0, 0]}
    for family, over in (("metric", "groups and levels"), ("audit", "groups, levels and metrics")):
        found = eh.audit_within(data, y_pred="p", groups="g", control="c", family=family)
        one = found.audits["x"]
        text = " ".join(one.to_text().split())
        assert "Audit of 4 cases in 2 groups by g, within level 'x'" in text
        assert f"adjusted over {over} (Holm)" in text
        assert f"adjusted over {over} (Holm)" in one.to_html()


def test_errors_that_only_trade_places_are_a_change() -> None:
    """Every class keeps its four counts, and every average its score; the matrix is another one."""
    data = {"race": list("AAABBB"), "y": list("xyzxyz"), "p": list("yzxyzx")}
    found = audited(data, metrics=["tpr"], averages=["acc"])
    assert found.changes(audited(data | {"p": list("zxyyzx")}, metrics=["tpr"], averages=["acc"])) == [
        "the matrix of A (race) has other cells"
    ]


def test_a_record_that_does_not_say_how_the_data_are_read_cannot_be_repeated() -> None:
    data = decisions(40)
    content = audited(data, metrics=["tpr"], averages=["acc"]).to_dict()
    content["record"]["call"] = {}
    with pytest.raises(eh.InvalidInput, match=r"^the record does not say what y_true was; audit the data again$"):
        eh.ClassAudit.from_json(json.dumps(content)).repeat(data)


def test_saved_parts_that_occur_twice_or_contradict_each_other_are_refused() -> None:
    def refused(content: dict[str, Any]) -> str:
        with pytest.raises(eh.InvalidInput) as sentence:
            eh.ClassAudit.from_json(json.dumps(content))
        return str(sentence.value)

    content = audited(decisions(60), metrics=["tpr"], averages=["acc"]).to_dict()
    assert refused(content | {"audits": content["audits"][:1] * 2}) == "each class must have one audit"
    twice = content | {"averages": content["averages"][:1] + content["averages"]}
    assert refused(twice) == "the average acc must have the groups of the matrices"
    first, *others = content["matrices"]
    turned = first | {"counts": [row[::-1] for row in first["counts"]]}
    assert first["counts"] != turned["counts"]
    sentence = "the audit of the class 'x' must have the cases of the matrices"
    assert refused(content | {"matrices": [turned, *others]}) == sentence


def stepped(pvalues: list[float], method: str) -> list[float]:
    """Holm's and Benjamini and Hochberg's adjusted p-values, by their definitions."""
    m, ranked = len(pvalues), sorted(pvalues)
    steps = [p * ((m - i) if method == "holm" else m / (i + 1)) for i, p in enumerate(ranked)]
    if method == "holm":
        values = {p: min(1.0, max(steps[: i + 1])) for i, p in enumerate(ranked)}
    else:
        values = {p: min(1.0, *steps[i:], 1.0) for i, p in reversed(list(enumerate(ranked)))}
    return [values[p] for p in pvalues]


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("family", ["metric", "audit"])
@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_averages_are_adjusted_over_groups_or_over_groups_and_averages(groups: int, family: str, adjust: str) -> None:
    """Two groups that are each other's rest are one comparison, with the larger p-value."""
    data = decisions(300)
    if groups == 2:
        data["race"] = ["AB"[i % 2] for i in range(300)]
    found = audited(data, metrics=["acc"], averages=["acc", "macro ppv", "mcc"], family=family, adjust=adjust)
    families: dict[str, dict[Any, list[eh.AverageRow]]] = {}
    for row in found.averages:
        comparison = (row.name, row.group if groups > 2 else "")
        families.setdefault(row.name if family == "metric" else "", {}).setdefault(comparison, []).append(row)
    assert len(families) == (3 if family == "metric" else 1)
    for some in families.values():
        values = [max(float(row.pvalue or 0) for row in rows) for rows in some.values()]
        for rows, p in zip(some.values(), stepped(values, adjust), strict=True):
            for row in rows:
                assert row.p_adjusted == pytest.approx(p, abs=1e-12)
                assert row.differs(float(row.p_adjusted or 0))


def test_the_text_names_the_classes_with_most_cases_and_those_that_differ() -> None:
    """Of 40 classes, the last has fewest cases, and is the only one that group A never gets right."""
    y = [k for k in range(40) for _ in range(120 - 2 * k)]
    race = ["AB"[i % 2] for i in range(len(y))]
    p = [0 if (k, who) == (39, "A") else k for k, who in zip(y, race, strict=True)]
    found = audited({"race": race, "y": y, "p": p}, metrics=["tpr"], averages=["macro tpr"])
    text = in_one_line(found)
    assert "Cases of each: 0 120, 1 118," in text and ", 11 98, and 28 classes more." in text
    assert "group n 39" in text or " 39 " in text[text.index("True positive rate (tpr)") :]
    assert "0.000 ▼" in text
    assert max(map(len, str(found).splitlines())) <= 80


def test_the_text_says_the_largest_standard_error() -> None:
    found = audited(decisions(), metrics=["tpr"], averages=["macro ppv"])
    errors = [row.standard_error for row in found.averages if row.method == "simulated"]
    assert max(errors) > 1.5 * min(errors)
    assert f"standard error of p at most {max(errors):.2g})" in in_one_line(found)


def test_an_average_over_some_classes_says_so_and_one_that_is_undefined_does_not() -> None:
    data = {"race": list("AAAABBBB"), "y": list("xyzxxyxy"), "p": list("xyzxxyxx")}
    partial = in_one_line(audited(data, metrics=["tpr"], averages=["macro tpr"], undefined="omit"))
    assert "macro tpr of B is over 2 of 3 classes." in partial
    assert "is over" not in in_one_line(audited(data, metrics=["tpr"], averages=["macro tpr"]))
    alone = audited(data | {"y": ["x"] * 8, "p": ["x"] * 8}, metrics=["tpr"], averages=["macro fpr"], undefined="omit")
    assert "macro fpr of A: " in in_one_line(alone) and "is over" not in in_one_line(alone)


def test_one_class_alone_is_named_in_findings_and_changes() -> None:
    data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
    columns: dict[str, Any] = {"metrics": ["tpr"], "averages": ["macro tpr"], "classes": ["x"]}
    found = audited(data, **columns)
    assert "class x: Too few cases to tell" in str(found) and "these classes" not in str(found)
    said = found.changes(audited(data | {"p": list("xyzxzyzz")}, **columns))
    assert said[0].startswith("class 'x': tpr of ")
    for name, value in (("draws", 199), ("rng", 1)):
        was = 200 if name == "draws" else 0
        assert f"the setting {name} was {was} and is {value}" in found.changes(audited(data, **columns | {name: value}))


def test_the_text_of_strange_classes_is_at_most_80_columns_wide() -> None:
    found = audited(STRANGE, groups="ra<b>ce", metrics=["tpr"], averages=["acc", "weighted balanced_accuracy"])
    assert max(map(len, str(found).splitlines())) <= 80
    assert "\x07" not in str(found) + found.to_markdown() + found.to_html()
