"""How a strength chosen from the data fares beside fixed ones: exact squared errors relative to the raw score's.

Run it with ``.venv/bin/python benchmarks/auto_strength.py``; it takes about a minute. Over the paper's ten groups,
eleven distinct metrics and ten sizes, every matrix is listed with its probability, smoothed and scored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evenhand import ConfusionMatrix, choose_strength, enumerate_matrices, metric
from evenhand.inference.smoothing import _STRENGTHS
from evenhand.laws import DirichletMultinomial, law_of
from evenhand.paper.study import Study

Floats = NDArray[np.float64]
Chooser = Callable[[Floats, Floats, int], Floats]
METRICS = ("acc", "prev", "ppr", "tpr", "fpr", "ppv", "npv", "mb", "f1", "mcc", "pt_limit")
SIZES = (5, 10, 15, 20, 25, 35, 50, 75, 100, 149)


def auto(cells: Floats, prior: Floats, n: int) -> Floats:
    """`choose_strength` for many groups at once."""
    logs = []
    for strength in _STRENGTHS:
        tp, fn, fp, tn = (float(a) for a in strength * prior)
        logs.append(DirichletMultinomial(n, (tp, fn, fp, tn)).log_pmf(cells))
    belief = np.exp(np.array(logs) - np.max(logs, axis=0))
    belief /= belief.sum(axis=0)
    pull = (_STRENGTHS / (n + _STRENGTHS)) @ belief
    return np.asarray(n * pull / (1 - pull))


def fixed(strength: float) -> Chooser:
    return lambda cells, prior, n: np.full(len(cells), float(strength))


def main() -> None:
    choosers: dict[str, Chooser] = {"auto": auto, **{f"λ = {s}": fixed(s) for s in (5, 10, 20, 40)}}
    ratios: dict[str, dict[tuple[str, str, int], float]] = {name: {} for name in choosers}
    for n in SIZES:
        everything = enumerate_matrices(n).astype(np.float64)
        for group, (truth, reference) in Study().groups.items():
            weights = law_of(truth, n).pmf(everything)
            cells, w = everything[weights > 1e-16], weights[weights > 1e-16]
            if n == 20:
                chosen = choose_strength(ConfusionMatrix(*(int(c) for c in cells[7])), reference).value
                assert abs(auto(cells[7:8], reference.proportions, n)[0] - chosen) < 1e-9
            raw = {key: error(key, cells, truth, w) for key in METRICS}
            for name, choose in choosers.items():
                smoothed = cells + choose(cells, reference.proportions, n)[:, None] * reference.proportions
                for key in METRICS:
                    ratios[name][group, key, n] = error(key, smoothed, truth, w) / raw[key]
    print("| strength | mean | worst | where | share above 1 | share above 1.25 |")
    print("|---|---|---|---|---|---|")
    for name, found in ratios.items():
        values = np.array(list(found.values()))
        worst = max(found, key=lambda key: found[key])
        where = f"{worst[0]}, {worst[1]}, n = {worst[2]}"
        shares = f"{np.mean(values > 1):.1%} | {np.mean(values > 1.25):.1%}"
        print(f"| {name} | {values.mean():.3f} | {values.max():.2f} | {where} | {shares} |")


def error(key: str, cells: Floats, truth: ConfusionMatrix, w: Floats) -> float:
    """Mean squared error given defined."""
    errors = metric(key).scores(cells) - float(metric(key)(truth))
    defined = ~np.isnan(errors)
    return float(w[defined] @ errors[defined] ** 2 / w[defined].sum())


if __name__ == "__main__":
    main()
