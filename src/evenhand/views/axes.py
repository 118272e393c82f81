"""What an audit with axes shows: tables of groups by the values of an axis, in one way for every axis.

The first axis of a row is that of the columns; a metric has a table for each place on the others. Rows whose gap is not
that of one score, pooled over strata or between two models, are listed one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..auditing import Audit, Row, Verdict, lookup_metric, place_text, told_apart
from ..wording import join_and, legible, numbered, percent, several
from .document import Block, Cell, Chart, Column, Heading, Paragraph, Section, Table
from .row_words import row_table, score_cell

__all__ = [
    "Axis",
    "Line",
    "axes_of",
    "columns_of",
    "lines_of",
    "model_pairs",
    "models_text",
    "place_order",
    "places_table",
    "score_map",
    "score_sections",
    "value_texts",
]

# So many columns have room in text and in a notebook; of more that are not a scale, the most important are shown.
_MOST_VALUES = 12
_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A kind of axis in words.

    Attributes
    ----------
    one, many : str
        What its values are called.
    title, apart : str
        The titles of scores along it, and of those that have no place on it.
    where : str
        Where something holds at some value of it.
    opening, reading : str
        What it adds to the title of the audit, and how its values are to be read; with fields, see `axis_words`.
    is_scale : bool
        Whether its values are numbers on a scale.
    """

    one: str
    many: str
    title: str
    apart: str
    where: str
    opening: str
    reading: str
    is_scale: bool = False


AXES = {
    "threshold": Axis(
        one="threshold",
        many="thresholds",
        title="Scores along the thresholds",
        apart="Scores without a threshold",
        where="at some threshold",
        opening=" at {values}",
        reading="A score{column} at or above a threshold is a positive prediction.",
        is_scale=True,
    ),
    "class": Axis(
        one="class",
        many="classes",
        title="Scores by class",
        apart="Scores of all classes",
        where="in some class",
        opening=", {n:,} of {classes} against the rest",
        reading="Each class in turn is positive, and all others are negative. Cases of each: {cases}.",
    ),
    "stratum": Axis(
        one="stratum",
        many="strata",
        title="Scores within strata",
        apart="Scores without strata",
        where="in some stratum",
        opening=", within {values} of {strata}",
        reading="Groups are compared within each stratum and, pooled, over all of them.",
    ),
    "model": Axis(
        one="model",
        many="models",
        title="Models",
        apart="Scores without models",
        where="between some models",
        opening=": {pairs}",
        reading="Scores are changes on the same cases, from {baseline}.",
    ),
}


def axes_of(audit: Audit) -> dict[str, Axis]:
    """The axes of an audit in words; which model is compared against which is one axis."""
    return {name: AXES[name] for name in audit.axes if name in AXES}


def axis_words(audit: Audit, name: str, words: str) -> str:
    """What an axis says of an audit, with the numbers and names of the audit in its fields."""
    axis, column = AXES[name], audit.provenance.get("columns", {}).get("score")
    values = [value for value in audit.axes[name] if value != "pooled"]
    pairs = model_pairs(audit)
    return words.format(
        values=several(len(values), axis.one, axis.many),
        n=len(values),
        classes=several(len(audit.provenance.get("classes") or values), "class", "classes"),
        strata=", ".join(audit.settings["strata"]),
        column=f" (column {column})" if column else "",
        cases=_cases(audit) if name == "class" else "",
        pairs=models_text(pairs) if len(pairs) <= _NAMED else f"{len(pairs):,} pairs of models",
        baseline=_baseline_text(pairs),
    )


def model_pairs(audit: Audit) -> list[tuple[str, str]]:
    """Which model is compared against which."""
    at = audit.provenance.get("at") or {}
    every = ({**at, **row.at} for row in sorted(audit.rows, key=lambda row: place_order(audit, row.at)))
    return list(dict.fromkeys((str(one["model"]), str(one["against"])) for one in every if "model" in one))


def models_text(pairs: Sequence[tuple[str, str]]) -> str:
    """Which model is compared against which, in words: ``b and c against a``."""
    of: dict[str, list[str]] = {}
    for model, against in pairs:
        of.setdefault(against, []).append(model)
    return ", ".join(f"{join_and(models)} against {against}" for against, models in of.items())


def _baseline_text(pairs: Sequence[tuple[str, str]]) -> str:
    """What changes are from and to."""
    if len(pairs) == 1:
        return "{1} to {0}".format(*pairs[0])
    baselines = {against for _, against in pairs}
    return f"{baselines.pop()} to each other model" if len(baselines) == 1 else "one model to another"


