"""Rows in words: the sentences that matter, findings, what is open, and what to do next.

"At least" is a bound that holds for everything an audit says, see `Gap`. It is rounded towards no gap, so that no
sentence says more than its row. Where no bound is left, a sentence gives the gap and its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import floor, isnan
from typing import Any

import numpy as np

from ..auditing import (
    MIN_SHARE,
    ReferenceKind,
    Row,
    Verdict,
    lookup_metric,
    margin_of,
    margins_text,
    place_text,
    told_apart,
)
from ..inference import FOUR_FIFTHS
from ..metrics import Metric
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
from .words import Words, harmful_direction

_AMONG = {
    ReferenceKind.REST: "among the others",
    ReferenceKind.ALL: "among all cases",
    ReferenceKind.MATRIX: "in the given reference",
}
_ROUND = (100, 1_000, 10_000, 100_000, 1_000_000)
_PER_GROUP = 2
_ALSO, _STEPS = 3, 3
# Cases are worth collecting if the reference has so many times as many.
_LARGER = 2
# The smallest bound in a sentence, in people.
_LEAST = 0.1


class Tier(StrEnum):
    """How large and how sure a gap is.

    Attributes
    ----------
    meaning : str
        One sentence, with ``{margin}`` to be filled in.

    Examples
    --------
    >>> [tier.value for tier in Tier]
    ['beyond the margin', 'found, size unclear', 'found but small', 'may be chance']
    """

    meaning: str

    def __new__(cls, words: str, meaning: str) -> Tier:
        """Create a member whose value is its words."""
        member = str.__new__(cls, words)
        member._value_ = words
        member.meaning = meaning
        return member

    LARGE = "beyond the margin", "the gap is at least {margin:g} (ratios: a factor of 1.25)"
    UNCLEAR = "found, size unclear", "there is a gap, and it may be smaller or larger than the margin"
    SMALL = "found but small", "there is a gap, and it is less than the margin"
    CHANCE = "may be chance", "there may be a gap or none: the cases are too few to tell"


def tier(row: Row, margin: float) -> Tier | None:
    """How large and how sure a gap is; None if there is none to speak of."""
    if row.verdict is Verdict.INCONCLUSIVE:
        return Tier.CHANCE
    if not row.differs:
        return None
    limit = margin_of(row, margin)
    if row.smallest_gap > limit:
        return Tier.LARGE
    return Tier.SMALL if row.largest_gap <= limit else Tier.UNCLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A sentence about one group and one metric.

    Attributes
    ----------
    sentence : str
        What differs, in counts of people where that is possible.
    at, by, group, metric
        The row that it is about.
    harms : bool
        Whether the difference is to the disadvantage of the group.
    """

    sentence: str
    at: Mapping[str, Any]
    by: str
    group: str
    metric: str
    harms: bool


def headlines(rows: Sequence[Row], settings: Mapping[str, Any], most: int = 5) -> tuple[Headline, ...]:
    """The few sentences that matter most: gaps that are large for certain and harm, of different groups.

    Of groups that contain each other, the largest is named first, and the others beside it.
    """
    differ = [row for row in rows if row.differs]
    about = [row for row in differ if not getattr(lookup_metric(row.metric), "is_base_rate", False)] or differ
    order = list(Tier)

    def rank(row: Row) -> tuple[bool, int, bool, bool, float]:
        place = order.index(tier(row, settings["margin"]) or Tier.CHANCE)
        # Two groups that are each other's rest have the same gap up to rounding.
        gap = -round(row.smallest_gap, 9)
        return row.driver is not None, place, _counted(row) is None, not _harmed(row, settings), gap

    ranked = sorted(about, key=rank)
    inside = _nested(ranked)
    members = Counter(by for by, _ in {(row.by, row.group) for row in rows if row.n})
    chosen: list[Row] = []
    # Every column has its say before one of them has a second.
    shares = [*product((False, True), (1,), range(1, most)), *product((False, True), range(1, _PER_GROUP + 1), (most,))]
    for driven, allowed, per_column in sorted(shares, key=lambda share: share[0]):
        for i, row in enumerate(ranked):
            fits = len(chosen) < most and i in inside and (row.driver is not None) is driven
            fits = fits and sum(one.by == row.by for one in chosen) < per_column
            if fits and row not in chosen and not _told(row, chosen, members, allowed):
                chosen.append(row)
    called, words = told_apart(rows), Words.of(settings)
    return tuple(
        Headline(
            sentence=_sentence(row, called[row.by, row.group], settings["confidence_level"], words)
            + _harm(row, settings)
            + _driven(row, called[row.by, row.group])
            + _also([called[one.by, one.group] for one in inside[ranked.index(row)]])
            + (f" {said}" if (said := turning_text(row, settings)) else ""),
            at=row.at,
            by=row.by,
            group=row.group,
            metric=row.metric,
            harms=_harmed(row, settings),
        )
        for row in sorted(chosen, key=ranked.index)
    )


