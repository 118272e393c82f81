"""Numbers that are wrong, or mislead: computed by the peer in this run, beside what is right.

What is right comes from SciPy or from a definition, not from evenhand. A case that a peer has put right shows as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from conformance import FINE
from registry import Desk, Refused
from scipy.stats import beta, fisher_exact

__all__ = ["find_wrong", "wrong_table"]

SMALL, LARGE = (0, 2, 8, 30), (300, 100, 120, 480)
LOPSIDED = (12, 2, 1, 85)
GROUPS = {"A": FINE, "B": (0, 0, 2, 6), "C": (3, 2, 0, 0), "D": (0, 3, 0, 5), "E": (0, 0, 0, 8)}
Line = tuple[str, str, str, str, bool]


def fisher(a: int, n: int, b: int, m: int) -> float:
    return float(fisher_exact(np.array([[a, n - a], [b, m - b]])).pvalue)


def exact_interval(k: int, n: int) -> tuple[float, float]:
    low = 0.0 if k == 0 else float(beta.ppf(0.025, k, n - k + 1))
    high = 1.0 if k == n else float(beta.ppf(0.975, k + 1, n - k))
    return low, high


def ends(pair: Any) -> str:
    return f"[{pair[0]:.3f}, {pair[1]:.3f}]"


def aequitas(found: Any) -> Iterator[Line]:
    rows = found["rows"]
    for group, (a, n), what in (("C", (3, 5), "TPR of 3/5 against 30/40"), ("D", (0, 3), "TPR of 0/3 against 30/40")):
        theirs, right = rows[group]["tpr_significance"], fisher(a, n, 30, 40)
        same = theirs == rows[group]["for_significance"]
        yield (
            f"p-value of {what}", f"{theirs:.4f}" + (", the same as that of FOR" if same else ""),
            f"{right:.3f}", "Fisher's exact test of the two rates", same,
        )  # fmt: skip
    theirs = rows["B"]["tpr_significance"]
    yield (
        "p-value of TPR in a group without positives",
        f"{theirs:.3f}",
        "none",
        "TPR is 0/0 there",
        not np.isnan(theirs),
    )
    theirs, right = rows["E"]["pprev_significance"], fisher(0, 8, 42, 100)
    yield (
        "p-value of selection, 0/8 against 42/100",
        f"{theirs:.1e}",
        f"{right:.3f}",
        "Fisher's exact test",
        theirs < right / 10,
    )


def confidenceinterval(found: Any) -> Iterator[Line]:
    yield (
        "95% and 50% intervals of precision in its report", f"{ends(found['usual'])} and {ends(found['half'])}",
        "a narrower one for 50%", "`confidence_level` is not passed on", found["half"] == found["usual"],
    )  # fmt: skip
    error = found["precision"].get("error")
    yield '`precision_score(average="binary")`, all defaults', error or "a number", "a number", "", error is not None
    tp, fn, fp, tn = LOPSIDED
    p = np.array([tn, fp, fn, tp]) / sum(LOPSIDED)
    f1 = 2 * tp / (2 * tp + fp + fn)
    slopes = np.array([0, -f1, -f1, 2 * (1 - f1)]) / (p[1] + p[2] + 2 * p[3])
    half = 1.959964 * np.sqrt((slopes**2 @ p - (slopes @ p) ** 2) / sum(LOPSIDED))
    theirs = (found["f1"][2] - found["f1"][1]) / 2
    yield (
        f"half the width of the F1 interval of {LOPSIDED}", f"{theirs:.4f}", f"{half:.4f}",
        "the delta method: it subtracts `p * p` where the outer product of p belongs", abs(theirs - half) > 1e-4,
    )  # fmt: skip
    yield "F1 interval of (3, 2, 0, 1)", ends(found["above"]), "within [0, 1]", "", found["above"][1] > 1


def equiboots(found: Any) -> Iterator[Line]:
    widths = {n: f"{n} rows {ends(pair)}" for n, pair in found["accuracy"].items()}
    right = "; ".join(f"{n} rows {ends(exact_interval(8 * int(n) // 10, int(n)))}" for n in widths)
    spans = [pair[1] - pair[0] for pair in found["accuracy"].values()]
    yield (
        "interval of an accuracy of 0.8", "; ".join(widths.values()), right,
        "Clopper-Pearson; it draws 100 rows whatever the group has", spans[0] < 1.5 * spans[-1],
    )  # fmt: skip
    yield (
        'two-tailed bootstrap p where 3% of differences are below 0', f"{found['pvalue']:g}", "0.06",
        'the code looks for "two-tailed", the setting is "two_tailed"', found["pvalue"] < 0.05,
    )  # fmt: skip


def fairlearn(found: Any) -> Iterator[Line]:
    total = found["tpr"] + found["fnr"]
    yield (
        "TPR and FNR of a group without positives",
        f"{found['tpr']:g} and {found['fnr']:g}",
        "undefined",
        "they add up to 1 elsewhere",
        total == 0,
    )
    yield (
        f"95% interval of TPR 0/2, by bootstrap, {SMALL}", ends(found["small"]), ends(exact_interval(0, 2)),
        "Clopper-Pearson", found["small"][1] < 0.5,
    )  # fmt: skip
    yield gap_line(found["gap"], "")


def gap_line(gap: Any, verdict: str) -> Line:
    right = f"Fisher's p = {fisher(0, 2, 300, 400):.3f}"
    return (
        "95% interval of the gap of TPR, 0/2 against 300/400", ends(gap) + verdict, right,
        "by the exact test, two positives do not show a gap at 5%", gap[0] > 0.5,
    )  # fmt: skip


def vfairness(found: Any) -> Iterator[Line]:
    yield gap_line(found["gap"], f', "{found["verdict"]}"')


def holisticai(found: Any) -> Iterator[Line]:
    tp, fn, fp, _ = FINE
    swapped = abs(found["recall"] - tp / (tp + fp)) < 1e-9
    yield (
        f"recall and precision of {FINE}", f"{found['recall']:.3f} and {found['precision']:.3f}",
        f"{tp / (tp + fn):.3f} and {tp / (tp + fp):.3f}", "`recall_matrix` and `precision_matrix` are swapped", swapped,
    )  # fmt: skip


def mcmetrics(found: Any) -> Iterator[Line]:
    tp, fn, fp, _ = FINE
    yield (
f"sensitivity of {FINE}, posterior median",
        f"{found['sensitivity']:.3f}" + (", the same draws as precision" if found["same"] else ""),
        f"about {tp / (tp + fn):.3f}", f"precision is {tp / (tp + fp):.3f}", found["same"],
    )  # fmt: skip
    yield (
        "largest false positive rate drawn for (10, 2, 20, 5)",
        f"{found['largest fpr']:.2f}",
        "at most 1",
        "it divides by FN + TN",
        found["largest fpr"] > 1,
    )


def prob_conf_mat(found: Any) -> Iterator[Line]:
    yield (
        "95% interval of TPR 0/3, default prior", ends(found["none of three"]), ends(exact_interval(0, 3)),
        "Clopper-Pearson; with Haldane's prior none of three is certainly none", found["none of three"][1] < 0.1,
    )  # fmt: skip
    then = found["then"].get("error")
    yield (
        "a valid matrix, added to a study after one that was refused", then or "accepted", "accepted",
        "the refused matrix stays in the study", then is not None,
    )  # fmt: skip


def pycm(found: Any) -> Iterator[Line]:
    yield (
        "95% interval of PPV 3/4, by default",
        ends(found["ends"]),
        ends(exact_interval(3, 4)),
        "Clopper-Pearson",
        found["ends"][1] > 1,
    )
    yield (
        "95% interval of PPV 3/3, by default",
        ends(found["sure"]),
        ends(exact_interval(3, 3)),
        "Clopper-Pearson",
        found["sure"][0] == 1,
    )


def statsmodels(found: Any) -> Iterator[Line]:
    error = found["score"].get("error")
    yield (
        '`confint_proportions_2indep(30, 40, 0, 3, method="score")`',
        error or "an interval",
        "an interval",
        '`method="newcomb"` gives one',
        error is not None,
    )
    right = fisher(0, 20, 300, 800)
    yield (
        "p-value of 0/20 against 300/800, default method",
        f"{found['never']:.1e}",
        f"{right:.1e}",
        "Fisher's exact test",
        found["never"] < right / 10,
    )


CASES = {
    "aequitas": aequitas, "confidenceinterval": confidenceinterval, "equiboots": equiboots, "fairlearn": fairlearn,
    "holisticai": holisticai, "mcmetrics": mcmetrics, "prob_conf_mat": prob_conf_mat, "PyCM": pycm,
    "statsmodels": statsmodels, "vfairness": vfairness,
}  # fmt: skip


def find_wrong(desk: Desk) -> dict[str, Any]:
    job = {"small": SMALL, "large": LARGE, "fine": FINE, "lopsided": LOPSIDED, "many": (10, 2, 20, 5), "groups": GROUPS}
    found: dict[str, Any] = {}
    for name in CASES:
        try:
            found[name] = desk.ask(name, "wrong", job)[0]
        except Refused as reason:
            found[name] = str(reason)
    return found


def wrong_table(found: dict[str, Any]) -> Iterator[str]:
    yield "| peer | asked | gives | right | why | |"
    yield "|---|---|---|---|---|---|"
    for name, lines in CASES.items():
        if isinstance(found[name], str):
            yield f"| {name} | | not run | | {found[name]} | |"
            continue
        for asked, gives, right, why, still in lines(found[name]):
            yield f"| {name} | {asked} | {gives} | {right} | {why} | {'seen' if still else 'no longer'} |"
