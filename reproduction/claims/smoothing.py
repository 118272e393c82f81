"""Claims about Cross-Prior Smoothing and its experiments (Sections 6 and 7, Appendix F)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import evenhand as eh

from ..exact import Floats, multinomial_probabilities
from ..study import METRICS, Study, merge
from ..tables import CELLS, PRINTED_TABLE_2, correct_table_2
from .claim import Outcome, join_values, judge

PLOTTED = {"cps5": 5, "cps10": 10, "cps20": 20}


def _list_by_strength(counts: dict[str, int]) -> str:
    return ", ".join(f"{counts[s]:,} with λ = {strength}" for s, strength in PLOTTED.items())


def better_in_every_experiment(study: Study, baseline: str) -> Outcome:
    failures, texts = [], []
    for estimator, strength in (PLOTTED | {"cps40": 40}).items():
        worse = study.errors(estimator) >= study.errors(baseline)
        averages = study.averages(estimator) >= study.averages(baseline)
        failures.append(worse.sum())
        texts.append(
            f"λ = {strength}: {worse.sum():,} of {worse.size:,} points in {worse.any(axis=2).sum()} of "
            f"{worse[:, :, 0].size} experiments (group and metric), {averages.sum():,} of {averages.size:,} averages "
            "over the groups"
        )
    return judge(not any(failures[:3]), failures="; ".join(texts))


def all_fifteen(study: Study) -> Outcome:
    raw = study.averages("raw")
    reduced = {s: int((study.averages(s) < raw).all(axis=1).sum()) for s in PLOTTED}
    worst = (study.errors("cps20") / study.errors("raw")).max()
    holds = all(count == len(study.metrics) for count in reduced.values())
    return judge(holds, reduced=_list_by_strength(reduced), worst=worst)


def small_samples(study: Study) -> Outcome:
    gains = study.averages("raw") - study.averages("cps10")
    small = gains[:, study.sizes < 20].mean(axis=1)
    large = gains[:, study.sizes >= 100].mean(axis=1)
    larger, tpr = (small > large).sum(), study.metrics.index("tpr")
    return judge(larger == len(gains), larger=larger, small=small[tpr], large=large[tpr])


def less_variance(study: Study) -> Outcome:
    raw = study.errors("raw", "variance")
    less = {s: int((study.errors(s, "variance") < raw).sum()) for s in PLOTTED}
    holds = all(count == raw.size for count in less.values())
    return judge(holds, points=raw.size, less=_list_by_strength(less))


def fifteen_metrics(study: Study) -> Outcome:
    listed = 8 + 6 + len(("mb", "mcc", "f1", "pt"))
    difference = 0.0
    for truth, reference in study.groups.values():
        for pair in (("acc", "inacc"), ("prev", "nprev"), ("ppr", "pnr")):
            for estimator in (eh.Raw(), eh.CrossPrior(reference, 5)):
                one, other = (eh.risk(key, truth, 20, estimator).mse for key in pair)
                difference = max(difference, abs(one - other))
    curves = {curve.tobytes() for curve in study.averages("raw").round(12)}
    return judge(
        listed == len(METRICS),
        on_condition=len(METRICS) == 15 and difference < 1e-12,
        listed=listed,
        difference=difference,
        distinct=len(curves),
    )


def tight_bands(study: Study) -> Outcome:
    errors = {m: study.curves(m, "cps5")[:, 0] for m in ("mcc", "fpr", "tpr", "pt")}
    spans = {m: (mse.min(), mse.max()) for m, mse in errors.items()}
    holds = all(high / low < 1.1 for low, high in spans.values())
    return judge(holds, spans=join_values("{0} {1[0]:.3f} to {1[1]:.3f}", spans))


def _areas(study: Study) -> dict[str, float]:
    """For each metric, the area between the averaged curves with ε = 1e-10 and with λ = 5, largest first."""
    areas = study.area(study.averages("eps1e-10") - study.averages("cps5"))
    # Rounded, because metrics with the same errors differ in the last digits.
    ranking = np.argsort(-areas.round(9), kind="stable")
    return {study.metrics[i]: areas[i] for i in ranking}


def pt_gains_most(study: Study) -> Outcome:
    areas = _areas(study)
    by_group = study.area(study.errors("eps1e-10") - study.errors("cps5"))
    winners = [study.metrics[i] for i in by_group.argmax(axis=1)]
    holds = next(iter(areas)) == "pt"
    return judge(holds, areas=join_values("{0} {1:.3f}", areas), first=winners.count("pt"))


def fpr_gains_least(study: Study) -> Outcome:
    areas = _areas(study)
    smallest = min(study.metrics, key=areas.__getitem__)
    return judge(smallest == "fpr", smallest=smallest, area=areas[smallest], fpr=areas["fpr"])


def _tpr_errors(study: Study, estimator: eh.results.Estimator) -> Floats:
    """The mean squared error of TPR for n = 0..149, with one row per group; there is none for n = 0."""
    curves = [eh.risk("tpr", truth, range(1, 150), estimator) for truth, _ in study.groups.values()]
    return np.array([[np.nan, *(risk.mse for risk in curve)] for curve in curves])


def tpr_rises(study: Study) -> Outcome:
    curves = _tpr_errors(study, eh.Additive(1e-10))
    average = curves.mean(axis=0)
    peak, peaks = int(np.nanargmax(average)), np.nanargmax(curves, axis=1)
    rises = bool((np.diff(average[1 : peak + 1]) > 0).all())
    holds = rises and abs(peak - 8) <= 1
    return judge(holds, average=average, peak=peak, top=average[peak], first=peaks.min(), last=peaks.max())


def tpr_stabilises(study: Study) -> Outcome:
    average = _tpr_errors(study, eh.Additive(1e-10)).mean(axis=0)
    errors = {n: average[n] for n in (8, 20, 50, 100, 149)}
    holds = average[9:].min() > 0.9 * average[8]
    return judge(holds, errors=join_values("{1:.3f} at n = {0}", errors))


def unnoticeable(study: Study) -> Outcome:
    shares, changes = {}, {}
    for m in ("tpr", "mcc", "pt"):
        undefined = study.curves(m, "raw", "p_undefined")[:, 0]
        shares[m] = undefined.mean(), undefined.max()
        changes[m] = _change_by_epsilon(study, m)
    return judge(
        max(map(abs, changes.values())) < 0.01,
        shares=join_values("{0} {1[0]:.1%} (at most {1[1]:.1%})", shares),
        changes=join_values("{0} {1:+.0%}", changes),
    )


def _change_by_epsilon(study: Study, metric: str) -> float:
    """The relative change of the averaged error by ε = 1e-10 at the smallest n."""
    return float(study.average(metric, "eps1e-10")[0] / study.average(metric, "raw")[0] - 1)


def tpr_descends(study: Study) -> Outcome:
    steps = np.diff(_tpr_errors(study, eh.Raw()).mean(axis=0)[1:])
    falls = int((steps < 0).sum())
    return judge(falls == len(steps), falls=falls, steps=len(steps))


def tpr_starts(study: Study) -> Outcome:
    average = _tpr_errors(study, eh.Raw()).mean(axis=0)
    starts = average[1], average[5]
    return judge(any(abs(start - 0.035) < 0.0005 for start in starts), starts=starts)


def fewer_undefined(study: Study) -> Outcome:
    raw = study.errors("raw", "p_undefined")[:, :, 0].mean(axis=0).max()
    smoothed = study.errors("cps5", "p_undefined").max()
    return judge(smoothed < raw / 100, raw=raw, smoothed=smoothed)


def prevalence_best(study: Study) -> Outcome:
    others = np.minimum(study.average("prev", "raw"), study.average("prev", "add1"))
    best = {s: int((study.average("prev", s) < others).sum()) for s in PLOTTED}
    by_group = np.minimum(study.curves("prev", "raw"), study.curves("prev", "add1"))
    worst = np.max([study.curves("prev", s) for s in PLOTTED], axis=0)
    beaten = (worst >= by_group).any(axis=1)
    groups = ", ".join(np.array(list(study.groups))[beaten]) or "none"
    holds = all(count == len(study.sizes) for count in best.values())
    return judge(holds, best=_list_by_strength(best), groups=groups)


def diminishing(study: Study) -> Outcome:
    totals = {s: study.area(study.average("prev", s)) for s in ("raw", *PLOTTED)}
    gains = -np.diff(list(totals.values()))
    holds = bool((np.diff(gains) < 0).all())
    return judge(holds, totals=join_values("{1:.3f} with {0}", totals))


def forty_is_worse(study: Study) -> Outcome:
    totals = {}
    for strength in (10, 40, 80):
        curves = []
        for truth, reference in study.groups.values():
            estimator = eh.CrossPrior(reference, strength)
            risks = eh.risk("prev", truth, study.sizes.tolist(), estimator)
            curves.append([risk.mse for risk in risks])
        totals[strength] = study.area(np.mean(curves, axis=0))
    better = study.area(study.averages("cps40") - study.averages("cps10")) < 0
    holds = min(totals[40], totals[80]) > totals[10]
    return judge(holds, totals=join_values("{1:.3f} with λ = {0}", totals), better=better.sum())


def smaller_error(study: Study, better: str, worse: str, metrics: Sequence[str]) -> Outcome:
    at_sizes, in_groups = {}, {}
    for m in metrics:
        averages = study.average(m, better) < study.average(m, worse)
        curves = study.curves(m, better) < study.curves(m, worse)
        at_sizes[m], in_groups[m] = averages.sum(), curves.all(axis=1).sum()
    return judge(
        all(count == len(study.sizes) for count in at_sizes.values()),
        at_sizes=join_values("{0} {1}", at_sizes),
        in_groups=join_values("{0} {1}", in_groups),
    )


def higher_beats_add_one(study: Study) -> Outcome:
    better = study.area(study.averages("add1") - study.averages("cps20")) > 0
    lost = study.sizes[study.average("tpr", "cps20") > study.average("tpr", "add1")]
    sizes = f"n = {lost.min()} to {lost.max()}" if len(lost) else "no n"
    return judge(bool(better.all()), better=better.sum(), lost=sizes)


def bashful(study: Study) -> Outcome:
    until = {}
    for m in ("tpr", "mcc"):
        wins = study.average(m, "eps1e-10") < study.average(m, "raw")
        until[m] = study.sizes[np.logical_and.accumulate(wins)].max(initial=0)
    changes = {m: _change_by_epsilon(study, m) for m in ("tpr", "mcc", "npv")}
    return judge(
        min(until.values()) == study.sizes[-1],
        on_condition=min(until.values()) >= 20,
        until=until,
        changes=join_values("{0} {1:+.2%}", changes),
    )


def unchanged_if_always_defined(study: Study) -> Outcome:
    always_defined = [study.metrics.index(m) for m in ("acc", "prev", "ppr", "mb")]
    ratios = study.averages("eps1e-10") / study.averages("raw")
    change = np.abs(ratios[always_defined] - 1).max()
    return judge(change < 1e-6, change=change)


def printed_shares(study: Study) -> Outcome:
    right, texts = True, []
    for name in ("Black", "All other races"):
        pair = PRINTED_TABLE_2[name], correct_table_2(study)[name]
        right &= bool(np.abs(np.subtract(*pair)).max() < 0.0051)
        texts += [" ".join(f"{share:.2f}" for share in shares) for shares in pair]
    return judge(right, texts=texts)


def closest_prior(study: Study) -> Outcome:
    table = correct_table_2(study)
    gaps = {prior: table[f"difference: {prior}"] for prior in ("no prior", "CPS", "uniform")}
    totals = {prior: gap.sum() for prior, gap in gaps.items()}
    cells = zip(CELLS, gaps["uniform"], gaps["CPS"], strict=True)
    closer = {cell.upper(): (uniform, cps) for cell, uniform, cps in cells if uniform < cps}
    in_total = totals["CPS"] == min(totals.values())
    return judge(
        not closer and in_total,
        on_condition=in_total,
        totals=join_values("{0} {1:.3f}", totals),
        closer=join_values("{0} ({1[0]:.3f} against {1[1]:.3f})", closer) or "none",
    )


def most_do_not_reoffend(study: Study) -> Outcome:
    prevalence = eh.metric("prev")
    violent, general = prevalence(merge(study.compas)), prevalence(merge(eh.examples.compas()))
    return judge(max(violent, general) < 0.5, violent=violent, general=general)


def _smoothed_cells(study: Study, n: int, strength: float) -> Floats:
    """Bias and variance of each smoothed cell of COMPAS/Black, by enumeration: two rows of four."""
    truth, reference = study.groups["COMPAS/Black"]
    weights = multinomial_probabilities(n, truth.proportions)
    matrices = eh.enumerate_matrices(n).astype(float)
    smoothed = eh.CrossPrior(reference, strength).smooth(matrices) / n
    mean = weights @ smoothed
    return np.array([mean - truth.proportions, weights @ (smoothed - mean) ** 2])


def bias_and_variance(study: Study) -> Outcome:
    p, q = (cm.proportions for cm in study.groups["COMPAS/Black"])
    error = 0.0
    for n, strength in ((5, 5.0), (5, 20.0), (20, 5.0), (20, 20.0)):
        bias = strength / (n + strength) * (q - p)
        variance = n * p * (1 - p) / (n + strength) ** 2
        errors = _smoothed_cells(study, n, strength) - [bias, variance]
        error = max(error, np.abs(errors).max())
    return judge(error < 1e-12, error=error)


def fixed_n(study: Study) -> Outcome:
    strengths = (1e3, 1e4, 1e5)
    bias, variance = np.stack([_smoothed_cells(study, 20, s) for s in strengths], axis=1)
    scaled = variance * np.square(strengths)[:, None]
    constant = (scaled.max(axis=0) < 1.1 * scaled.min(axis=0)) & (abs(bias[-1] / bias[0] - 1) < 0.1)
    return judge(
        bool(constant.all()),
        variance=", ".join(f"{v:.3f}" for v in scaled[:, 0]),
        bias=", ".join(f"{b:.4f}" for b in bias[:, 0]),
    )


def systematic_shift(study: Study) -> Outcome:
    bias = np.abs(study.errors("raw", "bias")).max(axis=(0, 2))
    biased = {m: largest for m, largest in zip(study.metrics, bias, strict=True) if largest >= 1e-12}
    unbiased = len(bias) - len(biased)
    texts = join_values("{0} {1:.3f}", biased)
    return judge(unbiased == 0, on_condition=bool(biased), unbiased=unbiased, biased=texts)


def negligible_at_100(study: Study) -> Outcome:
    at_100 = int(np.searchsorted(study.sizes, 100))
    biases = np.abs(study.errors("raw", "bias")).max(axis=0)
    bias = {}
    for m, curve in zip(study.metrics, biases, strict=True):
        if curve.max() > 1e-12:
            bias[m] = curve[study.sizes < 50].max(), curve[at_100]
    rmse = np.sqrt(study.averages("raw")[:, at_100])
    bias_vanishes = all(small > 0.03 > large for small, large in bias.values())
    return judge(
        bias_vanishes and rmse.max() < 0.03,
        on_condition=bias_vanishes,
        bias=join_values("{0} {1[0]:.3f} and {1[1]:.3f}", bias),
        rmse=rmse.max(),
        worst=study.metrics[rmse.argmax()],
    )


def good_strengths(study: Study) -> Outcome:
    best = {}
    for group, pair in study.groups.items():
        p, q = (cm.proportions for cm in pair)
        best[group] = (1 - (p**2).sum()) / ((q - p) ** 2).sum()
    ranking = sorted((strength, group) for group, strength in best.items())
    raw = study.averages("raw")
    failures = {s: int((study.averages(s) >= raw).sum()) for s in PLOTTED}
    return judge(
        not any(failures.values()),
        points=raw.size,
        failures=_list_by_strength(failures),
        lowest=ranking[0],
        highest=ranking[-1],
    )


def integrity(study: Study) -> Outcome:
    truth, reference = study.groups["COMPAS/Black"]
    gap = eh.metric("fpr")(truth) - eh.metric("fpr")(reference)
    remaining = {}
    for strength in (5, 20):
        risk = eh.risk("fpr", truth, 20, eh.CrossPrior(reference, strength))
        remaining[strength] = 1 + risk.bias / gap
    return judge(min(remaining.values()) > 0.95, gap=gap, remaining=remaining)
