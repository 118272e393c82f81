"""Ways to estimate a group's score, each by what it adds to the cells before the metric is applied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..cells import ConfusionMatrix
from .smoothing import Rates, additive_smooth, as_epsilon, as_strength, cross_prior_smooth, rates_of

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

    @abstractmethod
    def smooth(self, cm: ConfusionMatrix) -> ConfusionMatrix:
        """The matrix that is scored in place of the group's."""


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

    def smooth(self, cm: ConfusionMatrix) -> ConfusionMatrix:
        """The group's own matrix."""
        return cm


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

    def smooth(self, cm: ConfusionMatrix) -> ConfusionMatrix:
        """The matrix with epsilon added."""
        return additive_smooth(cm, self.epsilon)


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

    def smooth(self, cm: ConfusionMatrix) -> ConfusionMatrix:
        """The smoothed matrix."""
        return cross_prior_smooth(cm, self.reference, self.strength)
