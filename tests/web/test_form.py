# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc, arg-type"
"""The form of the page is made from the records of settings, and what it gives is what they say."""

from __future__ import annotations

from typing import Any

import pytest

import evenhand as eh
from evenhand.auditing import AuditRequest, Settings, settings_of
from evenhand.web.form import FIELD_NAMES, form_fields, given_settings


def test_every_setting_of_an_audit_is_on_the_page_under_a_name_of_its_own() -> None:
    """One that is added to the library is on the page, or this fails."""
    settings = settings_of(AuditRequest)
    assert all(known.page for _, known in settings.values())
    names = [known.page for name, (_, known) in settings.items() if not name.startswith("positive")]
    assert len(set(names)) == len(names)
    assert settings.keys() <= FIELD_NAMES.keys()


def test_fields_have_the_labels_choices_and_defaults_of_the_records() -> None:
    fields = {field["name"]: field for field in form_fields()}
    assert fields.keys() == settings_of(Settings).keys() - {"metrics", "reference", "group_names"}
    assert fields["alpha"] == {
        "name": "alpha",
        "label": "Level of the tests (alpha)",
        "reads": "number",
        "value": "0.05",
        "choices": [],
        "hint": "",
    }
    assert fields["crossings"]["choices"][1] == ["2", "pairs"]
    assert {
        name: field["value"] for name, field in fields.items() if name in ("rng", "mid_p", "title", "averages")
    } == {
        "rng": "0",
        "mid_p": "",
        "title": "",
        "averages": "acc, macro tpr, macro ppv, macro f1, mcc, kappa",
    }
    for field in fields.values():
        assert not field["choices"] or field["value"] in dict(field["choices"])


def test_what_the_fields_show_is_what_the_library_does_without_them() -> None:
    """All fields sent as they are shown give the defaults."""
    shown = {field["name"]: field["value"] for field in form_fields()}
    given = given_settings(AuditRequest, shown)
    defaults = {f.name: f.default for f, _ in settings_of(Settings).values()}
    defaults["averages"] = list(defaults["averages"])
    assert given == {name: defaults[name] for name in given}
    assert shown.keys() - given.keys() == {
        *(
            "mid_p",
            "protect",
            "replace_undefined_by",
            "title",
            "system",
            "author",
            "favourable",
            "cases",
            "outcome",
            "decision",
        ),
    }


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ({"alpha": "0.01", "title": " ", "mid_p": True}, {"alpha": 0.01, "title": " ", "mid_p": True}),
        ({"impact_share": 0, "draws": 99}, {"impact_share": 0.0, "draws": 99}),
        ({"threshold": [5]}, {"threshold": 5.0}),
        ({"threshold": []}, {}),
        ({"crossings": "3", "strength": "prev=7,tpr=20,fpr=20"},
         {"crossings": 3, "strength": {"prev": 7.0, "tpr": 20.0, "fpr": 20.0}}),
        ({"averages": "none"}, {"averages": []}),
        ({"classes": "all"}, {"classes": "all"}),
        ({"classes": ["a", "b"]}, {"classes": ["a", "b"]}),
        ({"positive_label": [1, True]}, {"positive_label": [1, True]}),
        ({"reference": {"cells": ["3", 1, 2, 4]}}, {"reference": eh.ConfusionMatrix(3, 1, 2, 4)}),
        ({"reference": {"columns": {"a": {"kind": "rest"}, "b": {"group": "x"}}}}, {"reference": {"b": "x"}}),
        ({"file": "x", "data": "/etc/passwd", "by": "x"}, {}),
    ],
)  # fmt: skip
def test_fields_are_read_by_their_records(asked: dict[str, Any], given: dict[str, Any]) -> None:
    """What is no setting of the page, such as a path, is not passed on."""
    assert given_settings(AuditRequest, asked) == given
