"""Who is compared with whom: every group, at every place and in every stratum, with its reference.

Groups and references are given by codes. Whatever metrics read (cells, matrices of classes, rows,
clusters), the parts of group and reference are sums over keys, or masks of rows, by these codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Bools, Floats, Integers
from ..confusion import ConfusionMatrix
from ..data import Counts, Place, Tally
from ..errors import InvalidInput, UnknownName, brief
from ..inference import learn_split_strengths
from ..metrics import metric as find_metric
from ..wording import several
from .groupings import Grouping, build_groupings, name_strata, sum_groups
from .settings import Chosen, ReferenceKind, Settings

#: What metrics read: cells of cases with a label or of all with a prediction, matrices of all
#: classes, rows, or pairs of models.
Source = Literal["counts", "selections", "classes", "rows", "models"]

# Instead of the code of a group: all other cases, and given counts.
REST, MATRIX = -1, -2
# Impact ratios compare with groups that have at least this share of the cases.
MIN_SHARE = 0.02
_KINDS = (ReferenceKind.REST, ReferenceKind.ALL, Chosen.LARGEST, Chosen.BEST)


class Reference(NamedTuple):
    """A reference: its kind, its name, its code, its cells if they are given, and who chose it."""

    kind: ReferenceKind
    name: str
    code: int = REST
    cells: tuple[float, ...] | None = None
    is_chosen: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparisons:
    """Comparisons of groups with references; arrays have one value per comparison.

    Attributes
    ----------
    source : Source
        What is compared.
    places : tuple of Place
        The places that ``place`` is an index of.
    strata : tuple of str, stratum_codes : array
        The names of the strata, and the stratum of each key; all strata together if ``is_pooled``.
    place, stratum, grouping, group : array of int
        Where and who: indices of places, strata, groupings and groups.
    reference : array of int
        The code of the reference group, `REST` or `MATRIX`.
    references : tuple of Reference, reference_index : array of int
        The references, and which of them each comparison has.
    """

    tally: Tally
    source: Source
    places: tuple[Place, ...]
    groupings: tuple[Grouping, ...]
    strata: tuple[str, ...]
    stratum_codes: Integers
    is_pooled: bool
    place: Integers
    stratum: Integers
    grouping: Integers
    group: Integers
    references: tuple[Reference, ...]
    reference_index: Integers

    def __len__(self) -> int:
        return len(self.group)

    # Where and who

    @cached_property
    def reference(self) -> Integers:
        """The code of the reference group, `REST` or `MATRIX`."""
        return np.array([one.code for one in self.references])[self.reference_index]

    @cached_property
    def is_reference(self) -> Bools:
        """Whether the group is the reference of the others."""
        return np.asarray(self.reference == self.group)

    @cached_property
    def is_chosen(self) -> Bools:
        """Whether the reference was chosen by its rate of favourable predictions."""
        return np.array([one.is_chosen for one in self.references])[self.reference_index]

    def has_kind(self, *kinds: ReferenceKind) -> Bools:
        """Whether the reference is of one of these kinds."""
        return np.array([one.kind in kinds for one in self.references])[self.reference_index]

    def axis_values(self, row: int) -> dict[str, Any]:
        """Where on the axes a comparison is."""
        place = dict(self.places[self.place[row]])
        if self.is_pooled:
            return place | {"stratum": "pooled"}
        return place | {"stratum": self.strata[self.stratum[row]]} if self.strata else place

    # Parts of groups and references

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """The sums of groups and of references, of an array of shape (places, keys, ...)."""
        group, reference = np.empty((2, len(self), *values.shape[2:]))
        for rows, sums in self._sums(values):
            at = self.place[rows], self.stratum[rows]
            group[rows] = sums[*at, self.group[rows]]
            rest = sums[:, :, :-1].sum(axis=2)[at] - group[rows]
            named = sums[*at, np.maximum(self.reference[rows], 0)]
            is_rest = self.is_reference[rows] | (self.reference[rows] < 0)
            shape = (-1,) + (1,) * (values.ndim - 2)
            reference[rows] = np.where(is_rest.reshape(shape), rest, named)
        for i, one in enumerate(self.references):
            if one.cells is not None:
                # Of numbers of cases, there is one value.
                cells = one.cells if values.shape[-1] == len(one.cells) else sum(one.cells)
                reference[self.reference_index == i] = cells
        return group, reference

    def unknown(self, values: Floats) -> Floats:
        """The sums of cases whose group is unknown, at the place of each comparison."""
        unknown = np.empty((len(self), *values.shape[2:]))
        for rows, sums in self._sums(values):
            unknown[rows] = sums[self.place[rows], self.stratum[rows], -1]
        return unknown

    def columns(self, values: Floats) -> Iterator[tuple[Integers, Floats]]:
        """Comparisons of one column at one place, and the sums of all of its groups."""
        for rows, sums in self._sums(values):
            where = self.place[rows] * sums.shape[1] + self.stratum[rows]
            for at in np.unique(where):
                some = rows[where == at]
                yield some, sums[self.place[some[0]], self.stratum[some[0]], :-1]

    def strata_tables(self, values: Floats) -> tuple[Floats, Floats]:
        """The sums of groups and references in each stratum, of shape (comparisons, strata, ...)."""
        sides = [self._in_stratum(stratum).split(values) for stratum in range(len(self.strata))]
        group, reference = (np.stack(side, axis=1) for side in zip(*sides, strict=True))
        return group, reference

    def _in_stratum(self, stratum: int) -> Comparisons:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        where = np.full(len(self), stratum)
        return Comparisons(**fields | {"is_pooled": False, "stratum": where})

    def _sums(self, values: Floats) -> Iterator[tuple[Integers, Floats]]:
        """Comparisons of each grouping, and sums of shape (places, strata, groups + 1, ...)."""
        strata = 1 if self.is_pooled or not self.strata else len(self.strata)
        for i, grouping in enumerate(self.groupings):
            rows = np.flatnonzero(self.grouping == i)
            width = len(grouping.groups) + 1
            # The last group is the unknown one.
            slot = self._stratum_of_keys * width + grouping.codes % width
            sums = np.zeros((len(values), strata * width, *values.shape[2:]))
            np.add.at(sums.swapaxes(0, 1), slot, values.swapaxes(0, 1))
            yield rows, sums.reshape(len(values), strata, width, *values.shape[2:])

    @property
    def _stratum_of_keys(self) -> Integers:
        return self.stratum_codes * 0 if self.is_pooled else self.stratum_codes

    def masks(self, row: int, keys: Integers) -> tuple[Bools, Bools]:
        """Which items with these keys, such as rows, are in the group and in the reference."""
        codes = self.groupings[self.grouping[row]].codes[keys]
        is_here = self._stratum_of_keys[keys] == self.stratum[row]
        is_group = is_here & (codes == self.group[row])
        if self.is_reference[row] or self.reference[row] < 0:
            return is_group, is_here & (codes >= 0) & ~is_group
        return is_group, is_here & (codes == self.reference[row])

    # Counts

    @property
    def counts(self) -> Counts:
        """The counts of cells that are compared."""
        counts = self.tally.selections if self.source == "selections" else self.tally.counts
        assert counts is not None
        return counts

    @cached_property
    def cells(self) -> tuple[Floats, Floats]:
        """The cells of groups and references; sums of weights if cases are weighted."""
        if not self.tally.weighted:
            return self.split(self.counts.cells)
        # What is left of a sum of weights after subtracting all of its parts is rounding.
        pairs = zip(self.split(self.counts.cells), self.cases, strict=True)
        group, reference = (np.where(cases > 0, cells, 0.0) for cells, cases in pairs)
        return group, reference

    @cached_property
    def cases(self) -> tuple[Floats, Floats]:
        """The numbers of cases in the cells of groups and references."""
        return self.split(self.counts.cases)

    @cached_property
    def spreads(self) -> Floats:
        """The strength per split that the spread of all groups of a column gives."""
        spreads = np.empty((len(self), 3))
        for rows, cells in self.columns(self.counts.cells):
            spreads[rows] = learn_split_strengths(cells[self.group[rows]])
        return spreads

    @cached_property
    def sizes_by_place(self) -> Floats:
        """The number of cases of each key, by place."""
        return case_numbers(self.tally, self.source)

    @property
    def sizes_of_keys(self) -> Floats:
        """The number of cases of each key, at the first place."""
        return np.asarray(self.sizes_by_place[0])

    @cached_property
    def sizes(self) -> tuple[Floats, Floats]:
        """The number of cases of each group and reference."""
        numbers = self.sizes_by_place
        group, reference = self.split(numbers[..., None])
        return group[:, 0], reference[:, 0]

    @cached_property
    def is_testable(self) -> Bools:
        """Whether group and reference both have cases, and the group is not the reference."""
        group, reference = self.sizes
        return (group > 0) & (reference > 0) & ~self.is_reference

    @cached_property
    def mirror(self) -> Integers:
        """The comparison that each one is: the first of two groups that are each other's rest."""
        mirror = np.arange(len(self))
        is_of_rest = self.has_kind(ReferenceKind.REST, ReferenceKind.ALL)
        where = (self.place * max(1, len(self.strata)) + self.stratum) * len(self.groupings) + self.grouping
        order = np.argsort(where, kind="stable")
        starts = np.flatnonzero(np.diff(where[order], prepend=-1))
        for column in np.split(order, starts[1:]):
            hides = self.groupings[self.grouping[column[0]]].is_hidden.any() if len(column) else True
            filled = column[self.sizes[0][column] > 0]
            if len(filled) == 2 and not hides and is_of_rest[column[0]]:
                mirror[column] = filled[0]
        return mirror


