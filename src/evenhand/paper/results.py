"""The files of a run: tables, figures, claims and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .claims import CLAIMS, CheckedClaim
from .exhibits import Exhibit
from .page import Section, write_claims, write_page
from .study import Study
from .table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_results"]


def write_results(
    folder: Path, study: Study, exhibits: Sequence[Exhibit], *, claims: bool = True, replaced: bool = False
) -> list[Path]:
    """Compute the exhibits, check the claims if asked to, write everything to an existing folder, and list the files.

    ``replaced`` says that the study uses other Folktables counts than the bundled ones; they are then written too.
    """
    written, sections = _write_exhibits(folder, study, exhibits)
    checked = _check_claims(study) if claims else []
    if replaced:
        cells: list[tuple[str | int, ...]] = [(group, *map(int, cm.cells)) for group, cm in study.folktables.items()]
        written.append(Table(("group", "tp", "fn", "fp", "tn"), cells).write(folder / "folktables.csv"))
    if checked:
        written.append(write_claims(folder, checked))
    return [*written, write_page(folder, sections, checked, replaced=replaced)]


def _write_exhibits(folder: Path, study: Study, exhibits: Sequence[Exhibit]) -> tuple[list[Path], list[Section]]:
    tables: list[Table] = []
    written: list[Path] = []
    for exhibit in exhibits:
        tables.append(exhibit.compute(study))
        written.append(tables[-1].write(folder / f"{exhibit.name}.csv"))
        study.workers.progress(exhibit.name, 1, 1)
    computed = list(zip(exhibits, tables, strict=True))
    plots = [(plot, table, folder / name) for exhibit, table in computed for name, plot in exhibit.plots.items()]
    for files in study.workers.each(_plot, plots, "plots"):
        written += files
    return written, [Section(e.name, e.title, e.caption, tuple(e.plots), table) for e, table in computed]


def _plot(task: tuple[Callable[[Table], Figure], Table, Path]) -> list[Path]:
    from .figures import save_figure

    return save_figure(*task)


def _check_claims(study: Study) -> list[CheckedClaim]:
    checked: list[CheckedClaim] = []
    for claim in CLAIMS:
        checked.append(CheckedClaim(claim, claim.check(study)))
        study.workers.progress("claims", len(checked), len(CLAIMS))
    return checked
