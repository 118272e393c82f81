"""Difference, ratio, smallest and largest score over all groups, against listing tables and boxes of intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import fairlearn.metrics as fm
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from oracle import drawn_scores
from pytest import approx
from scipy.special import gammaln
from scipy.stats import beta, binom
from sklearn.metrics import accuracy_score

from evenhand import ConfusionMatrix, metric
from evenhand.errors import InvalidInput, TooLarge
from evenhand.inference import aggregate, between_groups
from evenhand.results import GroupSummaries

Cells = tuple[int, int, int, int]


def summaries(groups: dict[str, Cells], key: str, **how: Any) -> GroupSummaries:
    return between_groups({name: ConfusionMatrix(*cells) for name, cells in groups.items()}, key, **how)


def share(key: str, matrix: Sequence[int]) -> tuple[int, int]:
    """Successes and cases of a rate."""
    tp, fn, fp, tn = matrix
    return {"ppr": (tp + fp, tp + fn + fp + tn), "tpr": (tp, tp + fn), "fpr": (fp, fp + tn)}[key]


def statistic(kind: str, method: str, parts: Sequence[int], wholes: Sequence[int]) -> Fraction:
    """The difference or the ratio over groups, as a fraction."""
    rates = [Fraction(k, n) for k, n in zip(parts, wholes, strict=True)]
    if method == "between_groups":
        return max(rates) - min(rates) if kind == "difference" else min(rates) / max(rates)
    overall = Fraction(sum(parts), sum(wholes))
    if kind == "difference":
        return max(abs(rate - overall) for rate in rates)
    return min(min(rate / overall, overall / rate) if rate else Fraction(0) for rate in rates)


def tables(parts: Sequence[int], wholes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """All tables with these margins and their probabilities if groups are alike."""
    total = math.comb(sum(wholes), sum(parts))
    for table in product(*(range(n + 1) for n in wholes)):
        if sum(table) == sum(parts):
            ways = math.prod(math.comb(n, k) for n, k in zip(wholes, table, strict=True))
            yield table, Fraction(ways, total)


# P-values


@pytest.mark.parametrize("agg", ["worst_case", "mean"])
@pytest.mark.parametrize("keys", [("ppr",), ("tpr", "fpr")], ids="-".join)
@pytest.mark.parametrize("kind", ["difference", "ratio"])
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@given(groups=st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=3))
@settings(max_examples=10, deadline=None)
def test_the_pvalue_is_the_share_of_permutations_that_are_as_extreme(
    method: Any, kind: Any, keys: tuple[str, ...], agg: Any, groups: list[Cells]
) -> None:
    """Listed in fractions, for two rates together."""
    wholes = {key: [share(key, m)[1] for m in groups] for key in keys}
    parts = {key: [share(key, m)[0] for m in groups] for key in keys}
    assume(all(min(w) for w in wholes.values()))
    assume(kind == "difference" or all(any(p) for p in parts.values()))
    combine: Any = (lambda v: sum(v) / len(v)) if agg == "mean" else max if kind == "difference" else min
    observed = combine([statistic(kind, method, parts[key], wholes[key]) for key in keys])
    law = [
        [(statistic(kind, method, table, wholes[key]), p) for table, p in tables(parts[key], wholes[key])]
        for key in keys
    ]
    expected = sum(
        math.prod(p for _, p in outcome)
        for outcome in product(*law)
        if (combine([v for v, _ in outcome]) >= observed) == (kind == "difference")
        or combine([v for v, _ in outcome]) == observed
    )
    named = {name: ConfusionMatrix(*cells) for name, cells in zip("abc", groups, strict=False)}
    found = aggregate("x", kind, named, [metric(key).base for key in keys], method=method, agg=agg)
    assert (found.method, found.error, found.rng) == ("exact permutation", None, None)
    assert found.pvalue == approx(float(expected), rel=1e-9)


def test_more_tables_than_can_be_listed_are_drawn() -> None:
    """Four groups of 65 cases: within 5 standard errors of the law of all tables, listed here as arrays."""
    sizes, parts = np.array([65] * 4), np.array([20, 33, 28, 36])
    groups = {f"g{i}": (int(k), int(n - k), 0, 0) for i, (k, n) in enumerate(zip(parts, sizes, strict=True))}
    found = summaries(groups, "tpr", rng=1).difference
    free = np.stack(np.meshgrid(*[np.arange(66)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    every = np.column_stack([free, parts.sum() - free.sum(axis=1)])
    every = every[(every[:, 3] >= 0) & (every[:, 3] <= 65)]
    assert len(free) > 200_000
    logs = (gammaln(66) - gammaln(every + 1) - gammaln(66 - every)).sum(axis=1)
    chances = np.exp(logs - logs.max())
    exact = chances[np.ptp(every, axis=1) >= np.ptp(parts)].sum() / chances.sum()
    assert (found.method, found.rng) == ("permutation, 9,999 draws", 1)
    assert 0.01 < exact < 0.2
    assert found.pvalue is not None and found.error is not None
    assert abs(found.pvalue - exact) < 5 * found.error
    assert (found.pvalue * 10_000) % 1 == approx(0, abs=1e-6)
    assert summaries(groups, "tpr", rng=1).difference == found
    assert summaries(groups, "tpr", rng=2).difference.pvalue != found.pvalue
    by_generator = summaries(groups, "tpr", rng=np.random.default_rng(1)).difference
    assert (by_generator.pvalue, by_generator.rng) == (found.pvalue, None)


def test_tables_of_billions_of_cases_are_not_drawn() -> None:
    huge = {f"g{i}": (10**9 + i, 10**9, 0, 0) for i in range(3)}
    with pytest.raises(TooLarge, match=r"^random tables are drawn from fewer than 1e9 cases; with so many, compare "):
        summaries(huge, "tpr")


# Intervals


@given(
    groups=st.lists(st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2,
                    max_size=4),
    level=st.sampled_from([0.8, 0.95, 0.99]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_intervals_are_what_the_intervals_of_all_groups_allow(groups: list[tuple[int, int]], level: float) -> None:
    """Optimised over the corners, the ends and common values of the box of Clopper and Pearson's intervals."""
    tail = (1 - level ** (1 / len(groups))) / 2
    box = [
        (beta.ppf(tail, k, n - k + 1) if k else 0.0, beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0)
        for k, n in groups
    ]
    matrix = {f"g{i}": (0, 0, k, n - k) for i, (k, n) in enumerate(groups)}
    found = summaries(matrix, "ppr", level=level)
    corners = list(product(*box))
    between = sorted({end for ends in box for end in ends})
    inside = [tuple(min(max(c, low), high) for low, high in box) for c in between]
    ranges = [max(p) - min(p) for p in corners + inside]
    assert (found.difference.low, found.difference.high) == approx((min(ranges), max(ranges)), abs=1e-9)
    quotients = [min(p) / max(p) for p in corners + inside if max(p) > 0]
    if not math.isnan(found.ratio.estimate):
        assert (found.ratio.low, found.ratio.high) == approx((min(quotients), max(quotients)), abs=1e-9)
    assert (found.group_min.low, found.group_min.high) == approx((min(b[0] for b in box), min(b[1] for b in box)))
    assert (found.group_max.low, found.group_max.high) == approx((max(b[0] for b in box), max(b[1] for b in box)))
    overall = summaries(matrix, "ppr", level=level, method="to_overall")
    sizes = np.array([n for _, n in groups])
    apart, nearest = 0.0, 1.0
    for point in corners + inside:
        mean = float(sizes @ point / sizes.sum())
        apart = max(apart, *abs(np.array(point) - mean))
        assert overall.difference.low - 1e-9 <= max(abs(np.array(point) - mean))
        if mean > 0 and not math.isnan(overall.ratio.estimate):
            to_mean = min(min(x / mean, mean / x) if x else 0.0 for x in point)
            nearest = min(nearest, to_mean)
            assert to_mean <= overall.ratio.high + 1e-9
    assert overall.difference.high == approx(apart)
    if not math.isnan(overall.ratio.estimate):
        assert overall.ratio.low == approx(nearest, abs=1e-9)
        assert overall.ratio.estimate <= overall.ratio.high <= 1


