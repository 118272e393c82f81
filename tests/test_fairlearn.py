"""At home in fairlearn: frames, one-number aggregates and summaries, against the real library and own oracles."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import fairlearn.metrics as fm
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import beta, binom
from scipy.stats.contingency import odds_ratio
from sklearn.metrics import accuracy_score, confusion_matrix
from statsmodels.stats.contingency_tables import StratifiedTable, mcnemar
from statsmodels.stats.multitest import multipletests

import evenhand as eh
from evenhand import interop

NAMES = [
    f"{what}_{kind}"
    for what in ("demographic_parity", "equal_opportunity", "equalized_odds")
    for kind in ("difference", "ratio")
]
METRICS = {"demographic_parity": ["ppr"], "equal_opportunity": ["tpr"], "equalized_odds": ["tpr", "fpr"]}
Counts = dict[str, tuple[int, int, int, int]]

cells = st.tuples(*[st.integers(0, 6)] * 4)
counts = st.lists(cells, min_size=2, max_size=4).map(lambda rows: dict(zip("abcd", rows, strict=False)))


def people(groups: Counts) -> tuple[list[int], list[int], list[str]]:
    """Labels, predictions and groups with these counts."""
    rows = [
        (label, prediction, group)
        for group, matrix in groups.items()
        for n, (label, prediction) in zip(matrix, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True)
        for _ in range(n)
    ]
    y_true, y_pred, who = zip(*rows, strict=True)
    return list(y_true), list(y_pred), list(who)


def share(key: str, matrix: Sequence[int]) -> tuple[int, int]:
    """Successes and cases of a rate."""
    tp, fn, fp, tn = matrix
    return {
        "ppr": (tp + fp, tp + fn + fp + tn),
        "tpr": (tp, tp + fn),
        "fpr": (fp, fp + tn),
        "acc": (tp + tn, tp + fn + fp + tn),
    }[key]


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


# Frames


def test_metrics_work_inside_a_frame_and_undefined_groups_do_not_count_as_zero() -> None:
    y_true, y_pred, who = people({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4), "c": (0, 0, 1, 3)})
    frame = fm.MetricFrame(
        metrics={"tpr": interop.frame_metric("tpr"), "theirs": fm.true_positive_rate, "count": fm.count},
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=who,
    )
    assert frame.by_group["tpr"].tolist() == approx([0.75, 0.5, math.nan], nan_ok=True)
    assert frame.by_group["theirs"].tolist() == [0.75, 0.5, 0.0]
    assert frame.difference()["tpr"] == 0.25
    assert frame.difference()["theirs"] == 0.75
    assert frame.by_group["count"].tolist() == [10, 8, 4]


@pytest.mark.parametrize("metrics", [eh.metric("tpr"), {"recall": eh.metric("recall_score")}], ids=["one", "named"])
def test_a_metric_itself_is_a_metric_of_a_frame_if_every_group_has_both_labels(metrics: Any) -> None:
    y_true, y_pred, who = people({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)})
    frame = fm.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=who)
    assert np.ravel(frame.by_group).tolist() == [0.75, 0.5]
    assert np.ravel(frame.difference()).tolist() == [0.25]


def test_a_metric_that_cannot_infer_the_positive_label_of_a_group_says_what_can() -> None:
    data: dict[str, Any] = {"y_true": [1, 0, 1, 1], "y_pred": [1, 0, 1, 1], "sensitive_features": list("aabb")}
    with pytest.raises(eh.InvalidInput) as refusal:
        fm.MetricFrame(metrics=eh.metric("tpr"), **data)
    assert str(refusal.value) == (
        "the positive label cannot be inferred from the label 1; pass it as positive=, or use frame_metric('tpr') in a "
        "MetricFrame"
    )
    assert fm.MetricFrame(metrics=eh.frame_metric("tpr"), **data).by_group.tolist() == [1.0, 1.0]
    with pytest.raises(eh.InvalidInput, match=r"pass it as positive=$"):
        eh.metric("tpr")([3, 4], [3, 4])


def test_the_number_of_cases_is_a_metric_of_a_frame_by_its_plain_name() -> None:
    y_true, y_pred, who = people({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)})
    number = pickle.loads(pickle.dumps(eh.frame_metric("count")))
    metrics = {"Count": number, "tpr": eh.frame_metric("tpr"), "fpr": eh.frame_metric("fpr"), "ppr": fm.selection_rate}
    frame = fm.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, sensitive_features=who)
    assert frame.by_group["Count"].tolist() == [10, 8]
    assert frame.overall["Count"] == 18
    assert number.__name__ == "count"
    assert matrices(eh.from_metric_frame(frame, metrics="tpr"), "sensitive_feature_0") == {
        "a": (3, 1, 1, 5), "b": (2, 2, 0, 4)}  # fmt: skip


def test_a_frame_metric_is_named_after_its_metric_and_survives_pickling() -> None:
    metric = pickle.loads(pickle.dumps(eh.frame_metric("recall", positive="yes")))
    assert metric.__name__ == "tpr"
    assert metric(["yes", "yes"], ["yes", "no"]) == 0.5
    assert math.isnan(metric(["no", "no"], ["yes", "no"]))
    with pytest.raises(eh.InvalidInput, match=r"^equal_opportunity compares two groups, and a metric of a MetricFrame"):
        eh.frame_metric("equal_opportunity")


def framed(groups: Counts, metrics: dict[str, Callable[..., Any]], **features: Any) -> fm.MetricFrame:
    y_true, y_pred, who = people(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fm.MetricFrame(metrics=metrics, y_true=y_true, y_pred=y_pred, **({"sensitive_features": who} | features))


def matrices(audit: Any, by: str) -> Counts:
    assert isinstance(audit, eh.Audit)
    return {row.group: (row.tp, row.fn, row.fp, row.tn) for row in audit.rows if row.by == by}  # type: ignore[misc]


FRAMES: dict[str, dict[str, Callable[..., Any]]] = {
    "counts": {"anything": eh.frame_counts, "acc": accuracy_score},
    "scikit-learn's matrix": {"cm": partial(confusion_matrix, labels=[0, 1])},
    "rates": {
        "count": fm.count,
        "accuracy": accuracy_score,
        "selection_rate": fm.selection_rate,
        "tpr": fm.true_positive_rate,
        "fpr": fm.false_positive_rate,
    },
    "rates with other names": {
        "support": fm.count,
        "true_negative_rate": fm.true_negative_rate,
        "false_negative_rate": fm.false_negative_rate,
        "accuracy_score": accuracy_score,
        "selection_rate": fm.selection_rate,
        "my own": lambda y_true, y_pred: 7.0,
    },
}


@pytest.mark.parametrize("metrics", FRAMES.values(), ids=FRAMES)
@given(groups=counts)
@settings(max_examples=15, deadline=None)
def test_an_audit_of_a_frame_has_the_counts_of_its_groups_or_is_refused(
    metrics: dict[str, Callable[..., Any]], groups: Counts
) -> None:
    groups = {group: matrix for group, matrix in groups.items() if sum(matrix)}
    assume(len(groups) > 1)
    frame = framed(groups, metrics)
    try:
        found = eh.from_metric_frame(frame, metrics="acc")
    except eh.InvalidInput as error:
        refusal = str(error)
    else:
        assert matrices(found, "sensitive_feature_0") == groups
        return
    assert "do not follow from" in refusal
    assert not {"anything", "cm"} & set(metrics)


@given(matrix=st.tuples(*[st.integers(1, 10**7)] * 4))
@settings(max_examples=25, deadline=None)
def test_counts_of_millions_of_cases_are_solved_exactly_or_refused(matrix: tuple[int, int, int, int]) -> None:
    rates = {key: k / n for key in ("ppr", "tpr", "fpr") for k, n in [share(key, matrix)]}
    table = pd.DataFrame([{"count": sum(matrix)} | rates] * 2, index=pd.Index(["a", "b"], name="g"))
    try:
        found = eh.from_metric_frame(SimpleNamespace(by_group=table), metrics="tpr")
    except eh.InvalidInput:
        assert rates["tpr"] == approx(rates["fpr"], rel=1e-3)
        return
    assert matrices(found, "g") == {"a": matrix, "b": matrix}


def test_sensitive_features_of_a_frame_become_group_columns_and_empty_combinations_are_ignored() -> None:
    """Nobody is old and in b."""
    groups = {"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)}
    _, _, who = people(groups)
    age = ["old" if group == "a" and i % 2 else "young" for i, group in enumerate(who)]
    frame = framed(groups, {"c": eh.frame_counts}, sensitive_features={"team": who, "age": age})
    found = eh.from_metric_frame(frame, metrics="acc")
    assert isinstance(found, eh.Audit)
    assert {row.by for row in found.rows} == {"age", "team", "team & age"}
    assert matrices(found, "team") == groups
    assert sum(sum(m) for m in matrices(found, "team & age").values()) == 18


def test_names_that_a_frame_uses_can_be_explained() -> None:
    groups = {"a": (3, 1, 1, 5), "b": (2, 2, 0, 4)}
    metrics = {"cases": fm.count, "x": fm.selection_rate, "y": fm.true_positive_rate, "z": fm.false_positive_rate}
    frame = framed(groups, metrics)
    columns = {"cases": "count", "x": "ppr", "y": "tpr", "z": "fpr"}
    assert matrices(eh.from_metric_frame(frame, columns=columns, metrics="tpr"), "sensitive_feature_0") == groups


@pytest.mark.parametrize(
    ("metrics", "columns", "sentence"),
    [
        (
            {"tpr": fm.true_positive_rate, "x": accuracy_score},
            None,
            "the number of cases per group is not among the metrics of the frame (tpr, x), and a MetricFrame does not "
            "keep its data; add frame_counts to its metrics, or fairlearn's count and rates",
        ),
        (
            {"n": fm.count, "tpr": fm.true_positive_rate},
            None,
            "the counts of the group a do not follow from n and tpr; add frame_counts to the metrics of the frame",
        ),
        (
            {"n": fm.count},
            None,
            "the counts of the group a do not follow from n and no rate; add frame_counts to the metrics of the frame",
        ),
        (
            {"n": fm.count, "x": fm.selection_rate, "y": fm.true_positive_rate, "z": fm.false_positive_rate},
            {"x": "acc", "y": "tpr", "z": "ppr"},
            "no whole counts of the group a have these results (x, y, z); the frame must be made without sample "
            "weights, and columns= must say what its metrics are if their names do not",
        ),
        (
            {"n": fm.count, "x": fm.selection_rate},
            {"y": "acc"},
            "no metric of the frame is called 'y'; known: n, x",
        ),
        (
            {"n": fm.count, "x": fm.selection_rate},
            {"x": "mcc"},
            "mcc is not a proportion of counts, so no counts follow from it; leave it out of columns",
        ),
        (
            {"cm": confusion_matrix},
            None,
            "cm of the group c must be a matrix of two classes; got the shape (1, 1), so pass labels= to "
            "confusion_matrix, or use frame_counts",
        ),
    ],
)
def test_a_frame_that_hides_its_counts_is_refused_in_a_sentence(
    metrics: dict[str, Callable[..., Any]], columns: dict[str, str] | None, sentence: str
) -> None:
    frame = framed({"a": (3, 1, 1, 5), "b": (2, 2, 0, 4), "c": (0, 0, 0, 3)}, metrics)
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.from_metric_frame(frame, columns=columns)
    assert str(refusal.value) == sentence


def test_what_is_not_a_frame_is_refused() -> None:
    with pytest.raises(eh.InvalidInput, match=r"^frame must be a MetricFrame of fairlearn; got dict$"):
        eh.from_metric_frame({})
    with pytest.raises(eh.InvalidInput, match=r"^by must be left out: the frame has the names of its group columns$"):
        eh.from_metric_frame(framed({"a": (1, 1, 1, 1)}, {"c": eh.frame_counts}), by="x")


# One number over all groups


@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("name", NAMES)
@given(groups=counts, mean=st.booleans())
@settings(max_examples=20, deadline=None)
def test_estimates_are_those_of_fairlearn_where_every_group_is_defined(
    name: str, method: str, groups: Counts, mean: bool
) -> None:
    what, _, kind = name.rpartition("_")
    parts = {key: [share(key, m) for m in groups.values()] for key in METRICS[what]}
    assume(all(n for rows in parts.values() for _, n in rows))
    assume(kind == "difference" or all(any(k for k, _ in rows) for rows in parts.values()))
    y_true, y_pred, who = people(groups)
    options: dict[str, Any] = {"agg": "mean" if mean else "worst_case"} if what == "equalized_odds" else {}
    expected = getattr(fm, name)(y_true, y_pred, sensitive_features=who, method=method, **options)
    ours = getattr(interop, name)(y_true, y_pred, sensitive_features=who, method=method, positive=1, draws=9, **options)
    assert ours.estimate == approx(expected, abs=1e-12)
    assert float(ours) == ours.estimate
    assert 0 <= ours.low <= ours.estimate + 1e-12
    assert ours.estimate - 1e-12 <= ours.high <= 1
    assert 0 < ours.pvalue <= 1
    assert ours.undefined == {}


@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("name", NAMES)
@given(groups=st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=3), mean=st.booleans())
@settings(max_examples=12, deadline=None)
def test_the_pvalue_is_the_share_of_permutations_that_are_as_extreme(
    name: str, method: str, groups: list[tuple[int, int, int, int]], mean: bool
) -> None:
    """Listed in fractions, for both rates of equalized odds together."""
    what, _, kind = name.rpartition("_")
    keys = METRICS[what]
    wholes = {key: [share(key, m)[1] for m in groups] for key in keys}
    parts = {key: [share(key, m)[0] for m in groups] for key in keys}
    assume(all(min(w) for w in wholes.values()))
    assume(kind == "difference" or all(any(p) for p in parts.values()))
    combine: Any = (lambda v: sum(v) / len(v)) if mean and len(keys) > 1 else max if kind == "difference" else min
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
    y_true, y_pred, who = people(dict(zip("abc", groups, strict=False)))
    options: dict[str, Any] = {"agg": "mean" if mean else "worst_case"} if len(keys) > 1 else {}
    found = getattr(interop, name)(y_true, y_pred, sensitive_features=who, method=method, positive=1, **options)
    assert found.test == "exact permutation"
    assert found.pvalue == approx(float(expected), rel=1e-9)


def test_drawn_pvalues_agree_with_exact_ones_and_repeat() -> None:
    rng = np.random.default_rng(5)
    sizes = [20, 30, 40, 25]
    y_pred = np.concatenate([rng.random(n) < p for n, p in zip(sizes, (0.2, 0.4, 0.5, 0.4), strict=True)])
    who = np.repeat(list("abcd"), sizes)
    found = interop.demographic_parity_difference(None, y_pred, sensitive_features=who)
    assert found.test == "exact permutation"
    from evenhand.interop import permutations

    limit = permutations._MOST_TABLES
    try:
        permutations._MOST_TABLES = 10
        drawn = [
            interop.demographic_parity_difference(None, y_pred, sensitive_features=who, seed=seed) for seed in (1, 1, 2)
        ]
    finally:
        permutations._MOST_TABLES = limit
    assert drawn[0] == drawn[1]
    assert drawn[0].test == "permutation, 9,999 draws, seed 1"
    assert drawn[0].pvalue != drawn[2].pvalue
    assert found.pvalue is not None
    spread = math.sqrt(found.pvalue * (1 - found.pvalue) / 9_999)
    assert drawn[0].pvalue == approx(found.pvalue, abs=5 * spread + 1e-4)


def test_a_perfect_classifier_and_a_group_without_positives_are_no_disparity() -> None:
    """fairlearn reports 1.0, without a warning."""
    y_true, y_pred, who = people({"a": (5, 0, 0, 5), "b": (8, 0, 0, 4), "c": (0, 0, 0, 6)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = fm.equalized_odds_difference(y_true, y_pred, sensitive_features=who)
    ours = interop.equalized_odds_difference(y_true, y_pred, sensitive_features=who)
    assert theirs == 1.0
    assert ours.estimate == 0.0
    assert ours.pvalue == 1.0
    assert ours.undefined == {"tpr": {"c": "no actual positives (TP + FN = 0)"}}
    assert str(ours).splitlines()[-1] == ("tpr of c is undefined and left out: no actual positives (TP + FN = 0)")


def test_what_cannot_be_compared_is_undefined_with_a_reason() -> None:
    y_true, y_pred, who = people({"a": (3, 1, 2, 2), "b": (0, 0, 0, 4), "c": (0, 0, 1, 4)})
    one = interop.equal_opportunity_difference(y_true, y_pred, sensitive_features=who)
    assert math.isnan(one.estimate) and one.pvalue is None and math.isnan(one.high)
    assert one.reason == "tpr is defined for 1 group, and two are needed"
    assert str(one).startswith("equal_opportunity_difference is undefined: tpr is defined for 1 group, and two are")
    worst = interop.equalized_odds_difference(y_true, y_pred, sensitive_features=who)
    assert worst.estimate == 0.5
    assert worst.decided_by == {"fpr": ("b", "a")}
    assert worst.reason == one.reason
    assert math.isnan(interop.equalized_odds_difference(y_true, y_pred, sensitive_features=who, agg="mean").estimate)
    nobody = interop.demographic_parity_ratio(None, [0, 0, 0, 0], sensitive_features=list("aabb"), positive=1)
    assert nobody.reason == "ppr is 0 in every group"
    assert nobody.to_dict()["estimate"] is None


def test_rows_without_a_label_or_a_prediction_are_left_out_and_counted() -> None:
    found = interop.equalized_odds_difference(
        [1, 0, None, 1, 0, 1], [1, 0, 1, None, 1, 0], sensitive_features=list("aaabbb"), positive=1
    )
    assert found.left_out == {"y_true": 1, "y_pred": 1}
    assert str(found).splitlines()[-2:] == [
        "1 row without a label is left out",
        "1 row without a prediction is left out",
    ]
    selected = interop.demographic_parity_difference(None, [1, 0, None, 1], sensitive_features=list("aabb"))
    assert (selected.left_out, selected.estimate) == ({"y_pred": 1}, 0.5)


def test_groups_of_several_features_are_their_combinations() -> None:
    features = {"sex": list("ffmmffmm"), "age": [1, 1, 1, 1, 2, 2, 2, 2]}
    found = interop.demographic_parity_difference(None, [1, 1, 0, 1, 0, 0, 1, 0], sensitive_features=features)
    assert found.estimate == 1.0
    assert found.decided_by == {"ppr": ("f & 2", "f & 1")}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sample_weight": [1, 1]}, "equalized_odds_ratio is about counts, so sample_weight must be None; leave out "
         "the weights"),
        ({"method": "both"}, "method must be 'between_groups' or 'to_overall'; got 'both'"),
        ({"agg": "median"}, "agg must be 'worst_case' or 'mean'; got 'median'"),
        ({"level": 1}, "level must lie between 0 and 1; got 1"),
        ({"draws": 0}, "draws must be a whole number of at least 1; got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
    ],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as refusal:
        interop.equalized_odds_ratio([1, 0], [1, 0], sensitive_features=["a", "b"], **options)
    assert str(refusal.value) == sentence


# Intervals


@given(
    groups=st.lists(st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2,
                    max_size=4),
    level=st.sampled_from([0.8, 0.95, 0.99]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_intervals_of_summaries_are_what_the_intervals_of_all_groups_allow(
    groups: list[tuple[int, int]], level: float
) -> None:
    """Optimised over the corners, the ends and common values of the box of Clopper and Pearson's intervals."""
    tail = (1 - level ** (1 / len(groups))) / 2
    box = [
        (beta.ppf(tail, k, n - k + 1) if k else 0.0, beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0)
        for k, n in groups
    ]
    matrix = {f"g{i}": (0, 0, k, n - k) for i, (k, n) in enumerate(groups)}
    found = eh.summaries(matrix, "ppr", level=level)
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
    overall = eh.summaries(matrix, "ppr", level=level, method="to_overall")
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
def test_the_interval_of_equalized_odds_holds_for_both_rates_of_all_groups(kind: str, agg: str) -> None:
    """Four rates of two groups, each at level ** (1/4)."""
    groups: Counts = {"a": (30, 10, 4, 56), "b": (9, 31, 20, 30)}
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
    y_true, y_pred, who = people(groups)
    function = getattr(interop, f"equalized_odds_{kind}")
    found = function(y_true, y_pred, sensitive_features=who, agg=agg, level=0.9)
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
        found = eh.summaries(groups, "tpr", level=level, draws=1)
        ends = {name: getattr(found, name) for name in true}
        if all(math.isnan(ends[n].low) or ends[n].low - 1e-9 <= true[n] <= ends[n].high + 1e-9 for n in true):
            covered += math.prod(float(binom.pmf(k, n, p)) for k, n, p in zip(parts, sizes, rates, strict=True))
    assert covered >= level


