"""Areas under the ROC curve, Brier scores and log losses: scores, intervals, and tests of two groups."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pytest import approx
from scipy.stats import norm, t as t_law, ttest_ind
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from evenhand.inference import permutation, ranking, ranking_gap, ranking_score
from evenhand.inference.ranking import RankingGap

KEYS = ("auc", "brier", "log_loss")


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few values may be permuted that groups of 100 cases have approximations."""
    for module in (permutation, ranking):
        monkeypatch.setattr(module, "MAX_VALUES", 1_000)


@pytest.fixture(params=["all cases are permuted", "small groups are drawn"])
def drawing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param.startswith("small"):
        monkeypatch.setattr(permutation, "_FEW", 0)
        monkeypatch.setattr(permutation, "_TIMES", 2)


def score(key: str, y: Any, s: Any, confidence_level: float = 0.95) -> Any:
    return ranking_score(key, np.array(y, dtype=bool), np.array(s, dtype=float), confidence_level)


def compare(key: str, y: Any, s: Any, y2: Any, s2: Any, draws: int = 999, rng: int = 0) -> RankingGap:
    """A group compared with a reference."""
    member = np.repeat([True, False], [len(y), len(y2)])
    labels, scores = np.r_[y, y2].astype(bool), np.r_[s, s2].astype(float)
    settings: dict[str, Any] = {"confidence_level": 0.95, "draws": draws, "rng": np.random.default_rng(rng)}
    return ranking_gap(key, member, labels, scores, **settings)


def example(n: int, seed: int = 4) -> tuple[Any, Any]:
    """Labels, and probabilities with ties that are higher for positives."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, np.clip(np.round(0.3 * y + 0.7 * rng.random(n), 2), 0.01, 0.99)


def delong(plus: Any, minus: Any) -> tuple[float, float]:
    """The area from all pairs, and DeLong's variance plus 1 / (4 m n)."""
    wins = np.array([[(p > q) + (p == q) / 2 for q in minus] for p in plus])
    m, n = wins.shape
    variance = sum(w.var(ddof=1) / len(w) if len(w) > 1 else 0.0 for w in (wins.mean(axis=1), wins.mean(axis=0)))
    return float(wins.mean()), float(variance + 1 / (4 * m * n))


def listed_pvalue(statistic: Callable[..., float], *pools: tuple[list[float], int]) -> float:
    """The share of all exchanges within pools of values with a statistic as large as the first one's."""
    choices: list[list[Any]] = [[]]
    for values, k in pools:
        sides = [
            ([values[i] for i in chosen], [v for i, v in enumerate(values) if i not in chosen])
            for chosen in combinations(range(len(values)), k)
        ]
        choices = [[*before, side] for before in choices for side in sides]
    statistics = np.array([statistic(*choice) for choice in choices])
    return float(np.mean(statistics >= statistics[0] * (1 - 1e-9)))


def check_drawn(found: RankingGap, exact: float) -> None:
    """A drawn p-value is within 5 standard errors of the exact one, which is neither sure nor impossible."""
    assert found.error is not None and found.method == "permutation"
    assert 0.01 < exact < 0.99 and abs(found.pvalue - exact) < 5 * found.error


def test_scores_are_those_of_scikit_learn() -> None:
    peers: dict[str, Any] = {"auc": roc_auc_score, "brier": brier_score_loss, "log_loss": log_loss}
    for n, seed in ((7, 0), (90, 1), (300, 2)):
        y, s = example(n, seed)
        for key, peer in peers.items():
            found = score(key, y, s)
            assert found.score == approx(peer(y, s), rel=1e-12), (key, n)
            assert found.low < found.score <= found.high and found.reason is None


