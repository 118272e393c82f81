"""What every output says of an audit: its title, what was compared and how, key sentences, notes and provenance.

A `Summary` is made once; terminal, Markdown, HTML and notebook lay it out. A line of its tables is a
group at a place on the axes, with one row per metric.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any

from ..auditing import (
    Audit,
    Finding,
    Row,
    Verdict,
    lookup_metric,
    margins_text,
    place_text,
    told_apart,
)
from ..wording import join_and, legible, number, percent, several
from . import narrative
from .words import Settings, Words

_APPROXIMATE = {"mid-p", "melded", "approximate", "effective counts", "cluster bound", "montecarlo"}
_ADJUST = {"holm": "Holm for discrete tests", "bh": "Benjamini-Hochberg", "none": "no adjustment"}
_PLURALS = {"class": "classes", "stratum": "strata"}
_CLAIMS = ("higher", "lower", "unlike", "equivalent", "inconclusive")
_REVERSE = {Verdict.HIGHER: Verdict.LOWER, Verdict.LOWER: Verdict.HIGHER}
_OF_GOALS = {Verdict.MISSES: "missed", Verdict.MEETS: "met"}
_OF_GOALS |= {verdict: verdict.value for verdict in (Verdict.INCONCLUSIVE, Verdict.UNDEFINED)}
_IDENTIFYING = 11
_MOST_NESTED, _MOST_NAMED = 3, 4


@dataclass(frozen=True)
class Line:
    """A group at a place on the axes, with its rows by metric."""

    name: str
    rows: dict[str, Row]

    @property
    def first(self) -> Row:
        """Any of its rows, which have the same group and place."""
        return next(iter(self.rows.values()))

    @cached_property
    def differing(self) -> list[Row]:
        """Its rows that differ, the largest bound first."""
        differ = [row for row in self.rows.values() if row.differs]
        return sorted(differ, key=lambda row: -row.smallest_gap)

    def with_verdict(self, verdict: Verdict) -> list[Row]:
        """Its rows with this verdict."""
        return [row for row in self.rows.values() if row.verdict is verdict]


@dataclass(frozen=True)
class Summary:
    """An audit, as outputs show it."""

    audit: Audit

    @property
    def settings(self) -> Settings:
        """The settings of the audit."""
        return self.audit.settings

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the audit that compare groups."""
        return tuple(row for row in self.audit.rows if not row.is_goal)

    @cached_property
    def goals(self) -> tuple[Row, ...]:
        """The rows that compare scores with goals."""
        return tuple(row for row in self.audit.rows if row.is_goal)

    @property
    def goal_line(self) -> str:
        """How many goals are met and missed; "" without goals."""
        counts = Counter(row.verdict for row in self.goals)
        said = [f"{counts[verdict]:,} {word}" for verdict, word in _OF_GOALS.items()]
        return f"{several(len(self.goals), 'test')} of goals: {', '.join(said)}" * bool(self.goals)

    @property
    def goal_tests(self) -> str:
        """How goals were tested; "" without goals."""
        name = _ADJUST[self.settings["adjust"]].removesuffix(" for discrete tests")
        how = f"exact binomial tests, {name} by goal; Clopper-Pearson intervals"
        return how * bool(self.goals)

    @cached_property
    def words(self) -> Words:
        """What cases, outcomes and decisions are called."""
        return Words.of(self.settings)

    @cached_property
    def names(self) -> dict[tuple[str, str], str]:
        """The name of each column and group."""
        return told_apart(self.audit.rows)

    @cached_property
    def metrics(self) -> list[Any]:
        """The metrics in the order in which they were requested."""
        keys = {row.metric for row in self.rows}
        order = dict.fromkeys([*self.settings["metrics"], *(row.metric for row in self.rows)])
        return [lookup_metric(key) for key in order if key in keys]

    @cached_property
    def is_of_models(self) -> bool:
        """Whether models are compared."""
        return any("change" in row.question for row in self.rows)

    @cached_property
    def has_places(self) -> bool:
        """Whether rows are at several places on the axes."""
        return len({str(row.at) for row in self.rows}) > 1

    @cached_property
    def lines(self) -> list[Line]:
        """Groups at places, the largest certain difference first."""
        groups: dict[object, list[Row]] = {}
        for row in self.rows:
            key = *narrative.line_key(row), row.is_gap_change
            groups.setdefault(key, []).append(row)
        lines = [
            Line(self.name_row(rows[0]), {row.metric: row for row in rows})
            for rows in groups.values()
        ]
        return sorted(lines, key=self._rank_line)

    def _rank_line(self, line: Line) -> tuple[bool, float, int, int, int, str]:
        bound = max((row.smallest_gap for row in line.differing), default=0.0)
        harmed = sum(narrative.harms(row, self.settings) for row in line.differing)
        is_second = line.first.is_gap_change
        return is_second, -bound, -len(line.differing), -harmed, -line.first.n, line.name

    def name_row(self, row: Row) -> str:
        """The group of a row, and its place."""
        name = self.names[row.by, row.group] + ", gap" * row.is_gap_change
        return f"{name}, {place_text(row.at)}" if row.at and self.has_places else name

    def label_row(self, row: Row) -> str:
        """The same in few characters, where the axes are named elsewhere: "group 1, 0.5"."""
        values = row.at.values() if self.has_places else ()
        name = self.names[row.by, row.group] + ", gap" * row.is_gap_change
        return ", ".join([name, *map(str, values)])

    # What was compared, and how

    @property
    def source(self) -> str:
        """What the data are called; "" if that is not known, as of standard input."""
        source = self.audit.provenance.get("source") or {}
        return str(source.get("name") or "").removeprefix("-")

    @property
    def columns(self) -> dict[str, int]:
        """The group columns and intersections, with their numbers of groups."""
        groups = dict.fromkeys((row.by, row.group) for row in self.rows if not self._has_all(row))
        return dict(Counter(by for by, _ in groups))

    def _has_all(self, row: Row) -> bool:
        """Whether a row is that of all cases."""
        return row.is_change and row.by == row.group and row.by not in self.settings["groups"]

    @property
    def extent(self) -> str:
        """How many cases were audited: "7,214 defendants"."""
        about = "" if self.settings["protect"] is None else "about "
        return about + self.words.count(self.audit.n)

    @property
    def places(self) -> str:
        """The axes with the number of their values, or the models; "" without axes."""
        if self.is_of_models:
            places = [row.at for row in self.rows if "model" in row.at]
            pairs = dict.fromkeys(f"{at['model']} against {at.get('against')}" for at in places)
            return join_and(list(pairs))
        counts = []
        for axis, values in self.audit.axes.items():
            n = sum(value != "pooled" for value in values)
            counts.append(several(n, axis, _PLURALS.get(axis, "")))
        return join_and(counts) if counts else place_text(self.audit.provenance.get("at") or {})

    @property
    def title(self) -> str:
        """The title of a report: "compas: 7,214 defendants by race"."""
        # An intersection is named by its columns, which are in the title already.
        columns = [by for by in self.columns if " & " not in by] or list(self.columns)
        places = f", {self.places}" if self.places else ""
        name = f"{self.source}: " if self.source else ""
        by = f" by {join_and(columns)}" if columns else ""
        return f"{name}{self.extent}{by}{places}"

    @property
    def compared_with(self) -> str:
        """What groups are compared with."""
        rows = [row for row in self.rows if not row.is_change]
        references = {row.by: narrative.reference_text(row) for row in rows}
        text = narrative.join_references(references) if references else ""
        if not self.is_of_models:
            return text
        baselines = dict.fromkeys(legible(row.reference) for row in self.rows if row.is_change)
        gaps = f" (gaps: against {text})" if text else ""
        return f"{join_and(list(baselines))} on the same cases{gaps}"

    @property
    def independence(self) -> str:
        """What is taken to be independent."""
        cluster = self.audit.provenance.get("cluster")
        if any(str(row.method).startswith("sign flips") for row in self.rows):
            return "assumes independent items"
        if not cluster:
            return "assumes independent cases"
        return f"assumes independent {cluster['column']} clusters ({cluster['clusters']:,})"

    @property
    def opening(self) -> str:
        """What is compared with what."""
        if not self.rows:
            return f"All cases against goals; {self.independence}"
        return f"Each group against {self.compared_with}; {self.independence}"

    @property
    def level(self) -> str:
        """The level of intervals, such as "95%"."""
        return percent(self.settings["confidence_level"])

    @property
    def tests(self) -> str:
        """Which tests were made, and how they are adjusted."""
        s, methods = self.settings, {row.method for row in self.rows} - {None}
        kinds = ["exact"] if methods - _APPROXIMATE or not methods else []
        kinds += ["approximate"] if methods & _APPROXIMATE else []
        name, scope, null = _ADJUST[s["adjust"]], "", ""
        if any(str(method).startswith("sign flips") for method in methods):
            kinds, null = (
                ["sign-flip"],
                " (null: both models' runs are exchangeable within an item)",
            )
        if s["protect"] is not None or "cluster bound" in methods or self.is_of_models:
            name = name.removesuffix(" for discrete tests")
        if s["adjust"] != "none":
            scope = " over all rows" if s["family"] == "audit" else " within each metric"
        if self.audit.provenance.get("gates"):
            scope = ", adjusted over the whole audit because of --fail-on"
        if "threshold" in self.audit.axes and s["family"] != "audit":
            scope += " and threshold"
        return f"{join_and(kinds).capitalize()} tests{null}, {name}{scope}, alpha {s['alpha']:g}"

    @property
    def planned_gap(self) -> float:
        """The gap that needed cases refer to."""
        return narrative.planned_gap(self.settings)

    @property
    def margin(self) -> str:
        """The gaps that do not matter."""
        return margins_text(self.rows, self.settings["margin"])

    # Verdicts and sentences

    @cached_property
    def verdicts(self) -> Counter[Verdict]:
        """How many rows have each verdict, in the order of their claims."""
        counts = Counter(dict.fromkeys(map(Verdict, _CLAIMS), 0))
        counts.update(row.verdict for row in self.rows)
        return counts

    @property
    def gap_title(self) -> str:
        """What pictures of gaps show."""
        return f"{'change against' if self.is_of_models else 'gap to'} {self.compared_with}"

    @property
    def compared(self) -> int:
        """How many rows are comparisons."""
        return len(self.rows) - self.verdicts[Verdict.REFERENCE]

    @property
    def verdict_line(self) -> str:
        """How many comparisons have each verdict."""
        if self.is_of_models:
            shown = [Verdict.WORSE, Verdict.BETTER, Verdict.NOT_WORSE, Verdict.EQUIVALENT]
            others = {one for one, n in self.verdicts.items() if n} - {*shown, Verdict.REFERENCE}
            shown += sorted(others, key=lambda one: one.rank)
            counts = ", ".join(f"{self.verdicts[one]:,} {one}" for one in shown)
            return f"{several(self.compared, 'comparison')}: {counts}"
        differ = sum(n for verdict, n in self.verdicts.items() if verdict.differs)
        kinds = [Verdict.EQUIVALENT, Verdict.INCONCLUSIVE, Verdict.UNDEFINED]
        kinds += [Verdict.NOT_TESTED] if self.verdicts[Verdict.NOT_TESTED] else []
        counts = ", ".join(f"{self.verdicts[kind]:,} {kind}" for kind in kinds)
        verb = "differs" if self.compared == 1 else "differ"
        return f"{differ:,} of {several(self.compared, 'comparison')} {verb}, {counts}"

    @property
    def no_difference(self) -> str:
        """What is said where no difference was found."""
        untested = self.verdicts[Verdict.UNDEFINED] + self.verdicts[Verdict.NOT_TESTED]
        if untested == self.compared:
            return "Nothing could be tested."
        if self.is_of_models:
            return "No change was found. This does not mean that the models are equally good."
        if varying := [row for row in self.audit.variation if self._varies(row)]:
            texts = [
                narrative.variation_text(row, self.settings, self._groups_of(row))
                for row in varying
            ]
            names = narrative.first_names(texts, _MOST_NAMED, "more score", "more scores")
            return f"No single group was found to differ, but {'; '.join(names)}."
        return "No difference was found. This does not mean that the groups are equal."

    def _varies(self, row: Row) -> bool:
        return bool(row.varies_adjusted <= self.settings["alpha"])

    def _groups_of(self, row: Row) -> str:
        return narrative.groups_text(row, row.by if len(self.columns) > 1 else "")

    @cached_property
    def variation(self) -> dict[str, list[str]]:
        """Whether scores vary, by groups and place."""
        differing = {(row.by, row.metric, str(row.at)) for row in self.rows if row.differs}
        parts: dict[str, list[str]] = {}
        for row in self.audit.variation:
            where = ", ".join(filter(None, [self._groups_of(row), place_text(row.at)]))
            differs = (row.by, row.metric, str(row.at)) in differing
            text = narrative.variation_text(row, self.settings, differs=differs)
            parts.setdefault(f"{where[0].upper()}{where[1:]}", []).append(text)
        return parts

    @cached_property
    def key_rows(self) -> list[Row]:
        """The rows of the key sentences."""
        return narrative.select_key_rows(self.rows, self.settings)

    @property
    def key_groups(self) -> dict[str, list[Row]]:
        """The same by the name of their group."""
        groups: dict[str, list[Row]] = {}
        for row in self.key_rows:
            groups.setdefault(self.name_row(row), []).append(row)
        return groups

    def describe(self, row: Row) -> str:
        """All numbers of a row in a sentence."""
        return f"{self.name_row(row)}: {narrative.describe_row(row, self.settings)}."

    def sentence(self, row: Row) -> str:
        """The key sentence of a row, and the groups inside its group of which it holds, too."""
        inside = narrative.nested_rows(row, self.rows)
        names = narrative.first_names(
            [self.names[one.by, one.group] for one in inside], _MOST_NESTED
        )
        also = f" Also: {', '.join(names)}." if names else ""
        return narrative.key_sentence(row, self.words) + also

    def sentence_with_harm(self, row: Row) -> str:
        """The same, and whether it is to the disadvantage of the group."""
        return f"{self.sentence(row)} {narrative.harm_sentence(row, self.settings)}".rstrip()

    # Lines below the table

    @cached_property
    def impacts(self) -> list[Row]:
        """The rows with impact ratios, those that are certainly below four fifths first."""
        rows = [row for row in self.rows if not isnan(row.impact_ratio)]
        return sorted(rows, key=lambda row: (not row.is_below_four_fifths, row.impact_ratio))

    @property
    def low_impacts(self) -> list[Row]:
        """Those that were observed below four fifths."""
        low = [row for row in self.impacts if row.impact_ratio < 0.8]
        return [row for row in low if not isnan(row.impact_at_most)]

    @cached_property
    def inconclusive(self) -> str:
        """The groups with the most inconclusive comparisons, such as "A 5 of 5, B 3"; "" if there are none."""
        few = [row for row in self.rows if row.verdict is Verdict.INCONCLUSIVE]
        groups = Counter((row.by, row.group) for row in few).most_common()
        names = [f"{self.names[key]} {n:,}" for key, n in groups]
        if groups:
            first = [row for row in self.rows if (row.by, row.group) == groups[0][0]]
            names[0] += f" of {sum(row.verdict is not Verdict.REFERENCE for row in first):,}"
        return ", ".join(narrative.first_names(names, _MOST_NAMED, "more group", "more groups"))

    @cached_property
    def collecting(self) -> str:
        """How many more cases would settle what is inconclusive."""
        return narrative.collecting_text(self.rows, self.name_row, self.words)

    @cached_property
    def driven(self) -> list[str]:
        """The verdicts that one group of the reference decides, those that would be reversed first."""
        driven: dict[tuple[str, str, Verdict, Verdict], list[str]] = {}
        for row in self.rows:
            if row.driver is not None and row.differs:
                key = self.name_row(row), row.driver, row.verdict, row.driver_verdict
                driven.setdefault(key, []).append(row.metric)
        order = sorted(driven.items(), key=lambda item: _REVERSE.get(item[0][2]) != item[0][3])
        return [
            f"{name} {join_and(metrics)} {verdict.sign} is {without.sign} without {legible(driver)}"
            for (name, driver, verdict, without), metrics in order
        ]

    @property
    def notes(self) -> list[Finding]:
        """What the data lack, and what was approximated: the findings that are not about a group."""
        notes = [finding for finding in self.audit.findings if finding.group is None]
        return [note for note in notes if note.kind not in ("protected", "varies")]

    def note_text(self, note: Finding) -> str:
        """The sentence of a note, behind its place on the axes."""
        place = place_text(note.at)
        return f"{place[0].upper()}{place[1:]}: {note.sentence}" if place else note.sentence

    @property
    def protection(self) -> str:
        """How counts were rounded; "" if they were not."""
        sentences = [f"{f.sentence}." for f in self.audit.findings if f.kind == "protected"]
        return " ".join(sentences)

    @property
    def overall(self) -> dict[str, str]:
        """The scores of all cases, by place."""
        places: dict[str, list[str]] = {}
        for row in self.audit.overall:
            score, scores = narrative.score_text(row), places.setdefault(place_text(row.at), [])
            if not isnan(row.before):
                score += f" (before: {number(row.before)})"
            if not isnan(row.baseline):
                score += f" (majority-class baseline {number(row.baseline)})"
            scores.append(f"{row.metric} {score}")
        return {place: ", ".join(scores) for place, scores in places.items()}

    @property
    def cautions(self) -> list[str]:
        """What a reader must not conclude, once each."""
        rows, s, cautions = self.rows, self.settings, []
        if any(row.differs for row in rows):
            cautions.append("A difference is not an explanation")
        counts = (count for row in self.audit.rows for count in (row.cells or (row.n,)))
        if s["protect"] is None and any(0 < count < _IDENTIFYING for count in counts):
            identify = f"Counts below {_IDENTIFYING} can identify people"
            cautions.append(f"{identify}: round them before publishing")
        if s["favourable"] is None and s["labelled"]:
            cautions.append("Nothing is said of harm: it is not known which decision is favourable")
        return cautions

    @property
    def caution(self) -> str:
        """The same in one line."""
        return "".join(f"{caution}. " for caution in self.cautions).rstrip()

    @property
    def bounds(self) -> str:
        """What "at least" promises."""
        if self.settings["bounds"] == "simultaneous":
            return "bounds that hold for all such statements together"
        rate = f"{100 * float(self.settings['alpha']):g}%"
        return (
            f"over repeated audits, on average at most {rate} of an audit's “at least” bounds are "
            "too large (false coverage rate; audits without bounds count as 0)"
        )

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What was audited and how, as pairs."""
        s, provenance = self.settings, self.audit.provenance
        columns, positive = provenance.get("columns") or {}, provenance.get("positive") or {}
        within = f"the interval of the gap lies within {self.margin}"
        versions = [f"{name} {version}" for name, version in self.audit.versions.items()]
        made = str(provenance.get("made", ""))[:16].replace("T", " ")
        is_smoothed = any(not isnan(row.smoothed) for row in self.rows)
        comparisons = {
            "Compared with": f"{self.compared_with}; {self.independence}",
            "Tests": self.tests,
            "Intervals": f"{self.level}, one comparison each",
            "“At least”": self.bounds,
            "Equivalent": f"no difference was found, and {within}",
        }
        facts: dict[str, Any] = comparisons if self.rows else {}
        facts |= {
            "Goals": self.goal_tests,
            "Worse": s["favourable"]
            and "said of selection rates and of the error rate whose errors are unfavourable",
            "Smoothed": is_smoothed
            and "Cross-Prior Smoothing towards the reference; not used in any test",
            "Label": _describe_column(columns.get("label"), positive.get("label")),
            "Prediction": _describe_column(columns.get("prediction"), positive.get("prediction")),
            "Data": ", ".join(filter(None, self._describe_data())),
            "Software": ", ".join(versions),
            "Made": made and f"{made} UTC",
        }
        return [(word, text) for word, text in facts.items() if text]

    def _describe_data(self) -> list[str]:
        """What the data are, and what was left out of them; parts may be empty."""
        source = self.audit.provenance.get("source") or {}
        left_out = ", ".join(f"{n:,} without {what}" for what, n in self.audit.left_out.items())
        sizes = {"file": source.get("files"), "row": source.get("rows")}
        skipped, digest = source.get("skipped"), source.get("sha256")
        return [
            self.source or str(source.get("kind", "")),
            *(several(n, noun) for noun, n in sizes.items() if isinstance(n, int)),
            f"{several(skipped, 'other file')} skipped" if skipped else "",
            f"left out: {left_out}" if left_out else "",
            f"SHA-256 {digest[:12]}…" if digest else "",
        ]


def _describe_column(name: object, positive: object) -> str:
    """A column, and which of its values are positive."""
    if not name:
        return ""
    values = positive if isinstance(positive, list) else [positive]
    listed = " or ".join(legible(str(value)) for value in values if value is not None)
    return legible(str(name)) + (f"; positive: {listed}" if listed else "")
