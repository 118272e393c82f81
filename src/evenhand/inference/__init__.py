"""Inference about a group: undefined cases, tests, intervals, gaps, smoothing and risk."""

from .design_effect import DesignEffects, design_effects, score_slopes, weighting_effects
from .disparity import FOUR_FIFTHS, Disparity, Stratum, disparity
from .e_process import EProcesses
from .fisher import (
    ROUNDING,
    TwoRates,
    attainable_tails,
    fisher_tails,
    select_small_samples,
    unconditional_sizes,
)
from .gaps import Gaps, melded_gaps, score_gaps
from .intervals import Interval, check_confidence_level, interval, score_intervals
from .match import (
    Given,
    MatchResult,
    MatchSettings,
    NullDistribution,
    NullName,
    match_many,
    match_test,
)
from .paired import change_matrix, count_pairs, mcnemar_pvalue
from .permutation import function_gap, function_score
from .prior_check import PriorCheck, check_prior
from .ranking import RankingScore, ranking_gap, ranking_score
from .risk import Risk, Risks, risk, sample_sizes
from .score_tests import (
    EqualityTest,
    compared_rates,
    count_successes,
    equality_test,
    one_group_metric,
)
from .smoothing import (
    SPLITS,
    Additive,
    CrossPrior,
    Estimator,
    Raw,
    Smoothed,
    SmoothedClasses,
    Strength,
    additive_smooth,
    as_strength,
    cross_prior_smooth,
    format_strength,
    smooth_cells,
)
from .strata import PooledOddsRatio, is_informative, pooled_odds_ratio
from .strengths import (
    BiasVariance,
    Spread,
    bias_variance,
    learn_split_strengths,
    learn_spread,
    learn_strengths,
    limit_strengths,
    optimal_strength,
)
from .stress import StressTest, stress_test
from .undefined import UndefinedRow, count_undefined, undefined_probability, undefined_table
