"""What an audit is asked: one record per setting.

`audit`, `audit_counts` and `compare` take the fields of a request as their arguments; the
command, the web form, config files and the documentation read the same records. A setting
is described in the docstring of its class; the first sentence is what ``--help`` shows.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, Field, dataclass, field, fields, replace
from enum import StrEnum
from functools import cache
from math import ceil
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

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
MODEL_METRICS = ("acc", "ppr", "tpr", "fpr")
MIN_DRAWS = 9_999
_LARGEST = 1e300
Adjust = Literal["holm", "bh", "none"]
Family = Literal["metric", "audit"]
Favourable = Literal["positive", "negative"]
ReferenceGiven = str | ConfusionMatrix | Mapping[Any, Any]
GroupNames = Mapping[str, Mapping[Any, str]]
#: A metric by its name, a `Metric`, or a function, with a name if it has none.
RequestedMetric = str | Metric | Callable[..., Any] | tuple[str, Callable[..., Any]]


class ReferenceKind(StrEnum):
    """What a group is compared with."""

    REST = "rest"
    ALL = "all"
    GROUP = "group"
    MATRIX = "matrix"

    @property
    def is_named(self) -> bool:
        """Whether several groups are compared with the same cases."""
        return self in (ReferenceKind.GROUP, ReferenceKind.MATRIX)


class Chosen(StrEnum):
    """A reference group that the data choose."""

    LARGEST = "largest"
    BEST = "best"


# How the text of an option becomes a value; `option_text` reads what is special.
Reads = Literal["number", "whole", "text", "flag", "choice", "labels", "special"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known of a setting beside its name, type and default.

    Attributes
    ----------
    page, hint : str
        Its label in the web form, and what is said below its field; without a label it has
        no field.
    brief : str
        The meaning in a few words, as ``--help`` shows it; by default from the docstring.
    option : str or None
        Its option of the command, by default made of its name; None if it has none.
    reads : Reads
        How the text of the option becomes a value.
    many : bool
        Whether the option may be repeated.
    metavar : str or None
        What the option's value is called.
    choices : tuple of str
        The values allowed, if there are only a few.
    above, below : float or None
        The numbers between which a number must lie.
    check_value : function or None
        Raises an error unless a value is allowed.
    also : str
        What other libraries, or people, call the argument.
    named : dict of str to str
        What the choices are called in the web form.
    parts : dict of str to Setting
        Options and fields whose values are the entries of a mapping.
    """

    page: str = ""
    hint: str = ""
    brief: str = ""
    option: str | None = ""
    reads: Reads = "text"
    many: bool = False
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    above: float | None = None
    below: float = _LARGEST
    check_value: Callable[[Any], object] | None = None
    also: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Setting] = field(default_factory=dict)

    def check(self, name: str, value: Any, default: Any) -> None:
        """Raise an error unless a value is allowed; None is if it is the default."""
        if value is None and default is None:
            return
        must = ""
        if self.choices and not (isinstance(value, str) and value in self.choices):
            *others, last = map(repr, self.choices)
            must = f"be {', '.join(others)} or {last}"
        if self.above is not None and not _is_between(value, self.above, self.below):
            is_open = self.below == _LARGEST
            ends = f"between {self.above:g} and {self.below:g}"
            must = f"be a number {f'above {self.above:g}' if is_open else ends}"
        if must:
            raise InvalidInput(argument=name, must=must, got=value)
        if self.check_value is not None:
            self.check_value(value)


def _is_between(value: Any, above: float, below: float) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and bool(above < value < below)


def _setting(default: Any, page: str = "", **more: Any) -> Any:
    """A field of a dataclass with its `Setting`."""
    return field(default=default, metadata={"setting": Setting(page=page, **more)})


def _column(page: str, option: str | None = "", **more: Any) -> Any:
    return _setting(None, page, option=option, metavar="COLUMN", **more)


def _metrics(default: Sequence[str]) -> Any:
    shown = f"A metric; may be repeated.  [default: {' '.join(default)}]"
    return _setting(
        None, "Metrics", option="--metric", many=True, brief=shown, also="metric averages average"
    )


# Checks of values