@pytest.mark.parametrize("agg", ["worst_case", "mean"])
@pytest.mark.parametrize("kind", ["difference", "ratio"])
def test_the_interval_of_two_rates_holds_for_both_in_all_groups(kind: Any, agg: Any) -> None:
    """Four rates of two groups, each at level ** (1/4)."""
    groups = {"a": (30, 10, 4, 56), "b": (9, 31, 20, 30)}
    tail = (1 - 0.9 ** (1 / 4)) / 2
    ends = []
    for key in ("tpr", "fpr"):
        (low, high), (other_low, other_high) = (
            (beta.ppf(tail, k, n - k + 1), beta.ppf(1 - tail, k + 1, n - k))
            for k, n in (share(key, m) for m in groups.values())
        )
        if low < other_low:
            low, high, other_low, other_high = other_low, other_high, low, high
        ends.append((low - other_high, high - other_low) if kind == "difference" else
                    (other_low / high, other_high / low))  # fmt: skip
    assert kind == "ratio" or min(low for low, _ in ends) > 0
    combine: Any = np.mean if agg == "mean" else max if kind == "difference" else min
    named = {name: ConfusionMatrix(*cells) for name, cells in groups.items()}
    rates = [metric(key).base for key in ("tpr", "fpr")]
    found = aggregate("odds", kind, named, rates, agg=agg, level=0.9)
    assert (found.low, found.high) == approx(tuple(combine(side) for side in zip(*ends, strict=True)))


