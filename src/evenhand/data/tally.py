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

from ..arrays import Bools, Floats, Integers, is_sequence
from ..confusion import CELLS, ConfusionMatrix, LabelCoding, read_classes, read_labels
from ..errors import InvalidInput, TooLarge, UnknownName, brief, check_cost, format_values
from .columns import as_finite, group_columns
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

#: Where on the axes something is: pairs of axis and value.
Place = tuple[tuple[str, Any], ...]
#: What metrics need: four cells, the score of every case, or labels and predictions as they are.
Needs = Literal["cells", "ranking", "values"]

# Without a threshold, scores must be from 0 to 1, and those from one half on are positive.
_UNIT = (0.0, 0.5, nextafter(1.0, inf))
_MAX_ROWS, _MAX_THRESHOLDS = 20_000_000, 500
# Sums of other weights, and of their squares, may overflow or be rounded to 0.
_WEIGHTS = 1e-50, 1e12
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
    keys: tuple[Key, ...] = ()
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

    @classmethod
    def of(cls, rows: CountedRows, coding: LabelCoding | None, **facts: Any) -> Tally:
        """A tally of counted rows whose labels were read by a coding."""
        if coding is not None:
            for fact in ("positive", "negative"):
                labels = getattr(coding, fact).items()
                facts[fact] = {_COLUMN_NAMES[name]: tuple(map(plain, of)) for name, of in labels}
            facts |= {"absent": coding.absent, "missing_words": coding.missing_words}
        facts |= {"orders": rows.orders, "source": rows.source, "library": rows.library}
        return cls(columns=rows.columns, **facts)

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
        for refusal in self._find_refusals(needs):
            raise InvalidInput(refusal)

    def _find_refusals(self, needs: Collection[Needs]) -> Iterator[str]:
        given = {name for name in vars(self) if getattr(self, name) is not None}
        takes_rows = set(needs) != {"cells"}
        if "classes" in given:
            for name in ("y_score", "threshold", "sample_weight", "cluster", "positive"):
                if name in given:
                    yield f"`{name}` is for two classes and cannot be combined with `classes`"
            for name in ("y_true", "y_pred"):
                if name not in given:
                    yield f"`{name}` must be the name of a column or its values; got None"
            if "ranking" in needs:
                yield "scores such as auc are of two classes and cannot be combined with `classes`"
            return
        decisions = given & {"y_pred", "y_score"}
        if not decisions or (len(decisions) == 2 and not takes_rows):
            got = "both" if decisions else "neither"
            yield f"pass either `y_pred` (predictions) or `y_score` (scores); got {got}"
        if "threshold" in given and decisions != {"y_score"}:
            yield "`threshold` is for scores; pass them as `y_score`, or leave `threshold` out"
        if "ranking" in needs and "y_score" not in given:
            yield "auc, brier and log_loss need the score of every case; pass it as `y_score=`"
        if takes_rows and "y_true" not in given:
            yield "auc, brier, log_loss and functions need labels; pass them as `y_true=`"
        for name in ("cluster", "sample_weight"):
            if takes_rows and name in given:
                hint = "leave it out, or ask for other metrics"
                yield f"auc, brier, log_loss and functions take no `{name}`; {hint}"
        if {"sample_weight", "cluster"} <= given:
            yield "`sample_weight` and `cluster` cannot be combined"

    @property
    def thresholds(self) -> list[float] | None:
        """The thresholds in ascending order; None if none was given."""
        if self.threshold is None:
            return None
        given = self.threshold if self.has_threshold_axis else [self.threshold]
        thresholds = sorted({as_finite(threshold) for threshold in given})
        if not thresholds:
            raise InvalidInput(argument="threshold", must="contain at least one number")
        if len(thresholds) > _MAX_THRESHOLDS:
            must = f"contain at most {_MAX_THRESHOLDS:,} different numbers"
            raise TooLarge(f"`threshold` must {must}; got {len(thresholds):,}")
        return thresholds

    @property
    def has_threshold_axis(self) -> bool:
        """Whether several thresholds are an axis: a sequence was given."""
        return is_sequence(self.threshold) and np.ndim(self.threshold) == 1


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
    takes_rows, has_cells = set(needs) != {"cells"}, "cells" in needs
    is_one_case = isinstance(answers.count, (int, str)) and str(answers.count) == "1"
    # Scores may be counted twice: as they are, and by level.
    scores = list(answers.y_score) if isinstance(answers.y_score, Iterator) else answers.y_score
    columns = {
        "y_true": answers.y_true,
        "y_pred": answers.y_pred,
        "sample_weight": answers.sample_weight,
        "cluster": answers.cluster,
        "count": None if is_one_case else answers.count,
        "y_score": scores if takes_rows else None,
        "level": scores if answers.y_pred is None and has_cells else None,
    }
    with spool(data) as data:
        rows = count_rows(
            data,
            groups,
            columns,
            bins=bins,
            cuts={"level": answers.thresholds or _UNIT},
            numbers=("y_score", "sample_weight"),
            frequency="count",
            merge=merge_variants and ("first" if rule else True),
        )
        head = read_first_columns(data)
        used = [*group_columns(groups, data).values(), *columns.values()]
        names = {str(column) for column in used if isinstance(column, (str, int))}
        check_not_stacked(data, head, {str(answers.y_pred), str(answers.y_score)}, names)
    if answers.count is None and "y_score" not in rows.answers:
        check_not_counts(head, _occur_once(rows), names, answers.sample_weight)
    coding = coded = None
    if answers.classes is not None:
        coding, coded = _code_classes(rows, answers)
        tally = Tally.of(rows, None, classes=coding.classes, places=coded.places)
    else:
        if set(needs) != {"values"}:
            values = {n: set(rows.answer(n)) for n in _COLUMN_NAMES if n in rows.answers}
            coding = read_two_classes(values, answers.positive, allows_one=not has_cells)
        tally = Tally.of(rows, coding, labelled=answers.y_true is not None)
        if coding is not None and "score_column" in rows.source and tally.labelled:
            _check_second_class(coding)
        if coding is not None and has_cells:
            coded = _code_decisions(rows, coding, answers)
            is_cut = answers.y_pred is None and len(coded.places) == 1
            threshold = (answers.thresholds or [0.5])[0] if is_cut else None
            tally = replace(tally, places=coded.places, threshold=threshold)
    if coded is not None:
        tally = _count_cells(tally, rows, coded, answers, selects, rule)
    if takes_rows:
        tally = _add_rows(tally, rows, {} if coding is None else coding.codes)
    if rule is not None:
        return hide_facts(tally)
    return replace(tally, repeated=find_repeated_identifier(head, names))


