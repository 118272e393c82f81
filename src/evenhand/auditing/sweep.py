"""An audit at several thresholds of a score."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, UnknownName
from ..lazy import figures, pages
from ..metrics import Metric
from ..metrics import metric as find_metric
from ..records import csv_text, write_whole
from .repeat import arguments_of

if TYPE_CHECKING:
    from .findings import Finding
    from .result import Audit

__all__ = ["SWEEP_SCHEMA", "Sweep"]

SWEEP_SCHEMA = "evenhand.sweep/1"


@dataclass(frozen=True, slots=True, repr=False)
class Sweep:
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

    audits: tuple[Audit, ...]

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

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all audits, in the order of the thresholds.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.05, 0.3])
        >>> s.findings[0].sentence
        'Every prediction of all 4 cases is positive; unless that is so, check the column or the threshold'
        """
        return tuple(finding for a in self.audits for finding in a.findings)

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

    def changes(self, other: Sweep) -> list[str]:
        """Say what differs in other audits: data, versions, and verdicts and numbers at each threshold.

        Parameters
        ----------
        other : Sweep
            Later audits.

        Returns
        -------
        list of str
            One sentence per change.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> columns = {"y_true": "label", "y_score": "score", "groups": "race", "metrics": "tpr"}
        >>> s = audit(data, threshold=[0.3, 0.5], **columns)
        >>> later = audit(data | {"score": [0.1, 0.9, 0.2, 0.6]}, threshold=[0.3, 0.5], **columns)
        >>> s.changes(later)[0]
        'at 0.5: tpr of A (race) has another reference_tp: it was 0 and is 1'
        """
        if not isinstance(other, Sweep):
            raise InvalidInput(f"other must be a Sweep; got {other!r}")
        before, after = (dict(zip(each.thresholds, each.audits, strict=True)) for each in (self, other))
        both = sorted(before.keys() & after.keys())
        each = {t: before[t].changes(after[t]) for t in both}
        first = each[both[0]] if len(both) > 1 else []
        everywhere = [change for change in first if all(change in each[t] for t in both)]
        found = list(everywhere)
        for threshold in sorted(before.keys() | after.keys()):
            if threshold not in after:
                found.append(f"the threshold {threshold} is no longer audited")
            elif threshold not in before:
                found.append(f"the threshold {threshold} was not audited before")
            else:
                found += [f"at {threshold}: {change}" for change in each[threshold] if change not in everywhere]
        return found

    def to_frame(self, library: str | None = None) -> Any:
        """The rows of all audits as a dataframe, with the threshold as the first column.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            As for `Audit.to_frame`.

        Returns
        -------
        dataframe
            One row per threshold, group and metric.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", metrics="tpr", threshold=[0.3, 0.5])
        >>> s.to_frame("pandas")["threshold"].tolist()
        [0.3, 0.3, 0.5, 0.5]
        """
        import narwhals.stable.v2 as nw

        frames = [
            nw.from_native(a.to_frame(library)).select(nw.lit(threshold).alias("threshold"), nw.all())
            for threshold, a in zip(self.thresholds, self.audits, strict=True)
        ]
        return nw.concat(frames, how="vertical").to_native()

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

    def to_json(self, indent: int | None = 2) -> str:
        """The audits as JSON.

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
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.to_json(indent=None)[:30]
        '{"schema": "evenhand.sweep/1",'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """The rows of all audits as CSV, with the threshold as the first column.

        Returns
        -------
        str
            The CSV text, with a header.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.to_csv().splitlines()[1][:9]
        '0.3,race,'
        """
        import csv
        from io import StringIO

        written: list[list[str]] = []
        for threshold, a in zip(self.thresholds, self.audits, strict=True):
            header, *rows = csv.reader(StringIO(a.to_csv(), newline=""))
            written += [["threshold", *header]] * (not written) + [[str(threshold), *row] for row in rows]
        return csv_text(written)

    def to_text(self, most: int | None = None) -> str:
        """The scores of all groups at all thresholds as tables of text.

        Parameters
        ----------
        most : int, optional
            The largest number of groups; all by default.

        Returns
        -------
        str
            The text, one table per metric.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.to_text().splitlines()[0]
        'Audit of 4 cases in 2 groups by race at 2 thresholds'
        """
        return str(pages().sweep_text(self, most))

    def to_markdown(self) -> str:
        """The scores of all groups at all thresholds as Markdown.

        Returns
        -------
        str
            The Markdown text.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.to_markdown().splitlines()[0]
        '# Audit of 4 cases in 2 groups by race at 2 thresholds'
        """
        return str(pages().sweep_markdown(self))

    def to_html(self, path: str | Path | None = None) -> str:
        """The rates of all groups along the thresholds as a self-contained HTML page (extra ``report``).

        Parameters
        ----------
        path : str or Path, optional
            A file to write the page to, whole or not at all.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.3, 0.5])
        >>> s.to_html()[:15]
        '<!doctype html>'
        """
        page = str(pages().sweep_page(self))
        if path is not None:
            write_whole(path, page)
        return page

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

    def __iter__(self) -> Iterator[Audit]:
        return iter(self.audits)

    def __len__(self) -> int:
        return len(self.audits)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        first = self.audits[0]
        groups = len({(row.by, row.group) for row in first.rows})
        shown = ", ".join(f"{threshold:.15g}" for threshold in self.thresholds)
        return f"<Sweep: {first.n:,} cases, {groups} groups, thresholds {shown}>"

    def _repr_html_(self) -> str:
        return str(pages().sweep_html(self))

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
        from .result import Audit

        try:
            content = json.loads(text)
            audits = content["audits"] if content["schema"] == SWEEP_SCHEMA else None
        except (ValueError, TypeError, KeyError, RecursionError):
            audits = None
        if not isinstance(audits, list) or not audits:
            raise InvalidInput("text must be audits at several thresholds written by to_json()")
        found = cls(tuple(Audit.from_json(json.dumps(a)) for a in audits))
        thresholds = [a.record.get("threshold") for a in found.audits]
        numbers = [t for t in thresholds if isinstance(t, (int, float)) and not isinstance(t, bool)]
        if len(numbers) < len(thresholds) or sorted(set(numbers)) != numbers:
            raise InvalidInput(f"the thresholds of the audits must be numbers in ascending order; got {thresholds}")
        return found
