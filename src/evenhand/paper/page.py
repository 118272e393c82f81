"""The web page and the list of claims, rendered from the results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from .claims import CheckedClaim, Verdict
from .table import Table

__all__ = ["Section", "write_claims", "write_page"]

_ROWS_SHOWN = 130


@dataclass(frozen=True, slots=True)
class Section:
    """What the page shows of an exhibit: its plots or, if it has none and is short, its table."""

    name: str
    title: str
    caption: str
    plots: tuple[str, ...]
    table: Table

    @property
    def shown(self) -> Table | None:
        """The table, if the page shows it."""
        return self.table if not self.plots and len(self.table.rows) <= _ROWS_SHOWN else None


def write_page(folder: Path, sections: list[Section], checked: list[CheckedClaim], *, replaced: bool) -> Path:
    """Write index.html; ``replaced`` says that other Folktables counts than the bundled ones were used."""
    return _write(
        folder / "index.html",
        sections=sections,
        checked=checked,
        tally=_tally(checked),
        counts=_counts(checked),
        replaced=replaced,
    )


def write_claims(folder: Path, checked: list[CheckedClaim]) -> Path:
    """Write claims.md."""
    return _write(folder / "claims.md", checked=checked, tally=_tally(checked))


def _counts(checked: list[CheckedClaim]) -> list[tuple[Verdict, str, int]]:
    """Each verdict with its verb, in the number that its count takes, and the count."""
    counts = Counter(c.outcome.verdict for c in checked)
    words: dict[Verdict, tuple[str, str]] = {
        "holds": ("holds", "hold"),
        "holds with a condition": ("holds with a condition", "hold with a condition"),
        "does not hold": ("does not hold", "do not hold"),
    }
    return [(v, words[v][counts[v] != 1], counts[v]) for v in get_args(Verdict)]


def _tally(checked: list[CheckedClaim]) -> str:
    return ", ".join(f"{count} {words}" for _, words, count in _counts(checked))


def _write(path: Path, **values: object) -> Path:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("evenhand.paper"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template(path.name).render(values)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
