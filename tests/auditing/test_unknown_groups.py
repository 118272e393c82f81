"""Cases without a group: what is said of them is what listing every way to assign them gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from audit_oracle import row
from matrices import matrix
from pytest import approx
from scipy.stats import fisher_exact

import evenhand as eh

Cells = tuple[int, int, int, int]
WAYS = (
    ((3, 2, 1, 4), (5, 1, 2, 3), (1, 2, 1, 1)), ((0, 2, 0, 3), (4, 1, 1, 2), (2, 0, 1, 1)),
    ((1, 0, 0, 1), (2, 2, 2, 2), (0, 1, 2, 0)),
)  # fmt: skip


def assigned(group: Cells, other: Cells, unknown: Cells) -> Any:
    """Every way to put unknown cases into the group, into the other one, or into neither."""
    ways = [[(a, b) for a in range(u + 1) for b in range(u + 1 - a)] for u in unknown]
    for way in product(*ways):
        to_group, to_other = zip(*way, strict=True)
        yield np.add(group, to_group).tolist(), np.add(other, to_other).tolist()


def test_ranges_are_those_of_all_assignments() -> None:
    """For kappa and mb, which are not monotone, ranges of gaps may be wider."""
    keys = ["tpr", "fpr", "acc", "ppr", "f1", "ppv", "fnr", "jaccard", "mcc", "informedness", "kappa", "mb"]
    for group, other, unknown in WAYS:
        a = eh.audit_counts({"A": group, "B": other, None: unknown}, metrics=keys)
        ways = list(assigned(group, other, unknown))
        for key in keys if group == WAYS[0][0] else keys[:-2]:
            found = row(a, "A", key)
            ends = [found.unknown_difference_low, found.unknown_difference_high]
            scores = np.array([[float(eh.metric(key)(matrix(*cells))) for cells in way] for way in ways])
            gaps = scores[:, 0] - scores[:, 1]
            low, high = np.nanmin(gaps), np.nanmax(gaps)
            of_score = [found.unknown_score_low, found.unknown_score_high]
            assert of_score == approx([np.nanmin(scores[:, 0]), np.nanmax(scores[:, 0])])
            assert key in ("kappa", "mb") or ends == approx([low, high])
            assert ends[0] <= low + 1e-12 and ends[1] >= high - 1e-12


def test_the_lowest_score_may_have_some_of_the_unknown_cases() -> None:
    """Kappa is lowest with 37 of 60 more false positives, which a coarse grid does not have."""
    a = eh.audit_counts({"A": (10, 32, 3, 3), "B": (20, 20, 20, 20), None: (0, 0, 60, 0)}, metrics="kappa")
    scores = [eh.metric("kappa")(matrix(10, 32, 3 + k, 3)) for k in range(61)]
    assert row(a, "A").unknown_score_low == approx(min(scores))


def test_the_fewest_that_turn_a_verdict_are_those_of_all_assignments() -> None:
    for group, other, unknown in (((2, 18), (60, 20), (9, 9)), ((19, 1), (40, 60), (6, 8)),
                                  ((0, 9), (30, 10), (3, 1)), ((1, 40), (90, 10), (2, 1))):  # fmt: skip
        counts = {name: (*cells, 0, 0) for name, cells in (("A", group), ("B", other), (None, unknown))}
        found = row(eh.audit_counts(counts, metrics="tpr"), "A", "tpr")
        level = 0.05 * found.pvalue / found.p_adjusted
        numbers = [
            np.sum(table) - sum(group) - sum(other)
            for table in assigned(group, other, unknown)  # type: ignore[arg-type]
            if 2 * min(fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")) > level
        ]
        assert found.tipping_point == approx(min(numbers, default=np.nan), nan_ok=True)


def test_cases_without_a_group_are_in_no_reference() -> None:
    """M was higher than the rest only because of those whose sex is unknown."""
    known: Any = {"F": (30, 30, 20, 20), "M": (32, 28, 20, 20)}
    alone = eh.audit_counts(known, by="sex", metrics=["tpr", "ppr"])
    a = eh.audit_counts({**known, None: (2, 70, 1, 60)}, by="sex", metrics=["tpr", "ppr"])
    assert a.unknown == {"sex": 133}
    for one, other in zip(a.rows, alone.rows, strict=True):
        for name in ("group", "verdict", "p_adjusted", "gap", "reference_n"):
            assert getattr(one, name) == getattr(other, name)
        assert one.unknown_n > 0 and np.isnan(other.unknown_n)
    (said,) = [f.sentence for f in a.findings if f.kind == "missing-group"]
    assert said == "133 cases have no known sex: they are in no group and in no reference"
    everybody = eh.audit_counts({**known, None: (2, 70, 1, 60)}, by="sex", metrics="tpr", reference="all")
    assert everybody.rows[0].reference_n == 200


def test_a_case_that_is_unknown_in_one_column_is_unknown_to_its_crossings() -> None:
    data = pd.DataFrame({"race": ["a", "a", "b", "b", None, "a"] * 20, "sex": ["f", "m", "f", "m", "f", None] * 20,
                         "y": [1, 0, 1, 1, 0, 1] * 20, "p": [1, 0, 0, 1, 1, 1] * 20})  # fmt: skip
    a = eh.audit(data, y_true="y", y_pred="p", groups=["race", "sex"], metrics="acc")
    assert a.unknown == {"race": 20, "sex": 20, "race & sex": 40}
    assert {r.group for r in a.rows} == {"a", "b", "f", "m", "a & f", "a & m", "b & f", "b & m"}
    assert {r.by: r.unknown_n for r in a.rows} == a.unknown


def test_a_given_matrix_has_no_unknown_cases() -> None:
    counts: Any = {"A": (10, 10, 0, 0), "B": (50, 9, 0, 0), None: (5, 5, 0, 0)}
    found = row(eh.audit_counts(counts, metrics="tpr", reference=matrix(80, 20, 0, 0)), "A")
    ends = [found.unknown_difference_low, found.unknown_difference_high]
    assert ends == approx([10 / 25 - 0.8, 15 / 25 - 0.8])
