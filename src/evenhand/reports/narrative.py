"""The narrator: puts rows of results into words. Every output takes its sentences from here.

A key sentence is for readers who are not statisticians, a description has all numbers, and a size is
how large a difference is at least: a bound that is rounded towards no difference, so that no sentence
says more than its row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import floor, isnan
from typing import Any

import numpy as np

from ..auditing import ReferenceKind, Row, Verdict, lookup_metric, margin_of
from ..metrics import Metric
from ..wording import join_and, legible, number, percent, pvalue, rounded_down, rounded_up, several
from .words import Words, counted_property, harmful_direction

Settings = Mapping[str, Any]
NameRow = Callable[[Row], str]
ERROR_RATES = ("tpr", "fpr", "fnr", "tnr", "ppv", "npv")
SELECTION_RATES = ("ppr", "pnr")
MOST_SENTENCES, MOST_SELECTION_RATES = 5, 2
_MOST_NESTED, _MOST_NAMED = 3, 4
# Bounds below this say nothing of the size, and gaps below this are equal but for rounding.
_SLIGHT, _ROUNDING, _DIGITS = 1e-3, 1e-9, 12


# Parts of a sentence


def lower_first(name: str) -> str:
    """The name of a metric inside a sentence; those that begin with an abbreviation or a name keep their capital."""
    is_proper = not name[1:2].islower() or name.startswith(
        ("Matthews", "Cohen", "Jaccard", "Fowlkes", "Brier")
    )
    return name if is_proper else name[0].lower() + name[1:]


def reference_text(row: Row) -> str:
    """What a row is compared with."""
    kinds = {
        ReferenceKind.REST: "the rest",
        ReferenceKind.ALL: "all cases",
        ReferenceKind.MATRIX: "the given matrix",
    }
    return next(
        (text for kind, text in kinds.items() if row.reference_kind == kind), legible(row.reference)
    )


def is_rate(row: Row) -> bool:
    """Whether the score of a row is a share of cases, which can be said in percent."""
    metric = lookup_metric(row.metric)
    is_apart = row.is_pooled or row.is_change or row.verdict is Verdict.UNLIKE
    return (
        isinstance(metric, Metric)
        and not metric.comparisons
        and counted_property(metric) is not None
        and not is_apart
    )


def percents(*rates: float) -> list[str]:
    """Rates in percent, with the digits that tell them apart and from none and all."""
    distinct = {round(rate, _DIGITS) for rate in rates}
    for digits in range(_DIGITS - 1):
        texts = [f"{100 * rate:.{digits}f}" for rate in rates]
        is_apart = len(set(texts)) == len(distinct)
        extremes = sum(float(text) in (0, 100) for text in texts)
        if is_apart and extremes == sum(round(rate, _DIGITS) in (0, 1) for rate in rates):
            break
    return [f"{text}%" for text in texts]


def points(value: float) -> str:
    """A difference of rates in percentage points, with its sign."""
    text = f"{100 * value:+.0f}" if abs(value) >= 0.00995 else f"{100 * value:+.1f}"
    return text.replace("-", "−") if float(text) else "0"


def gap_text(row: Row) -> str:
    """A gap in a picture: a difference in points, or a factor."""
    return f"×{number(row.gap)}" if row.is_ratio else points(row.gap)


def _bound_text(bound: float) -> str:
    """A bound in percentage points, rounded down."""
    return (
        f"{floor(100 * bound + _ROUNDING):d}" if bound >= 0.01 else f"{floor(1000 * bound) / 10:g}"
    )


def size_text(row: Row) -> str:
    """How large a difference is at least, such as "at least 22 points more"."""
    higher, lower = ("more", "less") if is_rate(row) else ("higher", "lower")
    direction = {Verdict.HIGHER: higher, Verdict.LOWER: lower}.get(row.verdict, "different")
    if isnan(row.at_least) or row.smallest_gap < _SLIGHT:
        return f"{direction}, size unclear" if row.is_change else "size unclear"
    if row.is_ratio:
        return f"at least a factor of {rounded_down(row.at_least)} {direction}"
    if is_rate(row):
        bound = _bound_text(row.at_least)
        return f"at least {bound} point{'s' if bound != '1' else ''} {direction}"
    return f"at least {rounded_down(row.at_least)} {direction}"


def score_text(row: Row) -> str:
    """A score, or its change; of rounded counts that do not give it, its range."""
    if not isnan(row.score):
        return f"{row.score:+.3f}" if row.is_change else number(row.score)
    return "undefined" if row.reason else interval_text(row.low, row.high) or "not shown"


def driver_text(row: Row) -> str:
    """The verdict without the group of the reference that it depends on; "" if there is none."""
    if row.driver is None:
        return ""
    return f"Driven by {legible(row.driver)}: without it, {row.driver_verdict}"


def tipping_text(row: Row, words: Words) -> str:
    """How few cases of unknown group could change a verdict; "" if that is not known."""
    is_known = (
        row.unknown_n > 0
        and row.method == "fisher"
        and row.verdict in (Verdict.HIGHER, Verdict.LOWER)
    )
    if not is_known or not isnan(row.n_effective) or row.is_change or row.is_pooled:
        return ""
    whole = words.whole(lookup_metric(row.metric))
    unknown = (
        f"The {'group' if ' & ' in row.by else row.by} of {row.unknown_n:,.0f} {whole} is unknown"
    )
    if isnan(row.tipping_point):
        return f"{unknown}; no assignment of them alone would change this verdict"
    return f"{unknown}; learning it for about {row.tipping_point:,.0f} of them could change this verdict"


def lacking(row: Row) -> int:
    """How many more cases a row needs for 80% power; 0 if that is not known.

    With a reference that is not twice as large, more cases of the group alone would not do.
    """
    is_needed = row.verdict is Verdict.INCONCLUSIVE and row.required_n > row.support
    metric, cells = lookup_metric(row.metric), row.reference_cells
    if not is_needed or not isinstance(metric, Metric):
        return 0
    reference_support = (
        row.reference_n if cells is None else metric.base.support(np.array(cells)).min()
    )
    return int(row.required_n - row.support) if reference_support >= 2 * row.required_n else 0


def harms(row: Row, settings: Settings) -> bool:
    """Whether a difference is to the disadvantage of the group."""
    return (
        row.differs
        and harmful_direction(lookup_metric(row.metric), settings["favourable"]) == row.verdict
    )


# Sentences


def key_sentence(row: Row, words: Words) -> str:
    """What differs and by how much at least, for readers who are not statisticians; without the group's name."""
    metric, reference, size = lookup_metric(row.metric), reference_text(row), size_text(row)
    if row.is_change:
        return f"{metric.name} {_describe_change(row)}; the gap moved {size}."
    if row.is_pooled:
        return f"{metric.name}, within strata: odds {number(row.gap)} times those of {reference}; {size}."
    if row.verdict is Verdict.UNLIKE:
        return f"{metric.name} {number(row.score)}: not distributed as in {reference} ({number(row.reference_score)})."
    if isinstance(metric, Metric) and metric.comparisons:
        return f"{metric.name} {number(row.score)} ({metric.null_value(0.0):g} is no gap); {size}."
    if not is_rate(row):
        scores = f"{number(row.score)}, against {number(row.reference_score)} in {reference}"
        return f"{metric.name} {scores}; {size}."
    part, counted = words.denominator(metric), words.counted(metric) or ""
    if row.support == 1:
        part, counted = part.removesuffix("s"), re.sub("^were ", "was ", counted)
    whole = f"the {row.support:,} {part}" if part else words.count(row.support)
    preposition = "for" if row.reference_kind == ReferenceKind.GROUP else "in" if part else "of"
    rate, reference_rate = percents(row.score, row.reference_score)
    compared = f"against {reference_rate} {preposition} {reference}"
    return f"{rate} of {whole} {counted}, {compared}; {size}."


