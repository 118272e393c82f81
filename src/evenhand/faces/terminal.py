"""An audit as text for a terminal: a summary, a table that fits the width, and what its words mean.

Long names are wrapped. If several share a long beginning or end, that is left out, and said once; what tells them
apart is never cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import category, east_asian_width

from ..auditing import Audit, Row, Verdict, compared_with, number, several
from ..errors import printable
from .overview import Headline, headlines, names_of, opening, tally, told_apart
from .tables import gap_ends, gap_text, metric_lines, notes, settings_text

__all__ = ["as_text", "columns", "folded_text"]

_WIDTH, _NARROWEST = 80, 56
_ROWS = 24
_NAME, _SHORTEST_NAME = 16, 8
_KEY = 14
_LONG = 8


class _Column(NamedTuple):
    """A column of the table: its title, whether numbers stand to the right, and when it gives way (0: never)."""

    title: str
    right: bool
    gives_way: int


_COLUMNS = {
    "group": _Column("group", False, 0),
    "metric": _Column("metric", False, 0),
    "n": _Column("n", True, 1),
    "cases": _Column("cases", True, 0),
    "score": _Column("score", True, 0),
    "versus": _Column("versus", True, 2),
    "gap": _Column("gap", True, 0),
    "interval": _Column("{level:g} % interval", True, 4),
    "p": _Column("p", True, 3),
    "verdict": _Column("verdict", False, 0),
}


def as_text(
    audit: Audit,
    most: int | None = _ROWS,
    *,
    width: int = _WIDTH,
    colour: bool = False,
    verbose: bool = False,
    ways: tuple[str, str] = ("", ""),
) -> str:
    """A summary, a table of at most ``most`` rows, and notes.

    ``verbose`` adds all findings and the settings. ``ways`` say how to see
    the rows and the findings that are left out.
    """
    width = max(width, _NARROWEST)
    paint = _Paint(colour)
    rows = audit.rows if most is None else audit.rows[:most]
    widths = _widths(audit, rows, width)
    shown = {(row.by, row.group) for row in rows}
    named = {key: name for key, name in names_of(audit).items() if key in shown}
    names, elided = _abridged(named, widths["group"])
    names = told_apart(names, lambda name: tuple(folded_text(name, widths["group"])))
    lines = [
        *(paint.bold(line) for line in _wrapped(opening(audit), width)),
        *_wrapped(f"Each group is compared with {printable(compared_with(audit.rows))}.", width),
        *_tallied(audit, width, paint),
        "",
        *_summary(audit, width, paint, verbose, ways[1]),
        *_table(audit, rows, names, widths, paint),
    ]
    if left := audit.rows[len(rows) :]:
        lines += _wrapped(f"… and {several(len(left), 'more row')}: {_without_none(left)}{ways[0]}", width)
    lines += ["", *_pairs(metric_lines(audit), width), ""]
    lines += [paint.dim(line) for note in (*elided, *notes(audit)) for line in _wrapped(note, width)]
    if verbose:
        lines += ["", paint.bold("Settings"), *_pairs(settings_text(audit), width)]
    return "\n".join(lines)


class _Paint:
    """Colours of a terminal, or none."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def _code(self, text: str, code: int) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text

    def bold(self, text: str) -> str:
        return self._code(text, 1)

    def dim(self, text: str) -> str:
        return self._code(text, 2)

    def verdict(self, text: str, verdict: Verdict) -> str:
        """The text in that of the terminal's own colours which is nearest to the verdict's; dim for greys."""
        red, green, blue = (int(verdict.colour[i : i + 2], 16) > 127 for i in (1, 3, 5))
        nearest = red + 2 * green + 4 * blue
        return self._code(text, 30 + nearest if nearest else 2)


def _tallied(audit: Audit, width: int, paint: _Paint) -> list[str]:
    parts = [(f"{verdict.sign} {n:,} {verdict}", verdict) for verdict, n in tally(audit.rows).items()]
    lines: list[str] = []
    used = width
    for text, verdict in parts:
        if used + len(text) + 3 > width:
            lines.append(paint.verdict(text, verdict))
            used = len(text)
        else:
            lines[-1] += "   " + paint.verdict(text, verdict)
            used += len(text) + 3
    return lines


