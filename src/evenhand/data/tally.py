"""A tally: how many cases of every combination of groups fall into which cells, as arrays.

A key is a combination of values of the group columns. What metrics read of a group is an array along
keys: four cells at each place (a threshold, or a class against the rest), a matrix of all classes,
the decisions of two models. Rows and clusters name their keys. Groups, intersections, strata and
references are sums of these arrays over keys, whatever they hold.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, nextafter, prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Integers, is_sequence
from ..confusion import CELLS, ConfusionMatrix, LabelCoding, read_classes
from ..errors import InvalidInput, TooLarge, UnknownName, brief, check_cost, format_values
from .columns import as_finite, check_second_class, group_columns
from .counted_rows import CountedRows, count_rows, merge_variants as merge_names, sort_keys
from .disclosure import MAX_CELLS, PUBLIC_FACTS, Rule, round_counts
from .files import spool
from .frames import Key, plain
from .input_checks import (
    Repeated,
    check_not_counts,
    check_not_stacked,
    find_repeated_identifier,
    read_first_columns,
)
from .positive_labels import read_positive

#: Where on the axes something is: pairs of axis and value.
Place = tuple[tuple[str, Any], ...]
#: What metrics need: four cells, the score of every case, or labels and predictions as they are.
Needs = Literal["cells", "ranking", "values"]

# Without a threshold, scores must be from 0 to 1, and those from one half on are positive.
_UNIT = (0.0, 0.5, nextafter(1.0, inf))
_MAX_ROWS, _MAX_THRESHOLDS = 20_000_000, 500
# Sums of other weights, and of their squares, may overflow or be rounded to 0.
_WEIGHTS = 1e-50, 1e12
# The code of a label that is missing.
_NO_LABEL = 2
_COLUMN_NAMES = {"y_true": "label", "y_pred": "prediction"}


class Counts(NamedTuple):
    """Cells tp, fn, fp and tn by place and key, of shape (places, keys, 4).

    ``cells`` are counts or sums of weights, ``cases`` the numbers of cases, ``squares`` the sums of
    squared weights. ``low`` and ``high`` are the least and the largest counts that rounded ones may
    stand for.
    """

    cells: Floats
    cases: Floats
    squares: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, cells: Floats) -> Counts:
        """Counts of cases that are neither weighted nor rounded."""
        return cls(cells, cells, cells, cells, cells)


@dataclass(frozen=True, eq=False)
class RowTable:
    """One row per case: the index of its key, and columns such as ``y_true`` and ``positive``."""

    key: Integers
    columns: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """The key of each cluster, and its cells by place, of shape (places, clusters, 4)."""

    key: Integers
    cells: Floats


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Cases by place and key, and how they were read.

    Attributes
    ----------
    columns : tuple of str
        The group columns.
    keys : tuple of tuple
        The combinations of their values, in a stable order.
    places : tuple of Place
        The places of ``counts``, ``selections`` and ``model_counts``.
    counts, selections : Counts or None
        The cells of cases with a label, and of all cases with a prediction if some lack a label.
    class_counts : array or None
        Matrices of all ``classes``, of shape (keys, K, K).
    model_counts : array or None
        Counts by label and by the decisions of two models, of shape (places, keys, 2, 2, 2).
    rows : RowTable or None
        The cases themselves.
    clusters : ClusterTable or None
        The clusters of cases that are not independent, whose column is ``cluster``.
    weighted : dict of str to float
        If cases are weighted: how many there are (``n``), and their total ``weight``.
    labelled : bool
        Whether there are labels; if not, cells count every case as actually negative.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    positive, negative : dict of str to tuple
        The positive and negative values of "label" and "prediction".
    absent : tuple
        Positive labels that were given and do not occur.
    missing_words : dict of str to tuple of str
        Texts of each column that were read as missing.
    orders : dict of str to tuple
        Declared orders of the values of group columns.
    source, library
        Where the data came from, and the dataframe library.
    threshold : float or None
        The threshold, if there is only one.
    repeated : Repeated or None
        A column that looks like an identifier and repeats, so that rows may not be independent.
    rule : Rule or None
        The rule by which counts were rounded.
    """

    columns: tuple[str, ...]
    keys: tuple[Key, ...]
    places: tuple[Place, ...] = ((),)
    counts: Counts | None = None
    selections: Counts | None = None
    class_counts: Floats | None = None
    classes: tuple[Any, ...] = ()
    model_counts: Floats | None = None
    rows: RowTable | None = None
    clusters: ClusterTable | None = None
    cluster: str | None = None
    weighted: dict[str, float] = field(default_factory=dict)
    labelled: bool = True
    left_out: dict[str, int] = field(default_factory=dict)
    positive: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    negative: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    absent: tuple[Any, ...] = ()
    missing_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    orders: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    library: str | None = None
    threshold: float | None = None
    repeated: Repeated | None = None
    rule: Rule | None = None

    @property
    def sizes(self) -> Floats:
        """The number of cases of each key that are scored, at the first place."""
        assert self.counts is not None
        return np.asarray(self.counts.cases[0].sum(axis=1))

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return 0 if self.clusters is None else len(self.clusters.key)

    @property
    def n(self) -> int:
        """The number of cases that are scored."""
        if self.counts is not None:
            return int(self.sizes.sum())
        if self.model_counts is not None:
            return int(self.model_counts[0].sum())
        return 0 if self.rows is None else len(self.rows.key)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The columns of labels and predictions, and what their values mean.

    ``classes`` are the classes that are audited against the rest, "all", or None for two classes.
    ``count`` is how many cases a row stands for; 1 means that each row is one. With ``draw_case``, a
    cluster counts as one case: of so many of its cases the one that it returns, or none.
    """

    y_true: Any = None
    y_pred: Any = None
    y_score: Any = None
    threshold: Any = None
    sample_weight: Any = None
    count: Any = None
    cluster: Any = None
    draw_case: Callable[[Any, int], int | None] | None = None
    classes: Any = None
    positive: Any = None

    def check(self, needs: Collection[Needs]) -> None:
        """Refuse answers that do not fit together or that a metric lacks."""
        takes_rows = set(needs) != {"cells"}
        if self.classes is not None:
            for name in ("y_score", "threshold", "sample_weight", "cluster", "positive"):
                if getattr(self, name) is not None:
                    text = f"`{name}` is for two classes and cannot be combined with `classes`"
                    raise InvalidInput(text)
            for name in ("y_true", "y_pred"):
                if getattr(self, name) is None:
                    must = "be the name of a column or its values"
                    raise InvalidInput(argument=name, must=must, got=None)
            if "ranking" in needs:
                text = "scores such as auc are of two classes and cannot be combined with `classes`"
                raise InvalidInput(text)
            return
        has_both = self.y_pred is not None and self.y_score is not None
        if (has_both and not takes_rows) or (self.y_pred is None and self.y_score is None):
            got = "both" if has_both else "neither"
            text = f"pass either `y_pred` (predictions) or `y_score` (scores); got {got}"
            raise InvalidInput(text)
        if self.threshold is not None and (self.y_score is None or self.y_pred is not None):
            hint = "pass them as `y_score`, or leave `threshold` out"
            raise InvalidInput(f"`threshold` is for scores; {hint}")
        if "ranking" in needs and self.y_score is None:
            text = "auc, brier and log_loss need the score of every case; pass it as `y_score=`"
            raise InvalidInput(text)
        if takes_rows and self.y_true is None:
            text = "auc, brier, log_loss and functions need labels; pass them as `y_true=`"
            raise InvalidInput(text)
        for name in ("cluster", "sample_weight"):
            if getattr(self, name) is not None and takes_rows:
                hint = "leave it out, or ask for other metrics"
                text = f"auc, brier, log_loss and functions take no `{name}`; {hint}"
                raise InvalidInput(text)
        if self.sample_weight is not None and self.cluster is not None:
            raise InvalidInput("`sample_weight` and `cluster` cannot be combined")

    @property
    def thresholds(self) -> list[float] | None:
        """The thresholds in ascending order; None if none was given."""
        if self.threshold is None:
            return None
        given = self.threshold if self.are_an_axis else [self.threshold]
        thresholds = sorted({as_finite(threshold) for threshold in given})
        if not thresholds:
            raise InvalidInput(argument="threshold", must="contain at least one number")
        if len(thresholds) > _MAX_THRESHOLDS:
            must = f"contain at most {_MAX_THRESHOLDS:,} different numbers"
            raise TooLarge(f"`threshold` must {must}; got {len(thresholds):,}")
        return thresholds

    @property
    def are_an_axis(self) -> bool:
        """Whether several thresholds are an axis: a sequence was given."""
        return is_sequence(self.threshold) and np.ndim(self.threshold) == 1

    @property
    def is_one_case_per_row(self) -> bool:
        """Whether ``count`` says that each row is one case."""
        return isinstance(self.count, (int, str)) and str(self.count) == "1"

    @property
    def has_positive_labels(self) -> bool:
        """Whether it was said which labels are positive."""
        if isinstance(self.positive, Mapping):
            return self.positive.get("label") is not None
        return self.positive is not None


def build_tally(
    data: Any,
    groups: Any,
    answers: Answers,
    needs: Collection[Needs],
    *,
    bins: Mapping[str, Sequence[float]] | None = None,
    merge_variants: bool = False,
    selects: bool = False,
    rule: Rule | None = None,
) -> Tally:
    """The tally of data, for metrics with these needs.

    With ``merge_variants``, variants of a group's name are one group. With ``selects``, cases with a
    prediction and no label are counted, too. By a ``rule``, counts are rounded before anything is
    computed.
    """
    answers.check(needs)
    thresholds, has_cells = answers.thresholds, "cells" in needs
    columns = {"y_true": answers.y_true, "y_pred": answers.y_pred}
    columns |= {"sample_weight": answers.sample_weight, "cluster": answers.cluster}
    columns |= {"count": None if answers.is_one_case_per_row else answers.count}
    cuts: dict[str, tuple[float, ...]] = {}
    # Scores may be counted twice: as they are, and by level.
    scores = list(answers.y_score) if isinstance(answers.y_score, Iterator) else answers.y_score
    if scores is not None and set(needs) != {"cells"}:
        columns["y_score"] = scores
    if scores is not None and answers.y_pred is None and has_cells:
        columns["level"] = scores
        cuts["level"] = _UNIT if thresholds is None else tuple(thresholds)
    merge = merge_variants if rule is None else merge_variants and "first"
    with spool(data) as data:
        rows = count_rows(
            data, groups, columns, bins=bins, cuts=cuts, numbers=("y_score", "sample_weight"),
            frequency="count", merge=merge,
        )  # fmt: skip
        head = read_first_columns(data)
        used = [*group_columns(groups, data).values(), *columns.values()]
        names = {str(column) for column in used if isinstance(column, (str, int))}
        check_not_stacked(data, head, {str(answers.y_pred), str(answers.y_score)}, names)
    if answers.count is None and "y_score" not in rows.answers:
        check_not_counts(head, _occur_once(rows), names, answers.sample_weight)
    if answers.classes is not None:
        tally = _tally_classes(rows, answers, needs, selects)
    else:
        tally = _tally_decisions(rows, answers, needs, selects, rule)
    repeated = find_repeated_identifier(head, names) if rule is None else None
    tally = replace(
        tally, orders=rows.orders, source=rows.source, library=rows.library, repeated=repeated
    )
    return tally if rule is None else hide_facts(tally)


def hide_facts(tally: Tally) -> Tally:
    """The tally of rounded counts without facts that change with single cases."""
    source = {name: value for name, value in tally.source.items() if name in PUBLIC_FACTS}
    return replace(tally, source=source, negative={}, absent=(), missing_words={})


def _occur_once(rows: CountedRows) -> bool:
    """Whether every combination of groups, label and prediction is that of one row."""
    width = len(rows.columns)
    others = [
        rows.answers.index(name) for name in ("sample_weight", "cluster") if name in rows.answers
    ]
    left_out = {width + place for place in others}
    seen = {tuple(value for i, value in enumerate(row) if i not in left_out) for row in rows.rows}
    return len(seen) == sum(rows.rows.values()) > 1


# Two classes


class _Coded(NamedTuple):
    """Counted rows as codes.

    Labels are 0, 1 or, if missing, `_NO_LABEL`; decisions are 0, 1, 2, ... or -1 if missing.
    ``positive_from`` has for each place the decision from which on they are positive.
    """

    key: list[Key]
    label: Integers
    decision: Integers
    n: Floats
    positive_from: tuple[int, ...]
    places: tuple[Place, ...]


def _tally_decisions(
    rows: CountedRows, answers: Answers, needs: Collection[Needs], selects: bool, rule: Rule | None
) -> Tally:
    """The tally of two classes, at each threshold."""
    takes_values_only = set(needs) == {"values"}
    coding = None if takes_values_only else _read_labels(rows, answers, "cells" not in needs)
    if coding is not None and rows.source.get("score_column") and answers.y_true is not None:
        check_second_class(rows.values("y_true"), coding.positive["y_true"])
    known: dict[str, Any] = {"columns": rows.columns, "labelled": answers.y_true is not None}
    if coding is not None:
        for fact in ("positive", "negative"):
            labels = getattr(coding, fact).items()
            known[fact] = {
                _COLUMN_NAMES[name]: tuple(map(plain, values)) for name, values in labels
            }
        known |= {"absent": coding.absent, "missing_words": coding.missing_words}
    tally = Tally(keys=(), **known)
    if "cells" in needs:
        assert coding is not None
        coded = _code(rows, coding, answers)
        tally = _count_cells(
            replace(tally, places=coded.places), rows, coded, answers, selects, rule
        )
        if len(coded.places) == 1 and answers.y_pred is None:
            threshold = 0.5 if answers.thresholds is None else answers.thresholds[0]
            tally = replace(tally, threshold=threshold)
    if set(needs) != {"cells"}:
        tally = _add_rows(tally, rows, None if coding is None else coding.codes["y_true"])
    return tally


def _read_labels(rows: CountedRows, answers: Answers, allows_one_class: bool) -> LabelCoding:
    """What labels and predictions mean."""
    values = {name: rows.values(name) for name in _COLUMN_NAMES if name in rows.answers}
    coding = read_positive(values, answers.positive)
    codes = coding.codes.get("y_true", {})
    is_one_class = len(set(codes.values()) - {None}) == 1
    if is_one_class and not answers.has_positive_labels and not allows_one_class:
        labels = [*coding.positive.get("y_true", ()), *coding.negative.get("y_true", ())]
        occurring = [label for label in labels if label in codes] or labels
        predicted = {*coding.positive.get("y_pred", labels), *coding.negative.get("y_pred", ())}
        option = "`positive['label']`" if predicted.isdisjoint(labels) else "`positive=`"
        raise InvalidInput(
            f"`y_true` contains one class only ({format_values(occurring)}); if that is right, pass "
            f"the positive label as {option}"
        )
    return coding


def _code(rows: CountedRows, coding: LabelCoding, answers: Answers) -> _Coded:
    """Counted rows as codes, and the places at which decisions are made."""
    width = len(rows.columns)
    n = np.array(list(rows.rows.values()), dtype=np.float64)
    label = np.zeros(len(n), dtype=np.int64)
    if answers.y_true is not None:
        codes = {**coding.codes["y_true"]}
        label[:] = [
            _NO_LABEL if (code := codes[value]) is None else code
            for value in _column(rows, "y_true")
        ]
    positive_from: tuple[int, ...] = (1,)
    places: tuple[Place, ...] = ((),)
    if answers.y_pred is not None:
        codes = coding.codes["y_pred"]
        decisions = [codes[value] for value in _column(rows, "y_pred")]
    else:
        decisions = list(_column(rows, "level"))
        thresholds = answers.thresholds
        if thresholds is None and {0, len(_UNIT)} & set(decisions):
            raise InvalidInput(
                "`y_score` must be between 0 and 1 for the default threshold of 0.5; for other scores "
                "pass `threshold=`, at or above which they are positive"
            )
        cuts = _UNIT if thresholds is None else thresholds
        positive_from = tuple(bisect_right(cuts, threshold) for threshold in thresholds or [0.5])
        axis = thresholds if answers.are_an_axis and thresholds else []
        places = tuple((("threshold", threshold),) for threshold in axis) or places
    decision = np.array([-1 if code is None else code for code in decisions], dtype=np.int64)
    return _Coded([row[:width] for row in rows.rows], label, decision, n, positive_from, places)


def _column(rows: CountedRows, answer: str) -> Iterable[Any]:
    """The values of an answer, by row."""
    place = len(rows.columns) + rows.answers.index(answer)
    return [row[place] for row in rows.rows]


def _count_cells(
    tally: Tally,
    rows: CountedRows,
    coded: _Coded,
    answers: Answers,
    selects: bool,
    rule: Rule | None,
) -> Tally:
    """The tally with its cells, and how many rows were left out."""
    weights = [*_column(rows, "sample_weight")] if answers.sample_weight is not None else None
    clusters = [*_column(rows, "cluster")] if answers.cluster is not None else None
    is_missing = {"y_true": coded.label == _NO_LABEL, "y_pred": coded.decision < 0}
    for name, values in (("sample_weight", weights), ("cluster", clusters)):
        is_missing[name] = np.array([value is None for value in values or coded.key])
    is_used = ~(is_missing["y_pred"] | is_missing["sample_weight"] | is_missing["cluster"])
    left_out: Counter[str] = Counter()
    for row in np.flatnonzero(np.any(list(is_missing.values()), axis=0)):
        left_out[" and ".join(name for name in is_missing if is_missing[name][row])] += int(
            coded.n[row]
        )
    weight = _check_weights(weights, is_used)
    if not (is_used & ~is_missing["y_true"]).any():
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    is_used &= weight > 0
    is_complete = is_used & ~is_missing["y_true"]
    if not is_complete.any():
        raise InvalidInput(argument="sample_weight", must="not all be 0")
    if not selects:
        is_used = is_complete
    keys = sort_keys({coded.key[row] for row in np.flatnonzero(is_used | (rule is not None))})
    if rule is not None and not rule.shows_zero:
        keys = cross_keys(keys)
    index_of = {key: i for i, key in enumerate(keys)}
    key = np.array([index_of.get(row_key, -1) for row_key in coded.key], dtype=np.int64)
    shape = (len(keys), 3, int(coded.decision.max(initial=0)) + 1)
    used = np.flatnonzero(is_used)
    where = (key[used], coded.label[used], coded.decision[used])

    def histogram(values: Floats) -> Floats:
        total = np.zeros(shape)
        np.add.at(total, where, values[used])
        return total

    cases = histogram(coded.n)
    published = low = high = cases
    if rule is not None:
        check_cost(
            cases.size, MAX_CELLS, "`protect` rounds {} counts", "choose coarser group columns"
        )
        occurs = cases.any(axis=0)
        published, low, high = (
            np.where(occurs, counts, 0.0) for counts in round_counts(cases, rule)
        )
        left_out = _round_left_out(key, coded, len(keys), rule)
        if selects:
            # No second rounding of the same cases is published.
            left_out["y_true"] = int(published[:, _NO_LABEL].sum())
    cells = published if weights is None else histogram(coded.n * weight)
    squares = published if weights is None else histogram(coded.n * weight**2)
    arrays = (cells, published if rule is not None else cases, squares, low, high)
    counts = Counts(*(_split_decisions(array[:, :2], coded.positive_from) for array in arrays))
    selections = None
    if cases[:, _NO_LABEL].any():
        everybody = [array[:, :2].copy() for array in arrays]
        for array, whole in zip(everybody, arrays, strict=True):
            array[:, 0] += whole[:, _NO_LABEL]
        selections = Counts(*(_split_decisions(array, coded.positive_from) for array in everybody))
    tally = replace(
        tally,
        keys=tuple(keys),
        counts=counts,
        selections=selections,
        left_out=dict(+left_out),
        rule=rule,
    )
    if weights is not None:
        total = {"n": float(counts.cases[0].sum()), "weight": float(counts.cells[0].sum())}
        tally = replace(tally, weighted=total)
    if clusters is not None:
        tally = _add_clusters(tally, clusters, key, coded, is_complete, answers)
    return tally


def _round_left_out(key: Integers, coded: _Coded, keys: int, rule: Rule) -> Counter[str]:
    """How many rows were left out, from numbers of each key that are rounded."""
    names = ("", "y_true", "y_pred", "y_true and y_pred")
    lacks = (coded.label == _NO_LABEL) + 2 * (coded.decision < 0)
    numbers = np.zeros((keys, len(names)))
    np.add.at(numbers, (key, lacks), coded.n)
    rounded = np.where(numbers.any(axis=0), round_counts(numbers, rule)[0], 0.0).sum(axis=0)
    return Counter({name: int(n) for name, n in zip(names, rounded, strict=True) if name})


def _check_weights(weights: list[Any] | None, is_used: NDArray[np.bool_]) -> Floats:
    """Weights as numbers, which must be finite and not negative; 1 for rows without."""
    if weights is None:
        return np.ones(len(is_used))
    values = np.array([1.0 if weight is None else weight for weight in weights])
    low, high = _WEIGHTS
    is_number = np.isfinite(values) & (values >= 0)
    is_exact = (values == 0) | ((values >= low) & (values <= high))
    for must, is_valid in (
        ("be finite and at least 0", is_number),
        (f"be 0 or between {low:g} and {high:g}", is_exact),
    ):
        if not is_valid.all():
            got = float(values[~is_valid][0])
            raise InvalidInput(argument="sample_weight", must=must, got=got)
    return values


def _split_decisions(histogram: Floats, positive_from: Sequence[int]) -> Floats:
    """Cells of shape (places, keys, 4), from counts by key, label and decision."""
    cells = np.empty((len(positive_from), len(histogram), 4))
    for place, start in enumerate(positive_from):
        positive = histogram[:, :, start:].sum(axis=2)
        negative = histogram[:, :, :start].sum(axis=2)
        tp_fn, fp_tn = (
            np.stack([positive[:, label], negative[:, label]], axis=1) for label in (1, 0)
        )
        cells[place] = np.hstack([tp_fn, fp_tn])
    return cells


def cross_keys(keys: Collection[Key]) -> list[Key]:
    """Every combination of the values that occur at each position of the keys."""
    values = [sort_keys({(key[i],) for key in keys}) for i in range(len(next(iter(keys))))]
    subject = "`protect` rounds every combination of groups; there are {}"
    check_cost(prod(map(len, values)), MAX_CELLS, subject, "choose fewer or coarser group columns")
    return [tuple(value for (value,) in combination) for combination in product(*values)]


# Clusters


def _add_clusters(
    tally: Tally,
    clusters: list[Any],
    key: Integers,
    coded: _Coded,
    is_complete: Any,
    answers: Answers,
) -> Tally:
    """The tally with its clusters, each of which must lie in one group."""
    complete = np.flatnonzero(is_complete)
    pairs = list(dict.fromkeys((int(key[row]), clusters[row]) for row in complete))
    # A cluster with a known group in only some of its cases belongs to that group.
    known = Counter(cluster for place, cluster in pairs if tally.keys[place] != (None,))
    several = [cluster for cluster, times in known.items() if times > 1]
    if several and answers.draw_case is None:
        raise InvalidInput(
            f"each `cluster` must lie in one group; {len(several):,} of "
            f"{len({cluster for _, cluster in pairs}):,} have cases in several, such as "
            f"{brief(several[0])}; audit them without `cluster=`, or choose groups that clusters do not leave"
        )
    index_of = {pair: i for i, pair in enumerate(pairs)}
    row = np.array([index_of[int(key[i]), clusters[i]] for i in complete], dtype=np.int64)
    shape = (len(pairs), 2, int(coded.decision.max(initial=0)) + 1)
    histogram = np.zeros(shape)
    np.add.at(histogram, (row, coded.label[complete], coded.decision[complete]), coded.n[complete])
    cells = _split_decisions(histogram, coded.positive_from)
    table = ClusterTable(np.array([place for place, _ in pairs], dtype=np.int64), cells)
    if answers.draw_case is not None:
        drawn = _draw_cases(
            table, [cluster for _, cluster in pairs], len(tally.keys), answers.draw_case
        )
        return replace(tally, counts=Counts.of(drawn), selections=None)
    name = answers.cluster if isinstance(answers.cluster, str) else "cluster"
    return replace(tally, clusters=table, cluster=name)


def _draw_cases(
    table: ClusterTable, clusters: list[Any], keys: int, draw_case: Callable[[Any, int], int | None]
) -> Floats:
    """Cells of shape (1, keys, 4) in which each cluster is one case, which ``draw_case`` chooses."""
    parts: dict[Any, list[int]] = {}
    for i, cluster in enumerate(clusters):
        parts.setdefault(cluster, []).append(i)
    cells = np.zeros((1, keys, 4))
    for cluster, places in parts.items():
        counts = table.cells[0, places]
        drawn = draw_case(cluster, int(counts.sum()))
        if drawn is not None:
            part, cell = divmod(int(np.searchsorted(np.cumsum(counts), drawn, side="right")), 4)
            cells[0, table.key[places[part]], cell] += 1
    return cells


# Rows


def _add_rows(
    tally: Tally, rows: CountedRows, label_codes: Mapping[Any, int | None] | None
) -> Tally:
    """The tally with every case as a row, of those that lack nothing."""
    width = len(rows.columns)
    places = [(name, width + i) for i, name in enumerate(rows.answers) if name != "level"]
    left_out: Counter[str] = Counter()
    kept: list[tuple[Key, tuple[Any, ...], int]] = []
    for row, n in rows.rows.items():
        values = {name: row[place] for name, place in places}
        label = None if label_codes is None else label_codes[values["y_true"]]
        is_unlabelled = values["y_true"] is None or (label_codes is not None and label is None)
        missing = ["y_true"] * is_unlabelled
        missing += [name for name, value in values.items() if value is None and name != "y_true"]
        if missing:
            left_out[" and ".join(missing)] += n
        else:
            kept.append((row[:width], (*values.values(), label == 1), n))
    if not kept:
        what = "score" if "y_score" in rows.answers else "prediction"
        raise InvalidInput(f"every row lacks a label or a {what}; there is nothing to audit")
    repeats = [n for *_, n in kept]
    subject = "scores of every case and functions take all {} cases"
    check_cost(sum(repeats), _MAX_ROWS, subject, "audit a random part of the rows")
    keys = sort_keys({*tally.keys, *(key for key, *_ in kept)})
    index_of = {key: i for i, key in enumerate(keys)}
    key = np.repeat(np.array([index_of[key] for key, *_ in kept], dtype=np.int64), repeats)
    columns = zip(*(values for _, values, _ in kept), strict=True)
    names = [*(name for name, _ in places), "positive"]
    arrays = {
        name: np.repeat(_as_array(column), repeats)
        for name, column in zip(names, columns, strict=True)
    }
    tally = _with_keys(tally, keys)
    return replace(tally, rows=RowTable(key, arrays), left_out=tally.left_out or dict(left_out))


def _with_keys(tally: Tally, keys: list[Key]) -> Tally:
    """The tally with more keys, which have no counts."""
    index_of = {key: i for i, key in enumerate(keys)}
    places = [index_of[key] for key in tally.keys]

    def spread(counts: Counts | None) -> Counts | None:
        if counts is None:
            return None
        cells = np.zeros((len(counts.cells), len(keys), 4))
        cells[:, places] = counts.cells
        return Counts.of(cells)

    return replace(
        tally, keys=tuple(keys), counts=spread(tally.counts), selections=spread(tally.selections)
    )


def _as_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values as numbers or texts if all of them are, and otherwise as objects."""
    kinds = {type(value) for value in values}
    if kinds in ({bool}, {int}, {float}, {int, float}, {str}):
        return np.array(values)
    return np.fromiter(values, dtype=object, count=len(values))


