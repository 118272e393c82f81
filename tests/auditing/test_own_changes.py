"""Did it get worse, and where: own changes, results in place of labels, items, verdicts and the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_oracle import plain_holm, row
from click.testing import CliRunner
from oracle import refusal
from pytest import approx
from scipy.stats import binomtest

import evenhand as eh
from evenhand.auditing import Audit, Verdict
from evenhand.cli.main import evenhand as command

# Tasks by category: how many, lost and won; 61 lost and 19 won together.
CATEGORIES = {
    **{"law": (231, 30, 5), "math": (60, 7, 4), "history": (45, 6, 3), "physics": (40, 5, 2), "biology": (35, 4, 2)},
    **{"chess": (30, 4, 1), "logic": (20, 2, 1), "music": (15, 1, 1), "art": (12, 1, 0), "latin": (8, 1, 0)},
    **{"go": (3, 0, 0), "sumo": (1, 0, 0)},
}
RESULTS = {"old": "old_correct", "new": "new_correct"}


def tasks() -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"category": [], "old_correct": [], "new_correct": []}
    for name, (n, lost, won) in CATEGORIES.items():
        same = n - lost - won
        columns["category"] += [name] * n
        columns["old_correct"] += [1] * lost + [0] * won + [1] * (same // 2) + [0] * (same - same // 2)
        columns["new_correct"] += [0] * lost + [1] * won + [1] * (same // 2) + [0] * (same - same // 2)
    return columns


TASKS = tasks()


def compared(data: Any = TASKS, **settings: Any) -> Audit:
    return eh.compare(data, **{"results": RESULTS, "groups": "category"} | settings)


def verdicts(a: Audit) -> dict[str, str]:
    return {r.group: r.verdict.value for r in a.rows}


def test_the_category_and_all_cases_got_worse() -> None:
    """500 tasks: 30 against 5 in one category (p = 2e-5), and 61 against 19 in all."""
    a = compared()
    assert (a.n, len(a.rows)) == (500, 13)
    for r in a.rows:
        n, lost, won = CATEGORIES.get(r.group, (500, 61, 19))
        expected = binomtest(won, won + lost).pvalue if won + lost else 1.0
        assert (r.n, r.support, r.lost, r.gained, r.pvalue) == approx((n, n, lost, won, expected))
        assert (r.gap, r.score - r.before) == approx(((won - lost) / n,) * 2)
    assert [r.p_adjusted for r in a.rows] == approx(plain_holm([r.pvalue for r in a.rows]))
    found = {group for group, verdict in verdicts(a).items() if verdict == "worse"}
    assert found == {"law", "all cases"}
    assert row(a, "law").p_adjusted == approx(2.24e-5 * 12, rel=0.01)
    assert {f.code for f in a.findings if f.kind == "worse"} == {"EH107"}
    better = compared(results={"new": "new_correct", "old": "old_correct"})
    assert {g for g, v in verdicts(better).items() if v == "better"} == found
    assert not {"worse", "differs"} & {f.kind for f in better.findings}


def test_the_gate_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    lines = [",".join(map(str, line)) for line in zip(*TASKS.values(), strict=True)]
    path.write_text("\n".join([",".join(TASKS), *lines]))
    old, new = "old=old_correct", "new=new_correct"

    def run(*options: str) -> Any:
        return CliRunner().invoke(command, ["compare", str(path), *options, "--fail-on", "worse"])

    failed = run("--result", old, "--result", new, "--group", "category")
    assert failed.exit_code == 1 and "worse" in failed.output and "law" in failed.output
    assert run("--result", old, "--result", new).exit_code == 1
    assert run("--result", new, "--result", old, "--group", "category").exit_code == 0
    assert run("--model", old, "--model", new, "--group", "category").exit_code == 2


def test_every_output_says_what_became_worse() -> None:
    a = compared()
    sentence = "Accuracy 55% → 45% (231 cases; 30 losses, 5 wins): at least 3 points worse."
    assert sentence in " ".join(a.to_text(explain=True).split())
    assert sentence in a.to_markdown() and "30 losses, 5 wins" in a.to_html()
    text = str(a)
    assert "Each group against old on the same cases" in text and "13 comparisons: 2 worse, 0 better" in text
    assert Audit.from_json(a.to_json()) == a
    assert compared(adjust="none").changes(compared(adjust="none").repeat(TASKS)) == []


def test_groups_are_optional() -> None:
    (only,) = compared(groups=None).rows
    assert (only.by, only.group, only.verdict.value) == ("all cases", "all cases", "worse")
    named = compared({**TASKS, "all cases": TASKS["category"]}, groups="all cases")
    assert {r.by for r in named.rows} == {"all cases", "everybody"}


def test_cases_without_a_group_are_in_the_row_of_all_cases() -> None:
    unknown = [None if name == "law" else name for name in TASKS["category"]]
    a = compared({**TASKS, "category": unknown})
    assert row(a, "all cases").n == 500 and a.unknown == {"category": 231}


def pair(both: int, lost: int, won: int, neither: int, **settings: Any) -> Any:
    old, new = ([1] * both + a + [0] * neither for a in ([1] * lost + [0] * won, [0] * lost + [1] * won))
    return eh.compare({"o": old, "n": new}, results={"o": "o", "n": "n"}, **settings).rows[0]


def test_verdicts_of_changes() -> None:
    cases = {
        (400, 30, 5, 400): "worse",  # although within the margin
        (400, 5, 30, 400): "better",
        (400, 5, 5, 400): "equivalent",
        (30, 0, 5, 30): "not worse",
        (20, 1, 1, 20): "inconclusive",
    }
    for counts, verdict in cases.items():
        r = pair(*counts)
        assert r.verdict.value == verdict, counts
        if verdict == "not worse":
            assert r.gap_low >= -0.1 and r.gap_high > 0.1
        assert (r.required_n > 0) == (verdict == "inconclusive")
    assert pair(400, 30, 5, 400).gap_low > -0.1
    assert pair(30, 5, 0, 30).verdict is Verdict.INCONCLUSIVE


def test_a_change_of_a_metric_without_a_direction_is_higher_or_lower() -> None:
    data = {"y": [0, 1] * 100, "a": [0] * 190 + [1] * 10, "b": [0] * 100 + [1] * 100}
    a = eh.compare(data, y_true="y", models={"a": "a", "b": "b"}, metrics=["ppr", "fpr", "tpr"])
    assert {r.metric: r.verdict.value for r in a.rows} == {"ppr": "higher", "fpr": "worse", "tpr": "better"}
    assert "not worse" not in {r.verdict.value for r in a.rows}
    assert {f.kind for f in a.findings if f.group} == {"worse", "beyond-margin"}


def test_needed_cases_are_those_of_mcnemars_test() -> None:
    """At alpha / 13 and the pooled discordant share of 80 / 500."""
    from evenhand.planning import pairs_needed

    expected = pairs_needed(0.1, 80 / 500, 0.05 / 13)
    assert {r.required_n for r in compared().rows if r.verdict is Verdict.INCONCLUSIVE} == {expected}


# Other results than single ones of 0 and 1


def runs(rng: np.random.Generator, items: int = 40, each: int = 4) -> dict[str, Any]:
    item = np.repeat(np.arange(items), each)
    rate = rng.choice([0.1, 0.5, 0.9], items)[item]
    return {
        **{"item": item, "half": np.where(item % 2, "odd", "even")},
        **{name: (rng.random(len(item)) < rate) * 1 for name in ("old", "new")},
    }


def test_runs_of_the_same_item_are_not_independent() -> None:
    data = runs(np.random.default_rng(3))
    given: dict[str, Any] = {"results": {"old": "old", "new": "new"}, "groups": "half"}
    a = eh.compare(data, **given, cluster="item")
    totals = {}
    for group in ("odd", "even", "all cases"):
        mask = np.isin(data["half"], [group] if group != "all cases" else ["odd", "even"])
        totals[group] = np.bincount(data["item"][mask], (data["new"] - data["old"])[mask])
        r = row(a, group)
        assert (r.support, r.gap) == approx((mask.sum(), (data["new"] - data["old"])[mask].mean()))
        drawn = np.random.default_rng(0).choice([-1, 1], (20_000, len(totals[group]))) @ totals[group]
        p = np.mean(np.abs(drawn) >= abs(totals[group].sum()))
        assert r.pvalue == approx(p, abs=0.02) and r.method == "sign flips"
        assert r.gap_low < r.gap < r.gap_high
    assert "both models' runs are exchangeable within an item" in " ".join(str(a).split())
    ignoring = eh.compare(data, **given)
    assert row(ignoring, "odd").method == "mcnemar"


def test_grades_are_compared_by_sign_flips() -> None:
    rng = np.random.default_rng(0)
    old = rng.integers(1, 6, 50)
    data = {"old": old, "new": np.clip(old - (rng.random(50) < 0.4), 1, 5)}
    (r,) = eh.compare(data, results={"old": "old", "new": "new"}).rows
    assert (r.metric, r.method, r.verdict.value) == ("mean", "sign flips", "worse")
    assert (r.before, r.score) == approx((old.mean(), data["new"].mean()))
    lost = int((data["new"] < old).sum())
    assert r.pvalue == approx(2 / 2**lost)
    drawn = {name: values + rng.random(50) / 3 for name, values in data.items()}
    (r,) = eh.compare(drawn, results={"old": "old", "new": "new"}, rng=5).rows
    assert r.method == "sign flips, drawn" and 0 < r.p_error < 0.01


def test_truth_values_texts_and_missing_results_are_read() -> None:
    data = {"g": list("aabb") * 3, "o": [True, False, None, True] * 3, "n": ["1", "0", "1", ""] * 3}
    a = eh.compare(data, results={"o": "o", "n": "n"}, groups="g")
    assert a.n == 6 and a.left_out == {"result of n": 3, "result of o": 3}


def test_what_cannot_be_compared_is_refused() -> None:
    results = {"results": {"o": "old_correct", "n": "new_correct"}}
    refusals: list[tuple[dict[str, Any], str]] = [
        (
            {"models": RESULTS},
            "predictions need labels to compare with (y_true); without labels, pass columns of 0 and 1",
        ),
        ({**results, "y_true": "old_correct"}, "results take the place of y_true; leave one of them out"),
        ({**results, "metrics": "tpr"}, "results have no metrics: their mean is compared"),
        ({**results, "gaps": True}, "gaps, favourable and reference are about groups; pass them"),
        ({"results": {"o": "category", "n": "new_correct"}}, "results must contain numbers, such as 1 for a correct"),
        ({"results": {"o": "old_correct"}}, "results must contain at least two models with different names"),
        ({"results": ["old_correct"]}, "results must map the names of models to their columns of numbers"),
        ({**results, "cluster": "old_correct", "groups": "category"}, "cluster must say which item each row is about"),
    ]
    for settings, sentence in refusals:
        assert sentence in refusal(eh.compare, TASKS, **settings)


def test_changes_of_gaps_are_shown_on_request_or_with_what_is_favourable() -> None:
    data = {**TASKS, "y": [1] * 499 + [0]}
    given: dict[str, Any] = {"y_true": "y", "models": RESULTS, "groups": "category", "metrics": "acc"}
    questions = [
        {r.question for r in eh.compare(data, **given, **settings).rows}
        for settings in ({}, {"gaps": True}, {"favourable": "positive"}, {"favourable": "positive", "gaps": False})
    ]
    assert questions == [{"change"}, {"change", "change of gap"}, {"change", "change of gap"}, {"change"}]
    a = eh.compare(data, **given, gaps=True)
    assert [r.p_adjusted for r in a.rows] == approx(plain_holm([r.pvalue for r in a.rows]))
    assert "question" in a.to_frame("pandas").columns and len(a.by_group) == 13


@pytest.mark.slow
def test_false_alarms_of_runs_are_few() -> None:
    """McNemar's test on runs of the same item would alarm in 10 to 40% of such comparisons."""
    rng, alarms = np.random.default_rng(8), 0
    for _ in range(200):
        a = eh.compare(runs(rng), results={"old": "old", "new": "new"}, groups="half", cluster="item")
        alarms += any(r.differs for r in a.rows)
    assert alarms <= 18
