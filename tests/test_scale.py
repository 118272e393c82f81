"""What makes audits of many groups and experiments of many sizes fast does not change what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import ONE_GROUP, matrices, multinomial
from pytest import approx
from scipy.stats import binom

import evenhand as eh
from evenhand import Additive, ConfusionMatrix, CrossPrior, Raw
from evenhand.inference.rates import boschloo, boschloo_rows
from evenhand.metrics import CATALOGUE

PAIRS = [m for m in CATALOGUE.one_group if m.shape == "pair"]
pairs = pytest.mark.parametrize("m", PAIRS, ids=lambda m: m.key)


def with_the_same_margins(tp: int) -> tuple[int, int, int, int]:
    """Matrices of 20 cases with 9 actual and 12 predicted positives."""
    return tp, 9 - tp, 12 - tp, tp - 1


@pairs
def test_a_score_is_linear_in_tp_given_all_margins_exactly_if_it_says_so(m: Any) -> None:
    """S(tp + 1) - S(tp) is the same for every tp."""
    scores = [float(ONE_GROUP[m.key](*with_the_same_margins(tp))) for tp in range(2, 8)]
    assert m.linear_in_tp == bool(np.ptp(np.diff(scores)) < 1e-12)


@pytest.mark.parametrize("m", [m for m in PAIRS if m.linear_in_tp], ids=lambda m: m.key)
def test_whether_a_score_that_is_linear_in_tp_is_defined_depends_on_the_margins_only(m: Any) -> None:
    defined: dict[tuple[int, int], set[bool]] = {}
    for tp, fn, fp, tn in matrices(6):
        defined.setdefault((tp + fn, tp + fp), set()).add(ONE_GROUP[m.key](tp, fn, fp, tn) is not None)
    assert all(len(either) == 1 for either in defined.values())


PRIOR = (1, 2, 3, 2)
TINY = Fraction(1, 10**10)
HOWS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "raw": (Raw(), (0, 0, 0, 0)),
    "tiny": (Additive(1e-10), (TINY,) * 4),
    "add1": (Additive(1), (1, 1, 1, 1)),
    "cps": (CrossPrior(ConfusionMatrix(*PRIOR), 3), tuple(Fraction(3 * x, 8) for x in PRIOR)),
    "an empty cell": (CrossPrior(ConfusionMatrix(3, 0, 1, 4), 4), (Fraction(3, 2), 0, Fraction(1, 2), 2)),
}


@pairs
@pytest.mark.parametrize("how", HOWS)
def test_the_errors_of_many_sizes_are_what_listing_every_matrix_gives(m: Any, how: str) -> None:
    """E[(S - s)^2; defined] / P(defined), for unsorted sizes and one of them twice."""
    w, (estimator, added), sizes = [3, 1, 2, 5], HOWS[how], [10, 3, 10]
    true = float(ONE_GROUP[m.key](*w))
    curve = eh.risk(m, ConfusionMatrix(*w), sizes, estimator)
    assert [r.n for r in curve] == sizes
    for r in curve:
        sums = np.zeros(3)
        for c in matrices(r.n):
            value = ONE_GROUP[m.key](*(k + a for k, a in zip(c, added, strict=True)))
            if value is not None:
                error = float(value) - true
                sums += float(multinomial(c, w)) * np.array([1, error, error**2])
        assert 1 - r.p_undefined == approx(sums[0], rel=1e-12)
        assert (r.bias, r.mse) == approx((sums[1] / sums[0], sums[2] / sums[0]), rel=1e-10, abs=1e-13)


def test_two_ways_to_sum_agree_for_larger_sizes() -> None:
    """Sums over two margins, and sums over all matrices (which also give absolute errors)."""
    truth, how = [0.12, 0.08, 0.2, 0.6], CrossPrior(ConfusionMatrix(30, 20, 40, 110), 10)
    for n in (40, 149):
        for key in ("mcc", "kappa", "f2"):
            (by_margins,) = eh.risk(key, truth, [n], how)
            by_matrices = eh.risk(key, truth, n, how)
            assert (by_margins.bias, by_margins.mse) == approx((by_matrices.bias, by_matrices.mse), rel=1e-10)


def test_an_error_that_would_take_too_long_is_refused_with_a_way_out() -> None:
    sentence = r"the exact error of pt at n = 100,000 is a sum over up to [\d,]+ matrices, more than the limit of "
    with pytest.raises(eh.errors.TooLarge, match=rf"^{sentence}1,073,741,824; use method='montecarlo'$"):
        eh.risk("pt", [0.3, 0.1, 0.2, 0.4], 100_000)


@pytest.mark.parametrize("key", ["mcc", "pt", "pt_limit"])
def test_the_last_count_in_closed_form_is_that_of_the_matrix(key: str) -> None:
    """From the score, n, the actual positives and TP follows FP, where the score depends on FP."""
    found = 0
    for tp, fn, fp, tn in matrices(11):
        score = ONE_GROUP[key](tp, fn, fp, tn)
        if score is None or tp == 0 or (key == "mcc" and fn == 0):
            continue
        last = eh.metric(key).base.crossing(float(score), 11.0, np.array([float(tp + fn)]), np.array([float(tp)]))
        assert last[0] == approx(fp, abs=1e-9)
        found += 1
    assert found > 100


def test_the_exact_test_of_many_cases_is_the_sum_over_actual_positives_and_tp() -> None:
    """P(MCC >= s) = Σ P(p) P(tp | p) P(FP <= x | n - p), with x found by trying all counts that are not improbable."""
    n, cm, rates = 1500, (245, 130, 275, 850), [0.15, 0.10, 0.20, 0.55]

    def score(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
        return (tp * tn - fp * fn) / np.sqrt((tp + fn) * (fp + tn)) / np.sqrt((tp + fp) * (fn + tn))

    def window(size: float, rate: float) -> Any:
        reach = 9 * np.sqrt(size * rate * (1 - rate))
        return np.arange(np.floor(size * rate - reach), np.ceil(size * rate + reach) + 1)

    observed, total = score(*cm), 0.0
    for p in window(n, 0.25):
        tp, fp = window(p, 0.6), window(n - p, 0.2 / 0.75)
        reached = score(tp[:, None], p - tp[:, None], fp, n - p - fp) >= observed * (1 - 1e-13)
        # Scores fall with FP.
        x = fp[0] + reached.sum(axis=1) - 1
        total += binom.pmf(p, n, 0.25) * float(binom.pmf(tp, p, 0.6) @ binom.cdf(x, n - p, 0.2 / 0.75))
    r = eh.match_test(ConfusionMatrix(*cm), rates, "mcc", null="known", given="n", alternative="greater")
    assert r.pvalue == approx(total, rel=1e-10)


def test_boschloos_test_of_many_comparisons_is_that_of_each() -> None:
    rng = np.random.default_rng(2)
    of_a, of_b = (rng.integers(1, top, 60).astype(np.float64) for top in (500, 900))
    a, b = (np.floor(of * rng.random(60)) for of in (of_a, of_b))
    pvalues, methods = boschloo_rows(a, of_a, b, of_b)
    assert set(methods) == {"unconditional", "fisher"}
    for i, (p, how) in enumerate(zip(pvalues, methods, strict=True)):
        assert (p, how) == boschloo(a[i], of_a[i], b[i], of_b[i])


# The same audit in any order and on any number of threads


def made_up(groups: int, seed: int = 4) -> dict[str, tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.normal(4.0, 1.5, groups)).astype(int) + 1
    return {f"group {i}": tuple(rng.multinomial(n, rng.dirichlet([4, 2, 3, 8])).tolist()) for i, n in enumerate(sizes)}


METRICS = ["ppr", "tpr", "ppv", "f1", "mcc", "mb"]


def test_an_audit_is_the_same_bytes_whatever_the_order_of_the_groups() -> None:
    counts = made_up(16)
    given = eh.audit_counts(counts, metrics=METRICS).to_json()
    for order in (list(reversed(counts)), np.random.default_rng(1).permutation(list(counts)).tolist()):
        assert eh.audit_counts({name: counts[name] for name in order}, metrics=METRICS).to_json() == given


def test_an_audit_is_the_same_bytes_in_parallel_threads() -> None:
    counts = made_up(8)
    alone = eh.audit_counts(counts, metrics=METRICS).to_json()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: eh.audit_counts(counts, metrics=METRICS).to_json(), range(4)))
    assert together == [alone] * 4


THREADED = """
import sys, numpy as np, evenhand as eh
sys.path.insert(0, sys.argv[1])
from test_scale import METRICS, made_up
print(eh.audit_counts(made_up(10), metrics=METRICS).to_json())
rates, reference = [0.12, 0.08, 0.2, 0.6], eh.ConfusionMatrix(30, 20, 40, 110)
for r in eh.risk(["mcc", "pt", "f1"], rates, [20, 90, 149], [eh.Raw(), eh.CrossPrior(reference, 10)]):
    print(r.bias.hex(), r.mse.hex())
