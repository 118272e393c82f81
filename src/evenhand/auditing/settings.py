"""What an audit is asked: one record per setting.

`audit`, `audit_counts` and `compare` take the fields of a request as their arguments; the
command, the web form, config files and the documentation read the same records. A setting
is described in the docstring of its class; the first sentence is what ``--help`` shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from enum import StrEnum
from functools import cache
from inspect import cleandoc, get_annotations
from math import ceil, isfinite
from numbers import Real
from typing import Any, ClassVar, Literal, cast

from ..confusion import ConfusionMatrix
from ..data import RULES, Answers, Rule, plain, rule_of
from ..errors import InvalidInput, UnknownName, brief
from ..inference import Strength, as_strength
from ..metrics import Metric
from ..randomness import Rng, seed_of
from .option_text import READERS

#: The name of the group of those without a value.
MISSING = "(missing)"
METRICS = ("ppr", "tpr", "fpr", "ppv", "acc")
WITHOUT_LABELS = ("ppr", "pnr", "demographic_parity", "disparate_impact")
#: The scores of all classes that are audited by default.
AVERAGES = ("acc", "macro tpr", "macro ppv", "macro f1", "mcc", "kappa")
#: The default metrics of models: rates of people whose number is the same with all.
DEFAULT_MARGIN = 0.1
MODEL_METRICS = ("acc", "ppr", "tpr", "fpr")
#: A metric by its name, a `Metric`, or a function, with a name if it has none.
RequestedMetric = str | Metric | Callable[..., Any] | tuple[str, Callable[..., Any]]
RequestedMetrics = Sequence[RequestedMetric] | RequestedMetric | None
_ADJUST = {
    "holm": "Holm: any false alarm",
    "bh": "Benjamini-Hochberg: share of false alarms",
    "none": "no adjustment",
}


class ReferenceKind(StrEnum):
    """What a group is compared with."""

    REST = "rest"
    ALL = "all"
    GROUP = "group"
    MATRIX = "matrix"
    MODEL = "model"
    GOAL = "goal"

    @property
    def is_named(self) -> bool:
        """Whether several groups are compared with the same cases."""
        return self in (ReferenceKind.GROUP, ReferenceKind.MATRIX)


class Chosen(StrEnum):
    """A reference group that the data choose."""

    LARGEST = "largest"
    BEST = "best"


# How the text of an option becomes a value; `option_text` reads what is special.
Reads = Literal["number", "whole", "text", "flag", "labels", "special"]
_READS: dict[type, Reads] = {bool: "flag", int: "whole", float: "number"}


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a setting beside its name, type and default.

    Attributes
    ----------
    text : str
        Its entry in the docstring of the request.
    page, hint : str
        Its label in the web form, by default the beginning of its description, and what is
        said below its field; without a label it has no field.
    brief : str
        The meaning in a few words, as ``--help`` shows it; by default from the docstring.
    option : str or None
        Its option of the command, by default made of its name; None if it has none.
    reads : Reads or None
        How the text of the option becomes a value; by default made of the default.
    many : bool
        Whether the option may be repeated.
    metavar : str or None
        What the option's value is called.
    below : float or None
        The value must be a number above 0 and below this.
    also : str
        What other libraries, or people, call the argument.
    named : dict of str to str
        What values are called in the web form.
    choices : tuple of str
        The values allowed, if these are the named ones.
    parts : dict of str to Setting
        Options and fields whose values are the entries of a mapping.
    """

    page: str | None = ""
    hint: str = ""
    brief: str = ""
    option: str | None = ""
    reads: Reads | None = None
    many: bool = False
    metavar: str | None = None
    below: float | None = None
    also: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    parts: Mapping[str, Setting] = field(default_factory=dict)
    text: str = ""

    def check(self, name: str, value: object) -> object:
        """A value, if it is one of the choices, a flag or a number in its range, as a float."""
        if self.choices and not (isinstance(value, str) and value in self.choices):
            *others, last = map(repr, self.choices)
            raise InvalidInput(argument=name, must=f"be {', '.join(others)} or {last}", got=value)
        if self.reads == "flag" and not isinstance(plain(value), bool):
            raise InvalidInput(argument=name, must="be True or False", got=value)
        if not self.below:
            return value
        number = 0.0
        with suppress(OverflowError, TypeError):
            number = float(plain(value) if isinstance(value, Real) else 0)
        if isinstance(value, bool) or not 0 < number < self.below:
            must = "be a number between 0 and 1" if self.below == 1 else "be a number above 0"
            raise InvalidInput(argument=name, must=must, got=value)
        return number


