"""The library's interface as the frozen numbers name it: whoever renames something changes this module only.

Cases (`frozen_cases.py`) and files use the names of the final interface. Here they are translated into those of the
code beside it, and what functions return into plain values: numbers, text, None (undefined or absent) and lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np

import evenhand as eh
from evenhand import examples

Line = dict[str, Any]
Tables = dict[str, list[Line]]

# Audits: the results table


def audit(data: Any, **settings: Any) -> Tables:
    """The audit of a table of decisions."""
    return audit_tables(eh.audit(data, **_asked(settings)))


def audit_counts(counts: Any, **settings: Any) -> Tables:
    """The audit of confusion matrices by group."""
    return audit_tables(eh.audit_counts(_matrices(counts), **_asked(settings)))


def compare(data: Any, **settings: Any) -> Tables:
    """The comparison of models: changes of gaps, beside the p-values of own changes."""
    done = eh.compare(data, **_asked(settings), gaps=True)
    tables = audit_tables(done)
    own = {_place(row): row.pvalue for row in done.rows if row.is_change}
    of_gaps = [row for row in done.rows if row.is_gap_change]
    tables["rows"] = [
        _plain_line(row_columns(row) | {"question": "change", "change_pvalue": own[_place(row)]}) for row in of_gaps
    ]
    tables["overall"] = [
        _plain_line(overall_columns(one) | {"score": one.gap, "low": one.gap_low, "high": one.gap_high})
        for one in done.overall
    ]
    return tables


def _place(row: Any) -> tuple[str, ...]:
    return str(row.at), row.by, row.group, row.metric


def monitor(batches: Sequence[tuple[str, Any]], columns: Line | None = None, **settings: Any) -> Tables:
    """A monitor after all batches, which are counts, or tables if columns are named."""
    made = eh.Monitor(**settings)
    for at, batch in batches:
        made = made.add(batch, at=at, **columns) if columns else made.add_counts(_matrices(batch), at=at)
    return {"monitor": [_plain_line(monitor_columns(made, row)) for row in made.rows]}


def audit_tables(done: Any) -> Tables:
    """What is kept of an audit."""
    facts = {"n": done.n, **{f"left_out_{name}": n for name, n in sorted(done.left_out.items())}}
    facts |= {f"unknown in {by}": n for by, n in done.unknown.items()}
    return {
        "facts": [{"fact": name, "count": value} for name, value in facts.items()],
        "rows": [_plain_line(row_columns(row)) for row in done.rows],
        "overall": [_plain_line(overall_columns(one)) for one in done.overall],
        "findings": [_plain_line(finding_columns(one)) for one in done.findings],
    }


ROW = (
    "by group metric question n support n_effective correlation tp fn fp tn score low high before change_pvalue "
    "reference reference_kind reference_n reference_tp reference_fn reference_fp reference_tn reference_score "
    "reference_before gap_kind gap gap_low gap_high at_least at_most pvalue p_adjusted p_error method verdict reason "
    "percentile p_undefined smoothed shrinkage strength_prev strength_tpr strength_fpr impact_ratio impact_low "
    "impact_high impact_at_most impact_group impact_n driver driver_verdict driver_gap driver_gap_low driver_gap_high "
    "unknown_n tipping_point unknown_score_low unknown_score_high unknown_difference_low unknown_difference_high "
    "unknown_ratio_low unknown_ratio_high required_n strata_higher strata_lower strata_silent crude_odds_ratio "
    "crude_pvalue"
)


def row_columns(row: Any) -> Line:
    """A row under the names of the results table."""
    columns = {name: getattr(row, name, None) for name in ROW.split()}
    return {**row.at, **columns, "strength_all": row.strength}


def overall_columns(row: Any) -> Line:
    """The score of all cases."""
    names = ("metric", "n", "score", "low", "high", "before", "baseline")
    return {**row.at, **{name: getattr(row, name) for name in names}}


def finding_columns(one: Any) -> Line:
    """A finding without its words."""
    place = {**one.at, "by": one.by, "group": one.group}
    return {**place, "finding": one.kind, "code": one.code, "severity": one.severity, "metrics": ", ".join(one.metrics)}


def monitor_columns(made: Any, row: Any) -> Line:
    """A row of a monitor, with the e-values after each batch."""
    return {
        **{name: getattr(row, name) for name in ("by", "group", "metric", "reference", "alarm", "batches")},
        **{"support": row.cases, "undefined_batches": row.undefined},
        **{"score": row.score, "reference_score": row.versus},
        **{"e_value": row.evidence, "e_value_joint": row.joint},
        **{"odds_low": row.odds_low, "odds_high": row.odds_high},
        "e_values": list(made.path(row)),
    }


# Single results: fields by function


ASKED = (-0.25, 0.0, 0.2, 1 / 3, 0.5, 0.75, 1.0, 2.0)
"""Scores whose probabilities are kept, many of which small groups attain."""
LEVELS = (0.025, 0.25, 0.5, 0.75, 0.975)


def _distribution(found: Any) -> Line:
    if isinstance(found, np.ndarray):
        return {"value": found}
    if found.p_undefined > 1 - 1e-12:
        return {"p_undefined": 1.0}
    tails = {"cdf": found.cdf(ASKED), "sf": found.sf(ASKED), "pmf": found.pmf(ASKED)}
    moments = {"p_undefined": found.p_undefined, "mean": found.mean, "std": found.std}
    return {**moments, **tails, "quantiles": found.quantile(LEVELS), "support": found.support[:6]}


def _named(*names: str, **renamed: str) -> Callable[[Any], Line]:
    """A reader of attributes, some of which have another name today."""
    today = {**dict.fromkeys(names), **renamed}
    return lambda found: {name: getattr(found, was or name) for name, was in today.items()}


def _each(read: Callable[[Any], Line]) -> Callable[[Any], Line]:
    """A reader of several results, as columns."""

    def columns(found: Any) -> Line:
        lines = [read(one) for one in found]
        return {name: [line[name] for line in lines] for name in (lines[0] if lines else ())}

    return columns


_match_result = _named("statistic", "reference_score", "percentile", "pvalue", "p_undefined", p_error="error")
_risk = _named("true_score", "bias", "variance", "mse", "p_undefined", p_error="standard_error")
_plan = _named("value", "n", "reference_score", "true_score", "lower", "higher", "half_width", p_error="error")
_disparity = _named("estimate", "low", "high", "pvalue", "group_score", "reference_score", "crude_estimate")
_stress = _named("n", "strength", "mean_ratio", "worst_ratio", "worst_group", "worst_metric")
_prior = _named("verdict", "likelihood_ratio", "divergence", "gaps", "homogeneity", "hidden", "improved", "worsened")
_jagged = _named("reference_score", "quantiles", "total", "movement", "decay")
_exploited = _named("true_score", "chances", "exploitable", "advantages", "best", "gain", "p_stopping")


def _match(found: Any) -> Line:
    try:
        smallest = found.smallest_pvalue
    except eh.EvenhandError as refusal:
        smallest = type(refusal).__name__
    return {**_match_result(found), "smallest_pvalue": smallest}


READERS: dict[str, Callable[[Any], Line]] = {
    "distribution": _distribution,
    "match_test": _match,
    "disparity": _disparity,
    "interval": _named("estimate", "low", "high"),
    "risk": lambda found: _each(_risk)(found) if isinstance(found, Sequence) else _risk(found),
    "bias_variance": lambda found: {"bias": found.bias, "variance": found.variance, "mse": found.mse},
    "check_prior": _prior,
    "stress_test": lambda found: _each(_stress)(found.rows),
    "undefined_table": _each(_named("metrics", "count", "probability")),
    "power": _plan,
    "sample_size": _plan,
    "detectable_difference": _plan,
    "jaggedness": _jagged,
    "exploitable_sizes": _exploited,
}
"""What is kept of a result, by the function that returned it; numbers and matrices need no reader."""


def namespace() -> dict[str, Any]:
    """What a text may name: public functions, and short ways to make things."""
    names = {name: getattr(eh, name) for name in eh.__all__ if name.islower()}
    return {
        **names,
        **{name: getattr(eh, name) for name in ("Raw", "Additive", "CrossPrior")},
        **{"metric": eh.metric, "difference": eh.difference, "ratio": eh.ratio, "f_beta": eh.f_beta},
        **{"cm": _matrix, "classes": eh.MulticlassConfusion, "from_labels": eh.ConfusionMatrix.from_labels},
        "one_vs_rest": lambda table, label: table.binary(label),
        "class_scores": lambda table, metrics: [list(row.values()) for row in table.scores(metrics).values()],
        "fairlearn": lambda name, *columns: _fairlearn(name)(*columns[:2], sensitive_features=columns[2]),
        **{"audit": audit, "audit_counts": audit_counts, "compare": compare, "monitor": monitor},
        **{"compas": examples.compas(), "violent": examples.compas_violent(), "income": examples.folktables_income()},
    }


def read_result(call: str, found: Any) -> Line:
    """What is kept of the result of a call."""
    function = call.partition("(")[0]
    fields = READERS[function](found) if function in READERS else {"value": found}
    return _plain_line(fields)


def _matrix(tp: float, fn: float, fp: float, tn: float) -> eh.ConfusionMatrix:
    return eh.ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)


def _matrices(counts: Mapping[Any, Any]) -> dict[Any, eh.ConfusionMatrix]:
    return {name: _matrix(*cells) if isinstance(cells, tuple) else cells for name, cells in counts.items()}


def _fairlearn(name: str) -> Callable[..., Any]:
    return lambda *given, **named: float(getattr(eh.fairlearn, name)(*given, **named))


def _asked(settings: Mapping[str, Any]) -> Line:
    """Arguments, with averages over classes among the metrics, and the bounds that were the only ones."""
    metrics = [*settings.get("metrics", ()), *settings.get("averages", ())]
    others = {name: value for name, value in settings.items() if name not in ("metrics", "averages")}
    return {"bounds": "simultaneous", "margin": 0.1} | others | ({"metrics": metrics} if metrics else {})


def _plain_line(line: Mapping[str, Any]) -> Line:
    return {name: plain(value) for name, value in line.items()}


def plain(value: Any) -> Any:
    """A value as JSON has it: no nan, no infinite numbers, no NumPy, and matrices as their cells."""
    if isinstance(value, eh.ConfusionMatrix):
        return plain(value.cells)
    if isinstance(value, eh.MulticlassConfusion):
        return plain(value.counts)
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if isfinite(number) else None if isnan(number) else str(number)
    if isinstance(value, np.integer):
        return int(value)
    return value if value is None or isinstance(value, bool | int) else str(value)
