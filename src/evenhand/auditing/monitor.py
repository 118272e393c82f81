"""Monitoring a system: alarms that stay rare however often one looks."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from math import exp, isfinite, isnan, log
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import read_counts, tally_counts
from ..errors import InvalidInput, UnknownName, brief, printable
from ..inference import EProcesses, compared_rates
from ..metrics import Metric
from ..records import Record, plain_value, reach, write_whole
from ..wording import number, several
from .metric_selection import lookup_metric, select_metrics
from .monitor_batches import MOST_CASES, READ, Batch, Counts, LabelCoding, counts_of_groups, digest, read_batch, refused
from .settings import METRICS, WITHOUT_LABELS, Settings

__all__ = ["Monitor", "MonitorRow"]

SCHEMA = "evenhand.monitor/1"
_MOST_BATCHES = 100_000
Key = tuple[str, str, str]
"""A comparison: column, group and metric."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MonitorRow(Record):
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
        probability of at most 5% at any look, if the rates are equal.
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
    >>> monitor = Monitor(metrics="tpr").add_counts({"A": (1, 9, 0, 0), "B": (80, 20, 0, 0)}, at="week 1")
    >>> print(monitor.rows[0])
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
        return printable(f"{self.group}, {self.metric} {scores}: evidence {self.joint:.3g}, {alarm}")


