"""The main results of an audit: one sentence per finding, with a stable code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ..data import Tally, similar_names
from ..errors import InvalidInput, brief, printable
from ..inference import FOUR_FIFTHS, Spread
from ..metrics import Metric, metric as find_metric
from ..records import Record, read_record
from ..wording import (
    counts_text,
    join_and,
    legible,
    number,
    percent,
    pvalue,
    rounded_down,
    rounded_up,
    several,
    span_text,
)
from .comparisons import MIN_SHARE, Comparisons, favourable_rates
from .margins import margin_of, margins_text
from .metric_selection import Measurable, lookup_metric
from .rows import Place, Row, place_text, told_apart
from .sentences import gap_change, turning_text
from .settings import WITHOUT_LABELS, Settings
from .verdict import Verdict
from .wording import Words

__all__ = ["INCLUDED", "KINDS", "SEVERITIES", "Finding", "find", "read_finding"]

Severity = Literal["alert", "warning", "note"]
SEVERITIES = get_args(Severity)
"""How severe findings are, most severe first."""
_MOST_SPELLINGS = 8

KINDS: dict[str, tuple[str, Severity]] = {
    "constant": ("EH001", "warning"),
    "differs": ("EH101", "alert"),
    "beyond-margin": ("EH104", "alert"),
    "base-rate": ("EH105", "note"),
    "selection-rate": ("EH106", "warning"),
    "four-fifths": ("EH102", "warning"),
    "undefined": ("EH201", "warning"),
    "too-few": ("EH202", "note"),
    "spread": ("EH203", "warning"),
    "left-out": ("EH301", "warning"),
    "missing-group": ("EH302", "note"),
    "absent-label": ("EH303", "note"),
    "chosen-reference": ("EH304", "note"),
    "weighted": ("EH305", "note"),
    "not-pooled": ("EH306", "note"),
    "repeated-rows": ("EH002", "warning"),
    "skipped-files": ("EH307", "note"),
    "similar-groups": ("EH003", "warning"),
    "protected": ("EH308", "note"),
}
"""The kinds of findings with their codes and severities, which do not change once released."""
INCLUDED = {"differs": ("beyond-margin",)}
"""Kinds that are meant by the name of a weaker one."""


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
    at : dict of str to object
        Where on the axes it is, as for `Row`.
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
    at: Place
    by: str | None
    group: str | None
    metrics: tuple[str, ...]
    sentence: str

    def __str__(self) -> str:
        place = f"{place_text(self.at)}: " if self.at else ""
        return printable(f"{self.severity} {self.code}: {place}{self.sentence}")


def read_finding(values: Any, what: str) -> Finding:
    """The finding that `to_dict` gave, checked; ``what`` is it in error messages."""
    found = read_record(Finding, values, what)
    if found.kind not in KINDS:
        raise InvalidInput(f"the kind of {what} must be one of {', '.join(KINDS)}; got {found.kind!r}")
    code, severity = KINDS[found.kind]
    if (found.code, found.severity) != (code, severity):
        raise InvalidInput(f"{what} must have the code {code} and the severity {severity}, as its kind has")
    return found


def _finding(
    kind: str,
    sentence: str,
    rows: Iterable[Row] = (),
    by: str | None = None,
    at: Place | None = None,
    metrics: tuple[str, ...] = (),
) -> Finding:
    code, severity = KINDS[kind]
    about = list(rows)
    return Finding(
        kind=kind,
        code=code,
        severity=severity,
        at=about[0].at if about else at or {},
        by=about[0].by if about else by,
        group=about[0].group if about else None,
        metrics=tuple(row.metric for row in about) or metrics,
        sentence=sentence,
    )


def find(
    rows: Sequence[Row], tally: Tally, comparisons: Sequence[Comparisons], how: Settings, metrics: Sequence[Measurable]
) -> tuple[Finding, ...]:
    """All findings: differences by how large the gap is at least, then undefined scores, then too few cases.

    What is wrong with the data as a whole comes first.
    """
    called = told_apart(rows)
    # Of rounded counts, 0 may stand for others.
    findings = list(_constants(tally, how)) if tally.rule is None or tally.rule.shows_zero else []
    findings += [_differs(row, called[row.by, row.group], how, tally.labelled) for row in rows if row.differs]
    findings += [
        _four_fifths(row, called[row.by, row.group], how)
        for row in rows
        if row.impact is not None and row.impact.is_below
    ]
    findings += [_undefined(row, called[row.by, row.group]) for row in rows if row.verdict is Verdict.UNDEFINED]
    few: dict[Any, list[Row]] = {}
    # Scores made of several rates are not judged from rounded counts, however many cases there are.
    unjudged = () if how.rule is None else _unjudged(rows)
    for row in rows:
        if row.verdict is Verdict.INCONCLUSIVE and row.metric not in unjudged:
            few.setdefault((tuple(row.at.items()), row.by, row.group), []).append(row)
    findings += [_too_few(same, called[key[1:]], how.margin) for key, same in few.items()]
    if tally.labelled:
        findings += _spreads(comparisons)
    findings += _not_pooled(comparisons, metrics)
    findings += _left_out(tally, how)
    findings += _weighted(tally)
    findings += _missing_groups(comparisons[0], how)
    findings += _repeated(tally)
    findings += _skipped_files(tally)
    if tally.rule is None:
        findings += _similar_groups(tally)
    else:
        said = tally.rule.sentence
        if unjudged:
            said += f" {join_and(unjudged)}: not judged, as no bound holds for all tables behind rounded ones"
        findings.append(_finding("protected", said.removesuffix(".")))
    findings += [
        _finding("absent-label", f"{value!r} was given as a positive label and does not occur")
        for value in tally.absent
    ]
    return (*findings, *_chosen_references(comparisons, how))


def _missing_groups(comparisons: Comparisons, how: Settings) -> Iterator[Finding]:
    """Cases without a group, which are compared with nobody."""
    for grouping in comparisons.groupings:
        n = int(comparisons.sizes_of_keys[grouping.codes < 0].sum())
        if len(grouping.columns) == 1 and n:
            have, they = ("has", "it is") if n == 1 else ("have", "they are")
            about = "" if how.rule is None else "About "
            yield _finding(
                "missing-group",
                f"{about}{Words.of(how.recorded()).several(n)} {have} no known {grouping.name}: {they} in no group and "
                "in no reference",
                by=grouping.name,
            )


def _unjudged(rows: Sequence[Row]) -> list[str]:
    """The metrics that get no verdict from rounded counts."""
    metrics = {row.metric: lookup_metric(row.metric) for row in rows}
    return [key for key, m in metrics.items() if not (isinstance(m, Metric) and m.base.curve and not m.is_distance)]


def _weighted(tally: Tally) -> Iterator[Finding]:
    """Weighted cases are worth fewer, and what is exact for counts is not for them."""
    if tally.weighted:
        n = round(tally.weighted["n"])
        verb = "is" if n == 1 else "are"
        yield _finding(
            "weighted",
            f"{several(n, 'case')} {verb} weighted: tests and intervals use effective sample sizes and are "
            "approximate; they assume that a group's heaviest cases were sampled",
        )


def _not_pooled(comparisons: Sequence[Comparisons], metrics: Sequence[Measurable]) -> Iterator[Finding]:
    """Scores that no exact test pools over strata."""
    if not any(part.is_pooled for part in comparisons):
        return
    for m in metrics:
        if isinstance(m, Metric) and (m.comparisons or m.base.curve is None):
            why = (
                f"it compares two groups; pool {m.base.key}" if m.comparisons else "it does not depend on one rate only"
            )
            yield _finding("not-pooled", f"{m.key} is not pooled over strata: {why}", metrics=(m.key,))


def _constants(tally: Tally, how: Settings) -> Iterator[Finding]:
    """Labels or predictions that are the same for everybody."""
    if tally.counts is None:
        return
    decided = tally.counts if tally.selections is None else tally.selections
    for place, values in enumerate(tally.places):
        tp, fn, fp, tn = decided.cells[place].sum(axis=0).tolist()
        columns = {"prediction": (tp + fp, fn + tn)}
        if tally.labelled:
            tp, fn, fp, tn = tally.counts.cells[place].sum(axis=0).tolist()
            columns["label"] = (tp + fn, fp + tn)
        for what, (positive, negative) in columns.items():
            if not positive or not negative:
                sign = "positive" if positive else "negative"
                by_score = tally.threshold is not None or "threshold" in dict(values)
                cause = "threshold" if what == "prediction" and by_score else "positive labels"
                yield _finding(
                    "constant",
                    f"Every {what} of all {several(int(positive + negative), 'case')} is {sign}; if that is not so, "
                    f"check the column or the {cause}",
                    at=dict(values),
                )


def _spreads(comparisons: Sequence[Comparisons]) -> Iterator[Finding]:
    for part in comparisons:
        if part.source != "counts" or part.strata:
            continue
        for rows, _ in part.columns(part.counts.cells):
            spread = Spread(*part.spreads[rows[0]].tolist())
            if spread.too_much:
                by = part.groupings[part.grouping[rows[0]]].name
                yield _finding(
                    "spread",
                    f"Groups of {by} differ so much in {find_metric(spread.widest).name.lower()} that "
                    "smoothed scores may be worse than raw ones",
                    by=by,
                    at=part.axis_values(int(rows[0])),
                )


def _repeated(tally: Tally) -> Iterator[Finding]:
    """The same people, or whatever a column identifies, in several rows."""
    if tally.repeated is not None:
        column, rows, values = tally.repeated
        yield _finding(
            "repeated-rows",
            f"{column!r} has {values:,} values in the first {several(rows, 'row')}, several rows each, and each row is "
            "taken as an independent case. If those of the same value resemble each other, differences are less "
            f"certain than stated here: name what is independent, with --cluster {column} or cluster={column!r}",
        )


def _similar_groups(tally: Tally) -> Iterator[Finding]:
    """Groups that a reader takes for one."""
    keys = tally.keys
    for i, column in enumerate(tally.columns):
        for alike in similar_names({key[i] for key in keys}):
            # Written so that what cannot be seen can be told apart.
            shown = [brief(text, 60) if text.isascii() else ascii(text[:60]) for text in alike[:_MOST_SPELLINGS]]
            more = len(alike) - len(shown)
            names = f"{', '.join(shown)} and {more:,} more" if more else f"{', '.join(shown[:-1])} and {shown[-1]}"
            yield _finding(
                "similar-groups",
                f"{names} in {column!r} look like one group, and are {len(alike):,}; correct the data, or pass "
                "merge_variants=True (--merge-variants), which joins those that differ in case, white space or "
                "encoding only",
                by=column,
            )


def _skipped_files(tally: Tally) -> Iterator[Finding]:
    """Files in a folder that are not data."""
    skipped = tally.source.get("skipped")
    if skipped:
        read = tally.source["files"]
        yield _finding(
            "skipped-files",
            f"{several(read, 'file')} in the folder {'was' if read == 1 else 'were'} read, and {skipped:,} skipped, "
            "whose names begin with _ or . or are not those of Parquet files",
        )


_LACKING = {
    "y_true": "a label",
    "y_pred": "a prediction",
    "y_score": "a score",
    "sample_weight": "a weight",
    "cluster": "a cluster",
}


def _left_out(tally: Tally, how: Settings) -> Iterator[Finding]:
    for what, n in tally.left_out.items():
        words = [word for column, word in tally.missing_words.items() if column in what]
        read = f" (read as missing: {', '.join(dict.fromkeys(', '.join(map(repr, w)) for w in words if w))})"
        # A model may have any name.
        parts = re.split(r" and (?=y_true|y_pred|y_score|sample_weight|cluster|prediction of )", what)
        lacking = " and ".join(_LACKING.get(name, f"a {name}") for name in parts)
        without = f"{several(n, 'row')} without {lacking}{read if any(words) else ''}"
        if what == "y_true" and tally.selections is not None:
            yield _finding("left-out", f"{without} {'counts' if n == 1 else 'count'} for selection rates only")
        else:
            yield _finding("left-out", f"{without} {'was' if n == 1 else 'were'} left out")


def _chosen_references(comparisons: Sequence[Comparisons], how: Settings) -> Iterator[Finding]:
    """A reference that was chosen for its score is extreme by choice, which p-values do not take into account."""
    for part in comparisons:
        if part.source != "counts" or part.strata:
            continue
        for rows, cells in part.columns(part.counts.cells):
            first = int(rows[0])
            rates = favourable_rates(cells[part.group[rows]], how) if part.is_chosen[first] else np.zeros(1)
            if len(np.unique(rates[~np.isnan(rates)])) > 1:
                by = part.groupings[part.grouping[first]].name
                yield _finding(
                    "chosen-reference",
                    f"{part.references[part.reference_index[first]].name} was chosen as the reference of {by} for "
                    "its high rate of favourable predictions, which makes differences in that rate and in others look "
                    "larger than they are, so that none of them is tested",
                    by=by,
                    at=part.axis_values(first),
                )


def _differs(row: Row, who: str, how: Settings, labelled: bool) -> Finding:
    name = lookup_metric(row.metric).name
    p = f"{'p' if how.adjust == 'none' else 'adjusted p'} {pvalue(row.test.p_adjusted, how.alpha)}"
    turning = f". {said.removesuffix('.')}" if (said := turning_text(row, how.recorded())) else ""
    return _finding(
        _kind(row, how, labelled),
        f"{name} of {who} {_changed(row, how) if row.is_change else _apart(row, how)}; {p}{_driven(row)}{turning}",
        [row],
    )


def _kind(row: Row, how: Settings, labelled: bool) -> str:
    """What a difference is about: people, decisions or, beyond the margin or not, errors."""
    m = lookup_metric(row.metric)
    if getattr(m, "is_base_rate", False):
        return "base-rate"
    if labelled and row.metric in WITHOUT_LABELS:
        return "selection-rate"
    return "beyond-margin" if row.gap.beyond > margin_of(row.gap, m, how.margin) else "differs"


def _apart(row: Row, how: Settings) -> str:
    """What the score is, and how far from the reference's."""
    score, level = row.score, percent(how.confidence_level)
    span = f" ({level} interval {number(score.low)} to {number(score.high)})" if score.low is not None else ""
    return f"is {number(score.value)}{span}, {_than(row)}{_sure(row, how)}"


