"""Other libraries: what they give for the same counts, and that ``benchmarks/peers`` prints just that.

The facts in ``golden/peers.json`` are values, with their sources: PyCM's class statistics and cases from the
literature, aequitas' fixtures and COMPAS tables, fairlearn's rates, and what it returned as disparities of its test
data. Where a library gives another answer, `DIFFERS` says which and why, and the difference is tested too.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import needs
from oracle import golden
from pytest import approx
from scipy.optimize import brentq
from scipy.stats import beta, binom

from evenhand import ConfusionMatrix, examples, list_metrics, metric
from evenhand.errors import UnknownName

ROOT = Path(__file__).parents[1]
GENERATOR = ROOT / "benchmarks" / "peers"
EVIDENCE = (ROOT / "docs" / "reference" / "evidence.md").read_text("utf-8")
Cells = tuple[int, ...]

# Facts

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
NAMES = {"PyCM": PYCM, "aequitas": AEQUITAS | {f"{name}_disparity": f"{name}_ratio" for name in AEQUITAS}}


def ours(fact: dict[str, Any], key: str) -> float:
    if "y_true" in fact:
        return float(metric(key)(fact["y_true"], fact["y_pred"], positive=fact["pos_label"]))
    groups = [fact["cells"], fact["reference"]] if "reference" in fact else [fact["cells"]]
    return float(metric(key)(*(ConfusionMatrix.from_array(cells) for cells in groups)))


def folded(fact: dict[str, Any], key: str) -> float:
    """A ratio as fairlearn gives it: the smaller over the larger, at most 1."""
    value = ours(fact, key)
    return min(value, 1 / value)


# By library and name: what it is there, from our scores, where that is not the metric of that name here.
DIFFERS: dict[tuple[str, str], Callable[[dict[str, Any]], float]] = {
    # The group's share of the predicted positives of all groups; the share of the group's own cases is pprev.
    ("aequitas", "ppr"): lambda fact: (fact["cells"][0] + fact["cells"][2]) / fact["of_all_predicted"],
    # The smallest of several ratios, which is no metric here.
    ("fairlearn", "equalized_odds_ratio"): lambda fact: min(folded(fact, "tpr_ratio"), folded(fact, "fpr_ratio")),
}
for name in ("demographic_parity", "equal_opportunity", "accuracy_score", "false_positive_rate", "false_negative_rate"):
    # The largest minus the smallest score, without a direction; here it is group minus reference.
    DIFFERS["fairlearn", f"{name}_difference"] = lambda fact, key=f"{name}_difference": abs(ours(fact, key))  # type: ignore[misc]
for name in ("demographic_parity", "equal_opportunity", "accuracy_score", "false_positive_rate", "true_negative_rate"):
    DIFFERS["fairlearn", f"{name}_ratio"] = partial(folded, key=f"{name}_ratio")


def test_scores_are_those_of_other_libraries() -> None:
    """Equal to the digits given, and undefined exactly where they are; a name that differs really does."""
    counted = Counter[str]()
    unlike = set()
    for fact in FACTS:
        source = PEERS["sources"][fact["source"]]
        library = source["library"].split()[0]
        for name, theirs in fact["values"].items():
            counted[library] += 1
            explained = DIFFERS.get((library, name))
            found = explained(fact) if explained else ours(fact, NAMES.get(library, {}).get(name, name))
            near = (
                math.isnan(found) if theirs is None else abs(found - theirs) <= 0.5 * 10.0 ** -source["digits"] + 1e-12
            )
            assert near, (fact, name)
            if explained and name != "equalized_odds_ratio" and ours(fact, name) != approx(theirs, abs=0.006):
                unlike.add((library, name))
    assert counted == {"PyCM": 374, "aequitas": 324, "fairlearn": 165}
    assert {fact["source"] for fact in FACTS} == set(PEERS["sources"])
    assert sum(value is None for fact in FACTS for value in fact["values"].values()) == 43
    assert unlike == set(DIFFERS) - {("fairlearn", "equalized_odds_ratio")}
    with pytest.raises(UnknownName, match=r"use 'tpr_ratio' and 'fpr_ratio', or the function of that name "):
        metric("equalized_odds_ratio")


# The tables of conformance


def labels(cells: Cells) -> tuple[list[int], list[int]]:
    """By hand: true and predicted labels of TP, FN, FP and TN."""
    tp, fn, fp, tn = cells
    return [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn


def sklearn_score(key: str) -> Callable[[Cells], Any] | None:
    from sklearn import metrics as sk

    ratios = sk.class_likelihood_ratios
    score: Callable[..., Any] | None = {
        "acc": sk.accuracy_score, "tpr": sk.recall_score, "ppv": sk.precision_score, "f1": sk.f1_score,
        "mcc": sk.matthews_corrcoef, "balanced_accuracy": sk.balanced_accuracy_score, "kappa": sk.cohen_kappa_score,
        "jaccard": sk.jaccard_score, "tnr": partial(sk.recall_score, pos_label=0),
        "npv": partial(sk.precision_score, pos_label=0), "lr_plus": lambda y, p: ratios(y, p)[0],
        "lr_minus": lambda y, p: ratios(y, p)[1],
    }.get(key)  # fmt: skip
    return score and (lambda cells: score(*labels(cells)))


def our_score(key: str) -> Callable[[Cells], Any] | None:
    one_group = {m.key for m in list_metrics() if m.groups == 1}
    return (lambda cells: float(metric(key)(ConfusionMatrix.from_array(cells)))) if key in one_group else None


def rows_of(text: str) -> list[list[str]]:
    return [
        [c.strip() for c in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]


def cell(score: Callable[[Cells], Any], cells: Cells) -> str:
    """What a call gives, as a cell; * for a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = score(cells)
        except Exception as error:
            return f"`{type(error).__name__}`"
    shown = (
        f"`'{value}'`"
        if isinstance(value, str)
        else "nan"
        if math.isnan(value)
        else f"{round(float(value), 3) + 0.0:g}"
    )
    return shown + "*" * bool(caught)


