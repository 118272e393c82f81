"""Cases without a group: what is said of them is what listing every way to assign them gives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matrices import matrix
from pytest import approx
from scipy.stats import fisher_exact

import evenhand as eh
from evenhand.auditing import Row

Cells = tuple[int, int, int, int]
GROUP, OTHER, UNKNOWN = (3, 2, 1, 4), (5, 1, 2, 3), (1, 2, 1, 1)


def _audit(group: Cells, other: Cells, unknown: Cells, **how: Any) -> eh.Audit:
    return eh.audit_counts({"A": group, "B": other, None: unknown}, **how)


def _row(a: eh.Audit, metric: str, group: str = "A") -> Row:
    return next(row for row in a.rows if (row.group, row.metric) == (group, metric))


def _assigned(group: Cells, other: Cells, unknown: Cells) -> Any:
    """Every way to put unknown cases into the group, into the other one, or into neither."""
    ways = [[(a, b) for a in range(u + 1) for b in range(u + 1 - a)] for u in unknown]
    for way in product(*ways):
        mine = tuple(own + a for own, (a, _) in zip(group, way, strict=True))
        theirs = tuple(own + b for own, (_, b) in zip(other, way, strict=True))
        yield mine, theirs


@pytest.mark.parametrize(
    ("group", "other", "unknown"),
    [(GROUP, OTHER, UNKNOWN), ((0, 2, 0, 3), (4, 1, 1, 2), (2, 0, 1, 1)), ((1, 0, 0, 1), (2, 2, 2, 2), (0, 1, 2, 0))],
)
def test_ranges_are_those_of_all_assignments(group: Cells, other: Cells, unknown: Cells) -> None:
    """For kappa and mb, which are not monotone, ranges of gaps may be wider."""
    keys = ["tpr", "fpr", "acc", "ppr", "f1", "ppv", "fnr", "jaccard", "mcc", "informedness"]
    monotone = len(keys)
    keys += ["kappa", "mb"] if group is GROUP else []
    a = _audit(group, other, unknown, metrics=keys)
    ways = np.array(list(_assigned(group, other, unknown)), dtype=float)
    for i, key in enumerate(keys):
        found = _row(a, key).unknown
        assert found is not None and found.difference_low is not None and found.difference_high is not None
        scores = np.array([[float(eh.metric(key)(matrix(*cells))) for cells in way] for way in ways.tolist()])
        gaps = scores[:, 0] - scores[:, 1]
        low, high = np.nanmin(gaps), np.nanmax(gaps)
        assert [found.score_low, found.score_high] == approx([np.nanmin(scores[:, 0]), np.nanmax(scores[:, 0])])
        if i < monotone:
            assert [found.difference_low, found.difference_high] == approx([low, high])
        assert found.difference_low <= low + 1e-12 and found.difference_high >= high - 1e-12


@pytest.mark.parametrize(
    ("group", "other", "unknown"),
    [((2, 18, 0, 0), (60, 20, 0, 0), (9, 9, 0, 0)), ((19, 1, 0, 0), (40, 60, 0, 0), (6, 8, 0, 0)),
     ((0, 9, 0, 0), (30, 10, 0, 0), (3, 1, 0, 0)), ((1, 40, 0, 0), (90, 10, 0, 0), (2, 1, 0, 0))],
)  # fmt: skip
def test_the_fewest_that_turn_a_verdict_are_those_of_all_assignments(
    group: Cells, other: Cells, unknown: Cells
) -> None:
    a = _audit(group, other, unknown, metrics="tpr")
    row = _row(a, "tpr")
    assert row.unknown is not None and row.test.pvalue is not None and row.test.p_adjusted is not None
    threshold = 0.05 * row.test.pvalue / row.test.p_adjusted
    fewest = None
    for mine, theirs in _assigned(group, other, unknown):
        table = np.array([mine[:2], theirs[:2]])
        tails = [fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
        moved = sum(mine) + sum(theirs) - sum(group) - sum(other)
        if 2 * min(tails) > threshold and (fewest is None or moved < fewest):
            fewest = moved
    assert row.unknown.turns == fewest


def test_cases_without_a_group_are_in_no_reference() -> None:
    """M was higher than the rest only because of those whose sex is unknown."""
    known = {"F": (30, 30, 20, 20), "M": (32, 28, 20, 20)}
    alone = eh.audit_counts(known, by="sex", metrics=["tpr", "ppr"])
    a = eh.audit_counts({**known, None: (2, 70, 1, 60)}, by="sex", metrics=["tpr", "ppr"])
    assert a.unknown == {"sex": 133}
    assert {row.group for row in a.rows} == {"F", "M"}
    for one, other in zip(a.rows, alone.rows, strict=True):
        assert (one.verdict, one.test, one.gap, one.reference) == (
            other.verdict,
            other.test,
            other.gap,
            other.reference,
        )
        assert other.unknown is None
    (said,) = [f.sentence for f in a.findings if f.kind == "missing-group"]
    assert said == "133 cases have no known sex: they are in no group and in no reference"
    everybody = eh.audit_counts({**known, None: (2, 70, 1, 60)}, by="sex", metrics="tpr", reference="all")
    assert everybody.rows[0].reference.n == 200


def test_a_case_that_is_unknown_in_one_column_is_unknown_to_its_crossings() -> None:
    data = pd.DataFrame({"race": ["a", "a", "b", "b", None, "a"] * 20, "sex": ["f", "m", "f", "m", "f", None] * 20,
                         "y": [1, 0, 1, 1, 0, 1] * 20, "p": [1, 0, 0, 1, 1, 1] * 20})  # fmt: skip
    a = eh.audit(data, y_true="y", y_pred="p", groups=["race", "sex"], metrics="acc")
    assert a.unknown == {"race": 20, "sex": 20, "race & sex": 40}
    assert {row.group for row in a.rows} == {"a", "b", "f", "m", "a & f", "a & m", "b & f", "b & m"}
    assert {row.by: row.unknown.n for row in a.rows if row.unknown} == {"race": 20, "sex": 20, "race & sex": 40}


def test_a_given_matrix_has_no_unknown_cases() -> None:
    reference = matrix(80, 20, 0, 0)
    a = eh.audit_counts(
        {"A": (10, 10, 0, 0), "B": (50, 9, 0, 0), None: (5, 5, 0, 0)}, metrics="tpr", reference=reference
    )
    found = _row(a, "tpr").unknown
    assert found is not None
    assert [found.difference_low, found.difference_high] == approx([10 / 25 - 0.8, 15 / 25 - 0.8])


def test_what_is_unknown_is_said_where_the_verdict_is() -> None:
    a = _audit((10, 10, 0, 0), (80, 20, 0, 0), (5, 5, 0, 0), metrics="tpr")
    said = "The group of 10 actual positives is unknown; learning it for about 4 of them could change this verdict."
    assert said in " ".join(str(a).split())
    assert any(said.removesuffix(".") in f.sentence for f in a.findings)
    assert "Over all ways to assign" in a.to_html()
    safe = _audit((1, 40, 0, 0), (90, 10, 0, 0), (2, 1, 0, 0), metrics="tpr")
    kept = "is unknown; assigning them to this group or its reference alone would not change this verdict."
    assert f"The group of 3 actual positives {kept}" in " ".join(str(safe).split())
    assert eh.Audit.from_json(a.to_json()).rows == a.rows