def _changed(row: Row, how: Settings) -> str:
    """How the scores of a group and of its reference go from one model to another, and what that makes of the gap."""
    score, theirs = row.score, row.reference
    span = f"{score.value:+.3f}, {percent(how.confidence_level)} interval {span_text(score.low, score.high)}"
    sure = _sure(row, how).removeprefix(", by ").strip(" ()")
    return (
        f"goes from {number(score.before)} to {number(score.after)} ({span}), and that of the reference from "
        f"{number(theirs.before)} to {number(theirs.after)}; {gap_change(row, sure)}"
    )


def _than(row: Row) -> str:
    """How the score lies to the reference's."""
    gap, theirs = row.gap, number(row.reference.score)
    if row.verdict is Verdict.UNLIKE:
        return f"and the group is not drawn like the reference, whose score is {theirs}"
    if gap.kind == "odds ratio":
        odds = f"{row.verdict} than" if gap.value is None else f"{number(gap.value)} times"
        return f"its odds {odds} the reference's within strata"
    if gap.difference is None:
        m = lookup_metric(row.metric)
        return "more than chance explains" if getattr(m, "is_distance", False) else f"{row.verdict} than no gap"
    if gap.is_ratio and gap.value is not None:
        return f"{number(gap.value)} times the reference's {theirs}"
    way = "higher" if gap.difference > 0 else "lower"
    return f"{number(abs(gap.difference))} {way} than the reference's {theirs}"


