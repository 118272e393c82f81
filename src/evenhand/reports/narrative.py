"""The narrator: puts rows of results into words. Every output takes its sentences from here.

A key sentence is for readers who are not statisticians, a description has all numbers, and a size is
how large a difference is at least: a bound that is rounded towards no difference, so that no sentence
says more than its row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, floor, isnan

import numpy as np

from ..auditing import (
    DEFAULT_MARGIN,
    Finding,
    ReferenceKind,
    Row,
    Verdict,
    lookup_metric,
    margin_of,
)
from ..metrics import Metric
from ..wording import legible, number, percent, pvalue, rounded_down, rounded_up, several
from .words import Settings, Words, counted_property, harmful_direction

ERROR_RATES = ("tpr", "fpr", "fnr", "tnr", "ppv", "npv")
SELECTION_RATES = ("ppr", "pnr")
MOST_SENTENCES, MOST_SELECTION_RATES = 5, 2
# Bounds below this say nothing of the size, and gaps below this are equal but for rounding.
_SLIGHT, _ROUNDING, _DIGITS = 1e-3, 1e-9, 12
_PROPER = ("Matthews", "Cohen", "Jaccard", "Fowlkes", "Brier")
_REFERENCES = {
    ReferenceKind.REST.value: "the rest",
    ReferenceKind.ALL.value: "all cases",
    ReferenceKind.MATRIX.value: "the given matrix",
}
_COMPARED = {
    Verdict.HIGHER: "higher than",
    Verdict.LOWER: "lower than",
    Verdict.EQUIVALENT: "equivalent to",
    Verdict.UNLIKE: "not distributed like",
    Verdict.INCONCLUSIVE: "not distinguishable from",
    Verdict.NOT_TESTED: "not tested against",
}
_GOALS = {Verdict.MEETS: "meets", Verdict.MISSES: "misses"}


# Parts of a sentence


def lower_first(name: str) -> str:
    """The name of a metric inside a sentence; those that begin with an abbreviation or a name keep their capital."""
    is_proper = not name[1:2].islower() or name.startswith(_PROPER)
    return name if is_proper else name[0].lower() + name[1:]


def reference_text(row: Row) -> str:
    """What a row is compared with."""
    return _REFERENCES.get(row.reference_kind) or legible(row.reference)


def join_references(references: Mapping[str, str]) -> str:
    """What is compared with, once if it is the same for all columns."""
    if len(set(references.values())) == 1:
        return next(iter(references.values()))
    return ", ".join(f"{text} ({by})" for by, text in references.items())


def is_rate(row: Row) -> bool:
    """Whether the score of a row is a share of cases, which can be said in percent."""
    is_apart = row.is_pooled or row.is_gap_change or row.verdict is Verdict.UNLIKE
    return bool(counted_property(lookup_metric(row.metric))) and not is_apart


def is_gap_metric(row: Row) -> bool:
    """Whether the score is itself a gap, such as that of the true positive rates."""
    metric = lookup_metric(row.metric)
    return isinstance(metric, Metric) and bool(metric.comparisons)


def percents(*rates: float) -> list[str]:
    """Rates in percent, with the digits that tell them apart and from none and all."""
    ends = (*rates, 0.0, 1.0)
    distinct = {round(rate, _DIGITS) for rate in ends}
    for digits in range(_DIGITS - 1):
        texts = [f"{100 * rate:.{digits}f}%" for rate in ends]
        if len(set(texts)) == len(distinct):
            break
    return texts[: len(rates)]


def points(value: float) -> str:
    """A difference of rates in percentage points, with its sign."""
    text = f"{100 * value:+.{0 if abs(value) >= 0.00995 else 1}f}"
    return text.replace("-", "−") if float(text) else "0"


def gap_points(row: Row) -> str:
    """A gap in a picture: a difference in points, or a factor; "" without a gap."""
    return gap_text(row) if row.is_ratio or isnan(row.gap) else points(row.gap)


def gap_text(row: Row) -> str:
    """A gap in a table: a difference with its sign, or a factor; "" without a gap."""
    text = f"×{number(row.gap)}" if row.is_ratio else f"{row.gap:+.3f}"
    return "" if isnan(row.gap) else text


def pvalue_text(row: Row, settings: Settings) -> str:
    """An adjusted p-value in a table, on its side of alpha; "" if nothing was tested."""
    p = row.p_adjusted
    return "" if isnan(p) else pvalue(p, settings["alpha"]).removeprefix("= ")


def size_text(row: Row) -> str:
    """How large a difference is at least, such as "at least 22 points more"."""
    higher, lower = ("more", "less") if is_rate(row) else ("higher", "lower")
    way = {Verdict.HIGHER: higher, Verdict.LOWER: lower}.get(row.verdict, "different")
    way = str(row.verdict) if row.verdict in (Verdict.BETTER, Verdict.WORSE) else way
    bound = row.at_least
    if isnan(bound) or row.smallest_gap < _SLIGHT:
        return f"{way}, size unclear" if "change" in row.question else "size unclear"
    if row.is_ratio:
        return f"at least a factor of {rounded_down(bound)} {way}"
    if not is_rate(row):
        return f"at least {rounded_down(bound)} {way}"
    size = floor(100 * bound + _ROUNDING) if bound >= 0.01 else floor(1000 * bound) / 10
    return f"at least {size:g} point{'s' if size != 1 else ''} {way}"


def score_text(row: Row) -> str:
    """A score, or its change; of rounded counts that do not give it, its range."""
    if not isnan(row.score):
        return f"{row.score:+.3f}" if row.is_gap_change else number(row.score)
    return "undefined" if row.reason else interval_text(row.low, row.high) or "not shown"


def interval_text(low: float, high: float, none: float = 0.0) -> str:
    """An interval such as "[0.241, 0.286]"; an end that does not exist is infinite, and "" if neither exists.

    Ends have the digits that show on which side of ``none`` they are.
    """
    if isnan(low) and isnan(high):
        return ""
    first = "-∞" if isnan(low) else number(low, none)
    return f"[{first}, {'∞' if isnan(high) else number(high, none)}]"


def gap_interval(row: Row) -> str:
    """The interval of a gap, beside 0 or, of ratios, 1."""
    return interval_text(row.gap_low, row.gap_high, float(row.is_ratio))


def driver_mark(row: Row) -> str:
    """The mark of a difference that one group of the reference decides."""
    return "*" if row.driver is not None and row.differs else ""


def driver_text(row: Row) -> str:
    """The verdict without the group of the reference that it depends on; "" if there is none."""
    if row.driver is None:
        return ""
    return f"Driven by {legible(row.driver)}: without it, {row.driver_verdict}"


def tipping_text(row: Row, words: Words) -> str:
    """How few cases of unknown group could change a verdict; "" if that is not known."""
    is_exact = row.method == "fisher" and isnan(row.n_effective)
    is_known = is_exact and row.differs and not row.is_change and not row.is_pooled
    if not (row.unknown_n > 0 and is_known):
        return ""
    column = "group" if " & " in row.by else row.by
    whole = words.whole(lookup_metric(row.metric))
    unknown = f"The {column} of {row.unknown_n:,.0f} {whole} is unknown"
    if isnan(row.tipping_point):
        return f"{unknown}; no assignment of them alone would change this verdict"
    few = f"{row.tipping_point:,.0f}"
    return f"{unknown}; learning it for about {few} of them could change this verdict"


def lacking(row: Row) -> int:
    """How many more cases a row needs for 80% power; 0 if that is not known.

    With a reference that is not twice as large, more cases of the group alone would not do.
    """
    is_needed = row.verdict is Verdict.INCONCLUSIVE and row.required_n > row.support
    metric, cells = lookup_metric(row.metric), row.reference_cells
    if row.is_change:
        return int(row.required_n - row.support) if is_needed else 0
    if not is_needed or not isinstance(metric, Metric):
        return 0
    support = row.reference_n if cells is None else metric.base.support(np.array(cells)).min()
    return int(row.required_n - row.support) if support >= 2 * row.required_n else 0


def harms(row: Row, settings: Settings) -> bool:
    """Whether a difference is to the disadvantage of the group."""
    harmful = harmful_direction(lookup_metric(row.metric), settings["favourable"])
    return row.differs and harmful == row.verdict


def impact_text(row: Row) -> str:
    """An impact ratio beside 0.80, and what is certain of it."""
    ratio, most = number(row.impact_ratio), rounded_up(row.impact_at_most, 0.8)
    if row.is_below_four_fifths:
        return f"{ratio} (at most {most}), below 0.80"
    return f"{ratio} observed, but could be as high as {most}"


# Sentences


def key_sentence(row: Row, words: Words) -> str:
    """What differs and by how much at least, for readers who are not statisticians; without the group's name."""
    metric, reference, size = lookup_metric(row.metric), reference_text(row), size_text(row)
    score, reference_score = number(row.score), number(row.reference_score)
    if row.is_gap_change:
        return f"{metric.name} {_describe_change(row)}; the gap moved {size}."
    if row.is_change:
        scores = row.before, row.score
        before, after = percents(*scores) if is_rate(row) else map(number, scores)
        whole = words.whole(metric) if row.support > 1 else words.whole(metric).removesuffix("s")
        about = "; ".join(filter(None, [f"{row.support:,} {whole}", _count_changes(row)]))
        return f"{metric.name} {before} → {after} ({about}): {size}."
    if row.is_pooled:
        odds = f"odds {number(row.gap)} times those of"
        compared = f"{_COMPARED[row.verdict]} in" if isnan(row.gap) else odds
        return f"{metric.name}, within strata: {compared} {reference}; {size}."
    if row.verdict is Verdict.UNLIKE:
        return f"{metric.name} {score}: not distributed as in {reference} ({reference_score})."
    if is_gap_metric(row):
        return f"{metric.name} {score} ({metric.null_value(0.0):g} is no gap); {size}."
    if not is_rate(row):
        return f"{metric.name} {score}, against {reference_score} in {reference}; {size}."
    part, counted = words.denominator(metric), words.counted(metric)
    if row.support == 1:
        part, counted = part.removesuffix("s"), re.sub("^were ", "was ", counted)
    whole = f"the {row.support:,} {part}" if part else words.count(row.support)
    place = "for" if row.reference_kind == ReferenceKind.GROUP else "in" if part else "of"
    rate, reference_rate = percents(row.score, row.reference_score)
    return f"{rate} of {whole} {counted}, against {reference_rate} {place} {reference}; {size}."