def test_summaries_of_an_audit_are_those_of_its_counts() -> None:
    groups = {"a": (3, 1, 0, 6), "b": (30, 30, 9, 40), "c": (0, 0, 4, 9)}
    audit = eh.audit_counts(groups, metrics=["acc", "tpr"])
    for key in ("tpr", "f1", "mcc", "acc"):
        assert eh.summaries(audit, key) == eh.summaries(groups, key)
    found = eh.summaries(audit, "tpr")
    assert found.undefined == {"c": "no actual positives (TP + FN = 0)"}
    assert found.overall.estimate == 33 / 64
    assert found.group_max.decided_by == {"tpr": ("a",)}
    assert found.ratio.estimate == approx(0.5 / 0.75)
    y_true, y_pred, who = people(groups)
    frame = fm.MetricFrame(metrics=accuracy_score, y_true=y_true, y_pred=y_pred, sensitive_features=who)
    ours = eh.summaries(audit, "acc")
    assert ours.overall.estimate == approx(frame.overall)
    assert ours.difference.estimate == approx(frame.difference())
    assert (ours.group_min.estimate, ours.group_max.estimate) == approx((frame.group_min(), frame.group_max()))
    to_overall = eh.summaries(audit, "acc", method="to_overall")
    assert to_overall.difference.estimate == approx(frame.difference(method="to_overall"))
    assert to_overall.ratio.estimate == approx(frame.ratio(method="to_overall"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("equal_opportunity", {}), "equal_opportunity compares two groups; use the one-group metric (tpr)"),
        (("mcc", {"method": "to_overall"}), "method='to_overall' needs a metric that is a proportion of cases, and mcc "
         "is not one"),
        (("tpr", {"by": "sex"}), "no group column of this audit is called 'sex'; known: group"),
    ],
)  # fmt: skip
def test_summaries_refuse_what_they_cannot_say(arguments: tuple[str, dict[str, Any]], sentence: str) -> None:
    key, options = arguments
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.summaries(eh.audit_counts({"a": (3, 1, 0, 6), "b": (3, 3, 9, 4)}, metrics="tpr"), key, **options)
    assert str(refusal.value) == sentence


