"""Functions take a request field by field: signatures, help, type checkers and messages know every setting."""

from __future__ import annotations

import inspect
import pydoc
import re
from dataclasses import fields
from typing import Any, assert_type

import pytest

import evenhand as eh
from evenhand.auditing import Audit, AuditRequest, CountsRequest, ModelsRequest, Settings, settings_of
from evenhand.errors import InvalidInput

FUNCTIONS: list[tuple[Any, Any]] = [
    (eh.audit, AuditRequest),
    (eh.audit_counts, CountsRequest),
    (eh.compare_models, ModelsRequest),
]
COUNTS = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}


@pytest.mark.parametrize(("function", "request_"), FUNCTIONS)
def test_signatures_have_every_setting_and_its_default(function: Any, request_: Any) -> None:
    parameters = inspect.signature(function).parameters
    known = settings_of(request_)
    assert set(parameters) - set(known) == ({"counts"} if function is eh.audit_counts else {"data"})
    for name, (field, _) in known.items():
        assert parameters[name].default == field.default
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert set(settings_of(Settings)) <= set(known)
    (first,) = set(parameters) - set(known)
    assert next(iter(parameters)) == first
    assert parameters[first].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD


@pytest.mark.parametrize(("function", "request_"), FUNCTIONS)
def test_help_shows_every_setting(function: Any, request_: Any) -> None:
    shown = " ".join(pydoc.plain(pydoc.render_doc(function)).split())
    for name in settings_of(request_):
        assert re.search(rf" {name}(?:, \w+)* : ", shown), name
    assert "{settings}" not in shown
    assert max(map(len, (function.__doc__ or "").splitlines())) <= 120
    assert "Returns" in shown and "Examples" in shown


def read_by_type_checkers() -> None:
    """Mypy, which reads the tests too, fails if it does not see a setting, or if it allows what is wrong."""
    assert_type(
        eh.audit(
            {}, y_true="y", y_pred="p", groups="g", alpha=0.1, threshold=[0.5], within="w", metrics=["auc"], rng=None
        ),
        Audit,
    )
    assert_type(eh.audit_counts(COUNTS, by="race", family="audit", reference="A"), Audit)
    assert_type(eh.compare_models({}, y_true="y", models={"a": "p"}, groups="g", pairs="all", draws=9), Audit)
    eh.audit({}, groups="g", alpa=0.1)  # type: ignore[call-arg]
    eh.audit({}, groups="g", alpha="0.1")  # type: ignore[arg-type]
    eh.audit({}, groups="g", adjust="sidak")  # type: ignore[arg-type]
    eh.audit_counts(COUNTS, y_true="y")  # type: ignore[call-arg]
    eh.compare_models({}, family=1)  # type: ignore[arg-type]


MEANT = {
    "sensitive_features": "groups",
    "control_features": "within",
    "pos_label": "positive",
    "sample_weight": "weights",
    "labels": "group_names",
    "seed": "rng",
    "random_state": "rng",
    "thresholds": "threshold",
    "metric": "metrics",
    "group": "groups' or 'max_groups' or 'group_names",
    "alfa": "alpha",
}


@pytest.mark.parametrize(("given", "meant"), MEANT.items())
def test_an_unknown_argument_names_the_right_one(given: str, meant: str) -> None:
    with pytest.raises(TypeError) as refused:
        eh.audit({"g": ["a"]}, **{given: 1})  # type: ignore[arg-type]
    assert str(refused.value) == f"audit() got an unexpected keyword argument {given!r}; did you mean '{meant}'?"


@pytest.mark.parametrize(("function", "request_"), FUNCTIONS)
def test_an_unknown_argument_is_only_meant_where_it_is_known(function: Any, request_: Any) -> None:
    known = {f.name for f in fields(request_)}
    for given, meant in MEANT.items():
        with pytest.raises(TypeError) as refused:
            function({}, **{given: 1})
        sentence = str(refused.value)
        assert sentence.startswith(f"{function.__name__}() got an unexpected keyword argument {given!r}; ")
        if "did you mean" in sentence:
            assert sentence.split("'")[3] in known
        else:
            assert meant not in known


def test_an_argument_that_nobody_knows_points_to_the_documentation() -> None:
    with pytest.raises(TypeError) as refused:
        eh.audit_counts(COUNTS, colour="red")  # type: ignore[call-arg]
    assert str(refused.value) == ("audit_counts() got an unexpected keyword argument 'colour'; see its documentation")


def test_too_many_positions_are_a_type_error() -> None:
    with pytest.raises(TypeError):
        eh.audit_counts(COUNTS, "race")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.audit(y_true=[1], y_pred=[1]), "groups must be the name of a group column or its values; got None"),
        (lambda: eh.audit(y_true=[1], groups=["a"]), "pass either y_pred (predictions) or y_score (scores); got "
         "neither"),
        (lambda: eh.audit(y_true=[1], y_pred=[1], y_score=[1], groups=["a"]),
         "pass either y_pred (predictions) or y_score (scores); got both"),
        (lambda: eh.audit(y_true=[1], y_pred=[1], groups={}),
         "groups must be the name of a column or its values; got {}"),
        (lambda: eh.audit(y_true=[1, 0], y_pred=[1, 0], threshold=0.5, groups=["a", "b"]),
         "threshold is for scores; pass them as y_score, or leave threshold out"),
        (lambda: eh.compare_models({}, y_true="y", models={"a": "p", "b": "q"}),
         "groups must be the name of a group column or its values; got None"),
    ],
)  # fmt: skip
def test_what_is_missing_is_asked_for(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        call()
    assert str(refused.value) == sentence
