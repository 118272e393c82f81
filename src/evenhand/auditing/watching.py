"""Watching a system: alarms that stay rare however often one looks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import exp, isfinite, isnan, log
from typing import Any

import numpy as np

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, brief, printable
from ..inference import Evidence, counts_of
from ..metrics import Metric
from ..records import Record
from ..tabulate import Answers, Tally, as_counts, counts_frame, group_columns, tabulated, total
from ..text_layout import text_table, wrapped
from ..wording import number, percent, several
from .asked import asked_metrics
from .comparisons import groupings_of
from .settings import METRICS, WITHOUT_LABELS, Settings

__all__ = ["Watch", "WatchRow"]

SCHEMA = "evenhand.watch/1"
_COLUMNS = ("y_true", "y_pred", "y_score", "threshold", "groups", "count", "bins")
_POSITIVE = ("positive", "positive_label", "positive_prediction")
_MOST_BATCHES = 100_000
_NAMED, _WIDTH = 6, 80
Counts = dict[str, dict[str, tuple[int, int, int, int]]]
"""Cells by column and group."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WatchRow(Record):
    """What all batches so far say of one group and metric.

    Attributes
    ----------
    by, group, metric, reference : str
        The column, the group, the metric, and what the group is compared with.
    cases : int
        How many cases of the group the score rests on.
    score, versus : float or None
        The score of the group, and of its reference, over all batches; None if undefined.
    evidence : float
        How much the batches speak against equal rates in every batch: 1 to begin with, and 20 or more with a
        probability of at most 5 % at any look, if the rates are equal.
    joint : float
        The evidence that holds for all groups and metrics together, by which alarms are raised.
    alarm : str or None
        The batch at which an alarm was first raised.
    odds_low, odds_high : float or None
        A confidence sequence of the odds ratio, if that is the same in all batches; None for no end.
    batches, undefined : int
        How many batches had cases of the group, and in how many of these the score was undefined.

    Examples
    --------
    >>> watch = Watch(metrics="tpr")
    >>> watch.add_counts({"A": (1, 9, 0, 0), "B": (80, 20, 0, 0)}, at="week 1")
    True
    >>> print(watch.rows[0])
    A, tpr 0.100 v 0.800: evidence 178, alarm at week 1
    """

    by: str
    group: str
    metric: str
    reference: str
    cases: int
    score: float | None
    versus: float | None
    evidence: float
    joint: float
    alarm: str | None
    odds_low: float | None
    odds_high: float | None
    batches: int
    undefined: int

    def __str__(self) -> str:
        scores = f"{number(self.score)} v {number(self.versus)}"
        alarm = "no alarm" if self.alarm is None else f"alarm at {self.alarm}"
        return printable(f"{self.group}, {self.metric} {scores}: evidence {_short(self.joint)}, {alarm}")


