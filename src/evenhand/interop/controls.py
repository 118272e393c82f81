"""Do groups differ once other features are taken into account? An audit within levels, and tests pooled over them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

from ..auditing import (
    WITHOUT_LABELS,
    Audit,
    AuditedLevels,
    Level,
    Settings,
    audit_levels,
    benjamini_hochberg,
    frame_of,
    holm,
)
from ..errors import InvalidInput, printable
from ..metrics import Metric
from ..records import Record
from ..tabulate import Tally, group_columns, tabulate
from .aggregates import lacking
from .strata import Stratum, fields_of, shown_pvalue, stratum_of, within_levels

__all__ = ["ControlledAudit", "LevelAudit", "PooledRow", "audit_within", "within"]

Verdict = Literal["higher", "lower", "no difference shown", "undefined"]

_MOST_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PooledRow(Record):
    """A group against its reference within levels, pooled over all of them.

    Attributes
    ----------
    by, group, metric, reference : str
        The column or crossing, the group, the key of the rate, and what the group is compared with in each level.
    verdict : {"higher", "lower", "no difference shown", "undefined"}
        Whether the group's rate is higher or lower within levels, by the adjusted p-value. Opposite differences cancel,
        so no difference shown does not mean that there is none in any level.
    odds_ratio, low, high, level, pvalue, test, crude_odds_ratio, crude_pvalue, strata
        As for `StratifiedTest`.
    p_adjusted : float or None
        The p-value adjusted over the groups of each metric, or over all groups and metrics; never over levels, which
        are in one test.
    higher, lower, silent : int
        The number of levels in which the observed rate is higher or lower than that of the reference, and of those that
        can say nothing: group or reference has no cases there, or all have the same outcome.

    Examples
    --------
    >>> data = {"sex": list("fmfmfmfm"), "age": [30, 30, 30, 30, 60, 60, 60, 60], "p": [1, 0, 1, 1, 0, 0, 1, 0]}
    >>> print(audit_within(data, y_pred="p", groups="sex", control="age").pooled[0])
    sex f, ppr: no difference shown; odds ratio inf, 95 % interval 0.1878 to inf, p-value 0.5
    """

    by: str
    group: str
    metric: str
    reference: str
    verdict: Verdict
    pvalue: float | None
    p_adjusted: float | None
    test: str | None
    odds_ratio: float
    low: float
    high: float
    level: float
    higher: int
    lower: int
    silent: int
    crude_odds_ratio: float
    crude_pvalue: float | None
    strata: tuple[Stratum, ...]

    columns: ClassVar[tuple[str, ...]] = ()

    def __str__(self) -> str:
        who = f"{printable(self.by)} {printable(self.group)}, {self.metric}"
        if self.pvalue is None or self.p_adjusted is None:
            return f"{who}: undefined, no level says anything"
        raw, adjusted = map(shown_pvalue, (self.pvalue, self.p_adjusted))
        return f"{who}: {self.verdict}; {within_levels(self)}" + (f", adjusted {adjusted}" if adjusted != raw else "")

    @property
    def _directions(self) -> str:
        """In how many levels the rate is higher or lower, and what is found without levels."""
        silent = f", {self.silent:,} can say nothing" if self.silent else ""
        crude = "no p-value" if self.crude_pvalue is None else f"p-value {shown_pvalue(self.crude_pvalue)}"
        return (
            f"higher in {_levels(self.higher)}, lower in {self.lower:,}{silent}; without levels: odds ratio "
            f"{'undefined' if self.crude_odds_ratio != self.crude_odds_ratio else f'{self.crude_odds_ratio:.4g}'}, "
            f"{crude}"
        )


PooledRow.columns = tuple(f.name for f in fields(PooledRow) if f.name != "strata")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LevelAudit(Record):
    """The audit of one level.

    Attributes
    ----------
    level : str
        The level.
    n : int
        Its number of cases.
    left_out : dict of str to int
        How many of its rows were left out, by what they lack.
    audit : Audit or None
        The audit, whose p-values are adjusted over all levels; None if nothing can be compared.
    not_audited : dict of str to str
        By column or crossing, why its groups cannot be compared in this level.

    Examples
    --------
    >>> data = {"sex": list("fmfff"), "age": [30, 30, 30, 60, 60], "p": [1, 0, 1, 1, 0]}
    >>> for level in audit_within(data, y_pred="p", groups="sex", control="age").levels:
    ...     print(level)
    30, 3 cases: 0 of 2 scores differ
    60, 2 cases: not audited by sex, only one group has cases (f)
    """

    level: str
    n: int
    left_out: dict[str, int]
    audit: Audit | None
    not_audited: dict[str, str]

    def __str__(self) -> str:
        said = []
        if self.audit is not None:
            differ = sum(row.differs for row in self.audit.rows)
            scores = f"{len(self.audit.rows):,} score{'s' * (len(self.audit.rows) != 1)}"
            said.append(f"{differ:,} of {scores} differ{'s' * (differ == 1)}")
        said += [f"not audited by {printable(by)}, {printable(why)}" for by, why in self.not_audited.items()]
        return f"{printable(self.level)}, {_cases(self.n)}: {'; '.join(said)}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ControlledAudit(Record):
    """The result of `audit_within`.

    Attributes
    ----------
    control : tuple of str
        The control features.
    levels : tuple of LevelAudit
        One audit per level. Their p-values are adjusted over groups and levels.
    pooled : tuple of PooledRow
        One test per group and rate, pooled over levels. Their p-values are adjusted over groups.
    not_pooled : dict of str to str
        The metrics that are audited in each level but not pooled, and why.
    n : int
        The number of cases audited.
    left_out : dict of str to int
        How many rows were left out, by what they lack.
    settings : dict
        The settings.

    Examples
    --------
    >>> data = {"sex": list("fmfmfmfm"), "age": [30, 30, 30, 30, 60, 60, 60, 60], "p": [1, 0, 1, 1, 0, 0, 1, 0]}
    >>> audit_within(data, y_pred="p", groups="sex", control="age")
    <ControlledAudit: 8 cases in 2 groups by sex, within 2 levels of age>
    """

    control: tuple[str, ...]
    levels: tuple[LevelAudit, ...]
    pooled: tuple[PooledRow, ...]
    not_pooled: dict[str, str]
    n: int
    left_out: dict[str, int]
    settings: dict[str, Any]

    _derived: ClassVar[tuple[str, ...]] = ("schema",)

    @property
    def schema(self) -> str:
        """The name of the format that `to_json` writes.

        Examples
        --------
        >>> data = {"sex": list("fmfm"), "age": [30, 30, 60, 60], "p": [1, 0, 1, 1]}
        >>> audit_within(data, y_pred="p", groups="sex", control="age").schema
        'evenhand.within/1'
        """
        return "evenhand.within/1"

    @property
    def audits(self) -> dict[str, Audit]:
        """The audits by level, without the levels that have none.

        Examples
        --------
        >>> data = {"sex": list("fmfff"), "age": [30, 30, 30, 60, 60], "p": [1, 0, 1, 1, 0]}
        >>> audit_within(data, y_pred="p", groups="sex", control="age").audits
        {'30': <Audit: 3 cases, 2 groups, 2 scores, 0 differ>}
        """
        return {one.level: one.audit for one in self.levels if one.audit is not None}

    def to_json(self, indent: int | None = 2) -> str:
        """The audits and the pooled tests as JSON.

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
        >>> data = {"sex": list("fmfm"), "age": [30, 30, 60, 60], "p": [1, 0, 1, 1]}
        >>> audit_within(data, y_pred="p", groups="sex", control="age").to_json(indent=None)[:36]
        '{"control": ["age"], "levels": [{"le'
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, library: str | None = None, *, rows: Literal["pooled", "levels"] = "pooled") -> Any:
        """The pooled tests, or the rows of the audits of all levels, as a dataframe.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            As for `Audit.to_frame`.
        rows : {"pooled", "levels"}
            One row per group and metric, or one per level, group and metric.

        Returns
        -------
        dataframe
            The rows.

        Examples
        --------
        >>> data = {"sex": list("fmfm"), "age": [30, 30, 60, 60], "p": [1, 0, 1, 1]}
        >>> found = audit_within(data, y_pred="p", groups="sex", control="age")
        >>> found.to_frame("pandas")[["group", "verdict"]].values.tolist()
        [['f', 'no difference shown'], ['m', 'no difference shown']]
        >>> found.to_frame("pandas", rows="levels")["level"].tolist()
        ['30', '30', '60', '60']
        """
        import narwhals.stable.v2 as nw

        if rows not in ("pooled", "levels"):
            raise InvalidInput(f"rows must be 'pooled' or 'levels'; got {rows!r}")
        chosen = library or next((audit.library for audit in self.audits.values()), None)
        if rows == "pooled":
            return frame_of(self.pooled, PooledRow.columns, chosen)
        if not self.audits:
            raise InvalidInput("no level could be audited, so there are no rows; levels says why")
        frames = [
            nw.from_native(audit.to_frame(chosen)).select(nw.lit(level).alias("level"), nw.all())
            for level, audit in self.audits.items()
        ]
        return nw.concat(frames, how="vertical").to_native()

    def __str__(self) -> str:
        lines = [self._head(), *lacking(self.left_out, self.settings["selection"] == "all"), *self._adjustment()]
        lines += ["", "Pooled over levels: the odds of a group against those of its reference in the same level"]
        for row in self.pooled[:_MOST_ROWS]:
            lines += [f"  {row}"] + ([f"    {row._directions}"] if row.pvalue is not None else [])
        if not self.pooled:
            lines.append("  no metric can be pooled")
        if len(self.pooled) > _MOST_ROWS:
            lines.append(f"  {len(self.pooled) - _MOST_ROWS:,} more in .pooled")
        lines += [f"  {key} is not pooled: {why}" for key, why in self.not_pooled.items()]
        lines += ["", "Levels"]
        lines += [f"  {level}" for level in self.levels[:_MOST_ROWS]]
        if len(self.levels) > _MOST_ROWS:
            lines.append(f"  {len(self.levels) - _MOST_ROWS:,} more in .levels")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<ControlledAudit: {self._head().removeprefix('Audit of ')}>"

    def _head(self) -> str:
        groups = len({(row.by, row.group) for row in self.pooled} | self._audited)
        by = printable(", ".join(self.settings["groups"]))
        control = printable(" & ".join(self.control))
        of_groups = f"{groups:,} group{'s' * (groups != 1)}"
        return f"Audit of {_cases(self.n)} in {of_groups} by {by}, within {_levels(len(self.levels))} of {control}"

    @property
    def _audited(self) -> set[tuple[str, str]]:
        return {(row.by, row.group) for audit in self.audits.values() for row in audit.rows}

    def _adjustment(self) -> Iterable[str]:
        how = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method"}.get(self.settings["adjust"])
        if how is None:
            yield "P-values are not adjusted"
            return
        each = self.settings["family"] == "metric"
        pooled = "the groups of each metric" if each else "all groups and metrics"
        single = "the groups and levels of each metric" if each else "all groups, levels and metrics"
        yield f"P-values pooled over levels are adjusted over {pooled} by {how};"
        yield f"those of single levels over {single}"


