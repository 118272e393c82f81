"""The peers' own tests, with every binary call without weights repeated here.

``.venv/bin/python benchmarks/peers/own_tests.py`` runs the tests of scikit-learn, which are part of what pip installs,
and prints Markdown tables. Those of fairlearn and PyCM are in their repositories only: ``--tests fairlearn=DIR`` and
``--tests PyCM=DIR`` name checkouts, into which PyCM's tests write files. It takes a few minutes.
docs/reference/evidence.md has the numbers that matter.

For each peer, pytest is run with this module as a plugin. It replaces the peer's metric functions by ones that do the
same and, where a call is binary and has no weights, ask evenhand for the score of the same labels. What a test asserts
is left to the peer: only the values of calls are compared. Calls that a metric function makes itself are not counted.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import evenhand as eh

__all__ = ["KINDS", "Recorder", "main", "tables"]

# How the two values of a call can stand to each other.
KINDS = {
    "equal": "equal",
    "neither": "undefined in both",
    "hole": "undefined here, a number there",
    "number": "a number here, undefined there",
    "refused": "refused here",
    "different": "different",
}
Found = dict[str, Any]
Labels = Any


class NotBinary(Exception):
    """A call of another kind: more classes, weights, averages, or several labels per case."""


# ------------------------------------------------------------------------------------------- what a call is here


@dataclass(frozen=True)
class Call:
    """A binary call: its cells, as counted by NumPy, and the labels as they were given, if any were."""

    cells: tuple[int, ...]
    labels: tuple[Labels, Labels] | None = None
    positive: Any = None


def binary(y_true: Labels, y_pred: Labels, positive: Any = None) -> Call:
    """Labels and predictions of at most two values; 1, or else the larger, is positive if none is named."""
    both = [np.asarray(each) for each in (y_true, y_pred)]
    if any(each.ndim != 1 or not len(each) for each in both) or len(both[0]) != len(both[1]):
        raise NotBinary
    values = {value for each in both for value in each.tolist()}
    if len(values) > 2 or any(value is None or value != value for value in values):
        raise NotBinary
    if positive is None:
        positive = 1 if values <= {0, 1} or values <= {-1, 1} else max(values)
    if len(values) == 2 and positive not in values:
        raise NotBinary
    label, decision = (np.asarray([value == positive for value in each.tolist()]) for each in both)
    cells = (label & decision, label & ~decision, ~label & decision, ~label & ~decision)
    return Call(tuple(int(each.sum()) for each in cells), (y_true, y_pred), positive)


def scored(metric: str | float) -> Callable[[Call], float]:
    """The score of a call by a metric's name, or by the beta of an F-score."""

    def score(call: Call) -> float:
        ours = eh.metric(metric) if isinstance(metric, str) else eh.f_beta(metric)
        if call.labels is None:
            return float(ours(eh.ConfusionMatrix.from_array(call.cells)))
        return float(ours(*call.labels, positive=call.positive))

    return score


@dataclass(frozen=True)
class Function:
    """A peer's function: which settings make a call binary, and what each of its values is called here.

    ``plain`` are arguments that must have these values; ``positive`` names the argument with the positive label. The
    metric "beta" is the F-score of the argument of that name.
    """

    metrics: tuple[str, ...]
    plain: Mapping[str, Any]
    positive: str | None = None


UNWEIGHTED = {"sample_weight": None}
AVERAGED = {**UNWEIGHTED, "average": "binary", "labels": None}
SKLEARN = {
    "accuracy_score": Function(("acc",), {**UNWEIGHTED, "normalize": True}),
    "zero_one_loss": Function(("inacc",), {**UNWEIGHTED, "normalize": True}),
    "hamming_loss": Function(("inacc",), UNWEIGHTED),
    "balanced_accuracy_score": Function(("balanced_accuracy",), {**UNWEIGHTED, "adjusted": False}),
    "matthews_corrcoef": Function(("mcc",), UNWEIGHTED),
    "cohen_kappa_score": Function(("kappa",), {**UNWEIGHTED, "labels": None, "weights": None}),
    "precision_score": Function(("ppv",), AVERAGED, "pos_label"),
    "recall_score": Function(("tpr",), AVERAGED, "pos_label"),
    "f1_score": Function(("f1",), AVERAGED, "pos_label"),
    "fbeta_score": Function(("beta",), AVERAGED, "pos_label"),
    "jaccard_score": Function(("jaccard",), AVERAGED, "pos_label"),
    "precision_recall_fscore_support": Function(("ppv", "tpr", "beta"), AVERAGED, "pos_label"),
    "class_likelihood_ratios": Function(("lr_plus", "lr_minus"), {**UNWEIGHTED, "labels": None}),
}
FAIRLEARN = {
    "true_positive_rate": Function(("tpr",), UNWEIGHTED, "pos_label"),
    "true_negative_rate": Function(("tnr",), UNWEIGHTED, "pos_label"),
    "false_positive_rate": Function(("fpr",), UNWEIGHTED, "pos_label"),
    "false_negative_rate": Function(("fnr",), UNWEIGHTED, "pos_label"),
    "selection_rate": Function(("ppr",), UNWEIGHTED, "pos_label"),
}
# PyCM's statistics of a class, and of a whole matrix.
OF_CLASS = {
    "ACC": "acc", "AUC": "balanced_accuracy", "BM": "informedness", "DOR": "dor", "ERR": "inacc", "F0.5": "f0.5",
    "F1": "f1", "F2": "f2", "FDR": "fdr", "FNR": "fnr", "FOR": "for", "FPR": "fpr", "G": "fowlkes_mallows",
    "GM": "g_mean", "J": "jaccard", "MCC": "mcc", "MK": "markedness", "NLR": "lr_minus", "NPV": "npv", "PLR": "lr_plus",
    "PPV": "ppv", "PRE": "prev", "TNR": "tnr", "TPR": "tpr",
}  # fmt: skip
OVERALL = {"Kappa": "kappa", "Overall ACC": "acc", "Overall MCC": "mcc"}


