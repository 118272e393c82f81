"""From counted rows to a tally: what labels, predictions, scores and weights mean at every place on the axes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf, nextafter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..cells import CELLS, ConfusionMatrix, MulticlassConfusion, Reading, is_sequence, listed, read_classes, read_labels
from ..errors import InvalidInput, TooLarge, UnknownName, brief
from .columns import check_second_class, finite, group_columns
from .counting import CountedRows, counted
from .frames import plain
from .looks import check_is_not_counted, check_is_not_stacked, first_columns, repeated_identifier
from .ordering import Key, ordered
from .protection import Rule, rounded_counts, rounded_rows
from .spellings import joined
from .streams import held
from .tally import Place, Rows, RowTable, Slice, Tally, UnitMatrix, UnitTable

__all__ = ["Answers", "Needs", "as_counts", "tabulated"]

Needs = Literal["cells", "ranking", "values"]
"""What metrics need: four cells, the score of every case, or labels and predictions as they are in the data."""

# Without a threshold, scores must lie from 0 to 1, and those from one half are positive.
_UNIT = (0.0, 0.5, nextafter(1.0, inf))
_MOST_CASES = 20_000_000
_MOST_THRESHOLDS = 500
_EMPTY = ConfusionMatrix(0, 0, 0, 0)
_NAMES = {"y_true": "label", "y_pred": "prediction"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The columns of labels and predictions, and what their values mean.

    ``classes`` are the classes that are audited against the rest, "all", or None for two classes. ``positive`` are the
    arguments ``positive``, ``positive_label`` and ``positive_prediction``. ``count`` says how many cases a row stands
    for; 1 means that each row is one. ``unit`` says what is independent, if cases are not. With ``once``, a unit counts
    as one case: of so many of its cases, the one that ``once`` says, or none.
    """

    y_true: Any = None
    y_pred: Any = None
    y_score: Any = None
    threshold: Any = None
    weights: Any = None
    count: Any = None
    unit: Any = None
    once: Callable[[Any, int], int | None] | None = None
    classes: Any = None
    positive: Mapping[str, Any] = field(default_factory=dict)

    def check(self, needs: Collection[Needs]) -> None:
        """Refuse answers that do not fit together or that a metric lacks."""
        if self.classes is not None:
            given = {"y_score": self.y_score, "threshold": self.threshold, "weights": self.weights, "unit": self.unit}
            given |= self.positive
            for name, value in given.items():
                if value is not None:
                    raise InvalidInput(f"`{name}` is for two classes and cannot be combined with `classes`")
            for name, value in (("y_true", self.y_true), ("y_pred", self.y_pred)):
                if value is None:
                    raise InvalidInput(argument=name, must="be the name of a column or its values", got=None)
            if "ranking" in needs:
                raise InvalidInput("scores such as auc are of two classes and cannot be combined with `classes`")
            return
        if self.y_pred is None and self.y_score is None:
            raise InvalidInput("pass either `y_pred` (predictions) or `y_score` (scores); got neither")
        if self.y_pred is not None and self.y_score is not None and not set(needs) - {"cells"}:
            raise InvalidInput("pass either `y_pred` (predictions) or `y_score` (scores); got both")
        if self.threshold is not None and (self.y_score is None or self.y_pred is not None):
            raise InvalidInput("`threshold` is for scores; pass them as `y_score`, or leave `threshold` out")
        if "ranking" in needs and self.y_score is None:
            raise InvalidInput("auc, brier and log_loss need the score of every case; pass it as `y_score=`")
        if "ranking" in needs and self.y_true is None:
            raise InvalidInput("auc, brier and log_loss need labels; pass them as `y_true=`")
        if "values" in needs and self.y_true is None:
            raise InvalidInput("functions need labels; pass them as `y_true=`")
        if self.unit is not None and set(needs) != {"cells"}:
            raise InvalidInput(
                "auc, brier, log_loss and functions take no `unit`, since they permute single cases; ask for other "
                "metrics"
            )
        if self.unit is not None and self.weights is not None:
            raise InvalidInput("`unit` and `weights` cannot be combined: what weighted units are worth is not known")
        if self.weights is not None and set(needs) != {"cells"}:
            raise InvalidInput(
                "auc, brier, log_loss and functions take no `weights`; leave them out, or ask for other metrics"
            )

    @property
    def thresholds(self) -> list[float] | None:
        """The thresholds in ascending order; None if none was given."""
        if self.threshold is None:
            return None
        several = is_sequence(self.threshold) and np.ndim(self.threshold) == 1
        given = sorted({finite(one) for one in self.threshold}) if several else [finite(self.threshold)]
        if not given:
            raise InvalidInput(argument="threshold", must="contain at least one number")
        if len(given) > _MOST_THRESHOLDS:
            raise TooLarge(
                f"`threshold` must contain at most {_MOST_THRESHOLDS:,} different numbers; got {len(given):,}; choose "
                "some of them"
            )
        return given

    @property
    def counts_rows(self) -> bool:
        """Whether it was said that each row is one case."""
        return isinstance(self.count, (int, str)) and str(self.count) == "1"

    @property
    def several(self) -> bool:
        """Whether thresholds are an axis: a sequence was given."""
        return self.threshold is not None and is_sequence(self.threshold) and np.ndim(self.threshold) == 1