def audit_within(
    data: Any = None,
    *,
    y_true: Any = None,
    y_pred: Any = None,
    groups: Any,
    control: Any,
    y_score: Any = None,
    threshold: float | None = None,
    positive: Any = None,
    positive_label: Any = None,
    positive_prediction: Any = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    **settings: Any,
) -> ControlledAudit:
    """Audit groups within each level of control features, and test differences pooled over all levels.

    Do groups differ once age is taken into account? Each level is audited on its own. For every rate, a group is then
    compared with its reference within levels only, and the levels are pooled by the exact form of Mantel and Haenszel's
    test (`stratified_test`), beside the crude comparison without levels.

    Parameters
    ----------
    data, y_true, y_pred, groups, y_score, threshold, positive, positive_label, positive_prediction
        As for `audit`, with one threshold at most.
    control : str, list of str or columns
        One or more control features, given as ``groups`` are. The levels of several are their combinations.
    bins : mapping of column to sequence of float
        Where to cut control features or group columns that contain numbers, such as ages.
    **settings
        The settings of `audit`, from ``metrics`` to ``author``. The reference is the same in all levels:
        ``"largest"`` and ``"best"`` are chosen over all of them together. Pooled p-values are adjusted by ``adjust``
        over the groups of each metric, or with ``family="audit"`` over all groups and metrics; they are not adjusted
        over levels, since all levels are in one test. P-values of single levels are adjusted over levels as well:
        over all groups and levels of a metric, or over all groups, levels and metrics. ``test`` and ``mid_p`` are for
        single levels.

    Returns
    -------
    ControlledAudit
        One audit per level, and the pooled tests. A group may be missing in a level. A level in which there is nothing
        to compare has no audit and says why. Rows without a label or a prediction are left out and counted; rows
        without a value of a control feature form a level.

    Examples
    --------
    Most of the women apply to the department where few are selected. In each they are selected as often as men.

    >>> parts = {"easy": {"f": (0, 0, 6, 2), "m": (0, 0, 60, 20)}, "hard": {"f": (0, 0, 18, 54), "m": (0, 0, 5, 15)}}
    >>> data = {"sex": [], "department": [], "selected": []}
    >>> for department, counts in parts.items():
    ...     for sex, (_, _, yes, no) in counts.items():
    ...         data["sex"] += [sex] * (yes + no)
    ...         data["department"] += [department] * (yes + no)
    ...         data["selected"] += [1] * yes + [0] * no
    >>> print(audit_within(data, y_pred="selected", groups="sex", control="department"))
    Audit of 180 cases in 2 groups by sex, within 2 levels of department
    P-values pooled over levels are adjusted over the groups of each metric by Holm's method;
    those of single levels over the groups and levels of each metric
    <BLANKLINE>
    Pooled over levels: the odds of a group against those of its reference in the same level
      sex f, ppr: no difference shown; odds ratio 1, 95 % interval 0.366 to 3.049, p-value 1
        higher in 0 levels, lower in 0; without levels: odds ratio 0.2308, p-value 5.04e-06
      sex m, ppr: no difference shown; odds ratio 1, 95 % interval 0.328 to 2.732, p-value 1
        higher in 0 levels, lower in 0; without levels: odds ratio 4.333, p-value 5.04e-06
    <BLANKLINE>
    Levels
      easy, 88 cases: 0 of 2 scores differ
      hard, 92 cases: 0 of 2 scores differ
    """
    known = {f.name for f in fields(Settings)}
    for name in settings:
        if name not in known:
            raise TypeError(f"audit_within() got an unexpected keyword argument {name!r}")
    how = Settings(**settings)
    for what, column in (("groups", groups), ("control", control)):
        if column is None:
            raise InvalidInput(f"{what} must be the name of a column or its values; got None")
    by, controls = group_columns(groups, data), _control_columns(control, data)
    if both := [name for name in controls if name in by]:
        raise InvalidInput(f"control must not contain a group column; got {both[0]!r}")
    reading = {
        "y_true": y_true,
        "y_pred": y_pred,
        "y_score": y_score,
        "threshold": threshold,
        "positive": positive,
        "positive_label": positive_label,
        "positive_prediction": positive_prediction,
        "bins": bins,
    }
    columns: Any = by | controls
    tally = tabulate(data, groups=columns, **reading)
    given = {"groups": groups, "control": control}
    return within(tally, list(controls), how, ("audit_within", data, reading | given))


