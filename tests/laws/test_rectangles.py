"""Rectangles of paths: the same tails as a search on every path, for every score with a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest import approx

from evenhand import f_beta, metric
from evenhand.laws import law_of, order_of, rectangles, tails
from evenhand.laws.families import DirichletMultinomial, Law, MultivariateHypergeometric
from evenhand.laws.sums import similar_tables, split_table
from evenhand.metrics import CATALOGUE, OneGroup

PAIRS = [*(m for m in CATALOGUE.one_group if m.tree.side), f_beta(3)]

LAWS: dict[str, Law] = {
    "known": law_of([0.15, 0.1, 0.2, 0.55], 97),
    "rare": law_of([0.02, 0.001, 0.03, 0.949], 150),
    "no fp": law_of([0.4, 0.1, 0.0, 0.5], 60),
    "no fn": law_of([0.4, 0.0, 0.2, 0.4], 60),
    "uniform": DirichletMultinomial(40, (1.0, 1.0, 1.0, 1.0)),
    "steep": DirichletMultinomial(40, (0.5, 0.2, 3.0, 9.0)),
    "predicted": DirichletMultinomial(200, (30.5, 12.5, 41.5, 90.5)),
    "pooled": MultivariateHypergeometric(80, (40, 30, 20, 35)),
    "nearly all": MultivariateHypergeometric(100, (40, 30, 20, 15)),
}

GROUPS = [
    (0.2, 0.05, 0.15, 0.6),
    (0.25, 0.25, 0.25, 0.25),
    (0.1, 0.0, 0.2, 0.7),
    (0.0, 0.1, 0.4, 0.5),
    (0.5, 0.1, 0.0, 0.4),
    (0.0, 0.4, 0.55, 0.05),
]


def group(shares: tuple[float, ...], n: int) -> np.ndarray[Any, Any]:
    tp, fn, fp = (round(share * n) for share in shares[:3])
    return np.array([tp, fn, fp, n - tp - fn - fp], dtype=np.float64)


@pytest.mark.many
@pytest.mark.parametrize("m", PAIRS, ids=lambda m: m.key)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_rectangles_have_the_tails_of_a_search(m: OneGroup, law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
    order = order_of(m)
    for shares in GROUPS:
        threshold = order.threshold(group(shares, law.n))
        low, high = m.range
        if not low < threshold.value < high:
            continue
        monkeypatch.setattr(rectangles, "_FEWEST", 0)
        # Several rectangles, none of them with one row.
        monkeypatch.setattr(rectangles, "_ENTRIES", 500)
        assert rectangles.rectangles(order, law, threshold.value, margin=None, eps=1e-18) is not None
        found = tails(order, law, threshold, point=True)
        monkeypatch.setattr(rectangles, "_FEWEST", 10**9)
        searched = tails(order, law, threshold, point=True)
        for name in ("below", "at", "above", "defined"):
            expected = approx(getattr(searched, name), rel=1e-9, abs=1e-250, nan_ok=True)
            assert getattr(found, name) == expected, (shares, name)


def test_far_tails_keep_their_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways agree down to 1e-100, where windows are much wider than what is likely."""
    order, law = order_of(metric("mcc")), law_of([0.25, 0.25, 0.25, 0.25], 400)
    for agreeing in (120, 170, 198):
        threshold = order.threshold(np.array([agreeing, 200.0 - agreeing, 200.0 - agreeing, agreeing]))
        monkeypatch.setattr(rectangles, "_FEWEST", 0)
        found = tails(order, law, threshold)
        monkeypatch.setattr(rectangles, "_FEWEST", 10**9)
        searched = tails(order, law, threshold)
        assert found.above == approx(searched.above, rel=1e-9, abs=0), agreeing
    assert found.above < 1e-100


def test_a_closed_form_gives_back_the_last_count_of_a_score() -> None:
    """To 1e-5 of a case among 100,000, where a hundred times as much is allowed."""
    rng = np.random.default_rng(3)
    for m in PAIRS:
        (part,), tree = order_of(m).parts, m.tree
        n, margin = 1e5, rng.integers(20_000, 80_000, 200).astype(float)
        side = np.floor(margin * rng.uniform(0.3, 0.7, 200))
        true = np.floor((n - margin) * rng.uniform(0.2, 0.8, 200)) + 0.5
        for i in range(200):
            score = float(part.inside(tree.columns(n, margin[i], side[i], true[i])))
            place = part.crossing(np.float64(score), n, margin[i : i + 1], side[i : i + 1])
            assert place is not None
            assert place[0] == approx(true[i], abs=1e-5), m.key


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_tables_of_similar_sizes_are_those_of_each(law: Law) -> None:
    for split, sizes in (
        (law.split(("tp",), ("tp", "fn")), np.arange(0.0, 12.0)),
        (law.split(("fp",), ("fp", "tn")), np.arange(35.0, 22.0, -1.0)),
        (law.split(("tp", "fn")), np.array([float(law.n)])),
    ):
        (shared,) = similar_tables(split, [sizes], np.array([1e-18]))
        for i, size in enumerate(sizes):
            one = split_table(split, np.array([size]), 1e-18)
            values = one.start[0] + np.arange(one.pmf.shape[1])
            at = (values - shared.start[i]).astype(int)
            inside = (at >= 0) & (at < shared.pmf.shape[1])
            assert one.pmf[0, ~inside].sum() < 1e-17
            assert shared.pmf[i, at[inside]] == approx(one.pmf[0, inside], rel=1e-11, abs=1e-300)
            assert shared.pmf[i].sum() == approx(1.0, abs=1e-12)
