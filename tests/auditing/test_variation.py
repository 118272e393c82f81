"""Whether scores vary between groups: which tests are made, and what is said of them."""

from __future__ import annotations

import json
import time
from math import isnan
from typing import Any

import numpy as np
import pytest
from pytest import approx

import evenhand as eh
from evenhand.reports.narrative import variation_text
from evenhand.reports.text import as_text


def drawn(groups: int, size: int, sd: float, seed: int = 3, rate: float = 0.3) -> dict[str, tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    tp = rng.binomial(size, np.clip(rng.normal(rate, sd, groups), 0, 1))
    fp = rng.binomial(size, 0.2, groups)
    return {
        f"g{g}": (int(a), size - int(a), int(b), size - int(b)) for g, (a, b) in enumerate(zip(tp, fp, strict=True))
    }


VARIES = drawn(60, 20, 0.1)
AXES = {
    "y": [0] * 60 + [1] * 60,
    "p": [0, 1, 1, 0, 0, 0, 1] * 17 + [1],
    "s": np.linspace(0, 1, 120).tolist(),
    "g": list("ABCD") * 30,
    "h": list("XY") * 60,
    "w": [1.0, 2.0] * 60,
    "c": [10 * (i % 4) + i // 40 for i in range(120)],
}


def list_tests(a: eh.Audit) -> list[tuple[str, str]]:
    return [(row.by, row.metric) for row in a.variation]


def test_each_metric_of_one_rate_has_a_row_per_column_of_three_groups() -> None:
    a = eh.audit(AXES, y_true="y", y_pred="p", groups=["g", "h"], metrics=["tpr", "f1", "mcc", "equal_opportunity"])
    assert list_tests(a) == [("g", "tpr"), ("g & h", "tpr"), ("g", "f1"), ("g & h", "f1")]
    assert {row.by for row in a.overall} == {""} and len(a.overall) == 3
    rows = {(row.by, row.metric): row for row in a.variation}
    assert rows["g", "tpr"].varies_groups == 4
    assert isnan(rows["g", "f1"].spread_high), "F1 is no rate"
    assert all(isnan(row.varies_pvalue) for row in (*a.overall, *a.rows))
    assert all(row.varies_adjusted >= row.varies_pvalue for row in a.variation)


def test_groups_without_cases_in_the_denominator_do_not_count() -> None:
    counts = {"A": (5, 5, 1, 9), "B": (9, 1, 2, 8), "C": (0, 0, 3, 7)}
    assert list_tests(eh.audit_counts(counts, metrics=["tpr", "fpr"])) == [("group", "fpr")]


def test_p_values_are_adjusted_by_holm_over_the_metrics_and_columns_of_a_place() -> None:
    a = eh.audit_counts(VARIES, metrics=["tpr", "fpr", "acc"])
    p = sorted(row.varies_pvalue for row in a.variation)
    expected = np.minimum(1, np.maximum.accumulate(np.array(p) * [3, 2, 1]))
    assert sorted(row.varies_adjusted for row in a.variation) == approx(expected)


def test_complementary_rates_have_the_same_p_value_and_draws_repeat() -> None:
    a, again = (eh.audit_counts(VARIES, metrics=["tpr", "fnr"]) for _ in range(2))
    first, second = a.variation
    assert first.varies_pvalue == second.varies_pvalue
    assert (first.spread_low, first.spread_high) == approx((second.spread_low, second.spread_high))
    assert a == again


def test_each_place_has_its_own_tests() -> None:
    a = eh.audit(AXES, y_true="y", y_score="s", threshold=[0.2, 0.6], groups="g", metrics="tpr")
    assert [row.at for row in a.variation] == [{"threshold": 0.2}, {"threshold": 0.6}]
    assert len(a.at(threshold=0.2).variation) == 1
    classes = eh.audit(
        AXES | {"p": list("abc") * 40, "y": list("bca") * 40}, y_true="y", y_pred="p", groups="g", classes="all"
    )
    assert {row.at["class"] for row in classes.variation} == set("abc")


@pytest.mark.parametrize("more", [{"sample_weight": "w"}, {"cluster": "c"}, {"strata": "h"}, {"protect": 5}])
def test_dependent_weighted_rounded_or_stratified_cases_are_not_tested(more: Any) -> None:
    a = eh.audit(AXES, y_true="y", y_pred="p", groups="g", metrics="tpr", **more)
    assert a.variation == () and "varies" not in as_text(a)


def test_it_is_a_finding_that_gates_can_use() -> None:
    a = eh.audit_counts(VARIES, metrics=["tpr", "fpr"])
    finding = next(f for f in a.findings if f.kind == "varies")
    assert (finding.code, finding.severity, finding.by, finding.group) == ("EH110", "warning", "group", None)
    assert finding.metrics == ("tpr",)
    assert finding.sentence.startswith("tpr varies across the 60 groups (p < .001; s.d. .0")
    assert [f.kind for f in a.findings].count("varies") == 1
    equal = eh.audit_counts(drawn(60, 20, 0.0), metrics="tpr")
    assert "varies" not in [f.kind for f in equal.findings] and equal.variation


def test_saved_audits_keep_it_and_refuse_what_is_no_number() -> None:
    a = eh.audit_counts(VARIES, metrics=["tpr", "f1"])
    again = eh.Audit.from_json(a.to_json())
    assert again == a and again.variation == a.variation
    content = json.loads(a.to_json())
    content["overall"]["varies_pvalue"][-1] = "small"
    with pytest.raises(eh.errors.InvalidInput, match="varies_pvalue"):
        eh.Audit.from_json(json.dumps(content))


def sentence(p: float, low: float = 0.081, high: float = 0.119, *, differs: bool = False) -> str:
    row = eh.audit_counts(VARIES, metrics="tpr").variation[0]

    class Changed:
        metric, varies_adjusted, spread_low, spread_high = row.metric, p, low, high

    return variation_text(Changed(), {"alpha": 0.05}, differs=differs)  # type: ignore[arg-type]


def test_sentences_claim_no_more_than_was_tested() -> None:
    nan = float("nan")
    assert sentence(0.0001) == "tpr varies (p < .001; s.d. .08 to .12)"
    assert sentence(0.0001, 0.081, 0.1201) == "tpr varies (p < .001; s.d. .08 to .13)", "rounded outwards"
    assert sentence(0.04, 0.0, 0.05) == "tpr varies (p = .040; s.d. at most .05)"
    assert sentence(0.0001, 0.0041, 0.0121) == "tpr varies (p < .001; s.d. .004 to .013)"
    assert sentence(0.0001, nan, nan) == "tpr varies (p < .001)"
    assert sentence(0.41, 0.0, 0.05) == "no sign that tpr varies (p = .41; s.d. at most .05)"
    assert sentence(0.0504, 0.01, 0.05) == "no sign that tpr varies (p = .0504; s.d. at most .05)"
    assert sentence(1.0, nan, nan) == "no sign that tpr varies (p = 1.00)"
    assert sentence(0.3, differs=True) == "tpr: single groups differ; overall p = .30"
    assert sentence(0.0001, differs=True) == sentence(0.0001)


def test_every_output_has_a_line_per_metric() -> None:
    a = eh.audit_counts(VARIES, metrics=["tpr", "fpr", "f1"])
    text = " ".join(as_text(a).split())
    outputs = text, a.to_markdown().replace("\\", ""), a.to_html(), a._repr_html_()
    for output in map(str, outputs):
        assert "Across the 60 groups" in output
        assert "f1 varies" in output and "tpr varies" in output
        assert "fpr: single groups differ; overall p = " in output
        assert "does not vary" not in output


def test_it_is_the_headline_where_no_single_group_is_found() -> None:
    counts = drawn(60, 20, 0.08, seed=4)
    a = eh.audit_counts(counts, metrics="tpr")
    assert not any(row.differs for row in a.rows)
    for output in (" ".join(as_text(a).split()), str(a.to_html())):
        assert "No single group was found to differ, but tpr varies across the 60 groups (p " in output
        assert "No difference was found. " not in output


def test_columns_are_named_if_there_are_several() -> None:
    counts = {(g, g[-1]): cells for g, cells in VARIES.items()}
    a = eh.audit_counts(counts, by=("site", "kind"), metrics="tpr", intersections=1)
    assert "Across the 60 groups of site: tpr varies" in as_text(a)
    assert any(f.sentence.startswith("tpr varies across the 60 groups of site (") for f in a.findings)


@pytest.mark.slow
def test_thousands_of_groups_take_about_a_second_more() -> None:
    counts = drawn(3_000, 20, 0.1)
    start = time.process_time()
    a = eh.audit_counts(counts, metrics=["acc", "ppr", "tpr", "fpr", "ppv", "npv", "prev", "f1"])
    assert time.process_time() - start < 15
    assert next(row for row in a.variation if row.metric == "tpr").varies_adjusted < 0.05
