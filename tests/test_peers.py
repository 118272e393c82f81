"""What ``benchmarks/peers`` prints of other libraries is what they give, as far as they are installed with ``dev``.

Expected cells come from direct calls and from SciPy, not from ``benchmarks/peers``.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import needs
from pytest import approx
from scipy.optimize import brentq
from scipy.stats import beta, binom

from evenhand import ConfusionMatrix, examples, list_metrics, metric

ROOT = Path(__file__).parents[1]
GENERATOR = ROOT / "benchmarks" / "peers"
EVIDENCE = (ROOT / "docs" / "reference" / "evidence.md").read_text("utf-8")
Cells = tuple[int, ...]


def labels(cells: Cells) -> tuple[list[int], list[int]]:
    """By hand: true and predicted labels of TP, FN, FP and TN."""
    tp, fn, fp, tn = cells
    return [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn


def sklearn_scores() -> dict[str, Callable[[Cells], Any]]:
    from sklearn import metrics as sk

    def by_labels(score: Callable[..., Any], cells: Cells) -> Any:
        return score(*labels(cells))

    ratios = sk.class_likelihood_ratios
    found: dict[str, Callable[..., Any]] = {
        "acc": sk.accuracy_score, "tpr": sk.recall_score, "ppv": sk.precision_score, "f1": sk.f1_score,
        "mcc": sk.matthews_corrcoef, "balanced_accuracy": sk.balanced_accuracy_score, "kappa": sk.cohen_kappa_score,
        "jaccard": sk.jaccard_score, "tnr": lambda y, p: sk.recall_score(y, p, pos_label=0),
        "npv": lambda y, p: sk.precision_score(y, p, pos_label=0), "lr_plus": lambda y, p: ratios(y, p)[0],
        "lr_minus": lambda y, p: ratios(y, p)[1],
    }  # fmt: skip
    return {key: partial(by_labels, score) for key, score in found.items()}


def fairlearn_scores() -> dict[str, Callable[[Cells], Any]]:
    from fairlearn import metrics as fl
    from sklearn import metrics as sk

    def framed(score: Any, cells: Cells) -> Any:
        y, p = labels(cells)
        return fl.MetricFrame(metrics=score, y_true=y, y_pred=p, sensitive_features=[7] * len(y)).by_group[7]

    found = {
        "acc": sk.accuracy_score, "ppr": fl.selection_rate, "tpr": fl.true_positive_rate, "ppv": sk.precision_score,
        "fnr": fl.false_negative_rate, "fpr": fl.false_positive_rate, "tnr": fl.true_negative_rate, "f1": sk.f1_score,
        "mcc": sk.matthews_corrcoef, "balanced_accuracy": sk.balanced_accuracy_score,
    }  # fmt: skip
    return {key: partial(framed, score) for key, score in found.items()}


def pycm_scores() -> dict[str, Callable[[Cells], Any]]:
    from pycm import ConfusionMatrix as Matrix

    def of_class(name: str, cells: Cells) -> Any:
        tp, fn, fp, tn = cells
        found = Matrix(matrix={"yes": {"yes": tp, "no": fn}, "no": {"yes": fp, "no": tn}})
        if name == "Kappa":
            return found.Kappa
        return (tp + fp) / sum(cells) if name == "selected" else getattr(found, name)["yes"]

    names = {
        "acc": "ACC", "prev": "PRE", "ppr": "selected", "tpr": "TPR", "fnr": "FNR", "fpr": "FPR", "tnr": "TNR",
        "ppv": "PPV", "npv": "NPV", "fdr": "FDR", "for": "FOR", "f1": "F1", "mcc": "MCC", "balanced_accuracy": "AUC",
        "informedness": "BM", "markedness": "MK", "jaccard": "J", "lr_plus": "PLR", "lr_minus": "NLR", "dor": "DOR",
        "kappa": "Kappa",
    }  # fmt: skip
    return {key: partial(of_class, name) for key, name in names.items()}


def our_scores() -> dict[str, Callable[[Cells], Any]]:
    def score(key: str, cells: Cells) -> float:
        return float(metric(key)(ConfusionMatrix.from_array(cells)))

    return {m.key: partial(score, m.key) for m in list_metrics() if m.groups == 1}


def rows_of(text: str) -> list[list[str]]:
    return [
        [c.strip() for c in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]


def tables_of(text: str) -> dict[str, dict[tuple[str, Cells], str]]:
    """Of every metric: the cells of the conformance table by library and matrix."""
    found: dict[str, dict[tuple[str, Cells], str]] = {}
    for block in re.split(r"^### .*\(`", text, flags=re.MULTILINE)[1:]:
        key, body = block.split("`)", 1)
        heads, _, *rows = rows_of(re.split(r"^#", body, flags=re.MULTILINE)[0])
        for row in rows:
            cells = tuple(int(c) for c in re.findall(r"\d+", row[0]))
            found.setdefault(key, {}).update({(lib, cells): cell for lib, cell in zip(heads[1:], row[1:], strict=True)})
    return found


SCORES = {"evenhand": our_scores, "scikit-learn": sklearn_scores, "fairlearn": fairlearn_scores, "PyCM": pycm_scores}


def cell(score: Callable[[Cells], Any], cells: Cells) -> str:
    """What a call gives, as a cell; * for a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = score(cells)
        except Exception as error:
            return f"`{type(error).__name__}`"
    mark = "*" if caught else ""
    if isinstance(value, str):
        return f"`'{value}'`{mark}"
    number = "nan" if math.isnan(value) else f"{round(float(value), 3) + 0.0:g}"
    return number + mark