def build_comparisons(tally: Tally, settings: Settings, strata: Sequence[str] = ()) -> list[Comparisons]:
    """The comparisons of everything that metrics read; with strata, in each and pooled over all."""
    groupings = tuple(build_groupings(tally, settings, strata))
    _check_references(settings.reference, groupings)
    names, codes = name_strata(tally, strata, settings) if strata else ([], _no_strata(tally))
    comparisons = []
    for source, values in _sources(tally).items():
        models_or_cells = source in ("counts", "selections", "models")
        places = tally.places if models_or_cells else ((),)
        build = _Builder(tally, settings, source, places, groupings, tuple(names), codes, values)
        comparisons.append(build.build(is_pooled=False))
        if strata and source in ("counts", "selections"):
            comparisons.append(build.build(is_pooled=True))
    if tally.rule is not None and not any(map(len, comparisons)):
        raise InvalidInput(f"rounded by the rule {tally.rule.name}, no group is left that could be shown")
    return comparisons


def compare_everybody(comparisons: Comparisons) -> Comparisons:
    """All cases at each place as one group, which has no reference."""
    tally, places = comparisons.tally, comparisons.places
    everybody = Grouping((), "", ("",), np.zeros(len(tally.keys), dtype=np.int64), {}, np.zeros(1, dtype=bool))
    zeros = np.zeros(len(places), dtype=np.int64)
    return Comparisons(
        tally=tally,
        source=comparisons.source,
        places=places,
        groupings=(everybody,),
        strata=(),
        stratum_codes=_no_strata(tally),
        is_pooled=False,
        place=np.arange(len(places)),
        stratum=zeros,
        grouping=zeros,
        group=zeros,
        references=(Reference(ReferenceKind.GROUP, "", 0),),
        reference_index=zeros,
    )