def test_summaries_of_nothing_have_reasons() -> None:
    found = eh.summaries({"a": (0, 0, 1, 2), "b": (0, 0, 3, 4)}, "tpr")
    assert found.group_min.reason == "tpr is undefined in every group"
    assert found.overall.reason == "no actual positives (TP + FN = 0)"
    assert found.difference.reason == "tpr is defined for 0 groups, and two are needed"
    assert eh.summaries({"a": (3, 1, 1, 2), "b": (1, 3, 3, 4)}, "mcc").ratio.reason == (
        "mcc can be negative, so its ratios have no meaning"
    )


def test_differences_from_fairlearn_are_those_of_the_table_in_the_docs() -> None:
    def both(name: str, groups: Counts, **options: Any) -> tuple[float, float]:
        y_true, y_pred, who = people(groups)
        there = getattr(fm, name)(y_true, y_pred, sensitive_features=who, **options)
        return there, getattr(interop, name)(y_true, y_pred, sensitive_features=who, **options).estimate

    alone: Counts = {"a": (3, 1, 1, 2)}
    zero: Counts = {"a": (3, 1, 0, 2), "b": (2, 2, 0, 5)}
    assert both("equal_opportunity_difference", alone) == approx((0.0, math.nan), nan_ok=True)
    assert both("equal_opportunity_ratio", alone) == approx((1.0, math.nan), nan_ok=True)
    with np.errstate(invalid="ignore"):
        assert both("equalized_odds_ratio", zero, agg="mean") == approx((2 / 3, math.nan), nan_ok=True)
        nobody: Counts = {"a": (0, 1, 0, 2), "b": (0, 2, 1, 5)}
        assert both("equal_opportunity_ratio", nobody) == approx((math.nan, math.nan), nan_ok=True)