# ------------------------------------------------------------------------------------------------- the recorder


def number_of(value: Any) -> float:
    """A peer's value; nan where it says that there is none."""
    return math.nan if value is None or value == "None" else float(value)


def kind_of(ours: float, theirs: float) -> str:
    if math.isnan(ours) or math.isnan(theirs):
        return {(True, True): "neither", (True, False): "hole"}.get((math.isnan(ours), math.isnan(theirs)), "number")
    return "equal" if math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12) else "different"


class Recorder:
    """Counts calls and values, and keeps what was not equal."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.matrices: set[tuple[int, ...]] = set()
        self.kept: Counter[tuple[str, ...]] = Counter()
        self.tests: Counter[str] = Counter()
        self.inside = False

    def compare(self, function: str, call: Call, score: Callable[[Call], float], theirs: float) -> None:
        """Score the labels of a call, and note how the two values stand to each other."""
        said = ""
        try:
            ours = score(call)
            kind = kind_of(ours, theirs)
        except eh.EvenhandError as error:
            ours, kind, said = math.nan, "refused", str(error)
        self.counted[kind] += 1
        self.matrices.add(call.cells)
        if kind not in ("equal", "neither"):
            self.kept[kind, function, ", ".join(map(str, call.cells)), f"{theirs:.6g}", f"{ours:.6g}", said] += 1

    def wrap(self, name: str, original: Callable[..., Any], how: Function) -> Callable[..., Any]:
        """The peer's function, which notes what its calls give."""
        signature = inspect.signature(original)

        @functools.wraps(original)
        def repeated(*given: Any, **named: Any) -> Any:
            if self.inside:
                return original(*given, **named)
            self.inside = True
            try:
                value = original(*given, **named)
                self.repeat(name, how, signature.bind(*given, **named), value)
            finally:
                self.inside = False
            return value

        return repeated

    def repeat(self, name: str, how: Function, bound: inspect.BoundArguments, value: Any) -> None:
        """Compare what a call gave, if it is binary and has no weights."""
        bound.apply_defaults()
        given = bound.arguments
        y_true, y_pred = list(given.values())[:2]
        try:
            # "Is" or "equals", since arrays have no single answer.
            if any(given[key] is not fixed and given[key] != fixed for key, fixed in how.plain.items()):
                raise NotBinary
            call = binary(y_true, y_pred, given[how.positive] if how.positive else None)
        except (NotBinary, TypeError, ValueError):
            self.counted["other calls"] += 1
            return
        self.counted["calls"] += 1
        values = value if isinstance(value, tuple) else (value,)
        for metric, theirs in zip(how.metrics, values, strict=False):
            self.compare(name, call, scored(given["beta"] if metric == "beta" else metric), number_of(theirs))

    def replace(self, package: str, functions: Mapping[str, Function]) -> None:
        """Put the noting functions wherever a module of the package holds the original ones."""
        home = import_module(package)
        for name, how in functions.items():
            original = getattr(home, name)
            noting = self.wrap(name, original, how)
            for module in [module for key, module in sys.modules.items() if key.startswith(package)]:
                if vars(module).get(name) is original:
                    setattr(module, name, noting)

    def read_matrices(self) -> None:
        """Compare the statistics of every matrix that PyCM makes of two classes."""
        from pycm import ConfusionMatrix

        begin = ConfusionMatrix.__init__
        signature = inspect.signature(begin)

        @functools.wraps(begin)
        def made(made_now: Any, /, *given: Any, **named: Any) -> None:
            begin(made_now, *given, **named)
            asked = signature.bind(made_now, *given, **named).arguments
            self.read(made_now, asked.get("sample_weight") is not None or bool(asked.get("metrics_off")))

        ConfusionMatrix.__init__ = made

    def read(self, matrix: Any, other: bool) -> None:
        """Compare the statistics of a matrix of two classes, either of which may be the positive one."""
        classes = list(getattr(matrix, "classes", None) or [])
        counts = [matrix.table[row][column] for row in classes for column in classes] if len(classes) == 2 else []
        whole = all(isinstance(count, int | np.integer) for count in counts)
        if not counts or other or not whole or not getattr(matrix, "class_stat", None):
            self.counted["other calls"] += 1
            return
        self.counted["calls"] += 1
        for positive, negative in (classes, classes[::-1]):
            cells = tuple(int(matrix.table[row][col]) for row in (positive, negative) for col in (positive, negative))
            call = Call(cells)
            for name, key in OF_CLASS.items():
                if name in matrix.class_stat:
                    self.compare(name, call, scored(key), number_of(matrix.class_stat[name][positive]))
        for name, key in OVERALL.items():
            if name in matrix.overall_stat:
                self.compare(name, call, scored(key), number_of(matrix.overall_stat[name]))

    def found(self) -> Found:
        """Everything, as JSON can hold it."""
        return {
            "counted": self.counted,
            "matrices": len(self.matrices),
            "kept": [[*key, number] for key, number in self.kept.items()],
            "tests": self.tests,
        }


