"""Every public function, as calls at sizes from 0 to 10^15, and a child process with limits to make them in.

`CALLS` has an entry for each public function. The tests make some of the calls, `benchmarks/budgets.py` makes all.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from engines import has
from matrices import matrix

import evenhand as eh
from evenhand import ConfusionMatrix, fairlearn
from evenhand.sklearn import scorer, small_sample_report

SIZES = (0, 1, 10, 1_000, 10**6, 10**9, 10**12, 10**15)
SHAPES = (
    "acc",
    "tpr",
    "f1",
    "mb",
    "mcc",
    "pt",
    "mcc_difference",
    "disparate_impact",
    "tpr_difference",
    "equalized_odds",
)
ONE_GROUP = ("acc", "tpr", "f1", "mb", "mcc", "pt", "lr_plus")
LAWS: tuple[Any, ...] = ("multinomial", "predictive", "without_replacement")
NULLS: tuple[Any, ...] = ("pooled", "known", "predictive")
RATES = (0.3, 0.2, 0.1, 0.4)
DENORMAL = (5e-324, 0.5, 1e-300, 0.5)


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


def opposite(n: int) -> tuple[ConfusionMatrix, ConfusionMatrix]:
    """A group that is always wrong and one that is always right."""
    return matrix(0, n - n // 2, n // 2, 0), matrix(n // 2, 0, 0, n - n // 2)


def near(n: int) -> ConfusionMatrix:
    """A matrix that differs from `split` by about two standard errors."""
    more = int(2 * n**0.5)
    tp, fn, fp, tn = (int(c) for c in split(n).cells)
    return matrix(tp + more, fn, fp + more // 2, tn)


def sizes_for(metric: str, n: int) -> Any:
    return (n, n) if eh.metric(metric).groups == 2 else n


def _match(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    wrong, right = opposite(n)
    pairs = {
        "alike": (split(n), split(n)),
        "near": (near(n), split(n)),
        "against four": (split(n), matrix(1, 1, 1, 1)),
        "small against large": (split(min(n, 20)), split(n)),
        "wrong against right": (wrong, right),
        "one cell": (matrix(n, 0, 0, 0), split(n)),
    }
    for m, null, given, (words, (cm, ref)) in product(SHAPES, NULLS, ("margin", "n"), pairs.items()):
        yield f"{m} {null} given {given}, {words}", partial(_tested, cm, ref, m, null, given)
    methods: tuple[tuple[str, Any], ...] = (("acc", "normal"), ("tpr", "beta"), ("f1", "montecarlo"))
    for m, method in methods:
        law: Any = "known" if method == "beta" else "pooled"
        yield (
            f"{m} by {method}",
            partial(eh.match_test, near(n), split(n), m, method=method, null=law, rng=1, draws=1_000),
        )
    for m in SHAPES:
        yield f"{m} against denormal rates", partial(eh.match_test, split(n), DENORMAL, m)
        yield f"{m} one-sided, mid-p", partial(eh.match_test, near(n), split(n), m, alternative="less", mid_p=True)


def _tested(cm: ConfusionMatrix, reference: ConfusionMatrix, metric: str, null: Any, given: Any) -> list[Any]:
    result = eh.match_test(cm, reference, metric, null=null, given=given)
    return [result.pvalue, str(result)]


def _distribution(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    asked: dict[str, Callable[[eh.results.Distribution], Any]] = {
        "cdf": lambda d: d.cdf(0.5),
        "sf": lambda d: d.sf([0.3, 0.50001]),
        "pmf": lambda d: d.pmf(0.5),
        "quantile": lambda d: d.quantile([0.05, 0.5]),
        "moments": lambda d: (d.mean, d.std, d.p_undefined),
        "list": lambda d: (len(d.support), d.probabilities[:3]),
    }
    references = {"uniform": None, "counts": split(n), "four": matrix(1, 1, 1, 1), "denormal": DENORMAL}
    for m, (words, reference), law, (what, ask) in product(SHAPES, references.items(), LAWS, asked.items()):
        if law != "multinomial" and not isinstance(reference, ConfusionMatrix):
            continue
        if law == "without_replacement" and (n > 4 and words == "four"):
            continue
        yield f"{what} of {m}, {law} {words}", partial(_asked, m, n, reference, law, ask)


def _asked(m: str, n: int, reference: Any, law: Any, ask: Callable[[eh.results.Distribution], Any]) -> Any:
    return ask(eh.distribution(m, sizes_for(m, n), reference, law=law))


def _undefined(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for m in SHAPES:
        size = sizes_for(m, n)
        yield f"{m}, uniform", partial(eh.undefined_probability, m, size)
        yield f"{m}, denormal", partial(eh.undefined_probability, m, size, DENORMAL)
        for law in LAWS:
            yield f"{m}, {law}", partial(eh.undefined_probability, m, size, split(n), law=law)
            if law != "without_replacement":
                four = matrix(1, 1, 1, 1)
                yield f"{m}, {law} four", partial(eh.undefined_probability, m, size, four, law=law)


def _estimators() -> dict[str, eh.results.Estimator]:
    return {
        "raw": eh.Raw(),
        "additive": eh.Additive(1e-9),
        "cps": eh.CrossPrior(RATES, 10),
        "per split": eh.CrossPrior(RATES, {"prev": 5, "tpr": 1e-9, "fpr": 1e9}),
    }


def _risk(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for m, (words, how) in product(ONE_GROUP, _estimators().items()):
        yield f"{m} {words}", partial(eh.risk, m, RATES, n, how)
    for m in ONE_GROUP:
        yield f"{m} denormal", partial(eh.risk, m, DENORMAL, n)

    for m in ONE_GROUP:
        yield f"{m} two sizes", partial(eh.risk, m, RATES, [1, n], list(_estimators().values())[:3])
    drawn: Any = {"method": "montecarlo", "rng": 1}
    for m, replace in product(ONE_GROUP, (True, False)):
        yield (
            f"{m} replace={replace}",
            partial(eh.risk, m, split(n), n // 2 + 1, **drawn, draws=1_000, replace=replace),
        )
    yield "many draws", partial(eh.risk, "tpr", RATES, 10, **drawn, draws=n)


STRENGTHS: tuple[Any, ...] = (
    0, 5e-324, 1e-300, 10, 1e9, 1e300, "auto",
    {"prev": 1e-300, "tpr": 10, "fpr": 1e9}, {"prev": 0, "tpr": 0, "fpr": 5e-324},
)  # fmt: skip


def _smooth(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    groups = {"a": split(n), "b": near(n), "c": opposite(n)[0]}
    for strength in STRENGTHS:
        yield f"strength {strength}", partial(eh.cross_prior_smooth, split(n), near(n), strength)
        yield f"strength {strength}, denormal", partial(eh.cross_prior_smooth, split(n), DENORMAL, strength)
        yield f"strength {strength}, all groups", partial(eh.cross_prior_smooth, groups, strength=strength)


def _additive(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for epsilon in (0, 5e-324, 1e-300, 1, 1e9, 1e300):
        yield f"epsilon {epsilon}", partial(eh.additive_smooth, split(n), epsilon)


def _check_prior(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for strength in STRENGTHS:
        yield f"strength {strength}", partial(eh.check_prior, near(n), split(n), strength)
    yield "against four", partial(eh.check_prior, split(n), matrix(1, 1, 1, 1))
    yield "opposite", partial(eh.check_prior, *opposite(n))
    yield "small against large", partial(eh.check_prior, split(min(n, 20)), split(n))


def _interval(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for m in ONE_GROUP:
        yield m, partial(eh.interval, split(n), m)
        yield f"{m}, one cell", partial(eh.interval, matrix(n, 0, 0, 0), m)
        yield f"{m}, wrong", partial(eh.interval, opposite(n)[0], m, prior=1e-300)
        for strength in STRENGTHS:
            yield f"{m}, strength {strength}", partial(eh.interval, split(n), m, reference=near(n), strength=strength)
    for level in (1e-300, 1e-12, 1 - 1e-12, np.nextafter(1, 0)):
        yield f"level {level}", partial(eh.interval, split(n), "mcc", float(level))


def _disparity(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    pairs = {
        "near": (near(n), split(n)), "opposite": opposite(n), "four": (split(n), matrix(1, 1, 1, 1)),
        "small": (split(min(n, 20)), split(n)),
    }  # fmt: skip
    kinds: tuple[Any, ...] = ("difference", "ratio")
    for m, kind, (words, (cm, ref)) in product(ONE_GROUP, kinds, pairs.items()):
        if kind == "ratio" and m in ("mcc", "mb"):
            continue
        yield f"{m} {kind} {words}", partial(eh.disparity, cm, ref, m, kind)
    for m in ("acc", "tpr", "f1", "mcc"):
        strata, others = (dict.fromkeys(("x", "y"), cm) for cm in pairs["near"])
        yield f"{m} in strata", partial(eh.disparity, strata, others, m)
    for prior in (1e-300, 1e9):
        yield f"prior {prior}", partial(eh.disparity, near(n), split(n), "mcc", prior=prior)


TESTS: dict[str, dict[str, Any]] = {
    "fisher": {}, "match": {"test": "match"},
    "match known n": {"test": "match", "null": "known", "given": "n"},
    "match predictive": {"test": "match", "null": "predictive"},
    "match pooled n": {"test": "match", "given": "n"},
}  # fmt: skip


def _power(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    small = matrix(300, 100, 120, 480)
    truth = split(1000, (0.28, 0.22, 0.1, 0.4))
    for m, (words, options), (what, ref) in product(
        ONE_GROUP, TESTS.items(), {"counts": small, "as large": split(n), "rates": RATES}.items()
    ):
        if what == "rates" and "predictive" in words:
            continue
        yield f"{m} {words} {what}", partial(_printed, eh.power, m, n, ref, truth=truth, **options)
    yield "large reference", partial(eh.power, "tpr", 20, split(n), truth=truth)
    yield "many draws", partial(eh.power, "mcc", 50, small, truth=truth, draws=n)
    yield "denormal", partial(eh.power, "tpr", n, DENORMAL, truth=truth)
    yield "denominator", partial(eh.power, "tpr", n, small, truth=truth, denominator=n // 2)


def _without_warnings(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*given, **options)


def _printed(function: Callable[..., Any], *given: Any, **options: Any) -> list[Any]:
    result = function(*given, **options)
    return [result, str(result)]


def _detectable(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for m, (words, options), ref in product(ONE_GROUP, TESTS.items(), (matrix(300, 100, 120, 480), split(n))):
        yield f"{m} {words} of {ref.n:.3g}", partial(_printed, eh.detectable_difference, m, n, ref, **options)


def _sample_size(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    ref = split(n)
    for m, (words, options) in product(ONE_GROUP, TESTS.items()):
        yield f"{m} {words}", partial(eh.sample_size, m, ref, truth=split(1000, (0.2, 0.3, 0.1, 0.4)), **options)
    for m in ONE_GROUP:
        tiny = n**-0.5 if n else 0.1
        yield f"{m} half-width", partial(eh.sample_size, m, RATES, half_width=tiny)
        yield f"{m} undefined", partial(eh.sample_size, m, RATES, undefined_below=tiny)
        yield f"{m} most", partial(eh.sample_size, m, RATES, truth=split(1000, (0.3, 0.21, 0.1, 0.39)), most=n)
    yield "denormal", partial(eh.sample_size, "tpr", DENORMAL, undefined_below=0.1, most=max(n, 1))


def _jaggedness(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for m in ONE_GROUP:
        yield f"{m} rates", partial(eh.jaggedness, m, RATES, n=[n, n + 1])
        yield f"{m} uniform", partial(eh.jaggedness, m, None, n=[n, n + 1])
        yield f"{m} predictive", partial(eh.jaggedness, m, split(n), n=[n, n + 1], law="predictive")
    yield "denormal", partial(eh.jaggedness, "tpr", DENORMAL, n=[n, n + 1])
    yield "many sizes", partial(eh.jaggedness, "acc", RATES, n=range(1, n + 1))


def _exploitable(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    for m, threshold in (("acc", 0.8), ("tpr", 0.7), ("f1", 0.7), ("mcc", 0.5), ("pt", 0.3), ("disparate_impact", 0.8)):
        yield m, partial(_printed, eh.exploitable_sizes, m, RATES, threshold, n=[n, n + 1])
    yield "many sizes", partial(eh.exploitable_sizes, "acc", RATES, 0.8, n=range(1, n + 1))
    yield "many sizes of mcc", partial(eh.exploitable_sizes, "mcc", RATES, 0.5, n=range(1, n + 1))


def _stress(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    groups = {"a": split(max(n, 10)), "b": near(max(n, 10)), "c": split(max(n, 10), (0.4, 0.1, 0.2, 0.3))}
    yield "sizes", partial(eh.stress_test, groups, n=[n])
    yield "mcc", partial(eh.stress_test, groups, metrics=["mcc"], n=[n], strengths=[0.0, 1e-300, 1e9])


def _classes(n: int, k: int = 3) -> eh.MulticlassConfusion:
    table = [[n // k if i == j else n // (k * k) for j in range(k)] for i in range(k)]
    return eh.MulticlassConfusion(np.array(table, dtype=np.float64), tuple(range(k)))


def _audit_counts(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    groups = {"a": split(n), "b": near(n), "c": opposite(n)[0], "small": split(min(n, 15))}
    yield "default", partial(_printed, eh.audit_counts, groups)
    yield "all shapes", partial(_printed, eh.audit_counts, groups, metrics=list(SHAPES), strength="auto")


def _rows(n: int) -> dict[str, list[Any]]:
    """A table of at most a thousand rows."""
    size = min(n, 1_000)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, size)
    return {
        "y": truth.tolist(),
        "p": (truth ^ (rng.random(size) < 0.2)).astype(int).tolist(),
        "s": rng.random(size).tolist(),
        "g": [f"group {i}" for i in rng.integers(0, 3, size)],
    }


def _audit(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    rows = _rows(n)
    import pandas as pd

    yield "rows", partial(_printed, eh.audit, pd.DataFrame(rows), y_true="y", y_pred="p", groups="g")


def _audit_classes(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    rows = _rows(n)
    columns: dict[str, Any] = {"y_true": rows["y"], "y_pred": rows["p"], "groups": rows["g"], "classes": "all"}
    yield "rows", partial(_printed, eh.audit, None, **columns)


def _models(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    rows: dict[str, Any] = {**_rows(n)}
    rows["q"] = [1 - x for x in rows["p"]]
    columns: dict[str, Any] = {"y_true": "y", "models": {"a": "p", "b": "q"}, "groups": "g", "positive": 1}
    yield "rows", partial(_printed, eh.compare, rows, **columns)


def _from_rows(n: int) -> dict[str, list[tuple[str, Callable[[], Any]]]]:
    """The calls of functions that take labels, predictions or scores row by row."""
    rows = _rows(n)
    y, p, g = rows["y"], rows["p"], rows["g"]
    return {
        "confusion_counts": [("rows", partial(fairlearn.confusion_counts, y, p))],
        "metric_function": [("rows", lambda: fairlearn.metric_function("tpr")(y, p))],
        "small_sample_report": [("rows", partial(small_sample_report, y, p))],
        "scorer": [(m, partial(scorer, m)) for m in ("tpr", "mcc")],
        **{
            name: [("rows", partial(_without_warnings, getattr(fairlearn, name), y, p, sensitive_features=g))]
            for name in fairlearn.__all__ if name.endswith(("_difference", "_ratio"))
        },
    }  # fmt: skip


def _row_calls(function: str) -> Callable[[int], Iterator[tuple[str, Callable[[], Any]]]]:
    return lambda n: iter(_from_rows(n)[function])


def _metric_frame(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    if not has("fairlearn"):
        return

    def made() -> Any:
        import pandas as pd
        from fairlearn.metrics import MetricFrame

        rows = pd.DataFrame(_rows(n))
        frame = MetricFrame(
            metrics={"counts": fairlearn.confusion_counts},
            y_true=rows["y"],
            y_pred=rows["p"],
            sensitive_features=rows["g"],
        )
        return fairlearn.from_metric_frame(frame)

    if n >= 10:
        yield "rows", made


def _match_classes(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    def match(m: str, average: Any, **options: Any) -> Any:
        return eh.match_test(_classes(n), _classes(2 * n), m, average=average, draws=500, **options)

    for m, average in (("acc", None), ("f1", "macro"), ("tpr", "macro"), ("mcc", None), ("kappa", None)):
        for null in NULLS:
            yield f"{m} {average} {null}", partial(match, m, average, null=null)
    yield "label", partial(match, "tpr", None, label=1)


def _score_classes(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    def score(m: str, average: Any) -> Any:
        return eh.metric(m)(_classes(n), average=average)

    for m, average in (("acc", None), ("f1", "macro"), ("mcc", None)):
        yield f"{m} {average}", partial(score, m, average)
    yield "every class", lambda: _classes(n).scores()


def _one(
    function: Callable[[int], Any], words: str = "size"
) -> Callable[[int], Iterator[tuple[str, Callable[[], Any]]]]:
    return lambda n: iter([(words, lambda: function(n))])


def _each(
    function: Callable[[str, int], Any], names: Iterable[str]
) -> Callable[[int], Iterator[tuple[str, Callable[[], Any]]]]:
    return lambda n: ((m, partial(function, m, n)) for m in names)


def _both(
    *several: Callable[[int], Iterator[tuple[str, Callable[[], Any]]]],
) -> Callable[[int], Iterator[tuple[str, Callable[[], Any]]]]:
    return lambda n: (call for calls in several for call in calls(n))


CALLS: dict[str, Callable[[int], Iterator[tuple[str, Callable[[], Any]]]]] = {
    "audit": _both(_audit, _audit_classes),
    "audit_counts": _audit_counts,
    "compare": _models,
    "count_cell_value": _one(lambda n: eh.count_cell_value(n // 2, n)),
    "count_matrices": _one(eh.count_matrices),
    "enumerate_matrices": _one(eh.enumerate_matrices),
    "additive_smooth": _additive,
    "bias_variance": lambda n: (
        (f"{m}, strength {s}", partial(eh.bias_variance, m, RATES, [0.25] * 4, n, s))
        for m in ONE_GROUP for s in (0, 1e-300, 10, 1e300)
    ),
    "check_prior": _check_prior,
    "count_undefined": _each(lambda m, n: eh.count_undefined(m, sizes_for(m, n)), SHAPES),
    "cross_prior_smooth": _smooth,
    "disparity": _disparity,
    "interval": _interval,
    "learn_strengths": _one(lambda n: eh.learn_strengths({"a": split(n), "b": near(n), "c": opposite(n)[0]})),
    "match_test": _both(_match, _match_classes),
    "optimal_strength": _each(lambda m, n: eh.optimal_strength(m, split(n), near(n)), ONE_GROUP),
    "risk": _risk,
    "stress_test": _stress,
    "undefined_probability": _undefined,
    "undefined_table": lambda n: (
        (f"reference {rates}", partial(eh.undefined_table, n, None, rates)) for rates in (None, RATES)
    ),
    "from_metric_frame": _metric_frame,
    "distribution": _distribution,
    "difference": _one(lambda n: eh.difference("mcc")(split(n), near(n))),
    "ratio": _one(lambda n: eh.ratio("tpr")(split(n), near(n))),
    "f_beta": lambda n: ((f"beta {b}", partial(_beta, b, n)) for b in (5e-324, 1e-300, 0.5, 2, 1e300)),
    "list_metrics": _one(lambda n: [_scored(m, n) for m in eh.list_metrics()]),
    "metric": _both(_each(lambda m, n: _scored(eh.metric(m), n), SHAPES), _score_classes),
    "detectable_difference": _detectable,
    "exploitable_sizes": _exploitable,
    "jaggedness": _jaggedness,
    "power": _power,
    "sample_size": _sample_size,
    **{name: _row_calls(name) for name in _from_rows(2)},
}  # fmt: skip


def _beta(beta: float, n: int) -> float:
    return float(eh.f_beta(beta)(split(n)))


def _scored(m: eh.results.Metric, n: int) -> Any:
    return m(split(n), near(n)) if m.groups == 2 else m(split(n))


def calls(functions: Iterable[str] = CALLS, sizes: Iterable[int] = SIZES) -> Iterator[Call]:
    """Every call of these functions at these sizes."""
    for function, size in product(functions, sizes):
        for words, make in CALLS[function](size):
            yield Call(function, words, size, make)


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
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize() + megabytes * 2**20


def _answer(made: list[Call], seconds: int, megabytes: int, to: int) -> None:
    """In the child: make the calls, write one line each, and end."""
    try:
        limit = memory_limit(megabytes)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        warnings.simplefilter("error")
        for call in made:
            # The time of the processor, which does not depend on what else the machine does.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            start = time.process_time()
            kind, text = _made(call)
            signal.setitimer(signal.ITIMER_PROF, 0)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            line = {"kind": kind, "text": text, "seconds": time.process_time() - start, "megabytes": peak}
            os.write(to, (json.dumps(line) + "\n").encode())
    finally:
        os._exit(0)


def _made(call: Call) -> tuple[str, str]:
    try:
        return "answer", repr(call.make())[:200]
    except eh.EvenhandError as error:
        text = str(error)
        return ("refusal" if len(text.split()) > 3 and text[0] not in "([{" else "failure"), text
    except BaseException as error:
        import traceback

        places = traceback.extract_tb(error.__traceback__)[::-1]
        where = " < ".join(f"{os.path.basename(p.filename)}:{p.lineno}" for p in places[:4])
        return "failure", f"{type(error).__name__}: {error} ({where})"
