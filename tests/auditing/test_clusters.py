"""Tests of audits of clusters: cases of the same person that depend on each other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from pytest import approx

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.inference import clustering_effect
from evenhand.metrics import metric

METRICS = ["tpr", "ppr", "f1", "mcc", "equalized_odds", "lr_plus"]


def people(
    correlation: float = 0.5, rates: tuple[float, ...] = (0.8, 0.8, 0.8), seed: int = 1, constant: bool = False
) -> dict[str, list[Any]]:
    """Three groups of patients with five images each, whose labels are the same or alternate."""
    rng = np.random.default_rng(seed)
    spread = (1 - correlation) / max(correlation, 1e-9)
    found: dict[str, list[Any]] = {"site": [], "patient": [], "y": [], "p": [], "row": []}
    for site, n, rate in zip("ABC", (12, 40, 40), rates, strict=True):
        for i in range(n):
            right = rng.beta(rate * spread, (1 - rate) * spread) if correlation else rate
            for j in range(5):
                y = int(i % 2 if constant else (i + j) % 2)
                found["site"].append(site)
                found["patient"].append(f"{site}{i}")
                found["y"].append(y)
                found["p"].append(int(y == (rng.random() < right)))
                found["row"].append(len(found["row"]))
    return found


def audit(data: Any, **settings: Any) -> eh.Audit:
    return eh.audit(data, y_true="y", y_pred="p", groups="site", **settings)


@pytest.mark.slow
def test_clusters_of_one_row_leave_the_audit_unchanged() -> None:
    """cluster= the row number: every number is that of independent rows."""
    data = people()
    plain, clusters = audit(data, metrics=METRICS), audit(data, metrics=METRICS, cluster="row")
    for row, other in zip(plain.rows, clusters.rows, strict=True):
        assert (row.group, row.metric, row.verdict) == (other.group, other.metric, other.verdict)
        for name in ("score", "gap", "required_n", "percentile", "p_adjusted"):
            assert getattr(row, name) == approx(getattr(other, name), nan_ok=True, rel=0), name


def test_the_design_effect_of_clusters_is_described() -> None:
    data = people()
    row = next(row for row in audit(data, metrics="tpr", cluster="patient").rows if row.group == "A")
    mine: dict[str, list[int]] = {}
    theirs: dict[str, list[int]] = {}
    for site, patient, y, p in zip(data["site"], data["patient"], data["y"], data["p"], strict=True):
        side = mine if site == "A" else theirs
        cells = side.setdefault(patient, [0, 0, 0, 0])
        cells[(0 if p else 1) if y else (2 if p else 3)] += 1
    found = clustering_effect(
        metric("tpr").base, *(np.array(list(side.values()), dtype=float) for side in (mine, theirs))
    )

    assert row.denominators == (30,)
    assert row.method == "cluster bound" and 0 < row.p_error < 0.01
    assert row.correlation == approx(found.correlation) and found.correlation > 0.2
    assert row.n_effective == approx(30 / found.effect)
    # The score itself is that of all cases.
    assert row.score == approx(sum(c[0] for c in mine.values()) / 30)


def test_dependent_cases_say_less() -> None:
    """Intervals are wider and p-values larger than those of independent rows."""
    data = people(correlation=0.6, rates=(0.4, 0.8, 0.8), constant=True)
    plain, clusters = (audit(data, metrics=METRICS, cluster=cluster) for cluster in (None, "patient"))
    wide = {(row.group, row.metric): row for row in clusters.rows}

    for row in plain.rows:
        other = wide[row.group, row.metric]
        if row.metric in ("mcc", "equalized_odds", "lr_plus"):
            assert other.verdict.value == "not tested" and other.method is None
            assert other.reason == "scores of several rates are not tested with clusters"
            assert np.isnan([other.pvalue, other.low, other.gap_low, other.required_n]).all()
            assert other.score == row.score
            continue
        assert other.gap_high - other.gap_low > row.gap_high - row.gap_low
        assert not row.pvalue < 0.2 or other.pvalue > row.pvalue


@pytest.mark.slow
def test_the_interval_of_a_rate_and_its_test_agree() -> None:
    """0 lies outside of the interval if and only if p <= 0.05."""
    for seed in range(8):
        data = people(0.3, (0.45, 0.8, 0.8), seed)
        for row in audit(data, metrics=["tpr", "ppr", "f1"], cluster="patient", adjust="none").rows:
            assert (row.gap_low > 0 or row.gap_high < 0) == (row.pvalue <= 0.05)


def test_a_rate_is_bounded_by_the_draws_of_its_clusters() -> None:
    """By other code: weights of single clusters, one after the other."""
    rows, rng = people(rates=(0.5, 0.8, 0.8)), np.random.default_rng(4)
    row = next(row for row in audit(rows, metrics="f1", cluster="patient").rows if row.group == "A")
    ends = []
    sides: list[dict[str, list[int]]] = [{}, {}]
    for site, patient, y, p in zip(rows["site"], rows["patient"], rows["y"], rows["p"], strict=True):
        clusters = sides[site != "A"].setdefault(patient, [0, 0])
        clusters[0] += y and p
        clusters[1] += bool(y or p)
    for side in sides:
        x, n = np.array(list(side.values())).T
        weights, pseudo = rng.exponential(size=(40_000, len(n))), rng.exponential(size=40_000) * n.max()
        total = weights @ n + pseudo
        ends += [2 * r / (1 + r) for r in (weights @ x / total, (weights @ x + pseudo) / total)]
    low, high, least, most = ends
    tail = min((low <= most).mean(), (high >= least).mean())
    assert row.pvalue == approx(2 * tail, abs=4 * row.p_error)
    assert (row.low, row.high) == approx((np.quantile(low, 0.025), np.quantile(high, 0.975)), abs=0.01)
    gaps = np.quantile(low - most, 0.025), np.quantile(high - least, 0.975)
    assert (row.gap_low, row.gap_high) == approx(gaps, abs=0.01)


def test_two_groups_that_are_each_others_rest_have_the_same_test() -> None:
    rows = people(rates=(0.5, 0.8, 0.8))
    two = {name: values[:260] for name, values in rows.items()}
    first, second = audit(two, metrics="tpr", cluster="patient").rows
    assert first.pvalue == second.pvalue
    assert (first.gap_low, first.gap_high) == approx((-second.gap_high, -second.gap_low))


def test_few_clusters_are_not_tested_and_draws_repeat() -> None:
    rows = people()
    few = {name: values[40:] for name, values in rows.items()}  # A keeps 4 of 12 patients.
    a = audit(few, metrics="tpr", cluster="patient", reference="A")
    reasons = {row.group: (row.verdict.value, row.reason) for row in a.rows}
    why = "has 4 of at least 5 clusters that a test needs"
    assert reasons["B"] == ("not tested", f"the reference {why}")
    a = audit(few, metrics="tpr", cluster="patient")
    row = next(row for row in a.rows if row.group == "A")
    assert (row.verdict.value, row.reason) == ("not tested", f"the group {why}")
    assert np.isnan([row.pvalue, row.low, row.gap_low, row.at_least]).all()
    assert audit(few, metrics="tpr", cluster="patient") == a
    assert audit(few, metrics="tpr", cluster="patient", rng=1).rows != a.rows


def test_selection_rates_have_the_clusters_of_cases_without_a_label() -> None:
    rows = people()
    twice = {name: [*values, *values] for name, values in rows.items()}
    twice["y"] = [*rows["y"], *[None] * 460]
    twice["patient"] = [*rows["patient"], *[f"new {one}" for one in rows["patient"]]]
    whole = {**twice, "y": [*rows["y"], *rows["y"]]}
    found, expected = (audit(one, metrics="ppr", cluster="patient") for one in (twice, whole))
    for row, other in zip(found.rows, expected.rows, strict=True):
        assert (row.group, row.score) == (other.group, other.score)
        assert row.pvalue == approx(other.pvalue, abs=4 * (row.p_error + other.p_error))
        assert row.gap_low == approx(other.gap_low, abs=0.02)


def test_the_finding_says_what_is_assumed_and_when_there_are_too_few_draws() -> None:
    assumed = (
        "tests and intervals of clusters are approximate, and assume that no cluster is larger than those seen, or "
        "that rates do not depend on the size of clusters"
    )
    said = [finding.sentence for finding in audit(people(), cluster="patient").findings if finding.kind == "clusters"]
    assert said == [assumed]
    many: dict[str, list[Any]] = {"site": [], "patient": [], "y": [], "p": []}
    for site in range(300):
        for i in range(5):
            many["site"] += [f"{site}"] * 2
            many["patient"] += [f"{site} {i}"] * 2
            many["y"] += [1, 1]
            many["p"] += [int(site > 0 and i > 0), int(site > 0)]
    a = audit(many, metrics="tpr", cluster="patient", positive=1)
    (sentence,) = [finding.sentence for finding in a.findings if finding.kind == "clusters"]
    assert sentence.startswith(f"{assumed}; ") and "inconclusive comparison" in sentence
    assert sentence.endswith("might differ with more draws than are made for so many groups and clusters")


def test_an_audit_of_clusters_can_be_saved() -> None:
    data = people()
    first = audit(data, cluster="patient")
    again = eh.Audit.from_json(first.to_json())

    assert again.rows == first.rows
    assert again.provenance["cluster"] == {"column": "patient", "clusters": 92}
    assert first.provenance["call"]["cluster"] == "patient"


def test_counted_rows_thresholds_and_rows_without_a_cluster_have_clusters_too() -> None:
    """A row that stands for two cases is two rows."""
    data = people()
    twice = {name: values + values for name, values in data.items()}
    counted = audit(data | {"n": [2] * len(data["y"])}, cluster="patient", metrics="tpr", count="n")
    assert audit(twice, cluster="patient", metrics="tpr").rows == counted.rows
    scores = {"s": [0.2 + 0.6 * p for p in data["p"]]}
    a = eh.audit(data | scores, y_true="y", y_score="s", groups="site", threshold=[0.5, 0.9], cluster="patient",
                 metrics="tpr")  # fmt: skip
    assert {row.at["threshold"] for row in a.rows} == {0.5, 0.9}
    assert all(row.method == "cluster bound" for row in a.rows if row.method)
    data["patient"][:3] = [None] * 3
    fewer = audit(data, cluster="patient", metrics="tpr")
    assert fewer.n == 457
    assert "3 rows without a cluster were left out" in [finding.sentence for finding in fewer.findings]


def test_impact_ratios_have_effective_counts() -> None:
    data = people(constant=True)
    wide, narrow = (
        next(r for r in audit(data, metrics="ppr", cluster=cluster, favourable="positive").rows if r.impact_low > 0)
        for cluster in ("patient", None)
    )
    assert wide.impact_ratio == narrow.impact_ratio
    assert wide.impact_high - wide.impact_low > narrow.impact_high - narrow.impact_low


def test_what_takes_cases_for_independent_ones_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"cluster": "y"}, "each cluster must lie in one group; 2 of 2 have cases in several, such as 0; audit them "
         "without cluster=, or choose groups that clusters do not leave"),
        ({"strata": "row"}, "cluster and strata cannot be combined: pooling strata takes cases for independent ones"),
        ({"sample_weight": "row"}, "sample_weight and cluster cannot be combined"),
        ({"classes": "all"}, "cluster is for two classes and cannot be combined with classes"),
        ({"metrics": [("f", lambda a, b: 0.0)]}, "auc, brier, log_loss and functions take no cluster; leave it out, or "
         "ask for other metrics"),
        ({"reference": "1,2,3,4"}, "reference must be 'rest', 'all', 'largest', 'best' or the name of a group; counts "
         "have no clusters"),
        ({"cluster": "nobody"}, "no column is called 'nobody'"),
    ]  # fmt: skip
    for settings, message in cases:
        with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
            audit(people(), **{"cluster": "patient"} | settings)


def test_a_repeated_identifier_names_the_way_out() -> None:
    data = people()
    assert any("or cluster='patient'" in finding.sentence for finding in audit(data).findings)
    assert not any(finding.kind == "repeated-rows" for finding in audit(data, cluster="patient").findings)


def test_the_default_margin_is_from_the_interval_of_the_references_clusters() -> None:
    """From independent cases it was wider, so that B was called equivalent."""
    data = people(correlation=0.6, rates=(0.9, 0.95, 0.95))
    a = audit(data, metrics=["tpr", "acc"], cluster="patient", reference="B")
    for row in (row for row in a.rows if row.group == "A"):
        own = next(r for r in a.rows if (r.group, r.metric) == ("B", row.metric))
        assert row.margin == approx(min(0.1, own.low / 2, (1 - own.high) / 2), abs=5e-3)
        plain = next(r for r in audit(data, metrics=row.metric, reference="B").rows if r.group == "A")
        assert row.margin < plain.margin
