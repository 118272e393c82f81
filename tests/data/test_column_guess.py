"""What the columns of a table seem to be."""

from __future__ import annotations

from typing import Any

from evenhand.data import guess_roles, kind_of

COMPAS = {"id": "1234", "sex": "MFMF", "race": "ABBA", "decile_score": "1379", "priors_count": "0331",
          "score_text": ["Low", "High", "Medium", "Low"], "is_recid": "0110", "two_year_recid": "0101"}  # fmt: skip


def roles(columns: dict[str, Any]) -> dict[str, Any]:
    """The guesses that say something."""
    found = guess_roles({name: list(values) for name, values in columns.items()})
    assert list(found) == ["y_true", "y_pred", "y_score", "groups", "cluster", "model_column", "count"]
    return {role: guess for role, guess in found.items() if guess not in (None, [])}


ROLES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"race": "ABAB", "y": "0101", "yhat": "0101"}, {"y_true": "y", "y_pred": "yhat", "groups": ["race"]}),
    ({name: list(values) * 2 for name, values in COMPAS.items()} | {"id": range(8)},
     {"y_true": "two_year_recid", "y_pred": "score_text", "y_score": "decile_score", "groups": ["race", "sex"]}),
    ({"TrueLabel": "01", "p": [".2", ".7"]}, {"y_true": "TrueLabel", "y_score": "p"}),
    ({"y": "01", "p": [".2", ".7"], "q": [".2", ".7"]}, {"y_true": "y"}),
    ({"y_true": "01", "probability": [".2", ".7"], "Gender": "MF"},
     {"y_true": "y_true", "y_score": "probability", "groups": ["Gender"]}),
    ({"y": [str(i) for i in range(40)]}, {}),
    ({"race": "ABAB", "reoffended": "0101", "high_risk": "0101"},
     {"y_true": "reoffended", "y_pred": "high_risk", "groups": ["race"]}),
    ({"race": "ABAB", "ill": ["yes", "no"] * 2, "flagged": ["no", "yes"] * 2},
     {"y_true": "ill", "y_pred": "flagged", "groups": ["race"]}),
    ({"race": "ABAB", "seen": "0101", "pred": "0110"}, {"y_true": "seen", "y_pred": "pred", "groups": ["race"]}),
    ({"race": "ABAB", "y": "0101", "sent": "0110"}, {"y_true": "y", "y_pred": "sent", "groups": ["race"]}),
    ({"race": "ABAB", "y": "0101", "female": "0110"}, {"y_true": "y", "groups": ["race", "female"]}),
    ({"race": "ABAB", "seen": "0101", "sent": "0110"}, {"groups": ["race"]}),
    ({"age": "123"}, {"groups": ["age"]}),
    ({"age": [str(i) for i in range(40)]}, {}),
]  # fmt: skip


def test_roles_are_guessed_from_names_that_fit_their_values() -> None:
    for columns, guessed in ROLES:
        assert roles(columns) == guessed


def test_an_identifier_that_repeats_is_a_unit() -> None:
    data = {"patient_id": [i // 3 for i in range(60)], "sex": "MMMFFF" * 10, "y": "01" * 30, "pred": "0011" * 15}
    assert roles(data) == {"y_true": "y", "y_pred": "pred", "groups": ["sex"], "cluster": "patient_id"}
    assert "cluster" not in roles(data | {"patient_id": range(60)})
    assert "cluster" not in roles(data | {"sex": "MF" * 30})


def test_decisions_of_several_models_on_the_same_cases_are_told_by_a_column() -> None:
    """Also if rows of a person differ in more than the model, as in dates of decisions."""
    people = [i // 2 for i in range(60)]
    data = {"person": people, "sex": ["MF"[i % 2] for i in people], "y": [i % 3 % 2 for i in people],
            "pred": [i % 5 % 2 for i in range(60)], "model": ["old", "new"] * 30}  # fmt: skip
    expected = {"y_true": "y", "y_pred": "pred", "groups": ["sex"], "cluster": "person", "model_column": "model"}
    for day in ([0] * 60, range(60)):
        assert roles(data | {"day": day}) == expected
        assert "model_column" not in roles(data | {"day": day, "model": ["old", "old", "new"] * 20})


def test_whole_numbers_beside_combinations_that_occur_once_count_cases() -> None:
    cells = {"race": "AAAABBBB", "y": "00110011", "yhat": "01010101"}
    named = {"y_true": "y", "y_pred": "yhat", "groups": ["race"]}
    assert roles(cells | {"people": [5, 2, 9, 1, 4, 4, 2, 7]}) == named | {"count": "people"}
    assert roles(cells | {"case_id": range(8)}) == named
    assert roles({"race": "AB", "people": [5, 7]}) == {"groups": ["race"]}, "one column of few values says nothing"
    many = {name: list(values) * 3 for name, values in cells.items()}
    assert roles(many | {"children": [1, 2, 0] * 8}) == named
    assert roles(many | {"n": [1, 2, 0] * 8}) == named | {"count": "n"}


def test_examples_are_the_most_frequent_values_and_are_looked_at_in_part() -> None:
    assert kind_of(["b", "a", None, "a", "c" * 5000, [1]]).examples == ["a", "b", "c" * 1000, "[1]"]
    assert kind_of([None]) == ("empty", 0, False, [])
    assert kind_of(["0", "1", "1"])[:3] == ("numbers", 2, False)
