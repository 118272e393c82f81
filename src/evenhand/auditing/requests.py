"""What is asked of an audit: how data are read, and the settings; functions take a request field by field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..errors import UnknownName
from ..tabulate import Answers, named_columns
from .settings import Asked as AskedMetric, Settings, metrics_setting, setting, settings_of

__all__ = ["MODEL_METRICS", "AuditRequest", "CountsRequest", "ModelsRequest", "accepting"]

MODEL_METRICS = ("acc", "ppr", "tpr", "fpr")
"""The metrics of models by default: rates of people whose number is the same with all models."""

P = ParamSpec("P")
Asked = TypeVar("Asked")
Result = TypeVar("Result")

# What the same is called in other libraries.
_ELSEWHERE = {
    "sensitive_features": "groups",
    "control_features": "within",
    "pos_label": "positive",
    "sample_weight": "weights",
    "labels": "group_names",
    "seed": "rng",
    "random_state": "rng",
    "thresholds": "threshold",
}


def accepting(request: Callable[P, Asked]) -> Callable[[Callable[[Asked], Result]], Callable[P, Result]]:
    """Let a function of a request take the fields of the request as its arguments.

    Editors and type checkers see the fields, and so does ``help``: the signature is that of the request, and
    ``{settings}`` in the docstring becomes a list of its settings.
    """

    def decorated(answer: Callable[[Asked], Result]) -> Callable[P, Result]:
        name = answer.__name__
        signature = _signature(request)

        @wraps(answer)
        def called(*args: P.args, **kwargs: P.kwargs) -> Result:
            for given in kwargs:
                if given not in signature.parameters:
                    meant = _ELSEWHERE.get(given) if _ELSEWHERE.get(given) in signature.parameters else None
                    near = UnknownName.among("argument", given, signature.parameters, see="see its documentation")
                    hint = f"did you mean {meant!r}?" if meant else str(near).partition("; ")[2]
                    raise TypeError(f"{name}() got an unexpected keyword argument {given!r}; {hint}")
            named: Any = {given: named_columns(value, given) for given, value in kwargs.items()}
            return answer(request(*args, **named))

        result = inspect.signature(answer).return_annotation
        called.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
        # Newer Pythons take the indentation away by themselves.
        text = inspect.cleandoc(answer.__doc__ or "")
        called.__doc__ = text.replace("{settings}\n", _documented(request)) + "\n"
        return called

    return decorated


def _signature(request: Any) -> inspect.Signature:
    """The signature of a request, with its own settings before those that all audits share."""
    signature = inspect.signature(request)
    order = {name: i for i, name in enumerate(_own_first(request))}
    parameters = sorted(signature.parameters.values(), key=lambda one: (one.kind, order.get(one.name, -1)))
    return signature.replace(parameters=parameters)


def _own_first(request: Any) -> dict[str, Any]:
    """The settings of a request: how data are read before what all audits share."""
    shared = settings_of(Settings)
    found = settings_of(request)
    return {name: found[name] for name in [*(name for name in found if name not in shared), *shared]}


def _documented(request: Any) -> str:
    """The settings of a request as the Parameters of a docstring, from the docstrings of its classes."""
    parts = [inspect.cleandoc(cls.__doc__ or "").partition("----------\n")[2] for cls in (request, Settings)]
    return "".join(f"{part}\n" for part in parts)


def _positive(**more: Any) -> Any:
    """The setting that says what is positive, of whatever is read from rows."""
    brief = "A positive label, if ambiguous; may be repeated."
    return setting(None, "--positive", brief, reads="labels", many=True, metavar="LABEL", **more)


def _bins(**more: Any) -> Any:
    """The setting that cuts numbers into groups, of whatever is read from rows."""
    brief = "Cut a group column of numbers; may be repeated."
    return setting(None, "--bins", brief, reads="special", many=True, metavar="COLUMN=CUT,...", **more)


def _merge_variants() -> Any:
    """The setting that joins the spellings of a group."""
    brief = "Take groups for one that differ in case, white space or encoding only."
    return setting(
        False, "--merge-variants", brief, reads="flag", page="Join groups whose names differ in case or spaces only"
    )


@dataclass(frozen=True, slots=True)
class AuditRequest(Settings):
    """What `audit` is asked: a table of decisions, how it is read, and settings.

    Parameters
    ----------
    y_true : str or column
        The labels. Without labels, only selection rates are audited.
    y_pred : str or column
        The predictions.
    groups : str, list of str or columns
        One or more columns that say which group a row belongs to. The groups of each column are audited, and
        those of crossings.
    y_score : str or column
        Scores in place of predictions, or beside them for metrics such as ``"auc"``.
    threshold : float or sequence of float
        Scores at or above it are positive. By default it is 0.5, if all scores are between 0 and 1. Several
        thresholds are an axis: rows say at which they are.
    positive : label or list of labels
        The positive labels; all others are negative. By default they are inferred where they are unambiguous.
    positive_label : label or list of labels
        The positive labels of ``y_true``, if those of ``y_pred`` differ.
    positive_prediction : label or list of labels
        The positive labels of ``y_pred``, if those of ``y_true`` differ.
    classes : "all" or iterable of labels
        For labels of more than two classes: audit all of them or these, each against the rest, and scores of
        all classes (``averages``). Classes are an axis: rows say of which they are.
    within : str, list of str or columns
        Control features: groups are compared within each of their strata and, exactly, over all of them (Mantel
        and Haenszel). Strata are an axis: rows say in which they are, ``"pooled"`` for all.
    weights : str or column
        Weights of the cases. Counts are effective ones (Kish), so that tests and intervals are approximate.
    count : str or column, or 1
        How many cases each row stands for, as in a table of ``count(*)``; whole numbers. 1 says that each row is one,
        where that is asked.
    unit : str or column
        What is independent if cases are not, such as the patient of several images. Each unit must lie in one group.
        Tests and intervals are then approximate: counts are taken for as many independent ones as they are worth.
    bins : mapping of column to sequence of float
        Where to cut columns of groups or strata that contain numbers: ``{"age": [25, 45]}`` gives three groups.
    merge_variants : bool
        Take groups for one whose names are equal after NFKC normalization, in lower case and with single spaces. Names
        with letters of other scripts that look alike are never joined.
    """

    data: Any = None
    _: KW_ONLY
    y_true: Any = setting(
        None,
        "--label",
        "The labels. Without them only selection rates are audited.",
        metavar="COLUMN",
        page="Column of labels",
    )
    y_pred: Any = setting(None, "--prediction", "The predictions.", metavar="COLUMN", page="Column of predictions")
    groups: Any = setting(
        None, "--group", "A column of groups; may be repeated.", metavar="COLUMN", many=True, page="Columns of groups"
    )
    y_score: Any = setting(
        None, "--score", "Scores in place of predictions, with --threshold.", metavar="COLUMN", page="Column of scores"
    )
    threshold: float | Sequence[float] | None = setting(
        None,
        "--threshold",
        "Scores at or above it are positive; may be repeated.  [default: 0.5, for scores from 0 to 1]",
        reads="number",
        many=True,
        page="Threshold",
    )
    positive: Any = _positive(page="Counts as positive")
    positive_label: Any = setting(
        None,
        "--positive-label",
        "The same for the labels only.",
        reads="labels",
        many=True,
        metavar="LABEL",
        page="Counts as positive",
    )
    positive_prediction: Any = setting(
        None,
        "--positive-prediction",
        "The same for the predictions only.",
        reads="labels",
        many=True,
        metavar="LABEL",
        page="Counts as positive",
    )
    classes: Any = setting(
        None,
        "--class",
        "Audit a class of several against the rest, and scores of all classes; may be repeated. all: every class.",
        reads="special",
        many=True,
        metavar="LABEL",
        page="Classes",
    )
    within: Any = setting(
        None,
        "--within",
        "Compare groups within the strata of a column, and over all of them; may be repeated.",
        metavar="COLUMN",
        many=True,
        page="Columns of strata",
    )
    weights: Any = setting(
        None,
        "--weights",
        "Weights of the cases; tests and intervals are then approximate.",
        metavar="COLUMN",
        page="Column of weights",
    )
    count: Any = setting(
        None,
        "--count",
        "How many cases each row stands for; 1 if each is one.",
        metavar="COLUMN",
        page="Column that counts cases",
    )
    unit: Any = setting(
        None,
        "--unit",
        "What is independent if cases are not, such as the patient of several images.",
        metavar="COLUMN",
        page="Column of units",
    )
    bins: Mapping[str, Sequence[float]] | None = _bins(page="Cut these numbers into bins at")
    merge_variants: bool = _merge_variants()

    @property
    def answers(self) -> Answers:
        """The columns of labels and predictions, and what their values mean."""
        return Answers(
            y_true=self.y_true,
            y_pred=self.y_pred,
            y_score=self.y_score,
            threshold=self.threshold,
            weights=self.weights,
            count=self.count,
            unit=self.unit,
            classes=self.classes,
            positive={
                "positive": self.positive,
                "positive_label": self.positive_label,
                "positive_prediction": self.positive_prediction,
            },
        )


@dataclass(frozen=True, slots=True)
class CountsRequest(Settings):
    """What `audit_counts` is asked: confusion matrices of groups, and settings.

    Parameters
    ----------
    by : str or sequence of str
        The names of the group columns; a file names its own.
    within : str or sequence of str
        Which of the columns are control features, as for `audit`: groups are compared within their strata.
    merge_variants : bool
        Take groups for one whose names are equal after NFKC normalization, in lower case and with single spaces. Names
        with letters of other scripts that look alike are never joined.
    """

    counts: Any
    _: KW_ONLY
    by: str | Sequence[str] = setting("group")
    within: str | Sequence[str] | None = setting(None, "--within", many=True)
    merge_variants: bool = _merge_variants()


@dataclass(frozen=True, slots=True)
class ModelsRequest(Settings):
    """What `compare_models` is asked: decisions of several models on the same cases, and settings.

    Parameters
    ----------
    y_true : str or column
        The labels.
    models : mapping of name to column
        The predictions of each model. All others are compared with the first, unless ``baseline`` is another.
    groups : str, list of str or columns
        One or more columns that say which group a case belongs to.
    model_column : str or column
        In place of ``models``: the column that names the model, if each row is a decision of one model; with
        ``unit`` and ``y_pred``. All models are compared with the first by name, or by the order of categories, unless
        ``baseline`` is another.
    unit : str or column
        With ``model_column``: the column that says which rows are decisions on the same case.
    y_pred : str or column
        With ``model_column``: the predictions.
    y_score : str or column
        In place of ``models``: scores, whose decisions at each ``threshold`` are compared.
    threshold : sequence of float
        With ``y_score``: the thresholds; all others are compared with the first.
    baseline : str
        The name of the model that all others are compared with; by default the first.
    pairs : {"first", "all"}
        Compare every model with the first, or all with each other.
    positive : label or list of labels
        The positive labels; all others are negative. By default they are inferred where they are unambiguous.
    bins : mapping of column to sequence of float
        Where to cut group columns that contain numbers.
    merge_variants : bool
        Take groups for one whose names are equal after NFKC normalization, in lower case and with single spaces. Names
        with letters of other scripts that look alike are never joined.
    """

    data: Any = None
    _: KW_ONLY
    y_true: Any = setting(None, "--label", "The labels.", metavar="COLUMN", page="Column of labels")
    models: Any = setting(
        None,
        "--model",
        "A model and the column of its predictions; repeated.",
        reads="special",
        many=True,
        metavar="NAME=COLUMN",
        page="Columns of models",
    )
    groups: Any = setting(
        None, "--group", "A column of groups; may be repeated.", metavar="COLUMN", many=True, page="Columns of groups"
    )
    model_column: Any = setting(
        None,
        "--model-column",
        "The column that names the model of each row, with --unit and --prediction.",
        metavar="COLUMN",
        page="Column that names the model",
    )
    unit: Any = setting(
        None,
        "--unit",
        "With --model-column, what says which rows are decisions on the same case.",
        metavar="COLUMN",
        page="Column of units",
    )
    y_pred: Any = setting(
        None,
        "--prediction",
        "With --model-column, the predictions.",
        metavar="COLUMN",
        page="Column of predictions",
    )
    y_score: Any = setting(None, "--score", "Scores in place of models, with several --threshold.", metavar="COLUMN")
    threshold: Sequence[float] | None = setting(
        None, "--threshold", "With --score, a threshold; repeated.", reads="number", many=True
    )
    baseline: str | None = setting(
        None,
        "--baseline",
        "The model that all others are compared with.  [default: the first; with --model-column, by name]",
        metavar="NAME",
    )
    pairs: str = setting(
        "first",
        "--pairs",
        "Compare every model with the first, or all with each other.",
        reads="choice",
        choices=("first", "all"),
    )
    positive: Any = _positive(page="Counts as positive")
    bins: Mapping[str, Sequence[float]] | None = _bins(page="Cut these numbers into bins at")
    merge_variants: bool = _merge_variants()
    metrics: Sequence[AskedMetric] | AskedMetric | None = metrics_setting(MODEL_METRICS)
