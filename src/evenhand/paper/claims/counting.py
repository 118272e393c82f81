"""Claims about configurations, undefined cases and how scores spread (Sections 3 and 4, Appendices A and C)."""

from __future__ import annotations

from math import comb, log

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

from ..study import METRICS, SIZES, Study
from ..tables import HOLES, counted, pt_upper_bound
from .claim import Claim, Outcome, graded

__all__ = ["COUNTING"]

Floats = NDArray[np.float64]

QUARTER = [0.25, 0.25, 0.25, 0.25]


def configurations(study: Study) -> Outcome:
    wrong = [n for n in range(1, 41) if len(eh.enumerate_matrices(n)) != comb(n + 3, 3)]
    return graded(not wrong, f"listed for n = 1..40; {len(wrong)} sizes differ; n = 40 has {comb(43, 3):,}")


def cubic(study: Study) -> Outcome:
    ratio = eh.count_matrices(2 * 10**6) / eh.count_matrices(10**6)
    return graded(abs(ratio - 8) < 1e-4, f"doubling n from a million multiplies the matrices by {ratio:.5f}")


def expected_score(study: Study) -> Outcome:
    truth, _ = study.groups["COMPAS/White"]
    off = {m: eh.distribution(m, 20, truth).mean - eh.metric(m)(truth) for m in METRICS}
    biased = ", ".join(f"{m} {gap:+.3f}" for m, gap in off.items() if abs(gap) > 1e-9)
    same = sum(abs(gap) <= 1e-9 for gap in off.values())
    return graded(
        same == len(METRICS),
        f"given that it is defined, the mean score of n = 20 is the population's for {same} of {len(METRICS)} metrics "
        f"(COMPAS/White); it is off for {biased}",
        given=same > 0,
    )


def cell_values(study: Study) -> Outcome:
    wrong = 0
    for n in range(1, 31):
        listed = np.bincount(eh.enumerate_matrices(n)[:, 0].astype(int), minlength=n + 1)
        wrong += sum(listed[x] != comb(n - x + 2, 2) for x in range(n + 1))
    return graded(not wrong, f"listed for n = 1..30 and every x; {wrong} values differ")


def twenty_one_metrics(study: Study) -> Outcome:
    paper = [m for m in eh.list_metrics() if m.in_paper]
    shares, ratios = (sum(m.shape == shape for m in paper) for shape in ("share", "ratio"))
    joint = sum(m.shape == "ratio" and m.key not in ("f1", "f1_original") for m in paper)
    rest = len(paper) - shares - joint
    given = f"{shares} binomial, {joint} joint ratio and {rest} others; {ratios} in all have the shape of a ratio"
    return graded((len(paper), shares, joint, rest) == (21, 6, 8, 7), given)


def _as_printed(*keys: str) -> Outcome:
    rows = [row for row in HOLES if set(row.metrics) & set(keys)]
    wrong = [(row.name, n) for row in rows for n in range(1, 21) if counted(row, n) != row.low(n)]
    shown = ", ".join(f"{' '.join(row.metrics)} {counted(row, 20):,}" for row in rows)
    return graded(not wrong, f"brute force for n = 1..20 differs in {len(wrong)} cases; at n = 20: {shown}")


def no_holes(study: Study) -> Outcome:
    return _as_printed("acc", "mb", "ofi")


def joint_ratio_holes(study: Study) -> Outcome:
    return _as_printed("tpr", "fpr", "ppv", "npv")


def f1_holes(study: Study) -> Outcome:
    return _as_printed("f1", "f1_original")


def mcc_holes(study: Study) -> Outcome:
    return _as_printed("mcc")


def pt_lower_bound(study: Study) -> Outcome:
    least = min(eh.count_undefined("pt", n) / n for n in range(3, 2001))
    loose = [n for n in range(3, 2001) if eh.count_undefined("pt", n) < 2 * n + 2]
    return graded(not loose, f"n = 3..2000: {len(loose)} sizes below 2n + 2; the count is never below {least:g} n")


def pt_upper(study: Study) -> Outcome:
    fits = [n for n in range(3, 3001) if eh.count_undefined("pt", n) < pt_upper_bound(n)]
    first = next(n for n in fits if n > 3)
    return graded(
        len(fits) == 2998,
        f"of n = 3..3000 the bound holds for {len(fits)}: n = 3, then from n = {first} on, now and then; "
        f"at n = 100 there are {eh.count_undefined('pt', 100):,} cases, the bound says fewer than "
        f"{pt_upper_bound(100):.1f}; the count is 2n + 1 + Σ gcd(k, n)",
    )


