"""A tally: how many cases of every combination of groups fall into which cells, as arrays.

A key is a combination of values of the group columns. What metrics read of a group is an array along
keys: four cells at each place (a threshold, or a class against the rest), a matrix of all classes,
the decisions of two models. Rows and clusters name their keys. Groups, intersections, strata and
references are sums of these arrays over keys, whatever they hold.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from math import inf, nextafter
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Floats, Integers, is_sequence
from ..confusion import CELLS, ConfusionMatrix, LabelCoding, read_classes, read_labels
from ..errors import InvalidInput, TooLarge, UnknownName, brief, check_cost, format_values
from .columns import as_finite, group_columns
from .counted_rows import Bins, CountedRows, code_values, count_rows, merge_variants as merge_names
from .disclosure import MAX_CELLS, PUBLIC_FACTS, Rule, list_keys, round_counts
from .files import spool
from .frames import Key, plain
from .input_checks import Repeated, check_cases

#: Where on the axes something is: pairs of axis and value.
Place = tuple[tuple[str, Any], ...]
#: By the name of a column, some of its values.
Values = dict[str, tuple[Any, ...]]
#: By place the positive label, and of the decisions the first that is positive and the one after the last.
Positive = dict[Place, tuple[int, int, float]]
#: What metrics need: four cells, the score of every case, or labels and predictions as they are.
Needs = Literal["cells", "ranking", "values"]

# Without a threshold, scores must be from 0 to 1, and those from one half on are positive.
_UNIT = (0.0, 0.5, nextafter(1.0, inf))
_MAX_ROWS, _MAX_THRESHOLDS = 20_000_000, 500
# Sums of other weights, and of their squares, may overflow or be rounded to 0.
_WEIGHTS = 1e-50, 1e12
_COUNTED = ("y_true", "y_pred", "sample_weight", "cluster")
_PARTS = {"y_true": "label", "y_pred": "prediction"}


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


class RowTable(NamedTuple):
    """One row per case: the index of its key, and columns such as ``y_true`` and ``positive``."""

    key: Integers
    columns: Mapping[str, Array]


class ClusterTable(NamedTuple):
    """The key of each cluster, and its cells by place, of shape (places, clusters, 4).

    ``selections`` are those of all cases with a prediction.
    """

    key: Integers
    counts: Floats
    selections: Floats


class ItemTable(NamedTuple):
    """Items that two models answered: the key and the number of runs of each.

    ``first`` and ``second`` are sums of results by place, of shape (places, items), which are 0 or 1
    if ``is_binary``.
    """

    key: Integers
    runs: Floats
    first: Floats
    second: Floats
    is_binary: bool


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
        Counts by label and by the decisions of two models, of shape (places, keys, 2, 2, 2); with
        ``items``, the numbers of runs of both models, of shape (places, keys).
    items : ItemTable or None
        Items with results of two models that are no single decisions.
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
    items: ItemTable | None = None
    rows: RowTable | None = None
    clusters: ClusterTable | None = None
    cluster: str | None = None
    weighted: dict[str, float] = field(default_factory=dict)
    labelled: bool = True
    left_out: dict[str, int] = field(default_factory=dict)
    positive: Values = field(default_factory=dict)
    negative: Values = field(default_factory=dict)
    absent: tuple[Any, ...] = ()
    missing_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    orders: Values = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    library: str | None = None
    threshold: float | None = None
    repeated: Repeated | None = None
    rule: Rule | None = None

    @classmethod
    def of(cls, rows: CountedRows, coding: LabelCoding) -> Tally:
        """How counted rows were read."""
        positive, negative = (
            {_PARTS[name]: tuple(map(plain, labels)) for name, labels in side.items()}
            for side in (coding.positive, coding.negative)
        )
        return cls(
            columns=rows.columns,
            positive=positive,
            negative=negative,
            absent=coding.absent,
            missing_words=coding.missing_words,
            orders=rows.orders,
            source=rows.source,
            library=rows.library,
        )

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
        cases = self.model_counts if self.counts is None else self.counts.cases
        if cases is None:
            return 0 if self.rows is None else len(self.rows.key)
        return int(cases[0].sum())


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
        given = [name for name in vars(self) if getattr(self, name) is not None]
        decisions = [name for name in given if name in ("y_pred", "y_score")]
        if "classes" in given:
            for name in given:
                if name not in ("y_true", "y_pred", "count", "classes"):
                    yield f"`{name}` is for two classes and cannot be combined with `classes`"
            for name in ("y_true", "y_pred"):
                if name not in given:
                    yield f"`{name}` must be the name of a column or its values; got None"
            if "ranking" in needs:
                yield "scores such as auc are of two classes and cannot be combined with `classes`"
            return
        if not decisions or (len(decisions) == 2 and set(needs) == {"cells"}):
            got = "both" if decisions else "neither"
            yield f"pass either `y_pred` (predictions) or `y_score` (scores); got {got}"
        if "threshold" in given and decisions != ["y_score"]:
            yield "`threshold` is for scores; pass them as `y_score`, or leave `threshold` out"
        if "ranking" in needs and "y_score" not in given:
            yield "auc, brier and log_loss need the score of every case; pass it as `y_score=`"
        if set(needs) != {"cells"}:
            functions = "auc, brier, log_loss and functions"
            if "y_true" not in given:
                yield f"{functions} need labels; pass them as `y_true=`"
            for name in ("cluster", "sample_weight"):
                if name in given:
                    yield f"{functions} take no `{name}`; leave it out, or ask for other metrics"
        if "sample_weight" in given and "cluster" in given:
            yield "`sample_weight` and `cluster` cannot be combined"

    @property
    def thresholds(self) -> list[float]:
        """The thresholds in ascending order; none if none was given."""
        if self.threshold is None:
            return []
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
    data: object,
    groups: object,
    answers: Answers,
    needs: Collection[Needs],
    *,
    bins: Bins = None,
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
    columns = {name: getattr(answers, name) for name in _COUNTED}
    columns["count"] = None if is_one_case else answers.count
    columns["y_score"] = scores if takes_rows else None
    columns["level"] = scores if answers.y_pred is None and has_cells else None
    with spool(data) as data:
        cuts = {"level": answers.thresholds or _UNIT}
        merge = merge_variants and ("first" if rule else True)
        rows = count_rows(data, groups, columns, bins=bins, cuts=cuts, merge=merge)
        asks = answers.count is None and "y_score" not in rows.answers
        repeated = check_cases(data, rows, group_columns(groups, data).values(), columns, asks)
    coding, has_classes = LabelCoding((), {}), answers.classes is not None
    values = {name: set(rows.answer(name)) for name in _PARTS if name in rows.answers}
    if has_classes:
        coding = read_classes(values, parse=True)
    elif set(needs) != {"values"}:
        coding = read_two_classes(values, answers.positive, allows_one=not has_cells)
        if "score_column" in rows.source and "y_true" in values:
            _check_second_class(coding)
    tally = replace(Tally.of(rows, coding), labelled="y_true" in values)
    if has_cells or has_classes:
        coded = _code_rows(rows, coding, answers)
        tally = _count_cells(tally, coded, answers, selects, rule)
    if has_classes:
        tally = replace(tally, classes=coding.classes)
    if takes_rows:
        tally = _add_rows(tally, rows, coding)
    if rule is not None:
        return hide_facts(tally)
    return replace(tally, repeated=repeated)


def hide_facts(tally: Tally) -> Tally:
    """The tally of rounded counts without facts that change with single cases."""
    source = {name: value for name, value in tally.source.items() if name in PUBLIC_FACTS}
    return replace(tally, source=source, negative={}, absent=(), missing_words={})


# What labels and decisions mean


class _Coded(NamedTuple):
    """Counted rows as codes of labels and decisions, which are -1 where they are missing.

    ``size`` is how many codes of labels and of decisions there are.
    """

    rows: CountedRows
    label: Integers
    decision: Integers
    size: tuple[int, int]
    positive: Positive

    def add_up(self, n: Floats, used: Bools, index: Integers, size: int) -> Floats:
        """Sums of ``n`` by an index of used rows, label and decision; the last of these are missing."""
        labels, decisions = self.size
        sums = np.zeros((size, labels + 1, decisions + 1))
        np.add.at(sums, (index[used], self.label[used], self.decision[used]), n[used])
        return sums

    def split(self, counts: Floats) -> Floats:
        """Cells of shape (places, keys, 4), of counts by key, label and decision."""
        label, decision = map(np.arange, counts.shape[1:])
        cells = []
        for positive, first, end in self.positive.values():
            actual, decided = label == positive, (first <= decision) & (decision < end)
            rows, columns = (np.array([side, ~side], float) for side in (actual, decided))
            cells.append(rows @ counts @ columns.T)
        return np.reshape(cells, (len(cells), -1, 4))


def read_two_classes(
    columns: Mapping[str, Collection[object]], positive: object, allows_one: bool = False
) -> LabelCoding:
    """What labels and predictions mean; without ``allows_one``, labels of one class need to be told which it is."""
    coding = read_labels(columns, positive)
    classes = set(coding.codes.get("y_true", {}).values()) - {None}
    given = positive.get("label") if isinstance(positive, Mapping) else positive
    if len(classes) == 1 and given is None and not allows_one:
        side = coding.positive if 1 in classes else coding.negative
        text = f"`y_true` contains one class only ({format_values(side['y_true'])})"
        labels, predictions = (
            {*coding.positive.get(name, ()), *coding.negative.get(name, ())} for name in _PARTS
        )
        are_apart = predictions and predictions.isdisjoint(labels)
        option = "`positive['label']`" if are_apart else "`positive=`"
        raise InvalidInput(f"{text}; if that is right, pass the positive label as {option}")
    return coding


def _check_second_class(coding: LabelCoding) -> None:
    """Refuse scores whose second column is not that of the positive class, as scikit-learn orders the labels."""
    positive = coding.positive["y_true"]
    classes = {*positive, *coding.negative["y_true"]}
    if len(classes) != 2 or positive != (max(classes),):
        order = f"in the order of the labels ({format_values(classes)})"
        must = f"of which the second must be the positive one ({format_values(positive)})"
        hint = "pass the column of the positive class"
        raise InvalidInput(f"`y_score` has two columns, {order}, {must}; {hint}")


def _code_rows(rows: CountedRows, coding: LabelCoding, answers: Answers) -> _Coded:
    """Labels and decisions as codes, and which of them are positive at each place."""
    codes = {name: code_values(rows.answer(name), coding.codes[name]) for name in coding.codes}
    # Without labels, all cases count as negative.
    label = codes.get("y_true", np.zeros(len(rows.rows), dtype=np.int64))
    n_classes, positive = len(coding.classes), Positive({(): (1, 1, inf)})
    if answers.classes is not None:
        labels, decisions = ({*code.tolist()} - {-1} for code in codes.values())
        if min(len(labels), len(decisions)) > 1 and not labels & decisions:
            common = "`y_true` and `y_pred` have no class in common"
            raise InvalidInput(f"{common}; predictions must be of the same classes as labels")
        chosen = _choose_classes(answers.classes, coding.classes)
        positive = {(("class", coding.classes[i]),): (i, i, i + 1) for i in chosen}
    if "y_pred" in codes:
        return _Coded(rows, label, codes["y_pred"], (n_classes, n_classes), positive)
    thresholds, cuts = answers.thresholds or [0.5], answers.thresholds or _UNIT
    levels = range(len(cuts) + 1)
    decision = code_values(rows.answer("level"), dict(enumerate(levels)))
    if not answers.thresholds and {0, levels[-1]} & {*decision.tolist()}:
        raise InvalidInput(
            "`y_score` must be between 0 and 1 for the default threshold of 0.5; for other scores "
            "pass `threshold=`, at or above which they are positive"
        )
    positive = {(("threshold", cut),): (1, bisect_right(cuts, cut), inf) for cut in thresholds}
    if not answers.has_threshold_axis:
        positive = {(): positive.popitem()[1]}
    return _Coded(rows, label, decision, (n_classes, len(levels)), positive)


def _choose_classes(classes: object, labels: tuple[object, ...]) -> Iterable[int]:
    """The indexes of the classes that are audited against the rest."""
    if isinstance(classes, str) and classes == "all":
        return range(len(labels))
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise InvalidInput(argument="classes", must="be a list of classes or 'all'", got=classes)
    known = {str(label): i for i, label in enumerate(labels)}
    if labels == (False, True):
        # On the command line, booleans are in lower case.
        known |= {"false": 0, "true": 1}
    names = [str(plain(label)) for label in classes]
    for name in names:
        if name not in known:
            raise UnknownName.among("class", name, map(str, labels))
    if not names:
        raise InvalidInput(argument="classes", must="name at least one class")
    return dict.fromkeys(known[name] for name in names)


# Cells


def _count_cells(
    tally: Tally, coded: _Coded, answers: Answers, selects: bool, rule: Rule | None
) -> Tally:
    """The tally with its cells, and how many rows were left out."""
    rows, weight = coded.rows, np.ones(len(coded.rows.rows))
    lacks = {"y_true": coded.label < 0, "y_pred": coded.decision < 0}
    for name in ("sample_weight", "cluster"):
        if name in rows.answers:
            lacks[name] = np.array([value is None for value in rows.answer(name)])
    complete, left_out = rows.find_complete(lacks)
    if "sample_weight" in rows.answers:
        weight = _check_weights(rows.answer("sample_weight"))
    complete &= weight > 0
    if not complete.any():
        raise InvalidInput(argument="sample_weight", must="not all be 0")
    used = complete
    if selects:
        lacks["y_true"] = weight == 0
        used = ~np.any([*lacks.values()], axis=0)
    if rule is not None:
        used = np.ones(len(weight), dtype=bool)
    keys = list_keys(compress(rows.keys, used), rule)
    key = rows.index_keys(keys)
    cases, cells, squares = (
        coded.add_up(rows.n * weight**power, used, key, len(keys)) for power in range(3)
    )
    low = high = cases
    if rule is not None:
        subject = "`protect` rounds {} counts"
        check_cost(cases[..., :-1].size, MAX_CELLS, subject, "choose coarser group columns")
        left_out = _round_left_out(cases, rule)
        cases, low, high = _round(cases, rule)
        cells = squares = cases
        if selects:
            # No second rounding of the same cases is published.
            left_out["y_true"] = int(cases[:, -1, :-1].sum())
    arrays = [array[..., :-1] for array in (cells, cases, squares, low, high)]
    has_selections = selects and cases[:, -1, :-1].any()
    is_cut = answers.y_pred is None and len(coded.positive) == 1
    counts = Counts(*(coded.split(array[:, :-1]) for array in arrays))
    total = {"n": float(counts.cases[0].sum()), "weight": float(counts.cells[0].sum())}
    tally = replace(
        tally,
        keys=keys,
        places=tuple(coded.positive),
        counts=counts,
        selections=Counts(*map(coded.split, arrays)) if has_selections else None,
        class_counts=None if answers.classes is None else cases[:, :-1, :-1],
        weighted={} if answers.sample_weight is None else total,
        left_out={name: times for name, times in left_out.items() if times},
        threshold=(answers.thresholds or [0.5])[0] if is_cut else None,
        rule=rule,
    )
    if answers.cluster is not None:
        is_drawn = answers.draw_case is not None
        tally = _add_clusters(tally, coded, complete if is_drawn else used, key, answers)
    return tally


def _round(counts: Floats, rule: Rule) -> Floats:
    """Rounded counts by key, and their bounds; 0 where no key has a case."""
    return np.where(counts.any(axis=0), round_counts(counts, rule), 0.0)


def _round_left_out(cases: Floats, rule: Rule) -> dict[str, int]:
    """How many rows were left out, from numbers of each key that are rounded."""
    lacking = {
        "y_true": cases[:, -1, :-1].sum(axis=1),
        "y_pred": cases[:, :-1, -1].sum(axis=1),
        "y_true and y_pred": cases[:, -1, -1],
    }
    return {name: int(_round(n, rule)[0].sum()) for name, n in lacking.items()}


def _check_weights(weights: list[float | None]) -> Floats:
    """Weights, which must be finite and not negative; 1 for rows without."""
    values = np.array([1.0 if weight is None else weight for weight in weights])
    low, high = _WEIGHTS
    for weight in values[(values != 0) & ~((low <= values) & (values <= high))].tolist():
        must = f"be 0 or between {low:g} and {high:g}"
        raise InvalidInput(argument="sample_weight", must=must, got=weight)
    return values


def _add_clusters(
    tally: Tally, coded: _Coded, used: Bools, key: Integers, answers: Answers
) -> Tally:
    """The tally with its clusters, each of which must lie in one group, or with a case drawn of each."""
    pairs = list(zip(key.tolist(), coded.rows.answer("cluster"), strict=True))
    index = {pair: i for i, pair in enumerate(dict.fromkeys(compress(pairs, used)))}
    counts = coded.add_up(coded.rows.n, used, code_values(pairs, index), len(index))
    cells = [coded.split(array) for array in (counts[:, :-1, :-1], counts[..., :-1])]
    table = ClusterTable(np.array([i for i, _ in index]), *cells)
    parts: dict[Any, list[int]] = {}
    for (_, cluster), i in index.items():
        parts.setdefault(cluster, []).append(i)
    if answers.draw_case is None:
        # A cluster with a known group in only some of its cases belongs to that group.
        known = Counter(cluster for i, cluster in index if tally.keys[i] != (None,))
        several = [cluster for cluster, groups in known.items() if groups > 1]
        if several:
            raise InvalidInput(
                f"each `cluster` must lie in one group; {len(several):,} of {len(parts):,} have cases "
                f"in several, such as {brief(several[0])}; audit them without `cluster=`, or choose "
                "groups that clusters do not leave"
            )
        name = answers.cluster if isinstance(answers.cluster, str) else "cluster"
        return replace(tally, clusters=table, cluster=name)
    drawn = np.zeros((1, len(tally.keys), 4))
    for cluster, part in parts.items():
        ends = np.cumsum(table.counts[0, part])
        position = answers.draw_case(cluster, int(ends[-1]))
        if position is not None:
            i, cell = divmod(int(np.searchsorted(ends, position, side="right")), 4)
            drawn[0, table.key[part[i]], cell] += 1
    return replace(tally, counts=Counts(*[drawn] * 5), selections=None)


# Rows


def _add_rows(tally: Tally, rows: CountedRows, coding: LabelCoding) -> Tally:
    """The tally with every case as a row, of those that lack nothing."""
    columns = {name: rows.answer(name) for name in rows.answers if name != "level"}
    lacks = {}
    for name, values in columns.items():
        codes = coding.codes.get(name, {})
        lacks[name] = np.array([codes.get(value, value) is None for value in values])
    complete, left_out = rows.find_complete(lacks)
    n = rows.n[complete].astype(np.int64)
    subject = "scores of every case and functions take all {} cases"
    check_cost(n.sum(), _MAX_ROWS, subject, "audit a random part of the rows")
    keys = tally.keys or list_keys(compress(rows.keys, complete))
    codes = coding.codes.get("y_true", {})
    columns["positive"] = [codes.get(label) == 1 for label in columns["y_true"]]
    arrays = {
        name: np.repeat(_as_array([*compress(values, complete)]), n)
        for name, values in columns.items()
    }
    table = RowTable(np.repeat(rows.index_keys(keys)[complete], n), arrays)
    return replace(tally, keys=keys, rows=table, left_out=tally.left_out or left_out)


def _as_array(values: Sequence[object]) -> Array:
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
    keys = list_keys(matrices, rule)
    known = {key: matrix.cells for key, matrix in matrices.items()}
    cells = low = high = np.array([[known.get(key, (0, 0, 0, 0)) for key in keys]], float)
    if rule is not None:
        cells, low, high = round_counts(cells, rule)
    rounded = Counts(cells, cells, cells, low, high)
    return Tally(columns=columns, keys=keys, counts=rounded, rule=rule)


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