# --------------------------------------------------------------------------------------------------- the plugin

RECORDER = Recorder()


def pytest_configure() -> None:
    """Put the recorder in place, before any test is imported."""
    peer = os.environ.get("OWN_TESTS_OF")
    if peer == "PyCM":
        RECORDER.read_matrices()
    if peer in ("scikit-learn", "fairlearn"):
        RECORDER.replace("sklearn.metrics", SKLEARN)
    if peer == "fairlearn":
        RECORDER.replace("fairlearn.metrics", FAIRLEARN)


def pytest_runtest_logreport(report: Any) -> None:
    """Count tests: each that was called, and what was skipped before."""
    if report.when == "call" or (report.when == "setup" and not report.passed):
        RECORDER.tests[report.outcome] += 1


def pytest_sessionfinish() -> None:
    """Write what was found where the script looks for it."""
    if "OWN_TESTS_TO" in os.environ:
        Path(os.environ["OWN_TESTS_TO"]).write_text(json.dumps(RECORDER.found()), "utf-8")


# --------------------------------------------------------------------------------------------------- the script


@dataclass(frozen=True)
class Peer:
    """A library: what pip calls it, and its tests, in the package or in a checkout."""

    package: str
    tests: tuple[str, ...]
    options: tuple[str, ...] = ()
    checkout: bool = True


FLAGS = "doctest_optionflags=NORMALIZE_WHITESPACE IGNORE_EXCEPTION_DETAIL ELLIPSIS"
PEERS = {
    "scikit-learn": Peer(
        "scikit-learn",
        tuple(
            f"sklearn.metrics.tests.test_{name}" for name in ("classification", "common", "ranking", "score_objects")
        ),
        ("--pyargs",),
        checkout=False,
    ),
    "fairlearn": Peer("fairlearn", ("test/unit/metrics",)),
    "PyCM": Peer(
        "pycm",
        ("Test",),
        # Whole files are one test each, and a test whose pictures or formats differ goes on with its next line.
        ("--doctest-modules", "--doctest-continue-on-failure", "-o", "python_files=*_test.py", "-o", FLAGS),
    ),
}