def harm_sentence(row: Row, settings: Settings) -> str:
    """That a difference is to the disadvantage of the group; "" if that is not known."""
    if not harms(row, settings):
        return ""
    before = f"Worse than before, relative to {reference_text(row)}."
    return before if row.is_gap_change else "Worse for this group."


def _describe_change(row: Row) -> str:
    """How the scores of a group and of its reference changed from one model to another."""
    before, change = row.reference_before, row.reference_score
    reference = f"{reference_text(row)} from {number(before)} to {number(before + change)}"
    after = number(row.before + row.score)
    return f"changed from {number(row.before)} to {after}, and in {reference}"


def describe_row(row: Row, settings: Settings) -> str:
    """The score, the verdict and all numbers behind it in one sentence, without the group's name.

    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (8, 12, 5, 75), "B": (70, 30, 40, 160)}, metrics="tpr")
    >>> print(describe_row(a.rows[0], a.settings))
    true positive rate 0.400 (n = 20), lower than 0.700 in the rest;
    difference -0.300, 95% CI [-0.532, -0.035], adjusted p = 0.023; at least 3 points less
    """
    name = lower_first(lookup_metric(row.metric).name)
    score = f"{name} {number(row.score)} (n = {row.support:,})"
    if row.reason and not isnan(row.score):
        return f"{score}, not compared: {row.reason}"
    if row.verdict is Verdict.UNDEFINED or row.reason:
        unchecked = f"; the goal of {row.reference} was not tested" if row.is_goal else ""
        return f"{name} undefined: {row.reason}{_undefined_odds(row)}{unchecked}"
    if row.is_goal:
        return f"{score}, {_describe_goal(row, settings)}"
    if row.is_change:
        change = f"{number(row.before)} → {number(row.score)}"
        score = f"{name} {change} (n = {row.support:,}), {row.verdict}"
    if row.is_gap_change:
        score = f"{name} {_describe_change(row)}"
    if row.verdict is Verdict.REFERENCE:
        return f"{score}, the reference"
    if not (row.is_change or row.is_gap_change):
        known = "" if isnan(row.reference_score) else f"{number(row.reference_score)} in "
        score += f", {_COMPARED[row.verdict]} {known}{reference_text(row)}"
    parts = [score, ", ".join(_describe_gap(row, settings)), _count_changes(row)]
    size = size_text(row) if row.differs else ""
    parts.append(size.removeprefix(f"{row.verdict}, ") if row.is_change else size)
    said = "; ".join(filter(None, parts)), driver_text(row), tipping_text(row, Words.of(settings))
    return ". ".join(filter(None, said))


