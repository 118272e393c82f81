"""The settings of an audit, each written once: name, type, default, what it means, and its option of the command.

What a setting means stands in the docstring of its class, from which that of `audit` is made; all else is in its field.

`audit`, `audit_counts`, `compare_models`, the command, the page, config files and the documentation all read the
records here. Everything that says how data are read is in `requests`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from math import inf, isfinite
from numbers import Real
from typing import Any, Literal, cast, get_args

from ..cells import ConfusionMatrix
from ..errors import InvalidInput, UnknownName, brief
from ..inference import NullName, Strength, Test, as_strength
from ..metrics import Metric
from ..randomness import Rng, check_draws, seed_of
from ..tabulate import RULES, Rule, plain, rule_of

__all__ = [
    "AVERAGES",
    "METRICS",
    "MISSING",
    "WITHOUT_LABELS",
    "Adjust",
    "Chosen",
    "Family",
    "Favourable",
    "GroupNames",
    "ReferenceGiven",
    "ReferenceKind",
    "Selection",
    "Setting",
    "Settings",
    "Undefined",
    "code_text",
    "metrics_setting",
    "setting",
    "settings_of",
]

MISSING = "(missing)"
"""The name of the group of those without a value."""
METRICS = ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev")
WITHOUT_LABELS = ("ppr", "pnr", "demographic_parity", "disparate_impact")
AVERAGES = ("acc", "macro tpr", "macro ppv", "macro f1", "mcc", "kappa")
Adjust = Literal["holm", "bh", "none"]
Family = Literal["metric", "audit"]
Favourable = Literal["positive", "negative"]
Selection = Literal["labelled", "all"]
Undefined = Literal["propagate", "omit"]
ReferenceGiven = str | ConfusionMatrix | Mapping[Any, Any]
GroupNames = Mapping[str, Mapping[Any, str]]
Asked = str | Metric | Callable[..., Any] | tuple[str, Callable[..., Any]]
"""What can be asked for as a metric: a name, a `Metric`, or a function, with a name if it has none."""


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
"""How the text of an option becomes a value; what is special has a reader of its own in `spelling`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known of a setting beside its name, type and default.

    Attributes
    ----------
    option : str or None
        Its option of the command; None if the command has none.
    brief : str
        The meaning in a few words, as ``--help`` shows it.
    reads : Reads
        How the text of the option becomes a value.
    many : bool
        Whether the option may be repeated.
    metavar : str or None
        What the option's value is called.
    choices : tuple of str
        The values allowed, if there are only a few.
    above, below : float
        The numbers between which a number must lie; ``least`` if the lower one is allowed.
    page, hint : str
        What it is called on the page, and what is said below its field; without a name, the page does not offer it.
    named : dict of str to str
        What the choices are called on the page.
    needed : bool
        Whether one of the choices must be made.
    """

    option: str | None
    brief: str
    reads: Reads = "text"
    many: bool = False
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    above: float | None = None
    least: float | None = None
    below: float = inf
    page: str = ""
    hint: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    needed: bool = True

    def check(self, name: str, value: Any) -> None:
        """Refuse a value that is not one of the choices or not in the range."""
        if self.choices and value is None and not self.needed:
            return
        if self.choices and (not isinstance(value, str) or value not in self.choices):
            raise UnknownName.among(name, value, self.choices, argument=name)
        low = self.above if self.above is not None else self.least
        if low is None:
            return
        if (
            not _is_number(value)
            or not (low < value if self.above is not None else low <= value)
            or not value < self.below
        ):
            raise InvalidInput(argument=name, must=f"be a number {self._range}", got=value)

    @property
    def _range(self) -> str:
        if self.least is not None:
            return f"from {self.least:g} to below {self.below:g}"
        return f"above {self.above:g}" if self.below == inf else f"between {self.above:g} and {self.below:g}"


def setting(default: Any, option: str | None = None, brief: str = "", **more: Any) -> Any:
    """A field of a dataclass with its `Setting`."""
    known = Setting(option=option, brief=brief, **more)
    return field(default=default, metadata={"setting": known})


def metrics_setting(default: Sequence[str]) -> Any:
    """The setting of metrics, which are by default these."""
    brief = f"A metric; may be repeated.  [default: {' '.join(default)}]"
    return setting(None, "--metric", brief, many=True, page="Metrics")


def settings_of(cls: Any) -> dict[str, tuple[Field[Any], Setting]]:
    """The settings of a request by name: how data are read before what all audits share."""
    shared = {f.name for f in fields(Settings)} if cls is not Settings else set()
    ordered = sorted(fields(cls), key=lambda f: f.name in shared)
    return {f.name: (f, cast("Setting", f.metadata["setting"])) for f in ordered if "setting" in f.metadata}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings that all audits share.

    Parameters
    ----------
    metrics : str, Metric, function or sequence of them
        Metrics of the catalogue; by default ppr, tpr, fpr, ppv, npv, acc, f1 and prev, and acc, ppr, tpr and fpr where
        models are compared. With scores, ``"auc"``,
        ``"brier"`` and ``"log_loss"`` too. A function of labels and predictions (or scores) is compared by
        permutation; one without a name is passed as ``("name", function)``.
    reference : "rest", "all", "largest", "best", name of a group, ConfusionMatrix, or mapping of column to one of these
        What each group is compared with; by default all cases outside it. ``"largest"`` is the group with most
        cases, ``"best"`` the one with the highest rate of favourable predictions among those that impact ratios
        compare with. The reference of a crossing is the crossing of its columns' references, unless the mapping
        names it, as in ``{"race & sex": "White & Male"}``.
    level : float
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
        Scores are alike if no difference was found and the whole melded interval of their gap lies within
        ±margin; for Brier scores, within half of it. Unbounded scores, such as likelihood ratios, are alike if
        the whole interval of their ratio lies between 0.8 and 1.25. With ``family="audit"``, the interval is
        one for all comparisons together.
    test : {"fisher", "unconditional"}
        The test of equal rates; see `disparity`. With Holm's method both have similar power;
        ``"unconditional"`` is slower, and its p-value and the interval of the gap can disagree.
    mid_p : bool
        Count half of the probability of the observed outcome, in p-values and in the intervals of gaps: less
        conservative, but the level is no longer guaranteed. Verdicts of alike, and what a gap is at least, stay
        as they are.
    null : {"pooled", "known", "predictive"}
        The null of the MATCH percentile; see `match_test`.
    strength : float, mapping or "auto"
        The strength of Cross-Prior Smoothing; ``"auto"`` learns one per split from the spread of the groups, and
        lowers it for a group that it would move too far.
    favourable : {"positive", "negative"}
        The prediction that is favourable for a person, which only you know. Until it is given, nothing is said of harm,
        and there are no impact ratios, which compare its rates.
    impact_share : float
        Impact ratios compare with the highest rate among groups that have at least this share of the cases.
    replace_undefined_by : float
        A number to report in place of undefined scores; reason and verdict are unchanged.
    crossings : int or "all"
        The largest number of group columns that are crossed: 1 for none, 2 for pairs.
    group_names : mapping of group column to mapping of value to name
        Names for the groups of a column, such as ``{"RAC1P": {1: "White"}}``.
    selection : {"labelled", "all"}
        The rows that selection rates count: those with a label, as for all other scores, or all with a
        prediction.
    averages : sequence of str
        With ``classes``, scores of all classes: acc, inacc, balanced_accuracy, mcc or kappa, or any metric of
        one group after ``micro``, ``macro`` or ``weighted``, such as ``"macro f1"``. An empty sequence for
        none.
    undefined : {"propagate", "omit"}
        If a class has no score in a group, an average is undefined; or it is over the other classes.
    draws : int
        The number of random draws per test that is simulated or permutes cases. Such a p-value is at least 1 /
        (draws + 1) before adjustment, which multiplies it by up to the number of comparisons; with hundreds of
        groups, raise it.
    rng : int, Generator or None
        The source of random numbers; an int is recorded and repeats the audit.
    max_groups : int
        The largest number of groups allowed.
    protect : {"cms", "opensafely", "ons"} or int
        Round all counts before anything is computed, so that results may be published: by a rule, or by a number, the
        smallest count that is not small. No count of a small group can be derived from any output, verdicts hold
        for every table that is rounded to the same counts, and scores made of several rates get none.
    title : str
        The title of the report.
    system : str
        What was audited, for the report.
    author : str
        Who made the audit, for the report.
    cases : str
        What cases are, in your words: a noun such as ``"defendants"``, or with a pronoun ``"images that"``.
    outcome, decision : str or pair of str
        What an actual positive and a positive prediction are, in your words: what follows "were", such as ``"charged
        again"`` and ``"called risky"``, or two clauses for positive and negative cases, such as ``("repaid", "did not
        repay")``.
    """

    metrics: Sequence[Asked] | Asked | None = metrics_setting(METRICS)
    reference: ReferenceGiven = setting(
        ReferenceKind.REST,
        "--reference",
        "rest, all, largest, best, a group or TP,FN,FP,TN; or COLUMN=one of these, repeatable.  [default: rest]",
        reads="special",
        many=True,
        page="Compare each group with",
    )
    level: float = setting(
        0.95, "--level", "Level of the intervals.", reads="number", above=0, below=1, page="Level of the intervals"
    )
    alpha: float = setting(
        0.05, "--alpha", "Level of the tests.", reads="number", above=0, below=1, page="Level of the tests (alpha)"
    )
    adjust: Adjust = setting(
        "holm",
        "--adjust",
        "How p-values are adjusted for many comparisons.",
        reads="choice",
        choices=get_args(Adjust),
        page="Multiple comparisons",
        named={
            "holm": "Holm: any false alarm",
            "bh": "Benjamini-Hochberg: share of false alarms",
            "none": "no adjustment",
        },
    )
    family: Family = setting(
        "metric",
        "--family",
        "Adjust over the groups of each metric, or over everything together.",
        reads="choice",
        choices=get_args(Family),
        page="Adjust over",
        named={"metric": "the groups of each metric", "audit": "everything together"},
    )
    margin: float = setting(
        0.1,
        "--margin",
        "Scores are alike if the interval of their gap lies within ±margin.",
        reads="number",
        above=0,
        page="Alike within a margin of",
    )
    test: Test = setting(
        "fisher",
        "--test",
        "The exact test of equal rates: Fisher's, or Boschloo's.",
        reads="choice",
        choices=get_args(Test),
        page="Test of equal rates",
        named={"fisher": "Fisher’s exact test", "unconditional": "unconditional, slower"},
    )
    mid_p: bool = setting(
        False,
        "--mid-p",
        "Count half of the probability of the observed outcome.",
        reads="flag",
        page="mid-p: less conservative, without a guarantee",
    )
    null: NullName = setting(
        "pooled",
        "--null",
        "The null of the MATCH percentile; see match --help.",
        reads="choice",
        choices=get_args(NullName),
        page="Null of the percentile",
        named={
            "pooled": "shared rates",
            "known": "the reference’s rates are the truth",
            "predictive": "a new group with uncertain rates",
        },
    )
    strength: Strength = setting(
        "auto",
        "--strength",
        "Strength of smoothing; one per split as prev=7,tpr=20,fpr=20; or auto.",
        reads="special",
        page="Strength of smoothing",
        hint="cases, prev=7,tpr=20,fpr=20, or auto",
    )
    favourable: Favourable | None = setting(
        None,
        "--favourable",
        "The prediction that is good for a person; needed to speak of harm and of four fifths.",
        reads="choice",
        choices=get_args(Favourable),
        needed=False,
        page="Favourable for a person",
        named={"": "not said", "positive": "a positive prediction", "negative": "a negative prediction"},
    )
    impact_share: float = setting(
        0.02,
        "--impact-share",
        "Impact ratios compare with the highest rate among groups with at least this share of the cases.",
        reads="number",
        least=0,
        below=1,
        page="Smallest share for impact ratios",
    )
    replace_undefined_by: float | None = setting(
        None,
        "--replace-undefined-by",
        "A number to report in place of undefined scores.",
        reads="number",
        page="Number in place of undefined scores",
    )
    crossings: int | str = setting(
        2,
        "--crossings",
        "Cross up to so many group columns: 1, 2, 3, ... or all.",
        reads="special",
        page="Crossings of columns",
        named={"1": "none", "2": "pairs", "3": "up to three", "all": "all"},
    )
    group_names: GroupNames | None = setting(
        None,
        "--group-name",
        "What a group is called; may be repeated.",
        reads="special",
        many=True,
        metavar="COLUMN:VALUE=NAME",
        page="Names for its values",
    )
    selection: Selection = setting(
        "labelled",
        "--selection",
        "The rows that selection rates count: labelled ones, or all.",
        reads="choice",
        choices=get_args(Selection),
        page="Rows that selection rates count",
        named={"labelled": "those with a label", "all": "all with a prediction"},
    )
    averages: Sequence[str] | str = setting(
        AVERAGES,
        "--average",
        "With --class, a score of all classes, such as acc or 'macro f1', or none; may be repeated.  [default: a few]",
        reads="special",
        many=True,
        page="Scores of all classes",
        hint="such as acc, macro f1; or none",
    )
    undefined: Undefined = setting(
        "propagate",
        "--undefined",
        "With --class, what a class without a score does to an average.",
        reads="choice",
        choices=get_args(Undefined),
        page="A class without a score",
        named={"propagate": "leaves an average undefined", "omit": "is left out of an average"},
    )
    draws: int = setting(
        9_999, "--draws", "Random draws per test that needs them.", reads="whole", page="Random draws per test"
    )
    rng: Rng = setting(
        0, "--rng", "Repeats tests that draw random numbers.", reads="whole", page="Seed of random draws"
    )
    max_groups: int = setting(
        1_000, "--max-groups", "The largest number of groups allowed.", reads="whole", page="Largest number of groups"
    )
    protect: str | int | None = setting(
        None,
        "--protect",
        "Round counts so that results may be published: cms, opensafely, ons, or the smallest count that is not small.",
        reads="special",
        metavar="RULE",
        page="Protect small counts",
        named={"": "no", **{name: f"rule {name}: below {rule.least}" for name, rule in RULES.items()}},
    )
    title: str | None = setting(None, "--title", "The title of the report.", page="Title of the report")
    system: str | None = setting(None, "--system", "What was audited, for the report.", page="System that was audited")
    author: str | None = setting(None, "--author", "Who made the audit, for the report.", page="Made by")
    cases: str | None = setting(
        None,
        "--cases",
        "What cases are, such as defendants, or 'images that' if they are no people; for sentences in your words.",
        metavar="NOUN",
        page="What are the cases?",
        hint="a noun, such as defendants, or images that",
    )
    outcome: str | Sequence[str] | None = setting(
        None,
        "--outcome",
        "What actual positives were, such as 'charged again'; or two clauses, as 'repaid/did not repay'.",
        reads="special",
        metavar="TEXT",
        page="What happened: they were …",
        hint="what a positive label means, such as charged again; or repaid/did not repay",
    )
    decision: str | Sequence[str] | None = setting(
        None,
        "--decision",
        "What predicted positives were, such as 'called risky'; or two clauses, as 'got a loan/got none'.",
        reads="special",
        metavar="TEXT",
        page="What was decided: they were …",
        hint="what a positive prediction means, such as called risky; or got a loan/got none",
    )

    def __post_init__(self) -> None:
        for name, (_, known) in settings_of(Settings).items():
            known.check(name, getattr(self, name))
        replaced = self.replace_undefined_by
        if replaced is not None and not (_is_number(replaced) and isfinite(replaced)):
            raise InvalidInput(argument="replace_undefined_by", must="be a finite number", got=replaced)
        # Checked before any work is done; "auto" is learnt later.
        as_strength(self.strength)
        check_draws(self.draws)
        seed_of(self.rng)
        if not _is_number(self.max_groups) or not 0 < self.max_groups < inf or self.max_groups != int(self.max_groups):
            raise InvalidInput(argument="max_groups", must="be a whole number above 0", got=self.max_groups)
        whole = type(self.crossings) is int and self.crossings > 0
        if not whole and self.crossings != "all":
            raise InvalidInput(argument="crossings", must="be 1, 2, 3, … or 'all'", got=self.crossings)
        for what in ("title", "system", "author", "cases"):
            if not isinstance(getattr(self, what), str | None):
                raise InvalidInput(argument=what, must="be text", got=getattr(self, what))
        if self.cases is not None and not self.cases.strip():
            raise InvalidInput(argument="cases", must="be a noun", got=self.cases)
        for what in ("outcome", "decision"):
            _check_clauses(what, getattr(self, what))
        _check_group_names(self.group_names)
        _check_reference(self.reference)
        if self.rule is not None:
            self._check_protect()

    def _check_protect(self) -> None:
        """Refuse what has no bound over all tables that are rounded to the same counts."""
        if self.test != "fisher":
            raise InvalidInput("`protect` and `test='unconditional'` cannot be combined: its p-values have no bound")
        given = self.reference.values() if isinstance(self.reference, Mapping) else [self.reference]
        if any(one == ReferenceKind.ALL for one in given if isinstance(one, str)):
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
        return len(columns) if self.crossings == "all" else min(int(self.crossings), len(columns))

    def recorded(self) -> dict[str, Any]:
        """The settings as plain values, but for metrics, which depend on what was asked."""
        values = {f.name: plain(getattr(self, f.name)) for f in fields(Settings) if f.name != "metrics"}
        values["reference"] = _described(self.reference)
        values["group_names"] = self.names
        values["averages"] = [self.averages] if isinstance(self.averages, str) else list(self.averages)
        values |= {name: list(one) for name in ("outcome", "decision") if isinstance(one := values[name], tuple)}
        values["rng"] = seed_of(self.rng)
        return values