def _nested(ranked: Sequence[Row]) -> dict[int, list[Row]]:
    """By the place of each row that no larger group has: the rows of groups inside it that say the same.

    A group that lies in several is named with each of them.
    """
    same: dict[Any, list[int]] = {}
    for i, row in enumerate(ranked):
        same.setdefault((row.metric, row.verdict, tuple(row.at.items())), []).append(i)
    found: dict[int, list[Row]] = {}
    for places in same.values():
        by_size = sorted(places, key=lambda i: (-ranked[i].n, i))
        leaders: list[int] = []
        for i in by_size:
            around = [one for one in leaders if _is_inside(ranked[i], ranked[one])]
            for leader in around:
                found[leader].append(ranked[i])
            if not around:
                leaders.append(i)
                found[i] = []
    return {i: sorted(rows, key=lambda row: -row.smallest_gap) for i, rows in found.items()}


def _is_inside(row: Row, other: Row) -> bool:
    """Whether the group of a crossing is a part of another group, by the names of its columns and values."""
    columns, values = row.by.split(" & "), row.group.split(" & ")
    others, theirs = other.by.split(" & "), other.group.split(" & ")
    if len(columns) != len(values) or len(others) != len(theirs) or len(columns) <= len(others):
        return False
    return set(zip(others, theirs, strict=True)) <= set(zip(columns, values, strict=True))


def _also(names: Sequence[str]) -> str:
    """The groups inside the one that a sentence is about."""
    if not names:
        return ""
    shown, left = list(names[:_ALSO]), len(names) - _ALSO
    return f" In the same direction, by other amounts: {', '.join(shown)}{f' and {left:,} more' if left > 0 else ''}."


def _counted(row: Row) -> str | None:
    """What the cases that a rate counts have in common; None for other scores, and for rates pooled over strata."""
    counted: str | None = getattr(lookup_metric(row.metric), "counted", None)
    return None if row.is_pooled else counted


def _harmed(row: Row, settings: Mapping[str, Any]) -> bool:
    m, favourable = lookup_metric(row.metric), settings["favourable"]
    return favourable is not None and isinstance(m, Metric) and harmful_direction(m, favourable) == row.verdict


def _harm(row: Row, settings: Mapping[str, Any]) -> str:
    """That a change is to the disadvantage of a group, whose own score may have changed for the better."""
    if not row.is_change or not _harmed(row, settings):
        return ""
    others = "the others" if row.reference_kind in (ReferenceKind.REST, ReferenceKind.ALL) else _reference_name(row)
    return f" Relative to {others}, this group is worse off than before."


def _reference_name(row: Row) -> str:
    return "the given reference" if row.reference_kind == ReferenceKind.MATRIX else legible(row.reference)


