"""Confusion matrices in one line."""

from __future__ import annotations

from evenhand import ConfusionMatrix


def matrix(tp: float, fn: float, fp: float, tn: float) -> ConfusionMatrix:
    """The matrix with these cells, whose names a table of numbers has no room for."""
    return ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)
