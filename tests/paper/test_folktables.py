"""The Folktables groups from a survey: a forest's matrices, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.errors import InvalidInput, MissingExtra
from evenhand.paper import count_forest, fetch_income, reproduce


def made_up_survey(people: int) -> Any:
    """Person records with the survey's columns; income depends on hours and schooling, plus noise."""
    import pandas as pd

    rng = np.random.default_rng(4)
    hours, school = rng.integers(1, 80, people), rng.integers(1, 25, people)
    income = 900 * hours + 1500 * school + rng.normal(0, 8000, people) - 12000
    columns = {name: rng.integers(1, 9, people) for name in ("COW", "MAR", "OCCP", "POBP", "RELP", "SEX")}
    # The first rows cover every race, the rest are random; one column has gaps, as in the survey.
    race = np.r_[np.tile(np.arange(1, 10), 20), rng.integers(1, 10, people - 180)]
    survey = pd.DataFrame(columns | {"AGEP": rng.integers(10, 90, people), "SCHL": school, "WKHP": hours})
    survey["RAC1P"], survey["PINCP"], survey["PWGTP"] = race, income, 1
    survey.loc[::7, "OCCP"] = np.nan
    return survey


def test_a_forest_on_the_survey_gives_a_matrix_for_each_race(tmp_path: Path) -> None:
    survey = made_up_survey(3000)
    groups = count_forest(survey, trees=5)
    kept = survey.query("AGEP > 16 and PINCP > 100 and WKHP > 0 and PWGTP >= 1")
    everyone = sum(groups.values(), eh.ConfusionMatrix(0, 0, 0, 0))

    assert set(groups) >= {"Multiracial", "White", "Pacific Islander", "Other", "Black", "AI and AN"}
    assert everyone.n == pytest.approx(0.8 * len(kept), abs=1)
    assert eh.metric("acc")(everyone) > 0.75
    assert count_forest(survey, trees=5) == groups

    reproduce(tmp_path, only=["table2"], folktables=groups)
    assert f"White,{int(groups['White'].tp)}," in (tmp_path / "folktables.csv").read_text("utf-8")
    assert "This run used other Folktables counts" in (tmp_path / "index.html").read_text("utf-8")


def test_a_study_without_the_groups_of_the_figures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"^folktables must include the group 'Multiracial', which the paper's figures show$"
    ):
        reproduce(tmp_path, folktables={"A": eh.ConfusionMatrix(1, 2, 3, 4)})


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import importlib.util

    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(MissingExtra, match=r"pip install 'evenhand\[reproduce\]'"):
            reproduce(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "folktables", None)
    with pytest.raises(MissingExtra, match=r"pip install 'evenhand\[folktables\]'"):
        fetch_income(tmp_path)
