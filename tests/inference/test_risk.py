"""The risk of raw and smoothed scores: golden values, lists of all matrices, and simulations."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from math import nan
from typing import Any

import numpy as np
from matrices import matrix
from oracle import ONE_GROUP, down_the_tree, golden, matrices, multinomial, refusal
from pytest import approx

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, Raw
from evenhand.distributions import law_of
from evenhand.examples import compas_violent, folktables_income
from evenhand.inference import Risk, Risks
from evenhand.metrics import ONE_GROUP_METRICS

GOLDEN = golden("smoothing")
KEYS = {"B": "mb", "PTs": "pt_limit"}
SPLIT = {"prev": 5, "tpr": 2, "fpr": 8}
STUDIES = {"COMPAS": compas_violent(), "FT": folktables_income()}


def test_golden_risks() -> None:
    simple = {"raw": Raw(), "eps": Additive(1e-10), "add1": Additive(1)}
    for path, n, metric, method, *expected in GOLDEN["exact_mse"]:
        study, name = path.split("/")
        truth, everybody = STUDIES[study][name], sum(STUDIES[study].values(), matrix(0, 0, 0, 0))
        estimator = simple.get(method) or CrossPrior(everybody - truth, float(method[3:]))
        r = eh.risk(KEYS.get(metric, metric.lower()), truth, n, estimator)
        assert (r.mse, r.bias, r.p_undefined) == approx([float(x) for x in expected], rel=1e-12, abs=1e-13)


Smooth = Callable[[Any], Any]


def listed_risk(key: str, w: Any, n: int, smooth: Smooth) -> tuple[float, float, float]:
    """P(undefined), bias and mean squared error by listing every matrix, in fractions but for roots."""
    true_score = float(ONE_GROUP[key](*w))
    sums = np.zeros(3)
    for c in matrices(n):
        value = ONE_GROUP[key](*smooth(c))
        if value is not None:
            error = float(value) - true_score
            sums += float(multinomial(c, w)) * np.array([1, error, error**2])
    return 1 - sums[0], *(sums[1:] / sums[0] if sums[0] else (nan, nan))


def add(*cells: Any) -> Smooth:
    """A function that adds pseudo-counts to cells."""
    return lambda c: [k + x for k, x in zip(c, cells, strict=True)]


PRIOR, HOLLOW = (1, 2, 3, 2), (3, 0, 1, 4)
ESTIMATORS: dict[str, tuple[Any, Smooth]] = {
    "raw": (Raw(), add(0, 0, 0, 0)),
    "tiny": (Additive(1e-10), add(*[Fraction(1, 10**10)] * 4)),
    "add": (Additive(0.5), add(*[Fraction(1, 2)] * 4)),
    "cps": (CrossPrior(matrix(*PRIOR), 3), add(*(Fraction(3 * x, 8) for x in PRIOR))),
    "an empty cell": (CrossPrior(matrix(*HOLLOW), 4), add(*(Fraction(x, 2) for x in HOLLOW))),
    "a strength per split": (CrossPrior(matrix(*PRIOR), SPLIT), lambda c: down_the_tree(c, PRIOR, SPLIT)),
    "a strength of 0": (
        CrossPrior(matrix(3, 0, 1, 2), {"prev": 2, "tpr": 0, "fpr": 1}),
        lambda c: down_the_tree(c, (3, 0, 1, 2), {"prev": 2, "tpr": 0, "fpr": 1}),
    ),
}


def test_risks_are_what_listing_every_matrix_gives() -> None:
    """For unsorted sizes, one of them twice, and for a size by itself."""
    w, sizes = [3, 1, 2, 5], [6, 3, 6]
    truth, estimators = ConfusionMatrix.from_array(w), [e for e, _ in ESTIMATORS.values()]
    for m in ONE_GROUP_METRICS:
        risks = eh.risk(m, truth, sizes, estimators)
        assert [r.n for r in risks] == sizes * len(ESTIMATORS)
        listed = {n: [listed_risk(m.key, w, n, smooth) for _, smooth in ESTIMATORS.values()] for n in set(sizes)}
        for i, r in enumerate(risks):
            undefined, bias, mse = listed[r.n][i // 3]
            assert (r.bias, r.mse) == approx((bias, mse), rel=1e-10, abs=1e-12, nan_ok=True), (m.key, i)
            assert r.p_undefined == approx(undefined, abs=1e-12), (m.key, i)
            assert r.variance == approx(max(0, mse - bias**2), rel=1e-9, abs=1e-9 * mse, nan_ok=True)
        alone = eh.risk(m, truth, 6, Additive(0.5))
        assert (alone.bias, alone.mse) == approx((risks[6].bias, risks[6].mse), rel=1e-12)


def test_improbable_counts_matter_if_scores_are_unbounded() -> None:
    """An odds ratio is up to 1e20 times as large if two cells are empty, which may have a probability of 1e-20."""
    w, tiny = [30, 1, 20, 1], Fraction(1, 10**10)
    _, bias, mse = listed_risk("dor", w, 25, add(*[tiny] * 4))
    r = eh.risk("dor", ConfusionMatrix.from_array(w), 25, Additive(1e-10))
    assert (r.bias, r.mse) == approx((bias, mse), rel=1e-9)


def test_random_groups_agree_with_the_exact_risk() -> None:
    cells, estimator = eh.enumerate_matrices(6), CrossPrior(matrix(1, 1, 1, 1), 4)
    for key, replace in product(("acc", "tpr", "f1", "mcc"), (True, False)):
        truth = matrix(3, 1, 2, 4)
        r = eh.risk(key, truth, 6, estimator, method="montecarlo", rng=3, draws=20_000, replace=replace)
        pmf = law_of(truth, 6, "multinomial" if replace else "without_replacement").pmf(cells)
        squares = (eh.metric(key)(cells + np.ones(4)) - eh.metric(key)(truth)) ** 2
        mse = float(pmf @ squares)
        assert r.mse == approx(mse, abs=5 * r.standard_error), (key, replace)
        assert r.standard_error == approx(float(np.sqrt(pmf @ (squares - mse) ** 2 / 20_000)), rel=0.1)
        assert (r.method, r.draws, r.rng) == ("montecarlo", 20_000, 3)
        assert ", 20,000 draws (standard error " in str(r)


def test_a_simulation_repeats_with_its_seed_and_goes_on_with_a_generator() -> None:
    draw: Any = partial(eh.risk, "tpr", matrix(3, 1, 2, 4), method="montecarlo", draws=500)
    first, again, other = (draw(n=5, rng=seed).mse for seed in (7, 7, 8))
    assert first == again != other
    stream = np.random.default_rng(1)
    one, two = (draw(n=5, rng=stream) for _ in range(2))
    assert one.mse != two.mse and one.rng is None
    # Each estimate has a stream of its own.
    assert len({r.mse for r in draw(n=[5, 5])}) == 2


def test_one_estimate_is_a_risk_and_several_are_a_sequence() -> None:
    truth = matrix(3, 1, 2, 4)
    assert isinstance(eh.risk("tpr", truth, 5), Risk)
    several = eh.risk(["tpr", "acc"], truth, range(1, 5), [Raw(), Additive(1)])
    assert isinstance(several, Risks) and isinstance(several[:4], Risks)
    assert (len(several), several[-1].n, several[-1].metric.key) == (16, 4, "acc")
    assert several[:4].risks == several.risks[:4] and list(several)[3] is several[3]
    assert several.risks[8:] == tuple(eh.risk("acc", truth, n, e) for e in (Raw(), Additive(1)) for n in range(1, 5))
    lists: tuple[Any, ...] = (("tpr", [5], None), (["tpr"], 5, None), ("tpr", 5, [Raw()]))
    for names, sizes, hows in lists:
        assert len(eh.risk(names, truth, sizes, hows)) == 1
    assert str(several).startswith("16 errors of tpr, acc\n  tpr of 1 case, raw: ")
    assert str(eh.risk("tpr", truth, range(1, 30))).endswith("\n  and 9 more")


def test_what_cannot_be_meant_is_explained() -> None:
    even, never = [0.25] * 4, "raw mcc is never defined at n = 1; use a larger n"
    simulate: Any = partial(eh.risk, "tpr", method="montecarlo")
    sentences = {
        "estimator must be Raw(), Additive(…) or CrossPrior(…); got 'raw'": refusal(eh.risk, "tpr", even, 5, "raw"),
        "n must contain at least one sample size": refusal(eh.risk, "tpr", even, []),
        "no method is called 'drawn'; known: exact, montecarlo": refusal(eh.risk, "tpr", even, 5, method="drawn"),
        "draws must be a whole number of at least 2; got 1": refusal(simulate, even, 5, draws=1),
        "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1":
            refusal(simulate, even, 5, rng=-1),
        "law='without_replacement' needs the counts of a reference, as a ConfusionMatrix":
            refusal(simulate, even, 5, replace=False),
        "method='montecarlo' samples from at most 1e9 pooled cases; use method='exact'":
            refusal(simulate, matrix(10**10, 1, 1, 1), 5, replace=False),
        "ofi compares two groups; use a metric of one group, such as mb": refusal(eh.risk, "ofi", even, 5),
        "the true tpr is undefined, no actual positives (TP + FN = 0)":
            refusal(eh.risk, "tpr", [0, 0, 0.5, 0.5], 5),
        never: refusal(eh.risk, "mcc", even, 1),
    }  # fmt: skip
    for sentence, refused in sentences.items():
        assert refused.endswith(f": {sentence}")
    assert refusal(eh.risk, "mcc", even, 1, method="montecarlo", draws=10) == f"InvalidInput: {never}"


def test_what_would_take_too_long_is_refused_with_a_way_out() -> None:
    rates = [0.3, 0.1, 0.2, 0.4]
    for estimator, n, limit in ((Raw(), 30_000, "1,073,741,824"), (CrossPrior(rates, SPLIT), 3_000, "8,388,608")):
        sentence = (
            rf"TooLarge: the exact error of pt at n = {n:,} is a sum over [\d,]+ matrices, more than the limit of "
            rf"{limit}; use method='montecarlo'"
        )
        assert re.fullmatch(sentence, refusal(eh.risk, "pt", rates, n, estimator))
    assert refusal(eh.risk, "f1", rates, 10**9).endswith("limit of 16,777,216; take fewer cases, or simulate")


def test_pseudo_counts_that_are_thirds_still_make_ties() -> None:
    """With a third of a case added, TPR equals FPR in some matrices of 6 cases, which floats miss."""
    added = [Fraction(5 * cell, 60) for cell in (4, 20, 18, 18)]
    undefined, bias, mse = listed_risk("pt", (1, 3, 3, 1), 6, add(*added))
    assert undefined > 0
    risks = eh.risk("pt", matrix(1, 3, 3, 1), [5, 6], CrossPrior(matrix(4, 20, 18, 18), 5))
    assert (risks[1].p_undefined, risks[1].bias, risks[1].mse) == approx((undefined, bias, mse), rel=1e-9)