class Monitor:
    """Alarms for batches of decisions that are looked at one after the other.

    Whether a group's rate differs from the reference's is judged after every batch, and the probability of any false
    alarm, over all groups, metrics and looks together, is at most ``alpha``: however many batches there are, whatever
    the common rates do over time, and whenever one stops. Sizes of a batch may depend on earlier batches, but not on
    its own outcomes, and every case must be a new one: the same people in every batch are no new evidence, unless
    ``cluster=`` says who they are, so that each counts once. Labels must not arrive earlier for some outcomes than for
    others; add a batch once its labels are complete.

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
    >>> monitor = Monitor(metrics=["tpr", "fpr"])
    >>> for week in range(1, 5):
    ...     monitor = monitor.add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at=f"week {week}")
    >>> [(row.group, row.metric, row.alarm) for row in monitor.alarms]
    [('A', 'tpr', 'week 2'), ('B', 'tpr', 'week 2')]
    """

    def __init__(self, *, metrics: Any = None, reference: Any = "rest", alpha: float = 0.05, **others: Any) -> None:
        refused(others, "Monitor", ("metrics", "reference", "alpha"))
        self._settings = Settings(metrics=metrics, alpha=alpha, intersections=1)
        named = reference.values() if isinstance(reference, Mapping) else [reference]
        for one in named:
            if not isinstance(one, str) or one in ("all", "largest", "best"):
                raise InvalidInput(
                    argument="reference", must="be 'rest' or the name of a group, which no outcome chooses", got=one
                )
        self._reference = dict(reference) if isinstance(reference, Mapping) else str(reference)
        self._metrics: list[Metric] | None = None if metrics is None else _monitored(self._settings, labelled=True)
        self._reading: LabelCoding | None = None
        self._salt = secrets.token_hex(16)
        self._batches: dict[str, Batch] = {}
        self._evidence = EProcesses()
        self._path: list[NDArray[np.float64]] = []
        self._alarms: dict[Key, str] = {}
        self._seen: dict[Key, list[int]] = {}

    @property
    def batches(self) -> tuple[str, ...]:
        """The batches that were added, in order."""
        return tuple(self._batches)

    @property
    def history(self) -> Mapping[str, Batch]:
        """What is kept of every batch: its counts, and how many cases were left out for which reason."""
        return MappingProxyType(self._batches)

    @property
    def cluster(self) -> str | None:
        """The column of clusters, each of which counts once; None if every case is taken as a new one."""
        if self._reading is None or "cluster" not in self._reading.columns:
            return None
        return str(self._reading.columns["cluster"] or "cluster")

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
        count: Any = None,
        cluster: Any = None,
        bins: Mapping[str, Sequence[float]] | None = None,
        **others: Any,
    ) -> Monitor:
        """The monitor with one more batch of decisions: a table as for `audit`, whose columns the first batch fixes.

        Parameters
        ----------
        data : dataframe, path, mapping of columns or None
            The batch.
        at : str, number or date
            What the batch is called, such as its week.
        y_true, y_pred, groups, y_score, threshold, positive, count, bins
            As for `audit`. They need to be given with the first batch only, if they are names.
        cluster : str or column
            Who or what counts once, such as the person: one case of each is drawn at random, and clusters that an
            earlier batch counted are left out. The state keeps salted hashes of them.

        Returns
        -------
        Monitor
            A new monitor, or this one if the same batch was added before.

        Examples
        --------
        >>> visits = {"person": [1, 1, 2, 3, 4], "region": list("AAABB"), "y": [1, 1, 1, 0, 1], "p": [1, 1, 0, 0, 1]}
        >>> monitor = Monitor(metrics="acc")
        >>> monitor = monitor.add(visits, at="week 1", y_true="y", y_pred="p", groups="region", cluster="person")
        >>> sum(row.cases for row in monitor.rows)
        4
        """
        refused(others, "add", ("data", "at", *READ))
        given = {
            "y_true": y_true, "y_pred": y_pred, "groups": groups, "y_score": y_score, "threshold": threshold,
            "positive": positive, "count": count, "cluster": cluster, "bins": bins,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        name = _named(at)
        if self._reading is None and self._batches and cluster is not None:
            raise InvalidInput(
                "`cluster` must be given with the first batch: nobody knows which clusters that one counted"
            )
        how = given if self._reading is None else self._reading.asked(given, data is not None)
        # A batch that was added before is read as it was then.
        earlier = list(self._batches)[: list(self._batches).index(name)] if name in self._batches else self._batches
        seen = frozenset().union(*(self._batches[one].clusters for one in earlier))
        batch, tally = read_batch(data, how, self._salt, seen)
        monitor = self._with(name, batch, self._metrics or _monitored(self._settings, labelled=tally.labelled))
        if monitor is not self and monitor._reading is None:
            monitor._reading = LabelCoding.of(given, tally, data is not None)
        return monitor

    def add_counts(self, counts: Any, *, at: Any, by: str | Sequence[str] = "group") -> Monitor:
        """The monitor with one more batch, of confusion matrices by group as for `audit_counts`.

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
        Monitor
            A new monitor, or this one if the same batch was added before.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> monitor.add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1") is monitor
        True
        """
        if self.cluster is not None:
            raise InvalidInput(
                f"counts do not name their clusters, and this monitor counts each {self.cluster} once; add the rows"
            )
        if not isinstance(counts, Mapping) and hasattr(type(counts), "columns"):
            by, counts, _ = read_counts(counts)
        metrics = self._metrics or _monitored(self._settings, labelled=True)
        return self._with(_named(at), Batch(counts=counts_of_groups(tally_counts(counts, by))), metrics)

    def _with(self, name: str, batch: Batch, metrics: list[Metric]) -> Monitor:
        """A copy with one more batch; this one if it has the batch."""
        if name in self._batches and self._batches[name].same(batch):
            return self
        monitor = copy(self)
        monitor._batches, monitor._alarms = dict(self._batches), dict(self._alarms)
        monitor._path, monitor._evidence = list(self._path), deepcopy(self._evidence)
        monitor._seen = {key: list(counts) for key, counts in self._seen.items()}
        monitor._take(name, batch, metrics)
        return monitor

    def _take(self, name: str, batch: Batch, metrics: list[Metric]) -> None:
        if name in self._batches:
            raise InvalidInput(
                f"the batch {brief(name)} was added with other counts; what was counted cannot be changed, since "
                "labels that arrive late may depend on outcomes: add a batch once its labels are complete, or monitor "
                "selection rates meanwhile"
            )
        if self._batches and set(batch.counts) != set(first := next(iter(self._batches.values())).counts):
            raise InvalidInput(f"a batch must have the group columns of the first ({', '.join(first)})")
        if len(self._batches) >= _MOST_BATCHES:
            raise InvalidInput(f"a monitor takes at most {_MOST_BATCHES:,} batches; begin another")
        if batch.cases > MOST_CASES:
            raise InvalidInput(f"a batch must have at most {MOST_CASES:,} cases; got {batch.cases:,}")
        compared = self._compared(batch.counts, metrics)
        self._metrics = metrics
        self._batches[name] = batch
        if compared:
            self._evidence.add(compared)
        for key, counts in compared.items():
            a, of_a, b, of_b = counts
            seen = self._seen.setdefault(key, [0, 0, 0, 0, 0, 0])
            for i, value in enumerate((a, of_a, b, of_b, 1, of_a == 0 or of_b == 0)):
                seen[i] += int(value)
        self._path.append(self._evidence.joint_evalues())
        keys = list(self._evidence.rows)
        for place in np.flatnonzero(self._path[-1] >= 1 / self._settings.alpha).tolist():
            self._alarms.setdefault(keys[place], name)

    def _compared(self, counts: Counts, metrics: Iterable[Metric]) -> dict[Key, tuple[float, float, float, float]]:
        """The counts of each comparison of a batch: how many of how many cases of the group and of its reference."""
        found: dict[Key, tuple[float, float, float, float]] = {}
        for by, groups in counts.items():
            reference = self._reference_of(by)
            own = np.array(list(groups.values()), dtype=np.float64).reshape(-1, 4)
            theirs = own.sum(axis=0) - own
            if reference != "rest":
                theirs = np.broadcast_to(np.array(groups.get(reference, (0, 0, 0, 0)), dtype=np.float64), own.shape)
            sizes = {m.key: np.stack(compared_rates(m.base, own, theirs), axis=1) for m in metrics}
            for i, group in enumerate(groups):
                for key, of in sizes.items() if group != reference else ():
                    a, of_a, b, of_b = of[i].tolist()
                    found[by, group, key] = a, of_a, b, of_b
        return found

    def _reference_of(self, by: str) -> str:
        return str(self._reference.get(by, "rest")) if isinstance(self._reference, dict) else self._reference

    @property
    def rows(self) -> tuple[MonitorRow, ...]:
        """Every group and metric, alarms and the most evidence first."""
        known = {m.key: m.base for m in self._metrics or ()}
        rows = []
        for key, place in self._evidence.rows.items():
            by, group, metric = key
            process = self._evidence[key]
            a, of_a, b, of_b, batches, undefined = self._seen[key]
            ends = [exp(end) if isfinite(end) else None for end in process.log_odds_interval(self._settings.alpha)]
            scores = [_score(known[metric], x, n) for x, n in ((a, of_a), (b, of_b))]
            rows.append(
                MonitorRow(
                    by=by,
                    group=group,
                    metric=metric,
                    reference=self._reference_of(by),
                    cases=of_a,
                    score=scores[0],
                    versus=scores[1],
                    evidence=float(process.evalues),
                    joint=float(self._path[-1][place]),
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
    def alarms(self) -> tuple[MonitorRow, ...]:
        """The rows with an alarm, in the order in which they were raised."""
        return tuple(row for row in self.rows if row.alarm is not None)

    def path(self, row: MonitorRow) -> tuple[float | None, ...]:
        """The joint evidence of a row after each batch.

        Parameters
        ----------
        row : MonitorRow
            One of `rows`.

        Returns
        -------
        tuple of float or None
            One number per batch; None before the first batch that had cases of the group.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr")
        >>> for week in (1, 2):
        ...     monitor = monitor.add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at=week)
        >>> [round(value, 1) for value in monitor.path(monitor.rows[0])]
        [9.9, 1057.8]
        """
        place = self._evidence.rows[row.by, row.group, row.metric]
        return tuple(float(values[place]) if place < len(values) else None for values in self._path)

    def to_text(self, most: int | None = None) -> str:
        """The monitor as text for a terminal.

        Parameters
        ----------
        most : int, optional
            The largest number of rows in the table; by default all.

        Returns
        -------
        str
            The text, at most 80 columns wide.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> monitor.to_text().splitlines()[0]
        'Monitor of 1 batch: no alarm'
        """
        return str(reach("Monitor.to_text")(self, most))

    def to_html(self, path: str | Path | None = None) -> str:
        """The monitor as a self-contained HTML page that opens offline (extra ``report``).

        Parameters
        ----------
        path : str or Path, optional
            Where to write the page.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> monitor.to_html()[:15]
        '<!doctype html>'
        """
        page = str(reach("Monitor.to_html")(self))
        if path is not None:
            write_whole(path, page)
        return page

    def plot(self, metric: str | Metric | None = None, by: str | None = None, ax: Any = None) -> Any:
        """Draw the evidence of one metric over batches, a line per group (extra ``plots``).

        Parameters
        ----------
        metric : str or Metric, optional
            The metric; by default that of the first row.
        by : str, optional
            The group column; by default that of the first row.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> ax = monitor.plot()
        """
        rows = self.rows
        if not rows:
            raise InvalidInput("there is nothing to plot; add a batch")
        key = (
            rows[0].metric
            if metric is None
            else metric.key
            if isinstance(metric, Metric)
            else lookup_metric(metric).key
        )
        for what, asked, known in (
            ("metric of this monitor", key, [row.metric for row in rows]),
            ("group column of this monitor", by or rows[0].by, [row.by for row in rows]),
        ):
            if asked not in known:
                raise UnknownName.among(what, asked, dict.fromkeys(known))
        return reach("Monitor.plot")(self, key, by or rows[0].by, ax=ax)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))

    def __repr__(self) -> str:
        batches = several(len(self._batches), "batch", "batches")
        compared = several(len(self._evidence.rows), "comparison")
        return f"<Monitor: {batches}, {compared}, {several(len(self._alarms), 'alarm')}>"

    @property
    def settings(self) -> dict[str, Any]:
        """What the monitor begins with, and no batch can change: metrics, reference and alpha."""
        keys = None if self._metrics is None else [m.key for m in self._metrics]
        return {"metrics": keys, "reference": self._reference, "alpha": self._settings.alpha}

    @property
    def columns(self) -> dict[str, Any]:
        """How batches are read, as the first one fixed it: columns by argument, and positive labels."""
        if self._reading is None:
            return {}
        positive = {"positive": dict(self._reading.positive)} if self._reading.positive else {}
        return {**self._reading.columns, **positive}

    def check(self, other: Monitor, *names: str) -> None:
        """Refuse settings of these names that another monitor has otherwise.

        Parameters
        ----------
        other : Monitor
            The monitor that somebody asks for.
        *names : str
            Of "metrics", "reference" and "alpha" those that were asked for.
        """
        for name in names:
            was, asked = self.settings[name], other.settings[name]
            if was is not None and asked != was:
                raise InvalidInput(f"`{name}` was {was} when the monitor began and must stay; got {asked}")

    def to_json(self) -> str:
        """The state as JSON: settings, counts of batches and hashes of clusters, never rows; `from_json` reads it."""
        reading = self._reading
        kept = {
            "schema": SCHEMA,
            **self.settings,
            "read": {} if reading is None else plain_value(dict(reading.columns)),
            "positive": {} if reading is None else plain_value(dict(reading.positive)),
            **({} if self.cluster is None else {"salt": self._salt}),
            "batches": [{"at": at, **batch.to_dict()} for at, batch in self._batches.items()],
        }
        return json.dumps(kept | {"digest": digest(kept)}, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Monitor:
        """The monitor whose state `to_json` gave; one that was damaged or edited is refused.

        Parameters
        ----------
        text : str
            The state.

        Returns
        -------
        Monitor
            The monitor, with all of its alarms.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> Monitor.from_json(monitor.to_json()).rows == monitor.rows
        True
        """
        try:
            state = json.loads(text)
            kept = {name: value for name, value in state.items() if name != "digest"}
            if state["schema"] != SCHEMA or state["digest"] != digest(kept):
                raise InvalidInput("the state of the monitor was damaged or edited; its counts cannot be trusted")
            monitor = cls(metrics=state["metrics"], reference=state["reference"], alpha=state["alpha"])
            if state["read"]:
                monitor._reading = LabelCoding.from_dict(state["read"], state["positive"])
            monitor._salt = str(state.get("salt", monitor._salt))
            if state["batches"] and monitor._metrics is None:
                raise ValueError
            for batch in state["batches"]:
                monitor._take(_named(batch["at"]), Batch.from_dict(batch), monitor._metrics or [])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("this is no state of a monitor; pass one that a monitor wrote") from None
        return monitor


def _monitored(settings: Settings, labelled: bool) -> list[Metric]:
    """The metrics that are monitored."""
    asked = settings.metrics if settings.metrics is not None else (METRICS if labelled else ("ppr",))
    found = select_metrics(Settings(metrics=asked), labelled=labelled)
    for m in found:
        if not isinstance(m, Metric) or m.comparisons or m.base.curve is None:
            raise InvalidInput(
                f"{m.key} cannot be monitored: evidence over batches is known of shares, rates and F1 only; monitor "
                "the rates that it is made of"
            )
        if not labelled and m.key not in WITHOUT_LABELS:
            raise InvalidInput(f"{m.key} needs labels (`y_true`); without them only ppr and pnr can be monitored")
    return [m for m in found if isinstance(m, Metric)]


def _named(at: Any) -> str:
    """The name of a batch."""
    name = "" if at is None else str(at).strip()
    if not name:
        raise InvalidInput(argument="at", must="say which batch it is, such as its week", got=at)
    return name


def _score(m: Any, count: int, size: int) -> float | None:
    score = float(np.asarray(m.curve.score(np.array(count / size)))) if size else float("nan")
    return None if isnan(score) else score
