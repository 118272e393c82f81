"""Who is compared with whom: every group, at every place and in every stratum, with its reference.

Groups and references are integer codes. Whatever metrics read (cells, matrices of classes, rows,
clusters), the parts of group and reference are sums over keys, or masks of rows, by these codes. A
reference is one group, the rest (all cases of known group without the group), or a given matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Bools, Floats, Integers
from ..confusion import ConfusionMatrix
from ..data import Counts, Place, Tally
from ..errors import InvalidInput, UnknownName, brief
from ..inference import learn_split_strengths
from ..metrics import Metric, OneGroupMetric, metric as find_metric
from ..wording import several
from .groupings import Grouping, build_groupings, name_strata, sum_groups
from .settings import Chosen, ReferenceKind, Settings

# In place of the code of a group: cases of unknown group, no case, and all cases of known group.
UNKNOWN, NOBODY, KNOWN = -1, -2, -3
# Impact ratios compare with groups that have at least this share of the cases.
MIN_SHARE = 0.02
_CELLS = ("counts", "selections")
_PLACED = (*_CELLS, "models", "gaps")
_OF_REST = (ReferenceKind.REST, ReferenceKind.ALL)
_CHOSEN = (Chosen.LARGEST, Chosen.BEST)
# The fields with one value per comparison.
_ARRAYS = (
    *("place", "stratum", "grouping", "group", "left_out"),
    *("reference", "reference_name", "reference_kind", "is_chosen", "given_cells"),
)
_MUST_BE_GROUP = "`reference` must be 'rest', 'all', 'largest', 'best' or the name of a group"


class Reference(NamedTuple):
    """A reference: its code, name and kind, whether its score chose it, and its given cells."""

    code: int
    name: str
    kind: ReferenceKind
    is_chosen: bool = False
    cells: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)


_EVERYBODY = Reference(0, "", ReferenceKind.GROUP)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of groups with references.

    Comparisons stand in columns: the groups of one grouping at one place and in one stratum, which
    have the same reference. The first arrays have one value per comparison.

    Attributes
    ----------
    place, stratum, grouping, group : array of int
        Indices of places, strata, groupings and groups.
    left_out : array of int
        The group that the reference lacks, or `NOBODY`.
    reference : array of int
        The code of the reference: of a group, `KNOWN` for the rest, or `NOBODY` for a matrix.
    reference_name, reference_kind, is_chosen, given_cells : array
        The other fields of the references.
    tally, source : Tally, str
        What metrics read: ``counts`` of cases with a label, ``selections`` (counts of all cases with
        a prediction), ``rows``, ``classes`` (matrices of all classes), pairs of ``models``, whose
        scores are compared with each other, or ``gaps``, whose changes are.
    values : array
        The numbers of cases by place and key, of whatever shape metrics read.
    places : tuple of Place
        The places that ``place`` is an index of.
    strata : sequence of str, stratum_codes : array
        The names of the strata, and the stratum of each key; all strata together if ``is_pooled``.
    """

    place: Integers
    stratum: Integers
    grouping: Integers
    group: Integers
    left_out: Integers
    reference: Integers
    reference_name: Array
    reference_kind: Array
    is_chosen: Bools
    given_cells: Floats
    tally: Tally
    source: str
    values: Floats
    places: tuple[Place, ...]
    groupings: tuple[Grouping, ...]
    strata: Sequence[str]
    stratum_codes: Integers
    is_pooled: bool

    def __len__(self) -> int:
        return len(self.group)

    def take(self, rows: Any, **changes: Any) -> Comparisons:
        """Some of the comparisons, of which some arrays are replaced."""
        arrays = {name: getattr(self, name)[rows] for name in _ARRAYS}
        return replace(self, **arrays | changes)

    # Where and who

    @cached_property
    def is_reference(self) -> Bools:
        """Whether the group is the reference of the others, so that it is beside the rest."""
        return np.asarray(self.reference == self.group)

    def has_kind(self, *kinds: ReferenceKind) -> Bools:
        """Whether the reference is of one of these kinds."""
        return np.isin(self.reference_kind, kinds)

    def includes_group(self, metric: Any) -> Bools:
        """Which references are all cases, the group's included, for this metric.

        A rate over all cases lies between those of the group and of the rest. Other scores need
        not, so that the gap to all cases could contradict the test: they have the rest instead.
        """
        is_rate = isinstance(metric, Metric) and not metric.comparisons and metric.base.is_rate
        return self.has_kind(ReferenceKind.ALL) & (is_rate and self.is_of_cells)

    def name_groups(self, codes: Integers) -> Array:
        """The names of groups of the groupings of the comparisons."""
        pairs = zip(self.grouping, codes, strict=True)
        return np.fromiter((self.groupings[by].groups[code] for by, code in pairs), object)

    @cached_property
    def axes(self) -> dict[str, Array]:
        """The axes, and where on them the comparisons are."""
        places = {axis: [dict(place)[axis] for place in self.places] for axis, _ in self.places[0]}
        axes = {axis: np.fromiter(values, object)[self.place] for axis, values in places.items()}
        if self.strata:
            names = ["pooled"] * len(self.strata) if self.is_pooled else self.strata
            axes["stratum"] = np.array(names, dtype=object)[self.stratum]
        return axes

    def axis_values(self, row: int) -> dict[str, Any]:
        """Where on the axes a comparison is."""
        return {axis: values[row] for axis, values in self.axes.items()}

    # Parts of groups and references

    @cached_property
    def _codes(self) -> Integers:
        """The group, then the reference and the two groups that it lacks; all as codes."""
        is_rest = self.is_reference | (self.reference == KNOWN)
        reference = np.where(is_rest, KNOWN, self.reference)
        return np.stack(
            [self.group, reference, np.where(is_rest, self.group, NOBODY), self.left_out]
        )

    @cached_property
    def _strata_of_keys(self) -> Integers:
        return self.stratum_codes * (not self.is_pooled)

    def _sum_groups(self, values: Floats) -> Iterator[Floats]:
        """The sums of each grouping by code, of shape (places, strata, codes, ...)."""
        strata = self._strata_of_keys
        number = strata.max(initial=0) + 1
        for grouping in self.groupings:
            width = len(grouping.groups) + 3
            codes = strata * width + grouping.codes % width
            sums = sum_groups(values, codes, number * width)
            sums = sums.reshape(len(values), number, width, *values.shape[2:])
            sums[:, :, KNOWN] = sums[:, :, :KNOWN].sum(axis=2)
            yield sums

    def _sum(self, values: Floats, codes: Integers) -> Floats:
        """The sums of the cases with these codes, of shape (codes, comparisons, ...)."""
        parts = np.empty((*codes.shape, *values.shape[2:]))
        for i, sums in enumerate(self._sum_groups(values)):
            rows = np.flatnonzero(self.grouping == i)
            parts[:, rows] = sums[self.place[rows], self.stratum[rows], codes[:, rows]]
        return parts

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """The sums of groups and of references, of an array of shape (places, keys, ...)."""
        group, reference, own, left_out = self._sum(values, self._codes)
        reference = reference - own - left_out
        return group, reference + self.given_cells if self.given_cells.any() else reference

    def unknown(self, values: Floats) -> Floats:
        """The sums of cases whose group is unknown, at the place of each comparison."""
        return np.squeeze(self._sum(values, np.full((1, len(self)), UNKNOWN)), axis=0)

    @cached_property
    def column_rows(self) -> list[Integers]:
        """The comparisons of each column."""
        where = np.stack([self.place, self.stratum, self.grouping])
        starts = np.flatnonzero(np.diff(where).any(axis=0)) + 1
        return [rows for rows in np.split(np.arange(len(self)), starts) if len(rows)]

    def columns(self, values: Floats) -> Iterator[tuple[Integers, Floats]]:
        """The comparisons of each column, and the sums of all groups of its grouping."""
        sums = list(self._sum_groups(values))
        for rows in self.column_rows:
            place, stratum, by = (a[rows[0]] for a in (self.place, self.stratum, self.grouping))
            yield rows, sums[by][place, stratum, :KNOWN]

    def split_strata(self, values: Floats) -> tuple[Floats, Floats]:
        """The sums of groups and references by stratum, of shape (comparisons, strata, ...)."""
        strata = [self.stratum * 0 + stratum for stratum in range(len(self.strata))]
        parts = [replace(self, is_pooled=False, stratum=stratum) for stratum in strata]
        group, reference = np.stack([part.split(values) for part in parts], axis=2)
        return group, reference

    def masks(self, row: int, keys: Integers) -> tuple[Bools, Bools]:
        """Which items with these keys, such as rows, are in the group and in the reference."""
        group, reference, *lacking = self._codes[:, row]
        codes = self.groupings[self.grouping[row]].codes[keys]
        is_here = self._strata_of_keys[keys] == self.stratum[row]
        is_reference = codes >= 0 if reference == KNOWN else codes == reference
        return is_here & (codes == group), is_here & is_reference & ~np.isin(codes, lacking)

    # Counts

    @property
    def is_of_cells(self) -> bool:
        """Whether scores are of the cells of each group, not pooled or of other values."""
        return self.source in _CELLS and not self.is_pooled

    @property
    def counts(self) -> Counts:
        """The counts of cells that are compared."""
        counts: Counts = getattr(self.tally, self.source)
        return counts

    @property
    def cluster_cells(self) -> Floats:
        """The cells of clusters of the cases that are compared."""
        cells: Floats = getattr(self.tally.clusters, self.source)
        return cells

    @cached_property
    def cells(self) -> tuple[Floats, Floats]:
        """The cells of groups and references; sums of weights if cases are weighted."""
        group, reference = self.split(self.counts.cells)
        if self.tally.weighted:
            # What is left of a sum of weights after subtracting all of its parts is rounding.
            reference = np.where(self.cases[1] > 0, reference, 0.0)
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

    @property
    def sizes_of_keys(self) -> Floats:
        """The number of cases of each key, at the first place."""
        return sum_cases(self.values[0])

    @cached_property
    def sizes(self) -> tuple[Floats, Floats]:
        """The number of cases of each group and reference."""
        group, reference = map(sum_cases, self.split(self.values))
        return group, reference

    @cached_property
    def is_testable(self) -> Bools:
        """Whether group and reference both have cases, and the group is not the reference."""
        group, reference = self.sizes
        return (group > 0) & (reference > 0) & ~self.is_reference

    @cached_property
    def mirror(self) -> Integers:
        """The comparison that each one is: the first of two groups that are each other's rest."""
        mirror = np.arange(len(self))
        is_hiding = np.array([grouping.is_hidden.any() for grouping in self.groupings])
        can_be = self.has_kind(*_OF_REST) & ~is_hiding[self.grouping] & (self.sizes[0] > 0)
        for rows in self.column_rows:
            filled = rows[can_be[rows]]
            if len(filled) == 2:
                mirror[rows] = filled[0]
        return mirror


