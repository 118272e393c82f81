"""The gaps that do not matter, of a row and in words."""

from __future__ import annotations

from collections.abc import Iterable
from math import log

from .metric_selection import lookup_metric
from .results_table import Row
from .verdicts import RATIO_MARGIN, margin_scale


def margin_of(row: Row, margin: float) -> float:
    """The gap that does not matter, on the scale of `Row.smallest_gap`."""
    return log(RATIO_MARGIN) if row.is_ratio else margin * margin_scale(lookup_metric(row.metric))


def margins_text(rows: Iterable[Row], margin: float) -> str:
    """The gaps that do not matter, in words, of the scores in these rows."""
    kinds = {(row.is_ratio, row.metric) for row in rows}
    scales = {key: margin_scale(lookup_metric(key)) for _, key in sorted(kinds)}
    apart = [f"{key}: ±{margin * scale:g}" for key, scale in scales.items() if scale != 1]
    apart += ["ratios: 0.8 to 1.25"] if any(is_ratio for is_ratio, _ in kinds) else []
    return f"±{margin:g}" + (f" ({'; '.join(apart)})" if apart else "")