def _describe_gap(row: Row, settings: Settings) -> Iterator[str]:
    """The gap with its interval and p-value."""
    if not isnan(row.gap) and not is_gap_metric(row):
        kind = "change of the gap" if row.is_gap_change else row.gap_kind
        kind = "change" if row.is_change else kind
        yield f"{kind} {gap_text(row).removeprefix('×')}"
    if interval := gap_interval(row):
        yield f"{percent(settings['confidence_level'])} CI {interval}"
    if not isnan(row.p_adjusted):
        yield _describe_pvalue(row, settings)


def _describe_goal(row: Row, settings: Settings) -> str:
    """Whether a score meets its goal, and how many cases would show it."""
    found = _GOALS.get(row.verdict, "found neither to meet nor to miss")
    interval = interval_text(row.low, row.high, row.reference_score)
    tested = (
        f"{percent(settings['confidence_level'])} CI {interval}, {_describe_pvalue(row, settings)}"
    )
    said = [f"{found} the goal of {row.reference}", tested, goal_steps(row, settings)]
    return "; ".join(filter(None, said))


def goal_text(row: Row) -> str:
    """A goal in a table, such as "≥0.8"; "" if a row has none."""
    sign = "≥" if row.reference.startswith("at least") else "≤"
    return f"{sign}{row.reference_score:.15g}" if row.is_goal else ""