class Watch:
    """Alarms for batches of decisions that are looked at one after the other.

    Whether a group's rate differs from the reference's is judged after every batch, and the probability of any false
    alarm, over all groups, metrics and looks together, is at most ``alpha``: however many batches there are, whatever
    the common rates do over time, and whenever one stops. Sizes of a batch may depend on earlier batches, but not on
    its own outcomes, and every case must be a new one: the same people in every batch are no new evidence. Labels must
    not arrive earlier for some outcomes than for others; add a batch once its labels are complete.

    Parameters
    ----------
    metrics : metric or list of metrics
        Shares, rates and F1; by default those of `audit`. Scores made of several rates have no such evidence.
    reference : "rest", name of a group, or mapping of column to one of these
        What each group is compared with.
    alpha : float
        The probability of any false alarm.

    Examples
    --------
    >>> watch = Watch(metrics=["tpr", "fpr"])
    >>> for week in range(1, 5):
    ...     _ = watch.add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at=f"week {week}")
    >>> [(row.group, row.metric, row.alarm) for row in watch.alarms]
    [('A', 'tpr', 'week 2'), ('B', 'tpr', 'week 2')]
    """

    def __init__(self, *, metrics: Any = None, reference: Any = "rest", alpha: float = 0.05) -> None:
        self._settings = Settings(metrics=metrics, alpha=alpha, crossings=1)
        named = reference.values() if isinstance(reference, Mapping) else [reference]
        for one in named:
            if not isinstance(one, str) or one in ("all", "largest", "best"):
                raise InvalidInput(
                    argument="reference", must="be 'rest' or the name of a group, which no outcome chooses", got=one
                )
        self._reference = dict(reference) if isinstance(reference, Mapping) else reference
        self._metrics: list[Metric] | None = None if metrics is None else _watched(self._settings, labelled=True)
        self._how: dict[str, Any] = {}
        self._positive: dict[str, list[Any]] = {}
        self._batches: dict[str, Counts] = {}
        self._evidence = Evidence()
        self._alarms: dict[Any, str] = {}
        self._seen: dict[Any, list[int]] = {}

    @property
    def batches(self) -> tuple[str, ...]:
        """The batches that were added, in order."""
        return tuple(self._batches)

    def add(
        self,
        data: Any = None,
        *,
        at: Any,
        y_true: Any = None,
        y_pred: Any = None,
        groups: Any = None,
        y_score: Any = None,
        threshold: float | None = None,
        positive: Any = None,
        positive_label: Any = None,
        positive_prediction: Any = None,
        count: Any = None,
        bins: Mapping[str, Sequence[float]] | None = None,
    ) -> bool:
        """Add a batch of decisions: a table as for `audit`, whose columns are fixed by the first batch.

        Parameters
        ----------
        data : dataframe, path, mapping of columns or None
            The batch.
        at : str, number or date
            What the batch is called, such as its week.
        y_true, y_pred, groups, y_score, threshold, positive, positive_label, positive_prediction, count, bins
            As for `audit`. They need to be given with the first batch only, if they are names.

        Returns
        -------
        bool
            Whether the batch is new; False if the same one was added before, which changes nothing.
        """
        given = {
            "y_true": y_true, "y_pred": y_pred, "groups": groups, "y_score": y_score, "threshold": threshold,
            "positive": positive, "positive_label": positive_label, "positive_prediction": positive_prediction,
            "count": count, "bins": bins,
        }  # fmt: skip
        how = self._fixed({name: value for name, value in given.items() if value is not None})
        if how.get("groups") is None:
            raise InvalidInput(argument="groups", must="be the name of a group column or its values", got=None)
        if how.get("threshold") is not None and np.ndim(how["threshold"]):
            raise InvalidInput(argument="threshold", must="be one number; a watch has one threshold", got=threshold)
        labels = {name: how.get(name) for name in _POSITIVE}
        if self._positive:
            labels = {"positive": None} | {f"positive_{what}": values for what, values in self._positive.items()}
        answers = Answers(
            **{name: how.get(name) for name in ("y_true", "y_pred", "y_score", "threshold", "count")}, positive=labels
        )
        tally = tabulated(data, group_columns(how["groups"], data), answers, {"cells"}, bins=how.get("bins"))
        metrics = self._metrics or _watched(self._settings, labelled=tally.labelled)
        new = self._take(at, _counts(tally), metrics)
        if not self._how:
            self._how = {name: value for name, value in how.items() if name not in _POSITIVE}
            self._positive = {what: list(values) for what, values in tally.positive.items() if values}
        return new

    def add_counts(self, counts: Any, *, at: Any, by: str | Sequence[str] = "group") -> bool:
        """Add a batch of confusion matrices by group, as for `audit_counts`.

        Parameters
        ----------
        counts : mapping of group to ConfusionMatrix or to tp, fn, fp, tn; or dataframe
            The matrices of the batch.
        at : str, number or date
            What the batch is called.
        by : str or sequence of str
            The names of the group columns.

        Returns
        -------
        bool
            Whether the batch is new.
        """
        if not isinstance(counts, Mapping) and hasattr(type(counts), "columns"):
            by, counts = counts_frame(counts)
        metrics = self._metrics or _watched(self._settings, labelled=True)
        return self._take(at, _counts(as_counts(counts, by)), metrics)

    def _fixed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """How a batch is read: as the first one, if that is known."""
        if not self._how:
            return dict(given)
        for name, value in given.items():
            kept = self._how.get(name)
            if name in _COLUMNS and _plain(kept) is not None and _plain(value) != _plain(kept):
                raise InvalidInput(f"`{name}` was {brief(kept)} in the first batch and must stay; got {brief(value)}")
        return self._how | {name: value for name, value in given.items() if name not in _POSITIVE}

    def _take(self, at: Any, counts: Counts, metrics: list[Metric]) -> bool:
        name = str(at).strip()
        if not name:
            raise InvalidInput(argument="at", must="say which batch it is", got=at)
        if name in self._batches:
            if self._batches[name] == counts:
                return False
            raise InvalidInput(
                f"the batch {brief(name)} was added with other counts; what was counted cannot be changed, since "
                "labels that arrive late may depend on outcomes: add a batch once its labels are complete, or watch "
                "selection rates meanwhile"
            )
        if self._batches and set(counts) != set(first := next(iter(self._batches.values()))):
            raise InvalidInput(f"a batch must have the group columns of the first ({', '.join(first)})")
        if len(self._batches) >= _MOST_BATCHES:
            raise InvalidInput(f"a watch takes at most {_MOST_BATCHES:,} batches; begin another")
        new = self._compared(counts, metrics)
        self._metrics = metrics
        self._batches[name] = counts
        if new:
            self._evidence.add(new)
        for key, value in self._evidence.joint().items():
            if value >= 1 / self._settings.alpha:
                self._alarms.setdefault(key, name)
        return True

    def _compared(self, counts: Counts, metrics: Iterable[Metric]) -> dict[Any, tuple[float, float, float, float]]:
        """The counts of each comparison of a batch."""
        found: dict[Any, tuple[float, float, float, float]] = {}
        for by, groups in counts.items():
            reference = self._reference_of(by)
            everybody = total(ConfusionMatrix(*cells) for cells in groups.values())
            for group, cells in groups.items():
                own = ConfusionMatrix(*cells)
                if group == reference:
                    continue
                theirs = everybody - own if reference == "rest" else groups.get(reference, (0, 0, 0, 0))
                against = theirs if isinstance(theirs, ConfusionMatrix) else ConfusionMatrix(*theirs)
                for m in metrics:
                    pair = (np.array([part.cells], dtype=np.float64) for part in (own, against))
                    (a, of_a), (b, of_b) = (
                        (float(x[0]), float(n[0])) for x, n in (counts_of(m.base, one) for one in pair)
                    )
                    key = (by, group, m.key)
                    found[key] = a, of_a, b, of_b
                    seen = self._seen.setdefault(key, [0, 0, 0, 0, 0, 0])
                    for i, value in enumerate((a, of_a, b, of_b, 1, of_a == 0 or of_b == 0)):
                        seen[i] += int(value)
        return found

    def _reference_of(self, by: str) -> str:
        if isinstance(self._reference, dict):
            return str(self._reference.get(by, "rest"))
        return str(self._reference)

    @property
    def rows(self) -> tuple[WatchRow, ...]:
        """Every group and metric, alarms and the most evidence first."""
        joint = self._evidence.joint() if self._evidence.processes else {}
        known = {m.key: m.base for m in self._metrics or ()}
        rows = []
        for key, process in self._evidence.processes.items():
            by, group, metric = key
            a, of_a, b, of_b, batches, undefined = self._seen[key]
            ends = [exp(end) if isfinite(end) else None for end in process.log_odds(self._settings.alpha)]
            scores = [_score(known[metric], x, n) for x, n in ((a, of_a), (b, of_b))]
            rows.append(
                WatchRow(
                    by=by,
                    group=group,
                    metric=metric,
                    reference=self._reference_of(by),
                    cases=of_a,
                    score=scores[0],
                    versus=scores[1],
                    evidence=process.value,
                    joint=float(joint[key]),
                    alarm=self._alarms.get(key),
                    odds_low=ends[0],
                    odds_high=ends[1],
                    batches=batches,
                    undefined=undefined,
                )
            )
        order = {name: i for i, name in enumerate(self._batches)}
        # Two groups that are each other's rest have the same evidence up to rounding.
        return tuple(
            sorted(rows, key=lambda r: (r.alarm is None, order.get(r.alarm or "", 0), -round(log(r.joint), 9), r.group))
        )

    @property
    def alarms(self) -> tuple[WatchRow, ...]:
        """The rows with an alarm, in the order in which they were raised."""
        return tuple(row for row in self.rows if row.alarm is not None)

    def __str__(self) -> str:
        alpha, rows = self._settings.alpha, self.rows
        lines = [f"{several(len(self._batches), 'batch', 'batches')}, {several(len(self.alarms), 'alarm')}"]
        if rows:
            heads = ["group", "metric", "cases", "score", "versus", "odds ratio", "evidence", "alarm"]
            cells = [
                [r.group, r.metric, f"{r.cases:,}", number(r.score), number(r.versus), _span(r), _short(r.joint),
                 r.alarm or "-"]
                for r in rows
            ]  # fmt: skip
            lines += [printable(text_table(heads, cells, right=[2, 3, 4, 6]), keep="\n")]
        lines += wrapped(
            f"An alarm is raised at an evidence of {1 / alpha:g}, over all groups and metrics together. If no rates "
            f"differ, at most {percent(alpha)} of watches ever raise one, however often one looks. Every case is taken "
            f"as a new and independent one. Odds ratio: if it is the same in all batches, its {percent(1 - alpha)} "
            "interval holds at every look.",
            _WIDTH,
        )
        silent = [row for row in rows if row.undefined]
        if silent:
            each = "; ".join(f"{r.group} {r.metric} in {r.undefined:,} of {r.batches:,}" for r in silent[:_NAMED])
            more = f"; and {len(silent) - _NAMED:,} more" if len(silent) > _NAMED else ""
            lines += wrapped(printable(f"Batches without a score: {each}{more}."), _WIDTH)
        return "\n".join(lines)

    def __repr__(self) -> str:
        batches = several(len(self._batches), "batch", "batches")
        compared = several(len(self._evidence.processes), "comparison")
        return f"<Watch: {batches}, {compared}, {several(len(self._alarms), 'alarm')}>"

    @property
    def settings(self) -> dict[str, Any]:
        """What is fixed by the first batch: metrics, reference and alpha."""
        keys = None if self._metrics is None else [m.key for m in self._metrics]
        return {"metrics": keys, "reference": self._reference, "alpha": self._settings.alpha}

    def to_json(self) -> str:
        """The state as JSON: settings, and the counts of every batch, never rows; `from_json` reads it."""
        kept = {
            "schema": SCHEMA,
            **self.settings,
            "read": {name: _plain(value) for name, value in self._how.items()},
            "positive": self._positive,
            "batches": [{"at": at, "counts": counts} for at, counts in self._batches.items()],
        }
        return json.dumps(kept | {"digest": _digest(kept)}, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Watch:
        """The watch whose state `to_json` gave; one that was damaged or edited is refused.

        Parameters
        ----------
        text : str
            The state.

        Returns
        -------
        Watch
            The watch, with all of its alarms.

        Examples
        --------
        >>> watch = Watch(metrics="tpr")
        >>> _ = watch.add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> Watch.from_json(watch.to_json()).rows == watch.rows
        True
        """
        try:
            state = json.loads(text)
            kept = {name: value for name, value in state.items() if name != "digest"}
            if state["schema"] != SCHEMA or state["digest"] != _digest(kept):
                raise InvalidInput("the state of the watch was damaged or edited; its counts cannot be trusted")
            watch = cls(metrics=state["metrics"], reference=state["reference"], alpha=state["alpha"])
            watch._how, watch._positive = state["read"], state["positive"]
            for batch in state["batches"]:
                counts = {
                    by: {group: _cells(cells) for group, cells in groups.items()}
                    for by, groups in batch["counts"].items()
                }
                watch._take(batch["at"], counts, watch._metrics or [])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("this is no state of a watch; pass what `Watch.to_json` gave") from None
        return watch


def _watched(settings: Settings, labelled: bool) -> list[Metric]:
    """The metrics that are watched."""
    asked = settings.metrics if settings.metrics is not None else (METRICS if labelled else ("ppr",))
    found = asked_metrics(Settings(metrics=asked), labelled=labelled)
    for m in found:
        if not isinstance(m, Metric) or m.comparisons or m.base.curve is None:
            raise InvalidInput(
                f"{m.key} cannot be watched: evidence over batches is known of shares, rates and F1 only; watch the "
                "rates that it is made of"
            )
        if not labelled and m.key not in WITHOUT_LABELS:
            raise InvalidInput(f"{m.key} needs labels (`y_true`); without them only ppr and pnr can be watched")
    return [m for m in found if isinstance(m, Metric)]


def _counts(tally: Tally) -> Counts:
    """The cells of every group of every column."""
    return {
        grouping.name: {group: _cells(part.cells) for group, part in grouping.members.items()}
        for grouping in groupings_of(tally, Settings(crossings=1, max_groups=10_000))
    }


def _cells(cells: Iterable[float]) -> tuple[int, int, int, int]:
    tp, fn, fp, tn = (int(cell) for cell in cells)
    return tp, fn, fp, tn


def _score(m: Any, count: int, size: int) -> float | None:
    score = float(np.asarray(m.curve.score(np.array(count / size)))) if size else float("nan")
    return None if isnan(score) else score


def _plain(value: Any) -> Any:
    """A setting as the state can keep it; None for values of columns."""
    if (
        isinstance(value, (list, tuple))
        and all(isinstance(one, (str, int, float)) for one in value)
        and len(value) < 100
    ):
        return list(value)
    if isinstance(value, Mapping) and all(isinstance(cuts, (list, tuple, int, float)) for cuts in value.values()):
        return {str(by): list(cuts) if isinstance(cuts, (list, tuple)) else cuts for by, cuts in value.items()}
    return value if isinstance(value, (str, int, float)) else None


def _digest(state: Mapping[str, Any]) -> str:
    return sha256(json.dumps(state, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def _short(evidence: float) -> str:
    return f"{evidence:.3g}"


def _span(row: WatchRow) -> str:
    low = "0" if row.odds_low is None else number(row.odds_low)
    return f"{low} to {'∞' if row.odds_high is None else number(row.odds_high)}"
