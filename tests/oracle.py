"""Every metric written a second time, from its definition, in exact or 60-digit arithmetic.

Nothing here imports the library. A value is a Fraction, an mpmath number where roots are needed, or None
where the definition divides by zero.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial, prod
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from scipy.special import betaincinv

Value = Any  # Fraction, mpmath.mpf or None
Cells = tuple[int, int, int, int]


def golden(name: str) -> dict[str, Any]:
    """One of the files of exact values, made by independent 60-digit arithmetic."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / f"{name}.json").read_text("utf-8"))
    return loaded


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The error that a call raises, as ``InvalidInput: message``; what it returned if it raises none."""
    try:
        returned = call(*arguments, **options)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    return f"no error: {returned!r}"


def matrices(n: int) -> Iterator[Cells]:
    """All matrices of n cases, by four plain loops."""
    for tp in range(n + 1):
        for fn in range(n + 1 - tp):
            for fp in range(n + 1 - tp - fn):
                yield tp, fn, fp, n - tp - fn - fp


def over(a: Value, b: Value) -> Value:
    """a / b, None if either is None or b is zero."""
    if a is None or b is None or b == 0:
        return None
    return Fraction(a) / Fraction(b) if isinstance(a, (int, Fraction)) and isinstance(b, (int, Fraction)) else a / b


def root(x: Value) -> Value:
    """The square root in 60 digits."""
    return None if x is None else mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)


def plus(*terms: Value) -> Value:
    """A sum, None if any term is."""
    return None if any(t is None for t in terms) else sum(terms)


def times(*factors: Value) -> Value:
    """A product, None if any factor is."""
    product = Fraction(1)
    for f in factors:
        if f is None:
            return None
        product = product * f
    return product


def tpr(tp: int, fn: int, fp: int, tn: int) -> Value:
    return over(tp, tp + fn)


def fpr(tp: int, fn: int, fp: int, tn: int) -> Value:
    return over(fp, fp + tn)


def ppv(tp: int, fn: int, fp: int, tn: int) -> Value:
    return over(tp, tp + fp)


def npv(tp: int, fn: int, fp: int, tn: int) -> Value:
    return over(tn, tn + fn)


def complement(x: Value) -> Value:
    return None if x is None else 1 - x


def f1_original(tp: int, fn: int, fp: int, tn: int) -> Value:
    return over(2, plus(over(tp + fp, tp), over(tp + fn, tp)))


def mcc(tp: int, fn: int, fp: int, tn: int) -> Value:
    return over(mpmath.mpf(tp * tn - fp * fn), root(Fraction((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))))


def mcc_limit(tp: int, fn: int, fp: int, tn: int) -> Value:
    if max(tp, fn, fp, tn) == tp + fn + fp + tn:
        return None
    found = mcc(tp, fn, fp, tn)
    return mpmath.mpf(0) if found is None else found


def pt(tp: int, fn: int, fp: int, tn: int) -> Value:
    t, f = tpr(tp, fn, fp, tn), fpr(tp, fn, fp, tn)
    if t is None or f is None or t == f:
        return None
    return (root(t * f) - mpmath.mpf(f.numerator) / f.denominator) / (
        mpmath.mpf((t - f).numerator) / (t - f).denominator
    )


def pt_limit(tp: int, fn: int, fp: int, tn: int) -> Value:
    t, f = tpr(tp, fn, fp, tn), fpr(tp, fn, fp, tn)
    if t is None or f is None or t == f == 0:
        return None
    return root(f) / (root(t) + root(f))


def kappa(tp: int, fn: int, fp: int, tn: int) -> Value:
    n = tp + fn + fp + tn
    agreed = over(tp + tn, n)
    by_chance = plus(over((tp + fn) * (tp + fp), n * n), over((fp + tn) * (fn + tn), n * n))
    return over(plus(agreed, -by_chance), 1 - by_chance) if n else None


def f_beta(beta: Fraction) -> Callable[[int, int, int, int], Value]:
    b = beta * beta
    return lambda tp, fn, fp, tn: over((1 + b) * tp, (1 + b) * tp + b * fn + fp)


ONE_GROUP: dict[str, Callable[[int, int, int, int], Value]] = {
    "acc": lambda tp, fn, fp, tn: over(tp + tn, tp + fn + fp + tn),
    "prev": lambda tp, fn, fp, tn: over(tp + fn, tp + fn + fp + tn),
    "ppr": lambda tp, fn, fp, tn: over(tp + fp, tp + fn + fp + tn),
    "inacc": lambda tp, fn, fp, tn: over(fp + fn, tp + fn + fp + tn),
    "nprev": lambda tp, fn, fp, tn: over(fp + tn, tp + fn + fp + tn),
    "pnr": lambda tp, fn, fp, tn: over(fn + tn, tp + fn + fp + tn),
    "tpr": tpr,
    "fpr": fpr,
    "tnr": lambda *c: complement(fpr(*c)),
    "fnr": lambda *c: complement(tpr(*c)),
    "ppv": ppv,
    "npv": npv,
    "fdr": lambda *c: complement(ppv(*c)),
    "for": lambda *c: complement(npv(*c)),
    "f1_original": f1_original,
    "f1": lambda tp, fn, fp, tn: over(2 * tp, 2 * tp + fp + fn),
    "mcc": mcc,
    "pt": pt,
    "mb": lambda tp, fn, fp, tn: over(fp - fn, tp + fn + fp + tn),
    "mcc_limit": mcc_limit,
    "pt_limit": pt_limit,
    "balanced_accuracy": lambda *c: over(plus(tpr(*c), complement(fpr(*c))), 2),
    "informedness": lambda *c: plus(tpr(*c), complement(fpr(*c)), -1),
    "markedness": lambda *c: plus(ppv(*c), npv(*c), -1),
    "jaccard": lambda tp, fn, fp, tn: over(tp, tp + fn + fp),
    "fowlkes_mallows": lambda *c: root(times(ppv(*c), tpr(*c))),
    "kappa": kappa,
    "g_mean": lambda *c: root(times(tpr(*c), complement(fpr(*c)))),
    "lr_plus": lambda *c: over(tpr(*c), fpr(*c)),
    "lr_minus": lambda *c: over(complement(tpr(*c)), complement(fpr(*c))),
    "dor": lambda tp, fn, fp, tn: over(tp * tn, fp * fn),
    "f0.5": f_beta(Fraction(1, 2)),
    "f2": f_beta(Fraction(2)),
    "te_part": lambda tp, fn, fp, tn: over(fn, fp),
}


def minus(a: Value, b: Value) -> Value:
    return None if a is None or b is None else a - b


def equalized_odds(g: Cells, r: Cells) -> Value:
    gaps = [minus(rate(*g), rate(*r)) for rate in (tpr, fpr)]
    return None if None in gaps else max(abs(gap) for gap in gaps)


TWO_GROUPS: dict[str, Callable[[Cells, Cells], Value]] = {
    "ofi": lambda g, r: minus(ONE_GROUP["mb"](*g), ONE_GROUP["mb"](*r)),
    "te": lambda g, r: minus(ONE_GROUP["te_part"](*g), ONE_GROUP["te_part"](*r)),
    "equal_opportunity": lambda g, r: minus(tpr(*g), tpr(*r)),
    "predictive_equality": lambda g, r: minus(fpr(*g), fpr(*r)),
    "predictive_parity": lambda g, r: minus(ppv(*g), ppv(*r)),
    "demographic_parity": lambda g, r: minus(ONE_GROUP["ppr"](*g), ONE_GROUP["ppr"](*r)),
    "disparate_impact": lambda g, r: over(ONE_GROUP["ppr"](*g), ONE_GROUP["ppr"](*r)),
    "equalized_odds": equalized_odds,
}


# Laws


def multinomial(c: tuple[int, ...], w: list[int]) -> Fraction:
    ways = factorial(sum(c)) // prod(map(factorial, c))
    return ways * prod((Fraction(x, sum(w)) ** k for x, k in zip(w, c, strict=True)), start=Fraction(1))


def dirichlet_multinomial(c: tuple[int, ...], alpha: list[Fraction]) -> Fraction:
    ways = Fraction(factorial(sum(c)), prod(map(factorial, c)))
    rises = prod((_rise(a, k) for a, k in zip(alpha, c, strict=True)), start=Fraction(1))
    return ways * rises / _rise(sum(alpha, Fraction(0)), sum(c))


def hypergeometric(c: tuple[int, ...], totals: list[int]) -> Fraction:
    """Drawing without replacement is Dirichlet-multinomial with the totals turned negative."""
    if any(k > t for k, t in zip(c, totals, strict=True)):
        return Fraction(0)
    return dirichlet_multinomial(c, [Fraction(-t) for t in totals])


def _rise(a: Fraction, k: int) -> Fraction:
    return prod((a + i for i in range(k)), start=Fraction(1))


def laws(w: list[int]) -> dict[str, Callable[[tuple[int, ...]], Fraction]]:
    """The exact probability of a matrix under each law with reference counts ``w``."""
    half = [Fraction(1, 2) + x for x in w]
    return {
        "multinomial": lambda c: multinomial(c, w),
        "predictive": lambda c: dirichlet_multinomial(c, half),
        "without_replacement": lambda c: hypergeometric(c, w),
        "uniform": lambda c: dirichlet_multinomial(c, [Fraction(1)] * 4),
    }


def rank_scores(scores: Sequence[Value]) -> tuple[list[float], list[int]]:
    """The distinct scores in ascending order, and the place of each score among them; -1 where it is undefined.

    Fractions are equal or not; roots are equal if 40 digits are.
    """
    named = [v if v is None or isinstance(v, Fraction) else mpmath.nstr(v, 40) for v in scores]
    value_of = {name: v for name, v in zip(named, scores, strict=True) if v is not None}
    ordered = sorted(value_of, key=lambda name: value_of[name])
    place = {name: i for i, name in enumerate(ordered)} | {None: -1}
    return [float(value_of[name]) for name in ordered], [place[name] for name in named]


@lru_cache(maxsize=512)
def ranked_matrices(key: str, n: int) -> tuple[list[float], Any]:
    """The distinct scores of all matrices of n cases, and the rank of each matrix as an array; -1 where undefined."""
    values, ranks = rank_scores([ONE_GROUP[key](*cells) for cells in matrices(n)])
    return values, np.array(ranks)


@lru_cache(maxsize=64)
def probabilities(law: str, n: int, w: Cells) -> Any:
    """The exact probability of each matrix of n cases, rounded once."""
    return np.array([float(laws(list(w))[law](cells)) for cells in matrices(n)])


# Posteriors

# Scores that follow from one rate: the counts of the rate, and the score of it.
_RATE, _DICE = (lambda p: p), (lambda p: 2 * p / (1 + p))
_ODDS = lambda p: p / np.maximum(1 - p, 1e-300)  # noqa: E731
_CELLS = {"tp": 0, "fn": 1, "fp": 2, "tn": 3}


def _one_rate(part: str, rest: str, score: Callable[[Any], Any] = _RATE) -> Any:
    """The counts of a rate, named by cells, and the score of it."""
    return lambda *c: (sum(c[_CELLS[k]] for k in part.split()), sum(c[_CELLS[k]] for k in rest.split())), score


OF_ONE_RATE: dict[str, tuple[Callable[[int, int, int, int], tuple[int, int]], Callable[[Any], Any]]] = {
    "acc": _one_rate("tp tn", "fn fp"), "prev": _one_rate("tp fn", "fp tn"), "ppr": _one_rate("tp fp", "fn tn"),
    "inacc": _one_rate("fn fp", "tp tn"), "nprev": _one_rate("fp tn", "tp fn"), "pnr": _one_rate("fn tn", "tp fp"),
    "tpr": _one_rate("tp", "fn"), "fpr": _one_rate("fp", "tn"), "tnr": _one_rate("tn", "fp"),
    "fnr": _one_rate("fn", "tp"), "ppv": _one_rate("tp", "fp"), "npv": _one_rate("tn", "fn"),
    "fdr": _one_rate("fp", "tp"), "for": _one_rate("fn", "tn"), "jaccard": _one_rate("tp", "fn fp"),
    "f1": _one_rate("tp", "fn fp", _DICE), "f1_original": _one_rate("tp", "fn fp", _DICE),
    "te_part": _one_rate("fn", "fp", _ODDS),
}  # fmt: skip


def _det(p: Any, t: Any, f: Any) -> Any:
    return p * (1 - p) * (t - f)


def _selected(p: Any, t: Any, f: Any) -> Any:
    return p * t + (1 - p) * f


def _drawn_f_beta(b: float) -> Callable[[Any, Any, Any], Any]:
    return lambda p, t, f: (1 + b) * p * t / ((1 + b) * p * t + b * p * (1 - t) + (1 - p) * f)


# Scores of prevalence, TPR and FPR.
OF_THREE_RATES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mcc": lambda p, t, f: _det(p, t, f) / np.sqrt(p * (1 - p) * _selected(p, t, f) * _selected(p, 1 - t, 1 - f)),
    "kappa": lambda p, t, f: 2 * _det(p, t, f) / (_selected(p, t, f) * (1 - p) + p * _selected(p, 1 - t, 1 - f)),
    "pt": lambda p, t, f: np.sqrt(f) / (np.sqrt(t) + np.sqrt(f)),
    "balanced_accuracy": lambda p, t, f: (t + 1 - f) / 2,
    "informedness": lambda p, t, f: t - f,
    "fowlkes_mallows": lambda p, t, f: t * np.sqrt(p / _selected(p, t, f)),
    "g_mean": lambda p, t, f: np.sqrt(t * (1 - f)),
    "lr_plus": lambda p, t, f: t / f,
    "lr_minus": lambda p, t, f: (1 - t) / (1 - f),
    "dor": lambda p, t, f: t / (1 - t) * (1 - f) / f,
    "f0.5": _drawn_f_beta(0.25),
    "f2": _drawn_f_beta(4.0),
}
OF_THREE_RATES |= {"mcc_limit": OF_THREE_RATES["mcc"], "pt_limit": OF_THREE_RATES["pt"]}


def score_of_draws(key: str, draws: Any) -> Any:
    """The scores of random cell probabilities, shape (draws, 4)."""
    tp, fn, fp, tn = np.moveaxis(draws, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if key in OF_ONE_RATE:
            counts, score = OF_ONE_RATE[key]
            part, rest = counts(tp, fn, fp, tn)
            return score(part / (part + rest))
        if key == "mb":
            return fp - fn
        if key == "markedness":
            return tp / (tp + fp) - fn / (fn + tn)
        return OF_THREE_RATES[key](tp + fn, tp / (tp + fn), fp / (fp + tn))


@lru_cache(maxsize=96)
def _beta_draws(a: float, b: float, seed: tuple[int, ...], draws: int) -> Any:
    return np.random.default_rng(seed).beta(a, b, draws)


@lru_cache(maxsize=96)
def _mid_p_draws(a: int, b: int, seed: tuple[int, ...], draws: int) -> Any:
    """Rates of Beta(a, b + 1) or Beta(a + 1, b), each half of the time; without cases on a side, 0 or 1."""
    rng = np.random.default_rng(seed)
    low = rng.beta(a, b + 1, draws) if a else np.zeros(draws)
    high = rng.beta(a + 1, b, draws) if b else np.ones(draws)
    return np.where(rng.random(draws) < 0.5, low, high)


def drawn_scores(key: str, cells: Cells, seed: int, draws: int, prior: float | None = 0.5) -> Any:
    """Random true scores given counts: every split of the metric's tree has a Beta prior, or mid-p confidence."""

    def rate(a: int, b: int, which: int) -> Any:
        if prior is None:
            return _mid_p_draws(a, b, (seed, which), draws)
        return _beta_draws(a + prior, b + prior, (seed, which), draws)

    tp, fn, fp, tn = cells
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if key in OF_ONE_RATE:
            counts, score = OF_ONE_RATE[key]
            return score(rate(*counts(*cells), 0))
        if key == "mb":
            return rate(fn + fp, tp + tn, 0) * (2 * rate(fp, fn, 1) - 1)
        if key == "markedness":
            return rate(tp, fp, 1) - rate(fn, tn, 2)
        return OF_THREE_RATES[key](rate(tp + fn, fp + tn, 0), rate(tp, fn, 1), rate(fp, tn, 2))