def pt_growth(study: Study) -> Outcome:
    sizes = (30, 2310, 30030, 510510)
    ratios = [eh.count_undefined("pt", n) / (n * log(log(n))) for n in sizes]
    shown = ", ".join(f"{ratio:.1f} at n = {n:,}" for n, ratio in zip(sizes, ratios, strict=True))
    return graded(ratios != sorted(ratios), f"count / (n ln ln n) keeps rising along primorials: {shown}")


def te_holes(study: Study) -> Outcome:
    te = next(row for row in HOLES if "te" in row.metrics)
    wrong = [n for n in range(1, 13) if counted(te, n) != te.low(n)]
    return graded(
        not wrong,
        f"n₁ = n₂ = 5: {counted(te, 5):,} of {eh.count_matrices(5) ** 2:,} pairs are undefined, the paper counts "
        f"{te.low(5):g}; it differs for {len(wrong)} of n = 1..12; the holes of a pair grow as n⁵ of n⁶",
    )


def slower_than_configurations(study: Study) -> Outcome:
    def share(key: str, n: int) -> float:
        m = eh.metric(key)
        return eh.count_undefined(m, (n, n) if m.groups == 2 else n) / int(eh.count_matrices(n) ** m.groups)

    keys = [m.key for m in eh.list_metrics() if m.in_paper]
    falls = all(share(k, 1000) < max(share(k, 10) / 10, 1e-300) or share(k, 10) == 0 for k in keys)
    te = eh.count_undefined("te", (1000, 1000)) / eh.count_undefined("te", (500, 500))
    return graded(
        te <= 8,
        f"as a share of all configurations every metric's holes vanish (largest at n = 1000: "
        f"{max(share(k, 1000) for k in keys):.2%}); as counts no: doubling n multiplies those of TE by {te:.0f}",
        given=falls,
    )


