"""Sums of a split's probabilities: all ways to add them up agree."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from evenhand.laws import BetaBinomial, Binomial, Hypergeometric, Split, interval_sums


@pytest.mark.parametrize(
    "split",
    [
        Binomial(0.3, 0.7),
        BetaBinomial(400.5, 900.5),
        BetaBinomial(0.5, 17.5),
        BetaBinomial(0.5, 0.5),
        Hypergeometric(3000, 7000),
        Hypergeometric(12, 4000),
    ],
)
@pytest.mark.parametrize("share", [0.05, 0.28, 0.31, 0.6])
def test_every_way_to_add_up_a_split_gives_the_same_sum(split: Split, share: float) -> None:
    """Tables, the incomplete beta function and chains agree with adding up single probabilities."""
    m = np.arange(2500.0, 3300.0)
    low, high = split.support(m)
    cut = np.clip(np.floor(m * share), low, high)
    together = interval_sums(split, m, [(low, cut), (cut + 1, high), (cut, cut)], 1e-300)
    for i in (0, 399, 799):
        k = np.arange(low[i], high[i] + 1)
        p = split.pmf(k, m[i])
        assert p.sum() == approx(1, rel=1e-11)
        for found, chosen in zip(together, (k <= cut[i], k > cut[i], k == cut[i]), strict=True):
            assert found[i] == approx(p[chosen].sum(), rel=1e-9, abs=1e-290)
