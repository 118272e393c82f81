"""From a table, or from known counts, to one confusion matrix per combination of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, nextafter
from typing import Any, NamedTuple

from ..cells import ConfusionMatrix, is_sequence
from ..errors import InvalidInput, UnknownName
from .columns import check_second_class, count, finite, group_columns
from .frames import Counted
from .tables import brief
from .tally import Key, Tally, ordered, tallied

__all__ = ["CountedRows", "as_counts", "tabulate", "tabulate_each", "tabulate_rows"]

# Without a threshold, scores must lie from 0 to 1, and those from one half are positive.
_UNIT = (0.0, 0.5, nextafter(1.0, inf))


def tabulate(
    data: Any,
    *,
    y_true: Iterable[object] | None,
    y_pred: Iterable[object] | None = None,
    groups: Iterable[object],
    y_score: Iterable[object] | None = None,
    threshold: float | None = None,
    positive: object = None,
    positive_label: object = None,
    positive_prediction: object = None,
    bins: Mapping[str, Sequence[float]] | None = None,
) -> Tally:
    """Count labels against predictions for every combination of groups.

    Parameters
    ----------
    data : dataframe, mapping of columns, path or None
        The table; None if the columns themselves are passed.
    y_true : str or sequence, or None
        The labels: the name of a column of ``data``, or the values. None if there are none.
    y_pred : str or sequence, optional
        The predictions.
    groups : str, list of str, sequence, mapping or dataframe
        One or more columns that say which group a row belongs to.
    y_score : str or sequence, optional
        Scores, in place of ``y_pred``.
    threshold : float, optional
        Scores at or above it are positive predictions; 0.5 by default if all scores are between 0 and 1.
    positive, positive_label, positive_prediction : label or list of labels, optional
        The positive labels, of both columns or of each. By default they are inferred where they are unambiguous.
    bins : mapping of str to sequence of float, optional
        Where to cut group columns that contain numbers.

    Returns
    -------
    Tally
        One matrix per combination, and the number of rows that were left out.

    Examples
    --------
    >>> tally = tabulate(None, y_true=[1, 0, 1], y_pred=[1, 0, 0], groups=["a", "a", "b"])
    >>> tally.cells
    {('a',): ConfusionMatrix(tp=1, fn=0, fp=0, tn=1), ('b',): ConfusionMatrix(tp=0, fn=1, fp=0, tn=0)}
    """
    thresholds = None if threshold is None else [threshold]
    columns: dict[str, Any] = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score}
    labels: dict[str, Any] = {
        "positive": positive,
        "positive_label": positive_label,
        "positive_prediction": positive_prediction,
    }
    return tabulate_each(data, groups=groups, thresholds=thresholds, bins=bins, **columns, **labels)[0]


def tabulate_each(
    data: Any,
    *,
    y_true: Iterable[object] | None,
    y_pred: Iterable[object] | None = None,
    groups: Iterable[object],
    y_score: Iterable[object] | None = None,
    thresholds: Sequence[float] | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    **labels: Any,
) -> list[Tally]:
    """Count labels against the predictions that each of several thresholds gives, in one pass over the data.

    Parameters
    ----------
    data, y_true, y_pred, groups, y_score, bins
        As for `tabulate`.
    thresholds : sequence of float, optional
        Thresholds in place of the default.
    **labels
        The positive labels, as for `tabulate`.

    Returns
    -------
    list of Tally
        One per threshold, in ascending order; a single one for predictions.

    Examples
    --------
    >>> each = tabulate_each(None, y_true=[1, 0], y_score=[0.6, 0.4], groups=["a", "a"], thresholds=[0.3, 0.5])
    >>> [tally.cells[("a",)] for tally in each]
    [ConfusionMatrix(tp=1, fn=0, fp=1, tn=0), ConfusionMatrix(tp=1, fn=0, fp=0, tn=1)]
    """
    if (y_pred is None) == (y_score is None):
        raise InvalidInput(
            f"pass either y_pred (predictions) or y_score (scores); got {'neither' if y_pred is None else 'both'}"
        )
    if thresholds is not None and len(thresholds) == 0:
        raise InvalidInput("threshold must contain at least one number")
    if y_score is None and thresholds is not None:
        raise InvalidInput("threshold is for scores; pass them as y_score, or leave threshold out")
    by = group_columns(groups, data)
    answers = {"y_true": y_true, "y_pred": y_pred, "y_score": y_score}
    columns = [*by.items(), *((title, given) for title, given in answers.items() if given is not None)]
    cuts = {list(by).index(name): places for name, places in _bins(bins, list(by)).items()}
    levels: dict[int, float] = {}
    if y_score is not None:
        chosen = None if thresholds is None else sorted({finite(threshold) for threshold in thresholds})
        levels = {2: 0.5} if chosen is None else dict(enumerate(chosen, start=1))
        cuts[len(columns) - 1] = _UNIT if chosen is None else tuple(chosen)
    counted = count(data, columns, cuts)
    if cuts.get(len(columns) - 1) is _UNIT and any(row[-1] in (0, len(_UNIT)) for row in counted.rows):
        raise InvalidInput(
            "y_score must be between 0 and 1 for the default threshold of 0.5; for other scores pass threshold=, at or "
            "above which they are positive"
        )
    bins_of = {name: _bin_names(cuts[i]) for i, name in enumerate(by) if i in cuts}
    counted = _with_bin_names(counted, by, bins_of)
    orders = {name: counted.orders[i] for i, name in enumerate(by) if i in counted.orders} | bins_of
    labelled = y_true is not None
    tallies = tallied(counted, tuple(by), labelled=labelled, levels=levels, positive=labels, orders=orders)
    if "score_column" in counted.source and labelled:
        check_second_class({row[len(by)] for row in counted.rows}, tallies[0].positive["label"])
    return tallies


class CountedRows(NamedTuple):
    """Rows of group values, label and prediction, as they are in the data.

    Attributes
    ----------
    columns : tuple of str
        The names of the group columns.
    rows : dict of tuple to int
        How often each combination of group values, label and prediction occurs.
    orders : dict of str to tuple
        The values of group columns that have an order of their own, such as bins.
    source : dict
        Where the rows come from.
    library : str or None
        The dataframe library of the data.
    """

    columns: tuple[str, ...]
    rows: dict[Key, int]
    orders: dict[str, tuple[Any, ...]]
    source: dict[str, Any]
    library: str | None


def tabulate_rows(
    data: Any,
    *,
    y_true: Iterable[object],
    y_pred: Iterable[object],
    groups: Iterable[object],
    bins: Mapping[str, Sequence[float]] | None = None,
) -> CountedRows:
    """Count labels against predictions of any number of classes for every combination of groups.

    Parameters
    ----------
    data, y_true, y_pred, groups, bins
        As for `tabulate`.

    Returns
    -------
    CountedRows
        The rows in an order that does not depend on that of the data.

    Examples
    --------
    >>> tabulate_rows(None, y_true=["x", "y", "x"], y_pred=["z", "y", "z"], groups=["a", "b", "a"]).rows
    {('a', 'x', 'z'): 2, ('b', 'y', 'y'): 1}
    """
    by = group_columns(groups, data)
    cuts = {list(by).index(name): places for name, places in _bins(bins, list(by)).items()}
    counted = count(data, [*by.items(), ("y_true", y_true), ("y_pred", y_pred)], cuts)
    bins_of = {name: _bin_names(cuts[i]) for i, name in enumerate(by) if i in cuts}
    counted = _with_bin_names(counted, by, bins_of)
    orders = {name: counted.orders[i] for i, name in enumerate(by) if i in counted.orders} | bins_of
    return CountedRows(
        tuple(by),
        {row: counted.rows[row] for row in ordered(counted.rows)},
        {name: tuple(values) for name, values in orders.items()},
        counted.source | {"rows": counted.rows.total()},
        counted.library,
    )


def _bins(bins: Mapping[str, Sequence[float]] | None, by: list[str]) -> dict[str, tuple[float, ...]]:
    """Where to cut group columns, in ascending order."""
    found: dict[str, tuple[float, ...]] = {}
    if bins is not None and not isinstance(bins, Mapping):
        raise InvalidInput(f"bins must map group columns to the numbers at which to cut them; got {brief(bins)}")
    for name, places in (bins or {}).items():
        if name not in by:
            raise UnknownName.among("group column to cut into bins", name, by)
        given = [places] if isinstance(places, (int, float)) else places
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidInput(f"bins of {name!r} must be numbers; got {brief(places)}")
        found[name] = tuple(sorted({finite(place, f"bins of {name!r}") for place in given}))
        if not found[name]:
            raise InvalidInput(f"bins of {name!r} must contain at least one number")
    return found


def _bin_names(cuts: Sequence[float]) -> list[str]:
    """The names of bins by level."""
    between = [f"{low:.15g} to below {high:.15g}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]:.15g}", *between, f"{cuts[-1]:.15g} and above"]


def _with_bin_names(counted: Counted, by: Iterable[str], orders: Mapping[str, list[str]]) -> Counted:
    """The rows with bins called by their names."""
    if not orders:
        return counted
    names = [orders.get(name) for name in by]
    rows: Counter[Key] = Counter()
    for row, n in counted.rows.items():
        groups = [
            value if known is None or value is None else known[value] for known, value in zip(names, row, strict=False)
        ]
        rows[(*groups, *row[len(names) :])] += n
    return counted._replace(rows=rows)


def as_counts(counts: Mapping[Any, Any], by: str | Sequence[str]) -> Tally:
    """Check confusion matrices that are already known, per group.

    Parameters
    ----------
    counts : mapping of group to ConfusionMatrix, or to tp, fn, fp, tn
        Whole counts per group. If there are several group columns, a group is the tuple of its values.
    by : str or sequence of str
        The names of the group columns.

    Returns
    -------
    Tally
        The matrices by tuple of values.

    Examples
    --------
    >>> as_counts({"A": (1, 2, 3, 4)}, by="race").cells
    {('A',): ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)}
    """
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput(f"counts must map groups to confusion matrices; got {brief(counts)}")
    columns = (by,) if isinstance(by, str) else tuple(by) if is_sequence(by) else ()
    if not columns or not all(isinstance(name, str) for name in columns):
        raise InvalidInput(f"by must be the name of a group column, or several; got {brief(by)}")
    cells: dict[Key, ConfusionMatrix] = {}
    for group, given in counts.items():
        key = group if isinstance(group, tuple) and not isinstance(by, str) else (group,)
        if len(key) != len(columns):
            raise InvalidInput(
                f"group {group!r} must have one value per column ({', '.join(columns)}); got {len(key)} "
                f"value{'s' * (len(key) != 1)}"
            )
        cells[key] = _matrix(group, given)
    return Tally(columns, {key: cells[key] for key in ordered(cells)})


def _matrix(group: object, given: Any) -> ConfusionMatrix:
    try:
        if isinstance(given, Mapping):
            cm = ConfusionMatrix(**{str(name).casefold(): value for name, value in given.items()})
        else:
            cm = given if isinstance(given, ConfusionMatrix) else ConfusionMatrix(*given)
    except TypeError:
        raise InvalidInput(f"group {group!r} must have tp, fn, fp and tn; got {brief(given)}") from None
    if not cm.is_whole:
        raise InvalidInput(f"group {group!r} must have whole counts; got {cm!r}")
    return cm
