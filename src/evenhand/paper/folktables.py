"""The Folktables groups from the real data: the survey is fetched, a forest is trained, and its errors counted.

Needs the network and the extra ``folktables``. The paper's matrices hold 156,432 of the survey's people, four in five,
which is what remains when one in five is trained on; so that is the default here. The forest is trained anew each time,
so the matrices come near the shipped ones, not to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evenhand as eh

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


def fetch_income(folder: str | Path, *, year: int = 2017, state: str = "CA") -> Any:
    """The American Community Survey's persons of one year and state, kept in ``folder`` once fetched."""
    try:
        from folktables import ACSDataSource
    except ModuleNotFoundError:
        raise eh.MissingExtra.named("folktables", "training on the real data") from None
    source = ACSDataSource(survey_year=str(year), horizon="1-Year", survey="person", root_dir=str(folder))
    return source.get_data(states=[state], download=True)


def count_forest(
    survey: Any, *, held_out: float = 0.8, trees: int = 100, seed: int = 0
) -> dict[str, eh.ConfusionMatrix]:
    """Train a random forest to predict incomes above $50,000, and count its errors by race on people it has not seen.

    Parameters
    ----------
    survey : pandas.DataFrame
        Persons with the columns of the survey that Folktables' income task reads.
    held_out : float
        The share of people who are not trained on, and on whom errors are counted.
    trees : int
        How many trees the forest has.
    seed : int
        Decides who is held out, and the forest.
    """
    try:
        from folktables import ACSIncome
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import train_test_split
    except ModuleNotFoundError:
        raise eh.MissingExtra.named("folktables", "training on the real data") from None
    features, rich, race = ACSIncome.df_to_numpy(survey)
    known, unseen, answers, truths, _, groups = train_test_split(
        features, rich, race, test_size=held_out, random_state=seed
    )
    forest = RandomForestClassifier(n_estimators=trees, random_state=seed, n_jobs=-1).fit(known, answers)
    predicted = forest.predict(unseen)
    return {
        RACES[int(code)]: eh.ConfusionMatrix.from_labels(
            truths[groups == code], predicted[groups == code], positive=True
        )
        for code in sorted(set(groups.tolist()))
    }
