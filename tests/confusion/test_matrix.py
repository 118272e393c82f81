"""The 2x2 matrix: an immutable value, and what cannot be one."""

from __future__ import annotations

import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from oracle import refusal

from evenhand import ConfusionMatrix
from evenhand.confusion import as_cells, require_counts

CM, REAL = ConfusionMatrix(tp=1, fn=2, fp=3, tn=4), ConfusionMatrix(tp=1.5, fn=2, fp=3, tn=4)
NOT_COUNTS = "(to count labels, use ConfusionMatrix.from_labels)"
TOO_LARGE = "be at most 2**53, beyond which float64 is not exact"
USE_SKLEARN = "; for a 2x2 array of scikit-learn, use ConfusionMatrix.from_sklearn"
COLUMNS = "cells with named columns must have the columns tp, fn, fp and tn; got"
MASKED = "cells must not be masked; fill or drop masked values first"
counts = st.integers(0, 10**12)
any_matrix = st.builds(ConfusionMatrix, tp=counts, fn=counts, fp=counts, tn=counts)


def test_a_matrix_is_a_frozen_value_with_named_cells() -> None:
    assert (CM.cells, CM.n, CM.proportions.tolist()) == ((1, 2, 3, 4), 10, [0.1, 0.2, 0.3, 0.4])
    assert {CM: "found"}[pickle.loads(pickle.dumps(CM))] == "found"
    assert CM not in (ConfusionMatrix(tp=1, fn=3, fp=2, tn=4), (1, 2, 3, 4))
    with pytest.raises(AttributeError):
        CM.tp = 5  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        ConfusionMatrix(1, 2, 3, 4)  # type: ignore[call-arg]
    assert refusal(lambda: (CM - CM).proportions) == "InvalidInput: an empty matrix (n = 0) has no proportions"


@given(any_matrix, any_matrix)
def test_matrices_are_added_and_subtracted_cell_by_cell(a: ConfusionMatrix, b: ConfusionMatrix) -> None:
    assert (a + b).cells == tuple(x + y for x, y in zip(a.cells, b.cells, strict=True))
    assert (a + b) - b == a == ConfusionMatrix.from_array(a.to_array())
    assert sum([a, b]) == a + b


def test_sums_are_of_matrices_and_differences_not_negative() -> None:
    message = "InvalidInput: cannot subtract a matrix with larger cells"
    assert refusal(lambda: CM - ConfusionMatrix(tp=0, fn=3, fp=0, tn=9)) == message
    parts = [ConfusionMatrix(tp=tp, fn=0, fp=0, tn=0) for tp in (0.3, 0.1, 0.2)]
    assert 0.3 - 0.1 - 0.2 < 0 == (parts[0] - parts[1] - parts[2]).tp
    assert refusal(operator.sub, parts[1], parts[2]) == message
    cm: Any = CM
    for combine in (operator.add, operator.sub):
        for arguments in ((cm, 1), (1, cm), (cm, (1, 2, 3, 4))):
            with pytest.raises(TypeError):
                combine(*arguments)


def test_whole_cells_are_integers_whatever_their_type() -> None:
    scalars: list[Any] = [np.int64(1), 2.0, np.float32(3), Fraction(4)]
    others: list[Any] = [Decimal(1), np.array(2), np.array(3.0), np.uint8(4)]
    for tp, fn, fp, tn in (scalars, others):
        cm = ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)
        assert repr(cm) == repr(CM) == repr(ConfusionMatrix.from_array([tp, fn, fp, tn]))
    assert [(m.is_whole, m.to_array().dtype.kind) for m in (CM, REAL)] == [(True, "i"), (False, "f")]


def test_a_cell_that_is_not_a_count_is_named() -> None:
    invalid: list[tuple[Any, str]] = [
        (-1, "not be negative; got -1"), (1e-80, "be 0 or at least 1e-75; got 1e-80"),
        (float("nan"), "be finite; got nan"), (Decimal("Infinity"), "be finite; got inf"),
        *((value, f"be a count; got True {NOT_COUNTS}") for value in (True, np.True_, np.array(True))),
        (np.array("1"), "be a number; got '1' of type str"), (None, "be a number; got None of type NoneType"),
        (1 + 2j, "be a number; got (1+2j) of type complex"), (2**53 + 1, f"{TOO_LARGE}; got 9007199254740993"),
        (10**400, f"{TOO_LARGE}; got 1e+400"), (Fraction(10**400, 3), f"{TOO_LARGE}; got 3.33333e+399")]  # fmt: skip
    for cell, message in invalid:
        assert refusal(ConfusionMatrix, tp=1, fn=2, fp=cell, tn=4) == f"InvalidInput: fp must {message}"
    extreme = (2**53, 1e-75, 0, 0.0)
    assert ConfusionMatrix(tp=2**53, fn=1e-75, fp=0, tn=0.0).cells == extreme == tuple(as_cells(extreme))


def test_an_array_has_four_cells_or_the_layout_of_scikit_learn() -> None:
    assert ConfusionMatrix.from_array([1, 2, 3, 4]) == ConfusionMatrix.from_sklearn([[4, 3], [2, 1]]) == CM
    assert as_cells([CM, CM]).tolist() == [[1, 2, 3, 4]] * 2
    assert as_cells(np.ones((2, 3, 4))).shape == (2, 3, 4) and as_cells(np.zeros((0, 4))).shape == (0, 4)
    for array, shape in (([[1, 2], [3, 4]], f"(2, 2){USE_SKLEARN}"), ([1, 2, 3], "(3,)"), (7, "()"), ([], "(0,)")):
        got = f"in the order tp, fn, fp, tn; got shape {shape}"
        assert refusal(ConfusionMatrix.from_array, array) == f"InvalidInput: cells must be four numbers {got}"
        assert refusal(as_cells, array) == f"InvalidInput: cells must have shape (..., 4), {got}"
    message = "InvalidInput: array must be [[tn, fp], [fn, tp]]; got shape (4,)"
    assert refusal(ConfusionMatrix.from_sklearn, [1, 2, 3, 4]) == refusal(ConfusionMatrix.from_sklearn, CM) == message


