"""From a reference as users give it to a law of the cells."""

from __future__ import annotations

import numbers
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..cells import CELLS, ConfusionMatrix, as_cells
from ..errors import InvalidInput, UnknownName, brief
from ..metrics import Metric
from .families import DirichletMultinomial, Law, Multinomial, MultivariateHypergeometric

__all__ = ["LawName", "Reference", "as_prior", "as_probabilities", "law_of", "references_of"]

LawName = Literal["multinomial", "predictive", "without_replacement"]
Reference: TypeAlias = "ConfusionMatrix | ArrayLike | None"
"""Counts, four probabilities, or None for the uniform law over all configurations."""


def law_of(reference: Reference, n: int, law: LawName = "multinomial", *, prior: float = 0.5) -> Law:
    """The law of the cells of a random group of ``n`` cases, given a reference.

    ``multinomial`` takes the reference's rates as known. ``predictive`` takes its counts as evidence of them, with
    ``prior`` pseudo-counts per cell. ``without_replacement`` samples from its cases. Without a reference, all
    configurations are equally likely.
    """
    if law not in get_args(LawName):
        raise UnknownName.among("law", law, get_args(LawName))
    if reference is None:
        if law != "multinomial":
            raise InvalidInput(f"`law={law!r}` needs a `reference`; without one all configurations are equally likely")
        return DirichletMultinomial(n, (1.0, 1.0, 1.0, 1.0))
    if not isinstance(reference, ConfusionMatrix):
        if law != "multinomial":
            raise InvalidInput(
                f"`law={law!r}` needs the reference's counts, as a ConfusionMatrix; got four probabilities"
            )
        return Multinomial(n, as_probabilities(reference))
    if reference.n == 0:
        raise InvalidInput("the `reference` is empty (n = 0); pass one with cases, or None for the uniform law")
    if law == "multinomial":
        return Multinomial(n, _four(reference.proportions))
    if law == "predictive":
        return DirichletMultinomial(n, _four(np.asarray(reference.cells) + as_prior(prior)))
    if not reference.is_whole:
        raise InvalidInput(f"sampling without replacement needs whole counts; got {brief(reference)}")
    if n > reference.n:
        raise InvalidInput(f"cannot sample n = {n} cases without replacement from a reference of {reference.n}")
    return MultivariateHypergeometric(n, _four(reference.cells))


def as_probabilities(values: ArrayLike) -> tuple[float, float, float, float]:
    """Four cell probabilities in the order tp, fn, fp, tn, checked to sum to 1."""
    p = as_cells(values, "the reference")
    if p.shape != (4,):
        raise InvalidInput(f"the `reference` must be one matrix or four probabilities; got shape {p.shape}")
    total = float(p.sum())
    if abs(total - 1) > 1e-6:
        raise InvalidInput(
            f"the four probabilities {', '.join(CELLS)} must sum to 1; got {total:.9g}"
            + ("; pass counts as a ConfusionMatrix" if total > 1.5 else "")
        )
    return _four(p / total)


def as_prior(prior: Any) -> float:
    """A number of pseudo-counts per cell, checked."""
    if isinstance(prior, bool) or not isinstance(prior, numbers.Real) or not 1e-9 <= float(prior) <= 1e9:
        raise InvalidInput(argument="prior", must="be a number of pseudo-counts per cell from 1e-9 to 1e9", got=prior)
    return float(prior)


def _four(values: Any) -> tuple[float, float, float, float]:
    tp, fn, fp, tn = (float(v) for v in values)
    return tp, fn, fp, tn


def references_of(m: Metric, reference: Any) -> tuple[Reference, ...]:
    """One reference per group of the metric; a single one is used for both."""
    if m.groups == 2 and isinstance(reference, (tuple, list)) and len(reference) == 2:
        return tuple(reference)
    return (reference,) * m.groups