def _cases(audit: Audit) -> str:
    """The classes with most cases, each with their number."""
    first = columns_of(audit)[0]
    cases: Counter[Any] = Counter()
    counted: set[Any] = set()
    for row in audit.rows:
        place = (row.at.get("class"), row.at.get("stratum"), row.group)
        if row.by == first and row.cells is not None and not row.is_pooled and place not in counted:
            counted.add(place)
            cases[row.at.get("class")] += round(row.tp + row.fn)
    most = [label for label, _ in cases.most_common(_MOST_VALUES)]
    shown = [f"{text} {cases[label]:,}" for label, text in value_texts(audit.axes["class"]).items() if label in most]
    left = len(cases) - len(most)
    return ", ".join(shown) + (f", and {several(left, 'class', 'classes')} more" if left else "")


def value_texts(values: Iterable[Any]) -> dict[Any, str]:
    """The values of an axis as texts, no two of which are alike."""
    return numbered({value: legible(_value_text(value)) for value in values}, str)


def _value_text(value: Any) -> str:
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return repr(value) if isinstance(value, float) and float(short) != value else short


def columns_of(audit: Audit) -> list[str]:
    """The group columns in the order in which they were given, then their crossings."""
    found = {row.by for row in audit.rows}
    given = [by for by in map(str, audit.settings["groups"]) if by in found]
    return list(dict.fromkeys([*given, *sorted(found)]))


@dataclass(frozen=True, slots=True)
class Line:
    """A group, and its row for each value of an axis or each metric; None where there is none.

    ``n`` is its number of cases, in all strata if the rows are those of strata.
    """

    by: str
    group: str
    name: str
    rows: tuple[Row | None, ...]
    n: int

    @property
    def importance(self) -> tuple[int, float]:
        """What rows of an audit are ordered by, where it is most important."""
        return min((row.verdict.rank, -round(row.smallest_gap, 9)) for row in self.rows if row is not None)

    @property
    def differs(self) -> bool:
        """Whether a difference was found in one of the rows."""
        return any(row is not None and row.differs for row in self.rows)


def lines_of(
    rows: Iterable[Row], keys: Sequence[Any], key_of: Callable[[Row], Any], names: Mapping[tuple[str, str], str]
) -> list[Line]:
    """The groups with their rows by key, most important first."""
    found: dict[tuple[str, str], dict[Any, Row]] = {}
    for row in rows:
        found.setdefault((row.by, row.group), {})[key_of(row)] = row
    lines = []
    for who, own in found.items():
        sizes = {row.at.get("stratum"): row.n for row in own.values()}
        lines.append(Line(*who, names[who], tuple(own.get(key) for key in keys), sum(sizes.values())))
    return sorted(lines, key=lambda line: line.importance)


def _table(caption: str, titles: Sequence[Column], lines: Sequence[Line], where: str, omitted: str = "") -> Table:
    first = (
        Column("group", lambda line: Cell(line.name), "name"),
        Column("n", lambda line: Cell(f"{line.n:,}")),
    )
    reasons = dict.fromkeys(row.reason for line in lines for row in line.rows if row is not None and row.reason)
    notes = (f"{Verdict.UNDEFINED.sign} {'; '.join(map(str, reasons))}.",) if reasons else ()
    return Table(caption, (*first, *titles), lines, lambda left: _left(left, where), notes, omitted)


def _left(lines: Sequence[Line], where: str) -> str:
    """How many groups are left out, and how many of them differ."""
    differ, n = sum(line.differs for line in lines), len(lines)
    which = (
        f"{differ:,} of which {'differs' if differ == 1 else 'differ'} {where}" if differ else "without a difference"
    )
    return f"… and {several(n, 'more group')}, {which}"


def _reading(i: int, audit: Audit) -> Callable[[Line], Cell]:
    return lambda line: score_cell(line.rows[i], audit.settings["alpha"])


def score_map(audit: Audit, rows: Sequence[Row], caption: str) -> Table:
    """The groups by metric."""
    keys = list(dict.fromkeys(row.metric for row in rows))
    asked = audit.settings["metrics"]
    keys.sort(key=lambda key: asked.index(key) if key in asked else len(asked))
    titles = [
        Column(key, _reading(i, audit), extra=i >= _MOST_VALUES, means=_explained(key)) for i, key in enumerate(keys)
    ]
    lines = lines_of(rows, keys, lambda row: row.metric, told_apart(audit.rows))
    left = several(max(len(keys) - _MOST_VALUES, 0), "more metric")
    return _table(caption, titles, lines, "in some metric", f"Not shown: {left}." if len(keys) > _MOST_VALUES else "")


def _explained(key: str) -> str:
    m = lookup_metric(key)
    return f"{m.name} = {m.formula}" if m.formula else m.name