# Levels of another feature

rows = st.tuples(*[st.integers(0, 5)] * 4)


@given(levels=st.lists(rows, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_the_stratified_pvalue_is_that_of_listing_all_tables_of_all_levels(
    levels: list[tuple[int, int, int, int]],
) -> None:
    """Twice the smaller tail of the group's total, in fractions; a level is (a, b) against (c, d)."""
    laws = [dict[int, Fraction](((0, Fraction(1)),))]
    for a, b, c, d in levels:
        laws.append({t[0]: p for t, p in tables((a, c), (a + b, c + d))})
    total: dict[int, Fraction] = {}
    for outcome in product(*(law.items() for law in laws)):
        s = sum(x for x, _ in outcome)
        total[s] = total.get(s, Fraction(0)) + math.prod(p for _, p in outcome)
    observed = sum(a for a, *_ in levels)
    tails = [sum(p for s, p in total.items() if sign * s >= sign * observed) for sign in (1, -1)]
    counts = {f"level {i}": {"x": (a, b, 0, 0), "y": (c, d, 0, 0)} for i, (a, b, c, d) in enumerate(levels)}
    found = eh.stratified_test(counts, "tpr", "x")
    if len(total) == 1:
        assert found.pvalue is None
        assert (found.low, found.high) == (0.0, math.inf)
        assert "no level says anything" in str(found)
        return
    assert found.pvalue == approx(min(1.0, float(2 * min(tails))))
    for end, sign in ((found.low, 1), (found.high, -1)):
        if 0 < end < math.inf:
            tilted = {s: float(p) * end**s for s, p in total.items()}
            beyond = sum(p for s, p in tilted.items() if sign * s >= sign * observed)
            assert beyond / sum(tilted.values()) == approx(0.025, rel=1e-6)
        else:
            assert observed == (min(total) if sign == 1 else max(total))


def test_one_level_is_fishers_test_and_several_have_mantel_and_haenszels_odds_ratio() -> None:
    one = eh.stratified_test({"all": {"x": (7, 5, 0, 0), "y": (20, 40, 0, 0)}}, "tpr", "x")
    ends = odds_ratio([[7, 5], [20, 40]]).confidence_interval(0.95)
    assert (one.low, one.high) == approx((ends.low, ends.high), rel=1e-5)
    assert one.odds_ratio == one.crude_odds_ratio == approx(7 * 40 / (5 * 20))
    assert (
        one.pvalue
        == one.crude_pvalue
        == approx(
            eh.disparity(eh.ConfusionMatrix(7, 5, 0, 0), eh.ConfusionMatrix(20, 40, 0, 0), "tpr", test="fisher").pvalue
        )
    )
    levels = {"a": ((7, 5), (20, 40)), "b": ((3, 9), (2, 11)), "c": ((30, 2), (8, 1))}
    several = eh.stratified_test(
        {level: {"x": (0, 0, *mine), "y": (0, 0, *theirs)} for level, (mine, theirs) in levels.items()}, "fpr", "x"
    )
    pooled = StratifiedTable([np.array(table, dtype=float) for table in levels.values()])
    assert several.odds_ratio == approx(pooled.oddsratio_pooled)


def test_levels_can_explain_a_difference_away_and_overwhelming_ones_do_not_underflow() -> None:
    counts = {
        "easy": {"f": (0, 0, 6, 2), "m": (0, 0, 60, 20)},
        "hard": {"f": (0, 0, 18, 54), "m": (0, 0, 5, 15)},
    }
    found = eh.stratified_test(counts, "selection_rate", "f", reference="m")
    assert found.pvalue == 1.0
    assert found.crude_pvalue is not None and found.crude_pvalue < 1e-5
    huge = eh.stratified_test({"a": {"x": (3000, 10, 0, 0), "y": (10, 3000, 0, 0)}}, "tpr", "x")
    assert huge.pvalue is not None and huge.pvalue < 1e-300
    assert huge.low < 90_000 < huge.high
    assert huge.low > 30_000


def test_the_reference_is_one_group_or_all_others_and_a_group_may_be_missing_in_a_level() -> None:
    counts = {
        "a": {"x": (1, 2, 0, 0), "y": (3, 4, 0, 0), "z": (5, 6, 0, 0)},
        "b": {"y": (3, 4, 0, 0)},
    }
    rest = eh.stratified_test(counts, "tpr", "x")
    assert [(s.part, s.whole, s.reference_part, s.reference_whole) for s in rest.strata] == [
        (1, 3, 8, 18),
        (0, 0, 3, 7),
    ]
    assert [s.informative for s in rest.strata] == [True, False]
    assert eh.stratified_test(counts, "tpr", "x", reference="y").strata[0].reference_whole == 7


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("mcc", "x"), {}, "mcc does not depend on one rate only, so levels cannot be pooled exactly; use a rate"),
        (("tpr", "w"), {}, "no group is called 'w'; known: x, y"),
        (("tpr", "x"), {"reference": "x"}, "group and reference must differ; got 'x' twice"),
        (("tpr", "x"), {"level": 0}, "level must lie between 0 and 1; got 0"),
    ],
)
def test_what_cannot_be_pooled_is_refused(arguments: tuple[str, str], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.stratified_test({"a": {"x": (1, 2, 0, 0), "y": (3, 4, 0, 0)}}, *arguments, **options)
    assert str(refusal.value) == sentence


# Two models on the same people

SUCCESS: dict[str, Callable[[int, int], bool | None]] = {
    "acc": lambda y, p: y == p,
    "ppr": lambda y, p: p == 1,
    "tpr": lambda y, p: p == 1 if y else None,
    "fnr": lambda y, p: p == 0 if y else None,
    "fpr": lambda y, p: None if y else p == 1,
    "tnr": lambda y, p: None if y else p == 0,
}
person = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.sampled_from("xy"))


