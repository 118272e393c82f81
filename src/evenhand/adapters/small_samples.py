"""A report of precision, recall and F1 per class, in the form of scikit-learn's, with intervals and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar

import numpy as np

from ..arrays import is_sequence
from ..confusion import ConfusionMatrix, MulticlassConfusion, read_labels
from ..errors import InvalidInput, format_values, printable
from ..inference import Interval, interval
from ..metrics import class_average, metric
from ..records import Record
from ..text_layout import aligned

__all__ = ["ReportedClass", "SmallSampleReport", "small_sample_report"]

_SCORES = {"precision": "ppv", "recall": "tpr", "f1": "f1"}
_OVERALL = {"accuracy": "acc", "balanced_accuracy": "balanced_accuracy", "mcc": "mcc"}
_MOST_DRAWS, _LEAST_DRAWS, _MOST_CELLS, _SEED = 20_000, 1_000, 20_000_000, 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportedClass(Record):
    """The scores of one class against all others, with intervals.

    Attributes
    ----------
    label : object
        The class, which is the positive one in all scores.
    support : int
        How many cases belong to it.
    predicted : int
        How many cases are predicted to belong to it.
    precision, recall, f1 : Interval
        The scores; the estimate is nan if a score is undefined.
    undefined : dict of str to str
        By name, why a score is undefined.

    Examples
    --------
    >>> report = small_sample_report(["a", "b", "b"], ["b", "b", "b"])
    >>> print(report.classes[0])
    a: precision undefined, recall 0.000 [0.000, 0.950], f1 0.000 [0.000, 0.974], support 1
    >>> report.classes[0].undefined
    {'precision': 'no predicted positives (TP + FP = 0)'}
    """

    label: Any
    support: int
    predicted: int
    precision: Interval
    recall: Interval
    f1: Interval
    undefined: dict[str, str]

    def __str__(self) -> str:
        scores = ", ".join(f"{name} {_shown(getattr(self, name))}" for name in _SCORES)
        return f"{_named(self.label)}: {scores}, support {self.support:,}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmallSampleReport(Record):
    """Precision, recall and F1 of every class, and accuracy, with intervals.

    Attributes
    ----------
    n : int
        The number of cases.
    confidence_level : float
        The confidence level of the intervals.
    classes : tuple of ReportedClass
        One per class.
    accuracy : Interval
        The share of correct predictions.
    balanced_accuracy, mcc : Interval
        The mean of the classes' recalls, and MCC; of more than two classes it is Gorodkin's R_K. ``method`` says how
        their intervals were found.
    undefined : dict of str to str
        By name, why accuracy, balanced accuracy or MCC is undefined. Of two classes, the last is positive.

    Examples
    --------
    >>> small_sample_report([0, 0, 1, 1], [0, 1, 1, 1]).accuracy.estimate
    0.75
    """

    n: int
    confidence_level: float
    classes: tuple[ReportedClass, ...]
    accuracy: Interval
    balanced_accuracy: Interval
    mcc: Interval
    undefined: dict[str, str]

    _columns: ClassVar[tuple[str, ...]] = ("class", "support", *_SCORES)

    def __str__(self) -> str:
        rows = [
            (_named(c.label), f"{c.support:,}", *(_shown(getattr(c, name)) for name in _SCORES)) for c in self.classes
        ]
        lines = [
            f"{self.n:,} {'case' if self.n == 1 else 'cases'}, {100 * self.confidence_level:g}% intervals in brackets",
            "",
            *aligned([self._columns, *rows], right=[1]),
            "",
        ]
        lines += aligned([_title(name), _shown(getattr(self, name))] for name in _OVERALL)
        reasons = [
            f"{name} of {_named(scores.label)} is undefined: {why}"
            for scores in self.classes
            for name, why in scores.undefined.items()
        ]
        if reasons:
            lines += ["", *reasons, "Each class in turn is the positive one."]
        if self.undefined:
            lines += ["", *(f"{_title(name)} is undefined: {why}" for name, why in self.undefined.items())]
        return "\n".join(lines)


def small_sample_report(
    y_true: Iterable[object],
    y_pred: Iterable[object],
    *,
    labels: Iterable[object] | None = None,
    confidence_level: float = 0.95,
) -> SmallSampleReport:
    """Report precision, recall and F1 per class, with intervals, and say where a score is undefined.

    Each class in turn is compared with all others. The intervals are those of `interval`. Of more than two classes, the
    interval of balanced accuracy is combined from those of the recalls, by the distance of their ends from the
    estimates; that of MCC is a posterior one, from draws with a fixed seed, whose prior spreads one case over all cells
    of the matrix. Both cover about at the level: 0.90 to 0.99 instead of 0.95 where that was simulated, with 3 and 5
    classes and 15 to 60 cases.

    Parameters
    ----------
    y_true, y_pred : sequence
        Labels and predictions of the same length, without missing values: numbers, texts or booleans, of two or more
        classes.
    labels : sequence, optional
        The classes to show, in this order. By default all that occur, in ascending order.
    confidence_level : float
        The confidence level of the intervals.

    Returns
    -------
    SmallSampleReport
        The scores. It prints as a table.

    Examples
    --------
    >>> truth = ["no", "no", "no", "no", "no", "no", "yes", "yes"]
    >>> print(small_sample_report(truth, ["no", "no", "no", "no", "no", "no", "no", "no"]))
    8 cases, 95% intervals in brackets
    <BLANKLINE>
    class  support  precision             recall                f1
    no           6  0.750 [0.388, 0.956]  1.000 [0.607, 1.000]  0.857 [0.559, 0.977]
    yes          2  undefined             0.000 [0.000, 0.776]  0.000 [0.000, 0.874]
    <BLANKLINE>
    accuracy           0.750 [0.388, 0.956]
    balanced accuracy  0.500 [0.331, 0.866]
    MCC                undefined
    <BLANKLINE>
    precision of yes is undefined: no predicted positives (TP + FP = 0)
    Each class in turn is the positive one.
    <BLANKLINE>
    MCC is undefined: no predicted positives (TP + FP = 0), with yes as the positive class
    """
    pairs, occurring = _classified(y_true, y_pred)
    shown = occurring if labels is None else _asked(labels, occurring)
    n = sum(pairs.values())
    correct = sum(count for (true, pred), count in pairs.items() if true == pred)
    known = list(dict.fromkeys([*occurring, *shown]))
    if len(known) <= 2:
        positive = known[-1] if labels is None else shown[-1]
        overall, undefined = _of_two(_against_rest(pairs, positive, n), confidence_level)
        undefined = {name: f"{why}, with {_named(positive)} as the positive class" for name, why in undefined.items()}
    else:
        overall, undefined = _of_several(pairs, known, n, confidence_level)
    overall["accuracy"] = interval(ConfusionMatrix(tp=correct, fn=n - correct, fp=0, tn=0), "acc", confidence_level)
    return SmallSampleReport(
        n=n,
        confidence_level=confidence_level,
        classes=tuple(_scores(_against_rest(pairs, label, n), label, confidence_level) for label in shown),
        undefined=undefined,
        **overall,
    )


def _of_two(cm: ConfusionMatrix, confidence_level: float) -> tuple[dict[str, Interval], dict[str, str]]:
    """Balanced accuracy and MCC of two classes, and why they are undefined."""
    names = ("balanced_accuracy", "mcc")
    reasons = {name: metric(name).why_undefined(cm) for name in names}
    return {name: interval(cm, name, confidence_level) for name in names}, {
        name: why for name, why in reasons.items() if why
    }


def _of_several(
    pairs: Counter[tuple[Any, Any]], classes: list[Any], n: int, confidence_level: float
) -> tuple[dict[str, Interval], dict[str, str]]:
    """Balanced accuracy and MCC of more than two classes, and why they are undefined."""
    counts = [[pairs[true, pred] for pred in classes] for true in classes]
    cm = MulticlassConfusion(counts, labels=classes)
    reasons = {name: metric(name).why_undefined(cm) for name in ("balanced_accuracy", "mcc")}
    recalls = [interval(_against_rest(pairs, label, n), "tpr", confidence_level) for label in classes]
    estimates, lows, highs = (np.array([getattr(r, end) for r in recalls]) for end in ("estimate", "low", "high"))
    mean, mcc = (float(metric(name)(cm)) for name in ("balanced_accuracy", "mcc"))
    below, above = (float(np.sqrt((side**2).sum())) / len(classes) for side in (estimates - lows, highs - estimates))
    draws, ends = _drawn_mcc(np.array(counts, dtype=np.float64), confidence_level)
    how = f"posterior, 1 case over all cells, {draws:,} draws, rng {_SEED}"
    found = {
        "balanced_accuracy": (mean, max(0.0, mean - below), min(1.0, mean + above), "combined from the recalls"),
        "mcc": (mcc, min(ends[0], mcc), max(ends[1], mcc), how),
    }
    overall = {
        name: Interval(
            metric=metric(name), estimate=score, low=low, high=high, confidence_level=confidence_level, method=method
        )
        for name, (score, low, high, method) in found.items()
    }
    return overall, {name: printable(why) for name, why in reasons.items() if why}


def _drawn_mcc(counts: Any, confidence_level: float) -> tuple[int, list[float]]:
    """The number of draws from the posterior of the cells, and the ends of the interval of MCC."""
    classes = len(counts)
    draws = max(_LEAST_DRAWS, min(_MOST_DRAWS, _MOST_CELLS // classes**2))
    summary = class_average(metric("mcc"), range(classes))
    rng = np.random.default_rng(_SEED)
    block = max(1, 2_000_000 // classes**2)
    found = [
        summary.scores(rng.dirichlet(counts.ravel() + 1 / classes**2, size).reshape(-1, classes, classes))
        for start in range(0, draws, block)
        for size in [min(block, draws - start)]
    ]
    return draws, np.nanquantile(
        np.concatenate(found), [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    ).tolist()


def _scores(cm: ConfusionMatrix, label: Any, confidence_level: float) -> ReportedClass:
    reasons = {name: metric(key).why_undefined(cm) for name, key in _SCORES.items()}
    return ReportedClass(
        label=label,
        support=int(cm.tp + cm.fn),
        predicted=int(cm.tp + cm.fp),
        undefined={name: why for name, why in reasons.items() if why},
        **{name: interval(cm, key, confidence_level) for name, key in _SCORES.items()},
    )


def _against_rest(pairs: Counter[tuple[Any, Any]], label: Any, n: int) -> ConfusionMatrix:
    tp = pairs[label, label]
    fn = sum(count for (true, _), count in pairs.items() if true == label) - tp
    fp = sum(count for (_, pred), count in pairs.items() if pred == label) - tp
    return ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=n - tp - fn - fp)


def _classified(y_true: Iterable[object], y_pred: Iterable[object]) -> tuple[Counter[tuple[Any, Any]], list[Any]]:
    """How often each pair of classes occurs, and the classes in ascending order."""
    columns = {
        name: values if hasattr(values, "__array__") or not is_sequence(values) else list(values)
        for name, values in (("y_true", y_true), ("y_pred", y_pred))
    }
    first = next(iter(np.asarray(columns["y_true"], dtype=object).ravel().tolist()), None)
    # Refuses whatever is not two columns of labels.
    ConfusionMatrix.from_labels(columns["y_true"], columns["y_pred"], first)
    values = {name: np.asarray(column, dtype=object).tolist() for name, column in columns.items()}
    distinct = {name: dict.fromkeys(column) for name, column in values.items()}
    class_of: dict[str, dict[Any, Any]] = {name: {} for name in distinct}
    for label in distinct["y_true"] | distinct["y_pred"]:
        if any(label in found for found in class_of.values()):
            continue
        for name, meanings in read_labels(distinct, positive=label).codes.items():
            if absent := [value for value, meaning in meanings.items() if meaning is None]:
                missing = sum(values[name].count(value) for value in absent)
                which, rows = ("value", "that row") if missing == 1 else ("values", "those rows")
                raise InvalidInput(f"{name} contains {missing} missing {which}; drop {rows} first")
            class_of[name] |= {value: label for value, meaning in meanings.items() if meaning}
    true, pred = ([class_of[name][value] for value in column] for name, column in values.items())
    return Counter(zip(true, pred, strict=True)), sorted({*true, *pred}, key=lambda v: (isinstance(v, str), v))


def _asked(labels: Iterable[object], occurring: list[Any]) -> list[Any]:
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise InvalidInput(f"labels must be a sequence of labels; got {labels!r}")
    asked = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if not asked or len(set(asked)) < len(asked):
        raise InvalidInput(f"labels must contain at least one label, and each once; got {asked!r}")
    spelled = {str(label).casefold() for label in occurring}
    for label in asked:
        if label not in occurring and str(label).casefold() in spelled:
            raise InvalidInput(f"labels must be spelled as in the data ({format_values(occurring)}); got {label!r}")
    return asked


def _named(label: Any) -> str:
    return printable(str(label))


def _title(name: str) -> str:
    return "MCC" if name == "mcc" else name.replace("_", " ")


def _shown(score: Interval) -> str:
    return "undefined" if isnan(score.estimate) else f"{score.estimate:.3f} [{score.low:.3f}, {score.high:.3f}]"