def tabulated(
    data: Any,
    groups: Any,
    answers: Answers,
    needs: Collection[Needs],
    *,
    bins: Mapping[str, Sequence[float]] | None = None,
    selects: bool = False,
    join: bool = False,
    rule: Rule | None = None,
) -> Tally:
    """The tally of data; ``selects`` counts cases with a prediction and no label for selection rates.

    With ``join``, all spellings of a group are one. By a ``rule``, counts are rounded before anything else.
    """
    answers.check(needs)
    columns = {"y_true": answers.y_true, "y_pred": answers.y_pred, "y_score": answers.y_score}
    columns |= {"weights": answers.weights, "count": None if answers.counts_rows else answers.count}
    columns |= {"unit": answers.unit}
    raw = {"ranking", "values"} & set(needs)
    thresholds = answers.thresholds
    cuts: tuple[float, ...] = ()
    if answers.y_score is not None and not raw:
        cuts = _UNIT if thresholds is None else tuple(thresholds)
    numbers = [name for name in ("y_score", "weights") if name != "y_score" or not cuts]
    by_level = {"y_score": cuts} if cuts else {}
    with held(data) as kept:
        joins = join if rule is None else join and "first"
        rows = counted(kept, groups, columns, bins=bins, cuts=by_level, numbers=numbers, times="count", join=joins)
        seen = first_columns(kept)
    used = [*group_columns(groups, data).values(), *columns.values()]
    named = {str(column) for column in used if isinstance(column, (str, int))}
    check_is_not_stacked(seen, {str(answers.y_pred), str(answers.y_score)}, named)
    if answers.count is None and ("y_score" not in rows.answers or cuts):
        check_is_not_counted(seen, _occur_once(rows), named, answers.weights)

    def tallied(some: CountedRows) -> Tally:
        if answers.classes is not None:
            return _of_classes(some, answers, needs, selects)
        return _of_two(some, answers, needs, thresholds, cuts, selects)

    if rule is None:
        return replace(tallied(rows), repeated=repeated_identifier(seen, named))
    read, positive = _as_read(rows, answers)
    return replace(rounded_rows(read, rule, tallied), positive=positive)


def _as_read(rows: CountedRows, answers: Answers) -> tuple[CountedRows, dict[str, tuple[Any, ...]]]:
    """The rows with one value for each meaning of labels and predictions, and the positive values."""
    values: dict[str, Any] = {name: rows.values(name) for name in ("y_true", "y_pred") if name in rows.answers}
    reading: Any = (
        _read(rows, answers, one_class=False) if answers.classes is None else read_classes(values, None, parse=True)
    )
    same: dict[int, dict[Any, Any]] = {}
    for name in values:
        meant = reading.meanings[name]
        first = {
            meaning: value for value, meaning in sorted(meant.items(), key=lambda pair: str(pair[0]), reverse=True)
        }
        at = len(rows.columns) + rows.answers.index(name)
        same[at] = {value: None if meaning is None else first[meaning] for value, meaning in meant.items()}
    found: Counter[Key] = Counter()
    for row, n in rows.rows.items():
        found[tuple(same[i][value] if i in same else value for i, value in enumerate(row))] += n
    positive = getattr(reading, "positive", {})
    return replace(rows, rows=dict(found)), {_NAMES[name]: tuple(map(plain, some)) for name, some in positive.items()}


