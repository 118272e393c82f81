"""Gates: whether an audit found what must not be found, or could not look for it.

A gate passes, fails, or could not be evaluated; then it says what it lacks. Tests count at p-values
that are adjusted over the whole audit, by Holm's method, whatever family the verdicts are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, log
from typing import Literal

import numpy as np

from ..arrays import Bools, Floats
from ..data import rule_of
from ..errors import EvenhandError, InvalidInput, UnknownName, brief, escaped
from ..inference import equality_test
from ..metrics import Metric
from ..records import Record
from ..wording import join_and, legible, number, pvalue, several
from .findings import KINDS, Finding, make_finding
from .metric_selection import lookup_metric
from .multiplicity import adjust_holm
from .option_text import as_list
from .result import Audit
from .results_table import Row, place_text
from .settings import WITHOUT_LABELS
from .verdict import Verdict
from .verdicts import margin_of

Outcome = Literal["passed", "failed", "not evaluated"]
Required = Mapping[str, str | Sequence[str]]

ROW_GATES = ("differs", "beyond-margin", "four-fifths", "undefined", "inconclusive")
GATES = (*KINDS, "any")
"""The names of gates: the kinds of findings, and ``any`` for those that are alerts or warnings."""
_DIFFERENCES = ("differs", "beyond-margin")
# Findings about rows of cases, and about facts that rounded counts hide, some only if zeros are hidden.
_OF_CASES = ("left-out", "absent-label", "repeated-rows", "skipped-files")
_HIDDEN = ("repeated-rows", "skipped-files", "absent-label", "similar-groups")
_HIDDEN_ZEROS = ("constant", "left-out", "missing-group")
_NO_VERDICT = (Verdict.UNDEFINED, Verdict.INCONCLUSIVE, Verdict.NOT_TESTED)
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GateResult(Record):
    """The result of one gate.

    Attributes
    ----------
    gate : str
        The kind of finding that must not occur, or ``"require-conclusive"``.
    outcome : {"passed", "failed", "not evaluated"}
        Whether it passed, failed or could not be evaluated.
    rows : tuple of Row
        The rows that made it fail.
    findings : tuple of Finding
        The findings about them.
    sentence : str
        What was covered, and the outcome.

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
    _text: str
    rows: tuple[Row, ...] = ()
    findings: tuple[Finding, ...] = ()
    _derived = ("sentence",)

    @property
    def sentence(self) -> str:
        """What was covered, and the outcome."""
        return self.spelled({})

    def spelled(self, names: Mapping[str, str]) -> str:
        """The sentence with other names for arguments."""
        return EvenhandError(self._text).spelled(names)

    @property
    def lines(self) -> list[str]:
        """The sentence, and the findings that made the gate fail."""
        return [self._text, *(f"- {escaped(finding)}" for finding in self.findings)]

    def __str__(self) -> str:
        return self.sentence


def check_gates(
    audit: Audit,
    gates: Iterable[str],
    require: Required | None = None,
    *,
    require_conclusive: bool = False,
    since: Audit | None = None,
    metrics: Sequence[str] | None = None,
) -> tuple[GateResult, ...]:
    """The results of gates, of which some cover only these metrics."""
    names = [gates] if isinstance(gates, str) else list(gates)
    for name in names:
        if name not in GATES:
            raise UnknownName.among("gate", name, GATES)
    required = _list_required(audit, require)
    if "any" in names:
        names += _list_any(audit)
    names += ["absent-group"] * bool(required) + ["require-conclusive"] * require_conclusive
    names += ["worse"] * (since is not None)
    checker = _Checker(audit, required, since, metrics or audit.settings["metrics"])
    results = tuple(checker.check(name) for name in dict.fromkeys(names) if name != "any")
    if not results:
        raise InvalidInput("name a gate, such as 'differs', or pass `require`")
    return results