def hide_facts(tally: Tally) -> Tally:
    """The tally of rounded counts without facts that change with single cases."""
    source = {name: value for name, value in tally.source.items() if name in PUBLIC_FACTS}
    return replace(tally, source=source, negative={}, absent=(), missing_words={})


def _occur_once(rows: CountedRows) -> bool:
    """Whether every combination of groups, label and prediction is that of one row."""
    names = [name for name in rows.answers if name not in ("sample_weight", "cluster")]
    seen = set(zip(rows.keys, *map(rows.answer, names), strict=True))
    return len(seen) == sum(rows.rows.values()) > 1


# What labels and decisions mean


class _Coded(NamedTuple):
    """Counted rows as codes.

    Decisions that are missing are -1, and labels ``no_label``, the last of their codes. At each place, ``positive`` has
    the positive label, and of the decisions the first that is positive and the one after the last.
    """

    label: Integers
    decision: Integers
    no_label: int
    positive: Sequence[tuple[int, int, int | None]]
    places: tuple[Place, ...]

    def split(self, histogram: Floats) -> Floats:
        """Cells of shape (places, keys, 4), of counts by key, label and decision."""
        cells = []
        for label, first, end in self.positive:
            others = np.delete(histogram, label, axis=1).sum(axis=1)
            for part in (histogram[:, label], others):
                cells.append(part[:, first:end].sum(axis=1))
                cells.append(np.delete(part, slice(first, end), axis=1).sum(axis=1))
        return np.stack(cells, axis=1).reshape(len(histogram), -1, 4).swapaxes(0, 1)


def _code(values: Iterable[Any], codes: Mapping[Any, int | None], missing: int) -> Integers:
    coded = (codes[value] for value in values)
    return np.array([missing if code is None else code for code in coded], dtype=np.int64)


