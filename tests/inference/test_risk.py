"""The risk of raw and smoothed scores: golden values, lists of all matrices, and simulations."""

from __future__ import annotations

import re
from fractions import Fraction
from math import factorial, isnan, prod
from typing import Any, cast

import numpy as np
import pytest
from oracle import ONE_GROUP, down_the_tree, golden, matrices, multinomial
from pytest import approx

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, Raw
from evenhand.errors import InvalidInput
from evenhand.examples import compas_violent, folktables_income
from evenhand.inference import Risk, Risks
from evenhand.laws import law_of
from evenhand.metrics import CATALOGUE

GOLDEN = golden("smoothing")
KEYS = {"B": "mb", "PTs": "pt_limit"}
SPLIT = {"prev": 5, "tpr": 2, "fpr": 8}
VIOLENT, INCOME = compas_violent(), folktables_income()
one_group = pytest.mark.parametrize("m", CATALOGUE.one_group, ids=lambda m: m.key)


def truth_and_reference(name: str) -> tuple[ConfusionMatrix, ConfusionMatrix]:
    study, group = name.split("/")
    groups = VIOLENT if study == "COMPAS" else INCOME
    return groups[group], sum(groups.values(), ConfusionMatrix(0, 0, 0, 0)) - groups[group]


def estimator(method: str, reference: ConfusionMatrix) -> Any:
    simple = {"raw": Raw(), "eps": Additive(1e-10), "add1": Additive(1)}
    return simple.get(method) or CrossPrior(reference, float(method[3:]))


@pytest.mark.parametrize("name", sorted({case[0] for case in GOLDEN["exact_mse"]}))
def test_golden_risks(name: str) -> None:
    truth, reference = truth_and_reference(name.replace("FT", "Folktables"))
    for group, n, metric, method, mse, bias, p_undefined in GOLDEN["exact_mse"]:
        if group == name:
            r = eh.risk(KEYS.get(metric, metric.lower()), truth, n, estimator(method, reference))
            assert (r.mse, r.bias, r.p_undefined) == approx(
                (float(mse), float(bias), float(p_undefined)), rel=1e-12, abs=1e-13
            )


@pytest.mark.parametrize("n", [50, 149])
def test_golden_risks_of_larger_groups(n: int) -> None:
    for group, metric, method, size, mse, p_undefined in GOLDEN["exact_mse_float64"]:
        if size == n:
            truth, reference = truth_and_reference(group.replace("FT", "Folktables"))
            (r,) = eh.risk(KEYS.get(metric, metric.lower()), truth, [n], estimator(method, reference))
            assert r.mse == approx(float(mse), rel=1e-10)
            assert r.p_undefined == approx(float(p_undefined), abs=1e-12)


def listed_risk(key: str, w: Any, n: int, smooth: Any) -> tuple[float, ...]:
    """P(undefined), bias, mean squared and mean absolute error by listing every matrix, in fractions but for roots."""
    true_score = float(ONE_GROUP[key](*w))
    sums = np.zeros(4)
    for c in matrices(n):
        value = ONE_GROUP[key](*smooth(c))
        if value is not None:
            error = float(value) - true_score
            sums += float(multinomial(c, w)) * np.array([1, error, error**2, abs(error)])
    defined, *errors = sums
    return (1 - defined, *(e / defined for e in errors))


ESTIMATORS: dict[str, tuple[Any, Any]] = {
    "raw": (Raw(), lambda c: c),
    "add": (Additive(0.5), lambda c: [k + Fraction(1, 2) for k in c]),
    "cps": (
        CrossPrior(ConfusionMatrix(1, 2, 3, 2), 3),
        lambda c: [k + Fraction(3 * x, 8) for k, x in zip(c, (1, 2, 3, 2), strict=True)],
    ),
    "a strength per split": (
        CrossPrior(ConfusionMatrix(1, 2, 3, 2), SPLIT),
        lambda c: down_the_tree(c, (1, 2, 3, 2), SPLIT),
    ),
    "an empty cell": (
        CrossPrior(ConfusionMatrix(3, 0, 1, 2), {"prev": 2, "tpr": 0, "fpr": 1}),
        lambda c: down_the_tree(c, (3, 0, 1, 2), {"prev": 2, "tpr": 0, "fpr": 1}),
    ),
}