def _occur_once(rows: CountedRows) -> bool:
    """Whether every combination of groups, label and prediction is that of one row."""
    beside = {len(rows.columns) + i for i, name in enumerate(rows.answers) if name in ("weights", "unit")}
    combined = {tuple(value for i, value in enumerate(row) if i not in beside) for row in rows.rows}
    return len(combined) == sum(rows.rows.values()) > 1


def _tally(rows: CountedRows, slices: Iterable[Slice], **known: Any) -> Tally:
    return Tally(
        columns=rows.columns,
        slices=tuple(slices),
        orders=rows.orders,
        source=rows.source,
        library=rows.library,
        **known,
    )


# Two classes ------------------------------------------------------------------------------------------------------


def _of_two(
    rows: CountedRows,
    answers: Answers,
    needs: Collection[Needs],
    thresholds: list[float] | None,
    cuts: tuple[float, ...],
    selects: bool,
) -> Tally:
    """The tally of two classes, at each threshold."""
    if set(needs) == {"values"}:
        alone, lacking = _values(rows, None)
        return _tally(rows, [alone], labelled=answers.y_true is not None, left_out=lacking)
    reading = _read(rows, answers, one_class="cells" not in needs)
    if rows.source.get("score_column") and answers.y_true is not None:
        check_second_class(rows.values("y_true"), reading.positive["y_true"])
    decided = _Decisions.of(rows, reading, answers, thresholds, cuts)
    slices: list[Slice] = []
    left_out: dict[str, int] = {}
    weight: dict[str, float] = {}
    if "cells" in needs:
        if thresholds is None:
            decided.check_unit()
        for at, threshold in decided.places(answers.several):
            cells, everybody, left_out, weight = decided.cells(threshold, answers.once)
            if not cells and sum(left_out.values()) < sum(rows.rows.values()):
                raise InvalidInput(argument="weights", must="not all be 0")
            if not cells:
                raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
            slices += _cells_slices(cells, everybody if selects and answers.y_true is not None else {}, at)
    if {"ranking", "values"} & set(needs):
        rowed, lacking = _values(rows, reading)
        slices.append(rowed)
        left_out = left_out or lacking
    spelled = {
        what: {_NAMES[name]: tuple(map(plain, labels)) for name, labels in getattr(reading, what).items()}
        for what in ("positive", "negative")
    }
    single = decided.thresholds[0] if "cells" in needs and len(decided.thresholds) == 1 else None
    return _tally(
        rows,
        slices,
        labelled=answers.y_true is not None,
        left_out=left_out,
        absent=reading.absent,
        words=reading.words,
        threshold=single,
        weight=weight,
        unit=None if answers.unit is None else answers.unit if isinstance(answers.unit, str) else "unit",
        **spelled,
    )


def _cells_slices(cells: dict[Key, Any], everybody: dict[Key, Any], at: Place) -> list[Slice]:
    """The cells of cases with a label and, if given, of all cases with a prediction."""
    if not everybody:
        return [Slice("cells", at, cells)]
    first = next(iter(cells.values()))
    labelled = {key: cells[key] if key in cells else first - first for key in everybody}
    return [Slice("cells", at, labelled), Slice("selections", at, everybody)]


def _read(rows: CountedRows, answers: Answers, one_class: bool) -> Reading:
    """What labels and predictions mean; ``one_class`` allows labels of a single one without saying which it is."""
    asked = dict(answers.positive)
    values: dict[str, set[Any]] = {name: rows.values(name) for name in ("y_true", "y_pred") if name in rows.answers}
    reading = read_labels(values, **asked)
    labels = [*reading.positive.get("y_true", ()), *reading.negative.get("y_true", ())]
    seen = {meaning for meaning in reading.meanings.get("y_true", {}).values() if meaning is not None}
    told = asked.get("positive") is not None or asked.get("positive_label") is not None
    if len(seen) == 1 and not told and not one_class:
        occurring = [label for label in labels if label in set(reading.meanings["y_true"])] or labels
        raise InvalidInput(
            f"`y_true` contains one class only ({listed(occurring)}); if that is right, pass the positive label as "
            "`positive_label=`"
        )
    return reading


