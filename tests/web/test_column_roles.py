"""What the columns of a file seem to be."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.web.column_roles import guessed_roles, kind_of


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ({"race": "AB", "y": "01", "yhat": "01"},
         {"y_true": "y", "y_pred": "yhat", "y_score": None, "groups": ["race"]}),
        (
            {"id": "1234", "sex": "MF", "race": "AB", "decile_score": "1379", "score_text": ["Low", "High"],
             "is_recid": "01", "two_year_recid": "01"},
            {"y_true": "two_year_recid", "y_pred": "score_text", "y_score": "decile_score", "groups": ["race", "sex"]},
        ),
        ({"TrueLabel": "01", "p": [".2", ".7"]},
         {"y_true": "TrueLabel", "y_pred": None, "y_score": None, "groups": []}),
        ({"y_true": "01", "probability": [".2", ".7"], "Gender": "MF"},
         {"y_true": "y_true", "y_pred": None, "y_score": "probability", "groups": ["Gender"]}),
        ({"y": [str(i) for i in range(40)]}, {"y_true": None, "y_pred": None, "y_score": None, "groups": []}),
    ],
)  # fmt: skip
def test_roles_are_guessed_from_names_that_fit_their_values(
    columns: dict[str, list[str]], roles: dict[str, Any]
) -> None:
    assert guessed_roles({name: kind_of(list(values)) for name, values in columns.items()}) == roles
