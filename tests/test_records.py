"""What every result has in common: plain values out, a short repr, text, and HTML that shows data as text."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matrices import matrix

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.metrics import CATALOGUE
from evenhand.records import Record, plain_value, spreadsheet_value
from evenhand.sklearn import small_sample_report

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'too' \x1b[31m \u202e"
GROUP, REST, SINGLE = matrix(3, 1, 0, 6), matrix(116, 177, 554, 2429), matrix(1, 0, 1, 6)
AUDIT = eh.audit_counts(
    {HOSTILE: (0, 0, 2, 3), "B": (30, 10, 12, 48), "C": (3, 9, 2, 48)}, by=HOSTILE, favourable="positive"
)
REPORT = small_sample_report([HOSTILE, "b", "b"], ["b", "b", "b"])
STRESS = eh.stress_test({HOSTILE: matrix(30, 10, 12, 48), "B": matrix(20, 20, 30, 30)}, ["acc", "tpr"], [5], [2.0])
CLASSES = eh.MulticlassConfusion([[3, 1, 0], [0, 2, 0], [0, 0, 0]], [HOSTILE, "b", "c"])
OTHERS = eh.MulticlassConfusion([[30, 9, 2], [5, 20, 0], [0, 1, 9]], [HOSTILE, "b", "c"])
ROWS: dict[str, Any] = {
    HOSTILE: [HOSTILE, "B"] * 6, "y": ["x", "y", HOSTILE] * 4, "p": ["x", "y", "y", HOSTILE] * 3,
    "l": [1, 0, 0, 1] * 3, "s": [0.2, 0.4, 0.6] * 4,
}  # fmt: skip
STRATA = eh.disparity({HOSTILE: GROUP}, {HOSTILE: matrix(30, 30, 9, 40), "b": matrix(1, 2, 3, 4)}, "tpr")
MONITOR = eh.Monitor(metrics="tpr").add_counts({HOSTILE: (3, 9, 0, 4), "B": (40, 10, 0, 4)}, at="week 1")
PLAN = eh.sample_size("tpr", REST, 0.2)
ONE_SIDED = {"a": matrix(3, 0, 0, 0)}
RESULTS: dict[str, Any] = {
    "Stratum": STRATA.strata[0],
    "Audit, of classes": eh.audit(
        ROWS, y_true="y", y_pred="p", groups=HOSTILE, classes="all", metrics=["tpr", "acc", "macro tpr", "mcc"]
    ),
    "Audit, thresholds": eh.audit(ROWS, y_true="l", y_score="s", groups=HOSTILE, threshold=[0.3, 0.5]),
    "Audit": AUDIT,
    "MonitorRow": MONITOR.rows[0],
    "MatchResult, simulated": eh.match_test(CLASSES, OTHERS, "mcc", draws=100),
    "MatchResult, hostile": eh.match_test(CLASSES, OTHERS, "tpr", label=HOSTILE),
    "MatchResult, undefined average": eh.match_test(CLASSES, OTHERS, "tpr", average="macro", draws=100),
    "MatchResult, of one": eh.match_test(SINGLE, REST, "tpr"),
    "MatchResult, of two rates": eh.match_test(SINGLE, REST, "equalized_odds"),
    "MatchResult, undefined": eh.match_test(matrix(0, 0, 2, 6), REST, "tpr"),
    "MatchResult, approximate": eh.match_test(GROUP, REST, "acc", method="normal", null="known", given="n"),
    "Disparity": eh.disparity(GROUP, REST, "tpr"),
    "Disparity, ratio": eh.disparity(GROUP, REST, "ppr", "ratio"),
    "Disparity, undefined": eh.disparity(matrix(0, 0, 2, 6), REST, "tpr"),
    "Disparity, strata": STRATA,
    "Disparity, without end": eh.disparity(ONE_SIDED, {"a": matrix(3, 4, 0, 0)}, "tpr"),
    "Disparity, strata that say nothing": eh.disparity(ONE_SIDED, ONE_SIDED, "tpr"),
    "Interval, hostile": eh.interval(CLASSES, "tpr", label=HOSTILE),
    "Interval, unbounded": eh.interval(matrix(5, 0, 0, 5), "dor"),
    "Risk": eh.risk("tpr", GROUP, 8, eh.CrossPrior(REST, 5)),
    "Risk, raw": eh.risk("tpr", GROUP, 8),
    "Risk, simulated": eh.risk("tpr", GROUP, 8, method="montecarlo", draws=100),
    "Risks": eh.risk("tpr", GROUP, [2, 8]),
    "PriorCheck": eh.check_prior(GROUP, REST),
    "PriorCheck, impossible": eh.check_prior(matrix(3, 1, 2, 6), matrix(10, 0, 0, 10)),
    "PriorCheck, of one": eh.check_prior(SINGLE, matrix(1, 0, 0, 0)),
    "StressTest": STRESS,
    "StressRow": STRESS.rows[0],
    "UndefinedRow": eh.undefined_table(5, ["tpr"])[0],
    "UndefinedRow, with a reference": eh.undefined_table(5, ["te"], REST)[0],
    "BiasVariance": eh.bias_variance("prev", [0.2, 0.2, 0.3, 0.3], [0.3, 0.2, 0.2, 0.3], n=10, strength=10),
    "Plan": eh.power("tpr", 1, REST, difference=-0.2, denominator=1),
    "Plan, match": eh.power("acc", 4, REST, difference=0.1, test="match", null="known"),
    "Plan, size": PLAN,
    "Plan, size of one": replace(PLAN, n=1),
    "Plan, interval": eh.sample_size("ppr", REST, half_width=0.2),
    "Plan, undefined": eh.sample_size("ppr", REST, undefined_below=0.5),
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
    "Finding, hostile": next(f for f in AUDIT.findings if f.group == HOSTILE),
}  # fmt: skip


def test_every_class_of_results_is_tested_here() -> None:
    """A result that is derived from Record, or added to the public interface, is placed here, or this fails."""
    tested = {type(result).__name__ for result in RESULTS.values()}
    assert {key.split(",")[0] for key in RESULTS} == tested

    def derived(cls: type) -> set[type]:
        return {cls}.union(*map(derived, cls.__subclasses__()))

    assert {c.__name__ for c in derived(Record) - {Record} if c.__module__.startswith("evenhand.")} <= tested
    public = [value for name in dir(eh) if is_dataclass(value := getattr(eh, name)) and isinstance(value, type)]
    results = {cls.__name__ for cls in public if not issubclass(cls, (eh.results.Metric, eh.results.Distribution))}
    given = {"Raw", "Additive", "CrossPrior", "ConfusionMatrix", "MulticlassConfusion"}
    assert results - given <= tested


def strings_in(content: Any) -> list[str]:
    if isinstance(content, (dict, list)):
        inside = content.values() if isinstance(content, dict) else content
        return [text for value in inside for text in strings_in(value)]
    return [content] if isinstance(content, str) else []


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_as_plain_values_keeps_its_numbers(name: str) -> None:
    """It fits JSON; what is not finite is None; matrices are their cells, not text."""
    result = RESULTS[name]
    content = result.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    if isinstance(result, Record):
        assert list(content) == [
            *(f.name for f in fields(RESULTS[name]) if not f.name.startswith("_")),
            *result._derived,
        ]
        assert plain_value(result) == content
    for key, found in content.items():
        value = None if key == "power" else getattr(result, key, None)
        if isinstance(value, (int, str, float)):
            assert found == (value if not isinstance(value, float) or math.isfinite(value) else None)
    assert not [text for text in strings_in(content) if "predicted +" in text or "ConfusionMatrix" in text]


class Page(HTMLParser):
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


TAGS = {*("pre", "div", "span", "ul", "li", "p", "caption", "svg", "rect", "line", "circle", "text")}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_and_shows_itself_as_text(name: str) -> None:
    """str for people, a repr of one short line, escaped HTML for notebooks; one is not followed by a plural."""
    result = RESULTS[name]
    shown, text, page = repr(result), str(result), Page(result._repr_html_())
    assert len(shown) <= 150 and "\n" not in shown and shown.startswith(f"<{type(result).__name__}: ")
    assert text.strip() and text != shown
    assert page.tags <= TAGS and page.text.strip()
    for control in ("\x1b", "\u202e"):
        assert control not in shown + text + page.text
    if name in ("Audit", "Row, hostile", "Finding, hostile", "StressTest", "ReportedClass"):
        assert "<script>alert(1)</script> & \"quoted\" 'too' " in page.text
    one = r"(?<![\d.,])1 (cases|groups|scores|rows|draws|actual positives|predicted positives|actual negatives)\b"
    assert not re.search(one, text + shown)


def test_one_is_told_from_many() -> None:
    assert str(replace(PLAN, n=1)).startswith("1 case finds a difference")
    for part in {part for metric in CATALOGUE for part in metric.denominators}:
        assert part.format_count(2) == f"2 {part.name}" and part.format_count(1) == f"1 {part.name[:-1]}"


def test_a_matrix_is_the_list_of_its_cells() -> None:
    assert plain_value({"a": GROUP}) == {"a": [3, 1, 0, 6]}
    games = RESULTS["ExploitableSizes"]
    assert games.to_dict()["configurations"] == [[int(c) for c in cm.cells] for cm in games.configurations]
    how = {"name": "CrossPrior", "reference": [116, 177, 554, 2429], "strength": 5}
    assert RESULTS["Risk"].to_dict()["estimator"] == how
    assert RESULTS["Risk, raw"].to_dict()["estimator"] == {"name": "Raw"}


def test_plain_values() -> None:
    for value, expected in (
        *((number, None) for number in (math.nan, math.inf, np.float64("nan"))),
        (np.float64(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), True), (np.array([[1.0, np.inf]]), [[1.0, None]]),
        ({1: (2, {3})}, {"1": [2, [3]]}), (eh.metric("tpr"), "tpr"),
        (eh.results.Verdict.INCONCLUSIVE, "inconclusive"), (None, None), ("text", "text"),
    ):  # fmt: skip
        found = plain_value(value)
        assert found == expected and type(found) is type(expected)


def test_verdicts_are_their_words() -> None:
    verdicts = eh.results.Verdict
    assert [v.value for v in verdicts] == [str(v) for v in verdicts]
    assert verdicts("equivalent") is verdicts.EQUIVALENT
    assert [v.value for v in verdicts if v.differs] == ["higher", "lower", "unlike", "better", "worse"]
    for look in ("marker", "sign"):
        assert len({getattr(v, look) for v in verdicts}) == len(verdicts), "no meaning is carried by colour alone"


def test_text_that_a_spreadsheet_takes_for_a_formula_follows_an_apostrophe() -> None:
    """Signs of full width, too, which some spreadsheets read as the usual ones."""
    for sign in "=+-@＝＋－＠":
        for before in ("", " ", "\u3000"):
            assert spreadsheet_value(f"{before}{sign}1+1") == f"'{before}{sign}1+1"
        counts = {f"{sign}HYPERLINK(1)": (3, 2, 1, 4), "b": (1, 2, 3, 4)}
        text = eh.audit_counts(counts, metrics="acc").to_csv()
        assert f"'{sign}HYPERLINK(1)" in text and f",{sign}HYPERLINK(1)" not in text


# The shipped examples


def test_the_examples_add_up_and_their_rows_count_back() -> None:
    for example, cells in (
        (eh.examples.compas, (2035, 1216, 1282, 2681)),
        (eh.examples.compas_violent, (389, 347, 1597, 4121)),
        (eh.examples.folktables_income, (26318, 16189, 20071, 93854)),
    ):
        assert sum(example().values(), matrix(0, 0, 0, 0)) == matrix(*cells)
    for name, part in pd.DataFrame(eh.examples.rows(eh.examples.compas())).groupby("group"):
        assert eh.ConfusionMatrix.from_labels(part["y_true"], part["y_pred"]) == eh.examples.compas()[name]
    with pytest.raises(InvalidInput, match=r"^groups must have whole counts, .* 'A' has ConfusionMatrix\(tp=1\.5, "):
        eh.examples.rows({"A": matrix(1.5, 1, 1, 1)})
    with pytest.raises(InvalidInput, match=r"^groups must contain at least one group; got none$"):
        eh.examples.rows({})
