# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc"
"""Scores that need every case: areas, losses and functions by group, against scikit-learn and listing all splits."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_oracle import plain_holm, row
from pytest import approx
from sklearn.metrics import brier_score_loss, f1_score, log_loss, roc_auc_score

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.errors import InvalidInput, UnknownName

SCORES = ["auc", "brier", "log_loss"]


def table_of(n: int = 90, seed: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n)
    return {"y": y, "s": np.clip(np.round(0.4 * y + 0.6 * rng.random(n), 3), 0.001, 0.999), "g": g}


def scored(table: Any, metrics: Any = SCORES, **settings: Any) -> Audit:
    columns: dict[str, Any] = {"y_true": "y", "y_score": "s", "groups": "g", "draws": 99}
    return eh.audit(table, metrics=metrics, **columns | settings)


# Areas and losses


def test_scores_are_scikit_learns() -> None:
    table = table_of()
    a = scored(table, draws=9)
    theirs = {"auc": roc_auc_score, "brier": brier_score_loss, "log_loss": log_loss}
    assert {(r.metric, r.group) for r in a.rows} == {(m, g) for m in theirs for g in "abc"}
    for r in a.rows:
        inside = table["g"] == r.group
        assert r.score.value == approx(theirs[r.metric](table["y"][inside], table["s"][inside]), rel=1e-9)
        assert r.reference.score == approx(theirs[r.metric](table["y"][~inside], table["s"][~inside]))
        assert (r.n, r.rests_on, r.reference.n) == (inside.sum(), (inside.sum(),), (~inside).sum())
        assert r.score.value is not None and r.score.low is not None and r.score.high is not None
        assert r.score.low < r.score.value < r.score.high
        assert r.gap.value == r.gap.difference == approx(r.score.value - (r.reference.score or 0.0))
        assert (r.at, r.cells, r.test.asks) == ({}, None, "equal scores")


def test_adjusted_p_values_are_holms_per_metric_and_verdicts_follow() -> None:
    table = table_of(150)
    table["s"] = np.where(table["g"] == "b", 1 - table["s"], table["s"])
    a = scored(table, draws=999)
    for metric in SCORES:
        rows = [r for r in a.rows if r.metric == metric]
        assert [r.test.p_adjusted for r in rows] == approx(plain_holm([r.test.pvalue or 0.0 for r in rows]))
        for r in rows:
            assert r.differs == ((r.test.p_adjusted or 0.0) <= 0.05)
    verdicts = {(r.metric, r.group): r.verdict for r in a.rows}
    assert verdicts["auc", "b"] is Verdict.LOWER
    assert verdicts["brier", "b"] is verdicts["log_loss", "b"] is Verdict.HIGHER
    assert verdicts["auc", "a"] is Verdict.HIGHER


def test_two_groups_are_one_comparison_seen_from_both_sides() -> None:
    table = table_of()
    table["g"] = np.where(table["g"] == "c", "b", table["g"])
    a = scored(table)
    for metric in SCORES:
        first, second = row(a, "a", metric), row(a, "b", metric)
        assert first.test == second.test
        assert first.test.pvalue == first.test.p_adjusted
        assert first.score.value == second.reference.score
        assert first.gap.low is not None and first.gap.high is not None
        assert (first.gap.low, first.gap.high) == (-(second.gap.high or 0.0), -(second.gap.low or 0.0))
        assert first.gap.value == approx(-(second.gap.value or 0.0))


def test_equal_groups_with_many_cases_are_alike_and_the_margin_decides() -> None:
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 1000)
    table = {"y": y, "s": np.round(0.3 * y + 0.7 * rng.random(2000), 2), "g": np.repeat(["a", "b"], 1000)}
    assert {r.verdict for r in scored(table, ["auc", "brier"]).rows} == {Verdict.ALIKE}
    for metric, scale in (("auc", 1.0), ("brier", 0.5)):
        gap = row(scored(table, metric), "a").gap
        assert gap.low is not None and gap.high is not None
        nearest, farthest = sorted((abs(gap.low), abs(gap.high)))
        for margin, verdict in (
            (nearest - 1e-9, Verdict.TOO_FEW),
            ((nearest + farthest) / 2, Verdict.TOO_FEW),
            (farthest * (1 + 1e-9), Verdict.ALIKE),
        ):
            rows = scored(table, metric, margin=margin / scale).rows
            assert [r.verdict for r in rows] == [verdict, verdict], (metric, margin)


def test_a_group_without_a_class_is_undefined_and_so_is_its_mirror_image() -> None:
    table = {"y": [1, 1, 0, 1, 0], "s": [0.5, 0.6, 0.2, 0.7, 0.1], "g": list("aabbb")}
    a = scored(table, "roc_auc")
    first, second = row(a, "a", "auc"), row(a, "b", "auc")
    assert (first.verdict, first.reason) == ("undefined", "the group has no actual negatives")
    assert (second.verdict, second.reason) == ("undefined", "the reference has no actual negatives")
    assert (first.score.value, second.score.value, first.test.pvalue) == (None, 1, None)
    assert first.lacks_own_score and not second.lacks_own_score


def test_an_infinite_log_loss_is_undefined_with_its_reason() -> None:
    table = {"y": [1, 0, 0, 1, 0], "s": [0.0, 0.6, 0.2, 0.7, 0.1], "g": list("aabbb")}
    found = row(scored(table, "log_loss"), "a")
    assert found.reason == "the group's log loss is infinite: 1 case had probability 0 of being what it is"
    assert found.verdict is Verdict.UNDEFINED


def test_losses_without_spread_have_no_interval() -> None:
    table = {"y": [1, 0, 0, 1, 0, 1], "s": [0.5, 0.5, 0.5, 0.7, 0.1, 0.9], "g": list("aaabbb")}
    found = row(scored(table, "brier"), "a")
    assert (found.score.value, found.verdict) == (0.25, "too few to tell")
    assert [found.score.low, found.score.high, found.gap.low, found.gap.high] == [None] * 4


def test_losses_that_are_all_equal_are_no_more_extreme_than_others() -> None:
    table = {"y": [1, 0] * 10, "s": [0.7, 0.3] * 10, "g": ["a"] * 6 + ["b"] * 14}
    rows = scored(table, ["brier", "log_loss"]).rows
    assert [(r.test.pvalue, r.verdict.value) for r in rows] == [(1.0, "too few to tell")] * 4


def test_a_named_reference_is_compared_with_each_other_group_only() -> None:
    table = table_of()
    a = scored(table, "auc", reference="b")
    assert row(a, "b").verdict is Verdict.REFERENCE
    assert row(a, "a").reference.n == (table["g"] == "b").sum()
    pair = {k: v[table["g"] != "c"] for k, v in table.items()}
    assert row(a, "a").gap == row(scored(pair, "auc"), "a").gap


def test_each_column_may_have_a_reference_of_its_own() -> None:
    table = table_of() | {"h": np.random.default_rng(0).choice(["u", "v", "w"], 90)}
    for asked in ({"g": "b"}, {"g": "rest"}, {"g": "b", "h": "v"}):
        a = scored(table, "auc", groups=["g", "h"], reference=asked, draws=9, crossings=1)
        for r in a.rows:
            assert r.reference.name == asked.get(r.by, "rest")
            other = table[r.by] == r.reference.name if r.reference.kind == "group" else table[r.by] != r.group
            if r.verdict is not Verdict.REFERENCE:
                assert r.reference.n == other.sum()


def test_scores_come_in_from_files_frames_generators_and_two_columns(tmp_path: Path) -> None:
    import polars as pl

    table = table_of()
    frame = pl.DataFrame(table)
    frame.write_csv(tmp_path / "d.csv")
    rows = scored(table, draws=9).rows
    for data in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "d.csv"):
        assert scored(data, draws=9).rows == rows
    both = np.column_stack([1 - table["s"], table["s"]])
    assert scored(table, draws=9, y_score=both).rows == rows


def test_the_order_of_rows_does_not_matter_and_rows_without_a_score_are_left_out() -> None:
    table = table_of()
    order = np.random.default_rng(1).permutation(90)
    shuffled = {k: v[order] for k, v in table.items()}
    assert scored(table).rows == scored(shuffled).rows
    longer = {"y": [*table["y"], 1], "s": [*table["s"], None], "g": [*table["g"], "a"]}
    found = scored(longer)
    assert found.left_out == {"y_score": 1}
    assert found.rows == scored(table).rows
    assert "1 row without a score was left out" in [f.sentence for f in found.findings]


def test_ranking_scores_have_no_threshold_and_stand_beside_counts() -> None:
    table = table_of()
    a = scored(table, ["tpr", "auc"], threshold=[0.3, 0.6])
    assert {(r.metric, r.at.get("threshold")) for r in a.rows} == {("tpr", 0.3), ("tpr", 0.6), ("auc", None)}
    assert [r for r in a.rows if r.metric == "auc"] == list(scored(table, "auc").rows)
    both = eh.audit(table | {"p": (table["s"] > 0.4).astype(int)}, y_true="y", y_pred="p", y_score="s", groups="g",
                    metrics=["acc", "auc"], draws=99)  # fmt: skip
    assert [r for r in both.rows if r.metric == "auc"] == list(scored(table, "auc").rows)


def test_scores_beyond_probabilities_have_an_area_only() -> None:
    table = table_of() | {"s": np.arange(90.0)}
    assert len(scored(table, "auc", draws=9).rows) == 3
    with pytest.raises(InvalidInput) as refused:
        scored(table, "brier", draws=9)
    assert str(refused.value) == (
        "y_score must contain probabilities from 0 to 1 for brier and log_loss; got 18: pass metrics='auc' for other "
        "scores"
    )


# Functions


def distance(y_true: Any, y_pred: Any) -> float:
    return float(np.abs(y_true - y_pred).mean())


def judged(function: Any, y: Any, p: Any, g: Any, **settings: Any) -> Audit:
    return eh.audit(y_true=y, y_pred=p, groups=g, metrics=[function], **{"draws": 9, **settings})


def test_a_function_gets_the_p_value_of_all_splits() -> None:
    """p is within 5 standard errors of the share of all C(9, 4) splits with so large a gap."""
    y, p, g = [1, 0, 1, 0, 1, 1, 0, 0, 1], [0.1, 0.7, 0.4, 0.8, 0.9, 0.8, 0.3, 0.35, 0.7], list("aaaabbbbb")
    a = judged(distance, y, p, g, draws=1_999)
    far = np.abs(np.array(y) - p)
    gaps = [abs(far[list(some)].mean() - np.delete(far, some).mean()) for some in combinations(range(9), 4)]
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    found, mirror = row(a, "a"), row(a, "b")
    assert (found.metric, found.test.method, found.test.asks) == ("distance", "permutation", "drawn alike")
    assert found.score.value == approx(far[:4].mean())
    assert found.test.pvalue is not None and found.test.error is not None
    assert abs(found.test.pvalue - exact) < 5 * found.test.error
    assert found.test.pvalue * 2000 == approx(round(found.test.pvalue * 2000), abs=1e-6)
    assert found.test.pvalue == found.test.p_adjusted == mirror.test.pvalue
    assert found.verdict is Verdict.UNLIKE
    assert a == judged(distance, y, p, g, draws=1_999)


def test_a_function_of_scikit_learn_scores_each_group_and_its_rest() -> None:
    table = table_of()
    predicted = (table["s"] > 0.5).astype(int)
    for r in judged(("F1 of sklearn", f1_score), table["y"], predicted, table["g"]).rows:
        inside = table["g"] == r.group
        assert r.score.value == f1_score(table["y"][inside], predicted[inside])
        assert r.reference.score == f1_score(table["y"][~inside], predicted[~inside])
        assert r.metric == "F1 of sklearn"


def test_a_function_gets_labels_as_they_are_in_the_data() -> None:
    """Texts and numbers of any kind, not what they mean."""
    seen: list[Any] = []

    def noted(y_true: Any, y_pred: Any) -> float:
        seen.append((set(y_true.tolist()), set(y_pred.tolist())))
        return 0.0

    judged(noted, ["good", "bad", "ugly"], [1.5, 2.5, 3.5], list("aab"))
    assert seen[0] == ({"good", "bad"}, {1.5, 2.5})


def test_a_function_takes_scores_if_there_are_no_predictions_or_if_it_says_so() -> None:
    table = table_of() | {"p": np.zeros(90, dtype=int)}

    def named(y_true: Any, y_score: Any) -> float:
        return float(y_score.mean())

    def unnamed(labels: Any, numbers: Any) -> float:
        return float(numbers.mean())

    alone = scored(table, [named, unnamed], draws=9)
    own = table["g"] == "a"
    assert (
        row(alone, "a", "named").score.value == row(alone, "a", "unnamed").score.value == approx(table["s"][own].mean())
    )
    both = scored(table, [named, unnamed], y_pred="p", draws=9)
    assert row(both, "a", "named").score.value == approx(table["s"][own].mean())
    assert row(both, "a", "unnamed").score.value == 0.0


def test_a_function_without_a_value_is_undefined_with_the_reason() -> None:
    def fails(y_true: Any, y_pred: Any) -> Any:
        if "bad" in y_true:
            raise ValueError("no such label\nsecond line")
        return {2: float("nan"), 3: [1, 2], 4: 0.5}.get(len(y_true), 1.0)

    labels = ["bad", "x", "x", "x", "x", "x", "x", "x", "x"]
    a = judged(fails, labels, labels, list("abbcccddd"))
    assert {r.group: r.reason for r in a.rows} == {
        "a": "the group has no value: the function raised ValueError: no such label",
        "b": "the group has no value: the function returned nan",
        "c": "the group has no value: the function returned a value of type list, not a number",
        "d": "the group has no value: the function returned a value of type list, not a number",
    }
    assert {r.verdict for r in a.rows} == {Verdict.UNDEFINED}
    others = judged(fails, labels, labels, list("aaaaabbbb"))
    assert row(others, "b").reason == "the reference has no value: the function raised ValueError: no such label"
    named = judged(fails, labels, labels, list("aaaaabbbb"), reference="a")
    assert row(named, "a").reason == "the group has no value: the function raised ValueError: no such label"
    assert row(named, "a").verdict is Verdict.REFERENCE


def test_a_function_may_return_anything() -> None:
    for returned, reason in (("0.5", "returned a value of type str, not a number"), (float("-inf"), "returned -inf")):
        a = judged(("f", lambda *_, value=returned: value), [1, 0, 1], [1, 1, 1], list("aab"))
        assert row(a, "a").reason == f"the group has no value: the function {reason}"
        assert [row(a, "a").score.value, row(a, "a").test.pvalue, row(a, "b").score.value] == [None] * 3


def test_functions_stand_beside_metrics_and_within_strata() -> None:
    table = table_of() | {"p": np.tile([0, 1, 1], 30), "t": np.tile(["e", "w"], 45)}
    a = eh.audit(table, y_true="y", y_pred="p", groups="g", within="t", metrics=["acc", distance], draws=9)
    assert {(r.metric, r.at["stratum"]) for r in a.rows} == {
        *(("acc", "e"), ("acc", "w"), ("acc", "pooled"), ("distance", "e"), ("distance", "w")),
    }
    for r in a.rows:
        if r.metric == "distance":
            inside = (table["g"] == r.group) & (table["t"] == r.at["stratum"])
            assert r.score.value == approx(np.abs(table["y"] - table["p"])[inside].mean())
            assert r.score.value == approx(1 - (row(a, r.group, "acc", stratum=r.at["stratum"]).score.value or 0.0))


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"y_score": None, "y_pred": "p"}, InvalidInput, "auc, brier and log_loss need the score of every case; pass "
         "it as y_score="),
        ({"y_true": None}, InvalidInput, "auc, brier and log_loss need labels; pass them as y_true="),
        ({"weights": "s"}, InvalidInput, "auc, brier, log_loss and functions take no weights; leave them out, or "
         "ask for other metrics"),
        ({"reference": {"grupo": "a"}}, UnknownName, "no group column is called 'grupo'; known: g"),
        ({"reference": "d"}, UnknownName, "no group of 'g' is called 'd'; groups: a, b, c"),
        ({"groups": np.repeat("a", 90)}, InvalidInput, "'group' has only one group with cases ('a'), so there "
         "is nothing to compare it with"),
        ({"reference": eh.ConfusionMatrix(1, 2, 3, 4)}, InvalidInput, "reference must be 'rest', 'all', 'largest' or "
         "the name of a group; a ConfusionMatrix is of two classes and has no rows"),
    ],
)  # fmt: skip
def test_what_has_no_score_is_refused_in_a_sentence(change: dict[str, Any], error: Any, sentence: str) -> None:
    with pytest.raises(error) as refused:
        scored(table_of() | {"p": [0, 1] * 45}, "auc", **change)
    assert str(refused.value) == sentence
