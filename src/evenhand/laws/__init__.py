"""Probability laws of the cells, and the distributions of scores that they induce."""

from .approximate import beta_tails, normal_tails
from .beliefs import ROW_TREE, Belief, End, betas_of, confidence_of, posterior_of, quadrature
from .budget import check_cost
from .distributions import Distribution, OneGroupDistribution, distribution
from .emptiness import hole_probability
from .engine import Leaves, Tails, extremes, tails, walk
from .families import DirichletMultinomial, Law, Multinomial, MultivariateHypergeometric
from .ordering import Order, Threshold, order_of
from .reference import LawName, Reference, as_prior, as_probabilities, law_of, references_of
from .roots import Bracket, narrowed, normal_score
from .sampling import sample_cells
from .splits import BetaBinomial, Binomial, Hypergeometric, Split, log_hypergeometric
from .sums import SplitTable, binomial_cdf, interval_sums, split_table

__all__ = [
    "ROW_TREE",
    "Belief",
    "BetaBinomial",
    "Binomial",
    "Bracket",
    "DirichletMultinomial",
    "Distribution",
    "End",
    "Hypergeometric",
    "Law",
    "LawName",
    "Leaves",
    "Multinomial",
    "MultivariateHypergeometric",
    "OneGroupDistribution",
    "Order",
    "Reference",
    "Split",
    "SplitTable",
    "Tails",
    "Threshold",
    "as_prior",
    "as_probabilities",
    "beta_tails",
    "betas_of",
    "binomial_cdf",
    "check_cost",
    "confidence_of",
    "distribution",
    "extremes",
    "hole_probability",
    "interval_sums",
    "law_of",
    "log_hypergeometric",
    "narrowed",
    "normal_score",
    "normal_tails",
    "order_of",
    "posterior_of",
    "quadrature",
    "references_of",
    "sample_cells",
    "split_table",
    "tails",
    "walk",
]