# Whether a score rises or falls with each rate of its tree, whatever the others are.
SLOPES: dict[str, tuple[int, int, int]] = {
    "mcc": (0, 1, -1), "kappa": (0, 1, -1), "pt": (0, -1, 1), "lr_plus": (0, 1, -1), "lr_minus": (0, -1, 1),
    "markedness": (0, 1, -1), "mb": (0, 0, 1), "f2": (1, 1, -1),
}  # fmt: skip


@lru_cache(maxsize=1)
def _sobol_points() -> Any:
    from scipy.stats import qmc

    return qmc.Sobol(3, seed=1).random_base2(15)


@lru_cache(maxsize=512)
def _quasi_random_rates(part: int, rest: int, axis: int, end: str | float) -> Any:
    """Rates of Beta(part, rest + 1), Beta(part + 1, rest) or half of each; or of a posterior with this prior."""
    u = _sobol_points()[:, axis]
    if isinstance(end, float):
        return betaincinv(part + end, rest + end, u)
    is_low, level = {"low": u >= 0, "high": u < 0, "mid": u < 0.5}[end], 2 * u % 1 if end == "mid" else u
    rates = np.where(is_low, 0.0, 1.0)
    if part:
        rates[is_low] = betaincinv(part, rest + 1, level[is_low])
    if rest:
        rates[~is_low] = betaincinv(part + 1, rest, level[~is_low])
    return rates