def _setting(default: object, **known: object) -> Any:
    """A field of a dataclass with what its `Setting` is made of."""
    return field(default=default, metadata={"setting": known})


def _column(**known: object) -> Any:
    return _setting(None, metavar="COLUMN", **known)


# Checks of values


def _check_intersections(value: object) -> None:
    is_all = isinstance(value, str) and value == "all"
    if not is_all and not (type(value) is int and value > 0):
        raise InvalidInput(argument="intersections", must="be 1, 2, 3, … or 'all'", got=value)


def _check_group_names(given: object) -> None:
    tables: Any = given.values() if isinstance(given, Mapping) else [{} if given is None else given]
    if not all(isinstance(names, Mapping) and _are_texts(names.values()) for names in tables):
        must = "map group columns to the names of their values, as {'race': {1: 'White'}}"
        raise InvalidInput(argument="group_names", must=must, got=given)
    for names in tables:
        if len(set(map(code_text, names))) < len(names):
            raise InvalidInput(argument="group_names", must="name each value once", got=names)


def _check_wording(wording: object) -> None:
    if not isinstance(wording, Mapping | None):
        must = "map 'cases', 'outcome' and 'decision' to words"
        raise InvalidInput(argument="wording", must=must, got=wording)
    for name, given in (wording or {}).items():
        if name not in WORDING:
            raise UnknownName.among("part of `wording`", name, WORDING)
        is_noun = name == "cases"
        is_pair = not is_noun and isinstance(given, list | tuple) and len(given) == 2
        is_text = _are_texts(given if is_pair else [given])
        if not is_text or (not is_pair and not is_noun and _VERB.match(given)):
            clauses = "what follows “were”, or a pair of clauses for positive and negative"
            must = f"be {'a noun' if is_noun else clauses}"
            raise InvalidInput(argument=f"wording['{name}']", must=must, got=given)


def parse_goals(given: object) -> dict[str, tuple[str, float]]:
    """The sign and the score of each goal, by the name of its metric; a number has no sign.

    >>> parse_goals({"tpr": 0.8, "fpr": "<=0.1"})
    {'tpr': ('', 0.8), 'fpr': ('<=', 0.1)}
    """
    if not isinstance(given, Mapping | None) or given == {}:
        must = "map metrics to goals, as {'tpr': 0.8} or {'fpr': '<=0.1'}"
        raise InvalidInput(argument="goal", must=must, got=given)
    goals = {}
    for name, goal in (given or {}).items():
        found = _GOAL.fullmatch(str(goal))
        if not (isinstance(name, str) and found and 0 < float(found[2]) < 1):
            must = "be a number between 0 and 1, or such a number after >= or <="
            raise InvalidInput(argument=f"goal[{brief(name)}]", must=must, got=goal)
        goals[name] = found[1], float(found[2])
    return goals


_GOAL = re.compile(r"\s*(>=|<=|)\s*(\d*\.?\d+(?:[eE]-?\d+)?)\s*", re.ASCII)
_VERB = re.compile(r"\s*(?:was|were|is|are)\s+\S", re.IGNORECASE)


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


