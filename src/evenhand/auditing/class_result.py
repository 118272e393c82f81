"""The result of an audit of more than two classes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, get_args

from ..errors import InvalidInput, UnknownName, printable
from ..metrics import metric as find_metric
from ..multiclass import Average, MulticlassConfusion
from ..records import Record, plain_value
from .findings import number, pvalue, several
from .provenance import check_record
from .repeat import arguments_of, same_value
from .result import Audit
from .row import Row, check_types
from .series import Series, content_of
from .settings import WITHOUT_LABELS, ReferenceKind, Settings

__all__ = ["CLASSES_SCHEMA", "AverageRow", "ClassAudit", "classes_text", "of_one"]

CLASSES_SCHEMA = "evenhand.classes/1"
Method = Literal["exact", "simulated"]


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
    >>> from evenhand import audit_classes
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
    method: Method | None
    draws: int | None
    seed: int | None
    standard_error: float

    @property
    def name(self) -> str:
        """The score, such as ``macro f1``.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> audit_classes(data, y_true="y", y_pred="p", groups="race", averages=["macro f1"]).averages[0].name
        'macro f1'
        """
        return f"{self.average} {self.metric}" if self.average else self.metric

    @classmethod
    def checked(cls, values: Any, what: str, labels: Mapping[str, Any]) -> AverageRow:
        """The row that `to_dict` gave; ``what`` is it in error messages, ``labels`` are the classes by their text."""
        check_types(cls, values, what)
        find_metric(values["metric"])
        for name, known in (("average", Average), ("method", Method)):
            if values[name] is not None and values[name] not in get_args(known):
                raise UnknownName.among(f"{name} of {what}", values[name], get_args(known))
        try:
            left_out = {labels[label]: str(reason) for label, reason in values["left_out"].items()}
            classes = tuple(labels[str(label)] for label in values["classes"])
        except (KeyError, AttributeError, TypeError):
            raise InvalidInput(f"the classes of {what} must be those of the audit") from None
        given = {"left_out": left_out, "classes": classes, "reference_kind": ReferenceKind(values["reference_kind"])}
        return cls(**{**values, **given})

    def differs(self, alpha: float) -> bool:
        """Whether the group is not drawn like its reference, at the level ``alpha`` and after adjustment.

        Parameters
        ----------
        alpha : float
            The level of the test.

        Returns
        -------
        bool
            False also if there is no test.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> audit_classes(data, y_true="y", y_pred="p", groups="race", averages=["acc"]).averages[0].differs(0.05)
        False
        """
        return self.p_adjusted is not None and self.p_adjusted <= alpha

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
class ClassAudit(Series):
    """The result of `audit_classes`, with everything needed to repeat it.

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
    record : dict
        What was audited and how it was read, as for `Audit`.

    Examples
    --------
    >>> from evenhand import audit_classes
    >>> data = {"race": list("AAAABBBB"), "y": list("xyzxxyzz"), "p": list("xyzxzyxz")}
    >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
    >>> a
    <ClassAudit: 8 cases, 3 classes, 2 groups, 0 of 6 scores differ>
    >>> a.audits["x"].rows[0].n
    4
    """

    _key: ClassVar[str] = "class"
    audits: dict[Any, Audit]
    averages: tuple[AverageRow, ...]
    labels: tuple[Any, ...]
    matrices: dict[tuple[str, str], MulticlassConfusion] = field(repr=False)
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]
    record: dict[str, Any] = field(compare=False)

    @property
    def _audits(self) -> Mapping[Any, Audit]:
        return self.audits

    @staticmethod
    def _named(key: Any) -> str:
        return printable(repr(key))

    def with_records(self, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> ClassAudit:
        """The same audits with other records.

        Parameters
        ----------
        changed : callable
            Gives the record in place of another.

        Returns
        -------
        ClassAudit
            The audits with their new records.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> a.with_records(lambda record: record | {"title": "Pets"}).record["title"]
        'Pets'
        """
        return replace(
            self,
            record=changed(self.record),
            audits={
                label: replace(one, record=of_one(changed(one.record), label)) for label, one in self.audits.items()
            },
        )

    def cases(self, label: Any) -> int:
        """The number of cases of a class.

        Parameters
        ----------
        label : object
            One of `labels`.

        Returns
        -------
        int
            How many cases have this label.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200).cases("x")
        2
        """
        first = next(iter(self.matrices))[0]
        return int(sum(cm.actual[label] for (by, _), cm in self.matrices.items() if by == first))

    def repeat(self, data: Any = None) -> ClassAudit:
        """Make the audit again with the same settings.

        Parameters
        ----------
        data : object, optional
            The data, if they were not a file, or if the file has moved.

        Returns
        -------
        ClassAudit
            The new audit; `changes` says what differs.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> a.changes(a.repeat(data))
        []
        """
        from .classes import audit_classes

        allowed = {*inspect.signature(audit_classes).parameters, *(f.name for f in fields(Settings))}
        given, arguments = arguments_of(self.record, data, allowed)
        for name in ("y_true", "y_pred", "groups"):
            if name not in arguments:
                raise InvalidInput(f"the record does not say what {name} was; audit the data again")
        return audit_classes(given, **arguments)

    def changes(self, other: ClassAudit) -> list[str]:
        """Say what differs in another audit: data, versions, verdicts and numbers of each class, and averages.

        Parameters
        ----------
        other : ClassAudit
            A later audit.

        Returns
        -------
        list of str
            One sentence per change.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> columns = {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": "tpr", "averages": ["acc"]}
        >>> a = audit_classes(data, **columns)
        >>> a.changes(audit_classes(data | {"p": list("xyzz")}, **columns))[-1]
        'acc of B (race) has another score: it was 1.0 and is 0.5'
        """
        found = Series.changes(self, other)
        if self.labels != other.labels:
            found.append(f"the classes were {_listed(self.labels)} and are {_listed(other.labels)}")
        for name in ("averages", "undefined", "rng", "draws"):
            was, now = self.settings.get(name), other.settings.get(name)
            if was != now:
                found.append(f"the setting {name} was {was} and is {now}")
        if self.labels == other.labels:
            found += [
                f"the matrix of {group} ({by}) has other cells"
                for (by, group), cm in self.matrices.items()
                if (by, group) in other.matrices and other.matrices[by, group] != cm
            ]
        first, second = ({(row.name, row.group, row.by): row for row in each.averages} for each in (self, other))
        for key in dict.fromkeys((*first, *second)):
            what = "{} of {} ({})".format(*key)
            if key not in second:
                found.append(f"{what} is no longer audited")
            elif key not in first:
                found.append(f"{what} was not audited before")
            else:
                was, now = first[key].to_dict(), second[key].to_dict()
                changed = next((name for name in was if not same_value(was[name], now[name])), None)
                if changed:
                    found.append(f"{what} has another {changed}: it was {was[changed]} and is {now[changed]}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """The audits and averages as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, number of cases, classes, settings, averages, matrices, and the audits with their classes.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> list(a.to_dict())
        ['schema', 'n', 'left_out', 'labels', 'record', 'settings', 'averages', 'matrices', 'audits']
        """
        return {
            "schema": CLASSES_SCHEMA,
            "n": self.n,
            "left_out": self.left_out,
            "labels": plain_value(self.labels),
            "record": plain_value(self.record),
            "settings": plain_value(self.settings),
            "averages": [row.to_dict() for row in self.averages],
            "matrices": [
                {"by": by, "group": group, "counts": cm.counts.tolist()} for (by, group), cm in self.matrices.items()
            ],
            "audits": [{"class": plain_value(label), "audit": one.to_dict()} for label, one in self.audits.items()],
        }

    @classmethod
    def from_json(cls, text: str) -> ClassAudit:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        ClassAudit
            The audit. Classes that are not text, numbers or booleans come back as text.

        Examples
        --------
        >>> from evenhand import audit_classes
        >>> data = {"race": list("AABB"), "y": list("xyzx"), "p": list("xyzx")}
        >>> a = audit_classes(data, y_true="y", y_pred="p", groups="race", metrics="tpr", draws=200)
        >>> ClassAudit.from_json(a.to_json()) == a
        True
        """
        content = content_of(text, CLASSES_SCHEMA, "an audit of classes")
        try:
            return _read(content)
        except InvalidInput:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise InvalidInput(f"text must be an audit of classes written by to_json(): {problem}") from None

    def __repr__(self) -> str:
        rows = [row for one in self for row in one.rows]
        differ = sum(row.differs for row in rows)
        return (
            f"<ClassAudit: {several(self.n, 'case')}, {classes_text(len(self.audits))}, "
            f"{several(len(self.matrices), 'group')}, {differ} of {several(len(rows), 'score')} differ>"
        )


def _read(content: Mapping[str, Any]) -> ClassAudit:
    labels = tuple(content["labels"])
    known = {str(label): label for label in labels}
    audits = {known[str(one["class"])]: Audit.from_json(json.dumps(one["audit"])) for one in content["audits"]}
    rows = enumerate(content["averages"], start=1)
    matrices = {
        (str(one["by"]), str(one["group"])): MulticlassConfusion(one["counts"], labels) for one in content["matrices"]
    }
    for name in ("record", "settings", "left_out"):
        if not isinstance(content[name], dict):
            raise InvalidInput(f"{name} must be a table; got {content[name]!r}")
    check_record(content["record"])
    if len(audits) < len(content["audits"]):
        raise InvalidInput("each class must have one audit")
    for label, one in audits.items():
        cells = {key: cm.against_rest(label).cells for key, cm in matrices.items()}
        if one.n != content["n"] or not all(_has_cells_of(row, cells, one) for row in one.rows):
            raise InvalidInput(f"the audit of the class {label!r} must have the cases of the matrices")
        if one.left_out != content["left_out"]:
            left_out = content["left_out"]
            raise InvalidInput(f"left_out must be that of the audit of the class {label!r}; got {left_out!r}")
        for name, value in one.settings.items():
            if name != "labelled" and (name not in content["settings"] or content["settings"][name] != value):
                raise InvalidInput(f"{name} in settings must be that of the audit of the class {label!r}")
    averages = tuple(AverageRow.checked(row, f"average {i}", known) for i, row in rows)
    for name in {row.name for row in averages}:
        groups = [(row.by, row.group) for row in averages if row.name == name]
        if len(groups) != len(matrices) or set(groups) != matrices.keys():
            raise InvalidInput(f"the average {name} must have the groups of the matrices")
    return ClassAudit(
        audits=audits,
        averages=averages,
        labels=labels,
        matrices=matrices,
        n=content["n"],
        left_out=content["left_out"],
        settings=content["settings"],
        record=content["record"],
    )


def _has_cells_of(row: Row, cells: Mapping[tuple[str, str], tuple[float, ...]], audit: Audit) -> bool:
    """Whether a row has the cells of its matrix; selection rates may also count rows without a label."""
    own = cells.get((row.by, row.group), (0, 0, 0, 0))
    if audit.settings["selection"] == "all" and row.metric in WITHOUT_LABELS:
        return row.n >= sum(own)
    return row.n == sum(own) and (row.tp, row.fn, row.fp, row.tn) == own


def of_one(record: Mapping[str, Any], label: Any) -> dict[str, Any]:
    """The record of one class; no command audits it alone with p-values adjusted over all."""
    return {**record, "class": plain_value(label), "command": None}


def _listed(labels: tuple[Any, ...]) -> str:
    shown = ", ".join(printable(repr(label)) for label in labels[:20])
    return f"{shown}, …" if len(labels) > 20 else shown


def classes_text(n: int) -> str:
    """A number of classes, in words."""
    return f"{n:,} class" if n == 1 else f"{n:,} classes"
