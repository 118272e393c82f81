"""The main results of an audit: one sentence per finding, with a stable code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, floor
from typing import Any, Literal

from ..errors import InvalidInput, UnknownName, printable
from ..inference import FEWEST_GROUPS, FOUR_FIFTHS, spread_of
from ..metrics import metric as find_metric
from ..records import Record
from ..tabulate import Tally
from .groups import EMPTY, MISSING, Grouping, favourable_rates, reference_of
from .row import Row, check_types, labels
from .settings import Chosen, Settings
from .verdict import Verdict

__all__ = ["KINDS", "Finding", "find", "number", "pvalue", "rounded_down", "several"]

Severity = Literal["alert", "warning", "note"]

KINDS: dict[str, tuple[str, Severity]] = {
    "constant": ("EH001", "warning"),
    "differs": ("EH101", "alert"),
    "four-fifths": ("EH102", "warning"),
    "may-be-below-four-fifths": ("EH103", "note"),
    "undefined": ("EH201", "warning"),
    "too-few": ("EH202", "note"),
    "spread": ("EH203", "warning"),
    "left-out": ("EH301", "warning"),
    "missing-group": ("EH302", "note"),
    "absent-label": ("EH303", "note"),
    "chosen-reference": ("EH304", "note"),
}
"""The kinds of findings with their codes and severities, which do not change once released."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding(Record):
    """One finding of an audit.

    Attributes
    ----------
    kind : str
        What was found, such as ``"differs"`` or ``"too-few"``.
    code : str
        A stable code, such as ``"EH101"``.
    severity : {"alert", "warning", "note"}
        The severity.
    by, group : str or None
        The column and the group that it is about, if any.
    metrics : tuple of str
        The keys of the metrics that it is about.
    sentence : str
        The finding in words.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> f = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr").findings[0]
    >>> f.severity, f.code, f.kind, f.group, f.metrics
    ('note', 'EH202', 'too-few', 'A', ('tpr',))
    """

    kind: str
    code: str
    severity: Severity
    by: str | None
    group: str | None
    metrics: tuple[str, ...]
    sentence: str

    @classmethod
    def checked(cls, values: Any, what: str) -> Finding:
        """The finding that `to_dict` gave; ``what`` is it in error messages."""
        check_types(cls, values, what)
        if values["kind"] not in KINDS:
            raise UnknownName.among("kind of finding", values["kind"], KINDS)
        code, severity = KINDS[values["kind"]]
        if (values["code"], values["severity"]) != (code, severity):
            raise InvalidInput(f"{what} must have the code {code} and the severity {severity}, as its kind has")
        return cls(**values | {"metrics": tuple(values["metrics"])})

    def __str__(self) -> str:
        return printable(f"{self.severity} {self.code}: {self.sentence}")


def _finding(kind: str, sentence: str, rows: Iterable[Row] = (), by: str | None = None) -> Finding:
    code, severity = KINDS[kind]
    about = list(rows)
    return Finding(
        kind=kind,
        code=code,
        severity=severity,
        by=about[0].by if about else by,
        group=about[0].group if about else None,
        metrics=tuple(row.metric for row in about),
        sentence=sentence,
    )


def find(rows: tuple[Row, ...], tally: Tally, groupings: Sequence[Grouping], how: Settings) -> tuple[Finding, ...]:
    """All findings: differences by the size of the gap that is certain, then undefined scores, then too few cases.

    What is wrong with the data as a whole comes first.
    """
    called = labels(rows)
    findings = list(_constants(tally, how))
    findings += [_differs(row, called[row.by, row.group], how) for row in rows if row.differs]
    findings += [
        _four_fifths(row, called[row.by, row.group], how)
        for row in rows
        if row.impact_ratio is not None and row.impact_high is not None and _below_four_fifths(row.impact_ratio)
    ]
    findings += [_undefined(row, called[row.by, row.group]) for row in rows if row.verdict is Verdict.UNDEFINED]
    few: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.verdict is Verdict.TOO_FEW:
            few.setdefault((row.by, row.group), []).append(row)
    findings += [_too_few(same, called[key], how.margin) for key, same in few.items()]
    if tally.labelled:
        findings += _spreads(groupings)
    findings += _left_out(tally, how)
    findings += [
        _finding(
            "missing-group",
            f"{several(n, 'case')} {'has' if n == 1 else 'have'} no value for {by} and "
            f"{'forms a group of its own' if n == 1 else 'form a group of their own'}, "
            f"{how.names.get(by, {}).get(MISSING, MISSING)}",
            by=by,
        )
        for i, by in enumerate(tally.columns)
        if (n := int(sum(cm.n for key, cm in tally.cells.items() if key[i] is None)))
    ]
    findings += [
        _finding("absent-label", f"{value!r} was given as a positive label and does not occur")
        for value in tally.absent
    ]
    return (*findings, *_chosen_references(groupings, how))


