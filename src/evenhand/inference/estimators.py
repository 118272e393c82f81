"""Ways to estimate a group's score, each by what it adds to the cells before the metric is applied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .smoothing import Rates, as_epsilon, as_strength, rates_of

__all__ = ["Additive", "CrossPrior", "Estimator", "Raw"]

Floats = NDArray[np.float64]


class Estimator(ABC):
    """A way to score a group: add pseudo-counts to its cells, then apply the metric."""

    __slots__ = ()

    @property
    @abstractmethod
    def pseudo_counts(self) -> Floats:
        """What is added to each cell, in the order tp, fn, fp, tn."""

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for tables."""


@dataclass(frozen=True, slots=True)
class Raw(Estimator):
    """The score as it is."""

    @property
    def pseudo_counts(self) -> Floats:
        """Nothing."""
        return np.zeros(4)

    @property
    def label(self) -> str:
        """``raw``."""
        return "raw"


@dataclass(frozen=True, slots=True)
class Additive(Estimator):
    """Add ``epsilon`` to every cell."""

    epsilon: float

    def __post_init__(self) -> None:
        as_epsilon(self.epsilon)

    @property
    def pseudo_counts(self) -> Floats:
        """Epsilon in each cell."""
        return np.full(4, float(self.epsilon))

    @property
    def label(self) -> str:
        """``add`` and the epsilon."""
        return f"add{self.epsilon:g}"


@dataclass(frozen=True, slots=True)
class CrossPrior(Estimator):
    """Cross-Prior Smoothing with a reference and a strength."""

    reference: Rates
    strength: float = 10.0

    def __post_init__(self) -> None:
        as_strength(self.strength)
        rates_of(self.reference)

    @property
    def pseudo_counts(self) -> Floats:
        """The strength, in the reference's proportions."""
        return self.strength * rates_of(self.reference)

    @property
    def label(self) -> str:
        """``cps`` and the strength."""
        return f"cps{self.strength:g}"
