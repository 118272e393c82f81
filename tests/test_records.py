"""What every result has in common: plain values out, a short repr, text, and HTML that shows data as text."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matrices import matrix

import evenhand as eh
from evenhand.records import Record, plain_value, spreadsheet_value
from evenhand.sklearn import small_sample_report

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'too' \x1b[31m \u202e"
GROUP, REST, EMPTY = matrix(3, 1, 0, 6), matrix(116, 177, 554, 2429), matrix(0, 0, 0, 0)
AUDIT = eh.audit_counts(
    {HOSTILE: (0, 0, 2, 3), "B": (30, 10, 12, 48), "C": (3, 9, 2, 48)}, by=HOSTILE, favourable="positive"
)
REPORT = small_sample_report([HOSTILE, "b", "b"], ["b", "b", "b"])
STRESS = eh.stress_test({HOSTILE: matrix(30, 10, 12, 48), "B": matrix(20, 20, 30, 30)}, ["acc", "tpr"], [5], [2.0])
CLASSES = eh.MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], [HOSTILE, "b", "c"])
OTHERS = eh.MulticlassConfusion([[30, 9, 2], [5, 20, 0], [0, 1, 9]], [HOSTILE, "b", "c"])
CLASS_AUDIT = eh.audit(
    {HOSTILE: [HOSTILE, "B"] * 6, "y": ["x", "y", HOSTILE] * 4, "p": ["x", "y", "y", HOSTILE] * 3},
    y_true="y", y_pred="p", groups=HOSTILE, classes="all", metrics=["tpr", "acc", "macro tpr", "mcc"],
)  # fmt: skip
SCORES: dict[str, Any] = {
    "y": [1, 0] * 8,
    "s": [0.9, 0.2, 0.6, 0.7] * 4,
    HOSTILE: [HOSTILE, HOSTILE, "B", "B", "C"] * 3 + ["B"],
}
STRATA = eh.disparity({HOSTILE: matrix(3, 1, 0, 6)}, {HOSTILE: matrix(30, 30, 9, 40), "b": matrix(1, 2, 3, 4)}, "tpr")


def monitored() -> eh.Monitor:
    return eh.Monitor(metrics="tpr").add_counts({HOSTILE: (3, 9, 0, 4), "B": (40, 10, 0, 4)}, at="week 1")


RESULTS: dict[str, Any] = {
    "Stratum": STRATA.strata[0],
    "Audit, of classes": CLASS_AUDIT,
    "MonitorRow": monitored().rows[0],
    "MatchResult, simulated": eh.match_test(CLASSES, OTHERS, "mcc", draws=100),
    "MatchResult, hostile": eh.match_test(CLASSES, OTHERS, "tpr", label=HOSTILE),
    "MatchResult, undefined average": eh.match_test(CLASSES, OTHERS, "tpr", average="macro", draws=100),
    "Interval, hostile": eh.interval(CLASSES, "tpr", label=HOSTILE),
    "MatchResult": eh.match_test(GROUP, REST, "tpr"),
    "MatchResult, undefined": eh.match_test(matrix(0, 0, 2, 6), REST, "tpr"),
    "MatchResult, approximate": eh.match_test(GROUP, REST, "acc", method="normal", null="known", given="n"),
    "Disparity": eh.disparity(GROUP, REST, "tpr"),
    "Disparity, ratio": eh.disparity(GROUP, REST, "ppr", "ratio"),
    "Disparity, undefined": eh.disparity(matrix(0, 0, 2, 6), REST, "tpr"),
    "Disparity, strata": STRATA,
    "Disparity, without end": eh.disparity({"a": matrix(3, 0, 0, 0)}, {"a": matrix(3, 4, 0, 0)}, "tpr"),
    "Disparity, strata that say nothing": eh.disparity({"a": matrix(3, 0, 0, 0)}, {"a": matrix(3, 0, 0, 0)}, "tpr"),
    "Interval": eh.interval(GROUP, "tpr"),
    "Interval, unbounded": eh.interval(matrix(5, 0, 0, 5), "dor"),
    "Risk": eh.risk("tpr", GROUP, 8, eh.CrossPrior(REST, 5)),
    "Risk, raw": eh.risk("tpr", GROUP, 8),
    "Risk, simulated": eh.risk("tpr", GROUP, 8, method="montecarlo", draws=100),
    "Risks": eh.risk("tpr", GROUP, [2, 8]),
    "PriorCheck": eh.check_prior(GROUP, REST),
    "PriorCheck, impossible": eh.check_prior(matrix(3, 1, 2, 6), matrix(10, 0, 0, 10)),
    "StressTest": STRESS,
    "StressRow": STRESS.rows[0],
    "UndefinedRow": eh.undefined_table(5, ["tpr"])[0],
    "UndefinedRow, with a reference": eh.undefined_table(5, ["te"], REST)[0],
    "BiasVariance": eh.bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10),
    "Plan": eh.power("tpr", 40, REST, difference=-0.2),
    "Plan, match": eh.power("acc", 4, REST, difference=0.1, test="match", null="known"),
    "Plan, size": eh.sample_size("ppr", REST, 0.2),
    "Plan, interval": eh.sample_size("ppr", REST, half_width=0.2),
    "Plan, undefined": eh.sample_size("mcc", REST, undefined_below=0.1),
    "Plan, differences": eh.detectable_difference("tpr", 20, REST),
    "Jaggedness": eh.jaggedness("ppr", None, range(3, 9)),
    "ExploitableSizes": eh.exploitable_sizes("ppr", REST, 0.2, range(3, 9)),
    "ExploitableSizes, too many states": eh.exploitable_sizes("mcc", REST, 0.2, [200]),
    "SmallSampleReport": small_sample_report([0, 0, 1, 1], [0, 1, 1, 1]),
    "SmallSampleReport, hostile": REPORT,
    "ReportedClass": next(c for c in REPORT.classes if c.label == HOSTILE),
    "Row": AUDIT.rows[0],
    "Row, hostile": next(r for r in AUDIT.rows if r.group == HOSTILE),
    "Finding": AUDIT.findings[0],
    "Audit, thresholds": eh.audit(
        {"g": [HOSTILE, "B", HOSTILE, "B"], "y": [1, 0, 0, 1], "s": [0.2, 0.4, 0.6, 0.8]},
        y_true="y",
        y_score="s",
        groups="g",
        threshold=[0.3, 0.5],
    ),
    "Finding, hostile": next(f for f in AUDIT.findings if f.group == HOSTILE),
    "Audit": AUDIT,
}


class Tags(HTMLParser):
    """The tags of a piece of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_class_of_results_is_tested_here() -> None:
    """A result that is derived from Record, or added to the public interface, is placed here, or this fails."""
    tested = {type(result).__name__ for result in RESULTS.values()}
    assert {key.split(",")[0] for key in RESULTS} == tested

    def derived(cls: type) -> set[type]:
        return {cls}.union(*map(derived, cls.__subclasses__()))

    ours = {cls for cls in derived(Record) - {Record} if cls.__module__.startswith("evenhand.")}
    assert {cls.__name__ for cls in ours} <= tested
    public = [value for name in dir(eh) if is_dataclass(value := getattr(eh, name)) and isinstance(value, type)]
    results = {cls.__name__ for cls in public if not issubclass(cls, (eh.results.Metric, eh.results.Distribution))}
    matrices = {"MulticlassConfusion", "SmoothedClasses"}
    assert results - {"Settings", "Raw", "Additive", "CrossPrior", "ConfusionMatrix", "Smoothed", *matrices} <= tested


