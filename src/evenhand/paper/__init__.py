"""The paper again, exact: every figure, table and claim, from public names only.

>>> from evenhand.paper import reproduce
>>> [path.name for path in reproduce("results", only=["table2"])]    # doctest: +SKIP
['table2.csv', 'index.html']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import evenhand as eh

from .claims import CLAIMS
from .folktables import count_forest, fetch_income
from .page import Checked, Section, write_claims, write_page
from .parallel import Progress, Workers, silent
from .parts import PARTS, Part, drawn_part
from .study import Study
from .table import Table

__all__ = ["PART_NAMES", "count_forest", "fetch_income", "reproduce"]

PART_NAMES = (*(part.name for part in PARTS), "claims")


def reproduce(
    out: str | Path,
    *,
    only: Iterable[str] = (),
    folktables: Mapping[str, eh.ConfusionMatrix] | None = None,
    monte_carlo: Sequence[str] = (),
    draws: int = 1_000_000,
    seed: int = 0,
    processes: int = 1,
    progress: Progress = silent,
) -> list[Path]:
    """Make the paper's figures, tables and claims anew, and a page that shows them.

    Parameters
    ----------
    out : path
        The folder to write to; it is made if need be. Two runs write the same files.
    only : names of parts
        Some of `PART_NAMES`; all by default.
    folktables : mapping of group to ConfusionMatrix
        Matrices in place of the shipped Folktables counts, for instance from `count_forest`.
    monte_carlo : names of metrics
        For these, errors are drawn as in the paper too, and compared with the exact ones.
    draws : int
        How many random groups are drawn for each point.
    seed : int
        Decides the random groups; nothing else is random.
    processes : int
        How many processes share the work. A script that asks for several needs the usual ``if __name__ == "__main__"``.
    progress : callable
        Is told what is done: ``progress(what, done, total)``.

    Returns
    -------
    list of Path
        The files written.
    """
    chosen = list(dict.fromkeys(only)) or list(PART_NAMES)
    for name in chosen:
        if name not in PART_NAMES:
            raise eh.UnknownName.among("part of the paper", name, PART_NAMES)
    parts = [part for part in PARTS if part.name in chosen]
    if monte_carlo:
        if draws < 2 or seed < 0:
            raise eh.InvalidInput(f"draws must be at least 2 and seed at least 0; got {draws} and {seed}")
        parts.append(drawn_part([_one_group(name) for name in monte_carlo], draws, seed))
    _check_installed()
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refusal:
        raise eh.InvalidInput(f"out must be a folder that can be written to; {folder}: {refusal.strerror}") from None
    with Workers(processes, progress) as workers:
        study = Study(folktables, workers)
        written, sections = _make(parts, study, folder)
        checked = _check(study) if "claims" in chosen else []
    if folktables:
        cells = [(group, *map(int, cm.cells)) for group, cm in study.folktables.items()]
        written.append(Table(("group", "tp", "fn", "fp", "tn"), cells).write(folder / "folktables.csv"))
    if checked:
        written.append(write_claims(folder, checked))
    return [*written, write_page(folder, sections, checked, replaced=bool(folktables))]


def _make(parts: list[Part], study: Study, folder: Path) -> tuple[list[Path], list[Section]]:
    """Compute the parts' tables, write them, and draw their pictures."""
    tables, written = [], []
    for part in parts:
        tables.append(part.table(study))
        written.append(tables[-1].write(folder / f"{part.name}.csv"))
        study.workers.progress(part.name, 1, 1)
    made = list(zip(parts, tables, strict=True))
    pictures = [(picture, table, folder / name) for part, table in made for name, picture in part.pictures.items()]
    for files in study.workers.each(_draw, pictures, "pictures"):
        written += files
    return written, [Section(part.name, part.title, part.says, tuple(part.pictures), table) for part, table in made]


def _check(study: Study) -> list[Checked]:
    checked: list[Checked] = []
    for claim in CLAIMS:
        checked.append(Checked(claim, claim.check(study)))
        study.workers.progress("claims", len(checked), len(CLAIMS))
    return checked


def _one_group(name: str) -> str:
    m = eh.metric(name)
    if m.groups != 1:
        raise eh.InvalidInput(f"{m.key} compares two groups; the experiment takes metrics of one group")
    return m.key


def _check_installed() -> None:
    from importlib.util import find_spec

    if not (find_spec("matplotlib") and find_spec("jinja2")):
        raise eh.MissingExtra.named("reproduce", "making the paper's figures")


def _draw(task: tuple[Callable[[Table], Any], Table, Path]) -> list[Path]:
    from .draw import draw

    return draw(*task)