def _describe_change(row: Row) -> str:
    """How the scores of a group and of its reference changed from one model to another."""
    before, after = number(row.before), number(row.before + row.score)
    reference = (
        f"{number(row.reference_before)} to {number(row.reference_before + row.reference_score)}"
    )
    return f"changed from {before} to {after}, and in {reference_text(row)} from {reference}"


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
        return f"{name} undefined: {row.reason}{_undefined_odds(row)}"
    if row.is_change:
        score = f"{name} {_describe_change(row)}"
    if row.verdict is Verdict.REFERENCE:
        return f"{score}, the reference"
    compared = {
        Verdict.HIGHER: "higher than",
        Verdict.LOWER: "lower than",
        Verdict.EQUIVALENT: "equivalent to",
        Verdict.UNLIKE: "not distributed like",
        Verdict.NOT_TESTED: "not tested against",
    }.get(row.verdict, "not distinguishable from")
    if not row.is_change:
        reference = "" if isnan(row.reference_score) else f"{number(row.reference_score)} in "
        score += f", {compared} {reference}{reference_text(row)}"
    parts = [score, *_describe_gap(row, settings)]
    if row.differs:
        parts.append(size_text(row))
    text = "; ".join(part for part in parts if part)
    return ". ".join(filter(None, [text, driver_text(row), tipping_text(row, Words.of(settings))]))