def case_numbers(tally: Tally, source: Source) -> Floats:
    """The number of cases of each key, by place."""
    if source == "rows":
        assert tally.rows is not None
        return np.bincount(tally.rows.key, minlength=len(tally.keys)).astype(np.float64)[None]
    values: Floats | None
    if source == "classes":
        values = None if tally.class_counts is None else tally.class_counts[None]
    elif source == "models":
        values = tally.model_counts
    else:
        counts = tally.selections if source == "selections" else tally.counts
        values = None if counts is None else counts.cases
    assert values is not None
    return np.asarray(values.reshape(*values.shape[:2], -1).sum(axis=2))


def _no_strata(tally: Tally) -> Integers:
    return np.zeros(len(tally.keys), dtype=np.int64)


def _sources(tally: Tally) -> dict[Source, Floats]:
    """What there is to compare, with the number of cases by place and key, to choose references by."""
    sources: dict[Source, Floats] = {}
    for source, counts in (("counts", tally.counts), ("selections", tally.selections)):
        if counts is not None:
            sources[source] = counts.cells  # type: ignore[index]
    if tally.rows is not None:
        numbers = np.bincount(tally.rows.key, minlength=len(tally.keys))
        sources["rows"] = numbers[None, :, None].astype(np.float64)
    if tally.class_counts is not None:
        sources["classes"] = tally.class_counts.sum(axis=(1, 2))[None, :, None]
    if tally.model_counts is not None:
        sources["models"] = tally.model_counts.reshape(*tally.model_counts.shape[:2], 8)
    return sources


