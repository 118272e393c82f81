"""Cross-Prior Smoothing and structured shrinkage: errors of TPR and accuracy in intersections of many columns.

Run it with ``nice .venv/bin/python benchmarks/structured.py``; it takes about ten minutes of one core and
prints the tables of docs/explanation/smoothing.md. ``--samples N`` draws fewer, to try it out. Intersections of several
columns have known rates and are drawn from them (seeded). Cross-Prior Smoothing shrinks each
intersection towards all others. Structured shrinkage uses that intersections share values of columns. Two methods are
implemented from the formulas of their papers:

- SureMap (Khodak, Mackey, Chouldechova and Dudík, 2024): observed rates y are normal around the true ones with
  variances s² / n, where s² is pooled over intersections; the true ones are normal around the overall rate with the
  covariance Σ_A τ_A C_A, one term for every set A of columns, where C_A is 1 for two intersections that agree in all
  columns of A. The estimate is the posterior mean; all τ_A minimise Stein's unbiased estimate of the squared error.
- Structured regression (Herlihy, Truong, Chouldechova and Dudík, 2024): a lasso of the rates on indicators of the
  values of columns and of pairs of columns, weighted by the number of cases, with a penalty from five-fold cross-
  validation of cases.

"One mean" is SureMap without columns: only the sets of none and of all of them. It shows what the columns add.

A number is the mean squared error over intersections divided by that of the raw rates, over samples in which the raw
rate is defined; then the largest such ratio of any single intersection whose raw error is at least 1e-4 and whose raw
rate is defined in 20 samples or more.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import lasso_path
from strengths import CHOSEN, LEAST_ERROR, Sample, Strengthener, fixed, learnt, print_row, rates

from evenhand import metric
from evenhand.examples import compas
from evenhand.inference import smoothing as learning

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scores = dict[str, Floats]
"""The scores of all intersections, by metric."""
Estimator = Callable[["Intersections", Sample], Scores]

METRICS = {"tpr": "TPR", "acc": "Accuracy"}
FOLDS, PENALTIES = 5, 40
TRUTHS, SAMPLES, FEWEST = 2, 30, 20
# Least and largest variance of effects that is considered, and where the search begins: other beginnings end there too.
VARIANCES, BEGIN = np.log([1e-7, 1.0]), np.log(1e-3)


# ------------------------------------------------------------------------------------------------------ intersections


@dataclass(frozen=True)
class Intersections:
    """Intersections of columns, one row of values each, with true rates of cells, and samples of them.

    ``far`` are those whose score is far from what their columns suggest, by metric.
    """

    values: Ints
    truth: Floats
    samples: list[Sample]
    far: Mapping[str, NDArray[np.bool_]]


def crossed(shape: tuple[int, ...]) -> Ints:
    """All intersections of columns with so many values each."""
    return np.stack(np.meshgrid(*[np.arange(s) for s in shape], indexing="ij"), axis=-1).reshape(-1, len(shape))


def survey_sizes(values: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Sizes as in a survey: columns with unequal values, nearly independent, and at least three cases each."""
    shares = np.exp(rng.normal(0, 0.3, len(values)))
    for column in values.T:
        shares *= rng.dirichlet(np.full(column.max() + 1, 2.0))[column]
    return np.asarray(np.maximum(3, count * shares / shares.sum()), dtype=np.int64)


def effects(values: Ints, sets: int, spread: float, rng: np.random.Generator) -> Floats:
    """Normal effects of the values of all sets of so many columns, with this spread each."""
    found = np.zeros(len(values))
    for columns in combinations(range(values.shape[1]), sets):
        _, codes = np.unique(values[:, columns], axis=0, return_inverse=True)
        found += rng.normal(0, spread, codes.max() + 1)[codes.ravel()]
    return found