def _check_reference(reference: Any) -> None:
    if isinstance(reference, Mapping):
        for part in reference.values():
            _check_reference(part)
    elif not isinstance(reference, str | Real | ConfusionMatrix | tuple | list):
        kinds = "'rest', 'all', 'largest', 'best', a group, a ConfusionMatrix"
        must = f"be {kinds}, or a mapping of column to one of these"
        raise InvalidInput(argument="reference", must=must, got=reference)


def _check_intersections(value: Any) -> None:
    if value != "all" and not (type(value) is int and value > 0):
        raise InvalidInput(argument="intersections", must="be 1, 2, 3, … or 'all'", got=value)


def _check_group_names(given: Any) -> None:
    is_table = isinstance(given, Mapping)
    if not is_table or not all(isinstance(names, Mapping) for names in given.values()):
        must = "map group columns to the names of their values, as {'race': {1: 'White'}}"
        raise InvalidInput(argument="group_names", must=must, got=given)
    for by, names in given.items():
        for code, name in names.items():
            if not isinstance(name, str) or not name.strip():
                what = f"the name of {code!r} in `group_names` of {by!r}"
                raise InvalidInput(f"{what} must be text; got {brief(name)}")
        if len({code_text(code) for code in names}) < len(names):
            must = f"must name each value once; got {brief(dict(names))}"
            raise InvalidInput(f"`group_names` of {by!r} {must}")


def _check_wording(wording: Any) -> None:
    if not isinstance(wording, Mapping):
        must = "map 'cases', 'outcome' and 'decision' to words"
        raise InvalidInput(argument="wording", must=must, got=wording)
    for name, given in wording.items():
        if name not in WORDING:
            raise UnknownName.among("part of `wording`", name, WORDING)
        is_noun, must = name == "cases", ""
        is_pair = isinstance(given, list | tuple) and len(given) == 2 and not is_noun
        texts = given if is_pair else [given]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            clauses = "what follows “were”, or a pair of clauses for positive and negative"
            must = "be a noun" if is_noun else f"be {clauses}"
        elif not is_pair and not is_noun and (verb := _VERB.match(given)):
            must = f"be what follows “were”, as {brief(given[verb.end() :])}"
        if must:
            raise InvalidInput(argument=f"wording['{name}']", must=must, got=given)


_VERB = re.compile(r"\s*(?:was|were|is|are)\s+(?=\S)", re.IGNORECASE)


def _word(page: str, hint: str, metavar: str = "TEXT") -> Setting:
    shown = f"{hint[0].upper()}{hint[1:]}."
    return Setting(page=page, hint=hint, brief=shown, metavar=metavar)


