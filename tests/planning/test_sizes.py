"""Sample sizes by scanning every size, for a test, an interval and a score that exists."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pytest import approx
from scipy.stats import binom

import evenhand as eh
from evenhand.errors import InvalidInput
from evenhand.planning.sizes import _searched

LARGE = eh.ConfusionMatrix(300, 100, 120, 480)


@pytest.mark.parametrize(
    ("key", "difference", "settings"),
    [
        ("ppr", -0.25, {}),
        ("tpr", -0.35, {}),
        ("f1", 0.2, {"power": 0.6}),
        ("fpr", 0.3, {"test": "match", "null": "predictive"}),
        ("acc", 0.12, {"test": "match", "null": "known", "alpha": 0.1}),
    ],
)
def test_the_sample_size_is_the_first_and_the_last_of_all_sizes(key: str, difference: float, settings: Any) -> None:
    """n = min {k: power(k) >= p}, and n_stays = 1 + max {k: power(k) < p}."""
    found = eh.sample_size(key, LARGE, difference, **settings)
    goal = settings.pop("power", 0.8)
    assert found.n_looked is not None and found.n_stays is not None
    assert found.n_stays <= 0.7 * found.n_looked + 1
    reached = [eh.power(key, n, LARGE, difference=difference, **settings).power for n in range(1, found.n_looked + 1)]
    assert found.n == next(n for n, p in enumerate(reached, 1) if p >= goal)
    assert found.n_stays == max(n for n, p in enumerate(reached, 1) if p < goal) + 1
    assert found.value == approx(reached[found.n - 1], abs=1e-12)
    assert found.values[found.sizes.index(found.n)] == approx(found.value)


def test_exact_power_saws_so_that_the_two_sizes_differ() -> None:
    found = eh.sample_size("ppr", LARGE, -0.2)
    assert found.n_stays is not None and found.n < found.n_stays
    assert "so does every number from 52 up to 128" in str(found)


def test_the_largest_number_to_look_at_is_no_reason_to_withhold_an_answer() -> None:
    free, capped = eh.sample_size("ppr", LARGE, -0.2), eh.sample_size("ppr", LARGE, -0.2, most=55)
    assert (capped.n, capped.n_stays, capped.n_looked) == (free.n, free.n_stays, 55)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"mid_p": True}, {"test": "unconditional"}])
def test_less_cautious_tests_do_with_a_smaller_reference(settings: Any) -> None:
    """0.8^10 is more than 0.1, half of the level, which Fisher's test needs; the other two need less."""
    small, tiny = eh.ConfusionMatrix(10, 0, 0, 0), eh.ConfusionMatrix(3, 0, 0, 0)
    with pytest.raises(InvalidInput, match="the reference is too small"):
        eh.sample_size("tpr", small, -0.2, power=0.7, alpha=0.2)
    found = eh.sample_size("tpr", small, -0.2, power=0.7, alpha=0.2, most=120, **settings)
    assert found.value >= 0.7
    assert eh.power("tpr", found.n, small, difference=-0.2, alpha=0.2, **settings).power == approx(found.value)
    with pytest.raises(InvalidInput, match="the reference is too small"):
        eh.sample_size("tpr", tiny, -0.2, alpha=0.2, **settings)


@pytest.mark.slow
def test_the_size_for_an_interval_is_that_of_every_count() -> None:
    """P(half-width <= w) = Σ over k of P(k) [width(k) <= 2 w]."""
    found = eh.sample_size("acc", LARGE, half_width=0.2)

    def narrow(n: int) -> float:
        total = 0.0
        for k in range(n + 1):
            between = eh.interval(eh.ConfusionMatrix(k, n - k, 0, 0), "acc")
            total += binom.pmf(k, n, 0.78) * (between.high - between.low <= 0.4)
        return float(total)

    assert narrow(found.n) == approx(found.value, abs=1e-9)
    assert narrow(found.n) >= 0.8 > narrow(found.n - 1)
    mixed = eh.sample_size("tpr", LARGE, half_width=0.25)
    given = {
        k: sum(
            binom.pmf(a, k, 0.75)
            for a in range(k + 1)
            if (i := eh.interval(eh.ConfusionMatrix(a, k - a, 0, 0), "tpr")).high - i.low <= 0.5
        )
        for k in range(1, mixed.n + 1)
    }
    assert sum(binom.pmf(k, mixed.n, 0.4) * p for k, p in given.items()) == approx(mixed.value, abs=1e-8)
    rarely = eh.sample_size("f1_original", [0.01, 0.19, 0.2, 0.6], half_width=0.2, power=0.3)
    assert rarely.value <= 1 - eh.undefined_probability("f1_original", rarely.n, [0.01, 0.19, 0.2, 0.6])


