"""Plans of the page: what the library finds, in sentences."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from math import isfinite
from typing import Any

import pytest
from page_client import Page

import evenhand as eh

PLANNED = {"metric": "tpr", "reference": [300, 100, 120, 480], "n": "40", "from": "5", "to": "12",
           "difference": "-0.2", "power": "0.8", "alpha": "0.05", "threshold": "0.8"}  # fmt: skip


def library_plan(question: str, asked: dict[str, Any]) -> Any:
    """What the library answers, asked in its own words."""
    reference: Any = eh.ConfusionMatrix.from_array(asked["reference"])
    if "rates" in asked:
        positive, tpr, fpr = (Fraction(rate) for rate in asked["rates"])
        split = [(positive, tpr), (positive, 1 - tpr), (1 - positive, fpr), (1 - positive, 1 - fpr)]
        reference = [float(share * rate) for share, rate in split]
    given = {name: float(asked[name]) for name in ("difference", "power", "alpha", "threshold")}
    m, n, sizes = asked["metric"], int(asked["n"]), range(int(asked["from"]), int(asked["to"]) + 1)
    if question == "size":
        return eh.sample_size(m, reference, given["difference"], power=given["power"], alpha=given["alpha"])
    if question == "detect":
        return eh.detectable_difference(m, n, reference, power=given["power"], alpha=given["alpha"])
    if question == "power":
        return eh.power(m, n, reference, difference=given["difference"], alpha=given["alpha"])
    if question == "jagged":
        return eh.jaggedness(m, reference, sizes)
    return eh.exploitable_sizes(m, reference, given["threshold"], sizes)


@pytest.mark.many(4)
@pytest.mark.parametrize(
    ("question", "more", "sentence"),
    [
        ("size", {}, "137 cases find a true difference of -0.2 in True positive rate (tpr) with a probability of "
         "80.1%."),
        ("size", {"metric": "acc", "difference": "0.1", "rates": ["0.4", "0.75", "0.2"]}, None),
        ("detect", {}, "The smallest differences in True positive rate (tpr) that 40 cases show with a power of 0.8: a "
         "score that is lower by 0.3734 (a true score of 0.3766), and no higher score."),
        ("power", {}, "40 cases find a true difference of -0.2 in True positive rate (tpr) with a probability of "
         "31.4%."),
        ("power", {"difference": "0"}, None),
        ("power", {"n": 1}, None),
        ("size", {"alpha": "0.01", "power": "0.9", "difference": "0.15"}, None),
        ("detect", {"alpha": "0.01", "power": "0.5", "n": 200}, None),
        ("power", {"alpha": "0.01"}, None),
        ("jagged", {"metric": "acc", "rates": ["0.5", "0.5", "0.5"], "from": "4", "to": "7"},
         "From n = 4 to 7, the median of Accuracy (acc) jumps most by -0.1 from n = 4 to 5; +0.1 from n = 5 to 6; "
         "-0.07143 from n = 6 to 7."),
        ("jagged", {"metric": "lr_plus"}, None),
        ("exploit", {"metric": "acc", "rates": ["0.5", "0.7", "0.3"], "to": "30"},
         "A group with a true score of 0.7 passes “Accuracy (acc) at least 0.8” with a probability of 22.3% on "
         "average over n = 5 to 30, and of 52.8% at n = 5."),
        ("exploit", {"metric": "disparate_impact"}, None),
    ],
)  # fmt: skip
def test_a_plan_says_what_the_library_finds_and_how_to_get_it_again(
    shared: Page, question: str, more: dict[str, Any], sentence: str | None
) -> None:
    """The call in Python and the command give the same result; known sentences are those of the library's examples."""
    from click.testing import CliRunner

    from evenhand.cli import evenhand

    found = shared.answer(shared.post("plan", {**PLANNED, "question": question, **more}))
    assert sentence in (None, found["sentences"][0])
    assert all(text.endswith(".") and "nan" not in text and "inf " not in text for text in found["sentences"])
    result = eval(found["python"], {"evenhand": eh})
    words = [*shlex.split(found["command"])[1:], "--json"]
    told = CliRunner().invoke(evenhand, words)
    assert told.exit_code == 0, told.output
    assert json.loads(told.output) == result.to_dict()
    expected = library_plan(question, PLANNED | more)
    assert result.to_dict() == expected.to_dict()
    curve = found["picture"]["curve"]
    if question in ("power", "detect"):
        points: Any = expected.profile()
    else:
        points = (
            expected.sizes,
            getattr(expected, {"size": "values", "jagged": "median", "exploit": "chances"}[question]),
        )
    shown = [(x, y) for x, y in zip(*points, strict=True) if isfinite(y)]
    assert set(map(tuple, curve)) <= set(shown)
    assert len(curve) == len(shown) or more == {"metric": "lr_plus"}
    assert [x for x, _ in curve] == sorted(x for x, _ in curve)
    if question == "jagged":
        # The middle 80% of groups, and within them the middle 50%.
        quantiles = {n: list(row) for n, row in zip(expected.sizes, expected.quantiles, strict=True)}
        for band, (low, high) in zip(found["picture"]["bands"], ((0, 4), (1, 3)), strict=True):
            assert [n for n, *_ in band] == [n for n, _ in curve]
            assert all([a, b] == [quantiles[n][low], quantiles[n][high]] for n, a, b in band)


@pytest.mark.parametrize(
    ("question", "more", "sentence"),
    [
        ("size", {"difference": "much"}, "the difference must be a number; got 'much'"),
        ("size", {"difference": ""}, "the difference must be a number; got ''"),
        ("size", {"difference": "-0.9"}, "a difference of -0.9 from the reference's tpr of 0.75 gives -0.15, outside "
         "its range 0 to 1; choose a smaller difference"),
        ("size", {"alpha": "2"}, "“Significance level (alpha)” must lie between 0 and 1; got 2.0"),
        ("power", {"n": "1.5"}, "the number of cases must be a whole number; got '1.5'"),
        ("power", {"reference": [1, 2, 3]}, "the reference must have four counts: TP, FN, FP and TN"),
        ("power", {"rates": ["0.4", "1.5", "0"]}, "the true positive rate must be between 0 and 1; got '1.5'"),
        ("power", {"rates": ["0.4"]}, "the reference must have three rates: the share of actual positives, the true "
         "positive rate, the false positive rate"),
        ("power", {"metric": "te"}, "te compares two groups; use a metric of one group, such as te_part"),
        ("jagged", {"from": "9", "to": "5"}, "the sizes must rise from 1 or more; got 9 to 5"),
        ("jagged", {"to": "5000"}, "the page looks at 1,000 sizes at most; got 4,996"),
        ("jagged", {"to": "5"}, "n must contain at least two sample sizes at which tpr can be defined"),
        ("exploit", {"threshold": "7"}, "“Threshold” must lie in the range of tpr, 0 to 1; got 7.0"),
        ("why", {}, "no question is called 'why'; known: size, detect, power, jagged, exploit"),
    ],
)  # fmt: skip
def test_plans_that_make_no_sense_are_refused(shared: Page, question: str, more: dict[str, Any], sentence: str) -> None:
    end = shared.end(shared.post("plan", {**PLANNED, "question": question, **more}))
    assert (end["state"], end["error"]) == ("failed", sentence)


def test_rates_that_a_command_would_take_for_counts_have_none(shared: Page) -> None:
    body = {**PLANNED, "question": "power", "metric": "prev", "rates": ["1", "1", "0"], "difference": "-0.5"}
    found = shared.answer(shared.post("plan", body))
    assert found["command"] is None
    assert eval(found["python"], {"evenhand": eh}).reference_n is None
