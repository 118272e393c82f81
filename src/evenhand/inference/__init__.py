"""Inference about a group: undefined cases, tests, intervals, gaps, smoothing and risk."""

from .class_match import match_each
from .class_smoothing import smoothed_classes
from .disparities import FOUR_FIFTHS, Disparity, Stratum, disparity, gap_intervals
from .effective import Effects, effects_of
from .equality import EqualityTest, Test, counts_of, equal_scores, gaps_of, melded_gaps, standard_errors, studentised
from .evidence import Evidence
from .gaps import Gaps
from .group_summaries import Aggregate, Aggregation, GroupSummaries, aggregate, between_groups
from .intervals import Interval, check_level, interval, score_intervals
from .match import match_test
from .match_result import MatchResult
from .match_two import Question
from .null import Given, NullDistribution, NullName
from .paired import contrast, mcnemar, pairs_of
from .permutation import FunctionGap, FunctionScore, PValue, drawn_test, function_gap, function_score
from .prior import PriorCheck, check_prior
from .ranking import (
    AREA_INTERVAL,
    RANKING_KEYS,
    RankingGap,
    RankingKey,
    RankingScore,
    ranking_gap,
    ranking_score,
)
from .ranks import Alternative, chance_test, ties_of
from .rates import Attainable, LargestSizes, Sizes, boschloo, fisher, fisher_rejects
from .risk import Risk, Risks, one_group_metric, risk
from .simultaneous import Method
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
from .strata import Stratified, informative, stratified
from .strengths import (
    FEWEST_GROUPS,
    BiasVariance,
    Spread,
    bias_variance,
    learn_spread,
    learn_strengths,
    limited_strengths,
    optimal_strength,
    spread_of,
)
from .stress import StressTest, stress_test
from .undefined import UndefinedRow, count_undefined, undefined_probability, undefined_table

__all__ = [
    "AREA_INTERVAL",
    "FEWEST_GROUPS",
    "FOUR_FIFTHS",
    "RANKING_KEYS",
    "SPLITS",
    "Additive",
    "Aggregate",
    "Aggregation",
    "Alternative",
    "Attainable",
    "BiasVariance",
    "CrossPrior",
    "Disparity",
    "Effects",
    "EqualityTest",
    "Estimator",
    "Evidence",
    "FunctionGap",
    "FunctionScore",
    "Gaps",
    "Given",
    "GroupSummaries",
    "Interval",
    "LargestSizes",
    "MatchResult",
    "Method",
    "NullDistribution",
    "NullName",
    "PValue",
    "PriorCheck",
    "Question",
    "RankingGap",
    "RankingKey",
    "RankingScore",
    "Raw",
    "Risk",
    "Risks",
    "Sizes",
    "Smoothed",
    "Spread",
    "Stratified",
    "Stratum",
    "Strength",
    "StressTest",
    "Test",
    "UndefinedRow",
    "additive_smooth",
    "aggregate",
    "as_strength",
    "between_groups",
    "bias_variance",
    "boschloo",
    "chance_test",
    "check_level",
    "check_prior",
    "contrast",
    "count_undefined",
    "counts_of",
    "cross_prior_smooth",
    "disparity",
    "drawn_test",
    "effects_of",
    "equal_scores",
    "fisher",
    "fisher_rejects",
    "function_gap",
    "function_score",
    "gap_intervals",
    "gaps_of",
    "informative",
    "interval",
    "learn_spread",
    "learn_strengths",
    "limited_strengths",
    "match_each",
    "match_test",
    "mcnemar",
    "melded_gaps",
    "one_group_metric",
    "optimal_strength",
    "pairs_of",
    "ranking_gap",
    "ranking_score",
    "risk",
    "score_intervals",
    "smoothed_classes",
    "spread_of",
    "standard_errors",
    "stratified",
    "strength_text",
    "stress_test",
    "studentised",
    "ties_of",
    "undefined_probability",
    "undefined_table",
]
