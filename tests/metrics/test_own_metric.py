"""A metric of one's own, as CONTRIBUTING says, without a place in the catalogue."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from oracle import evaluate, hypergeometric, matrices, minus, multinomial, over
from pytest import approx

from evenhand import ConfusionMatrix, audit_counts, difference, disparity, distribution, interval, match_test
from evenhand.errors import InvalidInput
from evenhand.metrics import Pair, Part
from evenhand.metrics.links import signed_root

_POSITIVES, _NEGATIVES = Part(("tp", "fn"), "actual positives"), Part(("fp", "tn"), "actual negatives")
_PREDICTED = Part(("tp", "fp"), "predicted positives")
OWN: dict[str, tuple[Pair, Any]] = {
    "product": (
        Pair(
            key="product", name="Recall times precision", means="How many are found, times how many are right",
            better="higher", needs=(_POSITIVES, _PREDICTED),
            printed="TPR * PPV", ranked=lambda tp, fn, fp, tn: (tp * tp, (tp + fn) * (tp + fp)),
            zero_if=(Part(("tp",), "true positives"),),
        ),
        lambda tp, fn, fp, tn: over(tp * tp, (tp + fn) * (tp + fp)),
    ),
    "root": (
        Pair(
            key="root", name="Signed root of informedness", means="How much better than chance, on another scale",
            better="higher", low=-1.0, needs=(_POSITIVES, _NEGATIVES),
            printed="0 if TPR == FPR else (TPR - FPR) / sqrt(sqrt((TPR - FPR)*(TPR - FPR)))", link=signed_root,
            ranked=lambda tp, fn, fp, tn: (tp * tn - fp * fn, (tp + fn) * (fp + tn)),
        ),
        lambda tp, fn, fp, tn: (
            None if (tp + fn) * (fp + tn) == 0
            else mpmath.sign(tp * tn - fp * fn)
            * mpmath.sqrt(mpmath.mpf(abs(tp * tn - fp * fn)) / ((tp + fn) * (fp + tn)))
        ),
    ),
}  # fmt: skip
own = pytest.mark.parametrize(("m", "exact"), OWN.values(), ids=OWN)


@own
def test_a_metric_of_ones_own_is_scored(m: Pair, exact: Any) -> None:
    for c in matrices(6):
        expected, found = exact(*c), m(ConfusionMatrix(*c))
        assert math.isnan(found) == (expected is None) == (m.why_undefined(ConfusionMatrix(*c)) is not None)
        if expected is not None:
            assert found == approx(float(expected), abs=1e-14)
            names = dict(zip(("TP", "FN", "FP", "TN"), c, strict=True))
            assert evaluate(m.expression, names) == approx(found, abs=1e-12)


@own
def test_a_metric_of_ones_own_has_a_distribution(m: Pair, exact: Any) -> None:
    w, n = [3, 1, 2, 4], 6
    d = distribution(m, n, ConfusionMatrix(*w))
    weights = [(exact(*c), multinomial(c, w)) for c in matrices(n)]
    defined = sum(p for s, p in weights if s is not None)
    assert d.p_undefined == approx(float(1 - defined))
    for x in (0.1, 0.4, 0.7):
        expected = sum(p for s, p in weights if s is not None and s <= x) / defined
        assert d.cdf(x) == approx(float(expected), rel=1e-12)


@own
def test_a_metric_of_ones_own_is_tested_by_its_difference(m: Pair, exact: Any) -> None:
    group, reference = (3, 2, 1, 2), (6, 5, 4, 9)
    pooled = [a + b for a, b in zip(group, reference, strict=True)]
    observed = minus(exact(*group), exact(*reference))
    lower = total = Fraction(0)
    for c in matrices(8):
        left = tuple(p - k for p, k in zip(pooled, c, strict=True))
        if c[0] + c[1] == 5 and min(left) >= 0 and (gap := minus(exact(*c), exact(*left))) is not None:
            total += hypergeometric(c, pooled)
            lower += hypergeometric(c, pooled) if gap <= observed + Fraction(1, 10**15) else 0
    r = match_test(ConfusionMatrix(*group), ConfusionMatrix(*reference), difference(m), alternative="less")
    assert r.pvalue == approx(float(lower / total), rel=1e-10)
    assert r.metric.key == f"{m.key}_difference"


@own
def test_a_metric_of_ones_own_has_intervals_and_gaps(m: Pair, exact: Any) -> None:
    group, reference = (13, 12, 11, 22), (60, 5, 4, 90)
    rng = np.random.default_rng(2)
    drawn = []
    for tp, fn, fp, tn in (group, reference):
        p, t, f = (rng.beta(a + 0.5, b + 0.5, 200_000) for a, b in ((tp + fn, fp + tn), (tp, fn), (fp, tn)))
        drawn.append(
            p * t * t / (p * t + (1 - p) * f) if m.key == "product" else np.sign(t - f) * np.sqrt(np.abs(t - f))
        )
    i = interval(ConfusionMatrix(*group), m, 0.9)
    assert (np.mean(drawn[0] < i.low), np.mean(drawn[0] > i.high)) == approx((0.05, 0.05), abs=0.004)
    d = disparity(ConfusionMatrix(*group), ConfusionMatrix(*reference), m, level=0.9)
    gaps = drawn[0] - drawn[1]
    assert (np.mean(gaps < d.low), np.mean(gaps > d.high)) == approx((0.05, 0.05), abs=0.004)
    assert d.estimate == approx(float(exact(*group) - exact(*reference)))
    assert d.to_dict()["metric"] == f"{m.key}_difference"


@own
def test_an_audit_knows_metrics_by_their_keys(m: Pair, exact: Any) -> None:
    sentence = (
        f"{m.key!r} is not a metric of the catalogue, by which rows, reports and saved audits know metrics; "
        "CONTRIBUTING.md says how to add it"
    )
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        audit_counts({"A": ConfusionMatrix(13, 12, 11, 22), "B": ConfusionMatrix(60, 5, 4, 90)}, metrics=[m, "tpr"])
