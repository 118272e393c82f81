"""The Folktables groups from the original data: download the survey, train a random forest and count its errors.

This needs network access and the extra ``folktables``. The paper's matrices cover 156,432 people, four fifths of the
survey, which is what remains if one fifth is used for training; that is the default here. The paper trained its forest
anew on every run, so the counts from this module are close to the bundled ones but not equal to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import evenhand as eh
from evenhand.errors import MissingExtra

from .montecarlo import Rng

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["RACES", "count_forest", "fetch_income"]

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


def fetch_income(folder: str | Path, *, year: int = 2017, state: str = "CA") -> DataFrame:
    """Download the person records of the American Community Survey for one state and year.

    Parameters
    ----------
    folder : str or Path
        Where to keep the downloaded files. Files that are already there are not downloaded again.
    year : int, default=2017
        Survey year.
    state : str, default="CA"
        Two-letter postal code of the state.

    Returns
    -------
    pandas.DataFrame
        One row per person.

    Raises
    ------
    MissingExtra
        If the extra ``folktables`` is not installed.

    Examples
    --------
    >>> survey = fetch_income("data")    # doctest: +SKIP
    """
    try:
        from folktables import ACSDataSource
    except ModuleNotFoundError:
        raise MissingExtra.named("folktables", "downloading the survey") from None
    source = ACSDataSource(survey_year=str(year), horizon="1-Year", survey="person", root_dir=str(folder))
    return source.get_data(states=[state], download=True)


def count_forest(
    survey: DataFrame, *, held_out: float = 0.8, trees: int = 100, rng: Rng = 0
) -> dict[str, eh.ConfusionMatrix]:
    """Train a random forest to predict incomes above $50,000, and count its errors on held-out people by race.

    Parameters
    ----------
    survey : pandas.DataFrame
        Person records with the columns of Folktables' income task, as returned by `fetch_income`.
    held_out : float, default=0.8
        Fraction of people who are not used for training and on whom errors are counted.
    trees : int, default=100
        Number of trees in the forest.
    rng : int, numpy.random.Generator or None, default=0
        Seed or generator of the split and of the forest.

    Returns
    -------
    dict of str to ConfusionMatrix
        One confusion matrix per race.

    Raises
    ------
    MissingExtra
        If the extra ``folktables`` is not installed.

    Examples
    --------
    >>> groups = count_forest(fetch_income("data"))    # doctest: +SKIP
    >>> reproduce("results", folktables=groups)        # doctest: +SKIP
    """
    try:
        from folktables import ACSIncome
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import train_test_split
    except ModuleNotFoundError:
        raise MissingExtra.named("folktables", "training the random forest") from None
    state = rng if isinstance(rng, int) else int(np.random.default_rng(rng).integers(2**32))
    features, high_income, race = ACSIncome.df_to_numpy(survey)
    x_train, x_test, y_train, y_test, _, groups = train_test_split(
        features, high_income, race, test_size=held_out, random_state=state
    )
    forest = RandomForestClassifier(n_estimators=trees, random_state=state, n_jobs=-1).fit(x_train, y_train)
    predicted = forest.predict(x_test)
    return {
        RACES[int(code)]: eh.ConfusionMatrix.from_labels(
            y_test[groups == code], predicted[groups == code], positive=True
        )
        for code in sorted(set(groups.tolist()))
    }
