"""The audit of more than two classes: each class against the rest, and averages over classes.

Every class is audited as two classes are, with all others as the negative one. P-values are adjusted over classes as
well as groups: one family holds the comparisons of a metric in all classes, or those of all metrics and classes.
Averages have a family of their own, and MATCH as their test: whether a group is drawn like its reference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from math import isnan
from typing import Any, cast

import numpy as np

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName
from ..multiclass import (
    ClassTables,
    MulticlassConfusion,
    MulticlassMatch,
    Summary,
    Undefined,
    match_each,
    multiclass_tables,
    parsed,
)
from ..progress import progress
from ..tabulate import CountedRows, Tally, tabulate_rows
from .adjust import benjamini_hochberg, holm
from .class_result import AverageRow, ClassAudit, of_one
from .groups import Compared, compared, groupings_of
from .making import Called, audits_together
from .provenance import spelled
from .result import Audit
from .settings import Chosen, Settings

__all__ = ["AVERAGES", "audit_classes", "audited_classes"]

AVERAGES = ("acc", "macro tpr", "macro ppv", "macro f1", "mcc", "kappa")


def audit_classes(
    data: Any = None,
    *,
    y_true: Any,
    y_pred: Any,
    groups: Any,
    classes: Iterable[Hashable] | None = None,
    averages: Sequence[str] = AVERAGES,
    undefined: Undefined = "propagate",
    bins: Mapping[str, Sequence[float]] | None = None,
    rng: int = 0,
    draws: int = 2_000,
    **settings: Any,
) -> ClassAudit:
    """Audit a table of decisions between more than two classes: each class against the rest, and averages.

    Parameters
    ----------
    data, y_true, y_pred, groups, bins
        As for `audit`. Labels and predictions may be of any number of classes.
    classes : iterable of labels or "all", optional
        The classes that are audited against the rest; by default all that occur.
    averages : sequence of str
        Scores of all classes: acc, inacc, balanced_accuracy, mcc or kappa, or any metric of one group after
        ``micro``, ``macro`` or ``weighted``, such as ``"macro f1"``. An empty sequence for none.
    undefined : {"propagate", "omit"}
        If a class has no score in a group, an average is undefined; or it is over the other classes, and its row says
        which these are.
    rng : int
        The seed of the tests that are simulated.
    draws : int
        The number of simulated groups per group. A simulated p-value is at least 2 / (draws + 1) before adjustment, and
        Holm's method multiplies it by up to the number of groups; with hundreds of groups, raise it.
    **settings
        The settings of `audit`, from ``metrics`` to ``author``. With ``family="metric"``, a p-value is adjusted over
        all groups and classes of its metric; with ``family="audit"``, over all groups, classes and metrics. Averages
        are adjusted over groups, and over averages with ``family="audit"``. The reference is never ``"best"`` or a
        ConfusionMatrix.

    Returns
    -------
    ClassAudit
        One audit per class, and the averages. Rows without a label or a prediction are left out and counted.

    Examples
    --------
    >>> data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
    >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", averages=["acc", "macro tpr"])
    >>> [(row.name, row.group, row.score, row.method) for row in a.averages][:2]
    [('acc', 'A', 1.0, 'exact'), ('acc', 'B', 0.5, 'exact')]
    """
    reading = {"y_true": y_true, "y_pred": y_pred, "groups": groups, "bins": bins}
    return audited_classes(data, reading, _settings(settings), classes, averages, undefined, rng, draws)


def audited_classes(
    data: Any,
    reading: Mapping[str, Any],
    how: Settings,
    classes: Iterable[Hashable] | None = None,
    averages: Sequence[str] = AVERAGES,
    undefined: Undefined = "propagate",
    rng: int = 0,
    draws: int = 2_000,
) -> ClassAudit:
    """What `audit_classes` returns; ``reading`` are the arguments that say how the data are read."""
    _check_reference(how)
    for what in ("y_true", "y_pred", "groups"):
        if reading[what] is None:
            raise InvalidInput(f"{what} must be the name of a column or its values; got None")
    if isinstance(averages, str):
        averages = [averages]
    if not isinstance(averages, Iterable):
        raise InvalidInput(f"averages must be a list of scores such as 'macro f1'; got {averages!r}")
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InvalidInput(f"rng must be a non-negative seed; got {rng!r}")
    counted = tabulate_rows(data, **reading)
    tables = multiclass_tables(counted.rows)
    chosen = _chosen(classes, tables.labels)
    summaries = list({s.key: s for s in (parsed(name, tables.labels, undefined) for name in averages)}.values())
    added = {"averages": [s.key for s in summaries], "undefined": undefined, "rng": int(rng), "draws": draws}
    usual = {"averages": list(AVERAGES), "undefined": "propagate", "rng": 0, "draws": 2_000}
    call = dict(reading) | {"classes": "all" if classes is None or isinstance(classes, str) else list(chosen)}
    call |= {name: value for name, value in added.items() if value != usual[name]}
    audits = _audits(chosen, tables, counted, how, ("audit_classes", data, call))
    pairs = _pairs(tables, counted, how)
    record = next(iter(audits.values())).record
    return ClassAudit(
        audits={label: replace(one, record=of_one(one.record, label)) for label, one in audits.items()},
        averages=_averages(summaries, pairs, how, undefined, int(rng), draws),
        labels=tables.labels,
        matrices={(who.by, who.group): cast("Any", who.cm) for who in pairs},
        n=int(sum(cm.n for cm in tables.matrices.values())),
        left_out=tables.left_out,
        settings=how.recorded(labelled=True) | {"groups": list(counted.columns), "classes": list(chosen)} | added,
        record={name: value for name, value in record.items() if name not in ("positive", "negative")},
    )


def _settings(given: Mapping[str, Any]) -> Settings:
    known = {f.name for f in fields(Settings)}
    for name in given:
        if name not in known:
            raise TypeError(f"audit_classes() got an unexpected keyword argument {name!r}")
    return Settings(**given)


def _check_reference(how: Settings) -> None:
    asked = list(how.reference.values()) if isinstance(how.reference, Mapping) else [how.reference]
    for reference in asked:
        if isinstance(reference, ConfusionMatrix) or reference == Chosen.BEST:
            what = "a ConfusionMatrix" if isinstance(reference, ConfusionMatrix) else "'best'"
            raise InvalidInput(
                "the reference of classes must be 'rest', 'all', 'largest' or the name of a group; got "
                f"{what}, which is of two classes"
            )


def _chosen(classes: Any, labels: tuple[Any, ...]) -> tuple[Any, ...]:
    if classes is None or (isinstance(classes, str) and classes == "all"):
        return labels
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise InvalidInput(f"classes must be a list of classes or 'all'; got {classes!r}")
    known = {spelled("classes", label)[0]: label for label in labels}
    known |= {str(label): label for label in labels} | {label: label for label in labels}
    chosen = list(classes)
    for label in chosen:
        if not isinstance(label, Hashable) or label not in known:
            raise UnknownName.among("class", str(label), map(str, labels))
    if not chosen:
        raise InvalidInput("classes must name at least one class")
    return tuple(dict.fromkeys(known[label] for label in chosen))


# Classes against the rest -----------------------------------------------------------------------------------------


def _audits(
    chosen: tuple[Any, ...],
    tables: ClassTables,
    counted: CountedRows,
    how: Settings,
    called: Called,
) -> dict[Any, Audit]:
    """One audit per class, judged together so that p-values are adjusted over all of them."""
    tallies = [_tally(label, tables, counted) for label in chosen]
    return dict(zip(chosen, audits_together(tallies, [how] * len(tallies), called), strict=True))


def _tally(label: Any, tables: ClassTables, counted: CountedRows) -> Tally:
    """The table of one class against the rest."""
    place = tables.labels.index(label)
    others = tuple(other for other in tables.labels if other != label)
    return Tally(
        counted.columns,
        {key: cm.against_rest(label) for key, cm in tables.matrices.items()},
        tables.left_out,
        unlabelled={
            key: ConfusionMatrix(0, 0, predictions[place], sum(predictions) - predictions[place])
            for key, predictions in tables.unlabelled.items()
        },
        positive=dict.fromkeys(("label", "prediction"), (label,)),
        negative=dict.fromkeys(("label", "prediction"), others),
        orders=counted.orders,
        source=counted.source,
        library=counted.library,
    )


# Averages ---------------------------------------------------------------------------------------------------------


def _pairs(tables: ClassTables, counted: CountedRows, how: Settings) -> list[Compared]:
    """Each group and its reference, as matrices of all classes; grouping only adds and subtracts them."""
    cells = cast("dict[tuple[Any, ...], ConfusionMatrix]", tables.matrices)
    tally = Tally(counted.columns, cells, orders=counted.orders)
    crossings = len(counted.columns) if how.crossings == "all" else int(how.crossings)
    return compared(groupings_of(tally, crossings, how.names, cells), how, labelled=True)


def _averages(
    summaries: Sequence[Summary], pairs: Sequence[Compared], how: Settings, undefined: Undefined, rng: int, draws: int
) -> tuple[AverageRow, ...]:
    """The rows, by average and then by group."""
    if not summaries:
        return ()
    seeds = np.random.SeedSequence(rng).generate_state(len(pairs)).tolist()
    scores = [(s.metric, s.average, None) for s in summaries]
    tested: list[list[MulticlassMatch | None]] = []
    for who, seed in progress(list(zip(pairs, seeds, strict=True)), f"testing averages of {len(pairs):,} groups"):
        mine, theirs = cast("Any", who.cm), cast("Any", who.against)
        options: Any = {"undefined": undefined, "mid_p": how.mid_p, "rng": seed, "draws": draws}
        tested.append([*match_each(mine, theirs, scores, **options)] if who.testable else [None] * len(scores))
    rows = [
        _average_row(summary, who, each[i])
        for i, summary in enumerate(summaries)
        for who, each in zip(pairs, tested, strict=True)
    ]
    return _adjusted(rows, [who.only_two for who in pairs] * len(summaries), how)


def _average_row(summary: Summary, who: Compared, test: MulticlassMatch | None) -> AverageRow:
    mine, theirs = (cast("MulticlassConfusion", cm) for cm in (who.cm, who.shown))
    left_out = summary.left_out(mine)
    score, reference_score = (_or_none(summary.values(cm.counts)) for cm in (mine, theirs))
    reason = summary.reason(mine)
    if reason is None and not who.is_reference and who.against.n == 0:
        reason = "the reference has no cases"
    if reason is None and test is not None:
        reason = test.reason
    p = None if test is None or isnan(test.pvalue) else test.pvalue
    simulated = test if p is not None and test is not None and test.method == "simulated" else None
    return AverageRow(
        by=who.by,
        group=who.group,
        n=int(mine.n),
        metric=summary.metric.key,
        average=summary.average,
        score=score,
        reason=reason,
        classes=tuple(label for label in mine.labels if label not in left_out),
        left_out=left_out,
        reference_kind=who.kind,
        reference=who.reference,
        reference_n=int(theirs.n),
        reference_score=reference_score,
        difference=None if score is None or reference_score is None else score - reference_score,
        pvalue=p,
        p_adjusted=p,
        method=test.method if test is not None and p is not None else None,
        draws=simulated.draws if simulated else None,
        seed=simulated.seed if simulated else None,
        standard_error=simulated.standard_error if simulated else 0.0,
    )


def _or_none(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _adjusted(rows: Sequence[AverageRow], only_two: Sequence[bool], how: Settings) -> tuple[AverageRow, ...]:
    """P-values adjusted over groups, or over groups and averages; two groups that are each other's rest count once."""
    if how.adjust == "none":
        return tuple(rows)
    families: dict[str, dict[tuple[str, str, str], list[int]]] = {}
    for i, row in enumerate(rows):
        if row.pvalue is not None:
            whose = (row.name, row.by, "" if only_two[i] else row.group)
            families.setdefault(row.name if how.family == "metric" else "", {}).setdefault(whose, []).append(i)
    adjusted: dict[int, float] = {}
    for comparisons in families.values():
        # The two groups can have different p-values; the larger one is valid for both.
        values = [max(rows[i].pvalue or 0.0 for i in at) for at in comparisons.values()]
        found = (holm if how.adjust == "holm" else benjamini_hochberg)(values)
        adjusted |= {i: p for at, p in zip(comparisons.values(), found, strict=True) for i in at}
    return tuple(replace(row, p_adjusted=adjusted.get(i)) for i, row in enumerate(rows))