def _told(row: Row, chosen: Iterable[Row], members: Mapping[str, int], allowed: int) -> bool:
    """Whether the chosen rows say enough of the group, or the same."""
    same = [other for other in chosen if other.by == row.by]
    own = [other for other in same if other.group == row.group]
    if len(own) >= allowed or any(_complement(row, other) for other in own):
        return True
    # Of two groups that are each other's rest, one sentence says both.
    mirrored = [
        other for other in same if other.group != row.group and (other.metric, other.at) == (row.metric, row.at)
    ]
    return members[row.by] == 2 and row.reference_kind in (ReferenceKind.REST, ReferenceKind.ALL) and bool(mirrored)


def _complement(row: Row, other: Row) -> bool:
    first, second = row.difference, other.difference
    m, o = lookup_metric(row.metric), lookup_metric(other.metric)
    if not isinstance(m, Metric) or not isinstance(o, Metric):
        return False
    return m.base.denominator == o.base.denominator and abs(abs(first) - abs(second)) < 1e-12


def _sentence(row: Row, who: str, level: float, words: Words) -> str:
    m = lookup_metric(row.metric)
    place = place_text(row.at)
    where = f"{place[0].upper()}{place[1:]}: " if place else ""
    said = (
        _change(row, m, who, level, words) if row.is_change else f"{_scores(row, m, who, words)} {_size(row, m, level)}"
    )
    return f"{where}{said}".rstrip()


def _change(row: Row, m: Metric, who: str, level: float, words: Words) -> str:
    """How many people are counted with one model and with another, and what that makes of the gap."""
    changes = ((row.before, row.score), (row.reference_before, row.reference_score))
    own, theirs = ((0.0, 0.0) if isnan(before + change) else (before, before + change) for before, change in changes)
    # Where hardly anything changes, no number of people has to show it.
    per = min(_ROUND[1], max((_per(*pair) for pair in (own, theirs) if pair[0] != pair[1]), default=_ROUND[0]))
    (of, _, first), (_, _, second) = (_of(rate, row.denominators[0], per) for rate in own)
    others = [_of(rate, per, per)[2] for rate in theirs]
    whole = words.whole(m, who, many=of != "the 1")
    size = _interval(row, level) if isnan(row.at_least) else f"at least {rounded_down(row.at_least)}"
    gap = gap_change(row, size)
    return (
        f"Of {of} {whole}, the number {words.pronoun} {words.counted(m)} {_moved(first, second)}; of {per:,} "
        f"{_such(row, m, words)}, it {_moved(*others)}. {gap[0].upper()}{gap[1:]}."
    )


def _moved(before: str, after: str) -> str:
    return f"stays at {after}" if before == after else f"goes from {before} to {after}"


def gap_change(row: Row, size: str) -> str:
    """The observed gap with one model and with another, the change that was tested, and what it looks like."""
    before, change = (0.0 if isnan(gap) else gap for gap in (row.gap_before, row.gap))
    ends = [round(end, 9) + 0.0 for end in (before, before + change)]
    gaps = " to ".join(f"{end:+.3f}" for end in ends)
    return f"the observed gap goes from {gaps} (a change of {change:+.3f}, {size}): {_movement(*ends)}"


def _movement(before: float, after: float) -> str:
    """What becomes of a gap, as far as the eye can tell: no test asks whether it is nearer to none."""
    if not before or not after:
        return "it closes" if before else "it opens"
    sizes = abs(before), abs(after)
    how = ["narrows"] if sizes[1] < sizes[0] else ["widens"] if sizes[1] > sizes[0] else []
    return f"it {join_and([*how, 'changes sign'] if before * after < 0 else how)}"


def _scores(row: Row, m: Any, who: str, words: Words) -> str:
    """The scores of the group and of its reference."""
    score = row.score
    if isinstance(m, Metric) and m.comparisons:
        return f"{m.name} of {who} is {number(score)}, and {'1' if m.kind == 'ratio' else '0'} would be no gap."
    if _counted(row) is not None and row.verdict is not Verdict.UNLIKE and not isnan(row.reference_score):
        return _in_people(row, m, who, words)
    return f"{m.name} of {who} is {number(score)}; {_among(row)}, it is {number(row.reference_score)}."


