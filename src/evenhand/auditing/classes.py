"""The audit of more than two classes: each class against the rest, and averages over classes.

Every class is audited as two classes are, with all others as the negative one. P-values are adjusted over classes as
well as groups: one family holds the comparisons of a metric in all classes, or those of all metrics and classes.
Averages have a family of their own, and MATCH as their test: whether a group is drawn like its reference.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isnan
from typing import Any, Literal, cast

import numpy as np

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName, printable
from ..lazy import notebook
from ..multiclass import (
    Average,
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
from ..records import Record, plain_value
from ..tabulate import CountedRows, Tally, tabulate_rows
from .adjust import benjamini_hochberg, holm
from .audits import audits_together
from .findings import Finding, number, pvalue, several
from .groups import Compared, compared, groupings_of
from .result import Audit
from .settings import Chosen, ReferenceKind, Settings

__all__ = ["AVERAGES", "CLASSES_SCHEMA", "AverageRow", "ClassAudit", "audit_classes"]

CLASSES_SCHEMA = "evenhand.classes/1"
AVERAGES = ("acc", "macro tpr", "macro ppv", "macro f1", "mcc", "kappa")

_MOST_FINDINGS = 4
_MOST_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AverageRow(Record):
    """A score of all classes of one group, beside that of its reference.

    Attributes
    ----------
    by, group, n
        The column, the group, and its number of cases.
    metric, average : str
        The key of the metric, and the average over classes; None for a score of all classes at once.
    score : float or None
        The group's score; None if it is undefined.
    reason : str or None
        Why it is undefined, or why it is not tested.
    classes : tuple
        The classes that the score is made of.
    left_out : dict of label to str
        The classes that it leaves out, and why.
    reference_kind, reference, reference_n, reference_score
        What the group is compared with.
    difference : float or None
        The group's score minus the reference's. It has no interval.
    pvalue, p_adjusted : float or None
        The p-value of the MATCH test, whether the group is drawn like the reference, before and after adjustment.
    method : {"exact", "simulated"} or None
        How the p-value was computed; None if there is no test.
    draws, seed, standard_error
        The simulation: the number of simulated groups, the seed that repeats it, and the standard error of the
        p-value; None, None and 0 if it is exact.

    Examples
    --------
    >>> data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
    >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", averages=["acc"])
    >>> print(a.averages[0])
    race A, acc 1.000, reference 0.500: MATCH p = 0.429, adjusted p = 0.429 (exact)
    """

    by: str
    group: str
    n: int
    metric: str
    average: Average | None
    score: float | None
    reason: str | None
    classes: tuple[Any, ...]
    left_out: dict[Any, str]
    reference_kind: ReferenceKind
    reference: str
    reference_n: int
    reference_score: float | None
    difference: float | None
    pvalue: float | None
    p_adjusted: float | None
    method: Literal["exact", "simulated"] | None
    draws: int | None
    seed: int | None
    standard_error: float

    @property
    def name(self) -> str:
        """The score, such as ``macro f1``.

        Examples
        --------
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> audit_classes(data, y_true="y", y_pred="p", groups="race", averages=["macro f1"]).averages[0].name
        'macro f1'
        """
        return f"{self.average} {self.metric}" if self.average else self.metric

    def __str__(self) -> str:
        score = "undefined" if self.score is None else number(self.score)
        text = f"{self.by} {self.group}, {self.name} {score}"
        if self.reference_score is not None:
            text += f", reference {number(self.reference_score)}"
        if self.pvalue is None:
            return printable(f"{text}: {self.reason}" if self.reason else text)
        how = "exact" if self.method == "exact" else f"simulated, standard error {self.standard_error:.2g}"
        return printable(f"{text}: MATCH p {pvalue(self.pvalue)}, adjusted p {pvalue(self.p_adjusted)} ({how})")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClassAudit:
    """The result of `audit_classes`.

    Attributes
    ----------
    audits : dict of label to Audit
        One audit per class, in which the class is positive and all others are negative. Adjusted p-values are adjusted
        over the audits of all classes.
    averages : tuple of AverageRow
        Scores of all classes at once, by group.
    labels : tuple
        All classes that occur.
    matrices : dict of (str, str) to MulticlassConfusion
        The matrix of each group, by column and group.
    n : int
        The number of cases audited.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    settings : dict
        The settings: those of each audit, and the averages and how they are tested.

    Examples
    --------
    >>> data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
    >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
    >>> a
    <ClassAudit: 8 cases, 3 classes, 2 groups, 0 of 6 scores differ>
    >>> a.audits["x"].rows[0].n
    4
    """

    audits: dict[Any, Audit]
    averages: tuple[AverageRow, ...]
    labels: tuple[Any, ...]
    matrices: dict[tuple[str, str], MulticlassConfusion] = field(repr=False)
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]

    @property
    def findings(self) -> tuple[tuple[Any, Finding], ...]:
        """The findings of all classes, each with its class.

        Examples
        --------
        >>> data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> a.findings[0][0]
        'x'
        """
        return tuple((label, finding) for label, one in self.audits.items() for finding in one.findings)

    def to_frame(self, library: str | None = None) -> Any:
        """The rows of all classes as a dataframe, with the class as the first column.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            As for `Audit.to_frame`.

        Returns
        -------
        dataframe
            One row per class, group and metric.

        Examples
        --------
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> a.to_frame("pandas")["class"].tolist()
        ['x', 'x', 'y', 'y', 'z', 'z']
        """
        import narwhals.stable.v2 as nw

        frames = [
            nw.from_native(one.to_frame(library)).select(nw.lit(label).alias("class"), nw.all())
            for label, one in self.audits.items()
        ]
        return nw.concat(frames, how="vertical").to_native()

    def to_dict(self) -> dict[str, Any]:
        """The audits and averages as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, number of cases, classes, settings, averages, and the audits with their classes.

        Examples
        --------
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> list(a.to_dict())
        ['schema', 'n', 'left_out', 'labels', 'settings', 'averages', 'audits']
        """
        return {
            "schema": CLASSES_SCHEMA,
            "n": self.n,
            "left_out": self.left_out,
            "labels": plain_value(self.labels),
            "settings": plain_value(self.settings),
            "averages": [row.to_dict() for row in self.averages],
            "audits": [{"class": plain_value(label), "audit": one.to_dict()} for label, one in self.audits.items()],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The audits and averages as JSON.

        Parameters
        ----------
        indent : int or None
            Spaces per level; None for a single line.

        Returns
        -------
        str
            The JSON text.

        Examples
        --------
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> a.to_json(indent=None)[:34]
        '{"schema": "evenhand.classes/1", "'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        lines = [self._head(), self._adjustment()]
        for label, one in self.audits.items():
            differ = sum(row.differs for row in one.rows)
            cases = sum(cm.actual[label] for (by, _), cm in self.matrices.items() if by == self._first)
            found = f"{differ} of {several(len(one.rows), 'score')} differ{'s' * (differ == 1)}"
            lines += ["", f"Class {printable(repr(label))}, {several(int(cases), 'case')}: {found}"]
            lines += [f"  {finding}" for finding in one.findings[:_MOST_FINDINGS]]
            if len(one.findings) > _MOST_FINDINGS:
                lines.append(f"  {several(len(one.findings) - _MOST_FINDINGS, 'more finding')} in .audits")
        if self.averages:
            lines += ["", "Scores of all classes; MATCH tests whether a group is drawn like its reference"]
            lines += [f"  {row}" for row in self.averages[:_MOST_ROWS]]
            if len(self.averages) > _MOST_ROWS:
                lines.append(f"  {len(self.averages) - _MOST_ROWS:,} more in .averages")
        return "\n".join(lines)

    @property
    def _first(self) -> str:
        return next(iter(self.matrices))[0]

    def _head(self) -> str:
        groups = several(len(self.matrices), "group")
        which = f"{len(self.audits):,} of {_classes(len(self.labels))}"
        return f"Audit of {several(self.n, 'case')} in {groups}, {which} against the rest"

    def _adjustment(self) -> str:
        how = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method"}.get(self.settings["adjust"])
        if how is None:
            return "P-values are not adjusted"
        over = (
            "the groups and classes of each metric"
            if self.settings["family"] == "metric"
            else "all groups, classes and metrics"
        )
        return f"P-values of classes are adjusted over {over} by {how}; those of averages separately"

    def __repr__(self) -> str:
        rows = [row for one in self.audits.values() for row in one.rows]
        differ = sum(row.differs for row in rows)
        return (
            f"<ClassAudit: {several(self.n, 'case')}, {_classes(len(self.audits))}, "
            f"{several(len(self.matrices), 'group')}, {differ} of {several(len(rows), 'score')} differ>"
        )

    def _repr_html_(self) -> str:
        return str(notebook().as_html(self))


def _classes(n: int) -> str:
    return f"{n:,} class" if n == 1 else f"{n:,} classes"


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
    classes : iterable of labels, optional
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
    how = _settings(settings)
    for what, column in (("y_true", y_true), ("y_pred", y_pred), ("groups", groups)):
        if column is None:
            raise InvalidInput(f"{what} must be the name of a column or its values; got None")
    if isinstance(averages, str):
        averages = [averages]
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InvalidInput(f"rng must be a non-negative seed; got {rng!r}")
    counted = tabulate_rows(data, y_true=y_true, y_pred=y_pred, groups=groups, bins=bins)
    tables = multiclass_tables(counted.rows)
    chosen = _chosen(classes, tables.labels)
    summaries = [parsed(name, tables.labels, undefined) for name in averages]
    reading = {"y_true": y_true, "y_pred": y_pred, "groups": groups, "bins": bins}
    reading["classes"] = None if classes is None else list(chosen)
    added = {"averages": [s.key for s in summaries], "undefined": undefined, "rng": int(rng), "draws": draws}
    usual = {"averages": list(AVERAGES), "undefined": "propagate", "rng": 0, "draws": 2_000}
    reading |= {name: value for name, value in added.items() if value != usual[name]}
    audits = _audits(chosen, tables, counted, how, ("audit_classes", data, reading))
    pairs = _pairs(tables, counted, how)
    return ClassAudit(
        audits=audits,
        averages=_averages(summaries, pairs, how, undefined, int(rng), draws),
        labels=tables.labels,
        matrices={(who.by, who.group): cast("Any", who.cm) for who in pairs},
        n=int(sum(cm.n for cm in tables.matrices.values())),
        left_out=tables.left_out,
        settings=how.recorded(labelled=True) | {"groups": list(counted.columns), "classes": list(chosen)} | added,
    )


def _settings(given: Mapping[str, Any]) -> Settings:
    known = {f.name for f in fields(Settings)}
    for name in given:
        if name not in known:
            raise TypeError(f"audit_classes() got an unexpected keyword argument {name!r}")
    how = Settings(**given)
    asked = list(how.reference.values()) if isinstance(how.reference, Mapping) else [how.reference]
    for reference in asked:
        if isinstance(reference, ConfusionMatrix) or reference == Chosen.BEST:
            what = "a ConfusionMatrix" if isinstance(reference, ConfusionMatrix) else "'best'"
            raise InvalidInput(
                "the reference of classes must be 'rest', 'all', 'largest' or the name of a group; got "
                f"{what}, which is of two classes"
            )
    return how


def _chosen(classes: Any, labels: tuple[Any, ...]) -> tuple[Any, ...]:
    if classes is None:
        return labels
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise InvalidInput(f"classes must be a list of classes; got {classes!r}")
    known = {str(label): label for label in labels} | {label: label for label in labels}
    chosen = list(classes)
    for label in chosen:
        if label not in known:
            raise UnknownName.among("class", label, map(str, labels))
    if not chosen:
        raise InvalidInput("classes must name at least one class")
    return tuple(dict.fromkeys(known[label] for label in chosen))


# Classes against the rest -----------------------------------------------------------------------------------------


def _audits(
    chosen: tuple[Any, ...],
    tables: ClassTables,
    counted: CountedRows,
    how: Settings,
    called: tuple[str, Any, Mapping[str, Any]],
) -> dict[Any, Audit]:
    """One audit per class, judged together so that p-values are adjusted over all of them."""
    tallies = [_tally(label, tables, counted) for label in chosen]
    audits = audits_together(tallies, [how] * len(tallies), called)
    # The command audits two classes; its name for this call would be wrong.
    return {
        label: replace(found, record=found.record | {"class": plain_value(label), "command": None})
        for label, found in zip(chosen, audits, strict=True)
    }


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
