"""Rows and scores of all cases as records, from the results table."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..confusion import CELLS
from ..metrics import Metric
from .metric_selection import lookup_metric
from .overall import Overall
from .results_table import KIND_OF, ResultsTable
from .rows import Driver, Estimate, Gap, Impact, Reference, Row, SmoothedScore, Strata, Test, Unknown
from .settings import ReferenceKind
from .verdict import Verdict

Values = dict[str, Any]
_SPLITS = ("prev", "tpr", "fpr")
_RANGES = tuple(f"{what}_{end}" for what in ("score", "difference", "ratio") for end in ("low", "high"))


def make_rows(table: ResultsTable) -> tuple[Row, ...]:
    """One record per row of the table."""
    return tuple(_make_row(table.axes, values) for values in _plain_rows(table))


def make_overall(table: ResultsTable) -> tuple[Overall, ...]:
    """One record per score of all cases."""
    return tuple(
        Overall(
            at=_place(table.axes, values),
            metric=values["metric"],
            n=values["n"],
            score=Estimate(**_rename(values, value="score", low="low", high="high", before="before")),
            constant=values["baseline"],
        )
        for values in _plain_rows(table)
    )


def _plain_rows(table: ResultsTable) -> Iterator[Values]:
    """The rows as Python values; None for numbers that do not exist."""
    columns = [_plain_column(name, column) for name, column in table.columns.items()]
    for values in zip(*columns, strict=True):
        yield dict(zip(table.columns, values, strict=True))


def _plain_column(name: str, column: NDArray[Any]) -> list[Any]:
    values: list[Any] = column.tolist()
    is_number = name == "baseline" or KIND_OF.get(name) == "number"
    return [value if isfinite(value) else None for value in values] if is_number else values


def _place(axes: tuple[str, ...], values: Values) -> dict[str, Any]:
    return {axis: values[axis] for axis in axes if values[axis] is not None}


def _make_row(axes: tuple[str, ...], values: Values) -> Row:
    score = {"value": "score", "low": "low", "high": "high", "pvalue": "change_pvalue", "before": "before"}
    test = {"pvalue": "pvalue", "p_adjusted": "p_adjusted", "error": "p_error", "method": "method"}
    same = {name: name for name in ("by", "group", "metric", "reason", "n", "percentile", "p_undefined")}
    return Row(
        at=_place(axes, values),
        verdict=Verdict(values["verdict"]),
        cells=_cells(values, ""),
        rests_on=_denominators(values),
        score=Estimate(**_rename(values, **score)),
        reference=Reference(
            kind=ReferenceKind(values["reference_kind"]),
            name=values["reference"],
            cells=_cells(values, "reference_"),
            **_rename(values, n="reference_n", score="reference_score", before="reference_before"),
        ),
        gap=_make_gap(values),
        test=Test(
            asks="drawn alike" if values["question"] == "same distribution" else "equal scores",
            **_rename(values, **test, effective="n_effective", correlation="correlation"),
        ),
        needed=_count(values["required_n"]),
        smoothed=_make_smoothed(values),
        impact=_make_impact(values),
        driver=_make_driver(values),
        unknown=_make_unknown(values),
        strata=_make_strata(values),
        **_rename(values, **same),
    )


def _make_gap(values: Values) -> Gap:
    ends = {"value": "gap", "low": "gap_low", "high": "gap_high"}
    return Gap(
        kind=values["gap_kind"],
        **_compare(values, values["reference_score"]),
        **_rename(values, **ends, at_least="at_least", at_most="at_most"),
    )


def _compare(values: Values, other: float | None) -> Values:
    """The difference of the score and another one, and their ratio if no such score is negative."""
    score, metric = values["score"], lookup_metric(values["metric"])
    if score is None or other is None or values["gap"] is None or values["gap_kind"] == "odds ratio":
        return {}
    lowest = metric.base.low if isinstance(metric, Metric) else 0.0
    has_ratio = min(lowest, score) >= 0 and other > 0 and values["question"] != "change"
    return {"difference": score - other, "ratio": score / other if has_ratio else None}


def _make_smoothed(values: Values) -> SmoothedScore | None:
    if values["smoothed"] is None:
        return None
    strength: Any = values["strength"]
    if strength is None:
        strength = {split: values[f"strength_{split}"] for split in _SPLITS}
    return SmoothedScore(score=values["smoothed"], strength=strength, kept=values["shrinkage"])


def _make_impact(values: Values) -> Impact | None:
    if values["impact_group"] is None:
        return None
    names = {name: f"impact_{name}" for name in ("ratio", "low", "high", "at_most", "group")}
    return Impact(n=int(values["impact_n"]), **_rename(values, **names))


def _make_driver(values: Values) -> Driver | None:
    if values["driver"] is None:
        return None
    ends = _rename(values, value="driver_gap", low="driver_gap_low", high="driver_gap_high")
    score, gap, other = values["score"], values["driver_gap"], values["reference_score"]
    if other is not None and gap is not None:
        # The reference's score without the group.
        other = score - gap if values["gap_kind"] == "difference" else score / gap if gap else None
    gaps = Gap(kind=values["gap_kind"], **_compare(values, other), **ends)
    return Driver(group=values["driver"], verdict=Verdict(values["driver_verdict"]), gap=gaps)


def _make_unknown(values: Values) -> Unknown | None:
    if values["unknown_n"] is None:
        return None
    ranges = {name: values[f"unknown_{name}"] for name in _RANGES}
    return Unknown(n=int(values["unknown_n"]), turns=_count(values["tipping_point"]), **ranges)


def _make_strata(values: Values) -> Strata | None:
    if values["strata_silent"] is None:
        return None
    numbers = {name: int(values[f"strata_{name}"]) for name in ("higher", "lower", "silent")}
    return Strata(**numbers, **_rename(values, crude_odds_ratio="crude_odds_ratio", crude_pvalue="crude_pvalue"))


def _denominators(values: Values) -> tuple[int, ...]:
    """The number of cases in each denominator of the score."""
    metric = lookup_metric(values["metric"])
    cells = _cells(values, "")
    if cells is None or not isinstance(metric, Metric) or values["n_effective"] is not None:
        return (values["support"],)
    if len(metric.denominators) == 1:
        return (values["support"],)
    return tuple(int(n) for n in metric.support(np.array(cells)))


def _cells(values: Values, prefix: str) -> Any:
    cells = [values[prefix + cell] for cell in CELLS]
    # Those of weighted cases are sums of weights.
    return None if None in cells else tuple(map(round, cells))


def _rename(values: Values, **names: str) -> Values:
    return {name: values[column] for name, column in names.items()}


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)