def goal_steps(row: Row, settings: Settings) -> str:
    """How many cases would show that an inconclusive score meets its goal; "" if that is not known."""
    if not row.required_n > row.support:
        return ""
    margin = planned_gap(settings) * (1 if goal_text(row)[0] == "≥" else -1)
    better = min(max(row.reference_score + margin, 0.0), 1.0)
    return f"80% power if the true score is {better:.4g}: {row.required_n:,.0f} cases"


def _describe_pvalue(row: Row, settings: Settings) -> str:
    adjusted = "" if settings["adjust"] == "none" else "adjusted "
    return f"{adjusted}p {pvalue(row.p_adjusted, settings['alpha'])}"


def _count_changes(row: Row) -> str:
    """How many cases changed either way; "" if that is not known."""
    if isnan(row.gained) or not row.is_change:
        return ""
    better = getattr(lookup_metric(row.metric), "better", "")
    if better in ("higher", "lower"):
        wins, losses = (row.gained, row.lost)[:: 1 if better == "higher" else -1]
        losses_text = several(int(losses), "loss", "losses")
        return f"{losses_text}, {several(int(wins), 'win')}"
    return f"{row.lost:,.0f} before only, {row.gained:,.0f} now only"


def _undefined_odds(row: Row) -> str:
    """How probable it was that the score of such a group is undefined."""
    if not (row.p_undefined > 0 and row.lacks_score):
        return ""
    percentage = 100 * row.p_undefined
    return f" (probability {f'{percentage:.3g}' if percentage >= 0.01 else '< 0.01'}%)"