def _control_columns(control: Any, data: Any) -> dict[str, Any]:
    """The control features by name; values without a name are called ``control``."""
    found = group_columns(control, data)
    if isinstance(control, Mapping) or getattr(control, "columns", None) is not None:
        return found
    named = getattr(control, "name", None)
    return {
        name if column is not control or named is not None else name.replace("group", "control", 1): column
        for name, column in found.items()
    }


def within(tally: Tally, control: Sequence[str], how: Settings, called: Any) -> ControlledAudit:
    """The audits and pooled tests of counts by group columns and control features."""
    found = audit_levels(tally, control, how, called)
    metrics = how.chosen(tally.labelled)
    not_pooled = {m.key: why for m in metrics if (why := _not_pooled(m))}
    rows = [row for m in metrics if m.key not in not_pooled for row in _pooled(m, found, how)]
    return ControlledAudit(
        control=tuple(control),
        levels=tuple(_level(one) for one in found.levels),
        pooled=_adjusted(rows, found, how),
        not_pooled=not_pooled,
        n=sum(one.n for one in found.levels),
        left_out=tally.left_out,
        settings=found.settings,
    )


def _level(one: Level) -> LevelAudit:
    return LevelAudit(level=one.name, n=one.n, left_out=one.left_out, audit=one.audit, not_audited=one.not_audited)


