"""The commands that need no file: metrics, undefined, match and smooth."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from evenhand import list_metrics
from evenhand.cli import evenhand

REFERENCE = "116 177 554 2429"


def run(words: str) -> Result:
    return CliRunner().invoke(evenhand, words.split(), catch_exceptions=False)


def test_metrics_lists_the_catalogue() -> None:
    result = run("metrics")
    assert result.exit_code == 0
    assert all(m.key in result.output for m in list_metrics())
    assert max(map(len, result.output.splitlines())) <= 80
    records = json.loads(run("metrics --json").output)
    assert [r["key"] for r in records] == [m.key for m in list_metrics()]
    assert records[6]["undefined_if"] == "no actual positives (TP + FN = 0)"
    assert "Infinity" not in run("metrics --json").output


def test_metrics_tells_everything_about_one() -> None:
    assert run("metrics recall").output == (
        "True positive rate (tpr)\n"
        "  formula       TP / (TP + FN)\n"
        "  shape         ratio\n"
        "  range         0.0, 1.0\n"
        "  better        higher\n"
        "  synonyms      recall, sensitivity, hit rate\n"
        "  undefined if  no actual positives (TP + FN = 0)\n"
        "  notes         recall_score in scikit-learn, true_positive_rate in fairlearn\n"
        "  in paper      True\n"
    )


def test_undefined_prints_table_1_also_of_huge_groups_and_probabilities() -> None:
    output = run("undefined --n 20").output
    assert "764,841" in output and "Θ(n log n) on average" in output and "acc prev ppr" in output
    huge = run("undefined --n 1000000000000").output
    assert "1.667e+35" in huge
    assert max(map(len, [*output.splitlines(), *huge.splitlines()])) <= 80
    words = "undefined --n 3 --metric tpr --reference 0.25 0.25 0.25 0.25"
    (row,) = json.loads(run(f"{words} --json").output)
    assert row["probability"] == pytest.approx(1 / 8)
    assert "probability\n" in run(words).output and "0.125" in run(words).output


def test_match_has_an_interval_says_why_scores_are_undefined_and_is_the_papers_test_on_request() -> None:
    assert run(f"match --group 3 1 0 6 --reference {REFERENCE} --metric tpr").output == (
        "MATCH test of tpr: 0.75 against 0.3959, p = 0.357 (two-sided, pooled null given a denominator of 4, exact)\n"
        "95% interval: 0.2423 to 0.9875\n"
    )
    output = run(f"match --group 0 0 2 6 --reference {REFERENCE} --metric all").output
    assert all(m.key in output for m in list_metrics())
    assert "MATCH test of tpr: undefined, no actual positives (TP + FN = 0)" in output

    words = "match --group 80 20 0 0 --reference 0.75 0.25 0 0 --metric acc --null known --given n --json"
    (found,) = json.loads(run(words).output)
    assert found["percentile"] == pytest.approx(0.9004695898946859)
    assert found["null"] == "known"


def test_smooth_shows_raw_beside_smoothed_and_the_verdict() -> None:
    output = run(f"smooth --group 3 1 0 6 --reference {REFERENCE}").output
    assert "50% of a share's gap remains" in output
    assert "the reference is doubtful" in output
    found = json.loads(run(f"smooth --group 3 1 0 6 --reference {REFERENCE} --strength auto --json").output)
    assert found["scores"][2]["raw"] == 0.75
    assert 2 < found["strength"] < 32
    assert json.loads(run(f"smooth --group 0 0 0 0 --reference {REFERENCE} --json").output)["prior_only"]


def test_what_is_refused_is_one_sentence_and_exit_code_2() -> None:
    for words, sentence in (
        ("metrics recal", "no metric is called 'recal'; did you mean 'recall'?"),
        (
            f"smooth --group 1 1 1 1 --reference {REFERENCE} --strength strong",
            "--strength must be a number of cases, prev=…,tpr=…,fpr=…, or auto; got 'strong'",
        ),
        ("undefined --n -3", "--n must not be negative; got -3"),
        ("undefined --n 3 --reference 1 -1 0 0", "fn must not be negative; got -1"),
    ):
        result = run(words)
        assert (result.exit_code, result.output) == (2, f"Error: {sentence}\n")
    assert "Error: Missing option '--n'." in run("undefined").output