def collecting_text(rows: Iterable[Row], name: Callable[[Row], str], words: Words) -> str:
    """How many more cases would settle what is inconclusive, for the groups that lack fewest; "" if not known."""
    few = [row for row in rows if row.verdict is Verdict.INCONCLUSIVE]
    if any(not isnan(row.correlation) for row in few):
        return "collect cases of new clusters; more cases of the same clusters add little"
    row = min(filter(lacking, few), key=lacking, default=None)
    if row is None:
        return ""
    more = f"{lacking(row):,} more {words.whole(lookup_metric(row.metric))}"
    return f"{name(row)} {row.metric}, {more}"


def finding_sentence(kind: str, rows: Sequence[Row], name: str, settings: Settings) -> str:
    """The sentence of a finding about rows of one group."""
    row, words = rows[0], Words.of(settings)
    if kind == "varies":
        return variation_text(row, settings, groups_text(row, name))
    if kind == "four-fifths":
        highest = f"{legible(row.impact_group)} ({row.impact_n:,.0f} {words.cases})"
        return f"{name}: impact ratio {impact_text(row)}; the highest rate is that of {highest}"
    if kind == "inconclusive":
        counts = [" and ".join(f"{n:,}" for n in one.denominators) for one in rows]
        scores = [f"{one.metric} ({count})" for one, count in zip(rows, counts, strict=True)]
        steps = collecting_text(rows, lambda _: name, words)
        kind = "change" if row.is_change else "gap"
        power = (
            f". For 80% power at a {kind} of {planned_gap(settings):g}: {steps}" if steps else ""
        )
        return f"{name}: inconclusive on {', '.join(scores)}{power}"
    return f"{name}: {describe_row(row, settings)}"


def planned_gap(settings: Settings) -> float:
    """The gap that needed cases refer to."""
    return float(DEFAULT_MARGIN if settings["margin"] is None else settings["margin"])


def groups_text(row: Row, column: str) -> str:
    """The groups among which a score is said to vary, with their column if there are several."""
    return f"across the {row.varies_groups:,.0f} groups" + (column and f" of {legible(column)}")


def variation_text(row: Row, settings: Settings, across: str = "", differs: bool = False) -> str:
    """Whether a score varies between groups, and by how much; never that it does not.

    Intervals are rounded outwards. ``differs`` says whether a group differs from its reference.
    """
    p, alpha = row.varies_adjusted, settings["alpha"]
    text = f"= {p:.2f}" if p >= alpha + 0.1 else pvalue(p, alpha)
    text, varies = f"p {text}".replace(" 0.", " ."), f"{row.metric} varies{across and f' {across}'}"
    if p > alpha and differs:
        return f"{row.metric}: single groups differ; overall {text}"
    if not isnan(row.spread_high):
        digits = 2 if row.spread_high >= 0.02 else 3
        low, high = (rate * 10**digits for rate in (row.spread_low, row.spread_high))
        ends = [f"{end / 10**digits:.{digits}f}"[1:] for end in (floor(low), ceil(high))]
        is_bounded = p <= alpha and low >= 1
        text += f"; s.d. {' to '.join(ends) if is_bounded else f'at most {ends[1]}'}"
    return f"{'' if p <= alpha else 'no sign that '}{varies} ({text})"


# The choice of key sentences

Key = tuple[object, ...]