def test_limits_of_an_area_are_z_standard_errors_away() -> None:
    """(A - a)² = z² V(a) at both ends, V by Hanley and McNeil with classes of mean size (Newcombe 2006, method 5)."""
    for m, n, wins in ((5, 5, 25), (3, 9, 20), (20, 4, 41), (1, 1, 0), (30, 30, 450)):
        plus = np.full(m, -1.0)
        plus[: wins // n] = n
        if wins // n < m:
            plus[wins // n] = wins % n - 0.5
        found = score("auc", [1] * m + [0] * n, np.r_[plus, np.arange(n)], 0.9)
        assert found.score == wins / (m * n)
        assert found.low <= found.score <= found.high and found.low < found.high
        for a in (found.low, found.high):
            q1, q2, size = a / (2 - a), 2 * a**2 / (1 + a), (m + n) / 2
            variance = (a * (1 - a) + (size - 1) * (q1 + q2 - 2 * a**2)) / (m * n)
            assert (found.score - a) ** 2 == approx(norm.ppf(0.95) ** 2 * variance, abs=1e-9)


def test_limits_of_a_loss_are_those_of_its_logarithm() -> None:
    """mean · exp(± t s / (√n mean)); those of a Brier score end at 1."""
    y, s = example(40)
    losses = {"brier": (s - y) ** 2, "log_loss": -np.log(np.where(y, s, 1 - s))}
    for key, values in losses.items():
        found, mean = score(key, y, s), values.mean()
        half = t_law.ppf(0.975, 39) * values.std(ddof=1) / 40**0.5 / mean
        assert (found.low, found.high) == approx((mean * np.exp(-half), mean * np.exp(half)), rel=1e-9)
    wide = {key: score(key, [1, 0], [0.1, 0.01]).high for key in losses}
    assert wide["brier"] == 1.0 and wide["log_loss"] > 1000
    # Without spread there is no interval.
    for y, s in (([1, 0, 0], [0.5] * 3), ([1], [0.5]), ([1, 0], [0.7, 0.3])):
        found = score("brier", y, s)
        assert found.score == approx(s[-1] ** 2) and found.reason is None
        assert np.isnan([found.low, found.high]).all()


def test_the_interval_of_a_gap_combines_those_of_both_sides() -> None:
    """Newcombe's square-and-add: low = d - √((S - l)² + (u' - S')²), high = d + √((u - S)² + (S' - l')²)."""
    y, s = example(90)
    for key in KEYS:
        found = compare(key, y[:30], s[:30], y[30:], s[30:], draws=9)
        assert (found.group, found.reference) == (score(key, y[:30], s[:30]), score(key, y[30:], s[30:]))
        (a, low, high, _), (b, other_low, other_high, _) = found.group, found.reference
        below, above = np.hypot(a - low, other_high - b), np.hypot(high - a, b - other_low)
        assert (found.gap, found.low, found.high) == approx((a - b, a - b - below, a - b + above), rel=1e-12)


def test_undefined_scores_have_a_reason_and_no_test() -> None:
    cases: list[tuple[Any, str]] = [
        (("auc", [1, 1], [0.2, 0.3], [1, 0], [0.4, 0.1]), "the group has no actual negatives"),
        (("auc", [1, 0], [0.4, 0.1], [0, 0], [0.2, 0.3]), "the reference has no actual positives"),
        (("auc", [], [], [1, 0], [0.4, 0.1]), "the group has no actual positives and no actual negatives"),
        (("brier", [], [], [1, 0], [0.4, 0.1]), "the group has no cases"),
        (("log_loss", [1, 0, 1], [0.0, 1.0, 0.5], [1, 0], [0.6, 0.3]),
         "the group's log loss is infinite: 2 cases had probability 0 of being what they are"),
        (("log_loss", [1, 0], [0.6, 0.3], [0, 1], [1.0, 0.5]),
         "the reference's log loss is infinite: 1 case had probability 0 of being what it is"),
    ]  # fmt: skip
    for columns, reason in cases:
        found = compare(*columns)
        assert np.isnan([found.gap, found.low, found.high, found.pvalue]).all()
        assert (found.method, found.error, found.reason) == ("none", None, reason)
    assert compare("brier", [1, 0], [0.0, 1.0], [1, 0], [0.6, 0.3]).reason is None


def test_areas_are_tested_as_listing_all_exchanges_within_classes() -> None:
    """|A - B| / √(V(A) + V(B)), V by DeLong plus 1 / (4 m n)."""
    plus, minus = [0.5, 0.8, 0.4, 1.0, 0.9, 0.3], [0.0, 0.2, 0.6, 0.1, 0.7]

    def statistic(first: Any, second: Any) -> float:
        (a, v), (b, w) = (delong(p, q) for p, q in zip(first, second, strict=True))
        return float(abs(a - b) / (v + w) ** 0.5)

    exact = listed_pvalue(statistic, (plus, 3), (minus, 2))
    found = compare("auc", [1, 1, 1, 0, 0], plus[:3] + minus[:2], [1] * 3 + [0] * 3, plus[3:] + minus[2:], 4_999)
    check_drawn(found, exact)


@pytest.mark.usefixtures("drawing")
def test_areas_with_a_single_case_in_a_class_are_tested_by_their_gap() -> None:
    plus, minus = [0.2, 0.9, 0.8, 0.6], [0.6, 0.7, 0.2, 0.1, 0.3, 0.5, 0.85]
    exact = listed_pvalue(
        lambda first, second: abs(delong(first[0], second[0])[0] - delong(first[1], second[1])[0]),
        (plus, 1), (minus, 3),
    )  # fmt: skip
    columns: tuple[Any, Any, Any, Any] = [1, 0, 0, 0], plus[:1] + minus[:3], [1] * 3 + [0] * 4, plus[1:] + minus[3:]
    check_drawn(compare("auc", *columns, draws=4_999), exact)
    assert compare("auc", *columns) == compare("auc", *columns) != compare("auc", *columns, rng=1)


@pytest.mark.usefixtures("drawing")
def test_mean_losses_are_tested_as_listing_all_splits() -> None:
    """Welch's |t|, or the gap if the group is a single case."""
    y, s = np.array([1, 0, 1, 0, 1, 0, 1, 1]), np.array([0.35, 0.6, 0.5, 0.2, 0.8, 0.15, 0.9, 0.7])
    losses = ((s - y) ** 2).tolist()
    single = listed_pvalue(lambda split: abs(np.mean(split[0]) - np.mean(split[1])), (losses, 1))
    several = listed_pvalue(lambda split: abs(ttest_ind(*split, equal_var=False).statistic), (losses, 3))
    for n, exact in ((1, single), (3, several)):
        check_drawn(compare("brier", y[:n], s[:n], y[n:], s[n:], draws=4_999), exact)


def test_losses_that_differ_by_rounding_are_equal_and_others_without_spread_as_different_as_can_be() -> None:
    """(1 - 0.7)² and 0.3² are different floats; a group with only one of them is no less usual than others."""
    y, s = [1] * 6 + [0] * 14, [0.7] * 6 + [0.3] * 14
    for key in ("brier", "log_loss"):
        assert compare(key, y[:6], s[:6], y[6:], s[6:], draws=99).pvalue == 1.0
    assert compare("brier", [1] * 5, [0.9] * 5, [1] * 6, [0.5] * 6, draws=999).pvalue < 0.02


@pytest.mark.usefixtures("limited")
def test_the_approximation_of_two_areas_is_delongs() -> None:
    """p = 2 Φ(-|A - B| / √(V(A) + V(B)))."""
    rng = np.random.default_rng(6)
    for others in (110, 700):
        y, y2 = np.repeat([1, 0], [60, 50]), np.repeat([1, 0], [60, others])
        s, s2 = np.round(rng.normal(size=110) + y, 1), np.round(rng.normal(size=60 + others) + 1.3 * y2, 1)
        (a, v), (b, w) = (delong(scores[labels == 1], scores[labels == 0]) for labels, scores in ((y, s), (y2, s2)))
        found = compare("auc", y, s, y2, s2)
        assert (found.method, found.error) == ("DeLong, approximate", None)
        assert found.pvalue == approx(2 * norm.sf(abs(a - b) / (v + w) ** 0.5), rel=1e-9)


@pytest.mark.usefixtures("limited")
def test_the_approximation_of_two_losses_is_welchs() -> None:
    y, s = example(300)
    losses = {"brier": (s - y) ** 2, "log_loss": -np.log(np.where(y, s, 1 - s))}
    for key, values in losses.items():
        found = compare(key, y[:100], s[:100], y[100:], s[100:])
        assert (found.method, found.error) == ("Welch, approximate", None)
        assert found.pvalue == approx(ttest_ind(values[:100], values[100:], equal_var=False).pvalue, rel=1e-9)
    assert compare("brier", [1] * 100, [0.5] * 100, [0] * 150, [0.5] * 150).pvalue == 1.0


@pytest.mark.usefixtures("limited")
def test_large_groups_with_few_cases_of_a_class_are_drawn_less_often() -> None:
    """DeLong's test would reject most true nulls here; a permutation test rejects at most its level."""
    rng = np.random.default_rng(0)
    y, y2 = np.repeat([1, 0], [1, 120]), np.repeat([1, 0], [20, 130])
    (s, s2), pvalues = (example(n)[1] for n in (6, 150)), []
    for i in range(60):
        found = compare("auc", y, rng.normal(size=121) + y, y2, rng.normal(size=150) + y2, 999, i)
        pvalues.append(found.pvalue)
        assert found.method == "permutation"
        assert found.error == approx((found.pvalue * (1 - found.pvalue) / 199) ** 0.5)
    assert np.mean(np.array(pvalues) <= 0.1) < 0.25
    assert compare("auc", y, y, y2, y2, 99).error == 0.0
    # Small groups are never approximated.
    assert {compare(key, y2[17:23], s[:6], y2, s2, 99).method for key in KEYS} == {"permutation"}