@pytest.mark.parametrize("key", SUCCESS)
@given(rows=st.lists(person, min_size=1, max_size=9))
@settings(max_examples=15, deadline=None)
def test_tests_of_two_models_are_those_of_exchanging_their_predictions_person_by_person(
    key: str, rows: list[tuple[int, int, int, str]]
) -> None:
    """All 2**n exchanges; McNemar's test is that of the group's change."""
    y_true, a, b, who = (list(column) for column in zip(*rows, strict=True))
    found = eh.compare_models(y_true, a, b, who, key, positive=1, draws=50)
    assert found.n == len(rows) and found.left_out == 0
    outcomes: list[Any] = [
        (first, second, group)
        for y, p, q, group in rows
        for first, second in [(SUCCESS[key](y, p), SUCCESS[key](y, q))]
        if first is not None and second is not None
    ]
    for row in found.groups:
        mine: list[Any] = [Fraction(second - first) for first, second, group in outcomes if group == row.group]
        others: list[Any] = [Fraction(second - first) for first, second, group in outcomes if group != row.group]
        if not mine:
            assert row.pvalue is None and row.gap_pvalue is None
            assert math.isnan(row.change) and row.reason
            continue
        assert row.both + row.only_a + row.only_b + row.neither == len(mine)
        assert row.change == approx(float(sum(mine) / len(mine)))
        assert row.low <= row.change <= row.high
        exchanges = list(product((1, -1), repeat=len(mine)))
        sums = [sum(s * x for s, x in zip(signs, mine, strict=True)) for signs in exchanges]
        assert row.pvalue == approx(sum(abs(s) >= abs(sum(mine)) for s in sums) / len(sums))
        if not others:
            assert row.gap_pvalue is None and row.reason is not None
            assert row.reason.startswith("among all others: no ")
            continue
        other_sums = [
            sum(s * x for s, x in zip(signs, others, strict=True)) for signs in product((1, -1), repeat=len(others))
        ]
        change = sum(mine) / len(mine) - sum(others) / len(others)
        assert row.gap_change == approx(float(change))
        law = Counter(s / len(mine) - t / len(others) for s, t in product(Counter(sums), Counter(other_sums))
                      for _ in range(Counter(sums)[s] * Counter(other_sums)[t]))  # fmt: skip
        extreme = sum(n for value, n in law.items() if abs(value) >= abs(change))
        assert row.gap_pvalue == approx(extreme / law.total())
        assert row.gap_test == "exact paired permutation"
        gaps = [
            Fraction(sum(o[side] for o in outcomes if o[2] == row.group), len(mine))
            - Fraction(sum(o[side] for o in outcomes if o[2] != row.group), len(others))
            for side in (0, 1)
        ]
        size = abs(gaps[1]) - abs(gaps[0])
        assert row.size_change == approx(float(size))
        both = [first + second for first, second, _ in outcomes]
        regrouped = [
            Fraction(sum(both[i] for i in chosen), len(mine))
            - Fraction(sum(both) - sum(both[i] for i in chosen), len(others))
            for chosen in combinations(range(len(both)), len(mine))
        ]
        as_far = sum(abs(value) >= abs(gaps[0] + gaps[1]) for value in regrouped) / len(regrouped)
        assert row.size_pvalue == approx(max(extreme / law.total(), as_far))
        assert row.size_low <= row.size_change <= row.size_high