@pytest.mark.parametrize(
    ("sizes", "rates"), [((6, 9), (0.3, 0.3)), ((4, 12), (0.1, 0.9)), ((5, 5, 7), (0.2, 0.5, 0.5))]
)
def test_the_intervals_cover_at_least_at_the_level(sizes: tuple[int, ...], rates: tuple[float, ...]) -> None:
    """The coverage is summed over all tables; all summaries hold at once."""
    level, covered = 0.9, 0.0
    true = {
        "difference": max(rates) - min(rates),
        "ratio": min(rates) / max(rates),
        "group_min": min(rates),
        "group_max": max(rates),
    }
    for parts in product(*(range(n + 1) for n in sizes)):
        groups = {f"g{i}": (k, n - k, 0, 0) for i, (k, n) in enumerate(zip(parts, sizes, strict=True))}
        found = summaries(groups, "tpr", level=level, draws=1)
        ends = {name: getattr(found, name) for name in true}
        if all(math.isnan(ends[n].low) or ends[n].low - 1e-9 <= true[n] <= ends[n].high + 1e-9 for n in true):
            covered += math.prod(float(binom.pmf(k, n, p)) for k, n, p in zip(parts, sizes, rates, strict=True))
    assert covered >= level


# Scores


def test_the_summaries_are_those_of_a_metric_frame() -> None:
    groups = {"a": (3, 1, 0, 6), "b": (30, 30, 9, 40), "c": (0, 0, 4, 9)}
    rows = [
        (label, prediction, group)
        for group, cells in groups.items()
        for n, (label, prediction) in zip(cells, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True)
        for _ in range(n)
    ]
    y_true, y_pred, who = zip(*rows, strict=True)
    frame = fm.MetricFrame(metrics=accuracy_score, y_true=y_true, y_pred=y_pred, sensitive_features=who)
    ours, to_overall = (summaries(groups, "acc", method=method) for method in ("between_groups", "to_overall"))
    assert ours.overall.estimate == approx(frame.overall)
    assert (ours.difference.estimate, ours.ratio.estimate) == approx((frame.difference(), frame.ratio()))
    assert (ours.group_min.estimate, ours.group_max.estimate) == approx((frame.group_min(), frame.group_max()))
    assert to_overall.difference.estimate == approx(frame.difference(method="to_overall"))
    assert to_overall.ratio.estimate == approx(frame.ratio(method="to_overall"))
    assert to_overall.difference.decided_by == {"acc": ("a",)}