@dataclass(frozen=True, slots=True)
class _Decisions:
    """Counted rows, read: whether a label is positive, and at which thresholds the decision is."""

    rows: CountedRows
    reading: Reading
    thresholds: list[float | None]
    cuts: tuple[float, ...]
    places_of: dict[str, int]

    @classmethod
    def of(
        cls,
        rows: CountedRows,
        reading: Reading,
        answers: Answers,
        thresholds: list[float] | None,
        cuts: tuple[float, ...],
    ) -> _Decisions:
        """Decisions by predictions, or by scores at thresholds; 0.5 if none was given."""
        places = {name: len(rows.columns) + i for i, name in enumerate(rows.answers)}
        if "y_pred" in places:
            return cls(rows, reading, [None], (), places)
        return cls(rows, reading, [0.5] if thresholds is None else list(thresholds), cuts, places)

    def check_unit(self) -> None:
        """Refuse scores for which one half is no threshold."""
        if "y_score" not in self.places_of or "y_pred" in self.places_of:
            return
        at = self.places_of["y_score"]
        levels = {row[at] for row in self.rows.rows} - {None}
        outside = levels & {0, len(_UNIT)} if self.cuts else {score for score in levels if not 0 <= score <= 1}
        if outside:
            raise InvalidInput(
                "`y_score` must be between 0 and 1 for the default threshold of 0.5; for other scores pass "
                "`threshold=`, at "
                "or above which they are positive"
            )

    def places(self, axis: bool) -> list[tuple[Place, float | None]]:
        """Where on the axis of thresholds each decision is; nowhere if there is none."""
        return [((("threshold", one),) if axis else (), one) for one in self.thresholds]

    def _decided(self, row: Key, threshold: float | None) -> bool | None:
        """Whether a decision is positive; None if it is missing."""
        if threshold is None:
            return self.reading.meanings["y_pred"][row[self.places_of["y_pred"]]]
        score = row[self.places_of["y_score"]]
        if score is None or not self.cuts:
            return None if score is None else bool(score >= threshold)
        return bool(score >= bisect_right(self.cuts, threshold))

    def cells(
        self, threshold: float | None, once: Callable[[Any, int], int | None] | None = None
    ) -> tuple[dict[Key, ConfusionMatrix], dict[Key, ConfusionMatrix], dict[str, int], dict[str, float]]:
        """The cells by group of cases with a label, of all if some have none, how many lack what, and their worth."""
        width = len(self.rows.columns)
        into, everybody, unlabelled = _Counts(), _Counts(), False
        left_out: Counter[str] = Counter()
        for row, n in self.rows.rows.items():
            actual: bool | None = False
            if "y_true" in self.places_of:
                actual = self.reading.meanings["y_true"][row[self.places_of["y_true"]]]
            decided = self._decided(row, threshold)
            weight = row[self.places_of["weights"]] if "weights" in self.places_of else 1.0
            unit = row[self.places_of["unit"]] if "unit" in self.places_of else ()
            answers = {"y_true": actual, "y_pred": decided, "weights": weight, "unit": unit}
            missing = [name for name, value in answers.items() if value is None]
            if missing:
                left_out[" and ".join(missing)] += n
            if decided is None or weight is None or unit is None:
                continue
            unlabelled = unlabelled or actual is None
            at = (0 if decided else 1) if actual else (2 if decided else 3)
            for counts in (everybody,) if actual is None else (everybody, into):
                counts.add(row[:width], at, weight, n, unit)
        if once is not None:
            return into.drawn(once), {}, dict(left_out), {}
        weighted, by_unit = "weights" in self.places_of, "unit" in self.places_of

        def matrices(counts: _Counts) -> dict[Key, ConfusionMatrix]:
            return counts.of_units() if by_unit else counts.matrices(weighted)

        cells = matrices(into)
        others = matrices(everybody) if unlabelled else {}
        return cells, others, dict(+left_out), into.worth(cells) if weighted else {}


