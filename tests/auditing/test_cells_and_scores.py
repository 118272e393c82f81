"""Scores are those of the cells beside them: over references, weights, clusters, strata, thresholds and classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import row
from class_oracle import overall
from matrices import matrix
from oracle import ONE_GROUP, TWO_GROUPS
from pytest import approx

import evenhand as eh

CLASSES = ("one", "two", "three")
METRICS = ["tpr", "ppr", "f1", "mcc", "kappa", "lr_plus", "disparate_impact", "demographic_parity"]
RATES = ("tpr", "ppr")
MATRIX = (30, 10, 12, 48)
REFERENCES: dict[str, Any] = {
    **{name: name for name in ("rest", "all", "largest", "best")},
    "group": {"g": "b", "h": "u"},
    "matrix": matrix(*MATRIX),
}
SAMPLES: tuple[dict[str, Any], ...] = ({}, {"sample_weight": "w"}, {"cluster": "c"}, {"strata": "t"},
                                       {"strata": "t", "sample_weight": "w"})  # fmt: skip
ANSWERS: tuple[dict[str, Any], ...] = (
    {"y_true": "y", "y_pred": "p"},
    {"y_true": "y", "y_score": "s", "threshold": [0.3, 0.6]},
    {"y_true": "k", "y_pred": "j", "classes": ["one", "two"]},
    {"y_pred": "p"},
)


def people(n: int = 120) -> pd.DataFrame:
    """Cases of known and unknown groups, with whole weights, and clusters that lie within groups."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"g": rng.choice(np.array(["a", "b", "b", "c", None], dtype=object), n), "h": rng.choice(["u", "v"], n)}
    )
    frame["t"], frame["w"] = rng.choice(["east", "west"], n), rng.integers(1, 4, n)
    frame["c"] = frame.g.fillna("-") + frame.h + rng.integers(0, 9, n).astype(str)
    frame["y"], frame["s"] = rng.integers(0, 2, n), rng.random(n).round(2)
    frame["p"] = (frame.s + 0.2 * frame.y >= 0.5).astype(int)
    frame["k"], frame["j"] = (rng.choice(["one", "two", "three"], n) for _ in "kj")
    return frame


def audits() -> Iterator[tuple[str, dict[str, Any], dict[str, Any], eh.Audit]]:
    frame = people()
    for i, (reference, sample, answers) in enumerate(product(REFERENCES, SAMPLES, ANSWERS)):
        # A third of the combinations has every pair of kinds.
        if i % 3:
            continue
        is_refused = reference == "matrix" and ("strata" in sample or "cluster" in sample or "classes" in answers)
        if is_refused or ("classes" in answers and ({*sample} - {"strata"} or reference == "best")):
            continue
        metrics = METRICS if "y_true" in answers else ["ppr", "disparate_impact"]
        given: dict[str, Any] = {"groups": ["g", "h"], "intersections": 1, "metrics": metrics, "favourable": "positive"}
        yield reference, sample, answers, eh.audit(frame, reference=REFERENCES[reference], **given | sample | answers)


def cells_of(cases: pd.DataFrame, at: dict[str, Any], sample: Any, answers: Any) -> Any:
    """TP, FN, FP and TN of cases at a place: counts, or sums of weights; of all classes, their matrix."""
    if "classes" in answers and "class" not in at:
        return [[int(((cases.k == one) & (cases.j == other)).sum()) for other in CLASSES] for one in CLASSES]
    actual, predicted = cases.y == 1, cases.p == 1
    if "class" in at:
        actual, predicted = cases.k == at["class"], cases.j == at["class"]
    elif "threshold" in at:
        predicted = cases.s >= at["threshold"]
    if "y_true" not in answers:
        actual = actual & False
    weights = cases.w if "sample_weight" in sample else cases.w * 0 + 1
    masks = (actual & predicted, actual & ~predicted, ~actual & predicted, ~actual & ~predicted)
    return tuple(int(weights[mask].sum()) for mask in masks)


def scores_of(key: str, own: Any, other: Any) -> list[Any]:
    """The score of a group and that of its reference; a metric of two groups has only one."""
    if len(own) == len(CLASSES):
        return [float(overall(key, table) or nan) for table in (own, other)]
    pair = [TWO_GROUPS[key](own, other), None] if key in TWO_GROUPS else [ONE_GROUP[key](*c) for c in (own, other)]
    return [nan if value is None else float(value) for value in pair]


@pytest.mark.slow
def test_scores_of_groups_references_and_all_cases_are_the_metrics_of_their_cells() -> None:
    frame, seen = people(), set()
    for reference, sample, answers, a in audits():
        for r in (*a.rows, *a.overall):
            seen.add((reference, *sample, *answers, r.metric))
            here = frame if r.at.get("stratum", "pooled") == "pooled" else frame[frame.t == r.at["stratum"]]
            where = r.at, sample, answers
            if not r.by:
                cells = cells_of(here, *where)
                assert r.score == approx(scores_of(r.metric, cells, cells)[0], nan_ok=True)
                continue
            is_reference = r.reference == r.group
            is_rest = is_reference or r.reference_kind in ("rest", "all")
            is_other = here[r.by].notna() & (here[r.by] != r.group) if is_rest else here[r.by] == r.reference
            own, other = (cells_of(part, *where) for part in (here[here[r.by] == r.group], here[is_other]))
            other = MATRIX if reference == "matrix" else other
            if r.reference_kind == "all":
                assert r.metric in RATES and not r.is_pooled
                other = tuple(np.add(own, other).tolist())
            if r.cells is not None:
                assert (r.cells, r.reference_cells) == (own, other)
            score, reference_score = scores_of(r.metric, own, other)
            assert r.score == approx(score, nan_ok=True), (reference, sample, r.at, r)
            assert r.reference_score == approx(nan if is_reference else reference_score, nan_ok=True)
            if not r.is_pooled and not isnan(r.difference):
                is_ratio = r.gap_kind == "ratio"
                assert r.gap == approx(r.score / r.reference_score if is_ratio else score - reference_score)
    assert {kind for kind, *_ in seen} == {*REFERENCES} and {key for *_, key in seen} == {*METRICS}


def test_what_is_computed_again_from_the_cells_of_a_row_is_the_same() -> None:
    """Tables of scores, the functions of two groups, and an audit of the rows' own counts."""
    frame = people()
    a = eh.audit(frame, y_true="y", y_pred="p", groups="g", metrics=METRICS[:5], strength=10)
    shown = a.by_group.set_index("group")
    counts = {r.group: r.cells for r in a.rows if r.metric == "tpr"}
    again = eh.audit_counts(counts, by="g", metrics=METRICS[:5], strength=10)
    for r in a.rows:
        own, other = (matrix(*(cells or ())) for cells in (r.cells, r.reference_cells))
        gap, same = eh.disparity(own, other, r.metric), row(again, r.group, r.metric)
        assert shown.loc[r.group, r.metric] == r.score == approx(eh.metric(r.metric)(own))
        assert [r.pvalue, r.gap_low, r.gap_high] == approx([gap.pvalue, gap.low, gap.high])
        assert r.smoothed == approx(eh.metric(r.metric)(eh.cross_prior_smooth(own, other, 10)))
        for name in ("score", "low", "high", "reference_score", "gap", "p_adjusted", "percentile", "at_least"):
            assert getattr(same, name) == approx(getattr(r, name), nan_ok=True), name
        assert (same.verdict, same.driver, same.reference_cells) == (r.verdict, r.driver, r.reference_cells)
