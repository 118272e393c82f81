"""The laws of the four cells, each a tree of independent splits.

Under each of these laws the splits of any tree are independent. A law therefore only says how a set
of cells splits off from a larger one; everything else follows.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..confusion import CELLS, ConfusionMatrix, as_cells
from ..errors import InvalidInput, UnknownName, brief
from ..metrics import ROW_TREE, Metric, Tree
from .splits import BetaBinomial, Binomial, Hypergeometric, Split

FourNumbers = tuple[float, ...]
LawName = Literal["multinomial", "predictive", "without_replacement"]
#: Counts, four probabilities, or None for the uniform law over all matrices.
Reference: TypeAlias = "ConfusionMatrix | ArrayLike | None"


@dataclass(frozen=True, slots=True)
class Law(ABC):
    """A probability law of the cells of a group of ``n`` cases.

    ``weights`` are four numbers in proportion to the expected cells.
    """

    n: int
    weights: FourNumbers

    @abstractmethod
    def _split(self, inside: float, outside: float) -> Split:
        """How cells with one weight split off from others with another.

        This is all that a law defines; `split` adds up the weights of both sides.
        """

    @property
    def rates(self) -> Floats:
        """The expected share of each cell; zeros if all weights are 0."""
        return np.asarray(self.weights) / max(sum(self.weights), 1e-300)

    def split(self, part: Collection[str], whole: Collection[str] = CELLS) -> Split:
        """How the cells ``part`` split off from the cells ``whole``: one split of a tree."""
        weight_of = dict(zip(CELLS, self.weights, strict=True))
        # Each side is summed, so that neither is a rounded 1 - p.
        inside = sum(weight_of[cell] for cell in whole if cell in part)
        outside = sum(weight_of[cell] for cell in whole if cell not in part)
        return self._split(inside, outside)

    def p_empty(self, cells: Collection[str]) -> float:
        """The probability that all these cells are zero, so that a score may be undefined."""
        return float(self.split(cells).pmf(0, self.n))

    def pmf(self, cells: ArrayLike) -> Floats:
        """The probability of each matrix, for cells along the last axis."""
        return np.exp(self.log_pmf(cells))

    def log_pmf(self, cells: ArrayLike) -> Floats:
        """The log probability of each matrix; -inf if its cells do not add up to ``n``.

        It is a sum over the splits of one tree; any other gives the same.
        """
        array, tree = np.asarray(cells, dtype=float), ROW_TREE
        margin, side, last = tree.counts(array)
        n = array.sum(axis=-1)
        log_pmf = self.split(tree.margin).log_pmf(margin, self.n)
        log_pmf += self.split(tree.side, tree.margin).log_pmf(side, margin)
        log_pmf += self.split(tree.last, tree.last_of).log_pmf(last, n - margin)
        return np.where(n == self.n, log_pmf, -np.inf)


class Multinomial(Law):
    """Cases fall into the cells independently, with known probabilities."""

    def _split(self, inside: float, outside: float) -> Split:
        """A binomial split, with the share of the weight that is inside as its probability."""
        total = inside + outside
        # Cells with probability 0 are never split, so that any probability will do.
        if total == 0:
            return Binomial(0.5, 0.5)
        return Binomial(inside / total, outside / total)


class DirichletMultinomial(Law):
    """A multinomial with Dirichlet probabilities; uniform over matrices if the weights are 1."""

    def _split(self, inside: float, outside: float) -> Split:
        """A beta-binomial split: sums of Dirichlet parameters are the parameters of a beta."""
        return BetaBinomial(inside, outside)


class MultivariateHypergeometric(Law):
    """``n`` cases sampled without replacement from a population with these counts."""

    def _split(self, inside: float, outside: float) -> Split:
        """A hypergeometric split: cases are drawn from those inside and outside."""
        return Hypergeometric(inside, outside)


def law_of(
    reference: Reference, n: int, law: LawName = "multinomial", *, prior: float = 0.5
) -> Law:
    """The law of the cells of a random group of ``n`` cases, given a reference.

    ``multinomial`` takes the reference's rates as known. ``predictive`` takes its counts as
    evidence of them, with ``prior`` pseudo-counts per cell. ``without_replacement`` samples from
    its cases. Without a reference, all matrices are equally likely.
    """
    if law not in get_args(LawName):
        raise UnknownName.among("law", law, get_args(LawName))
    if law != "multinomial" and not isinstance(reference, ConfusionMatrix):
        text = f"`law={law!r}` needs the counts of a `reference`, as a ConfusionMatrix"
        raise InvalidInput(text)
    if reference is None:
        return DirichletMultinomial(n, (1.0,) * 4)
    if not isinstance(reference, ConfusionMatrix):
        return Multinomial(n, as_probabilities(reference))
    if reference.n == 0:
        hint = "pass one with cases, or None for the uniform law"
        raise InvalidInput(f"the `reference` is empty (n = 0); {hint}")
    if law == "multinomial":
        return Multinomial(n, tuple(reference.proportions.tolist()))
    if law == "predictive":
        added = as_prior(prior)
        return DirichletMultinomial(n, tuple(cell + added for cell in reference.cells))
    if not reference.is_whole:
        text = "sampling without replacement needs whole counts"
        raise InvalidInput(f"{text}; got {brief(reference)}")
    if n > reference.n:
        text = f"cannot sample n = {n} cases without replacement"
        raise InvalidInput(f"{text} from a reference of {reference.n}")
    return MultivariateHypergeometric(n, tuple(map(float, reference.cells)))


def references_of(metric: Metric, reference: Any) -> tuple[Reference, ...]:
    """One reference per group of the metric, to sample it from; a single one is used for both."""
    is_pair = isinstance(reference, (tuple, list)) and len(reference) == 2
    if metric.groups == 2 and is_pair:
        return tuple(reference)
    return (reference,) * metric.groups


def as_probabilities(values: ArrayLike) -> FourNumbers:
    """Check four cell probabilities in the order tp, fn, fp, tn; they must sum to 1."""
    p = as_cells(values, "the reference")
    if p.shape != (4,):
        must = "must be one matrix or four probabilities"
        raise InvalidInput(f"the `reference` {must}; got shape {p.shape}")
    total = float(p.sum())
    if abs(total - 1) > 1e-6:
        hint = "; pass counts as a ConfusionMatrix" if total > 1.5 else ""
        must = f"the four probabilities {', '.join(CELLS)} must sum to 1"
        raise InvalidInput(f"{must}; got {total:.9g}{hint}")
    return tuple((p / total).tolist())


def as_prior(prior: Any) -> float:
    """Validate the pseudo-count per cell that is added to counts as a prior."""
    is_number = isinstance(prior, numbers.Real) and not isinstance(prior, bool)
    if not is_number or not 1e-9 <= float(prior) <= 1e9:
        must = "be a number of pseudo-counts per cell from 1e-9 to 1e9"
        raise InvalidInput(argument="prior", must=must, got=prior)
    return float(prior)


def sample_cells(
    tree: Tree,
    law: Law,
    rng: np.random.Generator,
    draws: int,
    margin: float | None = None,
) -> Floats:
    """Random groups for simulations, shape (draws, 4), with the cells that the tree merges as sums.

    With a ``margin``, every group has this number of cases in the tree's margin, such as actual
    positives for TPR.
    """
    if isinstance(law, MultivariateHypergeometric) and sum(law.weights) > 1e9:
        text = "`method='montecarlo'` samples from at most 1e9 pooled cases"
        raise InvalidInput(f"{text}; use `method='exact'`")
    n = np.full(draws, law.n, dtype=np.int64)
    margins, sides = np.full_like(n, margin or 0), np.zeros_like(n)
    if tree.margin and margin is None:
        margins = law.split(tree.margin).sample(n, rng)
    if tree.side:
        sides = law.split(tree.side, tree.margin).sample(margins, rng)
    last = law.split(tree.last, tree.last_of).sample(tree.last_size(n, margins), rng)
    return tree.cells(n, margins, sides, last).astype(float)