def test_an_array_that_does_not_hold_counts_is_explained() -> None:
    invalid: list[tuple[Any, str]] = [
        ([True, False, False, True], f"cells must contain counts; got booleans {NOT_COUNTS}"),
        (["1", "2", "3", "4"], "cells must contain numbers; got text"),
        (np.array([1j] * 4), "cells must contain numbers; got complex128"),
        ([1, 2, [3]], "cells must be an array of numbers; got [1, 2, [3]]"),
        ([1e-80, 2, 3, 4], "tp must be 0 or at least 1e-75; got 1e-80"), (np.ma.masked_equal([1, 2, 3, 4], 2), MASKED),
        ([1, -2, 3, 4], "fn must not be negative; got -2"), ([1, 2, np.nan, 4], "fp must be finite; got nan"),
        ([1, 2, 3, 2.0**54], f"tn must {TOO_LARGE}; got 18014398509481984")]  # fmt: skip
    for array, message in invalid:
        assert refusal(ConfusionMatrix.from_array, array) == refusal(as_cells, array) == f"InvalidInput: {message}"
    assert as_cells(np.ma.array([1, 3, 0, 0])).tolist() == [1, 3, 0, 0]
    assert refusal(as_cells, "x", "the reference") == "InvalidInput: the reference must contain numbers; got text"


@pytest.mark.parametrize(("given", "message"), [
    ({"tp": np.ma.masked}, "tp must be a number; got masked of type MaskedConstant"),
    ({"tp": Decimal("sNaN")}, "tp must be finite; got nan"),
    ([True, 2, 3, 4], f"cells must contain counts; got booleans {NOT_COUNTS}"),
    ([np.ma.masked, 1, 1, 1], MASKED),
    (pd.DataFrame([[1, 2, 3, 4, 5]], columns=["tp", "TP", "fn", "fp", "tn"]), f"{COLUMNS} tp, TP, fn, fp, tn"),
])  # fmt: skip
def test_what_is_not_a_count_is_never_taken_for_one(given: Any, message: str) -> None:
    is_cell = isinstance(given, dict)
    found = refusal(ConfusionMatrix, **given, fn=1, fp=1, tn=1) if is_cell else refusal(as_cells, given)
    assert found == f"InvalidInput: {message}"


def test_named_columns_are_read_by_name() -> None:
    frame = pd.DataFrame({"tn": [6], "FP": [0], "fn": [1], "tp": [3]})
    for cells in (frame, frame.iloc[0], pd.DataFrame([[3, 1, 0, 6]])):
        assert as_cells(cells).ravel().tolist() == [3, 1, 0, 6]
    assert refusal(as_cells, frame.rename(columns={"tn": "n"})) == f"InvalidInput: {COLUMNS} n, FP, fn, tp"


def test_numpy_sees_four_cells() -> None:
    array: Any = np.array(CM)
    assert (array.tolist(), array.dtype) == ([1, 2, 3, 4], np.int64)
    assert np.asarray(CM, dtype=np.float32).dtype == np.float32 and np.stack([CM, CM]).shape == (2, 4)
    without_copy = "ValueError: a ConfusionMatrix cannot become an array without a copy"
    assert refusal(CM.__array__, copy=False) == without_copy


def test_a_test_needs_whole_counts() -> None:
    assert require_counts(CM, "the group").tolist() == [1, 2, 3, 4]
    message = "InvalidInput: the group must be a ConfusionMatrix of counts; got [1, 2, 3, 4]"
    assert refusal(require_counts, [1, 2, 3, 4], "the group") == message
    message = f"InvalidInput: the group must hold whole counts, not smoothed cells; got {REAL!r}"
    assert refusal(require_counts, REAL, "the group") == message


def test_a_matrix_prints_as_a_table() -> None:
    assert str(ConfusionMatrix(tp=2.118030118, fn=0.846764346, fp=0, tn=1234567)).splitlines() == [
        "          predicted +  predicted -        total",
        "actual +      2.11803     0.846764      2.96479",
        "actual -            0      1234567      1234567",
        "   total      2.11803  1.23457e+06  1.23457e+06",
    ]


def test_cells_are_zero_or_within_their_range_ends_included() -> None:
    ends = [1e-75, 2.0**53, 0.0, 1.0]
    assert as_cells(ends).tolist() == ends
    for outside in (9e-76, 2.0**53 + 2):
        assert refusal(as_cells, [outside, 1, 1, 1]).startswith("InvalidInput: tp must be ")


def test_a_difference_that_only_rounding_makes_negative_is_zero() -> None:
    whole = ConfusionMatrix(tp=1000.5, fn=1, fp=1, tn=1)
    rounding = ConfusionMatrix(tp=1000.5 * (1 + 0.9e-12), fn=1, fp=1, tn=1)
    more = ConfusionMatrix(tp=1000.5 * (1 + 1.5e-12), fn=1, fp=1, tn=1)
    assert (whole - rounding).tp == 0
    with pytest.raises(ValueError, match="cannot subtract a matrix with larger cells"):
        whole - more
