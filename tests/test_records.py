"""What every result has in common: plain values out, a short repr, text, and HTML that shows data as text."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.auditing.rows import COLUMNS, Driver, Strata, Unknown, read_row
from evenhand.fairlearn import equal_opportunity_difference
from evenhand.inference import between_groups, spread_of
from evenhand.ranking import auc, auc_test
from evenhand.records import Record, plain_value, spreadsheet_value
from evenhand.sklearn import small_sample_report

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'too' \x1b[31m \u202e"
CM = eh.ConfusionMatrix
GROUP, REST, EMPTY = CM(3, 1, 0, 6), CM(116, 177, 554, 2429), CM(0, 0, 0, 0)
AUDIT = eh.audit_counts(
    {HOSTILE: (0, 0, 2, 3), "B": (30, 10, 12, 48), "C": (3, 9, 2, 48)}, by=HOSTILE, favourable="positive"
)
REPORT = small_sample_report([HOSTILE, "b", "b"], ["b", "b", "b"])
STRESS = eh.stress_test({HOSTILE: CM(30, 10, 12, 48), "B": CM(20, 20, 30, 30)}, ["acc", "tpr"], [5], [2.0])
CLASSES = eh.MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], [HOSTILE, "b", "c"])
OTHERS = eh.MulticlassConfusion([[30, 9, 2], [5, 20, 0], [0, 1, 9]], [HOSTILE, "b", "c"])
CLASS_AUDIT = eh.audit(
    {HOSTILE: [HOSTILE, "B"] * 6, "y": ["x", "y", HOSTILE] * 4, "p": ["x", "y", "y", HOSTILE] * 3},
    y_true="y", y_pred="p", groups=HOSTILE, classes="all", draws=50, averages=["acc", "macro tpr", "mcc"],
)  # fmt: skip
SCORES: dict[str, Any] = {
    "y": [1, 0] * 8,
    "s": [0.9, 0.2, 0.6, 0.7] * 4,
    HOSTILE: [HOSTILE, HOSTILE, "B", "B", "C"] * 3 + ["B"],
}
STRATA = eh.disparity({HOSTILE: CM(3, 1, 0, 6)}, {HOSTILE: CM(30, 30, 9, 40), "b": CM(1, 2, 3, 4)}, "tpr")


def watched() -> eh.Watch:
    return eh.Watch(metrics="tpr").add_counts({HOSTILE: (3, 9, 0, 4), "B": (40, 10, 0, 4)}, at="week 1")


RESULTS: dict[str, Any] = {
    "Aggregate": equal_opportunity_difference(
        [1, 0] * 8, [1, 0, 0, 0] * 4, sensitive_features=[HOSTILE] * 8 + ["B"] * 8
    ),
    "GroupSummaries": between_groups({HOSTILE: CM(3, 1, 0, 6), "b": CM(30, 30, 9, 40), "c": CM(0, 0, 4, 9)}, "tpr"),
    "Stratum": STRATA.strata[0],
    "Audit, of classes": CLASS_AUDIT,
    "Estimate": AUDIT.rows[0].score,
    "Reference": AUDIT.rows[0].reference,
    "Gap": AUDIT.rows[0].gap,
    "Test": AUDIT.rows[0].test,
    "SmoothedScore": next(row.smoothed for row in AUDIT.rows if row.smoothed is not None),
    "Impact": next(row.impact for row in AUDIT.rows if row.impact is not None),
    "Driver": Driver(group="B", verdict=eh.results.Verdict.ALIKE, gap=AUDIT.rows[0].gap),
    "Unknown": Unknown(n=9, turns=2, difference_low=-0.1, difference_high=0.2),
    "WatchRow": watched().rows[0],
    "Strata": Strata(higher=1, lower=0, silent=2, crude_odds_ratio=1.5, crude_pvalue=0.04),
    "ClassScores": CLASSES.scores(["tpr", "ppv"]),
    "MatchResult, simulated": eh.match_test(CLASSES, OTHERS, "mcc", draws=100),
    "MatchResult, hostile": eh.match_test(CLASSES, OTHERS, "tpr", label=HOSTILE),
    "MatchResult, undefined average": eh.match_test(CLASSES, OTHERS, "tpr", average="macro", draws=100),
    "Interval, hostile": eh.interval(CLASSES, "tpr", label=HOSTILE),
    "MatchResult": eh.match_test(GROUP, REST, "tpr"),
    "MatchResult, undefined": eh.match_test(CM(0, 0, 2, 6), REST, "tpr"),
    "MatchResult, approximate": eh.match_test(GROUP, REST, "acc", method="normal", null="known", given="n"),
    "Disparity": eh.disparity(GROUP, REST, "tpr"),
    "Disparity, ratio": eh.disparity(GROUP, REST, "ppr", "ratio"),
    "Disparity, undefined": eh.disparity(CM(0, 0, 2, 6), REST, "tpr"),
    "Disparity, strata": STRATA,
    "Disparity, without end": eh.disparity({"a": CM(3, 0, 0, 0)}, {"a": CM(3, 4, 0, 0)}, "tpr"),
    "Disparity, strata that say nothing": eh.disparity({"a": CM(3, 0, 0, 0)}, {"a": CM(3, 0, 0, 0)}, "tpr"),
    "Interval": eh.interval(GROUP, "tpr"),
    "Interval, unbounded": eh.interval(CM(5, 0, 0, 5), "dor"),
    "Risk": eh.risk("tpr", GROUP, 8, eh.CrossPrior(REST, 5)),
    "Risk, raw": eh.risk("tpr", GROUP, 8),
    "Risk, simulated": eh.risk("tpr", GROUP, 8, method="montecarlo", draws=100),
    "Risks": eh.risk("tpr", GROUP, [2, 8]),
    "PriorCheck": eh.check_prior(GROUP, REST),
    "PriorCheck, impossible": eh.check_prior(CM(3, 1, 2, 6), CM(10, 0, 0, 10)),
    "StressTest": STRESS,
    "StressRow": STRESS.rows[0],
    "UndefinedRow": eh.undefined_table(5, ["tpr"])[0],
    "UndefinedRow, with a reference": eh.undefined_table(5, ["te"], REST)[0],
    "BiasVariance": eh.bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10),
    "Spread": spread_of({"A": GROUP, "B": REST}),
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
    "AreaUnderCurve": auc(SCORES["y"], SCORES["s"]),
    "AreaUnderCurve, undefined": auc([1, 1], [0.2, 0.3], positive=1),
    "AreaTest": auc_test([1, 0, 1], [0.2, 0.3, 0.4], SCORES["y"], SCORES["s"], draws=19),
    "AreaTest, undefined": auc_test([1, 1], [0.2, 0.3], SCORES["y"], SCORES["s"]),
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
    "Sketch": next(r.sketch for r in AUDIT.rows if r.sketch is not None),
    "Overall": AUDIT.overall[0],
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
    assert {cls.__name__ for cls in ours if not cls.__module__.startswith("evenhand.paper")} <= tested
    public = [value for name in dir(eh) if is_dataclass(value := getattr(eh, name)) and isinstance(value, type)]
    results = {cls.__name__ for cls in public if not issubclass(cls, (eh.results.Metric, eh.results.Distribution))}
    matrices = {"MulticlassConfusion", "SmoothedClasses"}
    assert results - {"Settings", "Raw", "Additive", "CrossPrior", "ConfusionMatrix", "Smoothed", *matrices} <= tested


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_as_plain_values_fits_json(name: str) -> None:
    content = RESULTS[name].to_dict()
    text = json.dumps(content, allow_nan=False)
    assert json.loads(text) == content
    if isinstance(RESULTS[name], Record):
        public = [f.name for f in fields(RESULTS[name]) if not f.name.startswith("_")]
        assert list(content) == [*public, *RESULTS[name]._derived]
        assert plain_value(RESULTS[name]) == content


def texts_in(content: Any) -> list[str]:
    if isinstance(content, dict):
        return [text for value in content.values() for text in texts_in(value)]
    if isinstance(content, list):
        return [text for value in content for text in texts_in(value)]
    return [content] if isinstance(content, str) else []


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_matrices_as_cells_not_as_text(name: str) -> None:
    texts = texts_in(RESULTS[name].to_dict())
    assert not [text for text in texts if "predicted +" in text or "ConfusionMatrix" in text]


def test_a_matrix_is_the_list_of_its_cells() -> None:
    assert plain_value({"a": GROUP}) == {"a": [3, 1, 0, 6]}
    games = RESULTS["ExploitableSizes"]
    assert games.to_dict()["configurations"] == [[int(c) for c in cm.cells] for cm in games.configurations]
    how = {"name": "CrossPrior", "reference": [116, 177, 554, 2429], "strength": 5}
    assert RESULTS["Risk"].to_dict()["estimator"] == how
    assert RESULTS["Risk, raw"].to_dict()["estimator"] == {"name": "Raw"}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_keeps_its_numbers(name: str) -> None:
    """A finite number is itself; what is not finite is None; nothing else is lost."""
    content = RESULTS[name].to_dict()
    for key, found in content.items():
        if isinstance(RESULTS[name], eh.results.Plan) and key == "power" and RESULTS[name].goal != "power":
            continue
        value = getattr(RESULTS[name], key, None)
        if isinstance(value, float):
            assert found == (value if math.isfinite(value) else None)
        elif isinstance(value, (int, str)):
            assert found == value


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_and_its_repr_is_short(name: str) -> None:
    result = RESULTS[name]
    shown = repr(result)
    assert len(shown) <= 150
    assert "\n" not in shown
    assert shown.startswith(f"<{type(result).__name__}: ")
    text = str(result)
    assert text.strip() and text != shown
    for control in ("\x1b", "\u202e"):
        assert control not in shown
        assert control not in text


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_in_a_notebook_as_text(name: str) -> None:
    found = Tags(RESULTS[name]._repr_html_())
    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    pictures = {"svg", "rect", "line", "circle", "text"}
    assert found.tags <= {"pre", "div", "span", "ul", "li", "p", "caption"} | tables | pictures
    assert found.text.strip()
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text


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
        (eh.results.Verdict.TOO_FEW, "too few to tell"),
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
    assert str(eh.results.Verdict.TOO_FEW) == "too few to tell"
    assert eh.results.Verdict("alike") is eh.results.Verdict.ALIKE  # type: ignore[call-arg]
    assert [v for v in eh.results.Verdict if v.differs] == [
        eh.results.Verdict.HIGHER,
        eh.results.Verdict.LOWER,
        eh.results.Verdict.UNLIKE,
    ]
    for look in ("marker", "path", "sign", "css"):
        assert len({getattr(v, look) for v in eh.results.Verdict}) == len(eh.results.Verdict), (
            "no meaning is carried by colour alone"
        )


def test_a_row_survives_its_plain_values_and_refuses_others() -> None:
    for r in AUDIT.rows:
        assert read_row(json.loads(json.dumps(r.to_dict())), "a row") == r
    content = AUDIT.rows[0].to_dict()
    with pytest.raises(eh.errors.InvalidInput, match=r"^a row has an unknown field: 'extra'$"):
        read_row(content | {"extra": 1}, "a row")
    del content["score"]
    with pytest.raises(eh.errors.InvalidInput, match=r"^a row must have the field score$"):
        read_row(content, "a row")


def test_a_frame_has_the_columns_of_a_row() -> None:
    for library in ("pandas", "polars", "pyarrow"):
        frame = AUDIT.to_frame(library)
        names = frame.column_names if library == "pyarrow" else list(frame.columns)
        assert names == list(COLUMNS)
        assert len(frame) == len(AUDIT.rows)


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