WORDING = {
    "cases": Setting("What are the cases?", "A noun, such as defendants, or images that"),
    "outcome": Setting(
        "What happened: they were …",
        "What a positive label means, such as charged again; or repaid/did not repay",
    ),
    "decision": Setting(
        "What was decided: they were …",
        "What a positive prediction means, such as called risky; or got a loan/got none",
    ),
}
_LABELS: dict[str, Any] = {"reads": "labels", "many": True, "metavar": "LABEL"}
_POSITIVE = {
    f"positive_{what}": Setting("Counts as positive", brief=f"Of {what}s only.", **_LABELS)
    for what in ("label", "prediction")
}
_REPORT = {"title": "Title of the report", "system": "System that was audited", "author": "Made by"}
#: The arguments of `Audit.to_html` that a report shows.
REPORT = {
    name: Setting(page, brief=f"{page}, for the report.", option=f"--{name}")
    for name, page in _REPORT.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all audits are asked: which metrics, compared with what, and how.

    Parameters
    ----------
    metrics : str, Metric, function or sequence of them
        Metrics: by default ppr, tpr, fpr, ppv and acc. With scores, ``"auc"``, ``"brier"``
        and ``"log_loss"`` too. With ``classes``, averages such as ``"macro f1"``: any metric
        of one group after ``micro``, ``macro`` or ``weighted``; acc, inacc,
        balanced_accuracy, mcc and kappa are scores of each class against the rest and of all
        classes. A function of labels and predictions (or scores) is compared by permutation;
        one without a name is passed as ``("name", function)``.
    reference : str, ConfusionMatrix, or mapping of column to one of these
        Compare each group with: rest (all cases outside it, the default), all, largest, best,
        the name of a group, or a matrix. ``"largest"`` is the group with most
        cases, ``"best"`` the one with the highest rate of favourable predictions among those that
        impact ratios compare with. The reference of an intersection is the intersection of its
        columns' references, unless the mapping names
        it, as in ``{"race & sex": "White & Male"}``.
    confidence_level : float
        Level of the intervals.
    alpha : float
        Significance level (alpha): a group differs if its adjusted p-value is at most this.
    adjust : {"holm", "bh", "none"}
        Multiple comparisons: how p-values are adjusted. Holm's method controls the
        probability of any false positive, refined by the attainable p-values of exact tests;
        Benjamini and Hochberg's controls the false discovery rate.
    family : {"metric", "audit"}
        Adjust over: the groups of each metric, or everything together. The groups of a
        metric include their classes and strata, but each threshold is adjusted for itself.
    margin : float
        Equivalent within a margin of: the interval of the gap lies within ± this. By default that
        is 0.1 or, for a rate, half of the distance of the reference's 95% interval from 0 and 1,
        if that is less. The whole melded interval counts, if no difference was found; for Brier
        scores, half of the margin.
        Unbounded scores, such as likelihood ratios, are equivalent if the whole interval of
        their ratio lies between 0.8 and 1.25. With ``family="audit"``, the interval is one
        for all comparisons together.
    bounds : {"fcr", "simultaneous"}
        Bounds of sizes hold: on average over those that are claimed, or all together. With
        ``"fcr"``, at most a share ``alpha`` of an audit's bounds is wrong on average (the false
        coverage rate), and differences whose size is not known get none. Impact ratios, and
        whether a gap is beyond the margin, are always judged by bounds that hold all together.
    strength : float, mapping or "auto"
        Strength of smoothing: a number of cases, one per split as prev=7,tpr=20,fpr=20, or
        auto. ``"auto"`` learns one per split from the spread of the groups, and lowers it for
        a group that Cross-Prior Smoothing would move too far.
    favourable : {"positive", "negative"}
        Favourable for a person: the prediction that is good; needed to speak of harm and of
        four fifths.
        Only you know it. Until it is given, there are no impact ratios, which compare its
        rates among groups with at least 2% of the cases.
    intersections : int or "all"
        Intersections of columns: of up to 1, 2, 3, ... or all. With 1, none
        are; with 2, pairs.
    group_names : mapping of group column to mapping of value to name
        Names for its values: what the groups of a column are called. An example is ``{"RAC1P": {1: "White"}}``.
    protect : {"cms", "opensafely", "ons"} or int
        Protect small counts: round them as cms, opensafely or ons, or to the minimum count that
        may be shown. No count of a small group can be derived from any output,
        verdicts hold for every table that is rounded to the same counts, and scores made of
        several rates get none.
    wording : mapping of "cases", "outcome" and "decision" to words
        What to call things in sentences. ``cases``: a noun such as ``"defendants"``, or with
        a pronoun ``"images that"``. ``outcome`` and ``decision``: what actual positives and
        positive predictions are, as what follows "were", such as ``"charged again"`` and
        ``"called risky"``, or as a pair of clauses for positive and negative cases, such as
        ``("repaid", "did not repay")``.
    goal : mapping of metric to goal
        Goals: scores that each group has to reach, such as tpr>=0.8 or fpr<=0.1. An example is
        ``{"tpr": ">=0.8"}``; a number alone, as in ``{"tpr": 0.8}``, takes the direction in which the
        metric is better. Goals of rates, shares and F1 are tested exactly, in families of their
        own, so that they change no other verdict.
    rng : int, Generator or None
        Random seed. Scores of single cases, functions and averages over classes need it; an
        int is recorded and repeats the audit.
    """

    metrics: RequestedMetrics = _setting(None, option="--metric", many=True)
    reference: str | ConfusionMatrix | Mapping[Any, Any] = _setting(ReferenceKind.REST, many=True)
    confidence_level: float = _setting(0.95, below=1, also="level")
    alpha: float = _setting(0.05, below=1)
    adjust: Literal["holm", "bh", "none"] = _setting("holm", named=_ADJUST)
    family: Literal["metric", "audit"] = _setting(
        "metric", named={"metric": "the groups of each metric", "audit": "everything together"}
    )
    margin: float | None = _setting(None, below=1e300, reads="number")
    bounds: Literal["fcr", "simultaneous"] = _setting(
        "fcr", named={"fcr": "on average (false coverage rate)", "simultaneous": "all together"}
    )
    strength: Strength = _setting("auto", hint="cases, prev=7,tpr=20,fpr=20, or auto")
    favourable: Literal["positive", "negative"] | None = _setting(
        None,
        named={"": "not said", "positive": "a positive prediction", "negative": "a negative one"},
    )
    intersections: int | str = _setting(
        2, named={"1": "none", "2": "pairs", "3": "up to three", "all": "all"}, also="crossings"
    )
    group_names: Mapping[str, Mapping[Any, str]] | None = _setting(
        None, option="--group-name", many=True, metavar="COLUMN:VALUE=NAME"
    )
    protect: str | int | None = _setting(
        None, named={"": "no"} | {key: f"rule {key}: below {r.least}" for key, r in RULES.items()}
    )
    wording: Mapping[str, Any] | None = _setting(None, page=None, option=None, parts=WORDING)
    goal: Mapping[str, str | float] | None = _setting(None, many=True, metavar="METRIC>=SCORE")
    rng: Rng = _setting(0, also="random_state seed")

    #: Settings without an effect, which the function does not take.
    _excluded: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, (default, known) in settings_of(cast("type", type(self))).items():
            if (value := getattr(self, name)) is not default:
                object.__setattr__(self, name, known.check(name, value))
        as_strength(self.strength)
        seed_of(self.rng)
        self._check_reference(self.reference)
        _check_intersections(self.intersections)
        _check_group_names(self.group_names)
        _check_wording(self.wording)
        parse_goals(self.goal)

    def _check_reference(self, reference: object) -> None:
        if isinstance(reference, Mapping):
            for part in reference.values():
                self._check_reference(part)
        elif not isinstance(reference, str | Real | ConfusionMatrix | tuple | list):
            must = "be 'rest', 'all', 'largest', 'best', a group, a matrix, or map columns to these"
            raise InvalidInput(argument="reference", must=must, got=reference)
        elif self.rule is not None and reference == ReferenceKind.ALL:
            problem = "`protect` and `reference='all'` cannot be combined"
            raise InvalidInput(f"{problem}; compare with 'rest', which asks the same")

    @property
    def rule(self) -> Rule | None:
        """The rule by which counts are rounded, if they are."""
        return rule_of(self.protect)

    @property
    def names(self) -> dict[str, dict[str, str]]:
        """The names of groups by column and by the text of their value."""
        return {
            str(by): {code_text(code): name for code, name in names.items()}
            for by, names in (self.group_names or {}).items()
        }

    @property
    def planned_gap(self) -> float:
        """The gap that needed cases refer to, and margins that do not depend on a rate."""
        return DEFAULT_MARGIN if self.margin is None else self.margin

    def widest(self, columns: Sequence[str]) -> int:
        """The largest number of these columns that are intersected."""
        width = len(columns)
        return width if self.intersections == "all" else min(int(self.intersections), width)

    def draws_for(self, tests: int) -> int:
        """The number of permutations per test if so many share the level.

        The smallest attainable p-value is then at most a twentieth of the smallest level in
        Holm's method.

        >>> Settings().draws_for(1), Settings().draws_for(100)
        (9999, 40000)
        """
        return max(9_999, ceil(20 * tests / self.alpha))

    def recorded(self) -> dict[str, object]:
        """The settings as plain values, but for metrics, which depend on the data."""
        names = [name for name in settings_of(Settings) if name != "metrics"]
        recorded = {name: to_plain(getattr(self, name)) for name in names}
        recorded |= {"reference": _plain_reference(self.reference), "group_names": self.names}
        return recorded | {"wording": to_plain(self.wording or {})}


@dataclass(frozen=True, slots=True)
class AuditRequest(Settings):
    """What `audit` is asked: a table of decisions, how it is read, and settings.

    Parameters
    ----------
    y_true : str or column
        Column of labels; without them only selection rates are audited.
    y_pred : str or column
        Column of predictions.
    y_score : str or column
        Column of scores; with ``threshold``, in place of predictions. They may be passed beside
        predictions for metrics such as ``"auc"``.
    groups : str, list of str or columns
        Columns of groups. The groups of each column are audited, and those of intersections.
    threshold : float or sequence of float
        Threshold: scores at or above it are positive; by default 0.5, if all are from 0 to 1. Several
        thresholds are an axis: rows say at which they are.
    positive : label, list of labels, or mapping of "label" and "prediction" to these
        Counts as positive: these labels, if they are ambiguous. All others are negative. If those of
        predictions differ, ``{"label": "bad", "prediction": ["high", "medium"]}``.
    classes : "all" or iterable of labels
        Classes: those that are audited against the rest; all is every class. Scores
        of all classes are averages over them. Classes are an axis: rows say of which they are.
    strata : str, list of str or columns
        Columns of strata: control features, within which groups are compared. The
        comparison over all strata is exact (Mantel and Haenszel). Strata are an axis: rows
        say in which they are, ``"pooled"`` for all.
    sample_weight : str or column
        Column of weights; tests and intervals are then approximate. Scores are weighted
        means, tests and intervals use effective sample sizes.
    count : str or column, or 1
        Column that counts cases: how many each row stands for, or 1. The value 1 says
        that each row is one, where that is asked.
    cluster : str or column
        Column of clusters: identifiers, such as the patient of several images. Each cluster must lie in
        one group. Tests and intervals are then approximate, with effective sample sizes.
    bins : mapping of column to sequence of float
        Cut these numbers into bins at: cuts by column. ``{"age": [25, 45]}`` gives three groups.
    merge_variants : bool
        Merge group names that differ only in case or spaces. Names are merged
        if they are equal after NFKC normalization, in lower case and with single spaces;
        letters of other scripts that look alike are never merged.
    """

    data: Any = None
    _: KW_ONLY
    y_true: Any = _column(option="--label", also="labels")
    y_pred: Any = _column(option="--prediction", also="predictions")
    y_score: Any = _column(option="--score", also="y_proba y_prob probas_pred")
    groups: Any = _column(
        option="--group", many=True, also="sensitive_features protected_attribute"
    )
    threshold: float | Sequence[float] | None = _setting(None, reads="number", many=True)
    positive: Any = _setting(None, parts=_POSITIVE, also="pos_label", **_LABELS)
    classes: Any = _setting(None, option="--class", many=True, metavar="LABEL")
    strata: Any = _column(many=True, also="control_features within")
    sample_weight: Any = _column(also="weights")
    count: Any = _column()
    cluster: Any = _column(also="unit")
    bins: Mapping[str, Sequence[float]] | None = _setting(None, many=True, metavar="COLUMN=CUT,...")
    merge_variants: bool = _setting(False)

    @property
    def answers(self) -> Answers:
        """The columns of labels and predictions, and what their values mean."""
        return Answers(**{f.name: getattr(self, f.name, None) for f in fields(Answers)})


@dataclass(frozen=True, slots=True)
class CountsRequest(Settings):
    """What `audit_counts` is asked: confusion matrices of groups, and settings.

    Parameters
    ----------
    by : str or sequence of str
        The names of the group columns; a file names its own.
    strata : str or sequence of str
        Columns of strata: which are control features. Groups are compared as by `audit`.
    merge_variants : bool
        Merge group names that differ only in case or spaces.
    """

    counts: Any
    _: KW_ONLY
    by: str | Sequence[str] = _setting("group", page=None, option=None)
    strata: str | Sequence[str] | None = _column(many=True)
    merge_variants: bool = _setting(False)

    _excluded = ("rng",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsRequest(AuditRequest):
    """What `compare` is asked: decisions of several models on the same cases, and settings.

    Parameters
    ----------
    models : mapping of name to column
        Columns of models: names and columns of predictions. All others are compared with the first,
        unless ``baseline`` is another.
    model_column : str or column
        Column that names the model; with ``cluster`` and predictions. It takes the
        place of ``models`` if each row is a decision of one model. All models are compared
        with the first by name, or by the order of categories, unless ``baseline`` is another.
    results : mapping of name to column
        Columns of results: names of models and one number per case each, where more is better: 1 for a
        correct answer and 0 for a wrong one, or a grade. They take the place of labels and
        predictions.
    baseline : str
        The model that all others are compared with; by default the first.
    gaps : bool
        Compare changes of groups: whether the gap of each group to its reference changes, too. By
        default if ``favourable`` or ``reference`` is given.
    y_true : str or column
        Column of labels.
    y_pred : str or column
        Column of predictions; with ``model_column``.
    y_score : str or column
        Column of scores; with several of ``threshold``, in place of models.
    threshold : sequence of float
        Threshold: with scores, those that are compared. All others are compared with the first.
    cluster : str or column
        Column of clusters; with ``model_column``, the cases that rows are decisions on. With ``results``,
        the items that were answered several times.
    metrics : str, Metric or sequence of them
        Metrics: rates of people whose number is the same with all models, by default acc, ppr,
        tpr and fpr.
    """

    models: Any = _setting(None, option="--model", many=True, metavar="NAME=COLUMN")
    model_column: Any = _column()
    results: Any = _setting(None, page=None, option="--result", many=True, metavar="NAME=COLUMN")
    baseline: str | None = _setting(None, page=None)
    gaps: bool | None = _setting(None, page=None, reads="flag")

    _excluded = ("classes", "strata", "sample_weight", "count", "strength", "protect", "goal")

    @property
    def with_gaps(self) -> bool:
        """Whether changes of gaps are tested."""
        is_asked = self.favourable is not None or self.reference != ReferenceKind.REST
        return is_asked if self.gaps is None else self.gaps


# What is known of a request


@cache
def settings_of(request: Any) -> dict[str, tuple[object, Setting]]:
    """Defaults and settings that a request takes, by name: its own before those that it shares."""
    texts = documentation_of(request)
    taken = [f for f in fields(request) if f.metadata and f.name not in request._excluded]
    declared = [name for cls in request.__mro__ for name in get_annotations(cls)]
    settings = {}
    for f in sorted(taken, key=lambda f: declared.index(f.name)):
        known = Setting(**f.metadata["setting"], text=texts.get(f.name, ""))
        settings[f.name] = f.default, _complete(f.name, f.default, known)
    return settings


def _complete(name: str, default: object, known: Setting) -> Setting:
    """A setting with what follows from its name, its default and its description."""
    first = _first_sentence(known.text)
    return replace(
        known,
        page=re.split("[:;]", first)[0] if known.page == "" else known.page,
        option=_option(name) if known.option == "" else known.option,
        brief=known.brief or f"{first or known.hint}{'; may be repeated' * known.many}.",
        reads="special" if name in READERS else known.reads or _READS.get(type(default), "text"),
        choices=() if name in READERS else tuple(filter(None, known.named)),
        parts={part: _complete(part, None, one) for part, one in known.parts.items()},
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def documentation_of(request: type) -> dict[str, str]:
    """What the docstrings of a request say of each setting."""
    texts: dict[str, str] = {}
    for cls in reversed(request.__mro__):
        entries = re.findall(r"(?m)^((\w+) : .*\n(?: .*\n?)+)", cleandoc(cls.__doc__ or ""))
        texts |= {name: f"{entry.rstrip()}\n" for entry, name in entries}
    return texts


def _first_sentence(paragraph: str) -> str:
    """What ``--help`` shows: settings are called as options."""
    text = " ".join(paragraph.partition("\n")[2].split())
    first = re.split(r"\.(?: (?=[A-Z`])|$)", text)[0]
    return re.sub(r"``(\w+)``", lambda name: _option(name[1]), first)


def flat_settings(request: type) -> dict[str, tuple[object, Setting]]:
    """Defaults and settings as the command and the web form ask for them, with all parts."""
    flat: dict[str, tuple[object, Setting]] = {}
    for name, one in settings_of(request).items():
        flat |= {name: one} | {part: (None, setting) for part, setting in one[1].parts.items()}
    return flat


def part_names(request: type) -> dict[str, str]:
    """What messages call the parts of settings, and their names in `flat_settings`.

    >>> part_names(CountsRequest)["wording['cases']"]
    'cases'
    """
    return {
        f"{name}['{part.removeprefix(f'{name}_')}']": part
        for name, (_, known) in settings_of(request).items()
        for part in known.parts
    }


def join_parts(request: type, values: Mapping[str, object]) -> dict[str, Any]:
    """Values by the names of `flat_settings` as arguments.

    >>> join_parts(AuditRequest, {"alpha": 0.1, "positive_label": "bad", "cases": "loans"})
    {'alpha': 0.1, 'positive': {'label': 'bad'}, 'wording': {'cases': 'loans'}}
    """
    arguments: dict[str, Any] = dict(values)
    for argument, part in part_names(request).items():
        name, key = argument[:-2].split("['")
        if part in values and name in values:
            raise InvalidInput(f"pass either `{name}` or `{argument}`, not both")
        if part in values:
            arguments.setdefault(name, {})[key] = arguments.pop(part)
    return arguments


def code_text(code: object) -> str:
    """The text of a value of a group column; a whole number has no decimals.

    >>> code_text(2.0), code_text("16.0"), code_text("1.50")
    ('2', '16', '1.50')
    """
    value = plain(code)
    return MISSING if value is None else re.sub(r"\A([+-]?\d+)\.0+\Z", r"\1", str(value))


def to_plain(value: object) -> object:
    """An argument as JSON can hold it; None for values such as columns, which are not recorded."""
    if isinstance(value, Mapping):
        return {str(name): to_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and len(value) <= 1_000:
        return [to_plain(part) for part in value]
    value = plain(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float) else None


def _plain_reference(reference: object) -> object:
    """A reference as text, or a mapping of column to these; a matrix as its four counts."""
    if isinstance(reference, ConfusionMatrix):
        return ",".join(f"{cell:.17g}" for cell in reference.cells)
    if isinstance(reference, Mapping):
        return {_plain_reference(by): _plain_reference(one) for by, one in reference.items()}
    names = reference if isinstance(reference, tuple | list) else [reference]
    return " & ".join(map(str, names))