@pytest.mark.parametrize("key", ["tpr", "mcc", "pt", "lr_plus"])
def test_the_size_for_a_defined_score_is_the_first_below_the_bound(key: str) -> None:
    found = eh.sample_size(key, LARGE, undefined_below=0.02)
    lacking = [eh.undefined_probability(key, n, LARGE) for n in range(1, 3 * found.n)]
    assert found.n == next(n for n, p in enumerate(lacking, 1) if p <= 0.02)
    assert found.n_stays == max(n for n, p in enumerate(lacking, 1) if p > 0.02) + 1
    assert found.value == approx(lacking[found.n - 1])
    assert list(found.values) == approx([eh.undefined_probability(key, int(n), LARGE) for n in found.sizes])
    if key != "pt":
        # The curve begins with one case and ends with twice as many as are needed, or ten.
        assert (found.sizes[0], found.sizes[-1]) == (1, max(2 * found.n, 10))


def test_the_size_for_a_score_of_several_rates_is_found_by_search() -> None:
    """With ``draws=10**6``, which tests all outcomes, the powers of 33, 34 and 35 cases are 0.791, 0.810 and 0.829."""
    found = eh.sample_size("informedness", [0.3, 0.1, 0.12, 0.48], -0.45, draws=100)
    assert found.test == "mid-p"
    assert found.value == approx({34: 0.8103, 35: 0.8290}[found.n], abs=3 * found.error)
    assert found.n_stays is not None and found.n_stays >= found.n


def test_a_dip_does_not_hide_a_smaller_number_next_to_it() -> None:
    reference = eh.ConfusionMatrix(86, 127, 62, 25)
    settings: Any = {"test": "match", "null": "known"}
    found = eh.sample_size("mb", reference, -0.3, **settings)
    assert found.n_looked is not None
    reached = {
        n: eh.power("mb", n, reference, difference=-0.3, **settings).power for n in range(30, found.n_looked + 1)
    }
    assert found.n == min(n for n, p in reached.items() if p >= 0.8)
    assert found.n_stays == max(n for n, p in reached.items() if p < 0.8) + 1 > found.n + 1
    assert found.value == approx(reached[found.n])


def refusals() -> Iterator[tuple[Any, str]]:
    for power in (0.8, 0.5):
        yield (
            lambda power=power: eh.sample_size("tpr", eh.ConfusionMatrix(30, 10, 12, 48), -0.05, power=power),
            "the reference is too small: with 40 cases behind its tpr it cannot be told from a true score of 0.7 at "
            "p <= 0.05, however large the group; collect more reference cases",
        )
    yield (
        lambda: eh.sample_size("ppr", LARGE, -0.1, most=50),
        "no number of cases up to 50 reaches 0.8; 49 cases come closest, with 0.256",
    )
    yield (
        lambda: eh.sample_size("ppr", LARGE, -0.2, most=51),
        "46 cases reach 0.8, but 51 do not; look at more than 51 cases to find the number from which on all do",
    )
    yield (
        lambda: eh.sample_size("ppr", LARGE, -0.2, most=1),
        "no number of cases up to 1 reaches 0.8, nor anything above 0",
    )
    yield (
        lambda: eh.sample_size("ppr", [0.1, 0, 0, 0.9], 0.5, most=1, alpha=0.5),
        "no number of cases up to 1 reaches 0.8; 1 case comes closest, with 0.6",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE, 0.1, half_width=0.1),
        "pass one goal: a difference or the group's truth, half_width, or undefined_below",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE),
        "pass one goal: a difference or the group's truth, half_width, or undefined_below",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE, 0),
        "the true tpr is that of the reference, so there is no difference to find",
    )
    yield lambda: eh.sample_size("tpr", LARGE, half_width=-1), "half_width must be a number above 0; got -1"
    yield (
        lambda: eh.sample_size("tpr", [0.001, 0, 0, 0.999], undefined_below=0.01, most=100),
        "no number of cases up to 100 leaves tpr undefined with a probability of at most 0.01; 100 cases still do with "
        "0.905",
    )
    yield (
        lambda: eh.sample_size("tpr", LARGE, truth=[0, 0, 0.5, 0.5]),
        "tpr is always undefined at any n: no actual positives (TP + FN = 0)",
    )


@pytest.mark.parametrize(("refused", "sentence"), list(refusals()))
def test_an_impossible_request_gets_one_sentence(refused: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        refused()
    assert str(problem.value) == sentence


class _Noisy:
    """A test whose power is simulated: its own estimate at 178 is just short of what its neighbours promise."""

    neighbours = 3

    def quick(self, _: Any, n: int) -> float:
        return min(n / 225, 1.0)

    def chance(self, _: Any, n: int) -> Any:
        power = {178: 0.7995, 179: 0.806}.get(n, 0.806)
        return SimpleNamespace(power=power, error=0.003, method="simulation")


def test_the_answer_of_a_simulation_reaches_the_goal_by_its_own_power() -> None:
    found = _searched(cast("Any", _Noisy()), cast("Any", None), 0.8, 1000)
    assert (found.n, found.value) == (179, 0.806)
    assert dict(zip(found.sizes.tolist(), found.values.tolist(), strict=True))[found.n] == found.value