def _is_number(value: Any) -> bool:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


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
    elif not isinstance(reference, (str, Real, bool, ConfusionMatrix, tuple, list)):
        raise InvalidInput(
            argument="reference",
            must="be 'rest', 'all', 'largest', 'best', a group, a ConfusionMatrix, or a mapping of column to one of "
            "these",
            got=reference,
        )


def _check_clauses(name: str, given: Any) -> None:
    parts = [given] if given is None or isinstance(given, str) else given
    fits = isinstance(parts, (list, tuple)) and len(parts) == (1 if parts is not given else 2)
    if given is not None and not (fits and all(isinstance(one, str) and one.strip() for one in parts)):
        raise InvalidInput(
            argument=name, must="be what follows “were”, or a pair of clauses for positive and negative", got=given
        )
    if isinstance(given, str) and (verb := re.match(r"\s*(?:was|were|is|are)\s+(?=\S)", given, re.IGNORECASE)):
        raise InvalidInput(argument=name, must=f"be what follows “were”, as {brief(given[verb.end() :])}", got=given)


def _check_group_names(given: Any) -> None:
    named = given if given is not None else {}
    if not isinstance(named, Mapping) or not all(isinstance(names, Mapping) for names in named.values()):
        raise InvalidInput(
            argument="group_names",
            must="map group columns to the names of their values, as {'race': {1: 'White'}}",
            got=given,
        )
    for by, names in named.items():
        for code, name in names.items():
            if not isinstance(name, str) or not name.strip():
                raise InvalidInput(f"the name of {code!r} in `group_names` of {by!r} must be text; got {brief(name)}")
        if len({code_text(code) for code in names}) < len(names):
            raise InvalidInput(f"`group_names` of {by!r} must name each value once; got {brief(dict(names))}")


def _described(reference: Any) -> Any:
    if isinstance(reference, ConfusionMatrix):
        return [int(cell) if cell == int(cell) else cell for cell in reference.cells]
    if isinstance(reference, Mapping):
        return {_joined(by): _described(value) for by, value in reference.items()}
    return _joined(reference)


def _joined(name: Any) -> str:
    return " & ".join(map(str, name)) if isinstance(name, (tuple, list)) else str(name)
