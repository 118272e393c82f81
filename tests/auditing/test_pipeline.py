"""What must not change, or must change in a known way, if the same data are told differently."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from audit_oracle import row, same

import evenhand as eh
from evenhand.auditing import Audit, Row, pipeline

METRICS = ["ppr", "tpr", "acc"]


def rows_of_data(seed: int) -> list[tuple[str, int | None, int | None, str]]:
    chance = random.Random(seed)
    n = chance.randint(20, 40)
    rows: list[Any] = [
        (chance.choice("abc"), chance.randint(0, 1), chance.randint(0, 1), chance.choice("xy")) for _ in range(n)
    ]
    return [*rows, ("a", None, 1, "x"), ("b", 1, None, "y"), ("c", None, None, "x"), ("a", None, 0, "y")]


def table(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    g, y, p, h = (list(column) for column in zip(*rows, strict=True))
    return {"g": g, "y": y, "p": p, "h": h}


def audited(data: Any, **given: Any) -> Audit:
    settings: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g", "positive": 1, "metrics": METRICS}
    return eh.audit(data, **settings | given)


def numbers(r: Row) -> dict[str, Any]:
    """What a row says but for names."""
    said = r.to_dict()
    for name in ("by", "group", "reason", "sketch", "driver", "impact"):
        del said[name]
    del said["reference"]["name"]
    return said


# Rows and columns


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_is_nothing(seed: int) -> None:
    rows = rows_of_data(seed)
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    assert audited(table(rows), groups=["g", "h"]) == audited(table(mixed), groups=["g", "h"])


ASKED: dict[str, dict[str, Any]] = {
    "strata": {"within": "h"},
    "classes": {"classes": "all", "positive": None, "metrics": "tpr", "draws": 19},
    "functions": {"metrics": [("gap", lambda y, p: float(abs(y - p).mean()))], "draws": 19, "positive": None},
    "selections": {"selection": "all"},
}


@pytest.mark.parametrize("asked", ASKED)
def test_the_order_of_the_rows_is_nothing_whatever_is_asked(asked: str) -> None:
    rows = rows_of_data(7)
    mixed = list(rows)
    random.Random(8).shuffle(mixed)
    first, second = (audited(table(some), **ASKED[asked]) for some in (rows, mixed))
    assert (first.rows, first.findings, first.left_out, first.axes) == (
        *(second.rows, second.findings, second.left_out, second.axes),
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_file_in_two_parts_is_the_file(suffix: str, tmp_path: Path) -> None:
    """Whatever is in each part, even if a group or a class occurs in only one of them."""
    chance = random.Random(5)
    rows = sorted((chance.choice("abc"), chance.randint(0, 1), chance.randint(0, 1), "x") for _ in range(60))
    write = {"csv": "write_csv", "parquet": "write_parquet", "feather": "write_ipc"}[suffix]
    for name, part in {"whole": rows, "one": rows[:17], "two": rows[17:]}.items():
        getattr(pl.DataFrame(table(part)), write)(tmp_path / f"{name}.{suffix}")
    whole = audited(tmp_path / f"whole.{suffix}")
    parts = audited([tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"])
    assert (parts.rows, parts.findings, parts.n) == (whole.rows, whole.findings, whole.n)


def test_another_column_is_nothing() -> None:
    rows = rows_of_data(3)
    plain = audited(table(rows))
    more = table(rows) | {"z": [None] * len(rows), "y ": [[1]] * len(rows), "tp": list(range(len(rows)))}
    assert audited(more) == plain
    assert audited(pd.DataFrame(more)).rows == plain.rows
    assert audited(pl.DataFrame({"first": [0.5] * len(rows), **table(rows)})).rows == plain.rows


DTYPES: dict[str, Any] = {
    "bool": bool,
    "int8": np.int8,
    "uint64": np.uint64,
    "float32": np.float32,
    "object": object,
    "text": lambda v: str(v),
    "text of floats": lambda v: f"{v}.0",
    "words": lambda v: ("no", "yes")[v],
    "signs": lambda v: (-1, 1)[v],
}


@pytest.mark.many
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "frame", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_the_type_of_labels_is_nothing(dtype: str, frame: Any) -> None:
    rows = [("a", i % 2, i // 2 % 2, "x") for i in range(9)] + [("b", 1, i % 2, "x") for i in range(8)]
    make = DTYPES[dtype]
    given = table(rows)
    changed = given | {name: [make(v) for v in given[name]] if dtype != "object" else given[name] for name in "yp"}
    if dtype == "object" and frame is pd.DataFrame:
        changed = pd.DataFrame(changed).astype(object)
    a = eh.audit(frame(changed), y_true="y", y_pred="p", groups="g", metrics=METRICS)
    assert a.rows == audited(given).rows


def test_the_order_of_categories_orders_groups_and_changes_no_number() -> None:
    rows = rows_of_data(6)
    plain = {(r.metric, r.group): numbers(r) for r in audited(table(rows)).rows}
    for order in (["c", "a", "b"], ["b", "c", "a", "z"]):
        for ordered in (False, True):
            frame = pd.DataFrame(table(rows)).assign(g=lambda d: pd.Categorical(d["g"], order, ordered=ordered))  # noqa: B023
            found = audited(frame)
            assert same({str(k): v for k, v in plain.items()},
                        {str((r.metric, r.group)): numbers(r) for r in found.rows})  # fmt: skip
            assert found.record["order"]["g"] == ([one for one in order if one != "z"] if ordered else ["a", "b", "c"])


@pytest.mark.parametrize("names", [["z", "y", "x"], ["rest", "all", "missing"], ["i", "a & b", "<b>"], ["b", "c", "a"]])
def test_what_groups_are_called_changes_no_number(names: list[str]) -> None:
    called = dict(zip("abc", names, strict=True))
    counts = {"a": (3, 2, 9, 26), "b": (30, 11, 12, 48), "c": (0, 0, 4, 3)}
    plain = eh.audit_counts(counts, metrics=METRICS)
    named = eh.audit_counts({called[group]: cells for group, cells in counts.items()}, metrics=METRICS)
    for r in plain.rows:
        assert same(numbers(r), numbers(row(named, called[r.group], r.metric)))


def test_an_audit_of_swapped_classes_is_the_mirror_of_the_audit() -> None:
    groups = {"a": (3, 2, 9, 26), "b": (30, 11, 12, 48), "c": (0, 0, 4, 3)}
    mirrored = {name: (given[3], given[2], given[1], given[0]) for name, given in groups.items()}
    swap = {"tpr": "tnr", "ppv": "npv", "acc": "acc", "ppr": "pnr", "mcc": "mcc"}
    one = eh.audit_counts(groups, metrics=list(swap), favourable="positive")
    other = eh.audit_counts(mirrored, metrics=list(swap.values()), favourable="negative")
    for r in one.rows:
        twin = row(other, r.group, swap[r.metric])
        assert r.verdict == twin.verdict
        mine, theirs = r.flat(), twin.flat()
        for name in ("score", "score_low", "score_high", "gap", "gap_low", "gap_high", "difference", "pvalue",
                     "p_adjusted", "percentile", "p_undefined", "smoothed"):  # fmt: skip
            assert same(mine[name], theirs[name], rel=1e-9), (r.group, r.metric, name)


def test_an_audit_forgets_its_library_only() -> None:
    """The record differs in where the data were, and nothing else does."""
    rows = [("abc"[i % 3], i % 2, i // 2 % 2, "x") for i in range(31)]
    audits = [audited(make(table(rows))) for make in (dict, pd.DataFrame, pl.DataFrame, pa.table)]
    assert all(replace(found, library=None) == replace(audits[0], library=None) for found in audits)


# The same audit in any order and on any number of threads


def made_up(groups: int, seed: int = 4) -> dict[str, tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.normal(4.0, 1.5, groups)).astype(int) + 1
    return {f"group {i}": tuple(rng.multinomial(n, rng.dirichlet([4, 2, 3, 8])).tolist()) for i, n in enumerate(sizes)}


KINDS_OF_SCORES = ["ppr", "tpr", "ppv", "f1", "mcc", "mb"]


@pytest.mark.slow
def test_an_audit_is_the_same_bytes_whatever_the_order_of_the_groups() -> None:
    counts = made_up(10)
    given = eh.audit_counts(counts, metrics=KINDS_OF_SCORES).to_json()
    for order in (list(reversed(counts)), np.random.default_rng(1).permutation(list(counts)).tolist()):
        assert eh.audit_counts({name: counts[name] for name in order}, metrics=KINDS_OF_SCORES).to_json() == given


@pytest.mark.slow
def test_an_audit_is_the_same_bytes_in_parallel_threads() -> None:
    counts = made_up(5)
    alone = eh.audit_counts(counts, metrics=KINDS_OF_SCORES).to_json()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: eh.audit_counts(counts, metrics=KINDS_OF_SCORES).to_json(), range(4)))
    assert together == [alone] * 4


THREADED = """
import sys, evenhand as eh
print(eh.audit_counts(eval(sys.argv[1]), metrics=eval(sys.argv[2])).to_json())
rates, reference = [0.12, 0.08, 0.2, 0.6], eh.ConfusionMatrix(30, 20, 40, 110)
for estimator in (eh.Raw(), eh.CrossPrior(reference, 10)):
    r = eh.risk("mcc", rates, 60, estimator)
    print(r.bias.hex(), r.mse.hex())
