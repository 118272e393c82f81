"""The few sentences that matter, in words that need no statistics, from the rows of an audit alone.

"Surely" means the whole interval of the gap. What is sure is rounded towards no gap, so that no sentence says more than
its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import exp, floor, log
from statistics import median_high, median_low
from typing import Any

import numpy as np

from ..cells import CELLS
from ..errors import printable
from ..inference import FOUR_FIFTHS
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..records import Record
from .findings import number, rounded_down, several
from .meanings import of_people, worse_way
from .row import Row, labels
from .settings import ReferenceKind
from .verdict import Verdict

__all__ = ["Headline", "Tier", "compared_with", "headlines", "needed_text", "tier", "untold"]

# What the cases that a rate counts have in common.
_COUNTED = {
    "acc": "predicted correctly",
    "inacc": "predicted wrongly",
    "prev": "actually positive",
    "nprev": "actually negative",
    "jaccard": "both",
    **dict.fromkeys(("ppr", "tpr", "fpr"), "predicted positive"),
    **dict.fromkeys(("pnr", "fnr", "tnr"), "predicted negative"),
    **dict.fromkeys(("ppv", "for"), "actually positive"),
    **dict.fromkeys(("npv", "fdr"), "actually negative"),
}
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
    ['large and sure', 'sure, size unclear', 'sure but small', 'may be chance']
    """

    meaning: str

    def __new__(cls, words: str, meaning: str) -> Tier:
        """Create a member whose value is its words."""
        member = str.__new__(cls, words)
        member._value_ = words
        member.meaning = meaning
        return member

    LARGE = "large and sure", "the whole interval of the gap lies beyond ±{margin:g} (ratios: beyond 0.8 or 1.25)"
    UNCLEAR = "sure, size unclear", "there is a gap, and its interval lies on both sides of the margin"
    SMALL = "sure but small", "there is a gap, and its whole interval lies within the margin"
    CHANCE = "may be chance", "neither a gap nor its absence can be told"


def tier(row: Row, margin: float) -> Tier | None:
    """How large and how sure the gap of a row is.

    Parameters
    ----------
    row : Row
        The row.
    margin : float
        The margin of the audit. Ratios are compared with 0.8 and 1.25 instead.

    Returns
    -------
    Tier or None
        None if there is no gap: the scores are alike, cannot be compared, or are the reference's.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> rows = audit_counts({"A": (10, 90, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"]).rows
    >>> [(row.metric, tier(row, 0.1).value) for row in rows if row.group == "A"]
    [('tpr', 'large and sure'), ('fpr', 'may be chance')]
    """
    if row.verdict is Verdict.TOO_FEW:
        return Tier.CHANCE
    gap = row.gap
    if not row.differs:
        return None
    if gap is None:
        return Tier.UNCLEAR
    limit = -log(FOUR_FIFTHS) if _on_ratio(row) else margin
    if row.sure_gap > limit:
        return Tier.LARGE
    return Tier.SMALL if max(abs(gap[0]), abs(gap[1])) <= limit else Tier.UNCLEAR


def _on_ratio(row: Row) -> bool:
    return row.ratio_low is not None or find_metric(row.metric).kind == "ratio"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Headline(Record):
    """A sentence about one group and one metric.

    Attributes
    ----------
    sentence : str
        The sentence, with its full stop.
    by, group, metric : str
        The row that it is about.
    harms : bool
        Whether the gap is to the disadvantage of the group.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (10, 90, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> headlines(a.rows, a.settings)[0].group
    'A'
    """

    sentence: str
    by: str
    group: str
    metric: str
    harms: bool

    def __str__(self) -> str:
        return printable(self.sentence)