def _sure(row: Row, how: Settings) -> str:
    """How large the gap is at least, or that all of it is small."""
    gap = row.gap
    margin = margin_of(gap, lookup_metric(row.metric), how.margin)
    if gap.within <= margin and not gap.is_ratio:
        return f", by less than {margin:g}"
    if gap.at_least is None:
        what = "ratio" if gap.is_ratio else "gap"
        return (
            f" ({percent(how.confidence_level)} interval of the {what} {span_text(gap.low, gap.high)})"
            if gap.ends
            else ""
        )
    least = rounded_down(gap.at_least)
    if not gap.is_ratio:
        return f", by at least {least}"
    return f", {'' if gap.difference is None else f'{row.verdict} '}by a factor of at least {least}"


def _driven(row: Row) -> str:
    if row.driver is None:
        return ""
    difference = row.driver.gap.difference
    gap = "" if difference is None else f" (gap {difference:+.3f})"
    without = f". If {legible(row.driver.group)} were left out of the comparison"
    return f"{without}, the verdict would be: {row.driver.verdict}{gap}"


def _four_fifths(row: Row, who: str, how: Settings) -> Finding:
    impact = row.impact
    assert impact is not None
    assert impact.at_most is not None
    words = Words.of(how.recorded())
    about = "the " if how.rule is None else "about "
    return _finding(
        "four-fifths",
        f"The share of {words.cases} in {who} {words.pronoun} {words.decided(str(how.favourable))} is "
        f"{number(impact.ratio)} times the highest{_eligible(how)}, that of {about}{impact.n:,} {words.cases} in "
        f"{legible(impact.group)}; "
        f"the true ratio is at most {rounded_up(impact.at_most, FOUR_FIFTHS)}, below four fifths",
        [row],
    )


