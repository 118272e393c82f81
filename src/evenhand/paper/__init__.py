"""An exact reproduction of the paper: its figures, its tables, and a check of each of its claims.

>>> from evenhand.paper import reproduce
>>> [path.name for path in reproduce("results", only=["table2"])]    # doctest: +SKIP
['table2.csv', 'index.html']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import evenhand as eh
from evenhand.errors import InvalidInput, MissingExtra, UnknownName

from .exhibits import EXHIBITS, monte_carlo_exhibit
from .folktables import count_forest, fetch_income
from .montecarlo import Rng
from .parallel import Progress, Workers, silent
from .results import write_results
from .study import Study

__all__ = ["PART_NAMES", "count_forest", "fetch_income", "reproduce"]

PART_NAMES = (*(exhibit.name for exhibit in EXHIBITS), "claims")


def reproduce(
    out: str | Path,
    *,
    only: Iterable[str] = (),
    folktables: Mapping[str, eh.ConfusionMatrix] | None = None,
    monte_carlo: Sequence[str] = (),
    draws: int = 1_000_000,
    rng: Rng = 0,
    processes: int = 1,
    progress: Progress = silent,
) -> list[Path]:
    """Reproduce the paper's figures, tables and claims, and write them to a folder with a web page.

    All numbers are exact expectations unless `monte_carlo` is given. Running it twice with the same arguments writes
    identical files.

    Parameters
    ----------
    out : str or Path
        The folder to write to. It is created if it does not exist.
    only : iterable of str, optional
        The parts to produce, from `PART_NAMES`. By default all parts are produced.
    folktables : mapping of str to ConfusionMatrix, optional
        Confusion matrices by group that replace the bundled Folktables counts, for example from `count_forest`.
    monte_carlo : sequence of str, optional
        Keys of metrics whose errors are also simulated, as in the paper, and compared with the exact errors.
    draws : int, default=1_000_000
        Number of random groups per simulated point. Used only with `monte_carlo`.
    rng : int, numpy.random.Generator or None, default=0
        Seed or generator of the simulation. Used only with `monte_carlo`.
    processes : int, default=1
        Number of processes. With more than one, a script must be guarded by ``if __name__ == "__main__"``.
    progress : callable, optional
        Called as ``progress(what, done, total)`` as the work proceeds.

    Returns
    -------
    list of Path
        The files written. The last one is the page, ``index.html``.

    Raises
    ------
    UnknownName
        If `only` or `monte_carlo` contains an unknown name.
    InvalidInput
        If another argument is invalid or the folder cannot be created.
    MissingExtra
        If matplotlib or Jinja2 is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     files = [path.name for path in reproduce(folder, only=["table2"])]
    >>> files
    ['table2.csv', 'index.html']
    """
    chosen = list(dict.fromkeys(only)) or list(PART_NAMES)
    for name in chosen:
        if name not in PART_NAMES:
            raise UnknownName.among("part of the paper", name, PART_NAMES)
    exhibits = [exhibit for exhibit in EXHIBITS if exhibit.name in chosen]
    if monte_carlo:
        if draws < 2:
            raise InvalidInput(argument="draws", must="be at least 2", got=draws)
        if isinstance(rng, int) and rng < 0:
            raise InvalidInput(argument="rng", must="be at least 0", got=rng)
        exhibits.append(monte_carlo_exhibit([_one_group_key(name) for name in monte_carlo], draws, rng))
    _check_installed()
    folder = Path(out)
    with _new_files(folder) as made, Workers(processes, progress) as workers:
        study = Study(folktables, workers)
        files = write_results(made, study, exhibits, claims="claims" in chosen, replaced=bool(folktables))
        return [file.replace(folder / file.name) for file in files]


@contextmanager
def _new_files(folder: Path) -> Iterator[Path]:
    """A folder in ``folder`` for files that are moved there at the end, so that nothing is left if there is no end."""
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = TemporaryDirectory(prefix=".evenhand-", dir=folder)
    except OSError as error:
        raise InvalidInput(f"cannot create the folder {folder}: {error.strerror}") from None
    try:
        with made:
            yield Path(made.name)
    except BaseException:
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _one_group_key(name: str) -> str:
    m = eh.metric(name)
    if m.groups != 1:
        raise InvalidInput(f"{m.key} compares two groups; Monte Carlo errors need a metric of one group")
    return m.key


def _check_installed() -> None:
    from importlib.util import find_spec

    if not (find_spec("matplotlib") and find_spec("jinja2")):
        raise MissingExtra.named("reproduce", "reproducing the paper")