def read_two_classes(
    columns: Mapping[str, Collection[Any]], positive: Any, allows_one: bool = False
) -> LabelCoding:
    """What labels and predictions mean; without ``allows_one``, labels of one class need to be told which it is."""
    coding = read_labels(columns, positive)
    codes = coding.codes.get("y_true", {})
    given = positive.get("label") if isinstance(positive, Mapping) else positive
    if len(set(codes.values()) - {None}) == 1 and given is None and not allows_one:
        labels = [*coding.positive["y_true"], *coding.negative["y_true"]]
        sides = coding.negative["y_true"], coding.positive["y_true"]
        code = next(code for code in codes.values() if code is not None)
        occurring = format_values(sides[code] or labels)
        predicted = {*coding.positive.get("y_pred", labels), *coding.negative.get("y_pred", ())}
        option = "`positive['label']`" if predicted.isdisjoint(labels) else "`positive=`"
        raise InvalidInput(
            f"`y_true` contains one class only ({occurring}); if that is right, pass the positive "
            f"label as {option}"
        )
    return coding


def _check_second_class(coding: LabelCoding) -> None:
    """Refuse scores whose second column is not that of the positive class, as scikit-learn orders the labels."""
    positive = coding.positive["y_true"]
    classes = {*positive, *coding.negative["y_true"]}
    if len(classes) == 2 and positive == (max(classes),):
        return
    why = ""
    if len(classes) == 2 and len(positive) == 1:
        why = (
            ", and as scikit-learn orders classes the second is that of "
            f"{brief(max(classes))}, but the positive label is {brief(positive[0])}"
        )
    raise InvalidInput(f"`y_score` has two columns{why}; pass the column of the positive class")


def _code_decisions(rows: CountedRows, coding: LabelCoding, answers: Answers) -> _Coded:
    """Decisions of two classes, or which thresholds scores reach."""
    label = np.zeros(len(rows.rows), dtype=np.int64)
    if answers.y_true is not None:
        label = _code(rows.answer("y_true"), coding.codes["y_true"], 2)
    if answers.y_pred is not None:
        decision = _code(rows.answer("y_pred"), coding.codes["y_pred"], -1)
        return _Coded(label, decision, 2, [(1, 1, None)], ((),))
    decision = np.array([-1 if level is None else level for level in rows.answer("level")])
    thresholds = answers.thresholds
    if thresholds is None and {0, len(_UNIT)} & {*decision.tolist()}:
        raise InvalidInput(
            "`y_score` must be between 0 and 1 for the default threshold of 0.5; for other scores "
            "pass `threshold=`, at or above which they are positive"
        )
    positive = [(1, bisect_right(thresholds or _UNIT, cut), None) for cut in thresholds or [0.5]]
    axis = thresholds or [] if answers.has_threshold_axis else []
    places = tuple((("threshold", threshold),) for threshold in axis) or ((),)
    return _Coded(label, decision, 2, positive, places)


def _code_classes(rows: CountedRows, answers: Answers) -> tuple[LabelCoding, _Coded]:
    """Several classes, of which some are audited against the rest."""
    columns = {name: rows.answer(name) for name in _COLUMN_NAMES}
    coding = read_classes({name: set(of) for name, of in columns.items()}, None, parse=True)
    k = len(coding.classes)
    label = _code(columns["y_true"], coding.codes["y_true"], k)
    decision = _code(columns["y_pred"], coding.codes["y_pred"], -1)
    labels, decisions = {*label.tolist()} - {k}, {*decision.tolist()} - {-1}
    if min(len(labels), len(decisions)) > 1 and not labels & decisions:
        raise InvalidInput(
            "`y_true` and `y_pred` have no class in common; predictions must be of the same classes as labels"
        )
    chosen = _choose_classes(answers.classes, coding.classes)
    indexes = [coding.classes.index(one) for one in chosen]
    places = tuple((("class", plain(one)),) for one in chosen)
    return coding, _Coded(label, decision, k, [(i, i, i + 1) for i in indexes], places)


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


# Cells


def _add_up(values: Floats, shape: tuple[int, ...], *codes: Integers) -> Floats:
    """Sums of values by codes."""
    total = np.zeros(shape)
    np.add.at(total, codes, values)
    return total


def count_lacking(lacks: Mapping[str, Bools], n: Floats) -> dict[str, int]:
    """How many rows lack something, by what they lack."""
    left_out: Counter[str] = Counter()
    for row in np.flatnonzero(np.any(list(lacks.values()), axis=0)):
        left_out[" and ".join(name for name in lacks if lacks[name][row])] += int(n[row])
    return dict(left_out)