@dataclass(frozen=True)
class _Builder:
    """Builds the comparisons of one source."""

    tally: Tally
    settings: Settings
    source: Source
    places: tuple[Place, ...]
    groupings: tuple[Grouping, ...]
    strata: tuple[str, ...]
    stratum_codes: Integers
    values: Floats

    def build(self, is_pooled: bool) -> Comparisons:
        """All comparisons, by place, stratum, grouping and group."""
        parts: list[Integers] = []
        references: list[Reference] = []
        strata = 1 if is_pooled or not self.strata else len(self.strata)
        for place in range(len(self.places)):
            chosen = [self._resolve(grouping, self.values[place]) for grouping in self.groupings]
            for stratum in range(strata):
                is_here = self._occurs(None if is_pooled or not self.strata else stratum)
                for i, grouping in enumerate(self.groupings):
                    present = np.zeros(len(grouping.groups), dtype=bool)
                    present[grouping.codes[is_here & (grouping.codes >= 0)]] = True
                    present &= ~grouping.is_hidden
                    if is_pooled and chosen[i].code >= 0:
                        present[chosen[i].code] = False
                    groups = np.flatnonzero(present)
                    where = np.empty((5, len(groups)), dtype=np.int64)
                    where[:4] = np.array([[place], [stratum], [i], [len(references)]])
                    where[4] = groups
                    parts.append(where)
                    references.append(chosen[i])
        place, stratum, grouping, reference, group = np.hstack(parts)
        return Comparisons(
            tally=self.tally, source=self.source, places=self.places, groupings=self.groupings,
            strata=self.strata, stratum_codes=self.stratum_codes, is_pooled=is_pooled,
            place=place, stratum=stratum, grouping=grouping, group=group,
            references=tuple(references), reference_index=reference,
        )  # fmt: skip

    def _occurs(self, stratum: int | None) -> Bools:
        """Which keys occur in a stratum, or in any."""
        occurs: Bools = np.ones(len(self.tally.keys), dtype=bool)
        if self.tally.rows is not None or self.source == "classes":
            occurs = np.asarray(self.values.any(axis=(0, 2)))
        return occurs if stratum is None else occurs & (self.stratum_codes == stratum)

    def _resolve(self, grouping: Grouping, values: Floats) -> Reference:
        """The reference of a grouping at a place, from values by key."""
        present = np.unique(grouping.codes[self._occurs(None)])
        groups = [code for code in present.tolist() if code >= 0 and not grouping.is_hidden[code]]
        reference = _reference_of(grouping, self.settings.reference)
        if not isinstance(reference, ConfusionMatrix):
            self._check_groups(grouping, groups, values)
        if not groups:
            return Reference(ReferenceKind.REST, "rest")
        # A group that is called "rest" can be the reference; the default never is a group.
        code = None if isinstance(reference, (ReferenceKind, ConfusionMatrix)) else grouping.find(reference)
        if code is not None and code not in groups:
            code = None
        is_best = code is None and reference == Chosen.BEST
        if code is None and reference in (Chosen.LARGEST, Chosen.BEST):
            sums = sum_groups(values[None], grouping.codes, len(grouping.groups))[0]
            code = self._choose(sums, groups, is_best)
        if code is not None:
            return Reference(ReferenceKind.GROUP, grouping.groups[code], code, is_chosen=is_best)
        matrix = reference if isinstance(reference, ConfusionMatrix) else _parse_matrix(reference)
        if matrix is not None:
            self._check_matrix()
            return Reference(ReferenceKind.MATRIX, "given matrix", MATRIX, matrix.cells)
        if reference in (ReferenceKind.REST, ReferenceKind.ALL):
            return Reference(ReferenceKind(reference), str(reference))
        if isinstance(reference, (tuple, list)) and not all(isinstance(part, Real) for part in reference):
            name = " & ".join(map(str, reference))
            must = f"the `reference` of {grouping.name!r} must be a group that has cases"
            raise InvalidInput(f"{must}; {name} has none")
        if isinstance(reference, (tuple, list)):
            must = "counts as `reference` must be ConfusionMatrix(tp=tp, fn=fn, fp=fp, tn=tn)"
            raise InvalidInput(f"{must}; got {reference!r}")
        names = [grouping.groups[code] for code in groups]
        see = f"groups: {', '.join(names[:8])}"
        raise UnknownName.among(f"group of {grouping.name!r}", str(reference), names, see=see)

    def _check_groups(self, grouping: Grouping, groups: list[int], values: Floats) -> None:
        """Refuse fewer than two groups, which there is nothing to compare with."""
        if grouping.is_hidden.any():
            return
        if not groups:
            raise InvalidInput(f"no case has a value in {grouping.name!r}, so that there are no groups")
        if len(groups) < 2:
            unknown = int(values[grouping.codes < 0].sum())
            verb = "is" if unknown == 1 else "are"
            note = f"; {several(unknown, 'case')} without a value {verb} in no group" if unknown else ""
            raise InvalidInput(
                f"{grouping.name!r} has only one group with cases "
                f"({brief(grouping.groups[groups[0]])}), so there is nothing to compare it with{note}"
            )

    def _choose(self, sums: Floats, groups: list[int], is_best: bool) -> int:
        """The largest group, or the one with the highest rate of favourable predictions."""
        if not is_best:
            return max(groups, key=lambda code: sums[code].sum())
        if self.source not in ("counts", "selections"):
            raise InvalidInput(f"{_MUST_BE_GROUP}; 'best' takes predictions of two classes")
        if self.settings.favourable is None:
            text = "`reference='best'` needs `favourable=`: which prediction is good for a person"
            raise InvalidInput(text)
        rates = favourable_rates(sums[groups], self.settings)
        return groups[int(np.nanargmax(np.where(np.isnan(rates), -1.0, rates)))]

    def _check_matrix(self) -> None:
        if self.strata:
            raise InvalidInput(f"{_MUST_BE_GROUP}; a matrix has no strata")
        if self.source not in ("counts", "selections"):
            raise InvalidInput(f"{_MUST_BE_GROUP}; a ConfusionMatrix is of two classes and has no rows")
        if self.tally.clusters is not None:
            raise InvalidInput(f"{_MUST_BE_GROUP}; counts have no clusters")