def _without_none(rows: Sequence[Row]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in tally(rows).items() if n)


def _summary(audit: Audit, width: int, paint: _Paint, verbose: bool, way: str) -> list[str]:
    """The sentences that matter most, or all of them, each behind the mark of its verdict."""
    chosen = [Headline(None, f"{finding}.") for finding in audit.findings] if verbose else headlines(audit)
    lines: list[str] = []
    for verdict, sentence in chosen:
        mark = paint.verdict(verdict.sign, verdict) if verdict else "-"
        first, *others = _wrapped(sentence, width - 2)
        lines += [f"{mark} {first}", *(f"  {line}" for line in others)]
    if audit.findings and not verbose:
        kinds = Counter(finding.kind for finding in audit.findings)
        counted = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        lines += _wrapped(f"{several(len(audit.findings), 'finding')}: {counted}{way}", width)
    return [*lines, ""] if lines else []


def _cells(row: Row, name: str) -> dict[str, str]:
    gap, _ = gap_text(row)
    return {
        "group": name,
        "metric": printable(row.metric),
        "n": f"{row.n:,}",
        "cases": f"{row.basis:,}",
        "score": "-" if row.score is None else number(row.score),
        "versus": "-" if row.reference_score is None else number(row.reference_score),
        "gap": gap,
        "interval": " ".join(map(_end, gap_ends(row))) or "-",
        "p": _p(row.p_adjusted),
        "verdict": f"{row.verdict.sign}{'*' if row.driver else ' '}{row.verdict}",
    }


def _end(value: float) -> str:
    """An end of an interval, with three decimals unless it is large."""
    return f"{value + 0.0:.3f}" if abs(value) < 100 else number(value)