def select_key_rows(rows: Sequence[Row], settings: Settings) -> list[Row]:
    """The at most five rows that matter most, by group.

    The largest certain gap of an error rate has a place, selection rates at most two, and F1, accuracy and
    prevalence none unless nothing else was requested. Bounds above the margin come before others. The first
    row of each column has a place before any column has a second, so that another column removes none.
    """

    def rank(row: Row) -> tuple[bool | float, ...]:
        is_large = row.smallest_gap > margin_of(row)
        size = 0.0 if isnan(row.gap) else -round(abs(row.gap), 9)
        bound = -round(row.smallest_gap, 9)
        # Of two groups that mirror each other, the one that is worse off.
        doubts = row.is_gap_change, not is_large, row.driver is not None
        return *doubts, bound, size, not harms(row, settings)

    metrics = {row.metric for row in rows}
    main = set() if any(row.is_change for row in rows) else {*ERROR_RATES, *SELECTION_RATES}
    eligible = metrics & main or metrics
    differ = [row for row in rows if row.differs and row.metric in eligible]
    claims = {(*_claim(row), _parts(row)) for row in differ}
    ranked = sorted((row for row in differ if not _is_nested(row, claims)), key=rank)
    error_rates = [row for row in ranked if row.metric in ERROR_RATES]
    leaders: dict[str, Row] = {}
    for row in ranked:
        leaders.setdefault(row.by, row)
    chosen: list[Row] = []
    for row in dict.fromkeys((*error_rates[:1], *leaders.values(), *ranked)):
        selections = sum(other.metric in SELECTION_RATES for other in chosen)
        is_surplus = row.metric in SELECTION_RATES and selections >= MOST_SELECTION_RATES
        is_said = any(_says_the_same(row, other) for other in chosen)
        if len(chosen) < MOST_SENTENCES and not is_surplus and not is_said:
            chosen.append(row)
    chosen.sort(key=rank)
    groups = list(dict.fromkeys(map(line_key, chosen)))
    return sorted(chosen, key=lambda row: groups.index(line_key(row)))


def line_key(row: Row | Finding) -> Key:
    """The place on the axes and the group of a row or of what was found in it."""
    return str(row.at), row.by, row.group


def _claim(row: Row) -> Key:
    return str(row.at), row.metric, row.verdict, row.question


def _parts(row: Row) -> frozenset[tuple[str, str]]:
    """The columns that define a group, with its values."""
    return frozenset(zip(row.by.split(" & "), row.group.split(" & "), strict=False))


def _is_nested(row: Row, claims: Collection[Key]) -> bool:
    """Whether a larger group that contains the row's group differs in the same way."""
    parts = _parts(row)
    larger = (frozenset(some) for n in range(1, len(parts)) for some in combinations(parts, n))
    return any((*_claim(row), some) in claims for some in larger)


def nested_rows(row: Row, rows: Iterable[Row]) -> list[Row]:
    """The groups inside a row's group that differ in the same way, the largest bound first."""
    inside = [other for other in rows if other.differs and _claim(other) == _claim(row)]
    inside = [other for other in inside if _parts(row) < _parts(other)]
    return sorted(inside, key=lambda other: -other.smallest_gap)


def _says_the_same(row: Row, other: Row) -> bool:
    """Whether a row is the rate of the other's complement, or its mirror image."""
    is_same_size = abs(abs(row.gap) - abs(other.gap)) < _ROUNDING
    is_complement = line_key(row) == line_key(other) and row.denominators == other.denominators
    return (is_same_size and is_complement) or mirror_key(row) == claim_key(other)


def claim_key(row: Row) -> Key:
    """A row by its number of cases, to find the row that mirrors it."""
    return str(row.at), row.by, row.metric, row.n, row.question


def mirror_key(row: Row) -> Key | None:
    """The key of the only other group of a column, whose comparison with the rest says the same; None without rest."""
    is_rest = row.reference_kind == ReferenceKind.REST
    key = str(row.at), row.by, row.metric, row.reference_n, row.question
    return key if is_rest else None


def first_names(
    names: Sequence[str], most: int, noun: str = "more", plural: str = "more"
) -> list[str]:
    """The first names, and how many more there are."""
    n = len(names) - most
    return [*names[:most], several(n, noun, plural)] if n > 0 else list(names)