WORDING = {
    "cases": _word("What are the cases?", "a noun, such as defendants, or images that", "NOUN"),
    "outcome": _word(
        "What happened: they were …",
        "what a positive label means, such as charged again; or repaid/did not repay",
    ),
    "decision": _word(
        "What was decided: they were …",
        "what a positive prediction means, such as called risky; or got a loan/got none",
    ),
}
_LABELS: dict[str, Any] = {"reads": "labels", "many": True, "metavar": "LABEL"}
_POSITIVE = {
    f"positive_{what}": Setting(page="Counts as positive", brief=f"Of {what}s only.", **_LABELS)
    for what in ("label", "prediction")
}
_REPORT = {"title": "Title of the report", "system": "System that was audited", "author": "Made by"}
#: The arguments of `Audit.to_html` that a report shows.
REPORT = {
    name: Setting(page=page, brief=f"{page}, for the report.", option=f"--{name}")
    for name, page in _REPORT.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all audits are asked: which metrics, compared with what, and how.

    Parameters
    ----------
    metrics : str, Metric, function or sequence of them
        Metrics of the catalogue; by default ppr, tpr, fpr, ppv and acc, and
        acc, ppr, tpr and fpr where models are compared. With scores, ``"auc"``, ``"brier"``
        and ``"log_loss"`` too. With ``classes``, averages such as ``"macro f1"``: any metric
        of one group after ``micro``, ``macro`` or ``weighted``; acc, inacc,
        balanced_accuracy, mcc and kappa are scores of each class against the rest and of all
        classes. A function of labels and predictions (or scores) is compared by permutation;
        one without a name is passed as ``("name", function)``.
    reference : str, ConfusionMatrix, or mapping of column to one of these
        What each group is compared with: rest (all cases outside it, the default), all,
        largest, best, the name of a group, or a matrix. ``"largest"`` is the group with most
        cases, ``"best"`` the one with the highest rate of favourable predictions among those that
        impact ratios compare with. The reference of an intersection is the intersection of its
        columns' references, unless the mapping names
        it, as in ``{"race & sex": "White & Male"}``.
    confidence_level : float
        Level of the intervals.
    alpha : float
        Significance level: a group differs if its adjusted p-value is at most this.
    adjust : {"holm", "bh", "none"}
        How p-values are adjusted for many comparisons. Holm's method controls the
        probability of any false positive, refined by the attainable p-values of exact tests;
        Benjamini and Hochberg's controls the false discovery rate.
    family : {"metric", "audit"}
        Adjust over the groups of each metric, or over everything together. The groups of a
        metric include their classes and strata, but each threshold is adjusted for itself.
    margin : float
        Equivalent: the interval of the gap lies within ±margin. That is the whole melded
        interval, if no difference was found; for Brier scores, half of the margin counts.
        Unbounded scores, such as likelihood ratios, are equivalent if the whole interval of
        their ratio lies between 0.8 and 1.25. With ``family="audit"``, the interval is one
        for all comparisons together.
    strength : float, mapping or "auto"
        Strength of smoothing: a number of cases, one per split as prev=7,tpr=20,fpr=20, or
        auto. ``"auto"`` learns one per split from the spread of the groups, and lowers it for
        a group that Cross-Prior Smoothing would move too far.
    favourable : {"positive", "negative"}
        The prediction that is good for a person; needed to speak of harm and of four fifths.
        Only you know it. Until it is given, there are no impact ratios, which compare its
        rates among groups with at least 2% of the cases.
    intersections : int or "all"
        Intersect up to so many group columns: 1, 2, 3, ... or all. With 1, none
        are; with 2, pairs.
    group_names : mapping of group column to mapping of value to name
        What a group is called. An example is ``{"RAC1P": {1: "White"}}``.
    protect : {"cms", "opensafely", "ons"} or int
        Round counts so that results may be published: cms, opensafely, ons, or the minimum
        count that may be shown. No count of a small group can be derived from any output,
        verdicts hold for every table that is rounded to the same counts, and scores made of
        several rates get none.
    wording : mapping of "cases", "outcome" and "decision" to words
        What to call things in sentences. ``cases``: a noun such as ``"defendants"``, or with
        a pronoun ``"images that"``. ``outcome`` and ``decision``: what actual positives and
        positive predictions are, as what follows "were", such as ``"charged again"`` and
        ``"called risky"``, or as a pair of clauses for positive and negative cases, such as
        ``("repaid", "did not repay")``.
    rng : int, Generator or None
        Random seed. Scores of single cases, functions and averages over classes need it; an
        int is recorded and repeats the audit.
    """

    metrics: Sequence[RequestedMetric] | RequestedMetric | None = _metrics(METRICS)
    reference: ReferenceGiven = _setting(
        ReferenceKind.REST, "Compare each group with", many=True, check_value=_check_reference
    )
    confidence_level: float = _setting(
        0.95, "Level of the intervals", above=0, below=1, also="level ci_level"
    )
    alpha: float = _setting(0.05, "Significance level (alpha)", above=0, below=1)
    adjust: Adjust = _setting(
        "holm",
        "Multiple comparisons",
        choices=get_args(Adjust),
        also="correction",
        named={
            "holm": "Holm: any false alarm",
            "bh": "Benjamini-Hochberg: share of false alarms",
            "none": "no adjustment",
        },
    )
    family: Family = _setting(
        "metric",
        "Adjust over",
        choices=get_args(Family),
        named={"metric": "the groups of each metric", "audit": "everything together"},
    )
    margin: float = _setting(0.1, "Equivalent within a margin of", above=0)
    strength: Strength = _setting(
        "auto",
        "Strength of smoothing",
        check_value=as_strength,
        hint="cases, prev=7,tpr=20,fpr=20, or auto",
        also="smoothing",
    )
    favourable: Favourable | None = _setting(
        None,
        "Favourable for a person",
        choices=get_args(Favourable),
        named={
            "": "not said",
            "positive": "a positive prediction",
            "negative": "a negative prediction",
        },
    )
    intersections: int | str = _setting(
        2,
        "Intersections of columns",
        check_value=_check_intersections,
        named={"1": "none", "2": "pairs", "3": "up to three", "all": "all"},
        also="crossings",
    )
    group_names: GroupNames | None = _setting(
        None,
        "Names for its values",
        option="--group-name",
        many=True,
        metavar="COLUMN:VALUE=NAME",
        check_value=_check_group_names,
    )
    protect: str | int | None = _setting(
        None,
        "Protect small counts",
        metavar="RULE",
        check_value=rule_of,
        named={"": "no"} | {key: f"rule {key}: below {r.least}" for key, r in RULES.items()},
    )
    wording: Mapping[str, Any] | None = _setting(
        None, option=None, parts=WORDING, check_value=_check_wording
    )
    rng: Rng = _setting(
        0, "Random seed", reads="whole", check_value=seed_of, also="random_state seed"
    )

    #: Settings without an effect, which the function does not take.
    _excluded: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, (one, known) in settings_of(Settings).items():
            known.check(name, getattr(self, name), one.default)
        given = self.reference
        references = given.values() if isinstance(given, Mapping) else [given]
        if self.rule is not None and ReferenceKind.ALL in map(str, references):
            reason = "gaps to all cases have no bound; compare with 'rest', which asks the same"
            raise InvalidInput(f"`protect` and `reference='all'` cannot be combined: {reason}")

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
        return max(MIN_DRAWS, ceil(20 * tests / self.alpha))

    def recorded(self) -> dict[str, Any]:
        """The settings as plain values, but for metrics, which depend on the data."""
        values = {name: plain(getattr(self, name)) for name in settings_of(Settings)}
        del values["metrics"]
        return values | {
            "reference": _plain_reference(self.reference),
            "group_names": self.names,
            "wording": {
                name: list(given) if isinstance(given, tuple) else given
                for name, given in (self.wording or {}).items()
            },
            "rng": seed_of(self.rng),
        }


@dataclass(frozen=True, slots=True)
class AuditRequest(Settings):
    """What `audit` is asked: a table of decisions, how it is read, and settings.

    Parameters
    ----------
    y_true : str or column
        The labels; without them only selection rates are audited.
    y_pred : str or column
        The predictions.
    y_score : str or column
        Scores in place of predictions, with ``threshold``. They may be passed beside predictions for metrics such
        as ``"auc"``.
    groups : str, list of str or columns
        Columns of groups. The groups of each column are audited, and those of intersections.
    threshold : float or sequence of float
        Scores at or above it are positive; by default 0.5, if all are from 0 to 1. Several
        thresholds are an axis: rows say at which they are.
    positive : label, list of labels, or mapping of "label" and "prediction" to these
        The positive labels, if they are ambiguous. All others are negative. If those of
        predictions differ, ``{"label": "bad", "prediction": ["high", "medium"]}``.
    classes : "all" or iterable of labels
        Audit classes of several against the rest, and scores of all classes; all is every
        class. Classes are an axis: rows say of which they are.
    strata : str, list of str or columns
        Control features: groups are compared within the strata, and over all of them. The
        comparison over all strata is exact (Mantel and Haenszel). Strata are an axis: rows
        say in which they are, ``"pooled"`` for all.
    sample_weight : str or column
        Weights of the cases; tests and intervals are then approximate. Scores are weighted
        means, tests and intervals use effective sample sizes.
    count : str or column, or 1
        Frequencies: how many cases each row stands for, or 1. The value 1 says
        that each row is one, where that is asked.
    cluster : str or column
        Cluster identifier, such as the patient of several images. Each cluster must lie in
        one group. Tests and intervals are then approximate, with effective sample sizes.
    bins : mapping of column to sequence of float
        Where to cut columns of numbers. ``{"age": [25, 45]}`` gives three groups.
    merge_variants : bool
        Merge group names that differ only in case, white space or encoding. Names are merged
        if they are equal after NFKC normalization, in lower case and with single spaces;
        letters of other scripts that look alike are never merged.
    """

    data: Any = None
    _: KW_ONLY
    y_true: Any = _column("Column of labels", "--label", also="labels label")
    y_pred: Any = _column(
        "Column of predictions", "--prediction", also="predictions prediction y_hat"
    )
    y_score: Any = _column("Column of scores", "--score", also="y_proba y_prob probas_pred scores")
    groups: Any = _column(
        "Columns of groups",
        "--group",
        many=True,
        also="sensitive_features protected_attribute protected_attributes group",
    )
    threshold: float | Sequence[float] | None = _setting(
        None, "Threshold", reads="number", many=True, also="thresholds cutoff"
    )
    positive: Any = _setting(
        None, "Counts as positive", parts=_POSITIVE, also="pos_label", **_LABELS
    )
    classes: Any = _setting(None, "Classes", option="--class", many=True, metavar="LABEL")
    strata: Any = _column("Columns of strata", many=True, also="control_features within")
    sample_weight: Any = _column("Column of weights", also="weights weight sample_weights")
    count: Any = _column("Column that counts cases", also="frequency frequencies")
    cluster: Any = _column("Column of clusters", also="unit cluster_id")
    bins: Mapping[str, Sequence[float]] | None = _setting(
        None, "Cut these numbers into bins at", many=True, metavar="COLUMN=CUT,..."
    )
    merge_variants: bool = _setting(
        False, "Merge group names that differ only in case or spaces", reads="flag"
    )

    @property
    def answers(self) -> Answers:
        """The columns of labels and predictions, and what their values mean."""
        names = [f.name for f in fields(Answers) if f.name != "draw_case"]
        return Answers(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True)
class CountsRequest(Settings):
    """What `audit_counts` is asked: confusion matrices of groups, and settings.

    Parameters
    ----------
    by : str or sequence of str
        The names of the group columns; a file names its own.
    strata : str or sequence of str
        Which of the columns are control features. Groups are compared as by `audit`.
    merge_variants : bool
        Merge group names that differ only in case, white space or encoding.
    """

    counts: Any
    _: KW_ONLY
    by: str | Sequence[str] = _setting("group", option=None)
    strata: str | Sequence[str] | None = _column("Columns of strata", many=True)
    merge_variants: bool = _setting(
        False, "Merge group names that differ only in case or spaces", reads="flag"
    )

    _excluded: ClassVar[tuple[str, ...]] = ("rng",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsRequest(AuditRequest):
    """What `compare` is asked: decisions of several models on the same cases, and settings.

    Parameters
    ----------
    models : mapping of name to column
        Models and the columns of their predictions. All others are compared with the first,
        unless ``baseline`` is another.
    model_column : str or column
        The column that names the model of each row, with ``cluster`` and predictions. It takes the
        place of ``models`` if each row is a decision of one model. All models are compared
        with the first by name, or by the order of categories, unless ``baseline`` is another.
    baseline : str
        The model that all others are compared with; by default the first.
    y_true : str or column
        The labels.
    y_pred : str or column
        With ``model_column``, the predictions.
    y_score : str or column
        Scores in place of models, with several of ``threshold``.
    threshold : sequence of float
        With scores, thresholds that are compared. All others are compared with the first.
    cluster : str or column
        With ``model_column``, what says which rows are decisions on the same case.
    """

    models: Any = _setting(
        None, "Columns of models", option="--model", many=True, metavar="NAME=COLUMN"
    )
    model_column: Any = _column("Column that names the model")
    baseline: str | None = _setting(None, metavar="NAME")
    metrics: Sequence[RequestedMetric] | RequestedMetric | None = _metrics(MODEL_METRICS)

    _excluded: ClassVar[tuple[str, ...]] = (
        *("classes", "strata", "sample_weight", "count", "strength", "protect", "rng"),
    )


# What is known of a request


@cache
def settings_of(request: Any) -> dict[str, tuple[Field[Any], Setting]]:
    """The settings that a request takes, by name: its own before those that it shares."""
    texts = documentation_of(request)
    known = {f.name: f for f in fields(request) if "setting" in f.metadata}
    declared = [name for cls in request.__mro__ for name in inspect.get_annotations(cls)]
    return {
        name: (known[name], _complete(name, known[name].metadata["setting"], texts.get(name, "")))
        for name in dict.fromkeys(declared)
        if name in known and name not in request._excluded
    }


def _complete(name: str, known: Setting, text: str = "") -> Setting:
    """A setting with what follows from its name and its description."""
    option = f"--{name.replace('_', '-')}" if known.option == "" else known.option
    shown = known.brief or _first_sentence(text, known.many)
    reads: Reads = known.reads
    if name in READERS:
        reads = "special"
    elif known.choices:
        reads = "choice"
    elif known.above is not None:
        reads = "number"
    parts = {part: _complete(part, one) for part, one in known.parts.items()}
    return replace(known, option=option, brief=shown, reads=reads, parts=parts)


def documentation_of(request: Any) -> dict[str, str]:
    """What the docstrings of a request say of each setting."""
    texts: dict[str, str] = {}
    for cls in reversed(request.__mro__[:-1]):
        listed = inspect.cleandoc(cls.__doc__ or "").partition("----------\n")[2]
        for paragraph in re.findall(r"^\w.*\n(?: .*\n?)*", listed, re.MULTILINE):
            texts[paragraph.partition(" : ")[0]] = f"{paragraph.rstrip()}\n"
    return texts


def _first_sentence(paragraph: str, many: bool) -> str:
    """What ``--help`` shows: settings are called as options."""
    text = " ".join(paragraph.partition("\n")[2].split())
    first = re.split(r"\.(?: (?=[A-Z`])|$)", text)[0]
    first = re.sub(r"``(\w+)``", lambda name: f"--{name[1].replace('_', '-')}", first)
    return f"{first}{'; may be repeated' * many}." if first else ""


def flat_settings(request: Any) -> dict[str, tuple[Any, Setting]]:
    """Defaults and settings as the command and the web form ask for them, with all parts."""
    flat: dict[str, tuple[Any, Setting]] = {}
    for name, (one, known) in settings_of(request).items():
        flat[name] = one.default, known
        flat |= {part: (None, setting) for part, setting in known.parts.items()}
    return flat


def part_names(request: Any) -> dict[str, str]:
    """What messages call the parts of settings, and their names in `flat_settings`.

    >>> part_names(CountsRequest)["wording['cases']"]
    'cases'
    """
    return {
        f"{name}['{part.removeprefix(f'{name}_')}']": part
        for name, (_, known) in settings_of(request).items()
        for part in known.parts
    }


def join_parts(request: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of `flat_settings` as arguments.

    >>> join_parts(AuditRequest, {"alpha": 0.1, "positive_label": "bad", "cases": "loans"})
    {'alpha': 0.1, 'positive': {'label': 'bad'}, 'wording': {'cases': 'loans'}}
    """
    arguments = dict(values)
    for argument, part in part_names(request).items():
        if part not in values:
            continue
        name = argument.partition("[")[0]
        if name in values:
            raise InvalidInput(f"pass either `{name}` or `{argument}`, not both")
        key = part.removeprefix(f"{name}_")
        arguments.setdefault(name, {})[key] = arguments.pop(part)
    return arguments


def code_text(code: Any) -> str:
    """The text of a value of a group column; a whole number has no decimals.

    >>> code_text(2.0), code_text("16.0"), code_text("1.50")
    ('2', '16', '1.50')
    """
    text = MISSING if plain(code) is None else str(plain(code))
    return text.partition(".")[0] if re.fullmatch(r"[+-]?\d+\.0+", text) else text


def _plain_reference(reference: Any) -> Any:
    """A reference as text, or a mapping of column to these; a matrix as its four counts."""
    if isinstance(reference, ConfusionMatrix):
        return ",".join(f"{cell:.17g}" for cell in reference.cells)
    if isinstance(reference, Mapping):
        return {_join(by): _plain_reference(value) for by, value in reference.items()}
    return _join(reference)


def _join(name: Any) -> str:
    """The name of a group, or of an intersection that is given as several names."""
    return " & ".join(map(str, name)) if isinstance(name, tuple | list) else str(name)