def _size(row: Row, m: Any, level: float) -> str:
    """How large the gap is at least or, where no bound is left, what it seems to be."""
    if row.verdict is Verdict.UNLIKE:
        return "The group is not drawn like the reference."
    odds = "Within strata, the odds are" if row.is_pooled else ""
    of_people = _counted(row) is not None and not isnan(row.reference_score) and not row.is_change
    per = _per(row.score, row.reference_score) if of_people else 1
    # A bound that is next to nothing says less than the gap that was seen.
    bounded = per * row.at_least >= _LEAST
    if of_people and not bounded and not isnan(row.gap_low + row.gap_high):
        ends = sorted(abs(per * end) for end in (row.gap_low, row.gap_high))
        if row.gap_low * row.gap_high > 0:
            span = f"{percent(level)} interval {ends[0]:.1f} to {ends[1]:.1f}"
            return f"About {_per_round(row, per)} {_more(row)} per {per:,} ({span})."
    if isnan(row.at_least):
        gap = "odds ratio" if odds else "ratio of the two" if row.is_ratio else "gap"
        return f"The {gap} is {_gap_text(row, level)}."
    if of_people:
        people = per * row.at_least
        return f"At least {f'{floor(people):,}' if people >= 1 else _tenths(people)} {_more(row)} per {per:,}."
    if getattr(m, "is_distance", False):
        return f"At least {rounded_down(row.at_least)}."
    least = rounded_down(row.at_least)
    if row.is_ratio:
        return f"{odds or 'It is'} {row.verdict} by a factor of at least {least}."
    return f"At least {least} {row.verdict}."


def _tenths(people: float) -> str:
    """Less than one of so many people, as text that is not more than that."""
    return f"{floor(10 * people) / 10:.1f}" if people >= _LEAST else rounded_down(people)


def _per_round(row: Row, per: int) -> str:
    """The observed gap as a number of so many people."""
    return f"{per * abs(row.difference):.1f}"


def _gap_text(row: Row, level: float) -> str:
    value = "infinite" if isnan(row.gap) else number(row.gap) if row.is_ratio else f"{row.gap:+.3f}"
    return f"{value} ({_interval(row, level)})"


def _interval(row: Row, level: float) -> str:
    return f"{percent(level)} interval {span_text(row.gap_low, row.gap_high)}"


def _more(row: Row) -> str:
    return "more" if row.verdict is Verdict.HIGHER else "fewer"


def _driven(row: Row, who: str) -> str:
    """That another comparison, without one group of the reference, would say something else."""
    if row.driver is None:
        return ""
    left_out = f"if {legible(row.driver)} were left out of the comparison"
    return f" This depends on one group: {left_out}, the verdict on {who} would be: {row.driver_verdict}."


def _among(row: Row) -> str:
    return _AMONG.get(row.reference_kind, f"in {legible(row.reference)}")


def _such(row: Row, m: Metric, words: Words) -> str:
    """Those of the reference whom a rate is of: "such others", if it is not of all cases."""
    kind = row.reference_kind
    if m.base.denominator is None or kind == ReferenceKind.MATRIX:
        return _among(row)
    if kind == ReferenceKind.GROUP:
        return f"such {words.part('', row.reference)}"
    return "such others" if kind == ReferenceKind.REST else "of all such cases"


def _in_people(row: Row, m: Metric, who: str, words: Words) -> str:
    per = _per(row.score, row.reference_score)
    # Of weighted cases, a score is no number of them.
    is_weighted = not isnan(row.n_effective) and isnan(row.correlation)
    own = _of(row.score, per if is_weighted else row.denominators[0], per)
    theirs = _of(row.reference_score, per if is_weighted else _reference_basis(row, m), per)
    whole = words.whole(m, who, many=own[0] != "the 1")
    first = f"Of {own[0]} {whole}, {own[2]} {words.counted(m, own[1])}"
    return f"{first}; of {theirs[0]} {_such(row, m, words)}, {theirs[2]}."


