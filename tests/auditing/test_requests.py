"""Functions take a request field by field: signatures, help, type checkers and messages know every setting."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any, assert_type

import pytest

import evenhand as eh
from evenhand.auditing import Audit, AuditRequest, CountsRequest, ModelsRequest, Settings
from evenhand.auditing.settings import settings_of
from evenhand.errors import InvalidInput

FUNCTIONS: list[tuple[Any, Any]] = [
    (eh.audit, AuditRequest),
    (eh.audit_counts, CountsRequest),
    (eh.compare, ModelsRequest),
]
COUNTS = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}
ARGUMENTS = (
    "data y_true y_pred y_score groups threshold positive classes strata sample_weight count cluster bins "
    "merge_variants metrics reference confidence_level alpha adjust family margin bounds strength favourable "
    "intersections group_names protect wording goal rng"
)


def test_signatures_and_help_have_every_setting_and_its_default() -> None:
    assert list(inspect.signature(eh.audit).parameters) == ARGUMENTS.split()
    for function, request in FUNCTIONS:
        (first, positional), *others = inspect.signature(function).parameters.items()
        known = settings_of(request)
        assert first == ("counts" if function is eh.audit_counts else "data")
        assert positional.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert {name: one.default for name, one in others} == {name: default for name, (default, _) in known.items()}
        assert {one.kind for _, one in others} == {inspect.Parameter.KEYWORD_ONLY}
        assert set(settings_of(Settings)) - set(request._excluded) <= set(known)
        shown = " ".join(pydoc.plain(pydoc.render_doc(function)).split())
        assert all(f" {name} : " in shown for name in known)
        assert "{settings}" not in shown and "Returns" in shown and "Examples" in shown
        assert max(map(len, (function.__doc__ or "").splitlines())) <= 120


def read_by_type_checkers() -> None:
    """Mypy, which reads the tests too, fails if it does not see a setting, or if it allows what is wrong."""
    assert_type(eh.audit({}, y_true="y", groups="g", alpha=0.1, threshold=[0.5], metrics=["auc"], rng=None), Audit)
    assert_type(eh.audit_counts(COUNTS, by="race", family="audit", reference="A"), Audit)
    assert_type(eh.compare({}, y_true="y", models={"a": "p"}, groups="g"), Audit)
    eh.audit({}, groups="g", alpa=0.1)  # type: ignore[call-arg]
    eh.audit({}, groups="g", alpha="0.1")  # type: ignore[arg-type]
    eh.audit({}, groups="g", adjust="sidak")  # type: ignore[arg-type]
    eh.audit_counts(COUNTS, y_true="y")  # type: ignore[call-arg]
    eh.compare({}, family=1)  # type: ignore[arg-type]


MEANT = {
    **dict.fromkeys(("sensitive_features", "protected_attribute", "group"), "groups"),
    **{"control_features": "strata", "within": "strata", "pos_label": "positive", "labels": "y_true"},
    **dict.fromkeys(("y_proba", "y_prob", "probas_pred"), "y_score"),
    **dict.fromkeys(("weights", "sample_weights"), "sample_weight"),
    **dict.fromkeys(("unit", "cluster_id"), "cluster"),
    **dict.fromkeys(("seed", "random_state"), "rng"),
    **{"level": "confidence_level", "crossings": "intersections", "thresholds": "threshold", "metric": "metrics"},
    "alfa": "alpha",
}
INSTEAD = {
    "positive_label": "pass positive={'label': ..., 'prediction': ...}",
    "cases": "pass wording={'cases': ...}",
    "title": "pass it to the audit's to_html(title=...)",
    "models": "evenhand.compare() compares models",
    "counts": "evenhand.audit_counts() takes counts",
    "colour": "see its documentation",
}


def test_an_unknown_argument_names_the_right_one_or_its_place() -> None:
    hints = {given: f"did you mean '{meant}'?" for given, meant in MEANT.items()} | INSTEAD
    for given, hint in hints.items():
        with pytest.raises(TypeError) as refused:
            eh.audit({"g": ["a"]}, **{given: 1})  # type: ignore[arg-type]
        assert str(refused.value) == f"audit() got an unexpected keyword argument {given!r}; {hint}"


def test_what_has_no_effect_is_refused_and_hints_are_never_wrong() -> None:
    for function, request in FUNCTIONS:
        known = settings_of(request)
        for given in [*settings_of(AuditRequest), *settings_of(ModelsRequest), *MEANT]:
            if given in known:
                continue
            with pytest.raises(TypeError) as refused:
                function({}, **{given: 1})
            sentence = str(refused.value)
            assert sentence.startswith(f"{function.__name__}() got an unexpected keyword argument {given!r}; ")
            if "did you mean" in sentence:
                assert sentence.split("'")[3] in known and MEANT.get(given, "") == sentence.split("'")[3]


def test_calls_that_cannot_be_are_refused_with_the_way_out() -> None:
    unknown = "got an unexpected keyword argument"
    groups = "groups must be the name of a column or its values; got"
    score = "pass either y_pred (predictions) or y_score (scores); got"
    y: dict[str, Any] = {"y_true": [1], "y_pred": [1]}
    audit: Any = eh.audit
    counts: Any = eh.audit_counts
    calls: list[tuple[Any, str]] = [
        (lambda: eh.Monitor(level=0.9), f"Monitor() {unknown} 'level'; it has no effect there"),
        (lambda: eh.Monitor().add({}, at=1, y_proba="s"), f"add() {unknown} 'y_proba'; did you mean 'y_score'?"),
        (lambda: counts(COUNTS, colour="red"), f"audit_counts() {unknown} 'colour'; see its documentation"),
        (lambda: audit([1, 0], [1, 1], ["a", "b"]), "audit() takes only data by position; pass y_true=..., y_pred=..., "
         "y_score=..., groups=... by name"),
        (lambda: counts(COUNTS, "race"), "audit_counts() takes only counts by position; pass by=..., "),
        (lambda: audit(**y), f"{groups} None"),
        (lambda: audit(**y, groups={}), f"{groups} {{}}"),
        (lambda: eh.compare(y_true=[1], models={"a": [1], "b": [0]}, groups={}), f"{groups} {{}}"),
        (lambda: audit(y_true=[1], groups=["a"]), f"{score} neither"),
        (lambda: audit(**y, y_score=[1], groups=["a"]), f"{score} both"),
        (lambda: audit(**y, threshold=0.5, groups=["a"]),
         "threshold is for scores; pass them as y_score, or leave threshold out"),
    ]  # fmt: skip
    for call, sentence in calls:
        with pytest.raises((TypeError, InvalidInput)) as refused:
            call()
        assert str(refused.value).startswith(sentence)
