"""Gates: whether an audit found what must not be found, or could not look for it.

A gate passes, fails, or could not be evaluated; then it says what it lacks. Tests count at p-values
that are adjusted over the whole audit, by Holm's method, whatever family the verdicts are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np

from ..arrays import Bools, Floats
from ..data import rule_of
from ..errors import EvenhandError, InvalidInput, UnknownName, brief, escaped
from ..inference import equality_test
from ..metrics import Metric
from ..wording import join_and, legible, number, pvalue, several
from .evaluate_goals import AT_LEAST
from .findings import GOAL_KINDS, KINDS, Finding, list_unjudged, make_finding
from .metric_selection import lookup_metric
from .multiplicity import adjust_holm
from .option_text import as_list
from .result import Audit
from .results_table import Row, place_text
from .verdict import Verdict
from .verdicts import margin_of

Outcome = Literal["passed", "failed", "not evaluated"]
Required = Mapping[str, str | Sequence[str]]
Place = tuple[str, str, str, str]

GATES = (*KINDS, "any")
"""The names of gates: the kinds of findings, and ``any`` for those that are alerts or warnings."""
_DIFFERENCES = ("differs", "beyond-margin")
_KINDS_OF = dict.fromkeys(_DIFFERENCES, _DIFFERENCES)
_KINDS_OF["require-conclusive"] = ("undefined", "inconclusive")
_OF_ALL = ("four-fifths", "undefined", "inconclusive", "worse", "require-conclusive")
_OF_ROWS = (*_DIFFERENCES, *GOAL_KINDS, *_OF_ALL)
# Of more cases, some division is always improbable enough.
_MANY = 60
_OF_CASES = ("left-out", "absent-label", "repeated-rows", "skipped-files")
# What rounded counts hide, some only if they hide zeros; and what only an audit of one model has.
_HIDDEN = ("repeated-rows", "skipped-files", "absent-label", "similar-groups")
_HIDDEN_ZEROS = ("constant", "left-out", "missing-group")
_OF_ONE_MODEL = ("constant", "spread", "chosen-reference", "repeated-rows", "four-fifths")
_CLAIMS = (Verdict.EQUIVALENT, Verdict.NOT_WORSE, Verdict.REFERENCE)
_WORSE_SIDES = {"higher": "lower", "lower": "upper"}
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of one gate.

    Attributes
    ----------
    gate : str
        The kind of finding that must not occur, or ``"require-conclusive"``.
    outcome : {"passed", "failed", "not evaluated"}
        Whether it passed, failed or could not be evaluated.
    text : str
        What was covered, and the outcome; arguments stand in backquotes.
    rows : tuple of Row
        The rows that made it fail.
    findings : tuple of Finding
        The findings about them.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> from evenhand.auditing import check_gates
    >>> a = audit_counts({"A": (30, 10, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(check_gates(a, ["undefined"])[0])
    gate undefined: tpr over 2 groups: passed
    """

    gate: str
    outcome: Outcome
    text: str
    rows: tuple[Row, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The sentence, and the findings that made the gate fail."""
        return [self.text, *(f"- {escaped(finding)}" for finding in self.findings)]

    def __str__(self) -> str:
        return str(EvenhandError(self.text))


def check_gates(
    audit: Audit,
    gates: Iterable[str],
    require: Required | None = None,
    *,
    require_conclusive: bool = False,
    since: Audit | None = None,
    metrics: Sequence[str] | None = None,
) -> tuple[GateResult, ...]:
    """The results of gates, which cover these metrics or all of the audit."""
    names = list(gates)
    for name in names:
        if name not in GATES:
            raise UnknownName.among("gate", name, GATES)
    required = _list_required(audit, require)
    if "any" in names:
        # Counts have no rows of cases, in which such findings are made.
        apart = {"absent-group", *(_OF_CASES if _is_of(audit, "audit_counts") else ())}
        apart |= set() if audit.settings.get("goal") else {*GOAL_KINDS}
        apart |= set() if audit.variation else {"varies"}
        apart |= set() if _is_of(audit, "compare") else {"worse"}
        alerts = [kind for kind, (_, severity) in KINDS.items() if severity != "note"]
        names += [kind for kind in alerts if kind not in apart]
    names += ["absent-group"] * bool(required) + ["require-conclusive"] * require_conclusive
    names += ["worse"] * (since is not None)
    checks = _Checks(audit, required, since, metrics or audit.settings["metrics"])
    results = tuple(checks.check(name) for name in dict.fromkeys(names) if name != "any")
    if not results:
        raise InvalidInput("name a gate, such as 'differs', or pass `require`")
    return results


def _list_required(audit: Audit, require: Required | None) -> list[tuple[str, str]]:
    """The required groups with their columns."""
    if not isinstance(require, Mapping | None):
        must = "map group columns to groups, as {'region': ['west']}"
        raise InvalidInput(argument="require", must=must, got=require)
    required, columns = [], {*audit.table["by"], *(audit.provenance.get("order") or {})}
    for by, groups in (require or {}).items():
        if by not in columns:
            raise UnknownName.among("group column in require", by, columns, argument="require")
        required += [(by, str(group)) for group in as_list(groups)]
    return required


def _is_of(audit: Audit, function: str) -> bool:
    return bool(audit.provenance.get("function") == function)


@dataclass(frozen=True)
class _Checks:
    """What is checked: an audit, with required groups and earlier cases, on these metrics."""

    audit: Audit
    required: list[tuple[str, str]]
    since: Audit | None
    metrics: Sequence[str]

    def check(self, gate: str) -> GateResult:
        """The result of one gate."""
        if lack := self._lack_of(gate):
            return _result(gate, lack=f"it needs {lack}")
        if gate == "worse" and self.since is not None:
            return self._compare_with_before()
        if gate == "absent-group":
            return self._find_absent()
        if gate in _OF_ROWS:
            return self._check_rows(gate)
        findings = [finding for finding in self.audit.findings if finding.kind == gate]
        return _result(gate, findings=findings)

    def _lack_of(self, gate: str) -> str:
        """What a gate needs that no row can say, "" if it lacks nothing."""
        audit, s, rule = self.audit, self.audit.settings, rule_of(self.audit.settings["protect"])
        has_counts = any(isinstance(lookup_metric(key), Metric) for key in s["metrics"])
        hides_zeros = rule is not None and not rule.shows_zero
        lacks: tuple[tuple[Sequence[str], bool, str], ...] = (
            (_OF_CASES, _is_of(audit, "audit_counts"), "rows of cases; the audit is of counts"),
            (_HIDDEN, rule is not None, "what `protect` hides"),
            (_HIDDEN_ZEROS, hides_zeros, "what `protect` hides"),
            (_OF_ONE_MODEL, _is_of(audit, "compare"), "an audit of one model"),
            (("constant", "spread"), not has_counts, "a metric of counts"),
            (("spread", "chosen-reference"), bool(s["strata"]), "an audit without `strata`"),
            (("spread",), not s["labelled"], "labels (`y_true`)"),
            (("four-fifths",), s["favourable"] is None, "`favourable`"),
            (("four-fifths",), "ppr" not in s["metrics"], "the metric ppr"),
            (("absent-group", "require-conclusive"), not self.required, "`require`"),
            (("worse",), self.since is None and not _is_of(audit, "compare"), "`since`"),
            (GOAL_KINDS, not s.get("goal"), "`goal`"),
            (("varies",), not audit.variation, "a rate and a column of three or more groups"),
        )
        return next((lack for gates, is_so, lack in lacks if is_so and gate in gates), "")

    # Rows

    def _check_rows(self, gate: str) -> GateResult:
        """The result of a gate about rows; each metric needs one that can be evaluated."""
        table, rows = self.audit.table, self.audit.rows
        metrics = self._list_metrics(gate)
        is_covered = np.isin(table["metric"].astype(str), metrics)
        is_covered &= table.is_goal == (gate in GOAL_KINDS)
        if gate == "worse":
            is_covered &= table["question"] == "change"
        if gate == "require-conclusive":
            is_covered &= [(row.by, row.group) in self.required for row in rows]
        fails, is_evaluable, lack = self._select(gate)
        failing = [rows[i] for i in np.flatnonzero(fails & is_covered)]
        evaluable = {*table["metric"][is_evaluable & is_covered]}
        lacking = [key for key in metrics if key not in evaluable]
        groups = {(rows[i].by, rows[i].group) for i in np.flatnonzero(is_covered)}
        is_left = is_covered & ~is_evaluable & (table["verdict"] != Verdict.REFERENCE)
        left = f" ({several(int(is_left.sum()), 'row')} could not be tested)" * bool(is_left.any())
        return _result(
            gate,
            f"{', '.join(metrics)} over {several(len(groups), 'group')}",
            rows=failing,
            findings=self._findings_of(gate, failing),
            lack=f"{escaped(join_and(lacking))}: {lack}" if lacking else "",
            left=left,
        )

    def _list_metrics(self, gate: str) -> list[str]:
        """The metrics that a gate covers."""
        if gate in GOAL_KINDS:
            return list(dict.fromkeys(row.metric for row in self.audit.rows if row.is_goal))
        if gate == "four-fifths":
            return ["ppr"]
        metrics = list(self.metrics)
        if gate == "worse":
            # No change of a metric without a direction is for the worse.
            metrics = list(filter(_has_direction, metrics)) or metrics
        return metrics

    def _select(self, gate: str) -> tuple[Bools, Bools, str]:
        """Which rows make a gate fail, which it can be evaluated on, and what the others lack."""
        table, alpha = self.audit.table, self.audit.settings["alpha"]
        verdict = table["verdict"]
        is_tested, is_found = ~np.isnan(table["p_gate"]), table["p_gate"] <= alpha
        if self.audit.settings["protect"] is not None:
            is_tested &= ~np.isin(table["metric"], list_unjudged(self.metrics))
        # What differs in its family, but not in the whole audit, is inconclusive.
        is_open = ~is_found & ~np.isin(verdict, _CLAIMS)
        lack = f"every comparison is undefined, not tested, or cannot attain p <= {alpha:g}"
        if gate in ("undefined", "require-conclusive"):
            fails = verdict == Verdict.UNDEFINED if gate == "undefined" else is_open
            return fails, np.ones(len(table), dtype=bool), "there is no such group"
        if gate == "inconclusive":
            return is_open & is_tested, is_tested, lack
        if gate == "goal-unproven":
            fails = np.isin(verdict, [Verdict.INCONCLUSIVE, Verdict.UNDEFINED])
            return fails, np.ones(len(table), dtype=bool), lack
        if gate == "four-fifths":
            below = np.array([row.is_below_four_fifths for row in self.audit.rows], dtype=bool)
            has_other = table["impact_group"] != table["group"]
            has_bound = ~np.isnan(table["impact_at_most"])
            return below, has_bound & has_other, "no two groups have rates to compare"
        smallest = np.array([_smallest_pvalue(row) for row in self.audit.rows])
        if gate == "below-goal":
            is_able = ~np.isnan(table["pvalue"]) & (smallest <= alpha)
            return verdict == Verdict.MISSES, is_able, lack
        is_tested &= smallest <= alpha
        if gate == "worse":
            is_able = np.isin(table["metric"], list(filter(_has_direction, self.metrics)))
            return is_found & (verdict == Verdict.WORSE), is_tested & is_able, lack
        if gate == "beyond-margin":
            is_tested &= ~(np.isnan(table["gap_low"]) & np.isnan(table["gap_high"]))
            is_found &= self._is_beyond_margin()
            lack += ", or its gap has no bound"
        return is_found, is_tested, lack

    def _is_beyond_margin(self) -> Bools:
        """Whether bounds of gaps that hold for the whole audit exceed the margin."""
        beyond = (row.certain_gap > margin_of(row) for row in self.audit.rows)
        return np.fromiter(beyond, bool)

    def _findings_of(self, gate: str, rows: Sequence[Row]) -> list[Finding]:
        """The findings about rows."""
        kinds = _KINDS_OF.get(gate, (gate,))
        places = {(str(row.at), row.by, row.group, row.metric) for row in rows}
        return [
            f
            for f in self.audit.findings
            if f.kind in kinds and any((str(f.at), f.by, f.group, m) in places for m in f.metrics)
        ]

    # Groups

    def _find_absent(self) -> GateResult:
        """Whether required groups have cases."""
        present = {(row.by, row.group) for row in self.audit.rows if row.n > 0}
        about = several(len(self.required), "required group")
        absent = [key for key in self.required if key not in present]
        texts = [(by, f"{group!r} of {by!r} has no cases") for by, group in absent]
        if self.audit.settings["protect"] is not None and absent:
            lack = f"{escaped(texts[0][1])}, or too few to be shown with `protect`"
            return _result("absent-group", about, lack=lack)
        findings = [make_finding("absent-group", text, by=by) for by, text in texts]
        return _result("absent-group", about, findings=findings)

    # Earlier cases

    def _compare_with_before(self) -> GateResult:
        """Whether scores are worse than in an audit of other cases, by Fisher's test."""
        assert self.since is not None
        _check_since(self.audit, self.since)
        alpha, now, then = self.audit.settings["alpha"], _rows(self.audit), _rows(self.since)
        added = {*self.audit.settings["metrics"]} - {*self.metrics}
        keys = [key for key in now | then if key[-1] not in added]
        tests = {key: _test_worse(then.get(key), now.get(key), alpha) for key in keys}
        pvalues = {key: test for key, test in tests.items() if isinstance(test, float)}
        adjusted = adjust_holm(np.array([*pvalues.values()])).tolist()
        fails = {key: p for key, p in zip(pvalues, adjusted, strict=True) if p <= alpha}
        lacks = [f"{key[-1]} of {key[-2]} ({tests[key]})" for key in keys if key not in pvalues]
        more = len(lacks) - _MOST_NAMED
        shown = ", ".join(lacks[:_MOST_NAMED] + [f"{more:,} more"] * (more > 0))
        metrics = ", ".join(dict.fromkeys(key[-1] for key in keys))
        groups = several(len({key[1:3] for key in keys}), "group")
        return _result(
            "worse",
            f"{metrics} over {groups} since {str(self.since.provenance.get('made'))[:10]}",
            rows=[now[key] for key in fails],
            findings=[_describe_worse(then[key], now[key], fails[key], alpha) for key in fails],
            lack=escaped(shown),
        )


def _has_direction(key: str) -> bool:
    return lookup_metric(key).better in _WORSE_SIDES


def _smallest_pvalue(row: Row) -> float:
    """A p-value that no outcome of so many cases is below."""
    if row.is_goal:
        at_least = row.reference.startswith(AT_LEAST)
        return float(2 * abs(at_least - row.reference_score) ** row.support)
    if row.is_change:
        return float(2 * 0.5**row.support)
    n, other, sides = row.n, row.reference_n, 1
    if row.method == "fisher" and row.reference_cells is not None:
        support = lookup_metric(row.metric).base.support(np.array(row.reference_cells))
        n, other, sides = row.support, int(support.min()), 2
    return 0.0 if n + other > _MANY and min(n, other) > 1 else sides / comb(n + other, n)


def _result(
    gate: str,
    about: str = "",
    *,
    rows: Sequence[Row] = (),
    findings: Sequence[Finding] = (),
    lack: str = "",
    left: str = "",
) -> GateResult:
    """The result of a gate, which fails by rows or findings, and passes only if it lacks nothing."""
    found = several(len(rows), "row") if rows else several(len(findings), "finding")
    outcome: Outcome = "passed"
    text = f"passed{left}"
    if rows or findings:
        outcome = "failed"
        text = f"failed ({found})" + f"; could not be evaluated for {lack}" * bool(lack)
    elif lack:
        outcome, text = "not evaluated", f"could not be evaluated: {lack}"
    name = f"gate {gate}: {escaped(about)}: " if about else f"gate {gate}: "
    return GateResult(gate, outcome, name + text, tuple(rows), tuple(findings))


# Scores of earlier cases


def _rows(audit: Audit) -> dict[Place, Row]:
    """The rows by place, column, group and metric, but for those that pool strata."""
    rows = (row for row in audit.rows if not row.is_pooled)
    return {(place_text(row.at), row.by, row.group, row.metric): row for row in rows}


def _check_since(now: Audit, then: Audit) -> None:
    """Refuse audits whose scores are not those of other cases, asked the same."""
    if not isinstance(then, Audit):
        raise InvalidInput(argument="since", must="be an Audit", got=then)
    both, facts = (now, then), (now.provenance, then.provenance)
    if any(audit.settings["protect"] is not None for audit in both):
        reason = "changes of rounded counts have no bound"
        raise InvalidInput(f"`protect` and `since` cannot be combined: {reason}")
    if _is_of(then, "compare"):
        raise InvalidInput("`since` is for audits of one model; got one of several models")
    for name in ("positive", "threshold"):
        is_now, was = (known.get(name) for known in facts)
        if is_now and was and is_now != was:
            got = f"got {brief(is_now)} and {brief(was)}"
            raise InvalidInput(f"`{name}` must be as in the audit of `since`; {got}")
    digests = [(known.get("source") or {}).get("sha256") for known in facts]
    scores = [str({k: (r.score, r.support) for k, r in _rows(audit).items()}) for audit in both]
    if (digests[0] and digests[0] == digests[1]) or scores[0] == scores[1]:
        raise InvalidInput("`since` must be an audit of other cases; it is of the same data")


def _test_worse(then: Row | None, now: Row | None, alpha: float) -> float | str:
    """The p-value of no change for the worse, one-sided if a side is worse, or why there is none."""
    if then is None or now is None:
        return f"not in {'the earlier' if then is None else 'this'} audit"
    metric = lookup_metric(now.metric)
    if np.isnan(then.score) or np.isnan(now.score):
        return "undefined"
    if not (np.isnan(then.n_effective) and np.isnan(now.n_effective)):
        return "weighted or clustered"
    if not isinstance(metric, Metric) or metric.comparisons or metric.base.curve is None:
        return "Fisher's test needs a rate"
    test = equality_test(metric.base, _cells_of(now), _cells_of(then))
    if (
        sum(sizes := (now.support, then.support)) <= _MANY
        and comb(sum(sizes), sizes[0]) < 2 / alpha
    ):
        return f"too few cases to attain p <= {alpha:g}"
    return float(getattr(test, _WORSE_SIDES.get(metric.better, "pvalues"))[0])


def _cells_of(row: Row) -> Floats:
    """The cells of a row; of selection rates without labels, as if every case were negative."""
    if row.cells is None:
        selected = round((row.score if row.metric == "ppr" else 1 - row.score) * row.support)
        return np.array([[0.0, 0.0, selected, row.support - selected]])
    return np.array([row.cells], dtype=np.float64)


def _describe_worse(then: Row, now: Row, p: float, alpha: float) -> Finding:
    """The finding that a score is worse or, if no direction is, that it changed."""
    was = f"was {number(then.score)} (n = {then.support:,})"
    change = "worse" if lookup_metric(now.metric).better in _WORSE_SIDES else "changed"
    scores = f"{now.metric} {number(now.score)} (n = {now.support:,}), {was}: {change}"
    sentence = f"{legible(now.group)}: {scores}, adjusted p {pvalue(p, alpha)}"
    about = {"at": now.at, "by": now.by, "group": now.group, "metrics": (now.metric,)}
    return make_finding("worse", sentence, **about)