@dataclass(slots=True)
class _Counts:
    """Cases by group, cell and weight, as they are added up, and by unit if there are any."""

    found: dict[Key, dict[tuple[int, float], int]] = field(default_factory=dict)
    units: dict[tuple[Key, Any], list[int]] = field(default_factory=dict)

    def add(self, key: Key, cell: int, weight: float, n: int, unit: Any) -> None:
        """Count ``n`` more cases; ``unit`` is () if there are none."""
        inside = self.found.setdefault(key, {})
        inside[cell, weight] = inside.get((cell, weight), 0) + n
        if unit != ():
            self.units.setdefault((key, unit), [0, 0, 0, 0])[cell] += n

    def of_units(self) -> dict[Key, ConfusionMatrix]:
        """A matrix per group that knows its units, each of which must lie in one group."""
        # A unit whose group is known of some of its cases only lies in that one.
        groups = Counter(unit for key, unit in self.units if key != (None,))
        several, every = sum(n > 1 for n in groups.values()), len({unit for _, unit in self.units})
        if several:
            example = next(unit for unit, n in groups.items() if n > 1)
            raise InvalidInput(
                f"each `unit` must lie in one group; {several:,} of {every:,} have cases in several, such as "
                f"{brief(example)}; audit them without `unit=`, or choose groups that units do not leave"
            )
        keys = ordered(self.found)
        place = {key: i for i, key in enumerate(keys)}
        by_unit = sorted((place[key], tuple(cells)) for (key, _), cells in self.units.items())
        table = UnitTable(
            np.array([at for at, _ in by_unit], dtype=np.int64),
            np.array([cells for _, cells in by_unit], dtype=np.int64).reshape(-1, 4),
        )
        return {key: UnitMatrix.of(table, frozenset([i])) for key, i in place.items()}

    def drawn(self, once: Callable[[Any, int], int | None]) -> dict[Key, ConfusionMatrix]:
        """A matrix per group in which each unit is one case; groups are those of all cases."""
        cases: dict[Any, list[tuple[Key, int, int]]] = {}
        for (key, unit), cells in self.units.items():
            cases.setdefault(unit, []).extend((key, cell, n) for cell, n in enumerate(cells) if n)
        found = {key: [0, 0, 0, 0] for key in ordered(self.found)}
        for unit, inside in cases.items():
            chosen = once(unit, sum(n for *_, n in inside))
            if chosen is not None:
                key, cell = next(islice((one[:2] for one in inside for _ in range(one[2])), chosen, None))
                found[key][cell] += 1
        return {key: ConfusionMatrix(*cells) for key, cells in found.items()}

    def matrices(self, weighted: bool) -> dict[Key, ConfusionMatrix]:
        """A matrix per group; weighted cases give effective counts."""
        found = {}
        for key in ordered(self.found):
            cells = [0, 0, 0, 0]
            for (cell, _), n in self.found[key].items():
                cells[cell] += n
            matrix = ConfusionMatrix(*(_effective(self.found[key]) if weighted else cells))
            if matrix.n or not weighted:
                found[key] = matrix
        return found

    def worth(self, cells: Mapping[Key, ConfusionMatrix]) -> dict[str, float]:
        """How many weighted cases there are, their total weight, and how many they are worth."""
        all_ = [(weight, n) for inside in self.found.values() for (_, weight), n in inside.items()]
        return {
            "n": float(sum(n for weight, n in all_ if weight > 0)),
            "weight": float(sum(weight * n for weight, n in all_)),
            "effective": float(sum(cm.n for cm in cells.values())),
        }


