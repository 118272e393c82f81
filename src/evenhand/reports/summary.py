"""What every output says of an audit: its title, what was compared and how, key sentences, notes and provenance.

A `Summary` is made once; terminal, Markdown, HTML and notebook lay it out. A line of its tables is a
group at a place on the axes, with one row per metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
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
from .narrative import (
    collecting_text,
    driven_texts,
    harms,
    impact_texts,
    inconclusive_groups,
    key_sentence,
    nested_names,
    reference_text,
    score_text,
    select_key_rows,
)
from .words import Words

_APPROXIMATE = {"mid-p", "approximate", "effective counts", "montecarlo"}
_ADJUSTMENTS = {
    "holm": "Holm for discrete tests",
    "bh": "Benjamini-Hochberg",
    "none": "no adjustment",
}
_AXES = {
    "threshold": ("threshold", "thresholds"),
    "class": ("class", "classes"),
    "stratum": ("stratum", "strata"),
    "model": ("model", "models"),
}
_IDENTIFYING = 11
_NOTES_OF_ROWS = (
    "differs",
    "beyond-margin",
    "base-rate",
    "selection-rate",
    "four-fifths",
    "undefined",
    "too-few",
)


@dataclass(frozen=True)
class Line:
    """A group at a place on the axes, with its rows by metric."""

    name: str
    rows: dict[str, Row]

    @property
    def first(self) -> Row:
        """Any of its rows, which have the same group and place."""
        return next(iter(self.rows.values()))

    @property
    def bound(self) -> float:
        """The largest bound of its differences."""
        return max(row.smallest_gap if row.differs else 0.0 for row in self.rows.values())

    @property
    def differing(self) -> list[Row]:
        """Its rows that differ, the largest bound first."""
        return sorted(
            (row for row in self.rows.values() if row.differs), key=lambda row: -row.smallest_gap
        )


@dataclass(frozen=True)
class Summary:
    """An audit, as outputs show it."""

    audit: Audit

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the audit."""
        return self.audit.settings

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
        keys = dict.fromkeys(row.metric for row in self.audit.rows)
        requested = [key for key in self.settings["metrics"] if key in keys]
        return [lookup_metric(key) for key in dict.fromkeys([*requested, *keys])]

    @cached_property
    def is_of_models(self) -> bool:
        """Whether models are compared."""
        return any(row.is_change for row in self.audit.rows)

    @cached_property
    def lines(self) -> list[Line]:
        """Groups at places, the largest certain difference first."""
        rows: dict[Any, dict[str, Row]] = {}
        for row in self.audit.rows:
            rows.setdefault((str(row.at), row.by, row.group), {})[row.metric] = row
        lines = [Line(self.name_row(next(iter(some.values()))), some) for some in rows.values()]
        return sorted(lines, key=self._rank_line)

    def _rank_line(self, line: Line) -> tuple[Any, ...]:
        harmed = sum(harms(row, self.settings) for row in line.differing)
        return -line.bound, -len(line.differing), -harmed, -line.first.n, line.name

    def name_row(self, row: Row) -> str:
        """The group of a row, and its place."""
        name = self.names[row.by, row.group]
        return f"{name}, {place_text(row.at)}" if row.at and not self._is_at_one_place else name

    def label_row(self, row: Row) -> str:
        """The same in few characters, where the axes are named elsewhere: "group 1, 0.5"."""
        values = () if self._is_at_one_place else row.at.values()
        return ", ".join([self.names[row.by, row.group], *(f"{value}" for value in values)])

    @cached_property
    def _is_at_one_place(self) -> bool:
        return len({str(row.at) for row in self.audit.rows}) == 1

    # What was compared, and how

    @property
    def source(self) -> str:
        """What the data are called; "" if that is not known, as of standard input."""
        source = self.audit.provenance.get("source") or {}
        return str(source.get("name") or "").removeprefix("-")

    @property
    def columns(self) -> dict[str, int]:
        """The group columns and intersections, with their numbers of groups."""
        groups = dict.fromkeys((row.by, row.group) for row in self.audit.rows)
        return dict(Counter(by for by, _ in groups))

    @property
    def extent(self) -> str:
        """How many cases were audited: "7,214 defendants"."""
        about = "" if self.settings["protect"] is None else "about "
        return f"{about}{self.words.count(self.audit.n)}"

    @property
    def places(self) -> str:
        """The axes with the number of their values; "" without axes."""
        values = {
            axis: [value for value in values if value != "pooled"]
            for axis, values in self.audit.axes.items()
        }
        if self.is_of_models:
            pairs = dict.fromkeys(
                (row.at.get("model"), row.at.get("against")) for row in self.audit.rows
            )
            return join_and(
                [f"{model} against {against}" for model, against in pairs if model is not None]
            )
        counts = [
            several(len(some), *_AXES[axis]) for axis, some in values.items() if axis in _AXES
        ]
        return join_and(counts) if counts else place_text(self.audit.provenance.get("at") or {})

    @property
    def title(self) -> str:
        """The title of a report: "compas: 7,214 defendants by race"."""
        # An intersection is named by its columns, which are in the title already.
        columns = [by for by in self.columns if " & " not in by] or list(self.columns)
        places = f", {self.places}" if self.places else ""
        name = f"{self.source}: " if self.source else ""
        return f"{name}{self.extent} by {join_and(columns)}{places}"

    @property
    def compared_with(self) -> str:
        """What groups are compared with."""
        references = {row.by: reference_text(row) for row in self.audit.rows}
        if len(set(references.values())) == 1:
            return next(iter(references.values()))
        return ", ".join(f"{text} ({by})" for by, text in references.items())

    @property
    def independence(self) -> str:
        """What is taken to be independent."""
        cluster = self.audit.provenance.get("cluster")
        if not cluster:
            return "assumes independent cases"
        return f"assumes independent {cluster['column']} clusters ({cluster['clusters']:,})"

    @property
    def tests(self) -> str:
        """Which tests were made, and how they are adjusted."""
        methods = {row.method for row in self.audit.rows} - {None}
        is_exact = [method not in _APPROXIMATE for method in methods]
        kind = (
            "Exact tests"
            if all(is_exact)
            else "Exact and approximate tests"
            if any(is_exact)
            else "Approximate tests"
        )
        adjust = str(self.settings["adjust"])
        name = (
            "Holm"
            if adjust == "holm" and self.settings["protect"] is not None
            else _ADJUSTMENTS[adjust]
        )
        scope = "" if adjust == "none" else " within each metric"
        if adjust != "none" and self.settings["family"] == "audit":
            scope = " over all rows"
        elif "threshold" in self.audit.axes:
            scope += " and threshold"
        return f"{kind}, {name}{scope}, alpha {self.settings['alpha']:g}"

    @property
    def margin(self) -> str:
        """The gaps that do not matter."""
        return margins_text(self.audit.rows, self.settings["margin"])

    # Verdicts and sentences

    @cached_property
    def verdicts(self) -> Counter[Verdict]:
        """How many rows have each verdict, in the order of their claims."""
        counts = Counter(row.verdict for row in self.audit.rows)
        order = (
            Verdict.HIGHER,
            Verdict.LOWER,
            Verdict.UNLIKE,
            Verdict.EQUIVALENT,
            Verdict.INCONCLUSIVE,
        )
        return Counter({verdict: counts[verdict] for verdict in dict.fromkeys([*order, *counts])})

    @property
    def gap_title(self) -> str:
        """What pictures of gaps show."""
        return f"{'change of the gap' if self.is_of_models else 'gap'} to {self.compared_with}"

    @property
    def compared(self) -> int:
        """How many rows are comparisons."""
        return len(self.audit.rows) - self.verdicts[Verdict.REFERENCE]

    @property
    def verdict_line(self) -> str:
        """How many comparisons have each verdict."""
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
        return "No difference was found. This does not mean that the groups are equal."

    @cached_property
    def key_rows(self) -> list[Row]:
        """The rows of the key sentences."""
        return select_key_rows(self.audit.rows, self.settings)

    @property
    def key_groups(self) -> dict[str, list[Row]]:
        """The same by the name of their group."""
        groups: dict[str, list[Row]] = {}
        for row in self.key_rows:
            groups.setdefault(self.name_row(row), []).append(row)
        return groups

    def sentence(self, row: Row) -> str:
        """The key sentence of a row, and the groups inside its group of which it holds, too."""
        return key_sentence(row, self.words) + nested_names(row, self.audit.rows, self.names)

    def harm(self, row: Row) -> str:
        """That a difference is to the disadvantage of the group; "" if that is not known."""
        if not harms(row, self.settings):
            return ""
        return (
            f"Worse than before, relative to {reference_text(row)}."
            if row.is_change
            else "Worse for this group."
        )

    # Lines below the table

    @property
    def impacts(self) -> list[tuple[Row, str]]:
        """Impact ratios that were observed below four fifths."""
        return impact_texts(self.audit.rows, self.name_row)

    @cached_property
    def inconclusive(self) -> str:
        """The groups with the most inconclusive comparisons."""
        return inconclusive_groups(self.audit.rows, self.names)

    @cached_property
    def collecting(self) -> str:
        """How many more cases would settle what is inconclusive."""
        return collecting_text(self.audit.rows, self.name_row, self.words)

    @cached_property
    def driven(self) -> list[str]:
        """Verdicts that one group of the reference decides."""
        return driven_texts(self.audit.rows, self.name_row)

    @property
    def notes(self) -> list[Finding]:
        """What the data lack, and what was approximated: the findings that are not about rows."""
        others = (*_NOTES_OF_ROWS, "protected")
        return [finding for finding in self.audit.findings if finding.kind not in others]

    def note_text(self, note: Finding) -> str:
        """The sentence of a note, behind its place on the axes."""
        place = place_text(note.at)
        return f"{place[0].upper()}{place[1:]}: {note.sentence}" if place else note.sentence

    @property
    def protection(self) -> str:
        """How counts were rounded; "" if they were not."""
        sentences = [f.sentence for f in self.audit.findings if f.kind == "protected"]
        return f"{sentences[0]}." if sentences else ""

    @property
    def overall(self) -> list[tuple[str, str]]:
        """The scores of all cases, by place."""
        places: dict[str, list[str]] = {}
        for row in self.audit.overall:
            score = score_text(row)
            if not isnan(row.before):
                score = f"{row.score:+.3f} (from {number(row.before)} to {number(row.before + row.score)})"
            baseline = (
                "" if isnan(row.baseline) else f" (majority-class baseline {number(row.baseline)})"
            )
            places.setdefault(place_text(row.at), []).append(f"{row.metric} {score}{baseline}")
        return [(place, ", ".join(scores)) for place, scores in places.items()]

    @property
    def cautions(self) -> list[str]:
        """What a reader must not conclude, once each."""
        rows = self.audit.rows
        cautions = []
        if any(row.differs for row in rows):
            cautions.append("A difference is not an explanation")
        is_small = any(
            0 < count < _IDENTIFYING for row in rows for count in (row.cells or (row.n,))
        )
        if is_small and self.settings["protect"] is None:
            cautions.append(
                f"Counts below {_IDENTIFYING} can identify people: round them before publishing"
            )
        if self.settings["favourable"] is None and self.settings["labelled"]:
            cautions.append("Nothing is said of harm: it is not known which decision is favourable")
        return cautions

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What was audited and how, as pairs."""
        s, provenance = self.settings, self.audit.provenance
        columns, positive = provenance.get("columns") or {}, provenance.get("positive") or {}
        level = percent(s["confidence_level"])
        source = provenance.get("source") or {}
        left_out = ", ".join(f"{n:,} without {what}" for what, n in self.audit.left_out.items())
        sizes = {"file": source.get("files"), "row": source.get("rows")}
        skipped = source.get("skipped")
        data = [
            self.source or str(source.get("kind", "")),
            *(several(n, noun) for noun, n in sizes.items() if isinstance(n, int)),
            f"{several(skipped, 'other file')} skipped" if skipped else "",
            f"left out: {left_out}" if left_out else "",
        ]
        digest = f"SHA-256 {source['sha256'][:12]}…" if source.get("sha256") else ""
        made = str(provenance.get("made", ""))[:16].replace("T", " ")
        pairs = [
            ("Compared with", f"{self.compared_with}; {self.independence}"),
            ("Tests", self.tests),
            ("Intervals", f"{level}, one comparison each"),
            ("“At least”", "bounds that hold for all such statements together"),
            (
                "Equivalent",
                f"no difference was found, and the interval of the gap lies within {self.margin}",
            ),
            (
                "Worse",
                "said of selection rates and of the error rate whose errors are unfavourable",
            ),
            ("Smoothed", "Cross-Prior Smoothing towards the reference; not used in any test"),
            ("Label", _describe_column(columns.get("label"), positive.get("label"))),
            ("Prediction", _describe_column(columns.get("prediction"), positive.get("prediction"))),
            ("Data", ", ".join(filter(None, [*data, digest]))),
            (
                "Software",
                ", ".join(f"{name} {version}" for name, version in self.audit.versions.items()),
            ),
            ("Made", f"{made} UTC" if made else ""),
        ]
        is_used = {
            "Worse": s["favourable"] is not None,
            "Smoothed": not all(isnan(r.smoothed) for r in self.audit.rows),
        }
        return [(word, text) for word, text in pairs if text and is_used.get(word, True)]

    def findings(self) -> Iterator[str]:
        """All findings as sentences with their codes."""
        for finding in self.audit.findings:
            place = f"{place_text(finding.at)}: " if finding.at else ""
            yield f"{finding.severity} {finding.code}: {place}{finding.sentence}."


def _describe_column(name: Any, positive: Any) -> str:
    """A column, and which of its values are positive."""
    if not name:
        return ""
    values = positive if isinstance(positive, list) else [positive]
    listed = " or ".join(legible(str(value)) for value in values if value is not None)
    return f"{legible(str(name))}; positive: {listed}" if listed else legible(str(name))