# Several classes


def _tally_classes(
    rows: CountedRows, answers: Answers, needs: Collection[Needs], selects: bool
) -> Tally:
    """The tally of several classes: each against the rest, and matrices of all of them."""
    coding = read_classes({name: rows.values(name) for name in _COLUMN_NAMES}, None, parse=True)
    true, pred = (
        np.array(
            [
                -1 if (code := coding.codes[name][value]) is None else code
                for value in _column(rows, name)
            ]
        )
        for name in _COLUMN_NAMES
    )
    n, k = np.array(list(rows.rows.values()), dtype=np.float64), len(coding.classes)
    occurring = [{*codes.tolist()} - {-1} for codes in (true, pred)]
    if min(map(len, occurring)) > 1 and not occurring[0] & occurring[1]:
        raise InvalidInput(
            "`y_true` and `y_pred` have no class in common; predictions must be of the same classes as labels"
        )
    left_out: Counter[str] = Counter()
    for row in np.flatnonzero((true < 0) | (pred < 0)):
        lacking = [name for name, codes in (("y_true", true), ("y_pred", pred)) if codes[row] < 0]
        left_out[" and ".join(lacking)] += int(n[row])
    if not ((true >= 0) & (pred >= 0)).any():
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    width = len(rows.columns)
    row_keys = [row[:width] for row in rows.rows]
    used = np.flatnonzero((pred >= 0) & (selects | (true >= 0)))
    keys = sort_keys({row_keys[row] for row in used})
    index_of = {key: i for i, key in enumerate(keys)}
    # The last row of a matrix has the cases without a label.
    counts = np.zeros((len(keys), k + 1, k))
    key = np.array([index_of[row_keys[row]] for row in used], dtype=np.int64)
    np.add.at(counts, (key, true[used], pred[used]), n[used])
    unlabelled, counts = counts[:, k], counts[:, :k]
    chosen = _choose_classes(answers.classes, coding.classes)
    places = [coding.classes.index(label) for label in chosen]
    cells = np.stack([_one_against_rest(counts, place) for place in places])
    selections = None
    if unlabelled.any():
        predicted = unlabelled[:, places].T
        more = np.zeros_like(cells)
        more[..., 2], more[..., 3] = predicted, unlabelled.sum(axis=1) - predicted
        selections = Counts.of(cells + more)
    tally = Tally(
        columns=rows.columns,
        keys=tuple(keys),
        places=tuple((("class", plain(label)),) for label in chosen),
        counts=Counts.of(cells),
        selections=selections,
        class_counts=counts,
        classes=coding.classes,
        left_out=dict(left_out),
    )
    return _add_rows(tally, rows, None) if "values" in needs else tally


