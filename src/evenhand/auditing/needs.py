"""About how many cases a group would need before a difference could be told."""

from __future__ import annotations

from math import ceil

from ..metrics import Ratio, Share
from ..metrics import metric as find_metric
from .row import Row

__all__ = ["cases_needed"]


def cases_needed(row: Row, detect: float, alpha: float) -> tuple[int, str] | None:
    """How many of which cases a rate needs to tell a difference of ``detect``, by the normal approximation.

    None where the score is no rate, where there is no reference's rate, or where no number would do, because the
    reference itself is too small.
    """
    from scipy.special import ndtri

    m = find_metric(row.metric)
    if not isinstance(m, (Share, Ratio)) or (isinstance(m, Ratio) and m.curve != "share"):
        return None
    rate, cells = row.reference_score, (row.reference_tp, row.reference_fn, row.reference_fp, row.reference_tn)
    if rate is None or None in cells:
        return None
    theirs = float(m.rank(*cells)[1])
    rate = min(max(rate, 0.5 / theirs), 1 - 0.5 / theirs) if theirs else 0.5
    spread = rate * (1 - rate) * float(ndtri(1 - alpha / 2)) ** 2
    left = detect**2 / spread - 1 / theirs if theirs else 0.0
    part = m.denominator
    return (ceil(1 / left), part.name if part else "cases") if left > 0 else None