print(eh.match_test(eh.ConfusionMatrix(330, 170, 390, 1110), rates, "mcc", null="known", given="n").pvalue.hex())
"""


def test_results_are_the_same_bytes_whatever_the_number_of_threads() -> None:
    """Sums that libraries split between threads would differ in their last digits."""
    outputs = set()
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
        settings = os.environ | dict.fromkeys(names, threads)
        command = [sys.executable, "-c", THREADED, str(Path(__file__).parent)]
        outputs.add(subprocess.run(command, capture_output=True, text=True, check=True, env=settings).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) > 20


# Interrupted work

INTERRUPTED = """
import os, signal, sys
from evenhand import records
from evenhand.auditing import making
from evenhand import cli

where, measure, replace, calls = sys.argv.pop(1), making.measure, os.replace, []

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

def measured(*args):
    calls.append(args)
    if where == f"metric {len(calls)}":
        interrupt()
    return measure(*args)

def replaced(*args):
    calls.append(args)
    if where == "before a file takes its place":
        interrupt()
    replace(*args)
    if where == "after the first file":
        interrupt()

making.measure, records.os.replace = measured, replaced
sys.argv[0] = "evenhand"
cli.run()
"""


@pytest.mark.parametrize(
    ("where", "written"),
    [("metric 1", ""), ("metric 8", ""), ("before a file takes its place", ""), ("after the first file", "json")],
)
def test_an_interrupted_audit_leaves_nothing_half_written(where: str, written: str, tmp_path: Path) -> None:
    """Files are those of an earlier audit or whole ones, and nothing else remains in their folder."""
    for name in ("a.json", "a.html"):
        (tmp_path / name).write_text("earlier")
    words = ["audit", "--example", "compas", "--json", str(tmp_path / "a.json"), "--html", str(tmp_path / "a.html")]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, where, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "Interrupted; nothing is left half written."
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", "a.html"}
    assert (tmp_path / "a.html").read_text("utf-8") == "earlier"
    text = (tmp_path / "a.json").read_text("utf-8")
    assert json.loads(text)["n"] > 7000 if written else text == "earlier"
