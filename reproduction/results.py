"""Compute the exhibits, check the claims, and write them to a folder with a web page that shows them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from pandas import DataFrame

from .claims import CLAIMS, CheckedClaim, Verdict, check_claim
from .exhibits import Exhibit
from .figures import save_figure
from .study import Study
from .tables import CELLS

ROWS_SHOWN = 130
PLURALS: dict[Verdict, str] = {
    "holds": "hold",
    "holds with a condition": "hold with a condition",
    "does not hold": "do not hold",
}


def write_results(folder: Path, study: Study, exhibits: Sequence[Exhibit], *, claims: bool = True) -> list[Path]:
    """Write all results to an existing folder and list the files; the last one is the page."""
    files: list[Path] = []
    tables = {}
    for exhibit in exhibits:
        table = exhibit.compute(study)
        files.append(write_csv(table, folder / f"{exhibit.name}.csv"))
        if not exhibit.plots and len(table) <= ROWS_SHOWN:
            tables[exhibit.name] = read_csv(files[-1])
        for name, plot in exhibit.plots.items():
            files += save_figure(plot, table, folder / name)
        study.progress(exhibit.name, 1, 1)
    if study.other_counts:
        counts = {group: cm.to_array().ravel() for group, cm in study.folktables.items()}
        table = DataFrame.from_dict(counts, orient="index", columns=CELLS)
        files.append(write_csv(table.reset_index(names="group"), folder / "folktables.csv"))
    checked: list[CheckedClaim] = []
    if claims:
        checked = [check_claim(claim, study) for claim in study.track(CLAIMS, "claims")]
    values = {
        "exhibits": exhibits,
        "tables": tables,
        "checked": checked,
        "counts": _count_verdicts(checked),
        "other_counts": study.other_counts,
    }
    if checked:
        files.append(_render(folder / "claims.md", values))
    return [*files, _render(folder / "index.html", values)]


def write_csv(table: DataFrame, path: Path) -> Path:
    """Write a table with ten significant digits; missing values are empty."""
    # Adding zero turns -0.0 into 0.0.
    numbers = table.select_dtypes("float") + 0.0
    table.assign(**numbers).to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
    return path


def read_csv(path: Path) -> list[list[str]]:
    """The rows of a file as text, the header first."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _count_verdicts(checked: list[CheckedClaim]) -> list[tuple[Verdict, str, int]]:
    """Each verdict, its verb in the number that its count takes, and the count."""
    counts = Counter(claim.verdict for claim in checked)
    return [(v, v if counts[v] == 1 else PLURALS[v], counts[v]) for v in get_args(Verdict)]


def _render(path: Path, values: dict[str, object]) -> Path:
    """Fill in the template that has the name of the file."""
    environment = Environment(
        loader=PackageLoader("reproduction"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template(path.name).render(values)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
