"""An audit at several thresholds of a score."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import InvalidInput, UnknownName
from ..lazy import figures
from ..metrics import Metric
from ..metrics import metric as find_metric
from .provenance import recalled
from .repeat import arguments_of
from .result import Audit
from .series import Series, content_of

__all__ = ["SWEEP_SCHEMA", "Sweep"]

SWEEP_SCHEMA = "evenhand.sweep/1"


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Series):
    """One audit per threshold of a score, in ascending order of the thresholds.

    P-values are adjusted within each audit, not over thresholds.

    Attributes
    ----------
    audits : tuple of Audit
        The audits.

    Examples
    --------
    >>> from evenhand import audit
    >>> data = {"race": list("AAAABBBB"), "label": [0, 1] * 4, "score": [0.1, 0.9, 0.6, 0.4, 0.2, 0.7, 0.3, 0.8]}
    >>> s = audit(data, y_true="label", y_score="score", groups="race", metrics="tpr", threshold=[0.3, 0.5])
    >>> s
    <Sweep: 8 cases, 2 groups, thresholds 0.3, 0.5>
    >>> s.at(0.5).rows[0].score
    0.5
    """

    _key: ClassVar[str] = "threshold"
    audits: tuple[Audit, ...]

    @property
    def _audits(self) -> Mapping[float, Audit]:
        return dict(zip(self.thresholds, self.audits, strict=True))

    @classmethod
    def _place(cls, key: float) -> str:
        return f"at {key}"

    @staticmethod
    def _in_order(keys: Mapping[float, Any]) -> list[float]:
        return sorted(keys)

    @property
    def record(self) -> dict[str, Any]:
        """What was audited and how it was read, and the call that makes the audits again.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.record["python"]
        "evenhand.audit(data, y_true='label', y_score='score', groups='race', threshold=[0.3, 0.5])"
        """
        return recalled(self.audits[0].record, threshold=list(self.thresholds))

    def with_records(self, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> Sweep:
        """The same audits with other records.

        Parameters
        ----------
        changed : callable
            Gives the record in place of another.

        Returns
        -------
        Sweep
            The audits with their new records.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.with_records(lambda record: record | {"title": "Loans"}).record["title"]
        'Loans'
        """
        return Sweep(tuple(replace(a, record=changed(a.record)) for a in self.audits))

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds; scores at or above one are positive predictions.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> audit(data, y_true="label", y_score="score", groups="race", threshold=[0.5, 0.3]).thresholds
        (0.3, 0.5)
        """
        return tuple(float(a.record["threshold"]) for a in self.audits)

    def at(self, threshold: float) -> Audit:
        """The audit at one of the thresholds.

        Parameters
        ----------
        threshold : float
            One of `thresholds`.

        Returns
        -------
        Audit
            The audit.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5]).at(0.3).n
        4
        """
        for found, a in zip(self.thresholds, self.audits, strict=True):
            if found == threshold:
                return a
        raise UnknownName.among("threshold of this audit", str(threshold), map(str, self.thresholds))

    def repeat(self, data: Any = None) -> Sweep:
        """Make the audits again with the same settings, in one pass over the data.

        Parameters
        ----------
        data : object, optional
            The data, if they were not a file, or if the file has moved.

        Returns
        -------
        Sweep
            The new audits; `changes` says what differs.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.changes(s.repeat(data))
        []
        """
        from .audits import audit

        given, arguments = arguments_of(self.audits[0].record, data, inspect.signature(audit).parameters)
        again: Sweep = audit(given, **{**arguments, "threshold": list(self.thresholds)})
        return again

    def to_dict(self) -> dict[str, Any]:
        """The audits as plain values that can be written as JSON.

        Returns
        -------
        dict
            Schema, thresholds and audits.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> list(s.to_dict())
        ['schema', 'thresholds', 'audits']
        """
        return {
            "schema": SWEEP_SCHEMA,
            "thresholds": list(self.thresholds),
            "audits": [a.to_dict() for a in self.audits],
        }

    def plot(self, metric: str | Metric | None = None, by: str | None = None, ax: Any = None) -> Any:
        """Plot the scores of the groups of a column along the thresholds, with their intervals (extra ``plots``).

        Parameters
        ----------
        metric : str or Metric, optional
            By default the first metric.
        by : str, optional
            The column or crossing; by default the first.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> ax = s.plot("tpr")
        """
        metrics = self.audits[0].settings["metrics"]
        key = metrics[0] if metric is None else find_metric(metric).key
        if key not in metrics:
            raise UnknownName.among("metric of this audit", key, metrics)
        columns = list(dict.fromkeys(row.by for row in self.audits[0].rows))
        if by is not None and by not in columns:
            raise UnknownName.among("group column of this audit", by, columns)
        return figures().draw_sweep(self, key, by or self.audits[0].settings["groups"][0], ax=ax)

    def __repr__(self) -> str:
        first = self.audits[0]
        groups = len({(row.by, row.group) for row in first.rows})
        shown = ", ".join(f"{threshold:.15g}" for threshold in self.thresholds)
        return f"<Sweep: {first.n:,} cases, {groups} groups, thresholds {shown}>"

    @classmethod
    def from_json(cls, text: str) -> Sweep:
        """Read what `to_json` wrote.

        Parameters
        ----------
        text : str
            The JSON text.

        Returns
        -------
        Sweep
            The audits.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> Sweep.from_json(s.to_json()) == s
        True
        """
        audits = content_of(text, SWEEP_SCHEMA, "audits at several thresholds")["audits"]
        found = cls(tuple(Audit.from_json(json.dumps(a)) for a in audits))
        thresholds = [a.record.get("threshold") for a in found.audits]
        numbers = [t for t in thresholds if isinstance(t, (int, float)) and not isinstance(t, bool)]
        if len(numbers) < len(thresholds) or sorted(set(numbers)) != numbers:
            raise InvalidInput(f"the thresholds of the audits must be numbers in ascending order; got {thresholds}")
        return found