def headlines(rows: Sequence[Row], settings: Mapping[str, Any], most: int = 5) -> tuple[Headline, ...]:
    """The differences that matter most: the large and sure ones first.

    Among equally sure ones, those come first that can be counted in people, then those that harm the group, and then
    the larger gaps. A group has at most two sentences. Gaps that depend on a single group of the reference come only if
    there is room, and facts about people, such as prevalence, only if nothing else differs. Of two groups that are each
    other's reference, only one is named.

    Parameters
    ----------
    rows : sequence of Row
        The rows of an audit.
    settings : mapping
        Its settings.
    most : int
        How many sentences at most.

    Returns
    -------
    tuple of Headline
        The sentences; none if no score differs.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> print(headlines(a.rows, a.settings)[0])
    Of 100 actual positives in A, 10 were predicted positive; of 100 among the others, 75. Surely at least 58 fewer
    per 100.
    """
    differ = [row for row in rows if row.differs]
    about = [row for row in differ if not of_people(row.metric)] or differ
    order = list(Tier)

    def rank(row: Row) -> tuple[bool, int, bool, bool, float]:
        place = order.index(_tier(row, settings))
        return row.driver is not None, place, row.metric not in _COUNTED, not _harmed(row, settings), -row.sure_gap

    ranked = sorted(about, key=rank)
    members = Counter(by for by, _ in {(row.by, row.group) for row in rows})
    chosen: list[Row] = []
    for driven, allowed in product((False, True), range(1, _PER_GROUP + 1)):
        for row in ranked:
            fits = len(chosen) < most and (row.driver is not None) is driven
            if fits and row not in chosen and not _told(row, chosen, members, allowed):
                chosen.append(row)
    called = labels(rows)
    return tuple(
        Headline(
            sentence=_sentence(row, called[row.by, row.group]) + _driven(row),
            by=row.by,
            group=row.group,
            metric=row.metric,
            harms=_harmed(row, settings),
        )
        for row in sorted(chosen, key=ranked.index)
    )


def _tier(row: Row, settings: Mapping[str, Any]) -> Tier:
    return tier(row, settings["margin"]) or Tier.CHANCE


def _harmed(row: Row, settings: Mapping[str, Any]) -> bool:
    return worse_way(row.metric, settings["favourable"]) == row.verdict


def _told(row: Row, chosen: Iterable[Row], members: Mapping[str, int], allowed: int) -> bool:
    """Whether the sentences chosen so far are enough about the group, or say the same."""
    same = [other for other in chosen if other.by == row.by]
    own = [other for other in same if other.group == row.group]
    if len(own) >= allowed or any(_complement(row, other) for other in own):
        return True
    # Of two groups that are each other's rest, one sentence says both.
    mirrored = [other for other in same if other.group != row.group and other.metric == row.metric]
    return members[row.by] == 2 and row.reference_kind in (ReferenceKind.REST, ReferenceKind.ALL) and bool(mirrored)


def _complement(row: Row, other: Row) -> bool:
    """Whether two scores are of the same cases, and the gaps equally large, as for TPR and FNR."""
    if row.difference is None or other.difference is None:
        return False
    m, o = find_metric(row.metric).base, find_metric(other.metric).base
    return m.denominator == o.denominator and abs(abs(row.difference) - abs(other.difference)) < 1e-12


def _sentence(row: Row, who: str) -> str:
    m = find_metric(row.metric)
    if m.key in _COUNTED and row.score is not None and row.reference_score is not None:
        return _in_people(row, m, who)
    score = number(row.score)
    if m.comparisons:
        none = "1" if m.kind == "ratio" else "0"
        sure = f" Surely {_by(row)} than {none}." if row.sure_gap and not m.is_distance else ""
        if m.is_distance and row.sure_gap:
            sure = f" Surely at least {_down(row.sure_gap)}."
        return f"{m.name} of {who} is {score}, and {none} would be no gap.{sure}"
    sure = f" Surely {_by(row)}." if row.sure_gap else ""
    return f"{m.name} of {who} is {score}; {_among(row)}, it is {number(row.reference_score)}.{sure}"


def _driven(row: Row) -> str:
    if row.driver is None:
        return ""
    return f" Without {row.driver} among the others, the verdict would be: {row.without_verdict}."


def _by(row: Row) -> str:
    """How much higher or lower, at least."""
    if _on_ratio(row):
        return f"{row.verdict} by a factor of at least {_down(exp(row.sure_gap))}"
    return f"at least {_down(row.sure_gap)} {row.verdict}"


def _down(value: float) -> str:
    return rounded_down(value)


def _among(row: Row) -> str:
    return _AMONG.get(row.reference_kind, f"in {row.reference}")


def _in_people(row: Row, m: Metric, who: str) -> str:
    """A gap of a rate, counted in people."""
    assert row.score is not None
    assert row.reference_score is not None
    per = _per(row.score, row.reference_score, row.sure_gap)
    whole, counted = _whole(m), _COUNTED[m.key]
    own = _of(row.score, row.basis, per)
    theirs = _of(row.reference_score, _reference_basis(row, m), per)
    verb = "was" if own[1] == 1 else "were"
    first = f"Of {own[0]} {_one_or_many(whole, own[0])} in {who}, {own[2]} {verb} {counted}"
    second = f"of {theirs[0]} {_among(row)}, {theirs[2]}"
    fewest = floor(per * row.sure_gap)
    more = "more" if row.verdict is Verdict.HIGHER else "fewer"
    return f"{first}; {second}." + (f" Surely at least {fewest:,} {more} per {per:,}." if fewest else "")