def _effective(cases: Mapping[tuple[int, float], int]) -> list[int]:
    """Whole counts with Kish's effective size, in which cells have their weighted shares.

    Kish's size is (sum of weights)² / (sum of squared weights). Fractions are rounded so that the total is right.
    """
    cells = np.array([cell for cell, _ in cases])
    weights = np.array([weight for _, weight in cases])
    repeats = np.array(list(cases.values()), dtype=np.float64)
    odd = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(odd):
        raise InvalidInput(argument="weights", must="be finite and at least 0", got=float(odd[0]))
    if not weights.any():
        return [0, 0, 0, 0]
    # Relative to the largest, so that no square underflows or overflows.
    relative = weights / weights.max()
    whole = float((relative * repeats).sum())
    size = whole**2 / float((relative**2 * repeats).sum())
    exact = np.bincount(cells, weights=relative * repeats, minlength=4) / whole * round(size)
    # A count that rounding put just below a whole number is that number.
    counts = np.floor(exact + 1e-9).astype(int)
    remainders = np.argsort(-(exact - counts), kind="stable")[: round(size) - int(counts.sum())]
    counts[remainders] += 1
    return [int(count) for count in counts]


# Rows -------------------------------------------------------------------------------------------------------------


def _values(rows: CountedRows, reading: Reading | None) -> tuple[Slice, dict[str, int]]:
    """Every case as a row, of those that lack nothing, and how many were left out."""
    width = len(rows.columns)
    meanings = None if reading is None else reading.meanings.get("y_true")
    left_out: Counter[str] = Counter()
    kept: list[tuple[Key, tuple[Any, ...], int]] = []
    for row, n in rows.rows.items():
        answers = dict(zip(rows.answers, row[width:], strict=True))
        meant = {"positive": meanings[answers["y_true"]]} if meanings is not None else {}
        values = answers | meant
        missing = [name for name, value in values.items() if value is None and name != "positive"]
        if "y_true" not in missing and meant.get("positive", True) is None:
            missing.insert(0, "y_true")
        if missing:
            left_out[" and ".join(missing)] += n
        else:
            kept.append((row[:width], tuple(values.values()), n))
    if not kept:
        what = "score" if "y_score" in rows.answers else "prediction"
        raise InvalidInput(f"every row lacks a label or a {what}; there is nothing to audit")
    if sum(n for *_, n in kept) > _MOST_CASES:
        raise TooLarge(
            f"scores of every case and functions take at most {_MOST_CASES:,} cases; audit a random part of the rows"
        )
    names = [*rows.answers, *(["positive"] if meanings is not None else [])]
    keys = ordered(dict.fromkeys(key for key, *_ in kept))
    place = {key: i for i, key in enumerate(keys)}
    repeats = [n for *_, n in kept]
    of = np.repeat(np.array([place[key] for key, *_ in kept], dtype=np.int64), repeats)
    columns = {name: np.repeat(_array([values[i] for _, values, _ in kept]), repeats) for i, name in enumerate(names)}
    table = RowTable(of, columns)
    return Slice("rows", (), {key: Rows(table, frozenset([i])) for key, i in place.items()}), dict(left_out)


def _array(values: list[Any]) -> NDArray[Any]:
    """Values as numbers or texts if all of them are, and otherwise as objects."""
    kinds = {type(value) for value in values}
    if kinds <= {bool} or kinds <= {int} or kinds <= {float} or kinds <= {int, float} or kinds <= {str}:
        return np.array(values)
    return np.fromiter(values, dtype=object, count=len(values))


# More than two classes --------------------------------------------------------------------------------------------


