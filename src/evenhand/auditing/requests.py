"""Functions that take the fields of a request as their arguments, and hints where other names were typed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .settings import AuditRequest, ModelsRequest, Settings, settings_of

__all__ = ["accepting", "refuse_unknown"]

P = ParamSpec("P")
Asked = TypeVar("Asked")
Result = TypeVar("Result")

# What other libraries, or people, call an argument.
_ELSEWHERE = {
    "groups": "sensitive_features sensitive_feature protected_attribute protected_attributes protected group group_by",
    "strata": "control_features control_feature conditional_on within",
    "positive": "pos_label positive_class positive_labels",
    "y_score": "y_proba y_prob probas_pred y_scores scores y_pred_proba probabilities",
    "y_true": "labels label target y",
    "y_pred": "predictions prediction pred y_hat yhat",
    "rng": "random_state seed random_seed",
    "sample_weight": "weights weight sample_weights",
    "confidence_level": "level confidence ci_level",
    "cluster": "unit cluster_id clusters unit_id",
    "intersections": "crossings",
    "threshold": "thresholds cutoff cutoffs",
    "count": "frequency frequencies",
    "metrics": "metric averages average",
    "strength": "smoothing lambda_",
    "adjust": "correction multiple_testing",
}
_MEANT = {name: ours for ours, names in _ELSEWHERE.items() for name in names.split()}
_INSTEAD = {
    "positive_label": "pass positive={'label': ..., 'prediction': ...}",
    "positive_prediction": "pass positive={'label': ..., 'prediction': ...}",
    **{name: f"pass wording={{'{name}': ...}}" for name in ("cases", "outcome", "decision")},
    **{name: f"pass it to the audit's to_html({name}=...)" for name in ("title", "system", "author")},
    "counts": "evenhand.audit_counts() takes counts",
    "models": "evenhand.compare() compares models",
    "model_column": "evenhand.compare() compares models",
    "protect": "changes and evidence over time have no bound over rounded counts; protect the audit of each model",
}


def refuse_unknown(function: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse keywords that a function does not take, with a hint.

    >>> refuse_unknown("audit", ["y_proba"], ["y_pred", "y_score"])
    Traceback (most recent call last):
    TypeError: audit() got an unexpected keyword argument 'y_proba'; did you mean 'y_score'?
    """
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}; {_hint(name, known)}")


def _hint(name: str, known: Collection[str]) -> str:
    if _MEANT.get(name) in known:
        return f"did you mean {_MEANT[name]!r}?"
    if name in _INSTEAD:
        return _INSTEAD[name]
    if name in _MEANT or name in settings_of(AuditRequest) or name in settings_of(ModelsRequest):
        return "it has no effect there"
    near = get_close_matches(name.casefold(), known, n=1, cutoff=0.66)
    return f"did you mean {near[0]!r}?" if near else "see its documentation"


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
            refuse_unknown(name, kwargs, signature.parameters)
            if len(args) > 1:
                raise TypeError(_positional(name, args, signature))
            return answer(request(*args, **kwargs))

        result = inspect.signature(answer).return_annotation
        called.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
        # Newer Pythons take the indentation away by themselves.
        text = inspect.cleandoc(answer.__doc__ or "")
        called.__doc__ = text.replace("{settings}\n", _documented(request)) + "\n"
        return called

    return decorated


def _positional(function: str, args: Sequence[Any], signature: inspect.Signature) -> str:
    """What to type in place of several arguments by position."""
    columns = [name for name in ("y_true", "y_pred", "groups") if name in signature.parameters]
    hint = f"; pass {', '.join(f'{name}=...' for name in columns)}" if columns else ""
    first = next(iter(signature.parameters))
    return f"{function}() takes only `{first}` by position, and got {len(args)} arguments{hint}".replace("`", "")


def _signature(request: Any) -> inspect.Signature:
    """The signature of a request, with its own settings before those that all audits share."""
    signature = inspect.signature(request)
    first = [name for name, one in signature.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    names = [*first, *settings_of(request)]
    return signature.replace(parameters=[signature.parameters[name] for name in names])


def _documented(request: Any) -> str:
    """The settings of a request as the Parameters of a docstring, from the docstrings of its classes."""
    texts: dict[str, str] = {}
    for cls in (request, Settings):
        texts |= _paragraphs(inspect.cleandoc(cls.__doc__ or "").partition("----------\n")[2])
    return "".join(texts[name] for name in settings_of(request) if name in texts)


def _paragraphs(parameters: str) -> dict[str, str]:
    """The lines of a list of Parameters about each of them."""
    found: dict[str, str] = {}
    for line in parameters.splitlines():
        if not line.startswith(" "):
            name = line.partition(" : ")[0]
            found[name] = ""
        found[name] += f"{line}\n"
    return found