def _constants(tally: Tally, how: Settings) -> Iterator[Finding]:
    """Labels or predictions that are the same for everybody."""
    tp, fn, fp, tn = tally.total.cells
    others = sum(tally.unlabelled.values(), EMPTY) if how.selection == "all" else EMPTY
    columns = {"prediction": (tp + fp + others.fp, fn + tn + others.tn)}
    columns |= {"label": (tp + fn, fp + tn)} if tally.labelled else {}
    for what, (positive, negative) in columns.items():
        if not positive or not negative:
            sign = "positive" if positive else "negative"
            cause = "threshold" if what == "prediction" and tally.threshold is not None else "positive labels"
            yield _finding(
                "constant",
                f"Every {what} of all {several(int(positive + negative), 'case')} is {sign}; unless that is so, check "
                f"the column or the {cause}",
            )


def _spreads(groupings: Sequence[Grouping]) -> Iterator[Finding]:
    for grouping in groupings:
        if len(grouping.members) < FEWEST_GROUPS:
            continue
        spread = spread_of(grouping.members)
        if spread.too_much:
            yield _finding(
                "spread",
                f"Groups of {grouping.name} differ so much in {find_metric(spread.widest).name.lower()} that smoothed "
                "scores may be worse than raw ones",
                by=grouping.name,
            )


_LACKING = {"y_true": "a label", "y_pred": "a prediction", "y_true and y_pred": "a label and a prediction"}


def _left_out(tally: Tally, how: Settings) -> Iterator[Finding]:
    for what, n in tally.left_out.items():
        words = [word for column, word in tally.words.items() if column in what]
        read = f" (read as missing: {', '.join(dict.fromkeys(', '.join(map(repr, w)) for w in words if w))})"
        without = f"{several(n, 'row')} without {_LACKING[what]}{read if any(words) else ''}"
        if what == "y_true" and how.selection == "all":
            yield _finding("left-out", f"{without} {'counts' if n == 1 else 'count'} for selection rates only")
        else:
            yield _finding("left-out", f"{without} {'was' if n == 1 else 'were'} left out")


def _chosen_references(groupings: Sequence[Grouping], how: Settings) -> Iterator[Finding]:
    """A reference that was chosen for its score is extreme by choice, which p-values do not take into account."""
    for grouping in groupings:
        rates = favourable_rates(grouping.members, how)
        asked = reference_of(grouping, how.reference)
        if asked == Chosen.BEST and grouping.find(asked) is None and len(set(rates.values())) > 1:
            yield _finding(
                "chosen-reference",
                f"{max(rates, key=lambda name: rates[name])} was chosen as the reference of {grouping.name} for its "
                "high rate of favourable predictions, which makes differences in that rate look larger and more "
                "certain than they are",
                by=grouping.name,
            )


def _differs(row: Row, who: str, how: Settings) -> Finding:
    span = f" ({100 * how.level:g} % interval {number(row.low)} to {number(row.high)})" if row.low is not None else ""
    name = find_metric(row.metric).name
    if row.difference is None:
        gap = "more than chance explains" if find_metric(row.metric).is_distance else f"{row.verdict} than no gap"
    else:
        gap = f"{number(abs(row.difference))} {_way(row.difference)} than the reference's {number(row.reference_score)}"
    sure = _sure(row, how)
    p = f"{'p' if how.adjust == 'none' else 'adjusted p'} {pvalue(row.p_adjusted)}"
    return _finding("differs", f"{name} of {who} is {number(row.score)}{span}, {gap}{sure}; {p}{_driven(row)}", [row])