def _eligible(how: Settings) -> str:
    """Among which groups the highest rate is looked for."""
    return f" of groups with at least {percent(MIN_SHARE)} of the cases"


def _undefined(row: Row, who: str) -> Finding:
    likely = (
        f"; the probability of that was {100 * row.p_undefined:.3g}%" if row.p_undefined and row.lacks_own_score else ""
    )
    name = lookup_metric(row.metric).name
    return _finding("undefined", f"{name} of {who} cannot be compared: {row.reason}{likely}", [row])


def _too_few(rows: list[Row], who: str, margin: float) -> Finding:
    of = [f"{row.metric} ({counts_text(row.rests_on)})" for row in rows]
    return _finding(
        "too-few",
        f"Too few cases to tell for {who} ({several(rows[0].n, 'case')}): {', '.join(of)}; no difference was found, "
        f"and gaps beyond {margins_text(rows, margin)} remain possible. In brackets the cases each score rests on"
        f"{_more(rows, margin)}",
        rows,
    )


def _more(rows: list[Row], margin: float) -> str:
    """How many more cases would be enough, where that is known."""
    lacking = [(row, row.needed - min(row.rests_on)) for row in rows if row.needed is not None]
    short = [(row, n) for row, n in lacking if n > 0]
    if not short:
        return ""
    gap = f"a gap of {margin:g}"
    if any(row.gap.is_ratio for row, _ in short):
        gap += " (ratios: a factor of 1.25)"
    more = ", ".join(f"{n:,} more for {row.metric}" for row, n in short)
    return f"; {more} would find {gap} with a probability of 80%"
