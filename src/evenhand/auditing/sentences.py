"""The few sentences that matter, in words that need no statistics, from the rows of an audit alone.

"At least" is a bound that holds for everything an audit says, see `Gap`. It is rounded towards no gap, so that no
sentence says more than its row. Where no bound is left, a sentence gives the gap and its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import floor
from statistics import median_high, median_low
from typing import Any

from ..metrics import Metric
from ..wording import counts_text, number, percent, rounded_down, several, span_text
from .asked import described
from .judging import margin_of
from .rows import Place, Row, place_text, told_apart
from .settings import ReferenceKind
from .verdicts import Verdict

__all__ = ["Headline", "Tier", "compared_with", "headlines", "needed_text", "tier", "turning_text", "untold"]

_AMONG = {
    ReferenceKind.REST: "among the others",
    ReferenceKind.ALL: "among all cases",
    ReferenceKind.MATRIX: "in the given reference",
}
_ROUND = (100, 1_000, 10_000, 100_000, 1_000_000)
_PER_GROUP = 2


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
    CHANCE = "may be chance", "neither a gap nor its absence can be told"


def tier(row: Row, margin: float) -> Tier | None:
    """How large and how sure a gap is; None if there is none to speak of."""
    if row.verdict is Verdict.TOO_FEW:
        return Tier.CHANCE
    if not row.differs:
        return None
    limit = margin_of(row.gap, described(row.metric), margin)
    if row.gap.beyond > limit:
        return Tier.LARGE
    return Tier.SMALL if row.gap.within <= limit else Tier.UNCLEAR


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
    at: Place
    by: str
    group: str
    metric: str
    harms: bool


def headlines(rows: Sequence[Row], settings: Mapping[str, Any], most: int = 5) -> tuple[Headline, ...]:
    """The few sentences that matter most: gaps that are large for certain and harm, of different groups."""
    differ = [row for row in rows if row.differs]
    about = [row for row in differ if not getattr(described(row.metric), "of_people", False)] or differ
    order = list(Tier)

    def rank(row: Row) -> tuple[bool, int, bool, bool, float]:
        place = order.index(tier(row, settings["margin"]) or Tier.CHANCE)
        # Two groups that are each other's rest have the same gap up to rounding.
        gap = -round(row.gap.beyond, 9)
        return row.driver is not None, place, _counted(row) is None, not _harmed(row, settings), gap

    ranked = sorted(about, key=rank)
    members = Counter(by for by, _ in {(row.by, row.group) for row in rows if row.n})
    chosen: list[Row] = []
    for driven, allowed in product((False, True), range(1, _PER_GROUP + 1)):
        for row in ranked:
            fits = len(chosen) < most and (row.driver is not None) is driven
            if fits and row not in chosen and not _told(row, chosen, members, allowed):
                chosen.append(row)
    called = told_apart(rows)
    return tuple(
        Headline(
            sentence=_sentence(row, called[row.by, row.group], settings["level"])
            + _driven(row, called[row.by, row.group])
            + (f" {said}" if (said := turning_text(row)) else ""),
            at=row.at,
            by=row.by,
            group=row.group,
            metric=row.metric,
            harms=_harmed(row, settings),
        )
        for row in sorted(chosen, key=ranked.index)
    )


def _counted(row: Row) -> str | None:
    """What the cases that a rate counts have in common; None for other scores, and for rates pooled over strata."""
    counted: str | None = getattr(described(row.metric), "counted", None)
    return None if row.gap.kind == "odds ratio" else counted


def _harmed(row: Row, settings: Mapping[str, Any]) -> bool:
    m = described(row.metric)
    return isinstance(m, Metric) and m.worse(settings["favourable"]) == row.verdict


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
    return members[row.by] == 2 and row.reference.kind in (ReferenceKind.REST, ReferenceKind.ALL) and bool(mirrored)


def _complement(row: Row, other: Row) -> bool:
    first, second = row.gap.difference, other.gap.difference
    m, o = described(row.metric), described(other.metric)
    if first is None or second is None or not isinstance(m, Metric) or not isinstance(o, Metric):
        return False
    return m.base.denominator == o.base.denominator and abs(abs(first) - abs(second)) < 1e-12


def _sentence(row: Row, who: str, level: float) -> str:
    m = described(row.metric)
    place = place_text(row.at)
    where = f"{place[0].upper()}{place[1:]}: " if place else ""
    return f"{where}{_scores(row, m, who)} {_size(row, m, level)}".rstrip()


def _scores(row: Row, m: Any, who: str) -> str:
    """The scores of the group and of its reference."""
    score = row.score.value
    if row.is_change:
        return f"{m.name} of {who} changes by {score:+.3f}; {_among(row)}, by {row.reference.score:+.3f}."
    if isinstance(m, Metric) and m.comparisons:
        return f"{m.name} of {who} is {number(score)}, and {'1' if m.kind == 'ratio' else '0'} would be no gap."
    if _counted(row) is not None and row.verdict is not Verdict.UNLIKE and row.reference.score is not None:
        return _in_people(row, m, who)
    return f"{m.name} of {who} is {number(score)}; {_among(row)}, it is {number(row.reference.score)}."


def _size(row: Row, m: Any, level: float) -> str:
    """How large the gap is at least or, where no bound is left, what it seems to be."""
    if row.verdict is Verdict.UNLIKE:
        return "The group is not drawn like the reference."
    odds = "Within strata, the odds are" if row.gap.kind == "odds ratio" else ""
    if row.gap.at_least is None:
        gap = "odds ratio" if odds else "ratio of the two" if row.gap.is_ratio else "gap"
        return f"The {gap} is {_gap_text(row, level)}."
    if _counted(row) is not None and row.reference.score is not None and not row.is_change:
        per = _per(row.score.value or 0.0, row.reference.score, row.gap.at_least)
        return f"At least {floor(per * row.gap.at_least):,} {_more(row)} per {per:,}."
    if getattr(m, "is_distance", False):
        return f"At least {rounded_down(row.gap.at_least)}."
    least = rounded_down(row.gap.at_least)
    if row.gap.is_ratio:
        return f"{odds or 'It is'} {row.verdict} by a factor of at least {least}."
    return f"At least {least} {row.verdict}."


def _gap_text(row: Row, level: float) -> str:
    gap = row.gap
    value = "unknown" if gap.value is None else number(gap.value) if gap.is_ratio else f"{gap.value:+.3f}"
    return f"{value} ({percent(level)} interval {span_text(gap.low, gap.high)})"


def _more(row: Row) -> str:
    return "more" if row.verdict is Verdict.HIGHER else "fewer"


def _driven(row: Row, who: str) -> str:
    """That another comparison, without one group of the reference, would say something else."""
    if row.driver is None:
        return ""
    left_out = f"if {row.driver.group} were left out of the comparison"
    return f" This depends on one group: {left_out}, the verdict on {who} would be: {row.driver.verdict}."


def _among(row: Row) -> str:
    return _AMONG.get(row.reference.kind, f"in {row.reference.name}")


def _in_people(row: Row, m: Metric, who: str) -> str:
    assert row.score.value is not None
    assert row.reference.score is not None
    per = _per(row.score.value, row.reference.score, row.gap.at_least or 0.0)
    whole = _whole(m)
    own = _of(row.score.value, row.rests_on[0], per)
    theirs = _of(row.reference.score, _reference_basis(row, m), per)
    verb = "was" if own[1] == 1 else "were"
    first = f"Of {own[0]} {_one_or_many(whole, own[0])} in {who}, {own[2]} {verb} {_counted(row)}"
    return f"{first}; of {theirs[0]} {_among(row)}, {theirs[2]}."


def _whole(m: Any) -> str:
    denominator = m.base.denominator if isinstance(m, Metric) else None
    return denominator.name if denominator else "cases"


def _one_or_many(whole: str, of: str) -> str:
    return whole.removesuffix("s") if of == "the 1" else whole


def _of(rate: float, basis: int, per: int) -> tuple[str, int, str]:
    """A rate as a count of so many, or of all if there are fewer."""
    if basis < per:
        count = round(rate * basis)
        return f"the {basis:,}", count, f"{count:,}"
    count = round(rate * per)
    exact = abs(rate * per - count) < 1e-9 * per
    return f"{per:,}", count, f"{count:,}" if exact else f"about {count:,}"


def _per(rate: float, other: float, sure: float) -> int:
    """The smallest round number of people in which both rates can be told apart, and the bound of their gap too."""
    for per in _ROUND:
        counts = [(r, round(r * per)) for r in (rate, other)]
        kept = all((count > 0 or r == 0) and (count < per or r == 1) for r, count in counts)
        if kept and counts[0][1] != counts[1][1] and (sure == 0 or sure * per >= 1):
            return per
    return _ROUND[-1]


def _reference_basis(row: Row, m: Metric) -> int:
    cells = row.reference.cells
    return row.reference.n if cells is None else int(m.base.basis(cells)[0])


def compared_with(rows: Iterable[Row]) -> str:
    """What the groups are compared with, to follow "each group is compared with".

    >>> from evenhand import audit_counts
    >>> counts = {("A", "F"): (3, 2, 8, 30), ("B", "M"): (30, 10, 12, 48)}
    >>> compared_with(audit_counts(counts, by=["race", "sex"]).rows)
    'all cases outside it'
    >>> compared_with(audit_counts(counts, by=["race", "sex"], reference={"race": "B"}, crossings=1).rows)
    'the reference of its column: the group B (race), all cases outside it (sex)'
    """
    kinds: dict[str, set[tuple[ReferenceKind, str]]] = {}
    for row in rows:
        kinds.setdefault(row.by, set()).add((row.reference.kind, row.reference.name))
    each = {by: _reference_words(dict(references)) for by, references in kinds.items()}
    if len(set(each.values())) == 1:
        return next(iter(each.values()))
    return "the reference of its column: " + ", ".join(f"{words} ({by})" for by, words in sorted(each.items()))


def _reference_words(references: Mapping[ReferenceKind, str]) -> str:
    if ReferenceKind.ALL in references:
        return "all cases" + (", or all cases outside it if a score is not a rate" * (ReferenceKind.REST in references))
    if ReferenceKind.REST in references:
        return "all cases outside it"
    if ReferenceKind.MATRIX in references:
        return "the counts that were given as reference"
    return f"the group {references[ReferenceKind.GROUP]}"


def untold(rows: Sequence[Row], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What the audit could not tell, and what it would take.

    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"])
    >>> for sentence in untold(a.rows, a.settings):
    ...     print(sentence)
    2 of 4 comparisons have too few cases to tell, in 2 of 2 groups...
    2 of 4 comparisons cannot be made because a score does not exist, in 2 of 2 groups; most often: no actual positives
    (TP + FN = 0).
    """
    compared = [row for row in rows if row.verdict is not Verdict.REFERENCE]
    everybody = len({(row.by, row.group) for row in rows})
    sentences = []
    few = [row for row in compared if row.verdict is Verdict.TOO_FEW]
    if few:
        sentences.append(
            f"{len(few):,} of {several(len(compared), 'comparison')} {'has' if len(few) == 1 else 'have'} too few "
            f"cases to tell, in {_groups(few)} of {several(everybody, 'group')}."
        )
        sentences += _lacking(few, settings["margin"])
    undefined = [row for row in compared if row.verdict is Verdict.UNDEFINED]
    if undefined:
        (reason, n), *_ = Counter(row.reason for row in undefined).most_common(1)
        often = "" if n == len(undefined) else "most often: "
        sentences.append(
            f"{len(undefined):,} of {several(len(compared), 'comparison')} cannot be made because a score does not "
            f"exist, in {_groups(undefined)} of {several(everybody, 'group')}; {often}{reason}."
        )
    return tuple(sentences)


