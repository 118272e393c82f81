"""Claims about Cross-Prior Smoothing and its experiments (Section 6, Appendix F)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from ..study import METRICS, SIZES, Study
from ..tables import distances
from .claim import Claim, Outcome, graded

__all__ = ["SMOOTHING"]

Floats = NDArray[np.float64]

_PLOTTED = ("cps5", "cps10", "cps20")


def _failures(study: Study, baseline: str, strength: str) -> tuple[int, int, int]:
    """Points (group, metric, n), pairs (group, metric) and averaged points at which smoothing is not better."""
    gaps = np.array([study.curves(m, strength) >= study.curves(m, baseline) for m in METRICS])
    average = np.array([study.average(m, strength) >= study.average(m, baseline) for m in METRICS])
    return int(gaps.sum()), int(gaps.any(axis=2).sum()), int(average.sum())


def _every_experiment(study: Study, baseline: str) -> Outcome:
    found = {s: _failures(study, baseline, s) for s in (*_PLOTTED, "cps40")}
    points, pairs = len(METRICS) * len(study.groups) * len(SIZES), len(METRICS) * len(study.groups)
    shown = "; ".join(
        f"{s}: {cells:,} of {points:,} points not better, in {affected} of {pairs} (group, metric) pairs, "
        f"{averaged} of {len(METRICS) * len(SIZES):,} averaged points"
        for s, (cells, affected, averaged) in found.items()
    )
    return graded(not any(found[s][0] for s in _PLOTTED), shown, given=not any(found[s][2] for s in _PLOTTED))


def every_experiment(study: Study) -> Outcome:
    return _every_experiment(study, "eps1e-10")


def dominates_raw(study: Study) -> Outcome:
    return _every_experiment(study, "raw")


def all_fifteen(study: Study) -> Outcome:
    better = [m for m in METRICS if (study.average(m, "cps5") < study.average(m, "raw")).all()]
    worst = max(float((study.curves(m, "cps20") / study.curves(m, "raw")).max()) for m in METRICS)
    return graded(
        worst < 1,
        f"λ = 5, averaged over the groups: below raw at every n for {len(better)} of {len(METRICS)} metrics; in single "
        f"groups λ = 20 is up to {worst:.2f} times raw",
        given=len(better) == len(METRICS),
    )


def small_samples(study: Study) -> Outcome:
    gains = {m: study.average(m, "raw") - study.average(m, "cps10") for m in METRICS}
    falls = [m for m in METRICS if gains[m][:15].mean() > gains[m][-50:].mean()]
    return graded(
        len(falls) == len(METRICS),
        f"λ = 10: the error saved is larger for n = 5..19 than for n = 100..149 for {len(falls)} of {len(METRICS)} "
        f"metrics; for TPR {gains['tpr'][:15].mean():.4f} against {gains['tpr'][-50:].mean():.4f}",
    )


def less_variance(study: Study) -> Outcome:
    less = np.array([study.curves(m, "cps5", 2) < study.curves(m, "raw", 2) for m in METRICS])
    return graded(bool(less.all()), f"λ = 5 has less variance than raw at {less.sum():,} of {less.size:,} points")


def distinct_curves(study: Study) -> Outcome:
    curves = {study.average(m, "raw").round(12).tobytes() for m in METRICS}
    return graded(
        len(curves) == len(METRICS),
        f"{len(METRICS)} are, but a rate and its complement have the same error: {len(curves)} of the curves differ",
        given=len(METRICS) == 15,
    )


def tight_bands(study: Study) -> Outcome:
    spread = study.curves("tpr", "cps5")[:, 0]
    return graded(
        float(spread.max() / spread.min()) < 1.1,
        f"the error itself is exact here; between groups it differs: TPR with λ = 5 at n = 5 spans {spread.min():.3f} "
        f"to {spread.max():.3f}. The paper's bands are bootstraps of pooled quantiles, not this spread",
    )


def _areas(study: Study) -> dict[str, float]:
    """The area between the ε = 1e-10 and λ = 5 curves of the average, for each metric."""
    return {m: float((study.average(m, "eps1e-10") - study.average(m, "cps5")).sum()) for m in METRICS}


def _ranked(areas: dict[str, float]) -> str:
    return ", ".join(f"{m} {areas[m]:.3f}" for m in sorted(areas, key=areas.__getitem__, reverse=True))


def pt_gains_most(study: Study) -> Outcome:
    areas = _areas(study)
    gaps = {m: (study.curves(m, "eps1e-10") - study.curves(m, "cps5")).sum(axis=1) for m in METRICS}
    first = sum(max(METRICS, key=lambda m: gaps[m][g]) == "pt" for g in range(len(study.groups)))
    return graded(
        first == len(study.groups) and max(areas, key=areas.__getitem__) == "pt",
        f"areas: {_ranked(areas)}; of single groups PT gains most in {first} of {len(study.groups)}",
        given=max(areas, key=areas.__getitem__) == "pt",
    )


def fpr_gains_least(study: Study) -> Outcome:
    areas = _areas(study)
    least = min(areas, key=areas.__getitem__)
    return graded(least == "fpr", f"the least is {least}, {areas[least]:.3f}; fpr has {areas['fpr']:.3f}")


def _tpr_errors(study: Study, estimator: eh.Estimator) -> Floats:
    """The squared error of TPR for n = 1..20, a row for each group."""
    found = [
        [r.mse for r in eh.risk_curve("tpr", truth, range(1, 21), estimator)] for truth, _ in study.groups.values()
    ]
    return np.array(found)


def tpr_rises(study: Study) -> Outcome:
    curves = _tpr_errors(study, eh.Additive(1e-10))
    average = curves.mean(axis=0)
    peaks = curves.argmax(axis=1) + 1
    peak = int(average.argmax()) + 1
    return graded(
        bool((abs(peaks - 8) <= 1).all()),
        f"averaged, ε = 1e-10: {average[0]:.4f} at n = 1, {average[4]:.4f} at 5, largest at n = {peak} with "
        f"{average.max():.5f}, {average[9]:.4f} at 10; in single groups the peak lies at n = {peaks.min()} to "
        f"{peaks.max()}",
        given=abs(peak - 8) <= 1,
    )


def unnoticeable(study: Study) -> Outcome:
    shares = {m: study.curves(m, "raw", 3)[:, 0] for m in ("tpr", "mcc", "pt")}
    shown = ", ".join(f"{m} {s.mean():.1%} (at most {s.max():.1%})" for m, s in shares.items())
    return graded(
        all(s.mean() < 0.01 for s in shares.values()),
        "ε = 1e-10 gives an undefined score a value of its own, 1/2 for a rate; of samples with n = 5 that decides "
        f"{shown}",
    )


def tpr_starts(study: Study) -> Outcome:
    curve = _tpr_errors(study, eh.Raw()).mean(axis=0)
    falls = bool((np.diff(curve) < 0).all() and (np.diff(study.average("tpr", "raw")) < 0).all())
    return graded(
        abs(curve[4] - 0.035) < 0.001,
        f"without smoothing TPR starts at {curve[0]:.4f} for n = 1 and {curve[4]:.4f} for n = 5, not 0.035; that it "
        f"falls at every step {'is true' if falls else 'is not true either'}",
    )


def fewer_undefined(study: Study) -> Outcome:
    raw = max(float(study.curves(m, "raw", 3).mean(axis=0)[0]) for m in METRICS)
    smoothed = max(float(study.curves(m, "cps5", 3).max()) for m in METRICS)
    return graded(
        smoothed < 1e-12,
        f"at n = 5 up to {raw:.1%} of raw scores are undefined on average; with λ = 5 {smoothed:.1%}, at any n "
        "(as long as the reference has no empty cell)",
    )


def prevalence_best(study: Study) -> Outcome:
    others = np.minimum(study.average("prev", "raw"), study.average("prev", "add1"))
    average = all((study.average("prev", s) < others).all() for s in _PLOTTED)
    least = np.minimum(study.curves("prev", "raw"), study.curves("prev", "add1"))
    beaten = np.any([(study.curves("prev", s) >= least).any(axis=1) for s in _PLOTTED], axis=0)
    lost = [group for group, yes in zip(study.groups, beaten, strict=True) if yes]
    return graded(
        average and not lost,
        "true of the average at every n; not of every group: raw or add-one is better than λ = 5, 10 or 20 somewhere "
        f"in {', '.join(lost) or 'none'}",
        given=average,
    )


def _total(study: Study, metric: str, strength: float) -> float:
    """The error over all groups and some sizes."""
    sizes = (5, 10, 20, 50, 100, 149)
    return sum(
        r.mse
        for truth, reference in study.groups.values()
        for r in eh.risk_curve(metric, truth, sizes, eh.CrossPrior(reference, strength))
    )


def forty_is_worse(study: Study) -> Outcome:
    sums = {m: [float(study.average(m, s).sum()) for s in ("cps10", "cps40")] for m in METRICS}
    worse = [m for m, (ten, forty) in sums.items() if forty > ten]
    eighty = [m for m in METRICS if _total(study, m, 80) > _total(study, m, 10)]
    return graded(
        len(worse) == len(eighty) == len(METRICS),
        f"λ = 40 is worse than λ = 10 for {', '.join(worse)} (summed over n) and better for the other "
        f"{len(METRICS) - len(worse)} of {len(METRICS)}; λ = 80 is worse for {', '.join(eighty)} (six sizes)",
        given="prev" in worse and "prev" in eighty,
    )


def diminishing(study: Study) -> Outcome:
    total = [float(study.average("prev", s).sum()) for s in ("raw", "cps5", "cps10", "cps20")]
    gains = -np.diff(total)
    return graded(
        bool((np.diff(gains) < 0).all()),
        "prevalence, summed over n: "
        + ", ".join(f"{t:.3f} with {s}" for t, s in zip(total, ("raw", *_PLOTTED), strict=True)),
    )


def add_one_worse(study: Study) -> Outcome:
    keys = ("npv", "for", "prev")
    always = all((study.average(m, "add1") > study.average(m, "raw")).all() for m in keys)
    groups = {m: int((study.curves(m, "add1") > study.curves(m, "raw")).all(axis=1).sum()) for m in keys}
    shown = ", ".join(f"{m} {k}" for m, k in groups.items())
    return graded(
        always and min(groups.values()) == len(study.groups),
        f"true of the averages at every n; of single groups at every n in: {shown} of {len(study.groups)}",
        given=always,
    )


def add_one_better(study: Study) -> Outcome:
    always = all((study.average(m, "add1") < study.average(m, "cps10")).all() for m in ("tpr", "fnr"))
    groups = int((study.curves("tpr", "add1") < study.curves("tpr", "cps10")).all(axis=1).sum())
    return graded(
        always and groups == len(study.groups),
        f"true of the averages at every n; of single groups at every n in {groups} of {len(study.groups)}",
        given=always,
    )


def higher_beats_add_one(study: Study) -> Outcome:
    total = [m for m in METRICS if study.average(m, "cps20").sum() < study.average(m, "add1").sum()]
    lost = SIZES[study.average("tpr", "cps20") > study.average("tpr", "add1")]
    return graded(
        len(lost) == 0,
        f"summed over n, λ = 20 is better for {len(total)} of {len(METRICS)}; for TPR add-one is better at "
        f"n = {lost.min()}..{lost.max()}"
        if len(lost)
        else f"λ = 20 is better for {len(total)} of {len(METRICS)}",
        given=len(total) == len(METRICS),
    )


def bashful(study: Study) -> Outcome:
    better = {
        m: SIZES[study.average(m, "eps1e-10") < study.average(m, "raw")] for m in ("tpr", "mcc", "ppv", "npv", "fpr")
    }
    shown = ", ".join(f"{m} {len(n)} of {len(SIZES)} sizes" for m, n in better.items())
    first = {m: study.average(m, "eps1e-10")[0] / study.average(m, "raw")[0] - 1 for m in ("tpr", "mcc", "npv")}
    changes = ", ".join(f"{m} {c:+.2%}" for m, c in first.items())
    return graded(
        all(len(n) == len(SIZES) for n in better.values()),
        f"ε = 1e-10 is better than raw for {shown}; at n = 5 it changes the error by {changes}",
        given=len(better["tpr"]) == len(SIZES),
    )


def stronger_is_better(study: Study) -> Outcome:
    won = {m: int((study.average(m, "cps20") < study.average(m, "cps5")).sum()) for m in ("tpr", "mcc")}
    groups = [(study.curves(m, "cps20") < study.curves(m, "cps5")).all(axis=1) for m in ("tpr", "mcc")]
    return graded(
        bool(np.all(groups)),
        f"averaged, λ = 20 beats λ = 5 at {won['tpr']} of {len(SIZES)} sizes for TPR and {won['mcc']} for MCC; at "
        f"every size in {int(groups[0].sum())} and {int(groups[1].sum())} of {len(study.groups)} groups",
        given=all(w == len(SIZES) for w in won.values()),
    )


def no_holes_no_change(study: Study) -> Outcome:
    change = max(
        float(np.abs(study.average(m, "eps1e-10") / study.average(m, "raw") - 1).max())
        for m in ("acc", "prev", "ppr", "mb")
    )
    return graded(change < 1e-6, f"the largest relative change of the error is {change:.1e}")


def closest_prior(study: Study) -> Outcome:
    gaps = distances(study)
    total = {name: float(gap.sum()) for name, gap in gaps.items()}
    lost = [
        cell.upper() for cell, i in (("tp", 0), ("fn", 1), ("fp", 2), ("tn", 3)) if gaps["CPS"][i] > gaps["uniform"][i]
    ]
    return graded(
        not lost,
        f"in total yes: {', '.join(f'{n} {t:.3f}' for n, t in total.items())}; per cell no: the uniform prior is "
        f"closer for {', '.join(lost)} ({gaps['uniform'][2]:.3f} against {gaps['CPS'][2]:.3f}), and the printed "
        "table swaps FN and FP",
        given=min(total, key=total.__getitem__) == "CPS",
    )


def most_do_not(study: Study) -> Outcome:
    violent, general = (sum(g.values(), eh.ConfusionMatrix(0, 0, 0, 0)) for g in (study.compas, eh.examples.compas()))
    rates = [eh.metric("prev")(cm) for cm in (violent, general)]
    return graded(max(rates) < 0.5, f"{rates[0]:.0%} reoffend violently, {rates[1]:.0%} at all within two years")


def bias_and_variance(study: Study) -> Outcome:
    truth, reference = study.groups["COMPAS/Black"]
    wrong = 0.0
    for n in (5, 20, 100):
        for strength in (5.0, 20.0):
            got = eh.risk("prev", truth, n, eh.CrossPrior(reference, strength))
            p, q = (eh.metric("prev")(cm) for cm in (truth, reference))
            wrong = max(wrong, abs(got.bias - strength / (n + strength) * (q - p)))
            wrong = max(wrong, abs(got.variance - n * p * (1 - p) / (n + strength) ** 2))
    return graded(
        wrong < 1e-12, f"λ/(n+λ)·(p′−p) and np(1−p)/(n+λ)² against exact risk: largest difference {wrong:.0e}"
    )


def fixed_n(study: Study) -> Outcome:
    truth, reference = study.groups["COMPAS/Black"]
    found = [eh.risk("prev", truth, 20, eh.CrossPrior(reference, s)) for s in (1e3, 1e4, 1e5)]
    scaled = [r.variance * s**2 for r, s in zip(found, (1e3, 1e4, 1e5), strict=True)]
    return graded(
        max(scaled) / min(scaled) < 1.1 and abs(found[-1].bias / found[0].bias - 1) < 0.1,
        f"n = 20, λ = 10³, 10⁴, 10⁵: variance · λ² = {', '.join(f'{v:.3f}' for v in scaled)}; "
        f"bias stays near {found[-1].bias:.4f}",
    )


def systematic_shift(study: Study) -> Outcome:
    bias = {m: float(np.abs(study.curves(m, "raw", 1)).max()) for m in METRICS}
    none = [m for m in METRICS if bias[m] < 1e-12]
    some = ", ".join(f"{m} {bias[m]:.3f}" for m in METRICS if m not in none)
    return graded(
        not none,
        f"given that the score is defined, the raw score has no bias at any n for {len(none)} of {len(METRICS)} "
        f"metrics; only {some} have one (largest over groups and n). What grows in small samples is variance",
        given=len(none) < len(METRICS),
    )


def negligible_at_100(study: Study) -> Outcome:
    at = int(np.flatnonzero(SIZES == 100)[0])
    keys = ("acc", "ppv", "tpr", "mcc", "pt")
    bias = {m: float(np.abs(study.curves(m, "raw", 1)[:, at]).max()) for m in keys}
    rmse = {m: float(np.sqrt(study.average(m, "raw")[at])) for m in keys}
    return graded(
        max(rmse.values()) < 0.03,
        "at n = 100 the largest bias of a raw score is "
        + ", ".join(f"{m} {b:.3f}" for m, b in bias.items())
        + ", but its root mean squared error is "
        + ", ".join(f"{m} {e:.3f}" for m, e in rmse.items()),
        given=max(bias.values()) < 0.03,
    )


def good_strengths(study: Study) -> Outcome:
    best = {}
    for group, (truth, reference) in study.groups.items():
        p, q = truth.proportions, reference.proportions
        best[group] = float((1 - (p**2).sum()) / ((q - p) ** 2).sum())
    low, high = min(best, key=best.__getitem__), max(best, key=best.__getitem__)
    average = all(_failures(study, "raw", s)[2] == 0 for s in _PLOTTED)
    return graded(
        all(_failures(study, "raw", s)[0] == 0 for s in _PLOTTED),
        "on average all three beat raw at every n; the strength that is best for the cells of a group, whatever n, "
        f"goes from {best[low]:.1f} ({low}) to {best[high]:.0f} ({high})",
        given=average,
    )


def integrity(study: Study) -> Outcome:
    truth, reference = study.groups["COMPAS/Black"]
    gap = eh.metric("fpr")(truth) - eh.metric("fpr")(reference)
    kept = {s: 1 + eh.risk("fpr", truth, 20, eh.CrossPrior(reference, s)).bias / gap for s in (5, 20)}
    return graded(
        min(kept.values()) > 0.95,
        f"COMPAS/Black has an FPR gap of {gap:.3f}; at n = 20 smoothing leaves {kept[5]:.0%} of it on average with "
        f"λ = 5 and {kept[20]:.0%} with λ = 20; for shares of n it is n/(n+λ)",
    )


SMOOTHING = (
    Claim("Section 6.2", "CPS improves on the ε = 1e-10 baseline in every experiment", every_experiment, "E15"),
    Claim("Section 6.2", "CPS dominates the original metric for all fifteen metrics", dominates_raw, "E15"),
    Claim("Section 7", "CPS reduces the error of all fifteen metrics", all_fifteen, "E15"),
    Claim("Appendix F", "it does so particularly for small samples", small_samples),
    Claim("Section 6.1", "CPS reduces the variability of scores", less_variance),
    Claim("Appendix F", "fifteen metrics are tested", distinct_curves, "E21"),
    Claim("Appendix F", "the results are consistent across data sets and groups", tight_bands, "E27"),
    Claim("Section 6.2", "PT improves most of the fifteen metrics", pt_gains_most, "E16"),
    Claim("Section 6.2", "FPR improves least of the fifteen metrics", fpr_gains_least, "E16"),
    Claim("Section 6.2", "with ε = 1e-10 the error of TPR rises until about n = 8", tpr_rises),
    Claim("Section 6.2", "ε = 1e-10 has no noticeable effect on scores", unnoticeable, "E26"),
    Claim("Section 6.2", "without smoothing the error of TPR falls steadily from 0.035", tpr_starts, "E18"),
    Claim("Section 6.2", "CPS makes undefined scores far less likely", fewer_undefined),
    Claim("Figure 4", "for prevalence CPS improves on raw and on add-one", prevalence_best, "E15"),
    Claim("Section 6.2", "raising λ brings diminishing returns (prevalence)", diminishing),
    Claim("Section 6.2", "λ ≥ 40 tends to do worse than λ = 10", forty_is_worse, "E17"),
    Claim("Appendix F", "add-one is worse than raw for NPV, FOR and prevalence", add_one_worse, "E18"),
    Claim("Appendix F", "add-one is better than λ = 10 for FNR and TPR", add_one_better, "E18"),
    Claim("Appendix F", "higher λ still beats add-one overall", higher_beats_add_one, "E18"),
    Claim("Appendix F", "ε = 1e-10 reduces errors where scores can be undefined", bashful, "E18"),
    Claim("Appendix F", "λ = 20 outperforms λ = 5 for TPR and MCC", stronger_is_better),
    Claim("Appendix F", "ε = 1e-10 hardly matters for metrics without undefined cases", no_holes_no_change),
    Claim("Table 2", "of all priors CPS is the closest to the Black group", closest_prior, "E14"),
    Claim("Section 6.5", "most people in the COMPAS data do not reoffend", most_do_not, "E14"),
    Claim("Theorem 6.1", "bias λ/(n+λ)·(p′−p) and variance np(1−p)/(n+λ)²", bias_and_variance),
    Claim("Corollary 6.1.1", "for fixed n bias is O(1) and variance O(λ⁻²)", fixed_n),
    Claim("Section 6.4", "some sizes n shift scores away from the population's score", systematic_shift, "E19"),
    Claim("Section 6.5", "sample-size-induced error is negligible once n is about 100", negligible_at_100),
    Claim("Section 6.5", "λ of 5, 10 or 20 work well", good_strengths, "E15"),
    Claim("Section 6.5", "CPS does not compromise the assessment of disparities", integrity, "E20"),
)
