"""The picture of docs/explanation/architecture.md: how data flow through the rooms, from what modules import.

Run it with ``make bench-rooms-picture``; it writes docs/images/rooms.svg. Rows are the layers of the contract in
pyproject.toml. An arrow leads from a room to one that imports it, unless a third room lies between the two: what is
left of the graph of imports says the same, and can be read.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
# Where a room stands (left, in the middle, right), and what it gives to the rooms above it.
ROOMS = {
    "data": (0, "tallies of files and dataframes"),
    "confusion": (1, "confusion matrices"),
    "metrics": (1, "scores, and why some are undefined"),
    "distributions": (1, "probabilities of cells and scores"),
    "inference": (1, "tests, intervals, gaps, smoothing"),
    "planning": (1, "what groups of other sizes would show"),
    "auditing": (1, "comparisons, verdicts, findings: an Audit"),
    "views": (1, "text, Markdown, HTML, plots"),
    "web": (2, "the page"),
    "cli": (1, "the command"),
}
INPUTS = {"data": "files, dataframes, arrays", "confusion": "counts, labels"}
WIDTH, HEIGHT, ACROSS, UP, MARGIN = 250, 44, 290, 72, 20
HALF = WIDTH // 2
Place = tuple[int, int]


def arrows() -> list[tuple[str, str]]:
    """The pairs of a room and one that imports it, without those that follow from others."""
    graph = grimp.build_graph("evenhand", cache_dir=None)
    after: dict[str, set[str]] = {room: set() for room in ROOMS}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            lower, upper = (f"{name}.".split(".")[1] for name in (imported, module))
            if lower != upper and {lower, upper} <= ROOMS.keys():
                after[lower].add(upper)

    def reached(room: str) -> set[str]:
        return after[room].union(*(reached(upper) for upper in after[room]))

    return [(a, b) for a in ROOMS for b in sorted(after[a]) if not any(b in reached(c) for c in after[a] - {b})]


def layers() -> list[list[str]]:
    """The layers of the contract, lowest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return [line.replace("|", ":").replace(" ", "").split(":") for line in reversed(contracts[0]["layers"])]


def picture() -> str:
    """The picture as SVG."""
    found = {path.parent.name for path in (ROOT / "src/evenhand").glob("*/__init__.py")}
    assert found == ROOMS.keys(), "a room has come or gone: give it a place in ROOMS"
    rows = [row for row in ([room for room in layer if room in ROOMS] for layer in layers()) if row]
    below = sorted(name for layer in layers()[: layers().index(rows[0])] for name in layer)
    foot = MARGIN + len(rows) * UP
    places = {
        room: (MARGIN + ROOMS[room][0] * ACROSS, foot - (i + 1) * UP) for i, row in enumerate(rows) for room in row
    }
    width, height = 2 * MARGIN + 2 * ACROSS + WIDTH, foot + 86
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13" role="img" aria-label="How data flow through the rooms">',
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#555"/></marker>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(arrow(places[lower], places[upper]) for lower, upper in arrows()),
    ]
    for room, text in INPUTS.items():
        x, y = places[room]
        lines += [path(x + HALF, y + HEIGHT + 26, x + HALF, y + HEIGHT), words(x + HALF, y + HEIGHT + 40, text)]
    for room, (x, y) in places.items():
        box = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#e8f1f8" stroke="#0072b2"/>'
        lines += [box, words(x + HALF, y + 18, room, "bold"), words(x + HALF, y + 36, ROOMS[room][1])]
    lines.append(f'<rect x="{MARGIN}" y="{height - 46}" width="{width - 2 * MARGIN}" height="32" fill="#f3f3f3"/>')
    lines.append(words(width // 2, height - 25, f"Every room may use {', '.join(below)}."))
    return "\n".join([*lines, "</svg>"]) + "\n"


def arrow(lower: Place, upper: Place) -> str:
    """An arrow from a room to one above or beside it; between columns it rises in the outer one."""
    (x, y), (to_x, to_y) = lower, upper
    if y == to_y:
        return path(x, y + HEIGHT // 2, to_x + WIDTH, y + HEIGHT // 2)
    if x == to_x:
        return path(x + HALF, y, x + HALF, to_y + HEIGHT)
    if to_x != MARGIN + ACROSS:
        return path(x if to_x < x else x + WIDTH, y + 12, to_x + HALF, y + 12, to_x + HALF, to_y + HEIGHT)
    return path(x + HALF, y, x + HALF, to_y + HEIGHT - 12, to_x if x < to_x else to_x + WIDTH, to_y + HEIGHT - 12)


def path(*numbers: int) -> str:
    points = " ".join(map(str, numbers))
    return f'<path d="M{points}" fill="none" stroke="#555" stroke-width="1.5" marker-end="url(#tip)"/>'


def words(x: int, y: int, text: str, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" font-weight="{weight}" fill="#222">{text}</text>'


def main() -> None:
    (ROOT / "docs/images/rooms.svg").write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
