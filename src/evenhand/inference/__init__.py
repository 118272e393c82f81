"""Inference about a group: undefined cases, tests, intervals, gaps, smoothing and risk."""

from .cluster_bounds import (
    FEWEST_CLUSTERS,
    bound_rates,
    count_alike,
    count_tail,
    draw_weights,
    tail_pvalue,
)
from .design_effect import clustering_effect, score_slopes, weighting_effects
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
from .gaps import count_successes, melded_gaps, score_gaps
from .heterogeneity import equal_rates_pvalue, spread_interval
from .intervals import Interval, interval, score_intervals
from .match import (
    Given,
    MatchResult,
    MatchSettings,
    NullDistribution,
    NullName,
    match_many,
    match_test,
)
from .paired_changes import change_intervals, mcnemar_pvalues
from .permutation import function_gap, function_score
from .prior_check import PriorCheck, check_prior
from .ranking import RankingScore, ranking_gap, ranking_score
from .risk import Risk, Risks, StressTest, risk, sample_sizes, stress_test
from .score_tests import (
    check_choice,
    check_confidence_level,
    compared_rates,
    count_pairs,
    equality_test,
    one_group_metric,
)
from .sign_flips import item_change_interval, sign_flip_test
from .smoothing import (
    SPLITS,
    Additive,
    BiasVariance,
    CrossPrior,
    Estimator,
    Raw,
    Smoothed,
    SmoothedClasses,
    Strength,
    additive_smooth,
    as_strength,
    bias_variance,
    cross_prior_smooth,
    harmful_split,
    learn_split_strengths,
    learn_strengths,
    limit_strengths,
    optimal_strength,
    smooth_cells,
)
from .strata import is_informative, pooled_odds_ratio
from .undefined import UndefinedRow, count_undefined, undefined_probability, undefined_table
