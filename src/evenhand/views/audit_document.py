"""An audit as a document: what was audited, what matters, all scores, what words mean, and how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import isnan
from typing import Any

from ..auditing import (
    SEVERITIES,
    Audit,
    Finding,
    Row,
    Verdict,
    lookup_metric,
    margins_text,
    place_text,
    select_averages,
    told_apart,
)
from ..inference import FOUR_FIFTHS
from ..wording import legible, number, percent, rounded_up, several, span_text
from .axes import (
    AXES,
    axes_of,
    axis_words,
    columns_of,
    is_listed,
    place_order,
    places_table,
    score_map,
    score_sections,
)
from .document import Block, Code, Document, Interactive, Item, Listing, Pairs, Paragraph, Section, Tally
from .narrative import headlines, next_steps, untold
from .record_facts import facts, reference_words, setting_text
from .row_words import driver_text, row_table, tallied
from .words import Words, direction_text

__all__ = ["adjustment", "caution", "document_of"]

# Cases without a group, of all cases, of which everything else has to be read.
_MANY_UNKNOWN = 0.1
_OF_DATA = (*("spread", "left-out", "missing-group", "absent-label", "chosen-reference", "weighted", "not-pooled"),)
_NAMED, _PLACES, _IMPACTS = 4, 20, 2
_FAVOURABLE = (
    "To see whom differences harm, and impact ratios (four fifths), say which prediction is good for a person: "
    "--favourable positive or --favourable negative; favourable= in Python."
)
_FAVOURABLE_OF_MODELS = _FAVOURABLE.replace("differences harm, and impact ratios (four fifths)", "changes harm")
_IDENTIFYING = 11
_NOT_EXACT = ("mid-p", "approximate", "montecarlo", "effective counts")


def document_of(audit: Audit, system: str | None = None, author: str | None = None) -> Document:
    """The document; only a page has room for all of its sections, for the system and for the author."""
    rows, settings = audit.rows, audit.settings
    sections = [
        Section("opening", "", (*_reading(audit), Tally(tallied(rows), _meanings(audit)))),
        Section("matters", "What matters", tuple(_matters(audit))),
        Section("overall", "All cases together", tuple(_overall(audit))),
        Section("audited", "What was audited", (Pairs(tuple(facts(audit, system, author))),)),
        Section("metrics", "What the metrics mean", (Pairs(tuple(_meant(audit))),)),
        Section("findings", "Findings", tuple(_findings(audit))),
    ]
    if audit.axes:
        places = places_table(audit)
        sections += [Section("places", "Verdicts", (places,))] if places else []
        sections += score_sections(audit)
    else:
        table = row_table("Most important first", rows, told_apart(audit.rows), settings)
        grid = score_map(audit, rows, "Scores by group and metric")
        sections += [Section("scores", "All scores", (table,)), Section("map", "Scores", (Interactive(audit), grid))]
    sections += [
        Section("next", "What to do next", tuple(_next(audit))),
        Section("formulas", "Metrics", (Pairs(tuple(_formulas(audit))),)),
        Section("legend", "", (Paragraph(_legend(audit)),)),
        Section("notes", "", tuple(Paragraph(note) for note in _notes(audit))),
        Section("claims", "How sure all of it is", tuple(Paragraph(claim) for claim in _claims(audit))),
        Section("settings", "Settings", (Pairs(tuple(_settings(audit))),)),
        Section("repeat", "To repeat this audit", tuple(_repeat(audit))),
    ]
    return Document(_title(audit), tuple(section for section in sections if section.blocks))


def _title(audit: Audit) -> str:
    """How many cases and groups were audited, by which columns, and where on the axes."""
    groups = {(row.by, row.group) for row in audit.rows}
    audited = Words.of(audit.settings).several(audit.n)
    about = "" if audit.settings["protect"] is None else "about "
    said = f"Audit of {about}{audited} in {several(len(groups), 'group')} by {', '.join(columns_of(audit))}"
    said += "".join(axis_words(audit, name, axis.opening) for name, axis in axes_of(audit).items())
    at = audit.provenance.get("at")
    return f"{said}, {place_text(at)}" if at else said


def _reading(audit: Audit) -> Iterator[Block]:
    """What groups are compared with, and how places on the axes and p-values are to be read."""
    if audit.provenance.get("protection"):
        yield Paragraph(str(audit.provenance["protection"]))
    yield Paragraph(f"Each group is compared with {reference_words(audit)}{independence(audit)}")
    said = [axis_words(audit, name, axis.reading) for name, axis in axes_of(audit).items()]
    if said:
        yield Paragraph(f"{' '.join(said)} P-values are {adjustment(audit)}.")


def independence(audit: Audit) -> str:
    """What is taken to be independent, which no test can see in the data."""
    cluster = audit.provenance.get("cluster")
    if not cluster:
        return "; cases are taken as independent."
    return (
        f". Cases of the same {cluster['column']} may depend on each other, those of different ones are taken to be "
        f"independent: {several(audit.n, 'case')} of {several(cluster['clusters'], 'cluster')}."
    )


def adjustment(audit: Audit) -> str:
    """How p-values are adjusted, in words."""
    method = {"holm": "Holm", "bh": "Benjamini-Hochberg"}.get(str(audit.settings["adjust"]))
    if method is None:
        return "not adjusted"
    everything = audit.settings["family"] != "metric"
    # What was chosen with `at` was adjusted together with the other places.
    placed = dict.fromkeys([*axes_of(audit), *(audit.provenance.get("at") or ())])
    over = ["groups", *(AXES[name].many for name in placed if name in AXES and (everything or not AXES[name].is_scale))]
    *others, last = [*over, "metrics"] if everything else over
    together = f"{', '.join(others)} and {last}" if others else last
    apart = " within each threshold, not over thresholds" if "threshold" in audit.axes and not everything else ""
    pooled = "; those pooled over strata by themselves" if "stratum" in audit.axes and not everything else ""
    return f"adjusted over {together} ({method}){apart}{pooled}"


def _meanings(audit: Audit) -> dict[Verdict, str]:
    s = audit.settings
    meanings = {verdict: verdict.of_change if _is_of_models(audit) else verdict.meaning for verdict in Verdict}
    return {verdict: meaning.format(alpha=s["alpha"], margin=s["margin"]) for verdict, meaning in meanings.items()}


def _matters(audit: Audit) -> Iterator[Block]:
    """What is wrong with the data as such, the differences that matter most, and what could not be told."""
    verdicts = {(str(row.at), row.by, row.group, row.metric): row.verdict for row in audit.rows}
    first = [Item(_placed(f)) for f in audit.findings if f.kind in _first_of_all(audit)]
    # The sentence about a change says itself whom it harms.
    apart = not _is_of_models(audit)
    differ = [
        Item(h.sentence, verdicts[str(h.at), h.by, h.group, h.metric], group=(h.by, h.group), harms=h.harms and apart)
        for h in headlines(audit.rows, audit.settings)
    ]
    impacts = [Item(_placed(f)) for f in audit.findings if f.kind == "four-fifths"]
    left = len(impacts) - _IMPACTS
    more = [Item(f"{several(left, 'more rate')} {'is' if left == 1 else 'are'} below four fifths.")] if left > 0 else []
    yield Listing((*first, *differ, *_unchanged(audit), *impacts[:_IMPACTS], *more, *_perhaps_below(audit)))
    if said := caution(audit):
        yield Paragraph(said)
    yield Listing(tuple(map(Item, untold(audit.rows))), "What could not be told")
    others = set(_OF_DATA).difference(_first_of_all(audit))
    yield Listing(tuple(Item(_placed(f)) for f in audit.findings if f.kind in others), "About the data")
    if audit.findings:
        yield Paragraph(f"{several(len(audit.findings), 'finding')} in all")


def caution(audit: Audit) -> str:
    """How bounds in sentences are to be read beside intervals, if there are any."""
    if all(isnan(row.at_least) for row in audit.rows):
        return ""
    return "“At least” is cautious: it holds for all such sentences together, not one by one as intervals do."


def _first_of_all(audit: Audit) -> tuple[str, ...]:
    """The kinds of findings that come before all others: many cases without a group are one."""
    unknown = max(audit.unknown.values(), default=0) >= _MANY_UNKNOWN * audit.n
    return ("constant", "repeated-rows", "similar-groups", *(("missing-group",) if unknown else ()))


def _perhaps_below(audit: Audit) -> Iterator[Item]:
    """Impact ratios that were seen below four fifths, and may be above."""
    names = told_apart(audit.rows)
    seen = {
        names[row.by, row.group] + _where(row): f"{number(row.impact_ratio)} (at most {number(row.impact_at_most)})"
        for row in audit.rows
        if row.impact_ratio < FOUR_FIFTHS and not isnan(row.impact_at_most) and not row.is_below_four_fifths
    }
    if seen:
        listed = ", ".join(f"{who} {ratio}" for who, ratio in list(seen.items())[:_IMPACTS])
        left = len(seen) - _IMPACTS
        more = f" and {left:,} more" if left > 0 else ""
        yield Item(f"Impact ratios below four fifths that may be chance: {listed}{more}.")


def _unchanged(audit: Audit) -> Iterator[Item]:
    """Of several models, those with which no gap changed by more than the margin."""
    places: dict[str, list[Row]] = {}
    for row in audit.rows if _is_of_models(audit) else ():
        places.setdefault(place_text(row.at), []).append(row)
    for place, rows in places.items():
        if all(row.verdict is Verdict.EQUIVALENT for row in rows):
            said = f"no gap changed by more than {margins_text(rows, audit.settings['margin'])}"
            yield Item(f"{_capitalised(place)}: {said} ({several(len(rows), 'comparison')}).", Verdict.EQUIVALENT)


def _overall(audit: Audit) -> Iterator[Block]:
    """The scores of all cases, and what a prediction that is the same for everybody would score."""
    places: dict[str, list[Row]] = {}
    for one in audit.overall:
        places.setdefault(place_text(one.at), []).append(one)
    overall = "changes overall" if _is_of_models(audit) else "overall"
    for place, scores in islice(places.items(), _PLACES):
        where = f"{place}, {overall}" if place else overall
        yield Paragraph(f"{_capitalised(where)}: {', '.join(_scored(one, audit) for one in scores)}.")
    exact = audit.settings["protect"] is None
    worse = [one for one in audit.overall if exact and _is_worse(one)]
    if worse:
        at = f" at {place_text(worse[0].at)}" if worse[0].at else ""
        said = "In these cases, always predicting the commoner outcome would have been right more often than the model"
        yield Paragraph(f"{said}{at}.")


def _scored(one: Row, audit: Audit) -> str:
    constant = "" if isnan(one.baseline) else f" (always predicting the commoner outcome: {number(one.baseline)})"
    if not isnan(one.before):
        change = f"{one.score:+.3f} (from {number(one.before)} to {number(one.before + one.score)})"
        return f"{one.metric} {change}{constant}"
    score = "undefined" if isnan(one.score) else number(one.score)
    if isnan(one.score) and audit.settings["protect"] is not None:
        score = "not shown" if isnan(one.low + one.high) else f"between {number(one.low)} and {number(one.high)}"
    return f"{one.metric} {score}{constant}"


def _is_worse(one: Row) -> bool:
    return bool(one.score < one.baseline if one.metric == "acc" else one.score > one.baseline)


def _next(audit: Audit) -> Iterator[Block]:
    """What would confirm, explain or tell what is open, and what was not said."""
    steps = [*next_steps(audit.rows, audit.settings)]
    if audit.settings["favourable"] is None:
        steps.append(_FAVOURABLE_OF_MODELS if _is_of_models(audit) else _FAVOURABLE)
    yield Listing(tuple(map(Item, steps)))


def _is_of_models(audit: Audit) -> bool:
    return any("model" in row.at or row.is_change for row in audit.rows)


def _placed(finding: Finding) -> str:
    return f"{_capitalised(place_text(finding.at))}: {finding.sentence}." if finding.at else f"{finding.sentence}."


def _capitalised(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _findings(audit: Audit) -> Iterator[Block]:
    """All findings, most severe first, then by place and as the audit orders them."""
    found = sorted(audit.findings, key=lambda f: (SEVERITIES.index(f.severity), place_order(audit, f.at)))
    yield Listing(tuple(Item(_placed(f), tag=f"{f.severity} {f.code}") for f in found))


def _metrics(audit: Audit) -> list[Any]:
    """The metrics in the order in which they were asked for, then averages over classes."""
    keys = dict.fromkeys(row.metric for row in audit.rows)
    asked = [key for key in audit.settings["metrics"] if key in keys]
    return [lookup_metric(key) for key in dict.fromkeys([*asked, *keys])]


def _meant(audit: Audit) -> Iterator[tuple[str, str]]:
    words = Words.of(audit.settings)
    for m in _metrics(audit):
        yield m.key, f"{m.name}. {words.description(m)}. {direction_text(m, audit.settings['favourable'])}."


def _formulas(audit: Audit) -> Iterator[tuple[str, str]]:
    # A score of all classes has another formula than that of two classes under the same name.
    of_cells = {row.metric for row in audit.rows if row.at or "class" not in audit.axes}
    for m in _metrics(audit):
        of_two = m.formula and (m.key in of_cells or " " in m.key)
        formula = f"{m.name} = {m.formula}" if of_two else m.name
        yield m.key, formula + ("" if m.better == "neither" else f"; better: {m.better}")


def _notes(audit: Audit) -> Iterator[str]:
    """What columns, verdicts and marks mean in this audit, and what the tables cannot show."""
    s, rows = audit.settings, audit.rows
    exact = _exactness(audit)
    # With other p-values and over the whole audit, an interval that is not in the table decides what is alike.
    wider = "" if exact == "exact" and s["family"] == "metric" else ", by an interval wider than the one shown"
    rests = "Rests on: how many cases a score is made of. " if not audit.axes or any(map(is_listed, rows)) else ""
    score, gaps = ("The change of a gap", "changes") if _is_of_models(audit) else ("A score", "gaps")
    yield (
        f"{rests}p: {exact}{_largest(audit)}, {adjustment(audit)}. {score} is higher or lower if p is at most "
        f"{s['alpha']:g}; equivalent if "
        f"no difference was found and {gaps} beyond {margins_text(rows, s['margin'])} are ruled out{wider}; otherwise "
        "there are too few cases to tell."
    )
    scores = ", ".join(dict.fromkeys(row.metric for row in rows if row.method and row.question == "same distribution"))
    if scores:
        unlike = f"{Verdict.UNLIKE.sign} unlike: that is refuted, and no direction is claimed"
        yield f"p of {scores}: that the group is drawn like the reference; {unlike}."
    drawn = [row for row in rows if not isnan(row.p_error)]
    if drawn:
        scores = ", ".join(dict.fromkeys(row.metric for row in drawn))
        most = max(row.p_error for row in drawn)
        yield f"p of {scores}: from random draws, with a standard error of at most {most:.2g}."
    yield from _dependent(audit)
    yield from _unknown(audit)


def _identifying(audit: Audit) -> Iterator[str]:
    """That small counts can identify people, where there are any."""
    shown = (row.cells if row.cells is not None else (row.n, *row.denominators) for row in audit.rows)
    if audit.settings["protect"] is None and any(0 < count < _IDENTIFYING for counts in shown for count in counts):
        yield (
            f"Counts below {_IDENTIFYING} can identify people; to publish this, round them: --protect cms, or protect= "
            "in Python."
        )


def _legend(audit: Audit) -> str:
    """What a reader of the short text must know of its table."""
    star = " *: depends on one group of the reference." if any(row.driver for row in audit.rows) else ""
    identifying = "".join(f" {said}" for said in _identifying(audit))
    alone = "" if audit.settings["adjust"] == "none" else "; intervals are not"
    rests = "Rests on: how many cases a score is made of."
    return f"p: {_exactness(audit)}{_largest(audit)}, {adjustment(audit)}{alone}. {rests}{star}{identifying}"


def _largest(audit: Audit) -> str:
    """That a p-value is the largest of several, if counts were rounded."""
    return "" if audit.settings["protect"] is None else ", the largest over all tables that are rounded to this one"


def _exactness(audit: Audit) -> str:
    """Whether p-values are exact: all, some or none of them."""
    tested = [row for row in audit.rows if row.method is not None]
    exact = [isnan(row.p_error) and not row.method.endswith(_NOT_EXACT) for row in tested]
    if audit.provenance.get("weight") or (exact and not any(exact)):
        return "approximate"
    return "exact" if all(exact) else "partly approximate"


def _claims(audit: Audit) -> Iterator[str]:
    """What is true of all verdicts and sentences together, and how often."""
    s = audit.settings
    guaranteed = _exactness(audit) == "exact"
    if not all(isnan(row.pvalue) for row in audit.rows):
        yield _false_alarms(audit, "at most" if guaranteed else "about")
    bounds = {
        "“at least”": not all(isnan(row.at_least) for row in audit.rows),
        "“at most”": any(row.is_below_four_fifths for row in audit.rows),
    }
    said = [word for word, is_said in bounds.items() if is_said]
    if said:
        often = "at least" if guaranteed else "about"
        yield f"In {often} {100 * (1 - s['alpha']):g} of 100 audits, every {' and every '.join(said)} in it is true."
    yield from _identifying(audit)


def _false_alarms(audit: Audit, at_most: str) -> str:
    """How often audits find a difference where there is none, over all that is in the table."""
    s = audit.settings
    share = f"{at_most} {percent(s['alpha'])}"
    if s["adjust"] == "none":
        return f"Of comparisons without any difference, {share} are found to differ, each by itself."
    if s["adjust"] == "bh":
        over = "over all of them" if s["family"] == "audit" else f"within {_family(audit, 'each')}"
        return f"Of the differences found, about {percent(s['alpha'])} on average are false alarms, {over}."
    tested = [row for row in audit.rows if not isnan(row.pvalue) and row.verdict is not Verdict.NOT_TESTED]
    families = len(set(map(_family_of, tested)))
    # What was chosen with `at` has families beside it that are not in this table.
    averages = select_averages([lookup_metric(key) for key in s["metrics"]])
    apart = {"threshold", "stratum", *(("class",) if averages else ())}
    chosen = not apart.isdisjoint(audit.provenance.get("at") or ())
    if s["family"] == "audit" or (families < 2 and not chosen):
        return f"Where nothing differs, {share} of audits find anything."
    given = _family(audit, "a given")
    every = f"all {families:,}{'' if given == 'a given metric' else ' such families'}"
    return (
        f"Where nothing differs, {share} of audits find something in {given}; over "
        f"{'all that was audited' if chosen else every}, more do. With family “audit”, {share} find anything."
    )


def _family_of(row: Row) -> tuple[Any, ...]:
    """What p-values are adjusted within, unless over the whole audit; see `auditing.families`."""
    return row.metric, row.question, row.at.get("threshold"), row.at.get("stratum") == "pooled"


def _family(audit: Audit, each: str) -> str:
    """A family in words: a metric or average, at a threshold, in single strata or pooled."""
    placed = {*audit.axes, *(audit.provenance.get("at") or ())}
    averages = "class" in audit.axes and any("class" not in row.at for row in audit.rows)
    said = f"{each} metric" + (" or average" if averages else "")
    said += f" at {each} threshold" if "threshold" in placed else ""
    return f"{said} within strata or pooled over them" if "stratum" in placed else said


def _dependent(audit: Audit) -> Iterator[str]:
    """Verdicts that depend on one group of the reference, and rates below four fifths of the highest."""
    names = told_apart(audit.rows)
    driven = [row for row in audit.rows if row.driver]
    if driven:
        each = (f"{names[row.by, row.group]} {row.metric}{_where(row)} {driver_text(row)}" for row in driven[:_NAMED])
        yield f"* The verdict depends on one group of the reference: {'; '.join(each)}{_more(driven)}."
    below = [row for row in audit.rows if row.is_below_four_fifths]
    if below:
        each = (
            f"{names[row.by, row.group]}{_where(row)} {number(row.impact_ratio)} of {legible(row.impact_group)}'s (at "
            f"most {rounded_up(row.impact_at_most, FOUR_FIFTHS)})"
            for row in below[:_NAMED]
        )
        words = Words.of(audit.settings)
        decided = words.decided(str(audit.settings["favourable"]))
        yield (f"Below four fifths of the highest share {words.pronoun} {decided}: {', '.join(each)}{_more(below)}.")


def _unknown(audit: Audit) -> Iterator[str]:
    """How far gaps could change if cases without a group belonged to one."""
    rows = [row for row in audit.rows if not isnan(row.unknown_difference_low)]
    if rows:
        names = told_apart(audit.rows)
        each = (
            f"{names[row.by, row.group]} {row.metric}{_where(row)} "
            f"{span_text(row.unknown_difference_low, row.unknown_difference_high)}"
            for row in rows[:_NAMED]
        )
        yield (
            "Over all ways to assign cases whose group is unknown, differences could be: "
            f"{'; '.join(each)}{_more(rows)}."
        )


def _where(row: Row) -> str:
    return f" ({place_text(row.at)})" if row.at else ""


def _more(rows: Sequence[Any]) -> str:
    return f", and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""


def _settings(audit: Audit) -> Iterator[tuple[str, str]]:
    yield from ((name, setting_text(value)) for name, value in audit.settings.items())
    yield "versions", ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    digest = (audit.provenance.get("source") or {}).get("sha256")
    if digest:
        yield "SHA-256 of the data", str(digest)


def _repeat(audit: Audit) -> Iterator[Block]:
    if audit.axes:
        axis, values = next(iter(audit.axes.items()))
        yield Code("A page of one place, with a map and cards:", f"audit.at(**{{{axis!r}: {values[0]!r}}}).to_html()")
    yield Code("This page from the saved JSON:", 'evenhand.Audit.from_json(text).to_html("audit.html")')
