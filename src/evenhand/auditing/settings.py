"""What an audit is asked: one record per setting, with its default, its meaning, and its option of the command.

`audit`, `audit_counts` and `compare` take the fields of a request as their arguments; the command, the web form, config
files and the documentation read the same records. What a setting means stands in the docstring of its class, from which
those of the functions are made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, Field, dataclass, field, fields
from enum import StrEnum
from math import ceil, inf, isfinite
from numbers import Real
from typing import Any, ClassVar, Literal, cast, get_args

from ..confusion import ConfusionMatrix
from ..data import RULES, Answers, Rule, plain, rule_of
from ..errors import InvalidInput, UnknownName, brief
from ..inference import Strength, as_strength
from ..metrics import Metric
from ..randomness import Rng, seed_of

__all__ = [
    "AVERAGES",
    "METRICS",
    "MISSING",
    "MODEL_METRICS",
    "REPORT",
    "WITHOUT_LABELS",
    "AuditRequest",
    "Chosen",
    "CountsRequest",
    "GroupNames",
    "ModelsRequest",
    "ReferenceGiven",
    "ReferenceKind",
    "RequestedMetric",
    "Setting",
    "Settings",
    "code_text",
    "flat_settings",
    "join_parts",
    "part_names",
    "settings_of",
]

MISSING = "(missing)"
"""The name of the group of those without a value."""
METRICS = ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev")
WITHOUT_LABELS = ("ppr", "pnr", "demographic_parity", "disparate_impact")
AVERAGES = ("acc", "macro tpr", "macro ppv", "macro f1", "mcc", "kappa")
"""The scores of all classes that are audited by default."""
MODEL_METRICS = ("acc", "ppr", "tpr", "fpr")
"""The metrics of models by default: rates of people whose number is the same with all models."""
FEWEST_DRAWS = 9_999
Adjust = Literal["holm", "bh", "none"]
Family = Literal["metric", "audit"]
Favourable = Literal["positive", "negative"]
ReferenceGiven = str | ConfusionMatrix | Mapping[Any, Any]
GroupNames = Mapping[str, Mapping[Any, str]]
RequestedMetric = str | Metric | Callable[..., Any] | tuple[str, Callable[..., Any]]
"""A metric by its name, a `Metric`, or a function, with a name if it has none."""


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


Reads = Literal["number", "whole", "text", "flag", "choice", "labels", "special"]
"""How the text of an option becomes a value; what is special has a reader of its own in `option_text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known of a setting beside its name, type and default.

    Attributes
    ----------
    brief : str
        The meaning in a few words, as ``--help`` shows it.
    option : str or None
        Its option of the command; None if the command has none.
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
    page, hint : str
        Its label in the web form, and what is said below its field; without a label it has no field.
    named : dict of str to str
        What the choices are called in the web form.
    parts : dict of str to Setting
        What the command and the web form ask for one by one: options whose values are the entries of a mapping.
    """

    brief: str
    option: str | None = None
    reads: Reads = "text"
    many: bool = False
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    above: float | None = None
    below: float = inf
    page: str = ""
    hint: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Setting] = field(default_factory=dict)

    def check(self, name: str, value: Any, default: Any) -> None:
        """Refuse a value that is not one of the choices or not in the range."""
        is_given = value is not None or default is not None
        if self.choices and is_given and not (isinstance(value, str) and value in self.choices):
            *others, last = map(repr, self.choices)
            raise InvalidInput(argument=name, must=f"be {', '.join(others)} or {last}", got=value)
        if self.above is not None and not (_is_number(value) and self.above < value < self.below):
            end = f"above {self.above:g}" if self.below == inf else f"between {self.above:g} and {self.below:g}"
            raise InvalidInput(argument=name, must=f"be a number {end}", got=value)


def _setting(default: Any, brief: str = "", option: str | None = None, **more: Any) -> Any:
    """A field of a dataclass with its `Setting`."""
    return field(default=default, metadata={"setting": Setting(brief=brief, option=option, **more)})


def _column(brief: str, option: str, page: str = "", **more: Any) -> Any:
    return _setting(None, brief, option, metavar="COLUMN", page=page, **more)


def _metrics(default: Sequence[str]) -> Any:
    brief = f"A metric; may be repeated.  [default: {' '.join(default)}]"
    return _setting(None, brief, "--metric", many=True, page="Metrics")


def _positive() -> Any:
    brief = "A positive label, if ambiguous; may be repeated."
    labels: dict[str, Any] = {"reads": "labels", "many": True, "metavar": "LABEL", "page": "Counts as positive"}
    parts = {
        f"positive_{what}": Setting(brief=f"The same for the {what}s only.", option=f"--positive-{what}", **labels)
        for what in ("label", "prediction")
    }
    return _setting(None, brief, "--positive", parts=parts, **labels)


def _groups() -> Any:
    brief = "A column of groups; may be repeated."
    return _column(brief, "--group", "Columns of groups", many=True)


def _bins() -> Any:
    brief = "Cut a group column of numbers; may be repeated."
    page = "Cut these numbers into bins at"
    return _setting(None, brief, "--bins", reads="special", many=True, metavar="COLUMN=CUT,...", page=page)


def _strata() -> Any:
    brief = "Compare groups within the strata of a column, and over all of them; may be repeated."
    return _column(brief, "--strata", "Columns of strata", many=True)


def _merge_variants() -> Any:
    brief = "Merge group names that differ only in case, white space or encoding."
    page = "Merge group names that differ only in case or spaces"
    return _setting(False, brief, "--merge-variants", reads="flag", page=page)


_WORDING = {
    "cases": Setting(
        brief="What cases are, such as defendants, or 'images that' if they are not people.",
        option="--cases",
        metavar="NOUN",
        page="What are the cases?",
        hint="a noun, such as defendants, or images that",
    ),
    "outcome": Setting(
        brief="What actual positives were, such as 'charged again'; or two clauses, as 'repaid/did not repay'.",
        option="--outcome",
        reads="special",
        metavar="TEXT",
        page="What happened: they were …",
        hint="what a positive label means, such as charged again; or repaid/did not repay",
    ),
    "decision": Setting(
        brief="What predicted positives were, such as 'called risky'; or two clauses, as 'got a loan/got none'.",
        option="--decision",
        reads="special",
        metavar="TEXT",
        page="What was decided: they were …",
        hint="what a positive prediction means, such as called risky; or got a loan/got none",
    ),
}
REPORT = {
    "title": Setting(brief="The title of the report.", option="--title", page="Title of the report"),
    "system": Setting(brief="What was audited, for the report.", option="--system", page="System that was audited"),
    "author": Setting(brief="Who made the audit, for the report.", option="--author", page="Made by"),
}
"""The arguments of `Audit.to_html` that a report shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all audits are asked: which metrics, compared with what, and how.

    Parameters
    ----------
    metrics : str, Metric, function or sequence of them
        Metrics of the catalogue; by default ppr, tpr, fpr, ppv, npv, acc, f1 and prev, and acc, ppr, tpr and fpr where
        models are compared. With scores, ``"auc"``, ``"brier"`` and ``"log_loss"`` too. With ``classes``, averages
        such as ``"macro f1"``: any metric of one group after ``micro``, ``macro`` or ``weighted``; acc, inacc,
        balanced_accuracy, mcc and kappa are scores of each class against the rest and of all classes. A function of
        labels and predictions (or scores) is compared by permutation; one without a name is passed as
        ``("name", function)``.
    reference : "rest", "all", "largest", "best", name of a group, ConfusionMatrix, or mapping of column to one of these
        What each group is compared with; by default all cases outside it. ``"largest"`` is the group with most
        cases, ``"best"`` the one with the highest rate of favourable predictions among those that impact ratios
        compare with. The reference of an intersection is the intersection of its columns' references, unless the
        mapping names it, as in ``{"race & sex": "White & Male"}``.
    confidence_level : float
        The level of the intervals.
    alpha : float
        A group differs if its adjusted p-value is at most this.
    adjust : {"holm", "bh", "none"}
        The adjustment for multiple comparisons: Holm's method, which controls the probability of any false
        positive, refined by the attainable p-values of exact tests; Benjamini and Hochberg's, which controls
        the false discovery rate; or none.
    family : {"metric", "audit"}
        Adjust over the groups of each metric, with their classes and strata, but each threshold for itself; or
        over everything together.
    margin : float
        Scores are equivalent if no difference was found and the whole melded interval of their gap lies within
        ±margin; for Brier scores, within half of it. Unbounded scores, such as likelihood ratios, are equivalent if
        the whole interval of their ratio lies between 0.8 and 1.25. With ``family="audit"``, the interval is
        one for all comparisons together.
    strength : float, mapping or "auto"
        The strength of Cross-Prior Smoothing; ``"auto"`` learns one per split from the spread of the groups, and
        lowers it for a group that it would move too far.
    favourable : {"positive", "negative"}
        The prediction that is favourable for a person, which only you know. Until it is given, nothing is said of harm,
        and there are no impact ratios, which compare its rates among groups with at least 2% of the cases.
    intersections : int or "all"
        The largest number of group columns that are crossed: 1 for none, 2 for pairs.
    group_names : mapping of group column to mapping of value to name
        Names for the groups of a column, such as ``{"RAC1P": {1: "White"}}``.
    protect : {"cms", "opensafely", "ons"} or int
        Round all counts before anything is computed, so that results may be published: by a rule, or by a number, the
        minimum count that may be shown. No count of a small group can be derived from any output, verdicts hold
        for every table that is rounded to the same counts, and scores made of several rates get none.
    wording : mapping of "cases", "outcome" and "decision" to words
        What to call things in sentences. ``cases``: a noun such as ``"defendants"``, or with a pronoun ``"images
        that"``. ``outcome`` and ``decision``: what actual positives and positive predictions are, as what follows
        "were", such as ``"charged again"`` and ``"called risky"``, or as a pair of clauses for positive and negative
        cases, such as ``("repaid", "did not repay")``.
    rng : int, Generator or None
        The source of random numbers, which scores of single cases, functions and averages over classes need; an int is
        recorded and repeats the audit.
    """

    metrics: Sequence[RequestedMetric] | RequestedMetric | None = _metrics(METRICS)
    reference: ReferenceGiven = _setting(
        ReferenceKind.REST,
        "rest, all, largest, best, a group or TP,FN,FP,TN; or COLUMN=one of these, repeatable.  [default: rest]",
        "--reference",
        reads="special",
        many=True,
        page="Compare each group with",
    )
    confidence_level: float = _setting(
        0.95,
        "Level of the intervals.",
        "--confidence-level",
        reads="number",
        above=0,
        below=1,
        page="Level of the intervals",
    )
    alpha: float = _setting(
        0.05, "Significance level.", "--alpha", reads="number", above=0, below=1, page="Significance level (alpha)"
    )
    adjust: Adjust = _setting(
        "holm",
        "How p-values are adjusted for many comparisons.",
        "--adjust",
        reads="choice",
        choices=get_args(Adjust),
        page="Multiple comparisons",
        named={
            "holm": "Holm: any false alarm",
            "bh": "Benjamini-Hochberg: share of false alarms",
            "none": "no adjustment",
        },
    )
    family: Family = _setting(
        "metric",
        "Adjust over the groups of each metric, or over everything together.",
        "--family",
        reads="choice",
        choices=get_args(Family),
        page="Adjust over",
        named={"metric": "the groups of each metric", "audit": "everything together"},
    )
    margin: float = _setting(
        0.1,
        "Equivalent: the interval of the gap lies within ±margin.",
        "--margin",
        reads="number",
        above=0,
        page="Equivalent within a margin of",
    )
    strength: Strength = _setting(
        "auto",
        "Strength of smoothing; one per split as prev=7,tpr=20,fpr=20; or auto.",
        "--strength",
        reads="special",
        page="Strength of smoothing",
        hint="cases, prev=7,tpr=20,fpr=20, or auto",
    )
    favourable: Favourable | None = _setting(
        None,
        "The prediction that is good for a person; needed to speak of harm and of four fifths.",
        "--favourable",
        reads="choice",
        choices=get_args(Favourable),
        page="Favourable for a person",
        named={"": "not said", "positive": "a positive prediction", "negative": "a negative prediction"},
    )
    intersections: int | str = _setting(
        2,
        "Cross up to so many group columns: 1, 2, 3, ... or all.",
        "--intersections",
        reads="special",
        page="Intersections of columns",
        named={"1": "none", "2": "pairs", "3": "up to three", "all": "all"},
    )
    group_names: GroupNames | None = _setting(
        None,
        "What a group is called; may be repeated.",
        "--group-name",
        reads="special",
        many=True,
        metavar="COLUMN:VALUE=NAME",
        page="Names for its values",
    )
    protect: str | int | None = _setting(
        None,
        "Round counts so that results may be published: cms, opensafely, ons, or the minimum count that may be shown.",
        "--protect",
        reads="special",
        metavar="RULE",
        page="Protect small counts",
        named={"": "no", **{name: f"rule {name}: below {rule.least}" for name, rule in RULES.items()}},
    )
    wording: Mapping[str, Any] | None = _setting(None, "What to call things.", parts=_WORDING)
    rng: Rng = _setting(0, "Random seed.", "--rng", reads="whole", page="Random seed")

    _without: ClassVar[tuple[str, ...]] = ()
    """Settings without an effect, which the function does not take."""

    def __post_init__(self) -> None:
        for name, (one, known) in settings_of(Settings).items():
            known.check(name, getattr(self, name), one.default)
        # Checked before any work is done; "auto" is learnt later.
        as_strength(self.strength)
        seed_of(self.rng)
        is_width = type(self.intersections) is int and self.intersections > 0
        if not is_width and self.intersections != "all":
            raise InvalidInput(argument="intersections", must="be 1, 2, 3, … or 'all'", got=self.intersections)
        _check_wording(self.wording)
        _check_group_names(self.group_names)
        _check_reference(self.reference)
        if self.rule is not None:
            self._check_protect()

    def _check_protect(self) -> None:
        """Refuse what has no bound over all tables that are rounded to the same counts."""
        given = self.reference.values() if isinstance(self.reference, Mapping) else [self.reference]
        if any(isinstance(one, str) and one == ReferenceKind.ALL for one in given):
            raise InvalidInput(
                "`protect` and `reference='all'` cannot be combined: gaps to all cases have no bound; compare with "
                "'rest', which asks the same"
            )

    @property
    def rule(self) -> Rule | None:
        """The rule by which counts are rounded, if they are."""
        return rule_of(self.protect)

    @property
    def names(self) -> dict[str, dict[str, str]]:
        """The names of groups by column and by the text of their value."""
        given = self.group_names or {}
        return {str(by): {code_text(code): name for code, name in names.items()} for by, names in given.items()}

    def widest(self, columns: Sequence[str]) -> int:
        """The largest number of these columns that are crossed."""
        return len(columns) if self.intersections == "all" else min(int(self.intersections), len(columns))

    def draws_for(self, tests: int) -> int:
        """The number of permutations per test if so many share the level.

        The smallest attainable p-value is then at most a twentieth of the smallest level in Holm's method.

        >>> Settings().draws_for(1), Settings().draws_for(100)
        (9999, 40000)
        """
        return max(FEWEST_DRAWS, ceil(20 * tests / self.alpha))

    def recorded(self) -> dict[str, Any]:
        """The settings as plain values, but for metrics, which depend on what was asked."""
        values = {f.name: plain(getattr(self, f.name)) for f in fields(Settings) if f.name != "metrics"}
        words = self.wording or {}
        return values | {
            "reference": _described(self.reference),
            "group_names": self.names,
            "wording": {name: list(one) if isinstance(one, tuple) else one for name, one in words.items()},
            "rng": seed_of(self.rng),
        }


@dataclass(frozen=True, slots=True)
class AuditRequest(Settings):
    """What `audit` is asked: a table of decisions, how it is read, and settings.

    Parameters
    ----------
    y_true : str or column
        The labels. Without labels, only selection rates are audited.
    y_pred : str or column
        The predictions.
    y_score : str or column
        Scores in place of predictions, or beside them for metrics such as ``"auc"``.
    groups : str, list of str or columns
        One or more columns that say which group a row belongs to. The groups of each column are audited, and
        those of intersections.
    threshold : float or sequence of float
        Scores at or above it are positive. By default it is 0.5, if all scores are between 0 and 1. Several
        thresholds are an axis: rows say at which they are.
    positive : label, list of labels, or mapping of "label" and "prediction" to these
        The positive labels; all others are negative. By default they are inferred where they are unambiguous. If those
        of predictions differ, ``{"label": "bad", "prediction": ["high", "medium"]}``.
    classes : "all" or iterable of labels
        For labels of more than two classes: audit all of them or these, each against the rest, and scores of
        all classes. Classes are an axis: rows say of which they are.
    strata : str, list of str or columns
        Control features: groups are compared within each of their strata and, exactly, over all of them (Mantel
        and Haenszel). Strata are an axis: rows say in which they are, ``"pooled"`` for all.
    sample_weight : str or column
        Weights of the cases. Scores are weighted means; tests and intervals use effective sample sizes and are
        approximate.
    count : str or column, or 1
        Frequencies, as in a table of ``count(*)``: how many cases each row stands for. 1 says that each row is one,
        where that is asked.
    cluster : str or column
        Cluster identifier, such as the patient of several images, if cases are not independent. Each cluster must lie
        in one group. Tests and intervals are then approximate, with effective sample sizes.
    bins : mapping of column to sequence of float
        Where to cut columns of groups or strata that contain numbers: ``{"age": [25, 45]}`` gives three groups.
    merge_variants : bool
        Merge group names that are equal after NFKC normalization, in lower case and with single spaces. Names
        with letters of other scripts that look alike are never merged.
    """

    data: Any = None
    _: KW_ONLY
    y_true: Any = _column("The labels. Without them only selection rates are audited.", "--label", "Column of labels")
    y_pred: Any = _column("The predictions.", "--prediction", "Column of predictions")
    y_score: Any = _column("Scores in place of predictions, with --threshold.", "--score", "Column of scores")
    groups: Any = _groups()
    threshold: float | Sequence[float] | None = _setting(
        None,
        "Scores at or above it are positive; may be repeated.  [default: 0.5, for scores from 0 to 1]",
        "--threshold",
        reads="number",
        many=True,
        page="Threshold",
    )
    positive: Any = _positive()
    classes: Any = _setting(
        None,
        "Audit a class of several against the rest, and scores of all classes; may be repeated. all: every class.",
        "--class",
        reads="special",
        many=True,
        metavar="LABEL",
        page="Classes",
    )
    strata: Any = _strata()
    sample_weight: Any = _column(
        "Weights of the cases; tests and intervals are then approximate.", "--sample-weight", "Column of weights"
    )
    count: Any = _column("Column of frequencies, or 1.", "--count", "Column that counts cases")
    cluster: Any = _column(
        "Cluster identifier, such as the patient of several images.", "--cluster", "Column of clusters"
    )
    bins: Mapping[str, Sequence[float]] | None = _bins()
    merge_variants: bool = _merge_variants()

    @property
    def answers(self) -> Answers:
        """The columns of labels and predictions, and what their values mean."""
        return Answers(**{f.name: getattr(self, f.name) for f in fields(Answers) if f.name != "draw_case"})


@dataclass(frozen=True, slots=True)
class CountsRequest(Settings):
    """What `audit_counts` is asked: confusion matrices of groups, and settings.

    Parameters
    ----------
    by : str or sequence of str
        The names of the group columns; a file names its own.
    strata : str or sequence of str
        Which of the columns are control features, as for `audit`: groups are compared within their strata.
    merge_variants : bool
        Merge group names that are equal after NFKC normalization, in lower case and with single spaces. Names
        with letters of other scripts that look alike are never merged.
    """

    counts: Any
    _: KW_ONLY
    by: str | Sequence[str] = _setting("group")
    strata: str | Sequence[str] | None = _strata()
    merge_variants: bool = _merge_variants()

    _without: ClassVar[tuple[str, ...]] = ("rng",)


@dataclass(frozen=True, slots=True)
class ModelsRequest(Settings):
    """What `compare` is asked: decisions of several models on the same cases, and settings.

    Parameters
    ----------
    y_true : str or column
        The labels.
    models : mapping of name to column
        The predictions of each model. All others are compared with the first, unless ``baseline`` is another.
    model_column : str or column
        In place of ``models``: the column that names the model, if each row is a decision of one model; with
        ``cluster`` and ``y_pred``. All models are compared with the first by name, or by the order of categories,
        unless ``baseline`` is another.
    cluster : str or column
        With ``model_column``: the column that says which rows are decisions on the same case.
    y_pred : str or column
        With ``model_column``: the predictions.
    y_score : str or column
        In place of ``models``: scores, whose decisions at each ``threshold`` are compared.
    threshold : sequence of float
        With ``y_score``: the thresholds; all others are compared with the first.
    baseline : str
        The name of the model that all others are compared with; by default the first.
    groups : str, list of str or columns
        One or more columns that say which group a case belongs to.
    positive : label, list of labels, or mapping of "label" and "prediction" to these
        The positive labels; all others are negative. By default they are inferred where they are unambiguous.
    bins : mapping of column to sequence of float
        Where to cut group columns that contain numbers.
    merge_variants : bool
        Merge group names that are equal after NFKC normalization, in lower case and with single spaces. Names
        with letters of other scripts that look alike are never merged.
    """

    data: Any = None
    _: KW_ONLY
    y_true: Any = _column("The labels.", "--label", "Column of labels")
    models: Any = _setting(
        None,
        "A model and the column of its predictions; repeated.",
        "--model",
        reads="special",
        many=True,
        metavar="NAME=COLUMN",
        page="Columns of models",
    )
    model_column: Any = _column(
        "The column that names the model of each row, with --cluster and --prediction.",
        "--model-column",
        "Column that names the model",
    )
    cluster: Any = _column(
        "With --model-column, what says which rows are decisions on the same case.", "--cluster", "Column of clusters"
    )
    y_pred: Any = _column("With --model-column, the predictions.", "--prediction", "Column of predictions")
    y_score: Any = _setting(None, "Scores in place of models, with several --threshold.", "--score", metavar="COLUMN")
    threshold: Sequence[float] | None = _setting(
        None, "With --score, a threshold; repeated.", "--threshold", reads="number", many=True
    )
    baseline: str | None = _setting(
        None,
        "The model that all others are compared with.  [default: the first; with --model-column, by name]",
        "--baseline",
        metavar="NAME",
    )
    groups: Any = _groups()
    positive: Any = _positive()
    bins: Mapping[str, Sequence[float]] | None = _bins()
    merge_variants: bool = _merge_variants()
    metrics: Sequence[RequestedMetric] | RequestedMetric | None = _metrics(MODEL_METRICS)

    _without: ClassVar[tuple[str, ...]] = ("strength", "protect", "rng")


def settings_of(request: Any) -> dict[str, tuple[Field[Any], Setting]]:
    """The settings that a request takes, by name: how data are read before what all audits share."""
    shared = [f.name for f in fields(Settings)] if request is not Settings else []
    ordered = sorted(fields(request), key=lambda f: f.name in shared)
    return {
        f.name: (f, cast("Setting", f.metadata["setting"]))
        for f in ordered
        if "setting" in f.metadata and f.name not in request._without
    }


def flat_settings(request: Any) -> dict[str, tuple[Any, Setting]]:
    """Defaults and settings as the command and the web form ask for them: what has parts also part by part."""
    found: dict[str, tuple[Any, Setting]] = {}
    for name, (one, known) in settings_of(request).items():
        found[name] = one.default, known
        found |= {part: (None, setting) for part, setting in known.parts.items()}
    return found


def join_parts(request: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of `flat_settings` as arguments.

    >>> join_parts(AuditRequest, {"alpha": 0.1, "positive_label": "bad", "cases": "loans"})
    {'alpha': 0.1, 'positive': {'label': 'bad'}, 'wording': {'cases': 'loans'}}
    """
    arguments = dict(values)
    for name, (_, known) in settings_of(request).items():
        given = {part: arguments.pop(part) for part in known.parts if part in arguments}
        if given and name in arguments:
            others = " and ".join(f"`{name}['{part.removeprefix(f'{name}_')}']`" for part in given)
            raise InvalidInput(f"pass either `{name}` or {others}, not both")
        if given:
            arguments[name] = {part.removeprefix(f"{name}_"): value for part, value in given.items()}
    return arguments


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


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number that fits into a float."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def code_text(code: Any) -> str:
    """The text of a value of a group column; a whole number has no decimals, however it is written.

    >>> code_text(2.0), code_text("16.0"), code_text("1.50")
    ('2', '16', '1.50')
    """
    text = MISSING if plain(code) is None else str(plain(code))
    return text.partition(".")[0] if re.fullmatch(r"[+-]?\d+\.0+", text) else text


def _check_reference(reference: Any) -> None:
    if isinstance(reference, Mapping):
        for one in reference.values():
            _check_reference(one)
    elif not isinstance(reference, (str, Real, ConfusionMatrix, tuple, list)):
        raise InvalidInput(
            argument="reference",
            must="be 'rest', 'all', 'largest', 'best', a group, a ConfusionMatrix, or a mapping of column to one of "
            "these",
            got=reference,
        )


def _check_wording(wording: Any) -> None:
    if wording is None:
        return
    if not isinstance(wording, Mapping):
        raise InvalidInput(argument="wording", must="map 'cases', 'outcome' and 'decision' to words", got=wording)
    for name, given in wording.items():
        if name not in _WORDING:
            raise UnknownName.among("part of `wording`", name, _WORDING)
        argument = f"wording['{name}']"
        if name == "cases":
            if not isinstance(given, str) or not given.strip():
                raise InvalidInput(argument=argument, must="be a noun", got=given)
            continue
        clauses = [given] if isinstance(given, str) else given
        is_one_or_pair = isinstance(clauses, (list, tuple)) and len(clauses) == 2 - isinstance(given, str)
        if not is_one_or_pair or not all(isinstance(one, str) and one.strip() for one in clauses):
            must = "be what follows “were”, or a pair of clauses for positive and negative"
            raise InvalidInput(argument=argument, must=must, got=given)
        if isinstance(given, str) and (verb := re.match(r"\s*(?:was|were|is|are)\s+(?=\S)", given, re.IGNORECASE)):
            must = f"be what follows “were”, as {brief(given[verb.end() :])}"
            raise InvalidInput(argument=argument, must=must, got=given)


def _check_group_names(given: Any) -> None:
    named = given if given is not None else {}
    if not isinstance(named, Mapping) or not all(isinstance(names, Mapping) for names in named.values()):
        must = "map group columns to the names of their values, as {'race': {1: 'White'}}"
        raise InvalidInput(argument="group_names", must=must, got=given)
    for by, names in named.items():
        for code, name in names.items():
            if not isinstance(name, str) or not name.strip():
                raise InvalidInput(f"the name of {code!r} in `group_names` of {by!r} must be text; got {brief(name)}")
        if len({code_text(code) for code in names}) < len(names):
            raise InvalidInput(f"`group_names` of {by!r} must name each value once; got {brief(dict(names))}")


def _described(reference: Any) -> Any:
    """A reference as plain values: a name, four counts, or a mapping of column to these."""
    if isinstance(reference, ConfusionMatrix):
        return [int(cell) if cell == int(cell) else cell for cell in reference.cells]
    if isinstance(reference, Mapping):
        return {_joined(by): _described(value) for by, value in reference.items()}
    return _joined(reference)


def _joined(name: Any) -> str:
    return " & ".join(map(str, name)) if isinstance(name, (tuple, list)) else str(name)
