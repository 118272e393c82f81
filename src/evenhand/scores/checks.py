"""Checks of the settings that the functions of this room share."""

from __future__ import annotations

from numbers import Real
from typing import Any

from ..errors import InvalidInput

__all__ = ["check_draws", "check_level", "check_margin", "check_seed"]


def check_level(level: Any, what: str = "level") -> None:
    """Refuse a level that is not between 0 and 1."""
    if not _is_number(level) or not 0 < level < 1:
        raise InvalidInput(f"{what} must be a number between 0 and 1; got {level!r}")


def check_margin(margin: Any) -> None:
    """Refuse a margin that is not a number above 0."""
    if not _is_number(margin) or not 0 < margin < float("inf"):
        raise InvalidInput(f"margin must be a number above 0; got {margin!r}")


def check_draws(draws: Any) -> None:
    """Refuse a number of draws that is not whole and positive."""
    if type(draws) is not int or draws < 1:
        raise InvalidInput(f"draws must be a whole number above 0; got {draws!r}")


def check_seed(seed: Any) -> None:
    """Refuse a seed that is not a whole number of at least 0."""
    if type(seed) is not int or seed < 0:
        raise InvalidInput(f"seed must be a whole number of at least 0; got {seed!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