def quasi_random_scores(key: str, cells: Cells, end: str | float = "mid") -> tuple[Any, float]:
    """32,768 true scores given counts, sorted, and the share of undefined ones, which are left out.

    ``end`` is the confidence in each rate, "mid" or that which makes the score "low" or "high"; or a Beta prior.
    """
    tp, fn, fp, tn = cells
    counts = {"mb": ((fn + fp, tp + tn), (0, 0), (fp, fn)), "markedness": ((0, 0), (tp, fp), (fn, tn))}
    scores = OF_THREE_RATES | {"mb": lambda p, t, f: p * (2 * f - 1), "markedness": lambda p, t, f: t - f}
    ends: list[str | float] = [end] * 3
    if end in ("low", "high"):
        ends = [{0: "mid", 1: end, -1: "high" if end == "low" else "low"}[slope] for slope in SLOPES[key]]
        # The case that is added for either end of marginal benefit is an error of the kind that moves it there.
        ends[0] = "high" if key == "mb" else ends[0]
    splits = counts.get(key, ((tp + fn, fp + tn), (tp, fn), (fp, tn)))
    rates = [_quasi_random_rates(*splits[axis], axis, ends[axis]) for axis in range(3)]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sort(scores[key](*rates))
    defined = found[~np.isnan(found)]
    return defined, 1 - len(defined) / len(found)


