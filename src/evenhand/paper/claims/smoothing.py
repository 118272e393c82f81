"""Claims about Cross-Prior Smoothing and its experiments (Sections 6 and 7, Appendix F)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from ..study import METRICS, Study
from ..tables import PRINTED_PRIORS, distances
from .claim import Claim, Outcome, grade

__all__ = ["SMOOTHING"]

Floats = NDArray[np.float64]

_PLOTTED = {"cps5": "λ = 5", "cps10": "λ = 10", "cps20": "λ = 20"}


class _Failures(NamedTuple):
    """Where smoothing does not reduce the error: points (group, metric, n), experiments (group, metric), averages."""

    points: int
    experiments: int
    averaged: int


def _failures(study: Study, baseline: str, strength: str) -> _Failures:
    worse = np.array([study.curves(m, strength) >= study.curves(m, baseline) for m in study.metrics])
    averaged = np.array([study.average(m, strength) >= study.average(m, baseline) for m in study.metrics])
    return _Failures(int(worse.sum()), int(worse.any(axis=2).sum()), int(averaged.sum()))


def _every_experiment(study: Study, baseline: str) -> Outcome:
    failures = {s: _failures(study, baseline, s) for s in (*_PLOTTED, "cps40")}
    experiments = len(study.metrics) * len(study.groups)
    points, averaged = experiments * len(study.sizes), len(study.metrics) * len(study.sizes)
    counts = "; ".join(
        f"{(_PLOTTED | {'cps40': 'λ = 40'})[s]}: {f.points:,} of {points:,} points in {f.experiments} of {experiments} "
        f"experiments (group and metric), {f.averaged:,} of {averaged:,} averages over the groups"
        for s, f in failures.items()
    )
    return grade(not any(failures[s].points for s in _PLOTTED), f"CPS does not reduce the error at: {counts}")


def every_experiment(study: Study) -> Outcome:
    return _every_experiment(study, "eps1e-10")


def dominates_raw(study: Study) -> Outcome:
    return _every_experiment(study, "raw")


def all_fifteen(study: Study) -> Outcome:
    reduced = {
        s: sum(bool((study.average(m, s) < study.average(m, "raw")).all()) for m in study.metrics) for s in _PLOTTED
    }
    counts = ", ".join(f"{reduced[s]} with {label}" for s, label in _PLOTTED.items())
    worst = max(float((study.curves(m, "cps20") / study.curves(m, "raw")).max()) for m in study.metrics)
    return grade(
        all(count == len(study.metrics) for count in reduced.values()),
        f"metrics, of {len(study.metrics)}, whose error averaged over the groups is smaller at every n: {counts}; in a "
        f"single group the error is up to {worst:.2f} times that of the raw score (λ = 20)",
    )


def small_samples(study: Study) -> Outcome:
    small, large = study.sizes < 20, study.sizes >= 100
    gains = {m: study.average(m, "raw") - study.average(m, "cps10") for m in study.metrics}
    larger = [m for m in study.metrics if gains[m][small].mean() > gains[m][large].mean()]
    return grade(
        len(larger) == len(study.metrics),
        f"λ = 10: the error falls by more at n < 20 than at n ≥ 100 for {len(larger)} of {len(study.metrics)} metrics; "
        f"for TPR by {gains['tpr'][small].mean():.4f} and {gains['tpr'][large].mean():.4f}",
    )


def less_variance(study: Study) -> Outcome:
    less = {
        s: np.array([study.curves(m, s, "variance") < study.curves(m, "raw", "variance") for m in study.metrics])
        for s in _PLOTTED
    }
    counts = ", ".join(f"{less[s].sum():,} with {label}" for s, label in _PLOTTED.items())
    return grade(
        all(bool(points.all()) for points in less.values()),
        f"points, of {less['cps5'].size:,}, at which CPS has less variance than the raw score: {counts}",
    )


def fifteen_metrics(study: Study) -> Outcome:
    listed = 8 + 6 + len(("mb", "mcc", "f1", "pt"))
    complements = {"acc": "inacc", "prev": "nprev", "ppr": "pnr"}
    difference = 0.0
    for truth, reference in study.groups.values():
        for how in (eh.Raw(), eh.CrossPrior(reference, 5)):
            for key, other in complements.items():
                difference = max(difference, abs(eh.risk(key, truth, 20, how).mse - eh.risk(other, truth, 20, how).mse))
    distinct = {study.average(m, "raw").round(12).tobytes() for m in METRICS}
    return grade(
        listed == len(METRICS),
        f"eight joint ratio metrics, six binomial metrics and four others make {listed}; the experiments cover "
        f"{len(METRICS)}, with three binomial metrics, whose errors differ by at most {difference:.0e} from those of "
        f"their complements, the other three; {len(distinct)} of the {len(METRICS)} curves are distinct",
        on_condition=len(METRICS) == 15 and difference < 1e-12,
    )


def tight_bands(study: Study) -> Outcome:
    spans = {m: study.curves(m, "cps5")[:, 0] for m in ("mcc", "fpr", "tpr", "pt")}
    values = ", ".join(f"{m} {span.min():.3f} to {span.max():.3f}" for m, span in spans.items())
    return grade(
        all(float(span.max() / span.min()) < 1.1 for span in spans.values()),
        f"exact mean squared errors with λ = 5 at n = {study.sizes[0]}, smallest and largest of the groups: {values}; "
        "the paper's bands are bootstraps of pooled quantiles and do not show this spread",
    )


def _areas(study: Study) -> dict[str, float]:
    """For each metric, the area between the averaged curves with ε = 1e-10 and with λ = 5."""
    return {m: study.area(study.average(m, "eps1e-10") - study.average(m, "cps5")) for m in study.metrics}


def pt_gains_most(study: Study) -> Outcome:
    areas = _areas(study)
    ranking = sorted(areas, key=areas.__getitem__, reverse=True)
    values = ", ".join(f"{m} {areas[m]:.3f}" for m in ranking)
    gains = {m: study.curves(m, "eps1e-10") - study.curves(m, "cps5") for m in study.metrics}
    first = sum(max(study.metrics, key=lambda m: study.area(gains[m][g])) == "pt" for g in range(len(study.groups)))
    return grade(
        ranking[0] == "pt",
        f"areas between the averaged curves: {values}; within single groups PT ranks first in {first} of "
        f"{len(study.groups)}",
    )


def fpr_gains_least(study: Study) -> Outcome:
    areas = _areas(study)
    smallest = min(areas, key=areas.__getitem__)
    return grade(
        smallest == "fpr",
        f"the smallest area between the averaged curves is that of {smallest}, {areas[smallest]:.3f}; that of fpr is "
        f"{areas['fpr']:.3f}",
    )


def _tpr_errors(study: Study, estimator: eh.results.Estimator) -> Floats:
    """The mean squared error of TPR for n = 1..149, with one row per group."""
    curves = [eh.risk("tpr", truth, range(1, 150), estimator) for truth, _ in study.groups.values()]
    return np.array([[risk.mse for risk in curve] for curve in curves])


def tpr_rises(study: Study) -> Outcome:
    curves = _tpr_errors(study, eh.Additive(1e-10))
    average = curves.mean(axis=0)
    peak, peaks = int(average.argmax()) + 1, curves.argmax(axis=1) + 1
    return grade(
        bool((np.diff(average[:peak]) > 0).all()) and abs(peak - 8) <= 1,
        f"averaged over the groups: {average[0]:.4f} at n = 1, {average[4]:.4f} at n = 5, maximum {average.max():.5f} "
        f"at n = {peak}, {average[9]:.4f} at n = 10; in single groups the maximum is at n = {peaks.min()} to "
        f"{peaks.max()}",
    )


def tpr_stabilises(study: Study) -> Outcome:
    average = _tpr_errors(study, eh.Additive(1e-10)).mean(axis=0)
    values = ", ".join(f"{average[n - 1]:.3f} at n = {n}" for n in (8, 20, 50, 100, 149))
    return grade(bool(average[8:].min() > 0.9 * average[7]), f"averaged over the groups: {values}")


def unnoticeable(study: Study) -> Outcome:
    keys = ("tpr", "mcc", "pt")
    undefined = {m: study.curves(m, "raw", "p_undefined")[:, 0] for m in keys}
    shares = ", ".join(f"{m} {share.mean():.1%} (at most {share.max():.1%})" for m, share in undefined.items())
    changes = {m: float(study.average(m, "eps1e-10")[0] / study.average(m, "raw")[0] - 1) for m in keys}
    return grade(
        max(map(abs, changes.values())) < 0.01,
        f"ε = 1e-10 replaces an undefined score by a fixed value, such as 1/2 for a rate; at n = {study.sizes[0]} this "
        f"affects these shares of samples: {shares}; it changes the mean squared error by "
        + ", ".join(f"{m} {change:+.0%}" for m, change in changes.items()),
    )


def tpr_descends(study: Study) -> Outcome:
    average = _tpr_errors(study, eh.Raw()).mean(axis=0)
    rises = int((np.diff(average) >= 0).sum())
    return grade(
        not rises,
        f"averaged over the groups, the error falls at {len(average) - 1 - rises} of {len(average) - 1} steps from n = "
        "1 to n = 149",
    )


def tpr_starts(study: Study) -> Outcome:
    average = _tpr_errors(study, eh.Raw()).mean(axis=0)
    return grade(
        any(abs(start - 0.035) < 0.0005 for start in (average[0], average[4])),
        f"averaged over the groups: {average[0]:.4f} at n = 1 and {average[4]:.4f} at n = 5, where the plots start",
    )


def fewer_undefined(study: Study) -> Outcome:
    raw = max(float(study.curves(m, "raw", "p_undefined").mean(axis=0)[0]) for m in study.metrics)
    smoothed = max(float(study.curves(m, "cps5", "p_undefined").max()) for m in study.metrics)
    return grade(
        smoothed < raw / 100,
        f"at n = {study.sizes[0]} up to {raw:.1%} of raw scores are undefined, averaged over the groups; with λ = 5 at "
        f"most {smoothed:.1%} in any group and at any n (no reference has an empty cell)",
    )


def prevalence_best(study: Study) -> Outcome:
    others = np.minimum(study.average("prev", "raw"), study.average("prev", "add1"))
    best = {s: int((study.average("prev", s) < others).sum()) for s in _PLOTTED}
    counts = ", ".join(f"{best[s]} with {label}" for s, label in _PLOTTED.items())
    by_group = np.minimum(study.curves("prev", "raw"), study.curves("prev", "add1"))
    beaten = np.any([(study.curves("prev", s) >= by_group).any(axis=1) for s in _PLOTTED], axis=0)
    groups = [group for group, is_beaten in zip(study.groups, beaten, strict=True) if is_beaten]
    return grade(
        all(count == len(study.sizes) for count in best.values()),
        f"sizes, of {len(study.sizes)}, at which CPS has the smallest error averaged over the groups: {counts}; groups "
        f"in which raw or add-one is better at some n: {', '.join(groups) or 'none'}",
    )


def diminishing(study: Study) -> Outcome:
    totals = {s: study.area(study.average("prev", s)) for s in ("raw", *_PLOTTED)}
    gains = -np.diff(list(totals.values()))
    return grade(
        bool((np.diff(gains) < 0).all()),
        "error of prevalence summed over n: " + ", ".join(f"{total:.3f} with {s}" for s, total in totals.items()),
    )


def forty_is_worse(study: Study) -> Outcome:
    totals = {s: study.area(_prevalence_error(study, s)) for s in (10, 40, 80)}
    values = ", ".join(f"{total:.3f} with λ = {s}" for s, total in totals.items())
    better = [m for m in study.metrics if study.area(study.average(m, "cps40") - study.average(m, "cps10")) < 0]
    return grade(
        min(totals[40], totals[80]) > totals[10],
        f"error of prevalence summed over n: {values}; of all {len(study.metrics)} metrics, λ = 40 is better than "
        f"λ = 10 for {len(better)}",
    )


def _prevalence_error(study: Study, strength: float) -> Floats:
    """The mean squared error of prevalence, averaged over the groups, for every n."""
    curves = [
        eh.risk("prev", truth, study.sizes.tolist(), eh.CrossPrior(reference, strength))
        for truth, reference in study.groups.values()
    ]
    average: Floats = np.mean([[risk.mse for risk in curve] for curve in curves], axis=0)
    return average


def add_one_worse(study: Study) -> Outcome:
    keys = ("npv", "for", "prev")
    averaged = {m: int((study.average(m, "add1") > study.average(m, "raw")).sum()) for m in keys}
    groups = {m: int((study.curves(m, "add1") > study.curves(m, "raw")).all(axis=1).sum()) for m in keys}
    return grade(
        all(count == len(study.sizes) for count in averaged.values()),
        f"sizes, of {len(study.sizes)}, at which add-one is worse averaged over the groups: "
        + ", ".join(f"{m} {count}" for m, count in averaged.items())
        + f"; groups, of {len(study.groups)}, in which it is worse at every n: "
        + ", ".join(f"{m} {count}" for m, count in groups.items()),
    )


def add_one_better(study: Study) -> Outcome:
    keys = ("fnr", "tpr")
    averaged = {m: int((study.average(m, "add1") < study.average(m, "cps10")).sum()) for m in keys}
    groups = {m: int((study.curves(m, "add1") < study.curves(m, "cps10")).all(axis=1).sum()) for m in keys}
    return grade(
        all(count == len(study.sizes) for count in averaged.values()),
        f"sizes, of {len(study.sizes)}, at which add-one is better averaged over the groups: "
        + ", ".join(f"{m} {count}" for m, count in averaged.items())
        + f"; groups, of {len(study.groups)}, in which it is better at every n: "
        + ", ".join(f"{m} {count}" for m, count in groups.items()),
    )


def higher_beats_add_one(study: Study) -> Outcome:
    better = [m for m in study.metrics if study.area(study.average(m, "add1") - study.average(m, "cps20")) > 0]
    lost = study.sizes[study.average("tpr", "cps20") > study.average("tpr", "add1")]
    sizes = f"n = {lost.min()} to {lost.max()}" if len(lost) else "no n"
    return grade(
        len(better) == len(study.metrics),
        f"λ = 20 has the smaller error, averaged over the groups and summed over n, for {len(better)} of "
        f"{len(study.metrics)} metrics; for TPR add-one is better at {sizes}",
    )


def bashful(study: Study) -> Outcome:
    better = {m: study.average(m, "eps1e-10") < study.average(m, "raw") for m in ("tpr", "mcc")}
    until = {m: int(study.sizes[np.logical_and.accumulate(wins)].max(initial=0)) for m, wins in better.items()}
    changes = {m: study.average(m, "eps1e-10")[0] / study.average(m, "raw")[0] - 1 for m in ("tpr", "mcc", "npv")}
    return grade(
        all(bool(wins.all()) for wins in better.values()),
        "ε = 1e-10 has the smaller error averaged over the groups at every n up to "
        + " and ".join(f"{n} for {m}" for m, n in until.items())
        + f"; at n = {study.sizes[0]} it changes the error by "
        + ", ".join(f"{m} {change:+.2%}" for m, change in changes.items()),
        on_condition=min(until.values()) >= 20,
    )


def stronger_is_better(study: Study) -> Outcome:
    keys = ("tpr", "mcc")
    averaged = {m: int((study.average(m, "cps20") < study.average(m, "cps5")).sum()) for m in keys}
    groups = {m: int((study.curves(m, "cps20") < study.curves(m, "cps5")).all(axis=1).sum()) for m in keys}
    return grade(
        all(count == len(study.sizes) for count in averaged.values()),
        f"sizes, of {len(study.sizes)}, at which λ = 20 is better averaged over the groups: "
        + ", ".join(f"{m} {count}" for m, count in averaged.items())
        + f"; groups, of {len(study.groups)}, in which it is better at every n: "
        + ", ".join(f"{m} {count}" for m, count in groups.items()),
    )


def no_holes_no_change(study: Study) -> Outcome:
    change = max(
        float(np.abs(study.average(m, "eps1e-10") / study.average(m, "raw") - 1).max())
        for m in ("acc", "prev", "ppr", "mb")
    )
    return grade(change < 1e-6, f"the largest relative change of the error is {change:.1e}")


def printed_shares(study: Study) -> Outcome:
    corrected = [cm.proportions for cm in study.groups["COMPAS/Black"]]
    printed = [PRINTED_PRIORS[name] for name in ("Black", "All other races")]
    values = "; ".join(
        f"{name}: printed {_cells(p)}, from the counts {_cells(c)}"
        for name, p, c in zip(("Black", "all other races"), printed, corrected, strict=True)
    )
    return grade(
        all(bool((np.abs(np.subtract(p, c)) < 0.0051).all()) for p, c in zip(printed, corrected, strict=True)),
        f"TP, FN, FP, TN of {values}",
    )


def _cells(shares: tuple[float, ...] | Floats) -> str:
    return " ".join(f"{share:.2f}" for share in shares)


def closest_prior(study: Study) -> Outcome:
    gaps = distances(study)
    totals = {name: float(gap.sum()) for name, gap in gaps.items()}
    closer = [
        f"{cell} ({uniform:.3f} against {cps:.3f})"
        for cell, uniform, cps in zip(("TP", "FN", "FP", "TN"), gaps["uniform"], gaps["CPS"], strict=True)
        if uniform < cps
    ]
    return grade(
        not closer and min(totals, key=totals.__getitem__) == "CPS",
        f"sum of absolute differences: {', '.join(f'{name} {total:.3f}' for name, total in totals.items())}; cells for "
        f"which the uniform prior is closer than CPS: {', '.join(closer) or 'none'}",
        on_condition=min(totals, key=totals.__getitem__) == "CPS",
    )


def most_do_not_reoffend(study: Study) -> Outcome:
    violent, general = (sum(g.values(), eh.ConfusionMatrix(0, 0, 0, 0)) for g in (study.compas, eh.examples.compas()))
    rates = [eh.metric("prev")(cm) for cm in (violent, general)]
    return grade(max(rates) < 0.5, f"within two years {rates[0]:.0%} reoffend violently and {rates[1]:.0%} at all")


def _smoothed_cells(pair: tuple[eh.ConfusionMatrix, eh.ConfusionMatrix], n: int, strength: float) -> Floats:
    """Bias and variance of each smoothed cell, by enumerating the matrices of n cases: two rows of four."""
    truth, reference = pair
    matrices = eh.enumerate_matrices(n)
    log_factorials = np.cumsum(np.r_[0.0, np.log(np.arange(1, n + 1))])
    log_ways = log_factorials[n] - log_factorials[matrices.astype(int)].sum(axis=1)
    weights = np.exp(log_ways + matrices @ np.log(truth.proportions))
    smoothed = eh.CrossPrior(reference, strength).smooth(matrices.astype(np.float64)) / n
    mean = weights @ smoothed
    return np.array([mean - truth.proportions, weights @ (smoothed - mean) ** 2])


def bias_and_variance(study: Study) -> Outcome:
    pair = study.groups["COMPAS/Black"]
    p, q = (cm.proportions for cm in pair)
    error = 0.0
    for n, strength in ((5, 5.0), (5, 20.0), (20, 5.0), (20, 20.0)):
        formula = np.array([strength / (n + strength) * (q - p), n * p * (1 - p) / (n + strength) ** 2])
        error = max(error, float(np.abs(_smoothed_cells(pair, n, strength) - formula).max()))
    return grade(
        error < 1e-12, f"against enumeration for each cell, n = 5 and 20, λ = 5 and 20: largest error {error:.0e}"
    )


def fixed_n(study: Study) -> Outcome:
    pair, strengths = study.groups["COMPAS/Black"], (1e3, 1e4, 1e5)
    bias, variance = np.stack([_smoothed_cells(pair, 20, s) for s in strengths], axis=1)
    scaled = variance * np.square(strengths)[:, None]
    return grade(
        bool((scaled.max(axis=0) < 1.1 * scaled.min(axis=0)).all() and (abs(bias[-1] / bias[0] - 1) < 0.1).all()),
        f"TP cell, n = 20, λ = 10³, 10⁴, 10⁵: variance · λ² = {', '.join(f'{v:.3f}' for v in scaled[:, 0])}; "
        f"bias {', '.join(f'{b:.4f}' for b in bias[:, 0])}",
    )


def systematic_shift(study: Study) -> Outcome:
    bias = {m: float(np.abs(study.curves(m, "raw", "bias")).max()) for m in study.metrics}
    unbiased = [m for m in study.metrics if bias[m] < 1e-12]
    values = ", ".join(f"{m} {bias[m]:.3f}" for m in study.metrics if m not in unbiased)
    return grade(
        not unbiased,
        f"given that it is defined, the raw score is unbiased at every n for {len(unbiased)} of {len(study.metrics)} "
        f"metrics; the largest bias of the others over groups and n is {values}",
        on_condition=len(unbiased) < len(study.metrics),
    )


def negligible_at_100(study: Study) -> Outcome:
    below_50, at_100 = study.sizes < 50, int(np.searchsorted(study.sizes, 100))
    bias = {m: np.abs(study.curves(m, "raw", "bias")).max(axis=0) for m in study.metrics}
    biased = [m for m in study.metrics if bias[m].max() > 1e-12]
    rmse = {m: float(np.sqrt(study.average(m, "raw")[at_100])) for m in study.metrics}
    worst = max(rmse, key=rmse.__getitem__)
    significant = all(bias[m][below_50].max() > 0.03 for m in biased)
    small = all(bias[m][at_100] < 0.03 for m in biased)
    return grade(
        significant and small and rmse[worst] < 0.03,
        "largest bias of a raw score over the groups, for n < 50 and at n = 100: "
        + ", ".join(f"{m} {bias[m][below_50].max():.3f} and {bias[m][at_100]:.3f}" for m in biased)
        + f", other metrics 0; the root mean squared error at n = 100 is up to {rmse[worst]:.3f} ({worst})",
        on_condition=significant and small,
    )


def good_strengths(study: Study) -> Outcome:
    best = {}
    for group, (truth, reference) in study.groups.items():
        p, q = truth.proportions, reference.proportions
        best[group] = float((1 - (p**2).sum()) / ((q - p) ** 2).sum())
    low, high = min(best, key=best.__getitem__), max(best, key=best.__getitem__)
    averaged = {s: _failures(study, "raw", s).averaged for s in _PLOTTED}
    counts = ", ".join(f"{averaged[s]} with {label}" for s, label in _PLOTTED.items())
    return grade(
        not any(averaged.values()),
        f"points, of {len(study.metrics) * len(study.sizes):,}, at which the error averaged over the groups is not "
        f"below that of the raw score: {counts}; the best λ for the cells of a group, at any n, ranges from "
        f"{best[low]:.1f} ({low}) to {best[high]:.0f} ({high})",
    )


def integrity(study: Study) -> Outcome:
    truth, reference = study.groups["COMPAS/Black"]
    gap = eh.metric("fpr")(truth) - eh.metric("fpr")(reference)
    kept = {s: 1 + eh.risk("fpr", truth, 20, eh.CrossPrior(reference, s)).bias / gap for s in (5, 20)}
    return grade(
        min(kept.values()) > 0.95,
        f"the FPR of COMPAS/Black differs from the reference by {gap:.3f}; at n = 20 the expected difference after "
        f"smoothing is {kept[5]:.0%} of that with λ = 5 and {kept[20]:.0%} with λ = 20; for binomial metrics the "
        "factor is n/(n+λ)",
    )


SMOOTHING = (
    Claim(
        "Section 6.2", "CPS reduces the error of the ε = 1e-10 baseline in every experiment", every_experiment, "E15"
    ),
    Claim(
        "Section 6.2",
        "For all fifteen metrics CPS dominates the original metric, being consistently closer to the score of the "
        "whole group",
        dominates_raw,
        "E15",
    ),
    Claim("Section 7", "CPS reduces the error of all fifteen metrics", all_fifteen, "E15"),
    Claim("Appendix F", "CPS reduces errors particularly for small samples", small_samples),
    Claim("Section 6.1", "CPS reduces the variability of scores", less_variance),
    Claim(
        "Section 6.2",
        "The fifteen metrics of the experiments include the six binomial metrics",
        fifteen_metrics,
        "E21",
    ),
    Claim("Appendix F", "The results are highly consistent across data sets and groups", tight_bands, "E27"),
    Claim("Section 6.2", "Ranked by the space between the curves, PT improves most", pt_gains_most, "E16"),
    Claim("Section 6.2", "Ranked by the space between the curves, FPR improves least", fpr_gains_least, "E16"),
    Claim("Section 6.2", "With ε = 1e-10 the error of TPR rises steadily from n = 1 to about n = 8", tpr_rises, "E26"),
    Claim("Section 6.2", "The error of TPR with ε = 1e-10 then stabilises", tpr_stabilises, "E18"),
    Claim("Section 6.2", "ε = 1e-10 has an unnoticeable effect on scores", unnoticeable, "E26"),
    Claim("Section 6.2", "Without smoothing the error of TPR falls monotonically", tpr_descends),
    Claim("Section 6.2", "Without smoothing the error of TPR starts at 0.035", tpr_starts, "E18"),
    Claim("Section 6.2", "CPS drastically reduces the probability of undefined scores", fewer_undefined),
    Claim(
        "Section 6.2, Figure 4", "For prevalence CPS improves on no smoothing and on add-one", prevalence_best, "E15"
    ),
    Claim("Section 6.2, Figure 4", "For prevalence, increasing λ has diminishing returns", diminishing),
    Claim("Section 6.2, Figure 4", "For prevalence, λ ≥ 40 tends to perform worse than λ = 10", forty_is_worse, "E17"),
    Claim("Appendix F", "Add-one is worse than no smoothing for NPV, FOR and prevalence", add_one_worse, "E18"),
    Claim("Appendix F", "Add-one is better than CPS with λ = 10 for FNR and TPR", add_one_better, "E18"),
    Claim("Appendix F", "CPS with higher λ outperforms add-one overall", higher_beats_add_one, "E18"),
    Claim("Appendix F, Figure 5", "ε = 1e-10 reduces the errors of TPR and MCC", bashful, "E18"),
    Claim("Appendix F, Figure 5", "For TPR and MCC, λ = 20 outperforms λ = 5", stronger_is_better),
    Claim(
        "Appendix F, Figure 6",
        "ε = 1e-10 has minimal impact on the error of metrics without undefined cases",
        no_holes_no_change,
    ),
    Claim(
        "Table 2",
        "The table's cells are the shares of TP, FN, FP and TN among Black defendants and among all other races",
        printed_shares,
        "E14",
    ),
    Claim(
        "Section 6.3, Table 2",
        "Of the three priors, CPS differs least from the cells of the Black group",
        closest_prior,
        "E14",
    ),
    Claim("Section 6.5", "Most people in the COMPAS data do not reoffend", most_do_not_reoffend, "E14"),
    Claim(
        "Theorem 6.1, Appendix F",
        "A smoothed cell has bias λ/(n+λ)·(p′−p) and variance np(1−p)/(n+λ)²",
        bias_and_variance,
    ),
    Claim("Corollary 6.1.1", "For fixed n the bias is O(1) and the variance O(λ⁻²)", fixed_n),
    Claim(
        "Section 6.4",
        "Some sample sizes shift scores systematically away from the score of the population",
        systematic_shift,
        "E19",
    ),
    Claim(
        "Section 6.5",
        "Sample-size-induced bias is significant for n < 50 and negligible from about n = 100",
        negligible_at_100,
        "E19",
    ),
    Claim("Section 6.5", "Values of λ of 5, 10 and 20 work well", good_strengths, "E15"),
    Claim("Section 6.5", "CPS does not compromise the integrity of bias assessments", integrity, "E20"),
)