def _whole(m: Metric) -> str:
    return m.base.denominator.name if m.base.denominator else "cases"


def _one_or_many(whole: str, of: str) -> str:
    return whole.removesuffix("s") if of == "the 1" else whole


def _of(rate: float, basis: int, per: int) -> tuple[str, int, str]:
    """A rate as a count out of ``per`` cases, or of all if there are fewer: of how many, how many, and in words."""
    if basis < per:
        count = round(rate * basis)
        return f"the {basis:,}", count, f"{count:,}"
    count = round(rate * per)
    exact = abs(rate * per - count) < 1e-9 * per
    return f"{per:,}", count, f"{count:,}" if exact else f"about {count:,}"


def _per(rate: float, other: float, sure: float) -> int:
    """The smallest round number of people out of which the two rates, and what is sure, are told apart."""
    for per in _ROUND:
        counts = [(r, round(r * per)) for r in (rate, other)]
        kept = all((count > 0 or r == 0) and (count < per or r == 1) for r, count in counts)
        if kept and counts[0][1] != counts[1][1] and (sure == 0 or sure * per >= 1):
            return per
    return _ROUND[-1]


def _reference_basis(row: Row, m: Metric) -> int:
    cells = [getattr(row, f"reference_{cell}") for cell in CELLS]
    if None in cells:
        return row.reference_n
    return int(m.base.basis(np.array(cells)))


def compared_with(rows: Iterable[Row]) -> str:
    """What the groups are compared with, to follow "each group is compared with".

    Parameters
    ----------
    rows : iterable of Row
        The rows of an audit.

    Returns
    -------
    str
        The reference, or that of each column.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> counts = {("A", "F"): (3, 2, 8, 30), ("B", "M"): (30, 10, 12, 48)}
    >>> compared_with(audit_counts(counts, by=["race", "sex"]).rows)
    'all cases outside it'
    >>> compared_with(audit_counts(counts, by=["race", "sex"], reference={"race": "B"}, crossings=1).rows)
    'the reference of its column: the group B (race), all cases outside it (sex)'
    """
    kinds: dict[str, set[tuple[ReferenceKind, str]]] = {}
    for row in rows:
        kinds.setdefault(row.by, set()).add((row.reference_kind, row.reference))
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

    Parameters
    ----------
    rows : sequence of Row
        The rows of an audit.
    settings : mapping
        Its settings.

    Returns
    -------
    tuple of str
        The sentences; none if everything could be told.

    Examples
    --------
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
        (row, needed) for row in few if find_metric(row.metric).kind != "ratio" and (needed := _needed(row)) is not None
    ]
    if not needing:
        return []
    gap = f"To find a true gap of {margin:g} with a probability of 80 %,"
    if len(needing) == 1:
        row, needed = needing[0]
        whole = _whole(find_metric(row.metric))
        return [f"{gap} {row.metric} of {row.group} takes {needed:,} {whole}; there are {row.basis:,}."]
    those = "them" if len(needing) == len(few) else f"{len(needing):,} of them"
    need, have = median_low(n for _, n in needing), median_high(row.basis for row, _ in needing)
    return [
        f"{gap} half of {those} need {need:,} or more cases that the score rests on, and half have {have:,} or fewer."
    ]


def _needed(row: Row) -> int | None:
    return row.needed if row.needed is not None and row.needed > row.basis else None


def needed_text(row: Row, margin: float) -> str:
    """How many cases it would take to tell, in words.

    Parameters
    ----------
    row : Row
        The row.
    margin : float
        The margin of the audit.

    Returns
    -------
    str
        The sentence; empty if it is known that there are enough cases, or not known how many are needed.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> needed_text(audit_counts({"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}, metrics="tpr").rows[0], 0.1)
    ''
    """
    needed = _needed(row) if row.verdict is Verdict.TOO_FEW else None
    if needed is None:
        return ""
    m = find_metric(row.metric)
    factor = 0.8 if row.reference_score is not None and 1.25 * row.reference_score > m.base.high else 1.25
    gap = f"ratio of {factor:g}" if m.kind == "ratio" else f"gap of {margin:g}"
    are = "is" if row.basis == 1 else "are"
    return (
        f"It takes {needed:,} {_whole(m)} to find a true {gap} with a probability of 80 %; there {are} {row.basis:,}."
    )