@one_group
@pytest.mark.parametrize("how", ESTIMATORS)
def test_risk_is_what_listing_every_matrix_gives(m: Any, how: str) -> None:
    w, n = [3, 1, 2, 4], 5
    estimator, smooth = ESTIMATORS[how]
    undefined, bias, mse, mae = listed_risk(m.key, w, n, smooth)
    r = eh.risk(m, ConfusionMatrix(*w), n, estimator)
    assert (r.bias, r.mse, r.mae) == approx((bias, mse, mae), rel=1e-10, abs=1e-12)
    assert r.variance == approx(mse - bias**2, abs=1e-12)
    assert r.p_undefined == approx(undefined, abs=1e-12)


def test_a_prior_with_an_empty_cell_leaves_holes() -> None:
    """LR- needs true negatives, which neither the group nor (4, 1, 2, 0) may have: undefined 27.2 %, mse 0.198."""
    w, prior = [5, 3, 5, 5], (4, 1, 2, 0)
    undefined, _, mse, _ = listed_risk(
        "lr_minus", w, 4, lambda c: [k + Fraction(10 * x, 7) for k, x in zip(c, prior, strict=True)]
    )
    r = eh.risk("lr_minus", ConfusionMatrix(*w), 4, CrossPrior(ConfusionMatrix(*prior), 10))
    assert (r.p_undefined, r.mse) == approx((undefined, mse), rel=1e-12)
    assert (r.p_undefined, r.mse) == approx((0.272, 0.198), abs=5e-4)


@one_group
def test_a_curve_is_made_of_risks(m: Any) -> None:
    curve = eh.risk(m, ConfusionMatrix(3, 1, 2, 4), [4, 9], [Raw(), Additive(1)])
    assert [(r.estimator.label, r.n) for r in curve] == [("raw", 4), ("raw", 9), ("add1", 4), ("add1", 9)]
    for r in curve:
        assert r.mse == approx(eh.risk(m, ConfusionMatrix(3, 1, 2, 4), r.n, r.estimator).mse, rel=1e-11)


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("key", ["acc", "tpr", "f1", "mcc"])
def test_random_groups_agree_with_the_exact_risk(key: str, replace: bool) -> None:
    truth = ConfusionMatrix(300, 100, 200, 400) if replace else ConfusionMatrix(3, 1, 2, 4)
    how = CrossPrior(ConfusionMatrix(1, 1, 1, 1), 4)
    drawn = eh.risk(key, truth, 6, how, method="montecarlo", rng=3, draws=40_000, replace=replace)
    if replace:
        expected = eh.risk(key, truth, 6, how).mse
    else:
        law = law_of(truth, 6, "without_replacement")
        cells = eh.enumerate_matrices(6)
        scores = eh.metric(key)(cells + np.ones(4))
        expected = float(law.pmf(cells) @ (scores - float(eh.metric(key)(truth))) ** 2)
    assert drawn.mse == approx(expected, abs=5 * drawn.standard_error)
    assert (drawn.method, drawn.draws, drawn.rng) == ("montecarlo", 40_000, 3)
    assert ", 40,000 draws (standard error " in str(drawn)


def test_a_simulation_repeats_with_its_seed_and_goes_on_with_a_generator() -> None:
    truth, settings = ConfusionMatrix(3, 1, 2, 4), cast("Any", {"method": "montecarlo", "draws": 500})
    again = [eh.risk("tpr", truth, 5, **settings, rng=seed).mse for seed in (7, 7, 8)]
    assert again[0] == again[1] != again[2]
    stream = np.random.default_rng(1)
    first, second = (eh.risk("tpr", truth, 5, **settings, rng=stream) for _ in range(2))
    assert first.mse != second.mse
    assert first.rng is None
    # Each estimate has a stream of its own.
    several = eh.risk("tpr", truth, [5, 5], **settings)
    assert several[0].mse != several[1].mse


def test_one_estimate_is_a_risk_and_several_are_a_sequence() -> None:
    truth = ConfusionMatrix(3, 1, 2, 4)
    assert isinstance(eh.risk("tpr", truth, 5), Risk)
    several = eh.risk(["tpr", "acc"], truth, range(1, 5), [Raw(), Additive(1)])
    assert isinstance(several, Risks)
    assert (len(several), several[-1].n, several[-1].metric.key) == (16, 4, "acc")
    assert isinstance(several[:4], Risks)
    assert several[:4].risks == several.risks[:4]
    assert list(several)[3] is several[3]
    lists: tuple[Any, ...] = (("tpr", [5], None), (["tpr"], 5, None), ("tpr", 5, [Raw()]))
    for names, sizes, hows in lists:
        assert len(eh.risk(names, truth, sizes, hows)) == 1
    assert str(several).startswith("16 errors of tpr, acc\n  tpr of 1 case, raw: ")
    assert str(eh.risk("tpr", truth, range(1, 30))).endswith("\n  and 9 more")