_MUST_BE_GROUP = "`reference` must be 'rest', 'all', 'largest', 'best' or the name of a group"


def favourable_rates(cells: Floats, settings: Settings) -> Floats:
    """The rate of favourable predictions of groups; nan for those with too few of the cases."""
    metric = find_metric("ppr" if settings.favourable == "positive" else "pnr")
    sizes = cells.sum(axis=-1)
    is_small = sizes < max(1.0, MIN_SHARE * float(sizes.sum()))
    return np.where(is_small, np.nan, metric.scores(cells))


def _check_references(reference: Any, groupings: Sequence[Grouping]) -> None:
    """Refuse references of columns that do not exist."""
    if isinstance(reference, Mapping):
        known = {name for grouping in groupings for name in (grouping.name, grouping.columns)}
        for column in reference:
            if column not in known:
                names = [grouping.name for grouping in groupings]
                raise UnknownName.among("group column", column, names)


def _reference_of(grouping: Grouping, reference: Any) -> Any:
    """The reference of a grouping; that of an intersection is the one of its columns' references."""
    if not isinstance(reference, Mapping):
        return reference
    for name in (grouping.name, grouping.columns):
        if name in reference:
            return reference[name]
    single = [reference.get(column, ReferenceKind.REST) for column in grouping.columns]
    are_groups = [not isinstance(one, ConfusionMatrix) and one not in _KINDS for one in single]
    return tuple(single) if len(single) > 1 and all(are_groups) else ReferenceKind.REST


def _parse_matrix(reference: Any) -> ConfusionMatrix | None:
    """The matrix that a text such as ``10,2,3,40`` gives; None for other texts."""
    parts = reference.split(",") if isinstance(reference, str) and len(reference) < 200 else []
    try:
        return ConfusionMatrix.from_array(list(map(float, parts))) if len(parts) == 4 else None
    except ValueError:
        return None
