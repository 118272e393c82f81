"""Every public function with arguments of many kinds, at sizes from 0 to 10^15, in a child process with limits.

`VALUES` has what a parameter may be, by its name. The tests make some calls, `benchmarks/budgets.py` makes many.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from engines import has
from matrices import matrix

import evenhand as eh
from evenhand import ConfusionMatrix, fairlearn, sklearn

SIZES = (0, 1, 10, 1_000, 10**6, 10**9, 10**12, 10**15)
ONE_GROUP = ("acc", "tpr", "f1", "mb", "mcc", "pt", "lr_plus")
TWO_GROUPS = ("mcc_difference", "disparate_impact", "tpr_difference", "equalized_odds")
RATES = (0.3, 0.2, 0.1, 0.4)
DENORMAL = (5e-324, 0.5, 1e-300, 0.5)
STRENGTHS = (0, 1e-9, 10, 1e9, "auto", {"prev": 1e-9, "tpr": 10, "fpr": 1e9}, 5e-324)
_STUB = Path(eh.__file__).with_name("__init__.pyi").read_text("utf-8")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for module, names in (
        (eh, re.findall(r"\b([a-z]\w*) as \1\b", _STUB)),
        *((module, module.__all__) for module in (fairlearn, sklearn)),
    )
    for name in names
    if name.islower() and not isinstance(function := getattr(module, name), ModuleType)
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call: of which function, in words, at which size."""

    function: str
    words: str
    size: float
    make: Callable[[], Any]

    def __str__(self) -> str:
        return f"{self.function}: {self.words} at {self.size:.3g}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call: ``answer``, ``refusal`` or ``failure``, with the text, seconds and megabytes."""

    kind: str
    text: str
    seconds: float
    megabytes: float


def split(n: int, rates: Iterable[float] = RATES) -> ConfusionMatrix:
    """A matrix of ``n`` cases in about these proportions."""
    tp, fn, fp, _ = (int(n * rate) for rate in rates)
    return matrix(tp, fn, fp, n - tp - fn - fp)


