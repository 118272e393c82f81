"""A report of precision, recall and F1 per class, in the form of scikit-learn's, with intervals and reasons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from .arrays import Floats
from .confusion import ConfusionMatrix, MulticlassConfusion, read_classes
from .errors import printable
from .inference import Interval, interval
from .metrics import class_average, metric
from .records import Record
from .text_layout import aligned
from .wording import percent, several

_SCORES = {"precision": "ppv", "recall": "tpr", "f1": "f1"}
_OVERALL = {"accuracy": "acc", "balanced_accuracy": "balanced_accuracy", "mcc": "mcc"}
_MAX_DRAWS, _MIN_DRAWS, _MAX_CELLS = 20_000, 1_000, 20_000_000
_CELLS_AT_ONCE, _SEED = 2_000_000, 0


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
        scores = [f"{name} {_score_text(getattr(self, name))}" for name in _SCORES]
        return f"{printable(str(self.label))}: {', '.join(scores)}, support {self.support:,}"


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

    def __str__(self) -> str:
        rows, notes = [["class", "support", *_SCORES]], []
        for line in self.classes:
            name = printable(str(line.label))
            scores = [_score_text(getattr(line, score)) for score in _SCORES]
            rows.append([name, f"{line.support:,}", *scores])
            reasons = line.undefined.items()
            notes += [f"{score} of {name} is undefined: {why}" for score, why in reasons]
        if notes:
            notes.append("Each class in turn is the positive one.")
        titles = {name: name.replace("_", " ").replace("mcc", "MCC") for name in _OVERALL}
        overall = [[title, _score_text(getattr(self, name))] for name, title in titles.items()]
        notes += [f"{titles[name]} is undefined: {why}" for name, why in self.undefined.items()]
        level = percent(self.confidence_level)
        title = f"{several(self.n, 'case')}, {level} intervals in brackets"
        tables = [title, "", *aligned(rows, right=[1]), "", *aligned(overall)]
        return "\n".join([*tables, "", *notes] if notes else tables)


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
        Labels and predictions of the same length, without missing values: numbers, text or booleans, of two or more
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
    cm = MulticlassConfusion.from_labels(y_true, y_pred)
    shown = cm.labels if labels is None else read_classes({}, labels).classes
    absent = [label for label in shown if label not in cm.labels]
    positive = (cm.labels if labels is None else shown)[-1]
    cm = MulticlassConfusion(np.pad(cm.counts, (0, len(absent))), [*cm.labels, *absent])
    if cm.k > 2:
        overall = _score_classes(cm, confidence_level)
    else:
        overall = _score(cm.binary([positive]), _OVERALL, confidence_level)
        which = f"with {printable(str(positive))} as the positive class"
        reasons = overall["undefined"].items()
        overall["undefined"] = {name: f"{why}, {which}" for name, why in reasons}
    classes = []
    for label in shown:
        cells = cm.binary([label])
        support, predicted = int(cells.tp + cells.fn), int(cells.tp + cells.fp)
        scores = _score(cells, _SCORES, confidence_level)
        line = ReportedClass(label=label, support=support, predicted=predicted, **scores)
        classes.append(line)
    return SmallSampleReport(
        n=int(cm.n), confidence_level=confidence_level, classes=tuple(classes), **overall
    )


def _score(cm: ConfusionMatrix, keys: dict[str, str], level: float) -> dict[str, Any]:
    """The intervals of metrics by name, and why those that are undefined are."""
    intervals = {name: interval(cm, key, level) for name, key in keys.items()}
    return {"undefined": _find_undefined(cm, keys), **intervals}


def _find_undefined(
    cm: ConfusionMatrix | MulticlassConfusion, keys: dict[str, str]
) -> dict[str, str]:
    reasons = {name: metric(key).why_undefined(cm) for name, key in keys.items()}
    return {name: printable(why) for name, why in reasons.items() if why}


def _score_classes(cm: MulticlassConfusion, level: float) -> dict[str, Any]:
    """The same for accuracy, balanced accuracy and MCC of more than two classes."""
    balanced, mcc = metric("balanced_accuracy"), metric("mcc")
    mean, score = float(balanced(cm)), float(mcc(cm))
    recalls = [interval(cm.binary([label]), "tpr", level) for label in cm.labels]
    below = np.linalg.norm([recall.estimate - recall.low for recall in recalls]) / cm.k
    above = np.linalg.norm([recall.high - recall.estimate for recall in recalls]) / cm.k
    low, high = max(0.0, mean - float(below)), min(1.0, mean + float(above))
    draws = _draw_mcc(cm)
    ends = np.nanquantile(draws, [(1 - level) / 2, (1 + level) / 2]).tolist()
    method = f"posterior, 1 case over all cells, {len(draws):,} draws, rng {_SEED}"
    return {
        "undefined": _find_undefined(cm, _OVERALL),
        "accuracy": interval(cm, "acc", level),
        "balanced_accuracy": Interval(
            balanced, low, high, level, mean, "combined from the recalls"
        ),
        "mcc": Interval(mcc, min(ends[0], score), max(ends[1], score), level, score, method),
    }


def _draw_mcc(cm: MulticlassConfusion) -> Floats:
    """MCC of draws from the posterior of the cells; its prior is one case over all cells."""
    cells = cm.k**2
    draws = max(_MIN_DRAWS, min(_MAX_DRAWS, _MAX_CELLS // cells))
    block = max(1, _CELLS_AT_ONCE // cells)
    average = class_average(metric("mcc"), range(cm.k))
    rng = np.random.default_rng(_SEED)
    scores = []
    for start in range(0, draws, block):
        drawn = rng.dirichlet(cm.counts.ravel() + 1 / cells, min(block, draws - start))
        scores.append(average.scores(drawn.reshape(-1, cm.k, cm.k)))
    return np.concatenate(scores)


def _score_text(score: Interval) -> str:
    if isnan(score.estimate):
        return "undefined"
    return f"{score.estimate:.3f} [{score.low:.3f}, {score.high:.3f}]"
