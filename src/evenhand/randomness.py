"""Where random numbers come from, and the p-value of a test that draws them.

``rng`` is an int, a Generator or None: an int can be recorded and repeats the result, a Generator goes on where it
stands, and None is unpredictable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidInput

Rng = int | np.random.Generator | None
"""What functions take as ``rng``."""

# Statistics that differ by less than this share are ties that rounding broke.
_ROUNDING = 1e-9
_MAX_DRAWS = 10**7


def generator(rng: Rng) -> np.random.Generator:
    """The generator that ``rng`` stands for."""
    return np.random.default_rng(rng if isinstance(rng, np.random.Generator) else _check_seed(rng))


def seed_of(rng: Rng) -> int | None:
    """The int that repeats the result; None if there is none."""
    return None if isinstance(rng, np.random.Generator) else _check_seed(rng)


def streams(rng: Rng, number: int) -> list[np.random.Generator]:
    """Independent generators, one per task, so that a result does not depend on the order of the tasks."""
    return list(generator(rng).spawn(number))


def _check_seed(rng: object) -> int | None:
    if rng is None:
        return None
    seed = _whole(rng)
    if seed is None or seed < 0:
        must = "be a whole number of at least 0, a numpy.random.Generator or None"
        raise InvalidInput(argument="rng", must=must, got=rng)
    return seed


def check_draws(draws: object, least: int = 1) -> int:
    """The number of draws as an int, if it is a whole number that is neither too small nor too large."""
    number = _whole(draws)
    if number is not None and least <= number <= _MAX_DRAWS:
        return number
    must = "be a whole number above 0" if least == 1 else f"be a whole number of at least {least}"
    if number is not None and number > _MAX_DRAWS:
        must = f"be at most {_MAX_DRAWS:,}"
    raise InvalidInput(argument="draws", must=must, got=draws)


def _whole(value: object) -> int | None:
    """A whole number as an int; None for anything else."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    return int(value) if is_whole else None  # type: ignore[call-overload]


def reaches(
    statistics: ArrayLike, observed: float, scale: float | None = None
) -> NDArray[np.bool_]:
    """Which statistics are as large as the observed one, or differ from it by rounding only.

    Rounding is relative to the observed statistic or, if that is a difference of larger numbers, to their ``scale``.
    """
    most = abs(observed) if scale is None else scale
    least = observed - _ROUNDING * most if np.isfinite(observed) else observed
    return np.asarray(statistics) >= least


def drawn_pvalue(extreme: int, draws: int) -> float:
    """The p-value of a test by ``draws`` random samples, of which ``extreme`` are at least as extreme as the data.

    The data count as one more sample, so that the level holds with any number of draws.
    """
    return (1 + extreme) / (1 + draws)


def drawn_error(pvalue: float, draws: int) -> float:
    """The standard error of such a p-value."""
    return float((pvalue * (1 - pvalue) / draws) ** 0.5)
