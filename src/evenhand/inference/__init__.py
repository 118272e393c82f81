"""What can be said of a group: undefined cases, tests, intervals, smoothing, risk and planning."""

from .estimators import Additive, CrossPrior, Estimator, Raw
from .intervals import Disparity, Interval, disparity, interval
from .match import MatchResult, match_test
from .prior import PriorCheck, check_prior
from .risk import Risk, monte_carlo_risk, risk, risk_curve, risk_curves
from .smoothing import (
    BiasVariance,
    Smoothed,
    StrengthChoice,
    additive_smooth,
    bias_variance,
    choose_strength,
    cross_prior_smooth,
    helps,
    optimal_strength,
)
from .stress import StressTest, stress_test
from .undefined import UndefinedRow, count_undefined, undefined_cases, undefined_probability, undefined_table

__all__ = [
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
]