def test_mcnemars_test_is_that_of_statsmodels_and_adjusted_by_holm() -> None:
    rng = np.random.default_rng(3)
    n = 300
    y, a, b = (rng.integers(0, 2, n) for _ in range(3))
    who = rng.choice(list("uvw"), n)
    b = np.where(rng.random(n) < 0.5, y, b)
    found = eh.compare_models(y, a, b, who, "acc")
    for row in found.groups:
        right = [(p == y)[who == row.group] for p in (a, b)]
        table = [[int(((right[0] == i) & (right[1] == j)).sum()) for j in (True, False)] for i in (True, False)]
        assert [[row.both, row.only_a], [row.only_b, row.neither]] == table
        assert row.pvalue == approx(mcnemar(table, exact=True).pvalue)
    for name in ("p", "gap_p"):
        raw = [getattr(row, f"{name}value") for row in found.groups]
        assert [getattr(row, f"{name}_adjusted") for row in found.groups] == approx(
            multipletests(raw, method="holm")[1]
        )
    assert eh.compare_models(y, a, b, who, "acc") == found
    assert found.overall.change == approx(float((b == y).mean() - (a == y).mean()))
    exchanged = eh.compare_models(y, b, a, who, "acc")
    assert [row.gap_pvalue for row in exchanged.groups] == approx([row.gap_pvalue for row in found.groups])


