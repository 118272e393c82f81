"""Laws of the cells, distributions of scores, posteriors and confidence distributions."""

from .approximations import approximate_tails
from .cell_laws import (
    Law,
    LawName,
    Multinomial,
    Reference,
    as_prior,
    as_probabilities,
    law_of,
    references_of,
    sample_cells,
)
from .confidence_distributions import (
    LatticeScores,
    RateScores,
    ScoreSample,
    beta_parameters,
    confidence_distribution,
    find_roots,
    has_inner_minimum,
    lowest_scores,
    normal_scores,
    posterior_distribution,
    towards_ends,
)
from .exact_ties import Threshold, observed_threshold
from .score_distribution import Distribution, OneGroupDistribution, distribution
from .splits import Binomial, Hypergeometric, Split, binomial_cdf, log_hypergeometric
from .tails import Tails, extreme_cells, listed_tails, score_tails, walk
from .undefined_probability import (
    pooled_undefined_probability,
    undefined_probability_of,
)
