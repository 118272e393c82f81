"""Charts of scores along thresholds and of evidence over batches: the places of lines, marks and ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor, isfinite, isnan, log10
from typing import Any

from ..auditing import ReferenceKind, Row, Verdict, lookup_metric
from .axes import Line, value_texts
from .document import Chart, Curve, Curves
from .row_words import has_score

__all__ = ["GEOMETRY", "Picture", "Trace", "places_of", "scale_of", "shared_reference", "traces_of"]

# Up to so many groups have a colour and a number each; of more, readers choose one.
_MOST_COLOURS = 8


def shared_reference(lines: Sequence[Line]) -> tuple[str, list[float | None]] | None:
    """The name and scores of the reference if all groups share one at each threshold, otherwise None."""
    names: list[str] = []
    scores: list[float | None] = []
    for rows in zip(*(line.rows for line in lines), strict=True):
        compared = [row for row in rows if row is not None and row.verdict is not Verdict.REFERENCE]
        found = {(row.reference_kind, row.reference, row.reference_score) for row in compared}
        if len(found) > 1 or any(kind == ReferenceKind.REST for kind, _, _ in found):
            return None
        for kind, name, score in found:
            names.append("all cases" if kind == ReferenceKind.ALL else name)
            scores.append(None if isnan(score) else score)
        if not found:
            scores.append(None)
    if all(score is None for score in scores):
        return None
    return (names[0] if len(set(names)) == 1 else "chosen at each threshold"), scores


@dataclass(frozen=True, slots=True)
class _Geometry:
    """The places of a picture in its own units."""

    width: int = 420
    height: int = 270
    left: int = 46
    right: int = 396
    top: int = 10
    bottom: int = 212
    lane: int = 222
    ticks: int = 243
    axis: int = 262


GEOMETRY = _Geometry()


@dataclass(frozen=True, slots=True)
class _Point:
    """A score in a picture."""

    x: float
    y: float
    low: float | None
    high: float | None
    row: Row
    threshold: str


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A group in a picture; ``place`` is its number and colour, the same for all metrics."""

    place: int
    line: Line
    path: str
    band: str
    points: list[_Point]
    undefined: list[float]
    number_at: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of a chart."""

    chart: Chart
    drawn: list[_Drawn]
    reference: tuple[str, str] | None
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lane: list[tuple[float, int, str]]
    cut: bool
    to_scale: bool

    @classmethod
    def of(cls, chart: Chart) -> Picture:
        """The picture of a chart, with the largest groups first."""
        g, lines = GEOMETRY, chart.lines
        texts = list(value_texts(chart.thresholds).values())
        shares, to_scale = places_of(chart.thresholds)
        xs = [round(g.left + 12 + share * (g.right - g.left - 24), 1) for share in shares]
        shared = shared_reference(lines)
        low, high, marks = scale_of(chart.metric, lines, shared[1] if shared else [])

        def y(value: float) -> float:
            share = (min(max(value, low), high) - low) / (high - low)
            return round(g.bottom - share * (g.bottom - g.top), 1)

        ordered = sorted(lines, key=lambda line: (-line.n, line.group))
        drawn = [_draw(i, line, xs, texts, y) for i, line in enumerate(ordered)]
        ends = [v for one in drawn for p in one.points for v in (p.row.low, p.row.high) if not isnan(v)]
        undefined = [[one.line.name for one in drawn if x in one.undefined] for x in xs]
        corners = [(x, None if v is None else y(v)) for x, v in zip(xs, shared[1], strict=True)] if shared else []
        return cls(
            chart=chart,
            drawn=_apart(drawn) if len(drawn) <= _MOST_COLOURS else drawn,
            reference=(shared[0], _path(corners)) if shared else None,
            x_ticks=_readable(xs, texts),
            y_ticks=[(y(value), text) for value, text in marks],
            lane=[(x, len(names), ", ".join(names)) for x, names in zip(xs, undefined, strict=True) if names],
            cut=any(not low <= end <= high for end in ends),
            to_scale=to_scale,
        )

    @property
    def name(self) -> str:
        """The name of the metric."""
        return str(lookup_metric(self.chart.metric).name)

    @property
    def geometry(self) -> _Geometry:
        """The places of the picture."""
        return GEOMETRY

    @property
    def many(self) -> bool:
        """Whether there are too many groups for a colour each."""
        return len(self.drawn) > _MOST_COLOURS


def places_of(thresholds: Sequence[float]) -> tuple[list[float], bool]:
    """Where thresholds lie from 0 to 1, and whether to scale: not if two of them would be too close to tell apart."""
    k = len(thresholds)
    if k == 1:
        return [0.5], True
    # Halved, since the distance of two large thresholds can be infinite.
    low, span = thresholds[0] / 2, thresholds[-1] / 2 - thresholds[0] / 2
    shares = [(threshold / 2 - low) / span if span else 0.0 for threshold in thresholds]
    if min(b - a for a, b in pairwise(shares)) * 4 * (k - 1) >= 1:
        return shares, True
    return [i / (k - 1) for i in range(k)], False


def scale_of(
    key: str, lines: Sequence[Line], reference: Sequence[float | None]
) -> tuple[float, float, list[tuple[float, str]]]:
    """The ends and ticks of the vertical axis, from the range of the metric or, if it is unbounded, of the scores."""
    low, high = lookup_metric(key).range
    if not (isfinite(low) and isfinite(high)):
        seen = [row.score for line in lines for row in line.rows if row is not None and has_score(row)]
        values = [v for v in (*seen, *reference) if v is not None and isfinite(v)]
        low, high = min([0.0, *values]), max([1.0, *values])
    step = 10.0 ** floor(log10((high - low) / 4))
    step = next(step * times for times in (1, 2, 2.5, 5, 10, 20) if (high - low) / (step * times) <= 5.001)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return first * step, last * step, [(i * step, f"{i * step:.3g}") for i in range(first, last + 1)]


def _draw(place: int, line: Line, xs: Sequence[float], texts: Sequence[str], y: Any) -> _Drawn:
    points: list[_Point] = []
    corners: list[tuple[float, float | None]] = []
    undefined: list[float] = []
    runs: list[list[_Point]] = [[]]
    for x, text, row in zip(xs, texts, line.rows, strict=True):
        if row is None or not has_score(row):
            corners.append((x, None))
            runs.append([])
            undefined += [x] if row is not None else []
            continue
        low, high = row.low, row.high
        ends = (None, None) if isnan(low + high) else (y(low), y(high))
        point = _Point(x, y(row.score), ends[0], ends[1], row, text)
        points.append(point)
        corners.append((x, point.y))
        runs[-1].append(point)
    band = "".join(_band(run) for run in runs)
    end = (points[-1].x + 12, points[-1].y) if points else None
    return _Drawn(place, line, _path(corners), band, points, undefined, end)


def _path(corners: Sequence[tuple[float, float | None]]) -> str:
    """A line through the places, interrupted where there is none."""
    path, joined = "", False
    for x, y in corners:
        if y is not None:
            path += f"{'L' if joined else 'M'}{x},{y}"
        joined = y is not None
    return path


def _band(points: Sequence[_Point]) -> str:
    """The area between the ends of the intervals of neighbouring thresholds."""
    known = [p for p in points if p.low is not None]
    if len(known) < 2 or len(known) < len(points):
        return ""
    edge = [(p.x, p.low) for p in known] + [(p.x, p.high) for p in reversed(known)]
    return "M" + "L".join(f"{x},{y}" for x, y in edge) + "Z"


def _apart(drawn: list[_Drawn]) -> list[_Drawn]:
    """The groups with their numbers at the ends of the lines moved so far that they do not overlap."""
    moved: dict[int, tuple[float, float]] = {}
    ends = sorted((one.number_at, one.place) for one in drawn if one.number_at)
    columns: dict[float, list[tuple[float, int]]] = {}
    for (x, y), place in ends:
        columns.setdefault(x, []).append((y, place))
    for x, column in columns.items():
        ys = [y for y, _ in column]
        for i in range(1, len(ys)):
            ys[i] = max(ys[i], ys[i - 1] + 12)
        for i in reversed(range(len(ys))):
            below = ys[i + 1] - 12 if i + 1 < len(ys) else float(GEOMETRY.bottom)
            ys[i] = min(ys[i], below)
        moved |= {place: (x, round(y, 1)) for y, (_, place) in zip(ys, column, strict=True)}
    return [replace(one, number_at=moved.get(one.place)) for one in drawn]


def _readable(xs: Sequence[float], texts: Sequence[str]) -> list[tuple[float, str]]:
    """The ticks whose texts do not run into each other."""
    kept: list[tuple[float, str]] = []
    reached = float("-inf")
    for x, text in zip(xs, texts, strict=True):
        half = 4 * len(text) + 2
        if x - half >= reached:
            kept.append((x, text))
            reached = x + half
        else:
            kept.append((x, ""))
    return kept


_SMALL = _Geometry(width=300, height=128, left=40, right=290, top=8, bottom=100, axis=120)
# Decades that are drawn, if there is such evidence; what lies beyond is drawn at the edge.
_LOWEST, _HIGHEST = -2, 6
_MOST_POINTS, _DOTTED, _LONGEST_TICK = 400, 60, 18


@dataclass(frozen=True, slots=True)
class Trace:
    """What is drawn of the evidence of a comparison; ``marks`` are places with a text if they are alarms."""

    name: str
    said: str
    path: str
    marks: list[tuple[float, float, str]]
    alarms_at: float
    ticks: list[tuple[float, str]]
    first: str
    last: str
    geometry: _Geometry = _SMALL


def traces_of(curves: Curves) -> list[Trace]:
    """The pictures of some curves, all on the same scale."""
    g, n = _SMALL, len(curves.batches)
    known = [log10(v) for line in curves.lines for v in line.values if v is not None and v > 0]
    low = float(max(_LOWEST, min([-1, *map(floor, known)])))
    high = float(min(_HIGHEST, max([ceil(log10(curves.threshold)), *map(ceil, known)])))

    def y(value: float) -> float:
        place = min(max(log10(value), low), high) if value > 0 else low
        return round(g.bottom - (place - low) / (high - low) * (g.bottom - g.top), 1)

    def x(i: int) -> float:
        return round(g.left + 6 + (g.right - g.left - 12) * (i / (n - 1) if n > 1 else 0.5), 1)

    def drawn(line: Curve) -> Trace:
        corners = [(x(i), None if v is None else y(v)) for i, v in enumerate(line.values)]
        step = -(-n // _MOST_POINTS)
        path = _path([*corners[::step], *(corners[-1:] if (n - 1) % step else [])])
        dots = [(a, b, "") for a, b in corners if b is not None] if n <= _DOTTED else []
        said = f"Evidence of {line.name} over batches; at the end {line.values[-1] or 0:.3g}"
        at = line.alarm
        if at is not None and (here := corners[at][1]) is not None:
            dots.append((corners[at][0], here, f"alarm at {curves.batches[at]}"))
            said += f", alarm at {curves.batches[at]}"
        return Trace(line.name, said, path, dots, y(curves.threshold), ticks, ends[0], ends[-1] if n > 1 else "")

    ends = [name if len(name) <= _LONGEST_TICK else f"{name[: _LONGEST_TICK - 1]}…" for name in curves.batches]
    decades = [i for i in range(int(low), int(high) + 1) if i % 2 == 0 or high - low <= 4]
    near = [i for i in decades if abs(i - log10(curves.threshold)) > (high - low) / 7]
    ticks = [(y(10.0**i), f"{10.0**i:g}") for i in near]
    ticks.append((y(curves.threshold), f"{curves.threshold:.3g}"))
    return [drawn(line) for line in curves.lines]
