"""What is believed of a true score, once counts are seen: the Dirichlet law carried through a metric.

The true cell rates are Dirichlet distributed, so each split of a tree is an independent beta variable. Scores are
monotone in the last one, and their cumulative probability is an average of its cumulative function over the others:
in closed form for shares and ratios, by quadrature over one variable or two for the rest. Nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS
from ..metrics import OneGroup, Pair, Ratio, Share
from .families import FourNumbers

__all__ = ["Belief", "rule", "to_share"]

Floats = NDArray[np.float64]

_MARGIN_NODES, _SIDE_NODES, _GRID = 24, 64, 65

# Rates of exactly 0 or 1 have no probability, and no score.
_EDGE, _FAR = 1e-13, 30.0
# Scores are sought within this distance of the middle of their line: to 1e-17 of the ends of their range.
_LINE = 40.0


@dataclass(frozen=True, slots=True)
class Belief:
    """The distribution of a metric's true score under Dirichlet(alpha)."""

    metric: OneGroup
    alpha: FourNumbers

    def cdf(self, x: Any) -> Floats:
        """P(S <= x)."""
        from scipy.special import betainc

        x = np.asarray(x, dtype=np.float64)
        if isinstance(self.metric, (Share, Ratio)):
            a, b = self._last()
            return np.asarray(betainc(a, b, to_share(self.metric, np.clip(x, 0.0, self.metric.high))))
        if x.ndim:
            return _looked_up_cdf(self, x)
        return np.asarray(self._average(float(x)))

    def quantile(self, q: Any) -> Floats:
        """The score below which the true one lies with probability ``q``."""
        from scipy.special import betaincinv

        q = np.asarray(q, dtype=np.float64)
        if isinstance(self.metric, (Share, Ratio)):
            a, b = self._last()
            return np.asarray(_from_share(self.metric, betaincinv(a, b, q)))
        if q.ndim:
            return _looked_up_quantile(self, q)
        return np.asarray(self._root(float(q)))

    def _root(self, q: float) -> float:
        from scipy.optimize import brentq

        def excess(place: float) -> float:
            return self._average(_from_line(self.metric, place)) - q

        # A quantile beyond the line, as of an odds ratio with empty cells, is taken to be at its end.
        for end, beyond in ((-_LINE, excess(-_LINE) >= 0), (_LINE, excess(_LINE) <= 0)):
            if beyond:
                return _from_line(self.metric, end)
        return _from_line(self.metric, float(brentq(excess, -_LINE, _LINE, xtol=1e-9, rtol=1e-9)))

    def _last(self) -> tuple[float, float]:
        tree = self.metric.tree
        return self._beta(tree.last, tree.last_of)

    def _beta(self, part: Iterable[str], of: Iterable[str]) -> tuple[float, float]:
        weights = dict(zip(CELLS, self.alpha, strict=True))
        inside = set(part)
        return sum(weights[c] for c in of if c in inside), sum(weights[c] for c in of if c not in inside)

    def _average(self, x: float) -> float:
        """P(S <= x), averaged over the splits before the last."""
        from scipy.special import betainc

        tree, m = self.metric.tree, self.metric
        a, b = self._last()
        margins = self._beta(tree.margin, CELLS)
        if not isinstance(m, Pair):
            # A contrast: margin * (2 share - 1) <= x, which says nothing about a margin below |x|.
            margin, w = _between(margins, np.array(abs(x)), np.array(1.0))
            inside = w @ betainc(a, b, np.clip((x / margin + 1) / 2, 0.0, 1.0))
            return float(inside + (x >= 0) * betainc(*margins, min(abs(x), 1.0)))
        margin, w = (np.array([0.5]), np.ones(1)) if not _depends_on_margin(m) else _nodes(margins, _MARGIN_NODES)
        sides = self._beta(tree.side, tree.margin)
        # Between these sides some last share scores x; beyond them all shares score less, or all more.
        low, high = _range_of_sides(m, margin, x)
        side, v = _between(sides, low, high)
        column = margin[:, None]
        up_to, rest = _crossing(lambda share: _excess(m, column, side, share, x), m.rises, side.shape)
        below = betainc(a, b, up_to) if m.rises else betainc(b, a, rest)
        inside = (v * below).sum(axis=1)
        under = (_excess(m, margin, low / 2, 0.5, x) <= 0) * betainc(*sides, low)
        over = (_excess(m, margin, (1 + high) / 2, 0.5, x) <= 0) * betainc(sides[1], sides[0], 1 - high)
        return float(w @ (inside + under + over))


def _excess(m: Pair, margin: Floats, side: Any, share: Any, x: float) -> Floats:
    """How far the score of these shares, each of what the split before it leaves, lies above ``x``.

    A score without an upper end is brought into (0, 1), where it bends less.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        score: Floats = m.score(*m.tree.columns(1.0, margin, margin * side, (1 - margin) * share))
        if np.isinf(m.high):
            return 1 / (1 + x) - 1 / (1 + score)
    return score - x


def _range_of_sides(m: Pair, margin: Floats, x: float) -> tuple[Floats, Floats]:
    """The sides between which the score can be ``x``, if the last share is chosen for it."""

    def end(share: float) -> Floats:
        rises = float(np.median(_excess(m, margin, 0.9, share, x) - _excess(m, margin, 0.1, share, x))) >= 0
        return _crossing(lambda side: _excess(m, margin, side, share, x), rises, margin.shape)[0]

    ends = end(_EDGE), end(1 - _EDGE)
    return np.minimum(*ends), np.maximum(*ends)


def _crossing(excess: Callable[[Floats], Floats], rises: bool, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Where a monotone function of a share crosses 0, as that share and what it leaves; an end if it does not.

    Regula falsi in its Illinois form on the log odds, which tells shares apart near both ends, with a bisection every
    third step for functions that bend sharply.
    """
    from scipy.special import expit

    sign = 1.0 if rises else -1.0
    low, high = np.full(shape, -_FAR), np.full(shape, _FAR)
    at_low, at_high = sign * excess(expit(low)), sign * excess(expit(high))
    for step in range(24):
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = high - at_high * (high - low) / (at_high - at_low)
        inside = (crossing > low) & (crossing < high) & (step % 3 != 2)
        t = np.where(inside, crossing, (low + high) / 2)
        value = sign * excess(expit(t))
        up = value <= 0
        # The end that stays counts half, so that it does not stay for long.
        at_low, at_high = np.where(up, value, at_low / 2), np.where(up, at_high / 2, value)
        low, high = np.where(up, t, low), np.where(up, high, t)
        if float((high - low).max()) < 1e-9:
            break
    found = np.where(np.abs(at_low) < np.abs(at_high), low, high)
    return np.asarray(expit(found)), np.asarray(expit(-found))


