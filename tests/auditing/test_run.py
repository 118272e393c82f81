"""Scores are metrics of their own rows, however these are told, ordered, spelled or split into files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product
from typing import Any

import class_oracle
import numpy as np
import oracle
import pandas as pd
import pytest
from audit_oracle import row, same
from engines import pa, pl
from pytest import approx

import evenhand as eh
from evenhand.auditing import Audit, Row

METRICS = ["ppr", "tpr", "acc"]

Case = dict[str, Any]
GIVEN = (30, 10, 12, 48)
CELLS = ["ppr", "tpr", "f1", "mcc", "lr_plus", "disparate_impact"]
ONE_CASE = {"auc", "brier", "right"}
KINDS: dict[str, dict[str, Any]] = {
    "predictions": {"y_pred": "p", "metrics": CELLS},
    "selections": {"y_true": None, "y_pred": "p", "metrics": ["ppr", "disparate_impact"]},
    "thresholds": {"y_score": "s", "threshold": [0.3, 0.5], "metrics": [*CELLS, "auc"]},
    "classes": {"y_true": "k", "y_pred": "j", "classes": "all", "metrics": ["tpr", "acc", "macro ppv", "mcc"]},
    "ranking": {"y_score": "s", "metrics": ["auc", "brier"]},
    "functions": {"y_pred": "p", "metrics": [("right", lambda y, p: float(np.mean(y == p)))]},
}
OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "weights": {"sample_weight": "w"},
    "clusters": {"cluster": "u"},
    "strata": {"strata": "t"},
    "weighted strata": {"sample_weight": "w", "strata": "t"},
    "without some labels": {"y_true": "x"},
}
REFERENCES: list[Any] = ["rest", "all", "B", "largest", eh.ConfusionMatrix.from_array(GIVEN)]
OF_CELLS = ("predictions", "thresholds", "selections")
ASKED = [*product(OF_CELLS[:2], OPTIONS), *product(("classes", "ranking", "functions", "selections"), ("", "strata"))]


def random_cases(seed: int, n: int = 50) -> list[Case]:
    """Cases of three groups and of none; clusters of up to two cases lie in one group."""
    draw = random.Random(seed)
    cases: list[Case] = []
    for i in range(n):
        y, kind = draw.randint(0, 1), draw.choice("klm")
        case: Case = {"g": ("A", "B", "B", "C", None)[i // 2 % 5], "t": draw.choice("vw"), "u": i // 2}
        case |= {"w": draw.choice([0.5, 1, 1, 4]), "y": y, "x": draw.choice([y, y, y, None])}
        case |= {"p": draw.choice([y, 0, 1]), "s": round(draw.random() * 0.7 + 0.3 * y, 2)}
        cases.append(case | {"k": kind, "j": draw.choice([kind, *"klm"])})
    return cases


def cells_of(cases: list[Case], at: dict[str, Any], asked: dict[str, Any], metric: str) -> Any:
    """Sums of weights in the four cells, one case at a time."""
    cells = [Fraction(0)] * 4
    for case in cases:
        if "class" in at:
            y, p = case["k"] == at["class"], case["j"] == at["class"]
        else:
            y = case.get(asked["y_true"])
            p = case["s"] >= at["threshold"] if "threshold" in at else case["p"]
        if y is None and metric not in ("ppr", "disparate_impact"):
            continue
        place = (0 if p else 1) if y else (2 if p else 3)
        cells[place] += Fraction(case["w"]) if "sample_weight" in asked else 1
    return tuple(cells)


def score_of(metric: str, cases: list[Case], at: dict[str, Any], asked: dict[str, Any]) -> Any:
    """The metric of some cases by its definition; None if undefined."""
    if metric == "auc":
        ones, zeros = ([case["s"] for case in cases if case["y"] == label] for label in (1, 0))
        pairs = [(a > b) + (a == b) / 2 for a in ones for b in zeros]
        return sum(pairs) / len(pairs) if pairs else None
    if metric in ("brier", "right"):
        each = [(c["s"] - c["y"]) ** 2 if metric == "brier" else c["y"] == c["p"] for c in cases]
        return sum(each) / len(each) if each else None
    if "classes" in asked and "class" not in at:
        table = [[sum((c["k"], c["j"]) == (a, b) for c in cases) for b in "klm"] for a in "klm"]
        average, _, name = metric.rpartition(" ")
        return class_oracle.averaged(name, table, average) if average else class_oracle.overall(name, table)
    cells = cells_of(cases, at, asked, metric)
    return oracle.ONE_GROUP[metric](*cells) if sum(cells) else None


def is_close(found: float, expected: Any) -> bool:
    return bool(found == approx(np.nan if expected is None else float(expected), rel=1e-9, abs=1e-12, nan_ok=True))


@pytest.mark.parametrize(("kind", "option"), ASKED)
def test_scores_are_metrics_of_the_rows_of_group_reference_and_all(kind: str, option: str) -> None:
    """Every kind of metric, with every kind of reference, weights, clusters, strata, thresholds and classes."""
    asked = {"y_true": "y", **KINDS[kind], **OPTIONS[option]}
    if kind == "thresholds" and option:
        asked["metrics"] = CELLS
    takes_matrix = kind == "predictions" and not {"strata", "cluster"} & set(asked)
    references = REFERENCES[1:3] if kind == "functions" else REFERENCES[: 4 + takes_matrix]
    checked = 0
    for seed, reference in enumerate(references):
        cases = random_cases(seed)
        columns = {name: [case[name] for case in cases] for name in cases[0]}
        a = eh.audit(columns, groups="g", reference=reference, positive=1 if kind in OF_CELLS else None, **asked)
        for r in a.rows:
            of_cells = r.metric not in ONE_CASE and not ("classes" in asked and "class" not in r.at)
            is_rate = r.metric in ("ppr", "tpr", "acc") and of_cells and r.at.get("stratum") != "pooled"
            here = [c for c in cases if r.at.get("stratum") in (None, "pooled", c["t"]) and c["g"]]
            group = [case for case in here if case["g"] == r.group]
            named = "given matrix" if reference is REFERENCES[-1] else "rest" if reference == "rest" else "B"
            named = ("all" if is_rate else "rest") if reference == "all" else named
            others = [c for c in here if named == "all" or (c["g"] == "B" if named == "B" else c["g"] != r.group)]

            def score(key: str, at: Any = r.at, others: Any = others, named: str = named) -> Any:
                is_given = named == "given matrix"
                return oracle.ONE_GROUP[key](*GIVEN) if is_given else score_of(key, others, at, asked)

            assert r.reference == named
            if r.metric == "disparate_impact":
                rates = score_of("ppr", group, r.at, asked), score("ppr")
                assert r.verdict == "reference" or is_close(r.score, oracle.over(*rates)), r
                continue
            assert is_close(r.score, score_of(r.metric, group, r.at, asked)), r
            if r.verdict != "reference":
                assert is_close(r.reference_score, score(r.metric)), r
                assert r.gap_kind != "difference" or is_close(r.gap, r.score - r.reference_score)
                known = [
                    [r.metric == "ppr" or c.get(asked["y_true"]) is not None for c in cs] for cs in (group, others)
                ]
                n, reference_n = map(sum, known)
                assert (r.n, r.reference_n) == (n, sum(GIVEN) if named == "given matrix" else reference_n)
            checked += 1
        assert Audit.from_json(a.to_json()) == a
        assert all(is_close(one.score, score_of(one.metric, cases, one.at, asked)) for one in a.overall)
    assert checked >= 6


def test_weighted_scores_are_shares_of_weights_whatever_else_is_crossed() -> None:
    """Women of race A weigh ten times as much as men: (90 * 10 + 10) / 1100 of race A, 1030 / 1300 of all."""
    parts = (("A", "F", 90, 10.0), ("A", "M", 10, 1.0), ("B", "F", 60, 1.0), ("B", "M", 60, 1.0))
    rows = [(race, sex, 1, int(i < k), w) for race, sex, k, w in parts for i in range(100)]
    data = dict(zip(["race", "sex", "y", "p", "w"], map(list, zip(*rows, strict=True)), strict=True))
    for groups in ("race", ["race", "sex"]):
        a = eh.audit(data, y_true="y", y_pred="p", groups=groups, sample_weight="w", positive=1, metrics="tpr")
        assert row(a, "A").score == approx(910 / 1100) and row(a, "A").n == 200
        assert a.overall[0].score == approx(1030 / 1300)


def rows_of_data(seed: int) -> list[tuple[Any, ...]]:
    draw = random.Random(seed)
    rows: list[Any]
    rows = [(draw.choice("abc"), draw.randint(0, 1), draw.randint(0, 1), draw.choice("xy")) for _ in range(30)]
    return [*rows, ("a", None, 1, "x"), ("b", 1, None, "y"), ("c", None, None, "x"), ("a", None, 0, "y")]


def table(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in zip("gyph", zip(*rows, strict=True), strict=True)}


def audited(data: Any, **given: Any) -> Audit:
    settings: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g", "positive": 1, "metrics": METRICS}
    return eh.audit(data, **settings | given)


def numbers(r: Row) -> dict[str, Any]:
    """What a row says but for names."""
    names = ("by", "group", "reason", "driver", "impact_group", "reference")
    return {name: value for name, value in r.to_dict().items() if name not in names}


def test_the_order_of_the_rows_changes_nothing() -> None:
    asked: list[dict[str, Any]] = [{"groups": ["g", "h"]}, {"strata": "h"}]
    asked += [{"classes": "all", "positive": None, "metrics": "tpr"}]
    asked += [{"metrics": [("gap", lambda y, p: float(abs(y - p).mean()))], "positive": None}]
    for seed, how in enumerate(asked):
        rows = rows_of_data(seed)
        mixed = random.Random(seed).sample(rows, len(rows))
        first, second = (audited(table(some), **how) for some in (rows, mixed))
        assert (first.rows, first.findings, first.overall) == (second.rows, second.findings, second.overall)
        assert (first.left_out, first.axes) == (second.left_out, second.axes)


def test_the_type_of_labels_and_the_library_change_nothing() -> None:
    rows = [("a", i % 2, i // 2 % 2, "x") for i in range(9)] + [("b", 1, i % 2, "x") for i in range(8)]
    given = table(rows)
    expected = audited(given).rows
    counts: Any = {r.group: r.cells for r in expected}
    assert eh.audit_counts(counts, by="g", metrics=METRICS).rows == expected
    words = ("no", "yes")
    kinds = (bool, np.uint64, np.float32, str, lambda v: f"{v}.0", lambda v: words[v], lambda v: 2 * v - 1)
    for frame in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        for make in kinds:
            changed = given | {name: [make(v) for v in given[name]] for name in "yp"}
            assert audited(frame(changed), positive=None).rows == expected
        more = given | {"z": [None] * len(rows), "y ": [[1]] * len(rows), "tp": list(range(len(rows)))}
        assert audited(frame(more)).rows == expected
    assert audited(pd.DataFrame(given).astype(object), positive=None).rows == expected


def test_what_groups_are_called_changes_no_number() -> None:
    counts = {"a": (3, 2, 9, 26), "b": (30, 11, 12, 48), "c": (0, 0, 4, 3)}
    plain = eh.audit_counts(counts, metrics=METRICS)
    for names in ("zyx", ["rest", "all", "missing"], ["i", "a & b", "<b>"], "bca"):
        called = dict(zip("abc", names, strict=True))
        named = eh.audit_counts({called[group]: cells for group, cells in counts.items()}, metrics=METRICS)
        assert all(same(numbers(r), numbers(row(named, called[r.group], r.metric))) for r in plain.rows)


def made_up(groups: int, seed: int = 4) -> dict[str, tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.normal(4.0, 1.5, groups)).astype(int) + 1
    return {f"group {i}": tuple(rng.multinomial(n, rng.dirichlet([4, 2, 3, 8])).tolist()) for i, n in enumerate(sizes)}


def test_an_audit_is_the_same_bytes_whatever_the_order_of_groups_and_in_parallel_threads() -> None:
    counts, metrics = made_up(5), ["ppr", "tpr", "f1", "mcc", "mb"]
    given = eh.audit_counts(counts, metrics=metrics).to_json()
    orders = [list(reversed(counts)), np.random.default_rng(1).permutation(list(counts)).tolist()] * 2

    def in_order(order: list[str]) -> str:
        return eh.audit_counts({name: counts[name] for name in order}, metrics=metrics).to_json()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(in_order, orders)) == [given] * 4


THREADED = """
import sys, evenhand as eh
print(eh.audit_counts(eval(sys.argv[1]), metrics=["ppr", "tpr", "ppv", "f1", "mcc", "mb"]).to_json())
rates, reference = [0.12, 0.08, 0.2, 0.6], eh.ConfusionMatrix(tp=30, fn=20, fp=40, tn=110)
for estimator in (eh.Raw(), eh.CrossPrior(reference, 10)):
    r = eh.risk("mcc", rates, 60, estimator)
    print(r.bias.hex(), r.mse.hex())
group = eh.ConfusionMatrix(tp=330, fn=170, fp=390, tn=1110)
print(eh.match_test(group, rates, "mcc", null="known", given="n").pvalue.hex())
"""


@pytest.mark.slow
def test_results_are_the_same_bytes_whatever_the_number_of_threads() -> None:
    """Sums that libraries split between threads would differ in their last digits."""
    outputs = set()
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
        settings = os.environ | dict.fromkeys(names, threads)
        command = [sys.executable, "-c", THREADED, repr(made_up(4))]
        outputs.add(subprocess.run(command, capture_output=True, text=True, check=True, env=settings).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 4