def _list_any(audit: Audit) -> list[str]:
    """The kinds that are alerts or warnings; counts have no rows of cases."""
    alerts = [kind for kind, (_, severity) in KINDS.items() if severity != "note"]
    apart = {"absent-group", "worse", *(_OF_CASES if _is_of(audit, "audit_counts") else ())}
    return [kind for kind in alerts if kind not in apart]


def _list_required(audit: Audit, require: Required | None) -> list[tuple[str, str]]:
    """The required groups with their columns."""
    if not isinstance(require, Mapping | None):
        must = "map group columns to groups, as {'region': ['west']}"
        raise InvalidInput(argument="require", must=must, got=require)
    columns = {*audit.table["by"], *(audit.provenance.get("order") or {})}
    for by in require or ():
        if by not in columns:
            raise UnknownName.among("group column in require", by, columns, argument="require")
    named = [(by, str(group)) for by, names in (require or {}).items() for group in as_list(names)]
    return list(dict.fromkeys(named))


def _is_of(audit: Audit, function: str) -> bool:
    return bool(audit.provenance.get("function") == function)


class _Checker:
    """What gates of one audit read."""

    def __init__(
        self,
        audit: Audit,
        required: list[tuple[str, str]],
        since: Audit | None,
        metrics: Sequence[str],
    ) -> None:
        self.audit, self.required, self.since = audit, required, since
        self.metrics = list(metrics)
        self.settings, self.table, self.rows = audit.settings, audit.table, audit.rows
        self.rule = rule_of(self.settings["protect"])
        self.is_covered = np.isin(self.table["metric"].astype(str), self.metrics)
        self.is_tested = ~np.isnan(self.table["p_gate"])
        self.is_found = self.table["p_gate"] <= self.settings["alpha"]

    def check(self, gate: str) -> GateResult:
        """The result of one gate."""
        if lack := self._lack_of(gate):
            return _result(gate, "", lack=f"it needs {lack}")
        if gate == "worse":
            return self._compare_with_before()
        if gate == "absent-group":
            return self._find_absent()
        if gate in ROW_GATES or gate == "require-conclusive":
            return self._check_rows(gate)
        found = [finding for finding in self.audit.findings if finding.kind == gate]
        return _result(gate, "", findings=found)

    def _lack_of(self, gate: str) -> str:
        """What a gate would need that no row can say, "" if there is nothing."""
        is_of_models, rule = _is_of(self.audit, "compare"), self.rule
        measures = [lookup_metric(key) for key in self.settings["metrics"]]
        needs = {
            "rows of cases; the audit is of counts": gate in _OF_CASES
            and _is_of(self.audit, "audit_counts"),
            "what `protect` hides": rule is not None
            and (gate in _HIDDEN or (gate in _HIDDEN_ZEROS and not rule.shows_zero)),
            "an audit of one model": is_of_models
            and gate in ("constant", "spread", "chosen-reference", "repeated-rows", "four-fifths"),
            "a metric of counts": gate in ("constant", "spread")
            and not any(isinstance(metric, Metric) for metric in measures),
            "labels (`y_true`)": gate == "spread" and not self.settings["labelled"],
            "an audit without `strata`": gate in ("spread", "chosen-reference")
            and bool(self.settings["strata"]),
            "two groups": gate == "spread" and not self._has_two_groups(),
            "`favourable`": gate == "four-fifths" and self.settings["favourable"] is None,
            "the metric ppr": gate == "four-fifths" and "ppr" not in self.settings["metrics"],
            "`require`": gate in ("absent-group", "require-conclusive") and not self.required,
            "`since`": gate == "worse" and self.since is None,
        }
        return next((lack for lack, is_lacking in needs.items() if is_lacking), "")

    def _has_two_groups(self) -> bool:
        groups = {(row.by, row.group) for row in self.rows if row.n > 0}
        return len(groups) > len({by for by, _ in groups})

    # Rows

    def _check_rows(self, gate: str) -> GateResult:
        """The result of a gate about rows, which each metric must have that can be evaluated."""
        is_covered = self.is_covered
        if gate == "four-fifths":
            is_covered = np.asarray(self.table["metric"] == "ppr")
        if gate == "require-conclusive":
            is_required = [(row.by, row.group) in self.required for row in self.rows]
            is_covered = is_covered & is_required
        fails, is_evaluable, lack = self._select(gate)
        failing = [self.rows[i] for i in np.flatnonzero(fails & is_covered)]
        metrics = ["ppr"] if gate == "four-fifths" else self.metrics
        evaluable = set(self.table["metric"][is_evaluable & is_covered])
        lacking = [key for key in metrics if key not in evaluable]
        if lack and lacking:
            lack = f"{escaped(join_and(lacking))}: {lack}"
        groups = {(self.rows[i].by, self.rows[i].group) for i in np.flatnonzero(is_covered)}
        about = f"{escaped(', '.join(metrics))} over {several(len(groups), 'group')}"
        is_left = is_covered & ~is_evaluable & (self.table["verdict"] != Verdict.REFERENCE)
        left = f" ({several(int(is_left.sum()), 'row')} could not be tested)"
        return _result(
            gate,
            about,
            rows=failing,
            findings=self._findings_of(gate, failing),
            lack=lack if lacking else "",
            passed=left if is_left.any() else "",
        )

    def _select(self, gate: str) -> tuple[Bools, Bools, str]:
        """Which rows make a gate fail, which it can be evaluated on, and what the others lack."""
        table, verdict = self.table, self.table["verdict"]
        is_listed = verdict != Verdict.REFERENCE
        if gate == "undefined":
            return verdict == Verdict.UNDEFINED, is_listed, "there is no group to compare"
        if gate == "four-fifths":
            fails = np.array([row.is_below_four_fifths for row in self.rows], dtype=bool)
            is_apart = table["impact_group"] != table["group"]
            has_bound = ~np.isnan(table["impact_at_most"]) & is_apart
            return fails, has_bound, "no group has an impact ratio with a bound"
        is_attainable = self.is_tested & ~self._lacks_cases()
        lack = "every comparison is undefined or not tested"
        if (self.is_tested & ~is_attainable).any():
            lack += f", or has no attainable p-value of at most {self.settings['alpha']:g}"
        if gate == "differs":
            return self.is_found, is_attainable, lack
        if gate == "beyond-margin":
            has_bound = ~(np.isnan(table["gap_low"]) & np.isnan(table["gap_high"]))
            no_bound = f"{lack}, or its gap has no bound"
            return self._is_beyond_margin(), is_attainable & has_bound, no_bound
        is_conclusive = self.is_found | (is_listed & ~np.isin(verdict, _NO_VERDICT))
        # What differs in its family, but not in the whole audit, is inconclusive.
        is_conclusive &= ~table.differs | self.is_found
        if gate == "require-conclusive":
            return (
                is_listed & ~is_conclusive,
                np.ones(len(table), dtype=bool),
                "no required group has a row",
            )
        return self.is_tested & ~is_conclusive, self.is_tested, lack

    def _lacks_cases(self) -> Bools:
        """Whether so few cases are compared that no test has a p-value of at most alpha.

        No division of the cases into the group and others is less likely than one in so many.
        """
        sizes = zip(self.table.values("n"), self.table.values("reference_n"), strict=True)
        most = 1 / self.settings["alpha"]
        few = (n + other < most and comb(n + other, n) < most for n, other in sizes)
        return np.fromiter(few, dtype=bool, count=len(self.table))

    def _is_beyond_margin(self) -> Bools:
        """Whether rows differ by more than the margin, at bounds that hold for the whole audit."""
        columns = self.table.columns
        bounds = columns.get("simultaneous_bound", columns["at_least"])
        fails = self.is_found & ~np.isnan(bounds)
        for i in np.flatnonzero(fails):
            row = self.rows[i]
            size = log(bounds[i]) if row.is_ratio else bounds[i]
            fails[i] = size > margin_of(row, self.settings["margin"])
        return fails

    def _findings_of(self, gate: str, rows: Sequence[Row]) -> list[Finding]:
        """The findings about rows."""
        kinds = _DIFFERENCES if gate in _DIFFERENCES else (gate,)
        if gate == "require-conclusive":
            kinds = ("undefined", "inconclusive")
        places = {(str(row.at), row.by, row.group, row.metric) for row in rows}
        return [
            finding
            for finding in self.audit.findings
            if finding.kind in kinds
            and any(
                (str(finding.at), finding.by, finding.group, m) in places for m in finding.metrics
            )
        ]

    # Groups

    def _find_absent(self) -> GateResult:
        """Whether required groups have cases."""
        present = {(row.by, row.group) for row in self.rows if row.n > 0}
        absent = [key for key in self.required if key not in present]
        about = several(len(self.required), "required group")
        if self.rule is not None and absent:
            names = _name_some(f"{group} ({by})" for by, group in absent)
            hidden = f"of {names}, there are no cases or too few to be shown with `protect`"
            return _result("absent-group", about, lack=hidden)
        findings = [
            make_finding(
                "absent-group", f"{brief(group, 60)} of {brief(by, 60)} has no cases", by=by
            )
            for by, group in absent
        ]
        return _result("absent-group", about, findings=findings)

    # Earlier cases

    def _compare_with_before(self) -> GateResult:
        """Whether scores are worse than those of a saved audit of other cases, by Fisher's test."""
        assert self.since is not None
        _check_since(self.audit, self.since)
        now, then = _rows_by_place(self.audit), _rows_by_place(self.since)
        known = {*self.metrics, *self.since.settings["metrics"]}
        if len(self.metrics) < len(self.settings["metrics"]):
            known = set(self.metrics)
        keys = [key for key in now | then if key[-1] in known]
        tests = {key: _test_worse(then.get(key), now.get(key)) for key in keys}
        pvalues = {key: test for key, test in tests.items() if isinstance(test, float)}
        adjusted = adjust_holm(np.array([*pvalues.values()]))
        fails = {
            key: float(p)
            for key, p in zip(pvalues, adjusted, strict=True)
            if p <= self.settings["alpha"]
        }
        lacks = [
            f"{key[-1]} of {key[-2]} ({test})"
            for key, test in tests.items()
            if isinstance(test, str)
        ]
        lack = f"{several(len(lacks), 'score')}: {_name_some(lacks)}" if lacks else ""
        metrics = dict.fromkeys(key[-1] for key in keys)
        groups = {key[1:3] for key in keys}
        made = str(self.since.provenance.get("made") or "").partition("T")[0]
        about = f"{escaped(', '.join(metrics))} over {several(len(groups), 'group')}"
        return _result(
            "worse",
            escaped(f"{about} since the audit of {made}"),
            rows=[now[key] for key in fails],
            findings=[self._describe_worse(then[key], now[key], p) for key, p in fails.items()],
            lack=lack,
        )

    def _describe_worse(self, then: Row, now: Row, p: float) -> Finding:
        scores = f"{now.metric} {number(now.score)} (n = {now.support:,}), was {number(then.score)}"
        change = "worse" if _worse_side(now.metric) else "changed"
        test = f"adjusted p {pvalue(p, self.settings['alpha'])}"
        sentence = f"{legible(now.group)}: {scores} (n = {then.support:,}): {change}, {test}"
        about = {"at": now.at, "by": now.by, "group": now.group, "metrics": (now.metric,)}
        return make_finding("worse", sentence, **about)


