"""Results of other libraries, and what the catalogue makes of the same counts.

The facts in ``golden/peers.json`` are values, with their sources: PyCM's class statistics and cases from the
literature, aequitas' fixtures and COMPAS tables, fairlearn's rates, and what it returned as disparities of its test
data. Where a library gives another answer, `DIFFERS` says which and why, and the difference is tested too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from oracle import golden
from pytest import approx

from evenhand import ConfusionMatrix, metric
from evenhand.errors import UnknownName

PEERS = golden("peers")
FACTS: list[dict[str, Any]] = PEERS["facts"]

# By library, its names and ours.
PYCM = {
    "ACC": "acc", "AUC": "balanced_accuracy", "BM": "informedness", "DOR": "dor", "ERR": "inacc", "F0.5": "f0.5",
    "F1": "f1", "F2": "f2", "FDR": "fdr", "FNR": "fnr", "FOR": "for", "FPR": "fpr", "G": "fowlkes_mallows",
    "GI": "informedness", "GM": "g_mean", "J": "jaccard", "Kappa": "kappa", "MCC": "mcc", "MK": "markedness",
    "NLR": "lr_minus", "NPV": "npv", "OOC": "fowlkes_mallows", "Overall_ACC": "acc", "Overall_MCC": "mcc",
    "PLR": "lr_plus", "PPV": "ppv", "PRE": "prev", "TNR": "tnr", "TPR": "tpr", "Y": "informedness",
}  # fmt: skip
AEQUITAS = {name: name for name in ("tpr", "tnr", "for", "fdr", "fpr", "fnr", "npv", "precision", "pprev", "prev")}
AEQUITAS |= {f"{name}_disparity": f"{name}_ratio" for name in AEQUITAS}
NAMES = {"PyCM": PYCM, "aequitas": AEQUITAS}


def ours(fact: dict[str, Any], key: str) -> float:
    if "y_true" in fact:
        return float(metric(key)(fact["y_true"], fact["y_pred"], positive=fact["pos_label"]))
    groups = [fact["cells"], fact["reference"]] if "reference" in fact else [fact["cells"]]
    return float(metric(key)(*(ConfusionMatrix.from_array(cells) for cells in groups)))


def folded(value: float) -> float:
    """A ratio as fairlearn gives it: the smaller over the larger."""
    return min(value, 1 / value)


# By library and name: what it is there, from our scores, and why that is not the metric of that name here.
DIFFERS: dict[tuple[str, str], tuple[Callable[[dict[str, Any]], float], str]] = {
    ("aequitas", "ppr"): (
        lambda fact: (fact["cells"][0] + fact["cells"][2]) / fact["of_all_predicted"],
        "the group's share of the predicted positives of all groups; the share of the group's own cases is pprev",
    ),
    ("fairlearn", "equalized_odds_ratio"): (
        lambda fact: min(folded(ours(fact, "tpr_ratio")), folded(ours(fact, "fpr_ratio"))),
        "the smallest of several ratios, which is no metric here",
    ),
}
for name in ("demographic_parity", "equal_opportunity", "accuracy_score", "false_positive_rate", "false_negative_rate"):
    DIFFERS["fairlearn", f"{name}_difference"] = (
        lambda fact, key=f"{name}_difference": abs(ours(fact, key)),  # type: ignore[misc]
        "the largest minus the smallest score, without a direction; here it is group minus reference",
    )
for name in ("demographic_parity", "equal_opportunity", "accuracy_score", "false_positive_rate", "true_negative_rate"):
    DIFFERS["fairlearn", f"{name}_ratio"] = (
        lambda fact, key=f"{name}_ratio": folded(ours(fact, key)),  # type: ignore[misc]
        "the smallest over the largest score, at most 1; here it is group over reference",
    )


def library_of(fact: dict[str, Any]) -> str:
    return str(PEERS["sources"][fact["source"]]["library"].split()[0])


def agrees(found: float, theirs: float | None, digits: int) -> bool:
    """Equal to the digits given; undefined here exactly where it is there."""
    return math.isnan(found) if theirs is None else abs(found - theirs) <= 0.5 * 10.0**-digits + 1e-12


def test_there_are_hundreds_of_facts_from_each_kind_of_source() -> None:
    counted = Counter[str]()
    for fact in FACTS:
        counted[library_of(fact)] += len(fact["values"])
    assert counted == {"PyCM": 374, "aequitas": 324, "fairlearn": 165}
    assert {fact["source"] for fact in FACTS} == set(PEERS["sources"])
    assert sum(value is None for fact in FACTS for value in fact["values"].values()) == 43


def test_scores_are_those_of_the_library() -> None:
    for fact in FACTS:
        library, digits = library_of(fact), PEERS["sources"][fact["source"]]["digits"]
        for name, theirs in fact["values"].items():
            if (library, name) in DIFFERS:
                explained, _ = DIFFERS[library, name]
                assert agrees(explained(fact), theirs, digits), (fact, name)
            else:
                assert agrees(ours(fact, NAMES.get(library, {}).get(name, name)), theirs, digits), (fact, name)


@pytest.mark.parametrize(("library", "name"), DIFFERS, ids=lambda v: v)
def test_a_name_that_differs_really_does(library: str, name: str) -> None:
    """Some fact is not what the metric of that name scores; otherwise it would not need an explanation."""
    given = [(f, f["values"][name]) for f in FACTS if library_of(f) == library and name in f["values"]]
    assert given
    if name == "equalized_odds_ratio":
        with pytest.raises(UnknownName, match=r"use 'tpr_ratio' and 'fpr_ratio', or the function of that name "):
            metric(name)
    else:
        assert any(ours(fact, name) != approx(theirs, abs=0.006) for fact, theirs in given)