def _count_cells(
    tally: Tally,
    rows: CountedRows,
    coded: _Coded,
    answers: Answers,
    selects: bool,
    rule: Rule | None,
) -> Tally:
    """The tally with its cells, and how many rows were left out."""
    n = rows.n
    lacks = {"y_true": coded.label == coded.no_label, "y_pred": coded.decision < 0}
    for name in ("sample_weight", "cluster"):
        if name in rows.answers:
            lacks[name] = np.array([value is None for value in rows.answer(name)])
    is_complete = ~np.any(list(lacks.values()), axis=0)
    if not is_complete.any():
        raise InvalidInput("every row lacks a label or a prediction; there is nothing to audit")
    weight = np.ones(len(n))
    if answers.sample_weight is not None:
        weight = _check_weights(rows.answer("sample_weight"))
    is_complete &= weight > 0
    if not is_complete.any():
        raise InvalidInput(argument="sample_weight", must="not all be 0")
    is_used = is_complete
    if selects:
        others = [lacking for name, lacking in lacks.items() if name != "y_true"]
        is_used = ~np.any(others, axis=0) & (weight > 0)
    row_keys = rows.keys
    keys = sort_keys({row_keys[row] for row in np.flatnonzero(is_used | (rule is not None))})
    if rule is not None and not rule.shows_zero:
        keys = cross_keys(keys)
    index_of = {key: i for i, key in enumerate(keys)}
    key = np.array([index_of.get(row_key, -1) for row_key in row_keys], dtype=np.int64)
    size = coded.no_label if tally.classes else int(coded.decision.max(initial=0)) + 1
    shape = len(keys), coded.no_label + 1, size
    codes = [code[is_used] for code in (key, coded.label, coded.decision)]
    cases = _add_up(n[is_used], shape, *codes)
    left_out = count_lacking(lacks, n)
    published = low = high = cases
    if rule is not None:
        check_cost(
            cases.size, MAX_CELLS, "`protect` rounds {} counts", "choose coarser group columns"
        )
        occurs = cases.any(axis=0)
        published, low, high = (np.where(occurs, x, 0.0) for x in round_counts(cases, rule))
        left_out = _round_left_out(key, coded, n, rule)
        if selects:
            # No second rounding of the same cases is published.
            left_out["y_true"] = int(published[:, coded.no_label].sum())
    cells = squares = published
    if answers.sample_weight is not None:
        cells, squares = (_add_up((n * weight**i)[is_used], shape, *codes) for i in (1, 2))
    arrays = cells, published, squares, low, high
    tally = replace(
        tally,
        keys=tuple(keys),
        counts=Counts(*(coded.split(array[:, : coded.no_label]) for array in arrays)),
        selections=Counts(*map(coded.split, arrays)) if cases[:, coded.no_label].any() else None,
        class_counts=cases[:, : coded.no_label] if tally.classes else None,
        left_out={name: times for name, times in left_out.items() if times},
        rule=rule,
    )
    if answers.sample_weight is not None:
        total = {"n": float(n[is_complete].sum()), "weight": float((n * weight)[is_complete].sum())}
        tally = replace(tally, weighted=total)
    if answers.cluster is not None:
        tally = _add_clusters(tally, rows, key, coded, np.flatnonzero(is_complete), answers)
    return tally


def _round_left_out(key: Integers, coded: _Coded, n: Floats, rule: Rule) -> dict[str, int]:
    """How many rows were left out, from numbers of each key that are rounded."""
    names = ("", "y_true", "y_pred", "y_true and y_pred")
    lacks = (coded.label == coded.no_label) + 2 * (coded.decision < 0)
    numbers = _add_up(n, (int(key.max()) + 1, len(names)), key, lacks)
    rounded = np.where(numbers.any(axis=0), round_counts(numbers, rule)[0], 0.0).sum(axis=0)
    return {name: int(n) for name, n in zip(names, rounded, strict=True) if name}


def _check_weights(weights: Iterable[Any]) -> Floats:
    """Weights as numbers, which must be finite and not negative; 1 for rows without."""
    values = np.array([1.0 if weight is None else weight for weight in weights])
    low, high = _WEIGHTS
    for must, is_valid in (
        ("be finite and at least 0", np.isfinite(values) & (values >= 0)),
        (
            f"be 0 or between {low:g} and {high:g}",
            (values == 0) | ((values >= low) & (values <= high)),
        ),
    ):
        if not is_valid.all():
            got = float(values[~is_valid][0])
            raise InvalidInput(argument="sample_weight", must=must, got=got)
    return values


