"""Tests of audits of clusters: cases of the same person that depend on each other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from pytest import approx

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.inference import design_effects
from evenhand.metrics import metric

METRICS = ["tpr", "ppr", "f1", "mcc", "equalized_odds", "lr_plus"]


def people(
    correlation: float = 0.5, rates: tuple[float, ...] = (0.8, 0.8, 0.8), seed: int = 1, constant: bool = False
) -> dict[str, list[Any]]:
    """Three groups of patients with five images each, whose labels are the same or alternate."""
    rng = np.random.default_rng(seed)
    spread = (1 - correlation) / max(correlation, 1e-9)
    rows: list[tuple[Any, ...]] = []
    for site, n, rate in zip("ABC", (12, 40, 40), rates, strict=True):
        for i in range(n):
            right = rng.beta(rate * spread, (1 - rate) * spread) if correlation else rate
            for j in range(5):
                y = int(i % 2 if constant else (i + j) % 2)
                rows.append((site, f"{site}{i}", y, int(y == (rng.random() < right)), len(rows)))
    return dict(zip(("site", "patient", "y", "p", "row"), map(list, zip(*rows, strict=True)), strict=True))


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


def test_a_rate_has_the_effective_counts_of_its_clusters() -> None:
    data = people()
    row = next(row for row in audit(data, metrics="tpr", cluster="patient").rows if row.group == "A")
    sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for site, patient, y, p in zip(data["site"], data["patient"], data["y"], data["p"], strict=True):
        cells = sides[site != "A"].setdefault(patient, np.zeros(4))
        cells[2 * (not y) + (not p)] += 1
    mine, theirs = (np.array(list(side.values())) for side in sides)
    effects = design_effects(metric("tpr").base, mine, theirs)
    assert (row.denominators, row.method) == ((30,), "effective counts")
    assert row.correlation == effects.correlation > 0.2
    assert row.n_effective == approx(30 / effects.group)
    # The score itself is that of all cases.
    assert row.score == approx(mine[:, 0].sum() / 30)


def test_dependent_cases_say_less() -> None:
    """Intervals are wider and p-values larger than those of independent rows."""
    data = people(correlation=0.6, rates=(0.4, 0.8, 0.8), constant=True)
    plain, clusters = (audit(data, metrics=METRICS, cluster=cluster) for cluster in (None, "patient"))
    wide = {(row.group, row.metric): row for row in clusters.rows}
    for row in plain.rows:
        other = wide[row.group, row.metric]
        assert other.gap_high - other.gap_low > row.gap_high - row.gap_low
        assert not row.pvalue < 0.2 or other.pvalue > row.pvalue


@pytest.mark.slow
def test_the_interval_of_a_rate_and_its_test_agree() -> None:
    """0 lies outside of the interval if and only if p <= 0.05."""
    for seed in range(8):
        data = people(0.3, (0.45, 0.8, 0.8), seed)
        for row in audit(data, metrics=["tpr", "ppr", "f1"], cluster="patient", adjust="none").rows:
            assert (row.gap_low > 0 or row.gap_high < 0) == (row.pvalue <= 0.05)


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
    assert all(row.method == "effective counts" for row in a.rows if row.method)
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
