"""Classification metrics you can trust when groups are small.

Public names are imported when first used, so ``import evenhand`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .auditing import Audit, Finding, Row, Settings, audit, audit_counts
    from .cells import ConfusionMatrix, count_cell_value, count_matrices, enumerate_matrices
    from .errors import EvenhandError, InvalidInput, MissingExtra, TooLarge, UnknownName
    from .faces.plots import plot_jaggedness, plot_risk
    from .inference import (
        Additive,
        BiasVariance,
        CrossPrior,
        Disparity,
        Estimator,
        Interval,
        MatchResult,
        PriorCheck,
        Raw,
        Risk,
        Smoothed,
        StrengthChoice,
        StressTest,
        UndefinedRow,
        additive_smooth,
        bias_variance,
        check_prior,
        choose_strength,
        count_undefined,
        cross_prior_smooth,
        disparity,
        helps,
        interval,
        match_test,
        monte_carlo_risk,
        optimal_strength,
        risk,
        risk_curve,
        risk_curves,
        stress_test,
        undefined_cases,
        undefined_probability,
        undefined_table,
    )
    from .laws import Distribution, distribution
    from .metrics import Metric, difference, f_beta, list_metrics, metric, ratio

__version__ = "0.1.0"

__all__ = [
    "Additive",
    "Audit",
    "BiasVariance",
    "ConfusionMatrix",
    "CrossPrior",
    "Disparity",
    "Distribution",
    "Estimator",
    "EvenhandError",
    "Finding",
    "Interval",
    "InvalidInput",
    "MatchResult",
    "Metric",
    "MissingExtra",
    "PriorCheck",
    "Raw",
    "Risk",
    "Row",
    "Settings",
    "Smoothed",
    "StrengthChoice",
    "StressTest",
    "TooLarge",
    "UndefinedRow",
    "UnknownName",
    "additive_smooth",
    "audit",
    "audit_counts",
    "bias_variance",
    "check_prior",
    "choose_strength",
    "count_cell_value",
    "count_matrices",
    "count_undefined",
    "cross_prior_smooth",
    "difference",
    "disparity",
    "distribution",
    "enumerate_matrices",
    "f_beta",
    "helps",
    "interval",
    "list_metrics",
    "match_test",
    "metric",
    "monte_carlo_risk",
    "optimal_strength",
    "plot_jaggedness",
    "plot_risk",
    "ratio",
    "risk",
    "risk_curve",
    "risk_curves",
    "stress_test",
    "undefined_cases",
    "undefined_probability",
    "undefined_table",
]

_ROOMS = {
    "auditing": ("Audit", "Finding", "Row", "Settings", "audit", "audit_counts"),
    "cells": ("ConfusionMatrix", "count_cell_value", "count_matrices", "enumerate_matrices"),
    "errors": ("EvenhandError", "InvalidInput", "MissingExtra", "TooLarge", "UnknownName"),
    "faces.plots": ("plot_jaggedness", "plot_risk"),
    "inference": (
        "Additive",
        "BiasVariance",
        "CrossPrior",
        "Disparity",
        "Estimator",
        "Interval",
        "MatchResult",
        "PriorCheck",
        "Raw",
        "Risk",
        "Smoothed",
        "StrengthChoice",
        "StressTest",
        "UndefinedRow",
        "additive_smooth",
        "bias_variance",
        "check_prior",
        "choose_strength",
        "count_undefined",
        "cross_prior_smooth",
        "disparity",
        "helps",
        "interval",
        "match_test",
        "monte_carlo_risk",
        "optimal_strength",
        "risk",
        "risk_curve",
        "risk_curves",
        "stress_test",
        "undefined_cases",
        "undefined_probability",
        "undefined_table",
    ),
    "laws": ("Distribution", "distribution"),
    "metrics": ("Metric", "difference", "f_beta", "list_metrics", "metric", "ratio"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "examples":
        return import_module(".examples", __name__)
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    value = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