def _of_classes(rows: CountedRows, answers: Answers, needs: Collection[Needs], selects: bool) -> Tally:
    """The tally of several classes: each against the rest, and matrices of all of them."""
    reading = read_classes({name: rows.values(name) for name in ("y_true", "y_pred")}, None, parse=True)
    true, pred = reading.meanings["y_true"], reading.meanings["y_pred"]
    actual, predicted = ({at for at in meant.values() if at is not None} for meant in (true, pred))
    if min(len(actual), len(predicted)) > 1 and not actual & predicted:
        raise InvalidInput(
            "`y_true` and `y_pred` have no class in common; predictions must be of the same classes as labels"
        )
    k = len(reading.labels)
    counts: dict[Key, NDArray[np.int64]] = {}
    unlabelled: dict[Key, list[int]] = {}
    left_out: Counter[str] = Counter()
    width = len(rows.columns)
    for row, n in rows.rows.items():
        key, label, prediction = row[:width], true[row[width]], pred[row[width + 1]]
        lacks = [name for name, at in (("y_true", label), ("y_pred", prediction)) if at is None]
        if lacks:
            left_out[" and ".join(lacks)] += n
        if label is not None and prediction is not None:
            counts.setdefault(key, np.zeros((k, k), dtype=np.int64))[label, prediction] += n
        elif prediction is not None:
            unlabelled.setdefault(key, [0] * k)[prediction] += n
    if not counts:
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    matrices = {key: MulticlassConfusion(counts[key], reading.labels) for key in ordered(counts)}
    slices = []
    for label in _chosen(answers.classes, reading.labels):
        place = reading.labels.index(label)
        cells = {key: km.against_rest(label) for key, km in matrices.items()}
        without = {key: ConfusionMatrix(0, 0, of[place], sum(of) - of[place]) for key, of in unlabelled.items()}
        keys = ordered(dict.fromkeys([*cells, *without])) if selects and without else ()
        everybody = {key: cells.get(key, _EMPTY) + without.get(key, _EMPTY) for key in keys}
        slices += _cells_slices(cells, everybody, (("class", plain(label)),))
    if "values" in needs:
        slices.append(_values(rows, None)[0])
    return _tally(rows, [*slices, Slice("classes", (), matrices)], left_out=dict(left_out), classes=reading.labels)


def _chosen(classes: Any, labels: tuple[Any, ...]) -> tuple[Any, ...]:
    """The classes that are audited against the rest."""
    if isinstance(classes, str) and classes == "all":
        return labels
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise InvalidInput(argument="classes", must="be a list of classes or 'all'", got=classes)
    known: dict[Any, Any] = {_text(label): label for label in labels} | {str(label): label for label in labels}
    known |= {label: label for label in labels}
    chosen = list(classes)
    for label in chosen:
        if not isinstance(label, Hashable) or label not in known:
            raise UnknownName.among("class", str(label), map(str, labels))
    if not chosen:
        raise InvalidInput(argument="classes", must="name at least one class")
    return tuple(dict.fromkeys(known[label] for label in chosen))


def _text(label: Any) -> str:
    """How a class is written on the command line: whole numbers without a point, booleans in small letters."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label).lower() if isinstance(label, bool) else str(label)


# Counts -----------------------------------------------------------------------------------------------------------


def as_counts(
    counts: Mapping[Any, Any], by: str | Sequence[str], *, join: bool = False, rule: Rule | None = None
) -> Tally:
    """The tally of known confusion matrices; with ``join``, all spellings of a group are one.

    By a ``rule``, counts are rounded before anything else.
    """
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput(argument="counts", must="map groups to confusion matrices", got=counts)
    columns = (by,) if isinstance(by, str) else tuple(by) if is_sequence(by) else ()
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InvalidInput(argument="by", must="be the name of a group column, or several", got=by)
    cells: dict[Key, ConfusionMatrix] = {}
    for group, given in counts.items():
        key = group if isinstance(group, tuple) and not isinstance(by, str) else (group,)
        if len(key) != len(columns):
            raise InvalidInput(
                f"group {brief(group)} must have one value per column ({', '.join(columns)}); got {len(key)} "
                f"value{'s' * (len(key) != 1)}"
            )
        cells[key] = _matrix(group, given)
    if join:
        cells = joined(cells, len(columns), first=rule is not None)
    tally = Tally(columns=columns, slices=(Slice("cells", (), {key: cells[key] for key in ordered(cells)}),))
    return tally if rule is None else rounded_counts(tally, rule)


def _matrix(group: object, given: Any) -> ConfusionMatrix:
    try:
        if isinstance(given, Mapping):
            cm = ConfusionMatrix(**{str(name).casefold(): value for name, value in given.items()})
        else:
            cm = given if isinstance(given, ConfusionMatrix) else ConfusionMatrix(*given)
    except TypeError:
        raise InvalidInput(
            f"group {brief(group)} must have {', '.join(CELLS[:3])} and {CELLS[3]}; got {brief(given)}"
        ) from None
    if not cm.is_whole:
        raise InvalidInput(f"group {brief(group)} must have whole counts; got {cm!r}")
    return cm