def _describe_gap(row: Row, settings: Settings) -> Iterator[str]:
    """The gap with its interval and p-value."""
    numbers = []
    is_gap = isinstance(lookup_metric(row.metric), Metric) and bool(
        lookup_metric(row.metric).comparisons
    )
    if not isnan(row.gap) and not is_gap:
        value = number(row.gap) if row.is_ratio else f"{row.gap:+.3f}"
        numbers.append(f"{'change of the gap' if row.is_change else row.gap_kind} {value}")
    if interval := gap_interval(row):
        numbers.append(f"{percent(settings['confidence_level'])} CI {interval}")
    if not isnan(row.p_adjusted):
        adjusted = "" if settings["adjust"] == "none" else "adjusted "
        numbers.append(f"{adjusted}p {pvalue(row.p_adjusted, settings['alpha'])}")
    yield ", ".join(numbers)


def interval_text(low: float, high: float, none: float = 0.0) -> str:
    """An interval such as "[0.241, 0.286]"; an end that does not exist is infinite, and "" if neither exists.

    Ends have the digits that show on which side of ``none`` they are.
    """
    if isnan(low) and isnan(high):
        return ""
    return f"[{'-∞' if isnan(low) else number(low, none)}, {'∞' if isnan(high) else number(high, none)}]"


def gap_interval(row: Row) -> str:
    """The interval of a gap, beside 0 or, of ratios, 1."""
    return interval_text(row.gap_low, row.gap_high, float(row.is_ratio))


def _undefined_odds(row: Row) -> str:
    """How probable it was that the score of such a group is undefined."""
    if not (row.p_undefined > 0 and row.lacks_score):
        return ""
    percentage = 100 * row.p_undefined
    return f" (probability {f'{percentage:.3g}' if percentage >= 0.01 else '< 0.01'}%)"


# The choice of key sentences