def _one_against_rest(counts: Floats, place: int) -> Floats:
    """The cells of one class against all others, from matrices of shape (keys, K, K)."""
    tp = counts[:, place, place]
    fn, fp = counts[:, place].sum(axis=1) - tp, counts[:, :, place].sum(axis=1) - tp
    return np.stack([tp, fn, fp, counts.sum(axis=(1, 2)) - tp - fn - fp], axis=1)


def _choose_classes(classes: Any, labels: tuple[Any, ...]) -> tuple[Any, ...]:
    """The classes that are audited against the rest."""
    if isinstance(classes, str) and classes == "all":
        return labels
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise InvalidInput(argument="classes", must="be a list of classes or 'all'", got=classes)
    known: dict[Any, Any] = {}
    for label in labels:
        # On the command line, booleans are in lower case and whole numbers have no point.
        text = str(label).lower() if isinstance(label, bool) else str(label).removesuffix(".0")
        known |= {text: label, str(label): label, label: label}
    chosen = list(classes)
    for label in chosen:
        if not isinstance(label, Hashable) or label not in known:
            raise UnknownName.among("class", str(label), map(str, labels))
    if not chosen:
        raise InvalidInput(argument="classes", must="name at least one class")
    return tuple(dict.fromkeys(known[label] for label in chosen))