def _result(
    gate: str,
    about: str,
    *,
    rows: Sequence[Row] = (),
    findings: Sequence[Finding] = (),
    lack: str = "",
    passed: str = "",
) -> GateResult:
    """The result of a gate, which fails by rows or findings, and passes only if it lacks nothing."""
    name = f"gate {gate}: {about}: " if about else f"gate {gate}: "
    noun, found = ("row", rows) if rows else ("finding", findings)
    outcome: Outcome = "failed" if found else "not evaluated" if lack else "passed"
    text = {
        "failed": f"failed ({several(len(found), noun)})" + f"; not evaluated: {lack}" * bool(lack),
        "not evaluated": f"could not be evaluated: {lack}",
        "passed": f"passed{passed}",
    }[outcome]
    return GateResult(
        gate=gate, outcome=outcome, _text=name + text, rows=tuple(rows), findings=tuple(findings)
    )


def _name_some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - _MOST_NAMED
    shown = listed[:_MOST_NAMED] + [f"{more:,} more"] * (more > 0)
    return escaped(join_and(shown))


# Scores of earlier cases

Place = tuple[str, str, str, str]


def _rows_by_place(audit: Audit) -> dict[Place, Row]:
    """The rows by place, column, group and metric, but for those that pool strata."""
    rows = (row for row in audit.rows if not row.is_pooled)
    return {(place_text(row.at), row.by, row.group, row.metric): row for row in rows}


