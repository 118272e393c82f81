"""Functions that take the fields of a request as their arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection
from difflib import get_close_matches
from functools import wraps
from inspect import cleandoc, signature
from typing import ParamSpec, TypeVar

from .settings import REPORT, WORDING, AuditRequest, ModelsRequest, settings_of

P = ParamSpec("P")
Request = TypeVar("Request")
Result = TypeVar("Result")

# What to do in place of arguments that a function does not take.
_INSTEAD = {
    **dict.fromkeys(
        ("positive_label", "positive_prediction"), "pass positive={'label': ..., 'prediction': ...}"
    ),
    **{name: f"pass wording={{'{name}': ...}}" for name in WORDING},
    **{name: f"pass it to the audit's to_html({name}=...)" for name in REPORT},
    "counts": "evenhand.audit_counts() takes counts",
    **dict.fromkeys(("models", "model_column"), "evenhand.compare() compares models"),
    "protect": "protect the audit of each model; changes over time have no bound",
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
    if name in _INSTEAD:
        return _INSTEAD[name]
    settings = settings_of(ModelsRequest) | settings_of(AuditRequest)
    synonyms = {word: ours for ours, (_, one) in settings.items() for word in one.also.split()}
    meant = synonyms.get(name, name)
    if meant in settings and meant not in known:
        return "it has no effect there"
    near = [meant] if meant in known else get_close_matches(name.casefold(), known, 1, 0.66)
    return f"did you mean {near[0]!r}?" if near else "see its documentation"


def with_fields_of(
    request: Callable[P, Request],
) -> Callable[[Callable[[Request], Result]], Callable[P, Result]]:
    """Let a function of a request take the fields of the request as its arguments.

    Editors and type checkers see the fields, and so does ``help``: the signature is that of
    the request, and ``{settings}`` in the docstring becomes a list of its settings.
    """

    def decorate(function: Callable[[Request], Result]) -> Callable[P, Result]:
        known, name, settings = signature(request), function.__name__, settings_of(request)
        first, *others = next(iter(known.parameters)), *settings

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> Result:
            refuse_unknown(name, kwargs, [first, *others])
            if len(args) > 1:
                hint = ", ".join(f"{other}=..." for other in others[:4])
                raise TypeError(f"{name}() takes only {first} by position; pass {hint} by name")
            return function(request(*args, **kwargs))

        wrapper.__signature__ = known.replace(  # type: ignore[attr-defined]
            parameters=[known.parameters[name] for name in (first, *others)],
            return_annotation=signature(function).return_annotation,
        )
        # Newer Pythons take the indentation away by themselves.
        text, entries = cleandoc(function.__doc__ or ""), [one.text for _, one in settings.values()]
        wrapper.__doc__ = text.replace("{settings}\n", "".join(entries)) + "\n"
        return wrapper

    return decorate
