"""The main results of an audit: one sentence per finding, with a stable code.

Sentences about rows are written by the reports; those about the data stand here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np

from ..arrays import Floats
from ..data import Tally, similar_names
from ..errors import brief, printable
from ..inference import harmful_split
from ..metrics import Metric, metric as find_metric
from ..records import Record, reach
from ..wording import join_and, several
from .comparisons import Comparisons, favourable_rates
from .metric_selection import Measurable, lookup_metric
from .results_table import ResultsTable, Row, place_text, told_apart
from .settings import Settings
from .verdict import Verdict
from .verdicts import margin_of

Severity = Literal["alert", "warning", "note"]
SEVERITIES = get_args(Severity)
"""How severe findings are, most severe first."""
_MAX_NAMES = 8

KINDS: dict[str, tuple[str, Severity]] = {
    "constant": ("EH001", "warning"),
    "differs": ("EH101", "alert"),
    "beyond-margin": ("EH104", "alert"),
    "varies": ("EH110", "warning"),
    "four-fifths": ("EH102", "warning"),
    "worse": ("EH107", "alert"),
    "below-goal": ("EH108", "alert"),
    "goal-unproven": ("EH109", "warning"),
    "undefined": ("EH201", "warning"),
    "inconclusive": ("EH202", "note"),
    "spread": ("EH203", "warning"),
    "left-out": ("EH301", "warning"),
    "missing-group": ("EH302", "note"),
    "absent-label": ("EH303", "note"),
    "chosen-reference": ("EH304", "note"),
    "weighted": ("EH305", "note"),
    "clusters": ("EH310", "note"),
    "not-pooled": ("EH306", "note"),
    "repeated-rows": ("EH002", "warning"),
    "skipped-files": ("EH307", "note"),
    "similar-groups": ("EH003", "warning"),
    "protected": ("EH308", "note"),
    "absent-group": ("EH309", "alert"),
}
"""The kinds of findings with their codes and severities, which do not change once released."""
GOAL_KINDS = ("below-goal", "goal-unproven")
"""Kinds of findings about goals."""
_NOUNS = {"y_true": "label", "y_pred": "prediction", "y_score": "score", "sample_weight": "weight"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Finding(Record):
    """One finding of an audit.

    Attributes
    ----------
    kind : str
        What was found, such as ``"differs"`` or ``"inconclusive"``.
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
    ('note', 'EH202', 'inconclusive', 'A', ('tpr',))
    """

    kind: str
    code: str
    severity: Severity
    at: dict[str, Any] = field(default_factory=dict)
    by: str | None = None
    group: str | None = None
    metrics: tuple[str, ...] = ()
    sentence: str

    def __str__(self) -> str:
        place = f"{place_text(self.at)}: " if self.at else ""
        return printable(f"{self.severity} {self.code}: {place}{self.sentence}")


def make_finding(kind: str, sentence: str, **about: Any) -> Finding:
    """A finding of a kind, with its code and severity."""
    code, severity = KINDS[kind]
    return Finding(kind=kind, code=code, severity=severity, sentence=sentence, **about)


def find(
    table: ResultsTable,
    overall: ResultsTable,
    tally: Tally,
    comparisons: Sequence[Comparisons],
    settings: Settings,
    metrics: Sequence[Measurable],
) -> tuple[Finding, ...]:
    """All findings: labels that are all the same, what rows say, and notes on the data."""
    return (
        *find_constants(tally),
        *find_in_rows(table, tally, settings),
        *find_varying(overall, settings),
        *find_spreads(comparisons),
        *find_not_pooled(comparisons, metrics),
        *find_left_out(tally),
        *find_in_data(tally, comparisons[0], settings, metrics),
        *find_chosen_references(comparisons, settings),
        *find_cluster_bounds(table),
    )


# Rows


def find_in_rows(table: ResultsTable, tally: Tally, settings: Settings) -> Iterator[Finding]:
    """Rows that differ, that are below four fifths or undefined, and groups with too few cases."""
    goals, write = table.take(table.is_goal).rows, reach("Finding.sentence")
    rows = table.take(~table.is_goal).rows
    # Scores of several rates are not judged from rounded counts, however many cases there are.
    unjudged = [] if tally.rule is None else list_unjudged(table.values("metric"))
    about = [("below-goal", [row]) for row in goals if row.verdict is Verdict.MISSES]
    differ = [row for row in rows if row.differs and row.verdict is not Verdict.BETTER]
    about += [(_kind_of_difference(row), [row]) for row in differ]
    about += [("four-fifths", [row]) for row in rows if row.is_below_four_fifths]
    proven = (Verdict.MEETS, Verdict.MISSES)
    about += [("goal-unproven", [row]) for row in goals if row.verdict not in proven]
    about += [("undefined", [row]) for row in rows if row.verdict is Verdict.UNDEFINED]
    inconclusive = defaultdict(list)
    for row in rows:
        if row.verdict is Verdict.INCONCLUSIVE and row.metric not in unjudged:
            inconclusive[str(row.at), row.by, row.group, row.is_gap_change].append(row)
    about += [("inconclusive", same) for same in inconclusive.values()]
    names, recorded = told_apart((*rows, *goals)), settings.recorded()
    for kind, same in about:
        at, by, group = same[0].at, same[0].by, same[0].group
        sentence = write(kind, same, names[by, group], recorded)
        metrics = tuple(row.metric for row in same)
        yield make_finding(kind, sentence, at=at, by=by, group=group, metrics=metrics)


def find_cluster_bounds(table: ResultsTable) -> Iterator[Finding]:
    """What tests of clusters assume, and whether they had too few draws to tell."""
    is_bound = table["method"] == "cluster bound"
    if not is_bound.any():
        return
    what = "tests and intervals of clusters are approximate, and assume that no cluster is larger"
    text = f"{what} than those seen, or that rates do not depend on the size of clusters"
    # With enough draws, the tail of what is not rejected has a hundred of them.
    is_coarse = is_bound & (table["verdict"] == Verdict.INCONCLUSIVE)
    is_coarse &= table["p_error"] > 0.11 * table["pvalue"]
    if n := int(is_coarse.sum()):
        few = "with more draws than are made for so many groups and clusters"
        text += f"; {several(n, 'inconclusive comparison')} might differ {few}"
    yield make_finding("clusters", text)


def _kind_of_difference(row: Row) -> str:
    """Whether a difference is a loss, and beyond the margin."""
    if row.verdict is Verdict.WORSE:
        return "worse"
    return "beyond-margin" if row.certain_gap > margin_of(row) else "differs"


def find_varying(overall: ResultsTable, settings: Settings) -> Iterator[Finding]:
    """Metrics that vary between the groups of a column."""
    columns = set(overall["by"][~np.isnan(overall["varies_pvalue"])])
    for row in overall.rows:
        if row.varies_adjusted <= settings.alpha:
            name = row.by if len(columns) > 1 else ""
            sentence = reach("Finding.sentence")("varies", [row], name, settings.recorded())
            about = {"at": row.at, "by": row.by, "metrics": (row.metric,)}
            yield make_finding("varies", sentence, **about)


def list_unjudged(keys: Sequence[str]) -> list[str]:
    """The metrics that get no verdict from rounded counts."""
    metrics = {key: lookup_metric(key) for key in keys}
    return [key for key, m in metrics.items() if m.is_distance or m.base.curve is None]


# Data


def find_in_data(
    tally: Tally, comparisons: Comparisons, settings: Settings, metrics: Sequence[Measurable]
) -> Iterator[Finding]:
    """What was approximated, groups that lack cases, and columns and files that need a look."""
    if tally.weighted:
        n = round(tally.weighted["n"])
        weighted = f"{several(n, 'case')} {'is' if n == 1 else 'are'} weighted"
        how = "tests and intervals use effective sample sizes and are approximate"
        but = "they assume that a group's heaviest cases were sampled"
        yield make_finding("weighted", f"{weighted}: {how}; {but}")
    yield from _find_missing_groups(comparisons, settings)
    if tally.repeated is not None:
        column, rows, values = tally.repeated
        many = f"has {values:,} values in the first {several(rows, 'row')}, several rows each"
        text = f"{column!r} {many}, and each row is taken as an independent case"
        hint = f"pass --cluster {column} or cluster={column!r}"
        hint = f"If those of the same value resemble each other, {hint}"
        yield make_finding("repeated-rows", f"{text}. {hint}")
    if skipped := tally.source.get("skipped"):
        read = tally.source["files"]
        why = "whose names begin with _ or . or are not those of Parquet files"
        text = f"{several(read, 'file')} in the folder {_was(read)} read, and {skipped:,} skipped"
        yield make_finding("skipped-files", f"{text}, {why}")
    if tally.rule is None:
        yield from _find_similar_groups(tally)
    else:
        sentence = tally.rule.sentence.removesuffix(".")
        if unjudged := list_unjudged([metric.key for metric in metrics]):
            note = "not judged, as no bound holds for all tables behind rounded ones"
            sentence += f". {join_and(unjudged)}: {note}"
        yield make_finding("protected", sentence)
    for value in tally.absent:
        text = f"{value!r} was given as a positive label and does not occur"
        yield make_finding("absent-label", text)


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def find_constants(tally: Tally) -> Iterator[Finding]:
    """Labels or predictions that are the same for everybody."""
    # Of rounded counts, 0 may stand for others.
    if tally.counts is None or not (tally.rule is None or tally.rule.shows_zero):
        return
    selections = tally.selections or tally.counts
    for place, values in enumerate(tally.places):
        at = dict(values)
        is_cut = tally.threshold is not None or "threshold" in at
        sides = {"prediction": (selections, [0, 2], "threshold" if is_cut else "positive labels")}
        if tally.labelled:
            sides["label"] = (tally.counts, [0, 1], "positive labels")
        for what, (counts, columns, cause) in sides.items():
            cells = counts.cells[place].sum(axis=0)
            n, positive = cells.sum(), cells[columns].sum()
            if positive in (0, n):
                side = "positive" if positive else "negative"
                text = f"Every {what} of all {several(int(n), 'case')} is {side}"
                text += f"; if that is not so, check the column or the {cause}"
                yield make_finding("constant", text, at=at)


def find_spreads(comparisons: Sequence[Comparisons]) -> Iterator[Finding]:
    """Columns whose groups differ so much that smoothing may do harm."""
    for part, first, _, about in _list_columns(comparisons):
        split = harmful_split(part.spreads[first])
        if part.tally.labelled and split:
            name = find_metric(split).name.lower()
            but = "smoothed scores may be worse than raw ones"
            text = f"Groups of {about['by']} differ so much in {name} that {but}"
            yield make_finding("spread", text, **about)


def find_chosen_references(
    comparisons: Sequence[Comparisons], settings: Settings
) -> Iterator[Finding]:
    """References that were chosen for their scores, which p-values do not take into account."""
    for part, first, cells, about in _list_columns(comparisons):
        if not part.is_chosen[first]:
            continue
        rates = favourable_rates(cells, settings)
        if len(np.unique(rates[~np.isnan(rates)])) > 1:
            text = f"{part.reference_name[first]} was chosen as the reference of {about['by']}"
            why = "for its high rate of favourable predictions"
            so = "which makes differences look larger than they are, so that none of them is tested"
            yield make_finding("chosen-reference", f"{text} {why}, {so}", **about)


def _list_columns(
    comparisons: Sequence[Comparisons],
) -> Iterator[tuple[Comparisons, int, Floats, dict[str, Any]]]:
    """The columns of labelled counts: a comparison of each, its groups' cells, and its place."""
    for part in comparisons:
        if part.source == "counts" and not part.strata:
            for rows, cells in part.columns(part.counts.cells):
                by = part.groupings[part.grouping[rows[0]]].name
                about = {"by": by, "at": part.axis_values(rows[0])}
                yield part, rows[0], cells[part.group[rows]], about


