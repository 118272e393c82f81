"""Inference about a group: undefined cases, tests, intervals, gaps, smoothing and risk."""

from .disparities import FOUR_FIFTHS, Disparity, disparity, equality_of_gaps, gap_intervals, gaps_of
from .equality import EqualityTest, Test, counts_of, studentised
from .gaps import Gaps
from .intervals import Interval, interval, posterior, score_intervals
from .match import match_test
from .match_result import MatchResult
from .null import Given, NullDistribution, NullName
from .prior import PriorCheck, check_prior
from .rates import Attainable, Sizes, boschloo, fisher
from .risk import Risk, monte_carlo_risk, risk, risk_curve
from .smoothing import (
    SPLITS,
    Additive,
    CrossPrior,
    Estimator,
    Raw,
    Smoothed,
    Strength,
    additive_smooth,
    as_strength,
    cross_prior_smooth,
    strength_text,
)
from .strengths import (
    FEWEST_GROUPS,
    BiasVariance,
    Spread,
    bias_variance,
    learn_strengths,
    optimal_strength,
    smoothing_helps,
    spread_of,
)
from .stress import StressTest, stress_test
from .undefined import UndefinedRow, count_undefined, undefined_cases, undefined_probability, undefined_table

__all__ = [
    "FEWEST_GROUPS",
    "FOUR_FIFTHS",
    "SPLITS",
    "Additive",
    "Attainable",
    "BiasVariance",
    "CrossPrior",
    "Disparity",
    "EqualityTest",
    "Estimator",
    "Gaps",
    "Given",
    "Interval",
    "MatchResult",
    "NullDistribution",
    "NullName",
    "PriorCheck",
    "Raw",
    "Risk",
    "Sizes",
    "Smoothed",
    "Spread",
    "Strength",
    "StressTest",
    "Test",
    "UndefinedRow",
    "additive_smooth",
    "as_strength",
    "bias_variance",
    "boschloo",
    "check_prior",
    "count_undefined",
    "counts_of",
    "cross_prior_smooth",
    "disparity",
    "equality_of_gaps",
    "fisher",
    "gap_intervals",
    "gaps_of",
    "interval",
    "learn_strengths",
    "match_test",
    "monte_carlo_risk",
    "optimal_strength",
    "posterior",
    "risk",
    "risk_curve",
    "score_intervals",
    "smoothing_helps",
    "spread_of",
    "strength_text",
    "stress_test",
    "studentised",
    "undefined_cases",
    "undefined_probability",
    "undefined_table",
]