def score_sections(audit: Audit) -> Iterator[Section]:
    """The scores of an audit with axes: those without a place, those that are listed, and tables along each axis."""
    axes, names = axes_of(audit), told_apart(audit.rows)
    free: list[Row] = []
    apart = [row for row in audit.rows if is_listed(row)]
    listed: dict[str, list[Row]] = {
        _listed_title(row): [] for row in sorted(apart, key=lambda row: place_order(audit, row.at))
    }
    placed: dict[str, dict[tuple[str, str], list[Row]]] = {}
    for row in audit.rows:
        if is_listed(row):
            listed[_listed_title(row)].append(row)
        elif not row.at:
            free.append(row)
        else:
            axis, *others = row.at
            rest = place_text({other: row.at[other] for other in others})
            placed.setdefault(axis, {}).setdefault((row.metric, rest), []).append(row)
    if free:
        title = axes[next(iter(axes))].apart
        yield Section("scores", title, (score_map(audit, free, "By group and metric, most important groups first"),))
    for i, (title, rows) in enumerate(listed.items()):
        table = row_table("Most important first", rows, names, audit.settings)
        yield Section("scores", title, (table,) if i else (_listed_words(rows), table))
    for name, tables in placed.items():
        asked = audit.settings["metrics"]
        keys = sorted(tables, key=lambda key: (asked.index(key[0]) if key[0] in asked else len(asked), key[1]))
        blocks = [block for key in keys for block in _along(audit, name, key, tables[key], names)]
        yield Section("scores", axes[name].title, tuple(blocks))


def is_listed(row: Row) -> bool:
    """Whether a row is pooled over strata or compares two models."""
    return row.is_pooled or "model" in row.at


def _listed_title(row: Row) -> str:
    rest = {axis: value for axis, value in row.at.items() if axis not in ("stratum", "model", "against")}
    title = "Pooled over strata" if row.is_pooled else f"{row.at.get('model')} against {row.at.get('against')}"
    return f"{title}, {place_text(rest)}" if rest else title


def _listed_words(rows: Sequence[Row]) -> Paragraph:
    """What the columns mean that only such rows have."""
    if not rows[0].is_pooled:
        return Paragraph(
            "change: how much the group's own score changes, with its p-value; versus: the change of the reference; "
            "gap change: how much the gap to the reference changes, which the verdict is about."
        )
    return Paragraph(
        "odds ratio: the odds of the group against those of its reference in the same stratum, over all strata (Mantel "
        "and Haenszel); strata: in how many the group's rate is higher (▲), is lower (▼) or says nothing (–); crude: "
        "the odds ratio without strata."
    )


def _along(
    audit: Audit, name: str, key: tuple[str, str], rows: Sequence[Row], names: Mapping[tuple[str, str], str]
) -> Iterator[Block]:
    """A metric along an axis: a heading, a chart for each group column if the axis is a scale, and a table."""
    (metric, rest), axis = key, axes_of(audit)[name]
    present = {row.at[name] for row in rows}
    values = [value for value in audit.axes[name] if value in present]
    texts = value_texts(values)
    lines = lines_of(rows, values, lambda row: row.at[name], names)
    m = lookup_metric(metric)
    yield Heading(f"{m.name} ({metric}){f', {rest}' if rest else ''}", m.formula)
    if axis.is_scale:
        for by in columns_of(audit):
            own = [line for line in lines if line.by == by]
            if own:
                yield Chart(metric, by, tuple(values), own)
    shown = set(values if axis.is_scale else _most_differing(values, rows, name))
    titles = [Column(texts[value], _reading(i, audit), extra=value not in shown) for i, value in enumerate(values)]
    level = percent(audit.settings["confidence_level"])
    caption = f"{m.name} by {axis.one}{f', {rest}' if rest else ''}, with {level} intervals"
    some = f"The {len(shown):,} of {len(values):,} {axis.many} with most scores that differ; to_csv() has all."
    yield _table(caption, titles, lines, axis.where, some if len(shown) < len(values) else "")


def _most_differing(values: Sequence[Any], rows: Iterable[Row], name: str) -> list[Any]:
    differing = Counter(row.at[name] for row in rows if row.differs)
    return sorted(values, key=lambda value: -differing[value])[:_MOST_VALUES]


def places_table(audit: Audit) -> Table | None:
    """How many scores got each verdict at each place; None if there is only one place."""
    places: dict[str, list[Row]] = {}
    for row in audit.rows:
        places.setdefault(place_text(row.at) or "all", []).append(row)
    if len(places) < 2:
        return None
    seen = [verdict for verdict in Verdict if any(row.verdict is verdict for row in audit.rows)]
    counts = {place: Counter(row.verdict for row in rows) for place, rows in places.items()}

    def counted(verdict: Verdict) -> Callable[[str], Cell]:
        return lambda place: Cell(f"{counts[place][verdict]:,}")

    titles = [Column(f"{verdict.sign} {verdict}", counted(verdict)) for verdict in seen]
    order = sorted(places, key=lambda place: place_order(audit, places[place][0].at))
    return Table(
        "How many scores got each verdict",
        (Column(", ".join(axis.one for axis in axes_of(audit).values()), Cell, "name"), *titles),
        order,
        lambda left: f"… and {len(left):,} more",
    )


def place_order(audit: Audit, at: Mapping[str, Any]) -> tuple[int, ...]:
    """What places are sorted by: in the order of each axis, and first what has no place on it."""
    return tuple(values.index(at[axis]) if at.get(axis) in values else -1 for axis, values in audit.axes.items())