@lru_cache(maxsize=64)
def _depends_on_margin(m: Pair) -> bool:
    scores = [m.score(*m.tree.columns(1.0, p, p * 0.7, (1 - p) * 0.2)) for p in (0.3, 0.6)]
    return bool(abs(scores[0] - scores[1]) > 1e-9)


@lru_cache(maxsize=256)
def _nodes(parameters: tuple[float, float], nodes: int) -> tuple[Floats, Floats]:
    """Values of a beta variable and weights to average over it."""
    from scipy.special import betaincinv

    u, w = rule(nodes)
    return np.clip(betaincinv(*parameters, u), _EDGE, 1 - _EDGE), w


def _between(parameters: tuple[float, float], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The same between bounds, along a last axis; the weights add up to the probability of lying there."""
    from scipy.special import betainc, betaincinv

    u, w = rule(_SIDE_NODES)
    first = betainc(*parameters, low)[..., None]
    length = betainc(*parameters, high)[..., None] - first
    return np.clip(betaincinv(*parameters, np.minimum(first + length * u, 1.0)), _EDGE, 1 - _EDGE), length * w


@lru_cache(maxsize=8)
def rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights to average over (0, 1), closer together near the ends."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    t, w = (t + 1) / 2, w / 2
    # u = 10t³ - 15t⁴ + 6t⁵ has a zero of third order at either end, where beta quantiles bend.
    return np.minimum(t**3 * (10 - 15 * t + 6 * t * t), 1.0), w * 30 * t**2 * (1 - t) ** 2


@lru_cache(maxsize=64)
def _tabulated(belief: Belief) -> tuple[Floats, Floats]:
    """Log odds of cumulative probabilities over the range of scores laid out on a line, for beliefs asked for much."""
    m = belief.metric
    low, high = (_to_line(m, belief._root(q)) for q in (1e-8, 1 - 1e-8))
    grid = np.linspace(low, high, _GRID)
    values = np.array([belief._average(_from_line(m, float(z))) for z in grid])
    values = np.maximum.accumulate(np.clip(values, 1e-9, 1 - 1e-9))
    return grid, np.log(values / (1 - values))


def _looked_up_cdf(belief: Belief, x: Floats) -> Floats:
    from scipy.special import expit

    grid, values = _tabulated(belief)
    with np.errstate(divide="ignore"):
        on_line = np.array([_to_line(belief.metric, float(s)) for s in x.ravel()]).reshape(x.shape)
    found = expit(_interpolate(grid, values, on_line))
    return np.where(on_line < grid[0], 0.0, np.where(on_line > grid[-1], 1.0, found))


def _looked_up_quantile(belief: Belief, q: Floats) -> Floats:
    grid, values = _tabulated(belief)
    inside = np.clip(q, 1e-9, 1 - 1e-9)
    found = _interpolate(values, grid, np.log(inside / (1 - inside)))
    return np.array([_from_line(belief.metric, float(z)) for z in found.ravel()]).reshape(q.shape)


def _to_line(m: OneGroup, score: float) -> float:
    """A score's place on a line without ends: the log of its odds within the range, or of itself if that has no end."""
    with np.errstate(divide="ignore"):
        if np.isinf(m.high):
            place = np.log(max(score, 0.0))
        else:
            share = min(max((score - m.low) / (m.high - m.low), 0.0), 1.0)
            place = np.log(share) - np.log1p(-share)
    return float(np.clip(place, -_LINE, _LINE))


def _from_line(m: OneGroup, place: float) -> float:
    if np.isinf(m.high):
        return exp(place)
    share = 1 / (1 + exp(-place))
    return m.low + (m.high - m.low) * share


def _interpolate(x: Floats, y: Floats, at: Any) -> Floats:
    from scipy.interpolate import PchipInterpolator

    new = np.r_[True, np.diff(x) > 1e-12]
    found = PchipInterpolator(x[new], y[new])(np.clip(at, x[new][0], x[new][-1]))
    return np.asarray(found, dtype=np.float64)


def _from_share(m: Share | Ratio, x: Any) -> Any:
    """The score of a share a / (a + b)."""
    curve = m.curve if isinstance(m, Ratio) else "share"
    if curve == "dice":
        return 2 * x / (1 + x)
    return x / np.maximum(1 - x, 1e-300) if curve == "odds" else x


def to_share(m: Share | Ratio, s: Any) -> Any:
    """The share a / (a + b) that has this score."""
    curve = m.curve if isinstance(m, Ratio) else "share"
    if curve == "dice":
        return s / (2 - s)
    return 1 - 1 / (1 + s) if curve == "odds" else s