def down_the_tree(c: Any, w: Any, strength: Any) -> list[Fraction]:
    """Smoothed cells: prevalence, TPR and FPR are each (count + strength * reference's rate) / (size + strength).

    ``w`` are the reference's counts; a rate that it does not have is 1/2.
    """
    tp, fn, fp, tn = (Fraction(x) for x in c)
    a, b, x, y = (Fraction(v) for v in w)

    def rate(split: str, part: Fraction, whole: Fraction, prior: Fraction) -> Fraction:
        weight = Fraction(strength[split])
        return (part + weight * prior) / (whole + weight) if whole + weight else prior

    half, n = Fraction(1, 2), tp + fn + fp + tn
    prev = rate("prev", tp + fn, n, (a + b) / (a + b + x + y))
    tpr = rate("tpr", tp, tp + fn, a / (a + b) if a + b else half)
    fpr = rate("fpr", fp, fp + tn, x / (x + y) if x + y else half)
    return [(n or 1) * part for part in (prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr))]


# Mirrors ----------------------------------------------------------------------------------------------------------

# Swapping the classes exchanges TP with TN and FN with FP.
CLASSES_SWAPPED = {
    "acc": "acc", "inacc": "inacc", "prev": "nprev", "ppr": "pnr", "tpr": "tnr", "fpr": "fnr", "ppv": "npv",
    "fdr": "for", "mcc": "mcc", "mcc_limit": "mcc_limit", "balanced_accuracy": "balanced_accuracy",
    "informedness": "informedness", "markedness": "markedness", "kappa": "kappa", "g_mean": "g_mean", "dor": "dor",
}  # fmt: skip
# Swapping truth and prediction exchanges FN with FP.
SIDES_SWAPPED = {
    "acc": "acc", "inacc": "inacc", "prev": "ppr", "nprev": "pnr", "tpr": "ppv", "fnr": "fdr", "tnr": "npv",
    "fpr": "for", "f1": "f1", "f1_original": "f1_original", "jaccard": "jaccard", "f2": "f0.5",
    "fowlkes_mallows": "fowlkes_mallows", "mcc": "mcc", "mcc_limit": "mcc_limit", "kappa": "kappa", "dor": "dor",
    "informedness": "markedness",
}  # fmt: skip


def both_ways(table: dict[str, str]) -> list[tuple[str, str]]:
    """Every metric of a table of mirrors, and its mirror."""
    return list(dict.fromkeys([*table.items(), *((other, key) for key, other in table.items())]))