def sum_cases(values: Floats) -> Floats:
    """The sums of an array over all but its first axis."""
    return np.asarray(values.sum(axis=tuple(range(1, values.ndim))))


def build_comparisons(
    tally: Tally, settings: Settings, strata: Sequence[str] = ()
) -> list[Comparisons]:
    """The comparisons of everything that metrics read; with strata, in each and over all."""
    names, codes = name_strata(tally, strata, settings)
    given_groupings = tuple(build_groupings(tally, settings, strata))
    if not given_groupings and tally.model_counts is None:
        given_groupings = (_everybody(codes),)
    given = _list_references(settings.reference, given_groupings)
    comparisons = []
    for source, values in _read_sources(tally, settings).items():
        groupings = given_groupings
        if source == "models":
            taken = [grouping.name for grouping in groupings]
            name = next(name for name in ("all cases", "everybody", "all") if name not in taken)
            groupings = (*groupings, _everybody(codes, name))
        is_cells = source in _CELLS
        weights = getattr(tally, source).cells if is_cells else values
        places = tally.places if source in _PLACED else ((),)
        occurs = np.ones(len(tally.keys), dtype=bool)
        if tally.rows is not None or source == "classes":
            occurs = sum_cases(values.swapaxes(0, 1)) > 0
        shown = [grouping.list_shown(occurs) for grouping in groupings]
        if source == "models":
            against = [str(dict(place)["against"]) for place in places for _ in groupings]
            references = [Reference(NOBODY, name, ReferenceKind.MODEL) for name in against]
        else:
            references = [
                _find_reference(*of_grouping, of_place, settings)
                for of_place in weights
                for of_grouping in zip(given, groupings, shown, strict=True)
            ]
        if any(reference.kind == ReferenceKind.MATRIX for reference in references):
            _check_matrix(tally, source, strata)
        for is_pooled in (False, True) if strata and is_cells else (False,):
            arrays = _list_comparisons(shown, codes * (not is_pooled), len(places), references)
            part = Comparisons(
                **arrays, tally=tally, source=source, values=values, places=places,
                groupings=groupings, strata=names, stratum_codes=codes, is_pooled=is_pooled,
            )  # fmt: skip
            # All cases are beside nobody.
            is_beside = ~part.is_reference if is_pooled or not groupings[0].columns else ...
            comparisons.append(part.take(is_beside))
    if tally.rule is not None and not any(map(len, comparisons)):
        text = f"rounded by the rule {tally.rule.name}, no group is left that could be shown"
        raise InvalidInput(text)
    return comparisons


