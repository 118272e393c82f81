"""Probability laws of the cells, and the distributions of scores that they induce."""

from .families import DirichletMultinomial, Law, Multinomial, MultivariateHypergeometric
from .reference import LawName, Reference, as_probabilities, law_of
from .splits import BetaBinomial, Binomial, Hypergeometric, Split

__all__ = [
    "BetaBinomial",
    "Binomial",
    "DirichletMultinomial",
    "Hypergeometric",
    "Law",
    "LawName",
    "Multinomial",
    "MultivariateHypergeometric",
    "Reference",
    "Split",
    "as_probabilities",
    "law_of",
]
