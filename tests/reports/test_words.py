"""Sentences in the words of an audit: adjectives, clauses and generic words, with every pronoun."""

from __future__ import annotations

from typing import Any

import evenhand as eh
from evenhand.reports.narrative import key_sentence
from evenhand.reports.words import Words, harmful_direction

COUNTS = {"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}
ADJECTIVES = {"cases": "defendants", "outcome": "charged again", "decision": "called risky"}
CLAUSES = {"cases": "applicants", "outcome": ["repaid", "did not repay"], "decision": ["got a loan", "got no loan"]}
IMAGES = {"cases": "images that", "outcome": ["show a face", "show no face"]}


def sentence(metric: str, wording: Any) -> str:
    a = eh.audit_counts(COUNTS, metrics=metric, wording=wording)
    (row,) = [row for row in a.rows if row.group == "A"]
    return key_sentence(row, Words.of(a.settings)).partition("; at least")[0]


def test_key_sentences_in_words() -> None:
    for wording, metric, said in (
        (None, "tpr", "10% of the 200 actual positives were predicted positive, against 75% in the rest"),
        (None, "ppr", "17% of 580 cases were predicted positive, against 42% of the rest"),
        (ADJECTIVES, "ppv", "20% of the 100 called risky were charged again, against 71% in the rest"),
        (ADJECTIVES, "npv", "62% of the 480 not called risky were not charged again, against 83% in the rest"),
        (ADJECTIVES, "ppr", "17% of 580 defendants were called risky, against 42% of the rest"),
        (CLAUSES, "tpr", "10% of the 200 applicants who repaid got a loan, against 75% in the rest"),
        (CLAUSES, "npv", "62% of the 480 applicants who got no loan did not repay, against 83% in the rest"),
        (IMAGES, "tpr", "10% of the 200 images that show a face were predicted positive, against 75% in the rest"),
        (IMAGES, "ppr", "17% of 580 images were predicted positive, against 42% of the rest"),
        ({"cases": "items which", "decision": ["passed", "failed"]}, "ppv",
         "20% of the 100 items which passed were actually positive, against 71% in the rest"),
    ):  # fmt: skip
        assert sentence(metric, wording) == said


def test_titles_of_metrics() -> None:
    for wording, titles in (
        (ADJECTIVES, ["Called risky", "Called risky, of those charged again", "Charged again, of those called risky"]),
        (CLAUSES, ["Got a loan", "Got a loan, of those who repaid", "Repaid, of those who got a loan"]),
        (None, ["Predicted positive rate", "True positive rate", "Positive predictive value"]),
    ):
        words = Words.of({"wording": wording})
        assert [words.title(eh.metric(key)) for key in ("ppr", "tpr", "ppv")] == titles
        assert all(words.title(m) and words.whole(m) for m in eh.list_metrics())


def test_the_favourable_decision_and_more_cases_in_words() -> None:
    for wording, favourable, whole in (
        (ADJECTIVES, ("called risky", "not called risky"), "defendants charged again"),
        (CLAUSES, ("got a loan", "got no loan"), "applicants who repaid"),
        (None, ("predicted positive", "predicted negative"), "actual positives"),
    ):
        words = Words.of({"wording": wording})
        assert (words.favourable("positive"), words.favourable("negative")) == favourable
        assert words.whole(eh.metric("tpr")) == whole
        assert words.whole(eh.metric("acc")) == words.cases


def test_harmful_directions_follow_the_favourable_decision() -> None:
    harmful = {
        "positive": {"ppr": "lower", "pnr": "higher", "tpr": "lower", "fnr": "higher"},
        "negative": {"ppr": "higher", "pnr": "lower", "tnr": "lower", "fpr": "higher"},
    }
    for favourable, directions in harmful.items():
        said = {m.key: harmful_direction(m, favourable) for m in eh.list_metrics() if not m.comparisons}  # type: ignore[arg-type]
        assert {key: way for key, way in said.items() if way is not None} == directions
    assert all(harmful_direction(m, None) is None for m in eh.list_metrics())
