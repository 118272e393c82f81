"""What is said of one group and one metric, before p-values are adjusted and verdicts given."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from ..cells import CELLS, ConfusionMatrix
from ..inference.intervals import gap_interval, interval
from ..inference.match import MatchResult, match_test
from ..inference.smoothing import cross_prior_smooth
from ..metrics import Comparison, Metric, OneGroup, Ratio, Share
from .groups import Compared
from .settings import Settings

__all__ = ["Measured", "measure"]


@dataclass(frozen=True, slots=True)
class Measured:
    """The fields of a row that do not depend on other groups, and the test behind them."""

    who: Compared
    metric: Metric
    fields: dict[str, Any]
    test: MatchResult | None
    reason: str | None


def measure(who: Compared, m: Metric, how: Settings, labelled: bool) -> Measured:
    """Score, interval, reference, difference, test and smoothed score of a group."""
    pair = isinstance(m, Comparison) or m.groups == 2
    score = float(m(who.cm, who.against)) if pair else float(m(who.cm))
    fields = _counts(who.cm, m, labelled)
    fields |= {"score": _or_none(score), "status": "ok", "reference_n": int(_reference(who).n)}
    if labelled:
        theirs = zip(CELLS, _reference(who).cells, strict=True)
        fields |= {f"reference_{name}": value for name, value in theirs}
    reason = m.why_undefined(who.cm, who.against) if pair else m.why_undefined(who.cm)
    if reason:
        fields["status"] = f"undefined: {reason}"
    fields["low"], fields["high"] = _interval(who, m, how)
    test = None
    if not who.is_reference and who.cm.n and who.against.n:
        test = match_test(who.cm, who.against, m, null=how.null, mid_p=how.mid_p)
        fields |= {
            "percentile": _or_none(test.percentile),
            "pvalue": _or_none(test.pvalue),
            "p_undefined": test.p_undefined,
        }
    if isinstance(m, OneGroup) and not who.is_reference:
        other = float(m(_reference(who)))
        why = m.why_undefined(_reference(who))
        if why and not reason:
            reason = f"the reference's score is undefined, {why}"
        fields["reference_score"] = _or_none(other)
        fields |= _gap(who, m, score, other, how)
        if labelled:
            fields |= _smoothed(who, m, how)
    return Measured(who, m, fields, test, reason)


def _reference(who: Compared) -> ConfusionMatrix:
    return who.against + who.cm if who.part_of else who.against


def _counts(cm: ConfusionMatrix, m: Metric, labelled: bool) -> dict[str, Any]:
    cells = dict(zip(CELLS, cm.cells if labelled else (None,) * 4, strict=True))
    found: dict[str, Any] = {"n": int(cm.n), **cells, "numerator": None, "denominator": None}
    if isinstance(m, (Share, Ratio)):
        numerator, denominator = m.rank(*cm.cells)
        found |= {"numerator": int(numerator), "denominator": int(denominator)}
    return found


def _interval(who: Compared, m: Metric, how: Settings) -> tuple[float | None, float | None]:
    if isinstance(m, OneGroup):
        found = interval(who.cm, m, how.level)
        return _or_none(found.low), _or_none(found.high)
    if isinstance(m, Comparison):
        low, high = gap_interval(who.cm, who.against, m.base, m.kind, level=how.level)
        return _or_none(low), _or_none(high)
    return None, None


def _gap(who: Compared, m: OneGroup, score: float, theirs: float, how: Settings) -> dict[str, Any]:
    found: dict[str, Any] = {"difference": _or_none(score - theirs)}
    if m.range[0] >= 0:
        found["ratio"] = _or_none(score / theirs if theirs else float("nan"))
    if not who.against.n:
        return found
    if not who.part_of:
        low, high = gap_interval(who.cm, who.against, m, "difference", level=how.level)
        return found | {"difference_low": low, "difference_high": high}
    if isinstance(m, Share) or (isinstance(m, Ratio) and m.curve == "share"):
        # Everybody's rate is a mixture of the group's and the rest's, so the gap to it is a share of the gap to them.
        low, high = gap_interval(who.cm, who.against, m, "difference", level=how.level)
        mine, all_ = m.rank(*who.cm.cells)[1], m.rank(*_reference(who).cells)[1]
        share = 1 - mine / all_ if all_ else 0.0
        return found | {"difference_low": low * share, "difference_high": high * share}
    return found


def _smoothed(who: Compared, m: OneGroup, how: Settings) -> dict[str, Any]:
    if not who.against.n:
        return {}
    smoothed = cross_prior_smooth(who.cm, who.against, how.strength)
    return {
        "smoothed": _or_none(float(m(smoothed))),
        "strength": smoothed.strength,
        "shrinkage": smoothed.shrinkage,
    }


def _or_none(value: float) -> float | None:
    return float(value) if isfinite(value) else None