def _read_sources(tally: Tally, settings: Settings) -> dict[str, Floats]:
    """The numbers of cases by place and key of everything that can be compared."""
    sources = {name: getattr(getattr(tally, name), "cases", None) for name in _CELLS}
    if tally.rows is not None:
        sizes = np.bincount(tally.rows.key, minlength=len(tally.keys))
        sources["rows"] = sizes[None].astype(np.float64)
    if tally.class_counts is not None:
        sources["classes"] = tally.class_counts[None]
    sources["models"] = tally.model_counts
    if getattr(settings, "with_gaps", False):
        sources["gaps"] = tally.model_counts
    return {name: values for name, values in sources.items() if values is not None}


def _list_comparisons(
    shown: Sequence[Integers], strata: Integers, places: int, references: Sequence[Reference]
) -> dict[str, Array]:
    """The arrays of comparisons, from codes by grouping and key, and references by place."""
    table = np.hstack([[strata, codes * 0 + i, codes] for i, codes in enumerate(shown)])
    stratum, by, group = np.tile(np.unique(table[:, table[2] >= 0], axis=1), places)
    place = np.repeat(range(places), len(group) // places)
    fields = zip(zip(*references, strict=True), (int, object, str, bool, float), strict=True)
    index = place * len(shown) + by
    of_references = [np.array(values, dtype=dtype)[index] for values, dtype in fields]
    left_out = np.full(len(group), NOBODY)
    return dict(zip(_ARRAYS, (place, stratum, by, group, left_out, *of_references), strict=True))


def compare_everybody(comparisons: Comparisons) -> Comparisons:
    """All cases at each place as one group, which is beside nobody."""
    codes, places = comparisons.stratum_codes * 0, len(comparisons.places)
    references = [_EVERYBODY] * places
    arrays = _list_comparisons([codes], codes, places, references)
    fields: dict[str, Any] = {"groupings": (_everybody(codes),), **arrays}
    return replace(comparisons, strata=(), stratum_codes=codes, **fields)


def _everybody(codes: Integers, name: str = "") -> Grouping:
    """All cases as one group, those of unknown groups included."""
    return Grouping((), name, (name,), codes * 0, {}, np.zeros(1, dtype=bool))


# References


def _list_references(given: Any, groupings: Sequence[Grouping]) -> list[Any]:
    """What is given as the reference of each grouping.

    That of an intersection, if it is not given, is the one of its columns' references.
    """
    if not isinstance(given, Mapping):
        return [given] * len(groupings)
    names = [grouping.name for grouping in groupings]
    for column in given:
        if column not in [*names, *(grouping.columns for grouping in groupings)]:
            raise UnknownName.among("group column", column, names)
    references = []
    for grouping in groupings:
        parts = tuple(given.get(column, ReferenceKind.REST) for column in grouping.columns)
        is_group = all(
            not isinstance(part, ConfusionMatrix) and part not in (*_OF_REST, *_CHOSEN)
            for part in parts
        )
        default = given.get(grouping.columns, parts if is_group else ReferenceKind.REST)
        references.append(given.get(grouping.name, default))
    return references


def _find_reference(
    given: Any, grouping: Grouping, shown: Integers, weights: Floats, settings: Settings
) -> Reference:
    """The reference of a grouping at a place, from codes and weights by key."""
    if not grouping.columns:
        return _EVERYBODY
    groups = np.unique(shown[shown >= 0]).tolist()
    matrix = _parse_matrix(given)
    if len(groups) < 2 and matrix is None and not grouping.is_hidden.any():
        raise _refuse_groups(grouping, groups, weights)
    if not groups:
        return Reference(KNOWN, "rest", ReferenceKind.REST)
    # A group that is called "rest" can be the reference; the default never is a group.
    is_name = not isinstance(given, (ReferenceKind, ConfusionMatrix))
    code = grouping.find(given) if is_name else UNKNOWN
    is_best = False
    if given in _CHOSEN and code not in groups:
        sums = sum_groups(weights[None], grouping.codes, len(grouping.groups))[0, groups]
        code = groups[np.argmax(_rank_groups(sums, given, settings))]
        is_best = given == Chosen.BEST
    if code in groups:
        return Reference(code, grouping.groups[code], ReferenceKind.GROUP, is_best)
    if matrix is not None:
        return Reference(NOBODY, "given matrix", ReferenceKind.MATRIX, cells=matrix.cells)
    if given in _OF_REST:
        return Reference(KNOWN, str(given), ReferenceKind(given))
    names = [grouping.groups[code] for code in groups]
    if isinstance(given, (tuple, list)):
        must = f"the `reference` of {grouping.name!r} must be a group that has cases"
        raise InvalidInput(f"{must}; {' & '.join(map(str, given))} has none")
    see = f"groups: {', '.join(names[:8])}"
    raise UnknownName.among(f"group of {grouping.name!r}", str(given), names, see=see)


def _rank_groups(cells: Floats, chosen: Chosen, settings: Settings) -> Floats:
    """What the reference is chosen by: sizes, or rates of favourable predictions."""
    if chosen == Chosen.LARGEST:
        return sum_cases(cells)
    if cells.shape[1:] != (4,):
        raise InvalidInput(f"{_MUST_BE_GROUP}; 'best' takes predictions of two classes")
    return np.nan_to_num(favourable_rates(cells, settings), nan=-1.0)


def _refuse_groups(grouping: Grouping, groups: Sequence[int], weights: Floats) -> InvalidInput:
    """The error of fewer than two groups, which there is nothing to compare with."""
    name, unknown = repr(grouping.name), int(weights[grouping.codes < 0].sum())
    if not groups:
        return InvalidInput(f"no case has a value in {name}, so that there are no groups")
    only = f"{name} has only one group with cases ({brief(grouping.groups[groups[0]])})"
    verb = "is" if unknown == 1 else "are"
    note = f"; {several(unknown, 'case')} without a value {verb} in no group" if unknown else ""
    return InvalidInput(f"{only}, so there is nothing to compare it with{note}")


def _check_matrix(tally: Tally, source: str, strata: Sequence[str]) -> None:
    """Refuse a given matrix where it has no counterpart."""
    if strata:
        raise InvalidInput(f"{_MUST_BE_GROUP}; a matrix has no strata")
    if source not in _CELLS:
        text = "a ConfusionMatrix is of two classes and has no rows"
        raise InvalidInput(f"{_MUST_BE_GROUP}; {text}")
    if tally.clusters is not None:
        raise InvalidInput(f"{_MUST_BE_GROUP}; counts have no clusters")


def _parse_matrix(given: Any) -> ConfusionMatrix | None:
    """A matrix, or that of a text such as ``10,2,3,40``; None for others."""
    if isinstance(given, ConfusionMatrix):
        return given
    try:
        return ConfusionMatrix.from_array([float(part) for part in given.split(",")])
    except (AttributeError, ValueError):
        return None


def favourable_metric(settings: Settings) -> OneGroupMetric:
    """The rate of favourable predictions."""
    if settings.favourable is None:
        must = "which prediction is good for a person"
        raise InvalidInput(f"`reference='best'` needs `favourable=`: {must}")
    return find_metric("ppr" if settings.favourable == "positive" else "pnr").base


def favourable_rates(cells: Floats, settings: Settings) -> Floats:
    """The rates of favourable predictions of groups; nan for those with too few of the cases."""
    sizes = cells.sum(axis=-1)
    is_small = sizes < max(1.0, MIN_SHARE * float(sizes.sum()))
    return np.where(is_small, np.nan, favourable_metric(settings).scores(cells))