def _not_pooled(m: Metric) -> str | None:
    if m.comparisons:
        return f"it compares two groups; pool {m.base.key}"
    return None if m.base.curve is not None else "it does not depend on one rate only"


def _pooled(m: Metric, found: AuditedLevels, how: Settings) -> Iterable[PooledRow]:
    """The tests of one rate, in the order of the groups."""
    counts = [level.selections if m.key in WITHOUT_LABELS else level.pairs for level in found.levels]
    for i, pair in enumerate(found.pairs):
        if pair.is_reference:
            continue
        strata = [
            stratum_of(m.base, level.name, pairs[i].cm, pairs[i].against)
            for level, pairs in zip(found.levels, counts, strict=True)
        ]
        rises = [_excess(stratum) for stratum in strata]
        tested = fields_of(strata, how.level)
        yield PooledRow(
            by=pair.by,
            group=pair.group,
            metric=m.key,
            reference=pair.reference,
            verdict="undefined",
            p_adjusted=tested["pvalue"],
            higher=sum(rise > 0 for rise in rises),
            lower=sum(rise < 0 for rise in rises),
            silent=sum(not stratum.informative for stratum in strata),
            **tested,
        )


def _excess(stratum: Stratum) -> int:
    """The sign of the group's rate minus the reference's, as whole numbers; 0 if the level can say nothing."""
    s = stratum
    return s.part * s.reference_whole - s.reference_part * s.whole if s.informative else 0