def test_a_result_as_plain_values_fits_json() -> None:
    for name, result in RESULTS.items():
        content = result.to_dict()
        text = json.dumps(content, allow_nan=False)
        assert json.loads(text) == content, name
        if isinstance(result, Record):
            public = [f.name for f in fields(RESULTS[name]) if not f.name.startswith("_")]
            assert list(content) == [*public, *result._derived], name
            assert plain_value(result) == content, name


def texts_in(content: Any) -> list[str]:
    if isinstance(content, dict):
        return [text for value in content.values() for text in texts_in(value)]
    if isinstance(content, list):
        return [text for value in content for text in texts_in(value)]
    return [content] if isinstance(content, str) else []


def test_a_result_has_matrices_as_cells_not_as_text() -> None:
    for name, result in RESULTS.items():
        texts = texts_in(result.to_dict())
        assert not [text for text in texts if "predicted +" in text or "ConfusionMatrix" in text], name


def test_a_matrix_is_the_list_of_its_cells() -> None:
    assert plain_value({"a": GROUP}) == {"a": [3, 1, 0, 6]}
    games = RESULTS["ExploitableSizes"]
    assert games.to_dict()["configurations"] == [[int(c) for c in cm.cells] for cm in games.configurations]
    how = {"name": "CrossPrior", "reference": [116, 177, 554, 2429], "strength": 5}
    assert RESULTS["Risk"].to_dict()["estimator"] == how
    assert RESULTS["Risk, raw"].to_dict()["estimator"] == {"name": "Raw"}


