"""Several audits of the same cases, one per threshold or class: what they have in common, and their ways out."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import InvalidInput
from ..lazy import pages
from ..records import csv_text, plain_value, spreadsheet_value, write_whole

if TYPE_CHECKING:
    from typing import Self

    from .findings import Finding
    from .result import Audit

__all__ = ["Series", "content_of"]


class Series:
    """Mixin of results that contain one audit per key.

    ``_key`` says what a key is: it names the first column of the rows. ``_audits`` are the audits by key.
    """

    __slots__ = ()
    _key: ClassVar[str]

    @property
    def _audits(self) -> Mapping[Any, Audit]:
        raise NotImplementedError

    @property
    def record(self) -> Mapping[str, Any]:
        """What was audited and how it was read, and the call that makes all audits again."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The audits as plain values that can be written as JSON."""
        raise NotImplementedError

    @staticmethod
    def _named(key: Any) -> str:
        """A key in sentences."""
        return str(key)

    @classmethod
    def _place(cls, key: Any) -> str:
        """Where something holds: in the audit with this key."""
        return f"{cls._key} {cls._named(key)}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all audits, in their order.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.05, 0.3])
        >>> s.findings[0].sentence
        'Every prediction of all 4 cases is positive; unless that is so, check the column or the threshold'
        """
        return tuple(finding for _, finding in self.placed_findings())

    def placed_findings(self) -> Iterator[tuple[str, Finding]]:
        """Each finding, with the words that say in which audit it is.

        Examples
        --------
        >>> from evenhand import audit
        >>> data = {"race": list("AABB"), "label": [0, 1] * 2, "score": [0.1, 0.9, 0.2, 0.4]}
        >>> s = audit(data, y_true="label", y_score="score", groups="race", threshold=[0.05, 0.3])
        >>> next(s.placed_findings())[0]
        'at 0.05'
        """
        return ((self._place(key), finding) for key, a in self._audits.items() for finding in a.findings)

    def changes(self, other: Self) -> list[str]:
        """Say what differs in other audits: data, versions, and verdicts and numbers in each audit.

        Parameters
        ----------
        other : Sweep or ClassAudit
            Later audits, of the same kind.

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
        if not isinstance(other, type(self)):
            raise InvalidInput(f"other must be a {type(self).__name__}; got {other!r}")
        before, after = self._audits, other._audits
        each = {key: a.changes(after[key]) for key, a in before.items() if key in after}
        first = next(iter(each.values()), [])
        everywhere = [change for change in first if len(each) > 1 and all(change in some for some in each.values())]
        found = list(everywhere)
        for key in self._in_order({**before, **after}):
            if key not in after:
                found.append(f"the {self._key} {self._named(key)} is no longer audited")
            elif key not in before:
                found.append(f"the {self._key} {self._named(key)} was not audited before")
            else:
                found += [f"{self._place(key)}: {change}" for change in each[key] if change not in everywhere]
        return found

    @staticmethod
    def _in_order(keys: Mapping[Any, Any]) -> list[Any]:
        return list(keys)

    def to_frame(self, library: str | None = None) -> Any:
        """The rows of all audits as a dataframe, with the threshold or class as the first column.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            As for `Audit.to_frame`.

        Returns
        -------
        dataframe
            One row per threshold or class, group and metric.

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
            nw.from_native(a.to_frame(library)).select(nw.lit(key).alias(self._key), nw.all())
            for key, a in self._audits.items()
        ]
        return nw.concat(frames, how="vertical").to_native()

    def to_json(self, indent: int | None = 2) -> str:
        """The audits as JSON, which ``from_json`` reads.

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
        """The rows of all audits as CSV, with the threshold or class as the first column.

        Text from the data that a spreadsheet would interpret as a formula is preceded by an apostrophe.

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
        written: list[list[Any]] = []
        for key, a in self._audits.items():
            header, *rows = csv.reader(StringIO(a.to_csv(), newline=""))
            cell = spreadsheet_value(plain_value(key))
            written += [[self._key, *header]] * (not written) + [[cell, *row] for row in rows]
        return csv_text(written)

    def to_text(self, most: int | None = None) -> str:
        """The scores of all groups in all audits as tables of text.

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
        return str(pages().series_text(self, most))

    def to_markdown(self) -> str:
        """The scores of all groups in all audits as Markdown.

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
        return str(pages().series_markdown(self))

    def to_html(self, path: str | Path | None = None) -> str:
        """All audits as one self-contained HTML page (extra ``report``).

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
        page = str(pages().series_page(self))
        if path is not None:
            write_whole(path, page)
        return page

    def __iter__(self) -> Iterator[Audit]:
        return iter(self._audits.values())

    def __len__(self) -> int:
        return len(self._audits)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return str(pages().series_html(self))


def content_of(text: str, schema: str, what: str) -> dict[str, Any]:
    """The JSON object that ``to_json`` wrote, with a list of audits; ``what`` is it in error messages."""
    try:
        content = json.loads(text)
        found = content if content["schema"] == schema and isinstance(content["audits"], list) else {}
    except (ValueError, TypeError, KeyError, RecursionError):
        found = {}
    if not found.get("audits"):
        raise InvalidInput(f"text must be {what} written by to_json()")
    return dict(found)