def test_intervals_of_changes_cover_about_at_the_level() -> None:
    """300 samples of 40 and 60 pairs; the true changes are 0.2 and 0.1."""
    rng = np.random.default_rng(8)
    laws = {"x": (40, [0.4, 0.1, 0.3, 0.2]), "y": (60, [0.5, 0.1, 0.2, 0.2])}
    inside = Counter[str]()
    for _ in range(300):
        a, b, who = [], [], []
        for group, (n, law) in laws.items():
            for (p, q), k in zip(((1, 1), (1, 0), (0, 1), (0, 0)), rng.multinomial(n, law), strict=True):
                a += [p] * k
                b += [q] * k
                who += [group] * k
        row = eh.compare_models([1] * 100, a, b, who, "tpr", positive=1, draws=1_000).groups[0]
        inside["change"] += row.low <= 0.2 <= row.high
        inside["gap"] += row.gap_low <= 0.1 <= row.gap_high
    assert all(0.91 <= hits / 300 <= 0.99 for hits in inside.values()), inside


def test_a_gap_that_only_changes_its_sign_is_seldom_found_to_be_smaller() -> None:
    """The gap is 0.2 and then -0.2: it has changed, and its size has not."""
    rng = np.random.default_rng(4)
    laws = {"x": [0.35, 0.25, 0.05, 0.35], "y": [0.35, 0.05, 0.25, 0.35]}
    found = Counter[str]()
    for _ in range(120):
        pairs = [
            pair
            for law in laws.values()
            for pair, k in zip(((1, 1), (1, 0), (0, 1), (0, 0)), rng.multinomial(40, law), strict=True)
            for _ in range(k)
        ]
        a, b = ([pair[side] for pair in pairs] for side in (0, 1))
        row = eh.compare_models([1] * 80, a, b, ["x"] * 40 + ["y"] * 40, "tpr", positive=1, draws=20).groups[0]
        found["gap"] += (row.gap_pvalue or 0) <= 0.05
        found["size"] += (row.size_pvalue or 0) <= 0.05
    assert found["gap"] > 90 and found["size"] <= 12, found


def test_people_without_a_prediction_are_left_out_and_unknown_labels_refused() -> None:
    found = eh.compare_models(["no", "yes", "yes", "no"], ["no", "yes", "no", None], ["no", None, "yes", "no"],
                              {"g": list("abab")}, "acc")  # fmt: skip
    assert (found.n, found.left_out) == (2, 2)
    assert str(found).startswith("acc from model a to model b, 2 cases, 2 without a label or a prediction left out\n")
    features = pd.DataFrame({"sex": list("ffmm"), "age": [1, 2, 1, 2]})
    combined = eh.compare_models([1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 1], features)
    assert [row.group for row in combined.groups] == ["f & 1", "f & 2", "m & 1", "m & 2"]
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.compare_models([0, 1], [0, 1], [0, 2], ["a", "b"])
    assert str(refusal.value) == (
        "y_true and y_pred contain 3 distinct labels (0, 1, 2); pass the positive ones as positive=, or audit each "
        "class with audit_classes"
    )
    blank = eh.compare_models(["yes", "no", "yes"], ["yes", "no", "no"], ["yes", "NA", ""], list("aab"), positive="yes")
    assert (blank.n, blank.left_out) == (1, 2)


@pytest.mark.parametrize("key", ["ppv", "f1", "mcc", "prev", "equal_opportunity"])
def test_rates_whose_cases_depend_on_the_model_are_refused(key: str) -> None:
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.compare_models([0, 1], [0, 1], [0, 1], ["a", "b"], key)
    assert str(refusal.value) == (
        f"{key} is not a rate of people whose number is the same with all models; use acc, ppr, tpr or fpr, or what "
        "these leave to 1"
    )


def several(n: int = 120) -> tuple[Any, dict[str, Any], Any]:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, n)
    who = rng.choice(list("uvw"), n)
    right = {"one": 0.6, "two": 0.8, "three": 0.9}
    return y, {name: np.where(rng.random(n) < share, y, 1 - y) for name, share in right.items()}, who


@pytest.mark.parametrize(("against", "pairs"), [
    ("first", [("one", "two"), ("one", "three")]),
    ("two", [("two", "one"), ("two", "three")]),
    (None, [("one", "two"), ("one", "three"), ("two", "three")]),
])  # fmt: skip
def test_several_models_are_compared_as_two_are_and_adjusted_over_pairs_groups_and_metrics(
    against: str | None, pairs: list[tuple[str, str]]
) -> None:
    y, models, who = several()
    found = eh.compare_several_models(y, models, who, ["acc", "tpr"], against=against, draws=500)
    assert [(one.metric, one.model_a, one.model_b) for one in found.comparisons] == [
        (key, *pair) for key in ("acc", "tpr") for pair in pairs
    ]
    adjustments = ("p_adjusted", "gap_p_adjusted", "size_p_adjusted")
    for one in found.comparisons:
        alone = eh.compare_models(y, models[one.model_a], models[one.model_b], who, one.metric, draws=500)
        for mine, other in zip((one.overall, *one.groups), (alone.overall, *alone.groups), strict=True):
            mine_fields, others = mine.to_dict(), other.to_dict()
            for name in adjustments:
                del mine_fields[name], others[name]
            assert mine_fields == others
    rows = [row for one in found.comparisons for row in one.groups]
    for name in ("p", "gap_p", "size_p"):
        raw = [getattr(row, f"{name}value") for row in rows]
        assert [getattr(row, f"{name}_adjusted") for row in rows] == approx(multipletests(raw, method="holm")[1])
    raw = [one.overall.pvalue for one in found.comparisons]
    assert [one.overall.p_adjusted for one in found.comparisons] == approx(multipletests(raw, method="holm")[1])
    assert found.to_frame("pandas").shape[0] == 4 * len(found.comparisons)
    assert json.loads(found.to_json())["models"] == ["one", "two", "three"]