def run(name: str, checkout: Path | None = None, tests: Iterable[str] = (), repeat: bool = True) -> Found:
    """Run a peer's tests in a process of its own; what the recorder found.

    The library is the one that is installed, whatever else is in the checkout.
    """
    peer = PEERS[name]
    here = str(Path(__file__).parent)
    source = str(Path(eh.__file__).parents[1])
    with tempfile.TemporaryDirectory() as folder:
        reply = Path(folder, "found.json")
        nothing = Path(folder, "pytest.ini")
        nothing.write_text("[pytest]\n", "utf-8")
        environment = {
            **os.environ, "OWN_TESTS_OF": name if repeat else "", "OWN_TESTS_TO": str(reply), "MPLBACKEND": "Agg",
            "PYTHONPATH": os.pathsep.join([here, source]), "PYTHONSAFEPATH": "1",
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "own_tests", "-p", "no:cacheprovider", "-p", "no:xdist",
            "-c", str(nothing), *peer.options, *(tests or peer.tests),
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=checkout or folder, env=environment, capture_output=True, text=True, check=False
        )
        if not reply.exists():
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        print(done.stdout[-3000:], file=sys.stderr)
        found: Found = json.loads(reply.read_text("utf-8"))
    return found


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    heads = list(heads)
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def tables(results: Mapping[str, Found | str], tests_of: Mapping[str, str]) -> Iterator[str]:
    """What was counted, and the values that are not equal."""
    versions = f"Python {platform.python_version()}, NumPy {np.__version__} and evenhand {version('evenhand')}"
    yield f"Run on {date.today().isoformat()}, with {versions}.\n"
    run_here = {name: found for name, found in results.items() if not isinstance(found, str)}
    rows = [
        [
            f"{name} {version(PEERS[name].package)}", tests_of[name], f"{found['tests'].get('passed', 0):,}",
            f"{found['counted'].get('calls', 0):,}", f"{found['matrices']:,}",
            *(f"{found['counted'].get(kind, 0):,}" for kind in KINDS),
        ]
        for name, found in run_here.items()
    ]  # fmt: skip
    yield from table(["peer", "tests", "passed", "binary calls", "different matrices", *KINDS.values()], rows)
    others = sum(found["counted"].get("other calls", 0) for found in run_here.values())
    yield f"\nCalls of another kind, which were not repeated: {others:,}."
    for name, found in results.items():
        if isinstance(found, str):
            yield f"\n{name} was not run: {found}."
        elif bad := found["tests"].get("failed", 0):
            yield f"\n{bad:,} of {name}'s tests failed, and {found['alone']:,} do if nothing is repeated."
    for kind in ("hole", "number", "refused", "different"):
        yield from listed(run_here, kind)


def listed(results: Mapping[str, Found], kind: str) -> Iterator[str]:
    """A section of the values of one kind; nothing if there are none."""
    lines = [(name, *rest) for name, found in results.items() for k, *rest in found["kept"] if k == kind]
    if not lines:
        return
    yield f"\n## {KINDS[kind].capitalize()}\n"
    if kind == "hole":
        rows: Iterable[Iterable[object]] = (
            [f"{name}: `{function}`", summed_up(cells), ", ".join(sorted(numbers, key=float))]
            for name, found in results.items()
            for function, cells, numbers in by_function(found, kind)
        )
        yield from table(["function", "matrices (TP, FN, FP, TN)", "they return"], rows)
    elif kind == "refused":
        said = Counter[tuple[str, str, str]]()
        for name, function, _, _, _, sentence, number in lines:
            said[name, function, sentence] += number
        rows = ([f"{name}: `{function}`", sentence, f"{n:,}"] for (name, function, sentence), n in said.items())
        yield from table(["function", "what evenhand says", "values"], rows)
    else:
        rows = ([f"{name}: `{function}`", cells, t, o, n] for name, function, cells, t, o, _, n in lines)
        yield from table(["function", "matrix (TP, FN, FP, TN)", "there", "here", "values"], rows)


def by_function(found: Found, kind: str) -> Iterator[tuple[str, list[str], set[str]]]:
    kept = [one for one in found["kept"] if one[0] == kind]
    for function in sorted({one[1] for one in kept}):
        mine = [one for one in kept if one[1] == function]
        yield function, list(dict.fromkeys(one[2] for one in mine)), {one[3] for one in mine}


def summed_up(cells: list[str], most: int = 4) -> str:
    shown = "; ".join(sorted(cells, key=lambda each: [int(x) for x in each.split(", ")][::-1])[:most])
    return shown if len(cells) <= most else f"{shown}; and {len(cells) - most} more"


def which(checkout: Path) -> str:
    """The version of a checkout: its tag or commit."""
    said = subprocess.run(
        ["git", "-C", str(checkout), "describe", "--tags", "--always"], capture_output=True, text=True, check=False
    )
    return re.sub(r"^.*-g(?=[0-9a-f]+$)", "commit ", said.stdout.strip()) or "of a folder without a version"


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="own_tests.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tests", action="append", default=[], metavar="PEER=DIR", help="a checkout with its tests")
    options = parser.parse_args(None if arguments is None else list(arguments))
    folders = {name: Path(folder).resolve() for name, _, folder in (each.partition("=") for each in options.tests)}
    results: dict[str, Found | str] = {}
    tests_of = {}
    for name, peer in PEERS.items():
        if peer.checkout and name not in folders:
            results[name] = "its tests are not part of what pip installs, and no checkout was named"
            continue
        tests_of[name] = which(folders[name]) if peer.checkout else "as installed"
        found = run(name, folders.get(name))
        if found["tests"].get("failed"):
            found["alone"] = run(name, folders.get(name), repeat=False)["tests"].get("failed", 0)
        results[name] = found
    for line in tables(results, tests_of):
        print(line)


if __name__ == "__main__":
    main()