def test_the_absolute_error_is_computed_for_one_size_or_if_asked_for() -> None:
    truth = ConfusionMatrix(3, 1, 2, 4)
    assert eh.risk("tpr", truth, [5], absolute=True)[0].mae == eh.risk("tpr", truth, 5).mae
    assert isnan(eh.risk("tpr", truth, [5])[0].mae)
    assert isnan(eh.risk("tpr", truth, 5, absolute=False).mae)


def test_several_metrics_share_a_curve() -> None:
    """By metric, then estimator, then size; each as by itself."""
    truth, hows = ConfusionMatrix(3, 1, 2, 4), [Raw(), CrossPrior(ConfusionMatrix(1, 2, 3, 2), SPLIT)]
    together = eh.risk(["tpr", "mcc", "acc"], truth, [3, 6], hows)
    apart = [r for key in ("tpr", "mcc", "acc") for r in eh.risk(key, truth, [3, 6], hows)]
    assert [(r.metric.key, r.estimator, r.n) for r in together] == [(r.metric.key, r.estimator, r.n) for r in apart]
    assert [r.mse for r in together] == approx([r.mse for r in apart], rel=1e-12)
    assert all(isnan(r.mae) for r in together)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.risk("tpr", [0.25] * 4, 5, cast("Any", "raw")),
         "estimator must be Raw(), Additive(…) or CrossPrior(…); got 'raw'"),
        (lambda: eh.risk("tpr", [0.25] * 4, []), "n must contain at least one sample size"),
        (lambda: eh.risk("tpr", [0.25] * 4, 5, method=cast("Any", "drawn")),
         "no method is called 'drawn'; known: exact, montecarlo"),
        (lambda: eh.risk("tpr", [0.25] * 4, 5, method="montecarlo", draws=1),
         "draws must be a whole number of at least 2; got 1"),
        (lambda: eh.risk("tpr", [0.25] * 4, 5, method="montecarlo", rng=-1),
         "rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
        (lambda: eh.risk("tpr", [0.25] * 4, 5, method="montecarlo", replace=False),
         "law='without_replacement' needs the reference's counts, as a ConfusionMatrix; got four probabilities"),
        (lambda: eh.risk("tpr", ConfusionMatrix(10**10, 1, 1, 1), 5, method="montecarlo", replace=False),
         "replace=False samples from at most 1e9 cases; use method='exact'"),
        (lambda: eh.risk("ofi", [0.25] * 4, 5), "ofi compares two groups; use a metric of one group, such as mb"),
        (lambda: eh.risk("tpr", [0, 0, 0.5, 0.5], 5),
         "the true tpr is undefined, no actual positives (TP + FN = 0), so there is no error to compute"),
        (lambda: eh.risk("mcc", [0.25] * 4, 1),
         "mcc at n = 1 is never defined with raw; use a larger n, or smooth"),
        (lambda: eh.risk("mcc", [0.25] * 4, 1, method="montecarlo", draws=10),
         "mcc is undefined in all of 10 simulated groups; use more draws"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_explained(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        call()


def test_pseudo_counts_that_are_thirds_still_make_ties() -> None:
    """With a third of a case added, TPR equals FPR in some matrices of 6 cases, which floats miss."""
    truth, more = (1, 3, 3, 1), [Fraction(5 * cell, 60) for cell in (4, 20, 18, 18)]
    tied = Fraction(0)
    for cells in matrices(6):
        tp, fn, fp, tn = (int(cell) + added for cell, added in zip(cells, more, strict=True))
        if tp * tn == fp * fn:
            ways = factorial(6) // prod(factorial(int(cell)) for cell in cells)
            tied += ways * prod(Fraction(rate, 8) ** int(cell) for rate, cell in zip(truth, cells, strict=True))
    assert tied > 0
    how = CrossPrior(ConfusionMatrix(4, 20, 18, 18), 5)
    found = eh.risk("pt", ConfusionMatrix(*truth), 6, how)
    assert found.p_undefined == approx(float(tied), rel=1e-9)
    several = eh.risk("pt", ConfusionMatrix(*truth), [5, 6], how)
    assert several[1].p_undefined == approx(float(tied), rel=1e-9)
    # By mpmath over the same list, without the tied matrix.
    assert (found.bias, found.mse) == approx((0.018004187904309493, 0.008079900240712598), rel=1e-9)


def test_whole_cells_are_tied_only_if_their_products_are_equal() -> None:
    large = 10**6
    assert isnan(eh.metric("pt")((large, large, large, large)))
    assert not isnan(eh.metric("pt")((large + 1, large, large, large - 1)))
    assert eh.metric("pt").why_undefined((large + 1, large, large, large - 1)) is None