# Counts


def tally_counts(
    counts: Mapping[Any, Any],
    by: str | Sequence[str],
    *,
    merge_variants: bool = False,
    rule: Rule | None = None,
) -> Tally:
    """The tally of known confusion matrices by group.

    >>> tally_counts({"A": (8, 2, 1, 9), "B": (3, 3, 2, 2)}, "group").counts.cells[0].sum(axis=1)
    array([20., 10.])
    """
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput(argument="counts", must="map groups to confusion matrices", got=counts)
    columns = (by,) if isinstance(by, str) else tuple(by) if is_sequence(by) else ()
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InvalidInput(argument="by", must="be the name of a group column, or several", got=by)
    matrices: dict[Key, ConfusionMatrix] = {}
    for group, given in counts.items():
        key = group if isinstance(group, tuple) and not isinstance(by, str) else (group,)
        if len(key) != len(columns):
            must = f"have one value per column ({', '.join(columns)})"
            raise InvalidInput(f"group {brief(group)} must {must}; got {len(key)}")
        matrices[key] = _as_matrix(group, given)
    if merge_variants:
        matrices = merge_names(matrices, len(columns), first=rule is not None)
    keys = sort_keys(matrices)
    if rule is not None and not rule.shows_zero:
        keys = cross_keys(keys)
    empty = ConfusionMatrix(tp=0, fn=0, fp=0, tn=0)
    cells = np.array([[matrices.get(key, empty).cells for key in keys]], dtype=np.float64)
    tally = Tally(columns=columns, keys=tuple(keys), counts=Counts.of(cells))
    if rule is None:
        return tally
    published, low, high = round_counts(cells, rule)
    rounded = Counts(published, published, published, low, high)
    return replace(tally, counts=rounded, rule=rule)


def _as_matrix(group: object, given: Any) -> ConfusionMatrix:
    """Four cells, by their names if it has any."""
    matrix: ConfusionMatrix = given
    if not isinstance(given, ConfusionMatrix):
        try:
            cells = given.items() if isinstance(given, Mapping) else zip(CELLS, given, strict=True)
            named = {str(name).casefold(): value for name, value in cells}
        except (TypeError, ValueError):
            named = {}
        if named.keys() != set(CELLS):
            raise InvalidInput(
                f"group {brief(group)} must have tp, fn, fp and tn; got {brief(given)}"
            )
        matrix = ConfusionMatrix(**named)
    if not matrix.is_whole:
        raise InvalidInput(f"group {brief(group)} must have whole counts; got {matrix!r}")
    return matrix
