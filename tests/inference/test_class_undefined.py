"""How many K x K matrices leave a score undefined, against listing them."""

from __future__ import annotations

from math import comb
from re import escape
from typing import Any

import numpy as np
import oracle
import pytest
from class_oracle import against_rest, all_tables, averaged, overall

import evenhand as eh
from evenhand.errors import InvalidInput

ONE_GROUP = [m.key for m in eh.list_metrics() if m.groups == 1]
OVERALL = ("acc", "inacc", "balanced_accuracy", "mcc", "kappa")


def count(key: str, n: int, k: int, **of: Any) -> int:
    return eh.count_undefined(key, n, classes=k, **of)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_counts_of_undefined_matrices_are_those_of_listing_them(k: int) -> None:
    """For every metric: of one class, of averages, and of all classes at once, among C(n + K² - 1, n) matrices."""
    for n in range(4 if k < 4 else 3):
        every = list(all_tables(n, k))
        assert len(every) == comb(n + k * k - 1, n)
        counts = np.array(every)
        cells = [[against_rest(table, c) for c in range(k)] for table in every]
        for key in ONE_GROUP:
            holes = np.array([[oracle.ONE_GROUP[key](*c) is None or not n for c in row] for row in cells])
            assert count(key, n, k, label=0) == holes[:, 0].sum()
            micro = [averaged(key, table, "micro") is None for table in every]
            assert count(key, n, k, average="micro") == sum(micro), key
            if key != "pt" or k <= 2 or n == 0:
                weighty = counts.sum(axis=2) > 0
                weighted = (holes & weighty).any(axis=1) | (n == 0)
                assert count(key, n, k, average="macro") == (holes.any(axis=1) | (n == 0)).sum(), key
                assert count(key, n, k, average="weighted") == weighted.sum(), key
        for key in OVERALL:
            assert count(key, n, k) == sum(overall(key, t) is None for t in every), key


def test_counts_for_two_classes_are_those_of_the_binary_metrics() -> None:
    for key in ONE_GROUP:
        for n in (1, 7, 30):
            assert count(key, n, 2, label=0) == eh.count_undefined(key, n)
    for key in OVERALL:
        assert count(key, 30, 2) == eh.count_undefined(key, 30)


def test_counts_of_balanced_accuracy_have_a_closed_form() -> None:
    """Σ_j (-1)^(j+1) C(K, j) C(n + K² - jK - 1, n): some of K classes have no cases."""
    for n, k in ((1000, 3), (50, 10), (5, 100)):
        expected = sum(
            (-1) ** (j + 1) * comb(k, j) * (comb(n + k * k - j * k - 1, n) if j < k else 0) for j in range(1, k + 1)
        )
        assert count("balanced_accuracy", n, k) == expected
        assert count("ppv", n, k, average="macro") == expected


@pytest.mark.parametrize(("n", "k"), [(6, 5), (40, 12), (300, 3), (310, 300)])
def test_counts_of_matrices_with_an_empty_row_follow_from_adding_rows(n: int, k: int) -> None:
    """Without an empty row: f(i, m) = Σ_j C(j + K, j + 1) f(i - 1, m - j), with j cases more than one in row i."""
    more = [comb(j + k, j + 1) for j in range(max(n - k, 0) + 1)]
    full = [1] + [0] * max(n - k, 0)
    for _ in range(k):
        full = [sum(more[j] * full[m - j] for j in range(m + 1)) for m in range(len(full))]
    assert count("tpr", n, k, average="macro") == comb(n + k * k - 1, n) - full[-1]


def test_counts_that_are_not_in_closed_form_are_refused() -> None:
    refusals: tuple[tuple[type[Exception], dict[str, Any], str], ...] = (
        (InvalidInput, {"metric": "pt", "classes": 3, "average": "macro"}, "there is no closed form for the macro "
         "average of pt over more than two classes, which is also undefined where TPR equals FPR"),
        (InvalidInput, {"metric": "tpr", "classes": 3}, "tpr scores one class against the rest; pass a class as "
         "label= or an average=; only acc, inacc, mcc, balanced_accuracy, kappa have a definition for all classes at "
         "once"),
        (InvalidInput, {"metric": "tpr", "classes": 0, "average": "macro"}, "classes must be at least 1; got 0"),
        (eh.errors.UnknownName, {"metric": "tpr", "classes": 3, "average": "each"}, "no average is called 'each'; known: "  # noqa: E501
         "micro, macro, weighted"),
        (eh.errors.UnknownName, {"metric": "tpr", "classes": 3, "label": 3}, "no class is called '3'; known: 0, 1, 2"),
        (InvalidInput, {"metric": "ofi", "classes": 3}, "ofi compares two groups; a score of classes takes a metric "
         "of one group"),
        (InvalidInput, {"metric": "tpr", "label": 0}, "average and label are for several classes; pass their number "
         "as classes="),
        (InvalidInput, {"metric": "acc", "n": (3, 3), "classes": 2}, "n must be a whole number of cases; got "
         "(3, 3)"),
        (eh.errors.TooLarge, {"metric": "mcc", "classes": 60, "average": "macro"}, "inclusion and exclusion over 60 classes "  # noqa: E501
         "takes 56,672,074,888 terms, more than 50,000"),
        (eh.errors.TooLarge, {"metric": "mcc", "n": 10**9, "classes": 3, "average": "micro"}, "a micro average takes "
         "1,000,000,000 numbers of correct cases, more than the limit of 16,777,216; count those of fewer cases"),
    )  # fmt: skip
    for error, arguments, sentence in refusals:
        with pytest.raises(error, match=f"^{escape(sentence)}$"):
            eh.count_undefined(**{"n": 3} | arguments)