def _groups(rows: Iterable[Row]) -> str:
    return f"{len({(row.by, row.group) for row in rows}):,}"


def _lacking(few: Sequence[Row], margin: float) -> list[str]:
    """How many cases would be needed, in half of the rows for which that is known."""
    needing = [
        (row, needed)
        for row in few
        if getattr(described(row.metric), "kind", None) != "ratio" and (needed := _needed(row)) is not None
    ]
    if not needing:
        return []
    gap = f"To find a true gap of {margin:g} with a probability of 80 %,"
    if len(needing) == 1:
        row, needed = needing[0]
        whole = _whole(described(row.metric))
        return [
            f"{gap} {row.metric} of {row.group} takes {several(needed, whole.removesuffix('s'))}; {_there_are(row)}."
        ]
    half = "half of them" if len(needing) == len(few) else f"half of the {len(needing):,} for which that is known"
    need, have = median_low(n for _, n in needing), median_high(min(row.rests_on) for row, _ in needing)
    return [f"{gap} {half} need {need:,} or more cases that the score rests on, and half have {have:,} or fewer."]


def _needed(row: Row) -> int | None:
    return row.needed if row.needed is not None and row.needed > min(row.rests_on) else None


def _there_are(row: Row) -> str:
    return f"there {'is' if row.rests_on == (1,) else 'are'} {counts_text(row.rests_on)}"