def _classes(n: int) -> eh.MulticlassConfusion:
    table = np.full((3, 3), n // 9, dtype=float) + np.diag([n // 3] * 3)
    return eh.MulticlassConfusion(table, ("x", "y", "z"))


def _values(n: int) -> dict[str, list[Any]]:
    """What each parameter may be, by its name."""
    more = int(2 * n**0.5)
    near = split(n) + matrix(more, 0, more // 2, 0)
    wrong, right = matrix(0, n - n // 2, n // 2, 0), matrix(n // 2, 0, 0, n - n // 2)
    groups = {"a": split(n), "b": near, "c": wrong, "small": split(min(n, 15))}
    draw = random.Random(1)
    rows = [(draw.randint(0, 1), draw.randint(0, 1), f"group {i % 3}", draw.random()) for i in range(min(n, 1_000))]
    y, p, g, s = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    tiny = n**-0.5 if n else 0.1
    return {
        "alternative": ["two-sided", "less"], "alpha": [0.05, 1e-12],
        "beta": [5e-324, 1e-3, 0.5, 2, 1e300], "classes": [None, "all"], "cm": [split(n), near, wrong],
        "confidence_level": [0.95, 1e-12, 1 - 1e-12], "counts": [groups],
        "data": [{"y": y, "p": p, "g": g, "s": s, "q": [1 - x for x in p]}], "denominator": [None, n // 2],
        "difference": [-0.2, tiny], "draws": [500, n], "epsilon": [0, 5e-324, 1e-300, 1, 1e9, 1e300],
        "estimator": [None, eh.Raw(), eh.Additive(1e-9), eh.CrossPrior(RATES, 10),
                      eh.CrossPrior(RATES, {"prev": 5, "tpr": 1e-9, "fpr": 1e9})],
        "given": ["margin", "n"], "groups": [groups], "half_width": [tiny], "kind": ["difference", "ratio"],
        "law": ["multinomial", "predictive", "without_replacement"], "method": ["exact"],
        "metric": [*ONE_GROUP, *ONE_GROUP, *TWO_GROUPS], "metrics": [["tpr", "mcc"]], "mid_p": [False, True],
        "most": [100_000, n],
        "n": [n], "name": ["mcc", "tpr", "acc"], "null": ["pooled", "known", "predictive"], "positive": [1],
        "prior": [0.5, 1e-9, 1e9, 1e-300], "replace": [True, False], "rng": [1],
        "reference": [split(n), split(n), near, right, matrix(1, 1, 1, 1), RATES, DENORMAL],
        "sensitive_features": [g], "strength": [*STRENGTHS], "strengths": [[5.0], [0.0, 1e-300, 1e9]],
        "test": ["fisher", "match"], "threshold": [0.8, 0.3], "truth": [RATES, split(1000, (0.28, 0.22, 0.1, 0.4))],
        "undefined_below": [tiny], "x": [n // 2], "y_pred": [p], "y_true": [y],
    }  # fmt: skip


# Parameters that must have another form in some functions.
_COLUMNS: dict[str, list[Any]] = {"y_true": ["y"], "y_pred": ["p"], "groups": ["g"]}
_SPECIAL: dict[str, Callable[[int], dict[str, list[Any]]]] = {
    "audit": lambda n: _COLUMNS | {"reference": ["rest"], "threshold": [None]},
    "bias_variance": lambda n: {"metric": ["acc", "prev", "mb"], "strength": [0, 1e-9, 10, 1e9]},
    "audit_counts": lambda n: {"data": _values(n)["groups"], "reference": ["rest"]},
    "check_prior": lambda n: {"reference": _values(n)["reference"][:5]},
    "compare": lambda n: {
        "reference": ["rest"],
        "y_true": ["y"],
        "models": [{"a": "p", "b": "q"}],
        "groups": ["g"],
        "positive": [1],
    },
    "disparity": lambda n: {"reference": _values(n)["reference"][:5]},
    "exploitable_sizes": lambda n: {"truth": [None], "n": [[n, n + 1], range(1, n + 1)]},
    "interval": lambda n: {"confidence_level": [0.95, 1e-300, 1 - 2**-53]},
    "jaggedness": lambda n: {"n": [[n, n + 1], range(1, n + 1)], "reference": [None, RATES, DENORMAL, split(n)]},
    "optimal_strength": lambda n: {"metric": [None, "acc", "prev"]},
    "risk": lambda n: {"n": [n, [1, n]], "method": ["exact", "montecarlo"]},
    "match_test": lambda n: {"method": ["exact", "exact", "normal", "beta", "montecarlo"]},
    "scorer": lambda n: {"prior": [None, split(n)]},
    "stress_test": lambda n: {"n": [[n]]},
}
_IGNORED = {"undefined", "labels", "passing", "comparisons", "power", "kwargs", "settings"}
# Of these, one is given.
_GOALS = {
    "power": ("difference", "truth"),
    "sample_size": ("difference", "truth", "half_width", "undefined_below"),
    "cross_prior_smooth": ("reference",),
}
_NEEDED = {"audit": {"data", *_COLUMNS}, "audit_counts": {"data"}, "compare": {"data", "y_true", "models", "groups"}}
DISTRIBUTION: tuple[Callable[[eh.results.Distribution], Any], ...] = (
    lambda d: d.cdf(0.5),
    lambda d: d.sf([0.3, 0.50001]),
    lambda d: d.pmf(0.5),
    lambda d: d.quantile([0.05, 0.5]),
    lambda d: (d.mean, d.std, d.p_undefined),
    lambda d: (len(d.support), d.probabilities[:3]),
)


def _drawn(function: str, n: int, draw: random.Random) -> dict[str, Any]:
    """Arguments of a function; what has a default is left out half of the time."""
    values = _values(n) | (_SPECIAL[function](n) if function in _SPECIAL else {})
    parameters = inspect.signature(FUNCTIONS[function]).parameters
    if function == "from_metric_frame":
        return {"frame": _metric_frame(values)}
    chosen = {
        name: draw.choice(values[name])
        for name, parameter in parameters.items()
        if name in values and name not in _IGNORED
        if parameter.default is parameter.empty or name in _NEEDED.get(function, ()) or draw.random() < 0.5
    }
    if goals := _GOALS.get(function):
        goal = draw.choice(goals)
        chosen = {name: value for name, value in chosen.items() if name not in goals} | {
            goal: draw.choice(values[goal])
        }
    if function in ("match_test", "interval") and draw.random() < 0.3:
        named = draw.choice([{"average": "macro"}, {"label": "x"}])
        chosen |= {name: _classes(n) for name in ("cm", "reference") if name in chosen} | named
    if chosen.get("metric") in TWO_GROUPS and function in ("distribution", "count_undefined", "undefined_probability"):
        chosen["n"] = (n, n)
    return chosen


def _metric_frame(values: dict[str, list[Any]]) -> Any:
    if not has("fairlearn") or not values["y_true"][0]:
        return None
    from fairlearn.metrics import MetricFrame

    asked = {name: values[name][0] for name in ("y_true", "y_pred", "sensitive_features")}
    return MetricFrame(metrics={"counts": fairlearn.confusion_counts}, **asked)


def _made(function: str, arguments: dict[str, Any], n: int, turn: int) -> Any:
    """What a function returns, used: as text, asked for one of its values, or called."""
    if "sensitive_features" in arguments:
        warnings.simplefilter("ignore", UserWarning)
    result = FUNCTIONS[function](**arguments)
    if isinstance(result, eh.results.Distribution):
        return DISTRIBUTION[turn % len(DISTRIBUTION)](result)
    if isinstance(result, eh.results.Metric):
        return result(*[split(n), split(n, (0.4, 0.1, 0.1, 0.4))][: result.groups])
    return [result, str(result)]


def calls(functions: Iterable[str] = FUNCTIONS, sizes: Iterable[int] = SIZES, many: int = 60) -> Iterator[Call]:
    """So many calls of each of these functions at each of these sizes, the same ones each time."""
    for function in functions:
        for size in sizes:
            draw = random.Random(f"{function} {size}")
            for turn in range(many):
                arguments = _drawn(function, size, draw)
                words = ", ".join(f"{name}={value!r:.60}" for name, value in arguments.items())
                yield Call(function, words, size, partial(_made, function, arguments, size, turn))


def outcomes(made: Iterable[Call], seconds: int, megabytes: int) -> Iterator[tuple[Call, Outcome]]:
    """Make calls in child processes with limits; after a failure that ends one, the next goes on behind it.

    A warning is a failure, as is any error that is not an `EvenhandError` with a sentence.
    """
    waiting = list(made)
    while waiting:
        done = 0
        for done, outcome in enumerate(_in_child(waiting, seconds, megabytes), start=1):
            yield waiting[done - 1], outcome
        waiting = waiting[done:]


def _in_child(made: list[Call], seconds: int, megabytes: int) -> Iterator[Outcome]:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(made, seconds, megabytes, writing)
    os.close(writing)
    answered = 0
    with os.fdopen(reading) as lines:
        for line in lines:
            yield Outcome(**json.loads(line))
            answered += 1
    _, status, used = os.wait4(child, 0)
    if answered < len(made):
        ended = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended early"
        yield Outcome("failure", f"{ended} (limits: {seconds} s, {megabytes} MB)", seconds, used.ru_maxrss / 1024)


def memory_limit(megabytes: int) -> int:
    """The bytes of this process, if it takes so many megabytes more."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + megabytes * 2**20


def _answer(made: list[Call], seconds: int, megabytes: int, to: int) -> None:
    """In the child: make the calls, write one line each, and end."""
    try:
        limit = memory_limit(megabytes)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for call in made:
            warnings.simplefilter("error")
            # The time of the processor, which does not depend on what else the machine does.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            start = time.process_time()
            kind, text = _outcome(call)
            signal.setitimer(signal.ITIMER_PROF, 0)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            line = {"kind": kind, "text": text, "seconds": time.process_time() - start, "megabytes": peak}
            os.write(to, (json.dumps(line) + "\n").encode())
    finally:
        os._exit(0)


def _outcome(call: Call) -> tuple[str, str]:
    try:
        return "answer", repr(call.make())[:200]
    except eh.EvenhandError as error:
        text = str(error)
        return ("refusal" if len(text.split()) > 3 and text[0] not in "([{" else "failure"), text
    except BaseException as error:
        places = traceback.extract_tb(error.__traceback__)[::-1]
        where = " < ".join(f"{os.path.basename(p.filename)}:{p.lineno}" for p in places[:4])
        return "failure", f"{type(error).__name__}: {error} ({where})"
