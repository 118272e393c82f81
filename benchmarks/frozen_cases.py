"""The audits and the single calls whose numbers are frozen, in the names of the final interface.

Each is a text in Python that `frozen_adapter.py` makes sense of. The text of a single call is also its name. Sizes are
chosen so that all of them together take about two minutes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

Columns = dict[str, list[Any]]

# Metrics by kind

SHARES = ("acc", "prev", "ppr", "inacc", "nprev", "pnr")
RATIOS = ("tpr", "fpr", "tnr", "fnr", "ppv", "npv", "fdr", "for", "f1", "f1_original", "jaccard", "te_part")
SEVERAL_RATES = (
    *("mcc", "pt", "mb", "mcc_limit", "pt_limit", "balanced_accuracy", "informedness", "markedness"),
    *("fowlkes_mallows", "kappa", "g_mean", "lr_plus", "lr_minus", "dor", "f0.5", "f2"),
)
ONE_GROUP = (*SHARES, *RATIOS, *SEVERAL_RATES)
TWO_GROUPS = (
    *("equal_opportunity", "predictive_equality", "predictive_parity", "demographic_parity"),
    *("disparate_impact", "equalized_odds", "ofi", "te", "acc_difference", "f1_ratio", "mcc_difference"),
)
USUAL = ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev")

RULES = ("'cms'", "'opensafely'", "'ons'", "5", "20")
SETTINGS = (
    *("adjust='bh'", "adjust='none'", "family='audit'", "family='audit', adjust='bh'", "margin=0.03", "margin=0.3"),
    *("alpha=0.001", "alpha=0.2", "confidence_level=0.8", "confidence_level=0.999", "favourable='positive'"),
    *("strength=0", "strength=10", "strength={'prev': 7, 'tpr': 20, 'fpr': 3}"),
)
REFERENCES = ("'rest'", "'Z'", "'all'", "cm(100, 30, 20, 150)")
VARIED = ["tpr", "ppr", "f1", "mcc", "lr_plus", "disparate_impact"]
TURNS = [
    f"reference={REFERENCES[i % 4]}, alpha={(0.05, 0.2)[i % 2]}, "
    f"margin={(0.25, 0.1, 0.1)[i % 3]}, adjust={('holm', 'bh', 'none')[i % 3]!r}, "
    f"confidence_level={(0.8, 0.95, 0.95)[i % 3]}, favourable={('positive', 'negative')[i % 2]!r}"
    for i in range(8)
]
"""Settings of audits of random counts."""

# Data of audits


def people(n: int, seed: int, unknown: float = 0.0) -> Columns:
    """Made-up decisions: group D is small, group B is treated otherwise, and a share of groups is unknown."""
    draw = random.Random(seed)
    lines = []
    for _ in range(n):
        race = draw.choices("ABCD", (50, 30, 17, 3))[0]
        label = int(draw.random() < 0.4 + 0.1 * (race == "C"))
        score = min(max(draw.gauss(0.35 + 0.25 * label + 0.15 * (race == "B"), 0.2), 0.0), 1.0)
        lines.append({
            "race": None if draw.random() < unknown else race,
            "sex": draw.choice("fm"),
            "region": draw.choice(("north", "south", "west")),
            "age": draw.randint(18, 80),
            "label": label,
            "score": round(score, 2),
            "decision": int(score >= 0.5),
            "other": int(draw.random() < (0.75 if label else 0.2)),
            "third": int(draw.random() < (0.6 if label else 0.1 + 0.2 * (race == "A"))),
            "weight": round(0.5 + draw.random(), 3),
            "times": draw.randint(1, 4),
        })  # fmt: skip
    return {name: [line[name] for line in lines] for name in lines[0]}


def images(people_by_site: dict[str, int], seed: int) -> Columns:
    """Several images of each person, whose decisions depend on each other."""
    draw = random.Random(seed)
    columns: Columns = {name: [] for name in ("site", "person", "label", "decision")}
    for site, number in people_by_site.items():
        for person in range(number):
            skill, label = draw.betavariate(4, 2), int(draw.random() < 0.6)
            for _ in range(draw.randint(1, 5)):
                right = draw.random() < skill
                values = (site, f"{site} {person}", label, label if right else 1 - label)
                for name, value in zip(columns, values, strict=True):
                    columns[name].append(value)
    return columns


def animals(n: int, seed: int) -> Columns:
    """Decisions between three classes; group C has no case of one class."""
    draw = random.Random(seed)
    columns: Columns = {"race": [], "label": [], "decision": []}
    for _ in range(n):
        race = draw.choices("ABC", (6, 5, 1))[0]
        label = draw.choices(("cat", "dog", "fox"), (5, 3, 0 if race == "C" else 2))[0]
        right = draw.random() < (0.6 if race == "A" else 0.85)
        decision = label if right else draw.choice(("cat", "dog", "fox"))
        for name, value in zip(columns, (race, label, decision), strict=True):
            columns[name].append(value)
    return columns


def random_counts(seed: int) -> dict[Any, Any]:
    """Groups of 0 to 300 cases with rates near 0 and 1; some have the rates of the largest."""
    draw = random.Random(seed)
    common = [draw.gammavariate(0.6, 1) for _ in range(4)]
    groups = {}
    for name in "ABCDE"[: 2 + seed % 4]:
        rates = common if draw.random() < 0.5 else [draw.gammavariate(0.8, 1) for _ in range(4)]
        groups[name] = sampled(draw, draw.choice((0, 1, 8, 40, 150, 300)), rates)
    return {**groups, "Z": sampled(draw, 200, common)}


def sampled(draw: random.Random, n: int, rates: list[float]) -> tuple[int, ...]:
    cases = draw.choices(range(4), rates, k=n)
    return tuple(cases.count(cell) for cell in range(4))


SMALL = {"small": (0, 2, 8, 30), "large": (300, 100, 120, 480), "other": (12, 3, 6, 60)}
EDGES = {
    "usual": (30, 10, 12, 48),
    "no positives": (0, 0, 2, 6),
    "no negatives": (3, 2, 0, 0),
    "none predicted": (0, 3, 0, 5),
    "all true negatives": (0, 0, 0, 4),
    "one case": (0, 0, 0, 1),
    "always right": (9, 0, 0, 14),
    "always wrong": (0, 7, 5, 0),
}
UNKNOWN = {"A": (10, 10, 3, 20), "B": (80, 20, 10, 90), "C": (9, 2, 2, 9), None: (5, 5, 4, 6)}
BY_SEX = {
    (race, sex): cells
    for (race, sex), cells in zip(
        product(("White", "Black", "Asian"), ("f", "m")),
        ((40, 10, 12, 90), (55, 20, 15, 80), (20, 15, 12, 33), (9, 6, 11, 30), (4, 1, 2, 9), (3, 3, 0, 12)),
        strict=True,
    )
}


def disagreement(y_true: Any, y_pred: Any) -> float:
    """A metric of a user: the share of cases that are decided otherwise than labelled."""
    return sum(int(a != b) for a, b in zip(y_true, y_pred, strict=True)) / len(y_true)


def batches(*weeks: tuple[tuple[int, ...], ...]) -> list[tuple[str, Any]]:
    """Batches of a monitor, of groups A, B and so on."""
    return [(f"week {i}", dict(zip("ABC", groups, strict=False))) for i, groups in enumerate(weeks, start=1)]


def data() -> dict[str, Any]:
    """What the texts of audits may name, beside the examples."""
    fewer, gone = people(240, 2), people(240, 9)
    return {
        "large": people(700, 1),
        "fewer": fewer,
        "holes": people(500, 3, unknown=0.08),
        "variants": {**fewer, "race": [" a" if i % 15 == 0 else r for i, r in enumerate(fewer["race"])]},
        "unlabelled": {**gone, "label": [None if i % 9 == 0 else y for i, y in enumerate(gone["label"])]},
        "words": {**fewer, **{name: ["bad" if y else "good" for y in fewer[name]] for name in ("label", "decision")}},
        "pictures": images({"north": 14, "south": 60, "west": 30}, 4),
        "animals": animals,
        "random_counts": random_counts,
        "disagreement": ("disagreement", disagreement),
        "drifting": batches(*(((4 + w % 3, 8, 1, 9), (80, 20, 10, 90 - w)) for w in range(6))),
        "steady": batches(*(((5, 2 + w % 2, 1, 9), (50 + w, 20, 10, 90), (1, 0, 0, w)) for w in range(6))),
        "months": [(f"month {month}", people(120, 20 + month)) for month in range(4)],
        **{"SMALL": SMALL, "EDGES": EDGES, "UNKNOWN": UNKNOWN, "BY_SEX": BY_SEX},
        **{
            "SHARES": SHARES,
            "RATIOS": RATIOS,
            "SEVERAL_RATES": SEVERAL_RATES,
            "TWO_GROUPS": TWO_GROUPS,
            "USUAL": USUAL,
        },
        "decided": {"y_true": "label", "y_pred": "decision"},
        "scored": {"y_true": "label", "y_score": "score", "groups": "race"},
        "race": {"y_true": "label", "y_pred": "decision", "groups": "race"},
        "two": {"models": {"old": "decision", "new": "other"}},
        "three": {"models": {"old": "decision", "new": "other", "third": "third"}},
    }


AUDITS = {
    "reference: rest": "audit_counts(compas, metrics=USUAL, favourable='negative')",
    "reference: a group": "audit_counts(compas, metrics=USUAL, reference='Caucasian')",
    "reference: all": "audit_counts(compas, metrics=['tpr', 'ppr', 'f1', 'acc', 'mcc'], reference='all')",
    "reference: largest": "audit_counts(compas, metrics=['tpr', 'fpr'], reference='largest')",
    "reference: best": "audit_counts(compas, metrics=['tpr', 'ppr'], reference='best', favourable='positive')",
    "reference: a matrix": "audit_counts(compas, metrics=['tpr', 'ppv', 'acc'], reference=cm(300, 100, 120, 480))",
    "reference: a small matrix": "audit_counts(compas, metrics=['tpr', 'ppv'], reference=cm(3, 1, 2, 4))",
    "reference: of intersections": "audit_counts(BY_SEX, by=['race', 'sex'], metrics=['tpr', 'ppr'], "
    "reference={'race': 'White', 'sex': 'm'})",
    "metrics: violent, shares and ratios": "audit_counts(violent, metrics=[*SHARES, *RATIOS])",
    "metrics: income, usual": "audit_counts(income, metrics=USUAL)",
    "metrics: income, four fifths": "audit_counts(income, metrics=['ppr'], favourable='positive')",
    "metrics: small, several rates": "audit_counts(SMALL, metrics=SEVERAL_RATES)",
    "metrics: compas, several rates": "audit_counts(compas, metrics=['mcc', 'kappa', 'informedness', 'lr_plus', 'mb'])",
    "metrics: compas, several rates, a group": "audit_counts(compas, metrics=['mcc', 'g_mean', 'f2', 'dor'], "
    "reference='Caucasian')",
    "metrics: small, two groups": "audit_counts(SMALL, metrics=TWO_GROUPS)",
    "metrics: compas, two groups": "audit_counts(compas, metrics=['equalized_odds', 'disparate_impact', 'te'])",
    "metrics: edges, shares and ratios": "audit_counts(EDGES, metrics=['acc', 'tpr', 'ppv', 'f1', 'fpr'])",
    "metrics: edges, several rates": "audit_counts(EDGES, metrics=['mcc', 'pt', 'lr_plus', 'kappa'])",
    "metrics: intersections of counts": "audit_counts(BY_SEX, by=['race', 'sex'], metrics=['tpr', 'acc'])",
    "rows: usual metrics": "audit(large, **race, metrics=USUAL)",
    "rows: intersections": "audit(large, **decided, groups=['race', 'sex'], metrics=['tpr', 'fpr'], intersections=2)",
    "rows: no intersections": "audit(large, **decided, groups=['race', 'sex'], metrics=['tpr'], intersections=1)",
    "rows: intersections of three": "audit(fewer, **decided, groups=['race', 'sex', 'region'], metrics=['acc'], "
    "intersections=3)",
    "rows: references by column": "audit(large, **decided, groups=['race', 'sex'], metrics=['tpr'], "
    "reference={'race': 'A', 'sex': 'm'})",
    "rows: bins": "audit(large, **decided, groups='age', metrics=['acc', 'fpr'], bins={'age': [25, 45, 65]})",
    "rows: no labels": "audit(large, y_pred='decision', groups='race', metrics=['ppr'], favourable='positive')",
    "rows: named groups": "audit(fewer, **race, metrics=['tpr'], group_names={'race': {'A': 'Ann', 'B': 'Bob'}})",
    "rows: name variants": "audit(variants, **race, metrics=['tpr'], merge_variants=True)",
    "rows: missing labels": "audit(unlabelled, **race, metrics=['tpr', 'ppr'])",
    "rows: positive labels": "audit(words, **race, metrics=['tpr', 'ppv'], positive='good')",
    "rows: default threshold": "audit(fewer, **scored, metrics=['tpr', 'npv'])",
    "counts: frequencies": "audit(large, **race, metrics=['tpr', 'acc', 'mcc'], count='times')",
    "weights: rates": "audit(large, **race, metrics=['tpr', 'ppr', 'f1'], sample_weight='weight')",
    "weights: several rates": "audit(fewer, **race, metrics=['mcc'], sample_weight='weight')",
    "weights: named reference": "audit(fewer, **race, metrics=['tpr', 'ppr'], sample_weight='weight', reference='A')",
    "clusters: rates": "audit(pictures, **decided, groups='site', metrics=['acc', 'tpr', 'f1'], cluster='person')",
    "clusters: several rates": "audit(pictures, **decided, groups='site', metrics=['mcc', 'kappa'], cluster='person')",
    "clusters: named reference": "audit(pictures, **decided, groups='site', metrics=['acc'], cluster='person', "
    "reference='south')",
    "thresholds: three": "audit(large, **scored, metrics=['tpr', 'ppr', 'ppv'], threshold=[0.3, 0.5, 0.7])",
    "thresholds: several rates": "audit(fewer, **scored, metrics=['mcc', 'lr_plus'], threshold=[0.4, 0.6])",
    "thresholds: family audit": "audit(fewer, **scored, metrics=['tpr', 'acc'], threshold=[0.3, 0.6], family='audit')",
    "strata: rates": "audit(large, **race, metrics=['tpr', 'ppr'], strata='region')",
    "strata: several rates": "audit(fewer, **race, metrics=['f1', 'mcc'], strata='sex')",
    "strata: named reference": "audit(large, **race, metrics=['fpr'], strata=['region', 'sex'], reference='A')",
    "strata: counts": "audit_counts(BY_SEX, by=['race', 'sex'], strata='sex', metrics=['tpr', 'acc'])",
    "strata: thresholds": "audit(fewer, **scored, metrics=['tpr'], threshold=[0.4, 0.6], strata='sex')",
    "classes: rates": "audit(animals(500, 5), **race, classes='all', metrics=['tpr', 'ppv'], "
    "averages=['acc', 'macro f1'])",
    "classes: several rates": "audit(animals(300, 6), **race, classes='all', metrics=['mcc'], "
    "averages=['mcc', 'kappa'])",
    "classes: two of three": "audit(animals(300, 7), **race, classes=['cat', 'fox'], metrics=['f1'], "
    "averages=['weighted ppv'])",
    "classes: named reference": "audit(animals(200, 8), **race, classes='all', metrics=['tpr'], reference='B', "
    "averages=['macro tpr', 'micro tpr', 'balanced_accuracy'])",
    "unknown groups: counts": "audit_counts(UNKNOWN, metrics=['tpr', 'ppr', 'f1', 'mcc'])",
    "unknown groups: rows": "audit(holes, **race, metrics=['tpr', 'fpr', 'acc'])",
    "unknown groups: named reference": "audit(holes, **race, metrics=['tpr', 'ppr'], reference='A')",
    "unknown groups: two columns": "audit(holes, **decided, groups=['race', 'sex'], metrics=['ppr'])",
    "ranking: three scores": "audit(fewer, **scored, metrics=['auc', 'brier', 'log_loss'])",
    "ranking: named reference": "audit(large, **scored, metrics=['auc'], reference='A')",
    "ranking: strata": "audit(fewer, **scored, metrics=['auc', 'brier'], strata='sex')",
    "ranking: beside rates": "audit(fewer, **scored, metrics=['auc', 'tpr'], threshold=0.5)",
    "functions: rest": "audit(fewer, **race, metrics=[disagreement, 'acc'])",
    "functions: named reference": "audit(fewer, **race, metrics=[disagreement], reference='A')",
    "models: two": "compare(large, y_true='label', **two, groups='race', metrics=['acc', 'ppr', 'tpr', 'fpr'])",
    "models: three": "compare(fewer, y_true='label', **three, groups='race', metrics=['acc', 'tpr'])",
    "models: named reference": "compare(large, y_true='label', **two, groups='race', metrics=['tpr'], reference='A')",
    "models: two columns": "compare(large, y_true='label', **two, groups=['race', 'sex'], metrics=['acc'])",
    "monitor: a difference": "monitor(drifting, metrics=['tpr', 'fpr', 'f1'])",
    "monitor: no difference": "monitor(steady, metrics=['tpr', 'ppr', 'acc'], alpha=0.1)",
    "monitor: named reference": "monitor(steady, metrics=['tpr'], reference='B')",
    "monitor: rows": "monitor(months, race, metrics=['acc', 'ppr'])",
    "settings: several rates": "audit_counts(SMALL, metrics=['mcc', 'f1'], strength=10, confidence_level=0.9)",
    "protect: rows": "audit(large, **race, metrics=['acc', 'fpr'], protect='cms')",
    "protect: several rates": "audit_counts(compas, metrics=['mcc', 'acc'], protect='cms')",
    "protect: named reference": "audit_counts(compas, metrics=['tpr', 'ppr'], protect='ons', reference='Caucasian', "
    "favourable='negative')",
    **{f"protect: {rule}": f"audit_counts(compas, metrics=['tpr', 'ppr', 'f1'], protect={rule})" for rule in RULES},
    **{f"settings: {one}": f"audit_counts(compas, metrics=['tpr', 'ppr', 'acc'], {one})" for one in SETTINGS},
    **{f"metrics: random {i}": f"audit_counts(random_counts({i}), metrics={VARIED}, {TURNS[i]})" for i in range(8)},
}
"""Every frozen audit: its name, which begins with what is special about it, and the call."""


# Single calls, as text


def cm(tp: int, fn: int, fp: int, tn: int) -> str:
    return f"cm(tp={tp}, fn={fn}, fp={fp}, tn={tn})"


GROUPS = (
    *(cm(9, 6, 4, 21), cm(0, 2, 8, 30), cm(1, 0, 0, 0), cm(0, 0, 0, 1), cm(0, 0, 3, 5), cm(4, 3, 0, 0)),
    *(cm(0, 5, 0, 7), cm(6, 0, 8, 0), cm(12, 0, 0, 15), cm(0, 8, 6, 0), cm(400000, 100000, 200000, 300000)),
)
"""A usual group; few positives; single cases; an empty row or column; always right or wrong; a million cases."""
REFERENCE, SMALLER = cm(300, 100, 120, 480), cm(6, 3, 2, 14)
RATES, OTHER_RATES = "[0.3, 0.2, 0.1, 0.4]", "[0.25, 0.25, 0.15, 0.35]"
CLASSES = (
    "classes([[6, 2, 0], [1, 4, 0], [0, 1, 1]], labels=['cat', 'dog', 'fox'])",
    "classes([[2, 1, 0], [0, 1, 0], [0, 0, 0]], labels=['cat', 'dog', 'fox'])",
    "classes([[80, 6, 4], [5, 60, 5], [4, 3, 43]], labels=['cat', 'dog', 'fox'])",
)


FAIRLEARN = tuple(
    f"{what}_{how}"
    for what, how in product(("demographic_parity", "equal_opportunity", "equalized_odds"), ("difference", "ratio"))
)


def calls() -> Iterator[str]:
    """Every single call."""
    yield from _counting()
    yield from _scores()
    yield from _distributions()
    yield from _tests()
    yield from _gaps_and_intervals()
    yield from _smoothing()
    yield from _risks()
    yield from _planning()
    yield from _several_classes()


def _sizes(metric: str, n: int) -> str:
    return f"({n}, {n + 1})" if metric in TWO_GROUPS else f"{n}"


def _counting() -> Iterator[str]:
    for n in (0, 1, 2, 7, 50, 10**6, 10**12):
        yield f"count_matrices({n})"
        yield f"count_cell_value({n // 3}, {n})"
    yield from (f"enumerate_matrices({n})" for n in (0, 1, 3))
    yield from (f"undefined_table({n}, reference={r})" for n, r in product((1, 10, 200), ("None", RATES)))
    for metric, n in product((*ONE_GROUP, *TWO_GROUPS), (1, 6, 40, 10**5)):
        yield f"count_undefined({metric!r}, {_sizes(metric, n)})"
    yield f"count_undefined('pt', {10**13})"
    for metric in (*ONE_GROUP, *TWO_GROUPS):
        size = _sizes(metric, 8)
        yield f"undefined_probability({metric!r}, {size})"
        yield f"undefined_probability({metric!r}, {size}, {RATES})"
        yield f"undefined_probability({metric!r}, {size}, {SMALLER}, law='predictive')"
        yield f"undefined_probability({metric!r}, {size}, {SMALLER}, law='without_replacement')"


def _scores() -> Iterator[str]:
    for metric, group in product(ONE_GROUP, GROUPS):
        yield f"metric({metric!r})({group})"
    for metric, group in product(ONE_GROUP, GROUPS[2:8]):
        yield f"metric({metric!r}).why_undefined({group})"
    for metric, group in product(TWO_GROUPS, GROUPS[:7]):
        yield f"metric({metric!r})({group}, {REFERENCE})"
        yield f"metric({metric!r}).why_undefined({group}, {REFERENCE})"
    labels = "[1, 1, 0, 0, 1, 0, 1, 0, 1, 1], [1, 0, 0, 1, 1, 0, 1, 1, 0, 1]"
    yield f"from_labels({labels})"
    yield from (f"fairlearn({name!r}, {labels}, list('aabbaabbcc'))" for name in FAIRLEARN)
    for beta, group in product((0.1, 1, 3), GROUPS[:4]):
        yield f"f_beta({beta})({group})"
    for of, metric, group in product(("difference", "ratio"), ("npv", "mcc", "pt"), GROUPS[:3]):
        yield f"{of}({metric!r})({group}, {REFERENCE})"


def _distributions() -> Iterator[str]:
    laws = (f"reference={RATES}", "reference=None", f"reference={SMALLER}, law='predictive'",
            f"reference={REFERENCE}, law='without_replacement'")  # fmt: skip
    metrics = ("acc", "tpr", "ppv", "f1", "jaccard", *SEVERAL_RATES)
    for metric, n, law in product(metrics, (1, 6, 25), laws):
        yield f"distribution({metric!r}, n={n}, {law})"
    for metric, law in product(("tpr", "f1", "mb", "mcc", "kappa"), laws):
        yield f"distribution({metric!r}, n=100, {law})"
    for metric, law in product(("equal_opportunity", "disparate_impact", "mcc_difference"), laws[:2]):
        yield f"distribution({metric!r}, n=(4, 6), {law})"
    for metric, n in product(("acc", "tpr", "f1", "mb", "mcc"), (1000, 10**6)):
        if (metric, n) != ("mcc", 10**6):
            yield f"distribution({metric!r}, n={n}, {laws[0]}).cdf([-0.1, 0.3, 0.4, 0.6, 0.7])"
            yield f"distribution({metric!r}, n={n}, {laws[0]}).quantile([0.025, 0.5, 0.975])"


def _tests() -> Iterator[str]:
    metrics = ("acc", "tpr", "ppv", "f1", "mb", "mcc", "pt", "kappa", "lr_plus")
    sides = ("two-sided", "less", "greater")
    for metric, group, null, given, side in product(
        metrics, GROUPS[:2], ("pooled", "known", "predictive"), ("margin", "n"), sides
    ):
        settings = f"null={null!r}, given={given!r}, alternative={side!r}"
        yield f"match_test({group}, {REFERENCE}, {metric!r}, {settings})"
    for metric, group in product((*ONE_GROUP, *TWO_GROUPS), (*GROUPS[2:3], GROUPS[5], GROUPS[8])):
        yield f"match_test({group}, {REFERENCE}, {metric!r})"
    for metric in ("acc", "tpr", "ppv", "f1"):
        yield f"match_test({GROUPS[-1]}, {REFERENCE}, {metric!r})"
        yield f"match_test({GROUPS[0]}, {REFERENCE}, {metric!r}, mid_p=True)"
        yield f"match_test({GROUPS[0]}, {RATES}, {metric!r}, null='known', given='n')"
    for metric in ("tpr", "f1", "mcc", "kappa"):
        yield f"match_test({cm(3000, 2000, 1100, 3900)}, {RATES}, {metric!r}, null='known', given='n')"
        yield from (f"match_test({GROUPS[0]}, {SMALLER}, {metric!r}, given={given!r})" for given in ("margin", "n"))
        yield f"match_test({GROUPS[0]}, {REFERENCE}, '{metric}_difference', given='n')"


def _gaps_and_intervals() -> Iterator[str]:
    for metric, group in product(ONE_GROUP, GROUPS[:10]):
        yield f"interval({group}, {metric!r})"
    for metric, level in product(("acc", "tpr", "f1", "mcc"), (0.5, 0.99)):
        yield f"interval({GROUPS[0]}, {metric!r}, confidence_level={level})"
        yield f"disparity({GROUPS[0]}, {REFERENCE}, {metric!r}, confidence_level={level})"
    rates = ("acc", "tpr", "ppv", "f1", "jaccard")
    for metric, group, kind in product(rates, GROUPS, ("difference", "ratio")):
        yield f"disparity({group}, {REFERENCE}, {metric!r}, kind={kind!r})"
    for metric, group in product(rates, GROUPS[:2]):
        yield f"disparity({group}, {SMALLER}, {metric!r})"
    for metric, group in product(SEVERAL_RATES, GROUPS[:2]):
        yield f"disparity({group}, {REFERENCE}, {metric!r})"
    strata = f"{{'a': {GROUPS[0]}, 'b': {GROUPS[1]}}}, {{'a': {REFERENCE}, 'b': {SMALLER}}}"
    yield from (f"disparity({strata}, {metric!r})" for metric in rates[:3])
    yield from (f"disparity({strata}, {metric!r}, kind='odds ratio')" for metric in rates[:3])
    yield from (f"disparity({GROUPS[0]}, {REFERENCE}, {metric!r}, test='unconditional')" for metric in rates[:3])


def _smoothing() -> Iterator[str]:
    strengths = ("0", "1", "10", "250.5", "{'prev': 7, 'tpr': 20, 'fpr': 3}", "'auto'")
    for group, strength in product(GROUPS[:6], strengths):
        yield f"cross_prior_smooth({group}, {REFERENCE}, strength={strength})"
    for group, strength in product(GROUPS[:10], strengths[2:]):
        yield f"check_prior({group}, {REFERENCE}, strength={strength})"
    yield from (f"additive_smooth({group}, epsilon={e})" for group, e in product(GROUPS[:4], ("1e-10", "0.5", "1")))
    yield f"cross_prior_smooth({GROUPS[0]}, {RATES}, strength=10)"
    some = (GROUPS[:4], GROUPS[:2], (*GROUPS[:3], REFERENCE), GROUPS[:9])
    for groups in some:
        named = "{" + ", ".join(f"'{name}': {group}" for name, group in zip("abcdefghi", groups, strict=False)) + "}"
        yield f"learn_strengths({named})"
        yield f"cross_prior_smooth({named}, strength='auto')"


def _risks() -> Iterator[str]:
    estimators = ("Raw()", "Additive(1)", f"CrossPrior({OTHER_RATES}, 10)",
                  f"CrossPrior({OTHER_RATES}, {{'prev': 7, 'tpr': 20, 'fpr': 3}})")  # fmt: skip
    metrics = ("acc", "prev", "tpr", "ppv", "f1", "mb", "mcc", "kappa", "informedness", "pt")
    for metric, n, estimator in product(metrics, (1, 12, 40), estimators):
        yield f"risk({metric!r}, {RATES}, {n}, {estimator})"
    for metric, n, strength in product(("acc", "ppr", "mb"), (1, 10, 1000), (0, 10)):
        yield f"bias_variance({metric!r}, {RATES}, {OTHER_RATES}, {n}, {strength})"
    yield from (f"optimal_strength({m!r}, {RATES}, {OTHER_RATES})" for m in ("acc", "ppr", "mb", "tpr", "mcc"))
    groups = f"{{'a': {REFERENCE}, 'b': {GROUPS[0]}, 'c': {SMALLER}}}"
    yield f"stress_test({groups}, n=(5, 20), strengths=(5.0, 20.0))"
    yield f"stress_test({groups}, metrics=('mcc', 'tpr'), n=(10,), strengths=(10.0,))"


def _planning() -> Iterator[str]:
    for metric, n, gap in product(("acc", "tpr", "ppv", "f1"), (10, 60, 400), (-0.2, 0.1)):
        yield f"power({metric!r}, {n}, {REFERENCE}, difference={gap})"
        yield f"power({metric!r}, {n}, {RATES}, difference={gap})"
    for metric, gap in product(("acc", "tpr", "ppv", "f1"), (-0.3, -0.15)):
        yield f"sample_size({metric!r}, {REFERENCE}, difference={gap})"
        yield f"sample_size({metric!r}, {RATES}, difference={gap}, power=0.9, alpha=0.01)"
    for metric in ("acc", "tpr", "ppv", "f1"):
        yield f"sample_size({metric!r}, {RATES}, half_width=0.1)"
        yield f"sample_size({metric!r}, {RATES}, undefined_below=0.01)"
        yield from (f"detectable_difference({metric!r}, {n}, {REFERENCE})" for n in (20, 100))
    for metric in ("mcc", "informedness"):
        yield f"power({metric!r}, 60, {REFERENCE}, difference=-0.3)"
        yield f"sample_size({metric!r}, {REFERENCE}, difference=-0.3)"
        yield f"sample_size({metric!r}, {RATES}, half_width=0.2)"
        yield f"detectable_difference({metric!r}, 60, {REFERENCE})"
    yield f"power('tpr', 40, {REFERENCE}, difference=-0.2, redraw=True)"
    for metric, law in product(("acc", "tpr", "f1", "mcc"), (RATES, "None")):
        yield f"jaggedness({metric!r}, {law}, n=range(5, 26))"
    for metric, threshold in (("acc", 0.8), ("tpr", 0.7), ("f1", 0.7), ("mcc", 0.5), ("disparate_impact", 0.8)):
        yield f"exploitable_sizes({metric!r}, {RATES}, {threshold}, n=range(5, 31))"


def _several_classes() -> Iterator[str]:
    averaged = ("tpr", "ppv", "f1", "mcc", "acc")
    for table, metric in product(CLASSES, averaged):
        yield from (f"metric({metric!r})({table}, average={a!r})" for a in ("micro", "macro", "weighted"))
        yield from (f"metric({metric!r})({table}, label={label!r})" for label in ("cat", "fox"))
        yield f"metric({metric!r})({table}, average='macro', undefined='omit')"
        yield f"metric({metric!r}).why_undefined({table}, average='macro')"
    for table, metric in product(CLASSES, ("acc", "balanced_accuracy", "mcc", "kappa")):
        yield f"metric({metric!r})({table})"
    for metric, n in product(("acc", "balanced_accuracy", "mcc", "kappa"), (1, 5, 15)):
        yield f"count_undefined({metric!r}, {n}, classes=3)"
    for group, (metric, how) in product(CLASSES[:2], _ways()):
        yield f"match_test({group}, {CLASSES[2]}, {metric!r}{how})"
    for group, strength in product(CLASSES[:2], (1, 10)):
        yield f"cross_prior_smooth({group}, {CLASSES[2]}, strength={strength})"
    for table in CLASSES:
        yield f"interval({table}, 'tpr', label='cat')"
        yield f"interval({table}, 'acc')"
        yield f"class_scores({table}, ['tpr', 'ppv', 'f1', 'mcc'])"
        yield from (f"one_vs_rest({table}, {label!r})" for label in ("cat", "dog", "fox"))


def _ways() -> Iterable[tuple[str, str]]:
    return (
        ("acc", ""),
        ("tpr", ", label='cat'"),
        ("f1", ", average='micro'"),
        ("f1", ", average='macro'"),
        ("mcc", ""),
    )
