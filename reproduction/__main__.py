"""``python -m reproduction``: the paper's figures, tables and claims from the command line.

Exit codes: 0 if the results were written, 1 if they could not be written, 2 if an option is invalid or a package is
missing, 130 after Ctrl-C. Files are moved to their folder at the end, so an interrupted run leaves none.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import evenhand as eh
from evenhand.errors import EvenhandError

try:
    from .exhibits import EXHIBITS, monte_carlo_exhibit
    from .results import write_results
    from .study import Study
except ModuleNotFoundError as error:
    sys.stderr.write(f"{error.name} is not installed: run pip install -e '.[reproduce]'\n")
    sys.exit(2)

DESCRIPTION = """Reproduce the paper's figures, tables and claims with exact numbers, and write a web page that shows
them. Takes about a minute. Running it twice writes identical files."""
PARTS = [*(exhibit.name for exhibit in EXHIBITS), "claims"]


def read_options(words: list[str] | None) -> argparse.Namespace:
    """The options of a command line."""
    parser = argparse.ArgumentParser("python -m reproduction", description=DESCRIPTION)
    add = parser.add_argument
    add("--out", type=Path, default="results", help="folder to write to (default: results)")
    add("--only", action="append", choices=PARTS, help="produce only this part; can be repeated")
    add("--monte-carlo", action="store_true", help="also simulate errors with random groups, as in the paper")
    metric_help = "metric to simulate with --monte-carlo; can be repeated (default: tpr and mcc)"
    add("--metric", action="append", type=one_group_metric, help=metric_help)
    draws_help = "random groups per point with --monte-carlo (default: 1,000,000)"
    add("--draws", type=int, default=1_000_000, help=draws_help)
    add("--rng", type=int, default=0, help="random seed (default: 0)")
    folktables_help = "download the survey and train the random forest again, instead of using the bundled counts"
    add("--folktables", action="store_true", help=folktables_help)
    options = parser.parse_args(words)
    if options.draws < 2:
        parser.error("--draws must be at least 2")
    if options.rng < 0:
        parser.error("--rng must be at least 0")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"cannot create the folder {options.out}: {error.strerror}")
    return options


def one_group_metric(name: str) -> str:
    """The key of a metric of one group."""
    try:
        metric = eh.metric(name)
    except EvenhandError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if metric.groups != 1:
        raise argparse.ArgumentTypeError(f"{metric.key} compares two groups; choose a metric of one group")
    return metric.key


def report_progress(task: str, done: int, total: int) -> None:
    """Report on standard error: each step on a terminal, elsewhere the end of each task."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{task}: {done} of {total}{end}")
    elif done == total:
        sys.stderr.write(f"{task}\n")
    sys.stderr.flush()


def train_again(folder: Path, rng: int) -> dict[str, eh.ConfusionMatrix]:
    """The Folktables groups from the survey itself."""
    try:
        from .folktables import count_forest, fetch_survey
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed: run pip install -e '.[folktables]'\n")
        sys.exit(2)
    sys.stderr.write("Downloading the survey and training the random forest; this takes several minutes.\n")
    return count_forest(fetch_survey(folder), rng)


def main(words: list[str] | None = None) -> None:
    """Run the command."""
    options = read_options(words)
    parts = options.only or PARTS
    exhibits = [exhibit for exhibit in EXHIBITS if exhibit.name in parts]
    if options.monte_carlo:
        metrics = options.metric or ["tpr", "mcc"]
        exhibits.append(monte_carlo_exhibit(metrics, options.draws, options.rng))
    groups = train_again(options.out / "folktables", options.rng) if options.folktables else None
    study = Study(groups, progress=report_progress)
    with TemporaryDirectory(prefix=".new-", dir=options.out) as folder:
        files = write_results(Path(folder), study, exhibits, claims="claims" in parts)
        written = [file.replace(options.out / file.name) for file in files]
    print(f"Wrote {len(written)} files. Open {written[-1]}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"Cannot write the results: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