def rounded_down(value: float) -> str:
    """A number as text that is not more than the number: three decimals, or a whole number if it is large."""
    if value >= 100:
        return f"{floor(value):,}"
    return number(floor(1000 * value) / 1000 if value >= 0.001 else value)


def _below_four_fifths(ratio: float) -> bool:
    # A ratio of exactly 4/5 may be computed as a little less.
    return ratio < FOUR_FIFTHS * (1 - 1e-12)


def _way(difference: float) -> str:
    return "higher" if difference > 0 else "lower"


def _sure(row: Row, how: Settings) -> str:
    """How much of the gap is certain, or that all of it is small."""
    gap = row.gap
    if gap is None or row.sure_gap == 0:
        return ""
    if row.ratio_low is not None or find_metric(row.metric).kind == "ratio":
        return f", surely by a factor of at least {rounded_down(exp(row.sure_gap))}"
    if max(abs(gap[0]), abs(gap[1])) <= how.margin:
        return f", surely by less than {how.margin:g}"
    return f", surely by at least {rounded_down(row.sure_gap)}"


def _driven(row: Row) -> str:
    if row.driver is None:
        return ""
    gap = "" if row.without_difference is None else f" (gap {row.without_difference:+.3f})"
    return f". Without {row.driver} in the reference the verdict would be: {row.without_verdict}{gap}"


def _four_fifths(row: Row, who: str, how: Settings) -> Finding:
    surely = row.impact_high is not None and _below_four_fifths(row.impact_high)
    what = "selected" if how.favourable == "positive" else "spared"
    verb = "is below" if surely else "may be below"
    return _finding(
        "four-fifths" if surely else "may-be-below-four-fifths",
        f"{who} is {what} at {number(row.impact_ratio)} times the rate of {row.impact_group} "
        f"({several(row.impact_n or 0, 'case')}), which {verb} four fifths: {100 * how.level:g} % interval "
        f"{number(row.impact_low)} to {number(row.impact_high)}",
        [row],
    )


def _undefined(row: Row, who: str) -> Finding:
    likely = (
        f"; the probability of that was {100 * row.p_undefined:.3g} %"
        if row.p_undefined and row.lacks_own_score
        else ""
    )
    name = find_metric(row.metric).name
    return _finding("undefined", f"{name} of {who} cannot be compared: {row.reason}{likely}", [row])


def _too_few(rows: list[Row], who: str, margin: float) -> Finding:
    of = [f"{row.metric} ({row.basis:,})" for row in rows]
    judged = [find_metric(row.metric) for row in rows]
    on_ratio = any(m.kind == "ratio" or (not m.kind and m.base.unbounded) for m in judged)
    ratios = " (ratios: 0.8 to 1.25)" if on_ratio else ""
    return _finding(
        "too-few",
        f"Too few cases to tell for {who} ({several(rows[0].n, 'case')}): {', '.join(of)}; no difference was found, "
        f"and none of these gaps surely lies within ±{margin:g}{ratios}. In brackets the cases each score rests on"
        f"{_more(rows, margin)}",
        rows,
    )


def _more(rows: list[Row], margin: float) -> str:
    """How many more cases would be enough, where that is known."""
    more = [
        f"{row.needed - row.basis:,} more for {row.metric}"
        for row in rows
        if row.needed is not None and row.needed > row.basis
    ]
    if not more:
        return ""
    gap = (
        f"a gap of {margin:g} (ratios: a factor of 1.25)"
        if any(_on_ratio(row) for row in rows)
        else f"a gap of {margin:g}"
    )
    return f"; {', '.join(more)} would find {gap} with a probability of 80 %"


def _on_ratio(row: Row) -> bool:
    return find_metric(row.metric).kind == "ratio"


def several(n: int, what: str) -> str:
    """A count with its noun: ``1 row``, ``2 rows``."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def number(value: float | None) -> str:
    """A score as text: three decimals, or three significant digits of large values."""
    if value is None:
        return "none"
    if value == 0 or 0.001 <= abs(value) < 100:
        return f"{value + 0.0:.3f}"
    return f"{value:.2g}" if abs(value) < 0.001 else f"{value:.3g}"


def pvalue(value: float | None) -> str:
    """A p-value as text, with its relation: ``= 0.012`` or ``< 0.001``."""
    return "none" if value is None else "< 0.001" if value < 0.001 else f"= {value:.3f}"