def _check_since(now: Audit, then: Audit) -> None:
    """Refuse audits whose scores cannot be those of other cases, asked the same."""
    if not isinstance(then, Audit):
        raise InvalidInput(argument="since", must="be an Audit", got=then)
    for audit in (now, then):
        if audit.settings["protect"] is not None:
            reason = "changes of rounded counts have no bound"
            raise InvalidInput(f"`protect` and `since` cannot be combined: {reason}")
        if _is_of(audit, "compare"):
            raise InvalidInput("`since` compares audits of one model, not those of `compare`")
    for name in ("positive", "threshold"):
        values = [audit.provenance.get(name) for audit in (now, then)]
        if all(values) and values[0] != values[1]:
            was = f"`{name}` must be as in the audit of `since`"
            raise InvalidInput(f"{was}; got {brief(values[0])} and {brief(values[1])}")
    digests = [(audit.provenance.get("source") or {}).get("sha256") for audit in (now, then)]
    cells = [
        {key: (row.score, row.support) for key, row in _rows_by_place(audit).items()}
        for audit in (now, then)
    ]
    if (digests[0] and digests[0] == digests[1]) or str(cells[0]) == str(cells[1]):
        raise InvalidInput("`since` must be an audit of other cases; this one is of the same data")


def _worse_side(key: str) -> str:
    """Which side of a score is worse: lower or higher, "" if that is not known."""
    return {"higher": "lower", "lower": "upper"}.get(lookup_metric(key).better, "")


def _test_worse(then: Row | None, now: Row | None) -> float | str:
    """The p-value of no change for the worse, one-sided if a side is worse, or why there is none."""
    if then is None or now is None:
        return f"not in {'the earlier' if then is None else 'this'} audit"
    metric = lookup_metric(now.metric)
    if np.isnan(then.score) or np.isnan(now.score):
        return "undefined"
    if not (np.isnan(then.n_effective) and np.isnan(now.n_effective)):
        return "weighted or clustered cases"
    is_testable = isinstance(metric, Metric) and not metric.comparisons
    if not is_testable or metric.base.curve is None:
        return "no rate, which Fisher's test needs"
    test = equality_test(metric.base, _cells_of(now), _cells_of(then))
    return float(getattr(test, _worse_side(now.metric) or "pvalues")[0])


def _cells_of(row: Row) -> Floats:
    """The cells of a row; of selection rates without labels, as if every case were negative."""
    if row.cells is None and row.metric in WITHOUT_LABELS:
        share = row.score if row.metric == "ppr" else 1 - row.score
        selected = round(share * row.support)
        return np.array([[0.0, 0.0, selected, row.support - selected]])
    return np.array([row.cells], dtype=np.float64)