def _p(value: float | None) -> str:
    return "-" if value is None else "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _widths(audit: Audit, rows: Sequence[Row], width: int) -> dict[str, int]:
    """The columns that fit, in order, with their widths; that of the names is what remains."""
    titles = {key: column.title.format(level=100 * audit.level) for key, column in _COLUMNS.items()}
    cells = [_cells(row, "") for row in rows]
    widths = {key: max(columns(text) for text in (titles[key], *(c[key] for c in cells))) for key in _COLUMNS}
    widths["metric"] = min(widths["metric"], max(_KEY, width // 5))
    longest = max(columns(name) for name in (titles["group"], *names_of(audit).values()))
    wanted = min(longest, _NAME)
    for key in sorted(widths, key=lambda key: _COLUMNS[key].gives_way):
        widths["group"] = width - sum(w for k, w in widths.items() if k != "group") - len(widths) + 1
        if widths["group"] >= wanted:
            break
        if _COLUMNS[key].gives_way:
            del widths[key]
    widths["group"] = width - sum(w for k, w in widths.items() if k != "group") - len(widths) + 1
    widths["group"] = min(longest, max(widths["group"], _SHORTEST_NAME))
    return widths


def _table(
    audit: Audit, rows: Sequence[Row], names: dict[tuple[str, str], str], widths: dict[str, int], paint: _Paint
) -> list[str]:
    titles = {key: _COLUMNS[key].title.format(level=100 * audit.level) for key in widths}
    lines = [paint.bold(line) for line in _drawn(titles, widths)]
    for row in rows:
        cells = _cells(row, names[row.by, row.group])
        lines += _drawn(cells, widths, row.reason and printable(row.reason), row.verdict, paint)
    return lines


def _drawn(
    cells: dict[str, str],
    widths: dict[str, int],
    reason: str | None = None,
    verdict: Verdict | None = None,
    paint: _Paint | None = None,
) -> list[str]:
    """One row, on as many lines as its name or the reason takes; a reason stands in place of the gap and its p."""
    shown = list(widths)
    spanned = shown[shown.index("gap") : shown.index("verdict")] if reason else []
    if reason and cells["score"] == "-":
        spanned = shown[shown.index("score") : shown.index("verdict")]
    room = sum(widths[key] for key in spanned) + max(len(spanned) - 1, 0)
    folded = {key: folded_text(cells[key], widths[key]) for key in ("group", "metric")}
    folded["reason"] = [_loose(line) for line in folded_text(_tied(reason), room)] if reason else []
    lines = []
    for i in range(max(map(len, folded.values()))):
        parts = []
        for key in shown:
            if spanned and key == spanned[0]:
                parts.append(_padded(_at(folded["reason"], i), room, right=False))
            elif key in folded:
                parts.append(_padded(_at(folded[key], i), widths[key], right=False))
            elif key == "verdict" and not i:
                parts.append(paint.verdict(cells[key], verdict) if paint and verdict else cells[key])
            elif key not in (*spanned, "verdict"):
                parts.append(_padded("" if i else cells[key], widths[key], _COLUMNS[key].right))
        lines.append(" ".join(parts).rstrip())
    return lines


def _at(lines: Sequence[str], i: int) -> str:
    return lines[i] if i < len(lines) else ""


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * max(width - columns(text), 0)
    return blanks + text if right else text + blanks


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for accents that combine."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in ("W", "F") else 1 for c in text)


def folded_text(text: str, width: int, after: str = "/_&,;:-") -> list[str]:
    """The text on lines of at most ``width`` columns, broken behind blanks and some other characters if possible."""
    if columns(text) <= width:
        return [text.rstrip()]
    lines = [""]
    for piece in re.findall(rf"[^\s{after}]*[\s{after}]*", text):
        if columns(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines.append("")
        for character in piece:
            if columns(lines[-1] + character) > width and not character.isspace():
                lines.append("")
            lines[-1] += character
    return [line.rstrip() for line in lines]


def _abridged(names: dict[tuple[str, str], str], room: int) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Names without the beginning and the end that all long ones share, and what was left out."""
    long = sorted({name for name in names.values() if len(folded_text(name, room)) > 2})
    if len(long) < 2:
        return names, []
    start = _shared(long)
    end = _shared([name[len(start) :][::-1] for name in long])[::-1]
    short = {name: f"{'…' * bool(start)}{name[len(start) : len(name) - len(end)]}{'…' * bool(end)}" for name in long}
    said = [
        f"… at the {place} of a name stands for '{part}'." for place, part in (("start", start), ("end", end)) if part
    ]
    return {key: short.get(name, name) for key, name in names.items()}, said


def _shared(texts: Sequence[str]) -> str:
    """The beginning that all texts share, up to the end of a word, if it is long; something remains of each."""
    # What the first and the last in alphabetical order share, all share.
    pairs = enumerate(zip(min(texts), max(texts), strict=False))
    end = next((i for i, (a, b) in pairs if a != b), min(map(len, texts)))
    word = re.match(r".*[\s/_&,;:-]", min(texts)[: min(end, min(map(len, texts)) - 1)], re.DOTALL)
    found = word.group() if word else ""
    return found if len(found) >= _LONG else ""


def _pairs(pairs: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Names and texts in two columns."""
    listed = [(printable(name), printable(text)) for name, text in pairs]
    left = max(len(name) for name, _ in listed)
    lines = []
    for name, text in listed:
        first, *others = _wrapped(text, max(width - left - 2, 20))
        lines += [f"{name:<{left}}  {first}", *(f"{'':<{left}}  {line}" for line in others)]
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    return [_loose(line) for line in folded_text(_tied(text), width, after="")]


_TIE = "\x00"


def _tied(text: str) -> str:
    """The text with what must not be broken in one piece: formulas in brackets, percentages and p-values."""
    return re.sub(r"\([A-Z]{2}[^()]{0,20}\)|\d %|p [<=] [\d.]+", lambda found: found[0].replace(" ", _TIE), text)


def _loose(text: str) -> str:
    return text.replace(_TIE, " ")
