"""What each library returns for matrices that leave scores undefined, beside what evenhand returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from registry import Desk, Refused

from evenhand import metric

__all__ = ["FINE", "IN_DEV", "LIBRARIES", "MATRICES", "conform", "conformance_tables", "gap_table"]

FINE = (30, 10, 12, 48)
MATRICES = {
    "nothing missing": FINE,
    "no positives": (0, 0, 2, 6),
    "no negatives": (3, 2, 0, 0),
    "no predicted positives": (0, 3, 0, 5),
    "no predicted negatives": (3, 0, 5, 0),
    "only TP": (4, 0, 0, 0),
    "only FN": (0, 4, 0, 0),
    "only FP": (0, 0, 4, 0),
    "only TN": (0, 0, 0, 4),
    "no TP": (0, 2, 3, 5),
    "no errors": (3, 0, 0, 5),
    "nothing right": (0, 3, 5, 0),
}
METRICS = (
    "acc", "prev", "ppr", "tpr", "fnr", "fpr", "tnr", "ppv", "npv", "fdr", "for", "f1", "mcc", "pt",
    "balanced_accuracy", "informedness", "markedness", "jaccard", "kappa", "lr_plus", "lr_minus", "dor",
)  # fmt: skip
LIBRARIES = ("evenhand", "scikit-learn", "fairlearn", "PyCM", "aequitas", "prob_conf_mat", "vfairness")
IN_DEV = ("evenhand", "scikit-learn", "fairlearn", "PyCM")
GAPS = ("evenhand", "fairlearn", "vfairness", "fairpipe")

Found = dict[str, Any]


def conform(desk: Desk, libraries: Iterable[str] = LIBRARIES) -> Found:
    """By library, the outcomes of all metrics and matrices, or why there are none."""
    job = {"metrics": METRICS, "matrices": list(MATRICES.values()), "reference": FINE}
    found: Found = {}
    for name in libraries:
        try:
            found[name] = desk.ask(name, "scores", job)[0]
        except Refused as reason:
            found[name] = str(reason)
    return found


def shown(outcome: dict[str, Any], usual: Iterable[str] = ()) -> str:
    """An outcome as a cell: a number, nan, a string, or an exception; * marks a warning that is not always shown."""
    if "error" in outcome:
        return f"`{outcome['error']}`"
    value = outcome["value"]
    mark = "*" if set(outcome["warned"]) - set(usual) else ""
    if value is None or isinstance(value, str):
        return f"`{value!r}`{mark}"
    if math.isnan(value):
        return f"nan{mark}"
    return f"{round(value, 3) + 0.0:g}{mark}"


def agree(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Both undefined (nan or 'None'), or the same number."""

    def number(outcome: dict[str, Any]) -> float | None:
        value = outcome.get("value", "error")
        if value is None or value == "None":
            return math.nan
        return None if isinstance(value, str) else value

    a, b = number(one), number(other)
    return a is not None and b is not None and ((math.isnan(a) and math.isnan(b)) or abs(a - b) < 1e-9)


def refused(results: dict[str, Any], at: int) -> bool:
    """Whether a library raises the same exception for every metric of a matrix: it does not take the matrix."""
    errors = {outcomes[at].get("error") for outcomes in results.values()}
    return len(errors) == 1 and None not in errors


def cell_of(results: Any, key: str, at: int) -> str:
    if isinstance(results, str):
        return "not run"
    if key not in results:
        return ""
    if refused(results, at):
        return "refused"
    return shown(results[key][at], results[key][0].get("warned", ()))


def named(at: int) -> str:
    name = list(MATRICES)[at]
    return f"{name} ({', '.join(map(str, MATRICES[name]))})"


def refusals(found: Found, libraries: Iterable[str]) -> Iterator[str]:
    for name in libraries:
        if isinstance(found[name], str):
            continue
        which = [at for at in range(len(MATRICES)) if refused(found[name], at)]
        if which:
            error = next(iter(found[name].values()))[which[0]]["error"]
            yield f"{name} refuses (`{error}`) {len(which)} matrices: {'; '.join(named(at) for at in which)}.\n"


def conformance_tables(found: Found, libraries: tuple[str, ...] = LIBRARIES) -> Iterator[str]:
    """One table per metric, of the matrices that are undefined here or where somebody returns something else."""
    yield from refusals(found, libraries)
    together = 0
    for key in METRICS:
        lines = []
        for at in range(len(MATRICES)):
            ours = found["evenhand"][key][at]
            answers = [found[lib] for lib in libraries if not isinstance(found[lib], str) and key in found[lib]]
            given = [answer[key][at] for answer in answers if not refused(answer, at)]
            if all(agree(ours, theirs) for theirs in given) and not math.isnan(ours["value"]):
                together += 1
                continue
            lines.append(f"| {named(at)} | " + " | ".join(cell_of(found[lib], key, at) for lib in libraries) + " |")
        if lines:
            yield f"### {metric(key).name} (`{key}`)\n"
            yield "| matrix | " + " | ".join(libraries) + " |"
            yield "|" + "---|" * (len(libraries) + 1)
            yield from lines
            yield ""
    every = len(METRICS) * len(MATRICES)
    yield (
        f"In the other {together} of {every} pairs of a metric and a matrix the score is defined, and all that have it "
        "and take the matrix agree."
    )


def compare_gaps(desk: Desk) -> Found:
    job = {"matrices": list(MATRICES.values()), "reference": FINE}
    found: Found = {}
    for name in GAPS:
        try:
            found[name] = desk.ask(name, "gaps", job)[0]
        except Refused as reason:
            found[name] = str(reason)
    return found


def gap_table(found: Found) -> Iterator[str]:
    yield "| matrix | " + " | ".join(GAPS) + " |"
    yield "|" + "---|" * (len(GAPS) + 1)
    for at in range(len(MATRICES)):
        each = ["not run" if isinstance(found[lib], str) else shown(found[lib][at]) for lib in GAPS]
        yield f"| {named(at)} | " + " | ".join(each) + " |"