def test_groups_without_a_score_are_left_out_and_named() -> None:
    found = summaries({"a": (3, 1, 0, 6), "b": (30, 30, 9, 40), "c": (0, 0, 4, 9)}, "tpr")
    assert found.groups == 2
    assert found.undefined == {"c": "no actual positives (TP + FN = 0)"}
    assert found.overall.estimate == 33 / 64
    assert found.group_max.decided_by == {"tpr": ("a",)}
    assert found.difference.decided_by == {"tpr": ("b", "a")}
    assert found.ratio.estimate == approx(0.5 / 0.75)
    assert float(found.difference) == found.difference.estimate
    assert str(found).splitlines()[-1] == "c is left out: no actual positives (TP + FN = 0)"


def test_groups_keep_the_names_and_the_order_that_they_are_given() -> None:
    found = summaries({"b": (1, 3, 0, 6), "(missing)": (4, 0, 9, 40), "missing": (2, 2, 4, 9)}, "tpr")
    assert found.groups == 3
    assert found.difference.decided_by == {"tpr": ("b", "(missing)")}


def test_summaries_of_nothing_have_reasons() -> None:
    found = summaries({"a": (0, 0, 1, 2), "b": (0, 0, 3, 4)}, "tpr")
    assert found.group_min.reason == "tpr is undefined in every group"
    assert found.overall.reason == "no actual positives (TP + FN = 0)"
    assert found.difference.reason == "tpr is defined for 0 groups, and two are needed"
    assert found.difference.pvalue is None and math.isnan(found.difference.high)
    assert summaries({"a": (3, 1, 1, 2), "b": (1, 3, 3, 4)}, "mcc").ratio.reason == (
        "mcc can be negative, so its ratios have no meaning"
    )
    assert summaries({"a": (0, 1, 1, 2), "b": (0, 3, 3, 4)}, "tpr").ratio.reason == "tpr is 0 in every group"


def test_scores_of_several_rates_have_mid_p_intervals_and_no_pvalue() -> None:
    found = summaries({"a": (8, 2, 3, 20), "b": (30, 30, 9, 40)}, "mcc")
    assert found.intervals == "mid-p"
    assert found.difference.pvalue is None and found.difference.method is None
    assert found.difference.low <= found.difference.estimate <= found.difference.high
    # Each group's interval has the level √0.95, by 400,000 mid-p draws; the true gap may be as large as they allow.
    tail = (1 - math.sqrt(0.95)) / 2
    (low, high), (lower, higher) = (
        np.quantile(drawn_scores("mcc", cells, seed, 400_000, prior=None), [tail, 1 - tail])
        for seed, cells in enumerate([(8, 2, 3, 20), (30, 30, 9, 40)])
    )
    assert found.difference.high == approx(max(high - lower, higher - low), abs=0.01)
    assert summaries({"a": (8, 2, 3, 20), "b": (30, 30, 9, 40)}, "f1").intervals == "Clopper-Pearson"


@pytest.mark.parametrize(
    ("key", "options", "sentence"),
    [
        ("equal_opportunity", {}, "equal_opportunity compares two groups; use the one-group metric (tpr)"),
        ("mcc", {"method": "to_overall"}, "method='to_overall' needs a metric that is a proportion of cases, and mcc "
         "is not one"),
        ("tpr", {"method": "both"}, "method must be 'between_groups' or 'to_overall'; got 'both'"),
        ("tpr", {"level": 1}, "level must lie between 0 and 1; got 1"),
        ("tpr", {"draws": 0}, "draws must be a whole number above 0; got 0"),
        ("tpr", {"rng": -1}, "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused(key: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        summaries({"a": (3, 1, 0, 6), "b": (3, 3, 9, 4)}, key, **options)
    assert str(refusal.value) == sentence


def test_results_print_show_themselves_and_have_a_way_out() -> None:
    found = summaries({"<b>": (3, 1, 0, 6), "\x1b[2J": (0, 0, 1, 2), "y": (1, 1, 1, 1)}, "tpr")
    for one in (found, found.difference, found.overall):
        assert "\x1b" not in str(one)
        assert len(repr(one)) <= 140 and "\n" not in repr(one)
        assert "<b>" not in one._repr_html_()
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False)) == one.to_dict()
