# mypy: disable-error-code="operator, comparison-overlap, index, attr-defined, misc, arg-type"
"""The form is made from the records of settings, and what it gives is what they say."""

from __future__ import annotations

import re

from web_client import App

import evenhand as eh
from evenhand.auditing import REPORT, AuditRequest, ModelsRequest, flat_settings
from evenhand.examples import compas
from evenhand.metrics import CATALOGUE
from evenhand.web.form import FIELD_NAMES, read_settings

# What the script adds when a file is chosen, or gathers from parts.
BY_SCRIPT = {"positive_label", "positive_prediction", "bins", "group_names", "reference", "positive", "wording"}


def test_every_setting_has_a_field_under_a_name_of_its_own(fresh: App) -> None:
    """One that is added to the library is in the form, or this fails."""
    text = fresh.client.get("/token/").text
    settings = {
        name for name, (_, one) in (flat_settings(AuditRequest) | flat_settings(ModelsRequest)).items() if one.page
    }
    places = set(
        re.findall(r'(?:name|id)="([^"]+)"', text.partition('id="planned"')[0] + text.partition('id="get"')[2])
    )
    assert settings - BY_SCRIPT <= places and REPORT.keys() <= places
    known = flat_settings(AuditRequest)
    labels = [one.page for name, (_, one) in known.items() if one.page and not name.startswith("positive")]
    assert len(set(labels)) == len(labels)
    assert settings <= FIELD_NAMES.keys()
    assert {metric.key for metric in CATALOGUE} <= set(re.findall(r'name="metrics" value="([^"]+)"', text))


def test_the_form_as_it_is_shown_gives_the_defaults(fresh: App) -> None:
    text = fresh.client.get("/token/").text
    inputs = re.findall(r'<input (?!type=checkbox)[^>]*value="([^"]*)" name="(\w+)"', text)
    selects = re.findall(r'<select name="(\w+)" form="setup">(.*?)</select>', text, re.DOTALL)
    shown = {name: value for value, name in inputs}
    for name, options in selects:
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(r'value="([^"]*)"', options)
        shown[name] = chosen[1]
    assert len(shown) > 12
    defaults = {name: default for name, (default, _) in flat_settings(AuditRequest).items()}
    given = read_settings(AuditRequest, shown)
    assert given == {name: defaults[name] for name in given} and {"alpha", "rng", "adjust", "strength"} <= given.keys()


def test_the_example_is_that_of_the_library(fresh: App) -> None:
    rows = re.search(r"<textarea[^>]*>(.*?)</textarea>", fresh.client.get("/token/").text, re.DOTALL)[1].splitlines()
    assert rows[0] == "race,tp,fn,fp,tn"
    assert {row.split(",")[0]: tuple(map(int, row.split(",")[1:])) for row in rows[1:]} == {
        group: cm.cells for group, cm in compas().items()
    }


def test_the_form_names_no_option_of_the_command(fresh: App) -> None:
    assert not re.search(r"(?<![\w-])--[a-z]", fresh.client.get("/token/").text)


def test_fields_are_read_by_their_records() -> None:
    """What is no setting of the form, such as a path, is not passed on."""
    matrix = eh.ConfusionMatrix(tp=3, fn=1, fp=0, tn=4)
    for asked, given in (
        ({"alpha": "0.01", "cases": " "}, {"alpha": 0.01, "wording": {"cases": " "}}),
        ({"threshold": "5"}, {"threshold": 5.0}),
        ({"threshold": "5; 8,9"}, {"threshold": [5.0, 8.0, 9.0]}),
        ({"threshold": ""}, {}),
        ({"merge_variants": "on"}, {"merge_variants": True}),
        ({"intersections": "3", "strength": "prev=7,tpr=20,fpr=20"},
         {"intersections": 3, "strength": {"prev": 7.0, "tpr": 20.0, "fpr": 20.0}}),
        ({"classes": "all"}, {"classes": "all"}),
        ({"positive_label": [1, True]}, {"positive": {"label": [1, True]}}),
        ({"cells": ["3", "1", "", "4"]}, {"reference": matrix}),
        ({"reference": {"a": "rest", "b": "x"}}, {"reference": {"b": "x"}}),
        ({"file": "x", "data": "/etc/passwd", "by": "x"}, {}),
    ):  # fmt: skip
        assert read_settings(AuditRequest, asked) == given
