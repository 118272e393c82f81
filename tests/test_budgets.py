"""Every public function answers or refuses with a sentence, within limits of time and memory, at every size."""

from __future__ import annotations

import math
import re
import resource
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
from ladder import CALLS, Call, calls, memory_limit, outcomes
from matrices import matrix
from pytest import approx

import evenhand as eh
from evenhand import ConfusionMatrix, MulticlassConfusion, fairlearn, sklearn
from evenhand.distributions.splits import Split

INTERFACE = Path(eh.__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
FUNCTIONS = [
    name for name in re.findall(r"\b([a-z]\w*) as \1\b", INTERFACE) if not isinstance(getattr(eh, name), ModuleType)
]
FUNCTIONS += [name for module in (fairlearn, sklearn) for name in module.__all__ if name.islower()]
# Generous: on a quiet machine no call of the ladder takes a quarter of it.
SECONDS, MEGABYTES = 120, 2_048
# These try many sizes or true scores, and some of their calls take seconds.
SEARCHES = ("sample_size", "power", "detectable_difference")


@pytest.fixture(autouse=True)
def _memory_is_limited() -> Iterator[None]:
    """What takes too much of it is an error, not the end of other processes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_limit(MEGABYTES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_every_public_function_is_on_the_ladder() -> None:
    """A new function without an entry in `ladder.CALLS` makes this fail."""
    assert set(CALLS) == set(FUNCTIONS)


def _some(every: list[Call], most: int = 6) -> list[Call]:
    """Evenly spaced calls, so that metrics and options of all kinds occur."""
    return every[:: max(1, len(every) // most)]


@pytest.mark.parametrize("size", [0, 10, pytest.param(10**15, marks=pytest.mark.slow)], ids=lambda n: f"{n:.0e}")
def test_a_call_returns_or_refuses_with_a_sentence(size: int) -> None:
    """No call ends in a warning, in an error that is not ours, or beyond the limits."""
    chosen = [call for name in CALLS for call in _some(list(calls([name], [size])), 1 if name in SEARCHES else 6)]
    failures = [f"{call}: {o.text}" for call, o in outcomes(chosen, SECONDS, MEGABYTES) if o.kind == "failure"]

    assert not failures, "\n".join(failures)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.jaggedness("tpr", range(10**15)),
         "the reference must be an array of numbers; got range(0, 1000000000000000)"),
        (lambda: eh.learn_strengths([matrix(1, 2, 3, 4)]),  # type: ignore[arg-type]
         "groups must map names to confusion matrices; got [ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)]"),
        (lambda: eh.stress_test([matrix(1, 2, 3, 4)]),  # type: ignore[arg-type]
         "groups must map names to confusion matrices; got [ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)]"),
    ],
)  # fmt: skip
def test_arguments_that_are_something_else_are_refused(call: Any, sentence: str) -> None:
    with pytest.raises(eh.EvenhandError) as refusal:
        call()
    assert str(refusal.value) == sentence


def test_a_call_that_takes_too_much_is_noticed() -> None:
    """The limits hold, and warnings and foreign errors count as failures."""
    wrong = {
        "memory": lambda: np.ones(2**29).sum(),
        "time": lambda: [None for _ in iter(int, 1)],
        "warning": lambda: np.float64(1) / np.float64(0),
        "foreign": lambda: int("x"),
        "right": lambda: 1,
    }
    made = [Call(words, words, 0, make) for words, make in wrong.items()]
    kinds = {call.words: outcome.kind for call, outcome in outcomes(made, 1, 1_024)}

    assert kinds == dict.fromkeys(wrong, "failure") | {"right": "answer"}


def _exact_tail(pmf: Any, ends: list[float], k: int) -> mpmath.mpf:
    """The sum of a smooth pmf up to k, by Euler and Maclaurin with 40 digits."""
    points = [e for e in ends if e < k] + [k + mpmath.mpf("0.5")]
    return mpmath.quad(pmf, points) - (pmf(k + 1) - pmf(k)) / 24


def _choose(n: int, x: Any) -> mpmath.mpf:
    return mpmath.loggamma(n + 1) - mpmath.loggamma(x + 1) - mpmath.loggamma(n - x + 1)


def _lower(split: Split, m: int, k: int) -> tuple[float, float]:
    size = np.array([float(m)])
    low, high = split.support(size)
    at = np.array([float(k)])
    return float(split.interval_sum(low, at, size)[0]), float(split.interval_sum(at + 1, high, size)[0])


@pytest.mark.slow
def test_all_wrong_against_all_right_with_ten_million_cases() -> None:
    k = 10**7
    groups = matrix(0, k, k, 0), matrix(k, 0, 0, k)
    assert eh.match_test(*groups, "f1").pvalue == 0
    with pytest.raises(eh.errors.TooLarge, match="given='margin'"):
        eh.match_test(*groups, "f1", given="n")


def test_the_error_of_a_rate_of_a_million_cases() -> None:
    assert eh.risk("tpr", [0.3, 0.2, 0.1, 0.4], 10**6).mse == approx(0.24 / 5e5, rel=1e-5)


@pytest.mark.parametrize("n", [12, 30])
def test_the_probability_of_equal_rates_does_not_depend_on_blocks(n: int) -> None:
    """P(PT undefined), from all matrices."""
    p = [Fraction(3, 10), Fraction(2, 10), Fraction(1, 10), Fraction(4, 10)]
    undefined = Fraction(0)
    for tp, fn, fp, tn in eh.enumerate_matrices(n).tolist():
        if tp + fn == 0 or fp + tn == 0 or tp * (fp + tn) == fp * (tp + fn):
            ways = math.factorial(n) // math.prod(map(math.factorial, (tp, fn, fp, tn)))
            undefined += ways * math.prod((r**c for r, c in zip(p, (tp, fn, fp, tn), strict=True)), start=Fraction(1))

    assert eh.undefined_probability("pt", n, [0.3, 0.2, 0.1, 0.4]) == approx(float(undefined), rel=1e-10)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.undefined_probability("pt", 10**8, matrix(1, 1, 1, 1), law="predictive"),
         r"the probability that TPR equals FPR in n = 100,000,000 cases is a sum over [\d,]+ terms, more than the "
         r"limit of 33,554,432; use pt_limit, which has a score there"),
        (lambda: eh.distribution("f1", 10**9).cdf(0.5),
         r"an exact sum over n = 1,000,000,000 cases has [\d,]+ paths, more than the limit of 2,097,152; "
         r"simulate .*given='margin'\)"),
        (lambda: eh.risk("f1", [0.3, 0.2, 0.1, 0.4], 10**9),
         r"a table of the likely counts of [\d,]+ cases has [\d,]+ entries, more than the limit of 16,777,216; take "
         r"fewer cases, or simulate"),
        (lambda: eh.power("tpr", 10**15, [0.3, 0.2, 0.1, 0.4], difference=0.1),
         r"an exact power of up to [\d,]+ cases needs [\d,]+ tests, more than the limit of [\d,]+; take fewer cases, "
         r"or give the denominator"),
    ],
)  # fmt: skip
def test_what_would_cost_too_much_is_refused_beforehand(call: object, sentence: str) -> None:
    assert callable(call)
    with pytest.raises(eh.errors.TooLarge, match=f"^{sentence}$"):
        call()


@pytest.mark.parametrize("call", [
    lambda: eh.risk("tpr", [0.3, 0.2, 0.1, 0.4], 10, method="montecarlo", draws=10**9),
    lambda: eh.match_test(matrix(3, 2, 1, 4), [0.3, 0.2, 0.1, 0.4], "tpr", method="montecarlo", draws=10**9),
    lambda: eh.power("mcc", 50, matrix(300, 100, 120, 480), difference=0.1, draws=10**9),
])  # fmt: skip
def test_the_number_of_draws_is_limited(call: object) -> None:
    assert callable(call)
    with pytest.raises(eh.errors.InvalidInput, match=r"^draws must be .*10,000(,000)?; got 1000000000$"):
        call()


def _row_table(n: int) -> dict[str, Any]:
    return {"g": ["a", "b"] * (n // 2), "y": [1, 0, 0, 1] * (n // 4), "p": [1, 1, 0, 0] * (n // 4)}


def _classes(k: int) -> MulticlassConfusion:
    return MulticlassConfusion.from_array(np.ones((k, k), dtype=int))


def _crossed(columns: int, **settings: Any) -> eh.Audit:
    names = [f"c{i}" for i in range(columns)]
    drawn = np.random.default_rng(0).integers(0, 2, (100, columns))
    counts = {tuple(map(str, row)): (3, 2, 1, 4) for row in drawn.tolist()}
    return eh.audit_counts(counts, by=names, **settings)


GROUP, REST = [ConfusionMatrix.from_array([c * 10**11 for c in cells]) for cells in ((3, 2, 1, 4), (30, 20, 11, 40))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: _crossed(30, intersections="all"),
         r"there are more than 10,000 groups, with 8 by 'c\d+ & c\d+ & c\d+'; choose a coarser column or fewer "
         r"intersections, or cut numbers with bins="),
        (lambda: _crossed(400), r"there are more than 10,000 groups, with 4 by 'c\d+ & c\d+'; .*"),
        (lambda: eh.audit({"g": ["a", "b"] * 4, "y": [0, 1] * 4, "s": [0.5] * 8}, y_true="y", y_score="s", groups="g",
                          threshold=list(np.linspace(0, 1, 10**4))),
         r"threshold must contain at most 500 different numbers; got 10,000"),
        (lambda: eh.audit_counts(dict.fromkeys(range(20000), (3, 2, 1, 4))),
         r"there are more than 10,000 groups, with 20,000 by 'group'; choose a coarser column or "
         r"fewer intersections, or cut numbers with bins="),
        (lambda: eh.audit(_row_table(10**5), y_true="y", y_pred="p", groups="g", metrics=[("own", lambda *_: 0.5)]),
         r"permuting rows for own takes 999,900,000 values, more than the limit of 500,000,000; audit fewer groups, "
         r"or a sample of the rows"),
        (lambda: eh.match_test(_classes(300), _classes(300), "f1", average="macro"),
         r"simulating matrices of 300 classes with draws=10,000 takes 900,000,000 counts, more than the limit of "
         r"268,435,456; pass at most draws=2,982, or merge classes"),
        (lambda: _classes(10**4), r"there are 10,000 classes, more than the limit of 2,000; merge rare ones"),
        (lambda: eh.risk("tpr", [0.3, 0.2, 0.1, 0.4], range(1, 10**15)),
         r"n must contain at most 10,000 sample sizes; choose some of them"),
        (lambda: eh.stress_test({"a": GROUP, "b": REST}, n=range(1, 10**15)),
         r"n must contain at most 10,000 sample sizes; choose some of them"),
        (lambda: eh.match_test(GROUP, REST, "mcc"),
         r"an exact sum over n = 1,000,000,000,000 cases has [\d,]+ paths, more than the limit of 2,097,152; "
         r"simulate .*"),
    ],
)  # fmt: skip
def test_requests_are_counted_before_they_are_answered(call: Any, sentence: str) -> None:
    """Within a second or two and next to no memory; the sentence is short."""
    with pytest.raises(eh.errors.TooLarge, match=f"^{sentence}$") as refused:
        call()
    assert len(str(refused.value)) < 400


@pytest.mark.slow
@pytest.mark.parametrize("null", ["pooled", "known", "predictive"])
def test_scores_of_a_single_wide_margin_are_tested(null: Any) -> None:
    """A table of one size is wider than a block of tables, at 10^10 cases."""
    b = 10**9
    group, reference = matrix(3 * b, 2 * b, b, 4 * b), matrix(3 * b, 2 * b, b + 10**4, 4 * b)
    assert 0 < eh.match_test(group, reference, "mcc", null=null).pvalue <= 1


def test_sums_over_too_many_counts_are_refused() -> None:
    b = 10**15
    for call in (
        lambda: eh.distribution("acc", 10**9).cdf(0.3),
        lambda: eh.match_test(matrix(b, b, b, b), matrix(b, b, b + 10**8, b), "acc"),
    ):
        with pytest.raises(eh.errors.TooLarge, match="more than the limit"):
            call()