@pytest.mark.slow
def test_the_generator_says_what_the_library_gives() -> None:
    """By direct calls of the libraries that are installed."""
    needs("fairlearn", "pycm")
    code = (
        "from conformance import IN_DEV, conform, conformance_tables; from registry import Desk\n"
        "desk = Desk()\nfor name in IN_DEV: desk.find(name)\n"
        "print('\\n'.join(conformance_tables(conform(desk, IN_DEV), IN_DEV)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=GENERATOR, capture_output=True, text=True, check=True)
    compared = Counter[str]()
    for block in re.split(r"^### .*\(`", done.stdout, flags=re.MULTILINE)[1:]:
        key, body = block.split("`)", 1)
        heads, _, *rows = rows_of(re.split(r"^#", body, flags=re.MULTILINE)[0])
        for library, find in (("evenhand", our_score), ("scikit-learn", sklearn_score)):
            score = find(key)
            for row in rows if library in heads else ():
                cells = tuple(int(c) for c in re.findall(r"\d+", row[0]))
                assert row[heads.index(library)] == (cell(score, cells) if score else ""), (library, key, cells)
                compared[library] += 1
    assert len(compared) == 2 and min(compared.values()) > 80


# Coverage


def ten_groups() -> list[tuple[float, float, float]]:
    """Shares of positives, of predicted positives, and of true positives."""
    violent = examples.compas_violent()
    groups = [violent["Black"], violent["White"], *examples.folktables_income().values()]
    return [((c.tp + c.fn) / c.n, (c.tp + c.fp) / c.n, c.tp / c.n) for c in groups]


def wald(k: int, n: int) -> tuple[float, float]:
    half = 1.959963984540054 * math.sqrt(k / n * (1 - k / n) / n)
    return max(0.0, k / n - half), min(1.0, k / n + half)


def clopper_pearson(k: int, n: int) -> tuple[float, float]:
    return (0.0 if k == 0 else beta.ppf(0.025, k, n - k + 1)), (1.0 if k == n else beta.ppf(0.975, k + 1, n - k))


def mid_p(k: int, n: int) -> tuple[float, float]:
    """The rates at which more than k, or fewer, have a probability of 2.5%, half of that of k included."""

    def beyond(rate: float, above: bool) -> float:
        tail = binom.cdf(k, n, rate) if above else binom.sf(k - 1, n, rate)
        return float(tail - binom.pmf(k, n, rate) / 2 - 0.025)

    ends = [float(brentq(beyond, 1e-12, 1 - 1e-12, args=(above,))) if k != at else float(above)
            for above, at in ((False, 0), (True, n))]  # fmt: skip
    return ends[0], ends[1]


def coverage(n: int, of: int, interval: Callable[[int, int], tuple[float, float]]) -> tuple[float, float]:
    """Mean and smallest coverage of TPR (of = 0) or PPV (of = 1) over the ten groups, given a denominator above 0."""
    ends = {(k, m): interval(k, m) for m in range(1, n + 1) for k in range(m + 1)}
    held, defined = [], []
    for shares in ten_groups():
        rate = shares[2] / shares[of]
        denominators = binom.pmf(np.arange(n + 1), n, shares[of])
        defined.append(1 - denominators[0])
        inside = [(k, m) for (k, m), (low, high) in ends.items() if low - 1e-9 <= rate <= high + 1e-9]
        held.append(sum(denominators[m] * binom.pmf(k, m, rate) for k, m in inside))
    return 100 * sum(held) / sum(defined), 100 * min(h / d for h, d in zip(held, defined, strict=True))


def covered_on_the_page(table: str, row: str, column: str) -> tuple[float, ...]:
    """Mean and smallest coverage in a table that begins with ``table``."""
    heads, _, *rows = rows_of(f"| {table} |" + EVIDENCE.split(f"\n| {table} |", 1)[1].split("\n\n", 1)[0])
    (cells,) = (cells for cells in rows if cells[0].startswith(row))
    return tuple(float(number) for number in re.findall(r"[\d.]+", cells[heads.index(column)]))


@pytest.mark.parametrize("n", [10, pytest.param(20, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.slow)])
def test_coverage_in_the_evidence_is_that_of_the_interval(n: int) -> None:
    """Exact cells, by SciPy."""
    for row, interval in (("evenhand", mid_p), ("normal", wald), ("Clopper-Pearson", clopper_pearson)):
        assert covered_on_the_page("TPR", row, f"n = {n}") == approx(coverage(n, 0, interval), abs=0.051)
        if n == 10 and row != "Clopper-Pearson":
            assert covered_on_the_page("n = 10", row, "PPV") == approx(coverage(n, 1, interval), abs=0.051)


# The machinery of the comparison


def in_generator(code: str) -> Any:
    """What a piece of code prints as JSON among the generator's modules."""
    words = [sys.executable, "-c", f"import json\n{code}"]
    return json.loads(subprocess.run(words, cwd=GENERATOR, capture_output=True, text=True, check=True).stdout)


def test_a_peer_that_is_not_installed_is_listed_with_the_reason() -> None:
    found = in_generator(
        "import registry\n"
        "from registry import PEERS, Desk, Peer, Refused\n"
        "PEERS['nobody'] = Peer('nobody', 'nobody', 'no_such_module')\n"
        "desk = Desk(); desk.find('nobody')\n"
        "try: desk.ask('nobody', 'scores', {})\n"
        "except Refused as reason: print(json.dumps([desk.missing, str(reason)]))"
    )
    reason = "not installed here, and no folder of environments was given"
    assert found == [{"nobody": reason}, reason]


def test_listed_cases_coverage_and_alarms_are_counted_as_they_should_be() -> None:
    """Probabilities sum to one, P(TP = 0 | n = 4) is (1 - p)**4, and a whole list has every matrix.

    Of three equally likely matrices one has no TPR and one gets no interval: half of the rest is withheld. Of four
    years one has an early alarm; of the other three two are found, after 1 and 3 weeks: the median is 3.
    """
    listed, sums, covered, alarms = in_generator(
        "import numpy as np\nfrom covering import covered\nfrom groups import Cases, TEN, listed, true_score\n"
        "from looks import BEGINS, looked\n"
        "parts = [listed(k, 4) for k in ('tpr', 'ppv', 'f1')]\n"
        "sums = [[w.sum(axis=1).tolist() for w in (p.weights, p.weights[:, p.matrices[:, 0] == 0])] for p in parts]\n"
        "m = np.array([[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1]])\n"
        "c = covered('tpr', Cases(m, np.full((10, 3), 1 / 3)), [[0.3, 0.45], None, [0.0, 1.0]])\n"
        "truth = true_score('tpr')\n"
        "a = looked(BEGINS, [BEGINS, BEGINS + 1, BEGINS + 3, None])\n"
        "b = looked(None, [None, 7, None, None])\n"
        "print(json.dumps([sums, listed('mcc', 4, whole=True).matrices.sum(axis=1).tolist(),\n"
        "  [c.mean, c.withheld, c.width, float(((0.3 <= truth) & (truth <= 0.45)).mean())],\n"
        "  [a.alarm.share, a.alarm.count, a.weeks, a.early.share, b.alarm.share]]))"
    )
    for total, without in listed:
        assert total == approx([1.0] * 10)
        assert without == approx([(1 - shares[2]) ** 4 for shares in ten_groups()], rel=1e-6)
    assert sums == [4] * 35
    mean, withheld, width, share = covered
    assert 0 < share < 1 and (mean, withheld, width) == approx((share, 0.5, 0.15))
    assert alarms == approx([2 / 3, 3, 3, 1 / 4, 1 / 4])


# Three binary calls with four values, of which one is 0/0; and calls with weights, averages and three classes.
TESTS = """
import pytest
from sklearn.metrics import accuracy_score, class_likelihood_ratios, f1_score, precision_score

def test_values():
    assert accuracy_score(["a", "b", "b"], ["a", "b", "a"]) == 2 / 3
    assert precision_score([1, 0, 0], [0, 0, 0], zero_division=0) == 0
    assert class_likelihood_ratios([1, 1, 0, 0, 0], [1, 0, 1, 0, 0]) == pytest.approx((1.5, 0.75))

def test_others():
    accuracy_score([1, 0], [1, 1], sample_weight=[1, 2])
    f1_score([1, 0], [1, 1], average="macro")
    accuracy_score([1, 2, 3], [1, 2, 2])
"""


@pytest.mark.slow
def test_calls_of_peers_own_tests_are_compared(tmp_path: Path) -> None:
    """Binary ones without weights; a plugin that takes accuracy for its complement is noticed: 1/3 here, 2/3 there."""
    (tmp_path / "test_few.py").write_text(TESTS, "utf-8")
    (tmp_path / "own_tests.py").write_text((GENERATOR / "own_tests.py").read_text("utf-8"), "utf-8")
    (tmp_path / "wrong.py").write_text(
        "import own_tests\nown_tests.SKLEARN['accuracy_score'] = own_tests.SKLEARN['zero_one_loss']\n", "utf-8"
    )
    wrong = (
        f"import os; os.environ['PYTEST_PLUGINS'] = 'wrong'; own_tests.__file__ = {str(tmp_path / 'own_tests.py')!r}"
    )
    run = f"found = own_tests.run('scikit-learn', tests=[{str(tmp_path / 'test_few.py')!r}])"
    right, other = (
        in_generator(
            f"import own_tests\n{before}\n{run}\nprint(json.dumps([found[k] for k in ('counted', 'tests', 'kept')]))"
        )
        for before in ("", wrong)
    )
    hole = ["hole", "precision_score", "0, 1, 0, 2", "0", "nan", "", 1]
    assert right == [{"calls": 3, "equal": 3, "hole": 1, "other calls": 3}, {"passed": 2}, [hole]]
    assert other[0] == {"calls": 3, "different": 1, "equal": 2, "hole": 1, "other calls": 3}
    assert ["different", "accuracy_score", "1, 1, 0, 1", "0.666667", "0.333333", "", 1] in other[2]