def _of(rate: float, basis: int, per: int) -> tuple[str, int, str]:
    """A rate as a count of so many, or of all if there are fewer."""
    if basis < per:
        count = round(rate * basis)
        return f"the {basis:,}", count, f"{count:,}"
    count = round(rate * per)
    exact = abs(rate * per - count) < 1e-9 * per
    return f"{per:,}", count, f"{count:,}" if exact else f"about {count:,}"


def _per(rate: float, other: float) -> int:
    """The smallest round number of people in which both rates can be told apart."""
    for per in _ROUND:
        counts = [(r, round(r * per)) for r in (rate, other)]
        kept = all((count > 0 or r == 0) and (count < per or r == 1) for r, count in counts)
        if kept and counts[0][1] != counts[1][1]:
            return per
    return _ROUND[-1]


def _reference_basis(row: Row, m: Metric) -> int:
    cells = row.reference_cells
    return int(row.reference_n if cells is None else m.base.support(np.array(cells))[0])


def compared_with(rows: Iterable[Row]) -> str:
    """What the groups are compared with, to follow "each group is compared with".

    >>> from evenhand import audit_counts
    >>> counts = {("A", "F"): (3, 2, 8, 30), ("B", "M"): (30, 10, 12, 48)}
    >>> compared_with(audit_counts(counts, by=["race", "sex"]).rows)
    'all cases outside it'
    >>> compared_with(audit_counts(counts, by=["race", "sex"], reference={"race": "B"}, intersections=1).rows)
    'the reference of its column: the group B (race), all cases outside it (sex)'
    """
    kinds: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        kinds.setdefault(row.by, set()).add((row.reference_kind, row.reference))
    each = {by: _reference_words(dict(references)) for by, references in kinds.items()}
    if len(set(each.values())) == 1:
        return next(iter(each.values()))
    return "the reference of its column: " + ", ".join(f"{words} ({by})" for by, words in sorted(each.items()))


def _reference_words(references: Mapping[str, str]) -> str:
    if ReferenceKind.ALL in references:
        return "all cases" + (", or all cases outside it if a score is not a rate" * (ReferenceKind.REST in references))
    if ReferenceKind.REST in references:
        return "all cases outside it"
    if ReferenceKind.MATRIX in references:
        return "the counts that were given as reference"
    return f"the group {legible(references[ReferenceKind.GROUP])}"