def find_not_pooled(
    comparisons: Sequence[Comparisons], metrics: Sequence[Measurable]
) -> Iterator[Finding]:
    """Scores that no exact test pools over strata."""
    is_pooled = any(part.is_pooled for part in comparisons)
    for m in metrics if is_pooled else ():
        if isinstance(m, Metric) and (m.comparisons or m.base.curve is None):
            compares = f"it compares two groups; pool {m.base.key}"
            why = compares if m.comparisons else "it does not depend on one rate only"
            text = f"{m.key} is not pooled over strata: {why}"
            yield make_finding("not-pooled", text, metrics=(m.key,))


def find_left_out(tally: Tally) -> Iterator[Finding]:
    """Rows that lack a label, a prediction, or whatever else is needed."""
    for what, n in tally.left_out.items():
        of_columns = [texts for name, texts in tally.missing_words.items() if name in what]
        words = ", ".join(dict.fromkeys(map(repr, chain(*of_columns))))
        read = f" (read as missing: {words})" if words else ""
        # A model may have any name.
        parts = re.split(rf" and (?={'|'.join(_NOUNS)}|cluster|prediction of )", what)
        lacking = " and ".join(f"a {_NOUNS.get(name, name)}" for name in parts)
        verb = f"{_was(n)} left out"
        if what == "y_true" and tally.selections is not None:
            verb = f"{'counts' if n == 1 else 'count'} for selection rates only"
        yield make_finding("left-out", f"{several(n, 'row')} without {lacking}{read} {verb}")