def truths(kind: str, values: Ints, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    """Rates of cells whose prevalence, TPR and FPR have effects on the log odds, and which are far off."""
    columns = values.shape[1]
    found, far = [], np.zeros((3, len(values)), dtype=bool)
    for each, centre in enumerate((0.3, 0.65, 0.25)):
        log_odds = np.full(len(values), logit(centre))
        if kind in ("additive", "additive and interactions", "additive, one in 20 far off"):
            log_odds += effects(values, 1, 0.8 / np.sqrt(columns), rng)
        if kind == "additive and interactions":
            log_odds += effects(values, 2, 0.3 / np.sqrt(columns), rng) + effects(values, columns, 0.5, rng)
        if kind == "interactions only":
            log_odds += effects(values, columns, 0.8, rng)
        if kind == "additive, one in 20 far off":
            far[each] = rng.permutation(len(values)) < len(values) / 20
            log_odds += np.where(far[each], rng.choice([-2, 2]), 0)
        found.append(np.clip(expit(log_odds), 0.03, 0.97))
    return rates(*found), far


KINDS = ("additive", "additive and interactions", "additive, one in 20 far off", "interactions only", "no differences")


def made(kind: str, shape: tuple[int, ...], count: int, samples: int, rng: np.random.Generator) -> list[Intersections]:
    """Some truths of one kind, each with samples of all intersections."""
    values, found = crossed(shape), []
    for _ in range(TRUTHS):
        truth, far = truths(kind, values, rng)
        sizes = survey_sizes(values, count, rng)
        found.append(drawn(values, truth, sizes, samples, rng, {"tpr": far[1], "acc": np.logical_or.reduce(far)}))
    return found


def drawn(
    values: Ints,
    truth: Floats,
    sizes: Ints,
    samples: int,
    rng: np.random.Generator,
    far: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Intersections:
    cells = rng.multinomial(np.tile(sizes, (samples, 1)), truth).tolist()
    nobody = dict.fromkeys(METRICS, np.zeros(len(values), dtype=bool))
    return Intersections(values, truth, [Sample.of(each) for each in cells], far or nobody)


def like_compas(samples: int, rng: np.random.Generator) -> list[Intersections]:
    """COMPAS's races, with their sizes and rates, with made-up sexes and ages; 36 intersections of 7,214 people.

    A fifth are women; 22, 57 and 21% are young, of middle age and old. Young people are convicted and called risky
    more often, women and old people less often; each intersection deviates from that a little.
    """
    races = list(compas().values())
    values, found = crossed((len(races), 2, 3)), []
    share = np.array([0.81, 0.19])[values[:, 1]] * np.array([0.22, 0.57, 0.21])[values[:, 2]]
    sizes = np.maximum(1, np.array([cm.n for cm in races])[values[:, 0]] * share).astype(np.int64)
    own = np.array([cm.proportions for cm in races])
    prevalence = own[:, 0] + own[:, 1]
    by_race = [prevalence, own[:, 0] / prevalence, own[:, 2] / (1 - prevalence)]
    for _ in range(TRUTHS):
        each = []
        for rate, sex, age in zip(by_race, (-0.4, -0.1, -0.1), (0.4, 0.8, 0.8), strict=True):
            log_odds = logit(rate)[values[:, 0]] + sex * values[:, 1] + age * (1 - values[:, 2])
            each.append(expit(log_odds + rng.normal(0, 0.15, len(values))))
        found.append(drawn(values, rates(*each), sizes, samples, rng))
    return found


def collections(samples: int) -> Iterator[tuple[str, list[Intersections]]]:
    rng = np.random.default_rng(2411)
    for shape, count in (((7, 5, 3), 5_000), ((5, 4, 4, 3), 10_000)):
        for kind in KINDS:
            name = f"{np.prod(shape)} ({'×'.join(map(str, shape))}), {kind}"
            yield name, made(kind, shape, count, samples, rng)
    yield "300 (5×5×4×3), additive, 60,000 rows", made("additive", (5, 5, 4, 3), 60_000, samples, rng)
    yield "36 like COMPAS's (6×2×3)", like_compas(samples, rng)


# ----------------------------------------------------------------------------------------------------- estimators


def counted(sample: Sample, key: str) -> tuple[Floats, Floats]:
    """What a rate counts, and of how many cases, by intersection."""
    tp, fn, fp, tn = np.array([cm.cells for cm in sample.groups.values()], dtype=np.float64).T
    return (tp, tp + fn) if key == "tpr" else (tp + tn, tp + fn + fp + tn)


def smoothing(strengthener: Strengthener) -> Estimator:
    """Cross-Prior Smoothing; all scores follow from one smoothed matrix."""

    def scores(intersections: Intersections, sample: Sample) -> Scores:
        cells = sample.smoothed(strengthener(sample))
        return {key: np.asarray(metric(key).scores(cells)) for key in METRICS}

    return scores


def each_alone(estimate: Callable[[Ints, Floats, Floats], Floats]) -> Estimator:
    """A method that estimates each rate on its own, from what it counts and of how many cases."""

    def scores(intersections: Intersections, sample: Sample) -> Scores:
        return {key: estimate(intersections.values, *counted(sample, key)) for key in METRICS}

    return scores


def agreements(values: Ints, sets: list[tuple[int, ...]]) -> list[Floats]:
    """For each set of columns, which intersections agree in all of them."""
    return [(values[:, None, list(a)] == values[None, :, list(a)]).all(axis=2).astype(np.float64) for a in sets]


def sets_of(columns: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(columns + 1) for chosen in combinations(range(columns), size)]


def sure(structured: bool, values: Ints, part: Floats, whole: Floats) -> Floats:
    """SureMap for one task: the posterior mean, with variances of effects that minimise Stein's estimate."""
    seen = whole > 0
    y, n = part[seen] / whole[seen], whole[seen]
    overall = part.sum() / whole.sum()
    noise = max(float((n * y * (1 - y)).sum() / np.maximum(n - 1, 0).sum()), 1e-6) / n
    columns = values.shape[1]
    sets = sets_of(columns) if structured else [(), tuple(range(columns))]
    every = agreements(values, sets)
    within = np.array([c[np.ix_(seen, seen)] for c in every])
    flat = within.reshape(len(sets), -1)
    away = y - overall

    def risk(log_variances: Floats) -> tuple[float, Floats]:
        """Stein's unbiased estimate of the squared error, without its constant, and its gradient."""
        variances = np.exp(log_variances)
        whole_covariance = (variances @ flat).reshape(within.shape[1:]) + np.diag(noise)
        inverse = cho_solve(cho_factor(whole_covariance), np.eye(len(y)))
        v = inverse @ away
        left = noise * v
        value = left @ left - 2 * (noise**2 * np.diag(inverse)).sum()
        u = inverse @ (noise * left)
        curved = (inverse * noise**2) @ inverse
        slopes = 2 * (flat @ (curved - np.outer(u, v)).ravel())
        return float(value), slopes * variances

    bounds = [(float(VARIANCES[0]), float(VARIANCES[1]))] * len(sets)
    start = np.full(len(sets), BEGIN, dtype=np.float64)
    found = minimize(risk, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-6})
    variances = np.exp(found.x)
    covariance = np.tensordot(variances, np.array(every), axes=1)
    seen_only = covariance[np.ix_(seen, seen)] + np.diag(noise)
    return np.asarray(np.clip(overall + covariance[:, seen] @ np.linalg.solve(seen_only, away), 0, 1))


def indicators(values: Ints) -> Floats:
    """Indicators of the values of columns and of pairs of columns."""
    found = []
    for columns in sets_of(values.shape[1])[1:]:
        if len(columns) <= 2:
            _, codes = np.unique(values[:, columns], axis=0, return_inverse=True)
            found.append(np.eye(codes.max() + 1)[codes.ravel()])
    return np.concatenate(found, axis=1)


def lasso(x: Floats, part: Floats, whole: Floats, penalties: Floats | None) -> tuple[Floats, Floats]:
    """Fitted rates of all intersections for each penalty, and the penalties; the intercept is not penalised."""
    y = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    weights = whole / whole.sum()
    centre, middle = weights @ x, weights @ y
    root = np.sqrt(weights * len(weights))
    x, y = x - centre, y - middle
    if penalties is None:
        # From the least one that leaves no effect to a thousandth of it.
        penalties = float(np.abs(x.T @ (weights * y)).max() + 1e-12) * np.geomspace(1, 1e-3, PENALTIES)
    _, slopes, _ = lasso_path(root[:, None] * x, root * y, alphas=penalties, max_iter=3_000)
    return middle + x @ slopes, penalties


def regression(values: Ints, part: Floats, whole: Floats) -> Floats:
    """Structured regression; cases are dealt to five folds for the choice of the penalty."""
    x = indicators(values)
    fitted, penalties = lasso(x, part, whole, None)
    rng = np.random.default_rng(int(part.sum()))
    yes_left, no_left = part.astype(np.int64), (whole - part).astype(np.int64)
    error = np.zeros(len(penalties))
    for fold in range(FOLDS):
        share = 1 / (FOLDS - fold)
        yes, no = rng.binomial(yes_left, share), rng.binomial(no_left, share)
        yes_left, no_left = yes_left - yes, no_left - no
        guess, _ = lasso(x, part - yes, whole - yes - no, penalties)
        error += yes @ (1 - guess) ** 2 + no @ guess**2
    return np.clip(fitted[:, np.argmin(error)], 0, 1)


def estimators() -> dict[str, Estimator]:
    ours = learning._CENTRE, learning._SIGMA
    return {
        **{f"fixed {s}": smoothing(partial(fixed, float(s))) for s in (5, 10, 20)},
        "auto": smoothing(partial(learnt, CHOSEN, ours)),
        "auto, no limit": smoothing(partial(learnt, "no limit", ours)),
        "one mean": each_alone(partial(sure, False)),
        "SureMap": each_alone(partial(sure, True)),
        "regression": each_alone(regression),
    }


# ----------------------------------------------------------------------------------------------------------- errors


@dataclass(frozen=True)
class Errors:
    """Squared errors over the raw ones: of all intersections, of the worst, of those far off; the share made worse."""

    mean: float
    worst: float
    far: float | None
    harmed: float

    def __str__(self) -> str:
        return f"{self.mean:.2f}, {self.worst:.1f}"


def relative_errors(of: list[Intersections], estimator: Estimator) -> dict[str, Errors]:
    """The errors of each metric over all truths of a kind."""
    found = {}
    scores = [[estimator(intersections, sample) for sample in intersections.samples] for intersections in of]
    for key in METRICS:
        sums, far, ratios = np.zeros(2), np.zeros(2), []
        for intersections, estimates in zip(of, scores, strict=True):
            truth = metric(key).scores(intersections.truth)
            counts = np.array([counted(sample, key) for sample in intersections.samples])
            part, whole = counts[:, 0], counts[:, 1]
            defined = whole > 0
            observed = np.divide(part, whole, out=np.zeros_like(part), where=defined)
            errors = np.array([np.array([one[key] for one in estimates]), observed]) - truth
            count = defined.sum(axis=0)
            both = np.where(defined, errors**2, 0.0).sum(axis=1) / np.maximum(count, 1)
            sums, far = sums + both.sum(axis=1), far + both[:, intersections.far[key]].sum(axis=1)
            usable = (count >= FEWEST) & (both[1] >= LEAST_ERROR)
            ratios.append(both[0, usable] / both[1, usable])
        every = np.concatenate(ratios)
        of_far = float(far[0] / far[1]) if far[1] else None
        found[key] = Errors(float(sums[0] / sums[1]), float(every.max()), of_far, float((every > 1).mean()))
    return found


Table = dict[tuple[str, str], dict[str, Errors]]
"""Errors by collection and method, and then by metric."""


def measured(samples: int) -> tuple[Table, list[str]]:
    table: Table = {}
    names = []
    for name, of in collections(samples):
        names.append(name)
        for how, estimator in estimators().items():
            began = time.process_time()
            table[name, how] = relative_errors(of, estimator)
            print(f"{time.process_time() - began:6.1f} s  {name}: {how}", file=sys.stderr, flush=True)
    return table, names


def print_errors(table: Table, names: list[str]) -> None:
    """A table for each metric: the errors of each method, and the share of intersections that it made worse."""
    shown = list(estimators())
    for key, title in METRICS.items():
        print()
        print_row(f"{title} of intersections", *shown)
        print_row(*["---"] * (len(shown) + 1))
        for name in names:
            print_row(name, *(str(table[name, how][key]) for how in shown))
            far = [table[name, how][key].far for how in shown]
            if None not in far:
                print_row("… of which those far off", *(f"{each:.2f}" for each in far))
        harmed = [np.mean([table[name, how][key].harmed for name in names]) for how in shown]
        print_row("*made worse, on average*", *(f"*{share:.0%}*" for share in harmed))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each truth")
    print_errors(*measured(parser.parse_args().samples))


if __name__ == "__main__":
    main()
