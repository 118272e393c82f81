"""Every public function answers or refuses with a sentence, within limits of time and memory, at every size."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from engines import has
from ladder import FUNCTIONS, RATES, Call, calls, memory_limit, outcomes
from matrices import matrix
from oracle import multinomial
from pytest import approx

import evenhand as eh
from evenhand.errors import InvalidInput, TooLarge

# Generous: on a quiet machine no call of the ladder takes a quarter of it.
SECONDS, MEGABYTES = 120, 2_048


@pytest.fixture(autouse=True)
def _memory_is_limited() -> Iterator[None]:
    """What takes too much of it is an error, not the end of other processes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_limit(MEGABYTES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.parametrize("sizes", [[0, 10], pytest.param([1_000, 10**9, 10**15], marks=pytest.mark.slow)], ids=str)
def test_a_call_returns_or_refuses_with_a_sentence(sizes: list[int]) -> None:
    """No call ends in a warning, in an error that is not ours, or beyond the limits; and every function answers."""
    made = list(outcomes(calls(sizes=sizes, many=4), SECONDS, MEGABYTES))
    assert [f"{call}: {outcome.text}" for call, outcome in made if outcome.kind == "failure"] == []
    if 10 in sizes:
        needs_fairlearn = set() if has("fairlearn") else {"from_metric_frame"}
        answered = {call.function for call, outcome in made if outcome.kind == "answer"}
        assert set(FUNCTIONS) - answered <= needs_fairlearn


def test_a_call_that_takes_too_much_is_noticed() -> None:
    """The limits hold, and warnings and foreign errors count as failures."""
    wrong: dict[str, Callable[[], Any]] = {
        "memory": lambda: np.ones(2**29).sum(),
        "time": lambda: [None for _ in iter(int, 1)],
        "warning": lambda: np.float64(1) / np.float64(0),
        "foreign": lambda: int("x"),
        "right": lambda: 1,
    }
    made = [Call(words, words, 0, make) for words, make in wrong.items()]
    kinds = {call.words: outcome.kind for call, outcome in outcomes(made, 1, 1_024)}
    assert kinds == dict.fromkeys(wrong, "failure") | {"right": "answer"}


def test_the_probability_of_equal_rates_does_not_depend_on_blocks() -> None:
    """P(PT undefined), from all matrices."""
    for n in (12, 30):
        undefined = Fraction(0)
        for tp, fn, fp, tn in eh.enumerate_matrices(n).tolist():
            if tp + fn == 0 or fp + tn == 0 or tp * (fp + tn) == fp * (tp + fn):
                undefined += multinomial((tp, fn, fp, tn), [3, 2, 1, 4])
        assert eh.undefined_probability("pt", n, list(RATES)) == approx(float(undefined), rel=1e-10)


def test_large_counts_are_answered() -> None:
    """A table of one size is wider than a block of tables, at 10^10 cases."""
    assert eh.risk("tpr", RATES, 10**6).mse == approx(0.24 / 5e5, rel=1e-5)
    k, b = 10**7, 10**9
    assert eh.match_test(matrix(0, k, k, 0), matrix(k, 0, 0, k), "f1").pvalue == 0
    wide = matrix(3 * b, 2 * b, b, 4 * b), matrix(3 * b, 2 * b, b + 10**4, 4 * b)
    assert 0 < eh.match_test(*wide, "mcc", null="known").pvalue <= 1


def _rows(n: int) -> dict[str, Any]:
    return {"g": ["a", "b"] * (n // 2), "y": [1, 0, 0, 1] * (n // 4), "p": [1, 1, 0, 0] * (n // 4)}


def _classes(k: int) -> eh.MulticlassConfusion:
    return eh.MulticlassConfusion.from_array(np.ones((k, k), dtype=int))


def _crossed(columns: int, **settings: Any) -> eh.Audit:
    drawn = np.random.default_rng(0).integers(0, 2, (100, columns))
    counts = {tuple(map(str, row)): (3, 2, 1, 4) for row in drawn.tolist()}
    return eh.audit_counts(counts, by=[f"c{i}" for i in range(columns)], **settings)


def _audit_rows(n: int, **settings: Any) -> eh.Audit:
    return eh.audit(_rows(n), y_true="y", groups="g", **settings)


b = 10**11
GROUP, REST = matrix(3 * b, 2 * b, b, 4 * b), matrix(30 * b, 20 * b, 11 * b, 40 * b)
PATHS = r"an exact sum over n = [\d,]+ cases has [\d,]+ paths, more than the limit of 2,097,152; simulate .*"
GROUPS = "choose a coarser column or fewer intersections, or cut numbers with bins="
SIZES = "n must contain at most 10,000 sample sizes; choose some of them"
TOO_LARGE: list[tuple[Callable[[], Any], str]] = [
    (partial(eh.undefined_probability, "pt", 10**8, matrix(1, 1, 1, 1), law="predictive"),
     r"the probability that TPR equals FPR in n = 100,000,000 cases is a sum over [\d,]+ terms, more than the limit of "
     r"33,554,432; use pt_limit, which has a score there"),
    (lambda: eh.distribution("f1", 10**9).cdf(0.5), PATHS),
    (partial(eh.risk, "f1", RATES, 10**9),
     r"a table of the likely counts of [\d,]+ cases has [\d,]+ entries, more than the limit of 16,777,216; take fewer "
     r"cases, or simulate"),
    (partial(eh.power, "tpr", 10**15, RATES, difference=0.1),
     r"an exact power of up to [\d,]+ cases needs [\d,]+ tests, more than the limit of [\d,]+; take fewer cases, or "
     r"give the denominator"),
    (lambda: eh.distribution("acc", 10**9).cdf(0.3), ".*more than the limit.*"),
    (partial(eh.match_test, matrix(10**15, 10**15, 10**15, 10**15), matrix(10**15, 1, 10**15 + 10**8, 10**15), "acc"),
     ".*more than the limit.*"),
    (partial(eh.match_test, matrix(0, 10**7, 10**7, 0), matrix(10**7, 0, 0, 10**7), "f1", given="n"),
     ".*given='margin'.*"),
    (partial(eh.match_test, GROUP, REST, "mcc"), PATHS),
    (partial(eh.risk, "tpr", RATES, range(1, 10**15)), SIZES),
    (partial(eh.stress_test, {"a": GROUP, "b": REST}, n=range(1, 10**15)), SIZES),
    (partial(_classes, 10**4), "there are 10,000 classes, more than the limit of 2,000; merge rare ones"),
    (lambda: eh.match_test(_classes(300), _classes(300), "f1", average="macro"),
     r"simulating matrices of 300 classes with draws=10,000 takes 900,000,000 counts, more than the limit of "
     r"268,435,456; pass at most draws=2,982, or merge classes"),
    (partial(_audit_rows, 8, y_score="p", threshold=list(np.linspace(0, 1, 10**4))),
     "threshold must contain at most 500 different numbers; got 10,000"),
    (partial(_audit_rows, 10**5, y_pred="p", metrics=[("own", lambda *_: 0.5)]),
     "permuting rows for own takes 999,900,000 values, more than the limit of 500,000,000; audit fewer groups, or a "
     "sample of the rows"),
    (partial(_crossed, 30, intersections="all"),
     rf"there are more than 10,000 groups, with 8 by 'c\d+ & c\d+ & c\d+'; {GROUPS}"),
    (partial(_crossed, 400), rf"there are more than 10,000 groups, with 4 by 'c\d+ & c\d+'; {GROUPS}"),
    (partial(eh.audit_counts, dict.fromkeys(range(20000), (3, 2, 1, 4))),
     f"there are more than 10,000 groups, with 20,000 by 'group'; {GROUPS}"),
]  # fmt: skip


@pytest.mark.parametrize(
    "cases", [TOO_LARGE[:6], pytest.param(TOO_LARGE[6:], marks=pytest.mark.slow)], ids=["some", "rest"]
)
def test_what_would_cost_too_much_is_refused_beforehand(cases: list[tuple[Callable[[], Any], str]]) -> None:
    """Requests are counted before they are answered; the sentence is short."""
    for call, sentence in cases:
        with pytest.raises(TooLarge, match=f"^{sentence}$") as refused:
            call()
        assert len(str(refused.value)) < 400


def test_the_number_of_draws_is_limited() -> None:
    for call in (
        partial(eh.risk, "tpr", RATES, 10, method="montecarlo"),
        partial(eh.match_test, matrix(3, 2, 1, 4), RATES, "tpr", method="montecarlo"),
        partial(eh.power, "mcc", 50, matrix(300, 100, 120, 480), difference=0.1),
    ):
        with pytest.raises(InvalidInput, match=r"^draws must be .*10,000(,000)?; got 1000000000$"):
            call(draws=10**9)


def test_arguments_that_are_something_else_are_refused() -> None:
    refusing: list[Any] = [eh.learn_strengths, eh.stress_test]
    for call in refusing:
        with pytest.raises(InvalidInput, match=r"^groups must map names to confusion matrices; got \[ConfusionMatrix"):
            call([matrix(1, 2, 3, 4)])
    with pytest.raises(InvalidInput, match=r"^the reference must be an array of numbers; got range\(0, 1000000"):
        eh.jaggedness("tpr", range(10**15))


# What is too extreme to compute with, or just not.


def test_what_is_too_extreme_is_refused_and_what_is_not_is_finite() -> None:
    tiny = math.ulp(0)
    for call, sentence in (
        (lambda: eh.distribution("tpr", 3, [tiny, 0, 0, 1]), "tp must be 0 or at least 1e-75; got 4.94066e-324"),
        (lambda: eh.interval(matrix(1, 0, 0, 7), "pt", prior=1e-16),
         "prior must be a number of pseudo-counts per cell from 1e-9 to 1e9; got 1e-16"),
        (lambda: eh.cross_prior_smooth(matrix(1, 2, 3, 4), matrix(4, 3, 2, 1), tiny),
         "strength must be 0 or a number of cases from 1e-9 to 1e9, one per split, or 'auto'; got 5e-324"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput) as found:
            call()
        assert str(found.value) == sentence
    # The inverse of this margin is larger than any float.
    counts = {"A": (2, 2, 3, 20), "B": (7, 3, 1, 4)}
    audit = eh.audit_counts(counts, metrics=["tpr", "dor", "lr_plus"], margin=tiny)
    assert not any(row.verdict.value == "equivalent" for row in audit.rows)