def _find_missing_groups(comparisons: Comparisons, settings: Settings) -> Iterator[Finding]:
    """Cases without a group, which are compared with nobody."""
    for grouping in comparisons.groupings:
        n = int(comparisons.sizes_of_keys[grouping.codes < 0].sum())
        if len(grouping.columns) == 1 and n:
            noun = (settings.wording or {}).get("cases", "cases")
            noun = re.sub(" (?:that|which|who)$", "", noun)
            have, they = ("1 case has", "it is") if n == 1 else (f"{n:,} {noun} have", "they are")
            text = f"{have} no known {grouping.name}: {they} in no group and in no reference"
            about = "" if settings.rule is None else "About "
            yield make_finding("missing-group", about + text, by=grouping.name)


def _find_similar_groups(tally: Tally) -> Iterator[Finding]:
    """Groups that a reader takes for one, with what cannot be seen written out."""
    for i, column in enumerate(tally.columns):
        for alike in similar_names({key[i] for key in tally.keys}):
            shown = [brief(text, 60) if text.isascii() else ascii(text[:60]) for text in alike]
            more = len(alike) - _MAX_NAMES
            shown[_MAX_NAMES:] = [f"{more:,} more"] * (more > 0)
            text = f"{join_and(shown)} in {column!r} look like one group, and are {len(alike):,}"
            hint = "correct the data, or pass merge_variants=True (--merge-variants)"
            joins = "which joins those that differ in case, white space or encoding only"
            yield make_finding("similar-groups", f"{text}; {hint}, {joins}", by=column)
