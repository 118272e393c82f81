"""The words of a metric: its own, true of what it counts, and silent about harm until it is said what is favourable."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.metrics import CATALOGUE, RANKING, Part, Ratio, Share, metric

RATES = [m.key for m in CATALOGUE if m.counted]
PREDICTIVE = ("npv", "for", "ppv", "fdr")
ERRORS = ("tpr", "fnr", "npv", "for", "tnr", "fpr", "ppv", "fdr")
CELLS = ("tp", "fn", "fp", "tn")
# What words say of cases, as sets of cells.
CASES: dict[str, set[str]] = {
    "cases": {*CELLS},
    "predictions": {*CELLS},
    "actually positive": {"tp", "fn"},
    "actually negative": {"fp", "tn"},
    "predicted positive": {"tp", "fp"},
    "predicted negative": {"fn", "tn"},
    "actually or predicted positive": {"tp", "fn", "fp"},
    "right": {"tp", "tn"},
    "wrong": {"fn", "fp"},
    "predicted correctly": {"tp", "tn"},
    "predicted wrongly": {"fn", "fp"},
    "both": {"tp"},
}
NEGATIVES = Part(("fp", "tn"), "actual negatives")
SPECIFICITY_ERROR: dict[str, Any] = {
    "key": "spec_err",
    "name": "Specificity error",
    "better": "lower",
    "part": Part(("fp",), "false positives"),
    "whole": NEGATIVES,
    "needs": (NEGATIVES,),
}


def test_every_metric_has_words_of_its_own() -> None:
    """A metric without words cannot be made, and no two of the catalogue have the same."""
    generated = [eh.metric(name) for name in ("f3", "npv_difference", "tpr_ratio", "f1_ratio")]
    means = [m.means for m in (*CATALOGUE, *generated, *RANKING)]
    assert len(set(means)) == len(means)
    for line in means:
        assert re.fullmatch(r"[A-Z][^\n]+[^.\s]", line), line
        assert len(line.split()) > 4
    for m in (*CATALOGUE, *generated):
        for favourable in ("positive", "negative", None):
            said = m.good(favourable)
            assert said[0].isupper() or said[0].isdigit()
            assert not said.endswith(".")


def test_a_metric_without_words_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'means'"):
        Ratio(**SPECIFICITY_ERROR)
    blank: Any = ("", "  ", None)
    for nothing in blank:
        sentence = f"means must say in one line what spec_err means; got {nothing!r}"
        with pytest.raises(eh.errors.InvalidInput, match=f"^{re.escape(sentence)}$"):
            Ratio(**SPECIFICITY_ERROR, means=nothing)


def test_a_new_rate_gets_its_words_from_its_cells() -> None:
    m = Ratio(**SPECIFICITY_ERROR, means="Of those who are actually negative, how many are missed")
    assert (m.means, m.counted) == ("Of those who are actually negative, how many are missed", "predicted positive")
    assert m.good("negative") == "Lower is more often right; errors harm the person"
    assert (m.worse("negative"), m.worse("positive"), m.worse()) == ("higher", None, None)
    assert eh.difference(m).means == "The group's spec_err minus its reference's"
    no_name = Share(
        key="hits", name="Hits", means="How many are found, of all", better="higher", part=Part(("tp",), "hits")
    )
    assert (no_name.counted, no_name.gives, no_name.error, no_name.worse("positive")) == (None, None, None, "lower")


def share(matrix: dict[str, int], of: set[str], what: set[str]) -> float:
    return sum(matrix[c] for c in of & what) / sum(matrix[c] for c in of)


@pytest.mark.parametrize("key", RATES)
def test_the_words_of_a_rate_are_what_it_counts(key: str) -> None:
    """Both what it means, and what the counted cases have in common."""
    m: Any = eh.metric(key)
    found = re.fullmatch(r"Of those (?:who are )?(.+), how many are (.+)|How many (.+) are (.+)", m.means)
    assert found, m.means
    of, what = found[1] or found[3], found[2] or found[4]
    rng = np.random.default_rng(5)
    for draw in rng.integers(1, 50, (20, 4)).tolist():
        matrix = dict(zip(CELLS, draw, strict=True))
        score = m(eh.ConfusionMatrix(**matrix))
        assert score == pytest.approx(share(matrix, CASES[of], CASES[what]), abs=1e-12)
        assert score == pytest.approx(share(matrix, CASES[of], CASES[m.counted]), abs=1e-12)


def test_the_rates_of_people_are_counted() -> None:
    """Every share and every ratio along a rate, and nothing else."""
    assert {m.key for m in CATALOGUE.one_group if m.is_rate} == set(RATES)


@pytest.mark.parametrize("favourable", ["positive", "negative"])
@pytest.mark.parametrize("key", [m.key for m in eh.list_metrics() if not m.comparisons])
def test_harm_makes_a_score_worse(key: str, favourable: Any) -> None:
    """One more person who is wrongly predicted to be what is bad for them moves the score the worse way."""
    m = eh.metric(key)
    way = m.worse(favourable)
    before = np.array([40, 20, 15, 60])
    after = before + ([-1, 1, 0, 0] if favourable == "positive" else [0, 0, 1, -1])
    moved = m(after) - m(before)
    if way is not None:
        assert moved * (1 if way == "higher" else -1) > 0
    assert (way is None) <= (key in ("prev", "nprev", "te_part", "mb", *ERRORS))
    if key in ERRORS:
        harmed = (key in ("npv", "for")) == (favourable == "positive") if key in PREDICTIVE else way is not None
        assert m.good(favourable).endswith(f"errors {'harm' if harmed else 'favour'} the person")


@pytest.mark.parametrize("m", [*CATALOGUE, eh.metric("npv_difference")], ids=lambda m: m.key)
def test_nothing_is_said_of_harm_until_it_is_said_what_is_favourable(m: Any) -> None:
    ways = {m.worse("positive"), m.worse("negative")}
    assert m.worse() == (ways.pop() if len(ways) == 1 else None)
    assert not re.search(r"harm|favour", m.good())


def test_rates_of_one_kind_of_error_and_of_a_prediction_are_known_by_their_cells() -> None:
    errors = {m.key: m.error for m in CATALOGUE.one_group if m.error}
    assert errors == {
        "tpr": ("negative", "lower"), "npv": ("negative", "lower"), "fnr": ("negative", "higher"),
        "for": ("negative", "higher"), "tnr": ("positive", "lower"), "ppv": ("positive", "lower"),
        "fpr": ("positive", "higher"), "fdr": ("positive", "higher"),
    }  # fmt: skip
    assert {m.key: m.gives for m in CATALOGUE.one_group if m.gives} == {"ppr": "positive", "pnr": "negative"}
    three = Part(("tp", "fn", "tn"), "cases but false positives")
    wide = Ratio(**SPECIFICITY_ERROR | {"part": Part(("tp",), "hits"), "whole": three}, means="Hits of three cells, so")
    assert (wide.error, wide.counted) == (None, "predicted positive")


def test_two_groups_are_worse_as_their_metric_is() -> None:
    assert eh.metric("tpr_ratio").worse("positive") == eh.metric("tpr").worse("positive") == "lower"
    assert eh.metric("equalized_odds").worse() == "higher"
    assert [eh.metric(key).good("positive") for key in ("tpr_difference", "disparate_impact", "equalized_odds")] == [
        "0 means no gap", "1 means no gap", "0 means no gap"]  # fmt: skip


def test_facts_about_people_are_known_as_such() -> None:
    of_people = {m.key for m in (*CATALOGUE, eh.metric("prev_ratio")) if m.of_people}
    assert of_people == {"prev", "nprev", "prev_ratio"}


@pytest.mark.parametrize("key", ["ppv", "npv", "fdr", "for"])
def test_no_predictive_value_says_whom_it_harms(key: str) -> None:
    """Among those who got a prediction, more wrong ones may mean that more people had the other outcome."""
    assert metric(key).worse("positive") is metric(key).worse("negative") is None