def turning_text(row: Row) -> str:
    """How few cases without a group would turn a verdict, in words; nothing if that is not known.

    >>> from evenhand import audit_counts
    >>> counts = {"A": (10, 10, 0, 0), "B": (80, 20, 0, 0), None: (5, 5, 0, 0)}
    >>> turning_text(audit_counts(counts, metrics="tpr").rows[0])
    'Of the 10 actual positives whose group is unknown, 4 could turn this verdict.'
    """
    unknown, m = row.unknown, described(row.metric)
    known = isinstance(m, Metric) and not m.comparisons and m.base.curve is not None
    if unknown is None or not unknown.n or not known or row.verdict not in (Verdict.HIGHER, Verdict.LOWER):
        return ""
    whose = f"{several(unknown.n, _whole(m).removesuffix('s'))} whose {row.by} is unknown"
    if unknown.turns is None:
        return f"None of the ways to assign the {whose} would turn this verdict."
    return f"Of the {whose}, {unknown.turns:,} could turn this verdict."


def needed_text(row: Row, margin: float) -> str:
    """How many cases it would take to tell, in words.

    >>> from evenhand import audit_counts
    >>> needed_text(audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0], 0.1)
    ''
    """
    needed = _needed(row) if row.verdict is Verdict.TOO_FEW else None
    if needed is None:
        return ""
    m = described(row.metric)
    theirs = row.reference.score
    factor = 0.8 if theirs is not None and 1.25 * theirs > m.base.high else 1.25
    gap = f"ratio of {factor:g}" if m.kind == "ratio" else f"gap of {margin:g}"
    find = f"to find a true {gap} with a probability of 80 %"
    return f"It takes {several(needed, _whole(m).removesuffix('s'))} {find}; {_there_are(row)}."