def select_key_rows(rows: Sequence[Row], settings: Settings) -> list[Row]:
    """The at most five rows that matter most, by group.

    The largest certain gap of an error rate has a place, selection rates at most two, and F1, accuracy and
    prevalence none unless nothing else was requested. Bounds above the margin come before others. The first
    row of each column has a place before any column has a second, so that another column removes none.
    """
    metrics = {row.metric for row in rows}
    eligible = metrics & {*ERROR_RATES, *SELECTION_RATES} or metrics
    differ = [row for row in rows if row.differs and row.metric in eligible]
    claims = {(row.metric, row.verdict, place_key(row), _parts(row)) for row in differ}
    outermost = [row for row in differ if not _is_nested(row, claims)]
    ranked = sorted(outermost, key=lambda row: _rank(row, settings))
    chosen: list[Row] = []
    error_rates = [row for row in ranked if row.metric in ERROR_RATES]
    leaders = list({row.by: row for row in reversed(ranked)}.values())
    for row in (*error_rates[:1], *sorted(leaders, key=lambda row: _rank(row, settings)), *ranked):
        selections = sum(other.metric in SELECTION_RATES for other in chosen)
        is_surplus = row.metric in SELECTION_RATES and selections >= MOST_SELECTION_RATES
        if len(chosen) < MOST_SENTENCES and not is_surplus and not _is_said(row, chosen):
            chosen.append(row)
    chosen.sort(key=lambda row: _rank(row, settings))
    groups = list(dict.fromkeys((place_key(row), row.by, row.group) for row in chosen))
    return sorted(chosen, key=lambda row: groups.index((place_key(row), row.by, row.group)))


def _rank(row: Row, settings: Settings) -> tuple[bool, bool, float, float, bool]:
    is_large = row.smallest_gap > margin_of(row, settings["margin"])
    size = 0.0 if isnan(row.gap) else abs(row.gap)
    bound = round(row.smallest_gap, 9)
    # Of two groups that mirror each other, the one that is worse off.
    return not is_large, row.driver is not None, -bound, -round(size, 9), not harms(row, settings)


def place_key(row: Row) -> str:
    """The place of a row on the axes, as a key."""
    return str(row.at)


def _parts(row: Row) -> frozenset[tuple[str, str]]:
    """The columns that define a group, with its values."""
    return frozenset(zip(row.by.split(" & "), row.group.split(" & "), strict=False))


def _is_nested(row: Row, claims: Collection[Any]) -> bool:
    """Whether a larger group that contains the row's group differs in the same way."""
    parts = _parts(row)
    larger = (frozenset(some) for n in range(1, len(parts)) for some in combinations(parts, n))
    return any((row.metric, row.verdict, place_key(row), some) in claims for some in larger)


def _is_inside(row: Row, other: Row) -> bool:
    is_alike = (row.metric, row.verdict) == (other.metric, other.verdict)
    return is_alike and place_key(row) == place_key(other) and _parts(other) < _parts(row)


def nested_names(row: Row, rows: Iterable[Row], names: Mapping[Any, str]) -> str:
    """The groups inside a row's group that differ in the same way, such as "Also: A & F, A & M."."""
    inside = [other for other in rows if other.differs and _is_inside(other, row)]
    inside.sort(key=lambda other: -other.smallest_gap)
    more = [f"{len(inside) - _MOST_NESTED:,} more"] if len(inside) > _MOST_NESTED else []
    listed = [names[other.by, other.group] for other in inside[:_MOST_NESTED]]
    return f" Also: {', '.join([*listed, *more])}." if inside else ""


def _is_said(row: Row, chosen: Sequence[Row]) -> bool:
    """Whether the chosen rows say the same: this row, the rate of its complement, or its mirror image."""
    for other in chosen:
        is_same_place = (other.by, place_key(other)) == (row.by, place_key(row))
        is_same_size = abs(abs(row.gap) - abs(other.gap)) < _ROUNDING
        is_complement = other.group == row.group and row.denominators == other.denominators
        if is_same_place and is_same_size and is_complement:
            return True
        if mirror_key(row) == claim_key(other):
            return True
    return False


def claim_key(row: Row) -> tuple[Any, ...]:
    """A row by its number of cases, to find the row that mirrors it."""
    return place_key(row), row.by, row.metric, row.n


def mirror_key(row: Row) -> tuple[Any, ...] | None:
    """The key of the only other group of a column, whose comparison with the rest says the same; None without rest."""
    is_rest = row.reference_kind == ReferenceKind.REST
    return (place_key(row), row.by, row.metric, row.reference_n) if is_rest else None


# Lines about many rows