def ppr_limit(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    rate = eh.metric("ppr")(cm)
    positives = cm.tp + cm.fp
    return graded(
        abs(rate - 1365 / 5956) < 5e-4,
        f"the matrix of the experiments gives ({cm.tp:g} + {cm.fp:g}) / {cm.n:g} = {positives / cm.n:.4f}, "
        f"not 1365/5956 = {1365 / 5956:.4f}",
    )


def narrows(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    width = {}
    for n in (5, 10, 20, 49):
        low, high = eh.distribution("ppr", n, cm).quantile([0.1, 0.9])
        width[n] = high - low
    shown = ", ".join(f"{w:.3f} at n = {n}" for n, w in width.items())
    return graded(list(width.values()) == sorted(width.values(), reverse=True), f"10–90 % range: {shown}")


def one_more_case(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    medians = [float(eh.distribution("ppr", n, cm).quantile(0.5)) for n in range(5, 50)]
    steps = np.abs(np.diff(medians))
    up = int((np.diff(medians) > 0).sum())
    return graded(
        bool(steps[:5].max() > 0.02),
        f"the median of PPR moves by up to {steps[:5].max():.3f} from one n to the next for n = 5..10, by up to "
        f"{steps[-5:].max():.3f} for n = 44..49, {up} times up and {len(steps) - up} times down or not at all",
    )


def all_configurations(study: Study) -> Outcome:
    apart = {}
    for n in (5, 25, 100):
        cells = eh.enumerate_matrices(n)
        logs = np.cumsum(np.r_[0.0, np.log(np.arange(1, n + 1))])
        drawn = np.exp(logs[n] - logs[cells.astype(int)].sum(axis=1) - n * log(4))
        apart[n] = 0.5 * np.abs(drawn - 1 / len(cells)).sum()
    shown = ", ".join(f"{v:.3f} at n = {n}" for n, v in apart.items())
    return graded(
        max(apart.values()) < 1e-9,
        f"all configurations alike is another law than four probabilities of 0.25; total variation {shown}",
    )


def limits_of_figure_2(study: Study) -> Outcome:
    keys = {"acc": 0.5, "ppr": 0.5, "tpr": 0.5}
    drawn = {k: eh.distribution(k, 1000, QUARTER) for k in (*keys, "mcc", "mcc_limit")}
    alike = {k: eh.distribution(k, 1000) for k in keys}
    means = all(abs(d.mean - keys.get(k, 0.0)) < 1e-6 for k, d in drawn.items())
    narrow = all(d.std < 0.04 for d in drawn.values())
    spread = ", ".join(f"{k} {d.std:.3f}" for k, d in alike.items())
    return graded(
        means and narrow and all(d.std < 0.04 for d in alike.values()),
        f"with four probabilities of 0.25 they do (sd at n = 1000 at most {max(d.std for d in drawn.values()):.3f}); "
        f"over all configurations nothing narrows: sd at n = 1000 {spread}",
        given=means and narrow,
    )


def most_jagged(study: Study) -> Outcome:
    binomial, leaders = {"acc", "prev", "ppr"}, []
    for truth, _ in study.groups.values():
        jumps = {key: _jump(key, truth) for key in METRICS}
        leaders.append(sorted(jumps, key=jumps.__getitem__, reverse=True))
    top_three = sum(set(ranked[:3]) == binomial for ranked in leaders)
    top_four = sum(set(ranked[:4]) == binomial | {"mb"} for ranked in leaders)
    return graded(
        top_three == len(leaders),
        "by the largest change of P(S ≤ s) from n to n + 1, mean over n = 5..14: the three binomial metrics lead in "
        f"{top_three} of {len(leaders)} groups; they and marginal benefit, a difference of shares, in {top_four}",
        given=top_four == len(leaders),
    )


def _jump(key: str, truth: eh.ConfusionMatrix) -> float:
    worst = []
    for n in range(5, 15):
        one, two = eh.distribution(key, n, truth), eh.distribution(key, n + 1, truth)
        at = np.union1d(one.support, two.support)
        worst.append(np.abs(_reached(one, at) - _reached(two, at)).max())
    return float(np.mean(worst))


def _reached(d: eh.Distribution, at: Floats) -> Floats:
    total: Floats = np.r_[0.0, np.cumsum(d.probabilities)]
    return total[np.searchsorted(d.support, at + 1e-12, side="right")]


def sample_counts(study: Study) -> Outcome:
    points = len(SIZES) * len(study.groups)
    return graded(
        points == 1450 and SIZES[-1] == 150,
        f"{len(SIZES)} sizes × {len(study.groups)} groups × 10⁶ = {points / 1000:.2f}·10⁹, with n = {SIZES[0]} to "
        f"{SIZES[-1]}; up to 150 there would be {len(SIZES) + 1} sizes",
        given=points == 1450,
    )


COUNTING = (
    Claim("Theorem A.1", "there are C(n+3, 3) confusion matrices of n cases", configurations),
    Claim("Corollary A.1.1", "their number grows as n³", cubic),
    Claim("Theorem A.2", "a cell equals x in C(n−x+2, 2) of them", cell_values),
    Claim(
        "Section 4", "the metrics considered are 21: six binomial, eight joint ratio, seven others", twenty_one_metrics
    ),
    Claim("Table 1", "binomial metrics, marginal benefit and OFI are never undefined (n ≥ 1)", no_holes),
    Claim("Theorem C.1", "each joint ratio metric is undefined on n + 1 matrices", joint_ratio_holes),
    Claim("Theorems C.2, C.3", "original F1 is undefined on C(n+2, 2) matrices, simplified F1 on one", f1_holes),
    Claim("Theorem C.4", "MCC is undefined on 4n matrices", mcc_holes),
    Claim("Theorem C.5", "PT is undefined on at least 2n + 2 matrices", pt_lower_bound, "E1"),
    Claim("Theorem C.5", "PT is undefined on fewer than e^γ n ln ln n + 0.6483 n / ln ln n", pt_upper, "E1"),
    Claim("Table 1", "PT's undefined cases grow as O(n log log n)", pt_growth, "E1"),
    Claim("Theorem C.6", "TE is undefined in C(n₁+2, 2) + C(n₂+2, 2) − 1 cases", te_holes, "E3"),
    Claim(
        "Section 4",
        "for all metrics undefined cases grow slower than the n³ configurations",
        slower_than_configurations,
        "E3",
    ),
    Claim("Section 3", "the range of PPR of the Multiracial group narrows as n grows", narrows),
    Claim("Section 3", "one case more can change the distribution visibly when n is small", one_more_case),
    Claim("Section 3", "PPR of the Multiracial group converges to 1365/5956 ≈ 0.23", ppr_limit, "E23"),
    Claim(
        "Section 3",
        "Figure 2 takes all configurations, so that all four probabilities are 0.25",
        all_configurations,
        "E22",
    ),
    Claim("Section 3", "ACC, predicted positive and TPR converge to 0.5, MCC to 0", limits_of_figure_2, "E22"),
    Claim("Section 3", "the expected value of a metric is its value at the true rates", expected_score, "E23"),
    Claim("Section 7", "binomial metrics are the most jagged", most_jagged),
    Claim(
        "Section 6.2", "n from 5 to 150 and a million draws make 1.45 billion samples a metric", sample_counts, "E21"
    ),
)
