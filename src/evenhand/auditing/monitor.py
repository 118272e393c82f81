"""Monitoring a system batch by batch, with alarms that stay rare however often one looks.

A monitor is a state, which is written as JSON, and the evidence of its batches, which is gathered
again when a state is read: an e-process for each group and metric. The state keeps which columns
and labels the first batch had, counts by group of every batch and, if clusters count once, salted
hashes of those that were counted.
"""

from __future__ import annotations

import json
import secrets
from collections import ChainMap
from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import sha256
from itertools import takewhile
from math import exp, isfinite, log
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Answers, Tally, build_tally, group_columns, read_counts, tally_counts
from ..errors import InvalidInput, brief, printable
from ..inference import EProcesses, compared_rates
from ..metrics import Metric
from ..records import Record, plain_value, reach, write_whole
from ..wording import number
from .groupings import build_groupings, sum_groups
from .json_schema import COUNT, STRING, TEXT, Schema, check_schema, closed, list_of, table_of
from .metric_selection import lookup_metric, select_metrics
from .requests import refuse_unknown
from .result import Axes, find_plotted
from .settings import Settings

#: A comparison: column, group and metric.
Key = tuple[str, str, str]
#: Successes and cases of a group, and of its reference.
Pair = tuple[float, float, float, float]
#: Cells by column and group.
Counts = dict[str, dict[str, list[int]]]
#: What was passed as columns, by argument.
Columns = dict[str, Any]
#: Whether texts are positive, by "label" and "prediction".
Labels = dict[str, dict[str, bool]]
_VERSION = "evenhand.monitor/1"
_SETTINGS = ("metrics", "reference", "alpha")
_VALUES = ("y_true", "y_pred", "y_score", "count", "cluster")
_COLUMNS = (*_VALUES, "groups", "threshold", "positive", "bins")
# Evidence of larger batches is lost in rounding.
_MAX_CASES = 10**12
# So many digits of the hash of a cluster are kept; the others draw one of its cases.
_KEPT_DIGITS = 16
# What to do in place of settings of an audit that cannot be monitored.
_INSTEAD = {
    "classes": "say which are `positive`, and keep a monitor of each class",
    "strata": "make the strata the groups",
    "sample_weight": "rows may have a `count`",
    "protect": "protect what you publish",
    "intersections": "pass an intersection as a column",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What is kept of a batch.

    Attributes
    ----------
    at : str
        What the batch is called.
    counts : dict
        Cells tp, fn, fp, tn by column and group.
    lacking, unknown : int
        Cases without a label, prediction or cluster, which are left out, and cases without a known
        group in some column.
    repeated, before : int
        Cases beside another one of their cluster, and cases of clusters that an earlier batch
        counted, both of which are left out.
    clusters : str
        Salted hashes of the clusters that were counted, with spaces between them.
    """

    at: str
    counts: Counts
    lacking: int = 0
    unknown: int = 0
    repeated: int = 0
    before: int = 0
    clusters: str = ""

    @property
    def cases(self) -> int:
        """How many cases were counted."""
        return max((sum(map(sum, groups.values())) for groups in self.counts.values()), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorState:
    """What makes a monitor, and all that its file holds.

    Attributes
    ----------
    schema : str
        The version of the file.
    metrics, reference, alpha
        As for `Monitor`; metrics are None until the first batch shows whether there are labels.
    columns : dict
        How batches of rows are read: the columns by argument.
    labels : dict
        By "label" and "prediction", the texts that occurred so far, and whether they are positive.
    salt : str or None
        The salt of hashes, if clusters count once.
    batches : tuple of Batch
        The batches.
    acknowledged : tuple of Key
        The comparisons whose alarm was acknowledged.
    """

    schema: str = _VERSION
    metrics: tuple[str, ...] | None
    reference: str | dict[str, str]
    alpha: float
    columns: Columns = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    salt: str | None = None
    batches: tuple[Batch, ...] = ()
    acknowledged: tuple[Key, ...] = ()

    @property
    def positive(self) -> dict[str, list[str]]:
        """The positive labels and predictions."""
        return {part: [label for label in of if of[label]] for part, of in self.labels.items()}

    def read_batch(self, at: str, data: object, given: Columns) -> tuple[Batch, MonitorState]:
        """A batch of rows, and the state with the columns and labels known after it."""
        columns = self._fix_columns(given)
        arguments = {**columns, "positive": self.positive, **given}
        groups = group_columns(arguments.pop("groups", None), data)
        bins = arguments.pop("bins", None)
        # A batch that was added before is read as it was then.
        earlier = takewhile(lambda batch: batch.at != at, self.batches)
        counted = {cluster for batch in earlier for cluster in batch.clusters.split()}
        salt, sizes = self.salt or secrets.token_hex(16), dict[str, int]()

        def draw_case(cluster: object, cases: int) -> int | None:
            """Which of the cases of a cluster counts; None if it was counted before."""
            text = f"{salt} {cluster}".encode("utf-8", "surrogatepass")
            digits = sha256(text).hexdigest()
            kept, others = digits[:_KEPT_DIGITS], digits[_KEPT_DIGITS:]
            sizes[kept] = cases
            return None if kept in counted else int(others, 16) * cases >> 4 * len(others)

        if "cluster" in columns:
            arguments["draw_case"] = draw_case
        tally = build_tally(data, groups, Answers(**arguments), {"cells"}, bins=bins)
        labels = self._merge_labels(tally, "positive" in given)
        new = sizes.keys() - counted
        cases = sum(sizes[cluster] for cluster in new)
        batch = Batch(
            at=at,
            counts=count_groups(tally),
            lacking=sum(tally.left_out.values()),
            unknown=int(tally.sizes[[None in key for key in tally.keys]].sum()),
            repeated=cases - len(new),
            before=sum(sizes.values()) - cases,
            clusters=" ".join(sorted(new)),
        )
        salted = salt if sizes else self.salt
        return batch, replace(self, columns=columns, labels=labels, salt=salted)

    def _fix_columns(self, given: Columns) -> Columns:
        """The columns of the first batch, from which those of a later one must not differ."""
        columns = {name: value for name, value in given.items() if name != "positive"}
        if "cluster" in columns and self.batches and not self.columns:
            raise InvalidInput("`cluster` must be given with the first batch")
        first = self.columns or plain_value(columns)
        for name, value in columns.items():
            names = value if name == "groups" and isinstance(value, list | tuple) else [value]
            if name != "bins" and not all(isinstance(one, str | Real) for one in names):
                must = "be a name of the columns of all batches, or one number"
                raise InvalidInput(argument=name, must=must, got=value)
            was, column = first.get(name, 1 if name == "count" else None), plain_value(value)
            if str(was) != str(column):
                must = f"stay {brief(was)}, as in the first batch"
                raise InvalidInput(argument=name, must=must, got=column)
        return first

    def _merge_labels(self, tally: Tally, is_restated: bool) -> Labels:
        """The labels so far and those of a batch, none of which may change sides.

        A new one is refused unless ``positive`` is given with it: it may be of another coding,
        such as 1 and 2 in place of 0 and 1. Labels and predictions know each other's labels.
        """
        merged = dict(self.labels)
        for part, positive in tally.positive.items():
            known = dict(ChainMap(self.labels.get(part, {}), *self.labels.values()))
            labels = dict.fromkeys(map(str, tally.negative[part]), False)
            labels |= dict.fromkeys(map(str, positive), True)
            for label, side in labels.items():
                was = known.get(label, side if is_restated or not known else None)
                if was is not side:
                    so_far = {None: "unknown", True: "positive", False: "negative"}[was]
                    hint = "if labels are coded as before, pass `positive=` with all positive ones"
                    raise InvalidInput(f"the {part} {brief(label)} was {so_far} so far; {hint}")
            merged[part] = self.labels.get(part, {}) | labels
        return merged


@cache
def state_schema() -> Schema:
    """What the file of a monitor holds, beside its digest."""
    count = COUNT | {"maximum": _MAX_CASES}
    cells = list_of(count, minItems=4, maxItems=4)
    name = {"type": ["string", "number"], "minimum": -1e300, "maximum": 1e300}
    columns = dict.fromkeys((*_VALUES, "threshold"), name)
    columns["groups"] = {"type": ["string", "number", "array"], "items": name}
    columns["bins"] = table_of(list_of(name | {"type": "number"}))
    batch = {"at": STRING, "clusters": STRING, "counts": table_of(table_of(cells))}
    batch |= dict.fromkeys(("lacking", "unknown", "repeated", "before"), count)
    content = {
        "schema": {"enum": [_VERSION]},
        "metrics": {"type": ["array", "null"], "items": STRING},
        "reference": table_of(STRING) | {"type": ["string", "object"]},
        "alpha": {"type": "number"},
        "columns": closed(columns) | {"required": []},
        "labels": table_of(table_of({"type": "boolean"})),
        "salt": TEXT,
        "batches": list_of(closed(batch)),
    }
    key = list_of(STRING, minItems=3, maxItems=3)
    # Monitors that began before alarms could be acknowledged have none that are.
    return closed(content | {"acknowledged": list_of(key)}) | {"required": [*content]}


def count_groups(tally: Tally) -> Counts:
    """The cells of every group of every column."""
    assert tally.counts is not None
    counts: Counts = {}
    for grouping in build_groupings(tally, Settings(intersections=1)):
        cells = sum_groups(tally.counts.cells, grouping.codes, len(grouping.groups))[0]
        counts[grouping.name] = dict(zip(grouping.groups, cells.astype(int).tolist(), strict=True))
    return counts


def digest(content: Mapping[str, object]) -> str:
    """The digest of a state, by which a change is seen."""
    return sha256(json.dumps(content, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, repr=False)
class MonitorRow(Record):
    """What all batches so far say of one group and metric.

    Attributes
    ----------
    by, group, metric, reference : str
        The column, the group, the metric, and what the group is compared with.
    cases : int
        How many cases of the group the score is computed from.
    score, versus : float or None
        The score of the group, and of its reference, over all batches; None if undefined.
    evidence : float
        How much the batches speak against equal rates in every batch: 1 to begin with, and 20 or more with a
        probability of at most 5% at any look, if the rates are equal.
    joint : float
        The evidence that holds for all groups and metrics together, by which alarms are raised.
    alarm : str or None
        The batch at which an alarm was first raised.
    since : str or None
        The batch from which the joint evidence rose to the alarm, the one after its last minimum; None without an
        alarm. It describes the evidence, and is not a tested date of a change.
    acknowledged : bool
        Whether the alarm was acknowledged.
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
    since: str | None
    acknowledged: bool
    odds_low: float | None
    odds_high: float | None
    batches: int
    undefined: int

    def __str__(self) -> str:
        scores = f"{number(self.score)} v {number(self.versus)}"
        alarm = "no alarm" if self.alarm is None else f"alarm at {self.alarm}"
        return printable(
            f"{self.group}, {self.metric} {scores}: evidence {self.joint:.3g}, {alarm}"
        )


class Monitor:
    """Alarms for batches of decisions that are looked at one after the other.

    Whether a group's rate differs from the reference's is tested after every batch, and the probability of any false
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

    def __init__(
        self,
        *,
        metrics: Any = None,
        reference: str | Mapping[str, str] = "rest",
        alpha: float = 0.05,
        **others: object,
    ) -> None:
        refuse_unmonitored("Monitor", others, _SETTINGS)
        reference = dict(reference) if isinstance(reference, Mapping) else reference
        for group in reference.values() if isinstance(reference, dict) else [reference]:
            if not isinstance(group, str) or group in ("all", "largest", "best"):
                must = "be 'rest' or the name of a group, which no outcome chooses"
                raise InvalidInput(argument="reference", must=must, got=group)
        self._state = MonitorState(
            metrics=None if metrics is None else monitored_metrics(metrics),
            reference=reference,
            alpha=Settings(alpha=alpha).alpha,
        )
        self._evidence = EProcesses()
        # The joint evidence after each batch; None before the comparison began.
        self._paths: dict[Key, tuple[float | None, ...]] = {}
        # Successes and cases of group and reference in each batch; None without cases of the group.
        self._counts: dict[Key, tuple[Pair | None, ...]] = {}

    @property
    def batches(self) -> tuple[str, ...]:
        """The batches that were added, in order."""
        return tuple(batch.at for batch in self._state.batches)

    @property
    def history(self) -> Mapping[str, Batch]:
        """What is kept of every batch: counts, and how many cases were left out and why."""
        return {batch.at: batch for batch in self._state.batches}

    @property
    def cluster(self) -> str | None:
        """The column of clusters, each of which counts once; None if every case is new."""
        return str(self._state.columns["cluster"]) if "cluster" in self._state.columns else None

    def add(self, data: Any = None, *, at: object, **columns: object) -> Monitor:
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
        refuse_unmonitored("add", columns, ("data", "at", *_COLUMNS))
        given = {name: value for name, value in columns.items() if value is not None}
        if data is None:
            # Columns that were passed as values become a table.
            groups = group_columns(given.get("groups"), None)
            values = {name: given[name] for name in _VALUES if name in given}
            data = {name: one for name, one in values.items() if not isinstance(one, str | int)}
            given |= {name: name for name in data} | {"groups": list(groups)}
            data |= groups
        return self._with_batch(*self._state.read_batch(name_batch(at), data, given))

    def add_counts(self, counts: Any, *, at: object, by: str | Sequence[str] = "group") -> Monitor:
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
            must = f"counts each {self.cluster} once, and counts do not name them"
            raise InvalidInput(f"this monitor {must}; add the rows")
        if not isinstance(counts, Mapping) and hasattr(type(counts), "columns"):
            by, counts, _ = read_counts(counts)
        counts = count_groups(tally_counts(counts, by))
        return self._with_batch(Batch(at=name_batch(at), counts=counts), self._state)

    def _with_batch(self, batch: Batch, state: MonitorState) -> Monitor:
        """A monitor with one more batch, and the state after it; this one if it has the batch."""
        earlier = self.history.get(batch.at)
        if earlier is not None:
            if (earlier.counts, earlier.clusters) == (batch.counts, batch.clusters):
                return self
            why = "which cannot be changed, since late labels may depend on outcomes"
            hint = "add a batch once its labels are complete, or monitor selection rates meanwhile"
            was = f"the batch {brief(batch.at)} was added with other counts"
            raise InvalidInput(f"{was}, {why}: {hint}")
        batches = (*self._state.batches, batch)
        columns = batches[0].counts
        if batch.counts.keys() != columns.keys():
            first = f"the first ({', '.join(columns)})"
            raise InvalidInput(f"a batch must have the group columns of {first}")
        if batch.cases > _MAX_CASES:
            must = f"at most {_MAX_CASES:,} cases; got {batch.cases:,}"
            raise InvalidInput(f"a batch must have {must}")
        metrics = monitored_metrics(state.metrics, "y_true" in state.columns or not state.columns)
        monitor = copy(self)
        monitor._state = replace(state, metrics=metrics, batches=batches)
        monitor._evidence = deepcopy(self._evidence)
        compared = monitor._compare(batch.counts)
        if compared:
            monitor._evidence.add(compared)
        joint = zip(monitor._evidence.rows, monitor._evidence.joint_evalues().tolist(), strict=True)
        before = (None,) * len(self.batches)
        monitor._counts = {
            key: (*self._counts.get(key, before), compared.get(key))
            for key in monitor._evidence.rows
        }
        monitor._paths = {key: (*self._paths.get(key, before), value) for key, value in joint}
        return monitor

    def _compare(self, counts: Counts) -> dict[Key, Pair]:
        """Successes and cases of each group and of its reference, by comparison."""
        compared: dict[Key, Any] = {}
        for by, groups in counts.items():
            reference = self._reference_of(by)
            cells = np.array(list(groups.values()), dtype=float).reshape(-1, 4)
            rest = cells.sum(axis=0) - cells
            if reference != "rest":
                rest[:] = groups.get(reference, 0)
            for metric in self._state.metrics or ():
                rates = compared_rates(lookup_metric(metric).base, cells, rest)
                rows = zip(groups, *(rate.tolist() for rate in rates), strict=True)
                compared |= {(by, group, metric): row for group, *row in rows if group != reference}
        return compared

    def _reference_of(self, by: str) -> str:
        reference = self._state.reference
        return reference if isinstance(reference, str) else reference.get(by, "rest")

    @property
    def rows(self) -> tuple[MonitorRow, ...]:
        """Every group and metric, alarms and the most evidence first."""
        order = [*self.batches, None]
        rows = [self._row(key) for key in self._evidence.rows]
        # Two groups that are each other's rest have the same evidence up to rounding.
        rows.sort(key=lambda row: (order.index(row.alarm), -round(log(row.joint), 9), row.group))
        return tuple(rows)

    def _row(self, key: Key) -> MonitorRow:
        """The row of a comparison."""
        by, group, metric = key
        pairs = [pair for pair in self._counts[key] if pair is not None]
        total, evidence = [sum(counts) for counts in zip(*pairs, strict=True)], self._evidence[key]
        ends = evidence.log_odds_interval(self._state.alpha)
        low, high = (exp(end) if isfinite(end) else None for end in ends)
        path, threshold = self._paths[key], 1 / self._state.alpha
        # Evidence is 1 before the first batch of the group.
        before = [1.0, *(joint or 1.0 for joint in path)]
        alarm = next((look for look, joint in enumerate(before[1:]) if joint >= threshold), None)
        since = None if alarm is None else alarm - int(np.argmin(before[alarm::-1]))
        return MonitorRow(
            *(by, group, metric, self._reference_of(by), int(total[1])),
            *_pair_scores(metric, total),
            float(evidence.evalues),
            path[-1] or 0.0,
            None if alarm is None else self.batches[alarm],
            None if since is None else self.batches[since],
            key in self._state.acknowledged,
            low,
            high,
            len(pairs),
            sum(0 in pair[1::2] for pair in pairs),
        )

    @property
    def alarms(self) -> tuple[MonitorRow, ...]:
        """The rows with an alarm, in the order in which they were raised."""
        return tuple(row for row in self.rows if row.alarm is not None)

    @property
    def unacknowledged(self) -> tuple[MonitorRow, ...]:
        """The alarms that were not acknowledged."""
        return tuple(row for row in self.alarms if not row.acknowledged)

    def acknowledge(self, group: str, metric: str) -> Monitor:
        """The monitor in which an alarm is listed as known; evidence and other alarms stay as they are.

        Parameters
        ----------
        group : str
            The group whose alarm it is; ``COLUMN:GROUP`` if several columns have groups of this name.
        metric : str
            The metric of the alarm.

        Returns
        -------
        Monitor
            A new monitor.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (1, 9, 0, 0), "B": (80, 20, 0, 0)}, at="week 1")
        >>> [row.group for row in monitor.acknowledge("A", "tpr").unacknowledged]
        ['B']
        """
        key = lookup_metric(metric).key
        named = [
            (row.by, row.group, key)
            for row in self.alarms
            if row.metric == key and group in (row.group, f"{row.by}:{row.group}")
        ]
        if not named:
            raise InvalidInput(f"{brief(group)} has no alarm of {brief(metric)} to acknowledge")
        if len(named) > 1:
            must = "be COLUMN:GROUP, since groups of several columns have this name"
            raise InvalidInput(argument="group", must=must, got=group)
        monitor, known = copy(self), self._state.acknowledged
        monitor._state = replace(self._state, acknowledged=tuple(dict.fromkeys((*known, *named))))
        return monitor

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
        return self._paths[row.by, row.group, row.metric]

    def scores(self, row: MonitorRow) -> tuple[tuple[float | None, float | None], ...]:
        """The scores of a row's group and of its reference in each batch.

        Parameters
        ----------
        row : MonitorRow
            One of `rows`.

        Returns
        -------
        tuple of pairs
            One pair per batch; None where a score is undefined or the group has no cases.

        Examples
        --------
        >>> monitor = Monitor(metrics="tpr").add_counts({"A": (4, 6, 1, 9), "B": (80, 20, 10, 90)}, at="week 1")
        >>> monitor.scores(monitor.rows[0])
        ((0.4, 0.8),)
        """
        pairs = self._counts[row.by, row.group, row.metric]
        return tuple(_pair_scores(row.metric, pair or (0, 0, 0, 0)) for pair in pairs)

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

    def plot(
        self, metric: str | Metric | None = None, by: str | None = None, ax: Axes | None = None
    ) -> Axes:
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
        metrics, columns = [row.metric for row in rows], [row.by for row in rows]
        key = find_plotted("monitor", metrics, columns, metric, by)
        return reach("Monitor.plot")(self, key, by or columns[0], ax=ax)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return str(reach("Record._repr_html_")(self))

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    @property
    def settings(self) -> dict[str, Any]:
        """What no batch can change: metrics, reference and alpha."""
        return {name: plain_value(getattr(self._state, name)) for name in _SETTINGS}

    @property
    def columns(self) -> dict[str, Any]:
        """How batches are read: columns by argument, True for values, and positive labels."""
        columns = self._state.columns
        return columns | {"positive": self._state.positive} if columns else {}

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
                must = f"stay {was}, as when the monitor began"
                raise InvalidInput(argument=name, must=must, got=asked)

    def to_json(self) -> str:
        """The state as JSON: settings, counts and hashes of clusters, never rows."""
        content = asdict(self._state)
        return json.dumps(content | {"digest": digest(content)}, ensure_ascii=False, indent=1)

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
        what = "the state of the monitor"
        try:
            content = json.loads(text)
            is_sound = content.pop("digest") == digest(content)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InvalidInput(f"{what} must be what a monitor wrote") from None
        if not is_sound:
            raise InvalidInput(f"{what} was damaged or edited; its counts cannot be trusted")
        check_schema(content, state_schema(), what)
        known = tuple(map(tuple, content.pop("acknowledged", ())))
        batches, state = content.pop("batches"), MonitorState(**content, acknowledged=known)
        monitor = cls(metrics=state.metrics, reference=state.reference, alpha=state.alpha)
        for batch in batches:
            monitor = monitor._with_batch(Batch(**batch), state)
        if len(monitor.batches) < len(batches):
            raise InvalidInput("the state of the monitor has two batches of one name")
        alarms = monitor.alarms if known else ()
        if set(known) - {(row.by, row.group, row.metric) for row in alarms}:
            raise InvalidInput("the state of the monitor acknowledges what has no alarm")
        return monitor


def _pair_scores(metric: str, pair: Sequence[float]) -> tuple[float | None, float | None]:
    """The scores of a group and of its reference; None if undefined."""
    score = lookup_metric(metric).base.curve.score
    first, second = (float(score(x / n)) if n else None for x, n in (pair[:2], pair[2:]))
    return first, second


def refuse_unmonitored(function: str, given: Mapping[str, object], known: Sequence[str]) -> None:
    """Refuse arguments that an audit takes and a monitor does not, with the reason."""
    refuse_unknown(function, given, {*known, *_INSTEAD})
    for name, value in given.items():
        if name in _INSTEAD and value is not None:
            raise InvalidInput(f"`{name}` cannot be monitored; {_INSTEAD[name]}")


def monitored_metrics(metrics: Any, has_labels: bool = True) -> tuple[str, ...]:
    """The keys of metrics of which evidence is known, by default those of an audit."""
    selected = select_metrics(Settings(metrics=metrics), has_labels)
    for m in selected:
        if not isinstance(m, Metric) or m.comparisons or m.base.curve is None:
            hint = "shares, rates and F1 can, such as the rates that it is made of"
            raise InvalidInput(f"{m.key} cannot be monitored; {hint}")
    return tuple(m.key for m in selected)


def name_batch(at: object) -> str:
    """The name of a batch."""
    name = "" if at is None else str(at).strip()
    if not name:
        raise InvalidInput(argument="at", must="say which batch it is, such as its week", got=at)
    return name
