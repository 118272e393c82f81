"""How strengths that are learnt from the other groups fare beside fixed ones, on real and on made-up groups.

Run it with ``.venv/bin/python benchmarks/strengths.py``; it takes under a minute and prints the table of
docs/explanation/smoothing.md. Each group of a collection is left out in turn: its strengths come from the others
(`learn_strengths`), its prior is the others added up, and its true rates are known. Samples of 10, 20, 50 and 100 are
drawn from those rates (seeded), smoothed and scored by nine metrics. A cell of the comparison is one group, metric and
size; its number is the mean squared error divided by that of the raw score, over samples in which the raw score is
defined. Cells whose raw error is below 1e-4 are left out: there is nothing to gain in them, and ratios explode.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from evenhand import ConfusionMatrix, CrossPrior, learn_strengths, metric
from evenhand.examples import compas, compas_violent, folktables_income

Floats = NDArray[np.float64]
Groups = Mapping[str, ConfusionMatrix]

METRICS = ("acc", "prev", "ppr", "tpr", "fpr", "ppv", "npv", "f1", "mcc")
SIZES = (10, 20, 50, 100)
FIXED = (2, 5, 10, 20, 40)
NAMES = ("auto", *(str(s) for s in FIXED))
# The average group of made-up collections: prevalence, TPR and FPR.
MEAN = np.array([0.3, 0.65, 0.25])
SPREADS: dict[str, tuple[float, float, float]] = {
    **{f"strength {s}": (s, s, s) for s in (1, 3, 10, 30, 100)},
    "prev 2, TPR 50, FPR 10": (2, 50, 10),
    "prev 50, TPR 2, FPR 10": (50, 2, 10),
}
MADE, DRAWS, FEWEST, LEAST_ERROR = 240, 300, 30, 1e-4


def relative_errors(
    groups: Groups, truths: Mapping[str, Floats], draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """For each group with known truth: squared errors over the raw one's, of shape (estimators, metrics, sizes)."""
    strengths = learn_strengths(groups)
    everyone = sum(groups.values(), ConfusionMatrix(0, 0, 0, 0))
    for name, truth in truths.items():
        rest = everyone - groups[name]
        cells = np.stack([rng.multinomial(n, truth, draws) for n in SIZES]).astype(np.float64)
        estimators = [CrossPrior(rest, strengths[name]), *(CrossPrior(rest, s) for s in FIXED)]
        every = np.stack([cells, *(how.smooth(cells) for how in estimators)])
        found = np.full((len(NAMES), len(METRICS), len(SIZES)), np.nan)
        for i, key in enumerate(METRICS):
            m = metric(key)
            errors = (m.scores(every) - float(m.scores(truth))) ** 2
            defined = ~np.isnan(errors[0])
            count = defined.sum(axis=-1)
            error = np.where(defined, errors, 0.0).sum(axis=-1) / np.maximum(count, 1)
            usable = (count >= FEWEST) & (error[0] >= LEAST_ERROR)
            found[:, i, usable] = error[1:, usable] / error[0, usable]
        yield found


def rates_of(groups: Groups, only: tuple[str, ...] = ()) -> dict[str, Floats]:
    return {name: cm.proportions for name, cm in groups.items() if not only or name in only}


def made_up(k: int, spread: tuple[float, float, float], rng: np.random.Generator) -> tuple[Groups, dict[str, Floats]]:
    """``k`` groups of 15 to 2,000 cases whose rates follow beta laws of the given strengths."""
    strength = np.array(spread)
    prev, tpr, fpr = np.clip(rng.beta(strength * MEAN, strength * (1 - MEAN), (k, 3)), 0.01, 0.99).T
    rates = np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=1)
    sizes = np.exp(rng.uniform(np.log(15), np.log(2_000), k)).astype(int)
    groups = {str(i): ConfusionMatrix(*rng.multinomial(sizes[i], rates[i]).tolist()) for i in range(k)}
    return groups, {str(i): rates[i] for i in range(k)}


def collections() -> Iterator[tuple[str, Floats]]:
    """Names, and relative errors of shape (groups, estimators, metrics, sizes)."""
    rng = np.random.default_rng(2024)
    income, violent, general = folktables_income(), compas_violent(), compas()
    ten = [
        *relative_errors(income, rates_of(income), 4 * DRAWS, rng),
        *relative_errors(violent, rates_of(violent, ("Black", "White")), 4 * DRAWS, rng),
    ]
    yield "the paper's ten groups", np.array(ten)
    yield "COMPAS, six groups", np.array(list(relative_errors(general, rates_of(general), 4 * DRAWS, rng)))
    for k in (6, 12, 20, 60):
        for name, spread in SPREADS.items():
            found: list[Floats] = []
            for _ in range(MADE // k):
                groups, truths = made_up(k, spread, rng)
                found += relative_errors(groups, truths, DRAWS, rng)
            yield f"{k} made up, {name}", np.array(found)
            print(k, name, file=sys.stderr)


def summary(errors: Floats) -> tuple[float, float, float]:
    """Mean, worst, and share above 1.25."""
    seen = errors[~np.isnan(errors)]
    return float(seen.mean()), float(seen.max()), float(np.mean(seen > 1.25))


def main() -> None:
    shown = ("auto", "5", "10", "20")
    print(
        "| collection | "
        + " | ".join(f"fixed {s}" if s != "auto" else s for s in shown)
        + " | best fixed | auto v best |"
    )
    print("|---|---|---|---|---|---|---|")
    apart: list[float] = []
    above: dict[str, list[float]] = {name: [] for name in NAMES}
    for name, errors in collections():
        found = {how: summary(errors[:, i]) for i, how in enumerate(NAMES)}
        best = min((str(s) for s in FIXED), key=lambda how: found[how][0])
        apart.append(found["auto"][0] / found[best][0] - 1)
        for how in NAMES:
            above[how].append(found[how][2])
        cells = [f"{found[how][0]:.2f}, {found[how][1]:.1f}, {100 * found[how][2]:.1f} %" for how in shown]
        print(f"| {name} | {' | '.join(cells)} | {best}: {found[best][0]:.2f} | {100 * apart[-1]:+.0f} % |", flush=True)
    within = sum(a <= 0.05 for a in apart)
    print(
        f"\nEach cell: mean of the relative errors, the worst of them, and the share above 1.25. Last column: the mean "
        f"of auto over that of the best fixed strength of {', '.join(map(str, FIXED))}, which nobody knows beforehand. "
        f"Auto is within 5 % of it, or better, in {within} of {len(apart)} collections, and at most "
        f"{100 * max(apart):.0f} % behind. Share above 1.25, averaged over the collections: "
        + ", ".join(f"{how} {100 * np.mean(above[how]):.1f} %" for how in shown)
        + "."
    )


if __name__ == "__main__":
    main()
