"""Claims about configurations, undefined cases and the spread of scores (Sections 3 and 4, Appendices A to C)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import comb, log

import numpy as np

import evenhand as eh

from ..exact import cumulative, multinomial_probabilities
from ..study import SIZES, Study
from ..tables import TABLE_1, count_undefined, pt_upper_bound
from .claim import Outcome, join_values, judge

QUARTERS = [0.25, 0.25, 0.25, 0.25]
BINOMIAL = {"acc", "prev", "ppr", "inacc", "nprev", "pnr"}
JOINT_RATIO = {"tpr", "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for"}
KEYS = [key for row in TABLE_1 for key in row.keys]


def configurations(study: Study) -> Outcome:
    counts = {n: len(eh.enumerate_matrices(n)) for n in range(1, 41)}
    wrong = sum(count != comb(n + 3, 3) for n, count in counts.items())
    return judge(wrong == 0, wrong=wrong, last=counts[40])


def cubic_growth(study: Study) -> Outcome:
    million = 10**6
    ratio = eh.count_matrices(2 * million) / eh.count_matrices(million)
    return judge(abs(ratio - 8) < 1e-4, ratio=ratio)


def cell_values(study: Study) -> Outcome:
    wrong = 0
    for n in range(1, 31):
        formula = [comb(n - x + 2, 2) for x in range(n + 1)]
        for cell in eh.enumerate_matrices(n).astype(int).T:
            counts = np.bincount(cell, minlength=n + 1)
            wrong += int((counts != formula).sum())
    return judge(wrong == 0, wrong=wrong)


def twenty_one_metrics(study: Study) -> Outcome:
    others = set(KEYS) - BINOMIAL - JOINT_RATIO
    kinds = [len(BINOMIAL.intersection(KEYS)), len(JOINT_RATIO.intersection(KEYS)), len(others)]
    return judge(kinds == [6, 8, 7], kinds=kinds, total=sum(kinds))


def undefined_as_printed(study: Study, metrics: Sequence[str]) -> Outcome:
    rows = [row for row in TABLE_1 if set(row.keys) & set(metrics)]
    wrong = sum(row.enumerate_undefined(n) != row.count(n) for row in rows for n in range(1, 21))
    last = {row.metrics: row.enumerate_undefined(20) for row in rows}
    return judge(wrong == 0, wrong=wrong, last=join_values("{0} {1:,}", last))


def pt_lower_bound(study: Study) -> Outcome:
    counts = {n: eh.count_undefined("pt", n) for n in range(3, 2001)}
    below = sum(count < 2 * n + 2 for n, count in counts.items())
    least = min(count / n for n, count in counts.items())
    return judge(below == 0, below=below, least=least)


def pt_upper(study: Study) -> Outcome:
    counts = {n: eh.count_undefined("pt", n) for n in range(3, 3001)}
    valid = [n for n, count in counts.items() if count < pt_upper_bound(n)]
    holds = len(valid) == len(counts)
    return judge(holds, total=len(valid), valid=valid, count=counts[100], bound=pt_upper_bound(100))


def pt_growth(study: Study) -> Outcome:
    sizes = (30, 2310, 30030, 510510)
    ratios = {n: eh.count_undefined("pt", n) / (n * log(log(n))) for n in sizes}
    holds = max(ratios.values()) < 2 * ratios[30]
    return judge(holds, ratios=join_values("{1:.1f} at n = {0:,}", ratios))


def te_undefined(study: Study) -> Outcome:
    (te,) = (row for row in TABLE_1 if row.metrics == "te")
    counts = {n: te.enumerate_undefined(n) for n in range(1, 13)}
    wrong = sum(count != te.count(n) for n, count in counts.items())
    pairs = eh.count_matrices(5) ** 2
    return judge(wrong == 0, count=counts[5], pairs=pairs, formula=te.count(5), wrong=wrong)


def slower_than_configurations(study: Study) -> Outcome:
    counts = {n: np.array([count_undefined(key, n) for key in KEYS]) for n in (10, 500, 1000)}
    groups = np.array([eh.metric(key).groups for key in KEYS])
    growth = counts[1000] / np.maximum(counts[500], 1)
    few, many = (counts[n] / float(eh.count_matrices(n)) ** groups for n in (10, 1000))
    return judge(
        growth.max() < 8,
        on_condition=bool(((many < few / 10) | (few == 0)).all()),
        fastest=KEYS[growth.argmax()],
        growth=growth.max(),
        few=few.max(),
        many=many.max(),
    )


def narrows(study: Study) -> Outcome:
    widths = {}
    for n in (5, 10, 20, 49):
        distribution = eh.distribution("ppr", n, study.folktables["Multiracial"])
        low, high = distribution.quantile([0.1, 0.9])
        widths[n] = high - low
    in_order = list(widths.values()) == sorted(widths.values(), reverse=True)
    return judge(in_order, widths=join_values("{1:.3f} at n = {0}", widths))


def one_more_case(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    medians = [eh.distribution("ppr", n, cm).quantile(0.5) for n in range(5, 50)]
    steps = np.abs(np.diff(medians))
    small, large = steps[:5].max(), steps[-5:].max()
    return judge(small > 0.05, small=small, large=large)


def ppr_limit(study: Study) -> Outcome:
    cm = study.folktables["Multiracial"]
    rate, printed = eh.metric("ppr")(cm), 1365 / 5956
    return judge(abs(rate - printed) < 5e-4, cm=cm, rate=rate, printed=printed)


def all_configurations(study: Study) -> Outcome:
    distances = {}
    for n in (5, 25, 100):
        multinomial = multinomial_probabilities(n, QUARTERS)
        distances[n] = 0.5 * np.abs(multinomial - 1 / len(multinomial)).sum()
    holds = max(distances.values()) < 1e-9
    return judge(holds, distances=join_values("{1:.3f} at n = {0}", distances))


def limits_of_figure_2(study: Study) -> Outcome:
    limits = {"acc": 0.5, "ppr": 0.5, "tpr": 0.5, "mcc": 0.0, "mcc_limit": 0.0}
    centred, shrink, stay, spread = True, [], [], {}
    # The standard deviation of a mean halves when n is quadrupled.
    for key, limit in limits.items():
        few, many = (eh.distribution(key, n, QUARTERS) for n in (25, 100))
        centred &= abs(many.mean - limit) < 1e-6
        shrink.append(many.std / few.std)
        few, many = (eh.distribution(key, n) for n in (25, 100))
        stay.append(many.std / few.std)
        spread[key] = many.std
    multinomial_converges = centred and max(shrink) < 0.55
    return judge(
        multinomial_converges and max(stay) < 0.55,
        on_condition=multinomial_converges,
        multinomial=max(shrink),
        uniform=min(stay),
        spread=join_values("{0} {1:.3f}", spread),
    )


def expected_score(study: Study) -> Outcome:
    truth, _ = study.groups["COMPAS/White"]
    gaps = {}
    for key in study.metrics:
        score = eh.metric(key)(truth)
        gaps[key] = [eh.distribution(key, n, truth).mean - score for n in (20, 100)]
    biased = {key: gap for key, gap in gaps.items() if abs(gap[0]) > 1e-9}
    return judge(
        not biased,
        on_condition=all(abs(large) < abs(small) / 2 for small, large in biased.values()),
        unbiased=len(gaps) - len(biased),
        biased=join_values("{0} {1[0]:+.3f} and {1[1]:+.3f}", biased),
    )


def most_jagged(study: Study) -> Outcome:
    first = first_without_mb = 0
    for truth, _ in study.groups.values():
        jumps = {key: _average_jump(key, truth) for key in study.metrics}
        ranking = sorted(jumps, key=jumps.__getitem__, reverse=True)
        first += set(ranking[:3]) <= BINOMIAL
        ranking.remove("mb")
        first_without_mb += set(ranking[:3]) <= BINOMIAL
    groups = len(study.groups)
    return judge(
        first == groups, on_condition=first_without_mb == groups, first=first, first_without_mb=first_without_mb
    )


def _average_jump(key: str, truth: eh.ConfusionMatrix) -> float:
    """The largest change of P(S ≤ s) from n to n + 1, averaged over n = 5..14."""
    distributions = [eh.distribution(key, n, truth) for n in range(5, 16)]
    jumps = []
    for smaller, larger in pairwise(distributions):
        scores = np.union1d(smaller.support, larger.support)
        change = cumulative(smaller, scores) - cumulative(larger, scores)
        jumps.append(np.abs(change).max())
    return float(np.mean(jumps))


def sample_counts(study: Study) -> Outcome:
    points, with_150 = len(SIZES) * len(study.groups), 146 * len(study.groups)
    holds = points == 1450 and SIZES[-1] == 150
    billions = [points / 1000, with_150 / 1000]
    return judge(holds, on_condition=points == 1450, sizes=SIZES, total=len(SIZES), billions=billions)