def direct(library: str, found: Iterable[tuple[str, Cells]]) -> dict[tuple[str, Cells], str]:
    """By direct calls: the cells of a library, by metric and matrix."""
    scores = SCORES[library]()
    return {(key, cells): cell(scores[key], cells) if key in scores else "" for key, cells in found}


@pytest.fixture(scope="module")
def generated() -> dict[str, dict[tuple[str, Cells], str]]:
    """The conformance tables that the generator makes now, of the libraries that are installed."""
    code = (
        "from conformance import IN_DEV, conform, conformance_tables; from registry import Desk\n"
        "desk = Desk()\nfor name in IN_DEV: desk.find(name)\n"
        "print('\\n'.join(conformance_tables(conform(desk, IN_DEV), IN_DEV)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=GENERATOR, capture_output=True, text=True, check=True)
    return tables_of(done.stdout)


@pytest.mark.parametrize("library", SCORES)
def test_the_generator_says_what_the_library_gives(
    library: str, generated: dict[str, dict[tuple[str, Cells], str]]
) -> None:
    found = {
        (k, cells): text for k, table in generated.items() for (lib, cells), text in table.items() if lib == library
    }
    assert len(found) > 80
    assert found == direct(library, found)


# ------------------------------------------------------------------------------------------------ coverage


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

    def end(above: bool) -> float:
        def beyond(rate: float) -> float:
            tail = binom.cdf(k, n, rate) if above else binom.sf(k - 1, n, rate)
            return float(tail - binom.pmf(k, n, rate) / 2 - 0.025)

        return float(brentq(beyond, 1e-12, 1 - 1e-12))

    return (0.0 if k == 0 else end(above=False)), (1.0 if k == n else end(above=True))


def coverage(n: int, of: int, interval: Callable[[int, int], tuple[float, float]]) -> tuple[float, float]:
    """Mean and smallest coverage of TPR (of = 0) or PPV (of = 1) over the ten groups, given a denominator above 0."""
    ends = {(k, m): interval(k, m) for m in range(1, n + 1) for k in range(m + 1)}
    held, defined = [], []
    for shares in ten_groups():
        share, rate = shares[of], shares[2] / shares[of]
        denominators = binom.pmf(np.arange(n + 1), n, share)
        defined.append(1 - denominators[0])
        held.append(sum(
            denominators[m] * binom.pmf(k, m, rate)
            for (k, m), (low, high) in ends.items() if low - 1e-9 <= rate <= high + 1e-9
        ))  # fmt: skip
    return 100 * sum(held) / sum(defined), 100 * min(h / d for h, d in zip(held, defined, strict=True))


def covered_on_the_page(table: str, row: str, column: str) -> tuple[float, ...]:
    """Mean and smallest coverage in a table that begins with ``table``."""
    heads, _, *rows = rows_of(f"| {table} |" + EVIDENCE.split(f"\n| {table} |", 1)[1].split("\n\n", 1)[0])
    (cells,) = (cells for cells in rows if cells[0].startswith(row))
    return tuple(float(number) for number in re.findall(r"[\d.]+", cells[heads.index(column)]))


@pytest.mark.parametrize(
    ("row", "interval"), [("evenhand", mid_p), ("normal", wald), ("Clopper-Pearson", clopper_pearson)]
)
@pytest.mark.parametrize("n", [10, 20, 50])
def test_coverage_in_the_evidence_is_that_of_the_interval(
    row: str, interval: Callable[[int, int], tuple[float, float]], n: int
) -> None:
    """Exact cells, by SciPy."""
    assert covered_on_the_page("TPR", row, f"n = {n}") == approx(coverage(n, 0, interval), abs=0.051)
    if n == 10 and row != "Clopper-Pearson":
        assert covered_on_the_page("n = 10", row, "PPV") == approx(coverage(n, 1, interval), abs=0.051)


# ---------------------------------------------------------------------------------------------- the machinery


def in_generator(code: str) -> Any:
    """What a piece of code prints as JSON among the generator's modules."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json\n{code}"], cwd=GENERATOR, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_a_peer_that_is_not_installed_is_listed_with_the_reason_and_the_rest_is_run() -> None:
    needs("pycm")
    found = in_generator(
        "import registry\n"
        "from registry import PEERS, Desk, Peer, Refused\n"
        "PEERS['nobody'] = Peer('nobody', 'nobody', 'no_such_module')\n"
        "desk = Desk(); desk.find('nobody'); desk.find('PyCM')\n"
        "try: desk.ask('nobody', 'scores', {})\n"
        "except Refused as reason: said = str(reason)\n"
        "job = {'metrics': ['tpr'], 'matrices': [[3, 1, 0, 2], [0, 0, 2, 6]]}\n"
        "print(json.dumps([desk.missing, said, desk.ask('PyCM', 'scores', job)[0]]))"
    )
    reason = "not installed here, and no folder of environments was given"
    warned: list[str] = []
    assert found == [
        {"nobody": reason}, reason,
        {"tpr": [{"value": 0.75, "warned": warned}, {"value": "None", "warned": warned}]},
    ]  # fmt: skip


def test_cases_that_are_listed_have_the_probabilities_of_samples() -> None:
    """Sums to one; P(TP = 0 | n = 4) is (1 - p)**4 whatever the parts; a whole list has every matrix of n."""
    found = in_generator(
        "from groups import TEN, listed\n"
        "print(json.dumps([[listed(k, 4).weights.sum(axis=1).tolist(),\n"
        "  listed(k, 4).weights[:, listed(k, 4).matrices[:, 0] == 0].sum(axis=1).tolist()]\n"
        "  for k in ('tpr', 'ppv', 'f1')]\n"
        "  + [listed('mcc', 4, whole=True).matrices.sum(axis=1).tolist()]))"
    )
    *parts, sums = found
    none = [(1 - shares[2]) ** 4 for shares in ten_groups()]
    for total, without in parts:
        assert total == approx([1.0] * 10)
        assert without == approx(none, rel=1e-6)
    assert sums == [4] * 35


def test_coverage_counts_apart_what_gets_no_interval() -> None:
    """Of three equally likely matrices one has no TPR and one gets no interval: half of the rest is withheld."""
    found = in_generator(
        "import numpy as np\nfrom covering import covered\nfrom groups import Cases, true_score\n"
        "m = np.array([[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1]])\n"
        "c = covered('tpr', Cases(m, np.full((10, 3), 1 / 3)), [[0.3, 0.45], None, [0.0, 1.0]])\n"
        "truth = true_score('tpr')\n"
        "print(json.dumps([c.mean, c.withheld, c.width, float(((0.3 <= truth) & (truth <= 0.45)).mean())]))"
    )
    mean, withheld, width, share = found
    assert 0 < share < 1
    assert (mean, withheld, width) == approx((share, 0.5, 0.15))


def test_alarms_before_a_gap_began_are_counted_apart() -> None:
    """Of four years one has an early alarm; of the other three two are found, after 1 and 3 weeks: the median is 3."""
    found = in_generator(
        "from looks import BEGINS, looked\n"
        "after = looked(BEGINS, [BEGINS, BEGINS + 1, BEGINS + 3, None])\n"
        "none = looked(None, [None, 7, None, None])\n"
        "print(json.dumps([after.alarm.share, after.alarm.count, after.weeks, after.early.share, none.alarm.share]))"
    )
    assert found == approx([2 / 3, 3, 3, 1 / 4, 1 / 4])
