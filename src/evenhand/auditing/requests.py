"""Functions that take the fields of a request as their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .settings import REPORT, WORDING, AuditRequest, ModelsRequest, documentation_of, settings_of

P = ParamSpec("P")
Request = TypeVar("Request")
Result = TypeVar("Result")

_POSITIVE = "pass positive={'label': ..., 'prediction': ...}"
_COMPARE = "evenhand.compare() compares models"
# What to do in place of arguments that a function does not take.
_INSTEAD = {
    **dict.fromkeys(("positive_label", "positive_prediction"), _POSITIVE),
    **{name: f"pass wording={{'{name}': ...}}" for name in WORDING},
    **{name: f"pass it to the audit's to_html({name}=...)" for name in REPORT},
    "counts": "evenhand.audit_counts() takes counts",
    **dict.fromkeys(("models", "model_column"), _COMPARE),
    "protect": "changes and evidence over time have no bound over rounded counts; "
    "protect the audit of each model",
}


def refuse_unknown(function: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse keywords that a function does not take, with a hint.

    >>> refuse_unknown("audit", ["y_proba"], ["y_pred", "y_score"])
    Traceback (most recent call last):
    TypeError: audit() got an unexpected keyword argument 'y_proba'; did you mean 'y_score'?
    """
    for name in given:
        if name not in known:
            problem = f"{function}() got an unexpected keyword argument {name!r}"
            raise TypeError(f"{problem}; {_find_hint(name, known)}")


def _find_hint(name: str, known: Collection[str]) -> str:
    settings = settings_of(ModelsRequest) | settings_of(AuditRequest)
    synonyms = {word: ours for ours, (_, one) in settings.items() for word in one.also.split()}
    meant = synonyms.get(name, name)
    if meant in known:
        return f"did you mean {meant!r}?"
    if name in _INSTEAD:
        return _INSTEAD[name]
    if meant in settings:
        return "it has no effect there"
    near = get_close_matches(name.casefold(), known, n=1, cutoff=0.66)
    return f"did you mean {near[0]!r}?" if near else "see its documentation"


def with_fields_of(
    request: Callable[P, Request],
) -> Callable[[Callable[[Request], Result]], Callable[P, Result]]:
    """Let a function of a request take the fields of the request as its arguments.

    Editors and type checkers see the fields, and so does ``help``: the signature is that of
    the request, and ``{settings}`` in the docstring becomes a list of its settings.
    """

    def decorate(function: Callable[[Request], Result]) -> Callable[P, Result]:
        signature, name = _signature(request), function.__name__

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> Result:
            refuse_unknown(name, kwargs, signature.parameters)
            if len(args) > 1:
                first, *others = signature.parameters
                hint = ", ".join(f"{c}=..." for c in ("y_true", "y_pred", "groups") if c in others)
                problem = f"{name}() takes only {first} by position, and got {len(args)} arguments"
                raise TypeError(f"{problem}; pass {hint}" if hint else problem)
            return function(request(*args, **kwargs))

        returns = inspect.signature(function).return_annotation
        signature = signature.replace(return_annotation=returns)
        wrapper.__signature__ = signature  # type: ignore[attr-defined]
        texts = documentation_of(request)
        settings = "".join(texts.get(name, "") for name in settings_of(request))
        # Newer Pythons take the indentation away by themselves.
        text = inspect.cleandoc(function.__doc__ or "")
        wrapper.__doc__ = text.replace("{settings}\n", settings) + "\n"
        return wrapper

    return decorate


def _signature(request: Any) -> inspect.Signature:
    """The signature of a request: what is audited, then settings, its own before shared ones."""
    signature = inspect.signature(request)
    first = next(iter(signature.parameters))
    parameters = [signature.parameters[name] for name in (first, *settings_of(request))]
    return signature.replace(parameters=parameters)
