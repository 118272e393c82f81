"""What must not change, or must change in a known way, if the data are told differently.

Each test makes the same computation twice, on data that mean the same or are mirrored, and states the theorem that
relates the two results. Only the order of floating-point sums may differ.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from pytest import approx

import evenhand as eh

FEW = settings(max_examples=12, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
METRICS = ["ppr", "tpr", "acc"]
NAMES = {"by", "group", "reference", "impact_group", "reason", "sketch"}
cells = st.tuples(*[st.integers(0, 12)] * 4)
some_cells = cells.filter(any)


def rows_of_data(seed: int) -> list[tuple[str, int, int, str]]:
    chance = random.Random(seed)
    n = chance.randint(20, 40)
    return [(chance.choice("abc"), chance.randint(0, 1), chance.randint(0, 1), chance.choice("xy")) for _ in range(n)]


def table(rows: Sequence[tuple[str, int, int, str]]) -> dict[str, list[Any]]:
    g, y, p, h = (list(column) for column in zip(*rows, strict=True))
    return {"g": g, "y": y, "p": p, "h": h}


def audited(data: Any, **given: Any) -> eh.Audit:
    settings: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g", "positive": 1, "metrics": METRICS}
    result = eh.audit(data, **settings | given)
    assert isinstance(result, eh.Audit)
    return result


def numbers(row: eh.results.Row) -> dict[str, Any]:
    """What a row says in twelve digits, but for names."""
    said = {f.name: getattr(row, f.name) for f in fields(row) if f.name not in NAMES}
    return {name: float(f"{value:.12g}") if isinstance(value, float) else value for name, value in said.items()}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or one == approx(other, rel=1e-9, abs=1e-12)
    return bool(one == other)


# Rows and columns.


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_is_nothing(seed: int) -> None:
    rows = rows_of_data(seed)
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    assert audited(table(rows), groups=["g", "h"]) == audited(table(mixed), groups=["g", "h"])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_file_in_two_parts_is_the_file(suffix: str, tmp_path: Path) -> None:
    """Whatever is in each part, even if a group or a class occurs in only one of them."""
    chance = random.Random(5)
    rows = sorted((chance.choice("abc"), chance.randint(0, 1), chance.randint(0, 1), "x") for _ in range(60))
    write = {"csv": "write_csv", "parquet": "write_parquet", "feather": "write_ipc"}[suffix]
    for name, part in {"whole": rows, "one": rows[:17], "two": rows[17:]}.items():
        getattr(pl.DataFrame(table(part)), write)(tmp_path / f"{name}.{suffix}")
    whole = audited(tmp_path / f"whole.{suffix}")
    parts = audited([tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"])
    assert (parts.rows, parts.findings, parts.n) == (whole.rows, whole.findings, whole.n)


def test_another_column_is_nothing() -> None:
    rows = rows_of_data(3)
    plain = audited(table(rows))
    more = table(rows) | {"z": [None] * len(rows), "y ": [[1]] * len(rows), "tp": list(range(len(rows)))}
    assert audited(more) == plain
    assert audited(pd.DataFrame(more)).rows == plain.rows
    assert audited(pl.DataFrame({"first": [0.5] * len(rows), **table(rows)})).rows == plain.rows


DTYPES: dict[str, Any] = {
    "bool": bool,
    "int8": np.int8,
    "uint64": np.uint64,
    "float32": np.float32,
    "object": object,
    "text": lambda v: str(v),
    "text of floats": lambda v: f"{v}.0",
    "words": lambda v: ("no", "yes")[v],
    "signs": lambda v: (-1, 1)[v],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "frame", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_the_type_of_labels_is_nothing(dtype: str, frame: Any) -> None:
    rows = [("a", i % 2, i // 2 % 2, "x") for i in range(9)] + [("b", 1, i % 2, "x") for i in range(8)]
    make = DTYPES[dtype]
    given = table(rows)
    changed = given | {name: [make(v) for v in given[name]] if dtype != "object" else given[name] for name in "yp"}
    if dtype == "object" and frame is pd.DataFrame:
        changed = pd.DataFrame(changed).astype(object)
    audit = eh.audit(frame(changed), y_true="y", y_pred="p", groups="g", metrics=METRICS)
    assert isinstance(audit, eh.Audit)
    assert audit.rows == audited(given).rows


def test_the_order_of_categories_orders_groups_and_changes_no_number() -> None:
    rows = rows_of_data(6)
    plain = audited(table(rows))
    for order in (["c", "a", "b"], ["b", "c", "a", "z"]):
        for ordered in (False, True):
            frame = pd.DataFrame(table(rows)).assign(g=lambda d: pd.Categorical(d["g"], order, ordered=ordered))  # noqa: B023
            found = audited(frame)
            assert {(r.metric, r.group): numbers(r) for r in found.rows} == {
                (r.metric, r.group): numbers(r) for r in plain.rows
            }
            assert found.record["order"]["g"] == ([one for one in order if one != "z"] if ordered else ["a", "b", "c"])


# Names.


@pytest.mark.parametrize("names", [["z", "y", "x"], ["rest", "all", "missing"], ["1", "a & b", "<b>"], ["b", "c", "a"]])
def test_what_groups_are_called_changes_no_number(names: list[str]) -> None:
    rows = rows_of_data(4)
    called = dict(zip("abc", names, strict=True))
    counts: dict[str, eh.ConfusionMatrix] = {}
    for group, y, p, _ in rows:
        one = eh.ConfusionMatrix(*(int((y, p) == cell) for cell in ((1, 1), (1, 0), (0, 1), (0, 0))))
        counts[group] = counts.get(group, eh.ConfusionMatrix(0, 0, 0, 0)) + one
    plain = eh.audit_counts(counts, metrics=METRICS)
    named = eh.audit_counts({called[group]: cm for group, cm in counts.items()}, metrics=METRICS)
    by_name = {(r.metric, r.group): numbers(r) for r in named.rows}
    assert {(r.metric, called[r.group]): numbers(r) for r in plain.rows} == by_name


# Counts.


@given(a=some_cells, b=some_cells, metric=st.sampled_from([m.key for m in eh.list_metrics() if m.groups == 1]))
@settings(FEW, max_examples=60)
def test_doubling_all_counts_changes_no_score(a: Any, b: Any, metric: str) -> None:
    """Every score is a function of the shares of the cells, and so is whether it exists."""
    m = eh.metric(metric)
    one, two = eh.ConfusionMatrix(*a), eh.ConfusionMatrix(*(2 * cell for cell in a))
    assert same(float(m(one)), float(m(two)))
    assert (m.why_undefined(one) is None) == (m.why_undefined(two) is None)
    other, twice = eh.ConfusionMatrix(*b), eh.ConfusionMatrix(*(2 * cell for cell in b))
    assert same(float(m(other)), float(m(twice)))


@pytest.mark.parametrize("metric", ["tpr", "fpr", "ppv", "npv", "tnr", "fdr"])
@given(n=st.integers(0, 40), p=some_cells)
@settings(FEW, max_examples=8)
def test_twice_as_many_cases_square_the_chance_that_a_rate_has_no_denominator(metric: str, n: int, p: Any) -> None:
    """P(undefined, 2n) = P(undefined, n)**2, since the cases are independent."""
    rates = [cell / sum(p) for cell in p]
    once = eh.undefined_probability(metric, n, rates)
    assert eh.undefined_probability(metric, 2 * n, rates) == approx(once**2, rel=1e-9, abs=1e-300)


@given(a=some_cells)
@FEW
def test_smoothing_twice_as_strongly_with_twice_the_cases_is_the_same(a: Any) -> None:
    """The smoothed shares depend on strength / n only."""
    ref = eh.ConfusionMatrix(30, 10, 12, 48)
    once = eh.cross_prior_smooth(eh.ConfusionMatrix(*a), ref, 7)
    twice = eh.cross_prior_smooth(eh.ConfusionMatrix(*(2 * cell for cell in a)), ref, 14)
    assert [2 * cell for cell in once.cells] == approx(list(twice.cells))


# Mirrors.

SWAPPED_CLASSES = {
    "tpr": "tnr", "tnr": "tpr", "fpr": "fnr", "fnr": "fpr", "ppv": "npv", "npv": "ppv", "fdr": "for", "for": "fdr",
    "prev": "nprev", "nprev": "prev", "ppr": "pnr", "pnr": "ppr", "acc": "acc", "inacc": "inacc", "mcc": "mcc",
    "kappa": "kappa", "informedness": "informedness", "markedness": "markedness", "g_mean": "g_mean", "dor": "dor",
    "balanced_accuracy": "balanced_accuracy", "mcc_limit": "mcc_limit",
}  # fmt: skip
SWAPPED_COLUMNS = {
    "tpr": "ppv", "ppv": "tpr", "tnr": "npv", "npv": "tnr", "fpr": "for", "for": "fpr", "fnr": "fdr", "fdr": "fnr",
    "prev": "ppr", "ppr": "prev", "acc": "acc", "f1": "f1", "mcc": "mcc", "kappa": "kappa", "jaccard": "jaccard",
    "fowlkes_mallows": "fowlkes_mallows", "informedness": "markedness", "f0.5": "f2", "f2": "f0.5",
}  # fmt: skip
MIRRORS = [
    *((key, other, (3, 2, 1, 0)) for key, other in SWAPPED_CLASSES.items()),
    *((key, other, (0, 2, 1, 3)) for key, other in SWAPPED_COLUMNS.items()),
]


@pytest.mark.parametrize(("key", "mirrored", "order"), MIRRORS)
def test_a_mirrored_metric_of_mirrored_cells_is_the_metric(key: str, mirrored: str, order: tuple[int, ...]) -> None:
    """Swapping classes turns TPR into TNR, swapping labels and predictions turns it into PPV; tests follow."""
    a, b = (3, 2, 1, 6), (20, 10, 15, 40)
    one, ref = eh.ConfusionMatrix(*a), eh.ConfusionMatrix(*b)
    other, back = (eh.ConfusionMatrix(*(given[i] for i in order)) for given in (a, b))
    assert same(float(eh.metric(key)(one)), float(eh.metric(mirrored)(other)))
    left, right = (eh.distribution(k, 7, r) for k, r in ((key, ref), (mirrored, back)))
    assert left.p_undefined == approx(right.p_undefined, rel=1e-9)
    at = [-0.5, 0.0, 0.25, 0.3, 0.5, 0.9]
    assert np.asarray(left.cdf(at)) == approx(np.asarray(right.cdf(at)), rel=1e-9, abs=1e-12)
    pairs = ((one, ref, key), (other, back, mirrored))
    # The pooled test of a pair of rates, its gap and its interval are given the labels: predictions do not mirror it.
    mirror = order == (3, 2, 1, 0) or eh.metric(key).shape != "pair"
    for fixed in ("margin", "n") if mirror else ("n",):
        null = "pooled" if mirror else "known"
        first, second = (eh.match_test(x, r, k, given=fixed, null=null) for x, r, k in pairs)  # type: ignore[arg-type]
        assert (first.pvalue, first.percentile) == approx((second.pvalue, second.percentile), rel=1e-9)
    if mirror:
        gap, wide = (eh.disparity(x, r, k, test="fisher") for x, r, k in pairs)
        assert (gap.low, gap.high) == approx((wide.low, wide.high), rel=1e-4, abs=1e-6, nan_ok=True)
        assert gap.pvalue == approx(wide.pvalue, rel=1e-4, abs=1e-6, nan_ok=True)
        between, beyond = eh.interval(one, key), eh.interval(other, mirrored)
        assert (between.low, between.high) == approx((beyond.low, beyond.high), rel=1e-4, abs=1e-6)


@given(a=cells, b=cells, metric=st.sampled_from(["tpr", "ppv", "acc", "f1", "mcc", "ppr", "kappa", "mb"]))
@settings(FEW, max_examples=10)
def test_swapping_group_and_reference_mirrors_the_gap(a: Any, b: Any, metric: str) -> None:
    """The difference changes its sign, its interval its ends, and the test of equality is the same."""
    one, other = eh.ConfusionMatrix(*a), eh.ConfusionMatrix(*b)
    assume(one.n and other.n)
    tests: tuple[Any, ...] = ("fisher", "unconditional")
    for test in tests:
        there, back = eh.disparity(one, other, metric, test=test), eh.disparity(other, one, metric, test=test)
        assert there.estimate == approx(-back.estimate, nan_ok=True)
        assert (there.low, there.high) == approx((-back.high, -back.low), rel=1e-5, abs=1e-6, nan_ok=True)
        assert there.pvalue == approx(back.pvalue, rel=1e-7, abs=1e-12, nan_ok=True)


@given(a=cells, b=cells, metric=st.sampled_from(["tpr", "fpr", "ppv", "npv", "acc", "ppr"]))
@settings(FEW, max_examples=30)
def test_given_the_pooled_counts_a_group_is_as_low_as_the_other_is_high(a: Any, b: Any, metric: str) -> None:
    """P(group's score <= observed) = P(reference's score >= observed), as one count decides both."""
    one, other = eh.ConfusionMatrix(*a), eh.ConfusionMatrix(*b)
    m = eh.metric(metric)
    assume(one.n and other.n and m.why_undefined(one) is None and m.why_undefined(other) is None)
    less = eh.match_test(one, other, m, alternative="less")
    greater = eh.match_test(other, one, m, alternative="greater")
    assert less.pvalue == approx(greater.pvalue, rel=1e-9)
    sides = [eh.match_test(x, y, m).pvalue for x, y in ((one, other), (other, one))]
    assert sides[0] == approx(sides[1], rel=1e-9)


@given(n=st.integers(0, 9), p=some_cells, x=st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 0.7, 1.0]))
@settings(FEW, max_examples=30)
def test_a_rate_and_its_complement_are_one_distribution(n: int, p: Any, x: float) -> None:
    """P(FNR <= x) = P(TPR >= 1 - x), and both are undefined together."""
    rates = [cell / sum(p) for cell in p]
    for key, other in (("tpr", "fnr"), ("fpr", "tnr"), ("ppv", "fdr"), ("npv", "for"), ("acc", "inacc")):
        one, rest = eh.distribution(key, n, rates), eh.distribution(other, n, rates)
        assert one.p_undefined == approx(rest.p_undefined, rel=1e-9)
        if one.p_undefined < 1:
            above = float(one.sf(1 - x)) + float(one.pmf(1 - x))
            assert float(rest.cdf(x)) == approx(above, rel=1e-9, abs=1e-12)


def test_an_audit_of_swapped_classes_is_the_mirror_of_the_audit() -> None:
    groups = {"a": (3, 2, 9, 26), "b": (30, 11, 12, 48), "c": (0, 0, 4, 3)}
    mirrored = {name: (given[3], given[2], given[1], given[0]) for name, given in groups.items()}
    swap = {"tpr": "tnr", "ppv": "npv", "acc": "acc", "ppr": "pnr", "mcc": "mcc"}
    one = eh.audit_counts(groups, metrics=list(swap), favourable="positive")
    other = eh.audit_counts(mirrored, metrics=list(swap.values()), favourable="negative")
    there = {(r.group, r.metric): r for r in other.rows}
    for row in one.rows:
        twin = there[row.group, swap[row.metric]]
        assert row.verdict == twin.verdict
        for name in ("score", "low", "high", "difference", "difference_low", "difference_high", "pvalue", "p_adjusted",
                     "percentile", "p_undefined", "smoothed"):  # fmt: skip
            assert same(getattr(row, name), getattr(twin, name)), (row.group, row.metric, name)


def test_an_audit_forgets_its_library_only() -> None:
    """The record differs in where the data were, and nothing else does."""
    rows = [("abc"[i % 3], i % 2, i // 2 % 2, "x") for i in range(31)]
    audits = [audited(make(table(rows))) for make in (dict, pd.DataFrame, pl.DataFrame, pa.table)]
    assert all(replace(found, library=None) == replace(audits[0], library=None) for found in audits)