def untold(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the audit could not tell.

    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"])
    >>> for sentence in untold(a.rows):
    ...     print(sentence)
    2 of 4 comparisons have too few cases to tell; they concern both groups.
    2 of 4 comparisons cannot be made because a score does not exist; they concern both groups; most often: no actual
    positives (TP + FN = 0).
    """
    compared = [row for row in rows if row.verdict is not Verdict.REFERENCE]
    everybody = len({(row.by, row.group) for row in rows})
    sentences = []
    few = [row for row in compared if row.verdict is Verdict.INCONCLUSIVE]
    if few:
        sentences.append(
            f"{len(few):,} of {several(len(compared), 'comparison')} {'has' if len(few) == 1 else 'have'} too few "
            f"cases to tell; {_concerned(few, everybody)}."
        )
    undefined = [row for row in compared if row.verdict is Verdict.UNDEFINED]
    if undefined:
        (reason, n), *_ = Counter(row.reason for row in undefined).most_common(1)
        often = "" if n == len(undefined) else "most often: "
        sentences.append(
            f"{len(undefined):,} of {several(len(compared), 'comparison')} cannot be made because a score does not "
            f"exist; {_concerned(undefined, everybody)}; {often}{reason}."
        )
    return tuple(sentences)


def _concerned(rows: Sequence[Row], everybody: int) -> str:
    """How many of all groups some comparisons are about."""
    it = "it concerns" if len(rows) == 1 else "they concern"
    groups = len({(row.by, row.group) for row in rows})
    if groups < everybody:
        return f"{it} {groups:,} of {several(everybody, 'group')}"
    return f"{it} {'the only group' if groups == 1 else 'both groups' if groups == 2 else f'all {groups:,} groups'}"


def next_steps(rows: Sequence[Row], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What to do next: what would confirm or explain the differences, and how many cases would tell what is open.

    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (5, 15, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"])
    >>> for step in next_steps(a.rows, a.settings):
    ...     print(step)
    A difference is no explanation: confirm it on new cases, and compare groups within a feature that may explain it
    (--strata, in Python strata=).
    To find a true gap of 0.1 with a probability of about 80%, if the reference's score is the one observed: for fpr of
    A, collect about 141 more actual negatives (there are 38).
    """
    steps = []
    differ = [row for row in rows if row.differs and not row.is_change]
    if differ:
        within = ", and compare groups within a feature that may explain it (--strata, in Python strata=)"
        steps.append(
            f"A difference is no explanation: confirm it on new cases{'' if settings.get('strata') else within}."
        )
    if any(row.driver for row in differ):
        steps.append("Where a verdict depends on one group, compare with a named group (--reference, reference=).")
    turned = [row for row in differ if turning_text(row, settings) and row.tipping_point > 0]
    if turned:
        columns = join_and(list(dict.fromkeys(map(_unknown_of, turned))))
        steps.append(f"Learn the {columns} of those of whom it is unknown: that could change verdicts.")
    return (*steps, *_to_collect(rows, settings))


def _to_collect(rows: Sequence[Row], settings: Mapping[str, Any]) -> Iterator[str]:
    """How many cases would tell what is open, for the groups that lack fewest."""
    few = [row for row in rows if row.verdict is Verdict.INCONCLUSIVE]
    if any(not isnan(row.n_effective) for row in few):
        yield "To settle what is open, collect cases of new clusters; more cases of the same clusters add little."
        return
    lacking: dict[Any, tuple[int, Row]] = {}
    for row in few:
        needed = _needed(row)
        if (
            needed is not None
            and _is_telling(row, needed)
            and getattr(lookup_metric(row.metric), "kind", None) != "ratio"
        ):
            more = needed - row.support
            lacking[row.by, row.group] = min(lacking.get((row.by, row.group), (more, row)), (more, row), key=_first)
    nearest = sorted(lacking.values(), key=_first)
    if not nearest:
        return
    called, words = told_apart(rows), Words.of(settings)
    each = [
        f"for {row.metric} of {called[row.by, row.group]}, collect about {more:,} more "
        f"{words.whole(lookup_metric(row.metric), many=more != 1)} ({_there_are(row)})"
        for more, row in nearest[:_STEPS]
    ]
    left = len(nearest) - _STEPS
    others = f"; {several(left, 'other group')} {'needs' if left == 1 else 'need'} more" if left > 0 else ""
    yield (
        f"To find a true gap of {settings['margin']:g} with a probability of about 80%, if the reference's score is "
        f"the one observed: {'; '.join(each)}{others}."
    )


def _is_telling(row: Row, needed: int) -> bool:
    """Whether so many cases would tell: a reference that is not much larger is as uncertain as the group."""
    m = lookup_metric(row.metric)
    return isinstance(m, Metric) and not m.comparisons and _reference_basis(row, m) >= _LARGER * needed


def _first(one: tuple[int, Row]) -> int:
    return one[0]


def _needed(row: Row) -> int | None:
    return int(row.required_n) if row.required_n > row.support else None


def _there_are(row: Row) -> str:
    return f"there {'is' if row.denominators == (1,) else 'are'} {counts_text(row.denominators)}"


def turning_text(row: Row, settings: Mapping[str, Any]) -> str:
    """How few cases without a group would turn a verdict, in words; nothing if that is not known.

    >>> from evenhand import audit_counts
    >>> counts = {"A": (10, 10, 0, 0), "B": (80, 20, 0, 0), None: (5, 5, 0, 0)}
    >>> a = audit_counts(counts, metrics="tpr")
    >>> turning_text(a.rows[0], a.settings)
    'The group of 10 actual positives is unknown; learning it for about 4 of them could change this
    verdict.'
    """
    m = lookup_metric(row.metric)
    known = isinstance(m, Metric) and not m.comparisons and m.base.curve is not None
    # It was looked for by Fisher's test of exact counts.
    known = known and isnan(row.n_effective) and settings["protect"] is None and row.method == "fisher"
    if not row.unknown_n > 0 or not known or row.verdict not in (Verdict.HIGHER, Verdict.LOWER):
        return ""
    n = int(row.unknown_n)
    whose = f"The {_unknown_of(row)} of {n:,} {Words.of(settings).whole(m, many=n != 1)} is unknown"
    if isnan(row.tipping_point):
        return f"{whose}; assigning them to this group or its reference alone would not change this verdict."
    return f"{whose}; learning it for about {int(row.tipping_point):,} of them could change this verdict."


def _unknown_of(row: Row) -> str:
    """What is not known of a case: a column or, of a crossing, the group, since a part of it may be known."""
    return "group" if " & " in row.by else row.by


def needed_text(row: Row, settings: Mapping[str, Any]) -> str:
    """How many cases it would take to tell, in words.

    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> needed_text(a.rows[0], a.settings)
    ''
    """
    needed = _needed(row) if row.verdict is Verdict.INCONCLUSIVE else None
    if needed is None:
        return ""
    m = lookup_metric(row.metric)
    theirs = row.reference_score
    factor = 0.8 if 1.25 * theirs > m.base.high else 1.25
    gap = f"ratio of {factor:g}" if m.kind == "ratio" else f"gap of {settings['margin']:g}"
    find = f"to find a true {gap} with a probability of 80%"
    return f"It takes {needed:,} {Words.of(settings).whole(m, many=needed != 1)} {find}; {_there_are(row)}."


# Findings


def finding_sentence(kind: str, rows: Sequence[Row], name: str, settings: Mapping[str, Any]) -> str:
    """The sentence of a finding about rows of a group: what differs, is undefined or inconclusive, or four fifths."""
    write = {"four-fifths": _four_fifths, "undefined": _undefined, "too-few": _inconclusive}.get(kind, _differs)
    return write(rows, name, settings)


def _differs(rows: Sequence[Row], name: str, settings: Mapping[str, Any]) -> str:
    row = rows[0]
    metric, p = lookup_metric(row.metric).name, "p" if settings["adjust"] == "none" else "adjusted p"
    turning = turning_text(row, settings).removesuffix(".")
    statement = _changed(row, settings) if row.is_change else _apart(row, settings)
    without = ""
    if row.driver is not None:
        gap = "" if row.is_ratio or isnan(row.driver_gap) else f" (gap {row.driver_gap:+.3f})"
        without = (
            f". If {legible(row.driver)} were left out of the comparison, the verdict would be: "
            f"{row.driver_verdict}{gap}"
        )
    return (
        f"{metric} of {name} {statement}; {p} {pvalue(row.p_adjusted, settings['alpha'])}{without}"
        f"{turning and f'. {turning}'}"
    )


def _apart(row: Row, settings: Mapping[str, Any]) -> str:
    """What the score is, and how far from the reference's."""
    level = percent(settings["confidence_level"])
    ends = "" if isnan(row.low) else f" ({level} interval {number(row.low)} to {number(row.high)})"
    return f"is {number(row.score)}{ends}, {_than(row)}{_bound(row, settings)}"


def _changed(row: Row, settings: Mapping[str, Any]) -> str:
    """How the scores of a group and of its reference change between models, and what that makes of the gap."""
    ends = f"{percent(settings['confidence_level'])} interval {span_text(row.low, row.high)}"
    bound = _bound(row, settings).removeprefix(", by ").strip(" ()")
    group, reference = (
        f"{number(before)} to {number(before + change)}"
        for before, change in ((row.before, row.score), (row.reference_before, row.reference_score))
    )
    return (
        f"goes from {group} ({row.score:+.3f}, {ends}), and that of the reference from {reference}; "
        f"{gap_change(row, bound)}"
    )


def _than(row: Row) -> str:
    """How the score lies to the reference's."""
    reference = number(row.reference_score)
    if row.verdict is Verdict.UNLIKE:
        return f"and the group is not drawn like the reference, whose score is {reference}"
    if row.is_pooled:
        odds = f"{row.verdict} than" if isnan(row.gap) else f"{number(row.gap)} times"
        return f"its odds {odds} the reference's within strata"
    if isnan(row.difference):
        is_distance = getattr(lookup_metric(row.metric), "is_distance", False)
        return "more than chance explains" if is_distance else f"{row.verdict} than no gap"
    if row.is_ratio:
        return f"{number(row.gap)} times the reference's {reference}"
    direction = "higher" if row.difference > 0 else "lower"
    return f"{number(abs(row.difference))} {direction} than the reference's {reference}"


def _bound(row: Row, settings: Mapping[str, Any]) -> str:
    """How large the gap is at least, or that all of it is small."""
    margin = margin_of(row, settings["margin"])
    if row.largest_gap <= margin and not row.is_ratio:
        return f", by less than {margin:g}"
    if isnan(row.at_least):
        ends = span_text(row.gap_low, row.gap_high)
        what = "ratio" if row.is_ratio else "gap"
        return f" ({percent(settings['confidence_level'])} interval of the {what} {ends})" if ends else ""
    least = rounded_down(row.at_least)
    if not row.is_ratio:
        return f", by at least {least}"
    return f", {'' if isnan(row.difference) else f'{row.verdict} '}by a factor of at least {least}"


def _four_fifths(rows: Sequence[Row], name: str, settings: Mapping[str, Any]) -> str:
    row, words = rows[0], Words.of(settings)
    about = "the" if settings["protect"] is None else "about"
    return (
        f"The share of {words.cases} in {name} {words.pronoun} {words.decided(str(settings['favourable']))} is "
        f"{number(row.impact_ratio)} times the highest of groups with at least {percent(MIN_SHARE)} of the cases, "
        f"that of {about} {int(row.impact_n):,} {words.cases} in {legible(row.impact_group)}; the true ratio is at "
        f"most {rounded_up(row.impact_at_most, FOUR_FIFTHS)}, below four fifths"
    )


def _undefined(rows: Sequence[Row], name: str, settings: Mapping[str, Any]) -> str:
    row = rows[0]
    is_known = row.p_undefined > 0 and row.lacks_score
    likely = f"; the probability of that was {100 * row.p_undefined:.3g}%" if is_known else ""
    return f"{lookup_metric(row.metric).name} of {name} cannot be compared: {row.reason}{likely}"


def _inconclusive(rows: Sequence[Row], name: str, settings: Mapping[str, Any]) -> str:
    margin = settings["margin"]
    scores = ", ".join(f"{row.metric} ({counts_text(row.denominators)})" for row in rows)
    lacking = [(row, needed - row.support) for row in rows if (needed := _needed(row)) is not None]
    enough = ""
    if lacking:
        more = ", ".join(f"{n:,} more for {row.metric}" for row, n in lacking)
        ratios = " (ratios: a factor of 1.25)" if any(row.is_ratio for row, _ in lacking) else ""
        enough = f"; {more} would find a gap of {margin:g}{ratios} with a probability of 80%"
    return (
        f"Too few cases to tell for {name} ({several(rows[0].n, 'case')}): {scores}; no difference was found, and gaps "
        f"beyond {margins_text(rows, margin)} remain possible. In brackets the cases each score rests on{enough}"
    )
