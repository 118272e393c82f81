"""The page and the list of claims, written from what was computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .claims import Claim, Outcome
from .table import Table

__all__ = ["Checked", "Section", "write_claims", "write_page"]

_ROWS_SHOWN = 130


@dataclass(frozen=True, slots=True)
class Section:
    """What the page shows of a part; tables without a picture are shown as such, if they are short."""

    name: str
    title: str
    says: str
    pictures: tuple[str, ...]
    table: Table

    @property
    def shown(self) -> Table | None:
        """The table, if it is to be read on the page."""
        return self.table if not self.pictures and len(self.table.rows) <= _ROWS_SHOWN else None


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim and what its check found."""

    claim: Claim
    outcome: Outcome


def write_page(folder: Path, sections: list[Section], checked: list[Checked], *, replaced: bool) -> Path:
    """Write index.html; it says so if counts were ``replaced``."""
    tally = _tally(checked)
    return _write(folder / "index.html", sections=sections, checked=checked, tally=tally, replaced=replaced)


def write_claims(folder: Path, checked: list[Checked]) -> Path:
    """Write claims.md."""
    return _write(folder / "claims.md", checked=checked, tally=_tally(checked))


def _tally(checked: list[Checked]) -> list[tuple[str, int]]:
    counts = Counter(c.outcome.verdict for c in checked)
    return [(verdict, counts[verdict]) for verdict in ("holds", "holds with a condition", "does not hold")]


def _write(path: Path, **values: Any) -> Path:
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
