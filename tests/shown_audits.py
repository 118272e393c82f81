"""Audits of every kind for tests of views, and what is counted of their data by hand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import evenhand as eh

HOSTILE = "<img src=x onerror=alert(1)> </script> {{7*7}} |`*_[x](http://evil.org) www.evil.org \u202eabc\x1b[2J"
SIGNS = {"higher": "▲", "lower": "▼", "unlike": "≠", "undefined": "✕", "inconclusive": "□", "not tested": "–",
         "equivalent": "●", "reference": "◆"}  # fmt: skip

Rows = list[tuple[str, int, float]]


def scored(n: int = 500, groups: int = 4, seed: int = 3) -> Rows:
    """Rows of group, label and score, with ties and with a group that scores higher."""
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        group = f"group {i % groups}"
        label = int(draw.random() < 0.4)
        score = draw.gauss(0.35 + 0.2 * label + 0.25 * (group == "group 1"), 0.15)
        rows.append((group, label, round(min(max(score, 0.0), 1.0), 1)))
    return rows


def at_thresholds(rows: Rows, thresholds: Any, **settings: Any) -> eh.Audit:
    """The audit of such rows at thresholds."""
    groups, labels, scores = zip(*rows, strict=True)
    data = {"race": list(groups), "label": list(labels), "score": list(scores)}
    given: dict[str, Any] = {"y_true": "label", "y_score": "score", "groups": "race", "threshold": thresholds}
    return eh.audit(data, **given | settings)


def counted(rows: Rows, group: str, threshold: float) -> tuple[int, int, int, int]:
    """TP, FN, FP and TN of a group, one row at a time."""
    found = [0, 0, 0, 0]
    for name, label, score in rows:
        if name == group:
            found[2 * (not label) + (score < threshold)] += 1
    return found[0], found[1], found[2], found[3]


def classified(n: int = 400, seed: int = 3) -> dict[str, list[Any]]:
    """Decisions between three classes; group A is decided worse, and C has no case of class z."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B", "C"], size=n, p=[0.35, 0.55, 0.1])
    y = rng.choice(["x", "y", "z"], size=n, p=[0.5, 0.3, 0.2])
    y[(race == "C") & (y == "z")] = "y"
    right = rng.random(n) < np.where(race == "A", 0.5, 0.85)
    p = np.where(right, y, rng.choice(["x", "y", "z"], size=n))
    return {"race": race.tolist(), "y": y.tolist(), "p": p.tolist()}


def of_classes(data: Any, **settings: Any) -> eh.Audit:
    """The audit of all classes."""
    given: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race", "classes": "all"}
    return eh.audit(data, **given | settings)


def decided(n: int = 600, seed: int = 5) -> dict[str, list[Any]]:
    """Decisions of two models on the same cases in three departments; the first selects group B more often."""
    draw = random.Random(seed)
    columns: dict[str, list[Any]] = {"race": [], "y": [], "old": [], "new": [], "department": []}
    for _ in range(n):
        race, y = draw.choice("AAABBC"), int(draw.random() < 0.4)
        columns["race"].append(race)
        columns["y"].append(y)
        columns["old"].append(int(draw.random() < (0.6 if y else 0.3) + 0.25 * (race == "B")))
        columns["new"].append(int(draw.random() < (0.7 if y else 0.2)))
        columns["department"].append(draw.choice(["law", "art", "maths"]))
    return columns


SCORED = scored()
COMPAS = eh.audit_counts(eh.examples.compas(), by="race", favourable="positive")
HOLES = eh.audit_counts(
    {"none": (0, 0, 2, 6), "some": (30, 10, 12, 48), "few": (0, 0, 0, 8)},
    metrics=["tpr", "mcc", "lr_plus", "demographic_parity", "equalized_odds"],
)
BEST = eh.audit_counts(eh.examples.compas(), by="race", metrics=["tpr", "ppr"], reference="best", favourable="positive")
THRESHOLDS = at_thresholds(SCORED, [0.7, 0.3, 0.5], metrics=["tpr", "ppv", "lr_plus"])
STRANGE = at_thresholds(
    [*SCORED, *[(HOSTILE, 0, 0.2), (HOSTILE, 0, 0.6)] * 2],
    [0.3, 0.5, 0.9, 2.0],
    metrics=["tpr", "ppv", "lr_plus", "equal_opportunity"],
)
MANY = at_thresholds(scored(900, groups=12), [0.3, 0.4, 0.5, 0.6], metrics=["tpr", "fpr"])
RANKED = at_thresholds(SCORED, [0.3, 0.5], metrics=["tpr", "auc", "brier"])
CLASSES = of_classes(classified(), metrics=["tpr", "ppv", "macro tpr", "macro ppv", "macro f1"])
STRATA = eh.audit(
    decided(), y_true="y", y_pred="old", groups="race", strata="department", metrics=["tpr", "ppr", "mcc"]
)
MODELS = eh.compare(decided(), y_true="y", models={"old": "old", "new": "new"}, groups="race", gaps=True)


def agreement(y_true: Any, y_pred: Any) -> float:
    """How often label and prediction agree."""
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


OWN = eh.audit(decided(), y_true="y", y_pred="old", groups="race", metrics=["tpr", ("agreement", agreement)])
BOTH = eh.audit(
    {**dict(zip(("race", "label", "score"), map(list, zip(*SCORED, strict=True)), strict=True)), "d": ["x", "y"] * 250},
    y_true="label", y_score="score", groups="race", strata="d", threshold=[0.3, 0.5], metrics=["tpr", "auc"],
)  # fmt: skip
AUDITS = {
    "plain": COMPAS, "holes": HOLES, "best": BEST, "thresholds": THRESHOLDS, "strange": STRANGE, "many": MANY,
    "ranked": RANKED, "classes": CLASSES, "strata": STRATA, "models": MODELS, "own function": OWN,
    "thresholds and strata": BOTH,
}  # fmt: skip
"""An audit of every kind, by what is special about it."""