print(eh.match_test(eh.ConfusionMatrix(330, 170, 390, 1110), rates, "mcc", null="known", given="n").pvalue.hex())
"""


@pytest.mark.slow
def test_results_are_the_same_bytes_whatever_the_number_of_threads() -> None:
    """Sums that libraries split between threads would differ in their last digits."""
    outputs = set()
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
        settings = os.environ | dict.fromkeys(names, threads)
        command = [sys.executable, "-c", THREADED, repr(made_up(4)), repr(KINDS_OF_SCORES)]
        outputs.add(subprocess.run(command, capture_output=True, text=True, check=True, env=settings).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"y_pred": "p", "classes": "all", "averages": ["macro f1"]},
        {"y_score": "s", "threshold": [0.3, 0.5, 0.7], "favourable": "positive", "metrics": ["tpr", "mcc", "ppr"]},
        {"y_pred": "q", "within": "h", "metrics": ["tpr", "acc", "ppr"]},
    ],
    ids=["classes", "thresholds", "strata"],
)
def test_places_on_the_axes_are_measured_at_once_as_one_by_one(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases without a group included, whose random draws are those of a single place."""
    rng = np.random.default_rng(0)
    n, several = 240, "classes" in asked
    data = {
        "y": rng.integers(3 if several else 2, size=n),
        "p": rng.integers(3, size=n),
        "q": rng.integers(2, size=n),
        "s": rng.random(n),
        "g": rng.choice(["a", "b", "c", ""], size=n, p=[0.4, 0.3, 0.2, 0.1]),
        "h": rng.choice(["x", "y"], size=n),
    }
    found = []
    for most in (0, 10, 1_000):
        monkeypatch.setattr(pipeline, "_MOST_AT_ONCE", most)
        a = eh.audit(pd.DataFrame(data).replace({"g": {"": None}}), y_true="y", groups="g", **asked)
        found.append([one.to_dict() for one in (*a.rows, *a.overall, *a.findings)])
    assert _rounded(found[0]) == _rounded(found[1]) == _rounded(found[2])


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    return round(value, 12) if isinstance(value, float) else value