def cross_keys(keys: Collection[Key]) -> list[Key]:
    """Every combination of the values that occur at each position of the keys."""
    values = [
        [value for (value,) in sort_keys({(one,) for one in column})]
        for column in zip(*keys, strict=True)
    ]
    subject = "`protect` rounds every combination of groups; there are {}"
    check_cost(prod(map(len, values)), MAX_CELLS, subject, "choose fewer or coarser group columns")
    return list(product(*values))


# Clusters


def _add_clusters(
    tally: Tally, rows: CountedRows, key: Integers, coded: _Coded, used: Integers, answers: Answers
) -> Tally:
    """The tally with its clusters, each of which must lie in one group."""
    clusters = rows.answer("cluster")
    pairs = [(int(key[row]), clusters[row]) for row in used]
    index_of = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
    # A cluster with a known group in only some of its cases belongs to that group.
    known = Counter(cluster for i, cluster in index_of if tally.keys[i] != (None,))
    several = [cluster for cluster, groups in known.items() if groups > 1]
    if several and answers.draw_case is None:
        n = len({cluster for _, cluster in index_of})
        raise InvalidInput(
            f"each `cluster` must lie in one group; {len(several):,} of {n:,} have cases in several, "
            f"such as {brief(several[0])}; audit them without `cluster=`, or choose groups that "
            "clusters do not leave"
        )
    shape = len(index_of), 2, int(coded.decision.max()) + 1
    place = np.array([index_of[pair] for pair in pairs], dtype=np.int64)
    cells = coded.split(
        _add_up(rows.n[used], shape, place, coded.label[used], coded.decision[used])
    )
    if answers.draw_case is None:
        table = ClusterTable(np.array([i for i, _ in index_of], dtype=np.int64), cells)
        name = answers.cluster if isinstance(answers.cluster, str) else "cluster"
        return replace(tally, clusters=table, cluster=name)
    parts: dict[Any, list[Key]] = {}
    for (i, cluster), counts in zip(index_of, cells[0], strict=True):
        parts.setdefault(cluster, []).extend((i, cell, count) for cell, count in enumerate(counts))
    drawn = np.zeros((1, len(tally.keys), 4))
    for cluster, counted in parts.items():
        ends = np.cumsum([count for *_, count in counted])
        position = answers.draw_case(cluster, int(ends[-1]))
        if position is not None:
            i, cell, _ = counted[int(np.searchsorted(ends, position, side="right"))]
            drawn[0, i, cell] += 1
    return replace(tally, counts=Counts.of(drawn), selections=None)


# Rows


def _add_rows(tally: Tally, rows: CountedRows, codes: Mapping[str, Mapping[Any, Any]]) -> Tally:
    """The tally with every case as a row, of those that lack nothing."""
    columns = {name: rows.answer(name) for name in rows.answers if name != "level"}
    lacks = {}
    for name, values in columns.items():
        code_of = codes.get(name, {})
        lacks[name] = np.array([code_of.get(value, value) is None for value in values])
    kept = np.flatnonzero(~np.any(list(lacks.values()), axis=0))
    if not len(kept):
        what = "score" if "y_score" in columns else "prediction"
        raise InvalidInput(f"every row lacks a label or a {what}; there is nothing to audit")
    n = rows.n[kept].astype(np.int64)
    subject = "scores of every case and functions take all {} cases"
    check_cost(n.sum(), _MAX_ROWS, subject, "audit a random part of the rows")
    keys, key = rows.index_keys(kept, tally.keys)
    code_of = codes.get("y_true", {})
    columns["positive"] = [code_of.get(label) == 1 for label in columns["y_true"]]
    arrays = {
        name: np.repeat(_as_array([values[row] for row in kept]), n)
        for name, values in columns.items()
    }
    left_out = tally.left_out or count_lacking(lacks, rows.n)
    return replace(tally, keys=keys, rows=RowTable(np.repeat(key, n), arrays), left_out=left_out)


def _as_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values as numbers or texts if all of them are, and otherwise as objects."""
    kinds = {type(value) for value in values}
    if kinds in ({bool}, {int}, {float}, {int, float}, {str}):
        return np.array(values)
    return np.fromiter(values, dtype=object, count=len(values))


# Known counts


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
    cells = np.array(
        [[matrices[key].cells if key in matrices else (0, 0, 0, 0) for key in keys]], float
    )
    published, low, high = (cells,) * 3 if rule is None else round_counts(cells, rule)
    known = Counts(published, published, published, low, high)
    return Tally(columns=columns, keys=tuple(keys), counts=known, rule=rule)


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
