"""The picture of docs/explanation/architecture.md: how data flow through the packages, from what modules import.

Run it with ``make bench-packages-picture``; it writes docs/images/packages.svg. Rows are the layers of the contract in
pyproject.toml. An arrow leads from a package to one that imports it, unless a third package lies between the two.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
# Where a package stands (left, in the middle, right), and what it gives to the packages above it.
PACKAGES = {
    "data": (0, "tallies of files and dataframes"),
    "confusion": (1, "confusion matrices"),
    "metrics": (1, "scores, and why some are undefined"),
    "distributions": (1, "probabilities of cells and scores"),
    "inference": (1, "tests, intervals, gaps, smoothing"),
    "planning": (1, "what groups of other sizes would show"),
    "auditing": (1, "comparisons, verdicts, findings: an Audit"),
    "reports": (1, "text, Markdown, HTML, plots"),
    "web": (2, "the local web app"),
    "cli": (1, "the command line"),
}
INPUTS = {"data": "files, dataframes, arrays", "confusion": "counts, labels"}
WIDTH, HEIGHT, ACROSS, UP, MARGIN = 250, 44, 290, 72, 20
HALF = WIDTH // 2
Place = tuple[int, int]


def arrows() -> list[tuple[str, str]]:
    """The pairs of a package and one that imports it, without those that follow from others."""
    graph = grimp.build_graph("evenhand", cache_dir=None)
    after: dict[str, set[str]] = {package: set() for package in PACKAGES}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            lower, upper = (f"{name}.".split(".")[1] for name in (imported, module))
            if lower != upper and {lower, upper} <= PACKAGES.keys():
                after[lower].add(upper)

    def reached(package: str) -> set[str]:
        return after[package].union(*(reached(upper) for upper in after[package]))

    return [(a, b) for a in PACKAGES for b in sorted(after[a]) if not any(b in reached(c) for c in after[a] - {b})]


def layers() -> list[list[str]]:
    """The layers of the contract, lowest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return [line.replace("|", ":").replace(" ", "").split(":") for line in reversed(contracts[0]["layers"])]


def picture() -> str:
    """The picture as SVG."""
    found = {path.parent.name for path in (ROOT / "src/evenhand").glob("*/__init__.py")}
    assert found == PACKAGES.keys(), "a package was added or removed: update PACKAGES"
    rows = [row for row in ([package for package in layer if package in PACKAGES] for layer in layers()) if row]
    below = sorted(name for layer in layers()[: layers().index(rows[0])] for name in layer)
    foot = MARGIN + len(rows) * UP
    places = {
        package: (MARGIN + PACKAGES[package][0] * ACROSS, foot - (i + 1) * UP)
        for i, row in enumerate(rows)
        for package in row
    }
    width, height = 2 * MARGIN + 2 * ACROSS + WIDTH, foot + 86
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13" role="img" aria-label="How data flow through the packages">',
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#555"/></marker>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(arrow(places[lower], places[upper]) for lower, upper in arrows()),
    ]
    for package, text in INPUTS.items():
        x, y = places[package]
        lines += [path(x + HALF, y + HEIGHT + 26, x + HALF, y + HEIGHT), words(x + HALF, y + HEIGHT + 40, text)]
    for package, (x, y) in places.items():
        box = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#e8f1f8" stroke="#0072b2"/>'
        lines += [box, words(x + HALF, y + 18, package, "bold"), words(x + HALF, y + 36, PACKAGES[package][1])]
    lines.append(f'<rect x="{MARGIN}" y="{height - 46}" width="{width - 2 * MARGIN}" height="32" fill="#f3f3f3"/>')
    lines.append(words(width // 2, height - 25, f"Every package may use {', '.join(below)}."))
    return "\n".join([*lines, "</svg>"]) + "\n"


def arrow(lower: Place, upper: Place) -> str:
    """An arrow from a package to one above or beside it; between columns it rises in the outer one."""
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
    (ROOT / "docs/images/packages.svg").write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