def test_a_result_keeps_its_numbers() -> None:
    """A finite number is itself; what is not finite is None; nothing else is lost."""
    for name, result in RESULTS.items():
        content = result.to_dict()
        for key, found in content.items():
            if isinstance(result, eh.results.Plan) and key == "power" and result.goal != "power":
                continue
            value = getattr(result, key, None)
            if isinstance(value, float):
                assert found == (value if math.isfinite(value) else None), name
            elif isinstance(value, (int, str)):
                assert found == value, name


def test_a_result_prints_and_its_repr_is_short() -> None:
    for name, result in RESULTS.items():
        shown = repr(result)
        assert len(shown) <= 150, name
        assert "\n" not in shown, name
        assert shown.startswith(f"<{type(result).__name__}: "), name
        text = str(result)
        assert text.strip() and text != shown, name
        for control in ("\x1b", "\u202e"):
            assert control not in shown, name
            assert control not in text, name


def test_a_result_shows_itself_in_a_notebook_as_text() -> None:
    for name, result in RESULTS.items():
        found = Tags(result._repr_html_())
        tables = {"table", "thead", "tbody", "tr", "th", "td"}
        pictures = {"svg", "rect", "line", "circle", "text"}
        assert found.tags <= {"pre", "div", "span", "ul", "li", "p", "caption"} | tables | pictures, name
        assert found.text.strip(), name
        assert "\x1b" not in found.text, name
        assert "\u202e" not in found.text, name


@pytest.mark.parametrize("name", ["Audit", "Row, hostile", "Finding, hostile", "StressTest", "ReportedClass"])
def test_markup_in_data_is_shown_as_text(name: str) -> None:
    result = RESULTS[name]
    found = Tags(result._repr_html_())
    assert "script" not in found.tags
    assert "<script>alert(1)</script> & \"quoted\" 'too' " in found.text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (math.inf, None),
        (np.float64(0.5), 0.5),
        (np.float64("nan"), None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, np.inf]]), [[1.0, None]]),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (eh.metric("tpr"), "tpr"),
        (eh.results.Verdict.INCONCLUSIVE, "inconclusive"),
        (None, None),
        ("text", "text"),
    ],
)
def test_plain_values(value: Any, expected: Any) -> None:
    found = plain_value(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found, allow_nan=False)


def test_verdicts_are_their_words() -> None:
    assert [v.value for v in eh.results.Verdict] == [str(v) for v in eh.results.Verdict]
    assert str(eh.results.Verdict.INCONCLUSIVE) == "inconclusive"
    assert eh.results.Verdict("equivalent") is eh.results.Verdict.EQUIVALENT
    assert [v for v in eh.results.Verdict if v.differs] == [
        eh.results.Verdict.HIGHER,
        eh.results.Verdict.LOWER,
        eh.results.Verdict.UNLIKE,
    ]
    for look in ("marker", "sign"):
        assert len({getattr(v, look) for v in eh.results.Verdict}) == len(eh.results.Verdict), (
            "no meaning is carried by colour alone"
        )


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠"])
def test_text_that_a_spreadsheet_takes_for_a_formula_follows_an_apostrophe(sign: str) -> None:
    """Signs of full width, too, which some spreadsheets read as the usual ones."""
    for before in ("", " ", "\u3000"):
        text = f"{before}{sign}1+1"
        assert spreadsheet_value(text) == f"'{text}"
    counts = {f"{sign}HYPERLINK(1)": (3, 2, 1, 4), "b": (1, 2, 3, 4)}
    lines = eh.audit_counts(counts, metrics="acc").to_csv().splitlines()
    assert any(f"'{sign}HYPERLINK(1)" in line for line in lines)
    assert not any(f",{sign}HYPERLINK(1)" in line for line in lines)
