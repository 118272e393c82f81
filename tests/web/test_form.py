# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc, arg-type"
"""The form of the page is made from the records of settings, and what it gives is what they say."""

from __future__ import annotations

from typing import Any

import pytest

import evenhand as eh
from evenhand.auditing import REPORT, AuditRequest, Settings, flat_settings
from evenhand.web.form import FIELD_NAMES, form_fields, given_settings


def test_every_setting_of_an_audit_is_on_the_page_under_a_name_of_its_own() -> None:
    """One that is added to the library is on the page, or this fails."""
    settings = flat_settings(AuditRequest)
    del settings["wording"]
    assert {"cases", "outcome", "decision"} <= settings.keys()
    assert all(known.page for _, known in settings.values())
    names = [known.page for name, (_, known) in settings.items() if not name.startswith("positive")]
    assert len(set(names)) == len(names)
    assert settings.keys() <= FIELD_NAMES.keys()


def test_fields_have_the_labels_choices_and_defaults_of_the_records() -> None:
    fields = {field["name"]: field for field in form_fields()}
    assert fields.keys() == {*flat_settings(Settings), *REPORT} - {"metrics", "reference", "group_names", "wording"}
    assert fields["alpha"] == {
        "name": "alpha",
        "label": "Significance level (alpha)",
        "reads": "number",
        "value": "0.05",
        "choices": [],
        "hint": "",
    }
    assert fields["intersections"]["choices"][1] == ["2", "pairs"]
    assert {name: field["value"] for name, field in fields.items() if name in ("rng", "title", "strength")} == {
        "rng": "0",
        "title": "",
        "strength": "auto",
    }
    for field in fields.values():
        assert not field["choices"] or field["value"] in dict(field["choices"])


def test_what_the_fields_show_is_what_the_library_does_without_them() -> None:
    """All fields sent as they are shown give the defaults."""
    shown = {field["name"]: field["value"] for field in form_fields()}
    given = given_settings(AuditRequest, shown)
    defaults = {name: default for name, (default, _) in flat_settings(Settings).items()}
    assert given == {name: defaults[name] for name in given}
    assert shown.keys() - given.keys() == {
        *(
            "protect",
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
        ({"alpha": "0.01", "cases": " "}, {"alpha": 0.01, "wording": {"cases": " "}}),
        ({"threshold": [5]}, {"threshold": 5.0}),
        ({"threshold": []}, {}),
        ({"intersections": "3", "strength": "prev=7,tpr=20,fpr=20"},
         {"intersections": 3, "strength": {"prev": 7.0, "tpr": 20.0, "fpr": 20.0}}),
        ({"classes": "all"}, {"classes": "all"}),
        ({"classes": ["a", "b"]}, {"classes": ["a", "b"]}),
        ({"positive_label": [1, True]}, {"positive": {"label": [1, True]}}),
        ({"reference": {"cells": ["3", 1, 2, 4]}}, {"reference": eh.ConfusionMatrix(tp=3, fn=1, fp=2, tn=4)}),
        ({"reference": {"columns": {"a": {"kind": "rest"}, "b": {"group": "x"}}}}, {"reference": {"b": "x"}}),
        ({"file": "x", "data": "/etc/passwd", "by": "x"}, {}),
    ],
)  # fmt: skip
def test_fields_are_read_by_their_records(asked: dict[str, Any], given: dict[str, Any]) -> None:
    """What is no setting of the page, such as a path, is not passed on."""
    assert given_settings(AuditRequest, asked) == given