def inconclusive_groups(rows: Iterable[Row], names: Mapping[Any, str]) -> str:
    """The groups with the most inconclusive comparisons, such as "A 5 of 5, B 3"; "" if there are none."""
    compared = [row for row in rows if row.verdict is not Verdict.REFERENCE]
    total = Counter((row.by, row.group) for row in compared)
    counts = Counter((row.by, row.group) for row in compared if row.verdict is Verdict.INCONCLUSIVE)
    listed = [f"{names[key]} {n:,}" for key, n in counts.most_common(_MOST_NAMED)]
    if listed:
        first = counts.most_common(1)[0][0]
        listed[0] += f" of {total[first]:,}"
    more = [several(len(counts) - _MOST_NAMED, "more group")] if len(counts) > _MOST_NAMED else []
    return ", ".join([*listed, *more])


def collecting_text(rows: Iterable[Row], name: NameRow, words: Words) -> str:
    """How many more cases would settle what is inconclusive, for the groups that lack fewest; "" if not known."""
    few = [row for row in rows if row.verdict is Verdict.INCONCLUSIVE]
    if any(not isnan(row.correlation) for row in few):
        return "collect cases of new clusters; more cases of the same clusters add little"
    lacks = [(n, row) for row in few if (n := lacking(row))]
    if not lacks:
        return ""
    n, row = min(lacks, key=lambda lack: lack[0])
    return f"{name(row)} {row.metric}, {n:,} more {words.whole(lookup_metric(row.metric))}"


def impact_texts(rows: Iterable[Row], name: NameRow) -> list[tuple[Row, str]]:
    """The impact ratios that were observed below four fifths, smallest bound first."""
    below = [row for row in rows if row.impact_ratio < 0.8 and not isnan(row.impact_at_most)]
    below.sort(key=lambda row: (not row.is_below_four_fifths, row.impact_ratio))
    return [(row, f"{name(row)} {impact_text(row)}") for row in below]


def impact_text(row: Row) -> str:
    """An impact ratio beside 0.80, and what is certain of it."""
    ratio, most = number(row.impact_ratio), rounded_up(row.impact_at_most, 0.8)
    if row.is_below_four_fifths:
        return f"{ratio} (at most {most}), below 0.80"
    return f"{ratio} observed, but could be as high as {most}"


def driven_texts(rows: Iterable[Row], name: NameRow) -> list[str]:
    """The verdicts that one group of the reference decides, those that would be reversed first."""
    reverse = {Verdict.HIGHER: Verdict.LOWER, Verdict.LOWER: Verdict.HIGHER}
    driven: dict[Any, list[str]] = {}
    for row in rows:
        if row.driver is not None and row.differs:
            driven.setdefault((name(row), row.driver, row.verdict, row.driver_verdict), []).append(
                row.metric
            )
    order = sorted(driven.items(), key=lambda item: reverse.get(item[0][2]) is not item[0][3])
    return [
        f"{shown} {join_and(metrics)} {verdict.sign} is {without.sign} without {legible(driver)}"
        for (shown, driver, verdict, without), metrics in order
    ]


# Findings


def finding_sentence(kind: str, rows: Sequence[Row], name: str, settings: Settings) -> str:
    """The sentence of a finding about rows of one group."""
    row, words = rows[0], Words.of(settings)
    if kind == "four-fifths":
        highest = f"the highest rate is that of {legible(row.impact_group)} ({row.impact_n:,.0f} {words.cases})"
        return f"{name}: impact ratio {impact_text(row)}; {highest}"
    if kind == "too-few":
        scores = ", ".join(
            f"{one.metric} ({' and '.join(f'{n:,}' for n in one.denominators)})" for one in rows
        )
        steps = collecting_text(rows, lambda _: name, words)
        power = f". For 80% power at a gap of {settings['margin']:g}: {steps}" if steps else ""
        return f"{name}: inconclusive on {scores}{power}"
    return f"{name}: {describe_row(row, settings)}"