def test_the_gaps_of_two_groups_count_once() -> None:
    y, models, who = several()
    two = np.where(who == "u", "u", "rest")
    found = eh.compare_several_models(y, models, two, "acc", draws=100)
    rows = [row for one in found.comparisons for row in one.groups]
    expected = multipletests([rows[0].gap_pvalue, rows[2].gap_pvalue], method="holm")[1]
    assert [row.gap_p_adjusted for row in rows] == approx([expected[0]] * 2 + [expected[1]] * 2)
    assert [row.p_adjusted for row in rows] == approx(multipletests([r.pvalue for r in rows], method="holm")[1])


def test_thresholds_of_a_score_are_models_on_the_same_people() -> None:
    y, models, who = several()
    score = np.random.default_rng(2).random(len(y))
    score[:3] = np.nan
    labels = np.where(y == 1, "good", "bad").tolist()
    labels[5] = None
    found = eh.compare_several_models(labels, score, who, "ppr", thresholds=[0.5, 0.25], positive="good", draws=100)
    assert found.models == ("at 0.5", "at 0.25")
    assert (found.left_out, found.lacking, found.n) == (4, {"y_true": 1, "at 0.5": 3, "at 0.25": 3}, len(y) - 4)
    kept = [i for i in range(len(y)) if i > 2 and i != 5]
    overall = found.comparisons[0].overall
    assert (overall.rate_a, overall.rate_b) == approx(((score[kept] >= 0.5).mean(), (score[kept] >= 0.25).mean()))
    assert (overall.only_a, overall.only_b) == (0, int(((score[kept] >= 0.25) & (score[kept] < 0.5)).sum()))
    reached = eh.compare_several_models([1, 0], [0.5, 0.25], ["a", "b"], "ppr", thresholds=[0.5, 0.25], draws=50)
    assert (reached.comparisons[0].overall.rate_a, reached.comparisons[0].overall.rate_b) == (0.5, 1.0)
    frame = pd.DataFrame(models)
    assert eh.compare_several_models(y, frame, who, draws=50) == eh.compare_several_models(y, models, who, draws=50)
    everybody = eh.compare_several_models(y, models | {"one": [None, *models["one"][1:]]}, who, draws=50)
    assert (everybody.n, everybody.left_out, everybody.lacking) == (119, 1, {"one": 1})
    assert "1 case without a label or a prediction of every model left out" in str(everybody)


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (({"a": [0, 1]}, "acc"), {}, "models must contain at least two models with different names; got 'a'"),
        (([0, 1], "acc"), {}, "models must map the names of models to their predictions; for several thresholds of one "
         "score, pass thresholds=; got list"),
        (({"a": [0, 1], "b": [0, 1]}, "acc"), {"thresholds": [0.5, 0.6]},
         "with thresholds, models must be the scores of one model"),
        (([0.1, 0.7], "acc"), {"thresholds": [0.5]}, "thresholds must contain at least two different numbers; got "
         "[0.5]"),
        (([0.1, 0.7], "acc"), {"thresholds": [0.5, math.inf]}, "thresholds must be finite numbers; got inf"),
        (([0.1, "x"], "acc"), {"thresholds": [0.5, 0.6]}, "scores must be numbers; got 'x'"),
        (({"a": [0, 1], "b": [0, 1]}, "acc"), {"against": "c"}, "no model is called 'c'; known: a, b"),
        (({"a": [0, 1], "b": [0, 1]}, []), {}, "metrics must contain at least one metric"),
        (({"a": [0, 1], "b": [0, 1]}, ["acc", "ppv"]), {}, "ppv is not a rate of people whose number is the same with "
         "all models; use acc, ppr, tpr or fpr, or what these leave to 1"),
    ],
)  # fmt: skip
def test_models_that_cannot_be_compared_are_refused(
    arguments: tuple[Any, Any], options: dict[str, Any], sentence: str
) -> None:
    models, metrics = arguments
    with pytest.raises(eh.InvalidInput) as refusal:
        eh.compare_several_models([0, 1], models, ["x", "y"], metrics, **options)
    assert str(refusal.value) == sentence


RESULTS: dict[str, Callable[[], Any]] = {
    "aggregate": lambda: interop.equalized_odds_ratio(
        [1, 0, 1, 0, 0], [1, 0, 0, 1, 0], sensitive_features=["<b>", "<b>", "y", "y", "z"]
    ),
    "undefined aggregate": lambda: interop.equal_opportunity_ratio(
        [1, 0, 0], [1, 0, 0], sensitive_features=["<b>", "<b>", "y"]
    ),
    "summaries": lambda: eh.summaries({"<b>": (3, 1, 0, 6), "\x1b[2J": (0, 0, 1, 2), "y": (1, 1, 1, 1)}, "tpr"),
    "stratified": lambda: eh.stratified_test({"<b>": {"x": (3, 1, 0, 6), "y": (1, 3, 1, 1)}}, "tpr", "x"),
    "models": lambda: eh.compare_models([1, 0, 1], [1, 0, 1], [1, 1, 0], ["<b>", "y", "\x1b[2J"], "tpr"),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_results_print_show_themselves_and_have_a_way_out(result: Callable[[], Any]) -> None:
    found = result()
    assert "\x1b" not in str(found)
    assert len(repr(found)) <= 140 and "\n" not in repr(found)
    assert "<b>" not in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