def _adjusted(rows: Sequence[PooledRow], found: AuditedLevels, how: Settings) -> tuple[PooledRow, ...]:
    """Rows with adjusted p-values and verdicts; two groups that are each other's rest count once."""
    only_two = {(pair.by, pair.group) for pair in found.pairs if pair.only_two}
    families: dict[str, dict[tuple[str, str, str], list[int]]] = {}
    for i, row in enumerate(rows):
        if row.pvalue is not None:
            whose = (row.metric, row.by, "" if (row.by, row.group) in only_two else row.group)
            families.setdefault(row.metric if how.family == "metric" else "", {}).setdefault(whose, []).append(i)
    adjusted = {i: row.pvalue for i, row in enumerate(rows)}
    if how.adjust != "none":
        adjust = holm if how.adjust == "holm" else benjamini_hochberg
        for comparisons in families.values():
            values = adjust([max(rows[i].pvalue or 0.0 for i in at) for at in comparisons.values()])
            adjusted |= {i: p for at, p in zip(comparisons.values(), values, strict=True) for i in at}
    return tuple(
        replace(row, p_adjusted=adjusted[i], verdict=_verdict(row, adjusted[i], how)) for i, row in enumerate(rows)
    )


def _verdict(row: PooledRow, p: float | None, how: Settings) -> Verdict:
    if p is None:
        return "undefined"
    if p > how.alpha:
        return "no difference shown"
    expected = sum(
        s.whole * (s.part + s.reference_part) / (s.whole + s.reference_whole) for s in row.strata if s.informative
    )
    return "higher" if sum(s.part for s in row.strata if s.informative) > expected else "lower"


def _cases(n: int) -> str:
    return f"{n:,} case{'s' * (n != 1)}"


def _levels(n: int) -> str:
    return f"{n:,} level{'s' * (n != 1)}"
