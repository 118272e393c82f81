"""Probability laws of the cells, and the distributions of scores that they induce."""

from .distribution import Distribution, distribution
from .families import DirichletMultinomial, Law, Multinomial, MultivariateHypergeometric
from .holes import hole_probability
from .reference import LawName, Reference, as_prior, as_probabilities, law_of, references_of, sizes_of
from .splits import BetaBinomial, Binomial, Hypergeometric, Split

__all__ = [
    "BetaBinomial",
    "Binomial",
    "DirichletMultinomial",
    "Distribution",
    "Hypergeometric",
    "Law",
    "LawName",
    "Multinomial",
    "MultivariateHypergeometric",
    "Reference",
    "Split",
    "as_prior",
    "as_probabilities",
    "distribution",
    "hole_probability",
    "law_of",
    "references_of",
    "sizes_of",
]
