"""The Folktables groups from the original data: download the survey, train a random forest and count its errors.

This needs network access and the extra ``folktables``. The paper's matrices cover 156,432 people, four fifths of the
survey, which is what remains if one fifth is used for training; that is the default here. The paper trained its forest
anew on every run, so the counts from this module are close to the bundled ones but not equal to them.
"""

from __future__ import annotations

from pathlib import Path

from folktables import ACSDataSource, ACSIncome
from pandas import DataFrame
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import evenhand as eh

RACES = {
    1: "White",
    2: "Black",
    3: "Amer. Indian",
    4: "Alaska Native",
    5: "AI and AN",
    6: "Asian",
    7: "Pacific Islander",
    8: "Other",
    9: "Multiracial",
}


def fetch_survey(folder: Path) -> DataFrame:
    """Person records of the American Community Survey in California in 2017; downloaded once, and kept in a folder."""
    source = ACSDataSource(survey_year="2017", horizon="1-Year", survey="person", root_dir=str(folder))
    return source.get_data(states=["CA"], download=True)


def count_forest(
    survey: DataFrame, rng: int, *, held_out: float = 0.8, trees: int = 100
) -> dict[str, eh.ConfusionMatrix]:
    """Train a random forest to predict incomes above $50,000, and count its errors on held-out people by race."""
    features, income, race = ACSIncome.df_to_numpy(survey)
    x_train, x_test, y_train, y_test, _, races = train_test_split(
        features, income, race, test_size=held_out, random_state=rng
    )
    forest = RandomForestClassifier(n_estimators=trees, random_state=rng, n_jobs=-1)
    predicted = forest.fit(x_train, y_train).predict(x_test)
    matrices = {}
    for code in sorted(set(races.tolist())):
        members = races == code
        matrices[RACES[int(code)]] = eh.ConfusionMatrix.from_labels(y_test[members], predicted[members], positive=True)
    return matrices
